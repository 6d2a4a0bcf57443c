/* varied.c - other inputs for a launch, the same in every run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "varied.h"

#include "alloc.h"
#include "hash.h"
#include "pulse.h"

#include "grout-internal/generate.h"

#include <string.h>

enum { SEED = 64 };

/* ---- copies --------------------------------------------------------------------------------- */

bool grout_varied__take(grout_varied *varied, const grout_launch *launch,
                        const grout_saved_arrays *saved) {
    const size_t count = launch->argument_count;
    *varied = (grout_varied){
        .arguments = grout__new(launch->allocator, count + 1, sizeof *varied->arguments),
        .owned = grout__new(launch->allocator, count + 1, sizeof *varied->owned),
        .count = count};
    bool is_good = varied->arguments != NULL && varied->owned != NULL;
    for (size_t i = 0; is_good && i < count; i++) {
        const grout_argument *argument = &launch->arguments[i];
        varied->owned[i] = grout__copy(launch->allocator, argument->data, argument->size);
        varied->arguments[i] = (grout_argument){varied->owned[i], argument->size};
        is_good = varied->owned[i] != NULL;
    }
    if (is_good) {
        grout_launch own = *launch;
        own.arguments = varied->arguments;
        grout_saved_arrays__restore(saved, &own);
    }
    return is_good;
}

void grout_varied__deinit(grout_varied *varied) {
    for (size_t i = 0; varied->owned != NULL && i < varied->count; i++) {
        grout__free(varied->owned[i]);
    }
    grout__free(varied->owned);
    grout__free(varied->arguments);
    *varied = (grout_varied){0};
}

/* ---- other contents ------------------------------------------------------------------------- */

static uint64_t draw(uint32_t stream, uint64_t index) {
    return grout_hash__word(grout_hash__word(SEED, stream), index);
}

static void fill_any(uint32_t stream, void *data, size_t size, grout_pulse *pulse) {
    uint8_t *bytes = data;
    for (size_t i = 0; i < size && grout_pulse__goes_on(pulse, 1); i++) {
        bytes[i] = (uint8_t)(draw(stream, i) >> 40);
    }
}

/* The elements in another order (Fisher and Yates). */
static void shuffle(uint32_t stream, void *data, size_t size, size_t element_bytes,
                    grout_pulse *pulse) {
    uint8_t *bytes = data, kept[8];
    for (size_t i = size / element_bytes; i > 1 && grout_pulse__goes_on(pulse, 1); i--) {
        const size_t k = (size_t)(draw(stream, i) % i);
        uint8_t *a = bytes + (i - 1) * element_bytes, *b = bytes + k * element_bytes;
        memcpy(kept, a, element_bytes);
        memcpy(a, b, element_bytes);
        memcpy(b, kept, element_bytes);
    }
}

static bool change_array(const grout_launch *launch, uint32_t index, const grout_argument *argument,
                         bool is_given, grout_variation variation, grout_pulse *pulse) {
    const grout_module *module = launch->module;
    const grout_kernel *kernel = grout_module_get_kernel(module, launch->kernel);
    const grout_param *param = grout_module_get_param(module, kernel, index);
    const grout_type *type = grout_object_get_type(module, param->object);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const grout_generator randn = {
        .kind = GROUT_GENERATOR_RANDN, .seed = SEED + index, .stream = index};
    if (argument->size == 0) {
        return false;
    }
    if (grout_generator_fits(&randn, (grout_dtype)type->dtype)) {
        (void)grout_generator_fill_array(&randn, type, argument->data, pulse);
        return true;
    }
    if (variation != GROUT_VARIATION_ALL) {
        return false;
    }
    if (!is_given && param->init == 0 && info->class_ != GROUT_CLASS_BOOL && info->bits >= 8) {
        fill_any(index, argument->data, argument->size, pulse);
    } else {
        shuffle(index, argument->data, argument->size, info->bytes, pulse);
    }
    return true;
}

static bool goes_on(void *payload) {
    const grout_launch *launch = payload;
    return launch->progress == NULL ||
           launch->progress(launch->payload, &(grout_progress){.ctas_total = 1});
}

/* A number of the launch. An integer is a size, most often: it stays. */
static bool change_scalar(const grout_param *param, uint32_t index, const grout_argument *argument,
                          bool is_given) {
    const grout_generator randn = {
        .kind = GROUT_GENERATOR_RANDN, .seed = SEED + index, .stream = index};
    if (is_given || !grout_generator_fits(&randn, (grout_dtype)param->dtype)) {
        return false;
    }
    grout_generator_fill(&randn, (grout_dtype)param->dtype, argument->data, 1);
    return true;
}

bool grout_varied__change(grout_varied *varied, const grout_launch *launch, const bool *are_given,
                          grout_variation variation) {
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    grout_launch own = *launch;
    grout_pulse pulse = {.goes_on = goes_on, .payload = &own};
    bool is_changed = false;
    for (uint32_t i = 0; variation != GROUT_VARIATION_NONE && i < varied->count; i++) {
        const grout_param *param = grout_module_get_param(launch->module, kernel, i);
        const grout_argument *argument = &varied->arguments[i];
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            is_changed |= change_scalar(param, i, argument, are_given[i]);
        } else if (param->direction != GROUT_DIRECTION_OUT) {
            is_changed |= change_array(launch, i, argument, are_given[i], variation, &pulse);
        }
    }
    return is_changed;
}
