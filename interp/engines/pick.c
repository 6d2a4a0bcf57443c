/*
 * pick.c - ops with indices or a mask go through small boxes: an element each, or what lies at one
 * index.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pick.h"

#include "access.h"
#include "claims.h"
#include "run_list.h"

#include <stdlib.h>
#include <string.h>

static const grout_move *get_dims(const grout_picks *picks) {
    return grout_pool__at(&picks->cta->machine->plan->moves, picks->inst->first_move);
}

#define NOTED_MASKED  (-1)
#define NOTED_OUTSIDE (-2)

/* The slot of an operand: references stand in front of them all. */
static const grout_slot *get_slot(const grout_picks *picks, uint32_t operand) {
    return grout_plan__slot(picks->cta->machine->plan, picks->inst,
                            operand - picks->inst->box_count);
}

bool grout_picks__begin(grout_picks *picks, const grout_cta *cta, uint32_t thread,
                        const grout_inst *inst) {
    *picks =
        (grout_picks){.cta = cta, .thread = thread, .inst = inst, .number = -1, .reports = true};
    picks->base = grout_box__resolve(cta, thread, inst, 0);
    return !picks->base.is_nowhere;
}

void grout_picks__begin_noted(grout_picks *picks, const grout_cta *cta, uint32_t thread,
                              const grout_inst *inst, const grout_box *base, const int32_t *noted) {
    *picks = (grout_picks){
        .cta = cta, .thread = thread, .inst = inst, .base = *base, .number = -1, .noted = noted};
}

void grout_picks__rewind(grout_picks *picks) {
    picks->number = -1;
    picks->reports = false;
    memset(picks->at, 0, sizeof picks->at);
}

/* The next box; false if there is none. */
static bool advance(grout_picks *picks) {
    const grout_move *dims = get_dims(picks);
    if (picks->number++ < 0) {
        return picks->inst->u.pick.count > 0;
    }
    for (uint32_t i = picks->inst->move_count; i-- > 0;) {
        if (++picks->at[i] < dims[i].from.count) {
            break;
        }
        picks->at[i] = 0;
    }
    return picks->number < picks->inst->u.pick.count;
}

static void report_undefined(grout_picks *picks, uint32_t operand) {
    if (picks->reports && !picks->has_reported_undefined) {
        picks->has_reported_undefined = true;
        grout_cta__fault_undefined(picks->cta, picks->thread, picks->inst, operand,
                                   GROUT_USE_ADDRESS);
    }
}

/* The bytes of an operand's element; reports one that nobody has written. */
static const uint8_t *get_element(grout_picks *picks, uint32_t operand, int64_t number) {
    const grout_slot *slot = get_slot(picks, operand);
    const grout_cta *cta = picks->cta;
    number = slot->is_array ? number : 0;
    if (grout_slot__is_undefined(cta, picks->thread, slot) &&
        (!slot->is_array || grout_slot__mask(cta, picks->thread, slot)[number] != 0)) {
        report_undefined(picks, operand);
    }
    return grout_slot__data(cta, picks->thread, slot) + number * slot->element_bytes;
}

static bool is_masked(grout_picks *picks) {
    const grout_move *dims = get_dims(picks);
    int64_t number = 0;
    if (picks->noted != NULL) {
        return picks->noted[picks->number] == NOTED_MASKED;
    }
    if (picks->inst->u.pick.mask == 0) {
        return false;
    }
    for (uint32_t i = 0; i < picks->inst->move_count; i++) {
        number += picks->at[i] * dims[i].to.mask;
    }
    return *get_element(picks, picks->inst->u.pick.mask, number) == 0;
}

static int64_t get_index(grout_picks *picks) {
    const grout_move *dims = get_dims(picks);
    int64_t number = 0;
    int32_t index;
    if (picks->noted != NULL) {
        return picks->noted[picks->number];
    }
    if (picks->inst->u.pick.indices == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < picks->inst->move_count; i++) {
        number += picks->at[i] * dims[i].to.data;
    }
    memcpy(&index, get_element(picks, picks->inst->u.pick.indices, number), sizeof index);
    return index;
}

static void report_outside(grout_picks *picks, uint32_t dim, int64_t start, int64_t limit) {
    if (picks->reports && !picks->has_reported_outside) {
        picks->has_reported_outside = true;
        grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                             .object = picks->base.plan->object,
                             .dimension = dim,
                             .start = start,
                             .extent = 1,
                             .limit = limit};
        grout_cta__fault(picks->cta, picks->thread, picks->inst, picks->base.plan->operand, &fault);
    }
}

