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

#include "barrier.h"
#include "issue.h"
#include "undo.h"
#include "wgmma.h"

#include <string.h>

#define DELAY_MAX    32 /* scheduling points, in random timing */
#define CHUNK        16 /* bytes that a swizzle keeps together */
#define LINE         64 /* bytes of a cache line */
#define ROWS_AHEAD   8
#define CHUNKS_AHEAD 64
#define PREFETCH_MAX 1024 /* bytes of a row */

/* ---- copies ------------------------------------------------------------------------------------
 */

/*
 * Rows of a box are far apart in GMEM, often a page each, where no hardware prefetcher follows:
 * asking for a row a few rows ahead makes add_tma a fifth faster (4096 x 4096, blocks of 32 x 64).
 */
static void copy_rows(const grout_transfer *transfers, uint32_t count, const uint8_t *source,
                      uint8_t *destination) {
    for (uint32_t i = 0; i < count; i++) {
        const grout_transfer *row = &transfers[i];
        if (i + ROWS_AHEAD < count && row->length >= LINE) {
            for (int64_t k = 0; k < row[ROWS_AHEAD].length && k < PREFETCH_MAX; k += LINE) {
                __builtin_prefetch(source + row[ROWS_AHEAD].source + k, 0, 2);
                __builtin_prefetch(destination + row[ROWS_AHEAD].destination + k, 1, 2);
            }
        }
        memcpy(destination + row->destination, source + row->source, (size_t)row->length);
    }
}

/* The same where a swizzle scatters the rows. */
static void copy_chunks(const grout_chunk_move *moves, uint32_t count, const uint8_t *source,
                        uint8_t *destination) {
    for (uint32_t i = 0; i < count; i++) {
        if (i % (LINE / CHUNK) == 0 && i + CHUNKS_AHEAD < count) {
            __builtin_prefetch(source + moves[i + CHUNKS_AHEAD].source, 0, 2);
        }
        memcpy(destination + moves[i].destination, source + moves[i].source, CHUNK);
    }
}

void grout_tma__move(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                     const grout_box *to) {
    const grout_plan *plan = machine->plan;
    if (from->is_shaped && to->is_shaped && inst->chunk_count + inst->transfer_count > 0) {
        grout_box__touch(machine, to);
        if (inst->chunk_count > 0) {
            copy_chunks(grout_pool__at(&plan->chunk_moves, inst->first_chunk), inst->chunk_count,
                        from->bytes + from->offset, to->bytes + to->offset);
        } else {
            copy_rows(grout_pool__at(&plan->transfers, inst->first_transfer), inst->transfer_count,
                      from->bytes + from->offset, to->bytes + to->offset);
        }
        return;
    }
    if (!from->is_inside) {
        memset(machine->linear, 0, (size_t)from->plan->bytes);
    }
    grout_box__gather(machine, from, machine->linear);
    grout_box__scatter(machine, to, machine->linear);
}

static const grout_inst *get_inst(const grout_machine *machine, const grout_async *async) {
    return grout_plan__inst(machine->plan, async->pc);
}

static grout_box place_box(const grout_machine *machine, const grout_async *async, uint32_t index) {
    const grout_inst *inst = get_inst(machine, async);
    return grout_box__place(machine, grout_plan__box(machine->plan, inst, index),
                            async->start[index]);
}

/* ---- the list of copies in flight
 * ---------------------------------------------------------------- */

static void link_flight(grout_machine *machine, uint32_t index) {
    grout_cta *cta = grout_machine__cta(machine);
    grout_machine__async(machine, index)->previous = cta->last_flight;
    if (cta->last_flight != 0) {
        grout_machine__async(machine, cta->last_flight)->next = index;
    } else {
        cta->first_flight = index;
    }
    cta->last_flight = index;
}

static void unlink_flight(grout_machine *machine, uint32_t index) {
    grout_cta *cta = grout_machine__cta(machine);
    const grout_async *async = grout_machine__async(machine, index);
    if (async->previous != 0) {
        grout_machine__async(machine, async->previous)->next = async->next;
    } else {
        cta->first_flight = async->next;
    }
    if (async->next != 0) {
        grout_machine__async(machine, async->next)->previous = async->previous;
    } else {
        cta->last_flight = async->previous;
    }
}

void grout_tma__end_flight(grout_machine *machine, uint32_t index) {
    grout_async *async = grout_machine__async(machine, index);
    async->flags |= GROUT_ASYNC_READ | GROUT_ASYNC_DONE;
    unlink_flight(machine, index);
    if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE)) {
        grout_tma__publish_complete(machine, async);
    }
}

