/* verify_order.c - which order(..) and scope(..) an operation may say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

/* The orders that an operation takes, the unwritten one first, and how messages list them. */
typedef struct order_rule {
    grout_choice orders[4];
    uint32_t count;
    const char *text, *reason;
} order_rule;

static const order_rule release_rule = {{GROUT_CHOICE_ORDER_RELEASE, GROUT_CHOICE_ORDER_RELAXED},
                                        2,
                                        "release (unwritten) or relaxed",
                                        "it lets others know, and learns nothing"};
static const order_rule acquire_rule = {{GROUT_CHOICE_ORDER_ACQUIRE, GROUT_CHOICE_ORDER_RELAXED},
                                        2,
                                        "acquire (unwritten) or relaxed",
                                        "it learns from others, and lets nobody know"};
static const order_rule both_rule = {{GROUT_CHOICE_ORDER_ACQ_REL, GROUT_CHOICE_ORDER_RELAXED},
                                     2,
                                     "acq_rel (unwritten) or relaxed",
                                     "it is an arrive and a wait"};

static const order_rule trigger_rule = {{GROUT_CHOICE_ORDER_RELAXED, GROUT_CHOICE_ORDER_RELEASE},
                                        2,
                                        "relaxed (unwritten) or release",
                                        "it learns nothing from others"};

/* NULL: any order, or none at all. */
static const order_rule *find_rule(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync != NULL && sync->object == GROUT_SYNC_OBJECT_GRIDS &&
        sync->mode == GROUT_SYNC_MODE_POSTS) {
        return &trigger_rule;
    }
    switch (sync == NULL ? GROUT_SYNC_SIDE_NONE : (grout_sync_side)sync->side) {
    case GROUT_SYNC_SIDE_RELEASE:
        return &release_rule;
    case GROUT_SYNC_SIDE_ACQUIRE:
        return &acquire_rule;
    case GROUT_SYNC_SIDE_BOTH:
        return &both_rule;
    case GROUT_SYNC_SIDE_NONE:
        break;
    }
    return NULL;
}

static void check_order(grout_verifying *verifying, const grout_op *op) {
    const grout_attr_value *attr = grout_module_find_attr(verifying->module, op, GROUT_ATTR_ORDER);
    const order_rule *rule = find_rule(op);
    bool is_taken = attr == NULL || rule == NULL;
    for (uint32_t k = 0; !is_taken && k < rule->count; k++) {
        is_taken = rule->orders[k] == (grout_choice)attr->choice;
    }
    if (is_taken || attr->choice == GROUT_CHOICE_NONE) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                            "order(%s): '%s' takes %s: %s",
                            grout_choice_get_info((grout_choice)attr->choice)->text,
                            grout_verify__get_text(op), rule->text, rule->reason);
}

/* Whether it works on an mbarrier, whose instructions have two scopes (PTX ISA 9.1). */
static bool is_barrier_op(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && (sync->object == GROUT_SYNC_OBJECT_BARRIER ||
                            sync->object == GROUT_SYNC_OBJECT_MBARRIER ||
                            sync->object == GROUT_SYNC_OBJECT_ANY_BARRIER);
}

static void check_scope(grout_verifying *verifying, const grout_op *op) {
    const grout_attr_value *attr = grout_module_find_attr(verifying->module, op, GROUT_ATTR_SCOPE);
    if (attr == NULL || !is_barrier_op(op) ||
        (attr->choice != GROUT_CHOICE_SCOPE_GPU && attr->choice != GROUT_CHOICE_SCOPE_SYS)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                            "scope(%s): a barrier lies in SMEM, and '%s' takes cta or cluster",
                            grout_choice_get_info((grout_choice)attr->choice)->text,
                            grout_verify__get_text(op));
    grout_diags_help(verifying->diags,
                     "threads of other clusters are reached by a semaphore, not by a barrier");
}

void grout_verify__order(grout_verifying *verifying, const grout_op *op) {
    check_order(verifying, op);
    check_scope(verifying, op);
}
