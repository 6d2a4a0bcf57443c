/* tensors.c - copies by tensor maps, and the maps themselves. PTX ISA 9.1, cp.async.bulk.tensor,
 * cp.reduce.async.bulk.tensor, tensormap.replace; ptx/tensor/tensor_box.h has which bytes they
 * move.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "mbarriers.h"
#include "observe.h"
#include "tensor_box.h"
#include "tensor_memory.h"
#include "update.h"

#include <string.h>

enum { NEWEST_ARCH = 100 }; /* a map is made without a machine: the newest one's rules */
/* An operation's numbers: the address in shared memory, of the mbarrier, the CTAs; then five
 * coordinates and three offsets, of 32 bits in 64. */
enum { SHARED, BARRIER, CTAS, COORDINATES, OFFSETS = COORDINATES + GROUT_PTX_RANK_MAX };

/* ---- one box ---- */

enum { FILLED = 256 }; /* bytes that are filled at once */

typedef struct ptx_walk {
    ptx_machine *machine;
    ptx_async *async;
    uint32_t rank;          /* of the CTA plus 1, as an address has it */
    bool is_store, is_pair; /* is_pair: .cta_group::2 */
    uint16_t operation, type;
    uint64_t fill;
    uint32_t element_bytes;
} ptx_walk;

static bool combine(ptx_walk *walk, const grout_ptx_run *run, const ptx_bytes *from,
                    const ptx_bytes *to) {
    for (uint32_t i = 0; i + walk->element_bytes <= run->bytes; i += walk->element_bytes) {
        uint64_t old = 0, value = 0, result = 0;
        memcpy(&old, to->data + i, walk->element_bytes);
        memcpy(&value, from->data + i, walk->element_bytes);
        if (!grout_ptx__update(walk->operation, walk->type, old, value, 0, &result)) {
            return grout_ptx__async_fault(walk->machine, walk->async, "there is no such reduction");
        }
        memcpy(to->data + i, &result, walk->element_bytes);
        for (uint32_t j = 0; j < walk->element_bytes; j++) {
            to->known[i + j] &= from->known[i + j];
        }
    }
    return true;
}

/* Elements outside of the array. */
static bool fill(const ptx_walk *walk, const ptx_bytes *to, uint32_t bytes) {
    uint8_t data[FILLED], known[FILLED];
    memset(known, 0xff, sizeof known);
    for (uint32_t at = 0; at < bytes; at += FILLED) {
        const uint32_t count = bytes - at < FILLED ? bytes - at : FILLED;
        const ptx_bytes from = {.data = data, .known = known};
        ptx_bytes part = *to;
        part.data += at;
        part.known += at;
        part.cells = to->cells != NULL ? to->cells + at : NULL;
        for (uint32_t i = 0; i < count; i++) {
            data[i] = (uint8_t)(walk->fill >> 8 * ((at + i) % walk->element_bytes));
        }
        if (!grout_ptx__observe_write(walk->machine, walk->async, &from, &part, count, false)) {
            return false;
        }
        memcpy(part.data, data, count);
        memset(part.known, 0xff, count);
    }
    return true;
}

static bool take(void *to, const grout_ptx_run *run) {
    ptx_walk *walk = to;
    ptx_bytes shared, global;
    ptx_cta *owner = NULL;
    uint64_t address = (uint64_t)walk->rank << 24 | run->shared;
    if (!grout_ptx__find_shared(walk->async->own, address, run->bytes, &shared, &owner)) {
        return grout_ptx__async_fault(walk->machine, walk->async,
                                      "the box leaves shared memory at 0x%x", run->shared);
    }
    if (run->is_fill) {
        return fill(walk, &shared, run->bytes);
    }
    if (!grout_ptx__find_global(walk->machine->memory, run->global, run->bytes, &global)) {
        return grout_ptx__async_fault(walk->machine, walk->async,
                                      "the box leaves global memory at 0x%llx",
                                      (unsigned long long)run->global);
    }
    const ptx_bytes *source = walk->is_store ? &shared : &global,
                    *target = walk->is_store ? &global : &shared;
    if (!grout_ptx__observe_transfer(walk->machine, walk->async, source, target, run->bytes,
                                     walk->operation != PTX_WORD_NONE)) {
        return false;
    }
    if (walk->operation != PTX_WORD_NONE) {
        return combine(walk, run, &shared, &global);
    }
    memcpy(target->data, source->data, run->bytes);
    memcpy(target->known, source->known, run->bytes);
    return true;
}

