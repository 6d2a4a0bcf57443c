/* main.c - 'grout check --expect' under several schedules and timings, which must not change what
 * is found:
 *     grout-expect [--seeds N] [--all-timings] [OPTION...] FILE...
 * --seeds N: the fair schedule, and random ones with the seeds 1 to N. --all-timings: lazy, eager
 * and random. Both: every combination. The other options are those of 'grout check'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "expect.h"
#include "host_posix.h"
#include "signals_posix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static grout_expect_variants variants;

static int check(grout_session *session) {
    return grout_expect__run(session, &variants);
}

/* How many words an option of this program has; 0: it is none. */
static int read_option(char **argv, int left) {
    if (strcmp(argv[0], "--all-timings") == 0) {
        variants.has_timings = true;
        return 1;
    }
    if (strcmp(argv[0], "--seeds") == 0 && left > 1) {
        variants.seed_count = strtoull(argv[1], NULL, 10);
        return 2;
    }
    return 0;
}

int main(int argc, char **argv) {
    grout_command_function *const functions[GROUT_COMMAND_COUNT] = {[GROUT_COMMAND_CHECK] = check};
    const char *const first[] = {argv[0], "check", "--expect"};
    enum { FIRST = sizeof first / sizeof *first };
    char **const words = calloc((size_t)argc + FIRST, sizeof *words);
    int count = 0;
    if (words == NULL) {
        return EXIT_FAILURE;
    }
    for (size_t k = 0; k < FIRST; k++) {
        words[count++] = (char *)first[k];
    }
    for (int k = 1; k < argc;) {
        const int own = read_option(argv + k, argc - k);
        if (own == 0) {
            words[count++] = argv[k];
        }
        k += own == 0 ? 1 : own;
    }
    int exit_code = grout_cli_call(count, words, grout_host_posix_get(), functions);
    free(words);
    return grout_signals_posix__get_exit_code(exit_code);
}
