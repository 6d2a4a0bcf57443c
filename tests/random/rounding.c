/* rounding.c - running error analysis, one operation at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rounding.h"

#include "grout/interp.h"

#include <float.h>
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
    if (dtype == GROUT_DTYPE_F64) {
        return (format){52, -1022, DBL_MAX};
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
    if (!is_float(dtype) || dtype == GROUT_DTYPE_F64 || !isfinite(value) || value == 0) {
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

static int get_width(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->bytes * 8;
}

static bool is_signed(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_SINT;
}

/* The low bits, as many as the type has. */
static uint64_t get_low(grout_dtype dtype, int64_t value) {
    return (uint64_t)value & UINT64_MAX >> (64 - get_width(dtype));
}

static double wrap(grout_dtype dtype, int64_t value) {
    const uint64_t low = get_low(dtype, value), sign = UINT64_C(1) << (get_width(dtype) - 1);
    return is_signed(dtype) && (low & sign) != 0 ? (double)(int64_t)(low | ~(sign - 1))
                                                 : (double)low;
}

/* Integers of 64 bits are followed as far as a double holds them. */
static num limit(grout_dtype dtype, num number) {
    const bool is_wide = !is_float(dtype) && get_width(dtype) == 64;
    return is_wide && !(fabs(number.value) <= 0x1p53) ? (num){0, INFINITY} : number;
}

