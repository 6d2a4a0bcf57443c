/*
 * check_protocol.c - the protocols of what synchronises, over a cluster, from event streams made by
 * hand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A script is a word a step: CTA, thread, then what it does (the letters stand beside the kernel's
 * lines). A small machine of two CTAs keeps clocks and phases as the interpreter does and never
 * blocks: a wait for what has not come fails the test. Findings come out as "code line[/line]", in
 * order, joined by commas; after a bar, why the run does not speak for all schedules.
 */
#include "in_place_order.h"

#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum {
    CTAS = 2,
    THREADS = 2,
    ACTORS = CTAS * THREADS,
    ELEMENTS = 3, /* of a CTA: %b, %c, %m */
    BARRIERS = CTAS * ELEMENTS,
    COUNTERS = 12 * ACTORS + 2 * BARRIERS, /* at least */
    PHASES = 16,
    SIGNALS = 16
};

static const char KERNEL[] =
    "kernel @k() cluster(cx = 2) threads(wg = 2) {\n" /* 1 */
    "  scratch %b : barrier[1]\n"
    "  scratch %c : barrier[1] cluster(cx)\n"
    "  scratch %m : mbarrier[1]\n"
    "  scratch %s : semaphore[1] global\n"
    "  barrier_arrive %b[0]\n"                 /*  6 a */
    "  barrier_wait %b[0]\n"                   /*  7 w */
    "  barrier_arrive %c[0]\n"                 /*  8 c */
    "  barrier_wait %c[0]\n"                   /*  9 k */
    "  mbarrier_init %m[0], 1\n"               /* 10 i */
    "  mbarrier_arrive %m[0]\n"                /* 11 m */
    "  mbarrier_arrive %m.cluster(0)[0]\n"     /* 12 M: CTA 0's */
    "  mbarrier_wait %m[0], 0\n"               /* 13 p, o: the parity means another phase */
    "  mbarrier_wait %m[0], 1\n"               /* 14 P */
    "  mbarrier_invalidate %m[0]\n"            /* 15 v */
    "  cluster_arrive\n"                       /* 16 r */
    "  cluster_wait\n"                         /* 17 q */
    "  named_barrier_arrive 1, 2\n"            /* 18 n */
    "  named_barrier_sync 1, 2\n"              /* 19 s: arrives, t: returns */
    "  semaphore_signal %s[0], 1\n"            /* 20 S, D: 2 units */
    "  semaphore_wait %s[0], 1\n"              /* 21 W, X: 2 units */
    "  semaphore_signal %s[0], 1\n"            /* 22 T */
    "  semaphore_wait %s[0], 1 no_decrement\n" /* 23 L */
    "}\n";

typedef struct script {
    const char *name, *steps, *findings;
} script;

#define ORDER "|accesses or barrier phases are out of order: other schedules may show more"
#define ENDS  " 00x 01x 10x 11x"

