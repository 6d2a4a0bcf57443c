/*
 * limit.c - the one time limit of the test programs: for a test that hangs, and for nothing else.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A slow machine must not fail a test, so it is far above what any takes, and below ctest's own
 * limit (CMakePresets.json) so that Check can name the test. Check's default is 4 s.
 */
#include <stdlib.h>

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

/* Before main, where every program makes its test cases. */
__attribute__((constructor)) static void set_limit(void) {
    (void)setenv("CK_DEFAULT_TIMEOUT", TEXT(GROUT_TEST_SECONDS), 0);
}
