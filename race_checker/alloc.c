/* alloc.c - the heap, as libc gives it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <stdlib.h>

void *grout_check__realloc(void *pointer, size_t size) {
    return realloc(pointer, size ? size : 1);
}

void *grout_check__calloc(size_t count, size_t size) {
    return calloc(count ? count : 1, size ? size : 1);
}

void grout_check__free(void *pointer) {
    free(pointer);
}
