/*
 * kernel.h - a kernel that is loaded in the caller's context, with what its launches need.
 * SPDX-License-Identifier: Apache-2.0
 *
 * kernel.c makes it and takes it apart, kernel_launch.c launches. After it is made, only 'used' of
 * the parameters, the encodings of the maps and the sets change, under the lock.
 */
#ifndef GROUT_GPU_KERNEL_H
#define GROUT_GPU_KERNEL_H

#include "launch.h"
#include "plan.h"

#include <pthread.h>

/* Addresses whose encoding a map keeps: of buffers that take turns. */
#define GROUT_GPU_ENCODINGS 4

/* A parameter of the kernel. */
typedef struct grout_gpu_kernel_param {
    char *name; /* owned */
    uint64_t size;
    bool is_scalar, is_written, is_filled;
    unsigned char scalar_mask; /* bits of the first byte that count */
    grout_gpu_fill fill;       /* if it is filled */
    grout_cu_address used;     /* of the launch before, which was checked; 0: none */
} grout_gpu_kernel_param;

typedef struct grout_gpu_encoding {
    grout_cu_address address; /* 0: there is none */
    uint64_t bytes[sizeof(grout_cu_tensor_map) / sizeof(uint64_t)];
} grout_gpu_encoding;

typedef struct grout_gpu_kernel_map {
    grout_gpu_tensor_map map;
    uint32_t param_index, workspace_index; /* one of them UINT32_MAX */
    grout_gpu_encoding encodings[GROUT_GPU_ENCODINGS];
    uint32_t oldest; /* of the encodings */
} grout_gpu_kernel_map;

/* Bytes of a set that one call of the driver fills: a large workspace, or all small ones. */
typedef struct grout_gpu_kernel_piece {
    uint64_t offset, size;
    grout_gpu_fill fill;
    grout_cu_address contents; /* on the device: they are copied from there; 0: fill */
} grout_gpu_kernel_piece;

/* The workspaces of one launch at a time. */
typedef struct grout_gpu_kernel_set {
    grout_cu_address base;
    grout_cu_event done; /* of the last launch that had it; NULL: there was none */
    grout_cu_stream stream;
    bool is_used;
} grout_gpu_kernel_set;

struct grout_gpu_kernel {
    grout_gpu_driver driver; /* its context stays NULL: the caller's is not ours to release */
    grout_cu_context context;
    grout_cu_module module;
    grout_cu_function function;
    char *name;
    grout_gpu_shape shape;
    grout_gpu_arg *args; /* of the CUDA function */
    uint32_t arg_count;
    grout_gpu_kernel_param *params;
    uint32_t param_count;
    grout_gpu_kernel_map *maps;
    uint32_t map_count;
    uint64_t *workspace_offsets; /* in a set, by workspace */
    uint32_t workspace_count;
    grout_gpu_kernel_piece *pieces;
    uint32_t piece_count;
    grout_gpu_kernel_set *sets; /* none without workspaces */
    uint32_t set_count, next_set;
    grout_cu_address memory;         /* of the device, all of it */
    grout_cu_address watchdog_state; /* zeros, for a binary with a watchdog */
    pthread_mutex_t lock;
};

/* What can be refused of the options without a GPU: bad-argument, gpu-unsupported. */
bool grout_gpu__check_options(const grout_module *bound, grout_kernel_id kernel,
                              const grout_gpu_kernel_options *options, const grout_gpu_plan *plan,
                              grout_diags *diags);

/* As grout_gpu_kernel_new, of a binary without a watchdog (options): a kernel without workspaces
 * allocates nothing, and may be loaded while a stream is captured, if the capture mode of the OS
 * thread allows that. */
grout_gpu_kernel *grout_gpu__kernel_load(const grout_module *bound, grout_kernel_id kernel,
                                         const grout_gpu_kernel_options *options,
                                         grout_diags *diags);

#endif
