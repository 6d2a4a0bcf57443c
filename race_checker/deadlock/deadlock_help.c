/*
 * deadlock_help.c - what would end a deadlock: one line of advice, about the wait that a reader
 * should look at first.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The advices are tried in turn, and the first that fits is given: those that know what the mistake
 * is come first, then those that say which of the two sides of a wait has to change.
 */
#include "deadlock.h"
#include "rings.h"

#include "grout-internal/verify.h"

#include <string.h>

/* ---- who would bring what is needed ---- */

/* The thread that comes to an op by itself, and the op; thread NULL: nobody does. */
typedef struct server {
    const grout_thread_fact *thread;
    grout_op_id op;
} server;

static server find_server(const grout_deadlock *text, const grout_need *need) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module); i++) {
        for (uint32_t t = 0; t < text->thread_count && grout_deadlock__is_bringer(text, need, i);
             t++) {
            if (grout_deadlock__serves(text, need, i, &text->threads[t])) {
                return (server){&text->threads[t], i};
            }
        }
    }
    return (server){NULL, 0};
}

/* The first op that could bring it; 0: none is written. */
grout_op_id grout_deadlock__find_bringer(const grout_deadlock *text, const grout_need *need) {
    const grout_op_id count = grout_module_get_op_count(text->module);
    grout_op_id i = 1;
    while (i < count && !grout_deadlock__is_bringer(text, need, i)) {
        i++;
    }
    return i < count ? i : 0;
}

/* How often the thread has run an op that has run it most often, of those in reach. */
static uint32_t count_runs(const grout_deadlock *text, const grout_need *need, grout_op_id op) {
    uint32_t most = 0;
    for (uint32_t t = 0; t < text->thread_count; t++) {
        const grout_thread_fact *other = &text->threads[t];
        const uint32_t runs = grout_deadlock__is_in_reach(text, need, op, other)
                                  ? grout_deadlock__count_runs(text, other, op)
                                  : 0;
        most = runs > most ? runs : most;
    }
    return most;
}

static const char *get_mnemonic(const grout_deadlock *text, grout_op_id op) {
    return grout_op_get_info((grout_opcode)grout_module_get_op(text->module, op)->opcode)->text;
}

static uint32_t get_line(const grout_deadlock *text, const grout_thread_fact *thread) {
    return grout_deadlock__get_line(text, thread->origin.op);
}

static const char *name_thread(const grout_deadlock *text, const grout_thread_fact *thread) {
    return grout_deadlock__name_thread(text, &thread->origin);
}

static const char *name_element(const grout_deadlock *text, const grout_need *need) {
    return grout_deadlock__name_element(text, need->object, need->index);
}

bool grout_need__is_on_barrier(const grout_need *need) {
    return need->object != 0 && (need->thread->state == GROUT_THREAD_BLOCKED_BARRIER ||
                                 need->thread->state == GROUT_THREAD_BLOCKED_PARITY);
}

/* The if around an op, inside of the loop around it; 0: there is none. */
static grout_op_id find_if(const grout_deadlock *text, grout_op_id op) {
    const grout_op_id loop = grout_op__get_loop(text->module, op);
    for (grout_op_id around = grout_op__get_parent(text->module, op); around != loop;
         around = grout_op__get_parent(text->module, around)) {
        const grout_opcode opcode = (grout_opcode)grout_module_get_op(text->module, around)->opcode;
        if (grout_op_get_region(opcode)->kind == GROUT_REGION_BRANCH) {
            return around;
        }
    }
    return 0;
}

/* ---- CTAs that have not begun ---- */

static bool add_room_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const bool is_of_launch = need->thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE ||
                              need->thread->state == GROUT_THREAD_BLOCKED_SPIN;
    if (!is_of_launch || text->event->u.deadlock.waiting_ctas <= 0 ||
        !text->checker->info.has_foreign_order) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_ROOM_HELP,
                        &(grout_words){.number = text->event->u.deadlock.resident_ctas});
    return true;
}

