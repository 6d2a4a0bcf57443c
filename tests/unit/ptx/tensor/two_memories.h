/* two_memories.h - two CTAs' memories, and matrices in them as TMA writes them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The matrices hold small integers, so that every order of the sums gives the same bits. Shared
 * memory is written by the walk over boxes, so that what descriptors say meets something that does
 * not share their code.
 */
#ifndef GROUT_TESTS_TWO_MEMORIES_H
#define GROUT_TESTS_TWO_MEMORIES_H

#include "ptx/tensor/access.h"
#include "ptx/tensor/tensor_box.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED = 1 << 17, K_MAX = 128, BASE_B = 1 << 16 };

/* Two CTAs' memories. */
typedef struct machine {
    uint8_t shared[2][SHARED];
    uint32_t tmem[2][GROUT_PTX_TMEM_LANES][GROUT_PTX_TMEM_COLUMNS];
    uint8_t global[256 * 512];
} machine;

static machine it;
static grout_ptx_scratch scratch;
static grout_ptx_fault fault;
static int32_t left[256][K_MAX], right[256][K_MAX]; /* A by rows, B by columns */

static inline bool read_shared(void *to, uint32_t cta, uint32_t address, uint32_t size,
                               uint8_t *bytes, grout_ptx_fault *words) {
    const machine *memory = to;
    if (address + size > SHARED) {
        return grout_ptx__fail(words, "out of shared memory");
    }
    memcpy(bytes, &memory->shared[cta][address], size);
    return true;
}

static inline bool read_tmem(void *to, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                             uint32_t *bits, grout_ptx_fault *words) {
    const machine *memory = to;
    (void)words;
    *bits = memory->tmem[cta][cell.lane][cell.column] & mask;
    return true;
}

static inline bool write_tmem(void *to, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                              uint32_t bits, grout_ptx_fault *words) {
    machine *memory = to;
    uint32_t *word = &memory->tmem[cta][cell.lane][cell.column];
    (void)words;
    *word = (*word & ~mask) | (bits & mask);
    return true;
}

/* All bits have a value here. */
static inline bool move_shared(void *to, uint32_t cta, uint32_t address, uint32_t size,
                               grout_ptx_known_bytes into, grout_ptx_fault *words) {
    memset(into.known, 0xff, size);
    return read_shared(to, cta, address, size, into.bytes, words);
}

static inline bool move_from_tmem(void *to, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t *bits,
                                  uint32_t *known, grout_ptx_fault *words) {
    *known = UINT32_MAX;
    return read_tmem(to, cta, cell, UINT32_MAX, bits, words);
}

static inline bool move_to_tmem(void *to, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t bits,
                                uint32_t known, grout_ptx_fault *words) {
    ck_assert_uint_eq(known, UINT32_MAX);
    return write_tmem(to, cta, cell, UINT32_MAX, bits, words);
}

static const grout_ptx_access ACCESS = {.machine = &it,
                                        .read_shared = read_shared,
                                        .read_tmem = read_tmem,
                                        .read_sums = read_tmem,
                                        .write_tmem = write_tmem,
                                        .move_shared = move_shared,
                                        .move_from_tmem = move_from_tmem,
                                        .move_to_tmem = move_to_tmem};

/* The bits of a small integer; -4 to 4 is exact everywhere, -2 to 2 in 4 bits. */
static inline uint32_t encode(grout_ptx_format format, int32_t number) {
    const uint32_t sizes_bf16[] = {0, 0x3f80, 0x4000, 0x4040, 0x4080};
    const uint32_t sizes_e4m3[] = {0, 0x38, 0x40, 0x44, 0x48};
    const uint32_t size = (uint32_t)(number < 0 ? -number : number);
    switch ((int)format) {
    case GROUT_PTX_BF16:
        return sizes_bf16[size] | (number < 0 ? 0x8000u : 0);
    case GROUT_PTX_TF32:
        return sizes_bf16[size] << 16 | (number < 0 ? 0x80000000u : 0);
    case GROUT_PTX_E4M3:
        return sizes_e4m3[size] | (number < 0 ? 0x80u : 0);
    default:
        return (uint32_t)number & 0xff;
    }
}

