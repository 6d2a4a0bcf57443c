/*
 * async_store.c - the engine of st.async.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "async_store.h"

#include "capture.h"
#include "engine.h"
#include "move.h"

#include <string.h>

int64_t grout_engine__bytes_async_store(const grout_machine *machine, const grout_inst *inst) {
    return grout_plan__box(machine->plan, inst, 0)->bytes;
}

void grout_engine__stamps_async_store(const grout_cta *cta, const grout_flight *flight,
                                      grout_stamp *read_out, grout_stamp *write_out) {
    grout_engine__stamps_tma_load(cta, flight, read_out, write_out);
    read_out->agent = write_out->agent = GROUT_AGENT_GENERIC_ENGINE;
}

void grout_engine__land_async_store(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_flight *flight = grout_flight__get(machine, index);
    const grout_inst *inst = grout_flight__inst(machine, flight);
    uint32_t slot = flight->bytes.elements;
    if (slot != 0) {
        grout_box to =
            grout_box__place(cta, grout_plan__box(machine->plan, inst, 0), flight->start[0]);
        grout_move__combine(machine, inst, &to, grout_slots__get(cta, slot));
        grout_slots__give(cta, slot);
        flight->bytes.elements = 0;
    }
}

/* Its elements wait in a slot of the destination's CTA. */
static void put_in_flight(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const grout_box *box, const grout_delivery *delivery, uint32_t record) {
    grout_machine *machine = cta->machine;
    const uint8_t *elements =
        grout_slot__data(cta, thread, grout_plan__slot(machine->plan, inst, 0));
    uint32_t index = grout_flight__add(cta, thread, inst, GROUT_ENGINE_ASYNC_STORE, box->rank);
    if (index == 0) {
        return;
    }
    const grout_cta *to = grout_cta__peer(cta, box->rank);
    uint32_t slot = box->is_inside ? grout_slots__take(to) : 0;
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_void = !box->is_inside;
    flight->bytes.elements = slot;
    flight->phase.bytes = delivery->bytes;
    memcpy(flight->start[0], box->start, sizeof flight->start[0]);
    if (slot != 0) {
        memcpy(grout_slots__get(to, slot), elements, (size_t)box->plan->bytes);
    }
    grout_flight__attach(to, delivery->element, record, index);
}

static void store_now(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      const grout_box *box, const grout_delivery *delivery, uint32_t record) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    if (box->is_inside) {
        grout_move__combine(machine, inst, box, grout_slot__data(cta, thread, slot));
    }
    grout_flight flight = grout_flight__describe(cta, thread, inst, GROUT_ENGINE_ASYNC_STORE);
    flight.phase.element = delivery->element;
    flight.phase.number = delivery->phase;
    grout_flight__publish_complete(cta, &flight);
    grout_barrier__land(grout_cta__peer(cta, delivery->rank), delivery->element, record,
                        delivery->bytes);
}

void grout_async_store__start(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                              const grout_box *box, const grout_delivery *delivery,
                              uint32_t record) {
    if (cta->machine->is_lazy) {
        put_in_flight(cta, thread, inst, box, delivery, record);
    } else {
        store_now(cta, thread, inst, box, delivery, record);
    }
}
