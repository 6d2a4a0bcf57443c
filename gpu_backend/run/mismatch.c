/* mismatch.c - what is said of arrays that differ: values, size and place of the difference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- words ---------------------------------------------------------------------------------- */

/* As people read it, exactly enough to tell neighbours apart. */
static void print_element(char text[64], uint64_t bits, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (info->class_ == GROUT_CLASS_FLOAT) {
        (void)snprintf(text, 64, "%.*g (0x%0*" PRIx64 ")", info->bytes == 8 ? 17 : 9,
                       grout_compare__decode(bits, dtype), 2 * info->bytes, bits);
    } else if (info->class_ == GROUT_CLASS_SINT) {
        const uint32_t unused = 64u - info->bits;
        const uint64_t sign = UINT64_C(1) << (63 - unused);
        const int64_t value = bits < sign ? (int64_t)bits : -(int64_t)(sign - (bits - sign));
        (void)snprintf(text, 64, "%" PRId64, value);
    } else {
        (void)snprintf(text, 64, "%" PRIu64, bits);
    }
}

void grout_describe_element(const grout_type *type, int64_t element, grout_text *out) {
    grout_type_print_element(type, element, out);
    grout_text_add(out, "%s", type->rank == 0 ? "[]" : "");
}

/* "[0:64, 3]": a dimension of one element as an index. */
static int64_t add_box(const grout_type *type, const grout_difference *difference,
                       grout_text *out) {
    int64_t count = 1;
    grout_text_add(out, "[");
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        const int64_t begin = difference->begin[dim], end = difference->end[dim];
        grout_text_add(out, "%s%" PRId64, dim == 0 ? "" : ", ", begin);
        if (end > begin + 1) {
            grout_text_add(out, ":%" PRId64, end);
        }
        count *= end - begin;
    }
    grout_text_add(out, "]");
    return count;
}

static const char *get_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void add_note(grout_diags *diags, grout_text *text) {
    if (text->data != NULL) {
        grout_diags_note(diags, (grout_place){0}, "%s", text->data);
    }
    grout_text_free(text);
}

/* The largest differences of finite numbers. */
static void note_size(const grout_type *type, const grout_difference *difference,
                      grout_diags *diags) {
    grout_text text = {0};
    if (difference->absolute_at < 0) {
        return;
    }
    if (difference->absolute > 0) {
        grout_text_add(&text, "the largest difference is %.9g, at ", difference->absolute);
        grout_describe_element(type, difference->absolute_at, &text);
    } else {
        grout_text_add(&text, "as numbers they are equal: 0 and -0 differ in their bits");
    }
    if (difference->absolute > 0 && difference->relative_at >= 0) {
        grout_text_add(&text, "; the largest relative to the expected value is %.3g, at ",
                       difference->relative);
        grout_describe_element(type, difference->relative_at, &text);
    }
    add_note(diags, &text);
}

static void add_not_finite(int64_t count, const char *what, grout_text *out) {
    if (count > 0) {
        grout_text_add(out, "%s%" PRId64 " element%s %s %s", out->size == 0 ? "" : "; ", count,
                       get_plural(count), count == 1 ? "is" : "are", what);
    }
}

static void note_not_finite(const grout_difference *difference, grout_diags *diags) {
    grout_text text = {0};
    add_not_finite(difference->nan_found, "NaN where a number is expected", &text);
    add_not_finite(difference->nan_missing, "a number where NaN is expected", &text);
    add_not_finite(difference->infinite, "infinite on one side, or with the other sign", &text);
    add_note(diags, &text);
}

/* The box, for an array of which more than one element differs. */
static void note_box(const grout_type *type, const char *name, const grout_difference *difference,
                     grout_diags *diags) {
    grout_text text = {0};
    if (difference->differing < 2) {
        return;
    }
    grout_text_add(&text, "all that differ lie in '%%%s'", name);
    const int64_t count = add_box(type, difference, &text);
    if (count == difference->differing) {
        grout_text_add(&text, ", and every element there differs");
    } else {
        grout_text_add(&text, ", which has %" PRId64 " elements", count);
    }
    add_note(diags, &text);
}

void grout_compare_report(const grout_comparison *task, const grout_difference *difference,
                          grout_diags *diags) {
    const grout_kernel *kernel = grout_module_get_kernel(task->bound, task->kernel);
    const grout_param *param = grout_module_get_param(task->bound, kernel, task->param_index);
    const grout_value *value = grout_module_get_value(task->bound, param->value);
    const grout_type *type = grout_object_get_type(task->bound, param->object);
    const grout_dtype dtype = (grout_dtype)type->dtype;
    const char *name = grout_gpu__get_param_name(task->bound, kernel, task->param_index);
    grout_text index = {0};
    char expected[64], actual[64];
    grout_describe_element(type, difference->first, &index);
    print_element(expected, grout_compare__read(task->expected, difference->first, dtype), dtype);
    print_element(actual, grout_compare__read(task->actual, difference->first, dtype), dtype);
    grout_diags_add(diags, GROUT_DIAG_COMPARE_MISMATCH,
                    grout_module_get_place(task->bound, value->loc),
                    "'%%%s'%s is %s, expected %s; %" PRId64 " of %" PRId64 " elements differ", name,
                    index.data == NULL ? "" : index.data, actual, expected, difference->differing,
                    difference->count);
    grout_text_free(&index);
    note_size(type, difference, diags);
    note_not_finite(difference, diags);
    note_box(type, name, difference, diags);
}

/* ---- one array ------------------------------------------------------------------------------ */

/* The last op in program order that writes a parameter. */
typedef struct writer_search {
    const grout_module *module;
    grout_object_id object;
    const grout_op *found;
} writer_search;

static bool find_writer(void *payload, grout_op_id id, const grout_op *op) {
    writer_search *search = payload;
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    (void)id;
    for (uint32_t k = 0; k < count; k++) {
        grout_view view;
        if (effects[k].access == GROUT_ACCESS_WRITE &&
            grout_module_get_view(search->module,
                                  grout_module_get_operand(search->module, op, effects[k].operand),
                                  &view) &&
            view.object == search->object) {
            search->found = op;
        }
    }
    return true;
}

/* NOLINTNEXTLINE(readability-function-size): seven parameters by contract */
bool grout_compare_array(const grout_module *bound, grout_kernel_id kernel, uint32_t param_index,
                         const void *expected, const void *actual,
                         const grout_compare_options *options, grout_diags *diags) {
    const grout_comparison task = {
        .bound = bound,
        .kernel = kernel,
        .param_index = param_index,
        .expected = expected,
        .actual = actual,
        .options = options == NULL ? (grout_compare_options){0} : *options,
    };
    const grout_kernel *entry = grout_module_get_kernel(bound, kernel);
    writer_search search = {.module = bound,
                            .object = grout_module_get_param(bound, entry, param_index)->object};
    grout_difference difference;
    if (grout_compare_measure(&task, &difference)) {
        return true;
    }
    grout_compare_report(&task, &difference, diags);
    grout_gpu__walk(bound, entry->body, find_writer, &search);
    if (search.found != NULL) {
        grout_diags_note(diags, grout_module_get_place(bound, search.found->loc),
                         "of the ops that write it this one comes last in the kernel");
    }
    return false;
}
