/*
 * hash.h - the one hash: of words and of bytes, for tables and for comparing states.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It starts with any number, continues with what it returned, and depends on the order. Its values
 * are the same in every run and on every machine of one byte order, but not in every version of
 * grout: they may not be kept in files or decide what a user sees. xxHash hashes what is kept (the
 * cache of compiled kernels). SplitMix draws random numbers; it is no hash of data
 * (interp/state/random.c).
 */
#ifndef GROUT_BASE_HASH_H
#define GROUT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A word at a time, mixed by a multiplication whose halves are folded (wyhash's step). */
static inline uint64_t grout_hash__word(uint64_t hash, uint64_t word) {
    uint64_t a = hash ^ word ^ UINT64_C(0xa0761d6478bd642f);
    uint64_t low = (a & 0xffffffffu) * UINT64_C(0xe7037ed1a0b428db);
    uint64_t high = (a >> 32) * UINT64_C(0x8ebc6af09c88c6e3);
    return (low ^ (high << 32 | high >> 32)) + hash * 31;
}

/* A word at a time; the size counts, so that a rest of zeros is one too. */
static inline uint64_t grout_hash__bytes(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = grout_hash__word(hash, word);
    }
    uint64_t rest = size;
    if (size > 0) {
        memcpy(&rest, at, size);
        rest ^= (uint64_t)size << 56;
    }
    return grout_hash__word(hash, rest);
}

/* What a table takes the index from: every bit of the hash counts in its low bits. */
static inline uint32_t grout_hash__index(uint64_t hash) {
    return (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

#endif
