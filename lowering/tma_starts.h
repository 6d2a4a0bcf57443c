/*
 * tma_starts.h - where in SMEM the instructions of a TMA copy can start.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TMA_STARTS_H
#define GROUT_TMA_STARTS_H

#include "grout-internal/verify.h"

/* A copy of a bound module, its loops and parts planned. */
typedef struct grout_tma_starts {
    const grout_module *module;
    const grout_view *smem;
    const grout_layout *layout; /* of the SMEM object */
    const grout_tma *tma;
    int64_t alignment; /* that every start needs */
} grout_tma_starts;

/* A byte at which an instruction can start, for some indices, that is no multiple of the alignment;
 * 0: there is none. */
int64_t grout_tma_starts__find_unaligned(const grout_tma_starts *starts);

#endif
