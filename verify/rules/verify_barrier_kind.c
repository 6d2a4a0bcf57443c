/* verify_barrier_kind.c - which barriers an operation takes: of the Pallas style (barrier), of the
 * explicit one (mbarrier), cluster barriers, those of another CTA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "grout-internal/text.h"

/* How an operation uses its barrier. */
typedef struct barrier_use {
    uint32_t operand;
    bool takes_barrier, takes_mbarrier;
    bool takes_cluster; /* cluster barriers too */
    bool takes_peer;    /* that of another CTA */
} barrier_use;

/* False if the operation has no barrier. */
static bool find_use(const grout_op *op, barrier_use *use) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync == NULL) {
        return false;
    }
    *use = (barrier_use){.operand = grout_op_find_letter((grout_opcode)op->opcode, 'b')};
    if (use->operand == UINT32_MAX) {
        return false;
    }
    use->takes_barrier = sync->object != GROUT_SYNC_OBJECT_MBARRIER;
    use->takes_mbarrier = sync->object != GROUT_SYNC_OBJECT_BARRIER;
    use->takes_cluster =
        sync->reach != GROUT_SYNC_REACH_OWN && sync->tensor != GROUT_SYNC_TENSOR_SEALS;
    use->takes_peer = sync->reach == GROUT_SYNC_REACH_PEER;
    return true;
}

static void check_face(grout_verifying *verifying, const grout_op *op, const barrier_use *use,
                       const grout_operand *operand, const grout_view *view,
                       const grout_object *object) {
    grout_text remedy = {.allocator = verifying->module->allocator};
    if (object->is_explicit ? use->takes_mbarrier : use->takes_barrier) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, operand->loc,
                            "'%s' takes %s, and %s is %s", grout_verify__get_text(op),
                            use->takes_barrier ? "a barrier" : "an mbarrier",
                            grout_verify__get_name(verifying, view).chars,
                            object->is_explicit ? "an mbarrier" : "a barrier");
    grout_verify__note_object(verifying, view->object);
    grout_verify__add_other_face(op, &remedy);
    grout_diags_help(verifying->diags, "on %s: %s",
                     object->is_explicit ? "an mbarrier" : "a barrier",
                     remedy.data == NULL ? "" : remedy.data);
    grout_text_free(&remedy);
}

/* A cluster barrier counts one arrival a CTA, not one a lane or a copy. */
static void check_cluster(grout_verifying *verifying, const grout_op *op, const barrier_use *use,
                          const grout_operand *operand, const grout_view *view,
                          const grout_object *object) {
    if (object->cluster_group_count == 0 || use->takes_cluster || object->is_explicit) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, operand->loc,
                            "'%s' cannot complete on %s: a cluster barrier counts the arrives of "
                            "CTAs only",
                            grout_verify__get_text(op),
                            grout_verify__get_name(verifying, view).chars);
    grout_verify__note_object(verifying, view->object);
    grout_diags_help(verifying->diags, "use a barrier without cluster(..) for it, and arrive on "
                                       "the cluster barrier after its wait");
}

static void check_peer(grout_verifying *verifying, const grout_op *op, const barrier_use *use,
                       const grout_operand *operand, const grout_view *view) {
    if (view->cluster_index_count == 0 || use->takes_peer) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, operand->loc,
                            "'%s' takes a barrier of its own CTA, and this is %s of another one",
                            grout_verify__get_text(op),
                            grout_verify__get_name(verifying, view).chars);
    grout_diags_help(verifying->diags, "%s",
                     grout_verify__get_remedy(op, GROUT_REMEDY_PEER_BARRIER));
}

/* A commit has no bytes: its multicast is of arrivals. */
static bool starts_engine(const grout_op *op) {
    return grout_op_get_sync((grout_opcode)op->opcode)->mode == GROUT_SYNC_MODE_STARTS;
}

/* The barrier of one other CTA: it has to be there before that CTA's peers use it, and its arrives
 * have to count there alone. */
static void check_peer_object(grout_verifying *verifying, const grout_op *op,
                              const grout_operand *operand, const grout_view *view,
                              const grout_object *object) {
    if (view->cluster_index_count == 0 || object->is_explicit) {
        return;
    }
    if (object->cluster_group_count > 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, operand->loc,
                                "'%s' names one CTA of the cluster barrier %s, whose arrives count "
                                "in all CTAs of its axes",
                                grout_verify__get_text(op),
                                grout_verify__get_name(verifying, view).chars);
        grout_verify__note_object(verifying, view->object);
        grout_diags_help(verifying->diags, "leave out .cluster(..), or declare a barrier without "
                                           "cluster(..) for arrives on one CTA's");
    } else if (grout_module_get_value(verifying->module, view->base)->block != 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, operand->loc,
                                "'%s' may come before the other CTA has entered the scope that "
                                "makes %s",
                                grout_verify__get_text(op),
                                grout_verify__get_name(verifying, view).chars);
        grout_verify__note_object(verifying, view->object);
        grout_diags_help(verifying->diags, "make the barrier by scratch: it is there before any "
                                           "CTA of the cluster goes on");
    }
}

/* Every CTA issues a collective copy and so arrives in its own; one CTA issues a multicast. */
static void check_copy(grout_verifying *verifying, const grout_op *op, const grout_view *view,
                       const grout_object *object) {
    const grout_module *module = verifying->module;
    const grout_attr_value *collective =
        grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXES);
    const grout_attr_value *multicast = grout_module_find_attr(module, op, GROUT_ATTR_MULTICAST);
    if (collective != NULL && multicast == NULL && object->is_explicit) {
        grout_verifying__report(
            verifying, GROUT_DIAG_BARRIER_KIND, collective->loc,
            "with collective_axes '%s' makes an arrival in each CTA, as it does "
            "on a barrier, and %s is an mbarrier",
            grout_verify__get_text(op), grout_verify__get_name(verifying, view).chars);
        grout_verify__note_object(verifying, view->object);
        grout_diags_help(verifying->diags, "on an mbarrier: multicast(..), issued by one CTA for "
                                           "all");
    }
    if (multicast != NULL && collective == NULL && !object->is_explicit) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, multicast->loc,
                                "a multicast brings bytes and no arrival to the other CTAs, which "
                                "takes an mbarrier, and %s is a barrier",
                                grout_verify__get_name(verifying, view).chars);
        grout_verify__note_object(verifying, view->object);
        grout_diags_help(verifying->diags,
                         "on a barrier: collective_axes(..), issued by every CTA");
    }
}

void grout_verify__barrier_kind(grout_verifying *verifying, const grout_op *op) {
    barrier_use use;
    grout_view view;
    if (!find_use(op, &use)) {
        return;
    }
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, use.operand);
    const grout_object *object = grout_verify__find_object(verifying, operand, &view);
    if (object == NULL || object->kind != GROUT_OBJECT_BARRIER) {
        return;
    }
    check_face(verifying, op, &use, operand, &view, object);
    check_cluster(verifying, op, &use, operand, &view, object);
    check_peer(verifying, op, &use, operand, &view);
    if (use.takes_peer) {
        check_peer_object(verifying, op, operand, &view, object);
    }
    if (starts_engine(op)) {
        check_copy(verifying, op, &view, object);
    }
}
