/* convert.c - cvt. PTX ISA 9.1, cvt: any number is an integer of 64 bits or a double, exactly, and
 * is rounded once to what it becomes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "floats.h"
#include "machine.h"

#include <math.h>

/* What the words of a conversion say. */
typedef struct ptx_conversion {
    uint16_t to, from;
    ptx_rounding rounding;
    bool is_to_integer; /* .rni and its like */
    bool is_finite, is_saturated, is_relu, is_flushing;
} ptx_conversion;

/* A conversion in the two words that a step keeps. */
static void pack(const ptx_conversion *it, ptx_step *step) {
    step->detail = (uint32_t)it->to << 16 | it->from;
    step->more = (uint32_t)it->rounding | (uint32_t)it->is_to_integer << 8 |
                 (uint32_t)it->is_finite << 9 | (uint32_t)it->is_saturated << 10 |
                 (uint32_t)it->is_relu << 11 | (uint32_t)it->is_flushing << 12;
}

static ptx_conversion unpack(const ptx_step *step) {
    return (ptx_conversion){.to = (uint16_t)(step->detail >> 16),
                            .from = (uint16_t)step->detail,
                            .rounding = (ptx_rounding)(step->more & 0xff),
                            .is_to_integer = (step->more >> 8 & 1) != 0,
                            .is_finite = (step->more >> 9 & 1) != 0,
                            .is_saturated = (step->more >> 10 & 1) != 0,
                            .is_relu = (step->more >> 11 & 1) != 0,
                            .is_flushing = (step->more >> 12 & 1) != 0};
}

static const ptx_format *get_format(uint16_t type) {
    switch (type) {
    case PTX_WORD_F16:
    case PTX_WORD_F16X2:
        return &grout_ptx__f16;
    case PTX_WORD_BF16:
    case PTX_WORD_BF16X2:
        return &grout_ptx__bf16;
    case PTX_WORD_TF32:
        return &grout_ptx__tf32;
    case PTX_WORD_E4M3X2:
        return &grout_ptx__e4m3;
    case PTX_WORD_E5M2X2:
        return &grout_ptx__e5m2;
    case PTX_WORD_F32:
        return &grout_ptx__f32;
    default:
        return NULL;
    }
}

static double read_float(uint16_t type, uint64_t bits) {
    return type == PTX_WORD_F64   ? ptx_double(bits)
           : type == PTX_WORD_F32 ? (double)ptx_float((uint32_t)bits)
                                  : grout_ptx__widen(get_format(type), (uint32_t)bits);
}

static double round_to_integer(double value, ptx_rounding rounding) {
    switch (rounding) {
    case PTX_ROUND_ZERO:
        return trunc(value);
    case PTX_ROUND_DOWN:
        return floor(value);
    case PTX_ROUND_UP:
        return ceil(value);
    case PTX_ROUND_AWAY:
        return round(value);
    case PTX_ROUND_NEAREST:
        break;
    }
    return nearbyint(value);
}

/* Too large and too small ones become the largest and the smallest. A NaN is 0, unless both types
 * are wide enough for hardware to say otherwise: then only the highest bit is set. */
static uint64_t float_to_integer(const ptx_conversion *it, double value) {
    const ptx_word_info *to = grout_ptx__get_word((ptx_word_id)it->to);
    bool is_signed = to->kind == PTX_KIND_SIGNED;
    double limit = ldexp(1, to->bits - (is_signed ? 1 : 0));
    uint64_t high = UINT64_C(1) << (to->bits - 1);
    if (value != value) {
        return it->from == PTX_WORD_F64 || to->bits == 64 ? high : 0;
    }
    value = round_to_integer(value, it->rounding);
    if (value >= limit) {
        return is_signed ? high - 1 : high | (high - 1);
    }
    if (value < (is_signed ? -limit : 0)) {
        return is_signed ? high : 0;
    }
    return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}

