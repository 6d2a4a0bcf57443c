/*
 * taint.h - values that depend on the schedule, and what they decide; private to race_checker/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_TAINT_H
#define GROUT_RACE_CHECKER_TAINT_H

#include "flow.h"

/* The first op of the kernel that such a value decides something of. source 0: there is none. */
typedef struct grout_taint {
    grout_op_id source, sink;
    bool
        is_undefined; /* not which value it is depends on the schedule, but whether it is defined */
    const char *what; /* "decides a branch" */
} grout_taint;

/* False without memory. */
bool grout_checker__find_taint(const grout_checker *checker, grout_taint *taint_out);

/* An operation of the kernel that writes the object, or combines with it; 0: none does. */
grout_op_id grout_checker__find_writer(const grout_checker *checker, grout_object_id object);

/* By parameter and grout_chance_kind: what the launch leaves to chance in the array, and what
 * another one had left so. chances_out is zeroed. launch: the number of this one. False without
 * memory. */
bool grout_checker__find_chances(const grout_checker *checker, uint32_t launch,
                                 grout_chance *chances_out);

/* What some operations have read, followed for all of them at once. */
typedef struct grout_feeds {
    uint8_t *reads; /* by op: 1, it is one of them */
    grout_flow flow;
} grout_feeds;

/* None yet: the caller sets reads. False without memory; deinit it all the same. */
bool grout_feeds__init(grout_feeds *feeds, const grout_checker *checker);
void grout_feeds__deinit(grout_feeds *feeds);
/* Once reads are set; false without memory. */
bool grout_feeds__follow(grout_feeds *feeds);
/* The first of the reads that reaches an op, through values or memory, or that is the op; 0: none
 * does. */
grout_op_id grout_feeds__find(const grout_feeds *feeds, grout_op_id use);

/* What the values of writes are made of, followed once for all of them. What a write goes over has
 * no part in it. */
typedef struct grout_makings {
    grout_flow schedule;
    grout_feeds races; /* of reads in races that were found */
} grout_makings;

/* No race yet: the caller sets races.reads. False without memory; deinit it all the same. */
bool grout_makings__init(grout_makings *makings, const grout_checker *checker);
void grout_makings__deinit(grout_makings *makings);
/* Once the reads are set; false without memory. */
bool grout_makings__follow(grout_makings *makings);
/* Whether what an op writes depends on the schedule; whether it comes of one of the reads, or of
 * the op itself, if that is one of them. */
bool grout_makings__has_schedule(const grout_makings *makings, grout_op_id write);
bool grout_makings__has_race(const grout_makings *makings, grout_op_id write);

#endif
