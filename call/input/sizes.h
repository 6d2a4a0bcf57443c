/* sizes.h - the sizes of --sweep: every combination of the values that consts are to take.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_SIZES_H
#define GROUT_CALL_SIZES_H

#include "session.h"

#define GROUT_SIZES_MAX 1024 /* combinations */

/* A value of a const. */
typedef struct grout_size_value {
    char *define; /* "K=64", as -D takes it; owned */
    bool is_float;
    int64_t integer;
    double number; /* the same value if it is an integer, rounded */
} grout_size_value;

/* One --sweep: a const and its values, the smallest first. */
typedef struct grout_size_axis {
    char *name; /* owned */
    struct {
        grout_size_value *items;
        size_t count, capacity;
    } values;
} grout_size_axis;

/* The sizes in order: those with smaller values of the first axis come first. */
typedef struct grout_sizes {
    struct {
        grout_size_axis *items;
        size_t count, capacity;
    } axes;
    size_t count; /* of sizes; 1 without --sweep */
} grout_sizes;

/* Reads every --sweep of the session. False: diagnostics. Deinit even then. */
bool grout_sizes__read(grout_session *session, grout_sizes *out);
void grout_sizes__deinit(grout_sizes *sizes);
/* The value that a const has at a size. */
const grout_size_value *grout_sizes__get_value(const grout_sizes *sizes, size_t index, size_t axis);
/* Appends "K=64, L=2". */
void grout_sizes__describe(const grout_sizes *sizes, size_t index, grout_text *out);
/* Appends "K-64.L-2", for the name of a file. */
void grout_sizes__print_name(const grout_sizes *sizes, size_t index, grout_text *out);
/* Copies options and adds the -D of a size; frees with free(out->uses). False without memory. */
bool grout_sizes__apply(const grout_sizes *sizes, size_t index, const grout_options *options,
                        grout_options *out);

#endif
