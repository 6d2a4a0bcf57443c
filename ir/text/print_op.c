/* print_op.c - one operation as text: results, operands by form, attributes, type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "printer.h"

#include "grout-internal/text.h"

#include <string.h>

static void print_operand(const grout_printer *pr, const grout_operand *operand, grout_level level);
static void print_body(const grout_printer *pr, const grout_op *op);

static void print_string(const grout_printer *pr, grout_string_id id) {
    grout_printer__text(pr, grout_module_get_string(pr->module, id));
}

void grout_printer__value(const grout_printer *pr, grout_value_id id) {
    const grout_value *value = grout_module_get_value(pr->module, id);
    grout_printer__text(pr, "%");
    if (value->name != 0) {
        print_string(pr, value->name);
    } else {
        grout_text_add(pr->out, "unnamed%u", (unsigned)id);
    }
}

void grout_printer__type(const grout_printer *pr, const grout_written_type *type) {
    grout_printer__text(pr, grout_dtype_get_info((grout_dtype)type->dtype)->text);
    if (type->is_array) {
        grout_printer__text(pr, "[");
        grout_printer__exprs(pr, type->dims, type->rank);
        grout_printer__text(pr, "]");
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

static void print_list(const grout_printer *pr, const char *word, const grout_expr_id *ids,
                       uint32_t count) {
    if (count > 0) {
        grout_text_add(pr->out, " %s(", word);
        grout_printer__exprs(pr, ids, count);
        grout_printer__text(pr, ")");
    }
}

/* The names of the axes of a set, in their order. */
static void print_axes(const grout_printer *pr, grout_kernel_id id, uint32_t axes) {
    const grout_kernel *kernel = grout_module_get_kernel(pr->module, id);
    const char *separator = "";
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if ((axes >> i & 1u) != 0) {
            grout_printer__text(pr, separator);
            print_string(pr, kernel->axes[i].name);
            separator = ", ";
        }
    }
}

static grout_kernel_id get_kernel(const grout_printer *pr, const grout_op *op) {
    return grout_module_get_block(pr->module, op->parent)->kernel;
}

static void print_groups(const grout_printer *pr, grout_kernel_id kernel,
                         const grout_object *object) {
    for (uint32_t i = 0; i < object->cluster_group_count; i++) {
        uint32_t axes = object->cluster_groups[i];
        bool is_group = (axes & (axes - 1)) != 0;
        grout_printer__text(pr, i == 0 ? " cluster(" : ", ");
        grout_printer__text(pr, is_group ? "(" : "");
        print_axes(pr, kernel, axes);
        grout_printer__text(pr, is_group ? ")" : "");
    }
    grout_printer__text(pr, object->cluster_group_count > 0 ? ")" : "");
}

static void print_alias(const grout_printer *pr, const grout_object *object) {
    if (object->alias == 0) {
        return;
    }
    grout_printer__text(pr, " alias(");
    grout_printer__value(pr, object->alias);
    if (object->alias_start != 0) {
        grout_printer__text(pr, ", ");
        grout_printer__expr(pr, object->alias_start, GROUT_LEVEL_ANY);
    }
    grout_printer__text(pr, ")");
}

/* How many barriers or semaphores there are. */
static void print_numbers(const grout_printer *pr, const grout_object *object) {
    if (object->type.rank > 0) {
        grout_printer__text(pr, "[");
        grout_printer__exprs(pr, object->type.dims, object->type.rank);
        grout_printer__text(pr, "]");
    }
}

static void print_layout(const grout_printer *pr, const grout_object *object) {
    if (object->layout != 0) {
        grout_printer__text(pr, " layout(");
        grout_printer__string(pr, object->layout);
        grout_printer__text(pr, ")");
    }
}

