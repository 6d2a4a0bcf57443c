/*
 * proof_num.c - grout_num.cuh on a GPU against num.h, and its casts against a slow reference that
 * rounds exact values once.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "grout/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proof.h"

#define PAIRS        (UINT64_C(1) << 18)
#define VALUES       (UINT64_C(1) << 16)
#define OP_ROWS      46
#define SOURCE_COUNT UINT64_C(14)
#define TARGET_COUNT UINT64_C(15)

/* ---- types ---- */

/* Floats: bits of significand stored and least exponent; integers and bool have none. */
typedef struct number_type {
    const char *name;
    int bits;
    bool is_float, is_signed;
    short fraction_bits, exponent_min;
    bool is_saturating; /* a float type whose casts never make an infinity */
} number_type;

static const number_type types[TARGET_COUNT] = {
    {"i8", 8, false, true, 0, 0, false},      {"u8", 8, false, false, 0, 0, false},
    {"i16", 16, false, true, 0, 0, false},    {"u16", 16, false, false, 0, 0, false},
    {"i32", 32, false, true, 0, 0, false},    {"u32", 32, false, false, 0, 0, false},
    {"i64", 64, false, true, 0, 0, false},    {"u64", 64, false, false, 0, 0, false},
    {"f8e4m3", 8, true, true, 3, -6, true},   {"f8e5m2", 8, true, true, 2, -14, true},
    {"f16", 16, true, true, 10, -14, false},  {"bf16", 16, true, true, 7, -126, false},
    {"f32", 32, true, true, 23, -126, false}, {"f64", 64, true, true, 52, -1022, false},
    {"bool", 8, false, false, 0, 0, false},
};

static uint64_t mask_of(const number_type *type) {
    return type->bits == 64 ? UINT64_MAX : (UINT64_C(1) << type->bits) - 1;
}

/* The largest finite magnitude's bits. E4M3 has no infinity, and one NaN. */
static uint64_t largest_bits(const number_type *type) {
    const uint64_t magnitudes = mask_of(type) >> 1;
    if (strcmp(type->name, "f8e4m3") == 0) {
        return magnitudes - 1;
    }
    return magnitudes - (UINT64_C(1) << type->fraction_bits);
}

static bool is_nan_bits(const number_type *type, uint64_t bits) {
    const uint64_t magnitude = bits & (mask_of(type) >> 1);
    const bool has_infinity = strcmp(type->name, "f8e4m3") != 0;
    return type->is_float && magnitude > largest_bits(type) + (has_infinity ? 1 : 0);
}

/* The exact value; long double holds every i64, u64 and f64 (x87: 64 bits of significand). */
static long double decode(const number_type *type, uint64_t bits) {
    bits &= mask_of(type);
    if (!type->is_float) {
        if (!type->is_signed) {
            return (long double)bits;
        }
        const int shift = 64 - type->bits;
        return (long double)((int64_t)(bits << shift) >> shift);
    }
    const uint64_t magnitude = bits & (mask_of(type) >> 1);
    const uint64_t fraction = magnitude & ((UINT64_C(1) << type->fraction_bits) - 1);
    const int exponent = (int)(magnitude >> type->fraction_bits);
    long double value;
    if (is_nan_bits(type, bits)) {
        return (long double)NAN;
    }
    if (magnitude > largest_bits(type)) {
        value = (long double)INFINITY;
    } else if (exponent == 0) {
        value = ldexpl((long double)fraction, type->exponent_min - type->fraction_bits);
    } else {
        value = ldexpl((long double)(fraction + (UINT64_C(1) << type->fraction_bits)),
                       exponent - 1 + type->exponent_min - type->fraction_bits);
    }
    return bits == magnitude ? value : -value;
}

