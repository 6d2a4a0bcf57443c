/* integers.h - one operation on whole numbers, exact in all 64 bits.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_INTEGERS_H
#define GROUT_TESTS_RANDOM_INTEGERS_H

#include "reference.h"

/* Each operand with its sign, or zeros, above the bits of its type. False: no such operation. */
bool integers_apply(grout_opcode opcode, grout_dtype dtype, const uint64_t in[3], uint64_t *result);

#endif
