/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * tma.c - the engines: when an async copy reads and writes, within what its completion permits, and
 * what is in flight, wgmmas (wgmma.c) included.
 *
 * Eager: at issue. Lazy: a load when a thread waits for its full phase; a store reads when a wait
 * frees its source and writes when a wait asks for the write; all at the end of their scope or CTA.
 * Random: at a scheduling point drawn from the seed, but never later than lazy. A store that has
 * read and not written keeps its bytes in a payload slot; when all slots are taken the oldest such
 * store writes, which its completion permits at any time.
 */
#include "tma.h"

#include "async_copy.h"
#include "barrier.h"
#include "convert.h"
#include "gmem.h"
#include "issue.h"
#include "undo.h"
#include "wgmma.h"

#include <assert.h>
#include <string.h>

#define DELAY_MAX 32 /* scheduling points, in random timing */

static const grout_inst *get_inst(const grout_machine *machine, const grout_async *async) {
    return grout_plan__inst(machine->plan, async->pc);
}

static grout_box place_box(const grout_cta *cta, const grout_async *async, uint32_t index) {
    const grout_machine *machine = cta->machine;
    const grout_inst *inst = get_inst(machine, async);
    return grout_box__place(cta, grout_plan__box(machine->plan, inst, index), async->start[index]);
}

void grout_tma__end_flight(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_async *async = grout_machine__async(machine, index);
    async->flags |= GROUT_ASYNC_READ | GROUT_ASYNC_DONE;
    grout_flight__unlink(cta, index);
    if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE) &&
        (async->flags & GROUT_ASYNC_PART) == 0) {
        grout_tma__publish_complete(cta, async);
    }
}

uint32_t grout_tma__add_flight_to(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                  uint32_t rank) {
    grout_machine *machine = cta->machine;
    uint32_t index = grout_pool__take(&machine->pools[GROUT_POOL_ASYNCS], &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    grout_async *async = grout_machine__async(machine, index);
    async->pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
    async->actor = thread;
    async->serial = grout_cta__head(cta)->async_serial - 1;
    async->origin = grout_cta__origin(cta, thread, inst);
    async->order = machine->run.stats.async_ops;
    if (machine->launch.timing == GROUT_TIMING_RANDOM) {
        async->read_due = machine->run.engine.points +
                          grout_machine__draw(machine, GROUT_DRAW_ENGINE) % DELAY_MAX;
        async->write_due =
            async->read_due + grout_machine__draw(machine, GROUT_DRAW_ENGINE) % DELAY_MAX;
    }
    grout_flight__link(grout_cta__peer(cta, rank), index);
    return index;
}

uint32_t grout_tma__add_flight(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return grout_tma__add_flight_to(cta, thread, inst, cta->rank);
}

void grout_tma__attach(const grout_cta *cta, uint32_t element, uint32_t record, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_async *async = grout_machine__async(machine, index);
    grout_phase *phase = grout_machine__phase(machine, record);
    async->element = element;
    async->phase = grout_cta__barrier(cta, element)->phase_base + phase->number;
    async->phase_record = record;
    if (phase->last_load != 0) {
        grout_machine__async(machine, phase->last_load)->peer = index;
    } else {
        phase->first_load = index;
    }
    phase->last_load = index;
}

static void set_starts(grout_machine *machine, uint32_t index, const grout_box *boxes) {
    grout_async *async = grout_machine__async(machine, index);
    assert(async != NULL);
    memcpy(async->start[0], boxes[0].start, sizeof async->start[0]);
    memcpy(async->start[1], boxes[1].start, sizeof async->start[1]);
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* At once. The barrier may be a peer's. */
static void load_now(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                     const grout_box *boxes, const grout_load *load) {
    grout_machine *machine = cta->machine;
    if (!load->is_void) {
        grout_tma__move(machine, inst, &boxes[0], &boxes[1]);
    }
    if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE) && !load->is_part) {
        grout_async async = {.pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0)),
                             .element = load->element,
                             .phase = load->phase,
                             .serial = grout_cta__head(cta)->async_serial - 1,
                             .origin = grout_cta__origin(cta, thread, inst)};
        grout_tma__publish_complete(cta, &async);
    }
    grout_barrier__land(grout_cta__peer(cta, load->rank), load->element, load->record, load->bytes);
}

