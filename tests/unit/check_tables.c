/* check_tables.c - every line of the .def tables is found by its name and says what it is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/ir.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(each_op_is_found_and_documented) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    ck_assert_int_eq(grout_op_find(info->text, strlen(info->text)), _i);
    ck_assert_uint_gt(strlen(info->doc), 5);
    ck_assert_uint_gt(strlen(info->syntax), 1);
    ck_assert_uint_ge(info->form, 1);
    ck_assert_uint_lt(info->form, GROUT_FORM_COUNT);
    ck_assert_uint_lt(info->effect_row, GROUT_EFFECT_ROW_COUNT);
    ck_assert_uint_le(info->types, GROUT_TYPES_MMA);
    ck_assert_uint_eq(info->attrs & ~((1u << GROUT_ATTR_COUNT) - 1), 0);
    ck_assert(info->results <= 1 || info->results == 9);
}
END_TEST

START_TEST(letters_of_each_form_are_known) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    for (const char *at = info->operands; *at != '\0'; at++) {
        const grout_letter_info *letter = grout_letter_get_info(*at);
        ck_assert_msg(letter != NULL,
                      "the form of '%s' has the letter '%c', and no GROUT_LETTER "
                      "line says what that is",
                      info->text, *at);
        ck_assert_msg(letter->kind != GROUT_LETTER_SCALAR || info->rule != GROUT_RULE_NONE,
                      "an operand of '%s' is 's', and its form has no rule that knows the element "
                      "type: 'i' is an i32",
                      info->text);
    }
    const char *star = strchr(info->operands, '*');
    ck_assert_msg(star == NULL || star[1] == '\0', "'*' is not the last letter of %s", info->text);
}
END_TEST

START_TEST(alu_ops_are_pure_and_have_an_expression) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    if (info->expression != NULL) {
        ck_assert_uint_eq(info->effect_row, GROUT_EFFECT_ROW_PURE);
        ck_assert_int_eq(strncmp(info->expression, "GROUT_", 6), 0);
        ck_assert_uint_eq(info->results, 1);
    }
}
END_TEST

/* Only the functions that nobody rounds correctly say how far off they may be. */
START_TEST(functions_say_how_exact_they_are) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    bool is_function = info->form == GROUT_FORM_MATH;
    ck_assert(is_function == (info->ulp > 0));
    ck_assert(info->ulp <= 5);
    ck_assert(!is_function || (info->attrs == GROUT_ATTR_BIT_APPROX && info->expression != NULL &&
                               info->types == GROUT_TYPES_FLOAT));
    ck_assert(info->form != GROUT_FORM_REDUCE ||
              (info->attrs == GROUT_ATTR_BIT_DIM && info->expression != NULL));
}
END_TEST

/* Letter and effect row say the same of an operand. */
static void check_space(const grout_op_info *info, const grout_effect *effect) {
    const grout_letter_info *letter = grout_letter_get_info(info->operands[effect->operand]);
    bool is_barrier = effect->space == GROUT_EFFECT_SPACE_BARRIER;
    bool is_semaphore = effect->space == GROUT_EFFECT_SPACE_SEMAPHORE;
    ck_assert_msg(is_barrier == (letter->kind == GROUT_LETTER_BARRIER) &&
                      is_semaphore == (letter->kind == GROUT_LETTER_SEMAPHORE),
                  "operand %d of '%s': its letter is '%c', and its effect another kind",
                  effect->operand + 1, info->text, letter->letter);
    ck_assert_msg(is_barrier || is_semaphore || letter->space == GROUT_EFFECT_SPACE_ANY ||
                      letter->space == effect->space,
                  "operand %d of '%s': the letter '%c' and its effect name different spaces",
                  effect->operand + 1, info->text, letter->letter);
    ck_assert_msg(letter->letter != 'G' || effect->proxy == GROUT_PROXY_ASYNC,
                  "operand %d of '%s': TMA goes through the async proxy", effect->operand + 1,
                  info->text);
}
/* The update whose name a reduction's expression has; no other op has one. */
START_TEST(reductions_combine_by_an_update) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    grout_update reduction = grout_op_get_reduction((grout_opcode)_i);
    const char *expression = reduction == GROUT_UPDATE_ADD   ? "GROUT_ADD(a, b)"
                             : reduction == GROUT_UPDATE_MIN ? "GROUT_MIN(a, b)"
                             : reduction == GROUT_UPDATE_MAX ? "GROUT_MAX(a, b)"
                                                             : "";
    if (info->rule == GROUT_RULE_REDUCE) {
        ck_assert_str_eq(info->expression, expression);
    } else {
        ck_assert_int_eq(reduction, GROUT_UPDATE_NONE);
    }
}
END_TEST

