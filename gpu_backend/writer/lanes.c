/* lanes.c - the barriers that make 128 lanes act as one, written where they are needed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include "invariant.h"
#include "values.h"

void grout_emit__settle(grout_emitter *e) {
    e->pending = (grout_emit_pending){0};
}

static bool has_tensor_access(const grout_emitter *e) {
    bool has = e->pending.has_overflow || e->pending.has_left_tensor;
    for (uint32_t k = 0; k < e->pending.count && !has; k++) {
        const grout_object_id object = e->pending.accesses[k].object;
        has = object != 0 && grout_module_get_object(e->module, object)->space == GROUT_SPACE_TMEM;
    }
    return has;
}

bool grout_emit__begin_meeting(grout_emitter *e, bool is_always) {
    const bool is_fenced =
        e->plan->tensor_columns > 0 && (is_always || has_tensor_access(e)) && !e->is_alone;
    if (is_fenced) {
        grout_emit__line(e, "grout_tensor_fence_before();");
    }
    return is_fenced;
}

void grout_emit__end_meeting(grout_emitter *e, bool is_fenced) {
    if (is_fenced) {
        grout_emit__line(e, "grout_tensor_fence_after();");
    }
    grout_emit__settle(e);
}

void grout_emit__thread_barrier(grout_emitter *e, const char *reason) {
    const bool is_fenced = grout_emit__begin_meeting(e, false);
    if (!e->is_alone) {
        grout_emit__line(e, "%s%s%s",
                         e->is_warp      ? "__syncwarp();"
                         : e->warps == 2 ? "grout_thread_barrier<64>(thread);"
                                         : "grout_thread_barrier(thread);",
                         reason[0] == '\0' ? "" : " // ", reason);
    }
    grout_emit__end_meeting(e, is_fenced);
}

/* Whether two objects may have bytes in common. Parameters never alias. */
static bool may_overlap(const grout_emitter *e, grout_object_id a, grout_object_id b) {
    if (a == b || a == 0 || b == 0) {
        return a == b;
    }
    return grout_objects_share_bytes(e->module, a, b);
}

void grout_emit__before_access(grout_emitter *e, grout_object_id object, bool is_write) {
    GROUT_ASSERT(object < grout_module_get_object_count(e->module));
    bool is_needed = e->pending.has_overflow;
    if (e->is_alone) {
        return;
    }
    for (uint32_t k = 0; k < e->pending.count && !is_needed; k++) {
        is_needed = (is_write || e->pending.accesses[k].is_write) &&
                    may_overlap(e, object, e->pending.accesses[k].object);
    }
    if (is_needed) {
        grout_emit__thread_barrier(e, is_write ? "all lanes are done with the bytes"
                                               : "all lanes have written");
    }
}

static void add_pending(grout_emit_pending *pending, grout_object_id object, bool is_write) {
    GROUT_ASSERT(pending->count <= GROUT_EMIT_ACCESSES_MAX);
    for (uint32_t k = 0; k < pending->count; k++) {
        if (pending->accesses[k].object == object) {
            pending->accesses[k].is_write = pending->accesses[k].is_write || is_write;
            return;
        }
    }
    if (pending->count == GROUT_EMIT_ACCESSES_MAX) {
        pending->has_overflow = true;
        return;
    }
    pending->accesses[pending->count].object = object;
    pending->accesses[pending->count].is_write = is_write;
    pending->count++;
}

void grout_emit__after_access(grout_emitter *e, grout_object_id object, bool is_write) {
    add_pending(&e->pending, object, is_write);
}

static bool has_pending(const grout_emitter *e) {
    return e->pending.count > 0 || e->pending.has_waited || e->pending.has_left_tensor ||
           e->pending.has_overflow;
}

void grout_emit__before_issue(grout_emitter *e, const char *reason) {
    if (e->is_alone) {
        return;
    }
    if (has_pending(e)) {
        grout_emit__thread_barrier(e, reason);
    }
}

