/*
 * check_emit_rounds.c - loops of wgmmas whose a is in registers: what is written for them, and what
 * is said where a loop waits for each. Needs no NVRTC.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

/* A kernel around a loop; says: what a warning holds, NULL: there is none. */
typedef struct loop_case {
    const char *name, *loop;
    const char *holds, *lacks; /* of the text; lacks may be NULL */
    const char *says, *helps;
} loop_case;

#define LOAD    "    %a = load %x[%i]\n"
#define WGMMA   "    wgmma %acc, %a, %bs\n"
#define ASYNC   "    wgmma_async %acc, %a, %bs\n"
#define TO(end) "  for %i in 0.." end " {\n"
#define REST    "// The turns that make no whole round."
#define AT_ONCE "// The next values of these registers"

static const loop_case cases[] = {
    {"no turn", TO("0") LOAD WGMMA "  }\n",
     "#pragma unroll 1\n    for (grout_i32 i = 0; i < 0; i++)", AT_ONCE, NULL, NULL},
    {"one turn", TO("1") LOAD WGMMA "  }\n",
     "#pragma unroll 1\n    for (grout_i32 i = 0; i < 1; i++)", AT_ONCE, NULL, NULL},
    {"one round", TO("2") LOAD WGMMA "  }\n",
     "#pragma unroll 2\n    for (grout_i32 i = 0; i < 2; i++)", AT_ONCE, NULL, NULL},
    {"turns that a longer round makes", TO("3") LOAD WGMMA "  }\n", "#pragma unroll 3", REST, NULL,
     NULL},
    {"whole rounds", TO("8") LOAD WGMMA "  }\n", "while (x0 + 1 < 8) {", REST, NULL, NULL},
    {"rounds and a rest", TO("7") LOAD WGMMA "  }\n", REST "\n    grout_wgmma_wait<0>();\n", NULL,
     NULL, NULL},
    {"turns that the run knows", TO("%n") LOAD WGMMA "  }\n", "while (x0 + 1 < n) {", NULL, NULL,
     NULL},
    {"the rest waits for each", TO("%n") LOAD WGMMA "  }\n", AT_ONCE, NULL, NULL, NULL},
    {"a step", "  for %i in 1..%n step 3 {\n" LOAD ASYNC "    wgmma_wait 2\n  }\n",
     "while (x0 + 6 < n) {", NULL, NULL, NULL},
    {"an unroll that is longer", "  for %i in 0..%n unroll(4) {\n" LOAD WGMMA "  }\n",
     "while (x0 + 3 < n) {", NULL, NULL, NULL},
    {"an unroll that is too short",
     "  for %i in 0..%n unroll(2) {\n" LOAD ASYNC "    wgmma_wait 2\n  }\n", "while (x0 + 2 < n) {",
     NULL, NULL, NULL},
    {"carries are renewed in both",
     "  %s = for %i in 0..%n carry(%p = 0) {\n" LOAD WGMMA "    yield (add %p, %i)\n  }\n", REST,
     NULL, NULL, NULL},
    {"blocks of the body in both",
     TO("%n") LOAD WGMMA
     "    if (gt %i, 3) {\n      store %c[0, 0], (cast %i : f32)\n      wgmma_wait 0\n    }\n  }\n",
     REST, NULL, NULL, NULL},
    {"an a that is the same in all turns",
     "  %same = load %x[0]\n" TO("%n") "    wgmma %acc, %same, %bs\n  }\n",
     "[reg] = grout_pair(same + 2 * reg);", "Rounds of", NULL, NULL},
    {"the same of a loop around, which waits",
     "  for %k in 0..%n {\n  %same = load %x[%k]\n" TO(
         "%n") "    wgmma %acc, %same, %bs\n  }\n  wgmma_wait 0\n  }\n",
     "[reg] = grout_pair(same + 2 * reg);", "Rounds of", NULL, NULL},
    {"the same of a loop around, which does not",
     "  for %k in 0..%n {\n  %same = load %x[%k]\n" TO(
         "%n") "    wgmma %acc, %same, %bs\n  }\n  }\n",
     AT_ONCE, "Rounds of", "and the loop comes again", "write 'wgmma_wait 0'"},
    /* a loop that waits for each */
    {"in its block", TO("%n") LOAD ASYNC "    wgmma_wait 0\n  }\n", "grout_wgmma_hold<16>(x",
     "Rounds of", NULL, NULL},
    {"no wait", TO("%n") LOAD ASYNC "  }\n", AT_ONCE, "Rounds of",
     "and no turn of the loop waits for it: so the CUDA",
     "as 'wgmma_wait 1' does; or wait for it in the same block"},
    {"too many", TO("%n") LOAD ASYNC "    wgmma_wait 4\n  }\n", AT_ONCE, "Rounds of",
     "and 5 turns of the loop in a row would need registers of their own, and at most 4 have them",
     "leave fewer in flight; or "},
    {"under a condition", TO("%n") "    if (gt %i, 3) {\n" LOAD WGMMA "    }\n  }\n", AT_ONCE,
     "Rounds of", "and it stands in a block of its own in the loop",
     "write it into the body of the loop itself; or "},
    {"a while",
     "  %k = while carry(%i = 0) {\n    cond (lt %i, %n)\n  } do {\n" LOAD WGMMA
     "    yield (add %i, 1)\n  }\n",
     AT_ONCE, "Rounds of", "and the turns of a 'while' are not known",
     "write the loop as a 'for'; or "},
    {"a loop around", "  for %k in 0..2 {\n" TO("%n") LOAD WGMMA "  }\n  }\n", AT_ONCE, "Rounds of",
     "and the loop comes again before its last turns are waited for",
     "write 'wgmma_wait 0' after the loop; or "},
    {"a wait in the loop around",
     "  for %k in 0..2 {\n" TO("%n") LOAD WGMMA "  }\n  wgmma_wait 0\n  }\n", "Rounds of", NULL,
     NULL, NULL},
    {"too many registers", "  set_max_registers 80 decrease\n" TO("%n") LOAD WGMMA "  }\n", AT_ONCE,
     "Rounds of",
     "and 2 sets of 16 registers beside 32 of accumulators do not fit into the 80 of a lane",
     "more registers with set_max_registers; or "},
    {"as many registers as it takes",
     "  set_max_registers 88 decrease\n" TO("%n") LOAD WGMMA "  }\n", "Rounds of", NULL, NULL,
     NULL},
    /* each loop once in what is said, though it is written in a round and in the rest */
    {"a loop in a round that waits for each",
     TO("%n") LOAD WGMMA "  for %k in 0..%n {\n    wgmma %acc, (load %x[%k]), %bs\n  }\n  }\n",
     AT_ONCE, NULL, "and the loop comes again", "write 'wgmma_wait 0'"},
};

