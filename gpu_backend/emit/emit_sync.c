/* emit_sync.c - barriers, fences and groups of the implicit style.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

/* ---- barriers ---- */

/* ", 2" for an arrival that counts more than one. */
static void add_arrivals(grout_emitter *e, int64_t count) {
    const int64_t written = FIELD(MBARRIER_ARRIVALS, count);
    if (written != 1) {
        grout_emit__add(e, ", %" PRId64, written);
    }
}

/* Each warp arrives for itself; none may be a phase ahead of another. */
static void arrive_by_warp(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                           const grout_gpu_barrier *entry, int64_t count) {
    const uint32_t words = (e->plan->barriers[entry->owner].count + 31) / 32;
    if (entry->is_watched && words > 1) {
        grout_emit__thread_barrier(e, "no warp is a phase ahead");
    }
    grout_emit__seal_tensor(e, entry);
    grout_emit__begin(e);
    if (entry->is_watched && words == 1) {
        int64_t slot;
        const bool is_constant = grout_emit__has_constant_slot(e, barrier, &slot);
        grout_emit__add(e, "grout_barrier_arrive");
        grout_emit__arrive_order(e, op, entry);
        grout_emit__add(e, "(thread, %s", grout_emit__name(e, barrier->base));
        FIELD_END(e, MBARRIER_ADDRESS);
        grout_emit__add(e, is_constant ? ", " : ", (grout_u32)(");
        grout_emit__slot(e, barrier);
        grout_emit__add(e, "%s, %s", is_constant ? "" : ")",
                        grout_emit__arrived_name(e, entry->owner).text);
    } else {
        grout_emit__add(e, "grout_mbarrier_arrive_warp");
        grout_emit__arrive_order(e, op, entry);
        grout_emit__add(e, "(");
        grout_emit__barrier_address(e, barrier);
    }
    add_arrivals(e, count);
    grout_emit__end(e, ");");
    e->pending.has_waited = true;
}

/* An arrival on a cluster barrier: one on the barrier of every peer. */
static void arrive_peers(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                         const grout_gpu_barrier *entry, int64_t count) {
    const grout_object *object = grout_module_get_object(e->module, barrier->object);
    const bool is_thread = !e->is_alone && !e->is_warp;
    const bool is_bare = grout_emit__is_without_order(e, op);
    const bool is_wide = is_bare || grout_emit__is_wide(e, op, entry);
    grout_emit__before_issue(e, "one arrival counts for all lanes");
    grout_emit__seal_tensor(e, entry);
    if (is_thread) {
        grout_emit__begin(e);
        if (e->plan->thread_count == 1) {
            grout_emit__add(e, "if (warp == 0)");
        } else {
            grout_emit__add(e, "if (warp %% %" PRIu32 " == 0)", e->warps);
        }
        grout_emit__open(e);
    }
    grout_emit__begin(e);
    grout_emit__add(e, "grout_arrive_%s%s<%s%s>(", object->is_leader_tracked ? "leader" : "peers",
                    e->is_alone ? "_alone" : "",
                    FIELD(MBARRIER_ARRIVE_ORDER, !is_bare) ? "GROUT_RELEASE" : "GROUT_RELAXED",
                    FIELD(MBARRIER_SCOPE, is_wide) ? "" : ", GROUT_CTA");
    grout_emit__barrier_address(e, barrier);
    for (uint32_t k = 0; k < object->cluster_group_count; k++) {
        grout_emit__add(e, k == 0 ? ", " : " | ");
        grout_emit__group_mask(e, object->cluster_groups[k]);
    }
    add_arrivals(e, count);
    grout_emit__end(e, ");");
    if (is_thread) {
        grout_emit__close(e, "");
    }
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
        arrive_peers(e, op, &barrier, entry, count);
    } else if (entry->counts_warps && !e->is_alone && !e->is_warp) {
        arrive_by_warp(e, op, &barrier, entry, count);
    } else {
        grout_emit__arrive_for_all(e, op, &barrier, entry);
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
    grout_emit__wait_order(e, op, &e->plan->barriers[number]);
    grout_emit__add(e, "(");
    grout_emit__barrier_address(e, barrier);
    grout_emit__add(e, ", %s[x%" PRIu32 " / 32] >> x%" PRIu32 " %% 32 & 1u", phases, slot, slot);
    FIELD_END(e, MBARRIER_PARITY);
    grout_emit__add(e, ", dog, {%" PRIu32 ", x%" PRIu32, number, slot);
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
        grout_emit__wait_order(e, op, entry);
        grout_emit__add(e, "(%s", grout_emit__name(e, barrier.base));
        FIELD_END(e, MBARRIER_ADDRESS);
        grout_emit__add(e, ", %s, dog, {%" PRIu32 ", ", phases.text, number);
        int64_t slot;
        const bool is_constant = grout_emit__has_constant_slot(e, &barrier, &slot);
        grout_emit__add(e, is_constant ? "" : "(grout_u32)(");
        grout_emit__slot(e, &barrier);
        grout_emit__add(e, is_constant ? "" : ")");
        grout_emit__end_site(e, op);
    }
    grout_emit__admit_tensor(e, entry);
}

/* ---- fences and groups ---- */

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

/* Each lane waits for itself, and they need not meet: what the other grid did is then visible. */
void grout_emit__griddepcontrol_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__line(e, "grout_grid_wait();");
}

void grout_emit__griddepcontrol_launch_dependents(grout_emitter *e, grout_op_id id,
                                                  const grout_op *op) {
    (void)id;
    if (grout_op_get_choice(e->module, op, GROUT_ATTR_ORDER) != GROUT_CHOICE_ORDER_RELEASE) {
        grout_emit__line(e, "grout_grid_launch_dependents();");
        return;
    }
    /* The first call of a CTA counts: no lane may come before another has done its part. */
    grout_emit__before_issue(e, "one lane releases for all");
    grout_emit__open_issuer(e);
    grout_emit__line(e, "grout_grid_release();");
    grout_emit__line(e, "grout_grid_launch_dependents();");
    grout_emit__close_issuer(e);
}

void grout_emit__commit_group(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__open_issuer(e);
    grout_emit__line(e, "grout_bulk_commit();");
    grout_emit__close_issuer(e);
}

void grout_emit__wait_smem_to_gmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
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
                     FIELD(COPY_PENDING, grout_emit__get_integer(e, op, 0)));
    if (is_by_warps) {
        grout_emit__close(e, "");
    } else {
        grout_emit__close_issuer(e);
    }
    if (!e->is_alone) {
        grout_emit__thread_barrier(e, "all lanes know");
    }
}
