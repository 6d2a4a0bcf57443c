/* run_mma.c - the fragments of an mma.sync, and its product.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_mma.h"

#include "fragment.h"

enum {
    LANES = GROUT_PTX_MMA_LANES,
    M = GROUT_PTX_MMA_M,
    N = GROUT_PTX_MMA_N,
    WORD = 32,
    K_MAX = 32
};

static bool is_byte_integer(grout_ptx_format format) {
    return format == GROUT_PTX_U8 || format == GROUT_PTX_S8;
}

static bool is_f8(grout_ptx_format format) {
    return format == GROUT_PTX_E4M3 || format == GROUT_PTX_E5M2;
}

static bool types_fit(const grout_ptx_mma *it) {
    if (is_byte_integer(it->a)) {
        return is_byte_integer(it->b) && it->d == GROUT_PTX_S32;
    }
    const bool is_half = it->d == GROUT_PTX_F16 && (is_f8(it->a) || it->a == GROUT_PTX_F16);
    if (it->d != GROUT_PTX_F32 && !is_half) {
        return false;
    }
    if (is_f8(it->a)) {
        return is_f8(it->b);
    }
    return it->a == it->b &&
           (it->a == GROUT_PTX_F16 || it->a == GROUT_PTX_BF16 || it->a == GROUT_PTX_TF32);
}

bool grout_ptx__mma_check(const grout_ptx_mma *it, grout_ptx_fault *fault) {
    const uint32_t bits = grout_ptx__format_bits(it->a), full = 32 * 8 / bits;
    const bool is_short = it->k == full / 2 && !is_f8(it->a);
    if (!types_fit(it) || (it->k != full && !is_short)) {
        return grout_ptx__fail(fault, "mma.m16n8k%u of %s and %s into %s is not modelled", it->k,
                               grout_ptx__format_name(it->a), grout_ptx__format_name(it->b),
                               grout_ptx__format_name(it->d));
    }
    if (it->is_saturating && !is_byte_integer(it->a)) {
        return grout_ptx__fail(fault, ".satfinite is of mma of integers");
    }
    return true;
}

uint32_t grout_ptx__mma_a_registers(const grout_ptx_mma *it) {
    return M * it->k * grout_ptx__format_bits(it->a) / (WORD * LANES);
}

uint32_t grout_ptx__mma_b_registers(const grout_ptx_mma *it) {
    return N * it->k * grout_ptx__format_bits(it->b) / (WORD * LANES);
}

uint32_t grout_ptx__mma_d_registers(const grout_ptx_mma *it) {
    return it->d == GROUT_PTX_F16 ? 2 : 4;
}

static uint32_t get_element(uint32_t word, uint32_t element, uint32_t bits) {
    return word >> element * bits & (UINT32_MAX >> (WORD - bits));
}

static void read_fragments(const grout_ptx_mma *it, const uint32_t *a, const uint32_t *b,
                           uint32_t *rows, uint32_t *columns) {
    const uint32_t bits = grout_ptx__format_bits(it->a), packed = WORD / bits;
    const uint32_t of_a = grout_ptx__mma_a_registers(it), of_b = grout_ptx__mma_b_registers(it);
    for (uint32_t i = 0; i < LANES * packed; i++) {
        const uint32_t lane = i / packed, element = i % packed;
        for (uint32_t r = 0; r < of_a; r++) {
            const grout_ptx_place at = grout_ptx__fragment_a(lane, r, element, bits);
            rows[at.row * it->k + at.column] = get_element(a[r * LANES + lane], element, bits);
        }
        for (uint32_t r = 0; r < of_b; r++) {
            const grout_ptx_place at = grout_ptx__fragment_b(lane, r, element, bits);
            columns[at.column * it->k + at.row] = get_element(b[r * LANES + lane], element, bits);
        }
    }
}

/* D from registers to rows, or back. */
static void move_d(const grout_ptx_mma *it, uint32_t *registers, uint32_t d[M * N], bool is_back) {
    const uint32_t bits = it->d == GROUT_PTX_F16 ? 16 : WORD, packed = WORD / bits;
    for (uint32_t i = 0; i < grout_ptx__mma_d_registers(it) * LANES; i++) {
        uint32_t all = 0;
        for (uint32_t element = 0; element < packed; element++) {
            const grout_ptx_place at = grout_ptx__fragment_d(i % LANES, i / LANES, element, bits);
            uint32_t *place = &d[at.row * N + at.column];
            all |= *place << element * bits;
            *place = is_back ? *place : get_element(registers[i], element, bits);
        }
        registers[i] = is_back ? all : registers[i];
    }
}

void grout_ptx__mma_sync(const grout_ptx_mma *it, const uint32_t *a, const uint32_t *b,
                         uint32_t *d) {
    uint32_t rows[M * K_MAX] = {0}, columns[N * K_MAX] = {0}, sums[M * N] = {0};
    const grout_ptx_product product = {.kind = is_byte_integer(it->a) ? GROUT_PTX_PRODUCT_INTEGER
                                               : is_f8(it->a)         ? GROUT_PTX_PRODUCT_MMA_F8
                                                                      : GROUT_PTX_PRODUCT_FLOAT,
                                       .how = grout_ptx__dot_blackwell(it->a, it->b, it->d),
                                       .m = M,
                                       .n = N,
                                       .k = it->k,
                                       .is_saturating = it->is_saturating,
                                       .a = rows,
                                       .b = columns};
    read_fragments(it, a, b, rows, columns);
    move_d(it, d, sums, false);
    grout_ptx__multiply(&product, sums);
    move_d(it, d, sums, true);
}
