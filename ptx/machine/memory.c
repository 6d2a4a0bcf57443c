/* memory.c - global memory: arrays with gaps between them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

#define FIRST_ADDRESS UINT64_C(0x1000000000)
#define GAP           UINT64_C(4096)
#define LAST_ADDRESS  (PTX_WINDOW_PARAM - GAP - ALIGNMENT)
#define ALIGNMENT     UINT64_C(512)
#define PIECE         (UINT64_C(1) << 20) /* bytes that are copied at once */

grout_ptx_memory *grout_ptx_memory_new(void) {
    return grout_ptx_memory_new_in(NULL);
}

grout_ptx_memory *grout_ptx_memory_new_in(const grout_allocator *allocator) {
    grout_ptx_memory *memory = grout__new(allocator, 1, sizeof *memory);
    if (memory != NULL) {
        memory->allocator = allocator;
        memory->next = FIRST_ADDRESS;
    }
    return memory;
}

uint64_t grout_ptx_memory_get_cost(uint64_t size) {
    return size < UINT64_MAX / 4 ? 2 * size : UINT64_MAX / 2;
}

void grout_ptx_memory_free(grout_ptx_memory *memory) {
    for (size_t i = 0; memory != NULL && i < memory->arrays.count; i++) {
        grout__free(memory->arrays.items[i].data);
        grout__free(memory->arrays.items[i].known);
        grout__free(memory->arrays.items[i].cells);
    }
    if (memory != NULL) {
        grout__free(memory->arrays.items);
    }
    grout__free(memory);
}

/* ---- arrays ---- */

/* The last array that does not begin after an address, or NULL. */
static ptx_array *find_array(const grout_ptx_memory *memory, uint64_t address) {
    size_t low = 0, high = memory->arrays.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->arrays.items[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? &memory->arrays.items[low - 1] : NULL;
}

/* Zeros, none of them defined; the new array, or NULL without memory, or addresses for it. */
static ptx_array *add_array(grout_ptx_memory *memory, size_t size) {
    ptx_array array = {.address = memory->next, .size = size};
    if (memory->next > LAST_ADDRESS || size > LAST_ADDRESS - memory->next) {
        return NULL;
    }
    array.data = grout__new(memory->allocator, size, 1);
    array.known = grout__new(memory->allocator, size, 1);
    if (array.data == NULL || array.known == NULL ||
        !GROUT_ARRAY_RESERVE(&memory->arrays, memory->allocator, 1)) {
        grout__free(array.data);
        grout__free(array.known);
        return NULL;
    }
    memory->next = (memory->next + size + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memory->arrays.items[memory->arrays.count++] = array;
    return &memory->arrays.items[memory->arrays.count - 1];
}

uint64_t grout_ptx_memory_add(grout_ptx_memory *memory, const void *contents, size_t size) {
    const ptx_array *array = memory != NULL ? add_array(memory, size) : NULL;
    if (array != NULL && contents != NULL && size > 0) {
        memcpy(array->data, contents, size);
        memset(array->known, 0xff, size);
    }
    return array == NULL ? 0 : array->address;
}

/* Bytes from one place to another, or (from NULL) 0xff; false where the run is to end. */
static bool copy_bytes(grout_pulse *pulse, uint8_t *to, const uint8_t *from, uint64_t size) {
    bool goes_on = true;
    for (uint64_t at = 0; goes_on && at < size; at += PIECE) {
        const size_t count = (size_t)(size - at < PIECE ? size - at : PIECE);
        goes_on = grout_pulse__goes_on(pulse, GROUT_PULSE_WORK);
        if (from != NULL) {
            memcpy(to + at, from + at, count);
        } else {
            memset(to + at, 0xff, count);
        }
    }
    return goes_on;
}

uint64_t grout_ptx__add_variable(grout_ptx_memory *memory, const void *contents, uint64_t count,
                                 uint64_t size, grout_pulse *pulse) {
    const ptx_array *array = add_array(memory, (size_t)size);
    return array != NULL && copy_bytes(pulse, array->data, contents, count) &&
                   copy_bytes(pulse, array->known, NULL, size)
               ? array->address
               : 0;
}

bool grout_ptx_memory_set_elements(grout_ptx_memory *memory, uint64_t address,
                                   grout_ptx_elements elements) {
    ptx_array *array = memory != NULL ? find_array(memory, address) : NULL;
    if (array == NULL || array->address != address) {
        return false;
    }
    array->elements = elements;
    return true;
}

grout_ptx_memory *grout_ptx__copy_memory(const grout_ptx_memory *memory, grout_limited *heap,
                                         grout_pulse *pulse) {
    grout_ptx_memory *copy = grout_ptx_memory_new_in(&heap->allocator);
    for (size_t i = 0; copy != NULL && i < memory->arrays.count; i++) {
        const ptx_array *array = &memory->arrays.items[i];
        copy->next = array->address;
        ptx_array *made = add_array(copy, (size_t)array->size);
        if (made == NULL || !copy_bytes(pulse, made->data, array->data, array->size) ||
            !copy_bytes(pulse, made->known, array->known, array->size)) {
            grout_ptx_memory_free(copy);
            return NULL;
        }
        made->elements = array->elements;
    }
    return copy;
}

bool grout_ptx__find_global(const grout_ptx_memory *memory, uint64_t address, uint64_t size,
                            ptx_bytes *bytes_out) {
    const ptx_array *array = find_array(memory, address);
    if (array == NULL || address - array->address > array->size ||
        size > array->size - (address - array->address)) {
        return false;
    }
    bytes_out->data = array->data + (address - array->address);
    bytes_out->known = array->known + (address - array->address);
    bytes_out->cells = array->cells == NULL ? NULL : array->cells + (address - array->address);
    bytes_out->owner = NULL;
    return true;
}

bool grout_ptx_memory_read(const grout_ptx_memory *memory, uint64_t address, void *data,
                           size_t size, size_t *undefined_out) {
    ptx_bytes bytes;
    size_t undefined = 0;
    if (memory == NULL || (data == NULL && size > 0) ||
        !grout_ptx__find_global(memory, address, size, &bytes)) {
        return false;
    }
    if (size > 0) {
        memcpy(data, bytes.data, size);
    }
    for (size_t i = 0; i < size; i++) {
        undefined += bytes.known[i] == 0;
    }
    if (undefined_out != NULL) {
        *undefined_out = undefined;
    }
    return true;
}
