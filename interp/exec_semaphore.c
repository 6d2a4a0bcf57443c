/*
 * exec_semaphore.c - semaphores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_semaphore_signal(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_semaphore_wait(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_semaphore_read(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}
