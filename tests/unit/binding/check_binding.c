/* check_binding.c - what a binding compares with the library, and the words of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/asserted.h"
#include "grout-internal/words.h"
#include "grout/grout.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* ---- versions ------------------------------------------------------------------------------- */

TEST(versions_are_those_of_the_headers) {
    ck_assert_uint_eq(grout_abi_get_version(), GROUT_ABI_VERSION);
    ck_assert_str_eq(grout_get_version(), GROUT_VERSION);
    ck_assert_uint_ne(grout_abi_get_tables(), 0);
    ck_assert_uint_eq(grout_abi_get_tables(), grout_abi_get_tables());
}

/* Bytes of a public struct; 0: there is none. */
static size_t get_size(const char *name) {
    size_t size = 0;
    const char *known = grout_abi_get_struct(0, &size);
    for (uint32_t i = 1; known != NULL && strcmp(known, name) != 0; i++) {
        known = grout_abi_get_struct(i, &size);
    }
    return known == NULL ? 0 : size;
}

TEST(structs_have_their_sizes) {
    ck_assert_uint_eq(get_size("grout_array"), sizeof(grout_array));
    ck_assert_uint_eq(get_size("grout_operand"), sizeof(grout_operand));
    ck_assert_uint_eq(get_size("grout_kernel"), sizeof(grout_kernel));
    ck_assert_uint_eq(get_size("grout_wgmma"), 0);   /* of no installed header */
    ck_assert_uint_eq(get_size("grout_machine"), 0); /* nobody sees into it */
    ck_assert_uint_eq(get_size(""), 0);
}

TEST(structs_are_listed_once_in_order) {
    const char *before = "", *name;
    size_t size = 0;
    uint32_t count = 0;
    while ((name = grout_abi_get_struct(count, &size)) != NULL) {
        ck_assert_uint_gt(size, 0);
        ck_assert(strcmp(before, name) < 0);
        before = name;
        count++;
    }
    ck_assert_uint_gt(count, 40);
    ck_assert_ptr_null(grout_abi_get_struct(UINT32_MAX, &size));
}

/* ---- words ---------------------------------------------------------------------------------- */

static void expect_text(grout_text *text, const char *expected) {
    ck_assert_str_eq(text->data, expected);
    grout_text_free(text);
}

static void expect_verdict(grout_verdict_line line, const char *expected) {
    grout_text text = {0};
    line.kernel = "k";
    grout_describe_verdict(&line, &text);
    expect_text(&text, expected);
}

TEST(verdicts_have_words) {
    expect_verdict((grout_verdict_line){.word = "clean"}, "@k: clean");
    expect_verdict((grout_verdict_line){.word = "clean", .differs = "%c differs"},
                   "@k: clean of races, but %c differs");
    expect_verdict((grout_verdict_line){.word = "error",
                                        .differs = "%c differs",
                                        .counts = {.errors = 1, .follow_on = 1}},
                   "@k: error, 1 error, 1 more that follows from it, and %c differs");
    expect_verdict(
        (grout_verdict_line){
            .word = "error",
            .counts = {.errors = 2, .warnings = 1, .silenced = 4, .follow_on = 2, .unlisted = 5}},
        "@k: error, 2 errors, 1 warning, 4 silenced, 2 more that follow from these, 5 "
        "past --max-findings");
    expect_verdict((grout_verdict_line){.word = "clean", .color = true},
                   "@k: \033[1;32mclean\033[0m");
    expect_verdict((grout_verdict_line){.word = "incomplete", .color = true},
                   "@k: \033[1;33mincomplete\033[0m");
    expect_verdict((grout_verdict_line){.word = "clean", .differs = "%c differs", .color = true},
                   "@k: \033[1;31mclean of races\033[0m, but %c differs");
}