void grout_tma__start_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_load *load) {
    grout_machine *machine = cta->machine;
    if (!machine->is_lazy) {
        load_now(cta, thread, inst, boxes, load);
        return;
    }
    uint32_t index = grout_tma__add_flight_to(cta, thread, inst, load->rank);
    if (index == 0) {
        return;
    }
    grout_async *async = grout_machine__async(machine, index);
    async->flags = (load->is_void ? (uint32_t)GROUT_ASYNC_VOID : 0) |
                   (load->is_part ? (uint32_t)GROUT_ASYNC_PART : 0) |
                   (load->spoilt != 0 ? (uint32_t)GROUT_ASYNC_SPOILT : 0);
    async->payload[0] =
        load->is_void ? 0 : grout_tma__capture_for(cta, thread, &boxes[0], load->rank);
    async->flags |= async->payload[0] != 0 ? (uint32_t)GROUT_ASYNC_STALE : 0;
    async->bytes = load->bytes;
    async->part = load->part;
    async->parts = load->parts;
    async->payload[1] = load->spoilt;
    set_starts(machine, index, boxes);
    grout_tma__attach(grout_cta__peer(cta, load->rank), load->element, load->record, index);
}

/* What an older store may win of the bytes that have landed is poison. */
static void spoil(const grout_cta *cta, grout_async *async, const grout_box *to) {
    grout_machine *machine = cta->machine;
    const uint8_t *mask = grout_tma__get_payload(cta, async->payload[1]) + machine->payload_mask_at;
    uint8_t *poison = machine->image;
    grout_box__gather(machine, to, machine->linear);
    grout_fill_poison(to->plan->dtype, poison, 1);
    for (int64_t i = 0; i < to->plan->bytes; i++) {
        if (mask[i] != 0) {
            machine->linear[i] = poison[i % to->plan->element_bytes];
        }
    }
    grout_box__scatter(machine, to, machine->linear);
    grout_tma__give_payload(cta, async->payload[1]);
    async->payload[1] = 0;
}

/* Elements of an async_store_smem, in its payload, to their places. */
static void land_elements(const grout_cta *cta, grout_async *async) {
    grout_machine *machine = cta->machine;
    if (async->payload[0] != 0) {
        grout_box to = place_box(cta, async, 0);
        grout_tma__combine(machine, get_inst(machine, async), &to,
                           grout_tma__get_payload(cta, async->payload[0]));
        grout_tma__give_payload(cta, async->payload[0]);
        async->payload[0] = 0;
    }
}

static void finish_store(const grout_cta *cta, uint32_t index);
static void finish_attached(const grout_cta *cta, uint32_t index);

/* Whether what two stores write, or a load reads and a store writes, overlaps. */
static bool has_overlap(const grout_box_plan *plan, const int64_t *start,
                        const grout_box_plan *other, const int64_t *other_start) {
    bool overlaps = plan->object == other->object;
    for (uint32_t dim = 0; overlaps && dim < plan->rank; dim++) {
        overlaps = start[dim] < other_start[dim] + other->extent[dim] &&
                   other_start[dim] < start[dim] + plan->extent[dim];
    }
    return overlaps;
}

/* What is in flight in the CTA, was issued later, and reads (or writes) what this writes
 * (or reads); 0: nothing. */
