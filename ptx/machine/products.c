/* products.c - wgmma. PTX ISA 9.1, 9.7.15; ptx/tensor has shapes, descriptors, fragments and sums.
 * Each warp of the warpgroup makes its 16 rows of the product, some time between the instruction
 * and the wait for its group; until then what it writes has no value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "fragment.h"
#include "machine.h"
#include "matrix_desc.h"
#include "observe.h"
#include "wgmma.h"

#include <string.h>

enum { ARCH = 90, ROWS = 16, N_MAX = 256, PLANES_OF_WORK = 64 };
/* Sources of a step, and numbers of an operation. */
enum { A_DESC, B_DESC, SCALE_D, META };

/* What the words and numbers of an instruction say, in the step's detail and more. */
static void pack(const grout_ptx_wgmma *it, ptx_step *step) {
    step->detail =
        it->n | it->k << 9 | (uint32_t)it->a << 18 | (uint32_t)it->b << 22 | (uint32_t)it->d << 26;
    step->more = (uint32_t)it->is_sparse | (uint32_t)it->is_a_register << 1 |
                 (uint32_t)it->is_saturating << 2 | (uint32_t)(it->scale_a < 0) << 3 |
                 (uint32_t)(it->scale_b < 0) << 4 | it->transpose_a << 5 | it->transpose_b << 6 |
                 it->selector << 7;
}

static grout_ptx_wgmma unpack(const ptx_step *step) {
    return (grout_ptx_wgmma){.n = step->detail & 511,
                             .k = step->detail >> 9 & 511,
                             .a = (grout_ptx_format)(step->detail >> 18 & 15),
                             .b = (grout_ptx_format)(step->detail >> 22 & 15),
                             .d = (grout_ptx_format)(step->detail >> 26 & 15),
                             .is_sparse = (step->more & 1) != 0,
                             .is_a_register = (step->more >> 1 & 1) != 0,
                             .is_saturating = (step->more >> 2 & 1) != 0,
                             .scale_a = (step->more >> 3 & 1) != 0 ? -1 : 1,
                             .scale_b = (step->more >> 4 & 1) != 0 ? -1 : 1,
                             .transpose_a = step->more >> 5 & 1,
                             .transpose_b = step->more >> 6 & 1,
                             .selector = step->more >> 7 & 3};
}

/* ---- elements ---- */

/* The matrices of one product, for one warp. */
typedef struct ptx_matrices {
    uint32_t a[ROWS * GROUT_PTX_K_MAX * 2], b[N_MAX * GROUT_PTX_K_MAX * 2], d[ROWS * N_MAX];
    uint8_t kept[ROWS * GROUT_PTX_K_MAX];
    /* What has no value: a row of A, a column of B, an element of D. */
    bool unknown_rows[ROWS], unknown_columns[N_MAX], unknown_sums[ROWS * N_MAX];
} ptx_matrices;

typedef struct ptx_product {
    ptx_machine *machine;
    ptx_async *async;
    const ptx_step *step;
    ptx_warp *warp;
    ptx_context context; /* for values of registers */
    grout_ptx_wgmma it;
    ptx_matrices *matrices;
} ptx_product;

/* A matrix in shared memory. */
typedef struct ptx_source_matrix {
    uint64_t bits; /* its descriptor */
    grout_ptx_matrix_desc desc;
    grout_ptx_operand_form form;
    uint32_t first, rows, k; /* which rows, and how long they are */
    bool *unknown;           /* of each row: an element has no value */
} ptx_source_matrix;

/* Row i, element j. */
static bool read_element(const ptx_product *product, const ptx_source_matrix *source, uint32_t i,
                         uint32_t j, uint32_t *value_out) {
    uint32_t address = 0, bit = 0, row = source->first + i;
    uint32_t width = grout_ptx__format_bits(source->form.format), size = width < 8 ? 1 : width / 8;
    ptx_bytes bytes = {NULL, NULL, NULL, NULL};
    ptx_cta *owner = NULL;
    if (!grout_ptx__desc_locate(&source->desc, &source->form, row, j, &address, &bit)) {
        return grout_ptx__async_fault(product->machine, product->async,
                                      "the descriptor 0x%llx has no element (%u, %u)",
                                      (unsigned long long)source->bits, row, j);
    }
    if (!grout_ptx__find_shared(product->warp->cta, address, size, &bytes, &owner)) {
        return grout_ptx__async_fault(product->machine, product->async,
                                      "the descriptor 0x%llx leaves shared memory at 0x%x",
                                      (unsigned long long)source->bits, address);
    }
    if (!grout_ptx__observe_async(product->machine, product->async, &bytes, size, false, false)) {
        return false;
    }
    *value_out = 0;
    for (uint32_t b = 0; b < size; b++) {
        source->unknown[i] = source->unknown[i] || bytes.known[b] == 0;
        *value_out |= (uint32_t)bytes.data[b] << 8 * b;
    }
    return true;
}

