/* operands.c - what decoders ask of an instruction: its words, and planes for its operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

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

uint32_t grout_ptx__get_plane_bytes(uint32_t bits) {
    return PTX_LANES * (bits <= 32 ? 4u : bits <= 64 ? 8u : 16u);
}

/* 32 times one value among the constants; one that is there already is used again. */
static bool add_constant(const ptx_decoder *decoder, uint64_t value, uint32_t bits,
                         ptx_plane *plane_out) {
    ptx_code *code = decoder->code;
    uint32_t longs = grout_ptx__get_plane_bytes(bits) / 8;
    uint64_t low = bits < 32 ? value & ((UINT64_C(1) << bits) - 1) : value & UINT32_MAX;
    uint64_t pattern = bits == 1    ? (value != 0 ? UINT64_MAX : 0)
                       : bits <= 32 ? low << 32 | low
                                    : value;
    if (!GROUT_ARRAY_RESERVE(&code->constants, NULL, longs)) {
        return grout_diags_add_oom(decoder->diags);
    }
    *plane_out = (ptx_plane){
        .offset = (uint32_t)code->constants.count * 8, .bits = (uint16_t)bits, .is_constant = true};
    for (size_t i = 0; i + longs <= code->constants.count; i += 16) {
        const uint64_t *at = code->constants.items + i;
        if (at[0] == pattern && at[15] == pattern && (longs == 16 || at[longs - 1] == pattern)) {
            plane_out->offset = (uint32_t)i * 8;
            return true;
        }
    }
    for (uint32_t i = 0; i < longs; i++) {
        code->constants.items[code->constants.count++] = pattern;
    }
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
    uint64_t address = decoder->code->addresses[operand->id];
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
        *plane_out = decoder->code->registers[operand->id];
        plane_out->is_negated = operand->is_negated;
        return !operand->is_negated || plane_out->bits == 1 ||
               grout_ptx__unknown(decoder, "'-' before a register is not known");
    case PTX_OPERAND_SPECIAL:
        *plane_out = decoder->code->specials[operand->id];
        return true;
    case PTX_OPERAND_IMMEDIATE:
        return add_constant(decoder, convert_number(operand, info),
                            info->bits == 0 ? 32 : info->bits, plane_out);
    case PTX_OPERAND_VARIABLE:
        return decode_variable(decoder, operand, info->bits == 0 ? 64 : info->bits, plane_out);
    case PTX_OPERAND_SINK:
        *plane_out = decoder->code->registers[decoder->module->registers.count];
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

bool grout_ptx__decode_result(const ptx_decoder *decoder, uint32_t i, ptx_plane *plane_out) {
    const ptx_operand *operand = grout_ptx__operand(decoder, i);
    if (!is_place(operand)) {
        return refuse_result(decoder);
    }
    return grout_ptx__decode_value(decoder, operand, PTX_WORD_NONE, plane_out);
}

bool grout_ptx__decode_source(const ptx_decoder *decoder, uint32_t i, uint16_t type,
                              uint32_t source) {
    return grout_ptx__decode_value(decoder, grout_ptx__operand(decoder, i), type,
                                   &decoder->step->sources[source]);
}

bool grout_ptx__decode_address(const ptx_decoder *decoder, uint32_t i, uint32_t source) {
    const ptx_operand *operand = grout_ptx__operand(decoder, i);
    if (operand->kind != PTX_OPERAND_ADDRESS) {
        return grout_ptx__unknown(decoder, "operand %u should be an address in [ ]", i + 1);
    }
    decoder->step->offset = operand->bits;
    return grout_ptx__decode_value(decoder, grout_ptx__get_item(decoder->module, operand, 0),
                                   PTX_WORD_B64, &decoder->step->sources[source]);
}

bool grout_ptx__decode_items(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type,
                             uint32_t *first_out, uint32_t *count_out) {
    ptx_code *code = decoder->code;
    bool is_vector = operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR;
    bool is_result = operand == grout_ptx__operand(decoder, 0); /* no source comes first */
    *count_out = is_vector ? operand->count : 1;
    *first_out = (uint32_t)code->items.count;
    if (!GROUT_ARRAY_RESERVE(&code->items, NULL, *count_out)) {
        return grout_diags_add_oom(decoder->diags);
    }
    for (uint32_t i = 0; i < *count_out; i++) {
        const ptx_operand *item =
            is_vector ? grout_ptx__get_item(decoder->module, operand, i) : operand;
        if (is_result && !is_place(item)) {
            return refuse_result(decoder);
        }
        if (!grout_ptx__decode_value(decoder, item, type, &code->items.items[code->items.count])) {
            return false;
        }
        code->items.count++;
    }
    return true;
}
