/* functions.c - rcp, sqrt, ex2 and their like. PTX ISA leaves the last bits of .approx open: here
 * they are those of a double, rounded to nearest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "floats.h"
#include "machine.h"

#include <math.h>

static double compute(uint32_t op, double a, double b) {
    switch (op) {
    case PTX_OP_RCP:
        return 1 / a;
    case PTX_OP_SQRT:
        return sqrt(a);
    case PTX_OP_RSQRT:
        return 1 / sqrt(a);
    case PTX_OP_SIN:
        return sin(a);
    case PTX_OP_COS:
        return cos(a);
    case PTX_OP_LG2:
        return log2(a);
    case PTX_OP_EX2:
        return exp2(a);
    case PTX_OP_TANH:
        return tanh(a);
    case PTX_OP_DIV:
        return a / b;
    default:
        return a;
    }
}

/* Subnormal f32 becomes a zero of its sign. */
static float flush(float value, bool is_flushing) {
    return is_flushing && fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

static ptx_outcome run_f32(ptx_context *context) {
    const ptx_step *step = context->step;
    const uint32_t *a = ptx_words(context, &step->sources[0]);
    const uint32_t *b = ptx_words(context, &step->sources[1]);
    uint32_t *result = ptx_words(context, &step->result);
    bool is_flushing = step->more != 0;
    PTX_FOR_LANES(lane, context->lanes) {
        double value = compute(step->detail, (double)flush(ptx_float(a[lane]), is_flushing),
                               (double)flush(ptx_float(b[lane]), is_flushing));
        result[lane] = ptx_canonical(flush((float)value, is_flushing));
    }
    ptx_set_defined(context, &step->result,
                    ptx_defined(context, &step->sources[0]) &
                        ptx_defined(context, &step->sources[1]));
    return PTX_NEXT;
}

/* f64. The approximations have the upper word alone: rcp.approx.ftz.f64, rsqrt.approx.ftz.f64. */
static ptx_outcome run_f64(ptx_context *context) {
    const ptx_step *step = context->step;
    const uint64_t *a = ptx_longs(context, &step->sources[0]);
    uint64_t *result = ptx_longs(context, &step->result);
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t bits = ptx_double_bits(compute(step->detail, ptx_double(a[lane]), 0));
        result[lane] = step->type != 0 ? bits & UINT64_C(0xffffffff00000000) : bits;
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

static ptx_outcome run_half(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_format *format = step->type == PTX_WORD_F16 || step->type == PTX_WORD_F16X2
                                   ? &grout_ptx__f16
                                   : &grout_ptx__bf16;
    bool is_pair = step->type == PTX_WORD_F16X2 || step->type == PTX_WORD_BF16X2;
    PTX_FOR_LANES(lane, context->lanes) {
        uint32_t bits = (uint32_t)ptx_value(context, &step->sources[0], lane), result = 0;
        for (uint32_t i = 0; i < (is_pair ? 32u : 16u); i += 16) {
            double value = compute(step->detail, grout_ptx__widen(format, bits >> i & 0xffff), 0);
            result |= grout_ptx__narrow(format, value, PTX_ROUND_NEAREST, false) << i;
        }
        ptx_put(context, &step->result, lane, result);
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

bool grout_ptx__decode_function(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    uint16_t type = grout_ptx__type(decoder, 0);
    ptx_word round = grout_ptx__word(decoder, PTX_CLASS_ROUND, 0);
    bool has_two = decoder->inst->op == PTX_OP_DIV;
    step->detail = decoder->inst->op;
    step->more = grout_ptx__has(decoder, PTX_WORD_FTZ);
    step->type = type;
    step->run = type == PTX_WORD_F32 ? run_f32 : type == PTX_WORD_F64 ? run_f64 : run_half;
    if (round.id != PTX_WORD_NONE && round.id != PTX_WORD_RN) {
        return grout_ptx__unknown(decoder, "the emulator rounds '%s' to nearest alone",
                                  grout_ptx__get_op(decoder->inst->op)->text);
    }
    if (type == PTX_WORD_F64) {
        step->type =
            grout_ptx__has(decoder, PTX_WORD_APPROX) && grout_ptx__has(decoder, PTX_WORD_FTZ);
    }
    return grout_ptx__decode_result(decoder, 0, &step->result) &&
           (type != PTX_WORD_F64 || step->result.bits >= 64 ||
            grout_ptx__unknown(decoder, "a register of %u bits for a value of 64",
                               step->result.bits)) &&
           grout_ptx__decode_source(decoder, 1, type, 0) &&
           grout_ptx__decode_source(decoder, has_two ? 2 : 1, type, 1);
}

/* testp: which kind of float it is. */
static ptx_outcome run_testp(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t *result = ptx_words(context, &step->result);
    bool is_double = step->type == PTX_WORD_F64;
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t bits = ptx_value(context, &step->sources[0], lane);
        double value = is_double ? ptx_double(bits) : (double)ptx_float((uint32_t)bits);
        double least = is_double ? 0x1p-1022 : 0x1p-126;
        bool is_true = step->detail == PTX_WORD_FINITE       ? isfinite(value) != 0
                       : step->detail == PTX_WORD_INFINITE   ? isinf(value) != 0
                       : step->detail == PTX_WORD_NUMBER     ? value == value
                       : step->detail == PTX_WORD_NOTANUMBER ? value != value
                       : step->detail == PTX_WORD_NORMAL ? isfinite(value) && fabs(value) >= least
                                                         : value != 0 && fabs(value) < least;
        *result = (*result & ~(1u << lane)) | (uint32_t)is_true << lane;
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

bool grout_ptx__decode_testp(ptx_decoder *decoder) {
    decoder->step->run = run_testp;
    decoder->step->type = grout_ptx__type(decoder, 0);
    decoder->step->detail = grout_ptx__word(decoder, PTX_CLASS_DETAIL, 0).id;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, decoder->step->type, 0);
}
