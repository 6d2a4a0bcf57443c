/*
 * launch_child.c - the process in which a launch happens. It leaves its memory, modules and events
 * to the end of the process: after a fault nothing could be freed anyway.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "launch_child.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step with everything looked up. */
typedef struct prepared_step {
    grout_cu_function kernel;
    void *params[GROUT_GPU_PARAMS_MAX]; /* each to one of the values */
    grout_gpu__value values[GROUT_GPU_PARAMS_MAX];
} prepared_step;

typedef struct child {
    const grout_gpu_job *job;
    grout_gpu__shared *shared;
    grout_gpu_error *error; /* the shared one */
    grout_gpu_driver driver;
    grout_cu_module *modules;
    grout_cu_address *buffers;
    prepared_step *steps;
    grout_gpu__watchdog watchdog;
    grout_gpu_hang *hangs; /* host memory that the device writes */
} child;

static bool allocate_tables(child *c) {
    const grout_gpu_job *job = c->job;
    c->modules = calloc(job->image_count + 1, sizeof(grout_cu_module));
    c->buffers = calloc(job->buffer_count + 1, sizeof *c->buffers);
    const size_t size = (job->step_count + 1) * sizeof *c->steps;
    c->steps = aligned_alloc(alignof(prepared_step), size);
    if (c->modules == NULL || c->buffers == NULL || c->steps == NULL) {
        return grout_gpu__fail_memory(c->error, "the tables of a launch");
    }
    memset(c->steps, 0, size);
    return true;
}

static bool open_device(child *c) {
    const grout_gpu_job *job = c->job;
    grout_gpu_device *device = &c->shared->device;
    if (!grout_gpu__driver_open(&c->driver, c->error) ||
        !grout_gpu__driver_device_info(&c->driver, job->device, device, c->error)) {
        return false;
    }
    if (job->cc_major != 0 &&
        (device->cc_major != job->cc_major || device->cc_minor != job->cc_minor)) {
        return grout_gpu__fail(c->error, GROUT_DIAG_GPU_MISSING,
                               "the kernel is for compute capability %d.%d, but GPU %" PRIu32
                               " (%s) has %d.%d",
                               job->cc_major, job->cc_minor, job->device, device->name,
                               device->cc_major, device->cc_minor);
    }
    return grout_gpu__driver_select(&c->driver, job->device, c->error);
}

/* Puts into a buffer what it starts with. */
static bool begin_buffer(child *c, uint32_t index) {
    const grout_gpu_buffer *buffer = &c->job->buffers[index];
    const bool is_copied = buffer->direction == GROUT_GPU_IN ||
                           buffer->direction == GROUT_GPU_INOUT ||
                           (buffer->direction == GROUT_GPU_SCRATCH && buffer->input != NULL);
    return is_copied ? grout_gpu__driver_upload(&c->driver, c->buffers[index], buffer->input,
                                                buffer->size, c->error)
                     : grout_gpu__driver_fill(&c->driver, c->buffers[index], buffer->size,
                                              &buffer->fill, c->error);
}

static bool make_buffers(child *c) {
    for (uint32_t i = 0; i < c->job->buffer_count; i++) {
        const grout_gpu_buffer *buffer = &c->job->buffers[i];
        if (!grout_gpu__driver_alloc(&c->driver, buffer->name, buffer->size, &c->buffers[i],
                                     c->error) ||
            !begin_buffer(c, i)) {
            return false;
        }
    }
    return true;
}

static bool make_watchdog(child *c) {
    const uint64_t limit_ns = c->job->watchdog_ns;
    const grout_gpu_fill zeros = {.pattern = 0, .pattern_size = 4};
    grout_cu_address hangs = 0;
    grout_cu_address state = 0;
    void *host = NULL;
    if (!grout_gpu__driver_alloc_host(&c->driver, GROUT_GPU_HANGS_MAX * sizeof *c->hangs, &host,
                                      &hangs, c->error) ||
        !grout_gpu__driver_alloc(&c->driver, "watchdog", 8, &state, c->error) ||
        !grout_gpu__driver_fill(&c->driver, state, 8, &zeros, c->error)) {
        return false;
    }
    c->hangs = host;
    c->watchdog =
        (grout_gpu__watchdog){.hangs = hangs,
                              .state = state,
                              .limit_ns = limit_ns == 0 ? GROUT_GPU_WATCHDOG_NS : limit_ns,
                              .capacity = GROUT_GPU_HANGS_MAX};
    return true;
}

static bool load_images(child *c) {
    for (uint32_t i = 0; i < c->job->image_count; i++) {
        if (!grout_gpu__driver_load(&c->driver, c->job->images[i], &c->modules[i], c->error)) {
            return false;
        }
    }
    return true;
}

