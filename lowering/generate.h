/* generate.h - constants as an init lists them; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_GENERATE_H
#define GROUT_IR_GENERATE_H

#include "grout-internal/generate.h"

/* Appends the value of a constant: "3", "0.5", "true", "f32:0x7fc00000". */
void grout_init__print_constant(const grout_expr_value *value, grout_text *out);

#endif
