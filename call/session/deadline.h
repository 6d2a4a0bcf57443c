/* deadline.h - what ends work from outside: Ctrl-C, --timeout, and the budget of a search.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_DEADLINE_H
#define GROUT_CALL_DEADLINE_H

#include "host.h"

/* What ended a run, or a series of runs, from outside. */
typedef enum grout_cut {
    GROUT_CUT_NONE,
    GROUT_CUT_INTERRUPT, /* Ctrl-C */
    GROUT_CUT_TIMEOUT,
    GROUT_CUT_BUDGET
} grout_cut;

/* Seconds of the host's clock; 0: none. */
typedef struct grout_deadline {
    const grout_host *host;
    double timeout_end; /* --timeout */
    double budget_end;  /* of the search that this is part of */
} grout_deadline;

/* What has come to its end by now. */
grout_cut grout_deadline__find_cut(const grout_deadline *deadline);
/* Waiting that it bounds. */
grout_waiting grout_deadline__get_waiting(grout_deadline *deadline);
/* The same for grout_diags_set_why_end; the payload is the deadline. */
grout_diag_code grout_deadline__why_end(void *payload);
/* "the time was over (--timeout)" */
const char *grout_cut_get_text(grout_cut cut);

#endif
