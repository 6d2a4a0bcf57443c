/* check_random_numbers.c - random numbers against published ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lowering/random.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

/* Known answers of Philox4x32-10, from Random123's kat_vectors. */
TEST(test_philox) {
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t out[4];
        grout_random__philox(cases[i].counter, cases[i].key, out);
        ck_assert_int_eq(memcmp(out, cases[i].out, sizeof out), 0);
    }
}

/* Quantiles to 16 digits. */
TEST(test_quantile) {
    static const struct {
        double p, x;
    } cases[] = {
        {0.5, 0.0},
        {0.975, 1.959963984540054},
        {0.025, -1.959963984540054},
        {0.9, 1.2815515655446004},
        {0.999, 3.090232306167813},
        {1e-6, -4.753424308822899},
        {0x1p-33, -6.337957754553789},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double x = grout_random__quantile(cases[i].p);
        ck_assert_msg(fabs(x - cases[i].x) <= 4e-15 * (1 + fabs(cases[i].x)), "%g: %.17g",
                      cases[i].p, x);
    }
}