/* Rounds a value, which is no NaN, once. */
static uint64_t encode_float(const number_type *type, long double value) {
    const uint64_t sign = signbit(value) ? UINT64_C(1) << (type->bits - 1) : 0;
    const long double magnitude = fabsl(value);
    const uint64_t infinity = type->is_saturating ? largest_bits(type) : largest_bits(type) + 1;
    if (isinf(magnitude)) {
        return sign | infinity;
    }
    int exponent = magnitude == 0 ? type->exponent_min : ilogbl(magnitude);
    if (exponent < type->exponent_min) {
        exponent = type->exponent_min;
    }
    /* Units in the last place, ties to even. An overflow to the next exponent comes out right. */
    const uint64_t units = (uint64_t)rintl(ldexpl(magnitude, type->fraction_bits - exponent));
    const uint64_t bits =
        ((uint64_t)(exponent - type->exponent_min) << type->fraction_bits) + units;
    return sign | (bits > largest_bits(type) ? infinity : bits);
}

static uint64_t cast(const number_type *from, const number_type *to, uint64_t bits) {
    const long double value = decode(from, bits);
    if (strcmp(to->name, "bool") == 0) {
        return isnan(value) || value != 0;
    }
    if (to->is_float) {
        return encode_float(to, value);
    }
    if (!from->is_float) {
        const int shift = 64 - from->bits;
        const uint64_t narrow = bits & mask_of(from);
        return (from->is_signed ? (uint64_t)((int64_t)(bits << shift) >> shift) : narrow) &
               mask_of(to);
    }
    if (isnan(value)) {
        return 0;
    }
    const long double low = to->is_signed ? -ldexpl(1, to->bits - 1) : 0;
    const long double high = ldexpl(1, to->is_signed ? to->bits - 1 : to->bits) - 1;
    const long double whole = truncl(value);
    const long double clamped = whole < low ? low : whole > high ? high : whole;
    return (clamped < 0 ? (uint64_t)(int64_t)clamped : (uint64_t)clamped) & mask_of(to);
}

/* ---- inputs ---- */

static uint64_t next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t pick_word(uint64_t *state) {
    static const uint32_t edges[] = {
        0,          1,          2,          3,          31,         32,         33,
        0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x7f800000, 0xff800000,
        0x7fc00000, 0x7f800001, 0x3f800000, 0xbf800000, 0x00800000, 0x007fffff, 0x7f7fffff,
        0xffffffe0, 0x33800000, 0x4b800000, 0x4f000000, 0xcf000000, 0x477fe000, 0x477ff000,
    };
    const uint64_t random = next_random(state);
    return random % 3 == 0 ? edges[(random >> 8) % (sizeof edges / sizeof edges[0])]
                           : (uint32_t)(random >> 32);
}

/* ---- operations ---- */

#define COMMON(T, a, b)                        \
    {                                          \
        row[0] = TO_BITS_##T(GROUT_ADD(a, b)); \
        row[1] = TO_BITS_##T(GROUT_SUB(a, b)); \
        row[2] = TO_BITS_##T(GROUT_MUL(a, b)); \
        row[3] = TO_BITS_##T(GROUT_DIV(a, b)); \
        row[4] = TO_BITS_##T(GROUT_MIN(a, b)); \
        row[5] = TO_BITS_##T(GROUT_MAX(a, b)); \
        row[6] = TO_BITS_##T(GROUT_NEG(a));    \
        row[7] = TO_BITS_##T(GROUT_ABS(a));    \
        row[8] = (uint32_t)GROUT_LT(a, b);     \
        row[9] = (uint32_t)GROUT_EQ(a, b);     \
    }
#define INTEGERS(a, b)                        \
    {                                         \
        row[10] = (uint32_t)GROUT_REM(a, b);  \
        row[11] = (uint32_t)GROUT_CDIV(a, b); \
        row[12] = (uint32_t)GROUT_SHL(a, b);  \
        row[13] = (uint32_t)GROUT_SHR(a, b);  \
        row[14] = (uint32_t)GROUT_AND(a, b);  \
        row[15] = (uint32_t)GROUT_OR(a, b);   \
        row[16] = (uint32_t)GROUT_XOR(a, b);  \
        row[17] = (uint32_t)GROUT_NOT(a);     \
    }
#define TO_BITS_int(x)   (uint32_t)(x)
#define TO_BITS_float(x) grout_bits_f32(x)

