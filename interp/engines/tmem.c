/*
 * tmem.c - loads and stores of tensor memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A load has read when it comes back, but where an MMA in flight may still change what it reads it
 * finds poison. A store under lazy or random timing leaves poison until it is done, at the latest
 * when its thread loads what it has stored.
 */
#include "access.h"
#include "capture.h"
#include "convert.h"
#include "engine.h"
#include "pair.h"
#include "tcgen05.h"

#include <string.h>

/* Whose loads, or stores, these are; both are of whole threads. */
static grout_stamp get_stamp(const grout_cta *cta, uint32_t thread, bool is_load, uint32_t number) {
    const grout_clock_shape *shape = &cta->machine->plan->shape;
    const uint32_t actor = grout_cta__actor(cta, thread);
    return (grout_stamp){.cluster = grout_cta__cluster(cta)->index,
                         .component = is_load ? grout_clock_tmem_load(shape, actor)
                                              : grout_clock_tmem_store(shape, actor),
                         .number = number,
                         .agent = GROUT_AGENT_ENGINE};
}

/* ISSUE and ACCESS of a load or store. */
static void publish(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                    const grout_box *box, const grout_stamp *stamp) {
    const grout_stamp stamps[2] = {*stamp, *stamp};
    const grout_issue issue = {.bytes = box->plan->bytes, .read = *stamp, .write = *stamp};
    grout_flight__publish_issue(cta, thread, inst, &issue);
    grout_access__publish(cta, thread, inst, box, stamps);
}

/* What the thread has waited for is over for itself, at once. */
static void note_wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst, bool is_load,
                      uint32_t done) {
    grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    const grout_stamp stamp = get_stamp(cta, thread, is_load, done);
    if (grout_machine__wants(machine, GROUT_EVENT_TMEM_WAIT)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_TMEM_WAIT, thread, inst, &clocks);
        event.u.group.lane = grout_cta__actor(cta, thread);
        event.u.group.number = done;
        event.u.group.read_only = is_load;
        grout_machine__publish(machine, &event);
    }
    if (order->tensor_size > 0) { /* of a kernel without tensor memory there is nothing to know */
        grout_order__rely(order, grout_cta__clocks(cta, thread), stamp.component, done);
    }
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* Whether a byte, counted as memory_offset is, belongs to a box of another array of the same
 * columns. */
static bool has_byte(const grout_box_plan *plan, const int64_t *start, int64_t byte) {
    int64_t index[GROUT_RANK_MAX];
    int64_t at = byte - plan->memory_offset;
    if (at < 0 || at >= plan->layout->bytes) {
        return false;
    }
    if (plan->more_copies > 0) { /* in the first of the copies */
        at -= at / plan->copy_stride % (plan->more_copies + 1) * plan->copy_stride;
    }
    grout_layout_get_index(plan->layout, at, index);
    const int64_t first = grout_layout_get_offset(plan->layout, index);
    bool is_inside = at >= first && at < first + plan->element_bytes;
    for (uint32_t dim = 0; dim < plan->rank && is_inside; dim++) {
        is_inside = index[dim] >= start[dim] && index[dim] < start[dim] + plan->extent[dim];
    }
    return is_inside;
}

/* The elements of the box that an MMA in flight may still change by another name. An element of 8
 * or 16 bits is a part of one of 32, or the other way round. */
static void poison_cells(const grout_box *box, const grout_box_plan *other, const int64_t *start,
                         uint8_t *array) {
    const grout_box_plan *plan = box->plan;
    const uint32_t column = plan->rank - 1u, row = plan->rank - 2u;
    int64_t index[GROUT_RANK_MAX];
    memcpy(index, box->start, sizeof index);
    for (int64_t k = 0; k < plan->count; k++) {
        index[row] = box->start[row] + k / plan->extent[column];
        index[column] = box->start[column] + k % plan->extent[column];
        const int64_t first = plan->memory_offset + grout_layout_get_offset(plan->layout, index);
        bool is_changing = false;
        for (int64_t i = 0; i < plan->element_bytes && !is_changing; i++) {
            is_changing = has_byte(other, start, first + i);
        }
        if (is_changing) {
            grout_fill_poison(plan->dtype, array + k * plan->element_bytes, 1);
        }
    }
}

