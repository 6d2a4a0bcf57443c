/*
 * values.h - what racing writes leave, compared by the byte.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A write is over before the next operation begins: the launch has eager timing. So the bytes of a
 * region are those of its last write, until another write of them comes. Then they are kept, if the
 * two are in no order; those of the other one are in memory once its operation is over. A pair is
 * compared at that moment. It is plain data of one run: such a checker has no snapshots.
 */
#ifndef GROUT_RACE_CHECKER_VALUES_H
#define GROUT_RACE_CHECKER_VALUES_H

#include "array.h"
#include "checker.h"

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
    uint32_t owner, plane;
    grout_rect rect;
    size_t first;  /* in the pool: its bytes, then as many marks of undefined ones */
    uint32_t next; /* an older one of the same bucket, plus 1 */
} grout_left_bytes;

/* Two writes in no order, of which the second is not over yet. */
typedef struct grout_write_pair {
    grout_entry earlier;
    grout_bytes_place place; /* of the later one */
    grout_rect rect;
    uint32_t record; /* of the finding */
} grout_write_pair;

enum { GROUT_LEFT_BUCKETS = 1024 };

struct grout_values {
    const grout_allocator *allocator;
    GROUT_ARRAY(grout_left_bytes) left;
    GROUT_ARRAY(uint8_t) pool;
    GROUT_ARRAY(grout_write_pair) pairs;
    GROUT_ARRAY(uint8_t) scratch;
    uint32_t buckets[GROUT_LEFT_BUCKETS]; /* newest of each, plus 1 */
    uint64_t step;                        /* of the operation whose pairs these are */
};

/* NULL without memory. */
grout_values *grout_values__new(const grout_allocator *allocator);
void grout_values__free(grout_values *values);
/* The bytes of a region are about to be overwritten by a write that its last one is in no order
 * with. False without memory. */
bool grout_values__keep(grout_checker *checker, const grout_entry *write,
                        const grout_bytes_place *place, const grout_rect *rect);
/* The operation at this step writes, in no order with an earlier write. False without memory. */
bool grout_values__add_pair(grout_checker *checker, uint64_t step, const grout_write_pair *pair);
/* Compares what is to be compared, and notes it in the records. False without memory. */
bool grout_values__compare(grout_checker *checker);

#endif
