/* infer_operand.c - what the operands of an operation are: values, constants, references.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

grout_value_text grout_infer__get_operand_text(const grout_binding *binding, const grout_op *op,
                                               uint32_t index) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    char fallback[32];
    snprintf(fallback, sizeof fallback, "operand %" PRIu32, index + 1);
    if (operand->kind == GROUT_OPERAND_VALUE) {
        return grout_value__get_text(binding->module, operand->id, fallback);
    }
    grout_value_text text;
    if (operand->kind == GROUT_OPERAND_REF) {
        const grout_ref *ref = grout_module_get_ref(binding->module, operand->id);
        const grout_value *base = grout_module_get_value(binding->module, ref->base);
        snprintf(text.chars, sizeof text.chars, "'%%%s[..]'",
                 grout_module_get_string(binding->module, base->name));
    } else if (operand->kind == GROUT_OPERAND_EXPR) {
        snprintf(text.chars, sizeof text.chars, "'%s'",
                 grout_fold__get_text(binding->module, operand->id).chars);
    } else {
        snprintf(text.chars, sizeof text.chars, "%s", fallback);
    }
    return text;
}

/* ---- references ------------------------------------------------------------------------------ */

/* A descriptor that is not indexed with a start for each dimension. */
static void report_box(grout_binding *binding, const grout_operand *operand,
                       const grout_view_problem *problem, const char *name) {
    grout_loc_id loc = problem->step == NULL ? operand->loc : problem->step->loc;
    grout_binding__report(
        binding, GROUT_DIAG_BAD_INDEX, loc,
        "%s is a TMA descriptor: it is indexed once, with the start of the box in "
        "each of its %d dimensions",
        name, problem->rank);
    grout_diags_help(binding->diags, "the box's size is that of the descriptor: write starts only, "
                                     "and no ds(..), colons or views");
}

/* A .cluster(..) that is none. */
static void report_cluster(grout_binding *binding, const grout_view_problem *problem,
                           const char *name) {
    const grout_module *module = binding->module;
    grout_loc_id loc = problem->step->loc;
    if (problem->fault == GROUT_VIEW_CLUSTER_TWICE) {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "'.cluster' stands twice: a reference lies in one CTA");
        return;
    }
    if (problem->fault == GROUT_VIEW_CLUSTER) {
        grout_binding__report(
            binding, GROUT_DIAG_BAD_SPACE, loc,
            "'.cluster' of %s: other CTAs of the cluster are reached in SMEM only", name);
        grout_diags_help(binding->diags, "it is for smem arrays, barriers and mbarriers");
        return;
    }
    const grout_kernel *kernel =
        grout_module_get_kernel(module, grout_object__get_kernel(module, problem->object));
    uint32_t axes = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        axes += kernel->axes[i].kind == GROUT_AXIS_CLUSTER;
    }
    if (axes == 0) {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "'.cluster' in a kernel without cluster axes");
        grout_diags_help(binding->diags, "name them in the kernel's header: 'cluster(cx = 2)'");
        return;
    }
    grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                          "'.cluster' takes the place on each of the %" PRIu32
                          " cluster axes, found %d",
                          axes, problem->step->count);
    grout_diags_help(binding->diags, "axis_index gives the own place on an axis");
}

/* A .reshape that is none. */
static void report_reshape(grout_binding *binding, const grout_view_problem *problem,
                           const char *name, const grout_type *type) {
    grout_loc_id loc = problem->step->loc;
    if (problem->fault == GROUT_VIEW_RESHAPE_DIMS) {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "a reshape has dimensions of 1 to %d elements, and with those that "
                              "were indexed before at most %d of them",
                              GROUT_DIM_MAX, GROUT_RANK_MAX);
    } else if (problem->fault == GROUT_VIEW_RESHAPE_COUNT) {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "a reshape of %s, which is %s, to another number of elements", name,
                              grout_type__get_text(type).chars);
    } else {
        const bool is_custom =
            grout_module_get_object(binding->module, problem->object)->layout != 0;
        grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, loc,
                              "with these dimensions the %s of %s would put its elements elsewhere",
                              is_custom ? "layout(..)" : "tile and swizzle", name);
        grout_diags_help(binding->diags,
                         is_custom
                             ? "a layout(..) is for the dimensions it was written for: make "
                               "an alias with one of its own"
                             : "join a dimension with the next one only where its tile is one "
                               "element wide, or reshape the value that is loaded");
    }
}

