/* banks.h - passes over the banks of SMEM; private to lowering/, ir/ and the backend.
 *
 * SMEM has 32 banks of 4 bytes; a pass moves at most one word of each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_LOWERING_BANKS_H
#define GROUT_LOWERING_BANKS_H

#include "grout-internal/layout.h"

#define GROUT_BANK_BYTES 4

/* The different words that the hardware is asked for at once: 128 bytes at most. Zeroed: none. */
typedef struct grout_bank_words {
    uint32_t count;
    int64_t words[GROUT_BANKS];
} grout_bank_words;

/* Bytes from an offset on, by their words. */
void grout_bank_words__add(grout_bank_words *asked, int64_t offset, int64_t size);
/* The words of the busiest bank: this many passes it takes. in_bank_out: of each bank. */
uint32_t grout_bank_words__count_passes(const grout_bank_words *asked,
                                        uint8_t in_bank_out[GROUT_BANKS]);

#endif
