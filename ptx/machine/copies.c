/* copies.c - cp.async, bulk copies of plain bytes, st.async. PTX ISA 9.1, 9.7.9.25.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "mbarrier.h"
#include "mbarriers.h"
#include "observe.h"
#include "update.h"

#include <string.h>

enum { TO, FROM, SIZE, BARRIER, CTAS, USED }; /* an operation's numbers */
enum { LANE_BYTES = 16 };                     /* that a lane of cp.async copies at most */

/* ---- cp.async ---- */

/* What one lane copies: used bytes from an address to another one; what is not read is zero. */
typedef struct lane_copy {
    uint64_t to, from, used;
} lane_copy;

static bool copy_lane(ptx_machine *machine, ptx_async *async, const lane_copy *it) {
    ptx_bytes from, to;
    ptx_cta *owner = NULL;
    uint8_t data[LANE_BYTES] = {0}, defined[LANE_BYTES]; /* zeros past what is read */
    const uint64_t size = async->numbers[SIZE];
    if (!grout_ptx__find_shared(async->own, it->to, size, &to, &owner) || it->to % size != 0) {
        return grout_ptx__async_fault(machine, async, "%llu bytes cannot be copied to 0x%llx",
                                      (unsigned long long)size, (unsigned long long)it->to);
    }
    memset(defined, 0xff, sizeof defined);
    if (it->used > 0) {
        if (!grout_ptx__find_global(machine->memory, it->from, it->used, &from) ||
            it->from % size != 0) {
            return grout_ptx__async_fault(machine, async, "%llu bytes cannot be copied from 0x%llx",
                                          (unsigned long long)it->used,
                                          (unsigned long long)it->from);
        }
        memcpy(data, from.data, it->used);
        memcpy(defined, from.known, it->used);
    }
    const ptx_bytes copied = {.data = data, .known = defined};
    bool is_done = (it->used == 0 || grout_ptx__observe_async(machine, async, &from,
                                                              (uint32_t)it->used, false, false)) &&
                   grout_ptx__observe_write(machine, async, &copied, &to, (uint32_t)size, false);
    memcpy(to.data, data, size);
    memcpy(to.known, defined, size);
    return is_done;
}

/* Some lanes of an instruction, or all that are left: nothing orders them. */
static bool copy_lanes(ptx_machine *machine, ptx_async *async) {
    const lane_copy *copies = (const lane_copy *)(const void *)async->bytes;
    uint32_t lanes = async->lanes & (uint32_t)grout_ptx__draw(machine, UINT64_C(1) << 32);
    if (lanes == 0 || grout_ptx__draw(machine, 2) == 0) {
        lanes = async->lanes;
    }
    PTX_FOR_LANES(lane, lanes) {
        async->lane = lane;
        if (!copy_lane(machine, async, &copies[lane])) {
            return false;
        }
    }
    async->lanes &= ~lanes;
    async->is_done = async->lanes == 0;
    return true;
}

/* The copies of lanes that start alike; *lanes loses them. */
static bool start_lanes(ptx_context *context, uint32_t *lanes) {
    const ptx_step *step = context->step;
    uint32_t first = (uint32_t)__builtin_ctz(*lanes);
    ptx_async async = {.kind = PTX_ASYNC_COPY,
                       .run = copy_lanes,
                       .lane = first,
                       .is_generic = true,
                       .group = context->warp->copy_groups[first]};
    lane_copy *copies = ptx_new(context->machine, PTX_LANES, sizeof *copies);
    if (copies == NULL) {
        return grout_diags_add_oom(context->machine->diags);
    }
    async.bytes = (uint8_t *)copies;
    async.numbers[SIZE] = step->detail;
    PTX_FOR_LANES(lane, *lanes) {
        if (grout_ptx__starts_alike(context, first, lane)) {
            async.lanes |= 1u << lane;
            copies[lane].to = ptx_address(context, &step->sources[0], lane);
            copies[lane].from = ptx_value(context, &step->sources[1], lane) + step->more;
            copies[lane].used = ptx_value(context, &step->sources[2], lane);
        }
    }
    *lanes &= ~async.lanes;
    return grout_ptx__start(context, async);
}

