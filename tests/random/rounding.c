/* rounding.c - running error analysis, one operation at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rounding.h"

#include "grout/interp.h"

#include <math.h>
#include <stddef.h>

typedef reference_number num;

/* ---- formats --------------------------------------------------------------------------------- */

typedef struct format {
    int fraction_bits, exponent_min;
    double largest;
} format;

static format get_format(grout_dtype dtype) {
    if (dtype == GROUT_DTYPE_F16) {
        return (format){10, -14, 65504.0};
    }
    if (dtype == GROUT_DTYPE_BF16) {
        return (format){7, -126, 0x1.fep127};
    }
    return (format){23, -126, 0x1.fffffep127};
}

/* Distance of the neighbours of a value of the type. */
static double get_quantum(grout_dtype dtype, double value) {
    const format f = get_format(dtype);
    int exponent = f.exponent_min;
    if (value != 0 && isfinite(value)) {
        (void)frexp(value, &exponent);
        exponent -= 1;
    }
    exponent = exponent < f.exponent_min ? f.exponent_min : exponent;
    return ldexp(1.0, exponent - f.fraction_bits);
}

static bool is_float(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
}

static double round_value(grout_dtype dtype, double value) {
    if (!is_float(dtype) || !isfinite(value) || value == 0) {
        return value;
    }
    const double quantum = get_quantum(dtype, value);
    const double rounded = rint(value / quantum) * quantum;
    if (fabs(rounded) > get_format(dtype).largest) {
        return copysign(INFINITY, value);
    }
    return rounded == 0 ? copysign(0.0, value) : rounded;
}

double rounding_decode(grout_dtype dtype, uint64_t bits) {
    return grout_element_to_double(dtype, &bits);
}

/* The rounded result of an operation whose exact value is value, with an inherited bound; slack:
 * roundings in units of the last place that may fall either way. */
static num settle(grout_dtype dtype, double value, double bound, double slack) {
    if (isnan(bound)) {
        bound = INFINITY;
    }
    const double rounded = round_value(dtype, value);
    const double add = (bound > 0 ? slack + 1 : slack) * get_quantum(dtype, value);
    num result = {rounded, bound + (is_float(dtype) ? add : 0)};
    if (result.bound > 0 &&
        (!isfinite(rounded) || fabs(value) + result.bound >= get_format(dtype).largest)) {
        result.bound = INFINITY;
    }
    return result;
}

num rounding_round(grout_dtype dtype, num number) {
    return settle(dtype, number.value, number.bound, 0);
}

/* ---- integers and truth values --------------------------------------------------------------- */

static double wrap(grout_dtype dtype, int64_t value) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const int bits = info->bytes * 8;
    uint64_t low = (uint64_t)value & ((UINT64_C(1) << bits) - 1);
    if (info->class_ == GROUT_CLASS_SINT && (low >> (bits - 1) & 1) != 0) {
        return (double)(int64_t)(low | ~((UINT64_C(1) << bits) - 1));
    }
    return (double)low;
}

