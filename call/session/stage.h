/* stage.h - what a series of runs is at, in one line of the terminal.
 *
 * A series inside another one (the schedules of one size) follows it on the line. The line appears
 * once the outermost series has taken a second. It is on stderr, if that is a terminal, and never
 * with --quiet. Whatever else is written wipes it first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_CALL_STAGE_H
#define GROUT_CALL_STAGE_H

#include "session.h"

/* Seconds before a line of progress appears, and between two drawings of it. */
#define GROUT_PROGRESS_QUIET_SECONDS  1.0
#define GROUT_PROGRESS_REDRAW_SECONDS 0.1

typedef struct grout_stage {
    struct grout_stage *outer; /* the series that it is inside; NULL: none */
    bool is_visible;
    char words[96];
    double start, drawn_at; /* seconds of the host's clock; those of the outermost count */
    bool is_drawn;
} grout_stage;

/* Begins a series: it is the session's, and that of copies of the session, until it ends. */
void grout_stage__begin(grout_stage *stage, grout_session *session);
void grout_stage__end(grout_stage *stage, grout_session *session);
/* Says how far it is, for the next drawing. */
void grout_stage__say(grout_stage *stage, const char *format, ...) GROUT_PRINTF(2, 3);
/* Draws the line of the session's series, if it is time. */
void grout_stage__draw(const grout_session *session);
/* Wipes it, if it is on the terminal. */
void grout_stage__wipe(const grout_session *session);

#endif