/* The columns of the box that an MMA in flight may still change, of either CTA of its pair, hold
 * poison. */
static void poison_columns(const grout_cta *cta, const grout_box *box, const grout_flight *flight,
                           uint8_t *array) {
    const grout_box_plan *plan = box->plan;
    const uint32_t column = plan->rank - 1u, row = plan->rank - 2u;
    const grout_inst *inst = grout_flight__inst(cta->machine, flight);
    const grout_box_plan *other =
        flight->engine == GROUT_ENGINE_TCGEN05
            ? grout_plan__box(cta->machine->plan, inst, grout_tcgen05__get_target(inst))
            : NULL;
    const bool is_of_peer = flight->home != cta->rank;
    if (other == NULL || flight->is_void ||
        (is_of_peer && (inst->attrs & GROUT_ATTR_BIT(COLLECTIVE_AXIS)) == 0)) {
        return;
    }
    if (other->object != plan->object) {
        if (grout_objects_share_bytes(cta->machine->launch.module, other->object, plan->object)) {
            poison_cells(box, other, flight->start[2], array);
        }
        return;
    }
    const int64_t *start = flight->start[2];
    int64_t low = start[column] - box->start[column], high = low + other->extent[column];
    low = low < 0 ? 0 : low;
    high = high > plan->extent[column] ? plan->extent[column] : high;
    if (memcmp(start, box->start, column * sizeof *start) != 0) {
        return; /* of another slot */
    }
    for (int64_t k = 0; low < high && k < plan->extent[row]; k++) {
        grout_fill_poison(plan->dtype,
                          array + (k * plan->extent[column] + low) * plan->element_bytes,
                          high - low);
    }
}

static void poison_in_flight(const grout_cta *cta, const grout_box *box, uint8_t *array) {
    const grout_machine *machine = cta->machine;
    const uint32_t leader = machine->plan->has_pairs ? grout_pair_leader(cta->rank) : cta->rank;
    for (uint32_t rank = leader; rank <= cta->rank; rank++) {
        for (uint32_t i = grout_cta__head(grout_cta__peer(cta, rank))->first_flight; i != 0;) {
            const grout_flight *flight = grout_flight__get(machine, i);
            poison_columns(cta, box, flight, array);
            i = flight->next;
        }
    }
}

/* Whether a store in flight writes some of a box. */
static bool is_stored(const grout_cta *cta, const grout_flight *store, const grout_box *box) {
    const grout_box_plan *from =
        grout_plan__box(cta->machine->plan, grout_flight__inst(cta->machine, store), 0);
    const grout_box_plan *to = box->plan;
    const int64_t *start = store->start[0];
    bool is_shared = true;
    if (from->object != to->object) { /* by another name: all of it */
        return grout_objects_share_bytes(cta->machine->launch.module, from->object, to->object);
    }
    for (uint32_t dim = 0; dim < to->rank && is_shared; dim++) {
        is_shared = start[dim] < box->start[dim] + to->extent[dim] &&
                    box->start[dim] < start[dim] + from->extent[dim];
    }
    return is_shared;
}

/* A warp's stores are done before its later loads of the same cells (PTX ISA 9.4, 'tcgen05 memory
 * consistency model', pipelined instructions). */
static void finish_stores(const grout_cta *cta, uint32_t thread, const grout_box *box) {
    const grout_machine *machine = cta->machine;
    uint32_t last = 0;
    for (uint32_t i = grout_flight__queue(cta, GROUT_ENGINE_TMEM_STORE, thread)->first; i != 0;) {
        const grout_flight *store = grout_flight__get(machine, i);
        last = !store->is_done && is_stored(cta, store, box) ? store->group : last;
        i = store->queue_next;
    }
    if (last != 0) {
        grout_flight__finish_groups(cta, GROUT_ENGINE_TMEM_STORE, thread, last);
    }
}

static void load_mask(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      const grout_box *box) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = &inst->result;
    const bool is_undefined = machine->tracks && !grout_box__is_defined(machine, box);
    if (is_undefined) {
        memset(grout_slot__mask(cta, thread, slot), 0, slot->count);
        grout_box__get_undefined(machine, box, grout_slot__mask(cta, thread, slot));
        grout_box__publish_unwritten(cta, thread, inst, box);
    }
    grout_slot__set_undefined(cta, thread, slot, is_undefined);
}

