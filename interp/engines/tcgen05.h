/*
 * tcgen05.h - the tensor core of Blackwell and tensor memory: MMAs of a lane in the order of their
 * issue, arrivals that wait for them, loads and stores of a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_TCGEN05_H
#define GROUT_INTERP_TCGEN05_H

#include "memory.h"

/* Whether the CTA may issue an op that is for both CTAs of a pair; if not, it is a finding. */
bool grout_tcgen05__check_leader(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* An MMA: faults, events, definedness, its effect if it is due. */
void grout_tcgen05__issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* One arrival on an element of each CTA of some ranks, when all MMAs of the actor's lane so far are
 * done. */
void grout_tcgen05__commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           uint32_t element, uint32_t ranks);

/* A load of tensor memory into the result; the memory is in use until the wait. */
void grout_tmem__load(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
void grout_tmem__wait_loads(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* A store, done at the wait. */
void grout_tmem__store(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
void grout_tmem__wait_stores(const grout_cta *cta, uint32_t thread, const grout_inst *inst);

#endif
