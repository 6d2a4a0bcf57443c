/*
 * random.c - the random streams of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

uint64_t grout_random__mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t *get_stream(grout_machine *machine, uint32_t stream) {
    return stream == GROUT_DRAW_ENGINE ? &machine->run.engine.random : &machine->run.facts.random;
}

/* The seed is hashed; otherwise seed + 1 would draw the numbers of seed, without the first. */
void grout_machine__seed(grout_machine *machine, uint32_t index) {
    for (uint32_t stream = 0; stream < GROUT_DRAW_STREAMS; stream++) {
        uint64_t number = (uint64_t)index * GROUT_DRAW_STREAMS + stream + 1;
        *get_stream(machine, stream) =
            grout_random__mix(grout_random__mix(machine->launch.seed + GROUT_GOLDEN_RATIO) +
                              number * GROUT_GOLDEN_RATIO);
    }
}

uint64_t grout_machine__draw(grout_machine *machine, uint32_t stream) {
    uint64_t z = *get_stream(machine, stream) += GROUT_GOLDEN_RATIO;
    return grout_random__mix(z);
}
