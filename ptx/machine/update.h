/* update.h - what atomics and reductions make of two values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_UPDATE_H
#define GROUT_PTX_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

/* The new value at a place, of an operation (a word) on values of a type (a word), of at most 64
 * bits. third: what cas stores. False if there is no such operation. */
bool grout_ptx__update(uint16_t operation, uint16_t type, uint64_t old, uint64_t value,
                       uint64_t third, uint64_t *result_out);

#endif
