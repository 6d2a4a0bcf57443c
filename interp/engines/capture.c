/*
 * capture.c - slots of bytes, and what is captured into them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture.h"

#include "engine.h"
#include "gmem.h"
#include "undo.h"

#include <string.h>

static uint32_t *get_free_slots(const grout_cta *cta) {
    return (uint32_t *)(void *)(cta->state + cta->machine->at.payload_free);
}

/* The oldest flight with a slot takes effect. */
static void make_room(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    uint32_t oldest = grout_cta__head(cta)->first_flight;
    const grout_flight *flight = grout_flight__get(machine, oldest);
    while (!grout_flight__has_slots(flight)) {
        oldest = flight->next;
        flight = grout_flight__get(machine, oldest);
    }
    if (grout_engine__get_info(machine, flight->engine)->is_in_order) {
        grout_flight__finish(cta, oldest);
    } else {
        grout_flight__land(cta, oldest); /* the caller may be walking a queue or a phase */
    }
}

/* There are at least five slots, and a caller has at most four that are not in flight yet. */
uint32_t grout_slots__take(const grout_cta *cta) {
    grout_cta_state *head = grout_cta__head(cta);
    if (head->payload_used == cta->machine->payload_slots) {
        make_room(cta);
    }
    GROUT_ASSERT(head->payload_used < cta->machine->payload_slots);
    return get_free_slots(cta)[head->payload_used++];
}

void grout_slots__give(const grout_cta *cta, uint32_t slot) {
    GROUT_ASSERT(slot != 0 && grout_cta__head(cta)->payload_used > 0);
    get_free_slots(cta)[--grout_cta__head(cta)->payload_used] = slot;
}

static bool capture(const grout_cta *cta, uint32_t thread, const grout_box *box) {
    grout_machine *machine = cta->machine;
    return grout_space_is_of_launch(box->plan->space)
               ? grout_gmem__capture(cta, thread, box, machine->linear, machine->mask_linear)
               : grout_undo__capture(cta, thread, box, machine->linear, machine->mask_linear);
}

/* What is captured: a box, or rows. */
typedef struct captured {
    const grout_cta *cta;
    uint32_t thread;
    const grout_box *box;
    const grout_tma_rows *rows;
    int64_t bytes;
} captured;

static bool capture_all(const captured *it) {
    grout_machine *machine = it->cta->machine;
    return it->rows == NULL ? capture(it->cta, it->thread, it->box)
                            : grout_tma_rows__capture(it->rows, it->thread, machine->linear,
                                                      machine->mask_linear);
}

static uint32_t take(const captured *it, uint32_t rank) {
    grout_machine *machine = it->cta->machine;
    if (!capture_all(it)) {
        return 0;
    }
    /* What finishes to make room uses the scratch, and neither logs a store nor publishes one: the
     * same bytes are captured again. */
    const grout_cta *keeper = grout_cta__peer(it->cta, rank);
    uint32_t slot = grout_slots__take(keeper);
    uint8_t *bytes = grout_slots__get(keeper, slot);
    bool is_found = capture_all(it);
    GROUT_ASSERT(is_found);
    (void)is_found;
    memcpy(bytes, machine->linear, (size_t)it->bytes);
    memcpy(bytes + machine->payload_mask_at, machine->mask_linear, (size_t)it->bytes);
    return slot;
}

uint32_t grout_capture__take(const grout_cta *cta, uint32_t thread, const grout_box *box,
                             uint32_t rank) {
    const captured it = {.cta = cta, .thread = thread, .box = box, .bytes = box->plan->bytes};
    return take(&it, rank);
}

uint32_t grout_capture__take_operand(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                     uint32_t box_index, const grout_box *box,
                                     const grout_stamp *read) {
    GROUT_ASSERT(!grout_space_is_of_launch(box->plan->space));
    uint32_t slot = grout_capture__take(cta, thread, box, cta->rank);
    if (slot == 0) {
        grout_undo__note_read(cta, read, inst, box_index, box);
    }
    return slot;
}

static int64_t get_bytes(const grout_tma_rows *rows) {
    return rows->inst->u.copy.row_count * rows->array->plan->bytes;
}

uint32_t grout_capture__take_rows(const grout_tma_rows *rows, uint32_t thread, uint32_t rank) {
    const captured it = {
        .cta = rows->cta, .thread = thread, .rows = rows, .bytes = get_bytes(rows)};
    return take(&it, rank);
}

/* The slot's bytes become those of the machine's scratch, where they were not captured. */
static void merge(const grout_cta *cta, uint32_t slot, int64_t count) {
    const grout_machine *machine = cta->machine;
    uint8_t *bytes = grout_slots__get(cta, slot);
    const uint8_t *stale = bytes + machine->payload_mask_at;
    for (int64_t i = 0; i < count; i++) {
        bytes[i] = stale[i] != 0 ? bytes[i] : machine->linear[i];
    }
}

void grout_capture__read(const grout_cta *cta, const grout_box *from, uint32_t slot) {
    grout_box__gather(cta->machine, from, cta->machine->linear);
    merge(cta, slot, from->plan->bytes);
}

void grout_capture__read_rows(const grout_tma_rows *rows, uint32_t slot) {
    grout_tma_rows__read(rows);
    merge(rows->cta, slot, get_bytes(rows));
}
