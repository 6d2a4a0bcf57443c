/* tensor_products.c - tcgen05.mma, cp, shift and commit. PTX ISA 9.1, 'tcgen05.mma', 'tcgen05.cp',
 * 'tcgen05.shift', 'tcgen05.commit', 'Pipelined tcgen05 Instructions'; ptx/tensor/run_tcgen05.h has
 * what they do. A lane alone starts one. It happens some time later, and reads its operands then.
 * A warp's operations happen in the order of their start where the ISA (9.4) calls two a pipeline,
 * operand by operand; those of two warps in any.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "mbarriers.h"
#include "run_tcgen05.h"
#include "tensor_memory.h"

/* M and N in an instruction descriptor, and where N / 8 begins. */
enum { SHAPE_BITS = 0x1f7e0000, N_AT = 17 };

/* Numbers of an operation; the masks are eight words in four numbers. */
enum { D, A, B, INSTR, META, A_SCALES, B_SCALES, READS_D, MASKS };
/* Items of a step: addresses are two, a base and an offset. */
enum {
    ITEM_D = 0,
    ITEM_A = 2,
    ITEM_B = 4,
    ITEM_INSTR = 5,
    ITEM_META = 6,
    ITEM_A_SCALES = 8,
    ITEM_B_SCALES = 10,
    ITEM_READS_D = 12,
    ITEM_MASKS = 13
};

/* ---- the words of a tcgen05.mma, in a step's detail ---- */

static void pack(const grout_ptx_mma_words *words, ptx_step *step) {
    step->detail = (uint32_t)words->kind | words->ctas << 4 | (uint32_t)words->is_sparse << 6 |
                   (uint32_t)words->is_a_tmem << 7 | words->scale_vec << 8 | words->input_d << 12 |
                   words->arch << 16;
}

static grout_ptx_mma_words unpack(const ptx_step *step) {
    return (grout_ptx_mma_words){.kind = (grout_ptx_mma_kind)(step->detail & 15),
                                 .ctas = step->detail >> 4 & 3,
                                 .is_sparse = (step->detail >> 6 & 1) != 0,
                                 .is_a_tmem = (step->detail >> 7 & 1) != 0,
                                 .scale_vec = step->detail >> 8 & 7,
                                 .input_d = step->detail >> 12 & 15,
                                 .arch = step->detail >> 16};
}

static grout_ptx_scratch *get_scratch(ptx_machine *machine) {
    if (machine->scratch == NULL) {
        machine->scratch = ptx_new(machine, 1, sizeof *machine->scratch);
        if (machine->scratch == NULL) {
            machine->is_failed = true;
            grout_diags_add_oom(machine->diags);
        }
    }
    return machine->scratch;
}

static bool multiply(ptx_machine *machine, ptx_async *async) {
    const ptx_step *step = async->step;
    const uint64_t *numbers = async->numbers;
    grout_ptx_mma_words words = unpack(step);
    ptx_tensor_view view = grout_ptx__view_tensor(machine, async, words.ctas);
    grout_ptx_access access = grout_ptx__access_tensor(&view);
    grout_ptx_scratch *scratch = get_scratch(machine);
    uint32_t masks[8] = {0};
    grout_ptx_fault fault;
    for (uint32_t i = 0; i < 8; i++) {
        masks[i] = (uint32_t)(numbers[MASKS + i / 2] >> 32 * (i % 2));
    }
    const grout_ptx_mma_operands operands = {.d = (uint32_t)numbers[D],
                                             .a = numbers[A],
                                             .b_desc = numbers[B],
                                             .instr = (uint32_t)numbers[INSTR],
                                             .metadata = (uint32_t)numbers[META],
                                             .a_scales = (uint32_t)numbers[A_SCALES],
                                             .b_scales = (uint32_t)numbers[B_SCALES],
                                             .reads_d = numbers[READS_D] != 0,
                                             .disabled_lanes = step->more != 0 ? masks : NULL};
    async->is_done = true;
    return scratch != NULL && (grout_ptx__mma_run(&words, &operands, &access, scratch, &fault) ||
                               grout_ptx__async_fault(machine, async, "%s", fault.text));
}

