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
    const char *related; /* how the related place is introduced; NULL: as usual */
} words_row;

static void add_element(const grout_wording *wording, grout_text *out) {
    grout_wording__add_element(wording, wording->facts->element, out);
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
    grout_text_add(out, "phase 0 of ");
    add_element(wording, out);
    grout_text_add(out,
                   " can complete before the wait at line %" PRIu32 " has seen that it is fresh",
                   get_related_line(wording));
    return true;
}

static bool add_fresh_edge(const grout_wording *wording, grout_text *out) {
    if (wording->facts->phase != UINT32_MAX) {
        return false;
    }
    grout_text_add(out, "nothing makes the completion of phase 0 come after that wait, which means "
                        "the phase before it: come late, it sees the parity of phase 0 and blocks");
    return true;
}

static bool add_warps_headline(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "this thread waits on ");
    add_element(wording, out);
    grout_text_add(out, " although its warps have not waited on it equally often");
    return true;
}

static bool add_warps_edge(const grout_wording *wording, grout_text *out) {
    grout_text_add(out,
                   "one of its warps has waited for %" PRId64 " phases and another for %" PRId64
                   ": which phase the thread means differs from warp to warp",
                   wording->facts->have, wording->facts->need);
    return true;
}

static bool add_warps_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out,
                   "let all four warps wait on this barrier equally often, or only the thread");
    return true;
}

static bool add_bytes_headline(const grout_wording *wording, grout_text *out) {
    int64_t due = wording->facts->have;
    grout_text_add(out, "phase %" PRIu32 " of ", wording->facts->phase);
    add_element(wording, out);
    grout_text_add(out, " has all its arrivals and %" PRId64 " bytes %s, and nothing is in flight",
                   due < 0 ? -due : due,
                   due < 0 ? "more than were announced" : "fewer than were announced");
    return true;
}

/* The same from the machine, which knows both numbers; too many to count has words of its own. */
static bool add_uneven_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->need == (1 << 20) - 1) {
        return false;
    }
    grout_text_add(out, "phase %" PRIu32 " of ", facts->phase);
    add_element(wording, out);
    grout_text_add(out,
                   " has all its arrivals, %" PRId64 " bytes of the %" PRId64
                   " that were announced, and nothing is in flight",
                   facts->have, facts->need);
    return true;
}

static bool add_late_headline(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "phase %" PRIu32 " of ", wording->facts->phase);
    add_element(wording, out);
    grout_text_add(out, " can complete without the bytes that this brings to it");
    return true;
}

static bool add_late_edge(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "%s",
                   wording->record->code == GROUT_DIAG_BARRIER_OVERRUN
                       ? "the bytes announce themselves when this is issued, and no "
                         "arrival of the phase comes after it"
                       : "they were not announced: the phase was complete before");
    return true;
}

static void add_phase_name(int64_t phase, grout_text *out) {
    if (phase < 0) {
        grout_text_add(out, "the state before phase 0");
    } else {
        grout_text_add(out, "phase %" PRId64, phase);
    }
}

static bool add_parity_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    grout_text_add(out, "this wait with parity %" PRId64 " on ", facts->need);
    add_element(wording, out);
    grout_text_add(out, " meant ");
    add_phase_name((int32_t)facts->phase, out);
    grout_text_add(out, ", and got ");
    add_phase_name(facts->have, out);
    return true;
}

static bool add_parity_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out,
                   "by what this thread knows to be complete the parity names the one; when it "
                   "came to wait the mbarrier had gone on, and the parity stood for the other");
    return true;
}

static bool add_parity_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "make the arrivals of the next phase come after this wait: an mbarrier on "
                        "which this thread arrives when it is done, awaited before them");
    return true;
}

/* ---- the life of mbarriers ---- */

static bool add_end_headline(const grout_wording *wording, grout_text *out) {
    add_element(wording, out);
    grout_text_add(out, " ends or begins anew here, and the use at line %" PRIu32 " may come later",
                   get_related_line(wording));
    return true;
}

static bool add_end_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "nothing orders that use, or the phase that it belongs to, before this");
    return true;
}

static bool add_end_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "wait for the phase, and let all who use the mbarrier arrive on another "
                        "one that is awaited here (cluster_barrier if other CTAs use it)");
    return true;
}

static bool add_init_headline(const grout_wording *wording, grout_text *out) {
    add_element(wording, out);
    grout_text_add(out, " is initialised while it is live");
    return true;
}

