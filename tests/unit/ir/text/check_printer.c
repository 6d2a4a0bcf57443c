/* check_printer.c - canonical texts print as they are, others in canonical form, and all read back
 * equal. SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/text.h"
#include "tests/tests.h"
#include "tests/unit/ir/module_equal.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static grout_module *parse(const char *text, size_t size) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = grout_parse("t.grout", text, size, diags);
    if (module == NULL) {
        grout_text said = {0};
        grout_diags_render(diags, NULL, &said);
        ck_abort_msg("%s\n%s", text, said.data);
    }
    grout_diags_free(diags);
    return module;
}

/* Prints what text parses to, and checks that it reads back equal and prints the same again. */
static grout_text print_and_reread(const char *text, size_t size) {
    grout_module *module = parse(text, size);
    grout_text printed = {0};
    grout_text again = {0};
    grout_module_print(module, &printed);
    ck_assert(!printed.failed);
    grout_module *reread = parse(printed.data, printed.size);
    const char *difference = find_module_difference(module, reread);
    ck_assert_msg(difference == NULL, "%s differs in\n%s", difference, printed.data);
    grout_module_print(reread, &again);
    ck_assert_str_eq(again.data, printed.data);
    grout_text_free(&again);
    grout_module_free(module);
    grout_module_free(reread);
    return printed;
}

typedef struct form_case {
    const char *text;
    const char *canonical; /* NULL: the text itself */
} form_case;

#define BODY(lines) "kernel @k(%a: in gmem f32[4, 4], %n: i32) grid(x = 2)\n{\n" lines "}\n"
#define CLUSTER(lines)                                                                        \
    "kernel @k(%a: in gmem f32[4, 4], %n: i32) cluster(cx = 2, cy = 2, cz = 1) threads(wg = " \
    "3)\n{\n" lines "}\n"

