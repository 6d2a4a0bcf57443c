/* tensor_words.c - sentences about tensor memory, and about MMAs of tcgen05 that are in flight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reuse.h"
#include "wording.h"

static bool has_code(const grout_wording *wording, grout_diag_code code) {
    return wording->record->code == code;
}

/* The access that is not over: the other one of two. */
static const grout_side *get_earlier(const grout_wording *wording) {
    return &wording->facts->sides[wording->facts->side_count - 1];
}

/* Whether it is about an MMA of tcgen05 that is in flight. */
static bool is_about_mma(const grout_wording *wording) {
    return (has_code(wording, GROUT_DIAG_MMA_OPERAND_REUSE) ||
            has_code(wording, GROUT_DIAG_ACCUMULATOR_IN_FLIGHT) ||
            has_code(wording, GROUT_DIAG_ASYNC_AT_EXIT)) &&
           grout_wording__is_tcgen05(wording, get_earlier(wording));
}

/* Whether it is about a load, or a store, of tensor memory that its thread has not waited for. */
static bool is_about_tmem(const grout_wording *wording, bool is_load) {
    const grout_side *earlier = get_earlier(wording);
    return has_code(wording, is_load ? GROUT_DIAG_TMEM_LOAD_NOT_AWAITED
                                     : GROUT_DIAG_TMEM_STORE_NOT_COMMITTED) ||
           (has_code(wording, GROUT_DIAG_ASYNC_AT_EXIT) &&
            grout_wording__is_tmem(wording, earlier) && earlier->is_write != is_load);
}

static const char *get_done(const grout_side *side) {
    return grout_phrase__get(side->is_write ? GROUT_PHRASE_IS_OVERWRITTEN : GROUT_PHRASE_IS_READ);
}

bool grout_wording__is_tcgen05_copy(const grout_wording *wording, const grout_side *side) {
    const grout_op *op = grout_module_get_op(wording->checker->info.module, side->origin.op);
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_TCGEN05_COPY;
}

/* What the operation may still be doing to what it writes, or reads. */
static const char *get_doing(const grout_wording *wording, const grout_side *side) {
    const bool is_copy = grout_wording__is_tcgen05_copy(wording, side);
    return grout_phrase__get(!side->is_write ? GROUT_PHRASE_READING
                             : is_copy       ? GROUT_PHRASE_WRITING
                                             : GROUT_PHRASE_ADDING_TO);
}

static const char *get_barrier(const grout_wording *wording) {
    return grout_wording__is_explicit(wording)
               ? grout_phrase__get(GROUT_PHRASE_AN_MBARRIER)
               : grout_wording__spell(wording, GROUT_SPELLING_TENSOR_BARRIER, NULL);
}

bool grout_wording__add_tensor_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *later = &wording->facts->sides[0], *earlier = get_earlier(wording);
    const char *object = grout_wording__name_object(wording, later->box.object);
    const uint32_t line = grout_wording__get_line(wording, &earlier->origin);
    if (is_about_mma(wording) && wording->facts->side_count > 1) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_MMA_HEAD,
                            &(grout_words){.object = object,
                                           .done = get_done(later),
                                           .op = grout_wording__get_access(wording, earlier),
                                           .line = line,
                                           .doing = get_doing(wording, earlier)});
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TMEM_LOAD_NOT_AWAITED)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_LOAD_HEAD,
                            &(grout_words){.object = object, .line = line});
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TMEM_STORE_NOT_COMMITTED)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_TENSOR_STORE_HEAD,
            &(grout_words){.object = object, .done = get_done(later), .line = line});
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TENSOR_CORE_ORDER)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_ORDER_HEAD,
                            &(grout_words){.object = object,
                                           .done = get_done(later),
                                           .access = grout_wording__get_access(wording, earlier),
                                           .line = line});
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TENSOR_PIPE_ORDER)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_PIPE_HEAD,
                            &(grout_words){.object = object,
                                           .op = grout_wording__get_access(wording, later),
                                           .other_op = grout_wording__get_access(wording, earlier),
                                           .line = line});
        return true;
    }
    return false;
}

/* Which commit there is, and why it is not the one that is needed. */
static void add_commit_edge(const grout_wording *wording, grout_text *out) {
    const grout_side *mma = get_earlier(wording);
    const grout_near *near = &wording->facts->near;
    const grout_words words = {
        .op = grout_wording__get_access(wording, mma),
        .thread = grout_wording__get_kind(&mma->origin),
        .line = near->origin.op ? grout_wording__get_line(wording, &near->origin) : 0,
        .where = grout_phrase__get(wording->facts->side_count > 1 ? GROUT_PHRASE_BETWEEN_THE_TWO
                                                                  : GROUT_PHRASE_BEFORE_THE_END)};
    if (near->kind == GROUT_NEAR_MMA_COMMIT_BEFORE) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_BEFORE_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_MMA_COMMIT_UNSEEN) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_UNSEEN_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_MMA_COMMIT_OTHERS) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_OTHERS_EDGE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_EDGE, &words);
    }
}

