/*
 * check_well_synchronised.c - values that depend on the schedule: which of them leave the verdict
 * to this schedule, and what is said of it. Every op of a row's kernel is reported to have run,
 * unless the row says none. SPDX-License-Identifier: Apache-2.0
 */
#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

#define HEAD                                                                        \
    "kernel @k(%a: inout gmem f32[64], %n: inout gmem i32[64]) threads(wg = 2) {\n" \
    "  scratch %s : semaphore[1] global\n"                                          \
    "  scratch %b : barrier[1]\n"                                                   \
    "  scratch %x : smem i32[64]\n"                                                 \
    "  scratch %f : smem f32[64]\n" /* 5 */

static const struct row {
    const char *name, *body, *because;
    bool ran_nothing;
    const char *met; /* the ops that have met something undefined; NULL: none */
} ROWS[] = {
    {"nothing", "", "", false, NULL},
    {"a fetch nobody looks at", "  %v = atomic_fetch_add %n[0], 1\n", "", false, NULL},
    {"a fetch that decides a branch",
     "  %v = atomic_fetch_add %n[0], 1\n  if (eq %v, 3) {\n    store %n[1], 1\n  }\n",
     "a value that depends on the schedule, from the atomic_fetch_add at line 6, decides a branch "
     "at "
     "line 7",
     false, NULL},
    {"the same, never run",
     "  %v = atomic_fetch_add %n[0], 1\n  if (eq %v, 3) {\n    store %n[1], 1\n  }\n", "", true,
     NULL},
    {"a fetch that is an address", "  %v = atomic_exchange %n[0], 1\n  store %n[%v], 1\n",
     "a value that depends on the schedule, from the atomic_exchange at line 6, is part of an "
     "address at line 7",
     false, NULL},
    {"through memory",
     "  %v = atomic_fetch_add %n[0], 1\n  store %x[0], %v\n  %w = load %x[1]\n  if (eq %w, 3) {\n"
     "    store %n[1], 1\n  }\n",
     "a value that depends on the schedule, from the atomic_fetch_add at line 6, decides a branch "
     "at "
     "line 9",
     false, NULL},
    {"through a loop's carry",
     "  %r = for %i in 0..4 carry(%c = 0) {\n    %v = atomic_fetch_add %n[0], 1\n"
     "    yield (add %c, %v)\n  }\n  for %j in 0..%r {\n    store %n[1], 1\n  }\n",
     "a value that depends on the schedule, from the atomic_fetch_add at line 7, decides a branch "
     "at "
     "line 10",
     false, NULL},
    {"a reading of a semaphore that is units",
     "  %v = semaphore_read %s[0]\n  semaphore_signal %s[0], %v\n",
     "a value that depends on the schedule, from the semaphore_read at line 6, is an operand of a "
     "synchronisation at line 7",
     false, NULL},
    {"a float sum read back",
     "  atomic_add %a[0], 1.0\n  %v = load %a[0]\n  if (gt %v, 3.0) {\n    store %n[1], 1\n  }\n",
     "a value that depends on the schedule, from the atomic_add at line 6, decides a branch at "
     "line "
     "8",
     false, NULL},
    {"an integer sum read back",
     "  atomic_add %n[0], 1\n  %v = load %n[0]\n  if (gt %v, 3) {\n    store %n[1], 1\n  }\n", "",
     false, NULL},
    {"two kinds of atomics",
     "  atomic_add %n[0], 1\n  atomic_max %n[0], 5\n  %v = load %n[0]\n  if (gt %v, 3) {\n"
     "    store %n[1], 1\n  }\n",
     "a value that depends on the schedule, from the atomic_max at line 7, decides a branch at "
     "line "
     "9",
     false, NULL},
    {"a test", "  %t = barrier_test %b[0]\n",
     "what the barrier_test at line 6 finds depends on the schedule", false, NULL},
    {"clusters handed out",
     "  scratch %r : smem i32[4]\n  scratch %q : barrier\n  try_cluster_cancel %r, %q\n"
     "  barrier_wait %q\n  %v = query_cluster_cancel %r\n",
     "which clusters the try_cluster_cancel at line 8 hands out depends on the schedule", false,
     NULL},
    {"an atomic that acquires", "  %v = atomic_cas %n[0], 0, 1 order(acq_rel) scope(gpu)\n",
     "from whom the atomic at line 6 acquires depends on the schedule", false, NULL},
    {"data decide", "  %v = load %n[0]\n  if (gt %v, 3) {\n    store %n[%v], 1\n  }\n", "", false,
     NULL},
    {"a divisor, div",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = div 10, %v\n  store %a[1], (cast %q : f32)\n",
     "a value that is undefined under some schedules only, from the div at line 7, reaches an "
     "array in gmem at line 8",
     false, NULL},
    {"a dividend over -1, div",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = div %v, -1\n  store %a[1], (cast %q : f32)\n",
     "a value that is undefined under some schedules only, from the div at line 7, reaches an "
     "array in gmem at line 8",
     false, NULL},
    {"a dividend over 8, div",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = div %v, 8\n  store %a[1], (cast %q : f32)\n", "",
     false, NULL},
    {"a divisor, rem",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = rem 10, %v\n  store %a[1], (cast %q : f32)\n",
     "a value that is undefined under some schedules only, from the rem at line 7, reaches an "
     "array in gmem at line 8",
     false, NULL},
    {"a dividend over -1, rem",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = rem %v, -1\n  store %a[1], (cast %q : f32)\n",
     "a value that is undefined under some schedules only, from the rem at line 7, reaches an "
     "array in gmem at line 8",
     false, NULL},
    {"a dividend over 8, rem",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = rem %v, 8\n  store %a[1], (cast %q : f32)\n", "",
     false, NULL},
    {"a divisor, cdiv",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = cdiv 10, %v\n  store %a[1], (cast %q : f32)\n",
     "a value that is undefined under some schedules only, from the cdiv at line 7, reaches an "
     "array in gmem at line 8",
     false, NULL},
    {"a dividend over -1, cdiv",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = cdiv %v, -1\n  store %a[1], (cast %q : f32)\n",
     "a value that is undefined under some schedules only, from the cdiv at line 7, reaches an "
     "array in gmem at line 8",
     false, NULL},
    {"a dividend over 8, cdiv",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = cdiv %v, 8\n  store %a[1], (cast %q : f32)\n", "",
     false, NULL},
    {"a dividend over an array of 8",
     "  %v = atomic_fetch_add %n[0], 1\n  %w = broadcast %v : i32[64]\n  %q = div %w, (broadcast 8 "
     ": i32[64])\n",
     "", false, NULL},
    {"a dividend over what a load finds",
     "  %v = atomic_fetch_add %n[0], 1\n  %d = load %n[1]\n  %q = div %v, %d\n  store %a[1], (cast "
     "%q : f32)\n",
     "a value that is undefined under some schedules only, from the div at line 8, reaches an "
     "array in gmem at line 9",
     false, NULL},
    {"a dividend without a sign",
     "  %v = atomic_fetch_add %n[0], 1\n  %d = cast (load %n[1]) : u32\n  %q = div (cast %v : "
     "u32), %d\n",
     "", false, NULL},
    {"a quotient of floats", "  atomic_add %a[0], 1.0\n  %v = load %a[0]\n  %q = div 1.0, %v\n", "",
     false, NULL},
    {"a divisor that is a reading of a semaphore",
     "  %v = semaphore_read %s[0]\n  %q = div 1, %v\n  store %a[1], (cast %q : f32)\n",
     "a value that is undefined under some schedules only, from the div at line 7, reaches an "
     "array in gmem at line 8",
     false, NULL},
    {"a divisor whose quotient nobody uses",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = div 10, %v\n", "", false, NULL},
    {"a divisor whose quotient stays in smem",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = div 10, %v\n  store %x[1], %q\n", "", false, NULL},
    {"a divisor whose quotient decides a branch",
     "  %v = atomic_fetch_add %n[0], 1\n  %q = div 10, %v\n  if (eq %q, 3) {\n    store %n[1], 1\n "
     " }\n",
     "a value that depends on the schedule, from the atomic_fetch_add at line 6, decides a branch "
     "at line 8",
     false, NULL},
    {"a print", "  %v = atomic_fetch_add %n[0], 1\n  debug_print \"{}\", %v\n",
     "a value that depends on the schedule, from the atomic_fetch_add at line 6, is printed at "
     "line 7",
     false, NULL},
    {"a choice, stored in gmem",
     "  %v = atomic_fetch_add %n[0], 1\n  %u = load %x[0]\n  %w = select (eq %v, 0), %u, 5\n  "
     "store %n[1], %w\n",
     "a value that is undefined under some schedules only, from the select at line 8, reaches an "
     "array in gmem at line 6",
     false, "select"},
    {"a choice, none of it undefined",
     "  %v = atomic_fetch_add %n[0], 1\n  %u = load %x[0]\n  %w = select (eq %v, 0), %u, 5\n  "
     "store %n[1], %w\n",
     "", false, NULL},
    {"a choice, added to gmem",
     "  %v = atomic_fetch_add %n[0], 1\n  %u = load %x[0]\n  %w = select (eq %v, 0), %u, 5\n  "
     "atomic_add %n[1], %w\n",
     "a value that is undefined under some schedules only, from the select at line 8, reaches an "
     "array in gmem at line 6",
     false, "select"},
    {"a choice, printed",
     "  %v = atomic_fetch_add %n[0], 1\n  %u = load %x[0]\n  %w = select (eq %v, 0), %u, 5\n  "
     "store %x[1], %w\n  %p = load %x[1]\n  debug_print \"{}\", %p\n",
     "a value that depends on the schedule, from the atomic_fetch_add at line 6, is printed at "
     "line 11",
     false, "select"},
    {"a choice that stays in smem",
     "  %v = atomic_fetch_add %n[0], 1\n  %u = load %x[0]\n  %w = select (eq %v, 0), %u, 5\n  "
     "store %x[1], %w\n",
     "", false, "select"},
    {"a choice by data",
     "  %v = load %n[0]\n  %u = load %x[0]\n  %w = select (eq %v, 0), %u, 5\n  store %n[1], %w\n",
     "", false, "select"},
    {"an exchange with what is undefined", "  %v = atomic_exchange %x[0], 1\n  store %n[1], %v\n",
     "a value that is undefined under some schedules only, from the atomic_exchange at line 6, "
     "reaches an array in gmem at line 7",
     false, "atomic_exchange"},
    {"the same, all defined", "  %v = atomic_exchange %x[0], 1\n  store %n[1], %v\n", "", false,
     NULL},
    {"an update with what is undefined",
     "  atomic_add %x[0], 1\n  %v = load %x[0]\n  store %n[1], %v\n",
     "a value that is undefined under some schedules only, from the atomic_add at line 6, reaches "
     "an array in gmem at line 8",
     false, "atomic_add"},
    {"an exchange into gmem alone", "  %v = atomic_exchange %n[0], 1\n", "", false,
     "atomic_exchange"}};

/* What the checker says of a kernel in which every op has run, or none. Caller frees. */
static char *judge(const char *name, const char *source, bool ran_nothing, const char *met) {
    grout_diags *diags = grout_diags_new();
    uint32_t clock[64] = {0};
    grout_clocks clocks = {.known = clock, .published_smem = clock, .published_gmem = clock};
    grout_object_id objects[1] = {0};
    uint32_t indices[1] = {0};
    grout_module *symbolic = grout_parse("k.grout", source, strlen(source), diags);
    ck_assert_msg(symbolic != NULL, "%s does not parse:\n%s", name, source);
    grout_module *module = grout_module_bind(symbolic, NULL, 0, diags);
    ck_assert_msg(module != NULL, "%s", name);
    for (grout_object_id i = 1; i < grout_module_get_object_count(module); i++) {
        bool is_barrier = grout_module_get_object(module, i)->kind == GROUT_OBJECT_BARRIER;
        objects[0] = is_barrier ? i : objects[0];
    }
    const grout_launch_info info = {.module = module,
                                    .kernel = 1,
                                    .shape = {.cta_count = 1,
                                              .actor_count = 2,
                                              .lane_count = 2,
                                              .barrier_count = 1,
                                              .thread_count = 2,
                                              .lanes_per_thread = 1},
                                    .cta_count = 1,
                                    .element_objects = objects,
                                    .element_indices = indices};
    grout_checker *checker = grout_checker_new(NULL, diags);
    const grout_observer *observer = grout_checker_get_observer(checker);
    ck_assert(observer->begin(observer->self, &info));
    for (grout_op_id i = 1; !ran_nothing && i < grout_module_get_op_count(module); i++) {
        const grout_event event = {
            .kind = GROUT_EVENT_COMPLETE, .origin = {.op = i}, .clocks = &clocks};
        const grout_event undefined = {
            .kind = GROUT_EVENT_UNDEFINED, .origin = {.op = i}, .clocks = &clocks};
        ck_assert(observer->event(observer->self, &event));
        const char *text =
            grout_op_get_info((grout_opcode)grout_module_get_op(module, i)->opcode)->text;
        ck_assert(met == NULL || strcmp(text, met) != 0 ||
                  observer->event(observer->self, &undefined));
    }
    grout_check_summary summary = grout_checker_get_summary(checker, false);
    char *because = strdup(summary.not_well_synchronised_because);
    ck_assert(summary.is_well_synchronised == (because[0] == '\0'));
    grout_checker_free(checker);
    grout_module_free(module);
    grout_module_free(symbolic);
    grout_diags_free(diags);
    return because;
}

TEST_EACH(row_gives_reason, COUNT_OF(ROWS)) {
    const struct row *row = &ROWS[_i];
    grout_text text = {0};
    grout_text_add(&text, "%s%s}\n", HEAD, row->body);
    char *because = judge(row->name, text.data, row->ran_nothing, row->met);
    ck_assert_msg(strcmp(because, row->because) == 0, "%s: '%s', not '%s'", row->name, because,
                  row->because);
    free(because);
    grout_text_free(&text);
}

/* A checker whose machine could not be made has seen nothing: that is not clean. */
TEST(without_a_launch_it_is_incomplete) {
    grout_checker *checker = grout_checker_new(NULL, NULL);
    ck_assert_ptr_nonnull(checker);
    const grout_check_summary summary = grout_checker_get_summary(checker, false);
    ck_assert_int_eq(summary.verdict, GROUT_VERDICT_INCOMPLETE);
    ck_assert(!summary.is_well_synchronised);
    ck_assert_str_eq(summary.not_well_synchronised_because, "the checker has followed no launch");
    ck_assert_uint_eq(grout_checker_get_count(checker), 0);
    grout_checker_free(checker);
}
