/*
 * exec_atomic.c - atomics on GMEM and SMEM: of arrays, element by element, and of one element,
 * whose old value they return.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"
#include "atomic.h"
#include "atomic_math.h"
#include "convert.h"
#include "exec.h"
#include "non_finite.h"
#include "pick.h"
#include "spin.h"
#include "undo.h"

#include <string.h>

/* Finds the box of the op; false if none of it can be touched. */
static bool find_box(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                     grout_box *box) {
    *box = grout_box__resolve(cta, thread, inst, 0);
    if (box->is_nowhere) {
        return false;
    }
    (void)grout_box__check_inside(cta, thread, inst, box);
    return !box->is_empty;
}

static void publish(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                    const grout_box *box) {
    grout_access__publish(cta, thread, inst, box, NULL);
    if (cta->machine->is_lazy && grout_space_needs_commit_smem(box->plan->space)) {
        grout_undo__note_store(cta, thread, inst, 0, box);
    }
}

/* Finds the box of the op and publishes the access; false if none of it can be touched. */
static bool begin(const grout_cta *cta, uint32_t thread, const grout_inst *inst, grout_box *box) {
    const bool is_somewhere = find_box(cta, thread, inst, box);
    if (is_somewhere) {
        publish(cta, thread, inst, box);
    }
    return is_somewhere;
}

/* Marks the box as written; reports an undefined value that reaches a gmem array. */
static void set_mask(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                     const grout_box *box, const uint8_t *mask) {
    grout_machine *machine = cta->machine;
    grout_box__set_written(machine, box, mask);
    if (grout_space_is_of_launch(box->plan->space) &&
        grout_box__has_undefined(machine, box, mask)) {
        grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ,
                             .use = GROUT_USE_OUTPUT,
                             .object = box->plan->object};
        grout_cta__fault(cta, thread, inst, 0, &fault);
    }
}

/* ---- arrays ------------------------------------------------------------------------------------
 */

/* An element is undefined after it if it was before, or the value is. */
static void combine_masks(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const grout_box *box) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
    if (!is_undefined && grout_box__is_defined(machine, box)) {
        return;
    }
    grout_cta__publish_plain(cta, GROUT_EVENT_UNDEFINED, thread, inst);
    uint8_t *mask = machine->mask_linear;
    memset(mask, 0, (size_t)box->plan->count);
    if (inst->update != GROUT_UPDATE_EXCHANGE) {
        grout_box__get_undefined(machine, box, mask);
    }
    for (int64_t i = 0; is_undefined && i < box->plan->count; i++) {
        mask[i] |= slot->is_array ? grout_slot__mask(cta, thread, slot)[i] : 1;
    }
    set_mask(cta, thread, inst, box, mask);
}

/* What is gathered of a box is combined with these values. */
static void combine(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                    const grout_box *box, const uint8_t *values, int64_t count) {
    const grout_origin origin = grout_cta__origin(cta, thread, inst);
    const grout_update_plan plan = {.update = (grout_update)inst->update,
                                    .dtype = (grout_dtype)box->plan->dtype,
                                    .is_gmem = grout_space_is_of_launch(box->plan->space),
                                    .is_picked = inst->u.pick.inner > 0};
    grout_non_finite__update(cta->machine, &origin, &plan, cta->machine->linear, values, count);
}

static grout_outcome update(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_box box;
    if (!begin(cta, thread, inst, &box)) {
        return GROUT_OUTCOME_NEXT;
    }
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    if (!box.is_inside) { /* elements outside count as 0, and are not scattered */
        memset(machine->linear, 0, (size_t)box.plan->bytes);
    }
    grout_box__gather(machine, &box, machine->linear);
    combine(cta, thread, inst, &box, grout_slot__data(cta, thread, slot), box.plan->count);
    if (machine->tracks) {
        combine_masks(cta, thread, inst, &box);
    }
    grout_box__scatter(machine, &box, machine->linear);
    return GROUT_OUTCOME_NEXT;
}

