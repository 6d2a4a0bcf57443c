/* handler.c - a libffi closure for each kernel that XLA calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frame.h"

#include "alloc.h"
#include "function_options.h"
#include "grout-internal/asserted.h"
#include "grout-internal/gpu.h"
#include "run_launch.h"

#include <ffi.h>
#include <stdatomic.h>
#include <string.h>

struct grout_xla_handler {
    grout_xla_handler_options options;
    grout_xla_params params;
    bool is_asserted; /* the kernel asserts something, on the CPU */
    /* An empty list that the last call has left, or NULL: allocations cost a launch microseconds in
     * a process that has a large heap. */
    _Atomic(grout_diags *) spare;
    ffi_type *types[1];
    ffi_cif cif;
    ffi_closure *closure;
    void *code; /* of the closure, as it is executed */
};

/* ---- a call ---- */

static const char deadlock_help[] = "'grout check', or kernel.check(), says who waits for what";

/* What debug_check and multiple_of say is an error of the call. */
static bool run_asserted(const grout_launch *launch, grout_diags *diags) {
    grout_launch observed = *launch;
    grout_functions_run run = {.deadlock_help = deadlock_help};
    grout_asserted *asserted = grout_asserted_new(launch->module, launch->kernel);
    if (asserted == NULL) {
        return grout_diags_add_oom(diags);
    }
    observed.observers[observed.observer_count++] = grout_asserted_get_observer(asserted);
    const bool is_done = grout_functions__run(&observed, &run, diags);
    grout_asserted_report(asserted, diags);
    grout_asserted_free(asserted);
    return is_done && !grout_diags_has_errors(diags);
}

static bool run_on_cpu(const grout_xla_handler *handler, const grout_xla_arguments *arguments,
                       grout_diags *diags) {
    grout_launch launch = handler->options.launch;
    grout_functions_run run = {.deadlock_help = deadlock_help};
    launch.arguments = arguments->arguments;
    launch.argument_count = handler->params.count;
    for (uint32_t i = 0; i < handler->params.count; i++) {
        if (arguments->sources[i] != NULL) {
            memmove(arguments->arguments[i].data, arguments->sources[i],
                    arguments->arguments[i].size);
        }
    }
    const bool is_done = handler->is_asserted ? run_asserted(&launch, diags)
                                              : grout_functions__run(&launch, &run, diags);
    if (!is_done) {
        (void)grout_module_add_sources(launch.module, diags);
    }
    return is_done;
}

static bool launch_on_gpu(const grout_xla_handler *handler, const grout_xla_arguments *arguments,
                          void *stream, grout_diags *diags) {
    grout_gpu_program *program = handler->options.program;
    bool is_done = true;
    for (uint32_t i = 0; i < handler->params.count && is_done; i++) {
        const grout_argument *to = &arguments->arguments[i];
        is_done = arguments->sources[i] == NULL ||
                  grout_gpu_program_copy(program, to->data, arguments->sources[i], to->size, stream,
                                         diags);
    }
    return is_done && grout_gpu_program_launch(program, arguments->arguments, handler->params.count,
                                               stream, diags);
}

static grout_xla_error *call_kernel(const grout_xla_handler *handler, const grout_xla_frame *frame,
                                    grout_diags *diags) {
    grout_xla_arguments arguments;
    void *stream = NULL;
    if (!grout_xla__check_frame(frame, diags) ||
        !grout_xla__read_arguments(frame, &handler->params, &arguments, diags)) {
        return grout_xla__make_error(frame, diags);
    }
    const bool is_on_gpu = handler->options.program != NULL;
    grout_xla_error *error = is_on_gpu ? grout_xla__get_stream(frame, &stream) : NULL;
    if (error != NULL) {
        return error;
    }
    const bool is_done = is_on_gpu ? launch_on_gpu(handler, &arguments, stream, diags)
                                   : run_on_cpu(handler, &arguments, diags);
    return is_done ? NULL : grout_xla__make_error(frame, diags);
}

static grout_xla_error *handle(grout_xla_handler *handler, const grout_xla_frame *frame) {
    grout_xla_metadata *metadata = grout_xla__find_metadata(frame);
    if (metadata != NULL) {
        const grout_gpu_program *program = handler->options.program;
        grout_xla__answer(metadata, &frame->api->version,
                          program != NULL && grout_gpu_program_is_capturable(program));
        return NULL;
    }
    grout_diags *diags = atomic_exchange(&handler->spare, NULL);
    if (diags == NULL) {
        diags = grout_diags_new_in(handler->options.launch.allocator);
    }
    grout_xla_error *error =
        diags == NULL ? grout_xla__make_error(frame, NULL) : call_kernel(handler, frame, diags);
    if (diags != NULL && grout_diags_total(diags) == 0) {
        diags = atomic_exchange(&handler->spare, diags);
    }
    grout_diags_free(diags);
    return error;
}

