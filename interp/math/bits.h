/*
 * bits.h - ranges of bits in words of 64: which bytes and elements have been written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_BITS_H
#define GROUT_INTERP_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t grout_bits__get_word_count(int64_t bits) {
    return (bits + 63) / 64;
}
static inline bool grout_bits__get(const uint64_t *words, int64_t index) {
    return (words[index / 64] >> (index % 64) & 1) != 0;
}
/* All bits of [first, first + count). */
void grout_bits__set(uint64_t *words, int64_t first, int64_t count);
void grout_bits__clear(uint64_t *words, int64_t first, int64_t count);
bool grout_bits__has_all(const uint64_t *words, int64_t first, int64_t count);
bool grout_bits__has_any(const uint64_t *words, int64_t first, int64_t count);
/* How many of the first count bits are set. */
int64_t grout_bits__count(const uint64_t *words, int64_t count);
/* The first clear bit of [0, count), or count. */
int64_t grout_bits__find_clear(const uint64_t *words, int64_t count);

#endif