// clang-format off
static const form_case forms[] = {
    {"", NULL},
    {"grout 1\n", NULL},
    {"// c\n", NULL},
    {"\n\n// c\n\n\n// d\n\n", "// c\n\n// d\n"},
    {"// c\r\ngrout   1 // v\r\n", "// c\ngrout 1  // v\n"},
    /* contents */
    {"kernel @k(%a: in gmem f32[4] init(zeros), %n: i32 init(-3), %b: inout gmem i32[2] init([1, 2]))\n{\n}\n", NULL},
    {"const N = 2\nkernel @k(%a: in gmem f32[N] init( uniform( 3 ,-1,N*2 ) ), %b: in gmem bool[N] init(true)) {\n scratch %p: gmem f16[N] init(randn(N))\n}\n",
     "const N = 2\nkernel @k(%a: in gmem f32[N] init(uniform(3, -1, N * 2)), %b: in gmem bool[N] init(true))\n{\n  scratch %p : gmem f16[N] init(randn(N))\n}\n"},
    {"kernel @k(%a: in gmem i32[40] init([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139]), %b: in gmem i32[24] init([200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223])) {\n}\n",
     "kernel @k(%a: in gmem i32[40] init([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,\n            113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129,\n            130, 131, 132, 133, 134, 135, 136, 137, 138, 139]),\n"
     "        %b: in gmem i32[24] init([200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212,\n            213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223]))\n{\n}\n"},
    /* literals */
    {"const A = 0x10\n", "const A = 16\n"},
    {"// all\nlaunch @a(%x,%y)   // first\n\nlaunch  @b( ) dependent\n", "// all\nlaunch @a(%x, %y)  // first\n\nlaunch @b() dependent\n"},
    {"const A = -5, B = -(5), C = - 5, D = -X, X = 1\n", "const A = -5, B = -(5), C = -5, D = -X, X = 1\n"},
    {"const A = -9223372036854775808\n", NULL},
    {"const A = - -X, X = 1\n", "const A = --X, X = 1\n"},
    {"const A = -(-5)\n", NULL},
    {"const A : f32 = 0.1\n", NULL},
    {"const A = 1.0, B = 1e300, C = 1e-7, D = 123456.0, F = 1024.0, G = 0.00001, H = 1e16\n", NULL},
    {"const A = 1e3, B = 0x1.8p1, C = 100000000000000000000.0, D = 1.50\n", "const A = 1000.0, B = 3.0, C = 1e20, D = 1.5\n"},
    {"const A = 5e-324, B = 1.7976931348623157e308, C = -0.0\n", NULL},
    {"const A = inf, B = -inf, C = -(inf), D = f32:0x7fc00001, E = f16:0x7e00, F = f64:0x7ff8000000000001\n", NULL},
    {"const A = nan, B = bf16:0x1\n", "const A = f32:0x7fc00000, B = bf16:0x0001\n"},
    {"const A = true, B = false, C = 0.30000000000000004\n", NULL},
    /* expressions: as few parentheses as there may be */
    {"const A = (1 + 2) * 3, B = 1 + 2 * 3, C = 1 - (2 - 3), D = 1 - 2 - 3, E = (1 << 2) + 3 >> 4\n", NULL},
    {"const A = (1 * 2) + ((3)), B = ((1 - 2) - 3)\n", "const A = 1 * 2 + 3, B = 1 - 2 - 3\n"},
    {"const A = min(max(1, 2), cdiv(3, 4)), B = align_up(5, 8) % log2(8)\n", NULL},
    {"require (1 == 2) == (3 != 4), \"a\\\"b\\\\\\n\\t\"\n", NULL},
    {"require 1 + 2 < 3 << 4, \"\"\n", NULL},
    /* consts: groups, comments, lines */
    {"const A = 1,B=2\n,C = 3\n", "const A = 1, B = 2, C = 3\n"},
    {"const A = 1,  // a\n      B = 2,\n      // c\n      C = 3  // d\n", "const A = 1,  // a\n      B = 2,\n      // c\n      C = 3  // d\n"},
    {"const AAAAAAAAAAAAAAAAAAAAAAAA = 1000000000000000000, BBBBBBBBBBBBBBBBBBBBBBBB = 1000000000000000000, C = 3\n",
     "const AAAAAAAAAAAAAAAAAAAAAAAA = 1000000000000000000,\n      BBBBBBBBBBBBBBBBBBBBBBBB = 1000000000000000000, C = 3\n"},
    /* kernels */
    {"kernel @k() {\n}\n", "kernel @k()\n{\n}\n"},
    {"kernel @k(%a : in gmem f32[], %b: f32) threads( wg=2 ) grid(x=1){}\n", "kernel @k(%a: in gmem f32[], %b: f32) grid(x = 1) threads(wg = 2)\n{\n}\n"},
    {"kernel @k(%a: in gmem f32[256, 256], %b: inout gmem f32[256, 256], %c: out gmem f32[256])\n    grid(x = 16)\n{\n}\n", NULL},
    {"kernel @k(%aaaaaaaaaaaaaaaaaaaaaaaa: in gmem f32[256, 256],\n        %bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: in gmem f32[256, 256], %c: out gmem f32[256])\n    grid(x = 16)\n{\n}\n", NULL},
    {"kernel @k() { // c\n}\n", "kernel @k()  // c\n{\n}\n"},
    {"kernel @k() // c\n{ // d\n}// e\n", "kernel @k()  // c\n{\n  // d\n}  // e\n"},
    {"kernel @k(%a: f32, // a\n  %b: f32) {\n}\n", "// a\nkernel @k(%a: f32, %b: f32)\n{\n}\n"},
    /* comments and blank lines in blocks */
    {BODY("\n\n  // a\n\n\n  commit_smem // b\n\n\n"), BODY("  // a\n\n  commit_smem  // b\n")},
    {BODY("  commit_smem\n\n  // a\n  commit_smem\n  // b\n"), NULL},
    {BODY("  %x = add %n, // one\n    // two\n    1 // three\n"), BODY("  // one\n  // two\n  %x = add %n, 1  // three\n")},
    {BODY("  if true { // a\n    // b\n  } // c\n"), BODY("  if true {  // a\n    // b\n  }  // c\n")},
    {BODY("  if true {\n  } // a\n  // b\n  else // c\n  { // d\n    // e\n  }\n"), BODY("  if true {\n  } else {  // a\n    // b\n    // c\n    // d\n    // e\n  }\n")},
    {BODY("  for %i in 0..4 // a\n  { // b\n  }\n"), BODY("  // a\n  for %i in 0..4 {  // b\n  }\n")},
    /* operations */
    {BODY("  %x = add (mul %n, 2), -%n * (%n + 1) - min(%n, 3) % 2\n"), NULL},
    {BODY("  %x = neg (%n + 1)\n"), BODY("  %x = neg %n + 1\n")},
    {BODY("  %x = mul %n * 2 << 1, (load %a[0, 0]) + 1\n"), NULL},
    {BODY("  %x = neg - - %n\n"), BODY("  %x = neg --%n\n")},
    {BODY("  %x = min (min %n, 1), min(%n, 1)\n"), NULL},
    {BODY("  load %a\n  %x = load %a[%n, :].transpose(0)[ds(%n * 2, 4 / 2)]\n"), NULL},
    {BODY("  %i = iota dim(1) : i32[4, 8]\n  %b = broadcast %n : i32[]\n  %c = cast %i : f16\n"), NULL},
    {BODY("  wait_smem_to_gmem 1 + 1 read_only\n  copy_smem_to_gmem %a, %a no_commit_group\n"), NULL},
    {BODY("  debug_print \"{} \\\\\", (load %a[0, 0])\n"), NULL},
    {BODY("  scratch %s   :   smem f32[2, 4] transpose(1, 0) swizzle(32) tile(8)\n"), BODY("  scratch %s : smem f32[2, 4] tile(8) swizzle(32) transpose(1, 0)\n")},
    {BODY("  scratch %b : barrier[2] arrivals(1 + 1)\n"), NULL},
    {BODY("  scratch %b : barrier arrivals(2)\n  scratch %c : mbarrier\n  scratch %d : semaphore global\n"), NULL},
    {BODY("  scratch %b : barrier[2, 3] arrivals(2)\n  scratch %c : mbarrier[1, 1, 2]\n  scratch %d : semaphore[4, 2] global\n"), NULL},
    {BODY("  %r = scoped(%b : barrier, %c : semaphore[1, 2]) {\n    barrier_wait %b\n    yield 1.0\n  }\n"), NULL},
    {BODY("  for %i in 0..4 step 1 {\n  }\n"), BODY("  for %i in 0..4 {\n  }\n")},
    {BODY("  %r, %q = for %i in -%n..%n - 1 step 2 carry(%c = 1, %d = (load %a[0, 0])) unroll(4) {\n    yield (neg %c), %d\n  }\n"), NULL},
    {BODY("  %r = if (lt %n, 3) {\n    yield 1\n  } else {\n    yield 2\n  }\n"), NULL},
    {BODY("  %r = scoped(%s : smem f32[4], %b : barrier[1]) collective {\n    yield (load %s)\n  }\n"), NULL},
    {BODY("  scratch %acc   : acc f32 [128 , 64*2]\n"), BODY("  scratch %acc : acc f32[128, 64 * 2]\n")},
    {BODY("  scoped(%acc : acc f16[64, 8], %s : smem f32[4]) {\n    acc_store %acc[:, ds(0, 8)], (acc_load %acc wait(1))\n  }\n"), NULL},
    {BODY("  wgmma %a, %a, %a.transpose(1, 0)\n  wgmma_async %a[:, ds(8, 8)], (load %a), %a\n  wgmma_wait 1 + 1\n  %x = acc_load %a\n"), NULL},
    {BODY("  set_max_registers 24 decrease\n  set_max_registers 200 + 40   increase\n"), BODY("  set_max_registers 24 decrease\n  set_max_registers 200 + 40 increase\n")},
    {BODY("  %x = exp (log2 (load %a) approx)\n  %y = add (erf %x approx), log2(8)\n"), NULL},
    {BODY("  %x = sqrt (sign (load %a))\n  %y = round %x\n"), NULL},
    {BODY("  %s = reduce_sum (load %a)\n  %m = reduce_max (load %a) dim(1)\n  %w = broadcast %m dim( 0 ) : f32[4, 4]\n"), BODY("  %s = reduce_sum (load %a)\n  %m = reduce_max (load %a) dim(1)\n  %w = broadcast %m dim(0) : f32[4, 4]\n")},
    {BODY("  %x = layout_cast (layout_cast (load %a) wgmma) wg_strided\n  wgmma %a, %a, %a\n  %y = layout_cast %x wgmma_row\n"), NULL},
    {BODY("  %x = layout_cast %n\n  wgmma %a, %a, %a\n"), NULL},
    {BODY("  %r = while carry(%c=0){cond (lt %c,5)}do{yield (add %c,1)}\n"), BODY("  %r = while carry(%c = 0) {\n    cond (lt %c, 5)\n  } do {\n    yield (add %c, 1)\n  }\n")},
    {BODY("  %r, %q = while carry(%c = %n, %d = (load %a[0, 0])) {\n    %m = neg %c\n    cond (ne %m, 0)\n  } do {\n    yield %m, %d\n  }\n"), NULL},
    {BODY("  while {\n    cond false\n  } do {\n  }\n"), NULL},
    {BODY("  while { // a\n    cond false // b\n    // c\n  } // d\n  do { // e\n    // f\n  } // g\n"), BODY("  while {  // a\n    cond false  // b\n    // c\n  } do {  // d\n    // e\n    // f\n  }  // g\n")},
    {BODY("  while {\n    while {\n      cond true\n    } do {\n    }\n    cond true\n  } do {\n    while {\n      cond true\n    } do {\n    }\n  }\n"), NULL},
    {BODY("  if true {\n    if false {\n      commit_smem\n    }\n  }\n"), NULL},
    /* clusters, the explicit style, semaphores, warps and partitions */
    {"kernel @k() threads(wg=2) attr auto_fence=1 cluster(a=2,b=1) attr cluster_exit=sync grid(x=2) {\n}\n", "kernel @k() grid(x = 2) cluster(a = 2, b = 1) threads(wg = 2)\n    attr cluster_exit = sync auto_fence = 1\n{\n}\n"},
    {"kernel @k() attr cluster_exit=none arch=\"sm_103a\" {\n}\n", "kernel @k() attr arch = \"sm_103a\" cluster_exit = none\n{\n}\n"},
    {"kernel @k() attr cluster_exit = none\n{\n}\n", NULL},
    {"kernel @k() attr auto_fence = 0\n{\n}\n", NULL},
    {"kernel @k() attr partition_warps=[4,1 , 2] auto_fence = 1 threads(wg = 3) {\n}\n", "kernel @k() threads(wg = 3) attr auto_fence = 1 partition_warps = [4, 1, 2]\n{\n}\n"},
    {CLUSTER("  scratch %b : barrier[2]  cluster( cz , (cy , cx) )  arrivals(3)\n"), CLUSTER("  scratch %b : barrier[2] arrivals(3) cluster((cx, cy), cz)\n")},
    {CLUSTER("  scratch %b : barrier[1] cluster((cy))\n"), CLUSTER("  scratch %b : barrier[1] cluster(cy)\n")},
    {CLUSTER("  scratch %m : mbarrier[1 + 1]\n  scratch %s : semaphore[2]\n  scratch %g : semaphore[4] global\n  scratch %p : gmem f32[4, 8]\n"), NULL},
    {CLUSTER("  scoped(%m : mbarrier[1], %s : semaphore[1], %b : barrier[1] cluster(cx)) {\n  }\n"), NULL},
    {CLUSTER("  copy_gmem_to_smem %a, %a, %a[0] multicast(cz, cx)\n"), CLUSTER("  copy_gmem_to_smem %a, %a, %a[0] multicast(cx, cz)\n")},
    {CLUSTER("  load %a.cluster(%n, %n % 2, 0)\n  load %a[%n].cluster(0, -%n, (neg %n))[ds(%n, 2)].transpose(0)\n"), NULL},
    {CLUSTER("  mbarrier_arrive %a.cluster(0, 0, 0)[1] from_cta(1) scope(cluster) order(release) count(2)\n"), CLUSTER("  mbarrier_arrive %a.cluster(0, 0, 0)[1] count(2) order(release) scope(cluster) from_cta(1)\n")},
    {CLUSTER("  %d = tensor_descriptor %a : f32[1 * 4, 4]\n  copy_gmem_to_smem %d[%n, 0], %a, %a[0]\n"), NULL},
    {CLUSTER("  if (barrier_test %a[0]) {\n    semaphore_wait %a[0], (add %n, 1) no_decrement\n  }\n"), NULL},
    {CLUSTER("  %x = add (atomic_fetch_add %a[0], (atomic_cas %a[1], 0, %n) order(acq_rel)), (semaphore_read %a[0])\n"), NULL},
    {CLUSTER("  warp_map( %w ){commit_smem}\n"), CLUSTER("  warp_map(%w) {\n    commit_smem\n  }\n")},
    {CLUSTER("  warp_map(%w) { // a\n    // b\n  } // c\n"), CLUSTER("  warp_map(%w) {  // a\n    // b\n  }  // c\n")},
    {CLUSTER("  warp_specialize {\n  }\n"), NULL},
    {CLUSTER("  %r, %q = warp_specialize {\n    yield %n, (load %a[0, 0])\n  } partition {\n    block_barrier\n  } partition {\n  }\n"), NULL},
    {CLUSTER("  warp_specialize { // a\n  } // b\n  // c\n  partition // d\n  { // e\n    // f\n  } partition {// g\n  } // h\n"), CLUSTER("  warp_specialize {  // a\n  } partition {  // b\n    // c\n    // d\n    // e\n    // f\n  } partition {  // g\n  }  // h\n")},
    {CLUSTER("  warp_specialize {\n    warp_specialize {\n    } partition {\n      warp_map(%w) {\n      }\n    }\n  } partition {\n  }\n"), NULL},
};
// clang-format on

