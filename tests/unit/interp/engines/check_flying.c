/* check_flying.c - many TMA copies in flight at once: what is found by their areas, and as a scope
 * ends by their ops, is what a walk through all of them finds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/state/flying.h"
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <stdarg.h>

enum { COPIES = 300, TEXT_MAX = 1 << 16, SEEDS = 12, SCOPES_MAX = 3 };

/* ---- kernels by chance ----------------------------------------------------------------------- */

typedef struct maker {
    uint64_t random;
    char text[TEXT_MAX];
    size_t size;
    int depth; /* of scopes that are open; each has an array %t1, %t2, .. */
} maker;

static int draw(maker *it, int count) {
    it->random = it->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((it->random >> 33) % (uint64_t)count);
}

static void put(maker *it, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int size = vsnprintf(it->text + it->size, TEXT_MAX - it->size, format, list);
    va_end(list);
    it->size += (size_t)size;
    ck_assert_uint_lt(it->size, TEXT_MAX);
}

/* A copy between two matrices, or between two lines of bytes; the lines of SMEM are those of the
 * matrix, of another type. What is read at one time is written at another. */
static void put_copy(maker *it) {
    char shared[64], global[64];
    if (draw(it, 3) > 0) {
        const int rows = 1 + draw(it, 8), columns = 32 * (1 + draw(it, 3) / 2);
        const int number = it->depth > 0 ? 1 + draw(it, it->depth) : columns / 64;
        snprintf(shared, sizeof shared, "%%%c%d[ds(%d, %d), ds(0, 32)]", it->depth > 0 ? 't' : 's',
                 number, draw(it, 33 - rows), rows);
        snprintf(global, sizeof global, "%%x[ds(%d, %d), ds(%d, 32)]", draw(it, 65 - rows), rows,
                 32 * draw(it, 4));
    } else {
        const int count = 32 * (1 + draw(it, 4));
        snprintf(shared, sizeof shared, "%%a[ds(%d, %d)]", 32 * draw(it, 28), count);
        snprintf(global, sizeof global, "%%w[ds(%d, %d)]", 4 * draw(it, 900), count);
    }
    if (draw(it, 2) == 0) {
        put(it, " copy_gmem_to_smem %s, %s, %%b[%d]\n", global, shared, draw(it, 4));
    } else {
        put(it, " copy_smem_to_gmem %s, %s%s\n", shared, global,
            draw(it, 6) == 0 ? " reduce(add)" : "");
    }
}

/* A scope begins or ends. */
static void put_scope(maker *it) {
    if (it->depth < SCOPES_MAX && draw(it, 2) == 0) {
        put(it, " scoped(%%t%d : smem f32[32, 32]) {\n", ++it->depth);
        put(it, " store %%t%d, (broadcast %d.0 : f32[32, 32])\n commit_smem\n", it->depth,
            it->depth);
    } else if (it->depth > 0) {
        put(it, " }\n");
        it->depth--;
    }
}

static void put_kernel(maker *it, uint64_t seed, bool has_scopes) {
    *it = (maker){.random = seed};
    put(it,
        "kernel @k(%%x: inout gmem f32[64, 128], %%w: inout gmem i32[1024]) {\n"
        " scratch %%s0 : smem f32[32, 32]\n scratch %%s1 : smem f32[32, 32]\n"
        " scratch %%a : smem i32[1024] alias(%%s0)\n scratch %%b : barrier[4]\n"
        " store %%s0, (broadcast 5.0 : f32[32, 32])\n store %%s1, (broadcast 7.0 : f32[32, 32])\n"
        " commit_smem\n");
    for (int i = 0; i < COPIES; i++) {
        put_copy(it);
        if (draw(it, 40) == 0) {
            put(it, " wait_smem_to_gmem %d\n", draw(it, 40));
        }
        if (draw(it, 60) == 0) {
            put(it, " store %%s1[%d], (broadcast 1.0 : f32[32])\n commit_smem\n", draw(it, 32));
        }
        if (has_scopes && draw(it, 8) == 0) {
            put_scope(it);
        }
    }
    while (it->depth > 0) {
        put(it, " }\n");
        it->depth--;
    }
    put(it, "}\n");
}

/* ---- runs ------------------------------------------------------------------------------------ */

static run *start(const char *text) {
    run *r = run_new(text, 1);
    ck_assert(r->timing == GROUT_TIMING_LAZY);
    run_start(r);
    ck_assert_ptr_nonnull(r->machine);
    return r;
}

/* Until there are enough flights for a search by area. */
static bool run_until_many(run *r) {
    grout_run_status status = GROUT_RUN_PAUSED;
    while (status == GROUT_RUN_PAUSED && r->machine->flying == NULL) {
        status = grout_machine_run(r->machine, 1, r->diags);
    }
    return status == GROUT_RUN_PAUSED;
}

