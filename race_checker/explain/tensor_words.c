/* tensor_words.c - sentences about tensor memory, and about MMAs of tcgen05 that are in flight.
 * SPDX-License-Identifier: Apache-2.0 */
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
    return grout_wording__is_explicit(wording) ? grout_phrase__get(GROUT_PHRASE_AN_MBARRIER)
                                               : grout_phrase__get(GROUT_PHRASE_TENSOR_BARRIER);
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
        .line = near->origin.op ? grout_wording__get_line(wording, &near->origin) : 0};
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
    const grout_near *near = &wording->facts->near;
    if (near->kind == GROUT_NEAR_TENSOR_WAIT) {
        grout_sentence__add(
            out, GROUT_SENTENCE_TENSOR_ORDER_WAIT_EDGE,
            &(grout_words){.access = access,
                           .element = grout_wording__name_element(wording, near->element)});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_ORDER_EDGE,
                            &(grout_words){.access = access});
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

/* What says that an access of tensor memory is over, and tells others. */
static const char *get_arrives(const grout_wording *wording, const grout_side *side) {
    grout_phrase_id phrase = GROUT_PHRASE_TENSOR_COMMIT_ARRIVES;
    if (!grout_wording__is_tcgen05(wording, side)) {
        phrase =
            side->is_write ? GROUT_PHRASE_TENSOR_STORE_ARRIVES : GROUT_PHRASE_TENSOR_LOAD_ARRIVES;
    }
    return grout_phrase__get(phrase);
}

static void repair_race(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
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
    const grout_spot spot = grout_statement__get_after(wording->module, statement);
    const grout_opcode wait = access->is_write ? GROUT_OP_COMMIT_TMEM : GROUT_OP_WAIT_LOAD_TMEM;
    grout_wording__set_edit(wording, &spot, grout_op_get_info(wait)->text);
}

/* The scope ends while the tensor core is at work. */
static void repair_exit(const grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    grout_sentence__add(out, GROUT_SENTENCE_TENSOR_EXIT_HELP,
                        &(grout_words){.barrier = get_barrier(wording),
                                       .op = grout_wording__get_access(wording, access),
                                       .line = grout_wording__get_line(wording, &access->origin),
                                       .scope = grout_wording__get_scope(wording),
                                       .by = grout_wording__name_by(wording, &access->origin)});
}

bool grout_wording__add_tensor_repair(grout_wording *wording, grout_text *out) {
    const grout_side *later = &wording->facts->sides[0], *earlier = get_earlier(wording);
    const uint32_t line = grout_wording__get_line(wording, &earlier->origin);
    const char *by = grout_wording__name_by(wording, &earlier->origin);
    if (has_code(wording, GROUT_DIAG_TMEM_RACE)) {
        repair_race(wording, out);
        return true;
    }
    if (has_code(wording, GROUT_DIAG_ASYNC_AT_EXIT) && is_about_mma(wording)) {
        repair_exit(wording, out);
        return true;
    }
    if (is_about_mma(wording) || has_code(wording, GROUT_DIAG_TENSOR_PIPE_ORDER)) {
        const grout_words words = {.barrier = get_barrier(wording),
                                   .op = grout_wording__get_access(wording, earlier),
                                   .line = line,
                                   .by = grout_wording__name_by(wording, &later->origin)};
        if (later->origin.cta == earlier->origin.cta) {
            grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_HELP, &words);
        } else {
            grout_sentence__add(out, GROUT_SENTENCE_TENSOR_COMMIT_PAIR_HELP, &words);
        }
        return true;
    }
    if (is_about_tmem(wording, true)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_LOAD_HELP,
                            &(grout_words){.line = line, .by = by});
        add_wait(wording, earlier);
        return true;
    }
    if (is_about_tmem(wording, false)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_STORE_HELP,
                            &(grout_words){.line = line, .by = by});
        add_wait(wording, earlier);
        return true;
    }
    if (has_code(wording, GROUT_DIAG_TENSOR_CORE_ORDER)) {
        grout_sentence__add(out, GROUT_SENTENCE_TENSOR_ORDER_HELP, &(grout_words){.line = line});
        return true;
    }
    return false;
}
