/* headline.c - the sentence that a report opens with, for each code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wording.h"

#include <inttypes.h>

/* ---- headlines of accesses ---- */

static void add_side_object(const grout_wording *wording, uint32_t side, grout_text *out) {
    grout_wording__add_object(wording, wording->facts->sides[side].box.object, out);
}

/* "the thread does not commit its plain store of %xs itself, before TMA reads it at line 9" */
static void add_strict_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *access = &wording->facts->sides[0];
    const grout_side *copy = &wording->facts->sides[1];
    grout_text_add(out, "the %s does not commit its %s of ",
                   access->origin.warp ? "warp" : "thread",
                   grout_wording__get_access(wording, access));
    add_side_object(wording, 0, out);
    grout_text_add(out, " itself, before %s %s it at line %" PRIu32,
                   grout_wording__get_who(wording, copy), copy->is_write ? "overwrites" : "reads",
                   grout_wording__get_line(wording, &copy->origin));
}

static void add_commit_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (facts->near.kind == GROUT_NEAR_COMMIT_OF_OTHERS) {
        add_strict_headline(wording, out);
        return;
    }
    const char *who = grout_wording__get_who(wording, &facts->sides[0]);
    const char *access = grout_wording__get_access(wording, &facts->sides[1]);
    uint32_t line = grout_wording__get_line(wording, &facts->sides[1].origin);
    if (wording->record->code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR) {
        grout_text_add(out, "%s may overwrite ", who);
        add_side_object(wording, 0, out);
        grout_text_add(out, " while the %s at line %" PRIu32 " is still reading it", access, line);
    } else if (facts->sides[0].is_write) {
        grout_text_add(out, "%s may write ", who);
        add_side_object(wording, 0, out);
        grout_text_add(out, " before the %s at line %" PRIu32 " has, which then wins", access,
                       line);
    } else {
        grout_text_add(out, "%s may read stale bytes of ", who);
        add_side_object(wording, 0, out);
    }
}

static void add_await_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    const grout_side *load = &wording->facts->sides[1];
    add_side_object(wording, 0, out);
    if (side->stamp.agent != GROUT_AGENT_ACTOR) {
        bool loads = side->is_write && side->stamp.agent == GROUT_AGENT_ENGINE;
        grout_text_add(out, " is %s by %s",
                       loads ? "loaded again"
                             : (side->is_write                           ? "overwritten"
                                : grout_wording__is_wgmma(wording, side) ? "read"
                                                                         : "stored"),
                       grout_wording__get_who(wording, side));
    } else {
        grout_text_add(out, " is %s", side->is_write ? "overwritten" : "read");
    }
    grout_text_add(out, " while %s may still be %s it: the %s at line %" PRIu32 " is not awaited",
                   grout_wording__get_who(wording, load),
                   load->stamp.agent == GROUT_AGENT_ENGINE ? "loading" : "writing",
                   grout_wording__get_access(wording, load),
                   grout_wording__get_line(wording, &load->origin));
}

static void add_group_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    uint32_t line = grout_wording__get_line(wording, &wording->facts->sides[1].origin);
    add_side_object(wording, 0, out);
    if (wording->record->code == GROUT_DIAG_SMEM_SOURCE_REUSE) {
        grout_text_add(out,
                       " is overwritten while the copy at line %" PRIu32 " may still be reading it",
                       line);
    } else {
        grout_text_add(out, " is %s before the copy at line %" PRIu32 " has finished writing it",
                       side->is_write ? "written again" : "read", line);
    }
}

