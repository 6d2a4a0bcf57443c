/*
 * cluster.c - the life of clusters and their CTAs, and the hardware barrier of a cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "tma.h"

#include <string.h>

/* ---- beginning --------------------------------------------------------------------------------
 */

static void begin_actors(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    for (uint32_t i = 0; i < plan->actor_count; i++) {
        grout_thread *thread = grout_machine__thread(machine, i);
        thread->pc = 1;
        thread->last_pc = 1;
        thread->registers = plan->entry_registers;
        thread->state = i < plan->runner_count ? GROUT_THREAD_RUNNABLE : GROUT_THREAD_IDLE;
        grout_order__begin(&plan->order, grout_machine__clocks(machine, i),
                           grout_machine__actor(machine, i));
    }
}

/* The selected CTA's state as it begins. */
static void begin_cta(grout_machine *machine, uint32_t index) {
    const grout_plan *plan = machine->plan;
    grout_cta *cta = grout_machine__cta(machine);
    memset(machine->state, 0, machine->at.payload_free);
    memset(machine->state + machine->at.accumulators, 0,
           machine->at.undo_entries - machine->at.accumulators);
    cta->index = index;
    cta->is_begun = 1;
    for (uint32_t i = 0; i < plan->element_count; i++) {
        grout_barrier__begin(grout_machine__barrier(machine, i), plan->elements[i].arrivals);
    }
    begin_actors(machine);
    if (grout_machine__wants(machine, GROUT_EVENT_CTA_BEGIN)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_CTA_BEGIN;
        grout_machine__publish_cta(machine, &event);
    }
    grout_machine__begin_scope(machine, grout_plan__scope(plan, 1), NULL);
}

/* With one cluster at a time each begins with a state of its own, whatever ran before. */
static void begin_alone(grout_machine *machine, uint32_t index) {
    grout_run_state *run = &machine->run;
    grout_pool__clear(&machine->phases);
    grout_pool__clear(&machine->old_phases);
    grout_pool__clear(&machine->contributions);
    grout_pool__clear(&machine->asyncs);
    grout_pool__clear(&machine->collectives);
    run->current = run->last = 0;
    run->points = 0;
    grout_machine__seed(machine, index);
}

static bool begin_cluster(grout_machine *machine, uint32_t slot) {
    uint32_t size = machine->plan->shape.cta_count;
    uint32_t index = (uint32_t)machine->run.next_cluster;
    if (!grout_machine__add_slot(machine, slot)) {
        return false;
    }
    if (machine->slot_count == 1) {
        begin_alone(machine, index);
    }
    memset(machine->slots[slot], 0, machine->at.head);
    machine->run.next_cluster++;
    machine->run.begun++;
    for (uint32_t rank = 0; rank < size; rank++) {
        grout_machine__select_slot(machine, slot, rank);
        grout_machine__cluster(machine)->index = index;
        grout_machine__cluster(machine)->is_begun = 1;
        begin_cta(machine, index * size + rank);
    }
    return true;
}

static bool is_begun(const grout_machine *machine, uint32_t slot) {
    return machine->slots[slot] != NULL &&
           ((const grout_cluster *)(const void *)machine->slots[slot])->is_begun != 0;
}

void grout_cluster__begin_all(grout_machine *machine) {
    int64_t clusters = machine->plan->cta_count / machine->plan->shape.cta_count;
    for (uint32_t slot = 0; slot < machine->slot_count && machine->run.next_cluster < clusters;
         slot++) {
        if (!is_begun(machine, slot) && !begin_cluster(machine, slot)) {
            return;
        }
    }
}

/* ---- ends -------------------------------------------------------------------------------------
 */

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

