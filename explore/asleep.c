/* asleep.c - what a run repeats of schedules that have been tried.
 * SPDX-License-Identifier: Apache-2.0 */
#include "asleep.h"

#include "alloc.h"
#include "invariant.h"

/* Why a step comes after one that was taken asleep. */
enum { AFTER_NONE = 0, AFTER_SEVERAL = UINT32_MAX }; /* else: after that step alone, plus 1 */

/* The first step of the actor from there on that did not only wait; the number of steps if there is
 * none. */
static size_t find_first(const grout_trace *trace, const grout_sleeper *sleeper, size_t from) {
    size_t at = from;
    while (at < trace->steps.count &&
           (trace->steps.items[at].actor != sleeper->actor || trace->steps.items[at].is_idle)) {
        at++;
    }
    return at;
}

static bool are_dependent(const grout_step *first, const grout_step *second) {
    return first->resource == second->resource && !first->is_idle && !second->is_idle &&
           grout_trace__is_dependent(first, second);
}

/* The first step that came after the decision. */
static size_t find_start(const grout_trace *trace, size_t decision) {
    size_t low = 0, high = trace->steps.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (trace->steps.items[middle].decision > decision) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Whether nothing since the decision has to come before the step. */
static bool is_asleep(const grout_trace *trace, const grout_sleeper *sleeper, size_t start,
                      size_t at) {
    const grout_step *step = &trace->steps.items[at];
    if (step->epoch == UINT32_MAX || step->learnt > sleeper->decision) {
        return false;
    }
    for (size_t i = start; i < at; i++) {
        if (are_dependent(&trace->steps.items[i], step)) {
            return false;
        }
    }
    return true;
}

/* Marks the steps that were taken asleep. */
static void find_asleep(const grout_trace *trace, const grout_sleeper *sleepers, size_t count,
                        uint32_t *after) {
    for (size_t i = 0; i < count; i++) {
        const size_t start = find_start(trace, sleepers[i].decision);
        const size_t at = find_first(trace, &sleepers[i], start);
        if (at < trace->steps.count && after[at] == AFTER_NONE &&
            is_asleep(trace, &sleepers[i], start, at)) {
            after[at] = AFTER_SEVERAL;
        }
    }
}

/* What a step comes after, by the steps of its resource that it does not commute with. */
static uint32_t look_back(const grout_trace *trace, size_t at, const uint32_t *after,
                          const uint8_t *is_sleeping) {
    const grout_step *step = &trace->steps.items[at];
    uint32_t found = AFTER_NONE;
    if (step->before != 0 && after[step->before - 1] != AFTER_NONE) {
        return AFTER_SEVERAL;
    }
    for (size_t i = 0; i < at && found != AFTER_SEVERAL; i++) {
        const grout_step *other = &trace->steps.items[i];
        if (after[i] != AFTER_NONE && other->actor != step->actor && are_dependent(other, step)) {
            found = found == AFTER_NONE && is_sleeping[i] ? (uint32_t)i + 1 : AFTER_SEVERAL;
        }
    }
    return found;
}

static void drop_reversals(grout_trace *trace, const uint32_t *after) {
    size_t kept = 0;
    for (size_t i = 0; i < trace->reversals.count; i++) {
        const grout_reversal reversal = trace->reversals.items[i];
        const uint32_t why = after[reversal.second];
        if (why == AFTER_NONE || (why != AFTER_SEVERAL && why == reversal.first + 1)) {
            trace->reversals.items[kept++] = reversal;
        }
    }
    trace->reversals.count = kept;
}

bool grout_trace__drop_asleep(grout_trace *trace, const grout_sleeper *sleepers, size_t count) {
    const size_t steps = trace->steps.count;
    if (count == 0 || steps == 0 || trace->reversals.count == 0) {
        return true;
    }
    uint32_t *after = grout__new(trace->allocator, steps, sizeof *after);
    uint8_t *is_sleeping = grout__new(trace->allocator, steps, sizeof *is_sleeping);
    if (after != NULL && is_sleeping != NULL) {
        find_asleep(trace, sleepers, count, after);
        for (size_t i = 0; i < steps; i++) {
            is_sleeping[i] = after[i] != AFTER_NONE;
            after[i] = is_sleeping[i] ? AFTER_SEVERAL : look_back(trace, i, after, is_sleeping);
        }
        drop_reversals(trace, after);
    }
    const bool is_good = after != NULL && is_sleeping != NULL;
    grout__free(after);
    grout__free(is_sleeping);
    return is_good;
}