/* A .bitcast that is none. */
static void report_bitcast(grout_binding *binding, const grout_view_problem *problem,
                           const char *name, const grout_type *type) {
    const grout_ref_step *step = problem->step;
    const char *dtype = grout_dtype_get_info((grout_dtype)step->dtype)->text;
    if (problem->fault == GROUT_VIEW_RECAST_SIZE) {
        grout_binding__report(
            binding, GROUT_DIAG_BAD_INDEX, step->loc,
            "the innermost dimension of %s, which is %s, is not a whole number of "
            "%s elements",
            name, grout_type__get_text(type).chars, dtype);
        grout_diags_help(binding->diags,
                         "a bitcast changes the innermost dimension only, and its tile");
        return;
    }
    grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, step->loc,
                          "the innermost dimension of %s is not the innermost in memory: "
                          "neighbouring bytes are no %s element",
                          name, dtype);
    grout_diags_help(binding->diags,
                     "declare an array without transpose, and view that transposed");
}

/* A .bitcast or .reshape that is none. */
static void report_recast(grout_binding *binding, const grout_view_problem *problem,
                          const char *name, const grout_type *type) {
    const grout_ref_step *step = problem->step;
    const bool is_bitcast = step->kind == GROUT_REF_BITCAST;
    const char *view = is_bitcast ? "bitcast" : "reshape";
    if (problem->fault == GROUT_VIEW_RECAST_SPACE && type->is_expanded) {
        grout_binding__report(binding, GROUT_DIAG_BAD_SPACE, step->loc,
                              "'.%s' of %s, which is %s: its elements lie across bytes", view, name,
                              grout_type__get_text(type).chars);
        grout_diags_help(binding->diags, "it has no other view");
    } else if (problem->fault == GROUT_VIEW_RECAST_SPACE) {
        grout_binding__report(binding, GROUT_DIAG_BAD_SPACE, step->loc,
                              "'.%s' of %s: it is for arrays in smem", view, name);
        grout_diags_help(binding->diags, "a value in registers is cast: (cast .. : f32)");
    } else if (problem->fault == GROUT_VIEW_RECAST_PART) {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, step->loc,
                              "'.%s' of a part of %s: leading dimensions may have been indexed, "
                              "and the others are whole and in their order",
                              view, name);
        grout_diags_help(binding->diags, "write the slice or the transposition after the %s", view);
    } else if (is_bitcast) {
        report_bitcast(binding, problem, name, type);
    } else {
        report_reshape(binding, problem, name, type);
    }
}

/* A reference that divides a byte of packed elements. */
static void report_packed(grout_binding *binding, const grout_view_problem *problem,
                          const char *name, const grout_type *type) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const grout_loc_id loc = problem->step->loc;
    if (problem->fault == GROUT_VIEW_PACKED_ORDER) {
        grout_binding__report(
            binding, GROUT_DIAG_BAD_INDEX, loc,
            "%s is %s, packed along the last dimension, which has to stay the last", name,
            grout_type__get_text(type).chars);
        grout_diags_help(binding->diags, "load it as it lies, and transpose the value");
        return;
    }
    grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                          "%s is %s, and a reference takes whole bytes of it: %d elements each",
                          name, grout_type__get_text(type).chars, info->packed);
    if (problem->fault == GROUT_VIEW_PACKED_ONE) {
        grout_diags_help(binding->diags,
                         "load the byte, as in [ds(0, %d)], and take the element by a slice of "
                         "the value",
                         info->packed);
    } else {
        grout_diags_help(binding->diags,
                         "start at a multiple of %d in the last dimension, and take "
                         "a multiple of %d",
                         info->packed, info->packed);
    }
}

