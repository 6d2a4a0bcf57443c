/* checking.c - what a check is asked for: one run of each kernel, several sizes, the smallest, or
 * the expectations of its file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checking.h"

#include "expect.h"
#include "minimise.h"
#include "sweep.h"
#include "work.h"

/* Options of one launch, and what to use instead at several sizes. */
static const struct {
    grout_option_id id;
    const char *remedy;
} refused_in_sweep[] = {
    {GROUT_OPTION_OUTPUT, "write the outputs of one run"},
    {GROUT_OPTION_INOUT, "read with --input; write the outputs of one run"},
    {GROUT_OPTION_REPLAY, "a schedule is of one run: replay it there"},
    {GROUT_OPTION_SAVE_SCHEDULE, "save the schedule of one run"},
    {GROUT_OPTION_MINIMISE, "minimise from one run"},
};

/* Options that answer with something else than a report. */
static const grout_option_id without_page[] = {GROUT_OPTION_EXPECT, GROUT_OPTION_MINIMISE};

static bool check_sweep(grout_session *session) {
    bool is_good = true;
    for (size_t i = 0; i < sizeof refused_in_sweep / sizeof refused_in_sweep[0]; i++) {
        grout_option_id id = refused_in_sweep[i].id;
        const bool is_sweep = grout_options__has(&session->options, GROUT_OPTION_SWEEP);
        if (grout_sizes__are_asked_for(&session->options) &&
            grout_options__has(&session->options, id)) {
            is_good = grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                                      "--%s is for one run, and --%s makes several",
                                      grout_option__get_info(id)->long_text,
                                      is_sweep ? "sweep" : "seeds");
            grout_diags_help(session->diags, "%s: %s", refused_in_sweep[i].remedy,
                             is_sweep ? "-D in the place of --sweep"
                                      : "--seed N in the place of --seeds N");
        }
    }
    return is_good;
}

static bool check_options(grout_session *session) {
    const grout_options *options = &session->options;
    bool has_expect = grout_options__has(options, GROUT_OPTION_EXPECT);
    if (!has_expect && options->argument_count > 1) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "'grout check' takes one FILE; several with --expect");
    }
    if (has_expect && session->is_json) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "--expect answers in text, not as JSON");
    }
    for (size_t i = 0; i < sizeof without_page / sizeof without_page[0]; i++) {
        if (grout_options__has(options, GROUT_OPTION_HTML) &&
            grout_options__has(options, without_page[i])) {
            return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                                   "--html shows a report, and --%s makes none",
                                   grout_option__get_info(without_page[i])->long_text);
        }
    }
    return check_sweep(session);
}

int grout_checking__run(grout_session *session) {
    if (!check_options(session)) {
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return GROUT_EXIT_USAGE;
    }
    if (grout_options__has(&session->options, GROUT_OPTION_EXPECT)) {
        return grout_expect__run(session, &(grout_expect_variants){0});
    }
    if (grout_options__has(&session->options, GROUT_OPTION_MINIMISE)) {
        return grout_minimise__run(session, session->options.arguments[0]);
    }
    if (grout_sizes__are_asked_for(&session->options)) {
        return grout_sweep__run(session, session->options.arguments[0]);
    }
    return grout_work__run_on_cpu(session, session->options.arguments[0], true, false);
}
