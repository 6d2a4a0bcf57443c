/* check_convert.c - casts: every value and every rounding boundary of the 8- and 16-bit types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/convert.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

static const struct small {
    grout_dtype dtype;
    int bits, mantissa, bias;
    bool has_infinity, has_nan, saturates;
} smalls[] = {
    {GROUT_DTYPE_F4E2M1, 4, 1, 1, false, false, true},
    {GROUT_DTYPE_F6E2M3, 6, 3, 1, false, false, true},
    {GROUT_DTYPE_F6E3M2, 6, 2, 3, false, false, true},
    {GROUT_DTYPE_F8E4M3, 8, 3, 7, false, true, true},
    {GROUT_DTYPE_F8E5M2, 8, 2, 15, true, true, true},
    {GROUT_DTYPE_F16, 16, 10, 15, true, true, false},
    {GROUT_DTYPE_BF16, 16, 7, 127, true, true, false},
};
/* As ck_assert_msg, which is too slow for millions. */
#define EXPECT(CONDITION, ...)         \
    do {                               \
        if (!(CONDITION)) {            \
            ck_abort_msg(__VA_ARGS__); \
        }                              \
    } while (0)

#define SMALLS ((int)(sizeof smalls / sizeof smalls[0]))

/* What the bits mean, from the definition of the format. */
static double decode(const struct small *s, uint32_t code) {
    uint32_t sign = code >> (s->bits - 1), rest = code & ((1u << (s->bits - 1)) - 1);
    int exponent = (int)(rest >> s->mantissa);
    double fraction = (double)(rest & ((1u << s->mantissa) - 1)) / (double)(1u << s->mantissa);
    int exponent_max = (1 << (s->bits - 1 - s->mantissa)) - 1;
    double value =
        exponent == 0 ? ldexp(fraction, 1 - s->bias) : ldexp(1.0 + fraction, exponent - s->bias);
    if (s->has_infinity && exponent == exponent_max) {
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    }
    if (s->has_nan && !s->has_infinity && rest == (1u << (s->bits - 1)) - 1) {
        value = (double)NAN;
    }
    return sign != 0 ? -value : value;
}

static uint32_t get_code(const void *element, int bits) {
    uint16_t wide;
    memcpy(&wide, element, sizeof wide);
    return bits <= 8 ? *(const uint8_t *)element : wide;
}

static void check_code(const struct small *s, uint32_t code) {
    uint16_t element = (uint16_t)code;
    float narrow;
    double expected = decode(s, code), got = grout_element_to_double(s->dtype, &element);
    grout_convert(s->dtype, &element, GROUT_DTYPE_F32, &narrow, 1);
    if (isnan(expected)) {
        EXPECT(isnan(got) && isnan(narrow), "code %x", code);
        return;
    }
    EXPECT(got == expected && (double)narrow == expected, "code %x", code);
    EXPECT((signbit(got) != 0) == (signbit(expected) != 0), "code %x", code);
}

TEST_EACH(decodes_every_code, SMALLS) {
    for (uint32_t code = 0; code < 1u << smalls[_i].bits; code++) {
        check_code(&smalls[_i], code);
    }
}

static void expect_code(const struct small *s, double value, uint32_t expected) {
    uint16_t wide = 0, direct = 0;
    float single = (float)value;
    grout_element_from_double(s->dtype, value, &wide);
    EXPECT(get_code(&wide, s->bits) == expected, "%a: %x, not %x", value, get_code(&wide, s->bits),
           expected);
    if ((double)single == value) {
        grout_convert(GROUT_DTYPE_F32, &single, s->dtype, &direct, 1);
        EXPECT(get_code(&direct, s->bits) == expected, "f32 %a: %x, not %x", value,
               get_code(&direct, s->bits), expected);
    }
}

/* Between neighbours a < b: a itself, just below the middle, the middle (to the even one), just
 * above. */
