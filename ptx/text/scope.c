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
    return grout_ptx__open_scope(scopes, PTX_NO_ID) != PTX_NO_ID;
}

void grout_ptx__deinit_scopes(ptx_scopes *scopes) {
    grout__free(scopes->symbols.items);
    grout__free(scopes->blocks.items);
    grout__free(scopes->buckets);
}

uint32_t grout_ptx__open_scope(ptx_scopes *scopes, uint32_t parent) {
    if (!GROUT_ARRAY_RESERVE(&scopes->blocks, scopes->allocator, 1)) {
        return PTX_NO_ID;
    }
    scopes->blocks.items[scopes->blocks.count] = (ptx_block){.parent = parent};
    return (uint32_t)scopes->blocks.count++;
}

/* The place of a hash and a symbol (its number from 1), or, of 0, the empty one for it. */
static ptx_bucket *find_bucket(const ptx_scopes *scopes, uint64_t hash, uint32_t symbol) {
    const uint32_t mask = scopes->bucket_count - 1;
    uint32_t at = grout_hash__index(hash) & mask;
    while (scopes->buckets[at].symbol != symbol) {
        at = (at + 1) & mask;
    }
    return &scopes->buckets[at];
}

static bool is_same(const ptx_symbol *symbol, const ptx_symbol *wanted) {
    return symbol->hash == wanted->hash && symbol->scope == wanted->scope &&
           symbol->size == wanted->size &&
           (symbol->meaning == PTX_MEANS_REGISTERS) == (wanted->meaning == PTX_MEANS_REGISTERS) &&
           memcmp(symbol->text, wanted->text, wanted->size) == 0;
}

static ptx_symbol *find_in(const ptx_scopes *scopes, const ptx_symbol *wanted) {
    const uint32_t mask = scopes->bucket_count - 1;
    const uint32_t first = grout_hash__index(wanted->hash);
    const ptx_bucket *bucket = NULL;
    for (uint32_t i = 0; (bucket = &scopes->buckets[(first + i) & mask])->symbol != 0; i++) {
        ptx_symbol *symbol = &scopes->symbols.items[bucket->symbol - 1];
        if (bucket->hash == (uint32_t)wanted->hash && is_same(symbol, wanted)) {
            return symbol;
        }
    }
    return NULL;
}

/* A name is hashed once, and then with each scope that may have it. */
static uint64_t hash_name(const ptx_symbol *symbol) {
    return grout_hash__bytes(symbol->meaning == PTX_MEANS_REGISTERS, symbol->text, symbol->size);
}

static uint64_t get_bit(uint64_t name_hash) {
    return UINT64_C(1) << (grout_hash__index(name_hash) & 63);
}

static void add_bucket(ptx_scopes *scopes, uint32_t index) {
    const uint64_t hash = scopes->symbols.items[index].hash;
    *find_bucket(scopes, hash, 0) = (ptx_bucket){(uint32_t)hash, index + 1};
}

/* Twice the buckets; false without memory. */
static bool grow(ptx_scopes *scopes) {
    const uint32_t count = scopes->bucket_count * 2;
    ptx_bucket *buckets = grout__new(scopes->allocator, count, sizeof *buckets);
    if (buckets == NULL) {
        return false;
    }
    grout__free(scopes->buckets);
    scopes->buckets = buckets;
    scopes->bucket_count = count;
    for (uint32_t i = 0; i < scopes->symbols.count; i++) {
        add_bucket(scopes, i);
    }
    return true;
}

ptx_symbol *grout_ptx__declare(ptx_scopes *scopes, ptx_symbol symbol, bool *is_oom_out) {
    const uint64_t name_hash = hash_name(&symbol);
    symbol.hash = grout_hash__word(name_hash, symbol.scope);
    *is_oom_out = false;
    if (find_in(scopes, &symbol) != NULL) {
        return NULL;
    }
    if (!GROUT_ARRAY_RESERVE(&scopes->symbols, scopes->allocator, 1) ||
        (2 * scopes->symbols.count >= scopes->bucket_count && !grow(scopes))) {
        *is_oom_out = true;
        return NULL;
    }
    const uint32_t index = (uint32_t)scopes->symbols.count++;
    scopes->symbols.items[index] = symbol;
    add_bucket(scopes, index);
    scopes->blocks.items[symbol.scope].names |= get_bit(name_hash);
    return &scopes->symbols.items[index];
}

/* The newest ones first: nobody's place was found beyond theirs. */
void grout_ptx__forget_symbols(ptx_scopes *scopes, size_t count) {
    while (scopes->symbols.count > count) {
        const uint32_t number = (uint32_t)scopes->symbols.count;
        const uint64_t hash = scopes->symbols.items[number - 1].hash;
        *find_bucket(scopes, hash, number) = (ptx_bucket){0, 0};
        scopes->symbols.count--;
    }
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

/* What a scope itself declares of a name, whose hash is given; NULL: nothing. */
static const ptx_symbol *find_here(const ptx_scopes *scopes, ptx_symbol *wanted, uint32_t scope,
                                   uint64_t name_hash) {
    if ((scopes->blocks.items[scope].names & get_bit(name_hash)) == 0) {
        return NULL;
    }
    wanted->scope = scope;
    wanted->hash = grout_hash__word(name_hash, scope);
    return find_in(scopes, wanted);
}

ptx_symbol grout_ptx__find_symbol(const ptx_scopes *scopes, uint32_t scope, const char *text,
                                  size_t size) {
    uint32_t number = 0;
    const size_t prefix = find_digits(text, size, &number);
    ptx_symbol name = {.text = text, .size = size};
    ptx_symbol range = {.text = text, .size = prefix, .meaning = PTX_MEANS_REGISTERS};
    const uint64_t name_hash = hash_name(&name), range_hash = hash_name(&range);
    for (; scope != PTX_NO_ID; scope = scopes->blocks.items[scope].parent) {
        const ptx_symbol *found = find_here(scopes, &name, scope, name_hash);
        if (found != NULL) {
            return *found;
        }
        found = prefix < size ? find_here(scopes, &range, scope, range_hash) : NULL;
        if (found != NULL && number < found->count) {
            ptx_symbol one = *found;
            one.meaning = PTX_MEANS_REGISTER;
            one.id += number;
            return one;
        }
    }
    return (ptx_symbol){.meaning = PTX_MEANS_NOTHING};
}
