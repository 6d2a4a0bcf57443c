/* asleep.c - what a run repeats of schedules that have been tried.
 * SPDX-License-Identifier: Apache-2.0 */
#include "asleep.h"

#include "alloc.h"
#include "invariant.h"

/* Why a step comes after one that was taken asleep: it is of an actor that has done such a step, or
 * it does not commute with one. */
typedef enum after { AFTER_NONE, AFTER_RIVAL, AFTER_OWN } after;

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

/* Whether two steps on one resource do not commute, and neither only waited. */
static bool are_dependent(const grout_step *first, const grout_step *second) {
    return !first->is_idle && !second->is_idle && grout_trace__is_dependent(first, second);
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
    for (uint64_t i = step->earlier; i > start; i = trace->steps.items[i - 1].earlier) {
        if (are_dependent(&trace->steps.items[i - 1], step)) {
            return false;
        }
    }
    return true;
}

/* Marks the steps that were taken asleep. */
static void find_asleep(const grout_trace *trace, const grout_sleeper *sleepers, size_t count,
                        uint8_t *why) {
    for (size_t i = 0; i < count; i++) {
        const size_t start = find_start(trace, sleepers[i].decision);
        const size_t at = find_first(trace, &sleepers[i], start);
        if (at < trace->steps.count && is_asleep(trace, &sleepers[i], start, at)) {
            why[at] = AFTER_OWN;
        }
    }
}

/* Whether steps come after those that were taken asleep: to be asked in their order. */
typedef struct looking {
    const grout_trace *trace;
    uint8_t *why;     /* by step, after */
    uint64_t *newest; /* by step, the newest one on its resource up to it that does, plus 1 */
} looking;

static uint64_t find_newest(const looking *it, uint64_t step) {
    return step == 0 ? 0 : it->newest[step - 1];
}

static after look_back(const looking *it, size_t at) {
    const grout_step *steps = it->trace->steps.items, *step = &steps[at];
    if (step->before != 0 && it->why[step->before - 1] != AFTER_NONE) {
        return AFTER_OWN;
    }
    for (uint64_t i = find_newest(it, step->earlier); i != 0;
         i = find_newest(it, steps[i - 1].earlier)) {
        if (are_dependent(&steps[i - 1], step)) {
            return AFTER_RIVAL;
        }
    }
    return AFTER_NONE;
}

static void look_at_all(const looking *it, uint8_t *is_sleeping) {
    for (size_t i = 0; i < it->trace->steps.count; i++) {
        is_sleeping[i] = it->why[i] != AFTER_NONE;
        it->why[i] = is_sleeping[i] != 0 ? (uint8_t)AFTER_OWN : (uint8_t)look_back(it, i);
        it->newest[i] =
            it->why[i] != AFTER_NONE ? i + 1 : find_newest(it, it->trace->steps.items[i].earlier);
    }
}

/* A run in which a step comes before the one that was asleep is new, if nothing but its rivals
 * holds the step back. */
static void drop_reversals(grout_trace *trace, const uint8_t *why, const uint8_t *is_sleeping) {
    size_t kept = 0;
    for (size_t i = 0; i < trace->reversals.count; i++) {
        const grout_reversal reversal = trace->reversals.items[i];
        const uint8_t second = why[reversal.second];
        if (second == AFTER_NONE || (second == AFTER_RIVAL && is_sleeping[reversal.first] != 0)) {
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
    uint8_t *is_sleeping = grout__new(trace->allocator, steps, sizeof *is_sleeping);
    const looking it = {.trace = trace,
                        .why = grout__new(trace->allocator, steps, sizeof *it.why),
                        .newest = grout__new(trace->allocator, steps, sizeof *it.newest)};
    const bool is_good = it.why != NULL && it.newest != NULL && is_sleeping != NULL;
    if (is_good) {
        find_asleep(trace, sleepers, count, it.why);
        look_at_all(&it, is_sleeping);
        drop_reversals(trace, it.why, is_sleeping);
    }
    grout__free(it.why);
    grout__free(it.newest);
    grout__free(is_sleeping);
    return is_good;
}
