/* move.c - mov, ld, st, and addresses between spaces. PTX ISA 9.1, 9.7.9.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"
#include "observe.h"

#include <string.h>

/* ---- mov ---- */

static ptx_outcome run_mov(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *from = &step->sources[0], *to = &step->result;
    if (to->bits == 1) {
        uint32_t *result = ptx_words(context, to);
        *result = (*result & ~context->lanes) | (ptx_mask(context, from) & context->lanes);
    } else if (to->bits == 64) {
        const uint64_t *a = ptx_longs(context, from);
        uint64_t *d = ptx_longs(context, to);
        PTX_FOR_LANES(lane, context->lanes) {
            d[lane] = a[lane];
        }
    } else if (to->bits == 128) {
        memcpy(ptx_longs(context, to), ptx_longs(context, from), (size_t)PTX_LANES * 16);
    } else {
        const uint32_t *a = ptx_words(context, from);
        uint32_t *d = ptx_words(context, to);
        PTX_FOR_LANES(lane, context->lanes) {
            d[lane] = a[lane];
        }
    }
    const uint32_t low = ptx_defined_low(context, from); /* it may be the result */
    ptx_set_moved(context, to, ptx_defined(context, from));
    ptx_set_defined_low(context, to, low);
    return PTX_NEXT;
}

/* A clock: it goes on with each instruction of the machine. */
static ptx_outcome run_clock(ptx_context *context) {
    const ptx_machine *machine = context->machine;
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_put(context, &context->step->result, lane,
                context->step->detail != 0 ? machine->steps >> 32 : machine->steps);
    }
    ptx_set_defined(context, &context->step->result, UINT32_MAX);
    return PTX_NEXT;
}

static bool is_clock(uint32_t special) {
    return special >= PTX_SPECIAL_CLOCK && special <= PTX_SPECIAL_GLOBALTIMER_HI;
}

/* Items side by side become one value, the first the lowest; of 128 bits two words. */
static ptx_outcome run_pack(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    uint32_t defined = UINT32_MAX, longs = step->result.bits == 128 ? 2 : 1;
    for (uint32_t i = 0; i < step->item_count; i++) {
        defined &= items[i].is_sink ? 0 : ptx_defined(context, &items[i]);
    }
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t value[2] = {0, 0};
        for (uint32_t i = 0; i < step->item_count; i++) {
            uint32_t at = i * step->size;
            value[at / 64] |= ptx_value(context, &items[i], lane) << at % 64;
        }
        if (longs == 2) {
            ptx_longs(context, &step->result)[(size_t)2 * lane] = value[0];
            ptx_longs(context, &step->result)[(size_t)2 * lane + 1] = value[1];
        } else {
            ptx_put(context, &step->result, lane, value[0]);
        }
    }
    const bool is_half = step->item_count == 2 && step->size == 32 && !items[0].is_sink;
    const uint32_t low = is_half ? ptx_defined(context, &items[0]) : 0;
    ptx_set_defined(context, &step->result, defined);
    ptx_set_defined_low(context, &step->result, low);
    return PTX_NEXT;
}

static ptx_outcome run_unpack(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    const ptx_plane *from = &step->sources[0];
    const uint32_t defined = ptx_defined(context, from), low = ptx_defined_low(context, from);
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t value[2] = {0, 0};
        if (from->bits == 128) {
            memcpy(value, ptx_longs(context, from) + (size_t)2 * lane, sizeof value);
        } else {
            value[0] = ptx_value(context, from, lane);
        }
        for (uint32_t i = 0; i < step->item_count; i++) {
            uint32_t at = i * step->size;
            if (!items[i].is_sink) {
                ptx_put(context, &items[i], lane, value[at / 64] >> at % 64);
            }
        }
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        ptx_set_defined(context, &items[i], (i + 1) * step->size <= 32 ? low : defined);
    }
    return PTX_NEXT;
}

static uint16_t get_part_type(uint32_t bits) {
    return bits == 64   ? PTX_WORD_B64
           : bits == 32 ? PTX_WORD_B32
           : bits == 16 ? PTX_WORD_B16
                        : PTX_WORD_B8;
}

