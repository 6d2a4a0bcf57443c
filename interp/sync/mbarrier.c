/*
 * mbarrier.c - lives and parities of mbarriers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mbarrier.h"

/*
 * With k phases known complete parity k & 1 is that of phase k, the other one that of the phase
 * before, which is complete: a wait for that one returns at once, whatever else is complete by now,
 * since under another timing it would. (Under this one it might wait for the phase after next; the
 * checker calls that an overrun.) A wait for phase k is judged as hardware does, which sees the
 * real count alone: it passes if the newest complete phase has its parity; before the first that
 * is 1. What is complete is decided by what has been contributed, not by what an engine has got
 * done.
 */
grout_parity grout_mbarrier__judge(const grout_machine *machine, uint32_t actor, uint32_t element,
                                   uint32_t parity) {
    const grout_barrier *barrier = grout_machine__barrier(machine, element);
    const grout_clock_shape *shape = &machine->plan->shape;
    uint32_t component = grout_clock_ph(shape, grout_machine__element(machine, element));
    uint32_t done = grout_barrier__count_ready(machine, element);
    uint32_t known = done;
    if (machine->has_clocks) {
        uint32_t ph = grout_machine__clocks(machine, actor)[component];
        known = ph > barrier->phase_base ? ph - barrier->phase_base : 0;
    }
    grout_parity result = {.real = done == 0 ? GROUT_PHASE_NONE : done - 1};
    result.is_awaited = (known & 1) == parity;
    result.passes = ((done + 1) & 1) == parity || (machine->has_clocks && !result.is_awaited);
    result.meant = result.is_awaited ? known : known == 0 ? GROUT_PHASE_NONE : known - 1;
    return result;
}

static bool is_initialised(grout_machine *machine, uint32_t element, uint32_t rank) {
    uint32_t own = grout_machine__select(machine, rank);
    bool is_there = grout_machine__barrier(machine, element)->is_live != 0;
    grout_machine__select(machine, own);
    return is_there;
}

bool grout_mbarrier__awaits_init(grout_machine *machine, uint32_t actor, uint32_t element,
                                 uint32_t ranks) {
    if (!machine->plan->elements[element].is_explicit ||
        grout_machine__thread(machine, actor)->retry == GROUT_RETRY_ALONE) {
        return false;
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if ((ranks >> rank & 1u) != 0 && !is_initialised(machine, element, rank)) {
            (void)grout_machine__block(machine, actor, GROUT_THREAD_BLOCKED_INIT, element, 0);
            return true;
        }
    }
    return false;
}

void grout_mbarrier__give_up_inits(grout_machine *machine) {
    for (uint32_t i = 0; i < machine->plan->actor_count; i++) {
        grout_thread *thread = grout_machine__thread(machine, i);
        if (thread->state == GROUT_THREAD_BLOCKED_INIT) {
            thread->state = GROUT_THREAD_RUNNABLE;
            thread->retry = GROUT_RETRY_ALONE;
        }
    }
}

bool grout_mbarrier__check(grout_machine *machine, uint32_t actor, const grout_inst *inst,
                           uint32_t element) {
    if (grout_machine__barrier(machine, element)->is_live != 0) {
        return true;
    }
    grout_fault fault = {.code = GROUT_DIAG_BARRIER_UNINITIALISED,
                         .object = machine->plan->elements[element].object,
                         .element = element,
                         .cta = grout_machine__cta(machine)->index};
    grout_machine__fault(machine, actor, inst, 0, &fault);
    return false;
}

static void publish(grout_machine *machine, grout_event_kind kind, uint32_t actor,
                    const grout_inst *inst, uint32_t element, uint32_t arrivals) {
    if (!grout_machine__wants(machine, kind)) {
        return;
    }
    grout_clocks clocks;
    grout_event event = grout_machine__event(machine, kind, actor, inst, &clocks);
    grout_barrier_fact fact = grout_barrier__get_fact(machine, element);
    event.u.init.barrier = &fact;
    event.u.init.arrivals = arrivals;
    event.u.init.was_live = grout_machine__barrier(machine, element)->is_live != 0;
    grout_machine__publish(machine, &event);
}

void grout_mbarrier__init(grout_machine *machine, uint32_t actor, const grout_inst *inst,
                          uint32_t element, uint32_t arrivals) {
    publish(machine, GROUT_EVENT_BARRIER_INIT, actor, inst, element, arrivals);
    grout_barrier__init(machine, element, arrivals);
    grout_machine__wake(machine, GROUT_THREAD_BLOCKED_PARITY, element);
    grout_machine__wake_all(machine, GROUT_THREAD_BLOCKED_INIT, element); /* peers, too */
}

void grout_mbarrier__invalidate(grout_machine *machine, uint32_t actor, const grout_inst *inst,
                                uint32_t element) {
    if (grout_mbarrier__check(machine, actor, inst, element)) {
        publish(machine, GROUT_EVENT_BARRIER_INVALIDATE, actor, inst, element, 0);
        grout_barrier__init(machine, element, 0);
        /* Who still waits has been left alone with it: it goes on, with a fault. */
        grout_machine__wake(machine, GROUT_THREAD_BLOCKED_PARITY, element);
    }
}

uint32_t grout_mbarrier__get_served(uint32_t rank, uint32_t mask, uint32_t cluster_size) {
    uint32_t served = 0;
    for (uint32_t i = 0; i < cluster_size; i++) {
        served |= (i & mask) == rank ? 1u << i : 0;
    }
    return served;
}
