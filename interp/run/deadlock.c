/*
 * deadlock.c - when nothing can run: what everybody is blocked on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "mbarrier.h"
#include "semaphore.h"

#include <string.h>

static void add_actor(grout_machine *machine, uint32_t actor) {
    const grout_plan *plan = machine->plan;
    const grout_thread *thread = grout_machine__thread(machine, actor);
    bool has_exited = thread->state == GROUT_THREAD_EXITED;
    const grout_inst *inst = grout_plan__inst(plan, has_exited ? thread->last_pc : thread->pc);
    grout_thread_fact *fact =
        (grout_thread_fact *)grout_pool__at(&machine->thread_facts, machine->thread_facts.count++);
    inst = inst->op == 0 ? grout_plan__inst(plan, thread->last_pc) : inst;
    *fact = (grout_thread_fact){.state = (uint8_t)thread->state,
                                .element = thread->element,
                                .phase = thread->phase,
                                .registers_held = thread->registers,
                                .origin = grout_machine__origin(machine, actor, inst)};
    if (thread->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        const grout_slot *wanted = grout_plan__slot(plan, inst, 0);
        fact->registers = (uint32_t)grout_slot__get_integer(machine, actor, wanted);
        fact->registers_free = grout_machine__cta(machine)->registers_free;
    } else if (thread->state == GROUT_THREAD_BLOCKED_PARITY) {
        fact->meant =
            grout_mbarrier__judge(machine, actor, thread->element, (uint8_t)thread->phase).meant;
    } else if (thread->state == GROUT_THREAD_BLOCKED_SPIN) {
        fact->has_value =
            !inst->result.is_array &&
            (inst->result.dtype == GROUT_DTYPE_I32 || inst->result.dtype == GROUT_DTYPE_U32) &&
            !grout_slot__is_undefined(machine, actor, &inst->result);
        fact->value = fact->has_value ? grout_slot__get_integer(machine, actor, &inst->result) : 0;
    } else if (thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
        grout_semaphore_key key = {thread->element, grout_machine__cta(machine)->index};
        fact->element = grout_semaphore__find_fact(machine, key);
    }
}

static bool reserve_facts(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    uint32_t ctas = (uint32_t)machine->run.begun * plan->shape.cta_count;
    machine->thread_facts.count = machine->barrier_facts.count = 0;
    machine->semaphore_facts.count = 0;
    return grout_semaphore__add_facts(machine, UINT32_MAX) &&
           grout_pool__reserve(&machine->thread_facts, &machine->heap, ctas * plan->actor_count) &&
           grout_pool__reserve(&machine->barrier_facts, &machine->heap, ctas * plan->element_count);
}

static void add_cta(grout_machine *machine) {
    machine->has_failed |= !grout_semaphore__add_facts(machine, grout_machine__cta(machine)->index);
    for (uint32_t i = 0; i < machine->plan->actor_count; i++) {
        add_actor(machine, i);
    }
    for (uint32_t i = 0; i < machine->plan->element_count; i++) {
        *(grout_barrier_fact *)grout_pool__at(&machine->barrier_facts,
                                              machine->barrier_facts.count++) =
            grout_barrier__get_fact(machine, i);
    }
}

void grout_machine__publish_deadlock(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_event event;
    if (!reserve_facts(machine)) {
        machine->has_failed = true;
        return;
    }
    for (uint32_t slot = 0; slot < machine->slot_count; slot++) {
        for (uint32_t rank = 0; machine->slots[slot] != NULL && rank < plan->shape.cta_count;
             rank++) {
            grout_machine__select_slot(machine, slot, rank);
            if (grout_machine__cluster(machine)->is_begun != 0) {
                add_cta(machine);
            }
        }
    }
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_DEADLOCK;
    event.u.deadlock.threads = grout_pool__at(&machine->thread_facts, 0);
    event.u.deadlock.thread_count = machine->thread_facts.count;
    event.u.deadlock.barriers = grout_pool__at(&machine->barrier_facts, 0);
    event.u.deadlock.barrier_count = machine->barrier_facts.count;
    event.u.deadlock.semaphores = grout_pool__at(&machine->semaphore_facts, 0);
    event.u.deadlock.semaphore_count = machine->semaphore_facts.count;
    event.u.deadlock.waiting_ctas =
        plan->cta_count - machine->run.next_cluster * plan->shape.cta_count;
    event.u.deadlock.resident_ctas = (int64_t)machine->slot_count * plan->shape.cta_count;
    for (uint32_t slot = machine->slot_count; slot-- > 0;) {
        if (machine->slots[slot] != NULL) {
            grout_machine__select_slot(machine, slot, 0);
            if (grout_machine__cluster(machine)->is_begun != 0) {
                event.origin.cta = grout_machine__cta(machine)->index;
            }
        }
    }
    event.step = machine->stats.steps;
    if (grout_machine__wants(machine, GROUT_EVENT_DEADLOCK)) {
        grout_machine__publish(machine, &event);
    }
}
