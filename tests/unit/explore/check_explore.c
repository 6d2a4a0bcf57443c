/* check_explore.c - exploration: what is certified at once, what needs more schedules, replay,
 * smaller schedules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/explore.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* A kernel ready to be explored. */
typedef struct subject {
    bound_text text;
    grout_argument arguments[4];
    grout_launch launch;
} subject;

static void load(subject *it, const char *text) {
    *it = (subject){.text = bind_text(text, NULL, 0)};
    ck_assert_msg(it->text.bound != NULL &&
                      grout_verify(it->text.bound, GROUT_ARCH_SM_90A, it->text.diags),
                  "%s", get_said(it->text.diags));
    const grout_kernel *kernel = grout_module_get_kernel(it->text.bound, 1);
    it->launch = (grout_launch){.module = it->text.bound,
                                .kernel = 1,
                                .arguments = it->arguments,
                                .argument_count = kernel->param_count};
    ck_assert_uint_le(kernel->param_count, 4);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(it->text.bound, kernel, i);
        it->arguments[i].size =
            (size_t)grout_object_get_layout(it->text.bound, param->object)->bytes;
        it->arguments[i].data = calloc(1, it->arguments[i].size);
    }
}

static void unload(subject *it) {
    for (size_t i = 0; i < it->launch.argument_count; i++) {
        free(it->arguments[i].data);
    }
    free_text(&it->text);
}

static grout_exploration explore(subject *it) {
    const grout_explore_options options = {.max_schedules = 10000};
    grout_exploration exploration;
    ck_assert_msg(grout_explore(&it->launch, &options, &exploration, it->text.diags), "%s",
                  get_said(it->text.diags));
    return exploration;
}

static bool finds(const grout_exploration *exploration, grout_diag_code code) {
    for (uint32_t w = 0; w < exploration->witness_count; w++) {
        const grout_checker *checker = exploration->witnesses[w].checker;
        for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
            if (grout_checker_get_finding(checker, i)->code == code) {
                return true;
            }
        }
    }
    return false;
}

/* ---- well synchronised: one run ------------------------------------------------------------- */

static const char ring[] =
    "const STEPS = 32, STAGES = 4\n"
    "kernel @ring(%y: out gmem i32[4, 2, STEPS]) grid(x = 4) threads(wg = 4)\n"
    "{\n"
    "  scratch %s : smem i32[STAGES, 2]\n"
    "  scratch %full : barrier[STAGES] arrivals(2)\n"
    "  scratch %empty : barrier[STAGES] arrivals(2)\n"
    "  %cta = axis_index x\n"
    "  %wg = axis_index wg\n"
    "  %half = rem %wg, 2\n"
    "  if (lt %wg, 2) {\n"
    "    for %i in 0..STEPS {\n"
    "      %slot = rem %i, STAGES\n"
    "      if (ge %i, STAGES) {\n"
    "        barrier_wait %empty[%slot]\n"
    "      }\n"
    "      store %s[%slot, %half], %i\n"
    "      barrier_arrive %full[%slot]\n"
    "    }\n"
    "    for %i in 0..STAGES {\n"
    "      barrier_wait %empty[(rem %i + STEPS, STAGES)]\n"
    "    }\n"
    "  } else {\n"
    "    for %i in 0..STEPS {\n"
    "      %slot = rem %i, STAGES\n"
    "      barrier_wait %full[%slot]\n"
    "      store %y[%cta, %half, %i], (load %s[%slot, %half])\n"
    "      barrier_arrive %empty[%slot]\n"
    "    }\n"
    "  }\n"
    "}\n";

TEST(test_ring_is_one_schedule) {
    subject it;
    load(&it, ring);
    grout_exploration exploration = explore(&it);
    ck_assert(exploration.is_certified && exploration.is_complete);
    ck_assert_uint_eq(exploration.schedules, 1);
    ck_assert_uint_lt(exploration.states, 100);
    ck_assert_uint_eq(grout_checker_get_count(exploration.witnesses[0].checker), 0);
    grout_exploration_deinit(&exploration);
    unload(&it);
}

/* ---- what depends on the schedule ----------------------------------------------------------- */

