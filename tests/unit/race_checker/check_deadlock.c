/*
 * check_deadlock.c - what a deadlock's report says of registers, and where ops stand.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "race_checker/source/statement.h"

#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "tests/tests.h"

#include <string.h>

static const char KERNEL[] = "kernel @k() threads(wg = 3) {\n"
                             "  scratch %go : barrier[1]\n"
                             "  if (eq (axis_index wg), 0) {\n"
                             "    barrier_wait %go[0]\n"           /* 4 */
                             "    set_max_registers 40 decrease\n" /* 5 */
                             "  } else {\n"
                             "    set_max_registers 232 increase\n" /* 7 */
                             "    barrier_arrive %go[0]\n"          /* 8 */
                             "  }\n"
                             "  %n = while carry(%i = 0) {\n" /* 10 */
                             "    debug_print \"{}\", %i\n"   /* 11 */
                             "    cond (lt %i, 5)\n"
                             "  } do {\n"
                             "    debug_print \"again\"\n" /* 14 */
                             "    yield (add %i, 1)\n"
                             "  }\n"
                             "  debug_print \"{}\", %n\n" /* 17 */
                             "}\n";

/* Where each line is, and its sentence; the first is the headline. */
static const struct sentence {
    uint32_t line;
    const char *text;
} SENTENCES[] = {
    {4, "no thread can run: phase 0 of %go[0] never completes"},
    {0, "thread wg=0 waits at line 4 for thread wg=1, which waits at line 7 for thread wg=0: a "
        "circle"},
    {4, "thread wg=0 waits for phase 0 of %go[0], which has 0 of 1 arrival"},
    {8, "this barrier_arrive arrives on %go; thread wg=1 is blocked at line 7 before it; 1 more "
        "likewise"},
    {7, "thread wg=1 asks for 232 registers a lane and has 168, and the CTA's pool has 0 of "
        "the 64 it lacks; thread wg=0 holds 168; thread wg=2 holds 168"},
    {5, "this set_max_registers gives registers back; thread wg=0 is blocked at line 4 before "
        "it"}};

typedef struct fixture {
    grout_diags *diags;
    grout_module *symbolic, *module;
} fixture;

static void start_text(fixture *it, const char *text) {
    it->diags = grout_diags_new();
    it->symbolic = grout_parse("k.grout", text, strlen(text), it->diags);
    ck_assert_ptr_nonnull(it->symbolic);
    it->module = grout_module_bind(it->symbolic, NULL, 0, it->diags);
    ck_assert_ptr_nonnull(it->module);
}

static void start(fixture *it) {
    start_text(it, KERNEL);
}

static void stop(fixture *it) {
    grout_module_free(it->module);
    grout_module_free(it->symbolic);
    grout_diags_free(it->diags);
}

/* The last op of a line: those nested in it come before. */
static grout_op_id find_op(const grout_module *module, uint32_t line) {
    grout_op_id found = 0;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        found = grout_module_get_place(module, op->loc).line == line ? i : found;
    }
    ck_assert_uint_ne(found, 0);
    return found;
}

TEST(registers_are_explained) {
    fixture it;
    grout_thread_fact threads[3];
    grout_barrier_fact barrier = {.arrivals = 1};
    grout_event event = {.kind = GROUT_EVENT_DEADLOCK};
    uint32_t index = 0;
    start(&it);
    for (grout_object_id i = 1; i < grout_module_get_object_count(it.module); i++) {
        barrier.object = i;
    }
    for (uint32_t t = 0; t < 3; t++) {
        threads[t] =
            (grout_thread_fact){.state = GROUT_THREAD_BLOCKED_REGISTERS,
                                .registers = 232,
                                .registers_held = 168,
                                .origin = {.op = find_op(it.module, 7), .thread = (uint8_t)t}};
    }
    threads[0].state = GROUT_THREAD_BLOCKED_BARRIER;
    threads[0].origin.op = find_op(it.module, 4);
    grout_checker *checker = grout_checker_new(NULL, it.diags);
    const grout_observer *observer = grout_checker_get_observer(checker);
    const grout_launch_info info = {.module = it.module,
                                    .kernel = 1,
                                    .shape = {.cta_count = 1,
                                              .actor_count = 3,
                                              .lane_count = 3,
                                              .barrier_count = 1,
                                              .thread_count = 3,
                                              .lanes_per_thread = 1},
                                    .cta_count = 1,
                                    .element_objects = &barrier.object,
                                    .element_indices = &index};
    ck_assert(observer->begin(observer->self, &info));
    event.u.deadlock.threads = threads;
    event.u.deadlock.thread_count = 3;
    event.u.deadlock.barriers = &barrier;
    event.u.deadlock.barrier_count = 1;
    ck_assert(observer->event(observer->self, &event));
    ck_assert_uint_eq(grout_checker_get_count(checker), 1);
    const grout_finding *finding = grout_checker_get_finding(checker, 0);
    ck_assert_int_eq(finding->code, GROUT_DIAG_DEADLOCK);
    ck_assert_uint_eq(finding->primary.line, SENTENCES[0].line);
    ck_assert_str_eq(finding->diag->message, SENTENCES[0].text);
    ck_assert_uint_ge(finding->diag->note_count, sizeof SENTENCES / sizeof *SENTENCES - 1);
    for (uint32_t i = 1; i < sizeof SENTENCES / sizeof *SENTENCES; i++) {
        ck_assert_str_eq(finding->diag->notes[i - 1].message, SENTENCES[i].text);
        ck_assert_uint_eq(finding->diag->notes[i - 1].place.line, SENTENCES[i].line);
    }
    grout_checker_free(checker);
    stop(&it);
}

