/* registers.c - the registers of a lane: loops over them, and which element each of them holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "invariant.h"

#include <inttypes.h>

bool grout_emit__is_same_layout(const grout_register_layout *a, const grout_register_layout *b) {
    return a->kind == b->kind && a->vec == b->vec && a->warps == b->warps &&
           a->registers == b->registers && a->count == b->count && a->rows == b->rows &&
           a->cols == b->cols && a->tiling == b->tiling;
}

void grout_emit__open_registers(grout_emitter *e, uint32_t registers, uint32_t step) {
    GROUT_ASSERT(step > 0 && registers > 0 && registers % step == 0);
    grout_emit__line(e, "#pragma unroll");
    grout_emit__begin(e);
    if (step == 1) {
        grout_emit__add(e, "for (int reg = 0; reg < %" PRIu32 "; reg++)", registers);
    } else {
        grout_emit__add(e, "for (int reg = 0; reg < %" PRIu32 "; reg += %" PRIu32 ")", registers,
                        step);
    }
    grout_emit__open(e);
}

/* Neighbours along the dimension that a tile has last: steps of 1, 2, 4, .. by the first bits. */
static uint32_t get_tiled_run(const grout_register_tiling *tiling) {
    uint32_t run = 1;
    for (uint32_t bit = 0; bit < tiling->register_bits; bit++) {
        const grout_register_step *step = &tiling->registers[bit];
        if ((tiling->cols == 1 ? step->row : step->col) != run ||
            (tiling->cols == 1 ? step->col : step->row) != 0) {
            break;
        }
        run *= 2;
    }
    return run;
}

/* What a lane with whole rows has side by side: as many as divide their length, and an access can
 * take. */
static uint32_t get_column_run(int64_t cols) {
    uint32_t run = 1;
    while (run < GROUT_WIDE_BYTES_MAX && cols % (2 * (int64_t)run) == 0) {
        run *= 2;
    }
    return run;
}

/* How many neighbouring elements a lane has in neighbouring registers. */
uint32_t grout_emit__get_run(const grout_register_layout *layout) {
    switch ((grout_register_layout_kind)layout->kind) {
    case GROUT_LAYOUT_WGMMA:
    case GROUT_LAYOUT_WGMMA_COL:
    case GROUT_LAYOUT_WGMMA_METADATA_8BIT:
        return 2;
    case GROUT_LAYOUT_WGMMA_8BIT:
        return 4;
    case GROUT_LAYOUT_STRIDED:
        return layout->vec;
    case GROUT_LAYOUT_WGMMA_UPCAST_2X:
        return 4;
    case GROUT_LAYOUT_WGMMA_UPCAST_4X:
        return 8;
    case GROUT_LAYOUT_TILED:
        return get_tiled_run(layout->tiling);
    case GROUT_LAYOUT_TMEM:
        return get_column_run(layout->cols);
    case GROUT_LAYOUT_NONE:
    case GROUT_LAYOUT_SPLAT:
    case GROUT_LAYOUT_TMEM_ROW:
    case GROUT_LAYOUT_WGMMA_ROW:
    case GROUT_LAYOUT_WGMMA_TRANSPOSED:
    case GROUT_LAYOUT_WGMMA_METADATA:
    case GROUT_LAYOUT_MMA_LHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_16BIT:
    case GROUT_LAYOUT_MMA_RHS_8BIT:
    case GROUT_LAYOUT_COUNT:
        break;
    }
    return 1;
}

