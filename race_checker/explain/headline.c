/* headline.c - the sentence that a report opens with, for each code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wording.h"

/* ---- headlines of accesses ---- */

static const char *name_side_object(const grout_wording *wording, uint32_t side) {
    return grout_wording__name_object(wording, wording->facts->sides[side].box.object);
}

static uint32_t get_line(const grout_wording *wording, uint32_t side) {
    return grout_wording__get_line(wording, &wording->facts->sides[side].origin);
}

/* The access is the primary side, and the copy the related one. */
static void add_strict_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    grout_sentence__add(
        out, GROUT_SENTENCE_COMMIT_STRICT_HEAD,
        &(grout_words){.thread = grout_wording__get_kind(&access->origin),
                       .access = grout_wording__get_access(wording, access),
                       .object = name_side_object(wording, 0),
                       .who = grout_wording__get_who(wording, copy),
                       .does = grout_phrase__get(copy->is_write ? GROUT_PHRASE_OVERWRITES
                                                                : GROUT_PHRASE_READS),
                       .line = get_line(wording, 1)});
}

static void add_commit_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->near.kind == GROUT_NEAR_COMMIT_OF_OTHERS) {
        add_strict_headline(wording, out);
        return;
    }
    const grout_words words = {.who = grout_wording__get_who(wording, &facts->sides[0]),
                               .object = name_side_object(wording, 0),
                               .access = grout_wording__get_access(wording, &facts->sides[1]),
                               .line = get_line(wording, 1)};
    if (!facts->sides[1].is_write && facts->sides[0].is_write) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_WAR_HEAD, &words);
    } else if (facts->sides[0].is_write) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_WRITE_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_READ_HEAD, &words);
    }
}

static const char *get_done(const grout_side *side) {
    return grout_phrase__get(side->is_write ? GROUT_PHRASE_IS_OVERWRITTEN : GROUT_PHRASE_IS_READ);
}

/* What an engine does to the bytes that another one has not finished with. */
static const char *get_done_by_engine(const grout_wording *wording, const grout_side *side) {
    if (side->is_write) {
        return grout_phrase__get(side->stamp.agent == GROUT_AGENT_ENGINE
                                     ? GROUT_PHRASE_IS_LOADED_AGAIN
                                     : GROUT_PHRASE_IS_OVERWRITTEN);
    }
    const bool is_of_product = grout_wording__is_wgmma(wording, side) ||
                               grout_wording__is_tcgen05(wording, side) ||
                               grout_wording__is_tcgen05_copy(wording, side);
    return grout_phrase__get(is_of_product ? GROUT_PHRASE_IS_READ : GROUT_PHRASE_IS_STORED);
}

static void add_await_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    const grout_side *load = &wording->facts->sides[1];
    bool is_actor = side->stamp.agent == GROUT_AGENT_ACTOR;
    const grout_words words = {
        .object = name_side_object(wording, 0),
        .done = is_actor ? get_done(side) : get_done_by_engine(wording, side),
        .other = grout_wording__get_who(wording, side),
        .who = grout_wording__get_who(wording, load),
        .doing = grout_phrase__get(load->stamp.agent == GROUT_AGENT_ENGINE ? GROUT_PHRASE_LOADING
                                                                           : GROUT_PHRASE_WRITING),
        .access = grout_wording__get_access(wording, load),
        .line = get_line(wording, 1)};
    if (is_actor) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_ENGINE_HEAD, &words);
    }
}

static void add_group_headline(const grout_wording *wording, grout_text *out) {
    const grout_words words = {.object = name_side_object(wording, 0),
                               .done = grout_phrase__get(wording->facts->sides[0].is_write
                                                             ? GROUT_PHRASE_IS_WRITTEN_AGAIN
                                                             : GROUT_PHRASE_IS_READ),
                               .line = get_line(wording, 1)};
    if (wording->record->code == GROUT_DIAG_SMEM_SOURCE_REUSE) {
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_SOURCE_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_RESULT_HEAD, &words);
    }
}

