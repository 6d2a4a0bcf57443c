/* fold.c - constant expressions: checked 64-bit integers, doubles, truth values, bit patterns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include "alloc.h"
#include "grout-internal/text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STATE_NEW, STATE_OPEN, STATE_DONE, STATE_FAILED };

/* Evaluation walks with a stack of its own: a chain of consts may be longer than ours. */
typedef struct folding {
    grout_binding *binding;
    const grout_module *module;
    uint8_t *states;      /* by expr */
    uint32_t *consts;     /* by expr: the const that it is the whole value of, 0 for none */
    grout_expr_id *stack; /* each expr pushes its operands once: twice their number is enough */
} folding;

static const char *const operator_texts[] = {[GROUT_EXPR_ADD] = "+",
                                             [GROUT_EXPR_SUB] = "-",
                                             [GROUT_EXPR_MUL] = "*",
                                             [GROUT_EXPR_DIV] = "/",
                                             [GROUT_EXPR_REM] = "%",
                                             [GROUT_EXPR_SHL] = "<<",
                                             [GROUT_EXPR_SHR] = ">>",
                                             [GROUT_EXPR_EQ] = "==",
                                             [GROUT_EXPR_NE] = "!=",
                                             [GROUT_EXPR_LT] = "<",
                                             [GROUT_EXPR_LE] = "<=",
                                             [GROUT_EXPR_GT] = ">",
                                             [GROUT_EXPR_GE] = ">=",
                                             [GROUT_EXPR_MIN] = "min",
                                             [GROUT_EXPR_MAX] = "max",
                                             [GROUT_EXPR_CDIV] = "cdiv",
                                             [GROUT_EXPR_ALIGN_UP] = "align_up",
                                             [GROUT_EXPR_LOG2] = "log2",
                                             [GROUT_EXPR_NEG] = "-"};

grout_expr_text grout_fold__get_text(const grout_module *module, grout_expr_id id) {
    grout_expr_text short_text = {{0}};
    grout_text text = {.allocator = module->allocator};
    grout_expr_print(module, id, &text);
    if (text.data != NULL && text.size < sizeof short_text.chars) {
        memcpy(short_text.chars, text.data, text.size + 1);
    } else if (text.data != NULL) {
        memcpy(short_text.chars, text.data, sizeof short_text.chars - 4);
        memcpy(short_text.chars + sizeof short_text.chars - 4, "...", 4);
    }
    grout_text_free(&text);
    return short_text;
}

/* ---- operators ------------------------------------------------------------------------------- */

/* One operator on its way: the operation for messages, and what it gives. */
typedef struct operation {
    folding *fold;
    const grout_expr *expr;
    grout_expr_id id;
    grout_expr_value a, b;
    grout_expr_value result;
} operation;

static bool fail(operation *op, grout_diag_code code, const char *reason) {
    const char *text = operator_texts[op->expr->operator_];
    grout_expr_text whole = grout_fold__get_text(op->fold->module, op->id);
    if (op->expr->b == 0) {
        return grout_binding__report(op->fold->binding, code, op->expr->loc,
                                     "'%s' %s: %s of %" PRId64, whole.chars, reason, text,
                                     op->a.integer);
    }
    return grout_binding__report(op->fold->binding, code, op->expr->loc,
                                 "'%s' %s: %" PRId64 " %s %" PRId64, whole.chars, reason,
                                 op->a.integer, text, op->b.integer);
}

static bool fail_type(operation *op, const char *reason) {
    grout_expr_text whole = grout_fold__get_text(op->fold->module, op->id);
    return grout_binding__report(op->fold->binding, GROUT_DIAG_CONST_TYPE, op->expr->loc,
                                 "'%s': %s", whole.chars, reason);
}

