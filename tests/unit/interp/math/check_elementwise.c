/* check_elementwise.c - every ALU op and type against a reference of its own, over special values;
 * then shapes, constants and undefined values through kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/loops.h"

#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

static const uint32_t words[] = {0u,          1u,          2u,          3u,          7u,
                                 31u,         32u,         33u,         100u,        0x7fffffffu,
                                 0x80000000u, 0x80000001u, 0xffffffffu, 0xfffffffeu, 0xffffff9cu};
static const uint32_t floats[] = {0x00000000u, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x40490fdbu,
                                  0x00000001u, 0x80000001u, 0x007fffffu, 0x7f7fffffu, 0xff7fffffu,
                                  0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u, 0x33800000u};
/* Cut to the width of each integer type: its edges, and those of the narrower ones. */
static const uint64_t integers[] = {0,
                                    1,
                                    2,
                                    7,
                                    63,
                                    64,
                                    0x7f,
                                    0x80,
                                    0x7fff,
                                    0x8000,
                                    UINT64_MAX,
                                    UINT64_MAX - 99,
                                    UINT64_C(0x7fffffffffffffff),
                                    UINT64_C(0x8000000000000000),
                                    UINT64_C(0x8000000000000001)};
static const uint64_t doubles[] = {0,
                                   UINT64_C(0x8000000000000000),
                                   UINT64_C(0x3ff0000000000000),
                                   UINT64_C(0xbff0000000000000),
                                   UINT64_C(0x400921fb54442d18),
                                   UINT64_C(0x3fe0000000000000),
                                   UINT64_C(0xc004000000000000),
                                   UINT64_C(0x0000000000000001),
                                   UINT64_C(0x000fffffffffffff),
                                   UINT64_C(0x7fefffffffffffff),
                                   UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0xfff0000000000000),
                                   UINT64_C(0x7ff8000000000000),
                                   UINT64_C(0x7ff0000000000001),
                                   UINT64_C(0x3ca0000000000000)};
#define WORDS 15

/* Wide enough for every sum and product of 64-bit integers. */
__extension__ typedef __int128 whole;
__extension__ typedef unsigned __int128 unsigned_whole;

static bool is_nan(uint32_t bits) {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}
static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint32_t as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* How many bits of the lowest width of a are 1; down to the highest one, if is_leading. */
static int64_t count_bits(whole a, int64_t width, bool is_leading) {
    int64_t count = 0;
    for (int64_t i = width - 1; i >= 0; i--) {
        bool is_one = (a >> i & 1) != 0;
        if (is_leading && is_one) {
            return width - 1 - i;
        }
        count += is_one;
    }
    return is_leading ? width : count;
}

/* Integers as mathematics has them; the caller keeps the low bits. */
static whole reference_integer(grout_opcode opcode, whole a, whole b, whole c, int64_t width) {
    whole quotient = b == 0 ? 0 : a / b;
    whole rest = b == 0 ? 0 : a % b;
    switch ((int)opcode) {
    case GROUT_OP_ADD:
        return a + b;
    case GROUT_OP_SUB:
        return a - b;
    case GROUT_OP_MUL:
        return (whole)((unsigned_whole)a * (unsigned_whole)b);
    case GROUT_OP_DIV:
        return quotient;
    case GROUT_OP_REM:
        return rest;
    case GROUT_OP_CDIV:
        return rest != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
    case GROUT_OP_MIN:
        return a < b ? a : b;
    case GROUT_OP_MAX:
        return a > b ? a : b;
    case GROUT_OP_SIGN:
        return (a > 0) - (a < 0);
    case GROUT_OP_NEG:
        return -a;
    case GROUT_OP_ABS:
        return a < 0 ? -a : a;
    case GROUT_OP_AND:
        return a & b;
    case GROUT_OP_OR:
        return a | b;
    case GROUT_OP_XOR:
        return a ^ b;
    case GROUT_OP_NOT:
        return ~a;
    case GROUT_OP_SHL:
        return b < 0 || b >= width ? 0 : a * ((whole)1 << b);
    case GROUT_OP_SHR:
        if (b < 0 || b >= width) {
            return a < 0 ? -1 : 0;
        }
        return a >= 0 ? a >> b : ~(~a >> b);
    case GROUT_OP_CLZ:
        return count_bits(a, width, true);
    case GROUT_OP_POPCOUNT:
        return count_bits(a, width, false);
    case GROUT_OP_CLAMP:
        a = a < b ? b : a;
        return a > c ? c : a;
    case GROUT_OP_EQ:
        return a == b;
    case GROUT_OP_NE:
        return a != b;
    case GROUT_OP_LT:
        return a < b;
    case GROUT_OP_LE:
        return a <= b;
    case GROUT_OP_GT:
        return a > b;
    case GROUT_OP_GE:
        return a >= b;
    default:
        ck_abort_msg("no reference for op '%s'", grout_op_get_info(opcode)->text);
    }
    return 0;
}