static void add_map_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->side_count > 1) {
        const grout_words words = {.object = name_side_object(wording, 0),
                                   .access = grout_wording__get_access(wording, &facts->sides[1]),
                                   .line = get_line(wording, 1)};
        grout_sentence__add(out, GROUT_SENTENCE_MAP_READING_HEAD, &words);
        return;
    }
    const grout_words words = {.object = grout_wording__name_object(wording, facts->fault.object)};
    if (facts->fault.use == GROUT_MAP_NOT_ACQUIRED) {
        grout_sentence__add(out, GROUT_SENTENCE_MAP_EARLY_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_MAP_REPLACED_HEAD, &words);
    }
}

/* How far the two of a race are apart. */
static const char *get_where(const grout_origin *one, const grout_origin *other) {
    return grout_phrase__get(one->cta != other->cta         ? GROUT_PHRASE_IN_ANOTHER_CTA
                             : one->thread != other->thread ? GROUT_PHRASE_IN_ANOTHER_THREAD
                             : one->warp != other->warp     ? GROUT_PHRASE_IN_ANOTHER_WARP
                                                            : GROUT_PHRASE_NOTHING);
}

static void add_atomics_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
    const grout_words words = {.object = name_side_object(wording, 0),
                               .line = get_line(wording, 1),
                               .where = grout_near__is_of_grids(&wording->facts->near)
                                            ? grout_phrase__get(GROUT_PHRASE_IN_ANOTHER_GRID)
                                            : get_where(&sides[0].origin, &sides[1].origin)};
    if (grout_entry__get_width(sides[0].atomicity) != grout_entry__get_width(sides[1].atomicity)) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_WIDTHS_HEAD, &words);
    } else if (grout_wording__is_of_two_proxies(wording)) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_PROXIES_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_SCOPES_HEAD, &words);
    }
}

/* Two launches of a list. */
static void add_grid_headline(const grout_wording *wording, grout_text *out) {
    const grout_words words = {.object = name_side_object(wording, 0),
                               .access =
                                   grout_wording__get_access(wording, &wording->facts->sides[1]),
                               .line = get_line(wording, 1)};
    if (wording->facts->sides[0].is_atomic && wording->facts->sides[1].is_atomic) {
        add_atomics_headline(wording, out);
    } else if (wording->facts->primary_is_earlier) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_GRID_AFTER_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_GRID_BEFORE_HEAD, &words);
    }
}

static void add_race_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_side *other = &facts->sides[1];
    if (grout_near__is_of_grids(&facts->near)) {
        add_grid_headline(wording, out);
    } else if (facts->near.kind != GROUT_NEAR_NOTHING &&
               facts->near.kind != GROUT_NEAR_MMA_COMMIT_ONLY) {
        grout_sentence__add(
            out, GROUT_SENTENCE_RACE_READING_HEAD,
            &(grout_words){.object = name_side_object(wording, 0),
                           .access = grout_phrase__get(grout_wording__is_async_copy(wording, other)
                                                           ? GROUT_PHRASE_ASYNC_COPY
                                                           : GROUT_PHRASE_LOAD),
                           .line = get_line(wording, 1)});
    } else if (facts->sides[0].is_atomic && other->is_atomic) {
        add_atomics_headline(wording, out);
    } else {
        grout_sentence__add(
            out, GROUT_SENTENCE_RACE_HEAD,
            &(grout_words){.object = name_side_object(wording, 0),
                           .access = grout_phrase__get(other->is_write ? GROUT_PHRASE_WRITE
                                                                       : GROUT_PHRASE_READ),
                           .line = get_line(wording, 1),
                           .where = get_where(&facts->sides[0].origin, &other->origin)});
    }
}

static void add_same_value_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *sides = wording->facts->sides;
    grout_sentence__add(out, GROUT_SENTENCE_SAME_VALUE_HEAD,
                        &(grout_words){.object = name_side_object(wording, 0),
                                       .line = get_line(wording, 1),
                                       .where = get_where(&sides[0].origin, &sides[1].origin)});
}

