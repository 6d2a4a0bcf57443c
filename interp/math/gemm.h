/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * gemm.h - the product of two packed tiles. By 'exact' numerics it is tensor_core.h's; what follows
 * is what 'fast' numerics means, bit for bit.
 *
 * c[n][m] = fma(a[k][m], b[n][k], c[n][m]) for k = 0, 1, ... in turn, in f32, rounded to nearest
 * even at each step; or b[k][n], as it comes. An f16 accumulator is kept as f32: after every
 * round_step of k, an instruction's, it is rounded to f16 (to nearest even). Every loop gives these
 * bits; only which NaN a NaN is may differ (grout_accumulator__load makes them one). By both
 * numerics integers wrap or, if they saturate, are clamped after every 32 of k, an instruction's.
 */
#ifndef GROUT_INTERP_GEMM_H
#define GROUT_INTERP_GEMM_H

#include "tensor_core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUT_GEMM_ROWS 16 /* m is a multiple of this many */

/* The loops there are, the slowest first. */
typedef enum grout_gemm_kind {
    GROUT_GEMM_PLAIN,   /* C */
    GROUT_GEMM_AVX2,    /* with FMA and F16C */
    GROUT_GEMM_AVX512,  /* F, BW, DQ and VL */
    GROUT_GEMM_LIBXSMM, /* code made for the shape; for f32 accumulators */
    GROUT_GEMM_KIND_COUNT
} grout_gemm_kind;

typedef struct grout_gemm grout_gemm;
typedef void grout_gemm_loop(const grout_gemm *gemm, float *c, const float *a, const float *b);

/* Tiles lie without gaps: a [k][m], b [n][k] or [k][n], c [n][m], whose columns may lie pitch
 * elements apart (not by exact numerics); m % 16 == 0, n and k % 8 == 0. Those of integers are
 * words of two i16, neighbours along K: a [k / 2][m], b [n][k / 2]; c is i32.
 */
struct grout_gemm {
    uint32_t m, n, k;
    uint32_t pitch;      /* of c; 0: m */
    bool has_k_rows;     /* b is [k][n] */
    bool is_integer;     /* an i32 accumulator */
    bool is_saturating;  /* its sums stop at the largest and the least i32; k % 32 == 0 */
    uint8_t group;       /* not 0: a keeps of each this many of K half, see sparse.h */
    uint8_t scale_block; /* not 0: this many of a's K have a scale, see scaled.h */
    uint8_t scale_dtype;
    uint8_t round_step;     /* of an f16 accumulator: then k is a multiple of it; 0: of others */
    uint8_t kind;           /* grout_gemm_kind */
    grout_tensor_core core; /* exact numerics, for k in its blocks; block 0: fast */
    grout_gemm_loop *loop;
    void *code; /* LIBXSMM's, executable; NULL: loop counts */
    size_t code_size;
};

static inline uint32_t grout_gemm__get_pitch(const grout_gemm *gemm) {
    return gemm->pitch != 0 ? gemm->pitch : gemm->m;
}

/* "LIBXSMM", "AVX-512", "AVX2", "C". */
const char *grout_gemm__get_text(grout_gemm_kind kind);
/* Sets the fastest kind for the shape up to the one given; never fails. */
void grout_gemm__init(grout_gemm *gemm, grout_gemm_kind fastest);
void grout_gemm__deinit(grout_gemm *gemm);
/* c += a b. */
void grout_gemm__run(const grout_gemm *gemm, float *c, const float *a, const float *b);

/* Every NaN that a sum can be, a quiet one, becomes the one that the tensor core makes: poison
 * stays. count % 16 == 0. */
void grout_gemm__unify_nans(float *values, size_t count);

/* gemm_x86.c: a loop of the processor's vector instructions, or NULL: not on this one. */
grout_gemm_loop *grout_gemm__find_wide(grout_gemm_kind kind, bool is_integer);
/* The same file: whether there may be a NaN; count % 16 == 0. */
bool grout_gemm__may_have_nan(const float *values, size_t count);
/* gemm_libxsmm.c: makes code for the shape; false if there is no LIBXSMM, or it cannot. */
bool grout_gemm__make_code(grout_gemm *gemm);
void grout_gemm__free_code(grout_gemm *gemm);

/* Rounds to f16 and back. NaN stays one. */
float grout_gemm__round_f16(float value);

#endif
