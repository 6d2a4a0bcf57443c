/* comments.h - the comments of a kernel file, and which line of code each is about.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_COMMENTS_H
#define GROUT_CALL_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct grout_span {
    const char *data;
    size_t size;
} grout_span;

/* Without the blanks around it. */
grout_span grout_span__trim(grout_span text);
/* Whether the text starts with this; if so, drops it and the blanks after it. */
bool grout_span__take(grout_span *text, const char *start);
/* The part before the separator (all if there is none), trimmed; text then begins after it. */
grout_span grout_span__split(grout_span *text, char separator);

/* Where the comment of a line starts, outside of string literals; the line's size if it has none.
 */
size_t grout_span__find_comment(grout_span line);

/*
 * One '// ...'. A comment after code is about its own line, one alone on its line about the next
 * line with code. One line may hold several: '// a // b'.
 */
typedef struct grout_comment {
    grout_span text; /* after the slashes, trimmed */
    uint32_t line;
    uint32_t code_line; /* 0: no code follows */
} grout_comment;

typedef struct grout_comments {
    grout_comment *items; /* in the order of the text, which they point into */
    size_t count, capacity;
} grout_comments;

/* False without memory. Deinit even then. */
bool grout_comments__init(grout_comments *comments, const char *text, size_t size);
void grout_comments__deinit(grout_comments *comments);

#endif