static const script SCRIPTS[] = {
    {"nothing happens", "00x 01x 10x 11x", ""},
    /* cluster barriers */
    {"a rendezvous of the cluster", "00c 10c 00k 10k 10c 00c 10k 00k" ENDS, ""},
    {"one CTA is ahead", "00c 10c 10k 10c 00k 00c 00k 10k" ENDS, ""},
    {"a loop of rendezvous", "00c 10c 00k 10k 00c 10c 00k 10k 10c 00c 00k 10k" ENDS, ""},
    {"arrives twice without a wait", "00c 10c 00c 10k 10c 10k 00k 00k" ENDS,
     "barrier-overrun 8/9" ORDER},
    {"nobody waits for the peer's arrival", "00c 10c 10k 10x 11x 00x 01x", "cluster-exit 8" ORDER},
    /* remote arrivals */
    {"a remote arrival, seen before the end",
     "00i 00r 01r 10r 11r 10q 10M 00q 00p 00x 01q 01x 10x 11q 11x", ""},
    {"a remote arrival that the end does not know",
     "00i 00r 01r 10r 11r 00q 01q 10q 11q 10M 00x 01x 10x 11x", "cluster-exit 12" ORDER},
    {"a remote arrival, known by a rendezvous",
     "00i 00r 01r 10r 11r 00q 01q 10q 11q 10M 00r 01r 10r 11r 00q 01q 10q 11q" ENDS, ""},
    {"a remote arrival on a CTA that has ended",
     "00i 00r 01r 10r 11r 00q 01q 10q 11q 00x 01x 10M 10x 11x", "cluster-exit 12" ORDER},
    {"a peer does not know of the init", "00i 10M 00p" ENDS, "init-not-visible 12/10" ORDER},
    /* mbarriers */
    {"its own init", "00i 00m 00p" ENDS, ""},
    {"another thread's init", "00i 01m 00p" ENDS, "init-not-visible 11/10" ORDER},
    {"another thread's init, told", "00i 00a 01w 01m 00p" ENDS, ""},
    {"parity 1 of a fresh one passes", "00i 00P 00m 00p" ENDS, ""},
    {"a fresh wait that phase 0 does not know", "00i 00a 01w 01P 00m 00p" ENDS,
     "barrier-overrun 11/14" ORDER},
    {"phases are skipped", "00i 00m 00m 00m 00p" ENDS, "barrier-unobserved-phase 11"},
    {"the next phase does not know the wait", "00i 00a 01w 01m 00p 01m 00P" ENDS,
     "barrier-overrun 11/13" ORDER},
    {"phases left unawaited", "00i 00m 00m" ENDS, "barrier-unobserved-phase 11"},
    {"the parity means another phase", "00i 00m 00o" ENDS, "barrier-wrong-parity 13" ORDER},
    {"ended and begun again", "00i 00m 00p 00v 00i 00m 00p" ENDS, ""},
    {"ended while another may still arrive", "00i 00a 01w 01m 00v" ENDS,
     "barrier-uninitialised 15/11" ORDER},
    {"ended while another may still wait", "00i 00a 01w 00m 01p 00v" ENDS,
     "barrier-uninitialised 15/13" ORDER},
    {"initialised twice", "00i 00i 00m 00p" ENDS, "barrier-uninitialised 10/10" ORDER},
    {"ended by another thread", "00i 00m 00p 00v 01i" ENDS, "barrier-uninitialised 10/15" ORDER},
    /* the cluster's hardware barrier */
    {"arrive and wait", "00r 01r 10r 11r 00q 01q 10q 11q" ENDS, ""},
    {"arrives twice", "00r 00r 01r 10r 11r 00q 01q 10q 11q" ENDS, "barrier-overrun 16/16" ORDER},
    {"ends without the wait", "00r 01r 10r 11r 00q 01q 10q" ENDS,
     "barrier-unobserved-phase 16|a barrier phase completed that a thread should have waited for"},
    /* named barriers */
    {"sync and sync", "00s 01s 00t 01t 00s 01s 01t 00t" ENDS, ""},
    {"arrive and sync", "00n 01s 01t" ENDS, ""},
    {"arrives again, and has been told", "00n 01s 01t 01a 00w 00n 01s 01t" ENDS, ""},
    {"arrives again, and has not been told", "00n 01s 00n 01t 01s 01t" ENDS,
     "barrier-overrun 18/18" ORDER},
    {"two arrivals of one thread", "00n 00n 01s" ENDS,
     "barrier-overrun 18/18,barrier-overrun 19" ORDER},
    /* semaphores */
    {"a signal and its wait", "00S 10W" ENDS, ""},
    {"ping-pong: who signals could take its own", "00S 10W 10S 00W" ENDS,
     "|the semaphore_wait at line 21 competes for units with another that it is in no order with"},
    {"a signal is left", "00S 01S 10W" ENDS,
     "semaphore-ambiguous 21/20|a semaphore_wait can be served by other signals"},
    {"a later signal that does not know the wait", "00S 10W 01T" ENDS,
     "semaphore-ambiguous 21/22|a semaphore_wait can be served by other signals"},
    {"a later signal after it", "00S 10W 10T" ENDS, ""},
    {"looks twice", "00S 10L 11L" ENDS, ""},
    {"looks, and another comes", "00S 10L 01T" ENDS,
     "semaphore-ambiguous 23/22|a semaphore_wait can be served by other signals"},
    {"two waits in no order, for units of one signal", "00D 10W 11W" ENDS, ""},
    {"two waits in no order, for units of two signals", "00S 00D 10X 11W" ENDS,
     "|the semaphore_wait at line 21 competes for units with another that it is in no order with"},
    {"two waits, the one by the other's signal", "00S 10W 10S 11W" ENDS,
     "|the semaphore_wait at line 21 competes for units with another that it is in no order with"},
    {"two waits, the one told of the other", "00S 10W 10S 10a 11w 11W" ENDS, ""},
    {"two waits in order", "00D 10W 10W" ENDS, ""}};

