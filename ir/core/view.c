/* view.c - references resolved: which box of which object an operand means.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <string.h>

/* The value that an operand refers to. *ref_out: the reference that says so, or 0. */
static grout_value_id get_base(const grout_module *module, const grout_operand *operand,
                               grout_ref_id *ref_out) {
    *ref_out = 0;
    if (operand->kind == GROUT_OPERAND_REF) {
        *ref_out = operand->id;
        return grout_module_get_ref(module, operand->id)->base;
    }
    return operand->kind == GROUT_OPERAND_VALUE ? operand->id : 0;
}

const grout_op *grout_value__get_descriptor(const grout_module *module, grout_value_id id) {
    const grout_value *value = grout_module_get_value(module, id);
    const grout_op *op =
        value->kind == GROUT_VALUE_RESULT ? grout_module_get_op(module, value->op) : NULL;
    return op != NULL && grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_DESCRIPTOR
               ? op
               : NULL;
}

static bool is_made(const grout_op *descriptor) {
    return grout_op_get_info((grout_opcode)descriptor->opcode)->effect_row != GROUT_EFFECT_ROW_PURE;
}

const grout_op *grout_view_find_made_descriptor(const grout_module *module,
                                                const grout_view *view) {
    const grout_op *op =
        view->descriptor == 0 ? NULL : grout_value__get_descriptor(module, view->descriptor);
    return op != NULL && is_made(op) ? op : NULL;
}

const grout_operand *grout_descriptor_get_array(const grout_module *module, const grout_op *op) {
    return grout_module_get_operand(module, op, is_made(op) ? 1 : 0);
}

const grout_operand *grout_descriptor_get_start(const grout_module *module, const grout_op *op,
                                                uint32_t dim) {
    return grout_module_get_operand(module, op, 2 + dim);
}

const grout_operand *grout_descriptor_get_extent(const grout_module *module, const grout_op *op,
                                                 uint32_t dim) {
    return grout_module_get_operand(module, op, 2 + (op->operand_count - 2) / 2 + dim);
}

void grout_view_drop_origin(const grout_module *module, grout_view *view) {
    const grout_op *op = grout_view_find_made_descriptor(module, view);
    for (uint32_t dim = 0; op != NULL && dim < view->rank; dim++) {
        const grout_operand *start = grout_descriptor_get_start(module, op, dim);
        if (start->kind == GROUT_OPERAND_EXPR) {
            view->start_const[dim] -= module->bound->expr_values[start->id].integer;
        } else { /* the last term that apply_box added */
            view->start_term_count[dim]--;
        }
    }
}

/* A value's object; of a descriptor the array that it was made of, also in *descriptor_out. 0: it
 * is no reference. */
static grout_object_id find_object(const grout_module *module, grout_value_id base,
                                   grout_value_id *descriptor_out) {
    const grout_op *descriptor = grout_value__get_descriptor(module, base);
    *descriptor_out = 0;
    if (descriptor == NULL) {
        return grout_module_get_value(module, base)->object;
    }
    const grout_operand *array = grout_descriptor_get_array(module, descriptor);
    *descriptor_out = base;
    return module->bound->value_types[base].kind == GROUT_TYPE_DESCRIPTOR
               ? grout_module_get_value(module, array->id)->object
               : 0; /* a fault, reported */
}

grout_kernel_id grout_object__get_kernel(const grout_module *module, grout_object_id id) {
    const grout_value *value =
        grout_module_get_value(module, grout_module_get_object(module, id)->value);
    if (value->op == 0) {
        return 0;
    }
    return grout_module_get_block(module, grout_module_get_op(module, value->op)->parent)->kernel;
}

static void begin_view(grout_view *view, const grout_module *module, grout_object_id object) {
    const grout_type *type = &module->bound->object_types[object];
    GROUT_ASSERT(object > 0 && type->rank <= GROUT_RANK_MAX);
    memset(view, 0, sizeof *view);
    view->object = object;
    view->base = grout_module_get_object(module, object)->value;
    view->rank = type->rank;
    view->view_rank = type->rank;
    view->packed = 1;
    for (uint8_t dim = 0; dim < type->rank; dim++) {
        view->view_dim[dim] = dim;
        view->extent[dim] = type->dims[dim];
    }
}

/* Adds a start to dimension dim of the object. */
static grout_view_fault add_start(const grout_module *module, grout_view *view, uint32_t dim,
                                  const grout_operand *start) {
    if (start->kind == GROUT_OPERAND_EXPR) {
        const grout_expr_value *value = &module->bound->expr_values[start->id];
        if (value->is_float || value->is_bool || value->integer < INT32_MIN ||
            value->integer > INT32_MAX ||
            __builtin_add_overflow(view->start_const[dim], value->integer,
                                   &view->start_const[dim])) {
            return GROUT_VIEW_START;
        }
        return GROUT_VIEW_FINE;
    }
    if (view->start_term_count[dim] == GROUT_VIEW_TERMS_MAX) {
        return GROUT_VIEW_TERMS;
    }
    view->start_terms[dim][view->start_term_count[dim]++] = start->id;
    return GROUT_VIEW_FINE;
}

