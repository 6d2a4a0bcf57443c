/*
 * exec_pick.c - loads and stores by indices, and with a mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "atomic.h"
#include "convert.h"
#include "exec.h"
#include "gmem.h"
#include "pick.h"
#include "undo.h"

#include <string.h>

/* ---- loads -------------------------------------------------------------------------------------
 */

/* Marks what is undefined of a box in the result's mask; the first time, nothing else is. */
static void add_mask(const grout_picks *picks, const grout_box *box, bool *is_undefined) {
    grout_machine *machine = picks->cta->machine;
    const grout_slot *slot = &picks->inst->result;
    uint8_t *mask = slot->is_array ? grout_slot__mask(picks->cta, picks->thread, slot)
                                   : &grout_cta__registers(picks->cta, picks->thread)[slot->flag];
    if (!machine->tracks || grout_box__is_defined(machine, box)) {
        return;
    }
    if (!*is_undefined) {
        memset(mask, 0, slot->count);
        *is_undefined = true;
    }
    grout_box__get_undefined(machine, box, mask + picks->number * picks->inst->u.pick.inner);
}

/* Takes any byte other than 0 and 1 as true, and reports it. */
static void check_bools(const grout_picks *picks, uint8_t *data, int64_t count,
                        bool *has_reported) {
    uint8_t largest = 0;
    for (int64_t i = 0; i < count; i++) {
        largest = data[i] > largest ? data[i] : largest;
        data[i] = data[i] != 0;
    }
    if (largest > 1 && !*has_reported) {
        grout_fault fault = {.code = GROUT_DIAG_INVALID_BOOL, .object = picks->base.plan->object};
        *has_reported = true;
        grout_cta__fault(picks->cta, picks->thread, picks->inst, picks->base.plan->operand, &fault);
    }
}

/* The elements that are touched; 0 where the mask is false, poison outside. */
static void read_all(grout_picks *picks) {
    const grout_slot *slot = &picks->inst->result;
    const int64_t inner = picks->inst->u.pick.inner, bytes = inner * slot->element_bytes;
    uint8_t *data = grout_slot__data(picks->cta, picks->thread, slot);
    bool is_undefined = false, has_reported = false;
    grout_pick_state state;
    grout_box box;
    grout_picks__rewind(picks);
    if (!slot->is_array) {
        grout_slot__set_undefined(picks->cta, picks->thread, slot, false);
    }
    while ((state = grout_picks__next(picks, &box)) != GROUT_PICK_END) {
        uint8_t *to = data + picks->number * bytes;
        if (state == GROUT_PICK_MASKED) {
            memset(to, 0, (size_t)bytes);
        } else if (state == GROUT_PICK_OUTSIDE) {
            grout_fill_poison(slot->dtype, to, inner);
        } else {
            const bool was_undefined = is_undefined;
            grout_box__gather(picks->cta->machine, &box, to);
            add_mask(picks, &box, &is_undefined);
            if (slot->dtype == GROUT_DTYPE_BOOL && is_undefined == was_undefined) {
                check_bools(picks, to, inner, &has_reported);
            }
        }
    }
    if (slot->is_array) {
        grout_slot__set_undefined(picks->cta, picks->thread, slot, is_undefined);
    }
}

static grout_outcome load(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = &inst->result;
    grout_picks picks;
    if (!grout_picks__begin(&picks, cta, thread, inst)) {
        grout_fill_poison(slot->dtype, grout_slot__data(cta, thread, slot), slot->count);
        grout_slot__set_undefined(cta, thread, slot, false);
        return GROUT_OUTCOME_NEXT;
    }
    (void)grout_picks__publish(&picks, NULL, false, 1);
    read_all(&picks);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_gather(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return load(cta, thread, inst);
}

grout_outcome grout_exec_masked_load(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    return load(cta, thread, inst);
}

/* ---- stores ------------------------------------------------------------------------------------
 */

/* The value's elements that go to a box are written; an undefined one that reaches a gmem array is
 * reported. */
static void write_mask(const grout_picks *picks, const grout_slot *slot, const grout_box *box,
                       bool *has_reported) {
    grout_machine *machine = picks->cta->machine;
    const uint8_t *mask = NULL, is_undefined = 1;
    if (grout_slot__is_undefined(picks->cta, picks->thread, slot)) {
        mask = slot->is_array ? grout_slot__mask(picks->cta, picks->thread, slot) +
                                    picks->number * picks->inst->u.pick.inner
                              : &is_undefined;
    }
    grout_box__set_written(machine, box, mask);
    if (mask != NULL && !*has_reported && grout_space_is_of_launch(box->plan->space) &&
        grout_box__has_undefined(machine, box, mask)) {
        grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ,
                             .use = GROUT_USE_OUTPUT,
                             .object = box->plan->object};
        *has_reported = true;
        grout_cta__fault(picks->cta, picks->thread, picks->inst, picks->inst->u.pick.value, &fault);
    }
}

static void write_one(const grout_picks *picks, const grout_slot *slot, const grout_box *box,
                      bool *has_reported) {
    grout_machine *machine = picks->cta->machine;
    const int64_t bytes = picks->inst->u.pick.inner * slot->element_bytes;
    if (machine->is_lazy && grout_space_needs_commit_smem(box->plan->space)) {
        grout_undo__note_store(picks->cta, picks->thread, picks->inst, 0, box);
    } else if (machine->is_lazy && box->plan->is_mixed) {
        grout_gmem__note_store(picks->cta, picks->thread, box);
    }
    grout_box__scatter(machine, box,
                       grout_slot__data(picks->cta, picks->thread, slot) + picks->number * bytes);
    if (machine->tracks) {
        write_mask(picks, slot, box, has_reported);
    }
    if (picks->inst->is_ordered) {
        grout_atomic__forget(picks->cta, box);
    }
}

static grout_outcome store(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, inst->u.pick.value - 1u);
    bool has_reported = false;
    grout_pick_state state;
    grout_picks picks;
    grout_box box;
    if (!grout_picks__begin(&picks, cta, thread, inst)) {
        return GROUT_OUTCOME_NEXT;
    }
    (void)grout_picks__publish(&picks, NULL, inst->u.pick.indices != 0, 1);
    grout_picks__rewind(&picks);
    while ((state = grout_picks__next(&picks, &box)) != GROUT_PICK_END) {
        if (state == GROUT_PICK_TOUCHED) {
            write_one(&picks, slot, &box, &has_reported);
        }
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_scatter(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return store(cta, thread, inst);
}

grout_outcome grout_exec_masked_store(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    return store(cta, thread, inst);
}
