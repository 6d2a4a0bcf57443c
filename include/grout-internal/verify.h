/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - the rules that a bound module must keep before anything runs.
 */
#ifndef GROUT_VERIFY_H
#define GROUT_VERIFY_H

#include "grout-internal/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a copy between GMEM and SMEM maps to TMA instructions. Filled by grout_tma_plan. */
typedef struct grout_tma {
    uint8_t rank; /* 1 to 5, dimension 0 is the fastest */
    uint8_t element_bytes;
    uint32_t swizzle;      /* 0, 32, 64, 128 */
    int64_t dims[5];       /* of the GMEM array, elements */
    int64_t strides[5];    /* bytes; strides[0] is the element size */
    int64_t box[5];        /* elements */
    uint8_t object_dim[5]; /* the dimension of the GMEM object that each one walks */
    /* Elements of that dimension that a coordinate counts: 1, or of a dimension that is split the
     * elements of a tile; the part inside the tile has 0 here, and always starts at 0. */
    int64_t steps[5];
    /*
     * Where the map would have more dimensions than 5, those of which the box has one element
     * become one, the outermost: its coordinate is the sum of their indices, each times its step.
     * An index outside its dimension would be another element of the array, so they have to lie
     * inside.
     */
    uint8_t fold_count;                /* 0: none is folded */
    uint8_t fold_dims[GROUT_RANK_MAX]; /* of the GMEM object */
    int64_t fold_steps[GROUT_RANK_MAX];
    uint32_t box_bytes; /* bytes of one instruction's box = its transaction count */
    /*
     * A tiled SMEM layout takes several instructions, in two nested loops: instruction (band,
     * panel) starts panel_elements * panel further in dimension 0 of the box and band_elements *
     * band in dimension band_dim, and panel_bytes * panel + band_bytes * band further in SMEM. Both
     * counts 1: one instruction. A [R, C] array in tile(8, S), where S elements fill the swizzle,
     * is the atom grid [R/8][C/S][8][S]: boxes {S, 8}, C/S panels and R/8 bands; with C = S its
     * rows follow each other and one box {S, R} takes it. Where the array consists of whole tiles,
     * and the copy starts at one, the loops become dimensions: one box {S, 8, C/S, R/8}. What lies
     * around the tiles in SMEM, as slots do, is a dimension after those.
     */
    uint32_t panel_count, band_count;
    uint8_t band_dim;
    int64_t panel_elements, panel_bytes;
    int64_t band_elements, band_bytes;
    /*
     * A collective copy is made by part_count CTAs. Each copies part_elements in dimension part_dim
     * of the two references (an index into a view's view_dim); the CTA with index i in its group
     * begins at i * part_elements. All the rest of this is about one part. Other copies have a
     * part_count of 1.
     */
    uint32_t part_count;
    uint8_t part_dim;
    int64_t part_elements;
    /* What becomes of elements outside the array (a GROUT_ATTR_OOB choice). */
    uint8_t oob;
    /*
     * In im2col mode, of this many spatial dimensions, dimensions 1 (w) to spatial_count of the
     * array here, whose last is n; 0: a tiled copy. box[0] is a pixel's channels, box[1] the number
     * of pixels. In spatial dimension 1 + i base pixels lie from lower[i] to dims[1 + i] - 1 +
     * upper[i], pixel_steps[i] apart.
     */
    uint8_t spatial_count;
    int32_t lower[3], upper[3];
    uint32_t pixel_steps[3];
    int32_t offset_max; /* of an offset of pixels, whose least is 0 */
    /*
     * Rows that indices name (tma_gather, tma_scatter): how many instructions of 4 rows follow each
     * other in SMEM, row_group_bytes apart, before a loop over bands begins again; 0: a box. box[1]
     * is the 4 rows here, and 1 in the tensor map. Band b, instruction g of it, begins with the row
     * that index band_elements * b + 4 * g names.
     */
    uint32_t row_groups;
    int64_t row_group_bytes;
    /*
     * It takes no tensor map: one bulk copy of box_bytes bytes, which lie one after another on both
     * sides, from a multiple of 16 bytes on (cp.async.bulk). The rank is 0 then. A start in
     * dimension d of the GMEM object moves it by object_strides[d] bytes; the array has
     * array_bytes.
     */
    bool is_bulk;
    int64_t object_strides[GROUT_RANK_MAX];
    int64_t array_bytes;
} grout_tma;

/*
 * Works out the TMA form of a copy_gmem_to_smem, copy_gmem_to_smem_im2col, copy_smem_to_gmem,
 * tma_gather, tma_scatter or async_prefetch of a bound module. On failure returns false and, if
 * diags is not NULL, says why (rule, numbers, remedy).
 */
bool grout_tma_plan(const grout_module *bound, grout_op_id copy, grout_tma *tma_out,
                    grout_diags *diags);

/*
 * The pieces that an async_copy, async_gather, async_masked_copy or async_store_smem of a bound
 * module moves: 16, 8 or 4 bytes; 0 if not even 4 are possible. This is the largest size such that
 * the whole box consists of runs of that many neighbouring bytes, aligned to that many, in SMEM
 * and, if it comes from there, in GMEM too. Elements that are picked one by one come from GMEM each
 * alone, or as many at once as contiguous(n) promises. A start along a row that is a value counts
 * as a multiple of 4 bytes only; the run has to check that it is one.
 */
