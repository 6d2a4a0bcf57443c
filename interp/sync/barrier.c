/*
 * barrier.c - mbarriers. The phase of an arrival, and of a copy's bytes, follows from the order of
 * arrivals alone, so that nothing a checker asks depends on when an engine finishes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "completion.h"
#include "pair.h"
#include "phase.h"

#include <string.h>

grout_barrier_fact grout_barrier__get_fact(const grout_cta *cta, uint32_t element) {
    const grout_machine *machine = cta->machine;
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    const grout_element_plan *plan = &machine->plan->elements[element];
    grout_barrier_fact fact = {.cta = grout_cta__head(cta)->index,
                               .element = element,
                               .object = plan->object,
                               .index = plan->index,
                               .arrivals = barrier->needed,
                               .full = barrier->full,
                               .arrived = barrier->arrived,
                               .completed = barrier->completed,
                               .phase_base = barrier->phase_base,
                               .waits = grout_cta__waits(cta, element),
                               .actor_count = machine->plan->actor_count,
                               .is_live = plan->is_explicit && barrier->is_live != 0,
                               .has_contribution = barrier->has_contribution != 0,
                               .last_contribution = barrier->last_contribution};
    if (barrier->first_open != 0) {
        fact.bytes_due = grout_machine__phase(machine, barrier->first_open)->bytes_due;
    }
    return fact;
}

uint32_t grout_barrier__count_ready(const grout_cta *cta, uint32_t element) {
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    uint32_t count = barrier->completed;
    for (uint32_t i = barrier->first_open; i != 0;) {
        const grout_phase *phase = grout_machine__phase(cta->machine, i);
        if (phase->number != count || phase->bytes_due != phase->bytes_flying ||
            !grout_barrier__is_full(cta, element, count)) {
            break;
        }
        count++;
        i = phase->next;
    }
    return count;
}

bool grout_barrier__is_ready(const grout_cta *cta, uint32_t element, uint32_t phase) {
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    return barrier->completed > phase || (grout_barrier__is_full(cta, element, phase) &&
                                          grout_barrier__count_ready(cta, element) > phase);
}

grout_bytes_room grout_barrier__find_room(const grout_cta *cta, uint32_t element, uint32_t phase) {
    if (grout_barrier__is_ready(cta, element, phase)) {
        return GROUT_BYTES_ROOM_NONE;
    }
    const uint32_t index = grout_phase__find_last(cta, element, phase);
    const grout_phase *record = index == 0 ? NULL : grout_machine__phase(cta->machine, index);
    if (record != NULL && record->number == phase && record->bytes_due > record->bytes_flying) {
        return GROUT_BYTES_ROOM_SOME;
    }
    return grout_barrier__is_full(cta, element, phase) ? GROUT_BYTES_ROOM_SOME
                                                       : GROUT_BYTES_ROOM_OPEN;
}

/* ---- arrivals ---------------------------------------------------------------------------------
 */

/* Arrivals that the open phase has not had. */
static uint32_t count_lacking(const grout_barrier *barrier) {
    return barrier->needed - barrier->arrived;
}

/* What is known of the phase before. A phase without bytes counts as complete when its arrivals are
 * in, no matter when an engine brings the bytes of earlier phases: the same under every timing. */
static grout_phase_fact get_previous(const grout_cta *cta, uint32_t element, uint32_t number) {
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    grout_phase_fact fact = {.is_complete = barrier->completed >= number};
    if (fact.is_complete) {
        fact.had_bytes = (barrier->had_bytes >> ((number - 1) & 1) & 1u) != 0;
        fact.completion = grout_completion__get(cta, element, number - 1);
        return fact;
    }
    const uint32_t record = grout_phase__find_last(cta, element, number - 1);
    grout_phase *phase = record == 0 ? NULL : grout_machine__phase(cta->machine, record);
    if (phase != NULL && phase->number == number - 1) {
        fact.had_bytes = phase->had_bytes != 0;
        fact.is_complete = !fact.had_bytes && grout_barrier__is_full(cta, element, number - 1);
        fact.completion = fact.is_complete ? grout_phase__begin_clocks(cta, phase) : NULL;
    }
    return fact;
}

