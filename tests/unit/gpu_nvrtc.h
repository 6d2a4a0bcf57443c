/*
 * gpu_nvrtc.h - for the tests of gpu_backend/ that compile much: the NVRTC they use, and whether
 * there is one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_GPU_NVRTC_H
#define GROUT_TEST_GPU_NVRTC_H

#include "grout/gpu.h"

/* The machine's, in a process without sanitizers: outside_nvrtc.c. Each text is compiled once: the
 * tests share the cache, and keep it from run to run. */
static const grout_nvrtc_options nvrtc_options = {.library = GROUT_TEST_NVRTC,
                                                  .cache_dir = GROUT_TEST_NVRTC_CACHE};

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