static void add_race_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    const grout_side *other = &facts->sides[1];
    bool are_atomic = facts->sides[0].is_atomic && other->is_atomic;
    const char *who = "";
    if (facts->sides[0].origin.cta != other->origin.cta) {
        who = " in another CTA";
    } else if (facts->sides[0].origin.thread != other->origin.thread) {
        who = " in another thread";
    } else if (facts->sides[0].origin.warp != other->origin.warp) {
        who = " in another warp";
    }
    if (facts->near.kind != GROUT_NEAR_NOTHING) {
        add_side_object(wording, 0, out);
        grout_text_add(out, " is written while the %s at line %" PRIu32 " may still be reading it",
                       grout_wording__is_async_copy(wording, other) ? "async_copy" : "load",
                       grout_wording__get_line(wording, &other->origin));
        return;
    }
    grout_text_add(out, are_atomic ? "this atomic on " : "this write of ");
    add_side_object(wording, 0, out);
    grout_text_add(out, " and the %s at line %" PRIu32 "%s are not ordered",
                   are_atomic ? "one" : (other->is_write ? "write" : "read"),
                   grout_wording__get_line(wording, &other->origin), who);
    if (are_atomic && grout_entry__get_width(facts->sides[0].atomicity) !=
                          grout_entry__get_width(other->atomicity)) {
        grout_text_add(out, ", and are of different widths");
    } else if (grout_wording__is_of_two_proxies(wording)) {
        grout_text_add(out, ", and are atomic only within one proxy");
    } else if (are_atomic) {
        grout_text_add(out, ", and a scope does not hold both threads");
    }
}

static void add_exit_headline(const grout_wording *wording, grout_text *out) {
    const grout_side *side = &wording->facts->sides[0];
    const char *what = "loading";
    if (!side->is_write) {
        what = "reading";
    } else if (grout_wording__is_wgmma(wording, side)) {
        what = "adding to";
    } else if (side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE) {
        what = "writing";
    }
    grout_text_add(out, "the %s ends while %s may still be %s ",
                   wording->facts->is_inner ? "scope" : "CTA",
                   grout_wording__get_who(wording, side), what);
    add_side_object(wording, 0, out);
}

/* ---- headlines of barriers ---- */

static void add_overrun_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    grout_text_add(out, "phase %" PRIu32 " of ", facts->phase + 1);
    grout_wording__add_element(wording, facts->element, out);
    grout_text_add(out,
                   facts->sides[1].origin.op ? " can complete before phase %" PRIu32
                                               " has been seen"
                                             : " completes and nobody waits for phase %" PRIu32,
                   facts->phase);
}

static void add_end_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (wording->record->code == GROUT_DIAG_BARRIER_UNOBSERVED) {
        grout_text_add(out, "phase %" PRIu32 " of ", facts->phase);
        grout_wording__add_element(wording, facts->element, out);
        grout_text_add(out, " completed, and the %s ends without a wait for it",
                       facts->is_inner ? "scope" : "CTA");
        return;
    }
    grout_wording__add_element(wording, facts->element, out);
    grout_text_add(out, " is left with %" PRId64 " of the %" PRId64 " arrivals of phase %" PRIu32,
                   facts->have, facts->need, facts->phase);
}

static void add_count_headline(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (wording->record->code == GROUT_DIAG_BARRIER_TOO_MANY) {
        grout_text_add(out, "%" PRId64 " arrival%s at once, and phase %" PRIu32 " of ", facts->have,
                       facts->have == 1 ? "" : "s", facts->phase);
        grout_wording__add_element(wording, facts->element, out);
        if (facts->need == 0) {
            grout_text_add(out, " needs none: all have left");
        } else {
            grout_text_add(out, " lacks %" PRId64, facts->need);
        }
        return;
    }
    grout_text_add(out, "phase %" PRIu32 " of ", facts->phase);
    grout_wording__add_element(wording, facts->element, out);
    grout_text_add(out, " expects %" PRId64 " bytes, and a barrier counts at most %" PRId64,
                   facts->have, facts->need);
}

static void add_skipped_headline(const grout_wording *wording, grout_text *out) {
    grout_text_add(out, "the first wait of this thread on ");
    grout_wording__add_element(wording, wording->facts->element, out);
    grout_text_add(out, " comes after phase %" PRIu32 " and the next have completed",
                   wording->facts->phase);
}

