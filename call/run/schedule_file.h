/* SPDX-License-Identifier: Apache-2.0
 * schedule_file.h - a schedule in a small text file: '--replay' reads it, '--explore' writes it.
 *
 *     grout-schedule 1
 *     kernel @ring
 *     option -D N=4
 *     option --timing lazy
 *     actors 0 1x12 0 5
 *
 * There is no 'kernel' line where it is the schedule of a launch list. The 'actors' lines after a
 * line 'launch N' are of launch N, of a list or of --repeat. 'kernel' and 'option' lines hold what
 * decides the run; 'actors' lines name the actor that ran, in order, at each point where more than
 * one could, NxM for M times N in a row. The file may end after any line: the fair schedule decides
 * the rest.
 */
#ifndef GROUT_CALL_SCHEDULE_FILE_H
#define GROUT_CALL_SCHEDULE_FILE_H

#include "session.h"

#include "grout-internal/interp.h"
#include "grout-internal/ir.h"

typedef struct grout_schedule_file {
    char *text; /* the lines, each with a NUL after every word */
    grout_decisions decisions;
    bool is_of_list;
    grout_decisions launches[GROUT_LAUNCHES_MAX + 1]; /* from 1 */
} grout_schedule_file;

/* What a schedule is written of: a kernel, or the launches of a list up to one of them. */
typedef struct grout_schedule_text {
    const char *kernel;
    const grout_decisions *decisions; /* of the kernel, or of the last launch */
    bool is_alone;                    /* it is of the kernel, not of the file's list */
    uint32_t launch;                  /* the last one, from 1; 0: there is but one */
    const grout_decisions *before[GROUT_LAUNCHES_MAX + 1]; /* of those before it, from 1 */
} grout_schedule_text;

/*
 * Reads a file and adds its options to those of the session, except those that the session has
 * already (-D: of the same const). False: diagnostics (bad-schedule, file-unreadable). Deinit even
 * then, after the session's options.
 */
bool grout_schedule_file__init(grout_schedule_file *file, grout_session *session, const char *path);
void grout_schedule_file__deinit(grout_schedule_file *file);
/*
 * Writes the file for a run with the session's options. Says on stderr, unless quiet, if
 * it replaces another schedule. is_named: the user named the path; any other is not written over
 * what is no schedule. False: diagnostics.
 */
bool grout_schedule_file__write(grout_session *session, const char *path, bool is_named,
                                const grout_schedule_text *what);
/* Appends a path that no schedule of this number, from 1, shares with another: "k.schedule",
 * "k.2.schedule". */
void grout_schedule_file__print_path(const char *path, uint32_t number, grout_text *out);

#endif
