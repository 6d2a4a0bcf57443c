/* compare.c - the compare rule: bit for bit, NaNs alike, or within a tolerance of the array's size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include "invariant.h"
#include "plan.h"
#include "pulse.h"

#include <math.h>
#include <string.h>

/* What a kernel's operations leave to the hardware: the last bits of functions, and of sums, which
 * depend on their order. */
typedef struct exactness {
    const grout_module *module;
    bool has_exact_products;
    bool has_functions, has_sums;
} exactness;

/* Whether an op's result, or its first operand if it has none, is a float. */
static bool is_float(const exactness *e, const grout_op *op) {
    const grout_type type =
        op->result_count > 0
            ? *grout_module_get_type(e->module, op->first_result)
            : grout_module_get_operand_type(e->module, grout_module_get_operand(e->module, op, 0));
    return grout_dtype_get_info((grout_dtype)type.dtype)->class_ == GROUT_CLASS_FLOAT;
}

/* Whether floats that are combined so depend on the order in which they come. */
static bool is_sum(grout_update update) {
    return grout_update_get_commutes(update) == GROUT_COMMUTES_INTEGERS;
}

static bool note_exactness(void *payload, grout_op_id id, const grout_op *op) {
    exactness *e = payload;
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const grout_op_info *info = grout_op_get_info(opcode);
    const grout_choice reduce = grout_op_get_choice(e->module, op, GROUT_ATTR_REDUCE);
    (void)id;
    e->has_functions |= info->ulp > 0;
    /* The tensor core has an order of its own. */
    e->has_sums |= info->types == GROUT_TYPES_MMA && !e->has_exact_products && is_float(e, op);
    /* Several CTAs may add to one element. */
    e->has_sums |= (is_sum(grout_op_get_reduction(opcode)) || is_sum((grout_update)info->update) ||
                    is_sum(grout_update_from_choice(reduce))) &&
                   is_float(e, op);
    return true;
}

grout_compare_options grout_compare_get_default(const grout_module *bound, grout_kernel_id kernel,
                                                bool has_whole_inputs, bool has_exact_products) {
    exactness e = {.module = bound, .has_exact_products = has_exact_products};
    grout_gpu__walk(bound, grout_module_get_kernel(bound, kernel)->body, note_exactness, &e);
    return (grout_compare_options){.is_by_type =
                                       e.has_functions || (e.has_sums && !has_whole_inputs)};
}

static double get_rtol(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ != GROUT_CLASS_FLOAT) {
        return 0;
    }
    return info->bytes >= 4           ? 0x1p-17
           : dtype == GROUT_DTYPE_F16 ? 0x1p-9
           : info->bytes == 2         ? 0x1p-6
                                      : 0x1p-2;
}

/* A binary float format: all of them are sign, exponent, mantissa. */
typedef struct float_format {
    uint8_t exponent_bits, mantissa_bits;
    bool has_infinity;
    bool has_nan; /* e4m3 has no infinity: its top exponent is numbers but for one NaN */
} float_format;

static const float_format formats[GROUT_DTYPE_COUNT] = {
    [GROUT_DTYPE_F4E2M1] = {2, 1, false, false}, [GROUT_DTYPE_F6E2M3] = {2, 3, false, false},
    [GROUT_DTYPE_F6E3M2] = {3, 2, false, false}, [GROUT_DTYPE_F8E4M3] = {4, 3, false, true},
    [GROUT_DTYPE_F8E5M2] = {5, 2, true, true},   [GROUT_DTYPE_F16] = {5, 10, true, true},
    [GROUT_DTYPE_BF16] = {8, 7, true, true},     [GROUT_DTYPE_F32] = {8, 23, true, true},
    [GROUT_DTYPE_F64] = {11, 52, true, true},
};

/* f8e8m0: an exponent and nothing else. */
static double decode_scale(uint64_t bits) {
    return bits == 0xff ? (double)NAN : ldexp(1.0, (int)bits - 127);
}

