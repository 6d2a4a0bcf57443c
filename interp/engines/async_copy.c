/*
 * async_copy.c - cp.async. Copies complete in the order of their *parts*. A part ends where a group
 * is closed or an arrival is requested, so that either can say 'done up to here' in one number; a
 * kernel without arrivals has one part a group. Eager copies complete at issue. Lazy ones complete
 * when a wait, or a waiter on the barrier, asks for them; until then the destination holds poison.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "async_copy.h"
#include "access.h"
#include "async_pick.h"
#include "capture.h"
#include "hash.h"

#include "barrier.h"
#include "engine.h"
#include "move.h"
#include "undo.h"

#include <string.h>

#define PIECE \
    4 /* bytes that a copy moves at least, and their alignment (PTX ISA 9.1, 'cp.async') */

GROUT_NO_PADDING_BEGIN

/* The groups and parts of an actor. Key: CTA, actor in it. The record is followed by the last part
 * of each of the newest groups that a wait of the kernel may ask for, by group modulo their number.
 */
typedef struct copier {
    grout_keyed head;
    uint32_t groups;  /* closed */
    uint32_t parts;   /* closed */
    uint32_t is_open; /* the open part has copies */
    uint32_t reserved;
    GROUT_STATE_END
} copier;

GROUT_NO_PADDING_END

static grout_keyed_table get_table(const grout_machine *machine) {
    return grout_machine__table(machine, GROUT_POOL_COPIERS);
}
static copier *get_copier(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(get_table(machine).records, index);
}
static uint32_t get_ring_size(const grout_machine *machine) {
    return machine->plan->async_copy_waits_max + 1;
}
static uint32_t *get_ends(copier *own) {
    return (uint32_t *)(void *)(own + 1);
}

void grout_async_copy__begin(grout_machine *machine) {
    uint32_t bytes = (uint32_t)sizeof(copier) + get_ring_size(machine) * (uint32_t)sizeof(uint32_t);
    grout_keyed__init(get_table(machine), (bytes + 7) / 8 * 8);
}

static uint32_t find(const grout_cta *cta, uint32_t actor) {
    grout_machine *machine = cta->machine;
    uint32_t index =
        grout_keyed__get(get_table(machine), grout_cta__head(cta)->index, actor, &machine->heap);
    machine->run.has_failed |= index == 0;
    return index;
}

/* ---- issue -------------------------------------------------------------------------------------
 */

static void report_pieces(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                          const grout_box *box) {
    uint32_t dim = box->plan->rank > 0 ? box->plan->order[box->plan->rank - 1u] : 0;
    grout_fault fault = {.code = GROUT_DIAG_MISALIGNED,
                         .object = box->plan->object,
                         .dimension = dim,
                         .start = box->start[dim],
                         .extent = box->plan->extent[dim],
                         .limit = PIECE};
    grout_cta__fault(cta, actor, inst, box->plan->operand, &fault);
}

/* Every run of bytes consists of aligned pieces. */
static bool check_pieces(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                         const grout_box *box) {
    grout_machine *machine = cta->machine;
    uint32_t count;
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    int64_t offset = 0;
    machine->run.has_failed |= runs == NULL;
    for (uint32_t i = 0; runs != NULL && i < count; i++) {
        offset |= runs[i].base | runs[i].length | (runs[i].count > 1 ? runs[i].stride : 0);
    }
    if (offset % PIECE == 0) {
        return true;
    }
    report_pieces(cta, actor, inst, box);
    return false;
}

static grout_stamp get_stamp(const grout_cta *cta, uint32_t actor, uint32_t part) {
    return (grout_stamp){.cluster = grout_cta__cluster(cta)->index,
                         .component = grout_clock_async_copy(&cta->machine->plan->shape,
                                                             grout_cta__actor(cta, actor)),
                         .number = part,
                         .agent = GROUT_AGENT_GENERIC_ENGINE};
}

int64_t grout_engine__bytes_async_copy(const grout_machine *machine, const grout_inst *inst) {
    return grout_plan__box(machine->plan, inst, 1)->bytes;
}