TEST_EACH(rounds_at_every_boundary, SMALLS) {
    const struct small *s = &smalls[_i];
    uint32_t sign = 1u << (s->bits - 1);
    for (uint32_t code = 0; code + 1 < sign; code++) {
        double a = decode(s, code), b = decode(s, code + 1);
        if (!isfinite(a) || !isfinite(b)) {
            continue;
        }
        double middle = (a + b) / 2;
        uint32_t even = code % 2 == 0 ? code : code + 1;
        for (uint32_t flip = 0; flip < 2; flip++) {
            double one = flip != 0 ? -1.0 : 1.0;
            expect_code(s, one * a, code | (flip * sign));
            expect_code(s, one * middle, even | (flip * sign));
            expect_code(s, one * nextafter(middle, 0), code | (flip * sign));
            expect_code(s, one * nextafter(middle, (double)INFINITY), (code + 1) | (flip * sign));
            expect_code(s, one * (double)nextafterf((float)middle, 0.0f), code | (flip * sign));
            expect_code(s, one * (double)nextafterf((float)middle, INFINITY),
                        (code + 1) | (flip * sign));
        }
    }
}

TEST_EACH(overflow_and_nan, SMALLS) {
    const struct small *s = &smalls[_i];
    uint32_t largest = 0;
    for (uint32_t code = 0; code < 1u << (s->bits - 1); code++) {
        largest = isfinite(decode(s, code)) ? code : largest;
    }
    uint32_t over = s->saturates ? largest : largest + 1;
    expect_code(s, 1e300, over);
    expect_code(s, (double)INFINITY, over);
    uint16_t bits = 0;
    if (!s->has_nan) { /* PTX ISA 9.1, 'cvt': of NaN the largest, without its sign */
        expect_code(s, (double)NAN, largest);
        expect_code(s, -(double)INFINITY, largest | 1u << (s->bits - 1));
        float bad = NAN;
        grout_convert(GROUT_DTYPE_F32, &bad, s->dtype, &bits, 1);
        ck_assert_uint_eq(bits, largest);
        return;
    }
    grout_element_from_double(s->dtype, (double)NAN, &bits);
    ck_assert(isnan(grout_element_to_double(s->dtype, &bits)));
    float nan = NAN;
    grout_convert(GROUT_DTYPE_F32, &nan, s->dtype, &bits, 1);
    ck_assert(isnan(grout_element_to_double(s->dtype, &bits)));
}

/* ---- f8e8m0 ------------------------------------------------------------------------------------
 */

static uint8_t get_scale(double value) {
    uint8_t code = 0, direct = 0;
    float single = (float)value;
    grout_element_from_double(GROUT_DTYPE_F8E8M0, value, &code);
    if ((double)single == value) {
        grout_convert(GROUT_DTYPE_F32, &single, GROUT_DTYPE_F8E8M0, &direct, 1);
        ck_assert_uint_eq(code, direct);
    }
    return code;
}

/* Each code is a power of two; what lies above one takes the next. */
TEST(scales_round_up) {
    for (uint32_t code = 0; code < 255; code++) {
        const uint8_t byte = (uint8_t)code;
        const double value = ldexp(1.0, (int)code - 127);
        ck_assert(grout_element_to_double(GROUT_DTYPE_F8E8M0, &byte) == value);
        ck_assert_uint_eq(get_scale(value), code);
        ck_assert_uint_eq(get_scale(nextafter(value, 0)), code);
        ck_assert_uint_eq(get_scale(value * 0.5000001), code);
        ck_assert_uint_eq(get_scale(nextafter(value, (double)INFINITY)),
                          code < 254 ? code + 1 : 254);
    }
    const uint8_t nan = 255;
    ck_assert(isnan(grout_element_to_double(GROUT_DTYPE_F8E8M0, &nan)));
    ck_assert_uint_eq(get_scale((double)NAN), 255);
    ck_assert_uint_eq(get_scale(-1.0), 255);
    ck_assert_uint_eq(get_scale(-(double)INFINITY), 255);
    ck_assert_uint_eq(get_scale(0.0), 0);
    ck_assert_uint_eq(get_scale(-0.0), 0);
    ck_assert_uint_eq(get_scale((double)INFINITY), 254);
    ck_assert_uint_eq(get_scale(1e-300), 0);
}

/* Integers go up from their exact value: rounded to f32 or f64 first, these would be powers of two.
 */
TEST(integers_become_scales) {
    static const struct {
        int64_t value;
        uint8_t code;
    } cases[] = {{0, 0},
                 {1, 127},
                 {2, 128},
                 {3, 129},
                 {-1, 255},
                 {(1 << 24) + 1, 127 + 25},
                 {(INT64_C(1) << 53) + 1, 127 + 54},
                 {INT64_MAX, 127 + 63},
                 {INT64_C(1) << 62, 127 + 62}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t code = 7;
        grout_convert(GROUT_DTYPE_I64, &cases[i].value, GROUT_DTYPE_F8E8M0, &code, 1);
        ck_assert_msg(code == cases[i].code, "%lld: %d, not %d", (long long)cases[i].value, code,
                      cases[i].code);
    }
}