void grout_tma__forget(grout_machine *machine, uint32_t index) {
    if ((grout_machine__async(machine, index)->flags & GROUT_ASYNC_DONE) == 0) {
        unlink_flight(machine, index);
    }
    grout_pool__give(&machine->asyncs, index);
}

uint32_t grout_tma__add_flight(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_cta *cta = grout_machine__cta(machine);
    uint32_t index = grout_pool__take(&machine->asyncs, &machine->heap);
    if (index == 0) {
        machine->has_failed = true;
        return 0;
    }
    grout_async *async = grout_machine__async(machine, index);
    async->pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
    async->serial = cta->async_serial - 1;
    async->origin = grout_machine__origin(machine, thread, inst);
    if (machine->launch.timing == GROUT_TIMING_RANDOM) {
        async->read_due = cta->points + grout_machine__draw(machine, GROUT_DRAW_ENGINE) % DELAY_MAX;
        async->write_due =
            async->read_due + grout_machine__draw(machine, GROUT_DRAW_ENGINE) % DELAY_MAX;
    }
    link_flight(machine, index);
    return index;
}

static uint32_t add_copy(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                         const grout_box *boxes) {
    uint32_t index = grout_tma__add_flight(machine, thread, inst);
    if (index != 0) {
        grout_async *async = grout_machine__async(machine, index);
        memcpy(async->start[0], boxes[0].start, sizeof async->start[0]);
        memcpy(async->start[1], boxes[1].start, sizeof async->start[1]);
    }
    return index;
}

/* ---- loads
 * --------------------------------------------------------------------------------------- */

void grout_tma__start_load(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_load *load) {
    if (!machine->is_lazy) {
        if (!load->is_void) {
            grout_tma__move(machine, inst, &boxes[0], &boxes[1]);
        }
        if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE)) {
            grout_async async = {.pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0)),
                                 .element = load->element,
                                 .phase = load->phase,
                                 .serial = grout_machine__cta(machine)->async_serial - 1,
                                 .origin = grout_machine__origin(machine, thread, inst)};
            grout_tma__publish_complete(machine, &async);
        }
        grout_barrier__land(machine, load->element, load->record, boxes[1].plan->bytes);
        return;
    }
    uint32_t index = add_copy(machine, thread, inst, boxes);
    if (index == 0) {
        return;
    }
    grout_async *async = grout_machine__async(machine, index);
    grout_phase *phase = grout_machine__phase(machine, load->record);
    async->flags = load->is_void ? GROUT_ASYNC_VOID : 0;
    async->element = load->element;
    async->phase = load->phase;
    async->phase_record = load->record;
    if (phase->last_load != 0) {
        grout_machine__async(machine, phase->last_load)->peer = index;
    } else {
        phase->first_load = index;
    }
    phase->last_load = index;
}

/* Moves a load's bytes. Its phase does not complete before grout_barrier__land is called. */
static void finish_load(grout_machine *machine, uint32_t index) {
    const grout_async *async = grout_machine__async(machine, index);
    grout_box from = place_box(machine, async, 0), to = place_box(machine, async, 1);
    if ((async->flags & GROUT_ASYNC_VOID) == 0) {
        grout_tma__move(machine, get_inst(machine, async), &from, &to);
    }
    grout_tma__end_flight(machine, index);
    grout_machine__phase(machine, grout_machine__async(machine, index)->phase_record)->bytes_due -=
        to.plan->bytes;
}

void grout_tma__land_phases(grout_machine *machine, uint32_t element, uint32_t phase) {
    const grout_barrier *barrier = grout_machine__barrier(machine, element);
    while (barrier->first_open != 0 &&
           grout_machine__phase(machine, barrier->first_open)->number <= phase) {
        uint32_t record = barrier->first_open;
        for (uint32_t i = grout_machine__phase(machine, record)->first_load; i != 0;) {
            uint32_t next = grout_machine__async(machine, i)->peer;
            if ((grout_machine__async(machine, i)->flags & GROUT_ASYNC_DONE) == 0) {
                finish_load(machine, i);
            }
            i = next;
        }
        grout_barrier__land(machine, element, record, 0);
        if (barrier->first_open == record) {
            return; /* not full yet */
        }
    }
}

/* ---- stores
 * -------------------------------------------------------------------------------------- */

static uint32_t *get_free_slots(const grout_machine *machine) {
    return (uint32_t *)(void *)(machine->state + machine->at.payload_free);
}

static void finish_store(grout_machine *machine, uint32_t index);

