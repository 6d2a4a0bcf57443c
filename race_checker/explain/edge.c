/* edge.c - the missing edge: what order exists, what is absent, what came close and why it fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cover.h"
#include "wording.h"

/* "store", "load", or what an engine did. */
static const char *get_earlier(const grout_wording *wording) {
    const grout_side *side = &wording->facts->sides[1];
    if (side->stamp.agent != GROUT_AGENT_ACTOR || side->is_atomic) {
        return grout_wording__get_access(wording, side);
    }
    return grout_phrase__get(side->is_write ? GROUT_PHRASE_STORE : GROUT_PHRASE_LOAD);
}

/* The commit that was run, or that would have helped. */
static const char *get_commit(const grout_wording *wording) {
    const grout_origin *run = &wording->facts->near.origin;
    if (run->op) {
        return grout_wording__get_mnemonic(wording, run);
    }
    return wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM
               ? grout_wording__spell(wording, GROUT_SPELLING_COMMIT_GMEM, NULL)
               : grout_wording__get_smem_commit(wording);
}

/* Why the attribute has put none in, or who asks for one after a load of GMEM. */
static const char *get_why(const grout_wording *wording) {
    const grout_launch_info *info = &wording->checker->info;
    if (wording->record->code == GROUT_DIAG_MISSING_COMMIT_GMEM &&
        wording->facts->sides[1].stamp.agent == GROUT_AGENT_ACTOR &&
        !wording->facts->sides[1].is_write) {
        return grout_phrase__get(GROUT_PHRASE_BY_THE_LETTER);
    }
    bool is_smem = wording->record->code != GROUT_DIAG_MISSING_COMMIT_GMEM;
    bool is_auto = is_smem && grout_module_get_kernel(info->module, info->kernel)->auto_fence;
    return grout_phrase__get(is_auto ? GROUT_PHRASE_AUTO_FENCE : GROUT_PHRASE_NOTHING);
}

/* The access is the primary side here, and the copy the related one. */
static void add_strict_edge(const grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    grout_sentence__add(
        out, GROUT_SENTENCE_COMMIT_STRICT_EDGE,
        &(grout_words){
            .op = get_commit(wording),
            .access = grout_phrase__get(access->is_write ? GROUT_PHRASE_WRITE : GROUT_PHRASE_READ),
            .thread = grout_wording__get_kind(&access->origin)});
}

static void add_no_commit_edge(const grout_wording *wording, grout_text *out) {
    const grout_side *other = &wording->facts->sides[1];
    grout_sentence__add(
        out, GROUT_SENTENCE_COMMIT_NONE_EDGE,
        &(grout_words){.access = get_earlier(wording),
                       .line = grout_wording__get_line(wording, &other->origin),
                       .where = grout_phrase__get(other->stamp.agent == GROUT_AGENT_ENGINE
                                                      ? GROUT_PHRASE_OF_ANOTHER_CTA
                                                      : GROUT_PHRASE_NOTHING),
                       .op = get_commit(wording),
                       .why = get_why(wording)});
}

static void add_commit_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_near *near = &facts->near;
    const grout_words words = {.op = get_commit(wording),
                               .access = get_earlier(wording),
                               .line = grout_wording__get_line(wording, &facts->sides[1].origin),
                               .other = grout_wording__get_access(wording, &facts->sides[0])};
    if (near->kind == GROUT_NEAR_COMMIT_OF_OTHERS) {
        add_strict_edge(wording, out);
    } else if (near->kind == GROUT_NEAR_GRID_UNFENCED) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_OF_GRID_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_NO_COMMIT) {
        add_no_commit_edge(wording, out);
    } else if (near->kind == GROUT_NEAR_COMMIT_BEFORE) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_BEFORE_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_COMMIT_OFF_PATH) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_OFF_PATH_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_COMMIT_ABROAD && near->origin.op) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_ABROAD_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_COMMIT_ABROAD) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_ABROAD_ANY_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_COMMIT_OTHER_CTA) {
        grout_sentence__add(out, GROUT_SENTENCE_COMMIT_OTHER_CTA_EDGE,
                            &(grout_words){.op = get_commit(wording),
                                           .cta = grout_wording__name_cta(wording, facts->owner)});
    }
}

/* "%full[1] of CTA (x=1)" */
static const char *name_copy_barrier(const grout_wording *wording) {
    const grout_near *near = &wording->facts->near;
    grout_text text = {.allocator = wording->checker->allocator};
    grout_wording__add_element_of(wording, near->element, near->cta,
                                  wording->facts->sides[0].origin.cta, &text);
    return grout_wording__keep(wording, &text);
}