static inline void draw_matrices(void) {
    uint32_t seed = 7;
    for (int i = 0; i < 256; i++) {
        for (int k = 0; k < K_MAX; k++) {
            seed = seed * 1664525u + 1013904223u;
            left[i][k] = (int32_t)(seed >> 24) % 9 - 4;
            right[i][k] = (int32_t)(seed >> 16 & 0xff) % 9 - 4;
        }
    }
}

static inline int32_t multiply(uint32_t row, uint32_t column, uint32_t k) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < k; i++) {
        sum += left[row][i] * right[column][i];
    }
    return sum;
}

typedef struct target {
    uint32_t cta;
} target;

static inline bool take(void *to, const grout_ptx_run *run) {
    const target *where = to;
    ck_assert(!run->is_fill);
    memcpy(&it.shared[where->cta][run->shared], &it.global[run->global], run->bytes);
    return true;
}

/* A matrix in shared memory, as TMA writes it: panels as wide as the swizzle, or 16 bytes wide, one
 * after another. */
typedef struct tile {
    int32_t (*from)[K_MAX];
    uint32_t first, rows, k; /* of 'from' */
    grout_ptx_format format;
    grout_ptx_swizzle swizzle;
    bool is_mn_major;
    uint32_t cta, shared;
} tile;

static inline void put_global(const tile *at, uint32_t pitch) {
    const uint32_t bits = grout_ptx__format_bits(at->format);
    for (uint32_t mn = 0; mn < at->rows; mn++) {
        for (uint32_t k = 0; k < at->k; k++) {
            const uint32_t element = encode(at->format, at->from[at->first + mn][k]);
            const uint32_t outer = at->is_mn_major ? k : mn, inner = at->is_mn_major ? mn : k;
            memcpy(&it.global[outer * pitch + inner * bits / 8], &element, bits / 8);
        }
    }
}

static inline void load(const tile *at) {
    const uint32_t bytes = grout_ptx__format_bits(at->format) / 8;
    const uint32_t inner = at->is_mn_major ? at->rows : at->k;
    const uint32_t outer = at->is_mn_major ? at->k : at->rows;
    const uint32_t width = grout_ptx__swizzle_span(at->swizzle);
    const uint32_t span = width == 0 ? 16 : width, wide = span / bytes;
    const uint32_t pitch = (inner * bytes + 15) / 16 * 16;
    put_global(at, pitch);
    const grout_ptx_tensor_map map = {.elem = bytes == 1   ? GROUT_PTX_ELEM_U8
                                              : bytes == 2 ? GROUT_PTX_ELEM_BF16
                                                           : GROUT_PTX_ELEM_F32,
                                      .rank = 2,
                                      .swizzle = at->swizzle,
                                      .dims = {inner, outer},
                                      .strides = {pitch},
                                      .box = {inner < wide ? inner : wide, outer},
                                      .element_strides = {1, 1}};
    ck_assert_msg(grout_ptx__map_check(&map, 100, &fault), "%s", fault.text);
    for (uint32_t panel = 0; panel * wide < inner; panel++) {
        const grout_ptx_box box = {.dims = 2,
                                   .shared = at->shared + panel * outer * span,
                                   .coordinates = {(int32_t)(panel * wide), 0}};
        target where = {at->cta};
        ck_assert_msg(grout_ptx__box_walk(&map, &box, take, &where, &fault), "%s", fault.text);
    }
}

static inline uint64_t make_desc(uint64_t start, uint64_t leading, uint64_t stride, uint64_t code) {
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | code << 61;
}

static inline uint32_t as_float(int32_t number) {
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline void begin(void) {
    memset(&it, 0x3c, sizeof it); /* ordinary numbers: what is read by mistake counts */
    draw_matrices();
}

/* Bytes that are not zero and not all alike, so that what is read by mistake counts. */
static inline void fill_shared(void) {
    for (uint32_t i = 0; i < SHARED; i += 2) {
        it.shared[0][i] = (uint8_t)(i * 7 >> 3);
    }
}

/* Bits 16 to 29 of a matrix descriptor: the leading offset of a K-major swizzled matrix, the one
 * field without effect. */
static inline bool is_leading(int bit) {
    return bit < 128 && bit % 64 >= 16 && bit % 64 < 30;
}

#endif
