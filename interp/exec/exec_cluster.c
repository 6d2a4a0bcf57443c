/*
 * exec_cluster.c - the hardware barrier of a cluster, and stores to the SMEM of its other CTAs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"
#include "barrier.h"
#include "exec.h"
#include "issue.h"
#include "mbarrier.h"
#include "undo.h"

#include <string.h>

/* ---- the hardware barrier -----------------------------------------------------------------------
 */

static bool is_relaxed(const grout_inst *inst) {
    return inst->order == GROUT_CHOICE_ORDER_RELAXED;
}

grout_outcome grout_exec_cluster_arrive(grout_machine *machine, uint32_t thread,
                                        const grout_inst *inst) {
    grout_cluster__arrive(machine, thread, inst, is_relaxed(inst));
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_cluster_wait(grout_machine *machine, uint32_t thread,
                                      const grout_inst *inst) {
    return grout_cluster__wait(machine, thread, inst, is_relaxed(inst)) ? GROUT_OUTCOME_NEXT
                                                                        : GROUT_OUTCOME_BLOCKED;
}

grout_outcome grout_exec_cluster_barrier(grout_machine *machine, uint32_t thread,
                                         const grout_inst *inst) {
    grout_thread *own = grout_machine__thread(machine, thread);
    if (own->stage == 0) {
        grout_cluster__arrive(machine, thread, inst, is_relaxed(inst));
        own->stage = 1;
    }
    if (!grout_cluster__wait(machine, thread, inst, is_relaxed(inst))) {
        return GROUT_OUTCOME_BLOCKED;
    }
    own->stage = 0;
    return GROUT_OUTCOME_NEXT;
}

/* ---- async_store_smem ---------------------------------------------------------------------------
 */

/* A destination that leaves its object is refused. */
static bool check_bounds(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                         const grout_box *box) {
    if (box->is_inside || box->is_nowhere) {
        return box->is_inside;
    }
    uint32_t dim = box->outside;
    grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                         .object = box->plan->object,
                         .dimension = dim,
                         .start = box->start[dim],
                         .extent = box->plan->extent[dim],
                         .limit = box->plan->dims[dim]};
    grout_machine__fault(machine, thread, inst, box->plan->operand, &fault);
    return false;
}

/* The first phase of the destination's barrier that the actor does not know complete. */
static uint32_t find_phase(const grout_machine *machine, uint32_t thread, uint32_t rank,
                           uint32_t element) {
    uint32_t number = rank * machine->plan->element_count + element;
    uint32_t known =
        grout_machine__clocks(machine, thread)[grout_clock_ph(&machine->plan->shape, number)];
    const uint8_t *arena = grout_machine__get_arena(machine, machine->slot, rank);
    const grout_barrier *barrier =
        (const grout_barrier *)(const void *)(arena + machine->at.barriers) + element;
    return known < barrier->phase_base ? barrier->phase_base : known;
}

static void publish_store(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                          const grout_box *box, const grout_delivery *delivery) {
    uint32_t number = box->rank * machine->plan->element_count + delivery->element;
    const grout_stamp stamp = {.cluster = grout_machine__cluster(machine)->index,
                               .component = grout_clock_ph(&machine->plan->shape, number),
                               .number = delivery->phase + 1,
                               .agent = GROUT_AGENT_GENERIC_ENGINE};
    const grout_stamp stamps[2] = {stamp, stamp};
    const grout_issue issue = {.bytes = box->plan->bytes, .read = stamp, .write = stamp};
    grout_tma__publish_issue(machine, thread, inst, &issue);
    if (box->is_inside) {
        grout_access__publish(machine, thread, inst, box, stamps);
    }
}

