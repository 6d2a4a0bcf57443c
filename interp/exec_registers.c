/*
 * exec_registers.c - set_max_registers and layout_cast: what only hardware has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_set_max_registers(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_layout_cast(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}