typedef struct element {
    grout_barrier_fact fact;
    grout_wait_fact waits[THREADS];
    uint32_t phases[PHASES][COUNTERS];
} element;

typedef struct named {
    uint32_t arrived, returned[THREADS];
    uint32_t generations[PHASES][COUNTERS];
} named;

typedef struct machine {
    grout_module *symbolic, *module;
    grout_diags *diags;
    grout_checker *checker;
    const grout_observer *observer;
    grout_clock_shape shape;
    grout_object_id objects[ELEMENTS], semaphore;
    uint32_t clocks[ACTORS][COUNTERS];
    element elements[CTAS][ELEMENTS];
    named names[CTAS];
    uint32_t rendezvous[COUNTERS], arrived, exited[CTAS];
    uint32_t signals[SIGNALS][COUNTERS], units[SIGNALS], signal_count, taken;
    uint64_t step;
} machine;

/* The actor of the step that runs. */
typedef struct actor {
    uint32_t cta, thread, number;
    grout_op_id op;
} actor;

static grout_op_id find_op(const machine *it, uint32_t line) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(it->module); i++) {
        const grout_op *op = grout_module_get_op(it->module, i);
        if (grout_module_get_place(it->module, op->loc).line == line) {
            return i;
        }
    }
    ck_abort_msg("no op at line %u", line);
}

static void find_objects(machine *it) {
    uint32_t count = 0;
    for (grout_object_id i = 1; i < grout_module_get_object_count(it->module); i++) {
        if (grout_module_get_object(it->module, i)->kind == GROUT_OBJECT_BARRIER) {
            it->objects[count++] = i;
        } else {
            it->semaphore = i;
        }
    }
    ck_assert_uint_eq(count, ELEMENTS);
}

static void start(machine *it) {
    static const uint32_t indices[BARRIERS];
    grout_launch_info info = {.kernel = 1,
                              .shape = {.cta_count = CTAS,
                                        .actor_count = ACTORS,
                                        .lane_count = ACTORS,
                                        .barrier_count = BARRIERS,
                                        .thread_count = THREADS,
                                        .lanes_per_thread = 1},
                              .cta_count = CTAS};
    memset(it, 0, sizeof *it);
    it->diags = grout_diags_new();
    it->symbolic = grout_parse("k.grout", KERNEL, strlen(KERNEL), it->diags);
    ck_assert_ptr_nonnull(it->symbolic);
    it->module = grout_module_bind(it->symbolic, NULL, 0, it->diags);
    ck_assert_ptr_nonnull(it->module);
    find_objects(it);
    it->shape = info.shape;
    ck_assert_uint_le(grout_clock_size(&it->shape), COUNTERS);
    info.module = it->module;
    info.element_objects = it->objects;
    info.element_indices = indices;
    it->checker = grout_checker_new(NULL, it->diags);
    it->observer = grout_checker_get_observer(it->checker);
    ck_assert(it->observer->begin(it->observer->self, &info));
    for (uint32_t i = 0; i < ACTORS; i++) {
        it->clocks[i][grout_clock_epoch(&it->shape, i)] = 1;
        it->clocks[i][grout_clock_released(&it->shape, i)] = 1;
    }
    for (uint32_t c = 0; c < CTAS; c++) {
        for (uint32_t e = 0; e < ELEMENTS; e++) {
            it->elements[c][e].fact = (grout_barrier_fact){.cta = c,
                                                           .element = e,
                                                           .object = it->objects[e],
                                                           .arrivals = e == 1 ? 2 : e == 0,
                                                           .waits = it->elements[c][e].waits,
                                                           .actor_count = THREADS};
        }
    }
}

static void stop(machine *it) {
    grout_checker_free(it->checker);
    grout_module_free(it->module);
    grout_module_free(it->symbolic);
    grout_diags_free(it->diags);
}

