/*
 * auto_fence.c - where a kernel with 'attr auto_fence = 1' has a fence that is not written. It is
 * before an operation through which the async proxy touches SMEM, if the same actor has touched
 * that SMEM through the generic proxy since its last fence and one of the two accesses is a write.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An actor is a thread, or a warp of one in its 'warp_map's. With a 'warp_specialize' thread k runs
 * its body k, and thread 0 what stands outside; else all threads run the whole, but for branches
 * that their own index decides. Each actor has a walk of its own over the kernel, in its program
 * order, whatever forks and joins lie between: what another one has done is not its own, even if it
 * happens before. An operation has its fence for all threads that run it.
 *
 * A forward walk over the structured code keeps the set of SMEM objects whose generic reads and
 * writes no fence of the actor covers yet. It is by object: an access of any element counts for all
 * of them, and an access of an object counts for all objects that share its bytes. Branches are
 * joined. A loop's body is walked until the set at its head no longer changes; that set only grows,
 * so the walk ends. What cp.async and st.async have started is written at some later time, so every
 * wait that may be for it marks those objects as written again. An operation that needs a fence on
 * one path has it on every path.
 */
#include "bound.h"
#include "thread_value.h"

#include "alloc.h"
#include "invariant.h"
#include <string.h>

enum { SET_READ, SET_WRITTEN, SET_STARTED, SET_COUNT };
enum { WORD_BITS = 64 };

/* Sets of objects, one after the other, of 'words' words each. Object ids are the bits. */
typedef uint64_t *object_sets;

/* Whose program order it is. */
typedef struct fence_actor {
    uint32_t thread;
    bool is_warp; /* in the bodies of 'warp_map', all warps alike; else outside of them */
} fence_actor;

typedef struct fence_walk {
    const grout_module *module;
    grout_kernel_id kernel;
    fence_actor actor;  /* of which the sets tell */
    fence_actor here;   /* which runs the block that is walked */
    uint8_t *fences;    /* by operation: has an implied fence */
    uint32_t words;     /* of one set */
    object_sets *heads; /* by block: what is known at the head of a loop's body; NULL: no loop */
    const uint8_t *is_smem; /* by object */
    bool failed;            /* no memory */
} fence_walk;

static size_t get_sets_size(const fence_walk *walk) {
    return (size_t)SET_COUNT * walk->words * sizeof(uint64_t);
}

/* Empty sets, or a copy; NULL without memory. */
static object_sets make_sets(fence_walk *walk, const uint64_t *from) {
    object_sets sets = grout__new(walk->module->allocator, 1, get_sets_size(walk));
    walk->failed |= sets == NULL;
    if (sets != NULL && from != NULL) {
        memcpy(sets, from, get_sets_size(walk));
    }
    return sets;
}

/* Adds sets to others; whether they grew. */
static bool join_sets(const fence_walk *walk, object_sets into, const uint64_t *from) {
    bool has_grown = false;
    for (uint32_t i = 0; i < SET_COUNT * walk->words; i++) {
        has_grown |= (from[i] & ~into[i]) != 0;
        into[i] |= from[i];
    }
    return has_grown;
}

/* ---- one operation --------------------------------------------------------------------------- */

static void add_object(const fence_walk *walk, object_sets sets, uint32_t set, grout_object_id id) {
    GROUT_ASSERT(set < SET_COUNT && id / WORD_BITS < walk->words);
    sets[set * walk->words + id / WORD_BITS] |= (uint64_t)1 << id % WORD_BITS;
}

/* Whether a set has an object that may share bytes with this one. */
static bool has_object(const fence_walk *walk, const uint64_t *sets, uint32_t set,
                       grout_object_id id) {
    for (uint32_t word = 0; word < walk->words; word++) {
        uint64_t bits = sets[set * walk->words + word];
        for (; bits != 0; bits &= bits - 1) {
            grout_object_id other = word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            if (grout_objects_share_bytes(walk->module, other, id)) {
                return true;
            }
        }
    }
    return false;
}

