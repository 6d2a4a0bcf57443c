/* check_verify.c - limits of every rule from both sides, legal kernels that stay silent, and that
 * every code of the parser and the verifier has a golden.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#include <dirent.h>

typedef struct verify_case {
    const char *header; /* after 'kernel @k(' */
    const char *body;
    grout_diag_code code; /* NONE: nothing is said */
    bool is_for_hopper_only;
} verify_case;

#define AB    "%a: in gmem f32[64, 64], %b: out gmem f32[64, 64])"
#define TILE  "scratch %t : smem f32[32, 32]\n"
#define LOAD  TILE "scratch %bar : barrier[2]\n"
#define BOX   GROUT_DIAG_BAD_INDEX
#define SCOPE GROUT_DIAG_COLLECTIVE_SCOPE
/* An accumulator that is used in a scope of its own. */
#define ACC(type) "scoped(%acc : acc " type ") {\n acc_store %acc, (broadcast 0.0 : " type ")\n }"
/* Thread 0 gives registers back, the others take them. */
#define POOL(few, many)                                                               \
    "if (eq (axis_index wg), 0) {\n set_max_registers " few " decrease\n } else {\n " \
    "set_max_registers " many " increase\n }"
#define RAISE                                                                    \
    "if (eq (axis_index wg), 0) {\n set_max_registers 40 decrease\n } else {\n " \
    "set_max_registers 232 increase\n "

