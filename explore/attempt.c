/* attempt.c - one schedule of a launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "attempt.h"

#include "alloc.h"
#include "invariant.h"

#include <string.h>

/* Whether racing writes leave the same bytes does not depend on the schedule (a value that does is
 * equal to none), so what one attempt has learnt serves all. */
static bool judge_writes(const grout_attempts *all, grout_attempt *attempt, grout_diags *diags) {
    if (all->judge == NULL) {
        return true;
    }
    return all->may_judge ? grout_writes_judge_run(all->judge, attempt->checker, diags)
                          : grout_writes_judge_apply(all->judge, attempt->checker);
}

static bool run(const grout_attempts *all, grout_attempt *attempt, const grout_launch *launch,
                grout_diags *diags) {
    grout_machine *machine = grout_machine_new(launch, diags);
    if (machine == NULL) {
        return false;
    }
    attempt->status = grout_machine_run(machine, 0, diags);
    attempt->stats = grout_machine_get_stats(machine);
    const grout_explore_options *options = all->options;
    if (options->outcome != NULL && attempt->status == GROUT_RUN_DONE &&
        !options->outcome(options->payload, launch, machine, &attempt->decisions)) {
        grout_machine_free(machine);
        return false;
    }
    const bool is_judged = judge_writes(all, attempt, diags);
    attempt->summary =
        grout_checker_get_summary(attempt->checker, attempt->status != GROUT_RUN_DONE &&
                                                        attempt->status != GROUT_RUN_DEADLOCK);
    grout_machine_free(machine);
    return is_judged && attempt->status != GROUT_RUN_FAILED && !attempt->trace.has_failed;
}

grout_attempt *grout_attempt__run(const grout_attempts *all, const grout_launch *launch,
                                  const grout_decisions *replay, grout_diags *diags) {
    const grout_checker_options options = {.max_findings = all->options->max_findings,
                                           .strict_fences = all->options->strict_fences,
                                           .allocator = launch->allocator};
    grout_attempt *attempt = grout__new(launch->allocator, 1, sizeof *attempt);
    if (attempt == NULL) {
        (void)grout_diags_add_oom(diags);
        return NULL;
    }
    attempt->allocator = launch->allocator;
    grout_trace__init(&attempt->trace, launch->allocator, &attempt->decisions, all->orders);
    attempt->checker = grout_checker_new(&options, diags);
    if (attempt->checker == NULL) {
        grout_attempt__free(attempt);
        return NULL;
    }
    grout_launch own = *launch;
    own.record = &attempt->decisions;
    own.track_undefined = true;
    if (replay != NULL) {
        own.schedule = GROUT_SCHEDULE_REPLAY;
        own.replay = replay;
    }
    GROUT_ASSERT(own.observer_count + 2 <= GROUT_OBSERVERS_MAX);
    own.observers[own.observer_count++] = grout_checker_get_observer(attempt->checker);
    if (all->orders != NULL) {
        own.observers[own.observer_count++] = &attempt->trace.observer;
    }
    grout_saved_arrays__restore(all->arrays, launch);
    if (!run(all, attempt, &own, diags)) {
        grout_attempt__free(attempt);
        return NULL;
    }
    return attempt;
}

void grout_attempt__free(grout_attempt *attempt) {
    if (attempt != NULL) {
        grout_checker_free(attempt->checker);
        grout_trace__deinit(&attempt->trace);
        grout_decisions_deinit(&attempt->decisions);
        grout__free(attempt);
    }
}

bool grout_decisions__copy(const grout_allocator *allocator, const grout_decisions *from,
                           grout_decisions *to) {
    *to = (grout_decisions){0};
    to->actors = grout__new(allocator, from->count + 1, sizeof *to->actors);
    if (to->actors == NULL) {
        return false;
    }
    if (from->count > 0) {
        memcpy(to->actors, from->actors, from->count * sizeof *to->actors);
    }
    to->count = from->count;
    to->capacity = from->count + 1;
    return true;
}