/* tcgen05.cp: detail has the shape, the format and the CTAs. */
static bool copy(ptx_machine *machine, ptx_async *async) {
    uint32_t detail = async->step->detail;
    grout_ptx_copy it = {.shape = (grout_ptx_copy_shape)(detail & 15),
                         .format = (grout_ptx_copy_format)(detail >> 4 & 3),
                         .ctas = detail >> 6 & 3,
                         .arch = detail >> 8,
                         .address = (uint32_t)async->numbers[D],
                         .desc = async->numbers[A]};
    ptx_tensor_view view = grout_ptx__view_tensor(machine, async, it.ctas);
    grout_ptx_access access = grout_ptx__access_tensor(&view);
    grout_ptx_fault fault;
    async->is_done = true;
    return grout_ptx__copy_run(&it, &access, &fault) ||
           grout_ptx__async_fault(machine, async, "%s", fault.text);
}

static bool shift(ptx_machine *machine, ptx_async *async) {
    uint32_t ctas = async->step->detail;
    ptx_tensor_view view = grout_ptx__view_tensor(machine, async, ctas);
    grout_ptx_access access = grout_ptx__access_tensor(&view);
    grout_ptx_fault fault;
    async->is_done = true;
    return grout_ptx__shift_run((uint32_t)async->numbers[D], ctas, &access, &fault) ||
           grout_ptx__async_fault(machine, async, "%s", fault.text);
}

/* tcgen05.commit: one arrival at the mbarrier, or at the one at the same place in each CTA of a
 * mask. Numbers: the address, the mask. */
static bool commit(ptx_machine *machine, ptx_async *async) {
    uint64_t address = async->numbers[D];
    async->is_done = true;
    if (async->step->mask_source == 0) {
        return grout_ptx__arrive_at(machine, async, address);
    }
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        if ((async->numbers[A] >> i & 1) != 0 &&
            !grout_ptx__arrive_at(machine, async, ptx_map_shared(i, address))) {
            return false;
        }
    }
    return true;
}

/* ---- order ---- */

static bool is_same_warp(const ptx_async *a, const ptx_async *b) {
    return a->cta == b->cta && a->warp == b->warp;
}

static bool is_same_thread(const ptx_async *a, const ptx_async *b) {
    return is_same_warp(a, b) && a->lane == b->lane;
}

/* Columns of tensor memory that an operation accesses, and what they are to it. */
typedef struct ptx_part {
    ptx_pipe pipe;
    uint32_t first, count;
} ptx_part;

enum { PARTS_MAX = 5, OPERAND_COLUMNS = 32, COPY_COLUMNS = 8, COLUMN_MASK = 0x1ff };

static void add_part(const ptx_async *async, bool is_operand, uint64_t address, uint32_t columns,
                     ptx_part *part_out) {
    *part_out = (ptx_part){async->pipe, (uint32_t)address & COLUMN_MASK, columns};
    part_out->pipe.is_operand = is_operand;
}

/* Operands may have fewer columns than they are taken to have here: two operations that share none
 * may happen in the order of their start, too. */
static uint32_t list_parts(const ptx_async *async, ptx_part *parts) {
    const uint64_t *numbers = async->numbers;
    uint32_t count = 0;
    if (async->pipe.kind != PTX_PIPE_MULTIPLY) {
        add_part(async, false, numbers[D], COPY_COLUMNS, &parts[count++]);
        return count;
    }
    const grout_ptx_mma_words words = unpack(async->step);
    add_part(async, false, numbers[D], (numbers[INSTR] >> N_AT & 0x3f) * 8, &parts[count++]);
    if (words.is_a_tmem) {
        add_part(async, true, numbers[A], OPERAND_COLUMNS, &parts[count++]);
    }
    if (words.is_sparse) {
        add_part(async, true, numbers[META], OPERAND_COLUMNS, &parts[count++]);
    }
    if (words.kind >= GROUT_PTX_KIND_MXF8F6F4) {
        add_part(async, true, numbers[A_SCALES], OPERAND_COLUMNS, &parts[count++]);
        add_part(async, true, numbers[B_SCALES], OPERAND_COLUMNS, &parts[count++]);
    }
    return count;
}

/* Columns go on from the last one to the first one. */
static bool share_columns(const ptx_part *a, const ptx_part *b) {
    return ((a->first - b->first) & COLUMN_MASK) < b->count ||
           ((b->first - a->first) & COLUMN_MASK) < a->count;
}

