/*
 * plain_host.h - for tests of the command on a host that lives in memory: answers that do not
 * matter to them, and a call of a line of words.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_PLAIN_HOST_H
#define GROUT_TEST_PLAIN_HOST_H

#include "cli/commands/commands.h"

#include <check.h>
#include <string.h>

static inline uint32_t get_no_columns(void *payload, grout_stream stream) {
    (void)payload;
    (void)stream;
    return 0;
}

static inline const char *get_no_env(void *payload, const char *name) {
    (void)payload;
    (void)name;
    return NULL;
}

static inline uint64_t get_some_memory(void *payload) {
    (void)payload;
    return 1u << 26;
}

/* The exit code of "check k.grout ..". */
static inline int call_line(const grout_host *host, const char *line) {
    char words[128];
    char *argv[16] = {NULL};
    int argc = 1;
    ck_assert_uint_lt(strlen(line), sizeof words);
    strcpy(words, line);
    for (char *word = strtok(words, " "); word != NULL && argc < 15; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    return grout_cli_main(argc, argv, host);
}

#endif
