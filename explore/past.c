/* past.c - what the launches of a list hand on from one to the next.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/past.h"

#include "alloc.h"
#include "array.h"
#include "lookup.h"

#include <string.h>

/* An array that some launch was given. */
typedef struct kept_array {
    const void *data;
    grout_array_past past;
    uint64_t *undefined; /* past.undefined; NULL: all elements have a value */
    size_t words;        /* of it */
} kept_array;

struct grout_past {
    const grout_allocator *allocator;
    GROUT_ARRAY(kept_array) arrays;
    grout_lookup by_data;  /* of arrays: the item, from 1 */
    uint32_t launch_count; /* that have ended */
    bool is_open;          /* the last one's verdict holds for its own schedule only */
    /* what the launch at hand knows: by parameter */
    grout_array_past *known;
    GROUT_ARRAY(uint64_t *) old_bits; /* replaced since */
};

grout_past *grout_past_new(const grout_allocator *allocator, grout_diags *diags) {
    grout_past *past = grout__new(allocator, 1, sizeof *past);
    if (past == NULL) {
        (void)grout_diags_add_oom(diags);
        return NULL;
    }
    past->allocator = allocator;
    past->by_data.allocator = allocator;
    return past;
}

static void forget_known(grout_past *past) {
    for (size_t i = 0; i < past->old_bits.count; i++) {
        grout__free(past->old_bits.items[i]);
    }
    past->old_bits.count = 0;
    grout__free(past->known);
    past->known = NULL;
}

void grout_past_free(grout_past *past) {
    if (past == NULL) {
        return;
    }
    forget_known(past);
    for (size_t i = 0; i < past->arrays.count; i++) {
        grout__free(past->arrays.items[i].undefined);
    }
    grout__free(past->arrays.items);
    grout_lookup__deinit(&past->by_data);
    grout__free(past->old_bits.items);
    grout__free(past);
}

static kept_array *find_array(grout_past *past, const void *data) {
    const uint32_t number = grout_lookup__find(&past->by_data, (uintptr_t)data);
    return number == 0 ? NULL : &past->arrays.items[number - 1];
}

/* A new array, of which nothing is known but its place; NULL without memory. */
static kept_array *add_array(grout_past *past, const void *data) {
    uint32_t *number = GROUT_ARRAY_RESERVE(&past->arrays, past->allocator, 1)
                           ? grout_lookup__at(&past->by_data, (uintptr_t)data)
                           : NULL;
    if (number == NULL) {
        return NULL;
    }
    kept_array *array = &past->arrays.items[past->arrays.count++];
    *array = (kept_array){.data = data};
    *number = (uint32_t)past->arrays.count;
    return array;
}

bool grout_past_begin(grout_past *past, grout_launch *launch, grout_diags *diags) {
    forget_known(past);
    past->known = grout__new(past->allocator, launch->argument_count + 1, sizeof *past->known);
    if (past->known == NULL) {
        return grout_diags_add_oom(diags);
    }
    for (size_t i = 0; i < launch->argument_count; i++) {
        const kept_array *array = find_array(past, launch->arguments[i].data);
        past->known[i] = array == NULL ? (grout_array_past){0} : array->past;
    }
    launch->pasts = past->known;
    return true;
}

static int64_t find_first(const uint64_t *bits) {
    int64_t first = 0;
    while ((bits[first / 64] >> first % 64 & 1) == 0) {
        first++;
    }
    return first;
}

/* The elements without a value, of a parameter's array. */
static bool keep_undefined(grout_past *past, kept_array *array, const grout_machine *machine,
                           size_t param, size_t bytes) {
    uint64_t *bits = grout__new(past->allocator, bytes / 64 + 1, sizeof *bits);
    if (bits == NULL || !GROUT_ARRAY_RESERVE(&past->old_bits, past->allocator, 1)) {
        grout__free(bits);
        return false;
    }
    past->old_bits.items[past->old_bits.count++] = array->undefined;
    array->past.undefined_count = grout_machine_get_undefined(machine, param, bits);
    if (array->past.undefined_count == 0) {
        grout__free(bits);
        bits = NULL;
    }
    array->undefined = bits;
    array->words = bytes / 64 + 1;
    array->past.undefined = bits;
    array->past.first_undefined = bits == NULL ? 0 : find_first(bits);
    array->past.launch = past->launch_count;
    return true;
}

