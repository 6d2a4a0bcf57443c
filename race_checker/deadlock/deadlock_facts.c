/*
 * deadlock_facts.c - what each blocked thread of a deadlock waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"

uint32_t grout_deadlock__get_line(const grout_deadlock *text, grout_op_id op) {
    return grout_module_get_place(text->module, grout_module_get_op(text->module, op)->loc).line;
}

bool grout_deadlock__get_written(const grout_deadlock *text, grout_object_id object, grout_op_id id,
                                 int64_t *value_out) {
    const grout_op *op = grout_module_get_op(text->module, id);
    const bool is_write =
        grout_op_get_update(text->module, op) == GROUT_UPDATE_EXCHANGE ||
        grout_op__has_effect_on(text->module, op, object, 1u << GROUT_ACCESS_WRITE);
    const grout_operand *operand =
        is_write && op->operand_count > 1 ? grout_module_get_operand(text->module, op, 1) : NULL;
    if (operand == NULL || operand->kind != GROUT_OPERAND_EXPR) {
        return false;
    }
    *value_out = grout_module_get_expr_value(text->module, operand->id).integer;
    return true;
}

int64_t grout_deadlock__count_ended(const grout_deadlock *text) {
    return text->checker->info.cta_count - text->event->u.deadlock.waiting_ctas -
           (int64_t)(text->thread_count / text->checker->local_actors);
}

bool grout_thread_fact__is_blocked(const grout_thread_fact *thread) {
    return thread->state != GROUT_THREAD_RUNNABLE && thread->state != GROUT_THREAD_IDLE &&
           thread->state != GROUT_THREAD_WAITING && thread->state != GROUT_THREAD_EXITED;
}

const grout_barrier_fact *grout_deadlock__find_barrier(const grout_deadlock *text,
                                                       const grout_thread_fact *thread) {
    for (uint32_t i = 0; i < text->event->u.deadlock.barrier_count; i++) {
        const grout_barrier_fact *barrier = &text->event->u.deadlock.barriers[i];
        if (barrier->element == thread->element && barrier->cta == thread->origin.cta) {
            return barrier;
        }
    }
    return NULL;
}

const grout_semaphore_fact *grout_deadlock__find_semaphore(const grout_deadlock *text,
                                                           const grout_thread_fact *thread) {
    return thread->element < text->event->u.deadlock.semaphore_count
               ? &text->event->u.deadlock.semaphores[thread->element]
               : NULL;
}

static const grout_sync_info *find_sync(const grout_deadlock *text, grout_op_id op) {
    return grout_op_get_sync((grout_opcode)grout_module_get_op(text->module, op)->opcode);
}

/* Threads of a cluster meet at its barrier, after their mbarriers are made, and at their end. */
bool grout_deadlock__is_at_end(const grout_deadlock *text, const grout_thread_fact *thread) {
    const grout_sync_info *sync = find_sync(text, thread->origin.op);
    bool is_meeting = sync != NULL && sync->object == GROUT_SYNC_OBJECT_CLUSTER &&
                      sync->mode != GROUT_SYNC_MODE_POSTS;
    bool is_init = sync != NULL && sync->mode == GROUT_SYNC_MODE_MAKES;
    return thread->state == GROUT_THREAD_BLOCKED_CLUSTER && !is_meeting && !is_init;
}

grout_need grout_deadlock__get_need(const grout_deadlock *text, const grout_thread_fact *thread) {
    grout_need need = {.thread = thread};
    if (thread->state == GROUT_THREAD_BLOCKED_BARRIER ||
        thread->state == GROUT_THREAD_BLOCKED_PARITY) {
        const grout_barrier_fact *barrier = grout_deadlock__find_barrier(text, thread);
        need.object = barrier ? barrier->object : 0;
        need.has_index = barrier != NULL;
        need.index = barrier ? barrier->index : 0;
    } else if (thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE ||
               thread->state == GROUT_THREAD_BLOCKED_SPIN) {
        need.object = grout_op__find_object(
            text->module, grout_module_get_op(text->module, thread->origin.op), 0);
        const grout_semaphore_fact *semaphore = thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE
                                                    ? grout_deadlock__find_semaphore(text, thread)
                                                    : NULL;
        need.has_index = semaphore != NULL;
        need.index = semaphore ? semaphore->index : 0;
    } else if (thread->state == GROUT_THREAD_BLOCKED_NAMED) {
        need.id = thread->element;
    }
    return need;
}
