/* progress.c - the progress line, --timeout and Ctrl-C.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

/* Seconds before the line appears, and between two drawings of it. */
static const double quiet_seconds = 1.0, redraw_seconds = 0.1;

void grout_progress_line__init(grout_progress_line *line, grout_session *session) {
    double timeout = grout_options__get_number(&session->options, GROUT_OPTION_TIMEOUT, 0);
    double now = session->host->get_seconds(session->host->payload);
    *line = (grout_progress_line){
        .session = session,
        .start = now,
        .deadline = grout_options__has(&session->options, GROUT_OPTION_TIMEOUT) ? now + timeout : 0,
    };
}

static void draw(grout_progress_line *line, const grout_progress *progress, double now) {
    double seconds = now - line->start;
    double rate = (double)progress->ctas_done / seconds;
    grout_session__print(line->session, GROUT_STREAM_ERR, "\r%lld of %lld CTAs",
                         (long long)progress->ctas_done, (long long)progress->ctas_total);
    if (progress->ctas_done > 0) {
        double left = (double)(progress->ctas_total - progress->ctas_done) / rate;
        grout_session__print(line->session, GROUT_STREAM_ERR, ", %.0f a second, %.0f s left", rate,
                             left);
    } else {
        grout_session__print(line->session, GROUT_STREAM_ERR, ", %.1f million operations",
                             (double)progress->steps * 1e-6);
    }
    grout_session__print(line->session, GROUT_STREAM_ERR, "\x1b[K");
    line->shown = now;
}

bool grout_progress_line__step(grout_progress_line *line, const grout_progress *progress) {
    grout_session *session = line->session;
    const grout_host *host = session->host;
    double now = host->get_seconds(host->payload);
    if (host->is_interrupted(host->payload)) {
        return false;
    }
    if (line->deadline > 0 && now >= line->deadline) {
        line->is_late = true;
        return false;
    }
    if (!session->is_quiet && now - line->start >= quiet_seconds &&
        now - line->shown >= redraw_seconds && host->is_terminal(host->payload, GROUT_STREAM_ERR)) {
        draw(line, progress, now);
    }
    return true;
}

void grout_progress_line__clear(grout_progress_line *line) {
    if (line->shown > 0) {
        grout_session__print(line->session, GROUT_STREAM_ERR, "\r\x1b[K");
        line->shown = 0;
    }
}
