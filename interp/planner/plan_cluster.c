/*
 * plan_cluster.c - what a kernel says about its cluster: which objects other CTAs reach, orders and
 * scopes, sets of CTAs, places of references.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

#include "grout-internal/verify.h"

#include <string.h>

/* ---- the kernel as a whole ------------------------------------------------------------------- */

/* An object that an operand names: other CTAs reach it. */
static void share_operand(grout_planner *planner, const grout_op *op, uint32_t index) {
    grout_view view;
    if (index < op->operand_count &&
        grout_module_get_view(planner->module, grout_module_get_operand(planner->module, op, index),
                              &view)) {
        planner->object_is_shared[view.object] = true;
    }
}

static void add_collective(grout_plan *plan, uint32_t axes) {
    for (uint32_t i = 0; i < plan->collective_count; i++) {
        if (plan->collective_axes[i] == axes) {
            return;
        }
    }
    uint32_t room = sizeof plan->collective_axes;
    if (plan->collective_count < room) {
        plan->collective_axes[plan->collective_count++] = (uint8_t)axes;
    }
}

/* Whether it acquires from a barrier's phase; a narrow scope matters only for such an op. */
static bool is_wait(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && (sync->side & GROUT_SYNC_SIDE_ACQUIRE) != 0 &&
           sync->scope == GROUT_SYNC_SCOPE_SHARERS;
}

/* Whether it comes to the hardware barrier of the cluster, or waits there. */
static bool meets_cluster(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_CLUSTER;
}

bool grout_planner__is_in_while(const grout_planner *planner, const grout_op *op) {
    grout_block_id block = op->parent;
    for (;;) {
        grout_op_id parent = grout_module_get_block(planner->module, block)->parent;
        const grout_op *region = parent ? grout_module_get_op(planner->module, parent) : NULL;
        if (region == NULL || grout_op_get_region((grout_opcode)region->opcode)->blocks == 2) {
            return region != NULL;
        }
        block = region->parent;
    }
}

static bool is_read_only(const grout_planner *planner, grout_object_id object) {
    for (uint32_t i = 0; i < planner->kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(planner->module, planner->kernel, i);
        if (param->object == object) {
            return param->direction == GROUT_DIRECTION_IN;
        }
    }
    return false;
}

/* A loop may wait for another CTA if it looks at GMEM that the kernel may write. */
static bool is_looked_for(const grout_planner *planner, const grout_op *op,
                          grout_object_id object) {
    return grout_op_get_info(op->opcode)->rule == GROUT_RULE_LOAD &&
           grout_space_is_of_launch(grout_module_get_object(planner->module, object)->space) &&
           !is_read_only(planner, object) && grout_planner__is_in_while(planner, op);
}

/* How an op uses the array that an operand refers to. */
static uint8_t get_use(grout_opcode opcode, uint32_t operand) {
    const grout_effect *effect = grout_op_find_effect(opcode, operand);
    if (effect == NULL) {
        return 0;
    }
    if (grout_op_get_letter(opcode, operand) == 'G') {
        return effect->access == GROUT_ACCESS_READ ? GROUT_USED_TMA_READ : GROUT_USED_TMA_WRITTEN;
    }
    return effect->access != GROUT_ACCESS_READ &&
                   grout_op_get_info(opcode)->rule == GROUT_RULE_STORE
               ? GROUT_USED_STORED
               : 0;
}

/* The references of an op: a peer's SMEM through plain accesses needs PS for each CTA. */
static void scan_views(grout_planner *planner, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info(op->opcode);
    planner->has_gmem_commit |= info->effect_row == GROUT_EFFECT_ROW_COMMIT_GMEM;
    const bool is_fetch = info->rule == GROUT_RULE_FETCH;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        grout_view view;
        if (!grout_module_get_view(planner->module,
                                   grout_module_get_operand(planner->module, op, i), &view)) {
            continue;
        }
        const grout_object *object = grout_module_get_object(planner->module, view.object);
        if (view.cluster_index_count > 0) {
            planner->object_is_shared[view.object] = true;
            const bool is_plain = grout_op_get_letter((grout_opcode)op->opcode, i) == 'r';
            planner->plan->order.owners = is_plain && object->kind == GROUT_OBJECT_ARRAY
                                              ? planner->plan->shape.cta_count
                                              : planner->plan->order.owners;
        }
        planner->object_uses[view.object] |= get_use((grout_opcode)op->opcode, i);
        planner->object_is_shared[view.object] |=
            object->cluster_group_count > 0 || object->is_leader_tracked;
        planner->plan->needs_clocks |= object->is_explicit;
        const bool is_semaphore = object->kind == GROUT_OBJECT_SEMAPHORE && object->is_global;
        const bool is_foreign_fetch = is_fetch && grout_space_is_of_launch(object->space);
        const bool is_look = is_looked_for(planner, op, view.object);
        planner->plan->has_foreign_order |= is_semaphore || is_foreign_fetch || is_look;
        planner->plan->has_foreign_loop |=
            is_look || ((is_semaphore || is_foreign_fetch) && op->result_count > 0 &&
                        grout_planner__is_in_while(planner, op));
    }
}