void grout_engine__stamps_async_copy(const grout_cta *cta, const grout_flight *flight,
                                     grout_stamp *read_out, grout_stamp *write_out) {
    *read_out = *write_out = get_stamp(cta, flight->actor, flight->group);
}

/* A copy at its issue. */
typedef struct copy {
    grout_box boxes[2];
    grout_picks *picks; /* of boxes[0]; NULL: all of it */
    uint32_t part;
    bool is_void;
} copy;

/* False: its source does not consist of aligned pieces. */
static bool publish_issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                          const copy *it) {
    grout_stamp stamp = get_stamp(cta, actor, it->part);
    const grout_stamp stamps[2] = {stamp, stamp};
    grout_issue issue = {.bytes = it->boxes[1].plan->bytes, .read = stamp, .write = stamp};
    grout_flight__publish_issue(cta, actor, inst, &issue);
    if (!it->is_void && it->picks != NULL) {
        return grout_async_pick__publish(it->picks, it->boxes, stamps, PIECE);
    }
    if (!it->is_void) {
        grout_access__publish(cta, actor, inst, it->boxes, stamps);
    }
    return true;
}

static void start(const grout_cta *cta, uint32_t actor, const grout_inst *inst, const copy *it) {
    uint32_t index = grout_flight__add(cta, actor, inst, GROUT_ENGINE_ASYNC_COPY, cta->rank);
    if (index == 0) {
        return;
    }
    const uint32_t slot = it->picks != NULL && !it->is_void ? grout_slots__take(cta) : 0;
    grout_flight *flight = grout_flight__get(cta->machine, index);
    flight->is_void = it->is_void;
    flight->is_stale = it->boxes[0].is_stale;
    flight->bytes.picks = slot;
    memcpy(flight->start[0], it->boxes[0].start, sizeof flight->start[0]);
    memcpy(flight->start[1], it->boxes[1].start, sizeof flight->start[1]);
    if (slot != 0) {
        grout_picks__note(it->picks, (int32_t *)(void *)grout_slots__get(cta, slot));
    }
    grout_flight__enqueue(cta, actor, it->part, index);
}

static void publish_complete(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                             uint32_t part) {
    grout_flight flight = grout_flight__describe(cta, actor, inst, GROUT_ENGINE_ASYNC_COPY);
    flight.group = part;
    grout_flight__publish_complete(cta, &flight);
}

/* Whether a side is refused, which is reported. */
static bool is_refused(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                       const copy *it) {
    bool is_void = it->picks == NULL && !grout_box__check_inside(cta, actor, inst, &it->boxes[0]);
    is_void |= !grout_box__check_inside(cta, actor, inst, &it->boxes[1]);
    return is_void || (it->picks == NULL && !check_pieces(cta, actor, inst, &it->boxes[0])) ||
           !check_pieces(cta, actor, inst, &it->boxes[1]);
}

static void set_definedness(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                            const copy *it) {
    if (it->is_void) {
        grout_box__set_written(cta->machine, &it->boxes[1], NULL);
    } else if (it->picks != NULL) {
        grout_async_pick__definedness(it->picks, &it->boxes[1]);
    } else {
        grout_move__definedness(cta, actor, inst, it->boxes);
    }
}

static void issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst, copy *it) {
    grout_machine *machine = cta->machine;
    const grout_box *to = &it->boxes[1];
    uint32_t owner = find(cta, actor);
    if (owner == 0 || it->boxes[0].is_nowhere || to->is_nowhere) {
        return;
    }
    it->is_void = is_refused(cta, actor, inst, it);
    it->part = get_copier(machine, owner)->parts + 1;
    get_copier(machine, owner)->is_open = 1;
    if (!publish_issue(cta, actor, inst, it)) {
        report_pieces(cta, actor, inst, &it->boxes[0]);
        it->is_void = true;
    }
    if (machine->tracks) {
        set_definedness(cta, actor, inst, it);
    }
    if (machine->is_lazy) {
        grout_undo__note_copy(cta, actor, inst, 1, to, it->part);
    }
    if (machine->is_lazy || it->is_void) {
        grout_box__poison(machine, to);
    }
    if (machine->is_lazy) {
        start(cta, actor, inst, it);
        return;
    }
    if (!it->is_void && it->picks != NULL) {
        grout_async_pick__move(it->picks, to);
    } else if (!it->is_void) {
        grout_move__copy(machine, inst, &it->boxes[0], to);
    }
    publish_complete(cta, actor, inst, it->part);
}