static bool read_matrix(const ptx_product *product, ptx_source_matrix source, uint32_t *matrix) {
    grout_ptx_fault fault;
    if (!grout_ptx__desc_decode(source.bits, GROUT_PTX_DESC_WGMMA, ARCH, &source.desc, &fault) ||
        !grout_ptx__desc_check(&source.desc, &source.form, &fault)) {
        return grout_ptx__async_fault(product->machine, product->async, "%s", fault.text);
    }
    for (uint32_t i = 0; i < source.rows; i++) {
        for (uint32_t j = 0; j < source.k; j++) {
            if (!read_element(product, &source, i, j, &matrix[(size_t)i * source.k + j])) {
                return false;
            }
        }
    }
    return true;
}

/* A from registers: the same fragments in each warp. */
static void read_registers(const ptx_product *product, uint32_t k) {
    const ptx_plane *items = product->machine->code->items.items + product->step->first_item2;
    uint32_t bits = grout_ptx__format_bits(product->it.a);
    for (uint32_t i = 0; i < product->step->item_count2; i++) {
        PTX_FOR_LANES(lane, UINT32_MAX) {
            uint64_t value = ptx_value(&product->context, &items[i], lane);
            bool is_known = (ptx_defined(&product->context, &items[i]) >> lane & 1) != 0;
            for (uint32_t j = 0; j < 32 / bits; j++) {
                grout_ptx_place at = grout_ptx__fragment_a(lane, i, j, bits);
                bool *unknown = &product->matrices->unknown_rows[at.row];
                *unknown = *unknown || !is_known;
                product->matrices->a[at.row * k + at.column] =
                    (uint32_t)(value >> bits * j) & (bits == 32 ? UINT32_MAX : (1u << bits) - 1);
            }
        }
    }
}

/* The elements that the chunks of a row keep. PTX ISA has the two places of four in order; an H200
 * takes them in either (tests/differential/sparse.each), so that here only two equal ones are
 * wrong. */
static bool select_kept(const ptx_product *product, grout_ptx_sparsity sparsity,
                        const uint8_t *chunks, uint8_t *kept) {
    grout_ptx_fault fault;
    uint32_t k = product->it.k;
    if (sparsity != GROUT_PTX_SPARSITY_2_4) {
        return grout_ptx__sparse_select(sparsity, chunks, k, kept, &fault) ||
               grout_ptx__async_fault(product->machine, product->async, "%s", fault.text);
    }
    for (uint32_t i = 0; i < k / 4; i++) {
        uint32_t first = chunks[i] & 3u, second = chunks[i] >> 2 & 3u;
        if (first == second) {
            return grout_ptx__async_fault(product->machine, product->async,
                                          "the metadata of chunk %u names element %u twice", i,
                                          first);
        }
        kept[(size_t)2 * i] = (uint8_t)(4 * i + first);
        kept[(size_t)2 * i + 1] = (uint8_t)(4 * i + second);
    }
    return true;
}

/* Which elements of each row a sparse A has, from the registers of its metadata. */
static bool read_metadata(const ptx_product *product) {
    const grout_ptx_wgmma *it = &product->it;
    uint32_t bits = grout_ptx__format_bits(it->a), first = product->warp->index % 4 * ROWS;
    grout_ptx_sparsity sparsity = bits == 32 ? GROUT_PTX_SPARSITY_1_2 : GROUT_PTX_SPARSITY_2_4;
    uint32_t chunk = grout_ptx__sparse_chunk(sparsity);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint8_t chunks[GROUT_PTX_K_MAX] = {0};
        for (uint32_t k = 0; k < it->k; k += chunk) {
            grout_ptx_meta_place place = grout_ptx__wgmma_meta(bits, it->selector, first + row, k);
            uint64_t word =
                ptx_value(&product->context, &product->step->sources[META], place.lane % PTX_LANES);
            chunks[k / chunk] = (uint8_t)(word >> place.bit & 15);
        }
        if (!select_kept(product, sparsity, chunks,
                         product->matrices->kept + (size_t)row * (it->k / 2))) {
            return false;
        }
    }
    return true;
}

