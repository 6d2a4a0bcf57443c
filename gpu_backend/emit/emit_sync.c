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
    if (!e->is_alone) {
        grout_emit__line(e, "%s%s%s",
                         e->is_warp ? "__syncwarp();" : "grout_thread_barrier(thread);",
                         reason[0] == '\0' ? "" : " // ", reason);
    }
    settle(e);
}

void grout_emit__settle(grout_emitter *e) {
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

static bool has_pending(const grout_emitter *e) {
    return e->pending.count > 0 || e->pending.has_waited || e->pending.has_overflow;
}

void grout_emit__before_issue(grout_emitter *e, const char *reason) {
    if (e->is_alone) {
        return;
    }
    if (has_pending(e)) {
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

/* Whether all lanes meet at an op, whatever came before. An op that can be collective meets only if
 * it is. */
static bool is_settling(const grout_emitter *e, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    if (sync == NULL ||
        (sync->lanes != GROUT_SYNC_LANES_MEET && sync->lanes != GROUT_SYNC_LANES_VOTE)) {
        return false;
    }
    return (grout_op_get_info(opcode)->attrs & GROUT_ATTR_BIT_COLLECTIVE) == 0 ||
           grout_module_find_attr(e->module, op, GROUT_ATTR_COLLECTIVE) != NULL;
}

/* Some lanes may be at the op still when others have left it, and must have left it too before one
 * lane acts for all. An arrive that one lane can do for all is left to its function. The cluster's
 * hardware barrier counts every lane again before it goes on. */
static bool is_left_by_each(const grout_sync_info *sync) {
    return (sync->lanes == GROUT_SYNC_LANES_EACH && sync->object != GROUT_SYNC_OBJECT_CLUSTER) ||
           (sync->lanes == GROUT_SYNC_LANES_ANY && sync->mode == GROUT_SYNC_MODE_WAITS);
}

void grout_emit__note_lanes(grout_emitter *e, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    if (sync == NULL || e->failed || grout_op_get_info(opcode)->shape != GROUT_SHAPE_PLAIN) {
        return;
    }
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
 * touch the bytes before the wait for the group, and all lanes meet in that wait.
 */
static bool is_left_pending(const grout_effect *effect) {
    const bool is_of_memory = effect->space != GROUT_EFFECT_SPACE_BARRIER &&
                              effect->space != GROUT_EFFECT_SPACE_SEMAPHORE;
    const bool is_access = effect->access == GROUT_ACCESS_READ ||
                           effect->access == GROUT_ACCESS_WRITE ||
                           effect->access == GROUT_ACCESS_ATOMIC;
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
    if (sync != NULL &&
        (sync->lanes == GROUT_SYNC_LANES_ANY || sync->lanes == GROUT_SYNC_LANES_EACH)) {
        into->has_waited = true;
    }
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

/* ---- mbarriers ---- */

/* The one index of a barrier reference: constant, or terms. */
void grout_emit__slot(grout_emitter *e, const grout_view *barrier) {
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
    if (grout_emit__is_peer(barrier)) {
        grout_view own = *barrier;
        own.cluster_index_count = 0;
        grout_emit__add(e, "grout_peer_address(");
        grout_emit__barrier_address(e, &own);
        grout_emit__add(e, ", ");
        grout_emit__rank(e, barrier);
        grout_emit__add(e, ")");
        return;
    }
    grout_emit__add(e, "%s", grout_emit__name(e, barrier->base));
    if (!has_constant_slot(barrier, &slot)) {
        const bool is_sum = barrier->start_term_count[0] > 1 || barrier->start_const[0] != 0;
        grout_emit__add(e, is_sum ? " + 8 * (" : " + 8 * ");
        grout_emit__slot(e, barrier);
        grout_emit__add(e, is_sum ? ")" : "");
    } else if (slot != 0) {
        grout_emit__add(e, " + %" PRId64, 8 * slot);
    }
}

const grout_gpu_barrier *grout_emit__find_barrier(grout_emitter *e, const grout_op *op,
                                                  grout_view *view_out) {
    const uint32_t operand = grout_op_find_letter((grout_opcode)op->opcode, 'b');
    if (operand != UINT32_MAX &&
        grout_module_get_view(e->module, grout_module_get_operand(e->module, op, operand),
                              view_out)) {
        const uint32_t number = grout_gpu__plan_find_barrier(e->plan, view_out->object);
        if (number != UINT32_MAX) {
            return &e->plan->barriers[number];
        }
    }
    grout_emit__unsupported(e, op, "no operand is a barrier");
    return NULL;
}

/* The scope that a barrier's operation has, written or not: what mbarriers know of. */
static bool is_for_cluster(const grout_emitter *e, const grout_op *op,
                           const grout_gpu_barrier *entry) {
    const grout_choice scope = grout_op_get_choice(e->module, op, GROUT_ATTR_SCOPE);
    return scope == GROUT_CHOICE_NONE ? entry->is_cluster_scope : scope != GROUT_CHOICE_SCOPE_CTA;
}

const char *grout_emit__choice(const grout_emitter *e, const grout_op *op, grout_attr attr,
                               const char *fallback) {
    static const char *const names[GROUT_CHOICE_COUNT] = {
        [GROUT_CHOICE_ORDER_RELAXED] = "GROUT_RELAXED",
        [GROUT_CHOICE_ORDER_ACQUIRE] = "GROUT_ACQUIRE",
        [GROUT_CHOICE_ORDER_RELEASE] = "GROUT_RELEASE",
        [GROUT_CHOICE_ORDER_ACQ_REL] = "GROUT_ACQ_REL",
        [GROUT_CHOICE_SCOPE_CTA] = "GROUT_CTA",
        [GROUT_CHOICE_SCOPE_CLUSTER] = "GROUT_CLUSTER",
        [GROUT_CHOICE_SCOPE_GPU] = "GROUT_GPU",
        [GROUT_CHOICE_SCOPE_SYS] = "GROUT_SYS"};
    const char *name = names[grout_op_get_choice(e->module, op, attr)];
    return name == NULL ? fallback : name;
}

bool grout_emit__is_relaxed(const grout_emitter *e, const grout_op *op) {
    return grout_op_get_choice(e->module, op, GROUT_ATTR_ORDER) == GROUT_CHOICE_ORDER_RELAXED;
}

void grout_emit__barrier_order(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry,
                               const char *strong) {
    const bool is_relaxed = grout_emit__is_relaxed(e, op);
    const bool is_cluster = is_for_cluster(e, op, entry);
    if (is_relaxed || is_cluster) {
        grout_emit__add(e, "<%s, %s>", is_relaxed ? "GROUT_RELAXED" : strong,
                        is_cluster ? "GROUT_CLUSTER" : "GROUT_CTA");
    }
}

void grout_emit__end_site(grout_emitter *e, const grout_op *op) {
    grout_emit__end(e, ", %" PRIu32 "%s});", grout_emit__get_line(e, op->loc),
                    e->is_warp ? ", warp % 4 + 1" : "");
}

/* ", 2" for an arrival that counts more than one. */
static void add_arrivals(grout_emitter *e, int64_t count) {
    if (count != 1) {
        grout_emit__add(e, ", %" PRId64, count);
    }
}

/* One lane's arrival stands for the thread's. */
static void arrive_for_all(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                           const grout_gpu_barrier *entry, int64_t count) {
    grout_emit__before_issue(e, "one arrival stands for all lanes");
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_arrive");
    grout_emit__barrier_order(e, op, entry, "GROUT_RELEASE");
    grout_emit__add(e, "(");
    grout_emit__barrier_address(e, barrier);
    add_arrivals(e, count);
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}

/* Each warp arrives for itself; none may be a phase ahead of another. */
static void arrive_by_warp(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                           const grout_gpu_barrier *entry, int64_t count) {
    const uint32_t words = (e->plan->barriers[entry->owner].count + 31) / 32;
    if (entry->is_watched && words > 1) {
        grout_emit__thread_barrier(e, "no warp is a phase ahead");
    }
    grout_emit__begin(e);
    if (entry->is_watched && words == 1) {
        int64_t slot;
        const bool is_constant = has_constant_slot(barrier, &slot);
        grout_emit__add(e, "grout_barrier_arrive");
        grout_emit__barrier_order(e, op, entry, "GROUT_RELEASE");
        grout_emit__add(e, "(thread, %s, ", grout_emit__name(e, barrier->base));
        grout_emit__add(e, is_constant ? "" : "(grout_u32)(");
        grout_emit__slot(e, barrier);
        grout_emit__add(e, "%s, %s", is_constant ? "" : ")",
                        grout_emit__arrived_name(e, entry->owner).text);
    } else {
        grout_emit__add(e, "grout_mbarrier_arrive_warp");
        grout_emit__barrier_order(e, op, entry, "GROUT_RELEASE");
        grout_emit__add(e, "(");
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
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    if (entry->is_clustered) {
        grout_emit__arrive_peers(e, op, &barrier, count);
    } else if (entry->counts_warps && !e->is_alone && !e->is_warp) {
        arrive_by_warp(e, op, &barrier, entry, count);
    } else {
        arrive_for_all(e, op, &barrier, entry, count * grout_gpu__plan_get_arrival_size(entry));
    }
}

/* More elements than a word has bits: the word of the element is picked by hand. */
static void wait_many(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                      const char *phases, uint32_t number) {
    const uint32_t slot = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 x%" PRIu32 " = ", slot);
    grout_emit__slot(e, barrier);
    grout_emit__end(e, ";");
    grout_emit__begin(e);
    grout_emit__add(e, "grout_mbarrier_wait");
    grout_emit__barrier_order(e, op, &e->plan->barriers[number], "GROUT_ACQUIRE");
    grout_emit__add(e, "(");
    grout_emit__barrier_address(e, barrier);
    grout_emit__add(
        e, ", %s[x%" PRIu32 " / 32] >> x%" PRIu32 " %% 32 & 1u, dog, {%" PRIu32 ", x%" PRIu32,
        phases, slot, slot, number, slot);
    grout_emit__end_site(e, op);
    grout_emit__line(e, "%s[x%" PRIu32 " / 32] ^= 1u << x%" PRIu32 " %% 32;", phases, slot, slot);
}

void grout_emit__barrier_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_view barrier;
    (void)id;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    const uint32_t number = (uint32_t)(entry - e->plan->barriers);
    const grout_gpu_name phases = grout_emit__phases_name(e, entry->owner);
    if (e->plan->barriers[entry->owner].count > 32) {
        wait_many(e, op, &barrier, phases.text, number);
    } else {
        grout_emit__begin(e);
        grout_emit__add(e, "grout_barrier_wait");
        grout_emit__barrier_order(e, op, entry, "GROUT_ACQUIRE");
        grout_emit__add(e, "(%s, %s, dog, {%" PRIu32 ", ", grout_emit__name(e, barrier.base),
                        phases.text, number);
        int64_t slot;
        const bool is_constant = has_constant_slot(&barrier, &slot);
        grout_emit__add(e, is_constant ? "" : "(grout_u32)(");
        grout_emit__slot(e, &barrier);
        grout_emit__add(e, is_constant ? "" : ")");
        grout_emit__end_site(e, op);
    }
}

/* ---- fences and groups ---- */

void grout_emit__publish_smem(grout_emitter *e) {
    if (e->is_warp) {
        grout_emit__line(e, "grout_fence_async_smem();");
        grout_emit__thread_barrier(e, "all lanes of the warp have");
        return;
    }
    grout_emit__line(e, "grout_commit_smem(thread);");
    settle(e);
}

void grout_emit__commit_smem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    if (grout_module_find_attr(e->module, op, GROUT_ATTR_CLUSTER) != NULL) {
        grout_emit__line(e, "grout_fence_async_peers();");
        grout_emit__thread_barrier(e, "all lanes have");
        return;
    }
    grout_emit__publish_smem(e);
}

void grout_emit__fence_async_shared(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__commit_smem(e, id, op);
}

void grout_emit__commit_gmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__line(e, "grout_fence_async_gmem();");
    grout_emit__thread_barrier(e, "all lanes have");
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
    const bool is_by_warps = !e->is_warp && !e->is_alone && e->forks.has_warp_stores;
    (void)id;
    if (is_by_warps) { /* each warp's lane has bulk groups of its own */
        grout_emit__line(e, "if (grout_elect()) {");
        e->indent++;
    } else {
        grout_emit__open_issuer(e);
    }
    grout_emit__line(e, "grout_bulk_wait%s<%" PRId64 ">();", is_read ? "_read" : "",
                     grout_module_get_expr_value(e->module, count->id).integer);
    if (is_by_warps) {
        grout_emit__close(e, "");
    } else {
        grout_emit__close_issuer(e);
    }
    if (!e->is_alone) {
        grout_emit__thread_barrier(e, "all lanes know");
    }
}
