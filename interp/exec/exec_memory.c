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

static void check_bounds(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                         const grout_box *box) {
    if (!box->is_inside && !box->is_nowhere) {
        uint32_t dim = box->outside;
        grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                             .object = box->plan->object,
                             .dimension = dim,
                             .start = box->start[dim],
                             .extent = box->plan->extent[dim],
                             .limit = box->plan->dims[dim]};
        grout_machine__fault(machine, thread, inst, box->plan->operand, &fault);
    }
}

/* Takes any other byte than 0 and 1 as true; says so, unless nobody wrote it. */
static void check_bools(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                        const grout_box *box, const uint8_t *mask) {
    const grout_slot *slot = &inst->result;
    uint8_t *data = grout_slot__data(machine, thread, slot);
    uint8_t largest = 0;
    for (uint32_t i = 0; i < slot->count; i++) {
        uint8_t value = mask != NULL && mask[i] != 0 ? 0 : data[i];
        largest = value > largest ? value : largest;
        data[i] = data[i] != 0;
    }
    if (largest > 1 && box->is_inside) {
        grout_fault fault = {.code = GROUT_DIAG_INVALID_BOOL, .object = box->plan->object};
        grout_machine__fault(machine, thread, inst, box->plan->operand, &fault);
    }
}

/* The mask of a loaded array, or NULL if all of it is defined. Elements outside count as defined:
 * that they are outside has been said. */
static uint8_t *load_mask(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                          const grout_box *box) {
    const grout_slot *slot = &inst->result;
    uint8_t *mask = slot->is_array ? grout_slot__mask(machine, thread, slot)
                                   : &grout_machine__registers(machine, thread)[slot->flag];
    if (!machine->tracks || grout_box__is_defined(machine, box)) {
        grout_slot__set_undefined(machine, thread, slot, false);
        return NULL;
    }
    memset(mask, 0, slot->count);
    grout_box__get_undefined(machine, box, mask);
    if (slot->is_array) {
        grout_slot__set_undefined(machine, thread, slot, true);
    }
    return mask;
}

grout_outcome grout_exec_load(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    if (grout_spin__stops(machine, thread)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    grout_box box = grout_box__resolve(machine, thread, inst, 0);
    const grout_slot *slot = &inst->result;
    void *data = grout_slot__data(machine, thread, slot);
    check_bounds(machine, thread, inst, &box);
    grout_access__publish(machine, thread, inst, &box, NULL);
    if (!box.is_inside) {
        grout_fill_poison(slot->dtype, data, slot->count);
    }
    grout_box__gather(machine, &box, data);
    const uint8_t *mask = load_mask(machine, thread, inst, &box);
    if (slot->dtype == GROUT_DTYPE_BOOL) {
        check_bools(machine, thread, inst, &box, mask);
    }
    return GROUT_OUTCOME_NEXT;
}

static void store_mask(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                       const grout_box *box) {
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    const uint8_t *mask = NULL, is_undefined = 1;
    if (grout_slot__is_undefined(machine, thread, slot)) {
        mask = slot->is_array ? grout_slot__mask(machine, thread, slot) : &is_undefined;
    }
    grout_box__set_written(machine, box, mask);
    if (mask != NULL && box->plan->space == GROUT_SPACE_GMEM &&
        grout_box__has_undefined(machine, box, mask)) {
        grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ,
                             .use = GROUT_USE_OUTPUT,
                             .object = box->plan->object};
        grout_machine__fault(machine, thread, inst, 1, &fault);
    }
}

grout_outcome grout_exec_store(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_box box = grout_box__resolve(machine, thread, inst, 0);
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    check_bounds(machine, thread, inst, &box);
    grout_access__publish(machine, thread, inst, &box, NULL);
    if (machine->is_lazy && box.plan->space == GROUT_SPACE_SMEM) {
        grout_undo__note_store(machine, thread, inst, 0, &box);
    } else if (machine->is_lazy && box.plan->is_mixed) {
        grout_gmem__note_store(machine, thread, &box);
    }
    grout_box__scatter(machine, &box, grout_slot__data(machine, thread, slot));
    if (machine->tracks) {
        store_mask(machine, thread, inst, &box);
    }
    if (inst->is_ordered) {
        grout_atomic__forget(machine, &box);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_copy_gmem_to_smem(grout_machine *machine, uint32_t thread,
                                           const grout_inst *inst) {
    return grout_tma__issue_load(machine, thread, inst) ? GROUT_OUTCOME_NEXT
                                                        : GROUT_OUTCOME_BLOCKED;
}

grout_outcome grout_exec_copy_smem_to_gmem(grout_machine *machine, uint32_t thread,
                                           const grout_inst *inst) {
    grout_tma__issue_store(machine, thread, inst);
    return GROUT_OUTCOME_NEXT;
}
