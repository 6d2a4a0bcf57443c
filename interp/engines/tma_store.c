/*
 * tma_store.c - the engine of copies from SMEM to GMEM, reductions included. A store that has read
 * and not written keeps its bytes in a slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture.h"
#include "engine.h"
#include "move.h"
#include "tma.h"
#include "tma_rows.h"

#include <string.h>

int64_t grout_engine__bytes_tma_store(const grout_machine *machine, const grout_inst *inst) {
    return grout_plan__box(machine->plan, inst, 1)->bytes;
}

static grout_stamp get_read_stamp(const grout_cta *cta, uint32_t lane, uint32_t group) {
    return (grout_stamp){
        .cluster = grout_cta__cluster(cta)->index,
        .component = grout_clock_bulk_read(&cta->machine->plan->shape, cta->lane_base + lane),
        .number = group,
        .agent = GROUT_AGENT_ENGINE};
}

void grout_engine__stamps_tma_store(const grout_cta *cta, const grout_flight *flight,
                                    grout_stamp *read_out, grout_stamp *write_out) {
    *read_out = *write_out = get_read_stamp(cta, flight->owner, flight->group);
    write_out->component =
        grout_clock_bulk_written(&cta->machine->plan->shape, cta->lane_base + flight->owner);
}

/* Bytes that were captured at the issue are in the slot already. */
void grout_engine__read_tma_store(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_flight *flight = grout_flight__get(machine, index);
    grout_box from = grout_tma__place(cta, flight, 0);
    flight->has_read = true;
    if (flight->is_void) {
        return;
    }
    if (flight->is_captured) {
        grout_capture__read(cta, &from, flight->bytes.copy.source);
        return;
    }
    flight->bytes.copy.source = grout_slots__take(cta);
    grout_box__gather(machine, &from, grout_slots__get(cta, flight->bytes.copy.source));
}

/* Writes a store's elements, or combines them with what is there. */
static void write_elements(const grout_cta *cta, const grout_flight *flight, const grout_box *to) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = grout_flight__inst(machine, flight);
    const uint8_t *elements = grout_slots__get(cta, flight->bytes.copy.source);
    if (inst->reduction != GROUT_UPDATE_NONE) {
        grout_move__reduce(machine, inst, to, elements, &flight->origin);
    } else {
        grout_box__scatter(machine, to, elements);
    }
}

/* A scatter of rows: what was read of SMEM, or is read now, goes to them; landed bytes that an
 * older store may still win become poison. */
static void land_rows(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    if (!grout_flight__get(machine, index)->has_read) {
        grout_engine__read_tma_store(cta, index);
    }
    grout_tma__let_later_first(cta, index);
    grout_flight *flight = grout_flight__get(machine, index);
    const grout_box array = grout_tma__place(cta, flight, 1);
    const uint32_t noted = flight->bytes.copy.rows, slot = flight->bytes.copy.source;
    const grout_tma_rows rows = grout_tma_rows__resume(cta, grout_flight__inst(machine, flight),
                                                       &array, grout_slots__get(cta, noted));
    grout_tma_rows__write(&rows, grout_slots__get(cta, slot));
    grout_slots__give(cta, slot);
    flight->bytes.copy.source = 0;
    if (flight->bytes.copy.spoilt != 0) {
        grout_tma_rows__spoil(&rows, grout_slots__get(cta, flight->bytes.copy.spoilt) +
                                         machine->payload_mask_at);
        grout_slots__give(cta, flight->bytes.copy.spoilt);
        flight->bytes.copy.spoilt = 0;
    }
    grout_slots__give(cta, noted);
    flight->bytes.copy.rows = 0;
}

