/*
 * flight.c - the list of what is in flight in a CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

void grout_flight__link(grout_machine *machine, uint32_t index) {
    grout_cta *cta = grout_machine__cta(machine);
    grout_machine__async(machine, index)->previous = cta->last_flight;
    if (cta->last_flight != 0) {
        grout_machine__async(machine, cta->last_flight)->next = index;
    } else {
        cta->first_flight = index;
    }
    cta->last_flight = index;
}

void grout_flight__unlink(grout_machine *machine, uint32_t index) {
    grout_cta *cta = grout_machine__cta(machine);
    machine->spin.changes++;
    const grout_async *async = grout_machine__async(machine, index);
    if (async->previous != 0) {
        grout_machine__async(machine, async->previous)->next = async->next;
    } else {
        cta->first_flight = async->next;
    }
    if (async->next != 0) {
        grout_machine__async(machine, async->next)->previous = async->previous;
    } else {
        cta->last_flight = async->previous;
    }
}

void grout_flight__forget(grout_machine *machine, uint32_t index) {
    if ((grout_machine__async(machine, index)->flags & GROUT_ASYNC_DONE) == 0) {
        grout_flight__unlink(machine, index);
    }
    grout_pool__give(&machine->asyncs, index);
}
