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

const char *grout_deadlock__keep(const grout_deadlock *text, grout_text *words) {
    return grout_strings__keep(text->names, text->checker->allocator, words);
}

const char *grout_deadlock__name_thread(const grout_deadlock *text, const grout_origin *origin) {
    grout_text words = {.allocator = text->checker->allocator};
    grout_deadlock__add_thread(text, origin, &words);
    return grout_deadlock__keep(text, &words);
}

const char *grout_deadlock__name_object(const grout_deadlock *text, grout_object_id object) {
    grout_text words = {.allocator = text->checker->allocator};
    const grout_object *it = grout_module_get_object(text->module, object);
    grout_name_print(text->module, grout_module_get_value(text->module, it->value)->name, &words);
    return grout_deadlock__keep(text, &words);
}

const char *grout_deadlock__name_element(const grout_deadlock *text, grout_object_id object,
                                         uint32_t index) {
    grout_text words = {.allocator = text->checker->allocator};
    grout_element__print(text->module, object, index, &words);
    return grout_deadlock__keep(text, &words);
}

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
        grout_sentence__add(
            out, count++ == 0 ? GROUT_SENTENCE_STUCK_ARRIVAL : GROUT_SENTENCE_STUCK_NEXT_ARRIVAL,
            &(grout_words){.actor = grout_deadlock__name_thread(text, &note->origin),
                           .line = grout_deadlock__get_line(text, note->origin.op)});
    }
    if (count == 0 && barrier->has_contribution) {
        const grout_origin *last = &barrier->last_contribution;
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_LAST_ARRIVAL,
                            &(grout_words){.actor = grout_deadlock__name_thread(text, last),
                                           .line = grout_deadlock__get_line(text, last->op)});
    }
}

bool grout_deadlock__has_arrived(const grout_deadlock *text, const grout_barrier_fact *barrier,
                                 const grout_origin *actor, grout_op_id op) {
    const grout_element_at at =
        grout_checker__find_element(text->checker, barrier->cta, barrier->element);
    bool has_any = false;
    for (uint32_t i = 0; at.state && i < GROUT_ARRIVAL_NOTES && i < at.element->note_count; i++) {
        const grout_arrival_note *note = &at.element->notes[i];
        has_any |= note->phase == barrier->full && note->origin.op == op &&
                   grout_origin__is_same_actor(&note->origin, actor);
    }
    return has_any;
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

/* Whether a barrier has had an arrival in the phase. */
static bool has_arrival(const grout_barrier_fact *barrier, uint32_t phase) {
    return barrier->full > phase || (barrier->full == phase && barrier->arrived > 0);
}

/* The barriers of the same array that have had an arrival in the phase: "%empty[1] and %empty[2]".
 * NULL: none. */
static const char *name_siblings(const grout_deadlock *text, const grout_barrier_fact *barrier,
                                 uint32_t phase) {
    enum { NAMED_MAX = 4 };
    const grout_barrier_fact *siblings[NAMED_MAX];
    grout_text words = {.allocator = text->checker->allocator};
    uint32_t count = 0;
    for (uint32_t i = 0; i < text->event->u.deadlock.barrier_count && count < NAMED_MAX; i++) {
        const grout_barrier_fact *other = &text->event->u.deadlock.barriers[i];
        if (other->object == barrier->object && other->cta == barrier->cta &&
            has_arrival(other, phase)) {
            siblings[count++] = other;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool is_last = i + 1 == count;
        const char *between = is_last ? grout_phrase__get(GROUT_PHRASE_AND) : ", ";
        grout_text_add(&words, "%s", i > 0 ? between : "");
        grout_element__print(text->module, siblings[i]->object, siblings[i]->index, &words);
    }
    return count > 0 ? grout_deadlock__keep(text, &words) : NULL;
}

bool grout_deadlock__has_later_sibling(const grout_deadlock *text,
                                       const grout_thread_fact *thread) {
    const grout_barrier_fact *own = grout_deadlock__find_barrier(text, thread);
    const uint32_t phase =
        thread->state == GROUT_THREAD_BLOCKED_PARITY ? thread->meant : thread->phase;
    bool has_any = false;
    if (own == NULL || own->full != phase || own->arrived > 0) {
        return false;
    }
    for (uint32_t i = 0; i < text->event->u.deadlock.barrier_count; i++) {
        const grout_barrier_fact *other = &text->event->u.deadlock.barriers[i];
        has_any |= other->object == own->object && other->cta == own->cta &&
                   other->index > own->index && has_arrival(other, phase);
    }
    return has_any;
}

/* "which has 0 of 1 arrival and 512 bytes due" */
static const char *name_phase_state(const grout_deadlock *text, const grout_barrier_fact *barrier,
                                    uint32_t phase) {
    uint32_t need = barrier->arrivals, had = phase == barrier->full ? barrier->arrived : 0;
    int64_t due = barrier->bytes_due;
    grout_text words = {.allocator = text->checker->allocator};
    if (phase < barrier->full) {
        need = had = count_arrivals(text, barrier, phase);
    }
    if (need == 0) {
        grout_sentence__add(&words, GROUT_SENTENCE_STUCK_ALL_LEFT, NULL);
    } else {
        grout_sentence__add(
            &words, GROUT_SENTENCE_STUCK_ARRIVALS,
            &(grout_words){.have = had, .need = need, .s = grout_phrase__get_plural(need)});
    }
    if (due > 0) {
        grout_sentence__add(&words, GROUT_SENTENCE_STUCK_BYTES_DUE, &(grout_words){.bytes = due});
    } else if (due < 0) {
        grout_sentence__add(&words, GROUT_SENTENCE_STUCK_BYTES_UNANNOUNCED,
                            &(grout_words){.bytes = -due});
    }
    const char *siblings = had == 0 ? name_siblings(text, barrier, phase) : NULL;
    if (had) {
        add_arrivals(text, barrier, phase, &words);
    } else if (siblings != NULL) {
        grout_sentence__add(&words, GROUT_SENTENCE_STUCK_SIBLINGS,
                            &(grout_words){.what = siblings});
    }
    return grout_deadlock__keep(text, &words);
}

static void add_barrier_state(const grout_deadlock *text, const grout_thread_fact *thread,
                              const char *actor, grout_text *out) {
    const grout_barrier_fact *barrier = grout_deadlock__find_barrier(text, thread);
    if (!barrier) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_BARRIER, &(grout_words){.actor = actor});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_PHASE,
                        &(grout_words){.actor = actor,
                                       .phase = thread->phase,
                                       .element = grout_deadlock__name_element(
                                           text, barrier->object, barrier->index),
                                       .what = name_phase_state(text, barrier, thread->phase)});
}