static void print_object(const grout_printer *pr, grout_kernel_id kernel,
                         const grout_object *object) {
    switch ((grout_object_kind)object->kind) {
    case GROUT_OBJECT_ARRAY:
        grout_text_add(pr->out, "%s ", grout_space_get_text((grout_space)object->space));
        grout_printer__type(pr, &object->type);
        grout_printer__text(pr, object->is_packed     ? " packed"
                                : object->is_split    ? " split_scales"
                                : object->is_scales   ? " scales"
                                : object->is_metadata ? " metadata"
                                : object->is_padded   ? " padded"
                                                      : "");
        grout_printer__text(pr, object->is_collective ? " collective" : "");
        grout_printer__text(pr, object->infers_tile ? " tile(infer)" : "");
        print_list(pr, "tile", object->tile, object->tile_rank);
        print_list(pr, "swizzle", &object->swizzle, object->swizzle != 0);
        print_list(pr, "transpose", object->transpose, object->transpose_rank);
        print_layout(pr, object);
        print_alias(pr, object);
        break;
    case GROUT_OBJECT_BARRIER:
        grout_printer__text(pr, object->is_explicit ? "mbarrier" : "barrier");
        print_numbers(pr, object);
        print_list(pr, "arrivals", &object->arrivals, object->arrivals != 0);
        print_groups(pr, kernel, object);
        grout_printer__text(pr, object->orders_tensor_core ? " orders_tensor_core" : "");
        grout_printer__text(pr, !object->is_leader_tracked ? ""
                                : object->is_explicit      ? " two_ctas"
                                                           : " leader_tracked");
        break;
    case GROUT_OBJECT_SEMAPHORE:
        grout_printer__text(pr, "semaphore");
        print_numbers(pr, object);
        grout_printer__text(pr, object->is_global ? " global" : "");
        break;
    }
    grout_printer__init(pr, object->init);
}

static void print_index(const grout_printer *pr, const grout_index *index) {
    switch ((grout_index_kind)index->kind) {
    case GROUT_INDEX_ALL:
        grout_printer__text(pr, ":");
        break;
    case GROUT_INDEX_AT:
        print_operand(pr, &index->start, GROUT_LEVEL_ANY);
        break;
    case GROUT_INDEX_SLICE:
        grout_printer__text(pr, "ds(");
        print_operand(pr, &index->start, GROUT_LEVEL_ANY);
        grout_printer__text(pr, ", ");
        grout_printer__expr(pr, index->size, GROUT_LEVEL_ANY);
        grout_printer__text(pr, ")");
        break;
    }
}

static void print_step(const grout_printer *pr, const grout_ref_step *step) {
    static const char *const starts[] = {[GROUT_REF_INDEX] = "[",
                                         [GROUT_REF_TRANSPOSE] = ".transpose(",
                                         [GROUT_REF_CLUSTER] = ".cluster(",
                                         [GROUT_REF_BITCAST] = ".bitcast(",
                                         [GROUT_REF_RESHAPE] = ".reshape("};
    grout_printer__text(pr, starts[step->kind]);
    if (step->kind == GROUT_REF_BITCAST) {
        grout_printer__text(pr, grout_dtype_get_info((grout_dtype)step->dtype)->text);
    }
    for (uint32_t i = 0; i < step->count; i++) {
        const grout_index *index = grout_module_get_index(pr->module, step, i);
        grout_printer__text(pr, i > 0 ? ", " : "");
        if (step->kind == GROUT_REF_TRANSPOSE || step->kind == GROUT_REF_RESHAPE) {
            grout_printer__expr(pr, index->size, GROUT_LEVEL_ANY);
        } else {
            print_index(pr, index);
        }
    }
    grout_printer__text(pr, step->kind == GROUT_REF_INDEX ? "]" : ")");
}

static void print_reference(const grout_printer *pr, const grout_ref *ref) {
    grout_printer__value(pr, ref->base);
    for (uint32_t i = 0; i < ref->step_count; i++) {
        print_step(pr, grout_module_get_ref_step(pr->module, ref, i));
    }
}

/* How an operation is written infix; the text is NULL if it is written as a call. */
typedef struct infix_text {
    const char *text;
    grout_level level;
} infix_text;

static infix_text get_infix_text(uint16_t opcode) {
    static const infix_text texts[GROUT_OP_COUNT] = {
#define GROUT_INFIX(NAME, text, LEVEL) [GROUT_OP_##NAME] = {text, GROUT_LEVEL_##LEVEL},
#include "grout/ops.def"
    };
    return texts[opcode].text != NULL ? texts[opcode] : (infix_text){NULL, GROUT_LEVEL_UNARY};
}

