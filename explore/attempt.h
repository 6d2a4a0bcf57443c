/* attempt.h - one schedule of a launch: run with a checker, and what it left to decide by.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_ATTEMPT_H
#define GROUT_EXPLORE_ATTEMPT_H

#include "arrays.h"
#include "trace.h"

#include "grout-internal/equal.h"
#include "grout-internal/explore.h"

/* What all attempts of an exploration have in common. */
typedef struct grout_attempts {
    const grout_launch *launch;
    const grout_explore_options *options;
    const grout_saved_arrays *arrays; /* of inout parameters, as they were */
    const uint8_t *orders;            /* of the kernel: orders.h; NULL: no trace is kept */
    grout_writes_judge *judge;        /* of racing writes; NULL: they are errors */
    bool may_judge;                   /* an attempt may run the launch for it */
} grout_attempts;

typedef struct grout_attempt {
    const grout_allocator *allocator;
    grout_decisions decisions; /* that it made */
    grout_trace trace;
    grout_checker *checker;
    grout_run_status status;
    grout_run_stats stats;
    grout_check_summary summary; /* its words live as long as the checker */
} grout_attempt;

/*
 * Runs one: the decisions given (NULL: the launch's own policy), then the fair schedule. launch:
 * that of all, or the same with other arrays and observers. NULL: reasons in diags. Free it.
 */
grout_attempt *grout_attempt__run(const grout_attempts *all, const grout_launch *launch,
                                  const grout_decisions *replay, grout_diags *diags);
void grout_attempt__free(grout_attempt *attempt);
/* False without memory. Deinit the copy. */
bool grout_decisions__copy(const grout_allocator *allocator, const grout_decisions *from,
                           grout_decisions *to);

#endif
