/* emit_sync.c - barriers, fences and waits, and the barriers that make 128 lanes act as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

/* ---- automatic barriers ---- */

/* What each lane did since the last barrier is settled: all lanes have done it. */
static void settle(grout_emitter *e) {
    e->pending = (grout_emit_pending){0};
}

void grout_emit__thread_barrier(grout_emitter *e, const char *reason) {
    grout_emit__line(e, "grout_thread_barrier(thread);%s%s", reason[0] == '\0' ? "" : " // ",
                     reason);
    settle(e);
}

/* Whether two objects may have bytes in common. Parameters never alias. */
static bool may_overlap(const grout_emitter *e, grout_object_id a, grout_object_id b) {
    if (a == b || a == 0 || b == 0) {
        return a == b;
    }
    if (grout_module_get_object(e->module, a)->space != GROUT_SPACE_SMEM ||
        grout_module_get_object(e->module, b)->space != GROUT_SPACE_SMEM) {
        return false;
    }
    const int64_t start_a = grout_object_get_smem_offset(e->module, a);
    const int64_t start_b = grout_object_get_smem_offset(e->module, b);
    return start_a < start_b + grout_object_get_layout(e->module, b)->bytes &&
           start_b < start_a + grout_object_get_layout(e->module, a)->bytes;
}

void grout_emit__before_access(grout_emitter *e, grout_object_id object, bool is_write) {
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

void grout_emit__before_issue(grout_emitter *e, const char *reason) {
    if (e->is_alone) {
        return;
    }
    if (e->pending.count > 0 || e->pending.has_waited || e->pending.has_overflow) {
        grout_emit__thread_barrier(e, reason);
    }
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
    into->has_waited = into->has_waited || other->has_waited;
    into->has_overflow = into->has_overflow || other->has_overflow;
    for (uint32_t k = 0; k < other->count; k++) {
        add_pending(into, other->accesses[k].object, other->accesses[k].is_write);
    }
}

/* The ops that hold a barrier of all lanes whatever came before. */
static bool is_settling(const grout_emitter *e, const grout_op *op) {
    return op->opcode == GROUT_OP_COMMIT_SMEM || op->opcode == GROUT_OP_WAIT_SMEM_TO_GMEM ||
           (op->opcode == GROUT_OP_SCOPED &&
            grout_module_find_attr(e->module, op, GROUT_ATTR_COLLECTIVE) != NULL);
}

static void collect_access(const grout_emitter *e, const grout_op *op, bool is_write,
                           grout_emit_pending *into) {
    grout_view view;
    if (!grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &view)) {
        return;
    }
    if (!grout_emit__is_accumulator(e, &view)) {
        add_pending(into, view.object, is_write);
    } else if (!is_write) {
        add_mma_operands(e, into);
    }
}

static void collect_op(const grout_emitter *e, grout_op_id id, const grout_op *op,
                       grout_emit_pending *into) {
    if (grout_register_layouts_get_exchange_bytes(e->plan->layouts, id) > 0) {
        add_pending(into, 0, true);
    }
    switch (op->opcode) {
    case GROUT_OP_LOAD:
    case GROUT_OP_ACC_LOAD:
        collect_access(e, op, false, into);
        return;
    case GROUT_OP_STORE:
        collect_access(e, op, true, into);
        return;
    case GROUT_OP_WGMMA:
    case GROUT_OP_WGMMA_WAIT:
        add_mma_operands(e, into);
        return;
    case GROUT_OP_BARRIER_WAIT:
    case GROUT_OP_BARRIER_ARRIVE:
        into->has_waited = true;
        return;
    default:
        for (uint32_t k = 0; k < op->block_count; k++) {
            grout_emit__collect_pending(e, op->first_block + k, into);
        }
        return;
    }
}

void grout_emit__collect_pending(const grout_emitter *e, grout_block_id id,
                                 grout_emit_pending *into) {
    grout_op_id first = grout_module_get_block(e->module, id)->first;
    for (grout_op_id at = first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (is_settling(e, op)) {
            first = op->opcode == GROUT_OP_SCOPED ? at : op->next;
        }
        at = op->next;
    }
    for (grout_op_id at = first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        collect_op(e, at, op, into);
        at = op->next;
    }
}

/* ---- mbarriers ---- */

/* The one index of a barrier reference: constant, or terms. */
static void add_slot(grout_emitter *e, const grout_view *barrier) {
    if (barrier->rank == 0) {
        grout_emit__add(e, "0");
    } else {
        grout_emit__start(e, barrier, 0);
    }
}

static bool has_constant_slot(const grout_view *barrier, int64_t *slot_out) {
    *slot_out = barrier->rank == 0 ? 0 : barrier->start_const[0];
    return barrier->rank == 0 || barrier->start_term_count[0] == 0;
}

void grout_emit__barrier_address(grout_emitter *e, const grout_view *barrier) {
    int64_t slot;
    grout_emit__add(e, "%s", grout_emit__name(e, barrier->base));
    if (!has_constant_slot(barrier, &slot)) {
        const bool is_sum = barrier->start_term_count[0] > 1 || barrier->start_const[0] != 0;
        grout_emit__add(e, is_sum ? " + 8 * (" : " + 8 * ");
        add_slot(e, barrier);
        grout_emit__add(e, is_sum ? ")" : "");
    } else if (slot != 0) {
        grout_emit__add(e, " + %" PRId64, 8 * slot);
    }
}

static bool get_barrier(grout_emitter *e, const grout_op *op, grout_view *view_out) {
    if (grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), view_out) &&
        grout_gpu__plan_find_barrier(e->plan, view_out->object) != UINT32_MAX) {
        return true;
    }
    grout_emit__unsupported(e, op, "the operand is no barrier");
    return false;
}

