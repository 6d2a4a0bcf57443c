/* bindings.c - --input, --output, --inout and --expect-output, read and checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include "files.h"
#include "invariant.h"
#include "suggest.h"

#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text, size_t size) {
    char *copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

grout_place grout_binding__get_place(const grout_binding *binding) {
    return grout_option_line__get_place(binding->use.line, binding->use.value);
}

static const char *get_option_text(grout_binding_kind kind) {
    return kind == GROUT_BINDING_INPUT    ? "--input"
           : kind == GROUT_BINDING_OUTPUT ? "--output"
                                          : "--expect-output";
}

static bool has_npy_end(const char *text, size_t size) {
    return size > 4 && memcmp(text + size - 4, ".npy", 4) == 0;
}

/* Adds a binding of a parameter; path_size 0: without a file. */
static grout_binding *add_binding(grout_session *session, grout_bindings *bindings,
                                  grout_binding_kind kind, const char *param, size_t param_size) {
    grout_binding *items =
        realloc(bindings->items, (bindings->count + 1) * sizeof bindings->items[0]);
    if (items != NULL) {
        bindings->items = items;
        items[bindings->count] =
            (grout_binding){.kind = kind, .param = copy_text(param, param_size)};
    }
    if (items == NULL || items[bindings->count].param == NULL) {
        (void)grout_diags_add_oom(session->diags);
        return NULL;
    }
    return &items[bindings->count++];
}

static bool set_path(grout_session *session, grout_binding *binding, const char *path,
                     size_t size) {
    binding->path = copy_text(path, size);
    return binding->path != NULL || grout_diags_add_oom(session->diags);
}

/* The parameter's name before '='; sets *rest to what follows. Size 0: there is none. */
static const char *split_param(const char *value, size_t *size, const char **rest) {
    const char *param = value[0] == '%' ? value + 1 : value;
    *size = strcspn(param, "=");
    *rest = param[*size] == '=' && param[*size + 1] != '\0' ? param + *size + 1 : NULL;
    return param;
}

static bool fail_form(grout_session *session, grout_option_id id, const char *value) {
    const grout_option_info *info = grout_option__get_info(id);
    return grout_diags_add(
        session->diags, GROUT_DIAG_BAD_OPTION, grout_options__get_place(&session->options, value),
        "the value of --%s is %s, not '%.200s'", info->long_text, info->argument, value);
}

static bool add_input(grout_session *session, grout_bindings *bindings, const char *value) {
    size_t size;
    const char *what;
    const char *param = split_param(value, &size, &what);
    if (size == 0 || what == NULL) {
        return fail_form(session, GROUT_OPTION_INPUT, value);
    }
    grout_binding *binding = add_binding(session, bindings, GROUT_BINDING_INPUT, param, size);
    if (binding == NULL) {
        return false;
    }
    if (has_npy_end(what, strlen(what))) {
        return set_path(session, binding, what, strlen(what));
    }
    if (!grout_generator_read(what, &binding->generator)) {
        grout_text forms = {0};
        grout_generator_list_forms(&forms);
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION,
                        grout_options__get_place(&session->options, value),
                        "--input %s: '%.200s' is neither FILE.npy nor %s", binding->param, what,
                        forms.data == NULL ? "a generator" : forms.data);
        grout_text_free(&forms);
        return false;
    }
    return true;
}

/* FILE.npy or FILE.npy:DTYPE of --output and --inout; option: for messages. */
static bool set_output(grout_session *session, grout_binding *binding, const char *what,
                       grout_option_id option) {
    const size_t size = grout_files__get_npy_size(what);
    if (!set_path(session, binding, what, size) || what[size] == '\0') {
        return binding->path != NULL;
    }
    const char *dtype = what + size + 1;
    binding->dtype = grout_dtype_find(dtype, strlen(dtype));
    return (binding->dtype != GROUT_DTYPE_NONE &&
            grout_dtype_get_info(binding->dtype)->class_ == GROUT_CLASS_FLOAT) ||
           grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                           "--%s %s: '%.40s' is not a float type; outputs are converted "
                           "to f16, f32 and the like only",
                           grout_option__get_info(option)->long_text, binding->param, dtype);
}

