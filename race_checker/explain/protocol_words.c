/*
 * protocol_words.c - headlines, missing edges and repairs of barriers, semaphores and what else
 * synchronises.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include <inttypes.h>

typedef bool add_words(const grout_wording *wording, grout_text *out);

/* The words for a code. A row of subject USUAL is for all subjects without a row of their own. */
typedef struct words_row {
    grout_diag_code code;
    grout_subject subject;
    add_words *headline, *edge, *repair;
    grout_phrase_id related; /* how the related place is introduced; NOTHING: as usual */
} words_row;

static const char *name_element(const grout_wording *wording) {
    return grout_wording__name_element(wording, wording->facts->element);
}

static uint32_t get_related_line(const grout_wording *wording) {
    return grout_wording__get_line(wording, &wording->facts->sides[1].origin);
}

/* ---- barriers ---- */

/* A wait on a fresh mbarrier, for the phase before the first. */
static bool add_fresh_overrun(const grout_wording *wording, grout_text *out) {
    if (wording->facts->phase != UINT32_MAX) {
        return false;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_OVERRUN_FRESH_HEAD,
        &(grout_words){.element = name_element(wording), .line = get_related_line(wording)});
    return true;
}

static bool add_fresh_edge(const grout_wording *wording, grout_text *out) {
    if (wording->facts->phase != UINT32_MAX) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_OVERRUN_FRESH_EDGE, NULL);
    return true;
}

static bool add_warps_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out, GROUT_SENTENCE_WARPS_HEAD,
                        &(grout_words){.element = name_element(wording)});
    return true;
}

static bool add_warps_edge(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out, GROUT_SENTENCE_WARPS_EDGE,
                        &(grout_words){.have = wording->facts->have, .need = wording->facts->need});
    return true;
}

static bool add_warps_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_WARPS_HELP, NULL);
    return true;
}

static bool add_bytes_headline(const grout_wording *wording, grout_text *out) {
    int64_t due = wording->facts->have;
    const grout_words words = {.phase = wording->facts->phase,
                               .element = name_element(wording),
                               .bytes = due < 0 ? -due : due};
    if (due < 0) {
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_MORE_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_FEWER_HEAD, &words);
    }
    return true;
}

/* The same from the machine, which knows both numbers; too many to count has words of its own. */
static bool add_uneven_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->need == (1 << 20) - 1) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_BYTES_UNEVEN_HEAD,
                        &(grout_words){.phase = facts->phase,
                                       .element = name_element(wording),
                                       .have = facts->have,
                                       .need = facts->need});
    return true;
}

static bool add_late_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_BYTES_LATE_HEAD,
        &(grout_words){.phase = wording->facts->phase, .element = name_element(wording)});
    return true;
}

static bool add_late_edge(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out,
                        wording->record->code == GROUT_DIAG_BARRIER_OVERRUN
                            ? GROUT_SENTENCE_BYTES_LATE_ISSUE_EDGE
                            : GROUT_SENTENCE_BYTES_LATE_EDGE,
                        NULL);
    return true;
}

static const char *name_phase(const grout_wording *wording, int64_t phase) {
    grout_text text = {.allocator = wording->checker->allocator};
    if (phase < 0) {
        return grout_phrase__get(GROUT_PHRASE_BEFORE_PHASE_0);
    }
    grout_sentence__add(&text, GROUT_SENTENCE_PHASE, &(grout_words){.phase = phase});
    return grout_wording__keep(wording, &text);
}

static bool add_parity_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    grout_sentence__add(out, GROUT_SENTENCE_PARITY_HEAD,
                        &(grout_words){.parity = facts->need,
                                       .element = name_element(wording),
                                       .what = name_phase(wording, (int32_t)facts->phase),
                                       .other = name_phase(wording, facts->have)});
    return true;
}

static bool add_parity_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_PARITY_EDGE, NULL);
    return true;
}

static bool add_parity_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_PARITY_HELP, NULL);
    return true;
}

/* ---- the life of mbarriers ---- */

static bool add_end_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_LIFE_END_HEAD,
        &(grout_words){.element = name_element(wording), .line = get_related_line(wording)});
    return true;
}

static bool add_end_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_LIFE_END_EDGE, NULL);
    return true;
}

static bool add_end_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_LIFE_END_HELP, NULL);
    return true;
}

static bool add_init_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out, GROUT_SENTENCE_LIFE_INIT_HEAD,
                        &(grout_words){.element = name_element(wording)});
    return true;
}

static bool add_init_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_LIFE_INIT_HELP, NULL);
    return true;
}

