/*
 * replay.c - dots that an H200 has made, again by 'exact' numerics: the bits have to be the same.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads records from stdin, which replay.py unpacks from h200_dots.xz. A record is a line
 *
 *   TCN1 op=.. fam=.. L=.. tiles=.. k=.. esz=.. fa=.. fb=.. out=.. int=.. sa=.. sb=.. var=..
 * kind=.. name=..
 *
 * and then A [tile][L][64 rows][32 bytes], B [tile][L][8 columns][32 bytes], C and D [tile][64][8]
 * of 32 bits (f16 in the low half). L instructions of k products follow each other, each takes the
 * D of the one before as C. fa, fb and out: index of FORMATS; int: 1 for bytes that are signed as
 * sa and sb say, with sums in i32. var: 1 the products are negative (scale-a -1), 2 likewise
 * (scale-b), 3 the first C does not count (scale-d 0). kind 3: mma.sync, else wgmma.
 */
#include "interp/math/convert.h"
#include "interp/math/gemm.h"
#include "interp/math/pack.h"
#include "interp/math/tensor_core.h"

#include "grout/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 8, ROW_BYTES = 32, DOTS = ROWS * COLUMNS, K_MAX = 32 };
enum { VAR_NEGATIVE_A = 1, VAR_NEGATIVE_B = 2, VAR_NO_C = 3, VAR_SATURATES = 4 };
enum { KIND_MMA = 3 };
enum { DOTS_RECORDED = 466944 }; /* of all records: none is left out */

static const grout_dtype FORMATS[] = {GROUT_DTYPE_BF16,   GROUT_DTYPE_F16,    GROUT_DTYPE_F32,
                                      GROUT_DTYPE_F8E4M3, GROUT_DTYPE_F8E5M2, GROUT_DTYPE_NONE,
                                      GROUT_DTYPE_NONE,   GROUT_DTYPE_NONE,   GROUT_DTYPE_F32};

typedef struct record {
    int steps, tiles, k, size, a, b, out, is_integer, is_a_signed, is_b_signed, variant, kind;
    char name[128];
    uint8_t *left, *right;
    uint32_t *before, *after;
} record;

/* What all records sum up to. */
typedef struct totals {
    uint64_t equal, different;
} totals;

static void *take(size_t size) {
    void *data = malloc(size);
    if (data == NULL || fread(data, 1, size, stdin) != size) {
        fprintf(stderr, "replay: a record is cut short\n");
        exit(2);
    }
    return data;
}

/* The number after " NAME=" in a record's line. */
static int get_number(const char *line, const char *name) {
    const char *at = strstr(line, name);
    char *end = NULL;
    const long number = at == NULL ? -1 : strtol(at + strlen(name), &end, 10);
    if (end == NULL || (*end != ' ' && *end != '\n') || number < 0 || number > 1000000) {
        fprintf(stderr, "replay: no number after '%s' in %s\n", name, line);
        exit(2);
    }
    return (int)number;
}

static void read_line(record *it, const char *line) {
    const char *name = strstr(line, " name=");
    it->steps = get_number(line, " L=");
    it->tiles = get_number(line, " tiles=");
    it->k = get_number(line, " k=");
    it->size = get_number(line, " esz=");
    it->a = get_number(line, " fa=");
    it->b = get_number(line, " fb=");
    it->out = get_number(line, " out=");
    it->is_integer = get_number(line, " int=");
    it->is_a_signed = get_number(line, " sa=");
    it->is_b_signed = get_number(line, " sb=");
    it->variant = get_number(line, " var=");
    it->kind = get_number(line, " kind=");
    if (name == NULL || it->k > K_MAX || it->size > 4 || it->out > 8 || it->a > 4 || it->b > 4) {
        fprintf(stderr, "replay: no record: %s\n", line);
        exit(2);
    }
    (void)snprintf(it->name, sizeof it->name, "%s", name + strlen(" name="));
    it->name[strcspn(it->name, "\n")] = '\0';
}

