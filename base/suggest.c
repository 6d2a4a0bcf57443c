/* suggest.c - edit distance with transpositions, kept to three rows and short words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "suggest.h"

#include "invariant.h"

#include <string.h>

enum { WORD_MAX = 64, BEGINNING_MIN = 3, OFFERS_MAX = 5000 };

static grout_suggestion begin(const char *wanted, size_t wanted_size, uint32_t allowed) {
    return (grout_suggestion){.wanted = wanted,
                              .wanted_size = wanted_size,
                              .best_distance = allowed + 1,
                              .offers_left = wanted_size <= WORD_MAX ? OFFERS_MAX : 0};
}

grout_suggestion grout_suggest__begin(const char *wanted, size_t wanted_size) {
    /* One slip in short words, two or three in longer ones. */
    return begin(wanted, wanted_size, wanted_size < 5 ? 1 : wanted_size < 8 ? 2 : 3);
}

grout_suggestion grout_suggest__begin_command(const char *wanted) {
    size_t size = strlen(wanted);
    grout_suggestion suggestion =
        begin(wanted, size, size < 5 || size > WORD_MAX ? 1 : 1 + (uint32_t)size / 4);
    suggestion.accepts_beginnings = true;
    return suggestion;
}

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/* Insertions, deletions, replacements and swaps of neighbours from a to b; both are short. */
static uint32_t measure(const char *a, size_t a_size, const char *b, size_t b_size) {
    uint32_t rows[3][WORD_MAX + 1];
    GROUT_ASSERT(a_size <= WORD_MAX && b_size <= WORD_MAX);
    for (uint32_t j = 0; j <= b_size; j++) {
        rows[0][j] = j;
    }
    for (uint32_t i = 1; i <= a_size; i++) {
        uint32_t *row = rows[i % 3];
        const uint32_t *above = rows[(i + 2) % 3];
        const uint32_t *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= b_size; j++) {
            uint32_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                above2[j - 2] + 1 < row[j]) {
                row[j] = above2[j - 2] + 1;
            }
        }
    }
    return rows[a_size % 3][b_size];
}

/* Whether the word begins with what is wanted, and this is long enough to be no accident. */
static bool is_begun(const grout_suggestion *suggestion, const char *word) {
    return suggestion->accepts_beginnings && suggestion->wanted_size >= BEGINNING_MIN &&
           strncmp(word, suggestion->wanted, suggestion->wanted_size) == 0;
}

/* If two words of a kernel are equally near, one that only has extra letters is more likely: people
 * leave out a letter more easily than they mistake one. */
static bool is_nearer(const grout_suggestion *suggestion, size_t size, uint32_t distance) {
    if (distance != suggestion->best_distance || suggestion->best == NULL ||
        suggestion->accepts_beginnings) {
        return distance < suggestion->best_distance;
    }
    size_t whole = suggestion->wanted_size + distance;
    return size == whole && strlen(suggestion->best) != whole;
}

void grout_suggest__offer(grout_suggestion *suggestion, const char *word) {
    if (suggestion->offers_left == 0) {
        return;
    }
    suggestion->offers_left--;
    size_t size = strlen(word);
    size_t shorter = size < suggestion->wanted_size ? size : suggestion->wanted_size;
    size_t longer = size < suggestion->wanted_size ? suggestion->wanted_size : size;
    bool has_begun = is_begun(suggestion, word);
    if (!has_begun && (size > WORD_MAX || longer - shorter > suggestion->best_distance)) {
        return;
    }
    uint32_t distance =
        has_begun ? 1 : measure(suggestion->wanted, suggestion->wanted_size, word, size);
    /* If no letter is left of a word, it is no suggestion. */
    if (is_nearer(suggestion, size, distance) && distance < longer) {
        suggestion->best_distance = distance;
        suggestion->best = word;
    }
}