/* Copies that the CTA would have had to issue too. */
static void check_collectives(grout_machine *machine) {
    uint32_t index = grout_machine__cluster(machine)->first_collective;
    while (index != 0) {
        const grout_collective *record = grout_pool__at(&machine->collectives, index);
        if ((record->mask & ~record->issued) >> machine->rank & 1u) {
            publish_divergence(machine, record);
        }
        index = record->next;
    }
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

void grout_cluster__note_leaving(grout_machine *machine) {
    if (is_over(machine)) {
        check_collectives(machine);
    }
}

void grout_cluster__end_cta(grout_machine *machine) {
    grout_tma__finish_all(machine);
    if (!machine->plan->has_exit_sync) {
        check_collectives(machine);
    }
    grout_machine__end_objects(machine);
    grout_ops__end_cta(machine);
    grout_machine__cta(machine)->has_ended = 1;
    grout_machine__cluster(machine)->ended++;
    machine->stats.ctas_done++;
}

/* What is left of a cluster in the pools. */
static void end_cluster(grout_machine *machine, uint32_t slot) {
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        grout_machine__select_slot(machine, slot, rank);
        grout_tma__finish_all(machine);
        for (uint32_t i = 0; machine->slot_count > 1 && i < machine->plan->element_count; i++) {
            grout_barrier__reset(machine, i);
        }
        grout_machine__cta(machine)->is_begun = 0;
    }
    grout_cluster *cluster = grout_machine__cluster(machine);
    while (cluster->first_collective != 0) {
        uint32_t index = cluster->first_collective;
        const grout_collective *record = grout_pool__at(&machine->collectives, index);
        cluster->first_collective = record->next;
        grout_pool__give(&machine->collectives, index);
    }
    cluster->is_begun = 0;
    machine->run.begun--;
}

void grout_cluster__end_all(grout_machine *machine) {
    for (uint32_t slot = 0; slot < machine->slot_count; slot++) {
        if (is_begun(machine, slot) &&
            ((const grout_cluster *)(const void *)machine->slots[slot])->ended ==
                machine->plan->shape.cta_count) {
            end_cluster(machine, slot);
        }
    }
}

/* ---- the hardware barrier ----------------------------------------------------------------------
 */

static void wake_cluster(grout_machine *machine) {
    uint32_t own = machine->rank;
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        grout_machine__select(machine, rank);
        grout_machine__wake(machine, GROUT_THREAD_BLOCKED_CLUSTER, 0);
    }
    grout_machine__select(machine, own);
}

/* Generations whose arrivals are all in are complete; the next one begins with who has exited. */
static void complete_generations(grout_machine *machine) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    uint32_t needed = machine->plan->runner_count * machine->plan->shape.cta_count;
    if (cluster->arrived >= needed && cluster->exited < needed) {
        cluster->generation++;
        cluster->arrived = cluster->exited;
        memset(grout_machine__generation(machine, cluster->generation), 0,
               machine->plan->order.words * sizeof(uint32_t));
        wake_cluster(machine);
    }
}

static void publish_rendezvous(grout_machine *machine, grout_event_kind kind, uint32_t thread,
                               const grout_inst *inst, uint32_t generation, bool is_relaxed) {
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_machine__event(machine, kind, thread, inst, &clocks);
        event.u.rendezvous.generation = generation;
        event.u.rendezvous.is_relaxed = is_relaxed;
        grout_machine__publish(machine, &event);
    }
}

bool grout_cluster__arrive(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                           bool is_relaxed) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    grout_thread *own = grout_machine__thread(machine, thread);
    publish_rendezvous(machine, GROUT_EVENT_CLUSTER_ARRIVE, thread, inst, own->cluster_arrives,
                       is_relaxed);
    if (own->cluster_arrives > own->cluster_waits) {
        return false;
    }
    own->cluster_arrives++;
    if (machine->has_clocks) {
        grout_machine__release(machine, thread,
                               grout_machine__generation(machine, cluster->generation),
                               is_relaxed ? GROUT_EDGE_WEAK : GROUT_EDGE_STRONG);
    }
    cluster->arrived++;
    complete_generations(machine);
    return true;
}

void grout_cluster__leave(grout_machine *machine, uint32_t thread) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    const grout_thread *own = grout_machine__thread(machine, thread);
    if (thread < machine->plan->runner_count) {
        cluster->exited++;
        cluster->arrived += own->cluster_arrives > cluster->generation ? 0 : 1;
        complete_generations(machine);
    }
}

bool grout_cluster__wait(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                         bool is_relaxed) {
    grout_thread *own = grout_machine__thread(machine, thread);
    uint32_t generation = own->cluster_waits;
    if (grout_machine__cluster(machine)->generation <= generation) {
        grout_machine__block(machine, thread, GROUT_THREAD_BLOCKED_CLUSTER, 0, generation);
        return false;
    }
    publish_rendezvous(machine, GROUT_EVENT_CLUSTER_WAIT, thread, inst, generation, is_relaxed);
    own->cluster_waits++;
    if (machine->has_clocks) {
        grout_machine__carry(machine, grout_machine__clocks(machine, thread),
                             grout_machine__generation(machine, generation),
                             is_relaxed ? GROUT_EDGE_WEAK : GROUT_EDGE_STRONG);
    }
    return true;
}

/* ---- collective copies -------------------------------------------------------------------------
 */

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
