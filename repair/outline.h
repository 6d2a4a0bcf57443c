/* outline.h - what the lines of one kernel are: which synchronise, and between which a line can
 * stand.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_OUTLINE_H
#define GROUT_REPAIR_OUTLINE_H

#include "deadline.h"
#include "text_lines.h"

#include "grout-internal/tables.h"

typedef struct grout_outline_line {
    size_t depth;                /* blocks that are open before it */
    const grout_sync_info *sync; /* of a statement that has the line for itself; NULL: none */
    grout_span mnemonic;
    grout_span operands; /* what follows the mnemonic */
    grout_span object;   /* "%full[%slot]": its first operand that names a barrier; or empty */
    uint32_t role;   /* which outermost branch or partition it stands in: its threads; 0: in none */
    bool has_result; /* "%x = ..." */
    bool is_statement; /* of the kernel, whole, and it owns no block */
    bool is_place;     /* a line can be put before it */
    bool is_scratch;   /* a declaration */
} grout_outline_line;

/* A barrier, an mbarrier or a semaphore. */
typedef struct grout_outline_object {
    grout_span name; /* "%full" */
    grout_sync_object kind;
} grout_outline_object;

typedef struct grout_outline {
    const grout_text_lines *lines;
    grout_outline_line *items; /* one for each line */
    struct {
        grout_outline_object *items;
        size_t count, capacity;
    } objects;
    bool has_cluster;        /* it is launched in clusters */
    grout_span cluster_axis; /* the first one; empty: none */
    /* What is proposed is made of these lines and put beside them: those around a finding, so that
     * it takes as long in a long kernel as in a short one. */
    size_t first, end;
    const grout_deadline *deadline;
} grout_outline;

/* Reads the lines of the kernel (NULL: of all kernels) and of functions. False without memory.
 * Deinit even then. The deadline is that of the caller. */
bool grout_outline__init(grout_outline *outline, const grout_text_lines *lines, const char *kernel,
                         const grout_deadline *deadline);
/* Looks at the lines around one, from 0; before that, at all. */
void grout_outline__look_at(grout_outline *outline, size_t line);
/* Whether there is time for more proposals; if not, there are fewer. */
bool grout_outline__goes_on(const grout_outline *outline);
void grout_outline__deinit(grout_outline *outline);
/* The object that a text begins with; NULL: none. */
const grout_outline_object *grout_outline__find_object(const grout_outline *outline,
                                                       grout_span text);

/* The names that a statement before a line can use; at most this many are looked at. */
typedef struct grout_outline_names {
    grout_span items[96];
    size_t count;
} grout_outline_names;

void grout_outline__find_names(const grout_outline *outline, size_t line, grout_outline_names *out);
/* Whether all names of a text are among these. */
bool grout_outline_names__have(const grout_outline_names *names, grout_span text);

/* Takes the text up to the next comma that is in no bracket, and drops it from the text. */
grout_span grout_span__take_operand(grout_span *text);
/* Takes a name with its sign: "%slot"; empty if the text begins with none. */
grout_span grout_span__get_name(grout_span text);
/* Whether the name stands in the text as a whole word. */
bool grout_span__has_name(grout_span text, grout_span name);

/* The first " WORD(..)" of a line; empty: it has none. */
grout_span grout_span__find_attribute(grout_span code, const char *word);
/* The first one that a line is written with; empty: none is. */
grout_span grout_outline__find_attribute(const grout_outline *outline, const char *word);

#endif
