/* tmem_layout.h - where the matrices of tcgen05.mma are in tensor memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Data Path Layout Organization' (layouts A to G), 'Scale factor layouts', 'Matrix
 * fragments in Tensor Memory', 'tcgen05.cp', 'tcgen05.shift', 'tcgen05.commit',
 * 'disable-output-lane'.
 *
 * What only figures say, and no GPU has confirmed: layouts B and C, the scales of B with M = 128
 * over two CTAs, and the direction of tcgen05.shift.
 */
#ifndef GROUT_PTX_TMEM_LAYOUT_H
#define GROUT_PTX_TMEM_LAYOUT_H

#include "instr_desc.h"
#include "tmem.h"

/* The letters of the ISA. */
typedef enum grout_ptx_tmem_layout {
    GROUT_PTX_LAYOUT_A, /* M 256 over two CTAs */
    GROUT_PTX_LAYOUT_B, /* M 128 over two CTAs, dense */
    GROUT_PTX_LAYOUT_C, /* M 128 over two CTAs, sparse */
    GROUT_PTX_LAYOUT_D, /* M 128 */
    GROUT_PTX_LAYOUT_E, /* M 64, .ws */
    GROUT_PTX_LAYOUT_F, /* M 64 */
    GROUT_PTX_LAYOUT_G  /* M 32, .ws */
} grout_ptx_tmem_layout;

grout_ptx_tmem_layout grout_ptx__layout_of(const grout_ptx_instr_desc *desc);

/* A cell of one of the CTAs: 0 or 1 of the pair. */
typedef struct grout_ptx_pair_cell {
    uint32_t cta, lane, column; /* from the matrix' address on */
} grout_ptx_pair_cell;

/* An element of D; 16-bit ones have a cell each, its low half. */
grout_ptx_pair_cell grout_ptx__layout_d(const grout_ptx_instr_desc *desc, uint32_t row,
                                        uint32_t column);

/* Columns of D. */
uint32_t grout_ptx__layout_d_columns(const grout_ptx_instr_desc *desc);

/* Whether the address of D, of an A in tensor memory or of metadata is one that the layout can
 * have: lane 0, or 16 in layouts C and F, in all of them the same. */
bool grout_ptx__layout_check(const grout_ptx_instr_desc *desc, const char *operand,
                             uint32_t address, uint32_t columns, grout_ptx_fault *fault);

/* An element of an A in tensor memory (row, and index in the stored row, so of the kept ones of a
 * sparse A): its cell and the bits there. copy 1 of layout B: A is there twice, 64 lanes apart; 0
 * otherwise. */
typedef struct grout_ptx_tmem_element {
    grout_ptx_pair_cell cell;
    uint32_t bit, bits; /* of the cell */
} grout_ptx_tmem_element;

grout_ptx_tmem_element grout_ptx__layout_a(const grout_ptx_instr_desc *desc, uint32_t row,
                                           uint32_t index, uint32_t copy);

/* How many copies of A there are: 1 or 2. */
uint32_t grout_ptx__layout_a_copies(const grout_ptx_instr_desc *desc);

/* A scale of A or of B: row is that of A, or the column of B; index counts the scales of the row
 * from 0. Each quarter of the lanes has a copy, and all of them have to be the same; so quarter is
 * 0 to 3. cta: whose memory; rows of A are those of its half. False if that quarter has no copy of
 * it. */
bool grout_ptx__layout_scale(const grout_ptx_instr_desc *desc, bool is_b, uint32_t row,
                             uint32_t index, uint32_t quarter, grout_ptx_tmem_element *element);

/* Which CTA of the pair has a row of A (and its scales and metadata) in its own memories, and which
 * a column of B in shared memory; the row or column there. */
void grout_ptx__pair_a(const grout_ptx_instr_desc *desc, uint32_t row, uint32_t *cta,
                       uint32_t *own);
void grout_ptx__pair_b(const grout_ptx_instr_desc *desc, uint32_t column, uint32_t *cta,
                       uint32_t *own);

/* disable-output-lane: four registers, or eight for two CTAs; set bits keep their lane as it was.
 */
bool grout_ptx__lane_is_disabled(const uint32_t *masks, uint32_t cta, uint32_t lane);

/* ---- tcgen05.cp ---- */

typedef enum grout_ptx_copy_shape {
    GROUT_PTX_COPY_128X256B,
    GROUT_PTX_COPY_128X128B,
    GROUT_PTX_COPY_4X256B,
    GROUT_PTX_COPY_64X128B_02_13, /* .warpx2::02_13 */
    GROUT_PTX_COPY_64X128B_01_23,
    GROUT_PTX_COPY_32X128B, /* .warpx4 */
    GROUT_PTX_COPY_SHAPE_COUNT
} grout_ptx_copy_shape;

/* What the source is, and what becomes of it. */
typedef enum grout_ptx_copy_format {
    GROUT_PTX_COPY_PLAIN,
    GROUT_PTX_COPY_B6X16_P32, /* .b8x16.b6x16_p32: a slot of 16 elements of 6 bits becomes 16 bytes
                               */
    GROUT_PTX_COPY_B4X16_P64  /* .b8x16.b4x16_p64 */
} grout_ptx_copy_format;

/* Rows and bytes of a row; the source is a K-major matrix of bytes, so that desc_locate with the
 * format U8 finds them. */
uint32_t grout_ptx__copy_rows(grout_ptx_copy_shape shape);
uint32_t grout_ptx__copy_row_bytes(grout_ptx_copy_shape shape);

/* Lanes that get a row: at most four. Returns how many. With .cta_group::2 each CTA of the pair
 * copies from its own shared memory to its own tensor memory. */
uint32_t grout_ptx__copy_lanes(grout_ptx_copy_shape shape, uint32_t row, uint32_t lanes[4]);

/* A row's 16 bytes as they are in tensor memory. An element of 4 or 6 bits has the low bits of its
 * byte; the ISA shows that only in figures, and only a kernel that reads it back can tell. */
void grout_ptx__copy_expand(grout_ptx_copy_format format, const uint8_t slot[16],
                            uint8_t bytes[16]);

/* ---- tcgen05.shift, tcgen05.commit ---- */

enum { GROUT_PTX_SHIFT_LANES = 31, GROUT_PTX_SHIFT_COLUMNS = 8 };

/* tcgen05.shift.down: each of 31 lanes from the address on gets 8 columns of the lane after it. The
 * address begins a quarter. */
bool grout_ptx__shift_check(uint32_t address, grout_ptx_tmem_cell *first, grout_ptx_fault *fault);

/* tcgen05.commit with .multicast::cluster: bits are ranks of CTAs; none may be beyond the cluster.
 */
bool grout_ptx__commit_check(uint32_t mask, uint32_t cluster_size, grout_ptx_fault *fault);

#endif
