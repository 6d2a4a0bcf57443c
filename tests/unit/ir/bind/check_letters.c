/* check_letters.c - no operation takes an operand of another kind than its letter says: each op of
 * shape PLAIN, each of its operands, each wrong kind is refused, by a report at the op's line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#define BARRIER_OPERAND "%bar[0]"
#define OP_LINE         16

/* Something of each kind that an operand can be. */
typedef struct sample {
    const char *text;
    grout_letter_kind kind; /* AXIS: an array value, which is no letter's kind by itself */
    grout_effect_space space;
} sample;

#define ARRAY_VALUE GROUT_LETTER_AXIS
static const sample samples[] = {
    {"%v", ARRAY_VALUE, GROUT_EFFECT_SPACE_ANY},
    {"%n", GROUT_LETTER_SCALAR, GROUT_EFFECT_SPACE_ANY},
    {"%a", GROUT_LETTER_MEMORY, GROUT_EFFECT_SPACE_GMEM},
    {"%sm", GROUT_LETTER_MEMORY, GROUT_EFFECT_SPACE_SMEM},
    {"%acc", GROUT_LETTER_MEMORY, GROUT_EFFECT_SPACE_ACC},
    {BARRIER_OPERAND, GROUT_LETTER_BARRIER, GROUT_EFFECT_SPACE_ANY},
    {"%mbar[0]", GROUT_LETTER_BARRIER, GROUT_EFFECT_SPACE_ANY},
    {"%sem[0]", GROUT_LETTER_SEMAPHORE, GROUT_EFFECT_SPACE_ANY},
};
enum { SAMPLE_COUNT = sizeof samples / sizeof samples[0] };

/* Whether something of this kind may be such an operand; where it may, the op's rules decide. */
static bool may_stand(const grout_op_info *op, const grout_letter_info *letter, const sample *it) {
    bool fits_space = letter->space == GROUT_EFFECT_SPACE_ANY || letter->space == it->space;
    switch ((grout_letter_kind)letter->kind) {
    case GROUT_LETTER_VALUE:
    case GROUT_LETTER_BOXED:
        return it->kind == ARRAY_VALUE || it->kind == GROUT_LETTER_SCALAR;
    case GROUT_LETTER_REST:
        return it->kind == ARRAY_VALUE || it->kind == GROUT_LETTER_SCALAR ||
               (op->rule == GROUT_RULE_PRINT_LAYOUT && it->kind == GROUT_LETTER_MEMORY &&
                it->space == GROUT_EFFECT_SPACE_SMEM);
    case GROUT_LETTER_INDICES: /* an array of i32, which no sample is */
    case GROUT_LETTER_ROWS:
        return false;
    case GROUT_LETTER_SCALAR:
    case GROUT_LETTER_INTEGER:
    case GROUT_LETTER_MASK:
    case GROUT_LETTER_OPTION:
    case GROUT_LETTER_OPTIONAL_MASK:
        return it->kind == GROUT_LETTER_SCALAR;
    case GROUT_LETTER_MEMORY:
        return it->kind == GROUT_LETTER_MEMORY && fits_space;
    case GROUT_LETTER_MEMORY_OR_ARRAY:
        return it->kind == ARRAY_VALUE || (it->kind == GROUT_LETTER_MEMORY && fits_space);
    case GROUT_LETTER_BARRIER:
    case GROUT_LETTER_SEMAPHORE:
        return (uint8_t)it->kind == letter->kind;
    case GROUT_LETTER_CONSTANT:
    case GROUT_LETTER_AXIS: /* names, not operands: the parser takes nothing else */
    case GROUT_LETTER_TEXT:
        break;
    }
    return false;
}

/* What stands where nothing is to be wrong. */
static const char *get_right(const grout_letter_info *letter) {
    switch ((grout_letter_kind)letter->kind) {
    case GROUT_LETTER_VALUE:
    case GROUT_LETTER_BOXED:
    case GROUT_LETTER_REST:
        return "%v";
    case GROUT_LETTER_SCALAR:
    case GROUT_LETTER_INTEGER:
        return "%n";
    case GROUT_LETTER_INDICES:
    case GROUT_LETTER_ROWS:
        return "%i";
    case GROUT_LETTER_MASK:
    case GROUT_LETTER_OPTION:
    case GROUT_LETTER_OPTIONAL_MASK:
        return "true";
    case GROUT_LETTER_MEMORY:
    case GROUT_LETTER_MEMORY_OR_ARRAY:
        return letter->space == GROUT_EFFECT_SPACE_SMEM  ? "%sm"
               : letter->space == GROUT_EFFECT_SPACE_ACC ? "%acc"
                                                         : "%a";
    case GROUT_LETTER_BARRIER:
        return BARRIER_OPERAND;
    case GROUT_LETTER_SEMAPHORE:
        return "%sem[0]";
    case GROUT_LETTER_CONSTANT:
        return "1";
    case GROUT_LETTER_AXIS:
        return "g";
    case GROUT_LETTER_TEXT:
        return "\"{}\"";
    }
    return "";
}

