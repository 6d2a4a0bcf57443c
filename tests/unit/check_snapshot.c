/* check_snapshot.c - a run that goes on from a snapshot is the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_kernel.h"

static const char *const texts[] = {
    /* clean, two threads, loads and stores in flight */
    "const STEPS = 6, SLOTS = 2, N = 64\n"
    "kernel @k(%x: in gmem f32[STEPS, N], %y: out gmem f32[STEPS, N]) grid(g = 2) threads(wg = "
    "2)\n{\n"
    " scratch %q : smem f32[SLOTS, N]\n scratch %o : smem f32[N]\n scratch %full : "
    "barrier[SLOTS]\n scratch %free : barrier[SLOTS]\n"
    " if (eq (axis_index wg), 0) {\n  for %i in 0..STEPS {\n   %s = rem %i, SLOTS\n   if (ge %i, "
    "SLOTS) { barrier_wait %free[%s] }\n"
    "   copy_gmem_to_smem %x[%i], %q[%s], %full[%s]\n  }\n  for %i in 0..SLOTS { %s = rem %i + "
    "STEPS, SLOTS\n barrier_wait %free[%s] }\n"
    " } else {\n  for %i in 0..STEPS {\n   %s = rem %i, SLOTS\n   barrier_wait %full[%s]\n   %v = "
    "add (load %q[%s]), 1.0\n"
    "   wait_smem_to_gmem 0 read_only\n   store %o, %v\n   commit_smem\n   copy_smem_to_gmem %o, "
    "%y[%i]\n   barrier_arrive %free[%s]\n  }\n"
    "  wait_smem_to_gmem 0\n }\n}\n",
    /* no commits: stale bytes held by the undo log and by stores in flight */
    "kernel @k(%x: in gmem f32[4, 64], %y: out gmem f32[4, 64]) {\n scratch %s : smem f32[4, 64]\n"
    " for %i in 0..4 { store %s[%i], (load %x[%i])\n copy_smem_to_gmem %s[%i], %y[%i] }\n"
    " for %i in 0..4 { store %s[%i], (mul (load %x[%i]), 2.0)\n copy_smem_to_gmem %s[%i], %y[%i] "
    "}\n wait_smem_to_gmem 0 }",
    /* scopes that one thread has left and the other has not */
    "kernel @k(%x: in gmem f32[2], %y: out gmem f32[2]) threads(w = 2) { %t = axis_index w\n"
    " for %r in 0..2 { scoped(%s : smem f32[2]) collective { store %s[%t], (load %x[%t])\n"
    " scoped(%u : smem f32[2]) collective { store %u[%t], 0.0\n for %i in 0..%t * 9 { store "
    "%u[%t], (add (load %u[%t]), (load %s[%t])) }\n store %y[%t], (load %u[%t]) } } } }",
    /* waits thirty phases late */
    "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64]) threads(w = 2) {\n"
    " scratch %s : smem f32[64]\n scratch %b : barrier[1]\n if (eq (axis_index w), 0) {\n"
    " for %i in 0..30 { copy_gmem_to_smem %x, %s, %b[0] } } else {\n"
    " for %i in 0..70 { store %y[0], 1.0 }\n for %i in 0..30 { barrier_wait %b[0] }\n"
    " store %y, (load %s) } }",
    /* wgmmas in flight: operands in SMEM, in registers, captured; a scope's accumulator */
    "kernel @k(%x: in gmem bf16[64, 64], %y: out gmem f32[2, 64, 64]) threads(w = 2) {\n"
    " scratch %a : smem bf16[2, 64, 64] tile(8, 64) swizzle(128)\n scratch %b : smem bf16[2, 64, "
    "64] tile(8, 64) swizzle(128)\n scratch %acc : acc f32[64, 64]\n scratch %bar : barrier[2]\n"
    " %t = axis_index w\n copy_gmem_to_smem %x, %a[%t], %bar[%t]\n store %b[%t], (load %x)\n"
    " commit_smem\n store %b[%t], (mul (load %x), 2.0)\n barrier_wait %bar[%t]\n"
    " wgmma %acc, %a[%t], %b[%t]\n wgmma_async %acc, (load %x), %b[%t]\n"
    " for %i in 0..3 { scoped(%part : acc f32[64, 32]) {\n  wgmma_async %part, %a[%t], "
    "%b[%t].transpose(1, 0)[:, ds(0, 32)]\n"
    "  wgmma %acc, %a[%t], %b[%t]\n  store %b[%t], (mul (load %b[%t]), 3.0)\n  commit_smem\n"
    "  %v = acc_load %part\n  store %y[%t, :, ds(0, 32)], %v } }\n"
    " commit_smem\n copy_gmem_to_smem %x, %a[%t], %bar[%t]\n wgmma_wait 1\n store %y[%t], (load "
    "%acc)\n barrier_wait %bar[%t] }",
    /* a cluster: parts of copies, bytes and arrivals in flight between its CTAs */
    "kernel @k(%x: in gmem f32[64, 32], %y: out gmem f32[4, 64, 32]) grid(g = 2) cluster(c = 2) "
    "threads(w = 2) {\n scratch %s : smem f32[32, 32]\n scratch %p : smem f32[32]\n"
    " scratch %f : barrier[1]\n scratch %q : barrier[1]\n scratch %e : barrier[1] arrivals(2) "
    "cluster(c)\n"
    " %c = axis_index c\n %n = add (mul (axis_index g), 2), %c\n if (eq (axis_index w), 0) {\n"
    "  for %k in 0..2 { if (gt %k, 0) { barrier_wait %e[0] }\n"
    "   copy_gmem_to_smem %x[ds(%k * 32, 32), :], %s, %f[0] collective_axes(c) }\n"
    " } else { for %k in 0..2 {\n  async_store_smem (load %x[%k]), %p.cluster(1 - %c), %q[0]\n"
    "   barrier_arrive %q[0]\n barrier_wait %q[0]\n barrier_wait %f[0]\n"
    "   store %y[%n, ds(%k * 32, 32), :], (load %s)\n store %y[%n, %k, 0], (load %p[3])\n"
    "   commit_smem\n cluster_arrive\n if (lt %k, 1) { barrier_arrive %e[0] count(2) } "
    "cluster_wait } }\n"
    " if (eq (axis_index w), 0) { cluster_barrier cluster_barrier } }",
    /* clusters that wait for each other */
    "kernel @k(%x: in gmem f32[8, 32], %y: out gmem f32[8, 32]) grid(g = 4) cluster(c = 2) {\n"
    " scratch %s : semaphore[4] global\n scratch %p : gmem f32[8, 32]\n %c = axis_index c\n %g = "
    "axis_index g\n"
    " %n = add (mul %g, 2), %c\n store %p[%n], (load %x[%n])\n semaphore_signal %s[%g], 1\n"
    " %o = rem %g + 1, 4\n semaphore_wait %s[%o], 1\n store %y[%n], (load %p[%o * 2 + %c]) }",
};
#define TEXTS ((int)(sizeof texts / sizeof texts[0]))

