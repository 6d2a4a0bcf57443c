/* failing.c - the wrapped allocation functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"

#include <check.h>
#include <stddef.h>
#include <sys/mman.h>

static bool is_counting, all_after_fail;
static uint64_t failing_allocation;

/* Shared, so that what a child process of the work allocates counts too. */
typedef struct counter {
    uint64_t allocation_count;
    bool has_failed;
} counter;

static counter *shared;

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

static bool fails(void) {
    if (!is_counting) {
        return false;
    }
    const uint64_t index = shared->allocation_count++;
    if (index == failing_allocation || (all_after_fail && index > failing_allocation)) {
        shared->has_failed = true;
        return true;
    }
    return false;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *pointer, size_t size) {
    return fails() ? NULL : __real_realloc(pointer, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

void failing_begin(void) {
    *shared = (counter){0};
    is_counting = true;
}

void failing_end(void) {
    is_counting = false;
}

bool failing_has_failed(void) {
    return shared->has_failed;
}

void failing_try_all(bool all_after, bool (*work)(void *payload), void *payload) {
    uint64_t failures = 0;
    all_after_fail = all_after;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    for (failing_allocation = 0;; failing_allocation++) {
        const bool is_done = work(payload);
        if (!shared->has_failed) {
            ck_assert_msg(is_done, "it fails with all the memory it asks for");
            break;
        }
        failures += !is_done;
    }
    ck_assert_msg(failures > failing_allocation / 4,
                  "of %ju allocations only %ju are missed when they fail",
                  (uintmax_t)failing_allocation, (uintmax_t)failures);
    (void)munmap(shared, sizeof *shared);
}

void failing_assert_reported(const grout_diags *diags) {
    ck_assert_msg(shared->has_failed, "it fails with all the memory it asks for");
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        if (grout_diags_get(diags, i)->code == GROUT_DIAG_OUT_OF_MEMORY) {
            return;
        }
    }
    ck_abort_msg("allocation %ju failed, and nobody says so", (uintmax_t)failing_allocation);
}
