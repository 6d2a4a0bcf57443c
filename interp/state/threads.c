/*
 * threads.c - the values of actors, and waking them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include <string.h>

int64_t grout_slot__get_integer(const grout_cta *cta, uint32_t thread, const grout_slot *slot) {
    const uint8_t *data = grout_slot__data(cta, thread, slot);
    int32_t narrow;
    uint32_t wide;
    memcpy(&narrow, data, sizeof narrow);
    memcpy(&wide, data, sizeof wide);
    return slot->dtype == GROUT_DTYPE_U32 ? (int64_t)wide : narrow;
}

void grout_cta__wake(const grout_cta *cta, grout_thread_state state, uint32_t element) {
    for (uint32_t i = 0; i < cta->machine->plan->actor_count; i++) {
        grout_thread *thread = grout_cta__thread(cta, i);
        if (thread->state == state && thread->element == element) {
            thread->state = GROUT_THREAD_RUNNABLE;
        }
    }
}

void grout_machine__wake_all(grout_machine *machine, grout_thread_state state, uint32_t element) {
    uint32_t count = machine->slot_count * grout_machine__actors_per_slot(machine);
    for (uint32_t i = 0; i < count; i++) {
        grout_thread *thread = grout_machine__find_actor(machine, i);
        if (thread != NULL && thread->state == state && thread->element == element) {
            thread->state = GROUT_THREAD_RUNNABLE;
        }
    }
}