static bool is_pipeline(const ptx_async *earlier, const ptx_async *later) {
    ptx_part first[PARTS_MAX], then[PARTS_MAX];
    if (earlier->kind != PTX_ASYNC_TENSOR || later->kind != PTX_ASYNC_TENSOR) {
        return grout_ptx__is_pipeline(&earlier->pipe, &later->pipe);
    }
    const uint32_t count = list_parts(earlier, first), others = list_parts(later, then);
    for (uint32_t i = 0; i < count * others; i++) {
        const ptx_part *a = &first[i / others], *b = &then[i % others];
        if (grout_ptx__is_pipeline_anywhere(&a->pipe, &b->pipe) ||
            (share_columns(a, b) && grout_ptx__is_pipeline(&a->pipe, &b->pipe))) {
            return true;
        }
    }
    return false;
}

/* Whether the later one waits for the earlier one: a commit, for all of its own thread. */
static bool waits_for(const ptx_async *later, const ptx_async *earlier) {
    if (later->run == commit || earlier->run == commit) {
        return later->run == commit && earlier->run != commit &&
               earlier->kind == PTX_ASYNC_TENSOR && is_same_thread(earlier, later);
    }
    return is_same_warp(earlier, later) && is_pipeline(earlier, later);
}

bool grout_ptx__tensor_may_happen(const ptx_machine *machine, size_t index) {
    const ptx_async *async = &machine->asyncs.items[index];
    for (size_t i = 0; i < index; i++) {
        const ptx_async *earlier = &machine->asyncs.items[i];
        if (earlier->kind != PTX_ASYNC_GONE && waits_for(async, earlier)) {
            return false;
        }
    }
    return true;
}

/* ---- tcgen05.mma ---- */

static bool check_pair(const ptx_context *context, uint32_t ctas) {
    if (ctas == 2 && context->machine->cluster_size % 2 != 0) {
        grout_ptx__fault(context, PTX_LANES, ".cta_group::2 in a cluster of %u CTAs",
                         context->machine->cluster_size);
        return false;
    }
    return true;
}

static uint64_t get_item(const ptx_context *context, uint32_t item, uint32_t lane) {
    return ptx_value(context,
                     &context->machine->code->items.items[context->step->first_item + item], lane);
}

static uint32_t get_place(const ptx_context *context, uint32_t item, uint32_t lane) {
    return (uint32_t)(get_item(context, item, lane) + get_item(context, item + 1, lane));
}

static bool need_items(const ptx_context *context, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!grout_ptx__need(context,
                             &context->machine->code->items.items[context->step->first_item + i],
                             "an operand of tcgen05")) {
            return false;
        }
    }
    return true;
}

