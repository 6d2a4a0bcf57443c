/*
 * accumulator.c - accumulators: between columns of f32 (or i32) and arrays in registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "accumulator.h"

#include "grout/num.h"

#include <string.h>

#define NAN_F32 0x7fffffffu
#define NAN_F16 0x7fffu

uint32_t grout_plan__find_accumulator(const grout_plan *plan, grout_object_id object) {
    uint32_t index = plan->accumulators.count;
    while (index-- > 1) {
        if (grout_plan__accumulator(plan, index)->object == object) {
            return index;
        }
    }
    return 0;
}

/* How many words the mask of a column has: an mma of a partition of one or two warps may have 16
 * rows. */
static uint32_t count_words(const grout_accumulator_plan *plan) {
    return (plan->rows + 63) / 64;
}

grout_accumulator grout_accumulator__get(const grout_cta *cta, uint32_t thread, uint32_t index,
                                         uint32_t column, uint32_t count) {
    const grout_accumulator_plan *plan = grout_plan__accumulator(cta->machine->plan, index);
    uint8_t *bytes = grout_cta__accumulators(cta, thread);
    grout_accumulator accumulator = {.plan = plan, .column = column, .count = count};
    accumulator.values = (float *)(void *)(bytes + plan->values) + (size_t)column * plan->rows;
    accumulator.masks =
        (uint64_t *)(void *)(bytes + plan->masks) + (size_t)column * count_words(plan);
    accumulator.marks = bytes + plan->marks + column;
    return accumulator;
}

void grout_accumulator__begin(const grout_cta *cta, uint32_t thread,
                              const grout_scope_plan *scope) {
    grout_machine *machine = cta->machine;
    const grout_object_id *objects = grout_pool__at(&machine->plan->objects, scope->first_object);
    for (uint32_t i = 0; machine->plan->accumulator_bytes > 0 && i < scope->object_count; i++) {
        uint32_t index = grout_plan__find_accumulator(machine->plan, objects[i]);
        if (index != 0) {
            const grout_accumulator_plan *plan = grout_plan__accumulator(machine->plan, index);
            memset(grout_cta__accumulators(cta, thread) + plan->values, 0,
                   plan->marks + plan->cols - plan->values);
        }
    }
}

/* ---- values ----------------------------------------------------------------------------------
 */

/* Square by square, as grout_pack__transpose, on the way to and from 16 bits. */
static void load_f16(const grout_accumulator *accumulator, uint16_t *out) {
    uint32_t rows = accumulator->plan->rows, cols = accumulator->count;
    float block[GROUT_PACK_BLOCK][GROUT_PACK_BLOCK];
    for (uint32_t col = 0; col < cols; col += GROUT_PACK_BLOCK) {
        for (uint32_t row = 0; row < rows; row += GROUT_PACK_BLOCK) {
            grout_pack__transpose_block(accumulator->values + (size_t)col * rows + row, rows,
                                        block[0], GROUT_PACK_BLOCK);
            for (uint32_t i = 0; i < GROUT_PACK_BLOCK * GROUT_PACK_BLOCK; i++) {
                uint32_t r = i / GROUT_PACK_BLOCK, c = i % GROUT_PACK_BLOCK;
                out[(size_t)(row + r) * cols + col + c] = grout_pack__narrow_f16(block[r][c]);
            }
        }
    }
}

static void store_f16(const grout_accumulator *accumulator, const uint16_t *in) {
    uint32_t rows = accumulator->plan->rows, cols = accumulator->count;
    float block[GROUT_PACK_BLOCK][GROUT_PACK_BLOCK];
    for (uint32_t row = 0; row < rows; row += GROUT_PACK_BLOCK) {
        for (uint32_t col = 0; col < cols; col += GROUT_PACK_BLOCK) {
            for (uint32_t i = 0; i < GROUT_PACK_BLOCK * GROUT_PACK_BLOCK; i++) {
                uint32_t r = i / GROUT_PACK_BLOCK, c = i % GROUT_PACK_BLOCK;
                block[r][c] = grout_pack__widen_f16(in[(size_t)(row + r) * cols + col + c]);
            }
            grout_pack__transpose_block(block[0], GROUT_PACK_BLOCK,
                                        accumulator->values + (size_t)col * rows + row, rows);
        }
    }
}

static void unify_nans_f32(uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        words[i] = (words[i] & 0x7fffffffu) > 0x7f800000u ? NAN_F32 : words[i];
    }
}

static void unify_nans_f16(uint16_t *halves, size_t count) {
    for (size_t i = 0; i < count; i++) {
        halves[i] = (halves[i] & 0x7fffu) > 0x7c00u ? (uint16_t)NAN_F16 : halves[i];
    }
}

