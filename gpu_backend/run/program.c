/* program.c - a compiled kernel, and what is loaded of it in each context.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include "run.h"

#include <stdlib.h>
#include <string.h>

typedef struct loaded {
    grout_cu_context context;
    grout_gpu_kernel *kernel;
} loaded;

struct grout_gpu_program {
    const grout_module *bound;
    grout_kernel_id id;
    grout_gpu_kernel_options options; /* the binary is ours */
    grout_binary binary;
    bool is_capturable;
    pthread_mutex_t lock; /* of what follows */
    grout_gpu_driver driver;
    bool is_open; /* the driver; it stays so */
    loaded *loaded;
    size_t count;
};

static grout_place get_place(const grout_gpu_program *program) {
    const grout_kernel *kernel = grout_module_get_kernel(program->bound, program->id);
    return grout_module_get_place(program->bound, kernel->loc);
}

/* ---- making it ---- */

static bool copy_binary(grout_gpu_program *program, const grout_binary *from) {
    program->binary = *from;
    program->binary.log = NULL;
    program->binary.data = malloc(from->size + 1);
    if (program->binary.data == NULL) {
        return false;
    }
    memcpy(program->binary.data, from->data, from->size);
    ((char *)program->binary.data)[from->size] = '\0';
    return true;
}

static bool take_binary(grout_gpu_program *program, grout_diags *diags) {
    const grout_gpu_kernel_options *options = &program->options;
    const grout_emit_options emission = {.no_debug_checks = options->no_debug_checks,
                                         .line_directives = options->nvrtc.line_info,
                                         .extern_source = options->extern_source};
    grout_nvrtc_options nvrtc = options->nvrtc;
    nvrtc.is_in_process = true;
    if (options->binary == NULL) {
        return grout_gpu__compile_kernel(program->bound, program->id, &emission, &nvrtc,
                                         &program->binary, diags);
    }
    return copy_binary(program, options->binary) || grout_diags_add_oom(diags);
}

static bool look_at_plan(grout_gpu_program *program, grout_diags *diags) {
    grout_gpu_plan plan = {0};
    const bool is_done =
        grout_gpu__plan_init(&plan, program->bound, program->id, diags) &&
        grout_gpu__check_options(program->bound, program->id, &program->options, &plan, diags);
    program->is_capturable = plan.workspace_count == 0;
    grout_gpu__plan_deinit(&plan);
    return is_done;
}

grout_gpu_program *grout_gpu_program_new(const grout_module *bound, grout_kernel_id kernel,
                                         const grout_gpu_kernel_options *options,
                                         grout_diags *diags) {
    grout_gpu_program *program = calloc(1, sizeof *program);
    if (program == NULL || pthread_mutex_init(&program->lock, NULL) != 0) {
        free(program);
        grout_diags_add_oom(diags);
        return NULL;
    }
    program->bound = bound;
    program->id = kernel;
    if (options != NULL) {
        program->options = *options;
    }
    if (!look_at_plan(program, diags) || !take_binary(program, diags)) {
        grout_gpu_program_free(program);
        return NULL;
    }
    program->options.binary = &program->binary;
    program->options.extern_source = NULL;
    program->options.nvrtc = (grout_nvrtc_options){0};
    return program;
}

bool grout_gpu_program_is_capturable(const grout_gpu_program *program) {
    return program->is_capturable;
}

void grout_gpu_program_free(grout_gpu_program *program) {
    if (program == NULL) {
        return;
    }
    for (size_t i = 0; i < program->count; i++) {
        grout_gpu_kernel_free(program->loaded[i].kernel);
    }
    if (program->is_open) {
        grout_gpu__driver_close(&program->driver);
    }
    free(program->loaded);
    grout_binary_free(&program->binary);
    (void)pthread_mutex_destroy(&program->lock);
    free(program);
}

/* ---- the contexts ---- */

/* Loads the kernel into the current context. A thread that captures a stream may do so in the
 * relaxed mode only. */
