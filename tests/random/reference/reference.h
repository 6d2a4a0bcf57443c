/* reference.h - what a kernel computes, in float64 with a bound of the rounding error: independent
 * of the interpreter, read off the public IR alone. SPDX-License-Identifier: Apache-2.0
 *
 * One CTA after the other and in it one thread after the other, every asynchronous operation at
 * once: right for kernels whose threads do not wait for each other and that are well synchronised.
 */
#ifndef GROUT_TESTS_RANDOM_REFERENCE_H
#define GROUT_TESTS_RANDOM_REFERENCE_H

#include "grout-internal/ir.h"

/* A number and how far the kernel's own, rounded step by step, may be from it; INFINITY: anything
 * (NaN and infinities, or a comparison that rounding decides). */
typedef struct reference_number {
    double value, bound;
    uint64_t wide; /* of 64-bit integers whose bound is 0: all bits */
} reference_number;

/* A set of operations, by opcode. */
typedef struct reference_ops {
    bool has[GROUT_OP_COUNT];
} reference_ops;

typedef struct reference_array {
    reference_number *numbers; /* row-major */
    bool *is_written;          /* by element */
    int64_t count;
    reference_ops ops; /* that made what is in it */
} reference_array;

/* What one debug_print prints, element by element. */
typedef struct reference_line {
    int64_t cta;
    reference_number *numbers;
    int64_t count;
    reference_ops ops;
} reference_line;

/* What the kernel leaves besides its arrays. Zero-initialise; reference_output_deinit frees. */
typedef struct reference_output {
    reference_line *lines;
    uint32_t line_count;
    reference_ops ops; /* that have run, with results or effects on memory */
} reference_output;

/*
 * Runs a kernel of a bound, verified module. arrays: one for each parameter, in row-major order,
 * count 0 for scalars; 'in' and 'inout' ones are filled by the caller, with bound 0. False: it uses
 * something that the reference does not have, and why_out says what.
 */
bool reference_run(const grout_module *bound, grout_kernel_id kernel, reference_array *arrays,
                   reference_output *output, const char **why_out);
void reference_output_deinit(reference_output *output);
void reference_ops_add(reference_ops *to, const reference_ops *from);

#endif
