/* tensor_memory.c - cells of tensor memory, and who may use them. PTX ISA 9.1, 'Tensor Memory' and
 * 'Tensor Memory Allocation and Management Instructions'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor_memory.h"

#include "decoders.h"
#include "invariant.h"
#include "observe.h"

#include <string.h>

enum { DEFAULT_ARCH = 90, TENSOR_ARCH = 100, NO_TENSOR_ARCH = 120 };
enum { READ_MAX = 16 }; /* bytes of an operand that are read at once */
static const uint32_t UPPER_HALF = 0xffff0000, HALVES = 1u << 16;

/* ---- views ---- */

static bool find_cell(const ptx_tensor_view *view, uint32_t cta, grout_ptx_tmem_cell cell,
                      ptx_tensor **tensor_out, grout_ptx_fault *fault) {
    ptx_tensor *tensor = view->first[cta].tensor;
    *tensor_out = tensor;
    if (tensor == NULL || cell.lane >= GROUT_PTX_TMEM_LANES ||
        cell.column >= GROUT_PTX_TMEM_COLUMNS ||
        !grout_ptx__tmem_is_allocated(&tensor->state, cell.column, 1)) {
        return grout_ptx__fail(
            fault,
            "lane %u, column %u of tensor memory is not allocated (tcgen05.alloc "
            "has to be before it, and tcgen05.dealloc after it)",
            cell.lane, cell.column);
    }
    return true;
}

/* Tells of an access to a cell; a race ends the instruction. */
static bool observe_cell(const ptx_tensor_view *view, const ptx_tensor *tensor, size_t cell,
                         ptx_tensor_touch how, grout_ptx_fault *fault) {
    return tensor->shadow == NULL ||
           grout_ptx__observe_tensor(view->machine, view->async, &tensor->shadow[cell], how) ||
           grout_ptx__fail(fault, "a race");
}

static size_t get_cell(grout_ptx_tmem_cell cell) {
    return (size_t)cell.lane * GROUT_PTX_TMEM_COLUMNS + cell.column;
}

/* A write of some bits, which have a value or none. */
static ptx_tensor_touch describe_write(const ptx_tensor *tensor, size_t cell, uint32_t mask,
                                       uint32_t bits, uint32_t known) {
    const bool is_same = ((tensor->cells[cell] ^ bits) & mask) == 0 &&
                         (tensor->known[cell] & mask) == mask && (known & mask) == mask;
    return is_same ? PTX_TENSOR_SAME_WRITE : PTX_TENSOR_WRITE;
}

/* The tensor memory that has the cell, after an access to it. */
static bool touch_cell(const ptx_tensor_view *view, ptx_tensor_touch how, uint32_t cta,
                       grout_ptx_tmem_cell cell, ptx_tensor **tensor_out, grout_ptx_fault *fault) {
    return find_cell(view, cta, cell, tensor_out, fault) &&
           observe_cell(view, *tensor_out, get_cell(cell), how, fault);
}

/* A register whose lower half alone has a value, as one of a product of f16, counts as one with a
 * value: registers have it as a whole. Its upper half is another one in each run then. */
static bool take_bits(ptx_tensor_view *view, const ptx_tensor *tensor, grout_ptx_tmem_cell cell,
                      uint32_t mask, uint32_t *bits, grout_ptx_fault *fault) {
    uint32_t missing = mask & ~tensor->known[get_cell(cell)];
    bool is_half = view->is_loose && missing == UPPER_HALF;
    bool is_undefined = missing != 0 && !is_half;
    *bits = tensor->cells[get_cell(cell)];
    if (is_half) {
        *bits = (*bits & ~UPPER_HALF) | ((uint32_t)grout_ptx__draw(view->machine, HALVES) << 16);
    }
    if (is_undefined && !view->is_loose) {
        return grout_ptx__fail(fault, "lane %u, column %u of tensor memory was never written",
                               cell.lane, cell.column);
    }
    uint32_t number = view->accesses++ / view->parts;
    if (is_undefined) {
        view->undefined[number / PTX_LANES] |= 1u << number % PTX_LANES;
    }
    return true;
}

