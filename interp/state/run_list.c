/*
 * run_list.c - runs of bytes of many boxes of one object, as one list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_list.h"

#include <stdlib.h>

bool grout_run_list__reserve(grout_machine *machine, grout_pool *pool, uint32_t used,
                             uint32_t more) {
    pool->count = used; /* these are kept */
    if (used + more <= pool->capacity) {
        return true;
    }
    const bool ok = grout_pool__reserve(pool, &machine->heap, 2 * (used + more));
    machine->run.has_failed |= !ok;
    return ok;
}

bool grout_run_list__add(grout_machine *machine, const grout_run *runs, uint32_t count,
                         uint32_t *total) {
    grout_pool *pool = &machine->scratch[GROUT_SCRATCH_PICKED_RUNS];
    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].count > INT32_MAX - *total ||
            !grout_run_list__reserve(machine, pool, *total, (uint32_t)runs[i].count)) {
            machine->run.has_failed = true;
            return false;
        }
        grout_run *all = grout_pool__at(pool, 0);
        for (int64_t k = 0; k < runs[i].count; k++) {
            all[(*total)++] = (grout_run){
                .base = runs[i].base + k * runs[i].stride, .count = 1, .length = runs[i].length};
        }
    }
    return true;
}

static int compare_runs(const void *a, const void *b) {
    const grout_run *left = a, *right = b;
    return left->base < right->base ? -1 : left->base > right->base;
}

static uint32_t join_runs(grout_run *runs, uint32_t count) {
    uint32_t kept = 0;
    if (count > 1) {
        qsort(runs, count, sizeof *runs, compare_runs);
    }
    for (uint32_t i = 0; i < count; i++) {
        grout_run *last = kept == 0 ? NULL : &runs[kept - 1];
        const int64_t end = runs[i].base + runs[i].length;
        if (last == NULL || runs[i].base > last->base + last->length) {
            runs[kept++] = runs[i];
        } else if (end > last->base + last->length) {
            last->length = end - last->base;
        }
    }
    return kept;
}

grout_runs grout_run_list__join(grout_machine *machine, uint32_t total) {
    grout_run *all = grout_pool__at(&machine->scratch[GROUT_SCRATCH_PICKED_RUNS], 0);
    return (grout_runs){all, total == 0 ? 0 : join_runs(all, total)};
}
