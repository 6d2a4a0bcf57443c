/* check_lookup.c - numbers by keys, of many and of unlucky keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lookup.h"
#include "tests/tests.h"

enum { COUNT = 100000 };

/* Keys that lie close, far apart, and 0. */
static uint64_t make_key(int kind, uint64_t i) {
    return kind == 0 ? i : kind == 1 ? i << 40 : i * UINT64_C(0x9e3779b97f4a7c15);
}

TEST_EACH(each_key_has_its_number, 3) {
    grout_lookup lookup = {0};
    ck_assert_uint_eq(grout_lookup__find(&lookup, 7), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t *number = grout_lookup__at(&lookup, make_key(_i, i));
        ck_assert_ptr_nonnull(number);
        ck_assert_uint_eq(*number, 0);
        *number = i + 1;
    }
    ck_assert_uint_eq(lookup.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(grout_lookup__find(&lookup, make_key(_i, i)), i + 1);
        ck_assert_uint_eq(*grout_lookup__at(&lookup, make_key(_i, i)), i + 1);
    }
    ck_assert_uint_eq(lookup.count, COUNT);
    ck_assert_uint_eq(grout_lookup__find(&lookup, make_key(_i, COUNT)), 0);
    grout_lookup copy = {0};
    ck_assert(grout_lookup__clone(&copy, &lookup));
    grout_lookup__deinit(&lookup);
    ck_assert_uint_eq(grout_lookup__find(&lookup, 0), 0);
    ck_assert_uint_eq(grout_lookup__find(&copy, make_key(_i, COUNT - 1)), COUNT);
    ck_assert_uint_eq(grout_lookup__find(&copy, make_key(_i, COUNT)), 0);
    grout_lookup__deinit(&copy);
}
