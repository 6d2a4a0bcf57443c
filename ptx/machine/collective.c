/* collective.c - what lanes of a warp do together. PTX ISA 9.1, 9.7.9 and 9.7.13: the lanes that
 * the mask names are all here when a step runs (schedule.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"
#include "observe.h"

static void need_mask(ptx_decoder *decoder, uint8_t source) {
    decoder->step->needs_mask = true;
    decoder->step->mask_source = source;
}

/* ---- shfl ---- */

/* From which lane, and whether it is in range. PTX ISA 9.1, shfl.sync. */
static uint32_t find_lane(const ptx_step *step, uint32_t lane, uint32_t b, uint32_t c,
                          bool *in_range) {
    uint32_t clamp = c & 31, segment = c >> 8 & 31, by = b & 31;
    uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment, j = 0;
    switch (step->detail) {
    case PTX_WORD_UP:
        j = lane - by;
        *in_range = (int32_t)j >= (int32_t)last;
        break;
    case PTX_WORD_DOWN:
        j = lane + by;
        *in_range = j <= last;
        break;
    case PTX_WORD_BFLY:
        j = lane ^ by;
        *in_range = j <= last;
        break;
    default:
        j = first | (by & ~segment);
        *in_range = j <= last;
        break;
    }
    return *in_range ? j & 31 : lane;
}

static ptx_outcome run_shfl(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *a = &step->sources[0], *b = &step->sources[1], *c = &step->sources[2];
    uint32_t values[PTX_LANES], predicate = 0, defined = 0;
    uint32_t from_defined = ptx_defined(context, a);
    if (!grout_ptx__need(context, b, "the lane of a shuffle") ||
        !grout_ptx__need(context, c, "the clamp of a shuffle")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        bool in_range = false;
        uint32_t from = find_lane(step, lane, (uint32_t)ptx_value(context, b, lane),
                                  (uint32_t)ptx_value(context, c, lane), &in_range);
        /* A lane that does not take part has no value for others. */
        bool is_there = (context->lanes >> from & 1) != 0;
        values[lane] = (uint32_t)ptx_value(context, a, from);
        predicate |= (uint32_t)in_range << lane;
        defined |= (uint32_t)(is_there && (from_defined >> from & 1) != 0) << lane;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_put(context, &step->result, lane, values[lane]);
    }
    ptx_set_defined(context, &step->result, defined);
    uint32_t *result2 = ptx_words(context, &step->result2);
    *result2 = (*result2 & ~context->lanes) | (predicate & context->lanes);
    ptx_set_defined(context, &step->result2, UINT32_MAX);
    return PTX_NEXT;
}

bool grout_ptx__decode_shfl(ptx_decoder *decoder) {
    decoder->step->run = run_shfl;
    decoder->step->detail = grout_ptx__word(decoder, PTX_CLASS_SHUFFLE, 0).id;
    need_mask(decoder, 3);
    return (decoder->inst->operand_count == 5 ||
            grout_ptx__unknown(decoder, "the emulator knows shfl.sync alone")) &&
           grout_ptx__decode_results(decoder) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_B32, 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_B32, 1) &&
           grout_ptx__decode_source(decoder, 3, PTX_WORD_B32, 2) &&
           grout_ptx__decode_source(decoder, 4, PTX_WORD_B32, 3);
}

/* ---- vote, match, elect, activemask ---- */

static void put_all(const ptx_context *context, const ptx_plane *plane, uint64_t value) {
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_put(context, plane, lane, value);
    }
    ptx_set_defined(context, plane, UINT32_MAX);
}

static ptx_outcome run_vote(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t votes = ptx_mask(context, &step->sources[0]) & context->lanes;
    if (!grout_ptx__need(context, &step->sources[0], "a vote")) {
        return PTX_FAILED;
    }
    bool all = votes == context->lanes, any = votes != 0;
    put_all(context, &step->result,
            step->detail == PTX_WORD_BALLOT ? votes
            : step->detail == PTX_WORD_ALL  ? all
            : step->detail == PTX_WORD_ANY  ? any
                                            : all || !any);
    return PTX_NEXT;
}

