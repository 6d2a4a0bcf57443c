/* comparing.c - results of a run against files, or against another run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comparing.h"

#include "invariant.h"
#include "mismatch.h"

#include <stdlib.h>

/* Reports what differs. run: the array as the run on the CPU left it, whose writers are named. */
static void report_mismatch(const grout_comparing *it, grout_mismatch *mismatch, const void *run) {
    const uint32_t index = mismatch->comparison.param_index;
    grout_writers writers;
    bool is_known =
        grout_writers__init(&writers, it->load, it->kernel, index,
                            grout_difference_get_worst(&mismatch->difference)) &&
        grout_writers__watch(&writers, it->session, it->load, it->kernel, it->settings, index, run);
    mismatch->writers = is_known ? &writers : NULL;
    grout_mismatch__report(it->report, mismatch);
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

static void compare_file(const grout_comparing *it, uint32_t index, const grout_binding *binding,
                         const grout_argument *actual, grout_text *differs) {
    grout_session *session = it->session;
    const grout_type *type = grout_object_get_type(it->load->bound, get_param(it, index)->object);
    GROUT_ASSERT(binding->npy.count == grout_type_get_count(type));
    void *expected = malloc(actual->size > 0 ? actual->size : 1);
    if (expected == NULL) {
        (void)grout_diags_add_oom(session->diags);
        return;
    }
    grout_npy_convert(&binding->npy, (grout_dtype)type->dtype, expected);
    grout_mismatch mismatch = {
        .comparison = {.bound = it->load->bound,
                       .kernel = it->kernel,
                       .param_index = index,
                       .expected = expected,
                       .actual = actual->data,
                       .options = {.rtol = grout_options__get_number(&session->options,
                                                                     GROUT_OPTION_RTOL, 0),
                                   .atol = grout_options__get_number(&session->options,
                                                                     GROUT_OPTION_ATOL, 0)}},
        .against = binding->path};
    const grout_compare_options *options = &mismatch.comparison.options;
    bool is_equal = grout_compare_measure(&mismatch.comparison, &mismatch.difference);
    if (!is_equal) {
        report_mismatch(it, &mismatch, actual->data);
        grout_text_add(differs, differs->size == 0 ? "%%%s differs from '%s'" : ", %%%s from '%s'",
                       get_name(it, index), binding->path);
    } else if (!session->is_quiet) {
        grout_session__print(
            session, GROUT_STREAM_ERR, "%%%s equals '%s'%s\n", get_name(it, index), binding->path,
            options->rtol <= 0 && options->atol <= 0 ? ", bit for bit" : " within the tolerance");
    }
    free(expected);
}

void grout_comparing__with_files(const grout_comparing *it, const grout_argument_set *arguments,
                                 grout_text *differs) {
    GROUT_ASSERT(arguments->count == get_param_count(it));
    for (uint32_t i = 0; i < arguments->count; i++) {
        const grout_binding *binding =
            grout_bindings__find(&it->load->bindings, GROUT_BINDING_EXPECT, get_name(it, i));
        if (is_result(it, i) && binding != NULL) {
            compare_file(it, i, binding, &arguments->arguments[i], differs);
        }
    }
}

/* ---- the CPU -------------------------------------------------------------------------------- */

bool grout_comparing__with_cpu(const grout_comparing *it, const grout_argument_set *cpu,
                               const grout_argument_set *gpu, const grout_compare_options *options,
                               uint32_t *count_out) {
    bool is_equal = true;
    GROUT_ASSERT(cpu->count == gpu->count);
    *count_out = 0;
    for (uint32_t i = 0; i < get_param_count(it); i++) {
        grout_mismatch mismatch = {.comparison = {.bound = it->load->bound,
                                                  .kernel = it->kernel,
                                                  .param_index = i,
                                                  .expected = cpu->arguments[i].data,
                                                  .actual = gpu->arguments[i].data,
                                                  .options = *options},
                                   .against = "cpu"};
        if (!is_result(it, i)) {
            continue;
        }
        ++*count_out;
        if (!grout_compare_measure(&mismatch.comparison, &mismatch.difference)) {
            report_mismatch(it, &mismatch, cpu->arguments[i].data);
            is_equal = false;
        }
    }
    return is_equal;
}