/* The letters of operands in which other CTAs have a part, by what the op is written with. */
static const char *get_shared_letters(const grout_planner *planner, const grout_op *op) {
    const uint64_t attrs = grout_op_get_attr_bits(planner->module, op);
    const bool posts = grout_op_find_letter((grout_opcode)op->opcode, 'b') != UINT32_MAX;
    if ((attrs & GROUT_ATTR_BIT(COLLECTIVE_AXIS)) != 0) {
        return posts ? "b" : "Tnh";
    }
    return (attrs & (GROUT_ATTR_BIT(COLLECTIVE_AXES) | GROUT_ATTR_BIT(MULTICAST))) != 0 ? "Hhb"
                                                                                        : "";
}

/* Operands that other CTAs reach without a '.cluster(..)'. */
static void share_operands(grout_planner *planner, const grout_op *op) {
    const char *letters = get_shared_letters(planner, op);
    for (uint32_t i = 0; letters[0] != '\0' && i < op->operand_count; i++) {
        if (strchr(letters, grout_op_get_letter((grout_opcode)op->opcode, i)) != NULL) {
            share_operand(planner, op, i);
        }
    }
}

/* Whether an engine brings the barrier of another CTA something by itself. */
static bool posts_to_peers(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS &&
           sync->object == GROUT_SYNC_OBJECT_ANY_BARRIER && sync->reach != GROUT_SYNC_REACH_OWN;
}

static bool waits_for_grid(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_WAITS &&
           sync->object == GROUT_SYNC_OBJECT_GRIDS;
}

static void scan_op(grout_planner *planner, const grout_op *op) {
    const grout_module *module = planner->module;
    grout_plan *plan = planner->plan;
    uint32_t collective = grout_op_get_axes(module, op, GROUT_ATTR_COLLECTIVE_AXES);
    if (collective != 0) {
        add_collective(plan, collective);
    }
    plan->has_multicast |= grout_op_get_axes(module, op, GROUT_ATTR_MULTICAST) != 0;
    plan->has_pairs |= grout_op_get_axes(module, op, GROUT_ATTR_COLLECTIVE_AXIS) != 0;
    plan->needs_clocks |= grout_module_find_attr(module, op, GROUT_ATTR_LEADER_TRACKED) != NULL;
    share_operands(planner, op);
    if (grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_CANCEL) {
        plan->hands_out = true;
        plan->has_foreign_order = true; /* which clusters run depends on how far others are */
    }
    if (waits_for_grid(op)) {
        plan->shape.grid_count = 1;
    }
    if (posts_to_peers(op)) {
        plan->needs_clocks = true;
        share_operand(planner, op, grout_op_find_letter((grout_opcode)op->opcode, 'b'));
    }
    if (grout_module_find_attr(module, op, GROUT_ATTR_FROM_CTA) != NULL) {
        share_operand(planner, op, 0);
    }
    const bool is_relaxed =
        grout_op_get_choice(module, op, GROUT_ATTR_ORDER) == GROUT_CHOICE_ORDER_RELAXED;
    plan->has_narrow_waits |=
        plan->shape.cta_count > 1 && is_wait(op) &&
        (is_relaxed || grout_op_get_choice(module, op, GROUT_ATTR_SCOPE) == GROUT_CHOICE_SCOPE_CTA);
    plan->has_relaxed_meetings |= plan->shape.cta_count > 1 && is_relaxed && meets_cluster(op);
    if (grout_op_get_region_kind(op) == GROUT_REGION_WARPS) {
        plan->shape.lanes_per_thread = GROUT_WARPS;
    } else if (grout_op_get_region_kind(op) == GROUT_REGION_PARTITIONS) {
        plan->runner_count = 1;
    }
    scan_views(planner, op);
}

static void scan_block(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        scan_op(planner, op);
        for (uint32_t i = 0; i < op->block_count; i++) {
            scan_block(planner, op->first_block + i);
        }
    }
}

