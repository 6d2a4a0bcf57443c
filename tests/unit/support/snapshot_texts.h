/*
 * snapshot_texts.h - kernels that have all kinds of state between two steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_SNAPSHOT_TEXTS_H
#define GROUT_TESTS_SNAPSHOT_TEXTS_H

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
    /* this many barriers that clock sets are in sheets, in clusters that wait for each other */
    "kernel @k(%x: in gmem f32[4], %y: out gmem f32[2, 4]) grid(g = 2) threads(w = 2) {\n"
    " scratch %s : semaphore[2] global\n scratch %b : barrier[600] arrivals(2)\n"
    " scratch %c : barrier[1]\n scratch %v : smem f32[4]\n %g = axis_index g\n %t = axis_index w\n"
    " if (eq %t, 0) { copy_gmem_to_smem %x, %v, %c[0] }\n"
    " for %i in 0..4 { barrier_arrive %b[%i * 150]\n barrier_wait %b[%i * 150]\n"
    "  if (gt %i, 1) { barrier_arrive %b[599]\n barrier_wait %b[599] }\n"
    "  store %y[%g, (rem %i, 2) * 2 + %t], 1.0 }\n"
    " if (eq %t, 0) { barrier_wait %c[0]\n semaphore_signal %s[%g], 1\n"
    "  semaphore_wait %s[1 - %g], 1\n store %y[%g, 0], (load %v[0]) } }",
    /* atomics, named barriers and cp.async groups */
    "kernel @k(%x: in gmem i32[8, 32], %y: inout gmem i32[8, 32]) threads(w = 2) {\n"
    " scratch %s : smem i32[2, 3, 32]\n scratch %n : smem i32[1]\n %t = axis_index w\n"
    " if (eq %t, 0) { store %n[0], 0 }\n named_barrier_sync 1, 2\n"
    " for %i in 0..4 {\n  async_copy %x[%i], %s[%t, (rem %i, 3)]\n  async_copy_commit_group\n"
    "  async_copy_wait 1\n  %o = atomic_fetch_add %n[0], 1 order(acq_rel)\n  named_barrier_sync 0, "
    "2\n  store "
    "%y[%t * 4 + "
    "%i], (load "
    "%s[%t, (rem %i, 3)])\n }\n async_copy_wait 0 }",
};
#define TEXTS ((int)(sizeof texts / sizeof texts[0]))

#endif
