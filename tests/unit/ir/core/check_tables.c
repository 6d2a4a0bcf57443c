/* check_tables.c - every line of the .def tables is found by its name and says what it is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_rules.h"
#include "tests/tests.h"

#include <strings.h>

TEST_FROM(each_op_is_found_and_documented, 1, GROUT_OP_COUNT) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    ck_assert_int_eq(grout_op_find(info->text, strlen(info->text)), _i);
    ck_assert_uint_ge(info->form, 1);
    ck_assert_uint_lt(info->form, GROUT_FORM_COUNT);
    ck_assert_uint_lt(info->effect_row, GROUT_EFFECT_ROW_COUNT);
    ck_assert_uint_le(info->types, GROUT_TYPES_MMA);
    ck_assert(GROUT_ATTR_COUNT == 64 || info->attrs >> GROUT_ATTR_COUNT == 0);
    ck_assert(info->results <= 1 || info->results == 9);
}

TEST_FROM(letters_of_each_form_are_known, 1, GROUT_OP_COUNT) {
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

TEST_FROM(alu_ops_are_pure_and_have_an_expression, 1, GROUT_OP_COUNT) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    if (info->expression != NULL) {
        ck_assert_uint_eq(info->effect_row, GROUT_EFFECT_ROW_PURE);
        ck_assert_int_eq(strncmp(info->expression, "GROUT_", 6), 0);
        ck_assert_uint_eq(info->results, 1);
    }
}

/* Only the functions that nobody rounds correctly say how far off they may be. */
TEST_FROM(functions_say_how_exact_they_are, 1, GROUT_OP_COUNT) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    bool is_function = info->form == GROUT_FORM_MATH || info->form == GROUT_FORM_MATH_BINARY;
    ck_assert(is_function == (info->ulp > 0));
    ck_assert(info->ulp <= 5);
    ck_assert(!is_function || (info->attrs == GROUT_ATTR_BIT(APPROX) && info->expression != NULL &&
                               info->types == GROUT_TYPES_FLOAT));
    ck_assert(info->form != GROUT_FORM_REDUCE ||
              (info->attrs == GROUT_ATTR_BIT(DIM) && info->expression != NULL));
}

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
TEST_FROM(reductions_combine_by_an_update, 1, GROUT_OP_COUNT) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    grout_update reduction = grout_op_get_reduction((grout_opcode)_i);
    static const char *const expressions[GROUT_UPDATE_COUNT] = {
        [GROUT_UPDATE_ADD] = "GROUT_ADD(a, b)", [GROUT_UPDATE_MUL] = "GROUT_MUL(a, b)",
        [GROUT_UPDATE_MIN] = "GROUT_MIN(a, b)", [GROUT_UPDATE_MAX] = "GROUT_MAX(a, b)",
        [GROUT_UPDATE_AND] = "GROUT_AND(a, b)", [GROUT_UPDATE_OR] = "GROUT_OR(a, b)",
        [GROUT_UPDATE_XOR] = "GROUT_XOR(a, b)"};
    if (info->rule == GROUT_RULE_REDUCE) {
        ck_assert_ptr_nonnull(expressions[reduction]);
        ck_assert_str_eq(info->expression, expressions[reduction]);
    } else {
        ck_assert_int_eq(reduction, GROUT_UPDATE_NONE);
    }
}

TEST_FROM(effects_of_each_op_name_operands_of_its_form, 1, GROUT_OP_COUNT) {
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

TEST(copies_touch_what_effects_def_says) {
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

TEST_EACH(each_effect_row_is_documented, GROUT_EFFECT_ROW_COUNT) {
    ck_assert_uint_gt(strlen(grout_effect_row_get_doc((grout_effect_row)_i)), 5);
}

TEST_FROM(each_dtype_is_found_and_documented, 1, GROUT_DTYPE_COUNT) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)_i);
    ck_assert_int_eq(grout_dtype_find(info->text, strlen(info->text)), _i);
    ck_assert_uint_gt(strlen(info->doc), 5);
    ck_assert(info->bytes == 1 || info->bytes == 2 || info->bytes == 4 || info->bytes == 8);
    ck_assert_uint_ne(info->class_, GROUT_CLASS_NONE);
    ck_assert(info->bytes == 8 || info->poison >> (8 * info->bytes) == 0);
}

