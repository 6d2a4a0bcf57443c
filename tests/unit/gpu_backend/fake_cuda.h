/*
 * fake_cuda.h - what a test in the same process tells the fake driver, and learns from it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_FAKE_CUDA_H
#define GROUT_TEST_FAKE_CUDA_H

#include "gpu_backend/run/cuda_api.h"

/* The library's variable 'fake_cuda'. */
typedef struct fake_cuda_state {
    grout_cu_context context;        /* the current one; NULL: there is none */
    grout_cu_context stream_context; /* of every stream; NULL: the current one */
    int is_capturing;                /* every stream */
    int capture_mode;                /* of the OS thread */
    int cc_major;
    void *on_host; /* an address where the device has no memory */
    /* Sizes of the functions' parameters, of all functions. */
    size_t param_sizes[32], param_count;
    /* The function of this name, without version, does its work and returns this. */
    const char *failing;
    int failure;
    /* Runs in the place of a kernel. */
    void (*on_launch)(const grout_cu_launch_config *config, void **params);
    int live;          /* modules, memory and events that have not been freed */
    void *last_memory; /* that was allocated */
    /* A line for each call that puts something on a stream, encodes a map or asks about an
     * address. */
    char log[1 << 14];
    size_t log_size;
} fake_cuda_state;

#endif