static bool decode_vector_mov(ptx_decoder *decoder, const ptx_operand *vector, bool is_pack) {
    ptx_step *step = decoder->step;
    uint32_t bits = grout_ptx__get_word((ptx_word_id)grout_ptx__type(decoder, 0))->bits;
    if (vector->count == 0 || bits % vector->count != 0 || bits / vector->count < 8) {
        return grout_ptx__unknown(decoder, "a vector of %u does not fill the type", vector->count);
    }
    step->size = (uint8_t)(bits / vector->count);
    step->run = is_pack ? run_pack : run_unpack;
    return grout_ptx__decode_items(decoder, vector, get_part_type(step->size), &step->first_item,
                                   &step->item_count) &&
           (is_pack ? grout_ptx__decode_result(decoder, 0, &step->result)
                    : grout_ptx__decode_source(decoder, 1, grout_ptx__type(decoder, 0), 0));
}

bool grout_ptx__decode_mov(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    const ptx_operand *to = grout_ptx__operand(decoder, 0), *from = grout_ptx__operand(decoder, 1);
    if (from->kind == PTX_OPERAND_VECTOR) {
        return decode_vector_mov(decoder, from, true);
    }
    if (to->kind == PTX_OPERAND_VECTOR) {
        return decode_vector_mov(decoder, to, false);
    }
    step->run = run_mov;
    if (!grout_ptx__decode_result(decoder, 0, &step->result)) {
        return false;
    }
    if (step->result.is_sink) {
        return grout_ptx__decode_nothing(decoder);
    }
    if (from->kind == PTX_OPERAND_SPECIAL && is_clock(from->id)) {
        step->run = run_clock;
        step->detail = from->id == PTX_SPECIAL_CLOCK_HI || from->id == PTX_SPECIAL_GLOBALTIMER_HI;
        return true;
    }
    if (!grout_ptx__decode_source(decoder, 1, grout_ptx__type(decoder, 0), 0)) {
        return false;
    }
    bool is_narrow = step->result.bits <= 32 && step->sources[0].bits <= 32 &&
                     (step->result.bits == 1) == (step->sources[0].bits == 1);
    return is_narrow || step->result.bits == step->sources[0].bits ||
           grout_ptx__unknown(decoder, "a register of another width than the type");
}

/* ---- ld and st ---- */

/* The space of an access: parameters of functions are a lane's own memory. */
static bool decode_space(ptx_decoder *decoder, uint32_t address) {
    const ptx_operand *operand = grout_ptx__operand(decoder, address);
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    if (operand->kind == PTX_OPERAND_ADDRESS && decoder->step->space == PTX_WORD_PARAM) {
        const ptx_operand *base = grout_ptx__get_item(decoder->module, operand, 0);
        if (base->kind == PTX_OPERAND_VARIABLE) {
            const ptx_variable *variable = &decoder->module->variables.items[base->id];
            bool is_entry = variable->is_parameter &&
                            decoder->module->functions.items[variable->function].is_entry;
            decoder->step->space = is_entry ? PTX_WORD_PARAM_ENTRY : PTX_WORD_PARAM_FUNC;
        }
    }
    return true;
}

static uint64_t load_bits(const uint8_t *data, uint32_t size) {
    uint64_t value = 0;
    memcpy(&value, data, size);
    return value;
}

static bool is_known(const uint8_t *known, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) {
        if (known[i] == 0) {
            return false;
        }
    }
    return true;
}

/* A narrow type widens to its register: with its sign, if it has one. */
static uint64_t widen(uint64_t value, const ptx_word_info *type) {
    uint64_t sign = UINT64_C(1) << (type->bits < 64 ? type->bits - 1 : 63);
    return type->kind == PTX_KIND_SIGNED && type->bits < 64 ? (value ^ sign) - sign : value;
}

static ptx_outcome run_load(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    const ptx_word_info *type = grout_ptx__get_word((ptx_word_id)step->type);
    uint32_t defined[8] = {0};
    ptx_bytes found[PTX_LANES];
    if (!grout_ptx__need(context, &step->sources[0], "the address of a load")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (!grout_ptx__find_bytes(context, lane, ptx_address(context, &step->sources[0], lane),
                                   step->size * step->item_count, &found[lane])) {
            return PTX_FAILED;
        }
        const ptx_bytes bytes = found[lane];
        for (uint32_t i = 0; i < step->item_count; i++) {
            const ptx_plane *item = &items[i];
            uint32_t at = i * step->size;
            if (item->is_sink) {
                continue;
            }
            if (item->bits == 128) {
                memcpy(ptx_longs(context, item) + (size_t)2 * lane, bytes.data + at, 16);
            } else {
                ptx_put(context, item, lane, widen(load_bits(bytes.data + at, step->size), type));
            }
            defined[i] |= (uint32_t)is_known(bytes.known + at, step->size) << lane;
        }
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        ptx_set_defined(context, &items[i], defined[i]);
    }
    return grout_ptx__observe_loads(context, found, step->size * step->item_count,
                                    step->detail != 0)
               ? PTX_NEXT
               : PTX_FAILED;
}

