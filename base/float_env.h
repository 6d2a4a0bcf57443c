/*
 * float_env.h - the processor's settings for floats, while grout computes.
 *
 * The thread that calls may have others: XLA's compute threads take subnormal numbers for 0, and a
 * program may round otherwise. Results are to be the same for every caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_FLOAT_ENV_H
#define GROUT_BASE_FLOAT_ENV_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

/* The caller's settings. */
typedef struct grout_float_env {
    fenv_t all;      /* where they were others */
    uint32_t sse;    /* of x86-64: its settings and its flags */
    bool is_changed; /* they were others */
} grout_float_env;

/* From here on floats are as IEEE 754 has them: to the nearest, subnormal numbers kept, no traps.
 * Threads that are made from here on begin so, too. */
grout_float_env grout_float_env__enter(void);

/* The caller's settings again. */
void grout_float_env__leave(const grout_float_env *caller);

#endif
