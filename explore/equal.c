/* equal.c - runs a launch again to learn whether racing writes leave the same bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/equal.h"

#include "alloc.h"
#include "arrays.h"
#include "invariant.h"
#include "lookup.h"
#include "varied.h"

#include <string.h>

enum { RUNS_MAX = 3 }; /* the launch's inputs; others; others with the same integers */

struct grout_writes_judge {
    const grout_allocator *allocator;
    grout_launch launch;
    bool *are_given;           /* by parameter */
    grout_saved_arrays arrays; /* of inout parameters, as they were */
    grout_checker *compared[RUNS_MAX];
    uint32_t compared_count;
};

/* Only the values of the writes are asked for: in eager timing each is there when its operation is
 * over. */
static grout_launch get_silent(const grout_launch *launch) {
    grout_launch own = *launch;
    own.timing = GROUT_TIMING_EAGER;
    own.schedule =
        launch->schedule == GROUT_SCHEDULE_REPLAY ? GROUT_SCHEDULE_FAIR : launch->schedule;
    own.workers = 1;
    own.replay = NULL;
    own.record = NULL;
    own.print = NULL;
    own.observer_count = 0;
    own.track_undefined = true;
    return own;
}

grout_writes_judge *grout_writes_judge_new(const grout_launch *launch, const bool *are_given,
                                           grout_diags *diags) {
    grout_writes_judge *judge = grout__new(launch->allocator, 1, sizeof *judge);
    if (judge == NULL) {
        (void)grout_diags_add_oom(diags);
        return NULL;
    }
    judge->allocator = launch->allocator;
    judge->launch = get_silent(launch);
    judge->are_given = grout__new(launch->allocator, launch->argument_count + 1, sizeof(bool));
    if (judge->are_given == NULL || !grout_saved_arrays__take(&judge->arrays, launch, false)) {
        (void)grout_diags_add_oom(diags);
        grout_writes_judge_free(judge);
        return NULL;
    }
    for (size_t i = 0; i < launch->argument_count; i++) {
        judge->are_given[i] = are_given == NULL || are_given[i];
    }
    return judge;
}

/* Nothing is known: what races is an error. */
static void forget(grout_writes_judge *judge) {
    for (uint32_t i = 0; i < judge->compared_count; i++) {
        grout_checker_free(judge->compared[i]);
    }
    judge->compared_count = 0;
}

void grout_writes_judge_free(grout_writes_judge *judge) {
    if (judge != NULL) {
        forget(judge);
        grout_saved_arrays__deinit(&judge->arrays);
        grout__free(judge->are_given);
        grout__free(judge);
    }
}

/* ---- one run -------------------------------------------------------------------------------- */

static grout_checker *run_on(const grout_writes_judge *judge, const grout_checker *judged,
                             const grout_varied *arrays, grout_run_status *status_out,
                             grout_diags *diags) {
    const grout_checker_options options = {
        .max_findings = UINT32_MAX, .judged = judged, .allocator = judge->allocator};
    grout_launch launch = judge->launch;
    grout_checker *checker = grout_checker_new(&options, diags);
    if (checker == NULL) {
        return NULL;
    }
    launch.arguments = arrays->arguments;
    launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
    grout_machine *machine = grout_machine_new(&launch, diags);
    *status_out = machine == NULL ? GROUT_RUN_FAILED : grout_machine_run(machine, 0, diags);
    grout_machine_free(machine);
    if (*status_out == GROUT_RUN_FAILED) {
        grout_checker_free(checker);
        return NULL;
    }
    return checker;
}

static grout_checker *run_with(const grout_writes_judge *judge, const grout_checker *judged,
                               grout_variation variation, grout_run_status *status_out,
                               bool *varies_out, grout_diags *diags) {
    grout_varied arrays;
    grout_checker *checker = NULL;
    if (!grout_varied__take(&arrays, &judge->launch, &judge->arrays)) {
        (void)grout_diags_add_oom(diags);
    } else {
        *varies_out = grout_varied__change(&arrays, &judge->launch, judge->are_given, variation);
        checker = run_on(judge, judged, &arrays, status_out, diags);
    }
    grout_varied__deinit(&arrays);
    return checker;
}

