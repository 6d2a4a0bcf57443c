/* run.h - what compile.c, kernel.c and run.c share.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_RUN_H
#define GROUT_GPU_RUN_H

#include "grout-internal/gpu.h"

#include "error.h"
#include "nvrtc.h"

/* How to come by NVRTC without a CUDA installation: the wheel of PyPI. README.md says the same; a
 * test compares. */
#define GROUT_GPU_NVRTC_REMEDY                                         \
    "pip install --target nvrtc nvidia-cuda-nvrtc-cu12, then --nvrtc " \
    "nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"

/* Adds an error of the lower half to the diagnostics; returns false. */
bool grout_gpu__report(grout_diags *diags, const grout_gpu_error *error, grout_place place);

/* Emits a kernel of a bound module, compiles it to a cubin, and reports the losses of speed. */
bool grout_gpu__compile_kernel(const grout_module *bound, grout_kernel_id kernel,
                               const grout_emit_options *emission, const grout_nvrtc_options *nvrtc,
                               grout_binary *binary_out, grout_diags *diags);

/* Opens NVRTC where the options say. */
bool grout_gpu__open_nvrtc(const grout_nvrtc_options *options, grout_gpu_nvrtc *nvrtc,
                           grout_gpu_error *error);

#endif