static bool add_gone_on_headline(const grout_wording *wording, grout_text *out) {
    uint32_t phase = wording->facts->phase;
    grout_sentence__add(
        out, GROUT_SENTENCE_GONE_ON_HEAD,
        &(grout_words){.next = phase + 1, .element = name_element(wording), .phase = phase});
    return true;
}

static bool add_gone_on_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_GONE_ON_EDGE, NULL);
    return true;
}

static bool add_gone_on_repair(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out, GROUT_SENTENCE_GONE_ON_HELP,
                        &(grout_words){.parity = wording->facts->phase % 2});
    return true;
}

static bool add_live_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out, GROUT_SENTENCE_LEFT_LIVE_HEAD,
                        &(grout_words){.element = name_element(wording)});
    return true;
}

static bool add_live_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_LEFT_LIVE_EDGE, NULL);
    return true;
}

static bool add_live_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_LEFT_LIVE_HELP, NULL);
    return true;
}

static bool add_unborn_headline(const grout_wording *wording, grout_text *out) {
    if (!wording->facts->fault.object) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_UNBORN_HEAD,
                        &(grout_words){.element = name_element(wording)});
    return true;
}

static bool add_unborn_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_UNBORN_HELP, NULL);
    return true;
}

static bool add_ended_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_ENDED_HEAD,
        &(grout_words){.element = name_element(wording), .line = get_related_line(wording)});
    return true;
}

static bool add_ended_repair(const grout_wording *wording, grout_text *out) {
    const grout_origin *use = &wording->facts->sides[0].origin;
    grout_sentence__add(out, GROUT_SENTENCE_ENDED_HELP,
                        &(grout_words){.line = get_related_line(wording),
                                       .op = grout_wording__get_mnemonic(wording, use)});
    return true;
}

static bool add_visible_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_INIT_UNKNOWN_HEAD,
        &(grout_words){.element = name_element(wording), .line = get_related_line(wording)});
    return true;
}

static bool is_remote(const grout_wording *wording) {
    return wording->facts->sides[0].origin.cta != wording->facts->sides[1].origin.cta;
}

static bool add_visible_edge(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out,
                        is_remote(wording) ? GROUT_SENTENCE_INIT_UNKNOWN_ABROAD_EDGE
                                           : GROUT_SENTENCE_INIT_UNKNOWN_EDGE,
                        NULL);
    return true;
}

static bool add_visible_repair(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(out,
                        is_remote(wording) ? GROUT_SENTENCE_INIT_UNKNOWN_ABROAD_HELP
                                           : GROUT_SENTENCE_INIT_UNKNOWN_HELP,
                        NULL);
    return true;
}

/* ---- clusters ---- */

static bool add_arrival_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_ARRIVAL_GONE_HEAD,
        &(grout_words){.element = name_element(wording), .cta_index = wording->facts->owner});
    return true;
}

static bool add_arrival_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_ARRIVAL_GONE_EDGE, NULL);
    return true;
}

static bool add_arrival_repair(const grout_wording *wording, grout_text *out) {
    const grout_op *op = grout_module_get_op(wording->module, wording->facts->sides[0].origin.op);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (grout_wording__add_short_wait_repair(wording, out)) {
        return true;
    }
    if (sync != NULL && sync->tensor == GROUT_SYNC_TENSOR_SEALS) {
        grout_sentence__add(out, GROUT_SENTENCE_ARRIVAL_GONE_COMMIT_HELP, NULL);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_ARRIVAL_GONE_HELP,
                            &(grout_words){.op = grout_wording__spell_meeting(wording),
                                           .more = grout_wording__spell(
                                               wording, GROUT_SPELLING_CLUSTER_SYNC_TOO, NULL)});
    }
    return true;
}

/* The name of a cluster axis, counted among those of the kernel; "": it has no such axis. */
static const char *get_cluster_axis(const grout_wording *wording, uint32_t left) {
    const grout_kernel *kernel =
        grout_module_get_kernel(wording->module, wording->checker->info.kernel);
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == GROUT_AXIS_CLUSTER && left-- == 0) {
            return grout_module_get_string(wording->module, kernel->axes[i].name);
        }
    }
    return "";
}

/* A place that the cluster does not have: the dimension counts its axes after all others. */
static bool add_place_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    if (fault->dimension < GROUT_RANK_MAX) {
        return false;
    }
    grout_sentence__add(
        out, GROUT_SENTENCE_CLUSTER_PLACE_HEAD,
        &(grout_words){.start = fault->start,
                       .what = get_cluster_axis(wording, fault->dimension - GROUT_RANK_MAX),
                       .limit = fault->limit});
    return true;
}

