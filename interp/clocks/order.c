/*
 * order.c - joins over small vectors of counters.
 *
 * The simple model is the happens-before graph itself, walked for every question;
 * tests/unit/interp/clocks/check_order.c compares the two on random programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "order.h"

#include <string.h>

void grout_order__init(grout_order *order, const grout_clock_shape *shape, uint32_t owners,
                       uint32_t fencers) {
    order->shape = *shape;
    order->owners = owners;
    order->fencers = fencers;
    order->size = grout_clock_size(shape);
    order->time_size = grout_clock_time_size(shape);
    order->engine_size = grout_clock_engine_size(shape);
    order->tensor_size = grout_clock_sealed_size(shape);
    order->admitted_size = grout_clock_admitted_size(shape);
    order->words = (2 + owners + fencers) * order->size + order->admitted_size + 1;
}

void grout_order__join(uint32_t *into, const uint32_t *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        into[i] = into[i] < from[i] ? from[i] : into[i];
    }
}

void grout_order__carry(const grout_order *order, uint32_t *into, const uint32_t *from,
                        grout_edge edge) {
    uint32_t first = grout_order__get_first(order, edge);
    grout_order__join(into + first, from + first, grout_order__get_end(order, edge) - first);
}

void grout_order__begin(const grout_order *order, uint32_t *set, uint32_t actor) {
    memset(set, 0, order->words * sizeof *set);
    grout_order__advance(order, set, actor);
}

void grout_order__advance(const grout_order *order, uint32_t *set, uint32_t actor) {
    const grout_clock_shape *shape = &order->shape;
    uint32_t epoch = set[grout_clock_epoch(shape, actor)] + 1;
    set[grout_clock_handed(shape, actor)] = epoch;
    set[grout_clock_epoch(shape, actor)] = epoch;
    set[grout_clock_released(shape, actor)] = epoch;
}

/* The counters of one CTA, group by group. */
static void join_rank(const grout_order *order, uint32_t *into, const uint32_t *from,
                      uint32_t rank) {
    const grout_clock_shape *shape = &order->shape;
    uint32_t actors = shape->actor_count / shape->cta_count;
    uint32_t lanes = shape->lane_count / shape->cta_count;
    uint32_t barriers = shape->barrier_count / shape->cta_count;
    const uint32_t done[4][2] = {{grout_clock_bulk_read(shape, rank * lanes), lanes},
                                 {grout_clock_async_copy(shape, rank * actors), actors},
                                 {grout_clock_phase(shape, rank * barriers), barriers},
                                 {grout_clock_wgmma(shape, rank * actors), actors}};
    const uint32_t groups[4][2] = {{grout_clock_handed(shape, rank * actors), actors},
                                   {grout_clock_epoch(shape, rank * actors), actors},
                                   {grout_clock_released(shape, rank * actors), actors},
                                   {grout_clock_bulk_written(shape, rank * lanes), lanes}};
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t seen = grout_clock_seen(shape, done[i][0]);
        grout_order__join(into + done[i][0], from + done[i][0], done[i][1]);
        grout_order__join(into + seen, from + seen, done[i][1]);
        grout_order__join(into + groups[i][0], from + groups[i][0], groups[i][1]);
    }
}

void grout_order__commit_smem(const grout_order *order, uint32_t *set, uint32_t actor,
                              uint32_t rank, bool is_cluster) {
    if (order->owners == 1 && !is_cluster && order->shape.cta_count > 1) {
        join_rank(order, grout_order__get_smem(order, set, 0), set, rank);
    } else if (order->owners == 1 || !is_cluster) {
        grout_order__join(grout_order__get_smem(order, set, rank), set, order->size);
    } else {
        for (uint32_t i = 0; i < order->owners; i++) {
            grout_order__join(grout_order__get_smem(order, set, i), set, order->size);
        }
    }
    grout_order__advance(order, set, actor);
}

void grout_order__commit_gmem(const grout_order *order, uint32_t *set, uint32_t actor,
                              uint32_t rank) {
    grout_order__join(grout_order__get_gmem(order, set), set, order->size);
    grout_order__join(grout_order__get_fenced(order, set, rank), set, order->size);
    grout_order__advance(order, set, actor);
}

void grout_order__seal_in(const grout_order *order, uint32_t *snapshot, const uint32_t *admitted) {
    const uint32_t sealed = grout_clock_sealed(&order->shape), size = order->tensor_size;
    grout_order__join(snapshot + sealed, admitted, size);
    if (order->admitted_size > size) {
        grout_order__join(snapshot + grout_clock_seen(&order->shape, sealed), admitted + size,
                          size);
    }
}

void grout_order__seal(const grout_order *order, uint32_t *set) {
    grout_order__seal_in(order, set, grout_order__get_admitted(order, set));
}

void grout_order__admit(const grout_order *order, uint32_t *set) {
    const uint32_t sealed = grout_clock_sealed(&order->shape), size = order->tensor_size;
    uint32_t *admitted = grout_order__get_admitted(order, set);
    grout_order__join(admitted, set + sealed, size);
    if (order->admitted_size > size) {
        grout_order__join(admitted + size, set + grout_clock_seen(&order->shape, sealed), size);
    }
}

void grout_order__rely(const grout_order *order, uint32_t *set, uint32_t component,
                       uint32_t number) {
    uint32_t *admitted = grout_order__get_admitted(order, set);
    grout_order__complete(order, set, component, number);
    grout_order__raise(&admitted[grout_clock_admitted(&order->shape, component)], number);
    grout_order__raise(&admitted[grout_clock_admitted_seen(&order->shape, component)], number);
}

void grout_order__fork(const grout_order *order, uint32_t *parent, uint32_t parent_actor,
                       uint32_t *child, uint32_t child_actor) {
    grout_order__seal(order, parent);
    grout_order__carry(order, child, parent, GROUT_EDGE_STRONG);
    grout_order__admit(order, child);
    grout_order__advance(order, child, child_actor);
    grout_order__advance(order, parent, parent_actor);
}

void grout_order__meet(const grout_order *order, uint32_t *sets, uint32_t first_actor,
                       uint32_t count, uint32_t *scratch) {
    size_t size = order->words;
    for (uint32_t i = 0; i < count; i++) {
        grout_order__seal(order, sets + i * size);
    }
    memcpy(scratch, sets, size * sizeof *sets);
    for (uint32_t i = 1; i < count; i++) {
        grout_order__carry(order, scratch, sets + i * size, GROUT_EDGE_STRONG);
    }
    grout_order__admit(order, scratch);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(sets + i * size, scratch, (size - 1) * sizeof *sets);
        grout_order__advance(order, sets + i * size, first_actor + i);
    }
}

bool grout_order__is_known(const grout_order *order, const uint32_t *clock, const uint32_t *known) {
    const uint32_t first = grout_clock_epoch(&order->shape, 0);
    for (uint32_t i = first; i < first + order->shape.actor_count; i++) {
        if (clock[i] > known[i]) {
            return false;
        }
    }
    return true;
}
