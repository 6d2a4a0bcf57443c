/*
 * deadlock_words.c - what a blocked thread lacks.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"

#include "elements.h"

#include <inttypes.h>

/* ---- names ---- */

void grout_deadlock__add_thread(const grout_deadlock *text, const grout_origin *origin,
                                grout_text *out) {
    const grout_origin actor = {.cta = origin->cta, .thread = origin->thread, .warp = origin->warp};
    grout_describe_actor(text->module, text->checker->info.kernel, &actor, out);
}

/* ---- what it lacks ---- */

/* "; of these thread 1 at line 8 and thread 2 at line 9": the newest of the phase. */
static void add_arrivals(const grout_deadlock *text, const grout_barrier_fact *barrier,
                         uint32_t phase, grout_text *out) {
    grout_element_at at =
        grout_checker__find_element(text->checker, barrier->cta, barrier->element);
    const grout_element_state *element = at.element;
    uint32_t count = 0;
    for (uint32_t i = 0; at.state && i < GROUT_ARRIVAL_NOTES && i < element->note_count; i++) {
        const grout_arrival_note *note =
            &element->notes[(element->note_count - 1 - i) % GROUT_ARRIVAL_NOTES];
        if (note->phase != phase || count == 4) {
            continue;
        }
        grout_text_add(out, "%s", count++ == 0 ? "; from " : " and ");
        grout_deadlock__add_thread(text, &note->origin, out);
        grout_text_add(out, " at line %" PRIu32, grout_deadlock__get_line(text, note->origin.op));
    }
    if (count == 0 && barrier->has_contribution) {
        grout_text_add(out, "; the last came from ");
        grout_deadlock__add_thread(text, &barrier->last_contribution, out);
        grout_text_add(out, " at line %" PRIu32,
                       grout_deadlock__get_line(text, barrier->last_contribution.op));
    }
}

/* The arrivals of a phase that has all; later ones may need fewer. */
static uint32_t count_arrivals(const grout_deadlock *text, const grout_barrier_fact *barrier,
                               uint32_t phase) {
    grout_element_at at =
        grout_checker__find_element(text->checker, barrier->cta, barrier->element);
    uint32_t index = at.state ? phase - at.element->facts.first : UINT32_MAX;
    return at.state && index < grout_element__count(at.element)
               ? grout_element__at(at.element, index)->arrived
               : barrier->arrivals;
}

static void add_phase_state(const grout_deadlock *text, const grout_barrier_fact *barrier,
                            uint32_t phase, grout_text *out) {
    uint32_t need = barrier->arrivals, had = phase == barrier->full ? barrier->arrived : 0;
    if (phase < barrier->full) {
        need = had = count_arrivals(text, barrier, phase);
    }
    if (need == 0) {
        grout_text_add(out, "which needs no arrival: all have left");
    } else {
        grout_text_add(out, "which has %" PRIu32 " of %" PRIu32 " arrival%s", had, need,
                       need == 1 ? "" : "s");
    }
    if (barrier->bytes_due > 0) {
        grout_text_add(out, " and %" PRId64 " bytes due", barrier->bytes_due);
    } else if (barrier->bytes_due < 0) {
        grout_text_add(out, " and %" PRId64 " bytes that nobody announced", -barrier->bytes_due);
    }
    if (had) {
        add_arrivals(text, barrier, phase, out);
    }
}

static void add_barrier_state(const grout_deadlock *text, const grout_thread_fact *thread,
                              grout_text *out) {
    const grout_barrier_fact *barrier = grout_deadlock__find_barrier(text, thread);
    if (!barrier) {
        grout_text_add(out, "waits on a barrier");
        return;
    }
    grout_text_add(out, "waits for phase %" PRIu32 " of %%%s[%" PRIu32 "], ", thread->phase,
                   grout_deadlock__get_name(text, barrier->object), barrier->index);
    add_phase_state(text, barrier, thread->phase, out);
}

