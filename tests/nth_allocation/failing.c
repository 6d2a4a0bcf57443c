/* failing.c - the wrapped allocation functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"

#include <check.h>
#include <errno.h>
#include <execinfo.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_counting, all_after_fail, some_are_enough;
static uint64_t failing_allocation;

/* Shared, so that what a child process of the work allocates counts too. */
typedef struct counter {
    uint64_t allocation_count;
    bool has_failed;
} counter;

static counter *shared;

/* How often works have allocated with the same calls on the stack. */
enum { FRAMES_MAX = 64, STACKS_MAX = 1 << 13 };
typedef struct stack {
    uint64_t hash; /* 0: a free place */
    uint64_t count;
} stack;
static stack stacks[STACKS_MAX];
static uint64_t stack_count;

/* failing_try_all: which of the first allocations it leaves out; those after them are all tried. */
enum { NOTED_MAX = 1 << 20 };
static bool is_choosing;
static bool is_left_out[NOTED_MAX];
static uint64_t noted_count;

/* failing_fork_all: whether this process starts another one at each allocation, or is such a one;
 * how many it holds, and how many of the others failed as they should. */
static bool is_forking, is_child;
static int64_t live_count;
static uint64_t tried_count, failure_count;

/* What a process of failing_fork_all ends with. */
enum { CHILD_IS_DONE = 0, CHILD_HAS_REPORTED = 3 };

/* The linker's names. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void __wrap_free(void *pointer);
char *__wrap_strdup(const char *text);

static uint64_t hash_calls(void) {
    void *frames[FRAMES_MAX];
    const int count = backtrace(frames, FRAMES_MAX);
    uint64_t hash = 14695981039346656037u + all_after_fail;
    for (int i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 1099511628211u;
        hash ^= hash >> 29;
    }
    return hash != 0 ? hash : 1;
}

/* Whether this allocation is to fail: see failing_try_all. */
static bool is_chosen(void) {
    if (!some_are_enough) {
        return true;
    }
    const uint64_t hash = hash_calls();
    uint64_t at = hash % STACKS_MAX;
    while (stacks[at].hash != 0 && stacks[at].hash != hash) {
        at = (at + 1) % STACKS_MAX;
    }
    if (stacks[at].hash == 0) {
        if (stack_count == STACKS_MAX / 2) {
            return true;
        }
        stack_count++;
        stacks[at].hash = hash;
    }
    const uint64_t count = ++stacks[at].count;
    return count == 1 || count == 8 || count == 64;
}

/* In a new process: true. In this one: false, after that one has ended as it should. */
static bool fork_failing(void) {
    int status = -1;
    if (!is_chosen()) {
        failing_allocation++;
        return false;
    }
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        is_forking = false;
        is_child = true;
        shared->allocation_count = failing_allocation;
        return true;
    }
    is_counting = false; /* assertions allocate */
    ck_assert_int_gt(child, 0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ck_assert_msg(code == CHILD_IS_DONE || code == CHILD_HAS_REPORTED,
                  "without allocation %ju it does not end well: see above",
                  (uintmax_t)failing_allocation);
    failure_count += code == CHILD_HAS_REPORTED;
    tried_count++;
    failing_allocation++;
    shared->has_failed = false;
    is_counting = true;
    return false;
}

static bool fails(void) {
    if (!is_counting || (is_forking && !fork_failing())) {
        return false;
    }
    const uint64_t index = shared->allocation_count++;
    if (is_choosing) {
        if (index < NOTED_MAX) {
            is_left_out[index] = !is_chosen();
            noted_count = index + 1;
        }
        return false;
    }
    if (index == failing_allocation || (all_after_fail && index > failing_allocation)) {
        shared->has_failed = true;
        return true;
    }
    return false;
}

static void *count_live(void *pointer) {
    live_count += pointer != NULL;
    return pointer;
}

void *__wrap_malloc(size_t size) {
    return count_live(fails() ? NULL : __real_malloc(size));
}
void *__wrap_calloc(size_t count, size_t size) {
    return count_live(fails() ? NULL : __real_calloc(count, size));
}
void *__wrap_realloc(void *pointer, size_t size) {
    void *moved = fails() ? NULL : __real_realloc(pointer, size);
    return pointer == NULL ? count_live(moved) : moved;
}
char *__wrap_strdup(const char *text) {
    const size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}
void __wrap_free(void *pointer) {
    live_count -= pointer != NULL;
    __real_free(pointer);
}

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

static void share_counter(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
}

static void assert_many_fail(void) {
    ck_assert_msg(failure_count > tried_count / 4,
                  "of %ju allocations only %ju are missed when they fail", (uintmax_t)tried_count,
                  (uintmax_t)failure_count);
    (void)munmap(shared, sizeof *shared);
}

static void begin_trials(bool all_after) {
    all_after_fail = all_after;
    some_are_enough = getenv("GROUT_TEST_SOME_ALLOCATIONS") != NULL;
    failing_allocation = 0;
    if (!some_are_enough) { /* else it may try none at all */
        tried_count = 0;
        failure_count = 0;
    }
    share_counter();
}

/* A run of work in which nothing fails, to note which allocations are to be tried. */
static void choose_allocations(bool (*work)(void *payload), void *payload) {
    is_choosing = true;
    noted_count = 0;
    const bool is_done = work(payload);
    is_choosing = false;
    ck_assert_msg(is_done, "it fails with all the memory it asks for");
}

void failing_try_all(bool all_after, bool (*work)(void *payload), void *payload) {
    begin_trials(all_after);
    if (some_are_enough) {
        choose_allocations(work, payload);
    }
    for (;; failing_allocation++) {
        if (some_are_enough && failing_allocation < noted_count &&
            is_left_out[failing_allocation]) {
            continue;
        }
        const bool is_done = work(payload);
        if (!shared->has_failed) {
            ck_assert_msg(is_done, "it fails with all the memory it asks for");
            break;
        }
        tried_count++;
        failure_count += !is_done;
    }
    assert_many_fail();
}

void failing_fork_all(bool all_after, bool (*work)(void *payload), void *payload) {
    if (is_child) {
        _exit(EXIT_FAILURE); /* an assertion has failed in it, and Check goes on to the next test */
    }
    begin_trials(all_after);
    is_forking = true;
    const int64_t live_before = live_count;
    const bool is_done = work(payload);
    /* Leaks are counted: the leak sanitizer takes longer than all else that such a process does. */
    ck_assert_msg(live_count == live_before, "without allocation %ju, %jd others are not freed",
                  (uintmax_t)failing_allocation, (intmax_t)(live_count - live_before));
    if (!is_forking) {
        _exit(is_done ? CHILD_IS_DONE : CHILD_HAS_REPORTED);
    }
    is_forking = false;
    ck_assert_msg(is_done, "it fails with all the memory it asks for");
    assert_many_fail();
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
