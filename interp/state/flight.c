/*
 * flight.c - the lists that flights are in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flight.h"

#include "flying.h"

/* The list of a CTA, walked from both ends. */
static inline bool is_list_whole(const grout_cta *cta) {
    const grout_cta_state *head = grout_cta__head(cta);
    uint32_t last = 0, count = 0;
    for (uint32_t i = head->first_flight; i != 0; i = grout_flight__get(cta->machine, i)->next) {
        const grout_flight *flight = grout_flight__get(cta->machine, i);
        if (flight->previous != last || flight->is_done) {
            return false;
        }
        last = i;
        count++;
    }
    return last == head->last_flight && count == head->flight_count;
}

void grout_flight__link(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    grout_flight__get(machine, index)->previous = head->last_flight;
    if (head->last_flight != 0) {
        grout_flight__get(machine, head->last_flight)->next = index;
    } else {
        head->first_flight = index;
    }
    head->last_flight = index;
    head->flight_count++;
    GROUT_ASSERT_SLOW(is_list_whole(cta));
}

void grout_flight__begin_walk(const grout_cta *cta) {
    cta->machine->walk_next = grout_cta__head(cta)->first_flight;
}

uint32_t grout_flight__walk(grout_machine *machine) {
    const uint32_t index = machine->walk_next;
    machine->walk_next = index == 0 ? 0 : grout_flight__get(machine, index)->next;
    return index;
}

void grout_flight__unlink(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    machine->run.spin.changes++;
    machine->run.spin.hands += machine->run.spin.changer != 0;
    machine->run.spin.changer = 0;
    grout_flying__remove(cta, index);
    head->flight_count--;
    const grout_flight *flight = grout_flight__get(machine, index);
    machine->walk_next = machine->walk_next == index ? flight->next : machine->walk_next;
    if (flight->previous != 0) {
        grout_flight__get(machine, flight->previous)->next = flight->next;
    } else {
        head->first_flight = flight->next;
    }
    if (flight->next != 0) {
        grout_flight__get(machine, flight->next)->previous = flight->previous;
    } else {
        head->last_flight = flight->previous;
    }
    GROUT_ASSERT_SLOW(is_list_whole(cta));
}

void grout_flight__drop(const grout_cta *cta, uint32_t index, uint32_t holder) {
    grout_machine *machine = cta->machine;
    grout_flight *flight = grout_flight__get(machine, index);
    GROUT_ASSERT((flight->held & holder) != 0);
    flight->held &= ~holder;
    if (flight->held != 0) {
        return;
    }
    if (!flight->is_done) {
        grout_flight__unlink(grout_cta__peer(cta, flight->home), index);
    }
    grout_pool__give(&machine->pools[GROUT_POOL_FLIGHTS], index);
}

void grout_flight__push(grout_machine *machine, grout_queue *queue, uint32_t index) {
    GROUT_ASSERT((grout_flight__get(machine, index)->held & GROUT_HELD_BY_QUEUE) == 0);
    grout_flight *flight = grout_flight__get(machine, index);
    flight->held |= GROUT_HELD_BY_QUEUE;
    if (queue->last != 0) {
        grout_flight__get(machine, queue->last)->queue_next = index;
    } else {
        queue->first = index;
    }
    queue->last = index;
    queue->first_unread = queue->first_unread == 0 ? index : queue->first_unread;
}

void grout_flight__pop(const grout_cta *cta, grout_queue *queue) {
    while (queue->first != 0 && grout_flight__get(cta->machine, queue->first)->is_done) {
        uint32_t index = queue->first;
        uint32_t next = grout_flight__get(cta->machine, index)->queue_next;
        queue->first_unread = queue->first_unread == index ? next : queue->first_unread;
        queue->first = next;
        queue->last = next == 0 ? 0 : queue->last;
        grout_flight__drop(cta, index, GROUT_HELD_BY_QUEUE);
    }
}

uint64_t grout_flight__hash(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_flight *flight = grout_flight__get(machine, i);
        for (uint32_t k = 0; k < GROUT_FLIGHT_SLOTS; k++) {
            if (flight->bytes.slots[k] != 0) {
                size_t at = (size_t)(flight->bytes.slots[k] - 1) * machine->payload_slot_bytes;
                hash = grout_hash__bytes(hash, cta->state + machine->at.payload + at,
                                         machine->payload_mask_at);
            }
        }
        hash = GROUT_HASH_FACTS(hash, flight, grout_flight, pc);
        i = flight->next;
    }
    return hash;
}