/* The phase that the parity means by what the thread knows may be over, and the next too. */
static void add_parity_state(const grout_deadlock *text, const grout_thread_fact *thread,
                             grout_text *out) {
    const grout_barrier_fact *barrier = grout_deadlock__find_barrier(text, thread);
    grout_text_add(out, "waits for parity %" PRIu32, thread->phase & 1);
    if (!barrier) {
        return;
    }
    grout_text_add(out, " of %%%s[%" PRIu32 "]", grout_deadlock__get_name(text, barrier->object),
                   barrier->index);
    if (thread->meant == UINT32_MAX) {
        grout_text_add(out,
                       ", which it takes for fresh: phase %" PRIu32
                       " has completed since, so the parity has passed",
                       barrier->completed - 1);
    } else if (thread->meant < barrier->completed) {
        grout_text_add(out,
                       ", which means phase %" PRIu32 " by what it knows: that has completed, and "
                       "phase %" PRIu32 " before this wait came, so the parity has passed",
                       thread->meant, barrier->completed - 1);
    } else {
        grout_text_add(out, ", which means phase %" PRIu32 " by what it knows, ", thread->meant);
        add_phase_state(text, barrier, thread->meant, out);
    }
}

/* "asks for 232 registers a lane and has 168, and the CTA's pool has 0 of the 64 it lacks" */
static void add_register_state(const grout_deadlock *text, const grout_thread_fact *own,
                               grout_text *out) {
    grout_text_add(out,
                   "asks for %" PRIu32 " registers a lane and has %" PRIu32
                   ", and the CTA's pool has %" PRIu32 " of the %" PRIu32 " it lacks",
                   own->registers, own->registers_held, own->registers_free,
                   own->registers - own->registers_held);
    for (uint32_t t = 0; t < text->thread_count; t++) {
        const grout_thread_fact *other = &text->threads[t];
        if (other != own && other->origin.cta == own->origin.cta && other->origin.warp == 0) {
            grout_text_add(out, "; ");
            grout_deadlock__add_thread(text, &other->origin, out);
            grout_text_add(out, " holds %" PRIu32, other->registers_held);
        }
    }
}

static void add_semaphore_state(const grout_deadlock *text, const grout_thread_fact *thread,
                                grout_text *out) {
    const grout_semaphore_fact *semaphore = grout_deadlock__find_semaphore(text, thread);
    if (!semaphore) {
        grout_text_add(out, "waits for %" PRIu32 " units of a semaphore", thread->phase);
        return;
    }
    grout_text_add(out, "waits for %" PRIu32 " unit%s of %%%s[%" PRIu32 "], which has %" PRIu32,
                   thread->phase, thread->phase == 1 ? "" : "s",
                   grout_deadlock__get_name(text, semaphore->object), semaphore->index,
                   semaphore->units);
    if (semaphore->signal_count == 0) {
        grout_text_add(out, "; nobody has signalled it");
        return;
    }
    grout_text_add(out, "; it was signalled %" PRIu32 " time%s", semaphore->signal_count,
                   semaphore->signal_count == 1 ? "" : "s");
    if (semaphore->has_signal) {
        grout_text_add(out, ", last from ");
        grout_deadlock__add_thread(text, &semaphore->last_signal, out);
        grout_text_add(out, " at line %" PRIu32,
                       grout_deadlock__get_line(text, semaphore->last_signal.op));
    }
}

/* In an op, in the rendezvous that follows inits, or where the cluster meets to end. */
static void add_cluster_state(const grout_deadlock *text, const grout_thread_fact *thread,
                              grout_text *out) {
    if (grout_deadlock__is_at_end(text, thread)) {
        grout_text_add(out, "has come to its end, its last operation this, and waits for every "
                            "thread of the cluster to come to theirs");
    } else {
        grout_text_add(out, "waits for every thread of the cluster to arrive");
    }
}

static void add_spin_state(const grout_deadlock *text, const grout_thread_fact *thread,
                           grout_text *out) {
    const grout_op *op = grout_module_get_op(text->module, thread->origin.op);
    grout_need need = grout_deadlock__get_need(text, thread);
    const char *name = need.object ? grout_deadlock__get_name(text, need.object) : "";
    if (!need.object) {
        grout_text_add(out, "goes round this loop for ever: each turn ends as the one before");
        return;
    }
    grout_text_add(out, "goes round for ever: this %s finds ",
                   grout_op_get_info((grout_opcode)op->opcode)->text);
    if (thread->has_value) {
        grout_text_add(out, "%" PRId64 " in %%%s each time", thread->value, name);
    } else {
        grout_text_add(out, "%%%s as it was each time", name);
    }
}

