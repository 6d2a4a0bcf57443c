/*
 * pack_x86.c - packing with AVX2 and F16C: a chunk is one load, widened to one register; turned
 * tiles go through registers 16 rows (8 of f32 and of integers) at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gemm.h"
#include "pack.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,f16c")))

enum { TURNED_ROWS = 16, TURNED_ROWS_F32 = 8, COUNT = 8, COUNT_F32 = 4 };

TARGET static inline __m256 widen_bf16(__m128i chunk) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(chunk), 16));
}
TARGET static inline __m256 widen_f16(__m128i chunk) {
    return _mm256_cvtph_ps(chunk);
}
TARGET static inline __m128i load(const uint8_t *bytes) {
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* Rows 0..7 of a tile of 16 rows in the low halves, 8..15 in the high ones. */
TARGET static inline __m256i load_pair(const uint8_t *bytes, const int32_t *offsets, size_t high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load(bytes + offsets[0])),
                                   load(bytes + offsets[high]), 1);
}

/* 8 x 8 elements of 16 bits in each half: columns become registers. */
TARGET static inline void transpose_16(__m256i r[8]) {
    __m256i a[8], b[8];
    for (size_t i = 0; i < 4; i++) {
        a[i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        a[i + 4] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4) {
        b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
        b[i + 2] = _mm256_unpacklo_epi32(a[i + 2], a[i + 3]);
        b[i + 3] = _mm256_unpackhi_epi32(a[i + 2], a[i + 3]);
    }
    for (size_t i = 0; i < 8; i += 4) {
        r[i] = _mm256_unpacklo_epi64(b[i], b[i + 2]);
        r[i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 2]);
        r[i + 2] = _mm256_unpacklo_epi64(b[i + 1], b[i + 3]);
        r[i + 3] = _mm256_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
}

#define DEFINE_LOOPS(SUFFIX)                                                             \
    TARGET static void pack_##SUFFIX(const grout_pack *pack, const uint8_t *bytes,       \
                                     const int32_t *offsets, float *out) {               \
        size_t count = (size_t)pack->rows * pack->chunks;                                \
        for (size_t i = 0; i < count; i++, out += COUNT) {                               \
            _mm256_storeu_ps(out, widen_##SUFFIX(load(bytes + offsets[i])));             \
        }                                                                                \
    }                                                                                    \
    TARGET static void turn_##SUFFIX(const grout_pack *pack, const uint8_t *bytes,       \
                                     const int32_t *offsets, float *out) {               \
        size_t rows = pack->rows, chunks = pack->chunks;                                 \
        for (size_t i = 0; i < chunks; i++, out += COUNT * rows) {                       \
            for (size_t row = 0; row < rows; row += TURNED_ROWS) {                       \
                const int32_t *first = offsets + row * chunks + i;                       \
                __m256i r[COUNT];                                                        \
                for (size_t k = 0; k < COUNT; k++) {                                     \
                    r[k] = load_pair(bytes, first + k * chunks, COUNT * chunks);         \
                }                                                                        \
                transpose_16(r);                                                         \
                for (size_t k = 0; k < COUNT; k++) {                                     \
                    float *to = out + k * rows + row;                                    \
                    _mm256_storeu_ps(to, widen_##SUFFIX(_mm256_castsi256_si128(r[k])));  \
                    _mm256_storeu_ps(to + COUNT,                                         \
                                     widen_##SUFFIX(_mm256_extracti128_si256(r[k], 1))); \
                }                                                                        \
            }                                                                            \
        }                                                                                \
    }

DEFINE_LOOPS(bf16)
DEFINE_LOOPS(f16)

TARGET static void pack_tf32(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                             float *out) {
    const __m128i mask = _mm_set1_epi32(-8192);
    size_t count = (size_t)pack->rows * pack->chunks;
    for (size_t i = 0; i < count; i++, out += COUNT_F32) {
        __m128i cut = _mm_and_si128(load(bytes + offsets[i]), mask);
        _mm_storeu_ps(out, _mm_castsi128_ps(cut));
    }
}

TARGET static void turn_tf32(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                             float *out) {
    const __m256i mask = _mm256_set1_epi32(-8192);
    size_t rows = pack->rows, chunks = pack->chunks;
    for (size_t i = 0; i < chunks; i++, out += COUNT_F32 * rows) {
        for (size_t row = 0; row < rows; row += TURNED_ROWS_F32) {
            const int32_t *first = offsets + row * chunks + i;
            __m256 r[COUNT_F32], a[COUNT_F32];
            for (size_t k = 0; k < COUNT_F32; k++) {
                __m256i pair = load_pair(bytes, first + k * chunks, COUNT_F32 * chunks);
                r[k] = _mm256_castsi256_ps(_mm256_and_si256(pair, mask));
            }
            a[0] = _mm256_unpacklo_ps(r[0], r[1]);
            a[1] = _mm256_unpackhi_ps(r[0], r[1]);
            a[2] = _mm256_unpacklo_ps(r[2], r[3]);
            a[3] = _mm256_unpackhi_ps(r[2], r[3]);
            float *to = out + row;
            _mm256_storeu_ps(to, _mm256_shuffle_ps(a[0], a[2], 0x44));
            _mm256_storeu_ps(to + rows, _mm256_shuffle_ps(a[0], a[2], 0xee));
            _mm256_storeu_ps(to + 2 * rows, _mm256_shuffle_ps(a[1], a[3], 0x44));
            _mm256_storeu_ps(to + 3 * rows, _mm256_shuffle_ps(a[1], a[3], 0xee));
        }
    }
}

/* ---- floats of 8 bits: half a chunk is 8 of f16, which a factor makes right ---- */

TARGET static inline __m128i make_f16(__m128i wide, bool is_e4m3) {
    if (!is_e4m3) {
        return _mm_slli_epi16(wide, 8);
    }
    const __m128i rest = _mm_and_si128(wide, _mm_set1_epi16(0x7f));
    const __m128i sign = _mm_slli_epi16(_mm_xor_si128(wide, rest), 8);
    const __m128i is_nan = _mm_cmpeq_epi16(rest, _mm_set1_epi16(0x7f));
    const __m128i value =
        _mm_or_si128(_mm_slli_epi16(rest, 7), _mm_and_si128(is_nan, _mm_set1_epi16(0x7e00)));
    return _mm_or_si128(sign, value);
}
TARGET static inline __m256 widen_f8(__m128i half, bool is_e4m3) {
    return _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(is_e4m3 ? 256.0f : 1.0f));
}
TARGET static inline __m128i load_half(const uint8_t *bytes, bool is_e4m3) {
    return make_f16(_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)bytes)),
                    is_e4m3);
}

