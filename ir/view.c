/* view.c - references resolved: which box of which object an operand stands for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <string.h>

/* An operand's object and the reference behind it (0: the whole object); 0 if it is no reference.
 */
static grout_object_id find_object(const grout_module *module, const grout_operand *operand,
                                   grout_ref_id *ref_out) {
    grout_value_id base = 0;
    *ref_out = 0;
    if (operand->kind == GROUT_OPERAND_REF) {
        *ref_out = operand->id;
        base = grout_module_get_ref(module, operand->id)->base;
    } else if (operand->kind == GROUT_OPERAND_VALUE) {
        base = operand->id;
    }
    return base == 0 ? 0 : grout_module_get_value(module, base)->object;
}

static void begin_view(grout_view *view, const grout_module *module, grout_object_id object) {
    const grout_type *type = &module->bound->object_types[object];
    memset(view, 0, sizeof *view);
    view->object = object;
    view->base = grout_module_get_object(module, object)->value;
    view->rank = type->rank;
    view->view_rank = type->rank;
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

static void fill_order(grout_view *view) {
    uint8_t count = 0;
    for (uint8_t dim = 0; dim < view->rank; dim++) {
        if (view->is_squeezed[dim]) {
            view->order[count++] = dim;
        }
    }
    memcpy(view->order + count, view->view_dim, view->view_rank);
}

grout_view_problem grout_view__resolve(const grout_module *module, const grout_operand *operand,
                                       grout_view *view_out) {
    grout_ref_id ref_id;
    grout_view_problem problem = {.fault = GROUT_VIEW_NO_REFERENCE};
    problem.object = find_object(module, operand, &ref_id);
    if (problem.object == 0) {
        return problem;
    }
    begin_view(view_out, module, problem.object);
    const grout_ref *ref = ref_id == 0 ? NULL : grout_module_get_ref(module, ref_id);
    for (uint32_t k = 0; ref != NULL && k < ref->step_count; k++) {
        problem.step = grout_module_get_ref_step(module, ref, k);
        problem.rank = view_out->view_rank;
        switch ((grout_ref_step_kind)problem.step->kind) {
        case GROUT_REF_INDEX:
            problem.fault = apply_indices(module, view_out, problem.step, &problem.index);
            break;
        case GROUT_REF_TRANSPOSE:
            problem.fault = apply_transpose(module, view_out, problem.step);
            break;
        case GROUT_REF_CLUSTER:
            break;
        }
        if (problem.fault != GROUT_VIEW_FINE) {
            return problem;
        }
    }
    fill_order(view_out);
    problem.fault = GROUT_VIEW_FINE;
    return problem;
}

grout_type grout_view__get_type(const grout_module *module, const grout_view *view) {
    grout_type type = module->bound->object_types[view->object];
    type.rank = view->view_rank;
    for (uint32_t k = 0; k < GROUT_RANK_MAX; k++) {
        type.dims[k] = k < view->view_rank ? view->extent[view->view_dim[k]] : 0;
    }
    return type;
}

bool grout_module_get_view(const grout_module *module, const grout_operand *operand,
                           grout_view *view_out) {
    return grout_view__resolve(module, operand, view_out).fault == GROUT_VIEW_FINE;
}
