/* tensor_moves.c - tcgen05.ld, tcgen05.st and their waits. PTX ISA 9.1, 'tcgen05.ld', 'tcgen05.st',
 * 'tcgen05.wait'; ptx/tensor/tmem.h has their shapes. A load writes its registers some time before
 * the wait; until then they have no value. A store takes its registers at once and writes tensor
 * memory some time before the wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "observe.h"
#include "run_tcgen05.h"
#include "tensor_memory.h"

#include <string.h>

enum { COUNT_AT = 4, PACKED_AT = 12 }; /* in a step's detail, after the shape */

static grout_ptx_tmem_move get_move(const ptx_step *step) {
    return (grout_ptx_tmem_move){.shape = (grout_ptx_tmem_shape)(step->detail & 15),
                                 .count = step->detail >> COUNT_AT & 255,
                                 .is_packed = (step->detail >> PACKED_AT & 1) != 0,
                                 .split = step->more};
}

/* What an operation under way knows of its warp. */
static ptx_context get_context(ptx_machine *machine, const ptx_async *async) {
    ptx_cta *cta = async->own;
    return (ptx_context){.machine = machine,
                         .cta = cta,
                         .warp = &cta->warps[async->warp],
                         .step = async->step,
                         .lanes = UINT32_MAX,
                         .constants = (uint8_t *)machine->code->constants.items};
}

static bool load(ptx_machine *machine, ptx_async *async) {
    const ptx_step *step = async->step;
    const ptx_plane *items = machine->code->items.items + step->first_item;
    ptx_context context = get_context(machine, async);
    ptx_tensor_view view = grout_ptx__view_tensor(machine, async, 1);
    grout_ptx_access access = grout_ptx__access_tensor(&view);
    grout_ptx_tmem_move move = get_move(step);
    uint32_t registers[GROUT_PTX_TMEM_LANES * PTX_LANES];
    grout_ptx_fault fault;
    move.address = (uint32_t)async->numbers[0];
    move.warp = async->warp;
    view.is_loose = true;
    view.parts = move.is_packed ? 2 : 1;
    async->is_done = true;
    if (!grout_ptx__tmem_load(&move, 0, &access, registers, &fault)) {
        return grout_ptx__async_fault(machine, async, "%s", fault.text);
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        PTX_FOR_LANES(lane, UINT32_MAX) {
            ptx_put(&context, &items[i], lane, registers[i * PTX_LANES + lane]);
        }
        context.warp->loaded[items[i].id] = ~view.undefined[i];
    }
    return true;
}

/* bytes: the registers, then a mask of lanes with a value for each. */
static bool store(ptx_machine *machine, ptx_async *async) {
    const uint32_t *registers = (const uint32_t *)(const void *)async->bytes;
    ptx_tensor_view view = grout_ptx__view_tensor(machine, async, 1);
    grout_ptx_access access = grout_ptx__access_tensor(&view);
    grout_ptx_tmem_move move = get_move(async->step);
    grout_ptx_fault fault;
    move.address = (uint32_t)async->numbers[0];
    move.warp = async->warp;
    view.parts = move.is_packed ? 2 : 1;
    view.defined = registers + (size_t)async->step->item_count * PTX_LANES;
    async->is_done = true;
    return grout_ptx__tmem_store(&move, 0, &access, registers, &fault) ||
           grout_ptx__async_fault(machine, async, "%s", fault.text);
}

/* The address that all 32 lanes have, if the move is one that the warp may make. */
static bool get_address(const ptx_context *context, uint64_t *address_out) {
    const ptx_step *step = context->step;
    grout_ptx_tmem_move move = get_move(step);
    grout_ptx_fault fault;
    if (context->lanes != UINT32_MAX) {
        grout_ptx__fault(context, PTX_LANES, "tcgen05.ld and tcgen05.st need all 32 lanes");
        return false;
    }
    if (!grout_ptx__need_same(context, &step->sources[0], "an address of tensor memory",
                              address_out)) {
        return false;
    }
    *address_out = (uint32_t)(*address_out + step->offset);
    move.address = (uint32_t)*address_out;
    move.warp = context->warp->index;
    if (!grout_ptx__tmem_move_check(&move, &fault)) {
        grout_ptx__fault(context, PTX_LANES, "%s", fault.text);
        return false;
    }
    return true;
}

static ptx_outcome run_load(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    ptx_async async = {.kind = PTX_ASYNC_TENSOR_LOAD, .run = load, .pipe.kind = PTX_PIPE_LOAD};
    if (!get_address(context, &async.numbers[0])) {
        return PTX_FAILED;
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        ptx_set_defined(context, &items[i], 0);
        context->warp->loaded[items[i].id] = 0;
    }
    return grout_ptx__start(context, async) ? PTX_NEXT : PTX_FAILED;
}