/* What a product reads there is an operand. */
static bool read_cell(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                      uint32_t *bits, grout_ptx_fault *fault) {
    ptx_tensor_view *view = machine;
    const bool is_product = view->async->pipe.kind == PTX_PIPE_MULTIPLY;
    ptx_tensor *tensor = NULL;
    return touch_cell(view, is_product ? PTX_TENSOR_OPERAND : PTX_TENSOR_READ, cta, cell, &tensor,
                      fault) &&
           take_bits(view, tensor, cell, mask, bits, fault);
}

static bool read_sums(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                      uint32_t *bits, grout_ptx_fault *fault) {
    ptx_tensor *tensor = NULL;
    return touch_cell(machine, PTX_TENSOR_READ, cta, cell, &tensor, fault) &&
           take_bits(machine, tensor, cell, mask, bits, fault);
}

static bool write_cell(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                       uint32_t bits, grout_ptx_fault *fault) {
    ptx_tensor_view *view = machine;
    ptx_tensor *tensor = NULL;
    if (!find_cell(view, cta, cell, &tensor, fault)) {
        return false;
    }
    uint32_t *value = &tensor->cells[get_cell(cell)], *known = &tensor->known[get_cell(cell)];
    uint32_t number = view->accesses++ / view->parts;
    bool is_defined =
        view->defined == NULL || (view->defined[number / PTX_LANES] >> number % PTX_LANES & 1) != 0;
    const ptx_tensor_touch how =
        describe_write(tensor, get_cell(cell), mask, bits, is_defined ? mask : 0);
    *value = (*value & ~mask) | (bits & mask);
    *known = is_defined ? *known | mask : *known & ~mask;
    return observe_cell(view, tensor, get_cell(cell), how, fault);
}

static bool move_from_cell(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t *bits,
                           uint32_t *known, grout_ptx_fault *fault) {
    ptx_tensor *tensor = NULL;
    if (!touch_cell(machine, PTX_TENSOR_READ, cta, cell, &tensor, fault)) {
        return false;
    }
    *bits = tensor->cells[get_cell(cell)];
    *known = tensor->known[get_cell(cell)];
    return true;
}

static bool move_to_cell(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t bits,
                         uint32_t known, grout_ptx_fault *fault) {
    ptx_tensor *tensor = NULL;
    if (!find_cell(machine, cta, cell, &tensor, fault)) {
        return false;
    }
    const ptx_tensor_touch how = describe_write(tensor, get_cell(cell), UINT32_MAX, bits, known);
    tensor->cells[get_cell(cell)] = bits;
    tensor->known[get_cell(cell)] = known;
    return observe_cell(machine, tensor, get_cell(cell), how, fault);
}

static bool move_shared(void *machine, uint32_t cta, uint32_t address, uint32_t size,
                        grout_ptx_known_bytes to, grout_ptx_fault *fault) {
    const ptx_tensor_view *view = machine;
    ptx_bytes found;
    ptx_cta *owner = NULL;
    if (!grout_ptx__find_shared(&view->first[cta], address, size, &found, &owner)) {
        return grout_ptx__fail(fault, "a matrix descriptor leaves shared memory at 0x%x", address);
    }
    if (!grout_ptx__observe_async(view->machine, view->async, &found, size, false, false)) {
        return grout_ptx__fail(fault, "a race");
    }
    memcpy(to.bytes, found.data, size);
    for (uint32_t i = 0; i < size; i++) {
        to.known[i] = found.known[i] != 0 ? 0xff : 0;
    }
    return true;
}

static bool read_shared(void *machine, uint32_t cta, uint32_t address, uint32_t size,
                        uint8_t *bytes, grout_ptx_fault *fault) {
    uint8_t known[READ_MAX];
    GROUT_ASSERT(size <= READ_MAX);
    const grout_ptx_known_bytes to = {bytes, known};
    if (!move_shared(machine, cta, address, size, to, fault)) {
        return false;
    }
    for (uint32_t i = 0; i < size; i++) {
        if (known[i] == 0) {
            return grout_ptx__fail(fault, "an operand in shared memory, at 0x%x, was never written",
                                   address + i);
        }
    }
    return true;
}

ptx_tensor_view grout_ptx__view_tensor(ptx_machine *machine, const ptx_async *async,
                                       uint32_t ctas) {
    ptx_cta *first = ctas == 2 ? async->own - (async->own->rank & 1) : async->own;
    return (ptx_tensor_view){.machine = machine, .async = async, .first = first, .parts = 1};
}