static const verify_case verify_cases[] = {
    /* launch */
    {"%b: out gmem f32[1]) threads(t = 8)", "store %b[0], 1.0", 0, false},
    {"%b: out gmem f32[1]) threads(t = 9)", "store %b[0], 1.0", GROUT_DIAG_BAD_LAUNCH, false},
    {"%b: out gmem f32[1]) threads(t = 2, u = 4)", "store %b[0], 1.0", 0, false},
    {"%b: out gmem f32[1]) threads(t = 3, u = 3)", "store %b[0], 1.0", GROUT_DIAG_BAD_LAUNCH,
     false},
    {"%b: out gmem f32[1]) threads(t = 0)", "store %b[0], 1.0", GROUT_DIAG_BAD_LAUNCH, false},
    {"%b: out gmem f32[1]) grid(x = 2147483647)", "store %b[0], 1.0", 0, false},
    {"%b: out gmem f32[1]) grid(x = 2147483648)", "store %b[0], 1.0", GROUT_DIAG_BAD_LAUNCH, false},
    {"%b: out gmem f32[1]) grid(x = 65536, y = 32768)", "store %b[0], 1.0", GROUT_DIAG_BAD_LAUNCH,
     false},
    {"%b: out gmem f32[1]) grid(x = 65536, y = 32767)", "store %b[0], 1.0", 0, false},
    {"%b: out gmem f32[1]) grid(x = 1 << 40, y = 1 << 40)", "store %b[0], 1.0",
     GROUT_DIAG_BAD_LAUNCH, false},
    {"%b: out gmem f32[1]) grid(x = -1)", "store %b[0], 1.0", GROUT_DIAG_BAD_LAUNCH, false},
    /* barriers */
    {AB, "scratch %p : barrier[1] arrivals(1048575)\n barrier_arrive %p[0]", 0, false},
    {AB, "scratch %p : barrier[1] arrivals(1048576)\n barrier_arrive %p[0]",
     GROUT_DIAG_BARRIER_ARRIVALS, false},
    {AB, "scratch %p : barrier[1] arrivals(0)\n barrier_arrive %p[0]", GROUT_DIAG_BARRIER_ARRIVALS,
     false},
    {AB, "scoped(%p : barrier[1] arrivals(-1)) {\n barrier_arrive %p[0]\n }",
     GROUT_DIAG_BARRIER_ARRIVALS, false},
    {AB, "scratch %p : barrier[1] arrivals(2)\n barrier_arrive %p[0] count(2)", 0, false},
    {AB, "scratch %p : barrier[1]\n barrier_arrive %p[0] count(0)", GROUT_DIAG_BARRIER_ARRIVALS,
     false},
    {AB, "scratch %p : barrier[2]\n barrier_arrive %p[1]", 0, false},
    {AB, "scratch %p : barrier[2]\n barrier_arrive %p[2]", BOX, false},
    {AB, "wait_smem_to_gmem 0", 0, false},
    {AB, "wait_smem_to_gmem 1000", 0, false},
    {AB, "wait_smem_to_gmem -1 read_only", GROUT_DIAG_BAD_ATTRIBUTE, false},
    /* indices that are known */
    {AB, "store %b[63, 63], (load %a[63, 63])", 0, false},
    {AB, "store %b[63, 63], (load %a[63, 64])", BOX, false},
    {AB, "store %b[-1, 63], (load %a[63, 63])", BOX, false},
    {AB, "store %b[ds(32, 32)], (load %a[ds(32, 32)])", 0, false},
    {AB, "store %b[ds(32, 32)], (load %a[ds(33, 32)])", BOX, false},
    {AB, "for %i in 0..4 {\n store %b[ds(%i, 65), 0], (broadcast 1.0 : f32[65])\n }", BOX, false},
    {AB, "for %i in 0..4 {\n store %b[ds(%i, 64), 0], (load %a[:, 1])\n }", 0, false},
    {AB, "store %b.transpose(1, 0)[63], (load %a.transpose(1, 0)[64])", BOX, false},
    {AB, "store %b[ds(8, 8)][7], (load %a[ds(8, 8)][7])", 0, false},
    {AB, "store %b[ds(8, 8)][7], (load %a[ds(8, 8)][8])", BOX, false},
    /* TMA boxes: they may hang over the end */
    {AB, LOAD "copy_gmem_to_smem %a[ds(48, 32), ds(48, 32)], %t, %bar[0]\n barrier_wait %bar[0]", 0,
     false},
    {AB, LOAD "copy_gmem_to_smem %a[ds(-8, 32), ds(-4, 32)], %t, %bar[0]\n barrier_wait %bar[0]", 0,
     false},
    {AB, LOAD "copy_gmem_to_smem %a[ds(0, 32), ds(2, 32)], %t, %bar[0]\n barrier_wait %bar[0]", BOX,
     false},
    {AB, LOAD "copy_gmem_to_smem %a[ds(3, 32), ds(4, 32)], %t, %bar[0]\n barrier_wait %bar[0]", 0,
     false},
    {AB, TILE "copy_smem_to_gmem %t, %b[ds(48, 32), ds(48, 32)]\n wait_smem_to_gmem 0", 0, false},
    {AB, TILE "copy_smem_to_gmem %t, %b[ds(0, 32), ds(-4, 32)]\n wait_smem_to_gmem 0", BOX, false},
    {AB, TILE "copy_smem_to_gmem %t, %a[ds(0, 32), ds(0, 32)]\n wait_smem_to_gmem 0",
     GROUT_DIAG_BAD_DIRECTION, false},
    {AB, LOAD "copy_gmem_to_smem %t, %a[ds(0, 32), ds(0, 32)], %bar[0]\n barrier_wait %bar[0]",
     GROUT_DIAG_BAD_SPACE, false},
    {AB, LOAD "copy_gmem_to_smem %b[ds(0, 32), ds(0, 32)], %t, %bar[0]\n barrier_wait %bar[0]", 0,
     false},
    /* what only hardware asks of a box */
    {"%a: in gmem f32[64, 7], %b: out gmem f32[64, 7])",
     "scratch %t : smem f32[8, 4]\n scratch %bar : barrier[1]\n"
     "copy_gmem_to_smem %a[ds(1, 8), ds(0, 4)], %t, %bar[0]\n barrier_wait %bar[0]",
     GROUT_DIAG_TMA_PITCH, true},
    {AB,
     "scratch %t : smem f32[2]\n scratch %bar : barrier[1]\n"
     "copy_gmem_to_smem %a[5, ds(3, 2)], %t, %bar[0]\n barrier_wait %bar[0]",
     BOX, true},
    {AB,
     "scratch %t : smem f32[2]\n scratch %bar : barrier[1]\n"
     "copy_gmem_to_smem %a[5, ds(4, 2)], %t, %bar[0]\n barrier_wait %bar[0]",
     GROUT_DIAG_TMA_INNER_BYTES, true},
    {AB, "scratch %t : smem f32[2]\n copy_smem_to_gmem %t, %b[5, ds(-1, 2)]\n wait_smem_to_gmem 0",
     BOX, false},
    {"%a: in gmem f32[600], %b: out gmem f32[600])",
     "scratch %t : smem f32[600]\n scratch %bar : barrier[1]\n"
     "copy_gmem_to_smem %a, %t, %bar[0]\n barrier_wait %bar[0]",
     GROUT_DIAG_TMA_BOX, true},
    /* tiles */
    {AB,
     "scratch %t : smem f32[64, 64] tile(8, 32) swizzle(128)\n store %t[ds(8, 16), ds(32, 32)], "
     "(load %a[ds(0, 16), ds(0, 32)])\n store %b, (load %t)",
     0, false},
    {AB,
     "scratch %t : smem f32[64, 64] tile(8, 32) swizzle(128)\n store %t[ds(8, 16), ds(16, 32)], "
     "(load %a[ds(0, 16), ds(0, 32)])\n store %b, (load %t)",
     BOX, false},
    {AB,
     "scratch %t : smem f32[64, 64] tile(8, 32) swizzle(128)\n store %t[5], (load %a[5])\n store "
     "%b, (load %t)",
     0, false},
    {AB,
     "scratch %t : smem f32[64, 64] tile(8, 32) transpose(1, 0)\n store %t[ds(32, 32), ds(8, 8)], "
     "(load %a[ds(0, 32), ds(0, 8)])\n store %b, (load %t)",
     0, false},
    {AB,
     "scratch %t : smem f32[64, 64] tile(8, 32) transpose(1, 0)\n store %t[ds(8, 8)], (load "
     "%a[ds(0, 8)])\n store %b, (load %t)",
     BOX, false},
    /* attributes and formats */
    {AB, "for %i in 0..4 unroll(256) {\n store %b[%i], (load %a[%i])\n }", 0, false},
    {AB, "for %i in 0..4 unroll(257) {\n store %b[%i], (load %a[%i])\n }", GROUT_DIAG_BAD_ATTRIBUTE,
     false},
    {AB, "for %i in 0..4 step 1 {\n store %b[%i], (load %a[%i])\n }", 0, false},
    {AB, "for %i in 0..4 step 0 {\n store %b[%i], (load %a[%i])\n }", GROUT_DIAG_BAD_ATTRIBUTE,
     false},
    {AB, "store %b, (cast (iota dim(1) : i32[64, 64]) : f32)", 0, false},
    {AB, "store %b, (cast (iota dim(-1) : i32[64, 64]) : f32)", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "store %b, (broadcast (reduce_sum (load %a) dim(1)) dim(0) : f32[64, 64])", 0, false},
    {AB, "store %b, (layout_cast (load %a) wg_strided)", 0, false},
    {AB, "store %b, (layout_cast (load %a))", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "store %b, (layout_cast (load %a) wgmma wgmma_row)", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "set_max_registers 40 decrease", 0, false},
    {AB, "set_max_registers 40", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "set_max_registers 40 decrease increase", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "store %b, (exp (load %a) approx)", 0, false},
    {AB, "%v = exp 1.0", GROUT_DIAG_UNUSED_RESULT, false},
    {AB, "%v = reduce_sum (load %a)", GROUT_DIAG_UNUSED_RESULT, false},
    {AB, "debug_print \"nothing\"", 0, false},
    {AB, "debug_print \"{}{}\", 1, 2", 0, false},
    {AB, "debug_print \"{}\"", GROUT_DIAG_BAD_FORMAT, false},
    {AB, "debug_print \"}{\", 1", GROUT_DIAG_BAD_FORMAT, false},
    {AB, "debug_print \"{\"", GROUT_DIAG_BAD_FORMAT, false},
    {AB, "%v = load %a", GROUT_DIAG_UNUSED_RESULT, false},
    {"%a: in gmem f64[4], %b: out gmem f8e5m2[4])", "store %b, (cast (load %a) : f8e5m2)",
     GROUT_DIAG_UNSUPPORTED_ARCH, true},
    {"%a: in gmem f64[4], %b: out gmem bf16[4])", "store %b, (cast (load %a) : bf16)", 0, false},
    {"%a: in gmem i64[4], %b: out gmem f8e4m3[4])", "store %b, (cast (load %a) : f8e4m3)", 0,
     false},
    /* scopes */
    {AB, "scoped(%t : smem f32[64, 64]) {\n store %t, (load %a)\n store %b, (load %t)\n }", 0,
     false},
    {AB " threads(wg = 2)", "scoped(%p : barrier[1]) {\n barrier_arrive %p[0]\n }", SCOPE, false},
    {AB " threads(wg = 2)", "scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0]\n }", 0,
     false},
    {AB " threads(wg = 1)",
     "if (eq (axis_index wg), 0) {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0]\n "
     "}\n }",
     0, false},
    {AB " grid(g = 2) threads(wg = 2)",
     "if (eq (axis_index g), 0) {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0]\n "
     "}\n }",
     0, false},
    {AB " threads(wg = 2)",
     "if (eq (axis_index wg), 0) {\n for %i in 0..2 {\n scoped(%p : barrier[1]) collective {\n "
     "barrier_arrive %p[0]\n }\n }\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "for %i in (axis_index wg)..2 {\n scoped(%p : barrier[1]) collective {\n barrier_arrive "
     "%p[0]\n }\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "for %i in 0..2 {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[%i * 0]\n }\n }",
     0, false},
    {AB " threads(wg = 2)",
     "%w = axis_index wg\n if (lt (load %a[%w, 0]), 1.0) {\n scoped(%p : barrier[1]) collective "
     "{\n barrier_arrive %p[0]\n }\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "%w = axis_index wg\n %z = if (eq %w, 0) {\n yield 1\n } else {\n yield 2\n }\n for %i in "
     "0..%z {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0]\n }\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "%w = axis_index wg\n %x, %y = for %i in 0..4 carry(%c = 0, %d = 0) {\n yield %d, %w\n }\n if "
     "(eq %x, 0) {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[%y * 0]\n }\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "while {\n cond (lt (axis_index wg), 1)\n } do {\n scoped(%p : barrier[1]) collective {\n "
     "barrier_arrive %p[0]\n }\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "while {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0]\n }\n "
     "cond (lt (axis_index wg), 1)\n } do {\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "while carry(%c = 0) {\n cond (lt %c, 4)\n } do {\n scoped(%p : barrier[1]) collective {\n "
     "barrier_arrive %p[0]\n }\n yield (add %c, 1)\n }",
     0, false},
    {AB " threads(wg = 2)",
     "while carry(%c = 0) {\n cond (lt %c, 4)\n } do {\n scoped(%p : barrier[1]) collective {\n "
     "barrier_arrive %p[0]\n }\n yield (add %c, (axis_index wg))\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "%x = while carry(%c = (axis_index wg)) {\n cond false\n } do {\n yield %c\n }\n "
     "if (eq %x, 0) {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0]\n }\n }",
     SCOPE, false},
    {AB " threads(wg = 2)",
     "%x = while carry(%c = 0) {\n %d = add %c, 1\n cond (lt %d, 4)\n } do {\n yield %d\n }\n "
     "if (eq %x, 0) {\n scoped(%p : barrier[1]) collective {\n barrier_arrive %p[0]\n }\n }",
     0, false},
    {AB " threads(wg = 2)",
     "if (eq (axis_index wg), 0) {\n scoped(%acc : acc f32[64, 8]) {\n "
     "store %b[:, ds(0, 8)], (load %acc)\n }\n }",
     0, false},
    {AB " threads(wg = 2)",
     "scoped(%acc : acc f32[64, 8], %p : barrier[1]) {\n store %b[:, ds(0, 8)], (load %acc)\n "
     "barrier_arrive %p[0]\n }",
     SCOPE, false},
    /* accumulators and the registers of a lane */
    {AB, ACC("f32[64, 456]"), 0, false},
    {AB, ACC("f32[64, 464]"), GROUT_DIAG_REGISTER_BUDGET, true},
    {AB, ACC("f16[128, 456]"), 0, false},
    {AB, ACC("f16[128, 464]"), GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 2)", ACC("f32[64, 456]"), 0, false},
    {AB " threads(wg = 3)", ACC("f32[64, 280]"), 0, false},
    {AB " threads(wg = 3)", ACC("f32[64, 288]"), GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 4)", ACC("f32[64, 200]"), 0, false},
    {AB " threads(wg = 4)", ACC("f32[64, 208]"), GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 8)", ACC("f32[64, 72]"), 0, false},
    {AB " threads(wg = 8)", ACC("f32[64, 80]"), GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 3)", RAISE ACC("f32[64, 408]") "\n }", 0, false},
    {AB " threads(wg = 3)", RAISE ACC("f32[64, 416]") "\n }", GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 3)",
     "if (lt (load %a[0, 0]), 1.0) {\n set_max_registers 232 increase\n }\n " ACC("f32[64, 456]"),
     0, false},
    {AB, ACC("f32[64, 456]") "\n " ACC("f32[64, 456]"), 0, false},
    {AB,
     "scratch %s : acc f32[64, 8]\n " ACC(
         "f32[64, 448]") "\n acc_store %s, (broadcast 0.0 : f32[64, "
                         "8])",
     0, false},
    {AB,
     "scratch %s : acc f32[64, 16]\n " ACC("f32[64, 448]") "\n acc_store %s, (broadcast 0.0 : "
                                                           "f32[64, 16])",
     GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 2)",
     "scratch %p : acc f32[64, 448]\n scratch %q : acc f32[64, 448]\n "
     "%w = axis_index wg\n if (and (ge %w, 1), (lt (load %a[0, 0]), 1.0)) {\n "
     "acc_store %p, (broadcast 0.0 : f32[64, 448])\n } else {\n if (eq (mul %w, 2), 0) {\n "
     "acc_store %q, (broadcast 0.0 : f32[64, 448])\n }\n }",
     0, false},
    {AB, "scratch %p : acc f32[64, 8]\n acc_store %p, (broadcast 0.0 : f32[64, 8])", 0, false},
    {AB, "scratch %p : acc f32[32, 8]\n acc_store %p, (broadcast 0.0 : f32[32, 8])",
     GROUT_DIAG_BAD_ACCUMULATOR, false},
    {AB, "scratch %p : acc f32[64, 4]\n acc_store %p, (broadcast 0.0 : f32[64, 4])",
     GROUT_DIAG_BAD_ACCUMULATOR, false},
    {AB, "scratch %p : acc u32[64, 8]\n acc_store %p, (broadcast 0 : u32[64, 8])",
     GROUT_DIAG_BAD_ACCUMULATOR, false},
    {AB, "scratch %p : acc f32[64, 64]\n store %b[:, ds(0, 8)], (load %p[:, ds(56, 8)])", 0, false},
    {AB, "scratch %p : acc f32[64, 64]\n store %b[:, ds(0, 8)], (load %p[:, ds(57, 8)])",
     GROUT_DIAG_BAD_INDEX, false},
    {AB, "scratch %p : acc f32[64, 64]\n store %b[0, ds(0, 64)], (load %p[0])",
     GROUT_DIAG_BAD_ACCUMULATOR, false},
    {AB, "scratch %p : acc f32[64, 64]\n store %b, (load %p.transpose(1, 0))",
     GROUT_DIAG_BAD_ACCUMULATOR, false},
    /* set_max_registers and the waits for groups */
    {AB, "set_max_registers 24 decrease\n set_max_registers 256 increase", 0, false},
    {AB, "set_max_registers 16 decrease", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "set_max_registers 264 increase", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "set_max_registers 44 decrease", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB " threads(wg = 3)", "set_max_registers 168 increase", 0, false},
    {AB " threads(wg = 3)", "set_max_registers 160 increase", GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 3)", "set_max_registers 168 decrease", 0, false},
    {AB " threads(wg = 3)", "set_max_registers 176 decrease", GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 3)", "set_max_registers 176 increase", GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 3)", POOL("24", "240"), 0, false},
    {AB " threads(wg = 3)", POOL("32", "240"), GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 4)", POOL("32", "160"), 0, false},
    {AB " threads(wg = 4)", POOL("32", "168"), GROUT_DIAG_REGISTER_BUDGET, true},
    {AB " threads(wg = 3)",
     "for %i in 0..1 {\n set_max_registers 240 increase\n set_max_registers 24 decrease\n }", 0,
     false},
    {AB, "wgmma_wait 0\n wgmma_wait 7", 0, false},
    {AB, "wgmma_wait 8", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "wgmma_wait -1", GROUT_DIAG_BAD_ATTRIBUTE, false},
    {AB, "scratch %p : acc f32[64, 64]\n store %b, (acc_load %p wait(7))", 0, false},
    {AB, "scratch %p : acc f32[64, 64]\n store %b, (acc_load %p wait(8))", GROUT_DIAG_BAD_ATTRIBUTE,
     false},
    {AB, "scratch %p : acc f32[64, 64]\n store %b, (acc_load %p wait(-1))",
     GROUT_DIAG_BAD_ATTRIBUTE, false},
    /* spaces */
    {AB, "scratch %p : acc f32[64, 64]\n acc_store %p, (load %a)", 0, false},
    {AB, "scratch %p : acc f32[64, 64]\n store %p, (load %a)", GROUT_DIAG_BAD_SPACE, false},
    {AB, "acc_store %b, (load %a)", GROUT_DIAG_BAD_SPACE, false},
    {AB, "store %b, (acc_load %a)", GROUT_DIAG_BAD_SPACE, false},
    {AB, "scratch %p : acc f32[64, 64]\n copy_smem_to_gmem %p, %b", GROUT_DIAG_BAD_SPACE, false},
    {AB, "for %i in 0..2 {\n scratch %t : smem f32[4]\n store %t[%i], 1.0\n }",
     GROUT_DIAG_SCRATCH_PLACE, false},
    /* init: (a) what starts without values */
    {"%x: in gmem i32[4] init(zeros))", "", 0, false},
    {"%x: inout gmem i32[4] init(zeros))", "", 0, false},
    {"%x: i32 init(3))", "", 0, false},
    {"%x: out gmem i32[4] init(zeros))", "store %x, (broadcast 0 : i32[4])", GROUT_DIAG_BAD_INIT,
     false},
    {AB, "scratch %p : gmem f32[4] init(ones)\n store %p[0], 1.0", 0, false},
    {AB, "scratch %p : smem f32[4] init(ones)\n store %p[0], 1.0", GROUT_DIAG_BAD_INIT, false},
    {AB, "scratch %p : acc f32[64, 64] init(ones)\n acc_store %p, (load %a)", GROUT_DIAG_BAD_INIT,
     false},
    {AB, "scratch %p : semaphore[1] init(1)\n semaphore_signal %p[0], 1", GROUT_DIAG_BAD_INIT,
     false},
    {AB, "scratch %p : barrier[1] init(1)\n barrier_arrive %p[0]\n barrier_wait %p[0]",
     GROUT_DIAG_BAD_INIT, false},
    {AB, "scoped(%p : smem f32[4] init(1)) {\n store %p[0], 1.0\n }", GROUT_DIAG_BAD_INIT, false},
    /* (b) elements of the type */
    {"%x: in gmem i8[4] init(-128))", "", 0, false},
    {"%x: in gmem i8[4] init(-129))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem u8[4] init(255))", "", 0, false},
    {"%x: in gmem u8[4] init(256))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem u8[4] init(-1))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem i32[4] init(1.0))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f16[4] init(65504))", "", 0, false},
    {"%x: in gmem f16[4] init(65520))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f16[4] init(inf))", "", 0, false},
    {"%x: in gmem f8e4m3[4] init(inf))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem bool[4] init(true))", "", 0, false},
    {"%x: in gmem bool[4] init(1))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem i32[4] init(true))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f32[4] init(true))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f32[4] init(f32:0x7fc00001))", "", 0, false},
    {"%x: in gmem f16[4] init(f32:0x7fc00001))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: i8 init(127))", "", 0, false},
    {"%x: i8 init(128))", "", GROUT_DIAG_BAD_INIT, false},
    /* (c) lists */
    {"%x: in gmem i32[2, 2] init([1, 2, 3, 4]))", "", 0, false},
    {"%x: in gmem i32[2, 2] init([1, 2, 3]))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem i32[2, 2] init([1, 2, 3, 4, 5]))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem i32[] init([1]))", "", 0, false},
    {"%x: in gmem i8[2] init([1, 128]))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: i32 init([1]))", "", GROUT_DIAG_BAD_INIT, false},
    /* (d) random numbers */
    {"%x: in gmem f8e5m2[4] init(randn(0)))", "", 0, false},
    {"%x: in gmem i32[4] init(randn(0)))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem bool[4] init(uniform(0, 0, 1)))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f32[4] init(randn(-1)))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: f32 init(uniform(9223372036854775807, 1, 1)))", "", 0, false},
    {"%x: in gmem f32[4] init(uniform(1, 1.5, 1)))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f32[4] init(uniform(1, 0, inf)))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f32[4] init(uniform(1, f32:0x00000000, 1)))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f32[4] init(uniform(1, false, true)))", "", GROUT_DIAG_BAD_INIT, false},
    {"%x: in gmem f16[4] init(uniform(1, 0, 65504)))", "", 0, false},
    {"%x: in gmem f16[4] init(uniform(1, 0, 65520)))", "", GROUT_DIAG_BAD_INIT, false},
};