static bool add_rendezvous_headline(const grout_wording *wording, grout_text *out) {
    if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        grout_sentence__add(out, GROUT_SENTENCE_RENDEZVOUS_END_HEAD, NULL);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_RENDEZVOUS_AGAIN_HEAD, NULL);
    }
    return true;
}

static bool add_rendezvous_edge(const grout_wording *wording, grout_text *out) {
    if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        return true;
    }
    grout_sentence__add(out, GROUT_SENTENCE_RENDEZVOUS_EDGE, NULL);
    return true;
}

static bool add_rendezvous_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_RENDEZVOUS_HELP, NULL);
    return true;
}

static const char *name_divergence(grout_divergence divergence) {
    switch (divergence) {
    case GROUT_DIVERGENCE_SOURCE:
        return grout_phrase__get(GROUT_PHRASE_COPY_OTHER_SOURCE);
    case GROUT_DIVERGENCE_DESTINATION:
        return grout_phrase__get(GROUT_PHRASE_COPY_OTHER_DESTINATION);
    case GROUT_DIVERGENCE_PARTS:
        return grout_phrase__get(GROUT_PHRASE_COPY_OTHER_PARTS);
    case GROUT_DIVERGENCE_BARRIER:
        return grout_phrase__get(GROUT_PHRASE_COPY_OTHER_BARRIER);
    case GROUT_DIVERGENCE_NONE:
    case GROUT_DIVERGENCE_ENDED:
    case GROUT_DIVERGENCE_STUCK:
        break;
    }
    return "";
}

/* ---- pairs of CTAs ---- */

static bool add_leader_headline(const grout_wording *wording, grout_text *out) {
    const grout_origin *origin = &wording->facts->sides[0].origin;
    grout_sentence__add(out, GROUT_SENTENCE_LEADER_HEAD,
                        &(grout_words){.op = grout_wording__get_mnemonic(wording, origin),
                                       .cta = grout_wording__name_cta(wording, origin->cta)});
    return true;
}

static bool add_leader_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_LEADER_EDGE, NULL);
    return true;
}

static bool add_leader_repair(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_LEADER_HELP,
        &(grout_words){.op = grout_wording__spell(wording, GROUT_SPELLING_IF_LEADER, NULL)});
    return true;
}

static bool add_copy_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_words words = {.cta_index = facts->sides[0].origin.cta,
                               .other_cta_index = facts->owner,
                               .line = facts->side_count > 1 ? get_related_line(wording) : 0,
                               .what = name_divergence((grout_divergence)facts->have)};
    if (facts->have == GROUT_DIVERGENCE_ENDED) {
        grout_sentence__add(out, GROUT_SENTENCE_COPIES_ENDED_HEAD, &words);
    } else if (facts->have == GROUT_DIVERGENCE_STUCK) {
        grout_sentence__add(out, GROUT_SENTENCE_COPIES_STUCK_HEAD, &words);
    } else if (facts->side_count > 1) {
        grout_sentence__add(out, GROUT_SENTENCE_COPIES_OTHER_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_COPIES_DIFFER_HEAD, &words);
    }
    return true;
}

static bool add_copy_edge(const grout_wording *wording, grout_text *out) {
    int64_t divergence = wording->facts->have;
    if (divergence == GROUT_DIVERGENCE_ENDED || divergence == GROUT_DIVERGENCE_STUCK ||
        divergence == GROUT_DIVERGENCE_BARRIER) {
        grout_sentence__add(out, GROUT_SENTENCE_COPIES_MISSING_EDGE, NULL);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_COPIES_DIFFER_EDGE, NULL);
    }
    return true;
}

static bool add_copy_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_COPIES_HELP, NULL);
    return true;
}

/* ---- named barriers ---- */

static bool add_named_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_words words = {.number = facts->element, .phase = (uint32_t)(facts->phase - 1)};
    if (facts->subject == GROUT_SUBJECT_NAMED_TWICE) {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_TWICE_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_HEAD, &words);
    }
    return true;
}

static bool add_named_edge(const grout_wording *wording, grout_text *out) {
    const grout_words words = {.need = wording->facts->need};
    if (wording->facts->counts_lanes) {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_LANES_EDGE, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_EDGE, &words);
    }
    return true;
}

static bool add_named_repair(const grout_wording *wording, grout_text *out) {
    if (!grout_wording__add_lanes_repair(wording, out)) {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_HELP, NULL);
    }
    return true;
}

static bool add_mismatch_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_words words = {
        .number = facts->element, .phase = facts->phase, .have = facts->have, .need = facts->need};
    if (facts->subject == GROUT_SUBJECT_NAMED_COUNTS) {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_COUNTS_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_FULL_HEAD, &words);
    }
    return true;
}