static uint16_t get_type(uint32_t elem) {
    switch (elem) {
    case GROUT_PTX_ELEM_U8:
        return PTX_WORD_U8;
    case GROUT_PTX_ELEM_U16:
        return PTX_WORD_U16;
    case GROUT_PTX_ELEM_U32:
        return PTX_WORD_U32;
    case GROUT_PTX_ELEM_S32:
        return PTX_WORD_S32;
    case GROUT_PTX_ELEM_U64:
        return PTX_WORD_U64;
    case GROUT_PTX_ELEM_S64:
        return PTX_WORD_S64;
    case GROUT_PTX_ELEM_F16:
        return PTX_WORD_F16;
    case GROUT_PTX_ELEM_BF16:
        return PTX_WORD_BF16;
    case GROUT_PTX_ELEM_F64:
        return PTX_WORD_F64;
    default:
        return PTX_WORD_F32;
    }
}

/* The rank, as in an address, of the CTA whose mbarrier hears of a load to a CTA. With
 * .cta_group::2 that is the one of the target's pair that is even, or odd, as the CTA of the
 * instruction's mbarrier is; without it, the target. */
static uint32_t choose_listener(const ptx_walk *walk, uint64_t barrier, uint32_t rank) {
    uint32_t own = walk->async->own->rank + 1, at = (uint32_t)(barrier >> 24);
    if (!walk->is_pair) {
        return rank;
    }
    at = at == 0 ? own : at;
    rank = rank == 0 ? own : rank;
    return ((rank - 1) & ~1u) + ((at - 1) & 1) + 1;
}

/* Loads to one CTA, and tells an mbarrier; rank as in an address, 0: as the address says. */
static bool load_to(ptx_walk *walk, const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                    uint64_t barrier, uint32_t rank) {
    grout_ptx_fault fault;
    uint32_t bytes = 0;
    const uint64_t listener = (barrier & 0xffffff) | (uint64_t)choose_listener(walk, barrier, rank)
                                                         << 24;
    walk->rank = rank;
    if (!grout_ptx__observe_target(walk->machine, walk->async, listener) ||
        !grout_ptx__observe_map_end(walk->machine, walk->async) ||
        !grout_ptx__box_walk(map, box, take, walk, &fault) ||
        !grout_ptx__box_bytes(map, box, &bytes, &fault)) {
        return walk->machine->is_failed
                   ? false
                   : grout_ptx__async_fault(walk->machine, walk->async, "%s", fault.text);
    }
    return grout_ptx__complete_bytes(walk->machine, walk->async, listener, bytes);
}

/* The NaN that fills what is outside: these bits in each 16, as an H200 has them
 * (docs/hardware.md). */
#define NAN_FILL UINT64_C(0x7ff77ff77ff77ff7)

static bool copy_box(ptx_machine *machine, ptx_async *async) {
    const ptx_step *step = async->step;
    grout_ptx_tensor_map map;
    grout_ptx_fault fault;
    grout_ptx_box box = {.transfer = step->size != 0 ? GROUT_PTX_STORE : GROUT_PTX_LOAD,
                         .kind = (grout_ptx_box_kind)step->more,
                         .dims = step->type,
                         .shared = (uint32_t)(async->numbers[SHARED] & 0xffffff)};
    ptx_walk walk = {.machine = machine,
                     .async = async,
                     .is_store = step->size != 0,
                     .is_pair = step->mask_source >> 1 != 0,
                     .operation = (uint16_t)step->detail};
    async->is_done = true;
    for (uint32_t i = 0; i < GROUT_PTX_RANK_MAX; i++) {
        box.coordinates[i] = (int32_t)async->numbers[COORDINATES + i];
    }
    for (uint32_t i = 0; i < GROUT_PTX_RANK_MAX - 2; i++) {
        box.offsets[i] = (uint16_t)async->numbers[OFFSETS + i];
    }
    if (!grout_ptx__map_decode(async->bytes, grout_ptx__get_arch(machine->code->module), &map,
                               &fault)) {
        return grout_ptx__async_fault(machine, async, "%s", fault.text);
    }
    walk.fill = map.fill != 0 ? NAN_FILL : 0;
    walk.element_bytes = (grout_ptx__elem_bits(map.elem) + 7) / 8;
    walk.type = get_type(map.elem);
    if (walk.is_store) {
        return (grout_ptx__observe_map_end(machine, async) &&
                grout_ptx__box_walk(&map, &box, take, &walk, &fault)) ||
                       machine->is_failed
                   ? !machine->is_failed
                   : grout_ptx__async_fault(machine, async, "%s", fault.text);
    }
    if (async->numbers[CTAS] == 0) {
        return load_to(&walk, &map, &box, async->numbers[BARRIER],
                       (uint32_t)(async->numbers[SHARED] >> 24));
    }
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        if ((async->numbers[CTAS] >> i & 1) != 0 &&
            !load_to(&walk, &map, &box, async->numbers[BARRIER], i + 1)) {
            return false;
        }
    }
    return true;
}