grout_emit_at grout_emit__get_at(const grout_register_layout *layout) {
    switch ((grout_register_layout_kind)layout->kind) {
    case GROUT_LAYOUT_NONE:
    case GROUT_LAYOUT_SPLAT:
    case GROUT_LAYOUT_COUNT:
        break;
    case GROUT_LAYOUT_STRIDED:
        return GROUT_EMIT_AT_FLAT;
    case GROUT_LAYOUT_WGMMA:
    case GROUT_LAYOUT_WGMMA_TRANSPOSED:
    case GROUT_LAYOUT_WGMMA_UPCAST_2X:
    case GROUT_LAYOUT_WGMMA_UPCAST_4X:
    case GROUT_LAYOUT_WGMMA_METADATA:
    case GROUT_LAYOUT_WGMMA_METADATA_8BIT:
    case GROUT_LAYOUT_WGMMA_8BIT:
    case GROUT_LAYOUT_MMA_LHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_16BIT:
    case GROUT_LAYOUT_MMA_RHS_8BIT:
    case GROUT_LAYOUT_TMEM:
        return GROUT_EMIT_AT_MATRIX;
    case GROUT_LAYOUT_TILED:
        return layout->rows > 1 && layout->cols > 1 ? GROUT_EMIT_AT_MATRIX
               : layout->rows > 1                   ? GROUT_EMIT_AT_ROW
                                                    : GROUT_EMIT_AT_COL;
    case GROUT_LAYOUT_WGMMA_ROW:
    case GROUT_LAYOUT_TMEM_ROW:
        return GROUT_EMIT_AT_ROW;
    case GROUT_LAYOUT_WGMMA_COL:
        return GROUT_EMIT_AT_COL;
    }
    return GROUT_EMIT_AT_FIRST;
}

const char *grout_emit__get_block(const grout_register_layout *layout) {
    return layout->warps == 1 ? ", 16" : layout->warps == 2 ? ", 32" : "";
}

static void open_flat(grout_emitter *e, const grout_register_layout *layout, uint32_t step) {
    const uint32_t lanes = grout_register_layout_get_lanes(layout);
    GROUT_ASSERT(layout->vec > 0 && layout->vec % step == 0); /* neighbours stay together */
    if (layout->vec == 1) {
        grout_emit__line(e, "const grout_u32 flat = reg * %" PRIu32 " + lane;", lanes);
    } else if (step == layout->vec) {
        grout_emit__line(e, "const grout_u32 flat = (reg / %u * %" PRIu32 " + lane) * %u;",
                         layout->vec, lanes, layout->vec);
    } else {
        grout_emit__line(e,
                         "const grout_u32 flat = (reg / %u * %" PRIu32 " + lane) * %u + reg %% %u;",
                         layout->vec, lanes, layout->vec, layout->vec);
    }
    if (layout->is_guarded) {
        grout_emit__begin(e);
        grout_emit__add(e, "if (flat < %" PRId64 "u)", layout->count);
        grout_emit__open(e);
    }
}

/* A coordinate of a step. */
static uint32_t get_step(const grout_register_step *step, bool is_row) {
    return is_row ? step->row : step->col;
}

/* " + lane / 4 % 8 * 2": what the first bits of a number, which has width of them, add to a row or
 * a column. Bits whose steps double are one field of the number. */
static void add_fields(grout_emitter *e, const char *number, uint32_t width,
                       const grout_register_step *steps, uint32_t count, bool is_row) {
    for (uint32_t bit = 0, bits; bit < count; bit += bits) {
        const uint32_t step = get_step(&steps[bit], is_row);
        bits = 1;
        while (step > 0 && bit + bits < count &&
               get_step(&steps[bit + bits], is_row) == step << bits) {
            bits++;
        }
        if (step == 0) {
            continue;
        }
        grout_emit__add(e, " + %s", number);
        if (bit > 0) {
            grout_emit__add(e, " / %u", 1u << bit);
        }
        if (bit + bits < width) {
            grout_emit__add(e, " %% %u", 1u << bits);
        }
        if (step > 1) {
            grout_emit__add(e, " * %" PRIu32, step);
        }
    }
}

static void add_coordinate(grout_emitter *e, const grout_register_layout *layout,
                           const grout_register_tiling *tiling, bool is_row) {
    const int64_t across = layout->cols / tiling->cols;
    const uint32_t size = 1u << tiling->register_bits;
    grout_emit__begin(e);
    if (is_row) {
        const uint32_t rows = layout->kind == GROUT_LAYOUT_TILED
                                  ? tiling->rows
                                  : grout_register_layout_get_block_rows(
                                        (grout_register_layout_kind)layout->kind, layout->warps);
        grout_emit__add(e, "const grout_u32 at_row = reg / %" PRId64 " * %" PRIu32, across * size,
                        rows);
    } else {
        grout_emit__add(e, "const grout_u32 at_col = reg / %u %% %" PRId64 " * %u", size, across,
                        tiling->cols);
    }
    const uint32_t lane_bits = 5 + layout->warps / 2; /* of the lane's number */
    add_fields(e, "lane", lane_bits, tiling->lanes, lane_bits, is_row);
    add_fields(e, "reg", 32, tiling->registers, tiling->register_bits, is_row);
    grout_emit__end(e, ";");
}