static uint32_t find_later(const grout_cta *cta, const grout_async *async) {
    const grout_machine *machine = cta->machine;
    bool is_store = (async->flags & GROUT_ASYNC_STORE) != 0;
    uint32_t which = is_store ? 1 : 0;
    const grout_box_plan *plan = grout_plan__box(machine->plan, get_inst(machine, async), which);
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_async *other = grout_machine__async(machine, i);
        bool is_other_store = (other->flags & GROUT_ASYNC_STORE) != 0;
        bool is_copy =
            is_other_store || (other->phase_record != 0 &&
                               (other->flags & (GROUT_ASYNC_DSMEM | GROUT_ASYNC_COPY)) == 0);
        if (is_copy && is_other_store != is_store && other->order > async->order &&
            (other->flags & GROUT_ASYNC_VOID) == 0 &&
            has_overlap(plan, async->start[which],
                        grout_plan__box(machine->plan, get_inst(machine, other), 1 - which),
                        other->start[1 - which])) {
            return i;
        }
        i = other->next;
    }
    return 0;
}

/*
 * Loads and stores of the same elements with no order between them: the later of the two takes
 * effect first. A load that ought to see a store then does not, one that ought not to does.
 */
static void let_later_first(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_async *async = grout_machine__async(machine, index);
    bool is_store = (async->flags & GROUT_ASYNC_STORE) != 0;
    const grout_inst *inst = get_inst(machine, async);
    uint32_t later;
    if (machine->launch.timing != GROUT_TIMING_LAZY ||
        !grout_plan__box(machine->plan, inst, is_store ? 1 : 0)->is_relayed) {
        return;
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        const grout_cta *peer = grout_cta__peer(cta, rank);
        while ((later = find_later(peer, grout_machine__async(machine, index))) != 0) {
            if (is_store) {
                finish_attached(peer, later);
            } else {
                finish_store(peer, later);
            }
        }
    }
}

/* The place that a load writes: of a collective copy its part. */
static grout_box place_target(const grout_cta *cta, const grout_async *load) {
    grout_box to = place_box(cta, load, 1);
    if (load->parts > 0) {
        grout_box__cut(&to, (uint32_t)get_inst(cta->machine, load)->part_dim, load->part,
                       load->parts);
    }
    return to;
}

static void poison_target(const grout_cta *cta, const grout_async *load) {
    grout_machine *machine = cta->machine;
    grout_box to = place_target(cta, load);
    grout_fill_poison(to.plan->dtype, machine->linear,
                      to.plan->bytes / (int64_t)to.plan->element_bytes);
    grout_box__scatter(machine, &to, machine->linear);
}

/* Where a newer load is in flight over the same bytes nobody can count on those of the older one:
 * who reads them before the newer one has landed finds poison. */
static void let_newer_win(const grout_cta *cta, const grout_async *async) {
    grout_machine *machine = cta->machine;
    const grout_box_plan *plan = grout_plan__box(machine->plan, get_inst(machine, async), 1);
    if (machine->launch.timing != GROUT_TIMING_LAZY) {
        return;
    }
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_async *other = grout_machine__async(machine, i);
        bool is_load = other->phase_record != 0 &&
                       (other->flags & (GROUT_ASYNC_STORE | GROUT_ASYNC_DSMEM | GROUT_ASYNC_COPY |
                                        GROUT_ASYNC_VOID | GROUT_ASYNC_DONE)) == 0;
        if (is_load && other->order > async->order &&
            has_overlap(plan, async->start[1],
                        grout_plan__box(machine->plan, get_inst(machine, other), 1),
                        other->start[1])) {
            poison_target(cta, other);
        }
        i = other->next;
    }
}

