/* minimise.c - makes the decisions of a failing schedule fewer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "attempt.h"

#include "alloc.h"

#include <string.h>

typedef struct minimiser {
    grout_attempts attempts;
    grout_diags *diags;
    uint64_t schedules; /* that were run to their end */
    bool was_cut;
} minimiser;

static bool shows(const grout_checker *checker, uint64_t identity) {
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        if (grout_checker_get_finding(checker, i)->identity == identity) {
            return true;
        }
    }
    return false;
}

static bool goes_on(const minimiser *it) {
    const grout_explore_options *options = it->attempts.options;
    return !it->was_cut &&
           (options->max_schedules == 0 || it->schedules < options->max_schedules) &&
           (options->goes_on == NULL || options->goes_on(options->payload, it->schedules));
}

/* Whether a schedule shows the finding. */
static bool try_schedule(minimiser *it, const grout_decisions *decisions, uint64_t identity,
                         bool *shows_out) {
    grout_attempt *attempt =
        grout_attempt__run(&it->attempts, it->attempts.launch, decisions, it->diags);
    *shows_out = attempt != NULL && shows(attempt->checker, identity);
    it->was_cut = attempt != NULL && attempt->status == GROUT_RUN_INTERRUPTED;
    it->schedules += it->was_cut ? 0 : 1;
    grout_attempt__free(attempt);
    return attempt != NULL;
}

/* Takes count decisions at start away if the finding stays. */
static bool try_without(minimiser *it, grout_decisions *decisions, size_t start, size_t count,
                        uint64_t identity, bool *done_out) {
    grout_decisions shorter;
    if (!grout_decisions__copy(it->attempts.launch->allocator, decisions, &shorter)) {
        return false;
    }
    memmove(shorter.actors + start, shorter.actors + start + count,
            (shorter.count - start - count) * sizeof *shorter.actors);
    shorter.count -= count;
    bool is_good = try_schedule(it, &shorter, identity, done_out);
    if (is_good && *done_out) {
        memcpy(decisions->actors, shorter.actors, shorter.count * sizeof *shorter.actors);
        decisions->count = shorter.count;
    }
    grout__free(shorter.actors);
    return is_good;
}

static bool minimise(minimiser *it, grout_decisions *decisions, uint64_t identity) {
    /* The end first: the fair schedule takes over after the last decision that matters. */
    for (size_t size = decisions->count; size > 0; size /= 2) {
        for (size_t end = decisions->count; end > 0 && goes_on(it);) {
            size_t count = size < end ? size : end;
            bool is_gone = false;
            if (!try_without(it, decisions, end - count, count, identity, &is_gone)) {
                return false;
            }
            end -= count;
        }
    }
    return true;
}

bool grout_minimise_schedule(const grout_launch *launch, const grout_explore_options *options,
                             uint64_t identity, grout_decisions *decisions, grout_diags *diags) {
    grout_saved_arrays arrays = {0};
    minimiser it = {.attempts = {.launch = launch,
                                 .options = options,
                                 .arrays = &arrays,
                                 .judge = grout_writes_judge_new(launch, options->are_given, diags),
                                 .may_judge = true},
                    .diags = diags};
    bool is_good = it.attempts.judge != NULL && grout_saved_arrays__take(&arrays, launch, false) &&
                   minimise(&it, decisions, identity);
    grout_writes_judge_free(it.attempts.judge);
    grout_saved_arrays__deinit(&arrays);
    return is_good || grout_diags_add_oom(diags);
}