START_TEST(effects_of_each_op_name_operands_of_its_form) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    uint32_t count;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    ck_assert_ptr_nonnull(effects);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_lt(effects[i].operand, strlen(info->operands));
        check_space(info, &effects[i]);
        ck_assert(i == 0 || effects[i - 1].operand < effects[i].operand);
    }
}
END_TEST

START_TEST(copies_touch_what_effects_def_says) {
    uint32_t count;
    const grout_effect *effects = grout_effect_row_get_effects(GROUT_EFFECT_ROW_COPY_IN, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(effects[1].proxy, GROUT_PROXY_ASYNC);
    ck_assert_uint_eq(effects[1].access, GROUT_ACCESS_WRITE);
    ck_assert_uint_eq(effects[1].milestone, GROUT_MILESTONE_PHASE);
    ck_assert_int_eq(grout_effect_row_get_class(GROUT_EFFECT_ROW_COPY_IN), GROUT_EFFECT_ASYNC);
    (void)grout_effect_row_get_effects(GROUT_EFFECT_ROW_PURE, &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(each_effect_row_is_documented) {
    ck_assert_uint_gt(strlen(grout_effect_row_get_doc((grout_effect_row)_i)), 5);
}
END_TEST

START_TEST(each_dtype_is_found_and_documented) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)_i);
    ck_assert_int_eq(grout_dtype_find(info->text, strlen(info->text)), _i);
    ck_assert_uint_gt(strlen(info->doc), 5);
    ck_assert(info->bytes == 1 || info->bytes == 2 || info->bytes == 4 || info->bytes == 8);
    ck_assert_uint_ne(info->class_, GROUT_CLASS_NONE);
    ck_assert(info->bytes == 8 || info->poison >> (8 * info->bytes) == 0);
}
END_TEST

START_TEST(arithmetic_types_are_six) {
    uint32_t count = 0;
    for (int i = 1; i < GROUT_DTYPE_COUNT; i++) {
        count += grout_dtype_get_info((grout_dtype)i)->is_arithmetic;
    }
    ck_assert_uint_eq(count, 6);
    ck_assert(grout_dtype_get_info(GROUT_DTYPE_F32)->is_arithmetic);
    ck_assert(grout_dtype_get_info(GROUT_DTYPE_BF16)->is_arithmetic);
    ck_assert(!grout_dtype_get_info(GROUT_DTYPE_F8E4M3)->is_arithmetic);
}
END_TEST

START_TEST(each_attribute_is_found_and_documented) {
    const grout_attr_info *info = grout_attr_get_info((grout_attr)_i);
    ck_assert_int_eq(grout_attr_find(info->text, strlen(info->text)), _i);
    ck_assert_uint_gt(strlen(info->doc), 5);
}
END_TEST

/* A choice is found under its own attribute only; attributes of other kinds have none. */
START_TEST(each_choice_is_found_and_documented) {
    const grout_choice_info *info = grout_choice_get_info((grout_choice)_i);
    ck_assert_uint_gt(strlen(info->doc), 2);
    ck_assert_uint_eq(grout_attr_get_info((grout_attr)info->attr)->argument, GROUT_ARGUMENT_CHOICE);
    for (int attr = 0; attr < GROUT_ATTR_COUNT; attr++) {
        grout_choice found = grout_choice_find((grout_attr)attr, info->text, strlen(info->text));
        ck_assert(attr == info->attr ? (int)found == _i : (int)found != _i);
    }
}
END_TEST

