/* exploring.c - check --explore: other schedules of a launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#define BUDGET_DEFAULT 10.0 /* seconds */

typedef struct budget {
    grout_session *session;
    double deadline;
} budget;

static bool goes_on(void *payload, uint64_t schedules) {
    const budget *b = payload;
    (void)schedules;
    return b->session->host->get_seconds(b->session->host->payload) < b->deadline;
}

/* NOLINTNEXTLINE(readability-function-size): what a launch is, and two results */
bool grout_launch__explore(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *arguments,
                           const grout_launch_settings *settings, grout_exploration *out,
                           double *seconds_out) {
    const grout_host *host = session->host;
    double start = host->get_seconds(host->payload);
    budget limit = {session, start + grout_options__get_number(
                                         &session->options, GROUT_OPTION_BUDGET, BUDGET_DEFAULT)};
    const grout_explore_options options = {
        .max_findings = UINT32_MAX, /* what a report leaves out is for it to say */
        .goes_on = goes_on,
        .payload = &limit,
    };
    grout_launch_callbacks payload;
    grout_launch launch =
        grout_launch__prepare(session, load, kernel, arguments, settings, &payload);
    launch.print = NULL; /* it would print once for each schedule */
    bool is_good = grout_explore(&launch, &options, out, session->diags);
    grout_progress_line__clear(&payload.line);
    *seconds_out = host->get_seconds(host->payload) - start;
    return is_good;
}