/* A start that is no i32, or a slice without elements. */
static void report_number(grout_binding *binding, const grout_view_problem *problem) {
    const grout_module *module = binding->module;
    const grout_index *index = grout_module_get_index(module, problem->step, problem->index);
    const bool is_start = problem->fault == GROUT_VIEW_START;
    const grout_expr_id expr = is_start ? index->start.id : index->size;
    const grout_loc_id loc = grout_module_get_expr(module, expr)->loc;
    const int64_t value = binding->bound->expr_values[expr].integer;
    if (is_start) {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "'%s' is %" PRId64 ", and an index is an i32",
                              grout_fold__get_text(module, expr).chars, value);
    } else {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "a slice of %" PRId64 " elements: the size has to be at least 1",
                              value);
    }
}

static void report_view(grout_binding *binding, const grout_operand *operand,
                        const grout_view_problem *problem) {
    const grout_module *module = binding->module;
    grout_type type =
        problem->object == 0 ? (grout_type){0} : binding->bound->object_types[problem->object];
    grout_value_text name = {{0}};
    const grout_ref *ref =
        operand->kind == GROUT_OPERAND_REF ? grout_module_get_ref(module, operand->id) : NULL;
    name = grout_value__get_text(module, ref == NULL ? operand->id : ref->base, "the reference");
    if (problem->fault == GROUT_VIEW_DESCRIPTOR) {
        report_box(binding, operand, problem, name.chars);
        return;
    }
    if (problem->step == NULL) {
        grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                              "%s is a value: only references to memory have indices", name.chars);
        grout_diags_help(binding->diags, "index the reference that it is loaded from");
        return;
    }
    grout_loc_id loc = problem->step->loc;
    switch (problem->fault) {
    case GROUT_VIEW_FINE:
    case GROUT_VIEW_NO_REFERENCE:
        break;
    case GROUT_VIEW_TOO_MANY:
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "%d indices for the %d dimensions left of %s, which is %s",
                              problem->step->count, problem->rank, name.chars,
                              grout_type__get_text(&type).chars);
        break;
    case GROUT_VIEW_PERMUTATION:
        grout_binding__report(
            binding, GROUT_DIAG_BAD_INDEX, loc,
            "transpose takes each of the dimensions 0 to %d of the reference once",
            problem->rank - 1);
        break;
    case GROUT_VIEW_START:
    case GROUT_VIEW_SIZE:
        report_number(binding, problem);
        break;
    case GROUT_VIEW_TERMS:
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "more than %d computed starts in one dimension of %s",
                              GROUT_VIEW_TERMS_MAX, name.chars);
        grout_diags_help(binding->diags, "add the starts first, and index once");
        break;
    case GROUT_VIEW_DESCRIPTOR:
        break; /* above */
    case GROUT_VIEW_CLUSTER:
    case GROUT_VIEW_CLUSTER_TWICE:
    case GROUT_VIEW_CLUSTER_COUNT:
        report_cluster(binding, problem, name.chars);
        break;
    case GROUT_VIEW_RECAST_SPACE:
    case GROUT_VIEW_RECAST_PART:
    case GROUT_VIEW_RECAST_SIZE:
    case GROUT_VIEW_RECAST_LAYOUT:
    case GROUT_VIEW_RESHAPE_DIMS:
    case GROUT_VIEW_RESHAPE_COUNT:
    case GROUT_VIEW_RESHAPE_LAYOUT:
        report_recast(binding, problem, name.chars, &type);
        break;
    case GROUT_VIEW_PACKED_ONE:
    case GROUT_VIEW_PACKED_PART:
    case GROUT_VIEW_PACKED_ORDER:
        report_packed(binding, problem, name.chars, &type);
        break;
    }
}

