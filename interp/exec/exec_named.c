/*
 * exec_named.c - threads of a CTA that meet: block_barrier and named barriers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "named.h"

#include <string.h>

/* Every thread of the CTA has to come: one in a warp_map or at a join has not, nor has one whose
 * partition has ended. Outside the bodies of a warp_specialize thread 0 comes for all. */
static bool have_all_come(const grout_cta *cta, const grout_inst *inst) {
    for (uint32_t i = 0; i < cta->machine->plan->shape.thread_count && !inst->is_for_all; i++) {
        if (grout_cta__thread(cta, i)->state != GROUT_THREAD_BLOCKED_BLOCK) {
            return false;
        }
    }
    return true;
}

static void meet(const grout_cta *cta, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, GROUT_EVENT_BLOCK_BARRIER)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_BLOCK_BARRIER;
        event.origin.op = inst->op;
        grout_cta__publish_cta(cta, &event);
    }
    if (machine->has_clocks) {
        grout_cta__meet(cta, 0, machine->plan->shape.thread_count);
    }
    for (uint32_t i = 0; i < machine->plan->shape.thread_count; i++) {
        grout_thread *other = grout_cta__thread(cta, i);
        if (other->state == GROUT_THREAD_BLOCKED_BLOCK) {
            other->state = GROUT_THREAD_RUNNABLE;
            other->is_released = 1;
        }
    }
}

/* As on hardware any two of these meet, wherever they stand in the text. A thread that has exited
 * does not come: the others wait for it. */
grout_outcome grout_exec_block_barrier(const grout_cta *cta, uint32_t thread,
                                       const grout_inst *inst) {
    grout_thread *own = grout_cta__thread(cta, thread);
    if (own->is_released == 0) {
        grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_BLOCK, 0, 0);
        if (!have_all_come(cta, inst)) {
            return GROUT_OUTCOME_BLOCKED;
        }
        meet(cta, inst);
    }
    own->is_released = 0;
    return GROUT_OUTCOME_NEXT;
}

static uint32_t get_constant(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             uint32_t index) {
    return (uint32_t)grout_slot__get_integer(cta, thread,
                                             grout_plan__slot(cta->machine->plan, inst, index));
}

/* A sync arrives once; then it only waits for its generation, which its state remembers. */
grout_outcome grout_exec_named_barrier_sync(const grout_cta *cta, uint32_t thread,
                                            const grout_inst *inst) {
    grout_thread *own = grout_cta__thread(cta, thread);
    uint32_t id = get_constant(cta, thread, inst, 0);
    uint32_t threads = get_constant(cta, thread, inst, 1);
    if (own->stage == 0) {
        own->stage = 1 + grout_named__arrive(cta, thread, inst, id, threads, true);
    }
    uint32_t generation = own->stage - 1;
    if (!grout_named__is_full(cta, id, generation)) {
        return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_NAMED, id, generation);
    }
    own->stage = 0;
    grout_named__leave(cta, thread, inst, id, threads, generation);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_named_barrier_arrive(const grout_cta *cta, uint32_t thread,
                                              const grout_inst *inst) {
    grout_named__arrive(cta, thread, inst, get_constant(cta, thread, inst, 0),
                        get_constant(cta, thread, inst, 1), false);
    return GROUT_OUTCOME_NEXT;
}
