/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - where the elements of an object lie in its bytes, and the bytes of a box of elements.
 */
#ifndef GROUT_INTERNAL_LAYOUT_H
#define GROUT_INTERNAL_LAYOUT_H

#include "grout-internal/spaces.h"
#include "grout/module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GROUT_BANKS            32u /* of SMEM, of 4 bytes each */
#define GROUT_ADDRESS_BITS_MAX 18  /* of a byte address in SMEM */

/*
 * Physical layout of an object: where each element lies. Element (i0, ..) of an smem array with
 * 'transpose(p..)' is stored as if its dimensions stood in the order p; with 'tile(t..)' the last
 * dimensions are cut into tiles, tiles in row-major order, each tile row-major (JAX: a
 * TilingTransform); 'swizzle(W)' then exchanges 16-byte chunks: byte address a goes to a ^ ((a >> 7
 * & W/16-1) << 4). Objects start at multiples of 1024, so offsets are as good as addresses.
 * A 'layout("..")' of the user's own has digits as well, and may then send every bit of the byte
 * address to a set of bits (is_custom, address_bits); no engine reads it.
 * Sources: PTX ISA 9.1 'Shared memory swizzle modes'; docs/hardware.md.
 */
typedef struct grout_layout {
    uint8_t rank;       /* of the object */
    uint8_t tiled_rank; /* number of (dimension, divisor) digits */
    uint8_t element_bytes;
    uint32_t swizzle;     /* 0, 32, 64 or 128 bytes */
    bool is_custom;       /* written as 'layout("..")' */
    uint8_t address_bits; /* 0: the digits add up to the address; else bits that are permuted */
    uint32_t chunk;       /* bytes that the permutation of the address keeps together */
    uint32_t period;      /* boxes moved by a multiple of it, in bytes, keep their shape */
    uint32_t images[GROUT_ADDRESS_BITS_MAX];  /* of address bit k: the bits that it sets */
    uint32_t origins[GROUT_ADDRESS_BITS_MAX]; /* the inverse */
    /* digit k of the address: (index[dim[k]] / divisor[k]) % extent[k], times stride[k] bytes */
    uint8_t dim[2 * GROUT_RANK_MAX];
    int64_t divisor[2 * GROUT_RANK_MAX];
    int64_t extent[2 * GROUT_RANK_MAX];
    int64_t stride[2 * GROUT_RANK_MAX];
    int64_t bytes; /* size of the object */
} grout_layout;

/* The tile and swizzle that 'tile(infer)' became: tiles of the last rank dimensions, in elements.
 */
typedef struct grout_tiling {
    uint8_t rank; /* 0: there are none, the array lies in rows, of swizzle bytes if it has one */
    int64_t tile[GROUT_RANK_MAX];
    uint32_t swizzle; /* 0, 32, 64 or 128 bytes */
} grout_tiling;

/* "tile(8, 64) swizzle(128)", as a kernel writes it, "swizzle(128)" or "no tile". */
typedef struct grout_tiling_text {
    char chars[64];
} grout_tiling_text;
grout_tiling_text grout_tiling_get_text(const grout_tiling *tiling);

/* Byte offset of an element inside its object; indices must lie inside. */
int64_t grout_layout_get_offset(const grout_layout *layout, const int64_t *index);
/* Those of count elements along a dimension, the first at the index; all must lie inside. */
void grout_layout_get_offsets(const grout_layout *layout, const int64_t *index, uint32_t dim,
                              int64_t *offsets, uint32_t count);
/* The index of the element that holds a byte; of a byte between rows, one beside it. */
void grout_layout_get_index(const grout_layout *layout, int64_t offset, int64_t *index);
/* True if the layout is plain row-major: no tiles, no swizzle, no transposition. */
bool grout_layout_is_plain(const grout_layout *layout);

/*
 * The bytes of a box of an object (start and extent for each dimension of the layout, extents at
 * least 1, all inside), as a set: no byte twice, pieces in ascending order over all runs, adjacent
 * pieces merged. Whole rows, tiles and slots come out as one run even if the bytes inside are tiled
 * or swizzled, and a plain 2-dimensional box is one run with a stride. Writes the first max runs
 * (runs may be NULL when max is 0) and returns the number of all. Offsets count from the start of
 * the object.
 */
int64_t grout_layout_get_runs(const grout_layout *layout, const int64_t *start,
                              const int64_t *extent, grout_run *runs, int64_t max);

/* A piece of a copy: elements that follow each other both in the box and in memory. */
typedef struct grout_piece {
    int64_t element; /* row-major index in the box of the first one */
    int64_t offset;  /* bytes from the start of the object */
    int64_t length;  /* bytes */
} grout_piece;

/*
 * The same box in logical order: contiguous pieces, each as long as it can be, in ascending order
 * of element. order lists the dimensions of the object from the outermost of the box to the
 * innermost (a view's order); NULL: 0, 1, 2, ... Writes the first max pieces, returns the number of
 * all. A box that starts elsewhere has the same pieces, moved, if the start moved by whole tiles
 * and the bytes by a multiple of 1024 (the period of the widest swizzle).
 */
int64_t grout_layout_get_pieces(const grout_layout *layout, const int64_t *start,
                                const int64_t *extent, const uint8_t *order, grout_piece *pieces,
                                int64_t max);

#ifdef __cplusplus
}
#endif
#endif
