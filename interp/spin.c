/*
 * spin.c - actors that look for something that never comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The number of its turns does not tell a loop that waits for ever from one that looks often. But
 * an actor's way depends on its own registers and on memory alone. So if actors have looked and
 * stand where they stood before, with the same values, while nobody has changed anything, they go
 * round, under every schedule, until somebody else does: they are blocked, each at its next look.
 * If nobody else can run, the run ends as a deadlock.
 *
 * A sample is a hash of the actors, taken after 2^k looks (Brent's way to find a cycle: 'An
 * improved Monte Carlo factorization algorithm', 1980). It is compared a few times with what they
 * are when the same actor looks at the same place.
 */
#include "spin.h"

#include "hash.h"

#define LOOKS_MIN    1024 /* before the first sample; a power of two */
#define COMPARES_MAX 64   /* with one sample */

/* ---- hashes ------------------------------------------------------------------------------------
 */

/* The turns of a while are only counted; its step is 0. */
static uint64_t hash_loops(const grout_machine *machine, uint32_t actor, uint64_t hash) {
    const grout_loop_state *loops = grout_machine__loops(machine, actor);
    uint32_t depth =
        grout_plan__inst(machine->plan, grout_machine__thread(machine, actor)->pc)->loop_depth;
    for (uint32_t i = 0; i < depth; i++) {
        hash = loops[i].step == 0 ? hash : grout_hash__word(hash, (uint64_t)loops[i].index);
    }
    return hash;
}

static uint64_t hash_actor(const grout_machine *machine, uint32_t actor, uint64_t hash) {
    const grout_plan *plan = machine->plan;
    const grout_thread *thread = grout_machine__thread(machine, actor);
    const uint32_t place[] = {thread->pc, thread->state, thread->stage};
    hash = grout_hash__bytes(hash, place, sizeof place);
    if (thread->state != GROUT_THREAD_RUNNABLE) {
        return hash;
    }
    hash = hash_loops(machine, actor, hash);
    return grout_hash__bytes(hash, grout_machine__registers(machine, actor),
                             grout_plan__inst(plan, thread->pc)->is_member ? plan->register_bytes
                                                                           : plan->temporary_at);
}

static uint64_t hash_cta(const grout_machine *machine, uint64_t hash) {
    for (uint32_t i = 0; i < machine->plan->actor_count; i++) {
        hash = hash_actor(machine, i, hash);
    }
    return hash;
}

/* ---- all CTAs ----------------------------------------------------------------------------------
 */

typedef struct survey {
    uint64_t hash;
    bool has_flights;
} survey;

static void survey_cta(const grout_machine *machine, survey *it) {
    it->hash = hash_cta(machine, it->hash);
    it->has_flights |= grout_machine__cta(machine)->first_flight != 0;
}

static void park_cta(const grout_machine *machine) {
    for (uint32_t i = 0; i < machine->plan->actor_count; i++) {
        grout_thread *thread = grout_machine__thread(machine, i);
        thread->is_spinning =
            thread->state == GROUT_THREAD_RUNNABLE && thread->looked == machine->spin.round;
    }
}

static void wake_cta(const grout_machine *machine) {
    for (uint32_t i = 0; i < machine->plan->actor_count; i++) {
        grout_thread *thread = grout_machine__thread(machine, i);
        if (thread->is_spinning) { /* whatever its look is blocked on */
            thread->is_spinning = 0;
            thread->state = GROUT_THREAD_RUNNABLE;
        }
    }
}

/* Calls one of the three for each CTA in flight. The selected CTA stays that. */
static void visit_ctas(grout_machine *machine, survey *it, void (*visit)(const grout_machine *)) {
    uint32_t slot = machine->slot, rank = machine->rank;
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        for (uint32_t k = 0; machine->slots[i] != NULL && k < machine->plan->shape.cta_count; k++) {
            grout_machine__select_slot(machine, i, k);
            if (grout_machine__cluster(machine)->is_begun == 0) {
                continue;
            }
            if (it != NULL) {
                survey_cta(machine, it);
            } else {
                visit(machine);
            }
        }
    }
    grout_machine__select_slot(machine, slot, rank);
}

static survey survey_all(grout_machine *machine) {
    survey it = {.hash = 0};
    visit_ctas(machine, &it, NULL);
    return it;
}

void grout_spin__wake(grout_machine *machine) {
    machine->spin.has_parked = false;
    visit_ctas(machine, NULL, wake_cta);
}

/* Clusters that run one after the other do not see what later ones would bring. */
static bool may_be_brought(const grout_machine *machine) {
    return machine->spin.sees_gmem && machine->slot_count == 1 &&
           machine->run.next_cluster * machine->plan->shape.cta_count < machine->plan->cta_count;
}

static void take_sample(grout_machine *machine, uint32_t thread, uint32_t pc) {
    grout_spin *spin = &machine->spin;
    spin->hash = survey_all(machine).hash;
    spin->actor = machine->actor_base + thread;
    spin->slot = machine->slot;
    spin->pc = pc;
    spin->compares = COMPARES_MAX;
    spin->round++;
}

static void compare(grout_machine *machine) {
    grout_spin *spin = &machine->spin;
    survey now = survey_all(machine);
    spin->compares--;
    if (now.hash != spin->hash || may_be_brought(machine)) {
        return;
    }
    if (now.has_flights) { /* the engines have had all the time there is */
        grout_machine__finish_flights(machine);
        grout_spin__reset(machine);
        return;
    }
    spin->has_parked = true;
    visit_ctas(machine, NULL, park_cta);
}

void grout_spin__note(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_spin *spin = &machine->spin;
    uint32_t pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
    spin->looks++;
    spin->sees_gmem = (spin->sees_gmem && spin->looks > 1) ||
                      (inst->opcode == GROUT_OP_LOAD && inst->box_count > 0 &&
                       grout_plan__box(machine->plan, inst, 0)->space == GROUT_SPACE_GMEM);
    grout_machine__thread(machine, thread)->looked = spin->round;
    if (spin->looks >= LOOKS_MIN && (spin->looks & (spin->looks - 1)) == 0) {
        take_sample(machine, thread, pc);
    } else if (spin->compares > 0 && pc == spin->pc && machine->slot == spin->slot &&
               machine->actor_base + thread == spin->actor) {
        compare(machine);
    }
}
