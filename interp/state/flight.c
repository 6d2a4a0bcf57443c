/*
 * flight.c - the list of what is in flight in a CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

void grout_flight__link(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    grout_machine__async(machine, index)->previous = head->last_flight;
    if (head->last_flight != 0) {
        grout_machine__async(machine, head->last_flight)->next = index;
    } else {
        head->first_flight = index;
    }
    head->last_flight = index;
}

void grout_flight__unlink(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    machine->run.spin.changes++;
    const grout_async *async = grout_machine__async(machine, index);
    if (async->previous != 0) {
        grout_machine__async(machine, async->previous)->next = async->next;
    } else {
        head->first_flight = async->next;
    }
    if (async->next != 0) {
        grout_machine__async(machine, async->next)->previous = async->previous;
    } else {
        head->last_flight = async->previous;
    }
}

void grout_flight__forget(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    if ((grout_machine__async(machine, index)->flags & GROUT_ASYNC_DONE) == 0) {
        grout_flight__unlink(cta, index);
    }
    grout_pool__give(&machine->pools[GROUT_POOL_ASYNCS], index);
}

uint64_t grout_flight__hash(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_async *async = grout_machine__async(machine, i);
        for (uint32_t k = 0; k < 2; k++) {
            if (async->payload[k] != 0) {
                size_t at = (size_t)(async->payload[k] - 1) * machine->payload_slot_bytes;
                hash = grout_hash__bytes(hash, cta->state + machine->at.payload + at,
                                         machine->payload_mask_at);
            }
        }
        hash = GROUT_HASH_FACTS(hash, async, grout_async, pc);
        i = async->next;
    }
    return hash;
}
