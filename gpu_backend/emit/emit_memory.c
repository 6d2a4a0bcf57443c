/* emit_memory.c - loads and stores between registers and memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool get_view(grout_emitter *e, const grout_op *op, uint32_t index, grout_view *view_out) {
    if (grout_module_get_view(e->module, grout_module_get_operand(e->module, op, index),
                              view_out)) {
        return true;
    }
    grout_emit__unsupported(e, op, "operand %" PRIu32 " is not a reference to memory", index + 1);
    return false;
}

static bool is_gmem(const grout_emitter *e, const grout_view *view) {
    return grout_space_is_of_launch(grout_module_get_object(e->module, view->object)->space);
}

/* What the device header calls the memory that a view lies in. */
static const char *get_memory_name(const grout_emitter *e, const grout_view *view) {
    return grout_emit__is_peer(view) ? "peer" : is_gmem(e, view) ? "gmem" : "smem";
}

/* "grout_load_smem<T>(address)" or with a vector of width elements. */
static void add_load(grout_emitter *e, const grout_view *view, uint32_t width, grout_emit_at at) {
    const grout_dtype dtype = (grout_dtype)grout_object_get_type(e->module, view->object)->dtype;
    grout_emit__add(e, "grout_load_%s<", get_memory_name(e, view));
    if (width > 1) {
        grout_emit__add(e, "grout_vector<%s, %" PRIu32 ">>(", grout_emit__memory_type(dtype),
                        width);
    } else {
        grout_emit__add(e, "%s>(", grout_emit__memory_type(dtype));
    }
    grout_emit__address(e, view, at);
    grout_emit__add(e, ")");
}

/* ---- packed elements ---- */

/* "grout_u8" or "grout_vector<grout_u8, 4>": the bytes of a chunk. */
static void add_packed_type(grout_emitter *e, uint32_t bytes) {
    if (bytes > 1) {
        grout_emit__add(e, "grout_vector<grout_u8, %" PRIu32 ">", bytes);
    } else {
        grout_emit__add(e, "grout_u8");
    }
}

/* Reads the bytes of a chunk, or the one in which a lone element is, and takes them apart. */
static void load_packed(grout_emitter *e, grout_value_id value, const grout_view *view,
                        uint32_t width, grout_emit_at at) {
    const uint32_t bytes = (width + 1) / 2;
    grout_emit__begin(e);
    grout_emit__add(e, "const auto chunk = grout_load_%s<", get_memory_name(e, view));
    add_packed_type(e, bytes);
    grout_emit__add(e, ">(");
    grout_emit__address(e, view, at);
    grout_emit__end(e, ");");
    if (width == 1) {
        grout_emit__line(e, "%s[reg].bits = chunk >> %s %% 2 * 4 & 15;", grout_emit__name(e, value),
                         at == GROUT_EMIT_AT_FLAT  ? "flat"
                         : at == GROUT_EMIT_AT_ROW ? "at_row"
                                                   : "at_col");
        return;
    }
    grout_emit__line(e, "#pragma unroll");
    grout_emit__begin(e);
    grout_emit__add(e, "for (int part = 0; part < %" PRIu32 "; part++)", width);
    grout_emit__open(e);
    grout_emit__line(e, "%s[reg + part].bits = chunk%s >> part %% 2 * 4 & 15;",
                     grout_emit__name(e, value), bytes > 1 ? "[part / 2]" : "");
    grout_emit__close(e, "");
}

/* The bytes of neighbouring registers. */
static void write_packed_chunk(grout_emitter *e, const grout_operand *from, uint32_t width) {
    grout_emit__begin(e);
    grout_emit__add(e, "const ");
    add_packed_type(e, width / 2);
    grout_emit__add(e, " chunk = {");
    for (uint32_t k = 0; k < width; k++) {
        char index[24];
        (void)snprintf(index, sizeof index, k == 0 ? "reg" : "reg + %" PRIu32, k);
        grout_emit__add(e, "%s", k % 2 == 1 ? " | " : k == 0 ? "(grout_u8)(" : ", (grout_u8)(");
        grout_emit__operand(e, from, index);
        grout_emit__add(e, k % 2 == 1 ? ".bits << 4)" : ".bits");
    }
    grout_emit__end(e, "};");
}

