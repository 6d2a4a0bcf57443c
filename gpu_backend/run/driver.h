/*
 * driver.h - the CUDA driver, opened at run time: one device, its memory, modules, launches,
 * events.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two use it. The child process of a launch has the device for itself: a driver that was
 * initialised before a fork is of no use after it, and a kernel that traps leaves nothing usable
 * behind. A kernel in the caller's context (kernel.h) borrows that context, and may be used by
 * several OS threads.
 */
#ifndef GROUT_GPU_DRIVER_H
#define GROUT_GPU_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_api.h"
#include "error.h"

/* What a device is, for reports and for the limits of a launch. */
typedef struct grout_gpu_device {
    char name[96];
    int driver_version; /* 13000 for 13.0 */
    int cc_major, cc_minor;
    int sm_count;
    int smem_per_block_max, smem_per_sm, l2_size; /* bytes */
    uint64_t memory_size;                         /* bytes */
} grout_gpu_device;

/* Zero-initialise; grout_gpu__driver_close gives everything back. */
typedef struct grout_gpu_driver {
    void *library;
    grout_cu_api cu;
    grout_cu_device device;
    grout_cu_context context; /* the device's primary context once one was selected */
} grout_gpu_driver;

/* Opens libcuda.so.1 and initialises it. Without driver or GPU: gpu-missing. */
bool grout_gpu__driver_open(grout_gpu_driver *driver, grout_gpu_error *error);
void grout_gpu__driver_close(grout_gpu_driver *driver);

/* Turns a result into an error that names it: gpu-fault if a kernel caused it, out-of-memory, or
 * gpu-driver. what: the deed, as in "allocate 'a' (4096 bytes)". */
bool grout_gpu__driver_check(const grout_gpu_driver *driver, grout_cu_result result,
                             const char *what, grout_gpu_error *error);

bool grout_gpu__driver_device_count(const grout_gpu_driver *driver, uint32_t *out,
                                    grout_gpu_error *error);
bool grout_gpu__driver_device_info(const grout_gpu_driver *driver, uint32_t index,
                                   grout_gpu_device *out, grout_gpu_error *error);
/* Makes the device's primary context the current one: everything below needs it. */
bool grout_gpu__driver_select(grout_gpu_driver *driver, uint32_t index, grout_gpu_error *error);

/* Device memory, which lives until the process ends. name is the array's, for the message. */
bool grout_gpu__driver_alloc(const grout_gpu_driver *driver, const char *name, uint64_t size,
                             grout_cu_address *out, grout_gpu_error *error);
bool grout_gpu__driver_upload(const grout_gpu_driver *driver, grout_cu_address to, const void *from,
                              uint64_t size, grout_gpu_error *error);
bool grout_gpu__driver_download(const grout_gpu_driver *driver, void *to, grout_cu_address from,
                                uint64_t size, grout_gpu_error *error);

/* pattern_size 1, 2, 4 or 8 little-endian bytes of pattern, again and again. */
typedef struct grout_gpu_fill {
    uint64_t pattern;
    uint32_t pattern_size;
    grout_cu_stream stream; /* NULL: the default one */
} grout_gpu_fill;

/* In the order of the fill's stream; size is a multiple of the pattern's. */
bool grout_gpu__driver_fill(const grout_gpu_driver *driver, grout_cu_address to, uint64_t size,
                            const grout_gpu_fill *fill, grout_gpu_error *error);

/* Host memory that the device can write; both of its addresses. Lives until the process ends. */
bool grout_gpu__driver_alloc_host(const grout_gpu_driver *driver, uint64_t size, void **host_out,
                                  grout_cu_address *device_out, grout_gpu_error *error);

/* Loads a cubin. An image for another architecture: gpu-unsupported. */
bool grout_gpu__driver_load(const grout_gpu_driver *driver, const void *image, grout_cu_module *out,
                            grout_gpu_error *error);
bool grout_gpu__driver_find_kernel(const grout_gpu_driver *driver, grout_cu_module module,
                                   const char *name, grout_cu_function *out,
                                   grout_gpu_error *error);

/* How a kernel is launched. Zero in cluster means 1. */
typedef struct grout_gpu_shape {
    uint32_t grid[3], block[3], cluster[3]; /* grid counts blocks, also with clusters */
    uint32_t dynamic_smem_bytes;
    bool is_cooperative;
    bool is_programmatic;   /* may start before the launch before it has ended (PDL) */
    grout_cu_stream stream; /* NULL: the default one */
} grout_gpu_shape;

/* What the driver says about a kernel in a shape. */
typedef struct grout_gpu_kernel_info {
    int registers, local_bytes, static_smem_bytes;
    int ctas_per_sm;         /* resident at a time */
    int clusters_per_device; /* resident at a time; 0 without clusters */
} grout_gpu_kernel_info;

/* Lets the kernel have the shape's dynamic SMEM and cluster size, and says what that costs. */
bool grout_gpu__driver_prepare(const grout_gpu_driver *driver, grout_cu_function kernel,
                               const grout_gpu_shape *shape, grout_gpu_kernel_info *out,
                               grout_gpu_error *error);
/* Starts the kernel; params as cuLaunchKernelEx takes them. */
bool grout_gpu__driver_launch(const grout_gpu_driver *driver, grout_cu_function kernel,
                              const grout_gpu_shape *shape, void **params, grout_gpu_error *error);
/* Waits for everything started so far; what names it. */
bool grout_gpu__driver_synchronize(const grout_gpu_driver *driver, const char *what,
                                   grout_gpu_error *error);

#endif
