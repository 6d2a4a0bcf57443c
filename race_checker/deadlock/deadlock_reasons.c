/*
 * deadlock_reasons.c - why the threads that could execute an op do not, and which of them has left
 * it out.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"

#include "visits.h"

#include <inttypes.h>
#include <string.h>

enum {
    KINDS_MAX = 8,             /* reasons of an op that are told apart */
    SENTENCE_MAX = 170,        /* bytes after which no other reason is begun */
    OMISSIONS_LOOKED = 1 << 22 /* ops and threads that are asked who left something out */
};

/* ---- turns ---- */

static bool get_constant(const grout_deadlock *text, const grout_op *op, uint32_t index,
                         int64_t *value_out) {
    const grout_operand *operand = grout_module_get_operand(text->module, op, index);
    if (operand->kind != GROUT_OPERAND_EXPR) {
        return false;
    }
    *value_out = grout_module_get_expr_value(text->module, operand->id).integer;
    return true;
}

/* "%i=2" of the innermost loop around the op; "turn 2" of a while. */
static const char *name_turn(const grout_deadlock *text, grout_op_id op, int32_t turn) {
    grout_op_id loop = grout_op__get_loop(text->module, op);
    const grout_op *it = loop ? grout_module_get_op(text->module, loop) : NULL;
    grout_text words = {.allocator = text->checker->allocator};
    if (!it || !grout_op__is_counted_loop(it)) {
        grout_sentence__add(&words, GROUT_SENTENCE_TURN, &(grout_words){.number = turn});
        return grout_deadlock__keep(text, &words);
    }
    if (grout_module_get_surface(text->module) == GROUT_SURFACE_PALLAS) {
        grout_sentence__add(&words, GROUT_SENTENCE_INDEX, &(grout_words){.number = turn});
        return grout_deadlock__keep(text, &words);
    }
    const grout_block *body = grout_module_get_block(text->module, it->first_block);
    const grout_value *index = grout_module_get_value(text->module, body->first_arg);
    grout_text_add(&words, "%%%s=%" PRId32, grout_module_get_string(text->module, index->name),
                   turn);
    return grout_deadlock__keep(text, &words);
}

/* ", and has not run it in the for at line 9 (0..3)" */
static void add_loop(const grout_deadlock *text, grout_op_id loop, grout_text *out) {
    const grout_op *op = grout_module_get_op(text->module, loop);
    grout_words words = {.op = grout_op_get_info((grout_opcode)op->opcode)->text,
                         .line = grout_deadlock__get_line(text, loop),
                         .start = 0,
                         .end = 0};
    if (grout_op__is_counted_loop(op) && get_constant(text, op, 0, &words.start) &&
        get_constant(text, op, 1, &words.end)) {
        grout_sentence__add(out, GROUT_SENTENCE_NOT_RUN_IN_TURNS, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_NOT_RUN_IN, &words);
    }
}

/* ---- one thread ---- */

static const grout_visit *find_visit(const grout_deadlock *text, const grout_thread_fact *thread,
                                     grout_op_id op) {
    grout_cta_state *state = grout_checker__find_cta(text->checker, thread->origin.cta);
    return state
               ? grout_checker__find_visit(text->checker, state,
                                           grout_checker__get_local(text->checker, &thread->origin),
                                           op)
               : NULL;
}

uint32_t grout_deadlock__count_runs(const grout_deadlock *text, const grout_thread_fact *thread,
                                    grout_op_id op) {
    const grout_visit *visit = find_visit(text, thread, op);
    return visit != NULL ? visit->count : 0;
}

static grout_reach_fact find_reach(const grout_deadlock *text, const grout_thread_fact *thread,
                                   grout_op_id op) {
    const grout_reach_fact passed = {GROUT_REACH_PASSED, 0};
    bool stands = thread->state != GROUT_THREAD_EXITED && thread->state != GROUT_THREAD_IDLE &&
                  thread->origin.op != 0 && !grout_deadlock__is_at_end(text, thread);
    return stands ? grout_op__find_reach(text->module, thread->origin.op, op) : passed;
}

