/* attempt.h - a text on the way to a repair: what the checker says of it, how it was reached, and
 * which of two is better.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_ATTEMPT_H
#define GROUT_REPAIR_ATTEMPT_H

#include "other_sizes.h"

typedef struct grout_attempt {
    grout_text text; /* empty: there is none */
    grout_trial trial;
    grout_text steps; /* in words, a line each */
    uint32_t step_count;
    /* A wait was put in or moved: that may make a repair of less that is in flight. */
    bool may_be_shallow;
    /* An arrival was put in against a deadlock: the number of arrivals may be what is wrong. */
    bool may_be_miscounted;
    uint32_t edit_size; /* of all steps: the less, the more of the kernel is as it was */
    uint64_t inserted;  /* a hash of the last line that was put in; 0: none was */
    bool is_twin;       /* which stands there as it is, a few lines from it */
    uint32_t leaves;    /* groups that waits which were put in leave in flight */
    /* where it was tried too; NULL: nowhere. Borrowed */
    const grout_other_sizes *others;
    uint32_t failed; /* and was not clean, a bit for each */
} grout_attempt;

/* By how much two attempts are compared: the later ones decide where the earlier ones are equal. */
typedef enum grout_attempt_grades {
    GROUT_ATTEMPT_PROGRESS = 4, /* findings, and whether all was seen */
    GROUT_ATTEMPT_HERE = 6,     /* all that is known of its own size */
    GROUT_ATTEMPT_ALL = 10
} grout_attempt_grades;

void grout_attempt__deinit(grout_attempt *attempt);

/* The steps to one text are those to the next one, so far. */
void grout_attempt__keep_steps(const grout_attempt *before, grout_attempt *after);
/* Adds a step: the change that was made to lines because of a finding. */
void grout_attempt__add_step(grout_attempt *after, const grout_trial_finding *finding,
                             const grout_change *change, const grout_text_lines *lines);

/* Whether it is there, and nothing is left to repair. */
bool grout_attempt__is_clean(const grout_attempt *attempt);
/* Clean for every schedule, and without a warning of what is written. */
bool grout_attempt__is_perfect(const grout_attempt *attempt);
/* Sizes at which it is not clean. */
uint32_t grout_attempt__count_failed(const grout_attempt *attempt);
/* Whether nothing better is to be expected. */
bool grout_attempt__is_best(const grout_attempt *attempt);
/* Whether a change of lines may lead to something better than a perfect one. */
bool grout_attempt__may_be_bettered(const grout_attempt *best, const grout_text_lines *lines,
                                    const grout_change *change);
bool grout_attempt__is_better(const grout_attempt *a, const grout_attempt *b,
                              grout_attempt_grades grades);
/* Keeps the better of the two in best, and frees the other. */
void grout_attempt__keep_better(grout_attempt *best, grout_attempt *other);

#endif