bool grout_ptx__decode_vote(ptx_decoder *decoder) {
    ptx_word how = grout_ptx__word(decoder, PTX_CLASS_VOTE, 0);
    decoder->step->run = run_vote;
    decoder->step->detail = how.id == PTX_WORD_NONE ? PTX_WORD_UNI : how.id;
    need_mask(decoder, 1);
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_PRED, 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_B32, 1);
}

static ptx_outcome run_match(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t masks[PTX_LANES] = {0};
    bool are_all_equal = true;
    if (!grout_ptx__need(context, &step->sources[0], "a value to match")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        PTX_FOR_LANES(other, context->lanes) {
            bool is_equal = ptx_value(context, &step->sources[0], lane) ==
                            ptx_value(context, &step->sources[0], other);
            masks[lane] |= (uint32_t)is_equal << other;
            are_all_equal &= is_equal;
        }
    }
    PTX_FOR_LANES(lane, context->lanes) {
        bool is_any = step->detail == PTX_WORD_ANY;
        ptx_put(context, &step->result, lane, is_any || are_all_equal ? masks[lane] : 0);
    }
    ptx_set_defined(context, &step->result, UINT32_MAX);
    put_all(context, &step->result2, are_all_equal);
    return PTX_NEXT;
}

bool grout_ptx__decode_match(ptx_decoder *decoder) {
    decoder->step->run = run_match;
    decoder->step->detail = grout_ptx__word(decoder, PTX_CLASS_VOTE, 0).id;
    need_mask(decoder, 1);
    return grout_ptx__decode_results(decoder) &&
           grout_ptx__decode_source(decoder, 1, grout_ptx__type(decoder, 0), 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_B32, 1);
}

/* elect: any of the lanes may lead; it is the lowest. */
static ptx_outcome run_elect(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t leader = (uint32_t)__builtin_ctz(context->lanes);
    put_all(context, &step->result, leader);
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_put(context, &step->result2, lane, lane == leader);
    }
    ptx_set_defined(context, &step->result2, UINT32_MAX);
    return PTX_NEXT;
}

bool grout_ptx__decode_elect(ptx_decoder *decoder) {
    decoder->step->run = run_elect;
    need_mask(decoder, 0);
    return grout_ptx__decode_results(decoder) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_B32, 0);
}

static ptx_outcome run_activemask(ptx_context *context) {
    put_all(context, &context->step->result, context->lanes);
    return PTX_NEXT;
}

bool grout_ptx__decode_activemask(ptx_decoder *decoder) {
    decoder->step->run = run_activemask;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result);
}

/* ---- redux ---- */

static uint32_t combine(const ptx_step *step, uint32_t a, uint32_t b) {
    bool is_signed = step->type == PTX_WORD_S32;
    bool is_less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (step->detail) {
    case PTX_WORD_ADD:
        return a + b;
    case PTX_WORD_AND:
        return a & b;
    case PTX_WORD_OR:
        return a | b;
    case PTX_WORD_XOR:
        return a ^ b;
    case PTX_WORD_MIN:
        return is_less ? a : b;
    default:
        return is_less ? b : a;
    }
}

static ptx_outcome run_redux(ptx_context *context) {
    const ptx_step *step = context->step;
    const uint32_t *a = ptx_words(context, &step->sources[0]);
    uint32_t total = 0;
    bool is_first = true;
    if (!grout_ptx__need(context, &step->sources[0], "a value to reduce")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        total = is_first ? a[lane] : combine(step, total, a[lane]);
        is_first = false;
    }
    put_all(context, &step->result, total);
    return PTX_NEXT;
}

bool grout_ptx__decode_redux(ptx_decoder *decoder) {
    decoder->step->run = run_redux;
    decoder->step->detail = grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id;
    decoder->step->type = grout_ptx__type(decoder, 0);
    need_mask(decoder, 1);
    if (decoder->step->type == PTX_WORD_F32) {
        return grout_ptx__unknown(decoder, "redux of f32 is of sm_100");
    }
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, decoder->step->type, 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_B32, 1);
}

static ptx_outcome run_bar_warp(ptx_context *context) {
    return grout_ptx__observe_warp_sync(context) ? PTX_NEXT : PTX_FAILED;
}

bool grout_ptx__decode_bar_warp(ptx_decoder *decoder) {
    decoder->step->run = run_bar_warp;
    need_mask(decoder, 0);
    return grout_ptx__decode_source(decoder, 0, PTX_WORD_B32, 0);
}
