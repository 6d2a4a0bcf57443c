/* check_wgmma_turns.c - how many turns of a loop need registers of their own for the tensor core,
 * and why they cannot have them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/plan/wgmma_turns.h"
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#define LANE_REGISTERS 232

typedef struct turns_case {
    const char *name, *loop;
    uint32_t sets;
    grout_wgmma_turns_fault fault;
} turns_case;

#define FOR      "  for %i in 0..%n {\n"
#define FOR_P    "  %last = for %i in 0..%n carry(%p = %first) {\n"
#define LOAD     "    %a = load %x[%i]\n"
#define ASYNC    "    wgmma_async %acc, %a, %bs\n"
#define OTHER    "    wgmma_async %other, %as, %bs\n"
#define WAIT(n)  "    wgmma_wait " #n "\n"
#define NEXT     "    %next = load %x[%i]\n"
#define END      "  }\n"
#define IS(name) GROUT_WGMMA_TURNS_##name

static const turns_case cases[] = {
    /* the wait counts */
    {"a wgmma that waits for the one before", FOR LOAD "    wgmma %acc, %a, %bs\n" END, 2,
     IS(NONE)},
    {"one in flight", FOR LOAD ASYNC WAIT(1) END, 2, IS(NONE)},
    {"two in flight", FOR LOAD ASYNC WAIT(2) END, 3, IS(NONE)},
    {"three in flight", FOR LOAD ASYNC WAIT(3) END, 4, IS(NONE)},
    {"four in flight", FOR LOAD ASYNC WAIT(4) END, 5, IS(MANY)},
    {"seven in flight", FOR LOAD ASYNC WAIT(7) END, 8, IS(MANY)},
    {"waited for in its turn", FOR LOAD ASYNC WAIT(0) END, 0, IS(NONE)},
    {"waited for by a load", FOR LOAD ASYNC "    %v = load %acc\n" END, 0, IS(NONE)},
    {"no wait", FOR LOAD ASYNC END, 0, IS(UNCOVERED)},
    /* a wait in front comes after the next a has been computed */
    {"a wait in front", FOR LOAD WAIT(0) ASYNC END, 2, IS(NONE)},
    {"a wait in front that leaves one", FOR WAIT(1) LOAD ASYNC END, 3, IS(NONE)},
    /* groups of others push it out */
    {"another after it", FOR LOAD ASYNC OTHER WAIT(1) END, 0, IS(NONE)},
    {"another after it, two in flight", FOR LOAD ASYNC OTHER WAIT(2) END, 2, IS(NONE)},
    {"another after it, four in flight", FOR LOAD ASYNC OTHER WAIT(4) END, 3, IS(NONE)},
    {"two of them a turn, one of which is waited for",
     FOR LOAD "    wgmma %acc, %a, %bs\n    wgmma %other, %a, %bs\n" END, 2, IS(NONE)},
    /* blocks of the body do not count */
    {"a wait under a condition",
     FOR LOAD ASYNC "    if (gt %i, %n) {\n      wgmma_wait 0\n    }\n" END, 0, IS(UNCOVERED)},
    {"another under a condition",
     FOR LOAD ASYNC "    if (gt %i, %n) {\n      wgmma_async %other, %as, %bs\n    }\n" WAIT(1) END,
     2, IS(NONE)},
    {"under a condition",
     FOR LOAD "    if (gt %i, %n) {\n      wgmma_async %acc, %a, %bs\n    }\n" WAIT(1) END, 0,
     IS(NESTED)},
    /* carries */
    {"a carry", FOR_P "    wgmma_async %acc, %p, %bs\n" NEXT WAIT(1) "    yield %next\n" END, 3,
     IS(NONE)},
    {"a carry, two in flight",
     FOR_P "    wgmma_async %acc, %p, %bs\n" NEXT WAIT(2) "    yield %next\n" END, 4, IS(NONE)},
    {"a carry, three in flight",
     FOR_P "    wgmma_async %acc, %p, %bs\n" NEXT WAIT(3) "    yield %next\n" END, 5, IS(MANY)},
    {"made of a carry",
     FOR_P "    %a = max (min %p, 2.0), 1.0\n" ASYNC WAIT(1) NEXT "    yield %next\n" END, 3,
     IS(NONE)},
    {"added to a carry",
     FOR_P "    %a = add %p, (load %x[%i])\n" ASYNC WAIT(1) "    yield %a\n" END, 3, IS(NONE)},
    {"a carry that brings nothing to it", FOR_P LOAD ASYNC WAIT(1) "    yield (add %p, %a)\n" END,
     2, IS(NONE)},
    {"a carry of a carry",
     "  %l, %m = for %i in 0..%n carry(%p = %first, %q = %first) {\n    wgmma_async %acc, %q, "
     "%bs\n" NEXT WAIT(1) "    yield %next, %p\n" END,
     4, IS(NONE)},
    {"carries that change places",
     "  %l, %m = for %i in 0..%n carry(%p = %first, %q = %first) {\n    wgmma_async %acc, %q, "
     "%bs\n" WAIT(1) "    yield %q, %p\n" END,
     4, IS(NONE)},
    {"from around the loop", FOR "    wgmma_async %acc, %first, %bs\n" WAIT(1) END, 1, IS(NONE)},
    {"from around the loop, and no wait", FOR "    wgmma_async %acc, %first, %bs\n" END, 1,
     IS(NONE)},
    /* loops around */
    {"a loop that comes again", "  for %k in 0..3 {\n" FOR LOAD ASYNC WAIT(1) END END, 2,
     IS(AGAIN)},
    {"a loop that comes again after a wait",
     "  for %k in 0..3 {\n" FOR LOAD ASYNC WAIT(1) END "  wgmma_wait 0\n" END, 2, IS(NONE)},
    {"a loop that comes again after a wait for too few",
     "  for %k in 0..3 {\n" FOR LOAD ASYNC WAIT(1) END "  wgmma_wait 1\n" END, 2, IS(AGAIN)},
    {"a loop under a condition that comes again after a wait",
     "  for %k in 0..3 {\n  if (gt %k, %n) {\n" FOR LOAD ASYNC WAIT(1) END END
     "  wgmma_wait 0\n" END,
     2, IS(NONE)},
    {"a loop that comes again, with a wait under a condition",
     "  for %k in 0..3 {\n" FOR LOAD ASYNC WAIT(1) END
     "  if (gt %k, %n) {\n    wgmma_wait 0\n  }\n" END,
     2, IS(AGAIN)},
    {"a while",
     "  %l = while carry(%i = 0) {\n    cond (lt %i, %n)\n  } do {\n" LOAD ASYNC WAIT(
         1) "    yield (add %i, 1)\n" END,
     2, IS(WHILE)},
    /* what has no registers */
    {"a in SMEM", FOR "    wgmma_async %acc, %as, %bs\n" END, 0, IS(NONE)},
};

