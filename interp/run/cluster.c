/*
 * cluster.c - the life of clusters and their CTAs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cluster.h"
#include "barrier.h"
#include "collective.h"
#include "completion.h"
#include "component.h"
#include "engine.h"
#include "run.h"
#include "scope.h"

#include <string.h>

/* What a CTA takes to begin, in the work of elements, and each this many bytes of its state. */
enum { BEGIN_WORK = 1024, BYTES_AN_ELEMENT = 64 };

/* ---- beginning --------------------------------------------------------------------------------
 */

static void begin_actors(const grout_cta *cta) {
    const grout_plan *plan = cta->machine->plan;
    for (uint32_t i = 0; i < plan->actor_count; i++) {
        grout_thread *thread = grout_cta__thread(cta, i);
        thread->pc = 1;
        thread->last_pc = 1;
        thread->registers = plan->entry_registers;
        thread->state = i < plan->runner_count ? GROUT_THREAD_RUNNABLE : GROUT_THREAD_IDLE;
        grout_order__begin(&plan->order, grout_cta__clocks(cta, i), grout_cta__actor(cta, i));
    }
}

/* A CTA's state as it begins. */
static void begin_cta(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_plan *plan = machine->plan;
    grout_cta_state *head = grout_cta__head(cta);
    memset(cta->state, 0, machine->at.payload_free);
    memset(cta->state + machine->at.accumulators, 0,
           machine->at.undo_entries - machine->at.accumulators);
    head->index = index;
    head->is_begun = 1;
    for (uint32_t i = 0; i < plan->element_count; i++) {
        grout_barrier__begin(grout_cta__barrier(cta, i), plan->elements[i].arrivals);
    }
    begin_actors(cta);
    if (grout_machine__wants(machine, GROUT_EVENT_CTA_BEGIN)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_CTA_BEGIN;
        grout_cta__publish_cta(cta, &event);
    }
    grout_cta__begin_scope(cta, grout_plan__scope(plan, 1), NULL);
}

/* If one cluster runs at a time, each begins with a fresh state, whatever ran before. */
static void begin_alone(grout_machine *machine, uint32_t index) {
    grout_pool__clear(&machine->pools[GROUT_POOL_PHASES]);
    grout_pool__clear(&machine->pools[GROUT_POOL_OLD_PHASES]);
    grout_pool__clear(&machine->pools[GROUT_POOL_SHEETS]);
    grout_pool__clear(&machine->pools[GROUT_POOL_SCOPES]);
    grout_pool__clear(&machine->pools[GROUT_POOL_CONTRIBUTIONS]);
    grout_pool__clear(&machine->pools[GROUT_POOL_FLIGHTS]);
    grout_pool__clear(&machine->pools[GROUT_POOL_COLLECTIVES]);
    machine->run.facts.current = machine->run.facts.last = 0;
    machine->run.engine.points = 0;
    grout_machine__seed(machine, index);
}

static bool begin_cluster(grout_machine *machine, uint32_t slot) {
    uint32_t size = machine->plan->shape.cta_count;
    uint32_t index = (uint32_t)machine->run.facts.next_cluster;
    if (!grout_machine__add_slot(machine, slot)) {
        return false;
    }
    if (machine->slot_count == 1) {
        begin_alone(machine, index);
    }
    memset(machine->slots[slot], 0, machine->at.head);
    machine->run.facts.next_cluster++;
    machine->run.facts.begun++;
    for (uint32_t rank = 0; rank < size; rank++) {
        const grout_cta *cta = grout_machine__get_cta(machine, slot, rank);
        grout_cta__cluster(cta)->index = index;
        grout_cta__cluster(cta)->is_begun = 1;
        begin_cta(cta, index * size + rank);
    }
    return true;
}

static bool is_begun(const grout_machine *machine, uint32_t slot) {
    return machine->slots[slot] != NULL &&
           ((const grout_cluster *)(const void *)machine->slots[slot])->is_begun != 0;
}

bool grout_cluster__begin_all(grout_machine *machine) {
    int64_t clusters = machine->plan->cta_count / machine->plan->shape.cta_count;
    const uint64_t begin_work =
        (BEGIN_WORK + machine->at.size / BYTES_AN_ELEMENT) * machine->plan->shape.cta_count;
    bool is_good = true;
    for (uint32_t slot = 0;
         slot < machine->slot_count && machine->run.facts.next_cluster < clusters && is_good;
         slot++) {
        const bool begins = !is_begun(machine, slot);
        is_good = (!begins || begin_cluster(machine, slot)) &&
                  grout_machine__goes_on(machine, begins ? begin_work : 1);
    }
    return is_good;
}

/* ---- ends -------------------------------------------------------------------------------------
 */

void grout_cluster__end_cta(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    grout_flight__finish_all(cta);
    grout_flight__finish_deliveries_to(cta);
    if (!machine->plan->has_exit_sync) {
        grout_cluster__check_collectives(cta);
    }
    grout_cta__end_objects(cta);
    grout_components__end_cta(cta);
    grout_cta__head(cta)->has_ended = 1;
    grout_cta__cluster(cta)->ended++;
    GROUT_ASSERT(grout_cta__cluster(cta)->ended <= grout_machine__cluster_size(cta->machine));
    machine->run.stats.ctas_done++;
}

/* What is left of a cluster in the pools. */
static void end_cluster(grout_machine *machine, uint32_t slot) {
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        const grout_cta *cta = grout_machine__get_cta(machine, slot, rank);
        grout_flight__finish_all(cta);
        for (uint32_t i = 0; machine->slot_count > 1 && i < machine->plan->element_count; i++) {
            grout_barrier__reset(cta, i);
        }
        grout_completion__end_cta(cta);
        grout_cta__head(cta)->is_begun = 0;
    }
    grout_cluster *cluster = grout_cta__cluster(grout_machine__get_cta(machine, slot, 0));
    while (cluster->first_collective != 0) {
        uint32_t index = cluster->first_collective;
        const grout_collective *record =
            grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], index);
        cluster->first_collective = record->next;
        grout_pool__give(&machine->pools[GROUT_POOL_COLLECTIVES], index);
    }
    cluster->is_begun = 0;
    GROUT_ASSERT(machine->run.facts.begun > 0);
    machine->run.facts.begun--;
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
