/* progress.h - a line on the terminal once a run has taken a second, and what ends runs from
 * outside: Ctrl-C, --timeout and --budget. A run of a series draws the line of that (stage.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_PROGRESS_H
#define GROUT_CALL_PROGRESS_H

#include "session.h"

#define GROUT_BUDGET_DEFAULT 10.0 /* seconds; of what comes on top of the first run */

typedef struct grout_progress_line {
    grout_session *session;
    double start;                   /* seconds of the host's clock */
    double timeout_end, budget_end; /* 0: none */
    double shown;                   /* when the line was last drawn; 0: never */
    grout_cut cut;
} grout_progress_line;

void grout_progress_line__init(grout_progress_line *line, grout_session *session);
/* Whether it may go on; if not, cut says why. */
bool grout_progress_line__goes_on(grout_progress_line *line);
/* The same, and draws the line: for grout_launch.progress. */
bool grout_progress_line__step(grout_progress_line *line, const grout_progress *progress);
/* From now on the budget counts, from the start of the line if --budget has not set it. */
void grout_progress_line__use_budget(grout_progress_line *line);
/* Wipes the line; before anything else is written. */
void grout_progress_line__clear(grout_progress_line *line);

#endif
