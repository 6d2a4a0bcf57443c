/*
 * outside_nvrtc.h - what outside_nvrtc.c and its worker, nvrtc_worker.c, say to each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The worker's arguments are the source's name and the compiler's options, the source is its
 * standard input up to its end. Its output is a reply, then the cubin, then the log. Without
 * arguments it only says which NVRTC it has found.
 */
#ifndef GROUT_TESTS_OUTSIDE_NVRTC_H
#define GROUT_TESTS_OUTSIDE_NVRTC_H

#include <stddef.h>

typedef struct outside_reply {
    int major, minor;
    int result;        /* of nvrtcCompileProgram */
    size_t cubin_size; /* 0 unless it succeeded */
    size_t log_size;   /* with its NUL */
} outside_reply;

#endif
