/* progress.h - a line on the terminal once a run has taken a second, and the two things that end a
 * run from outside: Ctrl-C and --timeout.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_PROGRESS_H
#define GROUT_CLI_PROGRESS_H

#include "session.h"

typedef struct grout_progress_line {
    grout_session *session;
    double start, deadline; /* seconds of the host's clock; deadline 0: none */
    double shown;           /* when the line was last drawn; 0: never */
    bool is_late;
} grout_progress_line;

void grout_progress_line__init(grout_progress_line *line, grout_session *session);
/* For grout_launch.progress. */
bool grout_progress_line__step(grout_progress_line *line, const grout_progress *progress);
/* Wipes the line; before anything else is written. */
void grout_progress_line__clear(grout_progress_line *line);

#endif