static bound_text bind_loop(const char *loop) {
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "kernel @k(%%x: in gmem f16[16, 64, 64], %%n: i32) {\n"
                   "  scratch %%as : smem f16[64, 64] tile(8, 64) swizzle(128)\n"
                   "  scratch %%bs : smem f16[64, 64] tile(8, 64) swizzle(128)\n"
                   "  scratch %%acc : acc f32[64, 64]\n  scratch %%other : acc f32[64, 64]\n"
                   "  %%first = load %%x[0]\n%s}\n",
                   loop);
    bound_text bound = bind_text(text, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s%s", text, get_said(bound.diags));
    return bound;
}

/* The first wgmma whose a is in registers. */
static const grout_op *find_wgmma(const grout_module *module) {
    const grout_op_id id = find_op(module, GROUT_OP_WGMMA_ASYNC, 0);
    return grout_module_get_op(module, id != 0 ? id : find_op(module, GROUT_OP_WGMMA, 0));
}

TEST_EACH(sets, COUNT_OF(cases)) {
    const turns_case *c = &cases[_i];
    bound_text text = bind_loop(c->loop);
    const grout_wgmma_turns turns =
        grout_gpu__plan_wgmma_turns(text.bound, find_wgmma(text.bound), LANE_REGISTERS);
    ck_assert_msg(turns.fault == c->fault && turns.sets == c->sets, "%s: fault %d, %u sets",
                  c->name, (int)turns.fault, turns.sets);
    free_text(&text);
}

/* Two accumulators of 32 registers, two sets of 16, and 24 for all else. */
TEST(registers_of_a_lane) {
    const uint32_t fewest = 2 * 32 + 2 * 16 + 24;
    bound_text text = bind_loop(FOR LOAD ASYNC WAIT(1) END);
    const grout_op *wgmma = find_wgmma(text.bound);
    const grout_wgmma_turns fits = grout_gpu__plan_wgmma_turns(text.bound, wgmma, fewest);
    const grout_wgmma_turns spills = grout_gpu__plan_wgmma_turns(text.bound, wgmma, fewest - 1);
    ck_assert_int_eq(fits.fault, GROUT_WGMMA_TURNS_NONE);
    ck_assert_int_eq(spills.fault, GROUT_WGMMA_TURNS_REGISTERS);
    ck_assert_uint_eq(spills.sets, 2);
    ck_assert_uint_eq(spills.registers, 16);
    ck_assert_uint_eq(spills.accumulators, 64);
    free_text(&text);
}

/* A sparse a in SMEM still has its metadata in registers: one for each two steps. */
TEST(metadata_has_sets) {
    bound_text text = bind_text("kernel @k(%p: in gmem u16[64, 4], %n: i32) {\n"
                                "  scratch %as : smem f16[64, 32] tile(8, 32) swizzle(64)\n"
                                "  scratch %bs : smem f16[64, 64] tile(8, 64) swizzle(128)\n"
                                "  scratch %acc : acc f32[64, 64]\n  for %i in 0..%n {\n"
                                "    %m = layout_cast (load %p) layout(wgmma_metadata)\n    "
                                "wgmma_sp_async %acc, %as, %bs, %m\n"
                                "    wgmma_wait 1\n  }\n}\n",
                                NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    const grout_op *wgmma =
        grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_WGMMA_SP_ASYNC, 0));
    const grout_wgmma_turns turns = grout_gpu__plan_wgmma_turns(text.bound, wgmma, LANE_REGISTERS);
    ck_assert_int_eq(turns.fault, GROUT_WGMMA_TURNS_NONE);
    ck_assert_uint_eq(turns.sets, 2);
    ck_assert_uint_ge(turns.registers, 1);
    free_text(&text);
}