static void join(uint32_t *into, const uint32_t *from) {
    for (uint32_t i = 0; i < COUNTERS; i++) {
        into[i] = into[i] < from[i] ? from[i] : into[i];
    }
}

static void advance(machine *it, const actor *who) {
    it->clocks[who->number][grout_clock_epoch(&it->shape, who->number)]++;
    it->clocks[who->number][grout_clock_released(&it->shape, who->number)]++;
}

static uint32_t get_epoch(const machine *it, const actor *who) {
    return it->clocks[who->number][grout_clock_epoch(&it->shape, who->number)];
}

static grout_event make_event(machine *it, grout_event_kind kind, const actor *who,
                              grout_clocks *clocks) {
    grout_event event = {
        .kind = kind,
        .step = it->step,
        .origin = {.op = who->op, .cta = who->cta, .thread = (uint8_t)who->thread}};
    memset(clocks, 0, sizeof *clocks);
    clocks->known = clocks->published_smem = clocks->published_gmem = it->clocks[who->number];
    event.clocks = clocks;
    return event;
}

static void send(machine *it, const grout_event *event) {
    ck_assert(it->observer->event(it->observer->self, event));
}

/* ---- barriers ----------------------------------------------------------------------------------
 */

static uint32_t get_ph(const machine *it, uint32_t cta, uint32_t index) {
    return grout_clock_phase(&it->shape, grout_clock_barrier(&it->shape, cta, index));
}

static void complete(machine *it, element *own, uint32_t phase) {
    grout_event event = {.kind = GROUT_EVENT_PHASE, .step = it->step};
    own->phases[phase][get_ph(it, own->fact.cta, own->fact.element)] =
        own->fact.phase_base + phase + 1;
    own->fact.completed = phase + 1;
    event.u.phase.barrier = &own->fact;
    event.u.phase.phase = phase;
    event.u.phase.completion = own->phases[phase];
    send(it, &event);
}

static void contribute(machine *it, const actor *who, uint32_t cta, uint32_t index) {
    element *own = &it->elements[cta][index];
    grout_clocks clocks;
    grout_event event = make_event(it, GROUT_EVENT_ARRIVE, who, &clocks);
    uint32_t phase = own->fact.full;
    event.u.arrive.cta = cta;
    event.u.arrive.element = index;
    event.u.arrive.phase = phase;
    event.u.arrive.phase_base = own->fact.phase_base;
    event.u.arrive.count = 1;
    event.u.arrive.is_first = true;
    event.u.arrive.is_last = own->fact.arrived + 1 == own->fact.arrivals;
    if (phase > 0) {
        event.u.arrive.previous.is_complete = true;
        event.u.arrive.previous.completion = own->phases[phase - 1];
    }
    send(it, &event);
    join(own->phases[phase], it->clocks[who->number]);
    own->fact.has_contribution = true;
    own->fact.last_contribution = event.origin;
    own->fact.arrived++;
    if (event.u.arrive.is_last) {
        own->fact.full++;
        own->fact.arrived = 0;
    }
}

static void settle(machine *it, const actor *who, uint32_t cta, uint32_t index) {
    element *own = &it->elements[cta][index];
    bool covers = own->fact.arrived == 0;
    uint32_t phase = own->fact.full - (covers ? 1 : 0);
    uint32_t *known = it->clocks[who->number], *ph = &known[get_ph(it, cta, index)];
    if (covers) {
        complete(it, own, phase);
    }
    for (uint32_t i = 0; i < ACTORS; i++) {
        uint32_t x = grout_clock_epoch(&it->shape, i);
        covers = covers && own->phases[phase][x] <= known[x];
    }
    if (covers && *ph == own->fact.phase_base + phase) {
        *ph = own->fact.phase_base + phase + 1;
    }
}

static void arrive(machine *it, const actor *who, uint32_t cta, uint32_t index) {
    contribute(it, who, cta, index);
    advance(it, who);
    settle(it, who, cta, index);
}

static void arrive_cluster(machine *it, const actor *who) {
    for (uint32_t c = 0; c < CTAS; c++) {
        contribute(it, who, c, 1);
    }
    advance(it, who);
    for (uint32_t c = 0; c < CTAS; c++) {
        settle(it, who, c, 1);
    }
}

