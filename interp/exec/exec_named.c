/*
 * exec_named.c - threads of a CTA that meet: block_barrier and named barriers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "named.h"

#include <string.h>

/* Threads of the CTA that run its body: in a kernel with a warp_specialize the first one alone, and
 * between fork and join those that have a partition. */
static bool takes_part(const grout_thread *thread) {
    return thread->state != GROUT_THREAD_IDLE && thread->state != GROUT_THREAD_BLOCKED_JOIN;
}

static bool have_all_come(const grout_machine *machine) {
    for (uint32_t i = 0; i < machine->plan->shape.thread_count; i++) {
        const grout_thread *other = grout_machine__thread(machine, i);
        if (takes_part(other) && other->state != GROUT_THREAD_BLOCKED_BLOCK) {
            return false;
        }
    }
    return true;
}

static void meet(grout_machine *machine, const grout_inst *inst) {
    if (grout_machine__wants(machine, GROUT_EVENT_BLOCK_BARRIER)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_BLOCK_BARRIER;
        event.origin.op = inst->op;
        grout_machine__publish_cta(machine, &event);
    }
    if (machine->has_clocks) {
        grout_machine__meet(machine, 0, machine->plan->shape.thread_count);
    }
    for (uint32_t i = 0; i < machine->plan->shape.thread_count; i++) {
        grout_thread *other = grout_machine__thread(machine, i);
        if (other->state == GROUT_THREAD_BLOCKED_BLOCK) {
            other->state = GROUT_THREAD_RUNNABLE;
            other->is_released = 1;
        }
    }
}

/* As on hardware any two of these meet, wherever they stand in the text. A thread that has exited
 * does not come: the others wait for it. */
grout_outcome grout_exec_block_barrier(grout_machine *machine, uint32_t thread,
                                       const grout_inst *inst) {
    grout_thread *own = grout_machine__thread(machine, thread);
    if (own->is_released == 0) {
        grout_machine__block(machine, thread, GROUT_THREAD_BLOCKED_BLOCK, 0, 0);
        if (!have_all_come(machine)) {
            return GROUT_OUTCOME_BLOCKED;
        }
        meet(machine, inst);
    }
    own->is_released = 0;
    return GROUT_OUTCOME_NEXT;
}

static uint32_t get_constant(const grout_machine *machine, uint32_t thread, const grout_inst *inst,
                             uint32_t index) {
    return (uint32_t)grout_slot__get_integer(machine, thread,
                                             grout_plan__slot(machine->plan, inst, index));
}

/* A sync arrives once; then it only waits for its generation, which its state remembers. */
grout_outcome grout_exec_named_barrier_sync(grout_machine *machine, uint32_t thread,
                                            const grout_inst *inst) {
    grout_thread *own = grout_machine__thread(machine, thread);
    uint32_t id = get_constant(machine, thread, inst, 0);
    uint32_t threads = get_constant(machine, thread, inst, 1);
    if (own->stage == 0) {
        own->stage = 1 + grout_named__arrive(machine, thread, inst, id, threads, true);
    }
    uint32_t generation = own->stage - 1;
    if (!grout_named__is_full(machine, id, generation)) {
        return grout_machine__block(machine, thread, GROUT_THREAD_BLOCKED_NAMED, id, generation);
    }
    own->stage = 0;
    grout_named__leave(machine, thread, inst, id, threads, generation);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_named_barrier_arrive(grout_machine *machine, uint32_t thread,
                                              const grout_inst *inst) {
    grout_named__arrive(machine, thread, inst, get_constant(machine, thread, inst, 0),
                        get_constant(machine, thread, inst, 1), false);
    return GROUT_OUTCOME_NEXT;
}
