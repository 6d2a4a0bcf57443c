/*
 * replay_ptx.c - dots that an H200 has made, again by ptx/tensor: the bits have to be the same.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads the records that replay.c describes, from stdin, and knows nothing of the interpreter.
 */
#include "ptx/numbers/product.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 8, ROW_BYTES = 32, DOTS = ROWS * COLUMNS, K_MAX = 32 };
enum { NEGATIVE_A = 1, NEGATIVE_B = 2, NO_C = 3, SATURATES = 4, KIND_MMA = 3 };
enum { DOTS_RECORDED = 466944 }; /* of all records: none is left out */

static const grout_ptx_format FORMATS[] = {
    GROUT_PTX_BF16, GROUT_PTX_F16,  GROUT_PTX_TF32, GROUT_PTX_E4M3, GROUT_PTX_E5M2,
    GROUT_PTX_E2M3, GROUT_PTX_E3M2, GROUT_PTX_E2M1, GROUT_PTX_F32,
};

typedef struct record {
    int steps, tiles, k, size, a, b, out, is_integer, is_a_signed, is_b_signed, variant, kind;
    uint8_t *left, *right;
    uint32_t *before, *after;
} record;

static void *take(size_t size) {
    void *data = malloc(size);
    if (data == NULL || fread(data, 1, size, stdin) != size) {
        fprintf(stderr, "replay_ptx: a record is cut short\n");
        exit(2);
    }
    return data;
}

static int get_number(const char *line, const char *name) {
    const char *at = strstr(line, name);
    if (at == NULL) {
        fprintf(stderr, "replay_ptx: no '%s' in %s\n", name, line);
        exit(2);
    }
    return (int)strtol(at + strlen(name), NULL, 10);
}

static bool read_record(record *it) {
    char line[512];
    if (fgets(line, sizeof line, stdin) == NULL) {
        return false;
    }
    const struct {
        const char *name;
        int *number;
    } fields[] = {
        {" L=", &it->steps},        {" tiles=", &it->tiles},    {" k=", &it->k},
        {" esz=", &it->size},       {" fa=", &it->a},           {" fb=", &it->b},
        {" out=", &it->out},        {" int=", &it->is_integer}, {" sa=", &it->is_a_signed},
        {" sb=", &it->is_b_signed}, {" var=", &it->variant},    {" kind=", &it->kind}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i].number = get_number(line, fields[i].name);
    }
    const size_t steps = (size_t)it->steps * (size_t)it->tiles, dots = (size_t)it->tiles * DOTS;
    it->left = take(steps * ROWS * ROW_BYTES);
    it->right = take(steps * COLUMNS * ROW_BYTES);
    it->before = take(dots * sizeof *it->before);
    it->after = take(dots * sizeof *it->after);
    return true;
}

static void read_elements(const record *it, const uint8_t *bytes, uint32_t *elements) {
    for (int k = 0; k < it->k; k++) {
        elements[k] = 0;
        for (int i = 0; i < it->size; i++) {
            elements[k] |= (uint32_t)bytes[k * it->size + i] << 8 * i;
        }
    }
}

static grout_ptx_product get_product(const record *it) {
    grout_ptx_product product = {.m = ROWS, .n = COLUMNS, .k = (uint32_t)it->k};
    if (it->is_integer != 0) {
        product.kind = GROUT_PTX_PRODUCT_INTEGER;
        product.how.a = it->is_a_signed != 0 ? GROUT_PTX_S8 : GROUT_PTX_U8;
        product.how.b = it->is_b_signed != 0 ? GROUT_PTX_S8 : GROUT_PTX_U8;
        product.is_saturating = it->variant == SATURATES;
        return product;
    }
    product.how = grout_ptx__dot_hopper(FORMATS[it->a], FORMATS[it->b], FORMATS[it->out]);
    product.how.is_negative = it->variant == NEGATIVE_A || it->variant == NEGATIVE_B;
    if (it->kind == KIND_MMA && it->size == 1) {
        product.kind = GROUT_PTX_PRODUCT_MMA_F8;
    }
    return product;
}

/* How many dots of a tile differ. */
static uint64_t replay_tile(const record *it, size_t tile) {
    const size_t steps = (size_t)it->steps, k = (size_t)it->k;
    uint32_t a[ROWS * K_MAX], b[COLUMNS * K_MAX], d[DOTS];
    uint64_t different = 0;
    grout_ptx_product product = get_product(it);
    product.a = a;
    product.b = b;
    memcpy(d, it->before + tile * DOTS, sizeof d);
    for (size_t step = tile * steps; step < (tile + 1) * steps; step++) {
        for (size_t i = 0; i < ROWS; i++) {
            read_elements(it, it->left + (step * ROWS + i) * ROW_BYTES, a + i * k);
        }
        for (size_t i = 0; i < COLUMNS; i++) {
            read_elements(it, it->right + (step * COLUMNS + i) * ROW_BYTES, b + i * k);
        }
        product.is_without_c = it->variant == NO_C && step == tile * steps;
        grout_ptx__multiply(&product, d);
    }
    for (size_t dot = 0; dot < DOTS; dot++) {
        different += d[dot] != it->after[tile * DOTS + dot];
    }
    return different;
}

int main(void) {
    uint64_t count = 0, different = 0;
    record it;
    while (read_record(&it)) {
        for (size_t tile = 0; tile < (size_t)it.tiles; tile++) {
            count += DOTS;
            different += replay_tile(&it, tile);
        }
        free(it.left);
        free(it.right);
        free(it.before);
        free(it.after);
    }
    printf("%" PRIu64 " dots, %" PRIu64 " differ\n", count, different);
    return different != 0 || count != DOTS_RECORDED;
}
