/* run.h - what compile.c and run.c share.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_RUN_H
#define GROUT_GPU_RUN_H

#include "grout/gpu.h"

#include "error.h"
#include "nvrtc.h"

/* Adds an error of the lower half to the diagnostics; returns false. */
bool grout_gpu__report(grout_diags *diags, const grout_gpu_error *error, grout_place place);

/* Opens NVRTC where the options say. */
bool grout_gpu__open_nvrtc(const grout_nvrtc_options *options, grout_gpu_nvrtc *nvrtc,
                           grout_gpu_error *error);

#endif