void grout_emit__before_look(grout_emitter *e) {
    if (!e->is_alone && (has_pending(e) || e->pending.has_arrived)) {
        grout_emit__thread_barrier(e, "what all lanes did before is done");
    }
}

void grout_emit__after_tensor_wait(grout_emitter *e) {
    e->pending.has_left_tensor = !e->is_alone;
}

static void add_mma_operands(const grout_emitter *e, grout_emit_pending *into) {
    for (uint32_t k = 0; k < e->plan->mma_object_count; k++) {
        add_pending(into, e->plan->mma_objects[k], false);
    }
}

void grout_emit__after_wgmma_wait(grout_emitter *e) {
    add_mma_operands(e, &e->pending);
}

void grout_emit__join_pending(grout_emit_pending *into, const grout_emit_pending *other) {
    GROUT_ASSERT(into != other && other->count <= GROUT_EMIT_ACCESSES_MAX);
    into->has_waited = into->has_waited || other->has_waited;
    into->has_arrived = into->has_arrived || other->has_arrived;
    into->has_left_tensor = into->has_left_tensor || other->has_left_tensor;
    into->has_overflow = into->has_overflow || other->has_overflow;
    for (uint32_t k = 0; k < other->count; k++) {
        add_pending(into, other->accesses[k].object, other->accesses[k].is_write);
    }
}

/* Whether all lanes meet at an op, whatever came before. An op that can be collective meets only if
 * it is. */
static bool is_settling(const grout_emitter *e, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    if (sync == NULL ||
        (sync->lanes != GROUT_SYNC_LANES_MEET && sync->lanes != GROUT_SYNC_LANES_VOTE)) {
        return false;
    }
    return (grout_op_get_info(opcode)->attrs & GROUT_ATTR_BIT(COLLECTIVE)) == 0 ||
           grout_module_find_attr(e->module, op, GROUT_ATTR_COLLECTIVE) != NULL;
}

/* Some lanes may be at the op still when others have left it, and must have left it too before one
 * lane acts for all. An arrive that one lane can do for all is left to its function. The cluster's
 * hardware barrier counts every lane again before it goes on. */
static bool is_left_by_each(const grout_sync_info *sync) {
    return (sync->lanes == GROUT_SYNC_LANES_EACH && sync->object != GROUT_SYNC_OBJECT_CLUSTER) ||
           (sync->lanes == GROUT_SYNC_LANES_ANY && sync->mode == GROUT_SYNC_MODE_WAITS);
}

/* An arrival that one lane may make for all. */
static bool is_arrival(const grout_sync_info *sync) {
    return sync->mode == GROUT_SYNC_MODE_POSTS && (sync->object == GROUT_SYNC_OBJECT_BARRIER ||
                                                   sync->object == GROUT_SYNC_OBJECT_MBARRIER ||
                                                   sync->object == GROUT_SYNC_OBJECT_ANY_BARRIER);
}

void grout_emit__note_lanes(grout_emitter *e, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    if (sync == NULL || e->failed || grout_op_get_info(opcode)->shape != GROUT_SHAPE_PLAIN) {
        return;
    }
    e->pending.has_arrived = e->pending.has_arrived || (is_arrival(sync) && !e->is_alone);
    if (is_left_by_each(sync)) {
        e->pending.has_waited = !e->is_alone;
    } else if (is_settling(e, op) && !e->is_alone && has_pending(e)) {
        grout_emit__unsupported(e, op,
                                "its line in sync.def says that all lanes meet in it, and "
                                "its CUDA does not make them");
    }
}

static void collect_access(const grout_emitter *e, const grout_op *op, uint32_t operand,
                           bool is_write, grout_emit_pending *into) {
    grout_view view;
    if (!grout_module_get_view(e->module, grout_module_get_operand(e->module, op, operand),
                               &view)) {
        return;
    }
    if (!grout_emit__is_accumulator(e, &view)) {
        add_pending(into, view.object, is_write);
    } else if (!is_write) {
        add_mma_operands(e, into);
    }
}

