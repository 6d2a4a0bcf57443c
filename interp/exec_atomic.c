/*
 * exec_atomic.c - atomics on GMEM and SMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_atomic_add(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_max(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_min(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_and(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_or(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_xor(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_fetch_add(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_exchange(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_atomic_cas(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}
