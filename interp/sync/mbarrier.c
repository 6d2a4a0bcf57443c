/*
 * mbarrier.c - lives and parities of mbarriers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mbarrier.h"

/*
 * With k phases known complete, parity k & 1 is that of phase k, and the other parity is that of
 * the phase before, which is complete. A wait for the phase before returns at once, whatever else
 * is complete by now, since it would under another timing. (Under this one it might wait for the
 * phase after next; the checker calls that an overrun.) A wait for phase k is judged as on
 * hardware, which sees the real count alone: it passes if the newest complete phase has its parity;
 * before the first phase that parity is 1. Contributions decide what is complete, not the progress
 * of an engine.
 */
grout_parity grout_mbarrier__judge(const grout_cta *cta, uint32_t actor, uint32_t element,
                                   uint32_t parity) {
    const grout_machine *machine = cta->machine;
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    const grout_clock_shape *shape = &machine->plan->shape;
    uint32_t component = grout_clock_phase(shape, grout_cta__element(cta, element));
    uint32_t done = grout_barrier__count_ready(cta, element);
    uint32_t known = done;
    if (machine->has_clocks) {
        uint32_t ph = grout_cta__clocks(cta, actor)[component];
        known = ph > barrier->phase_base ? ph - barrier->phase_base : 0;
    }
    grout_parity result = {.real = done == 0 ? GROUT_PHASE_NONE : done - 1};
    result.is_awaited = (known & 1) == parity;
    result.passes = ((done + 1) & 1) == parity || (machine->has_clocks && !result.is_awaited);
    result.meant = result.is_awaited ? known : known == 0 ? GROUT_PHASE_NONE : known - 1;
    result.may_fail =
        result.passes && barrier->completed < done &&
        (machine->has_clocks ? result.is_awaited : ((barrier->completed + 1) & 1) != parity);
    return result;
}

static bool is_initialised(const grout_cta *cta, uint32_t element, uint32_t rank) {
    return grout_cta__barrier(grout_cta__peer(cta, rank), element)->is_live != 0;
}

bool grout_mbarrier__awaits_init(const grout_cta *cta, uint32_t actor, uint32_t element,
                                 uint32_t ranks) {
    grout_machine *machine = cta->machine;
    if (!machine->plan->elements[element].is_explicit ||
        grout_cta__thread(cta, actor)->retry == GROUT_RETRY_ALONE) {
        return false;
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if ((ranks >> rank & 1u) != 0 && !is_initialised(cta, element, rank)) {
            (void)grout_cta__block(cta, actor, GROUT_THREAD_BLOCKED_INIT, element, 0);
            return true;
        }
    }
    return false;
}

void grout_mbarrier__give_up_inits(const grout_cta *cta) {
    for (uint32_t i = 0; i < cta->machine->plan->actor_count; i++) {
        grout_thread *thread = grout_cta__thread(cta, i);
        if (thread->state == GROUT_THREAD_BLOCKED_INIT) {
            thread->state = GROUT_THREAD_RUNNABLE;
            thread->retry = GROUT_RETRY_ALONE;
        }
    }
}

bool grout_mbarrier__check(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           uint32_t element) {
    if (grout_cta__barrier(cta, element)->is_live != 0) {
        return true;
    }
    grout_fault fault = {.code = GROUT_DIAG_BARRIER_UNINITIALISED,
                         .object = cta->machine->plan->elements[element].object,
                         .element = element,
                         .cta = grout_cta__head(cta)->index};
    grout_cta__fault(cta, actor, inst, 0, &fault);
    return false;
}

static void publish(const grout_cta *cta, grout_event_kind kind, uint32_t actor,
                    const grout_inst *inst, uint32_t element, uint32_t arrivals) {
    grout_machine *machine = cta->machine;
    if (!grout_machine__wants(machine, kind)) {
        return;
    }
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, kind, actor, inst, &clocks);
    grout_barrier_fact fact = grout_barrier__get_fact(cta, element);
    event.u.init.barrier = &fact;
    event.u.init.arrivals = arrivals;
    event.u.init.was_live = grout_cta__barrier(cta, element)->is_live != 0;
    grout_machine__publish(machine, &event);
}

void grout_mbarrier__init(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                          uint32_t element, uint32_t arrivals) {
    publish(cta, GROUT_EVENT_BARRIER_INIT, actor, inst, element, arrivals);
    grout_barrier__init(cta, element, arrivals);
    grout_cta__wake(cta, GROUT_THREAD_BLOCKED_PARITY, element);
    grout_machine__wake_all(cta->machine, GROUT_THREAD_BLOCKED_INIT, element); /* peers, too */
}

void grout_mbarrier__invalidate(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                uint32_t element) {
    if (grout_mbarrier__check(cta, actor, inst, element)) {
        publish(cta, GROUT_EVENT_BARRIER_INVALIDATE, actor, inst, element, 0);
        grout_barrier__init(cta, element, 0);
        /* A thread that still waits for it goes on, with a fault. */
        grout_cta__wake(cta, GROUT_THREAD_BLOCKED_PARITY, element);
    }
}

uint32_t grout_mbarrier__get_served(uint32_t rank, uint32_t mask, uint32_t cluster_size) {
    uint32_t served = 0;
    for (uint32_t i = 0; i < cluster_size; i++) {
        served |= (i & mask) == rank ? 1u << i : 0;
    }
    return served;
}
