/*
 * ptxas_log.h - what the assembler says about each kernel: registers, spills, SMEM, notes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_PTXAS_LOG_H
#define GROUT_GPU_PTXAS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* One kernel's part of the log of --ptxas-options=-v. */
typedef struct grout_gpu_resources {
    char kernel[256]; /* a longer name is cut */
    uint32_t registers;
    uint32_t stack_bytes, spill_store_bytes, spill_load_bytes;
    uint32_t static_smem_bytes;
    uint32_t named_barriers;
} grout_gpu_resources;

typedef struct grout_gpu_ptxas_log {
    grout_gpu_resources *kernels; /* owned */
    uint32_t kernel_count;
    char *notes; /* owned: the lines with a (C7xxx) code and all warnings, one a line; "" if none */
} grout_gpu_ptxas_log;

/* Reads a log (NUL-terminated; lines it does not know are skipped). Fails only without memory. Free
 * with grout_gpu__ptxas_log_deinit. */
bool grout_gpu__ptxas_log_parse(const char *text, grout_gpu_ptxas_log *out, grout_gpu_error *error);
void grout_gpu__ptxas_log_deinit(grout_gpu_ptxas_log *log);

/* The kernel's resources, or NULL. */
const grout_gpu_resources *grout_gpu__ptxas_log_find(const grout_gpu_ptxas_log *log,
                                                     const char *kernel);

#endif
