/*
 * run_launch.c - a machine for one launch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_launch.h"

/* Why a launch that has begun did not come to its end; FAILED has said so itself. */
static bool check_status(const grout_launch *launch, const grout_functions_run *run,
                         grout_run_status status, grout_diags *diags) {
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    const grout_place place = grout_module_get_place(launch->module, kernel->loc);
    const char *name = grout_module_get_string(launch->module, kernel->name);
    switch (status) {
    case GROUT_RUN_DONE:
        return true;
    case GROUT_RUN_DEADLOCK:
        if (run->deadlock_help != NULL) {
            grout_diags_add(diags, GROUT_DIAG_DEADLOCK, place,
                            "no thread of '@%s' can run on, and nothing is in flight", name);
            grout_diags_help(diags, "%s", run->deadlock_help);
        }
        break;
    case GROUT_RUN_STEP_LIMIT:
        grout_diags_add(diags, GROUT_DIAG_STEP_LIMIT, place,
                        "'@%s' has reached the launch's limit of steps", name);
        grout_diags_help(diags, "raise 'max-steps', up to 2147483648, or look for an endless "
                                "loop");
        break;
    case GROUT_RUN_INTERRUPTED:
        grout_diags_add(diags, GROUT_DIAG_INTERRUPTED, place,
                        "the launch's progress callback, or a function that the kernel calls, has "
                        "ended '@%s'",
                        name);
        break;
    case GROUT_RUN_PAUSED:
    case GROUT_RUN_FAILED:
        break;
    }
    return false;
}

bool grout_functions__run(const grout_launch *launch, grout_functions_run *run,
                          grout_diags *diags) {
    grout_machine *machine = grout_machine_new(launch, diags);
    const grout_run_status status =
        machine == NULL ? GROUT_RUN_FAILED : grout_machine_run(machine, 0, diags);
    run->was_cut = status != GROUT_RUN_DONE && status != GROUT_RUN_DEADLOCK;
    const bool is_done = machine != NULL && check_status(launch, run, status, diags);
    grout_machine_free(machine);
    return is_done;
}
