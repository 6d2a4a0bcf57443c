/*
 * nvrtc_worker.c - compilations with the machine's NVRTC; see outside_nvrtc.h.
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
#include <string.h>
#include <unistd.h>

/* What was made: the cubin, and the log with its NUL. */
typedef struct product {
    char *cubin, *log;
} product;

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

/* Every compilation has it after its own options; NULL: there is none. */
static const char *more_option;

/* Compiles the source among the texts. */
static bool compile(const grout_nvrtc_api *api, const outside_request *request, const char *texts,
                    outside_reply *reply, product *made) {
    const char *options[OUTSIDE_OPTIONS_MAX + 1];
    int option_count = (int)request->option_count;
    const char *name = texts, *at = name + strlen(name) + 1;
    for (size_t i = 0; i < request->option_count; i++) {
        options[i] = at;
        at += strlen(at) + 1;
    }
    if (more_option != NULL) {
        options[option_count++] = more_option;
    }
    grout_nvrtc_program program = NULL;
    bool is_done = api->create_program(&program, at, name, 0, NULL, NULL) == 0;
    if (is_done) {
        reply->result = api->compile_program(program, option_count, options);
        is_done = take_results(api, program, reply, made);
        (void)api->destroy_program(&program);
    }
    return is_done;
}

/* Reads the texts of a request, and sends the reply. */
static bool answer(const grout_gpu_nvrtc *nvrtc, const outside_request *request) {
    outside_reply reply = {.major = nvrtc->major, .minor = nvrtc->minor};
    product made = {0};
    char *texts = calloc(request->text_size + 1, 1);
    const bool is_done =
        texts != NULL && request->option_count <= OUTSIDE_OPTIONS_MAX &&
        grout_gpu__read_all(STDIN_FILENO, texts, request->text_size) &&
        (request->text_size == 0 || compile(&nvrtc->api, request, texts, &reply, &made)) &&
        grout_gpu__write_all(STDOUT_FILENO, &reply, sizeof reply) &&
        grout_gpu__write_all(STDOUT_FILENO, made.cubin, reply.cubin_size) &&
        grout_gpu__write_all(STDOUT_FILENO, made.log, reply.log_size);
    free(texts);
    free(made.cubin);
    free(made.log);
    return is_done;
}

int main(int argc, char **argv) {
    const grout_gpu_nvrtc_search anywhere = {.path = NULL};
    grout_gpu_nvrtc nvrtc;
    grout_gpu_error error;
    outside_request request;
    if (!grout_gpu__nvrtc_open(&anywhere, &nvrtc, &error)) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    more_option = argc > 1 ? argv[1] : NULL;
    while (grout_gpu__read_all(STDIN_FILENO, &request, sizeof request)) {
        if (!answer(&nvrtc, &request)) {
            return 2;
        }
    }
    return 0;
}
