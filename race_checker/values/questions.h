/*
 * questions.h - the races of two writes that are judged, and what is known of each.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A question is answered once some pair of its writes has left different bytes. Equal ones leave it
 * open: the next pair may differ.
 */
#ifndef GROUT_RACE_CHECKER_QUESTIONS_H
#define GROUT_RACE_CHECKER_QUESTIONS_H

#include "array.h"
#include "checker.h"
#include "lookup.h"

/* A finding of two writes. */
typedef struct grout_question {
    grout_finding_key key;
    uint32_t next;    /* an older one with the same hash of its key, plus 1 */
    uint32_t meeting; /* of its two places */
    bool is_compared, is_different;
} grout_question;

/* Two places of the source, whichever is the primary one: how many open questions they have. */
typedef struct grout_meeting {
    grout_loc_id places[2];
    uint32_t open_count;
} grout_meeting;

/* What races with the writes at one place. */
typedef struct grout_writers {
    size_t first; /* of the places, in others */
    uint32_t count;
    uint32_t open_count; /* questions */
} grout_writers;

typedef struct grout_questions {
    const grout_allocator *allocator;
    GROUT_ARRAY(grout_question) all;
    GROUT_ARRAY(grout_meeting) meetings;
    grout_lookup by_key;    /* by hash: the newest, plus 1 */
    grout_lookup by_places; /* by both: the meeting, plus 1 */
    grout_writers *writers; /* by place */
    grout_loc_id writers_end;
    grout_loc_id *others; /* for each place those that it meets, each once */
} grout_questions;

/* Those of the checker that this one's run is for. False without memory: to be deinited, too. */
bool grout_questions__init(grout_questions *questions, const grout_checker *checker);
void grout_questions__deinit(grout_questions *questions);
/* Whether a question about writes at this place is open. */
bool grout_questions__ask(const grout_questions *questions, grout_loc_id place);
/* How many are open about writes at these two. */
uint32_t grout_questions__count_open(const grout_questions *questions, grout_loc_id place,
                                     grout_loc_id other);
/* The places of writes that race with those at this one, each once. */
const grout_loc_id *grout_questions__get_others(const grout_questions *questions,
                                                grout_loc_id place, uint32_t *count_out);
/* The open question, or NULL. */
grout_question *grout_questions__find(const grout_questions *questions,
                                      const grout_finding_key *key);
/* Answers the open question for one pair of writes. */
void grout_questions__answer(grout_questions *questions, grout_question *question,
                             bool is_different);

#endif
