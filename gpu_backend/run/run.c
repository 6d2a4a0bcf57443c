/* run.c - a launch of a bound kernel: emission, compilation, buffers, parameters, what came of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "fields.h"
#include "grout-internal/generate.h"
#include "hangs.h"
#include "invariant.h"
#include "launch.h"
#include "plan.h"
#include "planned.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_SECONDS  60 /* of a launch, where it names none */
#define WATCHDOG_SECONDS 2  /* of one wait, the same */

/* The arrays and workspaces of all launches of a list. */
typedef struct buffers {
    grout_gpu_buffer *items;
    uint32_t count;
} buffers;

/* The plan of a launch turned into the lower half's data. */
typedef struct run {
    const grout_gpu_launch *launch;
    const grout_gpu_launch *first; /* of the list */
    buffers *all;
    const grout_module *module;
    const grout_kernel *kernel;
    grout_gpu_plan plan;
    grout_binary binary;
    uint32_t *buffer_of_param; /* by parameter */
    uint32_t first_workspace;  /* buffer of the plan's first workspace */
    void **contents;           /* by workspace; NULL of those that a pattern fills */
    grout_gpu_param *params;
    char symbol[GROUT_GPU_SYMBOL_MAX];
    grout_diags *diags;
} run;

static bool compile_kernel(run *r) {
    const grout_emit_options options = {.watchdog = r->first->watchdog_seconds >= 0,
                                        .no_debug_checks = r->first->no_debug_checks,
                                        .line_directives = r->first->nvrtc.line_info,
                                        .extern_source = r->launch->extern_source};
    return grout_gpu__compile_kernel(r->module, r->launch->kernel, &options, &r->first->nvrtc,
                                     &r->binary, r->diags);
}

static grout_place get_place(const run *r) {
    return grout_module_get_place(r->module, r->kernel->loc);
}

static bool check_arguments(const run *r) {
    if (r->launch->argument_count != r->kernel->param_count) {
        return grout_diags_add(r->diags, GROUT_DIAG_INTERNAL_ERROR, get_place(r),
                               "a launch of %" PRIu32 " parameters was given %zu arguments",
                               r->kernel->param_count, r->launch->argument_count);
    }
    return grout_gpu__check_arg_count(&r->plan, get_place(r), r->diags);
}

/* What the host has to do with an array that several launches are given: it brings it, unless the
 * first one takes it as 'out', and fetches it, if any may write it. */
static grout_gpu_direction join_directions(grout_gpu_direction first, grout_gpu_direction later) {
    bool is_filled = first == GROUT_GPU_OUT;
    bool is_fetched = first != GROUT_GPU_IN || later != GROUT_GPU_IN;
    return is_filled ? GROUT_GPU_OUT : is_fetched ? GROUT_GPU_INOUT : GROUT_GPU_IN;
}

static grout_gpu_buffer *find_buffer(const run *r, const void *data) {
    for (uint32_t i = 0; r->first->next != NULL && i < r->all->count; i++) {
        if (r->all->items[i].output == data && data != NULL) {
            return &r->all->items[i];
        }
    }
    return NULL;
}

static void make_buffer(run *r, uint32_t index) {
    static const grout_gpu_direction directions[] = {[GROUT_DIRECTION_IN] = GROUT_GPU_IN,
                                                     [GROUT_DIRECTION_OUT] = GROUT_GPU_OUT,
                                                     [GROUT_DIRECTION_INOUT] = GROUT_GPU_INOUT,
                                                     [GROUT_DIRECTION_SCALAR] = GROUT_GPU_IN};
    const grout_param *param = grout_module_get_param(r->module, r->kernel, index);
    GROUT_ASSERT(index < r->kernel->param_count);
    const grout_argument *argument = &r->launch->arguments[index];
    const grout_type *type = grout_object_get_type(r->module, param->object);
    grout_gpu_buffer *known = find_buffer(r, argument->data);
    if (known != NULL) {
        known->direction = join_directions(known->direction, directions[param->direction]);
        r->buffer_of_param[index] = (uint32_t)(known - r->all->items);
        return;
    }
    r->buffer_of_param[index] = r->all->count;
    r->all->items[r->all->count++] =
        (grout_gpu_buffer){.name = grout_gpu__get_param_name(r->module, r->kernel, index),
                           .direction = directions[param->direction],
                           .size = argument->size,
                           .input = argument->data,
                           .output = argument->data,
                           .fill = grout_gpu__get_output_fill((grout_dtype)type->dtype)};
}

