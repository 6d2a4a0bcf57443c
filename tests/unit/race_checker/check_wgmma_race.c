/*
 * check_wgmma_race.c - wgmmas: what is found, and what the report says (scripts: wgmma_script.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/tests.h"
#include "wgmma_script.h"

typedef struct script {
    const char *name;
    const char *steps;
    const char *findings;
} script;

/* 'E' is the end of the CTA; scripts without it stop in the middle. */
static const script SCRIPTS[] = {
    {"a wgmma frees the operands before its own", "0m0 0m1 0t0", ""},
    {"a wgmma leaves its own in flight", "0m0 0t0", REUSE "13/7"},
    {"the same, waited for", "0m0 0w0 0t0", ""},
    {"a plain store into an operand", "0n0 0s0", REUSE "15/8"},
    {"a plain load of an operand: two reads", "0n0 0r0 0w0", ""},
    {"another slot is free", "0n0 0t1 0s2", ""},
    {"distance 2", "0n0 0n1 0w2 0t0", REUSE "13/8"},
    {"distance 2, covered", "0n0 0n1 0w1 0t0", ""},
    {"distance 3", "0n0 0n1 0n2 0w3 0t0 0t1 0t2", REUSE "13/8"},
    {"distance 4, covered", "0n0 0n1 0n2 0n3 0w3 0t0", ""},
    {"distance 5", "0n0 0n1 0n2 0n3 0n4 0w4 0t1", REUSE "13/8"},
    {"distance 6, other kinds between", "0h0 0n1 0n2 0w1 0i3 0n4 0n5 0w6 0t2",
     FLIGHT "8/9," FLIGHT "8/10," FLIGHT "10/8," REUSE "13/8"},
    {"distance 6, covered", "0n0 0n1 0n2 0n3 0n4 0n5 0w5 0t0", ""},
    {"handed back before the wait", "0n0 0a0 0w0 1g0 1t0", REUSE "13/8"},
    {"handed back after the wait", "0n0 0w0 0a0 1g0 1t0", ""},
    {"handed back after a wait that leaves it", "0n0 0n1 0w1 0a0 1g0 1t0 1t1", REUSE "13/8"},
    {"handed back through a third thread", "0n0 0a0 2g0 2a0 1g2 1s0", REUSE "15/8"},
    {"the same after the wait", "0n0 0w0 0a0 2g0 2a0 1g2 1s0", ""},
    {"handed back before the wgmma", "0t0 0c0 0a0 0n0 1g0 1t0", REUSE "13/8"},
    {"the same, the refill comes first", "0t0 0c0 0a0 1g0 1t0 0n0", REUSE "13/8"},
    {"two threads share an operand, one is waited for", "0n0 1n0 0w0 0a0 1a0 2g0 2g1 2t0",
     REUSE "13/8"},
    {"two threads share an operand, both are waited for", "0n0 1n0 0w0 1w0 0a0 1a0 2g0 2g1 2t0",
     ""},
    {"a store that is not committed", "0s0 0n0", "missing-commit-smem 8/15"},
    {"a store that is committed", "0s0 0f0 0n0", ""},
    {"a store of another thread, committed by the wgmma's", "1s0 1a0 0g1 0f0 0n0", ""},
    {"a store of another thread, committed too early", "1f0 1s0 1a0 0g1 0n0",
     "missing-commit-smem 8/15"},
    {"a store of another thread, unordered", "1s0 0n0", "smem-race 15/8"},
    {"the same, the wgmma comes first", "0n0 1s0", "smem-race 15/8"},
    {"a load that is not awaited", "0t0 0n0", "async-not-awaited 8/13"},
    {"a load of another thread that is not awaited", "1t0 0n0", "async-not-awaited 8/13"},
    {"the same, the wgmma comes first", "0n0 1t0", "async-not-awaited 8/13"},
    {"a load that is awaited", "0t0 0c0 0n0", ""},
    {"refilled through another barrier, of which the reader was never told",
     "1t0 0c0 0n0 0w0 0n0 1o1", "async-not-awaited 8/13,async-not-awaited 13/13"},
    {"the same, the refill comes first", "1t0 0c0 0n0 0w0 1o1 0n0",
     "async-not-awaited 8/13,async-not-awaited 13/13"},
    {"refilled through another barrier, of which the reader was told", "1t1 0c1 0w0 0n0 1o1",
     REUSE "13/8"},
    {"the same, the refill comes first", "1t1 0c1 0w0 1o1 0n0", REUSE "13/8"},
    {"the reader is told after its read", "1t1 0n0 0c1 1o1", "async-not-awaited 8/13"},
    {"the same, the refill comes first", "1t1 1o1 0n0 0c1", "async-not-awaited 8/13"},
    {"the reader is told between two reads", "1t1 0r0 0c1 0n0 1o1",
     REUSE "13/8,async-not-awaited 16/13"},
    {"the next wgmma of the same shape needs no wait", "0n0 0n1 0m2 0n3", ""},
    {"slices that do not meet", "0h0 0i1 0h2", ""},
    {"slices that overlap", "0h0 0j1", FLIGHT "11/9"},
    {"slices that overlap, waited for", "0h0 0w0 0j1", ""},
    {"all of it after a half", "0h0 0n1", FLIGHT "8/9"},
    {"a half after all of it", "0n0 0i1", FLIGHT "10/8"},
    {"read in flight", "0n0 0x0", FLIGHT "20/8"},
    {"read after the wait", "0n0 0w0 0x0", ""},
    {"read with a wait that leaves one", "0n0 0z1", FLIGHT "22/8"},
    {"read with a wait that leaves another", "0h0 0i1 0w1 0x0", FLIGHT "20/10"},
    {"a load waits for all", "0n0 0n1 0l0", ""},
    {"written in flight", "0m0 0y0", FLIGHT "21/7"},
    {"written, then used", "0y0 0n0 0w0 0x0", ""},
    {"each thread has its own", "0n0 1x0 1y0", ""},
    {"in flight at the end", "0n0 0E0", EXIT "8"},
    {"waited for at the end", "0n0 0w0 0E0", ""},
    {"two are in flight at the end", "0h0 0i1 0E0", EXIT "9," EXIT "10"},
    {"in flight at the end, which a finding has said", "0n0 0x0 0E0", FLIGHT "20/8"},
    {"in flight at the end, another one than a finding says", "0n0 0x0 0h1 0E0",
     FLIGHT "9/8," EXIT "9," FLIGHT "20/8"},
    {"in flight at the end, overwritten by another thread", "0n0 0a0 1g0 1t0 1c0 0E0",
     REUSE "13/8"},
    {"read once more, then refilled", "0n0 0w0 0n0 0t0", REUSE "13/8"}};
