/*
 * outside_nvrtc.c - a libnvrtc whose compilations run in one other process, nvrtc_worker.c. So the
 * tests that compile much have the sanitizers in all of our code, and NVRTC itself is outside.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cubins only, and no headers beside the source: nothing else is asked for.
 */
#include "outside_nvrtc.h"
#include "gpu_backend/run/bytes.h"
#include "gpu_backend/run/cuda_api.h"

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAILED = 11 }; /* NVRTC_ERROR_INTERNAL_ERROR */

/* Each name is exported as NVRTC exports it. */
#define EXPORT __attribute__((visibility("default")))
#define NVRTC(type, name, ...)     \
    EXPORT type name(__VA_ARGS__); \
    EXPORT type name(__VA_ARGS__)

extern char **environ;

struct grout_nvrtc_program_object {
    char *source, *name;
    outside_reply reply;
    char *cubin, *log;
};

/* ---- the worker ---- */

/* The process that nvrtcVersion starts, before anything is compiled: what compiles may be a child
 * of the process that opened this library. It ends when nobody holds its standard input any more.
 */
typedef struct worker {
    bool is_started;
    int input, output;
} worker;

static worker the_worker;

/* Starts it with the ends of two pipes as its standard streams. */
static bool start(worker *out) {
    char *arguments[] = {GROUT_TEST_NVRTC_WORKER, getenv("GROUT_TEST_NVRTC_OPTION"), NULL};
    posix_spawn_file_actions_t actions;
    int in[2], back[2];
    pid_t process;
    if (pipe(in) != 0) {
        return false;
    }
    if (pipe(back) != 0) {
        (void)close(in[0]);
        (void)close(in[1]);
        return false;
    }
    bool is_started = posix_spawn_file_actions_init(&actions) == 0;
    if (is_started) {
        is_started =
            posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO) == 0 &&
            posix_spawn_file_actions_adddup2(&actions, back[1], STDOUT_FILENO) == 0 &&
            posix_spawn_file_actions_addclose(&actions, in[1]) == 0 &&
            posix_spawn_file_actions_addclose(&actions, back[0]) == 0 &&
            posix_spawn(&process, GROUT_TEST_NVRTC_WORKER, &actions, NULL, arguments, environ) == 0;
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(in[0]);
    (void)close(back[1]);
    /* Where the machine has no NVRTC the worker ends at once: then a write to it fails. */
    (void)signal(SIGPIPE, SIG_IGN);
    *out = (worker){is_started, in[1], back[0]};
    if (!is_started) {
        (void)close(out->input);
        (void)close(out->output);
    }
    return is_started;
}

/* One piece of the answer, with a NUL that is not counted. */
static char *receive(const worker *w, size_t size) {
    char *data = calloc(size + 1, 1);
    if (data != NULL && !grout_gpu__read_all(w->output, data, size)) {
        free(data);
        return NULL;
    }
    return data;
}

static bool send_text(const worker *w, const char *text) {
    return grout_gpu__write_all(w->input, text, strlen(text) + 1);
}

static bool ask_version(const worker *w, outside_reply *reply) {
    const outside_request request = {0};
    return grout_gpu__write_all(w->input, &request, sizeof request) &&
           grout_gpu__read_all(w->output, reply, sizeof *reply);
}

static bool ask_program(const worker *w, grout_nvrtc_program program, size_t option_count,
                        const char *const *options) {
    outside_request request = {option_count, strlen(program->name) + strlen(program->source) + 2};
    for (size_t i = 0; i < option_count; i++) {
        request.text_size += strlen(options[i]) + 1;
    }
    bool is_good =
        grout_gpu__write_all(w->input, &request, sizeof request) && send_text(w, program->name);
    for (size_t i = 0; is_good && i < option_count; i++) {
        is_good = send_text(w, options[i]);
    }
    if (!is_good || !send_text(w, program->source) ||
        !grout_gpu__read_all(w->output, &program->reply, sizeof program->reply)) {
        return false;
    }
    program->cubin = receive(w, program->reply.cubin_size);
    program->log = receive(w, program->reply.log_size);
    return program->cubin != NULL && program->log != NULL;
}

/* ---- NVRTC's functions ---- */

NVRTC(const char *, nvrtcGetErrorString, grout_nvrtc_result result) {
    return result == GROUT_NVRTC_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "the worker failed";
}

/* The worker is asked once: every compilation opens the library and asks for the version. */
NVRTC(grout_nvrtc_result, nvrtcVersion, int *major, int *minor) {
    static outside_reply found;
    if (found.major == 0 &&
        ((!the_worker.is_started && !start(&the_worker)) || !ask_version(&the_worker, &found))) {
        found = (outside_reply){0};
        return FAILED;
    }
    *major = found.major;
    *minor = found.minor;
    return GROUT_NVRTC_SUCCESS;
}

NVRTC(grout_nvrtc_result, nvrtcDestroyProgram, grout_nvrtc_program *program) {
    free((*program)->source);
    free((*program)->name);
    free((*program)->cubin);
    free((*program)->log);
    free(*program);
    *program = NULL;
    return GROUT_NVRTC_SUCCESS;
}

NVRTC(grout_nvrtc_result, nvrtcCreateProgram, grout_nvrtc_program *out, const char *source,
      const char *name, int header_count, const char *const *headers,
      const char *const *include_names) {
    (void)headers;
    (void)include_names;
    *out = header_count == 0 ? calloc(1, sizeof **out) : NULL;
    if (*out == NULL) {
        return FAILED;
    }
    (*out)->source = strdup(source);
    (*out)->name = strdup(name);
    if ((*out)->source == NULL || (*out)->name == NULL) {
        (void)nvrtcDestroyProgram(out);
        return FAILED;
    }
    return GROUT_NVRTC_SUCCESS;
}

NVRTC(grout_nvrtc_result, nvrtcCompileProgram, grout_nvrtc_program program, int option_count,
      const char *const *options) {
    const bool is_answered = option_count <= OUTSIDE_OPTIONS_MAX && the_worker.is_started &&
                             ask_program(&the_worker, program, (size_t)option_count, options);
    return is_answered ? program->reply.result : FAILED;
}

NVRTC(grout_nvrtc_result, nvrtcGetCUBINSize, grout_nvrtc_program program, size_t *out) {
    *out = program->reply.cubin_size;
    return GROUT_NVRTC_SUCCESS;
}

NVRTC(grout_nvrtc_result, nvrtcGetCUBIN, grout_nvrtc_program program, char *out) {
    memcpy(out, program->cubin, program->reply.cubin_size);
    return GROUT_NVRTC_SUCCESS;
}

NVRTC(grout_nvrtc_result, nvrtcGetProgramLogSize, grout_nvrtc_program program, size_t *out) {
    *out = program->log == NULL ? 0 : program->reply.log_size;
    return GROUT_NVRTC_SUCCESS;
}

NVRTC(grout_nvrtc_result, nvrtcGetProgramLog, grout_nvrtc_program program, char *out) {
    memcpy(out, program->log, program->reply.log_size);
    return GROUT_NVRTC_SUCCESS;
}

NVRTC(grout_nvrtc_result, nvrtcGetPTXSize, grout_nvrtc_program program, size_t *out) {
    (void)program;
    *out = 0;
    return FAILED;
}

NVRTC(grout_nvrtc_result, nvrtcGetPTX, grout_nvrtc_program program, char *out) {
    (void)program;
    (void)out;
    return FAILED;
}