void grout_planner__scan(grout_planner *planner) {
    grout_plan *plan = planner->plan;
    const grout_kernel *kernel = planner->kernel;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == GROUT_AXIS_CLUSTER &&
            plan->cluster_axis_count < GROUT_CLUSTER_AXES_MAX) {
            plan->cluster_axes[plan->cluster_axis_count++] = i;
        }
    }
    plan->shape.thread_count = grout_kernel_get_thread_count(planner->module, plan->kernel);
    plan->warp_count = grout_kernel_get_warp_count(planner->module, plan->kernel);
    for (uint32_t k = 0; k < GROUT_THREADS_MAX; k++) {
        plan->thread_warps[k] = grout_kernel_get_thread_warps(planner->module, plan->kernel, k);
    }
    plan->shape.cta_count = grout_kernel_get_cluster_size(planner->module, plan->kernel);
    plan->shape.lanes_per_thread = 1;
    plan->runner_count = plan->shape.thread_count;
    plan->order.owners = 1;
    plan->has_exit_sync = grout_kernel_has_exit_sync(planner->module, plan->kernel);
    scan_block(planner, planner->body);
    plan->lane_count = plan->shape.thread_count * plan->shape.lanes_per_thread;
    plan->actor_count = plan->shape.thread_count;
    if (plan->shape.lanes_per_thread > 1) {
        plan->actor_count += plan->lane_count;
    }
}

/* ---- an op ----------------------------------------------------------------------------------- */

/* The order of an op without order(..); atomics are relaxed. */
static uint8_t get_default_order(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    switch (sync == NULL ? GROUT_SYNC_SIDE_NONE : (grout_sync_side)sync->side) {
    case GROUT_SYNC_SIDE_RELEASE:
        return GROUT_CHOICE_ORDER_RELEASE;
    case GROUT_SYNC_SIDE_ACQUIRE:
        return GROUT_CHOICE_ORDER_ACQUIRE;
    case GROUT_SYNC_SIDE_BOTH:
        return GROUT_CHOICE_ORDER_ACQ_REL;
    case GROUT_SYNC_SIDE_NONE:
        break;
    }
    return GROUT_CHOICE_ORDER_RELAXED;
}

/* The scope of an op without a line in sync.def: the threads that can reach the memory. */
static uint8_t get_memory_scope(const grout_planner *planner, const grout_inst *inst,
                                uint8_t shared) {
    if (inst->box_count == 0) {
        return shared;
    }
    const grout_box_plan *box = grout_plan__box(planner->plan, inst, inst->box_count - 1u);
    return grout_space_is_of_launch(box->space) ? GROUT_CHOICE_SCOPE_GPU : shared;
}

/* The scope of an op without scope(..). */
static uint8_t get_default_scope(const grout_planner *planner, const grout_inst *inst,
                                 const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    uint8_t shared =
        planner->plan->shape.cta_count > 1 ? GROUT_CHOICE_SCOPE_CLUSTER : GROUT_CHOICE_SCOPE_CTA;
    if (sync == NULL) {
        return get_memory_scope(planner, inst, shared);
    }
    switch ((grout_sync_scope)sync->scope) {
    case GROUT_SYNC_SCOPE_SYS:
        return GROUT_CHOICE_SCOPE_SYS;
    case GROUT_SYNC_SCOPE_SHARERS: {
        const grout_box_plan *box = grout_plan__box(planner->plan, inst, inst->box_count - 1u);
        return planner->object_is_shared[box->object] ? shared : GROUT_CHOICE_SCOPE_CTA;
    }
    case GROUT_SYNC_SCOPE_CLUSTER:
        return shared;
    case GROUT_SYNC_SCOPE_THREAD:
    case GROUT_SYNC_SCOPE_CTA:
        break;
    }
    return GROUT_CHOICE_SCOPE_CTA;
}

/* CTAs that differ only along some axes. */
static uint32_t count_group(const grout_planner *planner, uint32_t axes) {
    uint32_t count = 0;
    uint32_t mask = grout_kernel_get_cluster_mask(planner->module, planner->plan->kernel, axes, 0);
    for (; mask != 0; mask &= mask - 1) {
        count++;
    }
    return count;
}

/* The outermost dimension whose extent the CTAs divide; the innermost only if it is not swizzled.
 */
static int8_t find_dividable(const grout_planner *planner, const grout_inst *inst) {
    const grout_box_plan *to = grout_plan__box(planner->plan, inst, 1);
    uint32_t count = count_group(planner, inst->u.copy.axes);
    for (uint32_t i = to->rank; count > 0 && i-- > 0;) {
        if (i == 0 && to->layout->swizzle != 0) {
            break;
        }
        int64_t extent = to->extent[to->order[to->rank - 1 - i]];
        if (extent > 1 && extent % count == 0) {
            return (int8_t)i;
        }
    }
    return -1;
}