/* ---- parities ---- */

/* Whether the other thread would start a copy that brings what is needed. */
static bool fills(const grout_deadlock *text, const grout_need *need,
                  const grout_thread_fact *other) {
    bool has_any = false;
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module) && !has_any; i++) {
        const grout_sync_info *sync =
            grout_op_get_sync((grout_opcode)grout_module_get_op(text->module, i)->opcode);
        has_any = sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS &&
                  grout_deadlock__is_bringer(text, need, i) &&
                  grout_deadlock__serves(text, need, i, other);
    }
    return has_any;
}

/* Whether the thread has come past the wait before, at which it is blocked now. */
static bool has_passed(const grout_deadlock *text, const grout_thread_fact *thread) {
    return grout_deadlock__count_runs(text, thread, thread->origin.op) > 0;
}

/* A wait for parity 0 of a fresh mbarrier, by a thread that another one waits for: of the two the
 * one that fills a slot has to go first. */
static bool add_fresh_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const server other = find_server(text, need);
    if (other.thread == NULL) {
        return false;
    }
    const grout_need back = grout_deadlock__get_need(text, other.thread);
    const grout_barrier_fact *barrier = other.thread->state == GROUT_THREAD_BLOCKED_PARITY
                                            ? grout_deadlock__find_barrier(text, other.thread)
                                            : NULL;
    const bool is_of_other = barrier != NULL && grout_deadlock__is_fresh(other.thread, barrier) &&
                             fills(text, need, other.thread);
    const grout_need *first = is_of_other ? &back : need;
    if (has_passed(text, first->thread)) {
        return false; /* its parity does begin with 1 */
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_STUCK_FRESH_HELP,
        &(grout_words){.element = name_element(text, first),
                       .line = get_line(text, first->thread),
                       .more = grout_deadlock__name_parity(text, first->thread->origin.op, 1)});
    return true;
}

/* A wait for a parity that has passed, or that a fresh mbarrier does not have. */
static bool add_parity_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_thread_fact *root = need->thread;
    const grout_barrier_fact *barrier = root->state == GROUT_THREAD_BLOCKED_PARITY
                                            ? grout_deadlock__find_barrier(text, root)
                                            : NULL;
    if (barrier == NULL) {
        return false;
    }
    if (root->meant == UINT32_MAX) {
        grout_sentence__add(
            out, GROUT_SENTENCE_STUCK_NOT_FRESH_HELP,
            &(grout_words){.more = grout_deadlock__name_parity(text, root->origin.op, 0)});
        return true;
    }
    if (root->meant < barrier->completed) {
        grout_sentence__add(
            out, GROUT_SENTENCE_STUCK_PASSED_HELP,
            &(grout_words){.phase = root->meant, .element = name_element(text, need)});
        return true;
    }
    return grout_deadlock__is_fresh(root, barrier) && barrier->arrived == 0 &&
           add_fresh_help(text, need, out);
}

/* ---- arrivals that have gone elsewhere, or been left out ---- */

/* All that could bring it is in one loop, which by the numbers has fewer turns than that of the
 * wait. */
static bool add_short_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_op_id bringer =
        grout_need__is_on_barrier(need) ? grout_deadlock__find_bringer(text, need) : 0;
    const grout_op_id wait = need->thread->origin.op;
    const grout_op_id own = bringer != 0 ? grout_op__get_loop(text->module, wait) : 0;
    const grout_op_id other = bringer != 0 ? grout_op__get_loop(text->module, bringer) : 0;
    if (own == 0 || other == 0 || own == other || find_if(text, bringer) != 0) {
        return false;
    }
    const int64_t turns = grout_loop__count_turns(text->module, other);
    const int64_t wanted = grout_loop__count_turns(text->module, own);
    for (grout_op_id i = bringer; i < grout_module_get_op_count(text->module); i++) {
        if (grout_deadlock__is_bringer(text, need, i) &&
            grout_op__get_loop(text->module, i) != other) {
            return false;
        }
    }
    if (turns == 0 || turns >= wanted) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_SHORT_HELP,
                        &(grout_words){.op = get_mnemonic(text, bringer),
                                       .line = grout_deadlock__get_line(text, bringer),
                                       .other_op = get_mnemonic(text, other),
                                       .other_line = grout_deadlock__get_line(text, other),
                                       .have = turns,
                                       .limit = grout_deadlock__get_line(text, own),
                                       .need = wanted});
    return true;
}