/* An actor that contributes to a barrier, in its own CTA or in another one of the cluster. */
typedef struct contributor {
    const grout_cta *cta;
    uint32_t thread;
    const grout_inst *inst;
} contributor;

/* Whether a contribution is of bytes alone; late: for a phase that lacks nothing any more. */
typedef enum bytes_kind { BYTES_NONE, BYTES_DUE, BYTES_LATE } bytes_kind;

static void publish_arrive(const grout_cta *cta, const contributor *who,
                           const grout_arrival *arrival, uint32_t number, bytes_kind bytes) {
    grout_machine *machine = cta->machine;
    grout_clocks clocks;
    grout_phase_fact previous = {0};
    uint32_t element = arrival->element;
    if (number > 0) {
        previous = get_previous(cta, element, number);
    }
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    grout_event event =
        grout_cta__event(who->cta, GROUT_EVENT_ARRIVE, who->thread, who->inst, &clocks);
    event.u.arrive.cta = grout_cta__head(cta)->index;
    event.u.arrive.element = element;
    event.u.arrive.phase = number;
    event.u.arrive.count = arrival->count;
    event.u.arrive.by_copy = arrival->by_copy;
    event.u.arrive.is_deferred = arrival->is_deferred;
    event.u.arrive.is_last = bytes == BYTES_NONE && arrival->count == count_lacking(barrier);
    event.u.arrive.is_bytes = bytes != BYTES_NONE;
    event.u.arrive.is_late = bytes == BYTES_LATE;
    event.u.arrive.is_first = !arrival->is_later;
    event.u.arrive.order = arrival->order;
    event.u.arrive.scope = arrival->scope;
    event.u.arrive.phase_base = barrier->phase_base;
    event.u.arrive.previous = previous;
    grout_machine__publish(machine, &event);
}

/* Remembers contributions: all of the phase if an observer wants them, and the latest in the text.
 */
static void note_contribution(const grout_cta *cta, const contributor *who, uint32_t element,
                              uint32_t record) {
    grout_machine *machine = cta->machine;
    uint32_t pc = grout_cta__thread(who->cta, who->thread)->pc;
    grout_origin origin = grout_cta__origin(who->cta, who->thread, who->inst);
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    grout_phase *phase = grout_machine__phase(machine, record);
    if (barrier->has_contribution == 0 || barrier->newest_phase != phase->number ||
        barrier->newest_pc <= pc) {
        barrier->has_contribution = 1;
        barrier->newest_phase = phase->number;
        barrier->newest_pc = pc;
        barrier->last_contribution = origin;
    }
    if (!grout_machine__wants(machine, GROUT_EVENT_PHASE)) {
        return;
    }
    uint32_t index = grout_pool__take(&machine->pools[GROUT_POOL_CONTRIBUTIONS], &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return;
    }
    grout_contribution *contribution =
        grout_pool__at(&machine->pools[GROUT_POOL_CONTRIBUTIONS], index);
    contribution->origin = origin;
    if (phase->last_contribution != 0) {
        grout_contribution *last =
            grout_pool__at(&machine->pools[GROUT_POOL_CONTRIBUTIONS], phase->last_contribution);
        last->next = index;
    } else {
        phase->first_contribution = index;
    }
    phase->last_contribution = index;
    phase->contribution_count++;
}

static void fault_at(const contributor *who, const grout_fault *fault) {
    grout_cta__fault(who->cta, who->thread, who->inst, 0, fault);
}

