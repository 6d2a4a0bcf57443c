/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_layout.h - which lane of a thread holds which element of an array value.
 *
 * A thread of a kernel is 128 lanes of a GPU, a partition of one or two warps 32 or 64; an array
 * value is spread over their registers in one of the layouts below. They are given for the four
 * warps of a whole thread: with fewer, the lanes are fewer, and blocks of 64 rows, 16 of each warp,
 * are blocks of 16 or 32. Layouts have no meaning on the CPU. An analysis of a bound kernel chooses
 * one for each array value from what its operations ask for: an accumulator comes in the WGMMA
 * layout, element-wise operations keep one layout, reductions and broadcasts lead from one to
 * another, loads, iotas and splats take any. Where two demands meet, the analysis says which
 * operations make them and where a layout_cast mends it. Names as in JAX Pallas:MGPU.
 * docs/register_layouts.md.
 */
#ifndef GROUT_REGISTER_LAYOUT_H
#define GROUT_REGISTER_LAYOUT_H

#include "grout-internal/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GROUT_LANES          128u /* CUDA threads of a thread of the kernel, if it has 4 warps */
#define GROUT_WIDE_BYTES_MAX 16u  /* of one load or store instruction */
#define GROUT_LANE_BYTES_MAX 4096 /* of one array in one lane's registers */

typedef enum grout_register_layout_kind {
    GROUT_LAYOUT_NONE,  /* no array */
    GROUT_LAYOUT_SPLAT, /* one value, the same in every lane; arrays of one element are splats */
    /* Runs of vec neighbouring elements, dealt out to the lanes in turn: register r of a lane holds
     * the element with the row-major index (r / vec * 128 + lane) * vec + r % vec. */
    GROUT_LAYOUT_STRIDED,
    /* [R, C], R % 64 == 0, C % 8 == 0: element (r, c) is in warp r % 64 / 16, lane 4 * (r % 8) + c
     * % 8 / 2 of it, register (((r / 64) * (C / 8) + c / 8) * 2 + r % 16 / 8) * 2 + c % 2: the
     * accumulator fragments of wgmma.m64nN in order. */
    GROUT_LAYOUT_WGMMA,
    /* [R, C], R % 64 == 0, C % 16 == 0: element (r, c) is in warp r % 64 / 16, lane 4 * (r % 8) +
     * c % 16 / 4 of it, register (((r / 64) * (C / 16) + c / 16) * 2 + r % 16 / 8) * 4 + c % 4: the
     * fragments of wgmma's A of 8-bit elements in order. */
    GROUT_LAYOUT_WGMMA_8BIT,
    /* [R], R % 64 == 0: what reducing the columns of WGMMA leaves. Element r is in warp r % 64 /
     * 16, in all four lanes of quad r % 8, register r / 64 * 2 + r % 16 / 8. */
    GROUT_LAYOUT_WGMMA_ROW,
    /* [C], C % 8 == 0: what reducing the rows leaves. Element c is in every warp, in the lanes with
     * lane % 4 == c % 8 / 2, register c / 8 * 2 + c % 2. */
    GROUT_LAYOUT_WGMMA_COL,
    GROUT_LAYOUT_WGMMA_TRANSPOSED, /* these: see grout_register_tiling */
    GROUT_LAYOUT_WGMMA_UPCAST_2X,
    GROUT_LAYOUT_WGMMA_UPCAST_4X,
    GROUT_LAYOUT_WGMMA_METADATA, /* of a sparse a, of 16-bit or 32-bit elements */
    GROUT_LAYOUT_WGMMA_METADATA_8BIT,
    GROUT_LAYOUT_MMA_LHS_32BIT, /* a of an mma */
    GROUT_LAYOUT_MMA_RHS_32BIT, /* b of an mma: each warp has all of it, so there are 4 copies */
    GROUT_LAYOUT_MMA_RHS_16BIT,
    GROUT_LAYOUT_MMA_RHS_8BIT,
    /* [R, C], R % 128 == 0: a row in each lane, as tensor memory has them. Element (r, c) is in
     * lane r % 128, register r / 128 * C + c. */
    GROUT_LAYOUT_TMEM,
    /* [R], R % 128 == 0: what reducing the columns of TMEM leaves. Element r is in lane r % 128,
     * register r / 128. */
    GROUT_LAYOUT_TMEM_ROW,
    GROUT_LAYOUT_TILED, /* one that a kernel spells out itself (relayout): see its tiling */
    GROUT_LAYOUT_COUNT
} grout_register_layout_kind;

#define GROUT_TILING_REGISTER_BITS_MAX 12

/* How far a bit of a lane's or register's number leads in a tile. */
typedef struct grout_register_step {
    uint16_t row, col;
} grout_register_step;

