/* run_tcgen05.c - the operands of a tcgen05.mma, its product, and D.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_tcgen05.h"

#include <stddef.h>

enum { CELL = 32, QUARTERS = 4, CHUNK_MASK = 0xf, HALF_MASK = 0xffff };

/* The instruction that runs. */
typedef struct run {
    const grout_ptx_mma_operands *operands;
    const grout_ptx_access *access;
    grout_ptx_scratch *scratch;
    grout_ptx_instr_desc desc;
} run;

static uint32_t get_mask(uint32_t bit, uint32_t bits) {
    return UINT32_MAX >> (CELL - bits) << bit;
}

/* Elements of a row of A as it is stored. */
static uint32_t get_row_length(const run *it) {
    return it->desc.words.is_sparse ? it->desc.k / 2 : it->desc.k;
}

/* A cell from an operand's address on. */
static bool read_cell(const run *it, uint32_t address, const grout_ptx_tmem_element *element,
                      uint32_t *bits, grout_ptx_fault *fault) {
    const grout_ptx_tmem_cell cell = {(address >> 16) + element->cell.lane,
                                      (address & 0xffff) + element->cell.column};
    const uint32_t mask = get_mask(element->bit, element->bits);
    uint32_t word = 0;
    if (cell.lane >= GROUT_PTX_TMEM_LANES || cell.column >= GROUT_PTX_TMEM_COLUMNS) {
        return grout_ptx__fail(fault,
                               "an operand of tcgen05.mma reaches lane %u, column %u of tensor "
                               "memory: there are 128 and 512",
                               cell.lane, cell.column);
    }
    if (!it->access->read_tmem(it->access->machine, element->cell.cta, cell, mask, &word, fault)) {
        return false;
    }
    *bits = (word & mask) >> element->bit;
    return true;
}

/* ---- A and B ---- */

static bool read_shared(const run *it, bool is_b, uint64_t bits, uint32_t *to,
                        grout_ptx_fault *fault) {
    const grout_ptx_instr_desc *desc = &it->desc;
    const uint32_t ctas = desc->words.ctas;
    const grout_ptx_format format = is_b ? desc->b : desc->a;
    grout_ptx_operand operand = {
        .form = {.kind = GROUT_PTX_DESC_TCGEN05,
                 .format = format,
                 .is_mn_major = is_b ? desc->is_b_mn_major : desc->is_a_mn_major,
                 .is_slotted = grout_ptx__instr_is_slotted(desc, format)},
        .rows = (is_b ? desc->n : desc->m) / ctas,
        .k = is_b ? desc->k : get_row_length(it)};
    if (!grout_ptx__desc_decode(bits, GROUT_PTX_DESC_TCGEN05, desc->words.arch, &operand.desc,
                                fault)) {
        return false;
    }
    for (; operand.cta < ctas; operand.cta++) {
        const size_t share = (size_t)operand.rows * operand.k;
        if (!grout_ptx__operand_read(&operand, it->access, to + operand.cta * share, fault)) {
            return false;
        }
    }
    return true;
}

/* An element that is there in several copies has to be the same in all. */
static bool read_a_element(const run *it, uint32_t row, uint32_t index, uint32_t *to,
                           grout_ptx_fault *fault) {
    const uint32_t address = (uint32_t)it->operands->a;
    for (uint32_t copy = 0; copy < grout_ptx__layout_a_copies(&it->desc); copy++) {
        const grout_ptx_tmem_element at = grout_ptx__layout_a(&it->desc, row, index, copy);
        uint32_t bits = 0;
        if (!read_cell(it, address, &at, &bits, fault)) {
            return false;
        }
        if (copy != 0 && bits != *to) {
            return grout_ptx__fail(
                fault,
                "element %u of row %u of A differs between the two halves of the "
                "lanes: M = 128 of two CTAs needs A in both",
                index, row);
        }
        *to = bits;
    }
    return true;
}