static void observe(machine *it, const actor *who, uint32_t index, uint32_t phase, int parity,
                    bool is_other) {
    element *own = &it->elements[who->cta][index];
    grout_clocks clocks;
    grout_event event = make_event(it, GROUT_EVENT_WAIT, who, &clocks);
    own->waits[who->thread] =
        (grout_wait_fact){.waits = phase + 1, .epoch = get_epoch(it, who), .origin = event.origin};
    event.u.wait.barrier = &own->fact;
    event.u.wait.phase = phase;
    event.u.wait.has_parity = parity >= 0;
    event.u.wait.parity = (uint8_t)(parity > 0);
    event.u.wait.is_other = is_other;
    send(it, &event);
    if (phase != UINT32_MAX && !is_other) {
        ck_assert_uint_lt(phase, own->fact.completed);
        join(it->clocks[who->number], own->phases[phase]);
    }
}

static void wait_for_parity(machine *it, const actor *who, uint32_t parity, bool is_other) {
    const element *own = &it->elements[who->cta][2];
    uint32_t k = it->clocks[who->number][get_ph(it, who->cta, 2)];
    k = k > own->fact.phase_base ? k - own->fact.phase_base : 0;
    observe(it, who, 2, (k & 1) == parity ? k : k - 1, (int)parity, is_other);
}

static void begin_mbarrier(machine *it, const actor *who, bool is_init) {
    element *own = &it->elements[who->cta][2];
    grout_barrier_fact before = own->fact;
    grout_clocks clocks;
    grout_event event = make_event(
        it, is_init ? GROUT_EVENT_BARRIER_INIT : GROUT_EVENT_BARRIER_INVALIDATE, who, &clocks);
    event.u.init.barrier = &before;
    event.u.init.arrivals = is_init ? 1 : 0;
    event.u.init.was_live = is_init && before.arrivals != 0;
    send(it, &event);
    own->fact.phase_base += own->fact.full;
    own->fact.full = own->fact.completed = 0;
    own->fact.arrivals = is_init ? 1 : 0;
    memset(own->waits, 0, sizeof own->waits);
    memset(own->phases, 0, sizeof own->phases);
}

/* ---- what else ---------------------------------------------------------------------------------
 */

static void meet(machine *it, const actor *who, bool is_arrive) {
    grout_clocks clocks;
    grout_event event = make_event(
        it, is_arrive ? GROUT_EVENT_CLUSTER_ARRIVE : GROUT_EVENT_CLUSTER_WAIT, who, &clocks);
    send(it, &event);
    if (is_arrive) {
        join(it->rendezvous, it->clocks[who->number]);
        advance(it, who);
        it->arrived++;
    } else {
        ck_assert_uint_ge(it->arrived, ACTORS);
        join(it->clocks[who->number], it->rendezvous);
    }
}

static void arrive_named(machine *it, const actor *who, bool is_sync) {
    named *own = &it->names[who->cta];
    grout_clocks clocks;
    grout_event event = make_event(it, GROUT_EVENT_NAMED_ARRIVE, who, &clocks);
    uint32_t generation = own->arrived / 2;
    event.u.named.id = 1;
    event.u.named.generation = generation;
    event.u.named.count = 2;
    event.u.named.lanes = event.u.named.open_lanes = 256;
    event.u.named.arrived = own->arrived % 2 * 128;
    event.u.named.brings = 128;
    event.u.named.is_sync = is_sync;
    if (generation > 0) {
        event.u.named.previous.is_complete = true;
        event.u.named.previous.completion = own->generations[generation - 1];
    }
    send(it, &event);
    join(own->generations[generation], it->clocks[who->number]);
    advance(it, who);
    own->arrived++;
}

static void return_named(machine *it, const actor *who) {
    named *own = &it->names[who->cta];
    grout_clocks clocks;
    grout_event event = make_event(it, GROUT_EVENT_NAMED_SYNC, who, &clocks);
    uint32_t generation = own->returned[who->thread]++;
    ck_assert_uint_lt(generation, own->arrived / 2);
    event.u.named.id = 1;
    event.u.named.generation = generation;
    event.u.named.count = 2;
    send(it, &event);
    join(it->clocks[who->number], own->generations[generation]);
}

