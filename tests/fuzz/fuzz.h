/* What a fuzz target defines: libFuzzer's entry point, also called by replay.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_FUZZ_H
#define GROUT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Runs one input; returns 0. A fault is a sanitizer report or an abort. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
