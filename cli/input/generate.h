/*
 * generate.h - arrays without files: the same bytes on every machine, for ever (docs/cli.md).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_CLI_GENERATE_H
#define GROUT_CLI_GENERATE_H

#include "grout/interp.h"

typedef enum grout_generator_kind {
    GROUT_GENERATE_INTS, /* whole numbers from -4 to 4; unsigned: 0 to 8; bool: 0 and 1 */
    GROUT_GENERATE_ZEROS,
    GROUT_GENERATE_ONES,
    GROUT_GENERATE_ARANGE,  /* 0, 1, 2, ...; integers wrap, bool: 0, 1, 0, ... */
    GROUT_GENERATE_RANDN,   /* normal distribution */
    GROUT_GENERATE_UNIFORM, /* from low up to high */
    GROUT_GENERATE_VALUE    /* low everywhere */
} grout_generator_kind;

typedef struct grout_generator {
    grout_generator_kind kind;
    uint64_t seed;    /* RANDN, UNIFORM */
    uint64_t stream;  /* INTS: arrays of one launch differ by it */
    double low, high; /* UNIFORM, VALUE */
} grout_generator;

/* Reads "ints", "randn:7", "uniform:7:-1:1", "2.5", ...; false if text is none of them. */
bool grout_generator_read(const char *text, grout_generator *out);
/* Appends what grout_generator_read reads. */
void grout_generator_print(const grout_generator *generator, grout_text *out);
/* Whether dtype can hold what it makes: a number in its range, random numbers for floats only. */
bool grout_generator_fits(const grout_generator *generator, grout_dtype dtype);
/* Fills count elements. grout_generator_fits holds. */
void grout_generator_fill(const grout_generator *generator, grout_dtype dtype, void *out,
                          uint64_t count);

/* ---- its parts, for tests ------------------------------------------------------------------- */

/* Philox4x32-10 (Salmon et al., SC'11): four words for a counter and a key. */
void grout_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* The quantile of the normal distribution at p in [2^-33, 1 - 2^-33]. */
double grout_normal_quantile(double p);

#endif