/* Two threads take a lock each and then the other's: a deadlock if both have taken the first. */
static const char locks[] = "kernel @locks(%y: out gmem i32[2]) threads(wg = 2)\n"
                            "{\n"
                            "  scratch %a : semaphore[1]\n"
                            "  scratch %b : semaphore[1]\n"
                            "  scratch %go : barrier[1]\n"
                            "  %t = axis_index wg\n"
                            "  if (eq %t, 0) {\n"
                            "    semaphore_signal %a[0], 1\n"
                            "    semaphore_signal %b[0], 1\n"
                            "    barrier_arrive %go[0]\n"
                            "    semaphore_wait %a[0], 1\n"
                            "    semaphore_wait %b[0], 1\n"
                            "    store %y[0], 1\n"
                            "    semaphore_signal %b[0], 1\n"
                            "    semaphore_signal %a[0], 1\n"
                            "  } else {\n"
                            "    barrier_wait %go[0]\n"
                            "    semaphore_wait %b[0], 1\n"
                            "    semaphore_wait %a[0], 1\n"
                            "    store %y[1], 1\n"
                            "    semaphore_signal %a[0], 1\n"
                            "    semaphore_signal %b[0], 1\n"
                            "  }\n"
                            "  block_barrier\n"
                            "  if (eq %t, 0) {\n"
                            "    semaphore_wait %a[0], 1\n"
                            "    semaphore_wait %b[0], 1\n"
                            "  }\n"
                            "}\n";

TEST(test_deadlock_of_one_order) {
    subject it;
    load(&it, locks);
    grout_exploration exploration = explore(&it);
    ck_assert(!exploration.is_certified);
    ck_assert(exploration.is_complete);
    ck_assert(finds(&exploration, GROUT_DIAG_DEADLOCK));
    ck_assert_uint_gt(exploration.schedules, 1);
    ck_assert_uint_lt(exploration.schedules, 200);
    grout_exploration_deinit(&exploration);
    unload(&it);
}

/* A witness's decisions show the same again, and after they have been made fewer too. */
TEST(test_replay_and_minimise) {
    subject it;
    load(&it, locks);
    grout_exploration exploration = explore(&it);
    for (uint32_t w = 0; w < exploration.witness_count; w++) {
        grout_witness *witness = &exploration.witnesses[w];
        if (grout_checker_get_count(witness->checker) == 0) {
            continue;
        }
        uint64_t identity = grout_checker_get_finding(witness->checker, 0)->identity;
        size_t before = witness->decisions.count;
        ck_assert(grout_minimise_schedule(&it.launch, &(grout_explore_options){0}, identity,
                                          &witness->decisions, it.text.diags));
        ck_assert_uint_le(witness->decisions.count, before);
        grout_checker *checker = grout_checker_new(NULL, it.text.diags);
        grout_launch launch = it.launch;
        launch.schedule = GROUT_SCHEDULE_REPLAY;
        launch.replay = &witness->decisions;
        launch.track_undefined = true;
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
        grout_machine *machine = grout_machine_new(&launch, it.text.diags);
        ck_assert_ptr_nonnull(machine);
        (void)grout_machine_run(machine, 0, it.text.diags);
        bool is_there = false;
        for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
            is_there |= grout_checker_get_finding(checker, i)->identity == identity;
        }
        ck_assert(is_there);
        grout_machine_free(machine);
        grout_checker_free(checker);
    }
    grout_exploration_deinit(&exploration);
    unload(&it);
}

/* Tiles taken from a counter: who gets which depends on the schedule, what is written does not. */
static const char tiles[] =
    "kernel @tiles(%next: inout gmem i32[1], %y: out gmem i32[3]) grid(x = 2)\n"
    "{\n"
    "  %first = atomic_fetch_add %next[0], 1\n"
    "  %last = while carry(%tile = %first) {\n"
    "    cond (lt %tile, 3)\n"
    "  } do {\n"
    "    store %y[%tile], (mul %tile, 10)\n"
    "    yield (atomic_fetch_add %next[0], 1)\n"
    "  }\n"
    "}\n";

TEST(test_all_assignments_are_seen) {
    subject it;
    load(&it, tiles);
    grout_exploration exploration = explore(&it);
    ck_assert(!exploration.is_certified);
    ck_assert(exploration.is_complete);
    /* 3 tiles and 2 last asks, dealt to 2 CTAs: more than a few, less than all interleavings */
    ck_assert_uint_ge(exploration.schedules, 8);
    ck_assert_uint_lt(exploration.schedules, 400);
    ck_assert_uint_eq(exploration.witness_count, 1);
    grout_exploration_deinit(&exploration);
    unload(&it);
}