/* ", 2" for an arrival that counts more than one. */
static void add_arrivals(grout_emitter *e, int64_t count) {
    if (count != 1) {
        grout_emit__add(e, ", %" PRId64, count);
    }
}

/* One lane's arrival stands for the thread's. */
static void arrive_for_all(grout_emitter *e, const grout_view *barrier, int64_t count) {
    grout_emit__before_issue(e, "one arrival stands for all lanes");
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_arrive(");
    grout_emit__barrier_address(e, barrier);
    add_arrivals(e, count);
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}

/* Each warp arrives for itself; none may be a phase ahead of another. */
static void arrive_by_warp(grout_emitter *e, const grout_view *barrier,
                           const grout_gpu_barrier *entry, int64_t count) {
    const uint32_t words = (e->plan->barriers[entry->owner].count + 31) / 32;
    if (entry->is_watched && words > 1) {
        grout_emit__thread_barrier(e, "no warp is a phase ahead");
    }
    grout_emit__begin(e);
    if (entry->is_watched && words == 1) {
        int64_t slot;
        const bool is_constant = has_constant_slot(barrier, &slot);
        grout_emit__add(e, "grout_barrier_arrive(thread, %s, ", grout_emit__name(e, barrier->base));
        grout_emit__add(e, is_constant ? "" : "(grout_u32)(");
        add_slot(e, barrier);
        grout_emit__add(e, "%s, %s", is_constant ? "" : ")",
                        grout_emit__arrived_name(e, entry->owner).text);
    } else {
        grout_emit__add(e, "grout_mbarrier_arrive_warp(");
        grout_emit__barrier_address(e, barrier);
    }
    add_arrivals(e, count);
    grout_emit__end(e, ");");
    e->pending.has_waited = true;
}

void grout_emit__barrier_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const int64_t count = grout_op_get_attr_integer(e->module, op, GROUT_ATTR_ARRIVE_COUNT, 1);
    grout_view barrier;
    (void)id;
    if (!get_barrier(e, op, &barrier)) {
        return;
    }
    const grout_gpu_barrier *entry =
        &e->plan->barriers[grout_gpu__plan_find_barrier(e->plan, barrier.object)];
    if (entry->counts_warps && !e->is_alone) {
        arrive_by_warp(e, &barrier, entry, count);
    } else {
        arrive_for_all(e, &barrier, count * grout_gpu__plan_get_arrival_size(entry));
    }
}

/* More elements than a word has bits: the word of the element is picked by hand. */
static void wait_many(grout_emitter *e, const grout_view *barrier, const char *phases,
                      uint32_t number, uint32_t line) {
    const uint32_t slot = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 x%" PRIu32 " = ", slot);
    add_slot(e, barrier);
    grout_emit__end(e, ";");
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_wait(");
    grout_emit__barrier_address(e, barrier);
    grout_emit__end(e,
                    ", %s[x%" PRIu32 " / 32] >> x%" PRIu32 " %% 32 & 1u, dog, {%" PRIu32
                    ", x%" PRIu32 ", %" PRIu32 "});",
                    phases, slot, slot, number, slot, line);
    grout_emit__line(e, "%s[x%" PRIu32 " / 32] ^= 1u << x%" PRIu32 " %% 32;", phases, slot, slot);
}

void grout_emit__barrier_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const uint32_t line = grout_emit__get_line(e, op->loc);
    grout_view barrier;
    (void)id;
    if (!get_barrier(e, op, &barrier)) {
        return;
    }
    const uint32_t number = grout_gpu__plan_find_barrier(e->plan, barrier.object);
    const grout_gpu_barrier *entry = &e->plan->barriers[number];
    const grout_gpu_name phases = grout_emit__phases_name(e, entry->owner);
    if (e->plan->barriers[entry->owner].count > 32) {
        wait_many(e, &barrier, phases.text, number, line);
    } else {
        grout_emit__begin(e);
        grout_emit__add(e, "grout_barrier_wait(%s, %s, dog, {%" PRIu32 ", ",
                        grout_emit__name(e, barrier.base), phases.text, number);
        int64_t slot;
        const bool is_constant = has_constant_slot(&barrier, &slot);
        grout_emit__add(e, is_constant ? "" : "(grout_u32)(");
        add_slot(e, &barrier);
        grout_emit__end(e, "%s, %" PRIu32 "});", is_constant ? "" : ")", line);
    }
    e->pending.has_waited = !e->is_alone;
}

/* ---- fences and groups ---- */

void grout_emit__commit_smem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__line(e, "grout_commit_smem(thread);");
    settle(e);
}

void grout_emit__fence_async_shared(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__commit_smem(e, id, op);
}

void grout_emit__commit_gmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'commit_gmem' is not built yet");
}

void grout_emit__commit_group(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__open_issuer(e);
    grout_emit__line(e, "grout_bulk_commit();");
    grout_emit__close_issuer(e);
}

void grout_emit__wait_smem_to_gmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *count = grout_module_get_operand(e->module, op, 0);
    const bool is_read = grout_module_find_attr(e->module, op, GROUT_ATTR_READ_ONLY) != NULL;
    (void)id;
    grout_emit__open_issuer(e);
    grout_emit__line(e, "grout_bulk_wait%s<%" PRId64 ">();", is_read ? "_read" : "",
                     grout_module_get_expr_value(e->module, count->id).integer);
    grout_emit__close_issuer(e);
    if (!e->is_alone) {
        grout_emit__thread_barrier(e, "all lanes know");
    }
}
