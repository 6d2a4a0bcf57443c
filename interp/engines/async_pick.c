/*
 * async_pick.c - what cp.async copies by indices or with a mask.
 *
 * A piece whose mask is false is copied with a source of no bytes: zeros arrive, as late as the
 * other pieces, and nothing is read (PTX ISA 9.1, 'cp.async', src-size).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "async_pick.h"

#include "access.h"
#include "convert.h"

#include <string.h>

/* ---- the promise -------------------------------------------------------------------------------
 */

/* The byte of the object that a box of one element begins at. */
static int64_t get_offset(const grout_picks *picks, const grout_box *box) {
    uint32_t count = 0;
    const grout_run *runs = grout_box__get_runs(picks->cta->machine, box, &count);
    return runs == NULL || count == 0 ? 0 : runs[0].base;
}

static void report_group(const grout_picks *picks, grout_group_fault what) {
    grout_fault fault = {.code = GROUT_DIAG_NOT_CONTIGUOUS,
                         .object = picks->base.plan->object,
                         .use = what,
                         .have = picks->number,
                         .need = picks->inst->u.pick.contiguous};
    grout_cta__fault(picks->cta, picks->thread, picks->inst, picks->base.plan->operand, &fault);
}

/* The group of elements that a walk is in. */
typedef struct group {
    grout_pick_state state; /* of the first */
    int64_t first;          /* its place, if it is touched */
} group;

/* Whether an element is as the promise says; what lies outside has been reported. */
static bool check_element(const grout_picks *picks, grout_pick_state state, const grout_box *box,
                          group *now) {
    const int64_t n = picks->inst->u.pick.contiguous, bytes = picks->base.plan->element_bytes;
    const int64_t at = picks->number % n;
    const int64_t place = state == GROUT_PICK_TOUCHED ? get_offset(picks, box) : 0;
    if (at == 0) {
        *now = (group){state, place};
    }
    if (state == GROUT_PICK_OUTSIDE || now->state == GROUT_PICK_OUTSIDE) {
        return true;
    }
    if (state != now->state) {
        report_group(picks, GROUT_GROUP_CUT);
        return false;
    }
    const bool is_touched = state == GROUT_PICK_TOUCHED;
    const bool starts_between = is_touched && at == 0 && place % (n * bytes) != 0;
    if (starts_between || (is_touched && place != now->first + at * bytes)) {
        report_group(picks, starts_between ? GROUT_GROUP_START : GROUT_GROUP_APART);
        return false;
    }
    return true;
}

/* Each group of elements is masked, or read from neighbours. */
static void check_contiguous(grout_picks *picks) {
    group now = {GROUT_PICK_END, 0};
    grout_pick_state state = GROUT_PICK_TOUCHED;
    bool holds = picks->inst->u.pick.contiguous > 1;
    grout_box box;
    grout_picks__rewind(picks);
    while (holds && state != GROUT_PICK_END) {
        state = grout_picks__next(picks, &box);
        holds = state == GROUT_PICK_END || check_element(picks, state, &box, &now);
    }
    grout_picks__rewind(picks);
}

/* ---- the copy ----------------------------------------------------------------------------------
 */

bool grout_async_pick__publish(grout_picks *picks, const grout_box *boxes,
                               const grout_stamp *stamps, uint32_t piece) {
    const bool is_aligned = grout_picks__publish(picks, stamps, false, piece);
    grout_access__publish_some(picks->cta, picks->thread, picks->inst, boxes, stamps,
                               GROUT_PUBLISH_WRITES);
    check_contiguous(picks);
    return is_aligned || picks->inst->u.pick.contiguous > 1;
}

void grout_async_pick__definedness(grout_picks *picks, const grout_box *to) {
    grout_machine *machine = picks->cta->machine;
    uint8_t *mask = machine->mask_linear;
    bool is_undefined = false;
    grout_pick_state state;
    grout_box box;
    memset(mask, 0, (size_t)to->plan->count);
    grout_picks__rewind(picks);
    while ((state = grout_picks__next(picks, &box)) != GROUT_PICK_END) {
        if (state == GROUT_PICK_TOUCHED && !grout_box__is_defined(machine, &box)) {
            grout_box__get_undefined(machine, &box,
                                     mask + picks->number * picks->inst->u.pick.inner);
            is_undefined = true;
        }
    }
    grout_box__set_written(machine, to, is_undefined ? mask : NULL);
}

void grout_async_pick__move(grout_picks *picks, const grout_box *to) {
    grout_machine *machine = picks->cta->machine;
    const int64_t inner = picks->inst->u.pick.inner, bytes = inner * to->plan->element_bytes;
    grout_pick_state state;
    grout_box box;
    grout_picks__rewind(picks);
    while ((state = grout_picks__next(picks, &box)) != GROUT_PICK_END) {
        uint8_t *at = machine->linear + picks->number * bytes;
        if (state == GROUT_PICK_MASKED) {
            memset(at, 0, (size_t)bytes);
        } else if (state == GROUT_PICK_OUTSIDE) {
            grout_fill_poison((grout_dtype)to->plan->dtype, at, inner);
        } else {
            if (picks->base.is_stale) {
                grout_stale__show(machine, &box);
            }
            grout_box__gather(machine, &box, at);
        }
    }
    grout_box__scatter(machine, to, machine->linear);
}