static ptx_outcome run_cp_async(ptx_context *context) {
    const ptx_step *step = context->step;
    if (!grout_ptx__need(context, &step->sources[0], "the address of a copy") ||
        !grout_ptx__need(context, &step->sources[1], "the address of a copy") ||
        !grout_ptx__need(context, &step->sources[2], "the bytes of a copy")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (ptx_value(context, &step->sources[2], lane) > step->detail) {
            return grout_ptx__fault(context, lane, "more bytes are read than are written");
        }
    }
    for (uint32_t lanes = context->lanes; lanes != 0;) {
        if (!start_lanes(context, &lanes)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

/* [to], [from], size {, used}: the offset of the second address is kept apart. */
bool grout_ptx__decode_cp_async(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    const ptx_operand *size = grout_ptx__operand(decoder, 2);
    bool has_hint = grout_ptx__has(decoder, PTX_WORD_L2_CACHE_HINT);
    uint32_t count = decoder->inst->operand_count - (has_hint ? 1u : 0u);
    step->run = run_cp_async;
    step->detail = (uint32_t)size->bits;
    if (size->kind != PTX_OPERAND_IMMEDIATE ||
        (size->bits != 4 && size->bits != 8 && size->bits != 16)) {
        return grout_ptx__unknown(decoder, "cp.async copies 4, 8 or 16 bytes");
    }
    if (!grout_ptx__decode_address(decoder, 1, 1)) {
        return false;
    }
    step->more = (uint32_t)step->offset;
    return grout_ptx__decode_address(decoder, 0, 0) &&
           grout_ptx__decode_source(decoder, count > 3 ? 3 : 2, PTX_WORD_U32, 2);
}

static ptx_outcome run_bulk_commit(ptx_context *context) {
    PTX_FOR_LANES(lane, context->lanes) {
        context->warp->bulk_groups[lane]++;
    }
    return PTX_NEXT;
}

static ptx_outcome run_commit(ptx_context *context) {
    PTX_FOR_LANES(lane, context->lanes) {
        context->warp->copy_groups[lane]++;
        context->warp->copy_marks[lane] = 0;
        if (!grout_ptx__observe_mark(context, lane)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_cp_async_commit(ptx_decoder *decoder) {
    decoder->step->run = run_commit;
    return true;
}

bool grout_ptx__decode_bulk_commit(ptx_decoder *decoder) {
    decoder->step->run = run_bulk_commit;
    return true;
}

/* detail: bulk groups; size: 1 if reads are enough, 2 if nothing may be under way; more: how many
 * of the newest groups may be. */
static ptx_outcome run_wait(ptx_context *context) {
    const ptx_step *step = context->step;
    bool is_bulk = step->detail != 0;
    const uint32_t *groups = is_bulk ? context->warp->bulk_groups : context->warp->copy_groups;
    uint32_t before[PTX_LANES] = {0};
    PTX_FOR_LANES(lane, context->lanes) {
        before[lane] = step->size == 2             ? groups[lane] + 1
                       : groups[lane] > step->more ? groups[lane] - step->more
                                                   : 0;
    }
    return grout_ptx__is_under_way(context, is_bulk ? PTX_ASYNC_BULK : PTX_ASYNC_COPY,
                                   context->lanes, before, step->size == 1)
               ? PTX_STAY
           : grout_ptx__observe_groups(context, is_bulk ? PTX_ASYNC_BULK : PTX_ASYNC_COPY, before,
                                       step->size == 1)
               ? PTX_NEXT
               : PTX_FAILED;
}

static bool decode_wait(ptx_decoder *decoder) {
    decoder->step->run = run_wait;
    if (decoder->inst->operand_count == 0) {
        decoder->step->size = 2;
        return true;
    }
    const ptx_operand *count = grout_ptx__operand(decoder, 0);
    decoder->step->more = (uint32_t)count->bits;
    return count->kind == PTX_OPERAND_IMMEDIATE ||
           grout_ptx__unknown(decoder, "how many groups may be under way is a number");
}

bool grout_ptx__decode_cp_async_wait(ptx_decoder *decoder) {
    return decode_wait(decoder);
}

bool grout_ptx__decode_bulk_wait(ptx_decoder *decoder) {
    decoder->step->detail = 1;
    decoder->step->size = grout_ptx__has(decoder, PTX_WORD_READ);
    return decode_wait(decoder);
}

/* cp.async.mbarrier.arrive: an arrival when all copies that the lane started before have happened.
 */
static bool arrive_after(ptx_machine *machine, ptx_async *async) {
    grout_ptx_arrival how = {.count = 1};
    grout_ptx_fault fault;
    ptx_bytes bytes;
    ptx_cta *owner = NULL;
    uint64_t word = 0, token = 0;
    for (const ptx_async *other = machine->asyncs.items; other < async; other++) {
        if (other->kind == PTX_ASYNC_COPY && other->cta == async->cta &&
            other->warp == async->warp && (other->lanes >> async->lane & 1) != 0) {
            return false;
        }
    }
    if (!grout_ptx__find_shared(async->own, async->numbers[TO], GROUT_PTX_MBARRIER_SIZE, &bytes,
                                &owner)) {
        return grout_ptx__async_fault(machine, async, "no mbarrier can be at 0x%llx",
                                      (unsigned long long)async->numbers[TO]);
    }
    memcpy(&word, bytes.data, sizeof word);
    const uint64_t before = word;
    if (!grout_ptx__mbarrier_arrive(&word, &how, &token, &fault)) {
        return grout_ptx__async_fault(machine, async, "%s", fault.text);
    }
    memcpy(bytes.data, &word, sizeof word);
    async->is_done = true;
    return grout_ptx__observe_hearing(machine, async, &bytes, before, word);
}

/* Without .noinc the barrier first expects one arrival more, in this phase alone. */
static bool expect_one_more(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes) {
    grout_ptx_mbarrier fields;
    uint64_t word = 0;
    memcpy(&word, bytes->data, sizeof word);
    if (!grout_ptx__mbarrier_unpack(word, &fields)) {
        grout_ptx__fault(context, lane, "no mbarrier is here");
        return false;
    }
    fields.pending++;
    word = grout_ptx__mbarrier_pack(&fields);
    memcpy(bytes->data, &word, sizeof word);
    return true;
}

static ptx_outcome run_cp_async_mbarrier(ptx_context *context) {
    const ptx_step *step = context->step;
    if (!grout_ptx__need(context, &step->sources[0], "the address of an mbarrier")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async async = {
            .kind = PTX_ASYNC_ALONE, .run = arrive_after, .lane = lane, .is_generic = true};
        ptx_bytes bytes;
        async.numbers[TO] = ptx_address(context, &step->sources[0], lane);
        if (!grout_ptx__find_bytes(context, lane, async.numbers[TO], GROUT_PTX_MBARRIER_SIZE,
                                   &bytes) ||
            (step->detail == 0 && !expect_one_more(context, lane, &bytes)) ||
            !grout_ptx__start(context, async) || !grout_ptx__observe_mark(context, lane)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_cp_async_mbarrier(ptx_decoder *decoder) {
    decoder->step->run = run_cp_async_mbarrier;
    decoder->step->detail = grout_ptx__has(decoder, PTX_WORD_NOINC);
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_address(decoder, 0, 0);
}

/* ---- cp.async.bulk of bytes ---- */

static bool find_end(ptx_machine *machine, ptx_async *async, uint16_t space, uint64_t address,
                     ptx_bytes *bytes) {
    ptx_cta *owner = NULL;
    bool is_found =
        space == PTX_WORD_GLOBAL
            ? grout_ptx__find_global(machine->memory, address, async->numbers[SIZE], bytes)
            : grout_ptx__find_shared(async->own, address, async->numbers[SIZE], bytes, &owner);
    return is_found || grout_ptx__async_fault(
                           machine, async, "%llu bytes at 0x%llx are not all there",
                           (unsigned long long)async->numbers[SIZE], (unsigned long long)address);
}

/* detail: an operation; type: of what. */
static bool combine_bytes(ptx_machine *machine, ptx_async *async, const ptx_bytes *from,
                          const ptx_bytes *to) {
    const ptx_step *step = async->step;
    uint32_t size = grout_ptx__get_word((ptx_word_id)step->type)->bits / 8u;
    for (uint64_t i = 0; i + size <= async->numbers[SIZE]; i += size) {
        uint64_t old = 0, value = 0, result = 0;
        memcpy(&old, to->data + i, size);
        memcpy(&value, from->data + i, size);
        if (!grout_ptx__update((uint16_t)step->detail, step->type, old, value, 0, &result)) {
            return grout_ptx__async_fault(machine, async, "there is no such reduction");
        }
        memcpy(to->data + i, &result, size);
        for (uint32_t j = 0; j < size; j++) {
            to->known[i + j] &= from->known[i + j];
        }
    }
    return true;
}

static bool copy_once(ptx_machine *machine, ptx_async *async, uint64_t to_address) {
    const ptx_step *step = async->step;
    ptx_bytes from, to;
    if (!find_end(machine, async, (uint16_t)step->more, async->numbers[FROM], &from) ||
        !find_end(machine, async, step->space, to_address, &to)) {
        return false;
    }
    if (!grout_ptx__observe_transfer(machine, async, &from, &to, (uint32_t)async->numbers[SIZE],
                                     step->detail != PTX_WORD_NONE)) {
        return false;
    }
    if (step->detail != PTX_WORD_NONE) {
        return combine_bytes(machine, async, &from, &to);
    }
    memmove(to.data, from.data, async->numbers[SIZE]);
    memmove(to.known, from.known, async->numbers[SIZE]);
    return true;
}

/* To one place, or to the same place in each CTA of a mask; each place has its mbarrier. */
static bool copy_bulk(ptx_machine *machine, ptx_async *async) {
    const uint64_t *numbers = async->numbers;
    async->is_done = true;
    if (async->kind == PTX_ASYNC_BULK) {
        return copy_once(machine, async, numbers[TO]);
    }
    if (numbers[CTAS] == 0) {
        return grout_ptx__observe_target(machine, async, numbers[BARRIER]) &&
               copy_once(machine, async, numbers[TO]) &&
               grout_ptx__complete_bytes(machine, async, numbers[BARRIER], (uint32_t)numbers[SIZE]);
    }
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        if ((numbers[CTAS] >> i & 1) != 0 &&
            !(grout_ptx__observe_target(machine, async, ptx_map_shared(i, numbers[BARRIER])) &&
              copy_once(machine, async, ptx_map_shared(i, numbers[TO])) &&
              grout_ptx__complete_bytes(machine, async, ptx_map_shared(i, numbers[BARRIER]),
                                        (uint32_t)numbers[SIZE]))) {
            return false;
        }
    }
    return true;
}

static ptx_outcome run_bulk(ptx_context *context) {
    const ptx_step *step = context->step;
    static const char *const names[] = {"the address of a bulk copy", "the address of a bulk copy",
                                        "the bytes of a bulk copy", "the mbarrier of a bulk copy",
                                        "the CTAs of a bulk copy"};
    for (uint32_t i = 0; i < step->item_count; i++) {
        if (!grout_ptx__need(context, &step->sources[i], names[i])) {
            return PTX_FAILED;
        }
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async async = {.kind = step->size != 0 ? PTX_ASYNC_BULK : PTX_ASYNC_ALONE,
                           .run = copy_bulk,
                           .lane = lane};
        async.group = context->warp->bulk_groups[lane];
        const ptx_plane *offsets = context->machine->code->items.items + step->first_item;
        for (uint32_t i = 0; i < step->item_count; i++) {
            async.numbers[i] = ptx_value(context, &step->sources[i], lane) + offsets[i].offset;
        }
        if (async.numbers[TO] % 16 != 0 || async.numbers[FROM] % 16 != 0 ||
            async.numbers[SIZE] % 16 != 0) {
            return grout_ptx__fault(context, lane,
                                    "addresses and bytes of a bulk copy are multiples of 16");
        }
        if (!grout_ptx__start(context, async)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

/* [to], [from], size {, [mbarrier]} {, ctas} {, hint}: each operand has an offset among the items.
 */
bool grout_ptx__decode_bulk(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    ptx_code *code = decoder->code;
    bool has_hint = grout_ptx__has(decoder, PTX_WORD_L2_CACHE_HINT);
    step->run = run_bulk;
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    step->more = grout_ptx__word(decoder, PTX_CLASS_SPACE, 1).id;
    step->detail = grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id;
    step->type = grout_ptx__type(decoder, 0);
    step->size = grout_ptx__has(decoder, PTX_WORD_BULK_GROUP);
    step->first_item = (uint32_t)code->items.count;
    step->item_count = decoder->inst->operand_count - (has_hint ? 1u : 0u);
    if (step->more == PTX_WORD_NONE || step->item_count > PTX_SOURCES ||
        grout_ptx__has(decoder, PTX_WORD_CP_MASK)) {
        return grout_ptx__unknown(decoder, "the emulator does not know this bulk copy");
    }
    if (!GROUT_ARRAY_RESERVE(&code->items, code->allocator, step->item_count)) {
        return grout_diags_add_oom(decoder->diags);
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        bool is_address = grout_ptx__operand(decoder, i)->kind == PTX_OPERAND_ADDRESS;
        step->offset = 0;
        if (!(is_address ? grout_ptx__decode_address(decoder, i, i)
                         : grout_ptx__decode_source(decoder, i,
                                                    i == CTAS ? PTX_WORD_U16 : PTX_WORD_U32, i))) {
            return false;
        }
        code->items.items[code->items.count++] = (ptx_plane){.offset = (uint32_t)step->offset};
    }
    return true;
}

/* ---- st.async, red.async ---- */

static bool store_later(ptx_machine *machine, ptx_async *async) {
    const ptx_step *step = async->step;
    ptx_bytes from = {async->bytes, async->bytes + async->byte_count, NULL, NULL}, to;
    ptx_cta *owner = NULL;
    async->is_done = true;
    if (async->numbers[TO] % async->byte_count != 0 ||
        !grout_ptx__find_shared(async->own, async->numbers[TO], async->byte_count, &to, &owner)) {
        return grout_ptx__async_fault(machine, async, "%llu bytes cannot be stored to 0x%llx",
                                      (unsigned long long)async->byte_count,
                                      (unsigned long long)async->numbers[TO]);
    }
    if (!grout_ptx__observe_target(machine, async, async->numbers[BARRIER]) ||
        !grout_ptx__observe_write(machine, async, &from, &to, (uint32_t)async->byte_count,
                                  step->detail != PTX_WORD_NONE)) {
        return false;
    }
    if (step->detail != PTX_WORD_NONE) {
        if (!combine_bytes(machine, async, &from, &to)) {
            return false;
        }
    } else {
        memcpy(to.data, from.data, async->byte_count);
        memcpy(to.known, from.known, async->byte_count);
    }
    return grout_ptx__complete_bytes(machine, async, async->numbers[BARRIER],
                                     (uint32_t)async->byte_count);
}

static ptx_outcome run_store_async(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    uint32_t size = step->size * step->item_count;
    if (!grout_ptx__need(context, &step->sources[0], "the address of a store") ||
        !grout_ptx__need(context, &step->sources[1], "the mbarrier of a store")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async async = {.kind = PTX_ASYNC_ALONE,
                           .run = store_later,
                           .lane = lane,
                           .is_generic = true,
                           .byte_count = size};
        async.bytes = ptx_new(context->machine, 2, size);
        if (async.bytes == NULL) {
            grout_diags_add_oom(context->machine->diags);
            return PTX_FAILED;
        }
        for (uint32_t i = 0; i < step->item_count; i++) {
            uint64_t value = ptx_value(context, &items[i], lane);
            memcpy(async.bytes + (size_t)i * step->size, &value, step->size);
            memset(async.bytes + size + (size_t)i * step->size,
                   (ptx_defined(context, &items[i]) >> lane & 1) != 0 ? 0xff : 0, step->size);
        }
        async.numbers[TO] = ptx_value(context, &step->sources[0], lane) + step->more;
        async.numbers[SIZE] = size;
        async.numbers[BARRIER] = ptx_address(context, &step->sources[1], lane);
        if (!grout_ptx__start(context, async)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_store_async(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    step->run = run_store_async;
    step->type = grout_ptx__type(decoder, 0);
    step->size = (uint8_t)(grout_ptx__get_word((ptx_word_id)step->type)->bits / 8);
    step->detail = grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id;
    if (step->size == 0 || step->size > 8 || !grout_ptx__decode_address(decoder, 0, 0)) {
        return step->size > 0 && step->size <= 8
                   ? false
                   : grout_ptx__unknown(decoder, "an access needs a type");
    }
    step->more = (uint32_t)step->offset;
    return grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, 1), step->type,
                                   &step->first_item, &step->item_count) &&
           grout_ptx__has_vector(decoder, step->item_count) &&
           grout_ptx__decode_address(decoder, 2, 1);
}
