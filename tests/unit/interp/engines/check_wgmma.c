/* check_wgmma.c - what a wgmma computes: every layout of operands, element types, slices; under
 * each timing the same bits. SPDX-License-Identifier: Apache-2.0 */
#include "interp/engines/accumulator.h"
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <math.h>

/* A kernel that multiplies once for each of 'turns', and its operands as they lie. */
typedef struct shape {
    const char *operands, *accumulator; /* element types */
    uint32_t m, n, k, swizzle;
    bool a_runs_along_m, b_runs_along_n; /* else along K */
    bool a_is_register;
} shape;

static const shape shapes[] = {
    {"bf16", "f32", 64, 8, 16, 32, false, false, false},
    {"bf16", "f32", 64, 64, 64, 128, false, false, false},
    {"bf16", "f32", 64, 64, 64, 128, false, true, false},
    {"bf16", "f32", 64, 64, 64, 128, true, false, false},
    {"bf16", "f32", 128, 64, 64, 128, true, true, false},
    {"bf16", "f32", 128, 256, 64, 128, false, false, false},
    {"bf16", "f32", 64, 256, 64, 128, false, true, true},
    {"bf16", "f32", 64, 24, 96, 64, false, false, false},
    {"bf16", "f32", 192, 32, 32, 64, true, true, false},
    {"f16", "f32", 64, 32, 48, 32, false, true, false},
    {"f16", "f32", 64, 16, 32, 0, false, false, false},
    {"f16", "f32", 64, 16, 32, 0, true, true, false},
    {"f16", "f32", 64, 40, 80, 0, false, false, true},
    {"f16", "f16", 64, 64, 64, 128, false, true, false},
    {"f16", "f16", 128, 8, 32, 64, false, false, true},
    {"f32", "f32", 64, 16, 32, 128, false, false, false},
    {"f32", "f32", 128, 72, 16, 64, false, false, false},
    {"f32", "f32", 64, 8, 8, 32, false, false, false},
    {"f32", "f32", 64, 8, 24, 0, false, false, false},
    {"f8e4m3", "f32", 64, 64, 128, 128, false, false, false},
    {"f8e4m3", "f32", 128, 40, 64, 64, false, false, true},
    {"f8e4m3", "f16", 64, 16, 96, 32, false, false, false},
    {"f8e5m2", "f16", 64, 16, 64, 64, false, false, true},
    {"f8e5m2", "f32", 64, 8, 32, 0, false, false, false},
    {"i8", "i32", 64, 64, 128, 128, false, false, false},
    {"i8", "i32", 128, 24, 32, 32, false, false, true},
    {"u8", "i32", 64, 48, 64, 64, false, false, true},
    {"u8", "i32", 192, 8, 96, 0, false, false, false},
};
#define SHAPES ((int)(sizeof shapes / sizeof shapes[0]))

static grout_dtype find_dtype(const char *text) {
    return grout_dtype_find(text, strlen(text));
}

/* "f16[16, 64] tile(8, 64) swizzle(128)": rows x cols elements of which those of a row follow each
 * other. */
static void write_object(char *out, size_t size, const shape *s, uint32_t rows, uint32_t cols) {
    uint32_t bytes = grout_dtype_get_info(find_dtype(s->operands))->bytes;
    uint32_t width = (s->swizzle == 0 ? 16 : s->swizzle) / bytes;
    int used = snprintf(out, size, "%s[%u, %u] tile(8, %u)", s->operands, rows, cols, width);
    if (s->swizzle != 0) {
        snprintf(out + used, size - (size_t)used, " swizzle(%u)", s->swizzle);
    }
}