static bool add_mismatch_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_NAMED_MISMATCH_HELP, NULL);
    return true;
}

static bool add_named_range_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_words words = {.have = facts->have, .need = facts->need};
    if (facts->sides[0].origin.operand == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_ID_HEAD, &words);
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_COUNT_HEAD, &words);
    }
    return true;
}

static bool add_named_range_repair(const grout_wording *wording, grout_text *out) {
    if (wording->facts->sides[0].origin.operand == 0) {
        grout_sentence__add(out, GROUT_SENTENCE_NAMED_ID_HELP,
                            &(grout_words){.limit = wording->facts->need});
        return true;
    }
    grout_sentence__add(out, GROUT_SENTENCE_NAMED_COUNT_HELP, NULL);
    return true;
}

/* ---- semaphores ---- */

static const char *name_semaphore(const grout_wording *wording) {
    const grout_facts *facts = wording->facts;
    grout_text text = {.allocator = wording->checker->allocator};
    grout_element__print(wording->module, facts->fault.object, facts->element, &text);
    return grout_wording__keep(wording, &text);
}

static bool add_ambiguous_headline(const grout_wording *wording, grout_text *out) {
    grout_sentence__add(
        out, GROUT_SENTENCE_AMBIGUOUS_HEAD,
        &(grout_words){.object = name_semaphore(wording), .line = get_related_line(wording)});
    return true;
}

static bool add_ambiguous_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_AMBIGUOUS_EDGE, NULL);
    return true;
}

static bool add_ambiguous_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_sentence__add(out, GROUT_SENTENCE_AMBIGUOUS_HELP, NULL);
    return true;
}

static bool add_restored_headline(const grout_wording *wording, grout_text *out) {
    int64_t have = wording->facts->have;
    grout_sentence__add(out, GROUT_SENTENCE_RESTORED_HEAD,
                        &(grout_words){.object = name_semaphore(wording),
                                       .have = have,
                                       .s = grout_phrase__get_plural(have)});
    return true;
}

static bool add_restored_repair(const grout_wording *wording, grout_text *out) {
    const char *wait = grout_wording__spell(
        wording, GROUT_SPELLING_SEMAPHORE_TAKE,
        &(grout_words){.object = name_semaphore(wording), .have = wording->facts->have});
    grout_sentence__add(out, GROUT_SENTENCE_RESTORED_HELP, &(grout_words){.op = wait});
    return true;
}

/* Whether it is about the units of the whole launch, which a wait looks at. */
static bool is_of_total(const grout_wording *wording) {
    return wording->facts->fault.is_static;
}

static bool add_range_headline(const grout_wording *wording, grout_text *out) {
    const int64_t have = wording->facts->have;
    const char *object = name_semaphore(wording);
    if (is_of_total(wording)) {
        grout_sentence__add(out, GROUT_SENTENCE_TOTAL_RANGE_HEAD,
                            &(grout_words){.have = have, .object = object});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_UNITS_RANGE_HEAD,
                            &(grout_words){.have = have, .object = object});
    }
    return true;
}

static bool add_range_edge(const grout_wording *wording, grout_text *out) {
    if (is_of_total(wording)) {
        grout_sentence__add(out, GROUT_SENTENCE_TOTAL_RANGE_EDGE,
                            &(grout_words){.op = grout_wording__spell(
                                               wording, GROUT_SPELLING_SEMAPHORE_WAIT, NULL)});
    }
    return is_of_total(wording);
}

static bool add_range_repair(const grout_wording *wording, grout_text *out) {
    if (is_of_total(wording)) {
        grout_sentence__add(out, GROUT_SENTENCE_TOTAL_RANGE_HELP, NULL);
    }
    return is_of_total(wording);
}

/* ---- the table ---- */

