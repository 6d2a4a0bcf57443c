/*
 * ops_state.c - the pools of semaphores, named barriers, atomics and cp.async, as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops_state.h"

#include "async_copy.h"
#include "atomic.h"
#include "named.h"
#include "semaphore.h"

#include <string.h>

grout_pool *grout_ops__get_pool(const grout_machine *machine, uint32_t which) {
    return (grout_pool *)&machine->ops_pools[which];
}

grout_keyed_table grout_ops__get_table(const grout_machine *machine, uint32_t which) {
    return (grout_keyed_table){grout_ops__get_pool(machine, which),
                               grout_ops__get_pool(machine, which + 1)};
}

void grout_ops__begin(grout_machine *machine) {
    machine->ops_pools[GROUT_OPS_SCRATCH].item_size = sizeof(uint32_t);
    grout_semaphore__begin(machine);
    grout_named__begin(machine);
    grout_atomic__begin(machine);
    grout_async_copy__begin(machine);
}

void grout_ops__end_cta(grout_machine *machine) {
    uint32_t cta = grout_machine__cta(machine)->index;
    grout_semaphore__end_cta(machine, cta);
    grout_named__end_cta(machine, cta);
    grout_atomic__end_cta(machine, cta);
    grout_async_copy__end_cta(machine, cta);
}

void grout_ops__end_scope(grout_machine *machine, const grout_object_id *objects, uint32_t count) {
    uint32_t cta = grout_machine__cta(machine)->index;
    grout_semaphore__end_scope(machine, cta, objects, count);
    grout_atomic__end_scope(machine, cta, objects, count);
}

void grout_ops__end_launch(grout_machine *machine) {
    grout_semaphore__end_launch(machine);
}

uint64_t grout_ops__hash(const grout_machine *machine, uint64_t hash) {
    hash = grout_semaphore__hash(machine, hash);
    hash = grout_named__hash(machine, hash);
    hash = grout_atomic__hash(machine, hash);
    return grout_async_copy__hash(machine, hash);
}
