/*
 * check_barriers.c - the barrier protocol, from event streams made by hand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A script is a word a step: thread, then what it does: 'a' arrive (op 0 of the kernel's arrives),
 * 'b' arrive (op 1), 'w' wait (op 0 of its waits), 'v' wait (op 1), 'x' exit. A small machine keeps
 * clocks and phases as the interpreter does and never blocks: a wait for a phase whose arrivals are
 * not in fails the test. Findings come out as "code line[/line]", in order, joined by commas.
 */
#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, COUNTERS = 7 * THREADS + 1, PHASES = 1200, ARRIVALS = 4 };

static const char KERNEL[] = "kernel @k() threads(wg = 3) {\n" /* 1 */
                             "  scratch %b : barrier[1] arrivals(N)\n"
                             "  barrier_arrive %b[0]\n" /* 3: a */
                             "  barrier_arrive %b[0]\n" /* 4: b */
                             "  barrier_wait %b[0]\n"   /* 5: w */
                             "  barrier_wait %b[0]\n"   /* 6: v */
                             "}\n"
                             "const N = 1\n";

typedef struct script {
    const char *name;
    const char *steps;
    const char *findings;
    uint32_t arrivals;
    bool is_inner;
} script;

static const script SCRIPTS[] = {
    {"one phase, seen", "0a 1w", "", 1, false},
    {"nobody comes to wait, one phase", "0a", "", 1, false},
    {"nobody waits, two phases", "0a 0b", "barrier-overrun 4", 1, false},
    {"seen, then the next by who saw it", "0a 1w 1b 1w", "", 1, false},
    {"the second arrival knows of no wait", "0a 1w 0b 1w", "barrier-overrun 4/5", 1, false},
    {"the same, the wait comes after", "0a 0b 1w 1w", "barrier-overrun 4/5", 1, false},
    {"rendezvous of two", "0a 1a 0w 1w 0a 1a 0w 1w", "", 2, false},
    {"rendezvous, one is ahead", "0a 1a 0w 0a 1w 1a 1w 0w", "", 2, false},
    {"who made all arrivals of a phase knows it complete", "0a 0a 1w 0b 1b 1w", "", 2, false},
    {"one waits once, the other goes on", "0a 0w 1v 0a 0w",
     "barrier-overrun 3/6,barrier-unobserved-phase 2/3", 1, false},
    {"the same, the wait comes after", "0a 0w 0a 0w 1v",
     "barrier-overrun 3/6,barrier-unobserved-phase 2/3", 1, false},
    {"half a phase", "0a", "barrier-partial-at-end 2/3", 2, false},
    {"half a phase in a scope", "0a", "barrier-partial-at-end 2/3!", 2, true},
    {"left unseen in a scope", "0a 0w 0a", "barrier-unobserved-phase 2/3!", 1, true},
    {"nobody waits, in a scope", "0a", "barrier-unobserved-phase 2/3!", 1, true},
    {"exits change nothing: nobody waits, two phases", "0a 0b 0x 1x 2x", "barrier-overrun 4", 1,
     false},
    {"two threads miss a pair: the first wait in the source", "0a 1v 0b 2w 1v 2w",
     "barrier-overrun 4/5", 1, false},
    {"the same, one exits", "0a 1v 0b 1x 2w 2w", "barrier-overrun 4/5,barrier-unobserved-phase 2/4",
     1, false},
    {"who comes to wait late points at the next phase", "0a 0w 0b 0w 0a 0w 1v 1v 1v",
     "barrier-overrun 3/6,barrier-overrun 4/6", 1, false},
    {"left unseen at the end", "0a 0w 0a", "", 1, false},
    {"of two early arrivals the last in the source", "0a 0a 1w 2b 2a 1w", "barrier-overrun 4/5", 2,
     false},
    {"the first waits in the source", "0a 1v 2w 0b 1v 2w", "barrier-overrun 4/5", 1, false}};

typedef struct machine {
    grout_module *symbolic, *module;
    grout_diags *diags;
    grout_checker *checker;
    const grout_observer *observer;
    grout_clock_shape shape;
    grout_object_id object;
    grout_op_id arrives[2], waits_ops[2];
    uint32_t clocks[THREADS][COUNTERS];
    uint32_t phases[PHASES][COUNTERS];
    grout_origin contributions[PHASES][ARRIVALS];
    uint32_t contribution_counts[PHASES];
    grout_wait_fact waits[THREADS];
    grout_barrier_fact fact;
    uint32_t full;
    bool is_late; /* the engine brings no bytes before the end: no phase completes */
} machine;

static void find_ops(machine *it) {
    uint32_t arrives = 0, waits = 0;
    for (grout_op_id i = 1; i < grout_module_get_op_count(it->module); i++) {
        uint16_t opcode = grout_module_get_op(it->module, i)->opcode;
        if (opcode == GROUT_OP_BARRIER_ARRIVE) {
            it->arrives[arrives++] = i;
        } else if (opcode == GROUT_OP_BARRIER_WAIT) {
            it->waits_ops[waits++] = i;
        }
    }
    for (grout_object_id i = 1; i < grout_module_get_object_count(it->module); i++) {
        it->object = i;
    }
}