TEST(all_types_but_the_8_bit_floats_are_arithmetic) {
    uint32_t count = 0;
    for (int i = 1; i < GROUT_DTYPE_COUNT; i++) {
        count += grout_dtype_get_info((grout_dtype)i)->is_arithmetic;
    }
    ck_assert_uint_eq(count, 13);
    ck_assert(grout_dtype_get_info(GROUT_DTYPE_F32)->is_arithmetic);
    ck_assert(grout_dtype_get_info(GROUT_DTYPE_BF16)->is_arithmetic);
    ck_assert(!grout_dtype_get_info(GROUT_DTYPE_F8E4M3)->is_arithmetic);
}

TEST_EACH(each_attribute_is_found_and_documented, GROUT_ATTR_COUNT) {
    const grout_attr_info *info = grout_attr_get_info((grout_attr)_i);
    ck_assert_int_eq(grout_attr_find(info->text, strlen(info->text)), _i);
    ck_assert_uint_gt(strlen(info->doc), 5);
}

/* A choice is found under its own attribute only; attributes of other kinds have none. */
TEST_FROM(each_choice_is_found_and_documented, 1, GROUT_CHOICE_COUNT) {
    const grout_choice_info *info = grout_choice_get_info((grout_choice)_i);
    ck_assert_uint_gt(strlen(info->doc), 2);
    ck_assert_uint_eq(grout_attr_get_info((grout_attr)info->attr)->argument, GROUT_ARGUMENT_CHOICE);
    for (int attr = 0; attr < GROUT_ATTR_COUNT; attr++) {
        grout_choice found = grout_choice_find((grout_attr)attr, info->text, strlen(info->text));
        ck_assert(attr == info->attr ? (int)found == _i : (int)found != _i);
    }
}

TEST_EACH(each_attribute_that_chooses_has_choices, GROUT_ATTR_COUNT) {
    uint32_t count = 0;
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        count += grout_choice_get_info((grout_choice)i)->attr == (uint8_t)_i;
    }
    bool chooses = grout_attr_get_info((grout_attr)_i)->argument == GROUT_ARGUMENT_CHOICE;
    ck_assert(chooses ? count >= 2 : count == 0);
}

TEST_FROM(each_space_is_found, 1, GROUT_SPACE_COUNT) {
    const char *text = grout_space_get_text((grout_space)_i);
    ck_assert_int_eq(grout_space_find(text, strlen(text)), _i);
}

TEST_FROM(each_code_is_found_and_documented, 1, GROUT_DIAG_COUNT) {
    const grout_diag_info *info = grout_diag_get((grout_diag_code)_i);
    ck_assert_int_eq(grout_diag_find(info->text), _i);
    ck_assert_uint_gt(strlen(info->doc), 10);
    ck_assert_uint_eq(strspn(info->text, "abcdefghijklmnopqrstuvwxyz-"), strlen(info->text));
    ck_assert(info->severity == GROUT_SEVERITY_ERROR || info->severity == GROUT_SEVERITY_WARNING ||
              info->severity == GROUT_SEVERITY_ADVICE);
}