TARGET static inline void pack_f8(const grout_pack *pack, const uint8_t *bytes,
                                  const int32_t *offsets, float *out, bool is_e4m3) {
    size_t count = (size_t)pack->rows * pack->chunks;
    for (size_t i = 0; i < count; i++) {
        for (size_t half = 0; half < 2; half++, out += COUNT) {
            _mm256_storeu_ps(
                out, widen_f8(load_half(bytes + offsets[i] + COUNT * half, is_e4m3), is_e4m3));
        }
    }
}

/* 16 rows of half a chunk. */
TARGET static inline void turn_f8_rows(const grout_pack *pack, const uint8_t *bytes,
                                       const int32_t *offsets, float *out, bool is_e4m3) {
    __m256i r[COUNT];
    for (size_t k = 0; k < COUNT; k++) {
        const int32_t *at = offsets + k * pack->chunks;
        r[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(bytes + at[0], is_e4m3)),
                                       load_half(bytes + at[(size_t)COUNT * pack->chunks], is_e4m3),
                                       1);
    }
    transpose_16(r);
    for (size_t k = 0; k < COUNT; k++) {
        float *to = out + k * pack->rows;
        _mm256_storeu_ps(to, widen_f8(_mm256_castsi256_si128(r[k]), is_e4m3));
        _mm256_storeu_ps(to + COUNT, widen_f8(_mm256_extracti128_si256(r[k], 1), is_e4m3));
    }
}

TARGET static inline void turn_f8(const grout_pack *pack, const uint8_t *bytes,
                                  const int32_t *offsets, float *out, bool is_e4m3) {
    for (size_t i = 0; i < pack->chunks; i++) {
        for (size_t half = 0; half < 2; half++, out += (size_t)COUNT * pack->rows) {
            for (size_t row = 0; row < pack->rows; row += TURNED_ROWS) {
                turn_f8_rows(pack, bytes + COUNT * half, offsets + row * pack->chunks + i,
                             out + row, is_e4m3);
            }
        }
    }
}

/* ---- integers of 8 bits: a chunk is 8 words of two ---- */

TARGET static inline __m256i widen_bytes(const uint8_t *bytes, bool is_signed) {
    return is_signed ? _mm256_cvtepi8_epi16(load(bytes)) : _mm256_cvtepu8_epi16(load(bytes));
}

