/* rivals.h - atomics of a run that touch the same bytes, whose order shows, and that nothing
 * orders.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_RIVALS_H
#define GROUT_EXPLORE_RIVALS_H

#include "array.h"

#include "grout-internal/interp.h"

/* What one atomic, or one operation on a semaphore, has touched. */
typedef struct grout_rival {
    uint32_t place; /* plus 1: in the places */
    uint32_t kind;  /* equal ones commute; 0: with none */
    grout_op_id op;
    uint32_t actor;                      /* of the launch */
    uint32_t cluster, component, number; /* what knows that much comes after it */
    uint32_t turn;                       /* how often its actor had run the op here */
    uint32_t previous;                   /* the one before at its place, plus 1 */
} grout_rival;

/* The bytes of an access; the same for all that touch just these. */
typedef struct grout_rival_place {
    grout_object_id root;
    uint32_t owner;
    int64_t low, high; /* all of them lie between */
    uint32_t first_run, run_count;
    uint32_t last; /* rival, plus 1 */
} grout_rival_place;

typedef struct grout_rivals {
    const grout_allocator *allocator;
    grout_observer observer;
    grout_launch_info info;
    uint32_t local_actors;
    const bool *matters, *is_read; /* by root; by op */
    GROUT_ARRAY(grout_rival) items;
    GROUT_ARRAY(grout_rival_place) places;
    GROUT_ARRAY(grout_run) runs;
    uint64_t sum;      /* of the pairs: equal for two runs that leave the same pairs open */
    uint64_t compared; /* so far */
    bool is_cut;       /* there were too many to compare: nothing is known */
} grout_rivals;

/* By object with bytes of its own: whether the order of its atomics may reach what leaves the
 * kernel; grout__free it. *any_out: one does. NULL without memory. */
bool *grout_rivals__find_objects(const grout_allocator *allocator, const grout_module *module,
                                 grout_kernel_id kernel, bool *any_out);
/* By op: whether its result is used; grout__free it. NULL without memory. */
bool *grout_rivals__find_reads(const grout_allocator *allocator, const grout_module *module);

/* An observer of one run; what find_objects and find_reads said. Deinit at the end. */
void grout_rivals__init(grout_rivals *rivals, const grout_allocator *allocator, const bool *matters,
                        const bool *is_read);
void grout_rivals__deinit(grout_rivals *rivals);

#endif
