/*
 * exec_cancel.c - launch control.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"
#include "cluster_cancel.h"
#include "exec.h"

#include <string.h>

grout_outcome grout_exec_try_cluster_cancel(const grout_cta *cta, uint32_t thread,
                                            const grout_inst *inst) {
    return grout_cluster_cancel__request(cta, thread, inst) ? GROUT_OUTCOME_NEXT
                                                            : GROUT_OUTCOME_BLOCKED;
}

grout_outcome grout_exec_query_cluster_cancel(const grout_cta *cta, uint32_t thread,
                                              const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_box box = grout_box__resolve(cta, thread, inst, 0);
    (void)grout_box__check_inside(cta, thread, inst, &box);
    grout_access__publish(cta, thread, inst, &box, NULL);
    const bool is_undefined = machine->tracks && !grout_box__is_defined(machine, &box);
    const int32_t cluster = box.is_inside ? grout_cluster_cancel__read(machine, &box) : -1;
    if (is_undefined) {
        grout_box__publish_unwritten(cta, thread, inst, &box);
    }
    if (cluster < 0 && box.is_inside && !is_undefined) {
        grout_cta__head(cta)->has_had_all = 1;
    }
    memcpy(grout_slot__data(cta, thread, &inst->result), &cluster, sizeof cluster);
    grout_slot__set_undefined(cta, thread, &inst->result, is_undefined);
    return GROUT_OUTCOME_NEXT;
}