/* What the closure calls. */
static void take_call(ffi_cif *cif, void *result, void **values, void *payload) {
    (void)cif;
    const grout_xla_frame *frame = NULL;
    memcpy(&frame, values[0], sizeof(void *));
    grout_xla_error *error = handle(payload, frame);
    memcpy(result, &error, sizeof(void *));
}

/* ---- its life ---- */

static void take_param(grout_xla_handler *handler, uint32_t index, const grout_kernel *kernel) {
    const grout_module *module = handler->options.launch.module;
    const grout_param *param = grout_module_get_param(module, kernel, index);
    grout_xla_params *params = &handler->params;
    grout_xla_param *made = &params->params[index];
    *made = (grout_xla_param){
        .name = grout_module_get_string(module, grout_module_get_value(module, param->value)->name),
        .operand = -1,
        .result = -1,
        .scalar = -1};
    if (param->direction == GROUT_DIRECTION_SCALAR) {
        made->size = grout_dtype_get_info((grout_dtype)param->dtype)->bytes;
        made->scalar = params->scalars++;
        return;
    }
    made->size = (size_t)grout_type_get_bytes(grout_object_get_type(module, param->object));
    if (param->direction != GROUT_DIRECTION_OUT) {
        made->operand = params->operands++;
    }
    if (param->direction != GROUT_DIRECTION_IN) {
        made->result = params->results++;
    }
}

static bool check_options(const grout_launch *launch, grout_diags *diags) {
    const char *why = NULL;
    if (launch->module == NULL || !grout_module_is_bound(launch->module)) {
        why = "the launch of a custom call needs a bound module";
    } else if (launch->kernel == 0 ||
               launch->kernel >= grout_module_get_kernel_count(launch->module)) {
        why = "the launch of a custom call names no kernel of its module";
    } else if (launch->arguments != NULL || launch->argument_count > 0) {
        why = "the launch of a custom call has arguments: each call brings them";
    } else if (launch->observer_count >= GROUT_OBSERVERS_MAX) {
        why = "the launch of a custom call has too many observers";
    }
    return why == NULL ||
           grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, (grout_place){0}, "%s", why);
}

static bool take_params(grout_xla_handler *handler, grout_diags *diags) {
    const grout_launch *launch = &handler->options.launch;
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    handler->params.kernel = grout_module_get_string(launch->module, kernel->name);
    handler->params.count = kernel->param_count;
    if (kernel->param_count > GROUT_XLA_PARAMS_MAX) {
        return grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT,
                               grout_module_get_place(launch->module, kernel->loc),
                               "kernel '@%s' has %u parameters; a custom call takes at most %d",
                               handler->params.kernel, kernel->param_count, GROUT_XLA_PARAMS_MAX);
    }
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        take_param(handler, i, kernel);
    }
    handler->is_asserted = handler->options.program == NULL &&
                           grout_asserted_is_needed(launch->module, launch->kernel);
    return true;
}

static bool make_closure(grout_xla_handler *handler) {
    handler->types[0] = &ffi_type_pointer;
    handler->closure = ffi_closure_alloc(sizeof *handler->closure, &handler->code);
    return handler->closure != NULL &&
           ffi_prep_cif(&handler->cif, FFI_DEFAULT_ABI, 1, &ffi_type_pointer, handler->types) ==
               FFI_OK &&
           ffi_prep_closure_loc(handler->closure, &handler->cif, take_call, handler,
                                handler->code) == FFI_OK;
}

grout_xla_handler *grout_xla_handler_make(const grout_xla_handler_options *options,
                                          grout_diags *diags) {
    if (!check_options(&options->launch, diags)) {
        return NULL;
    }
    grout_xla_handler *handler = grout__new(options->launch.allocator, 1, sizeof *handler);
    if (handler == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    handler->options = *options;
    if (!take_params(handler, diags)) {
        grout_xla_handler_free(handler);
        return NULL;
    }
    if (!make_closure(handler)) {
        grout_diags_add_oom(diags);
        grout_xla_handler_free(handler);
        return NULL;
    }
    return handler;
}

grout_xla_handler *grout_xla_handler_new(const grout_module *bound, grout_kernel_id kernel,
                                         const grout_function_options *options,
                                         grout_gpu_program *program, grout_diags *diags) {
    const grout_kernel_function_options plain = grout_function_options__for(options, bound, kernel);
    const grout_xla_handler_options made = {plain.launch, program};
    return grout_xla_handler_make(&made, diags);
}

grout_any_function *grout_xla_handler_get(const grout_xla_handler *handler) {
    /* C has no conversion from an address of data to one of code */
    grout_any_function *code = NULL;
    memcpy(&code, &handler->code, sizeof code);
    return code;
}

void grout_xla_handler_free(grout_xla_handler *handler) {
    if (handler == NULL) {
        return;
    }
    if (handler->closure != NULL) {
        ffi_closure_free(handler->closure);
    }
    grout_diags_free(atomic_load(&handler->spare));
    grout__free(handler);
}
