/* check_smem_plan.c - where SMEM objects lie: alignment, sharing of scopes, the pool of barriers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

static int64_t get_offset(const bound_text *text, const char *name) {
    return grout_object_get_offset(text->bound, find_object(text->bound, name));
}

static bound_text bind_body(const char *body) {
    char source[2048];
    snprintf(source, sizeof source, "kernel @k(%%a: out gmem f32[1]) {\n%s}\n", body);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    return text;
}

TEST(nothing) {
    bound_text text = bind_body("store %a[0], 1.0\n");
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_SMEM), 0);
    free_text(&text);
}

/* Arrays at multiples of 1024, in order, then barriers in 8 bytes each. */
TEST(scratch) {
    bound_text text = bind_body("scratch %x : smem u8[1]\nscratch %bar : barrier[3]\n"
                                "scratch %y : smem f32[300]\nscratch %z : smem bf16[2]\n"
                                "scratch %last : barrier[1]\nstore %a[0], 1.0\n");
    ck_assert_int_eq(get_offset(&text, "x"), 0);
    ck_assert_int_eq(get_offset(&text, "y"), 1024);
    ck_assert_int_eq(get_offset(&text, "z"), 3072);
    ck_assert_int_eq(get_offset(&text, "bar"), 3080);
    ck_assert_int_eq(get_offset(&text, "last"), 3104);
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_SMEM), 3112);
    free_text(&text);
}

/* Scopes inside each other add up, scopes after each other share, scratch lies below all of them.
 */
TEST(scopes) {
    bound_text text =
        bind_body("scoped(%x : smem u8[2000]) {\n"
                  "  scoped(%y : smem u8[100]) {\n  }\n"
                  "  if true {\n    scoped(%z : smem u8[5000]) {\n    }\n  }\n"
                  "}\n"
                  "for %i in 0..2 {\n  scoped(%v : smem u8[10], %w : smem u8[10]) {\n  }\n}\n"
                  "scratch %s : smem u8[1]\nstore %a[0], 1.0\n");
    ck_assert_int_eq(get_offset(&text, "s"), 0);
    ck_assert_int_eq(get_offset(&text, "x"), 1024);
    ck_assert_int_eq(get_offset(&text, "y"), 3072);
    ck_assert_int_eq(get_offset(&text, "z"), 3072);
    ck_assert_int_eq(get_offset(&text, "v"), 1024);
    ck_assert_int_eq(get_offset(&text, "w"), 2048);
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_SMEM), 3072 + 5000);
    free_text(&text);
}

/* An alias has its place in the array whose bytes it has, and takes none of its own. */
TEST(aliases) {
    bound_text text = bind_body("scratch %x : smem u8[1]\nscratch %y : smem u8[4096]\n"
                                "scratch %p : smem f32[32] alias(%y, 1024)\n"
                                "scratch %q : smem u8[64] alias(%p)\n"
                                "scratch %z : smem u8[1]\n"
                                "scoped(%v : smem u8[10], %w : smem u8[10] alias(%q)) {\n}\n"
                                "store %a[0], 1.0\n");
    ck_assert_int_eq(get_offset(&text, "y"), 1024);
    ck_assert_int_eq(get_offset(&text, "p"), 2048);
    ck_assert_int_eq(get_offset(&text, "q"), 2048);
    ck_assert_int_eq(get_offset(&text, "w"), 2048);
    ck_assert_int_eq(get_offset(&text, "z"), 5120);
    ck_assert_int_eq(get_offset(&text, "v"), 6144);
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_SMEM), 6160);
    const grout_object_id y = find_object(text.bound, "y"), x = find_object(text.bound, "x");
    const grout_object_id w = find_object(text.bound, "w");
    ck_assert_uint_eq(grout_object_get_root(text.bound, w), y);
    ck_assert_uint_eq(grout_object_get_root(text.bound, y), y);
    ck_assert(grout_objects_share_bytes(text.bound, w, y));
    ck_assert(!grout_objects_share_bytes(text.bound, x, y));
    free_text(&text);
}