void grout_async_copy__issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    copy it = {.boxes = {grout_box__resolve(cta, actor, inst, 0),
                         grout_box__resolve(cta, actor, inst, 1)}};
    issue(cta, actor, inst, &it);
}

void grout_async_copy__issue_picks(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_picks picks;
    (void)grout_picks__begin(&picks, cta, actor, inst);
    copy it = {.boxes = {picks.base, grout_box__resolve(cta, actor, inst, 1)}, .picks = &picks};
    issue(cta, actor, inst, &it);
}

/* ---- completion --------------------------------------------------------------------------------
 */

static void land_picks(const grout_cta *cta, uint32_t index, const grout_box *from,
                       const grout_box *to) {
    grout_flight *flight = grout_flight__get(cta->machine, index);
    const uint32_t slot = flight->bytes.picks;
    grout_picks picks;
    grout_picks__begin_noted(&picks, cta, flight->actor, grout_flight__inst(cta->machine, flight),
                             from, (const int32_t *)(const void *)grout_slots__get(cta, slot));
    grout_async_pick__move(&picks, to);
    grout_slots__give(cta, slot);
    flight->bytes.picks = 0;
}

void grout_engine__land_async_copy(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_flight *flight = grout_flight__get(machine, index);
    const grout_inst *inst = grout_flight__inst(machine, flight);
    if (flight->is_void) {
        return;
    }
    grout_box from =
        grout_box__place(cta, grout_plan__box(machine->plan, inst, 0), flight->start[0]);
    grout_box to = grout_box__place(cta, grout_plan__box(machine->plan, inst, 1), flight->start[1]);
    from.is_stale = flight->is_stale;
    if (flight->bytes.picks != 0) {
        land_picks(cta, index, &from, &to);
        return;
    }
    if (from.is_stale) {
        grout_stale__show(machine, &from);
    }
    grout_move__copy(machine, inst, &from, &to);
}

/* ---- groups ------------------------------------------------------------------------------------
 */

static void close_part(copier *own) {
    own->parts += own->is_open;
    own->is_open = 0;
}

static void publish_group(const grout_cta *cta, grout_event_kind kind, uint32_t actor,
                          const grout_inst *inst, uint32_t number, uint32_t allowed) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, kind, actor, inst, &clocks);
        event.u.group.lane = grout_cta__actor(cta, actor);
        event.u.group.number = number;
        event.u.group.allowed = allowed;
        grout_machine__publish(machine, &event);
    }
}

void grout_async_copy__commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    uint32_t owner = find(cta, actor);
    if (owner == 0) {
        return;
    }
    copier *own = get_copier(machine, owner);
    publish_group(cta, GROUT_EVENT_ASYNC_COPY_COMMIT, actor, inst, own->parts + own->is_open, 0);
    close_part(own);
    get_ends(own)[own->groups++ % get_ring_size(machine)] = own->parts;
}

void grout_async_copy__wait(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                            uint32_t allowed) {
    grout_machine *machine = cta->machine;
    uint32_t owner = find(cta, actor);
    if (owner == 0) {
        return;
    }
    copier *own = get_copier(machine, owner);
    uint32_t done = own->groups > allowed && allowed < get_ring_size(machine)
                        ? get_ends(own)[(own->groups - allowed - 1) % get_ring_size(machine)]
                        : 0;
    publish_group(cta, GROUT_EVENT_ASYNC_COPY_WAIT, actor, inst, done, allowed);
    grout_flight__finish_groups(cta, GROUT_ENGINE_ASYNC_COPY, actor, done);
    grout_order__complete(&machine->plan->order, grout_cta__clocks(cta, actor),
                          get_stamp(cta, actor, 0).component, done);
}

