/* dot.h - one element of D = A * B + C, with the bits that the tensor core returns.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The PTX ISA leaves the order and the precision of the sums open. What is here is what hardware
 * does: all products of a block and C are aligned to the largest exponent among them, cut there
 * toward zero, added exactly and rounded once. For Hopper it was compared with an H200
 * (tests/numerics); the parameters of Blackwell are the published ones, and nothing has confirmed
 * them for tcgen05.
 */
#ifndef GROUT_PTX_DOT_H
#define GROUT_PTX_DOT_H

#include "number.h"

enum { GROUT_PTX_K_MAX = 128 }; /* elements of a row that one instruction takes; b1 has 256 bits */

/* How the sum is made. */
typedef struct grout_ptx_dot {
    grout_ptx_format a, b;
    grout_ptx_format d;   /* F32 or F16: of C and D */
    int32_t guard;        /* fraction bits kept below the largest exponent */
    int32_t out_fraction; /* fraction bits of D that can be set */
    int32_t floor;        /* the largest exponent counts as no less than this */
    int32_t c_shift;      /* C counts 2^-c_shift times (scale-input-d of tcgen05) */
    bool is_negative;     /* the products are subtracted: one of A and B is negated */
} grout_ptx_dot;

/* wgmma and the mma.sync of 16-bit types and tf32 on sm_90: e4m3 and e5m2 keep 13 bits. */
grout_ptx_dot grout_ptx__dot_hopper(grout_ptx_format a, grout_ptx_format b, grout_ptx_format d);

/* tcgen05.mma of kinds f16, tf32, f8f6f4 and mxf8f6f4: 25 bits for all. */
grout_ptx_dot grout_ptx__dot_blackwell(grout_ptx_format a, grout_ptx_format b, grout_ptx_format d);

/* Elements of a row of A, or of a column of B, taken apart. */
typedef struct grout_ptx_vector {
    uint32_t count;
    bool is_special; /* an infinity or a NaN is among them */
    grout_ptx_term terms[GROUT_PTX_K_MAX];
} grout_ptx_vector;

/* count elements, each in the low bits of a word. */
void grout_ptx__vector(grout_ptx_format format, const uint32_t *bits, uint32_t count,
                       grout_ptx_vector *vector);

/* D of one block: all terms of the vectors, and C. scale is added to the exponent of each product
 * (block scales of mxf8f6f4), 0 otherwise. */
uint32_t grout_ptx__dot(const grout_ptx_dot *how, const grout_ptx_vector *a,
                        const grout_ptx_vector *b, int32_t scale, uint32_t c);

/* mma.sync of e4m3 and e5m2 on sm_90 and sm_100, K = 32: ptxas makes two f16 products of it, of the
 * elements k % 4 in {0, 1} and {2, 3}, and one ordinary addition of C. */
uint32_t grout_ptx__dot_mma_f8(const grout_ptx_dot *how, const uint32_t *a, const uint32_t *b,
                               uint32_t count, uint32_t c);

/* An element of kind::mxf4 and kind::mxf4nvf4: groups of 16 products of e2m1 are added exactly and
 * multiplied by their scales; the groups and C are cut at 35 bits. Scales are of the format that
 * scale says, one for every block elements (32 or 16). The rows have 64 elements, or 32 more after
 * the selection of a sparse A has been undone. */
typedef struct grout_ptx_scaled_dot {
    grout_ptx_format scale; /* UE8M0 or UE4M3 */
    uint32_t count, block;
    bool is_negative;
    const uint32_t *a, *b, *a_scales, *b_scales;
} grout_ptx_scaled_dot;

uint32_t grout_ptx__dot_mxf4(const grout_ptx_scaled_dot *how, uint32_t c);

/* Integers: exact, modulo 2^32, or clamped once (.satfinite). The formats are U8 and S8. */
uint32_t grout_ptx__dot_integer(const grout_ptx_dot *how, const uint32_t *a, const uint32_t *b,
                                uint32_t count, uint32_t c, bool is_saturating);

/* b1 with .and.popc: words of 32 bits. */
uint32_t grout_ptx__dot_bits(const uint32_t *a, const uint32_t *b, uint32_t words, uint32_t c);

#endif