static void add_bytes(const grout_cta *cta, const contributor *who, uint32_t element,
                      grout_phase *phase, int64_t bytes) {
    grout_machine *machine = cta->machine;
    int64_t before = phase->bytes;
    phase->had_bytes = 1;
    phase->bytes += bytes;
    phase->bytes_due += bytes;
    if (before <= GROUT_PHASE_BYTES_MAX && phase->bytes > GROUT_PHASE_BYTES_MAX) {
        grout_fault fault = {.code = GROUT_DIAG_BARRIER_TX_MISMATCH,
                             .object = machine->plan->elements[element].object,
                             .element = element,
                             .phase = phase->number,
                             .have = phase->bytes,
                             .need = GROUT_PHASE_BYTES_MAX};
        fault_at(who, &fault);
    }
}

static void wake_waiters(const grout_cta *cta, uint32_t element) {
    for (uint32_t i = 0; i < cta->machine->plan->actor_count; i++) {
        grout_thread *thread = grout_cta__thread(cta, i);
        if (thread->element == element &&
            (thread->state == GROUT_THREAD_BLOCKED_PARITY ||
             (thread->state == GROUT_THREAD_BLOCKED_BARRIER &&
              grout_barrier__is_ready(cta, element, thread->phase)))) {
            thread->state = GROUT_THREAD_RUNNABLE;
        }
    }
}

/* The clock set of the actor of a contribution. */
static uint32_t *get_clocks(const contributor *who) {
    return grout_cta__clocks(who->cta, who->thread);
}

/*
 * An actor has arrived, and its clock covers all arrivals of a phase without bytes: it knows that
 * the phase is complete without waiting for it. It must know the same of the phase before, because
 * phases complete in order; and where it does not see what engines have written in that one, it
 * sees nothing more now.
 */
static void learn_completion(const grout_cta *cta, const contributor *who, uint32_t element,
                             uint32_t number, uint32_t record) {
    grout_machine *machine = cta->machine;
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    uint32_t *known = get_clocks(who);
    const uint32_t component = grout_phase__get_component(cta, element);
    if (!grout_barrier__is_full(cta, element, number) ||
        known[component] < barrier->phase_base + number) {
        return;
    }
    bool is_complete = barrier->completed > number;
    const uint32_t *clocks =
        is_complete ? grout_completion__get(cta, element, number)
                    : grout_phase__begin_clocks(cta, grout_machine__phase(machine, record));
    bool had_bytes = is_complete ? (barrier->had_bytes >> (number & 1) & 1u) != 0
                                 : grout_machine__phase(machine, record)->had_bytes != 0;
    if (had_bytes || !grout_order__is_known(&machine->plan->order, clocks, known)) {
        return;
    }
    const uint32_t done = barrier->phase_base + number;
    if (known[grout_clock_seen(&machine->plan->shape, component)] >= done) {
        grout_order__complete(&machine->plan->order, known, component, done + 1);
    } else {
        grout_order__raise(&known[component], done + 1);
    }
}

/* What the tensor core leaves: of tensor memory its issuer may rely on what it relied on at the
 * commit, and on its MMAs. Besides, another CTA sees that these are over, and nothing else that the
 * issuer sees. */
static void leave_tensor_facts(const grout_order *order, uint32_t *clocks, uint32_t *from,
                               const grout_arrival *arrival) {
    const grout_clock_shape *shape = &order->shape;
    const uint32_t over = grout_clock_tcgen05(shape, arrival->lane);
    const uint32_t sealed = grout_clock_sealed(shape);
    grout_order__seal_in(order, clocks, grout_order__get_admitted(order, from));
    grout_order__complete(order, clocks, over, arrival->mmas);
    grout_order__complete(order, clocks, sealed + grout_clock_admitted(shape, over), arrival->mmas);
    grout_order__raise(&clocks[sealed + grout_clock_admitted_issue(shape, arrival->lane)],
                       arrival->mmas);
}

