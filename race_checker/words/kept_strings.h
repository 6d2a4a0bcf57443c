/*
 * kept_strings.h - strings that live until all of them are freed: those of a report, and the names
 * that go into the sentences of a deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_KEPT_STRINGS_H
#define GROUT_RACE_CHECKER_KEPT_STRINGS_H

#include "grout-internal/diagnose.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct grout_strings {
    char **items;
    uint32_t count, capacity;
    bool has_failed; /* one was lost for want of memory */
    char nothing[1]; /* "" */
} grout_strings;

/* Takes the text over: a string that lives as long as the others. "" without memory. */
char *grout_strings__keep(grout_strings *strings, const grout_allocator *allocator,
                          grout_text *text);
void grout_strings__free(grout_strings *strings);

#endif