/* ---- headlines of faults ---- */

static const char *const USES[] = {
    [GROUT_USE_BRANCH] = "a value that nobody wrote decides a branch or the bound of a loop",
    [GROUT_USE_ADDRESS] = "a value that nobody wrote is used as an index",
    [GROUT_USE_OUTPUT] = "a value that nobody wrote is stored to global memory",
    [GROUT_USE_PRINT] = "a value that nobody wrote is printed",
    [GROUT_USE_SYNC] = "a value that nobody wrote says how long to wait"};

static void add_bounds_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    if (fault->code == GROUT_DIAG_MISALIGNED) {
        grout_text_add(out, "TMA starts at %" PRId64 " in dimension %" PRIu32 " of ", fault->start,
                       fault->dimension);
        grout_wording__add_object(wording, fault->object, out);
        grout_text_add(out, ", which is not a multiple of %" PRId64 " bytes", fault->limit);
        return;
    }
    if (fault->extent > 1) {
        grout_text_add(out, "elements %" PRId64 " to %" PRId64, fault->start,
                       fault->start + fault->extent - 1);
    } else {
        grout_text_add(out, "index %" PRId64, fault->start);
    }
    grout_text_add(out, " of dimension %" PRIu32 " of ", fault->dimension);
    grout_wording__add_object(wording, fault->object, out);
    grout_text_add(out, ", which has %" PRId64, fault->limit);
}

static void add_fault_headline(const grout_wording *wording, grout_text *out) {
    const grout_fault *fault = &wording->facts->fault;
    if (fault->code == GROUT_DIAG_UNINITIALISED_READ && fault->use <= GROUT_USE_SYNC) {
        grout_text_add(out, "%s", USES[fault->use]);
        if (fault->object) {
            grout_text_add(out, ": ");
            grout_wording__add_object(wording, fault->object, out);
        }
    } else if (fault->code == GROUT_DIAG_OUTPUT_NOT_WRITTEN) {
        grout_text_add(out, "%" PRId64 " element%s of ", fault->have, fault->have == 1 ? "" : "s");
        grout_wording__add_object(wording, fault->object, out);
        grout_text_add(out, " %s never written", fault->have == 1 ? "was" : "were");
    } else if (fault->code == GROUT_DIAG_OUT_OF_BOUNDS || fault->code == GROUT_DIAG_MISALIGNED) {
        add_bounds_headline(wording, out);
    } else if (wording->record->code == GROUT_DIAG_STEP_LIMIT) {
        grout_text_add(out, "the run stopped at its limit of %" PRId64 " operations",
                       wording->facts->have);
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
    {GROUT_DIAG_MMA_OPERAND_REUSE, grout_wording__add_wgmma_headline},
    {GROUT_DIAG_ACCUMULATOR_IN_FLIGHT, grout_wording__add_wgmma_headline},
    {GROUT_DIAG_SMEM_RACE, add_race_headline},
    {GROUT_DIAG_GMEM_RACE, add_race_headline},
    {GROUT_DIAG_ASYNC_AT_EXIT, add_exit_headline},
    {GROUT_DIAG_BARRIER_OVERRUN, add_overrun_headline},
    {GROUT_DIAG_BARRIER_UNOBSERVED, add_end_headline},
    {GROUT_DIAG_BARRIER_PARTIAL, add_end_headline},
    {GROUT_DIAG_BARRIER_TOO_MANY, add_count_headline},
    {GROUT_DIAG_BARRIER_TX_MISMATCH, add_count_headline},
    {GROUT_DIAG_BARRIER_SKIPPED, add_skipped_headline}};

void grout_wording__add_headline(const grout_wording *wording, grout_text *out) {
    const grout_findings *findings = &wording->checker->memory.findings;
    grout_diag_code code = wording->record->code;
    if (grout_wording__add_protocol_headline(wording, out) ||
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