bool grout_deadlock__is_fresh(const grout_thread_fact *thread, const grout_barrier_fact *barrier) {
    return (thread->phase & 1) == 0 && thread->meant == 0 && barrier->completed == 0;
}

/* The phase that the parity means by what the thread knows may be over, and the next too. */
static void add_parity_state(const grout_deadlock *text, const grout_thread_fact *thread,
                             const char *actor, grout_text *out) {
    const grout_barrier_fact *barrier = grout_deadlock__find_barrier(text, thread);
    uint32_t parity = thread->phase & 1;
    if (!barrier) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_PARITY,
                            &(grout_words){.actor = actor, .parity = parity});
        return;
    }
    const grout_words words = {
        .actor = actor,
        .parity = parity,
        .element = grout_deadlock__name_element(text, barrier->object, barrier->index),
        .phase = thread->meant,
        .later = barrier->completed - 1};
    if (thread->meant == UINT32_MAX) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_PARITY_FRESH, &words);
    } else if (thread->meant < barrier->completed) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_PARITY_PASSED, &words);
    } else if (grout_deadlock__is_fresh(thread, barrier)) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_PARITY_OF_FRESH,
                            &(grout_words){.actor = actor,
                                           .element = words.element,
                                           .what = name_phase_state(text, barrier, thread->meant)});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_PARITY_PHASE,
                            &(grout_words){.actor = actor,
                                           .parity = parity,
                                           .element = words.element,
                                           .phase = thread->meant,
                                           .what = name_phase_state(text, barrier, thread->meant)});
    }
}

