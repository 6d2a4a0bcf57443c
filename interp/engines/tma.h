/*
 * tma.h - the engines: issue of async copies, and when they and wgmmas (wgmma.h) take effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_TMA_H
#define GROUT_INTERP_TMA_H

#include "machine.h"

/* The two copies, in full: faults, events, arrival or bulk group, effects if they are due. A load
 * is false if its actor is blocked, see grout_mbarrier__awaits_init. */
bool grout_tma__issue_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
void grout_tma__issue_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* Closes the thread's open bulk group. */
void grout_tma__commit_group(const grout_cta *cta, uint32_t thread, const grout_inst *inst);

/* The bytes of a full phase of an element, and of all phases before, land. */
void grout_tma__land_phases(const grout_cta *cta, uint32_t element, uint32_t phase);
/* A lane's stores of groups up to last have read their sources, and (unless read_only) written.
 */
void grout_tma__finish_groups(const grout_cta *cta, uint32_t lane, uint32_t last, bool read_only);
/* All copies and wgmmas in flight take effect; those that touch the scope's objects or barriers. */
void grout_tma__finish_all(const grout_cta *cta);
/* The scope ends in a thread, or if it is collective in all. */
void grout_tma__finish_scope(const grout_cta *cta, const grout_scope_plan *scope, uint32_t thread);
/* A scheduling point: in random timing some copies take effect. */
void grout_tma__pass_point(const grout_cta *cta);

#endif
