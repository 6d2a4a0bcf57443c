/*
 * scheduler.c - which actor runs, for how long, and when nothing can.
 *
 * An actor runs until it has done something that others can see (memory, order, an async op), or
 * blocks, or ends; then the next is chosen among all of the clusters in flight. Which one comes
 * next is a function of the state, so a run can stop between any two ops and go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "alloc.h"
#include "barrier.h"
#include "cluster.h"
#include "engine.h"
#include "exec.h"
#include "invariant.h"
#include "mbarrier.h"
#include "non_finite.h"
#include "run.h"
#include "spin.h"

#include <string.h>

/* Between two calls of progress(): 1024 ops, or as many elements as take no longer. */
#define OP_WORK    UINT64_C(128)
#define ASKED_EACH (1024 * OP_WORK)

/* ---- who runs next ------------------------------------------------------------------------------
 * Actors are numbered over all slots: slot by slot, CTA by CTA.
 */

static bool is_runnable(const grout_machine *machine, uint32_t number) {
    const grout_thread *thread = grout_machine__find_actor(machine, number);
    return thread != NULL && thread->state == GROUT_THREAD_RUNNABLE;
}

/* Number over the launch, as decisions are written. */
static uint32_t get_launch_number(const grout_machine *machine, uint32_t number) {
    uint32_t per_slot = grout_machine__actors_per_slot(machine), slot = number / per_slot;
    const grout_cluster *cluster = (const grout_cluster *)(const void *)machine->slots[slot];
    return cluster->index * per_slot + number % per_slot;
}

/* The actors of a CTA, one after the other; NULL if its cluster has not begun. Numbers of CTAs go
 * slot by slot. */
static inline const grout_thread *find_threads(const grout_machine *machine, uint32_t cta) {
    uint32_t size = machine->plan->shape.cta_count, slot = size == 1 ? cta : cta / size;
    const grout_cluster *cluster = (const grout_cluster *)(const void *)machine->slots[slot];
    if (cluster == NULL || cluster->is_begun == 0) {
        return NULL;
    }
    const uint8_t *arena = grout_machine__get_arena(machine, slot, cta - slot * size);
    return (const grout_thread *)(const void *)(arena + machine->at.threads);
}

/* The first that can run, round robin from a number on; skip this many. UINT32_MAX: none. */
static inline uint32_t find_runnable(const grout_machine *machine, uint32_t first, uint32_t skip) {
    uint32_t actors = machine->plan->actor_count,
             ctas = machine->slot_count * machine->plan->shape.cta_count;
    uint32_t cta = first / actors, local = first - cta * actors, left = ctas * actors;
    while (left > 0) {
        uint32_t end = local + left < actors ? local + left : actors;
        const grout_thread *threads = find_threads(machine, cta);
        left -= end - local;
        for (; threads != NULL && local < end; local++) {
            if (threads[local].state == GROUT_THREAD_RUNNABLE && skip-- == 0) {
                return cta * actors + local;
            }
        }
        local = 0;
        cta = cta + 1 == ctas ? 0 : cta + 1;
    }
    return UINT32_MAX;
}

/* How many can run; counts no further than to 'most'. */
static inline uint32_t count_runnable(const grout_machine *machine, uint32_t most) {
    uint32_t ctas = machine->slot_count * machine->plan->shape.cta_count, runnable = 0;
    for (uint32_t cta = 0; cta < ctas && runnable < most; cta++) {
        const grout_thread *threads = find_threads(machine, cta);
        for (uint32_t i = 0; threads != NULL && i < machine->plan->actor_count; i++) {
            runnable += threads[i].state == GROUT_THREAD_RUNNABLE;
        }
    }
    return runnable;
}

/*
 * pct: actors that were never dropped come first, by a random priority. Then come the others: the
 * earlier an actor was dropped, the higher it is. Those that were lowered because they go round
 * (spin.c) are below all of them.
 */
static uint32_t find_highest(const grout_machine *machine) {
    uint32_t count = machine->slot_count * grout_machine__actors_per_slot(machine),
             best = UINT32_MAX;
    uint64_t best_rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_runnable(machine, i)) {
            uint32_t dropped = grout_machine__find_actor(machine, i)->dropped;
            uint64_t number = get_launch_number(machine, i) + UINT64_C(1);
            uint64_t priority =
                grout_random__mix(machine->launch.seed + number * GROUT_GOLDEN_RATIO);
            uint64_t rank = dropped == 0 ? priority | UINT64_C(1) << 63 : UINT32_MAX - dropped;
            if (best == UINT32_MAX || rank > best_rank) {
                best = i;
                best_rank = rank;
            }
        }
    }
    return best;
}

/*
 * Where change point i lies, in decisions. How many there will be is not known: its order of
 * magnitude is drawn too.
 */
static uint64_t get_change_point(const grout_machine *machine, uint32_t i) {
    uint64_t draw =
        grout_random__mix(machine->launch.seed ^ (i + UINT64_C(1)) * UINT64_C(0xd1b54a32d192ed03));
    return (draw >> 8) % (UINT64_C(8) << (draw & 255) % 12);
}

