/* check_auto_fence.c - where 'attr auto_fence = 1' puts a fence: before async accesses of SMEM that
 * the thread has touched itself since its last fence. SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#define HEADER                                                                                     \
    "kernel @k(%%a: inout gmem f32[64, 64], %%n: i32, %%p: bool) cluster(cx = 2) threads(wg = 2) " \
    "attr auto_fence = %d {\n"                                                                     \
    "  scratch %%s : smem f32[2, 8, 64]\n"                                                         \
    "  scratch %%t : smem f32[8, 64]\n"                                                            \
    "  scratch %%b : barrier[2]\n"

#define STORE_S "  store %s[0], (broadcast 1.0 : f32[8, 64])\n"
#define STORE_T "  store %t, (broadcast 1.0 : f32[8, 64])\n"
#define LOAD_S  "  %v = load %s[1]\n"
#define OUT_S   "  copy_smem_to_gmem %s[0], %a[ds(0, 8), :]\n"
#define OUT_T   "  copy_smem_to_gmem %t, %a[ds(0, 8), :]\n"
#define IN_S    "  copy_gmem_to_smem %a[ds(0, 8), :], %s[1], %b[0]\n"
#define COMMIT  "  commit_smem\n"

/* A body, and for each async access of it, in the order of the text, whether a fence is implied. */
typedef struct fence_case {
    const char *body, *fences;
} fence_case;

// clang-format off
static const fence_case cases[] = {
    {OUT_S, "."},
    {STORE_S OUT_S, "!"},
    {STORE_S OUT_T, "."},                 /* another object */
    {STORE_S OUT_S OUT_S, "!."},          /* the fence covers both */
    {STORE_S OUT_T OUT_S, ".!"},
    {STORE_S STORE_T OUT_T OUT_S, "!."},
    {STORE_S COMMIT OUT_S, "."},
    {STORE_S "  fence_async_shared\n" OUT_S, "."},
    {COMMIT STORE_S OUT_S, "!"},
    {LOAD_S OUT_S, "."},                  /* two reads */
    {LOAD_S IN_S, "!"},
    {STORE_S IN_S, "!"},                  /* by object: other elements count too */
    {"  atomic_add %s[0, 0, 0], 1.0\n" OUT_S, "!"},
    {OUT_S STORE_S, "."},
    /* branches */
    {"  if %p {\n" STORE_S "  }\n" OUT_S, "!"},
    {STORE_S "  if %p {\n" COMMIT "  }\n" OUT_S, "!"},
    {STORE_S "  if %p {\n" COMMIT "  } else {\n" COMMIT "  }\n" OUT_S, "."},
    {STORE_S "  if %p {\n" OUT_S "  }\n" OUT_S, "!!"},
    {"  if %p {\n" STORE_S "  } else {\n" OUT_S "  }\n" OUT_S, ".!"},
    /* loops: also from one turn to the next */
    {"  for %i in 0..4 {\n" STORE_S OUT_S "  }\n", "!"},
    {"  for %i in 0..4 {\n" OUT_S STORE_S "  }\n", "!"},
    {"  for %i in 0..4 {\n" OUT_S STORE_S COMMIT "  }\n", "."},
    {"  for %i in 0..4 {\n" OUT_S "  }\n" STORE_S, "."},
    {"  for %i in 0..4 {\n" STORE_S "  }\n" OUT_S, "!"},
    {STORE_S "  for %i in 0..%n {\n" COMMIT "  }\n" OUT_S, "!"},
    {"  for %i in 0..4 {\n    for %j in 0..4 {\n" OUT_S "    }\n" STORE_S "  }\n", "!"},
    {"  while {\n" OUT_S "    cond %p\n  } do {\n" STORE_S "  }\n", "!"},
    {"  while {\n" STORE_S "    cond %p\n  } do {\n" COMMIT "  }\n" OUT_S, "!"},
    {"  while {\n" COMMIT "    cond %p\n  } do {\n" STORE_S "  }\n" OUT_S, "."},
    /* warps and partitions */
    {STORE_S "  warp_map(%w) {\n" OUT_S "  }\n", "."},
    {"  warp_map(%w) {\n    store %s[0, 0, %w], 1\n  }\n" OUT_S, "."},
    {"  warp_map(%w) {\n    store %s[0, 0, %w], 1\n" OUT_S "  }\n", "!"},
    {"  warp_map(%w) {\n    store %s[0, 0, %w], 1\n  }\n  warp_map(%w) {\n" OUT_S "  }\n", "!"},
    {STORE_S "  warp_map(%w) {\n" COMMIT "  }\n" OUT_S, "!"},
    {STORE_S "  warp_specialize {\n" OUT_S "  } partition {\n" OUT_S "  }\n" OUT_S, "!.."},
    {STORE_S "  warp_specialize {\n  } partition {\n" OUT_S "  }\n" OUT_S, ".!"},
    {"  warp_specialize {\n" COMMIT "  } partition {\n" STORE_S "  }\n" OUT_S, "."},
    {"  warp_specialize {\n" STORE_S "  } partition {\n" COMMIT "  }\n" OUT_S, "!"},
    {"  warp_specialize {\n" STORE_S "  } partition {\n" OUT_S "  }\n", "."},
    {"  warp_specialize {\n  } partition {\n" STORE_S "  }\n  warp_specialize {\n" OUT_S "  } partition {\n" OUT_S "  }\n", ".!"},
    {"  for %i in 0..4 {\n    warp_specialize {\n" OUT_S "    } partition {\n" OUT_S STORE_S "    }\n  }\n", ".!"},
    {"  warp_specialize {\n  } partition {\n" STORE_S "    warp_map(%w) {\n" OUT_S "    }\n" OUT_S "  }\n", ".!"},
    {"  warp_map(%w) {\n    store %s[0, 0, %w], 1\n  }\n  warp_specialize {\n    warp_map(%w) {\n" OUT_S "    }\n  } partition {\n    warp_map(%w) {\n" OUT_S "    }\n  }\n", "!."},
    /* the tensor core; an operand in registers is none in SMEM */
    {"  scratch %x : smem f16[64, 64] tile(8, 64) swizzle(128)\n  scratch %c : acc f32[64, 64]\n"
     "  store %x, (broadcast 1.0 : f16[64, 64])\n  wgmma %c, %x, %x\n  wgmma %c, %x, %x\n", "!."},
    {"  scratch %x : smem f16[64, 64] tile(8, 64) swizzle(128)\n  scratch %c : acc f32[64, 64]\n"
     "  wgmma %c, %x, %x\n  %y = load %x\n  wgmma %c, %x, %x\n", ".."},
    /* cp.async writes through the generic proxy, some time before its wait */
    {"  async_copy %a[ds(0, 8), :], %s[0]\n" COMMIT OUT_S, "."},
    {"  async_copy %a[ds(0, 8), :], %s[0]\n" COMMIT "  async_copy_commit_group\n  async_copy_wait 0\n" OUT_S, "!"},
    {"  async_copy %a[ds(0, 8), :], %s[0]\n  async_copy_commit_group\n  async_copy_wait 0\n" COMMIT OUT_S, "."},
    /* branches that the index of the thread decides */
    {"  %w = axis_index wg\n  if (eq %w, 0) {\n" STORE_S "  }\n  if (eq %w, 1) {\n" OUT_S "  }\n", "."},
    {"  %w = axis_index wg\n  if (eq %w, 0) {\n" STORE_S "  }\n  if (eq %w, 0) {\n" OUT_S "  }\n", "!"},
    {"  %w = axis_index wg\n  if (eq %w, 0) {\n" STORE_S "  } else {\n" OUT_S "  }\n" OUT_S, ".!"},
    {"  %w = axis_index wg\n" STORE_S "  if (eq %w, 1) {\n" COMMIT "  }\n  if (eq %w, 1) {\n" OUT_S "  }\n", "."},
    /* the SMEM of another CTA */
    {"  store %s.cluster(1)[0], (broadcast 1.0 : f32[8, 64])\n" OUT_S, "."},
    /* scopes that share bytes */
    {"  scoped(%u : smem f32[8, 64]) collective {\n    store %u, (broadcast 1.0 : f32[8, 64])\n  }\n"
     "  scoped(%w : smem f32[8, 64]) collective {\n    copy_gmem_to_smem %a[ds(0, 8), :], %w, %b[0]\n  }\n", "!"},
};
// clang-format on

