/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * non_finite.h - NaN and infinity, where an operation makes them out of numbers
 * (grout_launch.track_non_finite).
 *
 * NaN is made where no operand is NaN, infinity where every operand is finite. What is computed
 * from one that there is already follows on and is counted. What only moves elements (loads,
 * copies, select, broadcast, slices) makes nothing; neither does a literal.
 */
#ifndef GROUT_INTERP_NON_FINITE_H
#define GROUT_INTERP_NON_FINITE_H

#include "machine.h"

/* The kinds of floats. What is made of a kind follows on if it is not above it. */
typedef enum grout_finiteness {
    GROUT_FINITE,
    GROUT_INFINITE,
    GROUT_NAN,
    GROUT_FINITENESS_COUNT
} grout_finiteness;

/* The kind of an element of any type: those of integers and bools are finite. */
grout_finiteness grout_finiteness_get(grout_dtype dtype, const void *element);

/* When a launch begins: elements of its arrays that are not finite. */
void grout_non_finite__inputs(grout_machine *machine);
/* After an instruction: what it has made of its operands, which are still there. */
void grout_non_finite__check(const grout_cta *cta, uint32_t thread, const grout_inst *inst);

/* How elements of an array are combined with others. */
typedef struct grout_update_plan {
    grout_update update;
    grout_dtype dtype;
    bool is_gmem;
    bool is_picked; /* the elements are a part of the operand that indices name: no place is said */
} grout_update_plan;

/* grout_update__apply, and where the launch asks for it what it makes. */
void grout_non_finite__update(grout_machine *machine, const grout_origin *origin,
                              const grout_update_plan *plan, void *elements, const void *values,
                              int64_t count);

/* One operation whose results are elements of an array in memory or of an accumulator. */
typedef struct grout_non_finite {
    grout_origin origin;
    int64_t extent;    /* elements of the array */
    int64_t first;     /* of what was made; -1: nothing so far */
    uint64_t bits;     /* of that element */
    grout_dtype dtype; /* its type */
    uint64_t made, follow;
} grout_non_finite;

/* An element was made of this much: counts it. */
void grout_non_finite__note(grout_non_finite *noted, int64_t at, grout_finiteness from,
                            grout_dtype dtype, const void *element);
/* The finding, if there is one, and the counts. */
void grout_non_finite__publish(grout_machine *machine, const grout_non_finite *noted);

#endif
