/*
 * nvrtc_worker.c - one compilation with the machine's NVRTC; see outside_nvrtc.h.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It is built without sanitizers, whatever the preset: under ASan, which serves every allocation of
 * the process, NVRTC takes about four times as long. Exit code 1: there is no NVRTC, and stderr
 * says what was tried.
 */
#include "gpu_backend/run/bytes.h"
#include "gpu_backend/run/nvrtc.h"
#include "outside_nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What was made: the cubin, and the log with its NUL. */
typedef struct product {
    char *cubin, *log;
} product;

/* All of a file as a text, or NULL. */
static char *read_text(FILE *file) {
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text != NULL) {
        size += fread(text + size, 1, room - size - 1, file);
        if (size < room - 1) {
            text[size] = '\0';
            return text;
        }
        char *larger = realloc(text, room *= 2);
        if (larger == NULL) {
            free(text);
        }
        text = larger;
    }
    return NULL;
}

static bool take_results(const grout_nvrtc_api *api, grout_nvrtc_program program,
                         outside_reply *reply, product *made) {
    if (api->get_log_size(program, &reply->log_size) != 0 ||
        (reply->result == 0 && api->get_cubin_size(program, &reply->cubin_size) != 0)) {
        return false;
    }
    made->log = calloc(reply->log_size + 1, 1);
    made->cubin = calloc(reply->cubin_size + 1, 1);
    return made->log != NULL && made->cubin != NULL && api->get_log(program, made->log) == 0 &&
           (reply->cubin_size == 0 || api->get_cubin(program, made->cubin) == 0);
}

static bool compile(const grout_nvrtc_api *api, const char *name, int option_count,
                    const char *const *options, outside_reply *reply, product *made) {
    grout_nvrtc_program program = NULL;
    char *text = read_text(stdin);
    bool is_done = text != NULL && api->create_program(&program, text, name, 0, NULL, NULL) == 0;
    if (is_done) {
        reply->result = api->compile_program(program, option_count, options);
        is_done = take_results(api, program, reply, made);
        (void)api->destroy_program(&program);
    }
    free(text);
    return is_done;
}

int main(int argc, char **argv) {
    const grout_gpu_nvrtc_search anywhere = {.path = NULL};
    grout_gpu_nvrtc nvrtc;
    grout_gpu_error error;
    product made = {0};
    if (!grout_gpu__nvrtc_open(&anywhere, &nvrtc, &error)) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    outside_reply reply = {.major = nvrtc.major, .minor = nvrtc.minor};
    const bool is_done = (argc < 2 || compile(&nvrtc.api, argv[1], argc - 2,
                                              (const char *const *)argv + 2, &reply, &made)) &&
                         grout_gpu__write_all(STDOUT_FILENO, &reply, sizeof reply) &&
                         grout_gpu__write_all(STDOUT_FILENO, made.cubin, reply.cubin_size) &&
                         grout_gpu__write_all(STDOUT_FILENO, made.log, reply.log_size);
    free(made.cubin);
    free(made.log);
    return is_done ? 0 : 2;
}