grout_pick_state grout_picks__next(grout_picks *picks, grout_box *box) {
    const grout_inst *inst = picks->inst;
    const grout_move *dims = get_dims(picks);
    const uint32_t dim = inst->u.pick.dim;
    int64_t start[GROUT_RANK_MAX], index;
    if (!advance(picks)) {
        return GROUT_PICK_END;
    }
    if (is_masked(picks)) {
        return GROUT_PICK_MASKED;
    }
    memcpy(start, picks->base.start, sizeof start);
    for (uint32_t i = 0; i < inst->move_count; i++) {
        if (dims[i].from.data != 0) {
            start[dims[i].from.data - 1] += picks->at[i];
        }
    }
    index = get_index(picks);
    if (picks->noted != NULL && index == NOTED_OUTSIDE) {
        return GROUT_PICK_OUTSIDE;
    }
    if (inst->u.pick.indices != 0 && (index < 0 || index >= inst->u.pick.limit)) {
        report_outside(picks, dim, start[dim] + index, start[dim] + inst->u.pick.limit);
        return GROUT_PICK_OUTSIDE;
    }
    start[dim] += index;
    *box = grout_box__place(picks->cta, picks->base.plan, start);
    if (picks->base.rank != box->rank) {
        grout_box__set_rank(picks->cta, box, picks->base.rank);
    }
    if (!box->is_inside) {
        report_outside(picks, box->outside, box->start[box->outside],
                       box->plan->dims[box->outside]);
        return GROUT_PICK_OUTSIDE;
    }
    return GROUT_PICK_TOUCHED;
}

void grout_picks__note(grout_picks *picks, int32_t *noted) {
    grout_pick_state state;
    grout_box box;
    grout_picks__rewind(picks);
    while ((state = grout_picks__next(picks, &box)) != GROUT_PICK_END) {
        noted[picks->number] = state == GROUT_PICK_MASKED    ? NOTED_MASKED
                               : state == GROUT_PICK_OUTSIDE ? NOTED_OUTSIDE
                                                             : (int32_t)get_index(picks);
    }
}

/* ---- the access -------------------------------------------------------------------------------
 */

static int compare_places(const void *a, const void *b) {
    const grout_picked *left = a, *right = b;
    return left->offset != right->offset  ? (left->offset < right->offset ? -1 : 1)
           : left->number < right->number ? -1
                                          : left->number > right->number;
}

/* Whether two boxes are to be written with values that differ, or that nobody knows. */
static bool differs(const grout_picks *picks, int64_t a, int64_t b) {
    const grout_slot *slot = get_slot(picks, picks->inst->u.pick.value);
    const int64_t inner = picks->inst->u.pick.inner, bytes = inner * slot->element_bytes;
    const uint8_t *data = grout_slot__data(picks->cta, picks->thread, slot);
    if (memcmp(data + a * bytes, data + b * bytes, (size_t)bytes) != 0) {
        return true;
    }
    if (!grout_slot__is_undefined(picks->cta, picks->thread, slot)) {
        return false;
    }
    const uint8_t *mask = grout_slot__mask(picks->cta, picks->thread, slot);
    return memchr(mask + a * inner, 1, (size_t)inner) != NULL ||
           memchr(mask + b * inner, 1, (size_t)inner) != NULL;
}

static void check_places(const grout_picks *picks, grout_picked *places, uint32_t count) {
    if (count > 1) {
        qsort(places, count, sizeof *places, compare_places);
    }
    for (uint32_t i = 1; i < count; i++) {
        if (places[i].offset == places[i - 1].offset &&
            differs(picks, places[i - 1].number, places[i].number)) {
            const int64_t inner = picks->inst->u.pick.inner;
            grout_fault fault = {.code = GROUT_DIAG_SCATTER_CONFLICT,
                                 .object = picks->base.plan->object,
                                 .have = places[i - 1].number * inner,
                                 .need = places[i].number * inner};
            grout_cta__fault(picks->cta, picks->thread, picks->inst, picks->base.plan->operand,
                             &fault);
            return;
        }
    }
}

/* What all places and lengths are multiples of, as far as powers of two go. */
static int64_t get_grain(const grout_runs *runs) {
    int64_t bits = 0;
    for (uint32_t i = 0; i < runs->count; i++) {
        bits |= runs->first[i].base | runs->first[i].length;
    }
    return bits;
}

bool grout_picks__publish(grout_picks *picks, const grout_stamp *stamps, bool has_own_places,
                          uint32_t piece) {
    grout_machine *machine = picks->cta->machine;
    grout_pool *places = &machine->scratch[GROUT_SCRATCH_PICKED];
    const bool is_wanted = piece > 1 || grout_machine__wants(machine, GROUT_EVENT_ACCESS);
    uint32_t total = 0, count = 0;
    grout_pick_state state;
    grout_box box;
    while ((state = grout_picks__next(picks, &box)) != GROUT_PICK_END) {
        if (state != GROUT_PICK_TOUCHED) {
            continue;
        }
        uint32_t run_count;
        const grout_run *runs = grout_box__get_runs(machine, &box, &run_count);
        if (runs == NULL || (is_wanted && !grout_run_list__add(machine, runs, run_count, &total)) ||
            (has_own_places && !grout_run_list__reserve(machine, places, count, 1))) {
            machine->run.has_failed = true;
            return true;
        }
        if (has_own_places && run_count > 0) {
            ((grout_picked *)grout_pool__at(places, 0))[count++] =
                (grout_picked){.offset = runs[0].base, .number = picks->number};
        }
        grout_claims__note(machine, &box);
    }
    const grout_runs joined = grout_run_list__join(machine, total);
    grout_access__publish_runs(picks->cta, picks->thread, picks->inst, &picks->base, &joined,
                               stamps);
    if (has_own_places && count > 0) {
        check_places(picks, grout_pool__at(places, 0), count);
    }
    return get_grain(&joined) % piece == 0;
}
