/*
 * collective.c - copies that all CTAs of a set have to issue, and those that some have not issued.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cluster.h"
#include "machine.h"

#include <string.h>

/* The record of a set's n-th copy, or 0: all CTAs have issued the copies before it, and none has
 * issued this one. */
static uint32_t find_collective(const grout_cta *cta, uint32_t mask, uint32_t number) {
    uint32_t index = grout_cta__cluster(cta)->first_collective;
    while (index != 0) {
        const grout_collective *record =
            grout_pool__at(&cta->machine->pools[GROUT_POOL_COLLECTIVES], index);
        if (record->mask == mask && record->number == number) {
            break;
        }
        index = record->next;
    }
    return index;
}

static uint32_t add_collective(const grout_cta *cta, const grout_origin *origin, uint32_t mask,
                               uint32_t number) {
    grout_machine *machine = cta->machine;
    grout_cluster *cluster = grout_cta__cluster(cta);
    uint32_t index = grout_pool__take(&machine->pools[GROUT_POOL_COLLECTIVES], &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    grout_collective *record = grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], index);
    *record = (grout_collective){.mask = mask, .number = number, .origin = *origin};
    if (cluster->last_collective != 0) {
        ((grout_collective *)grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES],
                                            cluster->last_collective))
            ->next = index;
    } else {
        cluster->first_collective = index;
    }
    cluster->last_collective = index;
    return index;
}

static void drop_collective(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_cluster *cluster = grout_cta__cluster(cta);
    uint32_t next =
        ((grout_collective *)grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], index))->next;
    uint32_t before = 0;
    for (uint32_t i = cluster->first_collective; i != index;) {
        before = i;
        i = ((grout_collective *)grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], i))->next;
    }
    if (before != 0) {
        ((grout_collective *)grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], before))
            ->next = next;
    } else {
        cluster->first_collective = next;
    }
    cluster->last_collective = next == 0 ? before : cluster->last_collective;
    grout_pool__give(&machine->pools[GROUT_POOL_COLLECTIVES], index);
}

/* Whether the CTA issues nothing more: it has ended, or all its threads wait to end. */
static bool is_over(const grout_cta *cta) {
    for (uint32_t i = 0; i < cta->machine->plan->runner_count; i++) {
        const grout_thread *thread = grout_cta__thread(cta, i);
        if (thread->state != GROUT_THREAD_EXITED && thread->is_leaving == 0) {
            return grout_cta__head(cta)->has_ended != 0;
        }
    }
    return true;
}

/* A CTA of the set that has ended without the copy, or UINT32_MAX. */
static uint32_t find_ended(const grout_cta *cta, uint32_t missing) {
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(cta->machine); rank++) {
        const grout_cta *peer = grout_cta__peer(cta, rank);
        if ((missing >> rank & 1u) != 0 && is_over(peer)) {
            return grout_cta__head(peer)->index;
        }
    }
    return UINT32_MAX;
}

void grout_cluster__note_collective(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                    uint32_t mask, uint32_t set) {
    grout_machine *machine = cta->machine;
    uint32_t *counts = (uint32_t *)(void *)(cta->state + machine->at.collectives);
    uint32_t number = counts[set]++;
    grout_origin origin = grout_cta__origin(cta, thread, inst);
    uint32_t index = find_collective(cta, mask, number);
    index = index == 0 ? add_collective(cta, &origin, mask, number) : index;
    if (index == 0) {
        return;
    }
    grout_collective *record = grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], index);
    record->issued |= 1u << cta->rank;
    uint32_t ended = find_ended(cta, record->mask & ~record->issued);
    if (grout_machine__wants(machine, GROUT_EVENT_COLLECTIVE)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_COLLECTIVE, thread, inst, &clocks);
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
        drop_collective(cta, index);
    }
}

static void publish_divergence(const grout_cta *cta, const grout_collective *record) {
    grout_machine *machine = cta->machine;
    if (!grout_machine__wants(machine, GROUT_EVENT_COLLECTIVE)) {
        return;
    }
    grout_event event;
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_COLLECTIVE;
    event.step = machine->run.stats.steps;
    event.origin = record->origin;
    event.u.collective.mask = record->mask;
    event.u.collective.number = record->number;
    event.u.collective.other_cta = grout_cta__head(cta)->index;
    event.u.collective.is_divergent = true;
    grout_machine__publish(machine, &event);
}

void grout_cluster__check_collectives(const grout_cta *cta) {
    uint32_t index = grout_cta__cluster(cta)->first_collective;
    while (index != 0) {
        const grout_collective *record =
            grout_pool__at(&cta->machine->pools[GROUT_POOL_COLLECTIVES], index);
        if ((record->mask & ~record->issued) >> cta->rank & 1u) {
            publish_divergence(cta, record);
        }
        index = record->next;
    }
}

void grout_cluster__note_leaving(const grout_cta *cta) {
    if (is_over(cta)) {
        grout_cluster__check_collectives(cta);
    }
}

uint64_t grout_cluster__hash(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    const grout_cluster *cluster = grout_cta__cluster(cta);
    if (cta->rank != 0) {
        return hash;
    }
    hash = GROUT_HASH_FACTS(hash, cluster, grout_cluster, index);
    for (uint32_t i = cluster->first_collective; i != 0;) {
        const grout_collective *record = grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], i);
        hash = GROUT_HASH_FACTS(hash, record, grout_collective, mask);
        i = record->next;
    }
    return grout_foreign__hash_sets(machine, hash, grout_cta__generation(cta, 0), 2);
}