/* Whether each register is as wide as 128 bits where the values are, and there alone. */
static bool are_of_size(const ptx_decoder *decoder) {
    const ptx_step *step = decoder->step;
    for (uint32_t i = 0; i < step->item_count; i++) {
        const ptx_plane *item = &decoder->code->items.items[step->first_item + i];
        if (!item->is_sink && (item->bits == 128) != (step->size == 16)) {
            return grout_ptx__unknown(decoder, "a register of %u bits for %u bytes", item->bits,
                                      step->size);
        }
    }
    return true;
}

static bool decode_access(ptx_decoder *decoder, uint32_t address, uint32_t value) {
    ptx_step *step = decoder->step;
    step->type = grout_ptx__type(decoder, 0);
    step->size = (uint8_t)(grout_ptx__get_word((ptx_word_id)step->type)->bits / 8);
    if (step->size == 0 || !decode_space(decoder, address) ||
        !grout_ptx__decode_address(decoder, address, 0) ||
        !grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, value), step->type,
                                 &step->first_item, &step->item_count)) {
        return step->size > 0 ? false : grout_ptx__unknown(decoder, "an access needs a type");
    }
    return grout_ptx__has_vector(decoder, step->item_count) && are_of_size(decoder);
}

bool grout_ptx__decode_load(ptx_decoder *decoder) {
    decoder->step->run = run_load;
    decoder->step->detail = grout_ptx__has(decoder, PTX_WORD_NC) || decoder->inst->op == PTX_OP_LDU;
    return decode_access(decoder, 1, 0);
}

/* Stores a lane's values; same_out: of each byte whether it was there already. */
static void store_lane(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                       uint8_t *same_out) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    for (uint32_t i = 0; i < step->item_count; i++) {
        const ptx_plane *item = &items[i];
        uint8_t *data = bytes->data + (size_t)i * step->size,
                *known = bytes->known + (size_t)i * step->size;
        const uint8_t is_defined = (ptx_defined(context, item) >> lane & 1) != 0 ? 0xff : 0;
        uint64_t value[2] = {0}, defined[2];
        if (item->bits == 128) {
            memcpy(value, ptx_longs(context, item) + (size_t)2 * lane, sizeof value);
        } else {
            value[0] = ptx_value(context, item, lane);
        }
        memset(defined, is_defined, sizeof defined);
        if (context->machine->order != NULL) {
            const ptx_bytes from = {.data = (uint8_t *)value, .known = (uint8_t *)defined},
                            to = {.data = data, .known = known};
            grout_ptx__compare_bytes(&from, &to, step->size, same_out + (size_t)i * step->size);
        }
        memcpy(data, value, step->size);
        memset(known, is_defined, step->size);
    }
}

static ptx_outcome run_store(ptx_context *context) {
    const ptx_step *step = context->step;
    uint8_t same[PTX_LANES][PTX_STORE_BYTES];
    ptx_bytes found[PTX_LANES];
    if (step->space == PTX_WORD_CONST || step->space == PTX_WORD_PARAM_ENTRY) {
        return grout_ptx__fault(context, PTX_LANES, "a store to a space that can only be read");
    }
    if (!grout_ptx__need(context, &step->sources[0], "the address of a store")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (!grout_ptx__find_bytes(context, lane, ptx_address(context, &step->sources[0], lane),
                                   step->size * step->item_count, &found[lane])) {
            return PTX_FAILED;
        }
        store_lane(context, lane, &found[lane], same[lane]);
    }
    return grout_ptx__observe_stores(context, found, step->size * step->item_count, same)
               ? PTX_NEXT
               : PTX_FAILED;
}

bool grout_ptx__decode_store(ptx_decoder *decoder) {
    decoder->step->run = run_store;
    return decode_access(decoder, 0, 1);
}

/* ---- addresses ---- */