static bool has_ended(grout_run_status status) {
    return status == GROUT_RUN_DONE || status == GROUT_RUN_DEADLOCK;
}

/* By identity, the findings that a checker lists. False without memory. */
static bool list_findings(const grout_checker *checker, grout_lookup *known) {
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        uint32_t *number = grout_lookup__at(known, grout_checker_get_finding(checker, i)->identity);
        if (number == NULL) {
            return false;
        }
        *number = 1;
    }
    return true;
}

/* Whether each error is one that the first run has too. */
static bool has_known_errors(const grout_checker *compared, const grout_lookup *known) {
    bool is_known = true;
    for (uint32_t i = 0; i < grout_checker_get_count(compared) && is_known; i++) {
        const grout_finding *finding = grout_checker_get_finding(compared, i);
        is_known = finding->severity != GROUT_SEVERITY_ERROR ||
                   grout_lookup__find(known, finding->identity) != 0;
    }
    return is_known;
}

/* Whether it has no error that the first run does not have, and has come to the same writes. False
 * without memory. */
static bool find_usable(const grout_writes_judge *judge, const grout_checker *compared,
                        const grout_checker *checker, bool *is_usable_out) {
    grout_lookup known = {.allocator = judge->allocator};
    const bool is_listed = list_findings(checker, &known);
    *is_usable_out = is_listed && has_known_errors(compared, &known) &&
                     grout_checker_knows_writes(compared, checker);
    grout_lookup__deinit(&known);
    return is_listed;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* With other inputs. */
static bool run_varied(grout_writes_judge *judge, const grout_checker *checker,
                       grout_diags *diags) {
    const grout_variation variations[] = {GROUT_VARIATION_ALL, GROUT_VARIATION_FLOATS};
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
        grout_run_status status = GROUT_RUN_FAILED;
        bool varies = false;
        grout_checker *compared = run_with(judge, checker, variations[i], &status, &varies, diags);
        if (compared == NULL) {
            return false;
        }
        const bool is_last = variations[i] == GROUT_VARIATION_FLOATS;
        bool is_good = false;
        if (status == GROUT_RUN_DONE && !find_usable(judge, compared, checker, &is_good)) {
            grout_checker_free(compared);
            return grout_diags_add_oom(diags);
        }
        if (i == 0 && !varies) { /* there is nothing to vary */
            grout_checker_free(compared);
            return true;
        }
        if (!is_good && !is_last) {
            grout_checker_free(compared);
            continue;
        }
        judge->compared[judge->compared_count++] = compared;
        if (!has_ended(status)) {
            forget(judge);
        }
        return true;
    }
    return true;
}

bool grout_writes_judge_run(grout_writes_judge *judge, grout_checker *checker, grout_diags *diags) {
    grout_run_status status = GROUT_RUN_FAILED;
    bool varies = false;
    if (!grout_checker_has_racing_writes(checker)) {
        return true;
    }
    if (judge->compared_count > 0) {
        return grout_writes_judge_apply(judge, checker) || grout_diags_add_oom(diags);
    }
    judge->compared[0] = run_with(judge, checker, GROUT_VARIATION_NONE, &status, &varies, diags);
    if (judge->compared[0] == NULL) {
        return false;
    }
    judge->compared_count = 1;
    if (!has_ended(status)) {
        forget(judge);
        return true;
    }
    if (grout_checker_finds_equal(judge->compared[0], checker) &&
        !run_varied(judge, checker, diags)) {
        return false;
    }
    return grout_writes_judge_apply(judge, checker) || grout_diags_add_oom(diags);
}

bool grout_writes_judge_apply(const grout_writes_judge *judge, grout_checker *checker) {
    return judge->compared_count == 0 ||
           grout_checker_judge_writes(checker, (const grout_checker *const *)judge->compared,
                                      judge->compared_count);
}