/* The 128 bytes at a generic address, or in the step's space, as they are when the copy starts. */
static bool copy_map(const ptx_context *context, const ptx_plane *plane, uint64_t offset,
                     uint32_t lane, ptx_async *async) {
    ptx_context generic = *context;
    ptx_step step = *context->step;
    ptx_bytes bytes;
    uint64_t address = ptx_value(context, plane, lane) + offset;
    step.space = PTX_WORD_NONE;
    generic.step = &step;
    if (address % GROUT_PTX_MAP_ALIGN != 0) {
        grout_ptx__fault(context, lane, "the tensor map at 0x%llx is not at a multiple of %d",
                         (unsigned long long)address, GROUT_PTX_MAP_ALIGN);
        return false;
    }
    for (uint32_t i = 0; i < GROUT_PTX_MAP_SIZE; i += GROUT_PTX_MAP_ALIGN) {
        if (!grout_ptx__find_bytes(&generic, lane, address + i, GROUT_PTX_MAP_ALIGN, &bytes)) {
            return false;
        }
    }
    (void)grout_ptx__find_bytes(&generic, lane, address, GROUT_PTX_MAP_ALIGN, &bytes);
    if (!grout_ptx__observe_map(&generic, lane, &bytes, GROUT_PTX_MAP_SIZE)) {
        return false;
    }
    async->map = bytes.cells;
    async->bytes = ptx_new(context->machine, GROUT_PTX_MAP_SIZE, 1);
    if (async->bytes == NULL) {
        return grout_diags_add_oom(context->machine->diags);
    }
    memcpy(async->bytes, bytes.data, GROUT_PTX_MAP_SIZE);
    return true;
}

/* Items: coordinates, then offsets. Sources: the map, shared memory, the mbarrier, CTAs. */
static ptx_outcome start_lane(const ptx_context *context, uint32_t lane) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items;
    ptx_async async = {
        .kind = step->size != 0 ? PTX_ASYNC_BULK : PTX_ASYNC_ALONE, .run = copy_box, .lane = lane};
    async.group = context->warp->bulk_groups[lane];
    async.numbers[SHARED] =
        ptx_value(context, &step->sources[1], lane) + items[step->first_item2 - 1].offset;
    async.numbers[BARRIER] = step->size != 0 ? 0
                                             : ptx_value(context, &step->sources[2], lane) +
                                                   items[step->first_item2 - 1].id;
    async.numbers[CTAS] =
        (step->mask_source & 1) != 0 ? ptx_value(context, &step->sources[3], lane) & 0xffff : 0;
    for (uint32_t i = 0; i < step->item_count; i++) {
        async.numbers[COORDINATES + i] = ptx_value(context, &items[step->first_item + i], lane);
    }
    for (uint32_t i = 0; i < step->item_count2; i++) {
        async.numbers[OFFSETS + i] = ptx_value(context, &items[step->first_item2 + i], lane);
    }
    return copy_map(context, &step->sources[0], step->offset, lane, &async) &&
                   grout_ptx__start(context, async)
               ? PTX_NEXT
               : PTX_FAILED;
}