static bool add_init_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "let one thread initialise it once, or end it with mbarrier_invalidate "
                        "before");
    return true;
}

static bool add_gone_on_headline(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "this arrives in phase %" PRIu32 " of ", wording->facts->phase + 1);
    add_element(wording, out);
    grout_text_add(out, ", and nobody has waited for phase %" PRIu32, wording->facts->phase);
    return true;
}

static bool add_gone_on_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "PTX asks that at least one wait or test finds a phase complete before an "
                        "arrive in the next one");
    return true;
}

static bool add_gone_on_repair(const grout_wording *wording, grout_text *out) {
    grout_text_add(out,
                   "put mbarrier_wait, with parity %" PRIu32
                   ", before it; or initialise the mbarrier with more arrivals, if these are meant "
                   "to make one phase",
                   wording->facts->phase % 2);
    return true;
}

static bool add_live_headline(const grout_wording *wording, grout_text *out) {
    add_element(wording, out);
    grout_text_add(out, " is initialised here, and is live when its scope ends");
    return true;
}

static bool add_live_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "the end of the scope does not end the mbarrier, and whoever uses its "
                        "bytes next finds it");
    return true;
}

static bool add_live_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "end it with mbarrier_invalidate before the scope ends, when all who use "
                        "it have met");
    return true;
}

static bool add_unborn_headline(const grout_wording *wording, grout_text *out) {
    if (!wording->facts->fault.object) {
        return false;
    }
    add_element(wording, out);
    grout_text_add(out, " is used before its mbarrier_init, or after its mbarrier_invalidate");
    return true;
}

static bool add_unborn_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out,
                   "initialise it with mbarrier_init n in the kernel's own block: a rendezvous "
                   "follows there by itself");
    return true;
}

static bool add_ended_headline(const grout_wording *wording, grout_text *out) {
    add_element(wording, out);
    grout_text_add(out,
                   " is used here, and the mbarrier_invalidate at line %" PRIu32 " has ended it",
                   get_related_line(wording));
    return true;
}

static bool add_ended_repair(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const char *mnemonic = grout_wording__get_mnemonic(wording, &facts->sides[0].origin);
    grout_text_add(out,
                   "let the mbarrier_invalidate at line %" PRIu32
                   " come after this %s, when all who use the mbarrier have met; or, if a new life "
                   "is meant, put mbarrier_init between",
                   get_related_line(wording), mnemonic);
    return true;
}

static bool add_visible_headline(const grout_wording *wording, grout_text *out) {
    add_element(wording, out);
    grout_text_add(out, " is used by a thread that does not know of its init at line %" PRIu32,
                   get_related_line(wording));
    return true;
}

static bool is_remote(const grout_wording *wording) {
    return wording->facts->sides[0].origin.cta != wording->facts->sides[1].origin.cta;
}

static bool add_visible_edge(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "nothing orders the init before this use: %s",
                   is_remote(wording) ? "another CTA needs a cluster_barrier between"
                                      : "no barrier that this thread has waited on since");
    return true;
}

static bool add_visible_repair(const grout_wording *wording, grout_text *out) {
    grout_text_add(out,
                   "initialise it in the kernel's own block, where a rendezvous follows by itself; "
                   "or %s after the init",
                   is_remote(wording) ? "let the cluster meet (cluster_barrier)"
                                      : "let the CTA meet (block_barrier)");
    return true;
}

/* ---- clusters ---- */

static bool add_arrival_headline(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "this arrives on ");
    add_element(wording, out);
    grout_text_add(out, " of CTA %" PRIu32 ", which can have ended", wording->facts->owner);
    return true;
}

static bool add_arrival_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "that CTA ends without having waited for the phase, and nothing else makes "
                        "it end after this arrival");
    return true;
}

static bool add_arrival_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "let the CTAs of the cluster meet before they end: cluster_barrier, or "
                        "'attr cluster_exit = sync' on the kernel");
    return true;
}

/* A place that the cluster does not have: the dimension counts its axes after all others. */
static bool add_place_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    const grout_kernel *kernel =
        grout_module_get_kernel(wording->module, wording->checker->info.kernel);
    uint32_t left = fault->dimension - GROUT_RANK_MAX;
    if (fault->dimension < GROUT_RANK_MAX) {
        return false;
    }
    grout_text_add(out, "place %" PRId64 " on cluster axis ", fault->start);
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == GROUT_AXIS_CLUSTER && left-- == 0) {
            grout_text_add(out, "%s",
                           grout_module_get_string(wording->module, kernel->axes[i].name));
        }
    }
    grout_text_add(out, ", which has %" PRId64, fault->limit);
    return true;
}

