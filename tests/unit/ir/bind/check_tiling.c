/* check_tiling.c - the tile and swizzle that tile(infer) becomes: what suits every use, and which
 * of several. SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* A kernel with what the tests use, and a body. */
static bound_text bind_body(const char *body) {
    char source[4096];
    (void)snprintf(source, sizeof source,
                   "kernel @k(%%x: in gmem f16[256, 256], %%r: in gmem f16[250, 256], "
                   "%%o: out gmem f16[256, 256], %%f: out gmem f32[64, 128], %%n: i32) {\n"
                   "  scratch %%full : barrier\n  scratch %%acc : acc f32[64, 128]\n%s}\n",
                   body);
    return bind_text(source, NULL, 0);
}

static grout_tiling get_tiling(const bound_text *text, const char *name) {
    grout_tiling tiling;
    ck_assert(
        grout_object_get_inferred_tiling(text->bound, find_object(text->bound, name), &tiling));
    return tiling;
}

/* The array '%s' of a body has the tiling, and the module verifies. */
static void expect_tiling(const char *body, const char *expected) {
    bound_text text = bind_body(body);
    ck_assert_msg(text.bound != NULL, "%s%s", body, get_said(text.diags));
    ck_assert_msg(grout_verify(text.bound, GROUT_ARCH_SM_90A, text.diags), "%s%s", body,
                  get_said(text.diags));
    const grout_tiling tiling = get_tiling(&text, "s");
    const grout_tiling_text said = grout_tiling_get_text(&tiling);
    ck_assert_msg(strcmp(said.chars, expected) == 0, "%s: %s, not %s", body, said.chars, expected);
    free_text(&text);
}

