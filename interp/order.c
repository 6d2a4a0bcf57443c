/*
 * order.c - joins over small vectors of counters.
 *
 * The simple model is the happens-before graph itself, walked for every question;
 * tests/unit/check_order.c compares the two on random programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "order.h"

#include <string.h>

void grout_order__join(uint32_t *into, const uint32_t *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        into[i] = into[i] < from[i] ? from[i] : into[i];
    }
}

void grout_order__begin(const grout_clock_shape *shape, uint32_t *set, uint32_t thread) {
    memset(set, 0, grout_order__get_size(shape) * sizeof *set);
    set[grout_clock_x(shape, thread)] = 1;
    set[grout_clock_g(shape, thread)] = 1;
}

void grout_order__advance(const grout_clock_shape *shape, uint32_t *set, uint32_t thread) {
    uint32_t epoch = set[grout_clock_x(shape, thread)] + 1;
    set[grout_clock_x(shape, thread)] = epoch;
    set[grout_clock_g(shape, thread)] = epoch;
}

void grout_order__release(const grout_clock_shape *shape, uint32_t *set, uint32_t thread,
                          uint32_t *snapshot) {
    grout_order__join(snapshot, set, grout_order__get_size(shape));
    grout_order__advance(shape, set, thread);
}

void grout_order__acquire(const grout_clock_shape *shape, uint32_t *set, const uint32_t *snapshot) {
    grout_order__join(set, snapshot, grout_order__get_size(shape));
}

void grout_order__commit_smem(const grout_clock_shape *shape, uint32_t *set, uint32_t thread) {
    grout_order__join(grout_order__get(shape, set, GROUT_ORDER_SMEM), set, grout_clock_size(shape));
    grout_order__advance(shape, set, thread);
}

void grout_order__meet(const grout_clock_shape *shape, uint32_t *sets, uint32_t *scratch) {
    size_t size = grout_order__get_size(shape);
    memcpy(scratch, sets, size * sizeof *sets);
    for (uint32_t i = 1; i < shape->thread_count; i++) {
        grout_order__join(scratch, sets + i * size, (uint32_t)size);
    }
    for (uint32_t i = 0; i < shape->thread_count; i++) {
        memcpy(sets + i * size, scratch, size * sizeof *sets);
        grout_order__advance(shape, sets + i * size, i);
    }
}

bool grout_order__is_known(const grout_clock_shape *shape, const uint32_t *clock,
                           const uint32_t *known) {
    for (uint32_t i = 0; i < shape->thread_count; i++) {
        if (clock[grout_clock_x(shape, i)] > known[grout_clock_x(shape, i)]) {
            return false;
        }
    }
    return true;
}