grout_ptx_access grout_ptx__access_tensor(ptx_tensor_view *view) {
    return (grout_ptx_access){.machine = view,
                              .read_shared = read_shared,
                              .read_tmem = read_cell,
                              .read_sums = read_sums,
                              .write_tmem = write_cell,
                              .move_shared = move_shared,
                              .move_from_tmem = move_from_cell,
                              .move_to_tmem = move_to_cell};
}

void grout_ptx__free_tensor(ptx_tensor *tensor) {
    if (tensor != NULL) {
        grout__free(tensor->shadow);
    }
    grout__free(tensor);
}

ptx_tensor *grout_ptx__get_tensor(ptx_cta *owner) {
    ptx_machine *machine = owner->machine;
    if (owner->tensor == NULL) {
        owner->tensor = ptx_new(machine, 1, sizeof *owner->tensor);
        if (owner->tensor != NULL && machine->order != NULL) {
            owner->tensor->shadow =
                ptx_new(machine, PTX_TENSOR_CELLS, sizeof *owner->tensor->shadow);
        }
        if (owner->tensor == NULL || (machine->order != NULL && owner->tensor->shadow == NULL)) {
            grout_ptx__free_tensor(owner->tensor);
            owner->tensor = NULL;
            grout_diags_add_oom(machine->diags);
            machine->is_failed = true;
        }
    }
    return owner->tensor;
}

bool grout_ptx__end_tensor(const ptx_context *context) {
    grout_ptx_fault fault;
    if (context->cta->tensor == NULL || grout_ptx__tmem_end(&context->cta->tensor->state, &fault)) {
        return true;
    }
    grout_ptx__fault(context, PTX_LANES, "%s", fault.text);
    return false;
}

/* ---- what decoders share ---- */

uint32_t grout_ptx__get_arch(const grout_ptx_module *module) {
    const char *name = grout_ptx__get_name(module, module->target);
    uint32_t arch = 0;
    for (; *name != '\0' && (*name < '0' || *name > '9'); name++) {
    }
    for (; *name >= '0' && *name <= '9'; name++) {
        arch = arch * 10 + (uint32_t)(*name - '0');
    }
    return arch > 0 && arch < 1000 ? arch : DEFAULT_ARCH;
}

bool grout_ptx__decode_group(const ptx_decoder *decoder, uint32_t *ctas_out) {
    uint32_t arch = grout_ptx__get_arch(decoder->module);
    uint16_t group = grout_ptx__word(decoder, PTX_CLASS_GROUP, 0).id;
    *ctas_out = group == PTX_WORD_CTA_GROUP_2 ? 2 : 1;
    if (arch < TENSOR_ARCH || arch >= NO_TENSOR_ARCH) {
        return grout_ptx__unknown(decoder, "no tensor memory is in sm_%u: tcgen05 is of sm_100a",
                                  arch);
    }
    if (group == PTX_WORD_NONE) {
        return grout_ptx__unknown(decoder, "'%s' needs .cta_group::1 or .cta_group::2",
                                  grout_ptx__get_op(decoder->inst->op)->text);
    }
    if (decoder->code->tensor_ctas != 0 && decoder->code->tensor_ctas != *ctas_out) {
        return grout_ptx__unknown(
            decoder, "all instructions of tcgen05 in a kernel have the same .cta_group");
    }
    decoder->code->tensor_ctas = *ctas_out;
    return true;
}

bool grout_ptx__add_item(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type) {
    static const ptx_operand zero = {.kind = PTX_OPERAND_IMMEDIATE};
    uint32_t first = 0, count = 0;
    return grout_ptx__decode_items(decoder, operand != NULL ? operand : &zero, type, &first,
                                   &count) &&
           (count == 1 || grout_ptx__unknown(decoder, "%u values where one should stand", count));
}

bool grout_ptx__add_address(const ptx_decoder *decoder, const ptx_operand *operand) {
    if (operand == NULL) {
        bool has_base = grout_ptx__add_item(decoder, NULL, PTX_WORD_B64);
        return has_base && grout_ptx__add_item(decoder, NULL, PTX_WORD_B64);
    }
    const ptx_operand offset = {.kind = PTX_OPERAND_IMMEDIATE, .bits = operand->bits};
    if (operand->kind != PTX_OPERAND_ADDRESS || operand->count != 1) {
        return grout_ptx__unknown(decoder, "an operand of '%s' should be an address in [ ]",
                                  grout_ptx__get_op(decoder->inst->op)->text);
    }
    const ptx_operand *base = grout_ptx__get_item(decoder->module, operand, 0);
    return grout_ptx__add_item(decoder, base, grout_ptx__get_base_type(base)) &&
           grout_ptx__add_item(decoder, &offset, PTX_WORD_B64);
}