static uint32_t reference_float(grout_opcode opcode, uint32_t x, uint32_t y, uint32_t z) {
    float a = as_float(x), b = as_float(y);
    bool is_unary = strlen(grout_op_get_info(opcode)->operands) == 1;
    bool has_nan = is_nan(x) || (!is_unary && is_nan(y));
    switch ((int)opcode) {
    case GROUT_OP_ADD:
        return as_bits(a + b);
    case GROUT_OP_SUB:
        return as_bits(a - b);
    case GROUT_OP_MUL:
        return as_bits(a * b);
    case GROUT_OP_DIV:
        return as_bits(a / b);
    case GROUT_OP_MIN:
        return has_nan ? 0x7fffffffu : a == b ? (x | y) : a < b ? x : y;
    case GROUT_OP_MAX:
        return has_nan ? 0x7fffffffu : a == b ? (x & y) : a > b ? x : y;
    case GROUT_OP_FMA:
        return as_bits(fmaf(a, b, as_float(z)));
    case GROUT_OP_SQRT:
        return as_bits((float)sqrt((double)a)); /* innocuous: a double has 2 * 24 + 2 bits */
    case GROUT_OP_FLOOR:
        return as_bits((float)floor((double)a));
    case GROUT_OP_CEIL:
        return as_bits((float)ceil((double)a));
    case GROUT_OP_ROUND:
        return as_bits((float)nearbyint((double)a));
    case GROUT_OP_ROUND_AWAY:
        return as_bits((float)round((double)a));
    case GROUT_OP_COPYSIGN:
        return (x & 0x7fffffffu) | (y & 0x80000000u);
    case GROUT_OP_IS_FINITE:
        return !is_nan(x) && a >= -FLT_MAX && a <= FLT_MAX;
    case GROUT_OP_CLAMP:
        x = reference_float(GROUT_OP_MAX, x, y, 0);
        return reference_float(GROUT_OP_MIN, x, z, 0);
    case GROUT_OP_SIGN:
        return has_nan || a == 0 ? x : as_bits(a > 0 ? 1.0f : -1.0f);
    case GROUT_OP_NEG:
        return x ^ 0x80000000u;
    case GROUT_OP_ABS:
        return x & 0x7fffffffu;
    case GROUT_OP_EQ:
        return !has_nan && a == b;
    case GROUT_OP_NE:
        return has_nan || a != b;
    case GROUT_OP_LT:
        return !has_nan && a < b;
    case GROUT_OP_LE:
        return !has_nan && a <= b;
    case GROUT_OP_GT:
        return !has_nan && a > b;
    case GROUT_OP_GE:
        return !has_nan && a >= b;
    default:
        ck_abort_msg("no reference for op '%s'", grout_op_get_info(opcode)->text);
    }
    return 0;
}

