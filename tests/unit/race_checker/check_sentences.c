/* check_sentences.c - each sentence of sentences.def can be filled, and is one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "race_checker/words/sentences.h"
#include "tests/tests.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table, read once more ---- */

static const char *const phrases[] = {
#define GROUT_PHRASE(ID, TEXT) TEXT,
#include "race_checker/words/sentences.def"
};

enum { NUMBER_FIRST = 1000, TEXT_SIZE = 1024 };

/* What fills a placeholder here: its name in angle brackets, or a number of its own. */
static const struct {
    const char *name, *text, *meaning;
    int number;
} words[] = {
#define GROUT_WORD(NAME, MEANING)   {#NAME, "<" #NAME ">", MEANING, 0},
#define GROUT_NUMBER(NAME, MEANING) {#NAME, NULL, MEANING, NUMBER_FIRST + (int)sizeof #NAME},
#include "race_checker/words/sentences.def"
};

static const grout_words filled = {
#define GROUT_WORD(NAME, MEANING)   .NAME = "<" #NAME ">",
#define GROUT_NUMBER(NAME, MEANING) .NAME = NUMBER_FIRST + (int)sizeof #NAME,
#include "race_checker/words/sentences.def"
};

enum { WORD_COUNT = sizeof words / sizeof *words };

static size_t find_word(const char *name, size_t size) {
    size_t i = 0;
    while (i < WORD_COUNT &&
           (strlen(words[i].name) != size || memcmp(words[i].name, name, size) != 0)) {
        i++;
    }
    return i;
}

/* The sentence with its placeholders filled; fails where one is not known. */
static void expect(const char *sentence, char *out) {
    size_t size = 0;
    while (*sentence) {
        if (*sentence != '{') {
            ck_assert_msg(*sentence != '}', "a bracket too many: '%s'", sentence);
            out[size++] = *sentence++;
            continue;
        }
        size_t length = strcspn(sentence + 1, "{}"), i = find_word(sentence + 1, length);
        ck_assert_msg(sentence[1 + length] == '}', "a bracket is not closed: '%s'", sentence);
        ck_assert_msg(i < WORD_COUNT, "'%.*s' is not a placeholder", (int)length, sentence + 1);
        size +=
            (size_t)(words[i].text ? snprintf(out + size, TEXT_SIZE - size, "%s", words[i].text)
                                   : snprintf(out + size, TEXT_SIZE - size, "%d", words[i].number));
        sentence += length + 2;
    }
    out[size] = '\0';
}

/* One line, no full stop, no two spaces: what the lists of a report are made of. */
static void check_style(const char *text) {
    size_t size = strlen(text);
    ck_assert_msg(strpbrk(text, "\n\t%") == NULL, "'%s' is not plain text", text);
    ck_assert_msg(strstr(text, "  ") == NULL, "'%s' has two spaces", text);
    ck_assert_msg(size == 0 || text[size - 1] != '.', "'%s' ends in a full stop", text);
    ck_assert_msg(size < 2 || !isupper((unsigned char)text[0]) || !islower((unsigned char)text[1]),
                  "'%s' begins with a capital", text);
}

/* ---- sentences and phrases ---- */

TEST(each_sentence_is_filled) {
    for (int i = 0; i < GROUT_SENTENCE_COUNT; i++) {
        const char *sentence = grout_sentence__get((grout_sentence_id)i);
        char expected[TEXT_SIZE];
        grout_text text = {.allocator = NULL};
        ck_assert_uint_lt(strlen(sentence), TEXT_SIZE / 2);
        expect(sentence, expected);
        grout_sentence__add(&text, (grout_sentence_id)i, &filled);
        ck_assert(!text.failed);
        ck_assert_str_eq(text.data, expected);
        grout_text_free(&text);
    }
}

TEST(each_sentence_is_in_style) {
    for (int i = 0; i < GROUT_SENTENCE_COUNT; i++) {
        const char *sentence = grout_sentence__get((grout_sentence_id)i);
        check_style(sentence);
        ck_assert_uint_gt(strlen(sentence), 0);
    }
}

TEST(each_phrase_is_in_style) {
    for (int i = 0; i < GROUT_PHRASE_COUNT; i++) {
        check_style(phrases[i]);
        ck_assert_msg(strpbrk(phrases[i], "{}") == NULL, "'%s' has placeholders", phrases[i]);
        ck_assert_str_eq(grout_phrase__get((grout_phrase_id)i), phrases[i]);
    }
}

/* ---- words ---- */

TEST(each_word_says_what_it_means) {
    for (size_t i = 0; i < WORD_COUNT; i++) {
        ck_assert(grout_sentence__is_word(words[i].name, strlen(words[i].name)));
        ck_assert_msg(strlen(words[i].meaning) > 3, "what is {%s}?", words[i].name);
    }
}

TEST(other_words_are_none) {
    ck_assert(!grout_sentence__is_word("nobody", 6));
    ck_assert(!grout_sentence__is_word("line", 3));
    ck_assert(!grout_sentence__is_word("", 0));
}

TEST(long_words_are_not_cut) {
    char word[4000];
    grout_text text = {.allocator = NULL};
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    grout_sentence__add(&text, GROUT_SENTENCE_BY, &(grout_words){.actor = word});
    ck_assert_uint_eq(text.size, strlen(", by ") + strlen(word));
    grout_text_free(&text);
}

static void *allocate_nothing(void *payload, void *memory, size_t old_size, size_t size) {
    (void)payload;
    (void)old_size;
    if (size == 0) {
        free(memory);
    }
    return NULL;
}

TEST(want_of_memory_is_told) {
    const grout_allocator allocator = {allocate_nothing, NULL};
    grout_text text = {.allocator = &allocator};
    grout_sentence__add(&text, GROUT_SENTENCE_BY, &filled);
    ck_assert(text.failed);
    grout_text_free(&text);
}

TEST(one_is_no_plural) {
    ck_assert_str_eq(grout_phrase__get_plural(1), "");
    ck_assert_str_eq(grout_phrase__get_plural(0), "s");
    ck_assert_str_eq(grout_phrase__get_plural(2), "s");
}