enum { SCRIPT_COUNT = sizeof SCRIPTS / sizeof *SCRIPTS };

TEST_EACH(script_gives_findings, SCRIPT_COUNT) {
    machine *it = calloc(1, sizeof *it);
    ck_assert_ptr_nonnull(it);
    start(it, KERNEL);
    run(it, SCRIPTS[_i].steps);
    expect(it, SCRIPTS[_i].name, SCRIPTS[_i].findings);
    stop(it);
    free(it);
}

/* ---- words ------------------------------------------------------------------------------------
 */

/* What the report says of the first finding. */
typedef struct words {
    const char *steps, *message, *edge, *repair;
    const char *edit; /* "before 13: wgmma_wait 0" */
} words;

static const words WORDINGS[] = {
    {"0n0 0n1 0w2 0t0", "%as is refilled by TMA while the wgmma at line 8 may still be reading it",
     "this wgmma_wait 2 leaves 2 groups in flight, among them group 1 of thread wg=0; wgmma_wait 1 "
     "would cover it",
     "lower the 2 of the wgmma_wait at line 12 to 1", "replace 12: 1"},
    {"0n0 0n1 0w2 0t0 0n2 0w2 0t2", NULL, NULL,
     "lower the 2 of the wgmma_wait at line 12 to 0, for the other times that this was seen",
     "replace 12: 0"},
    {"0n0 0w0 0n0 0n1 0t0", NULL,
     "this wgmma_wait 0 runs before the wgmma at line 8, group 2 of thread wg=0, is issued",
     "insert 'wgmma_wait 1' before line 13, by thread wg=0", "before 13: wgmma_wait 1"},
    {"0m0 0n1 0x0", NULL,
     "the wait of this wgmma runs before the wgmma at line 8, group 2 of thread wg=0, is issued",
     "insert 'wgmma_wait 0' before line 20, by thread wg=0", "before 20: wgmma_wait 0"},
    {"0m0 0s0", "%as is overwritten while the wgmma at line 7 may still be reading it",
     "this wgmma waits for the groups before its own, and leaves its own, group 1 of thread wg=0, "
     "in "
     "flight",
     "insert 'wgmma_wait 0' before line 15, by thread wg=0", "before 15: wgmma_wait 0"},
    {"0n0 0n1 0a0 1g0 1t0", NULL,
     "the wgmma at line 8 is group 1 of thread wg=0, and its thread has waited for no group by "
     "then; "
     "the barrier_arrive at line 18 lets thread wg=1 go on",
     "insert 'wgmma_wait 1' before the barrier_arrive at line 18, by thread wg=0",
     "before 18: wgmma_wait 1"},
    {"0n0 0b0 0v0 1g0 1t0", NULL,
     "this wgmma_wait covers group 1 of thread wg=0, and comes too late; the barrier_arrive at "
     "line "
     "25 "
     "lets thread wg=1 go on",
     "move the wgmma_wait at line 26 before the barrier_arrive at line 25, by thread wg=0",
     "before 25: wgmma_wait 0"},
    {"0n0 0a0 1g0 1t0 0n1 0b0 1g0 1t1", NULL, NULL,
     "wait for the wgmma at line 8 (wgmma_wait 0) before each arrive that lets thread wg=1 "
     "overwrite "
     "its operands, by thread wg=0",
     NULL},
    {"0t0 0c0 0a0 0n0 1g0 1t0", NULL,
     "this barrier_arrive lets thread wg=1 go on before the wgmma at line 8, group 1 of thread "
     "wg=0, is "
     "issued",
     "move the barrier_arrive at line 18 after the wgmma at line 8 and a wgmma_wait that covers "
     "it, by thread wg=0",
     NULL},
    {"0s0 0n0", "the tensor core may read stale bytes of %as", NULL,
     "insert 'commit_smem' before the wgmma at line 8, by thread wg=0", "before 8: commit_smem"},
    {"1t0 0n0",
     "%as is read by the tensor core while TMA may still be loading it: the copy at line 13 is not "
     "awaited",
     NULL, NULL, NULL},
    {"0h0 0j1",
     "this wgmma adds to columns 32:96 of %acc in K steps of 16 while the one at line 9 may still "
     "be "
     "adding to columns 0:64 in K steps of 16",
     NULL, "insert 'wgmma_wait 0' before line 11, by thread wg=0", "before 11: wgmma_wait 0"},
    {"0n0 0z1", "%acc is read while the wgmma at line 8 may still be adding to it",
     "this acc_load wait(1) leaves 1 group in flight, among them group 1 of thread wg=0; acc_load "
     "wait(0) would cover it",
     "lower the 1 of the acc_load at line 22 to 0", "replace 22: 0"},
    {"0n0 0x0", NULL, NULL, "insert 'wgmma_wait 0' before line 20, by thread wg=0",
     "before 20: wgmma_wait 0"},
    {"0n0 0E0", "the CTA ends while the tensor core may still be reading %as",
     "the wgmma at line 8 is group 1 of thread wg=0, and its thread has waited for no group by "
     "then",
     "insert 'wgmma_wait 0' before the CTA ends, by thread wg=0", "before 27: wgmma_wait 0"}};
