/*
 * run_launch.h - a launch from its begin to its end, with what is to be said about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_FUNCTIONS_RUN_LAUNCH_H
#define GROUT_FUNCTIONS_RUN_LAUNCH_H

#include "grout-internal/interp.h"

typedef struct grout_functions_run {
    const char *deadlock_help; /* what to do about a deadlock; NULL: the checker explains it */
    bool was_cut;              /* out: the run did not reach its end, which no deadlock was */
} grout_functions_run;

/* True: the launch came to its end. False: diags say why. */
bool grout_functions__run(const grout_launch *launch, grout_functions_run *run, grout_diags *diags);

#endif