static grout_gpu_kernel *load(grout_gpu_program *program, grout_diags *diags) {
    const grout_cu_api *cu = &program->driver.cu;
    int mode = GROUT_CU_CAPTURE_RELAXED;
    grout_gpu_error error = {0};
    if (!grout_gpu__driver_check(&program->driver, cu->thread_exchange_capture_mode(&mode),
                                 "change the capture mode", &error)) {
        (void)grout_gpu__report(diags, &error, get_place(program));
        return NULL;
    }
    grout_gpu_kernel *kernel =
        grout_gpu__kernel_load(program->bound, program->id, &program->options, diags);
    (void)cu->thread_exchange_capture_mode(&mode);
    return kernel;
}

static grout_gpu_kernel *add_context(grout_gpu_program *program, grout_cu_context context,
                                     grout_diags *diags) {
    loaded *grown = realloc(program->loaded, (program->count + 1) * sizeof *grown);
    if (grown == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    program->loaded = grown;
    grout_gpu_kernel *kernel = load(program, diags);
    if (kernel != NULL) {
        program->loaded[program->count++] = (loaded){context, kernel};
    }
    return kernel;
}

/* The kernel in the context, which is current. */
static grout_gpu_kernel *find_kernel(grout_gpu_program *program, grout_cu_context context,
                                     grout_diags *diags) {
    grout_gpu_kernel *kernel = NULL;
    (void)pthread_mutex_lock(&program->lock);
    for (size_t i = 0; i < program->count && kernel == NULL; i++) {
        kernel = program->loaded[i].context == context ? program->loaded[i].kernel : NULL;
    }
    if (kernel == NULL) {
        kernel = add_context(program, context, diags);
    }
    (void)pthread_mutex_unlock(&program->lock);
    return kernel;
}

static bool open_driver(grout_gpu_program *program, grout_diags *diags) {
    grout_gpu_error error;
    (void)pthread_mutex_lock(&program->lock);
    program->is_open = program->is_open || grout_gpu__driver_open(&program->driver, &error);
    const bool is_open = program->is_open;
    (void)pthread_mutex_unlock(&program->lock);
    return is_open || grout_gpu__report(diags, &error, get_place(program));
}

/* ---- a launch ---- */

/* A stream, and the context that it is of, which is current during the call. */
typedef struct visit {
    grout_gpu_program *program;
    grout_cu_stream stream;
    grout_cu_context context;
    bool is_pushed;
    grout_diags *diags;
} visit;

static bool check(const visit *v, grout_cu_result result, const char *what) {
    grout_gpu_error error;
    return grout_gpu__driver_check(&v->program->driver, result, what, &error) ||
           grout_gpu__report(v->diags, &error, get_place(v->program));
}

static bool enter(visit *v) {
    const grout_cu_api *cu = &v->program->driver.cu;
    grout_cu_context current = NULL;
    v->is_pushed = false;
    if (!open_driver(v->program, v->diags) ||
        !check(v, cu->context_get_current(&current), "ask for the current context") ||
        !check(v, cu->stream_get_context(v->stream, &v->context), "ask for the stream's context")) {
        return false;
    }
    v->is_pushed = current != v->context;
    return !v->is_pushed ||
           check(v, cu->context_push_current(v->context), "make the stream's context current");
}

static void leave(visit *v) {
    if (v->is_pushed) {
        (void)v->program->driver.cu.context_pop_current(&v->context);
    }
}

bool grout_gpu_program_launch(grout_gpu_program *program, const grout_argument *arguments,
                              size_t argument_count, void *stream, grout_diags *diags) {
    visit v = {.program = program, .stream = stream, .diags = diags};
    if (!enter(&v)) {
        return false;
    }
    grout_gpu_kernel *kernel = find_kernel(program, v.context, diags);
    const bool is_done =
        kernel != NULL && grout_gpu_kernel_launch(kernel, arguments, argument_count, stream, diags);
    leave(&v);
    return is_done;
}

bool grout_gpu_program_copy(grout_gpu_program *program, void *to, const void *from, size_t size,
                            void *stream, grout_diags *diags) {
    visit v = {.program = program, .stream = stream, .diags = diags};
    if (!enter(&v)) {
        return false;
    }
    const bool is_done = check(
        &v,
        program->driver.cu.memcpy_on_device((grout_cu_address)(uintptr_t)to,
                                            (grout_cu_address)(uintptr_t)from, size, v.stream),
        "copy an 'inout' array");
    leave(&v);
    return is_done;
}