static void compare(const run *a, const run *b) {
    ck_assert_mem_eq(a->arguments[1].data, b->arguments[1].data, a->arguments[1].size);
    ck_assert(a->event_hash == b->event_hash);
    ck_assert_mem_eq(a->counts, b->counts, sizeof a->counts);
    ck_assert(grout_machine_hash(a->machine) == grout_machine_hash(b->machine));
    ck_assert_uint_eq(grout_machine_get_stats(a->machine).steps,
                      grout_machine_get_stats(b->machine).steps);
}

START_TEST(runs_go_on_from_every_step) {
    const char *text = texts[_i % TEXTS];
    int variant = _i / TEXTS;
    run *whole = run_new(text, variant);
    ck_assert_int_eq(run_to_end(whole), GROUT_RUN_DONE);
    uint64_t steps = grout_machine_get_stats(whole->machine).steps;
    for (uint64_t at = 1; at < steps; at += 1 + at / 7) {
        run *r = run_new(text, variant);
        run_start(r);
        ck_assert_int_eq(grout_machine_run(r->machine, at, r->diags), GROUT_RUN_PAUSED);
        uint64_t hash = grout_machine_hash(r->machine);
        grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
        ck_assert_ptr_nonnull(snapshot);
        for (uint32_t round = 0; round < 2; round++) {
            ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
            compare(whole, r);
            ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
            ck_assert(grout_machine_hash(r->machine) == hash);
        }
        grout_snapshot_free(snapshot);
        run_delete(r);
    }
    run_delete(whole);
}
END_TEST

/* Different states differ. */
START_TEST(hashes_tell_states_apart) {
    run *r = run_new(texts[_i], 1);
    run_start(r);
    uint64_t last = grout_machine_hash(r->machine);
    while (grout_machine_run(r->machine, 1, r->diags) == GROUT_RUN_PAUSED) {
        uint64_t hash = grout_machine_hash(r->machine);
        ck_assert(hash != last);
        last = hash;
    }
    run_delete(r);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("snapshot");
    TCase *tests = tcase_create("snapshot");
    tcase_add_loop_test(tests, runs_go_on_from_every_step, 0, TEXTS * RUN_VARIANTS);
    tcase_add_loop_test(tests, hashes_tell_states_apart, 0, TEXTS);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
