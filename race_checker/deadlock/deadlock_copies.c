/*
 * deadlock_copies.c - collective copies that a CTA has not issued when nothing can run, and cannot
 * come to any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"
#include "protocols.h"

#include <string.h>

/* The barrier that a copy which all CTAs of a set issue arrives on; 0: it is another op. */
static grout_object_id find_barrier(const grout_deadlock *text, grout_op_id id) {
    const grout_op *op = grout_module_get_op(text->module, id);
    const uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, 'b');
    grout_view view;
    if (index == UINT32_MAX ||
        grout_module_find_attr(text->module, op, GROUT_ATTR_COLLECTIVE_AXES) == NULL ||
        !grout_module_get_view(text->module, grout_module_get_operand(text->module, op, index),
                               &view)) {
        return 0;
    }
    return view.object;
}

/* Whether the thread may still come to the op, as far as its place says. */
static bool may_come(const grout_deadlock *text, const grout_thread_fact *thread, grout_op_id op) {
    if (!thread->origin.op || !grout_thread_fact__is_blocked(thread) ||
        thread->state == GROUT_THREAD_BLOCKED_JOIN || /* its warps or partitions speak for it */
        grout_deadlock__is_at_end(text, thread)) {
        return false;
    }
    const grout_reach kind = grout_op__find_reach(text->module, thread->origin.op, op).kind;
    return kind == GROUT_REACH_AHEAD || kind == GROUT_REACH_NEXT_ROUND;
}

/* Whether a thread of the CTA may still come to a copy for the barrier: it waits for something
 * else, and the copy is not what is missing. */
static bool is_ahead(const grout_deadlock *text, uint32_t cta, grout_object_id barrier) {
    const grout_thread_fact *begin = text->threads, *end = begin + text->thread_count;
    while (begin < end && begin->origin.cta != cta) { /* those of a CTA stand beside each other */
        begin++;
    }
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module); i++) {
        const bool is_copy = grout_op__is_in_kernel(text->module, i, text->checker->info.kernel) &&
                             find_barrier(text, i) == barrier;
        for (const grout_thread_fact *it = begin; is_copy && it < end && it->origin.cta == cta;
             it++) {
            if (may_come(text, it, i)) {
                return true;
            }
        }
    }
    return false;
}

bool grout_deadlock__report_copies(const grout_deadlock *text) {
    grout_event event;
    memset(&event, 0, sizeof event);
    for (uint32_t i = 0; i < text->event->u.deadlock.copy_count; i++) {
        const grout_copy_fact *copy = &text->event->u.deadlock.copies[i];
        if (is_ahead(text, copy->missing, find_barrier(text, copy->origin.op))) {
            continue;
        }
        event.origin = copy->origin;
        event.u.collective.other_cta = copy->missing;
        event.u.collective.divergence = GROUT_DIVERGENCE_STUCK;
        if (!grout_checker__collective(text->checker, &event)) {
            return false;
        }
    }
    return true;
}
