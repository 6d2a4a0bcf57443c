/* emit_exchange.c - values that change their layout: broadcasts and layout_cast, within a lane
 * where the lane has what it needs, else through SMEM. SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- within a lane ---- */

/* Every register of the result is a register of the source, or the one that it is a splat of. */
static void emit_picks(grout_emitter *e, const grout_operand *source, grout_value_id value,
                       const char *index) {
    const grout_register_layout *to = grout_emit__layout(e, value);
    if (!grout_emit__has_registers(to)) {
        grout_emit__begin_scalar(e, value);
        grout_emit__operand(e, source, NULL);
        grout_emit__end(e, ";");
        return;
    }
    grout_emit__declare_registers(e, value);
    grout_emit__open_registers(e, to->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
    grout_emit__operand(e, source, index);
    grout_emit__end(e, ";");
    grout_emit__close(e, "");
}

/* ---- through SMEM ---- */

bool grout_emit__check_exchange(grout_emitter *e, grout_op_id id, int64_t bytes) {
    const grout_op *op = grout_module_get_op(e->module, id);
    const int64_t planned = grout_register_layouts_get_exchange_bytes(e->plan->layouts, id);
    if (planned < bytes) {
        grout_emit__unsupported(e, op,
                                "'%s' moves elements between lanes in a way that no register "
                                "layout provides for (%" PRId64 " bytes of %" PRId64 ")",
                                grout_op_get_info((grout_opcode)op->opcode)->text, planned, bytes);
        return false;
    }
    return true;
}

/* Where an array lies in the exchange area, row-major: its rows may be turned against each other by
 * chunks of 16 bytes, as in a 128-byte swizzle, so that neither the lanes of a column nor those of
 * a row meet in the banks. */
typedef struct area {
    uint32_t bytes; /* of an element */
    int64_t pitch;  /* elements of a row, if rows are turned; else 0 */
} area;

static area make_area(const grout_emitter *e, const grout_operand *source,
                      const grout_register_layout *from, const grout_register_layout *to) {
    const grout_dtype dtype = grout_emit__dtype(e, source->id);
    const bool is_from = grout_register_layout_is_matrix(from);
    const bool is_matrix = is_from || grout_register_layout_is_matrix(to);
    const int64_t cols = is_from ? from->cols : to->cols;
    area a = {.bytes = grout_dtype_get_info(dtype)->bytes};
    if (is_matrix && cols * a.bytes % 128 == 0) {
        a.pitch = cols;
    }
    return a;
}

/* "exchange + (flat * 4 ^ flat / 64 % 8 * 16)" */
static void add_area_address(grout_emitter *e, const area *a, const grout_register_layout *layout) {
    grout_emit__add(e, "exchange + (");
    grout_emit__flat(e, layout);
    grout_emit__add(e, " * %" PRIu32, a->bytes);
    if (a->pitch > 0 && grout_emit__get_at(layout) == GROUT_EMIT_AT_MATRIX) {
        grout_emit__add(e, " ^ at_row %% 8 * 16");
    } else if (a->pitch > 0) {
        grout_emit__add(e, " ^ flat / %" PRId64 "u %% 8 * 16", a->pitch);
    }
    grout_emit__add(e, ")");
}

static uint32_t get_width(const area *a, const grout_register_layout *layout) {
    const uint32_t run = grout_emit__get_run(layout);
    const uint32_t most = GROUT_WIDE_BYTES_MAX / a->bytes;
    return run < most ? run : most;
}

static void write_area(grout_emitter *e, const grout_operand *source, const area *a) {
    const grout_register_layout *from = grout_emit__layout(e, source->id);
    const grout_dtype dtype = grout_emit__dtype(e, source->id);
    const uint32_t width = get_width(a, from);
    grout_emit__before_access(e, 0, true);
    grout_emit__open_owners(e, from);
    grout_emit__open_registers(e, from->registers, width);
    grout_emit__open_element(e, from, width);
    if (width > 1) {
        grout_emit__write_chunk(e, source, dtype, width);
    }
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_smem(");
    add_area_address(e, a, from);
    grout_emit__add(e, ", ");
    if (width > 1) {
        grout_emit__add(e, "chunk");
    } else {
        grout_emit__element(e, source, dtype, "reg");
    }
    grout_emit__end(e, ");");
    grout_emit__close_registers(e, from);
    grout_emit__close_owners(e, from);
    grout_emit__after_access(e, 0, true);
}

/* The same elements in the layout of another value. */
static void read_area(grout_emitter *e, grout_value_id value, const area *a) {
    const grout_register_layout *to = grout_emit__layout(e, value);
    const uint32_t width = get_width(a, to);
    const char *type = grout_emit__memory_type(grout_emit__dtype(e, value));
    const char *to_bool = grout_emit__dtype(e, value) == GROUT_DTYPE_BOOL ? " != 0" : "";
    grout_emit__before_access(e, 0, false);
    grout_emit__declare_elements(e, value);
    grout_emit__open_registers(e, to->registers, width);
    grout_emit__open_element(e, to, width);
    grout_emit__begin(e);
    if (width > 1) {
        grout_emit__add(e, "const auto chunk = grout_load_smem<grout_vector<%s, %" PRIu32 ">>(",
                        type, width);
    } else {
        grout_emit__add(e, "%s[reg] = grout_load_smem<%s>(", grout_emit__name(e, value), type);
    }
    add_area_address(e, a, to);
    grout_emit__end(e, ")%s;", width > 1 ? "" : to_bool);
    if (width > 1) {
        grout_emit__read_chunk(e, value, width, to_bool);
    }
    grout_emit__close_registers(e, to);
    grout_emit__after_access(e, 0, false);
}

static int64_t get_bytes(const grout_emitter *e, grout_value_id value) {
    return grout_emit__layout(e, value)->count *
           grout_dtype_get_info(grout_emit__dtype(e, value))->bytes;
}

void grout_emit__write_exchange(grout_emitter *e, const grout_operand *source) {
    GROUT_ASSERT(e->plan->exchange_bytes > 0);
    const area plain = {.bytes = grout_dtype_get_info(grout_emit__dtype(e, source->id))->bytes};
    write_area(e, source, &plain);
}

void grout_emit__read_exchange(grout_emitter *e, grout_value_id value) {
    const grout_dtype dtype = grout_emit__dtype(e, value);
    const area plain = {.bytes = grout_dtype_get_info(dtype)->bytes};
    GROUT_ASSERT(e->plan->exchange_bytes > 0);
    if (grout_emit__has_registers(grout_emit__layout(e, value))) {
        read_area(e, value, &plain);
        return;
    }
    grout_emit__before_access(e, 0, false);
    grout_emit__begin_scalar(e, value);
    grout_emit__end(e, "grout_load_smem<%s>(exchange)%s;", grout_emit__memory_type(dtype),
                    dtype == GROUT_DTYPE_BOOL ? " != 0" : "");
    grout_emit__after_access(e, 0, false);
}

/* ---- broadcast ---- */

/* Row-major index into the source of a broadcast for an element of the result. */
static void add_source_index(grout_emitter *e, const grout_type *from, const grout_type *to,
                             uint32_t first, grout_emit_at at) {
    bool is_first = true;
    int64_t stride = grout_type_get_count(from);
    for (uint32_t k = 0; k < from->rank; k++) {
        stride /= from->dims[k];
        if (from->dims[k] == 1) {
            continue;
        }
        grout_emit__add(e, is_first ? "" : " + ");
        grout_emit__index(e, at, to, first + k);
        if (stride > 1) {
            grout_emit__add(e, " * %" PRId64 "u", stride);
        }
        is_first = false;
    }
}

/* Through SMEM: every lane writes its elements of the source, then reads those of the result. */
static void exchange_broadcast(grout_emitter *e, const grout_operand *source, grout_value_id value,
                               uint32_t first_dim) {
    const grout_register_layout *to = grout_emit__layout(e, value);
    const grout_type *type = grout_module_get_type(e->module, value);
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    grout_emit__write_exchange(e, source);
    grout_emit__before_access(e, 0, false);
    grout_emit__declare_elements(e, value);
    grout_emit__open_registers(e, to->registers, 1);
    grout_emit__open_element(e, to, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = grout_load_smem<%s>(exchange + (", grout_emit__name(e, value),
                    grout_emit__memory_type((grout_dtype)type->dtype));
    add_source_index(e, grout_module_get_type(e->module, source->id), type, first_dim,
                     grout_emit__get_at(to));
    grout_emit__end(e, ") * %" PRIu32 ")%s;", bytes,
                    type->dtype == GROUT_DTYPE_BOOL ? " != 0" : "");
    grout_emit__close_registers(e, to);
    grout_emit__after_access(e, 0, false);
}

void grout_emit__broadcast(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *source = grout_module_get_operand(e->module, op, 0);
    const grout_value_id value = op->first_result;
    const grout_register_layout *to = grout_emit__layout(e, value);
    char index[64] = "reg";
    if (!grout_emit__is_spread(e, source)) {
        emit_picks(e, source, value, NULL);
        return;
    }
    const grout_register_layout *from = grout_emit__layout(e, source->id);
    if (grout_register_layouts_get_exchange_bytes(e->plan->layouts, id) > 0) {
        const grout_type *type = grout_module_get_type(e->module, source->id);
        const int64_t last = (int64_t)grout_module_get_type(e->module, value)->rank - type->rank;
        if (grout_emit__check_exchange(e, id, get_bytes(e, source->id))) {
            exchange_broadcast(
                e, source, value,
                (uint32_t)grout_op_get_attr_integer(e->module, op, GROUT_ATTR_DIM, last));
        }
        return;
    }
    if (to->kind == GROUT_LAYOUT_WGMMA && from->kind == GROUT_LAYOUT_WGMMA_ROW) {
        (void)snprintf(index, sizeof index, "grout_row_reg(reg, %" PRId64 ")", to->cols);
    } else if (to->kind == GROUT_LAYOUT_WGMMA && from->kind == GROUT_LAYOUT_WGMMA_COL) {
        (void)snprintf(index, sizeof index, "grout_col_reg(reg, %" PRId64 ")", to->cols);
    } else if (to->kind == GROUT_LAYOUT_TMEM && from->kind == GROUT_LAYOUT_TMEM_ROW) {
        (void)snprintf(index, sizeof index, from->registers == 1 ? "0" : "reg / %" PRId64,
                       to->cols);
    } else if (!grout_emit__is_same_layout(from, to)) {
        (void)grout_emit__check_exchange(e, id, get_bytes(e, source->id));
        return;
    }
    emit_picks(e, source, value, index);
}

/* ---- layout_cast ---- */

void grout_emit__relayout(grout_emitter *e, grout_op_id id, const grout_op *op) {
    grout_emit__layout_cast(e, id, op);
}

void grout_emit__layout_cast(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *source = grout_module_get_operand(e->module, op, 0);
    const grout_value_id value = op->first_result;
    const grout_register_layout *to = grout_emit__layout(e, value);
    if (!grout_emit__is_spread(e, source)) {
        emit_picks(e, source, value, NULL);
        return;
    }
    const grout_register_layout *from = grout_emit__layout(e, source->id);
    if (grout_emit__is_same_layout(from, to)) {
        emit_picks(e, source, value, "reg");
    } else if (grout_register_layouts_get_exchange_bytes(e->plan->layouts, id) == 0) {
        grout_emit__parts(e, id, op); /* each lane has its elements, in other registers */
    } else if (grout_emit__check_exchange(e, id, get_bytes(e, source->id))) {
        const area a = make_area(e, source, from, to);
        write_area(e, source, &a);
        read_area(e, value, &a);
    }
}
