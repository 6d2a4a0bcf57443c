/*
 * auto_fence.c - where a kernel with 'attr auto_fence = 1' has a fence that is not written. It is
 * before an operation through which the async proxy touches SMEM, if the same actor has touched
 * that SMEM through the generic proxy since its last fence and one of the two accesses is a write.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each actor (lowering/edges/actors.h) has a walk of its own over the kernel, in its program order,
 * whatever forks and joins lie between: what another one has done is not its own, even if it
 * happens before. An operation has its fence for all threads that run it.
 *
 * The walk keeps the set of SMEM objects whose generic reads and writes no fence of the actor
 * covers yet. It is by object: an access of any element counts for all of them, and an access of an
 * object counts for all objects that share its bytes. What cp.async and st.async have started is
 * written at some later time, so every wait that may be for it marks those objects as written
 * again. An operation that needs a fence on one path has it on every path.
 */
#include "actors.h"
#include "bound.h"

#include "alloc.h"
#include "invariant.h"

#include <string.h>

enum { SET_READ, SET_WRITTEN, SET_STARTED, SET_COUNT };
enum { WORD_BITS = 64 };

/* Sets of objects, one after the other, of 'words' words each. Object ids are the bits. */
typedef grout_actor_facts *object_sets;

typedef struct fence_walk {
    const grout_module *module;
    uint8_t *fences;        /* by operation: has an implied fence */
    uint32_t words;         /* of one set */
    const uint8_t *is_smem; /* by object */
    grout_diags *diags;
} fence_walk;

/* ---- one operation --------------------------------------------------------------------------- */

static void add_object(const fence_walk *walk, object_sets sets, uint32_t set, grout_object_id id) {
    GROUT_ASSERT(set < SET_COUNT && id / WORD_BITS < walk->words);
    sets[set * walk->words + id / WORD_BITS] |= (uint64_t)1 << id % WORD_BITS;
}

/* Whether a set has an object that may share bytes with this one. */
static bool has_object(const fence_walk *walk, const grout_actor_facts *sets, uint32_t set,
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

static void note_async(const fence_walk *walk, const grout_actor_facts *sets, grout_op_id id,
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

static void visit(grout_actor_walk *actors, grout_op_id id, object_sets sets) {
    const fence_walk *walk = actors->payload;
    const grout_op *op = grout_module_get_op(walk->module, id);
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

/* ---- the whole ------------------------------------------------------------------------------- */

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

/* False: no memory. */
static bool walk_kernels(fence_walk *walk) {
    const grout_module *module = walk->module;
    bool is_done = true;
    for (grout_kernel_id id = 1; is_done && id < module->kernels.count; id++) {
        if (grout_module_get_kernel(module, id)->auto_fence) {
            grout_actor_walk actors = {.module = module,
                                       .kernel = id,
                                       .words = SET_COUNT * walk->words,
                                       .visit = visit,
                                       .payload = walk,
                                       .diags = walk->diags};
            is_done = grout_actors__walk(&actors);
        }
    }
    return is_done;
}

void grout_auto_fence__module(grout_binding *binding) {
    const grout_module *module = binding->module;
    if (!has_auto_fence(module)) {
        return;
    }
    uint8_t *is_smem = grout_binding__new(binding, module->objects.count, 1);
    fence_walk walk = {.module = module,
                       .words = (module->objects.count + WORD_BITS - 1) / WORD_BITS,
                       .is_smem = is_smem,
                       .diags = binding->diags};
    walk.fences = binding->bound->auto_fences =
        grout_binding__new(binding, module->ops.count, sizeof *walk.fences);
    if (is_smem != NULL && walk.fences != NULL) {
        fill_smem(module, is_smem);
        if (!walk_kernels(&walk)) {
            binding->ok = grout_diags_add_oom(binding->diags);
        }
    }
    grout__free(is_smem);
}

bool grout_op_needs_auto_fence(const grout_module *module, grout_op_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->ops.count);
    return module->bound->auto_fences != NULL && module->bound->auto_fences[id] != 0;
}
