/* array_contents.h - constants as an init lists them; for the verifier, too.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_LOWERING_ARRAY_CONTENTS_H
#define GROUT_LOWERING_ARRAY_CONTENTS_H

#include "grout-internal/generate.h"

/* Appends the value of a constant: "3", "0.5", "true", "f32:0x7fc00000". */
void grout_init__print_constant(const grout_expr_value *value, grout_text *out);

#endif