static bool add_output(grout_session *session, grout_bindings *bindings, const char *value) {
    size_t size;
    const char *what;
    const char *param = split_param(value, &size, &what);
    if (size == 0 || what == NULL || !has_npy_end(what, grout_files__get_npy_size(what))) {
        return fail_form(session, GROUT_OPTION_OUTPUT, value);
    }
    grout_binding *binding = add_binding(session, bindings, GROUT_BINDING_OUTPUT, param, size);
    return binding != NULL && set_output(session, binding, what, GROUT_OPTION_OUTPUT);
}

static bool add_inout(grout_session *session, grout_bindings *bindings, const char *value) {
    size_t size;
    const char *what;
    const char *param = split_param(value, &size, &what);
    const size_t in_size = what == NULL ? 0 : grout_files__get_npy_size(what);
    const char *out = what == NULL || what[in_size] != ':' ? NULL : what + in_size + 1;
    if (size == 0 || out == NULL || !has_npy_end(out, grout_files__get_npy_size(out))) {
        return fail_form(session, GROUT_OPTION_INOUT, value);
    }
    grout_binding *input = add_binding(session, bindings, GROUT_BINDING_INPUT, param, size);
    if (input == NULL || !set_path(session, input, what, in_size)) {
        return false;
    }
    grout_binding *output = add_binding(session, bindings, GROUT_BINDING_OUTPUT, param, size);
    return output != NULL && set_output(session, output, out, GROUT_OPTION_INOUT);
}

static bool add_expected(grout_session *session, grout_bindings *bindings, const char *value) {
    size_t size;
    const char *what;
    const char *param = split_param(value, &size, &what);
    if (size == 0 || what == NULL || !has_npy_end(what, strlen(what))) {
        return fail_form(session, GROUT_OPTION_EXPECT_OUTPUT, value);
    }
    grout_binding *binding = add_binding(session, bindings, GROUT_BINDING_EXPECT, param, size);
    return binding != NULL && set_path(session, binding, what, strlen(what));
}

static bool add_use(grout_session *session, grout_bindings *out, const grout_option_use *use) {
    size_t before = out->count;
    bool is_good = use->id == GROUT_OPTION_INPUT           ? add_input(session, out, use->value)
                   : use->id == GROUT_OPTION_OUTPUT        ? add_output(session, out, use->value)
                   : use->id == GROUT_OPTION_INOUT         ? add_inout(session, out, use->value)
                   : use->id == GROUT_OPTION_EXPECT_OUTPUT ? add_expected(session, out, use->value)
                                                           : true;
    for (size_t i = before; i < out->count; i++) {
        out->items[i].use = *use;
    }
    return is_good;
}

/* ---- arrays in memory ----------------------------------------------------------------------- */

static bool add_given_array(grout_session *session, const grout_given_array *array,
                            grout_bindings *out) {
    grout_binding *binding =
        add_binding(session, out, GROUT_BINDING_INPUT, array->param, strlen(array->param));
    if (binding == NULL || !set_path(session, binding, "given", strlen("given"))) {
        return false;
    }
    binding->given = array;
    binding->npy.rank = array->rank;
    binding->npy.count = 1;
    for (uint32_t i = 0; i < array->rank; i++) {
        binding->npy.dims[i] = array->dims[i];
        binding->npy.count *= array->dims[i];
    }
    return true;
}

static bool add_given_arrays(grout_session *session, grout_bindings *out) {
    bool is_good = true;
    for (size_t i = 0; session->given != NULL && i < session->given->arrays.count; i++) {
        const grout_given_array *array = &session->given->arrays.items[i];
        is_good = is_good && (array->data == NULL || add_given_array(session, array, out));
    }
    return is_good;
}

/* ---- conflicts ------------------------------------------------------------------------------ */

static bool check_pair(grout_session *session, const grout_binding *a, const grout_binding *b) {
    return a->kind != b->kind || strcmp(a->param, b->param) != 0 ||
           grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                           "%s is given twice for %%%s", get_option_text(a->kind), a->param);
}

static bool check_output(grout_session *session, const grout_binding *binding) {
    const grout_host *host = session->host;
    grout_text reason = {0};
    bool is_good = host->can_write(host->payload, binding->path, &reason);
    if (!is_good) {
        grout_diags_add(session->diags, GROUT_DIAG_FILE_UNWRITABLE, grout_nowhere,
                        "cannot write '%s': %s", binding->path,
                        reason.data == NULL ? "?" : reason.data);
    }
    grout_text_free(&reason);
    return is_good;
}