/* Adds the window of a space to an address, or takes it away: detail says which. */
static ptx_outcome run_cvta(ptx_context *context) {
    const ptx_step *step = context->step;
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t value = ptx_value(context, &step->sources[0], lane);
        ptx_put(context, &step->result, lane,
                step->detail != 0 ? value - step->offset : value + step->offset);
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

bool grout_ptx__decode_cvta(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    uint16_t space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    step->run = run_cvta;
    step->detail = grout_ptx__has(decoder, PTX_WORD_TO);
    step->offset = space == PTX_WORD_LOCAL                                    ? PTX_WINDOW_LOCAL
                   : space == PTX_WORD_PARAM || space == PTX_WORD_PARAM_ENTRY ? PTX_WINDOW_PARAM
                   : space == PTX_WORD_GLOBAL || space == PTX_WORD_CONST      ? 0
                                                                              : PTX_WINDOW_SHARED;
    return grout_ptx__decode_result(decoder, 0, &step->result) &&
           grout_ptx__decode_source(decoder, 1, grout_ptx__type(decoder, 0), 0);
}

/* mapa: the same variable in another CTA of the cluster. Without .shared::cluster the address is a
 * generic one. */
static ptx_outcome run_mapa(ptx_context *context) {
    const ptx_step *step = context->step;
    bool is_generic = step->space == PTX_WORD_NONE;
    if (!grout_ptx__need(context, &step->sources[0], "the address of mapa") ||
        !grout_ptx__need(context, &step->sources[1], "the CTA of mapa")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t address = ptx_value(context, &step->sources[0], lane);
        uint64_t rank = ptx_value(context, &step->sources[1], lane);
        if (rank >= context->machine->cluster_size) {
            return grout_ptx__fault(context, lane, "CTA %llu of a cluster of %u",
                                    (unsigned long long)rank, context->machine->cluster_size);
        }
        if (is_generic && address - PTX_WINDOW_SHARED >= PTX_WINDOW_SIZE) {
            return grout_ptx__fault(context, lane, "the address 0x%llx is not of shared memory",
                                    (unsigned long long)address);
        }
        ptx_put(context, &step->result, lane,
                ptx_map_shared((uint32_t)rank, address) + (is_generic ? PTX_WINDOW_SHARED : 0));
    }
    ptx_set_defined(context, &step->result, UINT32_MAX);
    return PTX_NEXT;
}

bool grout_ptx__decode_mapa(ptx_decoder *decoder) {
    decoder->step->run = run_mapa;
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, grout_ptx__type(decoder, 0), 0) &&
           grout_ptx__decode_source(decoder, 2, PTX_WORD_U32, 1);
}

static ptx_outcome run_getctarank(ptx_context *context) {
    const ptx_step *step = context->step;
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t rank = ptx_value(context, &step->sources[0], lane) >> 24 & 0xff;
        ptx_put(context, &step->result, lane, rank == 0 ? context->cta->rank : rank - 1);
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

bool grout_ptx__decode_getctarank(ptx_decoder *decoder) {
    decoder->step->run = run_getctarank;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, grout_ptx__type(decoder, 0), 0);
}

static bool is_in_space(uint64_t address, uint16_t space) {
    bool is_shared = address - PTX_WINDOW_SHARED < PTX_WINDOW_SIZE;
    bool is_local = address - PTX_WINDOW_LOCAL < PTX_WINDOW_SIZE;
    bool is_parameter = address - PTX_WINDOW_PARAM < PTX_WINDOW_SIZE;
    switch (space) {
    case PTX_WORD_SHARED:
    case PTX_WORD_SHARED_CLUSTER:
        return is_shared;
    case PTX_WORD_LOCAL:
        return is_local;
    case PTX_WORD_PARAM:
    case PTX_WORD_PARAM_ENTRY:
        return is_parameter;
    case PTX_WORD_GLOBAL:
        return !is_shared && !is_local && !is_parameter;
    default:
        return false;
    }
}

static ptx_outcome run_isspacep(ptx_context *context) {
    const ptx_step *step = context->step;
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_put(context, &step->result, lane,
                is_in_space(ptx_value(context, &step->sources[0], lane), step->space));
    }
    ptx_set_defined(context, &step->result, ptx_defined(context, &step->sources[0]));
    return PTX_NEXT;
}

bool grout_ptx__decode_isspacep(ptx_decoder *decoder) {
    decoder->step->run = run_isspacep;
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_U64, 0);
}

/* A cache policy says nothing that values depend on: it is a number. */
static ptx_outcome run_policy(ptx_context *context) {
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_put(context, &context->step->result, lane, 0);
    }
    ptx_set_defined(context, &context->step->result, UINT32_MAX);
    return PTX_NEXT;
}

bool grout_ptx__decode_policy(ptx_decoder *decoder) {
    decoder->step->run = run_policy;
    return grout_ptx__decode_result(decoder, 0, &decoder->step->result);
}
