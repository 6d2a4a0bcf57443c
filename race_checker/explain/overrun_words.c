/*
 * overrun_words.c - a phase that completes before the one before it has been seen: what is missing,
 * and what to write.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include <inttypes.h>

/* ---- threads that take turns ---- */

static grout_object_id get_barrier(const grout_wording *wording) {
    return wording->checker->info.element_objects[wording->facts->element];
}

/* The threads that wait on the barrier, a bit for each. */
static uint32_t find_waiters(const grout_wording *wording) {
    uint32_t threads = 0;
    for (uint32_t t = 0; t < wording->checker->shape.thread_count; t++) {
        grout_op_id wait = 0;
        threads |= grout_wording__count_waits(wording, wording->facts->element, t, &wait) > 0
                       ? 1u << t
                       : 0;
    }
    return threads;
}

/*
 * Whether several threads wait on a barrier, and one of them not for every phase: they share its
 * phases out among them, which a plain barrier cannot do.
 */
static bool take_turns(const grout_wording *wording) {
    const grout_findings *findings = &wording->checker->memory.findings;
    grout_object_id object = get_barrier(wording);
    uint32_t waiters = find_waiters(wording);
    if (grout_module_get_object(wording->module, object)->is_explicit ||
        (waiters & (waiters - 1)) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *it = &findings->records[i];
        if (it->code == GROUT_DIAG_BARRIER_UNOBSERVED && it->facts.subject == GROUT_SUBJECT_USUAL &&
            wording->checker->info.element_objects[it->facts.element] == object) {
            return true;
        }
    }
    return false;
}

/* "thread wg=1 and thread wg=2 wait on %full, and not each of them for every phase: .." */
static void add_turns(const grout_wording *wording, grout_text *out) {
    uint32_t waiters = find_waiters(wording);
    for (uint32_t t = 0, count = 0; t < wording->checker->shape.thread_count; t++) {
        const grout_origin origin = {.thread = (uint8_t)t};
        if (waiters >> t & 1) {
            grout_text_add(out, "%s", count++ > 0 ? " and " : "");
            grout_wording__add_actor(wording, &origin, out);
        }
    }
    grout_text_add(out, " wait on ");
    grout_wording__add_object(wording, get_barrier(wording), out);
    grout_text_add(out,
                   ", and not each for every phase; but every thread that waits on a barrier has "
                   "to wait for all its phases: its k-th wait is for phase k");
}

/* ---- words ---- */

void grout_wording__add_overrun_edge(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    if (!facts->sides[1].origin.op) {
        grout_text_add(out,
                       "a barrier has one parity bit: whoever comes to wait cannot tell phase "
                       "%" PRIu32 " from phase %" PRIu32,
                       facts->phase, facts->phase + 2);
        return;
    }
    if (take_turns(wording)) {
        add_turns(wording, out);
        return;
    }
    grout_text_add(out,
                   "nothing makes the arrival come after the wait: a thread that comes to wait "
                   "late sees the parity of phase %" PRIu32 " again, sleeps through it or "
                   "returns too early",
                   facts->phase);
}

/* A wait for the parity that a fresh mbarrier has: most often meant for the first phase. */
static void repair_fresh(const grout_wording *wording, uint32_t line, grout_text *out) {
    uint32_t wait = grout_wording__get_line(wording, &wording->facts->sides[1].origin);
    grout_text_add(out,
                   "if the wait at line %" PRIu32
                   " is meant for phase 0, give it parity 0: a fresh "
                   "mbarrier passes parity 1 at once; if not, let it come before line %" PRIu32,
                   wait, line);
}

/* The usual causes: the arrivals of one phase counted as several, or no way back to the arriver. */
void grout_wording__add_overrun_repair(const grout_wording *wording, grout_text *out) {
    const grout_facts *facts = wording->facts;
    uint32_t line = grout_wording__get_line(wording, &facts->sides[0].origin);
    if (!facts->sides[1].origin.op) {
        grout_text_add(
            out, "wait for each phase before the arrival at line %" PRIu32 " can complete the next",
            line);
        return;
    }
    if (facts->phase == UINT32_MAX) {
        repair_fresh(wording, line, out);
        return;
    }
    if (take_turns(wording)) {
        grout_text_add(out, "give each of these threads a barrier of its own, or take mbarriers: "
                            "mbarrier_wait names the parity of the phase that it means");
        return;
    }
    if (!grout_origin__is_same_actor(&facts->sides[0].origin, &facts->sides[1].origin)) {
        grout_text_add(out,
                       "make line %" PRIu32 " wait until the phase before has been seen: by a "
                       "second %s on which the waiting %s arrives, or by counting the "
                       "arrivals of one phase right",
                       line, grout_wording__is_explicit(wording) ? "mbarrier" : "barrier",
                       facts->sides[1].origin.warp ? "warp" : "thread");
        return;
    }
    grout_object_id object = wording->checker->info.element_objects[facts->element];
    uint32_t arrivals = grout_object_get_arrivals(wording->module, object);
    grout_wording__add_actor(wording, &facts->sides[0].origin, out);
    grout_text_add(out,
                   " arrives for both phases itself: let it wait for the first before "
                   "line %" PRIu32 ", or, if these arrivals are meant to make one phase, ",
                   line);
    if (arrivals == 0) { /* an mbarrier's are those of its init */
        grout_text_add(out, "initialise it with more of them");
        return;
    }
    grout_text_add(out, "declare more than arrivals(%" PRIu32 ") for ", arrivals);
    grout_wording__add_object(wording, object, out);
}