void grout_infer__help_operands(grout_binding *binding, const grout_op *op) {
    grout_text usage = {.allocator = binding->module->allocator};
    grout_op_print_usage((grout_opcode)op->opcode, &usage);
    if (usage.data != NULL) {
        grout_diags_help(binding->diags, "it is written: %s", usage.data);
    }
    grout_text_free(&usage);
}

/* An index is an i32 scalar. */
static bool check_start(grout_binding *binding, const grout_op *op, const grout_operand *start) {
    if (start->kind == GROUT_OPERAND_EXPR) {
        binding->bound->expr_dtypes[start->id] = GROUT_DTYPE_I32;
        return true;
    }
    if (start->kind != GROUT_OPERAND_VALUE) {
        return true;
    }
    const grout_type *type = &binding->bound->value_types[start->id];
    if (type->kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (type->kind == GROUT_TYPE_SCALAR && type->dtype == GROUT_DTYPE_I32) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, start->loc == 0 ? op->loc : start->loc,
                          "an index is %si32, and this is %s",
                          type->kind == GROUT_TYPE_ARRAY ? "one " : "an ",
                          grout_type__get_text(type).chars);
    if (type->kind == GROUT_TYPE_ARRAY) {
        grout_diags_help(binding->diags, "load one element: index every dimension of the reference "
                                         "that it is loaded from");
    } else {
        grout_diags_help(binding->diags, "cast it: (cast .. : i32)");
    }
    return false;
}

/* Whether the indices of a step have starts: those of a view by constants have none. */
static bool has_starts(const grout_ref_step *step) {
    return step->kind == GROUT_REF_INDEX || step->kind == GROUT_REF_CLUSTER;
}

static bool check_starts(grout_binding *binding, const grout_op *op, const grout_operand *operand) {
    if (operand->kind != GROUT_OPERAND_REF) {
        return true;
    }
    const grout_ref *ref = grout_module_get_ref(binding->module, operand->id);
    bool ok = true;
    for (uint32_t k = 0; k < ref->step_count; k++) {
        const grout_ref_step *step = grout_module_get_ref_step(binding->module, ref, k);
        for (uint32_t i = 0; has_starts(step) && i < step->count; i++) {
            ok = check_start(binding, op,
                             &grout_module_get_index(binding->module, step, i)->start) &&
                 ok;
        }
    }
    return ok;
}

/* What an operand of the kind is called. */
static const char *get_kind_text(grout_type_kind kind) {
    return kind == GROUT_TYPE_REF         ? "a reference to memory"
           : kind == GROUT_TYPE_SEMAPHORE ? "a semaphore"
                                          : "a barrier";
}

/* A barrier or semaphore of several has to be named by its index. */
static bool check_one(grout_binding *binding, const grout_op *op, uint32_t index,
                      const grout_type *type) {
    const char *what = type->kind == GROUT_TYPE_BARRIER ? "barrier" : "semaphore";
    if (type->kind == GROUT_TYPE_REF || grout_type_get_count(type) == 1) {
        return true;
    }
    grout_binding__report(
        binding, GROUT_DIAG_BAD_INDEX, grout_infer__get_operand(binding, op, index)->loc,
        "'%s' takes one %s, and %s is %s", grout_infer__get_mnemonic(op), what,
        grout_infer__get_operand_text(binding, op, index).chars, grout_type__get_text(type).chars);
    grout_diags_help(binding->diags, "index it: which of the %ss is meant?", what);
    return false;
}

/* Whether its plan says along which dimension packed elements may lie: the tensor core reads b as
 * [K, N], and elements of 4 bits along K. */
static bool takes_turned(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_TCGEN05;
}

