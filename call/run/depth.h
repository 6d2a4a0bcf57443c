/* depth.h - how much a CTA has in flight at once: an observer of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_DEPTH_H
#define GROUT_CALL_DEPTH_H

#include "launch.h"

#include "lookup.h"

/*
 * The operations that a thread starts on one engine are counted together, and the most of all
 * threads and engines is added up: how far one runs ahead of another is a matter of the schedule,
 * how many of one are in flight at once is what the kernel's waits and rings let be.
 */
typedef struct grout_depth {
    grout_observer observer;
    const grout_module *module;
    grout_lookup now;  /* by CTA, thread and engine: issued and not over, plus 1 */
    grout_lookup most; /* by the same: what that was at most, plus 1 */
    grout_lookup sums; /* of these, by CTA */
    uint32_t deepest;  /* of the sums */
} grout_depth;

/* Lives as long as the run. Deinit. */
void grout_depth__init(grout_depth *depth, const grout_module *module);
void grout_depth__deinit(grout_depth *depth);

#endif