static bool make_workspace(run *r, uint32_t index) {
    const grout_gpu_workspace *workspace = &r->plan.workspaces[index];
    if (workspace->has_contents) {
        r->contents[index] = malloc((size_t)workspace->bytes);
        if (r->contents[index] == NULL) {
            return grout_diags_add_oom(r->diags);
        }
        (void)grout_scratch_fill_default(r->module, workspace->object, r->contents[index], NULL);
    }
    r->all->items[r->all->count++] = (grout_gpu_buffer){
        .name = grout_gpu__get_object_name(r->module, workspace->object),
        .direction = GROUT_GPU_SCRATCH,
        .size = (uint64_t)workspace->bytes,
        .input = r->contents[index],
        .fill = {.pattern = workspace->fill, .pattern_size = workspace->fill_bytes}};
    return true;
}

static uint32_t get_map_buffer(const run *r, const grout_gpu_map *map) {
    /* A map is of a parameter or of a workspace. */
    GROUT_ASSERT((map->param_index == UINT32_MAX) != (map->workspace_index == UINT32_MAX));
    return map->param_index == UINT32_MAX ? r->first_workspace + map->workspace_index
                                          : r->buffer_of_param[map->param_index];
}

static grout_gpu_param make_param(const run *r, const grout_gpu_arg *arg) {
    grout_gpu_param param = {0};
    switch ((grout_gpu_arg_kind)arg->kind) {
    case GROUT_GPU_ARG_ARRAY:
        param.kind = GROUT_GPU_PARAM_BUFFER;
        param.buffer = r->buffer_of_param[arg->index];
        break;
    case GROUT_GPU_ARG_SCALAR: {
        const grout_argument *argument = &r->launch->arguments[arg->index];
        param.kind = GROUT_GPU_PARAM_SCALAR;
        const grout_param *scalar = grout_module_get_param(r->module, r->kernel, arg->index);
        param.scalar_size =
            (uint32_t)(argument->size < sizeof param.scalar ? argument->size : sizeof param.scalar);
        memcpy(param.scalar, argument->data, param.scalar_size);
        param.scalar[0] &= grout_gpu__get_scalar_mask((grout_dtype)scalar->dtype);
        break;
    }
    case GROUT_GPU_ARG_MAP:
        param.kind = GROUT_GPU_PARAM_TENSOR_MAP;
        param.buffer = get_map_buffer(r, &r->plan.maps[arg->index]);
        param.map = grout_gpu__make_map(r->module, &r->plan.maps[arg->index]);
        param.offset_bytes = (uint64_t)r->plan.maps[arg->index].start_bytes;
        break;
    case GROUT_GPU_ARG_WORKSPACE:
        param.kind = GROUT_GPU_PARAM_BUFFER;
        param.buffer = r->first_workspace + arg->index;
        break;
    case GROUT_GPU_ARG_WATCHDOG:
        param.kind = GROUT_GPU_PARAM_WATCHDOG;
        break;
    }
    return param;
}