/* ---- packed ------------------------------------------------------------------------------------
 */

/* Every byte of two elements, in their order; in place, as loads do it, and one by one. */
TEST_EACH(packs_every_byte, 3) {
    static const grout_dtype dtypes[] = {GROUT_DTYPE_I4, GROUT_DTYPE_U4, GROUT_DTYPE_F4E2M1};
    uint8_t memory[256], elements[512], again[256], one[256];
    for (uint32_t i = 0; i < 256; i++) {
        memory[i] = elements[i] = (uint8_t)i;
        one[i] = 0xaa;
    }
    grout_elements_unpack(dtypes[_i], elements, elements, 512);
    for (int64_t i = 0; i < 512; i++) {
        uint8_t element = 0xcc;
        ck_assert_uint_eq(elements[i], (uint32_t)i / 2 >> (i % 2 == 0 ? 0 : 4) & 15u);
        grout_element_get(dtypes[_i], memory, i, &element);
        ck_assert_uint_eq(element, elements[i]);
        grout_element_put(dtypes[_i], one, i, &element);
    }
    grout_elements_pack(dtypes[_i], elements, again, 512);
    ck_assert_mem_eq(again, memory, sizeof memory);
    ck_assert_mem_eq(one, memory, sizeof memory);
}

/* A 'packed' array of the host: element i has bits 6 i to 6 i + 5, whatever lay there. One of 4
 * bits is as any other. */
TEST(packs_bit_after_bit) {
    grout_type type = {.kind = GROUT_TYPE_REF,
                       .dtype = GROUT_DTYPE_F6E3M2,
                       .space = GROUT_SPACE_GMEM,
                       .rank = 1,
                       .is_expanded = true,
                       .dims = {128}};
    uint8_t memory[96], plain[64], element = 0;
    memset(memory, 0xaa, sizeof memory);
    ck_assert_int_eq(grout_type_get_bytes(&type), 96);
    for (int64_t i = 0; i < 128; i++) {
        element = (uint8_t)(i * 5 + 3);
        grout_type_put_element(&type, memory, i, &element);
    }
    for (int64_t i = 0; i < 128; i++) {
        const uint32_t wanted = (uint32_t)(i * 5 + 3) & 63u;
        uint32_t bits = 0;
        for (int64_t bit = 0; bit < 6; bit++) {
            bits |= (uint32_t)(memory[(6 * i + bit) / 8] >> (6 * i + bit) % 8 & 1) << bit;
        }
        grout_type_get_element(&type, memory, i, &element);
        ck_assert_uint_eq(bits, wanted);
        ck_assert_uint_eq(element, wanted);
    }
    type.dtype = GROUT_DTYPE_F4E2M1;
    ck_assert_int_eq(grout_type_get_bytes(&type), 64);
    for (int64_t i = 0; i < 128; i++) {
        element = (uint8_t)(i * 7 & 15);
        grout_type_put_element(&type, memory, i, &element);
        grout_element_put(GROUT_DTYPE_F4E2M1, plain, i, &element);
    }
    ck_assert_mem_eq(memory, plain, sizeof plain);
}

/* What an element means, whatever the bits that a byte of registers has above it. */
TEST(integers_of_four_bits) {
    for (uint32_t code = 0; code < 256; code++) {
        const uint8_t byte = (uint8_t)code;
        const int low = (int)(code & 15u);
        ck_assert(grout_element_to_double(GROUT_DTYPE_U4, &byte) == (double)low);
        ck_assert(grout_element_to_double(GROUT_DTYPE_I4, &byte) ==
                  (double)(low < 8 ? low : low - 16));
    }
}

/* ---- integers ----------------------------------------------------------------------------------
 */