/* The arrival of the tensor core on a phase, in each of its snapshots. */
static void leave_tensor_clocks(const grout_cta *cta, const contributor *who,
                                const grout_arrival *arrival, uint32_t record) {
    grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    uint32_t *clocks = grout_phase__begin_clocks(cta, grout_machine__phase(machine, record));
    uint32_t *from = grout_cta__clocks(who->cta, who->thread);
    const size_t words = grout_machine__phase_words(machine);
    for (size_t at = 0; at < words; at += order->words) {
        grout_machine__carry(machine, clocks + at, from, grout_edge__get_engine(who->cta == cta));
        leave_tensor_facts(order, clocks + at, from, arrival);
    }
    grout_phase__end_clocks(cta, grout_machine__phase(machine, record));
}

/* The same of an actor, in one of the snapshots. */
static void leave_actor_clocks(const grout_cta *cta, const contributor *who,
                               const grout_arrival *arrival, bool is_strong, uint32_t *clocks) {
    grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    grout_machine__carry(machine, clocks, get_clocks(who),
                         is_strong ? GROUT_EDGE_STRONG : grout_edge__get_weak(who->cta == cta));
    if (arrival->async_copies > 0) {
        const uint32_t actor = grout_cta__actor(who->cta, who->thread);
        grout_order__complete(order, clocks, grout_clock_async_copy(&order->shape, actor),
                              arrival->async_copies);
    }
}

/* What an arrival leaves in a phase; its actor's epoch has to advance after the whole op. */
static void leave_clocks(const grout_cta *cta, const contributor *who, const grout_arrival *arrival,
                         uint32_t record) {
    grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    uint32_t size = order->shape.cta_count, own = grout_cta__head(cta)->index;
    uint32_t other = grout_cta__head(who->cta)->index;
    if (arrival->is_tensor) {
        leave_tensor_clocks(cta, who, arrival, record);
        return;
    }
    if (machine->plan->elements[arrival->element].orders_tensor) {
        grout_order__seal(order, grout_cta__clocks(who->cta, who->thread));
    }
    bool is_strong = arrival->order != GROUT_CHOICE_ORDER_RELAXED &&
                     (arrival->scope == GROUT_CHOICE_NONE ||
                      grout_order__covers(arrival->scope, other, own, size));
    uint32_t *clocks = grout_phase__begin_clocks(cta, grout_machine__phase(machine, record));
    leave_actor_clocks(cta, who, arrival, is_strong, clocks);
    if (machine->plan->has_narrow_waits) {
        leave_actor_clocks(cta, who, arrival, is_strong && who->cta == cta, clocks + order->words);
    }
    grout_phase__end_clocks(cta, grout_machine__phase(machine, record));
}

/* For the actors that leave, this phase is their last: later ones need that many fewer. */
static void count_arrival(grout_barrier *barrier, const grout_arrival *arrival) {
    GROUT_ASSERT(barrier->arrived + arrival->count <= barrier->needed);
    barrier->arrived += arrival->count;
    barrier->leaving += arrival->is_leaving ? arrival->count : 0;
    if (barrier->arrived == barrier->needed) {
        barrier->full++;
        GROUT_ASSERT(barrier->leaving <= barrier->needed);
        barrier->needed -= barrier->leaving;
        barrier->arrived = barrier->leaving = 0;
    }
}

/* Arrives on an element of the CTA. What it does to the actor's own clock comes later. */
static uint32_t arrive(const grout_cta *cta, const contributor *who, const grout_arrival *arrival) {
    grout_machine *machine = cta->machine;
    grout_arrival taken = *arrival;
    uint32_t element = taken.element, number = grout_barrier__get_phase(cta, element);
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    if (barrier->is_live == 0) {
        grout_fault fault = {.code = GROUT_DIAG_BARRIER_UNINITIALISED,
                             .object = machine->plan->elements[element].object,
                             .element = element,
                             .cta = grout_cta__head(cta)->index};
        fault_at(who, &fault);
        return 0;
    }
    uint32_t lacking = count_lacking(barrier);
    if (taken.count > lacking) {
        grout_fault fault = {.code = GROUT_DIAG_BARRIER_TOO_MANY,
                             .object = machine->plan->elements[element].object,
                             .element = element,
                             .phase = number,
                             .have = taken.count,
                             .need = lacking};
        fault_at(who, &fault);
        taken.count = lacking;
    }
    uint32_t record = taken.count == 0 ? 0 : grout_phase__open(cta, element, number);
    if (record == 0) {
        return 0;
    }
    if (grout_machine__wants(machine, GROUT_EVENT_ARRIVE)) {
        publish_arrive(cta, who, &taken, number, BYTES_NONE);
    }
    note_contribution(cta, who, element, record);
    if (machine->has_clocks) {
        leave_clocks(cta, who, &taken, record);
    }
    count_arrival(barrier, &taken);
    if (taken.by_copy || taken.bytes > 0) {
        add_bytes(cta, who, element, grout_machine__phase(machine, record), taken.bytes);
    }
    return record;
}