static ptx_outcome run_store(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_plane *items = context->machine->code->items.items + step->first_item;
    ptx_async async = {.kind = PTX_ASYNC_TENSOR_STORE, .run = store, .pipe.kind = PTX_PIPE_STORE};
    if (!get_address(context, &async.numbers[0])) {
        return PTX_FAILED;
    }
    uint32_t *registers =
        ptx_new(context->machine, (size_t)step->item_count * (PTX_LANES + 1), sizeof *registers);
    if (registers == NULL) {
        grout_diags_add_oom(context->machine->diags);
        return PTX_FAILED;
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        PTX_FOR_LANES(lane, UINT32_MAX) {
            registers[i * PTX_LANES + lane] = (uint32_t)ptx_value(context, &items[i], lane);
        }
        registers[step->item_count * PTX_LANES + i] = ptx_defined(context, &items[i]);
    }
    async.bytes = (uint8_t *)registers;
    return grout_ptx__start(context, async) ? PTX_NEXT : PTX_FAILED;
}

static grout_ptx_tmem_shape get_shape(uint16_t word) {
    switch (word) {
    case PTX_WORD_LD_32X32B:
        return GROUT_PTX_TMEM_32X32B;
    case PTX_WORD_LD_16X64B:
        return GROUT_PTX_TMEM_16X64B;
    case PTX_WORD_LD_16X128B:
        return GROUT_PTX_TMEM_16X128B;
    case PTX_WORD_LD_16X256B:
        return GROUT_PTX_TMEM_16X256B;
    case PTX_WORD_LD_16X32BX2:
        return GROUT_PTX_TMEM_16X32BX2;
    default:
        return GROUT_PTX_TMEM_SHAPE_COUNT;
    }
}

/* load: registers, [address] {, split}; store: [address] {, split}, registers. */
static bool decode_move(ptx_decoder *decoder, bool is_store) {
    ptx_step *step = decoder->step;
    grout_ptx_tmem_shape shape = get_shape(grout_ptx__word(decoder, PTX_CLASS_SHAPE, 0).id);
    uint16_t count = grout_ptx__word(decoder, PTX_CLASS_COUNT, 0).id;
    bool is_split = shape == GROUT_PTX_TMEM_16X32BX2;
    uint32_t operands = is_split ? 3 : 2;
    uint32_t address = is_store ? 0 : 1, values = is_store ? operands - 1 : 0;
    bool is_packed =
        grout_ptx__has(decoder, PTX_WORD_PACK_16B) || grout_ptx__has(decoder, PTX_WORD_UNPACK_16B);
    if (shape == GROUT_PTX_TMEM_SHAPE_COUNT || count < PTX_WORD_X1 || count > PTX_WORD_X128 ||
        grout_ptx__word(decoder, PTX_CLASS_OPERATION, 0).id != PTX_WORD_NONE ||
        decoder->inst->operand_count != operands) {
        return grout_ptx__unknown(decoder, "the emulator does not know this form of '%s'",
                                  grout_ptx__get_op(decoder->inst->op)->text);
    }
    step->run = is_store ? run_store : run_load;
    step->needs_all = true;
    step->detail = (uint32_t)shape | 1u << (count - PTX_WORD_X1) << COUNT_AT |
                   (uint32_t)is_packed << PACKED_AT;
    step->more = is_split ? (uint32_t)grout_ptx__operand(decoder, address + 1)->bits : 0;
    const grout_ptx_tmem_move move = get_move(step);
    return grout_ptx__decode_address(decoder, address, 0) &&
           grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, values), PTX_WORD_B32,
                                   &step->first_item, &step->item_count) &&
           (step->item_count == grout_ptx__tmem_move_registers(&move) ||
            grout_ptx__unknown(decoder, "%u registers: this shape has %u", step->item_count,
                               grout_ptx__tmem_move_registers(&move)));
}

bool grout_ptx__decode_tensor_load(ptx_decoder *decoder) {
    return decode_move(decoder, false);
}

bool grout_ptx__decode_tensor_store(ptx_decoder *decoder) {
    return decode_move(decoder, true);
}

/* What the loads before it have read has a value from here on. */
static ptx_outcome run_wait(ptx_context *context) {
    ptx_warp *warp = context->warp;
    bool is_store = context->step->detail != 0;
    const uint32_t before = 1; /* they have no groups */
    if (grout_ptx__is_under_way(context, is_store ? PTX_ASYNC_TENSOR_STORE : PTX_ASYNC_TENSOR_LOAD,
                                1, &before, false)) {
        return PTX_STAY;
    }
    if (!grout_ptx__observe_groups(context,
                                   is_store ? PTX_ASYNC_TENSOR_STORE : PTX_ASYNC_TENSOR_LOAD,
                                   is_store ? &warp->tensor_stores : &warp->tensor_loads, false)) {
        return PTX_FAILED;
    }
    for (uint32_t i = 0; !is_store && i < context->machine->code->plane_count; i++) {
        warp->defined[i] |= warp->loaded[i];
        warp->loaded[i] = 0;
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_tensor_wait(ptx_decoder *decoder) {
    decoder->step->run = run_wait;
    decoder->step->needs_all = true;
    decoder->step->detail = decoder->inst->op == PTX_OP_TCGEN05_WAIT_ST;
    return true;
}
