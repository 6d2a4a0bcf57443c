/*
 * named.h - the CTA's named barriers: arrivals, counted in their order into generations, each with
 * the clocks of the actors that arrived.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_NAMED_H
#define GROUT_INTERP_NAMED_H

#include "machine.h"

void grout_named__begin(grout_machine *machine);
/* The named barrier that an op is about, and how many it takes. */
typedef struct grout_named_use {
    uint32_t id;
    uint32_t count; /* as written: threads, or lanes */
    uint32_t lanes;
    bool counts_lanes;
} grout_named_use;

/* An actor arrives on a named barrier: the generation it belongs to. */
uint32_t grout_named__arrive(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                             const grout_named_use *use, bool is_sync);
/* Whether all arrivals of a generation are in. */
bool grout_named__is_full(const grout_cta *cta, uint32_t id, uint32_t number);
/* A sync returns: it acquires its own generation. */
void grout_named__leave(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                        const grout_named_use *use, uint32_t number);
void grout_named__end_cta(grout_machine *machine, uint32_t cta);
uint64_t grout_named__hash(const grout_machine *machine, uint64_t hash);

#endif
