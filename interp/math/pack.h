/*
 * pack.h - tiles of 16-byte chunks, as swizzled SMEM keeps them, widened to f32 (8-bit integers to
 * i16) and laid out as grout_gemm__run wants them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PACK_H
#define GROUT_INTERP_PACK_H

#include "grout-internal/ir.h"

#define GROUT_PACK_CHUNK 16 /* bytes that lie together whatever the swizzle */
#define GROUT_PACK_BLOCK 8

/*
 * A tile of rows x chunks: chunk i of row r lies at bytes + offsets[r * chunks + i] and holds
 * elements i * c .. of the row, c = 16 / element size. With cols = chunks * c, element e of row r
 * goes to out[r * cols + e], or turned to out[e * rows + r]. Floats of 4 to 16 bits widen exactly
 * (of 4 bits two lie in a byte);
 * f32 is cut to tf32: its low 13 bits become 0. Two neighbours of a row of i8 or u8, as i16, make
 * one word, which goes where an element e of words would; of a tile that has_k_rows it is two
 * neighbours of a column: element e of rows r and r + 1 goes to out[r / 2 * cols + e], or turned to
 * out[e * (rows / 2) + r / 2]. Turned tiles have rows % 16 == 0, those
 * of f32, i8 and u8 rows % 8 == 0.
 */
typedef struct grout_pack grout_pack;
typedef void grout_pack_loop(const grout_pack *pack, const uint8_t *bytes, const int32_t *offsets,
                             float *out);
struct grout_pack {
    uint8_t dtype;  /* F16, BF16, F32, F8E4M3, F8E5M2, F6E2M3, F6E3M2, F4E2M1, I8 or U8 */
    bool is_padded; /* of F4E2M1: one in a byte, as the machine keeps what is 'padded' */
    bool is_turned;
    bool has_k_rows; /* of I8 and U8, which are multiplied two along K at a time */
    uint32_t rows, chunks;
    grout_pack_loop *loop;
};

/* Sets the loop: the processor's vector instructions if is_wide, else plain C. */
void grout_pack__init(grout_pack *pack, bool is_wide);
static inline void grout_pack__run(const grout_pack *pack, const uint8_t *bytes,
                                   const int32_t *offsets, float *out) {
    pack->loop(pack, bytes, offsets, out);
}

/* out[c * rows + r] = in[r * cols + c]; rows and cols are multiples of GROUT_PACK_BLOCK. */
void grout_pack__transpose(const float *in, uint32_t rows, uint32_t cols, float *out);

/* pack_x86.c: loops of the processor's vector instructions, or NULL. */
grout_pack_loop *grout_pack__find_wide(grout_dtype dtype, bool is_turned);
/* The same file: a square of GROUT_PACK_BLOCK, its lines this many elements apart. */
void grout_pack__transpose_block(const float *in, size_t in_step, float *out, size_t out_step);

/* An 8-bit float as f32, exactly; a NaN as one. */
float grout_pack__widen_f8(uint8_t byte, bool is_e4m3);
/* An f16 as f32, exactly, NaN with its payload; and back, where the value has an f16. */
float grout_pack__widen_f16(uint16_t half);
uint16_t grout_pack__narrow_f16(float value);

#endif
