/* nvrtc_child.c - compiles in a child process, so that this one never initialises the CUDA driver.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"
#include "nvrtc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child sends first; image and log follow. */
typedef struct reply {
    bool is_done;
    size_t size;     /* of the image; one byte more follows, the final NUL of PTX */
    size_t log_size; /* without its NUL */
    bool has_log;
    grout_gpu_error error;
} reply;

/* The child: compiles, sends, ends. */
static void work(int end, const grout_gpu_nvrtc *nvrtc, const grout_gpu_source *source) {
    reply answer;
    grout_gpu_compiled compiled = {0};
    (void)signal(SIGINT, SIG_IGN); /* lint-allow: signal, in the child process only */
    memset(&answer, 0, sizeof answer);
    answer.is_done = grout_gpu__nvrtc_compile_here(nvrtc, source, &compiled, &answer.error);
    answer.size = answer.is_done ? compiled.size : 0;
    answer.has_log = compiled.log != NULL;
    answer.log_size = answer.has_log ? strlen(compiled.log) : 0;
    const bool is_sent =
        grout_gpu__write_all(end, &answer, sizeof answer) &&
        (!answer.is_done || grout_gpu__write_all(end, compiled.image, answer.size + 1)) &&
        grout_gpu__write_all(end, answer.has_log ? compiled.log : "", answer.log_size);
    _exit(is_sent ? 0 : 1); /* lint-allow: _exit, in the child process only */
}

static bool receive(int end, grout_gpu_compiled *out, grout_gpu_error *error) {
    reply answer;
    if (!grout_gpu__read_all(end, &answer, sizeof answer)) {
        return grout_gpu__fail(error, GROUT_DIAG_NVRTC_FAILED,
                               "the process that runs NVRTC ended without an answer");
    }
    out->log = answer.has_log ? calloc(answer.log_size + 1, 1) : NULL;
    out->image = answer.is_done ? calloc(answer.size + 1, 1) : NULL;
    if ((answer.has_log && out->log == NULL) || (answer.is_done && out->image == NULL)) {
        return grout_gpu__fail_memory(error, "the compiled image");
    }
    out->size = answer.size;
    if ((answer.is_done && !grout_gpu__read_all(end, out->image, answer.size + 1)) ||
        (answer.has_log && !grout_gpu__read_all(end, out->log, answer.log_size))) {
        return grout_gpu__fail(error, GROUT_DIAG_NVRTC_FAILED,
                               "the process that runs NVRTC ended in the middle of its answer");
    }
    if (!answer.is_done) {
        *error = answer.error;
    }
    return answer.is_done;
}

bool grout_gpu__nvrtc_compile(const grout_gpu_nvrtc *nvrtc, const grout_gpu_source *source,
                              grout_gpu_compiled *out, grout_gpu_error *error) {
    int ends[2];
    if (source->is_in_process) {
        return grout_gpu__nvrtc_compile_here(nvrtc, source, out, error);
    }
    *out = (grout_gpu_compiled){0};
    if (pipe(ends) != 0) {
        return grout_gpu__fail(error, GROUT_DIAG_NVRTC_FAILED, "cannot make a pipe: %s",
                               strerror(errno));
    }
    const pid_t child = fork();
    if (child < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return grout_gpu__fail(error, GROUT_DIAG_NVRTC_FAILED, "cannot start a process: %s",
                               strerror(errno));
    }
    if (child == 0) {
        (void)close(ends[0]);
        work(ends[1], nvrtc, source);
    }
    (void)close(ends[1]);
    const bool is_done = receive(ends[0], out, error);
    (void)close(ends[0]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return is_done;
}
