/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - two arrays of a parameter that should be equal: how far apart they are, and where.
 */
#ifndef GROUT_INTERNAL_COMPARE_H
#define GROUT_INTERNAL_COMPARE_H

#include "grout-internal/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_compare_options {
    double rtol, atol; /* of each expected element; both 0: bit for bit, NaNs equal to each other */
    bool is_by_type;   /* rtol is that of the array's element type: f32 and f64 2^-17, f16 2^-9,
                          bf16 2^-6, f8 2^-2; integers and bools bit for bit */
} grout_compare_options;

/*
 * The tolerance of the compare rule for a kernel (docs/gpu.md): bit for bit, unless the kernel has
 * an operation that no hardware rounds correctly, or sums floats in an order of its own (wgmma,
 * reduce_sum). The sums of small whole numbers are exact in every order: has_whole_inputs says that
 * the arguments are small whole numbers. has_exact_products says that
 * what the arrays are compared with was made with exact numerics: sums of wgmma are the hardware's.
 */
grout_compare_options grout_compare_get_default(const grout_module *bound, grout_kernel_id kernel,
                                                bool has_whole_inputs, bool has_exact_products);

struct grout_pulse;

/* Two arrays of one parameter that should be equal. All is borrowed. */
typedef struct grout_comparison {
    const grout_module *bound;
    grout_kernel_id kernel;
    uint32_t param_index;
    const void *expected, *actual; /* the array's bytes */
    grout_compare_options options;
    struct grout_pulse *pulse; /* what may end it (base/pulse.h); NULL: nothing */
} grout_comparison;

/*
 * How far apart two arrays are, and where. An element is named by its number in row-major order, -1
 * where there is none. The largest differences are those of differing elements that are finite
 * numbers on both sides; a relative one is divided by the expected value, which is not 0 then.
 */
typedef struct grout_difference {
    /* of the difference of elements that count as equal, with rtol times the expected one; < 0: bit
     * for bit */
    double limit, rtol;
    int64_t count, differing; /* elements, and those that differ */
    int64_t first;
    double absolute, relative;
    int64_t absolute_at, relative_at;
    /* of the elements that differ: NaN instead of a number, a number instead of NaN, and others of
     * which a side is infinite */
    int64_t nan_found, nan_missing, infinite;
    int64_t not_finite_at;         /* the first of these */
    int64_t begin[GROUT_RANK_MAX]; /* the smallest box that encloses all that differ */
    int64_t end[GROUT_RANK_MAX];
} grout_difference;

/* Compares two arrays; out says how far they are apart. True if they are equal. False, too, if the
 * pulse is over: the difference is that of a part then. */
bool grout_compare_measure(const grout_comparison *task, grout_difference *out);
/* Whether an element differs, by a difference that was measured. */
bool grout_compare_is_differing(const grout_comparison *task, const grout_difference *difference,
                                int64_t element);
/* The element that a search for the cause begins with: of those that differ the first that is not
 * finite, else the one that is farthest off. */
int64_t grout_difference_get_worst(const grout_difference *difference);
/* Appends "[1, 2]", an element of an array of this type. */
void grout_describe_element(const grout_type *type, int64_t element, grout_text *out);
/*
 * Adds a compare-mismatch for arrays that differ: it names the array, the first differing element
 * with both values, and how many differ. Notes say how far they are apart, and in which box they
 * lie.
 */
void grout_compare_report(const grout_comparison *task, const grout_difference *difference,
                          grout_diags *diags);

/*
 * Does all of this for one array. True if equal. Otherwise a last note names the op that comes last
 * in the kernel of those that write the array.
 */
bool grout_compare_array(const grout_module *bound, grout_kernel_id kernel, uint32_t param_index,
                         const void *expected, const void *actual,
                         const grout_compare_options *options, grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
