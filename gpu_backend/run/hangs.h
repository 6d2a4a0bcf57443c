/*
 * hangs.h - what is said of a launch that failed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_HANGS_H
#define GROUT_GPU_HANGS_H

#include "launch.h"
#include "plan.h"

/* The launch of a kernel, and where it is reported. */
typedef struct grout_gpu_hang_report {
    const grout_module *module;
    const grout_kernel *kernel;
    const grout_gpu_plan *plan;
    const grout_gpu_outcome *outcome;
    grout_diags *diags;
} grout_gpu_hang_report;

/* Adds the error of a launch; after gpu-hang with a note for each wait that the watchdog ended, and
 * one if clusters wait for others that have no room on the GPU. */
void grout_gpu__report_failure(const grout_gpu_hang_report *report, const grout_gpu_error *error);

#endif