/* There are two slots at least, and who asks for one has at most one that is not in flight yet. */
uint32_t grout_tma__take_payload(grout_machine *machine) {
    grout_cta *cta = grout_machine__cta(machine);
    if (cta->payload_used == machine->payload_slots) {
        uint32_t oldest = cta->first_flight;
        const grout_async *async = grout_machine__async(machine, oldest);
        while ((async->payload[0] | async->payload[1]) == 0) {
            oldest = async->next;
            async = grout_machine__async(machine, oldest);
        }
        if ((async->flags & GROUT_ASYNC_WGMMA) != 0) {
            grout_wgmma__finish(machine, async->origin.thread, async->group);
        } else {
            finish_store(machine, oldest);
        }
    }
    return get_free_slots(machine)[cta->payload_used++];
}

void grout_tma__give_payload(grout_machine *machine, uint32_t slot) {
    get_free_slots(machine)[--grout_machine__cta(machine)->payload_used] = slot;
}

void grout_tma__read_captured(grout_machine *machine, const grout_box *from, uint32_t slot) {
    uint8_t *bytes = grout_tma__get_payload(machine, slot);
    const uint8_t *stale = bytes + machine->payload_mask_at;
    grout_box__gather(machine, from, machine->linear);
    for (int64_t i = 0; i < from->plan->bytes; i++) {
        bytes[i] = stale[i] != 0 ? bytes[i] : machine->linear[i];
    }
}

/* Reads a store's source into its slot; bytes that were stale at issue are there already. */
static void read_store(grout_machine *machine, uint32_t index) {
    grout_async *async = grout_machine__async(machine, index);
    grout_box from = place_box(machine, async, 0);
    async->flags |= GROUT_ASYNC_READ;
    if ((async->flags & GROUT_ASYNC_VOID) != 0) {
        return;
    }
    if ((async->flags & GROUT_ASYNC_STALE) == 0) {
        async->payload[0] = grout_tma__take_payload(machine);
        grout_box__gather(machine, &from, grout_tma__get_payload(machine, async->payload[0]));
        return;
    }
    grout_tma__read_captured(machine, &from, async->payload[0]);
}

static void write_store(grout_machine *machine, uint32_t index) {
    grout_async *async = grout_machine__async(machine, index);
    if ((async->flags & GROUT_ASYNC_VOID) == 0) {
        grout_box to = place_box(machine, async, 1);
        grout_box__scatter(machine, &to, grout_tma__get_payload(machine, async->payload[0]));
        grout_tma__give_payload(machine, async->payload[0]);
        async->payload[0] = 0;
    }
    grout_tma__end_flight(machine, index);
}

static void finish_store(grout_machine *machine, uint32_t index) {
    const grout_async *async = grout_machine__async(machine, index);
    if ((async->flags & (GROUT_ASYNC_READ | GROUT_ASYNC_STALE | GROUT_ASYNC_VOID)) == 0) {
        grout_box from = place_box(machine, async, 0), to = place_box(machine, async, 1);
        grout_tma__move(machine, get_inst(machine, async), &from, &to);
        grout_tma__end_flight(machine, index);
        return;
    }
    if ((async->flags & GROUT_ASYNC_READ) == 0) {
        read_store(machine, index);
    }
    write_store(machine, index);
}

uint32_t grout_tma__capture(grout_machine *machine, uint32_t thread, const grout_box *from) {
    uint8_t *stale = machine->mask_linear;
    if (!grout_undo__capture(machine, thread, from, machine->linear, stale)) {
        return 0;
    }
    /* What finishes to make room uses the scratch. */
    uint32_t slot = grout_tma__take_payload(machine);
    if (grout_undo__capture(machine, thread, from, machine->linear, stale)) {
        uint8_t *bytes = grout_tma__get_payload(machine, slot);
        memcpy(bytes, machine->linear, (size_t)from->plan->bytes);
        memcpy(bytes + machine->payload_mask_at, stale, (size_t)from->plan->bytes);
    }
    return slot;
}

void grout_tma__start_store(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                            const grout_box *boxes, bool is_void) {
    grout_thread *owner = grout_machine__thread(machine, thread);
    if (!machine->is_lazy) {
        if (!is_void) {
            grout_tma__move(machine, inst, &boxes[0], &boxes[1]);
        }
        if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE)) {
            grout_async async = {.pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0)),
                                 .group = owner->committed + 1,
                                 .flags = GROUT_ASYNC_STORE,
                                 .serial = grout_machine__cta(machine)->async_serial - 1,
                                 .origin = grout_machine__origin(machine, thread, inst)};
            grout_tma__publish_complete(machine, &async);
        }
        return;
    }
    uint32_t index = add_copy(machine, thread, inst, boxes);
    if (index == 0) {
        return;
    }
    grout_async *async = grout_machine__async(machine, index);
    async->flags = GROUT_ASYNC_STORE | (is_void ? (uint32_t)GROUT_ASYNC_VOID : 0);
    async->group = owner->committed + 1;
    if (owner->last_store != 0) {
        grout_machine__async(machine, owner->last_store)->peer = index;
    } else {
        owner->first_store = index;
    }
    owner->last_store = index;
    owner->first_unread = owner->first_unread == 0 ? index : owner->first_unread;
    async->payload[0] = is_void ? 0 : grout_tma__capture(machine, thread, &boxes[0]);
    async->flags |= async->payload[0] != 0 ? (uint32_t)GROUT_ASYNC_STALE : 0;
}