static double decode_float(uint64_t bits, float_format format) {
    GROUT_ASSERT(format.mantissa_bits > 0); /* each float's dtype has a line above */
    const uint64_t mantissa = bits & ((UINT64_C(1) << format.mantissa_bits) - 1);
    const uint64_t exponent_max = (UINT64_C(1) << format.exponent_bits) - 1;
    const uint64_t exponent = bits >> format.mantissa_bits & exponent_max;
    const bool is_negative = (bits >> (format.mantissa_bits + format.exponent_bits) & 1) != 0;
    const int bias = (int)(exponent_max / 2);
    double value;
    if (exponent == exponent_max && format.has_infinity) {
        value = mantissa == 0 ? (double)INFINITY : (double)NAN;
    } else if (!format.has_infinity && format.has_nan && exponent == exponent_max &&
               mantissa == 7) {
        value = (double)NAN;
    } else if (exponent == 0) {
        value = ldexp((double)mantissa, 1 - bias - (int)format.mantissa_bits);
    } else {
        value = ldexp((double)(mantissa | UINT64_C(1) << format.mantissa_bits),
                      (int)exponent - bias - (int)format.mantissa_bits);
    }
    return is_negative ? -value : value;
}

uint64_t grout_compare__read(const void *bytes, int64_t index, grout_dtype dtype) {
    const uint32_t size = grout_dtype_get_info(dtype)->bytes;
    unsigned char element[8];
    uint64_t bits = 0;
    grout_element_get(dtype, bytes, index, element);
    for (uint32_t k = 0; k < size; k++) {
        bits |= (uint64_t)element[k] << (8 * k);
    }
    return bits;
}

double grout_compare__decode(uint64_t bits, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_FLOAT) {
        return dtype == GROUT_DTYPE_F8E8M0 ? decode_scale(bits)
                                           : decode_float(bits, formats[dtype]);
    }
    if (info->class_ == GROUT_CLASS_SINT && info->bytes < 8) {
        const uint64_t sign = UINT64_C(1) << (info->bits - 1);
        return (double)((int64_t)(bits ^ sign) - (int64_t)sign);
    }
    return info->class_ == GROUT_CLASS_SINT ? (double)(int64_t)bits : (double)bits;
}

/* What two arrays are compared by. */
typedef struct comparison {
    const grout_type *type;
    const void *expected, *actual;
    grout_dtype dtype;
    uint32_t size; /* bytes of an element */
    bool is_exact;
    double limit; /* of the difference of two elements */
    double rtol;  /* how much more it may be for an expected element, relative to that */
    int64_t count;
} comparison;

static comparison open_comparison(const grout_comparison *task) {
    const grout_kernel *kernel = grout_module_get_kernel(task->bound, task->kernel);
    const grout_param *param = grout_module_get_param(task->bound, kernel, task->param_index);
    const grout_type *type = grout_object_get_type(task->bound, param->object);
    return (comparison){.type = type,
                        .expected = task->expected,
                        .actual = task->actual,
                        .dtype = (grout_dtype)type->dtype,
                        .size = grout_dtype_get_info((grout_dtype)type->dtype)->bytes,
                        .count = grout_type_get_count(type)};
}

static bool is_equal(const comparison *c, int64_t index) {
    const uint64_t a = grout_compare__read(c->expected, index, c->dtype);
    const uint64_t b = grout_compare__read(c->actual, index, c->dtype);
    if (a == b) {
        return true;
    }
    if (c->is_exact && grout_dtype_get_info(c->dtype)->class_ != GROUT_CLASS_FLOAT) {
        return false;
    }
    const double x = grout_compare__decode(a, c->dtype);
    const double y = grout_compare__decode(b, c->dtype);
    if (isnan(x) || isnan(y)) {
        return isnan(x) && isnan(y);
    }
    if (isinf(x) || isinf(y)) {
        return x == y;
    }
    return !c->is_exact && (x == y || fabs(x - y) <= c->limit + c->rtol * fabs(x));
}

/* ---- how far apart -------------------------------------------------------------------------- */

/* The difference of two integers is exact, though each for itself may be no double. */
static double subtract(const comparison *c, uint64_t a, uint64_t b) {
    const double x = grout_compare__decode(a, c->dtype), y = grout_compare__decode(b, c->dtype);
    if (grout_dtype_get_info(c->dtype)->class_ == GROUT_CLASS_FLOAT || c->size < 8) {
        return fabs(x - y);
    }
    const uint64_t flip = grout_dtype_get_info(c->dtype)->class_ == GROUT_CLASS_SINT
                              ? UINT64_C(1) << 63
                              : 0; /* so that the order is that of unsigned numbers */
    const uint64_t above = a ^ flip, below = b ^ flip;
    return (double)(above > below ? above - below : below - above);
}

/* A pair of which a side is no finite number. */
static void note_not_finite(grout_difference *out, int64_t index, double expected, double actual) {
    if (isnan(actual)) {
        out->nan_found++;
    } else if (isnan(expected)) {
        out->nan_missing++;
    } else {
        out->infinite++;
    }
    out->not_finite_at = out->not_finite_at < 0 ? index : out->not_finite_at;
}