static int64_t divide(grout_opcode opcode, int64_t a, int64_t b) {
    if (b == 0) {
        return 0;
    }
    if (opcode == GROUT_OP_REM) {
        return a % b;
    }
    return a / b + (opcode == GROUT_OP_CDIV && a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

static int64_t shift(grout_dtype dtype, grout_opcode opcode, int64_t a, int64_t by) {
    const int width = get_width(dtype);
    const bool is_out = by < 0 || by >= width;
    if (opcode == GROUT_OP_SHL) {
        return is_out ? 0 : (int64_t)((uint64_t)a << by);
    }
    if (is_out) {
        return is_signed(dtype) && a < 0 ? -1 : 0;
    }
    return a >= 0 ? a >> by : ~(~a >> by);
}

static int64_t count_ones(uint64_t bits) {
    int64_t count = 0;
    for (; bits != 0; bits &= bits - 1) {
        count++;
    }
    return count;
}

static int64_t count_zeros(grout_dtype dtype, uint64_t bits) {
    int64_t count = get_width(dtype);
    for (; bits != 0; bits >>= 1) {
        count--;
    }
    return count;
}

static bool apply_integer(grout_opcode opcode, grout_dtype dtype, const int64_t in[3],
                          int64_t *out) {
    const int64_t a = in[0], b = in[1];
    switch ((int)opcode) {
    case GROUT_OP_ADD:
        *out = (int64_t)((uint64_t)a + (uint64_t)b);
        return true;
    case GROUT_OP_SUB:
        *out = (int64_t)((uint64_t)a - (uint64_t)b);
        return true;
    case GROUT_OP_MUL:
        *out = (int64_t)((uint64_t)a * (uint64_t)b);
        return true;
    case GROUT_OP_DIV:
    case GROUT_OP_REM:
    case GROUT_OP_CDIV:
        *out = divide(opcode, a, b);
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
    case GROUT_OP_CLZ:
        *out = count_zeros(dtype, get_low(dtype, a));
        return true;
    case GROUT_OP_POPCOUNT:
        *out = count_ones(get_low(dtype, a));
        return true;
    case GROUT_OP_CLAMP:
        *out = a < b ? b : a;
        *out = *out > in[2] ? in[2] : *out;
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

/* Far from the origin and the half line where it jumps, the angle moves by at most what the point
 * does, divided by its distance. */
static num turn(grout_dtype dtype, num a, num b) {
    const double ulp = grout_op_get_info(GROUT_OP_ATAN2)->ulp, moved = a.bound + b.bound;
    const double distance = hypot(a.value, b.value) - moved;
    const bool jumps = fabs(a.value) <= a.bound && b.value - b.bound <= 0;
    const double bound = moved == 0 ? 0 : distance > 0 ? moved / distance : INFINITY;
    return settle(dtype, atan2(a.value, b.value), jumps ? INFINITY : bound, ulp + 1);
}

/* The slope may be anything: operands have to be exact. */
static num raise_to(grout_dtype dtype, num a, num b) {
    const double ulp = grout_op_get_info(GROUT_OP_POW)->ulp;
    const bool is_exact = a.bound == 0 && b.bound == 0 && a.value != 0;
    return settle(dtype, pow(a.value, b.value), is_exact ? 0 : INFINITY, ulp + 1);
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
    case GROUT_OP_FMA: /* of f32 and less rounded twice here */
        *result = settle(dtype, fma(a.value, b.value, c.value), product_bound + c.bound,
                         dtype == GROUT_DTYPE_F64 ? 0 : 1);
        return true;
    case GROUT_OP_CLAMP:
        *result = choose(a.value > b.value, a, b);
        *result = choose(result->value < c.value, *result, c);
        return true;
    case GROUT_OP_COPYSIGN: /* the sign of a zero is not followed */
        *result = (num){copysign(a.value, b.value),
                        a.bound + (fabs(b.value) <= b.bound ? 2 * fabs(a.value) : 0)};
        return true;
    case GROUT_OP_ATAN2:
        *result = turn(dtype, a, b);
        return true;
    case GROUT_OP_POW:
        *result = raise_to(dtype, a, b);
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
    case GROUT_OP_EXPM1:
        *result = bend(dtype, opcode, expm1(x), exp(x + far), a);
        return true;
    case GROUT_OP_LOG1P:
        *result = bend(dtype, opcode, log1p(x), 1 + x > far ? 1 / (1 + x - far) : INFINITY, a);
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
    case GROUT_OP_ROUND_AWAY:
        *result = (num){round(x), far > 0 ? far + 1 : 0};
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
    if (opcode == GROUT_OP_IS_FINITE) {
        *result = (num){isfinite(a.value), isinf(a.bound) ? 1 : 0};
        return true;
    }
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
    const double high = ldexp(1.0, get_width(dtype) - (is_signed(dtype) ? 1 : 0)) - 1;
    const double low = is_signed(dtype) ? -high - 1 : 0;
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

/* What is known exactly has known bits; a float zero and NaN have not. */
static num bitcast(grout_dtype from, grout_dtype to, num a) {
    uint64_t bits = 0;
    if (a.bound > 0 || (is_float(from) && (isnan(a.value) || a.value == 0))) {
        return (num){0, INFINITY};
    }
    grout_element_from_double(from, a.value, &bits);
    const double value = rounding_decode(to, bits);
    return is_float(to) && (isnan(value) || isinf(value)) ? (num){value, INFINITY}
                                                          : (num){value, 0};
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* All but select and layout_cast, which take whatever they are given. */
static bool apply_known(grout_opcode opcode, grout_dtype from, grout_dtype to, const num in[3],
                        num *result) {
    const grout_op_info *info = grout_op_get_info(opcode);
    int64_t whole = 0;
    if (opcode == GROUT_OP_CAST || opcode == GROUT_OP_BITCAST) {
        *result = opcode == GROUT_OP_CAST ? cast(from, to, in[0]) : bitcast(from, to, in[0]);
        return true;
    }
    if (info->rule == GROUT_RULE_COMPARE) {
        return compare(opcode, in[0], in[1], result);
    }
    if (is_float(from)) {
        return info->form == GROUT_FORM_UNARY || info->form == GROUT_FORM_MATH
                   ? apply_function(from, opcode, in[0], result)
                   : combine(from, opcode, in, result);
    }
    const int64_t operands[3] = {(int64_t)in[0].value, (int64_t)in[1].value, (int64_t)in[2].value};
    const bool is_known = apply_integer(opcode, from, operands, &whole);
    *result = (num){wrap(to, whole), in[0].bound + in[1].bound + in[2].bound > 0 ? INFINITY : 0};
    return is_known;
}

bool rounding_apply(grout_opcode opcode, grout_dtype from, grout_dtype to, const num in[3],
                    num *result) {
    if (opcode == GROUT_OP_SELECT) {
        *result = pick(in[0], in[1], in[2]);
        return true;
    }
    if (opcode == GROUT_OP_LAYOUT_CAST) {
        *result = in[0];
        return true;
    }
    const bool is_known = apply_known(opcode, from, to, in, result);
    *result = limit(to, *result);
    return is_known;
}

static num sum_floats(grout_dtype dtype, const rounding_row *row) {
    const double unit = dtype == GROUT_DTYPE_F64 ? 0x1p-52 : 0x1p-24; /* of f64 here too */
    double sum = 0, bound = 0, magnitude = 0;
    bool is_whole = true;
    for (int64_t i = 0; i < row->count; i++) {
        const num x = row->first[i * row->stride];
        sum += x.value;
        bound += x.bound;
        magnitude += fabs(x.value);
        is_whole = is_whole && x.value == rint(x.value);
    }
    /* Whole numbers have exact sums in any order, as long as they fit the fraction. */
    is_whole = is_whole && bound == 0 && magnitude * unit < 1;
    bound += is_whole ? 0 : (double)row->count * unit * magnitude * 1.01;
    return settle(dtype, sum, bound, 0);
}

/* In any order, if no part of the product can leave the range of f32. */
static num multiply_floats(grout_dtype dtype, const rounding_row *row) {
    const double unit = dtype == GROUT_DTYPE_F64 ? 0x1p-52 : 0x1p-24;
    double product = 1, exponents = 0, relative = 0;
    for (int64_t i = 0; i < row->count; i++) {
        const num x = row->first[i * row->stride];
        product *= x.value;
        exponents += x.value == 0 ? 0 : fabs(log2(fabs(x.value)));
        relative += x.bound == 0 ? unit : INFINITY;
    }
    const bool is_near = exponents < 100 && isfinite(relative);
    return settle(dtype, product, is_near ? fabs(product) * relative * 1.01 : INFINITY, 0);
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
    case GROUT_OP_REDUCE_PROD:
        if (is_float(dtype)) {
            *result = multiply_floats(dtype, row);
            return true;
        }
        return fold(GROUT_OP_MUL, dtype, row, result);
    case GROUT_OP_REDUCE_AND:
        return fold(GROUT_OP_AND, dtype, row, result);
    case GROUT_OP_REDUCE_OR:
        return fold(GROUT_OP_OR, dtype, row, result);
    case GROUT_OP_REDUCE_XOR:
        return fold(GROUT_OP_XOR, dtype, row, result);
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

/* A sum of integers that stops at the largest and the least i32 after every 32 products. */
static num add_saturating(const rounding_dot *dot, num acc) {
    double sum = acc.value;
    for (int64_t k = 0; k < dot->depth; k++) {
        sum += dot->a[k].value * dot->b[k * dot->b_stride].value;
        if (k % 32 == 31) {
            sum = fmin(fmax(sum, (double)INT32_MIN), (double)INT32_MAX);
        }
    }
    return (num){sum, 0};
}

num rounding_dot_add(const rounding_dot *dot, num acc) {
    if (dot->is_saturating) {
        return add_saturating(dot, acc);
    }
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