static void print_infix(const grout_printer *pr, const grout_op *op, grout_level level) {
    infix_text infix = get_infix_text(op->opcode);
    const grout_operand *a = grout_module_get_operand(pr->module, op, 0);
    bool is_call = infix.text == NULL;
    bool has_parens = infix.level < level;
    if (is_call) {
        grout_text_add(pr->out, "%s(", grout_op_get_info((grout_opcode)op->opcode)->text);
    } else if (has_parens) {
        grout_printer__text(pr, "(");
    }
    if (op->operand_count == 1) {
        grout_printer__text(pr, infix.text != NULL ? infix.text : "");
        print_operand(pr, a, infix.level);
    } else {
        const grout_operand *b = grout_module_get_operand(pr->module, op, 1);
        print_operand(pr, a, is_call ? GROUT_LEVEL_ANY : infix.level);
        grout_text_add(pr->out, is_call ? "%s " : " %s ", is_call ? "," : infix.text);
        print_operand(pr, b, is_call ? GROUT_LEVEL_ANY : (grout_level)(infix.level + 1));
    }
    grout_printer__text(pr, is_call || has_parens ? ")" : "");
}

static void print_value_operand(const grout_printer *pr, grout_value_id id, grout_level level) {
    const grout_value *value = grout_module_get_value(pr->module, id);
    bool is_nested = value->kind == GROUT_VALUE_RESULT && value->name == 0 &&
                     grout_nesting__is_nested(pr->nesting, value->op);
    if (!is_nested) {
        grout_printer__value(pr, id);
        return;
    }
    const grout_op *op = grout_module_get_op(pr->module, value->op);
    if ((op->flags & GROUT_OP_FLAG_INFIX) != 0) {
        print_infix(pr, op, level);
        return;
    }
    grout_printer__text(pr, "(");
    print_body(pr, op);
    grout_printer__text(pr, ")");
}

/* The axis that an AXIS operand of an operation names. */
static void print_axis_operand(const grout_printer *pr, const grout_op *op, uint32_t id) {
    print_string(pr, grout_module_get_kernel(pr->module, get_kernel(pr, op))->axes[id - 1].name);
}

static void print_operand(const grout_printer *pr, const grout_operand *operand,
                          grout_level level) {
    switch ((grout_operand_kind)operand->kind) {
    case GROUT_OPERAND_VALUE:
        print_value_operand(pr, operand->id, level);
        break;
    case GROUT_OPERAND_EXPR:
        grout_printer__expr(pr, operand->id, level);
        break;
    case GROUT_OPERAND_REF:
        print_reference(pr, grout_module_get_ref(pr->module, operand->id));
        break;
    case GROUT_OPERAND_STRING:
        grout_printer__string(pr, operand->id);
        break;
    case GROUT_OPERAND_AXIS: /* needs its operation: see print_plain */
    case GROUT_OPERAND_NONE:
        break;
    }
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* "(-1..-1 step 2, 0..0)": a step of 1 is not written. */
static void print_ranges(const grout_printer *pr, const grout_attr_value *value) {
    for (uint32_t k = 0; k < value->range_count; k++) {
        const grout_written_range *range = &value->ranges[k];
        const grout_expr *step = grout_module_get_expr(pr->module, range->step);
        grout_printer__text(pr, k == 0 ? "(" : ", ");
        grout_printer__expr(pr, range->low, GROUT_LEVEL_ANY);
        grout_printer__text(pr, "..");
        grout_printer__expr(pr, range->high, GROUT_LEVEL_ANY);
        if (step->kind != GROUT_EXPR_INT || step->u.integer != 1) {
            grout_printer__text(pr, " step ");
            grout_printer__expr(pr, range->step, GROUT_LEVEL_ANY);
        }
    }
}

static void print_attrs(const grout_printer *pr, const grout_op *op) {
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const grout_attr_value *value =
            GROUT_TABLE_AT(pr->module->attrs, grout_attr_value, op->first_attr + i);
        const grout_attr_info *info = grout_attr_get_info((grout_attr)value->attr);
        grout_text_add(pr->out, " %s", info->text);
        switch ((grout_argument_kind)info->argument) {
        case GROUT_ARGUMENT_FLAG:
            continue;
        case GROUT_ARGUMENT_INT:
            grout_printer__text(pr, "(");
            grout_printer__expr(pr, value->expr, GROUT_LEVEL_ANY);
            break;
        case GROUT_ARGUMENT_AXES:
            grout_printer__text(pr, "(");
            print_axes(pr, get_kernel(pr, op), value->axes);
            break;
        case GROUT_ARGUMENT_DIMS:
            for (uint32_t dims = value->dims; dims != 0; dims >>= 4) {
                grout_text_add(pr->out, "%s%u", dims == value->dims ? "(" : ", ", (dims & 15u) - 1);
            }
            break;
        case GROUT_ARGUMENT_RANGES:
            print_ranges(pr, value);
            break;
        case GROUT_ARGUMENT_CHOICE:
            grout_text_add(pr->out, "(%s",
                           grout_choice_get_info((grout_choice)value->choice)->text);
            break;
        }
        grout_printer__text(pr, ")");
    }
}