static const struct {
    const char *body, *expected;
} choices[] = {
    /* no use, or none that a tile serves: rows */
    {"scratch %s : smem f16[64, 64] tile(infer)\n", "no tile"},
    {"scratch %s : smem f16[64] tile(infer)\nstore %s, (load %s)\n", "no tile"},
    {"scratch %s : smem f16[64, 64] tile(infer)\n"
     "copy_gmem_to_smem %x[ds(0, 64), ds(0, 64)], %s, %full\nstore %s, (load %s)\n",
     "no tile"},
    /* operands: the widest swizzle that the rows have */
    {"scratch %s : smem f16[64, 64] tile(infer)\n"
     "wgmma %acc[:, ds(0, 64)], %s, %s, false\n",
     "swizzle(128)"},
    {"scratch %s : smem f16[64, 128] tile(infer)\nwgmma %acc, %s[:, ds(0, 64)], %s, false\n",
     "tile(8, 64) swizzle(128)"},
    {"scratch %s : smem f16[64, 96] tile(infer)\nwgmma %acc[:, ds(0, 64)], %s, "
     "%s.transpose(1, 0), false\n",
     "tile(8, 32) swizzle(64)"},
    {"scratch %s : smem f16[64, 48] tile(infer)\nwgmma %acc[:, ds(0, 64)], %s, "
     "%s.transpose(1, 0), false\n",
     "tile(8, 16) swizzle(32)"},
    {"scratch %s : smem f16[16, 72] tile(infer)\nscratch %a : smem f16[64, 16] tile(infer)\n"
     "wgmma %acc[:, ds(0, 72)], %a, %s, false\n",
     "tile(8, 8)"},
    /* TMA brings tiles as high as its box in boxes of fewer dimensions */
    {"scratch %s : smem f16[64, 128] tile(infer)\n"
     "copy_gmem_to_smem %x[ds(0, 64), ds(0, 128)], %s, %full\nwgmma %acc, %s[:, ds(0, 64)], %s, "
     "false\n",
     "tile(64, 64) swizzle(128)"},
    /* .. and, where the array has no whole tiles, in fewer boxes */
    {"scratch %s : smem f16[128, 128] tile(infer)\n"
     "copy_gmem_to_smem %r[ds(0, 64), ds(0, 128)], %s[ds(0, 64)], %full\n"
     "wgmma %acc, %s[ds(0, 64), ds(0, 64)], %s[ds(64, 64)], false\n",
     "tile(64, 64) swizzle(128)"},
    /* a slice that no higher tile has */
    {"scratch %s : smem f16[64, 128] tile(infer)\nstore %s[ds(8, 8)], (broadcast 0.0 : f16[8, "
     "128])\n"
     "wgmma %acc, %s[:, ds(0, 64)], %s, false\n",
     "tile(8, 64) swizzle(128)"},
    /* a slice of columns that only a narrower tile has */
    {"scratch %s : smem f16[64, 128] tile(infer)\nstore %s[:, ds(32, 32)], (broadcast 0.0 : "
     "f16[64, "
     "32])\nwgmma %acc, %s[:, ds(0, 64)], %s, false\n",
     "tile(8, 32) swizzle(64)"},
    /* fragments would meet in banks, rows do not */
    {"scratch %s : smem f16[64, 128] tile(infer)\nstore %s, (cast (load %acc) : f16)\n",
     "tile(8, 64) swizzle(128)"},
    {"scratch %s : smem f16[64, 128] tile(infer)\n"
     "%v = for %i in 0..4 carry(%c = (cast (load %acc) : f16)) {\n  yield %c\n}\nstore %s, %v\n",
     "tile(8, 64) swizzle(128)"},
    {"scratch %s : smem f16[64, 128] tile(infer)\n"
     "store %s, (broadcast (reduce_sum (load %s) dim(1)) dim(0) : f16[64, 128])\n",
     "tile(8, 64) swizzle(128)"},
    {"scratch %s : smem f32[64, 64] tile(infer)\nstore %f[:, ds(0, 64)], (load %s.transpose(1, "
     "0))\n",
     "tile(8, 32) swizzle(128)"},
    /* a swizzle that is written, and an order of storing */
    {"scratch %s : smem f16[64, 128] tile(infer) swizzle(64)\n", "tile(8, 32) swizzle(64)"},
    {"scratch %s : smem f16[64, 32] tile(infer) swizzle(64)\n", "swizzle(64)"},
    {"scratch %s : smem f16[128, 64] tile(infer) transpose(1, 0)\n"
     "wgmma %acc, %s.transpose(1, 0)[:, ds(0, 64)], %s.transpose(1, 0), false\n",
     "tile(8, 64) swizzle(128)"},
    /* slots in front of the matrix, and views of it */
    {"scratch %s : smem f16[3, 64, 128] tile(infer)\nwgmma %acc, %s[1, :, ds(0, 64)], %s[%n], "
     "false\n",
     "tile(8, 64) swizzle(128)"},
    {"scratch %s : smem f16[64, 128] tile(infer)\nstore %f[:, ds(0, 64)], (cast (load "
     "%s.bitcast(u32)) : f32)\nwgmma %acc, %s[:, ds(0, 64)], %s, false\n",
     "tile(8, 64) swizzle(128)"},
    {"scratch %s : smem f16[64, 128] tile(infer)\nstore %s.reshape(8, 8, 128), (broadcast 0.0 : "
     "f16[8, 8, 128])\nwgmma %acc, %s[:, ds(0, 64)], %s, false\n",
     "tile(8, 64) swizzle(128)"},
    /* an alias that starts where no swizzle can */
    {"scratch %b : smem u8[32768]\nscratch %s : smem f16[64, 128] tile(infer) alias(%b, 128)\n"
     "store %s, (cast (load %acc) : f16)\n",
     "tile(8, 8)"},
    /* elements of 4 bits: two in a byte */
    {"scratch %s : smem i4[64, 128] tile(infer) swizzle(32)\n", "tile(8, 64) swizzle(32)"},
};

TEST_EACH(choice, COUNT_OF(choices)) {
    expect_tiling(choices[_i].body, choices[_i].expected);
}

/* The layout is that of the words. */
TEST(layout) {
    bound_text text = bind_body("scratch %s : smem f16[64, 128] tile(infer)\n"
                                "scratch %t : smem f16[64, 128] tile(8, 64) swizzle(128)\n"
                                "wgmma %acc, %s[:, ds(0, 64)], %s, false\n");
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    const grout_layout *inferred =
        grout_object_get_layout(text.bound, find_object(text.bound, "s"));
    const grout_layout *written = grout_object_get_layout(text.bound, find_object(text.bound, "t"));
    for (int64_t row = 0; row < 64; row++) {
        for (int64_t col = 0; col < 128; col++) {
            const int64_t index[] = {row, col};
            ck_assert_int_eq(grout_layout_get_offset(inferred, index),
                             grout_layout_get_offset(written, index));
        }
    }
    grout_tiling none;
    ck_assert(!grout_object_get_inferred_tiling(text.bound, find_object(text.bound, "t"), &none));
    free_text(&text);
}

