/*
 * tensor_map.c - the rules of TMA descriptors on compute capability 9.0. Sources: CUDA Driver API,
 * cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col; and what an H200's driver took and refused
 * (docs/hardware.md 2.1). SPDX-License-Identifier: Apache-2.0
 */
#include "tensor_map.h"

#include "invariant.h"

#include <inttypes.h>
#include <string.h>

#define DIM_MAX              (UINT64_C(1) << 32)
#define STRIDE_MAX           (UINT64_C(1) << 40) /* excluded */
#define BOX_MAX              256
#define STEP_MAX             8      /* of element_strides */
#define PIXELS_MAX           1024   /* of im2col mode, of a copy */
#define CORNER_BITS          16     /* of all spatial dimensions together */
#define SMEM_MAX             232448 /* bytes of dynamic SMEM a CTA can have */
#define ALIGN_BYTES          16     /* of addresses, strides and the innermost box */
#define EXPANDED_ALIGN_BYTES 32     /* of addresses and strides of what TMA expands */
#define EXPANDED_ROW         128    /* elements that it expands at once, and bytes of its swizzle */

uint32_t grout_gpu__tensor_type_bits(grout_gpu_tensor_type type) {
    switch (type) {
    case GROUT_GPU_TENSOR_U8:
        return 8;
    case GROUT_GPU_TENSOR_U16:
    case GROUT_GPU_TENSOR_F16:
    case GROUT_GPU_TENSOR_BF16:
        return 16;
    case GROUT_GPU_TENSOR_U32:
    case GROUT_GPU_TENSOR_I32:
    case GROUT_GPU_TENSOR_F32:
        return 32;
    case GROUT_GPU_TENSOR_U64:
    case GROUT_GPU_TENSOR_I64:
    case GROUT_GPU_TENSOR_F64:
        return 64;
    case GROUT_GPU_TENSOR_16U4:
        return 4;
    case GROUT_GPU_TENSOR_16U6:
        return 6;
    }
    return 0;
}

/* Whether 16 elements become 16 bytes in SMEM. */
static bool is_expanded(grout_gpu_tensor_type type) {
    return type == GROUT_GPU_TENSOR_16U4 || type == GROUT_GPU_TENSOR_16U6;
}

static bool is_float(grout_gpu_tensor_type type) {
    return type == GROUT_GPU_TENSOR_F16 || type == GROUT_GPU_TENSOR_BF16 ||
           type == GROUT_GPU_TENSOR_F32 || type == GROUT_GPU_TENSOR_F64;
}

static uint32_t element_stride(const grout_gpu_tensor_map *map, uint32_t dim) {
    return map->element_strides[dim] == 0 ? 1 : map->element_strides[dim];
}

/* How many elements of a dimension one copy moves. Strides of dimension 0 do not count (interleave
 * none). */
static uint32_t box_elements(const grout_gpu_tensor_map *map, uint32_t dim) {
    uint32_t step = dim == 0 ? 1 : element_stride(map, dim);
    return (map->box[dim] + step - 1) / step;
}

uint32_t grout_gpu__tensor_map_box_bytes(const grout_gpu_tensor_map *map) {
    GROUT_ASSERT(map->rank >= 1 && map->rank <= GROUT_GPU_TENSOR_RANK_MAX);
    uint32_t bits = grout_gpu__tensor_type_bits(map->type);
    if (map->spatial_count > 0) {
        return bits / 8 * map->box[0] * map->box[1];
    }
    for (uint32_t i = 0; i < map->rank; i++) {
        bits *= box_elements(map, i);
    }
    return bits / 8;
}

uint64_t grout_gpu__tensor_map_span_bytes(const grout_gpu_tensor_map *map) {
    uint64_t bytes = map->dims[0] * grout_gpu__tensor_type_bits(map->type) / 8;
    for (uint32_t i = 1; i < map->rank; i++) {
        const uint64_t stride = map->strides_bytes[i];
        if (stride != 0 && map->dims[i] - 1 > (UINT64_MAX - bytes) / stride) {
            return UINT64_MAX;
        }
        bytes += (map->dims[i] - 1) * stride;
    }
    return bytes;
}

static bool validate_dims(const grout_gpu_tensor_map *map, grout_gpu_error *error) {
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->dims[i] < 1 || map->dims[i] > DIM_MAX) {
            return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                                   "a TMA array has 1 to %" PRIu64
                                   " elements in each dimension, but dimension %" PRIu32
                                   " has %" PRIu64,
                                   DIM_MAX, i, map->dims[i]);
        }
        if (i > 0 &&
            (map->strides_bytes[i] % ALIGN_BYTES != 0 || map->strides_bytes[i] >= STRIDE_MAX)) {
            return grout_gpu__fail(error, GROUT_DIAG_TMA_PITCH,
                                   "a TMA array's pitch is a multiple of %d bytes below 2^40, but "
                                   "dimension %" PRIu32 " has a pitch of %" PRIu64 " bytes",
                                   ALIGN_BYTES, i, map->strides_bytes[i]);
        }
    }
    return true;
}