/* A later barrier of the array has had arrivals of the phase: this one was left out. */
static bool add_slot_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_thread_fact *root = need->thread;
    const grout_op_id bringer =
        grout_need__is_on_barrier(need) ? grout_deadlock__find_bringer(text, need) : 0;
    if (bringer == 0 || !grout_deadlock__has_later_sibling(text, root)) {
        return false;
    }
    const server other = find_server(text, need);
    const grout_need back =
        grout_deadlock__get_need(text, other.thread != NULL ? other.thread : root);
    if (find_if(text, bringer) != 0 && grout_need__is_on_barrier(&back) &&
        grout_deadlock__add_last_help(text, need, &back, bringer, out)) {
        return true;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_STUCK_SLOT_HELP,
        &(grout_words){.op = get_mnemonic(text, bringer),
                       .line = grout_deadlock__get_line(text, bringer),
                       .element = name_element(text, need),
                       .what = find_if(text, bringer) != 0
                                   ? grout_phrase__get(GROUT_PHRASE_STUCK_INDEX_AND_IF)
                                   : grout_phrase__get(GROUT_PHRASE_STUCK_INDEX)});
    return true;
}

/* A turn of a loop has gone past an op that others wait for. */
static bool add_omission_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    (void)need;
    const grout_omission first = grout_deadlock__find_omission(text);
    if (first.thread == NULL) {
        return false;
    }
    const grout_op_id condition = find_if(text, first.op);
    if (condition == 0) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_TAKE_OUT_HELP,
                        &(grout_words){.actor = name_thread(text, first.thread),
                                       .op = get_mnemonic(text, first.op),
                                       .line = grout_deadlock__get_line(text, first.op),
                                       .other_op = get_mnemonic(text, condition),
                                       .other_line = grout_deadlock__get_line(text, condition)});
    return true;
}

/* ---- nothing that brings it ---- */

/* The element as an operation takes it: "%full[1]", "full.at[1]" in Python. */
static const char *name_operand(const grout_deadlock *text, const grout_need *need) {
    grout_text words = {.allocator = text->checker->allocator};
    const char *all = name_element(text, need);
    const char *index =
        grout_module_get_surface(text->module) == GROUT_SURFACE_PALLAS ? strchr(all, '[') : NULL;
    if (index == NULL) {
        return all;
    }
    grout_text_add(&words, "%.*s.at%s", (int)(index - all), all, index);
    return grout_deadlock__keep(text, &words);
}

static const char *spell_arrival(const grout_deadlock *text, const grout_need *need) {
    grout_text words = {.allocator = text->checker->allocator};
    const grout_words element = {.element = name_operand(text, need)};
    const grout_surface surface = grout_module_get_surface(text->module);
    if (grout_module_get_object(text->module, need->object)->is_explicit) {
        grout_spelling__add(&words, surface, GROUT_SPELLING_MBARRIER_ARRIVE, &element);
    } else {
        grout_spelling__add(&words, surface, GROUT_SPELLING_BARRIER_ARRIVE, &element);
    }
    return grout_deadlock__keep(text, &words);
}

static const char *spell_signal(const grout_deadlock *text, const grout_need *need) {
    grout_text words = {.allocator = text->checker->allocator};
    grout_spelling__add(
        &words, grout_module_get_surface(text->module), GROUT_SPELLING_SEMAPHORE_SIGNAL,
        &(grout_words){.element = name_operand(text, need), .need = need->thread->phase});
    return grout_deadlock__keep(text, &words);
}

