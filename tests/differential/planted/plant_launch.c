/* plant_launch.c - a fault in what the caller of a kernel gives to the hardware: tensor maps, grid.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/planted/plant.h"

#include "gpu_backend/plan/plan.h"

enum { DIMS = 5, CORNERS = 3 };

/* Where it is one off, the next swizzle; after the last one comes the first. */
static uint32_t plant_swizzle(uint32_t bytes) {
    static const uint32_t swizzles[] = {0, 32, 64, 128};
    for (uint32_t k = 0; k < sizeof swizzles / sizeof *swizzles; k++) {
        if (swizzles[k] == bytes) {
            return swizzles[plant_number(PLANT_MAP_SWIZZLE, k)];
        }
    }
    return bytes;
}

static uint8_t plant_dtype(uint8_t dtype) {
    const int64_t number = plant_number(PLANT_MAP_TYPE, dtype);
    return number > GROUT_DTYPE_NONE && number < GROUT_DTYPE_COUNT ? (uint8_t)number : dtype;
}

static void plant_map(grout_gpu_map *map) {
    grout_tma *tma = &map->tma;
    const bool is_nan = tma->oob == GROUT_CHOICE_OOB_NAN;
    map->dtype = plant_dtype(map->dtype);
    map->start_bytes = plant_number(PLANT_MAP_START, map->start_bytes);
    for (uint32_t k = 0; k < DIMS && k < tma->rank; k++) {
        tma->dims[k] = plant_number(PLANT_MAP_DIM_0 + k, tma->dims[k]);
        tma->box[k] = plant_number(PLANT_MAP_BOX_0 + k, tma->box[k]);
        map->element_strides[k] =
            (uint32_t)plant_number(PLANT_MAP_EVERY_0 + k, map->element_strides[k]);
        if (k > 0) {
            tma->strides[k] = plant_number(PLANT_MAP_STRIDE_1 + k - 1, tma->strides[k]);
        }
    }
    for (uint32_t k = 0; k < CORNERS && k < tma->spatial_count; k++) {
        tma->lower[k] = (int32_t)plant_number(PLANT_MAP_LOWER_0 + k, tma->lower[k]);
        tma->upper[k] = (int32_t)plant_number(PLANT_MAP_UPPER_0 + k, tma->upper[k]);
    }
    tma->swizzle = plant_swizzle(tma->swizzle);
    map->interleave = (uint32_t)plant_number(PLANT_MAP_INTERLEAVE, map->interleave);
    map->promotion = (uint32_t)plant_number(PLANT_MAP_PROMOTION, map->promotion);
    if ((plant_number(PLANT_MAP_FILL, is_nan) != 0) != is_nan) {
        tma->oob = is_nan ? GROUT_CHOICE_OOB_ZERO : GROUT_CHOICE_OOB_NAN;
    }
}

void plant_launch(grout_gpu_plan *plan) {
    const int64_t clusters = plan->grid_size / plan->cluster_size;
    for (uint32_t k = 0; k < plan->map_count; k++) {
        plant_map(&plan->maps[k]);
    }
    plan->grid_size = plant_number(PLANT_LAUNCH_GRID, clusters) * plan->cluster_size;
    plan->lane_count = (uint32_t)plant_number(PLANT_LAUNCH_BLOCK, plan->lane_count);
    plan->cluster_size = (uint32_t)plant_number(PLANT_LAUNCH_CLUSTER, plan->cluster_size);
    plan->dynamic_smem_bytes = plant_number(PLANT_LAUNCH_SMEM, plan->dynamic_smem_bytes);
}