static ptx_outcome run_tensor_copy(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items;
    bool is_right = grout_ptx__need(context, &step->sources[0], "the tensor map of a copy") &&
                    grout_ptx__need(context, &step->sources[1], "the address of a copy") &&
                    (step->size != 0 ||
                     grout_ptx__need(context, &step->sources[2], "the mbarrier of a copy")) &&
                    ((step->mask_source & 1) == 0 ||
                     grout_ptx__need(context, &step->sources[3], "the CTAs of a copy"));
    for (uint32_t i = 0; is_right && i < step->item_count; i++) {
        is_right = grout_ptx__need(context, &items[step->first_item + i], "a coordinate of a copy");
    }
    for (uint32_t i = 0; is_right && i < step->item_count2; i++) {
        is_right = grout_ptx__need(context, &items[step->first_item2 + i], "an offset of a copy");
    }
    if (!is_right) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        if (start_lane(context, lane) == PTX_FAILED) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

static bool choose_kind(ptx_decoder *decoder) {
    switch (grout_ptx__word(decoder, PTX_CLASS_MODE, 0).id) {
    case PTX_WORD_NONE:
    case PTX_WORD_TILE:
        decoder->step->more = GROUT_PTX_BOX_TILE;
        return true;
    case PTX_WORD_IM2COL:
        decoder->step->more = GROUT_PTX_BOX_IM2COL;
        return true;
    case PTX_WORD_IM2COL_NO_OFFS:
        decoder->step->more = GROUT_PTX_BOX_IM2COL_NO_OFFSETS;
        return true;
    case PTX_WORD_IM2COL_W:
        decoder->step->more = GROUT_PTX_BOX_IM2COL_W;
        break;
    case PTX_WORD_IM2COL_W_128:
        decoder->step->more = GROUT_PTX_BOX_IM2COL_W128;
        break;
    default: /* tile::gather4, tile::scatter4 */
        decoder->step->more = GROUT_PTX_BOX_ROWS4;
        break;
    }
    return grout_ptx__get_arch(decoder->module) >= NEWEST_ARCH ||
           grout_ptx__unknown(decoder, "this mode of a tensor copy is not of sm_90");
}

/* The offsets of shared memory and the mbarrier, in one item. */
static bool add_offsets(const ptx_decoder *decoder, uint64_t shared, uint64_t barrier) {
    ptx_code *code = decoder->code;
    if (!GROUT_ARRAY_RESERVE(&code->items, code->allocator, 1)) {
        return grout_diags_add_oom(decoder->diags);
    }
    code->items.items[code->items.count++] =
        (ptx_plane){.offset = (uint32_t)shared, .id = (uint32_t)barrier};
    return true;
}

/* load: [to], [map, {c}], [mbarrier] {, {offsets}} {, ctas} {, hint}; store: [map, {c}], [from]. */
bool grout_ptx__decode_tensor_copy(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    bool is_store = grout_ptx__has(decoder, PTX_WORD_BULK_GROUP);
    uint32_t map = is_store ? 0 : 1, shared = is_store ? 1 : 0, at = is_store ? 2 : 3;
    const ptx_operand *tensor = grout_ptx__operand(decoder, map);
    uint64_t shared_offset = 0, barrier_offset = 0;
    step->run = run_tensor_copy;
    step->size = is_store;
    step->type = (uint16_t)(grout_ptx__word(decoder, PTX_CLASS_RANK, 0).id - PTX_WORD_D1 + 1);
    step->detail = grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id;
    if (!choose_kind(decoder) || tensor->kind != PTX_OPERAND_ADDRESS || tensor->count != 2 ||
        decoder->inst->operand_count < at || !grout_ptx__decode_address(decoder, shared, 1)) {
        return grout_ptx__unknown(decoder, "the emulator does not know this tensor copy");
    }
    shared_offset = step->offset;
    if (!is_store && !grout_ptx__decode_address(decoder, 2, 2)) {
        return false;
    }
    barrier_offset = is_store ? 0 : step->offset;
    if (!grout_ptx__decode_address(decoder, map, 0) ||
        !grout_ptx__decode_items(decoder, grout_ptx__get_item(decoder->module, tensor, 1),
                                 PTX_WORD_S32, &step->first_item, &step->item_count) ||
        !add_offsets(decoder, shared_offset, barrier_offset)) {
        return false;
    }
    step->first_item2 = (uint32_t)decoder->code->items.count;
    if (step->more >= GROUT_PTX_BOX_IM2COL && step->more <= GROUT_PTX_BOX_IM2COL_W128 &&
        step->more != GROUT_PTX_BOX_IM2COL_NO_OFFSETS) {
        if (at >= decoder->inst->operand_count ||
            !grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, at++), PTX_WORD_U16,
                                     &step->first_item2, &step->item_count2)) {
            return false;
        }
    }
    step->mask_source = (uint8_t)((grout_ptx__has(decoder, PTX_WORD_MULTICAST) ? 1 : 0) |
                                  (grout_ptx__has(decoder, PTX_WORD_CTA_GROUP_2) ? 2 : 0));
    if (step->item_count > GROUT_PTX_RANK_MAX || step->item_count2 > GROUT_PTX_RANK_MAX - 2) {
        return grout_ptx__unknown(decoder, "a tensor has at most 5 dimensions");
    }
    return (step->mask_source & 1) == 0 || (at < decoder->inst->operand_count &&
                                            grout_ptx__decode_source(decoder, at, PTX_WORD_U16, 3));
}