/* Which barrier on the way does not order the tensor core, if it is the last one. */
static void add_order_edge(const grout_wording *wording, grout_text *out) {
    const char *access = grout_wording__get_access(wording, get_earlier(wording));
    const char *what = grout_wording__spell(wording, GROUT_SPELLING_TENSOR_BARRIERS, NULL);
    const grout_near *near = &wording->facts->near;
    if (near->kind == GROUT_NEAR_TENSOR_WAIT) {
        grout_sentence__add(
            out, GROUT_SENTENCE_TENSOR_ORDER_WAIT_EDGE,
            &(grout_words){.access = access,
                           .what = what,
                           .element = grout_wording__name_element(wording, near->element)});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_ORDER_EDGE,
                            &(grout_words){.access = access, .what = what});
    }
}

bool grout_wording__add_tensor_edge(const grout_wording *wording, grout_text *out) {
    if (is_about_mma(wording)) {
        add_commit_edge(wording, out);
        return true;
    }
    if (is_about_tmem(wording, true)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_LOAD_EDGE, NULL);
        return true;
    }
    if (is_about_tmem(wording, false)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_STORE_EDGE, NULL);
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TENSOR_CORE_ORDER)) {
        add_order_edge(wording, out);
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TENSOR_PIPE_ORDER)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_PIPE_EDGE, NULL);
        return true;
    }
    return false;
}

/* What makes an access of tensor memory by a thread over. */
static const char *spell_over(const grout_wording *wording, const grout_side *side) {
    return grout_wording__spell(
        wording, side->is_write ? GROUT_SPELLING_COMMIT_TMEM : GROUT_SPELLING_WAIT_LOAD_TMEM, NULL);
}

/* What says that an access of tensor memory is over, and tells others. */
static const char *get_arrives(const grout_wording *wording, const grout_side *side) {
    if (grout_wording__is_tcgen05(wording, side)) {
        const char *commit = grout_wording__spell(wording, GROUT_SPELLING_MMA_COMMIT, NULL);
        return grout_wording__say(wording, GROUT_SENTENCE_TENSOR_COMMITS,
                                  &(grout_words){.op = commit});
    }
    return grout_wording__say(wording, GROUT_SENTENCE_TENSOR_ARRIVES,
                              &(grout_words){.op = spell_over(wording, side)});
}

static void repair_race(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
    const grout_side *writer = grout_record__find_overwriter(wording->module, wording->record);
    if (writer != NULL) {
        const grout_side *reader = &sides[writer == sides ? 1 : 0];
        grout_sentence__add(
            out, GROUT_SENTENCE_TENSOR_REUSE_HELP,
            &(grout_words){.op = get_arrives(wording, reader),
                           .line = grout_wording__get_line(wording, &reader->origin),
                           .barrier = get_barrier(wording),
                           .other_line = grout_wording__get_line(wording, &writer->origin)});
        return;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_TENSOR_RACE_HELP,
        &(grout_words){.op = get_arrives(wording, &sides[1]),
                       .line = grout_wording__get_line(wording, &sides[1].origin),
                       .other_op = get_arrives(wording, &sides[0]),
                       .other_line = grout_wording__get_line(wording, &sides[0].origin),
                       .barrier = get_barrier(wording)});
}

/* The thread of the access waits for it right after it: that never does harm. */
static void add_wait(grout_wording *wording, const grout_side *access) {
    const grout_op_id statement = grout_statement__find(wording->module, access->origin.op);
    const grout_spot spot = grout_statement__get_after(&wording->shared->lines, statement);
    const grout_opcode wait = access->is_write ? GROUT_OP_COMMIT_TMEM : GROUT_OP_WAIT_LOAD_TMEM;
    grout_wording__set_edit(wording, &spot, grout_op_get_info(wait)->text);
}

/* Whether the commit is there, and nobody waits for it: on the barrier of near.element. */
static bool is_unseen(const grout_wording *wording) {
    return wording->facts->near.kind == GROUT_NEAR_MMA_COMMIT_UNSEEN;
}

