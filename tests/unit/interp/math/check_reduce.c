/* check_reduce.c - the order of float sums against a simple model; reductions of every type, along
 * every dimension, in every instruction set; undefined elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/convert.h"
#include "interp/math/loops.h"

#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <inttypes.h>
#include <math.h>

/* ---- the model ----------------------------------------------------------------------------------
 */

/* The definition in docs/language.md, word for word; element i is x[i * pitch]. */
static float model_sum(const float *x, int64_t count, int64_t pitch) {
    if (count > 256) {
        int64_t part = 256;
        while (part * 2 < count) {
            part *= 2;
        }
        return model_sum(x, part, pitch) + model_sum(x + part * pitch, count - part, pitch);
    }
    float sums[16];
    for (int64_t j = 0; j < 16; j++) {
        sums[j] = -0.0f;
        for (int64_t i = j; i < count; i += 16) {
            sums[j] += x[i * pitch];
        }
    }
    for (int64_t half = 8; half > 0; half /= 2) {
        for (int64_t j = 0; j < half; j++) {
            sums[j] += sums[j + half];
        }
    }
    return sums[0];
}

static uint32_t get_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static const struct shape {
    int64_t rows, columns;
} shapes[] = {{1, 1},    {2, 1},    {15, 1},    {16, 1},   {17, 1},   {255, 1},   {256, 1},
              {257, 1},  {511, 1},  {513, 1},   {1000, 1}, {4097, 1}, {70000, 1}, {1, 5},
              {3, 31},   {16, 32},  {17, 33},   {100, 64}, {256, 7},  {257, 100}, {600, 2},
              {1500, 3}, {64, 128}, {128, 257}, {5000, 33}};
#define SHAPES ((int)(sizeof shapes / sizeof shapes[0]))
enum { ELEMENTS = 170000 };

static void fill(float *x, int64_t count, uint32_t seed) {
    for (int64_t i = 0; i < count; i++) {
        int exponent = (int)(next_random(&seed) % 20) - 10;
        x[i] = ldexpf((float)next_random(&seed) - 0x1p23f, exponent - 23);
    }
}

TEST_EACH(sums_keep_their_order, SHAPES) {
    const struct shape *s = &shapes[_i];
    static float x[ELEMENTS], result[300];
    fill(x, s->rows * s->columns, (uint32_t)_i + 1);
    for (int simd = 0; simd < GROUT_SIMD_COUNT; simd++) {
        if (!grout_simd__has((grout_simd)simd)) {
            continue;
        }
        const grout_reduce *reduce =
            grout_loops__find_reduce(GROUT_OP_REDUCE_SUM, GROUT_DTYPE_F32, (grout_simd)simd);
        grout_reduce_box box = {x, s->rows, s->columns};
        grout_loops__reduce(reduce, GROUT_DTYPE_F32, result, &box);
        for (int64_t j = 0; j < s->columns; j++) {
            float expected = model_sum(x + j, s->rows, s->columns);
            ck_assert_msg(get_bits(result[j]) == get_bits(expected), "set %d column %d: %a, not %a",
                          simd, (int)j, (double)result[j], (double)expected);
        }
    }
}

/* f16 and bf16 are summed in f32 and rounded once. */
TEST_EACH(narrow_sums_round_once, 2 * SHAPES) {
    static const grout_dtype dtypes[] = {GROUT_DTYPE_F16, GROUT_DTYPE_BF16};
    const struct shape *s = &shapes[_i / 2];
    grout_dtype dtype = dtypes[_i % 2];
    static float wide[ELEMENTS];
    static uint16_t x[ELEMENTS], result[300];
    int64_t count = s->rows * s->columns;
    fill(wide, count, (uint32_t)_i + 1);
    grout_convert(GROUT_DTYPE_F32, wide, dtype, x, count);
    grout_convert(dtype, x, GROUT_DTYPE_F32, wide, count);
    const grout_reduce *reduce =
        grout_loops__find_reduce(GROUT_OP_REDUCE_SUM, dtype, grout_simd__get_best());
    grout_loops__reduce(reduce, dtype, result, &(grout_reduce_box){x, s->rows, s->columns});
    for (int64_t j = 0; j < s->columns; j++) {
        float sum = model_sum(wide + j, s->rows, s->columns);
        uint16_t expected;
        grout_convert(GROUT_DTYPE_F32, &sum, dtype, &expected, 1);
        ck_assert_uint_eq(result[j], expected);
    }
}

