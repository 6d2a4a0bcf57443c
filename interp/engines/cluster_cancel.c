/*
 * cluster_cancel.c - the engine of launch control.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The answer is decided when it is asked for: the next cluster that has not begun, or none. There
 * may be none at any time, as on a GPU that has other work to begin: in random timing by chance,
 * else where the schedule says so.
 *
 * Where all CTAs of a cluster issue the request together, each arrives on its own barrier and
 * announces the bytes there; the first CTA asks, and its engine sends the answer to all.
 */
#include "cluster_cancel.h"

#include "access.h"
#include "barrier.h"
#include "cluster.h"
#include "engine.h"
#include "mbarrier.h"
#include "rounds.h"
#include "undo.h"

#include <string.h>

enum { ANSWER_BYTES = 16, REFUSALS = 4 }; /* random timing refuses one request in this many */

/* What the bytes of an answer hold here; hardware does not say what they hold there. */
typedef struct answer {
    uint32_t mark;
    int32_t cluster;
    uint32_t check[2];
} answer;
_Static_assert(sizeof(answer) == ANSWER_BYTES, "the size of the hardware's");

#define ANSWER_MARK 0xc1a57e25u

static answer make_answer(int32_t cluster) {
    return (answer){ANSWER_MARK, cluster, {~(uint32_t)cluster, ~ANSWER_MARK}};
}

