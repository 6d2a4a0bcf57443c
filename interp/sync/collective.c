/*
 * collective.c - copies that all CTAs of a set have to issue, and those that some have not issued.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include <string.h>

/* The record of a set's n-th copy, or 0: all before it have been issued by all, it by none. */
static uint32_t find_collective(const grout_machine *machine, uint32_t mask, uint32_t number) {
    uint32_t index = grout_machine__cluster(machine)->first_collective;
    while (index != 0) {
        const grout_collective *record = grout_pool__at(&machine->collectives, index);
        if (record->mask == mask && record->number == number) {
            break;
        }
        index = record->next;
    }
    return index;
}

static uint32_t add_collective(grout_machine *machine, const grout_origin *origin, uint32_t mask,
                               uint32_t number) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    uint32_t index = grout_pool__take(&machine->collectives, &machine->heap);
    if (index == 0) {
        machine->has_failed = true;
        return 0;
    }
    grout_collective *record = grout_pool__at(&machine->collectives, index);
    *record = (grout_collective){.mask = mask, .number = number, .origin = *origin};
    if (cluster->last_collective != 0) {
        ((grout_collective *)grout_pool__at(&machine->collectives, cluster->last_collective))
            ->next = index;
    } else {
        cluster->first_collective = index;
    }
    cluster->last_collective = index;
    return index;
}

static void drop_collective(grout_machine *machine, uint32_t index) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    uint32_t next = ((grout_collective *)grout_pool__at(&machine->collectives, index))->next;
    uint32_t before = 0;
    for (uint32_t i = cluster->first_collective; i != index;) {
        before = i;
        i = ((grout_collective *)grout_pool__at(&machine->collectives, i))->next;
    }
    if (before != 0) {
        ((grout_collective *)grout_pool__at(&machine->collectives, before))->next = next;
    } else {
        cluster->first_collective = next;
    }
    cluster->last_collective = next == 0 ? before : cluster->last_collective;
    grout_pool__give(&machine->collectives, index);
}

/* Does the selected CTA issue nothing more: has it ended, or do all its threads wait to end? */
static bool is_over(const grout_machine *machine) {
    for (uint32_t i = 0; i < machine->plan->runner_count; i++) {
        const grout_thread *thread = grout_machine__thread(machine, i);
        if (thread->state != GROUT_THREAD_EXITED && thread->is_leaving == 0) {
            return grout_machine__cta(machine)->has_ended != 0;
        }
    }
    return true;
}

/* A CTA of the set that has ended without the copy, or UINT32_MAX. */
static uint32_t find_ended(grout_machine *machine, uint32_t missing) {
    uint32_t own = machine->rank, found = UINT32_MAX;
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        grout_machine__select(machine, rank);
        if ((missing >> rank & 1u) != 0 && is_over(machine)) {
            found = found == UINT32_MAX ? grout_machine__cta(machine)->index : found;
        }
    }
    grout_machine__select(machine, own);
    return found;
}

void grout_cluster__note_collective(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                                    uint32_t mask, uint32_t set) {
    uint32_t *counts = (uint32_t *)(void *)(machine->state + machine->at.collectives);
    uint32_t number = counts[set]++;
    grout_origin origin = grout_machine__origin(machine, thread, inst);
    uint32_t index = find_collective(machine, mask, number);
    index = index == 0 ? add_collective(machine, &origin, mask, number) : index;
    if (index == 0) {
        return;
    }
    grout_collective *record = grout_pool__at(&machine->collectives, index);
    record->issued |= 1u << machine->rank;
    uint32_t ended = find_ended(machine, record->mask & ~record->issued);
    if (grout_machine__wants(machine, GROUT_EVENT_COLLECTIVE)) {
        grout_clocks clocks;
        grout_event event =
            grout_machine__event(machine, GROUT_EVENT_COLLECTIVE, thread, inst, &clocks);
        event.u.collective.mask = mask;
        event.u.collective.number = number;
        event.u.collective.other = record->origin.op;
        event.u.collective.other_cta = record->origin.cta;
        event.u.collective.is_divergent = record->origin.op != origin.op;
        if (!event.u.collective.is_divergent && ended != UINT32_MAX) {
            event.u.collective.other = 0;
            event.u.collective.other_cta = ended;
            event.u.collective.is_divergent = true;
        }
        grout_machine__publish(machine, &event);
    }
    if ((record->mask & ~record->issued) == 0) {
        drop_collective(machine, index);
    }
}

static void publish_divergence(grout_machine *machine, const grout_collective *record) {
    if (!grout_machine__wants(machine, GROUT_EVENT_COLLECTIVE)) {
        return;
    }
    grout_event event;
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_COLLECTIVE;
    event.step = machine->stats.steps;
    event.origin = record->origin;
    event.u.collective.mask = record->mask;
    event.u.collective.number = record->number;
    event.u.collective.other_cta = grout_machine__cta(machine)->index;
    event.u.collective.is_divergent = true;
    grout_machine__publish(machine, &event);
}

void grout_cluster__check_collectives(grout_machine *machine) {
    uint32_t index = grout_machine__cluster(machine)->first_collective;
    while (index != 0) {
        const grout_collective *record = grout_pool__at(&machine->collectives, index);
        if ((record->mask & ~record->issued) >> machine->rank & 1u) {
            publish_divergence(machine, record);
        }
        index = record->next;
    }
}

void grout_cluster__note_leaving(grout_machine *machine) {
    if (is_over(machine)) {
        grout_cluster__check_collectives(machine);
    }
}