/* The scope ends while the tensor core is at work. */
static void repair_exit(const grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_near *near = &wording->facts->near;
    const char *by = grout_wording__name_by(wording, &access->origin);
    if (is_unseen(wording)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_TENSOR_EXIT_WAIT_HELP,
            &(grout_words){.element = grout_wording__name_element(wording, near->element),
                           .line = grout_wording__get_line(wording, &near->origin),
                           .scope = grout_wording__get_scope(wording),
                           .by = by});
        return;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_TENSOR_EXIT_HELP,
        &(grout_words){.ops = grout_wording__spell(wording, GROUT_SPELLING_MMA_COMMIT, NULL),
                       .barrier = get_barrier(wording),
                       .op = grout_wording__get_access(wording, access),
                       .line = grout_wording__get_line(wording, &access->origin),
                       .scope = grout_wording__get_scope(wording),
                       .by = by});
}

/* The thread that has to wait for the MMA: that of the access, or that which runs the body. */
static const grout_origin *get_waiting(const grout_wording *wording) {
    const grout_origin *later = &wording->facts->sides[0].origin;
    const grout_origin *earlier = &get_earlier(wording)->origin;
    return grout_wording__is_in_body(wording, earlier, later) ? earlier : later;
}

/* The commit is there, and the thread of the access has to wait for it. */
static void repair_unseen(const grout_wording *wording, grout_text *out) {
    const grout_origin *later = &wording->facts->sides[0].origin;
    const grout_near *near = &wording->facts->near;
    const grout_object_id barrier = wording->checker->info.element_objects[near->element];
    const char *by = grout_wording__name_by(wording, get_waiting(wording));
    const char *place = grout_wording__name_place(wording, &get_earlier(wording)->origin, later,
                                                  grout_wording__get_line(wording, later));
    grout_op_id wait = 0;
    if (grout_wording__count_waits(wording, near->element, get_waiting(wording)->thread, &wait) ==
            0 &&
        !grout_module_get_object(wording->module, barrier)->is_explicit) {
        grout_sentence__add(out, GROUT_SENTENCE_INSERT_HELP,
                            &(grout_words){.op = grout_wording__spell_wait(wording, near->element),
                                           .place = place,
                                           .by = by});
        return;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_TENSOR_WAIT_HELP,
        &(grout_words){.element = grout_wording__name_element(wording, near->element),
                       .line = grout_wording__get_line(wording, &near->origin),
                       .place = place,
                       .by = by});
}

/* No commit ends the MMA, or none that the thread of the access could have waited for. */
static void repair_mma(const grout_wording *wording, grout_text *out) {
    const grout_side *later = &wording->facts->sides[0], *earlier = get_earlier(wording);
    const bool is_of_pair = later->origin.cta != earlier->origin.cta;
    if (is_unseen(wording) && !is_of_pair) {
        repair_unseen(wording, out);
        return;
    }
    const grout_words words = {
        .ops = grout_wording__spell(
            wording, is_of_pair ? GROUT_SPELLING_MMA_COMMIT_PAIR : GROUT_SPELLING_MMA_COMMIT, NULL),
        .barrier = get_barrier(wording),
        .op = grout_wording__get_access(wording, earlier),
        .line = grout_wording__get_line(wording, &earlier->origin),
        .place = grout_wording__name_time(wording, &earlier->origin, &later->origin),
        .by = grout_wording__name_by(wording, get_waiting(wording))};
    if (is_of_pair) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_PAIR_HELP, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_HELP, &words);
    }
}

bool grout_wording__add_tensor_repair(grout_wording *wording, grout_text *out) {
    const grout_side *earlier = get_earlier(wording);
    const uint32_t line = grout_wording__get_line(wording, &earlier->origin);
    if (has_code(wording, GROUT_DIAG_TMEM_RACE)) {
        repair_race(wording, out);
        return true;
    }
    if (has_code(wording, GROUT_DIAG_ASYNC_AT_EXIT) && is_about_mma(wording)) {
        repair_exit(wording, out);
        return true;
    }
    if (is_about_mma(wording) || has_code(wording, GROUT_DIAG_TENSOR_PIPE_ORDER)) {
        repair_mma(wording, out);
        return true;
    }
    if (is_about_tmem(wording, true) || is_about_tmem(wording, false)) {
        grout_sentence__add(
            out, GROUT_SENTENCE_TENSOR_OVER_HELP,
            &(grout_words){.op = spell_over(wording, earlier),
                           .line = line,
                           .by = grout_wording__name_by(wording, &earlier->origin)});
        add_wait(wording, earlier);
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TENSOR_CORE_ORDER)) {
        const char *order = grout_wording__spell(wording, GROUT_SPELLING_ORDERS_TENSOR_CORE, NULL);
        const char *again = grout_wording__spell(wording, GROUT_SPELLING_AND_BEHIND, NULL);
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_ORDER_HELP,
                            &(grout_words){.op = order, .line = line, .other_op = again});
        return true;
    }
    return false;
}
