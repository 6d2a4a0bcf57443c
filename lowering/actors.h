/*
 * actors.h - the program order of each thread of a CTA, and of the warps of a warp_map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_LOWERING_ACTORS_H
#define GROUT_LOWERING_ACTORS_H

#include "grout/ir.h"

/* Whose program order it is. */
typedef struct grout_actor {
    uint32_t thread;
    bool is_warp; /* in the bodies of 'warp_map', all warps alike; else outside of them */
} grout_actor;

/* What is known at a place of an actor's program: a set of bits. Paths that meet are joined. */
typedef uint32_t grout_actor_facts;

typedef struct grout_actor_walk grout_actor_walk;
struct grout_actor_walk {
    const grout_module *module;
    grout_kernel_id kernel;
    grout_actor actor; /* of which the facts tell */
    grout_actor here;  /* which runs the block that is walked */
    /* Called for each operation of the actor, regions before their blocks. A loop's are visited
     * until the facts at its head no longer grow. */
    void (*visit)(grout_actor_walk *walk, const grout_op *op, grout_actor_facts *facts);
    /* The same for the first and the last moment of an actor in a warp_map or a warp_specialize. */
    void (*begin)(grout_actor_walk *walk, grout_actor_facts *facts);
    void (*end)(grout_actor_walk *walk, grout_actor_facts *facts);
    void *payload;
};

/* Walks every actor of the kernel, each from the start with no facts. A branch that the thread's
 * own index decides is walked on that side only. */
void grout_actors__walk(grout_actor_walk *walk);

#endif