TEST(what_is_unknown_is_not_found) {
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

/* ---- rules of ops.def: see check_sync.c ---------------------------------------------------------
 */

/* What no effect names is not there for the checker: neither a race nor an order. */
static void what_an_op_touches_has_an_effect(const op_facts *it) {
    bool is_pure = it->class_ == GROUT_EFFECT_PURE;
    bool is_hint = it->info->effect_row == GROUT_EFFECT_ROW_HINT; /* names memory, touches none */
    for (uint32_t k = 0; k < strlen(it->info->operands); k++) {
        const grout_letter_info *letter = grout_letter_get_info(it->info->operands[k]);
        bool has_line = grout_op_find_effect(it->opcode, k) != NULL;
        /* The array of a descriptor is named, and touched by the copies through it. */
        bool is_named = is_hint || (it->info->rule == GROUT_RULE_DESCRIPTOR && k > 0);
        expect(it, !is_pure && !is_named && is_kind(letter, OBJECTS), has_line,
               "an operand in memory, a barrier or semaphore has no line in effects.def");
        expect(it, is_pure && letter->letter != 'g', !is_kind(letter, OBJECTS),
               "its effect row says that it touches nothing (PURE), and it takes memory");
    }
    expect(it, it->sync == NULL, (it->class_ == GROUT_EFFECT_ACCESS) == (it->effect_count > 0),
           "what touches memory itself, and nothing else, has a row of the class ACCESS");
    expect(it, it->class_ == GROUT_EFFECT_CONTROL,
           it->info->results == 0 || it->info->shape != GROUT_SHAPE_PLAIN,
           "values are not followed through rows of the class CONTROL, and it has a result");
}

/* What the rule of a form moves from where to where. */
static void an_effect_fits_the_rule(const op_facts *it) {
    for (uint32_t i = 0; i < it->effect_count; i++) {
        const grout_effect *effect = &it->effects[i];
        bool is_memory = (MEMORY >> effect->access & 1) != 0;
        bool writes = (WRITING >> effect->access & 1) != 0;
        bool copies =
            it->info->rule == GROUT_RULE_COPY || it->info->rule == GROUT_RULE_IM2COL ||
            it->info->rule == GROUT_RULE_ROWS || it->info->rule == GROUT_RULE_MASKED_COPY ||
            it->info->rule == GROUT_RULE_GATHER_COPY || it->info->rule == GROUT_RULE_TCGEN05_COPY;
        bool is_product =
            it->info->rule == GROUT_RULE_WGMMA || it->info->rule == GROUT_RULE_TCGEN05;
        bool is_target = copies ? effect->operand == 1 : effect->operand == 0;
        bool moves = copies || is_product;
        expect(it,
               is_memory &&
                   (it->info->rule == GROUT_RULE_LOAD || it->info->rule == GROUT_RULE_MASKED_LOAD ||
                    it->info->rule == GROUT_RULE_GATHER),
               !writes, "a load reads: the ACCESS of its line in effects.def is READ");
        expect(it,
               is_memory && (it->info->rule == GROUT_RULE_STORE ||
                             it->info->rule == GROUT_RULE_MASKED_STORE ||
                             it->info->rule == GROUT_RULE_SCATTER),
               writes, "a store writes: the ACCESS of its line in effects.def is WRITE or ATOMIC");
        expect(it, is_memory && it->info->rule == GROUT_RULE_FETCH,
               effect->access == GROUT_ACCESS_ATOMIC,
               "it fetches what was there: the ACCESS of its line in effects.def is ATOMIC");
        expect(it, is_memory && moves, writes == is_target,
               "the destination of a copy, or the accumulator, is a WRITE in effects.def, all else "
               "a READ");
        expect(it, effect->access == GROUT_ACCESS_WAIT || effect->access == GROUT_ACCESS_SIGNAL,
               effect->milestone == GROUT_MILESTONE_ISSUE && effect->proxy == GROUT_PROXY_GENERIC,
               "a wait or signal is the thread's own, and over with the op (GENERIC, ISSUE)");
    }
}

static void an_effect_fits_the_engine(const op_facts *it) {
    for (uint32_t i = 0; i < it->effect_count; i++) {
        const grout_effect *effect = &it->effects[i];
        bool is_async = effect->proxy == GROUT_PROXY_ASYNC;
        bool is_acc = effect->space == GROUT_EFFECT_SPACE_ACC;
        char letter = it->info->operands[effect->operand];
        expect(it, letter == 'r', is_acc == (it->info->types == GROUT_TYPES_ACC),
               "an op with TYPES of accumulators, and no other, has ACC as SPACE in effects.def");
        expect(it,
               effect->milestone == GROUT_MILESTONE_WGMMA ||
                   (effect->milestone == GROUT_MILESTONE_TCGEN05 &&
                    effect->access != GROUT_ACCESS_ARRIVE) ||
                   effect->milestone == GROUT_MILESTONE_TMEM_LOAD ||
                   effect->milestone == GROUT_MILESTONE_TMEM_STORE ||
                   effect->milestone == GROUT_MILESTONE_BULK_READ ||
                   effect->milestone == GROUT_MILESTONE_BULK_WRITE,
               is_async, "the tensor core and TMA use the ASYNC proxy");
        expect(it, effect->milestone == GROUT_MILESTONE_ASYNC_COPY, !is_async,
               "cp.async uses the GENERIC proxy");
    }
}

/* Taint and exploration ask how an op combines, and whether its result is chance. */
static bool is_named_for(const op_facts *it, grout_update update) {
    static const char *const names[GROUT_UPDATE_COUNT] = {
        [GROUT_UPDATE_NONE] = "",
#define GROUT_UPDATE(NAME, COMMUTES) [GROUT_UPDATE_##NAME] = #NAME,
#include "grout/ops.def"
    };
    const char *name = update == GROUT_UPDATE_COMPARE_SWAP ? "cas" : names[update];
    const char *last = strrchr(it->info->text, '_');
    return last != NULL && strcasecmp(last + 1, name) == 0;
}

static void an_atomic_says_how_it_combines(const op_facts *it) {
    bool is_update = it->info->update != GROUT_UPDATE_NONE;
    /* one by indices is a store, each element of which is atomic */
    bool is_exchange = (it->info->update == GROUT_UPDATE_EXCHANGE ||
                        it->info->update == GROUT_UPDATE_COMPARE_SWAP) &&
                       !grout_op_takes_picks(it->opcode);
    expect(it, is_update, is_named_for(it, (grout_update)it->info->update),
           "an atomic is named for its UPDATE: see its GROUT_ATOMIC line");
    hold(it, has_effect(it, ACCESS(ATOMIC)) == is_update,
         "an op with an ATOMIC effect, and no other, is a GROUT_ATOMIC line of ops.def");
    expect(it, is_update, it->class_ == GROUT_EFFECT_ACCESS,
           "an atomic is done when the op is: its effect row has the class ACCESS");
    expect(it, is_update, (it->info->results == 1) == grout_op_returns_old_value(it->opcode),
           "the result of an atomic is what was there");
    expect(it, is_exchange, it->info->results == 1, "an exchange returns what was there");
    expect(it, is_exchange,
           (it->info->update == GROUT_UPDATE_EXCHANGE) == (strlen(it->info->operands) == 2),
           "an exchange takes the new value, a compare and swap the expected one too");
    expect(it, takes(it, GROUT_ATTR_BIT(ORDER)) && it->sync == NULL, is_update,
           "an access that takes order(..) is an atomic");
    expect(it, takes(it, GROUT_ATTR_BIT(REDUCE)), !is_update && has_effect(it, ACCESS(WRITE)),
           "reduce(..) combines with what the op writes: effects.def needs a line WRITE");
    expect(it, is_update || takes(it, GROUT_ATTR_BIT(REDUCE)),
           grout_op_find_target(it->opcode) < strlen(it->info->operands),
           "it combines with no operand: effects.def needs a line ATOMIC or WRITE");
}

/* Operands in front of those that are carried decide what runs. */
static void a_region_is_as_its_form(const op_facts *it) {
    uint32_t lead = (uint32_t)strcspn(it->info->operands, "*");
    bool carries = it->info->operands[lead] == '*';
    bool is_region = it->info->shape == GROUT_SHAPE_REGION;
    bool ends = it->info->shape == GROUT_SHAPE_END;
    hold(it, is_region == (it->region->kind != GROUT_REGION_NONE),
         "a form of shape REGION, and no other, has a GROUT_REGION line");
    hold(it, is_region == (it->info->rule == GROUT_RULE_REGION),
         "ops with blocks, and no others, have the rule REGION");
    hold(it, ends == (it->info->rule == (carries ? GROUT_RULE_YIELD : GROUT_RULE_CONDITION)),
         "what ends a block yields what is carried on (*, YIELD) or decides (s, CONDITION)");
    expect(it, is_region, it->region->lead_operands == lead,
           "LEAD_OPERANDS is the number of letters in front of the '*'");
    expect(it, is_region, (it->info->results != 0) == (it->region->yields != GROUT_YIELDS_NONE),
           "YIELDS says whose yields the results are: NONE where there are no results");
    expect(it, is_region, carries == (it->region->kind == GROUT_REGION_LOOP),
           "loops carry values, and nothing else: '*', or KIND");
    expect(it, ends, it->info->results == 0 && (lead == 1) != carries,
           "what ends a block takes values to carry on (*), or a condition (s), and has no result");
}

/* LEAD_OPERANDS, LEAD_ARGS, BLOCKS and YIELDS. */
static bool has_layout(const op_facts *it, uint8_t operands, uint8_t args, uint8_t blocks,
                       grout_region_yields yields) {
    return it->region->lead_operands == operands && it->region->lead_args == args &&
           it->region->blocks == blocks && it->region->yields == yields;
}

static void a_region_is_as_its_kind(const op_facts *it) {
    grout_region_kind kind = (grout_region_kind)it->region->kind;
    expect(it, kind == GROUT_REGION_LOOP,
           has_layout(it, 3, 1, 1, GROUT_YIELDS_LAST) || has_layout(it, 0, 0, 2, GROUT_YIELDS_LAST),
           "a loop has low, high, step, an index and a body, or a block for its condition and "
           "then the body; the LAST block yields");
    expect(it, kind == GROUT_REGION_BRANCH, has_layout(it, 1, 0, 0, GROUT_YIELDS_EACH),
           "a branch has a condition; its blocks have no arguments, and EACH yields");
    expect(it, kind == GROUT_REGION_SCOPE, has_layout(it, 0, 0, 1, GROUT_YIELDS_EACH),
           "a scope has one block, nothing in front of its objects, and EACH block yields");
    expect(it, kind == GROUT_REGION_WARPS, has_layout(it, 0, 1, 1, GROUT_YIELDS_NONE),
           "the block of the warps has the number of the warp, and yields nothing (NONE)");
    expect(it, kind == GROUT_REGION_PARTITIONS, has_layout(it, 0, 0, 0, GROUT_YIELDS_FIRST),
           "any number of partitions; the first thread goes on with what the FIRST block yields");
}

static const op_rule rules[] = {
    RULE(what_an_op_touches_has_an_effect), RULE(an_effect_fits_the_rule),
    RULE(an_effect_fits_the_engine),        RULE(an_atomic_says_how_it_combines),
    RULE(a_region_is_as_its_form),          RULE(a_region_is_as_its_kind),
};

TEST_EACH(each_op_keeps_the_rule, COUNT_OF(rules)) {
    check_rule(&rules[_i]);
}

TEST_FROM(each_reduction_is_an_update, 1, GROUT_CHOICE_COUNT) {
    const grout_choice_info *choice = grout_choice_get_info((grout_choice)_i);
    grout_update update = grout_update_from_choice((grout_choice)_i);
    bool is_reduction = choice->attr == GROUT_ATTR_REDUCE;
    ck_assert_msg(is_reduction == (update != GROUT_UPDATE_NONE), "%s", choice->text);
    ck_assert_msg(!is_reduction || strlen(grout_update_get_doc(update)) > 2, "%s", choice->text);
}

/* Integers add in any order, floats do not; only what forgets the old value shows its order. */
TEST_FROM(each_update_says_whether_it_commutes, 1, GROUT_UPDATE_COUNT) {
    grout_update update = (grout_update)_i;
    bool of_floats = grout_update_is_ordered(update, GROUT_DTYPE_F32);
    bool of_integers = grout_update_is_ordered(update, GROUT_DTYPE_U32);
    grout_commutes commutes = grout_update_get_commutes(update);
    ck_assert(of_integers == (commutes == GROUT_COMMUTES_NEVER));
    ck_assert(of_floats == (commutes != GROUT_COMMUTES_ALWAYS));
}

static uint32_t combine(grout_update update, uint32_t old, uint32_t new) {
    switch (update) {
    case GROUT_UPDATE_ADD:
        return old + new;
    case GROUT_UPDATE_MUL:
        return old * new;
    case GROUT_UPDATE_MIN:
        return old < new ? old : new;
    case GROUT_UPDATE_MAX:
        return old > new ? old : new;
    case GROUT_UPDATE_INC:
        return old >= new ? 0 : old + 1;
    case GROUT_UPDATE_DEC:
        return old == 0 || old > new ? new : old - 1;
    case GROUT_UPDATE_AND:
        return old & new;
    case GROUT_UPDATE_OR:
        return old | new;
    case GROUT_UPDATE_XOR:
        return old ^ new;
    case GROUT_UPDATE_EXCHANGE:
        return new;
    case GROUT_UPDATE_COMPARE_SWAP: /* expects 1 */
        return old == 1 ? new : old;
    case GROUT_UPDATE_NONE:
    case GROUT_UPDATE_COUNT:
        break;
    }
    return old;
}

/* All pairs of small numbers, in both orders. */
TEST_FROM(updates_commute_as_they_say, 1, GROUT_UPDATE_COUNT) {
    grout_update update = (grout_update)_i;
    bool commutes = true;
    for (uint32_t i = 0; i < 8 * 8 * 8; i++) {
        uint32_t old = i & 7, a = i >> 3 & 7, b = i >> 6;
        commutes = commutes && combine(update, combine(update, old, a), b) ==
                                   combine(update, combine(update, old, b), a);
    }
    ck_assert_msg(commutes == !grout_update_is_ordered(update, GROUT_DTYPE_U32),
                  "update %d (%s): COMMUTES of its GROUT_UPDATE line is wrong", _i,
                  grout_update_get_doc(update));
}
