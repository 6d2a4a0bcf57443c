/* check_atomic.c - updates of elements, old values, and what ordered atomics hand over.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/atomic_math.h"
#include "tests/tests.h"
#include "tests/unit/interp/order_probe.h"

#include <math.h>

/* ---- arithmetic --------------------------------------------------------------------------------
 */

typedef struct sum {
    grout_update update;
    grout_dtype dtype;
    uint64_t held, value, result;
    bool is_gmem;
} sum;

#define ADD GROUT_UPDATE_ADD
#define MIN GROUT_UPDATE_MIN
#define MAX GROUT_UPDATE_MAX
#define I32 GROUT_DTYPE_I32
#define U32 GROUT_DTYPE_U32
#define F32 GROUT_DTYPE_F32

static const sum SUMS[] = {
    {ADD, I32, 0x7fffffff, 1, 0x80000000, false},
    {ADD, U32, 0xffffffff, 2, 1, false},
    {ADD, GROUT_DTYPE_U64, UINT64_MAX, 2, 1, false},
    {ADD, GROUT_DTYPE_I64, UINT64_C(0x7fffffffffffffff), 1, UINT64_C(0x8000000000000000), false},
    {MIN, I32, 0xffffffff, 1, 0xffffffff, false},
    {MIN, U32, 0xffffffff, 1, 1, false},
    {MAX, I32, 0xffffffff, 1, 1, false},
    {MAX, U32, 0xffffffff, 1, 0xffffffff, false},
    {MAX, GROUT_DTYPE_I64, UINT64_MAX, 3, 3, false},
    {MIN, GROUT_DTYPE_U64, UINT64_MAX, 3, 3, false},
    {GROUT_UPDATE_INC, U32, 4, 5, 5, false},
    {GROUT_UPDATE_INC, U32, 5, 5, 0, false},
    {GROUT_UPDATE_INC, U32, 9, 5, 0, false},
    {GROUT_UPDATE_DEC, U32, 4, 5, 3, false},
    {GROUT_UPDATE_DEC, U32, 0, 5, 5, false},
    {GROUT_UPDATE_DEC, U32, 9, 5, 5, false},
    {GROUT_UPDATE_AND, I32, 0xff, 0x1f0, 0xf0, false},
    {GROUT_UPDATE_OR, U32, 0xff, 0x1f0, 0x1ff, false},
    {GROUT_UPDATE_XOR, GROUT_DTYPE_U64, 0xff, 0x1f0, 0x10f, false},
    {GROUT_UPDATE_EXCHANGE, U32, 1, 2, 2, false},
    {ADD, F32, 0x3f800000, 0x3f800000, 0x40000000, false},
    {ADD, F32, 1, 1, 2, false}, /* subnormals */
    {ADD, F32, 1, 1, 0, true},  /* flushed in GMEM */
    {ADD, F32, 0x80000001, 0x80000000, 0x80000000, true},
    {ADD, GROUT_DTYPE_F16, 0x3c00, 0x1000, 0x3c00, true}, /* 1 + 2^-11: a tie, to even */
    {ADD, GROUT_DTYPE_F16, 0x3c01, 0x1000, 0x3c02, true},
    {ADD, GROUT_DTYPE_F16, 1, 1, 2, true}, /* its subnormals are kept */
    {ADD, GROUT_DTYPE_BF16, 0x3f80, 0x3b80, 0x3f80, true},
    {MIN, GROUT_DTYPE_F16, 0x7e00, 0x3c00, 0x3c00, true}, /* the number, not the NaN */
    {MAX, GROUT_DTYPE_F16, 0x3c00, 0x7e00, 0x3c00, true},
    {MAX, GROUT_DTYPE_BF16, 0x8000, 0x0000, 0x0000, true},
    {MIN, GROUT_DTYPE_BF16, 0x0000, 0x8000, 0x8000, true},
    {MAX, GROUT_DTYPE_BF16, 0x3f80, 0xbf80, 0x3f80, true},
};
enum { SUM_COUNT = sizeof SUMS / sizeof *SUMS };