static const struct int_case {
    grout_dtype from;
    grout_dtype to;
    double value;
    double expected;
} int_cases[] = {
    {GROUT_DTYPE_F32, GROUT_DTYPE_I4, 2.9, 2},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I4, 7.9, 7},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I4, 8, 7},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I4, -8.9, -8},
    {GROUT_DTYPE_F64, GROUT_DTYPE_I4, -9, -8},
    {GROUT_DTYPE_F16, GROUT_DTYPE_I4, (double)NAN, 0},
    {GROUT_DTYPE_F32, GROUT_DTYPE_U4, 16, 15},
    {GROUT_DTYPE_F32, GROUT_DTYPE_U4, -1, 0},
    {GROUT_DTYPE_I32, GROUT_DTYPE_I4, 8, -8},
    {GROUT_DTYPE_I32, GROUT_DTYPE_I4, -9, 7},
    {GROUT_DTYPE_I32, GROUT_DTYPE_U4, 16, 0},
    {GROUT_DTYPE_I4, GROUT_DTYPE_U4, -1, 15},
    {GROUT_DTYPE_U4, GROUT_DTYPE_I4, 9, -7},
    {GROUT_DTYPE_I4, GROUT_DTYPE_U16, -1, 65535},
    {GROUT_DTYPE_I4, GROUT_DTYPE_F8E5M2, -7, -7},
    {GROUT_DTYPE_I4, GROUT_DTYPE_F4E2M1, 5, 4},
    {GROUT_DTYPE_I4, GROUT_DTYPE_F4E2M1, 7, 6},
    {GROUT_DTYPE_I4, GROUT_DTYPE_BOOL, -8, 1},
    {GROUT_DTYPE_F4E2M1, GROUT_DTYPE_I4, 1.5, 1},
    {GROUT_DTYPE_F6E3M2, GROUT_DTYPE_I4, -28, -8},
    {GROUT_DTYPE_F6E3M2, GROUT_DTYPE_F4E2M1, -28, -6},
    {GROUT_DTYPE_F6E2M3, GROUT_DTYPE_F4E2M1, 2.5, 2},
    {GROUT_DTYPE_F6E2M3, GROUT_DTYPE_F4E2M1, 3.5, 4},
    {GROUT_DTYPE_I64, GROUT_DTYPE_F6E2M3, -100, -7.5},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I32, 2.9, 2},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I32, -2.9, -2},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I32, 3e9, 2147483647},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I32, -3e9, -2147483648.0},
    {GROUT_DTYPE_F32, GROUT_DTYPE_U32, 3e9, 3e9},
    {GROUT_DTYPE_F32, GROUT_DTYPE_U32, -1, 0},
    {GROUT_DTYPE_F64, GROUT_DTYPE_I64, 1e30, 0x1p63},
    {GROUT_DTYPE_F64, GROUT_DTYPE_U64, 1e30, 0x1p64},
    {GROUT_DTYPE_F64, GROUT_DTYPE_I64, -1e30, -0x1p63},
    {GROUT_DTYPE_F64, GROUT_DTYPE_I8, 200, 127},
    {GROUT_DTYPE_F64, GROUT_DTYPE_I8, -200, -128},
    {GROUT_DTYPE_F64, GROUT_DTYPE_U8, 300, 255},
    {GROUT_DTYPE_F64, GROUT_DTYPE_I16, (double)NAN, 0},
    {GROUT_DTYPE_F32, GROUT_DTYPE_I32, (double)NAN, 0},
    {GROUT_DTYPE_F32, GROUT_DTYPE_BOOL, (double)NAN, 1},
    {GROUT_DTYPE_F32, GROUT_DTYPE_BOOL, 0.25, 1},
    {GROUT_DTYPE_F32, GROUT_DTYPE_BOOL, -0.0, 0},
    {GROUT_DTYPE_I32, GROUT_DTYPE_BOOL, 256, 1},
    {GROUT_DTYPE_I32, GROUT_DTYPE_U8, 300, 44},
    {GROUT_DTYPE_I32, GROUT_DTYPE_U32, -1, 4294967295.0},
    {GROUT_DTYPE_I32, GROUT_DTYPE_U16, -1, 65535},
    {GROUT_DTYPE_U16, GROUT_DTYPE_I16, 65535, -1},
    {GROUT_DTYPE_BOOL, GROUT_DTYPE_F32, 1, 1},
    {GROUT_DTYPE_I32, GROUT_DTYPE_F32, 16777217, 16777216},
    {GROUT_DTYPE_I32, GROUT_DTYPE_F16, 2049, 2048},
    {GROUT_DTYPE_I32, GROUT_DTYPE_F16, 2051, 2052},
    {GROUT_DTYPE_I32, GROUT_DTYPE_F16, 100000, (double)INFINITY},
    {GROUT_DTYPE_I32, GROUT_DTYPE_F8E4M3, -500, -448},
    {GROUT_DTYPE_F64, GROUT_DTYPE_F16, 1.0 + 0x1p-11 + 0x1p-40, 1.0 + 0x1p-10},
};

