/*
 * float_env.h - the processor's settings for floats, while grout computes.
 *
 * The thread that calls may have others: XLA's compute threads take subnormal numbers for 0, and a
 * program may round otherwise. Results are to be the same whoever calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_FLOAT_ENV_H
#define GROUT_BASE_FLOAT_ENV_H

#include <fenv.h>

/* From here on floats are as IEEE 754 has them: to the nearest, subnormal numbers kept, no traps.
 * Threads that are made from here on begin so, too. */
fenv_t grout_float_env__enter(void);

/* The caller's settings again. */
void grout_float_env__leave(const fenv_t *caller);

#endif
