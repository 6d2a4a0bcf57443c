/*
 * tensor_core.h - products as the tensor core of Hopper makes them, bit for bit: 'exact' numerics.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instruction adds a block of products and its accumulator in one fixed-point sum:
 *
 *   E = the largest exponent of a product that is not 0 (the sum of its factors' exponents, not
 *       normalised: a subnormal counts with the least exponent of its type) and of the accumulator
 *       if it is not 0; no less than a floor
 *   each product and the accumulator are cut toward zero at 2^(E - fraction), then added exactly
 *   the sum is cut toward zero to out_bits fraction bits of an f32 (of an f16: rounded to nearest
 *   even); a sum of 0 is +0, one too large is an infinity
 *
 * A NaN, an infinity times 0, or infinities of both signs make a NaN, 0x7fffffff (f16: 0x7fff). The
 * next block takes the result as its accumulator. See docs/numerics.md for what this rests on.
 */
#ifndef GROUT_INTERP_TENSOR_CORE_H
#define GROUT_INTERP_TENSOR_CORE_H

#include "grout-internal/ir.h"

#include <stdbool.h>
#include <stdint.h>

#define GROUT_TENSOR_CORE_BLOCK_MAX 32

/* The rule of one pair of operand types and one accumulator type. */
typedef struct grout_tensor_core {
    uint8_t block;            /* products of an instruction; 0: there is no rule */
    uint8_t fraction;         /* bits kept below 2^E */
    uint8_t out_bits;         /* fraction bits of a result */
    bool is_half;             /* the accumulator is an f16 */
    bool is_split;            /* see grout_tensor_core__get_mma */
    int16_t least_a, least_b; /* the least exponents of the operands' types */
    int16_t least_out, floor; /* of the accumulator's type; the least E */
} grout_tensor_core;

/* The rule of a wgmma. f32 operands are tf32. */
grout_tensor_core grout_tensor_core__get(grout_dtype a, grout_dtype b, grout_dtype accumulator);

/* The rule of a tcgen05_mma: that of a wgmma, and 8-bit floats are cut where the others are; of 4
 * bits that lie two in a byte (has_groups), that of groups of 16. */
grout_tensor_core grout_tensor_core__get_tcgen05(grout_dtype a, grout_dtype b,
                                                 grout_dtype accumulator, bool has_groups);

/*
 * The rule of an mma. It is that of a wgmma but for 8-bit floats, which Hopper multiplies as f16:
 * of 32 products those with k % 4 < 2 make a sum that starts at 0, the others add to it, both by
 * the rule of f16 in blocks of 16; what they come to is then added to the accumulator, rounded to
 * nearest even.
 */
grout_tensor_core grout_tensor_core__get_mma(grout_dtype a, grout_dtype b, grout_dtype accumulator);

bool grout_tensor_core__is_same(const grout_tensor_core *one, const grout_tensor_core *other);

/* K of one instruction. */
static inline uint32_t grout_tensor_core__get_step(const grout_tensor_core *core) {
    return core->is_split ? 2u * core->block : core->block;
}

/* One block: operands widened to f32, steps apart; tf32 with its low bits 0. f16 accumulators come
 * and go as f32. */
float grout_tensor_core__add_block(const grout_tensor_core *core, const float *a, size_t a_step,
                                   const float *b, size_t b_step, float c);

/* Elements of a block, steps apart. */
typedef struct grout_tensor_row {
    const float *first;
    size_t step;
} grout_tensor_row;

/* The same where each product is multiplied by 2^scale, at most 2^254 or 2^-254. */
float grout_tensor_core__add_scaled(const grout_tensor_core *core, const grout_tensor_row *a,
                                    const grout_tensor_row *b, int32_t scale, float c);

/*
 * Elements of 4 bits with scales: the products of a group are added exactly, and multiplied by the
 * fractions of both scales; that is a term, which counts in the largest exponent with the sum of
 * the scales' exponents even if it is 0.
 */
#define GROUT_TENSOR_CORE_GROUPS 4  /* of an instruction */
#define GROUT_TENSOR_CORE_GROUP  16 /* products of a group */
typedef struct grout_tensor_group {
    double sum; /* without the exponent */
    int32_t exponent;
    bool is_nan; /* a scale is */
} grout_tensor_group;
float grout_tensor_core__add_groups(const grout_tensor_core *core, const grout_tensor_group *groups,
                                    uint32_t count, float c);

/* The tiles of a grout_gemm (gemm.h): c += a b, for a k that is a multiple of the step. is_wide:
 * by the processor's vector instructions; the bits are the same. */
typedef struct grout_tensor_tiles {
    uint32_t m, n, k;
    bool has_k_rows;
} grout_tensor_tiles;
void grout_tensor_core__multiply(const grout_tensor_core *core, const grout_tensor_tiles *tiles,
                                 bool is_wide, float *c, const float *a, const float *b);

#endif