grout_type grout_infer__get_reference(grout_binding *binding, const grout_op *op, uint32_t index,
                                      grout_type_kind kind) {
    const grout_type none = {.kind = GROUT_TYPE_NONE};
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    const char *wanted = get_kind_text(kind);
    grout_view view;
    if (operand->kind != GROUT_OPERAND_REF && operand->kind != GROUT_OPERAND_VALUE) {
        grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                              "'%s' takes %s here, and %s is a constant",
                              grout_infer__get_mnemonic(op), wanted,
                              grout_infer__get_operand_text(binding, op, index).chars);
        grout_infer__help_operands(binding, op);
        return none;
    }
    grout_view_problem problem = grout_view__resolve(binding->module, operand, &view);
    if (problem.fault == GROUT_VIEW_NO_REFERENCE && operand->kind == GROUT_OPERAND_VALUE) {
        const grout_type *type = &binding->bound->value_types[operand->id];
        if (type->kind == GROUT_TYPE_NONE) {
            return none;
        }
        grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                              "'%s' takes %s here, and %s is a value, %s",
                              grout_infer__get_mnemonic(op), wanted,
                              grout_infer__get_operand_text(binding, op, index).chars,
                              grout_type__get_text(type).chars);
        grout_infer__help_operands(binding, op);
        return none;
    }
    if (problem.object != 0 &&
        binding->bound->object_types[problem.object].kind == GROUT_TYPE_NONE) {
        return none; /* its declaration has been reported */
    }
    if (problem.fault != GROUT_VIEW_FINE &&
        !(problem.fault == GROUT_VIEW_PACKED_ORDER && takes_turned(op))) {
        report_view(binding, operand, &problem);
        return none;
    }
    grout_type type = grout_view__get_type(binding->module, &view);
    if (!check_starts(binding, op, operand)) {
        return none;
    }
    if (type.kind != kind) {
        grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                              "'%s' takes %s here, and %s is %s", grout_infer__get_mnemonic(op),
                              wanted, grout_infer__get_operand_text(binding, op, index).chars,
                              grout_type__get_text(&type).chars);
        grout_infer__help_operands(binding, op);
        return none;
    }
    return check_one(binding, op, index, &type) ? type : none;
}

/* ---- values and constants -------------------------------------------------------------------- */