/* The same parameter twice, or a file that cannot be written (files.h looks at what it is). */
static bool check_conflicts(grout_session *session, const grout_bindings *bindings) {
    bool is_good = true;
    for (size_t i = 0; i < bindings->count; i++) {
        for (size_t j = 0; j < i; j++) {
            is_good = check_pair(session, &bindings->items[j], &bindings->items[i]) && is_good;
        }
        if (bindings->items[i].kind == GROUT_BINDING_OUTPUT) {
            is_good = check_output(session, &bindings->items[i]) && is_good;
        }
    }
    return is_good;
}

static bool read_npy(grout_session *session, grout_binding *binding) {
    const grout_host *host = session->host;
    uint64_t memory = host->get_memory(host->payload);
    uint64_t size_max = grout_options__get_count(&session->options, GROUT_OPTION_MAX_MEMORY,
                                                 memory > 0 ? memory : UINT64_MAX / 2);
    bool is_read = binding->use.line == NULL
                       ? grout_session__read_framed(session, binding->path, size_max,
                                                    grout_npy_get_size, &binding->bytes)
                       : grout_session__read_named(session, &binding->use, binding->path, size_max,
                                                   grout_npy_get_size, &binding->bytes);
    return is_read && grout_npy_parse(binding->bytes.data, binding->bytes.size, binding->path,
                                      &binding->npy, session->diags);
}

bool grout_bindings__read(grout_session *session, grout_bindings *out) {
    bool is_good = true;
    *out = (grout_bindings){0};
    for (size_t i = 0; i < session->options.use_count; i++) {
        is_good = add_use(session, out, &session->options.uses[i]) && is_good;
    }
    is_good = is_good && add_given_arrays(session, out);
    if (!is_good || !check_conflicts(session, out)) {
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        GROUT_ASSERT(out->items[i].param != NULL);
        GROUT_ASSERT(out->items[i].kind == GROUT_BINDING_INPUT || out->items[i].path != NULL);
        if (out->items[i].path != NULL && out->items[i].kind != GROUT_BINDING_OUTPUT &&
            out->items[i].given == NULL) {
            is_good = read_npy(session, &out->items[i]) && is_good;
        }
    }
    return is_good;
}

void grout_bindings__deinit(grout_bindings *bindings) {
    for (size_t i = 0; i < bindings->count; i++) {
        free(bindings->items[i].param);
        free(bindings->items[i].path);
        free(bindings->items[i].bytes.data);
    }
    free(bindings->items);
    *bindings = (grout_bindings){0};
}

const grout_binding *grout_bindings__find(const grout_bindings *bindings, grout_binding_kind kind,
                                          const char *param) {
    for (size_t i = 0; i < bindings->count; i++) {
        if (bindings->items[i].kind == kind && strcmp(bindings->items[i].param, param) == 0) {
            return &bindings->items[i];
        }
    }
    return NULL;
}

/* Whether a generator makes small whole numbers only. */
static bool is_small_whole(uint8_t kind) {
    return kind == GROUT_GENERATOR_INTS || kind == GROUT_GENERATOR_ZEROS ||
           kind == GROUT_GENERATOR_ONES;
}

bool grout_bindings__are_whole(const grout_bindings *bindings, const grout_module *bound,
                               grout_kernel_id kernel) {
    const grout_kernel *entry = grout_module_get_kernel(bound, kernel);
    for (uint32_t i = 0; i < entry->param_count; i++) {
        const grout_param *param = grout_module_get_param(bound, entry, i);
        const grout_value *value = grout_module_get_value(bound, param->value);
        const grout_binding *binding = grout_bindings__find(
            bindings, GROUT_BINDING_INPUT, grout_module_get_string(bound, value->name));
        const bool is_small =
            binding == NULL
                ? is_small_whole(grout_module_get_init(bound, param->init)->kind)
                : binding->path == NULL && is_small_whole((uint8_t)binding->generator.kind);
        if (param->direction != GROUT_DIRECTION_OUT && !is_small) {
            return false;
        }
    }
    return true;
}

