/* residency.c - how many CTAs a GPU holds at once: docs/hardware.md 8.
 * SPDX-License-Identifier: Apache-2.0 */
#include "residency.h"

enum {
    SM_CTAS = 32,
    SM_THREADS = 2048,
    SM_REGISTERS = 65536,
    SM_SHARED = 228 << 10, /* bytes; 1 KiB of it for each CTA is the system's */
    CTA_SHARED = 1 << 10
};

static uint32_t get_least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

uint32_t grout_ptx__count_resident(const ptx_machine *machine) {
    const uint32_t threads = machine->warp_count * PTX_LANES;
    uint32_t ctas = get_least(SM_CTAS, SM_THREADS / threads);
    ctas = get_least(ctas, SM_SHARED / (machine->shared_bytes + CTA_SHARED));
    if (machine->register_count > 0) {
        ctas = get_least(ctas, SM_REGISTERS / (machine->register_count * threads));
    }
    return PTX_RESIDENCY_SMS * (ctas > 0 ? ctas : 1);
}