/* The dimension that a collective copy splits, counted from the innermost one of the reference: the
 * one that the GPU splits or, where there is no such copy ('--arch any'), one that can be split. */
static int8_t find_part_dim(const grout_planner *planner, const grout_inst *inst,
                            const grout_op *op) {
    const grout_module *module = planner->module;
    grout_tma tma;
    grout_view view;
    if (!grout_tma_plan(module, inst->op, &tma, NULL) || tma.part_count <= 1 ||
        !grout_module_get_view(module, grout_module_get_operand(module, op, 1), &view)) {
        return find_dividable(planner, inst);
    }
    return (int8_t)(view.view_rank - 1 - tma.part_dim);
}

static void lower_axes(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_plan *plan = planner->plan;
    uint32_t axes = grout_op_get_axes(planner->module, op, GROUT_ATTR_COLLECTIVE_AXES);
    inst->u.copy.is_collective = axes != 0;
    inst->u.copy.part_dim = inst->u.copy.split_dim = -1;
    inst->u.copy.is_led =
        grout_module_find_attr(planner->module, op, GROUT_ATTR_LEADER_TRACKED) != NULL;
    const int64_t split =
        grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_PARTITIONED, -1);
    grout_view from;
    if (split >= 0 &&
        grout_module_get_view(planner->module, grout_module_get_operand(planner->module, op, 0),
                              &from)) {
        inst->u.copy.split_dim = (int8_t)from.view_dim[split];
    }
    inst->u.copy.axes =
        (uint8_t)(axes != 0 ? axes : grout_op_get_axes(planner->module, op, GROUT_ATTR_MULTICAST));
    if (inst->u.copy.is_collective) {
        while (inst->u.copy.collective + 1u < plan->collective_count &&
               plan->collective_axes[inst->u.copy.collective] != axes) {
            inst->u.copy.collective++;
        }
        const bool is_copy = grout_op_find_letter((grout_opcode)op->opcode, 'G') != UINT32_MAX;
        if (is_copy && count_group(planner, axes) > 1 && inst->u.copy.split_dim < 0) {
            inst->u.copy.part_dim = find_part_dim(planner, inst, op);
        }
    }
}

bool grout_planner__is_for_all(const grout_planner *planner, const grout_op *op) {
    const grout_plan *plan = planner->plan;
    grout_block_id body = 0;
    return plan->runner_count < plan->shape.thread_count &&
           grout_op_find_around(planner->module, op, GROUT_REGION_PARTITIONS, &body) == NULL;
}

void grout_planner__lower_cluster(grout_planner *planner, uint32_t index, const grout_op *op) {
    const grout_module *module = planner->module;
    grout_inst *inst = grout_planner__get_inst(planner, index);
    uint64_t attrs = grout_op_get_info(op->opcode)->attrs;
    inst->order = (uint8_t)grout_op_get_choice(module, op, GROUT_ATTR_ORDER);
    inst->edge_scope = (uint8_t)grout_op_get_choice(module, op, GROUT_ATTR_SCOPE);
    inst->reduction =
        (uint8_t)grout_update_from_choice(grout_op_get_choice(module, op, GROUT_ATTR_REDUCE));
    inst->update = grout_op_get_info(op->opcode)->update;
    inst->is_for_all = grout_planner__is_for_all(planner, op);
    if (inst->order == GROUT_CHOICE_NONE) {
        inst->order = get_default_order(op);
    }
    if (planner->launch->relaxed != NULL && planner->launch->relaxed[inst->op]) {
        inst->order = GROUT_CHOICE_ORDER_RELAXED;
    }
    if (inst->edge_scope == GROUT_CHOICE_NONE) {
        inst->edge_scope = get_default_scope(planner, inst, op);
    }
    if ((attrs & GROUT_ATTR_BIT(COLLECTIVE_AXIS)) != 0 &&
        (attrs & GROUT_ATTR_BIT(MULTICAST)) != 0) {
        inst->u.arrive.axes = (uint8_t)(grout_op_get_axes(module, op, GROUT_ATTR_COLLECTIVE_AXIS) |
                                        grout_op_get_axes(module, op, GROUT_ATTR_MULTICAST));
    } else if ((attrs & (GROUT_ATTR_BIT(COLLECTIVE_AXES) | GROUT_ATTR_BIT(MULTICAST))) != 0) {
        lower_axes(planner, inst, op);
    }
}
