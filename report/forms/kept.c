/* kept.c - see kept.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include "alloc.h"
#include "array.h"
#include "html.h"
#include "json.h"
#include "page_facts.h"

#include <jansson.h>
#include <string.h>

bool grout_kept__take(grout_kept *kept, json_t *facts, const char *name, const grout_bytes *text) {
    json_decref(kept->facts);
    grout__free(kept->name);
    grout_text_free(&kept->text);
    kept->facts = json_incref(facts);
    kept->name = grout__copy(NULL, name, strlen(name));
    if (text != NULL && text->data != NULL) {
        grout_text_add_bytes(&kept->text, text->data, text->size);
    }
    return kept->facts != NULL && kept->name != NULL && !kept->text.failed;
}

bool grout_kept__add_launch(grout_kept *kept, json_t *object, const grout_load *load,
                            grout_kernel_id kernel) {
    if (object == NULL || !GROUT_ARRAY_RESERVE(&kept->launches, NULL, 1)) {
        return false;
    }
    grout_kept_launch *launch = &kept->launches.items[kept->launches.count++];
    *launch = (grout_kept_launch){.object = json_incref(object), .kernel = kernel};
    launch->bound = grout_load__share_bound(load, &launch->owners);
    return true;
}

void grout_kept__deinit(grout_kept *kept) {
    for (size_t i = 0; i < kept->launches.count; i++) {
        json_decref(kept->launches.items[i].object);
        grout_module__give_back(kept->launches.items[i].bound, kept->launches.items[i].owners);
    }
    grout__free(kept->launches.items);
    json_decref(kept->facts);
    grout__free(kept->name);
    grout_text_free(&kept->text);
    *kept = (grout_kept){0};
}

static grout_bytes get_bytes(const grout_kept *kept) {
    return (grout_bytes){kept->text.data, kept->text.size};
}

/* A copy for the forms that list at most --max-findings. NULL without memory. */
static json_t *copy_listed(const grout_kept *kept) {
    json_t *facts = json_deep_copy(kept->facts);
    if (facts != NULL) {
        grout_page_facts__drop_unlisted(facts);
    }
    return facts;
}

/* What is for the page alone stands in the facts, and in no other form. */
static bool print(const grout_kept *kept, const grout_bytes *text, grout_text *out) {
    json_t *facts = copy_listed(kept);
    bool is_good = facts != NULL;
    if (is_good) {
        grout_page_facts__drop(facts);
        is_good = grout_json__print(facts, kept->name, text, out);
    }
    json_decref(facts);
    return is_good;
}

bool grout_kept__print_json(const grout_kept *kept, grout_text *out) {
    return print(kept, NULL, out);
}

bool grout_kept__print_facts(const grout_kept *kept, grout_text *out) {
    return kept->facts != NULL && grout_json__print(kept->facts, kept->name, NULL, out);
}

bool grout_kept__print_sarif(const grout_kept *kept, grout_text *out) {
    const grout_bytes text = get_bytes(kept);
    return print(kept, &text, out);
}

/* Once for each launch. */
static void fill_memory(grout_kept *kept) {
    for (size_t i = 0; i < kept->launches.count; i++) {
        grout_kept_launch *launch = &kept->launches.items[i];
        if (json_object_get(launch->object, "memory") == NULL) {
            grout_page_facts__fill_memory(launch->object, launch->bound, launch->kernel);
        }
    }
}

bool grout_kept__print_html(grout_kept *kept, grout_text *out) {
    fill_memory(kept);
    const grout_bytes text = get_bytes(kept);
    json_t *facts = copy_listed(kept);
    const bool is_good = facts != NULL && grout_html__print(facts, &text, out);
    json_decref(facts);
    return is_good;
}
