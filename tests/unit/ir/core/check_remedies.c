/* check_remedies.c - what the verifier says to write instead: every op has words that fit it, and
 * no line of remedies.def is for what cannot be. SPDX-License-Identifier: Apache-2.0 */
#include "op_rules.h"
#include "tests/tests.h"
#include "verify/rules/verifying.h"

#include "grout-internal/text.h"

/* ---- what can be -------------------------------------------------------------------------------
 */

static bool wants_accumulator(const op_facts *it) {
    for (uint32_t i = 0; i < it->effect_count; i++) {
        if (it->effects[i].space == GROUT_EFFECT_SPACE_ACC) {
            return true;
        }
    }
    return has_letter(it, "a");
}

/* Whether the verifier can refuse an operand of the op in this situation. */
static bool can_be(const op_facts *it, grout_remedy situation) {
    bool has_memory = has_kind(it, KIND(MEMORY) | KIND(MEMORY_OR_ARRAY));
    switch (situation) {
    case GROUT_REMEDY_OTHER_FACE:
        return is_object(it, OBJECT(BARRIER) | OBJECT(MBARRIER));
    case GROUT_REMEDY_PEER_BARRIER:
        return is_object(it, BARRIERS) && it->line.reach != GROUT_SYNC_REACH_PEER;
    case GROUT_REMEDY_MEMORY:
        return wants_accumulator(it);
    case GROUT_REMEDY_PEER_MEMORY:
    case GROUT_REMEDY_SPACE:
    case GROUT_REMEDY_ACCUMULATOR:
        return has_memory && !wants_accumulator(it);
    case GROUT_REMEDY_COUNT:
        break;
    }
    return false;
}

static const char *const situations[] = {
#define GROUT_REMEDY_DEFAULT(SITUATION, TEXT) [GROUT_REMEDY_##SITUATION] = #SITUATION,
#include "ir/core/remedies.def"
};
static const char *const defaults[] = {
#define GROUT_REMEDY_DEFAULT(SITUATION, TEXT) [GROUT_REMEDY_##SITUATION] = TEXT,
#include "ir/core/remedies.def"
};

static const struct {
    grout_opcode opcode;
    grout_remedy situation;
} lines[] = {
#define GROUT_REMEDY(OP, SITUATION, TEXT) {GROUT_OP_##OP, GROUT_REMEDY_##SITUATION},
#include "ir/core/remedies.def"
};
enum { LINE_COUNT = sizeof lines / sizeof *lines };

static uint32_t count_lines(const op_facts *it, grout_remedy situation) {
    uint32_t count = 0;
    for (size_t i = 0; i < LINE_COUNT; i++) {
        count += lines[i].opcode == it->opcode && lines[i].situation == situation ? 1 : 0;
    }
    return count;
}

/* ---- rules -------------------------------------------------------------------------------------
 */

static void a_line_can_be_said(const op_facts *it) {
    for (int i = 0; i < GROUT_REMEDY_COUNT; i++) {
        uint32_t count = count_lines(it, (grout_remedy)i);
        if (count > 1 || (count == 1 && !can_be(it, (grout_remedy)i))) {
            grout_text_add(
                it->faults, "\n  %s: %u lines of remedies.def for %s, which %s: remove one",
                it->info->text, count, situations[i], count > 1 ? "takes one" : "cannot be");
        }
    }
}

/* It is no help to say that there are two styles; it helps to name the op of the other one. */
static void the_other_face_is_named(const op_facts *it) {
    grout_op op = {.opcode = (uint16_t)it->opcode};
    grout_text text = {0};
    if (!can_be(it, GROUT_REMEDY_OTHER_FACE)) {
        return;
    }
    grout_verify__add_other_face(&op, &text);
    hold(it, text.data != NULL && strcmp(text.data, defaults[GROUT_REMEDY_OTHER_FACE]) != 0,
         "no op of the other style has its name, MODE and results: give it a line OTHER_FACE in "
         "remedies.def, which says what to write there, and what becomes of its bytes and counts");
    grout_text_free(&text);
}

/* Words of the wrong situation: 'it belongs to one thread' of memory, 'copy it' of an accumulator.
 */
static void words_fit_what_lies_there(const op_facts *it) {
    grout_op op = {.opcode = (uint16_t)it->opcode};
    expect(it, can_be(it, GROUT_REMEDY_SPACE),
           strcmp(grout_verify__get_remedy(&op, GROUT_REMEDY_SPACE),
                  defaults[GROUT_REMEDY_ACCUMULATOR]) != 0,
           "it says of memory in another space what holds for accumulators: give it a line SPACE "
           "in remedies.def");
}

static const op_rule rules[] = {
    RULE(a_line_can_be_said),
    RULE(the_other_face_is_named),
    RULE(words_fit_what_lies_there),
};

TEST_EACH(each_op_keeps_the_rule, COUNT_OF(rules)) {
    check_rule(&rules[_i]);
}

static void check_face(grout_opcode opcode, const char *expected) {
    grout_op op = {.opcode = (uint16_t)opcode};
    grout_text text = {0};
    grout_verify__add_other_face(&op, &text);
    ck_assert_str_eq(text.data, expected);
    grout_text_free(&text);
}

TEST(the_face_is_found_by_what_an_op_does) {
    check_face(GROUT_OP_BARRIER_ARRIVE, "mbarrier_arrive %bar[i]");
    check_face(GROUT_OP_BARRIER_WAIT, "mbarrier_wait %bar[i], PARITY");
    check_face(GROUT_OP_MBARRIER_TEST, "barrier_test %bar[i], which counts the phases itself");
    check_face(GROUT_OP_MBARRIER_EXPECT,
               "nothing: a copy announces its own bytes there, and makes an arrival");
}
