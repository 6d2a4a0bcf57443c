/*
 * sentences.h - the sentences of sentences.def and the spellings of spellings.def, and how their
 * placeholders are filled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_SENTENCES_H
#define GROUT_RACE_CHECKER_SENTENCES_H

#include "grout-internal/diagnose.h"
#include "grout-internal/text.h"

#include <stdbool.h>
#include <stdint.h>

/* GROUT_SENTENCE_COMMIT_READ_HEAD and so on. */
typedef enum grout_sentence_id {
#define GROUT_SENTENCE(ID, TEXT) GROUT_SENTENCE_##ID,
#include "sentences.def"
    GROUT_SENTENCE_COUNT
} grout_sentence_id;

/* GROUT_PHRASE_WARP and so on: no placeholders, to be put into those of sentences. */
typedef enum grout_phrase_id {
#define GROUT_PHRASE(ID, TEXT) GROUT_PHRASE_##ID,
#include "sentences.def"
    GROUT_PHRASE_COUNT
} grout_phrase_id;

/* What is put into the placeholders: .line for {line}. tools/lint_sentences.py sees to it that each
 * sentence gets its words, all of them and no others. */
typedef struct grout_words {
#define GROUT_WORD(NAME, MEANING)   const char *NAME;
#define GROUT_NUMBER(NAME, MEANING) int64_t NAME;
#include "sentences.def"
} grout_words;

/* Appends the sentence; words may be NULL if it has no placeholders. */
void grout_sentence__add(grout_text *out, grout_sentence_id sentence, const grout_words *words);
const char *grout_phrase__get(grout_phrase_id phrase);
/* "s" where there are several, "" where there is one. */
const char *grout_phrase__get_plural(int64_t count);

/* Appends a text with its placeholders filled: of a sentence, or of spellings.def. */
void grout_sentence__fill(grout_text *out, const char *text, const grout_words *words);
/* The sentence as the table has it. */
const char *grout_sentence__get(grout_sentence_id sentence);
/* Whether {name} is a placeholder. */
bool grout_sentence__is_word(const char *name, size_t size);

/* ---- spelling.c: operations and names as the author of a module writes them ---- */

/* GROUT_SPELLING_COMMIT_SMEM and so on. */
typedef enum grout_spelling_id {
#define GROUT_SPELLING(ID, TEXT, PALLAS) GROUT_SPELLING_##ID,
#include "spellings.def"
    GROUT_SPELLING_COUNT
} grout_spelling_id;

/* Appends it; words may be NULL if it has no placeholders. */
void grout_spelling__add(grout_text *out, grout_surface surface, grout_spelling_id spelling,
                         const grout_words *words);
/* As the table has it; in the text format without the mnemonic. */
const char *grout_spelling__get(grout_surface surface, grout_spelling_id spelling);
/* The op of a GROUT_SPELLING_OP; GROUT_OP_NONE: it is of another kind. */
grout_opcode grout_spelling__get_op(grout_spelling_id spelling);

/* Appends an element of a barrier or a semaphore: "%bar[1]", "bar[1]" in Python; "bar" where there
 * is one only. */
void grout_element__print(const grout_module *module, grout_object_id object, int64_t index,
                          grout_text *out);

#endif
