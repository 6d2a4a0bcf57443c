/*
 * async_copy.h - cp.async: copies of one actor, in groups that it waits for, or that arrive on a
 * barrier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ASYNC_COPY_H
#define GROUT_INTERP_ASYNC_COPY_H

#include "memory.h"

void grout_async_copy__begin(grout_machine *machine);
/* A copy, in full: faults, events, effects if they are due. */
void grout_async_copy__issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* The same by indices or with a mask. */
void grout_async_copy__issue_picks(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* Closes the actor's open group. */
void grout_async_copy__commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* At most this many of its newest closed groups are in flight. */
void grout_async_copy__wait(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                            uint32_t allowed);
/* One arrival on a barrier element, made when all its copies so far are done. */
void grout_async_copy__arrive(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                              uint32_t element);
void grout_async_copy__end_cta(grout_machine *machine, uint32_t cta);
uint64_t grout_async_copy__hash(const grout_machine *machine, uint64_t hash);

#endif
