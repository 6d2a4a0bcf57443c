/* table.c - tables that grow by doubling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "array.h"
#include "invariant.h"
#include "module.h"

#include <string.h>

/* Makes room for count more items. */
static bool reserve(const grout_allocator *allocator, grout_table *table, uint32_t count) {
    GROUT_ASSERT(table->item_size > 0 && table->count <= table->capacity);
    size_t capacity = table->capacity;
    if (count > UINT32_MAX - table->count) {
        return false;
    }
    table->items = grout_array__grow(allocator, table->items, table->count, count, &capacity,
                                     table->item_size);
    table->capacity = capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX;
    return table->capacity - table->count >= count;
}

/* The items know their allocator. */
static bool reserve_more(grout_table *table, uint32_t count) {
    GROUT_ASSERT(table->items != NULL && table->count > 0);
    return count <= table->capacity - table->count || reserve(NULL, table, count);
}

bool grout_table__init(grout_table *table, const grout_allocator *allocator, uint32_t item_size) {
    *table = (grout_table){.item_size = item_size};
    if (!reserve(allocator, table, 1)) {
        return false;
    }
    memset(table->items, 0, item_size);
    table->count = 1;
    return true;
}

void grout_table__deinit(grout_table *table) {
    grout__free(table->items);
    *table = (grout_table){0};
}

uint32_t grout_table__add(grout_table *table, uint32_t count) {
    if (!reserve_more(table, count)) {
        return 0;
    }
    uint32_t first = table->count;
    memset((char *)table->items + (size_t)first * table->item_size, 0,
           (size_t)count * table->item_size);
    table->count += count;
    return first;
}

uint32_t grout_table__push(grout_table *table, const void *item) {
    if (!reserve_more(table, 1)) {
        return 0;
    }
    uint32_t index = table->count++;
    memcpy((char *)table->items + (size_t)index * table->item_size, item, table->item_size);
    return index;
}
