/*
 * exec_reduce.c - sums and extremes along a dimension.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

grout_outcome grout_exec_reduce(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    (void)machine, (void)thread, (void)inst; /* to come */
    return GROUT_OUTCOME_FAILED;
}
