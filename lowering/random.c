/*
 * random.c - random numbers: a counter becomes words, and a probability a normal number.
 *
 * Only +, -, *, / and sqrt of doubles, which IEEE 754 rounds in one way (all is compiled with
 * -ffp-contract=off): libm's log and sin differ between versions of libc.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "random.h"

#include <math.h>
#include <string.h>

void grout_random__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
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
double grout_random__quantile(double p) {
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
