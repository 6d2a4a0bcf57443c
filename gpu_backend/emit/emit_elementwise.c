/* emit_elementwise.c - ops on values: one statement, or one loop over the lane's registers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "invariant.h"

#include <ctype.h>
#include <inttypes.h>

/* One element of the result, computed from the elements of the operands at an index. */
typedef void add_element(grout_emitter *e, const grout_op *op, const char *index);

/* A scalar or splat in one statement, an array in a loop over its registers. */
static void emit_elements(grout_emitter *e, const grout_op *op, add_element *add) {
    const grout_value_id value = op->first_result;
    const grout_register_layout *layout = grout_emit__layout(e, value);
    if (!grout_emit__has_registers(layout)) {
        grout_emit__begin_scalar(e, value);
        add(e, op, NULL);
        grout_emit__end(e, ";");
        return;
    }
    grout_emit__declare_registers(e, value);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
    add(e, op, "reg");
    grout_emit__end(e, ";");
    grout_emit__close(e, "");
}

/* Whether each lane has pairs of registers of the result. */
static bool has_pairs(const grout_emitter *e, const grout_op *op) {
    const grout_register_layout *layout = grout_emit__layout(e, op->first_result);
    return grout_emit__has_registers(layout) && layout->registers % 2 == 0;
}

/* A loop over pairs of registers of the result, and "function(result + reg, " in it. */
static void open_pairs(grout_emitter *e, const grout_op *op, const char *function) {
    const grout_value_id value = op->first_result;
    grout_emit__declare_registers(e, value);
    grout_emit__open_registers(e, grout_emit__layout(e, value)->registers, 2);
    grout_emit__begin(e);
    grout_emit__add(e, "%s(%s + reg, ", function, grout_emit__name(e, value));
}

/* The same as emit_elements where add gives an f32 that is still to be rounded to f16 or bf16: two
 * registers at a time, for which there is one instruction. */
static void emit_halves(grout_emitter *e, const grout_op *op, add_element *add) {
    const grout_value_id value = op->first_result;
    const grout_register_layout *layout = grout_emit__layout(e, value);
    const bool is_spread = grout_emit__has_registers(layout);
    if (has_pairs(e, op)) {
        open_pairs(e, op, "grout_round_pair");
        add(e, op, "reg");
        grout_emit__add(e, ", ");
        add(e, op, "reg + 1");
        grout_emit__end(e, ");");
        grout_emit__close(e, "");
        return;
    }
    if (is_spread) {
        grout_emit__declare_registers(e, value);
        grout_emit__open_registers(e, layout->registers, 1);
        grout_emit__begin(e);
        grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
    } else {
        grout_emit__begin_scalar(e, value);
    }
    grout_emit__add(e, "grout_cast<%s>(", grout_emit__type_name(e, value));
    add(e, op, is_spread ? "reg" : NULL);
    grout_emit__end(e, ");");
    if (is_spread) {
        grout_emit__close(e, "");
    }
}

static void emit_numbers(grout_emitter *e, const grout_op *op, add_element *add) {
    if (grout_emit__is_half(grout_emit__dtype(e, op->first_result))) {
        emit_halves(e, op, add);
    } else {
        emit_elements(e, op, add);
    }
}

/* The table's expression, its a, b and c replaced by the operands; 'approx' changes the function's
 * name. */
static void add_expression(grout_emitter *e, const grout_op *op, const char *index) {
    const char *p = grout_op_get_info((grout_opcode)op->opcode)->expression;
    GROUT_ASSERT(p != NULL);
    const bool is_approx = grout_module_find_attr(e->module, op, GROUT_ATTR_APPROX) != NULL;
    bool is_in_word = false;
    for (; *p != '\0'; p++) {
        const bool is_word_byte = isalnum((unsigned char)*p) != 0 || *p == '_';
        const bool is_alone = !is_in_word && isalnum((unsigned char)p[1]) == 0 && p[1] != '_';
        if (*p >= 'a' && *p <= 'c' && is_alone && (uint32_t)(*p - 'a') < op->operand_count) {
            grout_emit__number(e, grout_module_get_operand(e->module, op, (uint32_t)(*p - 'a')),
                               index);
        } else {
            grout_emit__add(e, "%s%c", is_approx && *p == '(' ? "_APPROX" : "", *p);
        }
        is_in_word = is_word_byte;
    }
}

