/* comparing.c - results of a run against files, or against another run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comparing.h"

#include "goes_on.h"
#include "invariant.h"
#include "mismatch.h"
#include "pulse.h"

#include <stdlib.h>

void grout_comparing__report(void *payload, const grout_mismatch *mismatch) {
    grout_reporter *report = payload;
    grout_mismatch__report(report, mismatch);
}

/* Tells what differs. run: the array as the run on the CPU left it, whose writers are named. */
static void tell(const grout_comparing *it, grout_mismatch *mismatch, const void *run) {
    const uint32_t index = mismatch->comparison.param_index;
    grout_writers writers;
    if (it->is_brief) {
        it->found(it->payload, mismatch);
        return;
    }
    bool is_known = grout_writers__init(&writers, it->load, it->kernel, index,
                                        grout_difference_get_worst(&mismatch->difference));
    writers.inputs = it->inputs;
    is_known = is_known &&
               grout_writers__watch(&writers, it->session, it->load, it->kernel, it->settings, run);
    mismatch->writers = is_known ? &writers : NULL;
    it->found(it->payload, mismatch);
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

/* "%y differs from 'c.npy'", or that it is equal to it. */
static void say(const grout_comparing *it, const grout_mismatch *mismatch, bool is_equal,
                grout_text *differs) {
    const grout_compare_options *options = &mismatch->comparison.options;
    const char *name = get_name(it, mismatch->comparison.param_index);
    if (!is_equal) {
        grout_text_add(differs, differs->size == 0 ? "%%%s differs from '%s'" : ", %%%s from '%s'",
                       name, mismatch->against);
    } else if (!it->session->is_quiet && !it->is_brief) {
        grout_session__note(it->session, "%%%s equals '%s'%s\n", name, mismatch->against,
                            options->rtol <= 0 && options->atol <= 0 ? ", bit for bit"
                                                                     : " within the tolerance");
    }
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

void grout_comparing__with_files(const grout_comparing *it, const grout_argument_set *arguments,
                                 grout_text *differs) {
    GROUT_ASSERT(arguments->count == get_param_count(it));
    for (uint32_t i = 0; i < arguments->count; i++) {
        file_result result;
        if (compare_file(it, i, arguments, &result)) {
            if (!result.is_equal) {
                tell(it, &result.mismatch, result.mismatch.comparison.actual);
            }
            say(it, &result.mismatch, result.is_equal, differs);
            free(result.expected);
        }
    }
}

/* ---- a reference ---------------------------------------------------------------------------- */

bool grout_comparing__with_arrays(const grout_comparing *it, const grout_argument_set *arguments,
                                  const grout_expected *expected, grout_text *differs) {
    grout_pulse pulse = {.goes_on = goes_on, .payload = it->session->diags};
    for (uint32_t i = 0; i < arguments->count; i++) {
        grout_mismatch mismatch = {.comparison = {.bound = it->load->bound,
                                                  .kernel = it->kernel,
                                                  .param_index = i,
                                                  .expected = expected->arrays[i],
                                                  .actual = arguments->arguments[i].data,
                                                  .options = expected->options,
                                                  .pulse = &pulse},
                                   .against = expected->name};
        if (expected->arrays[i] == NULL || !is_result(it, i)) {
            continue;
        }
        const bool is_equal = grout_compare_measure(&mismatch.comparison, &mismatch.difference);
        mismatch.comparison.pulse = NULL;
        if (pulse.is_over) {
            return false;
        }
        if (!is_equal) {
            tell(it, &mismatch, arguments->arguments[i].data);
        }
        say(it, &mismatch, is_equal, differs);
    }
    return true;
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
            tell(it, &mismatch, cpu->arguments[i].data);
            is_equal = false;
        }
    }
    return is_equal;
}