static bool validate_box(const grout_gpu_tensor_map *map, grout_gpu_error *error) {
    uint64_t bytes = is_expanded(map->type) ? 1 : grout_gpu__tensor_type_bits(map->type) / 8;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->box[i] < 1 || map->box[i] > BOX_MAX) {
            return grout_gpu__fail(
                error, GROUT_DIAG_TMA_BOX,
                "a TMA box spans 1 to %d elements in each dimension, but %" PRIu32
                " in dimension %" PRIu32,
                BOX_MAX, map->box[i], i);
        }
        if (element_stride(map, i) > STEP_MAX) {
            return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                                   "a TMA box takes every element, or every second to %dth, but "
                                   "every %" PRIu32 "th in dimension %" PRIu32,
                                   STEP_MAX, element_stride(map, i), i);
        }
        bytes *= box_elements(map, i);
    }
    if (bytes > SMEM_MAX) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_BYTES,
                               "a TMA box has %" PRIu64 " bytes, but SMEM only %d", bytes,
                               SMEM_MAX);
    }
    return true;
}

static bool validate_pixels(const grout_gpu_tensor_map *map, grout_gpu_error *error) {
    if (map->rank < 3 || map->spatial_count != map->rank - 2) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                               "a TMA array in im2col mode has 3 to %d dimensions, all but two of "
                               "them spatial, not %" PRIu32 " with %" PRIu32,
                               GROUT_GPU_TENSOR_RANK_MAX, map->rank, map->spatial_count);
    }
    if (map->box[0] < 1 || map->box[0] > BOX_MAX || map->box[1] < 1 || map->box[1] > PIXELS_MAX) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                               "a copy in im2col mode takes 1 to %d channels and 1 to %d pixels, "
                               "but %" PRIu32 " and %" PRIu32,
                               BOX_MAX, PIXELS_MAX, map->box[0], map->box[1]);
    }
    const int64_t limit = INT64_C(1) << (CORNER_BITS / map->spatial_count - 1);
    for (uint32_t i = 0; i < map->spatial_count; i++) {
        const int64_t last = (int64_t)map->dims[1 + i] - 1 + map->upper[i];
        if (map->lower[i] < -limit || map->lower[i] >= limit || map->upper[i] < -limit ||
            map->upper[i] >= limit || map->lower[i] > last) {
            return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                                   "the box of pixels of im2col mode has corners of %" PRId64
                                   " to %" PRId64 " and is not empty, but dimension %" PRIu32
                                   " has %" PRId32 " and %" PRId32,
                                   -limit, limit - 1, 1 + i, map->lower[i], map->upper[i]);
        }
        if (element_stride(map, 1 + i) > STEP_MAX) {
            return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                                   "im2col mode takes every pixel, or every second to %dth, but "
                                   "every %" PRIu32 "th in dimension %" PRIu32,
                                   STEP_MAX, element_stride(map, 1 + i), 1 + i);
        }
    }
    const uint32_t bytes = grout_gpu__tensor_map_box_bytes(map);
    return bytes <= SMEM_MAX ||
           grout_gpu__fail(error, GROUT_DIAG_TMA_BYTES,
                           "a copy in im2col mode has %" PRIu32 " bytes, but SMEM only %d", bytes,
                           SMEM_MAX);
}

static bool validate_inner(const grout_gpu_tensor_map *map, grout_gpu_error *error) {
    const uint32_t size = grout_gpu__tensor_type_bits(map->type) / 8;
    const uint32_t bytes = map->box[0] * (is_expanded(map->type) ? 1 : size);
    if (bytes % ALIGN_BYTES != 0) {
        return grout_gpu__fail(
            error, GROUT_DIAG_TMA_INNER_BYTES,
            "the innermost dimension of a TMA box is a multiple of %d bytes, but "
            "%" PRIu32 " elements of %" PRIu32 " bytes are %" PRIu32,
            ALIGN_BYTES, map->box[0], size, bytes);
    }
    if (map->swizzle_bytes != 0 && bytes > map->swizzle_bytes) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_INNER_BYTES,
                               "the innermost dimension of a TMA box is at most as wide as the "
                               "swizzle of %" PRIu32 " bytes, but has %" PRIu32 " bytes",
                               map->swizzle_bytes, bytes);
    }
    return true;
}