static bool read_record(record *it) {
    char line[512];
    if (fgets(line, sizeof line, stdin) == NULL) {
        return false;
    }
    read_line(it, line);
    const size_t steps = (size_t)it->steps * (size_t)it->tiles, dots = (size_t)it->tiles * DOTS;
    it->left = take(steps * ROWS * ROW_BYTES);
    it->right = take(steps * COLUMNS * ROW_BYTES);
    it->before = take(dots * sizeof *it->before);
    it->after = take(dots * sizeof *it->after);
    return true;
}

static void free_record(record *it) {
    free(it->left);
    free(it->right);
    free(it->before);
    free(it->after);
}

/* An operand as the interpreter widens it. */
static float widen(const uint8_t *bytes, grout_dtype dtype, int size, bool is_negative) {
    uint32_t bits = 0;
    float value = 0;
    memcpy(&bits, bytes, (size_t)size);
    if (dtype == GROUT_DTYPE_F32) {
        value = grout_from_bits_f32(bits & 0xffffe000u);
    } else {
        grout_convert(dtype, bytes, GROUT_DTYPE_F32, &value, 1);
    }
    return is_negative ? grout_from_bits_f32(grout_bits_f32(value) ^ 0x80000000u) : value;
}

static float widen_sum(uint32_t bits, bool is_half) {
    return is_half ? grout_pack__widen_f16((uint16_t)bits) : grout_from_bits_f32(bits);
}

static uint32_t narrow_sum(float value, bool is_half) {
    const uint32_t bits = is_half ? grout_pack__narrow_f16(value) : grout_bits_f32(value);
    return value == value ? bits : is_half ? 0x7fffu : 0x7fffffffu; /* as accumulators are read */
}

/* The instructions of a tile, as a wgmma of the IR has them: one tile of 64 x 8. */
static void multiply(const record *it, size_t tile, bool is_wide, float *sums) {
    const bool is_half = FORMATS[it->out] == GROUT_DTYPE_F16;
    const bool is_negative = it->variant == VAR_NEGATIVE_A || it->variant == VAR_NEGATIVE_B;
    grout_tensor_core core =
        it->kind == KIND_MMA
            ? grout_tensor_core__get_mma(FORMATS[it->a], FORMATS[it->b], FORMATS[it->out])
            : grout_tensor_core__get(FORMATS[it->a], FORMATS[it->b], FORMATS[it->out]);
    const grout_tensor_tiles tiles = {.m = ROWS, .n = COLUMNS, .k = (uint32_t)it->k};
    core.block = (uint8_t)(core.is_split ? it->k / 2 : it->k); /* mma.sync has smaller ones */
    for (size_t i = 0; i < DOTS; i++) {
        const uint32_t bits = it->before[tile * DOTS + i];
        sums[i % COLUMNS * ROWS + i / COLUMNS] =
            it->variant == VAR_NO_C ? 0.0f : widen_sum(bits, is_half);
    }
    for (size_t step = 0; step < (size_t)it->steps; step++) {
        const size_t at = tile * (size_t)it->steps + step;
        float a[K_MAX * ROWS], b[COLUMNS * K_MAX];
        for (size_t k = 0; k < (size_t)it->k; k++) {
            for (size_t m = 0; m < ROWS; m++) {
                a[k * ROWS + m] =
                    widen(it->left + (at * ROWS + m) * ROW_BYTES + k * (size_t)it->size,
                          FORMATS[it->a], it->size, is_negative);
            }
            for (size_t n = 0; n < COLUMNS; n++) {
                b[n * (size_t)it->k + k] =
                    widen(it->right + (at * COLUMNS + n) * ROW_BYTES + k * (size_t)it->size,
                          FORMATS[it->b], it->size, false);
            }
        }
        grout_tensor_core__multiply(&core, &tiles, is_wide, sums, a, b);
    }
}

