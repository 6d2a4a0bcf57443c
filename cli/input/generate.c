/*
 * generate.c - the generators of arrays.
 *
 * Only +, -, *, / and sqrt of doubles, which IEEE 754 rounds in one way (the file is compiled with
 * -ffp-contract=off): libm's log and sin differ between versions of libc.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "generate.h"

#include "invariant.h"
#include "options.h"

#include <math.h>
#include <string.h>

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct generator_name {
    const char *text;
    grout_generator_kind kind;
} generator_name;

static const generator_name names[] = {
    {"ints", GROUT_GENERATE_INTS},
    {"zeros", GROUT_GENERATE_ZEROS},
    {"ones", GROUT_GENERATE_ONES},
    {"arange", GROUT_GENERATE_ARANGE},
};

/* Reads one field of "7:-1:1"; *text moves past it. */
static bool read_field(const char **text, char field[64]) {
    size_t size = strcspn(*text, ":");
    if (size == 0 || size >= 64) {
        return false;
    }
    memcpy(field, *text, size);
    field[size] = '\0';
    *text += size + ((*text)[size] == ':' ? 1u : 0u);
    return true;
}

static bool read_uniform(const char *text, grout_generator *out) {
    char seed[64], low[64], high[64];
    out->kind = GROUT_GENERATE_UNIFORM;
    return read_field(&text, seed) && read_field(&text, low) && read_field(&text, high) &&
           *text == '\0' && grout_read_u64(seed, &out->seed) && grout_read_number(low, &out->low) &&
           grout_read_number(high, &out->high) && isfinite(out->low) && isfinite(out->high) &&
           out->low <= out->high;
}

bool grout_generator_read(const char *text, grout_generator *out) {
    *out = (grout_generator){0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i].text) == 0) {
            out->kind = names[i].kind;
            return true;
        }
    }
    if (strncmp(text, "randn:", 6) == 0) {
        out->kind = GROUT_GENERATE_RANDN;
        return grout_read_u64(text + 6, &out->seed);
    }
    if (strncmp(text, "uniform:", 8) == 0) {
        return read_uniform(text + 8, out);
    }
    out->kind = GROUT_GENERATE_VALUE;
    return grout_read_number(text, &out->low);
}

void grout_generator_print(const grout_generator *generator, grout_text *out) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (generator->kind == names[i].kind) {
            grout_text_add(out, "%s", names[i].text);
        }
    }
    if (generator->kind == GROUT_GENERATE_RANDN) {
        grout_text_add(out, "randn:%llu", (unsigned long long)generator->seed);
    } else if (generator->kind == GROUT_GENERATE_UNIFORM) {
        grout_text_add(out, "uniform:%llu:%.17g:%.17g", (unsigned long long)generator->seed,
                       generator->low, generator->high);
    } else if (generator->kind == GROUT_GENERATE_VALUE) {
        grout_text_add(out, "%.17g", generator->low);
    }
}

static bool is_float(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
}

/* Whether a number is one of an integer type (bool: 0 and 1). */
static bool holds_integer(grout_dtype dtype, double value) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (!isfinite(value) || value != floor(value)) {
        return false;
    }
    if (info->class_ == GROUT_CLASS_BOOL) {
        return value == 0 || value == 1;
    }
    bool is_signed = info->class_ == GROUT_CLASS_SINT;
    double end = ldexp(1.0, info->bytes * 8 - (is_signed ? 1 : 0));
    return value < end && value >= (is_signed ? -end : 0.0);
}

bool grout_generator_fits(const grout_generator *generator, grout_dtype dtype) {
    switch (generator->kind) {
    case GROUT_GENERATE_INTS:
    case GROUT_GENERATE_ZEROS:
    case GROUT_GENERATE_ONES:
    case GROUT_GENERATE_ARANGE:
        return true;
    case GROUT_GENERATE_RANDN:
    case GROUT_GENERATE_UNIFORM:
        return is_float(dtype);
    case GROUT_GENERATE_VALUE:
        return is_float(dtype) || holds_integer(dtype, generator->low);
    }
    return false;
}

/* ---- random numbers ------------------------------------------------------------------------- */

void grout_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k[2] = {key[0], key[1]};
    for (uint32_t round = 0; round < 10; round++) {
        uint64_t product0 = UINT64_C(0xD2511F53) * c[0];
        uint64_t product1 = UINT64_C(0xCD9E8D57) * c[2];
        uint32_t next0 = (uint32_t)(product1 >> 32) ^ c[1] ^ k[0];
        uint32_t next2 = (uint32_t)(product0 >> 32) ^ c[3] ^ k[1];
        c[0] = next0;
        c[1] = (uint32_t)product1;
        c[2] = next2;
        c[3] = (uint32_t)product0;
        k[0] += UINT32_C(0x9E3779B9);
        k[1] += UINT32_C(0xBB67AE85);
    }
    memcpy(out, c, sizeof c);
}

/* The natural logarithm of a positive normal number: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and
 * log m = 2 atanh((m - 1) / (m + 1)) by its series, whose rest is below 2^-55. */
