/* verify_cluster.c - references to other CTAs of the cluster, and attributes that name some.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

/* ---- '.cluster(..)' -------------------------------------------------------------------------- */

/* Whether the operation reaches the SMEM of another CTA through this operand: the thread's own
 * accesses do, and engines whose bytes and arrivals go to the barrier of that CTA. */
static bool takes_peer(const grout_op *op, uint32_t index) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, index);
    if (effect == NULL || effect->proxy != GROUT_PROXY_GENERIC) {
        return false;
    }
    return sync == NULL
               ? effect->space == GROUT_EFFECT_SPACE_ANY
               : sync->mode == GROUT_SYNC_MODE_STARTS && sync->reach != GROUT_SYNC_REACH_OWN &&
                     effect->access == GROUT_ACCESS_WRITE;
}

/* GMEM, registers and semaphores have no '.cluster' (infer_operand.c). */
static void report_peer(grout_verifying *verifying, const grout_op *op,
                        const grout_operand *operand, const grout_view *view) {
    grout_verifying__report(verifying, GROUT_DIAG_BAD_SPACE, operand->loc,
                            "'%s' works on this CTA's own SMEM, and this is %s of another one",
                            grout_verify__get_text(op),
                            grout_verify__get_name(verifying, view).chars);
    grout_diags_help(verifying->diags, "%s",
                     grout_verify__get_remedy(op, GROUT_REMEDY_PEER_MEMORY));
}

static void check_place(grout_verifying *verifying, const grout_operand *ref,
                        const grout_view *view) {
    const grout_kernel *kernel = grout_module_get_kernel(verifying->module, verifying->kernel);
    uint32_t place = 0;
    for (uint32_t k = 0; k < kernel->axis_count && place < view->cluster_index_count; k++) {
        int64_t index;
        if (kernel->axes[k].kind != GROUT_AXIS_CLUSTER) {
            continue;
        }
        const grout_operand *operand = &view->cluster_index[place++];
        int64_t size = grout_kernel_get_axis_size(verifying->module, verifying->kernel, k);
        if (grout_verify__find_constant(verifying, operand, &index) &&
            (index < 0 || index >= size)) {
            grout_verifying__report(
                verifying, GROUT_DIAG_BAD_INDEX, operand->loc != 0 ? operand->loc : ref->loc,
                "place %" PRId64 " lies outside cluster axis '%s', which has "
                "%" PRId64 " CTAs",
                index, grout_module_get_string(verifying->module, kernel->axes[k].name), size);
        }
    }
}

static void check_peers(grout_verifying *verifying, const grout_op *op) {
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(verifying->module, op, k);
        grout_view view;
        const grout_object *object = grout_verify__find_object(verifying, operand, &view);
        if (object == NULL || view.cluster_index_count == 0) {
            continue;
        }
        if (object->kind == GROUT_OBJECT_ARRAY && !takes_peer(op, k)) { /* else: barrier kinds */
            report_peer(verifying, op, operand, &view);
        }
        check_place(verifying, operand, &view);
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Two ways of filling several CTAs: all of them issue the copy, or one does. */
static void check_both(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_attr_value *multicast = grout_module_find_attr(module, op, GROUT_ATTR_MULTICAST);
    if (multicast == NULL ||
        grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXES) == NULL) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, multicast->loc,
                            "multicast and collective_axes exclude each other: one CTA issues "
                            "'%s', or all of them do",
                            grout_verify__get_text(op));
    grout_diags_help(verifying->diags, "keep multicast on an mbarrier, collective_axes on a "
                                       "barrier");
}

static void check_from_cta(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_attr_value *attr = grout_module_find_attr(module, op, GROUT_ATTR_FROM_CTA);
    if (attr == NULL || attr->expr == 0) {
        return;
    }
    int64_t mask = grout_module_get_expr_value(module, attr->expr).integer;
    int64_t last = (int64_t)grout_kernel_get_cluster_size(module, verifying->kernel) - 1;
    grout_view view;
    if (mask < 0 || mask > last) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                "from_cta(%" PRId64 "): the mask keeps bits of a rank in the "
                                "cluster, 0 to %" PRId64,
                                mask, last);
        grout_diags_help(verifying->diags, "from_cta(0) lets CTA 0 serve every barrier; without "
                                           "from_cta each CTA serves its own");
    }
    if (grout_verify__find_object(verifying, grout_module_get_operand(module, op, 0), &view) !=
            NULL &&
        view.cluster_index_count > 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                "from_cta chooses the CTAs whose barriers are served, and "
                                ".cluster(..) names one");
        grout_diags_help(verifying->diags, "keep one of the two");
    }
}

static void check_store(grout_verifying *verifying, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    bool is_for_cluster =
        sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS && sync->reach != GROUT_SYNC_REACH_OWN;
    if (!is_for_cluster ||
        grout_kernel_get_cluster_size(verifying->module, verifying->kernel) > 1) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, op->loc,
                            "'%s' stores to SMEM of a cluster, and this kernel's clusters have one "
                            "CTA",
                            grout_verify__get_text(op));
    grout_diags_help(verifying->diags, "give the kernel cluster(NAME = 2) or more, or use store");
}

void grout_verify__cluster(grout_verifying *verifying, const grout_op *op) {
    check_peers(verifying, op);
    check_both(verifying, op);
    check_from_cta(verifying, op);
    check_store(verifying, op);
}
