/* propose.h - sizes with which a kernel reaches what it did not.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_PROPOSE_H
#define GROUT_CHECK_PROPOSE_H

#include "launch.h"
#include "reach.h"

/* What is to be bettered. */
typedef struct grout_propose_task {
    const grout_load *load;
    const char *path;
    const grout_bytes *text;  /* of the file */
    const grout_sizes *sizes; /* of the sweep that was checked; NULL: it was one run */
    const grout_reach *reach;
    uint64_t
        work; /* of the run that was checked (grout_run_stats); 0: the search has its own bound */
} grout_propose_task;

/*
 * Looks for the smallest sizes with which the kernel reaches all, or else more than reach, and
 * appends options, or nothing if none is found in time: " -D STEPS=5" for one run that reaches it,
 * " --sweep STEPS=4,5" where it takes what was checked and another run.
 */
void grout_propose__sizes(grout_session *session, const grout_propose_task *task, grout_text *out);

#endif
