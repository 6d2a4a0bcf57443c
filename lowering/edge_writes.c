/*
 * edge_writes.c - what engines write in the memory of a CTA, and another CTA may look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "edge_writes.h"

#include "actors.h"
#include "array.h"
#include "edges.h"
#include "goes_on.h"

#include "grout-internal/facts.h"
#include "thread_value.h"

/* Something that an engine writes, or that somebody looks at. */
typedef struct look {
    grout_op_id op;
    grout_object_id object;
    grout_actor actor;
    uint8_t milestone;
    bool is_write, is_of_peer;
} look;

/* An actor's wait on a barrier. */
typedef struct await {
    grout_op_id op;
    grout_object_id barrier;
    grout_actor actor;
} await;

typedef struct looks {
    GROUT_ARRAY(look) all;
    GROUT_ARRAY(await) waits;
    grout_kernel_id kernel;
    bool failed; /* no memory */
} looks;

static const grout_op *get_op(const grout_module *module, const look *l) {
    return grout_module_get_op(module, l->op);
}

/* Whether the tensor core does it, in the order of its lane. */
static bool is_of_tensor_core(const look *l) {
    return l->milestone == GROUT_MILESTONE_TCGEN05;
}

static bool is_for_pair(const grout_module *module, const grout_op *op) {
    return grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXIS) != NULL;
}

/* Whether the bytes of a copy arrive at the barrier of the CTA that leads, for both. */
static bool is_led(const grout_module *module, const grout_op *op) {
    const grout_object_id barrier = grout_edges__find_barrier(module, op);
    return grout_module_find_attr(module, op, GROUT_ATTR_LEADER_TRACKED) != NULL ||
           (barrier != 0 && grout_module_get_object(module, barrier)->is_leader_tracked);
}

static void add(grout_actor_walk *walk, grout_op_id id, const grout_effect *effect) {
    looks *list = walk->payload;
    const grout_op *op = grout_module_get_op(walk->module, id);
    grout_view view;
    if (effect->operand >= op->operand_count ||
        !grout_module_get_view(
            walk->module, grout_module_get_operand(walk->module, op, effect->operand), &view) ||
        !grout_space_is_of_cta(grout_module_get_object(walk->module, view.object)->space)) {
        return;
    }
    if (!GROUT_ARRAY_RESERVE(&list->all, grout_module_get_allocator(walk->module), 1)) {
        list->failed = true;
        return;
    }
    list->all.items[list->all.count++] =
        (look){.op = id,
               .object = view.object,
               .actor = walk->actor,
               .milestone = (uint8_t)effect->milestone,
               .is_write = effect->access == GROUT_ACCESS_WRITE,
               .is_of_peer = view.cluster_index_count > 0 || is_for_pair(walk->module, op)};
}

static void add_wait(grout_actor_walk *walk, grout_op_id id) {
    looks *list = walk->payload;
    const grout_op *op = grout_module_get_op(walk->module, id);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_object_id barrier = grout_edges__find_barrier(walk->module, op);
    if (sync == NULL || barrier == 0 || (sync->covers & 1 << GROUT_MILESTONE_PHASE) == 0) {
        return;
    }
    if (!GROUT_ARRAY_RESERVE(&list->waits, grout_module_get_allocator(walk->module), 1)) {
        list->failed = true;
        return;
    }
    list->waits.items[list->waits.count++] = (await){id, barrier, walk->actor};
}

static void visit(grout_actor_walk *walk, grout_op_id id, grout_actor_facts *facts) {
    const grout_op *op = grout_module_get_op(walk->module, id);
    uint32_t count;
    const grout_effect *effects = grout_effect_row_get_effects(
        (grout_effect_row)grout_op_get_info((grout_opcode)op->opcode)->effect_row, &count);
    (void)facts;
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].space != GROUT_EFFECT_SPACE_BARRIER) {
            add(walk, id, &effects[i]);
        }
    }
    add_wait(walk, id);
}

/* ---- who hears of what ----------------------------------------------------------------------- */

/* A write by an engine, of which an edge between CTAs carries less than one within a CTA. Those of
 * cp.async and st.async are accesses of the generic proxy, which edges.c follows. */
static bool is_by_engine(const look *l) {
    const bool is_engine = l->milestone == GROUT_MILESTONE_PHASE || is_of_tensor_core(l) ||
                           l->milestone == GROUT_MILESTONE_TMEM_STORE;
    return l->is_write && grout_fact_get_travel(false, is_engine, true) == GROUT_TRAVEL_SEEN;
}

/* Whether a commit arrives at the barrier of each CTA that an operation has written in, and not at
 * that of the CTA alone that issues it. */
static bool reaches(const grout_module *module, const grout_op *commit, const look *write) {
    grout_view view;
    return !is_for_pair(module, get_op(module, write)) || is_for_pair(module, commit) ||
           grout_op_get_axes(module, commit, GROUT_ATTR_MULTICAST) != 0 ||
           (grout_module_get_view(module, grout_module_get_operand(module, commit, 0), &view) &&
            view.cluster_index_count > 0);
}