static bool add_nothing_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    if (need->object == 0 || grout_deadlock__find_bringer(text, need) != 0) {
        return false;
    }
    const uint32_t line = get_line(text, need->thread);
    const grout_words words = {.line = line,
                               .object = grout_deadlock__name_object(text, need->object)};
    if (need->thread->state == GROUT_THREAD_BLOCKED_SPIN) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_CHANGE_HELP, &words);
    } else if (grout_need__is_on_barrier(need) && grout_deadlock__is_led(text, need)) {
        grout_text_add(out, "%s", grout_phrase__get(GROUT_PHRASE_STUCK_LED_HELP));
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_ADD_HELP,
                            &(grout_words){.op = grout_need__is_on_barrier(need)
                                                     ? spell_arrival(text, need)
                                                     : spell_signal(text, need),
                                           .line = line});
    }
    return true;
}

/* ---- fewer than are counted ---- */

/* The op by which the thread would bring it, of those that it comes to from here the first; 0:
 * none. */
static grout_op_id find_next(const grout_deadlock *text, const grout_need *need,
                             const grout_thread_fact *thread) {
    const grout_op_id count = grout_module_get_op_count(text->module);
    grout_op_id i = 1;
    while (i < count &&
           !(grout_deadlock__is_bringer(text, need, i) &&
             grout_deadlock__serves(text, need, i, thread) &&
             grout_op__find_reach(text->module, thread->origin.op, i).kind == GROUT_REACH_AHEAD)) {
        i++;
    }
    return i < count ? i : 0;
}

/* Whether somebody has not made the arrival of this turn yet. A thread that has come to the op for
 * this phase already comes to it again in another turn. */
static bool is_still_expected(const grout_deadlock *text, const grout_need *need,
                              const grout_barrier_fact *barrier) {
    bool is_expected = false;
    for (uint32_t t = 0; t < text->thread_count && !is_expected; t++) {
        const grout_op_id next = find_next(text, need, &text->threads[t]);
        is_expected = next != 0 &&
                      !grout_deadlock__has_arrived(text, barrier, &text->threads[t].origin, next);
    }
    return is_expected;
}

/* A phase has some of its arrivals, and those that bring them have all come. */
static bool add_count_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_barrier_fact *barrier =
        grout_need__is_on_barrier(need) ? grout_deadlock__find_barrier(text, need->thread) : NULL;
    if (barrier == NULL || barrier->arrived == 0 || barrier->arrived >= barrier->arrivals ||
        is_still_expected(text, need, barrier)) {
        return false;
    }
    grout_text what = {.allocator = text->checker->allocator};
    const grout_op_id init = grout_object__find_init(text->module, need->object);
    if (init == 0) {
        grout_spelling__add(&what, grout_module_get_surface(text->module), GROUT_SPELLING_ARRIVALS,
                            &(grout_words){.number = barrier->arrived});
    } else {
        grout_text_add(&what, "'%s ", get_mnemonic(text, init));
        grout_operand_print(text->module, init, 0, &what);
        grout_text_add(&what, ", %u'", barrier->arrived);
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_STUCK_COUNT_HELP,
        &(grout_words){.have = barrier->arrived,
                       .s = grout_phrase__get_plural(barrier->arrived),
                       .need = barrier->arrivals,
                       .what = grout_deadlock__keep(text, &what),
                       .line = grout_object__get_count_line(text->module, need->object),
                       .element = name_element(text, need)});
    return true;
}