static void load_one(grout_emitter *e, grout_value_id value, const grout_view *view) {
    grout_emit__prepare_address(e, view, GROUT_EMIT_AT_FIRST);
    grout_emit__begin_scalar(e, value);
    add_load(e, view, 1, GROUT_EMIT_AT_FIRST);
    grout_emit__end(e, grout_emit__dtype(e, value) == GROUT_DTYPE_BOOL ? " != 0;" : ";");
}

static uint32_t get_width(const grout_emitter *e, const grout_view *view,
                          const grout_register_layout *layout) {
    const uint32_t width = grout_view_get_access_width(e->module, view);
    const uint32_t run = grout_emit__get_run(layout);
    return width < run ? width : run;
}

/* Where half of the lanes take the columns beside: the block that says which do. */
static void declare_turn(grout_emitter *e, const grout_emit_turn *turn) {
    if (turn->cols != 0) {
        grout_emit__line(e, "{ // half of the lanes take the columns beside, in other banks");
        e->indent++;
        grout_emit__line(e, "const bool is_turned = lane / %u %% 2 != 0;", 1u << turn->lane_bit);
    }
}

/* As open_element, of a layout that is not guarded. */
static void open_turned_element(grout_emitter *e, const grout_register_layout *layout,
                                uint32_t width, const grout_emit_turn *turn) {
    if (turn->cols == 0) {
        grout_emit__open_element(e, layout, width);
        return;
    }
    grout_emit__line(e, "const grout_u32 at_row = grout_wgmma_row(lane, reg, %" PRId64 "%s);",
                     layout->cols, grout_emit__get_block(layout));
    grout_emit__line(e,
                     "const grout_u32 at_col = grout_wgmma_col(lane, reg, %" PRId64
                     ") ^ (is_turned ? %" PRIu32 " : 0);",
                     layout->cols, turn->cols);
}

static void load_registers(grout_emitter *e, grout_value_id value, const grout_view *view) {
    const grout_register_layout *layout = grout_emit__layout(e, value);
    const grout_emit_at at = grout_emit__get_at(layout);
    const char *to_bool = grout_emit__dtype(e, value) == GROUT_DTYPE_BOOL ? " != 0" : "";
    const uint32_t width = get_width(e, view, layout);
    const grout_emit_turn turn = grout_emit__find_turn(e, view, layout, width);
    grout_emit__declare_elements(e, value);
    declare_turn(e, &turn);
    grout_emit__open_registers(e, layout->registers, width);
    open_turned_element(e, layout, width, &turn);
    grout_emit__prepare_address(e, view, at);
    if (view->packed > 1) {
        load_packed(e, value, view, width, at);
        grout_emit__close_registers(e, layout);
        return;
    }
    grout_emit__begin(e);
    if (width == 1) {
        grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
        add_load(e, view, 1, at);
        grout_emit__end(e, "%s;", to_bool);
    } else {
        grout_emit__add(e, "const auto chunk = ");
        add_load(e, view, width, at);
        grout_emit__end(e, ";");
        grout_emit__read_chunk(e, value, width, to_bool);
    }
    grout_emit__close_registers(e, layout);
    if (turn.cols != 0) {
        grout_emit__line(e, "grout_turn_back<%" PRIu32 ">(%s, is_turned);", turn.cols / 2,
                         grout_emit__name(e, value));
        grout_emit__close(e, "");
    }
}

void grout_emit__load(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_value_id value = op->first_result;
    grout_view view;
    (void)id;
    if (!get_view(e, op, 0, &view)) {
        return;
    }
    if (grout_emit__is_accumulator(e, &view)) {
        grout_emit__read_accumulator(e, op, &view);
        return;
    }
    const grout_register_layout *layout = grout_emit__layout(e, value);
    const grout_emit_matrix matrix = grout_emit__find_matrix(e, &view, layout, true);
    grout_emit__before_access(e, view.object, false);
    if (!grout_emit__has_registers(layout)) {
        load_one(e, value, &view);
    } else if (matrix.count > 0) {
        grout_emit__report_matrix_passes(e, op, &view, layout, &matrix);
        grout_emit__load_matrices(e, value, &view, &matrix);
    } else {
        grout_emit__report_passes(e, op, &view, layout, get_width(e, &view, layout));
        load_registers(e, value, &view);
    }
    grout_emit__after_access(e, view.object, false);
}