/* The SMEM array of the own CTA that an effect of an operation touches, or 0. What lies in another
 * CTA of the cluster are other bytes, and would need a fence of the cluster. */
static grout_object_id find_array(const fence_walk *walk, const grout_op *op,
                                  const grout_effect *effect) {
    grout_view view;
    bool is_memory =
        effect->space == GROUT_EFFECT_SPACE_ANY || grout_space_needs_commit_smem(effect->space);
    if (!is_memory || effect->operand >= op->operand_count ||
        !grout_module_get_view(
            walk->module, grout_module_get_operand(walk->module, op, effect->operand), &view)) {
        return 0;
    }
    bool is_own = walk->is_smem[view.object] != 0 && view.cluster_index_count == 0;
    return is_own ? view.object : 0;
}

static void note_async(fence_walk *walk, const uint64_t *sets, grout_op_id id,
                       const grout_effect *effect, grout_object_id object) {
    bool is_write = effect->access != GROUT_ACCESS_READ;
    if (has_object(walk, sets, SET_WRITTEN, object) ||
        (is_write && has_object(walk, sets, SET_READ, object))) {
        walk->fences[id] = 1;
    }
}

static void note_generic(const fence_walk *walk, object_sets sets, const grout_effect *effect,
                         grout_object_id object) {
    add_object(walk, sets, effect->access == GROUT_ACCESS_READ ? SET_READ : SET_WRITTEN, object);
    if (effect->milestone != GROUT_MILESTONE_ISSUE) {
        add_object(walk, sets, SET_STARTED, object);
    }
}

/* A fence publishes all that has been done; what has only been started comes after it. */
static void publish(const fence_walk *walk, object_sets sets) {
    memset(sets, 0, (size_t)SET_STARTED * walk->words * sizeof *sets);
}

/* Whether what cp.async or st.async have started can be known to be written after it. */
static bool may_complete(const grout_op *op) {
    const uint8_t milestones = 1 << GROUT_MILESTONE_ASYNC_COPY | 1 << GROUT_MILESTONE_PHASE;
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && (sync->covers & milestones) != 0 &&
           (sync->mode == GROUT_SYNC_MODE_WAITS || sync->mode == GROUT_SYNC_MODE_TESTS);
}

