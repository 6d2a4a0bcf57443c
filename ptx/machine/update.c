/* update.c - see update.h. PTX ISA 9.1, atom, red and cp.reduce.async.bulk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "update.h"

#include "floats.h"
#include "words.h"

#include <math.h>

static double choose(bool is_min, double a, double b) {
    if (a != a || b != b) {
        return a != a && b != b ? (double)NAN : a != a ? b : a;
    }
    if (a == b) {
        return (signbit(a) != 0) == is_min ? a : b;
    }
    return (a < b) == is_min ? a : b;
}

static double compute(uint16_t operation, double a, double b) {
    return operation == PTX_WORD_ADD ? grout_ptx__add_odd(a, b)
                                     : choose(operation == PTX_WORD_MIN, a, b);
}

/* One or two floats of 16 bits. */
static uint64_t update_halves(uint16_t operation, const ptx_format *format, uint32_t bits,
                              uint64_t old, uint64_t value) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < bits; i += 16) {
        double sum = compute(operation, grout_ptx__widen(format, old >> i & 0xffff),
                             grout_ptx__widen(format, value >> i & 0xffff));
        result |= (uint64_t)grout_ptx__narrow(format, sum, PTX_ROUND_NEAREST, false) << i;
    }
    return result;
}

static uint64_t update_float(uint16_t operation, uint16_t type, uint64_t old, uint64_t value) {
    switch (type) {
    case PTX_WORD_F16:
        return update_halves(operation, &grout_ptx__f16, 16, old, value);
    case PTX_WORD_F16X2:
        return update_halves(operation, &grout_ptx__f16, 32, old, value);
    case PTX_WORD_BF16:
        return update_halves(operation, &grout_ptx__bf16, 16, old, value);
    case PTX_WORD_BF16X2:
        return update_halves(operation, &grout_ptx__bf16, 32, old, value);
    case PTX_WORD_F32:
        return operation == PTX_WORD_ADD
                   ? ptx_canonical(ptx_float((uint32_t)old) + ptx_float((uint32_t)value))
                   : ptx_canonical((float)choose(operation == PTX_WORD_MIN,
                                                 (double)ptx_float((uint32_t)old),
                                                 (double)ptx_float((uint32_t)value)));
    default:
        return ptx_double_bits(
            operation == PTX_WORD_ADD
                ? ptx_double(old) + ptx_double(value)
                : choose(operation == PTX_WORD_MIN, ptx_double(old), ptx_double(value)));
    }
}

static bool is_less(const ptx_word_info *type, uint64_t a, uint64_t b) {
    uint64_t flip = type->kind == PTX_KIND_SIGNED ? UINT64_C(1) << (type->bits - 1) : 0;
    return (a ^ flip) < (b ^ flip);
}

bool grout_ptx__update(uint16_t operation, uint16_t type, uint64_t old, uint64_t value,
                       uint64_t third, uint64_t *result_out) {
    const ptx_word_info *info = grout_ptx__get_word((ptx_word_id)type);
    uint64_t mask = info->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << info->bits) - 1;
    bool is_float = info->kind == PTX_KIND_FLOAT || info->kind == PTX_KIND_PACKED;
    old &= mask;
    value &= mask;
    switch (operation) {
    case PTX_WORD_ADD:
        *result_out = is_float ? update_float(operation, type, old, value) : (old + value) & mask;
        return true;
    case PTX_WORD_MIN:
    case PTX_WORD_MAX:
        *result_out = is_float ? update_float(operation, type, old, value)
                      : is_less(info, old, value) == (operation == PTX_WORD_MIN) ? old
                                                                                 : value;
        return true;
    case PTX_WORD_AND:
        *result_out = old & value;
        return true;
    case PTX_WORD_OR:
        *result_out = old | value;
        return true;
    case PTX_WORD_XOR:
        *result_out = old ^ value;
        return true;
    case PTX_WORD_INC:
        *result_out = old >= value ? 0 : old + 1;
        return true;
    case PTX_WORD_DEC:
        *result_out = old == 0 || old > value ? value : old - 1;
        return true;
    case PTX_WORD_EXCH:
        *result_out = value;
        return true;
    case PTX_WORD_CAS:
        *result_out = old == value ? third & mask : old;
        return true;
    default:
        return false;
    }
}