TEST_EACH(updates, SUM_COUNT) {
    const sum *it = &SUMS[_i];
    uint64_t held = it->held;
    ck_assert(grout_update__apply(it->update, it->dtype, it->is_gmem, &held, &it->value, 1));
    ck_assert_msg(held == it->result, "row %d: %llx", _i, (unsigned long long)held);
}

TEST(what_there_is_not) {
    uint64_t held = 1, value = 2;
    ck_assert(!grout_update__apply(ADD, GROUT_DTYPE_I8, false, &held, &value, 1));
    ck_assert(!grout_update__apply(ADD, GROUT_DTYPE_F64, false, &held, &value, 1));
    ck_assert(!grout_update__apply(GROUT_UPDATE_AND, F32, false, &held, &value, 1));
    ck_assert_uint_eq(held, 1);
    ck_assert_int_eq(grout_update_from_choice(GROUT_CHOICE_REDUCE_DEC), GROUT_UPDATE_DEC);
    ck_assert_int_eq(grout_update_from_choice(GROUT_CHOICE_REDUCE_ADD), ADD);
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

typedef struct kernel_row {
    const char *name, *text;
    double results[4];
    uint32_t undefined, out_of_bounds;
} kernel_row;

static const kernel_row KERNELS[] = {
    {"sums of all threads of all CTAs",
     "kernel @k(%y: inout gmem f32[4]) grid(g = 3) threads(w = 2) { atomic_add %y, (broadcast 2.0 "
     ": "
     "f32[4])\n atomic_add %y[1], 1.0 }",
     {-4 + 12, 3 + 12 + 6, 1 + 12, -1 + 12},
     0,
     0},
    {"in SMEM",
     "kernel @k(%y: inout gmem i32[4]) threads(w = 3) { scratch %s : smem i32[4]\n %t = axis_index "
     "w\n if (eq "
     "%t, 0) { store %s, (load %y) }\n block_barrier\n atomic_add %s, (broadcast %t : i32[4])\n "
     "block_barrier\n atomic_max "
     "%s[0], 9\n atomic_min %s[1], -7\n atomic_or %s[2], 4\n block_barrier\n if (eq %t, 0) { store "
     "%y, "
     "(load %s) } }",
     {9, -7, 4, 2},
     0,
     0},
    {"bits",
     "kernel @k(%y: inout gmem i32[4]) { atomic_and %y[1], 2\n atomic_xor %y[2], 3\n atomic_or "
     "%y[3], 8\n "
     "atomic_max %y[0], -1 }",
     {-1, 2, 2, -1},
     0,
     0},
    {"old values",
     "kernel @k(%y: inout gmem i32[4]) { %a = atomic_fetch_add %y[0], 10\n %b = atomic_exchange "
     "%y[1], %a\n "
     "%c = atomic_cas %y[2], 1, %b\n %d = atomic_cas %y[2], 1, 77\n store %y[3], (add %c, %d) }",
     {6, -4, 3, 4},
     0,
     0},
    {"a lock",
     "kernel @k(%y: inout gmem i32[4]) grid(g = 2) threads(w = 2) { scratch %l : gmem i32[1]\n "
     "scratch %ready : "
     "semaphore[1] global\n %t = axis_index w\n if (eq (add %t, (axis_index g)), 0) { store %l[0], "
     "0\n "
     "semaphore_signal %ready[0], 4 }\n semaphore_wait %ready[0], 1\n for %i in 0..3 {\n while { "
     "%old = atomic_cas "
     "%l[0], 0, 1 order(acquire)\n cond (ne %old, 0) } do { }\n store %y[0], (add (load %y[0]), "
     "1)\n %was = "
     "atomic_exchange %l[0], 0 order(release)\n atomic_add %y[1], %was } }",
     {-4 + 12, 3 + 12, 1, -1},
     0,
     0},
    {"of what nobody wrote",
     "kernel @k(%y: inout gmem i32[4]) { scratch %s : smem i32[4]\n atomic_add %s, (broadcast 1 : "
     "i32[4])\n "
     "store %s[1], 5\n atomic_add %s[1], 1\n store %y[1], (load %s[1])\n store %y[0], (load %s[0]) "
     "}",
     {0, 6, 1, -1},
     1,
     0},
    {"an undefined value makes it undefined, an exchange defines it",
     "kernel @k(%y: inout gmem i32[4]) { scratch %s : smem i32[2]\n store %s[0], 1\n atomic_add "
     "%s[0], (load "
     "%s[1])\n %a = atomic_exchange %s[0], 3\n store %y[0], (load %s[0])\n store %y[1], %a }",
     {3, 0, 1, -1},
     1,
     0},
    {"in the SMEM of a peer",
     "kernel @k(%y: inout gmem i32[4]) cluster(c = 2) threads(w = 2) { scratch %s : smem i32[2]\n "
     "%r = "
     "axis_index c\n %t = axis_index w\n if (eq %t, 0) { store %s[0], 100\n store %s[1], 0 }\n "
     "cluster_barrier\n atomic_add %s.cluster(0)[0], 1\n %old = atomic_fetch_add %s.cluster((sub "
     "1, %r))[1], "
     "(add %r, 1)\n cluster_barrier\n if (eq %t, 0) { store %y[%r], (load %s[0])\n store %y[%r + "
     "2], (load "
     "%s[1])\n }\n cluster_barrier }",
     {104, 100, 4, 2},
     0,
     0},
    {"outside",
     "kernel @k(%y: inout gmem i32[4]) { %i = load %y[1]\n %a = atomic_fetch_add %y[%i + 1], 1\n "
     "atomic_add "
     "%y[ds(%i, 2)], (broadcast 1 : i32[2]) }",
     {-4, 3, 1, 0},
     0,
     2},
};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };

TEST_EACH(elements, (KERNEL_COUNT * RUN_VARIANTS)) {
    const kernel_row *it = &KERNELS[_i / RUN_VARIANTS];
    run *r = run_new(it->text, _i % RUN_VARIANTS);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < 4; i++) {
        bool is_open = it->undefined > 0 && it->results[i] == 0;
        ck_assert_msg(is_open || run_get(r, 0, i) == it->results[i], "%s: element %u is %g",
                      it->name, i, run_get(r, 0, i));
    }
    ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], it->undefined);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUT_OF_BOUNDS], it->out_of_bounds);
    run_delete(r);
}

TEST_EACH(runs_go_on_from_every_step, (KERNEL_COUNT * RUN_VARIANTS)) {
    run_check_resumes(KERNELS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
    run_check_unobserved(KERNELS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
}

/* ---- order -------------------------------------------------------------------------------------
 */

typedef struct order_row {
    const char *name, *text;
    uint32_t ordered, unordered;
} order_row;

/* A flag in GMEM, as many readers as it takes; the data beside it. */
#define FLAG(RELEASE, ACQUIRE, BETWEEN)                                                            \
    "kernel @k(%f: inout gmem i32[2], %y: out gmem i32[2]) grid(g = 2) {\n scratch %m : gmem "     \
    "i32[1]\n scratch %s : semaphore[2] global\n if (eq (axis_index g), 0) { store %m[0], 7\n %o " \
    "= "                                                                                           \
    "atomic_exchange %f[0], 1 " RELEASE "\n semaphore_signal %s[0], 1 order(relaxed)\n } else { "  \
    "semaphore_wait %s[0], 1 order(relaxed)\n " BETWEEN " %v = atomic_fetch_add %f[0], 0 " ACQUIRE \
    "\n store %y[1], (load %m[0]) } }"

static const order_row ORDERS[] = {
    {"release to acquire", FLAG("order(release)", "order(acquire)", ""), 1, 0},
    {"both do both", FLAG("order(acq_rel)", "order(acq_rel)", ""), 1, 0},
    {"relaxed to acquire", FLAG("order(relaxed)", "order(acquire)", ""), 0, 1},
    {"release to relaxed", FLAG("order(release)", "order(relaxed)", ""), 0, 1},
    {"unwritten is relaxed", FLAG("order(release)", "", ""), 0, 1},
    {"too narrow a release", FLAG("order(release) scope(cta)", "order(acquire)", ""), 0, 1},
    {"too narrow an acquire", FLAG("order(release)", "order(acquire) scope(cluster)", ""), 0, 1},
    {"for the system", FLAG("order(release) scope(sys)", "order(acquire) scope(sys)", ""), 1, 0},
    {"through an update between", FLAG("order(release)", "order(acquire)", "atomic_add %f[0], 3\n"),
     1, 0},
    {"a store ends the sequence", FLAG("order(release)", "order(acquire)", "store %f[0], 3\n"), 0,
     1},
    {"a store beside it does not", FLAG("order(release)", "order(acquire)", "store %f[1], 3\n"), 1,
     0},
    {"between CTAs of a cluster, in SMEM",
     "kernel @k(%f: inout gmem i32[2], %y: out gmem i32[2]) cluster(c = 2) {\n scratch %d : smem "
     "i32[1]\n "
     "scratch %s : smem i32[1]\n store %s[0], 0\n cluster_barrier\n %r = axis_index c\n if (eq %r, "
     "0) { store "
     "%d.cluster(1)[0], 7\n %o = atomic_exchange %s.cluster(1)[0], 1 order(release)\n "
     "cluster_arrive "
     "order(relaxed)\n cluster_wait order(relaxed)\n } else { cluster_arrive order(relaxed)\n "
     "cluster_wait "
     "order(relaxed)\n %v = atomic_fetch_add %s[0], 0 order(acquire)\n store %y[1], (load %d[0]) "
     "}\n "
     "cluster_barrier }",
     1, 0},
    {"a failed comparison acquires",
     FLAG("order(release)", "", "%w = atomic_cas %f[0], 55, 1 order(acquire)\n"), 1, 0},
};
enum { ORDER_COUNT = sizeof ORDERS / sizeof *ORDERS };

TEST_EACH(order, (ORDER_COUNT * RUN_VARIANTS)) {
    const order_row *it = &ORDERS[_i / RUN_VARIANTS];
    order_probe probe;
    run *r = probe_run(it->text, _i % RUN_VARIANTS, &probe, GROUT_RUN_DONE);
    ck_assert_msg(probe.ordered == it->ordered && probe.unordered == it->unordered,
                  "%s: %u ordered, %u not", it->name, probe.ordered, probe.unordered);
    run_delete(r);
}

TEST_EACH(orders_go_on_from_every_step, (ORDER_COUNT * RUN_VARIANTS)) {
    run_check_resumes(ORDERS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
    run_check_unobserved(ORDERS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
}

/* Sixty CTAs count, in whatever order: the last one knows of all. */
TEST_EACH(counted, RUN_VARIANTS) {
    order_probe probe;
    run *r = probe_run(
        "kernel @k(%f: inout gmem i32[1], %y: out gmem i32[1]) grid(g = 60) {\n scratch "
        "%m : gmem i32[60]\n %g = axis_index g\n store %m[%g], %g\n %o = "
        "atomic_fetch_add %f[0], 1 order(acq_rel)\n if (eq %o, 55) { %s = for %i in 0..60 "
        "carry(%c = 0) { yield (add %c, (load %m[%i])) }\n store %y[0], %s } }",
        _i, &probe, GROUT_RUN_DONE);
    ck_assert_int_eq((int)run_get(r, 1, 0), 59 * 60 / 2);
    ck_assert_uint_eq(probe.unordered, 0);
    ck_assert_uint_gt(probe.ordered, 0);
    run_delete(r);
}

/* The event of an atomic says so. */
TEST_EACH(accesses, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: inout gmem f16[8]) { atomic_add %y[ds(2, 4)], (broadcast 1.0 : "
                     "f16[4]) scope(sys) }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_ACCESS], 1);
    run_delete(r);
}

TEST_EACH(memory_runs_out, ORDER_COUNT) {
    run_check_memory(ORDERS[_i].text, 1);
}
