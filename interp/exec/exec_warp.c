/*
 * exec_warp.c - forks and joins: warp_map, warp_specialize, and the ends of their children.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "warp.h"

#include <string.h>

enum { STAGE_FORKED = 1 }; /* of a thread in a warp_map */

static void set_warp(const grout_cta *cta, uint32_t actor, const grout_inst *inst, int32_t warp) {
    if (inst->result.dtype != GROUT_DTYPE_NONE) {
        memcpy(grout_slot__data(cta, actor, &inst->result), &warp, sizeof warp);
        grout_slot__set_undefined(cta, actor, &inst->result, false);
    }
}

static void join(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                 grout_children children) {
    grout_warp__publish(cta, GROUT_EVENT_JOIN, thread, inst, children);
    grout_warp__join(cta, thread, children);
}

/* The thread stands at its warp_map until the warps have ended. */
grout_outcome grout_exec_warp_map(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_thread *own = grout_cta__thread(cta, thread);
    grout_children warps = grout_warp__get_warps(machine, thread);
    if (own->stage == 0) {
        uint32_t pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
        grout_warp__publish(cta, GROUT_EVENT_FORK, thread, inst, warps);
        for (uint32_t i = 0; i < warps.count; i++) {
            grout_warp__start(cta, thread, warps.first + i, inst, pc + 1);
            set_warp(cta, warps.first + i, inst, (int32_t)i);
        }
        if (machine->has_clocks) {
            grout_cta__advance(cta, thread);
        }
        own->stage = STAGE_FORKED;
    }
    if (!grout_warp__have_ended(cta, warps)) {
        return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_JOIN, 0, 0);
    }
    own->stage = 0;
    own->pc = inst->target;
    join(cta, thread, inst, warps);
    return GROUT_OUTCOME_NEXT;
}

/* Partition i starts on thread i; thread 0 goes on with the first body. */
grout_outcome grout_exec_warp_specialize(const grout_cta *cta, uint32_t thread,
                                         const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_children partitions = grout_warp__get_partitions((uint32_t)inst->u.partitions);
    grout_warp__publish(cta, GROUT_EVENT_FORK, thread, inst, partitions);
    uint32_t pc = inst->target;
    for (uint32_t i = 0; i < partitions.count && pc != 0; i++) {
        grout_warp__start(cta, thread, partitions.first + i, inst, pc);
        pc = grout_plan__inst(machine->plan, pc)->target;
    }
    if (machine->has_clocks) {
        grout_cta__advance(cta, thread);
    }
    return GROUT_OUTCOME_NEXT;
}

/* The beginning of a partition: says where the next one is. */
grout_outcome grout_exec_partition(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    (void)cta->machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_join(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_children partitions = grout_warp__get_partitions((uint32_t)inst->u.partitions);
    if (!grout_warp__have_ended(cta, partitions)) {
        return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_JOIN, 0, 0);
    }
    join(cta, thread, inst, partitions);
    return GROUT_OUTCOME_NEXT;
}

/* A warp or partition has ended; what it has in flight goes on. */
grout_outcome grout_exec_end_child(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    bool is_warp = grout_machine__warp_of(machine, thread) != 0;
    uint32_t parent = is_warp ? grout_machine__thread_of(machine, thread) : 0;
    (void)inst;
    grout_cta__thread(cta, thread)->state = GROUT_THREAD_IDLE;
    if (grout_cta__thread(cta, parent)->state == GROUT_THREAD_BLOCKED_JOIN) {
        grout_cta__thread(cta, parent)->state = GROUT_THREAD_RUNNABLE;
    }
    return GROUT_OUTCOME_NEXT;
}