/* A register of D in all lanes, into a matrix or back. An element has a value if its row of A, its
 * column of B and what it is added to have. */
static void move_register(const ptx_product *product, uint32_t number, bool is_back) {
    const ptx_plane *item =
        &product->machine->code->items.items[product->step->first_item + number];
    const uint32_t bits = grout_ptx__format_bits(product->it.d), n = product->it.n;
    const uint32_t mask = bits == 32 ? UINT32_MAX : 0xffff;
    uint32_t *words = ptx_words(&product->context, item);
    uint32_t *loaded = &product->warp->loaded[item->id];
    ptx_matrices *matrices = product->matrices;
    const uint32_t known = *loaded;
    uint32_t missing = 0;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        for (uint32_t j = 0; j < 32 / bits; j++) {
            const grout_ptx_place at = grout_ptx__fragment_d(lane, number, j, bits);
            const uint32_t place = at.row * n + at.column;
            if (is_back) {
                const bool is_unknown = matrices->unknown_sums[place] ||
                                        matrices->unknown_rows[at.row] ||
                                        matrices->unknown_columns[at.column];
                words[lane] = (words[lane] & ~(mask << bits * j)) | matrices->d[place] << bits * j;
                missing |= (uint32_t)is_unknown << lane;
            } else {
                matrices->d[place] = words[lane] >> bits * j & mask;
                matrices->unknown_sums[place] = (known >> lane & 1) == 0;
            }
        }
    }
    *loaded = is_back ? ~missing : *loaded;
}

static void move_d(const ptx_product *product, bool is_back) {
    for (uint32_t i = 0; i < product->step->item_count; i++) {
        move_register(product, i, is_back);
    }
}

static bool multiply(ptx_product *product) {
    const grout_ptx_wgmma *it = &product->it;
    const uint64_t *numbers = product->async->numbers;
    grout_ptx_product how = grout_ptx__wgmma_product(it);
    uint32_t stored = it->is_sparse ? it->k / 2 : it->k;
    ptx_source_matrix a = {.bits = numbers[A_DESC],
                           .form = {.kind = GROUT_PTX_DESC_WGMMA,
                                    .format = it->a,
                                    .is_mn_major = it->transpose_a != 0},
                           .first = product->warp->index % 4 * ROWS,
                           .rows = ROWS,
                           .k = stored,
                           .unknown = product->matrices->unknown_rows};
    ptx_source_matrix b = {.bits = numbers[B_DESC],
                           .form = {.kind = GROUT_PTX_DESC_WGMMA,
                                    .format = it->b,
                                    .is_mn_major = it->transpose_b != 0},
                           .rows = it->n,
                           .k = it->k,
                           .unknown = product->matrices->unknown_columns};
    if (it->is_a_register) {
        read_registers(product, stored);
    } else if (!read_matrix(product, a, product->matrices->a)) {
        return false;
    }
    if (!read_matrix(product, b, product->matrices->b) ||
        (it->is_sparse && !read_metadata(product))) {
        return false;
    }
    how.m = ROWS;
    how.is_without_c = numbers[SCALE_D] == 0;
    how.a = product->matrices->a;
    how.b = product->matrices->b;
    how.kept = it->is_sparse ? product->matrices->kept : NULL;
    if (!how.is_without_c) {
        move_d(product, false);
    }
    grout_ptx__multiply(&how, product->matrices->d);
    move_d(product, true);
    return true;
}

static bool run_product(ptx_machine *machine, ptx_async *async) {
    ptx_warp *warp = &async->own->warps[async->warp];
    ptx_product product = {.machine = machine,
                           .async = async,
                           .step = async->step,
                           .warp = warp,
                           .it = unpack(async->step)};
    product.context = (ptx_context){.machine = machine,
                                    .cta = warp->cta,
                                    .warp = warp,
                                    .step = async->step,
                                    .lanes = UINT32_MAX,
                                    .constants = (uint8_t *)machine->code->constants.items};
    product.matrices = ptx_new(machine, 1, sizeof *product.matrices);
    async->is_done = true;
    if (product.matrices == NULL) {
        machine->is_failed = true;
        return grout_diags_add_oom(machine->diags);
    }
    bool is_right = multiply(&product);
    grout__free(product.matrices);
    return is_right;
}

