/* depth.h - how many asynchronous operations of a CTA are in flight at once: an observer of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_DEPTH_H
#define GROUT_CALL_DEPTH_H

#include "launch.h"

typedef struct grout_depth {
    grout_observer observer;
    uint32_t *counts; /* by CTA: issued, and not over */
    size_t capacity;
    uint32_t most; /* of any CTA, at any time */
} grout_depth;

/* Lives as long as the run. Deinit. */
void grout_depth__init(grout_depth *depth);
void grout_depth__deinit(grout_depth *depth);

#endif
