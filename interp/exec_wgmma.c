/*
 * exec_wgmma.c - wgmma, its groups, and accumulators.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_wgmma(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_wgmma_async(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_wgmma_wait(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_acc_load(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_acc_store(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}
