/* mismatch_json.c - the facts of an array that is not as expected (docs/report_schema.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "mismatch.h"

#include "array.h"

#include "grout-internal/observe.h"

#include <float.h>
#include <jansson.h>

static const grout_type *get_type(const grout_comparison *task) {
    const grout_kernel *kernel = grout_module_get_kernel(task->bound, task->kernel);
    const grout_param *param = grout_module_get_param(task->bound, kernel, task->param_index);
    return grout_object_get_type(task->bound, param->object);
}

/* Appends a new value; a fault of memory shows when the report is made. */
static void append(json_t *array, json_t *value) {
    (void)json_array_append_new(array, value);
}

static json_t *make_element(const grout_type *type, int64_t element) {
    int64_t indices[GROUT_RANK_MAX] = {0};
    json_t *array = json_array();
    for (uint32_t dim = type->rank; dim-- > 0;) {
        indices[dim] = element % type->dims[dim];
        element /= type->dims[dim];
    }
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        append(array, json_integer(indices[dim]));
    }
    return array;
}

/* A difference and where it is; null if there is none. JSON has no infinity. */
static json_t *make_largest(const grout_type *type, double value, int64_t element) {
    return element < 0 ? json_null()
                       : json_pack("{s:f,s:o}", "value", value > DBL_MAX ? DBL_MAX : value, "at",
                                   make_element(type, element));
}

static json_t *make_box(const grout_type *type, const grout_difference *difference) {
    json_t *box = json_array();
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        append(box, json_pack("[I,I]", (json_int_t)difference->begin[dim],
                              (json_int_t)difference->end[dim]));
    }
    return box;
}

static json_t *make_ctas(const grout_mismatch *mismatch, const grout_mismatch_ctas *ctas) {
    enum { LISTED_MAX = 64 };
    json_t *array = json_array();
    for (size_t i = 0; i < ctas->count && i < LISTED_MAX; i++) {
        const grout_mismatch_cta *cta = &ctas->items[i];
        grout_text name = {0};
        grout_describe_cta(mismatch->comparison.bound, mismatch->comparison.kernel, cta->cta,
                           &name);
        append(array, json_pack("{s:o,s:I,s:I}", "cta",
                                grout_json__make_string(name.data == NULL ? "" : name.data),
                                "elements_written", (json_int_t)cta->written, "elements_differing",
                                (json_int_t)cta->differing));
        grout_text_free(&name);
    }
    return array;
}

static json_t *make_writer(const grout_mismatch *mismatch) {
    const grout_writers *writers = mismatch->writers;
    const grout_module *bound = mismatch->comparison.bound;
    if (writers == NULL || writers->origin.op == 0) {
        return json_null();
    }
    const grout_place place =
        grout_module_get_place(bound, grout_module_get_op(bound, writers->origin.op)->loc);
    grout_text actor = {0};
    grout_describe_origin(bound, mismatch->comparison.kernel, &writers->origin, &actor);
    json_t *object = json_pack(
        "{s:o,s:o,s:o}", "place",
        place.file == NULL
            ? json_null()
            : json_pack("{s:o,s:i,s:i,s:i}", "file", grout_json__make_string(place.file), "line",
                        (int)place.line, "column", (int)place.column, "length", (int)place.length),
        "where", grout_json__make_string(actor.data == NULL ? "" : actor.data), "element",
        make_element(get_type(&mismatch->comparison), writers->watched));
    grout_text_free(&actor);
    return object;
}

static json_t *make_facts(const grout_mismatch *mismatch, const grout_mismatch_ctas *ctas) {
    const grout_comparison *task = &mismatch->comparison;
    const grout_difference *difference = &mismatch->difference;
    const grout_type *type = get_type(task);
    const grout_kernel *kernel = grout_module_get_kernel(task->bound, task->kernel);
    const grout_param *param = grout_module_get_param(task->bound, kernel, task->param_index);
    json_t *facts = json_pack(
        "{s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:I,s:I,s:I,s:o,s:o}", "parameter",
        grout_json__make_string(grout_module_get_string(
            task->bound, grout_module_get_value(task->bound, param->value)->name)),
        "against", grout_json__make_string(mismatch->against), "elements",
        (json_int_t)difference->count, "differing", (json_int_t)difference->differing, "first",
        make_element(type, difference->first), "largest",
        make_largest(type, difference->absolute, difference->absolute_at), "largest_relative",
        make_largest(type, difference->relative, difference->relative_at), "nan_found",
        (json_int_t)difference->nan_found, "nan_missing", (json_int_t)difference->nan_missing,
        "infinite", (json_int_t)difference->infinite, "box", make_box(type, difference),
        "last_write", make_writer(mismatch));
    if (ctas != NULL) {
        (void)json_object_set_new(facts, "ctas", make_ctas(mismatch, ctas));
        (void)json_object_set_new(facts, "ctas_differing", json_integer((json_int_t)ctas->count));
        (void)json_object_set_new(facts, "ctas_writing",
                                  json_integer((json_int_t)ctas->writer_count));
        (void)json_object_set_new(facts, "unwritten", json_integer(ctas->unwritten));
    }
    return facts;
}

void grout_mismatch__keep_facts(grout_reporter *report, const grout_mismatch *mismatch,
                                const grout_mismatch_ctas *ctas, uint64_t number) {
    json_t *facts = make_facts(mismatch, ctas);
    if (facts == NULL || !GROUT_ARRAY_RESERVE(&report->differences, NULL, 1)) {
        json_decref(facts);
        (void)grout_diags_add_oom(report->session->diags);
        return;
    }
    report->differences.items[report->differences.count++] =
        (grout_reporter_facts){report->session->diags, number, facts};
}

void grout_mismatch__add_facts(const grout_reporter *report, const grout_diag *diag,
                               json_t *finding) {
    /* A list may come to lie where that of an earlier size was: the newest facts are the right
     * ones.
     */
    for (size_t i = 0; i < report->differences.count && diag->code == GROUT_DIAG_COMPARE_MISMATCH;
         i++) {
        const grout_reporter_facts *at = &report->differences.items[i];
        if (at->diags == report->session->diags && at->number == diag->number) {
            (void)json_object_set(finding, "difference", at->facts);
        }
    }
}
