/*
 * suggest.h - 'did you mean': the known word nearest to one that is not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_SUGGEST_H
#define GROUT_IR_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct grout_suggestion {
    const char *wanted;
    size_t wanted_size;
    const char *best; /* NUL-terminated, of those offered; NULL if none is near */
    uint32_t best_distance;
    uint32_t offers_left; /* so that no text can make it slow */
} grout_suggestion;

grout_suggestion grout_suggest__begin(const char *wanted, size_t wanted_size);
/* Keeps the word if it is nearer than those before. */
void grout_suggest__offer(grout_suggestion *suggestion, const char *word);

#endif