void grout_deadlock__add_state(const grout_deadlock *text, const grout_thread_fact *thread,
                               grout_text *out) {
    grout_describe_actor(text->module, text->checker->info.kernel, &thread->origin, out);
    grout_text_add(out, " ");
    switch ((grout_thread_state)thread->state) {
    case GROUT_THREAD_BLOCKED_BARRIER:
        add_barrier_state(text, thread, out);
        break;
    case GROUT_THREAD_BLOCKED_PARITY:
        add_parity_state(text, thread, out);
        break;
    case GROUT_THREAD_BLOCKED_SCOPE:
        grout_text_add(out, "waits at the entry of this collective scope for the others");
        break;
    case GROUT_THREAD_BLOCKED_BLOCK:
        grout_text_add(out, "waits in block_barrier for the other threads of the CTA");
        break;
    case GROUT_THREAD_BLOCKED_NAMED:
        grout_text_add(out,
                       "waits on named barrier %" PRIu32 " for generation %" PRIu32 " to be full",
                       thread->element, thread->phase);
        break;
    case GROUT_THREAD_BLOCKED_CLUSTER:
        add_cluster_state(text, thread, out);
        break;
    case GROUT_THREAD_BLOCKED_SEMAPHORE:
        add_semaphore_state(text, thread, out);
        break;
    case GROUT_THREAD_BLOCKED_REGISTERS:
        add_register_state(text, thread, out);
        break;
    case GROUT_THREAD_BLOCKED_SPIN:
        add_spin_state(text, thread, out);
        break;
    case GROUT_THREAD_BLOCKED_JOIN:
        grout_text_add(out, "waits for its warps or partitions to end");
        break;
    case GROUT_THREAD_BLOCKED_INIT:
    case GROUT_THREAD_RUNNABLE:
    case GROUT_THREAD_IDLE:
    case GROUT_THREAD_WAITING:
    case GROUT_THREAD_EXITED:
        break;
    }
}

/* ---- the headline ---- */

void grout_deadlock__add_headline(const grout_deadlock *text, const grout_thread_fact *root,
                                  grout_text *out) {
    const grout_barrier_fact *barrier = NULL;
    const grout_semaphore_fact *semaphore = NULL;
    grout_text_add(out, "no thread can run: ");
    if (root->state == GROUT_THREAD_BLOCKED_BARRIER) {
        barrier = grout_deadlock__find_barrier(text, root);
    } else if (root->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
        semaphore = grout_deadlock__find_semaphore(text, root);
    }
    if (barrier) {
        grout_text_add(out, "phase %" PRIu32 " of %%%s[%" PRIu32 "] never completes", root->phase,
                       grout_deadlock__get_name(text, barrier->object), barrier->index);
    } else if (semaphore) {
        grout_text_add(out, "%%%s[%" PRIu32 "] never has the %" PRIu32 " unit%s of this wait",
                       grout_deadlock__get_name(text, semaphore->object), semaphore->index,
                       root->phase, root->phase == 1 ? "" : "s");
    } else if (root->state == GROUT_THREAD_BLOCKED_REGISTERS) {
        grout_text_add(out, "the registers that this set_max_registers waits for are never given "
                            "back");
    } else if (root->state == GROUT_THREAD_BLOCKED_PARITY) {
        barrier = grout_deadlock__find_barrier(text, root);
        grout_text_add(out, "%%%s[%" PRIu32 "] never has the parity of this wait",
                       barrier ? grout_deadlock__get_name(text, barrier->object) : "",
                       barrier ? barrier->index : 0);
    } else if (root->state == GROUT_THREAD_BLOCKED_SPIN) {
        grout_object_id object = grout_deadlock__get_need(text, root).object;
        grout_text_add(out,
                       object ? "%%%s never becomes what this loop looks for"
                              : "this loop never ends: %snothing that it goes by changes",
                       object ? grout_deadlock__get_name(text, object) : "");
    } else if (root->state == GROUT_THREAD_BLOCKED_NAMED) {
        grout_text_add(out, "generation %" PRIu32 " of named barrier %" PRIu32 " is never full",
                       root->phase, root->element);
    } else if (root->state == GROUT_THREAD_BLOCKED_CLUSTER) {
        grout_text_add(out, grout_deadlock__is_at_end(text, root)
                                ? "not every thread of the cluster comes to its end"
                                : "not every thread of the cluster arrives");
    } else if (root->state == GROUT_THREAD_BLOCKED_BLOCK) {
        grout_text_add(out, "not every thread of the CTA comes to this block_barrier");
    } else if (root->state == GROUT_THREAD_BLOCKED_JOIN) {
        grout_text_add(out, "its warps or partitions never end");
    } else {
        grout_text_add(out, "not every thread of the CTA enters this scope");
    }
}