static void add_wait_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const char *thread = grout_wording__get_kind(&wording->facts->sides[0].origin);
    const char *element = name_copy_barrier(wording);
    const grout_words words = {.phase = near->phase, .element = element, .thread = thread};
    if (near->kind == GROUT_NEAR_BARRIER_GONE) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_GONE_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_NEVER_WAITED) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_NEVER_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_WAIT_FRESH) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_FRESH_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_WAIT_EARLIER) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_EARLIER_EDGE, &words);
    } else if (near->kind == GROUT_NEAR_WAIT_ELSEWHERE) {
        grout_sentence__add(
            out, GROUT_SENTENCE_AWAIT_ELSEWHERE_EDGE,
            &(grout_words){.element = element,
                           .thread = thread,
                           .other_element = grout_wording__name_element(wording, near->number)});
    } else if (near->kind == GROUT_NEAR_WAIT_ABROAD) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_ABROAD_EDGE, &words);
    }
}

/* "wait_smem_to_gmem 1", "plgpu.wait_smem_to_gmem(1)": a wait for bulk groups, with this number. */
static const char *spell_group_wait(const grout_wording *wording, uint32_t allowed) {
    return grout_wording__spell(wording, GROUT_SPELLING_WAIT_STORES,
                                &(grout_words){.number = allowed});
}

/* The wait leaves the copy's group in flight; at the end of a scope another one is missing. */
static void add_group_left_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_words words = {.op = spell_group_wait(wording, near->number),
                               .other_op = spell_group_wait(wording, near->wait_needed)};
    if (near->number == near->wait_needed + 1) {
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_LEFT_ONE_EDGE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_LEFT_MORE_EDGE, &words);
    }
}

static void add_group_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    const grout_origin *copy = &wording->facts->sides[1].origin;
    const grout_words words = {.line = grout_wording__get_line(wording, copy),
                               .thread = grout_wording__get_kind(copy)};
    switch (near->kind) {
    case GROUT_NEAR_GROUP_LEFT:
        add_group_left_edge(wording, out);
        break;
    case GROUT_NEAR_GROUP_READ_ONLY:
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_READ_ONLY_EDGE, NULL);
        break;
    case GROUT_NEAR_GROUP_BEFORE:
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_BEFORE_EDGE, &words);
        break;
    case GROUT_NEAR_GROUP_WAS_OPEN:
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_WAS_OPEN_EDGE, &words);
        break;
    case GROUT_NEAR_GROUP_OPEN:
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_OPEN_EDGE, NULL);
        break;
    case GROUT_NEAR_GROUP_NEVER:
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_NEVER_EDGE, NULL);
        break;
    case GROUT_NEAR_GROUP_OTHER_THREAD:
        grout_sentence__add(out, GROUT_SENTENCE_GROUP_OTHER_THREAD_EDGE, &words);
        break;
    default:
        break;
    }
}

/* The source of a load, written by a thread that issued it or knows of the issue: in order, but for
 * the engine. */
static void add_reading_edge(const grout_wording *wording, grout_text *out) {
    const grout_near *near = &wording->facts->near;
    grout_sentence__add(
        out, GROUT_SENTENCE_RACE_READING_EDGE,
        &(grout_words){.line = grout_wording__get_line(wording, &wording->facts->sides[1].origin),
                       .phase = near->phase,
                       .element = grout_wording__name_element(wording, near->element)});
}

static void add_map_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->side_count == 1 && facts->fault.use == GROUT_MAP_NOT_ACQUIRED) {
        grout_sentence__add(out, GROUT_SENTENCE_MAP_EARLY_EDGE, NULL);
    } else if (facts->side_count == 1) {
        grout_sentence__add(out, GROUT_SENTENCE_MAP_REPLACED_EDGE, NULL);
    } else if (facts->near.kind == GROUT_NEAR_STILL_READING) {
        grout_sentence__add(
            out, GROUT_SENTENCE_MAP_READING_EDGE,
            &(grout_words){.phase = facts->near.phase,
                           .element = grout_wording__name_element(wording, facts->near.element)});
    } else {
        add_group_edge(wording, out);
    }
}

/* Two accesses that a signal and a wait, or an arrive and a wait, would have put in order. */
static void add_unordered_edge(const grout_wording *wording, grout_text *out) {
    const grout_side *write = &wording->facts->sides[0];
    const grout_side *other = &wording->facts->sides[1];
    const grout_near *near = &wording->facts->near;
    const grout_op_id counter =
        wording->record->code == GROUT_DIAG_GMEM_RACE ? grout_wording__find_counter(wording) : 0;
    const grout_words words = {.what = grout_phrase__get(other->is_write ? GROUT_PHRASE_BOTH_WRITE
                                                                         : GROUT_PHRASE_ONE_READS)};
    if (near->kind == GROUT_NEAR_MMA_COMMIT_ONLY) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_COMMIT_ONLY_EDGE,
                            &(grout_words){.what = words.what,
                                           .line = grout_wording__get_line(wording, &near->origin),
                                           .thread = grout_wording__get_kind(&near->origin)});
    } else if (counter != 0) {
        const grout_origin origin = {.op = counter};
        grout_sentence__add(out, GROUT_SENTENCE_RACE_COUNTER_EDGE,
                            &(grout_words){.what = words.what,
                                           .op = grout_wording__get_mnemonic(wording, &origin),
                                           .line = grout_wording__get_line(wording, &origin)});
    } else if (write->stamp.cluster != other->stamp.cluster) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_NO_SIGNAL_EDGE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_NO_ARRIVE_EDGE, &words);
    }
}