TEST_EACH(each_form_prints_canonically, COUNT_OF(forms)) {
    const form_case *c = &forms[_i];
    grout_text printed = print_and_reread(c->text, strlen(c->text));
    ck_assert_str_eq(printed.data, c->canonical != NULL ? c->canonical : c->text);
    grout_text_free(&printed);
}

/* ---- every operation ------------------------------------------------------------------------- */

// clang-format off
/* A statement of each form: '@' is the mnemonic, '&' where attributes stand. */
static const char *const form_texts[GROUT_FORM_COUNT] = {
    [GROUT_FORM_UNARY] = "%r = @ %n&",
    [GROUT_FORM_BINARY] = "%r = @ %n, 1&",
    [GROUT_FORM_TEST] = "%r = @ %n&",
    [GROUT_FORM_COMPARE] = "%r = @ (@ %n, 2&), 1.5&",
    [GROUT_FORM_TERNARY] = "%r = @ %n, 1, -2&",
    [GROUT_FORM_SELECT] = "%r = @ true, %n, 1&",
    [GROUT_FORM_CONVERT] = "%r = @ %n& : f16",
    [GROUT_FORM_BITCAST] = "%r = @ %n& : f16",
    [GROUT_FORM_BROADCAST] = "%r = @ %n& : bf16[4, 4]",
    [GROUT_FORM_IOTA] = "%r = @& : i32[4]",
    [GROUT_FORM_SLICE] = "%r = @ (@ %n[ds(2 * 3, 4), :]&)[1, ds(0, 1)]&",
    [GROUT_FORM_RESHAPE] = "%r = @ %n& : bf16[4, 4]",
    [GROUT_FORM_CONCATENATE] = "%r = @ %n, (@ %n, %n&)&",
    [GROUT_FORM_MATH] = "%r = @ (@ %n&)&",
    [GROUT_FORM_MATH_BINARY] = "%r = @ (@ %n, 1&), 1.5&",
    [GROUT_FORM_LAYOUT] = "%r = @ (@ %n&)&",
    [GROUT_FORM_REDUCE] = "%r = @ (load %a)&",
    [GROUT_FORM_AXIS] = "%r = @ x&",
    [GROUT_FORM_LOAD] = "%r = @ %a[:, ds(0, 4)]&",
    [GROUT_FORM_STORE] = "@ %a[0, 0], %n&",
    [GROUT_FORM_BARRIER] = "@ %a[0]&",
    [GROUT_FORM_FENCE] = "@&",
    [GROUT_FORM_COPY_IN] = "@ %a, %a[:], %a[0]&",
    [GROUT_FORM_CANCEL] = "@ %a[%n], %a[0]&",
    [GROUT_FORM_CANCEL_QUERY] = "%r = @ %a[%n]&",
    [GROUT_FORM_COPY_OUT] = "@ %a, %a[:]&",
    [GROUT_FORM_WGMMA] = "@ %a, (load %a), %a.transpose(1, 0)&",
    [GROUT_FORM_WGMMA_SP] = "@ %a, (load %a), %a.transpose(1, 0), (load %a)&",
    [GROUT_FORM_WAIT] = "@ 1&",
    [GROUT_FORM_EXTERN] = "%r = @ \"f\", %n, 1.0 : f32&",
    [GROUT_FORM_INLINE_PTX] = "%r = @ \"f\", \"add.s32 $0, $1, $2;\", %n, 1.0 : f32&",
    [GROUT_FORM_CHECK] = "@ true, \"{} {}\", %n, 1.0&",
    [GROUT_FORM_DELAY] = "@ (add %n, 1)&",
    [GROUT_FORM_PROMISE] = "%r = @ %n, 4 * 2&",
    [GROUT_FORM_PRINT] = "@ \"{} {}\", %n, 1.0&",
    [GROUT_FORM_SCRATCH] = "@ %s : acc f32[64, 8]&",
    [GROUT_FORM_FOR] = "%r = @ %i in 0..4 carry(%c = 1)& {\n    yield %c\n  }",
    [GROUT_FORM_WHILE] = "%r = @ carry(%c = 1)& {\n    cond true\n  } do {\n    yield %c\n  }",
    [GROUT_FORM_COND] = "while {\n    @ true&\n  } do {\n  }",
    [GROUT_FORM_IF] = "%r = @ true& {\n    yield 1\n  } else {\n    yield 2\n  }",
    [GROUT_FORM_SCOPED] = "@(%s : smem f32[4])& {\n  }",
    [GROUT_FORM_BARRIER_TEST] = "%r = @ %a[0]&",
    [GROUT_FORM_BARRIER_BYTES] = "@ %a[0], %n&",
    [GROUT_FORM_BARRIER_COUNT] = "@ %a[0], 4 * 2&",
    [GROUT_FORM_PARITY_WAIT] = "@ %a[0], %n % 2&",
    [GROUT_FORM_PARITY_TEST] = "%r = @ %a[0], 1&",
    [GROUT_FORM_SEMAPHORE] = "@ %a[0], (add %n, 1)&",
    [GROUT_FORM_SEMAPHORE_READ] = "%r = @ %a[%n]&",
    [GROUT_FORM_NAMED_BARRIER] = "@ 1, 2 + 1&",
    [GROUT_FORM_FETCH] = "%r = @ %a.cluster(0, 1)[0, %n], 1&",
    [GROUT_FORM_COMPARE_SWAP] = "%r = @ %a[0, %n], 1, (@ %a[1, %n], 0, 7&)&",
    [GROUT_FORM_COPY] = "@ %a[ds(0, 2), :], %a[:]&",
    [GROUT_FORM_STORE_ASYNC] = "@ (load %a), %a.cluster(%n, 0)[:], %a[0]&",
    [GROUT_FORM_DESCRIPTOR] = "%r = @ %a& : f32[4, 2]",
    [GROUT_FORM_WARP_MAP] = "@(%w)& {\n    commit_smem\n  }",
    [GROUT_FORM_SPECIALIZE] = "%r = @& {\n    yield 1\n  } partition {\n  }",
    [GROUT_FORM_YIELD] = "for %i in 0..4 carry(%c = 1) {\n    @ %i&\n  }",
};
// clang-format on