/* The turn of its loop in which the thread has gone past the op; false: it has not. */
static bool find_gap(const grout_deadlock *text, const grout_thread_fact *thread, grout_op_id op,
                     int32_t *turn_out) {
    const grout_visit *visit = find_visit(text, thread, op);
    grout_reach kind = find_reach(text, thread, op).kind;
    bool is_behind = (kind == GROUT_REACH_NEXT_ROUND || kind == GROUT_REACH_PASSED) &&
                     !grout_deadlock__is_at_end(text, thread);
    return visit && visit->count > 0 && grout_op__get_loop(text->module, op) &&
           grout_visit__find_gap(text->module, visit, &thread->origin, is_behind, turn_out);
}

/* How often the thread has executed the op, and which turn of its loop went past it. */
static void add_history(const grout_deadlock *text, const grout_thread_fact *thread, grout_op_id op,
                        grout_text *out) {
    const grout_visit *visit = find_visit(text, thread, op);
    grout_op_id loop = grout_op__get_loop(text->module, op);
    int32_t turn = 0;
    if (!visit || !loop ||
        (visit->count == 0 && find_reach(text, thread, op).kind == GROUT_REACH_OTHER_BRANCH)) {
        return;
    }
    if (visit->count == 0) {
        add_loop(text, loop, out);
        return;
    }
    bool has_gap = find_gap(text, thread, op, &turn);
    const grout_words words = {.number = visit->count,
                               .s = grout_phrase__get_plural(visit->count),
                               .where = has_gap ? name_turn(text, op, turn) : ""};
    if (has_gap) {
        grout_sentence__add(out, GROUT_SENTENCE_RUN_AND_PASSED, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_RUN_BEFORE, &words);
    }
}

static void add_reach(const grout_deadlock *text, grout_reach_fact fact, grout_text *out) {
    grout_opcode through = (grout_opcode)grout_module_get_op(text->module, fact.through)->opcode;
    grout_region_kind kind = (grout_region_kind)grout_op_get_region(through)->kind;
    const grout_words words = {.op = grout_op_get_info(through)->text,
                               .line = grout_deadlock__get_line(text, fact.through)};
    if (fact.kind == GROUT_REACH_OTHER_BRANCH) {
        grout_sentence__add(out,
                            kind == GROUT_REGION_BRANCH ? GROUT_SENTENCE_REACH_OTHER_BRANCH
                                                        : GROUT_SENTENCE_REACH_OTHER_PARTITION,
                            &words);
        return;
    }
    if (fact.kind == GROUT_REACH_AHEAD) {
        grout_sentence__add(out, GROUT_SENTENCE_REACH_AHEAD, NULL);
    } else if (fact.kind == GROUT_REACH_NEXT_ROUND) {
        grout_sentence__add(out, GROUT_SENTENCE_REACH_NEXT_ROUND, NULL);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_REACH_PASSED, NULL);
        return;
    }
    if (kind == GROUT_REGION_BRANCH) {
        grout_sentence__add(out, GROUT_SENTENCE_REACH_IF_TAKEN, &words);
    } else if (kind == GROUT_REGION_LOOP) {
        grout_sentence__add(out, GROUT_SENTENCE_REACH_IF_RUN, &words);
    }
}

/* " is blocked at line 30 before it" */
static void add_reason(const grout_deadlock *text, const grout_thread_fact *thread, grout_op_id op,
                       grout_text *out) {
    if (thread->state == GROUT_THREAD_EXITED) {
        grout_sentence__add(out, GROUT_SENTENCE_REASON_EXITED, NULL);
    } else if (thread->state == GROUT_THREAD_IDLE) {
        grout_sentence__add(out, GROUT_SENTENCE_REASON_IDLE, NULL);
    } else if (thread->origin.op == 0 || grout_deadlock__is_at_end(text, thread)) {
        grout_sentence__add(out, GROUT_SENTENCE_REASON_END, NULL);
    } else {
        grout_sentence__add(
            out, GROUT_SENTENCE_REASON_BLOCKED,
            &(grout_words){.line = grout_deadlock__get_line(text, thread->origin.op)});
        add_reach(text, find_reach(text, thread, op), out);
    }
    add_history(text, thread, op, out);
}

/* ---- all threads ---- */

