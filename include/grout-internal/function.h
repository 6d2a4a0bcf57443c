/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function.h - kernels as C functions with all that a launch can have: observers, a record, a
 * replay. grout/function.h has what programs set of it.
 */
#ifndef GROUT_INTERNAL_FUNCTION_H
#define GROUT_INTERNAL_FUNCTION_H

#include "grout-internal/interp.h"
#include "grout/function.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grout_check_summary; /* race.h */

typedef struct grout_kernel_function_options {
    /* The kernel, and how it runs. module: bound and verified. Each call gives the arguments: the
     * launch has none. What it points to is borrowed until the function is freed. */
    grout_launch launch;
    /* Each call runs under the race checker, too; what it finds goes to report, and an error makes
     * the call false. Takes one of the launch's observers. A call that is true is clean under the
     * launch's schedule and timing; whether that holds for every other one, judge hears. */
    bool is_checked;
    /*
     * Gets what a call has to say, at its end and in its OS thread, if that is anything: why it
     * failed, and warnings of the checker. The list belongs to the call, and is NULL if there was
     * no memory for one. May be NULL: it is dropped.
     */
    void (*report)(void *payload, const grout_diags *diags);
    /*
     * Gets the verdict of each checked call whose arguments are right, at its end and before
     * report: is_well_synchronised says whether it holds for every schedule and timing of this
     * launch, and not_well_synchronised_because why not. The strings last as long as judge. May be
     * NULL.
     */
    void (*judge)(void *payload, const struct grout_check_summary *summary);
    void *payload;
} grout_kernel_function_options;

/* Makes the function. The options are copied. NULL: reasons in diags. */
grout_kernel_function *grout_kernel_function_make(const grout_kernel_function_options *options,
                                                  grout_diags *diags);

/* For launch.externs and launch.extern_count; they belong to externs. One whose function is not
 * given has none: the launch says so (extern-missing). */
const grout_extern *grout_externs_get(const grout_externs *externs, uint32_t *count_out);

#ifdef __cplusplus
}
#endif
#endif
