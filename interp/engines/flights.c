/*
 * flights.c - flights from their issue to their end, whatever their engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "engine.h"
#include "pair.h"

#include <string.h>

#define DELAY_MAX 32 /* scheduling points, in random timing */

/* ---- issue ----------------------------------------------------------------------------------- */

grout_flight grout_flight__describe(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                    grout_engine engine) {
    return (grout_flight){.pc = (uint32_t)(inst - grout_plan__inst(cta->machine->plan, 0)),
                          .engine = (uint8_t)engine,
                          .actor = actor,
                          .home = cta->rank,
                          .serial = grout_cta__head(cta)->async_serial - 1,
                          .origin = grout_cta__origin(cta, actor, inst)};
}

static void draw_delays(grout_machine *machine, grout_flight *flight) {
    if (machine->launch.timing == GROUT_TIMING_RANDOM) {
        flight->read_due = machine->run.engine.points +
                           grout_machine__draw(machine, GROUT_DRAW_ENGINE) % DELAY_MAX;
        flight->write_due =
            flight->read_due + grout_machine__draw(machine, GROUT_DRAW_ENGINE) % DELAY_MAX;
    }
}

uint32_t grout_flight__add(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           grout_engine engine, uint32_t rank) {
    grout_machine *machine = cta->machine;
    uint32_t index = grout_pool__take(&machine->pools[GROUT_POOL_FLIGHTS], &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    grout_flight *flight = grout_flight__get(machine, index);
    *flight = grout_flight__describe(cta, actor, inst, engine);
    flight->home = rank;
    flight->order = machine->run.stats.async_ops;
    draw_delays(machine, flight);
    grout_flight__link(grout_cta__peer(cta, rank), index);
    return index;
}

void grout_flight__attach(const grout_cta *cta, uint32_t element, uint32_t record, uint32_t index) {
    grout_machine *machine = cta->machine;
    GROUT_ASSERT((grout_flight__get(machine, index)->held & GROUT_HELD_BY_PHASE) == 0);
    grout_flight *flight = grout_flight__get(machine, index);
    grout_phase *phase = grout_machine__phase(machine, record);
    flight->held |= GROUT_HELD_BY_PHASE;
    flight->phase.rank = cta->rank;
    flight->phase.element = element;
    flight->phase.number = grout_cta__barrier(cta, element)->phase_base + phase->number;
    flight->phase_record = record;
    if (phase->last_flight != 0) {
        grout_flight__get(machine, phase->last_flight)->phase_next = index;
    } else {
        phase->first_flight = index;
    }
    phase->last_flight = index;
}

grout_queue *grout_flight__queue(const grout_cta *cta, uint32_t engine, uint32_t owner) {
    GROUT_ASSERT(grout_engine__get_info(cta->machine, engine)->queue != GROUT_QUEUE_NONE);
    return grout_engine__get_info(cta->machine, engine)->queue == GROUT_QUEUE_LANE
               ? &grout_cta__lane(cta, owner)->queues[engine]
               : &grout_cta__thread(cta, owner)->queues[engine];
}

void grout_flight__enqueue(const grout_cta *cta, uint32_t owner, uint32_t group, uint32_t index) {
    grout_flight *flight = grout_flight__get(cta->machine, index);
    flight->owner = owner;
    flight->group = group;
    grout_flight__push(cta->machine, grout_flight__queue(cta, flight->engine, owner), index);
}

/* ---- events ---------------------------------------------------------------------------------- */

void grout_flight__publish_issue(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                 const grout_issue *issue) {
    grout_machine *machine = cta->machine;
    grout_issue numbered = *issue;
    numbered.serial = grout_cta__head(cta)->async_serial;
    if (grout_machine__wants(machine, GROUT_EVENT_ISSUE)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_ISSUE, thread, inst, &clocks);
        event.u.issue = &numbered;
        grout_machine__publish(machine, &event);
    }
    grout_cta__head(cta)->async_serial++;
    machine->run.stats.async_ops++;
}

void grout_flight__publish_complete(const grout_cta *cta, const grout_flight *flight) {
    grout_machine *machine = cta->machine;
    const grout_engine_info *engine = grout_engine__get_info(machine, flight->engine);
    if (!grout_machine__wants(machine, GROUT_EVENT_COMPLETE) || flight->is_part) {
        return;
    }
    grout_issue issue = {.serial = flight->serial,
                         .bytes = engine->bytes(machine, grout_flight__inst(machine, flight))};
    grout_event event;
    memset(&event, 0, sizeof event);
    engine->stamps(cta, flight, &issue.read, &issue.write);
    event.kind = GROUT_EVENT_COMPLETE;
    event.step = machine->run.stats.steps;
    event.origin = flight->origin;
    event.u.issue = &issue;
    grout_machine__publish(machine, &event);
}

/* ---- ends ------------------------------------------------------------------------------------ */

