/* inputs.h - what the arrays of a drawn kernel hold at its start.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_INPUTS_H
#define GROUT_TESTS_RANDOM_INPUTS_H

#include "grout-internal/ir.h"

/*
 * The bits of element at of a parameter. The first letter of its name says what is drawn: 'w'
 * (wild) every bit pattern, the ends of the type among them, 'f' (fine) floats of all digits
 * between -4 and 4, 'p' halves of whole numbers with an even seed, as 'f' with an odd one. Integers
 * are small ones unless they are wild.
 */
uint64_t inputs_draw(grout_dtype dtype, char style, uint64_t seed, uint64_t at);

#endif