/* ---- allocation ---- */

enum { ALLOC = 1, DEALLOC, RELINQUISH };

/* Does the operation in one CTA. */
static grout_ptx_tmem_answer change(ptx_tensor *tensor, uint32_t operation, uint32_t *place,
                                    uint32_t columns, grout_ptx_fault *fault) {
    bool is_right = true;
    if (operation == ALLOC) {
        return grout_ptx__tmem_alloc(&tensor->state, columns, place, fault);
    }
    is_right = operation == DEALLOC
                   ? grout_ptx__tmem_dealloc(&tensor->state, *place, columns, fault)
                   : grout_ptx__tmem_relinquish(&tensor->state, fault);
    return is_right ? GROUT_PTX_TMEM_DONE : GROUT_PTX_TMEM_FAULT;
}

/* New columns hold nothing. */
static void forget(ptx_tensor *tensor, uint32_t place, uint32_t columns) {
    for (uint32_t lane = 0; lane < GROUT_PTX_TMEM_LANES; lane++) {
        memset(&tensor->known[lane * GROUT_PTX_TMEM_COLUMNS + place], 0,
               columns * sizeof tensor->known[0]);
    }
}

/* A warp that gives columns back knows that all accesses to them are over. */
static bool leave(const ptx_context *context, const ptx_tensor *tensor, uint32_t place,
                  uint32_t columns) {
    bool is_right = true;
    if (context->step->detail != DEALLOC || tensor->shadow == NULL ||
        place > GROUT_PTX_TMEM_COLUMNS || columns > GROUT_PTX_TMEM_COLUMNS - place) {
        return true; /* what is wrong with it is said elsewhere */
    }
    for (uint32_t lane = 0; is_right && lane < GROUT_PTX_TMEM_LANES; lane++) {
        ptx_cell *cells = &tensor->shadow[lane * GROUT_PTX_TMEM_COLUMNS + place];
        is_right = grout_ptx__observe_dealloc(context, cells, columns);
        memset(cells, 0, columns * sizeof cells[0]);
    }
    return is_right;
}

/* In one CTA, or in both of a pair; all of them have the same columns then. */
static ptx_outcome change_all(const ptx_context *context, const ptx_cta *first, uint32_t ctas,
                              uint32_t *place, uint32_t columns) {
    uint32_t operation = context->step->detail, places[2] = {*place, *place};
    grout_ptx_fault fault;
    for (uint32_t i = 0; i < ctas; i++) {
        ptx_tensor *tensor = first[i].tensor;
        grout_ptx_tmem_answer answer = change(tensor, operation, &places[i], columns, &fault);
        if (answer == GROUT_PTX_TMEM_FAULT) {
            return grout_ptx__fault(context, PTX_LANES, "%s", fault.text);
        }
        if (answer == GROUT_PTX_TMEM_WAITS) {
            return PTX_STAY;
        }
        if (operation == ALLOC) {
            forget(tensor, places[i], columns);
        }
    }
    *place = places[0];
    context->machine->events++;
    return PTX_NEXT;
}

/* With .cta_group::2 one warp of each CTA of the pair runs it, and it happens when both are here.
 */
