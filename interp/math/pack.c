/*
 * pack.c - packing in plain C, which is the definition of pack_x86.c too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pack.h"

#include "convert.h"

#include "grout-internal/type.h"
#include "grout/num.h"

#include <string.h>

#define TF32_MASK 0xffffe000u /* sign, 8 exponent and 10 fraction bits */

float grout_pack__widen_f16(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = (uint32_t)(half & 0x7fffu) << 13;
    float scaled = grout_from_bits_f32(rest) * 0x1p112f; /* exact: rebias, subnormals included */
    uint32_t bits = half & 0x7c00u;
    bits = bits == 0x7c00u ? rest | 0x7f800000u : grout_bits_f32(scaled);
    return grout_from_bits_f32(bits | sign);
}

uint16_t grout_pack__narrow_f16(float value) {
    uint32_t bits = grout_bits_f32(value), sign = bits >> 16 & 0x8000u;
    float scaled = grout_from_bits_f32(bits & 0x7fffffffu) * 0x1p-112f;
    uint32_t rest = grout_bits_f32(scaled) >> 13;
    if ((bits & 0x7f800000u) == 0x7f800000u) {
        rest = 0x7c00u | (bits >> 13 & 0x3ffu);
    }
    return (uint16_t)(sign | rest);
}

/* An f8e5m2 is the upper half of an f16; an f8e4m3 has an exponent that is 8 less, and no infinity.
 */
float grout_pack__widen_f8(uint8_t byte, bool is_e4m3) {
    const uint32_t sign = byte & 0x80u, rest = byte & 0x7fu;
    if (!is_e4m3) {
        return grout_pack__widen_f16((uint16_t)(byte << 8));
    }
    return rest == 0x7f ? grout_pack__widen_f16((uint16_t)(sign << 8 | 0x7e00u))
                        : grout_pack__widen_f16((uint16_t)(sign << 8 | rest << 7)) * 256.0f;
}

/* Two neighbours of 8 bits as i16, in one word. */
static inline float widen_pair(grout_dtype dtype, const uint8_t *pair) {
    const bool is_signed = dtype == GROUT_DTYPE_I8;
    const int16_t wide[2] = {(int16_t)(is_signed ? (int8_t)pair[0] : pair[0]),
                             (int16_t)(is_signed ? (int8_t)pair[1] : pair[1])};
    float word;
    memcpy(&word, wide, sizeof word);
    return word;
}

static inline float widen(grout_dtype dtype, const uint8_t *element) {
    uint32_t word = 0;
    uint16_t half = 0;
    if (dtype == GROUT_DTYPE_I8 || dtype == GROUT_DTYPE_U8) {
        return widen_pair(dtype, element);
    }
    if (dtype == GROUT_DTYPE_F8E4M3 || dtype == GROUT_DTYPE_F8E5M2) {
        return grout_pack__widen_f8(*element, dtype == GROUT_DTYPE_F8E4M3);
    }
    if (dtype == GROUT_DTYPE_F32) {
        memcpy(&word, element, sizeof word);
        return grout_from_bits_f32(word & TF32_MASK);
    }
    memcpy(&half, element, sizeof half);
    return dtype == GROUT_DTYPE_F16 ? grout_pack__widen_f16(half)
                                    : grout_from_bits_f32((uint32_t)half << 16);
}

/* The compiler makes one loop for each type: dtype and size, of an element or a word of two, are
 * constants where this is called. */
static inline void pack_as(const grout_pack *pack, grout_dtype dtype, size_t size,
                           const uint8_t *bytes, const int32_t *offsets, float *out) {
    size_t count = GROUT_PACK_CHUNK / size;
    size_t across = pack->is_turned ? pack->rows : 1;
    size_t down = pack->is_turned ? 1 : pack->chunks * count;
    for (size_t row = 0; row < pack->rows; row++) {
        for (size_t i = 0; i < pack->chunks; i++) {
            const uint8_t *chunk = bytes + *offsets++;
            for (size_t k = 0; k < count; k++) {
                out[row * down + (i * count + k) * across] = widen(dtype, chunk + k * size);
            }
        }
    }
}

static void pack_f16(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                     float *out) {
    pack_as(pack, GROUT_DTYPE_F16, 2, bytes, offsets, out);
}
static void pack_bf16(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                      float *out) {
    pack_as(pack, GROUT_DTYPE_BF16, 2, bytes, offsets, out);
}
static void pack_tf32(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                      float *out) {
    pack_as(pack, GROUT_DTYPE_F32, 4, bytes, offsets, out);
}

