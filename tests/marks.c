/* marks.c - assertions that hold leave no mark where a test runs in its own process.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Check notes at each assertion that holds where it is, in a file, so that the parent of a test
 * that crashes can say what it had reached. With CK_FORK=no there is no parent, and the note is a
 * system call that nobody needs: in some tests half of their time. The linker puts this function
 * in its place (--wrap).
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The linker's names. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

static bool has_parent;

/* Before main, and before a test starts threads. */
__attribute__((constructor)) static void find_parent(void) {
    const char *fork = getenv("CK_FORK");
    has_parent = fork == NULL || strcmp(fork, "no") != 0;
}

void __wrap__mark_point(const char *file, int line) {
    if (has_parent) {
        __real__mark_point(file, line);
    }
}
