/* module_equal.c - walks two modules side by side, from their items down.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/module_equal.h"

#include "ir/core/module.h"

#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    const grout_module *a, *b;
    grout_value_id *map; /* by value of a: its counterpart in b */
    const char *difference;
} comparison;

static bool differ(comparison *c, const char *what) {
    if (c->difference == NULL) {
        c->difference = what;
    }
    return false;
}

#define SAME(condition, what)   \
    if (!(condition)) {         \
        return differ(c, what); \
    }

static bool same_string(comparison *c, grout_string_id a, grout_string_id b, const char *what) {
    return strcmp(grout_module_get_string(c->a, a), grout_module_get_string(c->b, b)) == 0 ||
           differ(c, what);
}

static bool same_trivia(comparison *c, grout_trivia_id a, grout_trivia_id b, const char *what) {
    const grout_trivia *trivia_a = grout_module_get_trivia(c->a, a);
    const grout_trivia *trivia_b = grout_module_get_trivia(c->b, b);
    return same_string(c, trivia_a->lead, trivia_b->lead, what) &&
           same_string(c, trivia_a->tail, trivia_b->tail, what);
}

static bool same_expr(comparison *c, grout_expr_id id_a, grout_expr_id id_b) {
    SAME((id_a == 0) == (id_b == 0), "an expression is missing");
    const grout_expr *a = grout_module_get_expr(c->a, id_a);
    const grout_expr *b = grout_module_get_expr(c->b, id_b);
    SAME(a->kind == b->kind && a->dtype == b->dtype, "kind of expression");
    SAME(a->u.bits == b->u.bits, "literal");
    switch ((grout_expr_kind)a->kind) {
    case GROUT_EXPR_NONE:
    case GROUT_EXPR_INT:
    case GROUT_EXPR_FLOAT:
    case GROUT_EXPR_TYPED:
    case GROUT_EXPR_BOOL:
        return true;
    case GROUT_EXPR_NAME:
        return same_string(c, grout_module_get_const(c->a, a->constant)->name,
                           grout_module_get_const(c->b, b->constant)->name, "const of a name");
    case GROUT_EXPR_UNARY:
        SAME(a->operator_ == b->operator_, "operator");
        return same_expr(c, a->a, b->a);
    case GROUT_EXPR_BINARY:
        SAME(a->operator_ == b->operator_, "operator");
        return same_expr(c, a->a, b->a) && same_expr(c, a->b, b->b);
    }
    return true;
}