static void signal_units(machine *it, const actor *who, uint32_t units) {
    grout_semaphore_fact fact = {.object = it->semaphore, .cta = UINT32_MAX};
    grout_clocks clocks;
    grout_event event = make_event(it, GROUT_EVENT_SIGNAL, who, &clocks);
    event.u.semaphore.semaphore = &fact;
    event.u.semaphore.units = units;
    event.u.semaphore.serial = it->signal_count;
    send(it, &event);
    it->units[it->signal_count] = units;
    memcpy(it->signals[it->signal_count++], it->clocks[who->number], sizeof it->signals[0]);
    advance(it, who);
}

static void wait_for_units(machine *it, const actor *who, uint32_t units, bool no_decrement) {
    grout_semaphore_fact fact = {.object = it->semaphore, .cta = UINT32_MAX};
    uint32_t serials[SIGNALS], count = 0, left = units;
    grout_clocks clocks;
    grout_event event = make_event(it, GROUT_EVENT_SEMAPHORE_WAIT, who, &clocks);
    for (uint32_t i = 0; i < it->signal_count && left > 0; i++) {
        uint32_t taken = it->units[i] < left ? it->units[i] : left;
        taken = no_decrement ? 1 : taken;
        if (taken > 0) {
            serials[count++] = i;
            it->units[i] -= no_decrement ? 0 : taken;
            left -= taken;
        }
    }
    ck_assert_uint_eq(left, 0);
    event.u.semaphore.semaphore = &fact;
    event.u.semaphore.units = units;
    event.u.semaphore.no_decrement = no_decrement;
    event.u.semaphore.serials = serials;
    event.u.semaphore.serial_count = count;
    send(it, &event);
    for (uint32_t i = 0; i < count; i++) {
        join(it->clocks[who->number], it->signals[serials[i]]);
    }
}

static void end_cta(machine *it, uint32_t cta) {
    grout_event event = {.kind = GROUT_EVENT_CTA_END, .origin = {.cta = cta}};
    uint32_t last[COUNTERS] = {0};
    for (uint32_t e = 0; e < ELEMENTS; e++) {
        grout_event end = {.kind = GROUT_EVENT_BARRIER_END, .origin = {.cta = cta}};
        end.u.barrier_end.barrier = &it->elements[cta][e].fact;
        send(it, &end);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        join(last, it->clocks[cta * THREADS + t]);
    }
    event.u.scope.last = last;
    send(it, &event);
}

static void exit_thread(machine *it, const actor *who) {
    grout_clocks clocks;
    actor last = *who;
    last.op = find_op(it, 23);
    grout_event event = make_event(it, GROUT_EVENT_THREAD_EXIT, &last, &clocks);
    send(it, &event);
    if (++it->exited[who->cta] == THREADS) {
        end_cta(it, who->cta);
    }
}

/* ---- scripts -----------------------------------------------------------------------------------
 */

static uint32_t count_waits(const machine *it, const actor *who, uint32_t index) {
    return it->elements[who->cta][index].waits[who->thread].waits;
}

/* False: the step is none of a barrier. */
static bool take_barrier_step(machine *it, const actor *who, char step) {
    switch (step) {
    case 'a':
        arrive(it, who, who->cta, 0);
        return true;
    case 'w':
        observe(it, who, 0, count_waits(it, who, 0), -1, false);
        return true;
    case 'c':
        arrive_cluster(it, who);
        return true;
    case 'k':
        observe(it, who, 1, count_waits(it, who, 1), -1, false);
        return true;
    case 'i':
    case 'v':
        begin_mbarrier(it, who, step == 'i');
        return true;
    case 'm':
        arrive(it, who, who->cta, 2);
        return true;
    case 'M':
        arrive(it, who, 0, 2);
        return true;
    case 'p':
    case 'P':
    case 'o':
        wait_for_parity(it, who, step == 'P', step == 'o');
        return true;
    default:
        return false;
    }
}

