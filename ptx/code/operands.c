/* operands.c - what decoders ask of an instruction: its words, and planes for its operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include "hash.h"

#include <string.h>

bool grout_ptx__unknown(const ptx_decoder *decoder, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    grout_diags_add_list(decoder->diags, GROUT_DIAG_PTX_UNSUPPORTED,
                         grout_ptx__get_place(decoder->module, decoder->inst->place), format,
                         arguments);
    va_end(arguments);
    return false;
}

const ptx_operand *grout_ptx__operand(const ptx_decoder *decoder, uint32_t i) {
    return grout_ptx__get_operand(decoder->module, decoder->inst, i);
}

ptx_word grout_ptx__word(const ptx_decoder *decoder, ptx_class class, uint32_t i) {
    return grout_ptx__get_word_of(decoder->module, decoder->inst, class, i);
}

bool grout_ptx__has(const ptx_decoder *decoder, ptx_word_id id) {
    return grout_ptx__has_word(decoder->module, decoder->inst, id);
}

uint16_t grout_ptx__type(const ptx_decoder *decoder, uint32_t i) {
    return grout_ptx__word(decoder, PTX_CLASS_TYPE, i).id;
}

uint32_t grout_ptx__get_plane_size(uint32_t bits) {
    return bits <= 32 ? 1 : bits <= 64 ? 2 : 4;
}

/* ---- constants ---- */

enum { KNOWN_FIRST = 64, PLANE_LONGS = PTX_PLANE_BYTES / 8 };

/* The place of a constant in the table, or an empty one for it. */
static ptx_constant *find_constant(ptx_constant *known, uint32_t capacity, uint64_t pattern,
                                   uint32_t longs) {
    uint32_t at = grout_hash__index(grout_hash__word(longs, pattern)) & (capacity - 1);
    while (known[at].longs != 0 && (known[at].pattern != pattern || known[at].longs != longs)) {
        at = (at + 1) & (capacity - 1);
    }
    return &known[at];
}

static bool grow_known(ptx_code *code) {
    const uint32_t capacity = code->known_capacity == 0 ? KNOWN_FIRST : 2 * code->known_capacity;
    ptx_constant *larger = grout__new(code->allocator, capacity, sizeof *larger);
    for (uint32_t i = 0; larger != NULL && i < code->known_capacity; i++) {
        const ptx_constant *it = &code->known[i];
        if (it->longs != 0) {
            *find_constant(larger, capacity, it->pattern, it->longs) = *it;
        }
    }
    if (larger != NULL) {
        grout__free(code->known);
        code->known = larger;
        code->known_capacity = capacity;
    }
    return larger != NULL;
}

/* 32 times one value among the constants; one that is there already is used again. */
static bool add_constant(const ptx_decoder *decoder, uint64_t value, uint32_t bits,
                         ptx_plane *plane_out) {
    ptx_code *code = decoder->code;
    uint32_t longs = grout_ptx__get_plane_size(bits) * PLANE_LONGS;
    uint64_t low = bits < 32 ? value & ((UINT64_C(1) << bits) - 1) : value & UINT32_MAX;
    uint64_t pattern = bits == 1    ? (value != 0 ? UINT64_MAX : 0)
                       : bits <= 32 ? low << 32 | low
                                    : value;
    if ((2 * code->known_count >= code->known_capacity && !grow_known(code)) ||
        !GROUT_ARRAY_RESERVE(&code->constants, code->allocator, longs)) {
        return grout_diags_add_oom(decoder->diags);
    }
    ptx_constant *known = find_constant(code->known, code->known_capacity, pattern, longs);
    if (known->longs == 0) {
        *known = (ptx_constant){pattern, longs, (uint32_t)(code->constants.count / PLANE_LONGS)};
        code->known_count++;
        for (uint32_t i = 0; i < longs; i++) {
            code->constants.items[code->constants.count++] = pattern;
        }
    }
    *plane_out = (ptx_plane){.offset = known->offset, .bits = (uint16_t)bits, .is_constant = true};
    return true;
}

static uint64_t convert_number(const ptx_operand *operand, const ptx_word_info *type) {
    uint32_t bits32 = (uint32_t)operand->bits;
    float single = 0;
    double value = 0;
    uint64_t result = operand->bits;
    if (!operand->is_float || (operand->is_single && type->bits <= 32)) {
        return operand->bits;
    }
    if (operand->is_single) {
        memcpy(&single, &bits32, sizeof single);
        value = (double)single;
        memcpy(&result, &value, sizeof value);
    } else if (type->bits == 32) {
        memcpy(&value, &operand->bits, sizeof value);
        single = (float)value;
        memcpy(&bits32, &single, sizeof single);
        result = bits32;
    }
    return result;
}

static bool decode_variable(const ptx_decoder *decoder, const ptx_operand *operand, uint32_t bits,
                            ptx_plane *plane_out) {
    const ptx_variable *variable = &decoder->module->variables.items[operand->id];
    uint64_t address = grout_ptx__get_address(decoder->code, operand->id);
    if (address == UINT64_MAX) {
        return grout_ptx__unknown(decoder, "the address of '%s' is not known",
                                  grout_ptx__get_name(decoder->module, variable->name));
    }
    return add_constant(decoder, address + operand->bits, bits, plane_out);
}