void grout_flight__land(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_engine__get_info(machine, grout_flight__get(machine, index)->engine)->land(cta, index);
    grout_flight *flight = grout_flight__get(machine, index);
    GROUT_ASSERT(!flight->is_done && !grout_flight__has_slots(flight));
    flight->has_read = flight->is_done = true;
    grout_flight__unlink(cta, index);
    grout_flight__publish_complete(cta, flight);
    if (flight->phase_record != 0) {
        grout_phase *phase = grout_machine__phase(machine, flight->phase_record);
        phase->bytes_due -= flight->phase.bytes;
        phase->bytes_flying -= flight->phase.bytes;
        GROUT_ASSERT(phase->bytes_flying >= 0);
    }
}

void grout_flight__finish(const grout_cta *cta, uint32_t index) {
    const grout_flight flight = *grout_flight__get(cta->machine, index);
    const grout_engine_info *engine = grout_engine__get_info(cta->machine, flight.engine);
    if (engine->is_in_order) {
        grout_flight__finish_groups(cta, (grout_engine)flight.engine, flight.owner, flight.group);
        return;
    }
    grout_flight__land(cta, index);
    if ((flight.held & GROUT_HELD_BY_QUEUE) != 0) {
        grout_flight__pop(cta, grout_flight__queue(cta, flight.engine, flight.owner));
    }
    if ((flight.held & GROUT_HELD_BY_PHASE) != 0) {
        grout_barrier__land(grout_cta__peer(cta, flight.phase.rank), flight.phase.element,
                            flight.phase_record, 0);
    }
}

void grout_flight__finish_groups(const grout_cta *cta, grout_engine engine, uint32_t owner,
                                 uint32_t last) {
    grout_machine *machine = cta->machine;
    grout_queue *queue = grout_flight__queue(cta, engine, owner);
    for (uint32_t i = queue->first; i != 0; i = grout_flight__get(machine, i)->queue_next) {
        const grout_flight *flight = grout_flight__get(machine, i);
        if (flight->group > last) {
            break;
        }
        if (!flight->is_done) {
            grout_flight__land(cta, i);
        }
    }
    grout_flight__pop(cta, queue);
}

void grout_flight__read_groups(const grout_cta *cta, grout_engine engine, uint32_t owner,
                               uint32_t last) {
    grout_machine *machine = cta->machine;
    GROUT_ASSERT(grout_engine__get_info(machine, engine)->read != NULL);
    grout_queue *queue = grout_flight__queue(cta, engine, owner);
    while (queue->first_unread != 0 &&
           grout_flight__get(machine, queue->first_unread)->group <= last) {
        uint32_t index = queue->first_unread;
        if (!grout_flight__get(machine, index)->has_read) {
            grout_engine__get_info(cta->machine, engine)->read(cta, index);
        }
        queue->first_unread = grout_flight__get(machine, index)->queue_next;
    }
    grout_flight__pop(cta, queue);
}

bool grout_flight__land_phases(const grout_cta *cta, uint32_t element, uint32_t phase) {
    grout_machine *machine = cta->machine;
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    const uint32_t completed = barrier->completed;
    while (barrier->first_open != 0 &&
           grout_machine__phase(machine, barrier->first_open)->number <= phase) {
        uint32_t record = barrier->first_open;
        for (uint32_t i = grout_machine__phase(machine, record)->first_flight; i != 0;) {
            uint32_t next = grout_flight__get(machine, i)->phase_next;
            const grout_flight *flight = grout_flight__get(machine, i);
            if (!flight->is_done) {
                grout_flight__land(grout_cta__peer(cta, flight->home), i);
            }
            i = next;
        }
        grout_barrier__land(cta, element, record, 0);
        if (barrier->first_open == record) {
            break; /* not full yet */
        }
    }
    return barrier->completed != completed;
}

void grout_flight__finish_all(const grout_cta *cta) {
    while (grout_cta__head(cta)->first_flight != 0) {
        grout_flight__finish(cta, grout_cta__head(cta)->first_flight);
    }
}

void grout_flight__finish_deliveries_to(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(machine); rank++) {
        const grout_cta *peer = grout_cta__peer(cta, rank);
        grout_flight__begin_walk(peer); /* finishing a commit finishes the MMAs before it */
        for (uint32_t i = grout_flight__walk(machine); i != 0; i = grout_flight__walk(machine)) {
            const grout_flight *flight = grout_flight__get(machine, i);
            if (flight->phase_record != 0 && flight->phase.rank == cta->rank) {
                grout_flight__finish(peer, i);
            }
        }
    }
}

/* One that is due at this point takes its next step; false if there is none. */
static bool step_due(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    uint64_t now = machine->run.engine.points;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_flight *flight = grout_flight__get(machine, i);
        const grout_engine_info *engine = grout_engine__get_info(machine, flight->engine);
        if (engine->read != NULL && !flight->has_read && flight->read_due <= now &&
            flight->write_due > now) {
            engine->read(cta, i);
            return true;
        }
        if ((engine->read != NULL ? flight->write_due : flight->read_due) <= now) {
            grout_flight__finish(cta, i);
            return true;
        }
        i = flight->next;
    }
    return false;
}

/* In random timing anything in flight in the cluster may move, whichever actor runs. */
void grout_flight__step_due(const grout_cta *cta) {
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(cta->machine); rank++) {
        while (step_due(grout_cta__peer(cta, rank))) {
        }
    }
}
