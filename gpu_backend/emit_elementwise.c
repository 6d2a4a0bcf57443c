/* emit_elementwise.c - ops on values: one statement, or one loop over the lane's registers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <ctype.h>
#include <inttypes.h>

/* Up to where the result's element is written: "x[reg] = " in its loop, or "const T x = ". Returns
 * the index for operands, or NULL. */
static const char *begin_result(grout_emitter *e, grout_value_id value) {
    const grout_gpu_layout *layout = grout_emit__layout(e, value);
    if (layout->kind != GROUT_GPU_LAYOUT_STRIDED) {
        grout_emit__begin_scalar(e, value);
        return NULL;
    }
    grout_emit__declare(e, value);
    grout_emit__end(e, "; // %u neighbours a lane", layout->vec);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
    return "reg";
}

static void end_result(grout_emitter *e, const char *index) {
    grout_emit__end(e, ";");
    if (index != NULL) {
        grout_emit__close(e, "");
    }
}

/* The table's expression, its a, b and c replaced by the operands. */
static void add_expression(grout_emitter *e, const grout_op *op, const char *index) {
    const char *p = grout_op_get_info((grout_opcode)op->opcode)->expression;
    bool is_in_word = false;
    for (; *p != '\0'; p++) {
        const bool is_word_byte = isalnum((unsigned char)*p) != 0 || *p == '_';
        const bool is_alone = !is_in_word && isalnum((unsigned char)p[1]) == 0 && p[1] != '_';
        if (*p >= 'a' && *p <= 'c' && is_alone && (uint32_t)(*p - 'a') < op->operand_count) {
            grout_emit__operand(e, grout_module_get_operand(e->module, op, (uint32_t)(*p - 'a')),
                                index);
        } else {
            grout_emit__add(e, "%c", *p);
        }
        is_in_word = is_word_byte;
    }
}

void grout_emit__alu(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    const char *index = begin_result(e, op->first_result);
    add_expression(e, op, index);
    end_result(e, index);
}

void grout_emit__select(grout_emitter *e, grout_op_id id, const grout_op *op) {
    static const char *const between[] = {" ? ", " : ", ""};
    (void)id;
    const char *index = begin_result(e, op->first_result);
    for (uint32_t k = 0; k < 3; k++) {
        grout_emit__operand(e, grout_module_get_operand(e->module, op, k), index);
        grout_emit__add(e, "%s", between[k]);
    }
    end_result(e, index);
}

void grout_emit__cast(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    const char *index = begin_result(e, op->first_result);
    grout_emit__add(e, "grout_cast<%s>(", grout_emit__type_name(e, op->first_result));
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), index);
    grout_emit__add(e, ")");
    end_result(e, index);
}

/* Row-major strides of an array's dimensions. */
static void get_strides(const grout_type *type, int64_t strides[GROUT_RANK_MAX]) {
    int64_t stride = 1;
    for (uint32_t dim = type->rank; dim-- > 0;) {
        strides[dim] = stride;
        stride *= type->dims[dim];
    }
}

/* "flat / 64 % 32": the index along one dimension of the element with row-major index flat. */
static void add_index(grout_emitter *e, const grout_type *type, uint32_t dim) {
    int64_t strides[GROUT_RANK_MAX];
    get_strides(type, strides);
    grout_emit__add(e, "flat");
    if (strides[dim] > 1) {
        grout_emit__add(e, " / %" PRId64 "u", strides[dim]);
    }
    if (strides[dim] * type->dims[dim] < grout_type_get_count(type)) {
        grout_emit__add(e, " %% %" PRId64 "u", type->dims[dim]);
    }
}

