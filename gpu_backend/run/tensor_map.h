/*
 * tensor_map.h - what a TMA descriptor says, as plain data; its rules, checked without a GPU; and
 * its encoding by the driver.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_TENSOR_MAP_H
#define GROUT_GPU_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "driver.h"

#define GROUT_GPU_TENSOR_RANK_MAX 5

/* The values are the driver's. */
typedef enum grout_gpu_tensor_type {
    GROUT_GPU_TENSOR_U8 = GROUT_CU_TENSOR_U8,
    GROUT_GPU_TENSOR_U16 = GROUT_CU_TENSOR_U16,
    GROUT_GPU_TENSOR_U32 = GROUT_CU_TENSOR_U32,
    GROUT_GPU_TENSOR_I32 = GROUT_CU_TENSOR_I32,
    GROUT_GPU_TENSOR_U64 = GROUT_CU_TENSOR_U64,
    GROUT_GPU_TENSOR_I64 = GROUT_CU_TENSOR_I64,
    GROUT_GPU_TENSOR_F16 = GROUT_CU_TENSOR_F16,
    GROUT_GPU_TENSOR_F32 = GROUT_CU_TENSOR_F32,
    GROUT_GPU_TENSOR_F64 = GROUT_CU_TENSOR_F64,
    GROUT_GPU_TENSOR_BF16 = GROUT_CU_TENSOR_BF16,
    GROUT_GPU_TENSOR_16U4 = GROUT_CU_TENSOR_16U4_ALIGN16B, /* 16 elements become 16 bytes */
    GROUT_GPU_TENSOR_16U6 = GROUT_CU_TENSOR_16U6_ALIGN16B
} grout_gpu_tensor_type;

/* What a load writes for elements outside the array. */
typedef enum grout_gpu_oob { GROUT_GPU_OOB_ZERO, GROUT_GPU_OOB_NAN } grout_gpu_oob;

/* How much the engine fetches into L2 around what it needs. */
typedef enum grout_gpu_l2_promotion {
    GROUT_GPU_L2_NONE,
    GROUT_GPU_L2_64B,
    GROUT_GPU_L2_128B,
    GROUT_GPU_L2_256B
} grout_gpu_l2_promotion;

/* Dimension 0 is the fastest one, whose elements are neighbours; there is no stride for it. */
typedef struct grout_gpu_tensor_map {
    grout_gpu_tensor_type type;
    uint32_t rank;
    uint64_t dims[GROUT_GPU_TENSOR_RANK_MAX];
    uint64_t strides_bytes[GROUT_GPU_TENSOR_RANK_MAX]; /* [0] is not used */
    uint32_t box[GROUT_GPU_TENSOR_RANK_MAX]; /* elements of the array that one copy spans */
    uint32_t element_strides[GROUT_GPU_TENSOR_RANK_MAX]; /* 0 means 1 */
    uint32_t swizzle_bytes;                              /* 0, 32, 64 or 128 */
    uint32_t interleave;                                 /* as CUDA counts: 0 is none */
    grout_gpu_oob oob;
    grout_gpu_l2_promotion l2_promotion;
    /* In im2col mode, of this many spatial dimensions, 1 (w) to rank - 2; 0: tiled. box[0] is the
     * channels of a pixel, box[1] the pixels; the other numbers of box do not count. */
    uint32_t spatial_count;
    int32_t lower[GROUT_GPU_TENSOR_RANK_MAX - 2], upper[GROUT_GPU_TENSOR_RANK_MAX - 2];
} grout_gpu_tensor_map;

/* Bits of one element. */
uint32_t grout_gpu__tensor_type_bits(grout_gpu_tensor_type type);

/*
 * Whether the driver and the engine of compute capability 9.0 take this map at this distance from a
 * buffer that is 256-byte aligned (what cuMemAlloc gives). The error has the code of the rule
 * (tma-box, tma-inner-bytes, tma-pitch, tma-layout, tma-bytes) and its numbers.
 */
bool grout_gpu__tensor_map_validate(const grout_gpu_tensor_map *map, uint64_t offset_bytes,
                                    grout_gpu_error *error);

/* The bytes that one copy of a valid map brings to its mbarrier, the same when it crosses the
 * array's edge. */
uint32_t grout_gpu__tensor_map_box_bytes(const grout_gpu_tensor_map *map);
/* The bytes from the first to the last of a valid map's array; UINT64_MAX if they are more. */
uint64_t grout_gpu__tensor_map_span_bytes(const grout_gpu_tensor_map *map);

/* Encodes a valid map for the array at that address. */
bool grout_gpu__tensor_map_encode(const grout_gpu_driver *driver, const grout_gpu_tensor_map *map,
                                  grout_cu_address address, grout_cu_tensor_map *out,
                                  grout_gpu_error *error);

#endif