/* What Blackwell has one instruction for that computes two f32 of a lane, each rounded as alone. */
static const char *get_pair_function(const grout_op *op) {
    static const struct {
        grout_opcode opcode;
        const char *name;
    } functions[] = {{GROUT_OP_ADD, "grout_add_pair"},
                     {GROUT_OP_SUB, "grout_sub_pair"},
                     {GROUT_OP_MUL, "grout_mul_pair"},
                     {GROUT_OP_FMA, "grout_fma_pair"}};
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
        if (functions[k].opcode == (grout_opcode)op->opcode) {
            return functions[k].name;
        }
    }
    return NULL;
}

/* The operands of the function, those of the first register and then those of the second. */
static void emit_pairs(grout_emitter *e, const grout_op *op, const char *function) {
    GROUT_ASSERT(op->operand_count > 0);
    open_pairs(e, op, function);
    for (uint32_t k = 0; k < 2 * op->operand_count; k++) {
        grout_emit__add(e, k > 0 ? ", " : "");
        grout_emit__number(e, grout_module_get_operand(e->module, op, k % op->operand_count),
                           k < op->operand_count ? "reg" : "reg + 1");
    }
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
}

void grout_emit__alu(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const char *function = get_pair_function(op);
    (void)id;
    if (function != NULL && grout_emit__has_float_pairs(e, op->first_result) && has_pairs(e, op)) {
        emit_pairs(e, op, function);
    } else {
        emit_numbers(e, op, add_expression);
    }
}

void grout_emit__math(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    emit_numbers(e, op, add_expression);
}

/* A function's arguments are values: '?' between array elements would choose an address, which
 * keeps arrays out of registers. */
static void add_select(grout_emitter *e, const grout_op *op, const char *index) {
    static const char *const before[] = {"grout_select(", ", ", ", "};
    for (uint32_t k = 0; k < 3; k++) {
        grout_emit__add(e, "%s", before[k]);
        grout_emit__operand(e, grout_module_get_operand(e->module, op, k), index);
    }
    grout_emit__add(e, ")");
}

void grout_emit__select(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    emit_elements(e, op, add_select);
}

static void add_same(grout_emitter *e, const grout_op *op, const char *index) {
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), index);
}

static void add_cast(grout_emitter *e, const grout_op *op, const char *index) {
    grout_emit__add(e, "grout_cast<%s>(", grout_emit__type_name(e, op->first_result));
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), index);
    grout_emit__add(e, ")");
}

static void add_bits(grout_emitter *e, const grout_op *op, const char *index) {
    grout_emit__add(e, "grout_bits_as<%s>(", grout_emit__type_name(e, op->first_result));
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), index);
    grout_emit__add(e, ")");
}

void grout_emit__bitcast(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    emit_elements(e, op, add_bits);
}

static void add_number(grout_emitter *e, const grout_op *op, const char *index) {
    grout_emit__number(e, grout_module_get_operand(e->module, op, 0), index);
}

/* Bytes as f16 or bf16. */
static void emit_byte_pairs(grout_emitter *e, const grout_op *op, const grout_operand *from) {
    open_pairs(e, op, "grout_cast_pair");
    grout_emit__add(e, "%s + reg", grout_emit__name(e, from->id));
    grout_emit__end(e, ");");
    grout_emit__close(e, "");
}

