/*
 * gpu_nvrtc.h - for the tests of gpu_backend/ that compile much: the NVRTC they use, whether there
 * is one, and what it says of a text that it refuses.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_GPU_NVRTC_H
#define GROUT_TEST_GPU_NVRTC_H

#include "gpu_backend/run/nvrtc.h"
#include "tests/unit/support/gpu_text.h"

#include <stdlib.h>

/* The machine's, in a process without sanitizers: outside_nvrtc.c. Each text is compiled once: the
 * tests share the cache, and keep it from run to run. */
static const grout_nvrtc_options nvrtc_options = {.library = GROUT_TEST_NVRTC,
                                                  .cache_dir = GROUT_TEST_NVRTC_CACHE};

static inline bool has_nvrtc(void) {
    grout_diags *diags = grout_diags_new();
    grout_binary binary = {0};
    const bool is_there = grout_compile_cuda("extern \"C\" __global__ void k() {}", "k",
                                             GROUT_BINARY_CUBIN, &nvrtc_options, &binary, diags);
    grout_binary_free(&binary);
    grout_diags_free(diags);
    return is_there;
}

/* ---- what NVRTC refuses ---- */

#define ERRORS_SHOWN 8

static inline void print_line(uint32_t number, const char *line) {
    fprintf(stderr, "  %5u | %.*s\n", number, (int)strcspn(line, "\n"), line);
}

/* A line of the source, and the last comment before it: in an emitted kernel that is the op's text.
 */
static inline void print_source_line(const char *source, uint32_t wanted) {
    const char *comment = NULL, *at = source;
    uint32_t comment_number = 0, number = 1;
    for (; number < wanted && strchr(at, '\n') != NULL; number++) {
        if (strncmp(at + strspn(at, " "), "//", 2) == 0) {
            comment = at;
            comment_number = number;
        }
        at = strchr(at, '\n') + 1;
    }
    if (comment != NULL) {
        print_line(comment_number, comment);
    }
    print_line(number, at);
}

/* Each line of the log that says error, and the line of the source that it names. */
static inline void print_errors(const char *log, const char *source) {
    uint32_t count = 0;
    for (const char *at = log; *at != '\0';) {
        const size_t size = strcspn(at, "\n");
        const char *error = strstr(at, "error"), *place = strchr(at, '(');
        if (error != NULL && error < at + size && count++ < ERRORS_SHOWN) {
            fprintf(stderr, "%.*s\n", (int)size, at);
            if (place != NULL && place < error) {
                print_source_line(source, (uint32_t)strtoul(place + 1, NULL, 10));
            }
        }
        at += size + (at[size] == '\n' ? 1 : 0);
    }
    if (count > ERRORS_SHOWN) {
        fprintf(stderr, "... and %u more\n", count - ERRORS_SHOWN);
    }
}

/* The whole log of a text that does not compile; a diagnostic has its first error alone. */
static inline void print_nvrtc_errors(const char *source) {
    static const char *const options[] = {"--std=c++17", "--fmad=false"};
    const grout_gpu_nvrtc_search anywhere = {.path = NULL};
    const grout_gpu_source text = {.name = "source.cu",
                                   .text = source,
                                   .arch = "sm_90a",
                                   .options = options,
                                   .option_count = 2,
                                   .output = GROUT_GPU_OUTPUT_CUBIN};
    grout_gpu_nvrtc nvrtc = {0};
    grout_gpu_compiled compiled = {0};
    grout_gpu_error error = {0};
    if (!grout_gpu__nvrtc_open(&anywhere, &nvrtc, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return;
    }
    (void)grout_gpu__nvrtc_compile(&nvrtc, &text, &compiled, &error);
    print_errors(compiled.log == NULL ? "" : compiled.log, source);
    grout_gpu__compiled_deinit(&compiled);
    grout_gpu__nvrtc_close(&nvrtc);
}

/* Fails the test of a kernel that is not emitted (source NULL) or not compiled. */
static inline void fail_to_compile(const char *name, const char *source, const grout_diags *diags) {
    if (source != NULL) {
        print_nvrtc_errors(source);
    }
    fail_with_diags(name, diags, "");
}

#endif
