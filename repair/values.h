/* values.h - what writes computed values a little differently, shared by its parts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_VALUES_H
#define GROUT_REPAIR_VALUES_H

#include "proposals.h"

/* What each kind of change costs beside its distance: the smaller the slip, the likelier. */
enum {
    GROUT_COST_NEIGHBOUR = 1, /* 'lt' for 'le', '+' for '-' */
    GROUT_COST_NUMBER = 2,    /* one more, one less */
    GROUT_COST_SIGN = 3,
    GROUT_COST_OFFSET = 3, /* '%i - 1' for '%i' */
    GROUT_COST_CONST = 4,  /* another const of the file */
    GROUT_COST_SWAP = 4,   /* the operands the other way round */
    GROUT_COST_UNUSED = 3, /* a value, or a const, that nothing uses was to be used */
    GROUT_COST_NAME = 6,   /* another value */
    /* the finding is of synchronisation, which may be why values are wrong */
    GROUT_COST_UNLIKELY = 8,
    GROUT_COST_STEERS = 3 /* then, of what steers: a condition, a bound, an index */
};
#define GROUT_VALUES_CONSTS_MAX 24u
#define GROUT_VALUES_AXES_MAX   8u
/* Names that are whole numbers, names that nothing uses, and parts of indices. */
#define GROUT_VALUES_NUMBERS_MAX 64u
#define GROUT_VALUES_UNUSED_MAX  8u
#define GROUT_VALUES_PARTS_MAX   64u

typedef struct grout_value_writer {
    grout_proposals *proposals;
    const grout_proposal_task *task;
    grout_span consts[GROUT_VALUES_CONSTS_MAX];
    size_t const_count;
    grout_span axes[GROUT_VALUES_AXES_MAX]; /* values that are the place on an axis */
    size_t axis_count;
    grout_span numbers[GROUT_VALUES_NUMBERS_MAX]; /* values that are one whole number */
    size_t number_count;
    grout_span unused[GROUT_VALUES_UNUSED_MAX];
    size_t unused_count;
    grout_span parts[GROUT_VALUES_PARTS_MAX]; /* "ds(%col, TN)", "N / TN", as the kernel has them */
    size_t part_count;
    grout_outline_names names; /* that the line can use */
    size_t line;
    grout_span code;
    uint32_t base;     /* what each costs more */
    uint32_t distance; /* of the line */
    bool steers;       /* the line is of numbers alone */
    bool is_good;
} grout_value_writer;

/* The bytes of the line's code from start on become text, and what follows it. */
void grout_value_writer__replace(grout_value_writer *it, size_t start, size_t count,
                                 grout_span text, const char *more, uint32_t cost);
/* Whether the line can use a name. */
bool grout_value_writer__can_use(const grout_value_writer *it, grout_span name);
/* nests.c: each operation of the line, whole and in parentheses. */
void grout_value_writer__change_nests(grout_value_writer *it);
/* swaps.c: one part of the line and a later one. */
void grout_value_writer__swap(grout_value_writer *it, grout_span first, grout_span second);
/* swaps.c: the two operands of a line, two values where it has two, two indices of an element. */
void grout_value_writer__swap_operands(grout_value_writer *it);
void grout_value_writer__swap_names(grout_value_writer *it);
void grout_value_writer__swap_indices(grout_value_writer *it);
/* byte_counts.c: the bytes that the line expects. */
void grout_value_writer__change_expected(grout_value_writer *it);
/* byte_counts.c: a count of bytes, from start to end of the line. */
void grout_value_writer__change_bytes(grout_value_writer *it, size_t start, size_t end);
/* turns.c: the last operand of a product, use_acc: '(gt %k, 0)' of a loop around it. */
void grout_value_writer__start_over(grout_value_writer *it);
/* turns.c: '(eq %p, 0)' becomes '(eq %p, N - 1)': the last turn is meant, not the first. */
void grout_value_writer__change_turn(grout_value_writer *it);

/* The bytes of the word, or number, at a place; 0: none begins there. */
size_t grout_span__get_word_size(grout_span code, size_t at);
/* The bytes of "%name =" at the start of a line, which name what it makes. */
size_t grout_span__get_results_size(grout_span code);
/* The ')' that closes the '(' at a place; the size: none does. */
size_t grout_span__find_close(grout_span code, size_t open);

#endif
