/*
 * plan_pick.c - ops with indices or a mask: what they pick one by one, and what lies at each pick.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

void grout_planner__cut_view(const grout_planner *planner, uint32_t operand, grout_view *view) {
    const grout_pick *pick = planner->pick;
    for (uint32_t i = 0; pick != NULL && operand == 0 && i < pick->lead; i++) {
        const int dim = grout_pick_get_dim(pick, i);
        view->extent[view->view_dim[dim < 0 ? pick->dim : dim]] = 1;
    }
    if (operand == planner->rows_of) { /* a row at a time: interp/engines/tma_rows.c */
        view->extent[0] = 1;
    }
    if (planner->split >= 0 && operand == 0) {
        view->extent[view->view_dim[planner->split]] /= GROUT_PAIR;
    }
}

static bool is_array(const grout_planner *planner, const grout_op *op, uint32_t operand) {
    return operand != 0 &&
           grout_module_get_operand_type(planner->module,
                                         grout_module_get_operand(planner->module, op, operand))
                   .kind == GROUT_TYPE_ARRAY;
}

/* The stride of a dimension in an array that has all leading ones, or only that of the indices. */
static uint32_t get_stride(const grout_pick *pick, uint32_t dim, bool is_along, uint32_t all) {
    return !is_along ? all : dim == pick->dim ? 1 : 0;
}

static void add_dims(grout_planner *planner, uint32_t index, const grout_op *op,
                     const grout_view *view) {
    const grout_pick *pick = planner->pick;
    const bool has_mask = is_array(planner, op, pick->mask);
    uint32_t strides[GROUT_RANK_MAX], stride = 1;
    for (uint32_t i = pick->lead; i-- > 0; stride *= (uint32_t)pick->type.dims[i]) {
        strides[i] = stride;
    }
    for (uint32_t i = 0; i < pick->lead; i++) {
        const int dim = grout_pick_get_dim(pick, i);
        const grout_slot extent = {.count = (uint32_t)pick->type.dims[i],
                                   .data = dim < 0 ? 0 : view->view_dim[dim] + 1u};
        const grout_slot stride_of = {
            .data = get_stride(pick, i, pick->is_along, strides[i]),
            .mask = has_mask ? get_stride(pick, i, pick->is_mask_along, strides[i]) : 0};
        grout_planner__add_move(planner, index, extent, stride_of);
    }
}

void grout_planner__lower_pick(grout_planner *planner, uint32_t index, const grout_op *op) {
    const grout_pick *pick = planner->pick;
    grout_view view;
    if (!grout_module_get_view(planner->module, grout_module_get_operand(planner->module, op, 0),
                               &view)) {
        planner->failed = true;
        return;
    }
    add_dims(planner, index, op, &view);
    grout_inst *inst = grout_planner__get_inst(planner, index);
    inst->u.pick.count = inst->u.pick.inner = 1;
    for (uint32_t i = 0; i < pick->type.rank; i++) {
        int64_t *size = i < pick->lead ? &inst->u.pick.count : &inst->u.pick.inner;
        *size *= pick->type.dims[i];
    }
    inst->u.pick.limit = pick->limit;
    inst->u.pick.value = pick->value;
    inst->u.pick.indices = pick->indices;
    inst->u.pick.mask = pick->mask;
    inst->u.pick.contiguous =
        (uint8_t)grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_CONTIGUOUS, 1);
    if (pick->destination != 0) { /* its indices wait in a slot: async_copy.c */
        const int64_t bytes = inst->u.pick.count * (int64_t)sizeof(int32_t);
        int64_t *most = &planner->plan->copy_bytes_max;
        *most = bytes > *most ? bytes : *most;
    }
    inst->u.pick.dim = pick->indices == 0 ? 0 : view.view_dim[pick->dim];
}