/* One element, by the issuer: a scalar, or an array of one element. */
static void store_one(grout_emitter *e, const grout_view *view, const grout_operand *from) {
    const grout_dtype dtype = (grout_dtype)grout_object_get_type(e->module, view->object)->dtype;
    grout_emit__open_issuer(e);
    grout_emit__prepare_address(e, view, GROUT_EMIT_AT_FIRST);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_%s(", get_memory_name(e, view));
    grout_emit__address(e, view, GROUT_EMIT_AT_FIRST);
    grout_emit__add(e, ", ");
    grout_emit__element(e, from, dtype, NULL);
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}

static void write_turned_chunk(grout_emitter *e, const grout_operand *from, grout_dtype dtype,
                               const grout_emit_turn *turn) {
    const char *name = grout_emit__name(e, from->id);
    const uint32_t distance = turn->cols / 2; /* 4 registers hold 8 columns */
    grout_emit__line(e,
                     "const grout_vector<%s, 2> chunk = {grout_turned<%" PRIu32
                     ">(%s, reg, is_turned), grout_turned<%" PRIu32 ">(%s, reg + 1, is_turned)};",
                     grout_emit__memory_type(dtype), distance, name, distance, name);
}

static void store_registers(grout_emitter *e, const grout_view *view, const grout_operand *from,
                            const grout_register_layout *layout) {
    const grout_dtype dtype = (grout_dtype)grout_object_get_type(e->module, view->object)->dtype;
    const grout_emit_at at = grout_emit__get_at(layout);
    const uint32_t width = get_width(e, view, layout);
    const grout_emit_turn turn = grout_emit__is_spread(e, from)
                                     ? grout_emit__find_turn(e, view, layout, width)
                                     : (grout_emit_turn){0};
    grout_emit__open_owners(e, layout);
    declare_turn(e, &turn);
    grout_emit__open_registers(e, layout->registers, width);
    open_turned_element(e, layout, width, &turn);
    grout_emit__prepare_address(e, view, at);
    if (turn.cols != 0) {
        write_turned_chunk(e, from, dtype, &turn);
    } else if (view->packed > 1) {
        write_packed_chunk(e, from, width);
    } else if (width > 1) {
        grout_emit__write_chunk(e, from, dtype, width);
    }
    grout_emit__begin(e);
    grout_emit__add(e, "grout_store_%s(", get_memory_name(e, view));
    grout_emit__address(e, view, at);
    grout_emit__add(e, ", ");
    if (width > 1) {
        grout_emit__add(e, "chunk");
    } else {
        grout_emit__element(e, from, dtype, "reg");
    }
    grout_emit__end(e, ");");
    grout_emit__close_registers(e, layout);
    if (turn.cols != 0) {
        grout_emit__close(e, "");
    }
    grout_emit__close_owners(e, layout);
}

/* An array of registers, by the widest instruction there is for it. */
static void store_array(grout_emitter *e, const grout_op *op, const grout_view *view,
                        const grout_operand *from, const grout_register_layout *layout) {
    const grout_emit_matrix matrix = grout_emit__is_spread(e, from)
                                         ? grout_emit__find_matrix(e, view, layout, false)
                                         : (grout_emit_matrix){0};
    if (get_width(e, view, layout) % view->packed != 0) {
        grout_emit__unsupported(
            e, op,
            "a lane has no two neighbours of this array, in the layout %s, and a byte of memory "
            "holds two of them: store (layout_cast .. wg_strided)",
            grout_register_layout_get_text((grout_register_layout_kind)layout->kind));
        return;
    }
    if (matrix.count > 0) {
        grout_emit__report_matrix_passes(e, op, view, layout, &matrix);
        grout_emit__store_matrices(e, from->id, view, &matrix);
    } else {
        grout_emit__report_passes(e, op, view, layout, get_width(e, view, layout));
        store_registers(e, view, from, layout);
    }
}

void grout_emit__store(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *from = grout_module_get_operand(e->module, op, 1);
    grout_view view;
    (void)id;
    if (!get_view(e, op, 0, &view)) {
        return;
    }
    const int64_t count = grout_emit__count_elements(&view);
    grout_emit__before_access(e, view.object, true);
    if (grout_emit__is_spread(e, from)) {
        store_array(e, op, &view, from, grout_emit__layout(e, from->id));
    } else if (count == 1) {
        store_one(e, &view, from);
    } else {
        const uint32_t width = grout_view_get_access_width(e->module, &view);
        const grout_register_layout layout =
            view.packed > 1 ? grout_register_layout_make_packed(e->warps, count, width)
                            : grout_register_layout_make_strided(e->warps, count, width);
        store_array(e, op, &view, from, &layout);
    }
    grout_emit__after_access(e, view.object, true);
}
