/* candidate.h - a text on the way to a repair: what the checker says of it, how it was reached, and
 * which of two is better.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_CANDIDATE_H
#define GROUT_REPAIR_CANDIDATE_H

#include "other_runs.h"

typedef struct grout_candidate {
    grout_text text; /* empty: there is none */
    grout_trial trial;
    grout_text steps; /* in words, a line each */
    uint32_t step_count;
    /* A wait was put in or moved: that may make a repair of less that is in flight. */
    bool may_be_shallow;
    /* An arrival was put in against a deadlock: the number of arrivals may be what is wrong. */
    bool may_be_miscounted;
    uint32_t edit_size; /* of all steps: the less, the more of the kernel is as it was meant */
    uint64_t inserted;  /* a hash of the last line that was put in; 0: none was */
    grout_opcode inserted_op;
    bool is_twin;    /* which stands there as it is, a few lines from it */
    uint32_t leaves; /* groups that waits which were put in leave in flight */
    /* where it was tried too; NULL: nowhere. Borrowed */
    const grout_other_runs *others;
    uint32_t failed; /* and was not clean, a bit for each */
} grout_candidate;

/* By how much two candidates are compared: the later ones decide where the earlier ones are equal.
 */
typedef enum grout_candidate_grades {
    GROUT_CANDIDATE_PROGRESS = 4, /* findings, and whether all was seen */
    GROUT_CANDIDATE_HERE = 6,     /* all that is known of its own size */
    GROUT_CANDIDATE_ALL = 10
} grout_candidate_grades;

void grout_candidate__deinit(grout_candidate *candidate);

/* The steps to one text are those to the next one, so far. */
void grout_candidate__keep_steps(const grout_candidate *before, grout_candidate *after);
/* Adds a step: the change that was made to lines because of a finding. */
void grout_candidate__add_step(grout_candidate *after, const grout_trial_finding *finding,
                               const grout_change *change, const grout_text_lines *lines);

/* Whether it is there, and nothing is left to repair. */
bool grout_candidate__is_clean(const grout_candidate *candidate);
/* Clean for every schedule, and without a warning of what is written. */
bool grout_candidate__is_perfect(const grout_candidate *candidate);
/* Sizes at which it is not clean. */
uint32_t grout_candidate__count_failed(const grout_candidate *candidate);
/* Whether nothing better is to be expected. */
bool grout_candidate__is_best(const grout_candidate *candidate);
/* Whether a change of lines may lead to something better than a perfect one. */
bool grout_candidate__may_be_bettered(const grout_candidate *best, const grout_text_lines *lines,
                                      const grout_change *change);
bool grout_candidate__is_better(const grout_candidate *a, const grout_candidate *b,
                                grout_candidate_grades grades);
/* Keeps the better of the two in best, and frees the other. */
void grout_candidate__keep_better(grout_candidate *best, grout_candidate *other);

#endif
