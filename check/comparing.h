/* comparing.h - results of a run against files, or against another run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_COMPARING_H
#define GROUT_CHECK_COMPARING_H

#include "report.h"

#include "grout-internal/compare.h"

/* A kernel's run on the CPU, and where its differences are reported. */
typedef struct grout_comparing {
    grout_session *session;
    const grout_load *load;
    grout_kernel_id kernel;
    const grout_launch_settings *settings; /* that run it again, to find what wrote what differs */
    grout_reporter *report;
} grout_comparing;

/* Compares the results of the run with the --expect-output files. Appends "%c differs from 'c.npy'"
 * for what is not equal, which is in the session's diagnostics then. */
void grout_comparing__with_files(const grout_comparing *it, const grout_argument_set *arguments,
                                 grout_text *differs);
/* The same without a report, and without the writers (settings and report are not asked for). */
bool grout_comparing__is_equal(const grout_comparing *it, const grout_argument_set *arguments);
/* Compares the results of a launch on a GPU with those of the run on the CPU; what differs is in
 * the session's diagnostics. Returns whether they are equal. count_out: arrays compared. */
bool grout_comparing__with_cpu(const grout_comparing *it, const grout_argument_set *cpu,
                               const grout_argument_set *gpu, const grout_compare_options *options,
                               uint32_t *count_out);

#endif
