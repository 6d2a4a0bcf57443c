/* comments.h - the comments of a kernel file, and which line of code each speaks of.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_COMMENTS_H
#define GROUT_CLI_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct grout_span {
    const char *data;
    size_t size;
} grout_span;

/* Without the blanks around it. */
grout_span grout_span__trim(grout_span text);
/* Whether the text starts so; it then goes on behind that and its blanks. */
bool grout_span__take(grout_span *text, const char *start);
/* What stands before the separator (all if there is none), trimmed; text goes on behind it. */
grout_span grout_span__split(grout_span *text, char separator);

/*
 * One '// ...'. A comment behind code speaks of its own line, one alone on its line of the next
 * line with code. Several may stand in one line: '// a // b'.
 */
typedef struct grout_comment {
    grout_span text; /* behind the slashes, trimmed */
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
