/* dot_block.c - fused sums side by side.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dot_block.h"

#include "grout/num.h"

#include <string.h>

/* Products that a sum of 32 bits can hold: each is less than 4 * 2^25. */
enum { CHUNK = 16, EXPONENT_ZERO = -8192, DOUBLE_BIAS = 1023, DOUBLE_FRACTION = 52 };

/* 2^exponent, which is within the range of normal doubles. */
static double get_power(int32_t exponent) {
    return grout_from_bits_f64((uint64_t)(exponent + DOUBLE_BIAS) << DOUBLE_FRACTION);
}

/* One element; the exponent of a zero is less than all others'. */
static bool set_element(grout_ptx_format format, uint32_t bits, double *value, int16_t *exponent) {
    const grout_ptx_term term = grout_ptx__term(format, bits);
    if (term.exponent >= GROUT_PTX_EXPONENT_INF) {
        return false;
    }
    const bool is_zero = term.significand == 0;
    const int32_t least = term.exponent - grout_ptx__format_fraction(format);
    *exponent = (int16_t)(is_zero ? EXPONENT_ZERO : term.exponent);
    *value = is_zero ? 0 : term.significand * get_power(least);
    return true;
}

void grout_ptx__block_row(grout_ptx_format format, const uint32_t *bits, uint32_t count,
                          grout_ptx_block_row *row) {
    row->count = count;
    row->is_special = false;
    for (uint32_t k = 0; k < count; k++) {
        row->is_special =
            !set_element(format, bits[k], &row->values[k], &row->exponents[k]) || row->is_special;
    }
}

void grout_ptx__block_columns(grout_ptx_format format, const uint32_t *bits, uint32_t count,
                              uint32_t columns, grout_ptx_block_columns *block) {
    block->count = count;
    block->is_special = false;
    for (uint32_t n = 0; n < GROUT_PTX_BLOCK; n++) {
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t element = n < columns ? bits[(size_t)n * count + k] : 0;
            block->is_special =
                !set_element(format, element, &block->values[k][n], &block->exponents[k][n]) ||
                block->is_special;
        }
    }
}

/* The largest exponents of the products, no less than the floor. */
static void get_tops(const grout_ptx_dot *how, const grout_ptx_block_row *row,
                     const grout_ptx_block_columns *block, int16_t tops[GROUT_PTX_BLOCK]) {
    for (uint32_t n = 0; n < GROUT_PTX_BLOCK; n++) {
        tops[n] = (int16_t)how->floor;
    }
    for (uint32_t k = 0; k < row->count; k++) {
        for (uint32_t n = 0; n < GROUT_PTX_BLOCK; n++) {
            const int16_t exponent = (int16_t)(row->exponents[k] + block->exponents[k][n]);
            tops[n] = (int16_t)(exponent > tops[n] ? exponent : tops[n]);
        }
    }
}

/* The sums of the products, cut at guard bits below the tops. */
static void add_products(const grout_ptx_block_row *row, const grout_ptx_block_columns *block,
                         const double units[GROUT_PTX_BLOCK], int64_t sums[GROUT_PTX_BLOCK]) {
    for (uint32_t first = 0; first < row->count; first += CHUNK) {
        const uint32_t end = row->count - first < CHUNK ? row->count : first + CHUNK;
        int32_t parts[GROUT_PTX_BLOCK] = {0};
        for (uint32_t k = first; k < end; k++) {
            for (uint32_t n = 0; n < GROUT_PTX_BLOCK; n++) {
                parts[n] += (int32_t)(row->values[k] * block->values[k][n] * units[n]);
            }
        }
        for (uint32_t n = 0; n < GROUT_PTX_BLOCK; n++) {
            sums[n] += parts[n];
        }
    }
}

/* C aligned like a product. */
static int64_t align_c(const grout_ptx_term *c, int32_t right) {
    const int64_t size = c->significand < 0 ? -c->significand : c->significand;
    const int64_t kept = right > 62 ? 0 : right >= 0 ? size >> right : size << -right;
    return c->significand < 0 ? -kept : kept;
}

bool grout_ptx__dot_block(const grout_ptx_dot *how, const grout_ptx_block_row *row,
                          const grout_ptx_block_columns *block, uint32_t columns, uint32_t *d) {
    const grout_ptx_rounding rounding = {how->d, how->out_fraction, how->d == GROUT_PTX_F16};
    const int32_t fraction = grout_ptx__format_fraction(how->d);
    grout_ptx_term c[GROUT_PTX_BLOCK];
    int16_t tops[GROUT_PTX_BLOCK];
    double units[GROUT_PTX_BLOCK];
    int64_t sums[GROUT_PTX_BLOCK] = {0};
    get_tops(how, row, block, tops);
    for (uint32_t n = 0; n < GROUT_PTX_BLOCK; n++) {
        c[n] = grout_ptx__term(how->d, n < columns ? d[n] : 0);
        if (c[n].exponent >= GROUT_PTX_EXPONENT_INF) {
            return false;
        }
        c[n].exponent -= how->c_shift;
        tops[n] = (int16_t)(c[n].exponent > tops[n] ? c[n].exponent : tops[n]);
        units[n] = get_power(how->guard - tops[n]);
    }
    add_products(row, block, units, sums);
    for (uint32_t n = 0; n < columns; n++) {
        const int64_t products = how->is_negative ? -sums[n] : sums[n];
        const int64_t own = align_c(&c[n], tops[n] - c[n].exponent + fraction - how->guard);
        d[n] = grout_ptx__round(&rounding, products + own, tops[n] - how->guard);
    }
    return true;
}