/* Moves a load's bytes. Its phase does not complete before grout_barrier__land is called. */
static void finish_load(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_async *async = grout_machine__async(machine, index);
    const grout_inst *inst = get_inst(machine, async);
    if ((async->flags & GROUT_ASYNC_DSMEM) != 0) {
        land_elements(cta, async);
    } else if ((async->flags & GROUT_ASYNC_VOID) == 0) {
        let_later_first(cta, index);
        grout_box from = place_box(cta, async, 0), to = place_target(cta, async);
        if (async->parts > 0) {
            grout_box__cut(&from, (uint32_t)inst->part_dim, async->part, async->parts);
        }
        if ((async->flags & GROUT_ASYNC_STALE) != 0) {
            if (!from.is_inside) {
                memset(machine->linear, 0, (size_t)from.plan->bytes);
            }
            grout_tma__read_captured(cta, &from, async->payload[0]);
            grout_box__scatter(machine, &to, grout_tma__get_payload(cta, async->payload[0]));
            grout_tma__give_payload(cta, async->payload[0]);
            async->payload[0] = 0;
        } else {
            grout_tma__move(machine, inst, &from, &to);
        }
        if ((async->flags & GROUT_ASYNC_SPOILT) != 0) {
            spoil(cta, async, &to);
        }
        let_newer_win(cta, async);
    }
    grout_tma__end_flight(cta, index);
}

/* An operation that a phase waits for takes effect, and its bytes land; the phase stays open. */
static void finish_attached(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    if ((grout_machine__async(machine, index)->flags & GROUT_ASYNC_COPY) != 0) {
        grout_async_copy__finish(cta, index);
    } else {
        finish_load(cta, index);
    }
    const grout_async *async = grout_machine__async(machine, index);
    grout_phase *phase = grout_machine__phase(machine, async->phase_record);
    phase->bytes_due -= async->bytes;
    phase->bytes_flying -= async->bytes;
}

void grout_tma__land_phases(const grout_cta *cta, uint32_t element, uint32_t phase) {
    grout_machine *machine = cta->machine;
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    while (barrier->first_open != 0 &&
           grout_machine__phase(machine, barrier->first_open)->number <= phase) {
        uint32_t record = barrier->first_open;
        for (uint32_t i = grout_machine__phase(machine, record)->first_load; i != 0;) {
            uint32_t next = grout_machine__async(machine, i)->peer;
            if ((grout_machine__async(machine, i)->flags & GROUT_ASYNC_DONE) == 0) {
                finish_attached(cta, i);
            }
            i = next;
        }
        grout_barrier__land(cta, element, record, 0);
        if (barrier->first_open == record) {
            return; /* not full yet */
        }
    }
}

/* ---- stores ---------------------------------------------------------------------------------- */

static uint32_t *get_free_slots(const grout_cta *cta) {
    return (uint32_t *)(void *)(cta->state + cta->machine->at.payload_free);
}

/* There are two slots at least, and who asks for one has at most one that is not in flight yet. */
uint32_t grout_tma__take_payload(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    if (head->payload_used == machine->payload_slots) {
        uint32_t oldest = head->first_flight;
        const grout_async *async = grout_machine__async(machine, oldest);
        while ((async->payload[0] | async->payload[1]) == 0) {
            oldest = async->next;
            async = grout_machine__async(machine, oldest);
        }
        if ((async->flags & GROUT_ASYNC_STORE) != 0) {
            finish_store(cta, oldest);
        } else if ((async->flags & GROUT_ASYNC_WGMMA) != 0) {
            grout_wgmma__finish(cta, async->actor, async->group);
        } else {
            finish_attached(cta, oldest);
        }
    }
    return get_free_slots(cta)[head->payload_used++];
}

void grout_tma__give_payload(const grout_cta *cta, uint32_t slot) {
    get_free_slots(cta)[--grout_cta__head(cta)->payload_used] = slot;
}

void grout_tma__read_captured(const grout_cta *cta, const grout_box *from, uint32_t slot) {
    grout_machine *machine = cta->machine;
    uint8_t *bytes = grout_tma__get_payload(cta, slot);
    const uint8_t *stale = bytes + machine->payload_mask_at;
    grout_box__gather(machine, from, machine->linear);
    for (int64_t i = 0; i < from->plan->bytes; i++) {
        bytes[i] = stale[i] != 0 ? bytes[i] : machine->linear[i];
    }
}

