/*
 * exec_semaphore.c - signals, waits and reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "exec.h"
#include "semaphore.h"
#include "spin.h"

#include <string.h>

/* What the op is about; false, and a fault, if there is no such semaphore or number of units. */
static bool find_op(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                    grout_semaphore_op *op) {
    grout_machine *machine = cta->machine;
    *op = (grout_semaphore_op){.key.cta = grout_cta__head(cta)->index,
                               .no_decrement = (inst->attrs & GROUT_ATTR_BIT(NO_DECREMENT)) != 0,
                               .order = inst->order,
                               .scope = inst->edge_scope};
    if (!grout_barrier__find_element(cta, thread, inst, 0, &op->key.element)) {
        return false;
    }
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    int64_t units = grout_slot__get_integer(cta, thread, slot);
    if (grout_slot__is_undefined(cta, thread, slot)) {
        grout_cta__fault_undefined(cta, thread, inst, 1, GROUT_USE_SYNC);
        return false;
    }
    if (units < 1 || units > GROUT_SEMAPHORE_UNITS_MAX) {
        const grout_semaphore_plan *plan = grout_plan__semaphore(machine->plan, op->key.element);
        grout_fault fault = {.code = GROUT_DIAG_SEMAPHORE_RANGE,
                             .object = plan->object,
                             .element = plan->index,
                             .have = units,
                             .need = GROUT_SEMAPHORE_UNITS_MAX};
        grout_cta__fault(cta, thread, inst, 1, &fault);
        return false;
    }
    op->units = (uint32_t)units;
    return true;
}

grout_outcome grout_exec_semaphore_signal(const grout_cta *cta, uint32_t thread,
                                          const grout_inst *inst) {
    grout_semaphore_op op;
    if (find_op(cta, thread, inst, &op)) {
        grout_semaphore__signal(cta, thread, inst, &op);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_semaphore_wait(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    grout_semaphore_op op;
    if (!find_op(cta, thread, inst, &op)) {
        return GROUT_OUTCOME_NEXT;
    }
    if (!grout_semaphore__has(cta->machine, &op)) {
        return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_SEMAPHORE, op.key.element,
                                op.units);
    }
    grout_semaphore__take(cta, thread, inst, &op);
    return GROUT_OUTCOME_NEXT;
}

static void publish_read(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         const grout_semaphore_key *key) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, GROUT_EVENT_SEMAPHORE_READ)) {
        grout_clocks clocks;
        grout_event event =
            grout_cta__event(cta, GROUT_EVENT_SEMAPHORE_READ, thread, inst, &clocks);
        grout_semaphore_fact fact = grout_semaphore__get_fact(machine, *key);
        event.u.semaphore.semaphore = &fact;
        event.u.semaphore.units = fact.units;
        event.u.semaphore.order = GROUT_CHOICE_ORDER_RELAXED;
        event.u.semaphore.scope = GROUT_CHOICE_SCOPE_SYS;
        grout_machine__publish(machine, &event);
    }
}

grout_outcome grout_exec_semaphore_read(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    grout_semaphore_key key = {.cta = grout_cta__head(cta)->index};
    int32_t units = 0;
    if (grout_barrier__find_element(cta, thread, inst, 0, &key.element)) {
        units = (int32_t)grout_semaphore__get_units(cta->machine, key);
        if (grout_spin__gives_up(cta, thread)) {
            return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_SEMAPHORE, key.element,
                                    (uint32_t)units + 1);
        }
        publish_read(cta, thread, inst, &key);
    }
    memcpy(grout_slot__data(cta, thread, &inst->result), &units, sizeof units);
    grout_slot__set_undefined(cta, thread, &inst->result, false);
    return GROUT_OUTCOME_NEXT;
}
