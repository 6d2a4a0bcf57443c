/* event.c - events for observers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

grout_origin grout_cta__origin(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_machine *machine = cta->machine;
    grout_origin origin = {.op = inst->op,
                           .cta = grout_cta__head(cta)->index,
                           .thread = (uint8_t)grout_machine__thread_of(machine, thread),
                           .warp = (uint8_t)grout_machine__warp_of(machine, thread),
                           .loop_depth = inst->loop_depth};
    const grout_loop_state *loops = grout_cta__loops(cta, thread);
    for (uint32_t i = 0; i < inst->loop_depth && i < GROUT_ORIGIN_LOOPS; i++) {
        origin.loops[i] = (int32_t)loops[i].index;
    }
    return origin;
}

grout_event grout_cta__event(const grout_cta *cta, grout_event_kind kind, uint32_t thread,
                             const grout_inst *inst, grout_clocks *clocks) {
    grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    uint32_t *set = grout_cta__clocks(cta, thread);
    *clocks = (grout_clocks){.cluster = grout_cta__cluster(cta)->index};
    clocks->known = set;
    clocks->published_gmem = grout_order__get_gmem(order, set);
    clocks->fenced_gmem = grout_order__get_fenced(order, set, cta->rank);
    clocks->published_smem = grout_order__get_smem(order, set, 0);
    clocks->smem_stride = order->owners > 1 ? order->size : 0;
    clocks->admitted = grout_order__get_admitted(order, set);
    if (*grout_order__get_foreign(order, set) != 0) {
        clocks->foreign = grout_foreign__show(machine, *grout_order__get_foreign(order, set),
                                              cta->rank, &clocks->foreign_count);
    }
    grout_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.step = machine->run.stats.steps;
    event.origin = grout_cta__origin(cta, thread, inst);
    event.clocks = clocks;
    event.look = machine->run.spin.look;
    event.is_again = machine->run.spin.is_again;
    return event;
}

void grout_cta__publish_plain(const grout_cta *cta, grout_event_kind kind, uint32_t thread,
                              const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, kind, thread, inst, &clocks);
        grout_machine__publish(machine, &event);
    }
}

void grout_machine__publish(grout_machine *machine, const grout_event *event) {
    machine->run.stats.events++;
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        if ((observer->interest >> event->kind & 1u) != 0 &&
            !observer->event(observer->self, event)) {
            machine->run.has_failed = true;
        }
    }
}

void grout_cta__publish_cta(const grout_cta *cta, grout_event *event) {
    grout_machine *machine = cta->machine;
    event->step = machine->run.stats.steps;
    event->origin.cta = grout_cta__head(cta)->index;
    grout_machine__publish(machine, event);
}

void grout_cta__fault(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      uint32_t operand, const grout_fault *fault) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, GROUT_EVENT_FAULT)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_FAULT, thread, inst, &clocks);
        event.origin.operand = (uint8_t)operand;
        event.u.fault = fault;
        grout_machine__publish(machine, &event);
    }
}

void grout_cta__fault_undefined(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                uint32_t operand, grout_uninitialised_use use) {
    grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ, .use = use};
    grout_cta__fault(cta, thread, inst, operand, &fault);
}
