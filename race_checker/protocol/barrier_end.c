/*
 * barrier_end.c - what a barrier element is left with when its scope or its CTA ends.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A barrier of a scope: a phase that completed and that a waiter has not seen, one that is half
 * arrived; the next scope gets the barrier with its phase as it is. At the end of the CTA nobody
 * gets it, and a ring's last arrivals may go unseen: a phase is reported if no op of the kernel
 * waits on the barrier at all, or if its phases are in no order anyway, and this may be why. An
 * mbarrier may be left with either; but when a scope ends its bytes are used for something else, so
 * its life has to be over: an mbarrier_invalidate ends it, the brace does not (PTX ISA 9.1,
 * 'mbarrier.inval'). Either: bytes that do not come out even when all has landed.
 */
#include "elements.h"
#include "phases.h"
#include "protocols.h"
#include "statement.h"

#include <string.h>

static bool report_at_end(grout_checker *checker, const grout_event *event, grout_diag_code code,
                          grout_severity severity, uint32_t phase) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    grout_facts facts;
    if (checker->run.has_deadlock || checker->run.has_step_limit) {
        checker->run.suppressed++;
        return true;
    }
    memset(&facts, 0, sizeof facts);
    facts.element = barrier->element;
    facts.phase = phase;
    facts.is_inner = event->u.barrier_end.is_inner;
    facts.have = barrier->arrived;
    facts.need = barrier->arrivals;
    facts.sides[0].origin.cta = barrier->cta;
    if (barrier->has_contribution) {
        facts.sides[1].origin = barrier->last_contribution;
        facts.side_count = 2;
    }
    return grout_checker__report_barrier(checker, code, severity, &facts);
}

/* A thread has seen what its warps have, as far as all of them do; each warp that waits at all has
 * to see every phase. */
static uint32_t get_seen(const grout_checker *checker, const grout_cta_state *state, uint32_t index,
                         uint32_t local) {
    uint32_t threads = checker->shape.thread_count;
    uint32_t seen = grout_checker__get_observed(checker, state, index, local);
    for (uint32_t w = 0; local < threads && checker->local_actors > threads && w < 4; w++) {
        uint32_t warp =
            grout_checker__get_wait(checker, state, index, threads + 4 * local + w).mark->waits;
        seen = seen < warp ? warp : seen;
    }
    return seen;
}

/* Whether some op of the kernel waits on the barrier, or tests it. */
static bool is_waited_for(const grout_module *module, grout_object_id barrier) {
    bool found = false;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module) && !found; i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        bool waits = sync != NULL && sync->object == GROUT_SYNC_OBJECT_BARRIER &&
                     (sync->mode == GROUT_SYNC_MODE_WAITS || sync->mode == GROUT_SYNC_MODE_TESTS);
        for (uint32_t k = 0; waits && k < op->operand_count; k++) {
            found |= grout_op__find_object(module, op, k) == barrier;
        }
    }
    return found;
}

static bool report_unobserved(grout_checker *checker, const grout_event *event,
                              const grout_element_at *at, grout_severity severity) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    uint32_t full = barrier->full;
    bool has_waiter = false;
    bool is_asked = event->u.barrier_end.is_inner || at->element->facts.has_overrun != 0;
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        const grout_wait_mark *wait =
            grout_checker__get_wait(checker, at->state, at->index, i).mark;
        uint32_t seen = get_seen(checker, at->state, at->index, i);
        has_waiter = has_waiter || wait->waits > 0;
        if (is_asked && wait->waits > 0 && seen < full &&
            !report_at_end(checker, event, GROUT_DIAG_BARRIER_UNOBSERVED, severity, seen)) {
            return false;
        }
    }
    if (!has_waiter && full == 1 && /* more of them are an overrun */
        (is_asked || !is_waited_for(checker->info.module, barrier->object))) {
        return report_at_end(checker, event, GROUT_DIAG_BARRIER_UNOBSERVED, severity, 0);
    }
    return true;
}

/* A copy of which other CTAs bring a part. */
static bool is_shared_copy(const grout_checker *checker, const grout_origin *origin) {
    const grout_module *module = checker->info.module;
    return origin->op != 0 && grout_op_get_axes(module, grout_module_get_op(module, origin->op),
                                                GROUT_ATTR_COLLECTIVE_AXES) != 0;
}

static bool check_barrier(grout_checker *checker, const grout_event *event,
                          const grout_element_at *at) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    grout_severity severity =
        event->u.barrier_end.is_inner ? GROUT_SEVERITY_ERROR : GROUT_SEVERITY_WARNING;
    if (!report_unobserved(checker, event, at, severity)) {
        return false;
    }
    return barrier->arrived == 0 ||
           report_at_end(checker, event, GROUT_DIAG_BARRIER_PARTIAL, severity, barrier->full);
}

bool grout_checker__check_bytes(grout_checker *checker, const grout_barrier_fact *barrier) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    if (barrier->bytes_due == 0 || barrier->completed >= barrier->full) {
        return true;
    }
    if (checker->run.has_deadlock && is_shared_copy(checker, &barrier->last_contribution)) {
        checker->run.suppressed++; /* another CTA's part is missing: it is stuck, too */
        return true;
    }
    facts.subject = GROUT_SUBJECT_BYTES;
    facts.element = barrier->element;
    facts.phase = barrier->completed;
    facts.have = barrier->bytes_due;
    facts.fault.object = barrier->object;
    facts.sides[0].origin = barrier->last_contribution;
    facts.side_count = barrier->has_contribution ? 1 : 0;
    return grout_checker__report_barrier(checker, GROUT_DIAG_BARRIER_TX_MISMATCH,
                                         GROUT_SEVERITY_ERROR, &facts);
}

static bool report_left_live(grout_checker *checker, const grout_event *event,
                             const grout_element_at *at) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.element = at->index;
    facts.fault.object = checker->info.element_objects[at->index];
    facts.sides[0].origin = at->element->init;
    facts.sides[1].origin = event->origin;
    facts.side_count = 2;
    return grout_checker__report_barrier(checker, GROUT_DIAG_BARRIER_LEFT_LIVE,
                                         GROUT_SEVERITY_ERROR, &facts);
}

static bool check_mbarrier(grout_checker *checker, const grout_event *event,
                           const grout_element_at *at) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    if (checker->run.has_deadlock || checker->run.has_step_limit) {
        return true; /* its bytes have been looked at */
    }
    if (!grout_checker__check_bytes(checker, barrier)) {
        return false;
    }
    if (!event->u.barrier_end.is_inner) {
        return true;
    }
    return (!barrier->is_live || report_left_live(checker, event, at)) &&
           (!event->u.barrier_end.last ||
            grout_checker__end_mbarrier(checker, at, &event->origin, event->u.barrier_end.last));
}

bool grout_checker__barrier_end(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    grout_element_at at = grout_checker__find_element(checker, barrier->cta, barrier->element);
    if (!at.state) {
        return !checker->has_failed;
    }
    if (!grout_element__settle_last(checker, &at) ||
        !(at.is_explicit ? check_mbarrier(checker, event, &at)
                         : check_barrier(checker, event, &at))) {
        return false;
    }
    if (event->u.barrier_end.is_inner) { /* its next life, if the scope runs again, begins afresh */
        grout_checker__renew_element(checker, &at);
    }
    return true;
}
