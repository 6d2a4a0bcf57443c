/* work.h - what check and run share: a file's kernels, launched on the CPU and reported.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_WORK_H
#define GROUT_CHECK_WORK_H

#include "report.h"

/* Loads the file that the options name and reports its diagnostics. False: nothing can run. */
bool grout_work__load(grout_session *session, const char *path, bool needs_one, grout_bytes *text,
                      grout_load *load, grout_reporter *report);
/* Runs every selected kernel of a file on the CPU. Returns the exit code. */
int grout_work__run_on_cpu(grout_session *session, const char *path, bool with_checker,
                           bool needs_one);
/* Runs the selected kernels of a file on the CPU, and its launch list, and reports them. */
void grout_work__run_kernels(grout_session *session, const grout_load *load, bool with_checker,
                             grout_reporter *report);
/* Notes which of them were not begun, of those that are run: all, if has_begun is NULL. The load
 * outlives the report. */
void grout_work__note_not_begun(grout_session *session, const grout_load *load, bool with_checker,
                                grout_reporter *report);
/* Begins the time of --budget. A budget that the user gives bounds the first run too; the default
 * only what comes on top. */
void grout_work__begin_budget(grout_session *session);
/* The worse of two exit codes. */
int grout_work__get_worse(int a, int b);
/* Exit code of a report, the session's diagnostics included. */
int grout_work__get_exit_code(const grout_session *session, const grout_reporter *report);

#endif