/* The same, and what the elements held before. */
static grout_outcome fetch_array(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0), *to = &inst->result;
    uint8_t *old = grout_slot__data(cta, thread, to);
    grout_box box;
    grout_slot__set_undefined(cta, thread, to, false);
    grout_fill_poison(to->dtype, old, to->count);
    if (!begin(cta, thread, inst, &box)) {
        return GROUT_OUTCOME_NEXT;
    }
    grout_box__gather(machine, &box, old);
    if (machine->tracks && !grout_box__is_defined(machine, &box)) {
        uint8_t *mask = grout_slot__mask(cta, thread, to);
        memset(mask, 0, to->count);
        grout_box__get_undefined(machine, &box, mask);
        grout_slot__set_undefined(cta, thread, to, true);
    }
    memcpy(machine->linear, old, (size_t)box.plan->bytes);
    combine(cta, thread, inst, &box, grout_slot__data(cta, thread, slot), box.plan->count);
    if (machine->tracks) {
        combine_masks(cta, thread, inst, &box);
    }
    grout_box__scatter(machine, &box, machine->linear);
    return GROUT_OUTCOME_NEXT;
}

/* ---- by indices --------------------------------------------------------------------------------
 */

static void combine_picked_masks(const grout_picks *picks, const grout_box *box) {
    grout_machine *machine = picks->cta->machine;
    const int64_t inner = picks->inst->u.pick.inner;
    const grout_slot *slot =
        grout_plan__slot(machine->plan, picks->inst, picks->inst->u.pick.value - 1u);
    bool is_undefined = grout_slot__is_undefined(picks->cta, picks->thread, slot);
    if (!is_undefined && grout_box__is_defined(machine, box)) {
        grout_box__set_written(machine, box, NULL);
        return;
    }
    grout_cta__publish_plain(picks->cta, GROUT_EVENT_UNDEFINED, picks->thread, picks->inst);
    uint8_t *mask = machine->mask_linear;
    memset(mask, 0, (size_t)inner);
    if (picks->inst->update != GROUT_UPDATE_EXCHANGE) {
        grout_box__get_undefined(machine, box, mask);
    }
    for (int64_t i = 0; is_undefined && i < inner; i++) {
        mask[i] |= grout_slot__mask(picks->cta, picks->thread, slot)[picks->number * inner + i];
    }
    set_mask(picks->cta, picks->thread, picks->inst, box, mask);
}

/* In row-major order of the value: hardware has none. */
static grout_outcome update_picked(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, inst->u.pick.value - 1u);
    const int64_t inner = inst->u.pick.inner, bytes = inner * slot->element_bytes;
    grout_pick_state state;
    grout_picks picks;
    grout_box box;
    if (!grout_picks__begin(&picks, cta, thread, inst)) {
        return GROUT_OUTCOME_NEXT;
    }
    (void)grout_picks__publish(&picks, NULL, false, 1);
    grout_picks__rewind(&picks);
    while ((state = grout_picks__next(&picks, &box)) != GROUT_PICK_END) {
        if (state != GROUT_PICK_TOUCHED) {
            continue;
        }
        if (machine->is_lazy && grout_space_needs_commit_smem(box.plan->space)) {
            grout_undo__note_store(cta, thread, inst, 0, &box);
        }
        grout_box__gather(machine, &box, machine->linear);
        combine(cta, thread, inst, &box, grout_slot__data(cta, thread, slot) + picks.number * bytes,
                inner);
        if (machine->tracks) {
            combine_picked_masks(&picks, &box);
        }
        grout_box__scatter(machine, &box, machine->linear);
    }
    return GROUT_OUTCOME_NEXT;
}

/* ---- one element -------------------------------------------------------------------------------
 */

/* An element on its way through an op. */
typedef struct fetch {
    grout_box box;
    grout_location location;
    uint8_t old[8];
    bool is_undefined; /* the old one */
} fetch;

static void set_result(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                       const uint8_t *value, bool is_undefined) {
    memcpy(grout_slot__data(cta, thread, &inst->result), value, inst->result.element_bytes);
    grout_slot__set_undefined(cta, thread, &inst->result, is_undefined);
}

