/* type.h - types inside messages; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_TYPE_H
#define GROUT_IR_TYPE_H

#include "grout-internal/ir.h"

/* Room for the text of any type: eight 19-digit dimensions and the words around them. */
typedef struct grout_type_text {
    char chars[224];
} grout_type_text;

/* "f32[32, 64]", as grout_type_print. */
grout_type_text grout_type__get_text(const grout_type *type);
/* "[32, 64]" */
grout_type_text grout_type__get_shape_text(const grout_type *type);
bool grout_type__is_same_shape(const grout_type *a, const grout_type *b);

#endif