/* The bound of the order: 20 additions and one more for each doubling beyond 256. */
TEST(sums_are_accurate) {
    enum { COUNT = 1 << 20 };
    float *x = malloc(COUNT * sizeof *x), result;
    double exact = 0, size = 0;
    uint32_t state = 7;
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = (float)next_random(&state) * 0x1p-24f;
        exact += (double)x[i];
        size += fabs((double)x[i]);
    }
    const grout_reduce *reduce =
        grout_loops__find_reduce(GROUT_OP_REDUCE_SUM, GROUT_DTYPE_F32, grout_simd__get_best());
    grout_loops__reduce(reduce, GROUT_DTYPE_F32, &result, &(grout_reduce_box){x, COUNT, 1});
    ck_assert(fabs((double)result - exact) <= 32 * 0x1p-24 * size);
    ck_assert(fabs((double)result - exact) <= 2 * 0x1p-24 * size); /* what it is in fact */
    free(x);
}

/* ---- all ops and types --------------------------------------------------------------------------
 */

/* Cut to the width of the type. */
static const uint64_t words[] = {0,
                                 1,
                                 UINT64_C(0x7fffffffffffffff),
                                 UINT64_C(0x8000000000000000),
                                 UINT64_MAX,
                                 UINT64_C(0x8000000000000081),
                                 UINT64_C(0x1234567812345678),
                                 0x8000,
                                 UINT64_MAX - 1};
static const double floats[] = {-0.0,      0.0,      1.0,       -1.0,          (double)INFINITY,
                                -INFINITY, 0x1p-149, -0x1p-149, 0x1.fffffep127};

static bool is_float(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
}

/* The elements are exact in f32 and f64. */
static double combine_floats(grout_opcode opcode, double x, double y) {
    bool is_max = opcode == GROUT_OP_REDUCE_MAX;
    if (x == y) { /* zeros: -0 is less */
        return (signbit(x) != 0) == is_max ? y : x;
    }
    return (is_max ? y > x : y < x) ? y : x;
}

static uint64_t combine(grout_opcode opcode, grout_dtype dtype, uint64_t a, uint64_t b) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const uint64_t mask = UINT64_MAX >> (64 - 8 * info->bytes);
    const uint64_t sign = info->class_ == GROUT_CLASS_SINT ? mask - mask / 2 : 0;
    switch ((int)opcode) {
    case GROUT_OP_REDUCE_SUM:
        return (a + b) & mask;
    case GROUT_OP_REDUCE_PROD:
        return (a * b) & mask;
    case GROUT_OP_REDUCE_AND:
        return a & b;
    case GROUT_OP_REDUCE_OR:
        return a | b;
    case GROUT_OP_REDUCE_XOR:
        return a ^ b;
    case GROUT_OP_REDUCE_MAX:
        return (a ^ sign) < (b ^ sign) ? b : a;
    case GROUT_OP_REDUCE_MIN:
        return (a ^ sign) < (b ^ sign) ? a : b;
    default:
        ck_abort_msg("no reference for op '%s'", grout_op_get_info(opcode)->text);
    }
    return 0;
}

enum { ROWS = 300, COLUMNS = 40 };

static uint64_t draw_word(grout_dtype dtype, uint32_t *state) {
    const uint32_t index = next_random(state) % 9;
    const uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    return dtype == GROUT_DTYPE_BOOL ? index % 2 : words[index] & UINT64_MAX >> (64 - 8 * bytes);
}

static void check_reduction(grout_opcode opcode, grout_dtype dtype, grout_simd simd,
                            const struct shape *shape) {
    static uint64_t x[ROWS * COLUMNS], result[COLUMNS]; /* elements of the type */
    static uint64_t expected[COLUMNS];
    const uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    const grout_reduce *reduce = grout_loops__find_reduce(opcode, dtype, simd);
    uint32_t state = (uint32_t)shape->rows;
    ck_assert_msg(reduce != NULL, "op '%s' has no loop for %s", grout_op_get_info(opcode)->text,
                  grout_dtype_get_info(dtype)->text);
    for (int64_t i = 0; i < shape->rows * shape->columns; i++) {
        uint64_t *to = &expected[i % shape->columns];
        uint64_t bits = draw_word(dtype, &state);
        if (is_float(dtype)) {
            double before, value = floats[state >> 8 & 7];
            memcpy(&before, to, sizeof before);
            grout_element_from_double(dtype, value, &bits);
            before = i < shape->columns ? value : combine_floats(opcode, before, value);
            memcpy(to, &before, sizeof before);
        } else {
            *to = i < shape->columns ? bits : combine(opcode, dtype, *to, bits);
        }
        memcpy((uint8_t *)x + (size_t)i * bytes, &bits, bytes);
    }
    grout_loops__reduce(reduce, dtype, result, &(grout_reduce_box){x, shape->rows, shape->columns});
    for (int64_t j = 0; j < shape->columns; j++) {
        uint64_t got = 0, wanted = expected[j];
        memcpy(&got, (const uint8_t *)result + (size_t)j * bytes, bytes);
        if (is_float(dtype)) {
            double value;
            memcpy(&value, &wanted, sizeof value);
            wanted = 0;
            grout_element_from_double(dtype, value, &wanted);
        }
        ck_assert_uint_eq(got, wanted);
    }
}

