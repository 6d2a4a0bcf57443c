/* comparing.c - results of a run against files, or against another run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comparing.h"

#include "goes_on.h"
#include "invariant.h"
#include "mismatch.h"
#include "pulse.h"

#include <stdlib.h>

/* Reports what differs. run: the array as the run on the CPU left it, whose writers are named. */
static void report_mismatch(const grout_comparing *it, grout_mismatch *mismatch, const void *run) {
    const uint32_t index = mismatch->comparison.param_index;
    grout_writers writers;
    bool is_known =
        grout_writers__init(&writers, it->load, it->kernel, index,
                            grout_difference_get_worst(&mismatch->difference)) &&
        grout_writers__watch(&writers, it->session, it->load, it->kernel, it->settings, run);
    mismatch->writers = is_known ? &writers : NULL;
    grout_mismatch__report(it->report, mismatch);
    mismatch->writers = NULL; /* they end here */
    grout_writers__deinit(&writers);
}

static const grout_param *get_param(const grout_comparing *it, uint32_t index) {
    return grout_module_get_param(it->load->bound,
                                  grout_module_get_kernel(it->load->bound, it->kernel), index);
}

static const char *get_name(const grout_comparing *it, uint32_t index) {
    const grout_value *value = grout_module_get_value(it->load->bound, get_param(it, index)->value);
    return grout_module_get_string(it->load->bound, value->name);
}

static bool is_result(const grout_comparing *it, uint32_t index) {
    uint8_t direction = get_param(it, index)->direction;
    return direction == GROUT_DIRECTION_OUT || direction == GROUT_DIRECTION_INOUT;
}

static uint32_t get_param_count(const grout_comparing *it) {
    return grout_module_get_kernel(it->load->bound, it->kernel)->param_count;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* An array and the file that it is to be like. */
typedef struct file_result {
    uint32_t index;
    const grout_binding *binding;
    grout_mismatch mismatch; /* what is to be compared, and how it comes out */
    void *expected;          /* the file's elements, in the array's type; NULL: no memory */
    bool is_equal;
} file_result;

static bool goes_on(void *payload) {
    return grout_diags__ask(payload, "results were compared");
}

/* Compares the array of a parameter; false if no file is given for it, or something ends that. Free
 * expected. */
static bool compare_file(const grout_comparing *it, uint32_t index,
                         const grout_argument_set *arguments, file_result *out) {
    const grout_options *options = &it->session->options;
    const grout_binding *binding =
        grout_bindings__find(&it->load->bindings, GROUT_BINDING_EXPECT, get_name(it, index));
    bool is_passed_on = arguments->is_passed_on != NULL && arguments->is_passed_on[index];
    if (binding == NULL || !is_result(it, index) || is_passed_on) {
        return false;
    }
    const grout_argument *actual = &arguments->arguments[index];
    const grout_type *type = grout_object_get_type(it->load->bound, get_param(it, index)->object);
    GROUT_ASSERT(binding->npy.count == grout_type_get_count(type));
    *out = (file_result){.index = index, .binding = binding};
    out->expected = malloc(actual->size > 0 ? actual->size : 1);
    if (out->expected == NULL) {
        return !grout_diags_add_oom(it->session->diags);
    }
    grout_pulse pulse = {.goes_on = goes_on, .payload = it->session->diags};
    if (!grout_npy_convert(&binding->npy, (grout_dtype)type->dtype, out->expected, &pulse)) {
        free(out->expected);
        return false;
    }
    out->mismatch = (grout_mismatch){
        .comparison = {.bound = it->load->bound,
                       .kernel = it->kernel,
                       .param_index = index,
                       .expected = out->expected,
                       .actual = actual->data,
                       .pulse = &pulse,
                       .options = {.rtol = grout_options__get_number(options, GROUT_OPTION_RTOL, 0),
                                   .atol =
                                       grout_options__get_number(options, GROUT_OPTION_ATOL, 0)}},
        .against = binding->path};
    out->is_equal = grout_compare_measure(&out->mismatch.comparison, &out->mismatch.difference);
    out->mismatch.comparison.pulse = NULL;
    if (pulse.is_over) {
        free(out->expected);
    }
    return !pulse.is_over;
}

static void report_file(const grout_comparing *it, file_result *result, grout_text *differs) {
    grout_session *session = it->session;
    const grout_compare_options *options = &result->mismatch.comparison.options;
    const char *name = get_name(it, result->index), *path = result->binding->path;
    if (result->expected != NULL && !result->is_equal) {
        report_mismatch(it, &result->mismatch, result->mismatch.comparison.actual);
        grout_text_add(differs, differs->size == 0 ? "%%%s differs from '%s'" : ", %%%s from '%s'",
                       name, path);
    } else if (result->expected != NULL && !session->is_quiet) {
        grout_session__note(session, "%%%s equals '%s'%s\n", name, path,
                            options->rtol <= 0 && options->atol <= 0 ? ", bit for bit"
                                                                     : " within the tolerance");
    }
}

void grout_comparing__with_files(const grout_comparing *it, const grout_argument_set *arguments,
                                 grout_text *differs) {
    GROUT_ASSERT(arguments->count == get_param_count(it));
    for (uint32_t i = 0; i < arguments->count; i++) {
        file_result result;
        if (compare_file(it, i, arguments, &result)) {
            report_file(it, &result, differs);
            free(result.expected);
        }
    }
}

bool grout_comparing__is_equal(const grout_comparing *it, const grout_argument_set *arguments) {
    bool is_equal = true;
    for (uint32_t i = 0; i < arguments->count; i++) {
        file_result result;
        if (compare_file(it, i, arguments, &result)) {
            is_equal = is_equal && result.is_equal;
            free(result.expected);
        }
    }
    return is_equal && !grout_diags__has_ended(it->session->diags);
}

/* ---- the CPU -------------------------------------------------------------------------------- */

bool grout_comparing__with_cpu(const grout_comparing *it, const grout_argument_set *cpu,
                               const grout_argument_set *gpu, const grout_compare_options *options,
                               uint32_t *count_out) {
    bool is_equal = true;
    grout_pulse pulse = {.goes_on = goes_on, .payload = it->session->diags};
    GROUT_ASSERT(cpu->count == gpu->count);
    *count_out = 0;
    for (uint32_t i = 0; i < get_param_count(it); i++) {
        grout_mismatch mismatch = {.comparison = {.bound = it->load->bound,
                                                  .kernel = it->kernel,
                                                  .param_index = i,
                                                  .expected = cpu->arguments[i].data,
                                                  .actual = gpu->arguments[i].data,
                                                  .options = *options,
                                                  .pulse = &pulse},
                                   .against = "cpu"};
        if (!is_result(it, i) || (cpu->is_passed_on != NULL && cpu->is_passed_on[i])) {
            continue;
        }
        ++*count_out;
        const bool is_same = grout_compare_measure(&mismatch.comparison, &mismatch.difference);
        if (pulse.is_over) {
            return false;
        }
        if (!is_same) {
            report_mismatch(it, &mismatch, cpu->arguments[i].data);
            is_equal = false;
        }
    }
    return is_equal;
}