/* ---- the instruction ---- */

static ptx_outcome run_wgmma(ptx_context *context) {
    const ptx_step *step = context->step;
    ptx_warp *warp = context->warp;
    const ptx_plane *items = context->machine->code->items.items;
    ptx_async async = {
        .kind = PTX_ASYNC_PRODUCT, .run = run_product, .group = warp->product_groups};
    bool is_a_register = (step->more >> 1 & 1) != 0, is_sparse = (step->more & 1) != 0;
    if (context->lanes != UINT32_MAX) {
        return grout_ptx__fault(context, PTX_LANES,
                                "a warp of a warpgroup needs all of its 32 lanes");
    }
    if (warp->fenced_at == 0) { /* PTX ISA 9.1, wgmma.fence */
        return grout_ptx__fault(
            context, PTX_LANES,
            "the first wgmma.mma_async of a warp, without a wgmma.fence before");
    }
    if ((!is_a_register && !grout_ptx__need_same(context, &step->sources[A_DESC],
                                                 "the descriptor of a", &async.numbers[A_DESC])) ||
        !grout_ptx__need_same(context, &step->sources[B_DESC], "the descriptor of b",
                              &async.numbers[B_DESC]) ||
        !grout_ptx__need_same(context, &step->sources[SCALE_D], "scale-d",
                              &async.numbers[SCALE_D]) ||
        (is_sparse && !grout_ptx__need(context, &step->sources[META], "the metadata of a"))) {
        return PTX_FAILED;
    }
    if (!grout_ptx__observe_product(context, &items[step->first_item], step->item_count) ||
        (is_a_register &&
         !grout_ptx__observe_product(context, &items[step->first_item2], step->item_count2))) {
        return PTX_FAILED;
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        const ptx_plane *d = &items[step->first_item + i];
        if (warp->flying[d->id] == 0) {
            warp->loaded[d->id] = ptx_defined(context, d);
        }
        warp->flying[d->id] = warp->product_groups + 1;
        warp->defined[d->id] = 0;
    }
    return grout_ptx__start(context, async) ? PTX_NEXT : PTX_FAILED;
}

static bool read_number(const ptx_decoder *decoder, uint32_t i, int64_t *value_out) {
    const ptx_operand *operand =
        i < decoder->inst->operand_count ? grout_ptx__operand(decoder, i) : NULL;
    *value_out = operand != NULL ? (int64_t)operand->bits : 0;
    return operand != NULL && operand->kind == PTX_OPERAND_IMMEDIATE;
}

/* The numbers after scale-d: signs of a and b, then which are transposed; integers have none. */
static bool read_numbers(const ptx_decoder *decoder, uint32_t at, grout_ptx_wgmma *it) {
    int64_t values[4] = {1, 1, 0, 0};
    uint32_t count = decoder->inst->operand_count - at;
    for (uint32_t i = 0; i < count && i < 4; i++) {
        if (!read_number(decoder, at + i, &values[i])) {
            return false;
        }
    }
    it->scale_a = (int32_t)values[0];
    it->scale_b = (int32_t)values[1];
    it->transpose_a = count > 3 ? (uint32_t)values[2] & 1 : 0;
    it->transpose_b = count > 3 ? (uint32_t)values[3] & 1 : count > 2 ? (uint32_t)values[2] & 1 : 0;
    return count <= 4;
}

