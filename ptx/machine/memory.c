/* memory.c - global memory: arrays with gaps between them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

#define FIRST_ADDRESS UINT64_C(0x1000000000)
#define GAP           UINT64_C(4096)
#define ALIGNMENT     UINT64_C(512)

grout_ptx_memory *grout_ptx_memory_new(void) {
    grout_ptx_memory *memory = grout__new(NULL, 1, sizeof *memory);
    if (memory != NULL) {
        memory->next = FIRST_ADDRESS;
    }
    return memory;
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

uint64_t grout_ptx_memory_add(grout_ptx_memory *memory, const void *contents, size_t size) {
    ptx_array array = {.address = memory->next, .size = size};
    array.data = grout__new(NULL, size, 1);
    array.known = grout__new(NULL, size, 1);
    if (array.data == NULL || array.known == NULL ||
        !GROUT_ARRAY_RESERVE(&memory->arrays, NULL, 1)) {
        grout__free(array.data);
        grout__free(array.known);
        return 0;
    }
    if (contents != NULL && size > 0) {
        memcpy(array.data, contents, size);
        memset(array.known, 0xff, size);
    }
    memory->arrays.items[memory->arrays.count++] = array;
    memory->next = (memory->next + size + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return array.address;
}

bool grout_ptx_memory_set_elements(grout_ptx_memory *memory, uint64_t address,
                                   grout_ptx_elements elements) {
    for (size_t i = 0; i < memory->arrays.count; i++) {
        if (memory->arrays.items[i].address == address) {
            memory->arrays.items[i].elements = elements;
            return true;
        }
    }
    return false;
}

grout_ptx_memory *grout_ptx__copy_memory(const grout_ptx_memory *memory) {
    grout_ptx_memory *copy = grout_ptx_memory_new();
    for (size_t i = 0; copy != NULL && i < memory->arrays.count; i++) {
        const ptx_array *array = &memory->arrays.items[i];
        copy->next = array->address;
        if (grout_ptx_memory_add(copy, array->data, array->size) == 0) {
            grout_ptx_memory_free(copy);
            return NULL;
        }
        if (array->size > 0) {
            memcpy(copy->arrays.items[i].known, array->known, array->size);
        }
        copy->arrays.items[i].elements = array->elements;
    }
    return copy;
}

bool grout_ptx__find_global(const grout_ptx_memory *memory, uint64_t address, uint64_t size,
                            ptx_bytes *bytes_out) {
    size_t low = 0, high = memory->arrays.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->arrays.items[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const ptx_array *array = low > 0 ? &memory->arrays.items[low - 1] : NULL;
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
    *undefined_out = 0;
    if (!grout_ptx__find_global(memory, address, size, &bytes)) {
        return false;
    }
    if (size > 0) {
        memcpy(data, bytes.data, size);
    }
    for (size_t i = 0; i < size; i++) {
        *undefined_out += bytes.known[i] == 0;
    }
    return true;
}