static void open_tiled(grout_emitter *e, const grout_register_layout *layout) {
    const grout_register_tiling *tiling = grout_register_layout_find_tiling(layout);
    const grout_emit_at at = grout_emit__get_at(layout);
    if (at != GROUT_EMIT_AT_COL) {
        add_coordinate(e, layout, tiling, true);
    }
    if (at != GROUT_EMIT_AT_ROW) {
        add_coordinate(e, layout, tiling, false);
    }
}

/* A lane has whole rows. */
static void open_row(grout_emitter *e, const grout_register_layout *layout) {
    const bool is_one = layout->rows == GROUT_LANES;
    if (is_one) {
        grout_emit__line(e, "const grout_u32 at_row = lane;");
    } else if (layout->cols == 1) {
        grout_emit__line(e, "const grout_u32 at_row = reg * %u + lane;", GROUT_LANES);
    } else {
        grout_emit__line(e, "const grout_u32 at_row = reg / %" PRId64 " * %u + lane;", layout->cols,
                         GROUT_LANES);
    }
    if (layout->kind == GROUT_LAYOUT_TMEM) {
        grout_emit__line(e,
                         is_one ? "const grout_u32 at_col = reg;"
                                : "const grout_u32 at_col = reg %% %" PRId64 ";",
                         layout->cols);
    }
}

void grout_emit__open_element(grout_emitter *e, const grout_register_layout *layout,
                              uint32_t step) {
    switch ((grout_register_layout_kind)layout->kind) {
    case GROUT_LAYOUT_NONE:
    case GROUT_LAYOUT_SPLAT:
    case GROUT_LAYOUT_COUNT:
        return;
    case GROUT_LAYOUT_WGMMA_TRANSPOSED:
    case GROUT_LAYOUT_WGMMA_UPCAST_2X:
    case GROUT_LAYOUT_WGMMA_UPCAST_4X:
    case GROUT_LAYOUT_WGMMA_METADATA:
    case GROUT_LAYOUT_WGMMA_METADATA_8BIT:
    case GROUT_LAYOUT_TILED:
    case GROUT_LAYOUT_MMA_LHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_16BIT:
    case GROUT_LAYOUT_MMA_RHS_8BIT:
        open_tiled(e, layout);
        return;
    case GROUT_LAYOUT_STRIDED:
        open_flat(e, layout, step);
        return;
    case GROUT_LAYOUT_WGMMA:
        grout_emit__line(e, "const grout_u32 at_row = grout_wgmma_row(lane, reg, %" PRId64 "%s);",
                         layout->cols, grout_emit__get_block(layout));
        grout_emit__line(e, "const grout_u32 at_col = grout_wgmma_col(lane, reg, %" PRId64 ");",
                         layout->cols);
        return;
    case GROUT_LAYOUT_WGMMA_8BIT:
        grout_emit__line(e,
                         "const grout_u32 at_row = grout_wgmma_8bit_row(lane, reg, %" PRId64 "%s);",
                         layout->cols, grout_emit__get_block(layout));
        grout_emit__line(e,
                         "const grout_u32 at_col = grout_wgmma_8bit_col(lane, reg, %" PRId64 ");",
                         layout->cols);
        return;
    case GROUT_LAYOUT_TMEM:
    case GROUT_LAYOUT_TMEM_ROW:
        open_row(e, layout);
        return;
    case GROUT_LAYOUT_WGMMA_ROW:
        grout_emit__line(e, "const grout_u32 at_row = grout_row_of(lane, reg%s);",
                         grout_emit__get_block(layout));
        return;
    case GROUT_LAYOUT_WGMMA_COL:
        grout_emit__line(e, "const grout_u32 at_col = grout_col_of(lane, reg);");
        return;
    }
}