bool grout_bindings__have_results(const grout_session *session, const grout_bindings *bindings) {
    for (size_t i = 0; session->given != NULL && i < session->given->arrays.count; i++) {
        if (session->given->arrays.items[i].results != NULL) {
            return true;
        }
    }
    for (size_t i = 0; i < bindings->count; i++) {
        if (bindings->items[i].kind != GROUT_BINDING_INPUT) {
            return true;
        }
    }
    return false;
}

/* ---- against the kernels -------------------------------------------------------------------- */

static bool takes_binding(grout_binding_kind kind, grout_direction direction) {
    if (kind == GROUT_BINDING_INPUT) {
        return direction != GROUT_DIRECTION_OUT;
    }
    return direction == GROUT_DIRECTION_OUT || direction == GROUT_DIRECTION_INOUT;
}

static const char *get_param_name(const grout_module *module, const grout_kernel *kernel,
                                  uint32_t index) {
    GROUT_ASSERT(index < kernel->param_count);
    const grout_param *param = grout_module_get_param(module, kernel, index);
    return grout_module_get_string(module, grout_module_get_value(module, param->value)->name);
}

/* That of no init names the generator that stands in for it. */
static const grout_init *get_init(const grout_module *module, const grout_kernel *kernel,
                                  uint32_t index) {
    return grout_module_get_init(module, grout_module_get_param(module, kernel, index)->init);
}

/* Whether one of the kernels has a parameter of this name. */
static bool has_param(const grout_module *module, const grout_kernel_id *kernels,
                      size_t kernel_count, const char *name) {
    for (size_t k = 0; k < kernel_count; k++) {
        const grout_kernel *kernel = grout_module_get_kernel(module, kernels[k]);
        if (grout_module_find_param(module, kernel, name) != UINT32_MAX) {
            return true;
        }
    }
    return false;
}

/* The binding names no parameter: lists those that would take it. */
static bool fail_unknown(grout_session *session, const grout_binding *binding,
                         const grout_module *module, const grout_kernel_id *kernels,
                         size_t kernel_count) {
    grout_suggestion suggestion = grout_suggest__begin_command(binding->param);
    grout_text names = {0};
    for (size_t k = 0; k < kernel_count; k++) {
        const grout_kernel *kernel = grout_module_get_kernel(module, kernels[k]);
        for (uint32_t i = 0; i < kernel->param_count; i++) {
            const char *name = get_param_name(module, kernel, i);
            uint8_t direction = grout_module_get_param(module, kernel, i)->direction;
            if (takes_binding(binding->kind, (grout_direction)direction) &&
                !has_param(module, kernels, k, name)) {
                grout_suggest__offer(&suggestion, name);
                grout_text_add(&names, "%s%s", names.size > 0 ? ", " : "", name);
            }
        }
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_binding__get_place(binding),
                    "%s: the kernel has no parameter '%.200s'", get_option_text(binding->kind),
                    binding->param);
    if (suggestion.best != NULL) {
        grout_diags_help(session->diags, "did you mean '%s'?", suggestion.best);
    } else if (names.data != NULL) {
        grout_diags_help(session->diags, "parameters that it %s: %s",
                         binding->kind == GROUT_BINDING_INPUT ? "reads" : "writes", names.data);
    }
    grout_text_free(&names);
    return false;
}

/* The kernels that have the parameter, and those that take the binding. */
static bool check_binding(grout_session *session, const grout_binding *binding,
                          const grout_module *module, const grout_kernel_id *kernels,
                          size_t kernel_count) {
    size_t has_count = 0, take_count = 0;
    for (size_t k = 0; k < kernel_count; k++) {
        const grout_kernel *kernel = grout_module_get_kernel(module, kernels[k]);
        uint32_t index = grout_module_find_param(module, kernel, binding->param);
        if (index != UINT32_MAX) {
            const grout_param *param = grout_module_get_param(module, kernel, index);
            has_count++;
            take_count += takes_binding(binding->kind, (grout_direction)param->direction) ? 1u : 0u;
        }
    }
    if (has_count == 0) {
        return fail_unknown(session, binding, module, kernels, kernel_count);
    }
    if (take_count == 0) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION,
                               grout_binding__get_place(binding),
                               binding->kind == GROUT_BINDING_INPUT
                                   ? "%s: %%%s is an 'out' array, it takes no input"
                                   : "%s: %%%s is no 'out' or 'inout' array, the kernel does not "
                                     "write it",
                               get_option_text(binding->kind), binding->param);
    }
    bool has_list = grout_module_get_launch_count(module) > 1 && kernel_count > 1;
    if (take_count > 1 && binding->kind == GROUT_BINDING_OUTPUT && !has_list) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                        "--output: %zu kernels of the file write %%%s, and there is one file",
                        take_count, binding->param);
        grout_diags_help(session->diags, "choose one with --kernel @NAME");
        return false;
    }
    return true;
}

