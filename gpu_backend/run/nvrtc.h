/*
 * nvrtc.h - NVRTC, opened at run time: CUDA C++ text in, PTX or a cubin and the compiler's log out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An open library is read-only: several OS threads may compile with it at once.
 */
#ifndef GROUT_GPU_NVRTC_H
#define GROUT_GPU_NVRTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_api.h"
#include "error.h"

/* sm_90a exists since CUDA 12.0. */
#define GROUT_GPU_NVRTC_MAJOR_MIN 12

/* Where to look. Everything is borrowed during the call; zero means nothing to add. */
typedef struct grout_gpu_nvrtc_search {
    const char *path;              /* this library and no other (--nvrtc, GROUT_NVRTC) */
    const char *const *candidates; /* before the usual names, each as dlopen takes it */
    uint32_t candidate_count;
    const char *const *cuda_homes; /* CUDA_HOME: DIR/lib64, DIR/lib are looked into */
    uint32_t cuda_home_count;
} grout_gpu_nvrtc_search;

/* Zero-initialise; grout_gpu__nvrtc_close gives it back. */
typedef struct grout_gpu_nvrtc {
    void *library;
    grout_nvrtc_api api;
    int major, minor;
    char path[512]; /* of the library found */
} grout_gpu_nvrtc;

/*
 * Opens the first library of at least version 12.0 among: the path alone; or the candidates,
 * libnvrtc.so.13 and libnvrtc.so.12 on the loader's path, the CUDA homes, /usr/local/cuda and
 * /usr/local/cuda-*. None: nvrtc-missing, with what was tried.
 */
bool grout_gpu__nvrtc_open(const grout_gpu_nvrtc_search *search, grout_gpu_nvrtc *nvrtc,
                           grout_gpu_error *error);
void grout_gpu__nvrtc_close(grout_gpu_nvrtc *nvrtc);

typedef enum grout_gpu_output { GROUT_GPU_OUTPUT_CUBIN, GROUT_GPU_OUTPUT_PTX } grout_gpu_output;

typedef struct grout_gpu_header {
    const char *name; /* as #include writes it */
    const char *text;
} grout_gpu_header;

/* One compilation; everything is borrowed during the call. */
typedef struct grout_gpu_source {
    const char *name; /* for messages; #line directives in the text overrule it */
    const char *text;
    const grout_gpu_header *headers;
    uint32_t header_count;
    const char *arch;           /* sm_90a */
    const char *const *options; /* passed on as they are, e.g. --fmad=false */
    uint32_t option_count;
    grout_gpu_output output;
    bool is_in_process; /* no child process */
} grout_gpu_source;

/* What came out of it. Free with grout_gpu__compiled_deinit, also after a failure. */
typedef struct grout_gpu_compiled {
    unsigned char *image; /* the cubin, or PTX with a final NUL that size does not count */
    size_t size;
    char *log; /* NUL-terminated, "" when the compiler said nothing */
} grout_gpu_compiled;

/*
 * Compiles. Refused source: nvrtc-failed, whose text opens with the first line of the log; out->log
 * has all of it. --ptxas-options=-v is always among the options: ptxas_log.h reads what it says.
 */
bool grout_gpu__nvrtc_compile(const grout_gpu_nvrtc *nvrtc, const grout_gpu_source *source,
                              grout_gpu_compiled *out, grout_gpu_error *error);
/* The same in this process, as the source can ask for. NVRTC initialises the CUDA driver where
 * there is one, and a process that has done so cannot start launches that run in children:
 * otherwise nvrtc_child.c keeps it out of ours. */
bool grout_gpu__nvrtc_compile_here(const grout_gpu_nvrtc *nvrtc, const grout_gpu_source *source,
                                   grout_gpu_compiled *out, grout_gpu_error *error);
void grout_gpu__compiled_deinit(grout_gpu_compiled *compiled);

#endif