/* Reads a store's source into its slot; bytes that were stale at issue are there already. */
static void read_store(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_async *async = grout_machine__async(machine, index);
    grout_box from = place_box(cta, async, 0);
    async->flags |= GROUT_ASYNC_READ;
    if ((async->flags & GROUT_ASYNC_VOID) != 0) {
        return;
    }
    if ((async->flags & GROUT_ASYNC_STALE) == 0) {
        async->payload[0] = grout_tma__take_payload(cta);
        grout_box__gather(machine, &from, grout_tma__get_payload(cta, async->payload[0]));
        return;
    }
    grout_tma__read_captured(cta, &from, async->payload[0]);
}

/* Writes a store's elements, or combines them with what is there. */
static void write_elements(const grout_cta *cta, const grout_async *async,
                           const uint8_t *elements) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = get_inst(machine, async);
    grout_box to = place_box(cta, async, 1);
    if (inst->reduction != GROUT_UPDATE_NONE) {
        grout_tma__reduce(machine, inst, &to, elements);
    } else {
        grout_box__scatter(machine, &to, elements);
    }
}

/* Where an older plain store may win there is poison. */
static void spoil_store(const grout_cta *cta, uint32_t index) {
    grout_async *async = grout_machine__async(cta->machine, index);
    if ((async->flags & GROUT_ASYNC_SPOILT) != 0) {
        grout_box to = place_box(cta, async, 1);
        spoil(cta, async, &to);
    }
}

static void write_store(const grout_cta *cta, uint32_t index) {
    grout_async *async = grout_machine__async(cta->machine, index);
    if ((async->flags & GROUT_ASYNC_VOID) == 0) {
        let_later_first(cta, index);
        write_elements(cta, async, grout_tma__get_payload(cta, async->payload[0]));
        grout_tma__give_payload(cta, async->payload[0]);
        async->payload[0] = 0;
        spoil_store(cta, index);
    }
    grout_tma__end_flight(cta, index);
}

static void finish_store(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_async *async = grout_machine__async(machine, index);
    if ((async->flags & (GROUT_ASYNC_READ | GROUT_ASYNC_STALE | GROUT_ASYNC_VOID)) == 0) {
        let_later_first(cta, index);
        grout_box from = place_box(cta, async, 0), to = place_box(cta, async, 1);
        grout_tma__move_store(machine, get_inst(machine, async), &from, &to);
        spoil_store(cta, index);
        grout_tma__end_flight(cta, index);
        return;
    }
    if ((async->flags & GROUT_ASYNC_READ) == 0) {
        read_store(cta, index);
    }
    write_store(cta, index);
}

/* Forgets a lane's finished stores, from the oldest on. */
static void pop_stores(grout_machine *machine, grout_lane *owner) {
    while (owner->first_store != 0 &&
           (grout_machine__async(machine, owner->first_store)->flags & GROUT_ASYNC_DONE) != 0) {
        uint32_t index = owner->first_store;
        uint32_t next = grout_machine__async(machine, index)->peer;
        owner->first_unread = owner->first_unread == index ? next : owner->first_unread;
        owner->first_store = next;
        owner->last_store = next == 0 ? 0 : owner->last_store;
        grout_pool__give(&machine->pools[GROUT_POOL_ASYNCS], index);
    }
}

static bool capture(const grout_cta *cta, uint32_t thread, const grout_box *box) {
    grout_machine *machine = cta->machine;
    return box->plan->space == GROUT_SPACE_GMEM
               ? grout_gmem__capture(cta, thread, box, machine->linear, machine->mask_linear)
               : grout_undo__capture(cta, thread, box, machine->linear, machine->mask_linear);
}

