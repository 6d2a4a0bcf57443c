/*
 * planning.h - a plan while it is being made: what the plan*.c files share.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_PLANNING_H
#define GROUT_GPU_PLANNING_H

#include "lookup.h"
#include "plan.h"

#include <inttypes.h>

typedef struct grout_gpu_planning {
    grout_gpu_plan *plan;
    const grout_module *module;
    const grout_kernel *kernel;
    grout_diags *diags;
    int64_t grid_size;
    bool *is_plain;          /* by parameter: reached by loads, stores and the like */
    grout_lookup barrier_at; /* by offset in SMEM: the first barrier object there, from 1 */
    size_t map_capacity, barrier_capacity, mma_object_capacity, workspace_capacity;
} grout_gpu_planning;

/* Gives a semaphore array or gmem scratch its memory; other objects need none. */
bool grout_gpu__plan_workspace(grout_gpu_planning *walk, grout_object_id id);
/* Notes the first op that may wait for another cluster. */
void grout_gpu__plan_cross_wait(grout_gpu_planning *walk, grout_op_id id, const grout_op *op);

/* Decides how arrivals are made on each barrier of the plan (plan_arrivals.c). False without
 * memory.
 */
bool grout_gpu__plan_arrivals(grout_gpu_plan *plan, const grout_module *module,
                              grout_block_id body);
/* Finds what partitions need of thread 0 (plan_captures.c). */
bool grout_gpu__plan_captures(grout_gpu_planning *planning);

#endif
