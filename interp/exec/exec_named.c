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

/* A scalar operand that says which barrier, or how many; false, and a fault, if nothing did. */
static bool find_number(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                        uint32_t index, int64_t *number_out) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, index);
    if (grout_slot__is_undefined(cta, thread, slot)) {
        grout_cta__fault_undefined(cta, thread, inst, index, GROUT_USE_SYNC);
        return false;
    }
    *number_out = grout_slot__get_integer(cta, thread, slot);
    return true;
}

/* What the op is about; false, and a fault, if the CTA has no such barrier, or never that many. */
static bool find_use(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                     grout_named_use *use) {
    const bool counts_lanes = (inst->attrs & GROUT_ATTR_BIT(LANES)) != 0;
    const int64_t threads = cta->machine->plan->shape.thread_count;
    const int64_t unit = counts_lanes ? GROUT_WARP_LANES : 1;
    const int64_t warps = cta->machine->plan->warp_count;
    const int64_t most = counts_lanes ? warps * GROUT_WARP_LANES : warps / GROUT_WARPS;
    int64_t id = 0, count = 0;
    if (!find_number(cta, thread, inst, 0, &id) || !find_number(cta, thread, inst, 1, &count)) {
        return false;
    }
    const bool has_id = id >= 0 && id < GROUT_NAMED_IDS - threads;
    if (!has_id || count < unit || count > most || count % unit != 0) {
        grout_fault fault = {.code = GROUT_DIAG_NAMED_RANGE,
                             .have = has_id ? count : id,
                             .need = has_id ? most : GROUT_NAMED_IDS - threads - 1};
        grout_cta__fault(cta, thread, inst, has_id ? 1 : 0, &fault);
        return false;
    }
    *use = (grout_named_use){.id = (uint32_t)id,
                             .count = (uint32_t)count,
                             .lanes = (uint32_t)count *
                                      (counts_lanes ? 1u : GROUT_WARPS * GROUT_WARP_LANES),
                             .counts_lanes = counts_lanes};
    return true;
}

/* A sync arrives once; then it only waits for its generation, which its state remembers. */
grout_outcome grout_exec_named_barrier_sync(const grout_cta *cta, uint32_t thread,
                                            const grout_inst *inst) {
    grout_thread *own = grout_cta__thread(cta, thread);
    grout_named_use use;
    if (!find_use(cta, thread, inst, &use)) {
        return GROUT_OUTCOME_NEXT;
    }
    if (own->stage == 0) {
        own->stage = 1 + grout_named__arrive(cta, thread, inst, &use, true);
    }
    uint32_t generation = own->stage - 1;
    if (!grout_named__is_full(cta, use.id, generation)) {
        return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_NAMED, use.id, generation);
    }
    own->stage = 0;
    grout_named__leave(cta, thread, inst, &use, generation);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_named_barrier_arrive(const grout_cta *cta, uint32_t thread,
                                              const grout_inst *inst) {
    grout_named_use use;
    if (find_use(cta, thread, inst, &use)) {
        grout_named__arrive(cta, thread, inst, &use, false);
    }
    return GROUT_OUTCOME_NEXT;
}
