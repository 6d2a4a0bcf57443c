/*
 * error.h - why something in gpu_backend/ failed, as plain data.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It has no pointers, so that it can travel from the child process of a launch to its parent. The
 * code is one of diag.def; handing an error on is grout_diags_add(diags, error.code, place, "%s",
 * error.text).
 */
#ifndef GROUT_GPU_ERROR_H
#define GROUT_GPU_ERROR_H

#include <stdbool.h>

#include "grout-internal/diagnose.h"

typedef struct grout_gpu_error {
    grout_diag_code code; /* GROUT_DIAG_NONE: nothing failed */
    char text[1020];      /* one line, without full stop */
} grout_gpu_error;

/* Fills error and returns false, so that a failing function can end with it. Text that does not fit
 * is cut. */
bool grout_gpu__fail(grout_gpu_error *error, grout_diag_code code, const char *format, ...)
    GROUT_PRINTF(3, 4);
/* The same for malloc that returned NULL; what names the thing there was no room for. */
bool grout_gpu__fail_memory(grout_gpu_error *error, const char *what);

#endif