static const struct reach_row {
    uint32_t stand, goal;
    grout_reach kind;
} REACHES[] = {{4, 5, GROUT_REACH_AHEAD},        {5, 4, GROUT_REACH_PASSED},
               {4, 7, GROUT_REACH_OTHER_BRANCH}, {7, 11, GROUT_REACH_AHEAD},
               {11, 14, GROUT_REACH_AHEAD},      {14, 11, GROUT_REACH_NEXT_ROUND},
               {14, 14, GROUT_REACH_AHEAD},      {14, 17, GROUT_REACH_AHEAD},
               {17, 14, GROUT_REACH_PASSED},     {11, 8, GROUT_REACH_PASSED}};

TEST_EACH(ops_are_ahead_or_behind, COUNT_OF(REACHES)) {
    fixture it;
    start(&it);
    ck_assert_int_eq(grout_op__find_reach(it.module, find_op(it.module, REACHES[_i].stand),
                                          find_op(it.module, REACHES[_i].goal))
                         .kind,
                     REACHES[_i].kind);
    stop(&it);
}

TEST(a_while_is_a_loop) {
    fixture it;
    start(&it);
    for (uint32_t line = 11; line <= 14; line += 3) {
        grout_op_id loop = grout_op__get_loop(it.module, find_op(it.module, line));
        ck_assert_int_eq(grout_module_get_op(it.module, loop)->opcode, GROUT_OP_WHILE);
    }
    ck_assert_uint_eq(grout_op__get_loop(it.module, find_op(it.module, 17)), 0);
    stop(&it);
}

/* Whether the verdict holds for every schedule, as registers are taken in the order of arrival: a
 * thread increases in its epoch 5, and another or the same one decreases. */
static const struct order_row {
    bool holds;
    uint32_t decreasing; /* thread */
    uint32_t known;      /* epoch of thread 0 that it knows */
    uint32_t foreign;    /* clusters that it knows of */
} ORDERS[] = {{true, 1, 0, 0},  {true, 1, 4, 0},  {false, 1, 5, 0},
              {false, 1, 9, 0}, {false, 0, 5, 0}, {false, 1, 0, 1}};

static void send_change(const grout_observer *observer, uint32_t thread, bool is_increase,
                        const grout_clocks *clocks) {
    grout_event event = {.kind = GROUT_EVENT_REGISTERS, .clocks = clocks};
    event.origin.op = 1;
    event.origin.thread = (uint8_t)thread;
    event.u.registers.count = 64;
    event.u.registers.is_increase = is_increase;
    ck_assert(observer->event(observer->self, &event));
}

TEST_EACH(order_of_registers_is_a_doubt, COUNT_OF(ORDERS)) {
    fixture it;
    grout_text text = {0};
    grout_object_id object = 0;
    uint32_t index = 0;
    grout_text_add(&text,
                   "kernel @k() threads(wg = 3) {\n scratch %%go : barrier[1] arrivals(2)\n %%w = "
                   "axis_index wg\n}\n");
    start_text(&it, text.data);
    object = grout_module_get_object_count(it.module) - 1;
    grout_checker *checker = grout_checker_new(NULL, it.diags);
    const grout_observer *observer = grout_checker_get_observer(checker);
    const grout_launch_info info = {.module = it.module,
                                    .kernel = 1,
                                    .shape = {.cta_count = 1,
                                              .actor_count = 3,
                                              .lane_count = 3,
                                              .barrier_count = 1,
                                              .thread_count = 3,
                                              .lanes_per_thread = 1},
                                    .cta_count = 1,
                                    .element_objects = &object,
                                    .element_indices = &index};
    const struct order_row *row = &ORDERS[_i];
    uint32_t clock[64] = {0};
    const grout_foreign_clock foreign = {0};
    grout_clocks clocks = {.known = clock, .published_smem = clock, .published_gmem = clock};
    const grout_event begin = {.kind = GROUT_EVENT_CTA_BEGIN, .clocks = &clocks};
    ck_assert(observer->begin(observer->self, &info));
    ck_assert(observer->event(observer->self, &begin));
    clock[grout_clock_epoch(&info.shape, 0)] = 5;
    send_change(observer, 0, true, &clocks);
    clock[grout_clock_epoch(&info.shape, 0)] = row->known;
    clocks.foreign = &foreign;
    clocks.foreign_count = row->foreign;
    send_change(observer, row->decreasing, false, &clocks);
    ck_assert_int_eq(grout_checker_get_summary(checker, false).is_well_synchronised, row->holds);
    grout_checker_free(checker);
    grout_text_free(&text);
    stop(&it);
}