uint32_t grout_get_piece_bytes(const grout_module *bound, grout_op_id id);
/* Whether neighbours along the innermost dimension of what an op touches have indices, or bits of a
 * mask, of their own. */
bool grout_op_picks_elements(const grout_module *bound, const grout_op *op);

/* An operand of a wgmma in SMEM, as the tensor core addresses it. */
typedef struct grout_wgmma_operand {
    bool is_register;   /* A only: an array value; the fields below do not count */
    bool is_transposed; /* MN-major: the bytes run along M (of A) or N (of B), not along K */
    uint32_t swizzle;   /* 0, 32, 64 or 128 */
    /* Byte distances of the matrix descriptor: 'leading dimension' and 'stride dimension'. */
    uint32_t leading_bytes, stride_bytes;
    /*
     * Byte address of the sub-tile of the instruction (block of 64 rows of M, K step), from the
     * start of the box: block * block_bytes + (step / steps_per_panel) * panel_bytes +
     * (step % steps_per_panel) * step_bytes. block_bytes is 0 for B.
     */
    int64_t block_bytes, panel_bytes, step_bytes;
    uint32_t steps_per_panel;
    bool is_padded; /* of elements of 4 and 6 bits: 16 of them have 16 bytes */
} grout_wgmma_operand;

/* How a wgmma, or one of its kin, maps to wgmma.mma_async instructions. Filled by
 * grout_wgmma_plan. */
typedef struct grout_wgmma {
    /* The sizes of the operation; m is a multiple of 64. k and k_step count what a keeps: if it is
     * sparse, b has twice as many rows, and an instruction takes twice as many of them. */
    uint32_t m, n, k;
    uint32_t k_step;           /* K of one instruction: 32 bytes, so 16 of f16 and bf16 */
    uint32_t block_count;      /* instructions along M: m / 64; of N there is one */
    uint32_t step_count;       /* along K */
    uint8_t a_dtype, b_dtype;  /* F32 is read as tf32: low 13 bits cut */
    uint8_t accumulator_dtype; /* F32, F16 or I32 */
    bool has_use;              /* use_acc is written, and not the constant true */
    bool is_saturating;        /* of i32 */
    bool is_sparse;            /* wgmma.mma_async.sp: a keeps half of its elements along K */
    int64_t column;            /* first column of the accumulator object (a slice in N) */
    grout_wgmma_operand a, b;
} grout_wgmma;

/*
 * Works out the tensor-core form of a wgmma or one of its kin of a bound module: shapes, element
 * types, descriptors. On failure returns false and, if diags is not NULL, says why (rule, numbers,
 * remedy). Source: PTX ISA 9.1 'Asynchronous warpgroup level matrix instructions', 'Matrix
 * descriptor'.
 */
bool grout_wgmma_plan(const grout_module *bound, grout_op_id wgmma, grout_wgmma *wgmma_out,
                      grout_diags *diags);

/* How a tcgen05_mma maps to tcgen05.mma instructions. Filled by grout_tcgen05_plan. */
typedef struct grout_tcgen05 {
    /* Sizes, types and operands in SMEM, of one CTA; m is 64 or 128, and one block. */
    grout_wgmma product;
    bool has_tmem_a;
    uint32_t ctas;       /* that multiply: 2 of a pair, whose accumulators have this many times n */
    uint32_t part_count; /* instructions along N: 1, or 2 of more than 256 columns */
    grout_object_id object; /* the accumulator */
    uint32_t columns;       /* of its slice */
    /* Neighbours along K that have one scale, all of K counted, and its type; 0: there are none. */
    uint32_t scale_block;
    uint8_t scale_dtype;
} grout_tcgen05;

/* What a copy to tensor memory brings. */
typedef enum grout_tcgen05_copy {
    GROUT_TCGEN05_COPY_PLAIN,  /* element [r, c] to [r, c] */
    GROUT_TCGEN05_COPY_SCALES, /* [r / 128, c / 4, r % 32, r % 128 / 32 * 4 + c % 4] to [r, c] */
    /* [0, c / 4, r / 128 * 32 + r % 32, r % 128 / 32 * 4 + c % 4] to [r, c] */
    GROUT_TCGEN05_COPY_SPLIT_SCALES,
    GROUT_TCGEN05_COPY_METADATA /* [c / 8, r, c % 8] to [r, c] */
} grout_tcgen05_copy;

/*
 * Works out the tensor-core form of a tcgen05_mma of a bound module. On failure returns false and,
 * if diags is not NULL, says why (rule, numbers, remedy). Source: PTX ISA 9.1 'tcgen05.mma',
 * 'Matrix descriptor'.
 */
bool grout_tcgen05_plan(const grout_module *bound, grout_op_id mma, grout_tcgen05 *tcgen05_out,
                        grout_diags *diags);

