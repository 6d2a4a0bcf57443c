/*
 * tma_load.c - the engine of copies from GMEM to SMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "capture.h"
#include "convert.h"
#include "engine.h"
#include "im2col.h"
#include "move.h"
#include "tma.h"

#include <string.h>

grout_box grout_tma__place(const grout_cta *cta, const grout_flight *flight, uint32_t index) {
    const grout_inst *inst = grout_flight__inst(cta->machine, flight);
    grout_box box = grout_box__place_inside(cta, grout_plan__box(cta->machine->plan, inst, index),
                                            flight->start[index], &flight->limits);
    if (index == 0 && flight->is_stale) {
        grout_stale__show(cta->machine, &box);
    }
    return box;
}

grout_box grout_tma__place_target(const grout_cta *cta, const grout_flight *load) {
    grout_box to = grout_tma__place(cta, load, 1);
    if (load->u.load.parts > 0) {
        grout_box__cut(&to, (uint32_t)grout_flight__inst(cta->machine, load)->u.copy.part_dim,
                       load->u.load.part, load->u.load.parts);
    }
    return to;
}

void grout_tma__spoil(const grout_cta *cta, grout_flight *flight, const grout_box *to) {
    grout_machine *machine = cta->machine;
    if (flight->bytes.copy.spoilt == 0) {
        return;
    }
    const uint8_t *mask =
        grout_slots__get(cta, flight->bytes.copy.spoilt) + machine->payload_mask_at;
    uint8_t *poison = machine->image;
    grout_box__gather(machine, to, machine->linear);
    grout_fill_poison(to->plan->dtype, poison, 1);
    for (int64_t i = 0; i < to->plan->bytes; i++) {
        if (mask[i] != 0) {
            machine->linear[i] = poison[i % to->plan->element_bytes];
        }
    }
    grout_box__scatter(machine, to, machine->linear);
    grout_slots__give(cta, flight->bytes.copy.spoilt);
    flight->bytes.copy.spoilt = 0;
}

/* ---- the engine ------------------------------------------------------------------------------ */

int64_t grout_engine__bytes_tma_load(const grout_machine *machine, const grout_inst *inst) {
    return grout_plan__box(machine->plan, inst, 1)->bytes;
}

void grout_engine__stamps_tma_load(const grout_cta *cta, const grout_flight *flight,
                                   grout_stamp *read_out, grout_stamp *write_out) {
    const grout_clock_shape *shape = &cta->machine->plan->shape;
    *read_out =
        (grout_stamp){.cluster = grout_cta__cluster(cta)->index,
                      .component = grout_clock_ph(
                          shape, grout_cta__element(grout_cta__peer(cta, flight->phase.rank),
                                                    flight->phase.element)),
                      .number = flight->phase.number + 1,
                      .agent = GROUT_AGENT_ENGINE};
    *write_out = *read_out;
}

static void move(const grout_cta *cta, const grout_inst *inst, const grout_box *from,
                 const grout_box *to) {
    if (grout_im2col__is_mode_of(inst)) {
        grout_im2col__copy(cta, inst, from, to);
    } else {
        grout_move__copy(cta->machine, inst, from, to);
    }
}

/* If some of the source was captured at the issue: copies what the engine sees to the target. */
static void move_captured(const grout_cta *cta, grout_flight *flight, const grout_box *from,
                          const grout_box *to) {
    grout_machine *machine = cta->machine;
    uint32_t slot = flight->bytes.copy.source;
    grout_move__fill_outside(machine, grout_flight__inst(machine, flight), from);
    grout_capture__read(cta, from, slot);
    grout_box__scatter(machine, to, grout_slots__get(cta, slot));
    grout_slots__give(cta, slot);
    flight->bytes.copy.source = 0;
}

void grout_engine__land_tma_load(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    if (grout_flight__get(machine, index)->is_void) {
        return;
    }
    grout_tma__let_later_first(cta, index);
    grout_flight *flight = grout_flight__get(machine, index);
    const grout_inst *inst = grout_flight__inst(machine, flight);
    grout_box from = grout_tma__place(cta, flight, 0), to = grout_tma__place_target(cta, flight);
    if (flight->u.load.parts > 0) {
        grout_box__cut(&from, (uint32_t)inst->u.copy.part_dim, flight->u.load.part,
                       flight->u.load.parts);
    }
    if (flight->is_captured) {
        move_captured(cta, flight, &from, &to);
    } else {
        move(cta, inst, &from, &to);
    }
    grout_tma__spoil(cta, flight, &to);
    grout_tma__let_newer_win(cta, flight);
}

/* ---- start ----------------------------------------------------------------------------------- */

/* At once. The barrier may be a peer's. */
static void load_now(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                     const grout_box *boxes, const grout_load *load) {
    if (!load->is_void) {
        move(cta, inst, &boxes[0], &boxes[1]);
    }
    grout_flight flight = grout_flight__describe(cta, thread, inst, GROUT_ENGINE_TMA_LOAD);
    flight.is_part = load->is_part;
    flight.phase.rank = load->owner;
    flight.phase.element = load->element;
    flight.phase.number = load->phase;
    grout_flight__publish_complete(cta, &flight);
    grout_barrier__land(grout_cta__peer(cta, load->owner), load->element, load->record,
                        load->bytes);
}

void grout_tma__start_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_load *load) {
    grout_machine *machine = cta->machine;
    if (!machine->is_lazy) {
        load_now(cta, thread, inst, boxes, load);
        return;
    }
    uint32_t index = grout_flight__add(cta, thread, inst, GROUT_ENGINE_TMA_LOAD, load->rank);
    if (index == 0) {
        return;
    }
    uint32_t source = load->is_void ? 0 : grout_capture__take(cta, thread, &boxes[0], load->rank);
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_void = load->is_void;
    flight->is_part = load->is_part;
    flight->is_captured = source != 0;
    flight->is_stale = boxes[0].is_stale;
    flight->bytes.copy.source = source;
    flight->bytes.copy.spoilt = load->spoilt;
    flight->phase.bytes = load->bytes;
    flight->u.load.part = load->part;
    flight->u.load.parts = load->parts;
    memcpy(flight->start[0], boxes[0].start, sizeof flight->start[0]);
    memcpy(flight->start[1], boxes[1].start, sizeof flight->start[1]);
    flight->limits = boxes[0].limits;
    grout_flight__attach(grout_cta__peer(cta, load->owner), load->element, load->record, index);
}
