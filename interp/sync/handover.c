/*
 * handover.c - see handover.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "handover.h"
#include "hash.h"

uint32_t grout_handover__new(grout_machine *machine) {
    return machine->has_clocks ? grout_machine__take_set(machine) : 0;
}

uint32_t grout_handover__capture(const grout_cta *cta, uint32_t actor) {
    grout_machine *machine = cta->machine;
    uint32_t set = grout_handover__new(machine);
    if (set != 0) {
        grout_cta__release(cta, actor, grout_machine__set(machine, set), GROUT_EDGE_STRONG);
    }
    return set;
}

void grout_handover__join(grout_machine *machine, uint32_t into, uint32_t from, grout_edge edge) {
    if (into != 0 && from != 0) {
        grout_machine__carry(machine, grout_machine__set(machine, into),
                             grout_machine__set(machine, from), edge);
    }
}

void grout_handover__absorb(const grout_cta *cta, uint32_t actor, uint32_t from, uint32_t from_cta,
                            grout_edge edge) {
    grout_machine *machine = cta->machine;
    if (from != 0) {
        grout_cta__carry_from(cta, grout_cta__clocks(cta, actor), grout_machine__set(machine, from),
                              from_cta / grout_machine__cluster_size(machine), edge);
    }
}

void grout_handover__give(grout_machine *machine, uint32_t set) {
    GROUT_ASSERT(set == 0 || set < machine->pools[GROUT_POOL_SETS].count);
    if (set != 0) {
        grout_machine__give_set(machine, set);
    }
}

const uint32_t *grout_handover__get(const grout_machine *machine, uint32_t set) {
    return set == 0 ? NULL : grout_machine__set(machine, set);
}

uint64_t grout_handover__hash(const grout_machine *machine, uint32_t set, uint64_t hash) {
    const grout_order *order = &machine->plan->order;
    if (set == 0) {
        return hash;
    }
    uint32_t *clocks = grout_machine__set(machine, set);
    hash = grout_hash__bytes(hash, clocks, (order->words - 1) * sizeof *clocks);
    return hash + grout_foreign__hash(machine, *grout_order__get_foreign(order, clocks));
}
