/*
 * deadlock.c - when nothing can run: what each actor is blocked on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "cluster.h"
#include "mbarrier.h"
#include "run.h"
#include "semaphore.h"

#include <string.h>

static void add_actor(const grout_cta *cta, uint32_t actor) {
    grout_machine *machine = cta->machine;
    const grout_plan *plan = machine->plan;
    const grout_thread *thread = grout_cta__thread(cta, actor);
    bool has_exited = thread->state == GROUT_THREAD_EXITED;
    const grout_inst *inst = grout_plan__inst(plan, has_exited ? thread->last_pc : thread->pc);
    grout_thread_fact *fact =
        (grout_thread_fact *)grout_pool__at(&machine->scratch[GROUT_SCRATCH_THREAD_FACTS],
                                            machine->scratch[GROUT_SCRATCH_THREAD_FACTS].count++);
    inst = inst->op == 0 ? grout_plan__inst(plan, thread->last_pc) : inst;
    *fact = (grout_thread_fact){.state = (uint8_t)thread->state,
                                .element = thread->element,
                                .phase = thread->phase,
                                .registers_held = thread->registers,
                                .origin = grout_cta__origin(cta, actor, inst)};
    if (thread->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        const grout_slot *wanted = grout_plan__slot(plan, inst, 0);
        fact->registers = (uint32_t)grout_slot__get_integer(cta, actor, wanted);
        fact->registers_free = grout_cta__head(cta)->registers_free;
    } else if (thread->state == GROUT_THREAD_BLOCKED_PARITY) {
        fact->meant =
            grout_mbarrier__judge(cta, actor, thread->element, (uint8_t)thread->phase).meant;
    } else if (thread->state == GROUT_THREAD_BLOCKED_SPIN) {
        fact->has_value =
            !inst->result.is_array &&
            (inst->result.dtype == GROUT_DTYPE_I32 || inst->result.dtype == GROUT_DTYPE_U32) &&
            !grout_slot__is_undefined(cta, actor, &inst->result);
        fact->value = fact->has_value ? grout_slot__get_integer(cta, actor, &inst->result) : 0;
    } else if (thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
        grout_semaphore_key key = {thread->element, grout_cta__head(cta)->index};
        fact->element = grout_semaphore__find_fact(machine, key);
    }
}

static bool reserve_facts(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    uint32_t ctas = (uint32_t)machine->run.facts.begun * plan->shape.cta_count;
    machine->scratch[GROUT_SCRATCH_THREAD_FACTS].count =
        machine->scratch[GROUT_SCRATCH_BARRIER_FACTS].count = 0;
    machine->scratch[GROUT_SCRATCH_SEMAPHORE_FACTS].count = 0;
    machine->scratch[GROUT_SCRATCH_COPY_FACTS].count = 0;
    return grout_semaphore__add_facts(machine, UINT32_MAX) &&
           grout_pool__reserve(&machine->scratch[GROUT_SCRATCH_THREAD_FACTS], &machine->heap,
                               ctas * plan->actor_count) &&
           grout_pool__reserve(&machine->scratch[GROUT_SCRATCH_BARRIER_FACTS], &machine->heap,
                               ctas * plan->element_count);
}

static void add_cta(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    machine->run.has_failed |= !grout_semaphore__add_facts(machine, grout_cta__head(cta)->index);
    machine->run.has_failed |= cta->rank == 0 && !grout_cluster__add_copy_facts(cta);
    for (uint32_t i = 0; i < machine->plan->actor_count; i++) {
        add_actor(cta, i);
    }
    for (uint32_t i = 0; i < machine->plan->element_count; i++) {
        *(grout_barrier_fact *)grout_pool__at(
            &machine->scratch[GROUT_SCRATCH_BARRIER_FACTS],
            machine->scratch[GROUT_SCRATCH_BARRIER_FACTS].count++) =
            grout_barrier__get_fact(cta, i);
    }
}

void grout_machine__publish_deadlock(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_event event;
    if (!reserve_facts(machine)) {
        machine->run.has_failed = true;
        return;
    }
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        add_cta(cta);
    }
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_DEADLOCK;
    event.u.deadlock.threads = grout_pool__at(&machine->scratch[GROUT_SCRATCH_THREAD_FACTS], 0);
    event.u.deadlock.thread_count = machine->scratch[GROUT_SCRATCH_THREAD_FACTS].count;
    event.u.deadlock.barriers = grout_pool__at(&machine->scratch[GROUT_SCRATCH_BARRIER_FACTS], 0);
    event.u.deadlock.barrier_count = machine->scratch[GROUT_SCRATCH_BARRIER_FACTS].count;
    event.u.deadlock.semaphores =
        grout_pool__at(&machine->scratch[GROUT_SCRATCH_SEMAPHORE_FACTS], 0);
    event.u.deadlock.semaphore_count = machine->scratch[GROUT_SCRATCH_SEMAPHORE_FACTS].count;
    event.u.deadlock.copies = grout_pool__at(&machine->scratch[GROUT_SCRATCH_COPY_FACTS], 0);
    event.u.deadlock.copy_count = machine->scratch[GROUT_SCRATCH_COPY_FACTS].count;
    event.u.deadlock.waiting_ctas =
        plan->cta_count - machine->run.facts.next_cluster * plan->shape.cta_count;
    event.u.deadlock.resident_ctas = (int64_t)machine->slot_count * plan->shape.cta_count;
    const grout_cta *first = grout_machine__next_cta(machine, NULL);
    event.origin.cta = first == NULL ? 0 : grout_cta__head(first)->index;
    event.step = machine->run.stats.steps;
    if (grout_machine__wants(machine, GROUT_EVENT_DEADLOCK)) {
        grout_machine__publish(machine, &event);
    }
}