static void print_plain(const grout_printer *pr, const grout_op *op) {
    grout_printer__text(pr, grout_op_get_info((grout_opcode)op->opcode)->text);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const grout_operand *operand = grout_module_get_operand(pr->module, op, i);
        grout_printer__text(pr, i > 0 ? ", " : " ");
        if (operand->kind == GROUT_OPERAND_AXIS) {
            print_axis_operand(pr, op, operand->id);
        } else {
            print_operand(pr, operand, GROUT_LEVEL_ANY);
        }
        if (i == 0 && op->box != 0) {
            print_step(pr, grout_module_get_box(pr->module, op));
        }
    }
    print_attrs(pr, op);
    if (op->written_type != 0) {
        grout_printer__text(pr, " : ");
        grout_printer__type(pr, grout_module_get_written_type(pr->module, op));
    }
}

static void print_scratch(const grout_printer *pr, const grout_op *op) {
    const grout_value *value = grout_module_get_value(pr->module, op->first_result);
    grout_printer__text(pr, "scratch ");
    grout_printer__value(pr, op->first_result);
    grout_printer__text(pr, " : ");
    print_object(pr, get_kernel(pr, op), grout_module_get_object(pr->module, value->object));
}

static bool is_literal_one(const grout_printer *pr, const grout_operand *operand) {
    const grout_expr *expr = grout_module_get_expr(pr->module, operand->id);
    return operand->kind == GROUT_OPERAND_EXPR && expr->kind == GROUT_EXPR_INT &&
           expr->u.integer == 1;
}

/* ' carry(...)' if a loop has any: values from first on, the operands from first_operand on. */
static void print_carries(const grout_printer *pr, const grout_op *op, grout_value_id first,
                          uint32_t first_operand) {
    for (uint32_t i = first_operand; i < op->operand_count; i++) {
        grout_printer__text(pr, i == first_operand ? " carry(" : ", ");
        grout_printer__value(pr, first + i - first_operand);
        grout_printer__text(pr, " = ");
        print_operand(pr, grout_module_get_operand(pr->module, op, i), GROUT_LEVEL_ANY);
    }
    grout_printer__text(pr, op->operand_count > first_operand ? ")" : "");
}

static void print_for(const grout_printer *pr, const grout_op *op) {
    const grout_block *body = grout_module_get_block(pr->module, op->first_block);
    const grout_operand *step = grout_module_get_operand(pr->module, op, 2);
    grout_printer__text(pr, "for ");
    grout_printer__value(pr, body->first_arg);
    grout_printer__text(pr, " in ");
    print_operand(pr, grout_module_get_operand(pr->module, op, 0), GROUT_LEVEL_ANY);
    grout_printer__text(pr, "..");
    print_operand(pr, grout_module_get_operand(pr->module, op, 1), GROUT_LEVEL_ANY);
    if (!is_literal_one(pr, step)) {
        grout_printer__text(pr, " step ");
        print_operand(pr, step, GROUT_LEVEL_ANY);
    }
    print_carries(pr, op, body->first_arg + 1, 3);
    print_attrs(pr, op);
}

static void print_while(const grout_printer *pr, const grout_op *op) {
    const grout_block *body = grout_module_get_block(pr->module, op->first_block);
    grout_printer__text(pr, "while");
    print_carries(pr, op, body->first_arg, 0);
}

