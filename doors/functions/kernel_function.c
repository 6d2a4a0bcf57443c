/*
 * kernel_function.c - a libffi closure for each kernel that is to be a C function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_options.h"

#include "alloc.h"
#include "run_launch.h"
#include "signature.h"
#include "type.h"

#include "grout-internal/equal.h"
#include "grout-internal/race.h"

#include <inttypes.h>
#include <string.h>

struct grout_kernel_function {
    grout_kernel_function_options options;
    const grout_kernel *kernel;
    grout_signature signature;
    ffi_closure *closure;
    void *code; /* of the closure, as it is executed */
};

/* One call of the function. */
typedef struct call {
    const grout_kernel_function *function;
    grout_launch launch;
    grout_argument *arguments;
    grout_diags *diags;
    bool was_cut; /* the run did not reach its end, which no deadlock was */
} call;

/* ---- the arguments -------------------------------------------------------------------------- */

static const char *get_param_name(const grout_kernel_function *function, uint32_t index) {
    const grout_module *module = function->options.launch.module;
    const grout_param *param = grout_module_get_param(module, function->kernel, index);
    return grout_module_get_string(module, grout_module_get_value(module, param->value)->name);
}

static grout_place get_param_place(const grout_kernel_function *function, uint32_t index) {
    const grout_module *module = function->options.launch.module;
    const grout_param *param = grout_module_get_param(module, function->kernel, index);
    return grout_module_get_place(module, grout_module_get_value(module, param->value)->loc);
}

static bool refuse(const call *c, uint32_t index, const char *why) {
    return grout_diags_add(c->diags, GROUT_DIAG_BAD_ARGUMENT, get_param_place(c->function, index),
                           "the argument for '%%%s' %s", get_param_name(c->function, index), why);
}

/* The same of an array that has to be, in C: "f32[4]". */
static bool refuse_null(const call *c, uint32_t index, const char *why, const grout_type *wanted) {
    grout_type plain = *wanted;
    plain.kind = GROUT_TYPE_ARRAY;
    plain.space = GROUT_SPACE_NONE;
    plain.is_expanded = false; /* its bytes are those of memory, as ever */
    (void)refuse(c, index, why);
    grout_diags_help(c->diags,
                     "pass the address of a grout_array of %s whose data are the caller's elements",
                     grout_type__get_text(&plain).chars);
    return false;
}

/* Type and shape as a register array has them: without a space. */
static bool check_type(const call *c, uint32_t index, const grout_array *array,
                       const grout_type *wanted) {
    grout_type given = {.kind = GROUT_TYPE_ARRAY, .dtype = (uint8_t)array->dtype};
    grout_type plain = *wanted;
    plain.kind = GROUT_TYPE_ARRAY;
    plain.space = GROUT_SPACE_NONE;
    if (array->dtype <= GROUT_DTYPE_NONE || array->dtype >= GROUT_DTYPE_COUNT ||
        array->rank > GROUT_RANK_MAX) {
        return refuse_null(c, index, "has no element type, or more than 8 dimensions", wanted);
    }
    given.rank = (uint8_t)array->rank;
    memcpy(given.dims, array->dims, array->rank * sizeof array->dims[0]);
    if (!grout_type_is_equal(&given, &plain)) {
        const grout_type_text got = grout_type__get_text(&given);
        const grout_type_text want = grout_type__get_text(&plain);
        return grout_diags_add(c->diags, GROUT_DIAG_BAD_ARGUMENT,
                               get_param_place(c->function, index),
                               "the argument for '%%%s' is %s, not %s",
                               get_param_name(c->function, index), got.chars, want.chars);
    }
    return true;
}

