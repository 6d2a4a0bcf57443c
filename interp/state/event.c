/* event.c - telling observers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

grout_origin grout_machine__origin(const grout_machine *machine, uint32_t thread,
                                   const grout_inst *inst) {
    grout_origin origin = {.op = inst->op,
                           .cta = grout_machine__cta(machine)->index,
                           .thread = (uint8_t)grout_machine__thread_of(machine, thread),
                           .warp = (uint8_t)grout_machine__warp_of(machine, thread),
                           .loop_depth = inst->loop_depth};
    const grout_loop_state *loops = grout_machine__loops(machine, thread);
    for (uint32_t i = 0; i < inst->loop_depth && i < GROUT_ORIGIN_LOOPS; i++) {
        origin.loops[i] = (int32_t)loops[i].index;
    }
    return origin;
}

grout_event grout_machine__event(grout_machine *machine, grout_event_kind kind, uint32_t thread,
                                 const grout_inst *inst, grout_clocks *clocks) {
    const grout_order *order = &machine->plan->order;
    uint32_t *set = grout_machine__clocks(machine, thread);
    *clocks = (grout_clocks){.cluster = grout_machine__cluster(machine)->index};
    clocks->known = set;
    clocks->published_gmem = grout_order__get_gmem(order, set);
    clocks->published_smem = grout_order__get_smem(order, set, 0);
    clocks->smem_stride = order->owners > 1 ? order->size : 0;
    if (*grout_order__get_foreign(order, set) != 0) {
        clocks->foreign = grout_foreign__show(machine, *grout_order__get_foreign(order, set),
                                              &clocks->foreign_count);
    }
    grout_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.step = machine->stats.steps;
    event.origin = grout_machine__origin(machine, thread, inst);
    event.clocks = clocks;
    return event;
}

void grout_machine__publish_plain(grout_machine *machine, grout_event_kind kind, uint32_t thread,
                                  const grout_inst *inst) {
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_machine__event(machine, kind, thread, inst, &clocks);
        grout_machine__publish(machine, &event);
    }
}

void grout_machine__publish(grout_machine *machine, const grout_event *event) {
    machine->stats.events++;
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        if ((observer->interest >> event->kind & 1u) != 0 &&
            !observer->event(observer->self, event)) {
            machine->has_failed = true;
        }
    }
}

void grout_machine__publish_cta(grout_machine *machine, grout_event *event) {
    event->step = machine->stats.steps;
    event->origin.cta = grout_machine__cta(machine)->index;
    grout_machine__publish(machine, event);
}

void grout_machine__fault(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                          uint32_t operand, const grout_fault *fault) {
    if (grout_machine__wants(machine, GROUT_EVENT_FAULT)) {
        grout_clocks clocks;
        grout_event event = grout_machine__event(machine, GROUT_EVENT_FAULT, thread, inst, &clocks);
        event.origin.operand = (uint8_t)operand;
        event.u.fault = fault;
        grout_machine__publish(machine, &event);
    }
}

void grout_machine__fault_undefined(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                                    uint32_t operand, grout_uninitialised_use use) {
    grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ, .use = use};
    grout_machine__fault(machine, thread, inst, operand, &fault);
}