enum { WORDING_COUNT = sizeof WORDINGS / sizeof *WORDINGS };

static void expect_text(const char *steps, const char *found, const char *expected) {
    ck_assert_msg(!expected || strcmp(found, expected) == 0, "%s: '%s', not '%s'", steps, found,
                  expected);
}

static const grout_finding *find_first(const machine *it) {
    uint32_t i = 0;
    while (is_protocol(get_in_place_order(it->checker, i)->code)) {
        i++;
    }
    return get_in_place_order(it->checker, i);
}

TEST_EACH(report_says, WORDING_COUNT) {
    const words *row = &WORDINGS[_i];
    machine *it = calloc(1, sizeof *it);
    grout_text edit = {0};
    const grout_finding *finding = NULL;
    ck_assert_ptr_nonnull(it);
    start(it, KERNEL);
    run(it, row->steps);
    finding = find_first(it);
    expect_text(row->steps, finding->diag->message, row->message);
    expect_text(row->steps, finding->missing_edge, row->edge);
    expect_text(row->steps, finding->repair, row->repair);
    if (finding->edit.place.file) {
        const char *place = finding->edit.is_after ? "after" : "before";
        grout_text_add(&edit, "%s %u: %s", finding->edit.is_replacement ? "replace" : place,
                       finding->edit.place.line, finding->edit.text);
        expect_text(row->steps, edit.data, row->edit);
    } else {
        ck_assert_msg(!row->edit, "%s: no edit", row->steps);
    }
    grout_text_free(&edit);
    stop(it);
    free(it);
}