/* An attribute with its choice-th argument of those that are tried. */
static void add_attr(grout_text *out, grout_attr attr, uint32_t choice) {
    static const char *const axes[] = {"(cx)", "(cy)", "(cx, cy)"};
    const grout_attr_info *info = grout_attr_get_info(attr);
    grout_text_add(out, " %s", info->text);
    if (info->argument == GROUT_ARGUMENT_INT) {
        grout_text_add(out, "(1)");
    } else if (info->argument == GROUT_ARGUMENT_AXES) {
        grout_text_add(out, "%s", axes[choice % 3]);
    } else if (info->argument == GROUT_ARGUMENT_DIMS) {
        grout_text_add(out, "(1, 0)");
    } else if (info->argument == GROUT_ARGUMENT_RANGES) {
        grout_text_add(out, "(-1..3 step 2, 0..0)");
    } else if (info->argument == GROUT_ARGUMENT_CHOICE) {
        uint32_t rest = choice;
        int at = 1;
        while (at < GROUT_CHOICE_COUNT &&
               (grout_choice_get_info((grout_choice)at)->attr != (uint8_t)attr || rest-- > 0)) {
            at++;
        }
        ck_assert_msg(at < GROUT_CHOICE_COUNT, "attribute '%s' has no choice %u", info->text,
                      choice);
        grout_text_add(out, "(%s)", grout_choice_get_info((grout_choice)at)->text);
    }
}

