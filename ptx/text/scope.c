/* scope.c - see scope.h. One hash table of (scope, name).
 * SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"

#include "hash.h"

#include <string.h>

enum { BUCKETS_FIRST = 256 };

bool grout_ptx__init_scopes(ptx_scopes *scopes, const grout_allocator *allocator) {
    *scopes = (ptx_scopes){.allocator = allocator, .bucket_count = BUCKETS_FIRST};
    scopes->buckets = grout__new(allocator, BUCKETS_FIRST, sizeof *scopes->buckets);
    if (scopes->buckets == NULL) {
        return false;
    }
    memset(scopes->buckets, 0xff, BUCKETS_FIRST * sizeof *scopes->buckets);
    return grout_ptx__open_scope(scopes, PTX_NO_ID) != PTX_NO_ID;
}

void grout_ptx__deinit_scopes(ptx_scopes *scopes) {
    grout__free(scopes->symbols.items);
    grout__free(scopes->parents.items);
    grout__free(scopes->buckets);
}

uint32_t grout_ptx__open_scope(ptx_scopes *scopes, uint32_t parent) {
    if (!GROUT_ARRAY_RESERVE(&scopes->parents, scopes->allocator, 1)) {
        return PTX_NO_ID;
    }
    scopes->parents.items[scopes->parents.count] = parent;
    return (uint32_t)scopes->parents.count++;
}

static ptx_symbol *find_in(const ptx_scopes *scopes, const ptx_symbol *wanted) {
    uint32_t bucket = grout_hash__index(wanted->hash) & (scopes->bucket_count - 1);
    for (uint32_t i = scopes->buckets[bucket]; i != PTX_NO_ID; i = scopes->symbols.items[i].next) {
        ptx_symbol *symbol = &scopes->symbols.items[i];
        if (symbol->hash == wanted->hash && symbol->scope == wanted->scope &&
            symbol->size == wanted->size &&
            (symbol->meaning == PTX_MEANS_REGISTERS) == (wanted->meaning == PTX_MEANS_REGISTERS) &&
            memcmp(symbol->text, wanted->text, wanted->size) == 0) {
            return symbol;
        }
    }
    return NULL;
}

static void set_hash(ptx_symbol *symbol) {
    uint64_t seed = (uint64_t)symbol->scope << 1 | (symbol->meaning == PTX_MEANS_REGISTERS);
    symbol->hash = grout_hash__bytes(seed, symbol->text, symbol->size);
}

/* Twice the buckets; without memory as many as before, which is slower but right. */
static void grow(ptx_scopes *scopes) {
    uint32_t count = scopes->bucket_count * 2;
    uint32_t *buckets = grout__new(scopes->allocator, count, sizeof *buckets);
    if (buckets == NULL) {
        return;
    }
    memset(buckets, 0xff, count * sizeof *buckets);
    for (uint32_t i = 0; i < scopes->symbols.count; i++) {
        uint32_t bucket = grout_hash__index(scopes->symbols.items[i].hash) & (count - 1);
        scopes->symbols.items[i].next = buckets[bucket];
        buckets[bucket] = i;
    }
    grout__free(scopes->buckets);
    scopes->buckets = buckets;
    scopes->bucket_count = count;
}

ptx_symbol *grout_ptx__declare(ptx_scopes *scopes, ptx_symbol symbol, bool *is_oom_out) {
    set_hash(&symbol);
    *is_oom_out = false;
    if (find_in(scopes, &symbol) != NULL) {
        return NULL;
    }
    if (!GROUT_ARRAY_RESERVE(&scopes->symbols, scopes->allocator, 1)) {
        *is_oom_out = true;
        return NULL;
    }
    uint32_t bucket = grout_hash__index(symbol.hash) & (scopes->bucket_count - 1);
    uint32_t index = (uint32_t)scopes->symbols.count++;
    symbol.next = scopes->buckets[bucket];
    scopes->symbols.items[index] = symbol;
    scopes->buckets[bucket] = index;
    if (scopes->symbols.count > scopes->bucket_count) {
        grow(scopes);
    }
    return &scopes->symbols.items[index];
}

/* The digits at the end of a name, without leading zeros: where they begin; size if there are none
 * that a range can have. */
static size_t find_digits(const char *text, size_t size, uint32_t *number_out) {
    size_t at = size;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && size - at < 9) {
        at--;
    }
    while (at + 1 < size && text[at] == '0') {
        at++;
    }
    *number_out = 0;
    for (size_t i = at; i < size; i++) {
        *number_out = *number_out * 10 + (uint32_t)(text[i] - '0');
    }
    return at;
}

ptx_symbol grout_ptx__find_symbol(const ptx_scopes *scopes, uint32_t scope, const char *text,
                                  size_t size) {
    uint32_t number = 0;
    size_t prefix = find_digits(text, size, &number);
    for (; scope != PTX_NO_ID; scope = scopes->parents.items[scope]) {
        ptx_symbol wanted = {.text = text, .size = size, .scope = scope};
        set_hash(&wanted);
        const ptx_symbol *found = find_in(scopes, &wanted);
        if (found != NULL) {
            return *found;
        }
        wanted = (ptx_symbol){
            .text = text, .size = prefix, .scope = scope, .meaning = PTX_MEANS_REGISTERS};
        set_hash(&wanted);
        found = prefix < size ? find_in(scopes, &wanted) : NULL;
        if (found != NULL && number < found->count) {
            ptx_symbol one = *found;
            one.meaning = PTX_MEANS_REGISTER;
            one.id += number;
            return one;
        }
    }
    return (ptx_symbol){.meaning = PTX_MEANS_NOTHING};
}
