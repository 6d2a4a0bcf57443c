/* verify_pair.c - pairs of CTAs: what is for both, who leads, what has to agree.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The CTAs of a pair differ in the lowest bit of their rank (PTX ISA 9.1, 'CTA-Pair'): along the
 * last cluster axis, if that has two. All instructions of a kernel that work on tensor memory are
 * of one kind, for a CTA or for a pair ('cta_group'), and so are its arrays. */
#include "verifying.h"

#include <inttypes.h>

/* ---- the axis -------------------------------------------------------------------------------- */

/* The axis along which the CTAs of a pair differ, as the bit of a set; 0: there are no pairs. */
static uint32_t find_pair_axis(const grout_verifying *verifying) {
    const grout_kernel *kernel = grout_module_get_kernel(verifying->module, verifying->kernel);
    for (uint32_t k = kernel->axis_count; k-- > 0;) {
        if (kernel->axes[k].kind == GROUT_AXIS_CLUSTER) {
            const int64_t size =
                grout_kernel_get_axis_size(verifying->module, verifying->kernel, k);
            return size == GROUT_PAIR ? 1u << k : 0;
        }
    }
    return 0;
}

/* "cluster(x = 2)": what would be an axis of pairs. */
static const char *get_axis_help(const grout_verifying *verifying) {
    return find_pair_axis(verifying) != 0
               ? "name the last axis of cluster(..), which has two CTAs"
               : "give the kernel cluster(NAME = 2), or make the last axis of its cluster 2";
}

static void check_axis(grout_verifying *verifying, const grout_op *op,
                       const grout_attr_value *attr) {
    const grout_attr kind = (grout_attr)attr->attr;
    const uint32_t axes = grout_op_get_axes(verifying->module, op, kind);
    if (axes != 0 && axes == find_pair_axis(verifying)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_PAIR, attr->loc,
                            "'%s' is for a pair of CTAs, which differ along the last cluster axis "
                            "alone, and that has two",
                            grout_verify__get_text(op));
    grout_diags_help(verifying->diags, "%s", get_axis_help(verifying));
}

/* ---- hardware -------------------------------------------------------------------------------- */

/* What a pair of CTAs shares is of Blackwell. False after a report. */
static bool check_generation(grout_verifying *verifying, grout_loc_id loc, const char *what,
                             const char *instead) {
    if (grout_arch_has(verifying->arch, GROUT_GENERATION_BLACKWELL)) {
        return true;
    }
    grout_verifying__report(verifying, GROUT_DIAG_UNSUPPORTED_ARCH, loc,
                            "%s is for pairs of CTAs, of Blackwell (sm_100a, sm_103a, sm_110a), "
                            "and the kernel is for %s",
                            what, grout_arch_get_text(verifying->arch));
    grout_diags_help(verifying->diags, "on %s: %s; or say --arch sm_100a",
                     grout_arch_get_text(verifying->arch), instead);
    return false;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool is_tmem(const grout_object *object) {
    return object->kind == GROUT_OBJECT_ARRAY && grout_space_needs_tensor_order(object->space);
}

/* The first array in tensor memory of the kernel, or 0. */
static grout_object_id find_first_tmem(const grout_verifying *verifying) {
    for (grout_object_id id = 1; id < grout_module_get_object_count(verifying->module); id++) {
        if (is_tmem(grout_module_get_object(verifying->module, id)) &&
            grout_object__get_kernel(verifying->module, id) == verifying->kernel) {
            return id;
        }
    }
    return 0;
}

static void check_tmem(grout_verifying *verifying, grout_object_id id) {
    const grout_module *module = verifying->module;
    const grout_object *object = grout_module_get_object(module, id);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    const grout_object_id first_id = find_first_tmem(verifying);
    const grout_object *first = grout_module_get_object(module, first_id);
    if (object->is_collective && find_pair_axis(verifying) == 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_PAIR, object->loc,
                                "%s is of a pair of CTAs, and the kernel has none", name.chars);
        grout_diags_help(verifying->diags, "%s", get_axis_help(verifying));
    }
    if (object->is_collective != first->is_collective) {
        grout_verifying__report(
            verifying, GROUT_DIAG_BAD_PAIR, object->loc,
            "%s is %s, and another array in tensor memory is %s: all of a kernel are "
            "allocated alike",
            name.chars, object->is_collective ? "of a pair of CTAs" : "of one CTA",
            object->is_collective ? "of one" : "of a pair");
        grout_verify__note_object(verifying, first_id);
        grout_diags_help(verifying->diags, "write 'collective' after all of them, or after none");
    }
}

/* JAX' rule: one axis, so that there is one CTA with index 0. */
static void check_led_barrier(grout_verifying *verifying, const grout_object *object) {
    const uint32_t axes = object->cluster_groups[0];
    if (object->cluster_group_count == 1 && (axes & (axes - 1)) == 0) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_PAIR, object->loc,
                            "the barrier is leader_tracked along %" PRIu32 " axes: it takes one, "
                            "and the CTA with index 0 leads",
                            object->cluster_group_count == 0 ? 0
                                                             : (uint32_t)__builtin_popcount(axes) +
                                                                   object->cluster_group_count - 1);
    grout_diags_help(verifying->diags, "write cluster(NAME) leader_tracked, with one axis");
}

static void check_barrier(grout_verifying *verifying, const grout_object *object) {
    if (!object->is_leader_tracked) {
        return;
    }
    if (!object->is_explicit) {
        check_led_barrier(verifying, object);
    } else if (check_generation(verifying, object->loc, "two_ctas",
                                "an mbarrier of each CTA, or one that .cluster(..) names") &&
               find_pair_axis(verifying) == 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_PAIR, object->loc,
                                "the mbarrier is of a pair of CTAs, and the kernel has none");
        grout_diags_help(verifying->diags, "%s", get_axis_help(verifying));
    }
}

