/* banks.c - passes over the banks of SMEM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "banks.h"

#include "invariant.h"

#include <string.h>

static void add_word(grout_bank_words *asked, int64_t word) {
    for (uint32_t k = 0; k < asked->count; k++) {
        if (asked->words[k] == word) {
            return;
        }
    }
    GROUT_ASSERT(asked->count < GROUT_BANKS);
    if (asked->count < GROUT_BANKS) {
        asked->words[asked->count++] = word;
    }
}

void grout_bank_words__add(grout_bank_words *asked, int64_t offset, int64_t size) {
    for (int64_t at = offset; at < offset + size; at += GROUT_BANK_BYTES) {
        add_word(asked, at / GROUT_BANK_BYTES);
    }
}

uint32_t grout_bank_words__count_passes(const grout_bank_words *asked,
                                        uint8_t in_bank_out[GROUT_BANKS]) {
    uint32_t most = 0;
    memset(in_bank_out, 0, GROUT_BANKS);
    for (uint32_t k = 0; k < asked->count; k++) {
        const uint32_t count = ++in_bank_out[asked->words[k] % GROUT_BANKS];
        most = count > most ? count : most;
    }
    return most;
}