void grout_emit__iota(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_value_id value = op->first_result;
    const grout_gpu_layout *layout = grout_emit__layout(e, value);
    const int64_t dim = grout_op_get_attr_integer(e->module, op, GROUT_ATTR_DIM, 0);
    (void)id;
    if (layout->kind != GROUT_GPU_LAYOUT_STRIDED) { /* one element */
        grout_emit__begin_scalar(e, value);
        grout_emit__constant(e, grout_emit__dtype(e, value), 0);
        grout_emit__end(e, ";");
        return;
    }
    grout_gpu_layout unguarded = *layout;
    unguarded.is_guarded = false;
    grout_emit__declare(e, value);
    grout_emit__end(e, "; // %u neighbours a lane", layout->vec);
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__open_flat(e, &unguarded, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = grout_cast<%s>(", grout_emit__name(e, value),
                    grout_emit__type_name(e, value));
    add_index(e, grout_module_get_type(e->module, value), (uint32_t)dim);
    grout_emit__end(e, ");");
    grout_emit__close_registers(e, &unguarded);
}

/* Row-major index into the source of a broadcast for element flat of the result. */
static void add_source_index(grout_emitter *e, const grout_type *from, const grout_type *to) {
    int64_t strides[GROUT_RANK_MAX];
    bool is_first = true;
    get_strides(from, strides);
    for (uint32_t k = 0; k < from->rank; k++) {
        if (from->dims[k] == 1) {
            continue;
        }
        grout_emit__add(e, is_first ? "" : " + ");
        add_index(e, to, to->rank - from->rank + k);
        if (strides[k] > 1) {
            grout_emit__add(e, " * %" PRId64 "u", strides[k]);
        }
        is_first = false;
    }
}

/* Through SMEM: every lane writes its elements of the source, then reads those of the result. */
static void emit_exchange(grout_emitter *e, const grout_operand *source, grout_value_id value) {
    const grout_gpu_layout *from = grout_emit__layout(e, source->id);
    const grout_gpu_layout *to = grout_emit__layout(e, value);
    const grout_type *type = grout_module_get_type(e->module, value);
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;

    grout_emit__before_access(e, 0, true);
    grout_emit__open_registers(e, from->registers, 1);
    grout_emit__open_flat(e, from, 1);
    grout_emit__line(e, "grout_store_smem(exchange + flat * %" PRIu32 ", %s[reg]);", bytes,
                     grout_emit__name(e, source->id));
    grout_emit__close_registers(e, from);
    grout_emit__after_access(e, 0, true);

    grout_emit__before_access(e, 0, false);
    grout_emit__declare(e, value);
    grout_emit__end(e, "; // %u neighbours a lane", to->vec);
    grout_emit__open_registers(e, to->registers, 1);
    grout_emit__open_flat(e, to, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = grout_load_smem<%s>(exchange + (", grout_emit__name(e, value),
                    grout_emit__type_name(e, value));
    add_source_index(e, grout_module_get_type(e->module, source->id), type);
    grout_emit__end(e, ") * %" PRIu32 ");", bytes);
    grout_emit__close_registers(e, to);
    grout_emit__after_access(e, 0, false);
}

void grout_emit__broadcast(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *source = grout_module_get_operand(e->module, op, 0);
    const grout_value_id value = op->first_result;
    (void)id;
    if (grout_emit__is_strided(e, source) &&
        grout_gpu__is_exchange(grout_emit__layout(e, source->id), grout_emit__layout(e, value))) {
        emit_exchange(e, source, value);
        return;
    }
    const char *index = begin_result(e, value);
    grout_emit__operand(e, source, index);
    end_result(e, index);
}

/* Number of the axes of a kind behind this one: what its index counts slower than. */
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
    return inner;
}

void grout_emit__axis_index(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const uint32_t axis = grout_module_get_operand(e->module, op, 0)->id - 1;
    bool is_outermost = true;
    const int64_t inner = get_inner_size(e, axis, &is_outermost);
    (void)id;
    grout_emit__begin_scalar(e, op->first_result);
    grout_emit__add(e, "(grout_i32)(%s",
                    e->kernel->axes[axis].kind == GROUT_AXIS_GRID ? "blockIdx.x" : "thread");
    if (inner > 1) {
        grout_emit__add(e, " / %" PRId64 "u", inner);
    }
    if (!is_outermost) {
        grout_emit__add(e, " %% %" PRId64 "u",
                        grout_kernel_get_axis_size(e->module, e->kernel_id, axis));
    }
    grout_emit__end(e, ");");
}
