/*
 * reading.c - bytes of memory for observers, between two events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bits.h"
#include "run.h"

#include <string.h>

static bool is_in(int64_t first, int64_t size, int64_t limit) {
    return first >= 0 && size >= 0 && first <= limit && size <= limit - first;
}

/* ---- arrays of the launch -------------------------------------------------------------------- */

static const grout_gmem_array *find_array(const grout_machine *machine, grout_object_id object) {
    const grout_module *module = machine->launch.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, machine->launch.kernel);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        if (param->direction != GROUT_DIRECTION_SCALAR && param->object == object) {
            return &machine->arrays[i];
        }
    }
    for (uint32_t i = kernel->param_count; i < machine->array_count; i++) {
        const grout_object_id *id =
            grout_pool__at(&machine->plan->gmem_scratches, i - kernel->param_count + 1);
        if (*id == object) {
            return &machine->arrays[i];
        }
    }
    return NULL;
}

static bool read_array(const grout_gmem_array *array, const grout_memory_range *range,
                       uint8_t *bytes_out, uint8_t *undefined_out) {
    const int64_t first = range->first, size = range->size;
    if (!is_in(first, size, array->size)) {
        return false;
    }
    const int64_t element_bytes = array->count > 0 ? array->size / array->count : 1;
    memcpy(bytes_out, array->data + first, (size_t)size);
    for (int64_t i = 0; i < size; i++) {
        const int64_t element = (first + i) / element_bytes;
        undefined_out[i] = (array->written != NULL && !grout_bits__get(array->written, element)) ||
                           (array->has_tainted && grout_bits__get(array->tainted, element));
    }
    return true;
}

/* ---- memory of a CTA ------------------------------------------------------------------------- */

static const grout_cta *find_cta(const grout_machine *machine, uint32_t index) {
    const grout_cta *cta = grout_machine__next_cta(machine, NULL);
    while (cta != NULL && grout_cta__head(cta)->index != index) {
        cta = grout_machine__next_cta(machine, cta);
    }
    return cta;
}

static bool read_cta(const grout_cta *cta, const grout_memory_range *range, uint8_t *bytes_out,
                     uint8_t *undefined_out) {
    const grout_machine *machine = cta->machine;
    const int64_t first = range->first, size = range->size;
    const int64_t start = grout_plan__get_memory_offset(machine->plan, range->object);
    const int64_t limit = grout_object_get_layout(machine->launch.module, range->object)->bytes;
    if (!is_in(first, size, limit)) {
        return false;
    }
    memcpy(bytes_out, grout_cta__memory(cta) + start + first, (size_t)size);
    for (int64_t i = 0; i < size; i++) {
        undefined_out[i] =
            machine->tracks && !grout_bits__get(grout_cta__defined(cta), start + first + i);
    }
    return true;
}

bool grout_machine__read(const void *self, const grout_memory_range *range, uint8_t *bytes_out,
                         uint8_t *undefined_out) {
    const grout_machine *machine = self;
    const uint8_t space = grout_module_get_object(machine->launch.module, range->object)->space;
    if (grout_space_is_of_launch(space)) {
        const grout_gmem_array *array = find_array(machine, range->object);
        return array != NULL && read_array(array, range, bytes_out, undefined_out);
    }
    const grout_cta *cta = grout_space_is_of_cta(space) ? find_cta(machine, range->owner) : NULL;
    return cta != NULL && read_cta(cta, range, bytes_out, undefined_out);
}
