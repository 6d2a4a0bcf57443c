/*
 * accumulator.h - accumulators of the tensor core: values, which of them are undefined, and what
 * has been done to each column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ACCUMULATOR_H
#define GROUT_INTERP_ACCUMULATOR_H

#include "machine.h"

enum {
    GROUT_COLUMN_PRODUCT = 1,  /* a wgmma has added to it since it was stored */
    GROUT_COLUMN_UNDEFINED = 2 /* some of its values are undefined */
};

/* Some columns of a thread's accumulator, for the length of one op. */
typedef struct grout_accumulator {
    const grout_accumulator_plan *plan;
    uint32_t column, count;
    float *values;   /* [count][rows]; the bits of i32 if that is its type */
    uint64_t *masks; /* [count][cdiv(rows, 64)] */
    uint8_t *marks;  /* [count] */
} grout_accumulator;

grout_accumulator grout_accumulator__get(const grout_cta *cta, uint32_t thread, uint32_t index,
                                         uint32_t column, uint32_t count);
/* The accumulators that a thread has in a scope, all zero again. */
void grout_accumulator__begin(const grout_cta *cta, uint32_t thread, const grout_scope_plan *scope);

/*
 * Values, row by row, in the accumulator's element type. A NaN that a wgmma has added to comes out
 * as 0x7fffffff (f16: 0x7fff), as the tensor core makes it.
 */
void grout_accumulator__load(const grout_accumulator *accumulator, void *out);
void grout_accumulator__store(const grout_accumulator *accumulator, const void *in);

/* All values are zero; which are undefined is not changed. */
void grout_accumulator__clear_values(const grout_accumulator *accumulator);
/* A wgmma has added to the columns. */
void grout_accumulator__mark_product(const grout_accumulator *accumulator);

/* Whether any value is undefined; if so, which, in mask: one byte each, row by row. */
bool grout_accumulator__get_undefined(const grout_accumulator *accumulator, uint8_t *mask);
/* All of it is as defined as mask says (NULL: defined). */
void grout_accumulator__set_undefined(const grout_accumulator *accumulator, const uint8_t *mask);
/* A row, or one of the columns, becomes undefined. */
void grout_accumulator__spoil_row(const grout_accumulator *accumulator, uint32_t row);
void grout_accumulator__spoil_column(const grout_accumulator *accumulator, uint32_t column);

#endif
