/* verify_launch_list.c - the launches of a file: their kernels, and what these are given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "lookup.h"

#include <inttypes.h>

/* A line of the list and its kernel. */
typedef struct listed {
    const grout_launch_line *line;
    const grout_kernel *kernel;
    grout_launch_id id;
} listed;

static bool find_listed(const grout_module *module, grout_launch_id id, listed *out) {
    grout_kernel_id kernel = grout_module_get_launch_kernel(module, id);
    *out = (listed){
        .line = grout_module_get_launch(module, id),
        .kernel = grout_module_get_kernel(module, kernel),
        .id = id,
    };
    return kernel != 0 && out->line->argument_count == out->kernel->param_count;
}

static void note_kernel(grout_verifying *verifying, const listed *it) {
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, it->kernel->loc),
                     "the kernel is here");
}

static void report_kernel(grout_verifying *verifying, const grout_launch_line *line) {
    const grout_module *module = verifying->module;
    const char *name = grout_module_get_string(module, line->kernel_name);
    grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH_LIST, line->loc,
                            "there is no kernel '@%s' to launch", name);
    grout_verifying__suggest_kernel(verifying, name);
}

/* Whether the line has a kernel and as many arguments as that has parameters. */
static bool check_line(grout_verifying *verifying, grout_launch_id id) {
    listed it;
    if (find_listed(verifying->module, id, &it)) {
        return true;
    }
    if (it.kernel->name == 0) {
        report_kernel(verifying, it.line);
        return false;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH_LIST, it.line->loc,
                            "'@%s' has %" PRIu32 " parameters, and is given %" PRIu32,
                            grout_module_get_string(verifying->module, it.line->kernel_name),
                            it.kernel->param_count, it.line->argument_count);
    note_kernel(verifying, &it);
    return false;
}

static const grout_param *get_param(const grout_verifying *verifying, const listed *it,
                                    uint32_t index) {
    return grout_module_get_param(verifying->module, it->kernel, index);
}

static bool is_same(const grout_module *module, const grout_param *a, const grout_param *b) {
    return grout_type_is_equal(grout_module_get_type(module, a->value),
                               grout_module_get_type(module, b->value));
}

/* The parameter of an argument against that of an earlier one of the same name. */
static void check_pair(grout_verifying *verifying, const listed *it, uint32_t index,
                       const listed *other, uint32_t other_index) {
    const grout_module *module = verifying->module;
    const grout_param *param = get_param(verifying, it, index);
    const grout_param *before = get_param(verifying, other, other_index);
    const grout_launch_argument *argument =
        grout_module_get_launch_argument(module, it->line, index);
    const char *name = grout_module_get_string(module, argument->name);
    grout_loc_id earlier = grout_module_get_launch_argument(module, other->line, other_index)->loc;
    if (!is_same(module, param, before)) {
        grout_text type = {0}, other_type = {0};
        grout_type_print(grout_module_get_type(module, param->value), &type);
        grout_type_print(grout_module_get_type(module, before->value), &other_type);
        grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH_LIST, argument->loc,
                                "'%%%s' is %s here, and %s before", name,
                                type.data == NULL ? "" : type.data,
                                other_type.data == NULL ? "" : other_type.data);
        grout_text_free(&type);
        grout_text_free(&other_type);
    } else if (param->direction == GROUT_DIRECTION_OUT) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH_LIST, argument->loc,
                                "'%%%s' has a past, and '@%s' takes it as 'out': such an array "
                                "starts without values",
                                name, grout_module_get_string(module, it->kernel->name));
        grout_diags_help(verifying->diags, "write 'inout' in the kernel");
    } else {
        return;
    }
    grout_diags_note(verifying->diags, grout_module_get_place(module, earlier),
                     "it is given here before");
}

/* An argument against the nearest one of its name in an earlier launch. given: by name, that one's
 * place in the module's table of arguments. */
static void check_argument(grout_verifying *verifying, const listed *it, uint32_t index,
                           const grout_lookup *given) {
    const grout_module *module = verifying->module;
    grout_string_id name = grout_module_get_launch_argument(module, it->line, index)->name;
    const uint32_t earlier = grout_lookup__find(given, name);
    listed other;
    for (grout_launch_id id = it->id; earlier != 0 && id > 1;) {
        (void)find_listed(module, --id, &other);
        if (earlier >= other.line->first_argument) {
            check_pair(verifying, it, index, &other, earlier - other.line->first_argument);
            return;
        }
    }
}

/* Later launches are held against this one: against the first argument of a name. */
static void note_arguments(grout_verifying *verifying, const listed *it, grout_lookup *given) {
    for (uint32_t i = it->line->argument_count; i > 0; i--) {
        const grout_launch_argument *argument =
            grout_module_get_launch_argument(verifying->module, it->line, i - 1);
        uint32_t *number = grout_lookup__at(given, argument->name);
        if (number == NULL) {
            verifying->ok = grout_diags_add_oom(verifying->diags);
            return;
        }
        *number = it->line->first_argument + i - 1;
    }
}

/* Options of the command, messages and files know an array by the name of its parameter. */
static void check_name(grout_verifying *verifying, const listed *it, uint32_t index) {
    const grout_module *module = verifying->module;
    const grout_launch_argument *argument =
        grout_module_get_launch_argument(module, it->line, index);
    const grout_value *value =
        grout_module_get_value(module, get_param(verifying, it, index)->value);
    if (argument->name == value->name) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH_LIST, argument->loc,
                            "'@%s' calls this parameter '%%%s', and the launch '%%%s': an array "
                            "has one name in all launches",
                            grout_module_get_string(module, it->kernel->name),
                            grout_module_get_string(module, value->name),
                            grout_module_get_string(module, argument->name));
    grout_diags_note(verifying->diags, grout_module_get_place(module, value->loc),
                     "the parameter is here");
}

void grout_verify__launch_list(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    grout_lookup given = {.allocator = module->allocator};
    for (grout_launch_id id = 1; id < grout_module_get_launch_count(module); id++) {
        listed it;
        if (!check_line(verifying, id)) {
            continue;
        }
        (void)find_listed(module, id, &it);
        if (id == 1 && it.line->is_dependent) {
            grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH_LIST, it.line->loc,
                                    "the first launch is 'dependent', and there is none before it");
        }
        for (uint32_t i = 0; i < it.line->argument_count; i++) {
            check_name(verifying, &it, i);
            check_argument(verifying, &it, i, &given);
        }
        note_arguments(verifying, &it, &given);
    }
    grout_lookup__deinit(&given);
}