/* Whether a barrier hears of the write, by the operation or by a commit. everywhere: that of each
 * CTA where it has written. */
static bool is_heard_at(const grout_module *module, const look *write, grout_object_id barrier,
                        bool everywhere) {
    if (!is_of_tensor_core(write)) {
        return write->milestone == GROUT_MILESTONE_PHASE &&
               grout_edges__find_barrier(module, get_op(module, write)) == barrier;
    }
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const grout_op *op = grout_module_get_op(module, id);
        if (grout_op_get_info((grout_opcode)op->opcode)->effect_row ==
                GROUT_EFFECT_ROW_TCGEN05_COMMIT &&
            grout_edges__find_barrier(module, op) == barrier &&
            (!everywhere || reaches(module, op, write))) {
            return true;
        }
    }
    return false;
}

static bool is_inside(const grout_module *module, grout_op_id id, grout_block_id block) {
    for (grout_block_id at; id != 0; id = grout_module_get_block(module, at)->parent) {
        at = grout_module_get_op(module, id)->parent;
        if (at == block) {
            return true;
        }
    }
    return false;
}

/* Whether a body is of a branch that some CTAs may not take: more than constants and the thread's
 * own index decides it. */
static bool is_optional(const grout_module *module, const looks *list, grout_block_id block,
                        uint32_t thread) {
    const grout_op_id id = grout_module_get_block(module, block)->parent;
    const grout_op *op = id == 0 ? NULL : grout_module_get_op(module, id);
    return op != NULL && grout_op_get_region_kind(op) == GROUT_REGION_BRANCH &&
           !grout_thread__evaluate(module, list->kernel, thread,
                                   grout_module_get_operand(module, op, 0))
                .is_known;
}

/* Whether who looks has come by a wait, in whichever CTA. Loops are taken to run. */
static bool comes_by(const grout_module *module, const looks *list, const await *wait,
                     const look *reader) {
    for (grout_op_id id = wait->op; id != 0;) {
        const grout_block_id block = grout_module_get_op(module, id)->parent;
        if (is_optional(module, list, block, reader->actor.thread) &&
            !is_inside(module, reader->op, block)) {
            return false;
        }
        id = grout_module_get_block(module, block)->parent;
    }
    return wait->op < reader->op;
}

/* Whether who looks waits for the write himself, where his CTA's barrier hears of it. */
static bool waits_himself(const grout_module *module, const looks *list, const look *write,
                          const look *reader) {
    const bool is_there =
        is_of_tensor_core(write) || reader->is_of_peer == is_led(module, get_op(module, write));
    for (size_t i = 0; is_there && i < list->waits.count; i++) {
        const await *wait = &list->waits.items[i];
        if (wait->actor.thread == reader->actor.thread && /* a thread and its warps know the same */
            comes_by(module, list, wait, reader) &&
            is_heard_at(module, write, wait->barrier, true)) {
            return true;
        }
    }
    return false;
}

/* Whether an edge may have to carry the write to who looks. */
static bool is_carried(const grout_module *module, const looks *list, const look *write,
                       const look *reader) {
    const bool looks_at_it = !reader->is_write || is_of_tensor_core(reader);
    const bool is_shared = write->object == reader->object ||
                           grout_objects_share_bytes(module, write->object, reader->object);
    if (!looks_at_it || !is_shared || (is_of_tensor_core(write) && is_of_tensor_core(reader))) {
        return false;
    }
    return write->milestone == GROUT_MILESTONE_TMEM_STORE
               ? reader->is_of_peer
               : !waits_himself(module, list, write, reader);
}

/* The waits that let a thread know of the write. */
static void note_waits(const grout_module *module, const look *write, uint8_t *tells) {
    tells[0] |= write->milestone == GROUT_MILESTONE_TMEM_STORE ? 1 : 0;
    for (grout_object_id id = 1; id < grout_module_get_object_count(module); id++) {
        if (grout_module_get_object(module, id)->kind == GROUT_OBJECT_BARRIER &&
            is_heard_at(module, write, id, false)) {
            tells[id] = 1;
        }
    }
}

bool grout_edge_writes__find(const grout_module *module, grout_kernel_id kernel,
                             const grout_op *only, uint8_t *tells, grout_diags *diags) {
    looks list = {.kernel = kernel};
    grout_actor_walk walk = {.module = module,
                             .kernel = kernel,
                             .words = 1,
                             .visit = visit,
                             .payload = &list,
                             .diags = diags};
    list.failed |= !grout_actors__walk(&walk);
    for (size_t i = 0; !list.failed && i < list.all.count; i++) {
        const look *write = &list.all.items[i];
        bool is_needed = false;
        if (!is_by_engine(write) || (only != NULL && get_op(module, write) != only)) {
            continue;
        }
        for (size_t k = 0; !is_needed && k < list.all.count; k++) {
            is_needed = is_carried(module, &list, write, &list.all.items[k]);
        }
        list.failed |= !grout_diags__goes_on(diags, "accesses of several CTAs were compared");
        if (is_needed) {
            note_waits(module, write, tells);
        }
    }
    grout__free(list.all.items);
    grout__free(list.waits.items);
    return !list.failed;
}
