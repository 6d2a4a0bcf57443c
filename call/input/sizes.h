/* sizes.h - the sizes of --sweep, every combination of the values that consts are to take, and the
 * seeds of --seeds.
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

/* One --sweep: a const and its values, the smallest first. Or --seeds, without a name. */
typedef struct grout_size_axis {
    char *name; /* owned */
    struct {
        grout_size_value *items;
        size_t count, capacity;
    } values;
} grout_size_axis;

/* The sizes in order: those with smaller values of the first axis come first. Each comes with each
 * seed. */
typedef struct grout_sizes {
    struct {
        grout_size_axis *items;
        size_t count, capacity;
    } axes;
    grout_size_axis seeds; /* without values: there is no --seeds */
    size_t count;          /* of sizes with a seed; 1 without --sweep and --seeds */
} grout_sizes;

/* Whether the options ask for several runs in one report. */
bool grout_sizes__are_asked_for(const grout_options *options);
/* Reads every --sweep of the session, and --seeds. False: diagnostics. Deinit even then. */
bool grout_sizes__read(grout_session *session, grout_sizes *out);
void grout_sizes__deinit(grout_sizes *sizes);
/* The value that the const of an axis has at a size. */
const grout_size_value *grout_sizes__get_value(const grout_sizes *sizes, size_t index, size_t axis);
/* The seed that a size comes with; NULL: there is no --seeds. */
const grout_size_value *grout_sizes__get_seed(const grout_sizes *sizes, size_t index);
/* Appends "K=64, L=2, seed=0". */
void grout_sizes__describe(const grout_sizes *sizes, size_t index, grout_text *out);
/* The last of those in a row from a size on that differ in the seed alone. */
size_t grout_sizes__find_last(const grout_sizes *sizes, size_t index);
/* Appends "K=64, seed=0 to 9": what find_last has found; "K=64, L=2" of one. */
void grout_sizes__describe_range(const grout_sizes *sizes, size_t first, size_t last,
                                 grout_text *out);
/* What there are several of: "sizes", "seeds", "sizes and seeds". */
const char *grout_sizes__get_word(const grout_sizes *sizes);
/* Appends "K-64.L-2", for the name of a file. */
void grout_sizes__print_name(const grout_sizes *sizes, size_t index, grout_text *out);
/* Copies options and adds what a size is: -D, --seed; free with free(out->uses). False without
 * memory. */
bool grout_sizes__apply(const grout_sizes *sizes, size_t index, const grout_options *options,
                        grout_options *out);

#endif
