/* tensor_box.h - which bytes a tensor copy moves from where to where.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Tensors': tiled mode, im2col mode, im2col::w modes, tile::gather4 and tile::scatter4,
 * out-of-bounds access, swizzling; 'cp.async.bulk.tensor', 'cp.reduce.async.bulk.tensor'.
 *
 * A box becomes a list of runs. A run lies in one piece in both memories; where the box reaches out
 * of the tensor, a load has runs of the fill value and a store leaves the bytes out. The machine
 * copies, so that it can look at bounds and at undefined bytes itself.
 */
#ifndef GROUT_PTX_TENSOR_BOX_H
#define GROUT_PTX_TENSOR_BOX_H

#include "tensor_map.h"

typedef enum grout_ptx_transfer {
    GROUT_PTX_LOAD,  /* global to shared */
    GROUT_PTX_STORE, /* shared to global, and the reductions */
    GROUT_PTX_PREFETCH
} grout_ptx_transfer;

typedef enum grout_ptx_box_kind {
    GROUT_PTX_BOX_TILE,
    GROUT_PTX_BOX_IM2COL,
    GROUT_PTX_BOX_IM2COL_NO_OFFSETS, /* the store of im2col */
    GROUT_PTX_BOX_IM2COL_W,
    GROUT_PTX_BOX_IM2COL_W128,
    GROUT_PTX_BOX_ROWS4 /* tile::gather4, tile::scatter4 */
} grout_ptx_box_kind;

/* One instruction's operands. */
typedef struct grout_ptx_box {
    grout_ptx_transfer transfer;
    grout_ptx_box_kind kind;
    uint32_t dims;   /* of the instruction's .1d to .5d */
    uint32_t shared; /* address in the CTA's window: the first byte of the box */
    /* As the instruction has them: dimension 0 first, or the column and four rows. */
    int32_t coordinates[GROUT_PTX_RANK_MAX];
    /* im2col: of W, H, D; im2col::w: the halo and the offset of W. */
    uint16_t offsets[GROUT_PTX_RANK_MAX - 2];
} grout_ptx_box;

typedef struct grout_ptx_run {
    bool is_fill;    /* the bytes in shared memory become the fill value; global does not count */
    uint64_t global; /* address of the first byte */
    uint32_t shared; /* address of the first byte, swizzled */
    uint32_t bytes;
} grout_ptx_run;

/* Takes the next run; false ends the walk, which then returns false too. */
typedef bool (*grout_ptx_run_taker)(void *to, const grout_ptx_run *run);

/* What the mbarrier of the copy counts, whether or not elements were out of bounds: the bytes of
 * the elements, without the gaps of padded types. False if the operands do not fit the map. */
bool grout_ptx__box_bytes(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                          uint32_t *bytes, grout_ptx_fault *fault);

/* How far the box reaches in shared memory from its first byte, with pitch and gaps. */
bool grout_ptx__box_extent(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                           uint32_t *bytes, grout_ptx_fault *fault);

/* Walks over the box in the order of shared memory. The map is legal (decode has said so). Fails
 * before the first run if the operands are illegal: the kind is not the map's, shared is no
 * multiple of 128, the first coordinate is no multiple of 16 bytes, a store begins before the
 * tensor. Prefetches have runs with shared 0 and no fills. */
bool grout_ptx__box_walk(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                         grout_ptx_run_taker take, void *to, grout_ptx_fault *fault);

/* One element of the map's fill value. The NaN of f16, bf16 and f32 forms; which bits it has is
 * known for bf16 alone (0x7ff7), others fail. */
bool grout_ptx__box_fill(const grout_ptx_tensor_map *map, uint64_t *element,
                         grout_ptx_fault *fault);

#endif
