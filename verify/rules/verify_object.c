/* verify_object.c - what objects may be made where, and what cluster barriers count.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

/* Objects of the launch have no place in a scope, which a thread enters as often as it likes. */
static void check_lifetime(grout_verifying *verifying, const grout_object *object) {
    const char *what = NULL, *help = NULL;
    if (object->kind == GROUT_OBJECT_SEMAPHORE && object->is_global) {
        what = "a global semaphore";
        help = "make it by scratch at the top of the kernel, or leave 'global' out: then each CTA "
               "has one of its own";
    } else if (object->kind == GROUT_OBJECT_ARRAY && grout_space_is_of_launch(object->space)) {
        what = "a gmem array";
        help = "make it by scratch at the top of the kernel, with a dimension for the CTAs";
    }
    if (what == NULL) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_SCRATCH_PLACE, object->loc,
                            "%s lives as long as the launch, which has one of it, and this is a "
                            "scope",
                            what);
    grout_diags_help(verifying->diags, "%s", help);
}

/* ---- cluster barriers ------------------------------------------------------------------------ */

/* CTAs along the axes of a set. */
static int64_t count_ctas(const grout_verifying *verifying, uint32_t axes) {
    const grout_kernel *kernel = grout_module_get_kernel(verifying->module, verifying->kernel);
    int64_t count = 1;
    for (uint32_t k = 0; k < kernel->axis_count; k++) {
        if ((axes >> k & 1u) != 0) {
            count *= grout_kernel_get_axis_size(verifying->module, verifying->kernel, k);
        }
    }
    return count;
}

static void check_cluster_arrivals(grout_verifying *verifying, const grout_object *object,
                                   int64_t senders) {
    int64_t arrivals =
        object->arrivals == 0
            ? 1
            : grout_module_get_expr_value(verifying->module, object->arrivals).integer;
    if (arrivals < 1 || arrivals > GROUT_MBARRIER_MAX) { /* reported: verify_sync.c */
        return;
    }
    if (arrivals * senders > GROUT_MBARRIER_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_ARRIVALS, object->loc,
                                "%" PRId64 " arrivals from each of %" PRId64 " CTAs, %" PRId64
                                " a phase: an mbarrier counts 1 to %d",
                                arrivals, senders, arrivals * senders, GROUT_MBARRIER_MAX);
    }
}

static void check_groups(grout_verifying *verifying, const grout_object *object) {
    uint32_t size = grout_kernel_get_cluster_size(verifying->module, verifying->kernel);
    int64_t senders =
        1; /* CTAs whose arrive counts here: the own one, and those along each group */
    if (size == 0 || size > GROUT_CLUSTER_MAX) { /* reported: verify_launch.c */
        return;
    }
    for (uint32_t k = 0; k < object->cluster_group_count; k++) {
        senders += count_ctas(verifying, object->cluster_groups[k]) - 1;
    }
    if (object->cluster_group_count > 0) {
        check_cluster_arrivals(verifying, object, senders);
    }
}

static void check_object(grout_verifying *verifying, grout_value_id value, bool is_scoped) {
    const grout_module *module = verifying->module;
    const grout_object *object =
        grout_module_get_object(module, grout_module_get_value(module, value)->object);
    if (is_scoped) {
        check_lifetime(verifying, object);
    }
    check_groups(verifying, object);
}

void grout_verify__objects(grout_verifying *verifying, const grout_op *op) {
    grout_value_id first;
    uint32_t count = grout_op_get_made_objects(verifying->module, op, &first);
    for (uint32_t k = 0; k < count; k++) {
        check_object(verifying, first + k, op->block_count > 0);
    }
}
