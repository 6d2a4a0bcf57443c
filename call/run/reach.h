/* reach.h - what the runs of a kernel came to, and what not: code that never ran; barriers, buffers
 * and loops that were never used again. An observer counts; the verdict says what it did not see.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_REACH_H
#define GROUT_CALL_REACH_H

#include "load.h"

typedef struct grout_lines {
    uint32_t first, last;
} grout_lines;

/* What is known of an op. */
typedef struct grout_reach_op {
    grout_op_id loop; /* innermost around it; 0: none */
    uint32_t number;  /* of a loop: among the kernel's */
    uint32_t depth;   /* of a loop: loops around it */
    bool has_run;     /* an op with an effect */
    bool has_turned;  /* a loop: some actor went round */
} grout_reach_op;

/* How async operations have written an object in SMEM. */
typedef enum grout_reach_use {
    GROUT_REACH_UNUSED,
    GROUT_REACH_ONCE,
    GROUT_REACH_SPREAD, /* several times, each time other bytes */
    GROUT_REACH_REUSED  /* some bytes of it more than once */
} grout_reach_use;

typedef struct grout_reach_objects {
    grout_object_id *items;
    size_t count, capacity;
} grout_reach_objects;

/* What is kept of a CTA that runs (reach.c). */
typedef struct grout_reach_cta {
    struct grout_reach_turn *turns;    /* by actor, then by loop; NULL: nothing is known */
    struct grout_reach_bytes *objects; /* by object */
} grout_reach_cta;

/* Ids that follow each other. */
typedef struct grout_reach_range {
    uint32_t first, count;
} grout_reach_range;

typedef struct grout_reach {
    grout_observer
        observer; /* to be put into a launch; of several runs it adds up what they reach */
    const grout_module *module;
    grout_kernel_id kernel;
    /* of the kernel's ops and objects: whatever else is in a module, the n-th of each is the same
     */
    grout_reach_range range, objects;
    grout_reach_op *ops;   /* by op of the range */
    uint32_t *phases;      /* by object: the most that an element of the barrier has completed */
    grout_reach_use *uses; /* by object */
    uint32_t loop_count, actor_count;
    struct {
        grout_reach_cta *items; /* by CTA */
        size_t count, capacity;
    } ctas;
    /* found by grout_reach__find */
    struct {
        grout_lines *items; /* of code that never ran, in order, apart from each other */
        size_t count, capacity;
    } lines;
    grout_reach_objects barriers; /* in loops, none of whose slots came round again */
    grout_reach_objects buffers;  /* in loops, none of whose bytes was filled again */
    struct {
        uint32_t *items; /* lines of loops that ran once */
        size_t count, capacity;
    } loops;
} grout_reach;

/* How much a reach lacks. */
typedef struct grout_lack {
    uint64_t lines, barriers, buffers, loops;
} grout_lack;

/* The end of a CTA, for one, is the event of no op. */
static inline bool grout_reach__has(const grout_reach_range *range, uint32_t id) {
    return id - range->first < range->count;
}

static inline grout_reach_op *grout_reach__get_op(const grout_reach *reach, grout_op_id id) {
    return &reach->ops[id - reach->range.first];
}

static inline uint32_t *grout_reach__get_phases(const grout_reach *reach, grout_object_id id) {
    return &reach->phases[id - reach->objects.first];
}

static inline grout_reach_use *grout_reach__get_use(const grout_reach *reach, grout_object_id id) {
    return &reach->uses[id - reach->objects.first];
}

/* False without memory. Deinit even then. */
bool grout_reach__init(grout_reach *reach, const grout_load *load, grout_kernel_id kernel);
void grout_reach__deinit(grout_reach *reach);
/* Adds what runs of the same kernel reached, with other sizes or in a module of its own. */
void grout_reach__join(grout_reach *reach, const grout_reach *other);
/* After the runs: what they did not reach (unreached.c). False without memory. */
bool grout_reach__find(grout_reach *reach);
bool grout_reach__is_whole(const grout_reach *reach);
grout_lack grout_reach__measure(const grout_reach *reach);
bool grout_lack__is_none(const grout_lack *lack);
/* Whether it is less than another, of the same kernel with other sizes. */
bool grout_lack__is_less(const grout_lack *lack, const grout_lack *other);
/* Appends "lines 10-11; %full never came round"; nothing if it is whole. */
void grout_reach__describe(const grout_reach *reach, grout_text *out);

#endif