/* A phase that lacks bytes alone, or an mbarrier that all have left. */
static bool add_bytes_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_barrier_fact *barrier =
        grout_need__is_on_barrier(need) ? grout_deadlock__find_barrier(text, need->thread) : NULL;
    if (barrier == NULL) {
        return false;
    }
    const uint32_t phase = need->thread->state == GROUT_THREAD_BLOCKED_PARITY ? need->thread->meant
                                                                              : need->thread->phase;
    if (barrier->is_live && barrier->arrivals == 0) {
        grout_text_add(out, "%s", grout_phrase__get(GROUT_PHRASE_STUCK_ALL_LEFT_HELP));
        return true;
    }
    const grout_op_id bringer = grout_deadlock__find_bringer(text, need);
    if (phase >= barrier->full || barrier->bytes_due == 0 || bringer == 0) {
        return false;
    }
    if (grout_module_get_object(text->module, need->object)->is_explicit) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_BYTES_HELP,
                            &(grout_words){.element = name_element(text, need), .phase = phase});
    } else if (find_server(text, need).thread == NULL) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_COPIES_HELP,
                            &(grout_words){.op = get_mnemonic(text, bringer),
                                           .line = grout_deadlock__get_line(text, bringer)});
    }
    return out->size > 0;
}

/* ---- circles ---- */

/* Whether the wait is for the first phase, and neither side of a ring has begun. */
static bool is_first_turn(const grout_deadlock *text, const grout_need *need, const server *other,
                          const server *own) {
    const grout_sync_info *sync =
        own->op == 0
            ? NULL
            : grout_op_get_sync((grout_opcode)grout_module_get_op(text->module, own->op)->opcode);
    return grout_need__is_on_barrier(need) && need->thread->phase == 0 && sync != NULL &&
           sync->mode == GROUT_SYNC_MODE_STARTS &&
           (need->thread->state != GROUT_THREAD_BLOCKED_PARITY ||
            !has_passed(text, need->thread)) &&
           grout_deadlock__count_runs(text, other->thread, other->op) == 0;
}

static void add_two_help(const grout_deadlock *text, const grout_need *need, const server *other,
                         grout_op_id own, grout_text *out) {
    grout_text last = {.allocator = text->checker->allocator};
    grout_sentence__add(&last, GROUT_SENTENCE_STUCK_GOES_FIRST,
                        &(grout_words){.actor = name_thread(text, need->thread),
                                       .op = get_mnemonic(text, own),
                                       .line = grout_deadlock__get_line(text, own),
                                       .other_line = get_line(text, need->thread)});
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_CIRCLE_HELP,
                        &(grout_words){.actor = name_thread(text, other->thread),
                                       .op = get_mnemonic(text, other->op),
                                       .line = grout_deadlock__get_line(text, other->op),
                                       .other_line = get_line(text, other->thread),
                                       .more = grout_deadlock__keep(text, &last)});
}

static uint32_t get_phase(const grout_need *need) {
    return need->thread->state == GROUT_THREAD_BLOCKED_PARITY ? need->thread->meant
                                                              : need->thread->phase;
}

/* One side of a slot has seen more phases than it has given back. */
static bool add_lag_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const server other = find_server(text, need);
    if (other.thread == NULL || !grout_need__is_on_barrier(need)) {
        return false;
    }
    const grout_need back = grout_deadlock__get_need(text, other.thread);
    const server own = find_server(text, &back);
    if (!grout_need__is_on_barrier(&back) || back.index != need->index ||
        back.object == need->object || own.thread == NULL || get_phase(need) == get_phase(&back)) {
        return false;
    }
    const bool is_own = get_phase(need) > get_phase(&back);
    const grout_need *seen = is_own ? need : &back, *given = is_own ? &back : need;
    const grout_op_id op = is_own ? own.op : other.op, condition = find_if(text, op);
    if (condition != 0 && grout_deadlock__add_last_help(text, given, seen, op, out)) {
        return true;
    }
    grout_text more = {.allocator = text->checker->allocator};
    if (condition != 0) {
        grout_sentence__add(&more, GROUT_SENTENCE_STUCK_LAG_IF,
                            &(grout_words){.op = get_mnemonic(text, condition),
                                           .line = grout_deadlock__get_line(text, condition)});
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_STUCK_LAG_HELP,
        &(grout_words){.actor = name_thread(text, seen->thread),
                       .need = get_phase(seen),
                       .s = grout_phrase__get_plural(get_phase(seen)),
                       .other_element = name_element(text, seen),
                       .have = get_phase(given),
                       .element = name_element(text, given),
                       .op = get_mnemonic(text, op),
                       .line = grout_deadlock__get_line(text, op),
                       .more = condition != 0 ? grout_deadlock__keep(text, &more) : ""});
    return true;
}

