/*
 * launch.h - running compiled kernels on a GPU: what to run, as plain data, and what came of it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A launch runs in a child process, which dies with whatever state a fault left in the driver; the
 * calling process never touches CUDA. A watchdog ends waits that last too long, a time limit the
 * rest.
 */
#ifndef GROUT_GPU_LAUNCH_H
#define GROUT_GPU_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver.h"
#include "error.h"
#include "tensor_map.h"

#define GROUT_GPU_PARAMS_MAX  32         /* of one kernel: 32 tensor maps are 4 KiB */
#define GROUT_GPU_HANGS_MAX   1024       /* threads that are reported to hang */
#define GROUT_GPU_TIMEOUT_MS  120000     /* of a launch, by default */
#define GROUT_GPU_WATCHDOG_NS 2000000000 /* of one wait, by default */

typedef enum grout_gpu_direction {
    GROUT_GPU_IN,     /* input is copied to the device */
    GROUT_GPU_OUT,    /* filled; copied to output after the steps */
    GROUT_GPU_INOUT,  /* both */
    GROUT_GPU_SCRATCH /* filled, or input copied, before each run of a step; stays on the device */
} grout_gpu_direction;

/* An array in device memory. */
typedef struct grout_gpu_buffer {
    const char *name; /* for messages */
    grout_gpu_direction direction;
    uint64_t size;       /* bytes */
    const void *input;   /* of IN and INOUT: size bytes; of SCRATCH: or NULL */
    void *output;        /* of OUT and INOUT: size bytes; written only if the launch succeeds */
    grout_gpu_fill fill; /* of OUT and SCRATCH; pattern_size 0: whatever was there */
} grout_gpu_buffer;

typedef enum grout_gpu_param_kind {
    GROUT_GPU_PARAM_BUFFER,     /* the address of buffer plus offset_bytes */
    GROUT_GPU_PARAM_TENSOR_MAP, /* map over buffer from offset_bytes on */
    GROUT_GPU_PARAM_SCALAR,     /* scalar_size bytes of scalar */
    GROUT_GPU_PARAM_WATCHDOG    /* the device header's grout_watchdog */
} grout_gpu_param_kind;

typedef struct grout_gpu_param {
    grout_gpu_param_kind kind;
    uint32_t buffer; /* index into the launch's buffers */
    uint64_t offset_bytes;
    grout_gpu_tensor_map map;
    unsigned char scalar[16];
    uint32_t scalar_size;
} grout_gpu_param;

/* One kernel launch of the sequence. */
typedef struct grout_gpu_step {
    uint32_t image;     /* index into the launch's images */
    const char *kernel; /* its name in the image */
    grout_gpu_shape shape;
    const grout_gpu_param *params;
    uint32_t param_count;
    bool is_timed;
} grout_gpu_step;

/*
 * The whole launch. All pointers are borrowed during the call. Steps run one after another, once (a
 * programmatic one may begin before the one before it has ended, and scratch is not filled
 * between); then the outputs are read; then each timed step is repeated on the same buffers.
 */
typedef struct grout_gpu_job {
    uint32_t device;
    int cc_major, cc_minor;    /* the kernels' architecture: 9, 0 for sm_90a; 0: not checked */
    const void *const *images; /* cubins */
    uint32_t image_count;
    const grout_gpu_buffer *buffers;
    uint32_t buffer_count;
    const grout_gpu_step *steps;
    uint32_t step_count;
    struct {
        uint32_t warm_up, repeats; /* repeats 0: nothing is timed */
        bool flush_l2;             /* before each repetition */
    } timing;
    uint64_t watchdog_ns;                /* of one wait; 0: GROUT_GPU_WATCHDOG_NS */
    uint32_t timeout_ms;                 /* of everything; 0: GROUT_GPU_TIMEOUT_MS */
    bool (*is_cancelled)(void *payload); /* asked about ten times a second; NULL: never */
    void *payload;
} grout_gpu_job;

/* Codes of a record. */
enum { GROUT_GPU_HANG_BARRIER = 1, GROUT_GPU_HANG_SEMAPHORE = 2, GROUT_GPU_HANG_CHECK = 3 };

/* What a thread waited for when the watchdog ended it. Written by the device header. */
typedef struct grout_gpu_hang {
    uint32_t code;    /* 1 barrier, 2 semaphore, 3 a debug_check that failed */
    uint32_t cta[3];  /* x, y, z */
    uint32_t thread;  /* warpgroup of the CTA */
    uint32_t barrier; /* number of the barrier array in the kernel; 3: the operation */
    uint32_t slot;    /* index into it; 3: the element of the condition */
    uint32_t parity;  /* the phase it waited for, modulo 2; 3: bits of values that are unknown */
    uint32_t line;    /* of the kernel's text */
    uint32_t actor;   /* 0: the whole thread, 1 + w: its warp w (warp_map) */
    uint64_t waited_ns;
    uint64_t values[8]; /* 3: the bits of the values that its text shows */
} grout_gpu_hang;

typedef struct grout_gpu_step_result {
    grout_gpu_kernel_info info;
    uint32_t time_count;
    float *times_ms; /* in the order they were taken; owned by the outcome */
    float median_ms, min_ms;
} grout_gpu_step_result;

/* Zero-initialise. */
typedef struct grout_gpu_outcome {
    grout_gpu_device device;
    grout_gpu_step_result *steps; /* as many as the launch has; owned */
    uint32_t step_count;
    uint32_t failed_step;  /* after gpu-fault and gpu-hang: which one was running */
    grout_gpu_hang *hangs; /* after gpu-hang, by CTA and thread; owned */
    uint32_t hang_count;   /* GROUT_GPU_HANGS_MAX: there may have been more */
    float *times_ms;       /* what the steps point into */
} grout_gpu_outcome;

/*
 * Runs a launch. On failure the error's code says what kind:
 *   gpu-missing       no driver, no GPU, or not one that runs the images
 *   gpu-unsupported   the image is for another architecture
 *   gpu-fault         a kernel trapped; failed_step
 *   gpu-hang          the watchdog ended it (hangs), or the time limit (no hangs); failed_step
 *   gpu-driver        a call of the driver failed, or its process died
 *   tma-*             a tensor map breaks a rule (nothing was run)
 *   interrupted       is_cancelled said so
 *   out-of-memory     on the host or on the device
 *   internal-error    the launch contradicts itself
 * The outcome holds what became known in any case; free it with grout_gpu__outcome_deinit.
 *
 * A kernel's printf goes to the child's standard output, whose buffer is a copy of the caller's:
 * flush that before.
 */
bool grout_gpu__launch_run(const grout_gpu_job *job, grout_gpu_outcome *outcome,
                           grout_gpu_error *error);
void grout_gpu__outcome_deinit(grout_gpu_outcome *outcome);

/* Checks a launch without running it: what grout_gpu__launch_run does first. Needs no GPU. */
bool grout_gpu__launch_validate(const grout_gpu_job *job, grout_gpu_error *error);

/* Asks, in a child process too, what GPUs there are: at most count of them. */
bool grout_gpu__probe_devices(grout_gpu_device *out, uint32_t count, uint32_t *found_out,
                              grout_gpu_error *error);

#endif
