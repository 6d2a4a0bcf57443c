/* tmem.c - columns that are allocated, and cells that registers go to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tmem.h"

enum { INSIDE = GROUT_PTX_TMEM_UNITS + 1, COUNT_MAX = 128, HALF_LANES = 16, QUAD = 4 };

bool grout_ptx__tmem_decode(uint32_t address, grout_ptx_tmem_cell *cell, grout_ptx_fault *fault) {
    *cell = (grout_ptx_tmem_cell){address >> 16, address & 0xffff};
    if (cell->lane >= GROUT_PTX_TMEM_LANES || cell->column >= GROUT_PTX_TMEM_COLUMNS) {
        return grout_ptx__fail(fault,
                               "the tensor memory address 0x%08x is lane %u, column %u: there are "
                               "128 lanes and 512 columns",
                               address, cell->lane, cell->column);
    }
    return true;
}

/* ---- allocation ---- */

static bool is_size(uint32_t columns) {
    return columns >= GROUT_PTX_TMEM_UNIT && columns <= GROUT_PTX_TMEM_COLUMNS &&
           (columns & (columns - 1)) == 0;
}

static bool check_size(const char *what, uint32_t columns, grout_ptx_fault *fault) {
    return is_size(columns) ||
           grout_ptx__fail(fault, "tcgen05.%s of %u columns: 32, 64, 128, 256 or 512", what,
                           columns);
}

static bool is_free(const grout_ptx_tmem *tmem, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; i++) {
        if (tmem->units[i] != 0) {
            return false;
        }
    }
    return true;
}

