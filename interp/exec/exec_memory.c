/*
 * exec_memory.c - loads, stores and the issue of copies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"
#include "atomic.h"
#include "convert.h"
#include "exec.h"
#include "gmem.h"
#include "memory.h"
#include "spin.h"
#include "tma.h"
#include "undo.h"

#include <string.h>

/* Takes any byte other than 0 and 1 as true, and reports it, unless it is undefined. */
static void check_bools(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                        const grout_box *box, const uint8_t *mask) {
    const grout_slot *slot = &inst->result;
    uint8_t *data = grout_slot__data(cta, thread, slot);
    uint8_t largest = 0;
    for (uint32_t i = 0; i < slot->count; i++) {
        uint8_t value = mask != NULL && mask[i] != 0 ? 0 : data[i];
        largest = value > largest ? value : largest;
        data[i] = data[i] != 0;
    }
    if (largest > 1 && box->is_inside) {
        grout_fault fault = {.code = GROUT_DIAG_INVALID_BOOL, .object = box->plan->object};
        grout_cta__fault(cta, thread, inst, box->plan->operand, &fault);
    }
}

/* The mask of a loaded array, or NULL if all of it is defined. Elements outside count as defined:
 * they have been reported as outside. */
static uint8_t *load_mask(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const grout_box *box) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = &inst->result;
    uint8_t *mask = slot->is_array ? grout_slot__mask(cta, thread, slot)
                                   : &grout_cta__registers(cta, thread)[slot->flag];
    if (!machine->tracks || grout_box__is_defined(machine, box)) {
        grout_slot__set_undefined(cta, thread, slot, false);
        return NULL;
    }
    memset(mask, 0, slot->count);
    grout_box__get_undefined(machine, box, mask);
    grout_box__publish_unwritten(cta, thread, inst, box);
    for (int64_t i = box->plan->packed > 1 ? box->plan->count : 0; i-- > 0;) {
        mask[2 * i] = mask[2 * i + 1] = mask[i];
    }
    if (slot->is_array) {
        grout_slot__set_undefined(cta, thread, slot, true);
    }
    return mask;
}

grout_outcome grout_exec_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    if (grout_spin__stops(cta, thread)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    grout_box box = grout_box__resolve(cta, thread, inst, 0);
    const grout_slot *slot = &inst->result;
    void *data = grout_slot__data(cta, thread, slot);
    (void)grout_box__check_inside(cta, thread, inst, &box);
    grout_access__publish(cta, thread, inst, &box, NULL);
    if (!box.is_inside) {
        grout_fill_poison(slot->dtype, data, box.plan->count);
    }
    grout_box__gather(cta->machine, &box, data);
    grout_elements_unpack(slot->dtype, data, data, box.plan->packed > 1 ? slot->count : 0);
    const uint8_t *mask = load_mask(cta, thread, inst, &box);
    if (slot->dtype == GROUT_DTYPE_BOOL) {
        check_bools(cta, thread, inst, &box, mask);
    }
    return GROUT_OUTCOME_NEXT;
}

/* A byte of which an element is undefined is undefined. */
static const uint8_t *pack_mask(const grout_machine *machine, const grout_box *box,
                                const uint8_t *mask) {
    for (int64_t i = 0; i < box->plan->count; i++) {
        machine->mask_linear[i] = mask[2 * i] | mask[2 * i + 1];
    }
    return machine->mask_linear;
}

static void store_mask(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                       const grout_box *box) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    const uint8_t *mask = NULL, is_undefined = 1;
    if (grout_slot__is_undefined(cta, thread, slot)) {
        mask = slot->is_array ? grout_slot__mask(cta, thread, slot) : &is_undefined;
        mask = box->plan->packed > 1 ? pack_mask(machine, box, mask) : mask;
    }
    grout_box__set_written(machine, box, mask);
    if (mask != NULL && grout_space_is_of_launch(box->plan->space) &&
        grout_box__has_undefined(machine, box, mask)) {
        grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ,
                             .use = GROUT_USE_OUTPUT,
                             .object = box->plan->object};
        grout_cta__fault(cta, thread, inst, 1, &fault);
    }
}

/* Whether a store of one element would leave it as it is. */
static bool is_idle(const grout_cta *cta, uint32_t thread, const grout_slot *slot,
                    const grout_box *box) {
    uint8_t before[sizeof(uint64_t)];
    grout_machine *machine = cta->machine;
    if (!box->is_inside || box->plan->packed > 1 || slot->element_bytes > sizeof before ||
        (machine->tracks &&
         (grout_slot__is_undefined(cta, thread, slot) || !grout_box__is_defined(machine, box)))) {
        return false;
    }
    grout_box__gather(machine, box, before);
    return memcmp(before, grout_slot__data(cta, thread, slot), slot->element_bytes) == 0;
}

grout_outcome grout_exec_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_box box = grout_box__resolve(cta, thread, inst, 0);
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    (void)grout_box__check_inside(cta, thread, inst, &box);
    grout_access__publish(cta, thread, inst, &box, NULL);
    if (inst->is_in_while && is_idle(cta, thread, slot, &box)) {
        machine->run.spin.is_idle = true;
    }
    if (machine->is_lazy && grout_space_needs_commit_smem(box.plan->space)) {
        grout_undo__note_store(cta, thread, inst, 0, &box);
    } else if (machine->is_lazy && box.plan->is_mixed) {
        grout_gmem__note_store(cta, thread, &box);
    }
    const uint8_t *data = grout_slot__data(cta, thread, slot);
    if (box.plan->packed > 1) {
        grout_elements_pack(slot->dtype, data, machine->linear, slot->count);
        data = machine->linear;
    }
    grout_box__scatter(machine, &box, data);
    if (machine->tracks) {
        store_mask(cta, thread, inst, &box);
    }
    if (inst->is_ordered) {
        grout_atomic__forget(cta, &box);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_copy_gmem_to_smem(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    return grout_tma__issue_load(cta, thread, inst) ? GROUT_OUTCOME_NEXT : GROUT_OUTCOME_BLOCKED;
}

grout_outcome grout_exec_copy_gmem_to_smem_im2col(const grout_cta *cta, uint32_t thread,
                                                  const grout_inst *inst) {
    return grout_tma__issue_load(cta, thread, inst) ? GROUT_OUTCOME_NEXT : GROUT_OUTCOME_BLOCKED;
}

grout_outcome grout_exec_tma_gather(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return grout_tma__issue_load(cta, thread, inst) ? GROUT_OUTCOME_NEXT : GROUT_OUTCOME_BLOCKED;
}

grout_outcome grout_exec_async_prefetch(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    grout_tma__check_prefetch(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_copy_smem_to_gmem(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    grout_tma__issue_store(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_tma_scatter(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    grout_tma__issue_store(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}