static void add_exit_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    grout_phrase_id doing = GROUT_PHRASE_LOADING;
    if (!side->is_write) {
        doing = GROUT_PHRASE_READING;
    } else if (!grout_wording__is_tcgen05_copy(wording, side) &&
               (grout_wording__is_wgmma(wording, side) ||
                grout_wording__is_tcgen05(wording, side))) {
        doing = GROUT_PHRASE_ADDING_TO;
    } else if (side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE ||
               grout_wording__is_tcgen05_copy(wording, side) ||
               grout_wording__is_tmem(wording, side)) {
        doing = GROUT_PHRASE_WRITING;
    }
    const grout_origin *next = &wording->facts->sides[1].origin; /* the scope that may get it */
    const grout_words words = {.scope = grout_wording__get_scope(wording),
                               .line = next->op != 0 ? grout_wording__get_line(wording, next) : 0,
                               .who = grout_wording__get_who(wording, side),
                               .doing = grout_phrase__get(doing),
                               .object = name_side_object(wording, 0)};
    grout_sentence__add(
        out, next->op != 0 ? GROUT_SENTENCE_EXIT_TAKEN_HEAD : GROUT_SENTENCE_EXIT_HEAD, &words);
}

/* ---- headlines of barriers ---- */

static const char *name_element(const grout_wording *wording) {
    return grout_wording__name_element(wording, wording->facts->element);
}

static void add_overrun_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_words words = {
        .next = facts->phase + 1, .element = name_element(wording), .phase = facts->phase};
    if (facts->sides[1].origin.op) {
        grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_NOBODY_HEAD, &words);
    }
}

static void add_end_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        grout_sentence__add(out, GROUT_SENTENCE_UNOBSERVED_HEAD,
                            &(grout_words){.phase = facts->phase,
                                           .element = name_element(wording),
                                           .scope = grout_wording__get_scope(wording)});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_PARTIAL_HEAD,
                        &(grout_words){.element = name_element(wording),
                                       .have = facts->have,
                                       .need = facts->need,
                                       .phase = facts->phase});
}

static void add_too_many_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_words words = {.have = facts->have,
                               .s = grout_phrase__get_plural(facts->have),
                               .phase = facts->phase,
                               .element = name_element(wording),
                               .need = facts->need};
    if (facts->need == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_TOO_MANY_ALL_LEFT_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_TOO_MANY_HEAD, &words);
    }
}

static void add_bytes_limit_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->have < 0) {
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_NEGATIVE_HEAD,
                            &(grout_words){.have = facts->have, .need = facts->need});
        return;
    }
    grout_sentence__add(out, GROUT_SENTENCE_BYTES_LIMIT_HEAD,
                        &(grout_words){.phase = facts->phase,
                                       .element = name_element(wording),
                                       .have = facts->have,
                                       .need = facts->need});
}

static void add_skipped_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_SKIPPED_HEAD,
        &(grout_words){.element = name_element(wording), .phase = wording->facts->phase});
}

/* ---- headlines of faults ---- */

static const grout_phrase_id USES[] = {[GROUT_USE_BRANCH] = GROUT_PHRASE_UNWRITTEN_BRANCH_HEAD,
                                       [GROUT_USE_ADDRESS] = GROUT_PHRASE_UNWRITTEN_ADDRESS_HEAD,
                                       [GROUT_USE_OUTPUT] = GROUT_PHRASE_UNWRITTEN_OUTPUT_HEAD,
                                       [GROUT_USE_PRINT] = GROUT_PHRASE_UNWRITTEN_PRINT_HEAD,
                                       [GROUT_USE_SYNC] = GROUT_PHRASE_UNWRITTEN_SYNC_HEAD,
                                       [GROUT_USE_CHECK] = GROUT_PHRASE_UNWRITTEN_CHECK_HEAD};

static void add_scatter_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    const grout_op *op = grout_module_get_op(wording->module, wording->facts->sides[0].origin.op);
    const bool has_rows = grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_ROWS;
    const grout_words words = {.have = fault->have,
                               .need = fault->need,
                               .start = fault->start,
                               .object = grout_wording__name_object(wording, fault->object)};
    grout_sentence__add(
        out, has_rows ? GROUT_SENTENCE_SCATTER_ROWS_HEAD : GROUT_SENTENCE_SCATTER_HEAD, &words);
}