static ptx_outcome run_mma(ptx_context *context) {
    const ptx_step *step = context->step;
    grout_ptx_mma_words words = unpack(step);
    if (!need_items(context, ITEM_MASKS + step->more) || !check_pair(context, words.ctas)) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async async = {.kind = PTX_ASYNC_TENSOR, .run = multiply, .lane = lane};
        async.numbers[D] = get_place(context, ITEM_D, lane);
        async.numbers[A] =
            words.is_a_tmem ? get_place(context, ITEM_A, lane) : get_item(context, ITEM_A, lane);
        async.numbers[B] = get_item(context, ITEM_B, lane);
        async.numbers[INSTR] = get_item(context, ITEM_INSTR, lane);
        async.numbers[META] = get_place(context, ITEM_META, lane);
        async.numbers[A_SCALES] = get_place(context, ITEM_A_SCALES, lane);
        async.numbers[B_SCALES] = get_place(context, ITEM_B_SCALES, lane);
        async.numbers[READS_D] = get_item(context, ITEM_READS_D, lane);
        async.pipe =
            (ptx_pipe){.kind = PTX_PIPE_MULTIPLY,
                       .result = async.numbers[D] << 32 | (async.numbers[INSTR] & SHAPE_BITS)};
        for (uint32_t i = 0; i < step->more; i++) {
            async.numbers[MASKS + i / 2] |= (get_item(context, ITEM_MASKS + i, lane) & UINT32_MAX)
                                            << 32 * (i % 2);
        }
        if (!grout_ptx__start(context, async)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

static bool choose_kind(const ptx_decoder *decoder, grout_ptx_mma_words *words) {
    static const struct {
        grout_ptx_mma_kind kind;
        uint16_t word;
        uint8_t block16, block32;
    } kinds[] = {{GROUT_PTX_KIND_F16, PTX_WORD_KIND_F16, 0, 0},
                 {GROUT_PTX_KIND_TF32, PTX_WORD_KIND_TF32, 0, 0},
                 {GROUT_PTX_KIND_F8F6F4, PTX_WORD_KIND_F8F6F4, 0, 0},
                 {GROUT_PTX_KIND_I8, PTX_WORD_KIND_I8, 0, 0},
                 {GROUT_PTX_KIND_MXF8F6F4, PTX_WORD_KIND_MXF8F6F4, 0, 1},
                 {GROUT_PTX_KIND_MXF4, PTX_WORD_KIND_MXF4, 0, 2},
                 {GROUT_PTX_KIND_MXF4NVF4, PTX_WORD_KIND_MXF4NVF4, 4, 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!grout_ptx__has(decoder, (ptx_word_id)kinds[i].word)) {
            continue;
        }
        words->kind = kinds[i].kind;
        words->scale_vec = grout_ptx__has(decoder, PTX_WORD_SCALE_VEC_1X)   ? 1
                           : grout_ptx__has(decoder, PTX_WORD_SCALE_VEC_2X) ? 2
                           : grout_ptx__has(decoder, PTX_WORD_SCALE_VEC_4X) ? 4
                           : grout_ptx__has(decoder, PTX_WORD_BLOCK16)      ? kinds[i].block16
                           : grout_ptx__has(decoder, PTX_WORD_BLOCK32)      ? kinds[i].block32
                                                                            : 0;
        return true;
    }
    return grout_ptx__unknown(decoder, "tcgen05.mma needs a .kind that the emulator knows");
}

/* The operand after the others, if there is one that is no vector. */
static const ptx_operand *take(const ptx_decoder *decoder, uint32_t *at) {
    return *at < decoder->inst->operand_count ? grout_ptx__operand(decoder, (*at)++) : NULL;
}

/* [d], a, b {, [metadata]}, descriptor {, [scales of a], [scales of b]} {, {lanes}}, enable-input-d
 * {, scale-input-d}; the descriptor is before the metadata's or after it by the words. */
static bool add_operands(ptx_decoder *decoder, grout_ptx_mma_words *words, bool is_scaled) {
    ptx_step *step = decoder->step;
    uint32_t at = 3, first = 0, count = 0;
    const ptx_operand *a = grout_ptx__operand(decoder, 1), *meta = NULL, *scales[2] = {NULL, NULL};
    meta = words->is_sparse ? take(decoder, &at) : NULL;
    const ptx_operand *instr = take(decoder, &at);
    for (uint32_t i = 0; is_scaled && i < 2; i++) {
        scales[i] = take(decoder, &at);
    }
    const ptx_operand *masks = take(decoder, &at), *reads = masks, *input = NULL;
    if (masks != NULL && masks->kind == PTX_OPERAND_VECTOR) {
        reads = take(decoder, &at);
        step->more = masks->count;
    } else {
        masks = NULL;
    }
    input = take(decoder, &at);
    if (instr == NULL || reads == NULL || at != decoder->inst->operand_count ||
        (is_scaled && scales[1] == NULL) ||
        (masks != NULL && (is_scaled || masks->count != 4 * words->ctas)) ||
        (input != NULL && (input->kind != PTX_OPERAND_IMMEDIATE || input->bits > 15))) {
        return grout_ptx__unknown(decoder, "the emulator does not know these operands of "
                                           "tcgen05.mma");
    }
    words->input_d = input != NULL ? (uint32_t)input->bits : 0;
    return grout_ptx__add_address(decoder, grout_ptx__operand(decoder, 0)) &&
           (words->is_a_tmem ? grout_ptx__add_address(decoder, a)
                             : grout_ptx__add_item(decoder, a, PTX_WORD_B64) &&
                                   grout_ptx__add_item(decoder, NULL, PTX_WORD_B64)) &&
           grout_ptx__add_item(decoder, grout_ptx__operand(decoder, 2), PTX_WORD_B64) &&
           grout_ptx__add_item(decoder, instr, PTX_WORD_U32) &&
           grout_ptx__add_address(decoder, meta) && grout_ptx__add_address(decoder, scales[0]) &&
           grout_ptx__add_address(decoder, scales[1]) &&
           grout_ptx__add_item(decoder, reads, PTX_WORD_PRED) &&
           (masks == NULL || grout_ptx__decode_items(decoder, masks, PTX_WORD_B32, &first, &count));
}

/* Words for the collector are hints to a buffer of A, and change no value. */
bool grout_ptx__decode_tensor_mma(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    grout_ptx_mma_words words = {
        .arch = grout_ptx__get_arch(decoder->module),
        .is_sparse = grout_ptx__word(decoder, PTX_CLASS_SPARSE, 0).id != PTX_WORD_NONE,
        .is_a_tmem = grout_ptx__operand(decoder, 1)->kind == PTX_OPERAND_ADDRESS};
    bool is_scaled = grout_ptx__has(decoder, PTX_WORD_BLOCK_SCALE);
    if (!grout_ptx__decode_group(decoder, &words.ctas) || !choose_kind(decoder, &words)) {
        return false;
    }
    if (grout_ptx__has(decoder, PTX_WORD_WS)) {
        return grout_ptx__unknown(decoder, "the emulator does not run 'tcgen05.mma.ws' yet");
    }
    if (is_scaled != (words.kind >= GROUT_PTX_KIND_MXF8F6F4)) {
        return grout_ptx__unknown(decoder, ".block_scale is of the kinds mxf8f6f4, mxf4 and "
                                           "mxf4nvf4, and they need it");
    }
    step->run = run_mma;
    step->first_item = (uint32_t)decoder->code->items.count;
    if (!add_operands(decoder, &words, is_scaled)) {
        return false;
    }
    pack(&words, step);
    return true;
}

/* ---- tcgen05.cp, shift, commit ---- */

static ptx_outcome start_all(const ptx_context *context, ptx_async_routine *routine,
                             ptx_pipe_kind pipe, uint32_t items) {
    if (!need_items(context, items)) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async async = {
            .kind = PTX_ASYNC_TENSOR, .run = routine, .lane = lane, .pipe.kind = pipe};
        async.numbers[D] = get_place(context, ITEM_D, lane);
        async.numbers[A] = items > ITEM_A ? get_item(context, ITEM_A, lane) : 0;
        if (!grout_ptx__start(context, async)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

static ptx_outcome run_copy(ptx_context *context) {
    bool is_4x256b = (context->step->detail & 15) == GROUT_PTX_COPY_4X256B;
    return check_pair(context, context->step->detail >> 6 & 3)
               ? start_all(context, copy, is_4x256b ? PTX_PIPE_COPY_4X256B : PTX_PIPE_COPY,
                           ITEM_A + 1)
               : PTX_FAILED;
}

static ptx_outcome run_shift(ptx_context *context) {
    return check_pair(context, context->step->detail)
               ? start_all(context, shift, PTX_PIPE_SHIFT, ITEM_A)
               : PTX_FAILED;
}

/* The shape with its .warpx words, which belong to it. */
static grout_ptx_copy_shape get_shape(const ptx_decoder *decoder) {
    static const struct {
        uint16_t shape, multicast;
        grout_ptx_copy_shape it;
    } shapes[] = {
        {PTX_WORD_CP_128X256B, PTX_WORD_NONE, GROUT_PTX_COPY_128X256B},
        {PTX_WORD_CP_128X128B, PTX_WORD_NONE, GROUT_PTX_COPY_128X128B},
        {PTX_WORD_CP_4X256B, PTX_WORD_NONE, GROUT_PTX_COPY_4X256B},
        {PTX_WORD_CP_64X128B, PTX_WORD_WARPX2_02_13, GROUT_PTX_COPY_64X128B_02_13},
        {PTX_WORD_CP_64X128B, PTX_WORD_WARPX2_01_23, GROUT_PTX_COPY_64X128B_01_23},
        {PTX_WORD_CP_32X128B, PTX_WORD_WARPX4, GROUT_PTX_COPY_32X128B},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (grout_ptx__word(decoder, PTX_CLASS_SHAPE, 0).id == shapes[i].shape &&
            grout_ptx__word(decoder, PTX_CLASS_MULTICAST, 0).id == shapes[i].multicast) {
            return shapes[i].it;
        }
    }
    return GROUT_PTX_COPY_SHAPE_COUNT;
}

/* [address], matrix descriptor */
bool grout_ptx__decode_tensor_cp(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    uint32_t ctas = 0;
    grout_ptx_copy_shape shape = get_shape(decoder);
    grout_ptx_copy_format format =
        grout_ptx__has(decoder, PTX_WORD_B6X16_P32)   ? GROUT_PTX_COPY_B6X16_P32
        : grout_ptx__has(decoder, PTX_WORD_B4X16_P64) ? GROUT_PTX_COPY_B4X16_P64
                                                      : GROUT_PTX_COPY_PLAIN;
    if (!grout_ptx__decode_group(decoder, &ctas)) {
        return false;
    }
    if (shape == GROUT_PTX_COPY_SHAPE_COUNT) {
        return grout_ptx__unknown(decoder, "tcgen05.cp has no such shape and multicast");
    }
    step->run = run_copy;
    step->detail = (uint32_t)shape | (uint32_t)format << 4 | ctas << 6 |
                   grout_ptx__get_arch(decoder->module) << 8;
    step->first_item = (uint32_t)decoder->code->items.count;
    return grout_ptx__add_address(decoder, grout_ptx__operand(decoder, 0)) &&
           grout_ptx__add_item(decoder, grout_ptx__operand(decoder, 1), PTX_WORD_B64);
}

/* [address] */
bool grout_ptx__decode_tensor_shift(ptx_decoder *decoder) {
    decoder->step->run = run_shift;
    decoder->step->first_item = (uint32_t)decoder->code->items.count;
    if (!grout_ptx__has(decoder, PTX_WORD_DOWN)) {
        return grout_ptx__unknown(decoder, "tcgen05.shift goes .down");
    }
    return grout_ptx__decode_group(decoder, &decoder->step->detail) &&
           grout_ptx__add_address(decoder, grout_ptx__operand(decoder, 0));
}

static ptx_outcome run_commit(ptx_context *context) {
    const ptx_step *step = context->step;
    grout_ptx_fault fault;
    if (!grout_ptx__need(context, &step->sources[0], "the address of an mbarrier") ||
        (step->mask_source != 0 &&
         !grout_ptx__need(context, &step->sources[1], "the CTAs of a commit")) ||
        !check_pair(context, step->detail)) {
        return PTX_FAILED;
    }
    PTX_FOR_LANES(lane, context->lanes) {
        ptx_async async = {.kind = PTX_ASYNC_TENSOR, .run = commit, .lane = lane};
        uint64_t address = ptx_address(context, &step->sources[0], lane);
        async.numbers[D] = step->space == PTX_WORD_NONE ? address - PTX_WINDOW_SHARED : address;
        if (step->mask_source != 0) {
            async.numbers[A] = ptx_value(context, &step->sources[1], lane) & 0xffff;
            if (!grout_ptx__commit_check((uint32_t)async.numbers[A], context->machine->cluster_size,
                                         &fault)) {
                return grout_ptx__fault(context, lane, "%s", fault.text);
            }
        }
        if (!grout_ptx__start(context, async)) {
            return PTX_FAILED;
        }
    }
    return PTX_NEXT;
}

/* [mbarrier] {, CTAs} */
bool grout_ptx__decode_tensor_commit(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    step->run = run_commit;
    step->space = grout_ptx__word(decoder, PTX_CLASS_SPACE, 0).id;
    step->mask_source = grout_ptx__has(decoder, PTX_WORD_MULTICAST);
    if (decoder->inst->operand_count != (step->mask_source != 0 ? 2u : 1u)) {
        return grout_ptx__unknown(decoder,
                                  "tcgen05.commit has a mask with .multicast::cluster, and "
                                  "only then");
    }
    return grout_ptx__decode_group(decoder, &step->detail) &&
           grout_ptx__decode_address(decoder, 0, 0) &&
           (step->mask_source == 0 || grout_ptx__decode_source(decoder, 1, PTX_WORD_U16, 1));
}
