/* product.c - every element of D, some rows of A at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "product.h"

#include "dot_block.h"

#include <string.h>

enum { ROWS = 16 }; /* that are taken apart together, so that a column of B is taken apart seldom */

static uint32_t get_row_length(const grout_ptx_product *it) {
    return it->kept == NULL ? it->k : it->k / 2;
}

/* A column of B, without the elements that a row of a sparse A has not. */
static void select_terms(const grout_ptx_product *it, uint32_t row, const grout_ptx_vector *column,
                         grout_ptx_vector *taken) {
    const uint32_t length = get_row_length(it);
    taken->count = length;
    taken->is_special = column->is_special;
    for (uint32_t i = 0; i < length; i++) {
        taken->terms[i] = column->terms[it->kept[(size_t)row * length + i]];
    }
}

/* The exponents of a row's and a column's scale; false if one of them is NaN. */
static bool get_scale(const grout_ptx_product *it, uint32_t row, uint32_t column, int32_t *scale) {
    const grout_ptx_term x = grout_ptx__term(it->scale, it->a_scales[(size_t)row * it->scales]);
    const grout_ptx_term y = grout_ptx__term(it->scale, it->b_scales[(size_t)column * it->scales]);
    *scale = x.exponent + y.exponent;
    return x.exponent != GROUT_PTX_EXPONENT_NAN && y.exponent != GROUT_PTX_EXPONENT_NAN;
}

static uint32_t multiply_terms(const grout_ptx_product *it, uint32_t row, uint32_t column,
                               const grout_ptx_vector *a, const grout_ptx_vector *b, uint32_t c) {
    int32_t scale = 0;
    if (it->kind == GROUT_PTX_PRODUCT_MXF8 && !get_scale(it, row, column, &scale)) {
        return grout_ptx__nan(it->how.d);
    }
    if (it->kept != NULL) {
        grout_ptx_vector taken;
        select_terms(it, row, b, &taken);
        return grout_ptx__dot(&it->how, a, &taken, scale, c);
    }
    return grout_ptx__dot(&it->how, a, b, scale, c);
}

/* Kinds whose elements are not taken apart first. */
static uint32_t multiply_words(const grout_ptx_product *it, uint32_t row, uint32_t column,
                               uint32_t c) {
    const uint32_t length = get_row_length(it);
    const uint32_t *a = it->a + (size_t)row * length, *b = it->b + (size_t)column * it->k;
    uint32_t taken[GROUT_PTX_K_MAX];
    if (it->kept != NULL) {
        for (uint32_t i = 0; i < length; i++) {
            taken[i] = b[it->kept[(size_t)row * length + i]];
        }
        b = taken;
    }
    if (it->kind == GROUT_PTX_PRODUCT_BITS) {
        return grout_ptx__dot_bits(a, b, length, c);
    }
    if (it->kind == GROUT_PTX_PRODUCT_INTEGER) {
        return grout_ptx__dot_integer(&it->how, a, b, length, c, it->is_saturating);
    }
    if (it->kind == GROUT_PTX_PRODUCT_MMA_F8) {
        return grout_ptx__dot_mma_f8(&it->how, a, b, length, c);
    }
    const grout_ptx_scaled_dot scaled = {.scale = it->scale,
                                         .count = length,
                                         .block = length / it->scales,
                                         .is_negative = it->how.is_negative,
                                         .a = a,
                                         .b = b,
                                         .a_scales = it->a_scales + (size_t)row * it->scales,
                                         .b_scales = it->b_scales + (size_t)column * it->scales};
    return grout_ptx__dot_mxf4(&scaled, c);
}

static void multiply_rows(const grout_ptx_product *it, uint32_t first, uint32_t count,
                          uint32_t *d) {
    grout_ptx_vector rows[ROWS], column;
    const uint32_t length = get_row_length(it);
    for (uint32_t i = 0; i < count; i++) {
        grout_ptx__vector(it->how.a, it->a + (size_t)(first + i) * length, length, &rows[i]);
    }
    for (uint32_t n = 0; n < it->n; n++) {
        grout_ptx__vector(it->how.b, it->b + (size_t)n * it->k, it->k, &column);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t *at = d + (size_t)(first + i) * it->n + n;
            *at = multiply_terms(it, first + i, n, &rows[i], &column, *at);
        }
    }
}

/* Some columns of a row whose infinities or NaNs blocks do not know. */
static void multiply_special(const grout_ptx_product *it, const uint32_t *a, const uint32_t *b,
                             uint32_t columns, uint32_t *d) {
    grout_ptx_vector left, right;
    grout_ptx__vector(it->how.a, a, it->k, &left);
    for (uint32_t n = 0; n < columns; n++) {
        grout_ptx__vector(it->how.b, b + (size_t)n * it->k, it->k, &right);
        d[n] = grout_ptx__dot(&it->how, &left, &right, 0, d[n]);
    }
}

/* Dense floats: some rows of A by some columns of B at a time. */
static void multiply_blocks(const grout_ptx_product *it, uint32_t first, uint32_t rows,
                            uint32_t *d) {
    const uint32_t *a = it->a + (size_t)first * it->k;
    grout_ptx_block_row row[ROWS];
    grout_ptx_block_columns block;
    for (uint32_t i = 0; i < rows; i++) {
        grout_ptx__block_row(it->how.a, a + (size_t)i * it->k, it->k, &row[i]);
    }
    for (uint32_t n = 0; n < it->n; n += GROUT_PTX_BLOCK) {
        const uint32_t columns = it->n - n < GROUT_PTX_BLOCK ? it->n - n : GROUT_PTX_BLOCK;
        const uint32_t *b = it->b + (size_t)n * it->k;
        grout_ptx__block_columns(it->how.b, b, it->k, columns, &block);
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t *at = d + (size_t)(first + i) * it->n + n;
            const bool is_plain = !row[i].is_special && !block.is_special;
            if (!is_plain || !grout_ptx__dot_block(&it->how, &row[i], &block, columns, at)) {
                multiply_special(it, a + (size_t)i * it->k, b, columns, at);
            }
        }
    }
}

void grout_ptx__multiply(const grout_ptx_product *it, uint32_t *d) {
    const bool has_blocks = it->kind == GROUT_PTX_PRODUCT_FLOAT && it->kept == NULL;
    const bool has_terms =
        it->kind == GROUT_PTX_PRODUCT_FLOAT || it->kind == GROUT_PTX_PRODUCT_MXF8;
    if (it->is_without_c) {
        memset(d, 0, (size_t)it->m * it->n * sizeof *d);
    }
    for (uint32_t first = 0; has_terms && first < it->m; first += ROWS) {
        const uint32_t rows = it->m - first < ROWS ? it->m - first : ROWS;
        if (has_blocks) {
            multiply_blocks(it, first, rows, d);
        } else {
            multiply_rows(it, first, rows, d);
        }
    }
    for (uint32_t row = 0; !has_terms && row < it->m; row++) {
        for (uint32_t column = 0; column < it->n; column++) {
            uint32_t *at = d + (size_t)row * it->n + column;
            *at = multiply_words(it, row, column, *at);
        }
    }
}
