/*
 * fake_nvrtc.h - functions of our own in NVRTC's place. What a compilation does is the source:
 * SPDX-License-Identifier: Apache-2.0
 *
 * - refused: fails, with a log
 * - silent: succeeds, without a log
 * - killed, ended: the process that compiles ends
 * - cut off: the image cannot be sent to its end
 * - anything else: succeeds
 */
#ifndef GROUT_TESTS_FAKE_NVRTC_H
#define GROUT_TESTS_FAKE_NVRTC_H

#include "gpu_backend/run/nvrtc.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than a pipe holds, so that both sides have to write and read several times. */
#define FAKE_IMAGE_SIZE ((size_t)1 << 20)
#define FAKE_LOG_SIZE   ((size_t)300000)

static const char fake_refusal[] = "k.cu(7): error: identifier \"y\" is undefined\n";

static const char *fake_error_string(grout_nvrtc_result result) {
    return result == 0 ? "fine" : "NVRTC_ERROR_FAKE";
}
/* The source itself is the program. */
static inline grout_nvrtc_result fake_create_program(grout_nvrtc_program *out, const char *source,
                                                     const char *name, int header_count,
                                                     const char *const *headers,
                                                     const char *const *names) {
    memcpy(out, &source, sizeof source);
    return name == NULL || header_count != 0 || headers == NULL || names == NULL;
}
static inline bool fake_is(grout_nvrtc_program program, const char *word) {
    const char *source = NULL;
    memcpy(&source, &program, sizeof source);
    return strcmp(source, word) == 0;
}
static inline grout_nvrtc_result fake_destroy_program(grout_nvrtc_program *program) {
    *program = NULL;
    return 0;
}
static inline grout_nvrtc_result fake_compile_program(grout_nvrtc_program program, int option_count,
                                                      const char *const *options) {
    if (fake_is(program, "killed")) {
        (void)raise(SIGKILL);
    } else if (fake_is(program, "ended")) {
        _exit(0);
    }
    return fake_is(program, "refused") ? 6 : option_count < 2 || options[0] == NULL;
}
static inline grout_nvrtc_result fake_get_size(grout_nvrtc_program program, size_t *out) {
    (void)program;
    *out = FAKE_IMAGE_SIZE;
    return 0;
}
static inline grout_nvrtc_result fake_get_image(grout_nvrtc_program program, char *out) {
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < FAKE_IMAGE_SIZE; i++) {
        out[i] = (char)(i * 31 % 251);
    }
    /* The kernel reads up to the page that nobody may read, and the child cannot send the rest. */
    if (fake_is(program, "cut off")) {
        char *middle = out + FAKE_IMAGE_SIZE / 2;
        middle += page_size - (uintptr_t)middle % page_size;
        return mprotect(middle, page_size, PROT_NONE);
    }
    return 0;
}
static inline grout_nvrtc_result fake_get_log_size(grout_nvrtc_program program, size_t *out) {
    *out = fake_is(program, "silent") ? 0 : FAKE_LOG_SIZE;
    return 0;
}
static inline grout_nvrtc_result fake_get_log(grout_nvrtc_program program, char *out) {
    (void)program;
    memset(out, '.', FAKE_LOG_SIZE - 1);
    memcpy(out, fake_refusal, sizeof fake_refusal - 1);
    out[FAKE_LOG_SIZE - 1] = '\0';
    return 0;
}

static const grout_gpu_nvrtc fake_nvrtc = {.major = 13,
                                           .api = {.get_error_string = fake_error_string,
                                                   .create_program = fake_create_program,
                                                   .destroy_program = fake_destroy_program,
                                                   .compile_program = fake_compile_program,
                                                   .get_ptx_size = fake_get_size,
                                                   .get_ptx = fake_get_image,
                                                   .get_cubin_size = fake_get_size,
                                                   .get_cubin = fake_get_image,
                                                   .get_log_size = fake_get_log_size,
                                                   .get_log = fake_get_log}};

#endif
