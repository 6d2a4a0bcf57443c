/* atomics.c - atom and red. PTX ISA 9.1, atom and red: lanes take their turns, whose order is open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "machine.h"
#include "observe.h"
#include "update.h"

#include <string.h>

/* One value of one lane; what was there goes into old_out. A cas that fails writes nothing. */
static bool update_one(const ptx_context *context, uint32_t lane, uint8_t *data, uint32_t item,
                       uint64_t *old_out, bool *is_written_out) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items;
    uint64_t value = ptx_value(context, &items[step->first_item2 + item], lane), result = 0;
    uint64_t third = step->detail == PTX_WORD_CAS ? ptx_value(context, &step->sources[1], lane) : 0;
    *old_out = 0;
    memcpy(old_out, data, step->size);
    if (!grout_ptx__update((uint16_t)step->detail, step->type, *old_out, value, third, &result)) {
        grout_ptx__fault(context, lane, "there is no such atomic operation");
        return false;
    }
    memcpy(data, &result, step->size);
    *is_written_out = step->detail != PTX_WORD_CAS || *old_out == value;
    return true;
}

static bool is_known(const uint8_t *known, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) {
        if (known[i] == 0) {
            return false;
        }
    }
    return true;
}

static bool run_lane(const ptx_context *context, uint32_t lane) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items;
    ptx_bytes bytes;
    bool is_written = true;
    if (!grout_ptx__find_bytes(context, lane, ptx_address(context, &step->sources[0], lane),
                               step->size * step->item_count2, &bytes) ||
        !grout_ptx__observe_reach(context, lane, &bytes)) {
        return false;
    }
    for (uint32_t i = 0; i < step->item_count2; i++) {
        uint64_t old = 0;
        if (!is_known(bytes.known + (size_t)i * step->size, step->size) &&
            step->detail != PTX_WORD_EXCH) {
            grout_ptx__fault(context, lane, "an atomic operation on bytes that were never written");
            return false;
        }
        if (!update_one(context, lane, bytes.data + (size_t)i * step->size, i, &old, &is_written)) {
            return false;
        }
        memset(bytes.known + (size_t)i * step->size, 0xff, step->size);
        if (i < step->item_count) {
            ptx_put(context, &items[step->first_item + i], lane, old);
        }
    }
    const bool is_reduction = step->item_count == 0 || items[step->first_item].is_sink;
    return grout_ptx__observe_atomic(context, lane, &bytes, step->size * step->item_count2,
                                     is_written, is_reduction);
}

static ptx_outcome run_atomic(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items;
    if (!grout_ptx__need(context, &step->sources[0], "the address of an atomic operation") ||
        (step->detail == PTX_WORD_CAS &&
         !grout_ptx__need(context, &step->sources[1], "what an atomic operation stores"))) {
        return PTX_FAILED;
    }
    for (uint32_t i = 0; i < step->item_count2; i++) {
        if (!grout_ptx__need(context, &items[step->first_item2 + i],
                             "the value of an atomic operation")) {
            return PTX_FAILED;
        }
    }
    uint32_t first = (uint32_t)grout_ptx__draw(context->machine, PTX_LANES);
    for (uint32_t i = 0; i < PTX_LANES; i++) {
        uint32_t lane = (first + i) % PTX_LANES;
        if ((context->lanes >> lane & 1) != 0 && !run_lane(context, lane)) {
            return PTX_FAILED;
        }
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        ptx_set_defined(context, &items[step->first_item + i], UINT32_MAX);
    }
    return PTX_NEXT;
}

/* atom d, [a], b {, c}; red [a], b. With .v2 and its like d and b are vectors. */
bool grout_ptx__decode_atomic(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    bool has_result = decoder->inst->op == PTX_OP_ATOM;
    uint32_t address = has_result ? 1 : 0, left = decoder->inst->operand_count - address - 2;
    step->run = run_atomic;
    step->type = grout_ptx__type(decoder, 0);
    step->size = (uint8_t)(grout_ptx__get_word((ptx_word_id)step->type)->bits / 8);
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    step->detail = grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id;
    if (step->size == 0 || step->size > 8 || step->detail == PTX_WORD_NONE) {
        return grout_ptx__unknown(decoder, "the emulator does not know this atomic operation");
    }
    if (has_result && !grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, 0), 0,
                                               &step->first_item, &step->item_count)) {
        return false;
    }
    return grout_ptx__decode_address(decoder, address, 0) &&
           grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, address + 1), step->type,
                                   &step->first_item2, &step->item_count2) &&
           grout_ptx__has_vector(decoder, step->item_count2) &&
           (!has_result || step->item_count == step->item_count2 ||
            grout_ptx__unknown(decoder, "%u results for %u values", step->item_count,
                               step->item_count2)) &&
           (step->detail != PTX_WORD_CAS ||
            (left > 0 ? grout_ptx__decode_source(decoder, address + 2, step->type, 1)
                      : grout_ptx__unknown(decoder, "cas takes two values")));
}