void grout_emit__cast(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *from = grout_module_get_operand(e->module, op, 0);
    const grout_dtype dtype = grout_module_get_operand_type(e->module, from).dtype;
    const bool is_of_f32 = dtype == GROUT_DTYPE_F32 || grout_emit__is_half(dtype);
    const bool is_to_half = grout_emit__is_half(grout_emit__dtype(e, op->first_result));
    (void)id;
    if (dtype == grout_emit__dtype(e, op->first_result)) { /* not even an infinity saturates */
        emit_elements(e, op, add_same);
    } else if (is_of_f32 && is_to_half &&
               grout_emit__has_registers(grout_emit__layout(e, op->first_result))) {
        emit_halves(e, op, add_number);
    } else if (dtype == GROUT_DTYPE_I8 && is_to_half && has_pairs(e, op) &&
               grout_emit__is_spread(e, from)) {
        emit_byte_pairs(e, op, from);
    } else {
        emit_elements(e, op, add_cast);
    }
}

void grout_emit__iota(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_value_id value = op->first_result;
    const grout_register_layout *layout = grout_emit__layout(e, value);
    const int64_t dim = grout_op_get_attr_integer(e->module, op, GROUT_ATTR_DIM, 0);
    (void)id;
    if (!grout_emit__has_registers(layout)) { /* one element */
        grout_emit__begin_scalar(e, value);
        grout_emit__constant(e, grout_emit__dtype(e, value), 0);
        grout_emit__end(e, ";");
        return;
    }
    grout_register_layout unguarded = *layout;
    unguarded.is_guarded = false;
    grout_emit__declare_registers(e, value);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__open_element(e, &unguarded, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = grout_cast<%s>(", grout_emit__name(e, value),
                    grout_emit__type_name(e, value));
    grout_emit__index(e, grout_emit__get_at(layout), grout_module_get_type(e->module, value),
                      (uint32_t)dim);
    grout_emit__end(e, ");");
    grout_emit__close_registers(e, &unguarded);
}

/* Places along the axes of a kind after this one, which its index counts slower than. */
static int64_t get_inner_size(const grout_emitter *e, uint32_t axis, bool *is_outermost_out) {
    const grout_kernel *kernel = e->kernel;
    const grout_kernel_id id = e->kernel_id;
    int64_t inner = 1;
    *is_outermost_out = true;
    for (uint32_t k = 0; k < kernel->axis_count; k++) {
        if (kernel->axes[k].kind != kernel->axes[axis].kind) {
            continue;
        }
        if (k > axis) {
            inner *= grout_kernel_get_axis_size(e->module, id, k);
        }
        if (k < axis) {
            *is_outermost_out = false;
        }
    }
    /* The grid counts clusters, and blockIdx.x their CTAs. */
    return kernel->axes[axis].kind == GROUT_AXIS_GRID ? inner * e->plan->cluster_size : inner;
}

static const char *get_index_source(const grout_emitter *e, uint32_t axis) {
    switch ((grout_axis_kind)e->kernel->axes[axis].kind) {
    case GROUT_AXIS_GRID:
        return "blockIdx.x";
    case GROUT_AXIS_CLUSTER:
        return e->plan->cluster_size > 1 ? "rank" : "0";
    case GROUT_AXIS_THREADS:
        break;
    }
    return "thread";
}

void grout_emit__axis_index(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const uint32_t axis = grout_module_get_operand(e->module, op, 0)->id - 1;
    bool is_outermost = true;
    const int64_t inner = get_inner_size(e, axis, &is_outermost);
    (void)id;
    grout_emit__begin_scalar(e, op->first_result);
    grout_emit__add(e, "(grout_i32)(%s", get_index_source(e, axis));
    if (inner > 1) {
        grout_emit__add(e, " / %" PRId64 "u", inner);
    }
    if (!is_outermost) {
        grout_emit__add(e, " %% %" PRId64 "u",
                        grout_kernel_get_axis_size(e->module, e->kernel_id, axis));
    }
    grout_emit__end(e, ");");
}
