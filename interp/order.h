/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * order.h - the clock engine: who knows what of whom (docs/memory_model.md).
 *
 * A clock set is three clocks, one behind the other: known (V), published to SMEM engines (PS) and
 * to GMEM engines (PG). A thread has one; an arrive leaves a copy of it, a wait joins such copies.
 * With one CTA a cluster and no relaxed edges every edge between threads carries all three, with
 * all their components; only an engine's completion carries less: itself, and what its issuer's
 * arrival had released at the issue.
 */
#ifndef GROUT_INTERP_ORDER_H
#define GROUT_INTERP_ORDER_H

#include "grout/observe.h"

enum { GROUT_ORDER_KNOWN, GROUT_ORDER_SMEM, GROUT_ORDER_GMEM, GROUT_ORDER_SETS };

/* Counters of a clock set. */
static inline uint32_t grout_order__get_size(const grout_clock_shape *shape) {
    return GROUT_ORDER_SETS * grout_clock_size(shape);
}
static inline uint32_t *grout_order__get(const grout_clock_shape *shape, uint32_t *set,
                                         uint32_t which) {
    return set + (size_t)which * grout_clock_size(shape);
}

/* into becomes the componentwise maximum of both; any number of counters. */
void grout_order__join(uint32_t *into, const uint32_t *from, uint32_t count);
/* One component. */
static inline void grout_order__raise(uint32_t *counter, uint32_t value) {
    *counter = *counter < value ? value : *counter;
}

/* The clock set of a thread at its start. */
void grout_order__begin(const grout_clock_shape *shape, uint32_t *set, uint32_t thread);
/* The thread's epoch advances: after every op that copies its clock. */
void grout_order__advance(const grout_clock_shape *shape, uint32_t *set, uint32_t thread);
/* Leaves a copy of the thread's clock set in a snapshot; its epoch advances. */
void grout_order__release(const grout_clock_shape *shape, uint32_t *set, uint32_t thread,
                          uint32_t *snapshot);
/* The thread learns all that a snapshot holds. */
void grout_order__acquire(const grout_clock_shape *shape, uint32_t *set, const uint32_t *snapshot);
/* commit_smem: all the thread knows is published to the SMEM engines; its epoch advances. */
void grout_order__commit_smem(const grout_clock_shape *shape, uint32_t *set, uint32_t thread);
/* Every thread learns all from all, and every epoch advances; sets lie one behind the other. */
void grout_order__meet(const grout_clock_shape *shape, uint32_t *sets, uint32_t *scratch);
/* True if the x components of one clock are nowhere above the other's: what it covers is known. */
bool grout_order__is_known(const grout_clock_shape *shape, const uint32_t *clock,
                           const uint32_t *known);

#endif
