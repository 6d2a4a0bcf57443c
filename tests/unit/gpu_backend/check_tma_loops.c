/* check_tma_loops.c - why a copy takes several boxes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"
#include "tma_loops.h"

typedef struct loop_case {
    const char *head; /* what stands before the copy */
    const char *gmem, *smem, *source, *destination;
    const char *why, *remedy;
} loop_case;

static const char own[] = "give each column of tiles an smem array of its own";

static const loop_case loop_cases[] = {
    {"", "bf16[1024, 200]", "bf16[64, 128] tile(8, 64) swizzle(128)", "%a[ds(%i, 64), ds(0, 128)]",
     "%s", "dimension 1 of '%a' has 200 elements, no whole number of tiles of 64",
     "let '%a' have 256 elements in dimension 1; or "},
    {"", "bf16[100, 64]", "bf16[64, 64] tile(32, 32) swizzle(64)", "%a[ds(0, 64)]", "%s",
     "dimension 0 of '%a' has 100 elements, no whole number of tiles of 32",
     "let '%a' have 128 elements in dimension 0; or "},
    {"", "bf16[1024, 256]", "bf16[64, 128] tile(8, 64) swizzle(128)", "%a[ds(0, 64), ds(%i, 128)]",
     "%s", "in dimension 1 of '%a' it may start inside a tile of 64 elements",
     "write the start as a multiple of 64, as in ds(%i * 64, ..)"},
    {"", "bf16[128, 128]", "bf16[128, 128] tile(128, 64) swizzle(128)", "%a[ds(0, 64)]",
     "%s[ds(0, 64)]", "its tiles do not follow each other in shared memory", own},
    {"", "u8[8, 4112]", "u8[8, 4112] tile(8, 16)", "%a", "%s",
     "it has more tiles beside each other than the 256 that a box takes", own},
    {"", "bf16[4, 4, 4, 64, 128]", "bf16[64, 128] tile(64, 64) swizzle(128)", "%a[%i, %i, %i]",
     "%s", "the box has 5 dimensions already, as many as TMA takes", own},
    {"  scratch %maps : gmem u64[1, 16]\n  %d = make_tensor_descriptor %maps[0], %a, 0, 64, 0, 128 "
     ": bf16[64, 128]\n  tensormap_acquire %maps[0]\n",
     "bf16[1024, 256]", "bf16[64, 128] tile(8, 64) swizzle(128)", "%d[0, 0]", "%s",
     "a tensor map that the kernel makes ends anywhere, not at a tile", own},
};

TEST_EACH(the_reason_is_named, COUNT_OF(loop_cases)) {
    const loop_case *c = &loop_cases[_i];
    char kernel[1024];
    (void)snprintf(kernel, sizeof kernel,
                   "kernel @k(%%a: in gmem %s)\n"
                   "    grid(i = 4) {\n  %%i = axis_index i\n  scratch %%s : smem %s\n"
                   "  scratch %%b : barrier[1]\n%s  copy_gmem_to_smem %s, %s, %%b[0]\n}\n",
                   c->gmem, c->smem, c->head, c->source, c->destination);
    bound_text text = bind_text(kernel, NULL, 0);
    const grout_op_id copy = find_op(text.bound, GROUT_OP_COPY_GMEM_TO_SMEM, 0);
    grout_tma tma;
    grout_text why = {0}, remedy = {0};
    ck_assert_msg(grout_tma_plan(text.bound, copy, &tma, text.diags), "%s", get_said(text.diags));
    ck_assert(tma.panel_count > 1 || tma.band_count > 1);
    grout_tma_loops__explain(text.bound, grout_module_get_op(text.bound, copy), &tma, &why,
                             &remedy);
    ck_assert_str_eq(why.data, c->why);
    ck_assert_msg(strstr(remedy.data, c->remedy) == remedy.data, "%s", remedy.data);
    grout_text_free(&why);
    grout_text_free(&remedy);
    free_text(&text);
}
