/* rounding.c - running error analysis, one operation at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rounding.h"

#include "formats.h"
#include "integers.h"

#include <math.h>
#include <stddef.h>

typedef reference_number num;

/* The rounded result of an operation whose exact value is value, with an inherited bound; slack:
 * roundings in units of the last place that may fall either way. */
static num settle(grout_dtype dtype, double value, double bound, double slack) {
    if (isnan(bound)) {
        bound = INFINITY;
    }
    const double rounded = formats_round(dtype, value);
    const double add = (bound > 0 ? slack + 1 : slack) * formats_get_quantum(dtype, value);
    num result = formats_make(rounded, bound + (formats_is_float(dtype) ? add : 0));
    if (result.bound > 0 && (dtype == GROUT_DTYPE_F8E8M0 || !isfinite(rounded) ||
                             fabs(value) + result.bound >= formats_get_largest(dtype))) {
        result.bound = INFINITY;
    }
    return result;
}

num rounding_round(grout_dtype dtype, num number) {
    return settle(dtype, number.value, number.bound, 0);
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

/* A sum that can be rounded once more: where it is not exact its last bit is 1, so it never lies
 * half way between two numbers of a type with fewer bits. */
static double add_to_odd(double a, double b) {
    const double sum = a + b, from_a = sum - b, rest = (a - from_a) + (b - (sum - from_a));
    int exponent;
    if (!isfinite(sum) || rest == 0) {
        return sum;
    }
    const double fraction = ldexp(frexp(sum, &exponent), 53);
    const bool is_odd = fmod(fraction, 2) != 0;
    return is_odd ? sum : nextafter(sum, rest > 0 ? (double)INFINITY : -(double)INFINITY);
}

/* That of f16 and bf16 is rounded to f32 before it is rounded to them. */
static double multiply_add(grout_dtype dtype, double a, double b, double c) {
    return dtype == GROUT_DTYPE_F64 ? fma(a, b, c)
                                    : formats_round(GROUT_DTYPE_F32, add_to_odd(a * b, c));
}

static num choose(bool takes_a, num a, num b) {
    const double nan = isnan(a.value) || isnan(b.value) ? NAN : takes_a ? a.value : b.value;
    return formats_make(nan, a.bound > b.bound ? a.bound : b.bound);
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
    case GROUT_OP_FMA:
        *result = settle(dtype, multiply_add(dtype, a.value, b.value, c.value),
                         product_bound + c.bound, 0);
        return true;
    case GROUT_OP_CLAMP:
        *result = choose(a.value > b.value, a, b);
        *result = choose(result->value < c.value, *result, c);
        return true;
    case GROUT_OP_COPYSIGN: /* the signs of a zero and of NaN are not followed */
        *result = formats_make(copysign(a.value, b.value),
                               a.bound + (fabs(b.value) > b.bound ? 0 : 2 * fabs(a.value)));
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
    if (a.bound == 0 && !isfinite(value)) { /* a pole, past the end, or no number: known too */
        return formats_make(value, 0);
    }
    /* f16 and bf16: computed in f32, rounded once more */
    return settle(dtype, value, a.bound > 0 ? slope * a.bound : 0, ulp > 0 ? ulp + 1 : 0);
}

/* The cube root. glibc's cbrt may be 4 units off; cbrtl has bits to spare. */
static double root3(double x) {
    return (double)cbrtl(x);
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
    case GROUT_OP_CBRT:
        *result = bend(dtype, opcode, root3(x), near > 0 ? pow(near, -2.0 / 3) / 3 : INFINITY, a);
        return true;
    case GROUT_OP_ERF:
        *result = bend(dtype, opcode, erf(x), 1.2, a);
        return true;
    case GROUT_OP_LOGISTIC:
        *result = bend(dtype, opcode, x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)), 0.25, a);
        return true;
    case GROUT_OP_RSQRT:
        *result =
            bend(dtype, opcode, 1 / sqrt(x), x > far ? 0.5 * pow(x - far, -1.5) : INFINITY, a);
        return true;
    case GROUT_OP_SQRT:
        *result = bend(dtype, opcode, sqrt(x), x > far ? 0.5 / sqrt(x - far) : INFINITY, a);
        return true;
    case GROUT_OP_FLOOR:
        *result = formats_make(floor(x), far > 0 ? far + 1 : 0);
        return true;
    case GROUT_OP_CEIL:
        *result = formats_make(ceil(x), far > 0 ? far + 1 : 0);
        return true;
    case GROUT_OP_ROUND:
        *result = formats_make(rint(x), far > 0 ? far + 1 : 0);
        return true;
    case GROUT_OP_ROUND_AWAY:
        *result = formats_make(round(x), far > 0 ? far + 1 : 0);
        return true;
    case GROUT_OP_NEG:
        *result = formats_make(-x, far);
        return true;
    case GROUT_OP_ABS:
        *result = formats_make(fabs(x), far);
        return true;
    case GROUT_OP_SIGN:
        *result = formats_make(x > 0 ? 1 : x < 0 ? -1 : x, far > 0 && near <= 0 ? 2 : 0);
        return true;
    default:
        return false;
    }
}