TEST(test_budget_ends_it) {
    subject it;
    load(&it, tiles);
    grout_exploration exploration;
    ck_assert(grout_explore(&it.launch, &(grout_explore_options){.max_schedules = 2}, &exploration,
                            it.text.diags));
    ck_assert(!exploration.is_complete);
    ck_assert_uint_eq(exploration.schedules, 2);
    ck_assert_ptr_nonnull(exploration.why_open);
    grout_exploration_deinit(&exploration);
    unload(&it);
}

/* ---- several OS threads --------------------------------------------------------------------- */

/* CTAs add to a counter; what each saw decides a branch, and goes to the output. */
static const char counters[] =
    "const CTAS = 3\n"
    "kernel @counters(%n: inout gmem i32[1], %y: out gmem i32[CTAS, 2]) grid(x = CTAS)\n"
    "{\n"
    "  %a = atomic_fetch_add %n[0], 1\n"
    "  %b = atomic_fetch_add %n[0], 2\n"
    "  store %y[(axis_index x), 0], %a\n"
    "  if (gt %a, 1) {\n"
    "    store %y[(axis_index x), 1], %b\n"
    "  } else {\n"
    "    store %y[(axis_index x), 1], 0\n"
    "  }\n"
    "}\n";

static void compare(const grout_exploration *a, const grout_exploration *b) {
    ck_assert_uint_eq(a->schedules, b->schedules);
    ck_assert_uint_eq(a->failing, b->failing);
    ck_assert_uint_eq(a->states, b->states);
    ck_assert_int_eq(a->is_complete, b->is_complete);
    ck_assert_uint_eq(a->witness_count, b->witness_count);
    for (uint32_t w = 0; w < a->witness_count; w++) {
        const grout_witness *x = &a->witnesses[w], *y = &b->witnesses[w];
        ck_assert_uint_eq(x->decisions.count, y->decisions.count);
        ck_assert(x->decisions.count == 0 ||
                  memcmp(x->decisions.actors, y->decisions.actors,
                         x->decisions.count * sizeof *x->decisions.actors) == 0);
        ck_assert_int_eq(x->status, y->status);
        ck_assert_uint_eq(x->stats.steps, y->stats.steps);
        ck_assert_uint_eq(grout_checker_get_count(x->checker), grout_checker_get_count(y->checker));
        for (uint32_t i = 0; i < grout_checker_get_count(x->checker); i++) {
            ck_assert_uint_eq(grout_checker_get_finding(x->checker, i)->identity,
                              grout_checker_get_finding(y->checker, i)->identity);
        }
    }
}

TEST_EACH(test_as_one_thread, 4) {
    static const char *const texts[] = {ring, locks, tiles, counters};
    subject one, several;
    load(&one, texts[_i]);
    grout_exploration first = explore(&one);
    for (uint32_t workers = 2; workers < 5; workers++) {
        load(&several, texts[_i]);
        several.launch.workers = workers;
        grout_exploration exploration = explore(&several);
        compare(&first, &exploration);
        for (size_t i = 0; i < one.launch.argument_count; i++) {
            ck_assert_mem_eq(one.arguments[i].data, several.arguments[i].data,
                             one.arguments[i].size);
        }
        grout_exploration_deinit(&exploration);
        unload(&several);
    }
    grout_exploration_deinit(&first);
    unload(&one);
}

/* The arrays are those of the last witness, whatever ran after it. */
TEST(test_arrays_of_the_last_witness) {
    subject it;
    load(&it, counters);
    grout_exploration exploration = explore(&it);
    ck_assert_uint_eq(exploration.witness_count, 1);
    ck_assert_uint_gt(exploration.schedules, 1);
    const int32_t *seen = it.arguments[1].data; /* in grid order, round robin: the first run */
    ck_assert_int_eq(seen[0], 0);
    ck_assert_int_eq(seen[2], 1);
    ck_assert_int_eq(seen[4], 2);
    grout_exploration_deinit(&exploration);
    unload(&it);
}