void grout_engine__land_tma_store(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_flight *flight = grout_flight__get(machine, index);
    if (flight->is_void) {
        return;
    }
    if (grout_tma_rows__is_mode_of(grout_flight__inst(machine, flight))) {
        land_rows(cta, index);
        return;
    }
    bool is_direct = !flight->has_read && !flight->is_captured;
    if (!is_direct && !flight->has_read) {
        grout_engine__read_tma_store(cta, index);
    }
    grout_tma__let_later_first(cta, index);
    grout_box to = grout_tma__place(cta, flight, 1);
    if (is_direct) {
        grout_box from = grout_tma__place(cta, flight, 0);
        grout_move__store(machine, grout_flight__inst(machine, flight), &from, &to,
                          &flight->origin);
    } else {
        write_elements(cta, flight, &to);
        grout_slots__give(cta, flight->bytes.copy.source);
        flight->bytes.copy.source = 0;
    }
    grout_tma__spoil(cta, flight, &to);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void store_now(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      const grout_box *boxes, bool is_void) {
    uint32_t lane = grout_machine__lane_of(cta->machine, thread);
    if (!is_void && grout_tma_rows__is_mode_of(inst)) {
        const grout_tma_rows rows = grout_tma_rows__begin(cta, thread, inst, &boxes[1]);
        grout_box__gather(cta->machine, &boxes[0], cta->machine->linear);
        grout_tma_rows__write(&rows, cta->machine->linear);
    } else if (!is_void) {
        const grout_origin origin = grout_cta__origin(cta, thread, inst);
        grout_move__store(cta->machine, inst, &boxes[0], &boxes[1], &origin);
    }
    grout_flight flight = grout_flight__describe(cta, thread, inst, GROUT_ENGINE_TMA_STORE);
    flight.owner = lane;
    flight.group = grout_cta__lane(cta, lane)->committed + 1;
    grout_flight__publish_complete(cta, &flight);
}

/* What the engine must not see yet of both sides, and the rows that it will write. */
static void capture(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                    const grout_box *boxes, uint32_t *slots) {
    const uint32_t lane = grout_machine__lane_of(cta->machine, thread);
    const grout_stamp read = get_read_stamp(cta, lane, grout_cta__lane(cta, lane)->committed + 1);
    slots[0] = grout_capture__take_operand(cta, thread, inst, 0, &boxes[0], &read);
    if (!grout_tma_rows__is_mode_of(inst)) {
        slots[1] = grout_capture__take(cta, thread, &boxes[1], cta->rank);
        return;
    }
    const grout_tma_rows rows = grout_tma_rows__begin(cta, thread, inst, &boxes[1]);
    slots[1] = grout_capture__take_rows(&rows, thread, cta->rank);
    slots[2] = grout_slots__take(cta);
    grout_tma_rows__note(&rows, grout_slots__get(cta, slots[2]));
}

void grout_tma__start_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_box *boxes, bool is_void) {
    grout_machine *machine = cta->machine;
    uint32_t lane = grout_machine__lane_of(machine, thread), slots[3] = {0, 0, 0};
    if (!machine->is_lazy) {
        store_now(cta, thread, inst, boxes, is_void);
        return;
    }
    if (!is_void) {
        capture(cta, thread, inst, boxes, slots);
    }
    uint32_t index = grout_flight__add(cta, thread, inst, GROUT_ENGINE_TMA_STORE, cta->rank);
    if (index == 0) {
        return;
    }
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_void = is_void;
    flight->is_captured = slots[0] != 0;
    memcpy(flight->bytes.slots, slots, sizeof slots); /* source, spoilt, rows */
    memcpy(flight->start[0], boxes[0].start, sizeof flight->start[0]);
    memcpy(flight->start[1], boxes[1].start, sizeof flight->start[1]);
    flight->limits = boxes[1].limits;
    grout_flight__enqueue(cta, lane, grout_cta__lane(cta, lane)->committed + 1, index);
    /* Nothing says which of two stores lands last: it is the earlier one. */
    if (!is_void && machine->launch.timing == GROUT_TIMING_LAZY &&
        grout_tma__has_rival(cta, index)) {
        grout_flight__finish(cta, index);
    }
}
