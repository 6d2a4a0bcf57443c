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
 * that no verdict does, it is compared with all that were kept: writes of the operations that are
 * judged. It is plain data of one run: such a checker has no snapshots.
 */
#ifndef GROUT_RACE_CHECKER_VALUES_H
#define GROUT_RACE_CHECKER_VALUES_H

#include "array.h"
#include "checker.h"
#include "places.h"

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
    size_t first; /* in the pool: its bytes, then as many marks of undefined ones */
} grout_left_bytes;

/* Two writes in no order, of which the second is not over yet. */
typedef struct grout_write_pair {
    grout_entry earlier;
    grout_bytes_place place; /* of the later one */
    grout_rect rect;
    grout_finding_key key; /* of the finding, if it is one */
} grout_write_pair;

/* A finding of two writes, and what is known of them. */
typedef struct grout_compared_pair {
    grout_finding_key key;
    bool is_different;
    uint32_t next; /* an older one with the same hash of its key, plus 1 */
} grout_compared_pair;

struct grout_values {
    const grout_allocator *allocator;
    uint8_t *are_judged; /* by op: 1, its writes are */
    GROUT_ARRAY(grout_compared_pair) compared;
    grout_lookup compared_by_key; /* by the hash of the key: the newest, plus 1 */
    GROUT_ARRAY(grout_left_bytes) left;
    grout_places places; /* of left */
    grout_lookup newest; /* of left: by actor, operation and place, plus 1 */
    GROUT_ARRAY(uint8_t) pool;
    GROUT_ARRAY(grout_write_pair) pairs;
    GROUT_ARRAY(uint8_t) scratch;
    grout_place_of_rect
        met_at;    /* where places.met is of, of this many left: pairs of an operation */
    size_t met_of; /* ask for one place again and again */
    grout_lookup met_by_writer;     /* of places.met: the newest of an actor's operation, plus 1 */
    GROUT_ARRAY(uint32_t) met_next; /* by the number in places.met: the next older one, plus 1 */
    uint64_t step;                  /* of the operation whose pairs these are */
};

/* For the races that the checker judges. NULL without memory. */
grout_values *grout_values__new(const grout_checker *checker);
void grout_values__free(grout_values *values);
/* The bytes of a region are about to be overwritten; is_read: somebody has read them. Nothing, if
 * its last write is not judged. False without memory. */
bool grout_values__keep(grout_checker *checker, const grout_entry *write, bool is_read,
                        const grout_bytes_place *place, const grout_rect *rect);
/* The operation at this step writes, in no order with an earlier write. False without memory. */
bool grout_values__add_pair(grout_checker *checker, uint64_t step, const grout_write_pair *pair);
/* Compares the writes of the operation that is over. False without memory. */
bool grout_values__compare(grout_checker *checker);
/* At the end of the run: notes it all in the records. False without memory. */
bool grout_values__end(grout_checker *checker);

#endif