bool grout_bindings__check(grout_session *session, const grout_bindings *bindings,
                           const grout_module *symbolic, const grout_kernel_id *kernels,
                           size_t kernel_count) {
    bool is_good = true;
    for (size_t i = 0; i < bindings->count; i++) {
        is_good =
            check_binding(session, &bindings->items[i], symbolic, kernels, kernel_count) && is_good;
    }
    return is_good;
}

const char *grout_kernel__describe_outputs(const grout_module *module, grout_kernel_id kernel_id,
                                           grout_text *out) {
    const grout_kernel *kernel = grout_module_get_kernel(module, kernel_id);
    const char *first = NULL;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const char *name = get_param_name(module, kernel, i);
        uint8_t direction = grout_module_get_param(module, kernel, i)->direction;
        if (takes_binding(GROUT_BINDING_OUTPUT, (grout_direction)direction)) {
            grout_text_add(out, "%s%%%s", first == NULL ? "" : ", ", name);
            first = first == NULL ? name : first;
        }
    }
    return first;
}

/* The kernel of the last launch before this one that writes the array; NULL: none does. */
static const grout_kernel *find_writer(const grout_module *module, const char *name,
                                       grout_launch_id launch) {
    for (grout_launch_id id = launch; id > 1;) {
        const grout_kernel *kernel =
            grout_module_get_kernel(module, grout_module_get_launch_kernel(module, --id));
        uint32_t index = grout_module_find_param(module, kernel, name);
        if (index != UINT32_MAX &&
            grout_direction_is_written(grout_module_get_param(module, kernel, index)->direction)) {
            return kernel;
        }
    }
    return NULL;
}

void grout_bindings__describe_inputs(const grout_bindings *bindings, const grout_module *module,
                                     grout_kernel_id kernel_id, grout_launch_id launch,
                                     grout_text *out) {
    const grout_kernel *kernel = grout_module_get_kernel(module, kernel_id);
    const char *separator = "";
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const char *name = get_param_name(module, kernel, i);
        const grout_binding *binding = grout_bindings__find(bindings, GROUT_BINDING_INPUT, name);
        if (grout_module_get_param(module, kernel, i)->direction == GROUT_DIRECTION_OUT) {
            continue;
        }
        grout_text_add(out, "%s%%%s: ", separator, name);
        separator = ", ";
        const grout_kernel *writer = find_writer(module, name, launch);
        if (writer != NULL) {
            grout_text_add(out, "of @%s", grout_module_get_string(module, writer->name));
        } else if (binding == NULL) {
            grout_init_print_input(module, get_init(module, kernel, i), out);
        } else if (binding->path != NULL) {
            grout_text__add_name(out, binding->path);
        } else {
            grout_generator_print(&binding->generator, out);
        }
    }
}

const char *grout_bindings__describe_invented(const grout_bindings *bindings,
                                              const grout_module *module, grout_kernel_id kernel_id,
                                              grout_launch_id launch, grout_text *out) {
    const grout_kernel *kernel = grout_module_get_kernel(module, kernel_id);
    const char *first = NULL;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        const char *name = get_param_name(module, kernel, i);
        if (param->direction == GROUT_DIRECTION_OUT || param->init != 0 ||
            grout_bindings__find(bindings, GROUT_BINDING_INPUT, name) != NULL ||
            find_writer(module, name, launch) != NULL) {
            continue;
        }
        grout_text_add(out, "%s%%%s: ", first == NULL ? "" : ", ", name);
        grout_init_print_input(module, get_init(module, kernel, i), out);
        first = first == NULL ? name : first;
    }
    return first;
}