/* The same of a copy from SMEM to tensor memory (PTX ISA 9.1 'tcgen05.cp'). */
bool grout_tcgen05_copy_plan(const grout_module *bound, grout_op_id copy,
                             grout_tcgen05_copy *copy_out, grout_diags *diags);
/* The source of a plain copy, as an 'a' that is read in this many steps, each by one instruction.
 */
bool grout_tcgen05_copy_plan_rows(const grout_module *bound, grout_op_id copy,
                                  grout_wgmma *rows_out, grout_diags *diags);
/* Which copy an operation to an array in tensor memory is. */
grout_tcgen05_copy grout_tcgen05_copy_get_kind(const grout_module *module, grout_opcode opcode,
                                               grout_object_id to);
/* Where row r, column c of an array of this many columns in tensor memory come from: the number of
 * the element in SMEM, as the copy reads them. */
uint32_t grout_tcgen05_copy_get_source(grout_tcgen05_copy copy, uint32_t columns, uint32_t r,
                                       uint32_t c);

/* The place [row, column] in tensor memory of word w of the metadata of row m: for an a of 16 bits
 * the words of rows m and m + 8 of each 16 take turns (of 32 bits too), for one of 8 bits or less
 * they lie row by row. */
void grout_sparse_get_metadata_place(grout_dtype a, uint32_t m, uint32_t w, uint32_t place_out[2]);

/* Operands of a wgmma or one of its kin: the metadata of a sparse a, and use_acc; NULL: it has
 * none. */
const grout_operand *grout_wgmma_get_metadata(const grout_module *module, const grout_op *op);
const grout_operand *grout_wgmma_get_use(const grout_module *module, const grout_op *op);

/*
 * The metadata of a sparse a: a word has the codes of 4 groups of neighbours along K. A group of 4
 * keeps two elements, in either order, and the code is the place of the first of them plus 4 times
 * that of the second; of f32, a group of 2 keeps one, and the code is 4 for the first or 14 for the
 * second; of f4e2m1 that lie two in a byte, a group of 8 keeps two pairs, and the code is of pairs
 * what that of 4 is of elements. Source: PTX ISA 9.1 'Sparse matrix storage' of wgmma.mma_async.sp,
 * 'Sparse matrices' of tcgen05.mma.
 */
#define GROUT_SPARSE_CODES     4u /* of a word */
#define GROUT_SPARSE_CODE_BITS 4u
static inline uint32_t grout_sparse_get_group(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_F32 ? 2 : dtype == GROUT_DTYPE_F4E2M1 ? 8 : 4;
}
/* Neighbours of a group of the a of a product. */
static inline uint32_t grout_wgmma_get_group(const grout_wgmma *product) {
    return product->a.is_padded ? 4 : grout_sparse_get_group((grout_dtype)product->a_dtype);
}
/* Whether a product is of f4e2m1 that lie two in a byte, on both sides. */
static inline bool grout_wgmma_has_pairs(const grout_wgmma *product) {
    return product->a_dtype == GROUT_DTYPE_F4E2M1 && !product->a.is_padded;
}
/* Whether a code says of a group which elements are kept. */
static inline bool grout_sparse_is_code(uint32_t code, uint32_t group) {
    return group == 2 ? code == 0x4 || code == 0xe : (code & 3) != code >> 2;
}
/* The place in its group of the index-th element that is kept of it. */
static inline uint32_t grout_sparse_get_place(uint32_t code, uint32_t group, uint32_t index) {
    return group == 2   ? code >> 3 & 1
           : group == 4 ? code >> 2 * index & 3
                        : 2 * (code >> 2 * (index / 2) & 3) + index % 2;
}

/* How an mma maps to mma.sync instructions, which multiply 16 rows of each warp by 8 columns over
 * 32 bytes of K. Filled by grout_mma_plan. */
typedef struct grout_mma {
    uint32_t m, n, k;
    uint32_t k_step;           /* K of one instruction */
    uint32_t block_count;      /* instructions of a warp along M: m / 64, with four warps */
    uint32_t column_count;     /* along N: n / 8 */
    uint32_t step_count;       /* along K */
    uint8_t a_dtype, b_dtype;  /* F32 is read as tf32: low 13 bits cut */
    uint8_t accumulator_dtype; /* of c and the result: F32, F16 or I32 */
    bool is_saturating;
} grout_mma;

/* Works out the tensor-core form of an mma of a bound module. On failure returns false and, if
 * diags is not NULL, says why. Source: PTX ISA 9.1 'Matrix fragments for mma.m16n8k16' and those of
 * the other shapes. */
bool grout_mma_plan(const grout_module *bound, grout_op_id mma, grout_mma *mma_out,
                    grout_diags *diags);

/* Registers that each lane of a CTA with this many threads starts with: the 65536 of an SM dealt
 * out evenly, in steps of 8, at most 255 of them usable. set_max_registers changes it. */
uint32_t grout_get_entry_registers(uint32_t thread_count);
/* The same of a kernel, whose threads may have fewer warps. */
uint32_t grout_kernel_get_entry_registers(const grout_module *module, grout_kernel_id id);

#ifdef __cplusplus
}
#endif
#endif