TARGET static inline void pack_bytes(const grout_pack *pack, const uint8_t *bytes,
                                     const int32_t *offsets, float *out, bool is_signed) {
    size_t count = (size_t)pack->rows * pack->chunks;
    for (size_t i = 0; i < count; i++, out += COUNT) {
        _mm256_storeu_ps(out, _mm256_castsi256_ps(widen_bytes(bytes + offsets[i], is_signed)));
    }
}

TARGET static inline void turn_bytes(const grout_pack *pack, const uint8_t *bytes,
                                     const int32_t *offsets, float *out, bool is_signed) {
    size_t rows = pack->rows, chunks = pack->chunks;
    for (size_t i = 0; i < chunks; i++, out += COUNT * rows) {
        for (size_t row = 0; row < rows; row += COUNT) {
            float block[COUNT][COUNT];
            for (size_t k = 0; k < COUNT; k++) {
                const uint8_t *chunk = bytes + offsets[(row + k) * chunks + i];
                _mm256_storeu_ps(block[k], _mm256_castsi256_ps(widen_bytes(chunk, is_signed)));
            }
            grout_pack__transpose_block(block[0], COUNT, out + row, rows);
        }
    }
}

#define DEFINE_BYTES(NAME, OF, IS)                                               \
    TARGET static void pack_##NAME(const grout_pack *pack, const uint8_t *bytes, \
                                   const int32_t *offsets, float *out) {         \
        pack_##OF(pack, bytes, offsets, out, IS);                                \
    }                                                                            \
    TARGET static void turn_##NAME(const grout_pack *pack, const uint8_t *bytes, \
                                   const int32_t *offsets, float *out) {         \
        turn_##OF(pack, bytes, offsets, out, IS);                                \
    }
DEFINE_BYTES(e4m3, f8, true)
DEFINE_BYTES(e5m2, f8, false)
DEFINE_BYTES(i8, bytes, true)
DEFINE_BYTES(u8, bytes, false)

static grout_pack_loop *find_narrow(grout_dtype dtype, bool is_turned) {
    if (dtype == GROUT_DTYPE_F8E4M3) {
        return is_turned ? turn_e4m3 : pack_e4m3;
    }
    if (dtype == GROUT_DTYPE_F8E5M2) {
        return is_turned ? turn_e5m2 : pack_e5m2;
    }
    if (dtype == GROUT_DTYPE_I8) {
        return is_turned ? turn_i8 : pack_i8;
    }
    if (dtype == GROUT_DTYPE_U8) {
        return is_turned ? turn_u8 : pack_u8;
    }
    return NULL;
}

grout_pack_loop *grout_pack__find_wide(grout_dtype dtype, bool is_turned) {
    if (grout_gemm__find_wide(GROUT_GEMM_AVX2, false) == NULL) {
        return NULL;
    }
    if (grout_dtype_get_info(dtype)->bytes == 1) {
        return find_narrow(dtype, is_turned);
    }
    if (dtype == GROUT_DTYPE_F16) {
        return is_turned ? turn_f16 : pack_f16;
    }
    if (dtype == GROUT_DTYPE_BF16) {
        return is_turned ? turn_bf16 : pack_bf16;
    }
    return is_turned ? turn_tf32 : pack_tf32;
}

/* SSE2, which every such processor has. */
void grout_pack__transpose_block(const float *in, size_t in_step, float *out, size_t out_step) {
    for (size_t row = 0; row < GROUT_PACK_BLOCK; row += 4) {
        for (size_t col = 0; col < GROUT_PACK_BLOCK; col += 4) {
            const float *from = in + row * in_step + col;
            float *to = out + col * out_step + row;
            __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + in_step),
                   c = _mm_loadu_ps(from + 2 * in_step), d = _mm_loadu_ps(from + 3 * in_step);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(to, a);
            _mm_storeu_ps(to + out_step, b);
            _mm_storeu_ps(to + 2 * out_step, c);
            _mm_storeu_ps(to + 3 * out_step, d);
        }
    }
}

#else

void grout_pack__transpose_block(const float *in, size_t in_step, float *out, size_t out_step) {
    for (size_t row = 0; row < GROUT_PACK_BLOCK; row++) {
        for (size_t col = 0; col < GROUT_PACK_BLOCK; col++) {
            out[col * out_step + row] = in[row * in_step + col];
        }
    }
}

grout_pack_loop *grout_pack__find_wide(grout_dtype dtype, bool is_turned) {
    (void)dtype;
    (void)is_turned;
    return NULL;
}

#endif