static double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t as_double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t reference_double(grout_opcode opcode, uint64_t x, uint64_t y, uint64_t z) {
    double a = as_double(x), b = as_double(y);
    bool is_unary = strlen(grout_op_get_info(opcode)->operands) == 1;
    bool has_nan = isnan(a) || (!is_unary && isnan(b));
    switch ((int)opcode) {
    case GROUT_OP_ADD:
        return as_double_bits(a + b);
    case GROUT_OP_SUB:
        return as_double_bits(a - b);
    case GROUT_OP_MUL:
        return as_double_bits(a * b);
    case GROUT_OP_DIV:
        return as_double_bits(a / b);
    case GROUT_OP_MIN:
        return has_nan ? UINT64_C(0x7fffffffffffffff) : a == b ? (x | y) : a < b ? x : y;
    case GROUT_OP_MAX:
        return has_nan ? UINT64_C(0x7fffffffffffffff) : a == b ? (x & y) : a > b ? x : y;
    case GROUT_OP_FMA:
        return as_double_bits(fma(a, b, as_double(z)));
    case GROUT_OP_SQRT:
        return as_double_bits(sqrt(a));
    case GROUT_OP_FLOOR:
        return as_double_bits(floor(a));
    case GROUT_OP_CEIL:
        return as_double_bits(ceil(a));
    case GROUT_OP_ROUND:
        return as_double_bits(nearbyint(a));
    case GROUT_OP_ROUND_AWAY:
        return as_double_bits(round(a));
    case GROUT_OP_COPYSIGN:
        return (x & UINT64_C(0x7fffffffffffffff)) | (y & UINT64_C(0x8000000000000000));
    case GROUT_OP_IS_FINITE:
        return !isnan(a) && a >= -DBL_MAX && a <= DBL_MAX;
    case GROUT_OP_CLAMP:
        x = reference_double(GROUT_OP_MAX, x, y, 0);
        return reference_double(GROUT_OP_MIN, x, z, 0);
    case GROUT_OP_SIGN:
        return has_nan || a == 0 ? x : as_double_bits(a > 0 ? 1.0 : -1.0);
    case GROUT_OP_NEG:
        return x ^ UINT64_C(0x8000000000000000);
    case GROUT_OP_ABS:
        return x & UINT64_C(0x7fffffffffffffff);
    case GROUT_OP_EQ:
        return !has_nan && a == b;
    case GROUT_OP_NE:
        return has_nan || a != b;
    case GROUT_OP_LT:
        return !has_nan && a < b;
    case GROUT_OP_LE:
        return !has_nan && a <= b;
    case GROUT_OP_GT:
        return !has_nan && a > b;
    case GROUT_OP_GE:
        return !has_nan && a >= b;
    default:
        ck_abort_msg("no reference for op '%s'", grout_op_get_info(opcode)->text);
    }
    return 0;
}

/* Element i of an array, from its low bits; and into one. */
static uint64_t get_element(const void *array, uint32_t i, uint32_t bytes) {
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)array + (size_t)i * bytes, bytes);
    return bits;
}

/* The number that the low bits of an integer type mean. */
static whole as_integer(const grout_dtype_info *info, uint64_t bits) {
    whole size = (whole)1 << 8 * info->bytes;
    bool is_negative = info->class_ == GROUT_CLASS_SINT && bits >> (8 * info->bytes - 1) != 0;
    return is_negative ? (whole)bits - size : (whole)bits;
}

static uint64_t get_value(grout_dtype dtype, uint32_t i) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_FLOAT) {
        return dtype == GROUT_DTYPE_F32 ? floats[i] : doubles[i];
    }
    return info->bytes == 4 ? words[i] : integers[i] & UINT64_MAX >> (64 - 8 * info->bytes);
}

static uint64_t get_expected(grout_opcode opcode, grout_dtype dtype, const uint64_t in[3]) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (dtype == GROUT_DTYPE_F32) {
        return reference_float(opcode, (uint32_t)in[0], (uint32_t)in[1], (uint32_t)in[2]);
    }
    if (dtype == GROUT_DTYPE_F64) {
        return reference_double(opcode, in[0], in[1], in[2]);
    }
    whole result = reference_integer(opcode, as_integer(info, in[0]), as_integer(info, in[1]),
                                     as_integer(info, in[2]), (int64_t)8 * info->bytes);
    return (uint64_t)result & UINT64_MAX >> (64 - 8 * info->bytes);
}

static bool are_nan(grout_dtype dtype, uint64_t a, uint64_t b) {
    return dtype == GROUT_DTYPE_F32   ? is_nan((uint32_t)a) && is_nan((uint32_t)b)
           : dtype == GROUT_DTYPE_F64 ? isnan(as_double(a)) && isnan(as_double(b))
                                      : false;
}