static const words_row ROWS[] = {
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_USUAL, add_fresh_overrun, add_fresh_edge, NULL,
     GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_NAMED, add_named_headline, add_named_edge,
     add_named_repair, GROUT_PHRASE_RELATED_OWN_ARRIVAL},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_NAMED_TWICE, add_named_headline, add_named_edge,
     add_named_repair, GROUT_PHRASE_RELATED_OWN_ARRIVAL},
    {GROUT_DIAG_NAMED_MISMATCH, GROUT_SUBJECT_NAMED_COUNTS, add_mismatch_headline, NULL,
     add_mismatch_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_NAMED_MISMATCH, GROUT_SUBJECT_NAMED_FULL, add_mismatch_headline, NULL,
     add_mismatch_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_NAMED_RANGE, GROUT_SUBJECT_USUAL, add_named_range_headline, NULL,
     add_named_range_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_RENDEZVOUS, add_rendezvous_headline,
     add_rendezvous_edge, add_rendezvous_repair, GROUT_PHRASE_RELATED_ARRIVE},
    {GROUT_DIAG_BARRIER_UNOBSERVED, GROUT_SUBJECT_GONE_ON, add_gone_on_headline, add_gone_on_edge,
     add_gone_on_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_UNOBSERVED, GROUT_SUBJECT_RENDEZVOUS, add_rendezvous_headline,
     add_rendezvous_edge, add_rendezvous_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_SKIPPED, GROUT_SUBJECT_WARPS, add_warps_headline, add_warps_edge,
     add_warps_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, GROUT_SUBJECT_USUAL, add_uneven_headline, NULL, NULL,
     GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, GROUT_SUBJECT_LATE, add_late_headline, add_late_edge,
     grout_wording__add_bytes_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_LATE, add_late_headline, add_late_edge, NULL,
     GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, GROUT_SUBJECT_BYTES, add_bytes_headline, NULL,
     grout_wording__add_bytes_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_WRONG_PARITY, GROUT_SUBJECT_USUAL, add_parity_headline, add_parity_edge,
     add_parity_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_USUAL, add_unborn_headline, NULL,
     add_unborn_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_END, add_end_headline, add_end_edge,
     add_end_repair, GROUT_PHRASE_RELATED_USE},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_INIT, add_init_headline, NULL, add_init_repair,
     GROUT_PHRASE_RELATED_INIT_BEFORE},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_ENDED, add_ended_headline, NULL,
     add_ended_repair, GROUT_PHRASE_RELATED_LIFE_END},
    {GROUT_DIAG_BARRIER_LEFT_LIVE, GROUT_SUBJECT_USUAL, add_live_headline, add_live_edge,
     add_live_repair, GROUT_PHRASE_RELATED_SCOPE},
    {GROUT_DIAG_INIT_NOT_VISIBLE, GROUT_SUBJECT_USUAL, add_visible_headline, add_visible_edge,
     add_visible_repair, GROUT_PHRASE_RELATED_INIT},
    {GROUT_DIAG_CLUSTER_EXIT, GROUT_SUBJECT_ARRIVAL, add_arrival_headline, add_arrival_edge,
     add_arrival_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_OUT_OF_BOUNDS, GROUT_SUBJECT_USUAL, add_place_headline, NULL,
     grout_wording__add_outside_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_COLLECTIVE_DIVERGENCE, GROUT_SUBJECT_COPY, add_copy_headline, add_copy_edge,
     add_copy_repair, GROUT_PHRASE_RELATED_COPY},
    {GROUT_DIAG_PAIR_LEADER, GROUT_SUBJECT_USUAL, add_leader_headline, add_leader_edge,
     add_leader_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_SEMAPHORE_AMBIGUOUS, GROUT_SUBJECT_USUAL, add_ambiguous_headline,
     add_ambiguous_edge, add_ambiguous_repair, GROUT_PHRASE_RELATED_SIGNAL},
    {GROUT_DIAG_SEMAPHORE_NOT_RESTORED, GROUT_SUBJECT_USUAL, add_restored_headline, NULL,
     add_restored_repair, GROUT_PHRASE_NOTHING},
    {GROUT_DIAG_SEMAPHORE_RANGE, GROUT_SUBJECT_USUAL, add_range_headline, add_range_edge,
     add_range_repair, GROUT_PHRASE_NOTHING}};

static const words_row *find_row(const grout_wording *wording) {
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        if (ROWS[i].code == wording->record->code &&
            (uint8_t)ROWS[i].subject == wording->facts->subject) {
            return &ROWS[i];
        }
    }
    return NULL;
}

bool grout_wording__add_protocol_headline(const grout_wording *wording, grout_text *out) {
    const words_row *row = find_row(wording);
    return row && row->headline && row->headline(wording, out);
}

bool grout_wording__add_protocol_edge(const grout_wording *wording, grout_text *out) {
    const words_row *row = find_row(wording);
    return row && row->edge && row->edge(wording, out);
}

bool grout_wording__add_protocol_repair(const grout_wording *wording, grout_text *out) {
    const words_row *row = find_row(wording);
    return row && row->repair && row->repair(wording, out);
}

const char *grout_wording__get_protocol_opening(const grout_wording *wording) {
    const words_row *row = find_row(wording);
    return row && row->related != GROUT_PHRASE_NOTHING ? grout_phrase__get(row->related) : NULL;
}
