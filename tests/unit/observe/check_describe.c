/* check_describe.c - bytes and origins in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

static const char text[] =
    "kernel @k(%a: in gmem f32[8, 64], %v: in gmem i8[100]) grid(x = 4, y = 3) threads(p = 2, q = "
    "2)\n{\n"
    " scratch %s : smem f32[2, 8, 64]\n scratch %t : smem f32[16, 64] tile(8, 32) swizzle(128)\n"
    " scratch %u : smem f32[8, 16] transpose(1, 0)\n scratch %b : barrier[4]\n"
    " for %i in 0..4 {\n  for %j in 0..4 { barrier_arrive %b[%j] }\n }\n}\n";

static const struct bytes_case {
    uint32_t object;
    int64_t offset, length;
    const char *expected;
} bytes_cases[] = {
    {1, 0, 4, "%a[0, 0]"},          {1, 0, 256, "%a[0, 0:64]"},
    {1, 256, 512, "%a[1:3, 0:64]"}, {1, 260, 8, "%a[1, 1:3]"},
    {1, 252, 8, "%a[0:2, 0:64]"},   {1, 1, 1, "%a[0, 0]"},
    {2, 7, 3, "%v[7:10]"},          {3, 2048, 2048, "%s[1, 0:8, 0:64]"},
    {4, 0, 1024, "%t[0:8, 0:32]"},  {4, 1024, 1024, "%t[0:8, 32:64]"},
    {4, 128, 16, "%t[1, 4:8]"},     {5, 0, 32, "%u[0:8, 0]"},
    {5, 32, 4, "%u[0, 1]"},         {6, 8, 8, "%b[1]"},
};

TEST_EACH(bytes, COUNT_OF(bytes_cases)) {
    const struct bytes_case *c = &bytes_cases[_i];
    run *r = run_new(text, 0);
    grout_text out = {0};
    run_start(r);
    grout_describe_bytes(r->module, c->object, c->offset, c->length, &out);
    ck_assert_str_eq(out.data, c->expected);
    grout_text_free(&out);
    run_delete(r);
}

TEST(origins) {
    run *r = run_new(text, 0);
    grout_text out = {0};
    run_start(r);
    grout_op_id arrive = 0;
    for (uint32_t i = 1; i < grout_module_get_op_count(r->module); i++) {
        arrive = grout_module_get_op(r->module, i)->opcode == GROUT_OP_BARRIER_ARRIVE ? i : arrive;
    }
    grout_origin origin = {.op = arrive, .cta = 7, .thread = 3, .loop_depth = 2, .loops = {5, 6}};
    grout_describe_origin(r->module, 1, &origin, &out);
    ck_assert_str_eq(out.data, "CTA (x=2, y=1), thread (p=1, q=1), %i=5, %j=6");
    grout_text_free(&out);
    run_delete(r);
}

/* A while has no index: its turns are counted. Both of its bodies are inside it. */
TEST(origins_in_a_while) {
    run *r = run_new("kernel @k() { scratch %b : barrier[1]\n for %i in 0..3 {\n  while {\n   for "
                     "%j in 0..2 { barrier_arrive %b[0] }\n   cond true } do { barrier_arrive "
                     "%b[0] } } }",
                     0);
    static const char *const expected[] = {
        "CTA 0, thread 0, %i=1, turn 8 of the while at line 3, %j=0",
        "CTA 0, thread 0, %i=1, turn 8 of the while at line 3"};
    uint32_t found = 0;
    run_start(r);
    for (uint32_t i = 1; i < grout_module_get_op_count(r->module); i++) {
        if (found < 2 && grout_module_get_op(r->module, i)->opcode == GROUT_OP_BARRIER_ARRIVE) {
            grout_text out = {0};
            grout_origin origin = {.op = i, .loop_depth = found == 0 ? 3 : 2, .loops = {1, 8}};
            grout_describe_origin(r->module, 1, &origin, &out);
            ck_assert_str_eq(out.data, expected[found++]);
            grout_text_free(&out);
        }
    }
    ck_assert_uint_eq(found, 2);
    run_delete(r);
}

TEST(origin_without_axes) {
    run *r = run_new("kernel @k() { scratch %b : barrier[1]\n barrier_arrive %b[0] }", 0);
    grout_text out = {0};
    run_start(r);
    grout_origin origin = {.op = 1};
    grout_describe_origin(r->module, 1, &origin, &out);
    ck_assert_str_eq(out.data, "CTA 0, thread 0");
    grout_text_free(&out);
    run_delete(r);
}

/* CTA, thread and warp are named only where there are several of them. */
typedef struct actor_case {
    const char *head, *expected, *of_warp;
} actor_case;

static const actor_case actor_cases[] = {
    {"", "the thread, %i=5", "warp 1, %i=5"},
    {"threads(wg = 2)", "thread wg=1, %i=5", "thread wg=1, warp 1, %i=5"},
    {"grid(x = 3)", "CTA (x=2), %i=5", "CTA (x=2), warp 1, %i=5"},
    {"grid(x = 3) threads(wg = 2)", "CTA (x=2), thread wg=1, %i=5",
     "CTA (x=2), thread wg=1, warp 1, %i=5"}};

TEST_EACH(actors, COUNT_OF(actor_cases)) {
    const actor_case *c = &actor_cases[_i];
    grout_text source = {0}, out = {0};
    grout_text_add(&source,
                   "kernel @k() %s { scratch %%b : barrier[1]\n for %%i in 0..3 { barrier_arrive "
                   "%%b[0] } }",
                   c->head);
    run *r = run_new(source.data, 0);
    run_start(r);
    grout_op_id arrive = 0;
    for (uint32_t i = 1; i < grout_module_get_op_count(r->module); i++) {
        arrive = grout_module_get_op(r->module, i)->opcode == GROUT_OP_BARRIER_ARRIVE ? i : arrive;
    }
    bool has_threads = strstr(c->head, "threads") != NULL, has_ctas = strstr(c->head, "grid");
    grout_origin origin = {.op = arrive,
                           .cta = has_ctas ? 2 : 0,
                           .thread = has_threads ? 1 : 0,
                           .loop_depth = 1,
                           .loops = {5}};
    grout_describe_actor(r->module, 1, &origin, &out);
    ck_assert_str_eq(out.data, c->expected);
    grout_text_free(&out);
    origin.warp = 2;
    grout_describe_actor(r->module, 1, &origin, &out);
    ck_assert_str_eq(out.data, c->of_warp);
    grout_text_free(&out);
    grout_text_free(&source);
    run_delete(r);
}
