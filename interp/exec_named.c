/*
 * exec_named.c - threads of a CTA that meet: block_barrier and named barriers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_block_barrier(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_named_barrier_sync(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_named_barrier_arrive(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}