uint32_t grout_tma__capture_for(const grout_cta *cta, uint32_t thread, const grout_box *box,
                                uint32_t rank) {
    grout_machine *machine = cta->machine;
    if (!capture(cta, thread, box)) {
        return 0;
    }
    /* What finishes to make room uses the scratch. */
    const grout_cta *keeper = grout_cta__peer(cta, rank);
    uint32_t slot = grout_tma__take_payload(keeper);
    if (capture(cta, thread, box)) {
        uint8_t *bytes = grout_tma__get_payload(keeper, slot);
        memcpy(bytes, machine->linear, (size_t)box->plan->bytes);
        memcpy(bytes + machine->payload_mask_at, machine->mask_linear, (size_t)box->plan->bytes);
    }
    return slot;
}

uint32_t grout_tma__capture(const grout_cta *cta, uint32_t thread, const grout_box *from) {
    return grout_tma__capture_for(cta, thread, from, cta->rank);
}

/* An earlier store of the cluster that is in flight to some of the same elements. */
static bool has_rival(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_async *async = grout_machine__async(machine, index);
    const grout_box_plan *plan = grout_plan__box(machine->plan, get_inst(machine, async), 1);
    bool found = get_inst(machine, async)->reduction != GROUT_UPDATE_NONE;
    for (uint32_t rank = 0; !found && rank < machine->plan->shape.cta_count; rank++) {
        const grout_cta *peer = grout_cta__peer(cta, rank);
        for (uint32_t i = grout_cta__head(peer)->first_flight; i != 0 && !found;) {
            const grout_async *other = grout_machine__async(machine, i);
            found = i != index && (other->flags & GROUT_ASYNC_STORE) != 0 &&
                    (other->flags & GROUT_ASYNC_VOID) == 0 &&
                    has_overlap(plan, async->start[1],
                                grout_plan__box(machine->plan, get_inst(machine, other), 1),
                                other->start[1]);
            i = other->next;
        }
    }
    return found && get_inst(machine, async)->reduction == GROUT_UPDATE_NONE;
}

void grout_tma__start_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_box *boxes, bool is_void) {
    grout_machine *machine = cta->machine;
    uint32_t lane = grout_machine__lane_of(machine, thread);
    grout_lane *owner = grout_cta__lane(cta, lane);
    if (!machine->is_lazy) {
        if (!is_void) {
            grout_tma__move_store(machine, inst, &boxes[0], &boxes[1]);
        }
        if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE)) {
            grout_async async = {.pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0)),
                                 .actor = lane,
                                 .group = owner->committed + 1,
                                 .flags = GROUT_ASYNC_STORE,
                                 .serial = grout_cta__head(cta)->async_serial - 1,
                                 .origin = grout_cta__origin(cta, thread, inst)};
            grout_tma__publish_complete(cta, &async);
        }
        return;
    }
    uint32_t payload[2] = {0, 0};
    for (uint32_t i = 0; i < 2 && !is_void; i++) {
        payload[i] = grout_tma__capture(cta, thread, &boxes[i]);
    }
    uint32_t index = grout_tma__add_flight(cta, thread, inst);
    if (index == 0) {
        return;
    }
    set_starts(machine, index, boxes);
    grout_async *async = grout_machine__async(machine, index);
    async->actor = lane;
    memcpy(async->payload, payload, sizeof payload);
    async->flags = GROUT_ASYNC_STORE | (is_void ? (uint32_t)GROUT_ASYNC_VOID : 0);
    async->group = owner->committed + 1;
    if (owner->last_store != 0) {
        grout_machine__async(machine, owner->last_store)->peer = index;
    } else {
        owner->first_store = index;
    }
    owner->last_store = index;
    owner->first_unread = owner->first_unread == 0 ? index : owner->first_unread;
    async->flags |= payload[0] != 0 ? (uint32_t)GROUT_ASYNC_STALE : 0;
    async->flags |= payload[1] != 0 ? (uint32_t)GROUT_ASYNC_SPOILT : 0;
    /* Nothing says which of two stores lands last: it is the earlier one. */
    if (!is_void && machine->launch.timing == GROUT_TIMING_LAZY && has_rival(cta, index)) {
        finish_store(cta, index);
        pop_stores(machine, owner);
    }
}

