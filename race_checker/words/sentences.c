/*
 * sentences.c - fills the placeholders of sentences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sentences.h"

#include "invariant.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const char *const SENTENCES[] = {
#define GROUT_SENTENCE(ID, TEXT) [GROUT_SENTENCE_##ID] = TEXT,
#include "sentences.def"
};

static const char *const PHRASES[] = {
#define GROUT_PHRASE(ID, TEXT) [GROUT_PHRASE_##ID] = TEXT,
#include "sentences.def"
};

/* A placeholder, and where its word lies in grout_words. */
typedef struct word_row {
    const char *name;
    size_t offset;
    bool is_number;
} word_row;

static const word_row WORDS[] = {
#define GROUT_WORD(NAME, MEANING)   {#NAME, offsetof(grout_words, NAME), false},
#define GROUT_NUMBER(NAME, MEANING) {#NAME, offsetof(grout_words, NAME), true},
#include "sentences.def"
};

static const word_row *find_word(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strlen(WORDS[i].name) == size && memcmp(WORDS[i].name, name, size) == 0) {
            return &WORDS[i];
        }
    }
    return NULL;
}

static void add_word(grout_text *out, const word_row *row, const grout_words *words) {
    const char *word = (const char *)words + row->offset;
    const char *text = NULL;
    int64_t number = 0;
    if (row->is_number) {
        memcpy(&number, word, sizeof number);
        grout_text_add(out, "%" PRId64, number);
        return;
    }
    memcpy(&text, word, sizeof text);
    GROUT_ASSERT(text != NULL); /* a placeholder that nobody has filled */
    grout_text_add(out, "%s", text ? text : row->name);
}

void grout_sentence__fill(grout_text *out, const char *text, const grout_words *words) {
    const grout_words none = {0};
    const char *rest = text;
    for (const char *open = strchr(rest, '{'); open; open = strchr(rest, '{')) {
        size_t size = strcspn(open + 1, "}");
        const word_row *row = find_word(open + 1, size);
        grout_text_add_bytes(out, rest, (size_t)(open - rest));
        GROUT_ASSERT(row != NULL); /* check_sentences.c looks at all */
        if (row) {
            add_word(out, row, words ? words : &none);
        }
        rest = open + 1 + size;
        rest += *rest == '}' ? 1 : 0;
    }
    grout_text_add_bytes(out, rest, strlen(rest));
}

void grout_sentence__add(grout_text *out, grout_sentence_id sentence, const grout_words *words) {
    grout_sentence__fill(out, grout_sentence__get(sentence), words);
}

const char *grout_sentence__get(grout_sentence_id sentence) {
    GROUT_ASSERT(sentence < GROUT_SENTENCE_COUNT);
    return SENTENCES[sentence];
}

const char *grout_phrase__get(grout_phrase_id phrase) {
    GROUT_ASSERT(phrase < GROUT_PHRASE_COUNT);
    return PHRASES[phrase];
}

const char *grout_phrase__get_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

bool grout_sentence__is_word(const char *name, size_t size) {
    return find_word(name, size) != NULL;
}
