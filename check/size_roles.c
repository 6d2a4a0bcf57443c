/* size_roles.c - what a const of a file is the size of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "size_roles.h"

#include "alloc.h"

/* Where a const stands, itself or by a const that is made of it. */
enum { USED_OUTSIDE = 1, USED_INSIDE = 2, USED_FOR_SLOTS = 4 };

typedef struct finder {
    const grout_module *module;
    uint8_t *uses;        /* by const */
    grout_expr_id *stack; /* expressions to look at: each is there once at most */
} finder;

/* Consts are made of consts, as long a row of them as a file may have: no recursion. */
static void mark(const finder *it, grout_expr_id id, uint8_t use) {
    size_t count = 0;
    it->stack[count++] = id;
    while (count > 0) {
        const grout_expr *expr = grout_module_get_expr(it->module, it->stack[--count]);
        if (expr->kind == GROUT_EXPR_NAME && (it->uses[expr->constant] & use) == 0) {
            it->uses[expr->constant] |= use;
            it->stack[count++] = grout_module_get_const(it->module, expr->constant)->expr;
        } else if (expr->kind == GROUT_EXPR_UNARY || expr->kind == GROUT_EXPR_BINARY) {
            it->stack[count++] = expr->a;
            if (expr->kind == GROUT_EXPR_BINARY) {
                it->stack[count++] = expr->b;
            }
        }
    }
}

static uint8_t get_use(const grout_object *object, bool is_param) {
    if (object->kind == GROUT_OBJECT_BARRIER) {
        return USED_FOR_SLOTS;
    }
    return is_param || grout_space_is_of_launch(object->space) ? USED_OUTSIDE : USED_INSIDE;
}

static void mark_object(const finder *it, const grout_object *object, bool is_param) {
    const uint8_t use = get_use(object, is_param);
    for (uint32_t dim = 0; dim < object->type.rank; dim++) {
        mark(it, object->type.dims[dim], use);
    }
}

static void mark_kernel(const finder *it, const grout_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        const bool is_grid = kernel->axes[i].kind == GROUT_AXIS_GRID;
        mark(it, kernel->axes[i].size, is_grid ? USED_OUTSIDE : USED_INSIDE);
    }
}

static grout_size_role get_role(uint8_t uses) {
    return (uses & USED_FOR_SLOTS) != 0 ? GROUT_SIZE_RING
           : uses == USED_OUTSIDE       ? GROUT_SIZE_PROBLEM
                                        : GROUT_SIZE_TILE;
}

grout_size_role *grout_size_roles__find(const grout_module *bound) {
    const uint32_t count = grout_module_get_const_count(bound);
    grout_size_role *roles = grout__new(NULL, count, sizeof *roles);
    const finder it = {.module = bound,
                       .uses = grout__new(NULL, count, 1),
                       .stack = grout__new(NULL, (size_t)grout_module_get_expr_count(bound) + 1,
                                           sizeof *it.stack)};
    if (roles == NULL || it.uses == NULL || it.stack == NULL) {
        grout__free(roles);
        grout__free(it.uses);
        grout__free(it.stack);
        return NULL;
    }
    for (grout_object_id id = 1; id < grout_module_get_object_count(bound); id++) {
        const grout_object *object = grout_module_get_object(bound, id);
        mark_object(&it, object, object->space == GROUT_SPACE_GMEM);
    }
    for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(bound); id++) {
        mark_kernel(&it, grout_module_get_kernel(bound, id));
    }
    for (grout_const_id id = 1; id < count; id++) {
        roles[id] = get_role(it.uses[id]);
    }
    grout__free(it.uses);
    grout__free(it.stack);
    return roles;
}

bool grout_size__is_given(const grout_module *bound, grout_const_id id, int64_t *value_out) {
    const grout_const *constant = grout_module_get_const(bound, id);
    const grout_expr_value value = grout_module_get_expr_value(bound, constant->expr);
    *value_out = value.integer;
    return !value.is_float && value.integer >= 0 && value.integer < INT32_MAX / 8 &&
           grout_module_get_expr(bound, constant->expr)->kind == GROUT_EXPR_INT;
}
