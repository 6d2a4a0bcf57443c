/*
 * ops_state.h - what the machine keeps of semaphores, named barriers, locations of atomics and
 * cp.async groups beside the arenas of its clusters: pools of the launch, made on first use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_OPS_STATE_H
#define GROUT_INTERP_OPS_STATE_H

#include "keyed.h"

#include "grout/interp.h"

enum {
    GROUT_OPS_SEMAPHORES, /* a table; its buckets come next, and so on */
    GROUT_OPS_SEMAPHORE_BUCKETS,
    GROUT_OPS_SIGNAL_PASTS,
    GROUT_OPS_SIGNAL_PAST_BUCKETS,
    GROUT_OPS_NAMED,
    GROUT_OPS_NAMED_BUCKETS,
    GROUT_OPS_LOCATIONS,
    GROUT_OPS_LOCATION_BUCKETS,
    GROUT_OPS_COPIERS,
    GROUT_OPS_COPIER_BUCKETS,
    GROUT_OPS_SIGNALS, /* lists */
    GROUT_OPS_GENERATIONS,
    GROUT_OPS_RELEASES,
    GROUT_OPS_SCRATCH, /* of one op: 32-bit numbers */
    GROUT_OPS_POOLS
};

grout_pool *grout_ops__get_pool(const grout_machine *machine, uint32_t which);
grout_keyed_table grout_ops__get_table(const grout_machine *machine, uint32_t which);

#endif
