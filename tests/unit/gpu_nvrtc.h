/*
 * gpu_nvrtc.h - for the tests of gpu_backend/ that compile: where NVRTC is looked for, and whether.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_GPU_NVRTC_H
#define GROUT_TEST_GPU_NVRTC_H

#include "grout/gpu.h"

static const char *const search_dirs[] = {"/usr/local/cuda/lib64"};
static const grout_nvrtc_options nvrtc_options = {.search_dirs = search_dirs,
                                                  .search_dir_count = 1};

static inline bool has_nvrtc(void) {
    grout_diags *diags = grout_diags_new();
    grout_binary binary = {0};
    const bool is_there = grout_compile_cuda("extern \"C\" __global__ void k() {}", "k",
                                             GROUT_BINARY_CUBIN, &nvrtc_options, &binary, diags);
    grout_binary_free(&binary);
    grout_diags_free(diags);
    return is_there;
}

#endif
