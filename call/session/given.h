/* given.h - what a caller in the same process gives a call in memory, and no option can name.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_GIVEN_H
#define GROUT_CALL_GIVEN_H

#include "grout-internal/interp.h"

/* The contents of a parameter: row-major, as the parameter's type has its bytes in memory. */
typedef struct grout_given_array {
    char *param; /* without '%'; owned */
    uint8_t rank;
    int64_t dims[GROUT_RANK_MAX]; /* as the caller has it; they bind consts */
    void *data;                   /* only read; borrowed. NULL: nothing is given */
    void *results; /* where the bytes go that a run which ends leaves; borrowed, NULL: nowhere */
    size_t size;   /* bytes of both */
} grout_given_array;

/* A finding that is accepted: at a line of a file, and why. */
typedef struct grout_given_allowance {
    grout_diag_code code;
    uint32_t line;
    char *file, *reason; /* owned */
} grout_given_allowance;

typedef struct grout_given {
    grout_module *module; /* symbolic, in the place of the file's text; only read, borrowed. NULL:
                             the text counts */
    struct {
        grout_given_array *items;
        size_t count, capacity;
    } arrays;
    struct {
        grout_extern *items;
        size_t count, capacity;
    } externs;
    struct {
        grout_given_allowance *items;
        size_t count, capacity;
    } allowances;
    bool has_file; /* the text is of a file of its name: a command can be run on it again */
    /* As in grout_launch. NULL: nobody asks */
    bool (*progress)(void *payload, const grout_progress *progress);
    void (*print)(void *payload, const char *line);
    void *payload;
} grout_given;

/* Whether commands that name the file are of use; given may be NULL. */
bool grout_given__has_file(const grout_given *given);
/* What is given for a parameter; NULL: nothing. given may be NULL. */
const grout_given_array *grout_given__find_array(const grout_given *given, const char *param);

#endif
