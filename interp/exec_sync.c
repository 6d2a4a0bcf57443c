/*
 * exec_sync.c - commits, arrivals and waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "exec.h"
#include "tma.h"

static void publish_plain(grout_machine *machine, grout_event_kind kind, uint32_t thread,
                          const grout_inst *inst) {
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_machine__event(machine, kind, thread, inst, &clocks);
        grout_machine__publish(machine, &event);
    }
}

grout_outcome grout_exec_commit_smem(grout_machine *machine, uint32_t thread,
                                     const grout_inst *inst) {
    publish_plain(machine, GROUT_EVENT_COMMIT_SMEM, thread, inst);
    if (machine->has_clocks) {
        grout_order__commit_smem(&machine->plan->shape, grout_machine__clocks(machine, thread),
                                 thread);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_fence_async_shared(grout_machine *machine, uint32_t thread,
                                            const grout_inst *inst) {
    return grout_exec_commit_smem(machine, thread, inst);
}

grout_outcome grout_exec_commit_gmem(grout_machine *machine, uint32_t thread,
                                     const grout_inst *inst) {
    (void)thread;
    (void)inst;
    machine->has_failed = true;
    return GROUT_OUTCOME_FAILED;
}

grout_outcome grout_exec_barrier_arrive(grout_machine *machine, uint32_t thread,
                                        const grout_inst *inst) {
    grout_arrival arrival = {.count = (uint32_t)inst->number};
    if (grout_exec__find_element(machine, thread, inst, 0, &arrival.element)) {
        grout_barrier__arrive(machine, thread, inst, &arrival);
    }
    return GROUT_OUTCOME_NEXT;
}

/* Blocks until the arrivals of the thread's next phase are in; the engine then lands its bytes. */
grout_outcome grout_exec_barrier_wait(grout_machine *machine, uint32_t thread,
                                      const grout_inst *inst) {
    uint32_t element;
    grout_thread *waiter = grout_machine__thread(machine, thread);
    if (!grout_exec__find_element(machine, thread, inst, 0, &element)) {
        return GROUT_OUTCOME_NEXT;
    }
    uint32_t phase = grout_machine__waits(machine, element)[thread].waits;
    if (!grout_barrier__is_full(machine, element, phase)) {
        waiter->state = GROUT_THREAD_BLOCKED_BARRIER;
        waiter->element = element;
        waiter->phase = phase;
        return GROUT_OUTCOME_BLOCKED;
    }
    grout_tma__land_phases(machine, element, phase);
    grout_barrier__observe(machine, thread, inst, element);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_commit_group(grout_machine *machine, uint32_t thread,
                                      const grout_inst *inst) {
    grout_tma__commit_group(machine, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

/* Never blocks here: the engine does at once what is waited for. */
grout_outcome grout_exec_wait_smem_to_gmem(grout_machine *machine, uint32_t thread,
                                           const grout_inst *inst) {
    const grout_clock_shape *shape = &machine->plan->shape;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    uint32_t allowed = (uint32_t)grout_slot__get_integer(machine, thread, slot);
    uint32_t committed = grout_machine__thread(machine, thread)->committed;
    uint32_t done = committed > allowed ? committed - allowed : 0;
    if (grout_machine__wants(machine, GROUT_EVENT_GROUP_WAIT)) {
        grout_clocks clocks;
        grout_event event =
            grout_machine__event(machine, GROUT_EVENT_GROUP_WAIT, thread, inst, &clocks);
        event.u.group.lane = thread;
        event.u.group.number = done;
        event.u.group.allowed = allowed;
        event.u.group.read_only = inst->flag;
        grout_machine__publish(machine, &event);
    }
    if (machine->is_lazy) {
        grout_tma__finish_groups(machine, thread, done, inst->flag);
    }
    uint32_t *known = grout_machine__clocks(machine, thread);
    grout_order__raise(&known[grout_clock_br(shape, thread)], done);
    if (!inst->flag) {
        grout_order__raise(&known[grout_clock_bw(shape, thread)], done);
    }
    return GROUT_OUTCOME_NEXT;
}