/* Threads of which one thing can be said. */
typedef struct reason {
    const grout_thread_fact *first;
    uint32_t count;
    grout_text words;
} reason;

typedef struct reason_list {
    reason items[KINDS_MAX];
    uint32_t count, left; /* left: threads beyond */
    bool failed;
} reason_list;

static bool is_equal(const grout_text *a, const grout_text *b) {
    return a->size == b->size && a->data && b->data && memcmp(a->data, b->data, a->size) == 0;
}

/* Takes the words over. */
static void add_to_list(reason_list *list, const grout_thread_fact *thread, grout_text *words) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (is_equal(&list->items[i].words, words)) {
            list->items[i].count++;
            grout_text_free(words);
            return;
        }
    }
    if (list->count == KINDS_MAX) {
        list->left++;
        grout_text_free(words);
        return;
    }
    list->items[list->count++] = (reason){thread, 1, *words};
}

/* Whether the thread has part in the op: it is not just in another branch, which never had it. */
static bool has_part(const grout_deadlock *text, const grout_thread_fact *thread, grout_op_id op) {
    const grout_visit *visit = find_visit(text, thread, op);
    return find_reach(text, thread, op).kind != GROUT_REACH_OTHER_BRANCH ||
           (visit && visit->count > 0);
}

bool grout_deadlock__is_meant(const grout_deadlock *text, const grout_thread_fact *thread,
                              grout_op_id op) {
    const grout_visit *visit = find_visit(text, thread, op);
    const grout_reach_fact fact = find_reach(text, thread, op);
    const grout_opcode through =
        (grout_opcode)grout_module_get_op(text->module, fact.through)->opcode;
    return (visit && visit->count > 0) ||
           (fact.kind <= GROUT_REACH_NEXT_ROUND &&
            grout_op_get_region(through)->kind != GROUT_REGION_BRANCH);
}

/* Whether the thread could execute the op for the waiting one, and does not stand in it with it. */
static bool is_candidate(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                         const grout_thread_fact *other) {
    bool is_meeting = need->thread->origin.op == op;
    return grout_deadlock__is_in_reach(text, need, op, other) &&
           !(is_meeting && (other->origin.warp != 0 ||
                            (other->origin.op == op && other->state == need->thread->state)));
}

/* An op that a thread waits for, and which others can be asked about it. */
typedef struct question {
    const grout_need *need;
    grout_op_id op;
    bool needs_part; /* those that have none are left out */
} question;

/* The reasons of the threads that the op is written for, or those of the others. */
static void collect(const grout_deadlock *text, const question *about, bool is_for_meant,
                    reason_list *list) {
    for (uint32_t t = 0; t < text->thread_count; t++) {
        const grout_thread_fact *other = &text->threads[t];
        grout_text words = {.allocator = text->checker->allocator};
        if (is_candidate(text, about->need, about->op, other) &&
            (!about->needs_part || has_part(text, other, about->op)) &&
            grout_deadlock__is_meant(text, other, about->op) == is_for_meant) {
            add_reason(text, other, about->op, &words);
            list->failed |= words.failed;
            add_to_list(list, other, &words);
        }
    }
}

/* Whether the thread may have run the op, as far as its place says. */
static bool may_have_run(const grout_deadlock *text, const grout_thread_fact *thread,
                         grout_op_id op) {
    const grout_reach kind = find_reach(text, thread, op).kind;
    return grout_op__get_loop(text->module, op) != 0 || kind == GROUT_REACH_PASSED ||
           kind == GROUT_REACH_NEXT_ROUND;
}

bool grout_deadlock__was_run_by_ended(const grout_deadlock *text, grout_op_id op) {
    bool may_be_here = false;
    for (uint32_t t = 0; t < text->thread_count; t++) {
        may_be_here |= may_have_run(text, &text->threads[t], op);
    }
    return text->checker->run.op_threads[op] != 0 && !may_be_here &&
           grout_deadlock__count_ended(text) > 0;
}

