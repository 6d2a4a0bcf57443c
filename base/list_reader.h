/* list_reader.h - reads numbers, lists of numbers and lists of those, as Python prints them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_BASE_LIST_READER_H
#define GROUT_BASE_LIST_READER_H

#include "grout-internal/diagnose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GROUT_LIST_ROWS = 20, GROUT_LIST_COLUMNS = 8 };

/* A number alone is a list of one. */
typedef struct grout_list {
    bool is_there;
    uint32_t count;
    uint32_t lengths[GROUT_LIST_ROWS]; /* of its lists; 0: a number, in the first column */
    int32_t numbers[GROUT_LIST_ROWS][GROUT_LIST_COLUMNS];
    bool is_copy[GROUT_LIST_ROWS]; /* Replicated(n) */
} grout_list;

typedef struct grout_list_reader {
    const char *at;         /* what is not read yet */
    uint32_t rows, columns; /* of a list at most */
    int32_t number;         /* at most */
    bool takes_negative, takes_copies;
    char *problem; /* room for the first reason to fail */
    size_t problem_size;
    bool ok;
} grout_list_reader;

/* Keeps the reason, if it is the first; always false. */
bool grout_list__fail(grout_list_reader *reader, const char *format, ...) GROUT_PRINTF(2, 3);
/* Reads white space, and the text if it comes next. */
bool grout_list__accept(grout_list_reader *reader, const char *text);
/* '(' or '[', ')' or ']'. */
bool grout_list__accept_open(grout_list_reader *reader);
bool grout_list__accept_close(grout_list_reader *reader);
/* False with a reason. */
bool grout_list__read(grout_list_reader *reader, grout_list *list_out);

#endif