/* ---- arrivals ----------------------------------------------------------------------------------
 */

/* An arrival that waits for copies, in flight. */
static void start_arrive(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                         const grout_arrival *arrival, uint32_t record) {
    uint32_t index = grout_flight__add(cta, actor, inst, GROUT_ENGINE_ASYNC_COPY_ARRIVE, cta->rank);
    if (index != 0) {
        grout_flight *flight = grout_flight__get(cta->machine, index);
        flight->is_part = true;
        flight->group = arrival->async_copies;
        flight->phase.bytes = arrival->bytes;
        grout_flight__attach(cta, arrival->element, record, index);
    }
}

/* All copies up to the part that was closed at the arrival. */
void grout_engine__land_async_copy_arrive(const grout_cta *cta, uint32_t index) {
    const grout_flight *flight = grout_flight__get(cta->machine, index);
    grout_flight__finish_groups(cta, GROUT_ENGINE_ASYNC_COPY, flight->actor, flight->group);
}

int64_t grout_engine__bytes_async_copy_arrive(const grout_machine *machine,
                                              const grout_inst *inst) {
    (void)machine;
    (void)inst;
    return 0;
}

void grout_engine__stamps_async_copy_arrive(const grout_cta *cta, const grout_flight *flight,
                                            grout_stamp *read_out, grout_stamp *write_out) {
    grout_engine__stamps_async_copy(cta, flight, read_out, write_out);
}

/*
 * The arrival counts for the phase that is open now. The phase stays open until the copies are
 * done: it waits for one byte, which the last of them brings. Without copies, too, the arrival is
 * the engine's: the thread goes on before it is made (PTX ISA 9.1, 'cp.async.mbarrier.arrive').
 */
void grout_async_copy__arrive(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                              uint32_t element) {
    grout_machine *machine = cta->machine;
    uint32_t owner = find(cta, actor);
    if (owner == 0) {
        return;
    }
    close_part(get_copier(machine, owner));
    uint32_t part = get_copier(machine, owner)->parts;
    grout_arrival arrival = {.rank = cta->rank,
                             .element = element,
                             .count = 1,
                             .is_deferred = true,
                             .bytes = 1,
                             .order = inst->order,
                             .scope = inst->edge_scope,
                             .async_copies = part};
    uint32_t record = grout_barrier__arrive(cta, actor, inst, &arrival);
    if (record == 0) {
        return;
    }
    if (machine->is_lazy) {
        start_arrive(cta, actor, inst, &arrival, record);
    } else {
        grout_barrier__land(cta, element, record, arrival.bytes);
    }
}

/* ---- ends --------------------------------------------------------------------------------------
 */

void grout_async_copy__end_cta(grout_machine *machine, uint32_t cta) {
    grout_keyed_table table = get_table(machine);
    for (uint32_t i = grout_keyed__next(table, 0); i != 0;) {
        uint32_t next = grout_keyed__next(table, i);
        if (get_copier(machine, i)->head.key[0] == cta) {
            grout_keyed__remove(table, i);
        }
        i = next;
    }
}

/* The copies themselves are hashed with what is in flight. */
uint64_t grout_async_copy__hash(const grout_machine *machine, uint64_t hash) {
    grout_keyed_table table = get_table(machine);
    uint64_t sum = 0;
    for (uint32_t i = grout_keyed__next(table, 0); i != 0; i = grout_keyed__next(table, i)) {
        copier *own = get_copier(machine, i);
        GROUT_ASSERT(own != NULL);
        uint64_t part = grout_hash__bytes(4, own->head.key, sizeof own->head.key);
        part = GROUT_HASH_FACTS(part, own, copier, groups);
        sum += grout_hash__bytes(part, get_ends(own), get_ring_size(machine) * sizeof(uint32_t));
    }
    return hash + sum * UINT64_C(0xa0761d6478bd642f);
}