static bool read_array(call *c, uint32_t index, const grout_array *array,
                       const grout_param *param) {
    const grout_module *module = c->launch.module;
    const grout_type *type = grout_object_get_type(module, param->object);
    if (array == NULL || array->data == NULL) {
        return refuse_null(c, index, array == NULL ? "is NULL" : "has no data: it is NULL", type);
    }
    if (!check_type(c, index, array, type)) {
        return false;
    }
    const uint32_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    if ((uintptr_t)array->data % bytes != 0) {
        (void)refuse(c, index, "has data that is not aligned for its elements");
        grout_diags_help(c->diags,
                         "let it start at a multiple of %" PRIu32
                         " bytes: memory of malloc does, a part of a buffer of bytes may not",
                         bytes);
        return false;
    }
    c->arguments[index] = (grout_argument){
        array->data, (size_t)grout_type_get_bytes(grout_object_get_type(module, param->object))};
    return true;
}

/* values: by parameter, where libffi has put the argument. */
static bool read_arguments(call *c, void **values) {
    const grout_module *module = c->launch.module;
    const grout_kernel *kernel = c->function->kernel;
    bool is_good = true;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            c->arguments[i] =
                (grout_argument){values[i], grout_dtype_get_info((grout_dtype)param->dtype)->bytes};
        } else {
            const grout_array *array = NULL;
            memcpy(&array, values[i], sizeof(void *));
            is_good &= read_array(c, i, array, param);
        }
    }
    return is_good;
}

static bool check_apart(const call *c) {
    size_t written = 0, other = 0;
    if (!grout_launch_find_overlap(&c->launch, &written, &other)) {
        return true;
    }
    grout_diags_add(c->diags, GROUT_DIAG_BAD_ARGUMENT,
                    get_param_place(c->function, (uint32_t)written),
                    "the arguments for '%%%s', which the kernel writes, and '%%%s' have bytes in "
                    "common",
                    get_param_name(c->function, (uint32_t)written),
                    get_param_name(c->function, (uint32_t)other));
    grout_diags_help(c->diags, "give it arrays that are apart");
    return false;
}

/* ---- the run -------------------------------------------------------------------------------- */

/* The findings go over into the list of the call, and judge gets the verdict. */
static bool copy_findings(const call *c, const grout_checker *checker, bool was_cut) {
    const grout_check_summary summary = grout_checker_get_summary(checker, was_cut);
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_diag *diag = grout_checker_get_finding(checker, i)->diag;
        grout_diags_add(c->diags, diag->code, diag->place, "%s", diag->message);
        for (uint32_t k = 0; k < diag->note_count; k++) {
            const grout_note *note = &diag->notes[k];
            if (note->severity == GROUT_SEVERITY_ADVICE) {
                grout_diags_help(c->diags, "%s", note->message);
            } else {
                grout_diags_note(c->diags, note->place, "%s", note->message);
            }
        }
    }
    if (c->function->options.judge != NULL) {
        c->function->options.judge(c->function->options.payload, &summary);
    }
    return summary.verdict == GROUT_VERDICT_CLEAN;
}

static bool run_machine(call *c) {
    grout_functions_run run = {
        .deadlock_help = c->function->options.is_checked
                             ? NULL
                             : "with the option 'checked' the report says who waits for what"};
    const bool is_done = grout_functions__run(&c->launch, &run, c->diags);
    c->was_cut = run.was_cut;
    return is_done;
}

static bool run_checked(call *c) {
    const grout_checker_options options = {.allocator = c->launch.allocator};
    grout_checker *checker = grout_checker_new(&options, c->diags);
    if (checker == NULL) {
        return false;
    }
    c->launch.observers[c->launch.observer_count++] = grout_checker_get_observer(checker);
    c->launch.track_undefined = true;
    grout_writes_judge *judge = grout_writes_judge_new(&c->launch, NULL, c->diags);
    bool is_done = judge != NULL && run_machine(c);
    is_done &= judge != NULL && grout_writes_judge_run(judge, checker, c->diags);
    is_done &= copy_findings(c, checker, c->was_cut);
    grout_writes_judge_free(judge);
    grout_checker_free(checker);
    return is_done;
}

