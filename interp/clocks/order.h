/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * order.h - the clock engine: what each actor knows of the others (docs/memory_model.md).
 *
 * An actor has a clock set, an arrive leaves one and a wait joins one. Its parts are V (known), PG
 * (published to engines on GMEM), PS (the same for SMEM: one clock, or one for each CTA of the
 * cluster), FG (for each CTA, what its own threads have published on GMEM; only where it can differ
 * from PG), U (what of tensor memory an edge has admitted, and what of that can be seen: it stays
 * with its actor), and a word that names what is known of other clusters (foreign.c), which nothing
 * here looks at. Actors are numbered over the cluster (grout_clock_actor).
 *
 * In every clock, s is nowhere below g: whatever carries g carries s with it.
 */
#ifndef GROUT_INTERP_ORDER_H
#define GROUT_INTERP_ORDER_H

#include "grout-internal/observe.h"

/* How the clock sets of a kernel lie. */
typedef struct grout_order {
    grout_clock_shape shape;
    uint32_t owners;        /* clocks of PS: 1, or cta_count */
    uint32_t fencers;       /* clocks of FG: 0, or cta_count */
    uint32_t size;          /* counters of a clock */
    uint32_t time_size;     /* of these, the ones before what engines have done and can be seen */
    uint32_t engine_size;   /* the ones before g */
    uint32_t words;         /* of a clock set, including U and the foreign word, its last */
    uint32_t tensor_size;   /* counters of what is sealed; 0 in a kernel without tensor memory */
    uint32_t admitted_size; /* of U: those, and in a cluster of several CTAs once more */
} grout_order;

/* What an edge carries. */
typedef enum grout_edge {
    GROUT_EDGE_STRONG, /* all: release and acquire, scopes that cover both sides */
    GROUT_EDGE_ABROAD, /* the same between clusters: FG stays, it is about the CTAs of one */
    GROUT_EDGE_WEAK,   /* within a CTA: engine facts, and in s what got lost */
    GROUT_EDGE_NARROW, /* between CTAs: the same, but for what engines have done that can be seen */
    /* completion of an engine, in the CTA that issued it: engine facts that its issuer had then */
    GROUT_EDGE_ENGINE,
    GROUT_EDGE_ENGINE_AWAY /* in another CTA: the same, but for what can be seen */
} grout_edge;

/* An edge that carries no memory, and the completion of an engine: within a CTA, or from one to
 * another. */
static inline grout_edge grout_edge__get_weak(bool is_same_cta) {
    return is_same_cta ? GROUT_EDGE_WEAK : GROUT_EDGE_NARROW;
}
static inline grout_edge grout_edge__get_engine(bool is_same_cta) {
    return is_same_cta ? GROUT_EDGE_ENGINE : GROUT_EDGE_ENGINE_AWAY;
}

/* owners and fencers: see grout_order. */
void grout_order__init(grout_order *order, const grout_clock_shape *shape, uint32_t owners,
                       uint32_t fencers);

/* ---- parts of a clock set; V is its beginning ------------------------------------------------ */

static inline uint32_t *grout_order__get_gmem(const grout_order *order, uint32_t *set) {
    return set + order->size;
}
/* PS of the SMEM of a CTA. */
static inline uint32_t *grout_order__get_smem(const grout_order *order, uint32_t *set,
                                              uint32_t rank) {
    return set + (size_t)(2 + (order->owners > 1 ? rank : 0)) * order->size;
}
/* FG of a CTA; PG where there is none. */
static inline uint32_t *grout_order__get_fenced(const grout_order *order, uint32_t *set,
                                                uint32_t rank) {
    return set + (size_t)(order->fencers > 0 ? 2 + order->owners + rank : 1) * order->size;
}
/* The counters of a set that an edge carries lie in [first, end). */
static inline uint32_t grout_order__get_first(const grout_order *order, grout_edge edge) {
    return edge >= GROUT_EDGE_ENGINE ? grout_clock_epoch(&order->shape, 0) : 0;
}
static inline uint32_t grout_order__get_end(const grout_order *order, grout_edge edge) {
    if (edge == GROUT_EDGE_STRONG) {
        return order->words - 1 - order->admitted_size;
    }
    if (edge == GROUT_EDGE_ABROAD) {
        return (2 + order->owners) * order->size;
    }
    return edge == GROUT_EDGE_WEAK || edge == GROUT_EDGE_ENGINE ? order->engine_size
                                                                : order->time_size;
}
static inline uint32_t *grout_order__get_foreign(const grout_order *order, uint32_t *set) {
    return set + order->words - 1;
}

/* U. */
static inline uint32_t *grout_order__get_admitted(const grout_order *order, uint32_t *set) {
    return set + order->words - 1 - order->admitted_size;
}