static void set_definedness(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                            const grout_box *box) {
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    const uint8_t *mask = NULL, is_undefined = 1;
    if (grout_slot__is_undefined(machine, thread, slot)) {
        mask = slot->is_array ? grout_slot__mask(machine, thread, slot) : &is_undefined;
    }
    if (inst->reduction == GROUT_UPDATE_NONE || mask != NULL) {
        grout_box__set_written(machine, box, mask);
    }
}

/* Its elements wait in a slot of the destination's CTA. */
static void put_in_flight(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                          const grout_box *box, const grout_delivery *delivery, uint32_t record) {
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    const uint8_t *elements = grout_slot__data(machine, thread, slot);
    uint32_t index = grout_tma__add_flight_to(machine, thread, inst, box->rank);
    if (index == 0) {
        return;
    }
    uint32_t own = grout_machine__select(machine, box->rank);
    uint32_t payload = box->is_inside ? grout_tma__take_payload(machine) : 0;
    grout_async *async = grout_machine__async(machine, index);
    async->flags = GROUT_ASYNC_DSMEM | (box->is_inside ? 0 : (uint32_t)GROUT_ASYNC_VOID);
    async->bytes = delivery->bytes;
    async->payload[0] = payload;
    memcpy(async->start[0], box->start, sizeof async->start[0]);
    if (payload != 0) {
        memcpy(grout_tma__get_payload(machine, payload), elements, (size_t)box->plan->bytes);
    }
    grout_tma__attach(machine, delivery->element, record, index);
    grout_machine__select(machine, own);
}

static void store_now(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                      const grout_box *box, const grout_delivery *delivery, uint32_t record) {
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    if (box->is_inside) {
        grout_tma__combine(machine, inst, box, grout_slot__data(machine, thread, slot));
    }
    if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE)) {
        grout_async async = {.pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0)),
                             .flags = GROUT_ASYNC_DSMEM,
                             .element = delivery->element,
                             .phase = delivery->phase,
                             .serial = grout_machine__cta(machine)->async_serial - 1,
                             .origin = grout_machine__origin(machine, thread, inst)};
        grout_tma__publish_complete(machine, &async);
    }
    uint32_t own = grout_machine__select(machine, delivery->rank);
    grout_barrier__land(machine, delivery->element, record, delivery->bytes);
    grout_machine__select(machine, own);
}

/* Bytes to a peer's barrier, and data beside it; on a 'barrier' they announce themselves. */
grout_outcome grout_exec_async_store_smem(grout_machine *machine, uint32_t thread,
                                          const grout_inst *inst) {
    grout_box box = grout_box__resolve(machine, thread, inst, 0);
    grout_delivery delivery = {.rank = box.rank, .bytes = box.plan->bytes, .is_told = true};
    if (box.is_nowhere ||
        !grout_barrier__find_element(machine, thread, inst, 1, &delivery.element)) {
        return GROUT_OUTCOME_NEXT;
    }
    if (grout_mbarrier__awaits_init(machine, thread, delivery.element, 1u << box.rank)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    check_bounds(machine, thread, inst, &box);
    delivery.is_armed = !machine->plan->elements[delivery.element].is_explicit;
    delivery.phase = find_phase(machine, thread, box.rank, delivery.element);
    publish_store(machine, thread, inst, &box, &delivery);
    if (machine->tracks && box.is_inside) {
        set_definedness(machine, thread, inst, &box);
    }
    if (machine->is_lazy && box.is_inside) {
        grout_undo__note_load(machine, inst, 0, &box);
        if (inst->reduction == GROUT_UPDATE_NONE) {
            grout_box__poison(machine, &box);
        }
    }
    uint32_t record = grout_barrier__deliver(machine, thread, inst, &delivery);
    grout_machine__advance(machine, thread); /* its bytes carry the clock as of now */
    if (record != 0 && machine->is_lazy) {
        put_in_flight(machine, thread, inst, &box, &delivery, record);
    } else if (record != 0) {
        store_now(machine, thread, inst, &box, &delivery, record);
    }
    return GROUT_OUTCOME_NEXT;
}