static grout_rule get_rule(const grout_op *op) {
    return (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
}

/* Whether the operand is an object of the very scope that the 'yield' ends. */
static bool leaves_its_scope(const grout_binding *binding, const grout_op *op,
                             const grout_operand *operand) {
    const grout_module *module = binding->module;
    grout_value_id base = operand->kind == GROUT_OPERAND_REF
                              ? grout_module_get_ref(module, operand->id)->base
                              : operand->id;
    const grout_value *value = grout_module_get_value(module, base);
    return get_rule(op) == GROUT_RULE_YIELD && value->kind == GROUT_VALUE_OBJECT &&
           value->block == op->parent;
}

/* The value that an operand names: itself, or what it indexes. */
static grout_value_id get_base(const grout_binding *binding, const grout_operand *operand) {
    return operand->kind == GROUT_OPERAND_REF
               ? grout_module_get_ref(binding->module, operand->id)->base
               : operand->id;
}

/* How to get at the elements of a reference; an accumulator stays what it is over a loop's turns.
 */
static void help_reference(grout_binding *binding, const grout_op *op,
                           const grout_operand *operand) {
    const grout_module *module = binding->module;
    grout_value_id base = get_base(binding, operand);
    grout_object_id object = grout_module_get_value(module, base)->object;
    const grout_op *carrier = op;
    if (get_rule(op) == GROUT_RULE_YIELD &&
        grout_module_get_block(module, op->parent)->parent != 0) {
        carrier = grout_module_get_op(module, grout_module_get_block(module, op->parent)->parent);
    }
    bool is_loop = grout_op_get_region_kind(carrier) == GROUT_REGION_LOOP;
    if (is_loop && object != 0 &&
        grout_space_is_of_thread(grout_module_get_object(module, object)->space)) {
        grout_diags_help(binding->diags, "use %s in the body; an accumulator is never carried",
                         grout_value__get_text(module, base, "it").chars);
    } else {
        grout_diags_help(binding->diags, "load it first, as in (load ..)");
    }
}

static bool is_descriptor(const grout_binding *binding, const grout_operand *operand) {
    return grout_value__get_descriptor(binding->module, get_base(binding, operand)) != NULL;
}

/* '%v[0, :]' of a scalar or of an array in registers. */
static bool is_indexed_value(const grout_binding *binding, const grout_operand *operand) {
    uint8_t kind = binding->bound->value_types[get_base(binding, operand)].kind;
    return operand->kind == GROUT_OPERAND_REF &&
           (kind == GROUT_TYPE_SCALAR || kind == GROUT_TYPE_ARRAY);
}

grout_type grout_infer__get_value(grout_binding *binding, const grout_op *op, uint32_t index) {
    const grout_type none = {.kind = GROUT_TYPE_NONE};
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    if (operand->kind == GROUT_OPERAND_EXPR) {
        return (grout_type){.kind = GROUT_TYPE_SCALAR, .dtype = GROUT_DTYPE_NONE};
    }
    if (operand->kind == GROUT_OPERAND_VALUE) {
        const grout_type *type = &binding->bound->value_types[operand->id];
        if (type->kind <= GROUT_TYPE_ARRAY) {
            return *type;
        }
    }
    if (is_descriptor(binding, operand)) {
        grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                              "'%s' takes a value here, and %s is a TMA descriptor",
                              grout_infer__get_mnemonic(op),
                              grout_infer__get_operand_text(binding, op, index).chars);
        grout_diags_help(binding->diags, "a descriptor is for copies, indexed with the start of a "
                                         "box; it is never carried, yielded or stored");
        return none;
    }
    if (is_indexed_value(binding, operand)) {
        grout_binding__report(
            binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
            "%s is a value: only references to memory have indices",
            grout_value__get_text(binding->module, get_base(binding, operand), "it").chars);
        grout_diags_help(binding->diags, "index the reference that it is loaded from");
        return none;
    }
    if (leaves_its_scope(binding, op, operand)) {
        grout_binding__report(binding, GROUT_DIAG_USE_AFTER_SCOPE, operand->loc,
                              "%s ends with the scope that this 'yield' closes",
                              grout_infer__get_operand_text(binding, op, index).chars);
        grout_diags_help(binding->diags,
                         "yield its elements, as in (load ..), or make it by scratch");
        return none;
    }
    grout_binding__report(binding, GROUT_DIAG_OPERAND_KIND, operand->loc,
                          "'%s' takes a value here, and %s is a reference to memory",
                          grout_infer__get_mnemonic(op),
                          grout_infer__get_operand_text(binding, op, index).chars);
    help_reference(binding, op, operand);
    return none;
}

grout_dtype grout_infer__get_default(const grout_binding *binding, const grout_operand *operand) {
    const grout_expr_value *value = &binding->bound->expr_values[operand->id];
    if (value->bits_dtype != GROUT_DTYPE_NONE) {
        return (grout_dtype)value->bits_dtype;
    }
    return value->is_bool ? GROUT_DTYPE_BOOL : value->is_float ? GROUT_DTYPE_F32 : GROUT_DTYPE_I32;
}

bool grout_infer__set_constant(grout_binding *binding, const grout_op *op, uint32_t index,
                               grout_dtype dtype) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    const grout_expr_value *value = &binding->bound->expr_values[operand->id];
    binding->bound->expr_dtypes[operand->id] = (uint8_t)dtype;
    if (!grout_number__is_constant_of(value, dtype)) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, operand->loc,
                              "'%s' takes an element of %s here, and the constant %s is none",
                              grout_infer__get_mnemonic(op), grout_infer__get_dtype_text(dtype),
                              grout_infer__get_operand_text(binding, op, index).chars);
        if (value->bits_dtype != GROUT_DTYPE_NONE) {
            grout_diags_help(binding->diags,
                             "the literal names its type: write the number alone, or cast the "
                             "other operand");
        } else if (dtype == GROUT_DTYPE_BOOL) {
            grout_diags_help(binding->diags, "write true or false, or compare, as in (ne .., 0)");
        } else if (value->is_bool) {
            grout_diags_help(binding->diags, "write 1 for true, 0 for false");
        } else if (value->is_float) {
            grout_diags_help(binding->diags, "constants are not cast either: write an integer, or "
                                             "cast the other operand to f32");
        }
        return false;
    }
    if (!grout_fold__fits(value, dtype)) {
        grout_binding__report(binding, GROUT_DIAG_BAD_LITERAL, operand->loc, "%s does not fit %s",
                              grout_infer__get_operand_text(binding, op, index).chars,
                              grout_infer__get_dtype_text(dtype));
        grout_number__help_range(dtype, binding->diags);
        return false;
    }
    return true;
}