/* What follows the arrival, when the actor's epoch has advanced. */
static void finish_arrive(const grout_cta *cta, const contributor *who, uint32_t element,
                          uint32_t number, uint32_t record) {
    grout_phase__complete_all(cta, element);
    if (cta->machine->plan->has_multicast) { /* somebody may ask what the phase lacks */
        grout_machine__wake_all(cta->machine, GROUT_THREAD_BLOCKED_INIT, element);
    }
    if (cta->machine->has_clocks) {
        learn_completion(cta, who, element, number, record);
    }
    wake_waiters(cta, element);
}

uint32_t grout_barrier__arrive(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               const grout_arrival *arrival) {
    grout_machine *machine = cta->machine;
    const contributor who = {cta, thread, inst};
    const grout_cta *to = grout_cta__peer(cta, arrival->rank);
    uint32_t number = grout_barrier__get_phase(to, arrival->element);
    uint32_t record = arrive(to, &who, arrival);
    if (record != 0) {
        if (machine->has_clocks) {
            grout_cta__advance(cta, thread);
        }
        grout_machine__phase(machine, record)->bytes_flying +=
            arrival->is_deferred ? arrival->bytes : arrival->flying;
        finish_arrive(to, &who, arrival->element, number, record);
    }
    return record;
}

void grout_barrier__arrive_all(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               const grout_arrival *arrival, uint32_t mask, uint32_t *records) {
    grout_machine *machine = cta->machine;
    const contributor who = {cta, thread, inst};
    uint32_t numbers[GROUT_CLUSTER_MAX] = {0};
    grout_arrival each = *arrival;
    memset(records, 0, GROUT_CLUSTER_MAX * sizeof *records);
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if ((mask >> rank & 1u) != 0) {
            const grout_cta *to = grout_cta__peer(cta, rank);
            each.rank = rank;
            numbers[rank] = grout_barrier__get_phase(to, each.element);
            records[rank] = arrive(to, &who, &each);
            each.is_later = true;
        }
    }
    if (machine->has_clocks) {
        grout_cta__advance(cta, thread);
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if (records[rank] != 0) {
            grout_machine__phase(machine, records[rank])->bytes_flying +=
                each.is_deferred ? each.bytes : 0;
            finish_arrive(grout_cta__peer(cta, rank), &who, each.element, numbers[rank],
                          records[rank]);
        }
    }
}

uint32_t grout_barrier__get_owners(const grout_cta *cta, uint32_t element, uint32_t ranks) {
    uint32_t owners = 0;
    if (!grout_barrier__is_of_pair(cta, element)) {
        return ranks;
    }
    for (uint32_t rank = 0; rank < cta->machine->plan->shape.cta_count; rank++) {
        owners |= (ranks >> rank & 1u) << grout_pair_leader(rank);
    }
    return owners;
}