/* A float in a format of at most 32 bits, or a double's bits. */
static uint64_t write_float(const ptx_conversion *it, double value) {
    if (it->is_to_integer) {
        value = round_to_integer(value, it->rounding);
    }
    if (it->is_saturated) {
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    }
    if (it->is_relu && !(value > 0) && value == value) {
        value = 0;
    }
    if (it->to == PTX_WORD_F64) {
        return ptx_double_bits(value);
    }
    uint32_t bits =
        grout_ptx__narrow(get_format(it->to), value,
                          it->is_to_integer ? PTX_ROUND_NEAREST : it->rounding, it->is_finite);
    if (it->to == PTX_WORD_TF32) {
        return (uint64_t)bits << 13;
    }
    if (it->is_flushing && it->to == PTX_WORD_F32 && (bits & 0x7f800000u) == 0) {
        bits &= 0x80000000u;
    }
    return bits;
}

static uint64_t clamp(uint64_t value, const ptx_word_info *from, const ptx_word_info *to) {
    int64_t number = (int64_t)value;
    uint64_t high = UINT64_C(1) << (to->bits - 1);
    bool is_negative = from->kind == PTX_KIND_SIGNED && number < 0;
    if (to->kind == PTX_KIND_SIGNED) {
        return is_negative ? (number < -(int64_t)(high - 1) - 1 ? ~(high - 1) : value)
                           : (value > high - 1 ? high - 1 : value);
    }
    return is_negative ? 0 : value > (high | (high - 1)) ? (high | (high - 1)) : value;
}

static uint64_t convert(const ptx_conversion *it, uint64_t bits) {
    const ptx_word_info *from = grout_ptx__get_word((ptx_word_id)it->from);
    const ptx_word_info *to = grout_ptx__get_word((ptx_word_id)it->to);
    if (from->bits < 64) {
        uint64_t sign = UINT64_C(1) << (from->bits - 1);
        bits &= (sign << 1) - 1;
        bits = from->kind == PTX_KIND_SIGNED ? (bits ^ sign) - sign : bits;
    }
    if (from->kind == PTX_KIND_FLOAT) {
        double value = read_float(it->from, bits);
        if (it->is_flushing && it->from == PTX_WORD_F32 && fabs(value) < 0x1p-126) {
            value = copysign(0, value);
        }
        return to->kind == PTX_KIND_FLOAT ? write_float(it, value) : float_to_integer(it, value);
    }
    if (to->kind != PTX_KIND_FLOAT) {
        return it->is_saturated ? clamp(bits, from, to) : bits;
    }
    bool is_negative = from->kind == PTX_KIND_SIGNED && (bits >> 63) != 0;
    if (it->to == PTX_WORD_F64) {
        return ptx_double_bits(is_negative ? (double)(int64_t)bits : (double)bits);
    }
    return write_float(it, grout_ptx__integer_odd(is_negative ? 0 - bits : bits, is_negative));
}

