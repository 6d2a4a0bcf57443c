/*
 * sync_state.h - what the rules of barriers and semaphores remember.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Plain data without pointers into anything but itself, so that a snapshot copies it. Actors are
 * counted in a CTA (local: its threads, then their warps) where only the CTA's own can be meant,
 * else in the cluster. A record begins with origins, which count by their ops (HASH_RECORD in
 * sync_state.c).
 */
#ifndef GROUT_RACE_CHECKER_SYNC_STATE_H
#define GROUT_RACE_CHECKER_SYNC_STATE_H

#include "invariant.h"
#include "lists.h"
#include "state.h"

#include "grout-internal/events.h"

/* ---- barriers ---- */

GROUT_NO_PADDING_BEGIN

/* A phase of a barrier element, until its pair (this phase, the next) is settled. How far its
 * contributions know each actor of the CTA (x) stands beside it: grout_element__get_known. */
typedef struct grout_phase_state {
    grout_origin contribution; /* the last in the source */
    grout_origin arrival;      /* the last in the source that is not of bytes alone */
    grout_origin early;        /* the last in the source that did not know the phase before; op 0 */
    grout_origin wait;         /* the first in the source */
    grout_origin missed;       /* the first wait that the next phase's completion did not know */
    /* facts, from here on */
    uint32_t arrived;
    bool has_all; /* arrivals */
    bool has_wait;
    uint8_t reserved[2];
    GROUT_STATE_END
} grout_phase_state;

/* A contribution to point at when a wait comes for a phase that is not kept any more. */
typedef struct grout_dropped_phase {
    grout_origin contribution;
    /* facts, from here on */
    uint32_t phase; /* this one and those after it, up to the next entry */
    GROUT_STATE_END
} grout_dropped_phase;

/* The latest contribution of an actor of the cluster: a clock that knows it knows the earlier ones.
 */
typedef struct grout_contributor {
    grout_origin origin;
    bool arms;   /* bytes that announce themselves: an arrival of the phase has to know of them */
    bool is_met; /* one does */
    bool reserved[2];
    /* facts, from here on */
    uint32_t actor;
    uint32_t epoch; /* x; a clock that is at least as far knows it */
    uint32_t phase; /* plus the base: component phase */
    /* bytes, or an arrival that the engine makes: known by its phase only */
    bool is_of_engine;
    bool is_later; /* an engine makes it some time after its actor's op: a commit */
    bool reserved_facts[2];
    uint32_t mmas; /* a commit: its number in the queue of its lane */
    GROUT_STATE_END
} grout_contributor;

/* One of the newest arrivals, for a deadlock's words. op 0: none. */
typedef struct grout_arrival_note {
    grout_origin origin;
    uint32_t phase, count;
    GROUT_NOTE_END
} grout_arrival_note;

enum { GROUT_ARRIVAL_NOTES = 8 };

/* What two states of an element must agree in to be equal. */
typedef struct grout_element_facts {
    uint64_t skipped;     /* bit: local actor that began to wait too late */
    uint32_t first;       /* phase that is kept */
    uint32_t full;        /* phases whose contributions are all in, held against the waits */
    uint32_t last_load;   /* number (component phase) of its latest load; 0: none in this life */
    uint32_t init_epoch;  /* of init */
    uint32_t has_overrun; /* 1: a phase of it was found to complete too early */
    uint32_t reserved;
    GROUT_STATE_END
} grout_element_facts;

typedef struct grout_element_state {
    grout_phase_state *phases;    /* phase first + i stands at head + i, below end */
    uint32_t *known;              /* of the phase at place i, from i * local actors on */
    grout_dropped_phase *dropped; /* phases up to first that a thread may still come to wait for */
    grout_contributor *contributors; /* of peers; of an mbarrier all */
    uint32_t head, end, capacity;
    uint32_t known_count, known_capacity;
    uint32_t dropped_count, dropped_capacity;
    uint32_t contributor_count, contributor_capacity;
    uint32_t phase_base; /* as in grout_barrier_fact */
    /* of an mbarrier: the first wait on the phase before the first that phase 0 does not know */
    grout_origin fresh_missed;
    /* an mbarrier's init; op 0: none */
    grout_origin init;
    uint32_t init_actor;
    grout_origin ended; /* the invalidate of the life before; op 0: none */
    uint32_t ended_actor, ended_epoch;
    uint32_t note_count;
    uint32_t reserved;
    grout_arrival_note notes[GROUT_ARRIVAL_NOTES]; /* number i stands at i % NOTES */
    /* hashed, from here on */
    grout_element_facts facts;
    GROUT_STATE_END
} grout_element_state;

