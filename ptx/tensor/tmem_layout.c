/* tmem_layout.c - rows to lanes, columns to columns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tmem_layout.h"

enum { CELL = 32, BYTE = 8, QUARTER = GROUT_PTX_TMEM_QUARTER, GROUP = 16, HALF = 64 };

grout_ptx_tmem_layout grout_ptx__layout_of(const grout_ptx_instr_desc *desc) {
    if (desc->words.ctas == 2) {
        return desc->m == 256          ? GROUT_PTX_LAYOUT_A
               : desc->words.is_sparse ? GROUT_PTX_LAYOUT_C
                                       : GROUT_PTX_LAYOUT_B;
    }
    if (desc->m == 128) {
        return GROUT_PTX_LAYOUT_D;
    }
    return !desc->words.is_stationary ? GROUT_PTX_LAYOUT_F
           : desc->m == 64            ? GROUT_PTX_LAYOUT_E
                                      : GROUT_PTX_LAYOUT_G;
}

/* In how many parts side by side the columns of D are, one for each such number of lanes. */
static uint32_t get_parts(grout_ptx_tmem_layout layout) {
    return layout == GROUT_PTX_LAYOUT_G                                   ? 4
           : layout == GROUT_PTX_LAYOUT_B || layout == GROUT_PTX_LAYOUT_E ? 2
                                                                          : 1;
}

static bool has_gaps(grout_ptx_tmem_layout layout) {
    return layout == GROUT_PTX_LAYOUT_C || layout == GROUT_PTX_LAYOUT_F;
}

void grout_ptx__pair_a(const grout_ptx_instr_desc *desc, uint32_t row, uint32_t *cta,
                       uint32_t *own) {
    const uint32_t share = desc->m / desc->words.ctas;
    *cta = row / share;
    *own = row % share;
}

void grout_ptx__pair_b(const grout_ptx_instr_desc *desc, uint32_t column, uint32_t *cta,
                       uint32_t *own) {
    const uint32_t share = desc->n / desc->words.ctas;
    *cta = column / share;
    *own = column % share;
}

/* The lane of a row within its CTA, in the first part. */
static grout_ptx_pair_cell get_row(const grout_ptx_instr_desc *desc, uint32_t row) {
    grout_ptx_pair_cell cell = {0, 0, 0};
    uint32_t own = 0;
    grout_ptx__pair_a(desc, row, &cell.cta, &own);
    cell.lane = has_gaps(grout_ptx__layout_of(desc)) ? own / GROUP * QUARTER + own % GROUP : own;
    return cell;
}

uint32_t grout_ptx__layout_d_columns(const grout_ptx_instr_desc *desc) {
    return desc->n / get_parts(grout_ptx__layout_of(desc));
}

grout_ptx_pair_cell grout_ptx__layout_d(const grout_ptx_instr_desc *desc, uint32_t row,
                                        uint32_t column) {
    const uint32_t width = grout_ptx__layout_d_columns(desc);
    const uint32_t lanes = GROUT_PTX_TMEM_LANES / get_parts(grout_ptx__layout_of(desc));
    grout_ptx_pair_cell cell = get_row(desc, row);
    cell.lane += column / width * lanes;
    cell.column = column % width;
    return cell;
}

bool grout_ptx__layout_check(const grout_ptx_instr_desc *desc, const char *operand,
                             uint32_t address, uint32_t columns, grout_ptx_fault *fault) {
    const bool may_shift = has_gaps(grout_ptx__layout_of(desc));
    grout_ptx_tmem_cell cell;
    if (!grout_ptx__tmem_decode(address, &cell, fault)) {
        return false;
    }
    if (cell.lane != 0 && !(may_shift && cell.lane == GROUP)) {
        return grout_ptx__fail(fault, "%s of tcgen05.mma with M = %u begins at lane %u: 0%s",
                               operand, desc->m, cell.lane, may_shift ? " or 16" : "");
    }
    if (cell.column + columns > GROUT_PTX_TMEM_COLUMNS) {
        return grout_ptx__fail(fault,
                               "%s of tcgen05.mma has %u columns from column %u on: there are "
                               "512",
                               operand, columns, cell.column);
    }
    return true;
}

uint32_t grout_ptx__layout_a_copies(const grout_ptx_instr_desc *desc) {
    return grout_ptx__layout_of(desc) == GROUT_PTX_LAYOUT_B ? 2 : 1;
}

grout_ptx_tmem_element grout_ptx__layout_a(const grout_ptx_instr_desc *desc, uint32_t row,
                                           uint32_t index, uint32_t copy) {
    const uint32_t bits = grout_ptx__format_bits(desc->a);
    const uint32_t step = grout_ptx__instr_is_slotted(desc, desc->a) ? BYTE : bits;
    grout_ptx_tmem_element element = {get_row(desc, row), index * step % CELL, bits};
    element.cell.lane += copy * HALF;
    element.cell.column = index * step / CELL;
    return element;
}

