/* reduce.c - atomic operations on elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reduce.h"

#include "number.h"

#include "grout/num.h"

static const char *const NAMES[GROUT_PTX_REDUCE_COUNT] = {".add", ".min", ".max", ".inc",
                                                          ".dec", ".and", ".or",  ".xor"};

static bool is_half(grout_ptx_elem elem) {
    return elem == GROUT_PTX_ELEM_F16 || elem == GROUT_PTX_ELEM_BF16;
}

static bool is_word(grout_ptx_elem elem) {
    return elem >= GROUT_PTX_ELEM_U32 && elem <= GROUT_PTX_ELEM_S64;
}

static bool is_known(grout_ptx_reduction reduction, grout_ptx_elem elem) {
    switch (reduction) {
    case GROUT_PTX_REDUCE_ADD:
        return (is_word(elem) && elem != GROUT_PTX_ELEM_S64) || is_half(elem) ||
               elem == GROUT_PTX_ELEM_F32 || elem == GROUT_PTX_ELEM_F32_FTZ ||
               elem == GROUT_PTX_ELEM_F64;
    case GROUT_PTX_REDUCE_MIN:
    case GROUT_PTX_REDUCE_MAX:
        return is_word(elem) || is_half(elem);
    case GROUT_PTX_REDUCE_INC:
    case GROUT_PTX_REDUCE_DEC:
        return elem == GROUT_PTX_ELEM_U32;
    case GROUT_PTX_REDUCE_AND:
    case GROUT_PTX_REDUCE_OR:
    case GROUT_PTX_REDUCE_XOR:
        return is_word(elem);
    case GROUT_PTX_REDUCE_COUNT:
        break;
    }
    return false;
}

bool grout_ptx__reduce_check(grout_ptx_reduction reduction, grout_ptx_elem elem,
                             grout_ptx_fault *fault) {
    return is_known(reduction, elem) ||
           grout_ptx__fail(fault, "a reducing copy of %s with %s", grout_ptx__elem_name(elem),
                           NAMES[reduction]);
}

/* A half as f32: exact. */
static float widen(grout_ptx_elem elem, uint64_t bits) {
    const uint32_t half = (uint32_t)(bits & 0xffff);
    if (elem == GROUT_PTX_ELEM_BF16) {
        return grout_from_bits_f32(half << 16);
    }
    const grout_ptx_term term = grout_ptx__term(GROUT_PTX_F16, half);
    const uint32_t sign = (half & 0x8000) << 16;
    if (term.exponent == GROUT_PTX_EXPONENT_ZERO) {
        return grout_from_bits_f32(sign);
    }
    if (term.exponent >= GROUT_PTX_EXPONENT_INF) {
        return grout_from_bits_f32(term.exponent == GROUT_PTX_EXPONENT_INF ? sign | 0x7f800000u
                                                                           : 0x7fffffffu);
    }
    const uint32_t power = (uint32_t)(term.exponent - 10 + 127) << 23;
    return (float)term.significand * grout_from_bits_f32(power);
}

/* To nearest even; the sum of two halves, rounded to f32 before, is not rounded twice: f32 has more
 * than twice the bits. */
static uint64_t narrow(grout_ptx_elem elem, float value) {
    const uint32_t bits = grout_bits_f32(value), sign = bits >> 16 & 0x8000;
    if (value != value) {
        return 0x7fff;
    }
    if (elem == GROUT_PTX_ELEM_BF16) {
        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    const grout_ptx_term term = grout_ptx__term(GROUT_PTX_F32, bits);
    const grout_ptx_rounding nearest = {GROUT_PTX_F16, 10, true};
    if (term.exponent == GROUT_PTX_EXPONENT_INF) {
        return sign | 0x7c00;
    }
    if (term.significand == 0) {
        return sign;
    }
    return sign | grout_ptx__round(&nearest, term.significand, term.exponent - 23);
}

static uint32_t flush(uint32_t bits) {
    return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}

static uint64_t add_f32(grout_ptx_elem elem, uint64_t element, uint64_t operand) {
    const bool is_flushing = elem == GROUT_PTX_ELEM_F32_FTZ;
    const uint32_t x = is_flushing ? flush((uint32_t)element) : (uint32_t)element;
    const uint32_t y = is_flushing ? flush((uint32_t)operand) : (uint32_t)operand;
    const float sum = grout_from_bits_f32(x) + grout_from_bits_f32(y);
    const uint32_t bits = sum != sum ? 0x7fffffffu : grout_bits_f32(sum);
    return is_flushing ? flush(bits) : bits;
}

static uint64_t add_f64(uint64_t element, uint64_t operand) {
    const double sum = grout_from_bits_f64(element) + grout_from_bits_f64(operand);
    return sum != sum ? 0x7fffffffffffffffu : grout_bits_f64(sum);
}

static uint64_t add(grout_ptx_elem elem, uint64_t element, uint64_t operand) {
    if (is_half(elem)) {
        return narrow(elem, widen(elem, element) + widen(elem, operand));
    }
    if (elem == GROUT_PTX_ELEM_F64) {
        return add_f64(element, operand);
    }
    if (elem == GROUT_PTX_ELEM_F32 || elem == GROUT_PTX_ELEM_F32_FTZ) {
        return add_f32(elem, element, operand);
    }
    return element + operand;
}

/* Less than, for numbers; -0 is less than +0. */
static bool is_less(grout_ptx_elem elem, uint64_t a, uint64_t b) {
    if (is_half(elem)) {
        const float x = widen(elem, a), y = widen(elem, b);
        return x < y || (x == y && (a & 0x8000) > (b & 0x8000));
    }
    if (elem == GROUT_PTX_ELEM_S32) {
        return grout_wrap_i32((uint32_t)a) < grout_wrap_i32((uint32_t)b);
    }
    return elem == GROUT_PTX_ELEM_S64 ? grout_wrap_i64(a) < grout_wrap_i64(b) : a < b;
}

static bool is_nan(grout_ptx_elem elem, uint64_t bits) {
    const float value = is_half(elem) ? widen(elem, bits) : 0;
    return value != value;
}

static uint64_t choose(grout_ptx_elem elem, uint64_t element, uint64_t operand, bool is_max) {
    if (is_nan(elem, element)) {
        return is_nan(elem, operand) ? 0x7fff : operand;
    }
    if (is_nan(elem, operand)) {
        return element;
    }
    const bool is_operand =
        is_max ? is_less(elem, element, operand) : is_less(elem, operand, element);
    return is_operand ? operand : element;
}

uint64_t grout_ptx__reduce(grout_ptx_reduction reduction, grout_ptx_elem elem, uint64_t element,
                           uint64_t operand) {
    const uint32_t bits = grout_ptx__elem_bits(elem);
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    element &= mask;
    operand &= mask;
    switch (reduction) {
    case GROUT_PTX_REDUCE_ADD:
        return add(elem, element, operand) & mask;
    case GROUT_PTX_REDUCE_MIN:
    case GROUT_PTX_REDUCE_MAX:
        return choose(elem, element, operand, reduction == GROUT_PTX_REDUCE_MAX);
    case GROUT_PTX_REDUCE_INC:
        return element >= operand ? 0 : element + 1;
    case GROUT_PTX_REDUCE_DEC:
        return element == 0 || element > operand ? operand : element - 1;
    case GROUT_PTX_REDUCE_AND:
        return element & operand;
    case GROUT_PTX_REDUCE_OR:
        return element | operand;
    case GROUT_PTX_REDUCE_XOR:
        return element ^ operand;
    case GROUT_PTX_REDUCE_COUNT:
        break;
    }
    return element;
}