static void check_words(grout_opcode opcode, grout_dtype dtype, grout_loop *loop) {
    enum { COUNT = WORDS * WORDS * WORDS };
    static uint64_t in[3][COUNT], result[COUNT]; /* as elements of the type, aligned for any */
    const uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    bool is_compare = grout_op_get_info(opcode)->rule == GROUT_RULE_COMPARE;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t at[3] = {i % WORDS, i / WORDS % WORDS, i / WORDS / WORDS};
        for (uint32_t k = 0; k < 3; k++) {
            uint64_t bits = get_value(dtype, at[k]);
            memcpy((uint8_t *)in[k] + (size_t)i * bytes, &bits, bytes);
        }
    }
    loop(result, in[0], in[1], in[2], COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint64_t operands[3] = {get_element(in[0], i, bytes), get_element(in[1], i, bytes),
                                      get_element(in[2], i, bytes)};
        uint64_t expected = get_expected(opcode, dtype, operands);
        uint64_t got = get_element(result, i, is_compare ? 1 : bytes);
        if (got != expected && (is_compare || !are_nan(dtype, got, expected))) {
            ck_abort_msg("%s of %s %" PRIx64 ", %" PRIx64 ", %" PRIx64 ": %" PRIx64
                         ", not %" PRIx64,
                         grout_op_get_info(opcode)->text, grout_dtype_get_info(dtype)->text,
                         operands[0], operands[1], operands[2], got, expected);
        }
    }
}

static void check_bools(grout_opcode opcode, grout_loop *loop) {
    const uint8_t a[] = {0, 0, 1, 1}, b[] = {0, 1, 0, 1};
    uint8_t result[4];
    loop(result, a, b, NULL, 4);
    for (uint32_t i = 0; i < 4; i++) {
        int64_t expected =
            opcode == GROUT_OP_NOT ? !a[i] : (int64_t)reference_integer(opcode, a[i], b[i], 0, 8);
        ck_assert_int_eq(result[i], expected);
    }
}

static void check_loop(grout_opcode opcode, grout_dtype dtype, grout_loop *loop) {
    if (dtype == GROUT_DTYPE_BOOL) {
        check_bools(opcode, loop);
    } else {
        check_words(opcode, dtype, loop);
    }
}

/* In each instruction set that this processor has. */
TEST_EACH(every_op_and_type, GROUT_OP_COUNT) {
    grout_opcode opcode = (grout_opcode)_i;
    const grout_op_info *info = grout_op_get_info(opcode);
    if (opcode == GROUT_OP_NONE || info->expression == NULL || info->ulp > 0 ||
        info->form == GROUT_FORM_REDUCE) {
        return;
    }
    uint32_t found = 0, taken = 0;
    for (int dtype = 1; dtype < GROUT_DTYPE_COUNT; dtype++) {
        grout_dtype compute = grout_loops__get_compute_dtype((grout_dtype)dtype);
        taken += grout_type_rule_takes((grout_type_rule)info->types, (grout_dtype)dtype) &&
                 compute == (grout_dtype)dtype;
        for (int simd = 0; simd < GROUT_SIMD_COUNT; simd++) {
            grout_loop *loop = grout_loops__find(opcode, (grout_dtype)dtype, (grout_simd)simd);
            found += simd == GROUT_SIMD_PLAIN && loop != NULL;
            bool is_here = loop != NULL && grout_simd__has((grout_simd)simd);
            if (is_here) {
                check_loop(opcode, (grout_dtype)dtype, loop);
            }
        }
    }
    ck_assert_uint_gt(found, 0);
    ck_assert_uint_eq(found, taken);
}

/* ---- f16 and bf16 -------------------------------------------------------------------------------
 */

/* Operand k of element i: all kinds of codes beside each other. */
static uint16_t get_code(uint32_t i, uint32_t k) {
    static const uint16_t special[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x3c00, 0xbc00, 0x3f80,
                                       0x7bff, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7e00, 0x7fc1};
    uint32_t mixed = (i * 3 + k) * UINT32_C(2654435761) >> 16;
    return mixed % 5 == 0 ? special[mixed / 5 % 14] : (uint16_t)mixed;
}

