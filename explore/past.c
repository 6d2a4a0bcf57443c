/* past.c - what the launches of a list hand on from one to the next.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/past.h"

#include "alloc.h"
#include "array.h"

#include <string.h>

/* An array that some launch was given. */
typedef struct kept_array {
    const void *data;
    grout_array_past past;
    uint64_t *undefined; /* past.undefined; NULL: all elements have a value */
} kept_array;

struct grout_past {
    const grout_allocator *allocator;
    GROUT_ARRAY(kept_array) arrays;
    uint32_t launch_count; /* that have ended */
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
    grout__free(past->old_bits.items);
    grout__free(past);
}

static kept_array *find_array(grout_past *past, const void *data) {
    for (size_t i = 0; i < past->arrays.count; i++) {
        if (past->arrays.items[i].data == data) {
            return &past->arrays.items[i];
        }
    }
    return NULL;
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
    array->past.undefined = bits;
    array->past.first_undefined = bits == NULL ? 0 : find_first(bits);
    array->past.launch = past->launch_count;
    return true;
}

static bool keep_array(grout_past *past, const grout_launch *launch, const grout_machine *machine,
                       size_t param, const grout_chance *chances) {
    const grout_argument *argument = &launch->arguments[param];
    kept_array *array = find_array(past, argument->data);
    if (array == NULL) {
        if (!GROUT_ARRAY_RESERVE(&past->arrays, past->allocator, 1)) {
            return false;
        }
        array = &past->arrays.items[past->arrays.count++];
        *array = (kept_array){.data = argument->data};
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
    bool is_good =
        chances != NULL && grout_checker_find_chances(checker, false, past->launch_count, chances);
    for (uint32_t i = 0; is_good && i < count; i++) {
        const uint8_t direction = grout_module_get_param(launch->module, kernel, i)->direction;
        is_good = !grout_direction_is_written(direction) ||
                  keep_array(past, launch, machine, i, &chances[(size_t)i * GROUT_CHANCE_COUNT]);
    }
    grout__free(chances);
    return is_good || grout_diags_add_oom(diags);
}