TEST_EACH(rules, COUNT_OF(verify_cases)) {
    const verify_case *c = &verify_cases[_i];
    char source[2048];
    snprintf(source, sizeof source, "kernel @k(%s\n{\n %s\n}\n", c->header, c->body);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s%s", source, get_said(text.diags));
    bool ok = grout_verify(text.bound, GROUT_ARCH_SM_90A, text.diags);
    ck_assert_msg(get_code(text.diags) == c->code, "%s%s", source, get_said(text.diags));
    ck_assert_int_eq(ok, !grout_diags_has_errors(text.diags));
    grout_diags *others = grout_diags_new();
    grout_verify(text.bound, GROUT_ARCH_ANY, others);
    ck_assert_int_eq(get_code(others), c->is_for_hopper_only ? GROUT_DIAG_NONE : c->code);
    grout_diags_free(others);
    free_text(&text);
}

TEST(arch_names) {
    grout_arch arch;
    ck_assert(grout_arch_find("sm_90a", &arch) && arch == GROUT_ARCH_SM_90A);
    ck_assert(grout_arch_find("any", &arch) && arch == GROUT_ARCH_ANY);
    ck_assert(!grout_arch_find("sm_90", &arch));
    ck_assert(!grout_arch_find("", &arch));
}

/* ---- every code has a golden ----------------------------------------------------------------- */

