/* phrases.h - statements that a kernel could have once more: those that it has, those that go with
 * its copies, and each way to use its barriers. SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_PHRASES_H
#define GROUT_REPAIR_PHRASES_H

#include "outline.h"

/* A statement's text, and how unusual it would be. */
typedef struct grout_phrase {
    char *text;
    grout_sync_mode mode;
    grout_span object; /* the name of its barrier; empty: none */
    uint32_t cost;
} grout_phrase;

/* Zero-initialise. No text is in it twice. */
typedef struct grout_phrases {
    grout_phrase *items;
    size_t count, capacity;
} grout_phrases;

/* Whether the second operand of a line's operation is a parity. */
bool grout_outline_line__takes_parity(const grout_outline_line *line);
/* False without memory. The outline has to live as long. Deinit even then. */
bool grout_phrases__init(grout_phrases *phrases, const grout_outline *outline);
void grout_phrases__deinit(grout_phrases *phrases);

#endif