static const struct {
    const char *body;
    grout_diag_code code;
    const char *message;
} refusals[] = {
    {"scratch %s : smem f16[64, 128] tile(infer)\nstore %s[ds(0, 4)], (broadcast 0.0 : f16[4, "
     "128])\n"
     "wgmma %acc, %s[:, ds(0, 64)], %s, false\n",
     GROUT_DIAG_TILE_CONFLICT, "no tile and swizzle of '%s' suit both 'store' and 'wgmma'"},
    {"scratch %s : smem f16[64, 30] tile(infer)\nscratch %b : smem f16[16, 128] tile(infer)\n"
     "wgmma %acc, %s[:, ds(0, 16)], %b, false\n",
     GROUT_DIAG_TILE_CONFLICT, "no tile and swizzle of '%s' suit 'wgmma'"},
    {"scratch %s : smem f16[64, 32] tile(infer) swizzle(128)\n", GROUT_DIAG_TILE_CONFLICT,
     "'%s' can have no tile with the swizzle that is written"},
    {"scratch %s : smem f16[64] tile(infer) swizzle(128)\n", GROUT_DIAG_NONE, ""},
    {"scratch %s : smem f16[60] tile(infer) swizzle(128)\n", GROUT_DIAG_TILE_CONFLICT,
     "'%s' can have no tile with the swizzle that is written"},
    {"scratch %s : smem f16[64, 64] tile(infer) swizzle(16)\n", GROUT_DIAG_BAD_TRANSFORM,
     "a swizzle of 16 bytes: there are 32, 64 and 128"},
    /* what no tile is to blame for is no conflict, and the verifier says it */
    {"scratch %s : smem f32[64, 64] tile(infer)\nwgmma %acc[:, ds(0, 64)], %s.transpose(1, 0), %s, "
     "false\n",
     GROUT_DIAG_NONE, ""},
    {"scratch %s : smem f16[64, 64] tile(infer)\nwgmma %acc, %s, %s, false\n", GROUT_DIAG_NONE, ""},
    {"scratch %s : smem f16[300, 64] tile(infer)\ncopy_gmem_to_smem %x[ds(0, 256), ds(0, 64)], "
     "%s[ds(1, 256)], %full\n",
     GROUT_DIAG_NONE, ""},
};

TEST_EACH(refusal, COUNT_OF(refusals)) {
    bound_text text = bind_body(refusals[_i].body);
    ck_assert_msg(get_code(text.diags) == refusals[_i].code, "%s%s", refusals[_i].body,
                  get_said(text.diags));
    ck_assert((text.bound == NULL) == (refusals[_i].code != GROUT_DIAG_NONE));
    if (text.bound == NULL) {
        ck_assert_str_eq(grout_diags_get(text.diags, 0)->message, refusals[_i].message);
    }
    free_text(&text);
}

/* Two arrays have a report each. */
TEST(each_array_by_itself) {
    bound_text text = bind_body("scratch %s : smem f16[64, 32] tile(infer) swizzle(128)\n"
                                "scratch %t : smem f16[64, 16] tile(infer) swizzle(64)\n");
    ck_assert_ptr_null(text.bound);
    ck_assert_uint_eq(grout_diags_count(text.diags), 2);
    free_text(&text);
}

/* With other sizes it is another one, and the module as written stays as it is. */
TEST(sizes) {
    static const char source[] = "const K = 64\n"
                                 "kernel @k(%c: out gmem f32[64, 64]) {\n"
                                 "  scratch %s : smem f16[64, K] tile(infer)\n"
                                 "  scratch %acc : acc f32[64, 64]\n"
                                 "  wgmma %acc, %s, %s.transpose(1, 0), false\n"
                                 "  store %c, (load %acc)\n"
                                 "}\n";
    static const struct {
        int64_t k;
        const char *expected;
    } cases[] = {{16, "swizzle(32)"},
                 {32, "swizzle(64)"},
                 {64, "swizzle(128)"},
                 {80, "tile(8, 16) swizzle(32)"},
                 {128, "tile(8, 64) swizzle(128)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const grout_define k = {.name = "K", .integer = cases[i].k};
        bound_text text = bind_text(source, &k, 1);
        ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
        const grout_tiling tiling = get_tiling(&text, "s");
        ck_assert_str_eq(grout_tiling_get_text(&tiling).chars, cases[i].expected);
        grout_text printed = {0};
        grout_module_print(text.symbolic, &printed);
        ck_assert_ptr_nonnull(strstr(printed.data, "f16[64, K] tile(infer)\n"));
        grout_text_free(&printed);
        free_text(&text);
    }
}
