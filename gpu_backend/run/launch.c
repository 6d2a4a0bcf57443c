/*
 * launch.c - the parent's side of a launch: checking it, the child process and its time limit, what
 * came back.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "launch.h"

#include "invariant.h"
#include "launch_child.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define POLL_MS 100 /* between two looks at is_cancelled */
#define KILL_WAIT_MS \
    5000 /* for a killed child; the driver can hold it for longer, then it is left */

/* ---- checking ---- */

static bool validate_param(const grout_gpu_job *job, const grout_gpu_param *param,
                           grout_gpu_error *error) {
    uint64_t end = param->offset_bytes;
    if (param->kind == GROUT_GPU_PARAM_SCALAR) {
        return (param->scalar_size >= 1 && param->scalar_size <= sizeof param->scalar) ||
               grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                               "a scalar parameter has 1 to %zu bytes, not %" PRIu32,
                               sizeof param->scalar, param->scalar_size);
    }
    if (param->kind == GROUT_GPU_PARAM_WATCHDOG) {
        return true;
    }
    if (param->buffer >= job->buffer_count) {
        return grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                               "a parameter names buffer %" PRIu32 " of %" PRIu32, param->buffer,
                               job->buffer_count);
    }
    const grout_gpu_buffer *buffer = &job->buffers[param->buffer];
    if (param->kind == GROUT_GPU_PARAM_TENSOR_MAP) {
        if (!grout_gpu__tensor_map_validate(&param->map, param->offset_bytes, error)) {
            return false;
        }
        const uint64_t span = grout_gpu__tensor_map_span_bytes(&param->map);
        end = span > UINT64_MAX - end ? UINT64_MAX : end + span;
    }
    return end <= buffer->size ||
           grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                           "a parameter reaches byte %" PRIu64 " of '%s', which has %" PRIu64, end,
                           buffer->name, buffer->size);
}

static bool validate_step(const grout_gpu_job *job, const grout_gpu_step *step,
                          grout_gpu_error *error) {
    if (step->image >= job->image_count || step->param_count > GROUT_GPU_PARAMS_MAX) {
        return grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                               "kernel '%s' is in image %" PRIu32 " of %" PRIu32 " and has %" PRIu32
                               " of at most %d parameters",
                               step->kernel, step->image, job->image_count, step->param_count,
                               GROUT_GPU_PARAMS_MAX);
    }
    for (int i = 0; i < 3; i++) {
        const uint32_t cluster = step->shape.cluster[i] == 0 ? 1 : step->shape.cluster[i];
        if (step->shape.grid[i] == 0 || step->shape.block[i] == 0 ||
            step->shape.grid[i] % cluster != 0) {
            return grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                                   "kernel '%s' has a grid of %" PRIu32 " blocks of %" PRIu32
                                   " in clusters of %" PRIu32 " along dimension %d",
                                   step->kernel, step->shape.grid[i], step->shape.block[i], cluster,
                                   i);
        }
    }
    for (uint32_t i = 0; i < step->param_count; i++) {
        if (!validate_param(job, &step->params[i], error)) {
            return false;
        }
    }
    return true;
}

static bool has_input(const grout_gpu_buffer *buffer) {
    return buffer->direction == GROUT_GPU_IN || buffer->direction == GROUT_GPU_INOUT;
}

static bool has_output(const grout_gpu_buffer *buffer) {
    return buffer->direction == GROUT_GPU_OUT || buffer->direction == GROUT_GPU_INOUT;
}

static bool validate_buffer(const grout_gpu_buffer *buffer, grout_gpu_error *error) {
    if (buffer->size > SIZE_MAX / 4 ||
        (buffer->size > 0 && ((has_input(buffer) && buffer->input == NULL) ||
                              (has_output(buffer) && buffer->output == NULL)))) {
        return grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                               "buffer '%s' of %" PRIu64 " bytes has no memory on the host",
                               buffer->name, buffer->size);
    }
    if (!has_input(buffer) && buffer->fill.pattern_size != 0 &&
        buffer->size % buffer->fill.pattern_size != 0) {
        return grout_gpu__fail(error, GROUT_DIAG_INTERNAL_ERROR,
                               "buffer '%s' of %" PRIu64 " bytes is filled %" PRIu32
                               " bytes at a time",
                               buffer->name, buffer->size, buffer->fill.pattern_size);
    }
    return true;
}