static void print_scoped(const grout_printer *pr, const grout_op *op) {
    const grout_block *body = grout_module_get_block(pr->module, op->first_block);
    grout_printer__text(pr, "scoped(");
    for (uint32_t i = 0; i < body->arg_count; i++) {
        grout_value_id value = body->first_arg + i;
        grout_printer__text(pr, i > 0 ? ", " : "");
        grout_printer__value(pr, value);
        grout_printer__text(pr, " : ");
        print_object(
            pr, body->kernel,
            grout_module_get_object(pr->module, grout_module_get_value(pr->module, value)->object));
    }
    grout_printer__text(pr, ")");
    print_attrs(pr, op);
}

static void print_warp_map(const grout_printer *pr, const grout_op *op) {
    grout_printer__text(pr, "warp_map(");
    grout_printer__value(pr, grout_module_get_block(pr->module, op->first_block)->first_arg);
    grout_printer__text(pr, ")");
}

/* An 'if', like a 'warp_specialize', is written as a plain op is: its bodies follow. */
static void print_if(const grout_printer *pr, const grout_op *op) {
    print_plain(pr, op);
}

static void print_warp_specialize(const grout_printer *pr, const grout_op *op) {
    print_plain(pr, op);
}

/* By form; NULL of forms without blocks. */
typedef void region_header(const grout_printer *pr, const grout_op *op);
static region_header *const region_headers[GROUT_FORM_COUNT] = {
#define GROUT_REGION(FORM, text, KIND, LEAD_OPERANDS, LEAD_ARGS, BLOCKS, YIELDS) \
    [GROUT_FORM_##FORM] = print_##text,
#include "grout/ops.def"
};

static void print_body(const grout_printer *pr, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    switch ((grout_shape)info->shape) {
    case GROUT_SHAPE_PLAIN:
    case GROUT_SHAPE_END:
        print_plain(pr, op);
        break;
    case GROUT_SHAPE_SCRATCH:
        print_scratch(pr, op);
        break;
    case GROUT_SHAPE_REGION:
        region_headers[info->form](pr, op);
        break;
    }
}

void grout_printer__op(const grout_printer *pr, grout_op_id id) {
    const grout_op *op = grout_module_get_op(pr->module, id);
    bool is_object = grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_SCRATCH;
    bool has_names = op->result_count > 0 && !is_object &&
                     grout_module_get_value(pr->module, op->first_result)->name != 0;
    for (uint32_t i = 0; has_names && i < op->result_count; i++) {
        grout_printer__text(pr, i > 0 ? ", " : "");
        grout_printer__value(pr, op->first_result + i);
    }
    grout_printer__text(pr, has_names ? " = " : "");
    if ((op->flags & GROUT_OP_FLAG_INFIX) != 0) {
        print_infix(pr, op, GROUT_LEVEL_ANY);
    } else {
        print_body(pr, op);
    }
}

/* What is nested in what inside an op. False without memory. */
static bool init_nesting(grout_nesting *nesting, const grout_module *module, grout_op_id op,
                         grout_text *out) {
    const bool has_memory = grout_nesting__init_statement(nesting, module, op);
    out->failed = out->failed || !has_memory;
    return has_memory;
}

grout_surface grout_module_get_surface(const grout_module *module) {
    return (grout_surface)module->surface;
}

void grout_name_print(const grout_module *module, grout_string_id name, grout_text *out) {
    grout_text_add(out, "%s%s", grout_module_get_surface(module) == GROUT_SURFACE_TEXT ? "%" : "",
                   grout_module_get_string(module, name));
}

void grout_op_print(const grout_module *module, grout_op_id op, grout_text *out) {
    grout_nesting nesting;
    const grout_printer pr = {.module = module, .out = out, .nesting = &nesting};
    if (init_nesting(&nesting, module, op, out)) {
        grout_printer__op(&pr, op);
    }
    grout_nesting__deinit(&nesting);
}

void grout_operand_print(const grout_module *module, grout_op_id op, uint32_t i, grout_text *out) {
    grout_nesting nesting;
    const grout_printer pr = {.module = module, .out = out, .nesting = &nesting};
    if (init_nesting(&nesting, module, op, out)) {
        print_operand(&pr, grout_module_get_operand(module, grout_module_get_op(module, op), i),
                      GROUT_LEVEL_ANY);
    }
    grout_nesting__deinit(&nesting);
}