void grout_deadlock__add_reasons(const grout_deadlock *text, const grout_need *need, grout_op_id op,
                                 grout_text *out) {
    reason_list list = {.count = 0};
    const bool was_run = grout_deadlock__was_run_by_ended(text, op);
    question about = {.need = need, .op = op, .needs_part = was_run};
    if (was_run) {
        grout_sentence__add(out, GROUT_SENTENCE_REASON_RUN_BY_ENDED, NULL);
    }
    for (uint32_t t = 0; t < text->thread_count; t++) {
        about.needs_part |= is_candidate(text, need, op, &text->threads[t]) &&
                            has_part(text, &text->threads[t], op);
    }
    collect(text, &about, true, &list);
    collect(text, &about, false, &list);
    out->failed |= list.failed;
    for (uint32_t i = 0; i < list.count; i++) {
        reason *it = &list.items[i];
        if (i > 0 && out->size + it->words.size > SENTENCE_MAX) {
            list.left += it->count;
        } else {
            grout_sentence__add(
                out, GROUT_SENTENCE_REASON_OF,
                &(grout_words){.actor = grout_deadlock__name_thread(text, &it->first->origin),
                               .what = it->words.data ? it->words.data : ""});
            if (it->count > 1) {
                grout_sentence__add(out, GROUT_SENTENCE_REASON_LIKEWISE,
                                    &(grout_words){.number = it->count - 1});
            }
        }
        grout_text_free(&it->words);
    }
    if (list.left > 0) {
        grout_sentence__add(
            out, GROUT_SENTENCE_REASON_LEFT,
            &(grout_words){.number = list.left, .s = grout_phrase__get_plural(list.left)});
    }
}

/* ---- who left it out ---- */

static void look_for_omission(const grout_deadlock *text, const grout_thread_fact *waiting,
                              grout_omission *first) {
    grout_need need = grout_deadlock__get_need(text, waiting);
    for (grout_op_id i = 1;
         i < grout_module_get_op_count(text->module) && first->looked < OMISSIONS_LOOKED; i++) {
        first->looked++;
        if (!grout_op__is_in_kernel(text->module, i, text->checker->info.kernel) ||
            !grout_deadlock__needs(text, &need, i)) {
            continue;
        }
        for (uint32_t t = 0; t < text->thread_count; t++) {
            const grout_thread_fact *other = &text->threads[t];
            int32_t turn = 0;
            if (is_candidate(text, &need, i, other) && find_gap(text, other, i, &turn) &&
                (!first->thread || turn < first->turn)) {
                *first = (grout_omission){other, i, turn, first->looked};
            }
        }
        first->looked += text->thread_count;
    }
}

grout_omission grout_deadlock__find_omission(const grout_deadlock *text) {
    grout_omission first = {.thread = NULL};
    for (uint32_t t = 0; t < text->thread_count && first.looked < OMISSIONS_LOOKED; t++) {
        if (grout_thread_fact__is_blocked(&text->threads[t]) && text->threads[t].origin.op) {
            look_for_omission(text, &text->threads[t], &first);
        }
    }
    return first;
}

/* "thread wg=0 breaks the chain: it goes past the barrier_arrive at line 13 at %i=1, and waits at
 * line 15" */
void grout_deadlock__explain_break(grout_deadlock *text) {
    const grout_omission first = grout_deadlock__find_omission(text);
    grout_text sentence = {.allocator = text->checker->allocator};
    if (!first.thread) {
        return;
    }
    const grout_origin *origin = &first.thread->origin;
    const grout_op *op = grout_module_get_op(text->module, first.op);
    bool is_blocked = grout_thread_fact__is_blocked(first.thread) && origin->op;
    const grout_words words = {.actor = grout_deadlock__name_thread(text, origin),
                               .op = grout_op_get_info((grout_opcode)op->opcode)->text,
                               .line = grout_deadlock__get_line(text, first.op),
                               .where = name_turn(text, first.op, first.turn),
                               .other_line =
                                   is_blocked ? grout_deadlock__get_line(text, origin->op) : 0};
    if (is_blocked) {
        grout_sentence__add(&sentence, GROUT_SENTENCE_BREAK, &words);
    } else {
        grout_sentence__add(&sentence, GROUT_SENTENCE_BREAK_AND_END, &words);
    }
    grout_deadlock__say(text, 0, &sentence);
}