static bool read_a(const run *it, grout_ptx_fault *fault) {
    const uint32_t length = get_row_length(it);
    if (!it->desc.words.is_a_tmem) {
        return read_shared(it, false, it->operands->a, it->scratch->a, fault);
    }
    const uint32_t last = grout_ptx__layout_a(&it->desc, 0, length - 1, 0).cell.column;
    if (!grout_ptx__layout_check(&it->desc, "A", (uint32_t)it->operands->a, last + 1, fault)) {
        return false;
    }
    for (uint32_t row = 0; row < it->desc.m; row++) {
        for (uint32_t i = 0; i < length; i++) {
            if (!read_a_element(it, row, i, &it->scratch->a[row * length + i], fault)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- metadata and scales ---- */

static grout_ptx_sparsity get_sparsity(const grout_ptx_instr_desc *desc) {
    if (desc->a == GROUT_PTX_TF32) {
        return GROUT_PTX_SPARSITY_1_2;
    }
    return desc->words.kind == GROUT_PTX_KIND_MXF4 || desc->words.kind == GROUT_PTX_KIND_MXF4NVF4
               ? GROUT_PTX_SPARSITY_4_8
               : GROUT_PTX_SPARSITY_2_4;
}

/* Bits of an element that the metadata's places depend on: those of a byte's slot are 8. */
static uint32_t get_meta_bits(const grout_ptx_instr_desc *desc) {
    return grout_ptx__instr_is_slotted(desc, desc->a) ? 8 : grout_ptx__format_bits(desc->a);
}

static bool read_chunks(const run *it, uint32_t row, uint8_t *chunks, grout_ptx_fault *fault) {
    const grout_ptx_instr_desc *desc = &it->desc;
    const grout_ptx_tmem_layout layout = grout_ptx__layout_of(desc);
    const bool is_rows64 = layout == GROUT_PTX_LAYOUT_C || layout == GROUT_PTX_LAYOUT_F;
    const uint32_t size = grout_ptx__sparse_chunk(get_sparsity(desc));
    uint32_t cta = 0, own = 0;
    grout_ptx__pair_a(desc, row, &cta, &own);
    for (uint32_t k = 0; k < desc->k; k += size) {
        const grout_ptx_meta_place place =
            grout_ptx__tcgen05_meta(get_meta_bits(desc), is_rows64, own, k);
        const grout_ptx_tmem_element at = {
            {cta, place.lane, place.column + desc->selector}, place.bit, 4};
        uint32_t bits = 0;
        if (!read_cell(it, it->operands->metadata, &at, &bits, fault)) {
            return false;
        }
        chunks[k / size] = (uint8_t)(bits & CHUNK_MASK);
    }
    return true;
}

static bool read_metadata(const run *it, grout_ptx_fault *fault) {
    const grout_ptx_instr_desc *desc = &it->desc;
    if (!grout_ptx__layout_check(desc, "the metadata", it->operands->metadata, 1, fault)) {
        return false;
    }
    for (uint32_t row = 0; row < desc->m; row++) {
        uint8_t chunks[GROUT_PTX_K_MAX / 2] = {0};
        uint8_t *kept = it->scratch->kept + (size_t)row * desc->k / 2;
        if (!read_chunks(it, row, chunks, fault) ||
            !grout_ptx__sparse_select(get_sparsity(desc), chunks, desc->k, kept, fault)) {
            return false;
        }
    }
    return true;
}

/* One scale of one CTA, from all quarters that have it. */
static bool read_scale(const run *it, bool is_b, const uint32_t at[3], uint32_t *to,
                       grout_ptx_fault *fault) {
    const uint32_t row = at[0], index = at[1], cta = at[2];
    const uint32_t address = is_b ? it->operands->b_scales : it->operands->a_scales;
    bool is_first = true;
    for (uint32_t quarter = 0; quarter < QUARTERS; quarter++) {
        grout_ptx_tmem_element element;
        uint32_t bits = 0;
        if (!grout_ptx__layout_scale(&it->desc, is_b, row, index, quarter, &element)) {
            continue;
        }
        element.cell.cta = is_b ? cta : element.cell.cta;
        if (!read_cell(it, address, &element, &bits, fault)) {
            return false;
        }
        if (!is_first && bits != *to) {
            return grout_ptx__fail(fault,
                                   "scale %u of %s %u differs between quarters of the lanes: each "
                                   "needs a copy (tcgen05.cp .warpx4)",
                                   index, is_b ? "column" : "row", row);
        }
        *to = bits;
        is_first = false;
    }
    return true;
}

/* Both CTAs have the scales of all of B. */
static bool read_pair_scale(const run *it, bool is_b, uint32_t row, uint32_t index, uint32_t *to,
                            grout_ptx_fault *fault) {
    const uint32_t ctas = is_b ? it->desc.words.ctas : 1;
    uint32_t scales[2] = {0, 0};
    for (uint32_t cta = 0; cta < ctas; cta++) {
        const uint32_t at[3] = {row, index, cta};
        if (!read_scale(it, is_b, at, &scales[cta], fault)) {
            return false;
        }
    }
    if (ctas == 2 && scales[0] != scales[1]) {
        return grout_ptx__fail(fault, "scale %u of column %u differs between the two CTAs", index,
                               row);
    }
    *to = scales[0];
    return true;
}

static bool read_scales(const run *it, bool is_b, uint32_t *to, grout_ptx_fault *fault) {
    const uint32_t rows = is_b ? it->desc.n : it->desc.m, scales = it->desc.scales;
    for (uint32_t i = 0; i < rows * scales; i++) {
        if (!read_pair_scale(it, is_b, i / scales, i % scales, &to[i], fault)) {
            return false;
        }
    }
    return true;
}

/* ---- D ---- */

static bool is_disabled(const run *it, grout_ptx_pair_cell cell) {
    const uint32_t lane = (it->operands->d >> 16) + cell.lane;
    return it->operands->disabled_lanes != NULL &&
           grout_ptx__lane_is_disabled(it->operands->disabled_lanes, cell.cta, lane);
}

/* Reads or writes all of D but disabled lanes. */
static bool move_d(const run *it, bool is_write, grout_ptx_fault *fault) {
    const grout_ptx_instr_desc *desc = &it->desc;
    const grout_ptx_access *access = it->access;
    const uint32_t mask = desc->d == GROUT_PTX_F16 ? HALF_MASK : UINT32_MAX;
    for (uint32_t row = 0; row < desc->m; row++) {
        for (uint32_t column = 0; column < desc->n; column++) {
            const grout_ptx_pair_cell at = grout_ptx__layout_d(desc, row, column);
            const grout_ptx_tmem_cell cell = {(it->operands->d >> 16) + at.lane,
                                              (it->operands->d & 0xffff) + at.column};
            uint32_t *element = &it->scratch->d[row * desc->n + column];
            if (is_disabled(it, at)) {
                continue;
            }
            if (is_write
                    ? !access->write_tmem(access->machine, at.cta, cell, mask, *element, fault)
                    : !access->read_sums(access->machine, at.cta, cell, mask, element, fault)) {
                return false;
            }
            *element &= mask;
        }
    }
    return true;
}

static bool read_operands(const run *it, grout_ptx_fault *fault) {
    const grout_ptx_instr_desc *desc = &it->desc;
    grout_ptx_scratch *scratch = it->scratch;
    return grout_ptx__layout_check(desc, "D", it->operands->d, grout_ptx__layout_d_columns(desc),
                                   fault) &&
           read_a(it, fault) && read_shared(it, true, it->operands->b_desc, scratch->b, fault) &&
           (!desc->words.is_sparse || read_metadata(it, fault)) &&
           (desc->scales == 0 || (read_scales(it, false, scratch->a_scales, fault) &&
                                  read_scales(it, true, scratch->b_scales, fault))) &&
           (!it->operands->reads_d || move_d(it, false, fault));
}

bool grout_ptx__mma_run(const grout_ptx_mma_words *words, const grout_ptx_mma_operands *operands,
                        const grout_ptx_access *access, grout_ptx_scratch *scratch,
                        grout_ptx_fault *fault) {
    run it = {.operands = operands, .access = access, .scratch = scratch};
    if (!grout_ptx__instr_decode(operands->instr, words, &it.desc, fault) ||
        !read_operands(&it, fault)) {
        return false;
    }
    grout_ptx_product product = grout_ptx__instr_product(&it.desc);
    product.a = scratch->a;
    product.b = scratch->b;
    product.kept = words->is_sparse ? scratch->kept : NULL;
    product.a_scales = scratch->a_scales;
    product.b_scales = scratch->b_scales;
    product.is_without_c = !operands->reads_d;
    grout_ptx__multiply(&product, scratch->d);
    return move_d(&it, true, fault);
}
