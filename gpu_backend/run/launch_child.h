/*
 * launch_child.h - what parent and child of a launch share, and the child's side of it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_LAUNCH_CHILD_H
#define GROUT_GPU_LAUNCH_CHILD_H

#include <stdatomic.h>

#include "launch.h"

/* The device header's grout_watchdog, a kernel parameter. Addresses are the device's. */
typedef struct grout_gpu__watchdog {
    uint64_t hangs, state;
    uint64_t limit_ns;
    uint32_t capacity, reserved;
} grout_gpu__watchdog;

/* What a kernel's parameter is given. */
typedef union grout_gpu__value {
    grout_cu_tensor_map map;
    grout_cu_address address;
    grout_gpu__watchdog watchdog;
    unsigned char scalar[16];
} grout_gpu__value;

_Static_assert(sizeof(grout_gpu__watchdog) == 32, "as in the device header");
_Static_assert(sizeof(grout_gpu_hang) == 112, "as in the device header");

/*
 * Memory that both processes see. The child writes it, the parent reads it once the child has
 * ended, except for step. The pointers lead to more of the same mapping and are equal in both.
 */
typedef struct grout_gpu__shared {
    bool is_done;     /* the child got to its end, well or with an error */
    bool ok;          /* then: which */
    atomic_uint step; /* the one that is running */
    grout_gpu_error error;
    grout_gpu_device device;
    grout_gpu_kernel_info *infos; /* one a step */
    float *times_ms;              /* timing.repeats a step */
    grout_gpu_hang *hangs;        /* GROUT_GPU_HANGS_MAX */
    uint32_t hang_count;
    unsigned char **outputs; /* one a buffer, NULL if nothing is read back */
    /* What a probe finds, instead of a launch: */
    grout_gpu_device *devices;
    uint32_t device_capacity, device_count;
} grout_gpu__shared;

/* Runs the launch in this process, which is good for nothing else afterwards. */
void grout_gpu__child_launch(const grout_gpu_job *job, grout_gpu__shared *shared);
void grout_gpu__child_probe(grout_gpu__shared *shared);

#endif