/* "asks for 232 registers a lane and has 168, and the CTA's pool has 0 of the 64 it lacks" */
static void add_register_state(const grout_deadlock *text, const grout_thread_fact *own,
                               const char *actor, grout_text *out) {
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_REGISTERS,
                        &(grout_words){.actor = actor,
                                       .number = own->registers,
                                       .have = own->registers_held,
                                       .limit = own->registers_free,
                                       .need = (uint32_t)(own->registers - own->registers_held)});
    for (uint32_t t = 0; t < text->thread_count; t++) {
        const grout_thread_fact *other = &text->threads[t];
        if (other != own && other->origin.cta == own->origin.cta && other->origin.warp == 0) {
            grout_sentence__add(
                out, GROUT_SENTENCE_STUCK_REGISTERS_HELD,
                &(grout_words){.actor = grout_deadlock__name_thread(text, &other->origin),
                               .have = other->registers_held});
        }
    }
}

static void add_semaphore_state(const grout_deadlock *text, const grout_thread_fact *thread,
                                const char *actor, grout_text *out) {
    const grout_semaphore_fact *semaphore = grout_deadlock__find_semaphore(text, thread);
    if (!semaphore) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_SEMAPHORE,
                            &(grout_words){.actor = actor, .need = thread->phase});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_UNITS,
                        &(grout_words){.actor = actor,
                                       .need = thread->phase,
                                       .s = grout_phrase__get_plural(thread->phase),
                                       .element = grout_deadlock__name_element(
                                           text, semaphore->object, semaphore->index),
                                       .have = semaphore->units});
    if (semaphore->signal_count == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_NO_SIGNAL, NULL);
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_SIGNALS,
                        &(grout_words){.number = semaphore->signal_count,
                                       .s = grout_phrase__get_plural(semaphore->signal_count)});
    if (semaphore->has_signal) {
        const grout_origin *last = &semaphore->last_signal;
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_LAST_SIGNAL,
                            &(grout_words){.actor = grout_deadlock__name_thread(text, last),
                                           .line = grout_deadlock__get_line(text, last->op)});
    }
}

static void add_spin_state(const grout_deadlock *text, const grout_thread_fact *thread,
                           const char *actor, grout_text *out) {
    const grout_op *op = grout_module_get_op(text->module, thread->origin.op);
    grout_need need = grout_deadlock__get_need(text, thread);
    if (!need.object) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_LOOP, &(grout_words){.actor = actor});
        return;
    }
    const grout_words words = {.actor = actor,
                               .op = grout_op_get_info((grout_opcode)op->opcode)->text,
                               .number = thread->has_value ? thread->value : 0,
                               .object = grout_deadlock__name_object(text, need.object)};
    if (thread->has_value) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_SPIN_VALUE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_SPIN, &words);
    }
}

/* Threads that wait for other threads, not for a barrier, semaphore or register. */
static void add_meeting_state(const grout_deadlock *text, const grout_thread_fact *thread,
                              const char *actor, grout_text *out) {
    const grout_words words = {.actor = actor};
    if (thread->state == GROUT_THREAD_BLOCKED_SCOPE) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_SCOPE, &words);
    } else if (thread->state == GROUT_THREAD_BLOCKED_BLOCK) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_BLOCK, &words);
    } else if (thread->state == GROUT_THREAD_BLOCKED_JOIN) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_JOIN, &words);
    } else if (grout_deadlock__is_at_end(text, thread)) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_CLUSTER_END, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_CLUSTER, &words);
    }
}

void grout_deadlock__add_state(const grout_deadlock *text, const grout_thread_fact *thread,
                               grout_text *out) {
    grout_text words = {.allocator = text->checker->allocator};
    grout_describe_actor(text->module, text->checker->info.kernel, &thread->origin, &words);
    const char *actor = grout_deadlock__keep(text, &words);
    switch ((grout_thread_state)thread->state) {
    case GROUT_THREAD_BLOCKED_BARRIER:
        add_barrier_state(text, thread, actor, out);
        break;
    case GROUT_THREAD_BLOCKED_PARITY:
        add_parity_state(text, thread, actor, out);
        break;
    case GROUT_THREAD_BLOCKED_NAMED:
        grout_sentence__add(
            out, GROUT_SENTENCE_STUCK_NAMED,
            &(grout_words){.actor = actor, .number = thread->element, .phase = thread->phase});
        break;
    case GROUT_THREAD_BLOCKED_SEMAPHORE:
        add_semaphore_state(text, thread, actor, out);
        break;
    case GROUT_THREAD_BLOCKED_REGISTERS:
        add_register_state(text, thread, actor, out);
        break;
    case GROUT_THREAD_BLOCKED_SPIN:
        add_spin_state(text, thread, actor, out);
        break;
    case GROUT_THREAD_BLOCKED_SCOPE:
    case GROUT_THREAD_BLOCKED_BLOCK:
    case GROUT_THREAD_BLOCKED_CLUSTER:
    case GROUT_THREAD_BLOCKED_JOIN:
        add_meeting_state(text, thread, actor, out);
        break;
    case GROUT_THREAD_BLOCKED_INIT:
    case GROUT_THREAD_RUNNABLE:
    case GROUT_THREAD_IDLE:
    case GROUT_THREAD_WAITING:
    case GROUT_THREAD_EXITED:
        grout_text_add(out, "%s ", actor);
        break;
    }
}