/* How many arguments of an attribute are tried. */
static uint32_t count_arguments(grout_attr attr) {
    uint32_t count = 0;
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        count += grout_choice_get_info((grout_choice)i)->attr == (uint8_t)attr;
    }
    bool is_axes =
        attr != GROUT_ATTR_COUNT && grout_attr_get_info(attr)->argument == GROUT_ARGUMENT_AXES;
    return is_axes ? 3 : count > 0 ? count : 1;
}

/* A statement of a form that has no text of its own, from its letters. */
static void get_plain_text(const grout_op_info *info, char *text, size_t size) {
    size_t at = (size_t)snprintf(text, size, "%s@", info->results > 0 ? "%r = " : "");
    for (const char *letter = info->operands; *letter != '\0'; letter++) {
        const grout_letter_kind kind = (grout_letter_kind)grout_letter_get_info(*letter)->kind;
        const char *operand = kind == GROUT_LETTER_CONSTANT        ? "1"
                              : kind == GROUT_LETTER_AXIS          ? "x"
                              : kind == GROUT_LETTER_TEXT          ? "\"text\""
                              : kind == GROUT_LETTER_MEMORY        ? "%a[:, ds(0, 4)]"
                              : kind == GROUT_LETTER_VALUE         ? "%n"
                              : kind == GROUT_LETTER_OPTION        ? "true"
                              : kind == GROUT_LETTER_MASK          ? "true"
                              : kind == GROUT_LETTER_OPTIONAL_MASK ? "true"
                              : kind == GROUT_LETTER_INDICES       ? "%n"
                              : kind == GROUT_LETTER_ROWS          ? "%n"
                              : kind == GROUT_LETTER_REST          ? "%n"
                              : kind == GROUT_LETTER_SCALAR || kind == GROUT_LETTER_INTEGER
                                  ? "%n"
                                  : "%a[0]";
        at += (size_t)snprintf(text + at, size - at, "%s%s", letter == info->operands ? " " : ", ",
                               operand);
    }
    (void)snprintf(text + at, size - at, "&%s", info->typed ? " : f32[4, 4]" : "");
}