static bool prepare_param(child *c, const grout_gpu_param *param, prepared_step *step,
                          uint32_t index) {
    GROUT_ASSERT(index < GROUT_GPU_PARAMS_MAX);
    step->params[index] = &step->values[index];
    switch (param->kind) {
    case GROUT_GPU_PARAM_BUFFER:
        step->values[index].address = c->buffers[param->buffer] + param->offset_bytes;
        return true;
    case GROUT_GPU_PARAM_TENSOR_MAP:
        return grout_gpu__tensor_map_encode(&c->driver, &param->map,
                                            c->buffers[param->buffer] + param->offset_bytes,
                                            &step->values[index].map, c->error);
    case GROUT_GPU_PARAM_SCALAR:
        memcpy(step->values[index].scalar, param->scalar, sizeof param->scalar);
        return true;
    case GROUT_GPU_PARAM_WATCHDOG:
        step->values[index].watchdog = c->watchdog;
        return true;
    }
    return false;
}

static bool prepare_step(child *c, uint32_t index) {
    const grout_gpu_step *step = &c->job->steps[index];
    prepared_step *prepared = &c->steps[index];
    GROUT_ASSERT(step->image < c->job->image_count && step->param_count <= GROUT_GPU_PARAMS_MAX);
    if (!grout_gpu__driver_find_kernel(&c->driver, c->modules[step->image], step->kernel,
                                       &prepared->kernel, c->error) ||
        !grout_gpu__driver_prepare(&c->driver, prepared->kernel, &step->shape,
                                   &c->shared->infos[index], c->error)) {
        return false;
    }
    for (uint32_t i = 0; i < step->param_count; i++) {
        if (!prepare_param(c, &step->params[i], prepared, i)) {
            return false;
        }
    }
    return true;
}

/* Scratch is as new for each run. */
static bool fill_scratch(child *c) {
    for (uint32_t i = 0; i < c->job->buffer_count; i++) {
        const grout_gpu_buffer *buffer = &c->job->buffers[i];
        if (buffer->direction == GROUT_GPU_SCRATCH && !begin_buffer(c, i)) {
            return false;
        }
    }
    return true;
}

static bool start_step(child *c, uint32_t index) {
    GROUT_ASSERT(index < c->job->step_count);
    atomic_store(&c->shared->step, index);
    return grout_gpu__driver_launch(&c->driver, c->steps[index].kernel, &c->job->steps[index].shape,
                                    c->steps[index].params, c->error);
}

static bool is_programmatic(const child *c, uint32_t index) {
    return index < c->job->step_count && c->job->steps[index].shape.is_programmatic;
}

/* A programmatic step follows the one before it on the stream, with nothing between the two. */
static bool run_step(child *c, uint32_t index) {
    char what[256];
    (void)snprintf(what, sizeof what, "run kernel '%.200s'", c->job->steps[index].kernel);
    return (is_programmatic(c, index) || fill_scratch(c)) && start_step(c, index) &&
           (is_programmatic(c, index + 1) ||
            grout_gpu__driver_synchronize(&c->driver, what, c->error));
}

static bool read_outputs(child *c) {
    for (uint32_t i = 0; i < c->job->buffer_count; i++) {
        if (c->shared->outputs[i] != NULL &&
            !grout_gpu__driver_download(&c->driver, c->shared->outputs[i], c->buffers[i],
                                        c->job->buffers[i].size, c->error)) {
            return false;
        }
    }
    return true;
}

/* Device memory that pushes everything else out of L2 when it is written; size 0: no need. */
typedef struct flusher {
    grout_cu_address buffer;
    uint64_t size;
} flusher;

static bool check(child *c, grout_cu_result result) {
    return grout_gpu__driver_check(&c->driver, result, "time a kernel", c->error);
}

/* Starts all repetitions before it waits, so that the device never waits for the host in between.
 * events has 2 for each repetition. */
static bool time_step(child *c, uint32_t index, const flusher *flush,
                      const grout_cu_event *events) {
    const grout_cu_api *cu = &c->driver.cu;
    const uint32_t repeats = c->job->timing.repeats;
    const grout_cu_event *const starts = events;
    const grout_cu_event *const ends = events + repeats;
    const grout_gpu_fill zeros = {.pattern = 0, .pattern_size = 4};
    bool ok = true;
    for (uint32_t i = 0; ok && i < c->job->timing.warm_up; i++) {
        ok = fill_scratch(c) && start_step(c, index);
    }
    for (uint32_t i = 0; ok && i < repeats; i++) {
        ok = fill_scratch(c) &&
             grout_gpu__driver_fill(&c->driver, flush->buffer, flush->size, &zeros, c->error) &&
             check(c, cu->event_record(starts[i], NULL)) && start_step(c, index) &&
             check(c, cu->event_record(ends[i], NULL));
    }
    ok = ok && grout_gpu__driver_synchronize(&c->driver, "time a kernel", c->error);
    for (uint32_t i = 0; ok && i < repeats; i++) {
        float *time_ms = &c->shared->times_ms[(size_t)index * repeats + i];
        ok = check(c, cu->event_elapsed_time(time_ms, starts[i], ends[i]));
    }
    return ok;
}