static void note_size(const comparison *c, int64_t index, grout_difference *out) {
    const uint64_t a = grout_compare__read(c->expected, index, c->dtype);
    const uint64_t b = grout_compare__read(c->actual, index, c->dtype);
    const double x = grout_compare__decode(a, c->dtype), y = grout_compare__decode(b, c->dtype);
    if (!isfinite(x) || !isfinite(y)) {
        note_not_finite(out, index, x, y);
        return;
    }
    const double absolute = subtract(c, a, b);
    if (out->absolute_at < 0 || absolute > out->absolute) {
        out->absolute = absolute;
        out->absolute_at = index;
    }
    if (fabs(x) > 0 && (out->relative_at < 0 || absolute / fabs(x) > out->relative)) {
        out->relative = absolute / fabs(x);
        out->relative_at = index;
    }
}

static void note_place(const comparison *c, int64_t index, grout_difference *out) {
    for (uint32_t dim = c->type->rank; dim-- > 0;) {
        const int64_t at = index % c->type->dims[dim];
        const bool is_first = out->differing == 0;
        out->begin[dim] = is_first || at < out->begin[dim] ? at : out->begin[dim];
        out->end[dim] = is_first || at >= out->end[dim] ? at + 1 : out->end[dim];
        index /= c->type->dims[dim];
    }
}

static void note_differing(const comparison *c, int64_t index, grout_difference *out) {
    out->first = out->differing == 0 ? index : out->first;
    note_place(c, index, out);
    note_size(c, index, out);
    out->differing++;
}

/* r * max |expected|, over the finite elements, with the r of the type. */
static double find_limit_by_type(const comparison *c, grout_pulse *pulse) {
    const double r = get_rtol(c->dtype);
    double largest = 0;
    for (int64_t k = 0; k < c->count && r > 0 && grout_pulse__goes_on(pulse, 1); k++) {
        const double value =
            fabs(grout_compare__decode(grout_compare__read(c->expected, k, c->dtype), c->dtype));
        largest = isfinite(value) && value > largest ? value : largest;
    }
    return r * largest;
}

/* What is written counts element by element: a large element elsewhere hides no wrong one. */
static void set_limits(comparison *c, const grout_compare_options *options, grout_pulse *pulse) {
    c->rtol = options->is_by_type ? 0 : options->rtol;
    c->is_exact =
        options->is_by_type ? get_rtol(c->dtype) <= 0 : options->atol <= 0 && options->rtol <= 0;
    c->limit = c->is_exact           ? -1
               : options->is_by_type ? find_limit_by_type(c, pulse)
                                     : options->atol;
}

static void measure(const comparison *c, grout_difference *out, grout_pulse *pulse) {
    const int64_t chunk = 4096;
    for (int64_t begin = 0; begin < c->count && grout_pulse__goes_on(pulse, (uint64_t)chunk);
         begin += chunk) {
        const int64_t end = c->count - begin < chunk ? c->count : begin + chunk;
        const size_t at = (size_t)begin * c->size;
        if (memcmp((const char *)c->expected + at, (const char *)c->actual + at,
                   (size_t)(end - begin) * c->size) == 0) {
            continue;
        }
        for (int64_t k = begin; k < end; k++) {
            if (!is_equal(c, k)) {
                note_differing(c, k, out);
            }
        }
    }
}

bool grout_compare_measure(const grout_comparison *task, grout_difference *out) {
    comparison c = open_comparison(task);
    grout_pulse endless = {0};
    grout_pulse *pulse = task->pulse != NULL ? task->pulse : &endless;
    set_limits(&c, &task->options, pulse);
    *out = (grout_difference){.limit = c.limit,
                              .rtol = c.rtol,
                              .count = c.count,
                              .first = -1,
                              .absolute_at = -1,
                              .relative_at = -1,
                              .not_finite_at = -1};
    measure(&c, out, pulse);
    return out->differing == 0 && !pulse->is_over;
}

bool grout_compare_is_differing(const grout_comparison *task, const grout_difference *difference,
                                int64_t element) {
    comparison c = open_comparison(task);
    GROUT_ASSERT(element >= 0 && element < c.count);
    c.limit = difference->limit;
    c.rtol = difference->rtol;
    c.is_exact = difference->limit < 0;
    return !is_equal(&c, element);
}

int64_t grout_difference_get_worst(const grout_difference *difference) {
    return difference->not_finite_at >= 0 ? difference->not_finite_at : difference->absolute_at;
}
