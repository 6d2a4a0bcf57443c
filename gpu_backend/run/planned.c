/* planned.c - the plan of a kernel as the data that the driver takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"

#include "invariant.h"
#include "launch.h"

#include <inttypes.h>

bool grout_gpu__check_arg_count(const grout_gpu_plan *plan, grout_place place, grout_diags *diags) {
    return plan->arg_count <= GROUT_GPU_PARAMS_MAX ||
           grout_diags_add(diags, GROUT_DIAG_GPU_UNSUPPORTED, place,
                           "arrays, scalars and tensor maps make %" PRIu32
                           " parameters of the CUDA kernel, a launch takes %d",
                           plan->arg_count, GROUT_GPU_PARAMS_MAX);
}

static grout_gpu_tensor_type get_tensor_type(const grout_type *type) {
    const grout_dtype dtype = (grout_dtype)type->dtype;
    static const grout_gpu_tensor_type types[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_I4] = GROUT_GPU_TENSOR_U8,     [GROUT_DTYPE_U4] = GROUT_GPU_TENSOR_U8,
        [GROUT_DTYPE_F4E2M1] = GROUT_GPU_TENSOR_U8, [GROUT_DTYPE_F6E2M3] = GROUT_GPU_TENSOR_U8,
        [GROUT_DTYPE_F6E3M2] = GROUT_GPU_TENSOR_U8, [GROUT_DTYPE_BOOL] = GROUT_GPU_TENSOR_U8,
        [GROUT_DTYPE_I8] = GROUT_GPU_TENSOR_U8,     [GROUT_DTYPE_U8] = GROUT_GPU_TENSOR_U8,
        [GROUT_DTYPE_I16] = GROUT_GPU_TENSOR_U16,   [GROUT_DTYPE_U16] = GROUT_GPU_TENSOR_U16,
        [GROUT_DTYPE_I32] = GROUT_GPU_TENSOR_I32,   [GROUT_DTYPE_U32] = GROUT_GPU_TENSOR_U32,
        [GROUT_DTYPE_I64] = GROUT_GPU_TENSOR_I64,   [GROUT_DTYPE_U64] = GROUT_GPU_TENSOR_U64,
        [GROUT_DTYPE_F8E4M3] = GROUT_GPU_TENSOR_U8, [GROUT_DTYPE_F8E5M2] = GROUT_GPU_TENSOR_U8,
        [GROUT_DTYPE_F16] = GROUT_GPU_TENSOR_F16,   [GROUT_DTYPE_BF16] = GROUT_GPU_TENSOR_BF16,
        [GROUT_DTYPE_F32] = GROUT_GPU_TENSOR_F32,   [GROUT_DTYPE_F64] = GROUT_GPU_TENSOR_F64,
        [GROUT_DTYPE_F8E8M0] = GROUT_GPU_TENSOR_U8,
    };
    GROUT_ASSERT(dtype != GROUT_DTYPE_NONE && dtype < GROUT_DTYPE_COUNT);
    if (type->is_expanded) {
        return grout_dtype_get_info(dtype)->bits == 4 ? GROUT_GPU_TENSOR_16U4
                                                      : GROUT_GPU_TENSOR_16U6;
    }
    return types[dtype];
}

grout_gpu_tensor_map grout_gpu__make_map(const grout_module *module, const grout_gpu_map *map) {
    const grout_type type = grout_gpu__get_map_type(module, map);
    grout_gpu_tensor_map made = {.type = get_tensor_type(&type),
                                 .rank = map->tma.rank,
                                 .swizzle_bytes = map->tma.swizzle,
                                 .oob = map->tma.oob == GROUT_CHOICE_OOB_NAN ? GROUT_GPU_OOB_NAN
                                                                             : GROUT_GPU_OOB_ZERO,
                                 .interleave = map->interleave,
                                 .l2_promotion = (grout_gpu_l2_promotion)map->promotion};
    GROUT_ASSERT(map->tma.rank >= 1 && map->tma.rank <= GROUT_GPU_TENSOR_RANK_MAX);
    for (uint32_t k = 0; k < map->tma.rank; k++) {
        made.dims[k] = (uint64_t)map->tma.dims[k];
        made.strides_bytes[k] = (uint64_t)map->tma.strides[k];
        made.box[k] = (uint32_t)map->tma.box[k];
        made.element_strides[k] = map->element_strides[k];
    }
    made.spatial_count = map->tma.spatial_count;
    for (uint32_t k = 0; k < map->tma.spatial_count; k++) {
        made.lower[k] = map->tma.lower[k];
        made.upper[k] = map->tma.upper[k];
    }
    return made;
}

grout_gpu_shape grout_gpu__make_shape(const grout_gpu_plan *plan) {
    return (grout_gpu_shape){.grid = {(uint32_t)plan->grid_size, 1, 1},
                             .block = {plan->lane_count, 1, 1},
                             .cluster = {plan->cluster_size, 1, 1},
                             .dynamic_smem_bytes = (uint32_t)plan->dynamic_smem_bytes};
}

grout_gpu_fill grout_gpu__get_output_fill(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    return (grout_gpu_fill){.pattern = grout_dtype_get_pattern(dtype, info->poison),
                            .pattern_size = info->bytes};
}

unsigned char grout_gpu__get_scalar_mask(grout_dtype dtype) {
    const uint32_t bits = grout_dtype_get_info(dtype)->bits;
    return (unsigned char)(bits < 8 ? (1u << bits) - 1 : 0xff);
}
