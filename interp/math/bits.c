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

/* The words of [first, first + count): a first one, whole ones, a last one that may be the first.
 */
typedef struct word_range {
    int64_t low, high;
    uint64_t low_mask, high_mask;
} word_range;

static word_range get_range(int64_t first, int64_t count) {
    int64_t end = first + count;
    word_range range = {.low = first / 64, .high = (end - 1) / 64};
    range.low_mask = get_mask(range.low, first, end);
    range.high_mask = get_mask(range.high, first, end);
    return range;
}

void grout_bits__set(uint64_t *words, int64_t first, int64_t count) {
    if (count > 0) {
        word_range range = get_range(first, count);
        words[range.low] |= range.low_mask;
        words[range.high] |= range.high_mask;
        for (int64_t i = range.low + 1; i < range.high; i++) {
            words[i] = ~UINT64_C(0);
        }
    }
}

void grout_bits__clear(uint64_t *words, int64_t first, int64_t count) {
    if (count > 0) {
        word_range range = get_range(first, count);
        words[range.low] &= ~range.low_mask;
        words[range.high] &= ~range.high_mask;
        for (int64_t i = range.low + 1; i < range.high; i++) {
            words[i] = 0;
        }
    }
}

bool grout_bits__has_all(const uint64_t *words, int64_t first, int64_t count) {
    if (count <= 0) {
        return true;
    }
    word_range range = get_range(first, count);
    uint64_t missing =
        (~words[range.low] & range.low_mask) | (~words[range.high] & range.high_mask);
    for (int64_t i = range.low + 1; i < range.high; i++) {
        missing |= ~words[i];
    }
    return missing == 0;
}

bool grout_bits__has_any(const uint64_t *words, int64_t first, int64_t count) {
    if (count <= 0) {
        return false;
    }
    word_range range = get_range(first, count);
    uint64_t found = (words[range.low] & range.low_mask) | (words[range.high] & range.high_mask);
    for (int64_t i = range.low + 1; i < range.high; i++) {
        found |= words[i];
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
