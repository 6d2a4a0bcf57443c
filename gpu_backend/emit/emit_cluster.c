/* emit_cluster.c - other CTAs of the cluster: the hardware barrier, stores to their SMEM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

/* ---- the hardware barrier ---- */

void grout_emit__cluster_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__check_common(e, op);
    grout_emit__fence_engines(e, op);
    grout_emit__line(e, "grout_cluster_arrive%s();",
                     grout_emit__is_relaxed(e, op) ? "_relaxed" : "");
}

/* The hardware's wait acquires always. */
void grout_emit__cluster_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__check_common(e, op);
    grout_emit__line(e, "grout_cluster_wait();");
}

void grout_emit__cluster_barrier(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__check_common(e, op);
    if (grout_emit__is_relaxed(e, op)) {
        grout_emit__fence_engines(e, op);
        grout_emit__line(e, "grout_cluster_arrive_relaxed();");
        grout_emit__line(e, "grout_cluster_wait();");
        return;
    }
    const bool is_fenced = grout_emit__begin_meeting(e, false);
    grout_emit__line(e, "grout_cluster_barrier();");
    grout_emit__end_meeting(e, is_fenced); /* all lanes of this thread have met, too */
}

/* ---- stores to their SMEM ---- */

typedef struct async_store {
    const grout_op *op;
    const grout_operand *from;
    grout_view to;
    uint32_t barrier; /* x<number>: the address of the barrier beside the destination */
    grout_register_layout layout;
    grout_dtype dtype;
    uint32_t width; /* elements that one instruction moves */
    grout_choice reduce;
} async_store;

/* The names of the reductions, as the device header spells them. */
static const char *get_reduction(grout_choice reduce) {
    return grout_choice_get_info(reduce)->text;
}

static bool choose_width(grout_emitter *e, async_store *store) {
    const uint32_t bytes = grout_dtype_get_info(store->dtype)->bytes;
    const uint32_t access = grout_view_get_access_width(e->module, &store->to);
    const uint32_t run = grout_emit__get_run(&store->layout);
    store->width = access < run ? access : run;
    if (store->reduce != GROUT_CHOICE_NONE) {
        store->width = 1;
    }
    if (store->width * bytes < 4) {
        grout_emit__unsupported(e, store->op,
                                "async_store_smem moves 4, 8 or 16 bytes at a time, and the lanes "
                                "hold only %" PRIu32 " bytes that lie side by side in SMEM",
                                store->width * bytes);
        grout_diags_help(e->diags, "'layout_cast .. wg_strided' puts neighbours into one lane; an "
                                   "SMEM array that is not transposed keeps rows together");
        return false;
    }
    return true;
}

/* The barrier's place in the destination's CTA; a barrier that nobody else arms is armed. */
static void prepare_barrier(grout_emitter *e, async_store *store, grout_view *barrier) {
    const uint32_t number = grout_gpu__plan_find_barrier(e->plan, barrier->object);
    const grout_type *type = grout_object_get_type(e->module, store->to.object);
    int64_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    for (uint32_t dim = 0; dim < store->to.rank; dim++) {
        bytes *= store->to.extent[dim];
    }
    barrier->cluster_index_count = store->to.cluster_index_count;
    for (uint32_t k = 0; k < store->to.cluster_index_count; k++) {
        barrier->cluster_index[k] = store->to.cluster_index[k];
    }
    store->barrier = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 x%" PRIu32 " = ", store->barrier);
    grout_emit__barrier_address(e, barrier);
    grout_emit__end(e, ";");
    if (number != UINT32_MAX && !e->plan->barriers[number].is_explicit) {
        grout_emit__open_issuer(e);
        grout_emit__line(e, "grout_peer_expect(x%" PRIu32 ", %" PRId64 ");", store->barrier,
                         FIELD(MBARRIER_BYTES, bytes));
        grout_emit__close_issuer(e);
    }
}

static void store_async(grout_emitter *e, const async_store *store) {
    const grout_emit_at at = grout_emit__get_at(&store->layout);
    const bool is_reduced = store->reduce != GROUT_CHOICE_NONE;
    grout_emit__open_owners(e, &store->layout);
    grout_emit__open_registers(e, store->layout.registers, store->width);
    grout_emit__open_element(e, &store->layout, store->width);
    grout_emit__prepare_address(e, &store->to, at);
    if (store->width > 1) {
        grout_emit__write_chunk(e, store->from, store->dtype, store->width);
    }
    grout_emit__begin(e);
    grout_emit__add(e, "grout_%s_async(", is_reduced ? get_reduction(store->reduce) : "store");
    grout_emit__address(e, &store->to, at);
    FIELD_STEP(e, ACCESS_STORE_ASYNC,
               (int64_t)store->width * grout_dtype_get_info(store->dtype)->bytes);
    grout_emit__add(e, ", ");
    if (store->width > 1) {
        grout_emit__add(e, "chunk");
    } else {
        grout_emit__element(e, store->from, store->dtype, "reg");
    }
    grout_emit__end(e, ", x%" PRIu32 ");", store->barrier);
    grout_emit__close_registers(e, &store->layout);
    grout_emit__close_owners(e, &store->layout);
}

void grout_emit__async_store_smem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    async_store store = {.op = op,
                         .from = grout_module_get_operand(e->module, op, 0),
                         .reduce = grout_op_get_choice(e->module, op, GROUT_ATTR_REDUCE)};
    grout_view barrier;
    (void)id;
    if (!grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 1), &store.to) ||
        !grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 2), &barrier)) {
        grout_emit__unsupported(e, op,
                                "the destination is not a reference, or the barrier is none");
        return;
    }
    const grout_type *type = grout_object_get_type(e->module, store.to.object);
    const grout_type from = grout_module_get_operand_type(e->module, store.from);
    store.dtype = (grout_dtype)type->dtype;
    store.layout =
        grout_emit__is_spread(e, store.from)
            ? *grout_emit__layout(e, store.from->id)
            : grout_register_layout_make_strided(e->warps, grout_type_get_count(&from),
                                                 grout_view_get_access_width(e->module, &store.to));
    if (!choose_width(e, &store)) {
        return;
    }
    grout_emit__before_access(e, store.to.object, true);
    prepare_barrier(e, &store, &barrier);
    store_async(e, &store);
    grout_emit__after_access(e, store.to.object, true);
}