static void walk_op(fence_walk *walk, grout_op_id id, const grout_op *op, object_sets sets) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    grout_effect_row row = (grout_effect_row)info->effect_row;
    uint32_t count = 0;
    const grout_effect *effects = grout_effect_row_get_effects(row, &count);
    for (uint32_t i = 0; i < count; i++) {
        grout_object_id object = find_array(walk, op, &effects[i]);
        if (object != 0 && effects[i].proxy == GROUT_PROXY_ASYNC) {
            note_async(walk, sets, id, &effects[i], object);
        }
    }
    if (walk->fences[id] != 0 || row == GROUT_EFFECT_ROW_COMMIT_SMEM) {
        publish(walk, sets);
    }
    for (uint32_t i = 0; i < count; i++) {
        grout_object_id object = find_array(walk, op, &effects[i]);
        if (object != 0 && effects[i].proxy == GROUT_PROXY_GENERIC) {
            note_generic(walk, sets, &effects[i], object);
        }
    }
    for (uint32_t word = 0; may_complete(op) && word < walk->words; word++) {
        sets[SET_WRITTEN * walk->words + word] |= sets[SET_STARTED * walk->words + word];
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void walk_block(fence_walk *walk, grout_block_id block, object_sets sets);

/* Walks the body of a 'for', or both bodies of a 'while', until what is known at its head no longer
 * changes. sets are then those after the loop. */
static void walk_loop(fence_walk *walk, const grout_op *op, object_sets sets) {
    object_sets *head = &walk->heads[op->first_block];
    bool is_while = grout_op_get_region((grout_opcode)op->opcode)->blocks == 2;
    if (*head == NULL) {
        *head = make_sets(walk, NULL);
    }
    object_sets inner = make_sets(walk, NULL);
    if (!walk->failed) {
        join_sets(walk, *head, sets);
    }
    bool goes_on = !walk->failed;
    while (goes_on) {
        memcpy(inner, *head, get_sets_size(walk));
        walk_block(walk, op->first_block, inner);
        memcpy(sets, is_while ? inner : *head, get_sets_size(walk));
        if (is_while) {
            walk_block(walk, op->first_block + 1, inner);
        }
        goes_on = join_sets(walk, *head, inner) && !walk->failed;
    }
    grout__free(inner);
}

/* Bodies of which one runs: what any of them leaves. may_skip: none may run. */
static void walk_branches(fence_walk *walk, const grout_op *op, bool may_skip, object_sets sets) {
    object_sets before = make_sets(walk, sets);
    object_sets inner = make_sets(walk, NULL);
    for (uint32_t k = 0; !walk->failed && k < op->block_count; k++) {
        memcpy(inner, before, get_sets_size(walk));
        walk_block(walk, op->first_block + k, inner);
        if (k == 0 && !may_skip) {
            memcpy(sets, inner, get_sets_size(walk));
        } else {
            join_sets(walk, sets, inner);
        }
    }
    grout__free(before);
    grout__free(inner);
}

/* The body that the thread's index chooses, or both. */
static void walk_if(fence_walk *walk, const grout_op *op, object_sets sets) {
    grout_known_value condition =
        grout_thread__evaluate(walk->module, walk->kernel, walk->actor.thread,
                               grout_module_get_operand(walk->module, op, 0));
    uint32_t taken = condition.value != 0 ? 0 : 1;
    if (!condition.is_known) {
        walk_branches(walk, op, op->block_count == 1, sets);
    } else if (taken < op->block_count) {
        walk_block(walk, op->first_block + taken, sets);
    }
}

/* The body of the actor's thread, if it has one here. */
static void walk_partitions(fence_walk *walk, const grout_op *op, object_sets sets) {
    fence_actor outside = walk->here;
    walk->here.thread = walk->actor.thread;
    if (walk->actor.thread < op->block_count) {
        walk_block(walk, op->first_block + walk->actor.thread, sets);
    }
    walk->here = outside;
}

static void walk_warps(fence_walk *walk, const grout_op *op, object_sets sets) {
    fence_actor outside = walk->here;
    walk->here.is_warp = true;
    walk_block(walk, op->first_block, sets);
    walk->here = outside;
}

static void walk_region(fence_walk *walk, const grout_op *op, object_sets sets) {
    switch (grout_op_get_region_kind(op)) {
    case GROUT_REGION_LOOP:
        walk_loop(walk, op, sets);
        break;
    case GROUT_REGION_BRANCH:
        walk_if(walk, op, sets);
        break;
    case GROUT_REGION_SCOPE:
        walk_branches(walk, op, false, sets);
        break;
    case GROUT_REGION_WARPS:
        walk_warps(walk, op, sets);
        break;
    case GROUT_REGION_PARTITIONS:
        walk_partitions(walk, op, sets);
        break;
    case GROUT_REGION_NONE:
        break;
    }
}

static bool is_actor_here(const fence_walk *walk) {
    return walk->here.thread == walk->actor.thread && walk->here.is_warp == walk->actor.is_warp;
}

/* Blocks nest at most GROUT_NESTING_MAX deep. */
static void walk_block(fence_walk *walk, grout_block_id block, object_sets sets) {
    grout_op_id id = grout_module_get_block(walk->module, block)->first;
    while (id != 0 && !walk->failed) {
        const grout_op *op = grout_module_get_op(walk->module, id);
        if (is_actor_here(walk)) {
            walk_op(walk, id, op, sets);
        }
        walk_region(walk, op, sets);
        id = op->next;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void forget_heads(fence_walk *walk) {
    for (grout_block_id id = 1; id < walk->module->blocks.count; id++) {
        grout__free(walk->heads[id]);
        walk->heads[id] = NULL;
    }
}

/* outside: the thread that runs what stands outside of the bodies of a 'warp_specialize'. */
static void walk_actor(fence_walk *walk, fence_actor actor, uint32_t outside) {
    object_sets sets = make_sets(walk, NULL);
    walk->actor = actor;
    walk->here = (fence_actor){.thread = outside};
    if (sets != NULL) {
        walk_block(walk, grout_module_get_kernel(walk->module, walk->kernel)->body, sets);
    }
    forget_heads(walk);
    grout__free(sets);
}

/* Whether a kernel has a region of this kind. */
static bool has_region(const fence_walk *walk, grout_region_kind kind) {
    const grout_module *module = walk->module;
    for (grout_op_id id = 1; id < module->ops.count; id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (grout_op_get_region_kind(op) == kind && op->parent != 0 &&
            grout_module_get_block(module, op->parent)->kernel == walk->kernel) {
            return true;
        }
    }
    return false;
}

static void walk_kernel(fence_walk *walk, grout_kernel_id id) {
    walk->kernel = id;
    bool has_partitions = has_region(walk, GROUT_REGION_PARTITIONS);
    bool has_warps = has_region(walk, GROUT_REGION_WARPS);
    uint32_t threads = grout_kernel_get_thread_count(walk->module, id);
    for (uint32_t k = 0; k < threads && k < GROUT_THREADS_MAX && !walk->failed; k++) {
        uint32_t outside = has_partitions ? 0 : k;
        walk_actor(walk, (fence_actor){.thread = k}, outside);
        if (has_warps) {
            walk_actor(walk, (fence_actor){.thread = k, .is_warp = true}, outside);
        }
    }
}

static void fill_smem(const grout_module *module, uint8_t *is_smem) {
    for (grout_object_id id = 1; id < module->objects.count; id++) {
        const grout_object *object = grout_module_get_object(module, id);
        is_smem[id] =
            object->kind == GROUT_OBJECT_ARRAY && grout_space_needs_commit_smem(object->space);
    }
}

static bool has_auto_fence(const grout_module *module) {
    bool has_any = false;
    for (grout_kernel_id id = 1; id < module->kernels.count; id++) {
        has_any |= grout_module_get_kernel(module, id)->auto_fence;
    }
    return has_any;
}

static void walk_kernels(fence_walk *walk) {
    const grout_module *module = walk->module;
    for (grout_kernel_id id = 1; id < module->kernels.count; id++) {
        if (grout_module_get_kernel(module, id)->auto_fence) {
            walk_kernel(walk, id);
        }
    }
}

void grout_auto_fence__module(grout_binding *binding) {
    const grout_module *module = binding->module;
    if (!has_auto_fence(module)) {
        return;
    }
    uint8_t *is_smem = grout_binding__new(binding, module->objects.count, 1);
    fence_walk walk = {.module = module,
                       .words = (module->objects.count + WORD_BITS - 1) / WORD_BITS,
                       .is_smem = is_smem};
    walk.heads = grout_binding__new(binding, module->blocks.count, sizeof *walk.heads);
    walk.fences = binding->bound->auto_fences =
        grout_binding__new(binding, module->ops.count, sizeof *walk.fences);
    if (is_smem != NULL && walk.heads != NULL && walk.fences != NULL) {
        fill_smem(module, is_smem);
        walk_kernels(&walk);
    }
    if (walk.failed) {
        binding->ok = grout_diags_add_oom(binding->diags);
    }
    grout__free(walk.heads);
    grout__free(is_smem);
}

bool grout_op_needs_auto_fence(const grout_module *module, grout_op_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->ops.count);
    return module->bound->auto_fences != NULL && module->bound->auto_fences[id] != 0;
}
