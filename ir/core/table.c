/* table.c - tables that grow by doubling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"
#include "module.h"

#include <string.h>

enum { FIRST_CAPACITY = 8 };

/* Makes room for count more items. */
static bool reserve(grout_table *table, uint32_t count) {
    uint64_t needed = (uint64_t)table->count + count;
    if (needed <= table->capacity) {
        return true;
    }
    uint64_t capacity = table->capacity > 0 ? table->capacity : FIRST_CAPACITY;
    while (capacity < needed) {
        capacity *= 2;
    }
    if (capacity > UINT32_MAX) {
        capacity = UINT32_MAX;
    }
    if (needed > capacity || capacity > SIZE_MAX / table->item_size) {
        return false;
    }
    void *items = grout__realloc(table->items, (size_t)capacity * table->item_size);
    if (items == NULL) {
        return false;
    }
    table->items = items;
    table->capacity = (uint32_t)capacity;
    return true;
}

bool grout_table__init(grout_table *table, uint32_t item_size) {
    *table = (grout_table){.item_size = item_size};
    if (!reserve(table, 1)) {
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
    if (!reserve(table, count)) {
        return 0;
    }
    uint32_t first = table->count;
    memset((char *)table->items + (size_t)first * table->item_size, 0,
           (size_t)count * table->item_size);
    table->count += count;
    return first;
}

uint32_t grout_table__push(grout_table *table, const void *item) {
    if (!reserve(table, 1)) {
        return 0;
    }
    uint32_t index = table->count++;
    memcpy((char *)table->items + (size_t)index * table->item_size, item, table->item_size);
    return index;
}