bool grout_ptx__layout_scale(const grout_ptx_instr_desc *desc, bool is_b, uint32_t row,
                             uint32_t index, uint32_t quarter, grout_ptx_tmem_element *element) {
    const uint32_t id = is_b ? desc->b_scale_id : desc->a_scale_id;
    uint32_t own = row, cta = 0;
    bool is_there = true;
    if (!is_b) {
        grout_ptx__pair_a(desc, row, &cta, &own);
    } else if (grout_ptx__layout_of(desc) == GROUT_PTX_LAYOUT_B) {
        /* As D: one half of the columns for each half of the lanes. */
        is_there = row / (desc->n / 2) == quarter / 2;
        own = row % (desc->n / 2);
    }
    *element = (grout_ptx_tmem_element){
        {cta, quarter * QUARTER + own % QUARTER, own / QUARTER}, (id + index) * BYTE, BYTE};
    return is_there;
}

bool grout_ptx__lane_is_disabled(const uint32_t *masks, uint32_t cta, uint32_t lane) {
    return (masks[cta * (GROUT_PTX_TMEM_LANES / CELL) + lane / CELL] >> lane % CELL & 1) != 0;
}

/* ---- tcgen05.cp ---- */

uint32_t grout_ptx__copy_rows(grout_ptx_copy_shape shape) {
    static const uint32_t ROWS[GROUT_PTX_COPY_SHAPE_COUNT] = {128, 128, 4, 64, 64, 32};
    return ROWS[shape];
}

uint32_t grout_ptx__copy_row_bytes(grout_ptx_copy_shape shape) {
    return shape == GROUT_PTX_COPY_128X256B || shape == GROUT_PTX_COPY_4X256B ? 32 : 16;
}

uint32_t grout_ptx__copy_lanes(grout_ptx_copy_shape shape, uint32_t row, uint32_t lanes[4]) {
    switch (shape) {
    case GROUT_PTX_COPY_128X256B:
    case GROUT_PTX_COPY_128X128B:
        lanes[0] = row;
        return 1;
    case GROUT_PTX_COPY_4X256B:
        lanes[0] = row * QUARTER;
        return 1;
    case GROUT_PTX_COPY_64X128B_02_13:
        lanes[0] = row;
        lanes[1] = row + HALF;
        return 2;
    case GROUT_PTX_COPY_64X128B_01_23:
        lanes[0] = row % QUARTER + row / QUARTER * HALF;
        lanes[1] = lanes[0] + QUARTER;
        return 2;
    case GROUT_PTX_COPY_32X128B:
        for (uint32_t i = 0; i < 4; i++) {
            lanes[i] = row + i * QUARTER;
        }
        return 4;
    case GROUT_PTX_COPY_SHAPE_COUNT:
        break;
    }
    return 0;
}

void grout_ptx__copy_expand(grout_ptx_copy_format format, const uint8_t slot[16],
                            uint8_t bytes[16]) {
    const uint32_t bits = format == GROUT_PTX_COPY_B6X16_P32   ? 6
                          : format == GROUT_PTX_COPY_B4X16_P64 ? 4
                                                               : 8;
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t at = i * bits, next = at / 8 + 1;
        const uint32_t both = slot[at / 8] | (next < 16 ? (uint32_t)slot[next] << 8 : 0);
        bytes[i] = (uint8_t)(both >> at % 8 & ((1u << bits) - 1));
    }
}

/* ---- tcgen05.shift, tcgen05.commit ---- */

bool grout_ptx__shift_check(uint32_t address, grout_ptx_tmem_cell *first, grout_ptx_fault *fault) {
    if (!grout_ptx__tmem_decode(address, first, fault)) {
        return false;
    }
    if (first->lane % QUARTER != 0 ||
        first->column + GROUT_PTX_SHIFT_COLUMNS > GROUT_PTX_TMEM_COLUMNS) {
        return grout_ptx__fail(fault,
                               "tcgen05.shift at lane %u, column %u: a multiple of 32 lanes, and 8 "
                               "columns of the 512",
                               first->lane, first->column);
    }
    return true;
}

bool grout_ptx__commit_check(uint32_t mask, uint32_t cluster_size, grout_ptx_fault *fault) {
    if (mask == 0 || mask >> cluster_size != 0) {
        return grout_ptx__fail(fault, "a multicast to CTAs of mask 0x%x in a cluster of %u", mask,
                               cluster_size);
    }
    return true;
}
