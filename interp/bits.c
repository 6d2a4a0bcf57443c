/* bits.c - ranges of bits, a word at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bits.h"

/* The bits of word number word that lie in [first, end). */
static uint64_t get_mask(int64_t word, int64_t first, int64_t end) {
    int64_t low = first - word * 64, high = end - word * 64;
    uint64_t mask = ~UINT64_C(0);
    mask = low > 0 ? mask << low : mask;
    return high < 64 ? mask & ~(~UINT64_C(0) << high) : mask;
}

void grout_bits__set(uint64_t *words, int64_t first, int64_t count) {
    int64_t end = first + count;
    for (int64_t i = first / 64; i * 64 < end; i++) {
        words[i] |= get_mask(i, first, end);
    }
}

void grout_bits__clear(uint64_t *words, int64_t first, int64_t count) {
    int64_t end = first + count;
    for (int64_t i = first / 64; i * 64 < end; i++) {
        words[i] &= ~get_mask(i, first, end);
    }
}

bool grout_bits__has_all(const uint64_t *words, int64_t first, int64_t count) {
    int64_t end = first + count;
    uint64_t missing = 0;
    for (int64_t i = first / 64; i * 64 < end; i++) {
        missing |= ~words[i] & get_mask(i, first, end);
    }
    return missing == 0;
}

bool grout_bits__has_any(const uint64_t *words, int64_t first, int64_t count) {
    int64_t end = first + count;
    uint64_t found = 0;
    for (int64_t i = first / 64; i * 64 < end; i++) {
        found |= words[i] & get_mask(i, first, end);
    }
    return found != 0;
}

int64_t grout_bits__count(const uint64_t *words, int64_t count) {
    int64_t sum = 0;
    for (int64_t i = 0; i * 64 < count; i++) {
        sum += __builtin_popcountll(words[i] & get_mask(i, 0, count));
    }
    return sum;
}

int64_t grout_bits__find_clear(const uint64_t *words, int64_t count) {
    for (int64_t i = 0; i * 64 < count; i++) {
        uint64_t clear = ~words[i] & get_mask(i, 0, count);
        if (clear != 0) {
            return i * 64 + __builtin_ctzll(clear);
        }
    }
    return count;
}