static bool make_tables(run *r) {
    const uint32_t count = r->kernel->param_count;
    const size_t room = r->all->count + (size_t)count + r->plan.workspace_count + 1;
    grout_gpu_buffer *items = realloc(r->all->items, room * sizeof *items);
    r->all->items = items == NULL ? r->all->items : items;
    r->buffer_of_param = calloc((size_t)count + 1, sizeof *r->buffer_of_param);
    r->params = calloc((size_t)r->plan.arg_count + 1, sizeof *r->params);
    r->contents = calloc((size_t)r->plan.workspace_count + 1, sizeof *r->contents);
    if (items == NULL || r->buffer_of_param == NULL || r->params == NULL || r->contents == NULL) {
        return grout_diags_add_oom(r->diags);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (grout_module_get_param(r->module, r->kernel, i)->direction != GROUT_DIRECTION_SCALAR) {
            make_buffer(r, i);
        }
    }
    r->first_workspace = r->all->count;
    for (uint32_t i = 0; i < r->plan.workspace_count; i++) {
        if (!make_workspace(r, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < r->plan.arg_count; i++) {
        r->params[i] = make_param(r, &r->plan.args[i]);
        GROUT_ASSERT(r->params[i].buffer < r->all->count || r->all->count == 0);
    }
    return true;
}

/* ---- the launch ---- */

static void fill_result(const run *r, const grout_gpu_outcome *outcome, grout_gpu_result *out) {
    (void)snprintf(out->device_name, sizeof out->device_name, "%s", outcome->device.name);
    out->cubin_from_cache = r->binary.from_cache;
    if (outcome->step_count == 0 || outcome->steps[0].time_count == 0) {
        return;
    }
    const grout_gpu_step_result *step = &outcome->steps[0];
    float max_ms = 0;
    for (uint32_t k = 0; k < step->time_count; k++) {
        max_ms = step->times_ms[k] > max_ms ? step->times_ms[k] : max_ms;
    }
    out->median_seconds = (double)step->median_ms * 1e-3;
    out->min_seconds = (double)step->min_ms * 1e-3;
    out->max_seconds = (double)max_ms * 1e-3;
}

/* Seconds of a launch's limit as milliseconds, which a 32-bit number holds. */
static uint32_t get_timeout_ms(double seconds) {
    const double timeout = seconds > 0 ? seconds : TIMEOUT_SECONDS;
    return (uint32_t)(timeout < 4e6 ? timeout * 1e3 : 4e9);
}

static grout_gpu_step make_step(const run *r) {
    grout_gpu_step step = {.kernel = r->symbol,
                           .shape = grout_gpu__make_shape(&r->plan),
                           .params = r->params,
                           .param_count = r->plan.arg_count,
                           .is_timed = r->launch == r->first && r->launch->repeats > 0};
    step.shape.is_programmatic = r->launch->is_dependent;
    return step;
}

/* Which launch of a list has failed is not known for certain where several were under way: the
 * notes about waits, which are in the terms of one kernel, are then left out. */
static void report_failure(const run *runs, size_t count, grout_gpu_outcome *outcome,
                           const grout_gpu_error *error) {
    outcome->hang_count = count > 1 ? 0 : outcome->hang_count;
    const grout_gpu_hang_report report = {runs->module, runs->kernel, &runs->plan, outcome,
                                          runs->diags};
    grout_gpu__report_failure(&report, error);
}

static bool run_job(const run *runs, uint32_t count, const void **images, grout_gpu_step *steps,
                    grout_gpu_result *result_out) {
    const grout_gpu_launch *launch = runs->launch;
    const double watchdog =
        launch->watchdog_seconds > 0 ? launch->watchdog_seconds : WATCHDOG_SECONDS;
    for (uint32_t i = 0; i < count; i++) {
        images[i] = runs[i].binary.data;
        steps[i] = make_step(&runs[i]);
        steps[i].image = i;
    }
    const grout_gpu_capability capability = grout_gpu__get_capability((grout_arch)runs->plan.arch);
    const grout_gpu_job job = {.device = (uint32_t)launch->device,
                               .cc_major = capability.major,
                               .cc_minor = capability.minor,
                               .images = images,
                               .image_count = count,
                               .buffers = runs->all->items,
                               .buffer_count = runs->all->count,
                               .steps = steps,
                               .step_count = count,
                               .timing = {.warm_up = launch->warmup,
                                          .repeats = launch->repeats,
                                          .flush_l2 = launch->flush_l2},
                               .watchdog_ns = (uint64_t)(watchdog * 1e9),
                               .timeout_ms = get_timeout_ms(launch->timeout_seconds)};
    grout_gpu_outcome outcome = {0};
    grout_gpu_error error = {0};
    const bool is_done = grout_gpu__launch_run(&job, &outcome, &error);
    if (is_done) {
        fill_result(runs, &outcome, result_out);
    } else {
        report_failure(runs, count, &outcome, &error);
    }
    grout_gpu__outcome_deinit(&outcome);
    return is_done;
}

static void deinit(run *r) {
    grout_binary_free(&r->binary);
    for (uint32_t i = 0; r->contents != NULL && i < r->plan.workspace_count; i++) {
        free(r->contents[i]);
    }
    free(r->contents);
    free(r->buffer_of_param);
    free(r->params);
    grout_gpu__plan_deinit(&r->plan);
}

static bool prepare(run *r) {
    grout_gpu__get_symbol(grout_module_get_string(r->module, r->kernel->name), r->symbol);
    if (!grout_gpu__plan_init(&r->plan, r->module, r->launch->kernel, r->diags)) {
        return false;
    }
    FIELD_LAUNCH(&r->plan);
    return check_arguments(r) && compile_kernel(r) && make_tables(r);
}

bool grout_gpu_run(const grout_gpu_launch *launch, grout_gpu_result *result_out,
                   grout_diags *diags) {
    uint32_t count = 1;
    for (const grout_gpu_launch *it = launch->next; it != NULL; it = it->next) {
        count++;
    }
    buffers all = {0};
    run *runs = calloc(count, sizeof *runs);
    const void **images = calloc(count, sizeof *images);
    grout_gpu_step *steps = calloc(count, sizeof *steps);
    bool ok = runs != NULL && images != NULL && steps != NULL;
    *result_out = (grout_gpu_result){0};
    if (!ok) {
        grout_diags_add_oom(diags);
    }
    const grout_gpu_launch *it = launch;
    for (uint32_t i = 0; ok && i < count; i++, it = it->next) {
        runs[i] = (run){.launch = it,
                        .first = launch,
                        .all = &all,
                        .module = it->module,
                        .kernel = grout_module_get_kernel(it->module, it->kernel),
                        .diags = diags};
        ok = prepare(&runs[i]);
    }
    ok = ok && run_job(runs, count, images, steps, result_out);
    for (uint32_t i = 0; runs != NULL && i < count; i++) {
        deinit(&runs[i]);
    }
    free(runs);
    free(images);
    free(steps);
    free(all.items);
    return ok;
}

/* ---- doctor ---- */

#define DEVICES_MAX 16

static bool describe_devices(grout_text *out) {
    grout_gpu_device devices[DEVICES_MAX];
    grout_gpu_error error = {0};
    uint32_t count = 0;
    bool is_usable = false;
    if (!grout_gpu__probe_devices(devices, DEVICES_MAX, &count, &error)) {
        grout_text_add(out, "gpu: none (%s)\n", error.text);
        return false;
    }
    for (uint32_t k = 0; k < count && k < DEVICES_MAX; k++) {
        const grout_gpu_device *device = &devices[k];
        const bool is_hopper = device->cc_major == 9 && device->cc_minor == 0;
        grout_text_add(out,
                       "gpu %" PRIu32 ": %s, compute capability %d.%d, %d SMs, %.0f GiB, driver "
                       "for CUDA %d.%d%s\n",
                       k, device->name, device->cc_major, device->cc_minor, device->sm_count,
                       (double)device->memory_size / 1073741824.0, device->driver_version / 1000,
                       device->driver_version % 1000 / 10,
                       is_hopper ? "" : ": not usable, kernels are for 9.0");
        is_usable = is_usable || is_hopper;
    }
    return is_usable;
}

bool grout_gpu_describe(const grout_nvrtc_options *options, grout_text *out) {
    const grout_nvrtc_options none = {0};
    grout_gpu_nvrtc nvrtc = {0};
    grout_gpu_error error = {0};
    const bool has_gpu = describe_devices(out);
    const bool has_nvrtc = grout_gpu__open_nvrtc(options == NULL ? &none : options, &nvrtc, &error);
    if (has_nvrtc) {
        grout_text_add(out, "nvrtc: %d.%d, %s\n", nvrtc.major, nvrtc.minor, nvrtc.path);
        grout_gpu__nvrtc_close(&nvrtc);
    } else {
        grout_text_add(out, "nvrtc: none (%s)\n  to get it: %s\n", error.text,
                       GROUT_GPU_NVRTC_REMEDY);
    }
    return has_gpu && has_nvrtc;
}
