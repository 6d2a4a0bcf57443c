/* alloc.c - the heap, as ir/ sees it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <stdlib.h>

void *grout__realloc(void *pointer, size_t size) {
    return realloc(pointer, size > 0 ? size : 1);
}

void *grout__calloc(size_t count, size_t size) {
    return calloc(count > 0 ? count : 1, size > 0 ? size : 1);
}

void grout__free(void *pointer) {
    free(pointer);
}