/* One pair of executed operations counts once, in however many objects and regions they meet. */
TEST_EACH(pairs_count_once, 6) {
    static const struct {
        const char *steps;
        uint64_t count;
    } PAIRS[] = {{"0n0 0E0", 1}, {"0m0 0E0", 1},         {"0n0 1n0 0E0", 2},
                 {"0n0 0s0", 1}, {"0n0 0w0 0n0 0s0", 1}, {"0n0 0a0 1n0 1a0 2g0 2g1 2s0", 2}};
    machine *it = calloc(1, sizeof *it);
    ck_assert_ptr_nonnull(it);
    start(it, KERNEL);
    run(it, PAIRS[_i].steps);
    ck_assert_msg(find_first(it)->count == PAIRS[_i].count, "%s: %d", PAIRS[_i].steps,
                  (int)find_first(it)->count);
    stop(it);
    free(it);
}

/* The report shows all rows that lie apart, and counts them as one. */
TEST(box_holds_all_regions) {
    const grout_run rows = {.base = 0, .stride = 2048, .count = 3, .length = 128};
    machine *it = calloc(1, sizeof *it);
    const grout_finding *finding = NULL;
    ck_assert_ptr_nonnull(it);
    start(it, KERNEL);
    const step read = make_step(it, "0n0"), write = make_step(it, "0s0");
    const grout_stamp stamp = {
        .component = grout_clock_wgmma(&it->shape, 0), .number = 1, .agent = GROUT_AGENT_ENGINE};
    const grout_issue issue = {.read = stamp, .write = stamp};
    grout_event event = {.kind = GROUT_EVENT_ISSUE, .u.issue = &issue};
    send(it, &read, &event);
    touch(it, &read, AS, false, &stamp, &rows);
    take_step(it, &write);
    finding = find_first(it);
    ck_assert_uint_eq(finding->count, 1);
    ck_assert_str_eq(finding->accesses[1].box, "%as[0, 0:33, 0:64]");
    ck_assert_str_eq(finding->accesses[0].box, "%as[0, 0:64, 0:64]");
    stop(it);
    free(it);
}

/* ---- states ------------------------------------------------------------------------------------
 */

/* A snapshot taken after each step, the rest run, restored, and run again: the same findings. */
TEST_EACH(snapshot_goes_back, SCRIPT_COUNT) {
    const char *steps = SCRIPTS[_i].steps;
    for (size_t half = 0; half < strlen(steps); half += 4) {
        machine *it = calloc(1, sizeof *it), *kept = calloc(1, sizeof *kept);
        char first[64] = {0};
        ck_assert(it && kept && half < sizeof first);
        memcpy(first, steps, half);
        start(it, KERNEL);
        run(it, first);
        *kept = *it;
        void *snapshot = it->observer->snapshot(it->observer->self);
        uint64_t hash = it->observer->hash(it->observer->self);
        ck_assert_ptr_nonnull(snapshot);
        run(it, steps + half);
        expect(it, SCRIPTS[_i].name, SCRIPTS[_i].findings);
        *it = *kept;
        ck_assert(it->observer->restore(it->observer->self, snapshot));
        ck_assert(hash == it->observer->hash(it->observer->self));
        run(it, steps + half);
        expect(it, SCRIPTS[_i].name, SCRIPTS[_i].findings);
        it->observer->snapshot_free(it->observer->self, snapshot);
        stop(it);
        free(it);
        free(kept);
    }
}

