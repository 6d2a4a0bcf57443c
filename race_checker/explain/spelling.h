/*
 * spelling.h - operations and names as the author of a module writes them: spellings.def.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_SPELLING_H
#define GROUT_RACE_CHECKER_SPELLING_H

#include "sentences.h"

#include "grout/text.h"

/* GROUT_SPELLING_COMMIT_SMEM and so on. */
typedef enum grout_spelling_id {
#define GROUT_SPELLING(ID, TEXT, PALLAS) GROUT_SPELLING_##ID,
#include "spellings.def"
    GROUT_SPELLING_COUNT
} grout_spelling_id;

/* Appends it; words may be NULL if it has no placeholders. */
void grout_spelling__add(grout_text *out, grout_surface surface, grout_spelling_id spelling,
                         const grout_words *words);
/* As the table has it. */
const char *grout_spelling__get(grout_surface surface, grout_spelling_id spelling);

/* Appends an element of a barrier or a semaphore: "%bar[1]", "bar[1]" in Python; "bar" where there
 * is one only. */
void grout_element__print(const grout_module *module, grout_object_id object, int64_t index,
                          grout_text *out);

#endif