/* The statement of an operation with one attribute, or none (GROUT_ATTR_COUNT). */
static void add_statement(grout_text *out, const grout_op_info *info, grout_attr attr,
                          uint32_t choice) {
    char plain[160];
    const char *text = form_texts[info->form];
    if (text == NULL && info->shape == GROUT_SHAPE_PLAIN) {
        get_plain_text(info, plain, sizeof plain);
        text = plain;
    }
    ck_assert_msg(text != NULL, "op '%s': its form has no text in form_texts", info->text);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '@') {
            grout_text_add(out, "%s", info->text);
        } else if (*at != '&') {
            grout_text_add_bytes(out, at, 1);
        } else if (attr != GROUT_ATTR_COUNT) {
            add_attr(out, attr, choice);
        }
    }
}

static void check_statement(const grout_op_info *info, grout_attr attr, uint32_t choice) {
    grout_text text = {0};
    grout_text_add(&text, "kernel @k(%%a: in gmem f32[4, 4], %%n: i32) grid(x = 2) "
                          "cluster(cx = 2, cy = 2)\n{\n  ");
    add_statement(&text, info, attr, choice);
    grout_text_add(&text, "\n}\n");
    grout_text printed = print_and_reread(text.data, text.size);
    ck_assert_str_eq(printed.data, text.data);
    grout_text_free(&printed);
    grout_text_free(&text);
}