/* The op with one operand chosen, the others as they should be. */
static void add_op(const grout_op_info *info, uint32_t chosen, const char *operand,
                   grout_text *out) {
    if (info->results > 0) {
        grout_text_add(out, "%%r = ");
    }
    grout_text_add(out, "%s", info->text);
    for (uint32_t k = 0; info->operands[k] != '\0'; k++) {
        const grout_letter_info *letter = grout_letter_get_info(info->operands[k]);
        grout_text_add(out, "%s%s%s", k > 0 ? ", " : " ", k == chosen ? operand : get_right(letter),
                       letter->kind == GROUT_LETTER_BOXED ? "[0]" : "");
    }
    if (info->typed) {
        grout_text_add(out, " : f32[64, 64]");
    }
}

static void add_kernel(const grout_op_info *info, uint32_t chosen, const char *operand,
                       grout_text *out) {
    grout_text_add(out, "kernel @k(%%a: inout gmem f32[64, 64], %%n: i32) grid(g = 2)\n"
                        "{\n"
                        "  scratch %%sm : smem f32[64, 64]\n"
                        "  scratch %%acc : acc f32[64, 64]\n"
                        "  scratch %%bar : barrier[1]\n"
                        "  scratch %%mbar : mbarrier[1]\n"
                        "  scratch %%sem : semaphore[1]\n"
                        "  mbarrier_init %%mbar[0], 1\n"
                        "  %%v = load %%a\n"
                        "  %%i = iota dim(0) : i32[64]\n"
                        "  store %%a, %%v\n"
                        "  acc_store %%acc, %%v\n"
                        "  store %%sm, %%v\n"
                        "  commit_smem\n"
                        "  barrier_arrive %%bar[0]\n"
                        "  ");
    add_op(info, chosen, operand, out);
    grout_text_add(out, "\n}\n");
}

/* Whether the kernel is refused by an error at the op's line. */
static bool is_refused(const char *text, grout_diags *diags) {
    grout_module *symbolic = grout_parse("test.grout", text, strlen(text), diags);
    grout_module *bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    bool is_fine = bound != NULL && grout_verify(bound, GROUT_ARCH_SM_90A, diags);
    bool is_there = false;
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        is_there = is_there || grout_diags_get(diags, i)->place.line == OP_LINE;
    }
    grout_module_free(bound);
    grout_module_free(symbolic);
    return !is_fine && is_there;
}

static void check_operand(const grout_op_info *info, uint32_t operand, const sample *it) {
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    add_kernel(info, operand, it->text, &text);
    ck_assert(!text.failed && diags != NULL);
    ck_assert_msg(is_refused(text.data, diags),
                  "operand %u of '%s' has the letter '%c', and %s is taken for it:\n%s",
                  operand + 1, info->text, info->operands[operand], it->text, text.data);
    grout_text_free(&text);
    grout_diags_free(diags);
}

TEST_EACH(no_op_takes_an_operand_of_another_kind, GROUT_OP_COUNT) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    if (_i == GROUT_OP_NONE || info->shape != GROUT_SHAPE_PLAIN) {
        return;
    }
    for (uint32_t k = 0; info->operands[k] != '\0'; k++) {
        const grout_letter_info *letter = grout_letter_get_info(info->operands[k]);
        for (uint32_t i = 0; i < SAMPLE_COUNT; i++) {
            if (!may_stand(info, letter, &samples[i])) {
                check_operand(info, k, &samples[i]);
            }
        }
    }
}

/* The test above would pass if its kernels were refused for another reason. */
TEST(the_kernel_around_is_right) {
    grout_diags *diags = grout_diags_new();
    grout_text text = {0};
    add_kernel(grout_op_get_info(grout_op_find("commit_smem", 11)), 0, "", &text);
    grout_module *symbolic = grout_parse("test.grout", text.data, strlen(text.data), diags);
    ck_assert_msg(symbolic != NULL, "%s", get_said(diags));
    grout_module *bound = grout_module_bind(symbolic, NULL, 0, diags);
    ck_assert_msg(bound != NULL && grout_verify(bound, GROUT_ARCH_SM_90A, diags), "%s",
                  get_said(diags));
    grout_module_free(bound);
    grout_module_free(symbolic);
    grout_text_free(&text);
    grout_diags_free(diags);
}