/* Two launches of a list. */
static void add_grid_edge(const grout_wording *wording, grout_text *out) {
    if (wording->facts->near.kind == GROUT_NEAR_GRID_NEVER) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_GRID_NEVER_EDGE, NULL);
    } else if (wording->facts->near.kind == GROUT_NEAR_GRID_LATE) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_GRID_LATE_EDGE, NULL);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_GRID_FURTHER_EDGE, NULL);
    }
}

static void add_race_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_side *write = &facts->sides[0];
    const grout_side *other = &facts->sides[1];
    if (grout_near__is_of_grids(&facts->near)) {
        add_grid_edge(wording, out);
    } else if (write->is_atomic && other->is_atomic) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_ATOMICS_EDGE, NULL);
    } else if (grout_record__find_poll(wording->module, wording->record)) {
        grout_sentence__add(out, GROUT_SENTENCE_RACE_FLAG_EDGE, NULL);
    } else if (write->stamp.cluster != other->stamp.cluster &&
               !wording->checker->info.has_foreign_order) {
        grout_sentence__add(
            out, GROUT_SENTENCE_RACE_LAUNCH_EDGE,
            &(grout_words){.what = grout_phrase__get(wording->checker->shape.cta_count > 1
                                                         ? GROUT_PHRASE_CLUSTERS
                                                         : GROUT_PHRASE_CTAS)});
    } else if (facts->near.kind == GROUT_NEAR_STILL_READING) {
        add_reading_edge(wording, out);
    } else if (!grout_wording__add_async_copy_edge(wording, 1, out)) {
        add_unordered_edge(wording, out);
    }
}

/* What two writes leave. */
static void add_equality(const grout_wording *wording, grout_text *out) {
    if (wording->record->code == GROUT_DIAG_SAME_VALUE_RACE) {
        if (wording->facts->is_equal_varied) {
            grout_sentence__add(out, GROUT_SENTENCE_SAME_VALUE_EDGE, NULL);
        } else {
            grout_sentence__add(out, GROUT_SENTENCE_SAME_VALUE_ALONE_EDGE, NULL);
        }
        return;
    }
    switch ((grout_equal_once)wording->facts->equal_once) {
    case GROUT_EQUAL_ONCE_INPUTS:
        grout_sentence__add(out, GROUT_SENTENCE_EQUAL_ONCE_INPUTS_EDGE, NULL);
        break;
    case GROUT_EQUAL_ONCE_UNMET:
        grout_sentence__add(out, GROUT_SENTENCE_EQUAL_ONCE_UNMET_EDGE, NULL);
        break;
    case GROUT_EQUAL_ONCE_SCHEDULE:
        grout_sentence__add(out, GROUT_SENTENCE_EQUAL_ONCE_SCHEDULE_EDGE, NULL);
        break;
    case GROUT_EQUAL_ONCE_NOT:
    case GROUT_EQUAL_ONCE_COUNT:
        break;
    }
}

static void add_edge(const grout_wording *wording, grout_text *out) {
    grout_diag_code code = wording->record->code;
    if (grout_wording__add_protocol_edge(wording, out) ||
        grout_wording__add_tensor_edge(wording, out) ||
        grout_wording__add_peer_edge(wording, out)) {
        return;
    }
    if (code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR ||
        code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        add_commit_edge(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_NOT_AWAITED) {
        if (!grout_wording__add_async_copy_edge(wording, 1, out)) {
            add_wait_edge(wording, out);
        }
    } else if (code == GROUT_DIAG_SMEM_SOURCE_REUSE || code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE) {
        add_group_edge(wording, out);
    } else if (code == GROUT_DIAG_TENSORMAP_IN_FLIGHT) {
        add_map_edge(wording, out);
    } else if (grout_code__is_about_wgmma(code)) {
        grout_wording__add_wgmma_edge(wording, out);
    } else if (code == GROUT_DIAG_SMEM_RACE || code == GROUT_DIAG_GMEM_RACE ||
               code == GROUT_DIAG_TMEM_RACE || code == GROUT_DIAG_SAME_VALUE_RACE) {
        add_race_edge(wording, out);
    } else if (code == GROUT_DIAG_ASYNC_AT_EXIT) {
        if (grout_wording__add_async_copy_edge(wording, 0, out)) {
            return;
        }
        if (wording->facts->near.kind == GROUT_NEAR_BARRIER_GONE) {
            add_wait_edge(wording, out);
        } else if (grout_wording__is_wgmma(wording, &wording->facts->sides[0])) {
            grout_wording__add_wgmma_edge(wording, out);
        } else {
            add_group_edge(wording, out);
        }
    } else if (code == GROUT_DIAG_BARRIER_OVERRUN) {
        grout_wording__add_overrun_edge(wording, out);
    }
}

void grout_wording__add_missing_edge(const grout_wording *wording, grout_text *out) {
    add_edge(wording, out);
    add_equality(wording, out);
}