/* The answers for the async accesses of a bound kernel, '!' or '.'. */
static grout_text get_fences(const grout_module *bound) {
    grout_text fences = {0};
    grout_text_add(&fences, "%s", "");
    for (grout_op_id id = 1; id < grout_module_get_op_count(bound); id++) {
        const grout_op *op = grout_module_get_op(bound, id);
        bool is_async = op->opcode == GROUT_OP_COPY_GMEM_TO_SMEM ||
                        op->opcode == GROUT_OP_COPY_SMEM_TO_GMEM || op->opcode == GROUT_OP_WGMMA;
        if (is_async) {
            grout_text_add(&fences, "%c", grout_op_needs_auto_fence(bound, id) ? '!' : '.');
        } else {
            ck_assert(!grout_op_needs_auto_fence(bound, id));
        }
    }
    return fences;
}

/* With auto_fence 0 there is none. */
static void check_case(const fence_case *c, int auto_fence) {
    grout_text text = {0};
    grout_text_add(&text, HEADER "%s}\n", auto_fence, c->body);
    bound_text bound = bind_text(text.data, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s%s", text.data, get_said(bound.diags));
    grout_text fences = get_fences(bound.bound);
    if (auto_fence != 0) {
        ck_assert_msg(strcmp(fences.data, c->fences) == 0, "%s instead of %s in\n%s", fences.data,
                      c->fences, c->body);
    } else {
        ck_assert_ptr_null(strchr(fences.data, '!'));
    }
    grout_text_free(&fences);
    free_text(&bound);
    grout_text_free(&text);
}

TEST_EACH(fences_stand_where_they_have_to, COUNT_OF(cases)) {
    check_case(&cases[_i], 1);
    check_case(&cases[_i], 0);
}

/* Loops in loops do not multiply the work: this ends at once. */
TEST(deep_loops_end) {
    enum { DEPTH = 200 };
    grout_text text = {0};
    grout_text_add(&text, HEADER, 1);
    for (int k = 0; k < DEPTH; k++) {
        grout_text_add(&text, "  for %%i%d in 0..2 {\n", k);
    }
    grout_text_add(&text, "%s", OUT_S STORE_S);
    for (int k = 0; k < DEPTH; k++) {
        grout_text_add(&text, "  }\n");
    }
    grout_text_add(&text, "}\n");
    bound_text bound = bind_text(text.data, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s", get_said(bound.diags));
    ck_assert(grout_op_needs_auto_fence(bound.bound,
                                        find_op(bound.bound, GROUT_OP_COPY_SMEM_TO_GMEM, 0)));
    free_text(&bound);
    grout_text_free(&text);
}