grout_ptx_tmem_answer grout_ptx__tmem_alloc(grout_ptx_tmem *tmem, uint32_t columns,
                                            uint32_t *address, grout_ptx_fault *fault) {
    const uint32_t count = columns / GROUT_PTX_TMEM_UNIT;
    if (!check_size("alloc", columns, fault)) {
        return GROUT_PTX_TMEM_FAULT;
    }
    if (tmem->is_relinquished) {
        (void)grout_ptx__fail(fault, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
        return GROUT_PTX_TMEM_FAULT;
    }
    if (tmem->last != 0 && columns > tmem->last) {
        (void)grout_ptx__fail(fault,
                              "tcgen05.alloc of %u columns after one of %u: allocations may not "
                              "become larger",
                              columns, tmem->last);
        return GROUT_PTX_TMEM_FAULT;
    }
    for (uint32_t first = 0; first + count <= GROUT_PTX_TMEM_UNITS; first += count) {
        if (is_free(tmem, first, count)) {
            for (uint32_t i = 0; i < count; i++) {
                tmem->units[first + i] = i == 0 ? (uint8_t)count : INSIDE;
            }
            tmem->last = columns;
            *address = first * GROUT_PTX_TMEM_UNIT;
            return GROUT_PTX_TMEM_DONE;
        }
    }
    return GROUT_PTX_TMEM_WAITS;
}

bool grout_ptx__tmem_dealloc(grout_ptx_tmem *tmem, uint32_t address, uint32_t columns,
                             grout_ptx_fault *fault) {
    grout_ptx_tmem_cell cell;
    const uint32_t count = columns / GROUT_PTX_TMEM_UNIT;
    if (!check_size("dealloc", columns, fault) || !grout_ptx__tmem_decode(address, &cell, fault)) {
        return false;
    }
    const uint32_t first = cell.column / GROUT_PTX_TMEM_UNIT;
    if (cell.lane != 0 || cell.column % GROUT_PTX_TMEM_UNIT != 0 || tmem->units[first] != count) {
        return grout_ptx__fail(
            fault,
            "tcgen05.dealloc of %u columns at 0x%08x, where no allocation of that "
            "size begins",
            columns, address);
    }
    for (uint32_t i = first; i < first + count; i++) {
        tmem->units[i] = 0;
    }
    return true;
}

bool grout_ptx__tmem_relinquish(grout_ptx_tmem *tmem, grout_ptx_fault *fault) {
    if (tmem->is_relinquished) {
        return grout_ptx__fail(fault, "tcgen05.relinquish_alloc_permit a second time");
    }
    tmem->is_relinquished = true;
    return true;
}

bool grout_ptx__tmem_is_allocated(const grout_ptx_tmem *tmem, uint32_t column, uint32_t columns) {
    for (uint32_t i = column; i < column + columns; i++) {
        if (i >= GROUT_PTX_TMEM_COLUMNS || tmem->units[i / GROUT_PTX_TMEM_UNIT] == 0) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__tmem_end(const grout_ptx_tmem *tmem, grout_ptx_fault *fault) {
    return is_free(tmem, 0, GROUT_PTX_TMEM_UNITS) ||
           grout_ptx__fail(fault, "the CTA exits with columns of tensor memory that no "
                                  "tcgen05.dealloc has freed");
}

/* ---- moves ---- */

/* A shape: lanes, registers of each lane and columns for .x1, and the largest count. */
typedef struct shape_info {
    const char *name;
    uint32_t lanes, registers, columns, count_max;
} shape_info;

static const shape_info SHAPES[GROUT_PTX_TMEM_SHAPE_COUNT] = {
    [GROUT_PTX_TMEM_32X32B] = {".32x32b", 32, 1, 1, 128},
    [GROUT_PTX_TMEM_16X64B] = {".16x64b", 16, 1, 2, 128},
    [GROUT_PTX_TMEM_16X128B] = {".16x128b", 16, 2, 4, 64},
    [GROUT_PTX_TMEM_16X256B] = {".16x256b", 16, 4, 8, 32},
    [GROUT_PTX_TMEM_16X32BX2] = {".16x32bx2", 16, 1, 1, 128},
};

uint32_t grout_ptx__tmem_move_registers(const grout_ptx_tmem_move *move) {
    return SHAPES[move->shape].registers * move->count;
}

uint32_t grout_ptx__tmem_move_columns(const grout_ptx_tmem_move *move) {
    const uint32_t split = move->shape == GROUT_PTX_TMEM_16X32BX2 ? move->split : 0;
    return SHAPES[move->shape].columns * move->count * (move->is_packed ? 2 : 1) + split;
}

static bool check_lanes(const grout_ptx_tmem_move *move, grout_ptx_tmem_cell cell,
                        grout_ptx_fault *fault) {
    const shape_info *shape = &SHAPES[move->shape];
    const uint32_t quarter = move->warp % 4 * GROUT_PTX_TMEM_QUARTER;
    const bool is_upper = shape->lanes == HALF_LANES && cell.lane == quarter + HALF_LANES;
    if (cell.lane != quarter && !is_upper) {
        return grout_ptx__fail(
            fault,
            "warp %u accesses tensor memory %s from lane %u: it reaches lanes %u "
            "to %u, and begins at %u%s",
            move->warp, shape->name, cell.lane, quarter, quarter + 31, quarter,
            shape->lanes == HALF_LANES ? " or 16 more" : "");
    }
    return true;
}

bool grout_ptx__tmem_move_check(const grout_ptx_tmem_move *move, grout_ptx_fault *fault) {
    const shape_info *shape = &SHAPES[move->shape];
    const uint32_t count = move->count;
    grout_ptx_tmem_cell cell;
    if (count == 0 || count > shape->count_max || (count & (count - 1)) != 0) {
        return grout_ptx__fail(fault, "%s.x%u: powers of two up to %u", shape->name, count,
                               shape->count_max);
    }
    if (!grout_ptx__tmem_decode(move->address, &cell, fault) || !check_lanes(move, cell, fault)) {
        return false;
    }
    if (cell.column + grout_ptx__tmem_move_columns(move) > GROUT_PTX_TMEM_COLUMNS) {
        return grout_ptx__fail(fault, "%s.x%u at column %u reaches beyond the 512 columns",
                               shape->name, count, cell.column);
    }
    return true;
}

/* Lane and column of a register, from the address on, where a column has 32 bits. */
static grout_ptx_tmem_cell get_offset(const grout_ptx_tmem_move *move, uint32_t lane, uint32_t r) {
    const uint32_t row = lane / QUAD, of_quad = lane % QUAD;
    switch (move->shape) {
    case GROUT_PTX_TMEM_32X32B:
        return (grout_ptx_tmem_cell){lane, r};
    case GROUT_PTX_TMEM_16X64B:
        return (grout_ptx_tmem_cell){row + 8 * (lane % 2), 2 * r + lane / 2 % 2};
    case GROUT_PTX_TMEM_16X128B:
        return (grout_ptx_tmem_cell){row + 8 * (r % 2), 4 * (r / 2) + of_quad};
    case GROUT_PTX_TMEM_16X256B:
        return (grout_ptx_tmem_cell){row + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * of_quad + r % 2};
    case GROUT_PTX_TMEM_16X32BX2:
        return (grout_ptx_tmem_cell){lane % HALF_LANES, r};
    case GROUT_PTX_TMEM_SHAPE_COUNT:
        break;
    }
    return (grout_ptx_tmem_cell){0, 0};
}

grout_ptx_tmem_cell grout_ptx__tmem_move_cell(const grout_ptx_tmem_move *move, uint32_t lane,
                                              uint32_t number) {
    grout_ptx_tmem_cell cell = get_offset(move, lane, number);
    if (move->is_packed) {
        cell.column *= 2;
    }
    if (move->shape == GROUT_PTX_TMEM_16X32BX2) {
        cell.column += lane / HALF_LANES * move->split;
    }
    cell.lane += move->address >> 16;
    cell.column += move->address & 0xffff;
    return cell;
}