static bool keep_array(grout_past *past, const grout_launch *launch, const grout_machine *machine,
                       size_t param, const grout_chance *chances) {
    const grout_argument *argument = &launch->arguments[param];
    kept_array *array = find_array(past, argument->data);
    array = array == NULL ? add_array(past, argument->data) : array;
    if (array == NULL) {
        return false;
    }
    memcpy(array->past.chances, chances, sizeof array->past.chances);
    return keep_undefined(past, array, machine, param, argument->size);
}

bool grout_past_end(grout_past *past, const grout_launch *launch, const grout_machine *machine,
                    const grout_checker *checker, grout_diags *diags) {
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    const size_t count = launch->argument_count;
    grout_chance *chances =
        grout__new(past->allocator, count * GROUT_CHANCE_COUNT + 1, sizeof *chances);
    past->launch_count++;
    past->is_open =
        checker == NULL || !grout_checker_get_summary(checker, false).is_well_synchronised;
    bool is_good = chances != NULL &&
                   (checker == NULL ||
                    grout_checker_find_chances(checker, false, past->launch_count, chances));
    for (uint32_t i = 0; is_good && i < count; i++) {
        const uint8_t direction = grout_module_get_param(launch->module, kernel, i)->direction;
        is_good = !grout_direction_is_written(direction) ||
                  keep_array(past, launch, machine, i, &chances[(size_t)i * GROUT_CHANCE_COUNT]);
    }
    grout__free(chances);
    return is_good || grout_diags_add_oom(diags);
}

bool grout_past_is_certain(const grout_past *past) {
    return !past->is_open;
}

bool grout_past_has_chance(const grout_launch *launch) {
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    for (uint32_t i = 0; launch->pasts != NULL && i < launch->argument_count; i++) {
        const grout_param *param = grout_module_get_param(launch->module, kernel, i);
        const grout_chance *chances = launch->pasts[i].chances;
        if (param->direction != GROUT_DIRECTION_OUT &&
            (chances[GROUT_CHANCE_VALUE].op != 0 || chances[GROUT_CHANCE_DEFINED].op != 0)) {
            return true;
        }
    }
    return false;
}

static bool copy_array(grout_past *copy, const kept_array *from) {
    kept_array *into = add_array(copy, from->data);
    if (into == NULL) {
        return false;
    }
    *into = *from;
    if (from->undefined != NULL) {
        const size_t size = (size_t)from->words * sizeof *into->undefined;
        into->undefined = grout__resize(copy->allocator, NULL, size);
        into->past.undefined = into->undefined;
        if (into->undefined == NULL) {
            return false;
        }
        memcpy(into->undefined, from->undefined, size);
    }
    return true;
}

grout_past *grout_past_copy(const grout_past *past, grout_diags *diags) {
    grout_past *copy = grout_past_new(past->allocator, diags);
    bool is_good = copy != NULL;
    for (size_t i = 0; is_good && i < past->arrays.count; i++) {
        is_good = copy_array(copy, &past->arrays.items[i]);
    }
    if (copy != NULL && !is_good) {
        (void)grout_diags_add_oom(diags);
        grout_past_free(copy);
        return NULL;
    }
    if (copy != NULL) {
        copy->launch_count = past->launch_count;
        copy->is_open = past->is_open;
    }
    return copy;
}

static bool have_equal_values(const kept_array *a, const kept_array *b) {
    return (a->undefined == NULL) == (b->undefined == NULL) &&
           (a->undefined == NULL ||
            memcmp(a->undefined, b->undefined, (size_t)a->words * sizeof *a->undefined) == 0);
}

bool grout_past_is_equal(const grout_past *a, const grout_past *b) {
    bool are_equal = a->arrays.count == b->arrays.count;
    for (size_t i = 0; are_equal && i < a->arrays.count; i++) {
        are_equal = a->arrays.items[i].data == b->arrays.items[i].data &&
                    have_equal_values(&a->arrays.items[i], &b->arrays.items[i]);
    }
    return are_equal;
}