/*
 * A layout of matrices in tiles: where an element of a tile is, by the bits of the numbers of its
 * lane (two of them that of the warp) and of its register. Each lane has 2^register_bits registers
 * of a tile; tiles follow each other in its registers, row-major. A step of a lane that leads
 * nowhere means copies: those of all four warps, where a tile is that of one warp, or in a layout
 * that a kernel spells out those of any lanes. Tiles of one row, or of one column, are for arrays
 * of one dimension too.
 */
typedef struct grout_register_tiling {
    uint16_t rows, cols;
    uint8_t register_bits;
    uint8_t copies; /* of a kind: 1 or 4 */
    grout_register_step lanes[7], registers[GROUT_TILING_REGISTER_BITS_MAX];
} grout_register_tiling;

typedef struct grout_register_layout {
    uint8_t kind;       /* grout_register_layout_kind */
    uint8_t vec;        /* STRIDED; 1 for the others */
    bool is_guarded;    /* STRIDED: some lanes have registers past the last element */
    uint8_t warps;      /* of the thread that has the array: 4, or of a partition 1 or 2 */
    uint32_t registers; /* elements that a lane holds */
    int64_t count;      /* elements of the array */
    int64_t rows, cols; /* of all but SPLAT and STRIDED; 1 where the array has no such dimension */
    const grout_register_tiling *tiling; /* of TILED; one object for equal ones of a kernel */
} grout_register_layout;

/* The tiling of WGMMA, WGMMA_8BIT and the kinds after WGMMA_COL; NULL for the others. */
const grout_register_tiling *grout_register_layout_get_tiling(grout_register_layout_kind kind);

/* The same of a layout, TILED too. */
static inline const grout_register_tiling *grout_register_layout_find_tiling(
    const grout_register_layout *layout) {
    return layout->kind == GROUT_LAYOUT_TILED
               ? layout->tiling
               : grout_register_layout_get_tiling((grout_register_layout_kind)layout->kind);
}
/* The bits of a lane's number that lead nowhere: lanes that differ in them hold the same. */
uint32_t grout_register_tiling_get_copies(const grout_register_tiling *tiling);
/*
 * Reads a layout as Pallas or Gluon print one: "tiling=((64, 8), (16, 8), (8, 8), (1, 2)),
 * warp_dims=(-8,), lane_dims=(-4, -3), vector_dim=-1", where Replicated(n) may stand in warp_dims
 * and lane_dims; or "reg_bases=[[0, 1], [8, 0]], lane_bases=[..], warp_bases=[..]", and shape=[64,
 * 8] and block_bases=[] if they are there. False if it is none; problem_out then says why.
 */
typedef struct grout_tiling_problem {
    char text[160];
} grout_tiling_problem;
bool grout_register_tiling_read(const char *text, grout_register_tiling *tiling_out,
                                grout_tiling_problem *problem_out);
/* The kind whose tiling it is, or TILED. */
grout_register_layout_kind grout_register_tiling_get_kind(const grout_register_tiling *tiling);

/* "wgmma", "wgmma_8bit", "wgmma_row", "wgmma_col", "wg_strided", "wg_splat"; as layout_cast spells
 * them. */
const char *grout_register_layout_get_text(grout_register_layout_kind kind);

/* The layouts of a and b of an mma, for elements of this many bytes: 1, 2 or 4. */
grout_register_layout_kind grout_register_layout_get_mma_left(uint32_t element_bytes);
grout_register_layout_kind grout_register_layout_get_mma_right(uint32_t element_bytes);

/* Lanes of the thread that has the array. */
static inline uint32_t grout_register_layout_get_lanes(const grout_register_layout *layout) {
    return (uint32_t)layout->warps * GROUT_WARP_LANES;
}

/* Whether each warp has all elements: of WGMMA_COL, and of an mma's b. */
static inline bool grout_register_layout_is_whole_in_warps(const grout_register_layout *layout) {
    const grout_register_tiling *tiling =
        grout_register_layout_get_tiling((grout_register_layout_kind)layout->kind);
    return layout->kind == GROUT_LAYOUT_WGMMA_COL || (tiling != NULL && tiling->copies > 1);
}

/* Whether a layout has rows and columns: one of those with a tiling. */
static inline bool grout_register_layout_is_matrix(const grout_register_layout *layout) {
    const grout_register_tiling *tiling = grout_register_layout_find_tiling(layout);
    return tiling != NULL && tiling->rows > 1 && tiling->cols > 1;
}

/*
 * Row-major index of the element in a register (from 0) of a lane (from 0), or -1 if the register
 * holds none, or the thread has no such lane. Replicated elements are in several places. The one
 * register of a splat holds all; the answer is 0.
 */
int64_t grout_register_layout_get_element(const grout_register_layout *layout, uint32_t lane,
                                          uint32_t register_index);