static void write_kernel(char *out, size_t size, const shape *s) {
    char a[96], b[96];
    uint32_t a_rows = s->a_runs_along_m ? s->k : s->m, a_cols = s->a_runs_along_m ? s->m : s->k;
    uint32_t b_rows = s->b_runs_along_n ? s->k : s->n, b_cols = s->b_runs_along_n ? s->n : s->k;
    write_object(a, sizeof a, s, a_rows, a_cols);
    write_object(b, sizeof b, s, b_rows, b_cols);
    snprintf(out, size,
             "kernel @k(%%a: in gmem %s[%u, %u], %%b: in gmem %s[%u, %u], %%c: out gmem %s[%u, "
             "%u]) {\n scratch %%as : smem %s\n scratch %%bs : smem %s\n scratch %%acc : acc "
             "%s[%u, %u]\n %%v = load %%a\n store %%as, %%v\n store %%bs, (load %%b)\n "
             "commit_smem\n for %%i in 0..3 { wgmma %%acc, %s, %%bs%s }\n store %%c, (load "
             "%%acc)\n}\n",
             s->operands, a_rows, a_cols, s->operands, b_rows, b_cols, s->accumulator, s->m, s->n,
             a, b, s->accumulator, s->m, s->n,
             s->a_is_register    ? "%v"
             : s->a_runs_along_m ? "%as.transpose(1, 0)"
                                 : "%as",
             s->b_runs_along_n ? "" : ".transpose(1, 0)");
}

static uint32_t random_state = 1;
static uint32_t draw(void) {
    random_state = random_state * 747796405u + 2891336453u;
    return random_state >> 8;
}

/* Ordinary values; here and there a subnormal, a large one, bits that tf32 does not have. */
static void fill(grout_dtype dtype, void *data, size_t size) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    for (size_t i = 0; i < size / bytes; i++) {
        uint32_t kind = draw() % 64;
        double value = ldexp((double)(draw() % 4097) - 2048.0, -10);
        value = kind == 0 ? ldexp(value, dtype == GROUT_DTYPE_F16 ? -18 : -130) : value;
        value = kind == 1 ? value * 1000.0 : value;
        value =
            dtype == GROUT_DTYPE_F32 ? value * (1.0 + ldexp((double)(draw() % 4096), -23)) : value;
        grout_element_from_double(dtype, value, (uint8_t *)data + i * bytes);
    }
}

static float get_operand(const run *r, uint32_t index, grout_dtype dtype, size_t at) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes, word = 0;
    const uint8_t *element = (const uint8_t *)r->arguments[index].data + at * bytes;
    float value;
    if (dtype != GROUT_DTYPE_F32) {
        return (float)grout_element_to_double(dtype, element);
    }
    memcpy(&word, element, sizeof word);
    word &= 0xffffe000u; /* tf32 */
    memcpy(&value, &word, sizeof value);
    return value;
}

static float round_half(float value) {
    uint16_t half;
    grout_element_from_double(GROUT_DTYPE_F16, value, &half);
    return (float)grout_element_to_double(GROUT_DTYPE_F16, &half);
}

/* The definition: fused multiply-adds in increasing k; f16 sums rounded after every 32 bytes of k.
 * Sums of these integers are exact in an f32. */
static float define(const run *r, const shape *s, uint32_t turns, uint32_t m, uint32_t n) {
    grout_dtype dtype = find_dtype(s->operands);
    bool is_rounded = find_dtype(s->accumulator) == GROUT_DTYPE_F16;
    const size_t step = 32u / grout_dtype_get_info(dtype)->bytes;
    float sum = 0.0f;
    for (uint32_t i = 0; i < turns * s->k; i++) {
        size_t k = i % s->k;
        float a = get_operand(r, 0, dtype, s->a_runs_along_m ? k * s->m + m : (size_t)m * s->k + k);
        float b = get_operand(r, 1, dtype, s->b_runs_along_n ? k * s->n + n : (size_t)n * s->k + k);
        sum = fmaf(a, b, sum);
        sum = is_rounded && (k + 1) % step == 0 ? round_half(sum) : sum;
    }
    return sum;
}

