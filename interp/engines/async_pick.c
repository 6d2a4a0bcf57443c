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

/* Each group of elements is masked, or read from neighbours; what lies outside has been reported.
 */
static void check_contiguous(grout_picks *picks) {
    const int64_t n = picks->inst->u.pick.contiguous;
    int64_t first = 0, element;
    grout_pick_state state, first_state = GROUT_PICK_END;
    grout_box box;
    grout_picks__rewind(picks);
    while (n > 1 && (state = grout_picks__next(picks, &box)) != GROUT_PICK_END) {
        const int64_t bytes = picks->base.plan->element_bytes, at = picks->number % n;
        const int64_t offset = state == GROUT_PICK_TOUCHED ? get_offset(picks, &box) : 0;
        first = at == 0 ? offset : first;
        first_state = at == 0 ? state : first_state;
        element = first + at * bytes;
        const bool is_apart =
            state == GROUT_PICK_TOUCHED && (offset != element || first % (n * bytes) != 0);
        const bool is_outside = state == GROUT_PICK_OUTSIDE || first_state == GROUT_PICK_OUTSIDE;
        if (!is_outside && (state != first_state || is_apart)) {
            grout_fault fault = {.code = GROUT_DIAG_NOT_CONTIGUOUS,
                                 .object = picks->base.plan->object,
                                 .have = picks->number,
                                 .need = n};
            grout_cta__fault(picks->cta, picks->thread, picks->inst, picks->base.plan->operand,
                             &fault);
            return;
        }
    }
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
