/*
 * exec_mbarrier.c - barriers of the explicit face, and tests of barriers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_mbarrier_init(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_mbarrier_expect(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_mbarrier_arrive(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_mbarrier_wait(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_mbarrier_test(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_mbarrier_invalidate(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_barrier_test(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_tensor_descriptor(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}