static void pack_e4m3(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                      float *out) {
    pack_as(pack, GROUT_DTYPE_F8E4M3, 1, bytes, offsets, out);
}
static void pack_e5m2(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                      float *out) {
    pack_as(pack, GROUT_DTYPE_F8E5M2, 1, bytes, offsets, out);
}
/* Elements of 4 and 6 bits: two in a byte, and one. */
static void pack_tiny(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                      float *out) {
    const grout_dtype dtype = (grout_dtype)pack->dtype;
    const size_t count =
        (size_t)GROUT_PACK_CHUNK * (pack->is_padded ? 1 : grout_dtype_get_info(dtype)->packed);
    const size_t across = pack->is_turned ? pack->rows : 1;
    const size_t down = pack->is_turned ? 1 : pack->chunks * count;
    for (size_t row = 0; row < pack->rows; row++) {
        for (size_t i = 0; i < pack->chunks; i++) {
            uint8_t elements[2 * GROUT_PACK_CHUNK];
            float wide[2 * GROUT_PACK_CHUNK];
            if (pack->is_padded) {
                memcpy(elements, bytes + *offsets++, count);
            } else {
                grout_elements_unpack(dtype, bytes + *offsets++, elements, (int64_t)count);
            }
            grout_convert(dtype, elements, GROUT_DTYPE_F32, wide, (int64_t)count);
            for (size_t k = 0; k < count; k++) {
                out[row * down + (i * count + k) * across] = wide[k];
            }
        }
    }
}

static void pack_i8(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                    float *out) {
    pack_as(pack, GROUT_DTYPE_I8, 2, bytes, offsets, out);
}
static void pack_u8(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                    float *out) {
    pack_as(pack, GROUT_DTYPE_U8, 2, bytes, offsets, out);
}

/* Words of an element and the one below it. */
static void pair_rows(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                      float *out) {
    const size_t cols = (size_t)pack->chunks * GROUT_PACK_CHUNK, words = pack->rows / 2;
    const size_t across = pack->is_turned ? words : 1, down = pack->is_turned ? 1 : cols;
    for (size_t row = 0; row < words; row++, offsets += 2 * (size_t)pack->chunks) {
        for (size_t i = 0; i < cols; i++) {
            const size_t chunk = i / GROUT_PACK_CHUNK, at = i % GROUT_PACK_CHUNK;
            const uint8_t pair[2] = {bytes[offsets[chunk] + (int32_t)at],
                                     bytes[offsets[chunk + pack->chunks] + (int32_t)at]};
            out[row * down + i * across] = widen_pair((grout_dtype)pack->dtype, pair);
        }
    }
}

static grout_pack_loop *find_plain(grout_dtype dtype) {
    static grout_pack_loop *const loops[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_F16] = pack_f16,     [GROUT_DTYPE_BF16] = pack_bf16,
        [GROUT_DTYPE_F32] = pack_tf32,    [GROUT_DTYPE_F8E4M3] = pack_e4m3,
        [GROUT_DTYPE_F8E5M2] = pack_e5m2, [GROUT_DTYPE_F6E2M3] = pack_tiny,
        [GROUT_DTYPE_F6E3M2] = pack_tiny, [GROUT_DTYPE_F4E2M1] = pack_tiny,
        [GROUT_DTYPE_I8] = pack_i8,       [GROUT_DTYPE_U8] = pack_u8};
    return loops[dtype];
}

void grout_pack__init(grout_pack *pack, bool is_wide) {
    if (pack->has_k_rows) {
        pack->loop = pair_rows;
        return;
    }
    grout_pack_loop *wide =
        is_wide ? grout_pack__find_wide((grout_dtype)pack->dtype, pack->is_turned) : NULL;
    pack->loop = wide != NULL ? wide : find_plain((grout_dtype)pack->dtype);
}

/* Block by block, so that both sides stay in the first-level cache. */
void grout_pack__transpose(const float *in, uint32_t rows, uint32_t cols, float *out) {
    for (uint32_t row = 0; row < rows; row += GROUT_PACK_BLOCK) {
        for (uint32_t col = 0; col < cols; col += GROUT_PACK_BLOCK) {
            grout_pack__transpose_block(in + (size_t)row * cols + col, cols,
                                        out + (size_t)col * rows + row, rows);
        }
    }
}