/* The instructions of a tile of integers. */
static void multiply_integers(const record *it, size_t tile, bool is_wide, float *sums) {
    const grout_dtype left = it->is_a_signed != 0 ? GROUT_DTYPE_I8 : GROUT_DTYPE_U8;
    const grout_dtype right = it->is_b_signed != 0 ? GROUT_DTYPE_I8 : GROUT_DTYPE_U8;
    grout_gemm gemm = {.m = ROWS,
                       .n = COLUMNS,
                       .k = (uint32_t)it->k,
                       .is_integer = true,
                       .is_saturating = it->variant == VAR_SATURATES};
    grout_pack packs[2] = {{.dtype = (uint8_t)left, .is_turned = true, .rows = ROWS, .chunks = 2},
                           {.dtype = (uint8_t)right, .rows = COLUMNS, .chunks = 2}};
    int32_t offsets[ROWS * 2];
    grout_gemm__init(&gemm, is_wide ? GROUT_GEMM_AVX512 : GROUT_GEMM_PLAIN);
    for (size_t i = 0; i < (size_t)ROWS * 2; i++) {
        offsets[i] = (int32_t)(i / 2 * ROW_BYTES + i % 2 * GROUT_PACK_CHUNK);
    }
    for (size_t i = 0; i < DOTS; i++) {
        const uint32_t bits = it->before[tile * DOTS + i];
        sums[i % COLUMNS * ROWS + i / COLUMNS] =
            grout_from_bits_f32(it->variant == VAR_NO_C ? 0 : bits);
    }
    for (size_t step = 0; step < (size_t)it->steps; step++) {
        const size_t at = tile * (size_t)it->steps + step;
        float a[K_MAX / 2 * ROWS], b[COLUMNS * K_MAX / 2];
        grout_pack__init(&packs[0], is_wide);
        grout_pack__init(&packs[1], is_wide);
        grout_pack__run(&packs[0], it->left + at * ROWS * ROW_BYTES, offsets, a);
        grout_pack__run(&packs[1], it->right + at * COLUMNS * ROW_BYTES, offsets, b);
        grout_gemm__run(&gemm, sums, a, b);
    }
}

static void multiply_tile(const record *it, size_t tile, bool is_wide, float *sums) {
    if (it->is_integer != 0) {
        multiply_integers(it, tile, is_wide, sums);
    } else {
        multiply(it, tile, is_wide, sums);
    }
}

static void compare_tile(const record *it, size_t tile, bool is_wide, totals *sum) {
    const bool is_half = FORMATS[it->out] == GROUT_DTYPE_F16;
    float sums[DOTS];
    multiply_tile(it, tile, is_wide, sums);
    for (size_t i = 0; i < DOTS; i++) {
        const float sum_of = sums[i % COLUMNS * ROWS + i / COLUMNS];
        const uint32_t got =
            it->is_integer != 0 ? grout_bits_f32(sum_of) : narrow_sum(sum_of, is_half);
        const uint32_t expected = it->after[tile * DOTS + i];
        if (got == expected) {
            sum->equal++;
        } else if (sum->different++ < 20) {
            printf("%s, row %zu, column %zu: %08" PRIx32 ", the H200 has %08" PRIx32 "\n", it->name,
                   i / COLUMNS, i % COLUMNS, got, expected);
        }
    }
}

static void compare_record(const record *it, bool is_wide, totals *sum) {
    for (size_t tile = 0; tile < (size_t)it->tiles; tile++) {
        compare_tile(it, tile, is_wide, sum);
    }
}

int main(void) {
    totals sums[2] = {{0}};
    record it;
    while (read_record(&it)) {
        compare_record(&it, false, &sums[0]);
        compare_record(&it, true, &sums[1]);
        free_record(&it);
    }
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        printf("%s: %" PRIu64 " dots equal, %" PRIu64 " different\n",
               is_wide != 0 ? "vectors" : "C", sums[is_wide].equal, sums[is_wide].different);
    }
    const bool is_all = sums[0].equal == DOTS_RECORDED && sums[1].equal == DOTS_RECORDED;
    return is_all && sums[0].different + sums[1].different == 0 ? 0 : 1;
}
