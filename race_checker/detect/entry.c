/* entry.c - what a recorded access says of itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "invariant.h"

grout_mechanism grout_clock__get_mechanism(const grout_clock_shape *shape, uint32_t component,
                                           uint32_t *index_out) {
    const uint32_t starts[] = {[GROUT_MECHANISM_LOST] = grout_clock_handed(shape, 0),
                               [GROUT_MECHANISM_EPOCH] = grout_clock_epoch(shape, 0),
                               [GROUT_MECHANISM_BULK_READ] = grout_clock_bulk_read(shape, 0),
                               [GROUT_MECHANISM_ASYNC_COPY] = grout_clock_async_copy(shape, 0),
                               [GROUT_MECHANISM_PHASE] = grout_clock_phase(shape, 0),
                               [GROUT_MECHANISM_WGMMA] = grout_clock_wgmma(shape, 0),
                               [GROUT_MECHANISM_GRID] = grout_clock_grid(shape),
                               [GROUT_MECHANISM_TCGEN05] = grout_clock_tcgen05(shape, 0),
                               [GROUT_MECHANISM_TMEM_LOAD] = grout_clock_tmem_load(shape, 0),
                               [GROUT_MECHANISM_TMEM_STORE] = grout_clock_tmem_store(shape, 0),
                               [GROUT_MECHANISM_SEALED] = grout_clock_sealed(shape),
                               [GROUT_MECHANISM_SEEN] = grout_clock_time_size(shape),
                               [GROUT_MECHANISM_ACCESS] = grout_clock_released(shape, 0),
                               [GROUT_MECHANISM_BULK_WRITE] = grout_clock_bulk_written(shape, 0)};
    uint32_t mechanism = sizeof starts / sizeof *starts - 1;
    GROUT_ASSERT(component < grout_clock_size(shape));
    while (component < starts[mechanism]) {
        mechanism--;
    }
    if (index_out) {
        *index_out = component - starts[mechanism];
    }
    return (grout_mechanism)mechanism;
}

uint32_t grout_entry__get_actor(const grout_clock_shape *shape, const grout_entry *entry) {
    return grout_clock_actor(
        shape, entry->origin.cta % shape->cta_count,
        grout_clock_local_actor(shape, entry->origin.thread, entry->origin.warp));
}

uint8_t grout_entry__make_flags(uint8_t agent, bool is_write, bool is_atomic) {
    uint32_t flags = GROUT_ENTRY_PRESENT;
    flags |= agent == GROUT_AGENT_ENGINE ? GROUT_ENTRY_ASYNC : 0u;
    flags |= agent == GROUT_AGENT_GENERIC_ENGINE ? GROUT_ENTRY_GENERIC_ENGINE : 0u;
    flags |= is_write ? GROUT_ENTRY_WRITE : 0u;
    flags |= is_atomic ? GROUT_ENTRY_ATOMIC : 0u;
    return (uint8_t)flags;
}

uint8_t grout_entry__get_agent(const grout_entry *entry) {
    if (entry->flags & GROUT_ENTRY_ASYNC) {
        return GROUT_AGENT_ENGINE;
    }
    return entry->flags & GROUT_ENTRY_GENERIC_ENGINE ? GROUT_AGENT_GENERIC_ENGINE
                                                     : GROUT_AGENT_ACTOR;
}
