/*
 * mix.h - how identities and sets mix one more number into a hash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_MIX_H
#define GROUT_RACE_CHECKER_MIX_H

#include <stdint.h>

static inline uint64_t grout_check__mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

#endif