/* Both sides wait for the first phase of their slot, and one of the waits is in an if, which is to
 * leave out the turns that nothing comes before. */
static bool add_guard_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const server other = find_server(text, need);
    if (other.thread == NULL || !grout_need__is_on_barrier(need) || get_phase(need) != 0) {
        return false;
    }
    const grout_need back = grout_deadlock__get_need(text, other.thread);
    if (!grout_need__is_on_barrier(&back) || get_phase(&back) != 0 || back.object == need->object ||
        find_server(text, &back).thread != need->thread) {
        return false;
    }
    const grout_op_id own = find_if(text, need->thread->origin.op);
    const grout_op_id condition = own != 0 ? own : find_if(text, back.thread->origin.op);
    const grout_need *guarded = own != 0 ? need : &back;
    if (condition == 0 || (own != 0 && find_if(text, back.thread->origin.op) != 0) ||
        grout_op__get_loop(text->module, condition) == 0) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_GUARD_HELP,
                        &(grout_words){.op = get_mnemonic(text, condition),
                                       .line = grout_deadlock__get_line(text, condition),
                                       .other_line = get_line(text, guarded->thread),
                                       .element = name_element(text, guarded)});
    return true;
}

/* Somebody would bring it, and waits for something itself. */
static bool add_circle_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const server other = find_server(text, need);
    if (other.thread == NULL) {
        return false;
    }
    if (need->thread->state == GROUT_THREAD_BLOCKED_SPIN) {
        grout_text_add(out, "%s", grout_phrase__get(GROUT_PHRASE_STUCK_LOCKS_HELP));
        return true;
    }
    const grout_need back = grout_deadlock__get_need(text, other.thread);
    server own = find_server(text, &back);
    own.op = own.thread == need->thread ? own.op : 0;
    if (is_first_turn(text, need, &other, &own)) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_FIRST_TURN_HELP,
                            &(grout_words){.line = get_line(text, need->thread),
                                           .element = name_element(text, need),
                                           .actor = name_thread(text, need->thread)});
    } else if (own.op != 0) {
        add_two_help(text, need, &other, own.op, out);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_CIRCLE_HELP,
                            &(grout_words){.actor = name_thread(text, other.thread),
                                           .op = get_mnemonic(text, other.op),
                                           .line = grout_deadlock__get_line(text, other.op),
                                           .other_line = get_line(text, other.thread),
                                           .more = ""});
    }
    return true;
}

/* ---- sides that do not fit ---- */

static bool add_loops_help(const grout_deadlock *text, const grout_need *need, grout_op_id bringer,
                           grout_text *out) {
    grout_op_id own = need->thread->origin.op, other = bringer;
    grout_deadlock__find_loops(text, &own, &other);
    if (own == 0 || other == 0 || own == other) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_LOOPS_HELP,
                        &(grout_words){.op = get_mnemonic(text, other),
                                       .line = grout_deadlock__get_line(text, other),
                                       .other_op = get_mnemonic(text, own),
                                       .other_line = grout_deadlock__get_line(text, own)});
    return true;
}

/* An op that could bring it has run, and does not run again; or never. */
static bool add_turns_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_op_id bringer = need->object != 0 ? grout_deadlock__find_bringer(text, need) : 0;
    if (bringer == 0) {
        return false;
    }
    const uint32_t runs = count_runs(text, need, bringer);
    if (add_loops_help(text, need, bringer, out)) {
        return true;
    }
    const char *op = get_mnemonic(text, bringer);
    const uint32_t line = grout_deadlock__get_line(text, bringer);
    const uint32_t other_line = get_line(text, need->thread);
    if (runs > 0) {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_RUNS_HELP,
                            &(grout_words){.op = op,
                                           .line = line,
                                           .number = runs,
                                           .s = grout_phrase__get_plural(runs),
                                           .other_line = other_line});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_NEVER_HELP,
                            &(grout_words){.op = op, .line = line, .other_line = other_line});
    }
    return true;
}