/* In columns that are sums of products, every NaN becomes the same one. */
static void unify_nans(const grout_accumulator *accumulator, void *out) {
    uint32_t rows = accumulator->plan->rows, cols = accumulator->count;
    bool is_half = accumulator->plan->dtype == GROUT_DTYPE_F16;
    for (uint32_t first = 0; first < cols;) {
        uint32_t end = first;
        while (end < cols && (accumulator->marks[end] & GROUT_COLUMN_PRODUCT) != 0) {
            end++;
        }
        bool is_all = end - first == cols;
        for (uint32_t row = 0; end > first && row < (is_all ? 1 : rows); row++) {
            size_t at = (size_t)row * cols + first,
                   count = is_all ? (size_t)rows * cols : end - first;
            if (is_half) {
                unify_nans_f16((uint16_t *)out + at, count);
            } else {
                unify_nans_f32((uint32_t *)out + at, count);
            }
        }
        first = end + 1;
    }
}

void grout_accumulator__load(const grout_accumulator *accumulator, void *out) {
    if (accumulator->plan->dtype == GROUT_DTYPE_F16) {
        load_f16(accumulator, out);
    } else {
        grout_pack__transpose(accumulator->values, accumulator->count, accumulator->plan->rows,
                              out);
    }
    if (accumulator->plan->dtype != GROUT_DTYPE_I32) {
        unify_nans(accumulator, out);
    }
}

void grout_accumulator__store(const grout_accumulator *accumulator, const void *in) {
    if (accumulator->plan->dtype == GROUT_DTYPE_F16) {
        store_f16(accumulator, in);
    } else {
        grout_pack__transpose(in, accumulator->plan->rows, accumulator->count, accumulator->values);
    }
    for (uint32_t i = 0; i < accumulator->count; i++) {
        accumulator->marks[i] &= (uint8_t)~GROUT_COLUMN_PRODUCT;
    }
}

void grout_accumulator__clear_values(const grout_accumulator *accumulator) {
    memset(accumulator->values, 0,
           (size_t)accumulator->count * accumulator->plan->rows * sizeof *accumulator->values);
}

/* Eight columns at a time: a wgmma takes no fewer. */
void grout_accumulator__mark_product(const grout_accumulator *accumulator) {
    for (uint32_t i = 0; i < accumulator->count; i += 8) {
        uint64_t marks;
        memcpy(&marks, accumulator->marks + i, sizeof marks);
        marks |= UINT64_C(0x0101010101010101) * GROUT_COLUMN_PRODUCT;
        memcpy(accumulator->marks + i, &marks, sizeof marks);
    }
}

/* ---- definedness -----------------------------------------------------------------------------
 */

static uint64_t *get_masks(const grout_accumulator *accumulator, uint32_t column) {
    return accumulator->masks + (size_t)column * count_words(accumulator->plan);
}

bool grout_accumulator__get_undefined(const grout_accumulator *accumulator, uint8_t *mask) {
    uint32_t rows = accumulator->plan->rows, cols = accumulator->count;
    uint8_t all = 0;
    for (uint32_t col = 0; col < cols; col++) {
        all |= accumulator->marks[col];
    }
    if ((all & GROUT_COLUMN_UNDEFINED) == 0) {
        return false;
    }
    for (uint32_t col = 0; col < cols; col++) {
        const uint64_t *words = get_masks(accumulator, col);
        for (uint32_t row = 0; row < rows; row++) {
            mask[(size_t)row * cols + col] = words[row / 64] >> row % 64 & 1;
        }
    }
    return true;
}

void grout_accumulator__set_undefined(const grout_accumulator *accumulator, const uint8_t *mask) {
    uint32_t rows = accumulator->plan->rows, cols = accumulator->count;
    for (uint32_t col = 0; col < cols; col++) {
        if (mask == NULL && (accumulator->marks[col] & GROUT_COLUMN_UNDEFINED) == 0) {
            continue;
        }
        uint64_t *words = get_masks(accumulator, col), any = 0;
        memset(words, 0, count_words(accumulator->plan) * sizeof *words);
        for (uint32_t row = 0; mask != NULL && row < rows; row++) {
            words[row / 64] |= (uint64_t)(mask[(size_t)row * cols + col] != 0) << row % 64;
        }
        for (uint32_t i = 0; i < count_words(accumulator->plan); i++) {
            any |= words[i];
        }
        accumulator->marks[col] &= (uint8_t)~GROUT_COLUMN_UNDEFINED;
        accumulator->marks[col] |= any != 0 ? GROUT_COLUMN_UNDEFINED : 0;
    }
}

void grout_accumulator__spoil_row(const grout_accumulator *accumulator, uint32_t row) {
    for (uint32_t col = 0; col < accumulator->count; col++) {
        get_masks(accumulator, col)[row / 64] |= UINT64_C(1) << row % 64;
        accumulator->marks[col] |= GROUT_COLUMN_UNDEFINED;
    }
}

void grout_accumulator__spoil_column(const grout_accumulator *accumulator, uint32_t column) {
    memset(get_masks(accumulator, column), 0xff,
           count_words(accumulator->plan) * sizeof *accumulator->masks);
    accumulator->marks[column] |= GROUT_COLUMN_UNDEFINED;
}