static bool add_rendezvous_headline(const grout_wording *wording, grout_text *out) {
    if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        grout_text_add(out, "the thread ends without the cluster_wait of this cluster_arrive");
    } else {
        grout_text_add(out, "this thread arrives on the cluster's barrier again and has not waited "
                            "since its last arrive");
    }
    return true;
}

static bool add_rendezvous_edge(const grout_wording *wording, grout_text *out) {
    if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        return true;
    }
    grout_text_add(out,
                   "each thread arrives once a generation: a second arrive counts in the place "
                   "of a thread that has not come");
    return true;
}

static bool add_rendezvous_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "put cluster_wait between");
    return true;
}

static const char *name_divergence(grout_divergence divergence) {
    switch (divergence) {
    case GROUT_DIVERGENCE_SOURCE:
        return "from another box of the source";
    case GROUT_DIVERGENCE_DESTINATION:
        return "to another box";
    case GROUT_DIVERGENCE_PARTS:
        return "whose parts lie along another dimension";
    case GROUT_DIVERGENCE_BARRIER:
        return "for another barrier";
    case GROUT_DIVERGENCE_NONE:
    case GROUT_DIVERGENCE_ENDED:
        break;
    }
    return "";
}

static bool add_copy_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    grout_text_add(out, "CTA %" PRIu32 " issues this collective copy, and CTA %" PRIu32,
                   facts->sides[0].origin.cta, facts->owner);
    if (facts->have == GROUT_DIVERGENCE_ENDED) {
        grout_text_add(out, " ends without it");
    } else if (facts->side_count > 1) {
        grout_text_add(out, " the one at line %" PRIu32 ", %s", get_related_line(wording),
                       name_divergence((grout_divergence)facts->have));
    } else {
        grout_text_add(out, " does, %s", name_divergence((grout_divergence)facts->have));
    }
    return true;
}

static bool add_copy_edge(const grout_wording *wording, grout_text *out) {
    int64_t divergence = wording->facts->have;
    if (divergence == GROUT_DIVERGENCE_ENDED || divergence == GROUT_DIVERGENCE_BARRIER) {
        grout_text_add(out,
                       "each CTA of the set brings its part to all of them: without one the others "
                       "lack its bytes, and their barriers never complete");
    } else {
        grout_text_add(out, "each CTA of the set brings its part to all of them: where their boxes "
                            "differ, what comes is no whole box");
    }
    return true;
}

static bool add_copy_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "let every CTA of collective_axes issue the same copies: the same boxes, "
                        "and for each phase of a barrier the same ones");
    return true;
}

/* ---- named barriers ---- */

static bool add_named_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->subject == GROUT_SUBJECT_NAMED_TWICE) {
        grout_text_add(out,
                       "this thread arrives on named barrier %" PRIu32 " twice for one generation",
                       facts->element);
    } else {
        grout_text_add(out,
                       "this arrival on named barrier %" PRIu32
                       " can take a place in generation %" PRIu32 ", which may not be complete",
                       facts->element, facts->phase - 1);
    }
    return true;
}

static bool add_named_edge(const grout_wording *wording, grout_text *out) {
    grout_text_add(out,
                   "the barrier counts %" PRId64
                   " arrivals, whoever makes them; this thread has not "
                   "been told that all of the generation before have come",
                   wording->facts->need);
    return true;
}

static bool add_named_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out,
                   "sync (not just arrive) on it, or another barrier, between the two arrivals; "
                   "or take another id in turn");
    return true;
}

/* ---- semaphores ---- */

static void add_semaphore(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    grout_wording__add_object(wording, facts->fault.object, out);
    if (grout_object_get_type(wording->module, facts->fault.object)->rank > 0) {
        grout_text_add(out, "[%" PRIu32 "]", facts->element);
    }
}

static bool add_ambiguous_headline(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "this wait on ");
    add_semaphore(wording, out);
    grout_text_add(out, " may be served by the signal at line %" PRIu32 " instead",
                   get_related_line(wording));
    return true;
}

static bool add_ambiguous_edge(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "units do not say whose they are: neither this wait nor one before it took "
                        "that signal, and it does not come after this wait");
    return true;
}

static bool add_ambiguous_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "wait for the units of all signals that can be there, or take a semaphore "
                        "for each");
    return true;
}