static grout_view_fault apply_index(const grout_module *module, grout_view *view, uint32_t dim,
                                    const grout_index *index) {
    switch ((grout_index_kind)index->kind) {
    case GROUT_INDEX_ALL:
        return GROUT_VIEW_FINE;
    case GROUT_INDEX_AT:
        view->is_squeezed[dim] = true;
        view->extent[dim] = 1;
        return add_start(module, view, dim, &index->start);
    case GROUT_INDEX_SLICE: {
        const grout_expr_value *size = &module->bound->expr_values[index->size];
        if (size->is_float || size->is_bool || size->integer < 1 || size->integer > GROUT_DIM_MAX) {
            return GROUT_VIEW_SIZE;
        }
        view->extent[dim] = size->integer;
        return add_start(module, view, dim, &index->start);
    }
    }
    return GROUT_VIEW_FINE;
}

/* Leaves in view_dim the dimensions that are not squeezed. */
static void drop_squeezed(grout_view *view) {
    uint8_t kept = 0;
    for (uint32_t k = 0; k < view->view_rank; k++) {
        if (!view->is_squeezed[view->view_dim[k]]) {
            view->view_dim[kept++] = view->view_dim[k];
        }
    }
    view->view_rank = kept;
}

static grout_view_fault apply_indices(const grout_module *module, grout_view *view,
                                      const grout_ref_step *step, uint32_t *index_out) {
    for (uint32_t k = 0; k < step->count; k++) {
        *index_out = k;
        if (k >= view->view_rank) {
            return GROUT_VIEW_TOO_MANY;
        }
        const grout_index *index = grout_module_get_index(module, step, k);
        grout_view_fault fault = apply_index(module, view, view->view_dim[k], index);
        if (fault != GROUT_VIEW_FINE) {
            return fault;
        }
    }
    drop_squeezed(view);
    return GROUT_VIEW_FINE;
}

static grout_view_fault apply_transpose(const grout_module *module, grout_view *view,
                                        const grout_ref_step *step) {
    uint8_t old[GROUT_RANK_MAX];
    bool is_taken[GROUT_RANK_MAX] = {false};
    if (step->count != view->view_rank) {
        return GROUT_VIEW_PERMUTATION;
    }
    memcpy(old, view->view_dim, sizeof old);
    for (uint32_t k = 0; k < step->count; k++) {
        grout_expr_id expr = grout_module_get_index(module, step, k)->size;
        const grout_expr_value *from = &module->bound->expr_values[expr];
        if (from->is_float || from->is_bool || from->integer < 0 ||
            from->integer >= view->view_rank || is_taken[from->integer]) {
            return GROUT_VIEW_PERMUTATION;
        }
        is_taken[from->integer] = true;
        view->view_dim[k] = old[from->integer];
    }
    return GROUT_VIEW_FINE;
}

static uint32_t count_cluster_axes(const grout_module *module, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(module, id);
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        count += kernel->axes[i].kind == GROUT_AXIS_CLUSTER;
    }
    return count;
}

/* The same object in another CTA of the cluster. */
static grout_view_fault apply_cluster(const grout_module *module, grout_view *view,
                                      const grout_ref_step *step, uint32_t *index_out) {
    const grout_object *object = grout_module_get_object(module, view->object);
    if (!grout_space_has_peers(object->space)) {
        return GROUT_VIEW_CLUSTER;
    }
    if (view->cluster_index_count > 0) {
        return GROUT_VIEW_CLUSTER_TWICE;
    }
    if (step->count != count_cluster_axes(module, grout_object__get_kernel(module, view->object))) {
        return GROUT_VIEW_CLUSTER_COUNT;
    }
    for (uint32_t k = 0; k < step->count; k++) {
        const grout_operand *place = &grout_module_get_index(module, step, k)->start;
        bool is_constant = place->kind == GROUT_OPERAND_EXPR;
        const grout_expr_value *value = &module->bound->expr_values[is_constant ? place->id : 0];
        *index_out = k;
        if (is_constant && (value->is_float || value->is_bool || value->integer < INT32_MIN ||
                            value->integer > INT32_MAX)) {
            return GROUT_VIEW_START;
        }
        view->cluster_index[k] = *place;
    }
    view->cluster_index_count = step->count;
    return GROUT_VIEW_FINE;
}

/* The box of a descriptor: at one index for each dimension, of which all stay. */
static grout_view_fault apply_box(const grout_module *module, grout_view *view,
                                  const grout_ref *ref, grout_view_problem *problem) {
    const grout_type *box = &module->bound->value_types[view->descriptor];
    const grout_op *made = grout_view_find_made_descriptor(module, view);
    if (ref == NULL || ref->step_count == 0) {
        return GROUT_VIEW_DESCRIPTOR;
    }
    problem->step = grout_module_get_ref_step(module, ref, 0);
    if (problem->step->kind != GROUT_REF_INDEX || problem->step->count != view->rank) {
        return GROUT_VIEW_DESCRIPTOR;
    }
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        const grout_index *index = grout_module_get_index(module, problem->step, dim);
        grout_view_fault fault = GROUT_VIEW_DESCRIPTOR;
        problem->index = dim;
        if (index->kind == GROUT_INDEX_AT) {
            fault = add_start(module, view, dim, &index->start);
        }
        if (fault == GROUT_VIEW_FINE && made != NULL) {
            fault = add_start(module, view, dim, grout_descriptor_get_start(module, made, dim));
        }
        if (fault != GROUT_VIEW_FINE) {
            return fault;
        }
        view->extent[dim] = box->dims[dim];
    }
    if (ref->step_count > 1) {
        problem->step = grout_module_get_ref_step(module, ref, 1);
        return GROUT_VIEW_DESCRIPTOR;
    }
    return GROUT_VIEW_FINE;
}

