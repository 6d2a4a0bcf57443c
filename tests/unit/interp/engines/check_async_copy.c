/* check_async_copy.c - cp.async: groups, waits, arrivals, under every timing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/interp/order_probe.h"

typedef struct row {
    const char *name, *text;
    uint32_t ordered, unordered; /* loads of SMEM that know of the copy before them, or EITHER */
    uint32_t out_of_bounds, misaligned;
    double
        result; /* first element of %y, the same in all variants; ANY; STALE: not in lazy timing */
    grout_run_status status;
} row;

#define ANY    (-1000.0)
#define STALE  (-2000.0)
#define EITHER UINT32_MAX
#define HEAD(THREADS)                                                                              \
    "const N = 64\nkernel @k(%x: in gmem f32[4, N], %y: out gmem f32[4, N]) threads(w = " #THREADS \
    ") {\n scratch %s : smem f32[4, N]\n scratch %u : smem f32[N]\n scratch %b : barrier[2]\n %t " \
    "= "                                                                                           \
    "axis_index w\n"

static const row ROWS[] = {
    {"waited for",
     HEAD(1) " async_copy %x[1], %u\n async_copy_commit_group\n async_copy_wait 0\n store %y[0], "
             "(load %u) }",
     1, 0, 0, 0, 3, GROUT_RUN_DONE},
    {"not waited for",
     HEAD(1) " async_copy %x[1], %u\n async_copy_commit_group\n store %y[0], (load %u) }", 0, 1, 0,
     0, STALE, GROUT_RUN_DONE},
    {"the open group is not waited for",
     HEAD(1) " async_copy %x[1], %u\n async_copy_wait 0\n store %y[0], (load %u) }", 0, 1, 0, 0,
     STALE, GROUT_RUN_DONE},
    {"one may be in flight",
     HEAD(1) " async_copy %x[1], %u\n async_copy_commit_group\n async_copy %x[2], %s[0]\n "
             "async_copy_commit_group\n "
             "async_copy_wait 1\n store %y[0], (load %u)\n async_copy_wait 0\n store %y[1], (load "
             "%s[0]) }",
     2, 0, 0, 0, 3, GROUT_RUN_DONE},
    {"the newest is in flight",
     HEAD(1) " async_copy %x[2], %s[0]\n async_copy_commit_group\n async_copy %x[1], %u\n "
             "async_copy_commit_group\n "
             "async_copy_wait 1\n store %y[0], (load %u) }",
     0, 1, 0, 0, STALE, GROUT_RUN_DONE},
    {"two copies of a group",
     HEAD(1) " async_copy %x[1], %u\n async_copy %x[2], %s[0]\n async_copy_commit_group\n "
             "async_copy_wait 0\n store "
             "%y[0], (load %u)\n store %y[1], (load %s[0]) }",
     2, 0, 0, 0, 3, GROUT_RUN_DONE},
    {"empty groups count",
     HEAD(1) " async_copy %x[1], %u\n async_copy_commit_group\n async_copy_commit_group\n "
             "async_copy_commit_group\n "
             "async_copy_wait 2\n store %y[0], (load %u) }",
     1, 0, 0, 0, 3, GROUT_RUN_DONE},
    {"a ring",
     HEAD(1) " for %i in 0..6 { if (lt %i, 4) { async_copy %x[%i], %s[%i] }\n "
             "async_copy_commit_group\n if (ge %i, 2) "
             "{ async_copy_wait 2\n store %y[%i - 2], (load %s[%i - 2]) } } }",
     EITHER, EITHER, 0, 0, -4, GROUT_RUN_DONE},
    {"a barrier is told",
     HEAD(2) " if (eq %t, 0) { async_copy %x[1], %u\n async_copy_arrive %b[0] } else { "
             "barrier_wait %b[0]\n store "
             "%y[0], (load %u) } }",
     1, 0, 0, 0, 3, GROUT_RUN_DONE},
    {"a barrier is told too early",
     HEAD(2) " if (eq %t, 0) { async_copy_arrive %b[0]\n async_copy %x[1], %u } else { "
             "barrier_wait %b[0]\n store "
             "%y[0, 0], 5.0\n barrier_arrive %b[1] }\n if (eq %t, 0) { barrier_wait %b[1]\n store "
             "%y[1], (load %u) } }",
     0, 1, 0, 0, ANY, GROUT_RUN_DONE},
    {"what follows in the group is not covered",
     HEAD(2) " if (eq %t, 0) { async_copy %x[1], %u\n async_copy_arrive %b[0]\n async_copy %x[2], "
             "%s[0]\n "
             "async_copy_commit_group\n barrier_arrive %b[1]\n async_copy_wait 0 } else { "
             "barrier_wait %b[0]\n "
             "barrier_wait %b[1]\n store %y[0], (load %u)\n store %y[1], (load %s[0]) } }",
     1, 1, 0, 0, 3, GROUT_RUN_DONE},
    {"a plain arrive says nothing of copies",
     HEAD(2) " if (eq %t, 0) { async_copy %x[1], %u\n async_copy_commit_group\n barrier_arrive "
             "%b[0]\n "
             "async_copy_wait 0 } else { barrier_wait %b[0]\n store %y[0], (load %u) } }",
     0, 1, 0, 0, ANY, GROUT_RUN_DONE},
    {"waited for, then told",
     HEAD(2) " if (eq %t, 0) { async_copy %x[1], %u\n async_copy_commit_group\n async_copy_wait "
             "0\n barrier_arrive "
             "%b[0] } else { barrier_wait %b[0]\n store %y[0], (load %u) } }",
     1, 0, 0, 0, 3, GROUT_RUN_DONE},
    {"outside",
     HEAD(1) " %i = add %t, 3\n async_copy %x[ds(%i, 2)], %s[ds(0, 2)]\n async_copy_commit_group\n "
             "async_copy_wait 0\n "
             "store %y[0, 0], 1.0 }",
     0, 0, 1, 0, 1, GROUT_RUN_DONE},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

TEST_EACH(groups, (ROW_COUNT * RUN_VARIANTS)) {
    const row *it = &ROWS[_i / RUN_VARIANTS];
    order_probe probe;
    run *r = probe_run(it->text, _i % RUN_VARIANTS, &probe, it->status);
    ck_assert_msg((it->ordered == EITHER || probe.ordered == it->ordered) &&
                      (it->unordered == EITHER || probe.unordered == it->unordered),
                  "%s: %u ordered, %u not", it->name, probe.ordered, probe.unordered);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUT_OF_BOUNDS], it->out_of_bounds);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_MISALIGNED], it->misaligned);
    if (it->result != ANY && it->result != STALE) {
        ck_assert_msg(run_get(r, 1, 0) == it->result, "%s: %g", it->name, run_get(r, 1, 0));
    } else if (it->result == STALE && run_variants[_i % RUN_VARIANTS].timing == GROUT_TIMING_LAZY) {
        ck_assert_msg(run_get(r, 1, 0) != 3.0, "%s: the adversary was kind", it->name);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_ISSUE], r->counts[GROUT_EVENT_COMPLETE]);
    run_delete(r);
}

TEST_EACH(runs_go_on_from_every_step, (ROW_COUNT * RUN_VARIANTS)) {
    run_check_resumes(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
    run_check_unobserved(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
}

/* Starts that are values are looked at when the copy is issued. */
TEST_EACH(misaligned, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%x: in gmem f16[64], %y: out gmem f16[64]) { scratch %s : smem f16[64]\n"
                " for %i in 0..3 { async_copy %x[ds(%i, 32)], %s[ds(%i * 2, 32)]\n"
                " async_copy_commit_group }\n async_copy_wait 0 }",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_MISALIGNED], 1);
    run_delete(r);
}

TEST_EACH(memory_runs_out, ROW_COUNT) {
    run_check_memory(ROWS[_i].text, 1);
}
