/*
 * exec_wgmma.c - wgmma, its groups, and accumulators.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"
#include "accumulator.h"
#include "exec.h"
#include "wgmma.h"

/* Issue, then a wait that leaves only this one in flight. */
grout_outcome grout_exec_wgmma(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_wgmma__issue(cta, thread, inst);
    grout_wgmma__wait(cta, thread, inst, 1);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_wgmma_async(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    grout_wgmma__issue(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_wgmma_sp(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return grout_exec_wgmma(cta, thread, inst);
}

grout_outcome grout_exec_wgmma_sp_async(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    return grout_exec_wgmma_async(cta, thread, inst);
}

/* Never blocks here: the engine does at once what is waited for. */
grout_outcome grout_exec_wgmma_wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    grout_wgmma__wait(cta, thread, inst, (uint32_t)grout_slot__get_integer(cta, thread, slot));
    return GROUT_OUTCOME_NEXT;
}

/* The columns that a box of an accumulator covers; their start is a constant. */
static grout_accumulator get_accumulator(const grout_cta *cta, uint32_t thread,
                                         const grout_box *box) {
    uint32_t index = grout_plan__find_accumulator(cta->machine->plan, box->plan->object);
    return grout_accumulator__get(cta, thread, index, (uint32_t)box->plan->start[1],
                                  (uint32_t)box->plan->extent[1]);
}

/* An acc_load, or a load of an accumulator. */
grout_outcome grout_exec_acc_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = &inst->result;
    void *data = grout_slot__data(cta, thread, slot);
    if (inst->u.acc_load.groups_left >= 0) {
        grout_wgmma__wait(cta, thread, inst, (uint32_t)inst->u.acc_load.groups_left);
    }
    grout_box box = grout_box__resolve(cta, thread, inst, 0);
    grout_accumulator accumulator = get_accumulator(cta, thread, &box);
    grout_access__publish(cta, thread, inst, &box, NULL);
    grout_accumulator__load(&accumulator, data);
    grout_wgmma__poison_in_flight(cta, thread, &box, data);
    bool is_undefined =
        cta->machine->tracks &&
        grout_accumulator__get_undefined(&accumulator, grout_slot__mask(cta, thread, slot));
    grout_slot__set_undefined(cta, thread, slot, is_undefined);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_acc_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    grout_box box = grout_box__resolve(cta, thread, inst, 0);
    grout_accumulator accumulator = get_accumulator(cta, thread, &box);
    grout_access__publish(cta, thread, inst, &box, NULL);
    grout_accumulator__store(&accumulator, grout_slot__data(cta, thread, slot));
    if (machine->tracks) {
        bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
        grout_accumulator__set_undefined(&accumulator,
                                         is_undefined ? grout_slot__mask(cta, thread, slot) : NULL);
    }
    return GROUT_OUTCOME_NEXT;
}