START_TEST(each_attribute_that_chooses_has_choices) {
    uint32_t count = 0;
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        count += grout_choice_get_info((grout_choice)i)->attr == (uint8_t)_i;
    }
    bool chooses = grout_attr_get_info((grout_attr)_i)->argument == GROUT_ARGUMENT_CHOICE;
    ck_assert(chooses ? count >= 2 : count == 0);
}
END_TEST

START_TEST(each_space_is_found) {
    const char *text = grout_space_get_text((grout_space)_i);
    ck_assert_int_eq(grout_space_find(text, strlen(text)), _i);
}
END_TEST

START_TEST(each_code_is_found_and_documented) {
    const grout_diag_info *info = grout_diag_get((grout_diag_code)_i);
    ck_assert_int_eq(grout_diag_find(info->text), _i);
    ck_assert_uint_gt(strlen(info->doc), 10);
    ck_assert_uint_eq(strspn(info->text, "abcdefghijklmnopqrstuvwxyz-"), strlen(info->text));
    ck_assert(info->severity == GROUT_SEVERITY_ERROR || info->severity == GROUT_SEVERITY_WARNING ||
              info->severity == GROUT_SEVERITY_ADVICE);
}
END_TEST

START_TEST(what_is_unknown_is_not_found) {
    ck_assert_int_eq(grout_op_find("ad", 2), GROUT_OP_NONE);
    ck_assert_int_eq(grout_op_find("addx", 4), GROUT_OP_NONE);
    ck_assert_int_eq(grout_op_find("addx", 3), GROUT_OP_ADD);
    ck_assert_int_eq(grout_op_find("", 0), GROUT_OP_NONE);
    ck_assert_int_eq(grout_dtype_find("f33", 3), GROUT_DTYPE_NONE);
    ck_assert_int_eq(grout_attr_find("dims", 4), GROUT_ATTR_COUNT);
    ck_assert_int_eq(grout_space_find("mem", 3), GROUT_SPACE_NONE);
    ck_assert_int_eq(grout_choice_find(GROUT_ATTR_ORDER, "acquires", 8), GROUT_CHOICE_NONE);
    ck_assert_int_eq(grout_choice_find(GROUT_ATTR_ORDER, "sys", 3), GROUT_CHOICE_NONE);
    ck_assert_int_eq(grout_diag_find("no-such-code"), GROUT_DIAG_NONE);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("tables");
    TCase *tcase = tcase_create("tables");
    tcase_add_loop_test(tcase, each_op_is_found_and_documented, 1, GROUT_OP_COUNT);
    tcase_add_loop_test(tcase, letters_of_each_form_are_known, 1, GROUT_OP_COUNT);
    tcase_add_loop_test(tcase, alu_ops_are_pure_and_have_an_expression, 1, GROUT_OP_COUNT);
    tcase_add_loop_test(tcase, functions_say_how_exact_they_are, 1, GROUT_OP_COUNT);
    tcase_add_loop_test(tcase, reductions_combine_by_an_update, 1, GROUT_OP_COUNT);
    tcase_add_loop_test(tcase, effects_of_each_op_name_operands_of_its_form, 1, GROUT_OP_COUNT);
    tcase_add_test(tcase, copies_touch_what_effects_def_says);
    tcase_add_loop_test(tcase, each_effect_row_is_documented, 0, GROUT_EFFECT_ROW_COUNT);
    tcase_add_loop_test(tcase, each_dtype_is_found_and_documented, 1, GROUT_DTYPE_COUNT);
    tcase_add_test(tcase, arithmetic_types_are_six);
    tcase_add_loop_test(tcase, each_attribute_is_found_and_documented, 0, GROUT_ATTR_COUNT);
    tcase_add_loop_test(tcase, each_choice_is_found_and_documented, 1, GROUT_CHOICE_COUNT);
    tcase_add_loop_test(tcase, each_attribute_that_chooses_has_choices, 0, GROUT_ATTR_COUNT);
    tcase_add_loop_test(tcase, each_space_is_found, 1, GROUT_SPACE_COUNT);
    tcase_add_loop_test(tcase, each_code_is_found_and_documented, 1, GROUT_DIAG_COUNT);
    tcase_add_test(tcase, what_is_unknown_is_not_found);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
