/*
 * lists.h - arrays that grow, as members of a struct that is copied whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A struct with lists is plain data but for the pointers to their items. A table says where they
 * stand, so that one function copies the struct: the plain members all at once, the items into
 * memory of the copy's own. A new plain member needs no line anywhere, a new list one in the table.
 */
#ifndef GROUT_RACE_CHECKER_LISTS_H
#define GROUT_RACE_CHECKER_LISTS_H

#include "grout/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in the struct. capacity is that of count where all that there is room for counts. */
typedef struct grout_list_place {
    size_t items, count, capacity;
    size_t item_size;
} grout_list_place;

#define GROUT_LIST(TYPE, ITEMS, COUNT, CAPACITY)                                \
    {                                                                           \
        offsetof(TYPE, ITEMS), offsetof(TYPE, COUNT), offsetof(TYPE, CAPACITY), \
            sizeof *((TYPE *)0)->ITEMS                                          \
    }

/* A struct of size bytes with its lists. */
typedef struct grout_list_table {
    const grout_list_place *places;
    uint32_t count;
    size_t size;
} grout_list_table;

#define GROUT_LIST_TABLE(TYPE, PLACES) \
    { PLACES, sizeof(PLACES) / sizeof *(PLACES), sizeof(TYPE) }

/* Makes *copy, which is zero or a copy already, equal to *from. False without memory. */
bool grout_lists__copy(const grout_list_table *table, const grout_allocator *allocator, void *copy,
                       const void *from);
/* Makes it zero, but for the memory of its lists. */
void grout_lists__clear(const grout_list_table *table, void *owner);
/* Frees the lists. */
void grout_lists__free(const grout_list_table *table, void *owner);

/* Room for one more item of size bytes in a list. False without memory. */
bool grout_check__reserve(const grout_allocator *allocator, void **items, uint32_t count,
                          uint32_t *capacity, size_t size);

#endif
