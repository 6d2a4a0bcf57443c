/*
 * access.h - accesses against the shadow: conflicts, memory that goes away, and what came closest
 * to ordering the two sides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_ACCESS_H
#define GROUT_RACE_CHECKER_ACCESS_H

#include "checker.h"

/* ---- conflicts.c ---- */

bool grout_checker__access(grout_checker *checker, const grout_event *event);

/* ---- columns.c ---- */

/* The access of a CTA's tensor memory against what its pair did to arrays of other scopes. plane:
 * of the array that is looked at, for who reports. */
bool grout_checker__compare_columns(grout_checker *checker, const grout_access *access,
                                    grout_rules *rules, grout_cta_state *owner, uint32_t *plane);

/* ---- grids.c ---- */

/* The access against what earlier launches, which may still run, do to the same bytes. */
bool grout_checker__compare_grids(grout_checker *checker, const grout_event *event);

/* ---- lifetime.c ---- */

bool grout_checker__scope_begin(grout_checker *checker, const grout_event *event);
bool grout_checker__scope_end(grout_checker *checker, const grout_event *event);
/* A peer's access to SMEM of a CTA that can have ended, or has. */
bool grout_checker__report_exit(grout_checker *checker, const grout_event *event,
                                const grout_side *side);

/* ---- near.c ---- */

/* The synchronisation that comes closest to ordering the two sides of an access conflict. */
grout_near grout_near__find(const grout_checker *checker, grout_diag_code code,
                            const grout_facts *facts, const grout_clocks *clocks);
/* The same for a copy that is in flight when its memory, or its barrier, goes away. */
grout_near grout_near__find_at_exit(grout_checker *checker, const grout_event *event,
                                    const grout_side *copy);
/* Whether the actor knows s of the issuer up to a full wait for the copy's group, but not g. */
bool grout_checker__is_write_lost(const grout_checker *checker, const grout_entry *copy,
                                  const grout_clocks *clocks);

/* ---- own_fences.c ---- */

/* Remembers a commit of SMEM or GMEM, if anybody will ask. */
bool grout_checker__note_fence(grout_checker *checker, const grout_event *event);
/* Whether the actor of a recorded plain access has run a fence for these bytes itself, after its
 * access number 'number' and before what the later actor knows of it. */
bool grout_checker__is_fenced_by_own(const grout_checker *checker, const grout_rules *rules,
                                     const grout_entry *access, uint32_t number);

/* ---- wgmma.c ---- */

/* Fills wgmma_shapes. False without memory. */
bool grout_checker__find_shapes(grout_checker *checker);
/* A finding about a wgmma: a thread that waits as it says has waited for all groups up to this one.
 */
void grout_checker__note_reported(grout_checker *checker, const grout_facts *facts);
/* The arrive, signal or wait that carries no memory from the earlier access to the later one, or
 * not as far as it has to (weak_edge.c). */
grout_near grout_near__find_weak_edge(const grout_checker *checker, const grout_side *later,
                                      const grout_side *earlier);
/* Primary: the access to what a wgmma still uses; related: the wgmma. */
grout_near grout_near__find_wgmma(const grout_checker *checker, const grout_facts *facts,
                                  const grout_clocks *clocks);
grout_near grout_near__find_wgmma_at_exit(const grout_checker *checker, const grout_side *wgmma);

#endif