static ptx_outcome run_convert(ptx_context *context) {
    const ptx_step *step = context->step;
    ptx_conversion it = unpack(step);
    const ptx_word_info *to = grout_ptx__get_word((ptx_word_id)it.to);
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t value = convert(&it, ptx_value(context, &step->sources[0], lane));
        /* A signed result fills a wider register with its sign, which put() cuts. */
        if (to->kind != PTX_KIND_SIGNED && to->bits < 64) {
            value &= (UINT64_C(1) << to->bits) - 1;
        }
        ptx_put(context, &step->result, lane, value);
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

/* Integers that keep or lose high bits, the most frequent of all. */
static ptx_outcome run_resize(ptx_context *context) {
    const ptx_step *step = context->step;
    uint64_t mask = step->offset;
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_put(context, &step->result, lane, ptx_value(context, &step->sources[0], lane) & mask);
    }
    const bool is_low = mask <= UINT32_MAX || step->result.bits <= 32;
    ptx_set_defined(context, &step->result,
                    is_low ? ptx_defined_low(context, &step->sources[0])
                           : ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

/* Two values into one register: the first source is the upper half. */
static ptx_outcome run_convert_pair(ptx_context *context) {
    const ptx_step *step = context->step;
    ptx_conversion it = unpack(step);
    uint32_t half = grout_ptx__get_word((ptx_word_id)it.to)->bits / 2u;
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t high =
            write_float(&it, read_float(it.from, ptx_value(context, &step->sources[0], lane)));
        uint64_t low =
            write_float(&it, read_float(it.from, ptx_value(context, &step->sources[1], lane)));
        ptx_put(context, &step->result, lane, high << half | low);
    }
    ptx_set_defined(context, &step->result,
                    ptx_defined(context, &step->sources[0]) &
                        ptx_defined(context, &step->sources[1]));
    return PTX_NEXT;
}

/* A pair into a pair: f16x2 from two values of 8 bits, or the other way. */
static ptx_outcome run_convert_packed(ptx_context *context) {
    const ptx_step *step = context->step;
    ptx_conversion it = unpack(step);
    uint32_t to = grout_ptx__get_word((ptx_word_id)it.to)->bits / 2u;
    uint32_t from = grout_ptx__get_word((ptx_word_id)it.from)->bits / 2u;
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t bits = ptx_value(context, &step->sources[0], lane), result = 0;
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t part = bits >> from * i & ((1u << from) - 1);
            result |= write_float(&it, read_float(it.from, part)) << to * i;
        }
        ptx_put(context, &step->result, lane, result);
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

static bool read_words(const ptx_decoder *decoder, ptx_conversion *it) {
    uint16_t round = grout_ptx__word(decoder, PTX_CLASS_ROUND, 0).id;
    it->to = grout_ptx__type(decoder, 0);
    it->from = grout_ptx__type(decoder, 1);
    it->is_finite = grout_ptx__has(decoder, PTX_WORD_SATFINITE);
    it->is_saturated = grout_ptx__has(decoder, PTX_WORD_SAT);
    it->is_relu = grout_ptx__has(decoder, PTX_WORD_RELU);
    it->is_flushing = grout_ptx__has(decoder, PTX_WORD_FTZ);
    it->is_to_integer = round == PTX_WORD_RNI || round == PTX_WORD_RZI || round == PTX_WORD_RMI ||
                        round == PTX_WORD_RPI;
    switch (round) {
    case PTX_WORD_RZ:
    case PTX_WORD_RZI:
        it->rounding = PTX_ROUND_ZERO;
        break;
    case PTX_WORD_RM:
    case PTX_WORD_RMI:
        it->rounding = PTX_ROUND_DOWN;
        break;
    case PTX_WORD_RP:
    case PTX_WORD_RPI:
        it->rounding = PTX_ROUND_UP;
        break;
    case PTX_WORD_RNA:
        it->rounding = PTX_ROUND_AWAY;
        break;
    case PTX_WORD_RS:
        return grout_ptx__unknown(decoder, "stochastic rounding is not known");
    default:
        it->rounding = PTX_ROUND_NEAREST;
        break;
    }
    return true;
}

static bool is_float(uint16_t type) {
    return type == PTX_WORD_F64 || get_format(type) != NULL;
}

bool grout_ptx__decode_convert(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    ptx_conversion it = {.to = 0};
    if (!read_words(decoder, &it) || !grout_ptx__decode_result(decoder, 0, &step->result) ||
        !grout_ptx__decode_source(decoder, 1, it.from, 0)) {
        return false;
    }
    const ptx_word_info *to = grout_ptx__get_word((ptx_word_id)it.to);
    const ptx_word_info *from = grout_ptx__get_word((ptx_word_id)it.from);
    pack(&it, step);
    bool are_floats = is_float(it.to) && is_float(it.from);
    if (to->kind == PTX_KIND_PACKED || from->kind == PTX_KIND_PACKED) {
        bool is_pair = decoder->inst->operand_count == 3;
        step->run = is_pair ? run_convert_pair : run_convert_packed;
        return are_floats && (is_pair ? from->kind == PTX_KIND_FLOAT &&
                                            grout_ptx__decode_source(decoder, 2, it.from, 1)
                                      : to->kind == from->kind)
                   ? true
                   : grout_ptx__unknown(decoder, "the emulator does not know this conversion");
    }
    if ((to->kind == PTX_KIND_FLOAT && !is_float(it.to)) ||
        (from->kind == PTX_KIND_FLOAT && !is_float(it.from)) || decoder->inst->operand_count != 2 ||
        to->bits < 8 || from->bits < 8) {
        return grout_ptx__unknown(decoder, "the emulator does not know this conversion");
    }
    step->run = run_convert;
    if (to->kind != PTX_KIND_FLOAT && from->kind == PTX_KIND_UNSIGNED &&
        to->kind == PTX_KIND_UNSIGNED && !it.is_saturated) {
        uint32_t bits = to->bits < from->bits ? to->bits : from->bits;
        step->run = run_resize;
        step->offset = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    }
    return true;
}
