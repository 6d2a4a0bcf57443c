/*
 * each.h - how much of a long list a test program tries: builds with sanitizers a part, the
 * programs for sweeps all of it (tests/CMakeLists.txt, grout__exhaustive_test).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_EACH_H
#define GROUT_TEST_EACH_H

#include <stdint.h>
#include <stdlib.h>

/* N: each N-th is tried. 1 without GROUT_TEST_EACH in the environment. */
static inline uint32_t get_each(void) {
    const char *words = getenv("GROUT_TEST_EACH");
    const long number = words == NULL ? 1 : strtol(words, NULL, 10);
    return number < 1 ? 1 : (uint32_t)number;
}

#endif
