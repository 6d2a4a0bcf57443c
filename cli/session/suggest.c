/* suggest.c - the nearest word to a misspelt one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "invariant.h"

#include <string.h>

enum { WORD_SIZE_MAX = 63 };

static size_t get_min(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t get_max(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Levenshtein distance with transposition of neighbours; long words are infinitely far. */
static size_t get_distance(const char *a, const char *b) {
    size_t a_size = strlen(a), b_size = strlen(b);
    if (a_size > WORD_SIZE_MAX || b_size > WORD_SIZE_MAX) {
        return SIZE_MAX;
    }
    size_t rows[3][WORD_SIZE_MAX + 1];
    for (size_t j = 0; j <= b_size; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above_two = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);
            row[j] = get_min(replaced, get_min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = get_min(row[j], above_two[j - 2] + 1);
            }
        }
    }
    GROUT_ASSERT(rows[a_size % 3][b_size] <= get_max(a_size, b_size));
    return rows[a_size % 3][b_size];
}

void grout_suggestion__init(grout_suggestion *suggestion, const char *wanted) {
    *suggestion = (grout_suggestion){.wanted = wanted, .best_distance = SIZE_MAX};
}

void grout_suggestion__add(grout_suggestion *suggestion, const char *candidate) {
    size_t size = strlen(suggestion->wanted);
    bool is_start = size >= 3 && strncmp(candidate, suggestion->wanted, size) == 0;
    size_t distance = is_start ? 1 : get_distance(suggestion->wanted, candidate);
    /* A word of which nothing is left is no suggestion. */
    if (distance < suggestion->best_distance && distance < get_max(size, strlen(candidate))) {
        suggestion->best = candidate;
        suggestion->best_distance = distance;
    }
}

const char *grout_suggestion__get(const grout_suggestion *suggestion) {
    /* One slip in short words, more in longer ones. */
    GROUT_ASSERT((suggestion->best == NULL) == (suggestion->best_distance == SIZE_MAX));
    size_t size = strlen(suggestion->wanted);
    size_t allowed = size < 5 ? 1 : 1 + size / 4;
    return suggestion->best_distance <= allowed ? suggestion->best : NULL;
}

void grout_suggestion__help(const grout_suggestion *suggestion, grout_diags *diags,
                            const char *otherwise) {
    const char *near = grout_suggestion__get(suggestion);
    if (near != NULL) {
        grout_diags_help(diags, "did you mean '%s'?", near);
    } else {
        grout_diags_help(diags, "%s", otherwise);
    }
}