static bool time_steps(child *c) {
    const grout_gpu_job *job = c->job;
    const size_t event_count = 2 * (size_t)job->timing.repeats;
    flusher flush = {0};
    grout_cu_event *events = calloc(event_count, sizeof(grout_cu_event));
    if (events == NULL) {
        return grout_gpu__fail_memory(c->error, "events");
    }
    bool ok = true;
    for (size_t i = 0; ok && i < event_count; i++) {
        ok = check(c, c->driver.cu.event_create(&events[i], GROUT_CU_EVENT_DEFAULT));
    }
    if (ok && job->timing.flush_l2) {
        flush.size = 2 * (uint64_t)c->shared->device.l2_size / 4 * 4;
        ok = grout_gpu__driver_alloc(&c->driver, "L2 flush", flush.size, &flush.buffer, c->error);
    }
    for (uint32_t i = 0; ok && i < job->step_count; i++) {
        ok = !job->steps[i].is_timed || time_step(c, i, &flush, events);
    }
    free(events);
    return ok;
}

static bool run_everything(child *c) {
    if (!allocate_tables(c) || !open_device(c) || !make_buffers(c) || !make_watchdog(c) ||
        !load_images(c)) {
        return false;
    }
    for (uint32_t i = 0; i < c->job->step_count; i++) {
        if (!prepare_step(c, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < c->job->step_count; i++) {
        if (!run_step(c, i)) {
            return false;
        }
    }
    return read_outputs(c) && (c->job->timing.repeats == 0 || time_steps(c));
}

static uint32_t count_checks(const grout_gpu__shared *shared) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < shared->hang_count; i++) {
        count += shared->hangs[i].code == GROUT_GPU_HANG_CHECK ? 1 : 0;
    }
    return count;
}

/* After a fault: hands on what the watchdog wrote, if it was the cause. The order of the records is
 * that of the threads' arrival, and a record that was being written has no code yet. */
static void collect_hangs(child *c) {
    for (uint32_t i = 0; i < GROUT_GPU_HANGS_MAX; i++) {
        if (c->hangs[i].code != 0) {
            c->shared->hangs[c->shared->hang_count++] = c->hangs[i];
        }
    }
    const uint32_t check_count = count_checks(c->shared);
    if (check_count > 0) {
        grout_gpu__fail(c->error, GROUT_DIAG_DEBUG_CHECK_FAILED,
                        "kernel '%s': a debug_check failed in %" PRIu32 "%s lanes",
                        c->job->steps[atomic_load(&c->shared->step)].kernel, check_count,
                        c->shared->hang_count == GROUT_GPU_HANGS_MAX ? " or more" : "");
    } else if (c->shared->hang_count > 0) {
        const uint32_t step = atomic_load(&c->shared->step);
        grout_gpu__fail(c->error, GROUT_DIAG_GPU_HANG,
                        "kernel '%s' hung: %" PRIu32 "%s threads were waiting, one for more than "
                        "%" PRIu64 " ms",
                        c->job->steps[step].kernel, c->shared->hang_count,
                        c->shared->hang_count == GROUT_GPU_HANGS_MAX ? " or more" : "",
                        c->watchdog.limit_ns / 1000000);
    }
}

void grout_gpu__child_launch(const grout_gpu_job *job, grout_gpu__shared *shared) {
    child c = {.job = job, .shared = shared, .error = &shared->error};
    shared->ok = run_everything(&c);
    if (!shared->ok && shared->error.code == GROUT_DIAG_GPU_FAULT && c.hangs != NULL) {
        collect_hangs(&c);
    }
    free(c.modules);
    free(c.buffers);
    free(c.steps);
    shared->is_done = true;
}

void grout_gpu__child_probe(grout_gpu__shared *shared) {
    grout_gpu_driver driver;
    uint32_t count = 0;
    bool ok = grout_gpu__driver_open(&driver, &shared->error) &&
              grout_gpu__driver_device_count(&driver, &count, &shared->error);
    for (uint32_t i = 0; ok && i < count && i < shared->device_capacity; i++) {
        ok = grout_gpu__driver_device_info(&driver, i, &shared->devices[i], &shared->error);
    }
    shared->device_count = count;
    shared->ok = ok;
    shared->is_done = true;
}
