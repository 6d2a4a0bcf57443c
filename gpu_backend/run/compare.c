/* compare.c - the compare rule: bit for bit, NaNs alike, or within a tolerance of the array's size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "invariant.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a kernel's operations leave to the hardware: the last bits of functions, and of sums, which
 * depend on their order. */
typedef struct exactness {
    const grout_module *module;
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
    e->has_sums |= info->types == GROUT_TYPES_MMA; /* the tensor core has an order of its own */
    /* Several CTAs may add to one element. */
    e->has_sums |= (is_sum(grout_op_get_reduction(opcode)) || is_sum((grout_update)info->update) ||
                    is_sum(grout_update_from_choice(reduce))) &&
                   is_float(e, op);
    return true;
}

grout_compare_options grout_compare_get_default(const grout_module *bound, grout_kernel_id kernel,
                                                bool has_whole_inputs) {
    exactness e = {.module = bound};
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
    bool has_infinity; /* e4m3 has none: its top exponent is numbers but for one NaN */
} float_format;

static const float_format formats[GROUT_DTYPE_COUNT] = {
    [GROUT_DTYPE_F8E4M3] = {4, 3, false}, [GROUT_DTYPE_F8E5M2] = {5, 2, true},
    [GROUT_DTYPE_F16] = {5, 10, true},    [GROUT_DTYPE_BF16] = {8, 7, true},
    [GROUT_DTYPE_F32] = {8, 23, true},    [GROUT_DTYPE_F64] = {11, 52, true},
};

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
    } else if (!format.has_infinity && exponent == exponent_max && mantissa == 7) {
        value = (double)NAN;
    } else if (exponent == 0) {
        value = ldexp((double)mantissa, 1 - bias - (int)format.mantissa_bits);
    } else {
        value = ldexp((double)(mantissa | UINT64_C(1) << format.mantissa_bits),
                      (int)exponent - bias - (int)format.mantissa_bits);
    }
    return is_negative ? -value : value;
}

static uint64_t read_bits(const void *bytes, int64_t index, uint32_t size) {
    uint64_t bits = 0;
    const unsigned char *p = (const unsigned char *)bytes + index * (int64_t)size;
    for (uint32_t k = 0; k < size; k++) {
        bits |= (uint64_t)p[k] << (8 * k);
    }
    return bits;
}

/* An element as a number, near enough for tolerances; integers of 64 bits are rounded. */
static double decode(uint64_t bits, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_FLOAT) {
        return decode_float(bits, formats[dtype]);
    }
    if (info->class_ == GROUT_CLASS_SINT && info->bytes < 8) {
        const uint64_t sign = UINT64_C(1) << (8 * info->bytes - 1);
        return (double)((int64_t)(bits ^ sign) - (int64_t)sign);
    }
    return info->class_ == GROUT_CLASS_SINT ? (double)(int64_t)bits : (double)bits;
}

/* As people read it, exactly enough to tell neighbours apart. */
static void print_element(char text[64], uint64_t bits, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_FLOAT) {
        (void)snprintf(text, 64, "%.*g (0x%0*" PRIx64 ")", info->bytes == 8 ? 17 : 9,
                       decode(bits, dtype), 2 * info->bytes, bits);
    } else if (info->class_ == GROUT_CLASS_SINT) {
        const uint32_t unused = 64 - 8u * info->bytes;
        const uint64_t sign = UINT64_C(1) << (63 - unused);
        const int64_t value = bits < sign ? (int64_t)bits : -(int64_t)(sign - (bits - sign));
        (void)snprintf(text, 64, "%" PRId64, value);
    } else {
        (void)snprintf(text, 64, "%" PRIu64, bits);
    }
}

/* What two arrays are compared by. */
typedef struct comparison {
    const grout_type *type;
    const void *expected, *actual;
    grout_dtype dtype;
    uint32_t size; /* bytes of an element */
    bool is_exact;
    double limit; /* of the difference of two elements */
    int64_t count, differing, first;
} comparison;

static bool is_equal(const comparison *c, int64_t index) {
    const uint64_t a = read_bits(c->expected, index, c->size);
    const uint64_t b = read_bits(c->actual, index, c->size);
    if (a == b) {
        return true;
    }
    if (c->is_exact && grout_dtype_get_info(c->dtype)->class_ != GROUT_CLASS_FLOAT) {
        return false;
    }
    const double x = decode(a, c->dtype);
    const double y = decode(b, c->dtype);
    if (isnan(x) || isnan(y)) {
        return isnan(x) && isnan(y);
    }
    return !c->is_exact && (x == y || fabs(x - y) <= c->limit);
}

