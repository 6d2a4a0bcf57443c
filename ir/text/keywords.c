/* keywords.c - the words that no const and no axis may take as its name, and operations to come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <string.h>

/* The kinds of later.def: an operation is no reserved word. */
#define KIND_OP   GROUT_WORD_FREE
#define KIND_WORD GROUT_WORD_NOT_YET

static bool is_among(const char *const *words, size_t count, const char *text, size_t size) {
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == size && memcmp(words[i], text, size) == 0) {
            return true;
        }
    }
    return false;
}

const grout_later *grout_word__find_later(const char *text, size_t size) {
    static const grout_later laters[] = {
#define GROUT_LATER(text, KIND, NEEDS, INSTEAD) {text, GROUT_NEEDS_##NEEDS, KIND_##KIND, INSTEAD},
#include "later.def"
    };
    for (size_t i = 0; i < sizeof laters / sizeof laters[0]; i++) {
        if (is_among(&laters[i].text, 1, text, size)) {
            return &laters[i];
        }
    }
    return NULL;
}

/* The kinds of keywords.def. */
#define KIND_MODULE    GROUT_WORD_KEYWORD
#define KIND_PARAMETER GROUT_WORD_KEYWORD
#define KIND_AXES      GROUT_WORD_KEYWORD
#define KIND_OBJECT    GROUT_WORD_KEYWORD
#define KIND_TRANSFORM GROUT_WORD_KEYWORD
#define KIND_FLOW      GROUT_WORD_KEYWORD
#define KIND_CONSTANT  GROUT_WORD_KEYWORD
#define KIND_FUNCTION  GROUT_WORD_KEYWORD

grout_word_kind grout_word__get_kind(const char *text, size_t size) {
    static const struct {
        const char *text;
        grout_word_kind kind;
    } keywords[] = {
#define GROUT_KEYWORD(text, KIND) {text, KIND_##KIND},
#include "grout-internal/keywords.def"
    };
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (is_among(&keywords[i].text, 1, text, size)) {
            return keywords[i].kind;
        }
    }
    if (grout_op_find(text, size) != GROUT_OP_NONE ||
        grout_dtype_find(text, size) != GROUT_DTYPE_NONE ||
        grout_attr_find(text, size) != GROUT_ATTR_COUNT ||
        grout_space_find(text, size) != GROUT_SPACE_NONE ||
        grout_generator_find(text, size) != GROUT_GENERATOR_COUNT) {
        return GROUT_WORD_KEYWORD;
    }
    const grout_later *later = grout_word__find_later(text, size);
    return later != NULL ? later->kind : GROUT_WORD_FREE;
}