static bool run_call(call *c, void **values) {
    const uint32_t count = c->function->kernel->param_count;
    c->arguments = grout__new(c->launch.allocator, count, sizeof *c->arguments);
    if (c->arguments == NULL) {
        return grout_diags_add_oom(c->diags);
    }
    c->launch.arguments = c->arguments;
    c->launch.argument_count = count;
    return read_arguments(c, values) && check_apart(c) &&
           (c->function->options.is_checked ? run_checked(c) : run_machine(c));
}

static void report(call *c) {
    const grout_kernel_function_options *options = &c->function->options;
    if (options->report == NULL || (c->diags != NULL && grout_diags_total(c->diags) == 0)) {
        return;
    }
    if (c->diags != NULL) {
        (void)grout_module_add_sources(c->launch.module, c->diags);
    }
    options->report(options->payload, c->diags);
}

/* What the closure calls. The result of a small type is a whole register for libffi. */
static void take_call(ffi_cif *cif, void *result, void **values, void *payload) {
    (void)cif;
    const grout_kernel_function *function = payload;
    call c = {.function = function, .launch = function->options.launch};
    c.diags = grout_diags_new_in(c.launch.allocator);
    const bool is_done = c.diags != NULL && run_call(&c, values);
    report(&c);
    grout__free(c.arguments);
    grout_diags_free(c.diags);
    *(ffi_arg *)result = is_done;
}

/* ---- its life ------------------------------------------------------------------------------- */

static bool check_options(const grout_kernel_function_options *options, grout_diags *diags) {
    const grout_launch *launch = &options->launch;
    const char *why = NULL;
    if (launch->module == NULL || !grout_module_is_bound(launch->module)) {
        why = "the launch of a kernel function needs a bound module";
    } else if (launch->kernel == 0 ||
               launch->kernel >= grout_module_get_kernel_count(launch->module)) {
        why = "the launch of a kernel function names no kernel of its module";
    } else if (launch->arguments != NULL || launch->argument_count > 0) {
        why = "the launch of a kernel function has arguments: each call brings them";
    } else if (launch->observer_count + options->is_checked > GROUT_OBSERVERS_MAX) {
        why = "the launch of a kernel function has too many observers";
    }
    return why == NULL ||
           grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, (grout_place){0}, "%s", why);
}

static bool make_closure(grout_kernel_function *function) {
    function->closure = ffi_closure_alloc(sizeof *function->closure, &function->code);
    return function->closure != NULL &&
           ffi_prep_closure_loc(function->closure, &function->signature.cif, take_call, function,
                                function->code) == FFI_OK;
}

grout_kernel_function *grout_kernel_function_make(const grout_kernel_function_options *options,
                                                  grout_diags *diags) {
    if (!check_options(options, diags)) {
        return NULL;
    }
    const grout_launch *launch = &options->launch;
    grout_kernel_function *function = grout__new(launch->allocator, 1, sizeof *function);
    if (function == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    function->options = *options;
    function->kernel = grout_module_get_kernel(launch->module, launch->kernel);
    function->signature.types =
        grout__new(launch->allocator, function->kernel->param_count, sizeof(void *));
    if (function->signature.types != NULL) {
        grout_signature__init(&function->signature, launch->module, function->kernel);
    }
    if (function->signature.types == NULL || !make_closure(function)) {
        grout_diags_add_oom(diags);
        grout_kernel_function_free(function);
        return NULL;
    }
    return function;
}

grout_kernel_function *grout_kernel_function_new(const grout_module *bound, grout_kernel_id kernel,
                                                 const grout_function_options *options,
                                                 grout_diags *diags) {
    const grout_kernel_function_options plain = grout_function_options__for(options, bound, kernel);
    return grout_kernel_function_make(&plain, diags);
}

void grout_kernel_function_free(grout_kernel_function *function) {
    if (function == NULL) {
        return;
    }
    if (function->closure != NULL) {
        ffi_closure_free(function->closure);
    }
    grout__free(function->signature.types);
    grout__free(function);
}

grout_any_function *grout_kernel_function_get(const grout_kernel_function *function) {
    /* C has no conversion from an address of data to one of code */
    grout_any_function *code = NULL;
    memcpy(&code, &function->code, sizeof code);
    return code;
}