static void note_codes(const char *path, bool *seen) {
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    for (const char *at = strstr(text, "// ---- output ----"); at != NULL;
         at = strchr(at + 1, '[')) {
        char code[64];
        size_t length = strcspn(at + 1, "]");
        if (*at == '[' && length < sizeof code) {
            memcpy(code, at + 1, length);
            code[length] = '\0';
            seen[grout_diag_find(code)] = true;
        }
    }
}

/* The goldens of the folder and of the folders in it. */
static void note_folder(const char *path, bool *seen) {
    DIR *folder = opendir(path);
    ck_assert_msg(folder != NULL, "'%s' is not a folder", path);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char inner[1024];
        snprintf(inner, sizeof inner, "%.700s/%.200s", path, entry->d_name);
        if (strstr(entry->d_name, ".grout") != NULL) {
            note_codes(inner, seen);
        } else {
            note_folder(inner, seen);
        }
    }
    closedir(folder);
}

TEST(every_code_has_a_golden) {
    bool seen[GROUT_DIAG_COUNT] = {false};
    note_folder(GROUT_TEST_SOURCE_DIR "/tests/golden/parse", seen);
    note_folder(GROUT_TEST_SOURCE_DIR "/tests/golden/verify", seen);
    for (uint32_t code = 1; code < GROUT_DIAG_COUNT; code++) {
        const grout_diag_info *info = grout_diag_get((grout_diag_code)code);
        bool is_ours = info->stage == GROUT_STAGE_PARSE || info->stage == GROUT_STAGE_VERIFY;
        /* No text makes a builder's mistake (check_builder.c), or a conflict of sizes: the command
         * line takes the last -D, and files are the cli goldens' (check_bind.c has it too). */
        bool is_elsewhere = code == GROUT_DIAG_BUILDER || code == GROUT_DIAG_SHAPE_CONFLICT;
        if (is_ours && !is_elsewhere && !seen[code]) {
            ck_abort_msg("no golden for '%s'", info->text);
        }
    }
}