static void take_other_step(machine *it, const actor *who, char step) {
    switch (step) {
    case 'r':
    case 'q':
        meet(it, who, step == 'r');
        break;
    case 'n':
    case 's':
        arrive_named(it, who, step == 's');
        break;
    case 't':
        return_named(it, who);
        break;
    case 'S':
    case 'T':
        signal_units(it, who, 1);
        break;
    case 'D':
        signal_units(it, who, 2);
        break;
    case 'W':
        wait_for_units(it, who, 1, false);
        break;
    case 'X':
        wait_for_units(it, who, 2, false);
        break;
    case 'L':
        wait_for_units(it, who, 1, true);
        break;
    case 'x':
        exit_thread(it, who);
        break;
    default:
        ck_abort_msg("no step '%c'", step);
    }
}

/* A step without a letter among the kernel's lines has the line of a step that has one. */
static uint32_t get_line(char step) {
    static const char LETTERS[] = "awckimMpPvrqnsSWTL", OTHERS[] = "otDXx", STAND_FOR[] = "psSWa";
    const char *other = strchr(OTHERS, step);
    const char *letter = strchr(LETTERS, other ? STAND_FOR[other - OTHERS] : step);
    return 6 + (uint32_t)(letter - LETTERS);
}

static void take_step(machine *it, const char *at) {
    actor who = {.cta = (uint32_t)(at[0] - '0'), .thread = (uint32_t)(at[1] - '0')};
    who.number = who.cta * THREADS + who.thread;
    who.op = find_op(it, get_line(at[2]));
    it->step++;
    if (!take_barrier_step(it, &who, at[2])) {
        take_other_step(it, &who, at[2]);
    }
}

static void take_steps(machine *it, const char *steps) {
    for (const char *at = steps; *at; at += at[3] ? 4 : 3) {
        take_step(it, at);
    }
}

static void list_findings(const machine *it, grout_text *out) {
    grout_check_summary summary = grout_checker_get_summary(it->checker, false);
    grout_text_add(out, "%s", "");
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_finding *finding = get_in_place_order(it->checker, i);
        grout_text_add(out, "%s%s %u", i ? "," : "", grout_diag_get(finding->code)->text,
                       finding->primary.line);
        if (finding->related.file) {
            grout_text_add(out, "/%u", finding->related.line);
        }
        ck_assert_str_ne(finding->diag->message, "");
    }
    if (!summary.is_well_synchronised) {
        grout_text_add(out, "|%s", summary.not_well_synchronised_because);
    }
}

TEST_EACH(script_gives_findings, COUNT_OF(SCRIPTS)) {
    const script *row = &SCRIPTS[_i];
    machine *it = calloc(1, sizeof *it);
    grout_text found = {0};
    ck_assert_ptr_nonnull(it);
    start(it);
    take_steps(it, row->steps);
    ck_assert(it->observer->end(it->observer->self));
    list_findings(it, &found);
    ck_assert_msg(strcmp(found.data ? found.data : "", row->findings) == 0, "%s: '%s', not '%s'",
                  row->name, found.data ? found.data : "", row->findings);
    grout_text_free(&found);
    stop(it);
    free(it);
}

/* A snapshot taken half way, the rest run, restored, and the rest run again: the same findings. */
TEST_EACH(snapshot_goes_back, COUNT_OF(SCRIPTS)) {
    const script *row = &SCRIPTS[_i];
    size_t half = strlen(row->steps) / 8 * 4;
    machine *it = calloc(1, sizeof *it), *kept = calloc(1, sizeof *kept);
    grout_text once = {0}, twice = {0};
    char first[128] = {0};
    ck_assert_ptr_nonnull(it);
    ck_assert_ptr_nonnull(kept);
    if (half > 0) {
        memcpy(first, row->steps, half - 1);
    }
    start(it);
    take_steps(it, first);
    *kept = *it;
    void *snapshot = it->observer->snapshot(it->observer->self);
    uint64_t hash = it->observer->hash(it->observer->self);
    ck_assert_ptr_nonnull(snapshot);
    take_steps(it, row->steps + half);
    list_findings(it, &once);
    *it = *kept;
    ck_assert(it->observer->restore(it->observer->self, snapshot));
    ck_assert(hash == it->observer->hash(it->observer->self));
    take_steps(it, row->steps + half);
    list_findings(it, &twice);
    ck_assert_str_eq(once.data, twice.data);
    it->observer->snapshot_free(it->observer->self, snapshot);
    grout_text_free(&once);
    grout_text_free(&twice);
    stop(it);
    free(it);
    free(kept);
}
