/*
 * phase.c - phases of mbarriers: those that have begun, and what completed ones released.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "phase.h"
#include "completion.h"
#include "flight.h"
#include "spin.h"

#include <string.h>

/* Component phase of an element of the CTA. */
uint32_t grout_phase__get_component(const grout_cta *cta, uint32_t element) {
    return grout_clock_phase(&cta->machine->plan->shape, grout_cta__element(cta, element));
}

/* ---- old phases --------------------------------------------------------------------------------
 */

/* Whether a thread may still wait for the phase. */
static bool is_awaited(const grout_cta *cta, uint32_t element, uint32_t number) {
    for (uint32_t i = 0; i < cta->machine->plan->actor_count; i++) {
        uint32_t state = grout_cta__thread(cta, i)->state;
        if (state != GROUT_THREAD_EXITED && state != GROUT_THREAD_IDLE &&
            grout_barrier__get_next_wait(cta, i, element) <= number) {
            return true;
        }
    }
    return false;
}

static void drop_oldest(grout_machine *machine, grout_barrier *barrier) {
    uint32_t index = barrier->first_old;
    barrier->first_old = grout_machine__old_phase(machine, index)->next;
    barrier->last_old = barrier->first_old == 0 ? 0 : barrier->last_old;
    GROUT_ASSERT(index != 0 && barrier->old_count > 0);
    barrier->old_count--;
    grout_pool__give(&machine->pools[GROUT_POOL_OLD_PHASES], index);
}

void grout_phase__trim_old(const grout_cta *cta, uint32_t element) {
    grout_machine *machine = cta->machine;
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    while (barrier->first_old != 0 &&
           (barrier->old_count > machine->at.old_max ||
            !is_awaited(cta, element,
                        grout_machine__old_phase(machine, barrier->first_old)->number))) {
        drop_oldest(machine, barrier);
    }
}

/* A newer phase takes the place of this one in the latest snapshots: keeps it if a thread is late.
 */
static void keep_old(const grout_cta *cta, uint32_t element, uint32_t number) {
    grout_machine *machine = cta->machine;
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    if (machine->at.old_max == 0 || !is_awaited(cta, element, number)) {
        return;
    }
    uint32_t index = grout_pool__take(&machine->pools[GROUT_POOL_OLD_PHASES], &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return;
    }
    grout_old_phase *phase = grout_machine__old_phase(machine, index);
    phase->number = number;
    memcpy(grout_old_phase__clocks(phase), grout_completion__get(cta, element, number),
           grout_machine__phase_words(machine) * sizeof(uint32_t));
    if (barrier->last_old != 0) {
        grout_machine__old_phase(machine, barrier->last_old)->next = index;
    } else {
        barrier->first_old = index;
    }
    barrier->last_old = index;
    barrier->old_count++;
    grout_phase__trim_old(cta, element);
}

/*
 * The clock set of a completed phase; NULL if it is too old to be kept. Its age counts in arrivals,
 * not completions: it must not depend on when an engine finishes.
 */
const uint32_t *grout_phase__find_completion(const grout_cta *cta, uint32_t element,
                                             uint32_t number) {
    const grout_machine *machine = cta->machine;
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    uint32_t kept = machine->at.snapshots_kept;
    if (grout_barrier__get_phase(cta, element) > number + kept + machine->at.old_max) {
        return NULL;
    }
    if (barrier->completed <= number + kept) {
        return grout_completion__get(cta, element, number);
    }
    for (uint32_t i = barrier->first_old; i != 0;) {
        grout_old_phase *phase = grout_machine__old_phase(machine, i);
        if (phase->number == number) {
            return grout_old_phase__clocks(phase);
        }
        i = phase->next;
    }
    return NULL;
}

/* ---- completion -------------------------------------------------------------------------------
 */

static void publish_phase(const grout_cta *cta, uint32_t element, const grout_phase *phase,
                          const uint32_t *clocks) {
    grout_machine *machine = cta->machine;
    grout_barrier_fact fact = grout_barrier__get_fact(cta, element);
    grout_event event;
    memset(&event, 0, sizeof event);
    if (!grout_pool__reserve(&machine->scratch[GROUT_SCRATCH_ORIGINS], &machine->heap,
                             phase->contribution_count)) {
        machine->run.has_failed = true;
        return;
    }
    grout_origin *origins = grout_pool__at(&machine->scratch[GROUT_SCRATCH_ORIGINS], 0);
    uint32_t count = 0;
    for (uint32_t i = phase->first_contribution; i != 0;) {
        const grout_contribution *contribution =
            grout_pool__at(&machine->pools[GROUT_POOL_CONTRIBUTIONS], i);
        origins[count++] = contribution->origin;
        i = contribution->next;
    }
    event.kind = GROUT_EVENT_PHASE;
    event.step = machine->run.stats.steps;
    event.origin.cta = fact.cta;
    if (count > 0) {
        event.origin = origins[count - 1];
    }
    event.u.phase.barrier = &fact;
    event.u.phase.phase = phase->number;
    event.u.phase.completion = clocks;
    event.u.phase.contributions = origins;
    event.u.phase.contribution_count = count;
    grout_machine__publish(machine, &event);
}

static void free_phase(const grout_cta *cta, uint32_t record) {
    grout_machine *machine = cta->machine;
    grout_phase *phase = grout_machine__phase(machine, record);
    for (uint32_t i = phase->first_contribution; i != 0;) {
        const grout_contribution *contribution =
            grout_pool__at(&machine->pools[GROUT_POOL_CONTRIBUTIONS], i);
        uint32_t next = contribution->next;
        grout_pool__give(&machine->pools[GROUT_POOL_CONTRIBUTIONS], i);
        i = next;
    }
    for (uint32_t i = phase->first_flight; i != 0;) {
        uint32_t next = grout_flight__get(machine, i)->phase_next;
        grout_flight__drop(cta, i, GROUT_HELD_BY_PHASE);
        i = next;
    }
    grout_phase__drop_clocks(cta, grout_machine__phase(machine, record));
    grout_pool__give(&machine->pools[GROUT_POOL_PHASES], record);
}

