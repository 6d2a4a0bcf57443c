/* wgmma.c - shapes and types of wgmma.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wgmma.h"

enum { N_MAX = 256, STEP = 8, STEP_WIDE = 16, NARROW = 32, K_BYTES = 32, K_BITS = 256 };

static bool is_byte_integer(grout_ptx_format format) {
    return format == GROUT_PTX_U8 || format == GROUT_PTX_S8;
}

static bool is_f8(grout_ptx_format format) {
    return format == GROUT_PTX_E4M3 || format == GROUT_PTX_E5M2;
}

static bool is_integer(const grout_ptx_wgmma *it) {
    return is_byte_integer(it->a) || it->a == GROUT_PTX_B1;
}

static bool types_fit(const grout_ptx_wgmma *it) {
    if (is_byte_integer(it->a)) {
        return is_byte_integer(it->b) && it->d == GROUT_PTX_S32;
    }
    if (is_f8(it->a)) {
        return is_f8(it->b) && (it->d == GROUT_PTX_F32 || it->d == GROUT_PTX_F16);
    }
    if (it->a != it->b) {
        return false;
    }
    if (it->a == GROUT_PTX_B1) {
        return it->d == GROUT_PTX_S32 && !it->is_sparse;
    }
    if (it->a == GROUT_PTX_F16) {
        return it->d == GROUT_PTX_F32 || it->d == GROUT_PTX_F16;
    }
    return (it->a == GROUT_PTX_BF16 || it->a == GROUT_PTX_TF32) && it->d == GROUT_PTX_F32;
}

static bool check_shape(const grout_ptx_wgmma *it, grout_ptx_fault *fault) {
    const uint32_t bits = grout_ptx__format_bits(it->a);
    const uint32_t k =
        (it->a == GROUT_PTX_B1 ? K_BITS : K_BYTES * 8 / bits) * (it->is_sparse ? 2 : 1);
    const bool is_wide = is_integer(it) && it->n > NARROW;
    const uint32_t step = is_wide ? STEP_WIDE : STEP;
    if (it->k != k) {
        return grout_ptx__fail(fault, "wgmma of %s with K = %u: %u", grout_ptx__format_name(it->a),
                               it->k, k);
    }
    if (it->n == 0 || it->n > N_MAX || it->n % step != 0) {
        return grout_ptx__fail(fault, "wgmma of %s with N = %u: a multiple of %u up to 256",
                               grout_ptx__format_name(it->a), it->n, step);
    }
    return true;
}

static bool check_signs(const grout_ptx_wgmma *it, grout_ptx_fault *fault) {
    if ((it->scale_a != 1 && it->scale_a != -1) || (it->scale_b != 1 && it->scale_b != -1)) {
        return grout_ptx__fail(fault, "imm-scale-a and imm-scale-b of wgmma are %d and %d: 1 or -1",
                               it->scale_a, it->scale_b);
    }
    if (is_integer(it) && (it->scale_a != 1 || it->scale_b != 1)) {
        return grout_ptx__fail(fault, "wgmma of integers has no imm-scale");
    }
    if (it->is_saturating && !is_byte_integer(it->a)) {
        return grout_ptx__fail(fault, ".satfinite is of wgmma of 8-bit integers");
    }
    return true;
}

bool grout_ptx__wgmma_check(const grout_ptx_wgmma *it, grout_ptx_fault *fault) {
    const uint32_t bits = grout_ptx__format_bits(it->a);
    if (!types_fit(it)) {
        return grout_ptx__fail(fault, "wgmma of %s and %s into %s", grout_ptx__format_name(it->a),
                               grout_ptx__format_name(it->b), grout_ptx__format_name(it->d));
    }
    if (!check_shape(it, fault) || !check_signs(it, fault)) {
        return false;
    }
    if (it->transpose_a > 1 || it->transpose_b > 1) {
        return grout_ptx__fail(fault, "imm-trans-a and imm-trans-b of wgmma are %u and %u: 0 or 1",
                               it->transpose_a, it->transpose_b);
    }
    if ((it->transpose_a != 0 || it->transpose_b != 0) && bits != 16) {
        return grout_ptx__fail(fault, "wgmma of %s transposes nothing: 16-bit types only",
                               grout_ptx__format_name(it->a));
    }
    if (it->transpose_a != 0 && it->is_a_register) {
        return grout_ptx__fail(fault, "wgmma with A in registers and imm-trans-a");
    }
    if (it->selector > (it->is_sparse && bits != 8 ? 1u : 0u)) {
        return grout_ptx__fail(fault, "a sparsity selector of %u for wgmma of %s", it->selector,
                               grout_ptx__format_name(it->a));
    }
    return true;
}

uint32_t grout_ptx__wgmma_registers(const grout_ptx_wgmma *it) {
    return it->d == GROUT_PTX_F16 ? it->n / 4 : it->n / 2;
}

grout_ptx_product grout_ptx__wgmma_product(const grout_ptx_wgmma *it) {
    grout_ptx_product product = {.kind = GROUT_PTX_PRODUCT_FLOAT,
                                 .how = grout_ptx__dot_hopper(it->a, it->b, it->d),
                                 .m = GROUT_PTX_WGMMA_M,
                                 .n = it->n,
                                 .k = it->k,
                                 .is_saturating = it->is_saturating};
    product.how.is_negative = it->scale_a != it->scale_b;
    if (is_integer(it)) {
        product.kind = it->a == GROUT_PTX_B1 ? GROUT_PTX_PRODUCT_BITS : GROUT_PTX_PRODUCT_INTEGER;
        product.k = it->a == GROUT_PTX_B1 ? it->k / 32 : it->k;
    }
    return product;
}