bool grout_gpu__launch_validate(const grout_gpu_job *job, grout_gpu_error *error) {
    for (uint32_t i = 0; i < job->buffer_count; i++) {
        if (!validate_buffer(&job->buffers[i], error)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < job->step_count; i++) {
        if (!validate_step(job, &job->steps[i], error)) {
            return false;
        }
    }
    return true;
}

/* ---- shared memory ---- */

/* A mapping that grows by reservations first, and is made in one piece then. */
typedef struct mapping {
    unsigned char *base;
    size_t size;
} mapping;

static size_t reserve(mapping *m, size_t size) {
    const size_t at = (m->size + 63) / 64 * 64;
    m->size = at + size;
    return at;
}

static bool map_memory(mapping *m, grout_gpu_error *error) {
    void *base = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        grout_gpu__fail(error, GROUT_DIAG_OUT_OF_MEMORY,
                        "no host memory for a launch's outputs (%zu bytes): %s", m->size,
                        strerror(errno));
        return false;
    }
    m->base = base;
    return true;
}

/* Lays out and maps what parent and child of this launch share. */
static grout_gpu__shared *map_launch(const grout_gpu_job *job, mapping *m, grout_gpu_error *error) {
    grout_gpu__shared *shared = NULL;
    (void)reserve(m, sizeof *shared);
    const size_t infos = reserve(m, job->step_count * sizeof *shared->infos);
    const size_t times =
        reserve(m, (size_t)job->step_count * job->timing.repeats * sizeof *shared->times_ms);
    const size_t hangs = reserve(m, GROUT_GPU_HANGS_MAX * sizeof *shared->hangs);
    const size_t outputs = reserve(m, job->buffer_count * sizeof *shared->outputs);
    const size_t first_output = (m->size + 63) / 64 * 64;
    for (uint32_t i = 0; i < job->buffer_count; i++) {
        if (has_output(&job->buffers[i])) {
            (void)reserve(m, (size_t)job->buffers[i].size);
        }
    }
    if (!map_memory(m, error)) {
        return NULL;
    }
    shared = (grout_gpu__shared *)(void *)m->base;
    shared->infos = (grout_gpu_kernel_info *)(void *)(m->base + infos);
    shared->times_ms = (float *)(void *)(m->base + times);
    shared->hangs = (grout_gpu_hang *)(void *)(m->base + hangs);
    shared->outputs = (unsigned char **)(void *)(m->base + outputs);
    mapping again = {.size = first_output};
    for (uint32_t i = 0; i < job->buffer_count; i++) {
        if (has_output(&job->buffers[i])) {
            shared->outputs[i] = m->base + reserve(&again, (size_t)job->buffers[i].size);
        }
    }
    GROUT_ASSERT(again.size <= m->size); /* the second pass reserved what the first did */
    return shared;
}

/* ---- the child process ---- */

typedef struct child_process {
    pid_t id;
    int end; /* a pipe that the child holds open: end of file when it has ended */
} child_process;

static bool fork_child(child_process *child, grout_gpu_error *error) {
    int ends[2];
    if (pipe(ends) != 0) {
        return grout_gpu__fail(error, GROUT_DIAG_GPU_DRIVER, "cannot make a pipe: %s",
                               strerror(errno));
    }
    const pid_t parent = getpid();
    child->id = fork();
    if (child->id < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return grout_gpu__fail(error, GROUT_DIAG_GPU_DRIVER, "cannot start a process: %s",
                               strerror(errno));
    }
    if (child->id == 0) {
        (void)close(ends[0]);
        /* Ctrl-C reaches both processes: what it means is the parent's business. */
        (void)signal(SIGINT, SIG_IGN); /* lint-allow: signal, in the child process only */
#ifdef __linux__
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1); /* lint-allow: _exit, the parent is gone already */
        }
#endif
        return true;
    }
    (void)parent;
    (void)close(ends[1]);
    child->end = ends[0];
    return true;
}