/*
 * Whether a lane's access stays pending: other lanes could touch the same bytes before they have
 * met this lane. Loads and stores stay pending, and stores that a barrier's phase completes
 * (st.async), because each lane waits for a phase by itself. What an engine does for the thread is
 * no lane's access. Copies that the lane's own group completes (cp.async) leave nothing: nobody may
 * touch the bytes before the wait for the group, and all lanes meet in that wait. Loads and stores
 * of tensor memory stay pending beyond the lane's wait for them: the tensor core acts for one lane.
 */
static bool is_left_pending(const grout_effect *effect) {
    const bool is_of_memory = effect->space != GROUT_EFFECT_SPACE_BARRIER &&
                              effect->space != GROUT_EFFECT_SPACE_SEMAPHORE;
    const bool is_access = effect->access == GROUT_ACCESS_READ ||
                           effect->access == GROUT_ACCESS_WRITE ||
                           effect->access == GROUT_ACCESS_ATOMIC;
    if (effect->milestone == GROUT_MILESTONE_TMEM_LOAD ||
        effect->milestone == GROUT_MILESTONE_TMEM_STORE) {
        return is_of_memory && is_access;
    }
    return is_of_memory && is_access && effect->proxy == GROUT_PROXY_GENERIC &&
           (effect->milestone == GROUT_MILESTONE_ISSUE ||
            effect->milestone == GROUT_MILESTONE_PHASE);
}

static void collect_accesses(const grout_emitter *e, const grout_op *op, grout_emit_pending *into) {
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    if (grout_op_returns_old_value((grout_opcode)op->opcode)) {
        add_pending(into, 0, true); /* one lane did it; the result went through the exchange area */
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (is_left_pending(&effects[k])) {
            collect_access(e, op, effects[k].operand, effects[k].access != GROUT_ACCESS_READ, into);
        }
    }
}

static void collect_op(const grout_emitter *e, grout_op_id id, const grout_op *op,
                       grout_emit_pending *into) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (grout_register_layouts_get_exchange_bytes(e->plan->layouts, id) > 0) {
        add_pending(into, 0, true);
    }
    collect_accesses(e, op, into);
    if (sync != NULL && (sync->covers & 1u << GROUT_MILESTONE_WGMMA) != 0) {
        add_mma_operands(e, into);
    }
    if (sync != NULL && (sync->covers & (1u << GROUT_MILESTONE_TMEM_LOAD |
                                         1u << GROUT_MILESTONE_TMEM_STORE)) != 0) {
        into->has_left_tensor = true;
    }
    if (sync != NULL &&
        (sync->lanes == GROUT_SYNC_LANES_ANY || sync->lanes == GROUT_SYNC_LANES_EACH)) {
        into->has_waited = true;
    }
    into->has_arrived = into->has_arrived || (sync != NULL && is_arrival(sync));
    for (uint32_t k = 0; k < op->block_count; k++) {
        grout_emit__collect_pending(e, op->first_block + k, into);
    }
}

void grout_emit__collect_pending(const grout_emitter *e, grout_block_id id,
                                 grout_emit_pending *into) {
    grout_op_id first = grout_module_get_block(e->module, id)->first;
    for (grout_op_id at = first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (is_settling(e, op)) { /* in a scope, the lanes meet before its block */
            const bool is_scope =
                grout_op_get_region((grout_opcode)op->opcode)->kind == GROUT_REGION_SCOPE;
            first = is_scope ? at : op->next;
        }
        at = op->next;
    }
    for (grout_op_id at = first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        collect_op(e, at, op, into);
        at = op->next;
    }
}

void grout_emit__publish_smem(grout_emitter *e) {
    if (e->is_warp) {
        grout_emit__line(e, "grout_fence_async_smem();");
        grout_emit__thread_barrier(e, "all lanes of the warp have");
        return;
    }
    const bool is_fenced = grout_emit__begin_meeting(e, false);
    grout_emit__line(e, "grout_commit_smem%s(thread);", e->warps == 2 ? "<64>" : "");
    grout_emit__end_meeting(e, is_fenced);
}
