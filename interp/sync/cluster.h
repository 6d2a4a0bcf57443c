/*
 * cluster.h - what the CTAs of a cluster do together: its hardware barrier, and copies that several
 * CTAs have to issue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_CLUSTER_H
#define GROUT_INTERP_CLUSTER_H

#include "machine.h"
#include "memory.h"

/* How a thread comes to the hardware barrier. */
typedef struct grout_meeting {
    bool is_relaxed;
    bool is_for_all; /* for all threads of its CTA: outside the bodies of a warp_specialize */
} grout_meeting;

/*
 * The hardware barrier (cluster_barrier.c), which takes every thread of every CTA. A thread
 * arrives; where it has not waited since its last arrive, that one counts alone. A thread that
 * exits counts as arrived for good.
 */
void grout_cluster__arrive(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           grout_meeting meeting);
void grout_cluster__leave(const grout_cta *cta, uint32_t thread, bool is_for_all);
/* Whether the thread's wait can return. If so it has waited; if not it is blocked. */
bool grout_cluster__wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         grout_meeting meeting);
/* Whether a wait is owed: the thread, or one that it comes for, has arrived and not waited. */
bool grout_cluster__owes_wait(const grout_cta *cta, uint32_t thread, bool is_for_all);

/* A copy that all of the ranks in mask have to issue, as one CTA issues it. */
typedef struct grout_collective_issue {
    uint32_t element;
    uint32_t phase; /* of its own barrier, over all lives */
    uint32_t mask;
    const grout_box *boxes; /* whole: source and destination; of launch control the answer, twice */
} grout_collective_issue;

/* collective.c: copies that the CTA has issued for an element and that count on the barrier of the
 * CTA which leads; one more from now on. */
uint32_t grout_cluster__count_led(const grout_cta *cta, const grout_inst *inst, uint32_t element);
/* A CTA issues one. Returns the number of its phase, among those with such copies. */
uint32_t grout_cluster__note_collective(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst,
                                        const grout_collective_issue *issue);
/* Where its bytes count in the peers: phases holds, by rank, the first that the actor does not know
 * to be complete. */
void grout_cluster__find_phases(const grout_cta *cta, const grout_inst *inst,
                                const grout_collective_issue *issue, uint32_t number,
                                uint32_t *phases);
/* Reports copies that the CTA would have had to issue too. */
void grout_cluster__check_collectives(const grout_cta *cta);
/* Nobody can go on: reports copies of the clusters that wait for each other. */
void grout_cluster__check_crossed(grout_machine *machine);
/* Adds a grout_copy_fact for each that a CTA of the cluster has not issued, but what is reported,
 * to machine->scratch[GROUT_SCRATCH_COPY_FACTS]; false without memory. */
bool grout_cluster__add_copy_facts(const grout_cta *cta);
/* A thread waits for its cluster to end. When all threads of the CTA do, it issues nothing more. */
void grout_cluster__note_leaving(const grout_cta *cta);
/* The cluster of a CTA, once: with its first CTA. */
uint64_t grout_cluster__hash(const grout_cta *cta, uint64_t hash);

#endif
