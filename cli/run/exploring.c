/* exploring.c - check --explore: other schedules of a launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include "invariant.h"
#include "stage.h"

/* What the callbacks of an exploration go by. */
typedef struct exploring {
    grout_launch_callbacks *callbacks;
    const grout_exploration *exploration; /* as it grows */
    grout_stage stage;
} exploring;

/* The launch's own schedule has been run; the budget bounds the others. */
static bool goes_on(void *payload, uint64_t schedules) {
    exploring *it = payload;
    grout_progress_line__use_budget(&it->callbacks->line);
    grout_stage__say(&it->stage, "%llu schedules run, %llu fail, %llu or more left",
                     (unsigned long long)schedules, (unsigned long long)it->exploration->failing,
                     (unsigned long long)it->exploration->left);
    grout_stage__draw(it->callbacks->session);
    return grout_progress_line__goes_on(&it->callbacks->line);
}

bool grout_launch__explore(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *arguments,
                           const grout_launch_settings *settings, grout_explored *out) {
    const grout_host *host = session->host;
    grout_launch_callbacks payload;
    grout_launch launch =
        grout_launch__prepare(session, load, kernel, arguments, settings, &payload);
    exploring it = {.callbacks = &payload, .exploration = &out->exploration};
    const grout_explore_options options = {
        .max_findings = UINT32_MAX, /* what a report leaves out is for it to say */
        .strict_fences = grout_options__has(&session->options, GROUT_OPTION_STRICT_FENCES),
        .are_given = arguments->is_given,
        .goes_on = goes_on,
        .payload = &it,
    };
    *out = (grout_explored){0};
    launch.print = NULL; /* it would print once for each schedule */
    grout_stage__begin(&it.stage, session);
    grout_stage__say(&it.stage, "the first schedule");
    bool is_good = grout_explore(&launch, &options, &out->exploration, session->diags);
    grout_stage__end(&it.stage, session);
    out->seconds = host->get_seconds(host->payload) - payload.line.start;
    out->cut = out->exploration.is_complete ? GROUT_CUT_NONE : payload.line.cut;
    return is_good;
}

void grout_explored__deinit(grout_explored *explored) {
    grout_exploration_deinit(&explored->exploration);
}

grout_outcome grout_explored__get_outcome(const grout_explored *explored, uint32_t index,
                                          const grout_launch_settings *settings) {
    const grout_exploration *exploration = &explored->exploration;
    GROUT_ASSERT(index < exploration->witness_count);
    const grout_witness *witness = &exploration->witnesses[index];
    grout_outcome outcome = {
        .settings = *settings,
        .status = witness->status,
        .stats = witness->stats,
        .cut = explored->cut,
        .exploration_cut = explored->cut,
        .checker = witness->checker,
        .exploration = exploration,
        .has_more = index + 1 < exploration->witness_count,
    };
    bool was_cut = grout_outcome__get_cut(&outcome) != NULL;
    outcome.summary = grout_checker_get_summary(witness->checker, was_cut);
    return outcome;
}
