/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.h - arrays without files: what an 'init(..)' says, and the generators of
 * generators.def. The bytes are the same on every machine, for ever.
 *
 * A program that launches a kernel gives it the contents that 'grout run' would:
 *
 *     grout_argument argument = {malloc(size), size};
 *     grout_param_fill_default(bound, kernel, index, argument.data);
 */
#ifndef GROUT_GENERATE_H
#define GROUT_GENERATE_H

#include "grout-internal/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grout_pulse;

/* A generator with its numbers; all zero: 'ints'. */
typedef struct grout_generator {
    grout_generator_kind kind; /* not LIST */
    uint64_t seed;             /* RANDN, UNIFORM */
    uint64_t stream;           /* INTS: arrays of one launch differ by it */
    double low, high;          /* UNIFORM; VALUE: low */
} grout_generator;

/* Whether a type can hold what it makes: a number in its range, fractions in floats only. */
bool grout_generator_fits(const grout_generator *generator, grout_dtype dtype);
/*
 * Fills an array of the host, one that is 'packed' too. grout_generator_fits holds. pulse: what may
 * end it (base/pulse.h), which is false then, with the rest as it was; NULL: nothing.
 */
bool grout_generator_fill_array(const grout_generator *generator, const grout_type *type, void *out,
                                struct grout_pulse *pulse);
/* Fills count elements. */
void grout_generator_fill(const grout_generator *generator, grout_dtype dtype, void *out,
                          uint64_t count);

/* Appends it as --input takes it: "randn:7", "uniform:3:-1:1", "2.5". */
void grout_generator_print(const grout_generator *generator, grout_text *out);

/* grout_param_fill_default, which a pulse may end as above. */
bool grout_param__fill_default(const grout_module *bound, const grout_kernel *kernel,
                               uint32_t index, void *data, struct grout_pulse *pulse);
/* Fills the data of a gmem scratch that has an init(..). The interpreter and grout_gpu_run do this
 * themselves, before each launch. pulse: as above. */
bool grout_scratch_fill_default(const grout_module *bound, grout_object_id scratch, void *data,
                                struct grout_pulse *pulse);
/* Whether all elements of an init are the same, as VALUE, zeros and ones say: the bits of one. */
bool grout_init_is_uniform(const grout_module *bound, const grout_init *init, grout_dtype dtype,
                           uint64_t *bits_out);
/* Appends an init as --input would be given it ("zeros", "uniform:3:-1:1", "7"); of a list, which
 * no option gives, its first elements ("[1, 2, 3, ..]"). */
void grout_init_print_input(const grout_module *bound, const grout_init *init, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