/* Sums and products of floats depend on the order: see above. */
static bool is_any_order(grout_opcode opcode, grout_dtype dtype) {
    return !is_float(dtype) || opcode == GROUT_OP_REDUCE_MAX || opcode == GROUT_OP_REDUCE_MIN;
}

static void check_op(grout_opcode opcode, grout_dtype dtype) {
    for (int simd = 0; simd < GROUT_SIMD_COUNT; simd++) {
        struct shape shape = {.columns = 1};
        for (shape.rows = 1; shape.rows <= ROWS; shape.rows += 1 + shape.rows / 3) {
            if (grout_simd__has((grout_simd)simd)) {
                check_reduction(opcode, dtype, (grout_simd)simd, &shape);
            }
            shape.columns = (shape.columns + 12) % COLUMNS + 1;
        }
    }
}

TEST_FROM(every_op_and_type, 1, GROUT_DTYPE_COUNT) {
    const grout_dtype dtype = (grout_dtype)_i;
    for (grout_opcode opcode = 1; opcode < GROUT_OP_COUNT; opcode++) {
        const grout_op_info *info = grout_op_get_info(opcode);
        if (info->form == GROUT_FORM_REDUCE && is_any_order(opcode, dtype) &&
            grout_loops__get_compute_dtype(dtype) == dtype &&
            grout_type_rule_takes((grout_type_rule)info->types, dtype)) {
            check_op(opcode, dtype);
        }
    }
}

/* A product in the order of sums: powers of two, so that every order gives the same bits. */
TEST_EACH(products_of_floats, 3) {
    static const grout_dtype dtypes[] = {GROUT_DTYPE_F32, GROUT_DTYPE_F64, GROUT_DTYPE_BF16};
    enum { COUNT = 1000 };
    static uint64_t x[COUNT];
    const grout_dtype dtype = dtypes[_i];
    const uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    for (uint32_t i = 0; i < COUNT; i++) {
        const double values[] = {2, 0.5, -1, 1};
        grout_element_from_double(dtype, i == 0 ? 8 : values[i % 4],
                                  (uint8_t *)x + (size_t)i * bytes);
    }
    uint64_t result = 0;
    const grout_reduce *reduce =
        grout_loops__find_reduce(GROUT_OP_REDUCE_PROD, dtype, grout_simd__get_best());
    grout_loops__reduce(reduce, dtype, &result, &(grout_reduce_box){x, COUNT, 1});
    /* 8 instead of a 2 of 250 pairs 2 * 0.5; an even number of -1. */
    ck_assert(grout_element_to_double(dtype, &result) == 4);
}

TEST(nan_wins) {
    for (uint32_t at = 0; at < 300; at += 7) {
        float x[300], result;
        for (uint32_t i = 0; i < 300; i++) {
            x[i] = i == at ? NAN : (float)i;
        }
        for (uint32_t k = 0; k < 2; k++) {
            const grout_reduce *reduce =
                grout_loops__find_reduce(k == 0 ? GROUT_OP_REDUCE_MAX : GROUT_OP_REDUCE_MIN,
                                         GROUT_DTYPE_F32, grout_simd__get_best());
            grout_loops__reduce(reduce, GROUT_DTYPE_F32, &result, &(grout_reduce_box){x, 300, 1});
            ck_assert(isnan(result));
        }
    }
}

/* ---- through kernels ----------------------------------------------------------------------------
 */

#define IOTA \
    "%v = iota dim(1) : i32[2, 3, 2]\n %w = add (mul %v, 10), (iota dim(0) : i32[2, 3, 2])\n"