/* An infinity that was not written comes of an overflow. */
static bool set_number(operation *op, double value) {
    bool is_written = (op->a.is_float && isinf(op->a.number)) ||
                      (op->expr->b != 0 && op->b.is_float && isinf(op->b.number));
    op->result = (grout_expr_value){.is_float = true, .number = value};
    if (isfinite(value) || (is_written && isinf(value))) {
        return true;
    }
    grout_expr_text whole = grout_fold__get_text(op->fold->module, op->id);
    return grout_binding__report(op->fold->binding, GROUT_DIAG_CONST_OVERFLOW, op->expr->loc,
                                 "'%s' leaves the range of a double", whole.chars);
}

/* order: negative, 0 or positive, as a is to b. */
static bool compare(operation *op, int order) {
    enum { LESS = 1, EQUAL = 2, GREATER = 4 };
    static const uint8_t accepted[] = {
        [GROUT_EXPR_EQ] = EQUAL,   [GROUT_EXPR_NE] = LESS | GREATER,
        [GROUT_EXPR_LT] = LESS,    [GROUT_EXPR_LE] = LESS | EQUAL,
        [GROUT_EXPR_GT] = GREATER, [GROUT_EXPR_GE] = GREATER | EQUAL};
    int kind = order < 0 ? LESS : order > 0 ? GREATER : EQUAL;
    op->result =
        (grout_expr_value){.is_bool = true, .integer = (accepted[op->expr->operator_] & kind) != 0};
    return true;
}