static bool same_exprs(comparison *c, const grout_expr_id *a, const grout_expr_id *b,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!same_expr(c, a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static bool same_type(comparison *c, const grout_written_type *a, const grout_written_type *b) {
    SAME((a == NULL) == (b == NULL), "a written type is missing");
    if (a == NULL || b == NULL) {
        return true;
    }
    SAME(a->dtype == b->dtype && a->rank == b->rank && a->is_array == b->is_array, "written type");
    return same_exprs(c, a->dims, b->dims, a->rank);
}

static bool same_init(comparison *c, grout_init_id id_a, grout_init_id id_b) {
    SAME((id_a == 0) == (id_b == 0), "an init is missing");
    const grout_init *a = grout_module_get_init(c->a, id_a);
    const grout_init *b = grout_module_get_init(c->b, id_b);
    SAME(a->kind == b->kind && a->count == b->count, "form of an init");
    for (uint32_t i = 0; i < a->count; i++) {
        if (!same_expr(c, grout_module_get_init_argument(c->a, a, i),
                       grout_module_get_init_argument(c->b, b, i))) {
            return false;
        }
    }
    return true;
}

static bool same_object(comparison *c, grout_object_id id_a, grout_object_id id_b) {
    SAME((id_a == 0) == (id_b == 0), "an object is missing");
    const grout_object *a = grout_module_get_object(c->a, id_a);
    const grout_object *b = grout_module_get_object(c->b, id_b);
    SAME(a->kind == b->kind && a->space == b->space, "kind of object");
    SAME(a->tile_rank == b->tile_rank && a->transpose_rank == b->transpose_rank, "transforms");
    SAME(a->infers_tile == b->infers_tile, "tile(infer)");
    SAME((a->layout == 0) == (b->layout == 0), "layout");
    SAME(a->is_explicit == b->is_explicit && a->is_global == b->is_global, "form of object");
    SAME(a->orders_tensor_core == b->orders_tensor_core, "orders_tensor_core");
    SAME(a->is_padded == b->is_padded, "padded");
    SAME(a->is_packed == b->is_packed && a->is_scales == b->is_scales &&
             a->is_split == b->is_split && a->is_metadata == b->is_metadata,
         "how an array lies in tensor memory");
    SAME(a->cluster_group_count == b->cluster_group_count &&
             memcmp(a->cluster_groups, b->cluster_groups, a->cluster_group_count) == 0,
         "axes of a cluster barrier");
    SAME(c->map[a->value] == b->value, "value of an object");
    return same_type(c, &a->type, &b->type) && same_exprs(c, a->tile, b->tile, a->tile_rank) &&
           same_expr(c, a->swizzle, b->swizzle) && same_expr(c, a->arrivals, b->arrivals) &&
           same_exprs(c, a->transpose, b->transpose, a->transpose_rank) &&
           same_init(c, a->init, b->init);
}

/* Notes that count values are counterparts, and compares what they are. */
static bool same_values(comparison *c, grout_value_id first_a, grout_value_id first_b,
                        uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const grout_value *a = grout_module_get_value(c->a, first_a + i);
        const grout_value *b = grout_module_get_value(c->b, first_b + i);
        c->map[first_a + i] = first_b + i;
        SAME(a->kind == b->kind && a->index == b->index, "kind of value");
        SAME(a->use_count == b->use_count, "number of uses");
        SAME((a->op == 0) == (b->op == 0) && (a->block == 0) == (b->block == 0),
             "owner of a value");
        if (!same_string(c, a->name, b->name, "name of a value") ||
            !same_object(c, a->object, b->object)) {
            return false;
        }
    }
    return true;
}

static bool same_operand(comparison *c, const grout_operand *a, const grout_operand *b);

static bool same_step(comparison *c, const grout_ref_step *a, const grout_ref_step *b) {
    SAME(a->kind == b->kind && a->count == b->count, "step of a reference");
    for (uint32_t n = 0; n < a->count; n++) {
        const grout_index *index_a = grout_module_get_index(c->a, a, n);
        const grout_index *index_b = grout_module_get_index(c->b, b, n);
        SAME(index_a->kind == index_b->kind, "kind of index");
        if (!same_operand(c, &index_a->start, &index_b->start) ||
            !same_expr(c, index_a->size, index_b->size)) {
            return false;
        }
    }
    return true;
}

static bool same_ref(comparison *c, const grout_ref *a, const grout_ref *b) {
    SAME(c->map[a->base] == b->base && a->step_count == b->step_count, "reference");
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!same_step(c, grout_module_get_ref_step(c->a, a, i),
                       grout_module_get_ref_step(c->b, b, i))) {
            return false;
        }
    }
    return true;
}

static bool same_operand(comparison *c, const grout_operand *a, const grout_operand *b) {
    SAME(a->kind == b->kind, "kind of operand");
    switch ((grout_operand_kind)a->kind) {
    case GROUT_OPERAND_NONE:
        return true;
    case GROUT_OPERAND_VALUE:
        SAME(c->map[a->id] == b->id, "value of an operand");
        return true;
    case GROUT_OPERAND_EXPR:
        return same_expr(c, a->id, b->id);
    case GROUT_OPERAND_REF:
        return same_ref(c, grout_module_get_ref(c->a, a->id), grout_module_get_ref(c->b, b->id));
    case GROUT_OPERAND_STRING:
        return same_string(c, a->id, b->id, "string");
    case GROUT_OPERAND_AXIS:
        SAME(a->id == b->id, "axis");
        return true;
    }
    return true;
}

static bool same_attrs(comparison *c, const grout_op *a, const grout_op *b) {
    SAME(a->attr_count == b->attr_count, "number of attributes");
    for (uint32_t i = 0; i < a->attr_count; i++) {
        const grout_attr_value *attr_a =
            GROUT_TABLE_AT(c->a->attrs, grout_attr_value, a->first_attr + i);
        const grout_attr_value *attr_b =
            GROUT_TABLE_AT(c->b->attrs, grout_attr_value, b->first_attr + i);
        SAME(attr_a->attr == attr_b->attr, "attribute");
        SAME(attr_a->choice == attr_b->choice && attr_a->axes == attr_b->axes &&
                 attr_a->dims == attr_b->dims,
             "value of an attribute");
        SAME(attr_a->range_count == attr_b->range_count, "number of ranges of an attribute");
        for (uint32_t k = 0; k < attr_a->range_count; k++) {
            const grout_written_range *range_a = &attr_a->ranges[k], *range_b = &attr_b->ranges[k];
            if (!same_expr(c, range_a->low, range_b->low) ||
                !same_expr(c, range_a->high, range_b->high) ||
                !same_expr(c, range_a->step, range_b->step)) {
                return false;
            }
        }
        if (!same_expr(c, attr_a->expr, attr_b->expr)) {
            return false;
        }
    }
    return true;
}

