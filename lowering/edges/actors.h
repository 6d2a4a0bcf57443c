/*
 * actors.h - the program order of each thread of a CTA, and of the warps of a warp_map: a forward
 * walk over the structured code that carries a set of facts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_LOWERING_ACTORS_H
#define GROUT_LOWERING_ACTORS_H

#include "grout-internal/ir.h"

/* Whose program order it is. */
typedef struct grout_actor {
    uint32_t thread;
    bool is_warp; /* in the bodies of 'warp_map', all warps alike; else outside of them */
} grout_actor;

/* What is known at a place of an actor's program: a set of bits, of grout_actor_walk.words words.
 * Paths that meet are joined. */
typedef uint64_t grout_actor_facts;

typedef struct grout_actor_walk grout_actor_walk;
struct grout_actor_walk {
    const grout_module *module;
    grout_kernel_id kernel;
    uint32_t words;    /* of a set of facts, at least 1 */
    grout_actor actor; /* of which the facts tell */
    grout_actor here;  /* which runs the block that is walked */
    /* Called for each operation of the actor, regions before their blocks. A loop's are visited
     * until the facts at its head no longer grow. What it adds to the facts may depend on them only
     * so that more facts leave more. */
    void (*visit)(grout_actor_walk *walk, grout_op_id op, grout_actor_facts *facts);
    /* The same for the first and the last moment of an actor in a warp_map or a warp_specialize;
     * NULL: nothing to do. */
    void (*begin)(grout_actor_walk *walk, grout_actor_facts *facts);
    void (*end)(grout_actor_walk *walk, grout_actor_facts *facts);
    void *payload;
    grout_diags *diags;        /* asked whether the walk goes on; NULL: nobody is */
    grout_actor_facts **heads; /* actors.c's: by block, what is known at the head of a loop */
    bool has_failed;           /* actors.c's: no memory, or it does not go on */
};

/* Walks every actor of the kernel, each from the start with no facts. A branch that the thread's
 * own index decides is walked on that side only. False: no memory, or it does not go on. */
bool grout_actors__walk(grout_actor_walk *walk);

#endif
