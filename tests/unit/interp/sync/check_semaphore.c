/* check_semaphore.c - semaphores: who gets whose units, and what comes with them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/interp/order_probe.h"

/* A kernel: reads that know of their write, those that do not, and what is left at the end. */
typedef struct row {
    const char *name, *text;
    uint32_t ordered, unordered;
    uint32_t not_restored, out_of_range;
    grout_run_status status;
} row;

#define HEAD(GRID, THREADS)                                                           \
    "kernel @k(%y: out gmem i32[8]) grid(g = " #GRID ") threads(w = " #THREADS        \
    ") {\n scratch %x : smem i32[1]\n scratch %m : gmem i32[1]\n %t = axis_index w\n" \
    " %g = axis_index g\n if (eq %g, 0) { store %y[0], 0 }\n"

static const row ROWS[] = {
    {"one signal",
     HEAD(1, 2) " scratch %s : semaphore[1]\n if (eq %t, 0) { store %x[0], 7\n semaphore_signal "
                "%s[0], 1 } else "
                "{ semaphore_wait %s[0], 1\n store %y[1], (load %x[0]) } }",
     1, 0, 0, 0, GROUT_RUN_DONE},
    {"relaxed signal",
     HEAD(1, 2) " scratch %s : semaphore[1]\n if (eq %t, 0) { store %x[0], 7\n semaphore_signal "
                "%s[0], 1 "
                "order(relaxed) } else { semaphore_wait %s[0], 1\n store %y[1], (load %x[0]) } }",
     0, 1, 0, 0, GROUT_RUN_DONE},
    {"relaxed wait",
     HEAD(1, 2) " scratch %s : semaphore[1]\n if (eq %t, 0) { store %x[0], 7\n semaphore_signal "
                "%s[0], 1 } else "
                "{ semaphore_wait %s[0], 1 order(relaxed)\n store %y[1], (load %x[0]) } }",
     0, 1, 0, 0, GROUT_RUN_DONE},
    {"own CTA, narrow scope",
     HEAD(1, 2) " scratch %s : semaphore[1]\n if (eq %t, 0) { store %x[0], 7\n semaphore_signal "
                "%s[0], 1 "
                "scope(cta) } else { semaphore_wait %s[0], 1 scope(cta)\n store %y[1], (load "
                "%x[0]) } }",
     1, 0, 0, 0, GROUT_RUN_DONE},
    {"across clusters",
     HEAD(2, 1) " scratch %s : semaphore[1] global\n if (eq %g, 0) { store %m[0], 7\n "
                "semaphore_signal %s[0], 1 "
                "} else { semaphore_wait %s[0], 1\n store %y[1], (load %m[0]) } }",
     1, 0, 0, 0, GROUT_RUN_DONE},
    {"across clusters, signal for the CTA",
     HEAD(2, 1) " scratch %s : semaphore[1] global\n if (eq %g, 0) { store %m[0], 7\n "
                "semaphore_signal %s[0], 1 "
                "scope(cta) } else { semaphore_wait %s[0], 1\n store %y[1], (load %m[0]) } }",
     0, 1, 0, 0, GROUT_RUN_DONE},
    {"across clusters, wait for the cluster",
     HEAD(2, 1) " scratch %s : semaphore[1] global\n if (eq %g, 0) { store %m[0], 7\n "
                "semaphore_signal %s[0], 1 "
                "} else { semaphore_wait %s[0], 1 scope(cluster)\n store %y[1], (load %m[0]) } }",
     0, 1, 0, 0, GROUT_RUN_DONE},
    {"handed on by a third cluster",
     HEAD(3, 1) " scratch %s : semaphore[2] global\n if (eq %g, 0) { store %m[0], 7\n "
                "semaphore_signal %s[0], 1 "
                "}\n if (eq %g, 2) { semaphore_wait %s[0], 1\n semaphore_signal %s[1], 1 }\n if "
                "(eq %g, 1) { "
                "semaphore_wait %s[1], 1\n store %y[1], (load %m[0]) } }",
     1, 0, 0, 0, GROUT_RUN_DONE},
    {"handed on inside a CTA",
     HEAD(2, 2) " scratch %s : semaphore[1] global\n scratch %b : barrier[1]\n if (eq %g, 0) { if "
                "(eq %t, 0) { "
                "store %m[0], 7\n semaphore_signal %s[0], 1 } }\n if (eq %g, 1) { if (eq %t, 0) { "
                "semaphore_wait "
                "%s[0], 1\n barrier_arrive %b[0] } else { barrier_wait %b[0]\n store %y[1], (load "
                "%m[0]) } } }",
     1, 0, 0, 0, GROUT_RUN_DONE},
    {"units of one signal for two waits",
     HEAD(1, 3) " scratch %s : semaphore[1]\n if (eq %t, 0) { store %x[0], 7\n semaphore_signal "
                "%s[0], 3 }\n if (eq "
                "%t, 1) { semaphore_wait %s[0], 1\n store %y[1], (load %x[0]) }\n if (eq %t, 2) { "
                "semaphore_wait "
                "%s[0], 2\n store %y[2], (load %x[0]) } }",
     2, 0, 0, 0, GROUT_RUN_DONE},
    {"two signals for one wait",
     HEAD(1,
          3) " scratch %s : semaphore[1]\n scratch %z : smem i32[1]\n if (eq %t, 0) { store %x[0], "
             "7\n "
             "semaphore_signal %s[0], 1 }\n if (eq %t, 1) { store %z[0], 5\n semaphore_signal "
             "%s[0], 1 }\n if (eq "
             "%t, 2) { semaphore_wait %s[0], 2\n store %y[1], (add (load %x[0]), (load %z[0])) } }",
     2, 0, 0, 0, GROUT_RUN_DONE},
    {"looks, and units stay",
     HEAD(1, 3) " scratch %s : semaphore[1]\n if (eq %t, 0) { store %x[0], 7\n semaphore_signal "
                "%s[0], 2 } else { "
                "semaphore_wait %s[0], 2 no_decrement\n store %y[%t], (load %x[0]) } }",
     2, 0, 1, 0, GROUT_RUN_DONE},
    {"looks at units that are gone",
     HEAD(
         1,
         2) " scratch %s : semaphore[2]\n if (eq %t, 0) { store %x[0], 7\n semaphore_signal %s[0], "
            "1\n "
            "semaphore_wait %s[0], 1\n semaphore_signal %s[1], 1 order(relaxed) } else { "
            "semaphore_wait %s[1], 1 "
            "order(relaxed)\n semaphore_wait %s[0], 1 no_decrement\n store %y[1], (load %x[0]) } }",
     1, 0, 0, 0, GROUT_RUN_DONE},
    {"a global one is left",
     HEAD(2, 1) " scratch %s : semaphore[1] global\n semaphore_signal %s[0], 1 }", 0, 0, 1, 0,
     GROUT_RUN_DONE},
    {"each CTA's is left", HEAD(2, 1) " scratch %s : semaphore[2]\n semaphore_signal %s[1], 1 }", 0,
     0, 2, 0, GROUT_RUN_DONE},
    {"no units",
     HEAD(1, 1) " scratch %s : semaphore[1]\n %n = load %y[0]\n semaphore_signal %s[0], %n\n "
                "semaphore_wait %s[0], "
                "%n }",
     0, 0, 0, 2, GROUT_RUN_DONE},
    {"more than it can count",
     HEAD(1, 1) " scratch %s : semaphore[1]\n semaphore_signal %s[0], 2147483647\n "
                "semaphore_signal %s[0], 1\n "
                "semaphore_wait %s[0], 2147483647 }",
     0, 0, 0, 1, GROUT_RUN_DONE},
    {"too few",
     HEAD(1, 2) " scratch %s : semaphore[1]\n if (eq %t, 0) { semaphore_signal %s[0], 1 } else { "
                "semaphore_wait "
                "%s[0], 2 } }",
     0, 0, 0, 0, GROUT_RUN_DEADLOCK},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

TEST_EACH(units_come_with_what_was_released, (ROW_COUNT * RUN_VARIANTS)) {
    const row *it = &ROWS[_i / RUN_VARIANTS];
    order_probe probe;
    run *r = probe_run(it->text, _i % RUN_VARIANTS, &probe, it->status);
    ck_assert_msg(probe.ordered == it->ordered && probe.unordered == it->unordered,
                  "%s: %u ordered, %u not", it->name, probe.ordered, probe.unordered);
    ck_assert_msg(r->faults[GROUT_DIAG_SEMAPHORE_NOT_RESTORED] == it->not_restored, "%s: %u left",
                  it->name, r->faults[GROUT_DIAG_SEMAPHORE_NOT_RESTORED]);
    ck_assert_msg(r->faults[GROUT_DIAG_SEMAPHORE_RANGE] == it->out_of_range, "%s", it->name);
    if (it->status == GROUT_RUN_DEADLOCK) {
        ck_assert_uint_eq(r->states[1], GROUT_THREAD_BLOCKED_SEMAPHORE);
    }
    run_delete(r);
}

TEST_EACH(runs_go_on_from_every_step, (ROW_COUNT * RUN_VARIANTS)) {
    run_check_resumes(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
    run_check_unobserved(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
}

/* Serial numbers of the signals that the last wait of a run took. */
typedef struct taken {
    run *r;
    uint32_t serials[8], count, units;
} taken;

static bool note_taken(void *self, const grout_event *event) {
    taken *it = self;
    if (event->kind == GROUT_EVENT_SEMAPHORE_WAIT) {
        it->count = event->u.semaphore.serial_count;
        it->units = event->u.semaphore.semaphore->units;
        for (uint32_t i = 0; i < it->count && i < 8; i++) {
            it->serials[i] = event->u.semaphore.serials[i];
        }
    }
    return run_on_event(it->r, event);
}

TEST_EACH(oldest_first, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem i32[1]) {\n scratch %s : semaphore[1]\n"
                     " for %i in 0..5 { semaphore_signal %s[0], (add %i, 1) }\n"
                     " semaphore_wait %s[0], 4\n semaphore_wait %s[0], 7\n"
                     " store %y[0], (semaphore_read %s[0])\n semaphore_wait %s[0], 4 }",
                     _i);
    taken it = {.r = r};
    run_start(r);
    r->observer.self = &it;
    r->observer.event = note_taken;
    /* Units 1 2 3 4 5: the last wait takes what is left of the fourth signal's and all before it
     * are gone. */
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_uint_eq(it.count, 1);
    ck_assert_uint_eq(it.serials[0], 4);
    ck_assert_uint_eq(it.units, 4);
    ck_assert_int_eq((int)run_get(r, 0, 0), 4);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_SIGNAL], 5);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_SEMAPHORE_READ], 1);
    run_delete(r);
}

/* CTAs of a grid take turns; as many run at once as there is room for. */
TEST_EACH(turns, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%y: inout gmem i32[16]) grid(g = 16) {\n %g = axis_index g\n"
                " scratch %s : semaphore[16] global\n if (gt %g, 0) { semaphore_wait %s[%g], 1\n"
                "  store %y[%g], (add (load %y[%g - 1]), 1) } else { store %y[0], 1 }\n"
                " if (lt %g, 15) { semaphore_signal %s[%g + 1], 1 } }",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < 16; i++) {
        ck_assert_int_eq((int)run_get(r, 0, i), (int)i + 1);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

TEST_EACH(memory_runs_out, ROW_COUNT) {
    run_check_memory(ROWS[_i].text, 1);
}