/* The running actor drops at each change point that has come. */
static void drop_running(grout_machine *machine) {
    const grout_run_facts *run = &machine->run.facts;
    for (uint32_t i = 0; i + 1 < machine->launch.pct_depth; i++) {
        grout_thread *thread =
            run->last == 0 ? NULL : grout_machine__find_actor(machine, run->last - 1);
        bool is_lowered = thread != NULL && thread->dropped > machine->launch.pct_depth;
        if (thread != NULL && !is_lowered && get_change_point(machine, i) == run->decisions) {
            thread->dropped = i + 1;
        }
    }
}

/* The actor that the decision of this number chose, if it can run; else UINT32_MAX. */
static uint32_t find_replayed(const grout_machine *machine) {
    const grout_decisions *replay = machine->launch.replay;
    if (replay == NULL || machine->run.facts.decisions >= replay->count) {
        return UINT32_MAX;
    }
    uint32_t wanted = replay->actors[machine->run.facts.decisions];
    uint32_t per_slot = grout_machine__actors_per_slot(machine);
    if (grout_decision_is_answer(wanted)) {
        return UINT32_MAX;
    }
    for (uint32_t slot = 0; slot < machine->slot_count; slot++) {
        uint32_t number = slot * per_slot + wanted % per_slot;
        if (is_runnable(machine, number) && get_launch_number(machine, number) == wanted) {
            return number;
        }
    }
    return UINT32_MAX;
}

/* Any of those that can run, by chance. */
static uint32_t draw_runnable(grout_machine *machine) {
    uint32_t runnable = count_runnable(machine, UINT32_MAX);
    GROUT_ASSERT(runnable > 0);
    return find_runnable(machine, 0,
                         (uint32_t)(grout_machine__draw(machine, GROUT_DRAW_SCHEDULE) % runnable));
}

/* The next actor where more than one can run. */
static uint32_t decide(grout_machine *machine) {
    uint32_t first =
        machine->run.facts.last % (machine->slot_count * grout_machine__actors_per_slot(machine));
    uint32_t number = UINT32_MAX;
    switch (machine->launch.schedule) {
    case GROUT_SCHEDULE_RANDOM:
        number = draw_runnable(machine);
        break;
    case GROUT_SCHEDULE_PCT:
        drop_running(machine);
        number = find_highest(machine);
        break;
    case GROUT_SCHEDULE_REPLAY:
        number = find_replayed(machine);
        break;
    case GROUT_SCHEDULE_FAIR:
        break;
    }
    number = number == UINT32_MAX ? find_runnable(machine, first, 0) : number;
    machine->run.facts.decisions++;
    grout_machine__record(machine, get_launch_number(machine, number));
    return number;
}

/* The next actor, plus 1; 0 if none can run. */
static uint32_t choose(grout_machine *machine) {
    uint32_t actors = machine->slot_count * grout_machine__actors_per_slot(machine);
    GROUT_ASSERT(actors > 0);
    uint32_t first = machine->run.facts.last % actors;
    if (machine->launch.schedule == GROUT_SCHEDULE_FAIR && machine->launch.record == NULL) {
        return find_runnable(machine, first, 0) + 1;
    }
    bool has_choice = count_runnable(machine, 2) > 1;
    return (has_choice ? decide(machine) : find_runnable(machine, first, 0)) + 1;
}

static const grout_cta *get_cta(const grout_machine *machine, uint32_t number) {
    return &machine->ctas[number / machine->plan->actor_count];
}

/* ---- running ------------------------------------------------------------------------------------
 */

static bool stop(grout_machine *machine, grout_run_status status) {
    machine->run.status = status;
    return false;
}

static bool stop_at_limit(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, GROUT_EVENT_STEP_LIMIT)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_STEP_LIMIT, thread, inst, &clocks);
        grout_machine__publish(machine, &event);
    }
    return stop(machine, GROUT_RUN_STEP_LIMIT);
}

/* What has been done so far, in elements. A snapshot sets it back; that asks once more. */
static inline uint64_t get_work(const grout_machine *machine) {
    return machine->run.stats.work + machine->run.stats.steps * OP_WORK;
}

static bool make_progress(grout_machine *machine) {
    machine->asked_at = get_work(machine);
    if (machine->launch.progress == NULL) {
        return true;
    }
    grout_progress progress = {.ctas_done = machine->run.stats.ctas_done,
                               .ctas_total = machine->plan->cta_count,
                               .steps = machine->run.stats.steps};
    return machine->launch.progress(machine->launch.payload, &progress) ||
           stop(machine, GROUT_RUN_INTERRUPTED);
}

bool grout_machine__goes_on(grout_machine *machine, uint64_t work) {
    machine->asked_at -= work;
    return get_work(machine) - machine->asked_at < ASKED_EACH || make_progress(machine);
}