/* ---- the headline ---- */

/* The root waits for a barrier or a semaphore that is an object of the kernel. */
static bool add_object_headline(const grout_deadlock *text, const grout_thread_fact *root,
                                grout_text *out) {
    const grout_barrier_fact *barrier = NULL;
    const grout_semaphore_fact *semaphore = NULL;
    if (root->state == GROUT_THREAD_BLOCKED_SEMAPHORE) {
        semaphore = grout_deadlock__find_semaphore(text, root);
    } else if (root->state == GROUT_THREAD_BLOCKED_BARRIER ||
               root->state == GROUT_THREAD_BLOCKED_PARITY) {
        barrier = grout_deadlock__find_barrier(text, root);
    }
    if (!barrier && !semaphore) {
        return false;
    }
    const grout_words words = {
        .phase = root->phase,
        .need = root->phase,
        .s = grout_phrase__get_plural(root->phase),
        .element = grout_deadlock__name_element(text, barrier ? barrier->object : semaphore->object,
                                                barrier ? barrier->index : semaphore->index)};
    if (semaphore) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_SEMAPHORE_HEAD, &words);
    } else if (root->state == GROUT_THREAD_BLOCKED_PARITY) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_PARITY_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_PHASE_HEAD, &words);
    }
    return true;
}

/* What never happens to a root that waits for no object. */
static grout_phrase_id find_headline(const grout_deadlock *text, const grout_thread_fact *root) {
    switch ((unsigned)root->state) {
    case GROUT_THREAD_BLOCKED_REGISTERS:
        return GROUT_PHRASE_STUCK_REGISTERS_HEAD;
    case GROUT_THREAD_BLOCKED_PARITY:
        return GROUT_PHRASE_STUCK_MBARRIER_HEAD;
    case GROUT_THREAD_BLOCKED_SPIN:
        return GROUT_PHRASE_STUCK_LOOP_HEAD;
    case GROUT_THREAD_BLOCKED_CLUSTER:
        return grout_deadlock__is_at_end(text, root) ? GROUT_PHRASE_STUCK_CLUSTER_END_HEAD
                                                     : GROUT_PHRASE_STUCK_CLUSTER_HEAD;
    case GROUT_THREAD_BLOCKED_BLOCK:
        return GROUT_PHRASE_STUCK_BLOCK_HEAD;
    case GROUT_THREAD_BLOCKED_JOIN:
        return GROUT_PHRASE_STUCK_JOIN_HEAD;
    default:
        return GROUT_PHRASE_STUCK_SCOPE_HEAD;
    }
}

void grout_deadlock__add_headline(const grout_deadlock *text, const grout_thread_fact *root,
                                  grout_text *out) {
    grout_object_id object = 0;
    if (add_object_headline(text, root, out)) {
        return;
    }
    if (root->state == GROUT_THREAD_BLOCKED_SPIN) {
        object = grout_deadlock__get_need(text, root).object;
    }
    if (object) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_SPIN_HEAD,
                            &(grout_words){.object = grout_deadlock__name_object(text, object)});
    } else if (root->state == GROUT_THREAD_BLOCKED_NAMED) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_NAMED_HEAD,
                            &(grout_words){.phase = root->phase, .number = root->element});
    } else {
        grout_text_add(out, "%s", grout_phrase__get(find_headline(text, root)));
    }
}
