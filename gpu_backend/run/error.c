/* error.c - filling a grout_gpu_error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

bool grout_gpu__fail(grout_gpu_error *error, grout_diag_code code, const char *format, ...) {
    va_list arguments;
    error->code = code;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

bool grout_gpu__fail_memory(grout_gpu_error *error, const char *what) {
    return grout_gpu__fail(error, GROUT_DIAG_OUT_OF_MEMORY, "no host memory for %s", what);
}
