/*
 * barrier.c - mbarriers. The phase of an arrival, and of a copy's bytes, follows from the order of
 * arrivals alone, so that nothing a checker asks depends on when an engine finishes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"

#include "tma.h"

#include <string.h>

static uint32_t get_ph(const grout_machine *machine, uint32_t element) {
    return grout_clock_ph(&machine->plan->shape, element);
}

grout_barrier_fact grout_barrier__get_fact(const grout_machine *machine, uint32_t element) {
    const grout_barrier *barrier = grout_machine__barrier(machine, element);
    const grout_element_plan *plan = &machine->plan->elements[element];
    grout_barrier_fact fact = {.element = element,
                               .object = plan->object,
                               .index = plan->index,
                               .arrivals = plan->arrivals,
                               .arrived = barrier->arrived,
                               .completed = barrier->completed,
                               .phase_base = barrier->phase_base,
                               .waits = grout_machine__waits(machine, element),
                               .actor_count = machine->plan->shape.thread_count,
                               .has_contribution = barrier->has_contribution != 0,
                               .last_contribution = barrier->last_contribution};
    if (barrier->first_open != 0) {
        fact.bytes_due = grout_machine__phase(machine, barrier->first_open)->bytes_due;
    }
    return fact;
}

/* ---- old phases --------------------------------------------------------------------------------
 */

/* Whether a thread may still wait for the phase. */
static bool is_awaited(const grout_machine *machine, uint32_t element, uint32_t number) {
    for (uint32_t i = 0; i < machine->plan->shape.thread_count; i++) {
        if (grout_machine__waits(machine, element)[i].waits <= number &&
            grout_machine__thread(machine, i)->state != GROUT_THREAD_EXITED) {
            return true;
        }
    }
    return false;
}

static void drop_oldest(grout_machine *machine, grout_barrier *barrier) {
    uint32_t index = barrier->first_old;
    barrier->first_old = grout_machine__old_phase(machine, index)->next;
    barrier->last_old = barrier->first_old == 0 ? 0 : barrier->last_old;
    barrier->old_count--;
    grout_pool__give(&machine->old_phases, index);
}

static void trim_old(grout_machine *machine, uint32_t element) {
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    while (barrier->first_old != 0 &&
           (barrier->old_count > machine->at.old_max ||
            !is_awaited(machine, element,
                        grout_machine__old_phase(machine, barrier->first_old)->number))) {
        drop_oldest(machine, barrier);
    }
}

/* A phase makes way for a newer one in the latest snapshots: keeps it if somebody is late. */
static void keep_old(grout_machine *machine, uint32_t element, uint32_t number) {
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    if (machine->at.old_max == 0 || !is_awaited(machine, element, number)) {
        return;
    }
    uint32_t index = grout_pool__take(&machine->old_phases, &machine->heap);
    if (index == 0) {
        machine->has_failed = true;
        return;
    }
    grout_old_phase *phase = grout_machine__old_phase(machine, index);
    phase->number = number;
    memcpy(grout_old_phase__clocks(phase), grout_machine__snapshot_of(machine, element, number),
           grout_order__get_size(&machine->plan->shape) * sizeof(uint32_t));
    if (barrier->last_old != 0) {
        grout_machine__old_phase(machine, barrier->last_old)->next = index;
    } else {
        barrier->first_old = index;
    }
    barrier->last_old = index;
    barrier->old_count++;
    trim_old(machine, element);
}

/*
 * The clock set of a completed phase, or NULL: so long ago that it is not kept. How long ago counts
 * in arrivals, not completions: it must not depend on when an engine finishes.
 */
