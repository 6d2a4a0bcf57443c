/* dots.c - dp4a and dp2a: sums of products of bytes. PTX ISA 9.1, dp4a and dp2a.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"

/* One of the parts of a word, of bits each. */
static uint32_t get_part(uint64_t word, uint32_t i, uint32_t bits, bool is_signed) {
    uint32_t part = (uint32_t)(word >> i * bits) & ((1u << bits) - 1), sign = 1u << (bits - 1);
    return is_signed ? (part ^ sign) - sign : part;
}

/* detail: 1 and 2 for the signs of a and b; more: the first byte of b; size: how many products. */
static ptx_outcome run_dots(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t count = step->size;
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t a = ptx_value(context, &step->sources[0], lane);
        uint64_t b = ptx_value(context, &step->sources[1], lane);
        uint32_t sum = (uint32_t)ptx_value(context, &step->sources[2], lane);
        for (uint32_t i = 0; i < count; i++) {
            sum += get_part(a, i, 32 / count, (step->detail & 1) != 0) *
                   get_part(b, step->more + i, 8, (step->detail & 2) != 0);
        }
        ptx_put(context, &step->result, lane, sum);
    }
    ptx_set_defined(context, &step->result,
                    ptx_defined(context, &step->sources[0]) &
                        ptx_defined(context, &step->sources[1]) &
                        ptx_defined(context, &step->sources[2]));
    return PTX_NEXT;
}

bool grout_ptx__decode_dots(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    step->run = run_dots;
    step->size = decoder->inst->op == PTX_OP_DP4A ? 4 : 2;
    step->detail = (grout_ptx__type(decoder, 0) == PTX_WORD_S32 ? 1u : 0u) |
                   (grout_ptx__type(decoder, 1) == PTX_WORD_S32 ? 2u : 0u);
    step->more = grout_ptx__has(decoder, PTX_WORD_HI) ? 2 : 0;
    return grout_ptx__decode_result(decoder, 0, &step->result) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_B32, 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_B32, 1) &&
           grout_ptx__decode_source(decoder, 3, PTX_WORD_B32, 2);
}
