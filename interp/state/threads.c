/*
 * threads.c - actors: their values, waking them, a hash of their state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include <string.h>

int64_t grout_slot__get_integer(const grout_cta *cta, uint32_t thread, const grout_slot *slot) {
    const uint8_t *data = grout_slot__data(cta, thread, slot);
    int32_t narrow;
    uint32_t wide;
    if (slot->dtype == GROUT_DTYPE_BOOL) {
        return *data; /* the bytes beside it are of what lay there before */
    }
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

/* Temporary registers count while a thread is inside a chain; else they hold what is left of one.
 */
static uint64_t hash_registers(const grout_cta *cta, uint64_t hash) {
    const grout_plan *plan = cta->machine->plan;
    for (uint32_t i = 0; i < plan->actor_count; i++) {
        const grout_thread *thread = grout_cta__thread(cta, i);
        bool is_inside =
            thread->state != GROUT_THREAD_EXITED && grout_plan__inst(plan, thread->pc)->is_member;
        hash = grout_hash__bytes(hash, grout_cta__registers(cta, i),
                                 is_inside ? plan->register_bytes : plan->temporary_at);
    }
    return hash;
}

static uint64_t hash_scopes(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    for (uint32_t i = 0; i < machine->plan->scopes.count; i++) {
        const uint32_t number = *grout_cta__scope(cta, i);
        const grout_scope_left *left =
            number == 0 ? NULL : grout_pool__at(&machine->pools[GROUT_POOL_SCOPES], number);
        hash = grout_hash__word(hash, left == NULL ? 0 : left->count);
        hash = left == NULL ? hash
                            : grout_hash__bytes(hash, left + 1,
                                                machine->plan->order.size * sizeof(uint32_t));
    }
    return hash;
}

uint64_t grout_actors__hash(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    const grout_plan *plan = machine->plan;
    for (uint32_t i = 0; i < plan->actor_count; i++) {
        hash = GROUT_HASH_FACTS(hash, grout_cta__thread(cta, i), grout_thread, pc);
    }
    for (uint32_t i = 0; i < plan->lane_count; i++) {
        hash = GROUT_HASH_FACTS(hash, grout_cta__lane(cta, i), grout_lane, committed);
    }
    hash = grout_hash__bytes(hash, cta->state + machine->at.loops,
                             machine->at.clocks - machine->at.loops);
    hash = grout_foreign__hash_sets(machine, hash, grout_cta__clocks(cta, 0), plan->actor_count);
    hash = hash_scopes(cta, hash);
    return hash_registers(cta, hash);
}