/* Towards plus infinity; b is not 0 and the quotient fits. */
static int64_t divide_up(int64_t a, int64_t b) {
    return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

static bool divide(operation *op) {
    int64_t a = op->a.integer, b = op->b.integer, *result = &op->result.integer;
    if (b == 0) {
        return fail(op, GROUT_DIAG_CONST_DOMAIN, "divides by zero");
    }
    if (a == INT64_MIN && b == -1) {
        return fail(op, GROUT_DIAG_CONST_OVERFLOW, "leaves 64 bits");
    }
    if (op->expr->operator_ == GROUT_EXPR_REM) {
        *result = a % b;
        return true;
    }
    if (op->expr->operator_ == GROUT_EXPR_CDIV) {
        *result = divide_up(a, b);
        return true;
    }
    if (op->expr->operator_ == GROUT_EXPR_ALIGN_UP) {
        if (b < 0) {
            return fail(op, GROUT_DIAG_CONST_DOMAIN, "aligns to a negative number");
        }
        return !__builtin_mul_overflow(divide_up(a, b), b, result) ||
               fail(op, GROUT_DIAG_CONST_OVERFLOW, "leaves 64 bits");
    }
    *result = a / b;
    if (a % b != 0) {
        fail(op, GROUT_DIAG_INEXACT_DIVISION, "leaves a remainder");
        grout_diags_help(op->fold->binding->diags,
                         "choose sizes that divide, or write cdiv(..) to round up");
        return false;
    }
    return true;
}

static bool shift(operation *op) {
    int64_t a = op->a.integer, b = op->b.integer, *result = &op->result.integer;
    if (b < 0 || b > 63) {
        return fail(op, GROUT_DIAG_CONST_DOMAIN, "shifts by a number outside 0 to 63");
    }
    if (op->expr->operator_ == GROUT_EXPR_SHR) {
        *result = a >= 0 ? a >> b : ~(~a >> b);
        return true;
    }
    bool fits = true;
    if (b == 63) {
        fits = a == 0 || a == -1;
        *result = a == 0 ? 0 : INT64_MIN;
    } else {
        fits = !__builtin_mul_overflow(a, INT64_C(1) << b, result);
    }
    return fits || fail(op, GROUT_DIAG_CONST_OVERFLOW, "leaves 64 bits");
}

static bool take_log2(operation *op) {
    int64_t a = op->a.integer;
    if (a < 1 || (a & (a - 1)) != 0) {
        return fail(op, GROUT_DIAG_CONST_DOMAIN, "is not the logarithm of a power of two");
    }
    op->result.integer = 0;
    while (a >> op->result.integer != 1) {
        op->result.integer++;
    }
    return true;
}

static bool apply_integer(operation *op) {
    int64_t a = op->a.integer, b = op->b.integer, *result = &op->result.integer;
    bool overflow = false;
    switch ((grout_expr_operator)op->expr->operator_) {
    case GROUT_EXPR_ADD:
        overflow = __builtin_add_overflow(a, b, result);
        break;
    case GROUT_EXPR_SUB:
        overflow = __builtin_sub_overflow(a, b, result);
        break;
    case GROUT_EXPR_MUL:
        overflow = __builtin_mul_overflow(a, b, result);
        break;
    case GROUT_EXPR_NEG:
        overflow = __builtin_sub_overflow(INT64_C(0), a, result);
        break;
    case GROUT_EXPR_DIV:
    case GROUT_EXPR_REM:
    case GROUT_EXPR_CDIV:
    case GROUT_EXPR_ALIGN_UP:
        return divide(op);
    case GROUT_EXPR_SHL:
    case GROUT_EXPR_SHR:
        return shift(op);
    case GROUT_EXPR_MIN:
        *result = a < b ? a : b;
        break;
    case GROUT_EXPR_MAX:
        *result = a > b ? a : b;
        break;
    case GROUT_EXPR_LOG2:
        return take_log2(op);
    case GROUT_EXPR_EQ:
    case GROUT_EXPR_NE:
    case GROUT_EXPR_LT:
    case GROUT_EXPR_LE:
    case GROUT_EXPR_GT:
    case GROUT_EXPR_GE:
        return compare(op, (a > b) - (a < b));
    }
    return !overflow || fail(op, GROUT_DIAG_CONST_OVERFLOW, "leaves 64 bits");
}

static bool apply_float(operation *op) {
    double a = op->a.is_float ? op->a.number : (double)op->a.integer;
    double b = op->b.is_float ? op->b.number : (double)op->b.integer;
    switch ((grout_expr_operator)op->expr->operator_) {
    case GROUT_EXPR_ADD:
        return set_number(op, a + b);
    case GROUT_EXPR_SUB:
        return set_number(op, a - b);
    case GROUT_EXPR_MUL:
        return set_number(op, a * b);
    case GROUT_EXPR_NEG:
        return set_number(op, -a);
    case GROUT_EXPR_DIV:
        if (b == 0) {
            return grout_binding__report(op->fold->binding, GROUT_DIAG_CONST_DOMAIN, op->expr->loc,
                                         "a constant is divided by zero: %g / %g", a, b);
        }
        return set_number(op, a / b);
    case GROUT_EXPR_MIN:
        return set_number(op, a < b ? a : b);
    case GROUT_EXPR_MAX:
        return set_number(op, a > b ? a : b);
    case GROUT_EXPR_EQ:
    case GROUT_EXPR_NE:
    case GROUT_EXPR_LT:
    case GROUT_EXPR_LE:
    case GROUT_EXPR_GT:
    case GROUT_EXPR_GE:
        return compare(op, (a > b) - (a < b));
    case GROUT_EXPR_REM:
    case GROUT_EXPR_SHL:
    case GROUT_EXPR_SHR:
    case GROUT_EXPR_CDIV:
    case GROUT_EXPR_ALIGN_UP:
    case GROUT_EXPR_LOG2:
        break;
    }
    return fail_type(op, "this operator takes integers, not floats");
}

static bool apply_operator(operation *op) {
    bool is_binary = op->expr->b != 0;
    if (op->a.bits_dtype != GROUT_DTYPE_NONE ||
        (is_binary && op->b.bits_dtype != GROUT_DTYPE_NONE)) {
        return fail_type(op, "a literal that names its type is not a number to calculate with");
    }
    if (op->a.is_bool || (is_binary && op->b.is_bool)) {
        bool is_equality =
            op->expr->operator_ == GROUT_EXPR_EQ || op->expr->operator_ == GROUT_EXPR_NE;
        if (!is_equality || op->a.is_bool != op->b.is_bool) {
            return fail_type(op, "truth values have no arithmetic");
        }
        return compare(op, op->a.integer != op->b.integer);
    }
    return op->a.is_float || (is_binary && op->b.is_float) ? apply_float(op) : apply_integer(op);
}

/* ---- consts ---------------------------------------------------------------------------------- */

/* Gives the value of a const its declared type. */
static bool convert_const(folding *fold, grout_const_id id, grout_expr_value *value) {
    const grout_const *constant = grout_module_get_const(fold->module, id);
    const char *name = grout_module_get_string(fold->module, constant->name);
    grout_loc_id loc = grout_module_get_expr(fold->module, constant->expr)->loc;
    grout_binding *binding = fold->binding;
    if (!constant->is_f32) {
        if (value->is_float || value->bits_dtype != GROUT_DTYPE_NONE) {
            grout_binding__report(binding, GROUT_DIAG_CONST_TYPE, loc,
                                  "const '%s' is an integer, and its value %s", name,
                                  value->is_float ? "a float" : "has a type of its own");
            grout_diags_help(binding->diags,
                             value->is_float ? "declare it as 'const %s : f32 = ..'"
                                             : "write the number alone: it takes the type of what "
                                               "stands beside '%s'",
                             name);
            return false;
        }
        return true;
    }
    if (value->is_bool ||
        (value->bits_dtype != GROUT_DTYPE_NONE && value->bits_dtype != GROUT_DTYPE_F32)) {
        return grout_binding__report(binding, GROUT_DIAG_CONST_TYPE, loc,
                                     "const '%s' is an f32, and its value is not", name);
    }
    if (value->bits_dtype == GROUT_DTYPE_F32) {
        return true;
    }
    if (!grout_fold__fits(value, GROUT_DTYPE_F32)) {
        return grout_binding__report(binding, GROUT_DIAG_CONST_OVERFLOW, loc,
                                     "const '%s' leaves the range of f32: %g", name, value->number);
    }
    uint32_t bits = (uint32_t)grout_expr_value_to_bits(*value, GROUT_DTYPE_F32);
    float number;
    memcpy(&number, &bits, sizeof number);
    *value = (grout_expr_value){.is_float = true, .number = (double)number};
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* The exprs that expr is made of; a name is made of its const's value. */
static uint32_t list_operands(const grout_module *module, const grout_expr *expr,
                              grout_expr_id operands[2]) {
    switch ((grout_expr_kind)expr->kind) {
    case GROUT_EXPR_NAME:
        operands[0] = grout_module_get_const(module, expr->constant)->expr;
        return 1;
    case GROUT_EXPR_UNARY:
        operands[0] = expr->a;
        return 1;
    case GROUT_EXPR_BINARY:
        operands[0] = expr->a;
        operands[1] = expr->b;
        return expr->b == 0 ? 1 : 2;
    case GROUT_EXPR_NONE:
    case GROUT_EXPR_INT:
    case GROUT_EXPR_FLOAT:
    case GROUT_EXPR_TYPED:
    case GROUT_EXPR_BOOL:
        break;
    }
    return 0;
}

/* The bits of an integer that its type has. */
static uint64_t get_low(const grout_expr *expr) {
    const uint32_t unused = 64u - grout_dtype_get_info((grout_dtype)expr->dtype)->bits;
    return expr->u.bits << unused >> unused;
}

/* A float that is written with its type. */
static bool evaluate_typed(folding *fold, const grout_expr *expr, grout_expr_value *value) {
    const grout_dtype dtype = (grout_dtype)expr->dtype;
    grout_diags *diags = fold->binding->diags;
    *value = (grout_expr_value){.is_float = true, .number = expr->u.number};
    if (!grout_fold__fits(value, dtype)) {
        grout_binding__report(fold->binding, GROUT_DIAG_BAD_LITERAL, expr->loc,
                              "%g does not fit %s", expr->u.number,
                              grout_dtype_get_info(dtype)->text);
        grout_number__help_range(dtype, diags);
        return false;
    }
    value->bits = grout_expr_value_to_bits(*value, dtype);
    value->bits_dtype = (uint8_t)dtype;
    return true;
}

/* Whether it is used where any integer is meant: not if it has a type of its own. */
static bool is_untyped_integer(const grout_expr_value *value) {
    return !value->is_float && !value->is_bool && value->bits_dtype == GROUT_DTYPE_NONE;
}

static bool evaluate(folding *fold, grout_expr_id id) {
    const grout_expr *expr = grout_module_get_expr(fold->module, id);
    grout_expr_value *values = fold->binding->bound->expr_values;
    switch ((grout_expr_kind)expr->kind) {
    case GROUT_EXPR_INT:
        values[id].integer = expr->u.integer;
        values[id].bits_dtype = expr->dtype;
        values[id].bits = expr->dtype == GROUT_DTYPE_NONE ? 0 : get_low(expr);
        break;
    case GROUT_EXPR_TYPED:
        return evaluate_typed(fold, expr, &values[id]);
    case GROUT_EXPR_BOOL:
        values[id].is_bool = true;
        values[id].integer = expr->u.integer;
        break;
    case GROUT_EXPR_FLOAT:
        values[id].is_float = true;
        values[id].bits_dtype = expr->dtype;
        if (expr->dtype == GROUT_DTYPE_NONE) {
            values[id].number = expr->u.number;
        } else {
            values[id].bits = expr->u.bits;
        }
        break;
    case GROUT_EXPR_NAME:
        values[id] = values[grout_module_get_const(fold->module, expr->constant)->expr];
        break;
    case GROUT_EXPR_UNARY:
    case GROUT_EXPR_BINARY: {
        operation op = {.fold = fold, .expr = expr, .id = id, .a = values[expr->a]};
        op.b = values[expr->b];
        if (!apply_operator(&op)) {
            return false;
        }
        values[id] = op.result;
        break;
    }
    case GROUT_EXPR_NONE:
        return false;
    }
    return fold->consts[id] == 0 || convert_const(fold, fold->consts[id], &values[id]);
}

/* Only a name can lead back to what it is part of. */
static void report_cycle(folding *fold, const grout_expr *name) {
    const grout_const *constant = grout_module_get_const(fold->module, name->constant);
    grout_binding__report(fold->binding, GROUT_DIAG_CONST_CYCLE, name->loc,
                          "const '%s' is defined through itself",
                          grout_module_get_string(fold->module, constant->name));
    grout_diags_note(fold->binding->diags, grout_module_get_place(fold->module, constant->loc),
                     "its definition");
}

/* Opens an expr: pushes what it is made of. Returns the new height of the stack. */
static uint32_t open_expr(folding *fold, grout_expr_id id, uint32_t height) {
    grout_expr_id operands[2];
    const grout_expr *expr = grout_module_get_expr(fold->module, id);
    uint32_t count = list_operands(fold->module, expr, operands);
    fold->states[id] = STATE_OPEN;
    for (uint32_t k = 0; k < count; k++) {
        if (fold->states[operands[k]] == STATE_OPEN) {
            report_cycle(fold, expr);
            fold->states[id] = STATE_FAILED;
            return height;
        }
    }
    for (uint32_t k = count; k-- > 0;) {
        if (fold->states[operands[k]] == STATE_NEW) {
            fold->stack[height++] = operands[k];
        }
    }
    return height;
}

static bool close_expr(folding *fold, grout_expr_id id) {
    grout_expr_id operands[2];
    const grout_expr *expr = grout_module_get_expr(fold->module, id);
    uint32_t count = list_operands(fold->module, expr, operands);
    for (uint32_t k = 0; k < count; k++) {
        if (fold->states[operands[k]] == STATE_FAILED) {
            return false;
        }
    }
    return evaluate(fold, id);
}

/* Evaluates an expr and all it is made of; false if that failed, reported. */
static bool fold_expr(folding *fold, grout_expr_id root) {
    uint32_t height = 0;
    if (fold->states[root] == STATE_NEW) {
        fold->stack[height++] = root;
    }
    while (height > 0 && grout_binding__goes_on(fold->binding)) {
        grout_expr_id id = fold->stack[height - 1];
        if (fold->states[id] == STATE_NEW) {
            height = open_expr(fold, id, height);
            continue;
        }
        if (fold->states[id] == STATE_OPEN) {
            fold->states[id] = close_expr(fold, id) ? STATE_DONE : STATE_FAILED;
        }
        height--;
    }
    return fold->states[root] == STATE_DONE;
}

/* An expr that has to be an integer, if there is one: what it is, for the message. */
static void fold_integer(folding *fold, grout_expr_id id, const char *what) {
    if (id == 0 || !fold_expr(fold, id)) {
        return;
    }
    const grout_expr_value *value = &fold->binding->bound->expr_values[id];
    if (!is_untyped_integer(value)) {
        grout_expr_text text = grout_fold__get_text(fold->module, id);
        grout_binding__report(fold->binding, GROUT_DIAG_CONST_TYPE,
                              grout_module_get_expr(fold->module, id)->loc,
                              "%s is an integer, and '%s' is a %s", what, text.chars,
                              value->is_bool    ? "truth value"
                              : value->is_float ? "float"
                                                : "literal of another type");
    }
}

static void fold_type(folding *fold, const grout_written_type *type) {
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        fold_integer(fold, type->dims[dim], "a dimension");
    }
}

static void fold_object(folding *fold, const grout_object *object) {
    fold_type(fold, &object->type);
    for (uint32_t k = 0; k < object->tile_rank; k++) {
        fold_integer(fold, object->tile[k], "a tile size");
    }
    for (uint32_t k = 0; k < object->transpose_rank; k++) {
        fold_integer(fold, object->transpose[k], "a transposed dimension");
    }
    fold_integer(fold, object->swizzle, "a swizzle");
    fold_integer(fold, object->alias_start, "the start of an alias");
    fold_integer(fold, object->arrivals, "the number of arrivals");
}

/* Seeds are integers; what the type of the array takes is for the verifier to say. */
static void fold_init(folding *fold, const grout_init *init) {
    bool is_generator = grout_generator_get_info((grout_generator_kind)init->kind) != NULL;
    for (uint32_t k = 0; k < init->count && grout_binding__goes_on(fold->binding); k++) {
        grout_expr_id id = grout_module_get_init_argument(fold->module, init, k);
        if (is_generator && k == 0) {
            fold_integer(fold, id, "a seed");
        } else {
            fold_expr(fold, id);
        }
    }
}

static void fold_require(folding *fold, const grout_require *require) {
    if (!fold_expr(fold, require->expr)) {
        return;
    }
    const grout_expr_value *value = &fold->binding->bound->expr_values[require->expr];
    grout_loc_id loc = grout_module_get_expr(fold->module, require->expr)->loc;
    grout_expr_text text = grout_fold__get_text(fold->module, require->expr);
    if (!value->is_bool) {
        grout_binding__report(fold->binding, GROUT_DIAG_CONST_TYPE, loc,
                              "a require takes a condition, and '%s' is a number", text.chars);
    } else if (value->integer == 0) {
        grout_binding__report(fold->binding, GROUT_DIAG_REQUIRE_FAILED, loc,
                              "%s: '%s' does not hold",
                              grout_module_get_string(fold->module, require->text), text.chars);
    }
}

/* A number, of any kind; how large it may be is for the verifier to say. */
static void fold_tolerance(folding *fold, grout_expr_id id, const char *what) {
    if (id == 0 || !fold_expr(fold, id)) {
        return;
    }
    if (fold->binding->bound->expr_values[id].is_bool) {
        grout_expr_text text = grout_fold__get_text(fold->module, id);
        grout_binding__report(fold->binding, GROUT_DIAG_CONST_TYPE,
                              grout_module_get_expr(fold->module, id)->loc,
                              "%s is a number, and '%s' is a truth value", what, text.chars);
    }
}

static bool goes_on(folding *fold) {
    return grout_binding__goes_on(fold->binding);
}

static void fold_all(folding *fold) {
    const grout_module *module = fold->module;
    for (uint32_t id = 1; goes_on(fold) && id < module->consts.count; id++) {
        fold_expr(fold, GROUT_TABLE_AT(module->consts, grout_const, id)->expr);
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->requires_.count; id++) {
        fold_require(fold, GROUT_TABLE_AT(module->requires_, grout_require, id));
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->objects.count; id++) {
        fold_object(fold, GROUT_TABLE_AT(module->objects, grout_object, id));
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->inits.count; id++) {
        fold_init(fold, GROUT_TABLE_AT(module->inits, grout_init, id));
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->check_lines.count; id++) {
        const grout_check_line *line = GROUT_TABLE_AT(module->check_lines, grout_check_line, id);
        fold_tolerance(fold, line->rtol, "a relative tolerance");
        fold_tolerance(fold, line->atol, "an absolute tolerance");
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->kernels.count; id++) {
        const grout_kernel *kernel = GROUT_TABLE_AT(module->kernels, grout_kernel, id);
        for (uint32_t k = 0; k < kernel->axis_count; k++) {
            fold_integer(fold, kernel->axes[k].size, "the size of an axis");
        }
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->types.count; id++) {
        fold_type(fold, GROUT_TABLE_AT(module->types, grout_written_type, id));
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->attrs.count; id++) {
        const grout_attr_value *attr = GROUT_TABLE_AT(module->attrs, grout_attr_value, id);
        fold_integer(fold, attr->expr, "the value of an attribute");
        for (uint32_t k = 0; k < attr->range_count; k++) {
            fold_integer(fold, attr->ranges[k].low, "the begin of a range");
            fold_integer(fold, attr->ranges[k].high, "the end of a range");
            fold_integer(fold, attr->ranges[k].step, "the step of a range");
        }
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->indices.count; id++) {
        const grout_index *index = GROUT_TABLE_AT(module->indices, grout_index, id);
        fold_integer(fold, index->start.kind == GROUT_OPERAND_EXPR ? index->start.id : 0,
                     "an index");
        fold_integer(fold, index->size, "a size");
    }
    for (uint32_t id = 1; goes_on(fold) && id < module->operands.count; id++) {
        const grout_operand *operand = GROUT_TABLE_AT(module->operands, grout_operand, id);
        if (operand->kind == GROUT_OPERAND_EXPR) {
            fold_expr(fold, operand->id);
        }
    }
}

void grout_fold__module(grout_binding *binding) {
    const grout_module *module = binding->module;
    folding fold = {.binding = binding, .module = module};
    size_t count = module->exprs.count;
    fold.states = grout_binding__new(binding, count, sizeof *fold.states);
    fold.consts = grout_binding__new(binding, count, sizeof *fold.consts);
    fold.stack = grout_binding__new(binding, 2 * count + 2, sizeof *fold.stack);
    if (fold.states != NULL && fold.consts != NULL && fold.stack != NULL) {
        for (uint32_t id = 1; id < module->consts.count; id++) {
            fold.consts[GROUT_TABLE_AT(module->consts, grout_const, id)->expr] = id;
        }
        fold_all(&fold);
    }
    grout__free(fold.states);
    grout__free(fold.consts);
    grout__free(fold.stack);
}
