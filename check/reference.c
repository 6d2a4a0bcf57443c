/* reference.c - runs what a kernel is checked against.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include "invariant.h"

#include <stdlib.h>
#include <string.h>

bool grout_reference__init(grout_reference *reference, grout_session *session,
                           const grout_load *load, grout_kernel_id kernel,
                           const grout_argument_set *arguments) {
    *reference = (grout_reference){.arguments = arguments,
                                   .line = grout_module_find_check_line(load->bound, kernel)};
    return reference->line == 0 ||
           (grout_argument_set__check_memory(session, 3 * arguments->bytes) &&
            grout_argument_set__copy(session, arguments, &reference->inputs));
}

void grout_reference__deinit(grout_reference *reference) {
    grout_argument_set__deinit(&reference->inputs);
    *reference = (grout_reference){0};
}

/* The parameter of the checked kernel that one of the reference is. */
static uint32_t find_own(const grout_module *module, const grout_kernel *kernel,
                         const grout_kernel *reference, uint32_t index) {
    const grout_param *param = grout_module_get_param(module, reference, index);
    const grout_string_id name = grout_module_get_value(module, param->value)->name;
    return grout_module_find_param(module, kernel, grout_module_get_string(module, name));
}

/* Runs it on the kept inputs; the results are in them then. A search may have used up the budget
 * before: it is not for this. */
static bool run(const grout_comparing *it, grout_kernel_id id, const grout_argument_set *arguments,
                grout_outcome *outcome) {
    grout_session *session = it->session;
    const double budget_end = session->budget_end;
    grout_launch_settings settings = grout_launch_settings__get(session, false);
    settings.is_silent = true;
    settings.schedule = GROUT_SCHEDULE_FAIR;
    settings.timing = GROUT_TIMING_LAZY;
    settings.replay = NULL;
    session->budget_end = 0;
    const bool is_good = grout_launch__run(session, it->load, id, arguments, &settings, outcome);
    session->budget_end = budget_end;
    return is_good;
}

static void note_end(const grout_comparing *it, uint32_t line, const grout_outcome *outcome) {
    const grout_module *module = it->load->bound;
    const grout_check_line *written = grout_module_get_check_line(module, line);
    const char *cut = grout_outcome__get_cut(outcome);
    grout_diags_add(it->session->diags, GROUT_DIAG_REFERENCE_INCOMPLETE,
                    grout_module_get_place(module, written->reference_loc),
                    "'@%s' did not come to its end, so '@%s' was not compared with it: %s",
                    grout_module_get_string(module, written->reference_name),
                    grout_module_get_string(module, written->kernel_name),
                    cut == NULL ? "no thread of it can run on" : cut);
    grout_diags_help(it->session->diags, "'grout check %s --kernel @%s' says what it does",
                     it->load->name, grout_module_get_string(module, written->reference_name));
}

static double get_tolerance(const grout_module *module, grout_expr_id id) {
    if (id == 0) {
        return 0;
    }
    const grout_expr_value value = grout_module_get_expr_value(module, id);
    return value.is_float ? value.number : (double)value.integer;
}

static bool compare(const grout_reference *reference, const grout_comparing *it,
                    const void *const *arrays, grout_text *differs) {
    const grout_module *module = it->load->bound;
    const grout_check_line *line = grout_module_get_check_line(module, reference->line);
    grout_text name = {0};
    grout_text_add(&name, "@%s", grout_module_get_string(module, line->reference_name));
    const grout_expected expected = {.arrays = arrays,
                                     .name = name.data,
                                     .options = {.rtol = get_tolerance(module, line->rtol),
                                                 .atol = get_tolerance(module, line->atol)}};
    const bool is_good = name.data != NULL ? grout_comparing__with_arrays(it, reference->arguments,
                                                                          &expected, differs)
                                           : grout_diags_add_oom(it->session->diags);
    grout_text_free(&name);
    return is_good;
}

/* An array for the reference: what it writes is its own. */
static bool take_argument(const grout_argument *input, bool is_written, void **owned,
                          grout_argument *out) {
    *out = *input;
    if (!is_written) {
        return true;
    }
    *owned = malloc(input->size > 0 ? input->size : 1);
    if (*owned != NULL) {
        memcpy(*owned, input->data, input->size);
    }
    out->data = *owned;
    return *owned != NULL;
}

/* The arguments of the reference, by the names of its parameters. arrays: by parameter of the
 * kernel, what the reference writes. False without memory; deinit even then. */
static bool bind(const grout_reference *reference, const grout_comparing *it, grout_kernel_id id,
                 grout_argument_set *out, const void **arrays) {
    const grout_module *module = it->load->bound;
    const grout_kernel *kernel = grout_module_get_kernel(module, it->kernel);
    const grout_kernel *other = grout_module_get_kernel(module, id);
    *out = (grout_argument_set){.count = other->param_count};
    out->arguments = calloc(out->count + 1, sizeof out->arguments[0]);
    out->owned = calloc(out->count + 1, sizeof out->owned[0]);
    bool is_good = out->arguments != NULL && out->owned != NULL;
    for (uint32_t i = 0; i < other->param_count && is_good; i++) {
        const uint32_t own = find_own(module, kernel, other, i);
        const bool is_written =
            grout_direction_is_written(grout_module_get_param(module, other, i)->direction);
        GROUT_ASSERT(own < reference->inputs.count); /* the verifier has seen to it */
        is_good = take_argument(&reference->inputs.arguments[own], is_written, &out->owned[i],
                                &out->arguments[i]);
        arrays[own] = is_written ? out->arguments[i].data : NULL;
    }
    return is_good;
}

/* Runs it, and compares what it has left. */
static bool run_and_compare(const grout_reference *reference, const grout_comparing *it,
                            grout_kernel_id id, const grout_argument_set *own,
                            const void *const *arrays, grout_text *differs) {
    grout_outcome outcome = {0};
    bool is_good = run(it, id, own, &outcome);
    if (is_good && outcome.status != GROUT_RUN_DONE) {
        note_end(it, reference->line, &outcome);
        is_good = false;
    }
    grout_outcome__deinit(&outcome);
    return is_good && compare(reference, it, arrays, differs);
}

bool grout_reference__compare(const grout_reference *reference, const grout_comparing *comparing,
                              grout_text *differs) {
    const grout_module *module = comparing->load->bound;
    if (reference->line == 0) {
        return true;
    }
    const grout_kernel_id id = grout_module_get_reference_kernel(module, reference->line);
    grout_comparing it = *comparing;
    grout_argument_set own = {0};
    const void **arrays = calloc(reference->arguments->count + 1, sizeof(const void *));
    bool is_good = false;
    it.inputs = &reference->inputs;
    if (arrays == NULL || !bind(reference, &it, id, &own, arrays)) {
        (void)grout_diags_add_oom(it.session->diags);
    } else {
        is_good = run_and_compare(reference, &it, id, &own, arrays, differs);
    }
    grout_argument_set__deinit(&own);
    free(arrays);
    return is_good;
}

void grout_reference__describe_missing(const grout_reference *reference, const grout_load *load,
                                       grout_text *out) {
    const grout_check_line *line = grout_module_get_check_line(load->bound, reference->line);
    grout_text_add(out, "was not compared with '@%s'",
                   grout_module_get_string(load->bound, line->reference_name));
}
