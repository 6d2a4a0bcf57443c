/*
 * scheduler.c - which thread of the CTA runs, for how long, and when nothing can.
 *
 * A thread runs until it has done something that others can see (memory, order, an async op), or
 * blocks, or ends; then the next is chosen. Which thread comes next is a function of the state, so
 * a run can stop between any two ops and go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "exec.h"
#include "tma.h"

#include <string.h>

#define PROGRESS_STEPS 1024 /* ops between two calls of progress() */

/* SplitMix64 (Steele, Lea and Flood, 'Fast splittable pseudorandom number generators', 2014). */
uint64_t grout_machine__draw(grout_machine *machine, uint32_t stream) {
    grout_cta *cta = grout_machine__cta(machine);
    uint64_t z = cta->random[stream] += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t grout_slot__get_integer(const grout_machine *machine, uint32_t thread,
                                const grout_slot *slot) {
    const uint8_t *data = grout_slot__data(machine, thread, slot);
    int32_t narrow;
    uint32_t wide;
    memcpy(&narrow, data, sizeof narrow);
    memcpy(&wide, data, sizeof wide);
    return slot->dtype == GROUT_DTYPE_U32 ? (int64_t)wide : narrow;
}

/* The next thread, plus 1; 0 if none can run. */
static uint32_t choose(grout_machine *machine) {
    const grout_cta *cta = grout_machine__cta(machine);
    uint32_t count = machine->plan->shape.thread_count, runnable = 0;
    for (uint32_t i = 0; i < count; i++) {
        runnable += grout_machine__thread(machine, i)->state == GROUT_THREAD_RUNNABLE;
    }
    if (runnable == 0) {
        return 0;
    }
    uint32_t skip = 0, first = cta->last % count;
    if (machine->launch.schedule == GROUT_SCHEDULE_RANDOM) {
        first = 0;
        skip = runnable > 1
                   ? (uint32_t)(grout_machine__draw(machine, GROUT_DRAW_SCHEDULE) % runnable)
                   : 0;
    }
    for (uint32_t i = first;; i = (i + 1) % count) {
        if (grout_machine__thread(machine, i)->state == GROUT_THREAD_RUNNABLE && skip-- == 0) {
            return i + 1;
        }
    }
}

static void publish_deadlock(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_event event;
    memset(&event, 0, sizeof event);
    for (uint32_t i = 0; i < plan->shape.thread_count; i++) {
        const grout_thread *thread = grout_machine__thread(machine, i);
        bool has_exited = thread->state == GROUT_THREAD_EXITED;
        const grout_inst *inst = grout_plan__inst(plan, has_exited ? thread->last_pc : thread->pc);
        grout_thread_fact *fact = &machine->thread_facts[i];
        *fact = (grout_thread_fact){.state = (uint8_t)thread->state,
                                    .element = thread->element,
                                    .phase = thread->phase,
                                    .registers_held = thread->registers,
                                    .origin = grout_machine__origin(machine, i, inst)};
        if (thread->state == GROUT_THREAD_BLOCKED_REGISTERS) {
            const grout_slot *wanted = grout_plan__slot(plan, inst, 0);
            fact->registers = (uint32_t)grout_slot__get_integer(machine, i, wanted);
            fact->registers_free = grout_machine__cta(machine)->registers_free;
        }
    }
    for (uint32_t i = 0; i < plan->element_count; i++) {
        machine->barrier_facts[i] = grout_barrier__get_fact(machine, i);
    }
    event.kind = GROUT_EVENT_DEADLOCK;
    event.u.deadlock.threads = machine->thread_facts;
    event.u.deadlock.thread_count = plan->shape.thread_count;
    event.u.deadlock.barriers = machine->barrier_facts;
    event.u.deadlock.barrier_count = plan->element_count;
    grout_machine__publish_cta(machine, &event);
}

static bool stop(grout_machine *machine, grout_run_status status) {
    machine->status = status;
    return false;
}

static bool stop_at_limit(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    if (grout_machine__wants(machine, GROUT_EVENT_STEP_LIMIT)) {
        grout_clocks clocks;
        grout_event event =
            grout_machine__event(machine, GROUT_EVENT_STEP_LIMIT, thread, inst, &clocks);
        grout_machine__publish(machine, &event);
    }
    return stop(machine, GROUT_RUN_STEP_LIMIT);
}

static bool make_progress(grout_machine *machine) {
    if (machine->launch.progress == NULL) {
        return true;
    }
    grout_progress progress = {.ctas_done = machine->stats.ctas_done,
                               .ctas_total = machine->plan->cta_count,
                               .steps = machine->stats.steps};
    return machine->launch.progress(machine->launch.payload, &progress) ||
           stop(machine, GROUT_RUN_INTERRUPTED);
}

/* What follows an instruction that was done: its count, its scheduling point. */
static void pass(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_cta *cta = grout_machine__cta(machine);
    grout_thread *own = grout_machine__thread(machine, thread);
    own->is_retry = 0;
    if (inst->op != 0) {
        own->last_pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
    }
    machine->stats.steps += inst->is_silent ? 0 : 1;
    if (inst->is_point) {
        cta->last = thread + 1;
        cta->current = 0;
        grout_tma__pass_point(machine);
    }
}

/* Runs a thread to its next scheduling point. False: the run stops. */
static bool run_thread(grout_machine *machine, uint32_t thread, uint64_t limit) {
    grout_cta *cta = grout_machine__cta(machine);
    grout_thread *own = grout_machine__thread(machine, thread);
    machine->step_limit = limit < machine->max_steps ? limit : machine->max_steps;
    while (cta->current == thread + 1) {
        uint64_t before = machine->stats.steps;
        const grout_inst *inst = grout_plan__inst(machine->plan, own->pc);
        uint32_t pc = own->pc;
        if (!inst->is_silent && machine->stats.steps >= limit) {
            return stop(machine, GROUT_RUN_PAUSED);
        }
        if (!inst->is_silent && machine->stats.steps >= machine->max_steps) {
            return stop_at_limit(machine, thread, inst);
        }
        own->pc = pc + 1;
        switch (inst->exec(machine, thread, inst)) {
        case GROUT_OUTCOME_NEXT:
        case GROUT_OUTCOME_EXIT:
            pass(machine, thread, inst);
            break;
        case GROUT_OUTCOME_BLOCKED:
            own->pc = pc;
            own->is_retry = 1;
            cta->last = thread + 1;
            cta->current = 0;
            break;
        case GROUT_OUTCOME_FAILED:
            machine->has_failed = true;
            break;
        }
        if (machine->has_failed) {
            return stop(machine, GROUT_RUN_FAILED);
        }
        if (machine->stats.steps / PROGRESS_STEPS != before / PROGRESS_STEPS &&
            !make_progress(machine)) {
            return false;
        }
    }
    return true;
}

bool grout_machine__run_cta(grout_machine *machine, uint64_t step_limit) {
    grout_cta *cta = grout_machine__cta(machine);
    while (cta->exited < machine->plan->shape.thread_count) {
        if (cta->current == 0) {
            cta->current = choose(machine);
        }
        if (cta->current == 0) {
            grout_tma__finish_all(machine);
            if (grout_machine__wants(machine, GROUT_EVENT_DEADLOCK)) {
                publish_deadlock(machine);
            }
            return stop(machine, GROUT_RUN_DEADLOCK);
        }
        if (!run_thread(machine, cta->current - 1, step_limit)) {
            return false;
        }
    }
    return true;
}