/* Each element: widened, computed in f32, rounded once. */
static void check_narrow(grout_opcode opcode, grout_dtype dtype) {
    const grout_op_info *info = grout_op_get_info(opcode);
    const char *type = grout_dtype_get_info(dtype)->text;
    bool is_compare = info->rule == GROUT_RULE_COMPARE;
    char text[512];
    snprintf(text, sizeof text,
             "kernel @k(%%a: in gmem %s[5000], %%b: in gmem %s[5000], %%c: in gmem %s[5000], %%y: "
             "out gmem %s[5000]) { store %%y, (%s (load %%a)%s%s) }",
             type, type, type, is_compare ? "bool" : type, info->text,
             strlen(info->operands) == 1 ? "" : ", (load %b)",
             strlen(info->operands) == 3 ? ", (load %c)" : "");
    run *r = run_new(text, 0);
    run_start(r);
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < 5000; i++) {
            ((uint16_t *)r->arguments[k].data)[i] = get_code(i, k);
        }
    }
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t wide[3];
        for (uint32_t k = 0; k < 3; k++) {
            wide[k] = as_bits((float)run_get(r, k, i));
        }
        uint32_t result = reference_float(opcode, wide[0], wide[1], wide[2]);
        uint16_t expected = (uint16_t)result, got;
        if (is_compare) {
            got = ((uint8_t *)r->arguments[3].data)[i];
        } else {
            got = ((uint16_t *)r->arguments[3].data)[i];
            grout_element_from_double(dtype, (double)as_float(result), &expected);
        }
        if (got != expected) {
            ck_abort_msg("%s of %s %x, %x, %x: %x, not %x", info->text, type, get_code(i, 0),
                         get_code(i, 1), get_code(i, 2), got, expected);
        }
    }
    run_delete(r);
}

TEST_EACH(narrow_types_round_once, GROUT_OP_COUNT) {
    grout_opcode opcode = (grout_opcode)_i;
    const grout_op_info *info = grout_op_get_info(opcode);
    bool is_float = grout_type_rule_takes((grout_type_rule)info->types, GROUT_DTYPE_F16);
    bool is_here = info->form == GROUT_FORM_UNARY || info->form == GROUT_FORM_TEST ||
                   info->form == GROUT_FORM_BINARY || info->form == GROUT_FORM_TERNARY ||
                   info->form == GROUT_FORM_COMPARE;
    if (is_float && is_here) {
        check_narrow(opcode, GROUT_DTYPE_F16);
        check_narrow(opcode, GROUT_DTYPE_BF16);
    }
}

/* ---- through kernels ----------------------------------------------------------------------------
 */