static bool same_block(comparison *c, grout_block_id id_a, grout_block_id id_b);

static bool same_box(comparison *c, const grout_op *a, const grout_op *b) {
    SAME((a->box == 0) == (b->box == 0), "indices after an operand");
    return a->box == 0 ||
           same_step(c, grout_module_get_box(c->a, a), grout_module_get_box(c->b, b));
}

static bool same_op(comparison *c, const grout_op *a, const grout_op *b) {
    SAME(a->opcode == b->opcode && a->flags == b->flags, "operation");
    SAME(a->operand_count == b->operand_count, "number of operands");
    SAME(a->result_count == b->result_count, "number of results");
    SAME(a->block_count == b->block_count, "number of blocks");
    for (uint32_t i = 0; i < a->operand_count; i++) {
        if (!same_operand(c, grout_module_get_operand(c->a, a, i),
                          grout_module_get_operand(c->b, b, i))) {
            return false;
        }
    }
    bool ok = same_attrs(c, a, b) && same_box(c, a, b) &&
              same_type(c, grout_module_get_written_type(c->a, a),
                        grout_module_get_written_type(c->b, b)) &&
              same_trivia(c, a->trivia, b->trivia, "comments of an operation");
    for (uint32_t i = 0; ok && i < a->block_count; i++) {
        ok = same_block(c, a->first_block + i, b->first_block + i);
    }
    return ok && same_values(c, a->first_result, b->first_result, a->result_count);
}

static bool same_block(comparison *c, grout_block_id id_a, grout_block_id id_b) {
    const grout_block *a = grout_module_get_block(c->a, id_a);
    const grout_block *b = grout_module_get_block(c->b, id_b);
    SAME(a->arg_count == b->arg_count, "number of arguments");
    SAME((a->parent == 0) == (b->parent == 0), "owner of a block");
    if (!same_values(c, a->first_arg, b->first_arg, a->arg_count)) {
        return false;
    }
    grout_op_id at_a = a->first;
    grout_op_id at_b = b->first;
    while (at_a != 0 && at_b != 0) {
        const grout_op *op_a = grout_module_get_op(c->a, at_a);
        const grout_op *op_b = grout_module_get_op(c->b, at_b);
        SAME(op_a->parent == id_a && op_b->parent == id_b, "parent of an operation");
        if (!same_op(c, op_a, op_b)) {
            return false;
        }
        at_a = op_a->next;
        at_b = op_b->next;
    }
    SAME(at_a == 0 && at_b == 0, "number of operations");
    return same_trivia(c, a->end_trivia, b->end_trivia, "comments at the end of a block");
}

