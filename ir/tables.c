/* tables.c - the .def tables as data, and lookups by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/ir.h"

#include <string.h>

/* Columns of a form, to be pasted into the lines of its ops. */
#define GROUT_FORM(NAME, OPERANDS, TYPED, RESULTS, SYNTAX) \
    static const char operands_##NAME[] = OPERANDS;        \
    static const char syntax_##NAME[] = SYNTAX;            \
    enum { typed_##NAME = TYPED, results_##NAME = RESULTS };
#include "grout/ops.def"

#define OP_INFO(TEXT, EXPRESSION, ULP, FORM, TYPES, ATTRS, EFFECTS, DOC)                 \
    {                                                                                    \
        TEXT, DOC, EXPRESSION, operands_##FORM, syntax_##FORM, ATTRS, GROUT_FORM_##FORM, \
            GROUT_TYPES_##TYPES, GROUT_EFFECT_ROW_##EFFECTS, results_##FORM, ULP,        \
            typed_##FORM != 0                                                            \
    }

static const grout_op_info op_infos[GROUT_OP_COUNT] = {
    [GROUT_OP_NONE] = {"", "", NULL, "", "", 0, 0, 0, 0, 0, 0, false},
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION, DOC) \
    [GROUT_OP_##NAME] = OP_INFO(#text, #EXPRESSION, 0, FORM, TYPES, 0, PURE, DOC),
#define GROUT_MATH(NAME, text, EXPRESSION, ULP, DOC) \
    [GROUT_OP_##NAME] =                              \
        OP_INFO(#text, #EXPRESSION, ULP, MATH, FLOAT, GROUT_ATTR_BIT_APPROX, PURE, DOC),
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION, DOC) \
    [GROUT_OP_##NAME] =                                  \
        OP_INFO(#text, #EXPRESSION, 0, REDUCE, TYPES, GROUT_ATTR_BIT_DIM, PURE, DOC),
#define GROUT_OP(NAME, text, FORM, TYPES, ATTRS, EFFECTS, DOC) \
    [GROUT_OP_##NAME] = OP_INFO(#text, NULL, 0, FORM, TYPES, ATTRS, EFFECTS, DOC),
#include "grout/ops.def"
};

static const uint8_t op_text_sizes[GROUT_OP_COUNT] = {
#define GROUT_OP(NAME, text, FORM, TYPES, ATTRS, EFFECTS, DOC) [GROUT_OP_##NAME] = sizeof #text - 1,
#include "grout/ops.def"
};

static const grout_attr_info attr_infos[GROUT_ATTR_COUNT] = {
#define GROUT_ATTR(NAME, text, ARGUMENT, DOC) \
    [GROUT_ATTR_##NAME] = {#text, DOC, GROUT_ARGUMENT_##ARGUMENT},
#include "grout/ops.def"
};

static const grout_choice_info choice_infos[GROUT_CHOICE_COUNT] = {
    [GROUT_CHOICE_NONE] = {"", "", GROUT_ATTR_COUNT},
#define GROUT_CHOICE(ATTR, NAME, text, DOC) \
    [GROUT_CHOICE_##ATTR##_##NAME] = {#text, DOC, GROUT_ATTR_##ATTR},
#include "grout/ops.def"
};

enum { use_STORAGE, use_ALU };
static const grout_dtype_info dtype_infos[GROUT_DTYPE_COUNT] = {
    [GROUT_DTYPE_NONE] = {"", "", 0, 0, GROUT_CLASS_NONE, false},
#define GROUT_DTYPE(NAME, TEXT, BITS, CLASS, USE, POISON, DOC) \
    [GROUT_DTYPE_##NAME] = {TEXT, DOC, POISON, BITS / 8, GROUT_CLASS_##CLASS, use_##USE == use_ALU},
#include "grout/types.def"
};

static const char *const space_texts[GROUT_SPACE_COUNT] = {
    [GROUT_SPACE_NONE] = "",
#define GROUT_SPACE(NAME, TEXT, DOC) [GROUT_SPACE_##NAME] = TEXT,
#include "grout/types.def"
};

static const struct {
    grout_effect_class class_;
    const char *doc;
} effect_rows[GROUT_EFFECT_ROW_COUNT] = {
#define GROUT_EFFECT_ROW(NAME, CLASS, DOC) [GROUT_EFFECT_ROW_##NAME] = {GROUT_EFFECT_##CLASS, DOC},
#include "grout/effects.def"
};

/* The lines of effects.def, and beside them the row that each belongs to: a row's lines are
 * consecutive. */
static const grout_effect effect_lines[] = {
#define GROUT_EFFECT(ROW, OPERAND, SPACE, PROXY, ACCESS, MILESTONE)                   \
    {OPERAND, GROUT_EFFECT_SPACE_##SPACE, GROUT_PROXY_##PROXY, GROUT_ACCESS_##ACCESS, \
     GROUT_MILESTONE_##MILESTONE},
#include "grout/effects.def"
};
static const uint8_t effect_line_rows[] = {
#define GROUT_EFFECT(ROW, OPERAND, SPACE, PROXY, ACCESS, MILESTONE) GROUT_EFFECT_ROW_##ROW,
#include "grout/effects.def"
};

const grout_op_info *grout_op_get_info(grout_opcode opcode) {
    return &op_infos[opcode];
}

const grout_attr_info *grout_attr_get_info(grout_attr attr) {
    return &attr_infos[attr];
}

const grout_choice_info *grout_choice_get_info(grout_choice choice) {
    return &choice_infos[choice];
}

const grout_dtype_info *grout_dtype_get_info(grout_dtype dtype) {
    return &dtype_infos[dtype];
}

const char *grout_space_get_text(grout_space space) {
    return space_texts[space];
}

grout_effect_class grout_effect_row_get_class(grout_effect_row row) {
    return effect_rows[row].class_;
}

const char *grout_effect_row_get_doc(grout_effect_row row) {
    return effect_rows[row].doc;
}

const grout_effect *grout_effect_row_get_effects(grout_effect_row row, uint32_t *count_out) {
    const uint32_t line_count = sizeof effect_line_rows / sizeof effect_line_rows[0];
    uint32_t first = 0;
    while (first < line_count && effect_line_rows[first] != row) {
        first++;
    }
    uint32_t count = 0;
    while (first + count < line_count && effect_line_rows[first + count] == row) {
        count++;
    }
    *count_out = count;
    return count > 0 ? &effect_lines[first] : effect_lines;
}

static bool is_text(const char *known, const char *text, size_t size) {
    return strlen(known) == size && memcmp(known, text, size) == 0;
}

grout_opcode grout_op_find(const char *text, size_t size) {
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        if (op_text_sizes[i] == size && op_infos[i].text[0] == text[0] &&
            memcmp(op_infos[i].text, text, size) == 0) {
            return (grout_opcode)i;
        }
    }
    return GROUT_OP_NONE;
}

grout_dtype grout_dtype_find(const char *text, size_t size) {
    for (int i = 1; i < GROUT_DTYPE_COUNT; i++) {
        if (is_text(dtype_infos[i].text, text, size)) {
            return (grout_dtype)i;
        }
    }
    return GROUT_DTYPE_NONE;
}

grout_attr grout_attr_find(const char *text, size_t size) {
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        if (is_text(attr_infos[i].text, text, size)) {
            return (grout_attr)i;
        }
    }
    return GROUT_ATTR_COUNT;
}

grout_choice grout_choice_find(grout_attr attr, const char *text, size_t size) {
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        if (choice_infos[i].attr == attr && is_text(choice_infos[i].text, text, size)) {
            return (grout_choice)i;
        }
    }
    return GROUT_CHOICE_NONE;
}

grout_space grout_space_find(const char *text, size_t size) {
    for (int i = 1; i < GROUT_SPACE_COUNT; i++) {
        if (is_text(space_texts[i], text, size)) {
            return (grout_space)i;
        }
    }
    return GROUT_SPACE_NONE;
}
