/* integers.c - arithmetic of integers and truth values, by what docs/operations.md says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "integers.h"

#include "formats.h"

static bool is_less(grout_dtype dtype, uint64_t a, uint64_t b) {
    return formats_is_signed(dtype) ? (int64_t)a < (int64_t)b : a < b;
}

static bool is_negative(grout_dtype dtype, uint64_t a) {
    return is_less(dtype, a, 0);
}

static uint64_t get_magnitude(grout_dtype dtype, uint64_t a) {
    return is_negative(dtype, a) ? 0 - a : a;
}

/* By magnitudes: the quotient rounds towards zero, the remainder has the sign of a. */
static uint64_t divide(grout_opcode opcode, grout_dtype dtype, uint64_t a, uint64_t b) {
    const bool is_opposite = is_negative(dtype, a) != is_negative(dtype, b);
    const uint64_t high = get_magnitude(dtype, a), low = get_magnitude(dtype, b);
    if (b == 0) {
        return 0;
    }
    if (opcode == GROUT_OP_REM) {
        return is_negative(dtype, a) ? 0 - high % low : high % low;
    }
    const bool goes_up = opcode == GROUT_OP_CDIV && high % low != 0 && !is_opposite;
    const uint64_t quotient = high / low + (goes_up ? 1 : 0);
    return is_opposite ? 0 - quotient : quotient;
}

static uint64_t shift(grout_opcode opcode, grout_dtype dtype, uint64_t a, uint64_t by) {
    const bool is_out = is_negative(dtype, by) || by >= formats_get_bits(dtype);
    if (opcode == GROUT_OP_SHL) {
        return is_out ? 0 : a << by;
    }
    if (is_negative(dtype, a)) {
        return is_out ? UINT64_MAX : ~(~a >> by);
    }
    return is_out ? 0 : a >> by;
}

static uint64_t count_bits(grout_opcode opcode, grout_dtype dtype, uint64_t a) {
    const uint32_t width = formats_get_bits(dtype);
    uint64_t ones = 0, above = width;
    for (uint32_t i = 0; i < width; i++) {
        ones += a >> i & 1;
        above = (a >> i & 1) != 0 ? width - 1 - i : above;
    }
    return opcode == GROUT_OP_POPCOUNT ? ones : above;
}

/* False: no such comparison. */
static bool compare(grout_opcode opcode, grout_dtype dtype, const uint64_t in[3],
                    uint64_t *result) {
    const bool less = is_less(dtype, in[0], in[1]), more = is_less(dtype, in[1], in[0]);
    switch ((int)opcode) {
    case GROUT_OP_EQ:
        *result = in[0] == in[1];
        return true;
    case GROUT_OP_NE:
        *result = in[0] != in[1];
        return true;
    case GROUT_OP_LT:
        *result = less;
        return true;
    case GROUT_OP_LE:
        *result = !more;
        return true;
    case GROUT_OP_GT:
        *result = more;
        return true;
    case GROUT_OP_GE:
        *result = !less;
        return true;
    default:
        return false;
    }
}

/* NOLINTNEXTLINE(readability-function-size): one short case for each operation */
bool integers_apply(grout_opcode opcode, grout_dtype dtype, const uint64_t in[3],
                    uint64_t *result) {
    const uint64_t a = in[0], b = in[1];
    switch ((int)opcode) {
    case GROUT_OP_ADD:
        *result = a + b;
        return true;
    case GROUT_OP_SUB:
        *result = a - b;
        return true;
    case GROUT_OP_MUL:
        *result = a * b;
        return true;
    case GROUT_OP_DIV:
    case GROUT_OP_REM:
    case GROUT_OP_CDIV:
        *result = divide(opcode, dtype, a, b);
        return true;
    case GROUT_OP_MIN:
        *result = is_less(dtype, a, b) ? a : b;
        return true;
    case GROUT_OP_MAX:
        *result = is_less(dtype, a, b) ? b : a;
        return true;
    case GROUT_OP_CLAMP:
        *result = is_less(dtype, a, b) ? b : a;
        *result = is_less(dtype, in[2], *result) ? in[2] : *result;
        return true;
    case GROUT_OP_NEG:
        *result = 0 - a;
        return true;
    case GROUT_OP_ABS:
        *result = get_magnitude(dtype, a);
        return true;
    case GROUT_OP_SIGN:
        *result = is_negative(dtype, a) ? UINT64_MAX : a != 0;
        return true;
    case GROUT_OP_AND:
        *result = a & b;
        return true;
    case GROUT_OP_OR:
        *result = a | b;
        return true;
    case GROUT_OP_XOR:
        *result = a ^ b;
        return true;
    case GROUT_OP_NOT:
        *result = dtype == GROUT_DTYPE_BOOL ? a == 0 : ~a;
        return true;
    case GROUT_OP_SHL:
    case GROUT_OP_SHR:
        *result = shift(opcode, dtype, a, b);
        return true;
    case GROUT_OP_CLZ:
    case GROUT_OP_POPCOUNT:
        *result = count_bits(opcode, dtype, a);
        return true;
    default:
        return compare(opcode, dtype, in, result);
    }
}
