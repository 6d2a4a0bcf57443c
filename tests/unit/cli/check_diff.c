/* check_diff.c - a difference makes the one text of the other, however many lines differ.
 * SPDX-License-Identifier: Apache-2.0 */
#include "repair/diff.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

/* Lines of a text; drawn by steps of a generator. */
static uint32_t draw(uint32_t *state, uint32_t below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void add_line(grout_text *text, uint32_t word) {
    grout_text_add(text, "line %u\n", (unsigned)word);
}

/* The next line, which is dropped from the text; its end included. */
static size_t get_size(const char *text) {
    const char *end = strchr(text, '\n');
    return end == NULL ? strlen(text) : (size_t)(end - text) + 1;
}

/* Applies the hunks to a text, and looks that what they say of it is there. */
static void apply(const char *before, const char *diff, grout_text *out) {
    unsigned at = 1;
    for (; strncmp(diff, "---", 3) == 0 || strncmp(diff, "+++", 3) == 0; diff += get_size(diff)) {
    }
    while (*diff != '\0') {
        if (diff[0] == '@') {
            unsigned first = (unsigned)strtoul(diff + 4, NULL, 10);
            for (; at < first; at++) {
                grout_text_add_bytes(out, before, get_size(before));
                before += get_size(before);
            }
        } else if (diff[0] == '+') {
            grout_text_add_bytes(out, diff + 1, get_size(diff) - 1);
        } else {
            ck_assert(diff[0] == ' ' || diff[0] == '-');
            ck_assert_uint_eq(get_size(diff) - 1, get_size(before));
            ck_assert_int_eq(strncmp(diff + 1, before, get_size(before)), 0);
            if (diff[0] == ' ') {
                grout_text_add_bytes(out, before, get_size(before));
            }
            before += get_size(before);
            at++;
        }
        diff += get_size(diff);
    }
    grout_text_add(out, "%s", before);
}

/* count lines of this many words; one in this many is changed, taken out or put in. */
typedef struct texts {
    uint32_t count, words, each;
} texts;

static const texts all[] = {{0, 3, 2},     {1, 1, 1},    {5, 2, 2},    {40, 3, 4},
                            {200, 50, 10}, {900, 9, 90}, {1500, 2, 2}, {3000, 5000, 3}};
#define TEXT_COUNT (sizeof all / sizeof all[0])

TEST_EACH(a_difference_makes_the_other_text, (int)(8 * TEXT_COUNT)) {
    const texts *t = &all[(size_t)_i % TEXT_COUNT];
    uint32_t state = (uint32_t)_i + 1;
    grout_text before = {0}, after = {0}, diff = {0}, made = {0};
    grout_text_add(&before, "first\n");
    grout_text_add(&after, "first\n");
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t word = draw(&state, t->words), way = draw(&state, 3 * t->each);
        add_line(&before, word);
        if (way < 2) {
            add_line(&after, draw(&state, t->words));
        }
        if (way != 0) {
            add_line(&after, word);
        }
    }
    ck_assert(grout_diff__print("k.grout", &before, &after, false, &diff));
    apply(before.data, diff.data == NULL ? "" : diff.data, &made);
    ck_assert_str_eq(made.data, after.data);
    grout_text_free(&before);
    grout_text_free(&after);
    grout_text_free(&diff);
    grout_text_free(&made);
}

TEST(few_changes_are_shown_alone) {
    grout_text before = {0}, after = {0}, diff = {0};
    for (uint32_t i = 0; i < 2000; i++) {
        add_line(&before, i % 7);
        add_line(&after, i == 1000 ? 99 : i % 7);
    }
    ck_assert(grout_diff__print("k.grout", &before, &after, false, &diff));
    ck_assert_str_eq(diff.data, "--- k.grout\n+++ k.grout\n@@ -998,7 +998,7 @@\n line 3\n line 4\n"
                                " line 5\n-line 6\n+line 99\n line 0\n line 1\n line 2\n");
    grout_text_free(&before);
    grout_text_free(&after);
    grout_text_free(&diff);
}
