/* peers.c - other CTAs of the cluster: which of them a reference names, who belongs to a group.
 * SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include "invariant.h"

#include <inttypes.h>

bool grout_emit__is_peer(const grout_view *view) {
    return view->cluster_index_count > 0;
}

/* A cluster axis in the rank: rank / stride % size is the index along it. */
typedef struct cluster_axis {
    int64_t stride, size;
    bool is_outermost;
} cluster_axis;

static bool is_cluster_axis(const grout_emitter *e, uint32_t axis) {
    return e->kernel->axes[axis].kind == GROUT_AXIS_CLUSTER;
}

static cluster_axis describe_axis(const grout_emitter *e, uint32_t axis) {
    GROUT_ASSERT(axis < e->kernel->axis_count && is_cluster_axis(e, axis));
    cluster_axis a = {.stride = 1,
                      .size = grout_kernel_get_axis_size(e->module, e->kernel_id, axis),
                      .is_outermost = true};
    for (uint32_t k = 0; k < e->kernel->axis_count; k++) {
        if (is_cluster_axis(e, k) && k > axis) {
            a.stride *= grout_kernel_get_axis_size(e->module, e->kernel_id, k);
        }
        if (is_cluster_axis(e, k) && k < axis) {
            a.is_outermost = false;
        }
    }
    return a;
}

void grout_emit__rank(grout_emitter *e, const grout_view *view) {
    uint32_t place = 0;
    int64_t constant = 0;
    const char *join = "";
    for (uint32_t k = 0; k < e->kernel->axis_count && place < view->cluster_index_count; k++) {
        if (!is_cluster_axis(e, k)) {
            continue;
        }
        const cluster_axis axis = describe_axis(e, k);
        const grout_operand *index = &view->cluster_index[place++];
        if (index->kind == GROUT_OPERAND_EXPR) {
            constant += axis.stride * grout_module_get_expr_value(e->module, index->id).integer;
            continue;
        }
        grout_emit__add(e, "%s", join);
        grout_emit__operand(e, index, NULL);
        if (axis.stride != 1) {
            grout_emit__add(e, " * %" PRId64, axis.stride);
        }
        join = " + ";
    }
    GROUT_ASSERT(place == view->cluster_index_count); /* an index for each axis */
    if (constant != 0 || join[0] == '\0') {
        grout_emit__add(e, "%s%" PRId64, join, constant);
    }
    FIELD_END(e, CLUSTER_RANK);
}

/* Whether a set of axes holds every cluster axis with more than one place. */
static bool has_all_axes(const grout_emitter *e, uint32_t axes) {
    GROUT_ASSERT(e->kernel->axis_count < 32 && axes >> e->kernel->axis_count == 0);
    return (uint32_t)__builtin_popcount(grout_kernel_get_cluster_mask(e->module, e->kernel_id, axes,
                                                                      0)) == e->plan->cluster_size;
}

/* "rank / 2 % 4 * 2": the index along an axis, times factor. */
static void add_index(grout_emitter *e, const cluster_axis *axis, int64_t factor) {
    grout_emit__add(e, "rank");
    if (axis->stride != 1) {
        grout_emit__add(e, " / %" PRId64 "u", axis->stride);
    }
    if (!axis->is_outermost) {
        grout_emit__add(e, " %% %" PRId64 "u", axis->size);
    }
    if (factor != 1) {
        grout_emit__add(e, " * %" PRId64 "u", factor);
    }
}

void grout_emit__group_index(grout_emitter *e, uint32_t axes) {
    const char *join = "";
    if (has_all_axes(e, axes)) {
        grout_emit__add(e, "rank");
        return;
    }
    for (uint32_t k = 0; k < e->kernel->axis_count; k++) {
        if (!is_cluster_axis(e, k) || (axes >> k & 1u) == 0) {
            continue;
        }
        const cluster_axis axis = describe_axis(e, k);
        int64_t inner = 1;
        for (uint32_t i = k + 1; i < e->kernel->axis_count; i++) {
            if (is_cluster_axis(e, i) && (axes >> i & 1u) != 0) {
                inner *= grout_kernel_get_axis_size(e->module, e->kernel_id, i);
            }
        }
        grout_emit__add(e, "%s", join);
        add_index(e, &axis, inner);
        join = " + ";
    }
}

/* The set of the first CTA's group, moved to where the own group starts. */
void grout_emit__group_mask(grout_emitter *e, uint32_t axes) {
    const char *join = " << (";
    const uint32_t mask = grout_kernel_get_cluster_mask(e->module, e->kernel_id, axes, 0);
    grout_emit__add(e, "0x%" PRIx32 "u", (uint32_t)FIELD(CLUSTER_MASK, mask));
    for (uint32_t k = 0; k < e->kernel->axis_count && !has_all_axes(e, axes); k++) {
        if (is_cluster_axis(e, k) && (axes >> k & 1u) == 0) {
            const cluster_axis axis = describe_axis(e, k);
            grout_emit__add(e, "%s", join);
            add_index(e, &axis, axis.stride);
            join = " + ";
        }
    }
    grout_emit__add(e, "%s", join[1] == '+' ? ")" : "");
}

/* ---- pairs ---- */

bool grout_emit__is_of_pair(const grout_emitter *e, const grout_gpu_barrier *entry) {
    return entry->is_explicit &&
           grout_module_get_object(e->module, entry->object)->is_leader_tracked;
}

void grout_emit__open_leader(grout_emitter *e) {
    grout_emit__begin(e);
    grout_emit__add(e, "if (rank %% 2u == 0)");
    grout_emit__open(e);
}

void grout_emit__leader_address(grout_emitter *e, const grout_view *barrier) {
    grout_emit__add(e, "grout_peer_address(");
    grout_emit__barrier_address(e, barrier);
    grout_emit__add(e, ", rank & ~1u");
    FIELD_END(e, CLUSTER_LEADER);
    grout_emit__add(e, ")");
}