static void start(machine *it, uint32_t arrivals) {
    static const uint32_t element_indices[] = {0};
    grout_define define = {.name = "N", .integer = arrivals, .origin = "-D"};
    grout_launch_info info = {.kernel = 1,
                              .shape = {.cta_count = 1,
                                        .actor_count = THREADS,
                                        .lane_count = THREADS,
                                        .barrier_count = 1,
                                        .thread_count = THREADS,
                                        .lanes_per_thread = 1},
                              .cta_count = 1};
    memset(it, 0, sizeof *it);
    it->diags = grout_diags_new();
    it->symbolic = grout_parse("k.grout", KERNEL, strlen(KERNEL), it->diags);
    ck_assert_ptr_nonnull(it->symbolic);
    it->module = grout_module_bind(it->symbolic, &define, 1, it->diags);
    ck_assert_ptr_nonnull(it->module);
    find_ops(it);
    it->shape = info.shape;
    info.module = it->module;
    info.element_objects = &it->object;
    info.element_indices = element_indices;
    it->checker = grout_checker_new(NULL, it->diags);
    it->observer = grout_checker_get_observer(it->checker);
    ck_assert(it->observer->begin(it->observer->self, &info));
    it->fact = (grout_barrier_fact){
        .object = it->object, .arrivals = arrivals, .waits = it->waits, .actor_count = THREADS};
    for (uint32_t t = 0; t < THREADS; t++) {
        it->clocks[t][grout_clock_epoch(&it->shape, t)] = 1;
        it->clocks[t][grout_clock_released(&it->shape, t)] = 1;
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

static void send(machine *it, grout_event *event) {
    ck_assert(it->observer->event(it->observer->self, event));
}

static grout_event make_event(machine *it, grout_event_kind kind, uint32_t thread, grout_op_id op,
                              grout_clocks *clocks) {
    grout_event event = {.kind = kind, .origin = {.op = op, .thread = (uint8_t)thread}};
    clocks->known = clocks->published_smem = clocks->published_gmem = it->clocks[thread];
    event.clocks = clocks;
    return event;
}

static void complete(machine *it, uint32_t phase) {
    grout_event event = {.kind = GROUT_EVENT_PHASE};
    it->phases[phase][grout_clock_phase(&it->shape, 0)] = phase + 1;
    it->full = phase + 1;
    if (it->is_late) {
        return;
    }
    it->fact.completed = phase + 1;
    event.u.phase.barrier = &it->fact;
    event.u.phase.phase = phase;
    event.u.phase.completion = it->phases[phase];
    event.u.phase.contributions = it->contributions[phase];
    event.u.phase.contribution_count = it->contribution_counts[phase];
    send(it, &event);
}

static void arrive(machine *it, uint32_t thread, grout_op_id op) {
    uint32_t phase = it->fact.full;
    grout_clocks clocks = {0};
    grout_event event = make_event(it, GROUT_EVENT_ARRIVE, thread, op, &clocks);
    event.u.arrive.phase = phase;
    event.u.arrive.count = 1;
    event.u.arrive.is_last = it->fact.arrived + 1 == it->fact.arrivals;
    if (phase > 0) {
        event.u.arrive.previous.is_complete = true;
        event.u.arrive.previous.completion = it->phases[phase - 1];
    }
    send(it, &event);
    it->contributions[phase][it->contribution_counts[phase]++] = event.origin;
    it->fact.has_contribution = true;
    it->fact.last_contribution = event.origin;
    join(it->phases[phase], it->clocks[thread]);
    it->clocks[thread][grout_clock_epoch(&it->shape, thread)]++;
    it->clocks[thread][grout_clock_released(&it->shape, thread)]++;
    it->fact.arrived++;
    if (it->fact.arrived == it->fact.arrivals) {
        it->fact.full++;
        it->fact.arrived = 0;
        complete(it, phase);
    }
}

static void wait_for_next(machine *it, uint32_t thread, grout_op_id op) {
    grout_clocks clocks = {0};
    grout_event event = make_event(it, GROUT_EVENT_WAIT, thread, op, &clocks);
    uint32_t phase = it->waits[thread].waits++;
    ck_assert_uint_lt(phase, it->full);
    it->waits[thread].epoch = it->clocks[thread][grout_clock_epoch(&it->shape, thread)];
    it->waits[thread].origin = event.origin;
    event.u.wait.barrier = &it->fact;
    event.u.wait.phase = phase;
    event.u.wait.is_late = it->fact.completed > phase + 1;
    send(it, &event);
    join(it->clocks[thread], it->phases[phase]);
}

static void exit_thread(machine *it, uint32_t thread) {
    grout_clocks clocks = {0};
    grout_event event = make_event(it, GROUT_EVENT_THREAD_EXIT, thread, it->waits_ops[0], &clocks);
    send(it, &event);
}

static void take_steps(machine *it, const char *steps) {
    for (const char *at = steps; *at; at += at[2] ? 3 : 2) {
        uint32_t thread = (uint32_t)(at[0] - '0');
        if (at[1] == 'a' || at[1] == 'b') {
            arrive(it, thread, it->arrives[at[1] - 'a']);
        } else if (at[1] == 'x') {
            exit_thread(it, thread);
        } else {
            wait_for_next(it, thread, it->waits_ops[at[1] == 'v']);
        }
    }
}

static void run(machine *it, const script *row) {
    grout_event event = {.kind = GROUT_EVENT_BARRIER_END};
    take_steps(it, row->steps);
    event.u.barrier_end.barrier = &it->fact;
    event.u.barrier_end.is_inner = row->is_inner;
    send(it, &event);
    ck_assert(it->observer->end(it->observer->self));
}

/* An error at the end of a scope is marked '!', where a CTA's end gives a warning. */
static void list_findings(const machine *it, grout_text *out) {
    for (uint32_t i = 0; i < grout_checker_get_count(it->checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(it->checker, i);
        bool at_end = finding->code == GROUT_DIAG_BARRIER_UNOBSERVED ||
                      finding->code == GROUT_DIAG_BARRIER_PARTIAL;
        grout_text_add(out, "%s%s %u", i ? "," : "", grout_diag_get(finding->code)->text,
                       finding->primary.line);
        if (finding->related.file) {
            grout_text_add(out, "/%u", finding->related.line);
        }
        if (at_end && finding->severity == GROUT_SEVERITY_ERROR) {
            grout_text_add(out, "!");
        }
    }
}

static void expect(const script *row, bool is_late) {
    machine *it = calloc(1, sizeof *it);
    grout_text found = {0};
    ck_assert_ptr_nonnull(it);
    start(it, row->arrivals);
    it->is_late = is_late;
    run(it, row);
    list_findings(it, &found);
    ck_assert_msg(strcmp(found.data ? found.data : "", row->findings) == 0, "%s: '%s', not '%s'",
                  row->name, found.data ? found.data : "", row->findings);
    grout_text_free(&found);
    stop(it);
    free(it);
}

TEST_EACH(script_gives_findings, COUNT_OF(SCRIPTS)) {
    expect(&SCRIPTS[_i], false);
}

/* When bytes land is chance: an engine that brings none before the end changes no finding. */
TEST_EACH(timing_changes_nothing, COUNT_OF(SCRIPTS)) {
    expect(&SCRIPTS[_i], true);
}

/* More pairs are open than are kept. A very late wait still points at the phase after. */
TEST(very_late_wait_points_at_the_next_phase) {
    const script row = {"very late", NULL, "barrier-overrun 3/6,barrier-unobserved-phase 2/4", 1,
                        false};
    machine *it = calloc(1, sizeof *it);
    script rest = row;
    grout_text found = {0};
    ck_assert_ptr_nonnull(it);
    start(it, 1);
    for (uint32_t i = 0; i < PHASES - 1; i++) {
        take_steps(it, i < 10 ? "0a 0w" : "0b 0w");
    }
    rest.steps = "1v";
    run(it, &rest);
    list_findings(it, &found);
    ck_assert_str_eq(found.data ? found.data : "", row.findings);
    grout_text_free(&found);
    stop(it);
    free(it);
}

/* A snapshot taken at any step, the rest run, restored, and the rest run again: the same findings.
 */
TEST_EACH(snapshot_goes_back, COUNT_OF(SCRIPTS)) {
    const script *row = &SCRIPTS[_i];
    size_t half = strlen(row->steps) / 6 * 3;
    script first = *row, second = *row;
    char steps[64] = {0};
    machine it, kept;
    void *snapshot = NULL;
    uint64_t hash = 0;
    grout_text once = {0}, twice = {0};
    if (half == 0) {
        return;
    }
    memcpy(steps, row->steps, half - 1);
    first.steps = steps;
    second.steps = row->steps + half;
    start(&it, row->arrivals);
    take_steps(&it, first.steps);
    kept = it;
    snapshot = it.observer->snapshot(it.observer->self);
    hash = it.observer->hash(it.observer->self);
    ck_assert_ptr_nonnull(snapshot);
    run(&it, &second);
    list_findings(&it, &once);
    it = kept;
    it.fact.waits = it.waits;
    ck_assert(it.observer->restore(it.observer->self, snapshot));
    ck_assert(hash == it.observer->hash(it.observer->self));
    run(&it, &second);
    list_findings(&it, &twice);
    ck_assert_str_eq(once.data ? once.data : "", twice.data ? twice.data : "");
    it.observer->snapshot_free(it.observer->self, snapshot);
    grout_text_free(&once);
    grout_text_free(&twice);
    stop(&it);
}
