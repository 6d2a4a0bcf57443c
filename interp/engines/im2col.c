/*
 * im2col.c - copies in im2col mode: which pixels of the array one moves (PTX ISA 9.1 'Im2col
 * mode').
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "im2col.h"

#include "access.h"
#include "convert.h"
#include "move.h"

#include <string.h>

/* Base pixels, one after another. Dimension 0 of the array counts images, then come the spatial
 * ones, the last counts channels. */
typedef struct walk {
    const grout_cta *cta;
    const grout_inst *inst;
    const grout_box *source;
    int64_t base[GROUT_RANK_MAX];
} walk;

static walk begin_walk(const grout_cta *cta, const grout_inst *inst, const grout_box *source) {
    walk w = {.cta = cta, .inst = inst, .source = source};
    memcpy(w.base, source->start, sizeof w.base);
    return w;
}

static int64_t get_last(const grout_inst *inst, const grout_box_plan *plan, uint32_t spatial) {
    return plan->dims[1 + spatial] - 1 + inst->u.copy.upper[spatial];
}

/* To the next base pixel: the innermost spatial dimension first; an image is followed by the next.
 */
static void go_on(walk *w) {
    const grout_inst *inst = w->inst;
    for (uint32_t spatial = inst->u.copy.spatial_count; spatial-- > 0;) {
        w->base[1 + spatial] += inst->u.copy.pixel_steps[spatial];
        if (w->base[1 + spatial] <= get_last(inst, w->source->plan, spatial)) {
            return;
        }
        w->base[1 + spatial] = inst->u.copy.lower[spatial];
    }
    w->base[0]++;
}

/* What is read for a base pixel. */
static grout_box get_pixel(const walk *w) {
    const grout_box_plan *plan = w->source->plan;
    int64_t start[GROUT_RANK_MAX];
    memcpy(start, w->base, sizeof start);
    for (uint32_t spatial = 0; spatial < w->inst->u.copy.spatial_count; spatial++) {
        start[1 + spatial] += w->source->start[plan->rank + spatial];
    }
    grout_box pixel = grout_box__place(w->cta, plan, start);
    if (w->source->is_stale) {
        pixel.is_stale = true;
        grout_stale__show(w->cta->machine, &pixel);
    }
    return pixel;
}

static int64_t count_pixels(const grout_box *source, const grout_box *to) {
    return to->plan->count / source->plan->count;
}

/* ---- the issue ------------------------------------------------------------------------------- */

static bool refuse(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                   const grout_box *source, uint32_t dimension, grout_outside use) {
    const grout_box_plan *plan = source->plan;
    grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                         .object = plan->object,
                         .dimension = dimension,
                         .start = source->start[dimension],
                         .extent = 1,
                         .limit = plan->dims[dimension],
                         .use = use};
    if (use == GROUT_OUTSIDE_OFFSET) {
        fault.start = source->start[plan->rank + dimension - 1];
    }
    grout_cta__fault(cta, thread, inst, plan->operand, &fault);
    return true;
}

static void set_offsets(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                        grout_box *source) {
    bool is_undefined = false;
    for (uint32_t spatial = 0; spatial < inst->u.copy.spatial_count; spatial++) {
        const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, spatial);
        source->start[source->plan->rank + spatial] = grout_slot__get_integer(cta, thread, slot);
        is_undefined |= grout_slot__is_undefined(cta, thread, slot);
    }
    if (is_undefined) {
        grout_cta__fault_undefined(cta, thread, inst, 3, GROUT_USE_ADDRESS);
    }
}

bool grout_im2col__refuses(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           grout_box *source) {
    const grout_box_plan *plan = source->plan;
    set_offsets(cta, thread, inst, source);
    if (source->start[0] < 0) {
        return refuse(cta, thread, inst, source, 0, GROUT_OUTSIDE_PIXELS);
    }
    for (uint32_t spatial = 0; spatial < inst->u.copy.spatial_count; spatial++) {
        const int64_t low = inst->u.copy.lower[spatial], start = source->start[1 + spatial];
        const int64_t offset = source->start[plan->rank + spatial];
        if (start < low || start > get_last(inst, plan, spatial) ||
            (start - low) % inst->u.copy.pixel_steps[spatial] != 0) {
            return refuse(cta, thread, inst, source, 1 + spatial, GROUT_OUTSIDE_PIXELS);
        }
        if (offset < 0 || offset > inst->u.copy.offset_max) {
            return refuse(cta, thread, inst, source, 1 + spatial, GROUT_OUTSIDE_OFFSET);
        }
    }
    return false;
}

void grout_im2col__publish_reads(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                 const grout_box *boxes, const grout_stamp *stamps) {
    walk w = begin_walk(cta, inst, &boxes[0]);
    grout_box pixel[2] = {boxes[0], boxes[1]};
    if (!grout_machine__wants(cta->machine, GROUT_EVENT_ACCESS)) {
        return;
    }
    for (int64_t left = count_pixels(&boxes[0], &boxes[1]); left > 0; left--) {
        pixel[0] = get_pixel(&w);
        if (!pixel[0].is_empty) {
            grout_access__publish_some(cta, thread, inst, pixel, stamps, GROUT_PUBLISH_READS);
        }
        go_on(&w);
    }
}

void grout_im2col__definedness(const grout_cta *cta, const grout_inst *inst,
                               const grout_box *boxes) {
    grout_machine *machine = cta->machine;
    const int64_t channels = boxes[0].plan->count;
    uint8_t *mask = machine->mask_linear;
    walk w = begin_walk(cta, inst, &boxes[0]);
    memset(mask, 0, (size_t)boxes[1].plan->count);
    for (int64_t at = 0; at < boxes[1].plan->count; at += channels) {
        const grout_box pixel = get_pixel(&w);
        if (!pixel.is_empty && !grout_box__is_defined(machine, &pixel)) {
            grout_box__get_undefined(machine, &pixel, mask + at);
        }
        go_on(&w);
    }
    grout_box__set_written(machine, &boxes[1], mask);
}

/* ---- the engine ------------------------------------------------------------------------------ */

void grout_im2col__copy(const grout_cta *cta, const grout_inst *inst, const grout_box *source,
                        const grout_box *to) {
    grout_machine *machine = cta->machine;
    const grout_dtype dtype = (grout_dtype)to->plan->dtype;
    walk w = begin_walk(cta, inst, source);
    if (inst->u.copy.oob == GROUT_CHOICE_OOB_NAN) {
        grout_fill_nan(dtype, machine->linear, to->plan->count);
    } else {
        memset(machine->linear, 0, (size_t)to->plan->bytes);
    }
    for (int64_t at = 0; at < to->plan->bytes; at += source->plan->bytes) {
        const grout_box pixel = get_pixel(&w);
        if (!pixel.is_empty) {
            grout_box__gather(machine, &pixel, machine->linear + at);
        }
        go_on(&w);
    }
    grout_box__scatter(machine, to, machine->linear);
}
