/*
 * test_engine.c - an engine that no release has: a line (test_engines.def) and these functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine reads the first element of a box of SMEM and later fills the box with it.
 */
#include "test_engine.h"

#include "interp/engines/engine.h"

#include <string.h>

uint32_t test_engine_landed;

int64_t grout_engine__bytes_test_fill(const grout_machine *machine, const grout_inst *inst) {
    return grout_plan__box(machine->plan, inst, 0)->bytes;
}

void grout_engine__stamps_test_fill(const grout_cta *cta, const grout_flight *flight,
                                    grout_stamp *read_out, grout_stamp *write_out) {
    grout_engine__stamps_tma_load(cta, flight, read_out, write_out);
}

void grout_engine__read_test_fill(const grout_cta *cta, uint32_t index) {
    grout_flight *flight = grout_flight__get(cta->machine, index);
    const uint8_t *smem = grout_cta__memory(cta) + flight->start[0][0];
    memcpy(&flight->start[1][0], smem, sizeof(float));
    flight->has_read = true;
}

void grout_engine__land_test_fill(const grout_cta *cta, uint32_t index) {
    grout_flight *flight = grout_flight__get(cta->machine, index);
    if (!flight->has_read) {
        grout_engine__read_test_fill(cta, index);
    }
    for (uint32_t i = 0; i < 64; i++) {
        memcpy(grout_cta__memory(cta) + flight->start[0][0] + i * sizeof(float),
               &flight->start[1][0], sizeof(float));
    }
    test_engine_landed++;
}
