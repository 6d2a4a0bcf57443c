/* joined_json.c - the report of a sweep as JSON: the findings with their sizes, an object for each
 * size, and for each kernel what all sizes together cover (docs/report_schema.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "joined.h"
#include "page_facts.h"

#include <jansson.h>
#include <string.h>

static json_t *make_size_name(const grout_sizes *sizes, size_t index) {
    grout_text name = {0};
    grout_sizes__describe(sizes, index, &name);
    json_t *string = grout_json__make_string(name.data == NULL ? "" : name.data);
    grout_text_free(&name);
    return string;
}

/* Appends a new value; false if there is none. */
static bool append(json_t *array, json_t *value) {
    return value != NULL && json_array_append_new(array, value) == 0;
}

static json_t *make_binding(const grout_sizes *sizes, size_t index) {
    json_t *binding = json_object();
    for (size_t i = 0; i < sizes->axes.count && binding != NULL; i++) {
        const grout_size_value *value = grout_sizes__get_value(sizes, index, i);
        json_t *number = value->is_float ? json_string(strchr(value->define, '=') + 1)
                                         : json_integer(value->integer);
        /* a name that is no UTF-8 has no const */
        (void)json_object_set_new(binding, sizes->axes.items[i].name, number);
    }
    return binding;
}

/* The seed that a size comes with. False without memory. */
static bool add_seed(const grout_sizes *sizes, size_t index, json_t *object) {
    const grout_size_value *seed = grout_sizes__get_seed(sizes, index);
    return seed == NULL || json_object_set_new(object, "seed", json_integer(seed->integer)) == 0;
}

static void add_items(const grout_reporter *report, grout_kernel_id kernel, grout_severity severity,
                      bool is_equal) {
    const grout_joined *joined = report->joined;
    grout_joined_item *item = grout_joined__get_first_item(joined, kernel);
    for (; item != NULL; item = grout_joined__get_next_item(joined, item)) {
        if ((item->severity == severity) != is_equal || !item->is_listed || item->object == NULL) {
            continue;
        }
        json_t *sizes = json_array();
        for (size_t k = 0; k < item->sizes.count; k++) {
            (void)append(sizes, make_size_name(joined->sizes, item->sizes.items[k]));
        }
        bool is_good = json_object_set_new(item->object, "sizes", sizes) == 0;
        if (item->command.size > 0) {
            is_good = json_object_set_new(item->object, "see_it_again",
                                          grout_json__make_string(item->command.data)) == 0 &&
                      is_good;
        }
        grout_json__take_finding(report->json, is_good ? json_incref(item->object) : NULL);
    }
}

/* The launches of a size. */
static json_t *make_kernels(const grout_joined *joined, size_t size, bool *holds) {
    json_t *kernels = json_array();
    *holds = false;
    const grout_joined_size *result = &joined->results[size];
    for (size_t i = 0; i < result->launch_count; i++) {
        const grout_joined_launch *launch = &joined->launches.items[result->first_launch + i];
        *holds = launch->holds && (*holds || i == 0);
        (void)append(kernels, json_incref(launch->object));
    }
    return kernels;
}

static json_t *make_size(const grout_joined *joined, size_t index) {
    const grout_joined_size *size = &joined->results[index];
    bool holds = false;
    json_t *kernels = make_kernels(joined, index, &holds);
    json_t *made =
        json_pack("{s:o,s:s,s:b,s:s,s:o}", "binding", make_binding(joined->sizes, index), "verdict",
                  grout_joined__get_verdict(size), "holds_for_every_schedule", holds, "not_run",
                  size->skipped == NULL ? "" : size->skipped, "kernels", kernels);
    const bool is_cut = size->not_begun.because != NULL;
    if (made != NULL &&
        (!add_seed(joined->sizes, index, made) ||
         (is_cut && json_object_set_new(made, "not_begun",
                                        grout_not_begun__make_json(&size->not_begun)) != 0))) {
        json_decref(made);
        return NULL;
    }
    return made;
}

static json_t *make_whole(const grout_reporter *report, grout_kernel_id kernel) {
    const grout_joined *joined = report->joined;
    const grout_joined_kernel *whole = &joined->kernels[kernel];
    const grout_finding_counts counts = grout_joined__count(joined, kernel);
    bool holds = false;
    size_t count = grout_joined__count_launches(joined, kernel, &holds);
    const grout_reach *reach = grout_joined__is_whole(joined, kernel) ? &whole->reach : NULL;
    grout_text words = {0};
    json_t *object = json_pack(
        "{s:s,s:I,s:b,s:I,s:I,s:o}", "kernel", grout_summary__get_kernel_name(report->load, kernel),
        "launches", (json_int_t)count, "holds_for_every_schedule", holds, "follow_on_findings",
        (json_int_t)whole->follow_on, "findings_not_listed", (json_int_t)counts.unlisted,
        "not_reached",
        grout_json__make_not_reached(report->json, reach,
                                     whole->proposal.size > 0 ? whole->proposal.data : NULL));
    grout_joined__add_summary(report, kernel, NULL, &words);
    grout_page_facts__add_words(report, object, &words);
    return object;
}

void grout_joined__fill_json(const grout_reporter *report) {
    const grout_joined *joined = report->joined;
    for (grout_kernel_id kernel = 0; kernel < joined->kernel_count; kernel++) {
        add_items(report, kernel, GROUT_SEVERITY_ERROR, true);
        add_items(report, kernel, GROUT_SEVERITY_ERROR, false);
    }
    for (size_t i = 0; i < joined->sizes->count; i++) {
        grout_json__take_size(report->json, make_size(joined, i));
    }
    for (grout_kernel_id kernel = 1; kernel < joined->kernel_count; kernel++) {
        if (joined->kernels[kernel].reach.module != NULL) {
            grout_json__take_kernel(report->json, make_whole(report, kernel));
        }
    }
}
