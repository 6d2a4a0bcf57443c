/* second_look.c - what a check explores by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/explore.h"

#include "grout-internal/past.h"

#include "alloc.h"
#include "orders.h"
#include "varied.h"

#include <string.h>

enum { STEPS_LEAST = 100000, TIMES_OF_THE_RUN = 3, RANDOM_SCHEDULES = 4 };

struct grout_second_look {
    const grout_allocator *allocator;
    grout_launch launch;
    bool strict_fences;
    bool *are_given;           /* by parameter */
    bool is_wanted;            /* the kernel has what may go by chance */
    grout_saved_arrays arrays; /* of inout parameters, as they were */
};

grout_second_look *grout_second_look_new(const grout_launch *launch,
                                         const grout_explore_options *options, grout_diags *diags) {
    grout_second_look *look = grout__new(launch->allocator, 1, sizeof *look);
    if (look == NULL) {
        (void)grout_diags_add_oom(diags);
        return NULL;
    }
    look->allocator = launch->allocator;
    look->launch = *launch;
    look->launch.observer_count = 0;
    look->launch.print = NULL;
    look->launch.record = NULL;
    look->launch.workers = 1;
    look->launch.track_undefined = true;
    look->strict_fences = options->strict_fences;
    look->is_wanted = launch->schedule != GROUT_SCHEDULE_REPLAY &&
                      grout_orders__have_choices(launch->module, launch->kernel);
    look->are_given = grout__new(launch->allocator, launch->argument_count + 1, sizeof(bool));
    if (look->are_given == NULL ||
        (look->is_wanted && !grout_saved_arrays__take(&look->arrays, launch, false))) {
        (void)grout_diags_add_oom(diags);
        grout_second_look_free(look);
        return NULL;
    }
    for (size_t i = 0; i < launch->argument_count; i++) {
        look->are_given[i] = options->are_given == NULL || options->are_given[i];
    }
    return look;
}

void grout_second_look_free(grout_second_look *look) {
    if (look != NULL) {
        grout_saved_arrays__deinit(&look->arrays);
        grout__free(look->are_given);
        grout__free(look);
    }
}

static uint64_t get_budget(uint64_t steps) {
    const uint64_t times = TIMES_OF_THE_RUN * steps;
    return times > STEPS_LEAST ? times : STEPS_LEAST;
}

bool grout_second_look_run(grout_second_look *look, const grout_checker *checker,
                           const grout_run_stats *stats, grout_exploration *out,
                           bool *has_looked_out, grout_diags *diags) {
    const grout_explore_options options = {.max_findings = UINT32_MAX,
                                           .strict_fences = look->strict_fences,
                                           .are_given = look->are_given,
                                           .max_steps = get_budget(stats->steps),
                                           .random_schedules = RANDOM_SCHEDULES};
    grout_varied copies;
    *out = (grout_exploration){.why_open = ""};
    *has_looked_out = look->is_wanted && grout_checker_get_summary(checker, false).goes_by_chance;
    if (!*has_looked_out) {
        return true;
    }
    bool is_good =
        grout_varied__take(&copies, &look->launch, &look->arrays) || grout_diags_add_oom(diags);
    if (is_good) {
        grout_launch launch = look->launch;
        launch.arguments = copies.arguments;
        is_good = grout_explore(&launch, &options, out, diags);
    }
    grout_varied__deinit(&copies);
    if (is_good && out->is_complete && grout_past_has_chance(&look->launch)) {
        out->is_complete = false;
        out->why_open = "an earlier launch may leave other values: --explore tries them";
    }
    return is_good;
}
