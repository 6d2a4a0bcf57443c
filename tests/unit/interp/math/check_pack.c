/* check_pack.c - packing: widening, turning, swizzled chunks; the wide loops against the plain
 * ones. SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/pack.h"
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <math.h>

enum { ROWS_MAX = 256, COLS_MAX = 256 };

static uint8_t bytes[ROWS_MAX * COLS_MAX * 4];
static int32_t offsets[ROWS_MAX * COLS_MAX / 4];
static float plain[ROWS_MAX * COLS_MAX], wide[ROWS_MAX * COLS_MAX];

static const struct {
    grout_dtype dtype;
    bool is_turned;
    uint32_t rows, chunks;
} tiles[] = {
    {GROUT_DTYPE_BF16, true, 64, 8},    {GROUT_DTYPE_BF16, false, 64, 8},
    {GROUT_DTYPE_BF16, true, 16, 32},   {GROUT_DTYPE_BF16, false, 16, 1},
    {GROUT_DTYPE_F16, true, 256, 2},    {GROUT_DTYPE_F16, false, 256, 2},
    {GROUT_DTYPE_F16, true, 16, 1},     {GROUT_DTYPE_F16, false, 8, 4},
    {GROUT_DTYPE_F32, true, 64, 8},     {GROUT_DTYPE_F32, false, 64, 8},
    {GROUT_DTYPE_F32, true, 8, 2},      {GROUT_DTYPE_F32, false, 8, 2},
    {GROUT_DTYPE_F8E4M3, true, 64, 8},  {GROUT_DTYPE_F8E4M3, false, 64, 8},
    {GROUT_DTYPE_F8E4M3, true, 16, 2},  {GROUT_DTYPE_F8E4M3, false, 8, 2},
    {GROUT_DTYPE_F8E5M2, true, 128, 8}, {GROUT_DTYPE_F8E5M2, false, 64, 8},
    {GROUT_DTYPE_F8E5M2, true, 16, 1},  {GROUT_DTYPE_F8E5M2, false, 8, 2},
};

/* Two neighbours of a row of integers, as i16, are one word. */
static const struct {
    grout_dtype dtype;
    bool is_turned;
    uint32_t rows, chunks;
} integers[] = {
    {GROUT_DTYPE_I8, true, 64, 8}, {GROUT_DTYPE_I8, false, 64, 8}, {GROUT_DTYPE_I8, true, 8, 2},
    {GROUT_DTYPE_U8, true, 64, 8}, {GROUT_DTYPE_U8, false, 8, 2},
};

/* Every pattern of 16 bits comes up; f32 gets whatever two of them make. */
static void fill(uint32_t chunk_count) {
    for (uint32_t i = 0; i < sizeof bytes / 2; i++) {
        uint16_t value = (uint16_t)(i * 40503u + 7u * (i >> 16));
        memcpy(bytes + 2 * (size_t)i, &value, sizeof value);
    }
    for (uint32_t i = 0; i < chunk_count; i++) {
        offsets[i] = (int32_t)(16 * i);
    }
    for (uint32_t i = chunk_count; i-- > 1;) { /* no swizzle moves them as far */
        uint32_t other = i * 2654435761u % (i + 1);
        int32_t moved = offsets[i];
        offsets[i] = offsets[other];
        offsets[other] = moved;
    }
}

static double define(grout_dtype dtype, const uint8_t *element) {
    uint32_t word;
    if (dtype != GROUT_DTYPE_F32) {
        return grout_element_to_double(dtype, element);
    }
    memcpy(&word, element, sizeof word);
    word &= 0xffffe000u;
    return grout_element_to_double(dtype, &word);
}

TEST_EACH(elements_come_to_their_places, COUNT_OF(tiles)) {
    uint32_t size = grout_dtype_get_info(tiles[_i].dtype)->bytes, count = 16 / size;
    uint32_t rows = tiles[_i].rows, chunks = tiles[_i].chunks, cols = chunks * count;
    grout_pack pack = {.dtype = (uint8_t)tiles[_i].dtype,
                       .is_turned = tiles[_i].is_turned,
                       .rows = rows,
                       .chunks = chunks};
    fill(rows * chunks);
    grout_pack__init(&pack, false);
    grout_pack__run(&pack, bytes, offsets, plain);
    grout_pack__init(&pack, true);
    grout_pack__run(&pack, bytes, offsets, wide);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t col = 0; col < cols; col++) {
            const uint8_t *chunk = bytes + offsets[(size_t)row * chunks + col / count];
            double value = define(tiles[_i].dtype, chunk + (size_t)(col % count) * size);
            uint32_t at = pack.is_turned ? col * rows + row : row * cols + col;
            ck_assert(value != value || ((double)plain[at] == value && (double)wide[at] == value));
            ck_assert(value == value || (plain[at] != plain[at] && wide[at] != wide[at]));
            ck_assert(value != 0 || signbit(plain[at]) == signbit(wide[at]));
        }
    }
}

TEST_EACH(integers_come_in_words_of_two, COUNT_OF(integers)) {
    const uint32_t rows = integers[_i].rows, chunks = integers[_i].chunks, words = chunks * 8;
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        grout_pack pack = {.dtype = (uint8_t)integers[_i].dtype,
                           .is_turned = integers[_i].is_turned,
                           .rows = rows,
                           .chunks = chunks};
        fill(rows * chunks);
        grout_pack__init(&pack, is_wide != 0);
        grout_pack__run(&pack, bytes, offsets, plain);
        for (uint32_t i = 0; i < rows * words * 2; i++) {
            const uint32_t row = i / (words * 2), col = i % (words * 2);
            const uint8_t *element = bytes + offsets[row * chunks + col / 16] + col % 16;
            int16_t parts[2];
            memcpy(parts, &plain[pack.is_turned ? col / 2 * rows + row : row * words + col / 2],
                   sizeof parts);
            ck_assert_int_eq(parts[col % 2],
                             (int64_t)grout_element_to_double(integers[_i].dtype, element));
        }
    }
}

TEST_EACH(transposition_turns, 4) {
    static const uint32_t sizes[][2] = {{8, 8}, {64, 8}, {8, 256}, {256, 64}};
    uint32_t rows = sizes[_i][0], cols = sizes[_i][1];
    for (uint32_t i = 0; i < rows * cols; i++) {
        plain[i] = (float)i;
    }
    grout_pack__transpose(plain, rows, cols, wide);
    for (uint32_t i = 0; i < rows * cols; i++) {
        ck_assert(wide[i % cols * rows + i / cols] == (float)i);
    }
}
