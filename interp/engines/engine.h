/*
 * engine.h - what each engine does (engines.def), and what all of them share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Timing. Eager: an operation takes effect at its issue; no flight is made. Lazy: it does when an
 * actor waits for it, at the end of its scope or CTA, or to make room. Random: at a scheduling
 * point drawn from the seed, but never later than lazy.
 */
#ifndef GROUT_INTERP_ENGINE_H
#define GROUT_INTERP_ENGINE_H

#include "flight.h"
#include "memory.h"

/* All accesses of a flight that is not over, and what it has of the CTA's slots given back. May
 * finish other flights first; its own record stays, and so do the phases. */
typedef void grout_engine_land(const grout_cta *cta, uint32_t index);
/* Reads the source alone, into a slot. */
typedef void grout_engine_read(const grout_cta *cta, uint32_t index);
/* The clock components that say when its reads and its writes are over. */
typedef void grout_engine_stamps(const grout_cta *cta, const grout_flight *flight,
                                 grout_stamp *read_out, grout_stamp *write_out);
/* Bytes that the instruction moves, as its events say. */
typedef int64_t grout_engine_bytes(const grout_machine *machine, const grout_inst *inst);

#define GROUT_ENGINE(NAME, text, QUEUE, STAGES, ORDER, DOC) \
    grout_engine_land grout_engine__land_##text;            \
    grout_engine_read grout_engine__read_##text;            \
    grout_engine_stamps grout_engine__stamps_##text;        \
    grout_engine_bytes grout_engine__bytes_##text;
#include "grout-internal/engines.def"

typedef enum grout_queue_owner {
    GROUT_QUEUE_NONE,
    GROUT_QUEUE_ACTOR,
    GROUT_QUEUE_LANE
} grout_queue_owner;

typedef struct grout_engine_info {
    const char *text;
    grout_queue_owner queue;
    bool is_in_order;
    grout_engine_land *land;
    grout_engine_read *read; /* NULL: with one stage */
    grout_engine_stamps *stamps;
    grout_engine_bytes *bytes;
} grout_engine_info;

/* engine_table.c of exec/, which is above the engines: by grout_engine. */
extern const grout_engine_info grout_engines[];
static inline const grout_engine_info *grout_engine__get_info(const grout_machine *machine,
                                                              uint32_t engine) {
    GROUT_ASSERT(engine < GROUT_ENGINES);
    return &machine->engines[engine];
}

/* ---- making flights -------------------------------------------------------------------------- */

/* The description of a flight of an actor's current op, without its boxes and its end. It serves
 * grout_flight__publish_complete too, where the op takes effect at once. */
grout_flight grout_flight__describe(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                    grout_engine engine);
/* A flight in the list of the CTA of a rank; its issue has been published. 0 without memory. */
uint32_t grout_flight__add(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           grout_engine engine, uint32_t rank);
/* It is due at a phase of the CTA, of a record: it takes effect before that completes. */
void grout_flight__attach(const grout_cta *cta, uint32_t element, uint32_t record, uint32_t index);
/* It is in a group of an owner (by the engine's QUEUE, in the CTA that issued it). */
void grout_flight__enqueue(const grout_cta *cta, uint32_t owner, uint32_t group, uint32_t index);
grout_queue *grout_flight__queue(const grout_cta *cta, uint32_t engine, uint32_t owner);

/* Publishes an ISSUE, and counts it. */
void grout_flight__publish_issue(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                 const grout_issue *issue);
/* Publishes its end, if an observer wants it. */
void grout_flight__publish_complete(const grout_cta *cta, const grout_flight *flight);

/* ---- ending them ----------------------------------------------------------------------------- */

/* A flight takes effect, and is over; its bytes come to their phase, which stays open, and its
 * record stays in its queue. */
void grout_flight__land(const grout_cta *cta, uint32_t index);
/* The same with all that follows: the phase may complete, the queue forgets it. With an engine that
 * works in order, those before it too. */
void grout_flight__finish(const grout_cta *cta, uint32_t index);
/* Those of a queue's groups up to last; or, of an engine with two stages, only their reads. */
void grout_flight__finish_groups(const grout_cta *cta, grout_engine engine, uint32_t owner,
                                 uint32_t last);
void grout_flight__read_groups(const grout_cta *cta, grout_engine engine, uint32_t owner,
                               uint32_t last);
/* The bytes of a full phase of an element, and of all phases before, land. Whether that has
 * completed one. */
bool grout_flight__land_phases(const grout_cta *cta, uint32_t element, uint32_t phase);
/* All of the CTA; those that touch the scope's objects or barriers, as it ends in a thread, or if
 * it is collective in all. */
void grout_flight__finish_all(const grout_cta *cta);
/* What the CTAs of the cluster have in flight that brings bytes or arrivals to barriers of this
 * one. */
void grout_flight__finish_deliveries_to(const grout_cta *cta);
void grout_flight__finish_scope(const grout_cta *cta, const grout_scope_plan *scope,
                                uint32_t thread);
/* A scheduling point: in random timing some of the cluster's take effect. */
void grout_flight__step_due(const grout_cta *cta);
static inline void grout_flight__pass_point(const grout_cta *cta) {
    cta->machine->run.engine.points++;
    if (cta->machine->launch.timing == GROUT_TIMING_RANDOM) {
        grout_flight__step_due(cta);
    }
}

#endif