int32_t grout_cluster_cancel__read(const grout_machine *machine, const grout_box *box) {
    answer found;
    memset(&found, 0, sizeof found);
    grout_box__gather(machine, box, &found);
    const answer wanted = make_answer(found.cluster);
    return memcmp(&found, &wanted, sizeof found) == 0 ? found.cluster : -1;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static int32_t take_cluster(grout_machine *machine) {
    const uint32_t size = machine->plan->shape.cta_count;
    const int64_t next = machine->run.facts.next_cluster;
    const bool is_random = machine->launch.timing == GROUT_TIMING_RANDOM;
    if (next * size >= machine->plan->cta_count) {
        return -1;
    }
    const bool is_refused =
        is_random && grout_machine__draw(machine, GROUT_DRAW_ENGINE) % REFUSALS == 0;
    if (!grout_machine__answer(machine, !is_refused)) {
        return -1;
    }
    machine->run.facts.next_cluster++;
    machine->run.stats.ctas_done += size;
    return (int32_t)next;
}

/* ---- the engine ------------------------------------------------------------------------------ */

int64_t grout_engine__bytes_cluster_cancel(const grout_machine *machine, const grout_inst *inst) {
    return grout_plan__box(machine->plan, inst, 0)->bytes;
}

void grout_engine__stamps_cluster_cancel(const grout_cta *cta, const grout_flight *flight,
                                         grout_stamp *read_out, grout_stamp *write_out) {
    grout_engine__stamps_tma_load(cta, flight, read_out, write_out);
}

static void write_answer(grout_machine *machine, const grout_box *to, int64_t cluster) {
    const answer made = make_answer((int32_t)cluster);
    grout_box__scatter(machine, to, &made);
}

void grout_engine__land_cluster_cancel(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    const grout_flight *flight = grout_flight__get(machine, index);
    const grout_inst *inst = grout_flight__inst(machine, flight);
    if (!flight->is_void) {
        const grout_box to =
            grout_box__place(cta, grout_plan__box(machine->plan, inst, 0), flight->start[0]);
        write_answer(machine, &to, flight->start[1][0]);
    }
}

/* ---- a request ------------------------------------------------------------------------------- */

typedef struct request {
    const grout_inst *inst;
    uint32_t thread;
    grout_box box; /* of the own CTA */
    uint32_t element;
    uint32_t set;                       /* ranks of the CTAs that get the answer */
    uint32_t mask;                      /* the same of those that get it by this issue */
    uint32_t phases[GROUT_CLUSTER_MAX]; /* by rank: where its bytes count, over all lives */
    int32_t cluster;
    bool is_explicit;
} request;

static grout_box get_box(const grout_cta *cta, const request *it, uint32_t rank) {
    grout_box box = it->box;
    if (rank != cta->rank) {
        grout_box__set_rank(cta, &box, rank);
    }
    return box;
}

static bool find_phases(const grout_cta *cta, request *it) {
    for (uint32_t rank = 0; rank < cta->machine->plan->shape.cta_count; rank++) {
        if ((it->mask >> rank & 1u) != 0) {
            it->phases[rank] = grout_barrier__find_unknown(cta, it->thread, rank, it->element);
        }
    }
    if (!it->is_explicit) {
        it->phases[cta->rank] = grout_cta__barrier(cta, it->element)->phase_base +
                                grout_barrier__get_phase(cta, it->element);
    }
    if (it->inst->u.copy.is_collective) {
        const grout_box boxes[2] = {it->box, it->box};
        const grout_collective_issue issue = {.element = it->element,
                                              .phase = it->phases[cta->rank],
                                              .mask = it->set,
                                              .boxes = boxes};
        const uint32_t number = grout_cluster__note_collective(cta, it->thread, it->inst, &issue);
        grout_cluster__find_phases(cta, it->inst, &issue, number, it->phases);
    }
    if (!it->is_explicit) {
        return true;
    }
    return it->mask == 1u << cta->rank ||
           grout_rounds__find(cta, it->thread, it->element, it->mask, it->phases);
}

/* Whether the CTA itself asks: of several that issue it together the first one does. */
static bool asks(const request *it) {
    return it->mask != 0;
}

/* ISSUE, then the write in each CTA. */
static void publish(const grout_cta *cta, const request *it) {
    const grout_plan *plan = cta->machine->plan;
    grout_stamp stamps[2];
    const grout_flight facts = {.phase = {.element = it->element, .number = it->phases[cta->rank]}};
    grout_engine__stamps_cluster_cancel(cta, &facts, &stamps[0], &stamps[1]);
    const grout_issue issue = {.bytes = it->box.plan->bytes, .read = stamps[0], .write = stamps[1]};
    grout_flight__publish_issue(cta, it->thread, it->inst, &issue);
    for (uint32_t rank = 0; rank < plan->shape.cta_count && it->box.is_inside; rank++) {
        if ((it->mask >> rank & 1u) != 0) {
            const grout_box box = get_box(cta, it, rank);
            stamps[0].component = stamps[1].component =
                grout_clock_phase(&plan->shape, rank * plan->element_count + it->element);
            stamps[0].number = stamps[1].number = it->phases[rank] + 1;
            grout_access__publish_some(cta, it->thread, it->inst, &box, stamps,
                                       GROUT_PUBLISH_WRITES);
        }
    }
}

static void prepare(const grout_cta *cta, const request *it, uint32_t rank) {
    grout_machine *machine = cta->machine;
    const grout_box box = get_box(cta, it, rank);
    if (machine->tracks) {
        grout_box__set_written(machine, &box, NULL);
    }
    if (machine->is_lazy) {
        grout_undo__note_load(cta, it->inst, 0, &box);
        grout_box__poison(machine, &box);
    }
}

/* The record of the phase that the bytes for a CTA are in flight to. */
static uint32_t announce(const grout_cta *cta, const request *it, uint32_t rank) {
    if (rank == cta->rank && !it->is_explicit) {
        const grout_arrival arrival = {.rank = rank,
                                       .element = it->element,
                                       .count = 1,
                                       .by_copy = true,
                                       .bytes = it->box.plan->bytes,
                                       .flying = asks(it) ? it->box.plan->bytes : 0};
        return grout_barrier__arrive(cta, it->thread, it->inst, &arrival);
    }
    const grout_delivery delivery = {.rank = rank,
                                     .element = it->element,
                                     .phase = it->phases[rank],
                                     .bytes = it->box.plan->bytes,
                                     .is_told = true};
    return grout_barrier__deliver(cta, it->thread, it->inst, &delivery);
}

static void answer_now(const grout_cta *cta, const request *it, uint32_t rank, uint32_t record) {
    if (it->box.is_inside) {
        const grout_box box = get_box(cta, it, rank);
        write_answer(cta->machine, &box, it->cluster);
    }
    grout_flight flight =
        grout_flight__describe(cta, it->thread, it->inst, GROUT_ENGINE_CLUSTER_CANCEL);
    flight.is_part = rank != cta->rank;
    flight.phase.element = it->element;
    flight.phase.number = it->phases[rank];
    grout_flight__publish_complete(cta, &flight);
    grout_barrier__land(grout_cta__peer(cta, rank), it->element, record, it->box.plan->bytes);
}

static void answer_later(const grout_cta *cta, const request *it, uint32_t rank, uint32_t record) {
    const uint32_t index =
        grout_flight__add(cta, it->thread, it->inst, GROUT_ENGINE_CLUSTER_CANCEL, rank);
    if (index == 0) {
        return;
    }
    grout_flight *flight = grout_flight__get(cta->machine, index);
    flight->is_void = !it->box.is_inside;
    flight->is_part = rank != cta->rank;
    flight->phase.bytes = it->box.plan->bytes;
    memcpy(flight->start[0], it->box.start, sizeof flight->start[0]);
    flight->start[1][0] = it->cluster;
    grout_flight__attach(grout_cta__peer(cta, rank), it->element, record, index);
}

static void send(const grout_cta *cta, const request *it, uint32_t rank) {
    const uint32_t record = announce(cta, it, rank);
    if (record != 0 && cta->machine->is_lazy) {
        answer_later(cta, it, rank, record);
    } else if (record != 0) {
        answer_now(cta, it, rank, record);
    }
}

/* The own CTA first: its arrival is that of the op. */
static void send_all(const grout_cta *cta, const request *it) {
    const uint32_t count = cta->machine->plan->shape.cta_count;
    if (!asks(it)) {
        (void)announce(cta, it, cta->rank);
        return;
    }
    for (uint32_t rank = 0; rank < count && it->box.is_inside; rank++) {
        if ((it->mask >> rank & 1u) != 0) {
            prepare(cta, it, rank);
        }
    }
    send(cta, it, cta->rank);
    for (uint32_t rank = 0; rank < count; rank++) {
        if (rank != cta->rank && (it->mask >> rank & 1u) != 0) {
            send(cta, it, rank);
        }
    }
}

bool grout_cluster_cancel__request(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    request it = {.inst = inst,
                  .thread = thread,
                  .box = grout_box__resolve(cta, thread, inst, 0),
                  .mask = 1u << cta->rank};
    if (!grout_barrier__find_element(cta, thread, inst, 1, &it.element)) {
        return true;
    }
    if (inst->u.copy.axes != 0) {
        it.mask = grout_kernel_get_cluster_mask(machine->launch.module, machine->launch.kernel,
                                                inst->u.copy.axes, cta->rank);
    }
    it.set = it.mask;
    it.is_explicit = machine->plan->elements[it.element].is_explicit;
    if (grout_mbarrier__awaits_init(cta, thread, it.element, it.mask) || !find_phases(cta, &it)) {
        return false;
    }
    if (inst->u.copy.is_collective && (it.set & (0u - it.set)) != 1u << cta->rank) {
        it.mask = 0;
    }
    (void)grout_box__check_inside(cta, thread, inst, &it.box);
    if (asks(&it) && grout_cta__head(cta)->has_had_all != 0) {
        const grout_fault fault = {.code = GROUT_DIAG_CANCEL_AFTER_FAILURE};
        grout_cta__fault(cta, thread, inst, 0, &fault);
    }
    if (asks(&it)) {
        it.cluster = take_cluster(machine);
        publish(cta, &it);
    }
    send_all(cta, &it);
    if (machine->has_clocks) {
        grout_cta__advance(cta, thread); /* its bytes carry the clock as of now */
    }
    return true;
}
