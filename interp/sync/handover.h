/*
 * handover.h - clock sets that an actor leaves for others to find: by a signal, by an arrival on a
 * named barrier, by an atomic. Each is a record of machine->pools[GROUT_POOL_SETS]; 0 is none, as
 * in a launch without clocks, and every function takes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_HANDOVER_H
#define GROUT_INTERP_HANDOVER_H

#include "machine.h"

/* An empty one. */
uint32_t grout_handover__new(grout_machine *machine);
/* All that an actor knows; its epoch advances. */
uint32_t grout_handover__capture(const grout_cta *cta, uint32_t actor);
/* One joins what an edge carries of another one of the same cluster. */
void grout_handover__join(grout_machine *machine, uint32_t into, uint32_t from, grout_edge edge);
/* The actor learns what an edge carries of one that from_cta (of the launch) has left. */
void grout_handover__absorb(const grout_cta *cta, uint32_t actor, uint32_t from, uint32_t from_cta,
                            grout_edge edge);
void grout_handover__give(grout_machine *machine, uint32_t set);
/* NULL for none. */
const uint32_t *grout_handover__get(const grout_machine *machine, uint32_t set);
uint64_t grout_handover__hash(const grout_machine *machine, uint32_t set, uint64_t hash);

#endif
