/*
 * exec_control.c - loops, branches, scopes, ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "accumulator.h"
#include "cluster.h"
#include "exec.h"
#include "scope.h"
#include "slot_flag.h"
#include "spin.h"
#include "wgmma.h"

#include <string.h>

static void move_values(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_move *moves = grout_pool__at(&cta->machine->plan->moves, inst->first_move);
    for (uint32_t i = 0; i < inst->move_count; i++) {
        const grout_slot *from = &moves[i].from, *to = &moves[i].to;
        const uint8_t flag = grout_slot__get_flag(cta, thread, from);
        memmove(grout_slot__data(cta, thread, to), grout_slot__data(cta, thread, from),
                (size_t)to->count * to->element_bytes);
        if (flag != 0 && to->is_array) {
            memmove(grout_slot__mask(cta, thread, to), grout_slot__mask(cta, thread, from),
                    to->count);
        }
        grout_slot__set_flag(cta, thread, to, flag);
    }
}

static void jump(const grout_cta *cta, uint32_t thread, uint32_t target) {
    grout_cta__thread(cta, thread)->pc = target;
}

static void set_index(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      int64_t value) {
    int32_t index = (int32_t)value;
    memcpy(grout_slot__data(cta, thread, &inst->result), &index, sizeof index);
    grout_slot__set_undefined(cta, thread, &inst->result, false);
}

/* Low, high and step as slots; then the carries' initial values as moves. */
grout_outcome grout_exec_for(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_loop_state *loop = &grout_cta__loops(cta, thread)[inst->loop_depth];
    bool is_undefined = false;
    int64_t bounds[3];
    for (uint32_t i = 0; i < 3; i++) {
        const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, i);
        bounds[i] = grout_slot__get_integer(cta, thread, slot);
        is_undefined |= grout_slot__is_undefined(cta, thread, slot);
    }
    if (is_undefined) {
        grout_cta__fault_undefined(cta, thread, inst, 0, GROUT_USE_BRANCH);
    }
    *loop = (grout_loop_state){bounds[0], bounds[1], bounds[2]};
    move_values(cta, thread, inst);
    if (loop->index >= loop->high || loop->step <= 0) {
        jump(cta, thread, inst->target);
    } else {
        set_index(cta, thread, inst, loop->index);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_next(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_loop_state *loop = &grout_cta__loops(cta, thread)[inst->loop_depth - 1];
    loop->index += loop->step;
    if (loop->index < loop->high) {
        set_index(cta, thread, inst, loop->index);
        jump(cta, thread, inst->target);
    }
    return GROUT_OUTCOME_NEXT;
}

/* The loop index of a while is the number of the iteration. */
grout_outcome grout_exec_while(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_cta__loops(cta, thread)[inst->loop_depth] = (grout_loop_state){0};
    move_values(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

/* An undefined condition is reported and ends the loop, so that the run goes on. */
grout_outcome grout_exec_cond(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
    if (is_undefined) {
        grout_cta__fault_undefined(cta, thread, inst, 0, GROUT_USE_BRANCH);
    }
    if (is_undefined || *grout_slot__data(cta, thread, slot) == 0) {
        jump(cta, thread, inst->target);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_again(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    if (grout_spin__stops_turn(cta, thread)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    grout_cta__loops(cta, thread)[inst->loop_depth - 1].index++;
    move_values(cta, thread, inst);
    grout_spin__note(cta, thread, inst);
    grout_spin__note_turn(cta, thread, inst);
    jump(cta, thread, inst->target);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_if(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    if (grout_slot__is_undefined(cta, thread, slot)) {
        grout_cta__fault_undefined(cta, thread, inst, 0, GROUT_USE_BRANCH);
    }
    if (*grout_slot__data(cta, thread, slot) == 0) {
        jump(cta, thread, inst->target);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_yield(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    move_values(cta, thread, inst);
    if (inst->target != 0) {
        jump(cta, thread, inst->target);
    }
    return GROUT_OUTCOME_NEXT;
}

/* Objects of the CTA exist from its beginning. */
grout_outcome grout_exec_scratch(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    (void)cta->machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_NEXT;
}

/* All threads have come to the scope: a block barrier, and its objects begin. */
static void meet(const grout_cta *cta, const grout_scope_plan *scope, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_plan *plan = machine->plan;
    if (grout_machine__wants(machine, GROUT_EVENT_BLOCK_BARRIER)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_BLOCK_BARRIER;
        event.origin.op = inst->op;
        grout_cta__publish_cta(cta, &event);
    }
    if (machine->has_clocks) {
        grout_cta__meet(cta, 0, plan->shape.thread_count);
    }
    grout_cta__begin_scope(cta, scope, inst);
    for (uint32_t i = 0; i < plan->shape.thread_count; i++) {
        grout_thread *other = grout_cta__thread(cta, i);
        other->state = GROUT_THREAD_RUNNABLE;
        other->is_released = 1;
    }
}

grout_outcome grout_exec_scoped(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_scope_plan *scope = grout_plan__scope(machine->plan, inst->scope);
    grout_thread *own = grout_cta__thread(cta, thread);
    if (!scope->is_collective) {
        grout_cta__begin_scope(cta, scope, inst);
        grout_accumulator__begin(cta, thread, scope);
        return GROUT_OUTCOME_NEXT;
    }
    if (own->is_released == 0) {
        own->state = GROUT_THREAD_BLOCKED_SCOPE;
        own->scope = inst->scope;
        for (uint32_t i = 0; i < machine->plan->shape.thread_count; i++) {
            const grout_thread *other = grout_cta__thread(cta, i);
            if (other->state != GROUT_THREAD_BLOCKED_SCOPE || other->scope != inst->scope) {
                return GROUT_OUTCOME_BLOCKED;
            }
        }
        meet(cta, scope, inst);
    }
    own->is_released = 0;
    grout_accumulator__begin(cta, thread, scope);
    return GROUT_OUTCOME_NEXT;
}

/*
 * A collective scope ends when its last thread leaves it. The others may be far ahead by then, out
 * of scopes around it too, but not in another collective scope: that one's entry waits for all
 * threads. So each scope has at most one instance that some have left and others have not, and the
 * bytes that it shares with scopes beside it are not in use there before it has ended.
 */
grout_outcome grout_exec_leave(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_scope_plan *scope = grout_plan__scope(machine->plan, inst->scope);
    uint32_t *number = grout_cta__scope(cta, inst->scope);
    grout_pool *pool = &machine->pools[GROUT_POOL_SCOPES];
    *number = *number == 0 ? grout_pool__take(pool, &machine->heap) : *number;
    if (*number == 0) {
        machine->run.has_failed = true;
        return GROUT_OUTCOME_NEXT;
    }
    grout_scope_left *left = grout_pool__at(pool, *number);
    uint32_t *last = (uint32_t *)(void *)(left + 1);
    if (machine->has_clocks) {
        grout_order__join(last, grout_cta__clocks(cta, thread), machine->plan->order.size);
    }
    if (++left->count < machine->plan->runner_count && scope->is_collective) {
        return GROUT_OUTCOME_NEXT;
    }
    grout_cta__end_scope(cta, scope, last, thread, inst);
    grout_pool__give(pool, *number);
    *number = 0;
    return GROUT_OUTCOME_NEXT;
}

/* Whether thread 0 ends for all threads of the CTA: with a warp_specialize no other runs the end.
 */
static bool ends_for_all(const grout_machine *machine) {
    return machine->plan->runner_count < machine->plan->shape.thread_count;
}

/* 'cluster_exit = sync': the last thing a thread does is to meet all others of the cluster. */
static bool sync_exit(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_thread *own = grout_cta__thread(cta, thread);
    const grout_meeting meeting = {.is_for_all = ends_for_all(cta->machine)};
    if (own->is_leaving == 0) {
        if (grout_cluster__owes_wait(cta, thread, meeting.is_for_all) &&
            !grout_cluster__wait(cta, thread, inst, meeting)) {
            return false;
        }
        grout_cluster__arrive(cta, thread, inst, meeting);
        own->is_leaving = 1;
        grout_cluster__note_leaving(cta);
    }
    return grout_cluster__wait(cta, thread, inst, meeting);
}

grout_outcome grout_exec_exit(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    GROUT_ASSERT(grout_cta__head(cta)->exited < cta->machine->plan->runner_count);
    grout_thread *own = grout_cta__thread(cta, thread);
    const grout_inst *last = grout_plan__inst(machine->plan, own->last_pc);
    (void)inst;
    if (machine->plan->has_exit_sync && !sync_exit(cta, thread, last)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    grout_wgmma__finish(cta, thread, own->wgmma_groups);
    own->state = GROUT_THREAD_EXITED;
    grout_cta__head(cta)->exited++;
    if (grout_machine__wants(machine, GROUT_EVENT_THREAD_EXIT)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_THREAD_EXIT, thread, last, &clocks);
        event.u.rendezvous.is_for_all = ends_for_all(machine);
        grout_machine__publish(machine, &event);
    }
    grout_cluster__leave(cta, thread, ends_for_all(machine));
    return GROUT_OUTCOME_EXIT;
}