static int64_t divide(grout_dtype dtype, grout_opcode opcode, int64_t a, int64_t b) {
    if (b == 0) {
        return 0;
    }
    const bool has_none = dtype == GROUT_DTYPE_I32 && a == INT32_MIN && b == -1;
    if (opcode == GROUT_OP_REM) {
        return has_none ? 0 : a % b;
    }
    return a / b + (opcode == GROUT_OP_CDIV && a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

static int64_t shift(grout_dtype dtype, grout_opcode opcode, int64_t a, int64_t by) {
    const bool is_out = by < 0 || by > 31;
    if (opcode == GROUT_OP_SHL) {
        return is_out ? 0 : (int64_t)((uint64_t)a << by);
    }
    if (dtype == GROUT_DTYPE_U32) {
        return is_out ? 0 : a >> by;
    }
    const int64_t scale = INT64_C(1) << (is_out ? 31 : by);
    return a >= 0 ? a / scale : -((-a + scale - 1) / scale); /* towards minus infinity */
}

static bool apply_integer(grout_opcode opcode, grout_dtype dtype, const int64_t in[2],
                          int64_t *out) {
    const int64_t a = in[0], b = in[1];
    switch ((int)opcode) {
    case GROUT_OP_ADD:
        *out = a + b;
        return true;
    case GROUT_OP_SUB:
        *out = a - b;
        return true;
    case GROUT_OP_MUL:
        *out = (int64_t)((uint64_t)a * (uint64_t)b);
        return true;
    case GROUT_OP_DIV:
    case GROUT_OP_REM:
    case GROUT_OP_CDIV:
        *out = divide(dtype, opcode, a, b);
        return true;
    case GROUT_OP_MIN:
        *out = a < b ? a : b;
        return true;
    case GROUT_OP_MAX:
        *out = a > b ? a : b;
        return true;
    case GROUT_OP_NEG:
        *out = -a;
        return true;
    case GROUT_OP_ABS:
        *out = a < 0 ? -a : a;
        return true;
    case GROUT_OP_SIGN:
        *out = (a > 0) - (a < 0);
        return true;
    case GROUT_OP_AND:
        *out = a & b;
        return true;
    case GROUT_OP_OR:
        *out = a | b;
        return true;
    case GROUT_OP_XOR:
        *out = a ^ b;
        return true;
    case GROUT_OP_NOT:
        *out = dtype == GROUT_DTYPE_BOOL ? a == 0 : ~a;
        return true;
    case GROUT_OP_SHL:
    case GROUT_OP_SHR:
        *out = shift(dtype, opcode, a, b);
        return true;
    default:
        return false;
    }
}

/* ---- floats ---------------------------------------------------------------------------------- */

static num divide_floats(grout_dtype dtype, num a, num b) {
    const double low = fabs(b.value) - b.bound, quotient = a.value / b.value;
    if (a.bound == 0 && b.bound == 0) {
        return settle(dtype, quotient, 0, 0);
    }
    return settle(dtype, quotient, low > 0 ? (a.bound + fabs(quotient) * b.bound) / low : INFINITY,
                  0);
}

static num choose(bool takes_a, num a, num b) {
    const double nan = isnan(a.value) || isnan(b.value) ? NAN : takes_a ? a.value : b.value;
    return (num){nan, a.bound > b.bound ? a.bound : b.bound};
}

/* False: no such operation. */
static bool combine(grout_dtype dtype, grout_opcode opcode, const num in[3], num *result) {
    const num a = in[0], b = in[1], c = in[2];
    const double product_bound =
        fabs(a.value) * b.bound + fabs(b.value) * a.bound + a.bound * b.bound;
    switch ((int)opcode) {
    case GROUT_OP_ADD:
        *result = settle(dtype, a.value + b.value, a.bound + b.bound, 0);
        return true;
    case GROUT_OP_SUB:
        *result = settle(dtype, a.value - b.value, a.bound + b.bound, 0);
        return true;
    case GROUT_OP_MUL:
        *result = settle(dtype, a.value * b.value, product_bound, 0);
        return true;
    case GROUT_OP_DIV:
        *result = divide_floats(dtype, a, b);
        return true;
    case GROUT_OP_FMA: /* the product is exact in float64, the sum is rounded twice here */
        *result = settle(dtype, a.value * b.value + c.value, product_bound + c.bound, 1);
        return true;
    case GROUT_OP_MIN:
        *result = choose(a.value < b.value, a, b);
        return true;
    case GROUT_OP_MAX:
        *result = choose(a.value > b.value, a, b);
        return true;
    default:
        return false;
    }
}

/* How far a function of slope at most slope around the value moves its result. */
static num bend(grout_dtype dtype, grout_opcode opcode, double value, double slope, num a) {
    const double ulp = grout_op_get_info(opcode)->ulp;
    /* f16 and bf16: computed in f32, rounded once more */
    return settle(dtype, value, a.bound > 0 ? slope * a.bound : 0, ulp > 0 ? ulp + 1 : 0);
}

/* False: no such operation. */
static bool apply_function(grout_dtype dtype, grout_opcode opcode, num a, num *result) {
    const double x = a.value, far = a.bound, near = fabs(x) - far;
    switch ((int)opcode) {
    case GROUT_OP_EXP:
        *result = bend(dtype, opcode, exp(x), exp(x + far), a);
        return true;
    case GROUT_OP_EXP2:
        *result = bend(dtype, opcode, exp2(x), exp2(x + far), a);
        return true;
    case GROUT_OP_LOG:
        *result = bend(dtype, opcode, log(x), x > far ? 1 / (x - far) : INFINITY, a);
        return true;
    case GROUT_OP_LOG2:
        *result = bend(dtype, opcode, log2(x), x > far ? 1.5 / (x - far) : INFINITY, a);
        return true;
    case GROUT_OP_SIN:
        *result = bend(dtype, opcode, sin(x), 1, a);
        return true;
    case GROUT_OP_COS:
        *result = bend(dtype, opcode, cos(x), 1, a);
        return true;
    case GROUT_OP_TANH:
        *result = bend(dtype, opcode, tanh(x), 1, a);
        return true;
    case GROUT_OP_ERF:
        *result = bend(dtype, opcode, erf(x), 1.2, a);
        return true;
    case GROUT_OP_LOGISTIC:
        *result = bend(dtype, opcode, 1 / (1 + exp(-x)), 0.25, a);
        return true;
    case GROUT_OP_RSQRT:
        *result =
            bend(dtype, opcode, 1 / sqrt(x), x > far ? 0.5 * pow(x - far, -1.5) : INFINITY, a);
        return true;
    case GROUT_OP_SQRT:
        *result = bend(dtype, opcode, sqrt(x), x > far ? 0.5 / sqrt(x - far) : INFINITY, a);
        return true;
    case GROUT_OP_FLOOR:
        *result = (num){floor(x), far > 0 ? far + 1 : 0};
        return true;
    case GROUT_OP_CEIL:
        *result = (num){ceil(x), far > 0 ? far + 1 : 0};
        return true;
    case GROUT_OP_ROUND:
        *result = (num){rint(x), far > 0 ? far + 1 : 0};
        return true;
    case GROUT_OP_NEG:
        *result = (num){-x, far};
        return true;
    case GROUT_OP_ABS:
        *result = (num){fabs(x), far};
        return true;
    case GROUT_OP_SIGN:
        *result = (num){x > 0 ? 1 : x < 0 ? -1 : x, far > 0 && near <= 0 ? 2 : 0};
        return true;
    default:
        return false;
    }
}

/* False: no such operation. */
static bool compare(grout_opcode opcode, num a, num b, num *result) {
    bool holds = false;
    switch ((int)opcode) {
    case GROUT_OP_EQ:
        holds = a.value == b.value;
        break;
    case GROUT_OP_NE:
        holds = a.value != b.value;
        break;
    case GROUT_OP_LT:
        holds = a.value < b.value;
        break;
    case GROUT_OP_LE:
        holds = a.value <= b.value;
        break;
    case GROUT_OP_GT:
        holds = a.value > b.value;
        break;
    case GROUT_OP_GE:
        holds = a.value >= b.value;
        break;
    default:
        return false;
    }
    const double bound = a.bound + b.bound;
    *result = (num){holds, bound > 0 && !(fabs(a.value - b.value) > bound) ? 1 : 0};
    return true;
}

static num pick(num condition, num a, num b) {
    if (condition.bound == 0) {
        return condition.value != 0 ? a : b;
    }
    return (num){a.value, fabs(a.value - b.value) + a.bound + b.bound};
}

/* ---- casts ----------------------------------------------------------------------------------- */

static double saturate(grout_dtype dtype, double value) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const bool is_signed = info->class_ == GROUT_CLASS_SINT;
    const double high = ldexp(1.0, info->bytes * 8 - (is_signed ? 1 : 0)) - 1;
    const double low = is_signed ? -high - 1 : 0;
    const double whole = isnan(value) ? 0 : trunc(value);
    return whole < low ? low : whole > high ? high : whole;
}

static num cast(grout_dtype from, grout_dtype to, num a) {
    if (to == GROUT_DTYPE_BOOL) {
        return (num){a.value != 0, a.bound > 0 && fabs(a.value) <= a.bound ? 1 : 0};
    }
    if (is_float(to)) {
        return rounding_round(to, a);
    }
    if (is_float(from)) {
        const double value = saturate(to, a.value);
        const double spread =
            a.bound > 0 ? saturate(to, a.value + a.bound) - saturate(to, a.value - a.bound) : 0;
        return (num){value, spread};
    }
    return (num){wrap(to, (int64_t)a.value), a.bound > 0 ? INFINITY : 0};
}

/* ---- entry points ---------------------------------------------------------------------------- */

bool rounding_apply(grout_opcode opcode, grout_dtype from, grout_dtype to, const num in[3],
                    num *result) {
    const grout_op_info *info = grout_op_get_info(opcode);
    int64_t whole = 0;
    if (opcode == GROUT_OP_SELECT) {
        *result = pick(in[0], in[1], in[2]);
        return true;
    }
    if (opcode == GROUT_OP_LAYOUT_CAST) {
        *result = in[0];
        return true;
    }
    if (opcode == GROUT_OP_CAST) {
        *result = cast(from, to, in[0]);
        return true;
    }
    if (info->form == GROUT_FORM_COMPARE) {
        return compare(opcode, in[0], in[1], result);
    }
    if (is_float(from)) {
        return info->form == GROUT_FORM_UNARY || info->form == GROUT_FORM_MATH
                   ? apply_function(from, opcode, in[0], result)
                   : combine(from, opcode, in, result);
    }
    const int64_t operands[2] = {(int64_t)in[0].value, (int64_t)in[1].value};
    const bool is_known = apply_integer(opcode, from, operands, &whole);
    *result = (num){wrap(to, whole), in[0].bound + in[1].bound > 0 ? INFINITY : 0};
    return is_known;
}

static num sum_floats(grout_dtype dtype, const rounding_row *row) {
    double sum = 0, bound = 0, magnitude = 0;
    bool is_whole = true;
    for (int64_t i = 0; i < row->count; i++) {
        const num x = row->first[i * row->stride];
        sum += x.value;
        bound += x.bound;
        magnitude += fabs(x.value);
        is_whole = is_whole && x.value == rint(x.value);
    }
    /* Whole numbers have exact sums in any order, as long as they fit the fraction of f32. */
    is_whole = is_whole && bound == 0 && magnitude < 0x1p24;
    bound += is_whole ? 0 : (double)row->count * 0x1p-24 * magnitude * 1.01;
    return settle(dtype, sum, bound, 0);
}

/* Step by step, by an operation of two values. */
static bool fold(grout_opcode opcode, grout_dtype dtype, const rounding_row *row, num *result) {
    bool is_known = true;
    *result = row->first[0];
    for (int64_t i = 1; i < row->count && is_known; i++) {
        const num in[3] = {*result, row->first[i * row->stride], {0, 0}};
        is_known = rounding_apply(opcode, dtype, dtype, in, result);
    }
    return is_known;
}

bool rounding_reduce(grout_opcode opcode, grout_dtype dtype, const rounding_row *row, num *result) {
    switch ((int)opcode) {
    case GROUT_OP_REDUCE_SUM:
        if (is_float(dtype)) {
            *result = sum_floats(dtype, row);
            return true;
        }
        return fold(GROUT_OP_ADD, dtype, row, result);
    case GROUT_OP_REDUCE_MAX:
        return fold(GROUT_OP_MAX, dtype, row, result);
    case GROUT_OP_REDUCE_MIN:
        return fold(GROUT_OP_MIN, dtype, row, result);
    default:
        return false;
    }
}

/* The low 13 bits of a tf32 operand count for nothing. */
static num cut(num a) {
    if (a.value == 0 || !isfinite(a.value)) {
        return a;
    }
    int exponent;
    (void)frexp(a.value, &exponent);
    exponent = exponent < -125 ? -125 : exponent;
    const double quantum = ldexp(1.0, exponent - 11);
    return (num){trunc(a.value / quantum) * quantum, a.bound > 0 ? a.bound + quantum : 0};
}

num rounding_dot_add(const rounding_dot *dot, num acc) {
    double sum = acc.value, magnitude = fabs(acc.value), bound = acc.bound;
    bool is_whole = acc.bound == 0 && acc.value == rint(acc.value);
    for (int64_t k = 0; k < dot->depth; k++) {
        num a = dot->a[k], b = dot->b[k * dot->b_stride];
        if (dot->operand_dtype == GROUT_DTYPE_F32) {
            a = cut(a);
            b = cut(b);
        }
        sum += a.value * b.value;
        magnitude += fabs(a.value * b.value);
        bound += fabs(a.value) * b.bound + fabs(b.value) * a.bound + a.bound * b.bound;
        is_whole = is_whole && a.value == rint(a.value) && b.value == rint(b.value) && bound == 0;
    }
    if (dot->accumulator_dtype == GROUT_DTYPE_I32) { /* exact in a double, and wraps */
        return (num){(double)(int32_t)(uint32_t)(int64_t)sum, 0};
    }
    const bool is_half = dot->accumulator_dtype == GROUT_DTYPE_F16;
    if (is_whole && magnitude < (is_half ? 2048 : 0x1p24)) {
        return (num){sum, 0};
    }
    const double steps = (double)(dot->depth + 1);
    bound += steps * 0x1p-24 * magnitude * 1.01;
    if (is_half) { /* a rounding for each 16 */
        bound += (steps / 16 + 1) * (0x1p-11 * magnitude + 0x1p-25);
    }
    return settle(dot->accumulator_dtype, sum, bound, 0);
}
