/*
 * failing.h - malloc, calloc, realloc and strdup of which the n-th fails, for every n.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The linker's --wrap leads the calls of everything that is linked statically here; what shared
 * libraries allocate for themselves does not count.
 */
#ifndef GROUT_TESTS_FAILING_H
#define GROUT_TESTS_FAILING_H

#include "grout-internal/diagnose.h"

#include <stdbool.h>
#include <stdint.h>

/* Allocations count, and fail, between these two. */
void failing_begin(void);
void failing_end(void);
/* Whether one has failed since the last beginning. */
bool failing_has_failed(void);

/*
 * Calls work again and again: at first its first allocation fails, then its second, until it asks
 * for fewer. Where GROUT_TEST_SOME_ALLOCATIONS is set, those with the same calls on the stack do
 * not all fail: the 1st, 2nd, 4th, 8th and so on do. With all_after, those after the n-th fail too.
 * work makes its own assertions about what it may do when failing_has_failed; it returns true if it
 * could do all it should.
 */
void failing_try_all(bool all_after, bool (*work)(void *payload), void *payload);

/*
 * The same with one call of work, for what takes long and starts no threads: at each allocation a
 * new process goes on without it, and this one goes on with it. What a process leaves unfreed is
 * counted, and fails the test too.
 */
void failing_fork_all(bool all_after, bool (*work)(void *payload), void *payload);

/* Fails the test unless one of the diagnostics is out-of-memory. */
void failing_assert_reported(const grout_diags *diags);

#endif
