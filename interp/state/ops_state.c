/*
 * ops_state.c - the pools of semaphores, named barriers, atomics and cp.async.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

grout_pool *grout_ops__get_pool(const grout_machine *machine, uint32_t which) {
    return (grout_pool *)&machine->ops_pools[which];
}

grout_keyed_table grout_ops__get_table(const grout_machine *machine, uint32_t which) {
    return (grout_keyed_table){grout_ops__get_pool(machine, which),
                               grout_ops__get_pool(machine, which + 1)};
}
