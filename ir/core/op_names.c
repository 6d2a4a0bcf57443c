/* op_names.c - finds an operation by what others call it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/op_names.h"

#include "grout-internal/diagnose.h"

#include <string.h>

static const grout_op_name names[] = {
#define GROUT_OP_PTX(NAME, PTX)           {PTX, GROUT_OP_##NAME, true, NULL},
#define GROUT_OP_ALSO(NAME, OTHER)        {OTHER, GROUT_OP_##NAME, false, NULL},
#define GROUT_OP_NONE_FOR(OTHER, INSTEAD) {OTHER, GROUT_OP_NONE, false, INSTEAD},
#include "op_names.def"
};

enum { NAME_COUNT = sizeof names / sizeof names[0] };

const grout_op_name *grout_op_name_get(size_t index) {
    return index < NAME_COUNT ? &names[index] : NULL;
}

/* A text that is read letter by letter; marks between words, and those at its ends, are skipped. */
typedef struct reader {
    const char *at, *end;
} reader;

static bool is_mark(char c) {
    return c == '.' || c == ':' || c == '_';
}

static reader begin(const char *text, size_t size) {
    reader r = {text, text + size};
    while (r.at < r.end && is_mark(*r.at)) {
        r.at++;
    }
    return r;
}

/* The next letter in lower case; '.' for marks between words, 0 at the end. */
static int next(reader *r) {
    if (r->at == r->end) {
        return '\0';
    }
    if (!is_mark(*r->at)) {
        const int c = (unsigned char)*r->at++;
        return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
    }
    while (r->at < r->end && is_mark(*r->at)) {
        r->at++;
    }
    return r->at < r->end ? '.' : '\0';
}

/*
 * How much of the name the word begins with, in letters; 0: not all of it. More words may follow
 * the name, after one word alone only as PTX has them: ld.global, but not store_all.
 */
static size_t match(const char *name, const char *text, size_t size) {
    reader known = begin(name, strlen(name)), given = begin(text, size);
    size_t letters = 0;
    bool has_words = false;
    for (int c = next(&known); c != '\0'; c = next(&known)) {
        if (next(&given) != c) {
            return 0;
        }
        has_words = has_words || c == '.';
        letters++;
    }
    const bool is_dotted = given.at < given.end && *given.at != '_';
    const int after = next(&given);
    return after == '\0' || (after == '.' && (has_words || is_dotted)) ? letters : 0;
}

static size_t find(const char *text, size_t size, const grout_op_name **found, size_t max) {
    size_t best = 0, count = 0;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        const size_t letters = match(names[i].text, text, size);
        if (letters > best) {
            best = letters;
            count = 0;
        }
        if (letters > 0 && letters == best && count < max) {
            found[count++] = &names[i];
        }
    }
    return count;
}

/* Without its first word, the name of a library; 0: it has one word. */
static size_t skip_library(const char *text, size_t size) {
    for (size_t i = 1; i + 1 < size; i++) {
        if (is_mark(text[i]) && text[i] != '_') {
            return i + 1;
        }
    }
    return 0;
}

size_t grout_op_names_find(const char *text, size_t size, const grout_op_name **found, size_t max) {
    size_t count = find(text, size, found, max);
    for (size_t skipped = skip_library(text, size); count == 0 && skipped > 0;
         skipped = skip_library(text, size)) {
        text += skipped;
        size -= skipped;
        count = find(text, size, found, max);
    }
    return count;
}

bool grout_op_names_help(grout_diags *diags, const char *text, size_t size) {
    enum { NAMES_MAX = 3 };
    const grout_op_name *found[NAMES_MAX];
    const char *words[NAMES_MAX] = {0};
    const size_t count = grout_op_names_find(text, size, found, NAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        words[i] = grout_op_get_info(found[i]->opcode)->text;
    }
    if (count > 0 && found[0]->instead != NULL) {
        grout_diags_help(diags, "%s", found[0]->instead);
    } else if (count == 1) {
        grout_diags_help(diags, "did you mean '%s'?", words[0]);
    } else if (count == 2) {
        grout_diags_help(diags, "did you mean '%s' or '%s'?", words[0], words[1]);
    } else if (count == NAMES_MAX) {
        grout_diags_help(diags, "did you mean '%s', '%s' or '%s'?", words[0], words[1], words[2]);
    }
    return count > 0;
}
