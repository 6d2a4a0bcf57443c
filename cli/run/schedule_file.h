/* SPDX-License-Identifier: Apache-2.0
 * schedule_file.h - a schedule in a small text file: '--replay' reads it, '--explore' writes it.
 *
 *     grout-schedule 1
 *     kernel @ring
 *     option -D N=4
 *     option --timing lazy
 *     actors 0 1x12 0 5
 *
 * 'kernel' and 'option' lines hold what decides the run; 'actors' lines name the actor that ran, in
 * order, at each point where more than one could, NxM for M times N in a row. The file may end
 * after any line: the fair schedule decides the rest.
 */
#ifndef GROUT_CLI_SCHEDULE_FILE_H
#define GROUT_CLI_SCHEDULE_FILE_H

#include "session.h"

#include "grout/interp.h"

typedef struct grout_schedule_file {
    char *text; /* the lines, each with a NUL after every word */
    grout_decisions decisions;
} grout_schedule_file;

/*
 * Reads a file and adds its options to those of the session, except those that the session has
 * already (-D: of the same const). False: diagnostics (bad-schedule, file-unreadable). Deinit even
 * then, after the session's options.
 */
bool grout_schedule_file__init(grout_schedule_file *file, grout_session *session, const char *path);
void grout_schedule_file__deinit(grout_schedule_file *file);
/*
 * Writes the file for a kernel's run with the session's options. Says on stderr, unless quiet, if
 * it replaces another schedule. is_named: the user named the path; any other is not written over
 * what is no schedule. False: diagnostics.
 */
bool grout_schedule_file__write(grout_session *session, const char *path, bool is_named,
                                const char *kernel, const grout_decisions *decisions);
/* Appends a path that no schedule of this number, from 1, shares with another: "k.schedule",
 * "k.2.schedule". */
void grout_schedule_file__print_path(const char *path, uint32_t number, grout_text *out);

#endif