void grout_emit__close_registers(grout_emitter *e, const grout_register_layout *layout) {
    if (layout->is_guarded) {
        grout_emit__close(e, "");
    }
    grout_emit__close(e, "");
}

uint32_t grout_emit__get_copies(const grout_register_layout *layout) {
    return layout->kind == GROUT_LAYOUT_TILED ? grout_register_tiling_get_copies(layout->tiling)
                                              : 0;
}

/* The lanes that have the first copy of an element, as a condition; NULL: there are no others. */
static const char *get_owners(const grout_register_layout *layout) {
    const grout_register_tiling *tiling =
        grout_register_layout_get_tiling((grout_register_layout_kind)layout->kind);
    if (tiling != NULL) {
        return tiling->copies > 1 && layout->warps > 1 ? "lane < 32" : NULL; /* of several warps */
    }
    return layout->kind == GROUT_LAYOUT_WGMMA_ROW   ? "lane % 4 == 0" /* of the four of a quad */
           : layout->kind == GROUT_LAYOUT_WGMMA_COL ? "lane < 4"
                                                    : NULL;
}

void grout_emit__open_owners(grout_emitter *e, const grout_register_layout *layout) {
    const uint32_t copies = grout_emit__get_copies(layout);
    if (copies != 0) {
        grout_emit__begin(e);
        grout_emit__add(e, "if ((lane & %" PRIu32 ") == 0)", copies);
        grout_emit__open(e);
    }
    if (get_owners(layout) != NULL) {
        grout_emit__begin(e);
        grout_emit__add(e, "if (%s)", get_owners(layout));
        grout_emit__open(e);
    }
}

void grout_emit__close_owners(grout_emitter *e, const grout_register_layout *layout) {
    if (get_owners(layout) != NULL || grout_emit__get_copies(layout) != 0) {
        grout_emit__close(e, "");
    }
}

/* Whether a dimension is the first one of an array that is longer than 1. */
static bool is_outermost(const grout_type *type, uint32_t dim) {
    for (uint32_t k = 0; k < dim; k++) {
        if (type->dims[k] > 1) {
            return false;
        }
    }
    return true;
}

void grout_emit__index(grout_emitter *e, grout_emit_at at, const grout_type *type, uint32_t dim) {
    GROUT_ASSERT(dim < type->rank && type->rank <= GROUT_RANK_MAX);
    int64_t stride = 1;
    for (uint32_t k = dim + 1; k < type->rank; k++) {
        stride *= type->dims[k];
    }
    if (at == GROUT_EMIT_AT_FIRST || type->dims[dim] == 1) {
        grout_emit__add(e, "0");
    } else if (at != GROUT_EMIT_AT_FLAT) {
        const bool is_row =
            at == GROUT_EMIT_AT_ROW || (at == GROUT_EMIT_AT_MATRIX && is_outermost(type, dim));
        grout_emit__add(e, is_row ? "at_row" : "at_col");
    } else {
        grout_emit__add(e, "flat");
        if (stride > 1) {
            grout_emit__add(e, " / %" PRId64 "u", stride);
        }
        if (stride * type->dims[dim] < grout_type_get_count(type)) {
            grout_emit__add(e, " %% %" PRId64 "u", type->dims[dim]);
        }
    }
}

void grout_emit__flat(grout_emitter *e, const grout_register_layout *layout) {
    switch (grout_emit__get_at(layout)) {
    case GROUT_EMIT_AT_FIRST:
        grout_emit__add(e, "0");
        return;
    case GROUT_EMIT_AT_FLAT:
        grout_emit__add(e, "flat");
        return;
    case GROUT_EMIT_AT_MATRIX:
        grout_emit__add(e, "(at_row * %" PRId64 " + at_col)", layout->cols);
        return;
    case GROUT_EMIT_AT_ROW:
        grout_emit__add(e, "at_row");
        return;
    case GROUT_EMIT_AT_COL:
        grout_emit__add(e, "at_col");
        return;
    }
}
