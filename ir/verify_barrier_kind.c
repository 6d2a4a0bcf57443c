/* verify_barrier_kind.c - which barriers an operation takes: of the Pallas face (barrier), of the
 * explicit one (mbarrier), cluster barriers, those of another CTA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

/* How an operation uses its barrier. */
typedef struct barrier_use {
    uint32_t operand;
    bool takes_barrier, takes_mbarrier;
    bool takes_cluster; /* cluster barriers too */
    bool takes_peer;    /* that of another CTA */
    const char *other;  /* what does it on a barrier of the other kind */
    const char *peer;   /* what does it where takes_peer is false */
} barrier_use;

#define LOCAL_WAIT   "a wait is local on the hardware: wait in the CTA that the barrier lies in"
#define LOCAL_OBJECT "each CTA initialises and invalidates its own"

/* False if the operation has no barrier. */
static bool find_use(const grout_op *op, barrier_use *use) {
    const barrier_use pallas = {.takes_barrier = true, .takes_cluster = true};
    const barrier_use explicit_ = {.takes_mbarrier = true};
    *use = pallas;
    switch (op->opcode) {
    case GROUT_OP_BARRIER_ARRIVE:
        use->other = "mbarrier_arrive %bar[i]";
        use->peer = "declare the barrier with cluster(..): an arrive then counts in the other "
                    "CTAs too; or use an mbarrier, which mbarrier_arrive reaches anywhere";
        return true;
    case GROUT_OP_BARRIER_WAIT:
        use->other = "mbarrier_wait %bar[i], PARITY";
        use->peer = LOCAL_WAIT;
        return true;
    case GROUT_OP_BARRIER_TEST:
        use->other = "mbarrier_test %bar[i], PARITY";
        use->peer = LOCAL_WAIT;
        return true;
    case GROUT_OP_COPY_GMEM_TO_SMEM:
        *use = (barrier_use){.operand = 2, .takes_barrier = true, .takes_mbarrier = true};
        use->peer = "collective_axes(..) on a barrier, or multicast(..) on an mbarrier, bring "
                    "data and bytes to the other CTAs";
        return true;
    case GROUT_OP_ASYNC_COPY_ARRIVE:
        *use = (barrier_use){.takes_barrier = true, .takes_mbarrier = true};
        use->peer = "async_copy_wait 0, then mbarrier_arrive at the other CTA's mbarrier";
        return true;
    case GROUT_OP_ASYNC_STORE_SMEM:
        *use = (barrier_use){
            .operand = 2, .takes_barrier = true, .takes_mbarrier = true, .takes_cluster = true};
        use->peer = "the barrier is that of the destination's CTA in any case: write it without "
                    ".cluster(..)";
        return true;
    case GROUT_OP_MBARRIER_INIT:
        *use = explicit_;
        use->other = "nothing: a barrier is ready from the start, for arrivals(n) a phase";
        use->peer = LOCAL_OBJECT;
        return true;
    case GROUT_OP_MBARRIER_INVALIDATE:
        *use = explicit_;
        use->other = "nothing: a barrier ends with its scope";
        use->peer = LOCAL_OBJECT;
        return true;
    case GROUT_OP_MBARRIER_EXPECT:
        *use = explicit_;
        use->takes_peer = true;
        use->other = "nothing: a copy announces its own bytes there, and makes an arrival";
        return true;
    case GROUT_OP_MBARRIER_ARRIVE:
        *use = explicit_;
        use->takes_peer = true;
        use->other = "barrier_arrive %bar[i]";
        return true;
    case GROUT_OP_MBARRIER_WAIT:
        *use = explicit_;
        use->other = "barrier_wait %bar[i], which counts the phases itself";
        use->peer = LOCAL_WAIT;
        return true;
    case GROUT_OP_MBARRIER_TEST:
        *use = explicit_;
        use->other = "barrier_test %bar[i], which counts the phases itself";
        use->peer = LOCAL_WAIT;
        return true;
    default:
        return false;
    }
}

static void check_face(grout_verifying *verifying, const grout_op *op, const barrier_use *use,
                       const grout_operand *operand, const grout_view *view,
                       const grout_object *object) {
    if (object->is_explicit ? use->takes_mbarrier : use->takes_barrier) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, operand->loc,
                            "'%s' takes %s, and %s is %s", grout_verify__get_text(op),
                            use->takes_barrier ? "a barrier" : "an mbarrier",
                            grout_verify__get_name(verifying, view).chars,
                            object->is_explicit ? "an mbarrier" : "a barrier");
    grout_verify__note_object(verifying, view->object);
    grout_diags_help(verifying->diags, "on %s: %s",
                     object->is_explicit ? "an mbarrier" : "a barrier", use->other);
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
    grout_diags_help(verifying->diags, "%s", use->peer);
}

/* Every CTA issues a collective copy and so arrives in its own; one CTA issues a multicast. */
static void check_copy(grout_verifying *verifying, const grout_op *op, const grout_view *view,
                       const grout_object *object) {
    const grout_module *module = verifying->module;
    const grout_attr_value *collective =
        grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE_AXES);
    const grout_attr_value *multicast = grout_module_find_attr(module, op, GROUT_ATTR_MULTICAST);
    grout_value_text name = grout_verify__get_name(verifying, view);
    if (collective != NULL && multicast == NULL && object->is_explicit) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, collective->loc,
                                "a collective copy makes an arrival in each CTA, as copies do on "
                                "a barrier, and %s is an mbarrier",
                                name.chars);
        grout_verify__note_object(verifying, view->object);
        grout_diags_help(verifying->diags, "on an mbarrier: multicast(..), issued by one CTA for "
                                           "all");
    }
    if (multicast != NULL && collective == NULL && !object->is_explicit) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_KIND, multicast->loc,
                                "a multicast brings bytes and no arrival to the other CTAs, which "
                                "takes an mbarrier, and %s is a barrier",
                                name.chars);
        grout_verify__note_object(verifying, view->object);
        grout_diags_help(verifying->diags, "on a barrier: collective_axes(..), issued by every "
                                           "CTA");
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
    if (op->opcode == GROUT_OP_COPY_GMEM_TO_SMEM) {
        check_copy(verifying, op, &view, object);
    }
}