uint32_t grout_barrier__get_targets(const grout_cta *cta, uint32_t element) {
    const grout_machine *machine = cta->machine;
    const grout_element_plan *plan = &machine->plan->elements[element];
    uint32_t mask = 1u << cta->rank;
    if (plan->group_count > 0) {
        const grout_object *object = grout_module_get_object(machine->launch.module, plan->object);
        for (uint32_t i = 0; i < plan->group_count; i++) {
            mask |= grout_kernel_get_cluster_mask(machine->launch.module, machine->launch.kernel,
                                                  object->cluster_groups[i], cta->rank);
        }
    }
    /* The leader has index 0 along each axis: the lowest of the ranks. */
    return plan->is_leader_tracked ? mask & (0u - mask) : mask;
}

/* ---- bytes ------------------------------------------------------------------------------------
 */

/* Bytes for a phase that lacks nothing any more go to the next one, as on hardware: the kernel is
 * wrong. */
static uint32_t deliver(const grout_cta *cta, const contributor *who,
                        const grout_delivery *delivery) {
    grout_machine *machine = cta->machine;
    grout_barrier *barrier = grout_cta__barrier(cta, delivery->element);
    uint32_t meant = delivery->phase - barrier->phase_base;
    meant = delivery->phase < barrier->phase_base ? 0 : meant;
    uint32_t ready = grout_barrier__count_ready(cta, delivery->element);
    uint32_t number = meant < ready ? ready : meant;
    uint32_t record = grout_phase__open(cta, delivery->element, number);
    if (record == 0) {
        return 0;
    }
    grout_phase *phase = grout_machine__phase(machine, record);
    phase->had_bytes = 1;
    phase->bytes_flying += delivery->bytes;
    grout_arrival bytes = {.rank = delivery->rank, .element = delivery->element, .by_copy = true};
    if (delivery->is_told && grout_machine__wants(machine, GROUT_EVENT_ARRIVE)) {
        publish_arrive(cta, who, &bytes, meant, meant < ready ? BYTES_LATE : BYTES_DUE);
    }
    if (delivery->is_told) {
        note_contribution(cta, who, delivery->element, record);
    }
    if (delivery->is_armed) {
        add_bytes(cta, who, delivery->element, grout_machine__phase(machine, record),
                  delivery->bytes);
    }
    if (machine->has_clocks) {
        uint32_t *clocks = grout_phase__begin_clocks(cta, grout_machine__phase(machine, record));
        size_t words = grout_machine__phase_words(machine);
        for (size_t at = 0; at < words; at += machine->plan->order.words) {
            grout_machine__carry(machine, clocks + at, get_clocks(who),
                                 grout_edge__get_engine(who->cta == cta));
        }
        grout_phase__end_clocks(cta, grout_machine__phase(machine, record));
    }
    wake_waiters(cta, delivery->element);
    return record;
}

uint32_t grout_barrier__find_unknown(const grout_cta *cta, uint32_t thread, uint32_t rank,
                                     uint32_t element) {
    const grout_cta *owner = grout_cta__peer(cta, rank);
    uint32_t base = grout_cta__barrier(owner, element)->phase_base;
    uint32_t known = grout_cta__clocks(cta, thread)[grout_phase__get_component(owner, element)];
    return known < base ? base : known;
}

uint32_t grout_barrier__deliver(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_delivery *delivery) {
    const contributor who = {cta, thread, inst};
    return deliver(grout_cta__peer(cta, delivery->rank), &who, delivery);
}

/* ---- waits and lives --------------------------------------------------------------------------
 */

uint32_t grout_barrier__get_next_wait(const grout_cta *cta, uint32_t thread, uint32_t element) {
    const grout_machine *machine = cta->machine;
    const grout_wait_fact *waits = grout_cta__waits(cta, element);
    uint32_t threads = machine->plan->shape.thread_count, count = waits[thread].waits;
    if (thread >= threads) {
        uint32_t own = waits[grout_machine__thread_of(machine, thread)].waits;
        return count < own ? own : count;
    }
    if (machine->plan->actor_count > threads) {
        const grout_wait_fact *warps = &waits[threads + GROUT_WARPS * thread];
        for (uint32_t i = 0; i < GROUT_WARPS; i++) {
            count = count < warps[i].waits ? warps[i].waits : count;
        }
    }
    return count;
}