/* d, a, b {, metadata, selector}, scale-d {, signs {, transposes}} */
bool grout_ptx__decode_wgmma(ptx_decoder *decoder) {
    ptx_step *step = decoder->step;
    grout_ptx_fault fault;
    ptx_word shape = grout_ptx__word(decoder, PTX_CLASS_SHAPE, 0);
    grout_ptx_wgmma it = {
        .n = shape.value >> 10 & 1023,
        .k = shape.value & 1023,
        .is_sparse = grout_ptx__word(decoder, PTX_CLASS_SPARSE, 0).id != PTX_WORD_NONE,
        .is_a_register = grout_ptx__operand(decoder, 1)->kind == PTX_OPERAND_VECTOR,
        .is_saturating = grout_ptx__has(decoder, PTX_WORD_SATFINITE),
        .scale_a = 1,
        .scale_b = 1};
    uint32_t at = 3;
    int64_t selector = 0;
    step->run = run_wgmma;
    step->needs_all = true;
    if (shape.id != PTX_WORD_SHAPE || shape.value >> 20 != 64 ||
        !grout_ptx__get_number_format(grout_ptx__type(decoder, 0), &it.d) ||
        !grout_ptx__get_number_format(grout_ptx__type(decoder, 1), &it.a) ||
        !grout_ptx__get_number_format(grout_ptx__type(decoder, 2), &it.b)) {
        return grout_ptx__unknown(decoder, "the emulator does not know this form of wgmma");
    }
    if (it.is_sparse) {
        if (!grout_ptx__decode_source(decoder, 3, PTX_WORD_B32, META) ||
            !read_number(decoder, 4, &selector)) {
            return grout_ptx__unknown(decoder, "the selector of a sparse wgmma is a number");
        }
        it.selector = (uint32_t)selector;
        at = 5;
    }
    if (at >= decoder->inst->operand_count ||
        !grout_ptx__decode_source(decoder, at, PTX_WORD_PRED, SCALE_D) ||
        !read_numbers(decoder, at + 1, &it)) {
        return grout_ptx__unknown(decoder, "scale-d, signs or transposes of wgmma are missing");
    }
    if (!grout_ptx__wgmma_check(&it, &fault)) {
        return grout_ptx__unknown(decoder, "%s", fault.text);
    }
    pack(&it, step);
    if (!(it.is_a_register
              ? grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, 1), PTX_WORD_B32,
                                        &step->first_item2, &step->item_count2)
              : grout_ptx__decode_source(decoder, 1, PTX_WORD_B64, A_DESC)) ||
        !grout_ptx__decode_source(decoder, 2, PTX_WORD_B64, B_DESC) ||
        !grout_ptx__decode_items(decoder, grout_ptx__operand(decoder, 0), PTX_WORD_B32,
                                 &step->first_item, &step->item_count)) {
        return false;
    }
    for (uint32_t i = 0; i < step->item_count; i++) {
        if (decoder->code->items.items[step->first_item + i].bits != 32) {
            return grout_ptx__unknown(decoder, "register %u of d has not 32 bits", i);
        }
    }
    return (step->item_count == grout_ptx__wgmma_registers(&it) &&
            (!it.is_a_register || step->item_count2 == 4)) ||
           grout_ptx__unknown(decoder, "%u registers of d", step->item_count);
}

/* ---- groups ---- */

/* Which accesses of registers it stands between is looked at with a search for races alone: PTX
 * does not have the registers of the GPU. */
static ptx_outcome run_fence(ptx_context *context) {
    context->warp->fenced_at = context->machine->steps;
    return PTX_NEXT;
}

bool grout_ptx__decode_wgmma_fence(ptx_decoder *decoder) {
    decoder->step->run = run_fence;
    decoder->step->needs_all = true;
    return true;
}

static ptx_outcome run_commit(ptx_context *context) {
    context->warp->product_groups++;
    return PTX_NEXT;
}

bool grout_ptx__decode_wgmma_commit(ptx_decoder *decoder) {
    decoder->step->run = run_commit;
    decoder->step->needs_all = true;
    return true;
}

/* What the groups that have ended wrote has a value from here on. */
static ptx_outcome run_wait(ptx_context *context) {
    ptx_warp *warp = context->warp;
    uint32_t newest = context->step->more,
             before = warp->product_groups > newest ? warp->product_groups - newest : 0;
    if (grout_ptx__is_under_way(context, PTX_ASYNC_PRODUCT, 1, &before, false)) {
        return PTX_STAY;
    }
    if (!grout_ptx__observe_groups(context, PTX_ASYNC_PRODUCT, &before, false)) {
        return PTX_FAILED;
    }
    (void)ptx_may_go_on(context->machine, context->machine->code->plane_count / PLANES_OF_WORK);
    for (uint32_t i = 0; i < context->machine->code->plane_count; i++) {
        if (warp->flying[i] != 0 && warp->flying[i] <= before) {
            warp->flying[i] = 0;
            warp->defined[i] = warp->loaded[i];
        }
    }
    return PTX_NEXT;
}

bool grout_ptx__decode_wgmma_wait(ptx_decoder *decoder) {
    const ptx_operand *count = grout_ptx__operand(decoder, 0);
    decoder->step->run = run_wait;
    decoder->step->needs_all = true;
    decoder->step->more = (uint32_t)count->bits;
    return count->kind == PTX_OPERAND_IMMEDIATE ||
           grout_ptx__unknown(decoder, "how many groups may be under way is a number");
}
