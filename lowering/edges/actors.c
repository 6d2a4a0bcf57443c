/*
 * actors.c - the program order of each thread of a CTA, and of the warps of a warp_map.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With a 'warp_specialize' thread k runs its body k, and thread 0 what stands outside; else all
 * threads run the whole, but for branches that their own index decides. Each actor has a walk of
 * its own, in its program order, whatever forks and joins lie between. A loop's body is walked
 * until the set at its head no longer changes; that set only grows, so the walk ends.
 */
#include "actors.h"

#include "alloc.h"
#include "goes_on.h"
#include "thread_value.h"

#include <string.h>

/* Small sets lie on the stack. */
enum { OWN_WORDS = 8 };
typedef struct facts_set {
    grout_actor_facts own[OWN_WORDS];
    grout_actor_facts *words; /* own, or allocated; NULL: no memory */
} facts_set;

static void walk_block(grout_actor_walk *walk, grout_block_id block, grout_actor_facts *facts);

/* ---- sets of facts --------------------------------------------------------------------------- */

static size_t get_size(const grout_actor_walk *walk) {
    return walk->words * sizeof(grout_actor_facts);
}

static void copy(const grout_actor_walk *walk, grout_actor_facts *into,
                 const grout_actor_facts *from) {
    memcpy(into, from, get_size(walk));
}

/* An empty set, or a copy; NULL without memory. */
static grout_actor_facts *make(grout_actor_walk *walk, const grout_actor_facts *from) {
    grout_actor_facts *facts =
        grout__new(grout_module_get_allocator(walk->module), walk->words, sizeof *facts);
    walk->has_failed |= facts == NULL;
    if (facts != NULL && from != NULL) {
        copy(walk, facts, from);
    }
    return facts;
}

/* The same, in 'set', which has to be freed by free_set. */
static grout_actor_facts *make_set(grout_actor_walk *walk, facts_set *set,
                                   const grout_actor_facts *from) {
    if (walk->words > OWN_WORDS) {
        return set->words = make(walk, from);
    }
    memset(set->own, 0, sizeof set->own);
    if (from != NULL) {
        copy(walk, set->own, from);
    }
    return set->words = set->own;
}

static void free_set(const facts_set *set) {
    if (set->words != set->own) {
        grout__free(set->words);
    }
}

/* Adds facts to others; whether they grew. */
static bool join(const grout_actor_walk *walk, grout_actor_facts *into,
                 const grout_actor_facts *from) {
    bool has_grown = false;
    for (uint32_t i = 0; i < walk->words; i++) {
        has_grown |= (from[i] & ~into[i]) != 0;
        into[i] |= from[i];
    }
    return has_grown;
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Walks the body of a 'for', or both bodies of a 'while', until what is known at its head no longer
 * changes. facts are then those after the loop. */
static void walk_loop(grout_actor_walk *walk, const grout_op *op, grout_actor_facts *facts) {
    const bool is_while = grout_op_get_region((grout_opcode)op->opcode)->blocks == 2;
    grout_actor_facts **head = &walk->heads[op->first_block];
    facts_set inner_set;
    grout_actor_facts *inner = make_set(walk, &inner_set, NULL);
    if (*head == NULL) {
        *head = make(walk, NULL);
    }
    bool goes_on = !walk->has_failed;
    if (goes_on) {
        (void)join(walk, *head, facts);
    }
    while (goes_on) {
        copy(walk, inner, *head);
        walk_block(walk, op->first_block, inner);
        copy(walk, facts, is_while ? inner : *head);
        if (is_while) {
            walk_block(walk, op->first_block + 1, inner);
        }
        goes_on = join(walk, *head, inner) && !walk->has_failed;
    }
    free_set(&inner_set);
}

/* Bodies of which one runs: what any of them leaves. may_skip: none may run. */
static void walk_branches(grout_actor_walk *walk, const grout_op *op, bool may_skip,
                          grout_actor_facts *facts) {
    facts_set before_set, inner_set;
    const grout_actor_facts *before = make_set(walk, &before_set, facts);
    grout_actor_facts *inner = make_set(walk, &inner_set, NULL);
    for (uint32_t k = 0; !walk->has_failed && k < op->block_count; k++) {
        copy(walk, inner, before);
        walk_block(walk, op->first_block + k, inner);
        if (k == 0 && !may_skip) {
            copy(walk, facts, inner);
        } else {
            (void)join(walk, facts, inner);
        }
    }
    free_set(&before_set);
    free_set(&inner_set);
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
    if (is_actor_here(walk) && walk->begin != NULL) {
        walk->begin(walk, facts);
    }
    walk_block(walk, block, facts);
    if (is_actor_here(walk) && walk->end != NULL) {
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
    while (id != 0 && !walk->has_failed) {
        walk->has_failed =
            !grout_diags__goes_on(walk->diags, "the order of the operations was followed");
        const grout_op *op = grout_module_get_op(walk->module, id);
        if (is_actor_here(walk)) {
            walk->visit(walk, id, facts);
        }
        walk_region(walk, op, facts);
        id = op->next;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

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

static void forget_heads(const grout_actor_walk *walk) {
    for (grout_block_id id = 1; id < grout_module_get_block_count(walk->module); id++) {
        grout__free(walk->heads[id]);
        walk->heads[id] = NULL;
    }
}

/* outside: the thread that runs what stands outside of the bodies of a 'warp_specialize'. */
static void walk_actor(grout_actor_walk *walk, grout_actor actor, uint32_t outside) {
    facts_set set;
    grout_actor_facts *facts = make_set(walk, &set, NULL);
    walk->actor = actor;
    walk->here = (grout_actor){.thread = outside};
    if (facts != NULL) {
        walk_block(walk, grout_module_get_kernel(walk->module, walk->kernel)->body, facts);
    }
    forget_heads(walk);
    free_set(&set);
}

bool grout_actors__walk(grout_actor_walk *walk) {
    const bool has_partitions = has_region(walk, GROUT_REGION_PARTITIONS);
    const bool has_warps = has_region(walk, GROUT_REGION_WARPS);
    const uint32_t threads = grout_kernel_get_thread_count(walk->module, walk->kernel);
    walk->heads = grout__new(grout_module_get_allocator(walk->module),
                             grout_module_get_block_count(walk->module), sizeof *walk->heads);
    walk->has_failed = walk->heads == NULL;
    for (uint32_t k = 0; k < threads && k < GROUT_THREADS_MAX && !walk->has_failed; k++) {
        const uint32_t outside = has_partitions ? 0 : k;
        walk_actor(walk, (grout_actor){.thread = k}, outside);
        if (has_warps && !walk->has_failed) {
            walk_actor(walk, (grout_actor){.thread = k, .is_warp = true}, outside);
        }
    }
    grout__free(walk->heads);
    walk->heads = NULL;
    return !walk->has_failed;
}
