/* product.h - D = A * B + C of one instruction, from elements to elements.
 * SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.mma_async, tcgen05.mma, mma.sync. The machine reads the elements from registers, shared or
 * tensor memory by descriptors and fragments; here they are words in arrays, so that it can look at
 * undefined ones first.
 */
#ifndef GROUT_PTX_PRODUCT_H
#define GROUT_PTX_PRODUCT_H

#include "dot.h"

/* How one element of D is made. */
typedef enum grout_ptx_product_kind {
    GROUT_PTX_PRODUCT_FLOAT,   /* one fused sum */
    GROUT_PTX_PRODUCT_MMA_F8,  /* mma.sync of e4m3 and e5m2 */
    GROUT_PTX_PRODUCT_MXF8,    /* kind::mxf8f6f4: the scales add to exponents */
    GROUT_PTX_PRODUCT_MXF4,    /* kind::mxf4, kind::mxf4nvf4 */
    GROUT_PTX_PRODUCT_INTEGER, /* u8, s8 */
    GROUT_PTX_PRODUCT_BITS     /* b1: a and b are words of 32 bits, k counts words */
} grout_ptx_product_kind;

typedef struct grout_ptx_product {
    grout_ptx_product_kind kind;
    grout_ptx_dot how;
    uint32_t m, n, k;    /* k: elements of a column of B */
    bool is_without_c;   /* scale-d, or the input-d predicate, is 0: C is +0 and not read */
    bool is_saturating;  /* .satfinite */
    const uint32_t *a;   /* [m][k], or [m][k / 2] with 'kept' */
    const uint32_t *b;   /* [n][k] */
    const uint8_t *kept; /* [m][k / 2]: which elements of a row a sparse A has; NULL if dense */
    /* Block scales: [m][scales] and [n][scales], each for as many neighbours of a row of a. */
    grout_ptx_format scale;
    uint32_t scales;
    const uint32_t *a_scales, *b_scales;
} grout_ptx_product;

/* d is C before and D after: [m][n]. */
void grout_ptx__multiply(const grout_ptx_product *it, uint32_t *d);

#endif
