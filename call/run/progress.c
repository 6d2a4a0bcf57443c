/* progress.c - the progress line; --timeout, --budget and Ctrl-C.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include "stage.h"

void grout_progress_line__init(grout_progress_line *line, grout_session *session) {
    double timeout = grout_options__get_number(&session->options, GROUT_OPTION_TIMEOUT, 0);
    *line = (grout_progress_line){
        .session = session,
        .start = session->host->get_seconds(session->host->payload),
        .budget_end = session->budget_end,
    };
    if (grout_options__has(&session->options, GROUT_OPTION_TIMEOUT)) {
        line->timeout_end = session->start + timeout;
    }
}

void grout_progress_line__use_budget(grout_progress_line *line) {
    double budget = grout_options__get_number(&line->session->options, GROUT_OPTION_BUDGET,
                                              GROUT_BUDGET_DEFAULT);
    line->budget_end =
        line->session->budget_end > 0 ? line->session->budget_end : line->start + budget;
}

bool grout_progress_line__goes_on(grout_progress_line *line) {
    const grout_host *host = line->session->host;
    double now = host->get_seconds(host->payload);
    if (line->cut != GROUT_CUT_NONE) {
        return false;
    }
    if (host->is_interrupted(host->payload)) {
        line->cut = GROUT_CUT_INTERRUPT;
    } else if (line->timeout_end > 0 && now >= line->timeout_end) {
        line->cut = GROUT_CUT_TIMEOUT;
    } else if (line->budget_end > 0 && now >= line->budget_end) {
        line->cut = GROUT_CUT_BUDGET;
    }
    return line->cut == GROUT_CUT_NONE;
}

static void draw(grout_progress_line *line, const grout_progress *progress, double now) {
    double seconds = now - line->start;
    double rate = (double)progress->ctas_done / seconds;
    grout_session__draw(line->session, GROUT_STREAM_ERR, "\r%lld of %lld CTAs",
                        (long long)progress->ctas_done, (long long)progress->ctas_total);
    if (progress->ctas_done > 0) {
        double left = (double)(progress->ctas_total - progress->ctas_done) / rate;
        grout_session__draw(line->session, GROUT_STREAM_ERR, ", %.0f a second, %.0f s left", rate,
                            left);
    } else {
        grout_session__draw(line->session, GROUT_STREAM_ERR, ", %.1f million operations",
                            (double)progress->steps * 1e-6);
    }
    grout_session__draw(line->session, GROUT_STREAM_ERR, "\x1b[K");
    line->shown = now;
}

bool grout_progress_line__step(grout_progress_line *line, const grout_progress *progress) {
    grout_session *session = line->session;
    const grout_host *host = session->host;
    double now = host->get_seconds(host->payload);
    if (!grout_progress_line__goes_on(line)) {
        return false;
    }
    if (session->stage != NULL) {
        grout_stage__draw(session); /* of the runs that it is one of */
    } else if (!session->is_quiet && now - line->start >= GROUT_PROGRESS_QUIET_SECONDS &&
               now - line->shown >= GROUT_PROGRESS_REDRAW_SECONDS &&
               host->is_terminal(host->payload, GROUT_STREAM_ERR)) {
        draw(line, progress, now);
    }
    return true;
}

void grout_progress_line__clear(grout_progress_line *line) {
    if (line->shown > 0) {
        grout_session__draw(line->session, GROUT_STREAM_ERR, "\r\x1b[K");
        line->shown = 0;
    }
}