static bool add_units_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_semaphore_fact *semaphore = need->thread->state == GROUT_THREAD_BLOCKED_SEMAPHORE
                                                ? grout_deadlock__find_semaphore(text, need->thread)
                                                : NULL;
    const grout_op_id bringer =
        semaphore != NULL && semaphore->units > 0 ? grout_deadlock__find_bringer(text, need) : 0;
    if (bringer == 0) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_UNITS_HELP,
                        &(grout_words){.op = get_mnemonic(text, bringer),
                                       .line = grout_deadlock__get_line(text, bringer),
                                       .need = need->thread->phase,
                                       .s = grout_phrase__get_plural(need->thread->phase),
                                       .element = name_element(text, need),
                                       .other_line = get_line(text, need->thread),
                                       .have = semaphore->units});
    return true;
}

/* ---- meetings ---- */

static bool add_meeting_help(const grout_deadlock *text, const grout_need *need, grout_text *out) {
    const grout_thread_fact *root = need->thread;
    const grout_words words = {.op = get_mnemonic(text, root->origin.op),
                               .line = get_line(text, root),
                               .number = root->element};
    switch ((unsigned)root->state) {
    case GROUT_THREAD_BLOCKED_NAMED:
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_NAMED_HELP, &words);
        return true;
    case GROUT_THREAD_BLOCKED_BLOCK:
    case GROUT_THREAD_BLOCKED_SCOPE:
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_MEETING_HELP, &words);
        return true;
    case GROUT_THREAD_BLOCKED_CLUSTER:
        grout_sentence__add(out,
                            grout_deadlock__is_at_end(text, root)
                                ? GROUT_SENTENCE_STUCK_END_HELP
                                : GROUT_SENTENCE_STUCK_CLUSTER_HELP,
                            &words);
        return true;
    case GROUT_THREAD_BLOCKED_REGISTERS:
        grout_sentence__add(
            out, GROUT_SENTENCE_STUCK_REGISTERS_HELP,
            &(grout_words){.line = get_line(text, root),
                           .limit = (int64_t)root->registers_held + root->registers_free});
        return true;
    case GROUT_THREAD_BLOCKED_JOIN:
        grout_text_add(out, "%s", grout_phrase__get(GROUT_PHRASE_STUCK_JOIN_HELP));
        return true;
    default:
        grout_sentence__add(out, GROUT_SENTENCE_STUCK_LOOP_HELP, &words);
        return true;
    }
}

/* ---- the one ---- */

void grout_deadlock__explain_help(grout_deadlock *text, const grout_thread_fact *root) {
    static bool (*const helps[])(const grout_deadlock *, const grout_need *,
                                 grout_text *) = {add_room_help,
                                                  grout_deadlock__add_lead_help,
                                                  grout_deadlock__add_unannounced_help,
                                                  add_parity_help,
                                                  add_bytes_help,
                                                  add_short_help,
                                                  add_slot_help,
                                                  grout_deadlock__add_lost_help,
                                                  add_omission_help,
                                                  add_nothing_help,
                                                  add_count_help,
                                                  add_lag_help,
                                                  add_guard_help,
                                                  add_circle_help,
                                                  grout_deadlock__add_spin_help,
                                                  add_units_help,
                                                  add_turns_help,
                                                  add_meeting_help};
    const grout_need need = grout_deadlock__get_need(text, root);
    grout_text sentence = {.allocator = text->checker->allocator};
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) {
        if (helps[i](text, &need, &sentence)) {
            break;
        }
    }
    grout_deadlock__advise(text, &sentence);
}