static void check_objects(grout_verifying *verifying, const grout_op *op) {
    grout_value_id first;
    const uint32_t count = grout_op_get_made_objects(verifying->module, op, &first);
    for (uint32_t k = 0; k < count; k++) {
        const grout_object_id id = grout_module_get_value(verifying->module, first + k)->object;
        const grout_object *object = grout_module_get_object(verifying->module, id);
        if (is_tmem(object)) {
            check_tmem(verifying, id);
        } else if (object->kind == GROUT_OBJECT_BARRIER) {
            check_barrier(verifying, object);
        }
    }
}

/* ---- MMAs, copies, commits
 * ------------------------------------------------------------------------ */

/* An array in tensor memory that an MMA or a copy uses is of as many CTAs as that. */
static void check_operands(grout_verifying *verifying, const grout_op *op, bool is_of_pair) {
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(verifying->module, op, k);
        grout_view view;
        const grout_object *object = grout_verify__find_object(verifying, operand, &view);
        if (object == NULL || !is_tmem(object) || object->is_collective == is_of_pair) {
            continue;
        }
        grout_verifying__report(
            verifying, GROUT_DIAG_BAD_PAIR, operand->loc, "'%s' is for %s, and %s is of %s",
            grout_verify__get_text(op), is_of_pair ? "a pair of CTAs" : "one CTA",
            grout_verify__get_name(verifying, &view).chars, is_of_pair ? "one" : "a pair");
        grout_verify__note_object(verifying, view.object);
        grout_diags_help(verifying->diags, "%s",
                         is_of_pair ? "write 'collective' after its type"
                                    : "write collective_axis(..), or leave 'collective' out");
    }
}

static void check_collective(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_attr_value *axis = grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXIS);
    const grout_attr_value *multicast = grout_module_find_attr(module, op, GROUT_ATTR_MULTICAST);
    grout_view view;
    if (axis != NULL) {
        check_axis(verifying, op, axis);
    }
    const uint8_t rule = grout_op_get_info((grout_opcode)op->opcode)->rule;
    if (rule == GROUT_RULE_TCGEN05 || rule == GROUT_RULE_TCGEN05_COPY) {
        check_operands(verifying, op, axis != NULL);
        return;
    }
    if (axis != NULL && multicast != NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, multicast->loc,
                                "multicast and collective_axis exclude each other: both say on "
                                "which CTAs' barriers the commit arrives");
        grout_diags_help(verifying->diags, "keep collective_axis for the two of a pair");
    }
    if ((axis != NULL || multicast != NULL) &&
        grout_verify__find_object(verifying, grout_module_get_operand(module, op, 0), &view) !=
            NULL &&
        view.cluster_index_count > 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, (axis ? axis : multicast)->loc,
                                "%s chooses the CTAs on whose barriers the commit arrives, and "
                                ".cluster(..) names one",
                                axis != NULL ? "collective_axis" : "multicast");
        grout_diags_help(verifying->diags, "keep one of the two");
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void check_led_copy(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_attr_value *led = grout_module_find_attr(module, op, GROUT_ATTR_LEADER_TRACKED);
    const grout_attr_value *parts = grout_module_find_attr(module, op, GROUT_ATTR_PARTITIONED);
    const grout_attr_value *axes = grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXES);
    if (led != NULL &&
        !check_generation(verifying, led->loc, "leader_tracked",
                          "each CTA waits on its own barrier: 'collective_axes(..)' alone")) {
        return;
    }
    if (led == NULL && parts != NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_PAIR, parts->loc,
                                "partitioned is of copies that are leader_tracked: on a barrier of "
                                "its own each CTA copies its part for itself");
        grout_diags_help(verifying->diags, "write leader_tracked, or slice the source at the index "
                                           "of the CTA and leave the attributes out");
    }
    if (led != NULL && axes == NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_PAIR, led->loc,
                                "a leader_tracked copy is made by both CTAs of a pair, and none is "
                                "named");
        grout_diags_help(verifying->diags, "write collective_axes(NAME) in front of it; on an "
                                           "mbarrier, declare that two_ctas");
    } else if (led != NULL) {
        check_axis(verifying, op, axes);
    }
}

/* from_cta says whose barrier is served, and that of a pair is the leader's. */
static void check_served(grout_verifying *verifying, const grout_op *op) {
    const grout_attr_value *attr =
        grout_module_find_attr(verifying->module, op, GROUT_ATTR_FROM_CTA);
    grout_view view;
    const grout_object *object =
        attr == NULL ? NULL
                     : grout_verify__find_object(
                           verifying, grout_module_get_operand(verifying->module, op, 0), &view);
    if (object != NULL && object->is_leader_tracked) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_PAIR, attr->loc,
                                "from_cta chooses whose mbarrier gets this, and %s is two_ctas: "
                                "that of the CTA which leads, for both",
                                grout_verify__get_name(verifying, &view).chars);
        grout_diags_help(verifying->diags, "leave from_cta out");
    }
}

void grout_verify__pair(grout_verifying *verifying, const grout_op *op) {
    const uint64_t attrs = grout_op_get_info((grout_opcode)op->opcode)->attrs;
    check_objects(verifying, op);
    check_served(verifying, op);
    if ((attrs & GROUT_ATTR_BIT(COLLECTIVE_AXIS)) != 0) {
        check_collective(verifying, op);
    }
    if ((attrs & GROUT_ATTR_BIT(LEADER_TRACKED)) != 0) {
        check_led_copy(verifying, op);
    }
}