/* atol + rtol * max |expected|, over the finite elements. */
static double find_limit(const comparison *c, const grout_compare_options *options) {
    double largest = 0;
    for (int64_t k = 0; k < c->count && options->rtol > 0; k++) {
        const double value = fabs(decode(read_bits(c->expected, k, c->size), c->dtype));
        largest = isfinite(value) && value > largest ? value : largest;
    }
    return options->atol + options->rtol * largest;
}

static void count_differences(comparison *c) {
    const int64_t chunk = 4096;
    for (int64_t begin = 0; begin < c->count; begin += chunk) {
        const int64_t end = c->count - begin < chunk ? c->count : begin + chunk;
        const size_t at = (size_t)begin * c->size;
        if (memcmp((const char *)c->expected + at, (const char *)c->actual + at,
                   (size_t)(end - begin) * c->size) == 0) {
            continue;
        }
        for (int64_t k = begin; k < end; k++) {
            if (!is_equal(c, k)) {
                c->first = c->differing == 0 ? k : c->first;
                c->differing++;
            }
        }
    }
}

/* The last op in program order that writes a parameter. */
typedef struct writer_search {
    const grout_module *module;
    grout_object_id object;
    const grout_op *found;
} writer_search;

static bool find_writer(void *payload, grout_op_id id, const grout_op *op) {
    writer_search *search = payload;
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    (void)id;
    for (uint32_t k = 0; k < count; k++) {
        grout_view view;
        if (effects[k].access == GROUT_ACCESS_WRITE &&
            grout_module_get_view(search->module,
                                  grout_module_get_operand(search->module, op, effects[k].operand),
                                  &view) &&
            view.object == search->object) {
            search->found = op;
        }
    }
    return true;
}

static void print_index(char text[256], const grout_type *type, int64_t index) {
    int64_t indices[GROUT_RANK_MAX] = {0};
    size_t size = 1;
    for (uint32_t dim = type->rank; dim-- > 0;) {
        indices[dim] = index % type->dims[dim];
        index /= type->dims[dim];
    }
    (void)snprintf(text, 256, "[");
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        size += (size_t)snprintf(text + size, 256 - size, "%s%" PRId64, dim == 0 ? "" : ", ",
                                 indices[dim]);
    }
    (void)snprintf(text + size, 256 - size, "]");
}

static void report(const grout_module *module, const grout_kernel *kernel, uint32_t param_index,
                   const comparison *c, grout_diags *diags) {
    const grout_param *param = grout_module_get_param(module, kernel, param_index);
    const grout_value *value = grout_module_get_value(module, param->value);
    writer_search search = {.module = module, .object = param->object};
    char index[256], expected[64], actual[64];
    print_index(index, c->type, c->first);
    print_element(expected, read_bits(c->expected, c->first, c->size), c->dtype);
    print_element(actual, read_bits(c->actual, c->first, c->size), c->dtype);
    grout_diags_add(diags, GROUT_DIAG_COMPARE_MISMATCH, grout_module_get_place(module, value->loc),
                    "'%%%s'%s is %s, expected %s; %" PRId64 " of %" PRId64 " elements differ",
                    grout_gpu__get_param_name(module, kernel, param_index), index, actual, expected,
                    c->differing, c->count);
    grout_gpu__walk(module, kernel->body, find_writer, &search);
    if (search.found != NULL) {
        grout_diags_note(diags, grout_module_get_place(module, search.found->loc),
                         "the op that writes it last");
    }
}

/* NOLINTNEXTLINE(readability-function-size): seven parameters by contract */
bool grout_compare_array(const grout_module *bound, grout_kernel_id kernel, uint32_t param_index,
                         const void *expected, const void *actual,
                         const grout_compare_options *options, grout_diags *diags) {
    const grout_kernel *entry = grout_module_get_kernel(bound, kernel);
    const grout_param *param = grout_module_get_param(bound, entry, param_index);
    const grout_type *type = grout_object_get_type(bound, param->object);
    grout_compare_options wish = options == NULL ? (grout_compare_options){0} : *options;
    wish.rtol = wish.is_by_type ? get_rtol((grout_dtype)type->dtype) : wish.rtol;
    comparison c = {.type = type,
                    .expected = expected,
                    .actual = actual,
                    .dtype = (grout_dtype)type->dtype,
                    .is_exact = wish.atol <= 0 && wish.rtol <= 0,
                    .count = grout_type_get_count(type)};
    c.size = grout_dtype_get_info(c.dtype)->bytes;
    c.limit = c.is_exact ? 0 : find_limit(&c, &wish);
    count_differences(&c);
    if (c.differing > 0) {
        report(bound, entry, param_index, &c, diags);
    }
    return c.differing == 0;
}