static void add_bounds_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    const grout_words words = {.start = fault->start,
                               .end = fault->start + (fault->extent > 1 ? fault->extent - 1 : 0),
                               .dimension = fault->dimension,
                               .object = grout_wording__name_object(wording, fault->object),
                               .limit = fault->limit};
    if (fault->code == GROUT_DIAG_MISALIGNED) {
        grout_sentence__add(out, GROUT_SENTENCE_MISALIGNED_HEAD, &words);
    } else if (fault->use == GROUT_OUTSIDE_EMPTY) {
        grout_sentence__add(
            out, GROUT_SENTENCE_OUTSIDE_EMPTY_HEAD,
            &(grout_words){.have = fault->extent,
                           .dimension = fault->dimension,
                           .object = grout_wording__name_object(wording, fault->object),
                           .start = fault->start});
    } else if (fault->use == GROUT_OUTSIDE_GRANULE) {
        grout_sentence__add(out, GROUT_SENTENCE_OUTSIDE_GRANULE_HEAD, &words);
    } else if (fault->use == GROUT_OUTSIDE_PIXELS) {
        grout_sentence__add(out, GROUT_SENTENCE_PIXELS_HEAD, &words);
    } else if (fault->use == GROUT_OUTSIDE_OFFSET) {
        grout_sentence__add(out, GROUT_SENTENCE_PIXEL_OFFSET_HEAD, &words);
    } else if (fault->extent > 1) {
        grout_sentence__add(out, GROUT_SENTENCE_BOUNDS_RANGE_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_BOUNDS_INDEX_HEAD, &words);
    }
}

static void add_unwritten_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    const char *what = grout_phrase__get(USES[fault->use]);
    if (!fault->object) {
        grout_text_add(out, "%s", what);
        return;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_UNWRITTEN_OF_HEAD,
        &(grout_words){.what = what, .object = grout_wording__name_object(wording, fault->object)});
}

static const grout_phrase_id DECIDED[] = {[GROUT_USE_BRANCH] = GROUT_PHRASE_TAINT_BRANCH,
                                          [GROUT_USE_ADDRESS] = GROUT_PHRASE_TAINT_ADDRESS,
                                          [GROUT_USE_OUTPUT] = GROUT_PHRASE_TAINT_OUTPUT,
                                          [GROUT_USE_PRINT] = GROUT_PHRASE_TAINT_PRINTED,
                                          [GROUT_USE_SYNC] = GROUT_PHRASE_TAINT_SYNC,
                                          [GROUT_USE_CHECK] = GROUT_PHRASE_TAINT_CHECKED};

static void add_quotient_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_origin *division = &facts->sides[1].origin;
    grout_sentence__add(out, GROUT_SENTENCE_QUOTIENT_HEAD,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, division),
                                       .line = grout_wording__get_line(wording, division),
                                       .what = grout_phrase__get(DECIDED[facts->fault.use])});
}

static void add_output_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    const grout_words words = {.have = fault->have,
                               .object = grout_wording__name_object(wording, fault->object)};
    if (fault->have == 1) {
        grout_sentence__add(out, GROUT_SENTENCE_OUTPUT_ONE_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_OUTPUT_HEAD, &words);
    }
}

static void add_contiguous_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    const grout_words words = {.have = fault->have,
                               .need = fault->need,
                               .object = grout_wording__name_object(wording, fault->object)};
    if (fault->use == GROUT_GROUP_CUT) {
        grout_sentence__add(out, GROUT_SENTENCE_CONTIGUOUS_CUT_HEAD, &words);
    } else if (fault->use == GROUT_GROUP_START) {
        grout_sentence__add(out, GROUT_SENTENCE_CONTIGUOUS_START_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_CONTIGUOUS_APART_HEAD, &words);
    }
}

