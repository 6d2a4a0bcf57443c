/* swizzle.h - how chunks of bytes trade places in shared memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Swizzling Modes' of tensors, and 'Strides' with 'Swizzling modes' of the matrix
 * descriptors: within 8 lines of 128 bytes, the number of a chunk in its line is combined with the
 * number of the line. The lines are those of the address itself, not of an offset from a base.
 */
#ifndef GROUT_PTX_SWIZZLE_H
#define GROUT_PTX_SWIZZLE_H

#include <stdint.h>

typedef enum grout_ptx_swizzle {
    GROUT_PTX_SWIZZLE_NONE,
    GROUT_PTX_SWIZZLE_32B,
    GROUT_PTX_SWIZZLE_64B,
    GROUT_PTX_SWIZZLE_128B,
    GROUT_PTX_SWIZZLE_128B_ATOM_32B,         /* sm_100: chunks of 32 bytes */
    GROUT_PTX_SWIZZLE_128B_ATOM_32B_FLIP_8B, /* and the halves of each 16 bytes on odd lines */
    GROUT_PTX_SWIZZLE_128B_ATOM_64B,
    GROUT_PTX_SWIZZLE_COUNT
} grout_ptx_swizzle;

/* The width of a row that the mode works on: 32, 64 or 128 bytes, 0 without one. */
uint32_t grout_ptx__swizzle_span(grout_ptx_swizzle mode);

/* Bytes that stay together: 8, 16, 32 or 64; without a mode 16, the unit of every copy. */
uint32_t grout_ptx__swizzle_chunk(grout_ptx_swizzle mode);

/* After how many bytes the pattern repeats, which is what a tile should be aligned to: 128 without
 * a mode. */
uint32_t grout_ptx__swizzle_period(grout_ptx_swizzle mode);

/* Where the byte lies that would be at the address without the mode. Applied twice, it is the
 * address again. */
uint32_t grout_ptx__swizzle(grout_ptx_swizzle mode, uint32_t address);

/* The same with a pattern that begins at a line of its own: first is that line modulo 8, the base
 * offset of a matrix descriptor. */
uint32_t grout_ptx__swizzle_from(grout_ptx_swizzle mode, uint32_t first, uint32_t address);

#endif
