/* work.h - what check and run share: a file's kernels, launched on the CPU and reported.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_WORK_H
#define GROUT_CLI_WORK_H

#include "report.h"

/* Loads the file that the options name and reports its diagnostics. False: nothing can run. */
bool grout_work__load(grout_session *session, const char *path, bool needs_one, grout_bytes *text,
                      grout_load *load, grout_report *report);
/* Runs every selected kernel of a file on the CPU. Returns the exit code. */
int grout_work__run_on_cpu(grout_session *session, const char *path, bool with_checker,
                           bool needs_one);
/* Exit code of a report, the session's diagnostics included. */
int grout_work__get_exit_code(const grout_session *session, const grout_report *report);

#endif