/* Reads the element; one that is nowhere gives poison. */
static bool read_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst, fetch *op) {
    grout_machine *machine = cta->machine;
    *op = (fetch){.is_undefined = false};
    grout_fill_poison(inst->result.dtype, op->old, 1);
    if (!find_box(cta, thread, inst, &op->box)) {
        set_result(cta, thread, inst, op->old, false);
        return false;
    }
    if (inst->is_in_while) {
        const size_t size = inst->tells_more ? op->box.plan->element_bytes : 0;
        grout_box__gather(machine, &op->box, op->old);
        (void)grout_spin__begin_look(cta, thread, inst, op->old, size);
    }
    publish(cta, thread, inst, &op->box);
    if (inst->is_ordered) {
        op->location = grout_atomic__get_location(cta, &op->box);
        grout_atomic__acquire(cta, thread, &op->location,
                              (grout_sync){inst->order, inst->edge_scope});
    }
    grout_box__gather(machine, &op->box, op->old);
    op->is_undefined = machine->tracks && !grout_box__is_defined(machine, &op->box);
    set_result(cta, thread, inst, op->old, op->is_undefined);
    return true;
}

static void note_undefined(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           bool is_undefined) {
    if (is_undefined) {
        grout_cta__publish_plain(cta, GROUT_EVENT_UNDEFINED, thread, inst);
    }
}

static void write_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const fetch *op, const uint8_t *value, bool is_undefined) {
    grout_machine *machine = cta->machine;
    if (machine->tracks) {
        const uint8_t mask = 1;
        if (is_undefined) {
            set_mask(cta, thread, inst, &op->box, &mask);
        } else {
            grout_box__set_written(machine, &op->box, NULL);
        }
    }
    grout_box__scatter(machine, &op->box, value);
    if (inst->is_ordered) {
        grout_atomic__release(cta, thread, &op->location,
                              (grout_sync){inst->order, inst->edge_scope});
    }
}

static grout_outcome fetch_and_update(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    fetch op;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
    uint8_t value[8], operand[8];
    /* The result may take the operand's place. */
    memcpy(operand, grout_slot__data(cta, thread, slot), slot->element_bytes);
    if (grout_spin__stops(cta, thread)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    if (!read_element(cta, thread, inst, &op)) {
        return GROUT_OUTCOME_NEXT;
    }
    memcpy(value, op.old, sizeof value);
    grout_update__apply((grout_update)inst->update, (grout_dtype)op.box.plan->dtype,
                        grout_space_is_of_launch(op.box.plan->space), value, operand, 1);
    note_undefined(cta, thread, inst, is_undefined || op.is_undefined);
    is_undefined |= op.is_undefined && inst->update != GROUT_UPDATE_EXCHANGE;
    machine->run.spin.is_idle =
        is_undefined == op.is_undefined && memcmp(value, op.old, op.box.plan->element_bytes) == 0;
    write_element(cta, thread, inst, &op, value, is_undefined);
    return GROUT_OUTCOME_NEXT;
}

/* A comparison with something undefined may go either way: then the element is undefined too. */
static grout_outcome compare_and_swap(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    fetch op;
    const grout_slot *expected = grout_plan__slot(machine->plan, inst, 0);
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 1);
    bool is_open = grout_slot__is_undefined(cta, thread, expected);
    bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
    uint8_t held[8] = {0}, value[8] = {0};
    memcpy(held, grout_slot__data(cta, thread, expected), expected->element_bytes);
    memcpy(value, grout_slot__data(cta, thread, slot), slot->element_bytes);
    if (grout_spin__stops(cta, thread)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    if (!read_element(cta, thread, inst, &op)) {
        return GROUT_OUTCOME_NEXT;
    }
    is_open |= op.is_undefined;
    note_undefined(cta, thread, inst, is_open || is_undefined);
    if (memcmp(op.old, held, op.box.plan->element_bytes) == 0) {
        write_element(cta, thread, inst, &op, value, is_open || is_undefined);
    } else if (is_open && machine->tracks) {
        const uint8_t mask = 1;
        set_mask(cta, thread, inst, &op.box, &mask);
    } else {
        machine->run.spin.is_idle = true;
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_atomic(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    if (inst->update == GROUT_UPDATE_COMPARE_SWAP) {
        return compare_and_swap(cta, thread, inst);
    }
    if (inst->u.pick.value != 0) {
        return update_picked(cta, thread, inst);
    }
    if (inst->result.is_array) {
        return fetch_array(cta, thread, inst);
    }
    return inst->result.element_bytes == 0 ? update(cta, thread, inst)
                                           : fetch_and_update(cta, thread, inst);
}