void grout_tma__finish_groups(const grout_cta *cta, uint32_t lane, uint32_t last, bool read_only) {
    grout_machine *machine = cta->machine;
    grout_lane *owner = grout_cta__lane(cta, lane);
    uint32_t first = read_only ? owner->first_unread : owner->first_store;
    for (uint32_t i = first; i != 0; i = grout_machine__async(machine, i)->peer) {
        const grout_async *async = grout_machine__async(machine, i);
        if (async->group > last) {
            break;
        }
        if (read_only && (async->flags & GROUT_ASYNC_READ) == 0) {
            read_store(cta, i);
        } else if (!read_only && (async->flags & GROUT_ASYNC_DONE) == 0) {
            finish_store(cta, i);
        }
        owner->first_unread =
            owner->first_unread == i ? grout_machine__async(machine, i)->peer : owner->first_unread;
    }
    pop_stores(machine, owner);
}

/* ---- several at once ------------------------------------------------------------------------- */

static void finish(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_async async = *grout_machine__async(machine, index);
    if ((async.flags & GROUT_ASYNC_WGMMA) != 0) {
        grout_wgmma__finish(cta, async.actor, async.group);
    } else if ((async.flags & GROUT_ASYNC_STORE) != 0) {
        finish_store(cta, index);
        pop_stores(machine, grout_cta__lane(cta, async.actor));
    } else if (async.phase_record != 0) {
        finish_attached(cta, index);
        grout_barrier__land(cta, async.element, async.phase_record, 0);
    } else {
        grout_async_copy__finish(cta, index);
    }
}

void grout_tma__finish_all(const grout_cta *cta) {
    while (grout_cta__head(cta)->first_flight != 0) {
        finish(cta, grout_cta__head(cta)->first_flight);
    }
}

/* Of an accumulator each thread has its own: where threads enter a scope one by one, the others'
 * live on. */
static bool is_touched(const grout_machine *machine, const grout_scope_plan *scope,
                       const grout_async *async, uint32_t thread) {
    const grout_inst *inst = get_inst(machine, async);
    const grout_object_id *objects = grout_pool__at(&machine->plan->objects, scope->first_object);
    for (uint32_t i = 0; i < scope->object_count; i++) {
        for (uint32_t k = 0; k < inst->box_count; k++) {
            const grout_box_plan *box = grout_plan__box(machine->plan, inst, k);
            if (box->object == objects[i] &&
                (box->space != GROUT_SPACE_ACC || scope->is_collective || async->actor == thread)) {
                return true;
            }
        }
    }
    return false;
}

void grout_tma__finish_scope(const grout_cta *cta, const grout_scope_plan *scope, uint32_t thread) {
    grout_machine *machine = cta->machine;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        uint32_t next = grout_machine__async(machine, i)->next;
        if (is_touched(machine, scope, grout_machine__async(machine, i), thread)) {
            finish(cta, i);
            /* Finishing may have finished others to make room. */
            next = grout_cta__head(cta)->first_flight;
        }
        i = next;
    }
}

/* One copy that is due at this point takes its next step; false if there is none. */
static bool step_due(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    uint64_t now = machine->run.engine.points;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_async *async = grout_machine__async(machine, i);
        bool is_store = (async->flags & GROUT_ASYNC_STORE) != 0;
        bool has_read = (async->flags & GROUT_ASYNC_READ) != 0;
        if (is_store && !has_read && async->read_due <= now && async->write_due > now) {
            read_store(cta, i);
            return true;
        }
        if ((is_store ? async->write_due : async->read_due) <= now) {
            finish(cta, i);
            return true;
        }
        i = async->next;
    }
    return false;
}

/* In random timing whatever is in flight in the cluster may move, whoever runs. */
void grout_tma__pass_point(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    machine->run.engine.points++;
    if (machine->launch.timing != GROUT_TIMING_RANDOM) {
        return;
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        while (step_due(grout_cta__peer(cta, rank))) {
        }
    }
}