TEST_EACH(launches_have_words, 3) {
    static const char *const texts[][2] = {
        {"kernel @k()\n{\n}\n", "one CTA of one thread"},
        {"kernel @k() grid(x = 2, y = 3) threads(wg = 2)\n{\n}\n", "grid(x=2, y=3) threads(wg=2)"},
        {"kernel @k() cluster(c = 2)\n{\n}\n", "cluster(c=2)"},
    };
    grout_text text = {0};
    bound_text it = bind_text(texts[_i][0], NULL, 0);
    ck_assert_msg(it.bound != NULL, "%s", get_said(it.diags));
    grout_describe_launch(it.bound, 1, &text);
    expect_text(&text, texts[_i][1]);
    free_text(&it);
}

TEST(promises_have_words) {
    grout_check_summary summary = {
        .is_well_synchronised = true, .not_well_synchronised_because = "", .assuming = ""};
    grout_text text = {0};
    grout_describe_promise(&summary, false, NULL, &text);
    expect_text(&text, "holds for every schedule and timing of this launch with these inputs");
    summary.assuming = "CTAs start in grid order";
    grout_describe_promise(&summary, false, NULL, &text);
    expect_text(&text, "holds for every schedule and timing of this launch with these inputs, "
                       "assuming that CTAs start in grid order");
    summary.is_well_synchronised = false;
    grout_describe_promise(&summary, false, NULL, &text);
    expect_text(&text, "holds for this schedule");
    summary.not_well_synchronised_because = "an atomic decides";
    grout_describe_promise(&summary, false, NULL, &text);
    expect_text(&text, "holds for this schedule: an atomic decides");
    grout_describe_promise(&summary, true, NULL, &text);
    expect_text(&text, "fails under this schedule: an atomic decides");
    grout_describe_promise(&summary, false, "time is over", &text);
    expect_text(&text, "the run is incomplete: time is over; nothing is known of the rest");
}

TEST(non_finite_values_have_words) {
    grout_run_stats stats = {0};
    grout_text text = {0};
    grout_describe_non_finite(&stats, &text);
    expect_text(&text, "no operation made NaN or infinity out of numbers");
    stats.non_finite_made = 1;
    grout_describe_non_finite(&stats, &text);
    expect_text(&text, "1 element was made NaN or infinite out of numbers");
    stats.non_finite_made = 2;
    stats.non_finite_follow = 3;
    grout_describe_non_finite(&stats, &text);
    expect_text(&text, "2 elements were made NaN or infinite out of numbers; 3 computed from such "
                       "stayed so");
}

TEST(findings_have_words) {
    grout_finding finding = {.code = GROUT_DIAG_SMEM_RACE, .primary = {.file = "k", .line = 26}};
    grout_text text = {0};
    grout_describe_finding(&finding, &text);
    expect_text(&text, "smem-race at line 26");
    finding.related = finding.primary;
    grout_describe_finding(&finding, &text);
    expect_text(&text, "smem-race at line 26");
    finding.related.line = 37;
    grout_describe_finding(&finding, &text);
    expect_text(&text, "smem-race at lines 26 and 37");
}

/* ---- consts by sizes ------------------------------------------------------------------------ */

TEST(dimensions_are_consts) {
    bound_text it =
        bind_text("const N = 4\nkernel @k(%a: in gmem f32[N, 8, N * 2], %s: i32)\n{\n}\n", NULL, 0);
    ck_assert_msg(it.bound != NULL, "%s", get_said(it.diags));
    const grout_kernel *kernel = grout_module_get_kernel(it.symbolic, 1);
    const grout_param *array = grout_module_get_param(it.symbolic, kernel, 0);
    const grout_param *scalar = grout_module_get_param(it.symbolic, kernel, 1);
    ck_assert_uint_eq(grout_param_get_dim_const(it.symbolic, array, 0),
                      grout_module_find_const(it.symbolic, "N"));
    for (uint32_t dim = 1; dim <= 3; dim++) { /* a number, an expression, none */
        ck_assert_uint_eq(grout_param_get_dim_const(it.symbolic, array, dim), 0);
    }
    ck_assert_uint_eq(grout_param_get_dim_const(it.symbolic, scalar, 0), 0);
    free_text(&it);
}
