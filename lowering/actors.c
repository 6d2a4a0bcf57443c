/*
 * actors.c - the program order of each thread of a CTA, and of the warps of a warp_map.
 *
 * With a 'warp_specialize' thread k runs its body k, and thread 0 what stands outside; else all
 * threads run the whole, but for branches that their own index decides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "actors.h"

#include "thread_value.h"

static void walk_block(grout_actor_walk *walk, grout_block_id block, grout_actor_facts *facts);

/* Walks the body of a 'for', or both bodies of a 'while', until what is known at its head no longer
 * changes. facts are then those after the loop. */
static void walk_loop(grout_actor_walk *walk, const grout_op *op, grout_actor_facts *facts) {
    const bool is_while = grout_op_get_region((grout_opcode)op->opcode)->blocks == 2;
    grout_actor_facts head = *facts, before;
    do {
        before = head;
        grout_actor_facts inner = head;
        walk_block(walk, op->first_block, &inner);
        *facts = is_while ? inner : head | inner;
        if (is_while) {
            walk_block(walk, op->first_block + 1, &inner);
        }
        head |= inner;
    } while (head != before);
}

/* Bodies of which one runs: what any of them leaves. may_skip: none may run. */
static void walk_branches(grout_actor_walk *walk, const grout_op *op, bool may_skip,
                          grout_actor_facts *facts) {
    const grout_actor_facts before = *facts;
    *facts = may_skip ? before : 0;
    for (uint32_t k = 0; k < op->block_count; k++) {
        grout_actor_facts inner = before;
        walk_block(walk, op->first_block + k, &inner);
        *facts |= inner;
    }
}

/* The body that the thread's index chooses, or both. */
static void walk_if(grout_actor_walk *walk, const grout_op *op, grout_actor_facts *facts) {
    const grout_known_value condition =
        grout_thread__evaluate(walk->module, walk->kernel, walk->actor.thread,
                               grout_module_get_operand(walk->module, op, 0));
    const uint32_t taken = condition.value != 0 ? 0 : 1;
    if (!condition.is_known) {
        walk_branches(walk, op, op->block_count == 1, facts);
    } else if (taken < op->block_count) {
        walk_block(walk, op->first_block + taken, facts);
    }
}

static bool is_actor_here(const grout_actor_walk *walk) {
    return walk->here.thread == walk->actor.thread && walk->here.is_warp == walk->actor.is_warp;
}

/* A body that another actor than the one outside runs, or the same one as a part of its own. */
static void walk_part(grout_actor_walk *walk, grout_block_id block, grout_actor here,
                      grout_actor_facts *facts) {
    const grout_actor outside = walk->here;
    walk->here = here;
    if (is_actor_here(walk)) {
        walk->begin(walk, facts);
    }
    walk_block(walk, block, facts);
    if (is_actor_here(walk)) {
        walk->end(walk, facts);
    }
    walk->here = outside;
}

static void walk_region(grout_actor_walk *walk, const grout_op *op, grout_actor_facts *facts) {
    const uint32_t thread = walk->actor.thread;
    switch (grout_op_get_region_kind(op)) {
    case GROUT_REGION_LOOP:
        walk_loop(walk, op, facts);
        break;
    case GROUT_REGION_BRANCH:
        walk_if(walk, op, facts);
        break;
    case GROUT_REGION_SCOPE:
        walk_branches(walk, op, false, facts);
        break;
    case GROUT_REGION_WARPS:
        walk_part(walk, op->first_block, (grout_actor){walk->here.thread, true}, facts);
        break;
    case GROUT_REGION_PARTITIONS:
        if (thread < op->block_count) {
            walk_part(walk, op->first_block + thread, (grout_actor){thread, walk->here.is_warp},
                      facts);
        }
        break;
    case GROUT_REGION_NONE:
        break;
    }
}

/* Blocks nest at most GROUT_NESTING_MAX deep. */
static void walk_block(grout_actor_walk *walk, grout_block_id block, grout_actor_facts *facts) {
    grout_op_id id = grout_module_get_block(walk->module, block)->first;
    while (id != 0) {
        const grout_op *op = grout_module_get_op(walk->module, id);
        if (is_actor_here(walk)) {
            walk->visit(walk, op, facts);
        }
        walk_region(walk, op, facts);
        id = op->next;
    }
}

/* Whether a kernel has a region of this kind. */
static bool has_region(const grout_actor_walk *walk, grout_region_kind kind) {
    const grout_module *module = walk->module;
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (grout_op_get_region_kind(op) == kind && op->parent != 0 &&
            grout_module_get_block(module, op->parent)->kernel == walk->kernel) {
            return true;
        }
    }
    return false;
}

static void walk_actor(grout_actor_walk *walk, grout_actor actor, uint32_t outside) {
    grout_actor_facts facts = 0;
    walk->actor = actor;
    walk->here = (grout_actor){.thread = outside};
    walk_block(walk, grout_module_get_kernel(walk->module, walk->kernel)->body, &facts);
}

void grout_actors__walk(grout_actor_walk *walk) {
    const bool has_partitions = has_region(walk, GROUT_REGION_PARTITIONS);
    const bool has_warps = has_region(walk, GROUT_REGION_WARPS);
    const uint32_t threads = grout_kernel_get_thread_count(walk->module, walk->kernel);
    for (uint32_t k = 0; k < threads; k++) {
        const uint32_t outside = has_partitions ? 0 : k;
        walk_actor(walk, (grout_actor){.thread = k}, outside);
        if (has_warps) {
            walk_actor(walk, (grout_actor){.thread = k, .is_warp = true}, outside);
        }
    }
}