static const struct value_case {
    const char *text;
    uint32_t count;
    double expected[8]; /* first elements of the last parameter */
} value_cases[] = {
    {"kernel @k(%y: out gmem i32[6]) { store %y, (iota dim(0) : i32[6]) }", 6, {0, 1, 2, 3, 4, 5}},
    {"kernel @k(%y: out gmem f32[2, 3]) { store %y, (iota dim(0) : f32[2, 3]) }",
     6,
     {0, 0, 0, 1, 1, 1}},
    {"kernel @k(%y: out gmem f32[2, 3]) { store %y, (iota dim(1) : f32[2, 3]) }",
     6,
     {0, 1, 2, 0, 1, 2}},
    {"kernel @k(%y: out gmem i32[2, 3]) { %v = iota dim(0) : i32[3]\n store %y, (broadcast %v : "
     "i32[2, 3]) }",
     6,
     {0, 1, 2, 0, 1, 2}},
    {"kernel @k(%y: out gmem i32[2, 3]) { %v = iota dim(0) : i32[2, 1]\n store %y, (broadcast %v : "
     "i32[2, 3]) }",
     6,
     {0, 0, 0, 1, 1, 1}},
    {"kernel @k(%y: out gmem i32[4]) { %s = mul 3, 5\n store %y, (broadcast %s : i32[4]) }",
     4,
     {15, 15, 15, 15}},
    {"kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) { store %y, (mul (load %x), 2.0) }",
     4,
     {-8, 6, 2, -2}},
    {"kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) { store %y, (sub 1.0, (load %x)) }",
     4,
     {5, -2, 0, 2}},
    {"kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) { %v = load %x\n store %y, (select (lt "
     "%v, 0.0), 0.0, %v) }",
     4,
     {0, 3, 1, 0}},
    {"kernel @k(%x: in gmem f32[4], %y: out gmem i32[4]) { store %y, (cast (load %x) : i32) }",
     4,
     {-4, 3, 1, -1}},
    {"kernel @k(%x: in gmem i32[4], %y: out gmem i32[4]) { store %y, (cast (gt (load %x), 0) : "
     "i32) }",
     4,
     {0, 1, 1, 0}},
    {"kernel @k(%x: in gmem f16[4], %y: out gmem f16[4]) { store %y, (cast (add (cast (load %x) : "
     "f32), 0.5) : f16) }",
     4,
     {-3.5, 3.5, 1.5, -0.5}},
    {"kernel @k(%x: in gmem f16[4], %y: out gmem f16[4]) { store %y, (mul (add (load %x), 0.5), "
     "2.0) "
     "}",
     4,
     {-7, 7, 3, -1}},
    {"kernel @k(%y: out gmem bf16[2]) { %v = iota dim(0) : bf16[2]\n store %y, (fma %v, 256.0, "
     "(add "
     "%v, 1.0)) }",
     2,
     {1, 258}},
    {"kernel @k(%y: out gmem f16[1]) { for %i in 0..1 { store %y[0], (sqrt (add (cast %i : f16), "
     "2.25)) } }",
     1,
     {1.5}},
};