static bool same_kernel(comparison *c, const grout_kernel *a, const grout_kernel *b) {
    SAME(a->param_count == b->param_count, "number of parameters");
    SAME(a->axis_count == b->axis_count, "number of axes");
    SAME(a->cluster_exit == b->cluster_exit && a->has_auto_fence == b->has_auto_fence &&
             a->has_arch == b->has_arch && a->arch == b->arch && a->auto_fence == b->auto_fence &&
             a->partition_count == b->partition_count &&
             memcmp(a->partition_warps, b->partition_warps, sizeof a->partition_warps) == 0,
         "attributes of a kernel");
    for (uint32_t i = 0; i < a->param_count; i++) {
        const grout_param *param_a = grout_module_get_param(c->a, a, i);
        const grout_param *param_b = grout_module_get_param(c->b, b, i);
        SAME(param_a->direction == param_b->direction && param_a->dtype == param_b->dtype,
             "parameter");
        if (!same_values(c, param_a->value, param_b->value, 1) ||
            !same_init(c, param_a->init, param_b->init)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->axis_count; i++) {
        SAME(a->axes[i].kind == b->axes[i].kind, "kind of axis");
        if (!same_string(c, a->axes[i].name, b->axes[i].name, "name of an axis") ||
            !same_expr(c, a->axes[i].size, b->axes[i].size)) {
            return false;
        }
    }
    return same_string(c, a->name, b->name, "name of a kernel") &&
           same_trivia(c, a->trivia, b->trivia, "comments of a kernel") &&
           same_block(c, a->body, b->body);
}

static bool same_const(comparison *c, const grout_const *a, const grout_const *b) {
    SAME(a->is_f32 == b->is_f32 && a->continues == b->continues, "const");
    return same_string(c, a->name, b->name, "name of a const") && same_expr(c, a->expr, b->expr) &&
           same_trivia(c, a->trivia, b->trivia, "comments of a const");
}

static bool same_require(comparison *c, const grout_require *a, const grout_require *b) {
    return same_expr(c, a->expr, b->expr) &&
           same_string(c, a->text, b->text, "text of a require") &&
           same_trivia(c, a->trivia, b->trivia, "comments of a require");
}

static bool same_launch(comparison *c, const grout_launch_line *a, const grout_launch_line *b) {
    SAME(a->is_dependent == b->is_dependent, "dependence of a launch");
    SAME(a->argument_count == b->argument_count, "number of arguments of a launch");
    for (uint32_t i = 0; i < a->argument_count; i++) {
        if (!same_string(c, grout_module_get_launch_argument(c->a, a, i)->name,
                         grout_module_get_launch_argument(c->b, b, i)->name,
                         "argument of a launch")) {
            return false;
        }
    }
    return same_string(c, a->kernel_name, b->kernel_name, "kernel of a launch") &&
           same_trivia(c, a->trivia, b->trivia, "comments of a launch");
}

static bool same_check_line(comparison *c, const grout_check_line *a, const grout_check_line *b) {
    SAME((a->rtol == 0) == (b->rtol == 0) && (a->atol == 0) == (b->atol == 0), "tolerances");
    return same_string(c, a->kernel_name, b->kernel_name, "kernel of a check") &&
           same_string(c, a->reference_name, b->reference_name, "reference of a check") &&
           (a->rtol == 0 || same_expr(c, a->rtol, b->rtol)) &&
           (a->atol == 0 || same_expr(c, a->atol, b->atol)) &&
           same_trivia(c, a->trivia, b->trivia, "comments of a check");
}

static bool same_item(comparison *c, const grout_item *a, const grout_item *b) {
    SAME(a->kind == b->kind, "kind of item");
    switch ((grout_item_kind)a->kind) {
    case GROUT_ITEM_CONST:
        return same_const(c, grout_module_get_const(c->a, a->id),
                          grout_module_get_const(c->b, b->id));
    case GROUT_ITEM_REQUIRE:
        return same_require(c, grout_module_get_require(c->a, a->id),
                            grout_module_get_require(c->b, b->id));
    case GROUT_ITEM_KERNEL:
        return same_kernel(c, grout_module_get_kernel(c->a, a->id),
                           grout_module_get_kernel(c->b, b->id));
    case GROUT_ITEM_LAUNCH:
        return same_launch(c, grout_module_get_launch(c->a, a->id),
                           grout_module_get_launch(c->b, b->id));
    case GROUT_ITEM_CHECK:
        return same_check_line(c, grout_module_get_check_line(c->a, a->id),
                               grout_module_get_check_line(c->b, b->id));
    }
    return true;
}

static bool same_module(comparison *c) {
    SAME(c->a->items.count == c->b->items.count, "number of items");
    SAME(c->a->has_header == c->b->has_header, "header");
    for (uint32_t i = 1; i < c->a->items.count; i++) {
        if (!same_item(c, GROUT_TABLE_AT(c->a->items, grout_item, i),
                       GROUT_TABLE_AT(c->b->items, grout_item, i))) {
            return false;
        }
    }
    return same_trivia(c, c->a->header_trivia, c->b->header_trivia, "comments of the header") &&
           same_trivia(c, c->a->end_trivia, c->b->end_trivia, "comments at the end");
}

const char *find_module_difference(const grout_module *a, const grout_module *b) {
    comparison c = {.a = a, .b = b};
    c.map = calloc(grout_module_get_value_count(a), sizeof *c.map);
    if (c.map == NULL) {
        return "no memory";
    }
    (void)same_module(&c);
    free(c.map);
    return c.difference;
}