void grout_tmem__load(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_box box = grout_box__resolve(cta, thread, inst, 0);
    const grout_slot *slot = &inst->result;
    uint8_t *data = grout_slot__data(cta, thread, slot);
    const grout_stamp stamp =
        get_stamp(cta, thread, true, ++grout_cta__thread(cta, thread)->tmem_loads);
    (void)grout_box__check_inside(cta, thread, inst, &box);
    publish(cta, thread, inst, &box, &stamp);
    if (!box.is_inside) {
        grout_fill_poison(slot->dtype, data, box.plan->count);
    } else if (machine->is_lazy) {
        finish_stores(cta, thread, &box);
    }
    grout_box__gather(machine, &box, data);
    if (!machine->plan->stores_tmem && slot->dtype == GROUT_DTYPE_F32) { /* all are sums */
        grout_gemm__unify_nans((float *)(void *)data, (size_t)box.plan->count);
    }
    if (machine->is_lazy && box.is_inside) {
        poison_in_flight(cta, &box, data);
    }
    load_mask(cta, thread, inst, &box);
}

void grout_tmem__wait_loads(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    note_wait(cta, thread, inst, true, grout_cta__thread(cta, thread)->tmem_loads);
}

/* ---- stores ---------------------------------------------------------------------------------- */

int64_t grout_engine__bytes_tmem_store(const grout_machine *machine, const grout_inst *inst) {
    return grout_plan__box(machine->plan, inst, 0)->bytes;
}

void grout_engine__stamps_tmem_store(const grout_cta *cta, const grout_flight *flight,
                                     grout_stamp *read_out, grout_stamp *write_out) {
    *read_out = *write_out = get_stamp(cta, flight->actor, false, flight->group);
}

void grout_engine__land_tmem_store(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_flight *flight = grout_flight__get(machine, index);
    const grout_inst *inst = grout_flight__inst(machine, flight);
    const grout_box to =
        grout_box__place(cta, grout_plan__box(machine->plan, inst, 0), flight->start[0]);
    grout_box__scatter(machine, &to, grout_slots__get(cta, flight->bytes.elements));
    grout_slots__give(cta, flight->bytes.elements);
    flight->bytes.elements = 0;
}

static void put_in_flight(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const grout_box *box, uint32_t number) {
    const uint32_t kept = grout_slots__take(cta);
    memcpy(grout_slots__get(cta, kept),
           grout_slot__data(cta, thread, grout_plan__slot(cta->machine->plan, inst, 0)),
           (size_t)box->plan->bytes);
    const uint32_t index = grout_flight__add(cta, thread, inst, GROUT_ENGINE_TMEM_STORE, cta->rank);
    if (index == 0) {
        return;
    }
    grout_flight *flight = grout_flight__get(cta->machine, index);
    flight->bytes.elements = kept;
    memcpy(flight->start[0], box->start, sizeof flight->start[0]);
    grout_flight__enqueue(cta, thread, number, index);
    grout_box__poison(cta->machine, box);
}

void grout_tmem__store(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_box box = grout_box__resolve(cta, thread, inst, 0);
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    const uint32_t number = ++grout_cta__thread(cta, thread)->tmem_stores;
    const grout_stamp stamp = get_stamp(cta, thread, false, number);
    (void)grout_box__check_inside(cta, thread, inst, &box);
    publish(cta, thread, inst, &box, &stamp);
    if (machine->tracks) {
        const bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
        grout_box__set_written(machine, &box,
                               is_undefined ? grout_slot__mask(cta, thread, slot) : NULL);
    }
    if (machine->is_lazy) {
        put_in_flight(cta, thread, inst, &box, number);
        return;
    }
    grout_box__scatter(machine, &box, grout_slot__data(cta, thread, slot));
    grout_flight flight = grout_flight__describe(cta, thread, inst, GROUT_ENGINE_TMEM_STORE);
    flight.group = number;
    grout_flight__publish_complete(cta, &flight);
}

void grout_tmem__wait_stores(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const uint32_t done = grout_cta__thread(cta, thread)->tmem_stores;
    grout_flight__finish_groups(cta, GROUT_ENGINE_TMEM_STORE, thread, done);
    note_wait(cta, thread, inst, false, done);
}