/* What the expanded types ask for more (CUDA Driver API, cuTensorMapEncodeTiled). */
static bool validate_expansion(const grout_gpu_tensor_map *map, grout_gpu_error *error) {
    const bool has_row = map->box[0] == EXPANDED_ROW && map->dims[0] % EXPANDED_ROW == 0;
    if (!is_expanded(map->type)) {
        return true;
    }
    if (!has_row || map->spatial_count > 0) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                               "TMA expands %d elements of a row at once, but the box has %" PRIu32
                               " and the row %" PRIu64,
                               EXPANDED_ROW, map->box[0], map->dims[0]);
    }
    if (map->swizzle_bytes != 0 && map->swizzle_bytes != EXPANDED_ROW) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_LAYOUT,
                               "TMA expands elements without a swizzle or in that of %d bytes, not "
                               "in that of %" PRIu32,
                               EXPANDED_ROW, map->swizzle_bytes);
    }
    for (uint32_t i = 1; i < map->rank; i++) {
        if (map->strides_bytes[i] % EXPANDED_ALIGN_BYTES != 0) {
            return grout_gpu__fail(error, GROUT_DIAG_TMA_PITCH,
                                   "the pitch of an array that TMA expands is a multiple of %d "
                                   "bytes, but dimension %" PRIu32 " has one of %" PRIu64,
                                   EXPANDED_ALIGN_BYTES, i, map->strides_bytes[i]);
        }
    }
    return true;
}

bool grout_gpu__tensor_map_validate(const grout_gpu_tensor_map *map, uint64_t offset_bytes,
                                    grout_gpu_error *error) {
    if (map->rank < 1 || map->rank > GROUT_GPU_TENSOR_RANK_MAX) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_BOX,
                               "a TMA array has 1 to %d dimensions, not %" PRIu32,
                               GROUT_GPU_TENSOR_RANK_MAX, map->rank);
    }
    if (grout_gpu__tensor_type_bits(map->type) == 0) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_LAYOUT, "TMA has no element type %d",
                               (int)map->type);
    }
    if (map->swizzle_bytes != 0 && map->swizzle_bytes != 32 && map->swizzle_bytes != 64 &&
        map->swizzle_bytes != 128) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_LAYOUT,
                               "TMA swizzles 32, 64 or 128 bytes, not %" PRIu32,
                               map->swizzle_bytes);
    }
    if (map->oob == GROUT_GPU_OOB_NAN && !is_float(map->type)) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_LAYOUT,
                               "TMA fills with NaN outside the array only for floats");
    }
    const uint32_t alignment = is_expanded(map->type) ? EXPANDED_ALIGN_BYTES : ALIGN_BYTES;
    if (offset_bytes % alignment != 0) {
        return grout_gpu__fail(error, GROUT_DIAG_TMA_PITCH,
                               "a TMA array starts at a multiple of %" PRIu32
                               " bytes, but its offset is %" PRIu64,
                               alignment, offset_bytes);
    }
    return validate_dims(map, error) &&
           (map->spatial_count > 0 ? validate_pixels(map, error) : validate_box(map, error)) &&
           validate_inner(map, error) && validate_expansion(map, error);
}

static int swizzle_mode(uint32_t swizzle_bytes) {
    switch (swizzle_bytes) {
    case 32:
        return GROUT_CU_SWIZZLE_32B;
    case 64:
        return GROUT_CU_SWIZZLE_64B;
    case 128:
        return GROUT_CU_SWIZZLE_128B;
    default:
        return GROUT_CU_SWIZZLE_NONE;
    }
}

bool grout_gpu__tensor_map_encode(const grout_gpu_driver *driver, const grout_gpu_tensor_map *map,
                                  grout_cu_address address, grout_cu_tensor_map *out,
                                  grout_gpu_error *error) {
    uint32_t steps[GROUT_GPU_TENSOR_RANK_MAX];
    for (uint32_t i = 0; i < map->rank; i++) {
        steps[i] = element_stride(map, i);
    }
    /* The driver's parameter is a pointer; the address is the device's. */
    void *pointer = NULL;
    _Static_assert(sizeof pointer == sizeof address, "CUDA has 64-bit hosts only");
    memcpy(&pointer, &address, sizeof pointer);
    if (map->spatial_count > 0) {
        const grout_cu_result made = driver->cu.tensor_map_encode_im2col(
            out, (int)map->type, map->rank, pointer, map->dims, map->strides_bytes + 1, map->lower,
            map->upper, map->box[0], map->box[1], steps, (int)map->interleave,
            swizzle_mode(map->swizzle_bytes), (int)map->l2_promotion, (int)map->oob);
        return grout_gpu__driver_check(driver, made, "encode a tensor map", error);
    }
    grout_cu_result result = driver->cu.tensor_map_encode_tiled(
        out, (int)map->type, map->rank, pointer, map->dims, map->strides_bytes + 1, map->box, steps,
        (int)map->interleave, swizzle_mode(map->swizzle_bytes), (int)map->l2_promotion,
        (int)map->oob);
    return grout_gpu__driver_check(driver, result, "encode a tensor map", error);
}