static uint32_t get_bits(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

TEST_EACH(products_are_those_of_the_definition, 3 * SHAPES) {
    const shape *s = &shapes[_i % SHAPES];
    char text[2048];
    write_kernel(text, sizeof text, s);
    run *r = run_new(text, _i / SHAPES * 2);
    run_start(r);
    for (uint32_t i = 0; i < 2; i++) {
        fill(find_dtype(s->operands), r->arguments[i].data, r->arguments[i].size);
    }
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    const uint32_t stride = s->n > 64 ? 13 : 3;
    for (uint32_t m = 0; m < s->m; m++) {
        for (uint32_t n = m % stride; n < s->n; n += stride) {
            float wanted = define(r, s, 3, m, n), got = (float)run_get(r, 2, m * s->n + n);
            if (get_bits(wanted) != get_bits(got)) {
                ck_abort_msg("(%u, %u): %a, not %a", m, n, (double)got, (double)wanted);
            }
        }
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

/* ---- parts ------------------------------------------------------------------------------------
 */

enum { WANTED_MAX = 3 * 64 * 64 };
static double wanteds[WANTED_MAX];

/* Every variant of timing and schedule gives the array that a C function says of the first: all
 * have the same inputs. */
static void check_all(const char *text, double (*wanted)(const run *r, uint32_t row, uint32_t col),
                      uint32_t rows, uint32_t cols) {
    const uint32_t count = rows * cols;
    ck_assert_uint_le(count, WANTED_MAX);
    for (int variant = 0; variant < RUN_VARIANTS; variant++) {
        run *r = run_new(text, variant);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        uint32_t last = r->argument_count - 1;
        for (uint32_t i = 0; i < count; i++) {
            wanteds[i] = variant == 0 ? wanted(r, i / cols, i % cols) : wanteds[i];
            double want = wanteds[i], got = run_get(r, last, i);
            if (got != want) {
                ck_abort_msg("variant %d: (%u, %u) is %g, not %g", variant, i / cols, i % cols, got,
                             want);
            }
        }
        ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
        run_delete(r);
    }
}

static double dot(const run *r, uint32_t row, uint32_t col, uint32_t k_count, uint32_t n_count) {
    double sum = 0;
    for (uint32_t k = 0; k < k_count; k++) {
        sum += run_get(r, 0, row * k_count + k) * run_get(r, 1, k * n_count + col);
    }
    return sum;
}

#define LOAD_BOTH                                                                                 \
    "scratch %as : smem bf16[64, 64] tile(8, 64) swizzle(128)\n scratch %bs : smem bf16[64, 64] " \
    "tile(8, 32) swizzle(64)\n store %as, (load %a)\n store %bs, (load %b)\n commit_smem\n "
#define PARAMS \
    "kernel @k(%a: in gmem bf16[64, 64], %b: in gmem bf16[64, 64], %c: out gmem f32[64, 64]) "

static double want_slices(const run *r, uint32_t row, uint32_t col) {
    return col < 16 ? 0 : col < 48 ? dot(r, row, col - 16, 64, 64) : 3;
}

/* What lies outside a slice stays. */
TEST(slices_of_an_accumulator_stand_alone) {
    check_all(PARAMS "{\n " LOAD_BOTH "scratch %acc : acc f32[64, 64]\n"
                     " wgmma %acc[:, ds(16, 32)], %as, %bs[:, ds(0, 32)]\n"
                     " acc_store %acc[:, ds(48, 16)], (broadcast 3.0 : f32[64, 16])\n"
                     " store %c[:, ds(0, 24)], (acc_load %acc[:, ds(0, 24)] wait(0))\n"
                     " store %c[:, ds(24, 40)], (load %acc[:, ds(24, 40)])\n}\n",
              want_slices, 64, 64);
}

static double want_product(const run *r, uint32_t row, uint32_t col) {
    return dot(r, row, col, 64, 64);
}

/* Steps of K inside the rows of a tile, by a value: the start address moves inside the swizzle. */
TEST(operands_are_cut_inside_their_tiles) {
    check_all(PARAMS "{\n " LOAD_BOTH "scratch %acc : acc f32[64, 64]\n for %k in 0..4 {\n"
                     "  wgmma %acc, %as[:, ds(%k * 16, 16)], %bs[ds(%k * 16, 16), :] }\n"
                     " store %c, (load %acc)\n}\n",
              want_product, 64, 64);
}

/* The same by slots of a ring that plain stores fill, threads of which one has a half each. */
TEST(threads_have_their_own_accumulators) {
    check_all(
        "kernel @k(%a: in gmem bf16[64, 64], %b: in gmem bf16[64, 64], %c: out gmem f32[64, 64]) "
        "threads(w = 2) {\n scratch %ready : barrier[1] arrivals(2)\n" LOAD_BOTH
        "scratch %acc : acc f32[64, 32]\n barrier_arrive %ready[0]\n barrier_wait %ready[0]\n"
        " %n = mul (axis_index w), 32\n wgmma_async %acc, %as, %bs[:, ds(%n, 32)]\n"
        " wgmma_wait 0\n store %c[:, ds(%n, 32)], (acc_load %acc)\n}\n",
        want_product, 64, 64);
}

static double want_scoped(const run *r, uint32_t row, uint32_t col) {
    return dot(r, row, col, 64, 64) * 2;
}

/* Zero at each entry, in each thread by itself. */
TEST(scoped_accumulators_begin_at_zero) {
    check_all(PARAMS
              "threads(w = 2) {\n scratch %ready : barrier[1] arrivals(2)\n" LOAD_BOTH
              "barrier_arrive %ready[0]\n barrier_wait %ready[0]\n %n = mul (axis_index w), 32\n"
              " for %i in 0..3 + (axis_index w) {\n  scoped(%acc : acc f32[64, 32]) {\n"
              "   wgmma %acc, %as, %bs[:, ds(%n, 32)]\n   wgmma %acc, %as, %bs[:, ds(%n, 32)]\n"
              "   store %c[:, ds(%n, 32)], (load %acc)\n  }\n }\n}\n",
              want_scoped, 64, 64);
}

/* Also where all threads enter together. */
TEST(collective_scopes_have_accumulators) {
    check_all(PARAMS
              "threads(w = 2) {\n %n = mul (axis_index w), 32\n for %i in 0..2 {\n"
              "  scoped(%as : smem bf16[64, 64] tile(8, 64) swizzle(128), %bs : smem bf16[64, 64] "
              "tile(8, 32) swizzle(64), %ready : barrier[1] arrivals(2), %acc : acc f32[64, 32]) "
              "collective {\n   if (eq %n, 0) { store %as, (load %a) } else { store %bs, (load %b) "
              "}\n   commit_smem\n   barrier_arrive %ready[0]\n   barrier_wait %ready[0]\n"
              "   wgmma %acc, %as, %bs[:, ds(%n, 32)]\n   wgmma %acc, %as, %bs[:, ds(%n, 32)]\n"
              "   store %c[:, ds(%n, 32)], (load %acc)\n  }\n }\n}\n",
              want_scoped, 64, 64);
}

static double want_each(const run *r, uint32_t row, uint32_t col) {
    return dot(r, row % 64, col, 64, 64);
}

/* In each CTA too. */
TEST(accumulators_begin_at_zero) {
    check_all(
        "kernel @k(%a: in gmem bf16[64, 64], %b: in gmem bf16[64, 64], %c: out gmem f32[3, 64, "
        "64]) grid(g = 3) {\n " LOAD_BOTH "scratch %acc : acc f32[64, 64]\n wgmma %acc, %as, %bs\n"
        " store %c[(axis_index g)], (load %acc)\n}\n",
        want_each, 3 * 64, 64);
}

static double want_square(const run *r, uint32_t row, uint32_t col) {
    double sum = 0;
    for (uint32_t k = 0; k < 64; k++) {
        double weight = k < 16 ? 2 : 1;
        sum += weight * run_get(r, 0, row * 128 + k) * run_get(r, 0, col * 128 + k);
        sum += run_get(r, 0, k * 128 + row) * run_get(r, 0, k * 128 + col);
    }
    return sum;
}

/* One box of SMEM as a and as b, whole and in part. */
TEST(a_tile_is_both_operands) {
    check_all("kernel @k(%a: in gmem bf16[64, 128], %c: out gmem f32[64, 64]) {\n"
              " scratch %as : smem bf16[64, 64] tile(8, 64) swizzle(128)\n store %as, (load %a[:, "
              "ds(0, 64)])\n"
              " commit_smem\n scratch %acc : acc f32[64, 64]\n"
              " wgmma %acc, %as, %as.transpose(1, 0)\n"
              " wgmma %acc, %as.transpose(1, 0), %as\n"
              " wgmma %acc, %as[:, ds(0, 16)], %as.transpose(1, 0)[ds(0, 16), :]\n"
              " store %c, (load %acc)\n}\n",
              want_square, 64, 64);
}

static double want_steps(const run *r, uint32_t row, uint32_t col) {
    return 4 * dot(r, row, col, 64, 64) * (1 + 2 + 4);
}

/* The same bytes written again: by plain stores, by loads. */
TEST(operands_change_from_turn_to_turn) {
    check_all(PARAMS
              "{\n " LOAD_BOTH "scratch %acc : acc f32[64, 64]\n scratch %bar : barrier[1]\n"
              " %v = for %i in 0..3 carry(%x = (load %a)) {\n  wgmma_wait 0\n  store %as, %x\n"
              "  commit_smem\n  wgmma %acc, %as, %bs\n  wgmma %acc, %as, %bs\n"
              "  yield (mul %x, 2.0)\n }\n wgmma_wait 0\n commit_smem\n"
              " for %i in 0..14 {\n  copy_gmem_to_smem %a, %as, %bar[0]\n"
              "  barrier_wait %bar[0]\n  wgmma %acc, %as, %bs\n  wgmma_wait 0\n }\n"
              " store %c, (load %acc)\n}\n",
              want_steps, 64, 64);
}

static double want_long(const run *r, uint32_t row, uint32_t col) {
    return dot(r, row, col, 64, 64) * 300;
}

/* Far more groups than the engine keeps in flight. */
TEST(groups_without_a_wait_add_up) {
    check_all(PARAMS "{\n " LOAD_BOTH "scratch %acc : acc f32[64, 64]\n"
                     " for %i in 0..150 { wgmma_async %acc, %as, %bs\n wgmma_async %acc, (load "
                     "%a), %bs }\n store %c, (load %acc)\n}\n",
              want_long, 64, 64);
}

/* ---- NaN, stores, loads -----------------------------------------------------------------------
 */

static uint32_t get_word(const run *r, uint32_t index, size_t element) {
    uint32_t word;
    memcpy(&word, (const uint8_t *)r->arguments[index].data + 4 * element, sizeof word);
    return word;
}

/* A store and a load keep bits; a product makes one NaN of all. */
TEST_EACH(nans_become_one_in_products, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%a: in gmem bf16[64, 16], %b: in gmem bf16[16, 16], %x: in gmem "
                     "f32[64, 16], %c: out gmem f32[3, 64, 16]) {\n"
                     " scratch %as : smem bf16[64, 16] tile(8, 16) swizzle(32)\n scratch %bs : "
                     "smem bf16[16, 16] tile(8, 16) swizzle(32)\n scratch %acc : acc f32[64, 16]\n"
                     " store %as, (load %a)\n store %bs, (load %b)\n commit_smem\n"
                     " acc_store %acc, (load %x)\n store %c[0], (acc_load %acc)\n"
                     " wgmma %acc[:, ds(8, 8)], %as, %bs[:, ds(0, 8)]\n"
                     " store %c[1], (load %acc)\n acc_store %acc, (load %x)\n"
                     " store %c[2], (load %acc)\n}\n",
                     _i);
    run_start(r);
    uint32_t *x = r->arguments[2].data;
    x[3] = 0x7f800123u;
    x[12] = 0xffc45678u;
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_mem_eq(r->arguments[3].data, r->arguments[2].data, r->arguments[2].size);
    ck_assert_uint_eq(get_word(r, 3, 1024 + 3), 0x7f800123u); /* not multiplied */
    ck_assert_uint_eq(get_word(r, 3, 1024 + 12), 0x7fffffffu);
    ck_assert_mem_eq((uint8_t *)r->arguments[3].data + 2 * r->arguments[2].size,
                     r->arguments[2].data, r->arguments[2].size); /* stored again */
    run_delete(r);
}

TEST_EACH(f16_accumulators_keep_what_is_stored, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%a: in gmem f16[64, 128], %c: out gmem f16[64, 128]) {\n"
                     " scratch %acc : acc f16[64, 128]\n acc_store %acc, (load %a)\n"
                     " store %c, (load %acc)\n}\n",
                     _i);
    run_start(r);
    for (uint32_t i = 0; i < 64 * 128; i++) { /* every pattern, over eight runs of them */
        ((uint16_t *)r->arguments[0].data)[i] = (uint16_t)(i * 8 + (uint32_t)_i);
    }
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_mem_eq(r->arguments[0].data, r->arguments[1].data, r->arguments[0].size);
    run_delete(r);
}
