/* compare.c - setp, set, selp, lop3 and shf. PTX ISA 9.1, 9.7.6 to 9.7.8.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "floats.h"
#include "machine.h"

/* What of a pair of values is so, a bit each. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

/* Which of them make a comparison true. */
static uint32_t get_outcomes(uint16_t word) {
    switch (word) {
    case PTX_WORD_EQ:
        return EQUAL;
    case PTX_WORD_NE:
        return LESS | GREATER;
    case PTX_WORD_LT:
    case PTX_WORD_LO:
        return LESS;
    case PTX_WORD_LE:
    case PTX_WORD_LS:
        return LESS | EQUAL;
    case PTX_WORD_GT:
    case PTX_WORD_HI:
        return GREATER;
    case PTX_WORD_GE:
    case PTX_WORD_HS:
        return GREATER | EQUAL;
    case PTX_WORD_EQU:
        return EQUAL | UNORDERED;
    case PTX_WORD_NEU:
        return LESS | GREATER | UNORDERED;
    case PTX_WORD_LTU:
        return LESS | UNORDERED;
    case PTX_WORD_LEU:
        return LESS | EQUAL | UNORDERED;
    case PTX_WORD_GTU:
        return GREATER | UNORDERED;
    case PTX_WORD_GEU:
        return GREATER | EQUAL | UNORDERED;
    case PTX_WORD_NUM:
        return LESS | EQUAL | GREATER;
    case PTX_WORD_NAN:
        return UNORDERED;
    default:
        return 0;
    }
}

#define RELATE(a, b) ((a) < (b) ? LESS : (a) == (b) ? EQUAL : (a) > (b) ? GREATER : UNORDERED)
#define COMPARE_LANES(WORD, GET)                                                            \
    do {                                                                                    \
        const WORD *as = (const WORD *)(const void *)ptx_words(context, &step->sources[0]); \
        const WORD *bs = (const WORD *)(const void *)ptx_words(context, &step->sources[1]); \
        for (uint32_t i = 0; i < PTX_LANES; i++) {                                          \
            uint32_t relation = (uint32_t)RELATE(GET(as[i]), GET(bs[i]));                   \
            value |= (uint32_t)((relation & step->detail) != 0) << i;                       \
        }                                                                                   \
    } while (0)
#define GET_UNSIGNED(x) (x)
#define GET_SIGNED16(x) ((int16_t)(x))
#define GET_SIGNED(x)   ((int32_t)(x))
#define GET_SIGNED64(x) ((int64_t)(x))
#define GET_F16(x)      (grout_ptx__widen(&grout_ptx__f16, (x)))
#define GET_BF16(x)     (ptx_float((x) << 16))

/* All lanes are compared; those that do not run keep what they have. */
static uint32_t compare(const ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t value = 0;
    switch (step->type) {
    case PTX_WORD_S16:
        COMPARE_LANES(uint32_t, GET_SIGNED16);
        break;
    case PTX_WORD_S32:
        COMPARE_LANES(uint32_t, GET_SIGNED);
        break;
    case PTX_WORD_S64:
        COMPARE_LANES(uint64_t, GET_SIGNED64);
        break;
    case PTX_WORD_U64:
    case PTX_WORD_B64:
        COMPARE_LANES(uint64_t, GET_UNSIGNED);
        break;
    case PTX_WORD_F16:
        COMPARE_LANES(uint32_t, GET_F16);
        break;
    case PTX_WORD_BF16:
        COMPARE_LANES(uint32_t, GET_BF16);
        break;
    case PTX_WORD_F32:
        COMPARE_LANES(uint32_t, ptx_float);
        break;
    case PTX_WORD_F64:
        COMPARE_LANES(uint64_t, ptx_double);
        break;
    default:
        COMPARE_LANES(uint32_t, GET_UNSIGNED);
        break;
    }
    return value;
}

static uint32_t combine(uint32_t operation, uint32_t a, uint32_t b) {
    return operation == PTX_WORD_AND ? a & b : operation == PTX_WORD_OR ? a | b : a ^ b;
}

static void write_predicate(const ptx_context *context, const ptx_plane *plane, uint32_t value,
                            uint32_t defined) {
    uint32_t *result = ptx_words(context, plane);
    *result = (*result & ~context->lanes) | (value & context->lanes);
    ptx_set_defined(context, plane, defined);
}

static ptx_outcome run_compare(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t first = compare(context), second = ~first;
    uint32_t defined =
        ptx_defined(context, &step->sources[0]) & ptx_defined(context, &step->sources[1]);
    if (step->more != PTX_WORD_NONE) {
        uint32_t other = ptx_mask(context, &step->sources[2]);
        first = combine(step->more, first, other);
        second = combine(step->more, second, other);
        defined &= ptx_defined(context, &step->sources[2]);
    }
    if (step->size == 0) {
        write_predicate(context, &step->result, first, defined);
        write_predicate(context, &step->result2, second, defined);
        return PTX_NEXT;
    }
    PTX_FOR_LANES(lane, context->lanes) { /* set: all ones, or 1.0 */
        uint32_t yes = step->size == 1 ? UINT32_MAX : 0x3f800000u;
        ptx_put(context, &step->result, lane, (first >> lane & 1) != 0 ? yes : 0);
    }
    ptx_set_defined(context, &step->result, defined);
    return PTX_NEXT;
}