TEST_EACH(integer_casts, COUNT_OF(int_cases)) {
    const struct int_case *c = &int_cases[_i];
    uint64_t from = 0, to = 0;
    if (c->from == GROUT_DTYPE_I32) {
        int32_t value = (int32_t)c->value;
        memcpy(&from, &value, sizeof value);
    } else {
        grout_element_from_double(c->from, c->value, &from);
    }
    grout_convert(c->from, &from, c->to, &to, 1);
    double got = grout_element_to_double(c->to, &to);
    ck_assert_msg(got == c->expected, "case %d: %a, not %a", _i, got, c->expected);
}

/* Rounded once: an int64 just above the middle of two neighbours, by less than a double shows. */
TEST(wide_integers_round_once) {
    int64_t above = (INT64_C(1) << 62) + (INT64_C(1) << 54) + 1, below = above - 2;
    uint64_t top = (UINT64_C(1) << 63) + (UINT64_C(1) << 55) + 1;
    uint16_t bits;
    float single;
    grout_convert(GROUT_DTYPE_I64, &above, GROUT_DTYPE_BF16, &bits, 1);
    ck_assert(grout_element_to_double(GROUT_DTYPE_BF16, &bits) == 0x1p62 + 0x1p55);
    grout_convert(GROUT_DTYPE_I64, &below, GROUT_DTYPE_BF16, &bits, 1);
    ck_assert(grout_element_to_double(GROUT_DTYPE_BF16, &bits) == 0x1p62);
    grout_convert(GROUT_DTYPE_U64, &top, GROUT_DTYPE_BF16, &bits, 1);
    ck_assert(grout_element_to_double(GROUT_DTYPE_BF16, &bits) == 0x1p63 + 0x1p56);
    int64_t odd = (INT64_C(1) << 54) + (INT64_C(1) << 30) + 1;
    grout_convert(GROUT_DTYPE_I64, &odd, GROUT_DTYPE_F32, &single, 1);
    ck_assert(single == 0x1p54f + 0x1p31f);
}

/* All pairs of types agree with going through a double, element by element, on small values. */
TEST_EACH(all_pairs, (GROUT_DTYPE_COUNT * GROUT_DTYPE_COUNT)) {
    grout_dtype from = (grout_dtype)(_i / GROUT_DTYPE_COUNT),
                to = (grout_dtype)(_i % GROUT_DTYPE_COUNT);
    if (from == GROUT_DTYPE_NONE || to == GROUT_DTYPE_NONE) {
        return;
    }
    enum { COUNT = 600 };
    uint64_t source[COUNT], result[COUNT];
    const int count =
        grout_dtype_get_info(from)->bits < 8 || grout_dtype_get_info(to)->bits < 8 ? 8 : 100;
    uint32_t from_bytes = grout_dtype_get_info(from)->bytes,
             to_bytes = grout_dtype_get_info(to)->bytes;
    for (int i = 0; i < COUNT; i++) {
        grout_element_from_double(from, (double)(i % count),
                                  (uint8_t *)source + (size_t)i * from_bytes);
    }
    grout_convert(from, source, to, result, COUNT);
    for (int i = 0; i < COUNT; i++) {
        uint64_t expected = 0;
        double value = grout_element_to_double(from, (uint8_t *)source + (size_t)i * from_bytes);
        grout_element_from_double(to, value, &expected);
        ck_assert(memcmp((uint8_t *)result + (size_t)i * to_bytes, &expected, to_bytes) == 0);
    }
}

TEST_EACH(poison_is_the_tables, GROUT_DTYPE_COUNT - 1) {
    grout_dtype dtype = (grout_dtype)(_i + 1);
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint8_t bytes[8 * 9];
    memset(bytes, 0, sizeof bytes);
    grout_fill_poison(dtype, bytes, 9);
    for (uint32_t i = 0; i < 9u * info->bytes; i++) {
        ck_assert_uint_eq(bytes[i], (uint64_t)(uint8_t)(info->poison >> (8 * (i % info->bytes))) *
                                        (info->packed == 2 ? 0x11u : 1u));
    }
}
