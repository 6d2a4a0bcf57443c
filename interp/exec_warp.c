/*
 * exec_warp.c - forks: warps of a thread, partitions of a CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_warp_map(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_warp_specialize(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_FAILED;
}
