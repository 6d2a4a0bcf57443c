/* expect.h - check --expect: findings against the expectation comments of a file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_EXPECT_H
#define GROUT_CHECK_EXPECT_H

#include "lookup.h"
#include "session.h"

typedef enum grout_expect_kind {
    GROUT_EXPECT_ERROR,
    GROUT_EXPECT_WARNING,
    GROUT_EXPECT_NOTE
} grout_expect_kind;
enum { GROUT_EXPECT_KINDS = GROUT_EXPECT_NOTE + 1 };

/* Something expected, or something found. */
typedef struct grout_expect_item {
    grout_expect_kind kind;
    grout_diag_code code;
    uint32_t line; /* of the place; 0: it has none */
    bool is_met;   /* an expectation that was found, or a finding that was expected */
    char *message; /* of a finding; owned */
} grout_expect_item;

/* Items, in the order added. */
typedef struct grout_expect_list {
    grout_expect_item *items;
    size_t count, capacity;
    grout_lookup by_key; /* of kind, code and line: the item, from 1 */
} grout_expect_list;

/* What the verdict holds for, as '// expect-holds:' says; the strongest first. */
typedef enum grout_expect_holds {
    GROUT_EXPECT_HOLDS_UNSAID,
    GROUT_EXPECT_HOLDS_EVERY,       /* every-schedule */
    GROUT_EXPECT_HOLDS_INTERLEAVED, /* every-interleaving */
    GROUT_EXPECT_HOLDS_THIS         /* this-schedule */
} grout_expect_holds;

/* In words, as they are written. */
const char *grout_expect_holds_get_text(grout_expect_holds holds);

/* The OPTIONS of a '// run:', and where they begin. */
typedef struct grout_expect_line {
    char *text; /* owned */
    uint32_t line, column;
} grout_expect_line;

typedef struct grout_expect_lines {
    grout_expect_line *items;
    size_t count, capacity;
} grout_expect_lines;

/* What a file's comments say. */
typedef struct grout_expectations {
    grout_expect_list list;
    grout_expect_lines runs;
    bool is_clean; /* the file has '// expect: clean' */
    grout_expect_holds holds;
    grout_text faults; /* comments that make no sense, a line each */
} grout_expectations;

/* False without memory. Deinit even then. name is the file's, for the faults. */
bool grout_expectations__read(const char *name, const char *text, size_t size,
                              grout_expectations *out);
void grout_expectations__deinit(grout_expectations *expectations);

/* message may be NULL. An item that is in the list already is not added again. */
bool grout_expect_list__add(grout_expect_list *list, const grout_expect_item *item);
void grout_expect_list__deinit(grout_expect_list *list);
/* Marks what is met on both sides; returns whether everything is. */
bool grout_expect__match(grout_expectations *expectations, grout_expect_list *found);
/* "expect-error", ... */
const char *grout_expect_kind_get_text(grout_expect_kind kind);

/* Under which schedules and timings a file runs. The findings must be the same under each. */
typedef struct grout_expect_variants {
    uint64_t
        seed_count;   /* > 0: fair, and random with the seeds 1 to this many; 0: as options say */
    bool has_timings; /* lazy, eager and random, not only as options say */
} grout_expect_variants;

/* The command: all files of the session. Returns the exit code. */
int grout_expect__run(grout_session *session, const grout_expect_variants *variants);

#endif
