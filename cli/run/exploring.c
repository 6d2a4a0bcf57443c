/* exploring.c - check --explore: other schedules of a launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include "invariant.h"

/* The launch's own schedule has been run; the budget bounds the others. */
static bool goes_on(void *payload, uint64_t schedules) {
    grout_launch_callbacks *callbacks = payload;
    (void)schedules;
    grout_progress_line__use_budget(&callbacks->line);
    return grout_progress_line__goes_on(&callbacks->line);
}

bool grout_launch__explore(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *arguments,
                           const grout_launch_settings *settings, grout_explored *out) {
    const grout_host *host = session->host;
    grout_launch_callbacks payload;
    grout_launch launch =
        grout_launch__prepare(session, load, kernel, arguments, settings, &payload);
    const grout_explore_options options = {
        .max_findings = UINT32_MAX, /* what a report leaves out is for it to say */
        .strict_fences = grout_options__has(&session->options, GROUT_OPTION_STRICT_FENCES),
        .goes_on = goes_on,
        .payload = &payload,
    };
    *out = (grout_explored){0};
    launch.print = NULL; /* it would print once for each schedule */
    bool is_good = grout_explore(&launch, &options, &out->exploration, session->diags);
    grout_progress_line__clear(&payload.line);
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
