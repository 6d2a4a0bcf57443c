/* not_begun.c - the kernels of a file that were not begun: in words, and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "not_begun.h"

#include "array.h"
#include "json.h"

#include <jansson.h>

void grout_not_begun__deinit(grout_not_begun *it) {
    grout__free(it->kernels.items);
    *it = (grout_not_begun){0};
}

bool grout_not_begun__add(grout_not_begun *it, grout_kernel_id kernel) {
    if (!GROUT_ARRAY_RESERVE(&it->kernels, NULL, 1)) {
        return false;
    }
    it->kernels.items[it->kernels.count++] = kernel;
    return true;
}

/* Kernels have their ids in the order of the file. */
bool grout_not_begun__has(const grout_not_begun *it, grout_kernel_id kernel) {
    size_t low = 0, high = it->kernels.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (it->kernels.items[middle] < kernel) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < it->kernels.count && it->kernels.items[low] == kernel;
}

/* ---- in words ------------------------------------------------------------------------------- */

static void add_head(grout_text *out, size_t count) {
    grout_text_add(out, "%zu kernel%s not begun: ", count, count == 1 ? " was" : "s were");
}

/* The name of the kernel at a place in the list; false: the words have enough of them. */
static bool add_name(grout_text *out, size_t index, const char *name) {
    enum { NAMED_MAX = 8 };
    grout_text_add(out, "%s%s%s", index == 0 ? "" : ", ", index < NAMED_MAX ? "@" : "...",
                   index < NAMED_MAX ? name : "");
    return index < NAMED_MAX;
}

static const char *get_name(const grout_load *load, grout_kernel_id kernel) {
    return grout_module_get_string(load->symbolic,
                                   grout_module_get_kernel(load->symbolic, kernel)->name);
}

void grout_not_begun__describe(const grout_not_begun *it, grout_text *out) {
    add_head(out, it->kernels.count);
    for (size_t i = 0; i < it->kernels.count; i++) {
        if (!add_name(out, i, get_name(it->load, it->kernels.items[i]))) {
            break;
        }
    }
    grout_text_add(out, "; %s", it->because);
}

void grout_not_begun__describe_json(const json_t *object, grout_text *out) {
    const json_t *kernels = json_object_get(object, "kernels");
    add_head(out, json_array_size(kernels));
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        if (!add_name(out, i, json_string_value(json_array_get(kernels, i)))) {
            break;
        }
    }
    grout_text_add(out, "; %s", json_string_value(json_object_get(object, "because")));
}

/* ---- as JSON -------------------------------------------------------------------------------- */

json_t *grout_not_begun__make_json(const grout_not_begun *it) {
    json_t *kernels = json_array();
    bool is_good = kernels != NULL;
    for (size_t i = 0; i < it->kernels.count && is_good; i++) {
        json_t *name = grout_json__make_string(get_name(it->load, it->kernels.items[i]));
        is_good = name != NULL && json_array_append_new(kernels, name) == 0;
    }
    if (!is_good) {
        json_decref(kernels);
        return NULL;
    }
    return json_pack("{s:s,s:o}", "because", it->because, "kernels", kernels);
}
