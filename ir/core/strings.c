/* strings.c - the strings of a module: each once, by id.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "hash.h"
#include "invariant.h"

#include <string.h>

const char *grout_module_get_string(const grout_module *module, grout_string_id id) {
    GROUT_ASSERT(id < module->strings.count);
    return module->string_bytes.items + *GROUT_TABLE_AT(module->strings, uint32_t, id);
}

static uint32_t hash_string(const char *bytes, size_t size) {
    return grout_hash__index(grout_hash__bytes(0, bytes, size));
}

/* Whether a string of the module is these bytes. */
static bool is_string(const grout_module *module, grout_string_id id, const char *bytes,
                      size_t size) {
    uint32_t offset = *GROUT_TABLE_AT(module->strings, uint32_t, id);
    const char *known = module->string_bytes.items + offset;
    size_t room = module->string_bytes.count - offset;
    return size < room && known[size] == '\0' && memcmp(known, bytes, size) == 0;
}

/* The entry of the index that holds the string, or the free one where it belongs. */
static grout_string_entry *find_index_entry(const grout_module *module, uint32_t hash,
                                            const char *bytes, size_t size) {
    uint32_t mask = module->string_index_size - 1;
    GROUT_ASSERT((module->string_index_size & mask) == 0 && mask > 0);
    /* A free entry ends the search. */
    GROUT_ASSERT(module->strings.count <= module->string_index_size);
    uint32_t at = hash & mask;
    const grout_string_entry *index = module->string_index;
    while (index[at].id != 0 &&
           (index[at].hash != hash || !is_string(module, index[at].id, bytes, size))) {
        at = (at + 1) & mask;
    }
    return &module->string_index[at];
}

static bool grow_index(grout_module *module) {
    grout_string_entry *old_index = module->string_index;
    uint32_t old_size = module->string_index_size;
    if (old_size > UINT32_MAX / 2) {
        return false;
    }
    uint32_t mask = 2 * old_size - 1;
    grout_string_entry *index = grout__new(module->allocator, (size_t)mask + 1, sizeof *index);
    if (index == NULL) {
        return false;
    }
    module->string_index = index;
    module->string_index_size = old_size * 2;
    for (uint32_t i = 0; i < old_size; i++) {
        uint32_t at = old_index[i].hash & mask;
        while (old_index[i].id != 0 && index[at].id != 0) {
            at = (at + 1) & mask;
        }
        if (old_index[i].id != 0) {
            index[at] = old_index[i];
        }
    }
    grout__free(old_index);
    return true;
}

/* Offsets have 32 bits. */
static bool reserve_string_bytes(grout_module *module, size_t size) {
    return size <= UINT32_MAX - module->string_bytes.count &&
           GROUT_ARRAY_RESERVE(&module->string_bytes, module->allocator, size);
}

grout_string_id grout_module__find_string(const grout_module *module, const char *bytes,
                                          size_t size) {
    return size == 0 ? 0 : find_index_entry(module, hash_string(bytes, size), bytes, size)->id;
}

grout_string_id grout_module__intern(grout_module *module, const char *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    uint32_t hash = hash_string(bytes, size);
    grout_string_entry *entry = find_index_entry(module, hash, bytes, size);
    if (entry->id != 0) {
        return entry->id;
    }
    uint32_t offset = (uint32_t)module->string_bytes.count;
    uint32_t id = 0;
    if (reserve_string_bytes(module, size + 1)) {
        id = grout_table__push(&module->strings, &offset);
    }
    if (id == 0) {
        module->failed = true;
        return 0;
    }
    memcpy(module->string_bytes.items + offset, bytes, size);
    module->string_bytes.items[offset + size] = '\0';
    module->string_bytes.count += size + 1;
    *entry = (grout_string_entry){.hash = hash, .id = id};
    /* At most three quarters full. */
    if (module->strings.count > module->string_index_size / 4 * 3 && !grow_index(module)) {
        module->failed = true;
    }
    return id;
}
