/*
 * exec_registers.c - set_max_registers. Values here need no registers of a GPU; that threads wait
 * for each other over them is simulated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

/* What waits for registers looks again. */
static void wake(const grout_cta *cta) {
    for (uint32_t i = 0; i < cta->machine->plan->shape.thread_count; i++) {
        grout_thread *other = grout_cta__thread(cta, i);
        if (other->state == GROUT_THREAD_BLOCKED_REGISTERS) {
            other->state = GROUT_THREAD_RUNNABLE;
        }
    }
}

static void publish(const grout_cta *cta, uint32_t thread, const grout_inst *inst, uint32_t count,
                    bool is_increase) {
    if (grout_machine__wants(cta->machine, GROUT_EVENT_REGISTERS)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_REGISTERS, thread, inst, &clocks);
        event.u.registers.count = count;
        event.u.registers.is_increase = is_increase;
        grout_machine__publish(cta->machine, &event);
    }
}

/* Counts are those of a lane: all lanes of a thread change together. An increase to no more than
 * the thread has changes nothing, and neither does a decrease to more. */
grout_outcome grout_exec_set_max_registers(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    grout_cta_state *head = grout_cta__head(cta);
    grout_thread *own = grout_cta__thread(cta, thread);
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    uint32_t wanted = (uint32_t)grout_slot__get_integer(cta, thread, slot);
    bool is_increase = (inst->attrs & GROUT_ATTR_BIT(INCREASE)) != 0;
    if (is_increase && wanted > own->registers) {
        uint32_t more = wanted - own->registers;
        if (more > head->registers_free) {
            own->state = GROUT_THREAD_BLOCKED_REGISTERS;
            return GROUT_OUTCOME_BLOCKED;
        }
        head->registers_free -= more;
        publish(cta, thread, inst, more, true);
        own->registers = wanted;
    } else if (!is_increase && wanted < own->registers) {
        head->registers_free += own->registers - wanted;
        publish(cta, thread, inst, own->registers - wanted, false);
        own->registers = wanted;
        wake(cta);
    }
    return GROUT_OUTCOME_NEXT;
}
