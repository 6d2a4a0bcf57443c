/* swizzle.c - the modes as bits of the address that are combined.
 * SPDX-License-Identifier: Apache-2.0 */
#include "swizzle.h"

/* mask: bits of the line number, moved to the bits from 'to' on. */
typedef struct pattern {
    uint32_t span, chunk, period, mask, to;
} pattern;

static const pattern PATTERNS[GROUT_PTX_SWIZZLE_COUNT] = {
    [GROUT_PTX_SWIZZLE_NONE] = {0, 16, 128, 0, 4},
    [GROUT_PTX_SWIZZLE_32B] = {32, 16, 256, 1, 4},
    [GROUT_PTX_SWIZZLE_64B] = {64, 16, 512, 3, 4},
    [GROUT_PTX_SWIZZLE_128B] = {128, 16, 1024, 7, 4},
    [GROUT_PTX_SWIZZLE_128B_ATOM_32B] = {128, 32, 512, 3, 5},
    [GROUT_PTX_SWIZZLE_128B_ATOM_32B_FLIP_8B] = {128, 8, 512, 3, 5},
    [GROUT_PTX_SWIZZLE_128B_ATOM_64B] = {128, 64, 256, 1, 6},
};

uint32_t grout_ptx__swizzle_span(grout_ptx_swizzle mode) {
    return PATTERNS[mode].span;
}

uint32_t grout_ptx__swizzle_chunk(grout_ptx_swizzle mode) {
    return PATTERNS[mode].chunk;
}

uint32_t grout_ptx__swizzle_period(grout_ptx_swizzle mode) {
    return PATTERNS[mode].period;
}

uint32_t grout_ptx__swizzle_from(grout_ptx_swizzle mode, uint32_t first, uint32_t address) {
    const uint32_t line = (address >> 7) - first;
    uint32_t moved = address ^ (line & PATTERNS[mode].mask) << PATTERNS[mode].to;
    if (mode == GROUT_PTX_SWIZZLE_128B_ATOM_32B_FLIP_8B) {
        moved ^= (line & 1) << 3;
    }
    return moved;
}

uint32_t grout_ptx__swizzle(grout_ptx_swizzle mode, uint32_t address) {
    return grout_ptx__swizzle_from(mode, 0, address);
}