/* ---- maps ---- */

static ptx_outcome run_prefetch_map(ptx_context *context) {
    const ptx_step *step = context->step;
    if (!grout_ptx__need(context, &step->sources[0], "the address of a tensor map")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async fetch = {.bytes = NULL};
        if (!copy_map(context, &step->sources[0], step->offset, lane, &fetch)) {
            return PTX_FAILED;
        }
        grout__free(fetch.bytes);
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_prefetch_map(ptx_decoder *decoder) {
    decoder->step->run = run_prefetch_map;
    return grout_ptx__decode_address(decoder, 0, 0);
}

bool grout_ptx__decode_prefetch_tensor(ptx_decoder *decoder) {
    return grout_ptx__decode_prefetch_map(decoder);
}

static ptx_outcome run_map_replace(ptx_context *context) {
    const ptx_step *step = context->step;
    grout_ptx_fault fault;
    if (!grout_ptx__need(context, &step->sources[0], "the address of a tensor map") ||
        !grout_ptx__need(context, &step->sources[1], "the new value of a field")) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_bytes bytes, second;
        uint64_t address = ptx_address(context, &step->sources[0], lane);
        if (!grout_ptx__find_bytes(context, lane, address, GROUT_PTX_MAP_ALIGN, &bytes) ||
            !grout_ptx__find_bytes(context, lane, address + GROUT_PTX_MAP_ALIGN,
                                   GROUT_PTX_MAP_ALIGN, &second)) {
            return PTX_FAILED;
        }
        grout_ptx_map_change change = {.field = (grout_ptx_map_field)step->detail,
                                       .ordinal = step->more,
                                       .value = ptx_value(context, &step->sources[1], lane)};
        if (!grout_ptx__map_replace(bytes.data, &change,
                                    grout_ptx__get_arch(context->machine->code->module), &fault)) {
            return grout_ptx__fault(context, lane, "%s", fault.text);
        }
        if (!grout_ptx__observe_lane(context, lane, &bytes, GROUT_PTX_MAP_SIZE, true, NULL)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

static grout_ptx_map_field get_field(uint16_t word) {
    static const struct {
        ptx_word_id word;
        grout_ptx_map_field field;
    } fields[] = {{PTX_WORD_GLOBAL_ADDRESS, GROUT_PTX_FIELD_GLOBAL_ADDRESS},
                  {PTX_WORD_RANK, GROUT_PTX_FIELD_RANK},
                  {PTX_WORD_BOX_DIM, GROUT_PTX_FIELD_BOX_DIM},
                  {PTX_WORD_GLOBAL_DIM, GROUT_PTX_FIELD_GLOBAL_DIM},
                  {PTX_WORD_GLOBAL_STRIDE, GROUT_PTX_FIELD_GLOBAL_STRIDE},
                  {PTX_WORD_ELEMENT_STRIDE, GROUT_PTX_FIELD_ELEMENT_STRIDE},
                  {PTX_WORD_ELEMTYPE, GROUT_PTX_FIELD_ELEMTYPE},
                  {PTX_WORD_INTERLEAVE_LAYOUT, GROUT_PTX_FIELD_INTERLEAVE_LAYOUT},
                  {PTX_WORD_SWIZZLE_MODE, GROUT_PTX_FIELD_SWIZZLE_MODE},
                  {PTX_WORD_SWIZZLE_ATOMICITY, GROUT_PTX_FIELD_SWIZZLE_ATOMICITY},
                  {PTX_WORD_FILL_MODE, GROUT_PTX_FIELD_FILL_MODE}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].word == word) {
            return fields[i].field;
        }
    }
    return GROUT_PTX_FIELD_COUNT;
}

/* [addr], value, or [addr], ordinal, value. The first type is the map's .b1024. */
bool grout_ptx__decode_map_replace(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    uint32_t count = decoder->inst->operand_count;
    step->run = run_map_replace;
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    step->detail = get_field(grout_ptx__word(decoder, PTX_CLASS_FIELD, 0).id);
    step->more = count == 3 ? (uint32_t)grout_ptx__operand(decoder, 1)->bits : 0;
    if (step->detail == GROUT_PTX_FIELD_COUNT ||
        (count == 3 && grout_ptx__operand(decoder, 1)->kind != PTX_OPERAND_IMMEDIATE)) {
        return grout_ptx__unknown(decoder, "the emulator does not know this replacement");
    }
    return grout_ptx__decode_address(decoder, 0, 0) &&
           grout_ptx__decode_source(decoder, count - 1, grout_ptx__type(decoder, 1), 1);
}

/* tensormap.cp_fenceproxy: 128 bytes from shared to global memory, once for the warp. */
static ptx_outcome run_map_copy(ptx_context *context) {
    const ptx_step *step = context->step;
    uint64_t to = 0, from = 0;
    ptx_bytes target, source;
    ptx_cta *owner = NULL;
    if (!grout_ptx__need_same(context, &step->sources[0], "the address of a tensor map", &to) ||
        !grout_ptx__need_same(context, &step->sources[1], "the address of a tensor map", &from)) {
        return PTX_FAILED;
    }
    if (!grout_ptx__find_global(context->machine->memory, to, GROUT_PTX_MAP_SIZE, &target) ||
        !grout_ptx__find_shared(context->cta, from, GROUT_PTX_MAP_SIZE, &source, &owner)) {
        return grout_ptx__fault(context, PTX_LANES, "128 bytes are not there");
    }
    memcpy(target.data, source.data, GROUT_PTX_MAP_SIZE);
    memcpy(target.known, source.known, GROUT_PTX_MAP_SIZE);
    return grout_ptx__observe_map_copy(context, &source, &target, GROUT_PTX_MAP_SIZE) ? PTX_NEXT
                                                                                      : PTX_FAILED;
}

bool grout_ptx__decode_map_copy(ptx_decoder *decoder) {
    decoder->step->run = run_map_copy;
    decoder->step->needs_all = true;
    return grout_ptx__decode_address(decoder, 0, 0) && grout_ptx__decode_address(decoder, 1, 1);
}

bool grout_ptx_encode_tensor(const grout_ptx_tensor *tensor,
                             uint8_t bytes_out[GROUT_PTX_TENSOR_MAP_BYTES], grout_diags *diags) {
    grout_ptx_fault fault;
    grout_place nowhere = {.file = NULL};
    grout_ptx_tensor_map map = {.mode =
                                    tensor->is_im2col ? GROUT_PTX_MAP_IM2COL : GROUT_PTX_MAP_TILED,
                                .rank = tensor->rank,
                                .interleave = tensor->interleave,
                                .promotion = tensor->promotion,
                                .fill = tensor->fill,
                                .address = tensor->address,
                                .channels = tensor->channels_per_pixel,
                                .pixels = tensor->pixels_per_column};
    memcpy(map.dims, tensor->dims, sizeof map.dims);
    memcpy(map.strides, tensor->strides_bytes, sizeof map.strides);
    memcpy(map.box, tensor->box, sizeof map.box);
    memcpy(map.element_strides, tensor->element_strides, sizeof map.element_strides);
    memcpy(map.lower, tensor->lower_corner, sizeof map.lower);
    memcpy(map.upper, tensor->upper_corner, sizeof map.upper);
    if (!grout_ptx__elem_of_driver(tensor->type, &map.elem) ||
        !grout_ptx__swizzle_of_driver(tensor->swizzle, &map.swizzle)) {
        return grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, nowhere,
                               "there is no such type or swizzle of a tensor map");
    }
    return grout_ptx__map_encode(&map, NEWEST_ARCH, bytes_out, &fault) ||
           grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, nowhere, "%s", fault.text);
}