static void expect_operations(uint32_t a, uint32_t b, uint32_t *row) {
    const int32_t ai = grout_wrap_i32(a);
    const int32_t bi = grout_wrap_i32(b);
    const float af = grout_from_bits_f32(a);
    const float bf = grout_from_bits_f32(b);
    COMMON(int, ai, bi)
    INTEGERS(ai, bi)
    row += 18;
    COMMON(int, a, b)
    INTEGERS(a, b)
    row += 18;
    COMMON(float, af, bf)
}

static bool is_nan_word(uint32_t bits) {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

static void compare_operations(proof_tools *t, const uint32_t *a, const uint32_t *b,
                               const uint32_t *out) {
    uint64_t bad = 0;
    uint64_t other_nan = 0;
    uint32_t gpu_nan = 0;
    uint32_t row[OP_ROWS];
    for (uint64_t i = 0; i < PAIRS; i++) {
        expect_operations(a[i], b[i], row);
        for (uint32_t k = 0; k < OP_ROWS; k++) {
            const uint32_t got = out[k * PAIRS + i];
            if (got == row[k]) {
                continue;
            }
            if (k >= 36 && k < 40 && is_nan_word(got) && is_nan_word(row[k])) {
                other_nan++; /* of add, sub, mul and div: num.h leaves the bits to the processor */
                gpu_nan = got;
            } else if (bad++ < 8) {
                printf("     row %" PRIu32 " of %08" PRIx32 ", %08" PRIx32 ": GPU %08" PRIx32
                       ", num.h %08" PRIx32 "\n",
                       k, a[i], b[i], got, row[k]);
            }
        }
    }
    char detail[160];
    (void)snprintf(detail, sizeof detail,
                   "%" PRIu64 " of %" PRIu64 " differ; %" PRIu64
                   " NaN with other bits, the GPU's as %08" PRIx32,
                   bad, PAIRS * OP_ROWS, other_nan, gpu_nan);
    proof_report(t, bad == 0, "arithmetic against num.h", detail);
}

/* ---- casts ---- */

/* One source type to one target type; returns how many are wrong, and the bits of a NaN. */
static uint64_t compare_pair(const number_type *from, const number_type *to, const uint64_t *in,
                             const uint64_t *out, uint64_t *nan) {
    uint64_t bad = 0;
    for (uint64_t i = 0; i < VALUES; i++) {
        if (is_nan_bits(from, in[i] & mask_of(from)) && to->is_float) {
            *nan = out[i];
            bad += !is_nan_bits(to, out[i]);
            continue;
        }
        const uint64_t expected = cast(from, to, in[i]);
        if (out[i] != expected && bad++ < 4) {
            printf("     %s to %s of %" PRIx64 ": GPU %" PRIx64 ", expected %" PRIx64 "\n",
                   from->name, to->name, in[i] & mask_of(from), out[i], expected);
        }
    }
    return bad;
}

static void compare_casts(proof_tools *t, const uint64_t *in, const uint64_t *out) {
    uint64_t bad = 0;
    uint64_t nans[TARGET_COUNT] = {0};
    for (uint64_t s = 0; s < SOURCE_COUNT; s++) {
        for (uint64_t d = 0; d < TARGET_COUNT; d++) {
            bad += compare_pair(&types[s], &types[d], in, out + (s * TARGET_COUNT + d) * VALUES,
                                &nans[d]);
        }
    }
    char detail[256];
    (void)snprintf(detail, sizeof detail,
                   "%" PRIu64 " of %" PRIu64 " differ; NaN as e4m3 %" PRIx64 " e5m2 %" PRIx64
                   " f16 %" PRIx64 " bf16 %" PRIx64 " f32 %" PRIx64 " f64 %" PRIx64,
                   bad, SOURCE_COUNT * TARGET_COUNT * VALUES, nans[8], nans[9], nans[10], nans[11],
                   nans[12], nans[13]);
    proof_report(t, bad == 0, "casts against the reference", detail);
}

/* ---- the launch ---- */

static grout_gpu_param buffer(uint32_t index) {
    return (grout_gpu_param){.kind = GROUT_GPU_PARAM_BUFFER, .buffer = index};
}

static grout_gpu_param count_of(uint64_t value) {
    grout_gpu_param param = {.kind = GROUT_GPU_PARAM_SCALAR, .scalar_size = 8};
    memcpy(param.scalar, &value, sizeof value);
    return param;
}

typedef struct data {
    uint32_t a[PAIRS], b[PAIRS], pairs_out[OP_ROWS * PAIRS];
    uint64_t in[VALUES], casts_out[SOURCE_COUNT * TARGET_COUNT * VALUES];
} data;

static void make_inputs(data *all) {
    uint64_t state = 20261121;
    for (uint64_t i = 0; i < PAIRS; i++) {
        all->a[i] = pick_word(&state);
        all->b[i] = pick_word(&state);
    }
    for (uint64_t i = 0; i < VALUES; i++) {
        /* Low 16 bits: each pattern once. A third have their edges in the upper word, as f64 do. */
        const uint64_t high = pick_word(&state);
        const uint64_t low = i % 3 == 0 ? 0 : next_random(&state) & 0xffff0000u;
        all->in[i] = high << 32 | low | i;
        if (i % 3 == 1) { /* An f64 near the values that narrow types hold. */
            const double near = ldexp((double)(int64_t)next_random(&state), -63) *
                                ldexp(1, (int)(next_random(&state) % 60) - 30);
            memcpy(&all->in[i], &near, sizeof near);
            all->in[i] = (all->in[i] & ~UINT64_C(0xffff)) | i;
        }
    }
}

void proof_num(proof_tools *t, bool compile_only) {
    static const char *const options[] = {"--fmad=false", "--std=c++17"};
    grout_gpu_compiled compiled = proof_compile(t, "proof_num.cu", options, 2);
    const void *image = compiled.image;
    data *all = proof_allocate(sizeof *all);
    make_inputs(all);
    const grout_gpu_buffer buffers[] = {
        {.name = "a", .direction = GROUT_GPU_IN, .size = sizeof all->a, .input = all->a},
        {.name = "b", .direction = GROUT_GPU_IN, .size = sizeof all->b, .input = all->b},
        {.name = "in", .direction = GROUT_GPU_IN, .size = sizeof all->in, .input = all->in},
        {.name = "pairs",
         .direction = GROUT_GPU_OUT,
         .size = sizeof all->pairs_out,
         .output = all->pairs_out},
        {.name = "casts",
         .direction = GROUT_GPU_OUT,
         .size = sizeof all->casts_out,
         .output = all->casts_out},
    };
    const grout_gpu_param pair_params[] = {buffer(0), buffer(1), buffer(3), count_of(PAIRS)};
    const grout_gpu_param cast_params[] = {buffer(2), buffer(4), count_of(VALUES)};
    const grout_gpu_step steps[] = {
        {.kernel = "operations",
         .shape = {.grid = {(uint32_t)(PAIRS / 256), 1, 1}, .block = {256, 1, 1}},
         .params = pair_params,
         .param_count = 4},
        {.kernel = "casts",
         .shape = {.grid = {(uint32_t)(VALUES / 256), 1, 1}, .block = {256, 1, 1}},
         .params = cast_params,
         .param_count = 3},
    };
    const grout_gpu_job launch = {.cc_major = 9,
                                  .images = &image,
                                  .image_count = 1,
                                  .buffers = buffers,
                                  .buffer_count = 5,
                                  .steps = steps,
                                  .step_count = 2,
                                  .timeout_ms = 30000};
    grout_gpu_outcome outcome = {0};
    grout_gpu_error error = {0};
    if (compile_only) {
        /* The reference is its own test: what widens exactly comes back. */
        for (uint64_t i = 0; i < 65536; i++) {
            const uint64_t back = cast(&types[12], &types[10], cast(&types[10], &types[12], i));
            if (!is_nan_bits(&types[10], i) && back != i) {
                proof_report(t, false, "reference cast", "f16 to f32 and back");
                break;
            }
        }
    } else if (grout_gpu__launch_run(&launch, &outcome, &error)) {
        compare_operations(t, all->a, all->b, all->pairs_out);
        compare_casts(t, all->in, all->casts_out);
    } else {
        proof_report(t, false, "arithmetic", error.text);
    }
    grout_gpu__outcome_deinit(&outcome);
    grout_gpu__compiled_deinit(&compiled);
    free(all);
}
