/* reference.c - runs what a kernel is checked against.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include "array.h"
#include "hash.h"
#include "invariant.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of all arrays that are kept; what does not fit is made anew each time. */
#define KEPT_MAX ((size_t)256 << 20)

/* ---- what is kept --------------------------------------------------------------------------- */

/* The arrays that one run has left, by parameter of the reference; NULL: it does not write it. */
struct grout_kept_reference {
    uint64_t key;
    void **arrays;
    size_t count;
};

static void free_kept(grout_kept_reference *one) {
    for (size_t i = 0; i < one->count && one->arrays != NULL; i++) {
        grout__free(one->arrays[i]);
    }
    grout__free(one->arrays);
    *one = (grout_kept_reference){0};
}

void grout_kept_references__deinit(grout_kept_references *kept) {
    for (size_t i = 0; i < kept->list.count; i++) {
        free_kept(&kept->list.items[i]);
    }
    grout__free(kept->list.items);
    *kept = (grout_kept_references){0};
}

/* A hash of what a run goes by: the text, the kernel, the bytes of its inputs. */
static uint64_t get_key(const grout_kept_references *kept, grout_kernel_id id,
                        const grout_argument_set *inputs) {
    uint64_t key = grout_hash__word(kept->text, id);
    for (size_t i = 0; i < inputs->count; i++) {
        key = grout_hash__word(key, inputs->arguments[i].size);
        key = grout_hash__bytes(key, inputs->arguments[i].data, inputs->arguments[i].size);
    }
    return key;
}

static const grout_kept_reference *find_kept(const grout_kept_references *kept, uint64_t key) {
    for (size_t i = 0; i < kept->list.count; i++) {
        if (kept->list.items[i].key == key) {
            return &kept->list.items[i];
        }
    }
    return NULL;
}

/* Copies what the reference owns, which is what it has written. Without memory nothing is kept. */
static void keep(grout_kept_references *kept, uint64_t key, const grout_argument_set *own) {
    grout_kept_reference one = {.key = key, .count = own->count};
    size_t bytes = 0;
    for (size_t i = 0; i < own->count; i++) {
        bytes += own->owned[i] != NULL ? own->arguments[i].size : 0;
    }
    one.arrays = grout__new(NULL, own->count + 1, sizeof *one.arrays);
    bool is_good = one.arrays != NULL && bytes <= KEPT_MAX - kept->bytes &&
                   GROUT_ARRAY_RESERVE(&kept->list, NULL, 1);
    for (size_t i = 0; i < own->count && is_good; i++) {
        if (own->owned[i] != NULL) {
            one.arrays[i] = grout__new(NULL, own->arguments[i].size + 1, 1);
            is_good = one.arrays[i] != NULL;
            if (is_good) {
                memcpy(one.arrays[i], own->owned[i], own->arguments[i].size);
            }
        }
    }
    if (is_good) {
        kept->list.items[kept->list.count++] = one;
        kept->bytes += bytes;
    } else {
        free_kept(&one);
    }
}

/* ---- a reference ---------------------------------------------------------------------------- */

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

/* What a run with the same text and inputs has left. */
static void take_kept(const grout_kept_reference *kept, const grout_argument_set *own) {
    GROUT_ASSERT(kept->count == own->count);
    for (uint32_t i = 0; i < own->count; i++) {
        if (kept->arrays[i] != NULL && own->owned[i] != NULL) {
            memcpy(own->owned[i], kept->arrays[i], own->arguments[i].size);
        }
    }
}

/* Runs it, and compares what it has left. */
static bool run_and_compare(const grout_reference *reference, const grout_comparing *it,
                            grout_kernel_id id, const grout_argument_set *own,
                            const void *const *arrays, grout_text *differs) {
    grout_outcome outcome = {0};
    const uint64_t key =
        reference->kept == NULL ? 0 : get_key(reference->kept, id, &reference->inputs);
    const grout_kept_reference *kept =
        reference->kept == NULL ? NULL : find_kept(reference->kept, key);
    if (kept != NULL) {
        take_kept(kept, own);
        return compare(reference, it, arrays, differs);
    }
    bool is_good = run(it, id, own, &outcome);
    if (is_good && outcome.status != GROUT_RUN_DONE) {
        note_end(it, reference->line, &outcome);
        is_good = false;
    }
    grout_outcome__deinit(&outcome);
    if (is_good && reference->kept != NULL) {
        keep(reference->kept, key, own);
    }
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
