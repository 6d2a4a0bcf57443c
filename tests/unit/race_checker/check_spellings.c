/* check_spellings.c - what a finding says to write, as the author of a kernel writes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "race_checker/words/sentences.h"
#include "tests/tests.h"

#include "grout/build.h"

#include <string.h>

static const struct {
    const char *id, *text, *pallas;
} rows[] = {
#define GROUT_SPELLING(ID, TEXT, PALLAS) {#ID, TEXT, PALLAS},
#include "race_checker/words/spellings.def"
};

static const grout_words filled = {
#define GROUT_WORD(NAME, MEANING)   .NAME = "<" #NAME ">",
#define GROUT_NUMBER(NAME, MEANING) .NAME = 1000,
#include "race_checker/words/sentences.def"
};

/* ---- the table ---- */

TEST_EACH(each_row_is_found, GROUT_SPELLING_COUNT) {
    grout_spelling_id id = (grout_spelling_id)_i;
    ck_assert_str_eq(grout_spelling__get(GROUT_SURFACE_TEXT, id), rows[_i].text);
    ck_assert_str_eq(grout_spelling__get(GROUT_SURFACE_PALLAS, id), rows[_i].pallas);
}

TEST_EACH(each_row_is_filled, GROUT_SPELLING_COUNT) {
    for (int surface = 0; surface <= GROUT_SURFACE_PALLAS; surface++) {
        const char *row = grout_spelling__get((grout_surface)surface, (grout_spelling_id)_i);
        grout_text text = {.allocator = NULL};
        grout_spelling__add(&text, (grout_surface)surface, (grout_spelling_id)_i, &filled);
        ck_assert(!text.failed);
        const char *got = text.data ? text.data : "";
        ck_assert_msg(strpbrk(got, "{}%\n") == NULL, "%s: '%s'", rows[_i].id, got);
        const grout_opcode opcode = grout_spelling__get_op((grout_spelling_id)_i);
        if (surface == GROUT_SURFACE_TEXT && opcode != GROUT_OP_NONE) {
            const char *mnemonic = grout_op_get_info(opcode)->text;
            ck_assert_msg(strncmp(got, mnemonic, strlen(mnemonic)) == 0, "%s: '%s'", rows[_i].id,
                          got);
            got += strlen(mnemonic);
        }
        ck_assert_msg((strchr(row, '{') == NULL) == (strcmp(row, got) == 0), "%s: '%s'",
                      rows[_i].id, got);
        grout_text_free(&text);
    }
}

/* Words of the text format that no Python has. */
TEST_EACH(pallas_rows_are_no_text, GROUT_SPELLING_COUNT) {
    static const char *const words[] = {"attr ",         "arrivals(",  "order(",
                                        "scope(",        "read_only'", "cluster_barrier",
                                        "block_barrier", "mbarrier"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(rows[_i].pallas, words[i]);
        ck_assert_msg(at == NULL, "%s: '%s' is not Python", rows[_i].id, rows[_i].pallas);
    }
}

TEST(an_operation_has_its_number) {
    grout_text text = {.allocator = NULL};
    grout_spelling__add(&text, GROUT_SURFACE_TEXT, GROUT_SPELLING_WAIT_STORES_READ,
                        &(grout_words){.number = 2});
    ck_assert_str_eq(text.data, "wait_smem_to_gmem 2 read_only");
    grout_text_free(&text);
    text = (grout_text){.allocator = NULL};
    grout_spelling__add(&text, GROUT_SURFACE_PALLAS, GROUT_SPELLING_WAIT_STORES_READ,
                        &(grout_words){.number = 2});
    ck_assert_str_eq(text.data, "plgpu.wait_smem_to_gmem(2, wait_read_only=True)");
    grout_text_free(&text);
}

/* ---- names ---- */

/* Two barriers, of one element and of two, in a module of the surface. */
static grout_module *build_barriers(grout_surface surface) {
    grout_diags *diags = grout_diags_new();
    grout_builder *builder = grout_builder_new("check_spellings");
    grout_builder_surface(builder, surface);
    grout_builder_kernel(builder, "k");
    const grout_expr_id one = grout_build_int(builder, 1), two = grout_build_int(builder, 2);
    grout_build_object object = {
        .kind = GROUT_OBJECT_BARRIER, .dtype = GROUT_DTYPE_NONE, .rank = 1, .dims = &one};
    (void)grout_build_scratch(builder, "done", &object);
    object.dims = &two;
    (void)grout_build_scratch(builder, "full", &object);
    grout_builder_end_kernel(builder);
    grout_module *module = grout_builder_finish(builder, diags);
    ck_assert_ptr_nonnull(module);
    grout_module *bound = grout_module_bind(module, NULL, 0, diags);
    ck_assert_ptr_nonnull(bound);
    grout_module_free(module);
    grout_diags_free(diags);
    return bound;
}

static void check_element(const grout_module *module, grout_object_id object, int64_t index,
                          const char *expected) {
    grout_text text = {.allocator = NULL};
    grout_element__print(module, object, index, &text);
    ck_assert_str_eq(text.data, expected);
    grout_text_free(&text);
}

TEST(elements_are_named_as_the_author_does) {
    grout_module *text = build_barriers(GROUT_SURFACE_TEXT);
    grout_module *pallas = build_barriers(GROUT_SURFACE_PALLAS);
    ck_assert_int_eq(grout_module_get_surface(text), GROUT_SURFACE_TEXT);
    ck_assert_int_eq(grout_module_get_surface(pallas), GROUT_SURFACE_PALLAS); /* of a copy, too */
    check_element(text, 1, 0, "%done[0]");
    check_element(text, 2, 1, "%full[1]");
    check_element(pallas, 1, 0, "done");
    check_element(pallas, 2, 1, "full[1]");
    grout_module_free(text);
    grout_module_free(pallas);
}

/* In a copy of the module, too. */
TEST(a_place_may_be_inside_of_what_its_line_calls) {
    grout_diags *diags = grout_diags_new();
    grout_builder *builder = grout_builder_new("check_spellings");
    const grout_loc outer = {.line = 3, .kind = GROUT_LOC_PYTHON, .is_within_call = true};
    const grout_loc_id loc = grout_builder_at(builder, outer, "user.py");
    grout_builder_kernel(builder, "k");
    grout_builder_end_kernel(builder);
    grout_module *module = grout_builder_finish(builder, diags);
    ck_assert_ptr_nonnull(module);
    grout_module *bound = grout_module_bind(module, NULL, 0, diags);
    ck_assert_ptr_nonnull(bound);
    ck_assert(grout_module_get_loc(bound, loc)->is_within_call);
    grout_module_free(bound);
    grout_module_free(module);
    grout_diags_free(diags);
}
