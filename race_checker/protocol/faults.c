/* faults.c - what is wrong by itself, as the machine saw it: findings of one place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "elements.h"
#include "phases.h"
#include "protocols.h"

#include <string.h>

/* The declaration that the fault is about: of the object, or of the barrier. */
static grout_loc_id find_declaration(const grout_checker *checker, const grout_fault *fault) {
    grout_object_id object = fault->object;
    if (!object && (fault->code == GROUT_DIAG_BARRIER_TOO_MANY ||
                    fault->code == GROUT_DIAG_BARRIER_TX_MISMATCH)) {
        object = checker->info.element_objects[fault->element];
    }
    return object ? grout_module_get_object(checker->info.module, object)->loc : 0;
}

/* Nobody came to write the rest of an output, or to take the units of a semaphore, when the run did
 * not reach its end. */
static bool is_follow_on(const grout_checker *checker, const grout_fault *fault) {
    return (checker->run.has_deadlock || checker->run.has_step_limit) &&
           (fault->code == GROUT_DIAG_OUTPUT_NOT_WRITTEN ||
            fault->code == GROUT_DIAG_SEMAPHORE_NOT_RESTORED);
}

/* The epoch of the actor whose fault it is; 0: there is none. */
static uint32_t get_epoch(const grout_checker *checker, const grout_event *event) {
    return event->clocks == NULL
               ? 0
               : event->clocks->known[grout_clock_epoch(
                     &checker->shape, grout_checker__get_actor(checker, &event->origin))];
}

/* The invalidate before the use of an mbarrier that is not live; op 0: there was none. */
static grout_origin find_end(grout_checker *checker, const grout_fault *fault) {
    grout_element_at at = grout_checker__find_element(checker, fault->cta, fault->element);
    return at.state ? at.element->ended : (grout_origin){.op = 0};
}

bool grout_checker__fault(grout_checker *checker, const grout_event *event) {
    const grout_fault *fault = event->u.fault;
    grout_finding_key key = {.code = fault->code,
                             .severity = grout_diag_get(fault->code)->severity};
    grout_facts facts;
    grout_origin end = {.op = 0};
    bool is_reported = false;
    if (is_follow_on(checker, fault)) {
        checker->run.suppressed++;
        return true;
    }
    if (fault->code == GROUT_DIAG_BARRIER_UNINITIALISED) {
        bool has_memory = grout_checker__check_ended(checker, event, &is_reported);
        if (!has_memory || is_reported) {
            return has_memory;
        }
        end = find_end(checker, fault);
    }
    memset(&facts, 0, sizeof facts);
    facts.fault = *fault;
    facts.element = fault->element;
    facts.phase = fault->phase;
    facts.have = fault->have;
    facts.need = fault->need;
    facts.sides[0].origin = event->origin;
    facts.side_count = 1;
    facts.epoch = get_epoch(checker, event);
    key.primary = grout_origin__get_loc(checker->info.module, &event->origin);
    key.related = find_declaration(checker, fault);
    if (fault->code == GROUT_DIAG_INDEX_OVERFLOW && fault->need != 0) {
        /* where it wrapped; the related place is where by it somebody says which memory */
        facts.sides[facts.side_count++].origin = event->origin;
        facts.sides[0].origin.op = (grout_op_id)fault->need;
        facts.sides[0].origin.loop_depth = 0;
        key.primary = grout_origin__get_loc(checker->info.module, &facts.sides[0].origin);
        key.related = grout_origin__get_loc(checker->info.module, &event->origin);
    }
    if (end.op != 0) {
        facts.subject = GROUT_SUBJECT_ENDED;
        facts.sides[facts.side_count++].origin = end;
        key.related = grout_origin__get_loc(checker->info.module, &end);
    }
    if (!key.primary) {
        key.primary = key.related;
        key.related = 0;
    }
    return grout_checker__find(checker, &key, &facts);
}

bool grout_checker__step_limit(grout_checker *checker, const grout_event *event) {
    grout_finding_key key = {.code = GROUT_DIAG_STEP_LIMIT, .severity = GROUT_SEVERITY_ERROR};
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.sides[0].origin = event->origin;
    facts.side_count = 1;
    facts.have = (int64_t)event->step;
    /* Where it stood is chance; the kernel is what did not end. */
    key.primary = grout_module_get_kernel(checker->info.module, checker->info.kernel)->loc;
    checker->run.has_step_limit = true;
    return grout_checker__settle_all(checker) && grout_checker__find(checker, &key, &facts);
}