bool grout_infer__check_scalar(grout_binding *binding, const grout_op *op, uint32_t index,
                               grout_dtype dtype, const char *what) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    grout_type type = grout_infer__get_value(binding, op, index);
    if (type.kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (operand->kind == GROUT_OPERAND_EXPR) {
        return grout_infer__set_constant(binding, op, index, dtype);
    }
    if (type.kind == GROUT_TYPE_SCALAR && type.dtype == dtype) {
        return true;
    }
    bool is_branch = grout_op_get_region_kind(op) == GROUT_REGION_BRANCH;
    bool is_condition = is_branch || get_rule(op) == GROUT_RULE_CONDITION;
    grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, operand->loc, "%s is %s, not %s", what,
                          grout_infer__get_dtype_text(dtype), grout_type__get_text(&type).chars);
    if (type.kind == GROUT_TYPE_ARRAY && is_condition) {
        grout_diags_help(binding->diags,
                         "it decides for the whole thread: load or reduce to one "
                         "element%s",
                         is_branch ? ", or use select" : "");
    } else if (type.kind == GROUT_TYPE_ARRAY) {
        grout_diags_help(binding->diags, "load one element: index every dimension");
    } else if (dtype == GROUT_DTYPE_BOOL) {
        grout_diags_help(binding->diags, "compare it, as in (ne .., 0)");
    } else {
        grout_diags_help(binding->diags, "cast it: (cast .. : %s)",
                         grout_infer__get_dtype_text(dtype));
    }
    return false;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* A module from text cannot fail here: the parser looks names up. One from the builder can. */
static bool check_value(grout_binding *binding, const grout_op *op, grout_value_id id) {
    grout_block_id scope = binding->value_scopes[id];
    if (scope != 0 && binding->open_blocks[scope]) {
        return true;
    }
    return grout_binding__report(
        binding, GROUT_DIAG_UNKNOWN_NAME, op->loc, "'%s' uses %s where it is not defined",
        grout_infer__get_mnemonic(op), grout_value__get_text(binding->module, id, "a value").chars);
}

static bool check_ref_values(grout_binding *binding, const grout_op *op, const grout_ref *ref) {
    const grout_module *module = binding->module;
    if (!check_value(binding, op, ref->base)) {
        return false;
    }
    for (uint32_t s = 0; s < ref->step_count; s++) {
        const grout_ref_step *step = grout_module_get_ref_step(module, ref, s);
        for (uint32_t i = 0; i < step->count; i++) {
            const grout_operand *start = &grout_module_get_index(module, step, i)->start;
            if (start->kind == GROUT_OPERAND_VALUE && !check_value(binding, op, start->id)) {
                return false;
            }
        }
    }
    return true;
}

bool grout_infer__check_uses(grout_binding *binding, const grout_op *op) {
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_infer__get_operand(binding, op, k);
        if (operand->kind == GROUT_OPERAND_VALUE && !check_value(binding, op, operand->id)) {
            return false;
        }
        if (operand->kind == GROUT_OPERAND_REF &&
            !check_ref_values(binding, op, grout_module_get_ref(binding->module, operand->id))) {
            return false;
        }
    }
    return true;
}