TEST_EACH(values, COUNT_OF(value_cases)) {
    const struct value_case *c = &value_cases[_i];
    run *r = run_new(c->text, 0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < c->count; i++) {
        double got = run_get(r, r->argument_count - 1, i);
        ck_assert_msg(got == c->expected[i], "element %u: %g, not %g", i, got, c->expected[i]);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

/* A scalar beside an array longer than a strip. */
TEST(scalars_repeat_across_strips) {
    run *r = run_new("kernel @k(%x: in gmem f32[5000], %y: out gmem f32[5000])\n"
                     "{ store %y, (add 10.0, (load %x)) }",
                     0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < 5000; i++) {
        ck_assert(run_get(r, 1, i) == run_get(r, 0, i) + 10.0);
    }
    run_delete(r);
}

static const struct fault_case {
    const char *text;
    grout_diag_code code;
    uint32_t count;
} fault_cases[] = {
    {"kernel @k(%x: in gmem i32[4], %y: out gmem i32[4]) { store %y, (div 1, (sub (load %x), 1)) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    /* the least i32 by -1: of scalars, of a scalar and an array, in one element of both */
    {"kernel @k(%y: out gmem i32[1]) { for %i in 0..1 { store %y[0], (div (shl 1, 31 - %i), (sub "
     "%i, 1)) } }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem i32[1]) { for %i in 0..1 { store %y[0], (rem (shl 1, 31 - %i), (sub "
     "%i, 1)) } }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem i32[1]) { for %i in 0..1 { store %y[0], (cdiv (shl 1, 31 - %i), (sub "
     "%i, 1)) } }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem i32[4]) { %i = iota dim(0) : i32[4]\n store %y, (div (shl 1, (sub 33, "
     "%i)), -1) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem i32[4]) { %i = iota dim(0) : i32[4]\n store %y, (cdiv (shl 1, 31), "
     "(sub %i, 4)) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem i32[4]) { %i = iota dim(0) : i32[4]\n store %y, (rem (shl 1, (add 28, "
     "%i)), (sub 2, %i)) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    /* side by side only, or of u32 */
    {"kernel @k(%y: out gmem i32[4]) { %i = iota dim(0) : i32[4]\n store %y, (div (shl 1, (add 28, "
     "%i)), (sub (mul %i, 2), 5)) }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%y: out gmem u32[1]) { for %i in 0..1 { store %y[0], (div (cast (shl 1, 31 - %i) : "
     "u32), (cast (sub %i, 1) : u32)) } }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%x: in gmem i32[4], %y: out gmem i32[4]) { store %y, (rem (load %x), 2) }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    /* a quotient that is not there, and is not used, or selected away element by element */
    {"kernel @k(%y: out gmem i32[4]) { %i = iota dim(0) : i32[4]\n %q = div 7, (sub %i, 1)\n store "
     "%y, (select (eq %i, 1), 0, %q) }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%y: out gmem i32[4]) { %i = iota dim(0) : i32[4]\n %q = div 7, (sub %i, 1)\n store "
     "%y, (select (eq %i, 0), 0, %q) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem i32[4]) { scratch %s : smem i32[4]\n %i = iota dim(0) : i32[4]\n "
     "store "
     "%s, (rem 7, (sub %i, 1))\n store %y, (select (eq %i, 1), 0, (load %s)) }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%y: out gmem i32[4]) { for %i in 0..1 { %q = cdiv 7, %i\n store %y, (broadcast %i "
     ": "
     "i32[4]) } }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%y: out gmem i32[1]) { for %i in 0..1 { %q = cdiv 7, %i\n if (gt %q, 1) { store "
     "%y[0], 1 } else { store %y[0], 2 } } }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n store %y, (load %s) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n %v = load %s\n store %y, "
     "(broadcast 1.0 : f32[4])\n %w = add %v, 1.0 }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n store %y, (cast (cast (load %s) "
     ": i32) : f32) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n store %s[ds(0, 2)], (broadcast "
     "1.0 : f32[2])\n store %y[ds(0, 2)], (load %s[ds(0, 2)])\n"
     " store %y[ds(2, 2)], (broadcast 1.0 : f32[2]) }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n store %s[ds(0, 2)], (broadcast "
     "1.0 : f32[2])\n %v = load %s\n"
     " %i = iota dim(0) : i32[4]\n store %y, (select (lt %i, 2), %v, 0.0) }",
     GROUT_DIAG_UNINITIALISED_READ, 0},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n store %s[ds(0, 2)], (broadcast "
     "1.0 : f32[2])\n %v = load %s\n"
     " %i = iota dim(0) : i32[4]\n store %y, (select (lt %i, 3), %v, 0.0) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem i32[1]\n store %y, (broadcast 1.0 : "
     "f32[4])\n if (eq (load %s[0]), 0) { store %y, (broadcast 2.0 : f32[4]) } }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem i32[1]\n store %y, (broadcast 1.0 : "
     "f32[4])\n %i = load %s[0]\n store %y[%i], 2.0 }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n store %y, (broadcast 1.0 : "
     "f32[4])\n debug_print \"{}\", (load %s) }",
     GROUT_DIAG_UNINITIALISED_READ, 1},
    {"kernel @k(%x: in gmem bool[4], %y: out gmem i32[4]) { store %y, (cast (load %x) : i32) }",
     GROUT_DIAG_INVALID_BOOL, 0},
    {"kernel @k(%y: out gmem f32[4]) { store %y[ds(1, 2)], (broadcast 1.0 : f32[2]) }",
     GROUT_DIAG_OUTPUT_NOT_WRITTEN, 1},
};

TEST_EACH(faults, COUNT_OF(fault_cases)) {
    const struct fault_case *c = &fault_cases[_i];
    for (int variant = 0; variant < RUN_VARIANTS; variant++) {
        run *r = run_new(c->text, variant);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        ck_assert_msg(r->faults[c->code] == c->count, "case %d: %u, not %u", _i, r->faults[c->code],
                      c->count);
        run_delete(r);
    }
}

TEST(other_bytes_than_0_and_1_are_true) {
    run *r = run_new(
        "kernel @k(%x: in gmem bool[4], %y: out gmem i32[4]) { store %y, (cast (load %x) : i32) }",
        0);
    run_start(r);
    memcpy(r->arguments[0].data, "\0\1\2\377", 4);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_INVALID_BOOL], 1);
    ck_assert(run_get(r, 1, 0) == 0 && run_get(r, 1, 1) == 1 && run_get(r, 1, 2) == 1 &&
              run_get(r, 1, 3) == 1);
    run_delete(r);
}