/* ---- joins ----------------------------------------------------------------------------------- */

/* into becomes the componentwise maximum of both; any number of counters. */
void grout_order__join(uint32_t *into, const uint32_t *from, uint32_t count);
/* One component. */
static inline void grout_order__raise(uint32_t *counter, uint32_t value) {
    *counter = *counter < value ? value : *counter;
}
/* What a component of bulk_read to sealed counts is over up to a number, and can be seen. */
static inline void grout_order__complete(const grout_order *order, uint32_t *set,
                                         uint32_t component, uint32_t number) {
    grout_order__raise(&set[component], number);
    grout_order__raise(&set[grout_clock_seen(&order->shape, component)], number);
}
/* A set joins what an edge of this kind carries of another. Both ends of an edge are such joins:
 * the release into a snapshot and the acquire from it; the weaker of the two decides. */
void grout_order__carry(const grout_order *order, uint32_t *into, const uint32_t *from,
                        grout_edge edge);

/* ---- what ops do ----------------------------------------------------------------------------- */

/* The clock set of an actor at its start. */
void grout_order__begin(const grout_order *order, uint32_t *set, uint32_t actor);
/* The actor's epoch advances (s, x and g): after every op that copies its clock. */
void grout_order__advance(const grout_order *order, uint32_t *set, uint32_t actor);
/* Leaves what the edge carries of the actor's clock set in a snapshot; its epoch advances. */
static inline void grout_order__release(const grout_order *order, uint32_t *set, uint32_t actor,
                                        uint32_t *snapshot, grout_edge edge) {
    grout_order__carry(order, snapshot, set, edge);
    grout_order__advance(order, set, actor);
}
/* The actor learns what the edge carries of a snapshot. */
static inline void grout_order__acquire(const grout_order *order, uint32_t *set,
                                        const uint32_t *snapshot, grout_edge edge) {
    grout_order__carry(order, set, snapshot, edge);
}
/*
 * commit_smem by an actor of a CTA: all it knows is published to the engines, for the SMEM of its
 * own CTA or, with is_cluster, of all CTAs; its epoch advances.
 */
void grout_order__commit_smem(const grout_order *order, uint32_t *set, uint32_t actor,
                              uint32_t rank, bool is_cluster);
/* commit_gmem by an actor of a CTA. */
void grout_order__commit_gmem(const grout_order *order, uint32_t *set, uint32_t actor,
                              uint32_t rank);
/* An edge that orders the tensor core, on its way out: what the actor may rely on in tensor memory
 * is sealed. And on its way in: what was sealed is admitted. What of it can be seen stays apart. */
void grout_order__seal(const grout_order *order, uint32_t *set);
void grout_order__admit(const grout_order *order, uint32_t *set);
/* What an actor may rely on in tensor memory is sealed in a snapshot: the first fence of a commit,
 * which leaves the actor itself as it is. */
void grout_order__seal_in(const grout_order *order, uint32_t *snapshot, const uint32_t *admitted);
/* What a component of tcgen05, tmem_load or tmem_store counts is over up to a number: the actor may
 * rely on it, and sees it. */
void grout_order__rely(const grout_order *order, uint32_t *set, uint32_t component,
                       uint32_t number);
/* A child begins (again) with what its parent knows; both epochs advance. */
void grout_order__fork(const grout_order *order, uint32_t *parent, uint32_t parent_actor,
                       uint32_t *child, uint32_t child_actor);
/* A child has ended: its parent learns all it knows. */
static inline void grout_order__rejoin(const grout_order *order, uint32_t *parent,
                                       const uint32_t *child) {
    grout_order__carry(order, parent, child, GROUT_EDGE_STRONG);
}
/* count actors from first_actor on learn all that any of them knows, and every epoch advances.
 * Their sets follow each other. scratch has room for a set. Foreign words stay as they are. */
void grout_order__meet(const grout_order *order, uint32_t *sets, uint32_t first_actor,
                       uint32_t count, uint32_t *scratch);
/* True if the x components of one clock are nowhere above the other's: what it covers is known. */
bool grout_order__is_known(const grout_order *order, const uint32_t *clock, const uint32_t *known);

/* Whether a scope (GROUT_CHOICE_SCOPE_*) of an actor of one CTA covers those of another. */
static inline bool grout_order__covers(uint32_t scope, uint32_t cta, uint32_t other,
                                       uint32_t cluster_size) {
    return scope >= GROUT_CHOICE_SCOPE_GPU || cta == other ||
           (scope == GROUT_CHOICE_SCOPE_CLUSTER && cta / cluster_size == other / cluster_size);
}

#endif