static const struct value_case {
    const char *text;
    uint32_t count;
    double expected[8];
} value_cases[] = {
    {"kernel @k(%y: out gmem i32[3, 2]) { " IOTA " store %y, (reduce_sum %w dim(0)) }",
     6,
     {1, 1, 21, 21, 41, 41}},
    {"kernel @k(%y: out gmem i32[2, 2]) { " IOTA " store %y, (reduce_max %w dim(1)) }",
     4,
     {20, 20, 21, 21}},
    {"kernel @k(%y: out gmem i32[2, 3]) { " IOTA " store %y, (reduce_sum %w dim(2)) }",
     6,
     {0, 20, 40, 2, 22, 42}},
    {"kernel @k(%y: out gmem i32[1]) { " IOTA " store %y[0], (reduce_sum %w) }", 1, {126}},
    {"kernel @k(%y: out gmem i32[1]) { " IOTA " store %y[0], (reduce_min (sub %w, 3)) }", 1, {-3}},
    {"kernel @k(%y: out gmem f32[1]) { store %y[0], (reduce_sum (iota dim(0) : f32[100])) }",
     1,
     {4950}},
    {"kernel @k(%y: out gmem f32[1]) { store %y[0], (reduce_max (iota dim(0) : f32[100]) dim(0)) }",
     1,
     {99}},
    {"kernel @k(%y: out gmem bf16[1]) { store %y[0], (reduce_sum (iota dim(0) : bf16[300])) }",
     1,
     {44800}}, /* 44850 less 0.5 * 22 or so by the iota's rounding, then in steps of 256 */
    {"kernel @k(%y: out gmem i32[2, 3]) { %r = reduce_sum (iota dim(0) : i32[2, 5]) dim(1)\n store "
     "%y, (broadcast %r dim(0) : i32[2, 3]) }",
     6,
     {0, 0, 0, 5, 5, 5}},
    {"kernel @k(%y: out gmem i32[2, 3, 2]) { %r = iota dim(0) : i32[3]\n store %y, (broadcast %r "
     "dim(1) : i32[2, 3, 2]) }",
     8,
     {0, 0, 1, 1, 2, 2, 0, 0}},
    {"kernel @k(%y: out gmem i32[2, 3, 2]) { %r = iota dim(0) : i32[2, 1]\n store %y, (broadcast "
     "%r dim(0) : i32[2, 3, 2]) }",
     8,
     {0, 0, 0, 0, 0, 0, 1, 1}},
    {"kernel @k(%y: out gmem u32[1]) { store %y[0], (reduce_sum (sub (iota dim(0) : u32[3]), 2)) }",
     1,
     {4294967293.0}},
};

TEST_EACH(values, COUNT_OF(value_cases)) {
    const struct value_case *c = &value_cases[_i];
    run *r = run_new(c->text, 0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < c->count; i++) {
        double got = run_get(r, r->argument_count - 1, i);
        ck_assert_msg(got == c->expected[i], "case %d element %u: %g, not %g", _i, i, got,
                      c->expected[i]);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

/* One element of four rows is not written: its row's result is undefined, no other. */
#define HOLE                                                                              \
    "kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4, 8]\n store %s[ds(0, 3)], " \
    "(broadcast 1.0 : f32[3, 8])\n store %s[3, ds(0, 7)], (broadcast 1.0 : f32[7])\n"     \
    " %r = reduce_sum (load %s) dim(1)\n store %y, (broadcast 0.0 : f32[4])\n"

static const struct fault_case {
    const char *text;
    uint32_t count;
} fault_cases[] = {
    {HOLE " %i = iota dim(0) : i32[4]\n store %y, (select (lt %i, 3), %r, 0.0) }", 0},
    {HOLE " %i = iota dim(0) : i32[4]\n store %y, (select (lt %i, 4), %r, 0.0) }", 1},
    {HOLE " store %y[0], (reduce_max %r) }", 1},
    {HOLE " store %y[0], (reduce_max (load %s)) }", 1},
    {HOLE " store %y[0], (reduce_max (load %s[ds(0, 3)])) }", 0},
    {HOLE " %c = reduce_sum (load %s) dim(0)\n store %y, (broadcast 0.0 : f32[4])\n"
          " debug_print \"{}\", %c }",
     1},
};

TEST_EACH(faults, COUNT_OF(fault_cases)) {
    const struct fault_case *c = &fault_cases[_i];
    for (int variant = 0; variant < RUN_VARIANTS; variant++) {
        run *r = run_new(c->text, variant);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        ck_assert_msg(r->faults[GROUT_DIAG_UNINITIALISED_READ] == c->count, "case %d: %u, not %u",
                      _i, r->faults[GROUT_DIAG_UNINITIALISED_READ], c->count);
        run_delete(r);
    }
}
