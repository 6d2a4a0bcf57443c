/* SPDX-License-Identifier: Apache-2.0 */
/* xla.h - custom calls of XLA with all that a launch can have. */
#ifndef GROUT_INTERNAL_XLA_H
#define GROUT_INTERNAL_XLA_H

#include "grout-internal/function.h"
#include "grout/xla.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_xla_handler_options {
    /* The kernel, and how it runs on the CPU. module: bound and verified. Each call gives the
     * arguments: the launch has none. What it points to is borrowed until the handler is freed. */
    grout_launch launch;
    /* Not NULL: calls are launches of this program, which is of the same kernel, on XLA's CUDA
     * platform; borrowed until the handler is freed. NULL: for XLA's CPU platform. */
    grout_gpu_program *program;
} grout_xla_handler_options;

/* As grout_xla_handler_new. */
grout_xla_handler *grout_xla_handler_make(const grout_xla_handler_options *options,
                                          grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