static ptx_outcome change_pair(const ptx_context *context, uint32_t *place, uint32_t columns) {
    ptx_machine *machine = context->machine;
    uint32_t me = context->cta->rank & 1, other = 1 - me;
    ptx_cta *first = context->cta - me;
    if (machine->cluster_size % 2 != 0) {
        return grout_ptx__fault(context, PTX_LANES, ".cta_group::2 in a cluster of %u CTAs",
                                machine->cluster_size);
    }
    ptx_tensor *even = grout_ptx__get_tensor(first);
    if (even == NULL || grout_ptx__get_tensor(first + 1) == NULL) {
        return PTX_FAILED;
    }
    ptx_meeting *meeting = &even->meeting;
    bool is_mine = meeting->warps[me] == context->warp->index;
    if (meeting->is_done[me] && is_mine) {
        meeting->is_done[me] = false;
        *place = meeting->places[me];
        machine->events++;
        return PTX_NEXT;
    }
    if (meeting->is_done[me] || (meeting->is_here[me] && !is_mine)) {
        return PTX_STAY; /* another warp of this CTA is at it */
    }
    if (!meeting->is_here[me]) {
        if (context->step->detail == ALLOC && !grout_ptx__observe_pair(context, &first[other])) {
            return PTX_FAILED;
        }
        meeting->is_here[me] = true;
        meeting->warps[me] = context->warp->index;
        meeting->asked[me] = context->step->detail;
        meeting->places[me] = *place;
        meeting->columns[me] = columns;
        machine->events++;
        if (!leave(context, context->cta->tensor, *place, columns)) {
            return PTX_FAILED;
        }
    }
    if (!meeting->is_here[other]) {
        return PTX_STAY;
    }
    if (meeting->asked[0] != meeting->asked[1] || meeting->columns[0] != meeting->columns[1] ||
        meeting->places[0] != meeting->places[1]) {
        return grout_ptx__fault(context, PTX_LANES,
                                "the two CTAs of a pair do not agree on an allocation: both run "
                                "the same instruction with the same operands");
    }
    ptx_outcome outcome = change_all(context, first, 2, place, columns);
    if (outcome == PTX_NEXT) {
        meeting->is_here[0] = false;
        meeting->is_here[1] = false;
        meeting->is_done[other] = true;
        meeting->places[other] = *place;
    }
    return outcome;
}

/* tcgen05.alloc writes the address to shared memory. */
static ptx_outcome store_place(const ptx_context *context, uint64_t address, uint32_t place) {
    ptx_bytes bytes;
    if (!grout_ptx__find_bytes(context, 0, address, sizeof place, &bytes)) {
        return PTX_FAILED;
    }
    memcpy(bytes.data, &place, sizeof place);
    memset(bytes.known, 0xff, sizeof place);
    context->machine->events++;
    return grout_ptx__observe_lane(context, 0, &bytes, sizeof place, true, NULL) ? PTX_NEXT
                                                                                 : PTX_FAILED;
}

/* detail: the operation; more: CTAs. Sources: the address, the number of columns. */
static ptx_outcome run_allocation(ptx_context *context) {
    const ptx_step *step = context->step;
    uint64_t address = 0, columns = 0;
    if (step->detail != RELINQUISH &&
        (!grout_ptx__need_same(context, &step->sources[0], "an address", &address) ||
         !grout_ptx__need_same(context, &step->sources[1], "a number of columns", &columns))) {
        return PTX_FAILED;
    }
    if (grout_ptx__get_tensor(context->cta) == NULL) {
        return PTX_FAILED;
    }
    uint32_t place = step->detail == DEALLOC ? (uint32_t)address : 0;
    if (step->more != 2 && !leave(context, context->cta->tensor, place, (uint32_t)columns)) {
        return PTX_FAILED;
    }
    ptx_outcome outcome = step->more == 2
                              ? change_pair(context, &place, (uint32_t)columns)
                              : change_all(context, context->cta, 1, &place, (uint32_t)columns);
    return outcome == PTX_NEXT && step->detail == ALLOC
               ? store_place(context, address + step->offset, place)
               : outcome;
}

static bool decode_allocation(ptx_decoder *decoder, uint32_t operation) {
    decoder->step->run = run_allocation;
    decoder->step->needs_all = true;
    decoder->step->detail = operation;
    decoder->step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    return grout_ptx__decode_group(decoder, &decoder->step->more);
}

/* [shared], columns */
bool grout_ptx__decode_tensor_alloc(ptx_decoder *decoder) {
    return decode_allocation(decoder, ALLOC) && grout_ptx__decode_address(decoder, 0, 0) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_U32, 1);
}

/* address, columns */
bool grout_ptx__decode_tensor_dealloc(ptx_decoder *decoder) {
    return decode_allocation(decoder, DEALLOC) &&
           grout_ptx__decode_source(decoder, 0, PTX_WORD_U32, 0) &&
           grout_ptx__decode_source(decoder, 1, PTX_WORD_U32, 1);
}

bool grout_ptx__decode_tensor_relinquish(ptx_decoder *decoder) {
    return decode_allocation(decoder, RELINQUISH);
}