/*
 * The layout that an array of a type has in one of the WGMMA and MMA kinds, in a thread of this
 * many warps (4, 2 or 1); kind NONE if its shape is none that the kind holds, or the kind is
 * another. Dimensions of 1 do not count: an [R, 1] has a WGMMA_ROW as an [R] has. What an
 * accumulator's registers hold is the WGMMA layout of its type.
 */
grout_register_layout grout_register_layout_make(grout_register_layout_kind kind, uint32_t warps,
                                                 const grout_type *type);
/* Rows of a block of the WGMMA and MMA kinds of this many warps: those that the tiling says are of
 * four. */
uint32_t grout_register_layout_get_block_rows(grout_register_layout_kind kind, uint32_t warps);
/* The same of a tiling, which the layout borrows, in a thread of four warps; kind TILED or, if it
 * is that of another kind, that. */
grout_register_layout grout_register_layout_make_tiled(const grout_register_tiling *tiling,
                                                       const grout_type *type);
/* The layout of count elements in runs of at most vec_max (a power of two), in a thread of this
 * many warps. */
grout_register_layout grout_register_layout_make_strided(uint32_t warps, int64_t count,
                                                         uint32_t vec_max);
/* The same of elements that go to memory in bytes of two of them, which one lane writes: the runs
 * have two at least, if the count is even. */
grout_register_layout grout_register_layout_make_packed(uint32_t warps, int64_t count,
                                                        uint32_t vec_max);

/* The layouts of one kernel's values. */
typedef struct grout_register_layouts grout_register_layouts;

/*
 * Chooses the layouts of all array values of a kernel of a bound, verified module. NULL with the
 * reasons in diags: layout-conflict (two operations want one value in two ways), gpu-unsupported
 * (no layout can do what an operation needs, or an array does not fit a lane's registers).
 */
grout_register_layouts *grout_register_layouts_infer(const grout_module *bound,
                                                     grout_kernel_id kernel, grout_diags *diags);
void grout_register_layouts_free(grout_register_layouts *layouts);
/* The layout of a value; kind NONE if it is no array of this kernel. Borrowed. */
const grout_register_layout *grout_register_layouts_get(const grout_register_layouts *layouts,
                                                        grout_value_id value);
/*
 * SMEM bytes that one op needs of each thread to move elements between its lanes; 0: registers and
 * shuffles are enough. A multiple of 16.
 *   broadcast    none if source and result have one layout, or lead from WGMMA_ROW or WGMMA_COL to
 *                WGMMA; else the source's elements, in row-major order
 *   layout_cast  none between equal layouts, or from a splat; else the elements, in row-major order
 *   reductions   of one dimension of WGMMA: none along the columns (dimension 1; the four lanes
 *                of a quad share a row); along the rows 4 bytes for each column from each of the
 *                warps. For one dimension in another layout: the elements, in row-major order.
 *                For all elements: 4 bytes from each of the warps; none if every warp has all of
 *                them (WGMMA_COL, the b of an mma, splat), or there is one. None if the dimension
 * has one element
 *
 *   slice, reshape, concatenate     none if each lane has in its registers what it needs; else the
 *                elements of the result, in row-major order
 *
 * Elements take their dtype's bytes; what reductions pass on is i32, u32 or f32.
 */
int64_t grout_register_layouts_get_exchange_bytes(const grout_register_layouts *layouts,
                                                  grout_op_id op);
/* Which register of which operand becomes a register of the result of a slice, reshape or
 * concatenate, the same in every lane. */
typedef struct grout_register_pick {
    uint32_t operand, register_index;
} grout_register_pick;
/* picks_out: one for each register of the result, or NULL; of registers that hold no element in any
 * lane, register 0 of operand 0. False if some lane does not have what it needs, or not where the
 * others have it; or without memory, which is a diagnostic. */
bool grout_register_layouts_find_picks(const grout_register_layouts *layouts,
                                       const grout_module *bound, const grout_op *op,
                                       grout_register_pick *picks_out, grout_diags *diags);
/* The most that any op of the kernel needs of each thread: they take turns. */
int64_t grout_register_layouts_get_scratch_bytes(const grout_register_layouts *layouts);

/*
 * How many neighbouring elements of a reference one access can take: the largest power of two such
 * that every run of this many, from a multiple of it on, is contiguous and aligned in memory for
 * every value of the indices.
 */
uint32_t grout_view_get_access_width(const grout_module *module, const grout_view *view);
/* The same for what an op with indices or a mask touches at any one of them. */
uint32_t grout_pick_get_access_width(const grout_module *module, const grout_pick *pick,
                                     const grout_view *view);

/* The largest power of two, at most 2^20, that divides a scalar i32 or u32 value whatever the run:
 * how an index is known to be a multiple of a tile. */
int64_t grout_value_get_known_divisor(const grout_module *module, grout_value_id value);

#ifdef __cplusplus
}
#endif
#endif
