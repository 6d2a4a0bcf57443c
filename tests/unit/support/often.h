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

static inline void fail_often(const char *file, int line, const char *condition) {
    ck_abort_msg("%s:%d: %s is false", file, line, condition);
}

#define ASSERT_OFTEN(condition) ((condition) ? (void)0 : fail_often(__FILE__, __LINE__, #condition))

#endif