/* Barriers are handed on among scopes after each other, if number and arrivals are equal. */
TEST(barrier_pool) {
    bound_text text = bind_body("scratch %s : barrier[2]\n"
                                "scoped(%x : barrier[2]) {\n  scoped(%y : barrier[2]) {\n  }\n}\n"
                                "scoped(%z : barrier[2]) {\n}\n"
                                "scoped(%u : barrier[2] arrivals(3), %v : barrier[1]) {\n}\n"
                                "scoped(%w : barrier[1], %t : barrier[2] arrivals(3)) {\n}\n"
                                "store %a[0], 1.0\n");
    ck_assert_int_eq(get_offset(&text, "s"), 0);
    ck_assert_int_eq(get_offset(&text, "x"), 16);
    ck_assert_int_eq(get_offset(&text, "y"), 32);
    ck_assert_int_eq(get_offset(&text, "z"), 16);
    ck_assert_int_eq(get_offset(&text, "u"), 48);
    ck_assert_int_eq(get_offset(&text, "v"), 64);
    ck_assert_int_eq(get_offset(&text, "w"), 64);
    ck_assert_int_eq(get_offset(&text, "t"), 48);
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_SMEM), 72);
    free_text(&text);
}

/* Accumulators are registers; both bodies of a while may have scopes. */
TEST(accumulators_and_whiles) {
    bound_text text =
        bind_body("scratch %acc : acc f32[64, 256]\nscratch %x : smem u8[100]\n"
                  "while {\n  scoped(%y : smem u8[10], %other : acc f16[64, 8]) {\n  }\n"
                  "  cond true\n} do {\n  scoped(%z : smem u8[20], %p : barrier[1]) {\n  }\n}\n"
                  "store %a[0], 1.0\n");
    ck_assert_int_eq(get_offset(&text, "acc"), -1);
    ck_assert_int_eq(get_offset(&text, "other"), -1);
    ck_assert_int_eq(get_offset(&text, "x"), 0);
    ck_assert_int_eq(get_offset(&text, "y"), 1024);
    ck_assert_int_eq(get_offset(&text, "z"), 1024);
    ck_assert_int_eq(get_offset(&text, "p"), 1048);
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_SMEM), 1056);
    free_text(&text);
}

/* Each kernel of a module has a plan of its own. */
TEST(two_kernels) {
    bound_text text =
        bind_text("kernel @one() {\n  scratch %x : smem u8[100]\n  scratch %p : barrier[1]\n}\n"
                  "kernel @two() {\n  scratch %y : smem u8[200]\n  scratch %q : barrier[1]\n}\n",
                  NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    ck_assert_int_eq(get_offset(&text, "y"), 0);
    ck_assert_int_eq(get_offset(&text, "p"), 104);
    ck_assert_int_eq(get_offset(&text, "q"), 200);
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_SMEM), 112);
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 2, GROUT_SPACE_SMEM), 208);
    free_text(&text);
}

/* The budget is 232448 bytes: at the limit, and one byte past it. */
TEST_EACH(budget, 2) {
    char body[128];
    int bytes = _i == 0 ? 232448 : 232449;
    snprintf(body, sizeof body, "scratch %%x : smem u8[%d]\nstore %%x[0], 1\nstore %%a[0], 1.0\n",
             bytes);
    bound_text text = bind_body(body);
    ck_assert(grout_verify(text.bound, GROUT_ARCH_SM_90A, text.diags) == (_i == 0));
    ck_assert_int_eq(get_code(text.diags), _i == 0 ? GROUT_DIAG_NONE : GROUT_DIAG_SMEM_BUDGET);
    ck_assert(grout_verify(text.bound, GROUT_ARCH_ANY, text.diags));
    free_text(&text);
}
