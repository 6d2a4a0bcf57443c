/*
 * often.h - an assertion for where there are millions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Check writes where it is to a file at each assertion, also at one that holds; this one does so
 * when it fails only.
 */
#ifndef GROUT_TEST_OFTEN_H
#define GROUT_TEST_OFTEN_H

#include <check.h>

#define ASSERT_OFTEN(condition)                      \
    do {                                             \
        if (!(condition)) {                          \
            ck_abort_msg("%s is false", #condition); \
        }                                            \
    } while (0)

#endif