static uint64_t now_ms(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether the child has ended; then its status, or -1 if somebody else took that. */
static bool try_reap(const child_process *child, int *status) {
    const pid_t got = waitpid(child->id, status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) {
        return false;
    }
    if (got < 0) {
        *status = -1;
    }
    return true;
}

/* The status of a child that is about to end; -1 if the driver holds it for too long. */
static int reap(const child_process *child) {
    const uint64_t start = now_ms();
    int status = -1;
    while (!try_reap(child, &status)) {
        const struct timespec pause = {.tv_nsec = 1000000};
        if (now_ms() - start > KILL_WAIT_MS) {
            return -1;
        }
        (void)nanosleep(&pause, NULL);
    }
    return status;
}

/* Waits for the child to end. False: it was killed, since the caller or the clock said so. */
static bool await_child(const child_process *child, const grout_gpu_job *job, int *status,
                        grout_gpu_error *error) {
    const uint32_t limit_ms = job->timeout_ms == 0 ? GROUT_GPU_TIMEOUT_MS : job->timeout_ms;
    const uint64_t start = now_ms();
    struct pollfd end = {.fd = child->end, .events = POLLIN};
    while (poll(&end, 1, POLL_MS) <= 0) {
        /* A child of another launch can hold this pipe open, too. */
        if (try_reap(child, status)) {
            return true;
        }
        const bool is_cancelled = job->is_cancelled != NULL && job->is_cancelled(job->payload);
        if (!is_cancelled && now_ms() - start <= limit_ms) {
            continue;
        }
        (void)kill(child->id, SIGKILL);
        (void)reap(child);
        return is_cancelled ? grout_gpu__fail(error, GROUT_DIAG_INTERRUPTED,
                                              "interrupted while the GPU was running")
                            : grout_gpu__fail(error, GROUT_DIAG_GPU_HANG,
                                              "the GPU gave no answer within %" PRIu32
                                              " ms: its process was killed",
                                              limit_ms);
    }
    *status = reap(child);
    return true;
}

/* Sees the child to its end, and says how that was. */
static bool watch_child(const child_process *child, const grout_gpu_job *job,
                        const grout_gpu__shared *shared, grout_gpu_error *error) {
    int status = -1;
    const bool ended = await_child(child, job, &status, error);
    (void)close(child->end);
    if (!ended) {
        return false;
    }
    if (!shared->is_done && status >= 0 && WIFSIGNALED(status)) {
        return grout_gpu__fail(error, GROUT_DIAG_GPU_DRIVER,
                               "the process that uses the GPU was ended by signal %d",
                               WTERMSIG(status));
    }
    if (!shared->is_done) {
        return grout_gpu__fail(error, GROUT_DIAG_GPU_DRIVER,
                               "the process that uses the GPU ended before it was done");
    }
    if (!shared->ok) {
        *error = shared->error;
    }
    return shared->ok;
}

/* ---- what came back ---- */

static int compare_hangs(const void *a, const void *b) {
    const grout_gpu_hang *first = a;
    const grout_gpu_hang *second = b;
    for (int i = 2; i >= 0; i--) {
        if (first->cta[i] != second->cta[i]) {
            return first->cta[i] < second->cta[i] ? -1 : 1;
        }
    }
    return (first->thread > second->thread) - (first->thread < second->thread);
}

static int compare_times(const void *a, const void *b) {
    const float first = *(const float *)a;
    const float second = *(const float *)b;
    return (first > second) - (first < second);
}

static bool allocate_outcome(const grout_gpu_job *job, grout_gpu_outcome *outcome,
                             grout_gpu_error *error) {
    /* The second half of the times is for sorting. */
    const size_t times = 2 * (size_t)job->step_count * job->timing.repeats;
    outcome->steps = calloc(job->step_count + 1, sizeof *outcome->steps);
    outcome->hangs = calloc(GROUT_GPU_HANGS_MAX, sizeof *outcome->hangs);
    outcome->times_ms = calloc(times + 1, sizeof *outcome->times_ms);
    outcome->step_count = job->step_count;
    return (outcome->steps != NULL && outcome->hangs != NULL && outcome->times_ms != NULL) ||
           grout_gpu__fail_memory(error, "the outcome of a launch");
}

static void take_times(const grout_gpu_job *job, const grout_gpu__shared *shared, uint32_t index,
                       grout_gpu_outcome *outcome) {
    const uint32_t repeats = job->timing.repeats;
    grout_gpu_step_result *result = &outcome->steps[index];
    if (repeats == 0 || !job->steps[index].is_timed) {
        return;
    }
    GROUT_ASSERT(index < outcome->step_count && shared->times_ms != NULL);
    float *times = outcome->times_ms + (size_t)index * repeats;
    float *sorted = times + (size_t)job->step_count * repeats;
    memcpy(times, shared->times_ms + (size_t)index * repeats, repeats * sizeof *times);
    memcpy(sorted, times, repeats * sizeof *times);
    qsort(sorted, repeats, sizeof *sorted, compare_times);
    result->times_ms = times;
    result->time_count = repeats;
    result->min_ms = sorted[0];
    result->median_ms = (sorted[(repeats - 1) / 2] + sorted[repeats / 2]) / 2;
}

/* ok: the launch succeeded, so that times and outputs mean something. */
static void take_results(const grout_gpu_job *job, const grout_gpu__shared *shared, bool ok,
                         grout_gpu_outcome *outcome) {
    outcome->device = shared->device;
    outcome->failed_step = atomic_load(&shared->step);
    outcome->hang_count = shared->hang_count;
    GROUT_ASSERT(outcome->hang_count <= GROUT_GPU_HANGS_MAX);
    memcpy(outcome->hangs, shared->hangs, shared->hang_count * sizeof *outcome->hangs);
    qsort(outcome->hangs, outcome->hang_count, sizeof *outcome->hangs, compare_hangs);
    for (uint32_t i = 0; i < job->step_count; i++) {
        outcome->steps[i].info = shared->infos[i];
        if (ok) {
            take_times(job, shared, i, outcome);
        }
    }
    for (uint32_t i = 0; ok && i < job->buffer_count; i++) {
        if (shared->outputs[i] != NULL && job->buffers[i].size > 0) {
            memcpy(job->buffers[i].output, shared->outputs[i], (size_t)job->buffers[i].size);
        }
    }
}

bool grout_gpu__launch_run(const grout_gpu_job *job, grout_gpu_outcome *outcome,
                           grout_gpu_error *error) {
    mapping memory = {0};
    child_process child = {.id = -1, .end = -1};
    *outcome = (grout_gpu_outcome){0};
    if (!grout_gpu__launch_validate(job, error) || !allocate_outcome(job, outcome, error)) {
        return false;
    }
    grout_gpu__shared *shared = map_launch(job, &memory, error);
    if (shared == NULL) {
        return false;
    }
    bool ok = fork_child(&child, error);
    if (ok && child.id == 0) {
        grout_gpu__child_launch(job, shared);
        _exit(0); /* lint-allow: _exit, ends the child process, not the caller's */
    }
    if (ok) {
        ok = watch_child(&child, job, shared, error);
        take_results(job, shared, ok, outcome);
    }
    (void)munmap(memory.base, memory.size);
    return ok;
}

void grout_gpu__outcome_deinit(grout_gpu_outcome *outcome) {
    free(outcome->steps);
    free(outcome->hangs);
    free(outcome->times_ms);
    *outcome = (grout_gpu_outcome){0};
}

bool grout_gpu__probe_devices(grout_gpu_device *out, uint32_t count, uint32_t *found_out,
                              grout_gpu_error *error) {
    const grout_gpu_job nothing = {.timeout_ms = 0};
    mapping memory = {0};
    child_process child = {.id = -1, .end = -1};
    grout_gpu__shared *shared = NULL;
    *found_out = 0;
    (void)reserve(&memory, sizeof *shared);
    const size_t devices = reserve(&memory, count * sizeof *out);
    if (!map_memory(&memory, error)) {
        return false;
    }
    shared = (grout_gpu__shared *)(void *)memory.base;
    shared->devices = (grout_gpu_device *)(void *)(memory.base + devices);
    shared->device_capacity = count;
    bool ok = fork_child(&child, error);
    if (ok && child.id == 0) {
        grout_gpu__child_probe(shared);
        _exit(0); /* lint-allow: _exit, ends the child process, not the caller's */
    }
    ok = ok && watch_child(&child, &nothing, shared, error);
    if (ok) {
        *found_out = shared->device_count;
        memcpy(out, shared->devices,
               (shared->device_count < count ? shared->device_count : count) * sizeof *out);
    }
    (void)munmap(memory.base, memory.size);
    return ok;
}