/* ---- scopes -----------------------------------------------------------------------------------
 */

static const char SCOPES[] = "kernel @k() threads(wg = 3) {\n"
                             "  scratch %as : smem f16[64, 64] tile(8, 64) swizzle(128)\n"
                             "  scratch %bs : smem f16[64, 64] tile(8, 64) swizzle(128)\n"
                             "  scoped(%own : acc f32[64, 64]) {\n"
                             "    wgmma_async %own, %as, %bs\n" /* 5 */
                             "  }\n"
                             "  scoped(%acc : acc f32[64, 64], %s : smem f16[64, 64] tile(8, 64) "
                             "swizzle(128)) collective {\n"
                             "    wgmma_async %acc, %s, %bs\n" /* 8 */
                             "  }\n"
                             "}\n";

/* The accumulator of a wgmma in the scope, and the scope's other object. */
static grout_object_id find_object(const machine *it, grout_op_id op, uint32_t operand) {
    grout_view view;
    ck_assert(grout_module_get_view(
        it->module,
        grout_module_get_operand(it->module, grout_module_get_op(it->module, op), operand), &view));
    return view.object;
}

static void issue_in_scope(machine *it, uint32_t thread, grout_op_id op) {
    const step at = {.thread = thread, .op = op};
    const grout_stamp stamp = {.component = grout_clock_wgmma(&it->shape, thread),
                               .number = ++it->groups[thread],
                               .agent = GROUT_AGENT_ENGINE};
    const grout_run all_of_acc = {.count = 1, .length = INT64_C(64) * 64 * 4};
    const grout_run all_of_a = {.count = 1, .length = INT64_C(64) * 64 * 2};
    it->objects[ACC] = find_object(it, op, 0);
    it->objects[AS] = find_object(it, op, 1);
    touch(it, &at, ACC, true, &stamp, &all_of_acc);
    touch(it, &at, AS, false, &stamp, &all_of_a);
}

static void end_scope(machine *it, uint32_t thread, grout_op_id op, bool with_smem) {
    const step at = {.thread = thread, .op = op};
    const grout_object_id objects[] = {find_object(it, op, 0), find_object(it, op, 1)};
    grout_event event = {.kind = GROUT_EVENT_SCOPE_END};
    event.u.scope.objects = objects;
    event.u.scope.object_count = with_smem ? 2 : 1;
    event.u.scope.last = it->sets[thread][0];
    event.u.scope.is_inner = true;
    send(it, &at, &event);
}

/* A thread that leaves a scope of accumulators ends its own; another's may be in flight. */
TEST(accumulator_ends_with_its_thread) {
    machine *it = calloc(1, sizeof *it);
    grout_op_id op = 0;
    ck_assert_ptr_nonnull(it);
    start(it, SCOPES);
    op = find_op(it->module, 5, "wgmma_async");
    issue_in_scope(it, 0, op);
    issue_in_scope(it, 1, op);
    wait_for_groups(it, &(step){.thread = 1, .op = op}, 0);
    end_scope(it, 1, op, false);
    expect(it, "the waiting thread leaves", "");
    end_scope(it, 0, op, false);
    expect(it, "the other leaves", EXIT "5");
    stop(it);
    free(it);
}

/* A collective scope ends for all threads with its last one. */
TEST(collective_scope_ends_for_all) {
    machine *it = calloc(1, sizeof *it);
    grout_op_id op = 0;
    const grout_finding *finding = NULL;
    ck_assert_ptr_nonnull(it);
    start(it, SCOPES);
    op = find_op(it->module, 8, "wgmma_async");
    issue_in_scope(it, 0, op);
    end_scope(it, 1, op, true);
    expect(it, "collective", EXIT "8");
    finding = find_first(it);
    expect_text("collective", finding->diag->message,
                "the scope ends while the tensor core may still be adding to %acc");
    expect_text("collective", finding->repair,
                "insert 'wgmma_wait 0' before the scope ends, by thread wg=0");
    ck_assert_uint_eq(finding->edit.place.line, 9);
    stop(it);
    free(it);
}
