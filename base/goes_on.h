/*
 * goes_on.h - whether work goes on: what each loop asks that a large input makes long, so that
 * --timeout and signals end it (pulse.h: without a list of diagnostics; docs/architecture.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_GOES_ON_H
#define GROUT_BASE_GOES_ON_H

#include "diag_list.h"

/* Calls of grout_diags__goes_on, each of which follows work of some microseconds at most, between
 * two questions to the caller of grout_diags_set_why_end. */
#define GROUT_ASKED_EACH 64u

/* Asks at once. doing: what is being done, in the past ("the text was parsed"); a literal. */
bool grout_diags__ask(grout_diags *diags, const char *doing);

/* Whether whatever works with the list is to go on. False: the list says so, and all work with it
 * is to end. */
static inline bool grout_diags__goes_on(grout_diags *diags, const char *doing) {
    if (diags == NULL || diags->why_end == NULL) {
        return true;
    }
    return ++diags->asked % GROUT_ASKED_EACH == 0 ? grout_diags__ask(diags, doing)
                                                  : !diags->has_ended;
}

/* Whether it has said so: all work with the list fails. */
static inline bool grout_diags__has_ended(const grout_diags *diags) {
    return diags != NULL && diags->has_ended;
}

/* Copies bytes as memcpy does, and asks now and then. */
bool grout_diags__copy(grout_diags *diags, void *to, const void *from, size_t size,
                       const char *doing);

#endif
