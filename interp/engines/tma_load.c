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
#include "tma_rows.h"

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
    return grout_plan__box(machine->plan, inst, 1)->phase_bytes;
}

void grout_engine__stamps_tma_load(const grout_cta *cta, const grout_flight *flight,
                                   grout_stamp *read_out, grout_stamp *write_out) {
    const grout_clock_shape *shape = &cta->machine->plan->shape;
    *read_out =
        (grout_stamp){.cluster = grout_cta__cluster(cta)->index,
                      .component = grout_clock_phase(
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

/* A gather of rows. */
static void move_rows(const grout_cta *cta, const grout_tma_rows *rows, const grout_box *to) {
    grout_tma_rows__read(rows);
    grout_box__scatter(cta->machine, to, cta->machine->linear);
}

/* The same from its flight, which gives up what it has noted. */
static void land_rows(const grout_cta *cta, grout_flight *flight, const grout_box *from,
                      const grout_box *to) {
    const grout_inst *inst = grout_flight__inst(cta->machine, flight);
    const uint32_t noted = flight->bytes.copy.rows, slot = flight->bytes.copy.source;
    const grout_tma_rows rows =
        grout_tma_rows__resume(cta, inst, from, grout_slots__get(cta, noted));
    if (flight->is_captured) {
        grout_capture__read_rows(&rows, slot);
        grout_box__scatter(cta->machine, to, grout_slots__get(cta, slot));
        grout_slots__give(cta, slot);
        flight->bytes.copy.source = 0;
    } else {
        move_rows(cta, &rows, to);
    }
    grout_slots__give(cta, noted);
    flight->bytes.copy.rows = 0;
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
    if (grout_tma_rows__is_mode_of(inst)) {
        land_rows(cta, flight, &from, &to);
    } else if (flight->is_captured) {
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
    if (!load->is_void && grout_tma_rows__is_mode_of(inst)) {
        const grout_tma_rows rows = grout_tma_rows__begin(cta, thread, inst, &boxes[0]);
        move_rows(cta, &rows, &boxes[1]);
    } else if (!load->is_void) {
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

/* Slots of what a load has to keep from its issue on; 0: none. */
typedef struct captured_load {
    uint32_t source, rows;
} captured_load;

static captured_load capture(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_box *from, uint32_t rank) {
    if (!grout_tma_rows__is_mode_of(inst)) {
        return (captured_load){grout_capture__take(cta, thread, from, rank), 0};
    }
    const grout_tma_rows rows = grout_tma_rows__begin(cta, thread, inst, from);
    const grout_cta *keeper = grout_cta__peer(cta, rank);
    captured_load kept = {.source = grout_capture__take_rows(&rows, thread, rank)};
    kept.rows = grout_slots__take(keeper);
    grout_tma_rows__note(&rows, grout_slots__get(keeper, kept.rows));
    return kept;
}

void grout_tma__start_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_load *load) {
    grout_machine *machine = cta->machine;
    if (!machine->is_lazy) {
        load_now(cta, thread, inst, boxes, load);
        return;
    }
    /* Before the flight is there: to make room, others may land, and look at all that are. */
    const captured_load kept =
        load->is_void ? (captured_load){0, 0} : capture(cta, thread, inst, &boxes[0], load->rank);
    uint32_t index = grout_flight__add(cta, thread, inst, GROUT_ENGINE_TMA_LOAD, load->rank);
    if (index == 0) {
        return;
    }
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_void = load->is_void;
    flight->is_part = load->is_part;
    flight->is_captured = kept.source != 0;
    flight->is_stale = boxes[0].is_stale;
    flight->bytes.copy.source = kept.source;
    flight->bytes.copy.rows = kept.rows;
    flight->bytes.copy.spoilt = load->spoilt;
    flight->phase.bytes = load->bytes;
    flight->u.load.part = load->part;
    flight->u.load.parts = load->parts;
    memcpy(flight->start[0], boxes[0].start, sizeof flight->start[0]);
    memcpy(flight->start[1], boxes[1].start, sizeof flight->start[1]);
    flight->limits = boxes[0].limits;
    grout_flight__attach(grout_cta__peer(cta, load->owner), load->element, load->record, index);
}