static void complete_phase(const grout_cta *cta, uint32_t element) {
    grout_machine *machine = cta->machine;
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    uint32_t record = barrier->first_open;
    grout_phase *phase = grout_machine__phase(machine, record);
    uint32_t *clocks = grout_phase__begin_clocks(cta, phase);
    uint32_t parity = phase->number & 1;
    barrier->completed = phase->number + 1;
    barrier->had_bytes = (barrier->had_bytes & ~(1u << parity)) | phase->had_bytes << parity;
    if (machine->has_clocks) {
        uint32_t done = barrier->phase_base + phase->number + 1;
        size_t words = grout_machine__phase_words(machine);
        for (size_t at = 0; at < words; at += machine->plan->order.words) {
            grout_order__complete(&machine->plan->order, clocks + at,
                                  grout_phase__get_component(cta, element), done);
        }
        if (phase->number >= machine->at.snapshots_kept) {
            keep_old(cta, element, phase->number - machine->at.snapshots_kept);
        }
        grout_completion__put(cta, element, phase->number, clocks);
    }
    barrier->first_open = phase->next;
    if (barrier->first_open != 0) {
        grout_machine__phase(machine, barrier->first_open)->previous = 0;
    } else {
        barrier->last_open = 0;
    }
    if (grout_machine__wants(machine, GROUT_EVENT_PHASE)) {
        publish_phase(cta, element, phase, clocks);
    }
    free_phase(cta, record);
}

void grout_phase__complete_all(const grout_cta *cta, uint32_t element) {
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    while (barrier->first_open != 0) {
        const grout_phase *phase = grout_machine__phase(cta->machine, barrier->first_open);
        if (!grout_barrier__is_full(cta, element, phase->number) || phase->bytes_due != 0 ||
            phase->bytes_flying != 0) {
            break;
        }
        complete_phase(cta, element);
        grout_spin__change(cta->machine);
    }
}

void grout_barrier__land(const grout_cta *cta, uint32_t element, uint32_t record, int64_t bytes) {
    grout_phase *phase = grout_machine__phase(cta->machine, record);
    phase->bytes_due -= bytes;
    phase->bytes_flying -= bytes;
    grout_phase__complete_all(cta, element);
}

/* From the end: most ask for one of the latest. */
uint32_t grout_phase__find_last(const grout_cta *cta, uint32_t element, uint32_t number) {
    uint32_t i = grout_cta__barrier(cta, element)->last_open;
    while (i != 0 && grout_machine__phase(cta->machine, i)->number > number) {
        i = grout_machine__phase(cta->machine, i)->previous;
    }
    return i;
}

/* The record of a phase that is not complete, made if need be; they are sorted by number. */
uint32_t grout_phase__open(const grout_cta *cta, uint32_t element, uint32_t number) {
    grout_machine *machine = cta->machine;
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    const uint32_t before = grout_phase__find_last(cta, element, number);
    if (before != 0 && grout_machine__phase(machine, before)->number == number) {
        return before;
    }
    uint32_t record = grout_pool__take(&machine->pools[GROUT_POOL_PHASES], &machine->heap);
    if (record == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    grout_phase *phase = grout_machine__phase(machine, record);
    phase->number = number;
    uint32_t *link =
        before != 0 ? &grout_machine__phase(machine, before)->next : &barrier->first_open;
    phase->previous = before;
    phase->next = *link;
    *link = record;
    if (phase->next != 0) {
        grout_machine__phase(machine, phase->next)->previous = record;
    } else {
        barrier->last_open = record;
    }
    return record;
}

void grout_phase__forget_all(const grout_cta *cta, uint32_t element) {
    grout_machine *machine = cta->machine;
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    for (uint32_t i = barrier->first_open; i != 0;) {
        uint32_t next = grout_machine__phase(machine, i)->next;
        free_phase(cta, i);
        i = next;
    }
    while (barrier->first_old != 0) {
        drop_oldest(machine, barrier);
    }
    grout_completion__forget(cta, element);
}

static uint64_t hash_phases(const grout_cta *cta, const grout_barrier *barrier, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    size_t sets = machine->plan->has_narrow_waits ? 2 : 1;
    for (uint32_t i = barrier->first_open; i != 0;) {
        grout_phase *phase = grout_machine__phase(machine, i);
        hash = GROUT_HASH_FACTS(hash, phase, grout_phase, number);
        hash = grout_foreign__hash_sets(machine, hash, grout_phase__begin_clocks(cta, phase), sets);
        i = phase->next;
    }
    for (uint32_t i = barrier->first_old; i != 0;) {
        grout_old_phase *phase = grout_machine__old_phase(machine, i);
        hash = GROUT_HASH_FACTS(hash, phase, grout_old_phase, number);
        hash = grout_foreign__hash_sets(machine, hash, grout_old_phase__clocks(phase), sets);
        i = phase->next;
    }
    return hash;
}

uint64_t grout_barrier__hash(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    for (uint32_t i = 0; i < machine->plan->element_count; i++) {
        const grout_barrier *barrier = grout_cta__barrier(cta, i);
        hash = GROUT_HASH_FACTS(hash, barrier, grout_barrier, full);
        hash = hash_phases(cta, barrier, hash);
    }
    hash = grout_completion__hash(cta, hash);
    return grout_hash__bytes(hash, cta->state + machine->at.waits,
                             machine->at.payload_free - machine->at.waits);
}
