/*
 * outside_nvrtc.h - what outside_nvrtc.c and its worker, nvrtc_worker.c, say to each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The worker answers one request after another until its standard input ends. After a request come
 * its texts, each with its NUL: the source's name, the compiler's options, the source. Without any
 * it only says which NVRTC it has found. GROUT_TEST_NVRTC_OPTION in the environment of the process
 * that starts the worker is one more option of all compilations. The answer is a reply, then the
 * cubin, then the log.
 */
#ifndef GROUT_TESTS_OUTSIDE_NVRTC_H
#define GROUT_TESTS_OUTSIDE_NVRTC_H

#include <stddef.h>

#define OUTSIDE_OPTIONS_MAX 16

typedef struct outside_request {
    size_t option_count;
    size_t text_size; /* of all texts; 0: nothing is to be compiled */
} outside_request;

typedef struct outside_reply {
    int major, minor;
    int result;        /* of nvrtcCompileProgram */
    size_t cubin_size; /* 0 unless it succeeded */
    size_t log_size;   /* with its NUL */
} outside_reply;

#endif