TEST_FROM(each_op_prints_as_it_is_written, 1, GROUT_OP_COUNT) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    for (int attr = 0; attr <= GROUT_ATTR_COUNT; attr++) {
        bool is_taken = attr == GROUT_ATTR_COUNT || (info->attrs >> attr & 1u) != 0;
        for (uint32_t choice = 0; is_taken && choice < count_arguments((grout_attr)attr);
             choice++) {
            check_statement(info, (grout_attr)attr, choice);
        }
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool is_canonical;
} files[] = {
    {"add_tma", true},     {"producer_consumer", true}, {"reduce", true},
    {"tensor_core", true}, {"everything", false},
};

static grout_text read_file(const char *name) {
    char path[512];
    grout_text text = {0};
    (void)snprintf(path, sizeof path, "%s/tests/fuzz/corpus_text/%s.grout", GROUT_TEST_SOURCE_DIR,
                   name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    char block[4096];
    size_t size;
    while ((size = fread(block, 1, sizeof block, file)) > 0) {
        grout_text_add_bytes(&text, block, size);
    }
    fclose(file);
    return text;
}

TEST_EACH(each_file_reads_back, COUNT_OF(files)) {
    grout_text text = read_file(files[_i].name);
    grout_text printed = print_and_reread(text.data, text.size);
    if (files[_i].is_canonical) {
        ck_assert_str_eq(printed.data, text.data);
    }
    grout_text_free(&printed);
    grout_text_free(&text);
}

/* A line of CRLF, cut short at any byte, is a module or a report, never a crash. */
TEST_EACH(each_prefix_of_a_file_is_handled, COUNT_OF(files)) {
    grout_text text = read_file(files[_i].name);
    for (size_t size = 0; size < text.size; size += 3) {
        grout_diags *diags = grout_diags_new();
        char *exact = malloc(size > 0 ? size : 1);
        memcpy(exact, text.data, size);
        grout_module *module = grout_parse("t.grout", exact, size, diags);
        ck_assert((module == NULL) == grout_diags_has_errors(diags));
        grout_module_free(module);
        grout_diags_free(diags);
        free(exact);
    }
    grout_text_free(&text);
}

TEST(an_op_prints_on_one_line) {
    static const char *const lines[] = {
        "%i = axis_index x",
        "load %a[%i, :]",
        "%r = for %j in 0..%n + 1 carry(%c = %n)",
        "yield (neg %c)",
        "store %a[%i, 0], (load %a[%i * 2, 1])",
    };
    static const uint32_t ids[] = {1, 2, 4, 6, 9};
    const char text[] = BODY("  %i = axis_index x\n"
                             "  %v = add (load %a[%i, :]), 1.0\n"
                             "  %r = for %j in 0..%n + 1 carry(%c = %n) {\n"
                             "    yield (neg %c)\n  }\n"
                             "  store %a[%i, 0], (load %a[%i * 2, 1])\n");
    grout_module *module = parse(text, sizeof text - 1);
    for (uint32_t id = 1, n = 0; id < grout_module_get_op_count(module); id++) {
        grout_text line = {0};
        grout_op_print(module, id, &line);
        for (uint32_t k = 0; k < sizeof ids / sizeof ids[0]; k++) {
            n += strcmp(line.data, lines[k]) == 0;
        }
        ck_assert_ptr_null(strchr(line.data, '\n'));
        grout_text_free(&line);
        ck_assert(id + 1 < grout_module_get_op_count(module) ||
                  n == sizeof lines / sizeof lines[0]);
    }
    grout_module_free(module);
}

/* The locale of the host program has no say in what a text means. */
TEST(numbers_do_not_depend_on_the_locale) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "fr_FR"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (setlocale(LC_ALL, names[i]) != NULL) {
            break;
        }
    }
    const char text[] = "const A : f32 = 1.5, B : f32 = 1.25e-30\n";
    grout_text printed = print_and_reread(text, sizeof text - 1);
    ck_assert_str_eq(printed.data, text);
    grout_text_free(&printed);
}