static bool add_restored_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    add_semaphore(wording, out);
    grout_text_add(out, " ends with %" PRId64 " unit%s that nobody has taken", facts->have,
                   facts->have == 1 ? "" : "s");
    return true;
}

static bool add_restored_repair(const grout_wording *wording, grout_text *out) {
    (void)wording;
    grout_text_add(out, "take them with a semaphore_wait before the end: a kernel that shares the "
                        "semaphore finds it as it was left");
    return true;
}

static bool add_range_headline(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "%" PRId64 " units on ", wording->facts->have);
    add_semaphore(wording, out);
    grout_text_add(out, ": from 1 to 2147483647 can be counted");
    return true;
}

/* ---- the table ---- */

static const words_row ROWS[] = {
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_USUAL, add_fresh_overrun, add_fresh_edge, NULL,
     NULL},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_NAMED, add_named_headline, add_named_edge,
     add_named_repair, "this thread's arrival before"},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_NAMED_TWICE, add_named_headline, add_named_edge,
     add_named_repair, "this thread's arrival before"},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_RENDEZVOUS, add_rendezvous_headline,
     add_rendezvous_edge, add_rendezvous_repair, "the arrive before"},
    {GROUT_DIAG_BARRIER_UNOBSERVED, GROUT_SUBJECT_GONE_ON, add_gone_on_headline, add_gone_on_edge,
     add_gone_on_repair, NULL},
    {GROUT_DIAG_BARRIER_UNOBSERVED, GROUT_SUBJECT_RENDEZVOUS, add_rendezvous_headline,
     add_rendezvous_edge, add_rendezvous_repair, NULL},
    {GROUT_DIAG_BARRIER_SKIPPED, GROUT_SUBJECT_WARPS, add_warps_headline, add_warps_edge,
     add_warps_repair, NULL},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, GROUT_SUBJECT_USUAL, add_uneven_headline, NULL, NULL, NULL},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, GROUT_SUBJECT_LATE, add_late_headline, add_late_edge,
     grout_wording__add_bytes_repair, NULL},
    {GROUT_DIAG_BARRIER_OVERRUN, GROUT_SUBJECT_LATE, add_late_headline, add_late_edge, NULL, NULL},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, GROUT_SUBJECT_BYTES, add_bytes_headline, NULL,
     grout_wording__add_bytes_repair, NULL},
    {GROUT_DIAG_BARRIER_WRONG_PARITY, GROUT_SUBJECT_USUAL, add_parity_headline, add_parity_edge,
     add_parity_repair, NULL},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_USUAL, add_unborn_headline, NULL,
     add_unborn_repair, NULL},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_END, add_end_headline, add_end_edge,
     add_end_repair, "the use"},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_INIT, add_init_headline, NULL, add_init_repair,
     "the init before"},
    {GROUT_DIAG_BARRIER_UNINITIALISED, GROUT_SUBJECT_ENDED, add_ended_headline, NULL,
     add_ended_repair, "the end of the mbarrier"},
    {GROUT_DIAG_BARRIER_LEFT_LIVE, GROUT_SUBJECT_USUAL, add_live_headline, add_live_edge,
     add_live_repair, "the scope"},
    {GROUT_DIAG_INIT_NOT_VISIBLE, GROUT_SUBJECT_USUAL, add_visible_headline, add_visible_edge,
     add_visible_repair, "the init"},
    {GROUT_DIAG_CLUSTER_EXIT, GROUT_SUBJECT_ARRIVAL, add_arrival_headline, add_arrival_edge,
     add_arrival_repair, NULL},
    {GROUT_DIAG_OUT_OF_BOUNDS, GROUT_SUBJECT_USUAL, add_place_headline, NULL, NULL, NULL},
    {GROUT_DIAG_COLLECTIVE_DIVERGENCE, GROUT_SUBJECT_COPY, add_copy_headline, add_copy_edge,
     add_copy_repair, "the other copy"},
    {GROUT_DIAG_SEMAPHORE_AMBIGUOUS, GROUT_SUBJECT_USUAL, add_ambiguous_headline,
     add_ambiguous_edge, add_ambiguous_repair, "the signal"},
    {GROUT_DIAG_SEMAPHORE_NOT_RESTORED, GROUT_SUBJECT_USUAL, add_restored_headline, NULL,
     add_restored_repair, NULL},
    {GROUT_DIAG_SEMAPHORE_RANGE, GROUT_SUBJECT_USUAL, add_range_headline, NULL, NULL, NULL}};

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
    return row ? row->related : NULL;
}