bool grout_ptx__decode_value(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type,
                             ptx_plane *plane_out) {
    const ptx_word_info *info = grout_ptx__get_word((ptx_word_id)type);
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        *plane_out = grout_ptx__get_register(decoder, operand->id);
        plane_out->is_negated = operand->is_negated;
        return (!operand->is_negated || plane_out->bits == 1 ||
                grout_ptx__unknown(decoder, "'-' before a register is not known")) &&
               (plane_out->bits >= info->bits ||
                grout_ptx__unknown(decoder, "a register of %u bits for a value of %u",
                                   plane_out->bits, info->bits));
    case PTX_OPERAND_SPECIAL:
        *plane_out = decoder->code->specials[operand->id];
        return true;
    case PTX_OPERAND_IMMEDIATE:
        return add_constant(decoder, convert_number(operand, info),
                            info->bits == 0 ? 32 : info->bits, plane_out);
    case PTX_OPERAND_VARIABLE:
        return decode_variable(decoder, operand, info->bits == 0 ? 64 : info->bits, plane_out);
    case PTX_OPERAND_SINK:
        *plane_out = decoder->code->sink;
        plane_out->is_sink = true;
        return true;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_LIST:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_LABEL:
    case PTX_OPERAND_TARGETS:
    case PTX_OPERAND_FUNCTION:
        break;
    }
    return grout_ptx__unknown(decoder, "an operand of '%s' is neither a register nor a number",
                              grout_ptx__get_op(decoder->inst->op)->text);
}

/* What a result may be. */
static bool is_place(const ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_SINK;
}

static bool refuse_result(const ptx_decoder *decoder) {
    return grout_ptx__unknown(decoder, "the result of '%s' is not a register",
                              grout_ptx__get_op(decoder->inst->op)->text);
}

bool grout_ptx__decode_place(const ptx_decoder *decoder, const ptx_operand *operand,
                             ptx_plane *plane_out) {
    return is_place(operand) ? grout_ptx__decode_value(decoder, operand, PTX_WORD_NONE, plane_out)
                             : refuse_result(decoder);
}

bool grout_ptx__decode_result(const ptx_decoder *decoder, uint32_t i, ptx_plane *plane_out) {
    return grout_ptx__decode_place(decoder, grout_ptx__operand(decoder, i), plane_out);
}

bool grout_ptx__decode_results(const ptx_decoder *decoder) {
    const ptx_operand *operand = grout_ptx__operand(decoder, 0);
    ptx_step *step = decoder->step;
    step->result2 = decoder->code->sink;
    step->result2.is_sink = true;
    if (operand->kind != PTX_OPERAND_PAIR) {
        return grout_ptx__decode_place(decoder, operand, &step->result);
    }
    return grout_ptx__decode_place(decoder, grout_ptx__get_item(decoder->module, operand, 0),
                                   &step->result) &&
           grout_ptx__decode_place(decoder, grout_ptx__get_item(decoder->module, operand, 1),
                                   &step->result2);
}

bool grout_ptx__has_vector(const ptx_decoder *decoder, uint32_t count) {
    const ptx_word vector = grout_ptx__word(decoder, PTX_CLASS_VECTOR, 0);
    const uint32_t wanted = vector.id == PTX_WORD_NONE ? 1
                            : vector.id == PTX_WORD_V2 ? 2
                            : vector.id == PTX_WORD_V4 ? 4
                                                       : 8;
    return (count == wanted ||
            grout_ptx__unknown(decoder, "%u values for a vector of %u", count, wanted)) &&
           (count * decoder->step->size <= PTX_VECTOR_BYTES ||
            grout_ptx__unknown(decoder, "a vector has at most %d bytes", PTX_VECTOR_BYTES));
}

bool grout_ptx__decode_source(const ptx_decoder *decoder, uint32_t i, uint16_t type,
                              uint32_t source) {
    return grout_ptx__decode_value(decoder, grout_ptx__operand(decoder, i), type,
                                   &decoder->step->sources[source]);
}

uint16_t grout_ptx__get_base_type(const ptx_operand *base) {
    return base->kind == PTX_OPERAND_REGISTER ? PTX_WORD_NONE : PTX_WORD_B64;
}

bool grout_ptx__decode_address(const ptx_decoder *decoder, uint32_t i, uint32_t source) {
    const ptx_operand *operand = grout_ptx__operand(decoder, i);
    if (operand->kind != PTX_OPERAND_ADDRESS) {
        return grout_ptx__unknown(decoder, "operand %u should be an address in [ ]", i + 1);
    }
    const ptx_operand *base = grout_ptx__get_item(decoder->module, operand, 0);
    decoder->step->offset = operand->bits;
    return grout_ptx__decode_value(decoder, base, grout_ptx__get_base_type(base),
                                   &decoder->step->sources[source]);
}

bool grout_ptx__decode_items(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type,
                             uint32_t *first_out, uint32_t *count_out) {
    ptx_code *code = decoder->code;
    bool is_vector = operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR;
    bool is_result = operand == grout_ptx__operand(decoder, 0); /* no source comes first */
    *count_out = is_vector ? operand->count : 1;
    *first_out = (uint32_t)code->items.count;
    if (!GROUT_ARRAY_RESERVE(&code->items, code->allocator, *count_out)) {
        return grout_diags_add_oom(decoder->diags);
    }
    for (uint32_t i = 0; i < *count_out; i++) {
        const ptx_operand *item =
            is_vector ? grout_ptx__get_item(decoder->module, operand, i) : operand;
        if (is_result && !is_place(item)) {
            return refuse_result(decoder);
        }
        if (!grout_ptx__decode_value(decoder, item, is_result ? (uint16_t)PTX_WORD_NONE : type,
                                     &code->items.items[code->items.count])) {
            return false;
        }
        code->items.count++;
    }
    return true;
}