/* Forgets the thread's finished stores, from the oldest on. */
static void pop_stores(grout_machine *machine, grout_thread *owner) {
    while (owner->first_store != 0 &&
           (grout_machine__async(machine, owner->first_store)->flags & GROUT_ASYNC_DONE) != 0) {
        uint32_t index = owner->first_store;
        uint32_t next = grout_machine__async(machine, index)->peer;
        owner->first_unread = owner->first_unread == index ? next : owner->first_unread;
        owner->first_store = next;
        owner->last_store = next == 0 ? 0 : owner->last_store;
        grout_pool__give(&machine->asyncs, index);
    }
}

void grout_tma__finish_groups(grout_machine *machine, uint32_t thread, uint32_t last,
                              bool read_only) {
    grout_thread *owner = grout_machine__thread(machine, thread);
    uint32_t first = read_only ? owner->first_unread : owner->first_store;
    for (uint32_t i = first; i != 0; i = grout_machine__async(machine, i)->peer) {
        const grout_async *async = grout_machine__async(machine, i);
        if (async->group > last) {
            break;
        }
        if (read_only && (async->flags & GROUT_ASYNC_READ) == 0) {
            read_store(machine, i);
        } else if (!read_only && (async->flags & GROUT_ASYNC_DONE) == 0) {
            finish_store(machine, i);
        }
        owner->first_unread =
            owner->first_unread == i ? grout_machine__async(machine, i)->peer : owner->first_unread;
    }
    pop_stores(machine, owner);
}

/* ---- several at once --------------------------------------------------------------------------
 */

static void finish(grout_machine *machine, uint32_t index) {
    grout_async async = *grout_machine__async(machine, index);
    if ((async.flags & GROUT_ASYNC_WGMMA) != 0) {
        grout_wgmma__finish(machine, async.origin.thread, async.group);
    } else if ((async.flags & GROUT_ASYNC_STORE) != 0) {
        finish_store(machine, index);
        pop_stores(machine, grout_machine__thread(machine, async.origin.thread));
    } else {
        finish_load(machine, index);
        grout_barrier__land(machine, async.element, async.phase_record, 0);
    }
}

void grout_tma__finish_all(grout_machine *machine) {
    while (grout_machine__cta(machine)->first_flight != 0) {
        finish(machine, grout_machine__cta(machine)->first_flight);
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
                (box->space != GROUT_SPACE_ACC || scope->is_collective ||
                 async->origin.thread == thread)) {
                return true;
            }
        }
    }
    return false;
}

void grout_tma__finish_scope(grout_machine *machine, const grout_scope_plan *scope,
                             uint32_t thread) {
    for (uint32_t i = grout_machine__cta(machine)->first_flight; i != 0;) {
        uint32_t next = grout_machine__async(machine, i)->next;
        if (is_touched(machine, scope, grout_machine__async(machine, i), thread)) {
            finish(machine, i);
            /* Finishing may have finished others to make room. */
            next = grout_machine__cta(machine)->first_flight;
        }
        i = next;
    }
}

/* One copy that is due at this point takes its next step; false if there is none. */
static bool step_due(grout_machine *machine) {
    uint64_t now = grout_machine__cta(machine)->points;
    for (uint32_t i = grout_machine__cta(machine)->first_flight; i != 0;) {
        const grout_async *async = grout_machine__async(machine, i);
        bool is_store = (async->flags & GROUT_ASYNC_STORE) != 0;
        bool has_read = (async->flags & GROUT_ASYNC_READ) != 0;
        if (is_store && !has_read && async->read_due <= now && async->write_due > now) {
            read_store(machine, i);
            return true;
        }
        if ((is_store ? async->write_due : async->read_due) <= now) {
            finish(machine, i);
            return true;
        }
        i = async->next;
    }
    return false;
}

void grout_tma__pass_point(grout_machine *machine) {
    grout_machine__cta(machine)->points++;
    if (machine->launch.timing == GROUT_TIMING_RANDOM) {
        while (step_due(machine)) {
        }
    }
}