static double get_logarithm(double x) {
    uint64_t bits;
    double m;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    memcpy(&m, &bits, sizeof m);
    if (m >= 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    double t = (m - 1) / (m + 1), square = t * t, sum = 0;
    for (int n = 23; n >= 1; n -= 2) {
        sum = sum * square + 1.0 / n;
    }
    return 2 * t * sum + exponent * 0.69314718055994530942;
}

/* p[7] + x p[6]... from the highest power down. */
static double evaluate(const double p[8], double x) {
    double sum = p[7];
    for (int i = 6; i >= 0; i--) {
        sum = sum * x + p[i];
    }
    return sum;
}

/* Algorithm AS 241, PPND16 (Wichura 1988): a ratio of polynomials in the middle, another one in
 * sqrt(-log p) in the tails; its third one is for p below e^-25, which 32 bits do not reach. */
double grout_normal_quantile(double p) {
    static const double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                1.9715909503065514427e3, 1.3731693765509461125e4,
                                4.5921953931549871457e4, 6.7265770927008700853e4,
                                3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e1,
                                6.8718700749205790830e2,
                                5.3941960214247511077e3,
                                2.1213794301586595867e4,
                                3.9307895800092710610e4,
                                2.8729085735721942674e4,
                                5.2264952788528545610e3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * evaluate(a, r) / evaluate(b, r);
    }
    double r = sqrt(-get_logarithm(q < 0 ? p : 1 - p)) - 1.6;
    double value = evaluate(c, r) / evaluate(d, r);
    return q < 0 ? -value : value;
}

/* Mixes the bits of a counter (the finaliser of splitmix64). */
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* ---- filling -------------------------------------------------------------------------------- */

static void put_integer(grout_dtype dtype, uint64_t value, uint8_t *out) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_FLOAT) {
        grout_element_from_double(dtype, (double)(int64_t)value, out);
        return;
    }
    value &= info->class_ == GROUT_CLASS_BOOL ? 1u : UINT64_MAX;
    for (uint32_t i = 0; i < info->bytes; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

/* Nine elements made once, then picked: small integers are exact in every type. */
static void fill_ints(const grout_generator *generator, grout_dtype dtype, uint8_t *out,
                      uint64_t count) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint32_t bytes = info->bytes;
    bool is_signed = info->class_ == GROUT_CLASS_SINT || info->class_ == GROUT_CLASS_FLOAT;
    uint8_t elements[9][8] = {{0}};
    uint64_t key = mix(generator->stream);
    for (uint32_t i = 0; i < 9; i++) {
        put_integer(dtype, (uint64_t)i - (is_signed ? 4u : 0u), elements[i]);
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t choice = (mix(key ^ i) >> 32) * 9 >> 32;
        GROUT_ASSERT(choice < sizeof elements / sizeof elements[0]);
        memcpy(out + i * bytes, elements[choice], bytes);
    }
}

/* Four elements for each counter; p lies in the middle of one of 2^32 equal parts of (0, 1). */
static void fill_random(const grout_generator *generator, grout_dtype dtype, uint8_t *out,
                        uint64_t count) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    uint32_t key[2] = {(uint32_t)generator->seed, (uint32_t)(generator->seed >> 32)};
    uint32_t words[4] = {0};
    for (uint64_t i = 0; i < count; i++) {
        if (i % 4 == 0) {
            uint32_t counter[4] = {(uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), 0, 0};
            grout_philox(counter, key, words);
        }
        double p = ((double)words[i % 4] + 0.5) / 4294967296.0;
        double value = generator->kind == GROUT_GENERATE_RANDN
                           ? grout_normal_quantile(p)
                           : generator->low * (1 - p) + generator->high * p;
        grout_element_from_double(dtype, value, out + i * bytes);
    }
}

static void fill_same(const uint8_t *element, uint32_t bytes, uint8_t *out, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        memcpy(out + i * bytes, element, bytes);
    }
}

void grout_generator_fill(const grout_generator *generator, grout_dtype dtype, void *out,
                          uint64_t count) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    uint8_t element[8] = {0};
    GROUT_ASSERT(grout_generator_fits(generator, dtype) && bytes <= sizeof element);
    switch (generator->kind) {
    case GROUT_GENERATE_INTS:
        fill_ints(generator, dtype, out, count);
        break;
    case GROUT_GENERATE_ZEROS:
        memset(out, 0, (size_t)count * bytes);
        break;
    case GROUT_GENERATE_ONES:
        put_integer(dtype, 1, element);
        fill_same(element, bytes, out, count);
        break;
    case GROUT_GENERATE_ARANGE:
        for (uint64_t i = 0; i < count; i++) {
            put_integer(dtype, i, (uint8_t *)out + i * bytes);
        }
        break;
    case GROUT_GENERATE_RANDN:
    case GROUT_GENERATE_UNIFORM:
        fill_random(generator, dtype, out, count);
        break;
    case GROUT_GENERATE_VALUE:
        if (is_float(dtype)) {
            grout_element_from_double(dtype, generator->low, element);
        } else {
            put_integer(dtype,
                        generator->low < 0 ? (uint64_t)(int64_t)generator->low
                                           : (uint64_t)generator->low,
                        element);
        }
        fill_same(element, bytes, out, count);
        break;
    }
}