static const uint32_t *find_completion(const grout_machine *machine, uint32_t element,
                                       uint32_t number) {
    const grout_barrier *barrier = grout_machine__barrier(machine, element);
    uint32_t kept = machine->at.snapshots_kept;
    if (grout_barrier__get_phase(machine, element) > number + kept + machine->at.old_max) {
        return NULL;
    }
    if (barrier->completed <= number + kept) {
        return grout_machine__snapshot_of(machine, element, number);
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

static void publish_phase(grout_machine *machine, uint32_t element, const grout_phase *phase,
                          const uint32_t *clocks) {
    grout_barrier_fact fact = grout_barrier__get_fact(machine, element);
    grout_event event;
    memset(&event, 0, sizeof event);
    if (!grout_pool__reserve(&machine->origin_scratch, &machine->heap, phase->contribution_count)) {
        machine->has_failed = true;
        return;
    }
    grout_origin *origins = grout_pool__at(&machine->origin_scratch, 0);
    uint32_t count = 0;
    for (uint32_t i = phase->first_contribution; i != 0;) {
        const grout_contribution *contribution = grout_pool__at(&machine->contributions, i);
        origins[count++] = contribution->origin;
        i = contribution->next;
    }
    event.kind = GROUT_EVENT_PHASE;
    if (count > 0) {
        event.origin = origins[count - 1];
    }
    event.u.phase.barrier = &fact;
    event.u.phase.phase = phase->number;
    event.u.phase.completion = clocks;
    event.u.phase.contributions = origins;
    event.u.phase.contribution_count = count;
    grout_machine__publish_cta(machine, &event);
}

static void free_phase(grout_machine *machine, uint32_t record) {
    grout_phase *phase = grout_machine__phase(machine, record);
    for (uint32_t i = phase->first_contribution; i != 0;) {
        const grout_contribution *contribution = grout_pool__at(&machine->contributions, i);
        uint32_t next = contribution->next;
        grout_pool__give(&machine->contributions, i);
        i = next;
    }
    for (uint32_t i = phase->first_load; i != 0;) {
        uint32_t next = grout_machine__async(machine, i)->peer;
        grout_tma__forget(machine, i);
        i = next;
    }
    grout_pool__give(&machine->phases, record);
}

static void complete_phase(grout_machine *machine, uint32_t element) {
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    uint32_t record = barrier->first_open;
    grout_phase *phase = grout_machine__phase(machine, record);
    uint32_t *clocks = grout_phase__clocks(phase);
    uint32_t parity = phase->number & 1;
    barrier->completed = phase->number + 1;
    barrier->had_bytes = (barrier->had_bytes & ~(1u << parity)) | phase->had_bytes << parity;
    if (machine->has_clocks) {
        grout_order__raise(&clocks[get_ph(machine, element)],
                           barrier->phase_base + phase->number + 1);
        if (phase->number >= machine->at.snapshots_kept) {
            keep_old(machine, element, phase->number - machine->at.snapshots_kept);
        }
        memcpy(grout_machine__snapshot_of(machine, element, phase->number), clocks,
               grout_order__get_size(&machine->plan->shape) * sizeof *clocks);
    }
    barrier->first_open = phase->next;
    barrier->last_open = barrier->first_open == 0 ? 0 : barrier->last_open;
    if (grout_machine__wants(machine, GROUT_EVENT_PHASE)) {
        publish_phase(machine, element, phase, clocks);
    }
    free_phase(machine, record);
}

static void complete_phases(grout_machine *machine, uint32_t element) {
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    while (barrier->first_open != 0) {
        const grout_phase *phase = grout_machine__phase(machine, barrier->first_open);
        if (!grout_barrier__is_full(machine, element, phase->number) || phase->bytes_due != 0) {
            break;
        }
        complete_phase(machine, element);
    }
}

void grout_barrier__land(grout_machine *machine, uint32_t element, uint32_t record, int64_t bytes) {
    grout_machine__phase(machine, record)->bytes_due -= bytes;
    complete_phases(machine, element);
}

/* ---- arrivals ---------------------------------------------------------------------------------
 */

/* The record of a phase, made if need be. Phases begin in order, so it is the last one or new. */
static uint32_t open_phase(grout_machine *machine, uint32_t element, uint32_t number) {
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    if (barrier->last_open != 0 &&
        grout_machine__phase(machine, barrier->last_open)->number == number) {
        return barrier->last_open;
    }
    uint32_t record = grout_pool__take(&machine->phases, &machine->heap);
    if (record == 0) {
        machine->has_failed = true;
        return 0;
    }
    grout_machine__phase(machine, record)->number = number;
    if (barrier->last_open != 0) {
        grout_machine__phase(machine, barrier->last_open)->next = record;
    } else {
        barrier->first_open = record;
    }
    barrier->last_open = record;
    return record;
}

/* What is known of the phase before. One without bytes counts as complete when its arrivals are in,
 * whenever an engine may bring the bytes of phases before: the same under every timing. */
static grout_phase_fact get_previous(const grout_machine *machine, uint32_t element,
                                     uint32_t number) {
    const grout_barrier *barrier = grout_machine__barrier(machine, element);
    grout_phase_fact fact = {.is_complete = barrier->completed >= number};
    if (fact.is_complete) {
        fact.had_bytes = (barrier->had_bytes >> ((number - 1) & 1) & 1u) != 0;
        fact.completion = grout_machine__snapshot_of(machine, element, number - 1);
        return fact;
    }
    for (uint32_t i = barrier->first_open; i != 0;) {
        grout_phase *phase = grout_machine__phase(machine, i);
        if (phase->number == number - 1) {
            fact.had_bytes = phase->had_bytes != 0;
            fact.is_complete = !fact.had_bytes;
            fact.completion = fact.is_complete ? grout_phase__clocks(phase) : NULL;
        }
        i = phase->next;
    }
    return fact;
}

static void publish_arrive(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                           const grout_arrival *arrival, uint32_t number) {
    grout_clocks clocks;
    grout_event event = grout_machine__event(machine, GROUT_EVENT_ARRIVE, thread, inst, &clocks);
    event.u.arrive.element = arrival->element;
    event.u.arrive.phase = number;
    event.u.arrive.count = arrival->count;
    event.u.arrive.by_copy = arrival->by_copy;
    event.u.arrive.phase_base = grout_machine__barrier(machine, arrival->element)->phase_base;
    if (number > 0) {
        event.u.arrive.previous = get_previous(machine, arrival->element, number);
    }
    grout_machine__publish(machine, &event);
}

/* Remembers who contributed: all of the phase if somebody wants to know, and the latest in the
 * text. */
static void note_contribution(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                              uint32_t element, uint32_t record) {
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    grout_phase *phase = grout_machine__phase(machine, record);
    uint32_t pc = grout_machine__thread(machine, thread)->pc;
    grout_origin origin = grout_machine__origin(machine, thread, inst);
    if (barrier->has_contribution == 0 || barrier->newest_phase != phase->number ||
        barrier->newest_pc <= pc) {
        barrier->has_contribution = 1;
        barrier->newest_phase = phase->number;
        barrier->newest_pc = pc;
        barrier->last_contribution = origin;
    }
    if (!grout_machine__wants(machine, GROUT_EVENT_PHASE)) {
        return;
    }
    uint32_t index = grout_pool__take(&machine->contributions, &machine->heap);
    if (index == 0) {
        machine->has_failed = true;
        return;
    }
    grout_contribution *contribution = grout_pool__at(&machine->contributions, index);
    contribution->origin = origin;
    if (phase->last_contribution != 0) {
        grout_contribution *last =
            grout_pool__at(&machine->contributions, phase->last_contribution);
        last->next = index;
    } else {
        phase->first_contribution = index;
    }
    phase->last_contribution = index;
    phase->contribution_count++;
}

static void add_bytes(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                      const grout_arrival *arrival, grout_phase *phase) {
    int64_t before = phase->bytes;
    phase->had_bytes = 1;
    phase->bytes += arrival->bytes;
    phase->bytes_due += arrival->bytes;
    if (before <= GROUT_PHASE_BYTES_MAX && phase->bytes > GROUT_PHASE_BYTES_MAX) {
        grout_fault fault = {.code = GROUT_DIAG_BARRIER_TX_MISMATCH,
                             .object = machine->plan->elements[arrival->element].object,
                             .element = arrival->element,
                             .phase = phase->number,
                             .have = phase->bytes,
                             .need = GROUT_PHASE_BYTES_MAX};
        grout_machine__fault(machine, thread, inst, 0, &fault);
    }
}

static void wake_waiters(grout_machine *machine, uint32_t element) {
    for (uint32_t i = 0; i < machine->plan->shape.thread_count; i++) {
        grout_thread *thread = grout_machine__thread(machine, i);
        if (thread->state == GROUT_THREAD_BLOCKED_BARRIER && thread->element == element &&
            grout_barrier__is_full(machine, element, thread->phase)) {
            thread->state = GROUT_THREAD_RUNNABLE;
        }
    }
}

/*
 * Who has arrived, and whose clock covers all arrivals of a phase without bytes, knows the phase
 * complete without waiting for it. It must know the phase before too: they complete in order.
 */
static void learn_completion(grout_machine *machine, uint32_t thread, uint32_t element,
                             uint32_t number, uint32_t record) {
    const grout_clock_shape *shape = &machine->plan->shape;
    const grout_barrier *barrier = grout_machine__barrier(machine, element);
    uint32_t *known = grout_machine__clocks(machine, thread);
    uint32_t *ph = &known[get_ph(machine, element)];
    if (!grout_barrier__is_full(machine, element, number) || *ph < barrier->phase_base + number) {
        return;
    }
    bool is_complete = barrier->completed > number;
    const uint32_t *clocks = is_complete
                                 ? grout_machine__snapshot_of(machine, element, number)
                                 : grout_phase__clocks(grout_machine__phase(machine, record));
    bool had_bytes = is_complete ? (barrier->had_bytes >> (number & 1) & 1u) != 0
                                 : grout_machine__phase(machine, record)->had_bytes != 0;
    if (!had_bytes && grout_order__is_known(shape, clocks, known)) {
        grout_order__raise(ph, barrier->phase_base + number + 1);
    }
}

uint32_t grout_barrier__arrive(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                               const grout_arrival *arrival) {
    grout_arrival taken = *arrival;
    uint32_t element = taken.element, needed = grout_barrier__get_arrivals(machine, element);
    uint32_t number = grout_barrier__get_phase(machine, element);
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    uint32_t lacking = needed - (uint32_t)(barrier->arrived % needed);
    if (taken.count > lacking) {
        grout_fault fault = {.code = GROUT_DIAG_BARRIER_TOO_MANY,
                             .object = machine->plan->elements[element].object,
                             .element = element,
                             .phase = number,
                             .have = taken.count,
                             .need = lacking};
        grout_machine__fault(machine, thread, inst, 0, &fault);
        taken.count = lacking;
    }
    uint32_t record = open_phase(machine, element, number);
    if (record == 0) {
        return 0;
    }
    if (grout_machine__wants(machine, GROUT_EVENT_ARRIVE)) {
        publish_arrive(machine, thread, inst, &taken, number);
    }
    note_contribution(machine, thread, inst, element, record);
    if (machine->has_clocks) {
        grout_order__release(&machine->plan->shape, grout_machine__clocks(machine, thread), thread,
                             grout_phase__clocks(grout_machine__phase(machine, record)));
    }
    barrier->arrived += taken.count;
    if (taken.by_copy) {
        add_bytes(machine, thread, inst, &taken, grout_machine__phase(machine, record));
    }
    complete_phases(machine, element);
    if (machine->has_clocks) {
        learn_completion(machine, thread, element, number, record);
    }
    wake_waiters(machine, element);
    return record;
}

/* ---- waits and lives --------------------------------------------------------------------------
 */

void grout_barrier__observe(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                            uint32_t element) {
    grout_wait_fact *wait = &grout_machine__waits(machine, element)[thread];
    uint32_t *known = grout_machine__clocks(machine, thread);
    uint32_t phase = wait->waits;
    const uint32_t *completion =
        machine->has_clocks ? find_completion(machine, element, phase) : NULL;
    wait->waits++;
    wait->epoch = known[grout_clock_x(&machine->plan->shape, thread)];
    wait->origin = grout_machine__origin(machine, thread, inst);
    if (grout_machine__wants(machine, GROUT_EVENT_WAIT)) {
        grout_clocks clocks;
        grout_event event = grout_machine__event(machine, GROUT_EVENT_WAIT, thread, inst, &clocks);
        grout_barrier_fact fact = grout_barrier__get_fact(machine, element);
        event.u.wait.barrier = &fact;
        event.u.wait.phase = phase;
        event.u.wait.is_late = fact.completed > phase + 1;
        grout_machine__publish(machine, &event);
    }
    if (!machine->has_clocks) {
        return;
    }
    const grout_barrier *barrier = grout_machine__barrier(machine, element);
    if (completion != NULL) {
        grout_order__acquire(&machine->plan->shape, known, completion);
    } else { /* never what a later phase released: it would hide the race that comes with it */
        grout_order__raise(&known[get_ph(machine, element)], barrier->phase_base + phase + 1);
    }
    trim_old(machine, element);
}

void grout_barrier__reset(grout_machine *machine, uint32_t element) {
    grout_barrier *barrier = grout_machine__barrier(machine, element);
    uint32_t needed = grout_barrier__get_arrivals(machine, element);
    uint32_t base = barrier->phase_base + (uint32_t)((barrier->arrived + needed - 1) / needed);
    for (uint32_t i = barrier->first_open; i != 0;) {
        uint32_t next = grout_machine__phase(machine, i)->next;
        free_phase(machine, i);
        i = next;
    }
    while (barrier->first_old != 0) {
        drop_oldest(machine, barrier);
    }
    memset(barrier, 0, sizeof *barrier);
    barrier->phase_base = base;
    memset(grout_machine__waits(machine, element), 0,
           machine->plan->shape.thread_count * sizeof(grout_wait_fact));
}
