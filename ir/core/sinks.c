/* sinks.c - sinks.def as data, and what it owes to ops.def and diag.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/sinks.h"

/* A list in a column, (A, B), as bits; (NOTHING) is none. */
enum {
#define GROUT_SINK(NAME, TRAITS, DOC) bit_##NAME = 1 << GROUT_SINK_##NAME,
#include "grout-internal/sinks.def"
    bit_NOTHING = 0
};
_Static_assert(GROUT_SINK_COUNT < 31, "a set of sinks is a uint32_t, and its bits are enumerators");
#define BITS_1(A)                           bit_##A
#define BITS_2(A, ...)                      (bit_##A | BITS_1(__VA_ARGS__))
#define BITS_3(A, ...)                      (bit_##A | BITS_2(__VA_ARGS__))
#define BITS_4(A, ...)                      (bit_##A | BITS_3(__VA_ARGS__))
#define BITS_5(A, ...)                      (bit_##A | BITS_4(__VA_ARGS__))
#define BITS_6(A, ...)                      (bit_##A | BITS_5(__VA_ARGS__))
#define BITS_7(A, ...)                      (bit_##A | BITS_6(__VA_ARGS__))
#define PICK_8(A, B, C, D, E, F, G, H, ...) H
#define BITS(...) \
    PICK_8(__VA_ARGS__, BITS_7, BITS_6, BITS_5, BITS_4, BITS_3, BITS_2, BITS_1, )(__VA_ARGS__)

enum { traits_VALUE = 1, traits_DEFINED = 2, traits_BOTH = 3 };

static const grout_sink_info sink_infos[GROUT_SINK_COUNT] = {
#define GROUT_SINK(NAME, TRAITS, DOC)                                         \
    [GROUT_SINK_##NAME] = {#NAME, DOC, (traits_##TRAITS & traits_VALUE) != 0, \
                           (traits_##TRAITS & traits_DEFINED) != 0},
#include "grout-internal/sinks.def"
};

/* By letter; bit 31 says that there is such a letter. */
#define IS_ROLE (UINT32_C(1) << 31)
static const uint32_t roles[128] = {
#define GROUT_ROLE(LETTER, SINKS, DOC) [LETTER] = IS_ROLE | (uint32_t)BITS SINKS,
#include "grout-internal/sinks.def"
};

static const char *const decides[GROUT_FORM_COUNT] = {
    [GROUT_FORM_NONE] = "",
#define GROUT_DECIDES(FORM, ROLES) [GROUT_FORM_##FORM] = ROLES,
#include "grout-internal/sinks.def"
};

/* How many letters those are: each launch that is checked asks for them again and again. */
static const uint8_t decide_counts[GROUT_FORM_COUNT] = {
#define GROUT_DECIDES(FORM, ROLES) [GROUT_FORM_##FORM] = sizeof ROLES - 1,
#include "grout-internal/sinks.def"
};

static const struct {
    bool is_one;
    grout_finding_info info;
} findings[GROUT_DIAG_COUNT] = {
#define GROUT_FINDING(NAME, DOUBT, SINKS) \
    [GROUT_DIAG_##NAME] = {true, {GROUT_DOUBT_##DOUBT, (uint32_t)BITS SINKS}},
#include "grout-internal/sinks.def"
};

/* ---- what has to be there ---- */

enum {
#define GROUT_DECIDES(FORM, ROLES) roles_of_##FORM = sizeof ROLES - 1,
#include "grout-internal/sinks.def"
#define GROUT_FINDING(NAME, DOUBT, SINKS) \
    sinks_of_##NAME = BITS SINKS, is_about_order_##NAME = GROUT_DOUBT_##DOUBT != GROUT_DOUBT_NO,
#include "grout-internal/sinks.def"
    lines_end
};
#define GROUT_FORM(NAME, OPERANDS, SHAPE, RULE, TYPED, RESULTS, SYNTAX) \
    _Static_assert((int)roles_of_##NAME == (int)sizeof OPERANDS - 1,    \
                   "sinks.def: GROUT_DECIDES(" #NAME ") has one letter for each operand");
#include "grout/ops.def"
#define GROUT_FINDING(NAME, DOUBT, SINKS)                                        \
    _Static_assert((int)sinks_of_##NAME != 0 || (int)is_about_order_##NAME != 0, \
                   "sinks.def: " #NAME " depends on a value, and names no sink that decides it");
#include "grout-internal/sinks.def"
/* A finding of a run without a line: its enumerator is not declared. */
#define ASKS_RUN(NAME)    ((int)sinks_of_##NAME >= 0)
#define ASKS_PARSE(NAME)  true
#define ASKS_VERIFY(NAME) true
#define ASKS_GPU(NAME)    true
#define ASKS_USE(NAME)    true
#define GROUT_DIAG(NAME, TEXT, SEVERITY, STAGE, DOC) \
    _Static_assert(ASKS_##STAGE(NAME), "sinks.def has a GROUT_FINDING line for " #NAME);
#include "grout/diag.def"

/* ---- questions ---- */

const grout_sink_info *grout_sink_get_info(grout_sink sink) {
    return &sink_infos[sink];
}

uint32_t grout_op_get_sinks(grout_opcode opcode, uint32_t operand) {
    const uint8_t form = grout_op_get_info(opcode)->form;
    const uint32_t count = decide_counts[form];
    const uint32_t at = operand < count ? operand : count - 1;
    return count == 0 ? 0 : roles[(unsigned char)decides[form][at]] & ~IS_ROLE;
}

const grout_finding_info *grout_finding_get_info(grout_diag_code code) {
    return findings[code].is_one ? &findings[code].info : NULL;
}