bool grout_ptx__decode_compare(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    bool is_set = decoder->inst->op == PTX_OP_SET;
    ptx_word how = grout_ptx__word(decoder, PTX_CLASS_COMPARE, 0);
    how = how.id == PTX_WORD_NONE ? grout_ptx__word(decoder, PTX_CLASS_PART, 0) : how;
    step->run = run_compare;
    step->detail = get_outcomes(how.id);
    step->more = grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id;
    step->type = grout_ptx__type(decoder, is_set ? 1 : 0);
    step->size = !is_set ? 0 : grout_ptx__type(decoder, 0) == PTX_WORD_F32 ? 2 : 1;
    const ptx_word_info *type = grout_ptx__get_word((ptx_word_id)step->type);
    if (step->detail == 0 || type->kind == PTX_KIND_PACKED ||
        grout_ptx__has(decoder, PTX_WORD_FTZ)) {
        return grout_ptx__unknown(decoder, "the emulator does not know this comparison");
    }
    return grout_ptx__decode_results(decoder) &&
           grout_ptx__decode_source(decoder, 1, step->type, 0) &&
           grout_ptx__decode_source(decoder, 2, step->type, 1) &&
           (step->more == PTX_WORD_NONE || grout_ptx__decode_source(decoder, 3, PTX_WORD_PRED, 2));
}

static ptx_outcome run_select(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t choice = ptx_mask(context, &step->sources[2]);
    uint32_t a = ptx_defined(context, &step->sources[0]),
             b = ptx_defined(context, &step->sources[1]);
    PTX_FOR_LANES(lane, context->lanes) {
        const ptx_plane *chosen = &step->sources[(choice >> lane & 1) != 0 ? 0 : 1];
        ptx_put(context, &step->result, lane, ptx_value(context, chosen, lane));
    }
    ptx_set_defined(context, &step->result,
                    ((choice & a) | (~choice & b)) & ptx_defined(context, &step->sources[2]));
    return PTX_NEXT;
}

bool grout_ptx__decode_select(ptx_decoder *decoder) {
    uint16_t type = grout_ptx__type(decoder, 0);
    decoder->step->run = run_select;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, type, 0) &&
           grout_ptx__decode_source(decoder, 2, type, 1) &&
           grout_ptx__decode_source(decoder, 3, PTX_WORD_PRED, 2);
}

/* lop3: bit i of the table is the result of the i-th combination of three bits. */
static ptx_outcome run_lop3(ptx_context *context) {
    const ptx_step *step = context->step;
    const uint32_t *a = ptx_words(context, &step->sources[0]);
    const uint32_t *b = ptx_words(context, &step->sources[1]);
    const uint32_t *c = ptx_words(context, &step->sources[2]);
    uint32_t *result = ptx_words(context, &step->result);
    PTX_FOR_LANES(lane, context->lanes) {
        uint32_t value = 0;
        for (uint32_t i = 0; i < 8; i++) {
            if ((step->detail >> i & 1) != 0) {
                value |= ((i & 4) != 0 ? a[lane] : ~a[lane]) & ((i & 2) != 0 ? b[lane] : ~b[lane]) &
                         ((i & 1) != 0 ? c[lane] : ~c[lane]);
            }
        }
        result[lane] = value;
    }
    ptx_set_defined(context, &step->result,
                    ptx_defined(context, &step->sources[0]) &
                        ptx_defined(context, &step->sources[1]) &
                        ptx_defined(context, &step->sources[2]));
    return PTX_NEXT;
}

bool grout_ptx__decode_lop3(ptx_decoder *decoder) {
    const ptx_operand *table =
        decoder->inst->operand_count == 5 ? grout_ptx__operand(decoder, 4) : NULL;
    if (table == NULL || table->kind != PTX_OPERAND_IMMEDIATE || table->bits > 255) {
        return grout_ptx__unknown(decoder, "the emulator knows lop3 with a table from 0 to 255");
    }
    decoder->step->run = run_lop3;
    decoder->step->detail = (uint32_t)table->bits;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_B32, 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_B32, 1) &&
           grout_ptx__decode_source(decoder, 3, PTX_WORD_B32, 2);
}

/* shf: 32 bits of the 64 bits of b and a, shifted left or right. */
static ptx_outcome run_shf(ptx_context *context) {
    const ptx_step *step = context->step;
    bool is_left = (step->detail & 1) != 0, is_clamped = (step->detail & 2) != 0;
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t low = ptx_value(context, &step->sources[0], lane);
        uint64_t both = ptx_value(context, &step->sources[1], lane) << 32 | low;
        uint64_t by = ptx_value(context, &step->sources[2], lane);
        by = is_clamped ? (by > 32 ? 32 : by) : by & 31;
        ptx_put(context, &step->result, lane, is_left ? both << by >> 32 : both >> by);
    }
    ptx_set_defined(context, &step->result,
                    ptx_defined(context, &step->sources[0]) &
                        ptx_defined(context, &step->sources[1]) &
                        ptx_defined(context, &step->sources[2]));
    return PTX_NEXT;
}

bool grout_ptx__decode_shf(ptx_decoder *decoder) {
    decoder->step->run = run_shf;
    decoder->step->detail = (grout_ptx__has(decoder, PTX_WORD_L) ? 1u : 0u) |
                            (grout_ptx__has(decoder, PTX_WORD_CLAMP) ? 2u : 0u);
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_B32, 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_B32, 1) &&
           grout_ptx__decode_source(decoder, 3, PTX_WORD_U32, 2);
}