/* False: no such operation. */
static bool compare(grout_opcode opcode, num a, num b, num *result) {
    bool holds = false;
    if (opcode == GROUT_OP_IS_FINITE) {
        *result = formats_make(isfinite(a.value), isinf(a.bound) ? 1 : 0);
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
    *result = formats_make(holds, bound > 0 && !(fabs(a.value - b.value) > bound) ? 1 : 0);
    return true;
}

static num pick(num condition, num a, num b) {
    if (condition.bound == 0) {
        return condition.value != 0 ? a : b;
    }
    return formats_make(a.value, fabs(a.value - b.value) + a.bound + b.bound);
}

/* ---- casts ----------------------------------------------------------------------------------- */

/* Cut off, then the nearest integer of the type. */
static num saturate(grout_dtype dtype, double value) {
    const uint32_t bits = formats_get_bits(dtype) - (formats_is_signed(dtype) ? 1 : 0);
    const double past = ldexp(1.0, (int)bits); /* the first that is too large */
    const double whole = isnan(value) ? 0 : trunc(value);
    if (whole >= past) {
        return formats_make_whole(dtype, UINT64_MAX >> (64 - bits));
    }
    if (!formats_is_signed(dtype) || whole >= 0) {
        return formats_make_whole(dtype, whole < 0 ? 0 : (uint64_t)whole);
    }
    return whole < -past ? formats_make_whole(dtype, UINT64_MAX << bits)
                         : formats_make_whole(dtype, 0 - (uint64_t)-whole);
}

static num cast_whole(grout_dtype from, grout_dtype to, num a) {
    const uint64_t whole = formats_get_whole(from, a);
    const bool is_negative = formats_is_signed(from) && (int64_t)whole < 0;
    if (a.bound > 0) {
        return formats_is_float(to) ? rounding_round(to, a) : formats_make(0, INFINITY);
    }
    if (!formats_is_float(to)) {
        return formats_make_whole(to, whole);
    }
    return formats_make(formats_round_whole(to, is_negative, is_negative ? 0 - whole : whole), 0);
}

static num cast(grout_dtype from, grout_dtype to, num a) {
    if (from == to) {
        return a; /* nothing is rounded, and an infinity stays one */
    }
    if (to == GROUT_DTYPE_BOOL) {
        return formats_make(a.value != 0, a.bound > 0 && fabs(a.value) <= a.bound ? 1 : 0);
    }
    if (!formats_is_float(from)) {
        return cast_whole(from, to, a);
    }
    if (formats_is_float(to)) {
        return rounding_round(to, a);
    }
    num result = saturate(to, a.value);
    if (a.bound > 0) {
        result.bound =
            saturate(to, a.value + a.bound).value - saturate(to, a.value - a.bound).value;
    }
    return result;
}

static num bitcast(grout_dtype from, grout_dtype to, num a) {
    uint64_t bits = 0;
    if (!formats_encode(from, a, &bits)) {
        return formats_make(0, INFINITY);
    }
    return formats_decode(to, bits);
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* All but select and layout_cast, which take whatever they are given. */
static bool apply_known(grout_opcode opcode, grout_dtype from, grout_dtype to, const num in[3],
                        num *result) {
    const grout_op_info *info = grout_op_get_info(opcode);
    if (opcode == GROUT_OP_CAST || opcode == GROUT_OP_BITCAST) {
        *result = opcode == GROUT_OP_CAST ? cast(from, to, in[0]) : bitcast(from, to, in[0]);
        return true;
    }
    if (info->rule == GROUT_RULE_COMPARE && formats_is_float(from)) {
        return compare(opcode, in[0], in[1], result);
    }
    if (formats_is_float(from)) {
        return info->form == GROUT_FORM_UNARY || info->form == GROUT_FORM_MATH
                   ? apply_function(from, opcode, in[0], result)
                   : combine(from, opcode, in, result);
    }
    uint64_t operands[3], whole = 0;
    for (int k = 0; k < 3; k++) {
        operands[k] = formats_get_whole(from, in[k]);
    }
    const bool is_known = integers_apply(opcode, from, operands, &whole);
    *result = formats_make_whole(to, whole);
    result->bound = in[0].bound + in[1].bound + in[2].bound > 0 ? INFINITY : 0;
    return is_known;
}

bool rounding_apply(grout_opcode opcode, grout_dtype from, grout_dtype to, const num in[3],
                    num *result) {
    if (opcode == GROUT_OP_SELECT) {
        *result = pick(in[0], in[1], in[2]);
        return true;
    }
    if (opcode == GROUT_OP_LAYOUT_CAST || opcode == GROUT_OP_MULTIPLE_OF) {
        *result = in[0];
        return true;
    }
    return apply_known(opcode, from, to, in, result);
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
        const num in[3] = {*result, row->first[i * row->stride], {.bound = 0}};
        is_known = rounding_apply(opcode, dtype, dtype, in, result);
    }
    return is_known;
}

bool rounding_reduce(grout_opcode opcode, grout_dtype dtype, const rounding_row *row, num *result) {
    switch ((int)opcode) {
    case GROUT_OP_REDUCE_SUM:
        if (formats_is_float(dtype)) {
            *result = sum_floats(dtype, row);
            return true;
        }
        return fold(GROUT_OP_ADD, dtype, row, result);
    case GROUT_OP_REDUCE_PROD:
        if (formats_is_float(dtype)) {
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
    return formats_make(trunc(a.value / quantum) * quantum, a.bound > 0 ? a.bound + quantum : 0);
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
    return formats_make(sum, 0);
}

/* rint without a call. False of a number from 2^51 on too, which no exact sum here has. */
static bool is_whole_number(double value) {
    const double shift = 0x1.8p52;
    return value + shift - shift == value;
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
        const double product = a.value * b.value;
        sum += product;
        magnitude += fabs(product);
        if (a.bound != 0 || b.bound != 0 || !isfinite(product)) { /* else it adds 0 */
            bound += fabs(a.value) * b.bound + fabs(b.value) * a.bound + a.bound * b.bound;
        }
        is_whole = is_whole && bound == 0 && is_whole_number(a.value) && is_whole_number(b.value);
    }
    if (dot->accumulator_dtype == GROUT_DTYPE_I32) { /* exact in a double, and wraps */
        return formats_make_whole(GROUT_DTYPE_I32, (uint64_t)(int64_t)sum);
    }
    const bool is_half = dot->accumulator_dtype == GROUT_DTYPE_F16;
    if (is_whole && magnitude < (is_half ? 2048 : 0x1p24)) {
        return formats_make(sum, 0);
    }
    const double steps = (double)(dot->depth + 1);
    bound += steps * 0x1p-24 * magnitude * 1.01;
    if (is_half) { /* a rounding for each 16 */
        bound += (steps / 16 + 1) * (0x1p-11 * magnitude + 0x1p-25);
    }
    return settle(dot->accumulator_dtype, sum, bound, 0);
}
