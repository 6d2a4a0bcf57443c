/*
 * mix.h - how identities, sets and states mix one more number into a hash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_MIX_H
#define GROUT_RACE_CHECKER_MIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t grout_check__mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* All bytes of something without padding. */
static inline uint64_t grout_check__mix_bytes(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (; size > 0; at += 8) {
        uint64_t word = 0;
        size_t part = size < 8 ? size : 8;
        memcpy(&word, at, part);
        hash = grout_check__mix(hash, word);
        size -= part;
    }
    return hash;
}

#endif
