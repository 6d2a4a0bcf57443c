/* plan_planted.c - a fault in what the caller of a kernel gives to the hardware.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"
#include "plan.h"

enum { DIMS = 5, CORNERS = 3 };

static const grout_gpu_field DIM_FIELDS[] = {GROUT_FIELD_MAP_DIM_0, GROUT_FIELD_MAP_DIM_1,
                                             GROUT_FIELD_MAP_DIM_2, GROUT_FIELD_MAP_DIM_3,
                                             GROUT_FIELD_MAP_DIM_4};
static const grout_gpu_field STRIDE_FIELDS[] = {GROUT_FIELD_MAP_STRIDE_1, GROUT_FIELD_MAP_STRIDE_2,
                                                GROUT_FIELD_MAP_STRIDE_3, GROUT_FIELD_MAP_STRIDE_4};
static const grout_gpu_field BOX_FIELDS[] = {GROUT_FIELD_MAP_BOX_0, GROUT_FIELD_MAP_BOX_1,
                                             GROUT_FIELD_MAP_BOX_2, GROUT_FIELD_MAP_BOX_3,
                                             GROUT_FIELD_MAP_BOX_4};
static const grout_gpu_field EVERY_FIELDS[] = {GROUT_FIELD_MAP_EVERY_0, GROUT_FIELD_MAP_EVERY_1,
                                               GROUT_FIELD_MAP_EVERY_2, GROUT_FIELD_MAP_EVERY_3,
                                               GROUT_FIELD_MAP_EVERY_4};
static const grout_gpu_field LOWER_FIELDS[] = {GROUT_FIELD_MAP_LOWER_0, GROUT_FIELD_MAP_LOWER_1,
                                               GROUT_FIELD_MAP_LOWER_2};
static const grout_gpu_field UPPER_FIELDS[] = {GROUT_FIELD_MAP_UPPER_0, GROUT_FIELD_MAP_UPPER_1,
                                               GROUT_FIELD_MAP_UPPER_2};

/* Where it is one off, the next swizzle; after the last one comes the first. */
static uint32_t plant_swizzle(const grout_planted *planted, uint32_t bytes) {
    static const uint32_t swizzles[] = {0, 32, 64, 128};
    for (uint32_t k = 0; k < sizeof swizzles / sizeof *swizzles; k++) {
        if (swizzles[k] == bytes) {
            return swizzles[grout_gpu__put_field(planted, 0, GROUT_FIELD_MAP_SWIZZLE, k)];
        }
    }
    return bytes;
}

static uint8_t plant_dtype(const grout_planted *planted, uint8_t dtype) {
    const int64_t number = grout_gpu__plant(planted, GROUT_FIELD_MAP_TYPE, dtype);
    return number > GROUT_DTYPE_NONE && number < GROUT_DTYPE_COUNT ? (uint8_t)number : dtype;
}

static void plant_map(grout_gpu_map *map, const grout_planted *planted) {
    grout_tma *tma = &map->tma;
    const bool is_nan = tma->oob == GROUT_CHOICE_OOB_NAN;
    map->dtype = plant_dtype(planted, map->dtype);
    map->start_bytes = grout_gpu__plant(planted, GROUT_FIELD_MAP_START, map->start_bytes);
    for (uint32_t k = 0; k < DIMS && k < tma->rank; k++) {
        tma->dims[k] = grout_gpu__plant(planted, DIM_FIELDS[k], tma->dims[k]);
        tma->box[k] = grout_gpu__plant(planted, BOX_FIELDS[k], tma->box[k]);
        map->element_strides[k] =
            (uint32_t)grout_gpu__plant(planted, EVERY_FIELDS[k], map->element_strides[k]);
        if (k > 0) {
            tma->strides[k] = grout_gpu__plant(planted, STRIDE_FIELDS[k - 1], tma->strides[k]);
        }
    }
    for (uint32_t k = 0; k < CORNERS && k < tma->spatial_count; k++) {
        tma->lower[k] = (int32_t)grout_gpu__plant(planted, LOWER_FIELDS[k], tma->lower[k]);
        tma->upper[k] = (int32_t)grout_gpu__plant(planted, UPPER_FIELDS[k], tma->upper[k]);
    }
    tma->swizzle = plant_swizzle(planted, tma->swizzle);
    map->interleave =
        (uint32_t)grout_gpu__put_field(planted, 0, GROUT_FIELD_MAP_INTERLEAVE, map->interleave);
    map->promotion =
        (uint32_t)grout_gpu__put_field(planted, 0, GROUT_FIELD_MAP_PROMOTION, map->promotion);
    if ((grout_gpu__plant(planted, GROUT_FIELD_MAP_FILL, is_nan) != 0) != is_nan) {
        tma->oob = is_nan ? GROUT_CHOICE_OOB_ZERO : GROUT_CHOICE_OOB_NAN;
    }
}

void grout_gpu__plan_plant(grout_gpu_plan *plan, const grout_planted *planted) {
    const int64_t clusters = plan->grid_size / plan->cluster_size;
    for (uint32_t k = 0; k < plan->map_count; k++) {
        plant_map(&plan->maps[k], planted);
    }
    plan->grid_size =
        grout_gpu__plant(planted, GROUT_FIELD_LAUNCH_GRID, clusters) * plan->cluster_size;
    plan->lane_count =
        (uint32_t)grout_gpu__plant(planted, GROUT_FIELD_LAUNCH_BLOCK, plan->lane_count);
    plan->cluster_size =
        (uint32_t)grout_gpu__plant(planted, GROUT_FIELD_LAUNCH_CLUSTER, plan->cluster_size);
    plan->dynamic_smem_bytes =
        grout_gpu__plant(planted, GROUT_FIELD_LAUNCH_SMEM, plan->dynamic_smem_bytes);
}
