/*
 * alloc.h - the one door to the heap for all of ir/.
 *
 * The door has no state. A test that wants the n-th allocation to fail defines these three
 * functions itself: alloc.c is a member of a static library and is then not linked at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_ALLOC_H
#define GROUT_IR_ALLOC_H

#include <stddef.h>

/* As realloc; a size of 0 is taken as 1, so that NULL always means 'no memory'. */
void *grout__realloc(void *pointer, size_t size);
/* count items of size bytes, zeroed; NULL without memory or when the product overflows. */
void *grout__calloc(size_t count, size_t size);
void grout__free(void *pointer);

#endif