static void run_rest(run *r) {
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
}

static void compare(const run *a, const run *b) {
    for (uint32_t i = 0; i < a->argument_count; i++) {
        ck_assert_mem_eq(a->arguments[i].data, b->arguments[i].data, a->arguments[i].size);
    }
    ck_assert(a->event_hash == b->event_hash);
    ck_assert(grout_machine_hash(a->machine) == grout_machine_hash(b->machine));
}

TEST_EACH(areas_find_what_a_walk_finds, SEEDS) {
    maker *it = malloc(sizeof *it);
    put_kernel(it, (uint64_t)_i, _i % 2 == 1);
    run *r = start(it->text), *walking = start(it->text);
    ck_assert(run_until_many(walking));
    grout_flying__turn_off(&walking->machine->flying[0]);
    run_rest(walking);
    ck_assert(walking->machine->flying[0].is_off);
    run_rest(r);
    compare(walking, r);
    run_delete(r);
    run_delete(walking);
    free(it);
}

/* What is known by area is of one state: from a snapshot on it is made again. */
TEST_EACH(a_snapshot_is_of_the_copies_alone, SEEDS) {
    maker *it = malloc(sizeof *it);
    put_kernel(it, (uint64_t)_i, _i % 2 == 1);
    run *whole = start(it->text), *r = start(it->text);
    run_rest(whole);
    ck_assert(run_until_many(r));
    const uint64_t hash = grout_machine_hash(r->machine);
    grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
    ck_assert_ptr_nonnull(snapshot);
    for (uint64_t steps = 10; steps < 1000; steps *= 3) {
        const grout_run_status status = grout_machine_run(r->machine, steps, r->diags);
        ck_assert(status == GROUT_RUN_PAUSED || status == GROUT_RUN_DONE);
        ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
        ck_assert(grout_machine_hash(r->machine) == hash);
    }
    run_rest(r);
    compare(whole, r);
    grout_snapshot_free(snapshot);
    run_delete(r);
    run_delete(whole);
    free(it);
}

/* ---- what the order decides ------------------------------------------------------------------ */

/* Many stores and loads that meet nothing, then two of each that do. The earlier of two stores
 * lands last; between the two loads of one place, a reader that has waited for the first finds
 * poison. */
static const char between_many[] =
    "const N = %d\n"
    "kernel @k(%%x: in gmem f32[2, 32], %%y: inout gmem f32[N + 2, 32], %%z: out gmem f32[2, 32]) "
    "{\n"
    " scratch %%s : smem f32[2, 32]\n scratch %%t : smem f32[N + 2, 32]\n"
    " scratch %%b : barrier[3]\n"
    " store %%s[0], (broadcast 1.0 : f32[32])\n store %%s[1], (broadcast 2.0 : f32[32])\n"
    " commit_smem\n copy_smem_to_gmem %%s[0], %%y[N]\n copy_gmem_to_smem %%x[0], %%t[N], %%b[0]\n"
    " for %%i in 0..N {\n  copy_smem_to_gmem %%s[0], %%y[%%i]\n"
    "  copy_gmem_to_smem %%x[0], %%t[%%i], %%b[2]\n }\n"
    " copy_gmem_to_smem %%x[1], %%t[N], %%b[1]\n"
    " barrier_wait %%b[0]\n store %%z[0], (load %%t[N])\n"
    " barrier_wait %%b[1]\n store %%z[1], (load %%t[N])\n"
    " copy_smem_to_gmem %%s[1], %%y[N]\n wait_smem_to_gmem 0\n}\n";

TEST_EACH(order_decides_between_many, 4) {
    static const int counts[] = {1, GROUT_FLYING_MIN - 3, GROUT_FLYING_MIN, 200};
    char text[2048];
    snprintf(text, sizeof text, between_many, counts[_i]);
    run *r = start(text);
    run_rest(r);
    const size_t last = (size_t)counts[_i] * 32;
    ck_assert((r->machine->flying != NULL) == (counts[_i] > 1));
    ck_assert(run_get(r, 1, last) == 1.0 && run_get(r, 1, last + 31) == 1.0);
    ck_assert(run_get(r, 1, last - 1) == 1.0);
    ck_assert(run_get(r, 1, last + 32) == (double)((7 * (last + 32) + 3) % 9) - 4.0);
    for (size_t i = 0; i < 32; i++) {
        ck_assert(run_get(r, 2, i) != run_get(r, 2, i)); /* poison is a NaN */
        ck_assert(run_get(r, 2, 32 + i) == run_get(r, 0, 32 + i));
    }
    run_delete(r);
}