static bool holds(const char *text, const char *part) {
    return part == NULL || (text != NULL && strstr(text, part) != NULL);
}

static void check_words(const loop_case *c, const grout_diags *diags, const char *text) {
    const grout_diag *diag = grout_diags_count(diags) == 0 ? NULL : grout_diags_get(diags, 0);
    if (grout_diags_count(diags) != (c->says == NULL ? 0 : 1) ||
        (diag != NULL && !(diag->code == GROUT_DIAG_GPU_LOSS && holds(diag->message, c->says)))) {
        fail_with_diags(c->name, diags, text);
    }
    grout_text shown = {0};
    const grout_render_options plain = {.color = false};
    grout_diags_render(diags, &plain, &shown);
    ck_assert_msg(holds(shown.data, c->helps), "%s: %s", c->name, shown.data);
    grout_text_free(&shown);
}

TEST_EACH(loops, COUNT_OF(cases)) {
    const loop_case *c = &cases[_i];
    const grout_emit_options options = {.watchdog = false};
    char kernel[2048];
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    (void)snprintf(
        kernel, sizeof kernel,
        "kernel @k(%%x: in gmem f16[16, 64, 64], %%n: i32, %%c: out gmem f32[64, 64]) {\n"
        "  scratch %%bs : smem f16[64, 64] tile(8, 64) swizzle(128)\n"
        "  scratch %%acc : acc f32[64, 64]\n%s  store %%c, (load %%acc)\n}\n",
        c->loop);
    grout_module *module = bind_text(c->name, kernel, diags);
    ck_assert(grout_emit_cuda(module, 1, &options, &text, diags));
    const char *body = strstr(text.data, "__global__");
    check_words(c, diags, body);
    if (!holds(body, c->holds) || (c->lacks != NULL && holds(body, c->lacks))) {
        fail_with_diags(c->name, diags, body);
    }
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
}
