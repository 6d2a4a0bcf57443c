/* sparse.c - metadata of sparse products: its bits, and its places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sparse.h"

enum { WARP = 32, QUAD = 4, GROUP = 16, HALF = 8, WORD = 32 };

uint32_t grout_ptx__sparse_chunk(grout_ptx_sparsity sparsity) {
    switch (sparsity) {
    case GROUT_PTX_SPARSITY_2_4:
        return 4;
    case GROUT_PTX_SPARSITY_1_2:
        return 2;
    case GROUT_PTX_SPARSITY_4_8:
        return 8;
    }
    return 4;
}

/* The two of four that the bits name. The ISA lists these seven, one of them out of order. */
static bool get_pair(uint32_t bits, uint32_t pair[2]) {
    pair[0] = bits & 3;
    pair[1] = bits >> 2;
    return pair[0] < pair[1] || bits == 6;
}

static bool fail(grout_ptx_fault *fault, uint32_t bits, uint32_t chunk) {
    return grout_ptx__fail(fault, "sparse metadata of 0x%x for chunk %u names no elements", bits,
                           chunk);
}

/* One of two: as if an element were two of 16 bits. */
static bool select_one(uint32_t bits, uint32_t first, uint8_t **kept) {
    *(*kept)++ = (uint8_t)(first + (bits == 0xe ? 1 : 0));
    return bits == 0xe || bits == 4;
}

bool grout_ptx__sparse_select(grout_ptx_sparsity sparsity, const uint8_t *chunks, uint32_t k,
                              uint8_t *kept, grout_ptx_fault *fault) {
    const uint32_t size = grout_ptx__sparse_chunk(sparsity), of_pair = size / 4;
    for (uint32_t chunk = 0; chunk * size < k; chunk++) {
        uint32_t pair[2];
        if (sparsity == GROUT_PTX_SPARSITY_1_2) {
            if (!select_one(chunks[chunk], chunk * size, &kept)) {
                return fail(fault, chunks[chunk], chunk);
            }
            continue;
        }
        if (chunks[chunk] > 0xf || !get_pair(chunks[chunk], pair)) {
            return fail(fault, chunks[chunk], chunk);
        }
        for (uint32_t i = 0; i < 2 * of_pair; i++) {
            *kept++ = (uint8_t)(chunk * size + pair[i / of_pair] * of_pair + i % of_pair);
        }
    }
    return true;
}

/* 16-bit types have 16 bits for 16 elements of a row, tf32 for 8; rows 8 apart share a word. */
grout_ptx_meta_place grout_ptx__wgmma_meta(uint32_t bits, uint32_t selector, uint32_t row,
                                           uint32_t k) {
    const uint32_t warp = row / GROUP * WARP, quad = row % HALF * QUAD, high = row / HALF % 2;
    if (bits == 8) {
        return (grout_ptx_meta_place){warp + quad + high + k / WORD * 2, 0, k % WORD};
    }
    const uint32_t word = bits == 32 ? HALF : GROUP, each = bits == 32 ? 2 : 1;
    return (grout_ptx_meta_place){warp + quad + selector * 2 + k / word % 2, 0,
                                  k % word * each + high * GROUP};
}

grout_ptx_meta_place grout_ptx__tcgen05_meta(uint32_t bits, bool is_rows64, uint32_t row,
                                             uint32_t k) {
    const uint32_t group = row / GROUP * (is_rows64 ? WARP : GROUP), high = row / HALF % 2;
    if (bits <= 8) {
        const uint32_t at = bits == 4 ? k / 2 : k;
        return (grout_ptx_meta_place){group + row % GROUP, at / WORD, at % WORD};
    }
    const uint32_t word = bits == 32 ? HALF : GROUP, each = bits == 32 ? 2 : 1;
    return (grout_ptx_meta_place){group + row % HALF + k / word % 2 * HALF, k / (2 * word),
                                  k % word * each + high * GROUP};
}
