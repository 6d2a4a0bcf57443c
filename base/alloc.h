/*
 * alloc.h - the only way to the heap. Each block has its allocator and its size in front of it, so
 * code that frees or resizes a block needs neither.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_ALLOC_H
#define GROUT_BASE_ALLOC_H

#include "grout/alloc.h"

/* count items of size bytes, zeroed; NULL without memory or when the product overflows. allocator
 * NULL: libc's. A size of 0 is taken as 1, so that NULL always means 'no memory'. */
void *grout__new(const grout_allocator *allocator, size_t count, size_t size);
/* As realloc: the block with another size, from the allocator that it came from. A block of NULL is
 * made, of bytes without a value, from the allocator that is given. */
void *grout__resize(const grout_allocator *allocator, void *block, size_t size);
/* A copy of size bytes and a NUL after them, or NULL without memory. */
char *grout__copy(const grout_allocator *allocator, const char *bytes, size_t size);
/* Where a block comes from; NULL: libc. */
const grout_allocator *grout__get_allocator(void *block);
/* Gives a block back where it came from; nothing for NULL. */
void grout__free(void *block);

#endif
