/* random.h - the random numbers of the generators; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_RANDOM_H
#define GROUT_IR_RANDOM_H

#include <stdint.h>

/* Philox4x32-10 (Salmon et al., SC'11): four words for a counter and a key. */
void grout_random__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* The quantile of the normal distribution at p in [2^-33, 1 - 2^-33]. */
double grout_random__quantile(double p);

#endif
