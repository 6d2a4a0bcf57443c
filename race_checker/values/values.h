/*
 * values.h - what racing writes leave, compared by the byte.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A write is over before the next operation begins: the launch has eager timing. So the bytes of a
 * region are those of its last write, until another write of them comes. Then they are kept; those
 * of the other one are in memory once its operation is over. A pair is compared at that moment.
 *
 * The shadow forgets a write when another one comes after it in order. A third one, in no order
 * with either, is in conflict with both, and which of them it meets depends on the schedule. So
 * that no verdict does, it is compared with all that were kept: writes that race with it by a
 * finding that is judged (questions.h). One in conflict is enough where several left the same bytes
 * in the same place. It is plain data of one run: such a checker has no snapshots.
 */
#ifndef GROUT_RACE_CHECKER_VALUES_H
#define GROUT_RACE_CHECKER_VALUES_H

#include "array.h"
#include "checker.h"
#include "places.h"
#include "questions.h"

/* Where the bytes of an access lie: by its object, and as rectangles of a plane. */
typedef struct grout_bytes_place {
    grout_object_id object;
    uint32_t owner; /* the CTA whose memory it is; UINT32_MAX: the launch's */
    uint32_t plane;
    uint64_t pitch; /* of the plane */
    int64_t offset; /* of the object in it */
} grout_bytes_place;

/* What a write left in a rectangle, before another one came. */
typedef struct grout_left_bytes {
    grout_entry write;
    uint32_t
        since; /* number of the first of its operation that left the same; its own: it is alone */
    uint32_t owner, plane;
    bool is_read; /* somebody has read it: a reader may vouch for it */
    grout_rect rect;
    size_t first;  /* in the pool: its bytes, then as many marks of undefined ones */
    uint32_t next; /* of its group: an older one, plus 1 */
} grout_left_bytes;

/* What writes at one place of the source left in a rectangle, all the same bytes. */
typedef struct grout_left_group {
    uint32_t newest; /* of left, plus 1 */
    uint32_t next;   /* an older group with the same hash of all that its members share, plus 1 */
} grout_left_group;

/* Two writes in no order, of which the second is not over yet. */
typedef struct grout_write_pair {
    grout_entry earlier;
    uint32_t kept;           /* what it left, of left, plus 1; 0: that is to be found */
    grout_bytes_place place; /* of the later one */
    grout_rect rect;
    grout_finding_key key; /* of the finding, if it is one */
} grout_write_pair;

struct grout_values {
    const grout_allocator *allocator;
    grout_questions questions;
    GROUT_ARRAY(grout_left_bytes) left;
    grout_places pieces; /* of left; label: of the actor's operation */
    GROUT_ARRAY(grout_left_group) groups;
    grout_places places;    /* of groups; label: place in the source */
    grout_lookup by_shared; /* of groups: by the hash of what members share, plus 1 */
    grout_lookup newest;    /* of left: by actor, operation and place, plus 1 */
    GROUT_ARRAY(uint8_t) pool;
    GROUT_ARRAY(grout_write_pair) pairs;
    GROUT_ARRAY(uint8_t) scratch;
    uint64_t step; /* of the operation whose pairs these are */
};

/* For the races that the checker judges. NULL without memory. */
grout_values *grout_values__new(const grout_checker *checker);
void grout_values__free(grout_values *values);
/* Whether a question about the writes of an operation is open. */
bool grout_values__ask(const grout_checker *checker, grout_op_id op);
/* The bytes of a region are about to be overwritten; is_read: somebody has read them. Nothing, if
 * nobody asks for its last write. False without memory. */
bool grout_values__keep(grout_checker *checker, const grout_entry *write, bool is_read,
                        const grout_bytes_place *place, const grout_rect *rect);
/* The groups that the writes of an operation are to be compared with in a place are in places.met;
 * others may be among them. False without memory. */
bool grout_values__find_groups(grout_checker *checker, grout_op_id op,
                               const grout_place_of_rect *place);
/* The operation at this step writes, in no order with an earlier write. False without memory. */
bool grout_values__add_pair(grout_checker *checker, uint64_t step, const grout_write_pair *pair);
/* Compares the writes of the operation that is over. False without memory. */
bool grout_values__compare(grout_checker *checker);
/* At the end of the run: notes it all in the records. False without memory. */
bool grout_values__end(grout_checker *checker);

#endif
