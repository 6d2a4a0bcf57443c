/*
 * barrier.h - mbarriers: arrivals, bytes, phases, and the clocks that travel with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_BARRIER_H
#define GROUT_INTERP_BARRIER_H

#include "machine.h"

/* Hardware keeps 20 bits of bytes due (PTX ISA 9.1, 'Tx-count of mbarrier object'). */
#define GROUT_PHASE_BYTES_MAX ((1 << 20) - 1)

/* Arrivals of one op on one element, of the CTA of a rank. */
typedef struct grout_arrival {
    uint32_t rank, element;
    uint32_t count;
    bool by_copy;
    bool is_deferred;      /* made by an engine some time after the op */
    bool is_leaving;       /* later phases need that many fewer */
    bool is_later;         /* not the first of the op's simultaneous arrivals */
    int64_t bytes;         /* announced by it */
    int64_t flying;        /* of these, and of bytes announced by others, in flight from now on */
    uint8_t order, scope;  /* grout_choice; NONE: release, and a scope that covers both */
    uint32_t async_copies; /* cp.async groups of the actor that are done by then; 0: none */
    /* made by the tensor core, when this many MMAs of a lane of the cluster are done: it releases
     * what these did and what their issuer knew of engines */
    bool is_tensor;
    uint32_t lane, mmas;
} grout_arrival;

/* Bytes that an engine brings to a phase without an arrival of its issuer. */
typedef struct grout_delivery {
    uint32_t rank, element;
    uint32_t phase; /* that they are meant for: at the rank's barrier, counted over all lives */
    int64_t bytes;
    bool is_armed; /* they announce themselves */
    bool is_told;  /* they have an ARRIVE event of their own; false for what a copy brings to the
                    * barrier of its own CTA that it arrives on */
} grout_delivery;

/* A wait that returns. */
typedef struct grout_waiting {
    uint32_t element;
    uint32_t phase; /* UINT32_MAX: the one before the first */
    bool has_parity, is_other, is_test;
    bool has_landed; /* what was in flight has landed for it, and completed the phase */
    uint32_t real;   /* with is_other: the phase that the real parity means */
    uint8_t parity;
    uint8_t order, scope;
} grout_waiting;

/* ---- of one CTA -----------------------------------------------------------------------
 */

/* The phase that the next arrival belongs to. */
static inline uint32_t grout_barrier__get_phase(const grout_cta *cta, uint32_t element) {
    return grout_cta__barrier(cta, element)->full;
}
/* Begins a barrier that is all 0. */
static inline void grout_barrier__begin(grout_barrier *barrier, uint32_t needed) {
    barrier->needed = needed;
    barrier->is_live = needed > 0 ? 1 : 0;
}
/* All arrivals of the phase are in: its bytes alone may be missing. */
static inline bool grout_barrier__is_full(const grout_cta *cta, uint32_t element, uint32_t phase) {
    return grout_cta__barrier(cta, element)->full > phase;
}
/* Whether the phase and all before it lack nothing but what is in flight: the same under every
 * timing. */
bool grout_barrier__is_ready(const grout_cta *cta, uint32_t element, uint32_t phase);
/* Whether bytes that come now can be for a phase. */
typedef enum grout_bytes_room {
    GROUT_BYTES_ROOM_OPEN, /* its arrivals have yet to say */
    GROUT_BYTES_ROOM_SOME,
    GROUT_BYTES_ROOM_NONE /* it lacks nothing any more */
} grout_bytes_room;
grout_bytes_room grout_barrier__find_room(const grout_cta *cta, uint32_t element, uint32_t phase);
/* How many phases are ready in this way. */
uint32_t grout_barrier__count_ready(const grout_cta *cta, uint32_t element);

grout_barrier_fact grout_barrier__get_fact(const grout_cta *cta, uint32_t element);
/* The phase that the actor's next wait is for. A warp continues from its thread's phase, if that is
 * later; a thread from the latest phase of its warps (they should all be at the same one). */
uint32_t grout_barrier__get_next_wait(const grout_cta *cta, uint32_t thread, uint32_t element);
/* The actor has waited for a phase that is ready and has landed: event, then acquire. */
void grout_barrier__observe(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_waiting *waiting);
/* Bytes of a phase's record have landed (0: look whether it is complete). */
void grout_barrier__land(const grout_cta *cta, uint32_t element, uint32_t record, int64_t bytes);
/* A new life of the element: as its plan says, or of this many arrivals a phase (0: none, invalid).
 */
void grout_barrier__reset(const grout_cta *cta, uint32_t element);
void grout_barrier__init(const grout_cta *cta, uint32_t element, uint32_t needed);

/* ---- of any CTA of the cluster -----------------------------------------------------------------
 */

/* An actor arrives. Returns the record of the phase (valid until it completes), 0 without memory
 * or on an mbarrier that is not initialised. */
uint32_t grout_barrier__arrive(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               const grout_arrival *arrival);
/* The same on the element of each rank in mask, at once: by rank, GROUT_CLUSTER_MAX records. */
void grout_barrier__arrive_all(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               const grout_arrival *arrival, uint32_t mask, uint32_t *records);
/* Bytes are in flight to a phase. Returns its record, in the pool of the machine. */
uint32_t grout_barrier__deliver(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_delivery *delivery);
/* The first phase of the element of a rank, over all its lives, that the actor does not know to be
 * complete: where bytes that it sends go, if no other contribution of its own says more. */
uint32_t grout_barrier__find_unknown(const grout_cta *cta, uint32_t thread, uint32_t rank,
                                     uint32_t element);
/* The CTAs whose barriers count for those of some ranks: themselves, or of pairs those that lead.
 */
uint32_t grout_barrier__get_owners(const grout_cta *cta, uint32_t element, uint32_t ranks);
static inline bool grout_barrier__is_of_pair(const grout_cta *cta, uint32_t element) {
    const grout_element_plan *plan = &cta->machine->plan->elements[element];
    return plan->is_explicit && plan->is_leader_tracked;
}
/* The ranks for whose elements an arrive on the element of its own CTA counts. */
uint32_t grout_barrier__get_targets(const grout_cta *cta, uint32_t element);

/* element.c: the barrier element of a barrier operand; false, and a fault, if its index lies
 * outside.
 */
bool grout_barrier__find_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                 uint32_t box_index, uint32_t *element_out);
/* The same of a reference that may name another CTA's barrier, and the rank of that CTA. */
bool grout_barrier__find_peer_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                      uint32_t box_index, uint32_t *element_out,
                                      uint32_t *rank_out);

/* phase.c: barriers, their phases, and what their waits have learnt. */
uint64_t grout_barrier__hash(const grout_cta *cta, uint64_t hash);

#endif
