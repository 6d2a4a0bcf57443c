/* change.h - one change of a kernel file: lines put in, taken out, moved, or written anew.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_CHANGE_H
#define GROUT_REPAIR_CHANGE_H

#include "text_lines.h"

#include "grout-internal/race.h"

typedef enum grout_change_kind {
    GROUT_CHANGE_INSERT,  /* text on lines of its own, before or after the line */
    GROUT_CHANGE_MOVE,    /* the line 'from', with its comment, before the line */
    GROUT_CHANGE_REPLACE, /* bytes of the line become text */
    GROUT_CHANGE_REMOVE   /* the line goes */
} grout_change_kind;

/* Lines count from 0. Free the text with grout_change__deinit. */
typedef struct grout_change {
    grout_change_kind kind;
    bool is_after; /* INSERT: after the line */
    size_t line;
    size_t from;          /* MOVE */
    size_t column, count; /* REPLACE: which bytes of the line */
    char *text;           /* INSERT (several lines have '\n' between them) and REPLACE */
} grout_change;

/* The edit of a finding. False without memory. */
bool grout_change__read(const grout_finding_edit *edit, grout_change *out);
void grout_change__deinit(grout_change *change);
/*
 * Appends the changed text. A new line has the indentation of the one that it is put before or
 * after, one step more before a closing brace, and its line end. False: there is no such place.
 */
bool grout_change__apply(const grout_change *change, const grout_text_lines *lines,
                         grout_text *out);
/* Whether there is the place of the change. */
bool grout_change__is_in(const grout_change *change, const grout_text_lines *lines);
/* The same for many at once: each is in, inserts or replaces, and is of a line of its own, the last
 * line first. */
void grout_changes__apply(const grout_change *const *changes, size_t count,
                          const grout_text_lines *lines, grout_text *out);
/* The number, from 0, that a line has afterwards. */
size_t grout_change__map(const grout_change *change, size_t line);
/* "insert 'commit_smem' before line 12" */
void grout_change__describe(const grout_change *change, const grout_text_lines *lines,
                            grout_text *out);

#endif