GROUT_NO_PADDING_END

/* Phases that are kept. */
static inline uint32_t grout_element__count(const grout_element_state *element) {
    GROUT_ASSERT(element->head <= element->end && element->end <= element->capacity);
    return element->end - element->head;
}
static inline grout_phase_state *grout_element__at(const grout_element_state *element,
                                                   uint32_t index) {
    GROUT_ASSERT(index < grout_element__count(element));
    return &element->phases[element->head + index];
}
static inline uint32_t *grout_element__get_known(const grout_element_state *element,
                                                 uint32_t local_actors, uint32_t index) {
    GROUT_ASSERT(index < grout_element__count(element));
    GROUT_ASSERT(element->known_count == element->end * local_actors);
    return &element->known[(size_t)(element->head + index) * local_actors];
}
void grout_element__deinit(grout_element_state *element);
/* A new CTA in its slot: all but the memory is forgotten. */
void grout_element__begin(grout_element_state *element);
/* A new life of an element: what counts over all lives stays. */
void grout_element__renew(grout_element_state *element);
/* False without memory. */
bool grout_element__copy(const grout_allocator *allocator, grout_element_state *copy,
                         const grout_element_state *element);
uint64_t grout_element__hash(const grout_element_state *element, uint32_t local_actors);

/* ---- what else a CTA has ---- */

/* How often an actor has executed a synchronising op, for a deadlock's words. */
typedef struct grout_visit {
    grout_origin last; /* op 0: never */
    uint32_t count;
    uint64_t step; /* of the last: an op that arrives on several elements counts once */
    bool has_gap;
    int32_t gap; /* of the innermost loop: the first index that it left out */
    GROUT_NOTE_END
} grout_visit;

/* ---- semaphores ---- */

GROUT_NO_PADDING_BEGIN

/* The latest execution of an op that waits on a semaphore, by an actor of the launch. */
typedef struct grout_unit_wait {
    grout_origin origin;
    uint32_t serial;       /* of the only signal that it took units of; UINT32_MAX: of several */
    uint32_t before_epoch; /* of the op's last wait that took another's; 0: there was none */
    uint32_t end;          /* it took units of signals below, by serial, or looked at them */
    /* facts, from here on */
    uint32_t cluster, actor, epoch;
    bool no_decrement;
    bool reserved[3];
    GROUT_STATE_END
} grout_unit_wait;

/* A signal. Among those whose units waits have taken, only the newest of each actor is kept. */
typedef struct grout_unit_signal {
    grout_origin origin;
    uint32_t serial;
    uint32_t oldest; /* serial of the oldest signal of its actor that it replaces, or its own */
    /* facts, from here on */
    uint32_t cluster, actor, epoch;
    uint32_t
        unknown; /* of the oldest one that it did not happen after; UINT32_MAX: there is none */
    GROUT_STATE_END
} grout_unit_signal;

typedef struct grout_semaphore_state {
    grout_unit_wait *waits;
    grout_unit_signal *signals;
    uint32_t wait_count, wait_capacity;
    uint32_t signal_count, signal_capacity;
    uint32_t taken; /* signals that waits have taken units of: serials below */
    uint32_t first; /* 1 + index of the first semaphore of the bucket with this number; 0: none */
    uint32_t next;  /* the same of the next one of its own bucket */
    /* facts, from here on */
    grout_object_id object;
    uint32_t index, cta;
    GROUT_STATE_END
} grout_semaphore_state;

/* ---- the launch ---- */

typedef struct grout_protocol {
    grout_semaphore_state *semaphores;
    uint32_t semaphore_count, semaphore_capacity;
    /* a decrease of registers that comes after an increase, or may; op 0: none */
    grout_origin held_up;
    grout_origin competing; /* a wait on a semaphore that is in no order with another; op 0: none */
    GROUT_STATE_END
} grout_protocol;

GROUT_NO_PADDING_END

void grout_protocol__deinit(grout_protocol *protocol);
bool grout_protocol__copy(const grout_allocator *allocator, grout_protocol *copy,
                          const grout_protocol *protocol);
uint64_t grout_protocol__hash(const grout_protocol *protocol);

#endif
