/* run_line.h - the options of a '// run:' line. Anybody may have written it: it decides what is run
 * and what is found, and reaches nothing else.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_RUN_LINE_H
#define GROUT_CHECK_RUN_LINE_H

#include "session.h"

/* Zero-initialise; free with grout_run_line__deinit, after the options that were read. */
typedef struct grout_run_line {
    grout_option_line line;
    char *words; /* of the line's text, which the options point into */
} grout_run_line;

/*
 * Reads a text of options into those of the session, then adds those of the call: the last one
 * wins. line says where the text stands; what it points to has to live as long as the options.
 * False: a diagnostic at the word that is refused.
 */
bool grout_run_line__read(grout_run_line *line, grout_session *session, const grout_options *call);
void grout_run_line__deinit(grout_run_line *line);

#endif
