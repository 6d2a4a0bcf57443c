/*
 * spin.c - actors that look again and again for what has not come.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The number of iterations does not distinguish a loop that waits from one that looks often. But
 * what an actor does depends only on its own registers and on memory. Suppose that it has looked,
 * or come to the end of a turn, and is back at an earlier place with the same values, while no
 * actor has changed anything. Then it goes round until one does, under every schedule. Its next
 * look, or its way back to the loop's begin, blocks it until then; if no other actor can run, the
 * run ends as a deadlock. Only the values count that decide what it does in the loop
 * (planner/plan_spin.c): a loop that counts its turns comes back to the same values unless the
 * count ends it, and a store that leaves its element as it was changes nothing.
 *
 * The state of the actor is kept after its 1st, 2nd, 4th, 8th, .. look since the last change
 * (Brent, 'An improved Monte Carlo factorization algorithm', 1980), and compared at each look at
 * that place.
 *
 * An actor that changes something in each turn (it counts its tries, or takes a ticket back) goes
 * round as well if it goes by the same values in one turn as in the turn before, while nobody else
 * has changed anything. It may still end by itself, so it is not blocked. But under pct nobody with
 * a lower priority would run until it does. So it gets the lowest priority of all, for good, and at
 * the last scheduling point of its turn: there it has taken back what it takes back.
 */
#include "spin.h"

#include "hash.h"

/* The turns of a while are only counted; its step is 0. */
static uint64_t hash_loops(const grout_cta *cta, uint32_t actor, uint32_t depth) {
    const grout_loop_state *loops = grout_cta__loops(cta, actor);
    uint64_t hash = depth;
    for (uint32_t i = 0; i < depth; i++) {
        hash = loops[i].step == 0 ? hash : grout_hash__word(hash, (uint64_t)loops[i].index);
    }
    return hash;
}

static bool is_in(const grout_decider *part, const grout_slot *slot) {
    return part->offset == slot->data || part->offset == slot->flag;
}

/* Whether a register holds nothing before the instruction but what the turn before left in its
 * result. */
static bool is_stale(const grout_cta *cta, const grout_inst *inst, const grout_decider *part) {
    bool is_operand = false;
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        is_operand = is_operand || is_in(part, grout_plan__slot(cta->machine->plan, inst, i));
    }
    return !is_operand && is_in(part, &inst->result);
}

/* Its registers that decide what it does in the loop (plan_spin.c), before the instruction or after
 * it. */
static uint64_t hash_actor(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           bool is_before) {
    const uint8_t *registers = grout_cta__registers(cta, actor);
    uint64_t hash = hash_loops(cta, actor, inst->loop_depth);
    for (uint32_t i = 0; i < inst->decider_count; i++) {
        const grout_decider *part =
            grout_pool__at(&cta->machine->plan->deciders, inst->first_decider + i);
        if (!is_before || !is_stale(cta, inst, part)) {
            hash = grout_hash__bytes(hash, registers + part->offset, part->size);
        }
    }
    return hash;
}

bool grout_spin__begin_look(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                            const void *read, size_t size) {
    grout_machine *machine = cta->machine;
    grout_thread *own = grout_cta__thread(cta, actor);
    const uint64_t pc = (uint64_t)(inst - grout_plan__inst(machine->plan, 0));
    if (machine->launch.record == NULL && machine->launch.schedule != GROUT_SCHEDULE_REPLAY) {
        return false;
    }
    const uint64_t before = grout_hash__word(hash_actor(cta, actor, inst, true), pc);
    const uint64_t place = (size == 0 ? before : grout_hash__bytes(before, read, size)) | 1;
    machine->run.spin.look = place;
    for (uint32_t i = 0; i < GROUT_LOOKED_MAX; i++) {
        if (own->looked[i] == place) {
            machine->run.spin.is_again = true;
            return true;
        }
    }
    memmove(&own->looked[1], &own->looked[0], (GROUT_LOOKED_MAX - 1) * sizeof own->looked[0]);
    own->looked[0] = place;
    return false;
}

static void park(grout_machine *machine, grout_thread *thread) {
    thread->is_spinning = 1;
    machine->run.spin.has_parked = true;
    machine->run.spin.parked_at = machine->run.spin.changes;
}

void grout_spin__note(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_thread *own = grout_cta__thread(cta, actor);
    uint32_t pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
    if (!inst->is_in_while) {
        return;
    }
    if (own->looks_at != machine->run.spin.changes) {
        own->looks_at = machine->run.spin.changes;
        own->looks = 0;
    }
    own->looks++;
    if ((own->looks & (own->looks - 1)) == 0) {
        own->look_pc = pc;
        own->look_hash = hash_actor(cta, actor, inst, false);
    } else if (pc == own->look_pc && hash_actor(cta, actor, inst, false) == own->look_hash) {
        park(machine, own);
    }
}

static uint32_t get_place(const grout_machine *machine, const grout_inst *inst) {
    return (uint32_t)(inst - grout_plan__inst(machine->plan, 0)) + 1;
}

void grout_spin__note_turn(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_thread *own = grout_cta__thread(cta, actor);
    uint32_t place = get_place(machine, inst);
    if (machine->launch.schedule != GROUT_SCHEDULE_PCT || !inst->is_in_while) {
        return;
    }
    if (own->turns_at != machine->run.spin.hands) {
        own->turns_at = machine->run.spin.hands;
        own->turns = 0;
    }
    own->turns++;
    if ((own->turns & (own->turns - 1)) == 0) { /* the turns of another loop, perhaps */
        own->turn_pc = place;
        own->seen_between = 0;
    } else if (own->turn_pc == place) {
        uint64_t between = own->seen - own->seen_at;
        own->lower_at = between != 0 && between == own->seen_between ? own->last_point : 0;
        own->seen_between = between;
    }
    if (own->turn_pc == place) {
        own->seen_at = own->seen;
    }
}

void grout_spin__note_point(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_thread *own = grout_cta__thread(cta, actor);
    uint32_t place = get_place(machine, inst);
    if (inst->is_in_while) {
        own->seen += grout_hash__word(hash_actor(cta, actor, inst, false), place);
    }
    own->last_point = place;
    if (own->lower_at == place) {
        own->dropped = machine->launch.pct_depth + ++machine->run.spin.lowered;
        own->lower_at = 0;
        own->turns = 0;
    }
}

static void let_out(const grout_cta *cta) {
    for (uint32_t i = 0; i < cta->machine->plan->actor_count; i++) {
        grout_thread *thread = grout_cta__thread(cta, i);
        if (thread->is_spinning) { /* whatever its look is blocked on */
            thread->is_spinning = 0;
            thread->state = GROUT_THREAD_RUNNABLE;
        }
    }
}

void grout_spin__wake(grout_machine *machine) {
    machine->run.spin.has_parked = false;
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        let_out(cta);
    }
}

bool grout_spin__gives_up(const grout_cta *cta, uint32_t actor) {
    grout_machine *machine = cta->machine;
    grout_thread *own = grout_cta__thread(cta, actor);
    if (++machine->run.spin.polls > GROUT_POLLS_MAX && !own->is_spinning) {
        park(machine, own);
    }
    return own->is_spinning != 0;
}