/* The same bytes as another object, which binding has made (recast.c). It has the same dimensions
 * as far as they were indexed away; those left are new. */
static grout_view_fault apply_recast(const grout_module *module, grout_view *view,
                                     const grout_ref_step *step) {
    if (step->object == 0 || step->fault != GROUT_VIEW_FINE) {
        return (grout_view_fault)step->fault;
    }
    const grout_type *type = &module->bound->object_types[step->object];
    const uint8_t first = (uint8_t)(view->rank - view->view_rank);
    view->object = step->object;
    view->rank = type->rank;
    view->view_rank = (uint8_t)(type->rank - first);
    for (uint8_t dim = first; dim < type->rank; dim++) {
        view->view_dim[dim - first] = dim;
        view->extent[dim] = type->dims[dim];
    }
    return GROUT_VIEW_FINE;
}

static grout_view_fault apply_step(const grout_module *module, grout_view *view,
                                   grout_view_problem *problem) {
    switch ((grout_ref_step_kind)problem->step->kind) {
    case GROUT_REF_INDEX:
        return apply_indices(module, view, problem->step, &problem->index);
    case GROUT_REF_TRANSPOSE:
        return apply_transpose(module, view, problem->step);
    case GROUT_REF_CLUSTER:
        return apply_cluster(module, view, problem->step, &problem->index);
    case GROUT_REF_BITCAST:
    case GROUT_REF_RESHAPE:
        return apply_recast(module, view, problem->step);
    }
    return GROUT_VIEW_FINE;
}

static void fill_order(grout_view *view) {
    uint8_t count = 0;
    for (uint8_t dim = 0; dim < view->rank; dim++) {
        if (view->is_squeezed[dim]) {
            view->order[count++] = dim;
        }
    }
    GROUT_ASSERT(count + view->view_rank <= GROUT_RANK_MAX);
    memcpy(view->order + count, view->view_dim, view->view_rank);
}

grout_view_problem grout_view__resolve(const grout_module *module, const grout_operand *operand,
                                       grout_view *view_out) {
    return grout_view__resolve_steps(module, operand, UINT32_MAX, view_out);
}

grout_view_problem grout_view__resolve_steps(const grout_module *module,
                                             const grout_operand *operand, uint32_t max,
                                             grout_view *view_out) {
    grout_ref_id ref_id;
    grout_value_id descriptor = 0;
    grout_view_problem problem = {.fault = GROUT_VIEW_NO_REFERENCE};
    grout_value_id base = get_base(module, operand, &ref_id);
    problem.object = base == 0 ? 0 : find_object(module, base, &descriptor);
    if (problem.object == 0) {
        return problem;
    }
    begin_view(view_out, module, problem.object);
    const grout_ref *ref = ref_id == 0 ? NULL : grout_module_get_ref(module, ref_id);
    uint32_t first_step = 0;
    problem.fault = GROUT_VIEW_FINE;
    if (descriptor != 0) {
        view_out->descriptor = descriptor;
        problem.rank = view_out->rank;
        problem.fault = apply_box(module, view_out, ref, &problem);
        first_step = 1;
    }
    uint32_t step_count = ref == NULL ? 0 : ref->step_count < max ? ref->step_count : max;
    for (uint32_t k = first_step; problem.fault == GROUT_VIEW_FINE && k < step_count; k++) {
        problem.step = grout_module_get_ref_step(module, ref, k);
        problem.rank = view_out->view_rank;
        problem.fault = apply_step(module, view_out, &problem);
    }
    fill_order(view_out);
    if (problem.fault == GROUT_VIEW_FINE && max == UINT32_MAX) {
        grout_view packed = *view_out;
        problem.fault = grout_view__pack(module, &packed);
    }
    return problem;
}

grout_type grout_view__get_type(const grout_module *module, const grout_view *view) {
    grout_type type = module->bound->object_types[view->object];
    type.rank = view->view_rank;
    for (uint32_t k = 0; k < GROUT_RANK_MAX; k++) {
        type.dims[k] = k < view->view_rank
                           ? view->extent[view->view_dim[k]] *
                                 grout_view_get_term_divisor(view, view->view_dim[k])
                           : 0;
    }
    return type;
}

bool grout_module_get_view(const grout_module *module, const grout_operand *operand,
                           grout_view *view_out) {
    return grout_view_fault__has_view(grout_view__resolve(module, operand, view_out).fault) &&
           grout_view_fault__has_view(grout_view__pack(module, view_out));
}
