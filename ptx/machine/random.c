/* random.c - SplitMix64: the same numbers for a seed everywhere.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

uint64_t grout_ptx__draw(ptx_machine *machine, uint64_t below) {
    uint64_t z = machine->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}