/* Whether the instruction has only looked. */
static void note_point(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    if (machine->launch.schedule == GROUT_SCHEDULE_PCT) {
        grout_spin__note_point(cta, thread, inst);
    }
    if (inst->is_look || machine->run.spin.is_idle) {
        machine->run.spin.is_idle = false;
        grout_spin__note(cta, thread, inst);
        return;
    }
    grout_spin__forget_looks(grout_cta__thread(cta, thread));
    grout_spin__change(machine);
}

/* What follows an instruction that was done: its count, its scheduling point. */
static void pass(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_run_facts *run = &machine->run.facts;
    grout_thread *own = grout_cta__thread(cta, thread);
    own->retry = GROUT_RETRY_FIRST;
    if (inst->op != 0) {
        own->last_pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
    }
    machine->run.stats.steps += inst->is_silent ? 0 : 1;
    machine->run.stats.work += inst->work;
    if (inst->is_point) {
        note_point(cta, thread, inst);
        machine->run.spin.look = 0;
        machine->run.spin.is_again = false;
        run->last = run->current;
        run->current = 0;
        grout_flight__pass_point(cta);
    }
}

/* Runs an actor of a CTA to its next scheduling point. False: the run stops. */
static bool run_thread(const grout_cta *cta, uint32_t thread, uint64_t limit) {
    grout_machine *machine = cta->machine;
    grout_run_facts *run = &machine->run.facts;
    grout_thread *own = grout_cta__thread(cta, thread);
    uint32_t number = run->current;
    machine->step_limit = limit < machine->max_steps ? limit : machine->max_steps;
    while (run->current == number) {
        const grout_inst *inst = grout_plan__inst(machine->plan, own->pc);
        uint32_t pc = own->pc;
        if (!inst->is_silent && machine->run.stats.steps >= limit) {
            return stop(machine, GROUT_RUN_PAUSED);
        }
        if (!inst->is_silent && machine->run.stats.steps >= machine->max_steps) {
            return stop_at_limit(cta, thread, inst);
        }
        own->pc = pc + 1;
        switch (inst->exec(cta, thread, inst)) {
        case GROUT_OUTCOME_NEXT:
        case GROUT_OUTCOME_EXIT:
            if (machine->launch.track_non_finite) {
                grout_non_finite__check(cta, thread, inst);
            }
            pass(cta, thread, inst);
            break;
        case GROUT_OUTCOME_BLOCKED:
            own->pc = pc;
            own->retry = GROUT_RETRY_BLOCKED;
            run->last = run->current;
            run->current = 0;
            break;
        case GROUT_OUTCOME_STOPPED:
            machine->is_stopped = true;
            return stop(machine, GROUT_RUN_INTERRUPTED);
        case GROUT_OUTCOME_FAILED:
            machine->run.has_failed = true;
            break;
        }
        if (machine->run.has_failed) {
            return stop(machine, GROUT_RUN_FAILED);
        }
        if (!grout_machine__goes_on(machine, 0)) {
            return false;
        }
    }
    return true;
}

/* All that is in flight takes effect, and actors that wait for an init which does not come go on.
 * Returns true if this lets an actor run. */
static bool finish_flights(grout_machine *machine) {
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        grout_flight__finish_all(cta);
        grout_mbarrier__give_up_inits(cta);
    }
    grout_spin__let_out(machine);
    return count_runnable(machine, 1) > 0;
}

bool grout_machine__run(grout_machine *machine, uint64_t step_limit) {
    uint32_t actors = machine->plan->actor_count;
    /* A CTA may have few operations and take long to begin. */
    if (!make_progress(machine)) {
        return false;
    }
    for (;;) {
        if (machine->run.facts.current == 0) {
            grout_spin__let_out(machine);
            machine->run.facts.current = choose(machine);
            if (!grout_machine__goes_on(machine, machine->slot_count)) { /* that were looked at */
                return false;
            }
        }
        if (machine->run.facts.current == 0) {
            if (finish_flights(machine)) {
                continue;
            }
            grout_cluster__check_crossed(machine);
            grout_machine__publish_deadlock(machine);
            return stop(machine, GROUT_RUN_DEADLOCK);
        }
        uint32_t number = machine->run.facts.current - 1;
        const grout_cta *cta = get_cta(machine, number);
        GROUT_ASSERT(grout_cta__thread(cta, number % actors)->state == GROUT_THREAD_RUNNABLE);
        if (!run_thread(cta, number % actors, step_limit)) {
            return false;
        }
        if (machine->pools[GROUT_POOL_FOREIGN_MAPS].count > 0) {
            grout_foreign__collect(machine);
        }
        if (grout_cta__head(cta)->exited == machine->plan->runner_count &&
            grout_cta__head(cta)->has_ended == 0) {
            grout_cluster__end_cta(cta);
            if (grout_cta__cluster(cta)->ended == machine->plan->shape.cta_count) {
                return true;
            }
        }
    }
}
