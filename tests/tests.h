/*
 * tests.h - tests of Check that enter themselves: a program runs all that stand in it, in their
 * order. SPDX-License-Identifier: Apache-2.0
 *
 *     TEST(a_name_of_one_test) {
 *         ck_assert(..);
 *     }
 *
 *     TEST_EACH(a_name_of_many, COUNT_OF(cases)) {
 *         check_case(&cases[_i]);
 *     }
 *
 * 'main' is in tests.c. A program that has something to do before has its own, which ends with
 * run_tests.
 */
#ifndef GROUT_TESTS_TESTS_H
#define GROUT_TESTS_TESTS_H

#include <check.h>
#include <stdlib.h>

typedef struct entered_test {
    const TTest **test;
    void (*get_range)(int range[2]);
    struct entered_test *next;
} entered_test;

/* Runs once. */
#define TEST(name) TEST_FROM(name, 0, 1)

/* Runs for each _i below the count, which is asked for when main runs the tests. */
#define TEST_EACH(name, count) TEST_FROM(name, 0, count)

/* Runs for each _i from the first to the one before the end. */
#define TEST_FROM(name, first, end)                                              \
    static const TTest *name;                                                    \
    static void get_range_of_##name(int range[2]) {                              \
        range[0] = (int)(first);                                                 \
        range[1] = (int)(end);                                                   \
    }                                                                            \
    __attribute__((constructor)) static void enter_##name(void) {                \
        static entered_test entered_##name = {&name, get_range_of_##name, NULL}; \
        enter_test(&entered_##name);                                             \
    }                                                                            \
    START_TEST(name)

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* The entry is the caller's. */
void enter_test(entered_test *entry);

/* What main returns: whether a test failed. Each runs between the two functions; NULL: none. */
int run_tests_between(void (*set_up)(void), void (*tear_down)(void));

static inline int run_tests(void) {
    return run_tests_between(NULL, NULL);
}

#endif
