/* run_wgmma.c - the operands of a wgmma, its product, and D.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_wgmma.h"

#include "fragment.h"

#include <stddef.h>

enum { THREADS = GROUT_PTX_WGMMA_THREADS, M = GROUT_PTX_WGMMA_M, WORD = 32, A_REGISTERS = 4 };
enum { ARCH = 90, CHUNK_BITS = 4 };

/* Elements of a row of A as it is stored; words of b1. */
static uint32_t get_row_length(const grout_ptx_wgmma *it) {
    const uint32_t k = it->a == GROUT_PTX_B1 ? it->k / WORD : it->k;
    return it->is_sparse ? k / 2 : k;
}

static void read_a_registers(const grout_ptx_wgmma *it, const uint32_t *registers, uint32_t *a) {
    const uint32_t bits = it->a == GROUT_PTX_B1 ? WORD : grout_ptx__format_bits(it->a);
    const uint32_t length = get_row_length(it);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        for (uint32_t i = 0; i < A_REGISTERS * WORD / bits; i++) {
            const uint32_t number = i / (WORD / bits), element = i % (WORD / bits);
            const grout_ptx_place at = grout_ptx__fragment_a(thread, number, element, bits);
            a[at.row * length + at.column] =
                registers[number * THREADS + thread] >> element * bits &
                (UINT32_MAX >> (WORD - bits));
        }
    }
}

static bool read_matrix(const grout_ptx_wgmma *it, bool is_b, const grout_ptx_wgmma_operands *from,
                        const grout_ptx_access *access, uint32_t *to, grout_ptx_fault *fault) {
    grout_ptx_operand operand = {
        .form = {.kind = GROUT_PTX_DESC_WGMMA,
                 .format = is_b ? it->b : it->a,
                 .is_mn_major = (is_b ? it->transpose_b : it->transpose_a) != 0},
        .rows = is_b ? it->n : M,
        .k = is_b ? grout_ptx__wgmma_product(it).k : get_row_length(it)};
    const uint64_t bits = is_b ? from->b_desc : from->a_desc;
    return grout_ptx__desc_decode(bits, GROUT_PTX_DESC_WGMMA, ARCH, &operand.desc, fault) &&
           grout_ptx__operand_read(&operand, access, to, fault);
}

static bool read_metadata(const grout_ptx_wgmma *it, const uint32_t *metadata, uint8_t *kept,
                          grout_ptx_fault *fault) {
    const grout_ptx_sparsity sparsity =
        it->a == GROUT_PTX_TF32 ? GROUT_PTX_SPARSITY_1_2 : GROUT_PTX_SPARSITY_2_4;
    const uint32_t bits = grout_ptx__format_bits(it->a), size = grout_ptx__sparse_chunk(sparsity);
    for (uint32_t row = 0; row < M; row++) {
        uint8_t chunks[GROUT_PTX_K_MAX / 2] = {0};
        for (uint32_t k = 0; k < it->k; k += size) {
            const grout_ptx_meta_place at = grout_ptx__wgmma_meta(bits, it->selector, row, k);
            chunks[k / size] = (uint8_t)(metadata[at.lane] >> at.bit & ((1u << CHUNK_BITS) - 1));
        }
        if (!grout_ptx__sparse_select(sparsity, chunks, it->k, kept + (size_t)row * it->k / 2,
                                      fault)) {
            return false;
        }
    }
    return true;
}

/* D from registers to rows, or back. */
static void move_d(const grout_ptx_wgmma *it, uint32_t *registers, uint32_t *d, bool is_back) {
    const uint32_t bits = it->d == GROUT_PTX_F16 ? 16 : WORD, packed = WORD / bits;
    for (uint32_t number = 0; number < grout_ptx__wgmma_registers(it); number++) {
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            uint32_t *word = &registers[number * THREADS + thread], all = 0;
            for (uint32_t element = 0; element < packed; element++) {
                const grout_ptx_place at = grout_ptx__fragment_d(thread, number, element, bits);
                uint32_t *place = &d[at.row * it->n + at.column];
                all |= *place << element * bits;
                *place = is_back ? *place : *word >> element * bits & (UINT32_MAX >> (WORD - bits));
            }
            *word = is_back ? all : *word;
        }
    }
}

bool grout_ptx__wgmma_run(const grout_ptx_wgmma *it, const grout_ptx_wgmma_operands *operands,
                          const grout_ptx_access *access, grout_ptx_scratch *scratch,
                          grout_ptx_fault *fault) {
    if (!grout_ptx__wgmma_check(it, fault)) {
        return false;
    }
    if (it->is_a_register) {
        read_a_registers(it, operands->a_registers, scratch->a);
    } else if (!read_matrix(it, false, operands, access, scratch->a, fault)) {
        return false;
    }
    if (!read_matrix(it, true, operands, access, scratch->b, fault) ||
        (it->is_sparse && !read_metadata(it, operands->metadata, scratch->kept, fault))) {
        return false;
    }
    grout_ptx_product product = grout_ptx__wgmma_product(it);
    product.a = scratch->a;
    product.b = scratch->b;
    product.kept = it->is_sparse ? scratch->kept : NULL;
    product.is_without_c = !operands->reads_d;
    if (operands->reads_d) {
        move_d(it, operands->d, scratch->d, false);
    }
    grout_ptx__multiply(&product, scratch->d);
    move_d(it, operands->d, scratch->d, true);
    return true;
}
