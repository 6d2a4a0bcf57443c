/* cmd_check.c - grout check: the interpreter with the race checker.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "expect.h"
#include "minimise.h"

static bool check_options(grout_session *session) {
    const grout_options *options = &session->options;
    bool has_expect = grout_options__has(options, GROUT_OPTION_EXPECT);
    if (!has_expect && options->argument_count > 1) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "'grout check' takes one FILE; several with --expect");
    }
    if (!has_expect && (grout_options__has(options, GROUT_OPTION_ALL_TIMINGS) ||
                        grout_options__has(options, GROUT_OPTION_SEEDS))) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "--all-timings and --seeds go with --expect");
    }
    if (has_expect && session->is_json) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "--expect answers in text, not as JSON");
    }
    return true;
}

int grout_cmd_check(grout_session *session) {
    if (!check_options(session)) {
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return GROUT_EXIT_USAGE;
    }
    if (grout_options__has(&session->options, GROUT_OPTION_EXPECT)) {
        return grout_expect__run(session);
    }
    if (grout_options__has(&session->options, GROUT_OPTION_MINIMISE)) {
        return grout_minimise__run(session, session->options.arguments[0]);
    }
    return grout_work__run_on_cpu(session, session->options.arguments[0], true, false);
}
