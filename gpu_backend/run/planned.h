/*
 * planned.h - the plan of a kernel as the data that the driver takes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_PLANNED_H
#define GROUT_GPU_PLANNED_H

#include "plan.h"
#include "tensor_map.h"

/* Whether a launch takes this many parameters; gpu-unsupported at the kernel's place. */
bool grout_gpu__check_arg_count(const grout_gpu_plan *plan, grout_place place, grout_diags *diags);
/* One of the plan's maps. */
grout_gpu_tensor_map grout_gpu__make_map(const grout_module *module, const grout_gpu_map *map);
/* Grid, block, cluster and SMEM of a launch. */
grout_gpu_shape grout_gpu__make_shape(const grout_gpu_plan *plan);
/* What an 'out' array holds before a launch. */
grout_gpu_fill grout_gpu__get_output_fill(grout_dtype dtype);
/* Which bits of a scalar's first byte count. */
unsigned char grout_gpu__get_scalar_mask(grout_dtype dtype);

#endif
