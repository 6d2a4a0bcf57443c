/*
 * lists.c - structs with lists: copied whole, cleared, freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lists.h"

#include "alloc.h"
#include "invariant.h"

#include <string.h>

enum { LISTS_MAX = 8 };

/* The memory of a list. */
typedef struct list_memory {
    void *items;
    uint32_t capacity;
} list_memory;

static uint32_t get_number(const void *owner, size_t offset) {
    uint32_t number = 0;
    memcpy(&number, (const char *)owner + offset, sizeof number);
    return number;
}

static list_memory get_memory(const grout_list_place *place, const void *owner) {
    list_memory memory = {.capacity = get_number(owner, place->capacity)};
    memcpy(&memory.items, (const char *)owner + place->items, sizeof memory.items);
    GROUT_ASSERT(get_number(owner, place->count) <= memory.capacity);
    return memory;
}

static void set_memory(const grout_list_place *place, void *owner, const list_memory *memory) {
    memcpy((char *)owner + place->items, &memory->items, sizeof memory->items);
    if (place->capacity != place->count) {
        memcpy((char *)owner + place->capacity, &memory->capacity, sizeof memory->capacity);
    }
}

/* The same items in memory of the owner's own. */
static bool copy_items(const grout_allocator *allocator, const grout_list_place *place, void *owner,
                       const void *from) {
    const uint32_t count = get_number(from, place->count);
    const list_memory source = get_memory(place, from);
    list_memory memory = get_memory(place, owner);
    if (memory.capacity < count) {
        void *items = grout__resize(allocator, memory.items, count * place->item_size);
        if (!items) {
            return false;
        }
        memory = (list_memory){items, count};
        set_memory(place, owner, &memory);
    }
    if (count > 0) {
        memcpy(memory.items, source.items, count * place->item_size);
    }
    return true;
}

/* All plain members become those of from, or zero if it is NULL; the lists keep their memory. */
static void set_plain(const grout_list_table *table, void *owner, const void *from) {
    list_memory kept[LISTS_MAX];
    GROUT_ASSERT(table->count <= LISTS_MAX);
    for (uint32_t i = 0; i < table->count; i++) {
        kept[i] = get_memory(&table->places[i], owner);
    }
    if (from != NULL) {
        memcpy(owner, from, table->size);
    } else {
        memset(owner, 0, table->size);
    }
    for (uint32_t i = 0; i < table->count; i++) {
        set_memory(&table->places[i], owner, &kept[i]);
    }
}

bool grout_lists__copy(const grout_list_table *table, const grout_allocator *allocator, void *copy,
                       const void *from) {
    GROUT_ASSERT(copy != from);
    for (uint32_t i = 0; i < table->count; i++) {
        if (!copy_items(allocator, &table->places[i], copy, from)) {
            return false;
        }
    }
    set_plain(table, copy, from);
    return true;
}

void grout_lists__clear(const grout_list_table *table, void *owner) {
    set_plain(table, owner, NULL);
}

void grout_lists__free(const grout_list_table *table, void *owner) {
    for (uint32_t i = 0; i < table->count; i++) {
        grout__free(get_memory(&table->places[i], owner).items);
    }
    memset(owner, 0, table->size);
}

bool grout_check__reserve(const grout_allocator *allocator, void **items, uint32_t count,
                          uint32_t *capacity, size_t size) {
    uint32_t wanted = *capacity ? *capacity * 2 : 4;
    void *grown = NULL;
    GROUT_ASSERT(count <= *capacity);
    if (count < *capacity) {
        return true;
    }
    grown = grout__resize(allocator, *items, wanted * size);
    if (!grown) {
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}