static void add_fault_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    if (fault->code == GROUT_DIAG_UNINITIALISED_READ && fault->use <= GROUT_USE_CHECK) {
        add_unwritten_headline(wording, out);
    } else if (fault->code == GROUT_DIAG_DIVISION_BY_ZERO) {
        add_quotient_headline(wording, out);
    } else if (fault->code == GROUT_DIAG_OUTPUT_NOT_WRITTEN) {
        add_output_headline(wording, out);
    } else if (fault->code == GROUT_DIAG_NOT_CONTIGUOUS) {
        add_contiguous_headline(wording, out);
    } else if (fault->code == GROUT_DIAG_SCATTER_CONFLICT) {
        add_scatter_headline(wording, out);
    } else if (fault->code == GROUT_DIAG_OUT_OF_BOUNDS || fault->code == GROUT_DIAG_MISALIGNED) {
        add_bounds_headline(wording, out);
    } else if (grout_race_describe_fault(wording->module, wording->facts->sides[0].origin.op, fault,
                                         out)) {
        return;
    } else if (wording->record->code == GROUT_DIAG_STEP_LIMIT) {
        grout_sentence__add(out, GROUT_SENTENCE_STEP_LIMIT_HEAD,
                            &(grout_words){.have = wording->facts->have});
    } else {
        grout_text_add(out, "%s", grout_diag_get(wording->record->code)->doc);
    }
}

typedef void add_words(const grout_wording *wording, grout_text *out);

typedef struct headline_row {
    grout_diag_code code;
    add_words *add;
} headline_row;

/* Codes that are not here are faults. */
static const headline_row HEADLINES[] = {
    {GROUT_DIAG_MISSING_COMMIT_SMEM, add_commit_headline},
    {GROUT_DIAG_MISSING_COMMIT_SMEM_WAR, add_commit_headline},
    {GROUT_DIAG_MISSING_COMMIT_GMEM, add_commit_headline},
    {GROUT_DIAG_ASYNC_NOT_AWAITED, add_await_headline},
    {GROUT_DIAG_SMEM_SOURCE_REUSE, add_group_headline},
    {GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE, add_group_headline},
    {GROUT_DIAG_TENSORMAP_IN_FLIGHT, add_map_headline},
    {GROUT_DIAG_MMA_OPERAND_REUSE, grout_wording__add_wgmma_headline},
    {GROUT_DIAG_ACCUMULATOR_IN_FLIGHT, grout_wording__add_wgmma_headline},
    {GROUT_DIAG_SMEM_RACE, add_race_headline},
    {GROUT_DIAG_TMEM_RACE, add_race_headline},
    {GROUT_DIAG_GMEM_RACE, add_race_headline},
    {GROUT_DIAG_SAME_VALUE_RACE, add_same_value_headline},
    {GROUT_DIAG_ASYNC_AT_EXIT, add_exit_headline},
    {GROUT_DIAG_BARRIER_OVERRUN, add_overrun_headline},
    {GROUT_DIAG_BARRIER_UNOBSERVED, add_end_headline},
    {GROUT_DIAG_BARRIER_PARTIAL, add_end_headline},
    {GROUT_DIAG_BARRIER_TOO_MANY, add_too_many_headline},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, add_bytes_limit_headline},
    {GROUT_DIAG_BARRIER_SKIPPED, add_skipped_headline}};

void grout_wording__add_headline(const grout_wording *wording, grout_text *out) {
    const grout_findings *findings = &wording->checker->memory.findings;
    grout_diag_code code = wording->record->code;
    if (grout_wording__add_protocol_headline(wording, out) ||
        grout_wording__add_tensor_headline(wording, out) ||
        grout_wording__add_peer_headline(wording, out)) {
        return;
    }
    if ((code == GROUT_DIAG_DEADLOCK || code == GROUT_DIAG_COLLECTIVE_DIVERGENCE) &&
        findings->sentence_count) {
        grout_text_add(out, "%s", findings->sentences[0].text);
        return;
    }
    for (size_t i = 0; i < sizeof HEADLINES / sizeof *HEADLINES; i++) {
        if (HEADLINES[i].code == code) {
            HEADLINES[i].add(wording, out);
            return;
        }
    }
    add_fault_headline(wording, out);
}
