/* tma_loops.h - why a copy takes several boxes and not one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_GPU_TMA_LOOPS_H
#define GROUT_GPU_TMA_LOOPS_H

#include "grout-internal/diagnose.h"

#include "grout-internal/verify.h"

/* Why a planned copy has more than one panel or band, as a sentence without a stop, and what to
 * write instead. */
void grout_tma_loops__explain(const grout_module *module, const grout_op *op, const grout_tma *tma,
                              grout_text *why, grout_text *remedy);

#endif