static void publish_wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         const grout_waiting *waiting) {
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, GROUT_EVENT_WAIT, thread, inst, &clocks);
    grout_barrier_fact fact = grout_barrier__get_fact(cta, waiting->element);
    event.u.wait.barrier = &fact;
    event.u.wait.phase = waiting->phase;
    event.u.wait.is_late = waiting->phase != UINT32_MAX && fact.completed > waiting->phase + 1;
    event.u.wait.has_parity = waiting->has_parity;
    event.u.wait.is_other = waiting->is_other;
    event.u.wait.real = waiting->real;
    event.u.wait.parity = waiting->parity;
    event.u.wait.is_test = waiting->is_test;
    event.u.wait.has_landed = waiting->has_landed;
    event.u.wait.scope = waiting->scope;
    grout_machine__publish(cta->machine, &event);
}

static void acquire_phase(const grout_cta *cta, uint32_t thread, const grout_waiting *waiting,
                          const uint32_t *completion) {
    grout_machine *machine = cta->machine;
    const bool is_relaxed = waiting->order == GROUT_CHOICE_ORDER_RELAXED;
    const bool is_narrow =
        machine->plan->has_narrow_waits && (is_relaxed || waiting->scope == GROUT_CHOICE_SCOPE_CTA);
    grout_machine__carry(machine, grout_cta__clocks(cta, thread),
                         completion + (is_narrow ? machine->plan->order.words : 0),
                         is_relaxed ? GROUT_EDGE_WEAK : GROUT_EDGE_STRONG);
    if (machine->plan->elements[waiting->element].orders_tensor) {
        grout_order__admit(&machine->plan->order, grout_cta__clocks(cta, thread));
    }
}

void grout_barrier__observe(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_waiting *waiting) {
    grout_machine *machine = cta->machine;
    uint32_t element = waiting->element, phase = waiting->phase;
    grout_wait_fact *wait = &grout_cta__waits(cta, element)[thread];
    uint32_t *known = grout_cta__clocks(cta, thread);
    const uint32_t *completion = machine->has_clocks && phase != UINT32_MAX
                                     ? grout_phase__find_completion(cta, element, phase)
                                     : NULL;
    wait->waits = phase + 1;
    wait->epoch = known[grout_clock_epoch(&machine->plan->shape, grout_cta__actor(cta, thread))];
    wait->origin = grout_cta__origin(cta, thread, inst);
    if (grout_machine__wants(machine, GROUT_EVENT_WAIT)) {
        publish_wait(cta, thread, inst, waiting);
    }
    if (!machine->has_clocks || phase == UINT32_MAX) {
        return;
    }
    const grout_barrier *barrier = grout_cta__barrier(cta, element);
    if (completion != NULL) {
        acquire_phase(cta, thread, waiting, completion);
    } else { /* does not acquire what a later phase released: that would hide the race */
        grout_order__complete(&machine->plan->order, known,
                              grout_phase__get_component(cta, element),
                              barrier->phase_base + phase + 1);
    }
    grout_phase__trim_old(cta, element);
}

void grout_barrier__init(const grout_cta *cta, uint32_t element, uint32_t needed) {
    grout_barrier *barrier = grout_cta__barrier(cta, element);
    uint32_t base = barrier->phase_base + barrier->full + (barrier->arrived > 0 ? 1 : 0);
    grout_phase__forget_all(cta, element);
    memset(barrier, 0, sizeof *barrier);
    barrier->phase_base = base;
    grout_barrier__begin(barrier, needed);
    memset(grout_cta__waits(cta, element), 0,
           cta->machine->plan->actor_count * sizeof(grout_wait_fact));
}

void grout_barrier__reset(const grout_cta *cta, uint32_t element) {
    grout_barrier__init(cta, element, cta->machine->plan->elements[element].arrivals);
}
