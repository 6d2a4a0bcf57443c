/*
 * suggest.h - 'did you mean': the known word nearest to one that is not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_SUGGEST_H
#define GROUT_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct grout_suggestion {
    const char *wanted;
    size_t wanted_size;
    const char *best; /* NUL-terminated, of those offered; NULL if none is near */
    uint32_t best_distance;
    uint32_t offers_left;    /* limits the work for any text */
    bool accepts_beginnings; /* a word that begins with what is wanted is one slip away */
} grout_suggestion;

/* For a word of a kernel. */
grout_suggestion grout_suggest__begin(const char *wanted, size_t wanted_size);
/* For a command, an option or a code, which are longer: allows more slips, and beginnings of words.
 * If two words are equally near, the first is kept. */
grout_suggestion grout_suggest__begin_command(const char *wanted);
/* Keeps the word if it is nearer than those before. */
void grout_suggest__offer(grout_suggestion *suggestion, const char *word);

#endif
