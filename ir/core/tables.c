/* tables.c - the .def tables as data, and lookups by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/ir.h"

#include <string.h>

/* Columns of a form, to be pasted into the lines of its ops. */
#define GROUT_FORM(NAME, OPERANDS, SHAPE, RULE, TYPED, RESULTS, SYNTAX) \
    static const char operands_##NAME[] = OPERANDS;                     \
    static const char syntax_##NAME[] = SYNTAX;                         \
    enum {                                                              \
        shape_##NAME = GROUT_SHAPE_##SHAPE,                             \
        rule_##NAME = GROUT_RULE_##RULE,                                \
        typed_##NAME = TYPED,                                           \
        results_##NAME = RESULTS                                        \
    };
#include "grout/ops.def"

/* A list in a column, (A, B), as bits or'ed: BIT says what a word becomes. */
#define BITS_1(BIT, A)                   BIT(A)
#define BITS_2(BIT, A, B)                (BIT(A) | BIT(B))
#define BITS_3(BIT, A, B, C)             (BIT(A) | BIT(B) | BIT(C))
#define BITS_4(BIT, A, B, C, D)          (BITS_2(BIT, A, B) | BITS_2(BIT, C, D))
#define BITS_5(BIT, A, B, C, D, E)       (BITS_3(BIT, A, B, C) | BITS_2(BIT, D, E))
#define BITS_6(BIT, A, B, C, D, E, F)    (BITS_3(BIT, A, B, C) | BITS_3(BIT, D, E, F))
#define PICK_7(A, B, C, D, E, F, G, ...) G
#define BITS(BIT, ...) \
    PICK_7(__VA_ARGS__, BITS_6, BITS_5, BITS_4, BITS_3, BITS_2, BITS_1, )(BIT, __VA_ARGS__)
#define UNWRAP(...)         __VA_ARGS__
#define ATTR_BIT(NAME)      (PLACE_##NAME < 0 ? 0 : UINT64_C(1) << (PLACE_##NAME & 63))
#define ATTR_BITS(...)      BITS(ATTR_BIT, __VA_ARGS__)
#define MILESTONE_BIT(NAME) MILESTONE_BIT_##NAME
#define MILESTONE_BITS(...) BITS(MILESTONE_BIT, __VA_ARGS__)

/* The bits of attributes in a set, and (NONE). */
enum {
#define GROUT_ATTR(NAME, ...) PLACE_##NAME = GROUT_ATTR_##NAME,
#include "grout/ops.def"
    PLACE_NONE = -1
};
_Static_assert(GROUT_ATTR_COUNT <= 64, "a set of attributes is a uint64_t");

/* The prose, by its names: what has none is undeclared. */
#define GROUT_OP_DOC(NAME, DOC)           static const char doc_of_op_##NAME[] = DOC;
#define GROUT_ATTR_DOC(NAME, DOC)         static const char doc_of_attr_##NAME[] = DOC;
#define GROUT_CHOICE_DOC(ATTR, NAME, DOC) static const char doc_of_choice_##ATTR##_##NAME[] = DOC;
#define GROUT_UPDATE_DOC(NAME, DOC)       static const char doc_of_update_##NAME[] = DOC;
#include "op_docs.def"
/* And what it is about is there. */
enum {
#define GROUT_OP_DOC(NAME, DOC)           has_op_##NAME = GROUT_OP_##NAME,
#define GROUT_ATTR_DOC(NAME, DOC)         has_attr_##NAME = GROUT_ATTR_##NAME,
#define GROUT_CHOICE_DOC(ATTR, NAME, DOC) has_choice_##ATTR##_##NAME = GROUT_CHOICE_##ATTR##_##NAME,
#define GROUT_UPDATE_DOC(NAME, DOC)       has_update_##NAME = GROUT_UPDATE_##NAME,
#include "op_docs.def"
};

#define OP_INFO(TEXT, EXPRESSION, ULP, FORM, TYPES, EFFECTS, ATTRS, UPDATE, NAME)       \
    {                                                                                   \
        .text = TEXT, .doc = doc_of_op_##NAME, .expression = EXPRESSION,                \
        .operands = operands_##FORM, .syntax = syntax_##FORM, .attrs = ATTR_BITS ATTRS, \
        .form = GROUT_FORM_##FORM, .shape = shape_##FORM, .rule = rule_##FORM,          \
        .types = GROUT_TYPES_##TYPES, .effect_row = GROUT_EFFECT_ROW_##EFFECTS,         \
        .results = results_##FORM, .update = GROUT_UPDATE_##UPDATE, .ulp = ULP,         \
        .typed = typed_##FORM != 0,                                                     \
        .makes_descriptor = (int)rule_##FORM == (int)GROUT_RULE_DESCRIPTOR              \
    }

static const grout_op_info op_infos[GROUT_OP_COUNT] = {
    [GROUT_OP_NONE] = {.text = "", .doc = "", .operands = "", .syntax = ""},
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) \
    [GROUT_OP_##NAME] = OP_INFO(#text, #EXPRESSION, 0, FORM, TYPES, PURE, (NONE), NONE, NAME),
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP) \
    [GROUT_OP_##NAME] = OP_INFO(#text, #EXPRESSION, ULP, FORM, FLOAT, PURE, (APPROX), NONE, NAME),
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION) \
    [GROUT_OP_##NAME] = OP_INFO(#text, #EXPRESSION, 0, REDUCE, TYPES, PURE, (DIM), NONE, NAME),
#define GROUT_ATOMIC(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, UPDATE) \
    [GROUT_OP_##NAME] = OP_INFO(#text, NULL, 0, FORM, TYPES, EFFECTS, ATTRS, UPDATE, NAME),
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) \
    [GROUT_OP_##NAME] = OP_INFO(#text, NULL, 0, FORM, TYPES, EFFECTS, ATTRS, NONE, NAME),
#include "grout/ops.def"
};

static const uint8_t op_text_sizes[GROUT_OP_COUNT] = {
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) \
    [GROUT_OP_##NAME] = sizeof #text - 1,
#include "grout/ops.def"
};

static const grout_attr_info attr_infos[GROUT_ATTR_COUNT] = {
#define GROUT_ATTR(NAME, text, ARGUMENT) \
    [GROUT_ATTR_##NAME] = {#text, doc_of_attr_##NAME, GROUT_ARGUMENT_##ARGUMENT},
#include "grout/ops.def"
};

static const grout_choice_info choice_infos[GROUT_CHOICE_COUNT] = {
    [GROUT_CHOICE_NONE] = {"", "", GROUT_ATTR_COUNT},
#define GROUT_CHOICE(ATTR, NAME, text) \
    [GROUT_CHOICE_##ATTR##_##NAME] = {#text, doc_of_choice_##ATTR##_##NAME, GROUT_ATTR_##ATTR},
#include "grout/ops.def"
};

enum { use_STORAGE, use_ALU };
static const grout_dtype_info dtype_infos[GROUT_DTYPE_COUNT] = {
    [GROUT_DTYPE_NONE] = {"", "", 0, 0, 0, 1, GROUT_CLASS_NONE, false},
#define GROUT_DTYPE(NAME, TEXT, BITS, CLASS, USE, POISON, DOC) \
    [GROUT_DTYPE_##NAME] = {TEXT,                              \
                            DOC,                               \
                            POISON,                            \
                            BITS,                              \
                            (BITS + 7) / 8,                    \
                            BITS == 4 ? 2 : 1,                 \
                            GROUT_CLASS_##CLASS,               \
                            use_##USE == use_ALU},
#include "grout/types.def"
};

static const uint64_t fills[GROUT_DTYPE_COUNT] = {
#define GROUT_FILL(NAME, BITS) [GROUT_DTYPE_##NAME] = BITS,
#include "grout/types.def"
};

enum { types_ANY, types_FLOAT };
static const grout_generator_info generator_infos[GROUT_GENERATOR_VALUE] = {
#define GROUT_GENERATOR(NAME, TEXT, ARGUMENTS, FORM, TYPES, DOC) \
    [GROUT_GENERATOR_##NAME] = {TEXT, FORM, DOC, ARGUMENTS, types_##TYPES == types_FLOAT},
#include "grout/generators.def"
};

static const grout_space_info space_infos[GROUT_SPACE_COUNT] = {
    [GROUT_SPACE_NONE] = {"", "", 0, 0, GROUT_GENERATION_ANY},
#define GROUT_SPACE(NAME, TEXT, OWNER, PEERS, PLAIN, LAYOUT, COMMIT, RACE, ALIGN, BUDGET, OF, DOC) \
    [GROUT_SPACE_##NAME] = {TEXT, DOC, BUDGET, ALIGN, GROUT_GENERATION_##OF},
#include "grout/spaces.def"
};

static const struct {
    grout_effect_class class_;
    const char *doc;
} effect_rows[GROUT_EFFECT_ROW_COUNT] = {
#define GROUT_EFFECT_ROW(NAME, CLASS, DOC) [GROUT_EFFECT_ROW_##NAME] = {GROUT_EFFECT_##CLASS, DOC},
#include "grout-internal/effects.def"
};

/* The lines of effects.def, and beside them the row that each belongs to: a row's lines are
 * consecutive. */
static const grout_effect effect_lines[] = {
#define GROUT_EFFECT(ROW, OPERAND, SPACE, PROXY, ACCESS, MILESTONE)                   \
    {OPERAND, GROUT_EFFECT_SPACE_##SPACE, GROUT_PROXY_##PROXY, GROUT_ACCESS_##ACCESS, \
     GROUT_MILESTONE_##MILESTONE},
#include "grout-internal/effects.def"
};
static const uint8_t effect_line_rows[] = {
#define GROUT_EFFECT(ROW, OPERAND, SPACE, PROXY, ACCESS, MILESTONE) GROUT_EFFECT_ROW_##ROW,
#include "grout-internal/effects.def"
};

/* Bits of the COVERS column. */
enum {
    MILESTONE_BIT_NONE = 0,
    MILESTONE_BIT_PHASE = 1 << GROUT_MILESTONE_PHASE,
    MILESTONE_BIT_BULK_READ = 1 << GROUT_MILESTONE_BULK_READ,
    MILESTONE_BIT_BULK_WRITE = 1 << GROUT_MILESTONE_BULK_WRITE,
    MILESTONE_BIT_WGMMA = 1 << GROUT_MILESTONE_WGMMA,
    MILESTONE_BIT_ASYNC_COPY = 1 << GROUT_MILESTONE_ASYNC_COPY,
    MILESTONE_BIT_TCGEN05 = 1 << GROUT_MILESTONE_TCGEN05,
    MILESTONE_BIT_TMEM_LOAD = 1 << GROUT_MILESTONE_TMEM_LOAD,
    MILESTONE_BIT_TMEM_STORE = 1 << GROUT_MILESTONE_TMEM_STORE
};

static const grout_sync_info sync_infos[GROUT_OP_COUNT] = {
#define GROUT_SYNC(NAME, OBJECT, REACH, MODE, SIDE, SCOPE, ARRIVAL, COVERS, LANES, REDUNDANT, \
                   TENSOR, WARP, MEANT, WRITTEN)                                              \
    [GROUT_OP_##NAME] = {.warp = WARP,                                                        \
                         .object = GROUT_SYNC_OBJECT_##OBJECT,                                \
                         .reach = GROUT_SYNC_REACH_##REACH,                                   \
                         .mode = GROUT_SYNC_MODE_##MODE,                                      \
                         .side = GROUT_SYNC_SIDE_##SIDE,                                      \
                         .scope = GROUT_SYNC_SCOPE_##SCOPE,                                   \
                         .arrival = GROUT_SYNC_ARRIVAL_##ARRIVAL,                             \
                         .covers = MILESTONE_BITS COVERS,                                     \
                         .lanes = GROUT_SYNC_LANES_##LANES,                                   \
                         .redundant = GROUT_SYNC_REDUNDANT_##REDUNDANT,                       \
                         .tensor = GROUT_SYNC_TENSOR_##TENSOR},
#include "grout-internal/sync.def"
};

static const grout_region_info region_infos[GROUT_FORM_COUNT] = {
#define BLOCKS_ANY 0
#define BLOCKS_1   1
#define BLOCKS_2   2
#define GROUT_REGION(FORM, text, KIND, LEAD_OPERANDS, LEAD_ARGS, BLOCKS, YIELDS)           \
    [GROUT_FORM_##FORM] = {GROUT_REGION_##KIND, LEAD_OPERANDS, LEAD_ARGS, BLOCKS_##BLOCKS, \
                           GROUT_YIELDS_##YIELDS},
#include "grout/ops.def"
};

static const struct {
    grout_commutes commutes;
    const char *doc;
} update_infos[GROUT_UPDATE_COUNT] = {
    [GROUT_UPDATE_NONE] = {GROUT_COMMUTES_ALWAYS, ""},
#define GROUT_UPDATE(NAME, COMMUTES) \
    [GROUT_UPDATE_##NAME] = {GROUT_COMMUTES_##COMMUTES, doc_of_update_##NAME},
#include "grout/ops.def"
};

/*
 * No line may be missing: an op whose effect row has the class SYNC, BLOCKING or ASYNC has one in
 * sync.def, and no other op; a form of shape REGION has a GROUT_REGION line, and no other form. The
 * inner enumerators hide the outer ones where there is a line.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum {
#define GROUT_EFFECT_ROW(NAME, CLASS, DOC)                             \
    row_asks_##NAME = GROUT_EFFECT_##CLASS == GROUT_EFFECT_SYNC ||     \
                      GROUT_EFFECT_##CLASS == GROUT_EFFECT_BLOCKING || \
                      GROUT_EFFECT_##CLASS == GROUT_EFFECT_ASYNC,
#include "grout-internal/effects.def"
    asks_end
};
enum {
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) sync_line_of_##NAME = 0,
#include "grout/ops.def"
#define GROUT_FORM(NAME, OPERANDS, SHAPE, RULE, TYPED, RESULTS, SYNTAX) region_line_of_##NAME = 0,
#include "grout/ops.def"
    lines_end
};
static inline void check_lines(void) {
    enum {
#define GROUT_SYNC(NAME, OBJECT, REACH, MODE, SIDE, SCOPE, ARRIVAL, COVERS, LANES, REDUNDANT, \
                   TENSOR, WARP, MEANT, WRITTEN)                                              \
    sync_line_of_##NAME = 1,
#include "grout-internal/sync.def"
#define GROUT_REGION(FORM, text, KIND, LEAD_OPERANDS, LEAD_ARGS, BLOCKS, YIELDS) \
    region_line_of_##FORM = 1,
#include "grout/ops.def"
        inner_end
    };
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS)        \
    _Static_assert((int)row_asks_##EFFECTS == (int)sync_line_of_##NAME, \
                   "sync.def has a line for '" #text                    \
                   "' if and only if its effect row has the class SYNC, BLOCKING or ASYNC");
#include "grout/ops.def"
#define GROUT_FORM(NAME, OPERANDS, SHAPE, RULE, TYPED, RESULTS, SYNTAX)                  \
    _Static_assert((GROUT_SHAPE_##SHAPE == GROUT_SHAPE_REGION) == region_line_of_##NAME, \
                   "ops.def has a GROUT_REGION line for the form " #NAME                 \
                   " if and only if its shape is REGION");
#include "grout/ops.def"
}
#pragma GCC diagnostic pop

const grout_op_info *grout_op_get_info(grout_opcode opcode) {
    return &op_infos[opcode];
}

const grout_sync_info *grout_op_get_sync(grout_opcode opcode) {
    check_lines();
    return sync_infos[opcode].warp == NULL ? NULL : &sync_infos[opcode];
}

const grout_region_info *grout_op_get_region(grout_opcode opcode) {
    return &region_infos[op_infos[opcode].form];
}

const grout_effect *grout_op_find_effect(grout_opcode opcode, uint32_t operand) {
    uint32_t count;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)op_infos[opcode].effect_row, &count);
    for (uint32_t k = 0; k < count; k++) {
        if (effects[k].operand == operand) {
            return &effects[k];
        }
    }
    return NULL;
}

char grout_op_get_letter(grout_opcode opcode, uint32_t operand) {
    const char *letters = op_infos[opcode].operands;
    size_t count = strlen(letters);
    if (count == 0) {
        return '*';
    }
    return letters[operand < count ? operand : count - 1];
}

uint32_t grout_letters_count_least(const char *letters) {
    uint32_t count = 0;
    while (letters[count] != '\0' &&
           grout_letter_get_info(letters[count])->kind < GROUT_LETTER_OPTION) {
        count++;
    }
    return count;
}

const grout_letter_info *grout_letter_get_info(char letter) {
    static const grout_letter_info letters[128] = {
#define GROUT_LETTER(LETTER, KIND, SPACE, DOC) \
    [LETTER] = {DOC, LETTER, GROUT_LETTER_##KIND, GROUT_EFFECT_SPACE_##SPACE},
#include "grout/ops.def"
    };
    const unsigned char number = (unsigned char)letter;
    return number < 128 && letters[number].doc != NULL ? &letters[number] : NULL;
}

bool grout_op_takes_picks(grout_opcode opcode) {
    for (const char *letter = op_infos[opcode].operands; *letter != '\0'; letter++) {
        const uint8_t kind = grout_letter_get_info(*letter)->kind;
        if (kind == GROUT_LETTER_INDICES || kind == GROUT_LETTER_MASK) {
            return true;
        }
    }
    return false;
}

uint32_t grout_op_find_letter(grout_opcode opcode, char letter) {
    const char *letters = op_infos[opcode].operands, *at = strchr(letters, letter);
    return at == NULL ? UINT32_MAX : (uint32_t)(at - letters);
}

bool grout_op_has_access(grout_opcode opcode, grout_access_kind access) {
    uint32_t count = 0;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)op_infos[opcode].effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].access == access) {
            return true;
        }
    }
    return false;
}

bool grout_op_is_partial(grout_opcode opcode) {
    static const bool is_partial[GROUT_OP_COUNT] = {
#define GROUT_PARTIAL(NAME) [GROUT_OP_##NAME] = true,
#include "grout/ops.def"
    };
    return is_partial[opcode];
}

static const struct {
    grout_generation generation;
    const char *instead;
} generations[GROUT_OP_COUNT] = {
#define GROUT_HARDWARE(NAME, GENERATION, INSTEAD) \
    [GROUT_OP_##NAME] = {GROUT_GENERATION_##GENERATION, INSTEAD},
#include "grout/ops.def"
};

grout_generation grout_op_get_generation(grout_opcode opcode) {
    return generations[opcode].generation;
}

const char *grout_op_get_instead(grout_opcode opcode) {
    return generations[opcode].instead == NULL ? "" : generations[opcode].instead;
}

bool grout_op_returns_old_value(grout_opcode opcode) {
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    bool is_look =
        sync != NULL && sync->mode == GROUT_SYNC_MODE_TESTS && sync->side == GROUT_SYNC_SIDE_NONE;
    return op_infos[opcode].results > 0 &&
           (op_infos[opcode].update != GROUT_UPDATE_NONE || is_look);
}

grout_update grout_op_get_reduction(grout_opcode opcode) {
    /* num.h is not in sight: an expression expands to the update that does the same. */
    static const uint8_t reductions[GROUT_OP_COUNT] = {
        [GROUT_OP_NONE] = GROUT_UPDATE_NONE,
#define GROUT_ADD(A, B)                             GROUT_UPDATE_ADD
#define GROUT_MUL(A, B)                             GROUT_UPDATE_MUL
#define GROUT_MIN(A, B)                             GROUT_UPDATE_MIN
#define GROUT_MAX(A, B)                             GROUT_UPDATE_MAX
#define GROUT_AND(A, B)                             GROUT_UPDATE_AND
#define GROUT_OR(A, B)                              GROUT_UPDATE_OR
#define GROUT_XOR(A, B)                             GROUT_UPDATE_XOR
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION) [GROUT_OP_##NAME] = EXPRESSION,
#include "grout/ops.def"
#undef GROUT_ADD
#undef GROUT_MUL
#undef GROUT_MIN
#undef GROUT_MAX
#undef GROUT_AND
#undef GROUT_OR
#undef GROUT_XOR
    };
    return (grout_update)reductions[opcode];
}

grout_opcode grout_op_get_scanned(grout_opcode opcode) {
    static const uint16_t scanned[GROUT_OP_COUNT] = {
#define GROUT_SCAN(NAME, text, REDUCE) [GROUT_OP_##NAME] = GROUT_OP_##REDUCE,
#include "grout/ops.def"
    };
    return (grout_opcode)scanned[opcode];
}

/* Those of f64 are the ones of f32 in the upper half, but for the length of the exponent. */
uint64_t grout_update_get_identity(grout_update update, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const bool is_signed = info->class_ == GROUT_CLASS_SINT;
    const uint64_t sign = UINT64_C(1) << (8 * info->bytes - 1), ones = sign | (sign - 1);
    const uint64_t least = is_signed ? sign : 0, largest = is_signed ? sign - 1 : ones;
    const bool is_wide = info->bytes == 8;
    if (info->class_ != GROUT_CLASS_FLOAT) {
        return update == GROUT_UPDATE_MUL   ? 1
               : update == GROUT_UPDATE_MAX ? least
               : update == GROUT_UPDATE_MIN ? largest
                                            : 0;
    }
    const uint64_t upper = update == GROUT_UPDATE_MUL   ? (is_wide ? 0x3ff00000u : 0x3f800000u)
                           : update == GROUT_UPDATE_MAX ? (is_wide ? 0xfff00000u : 0xff800000u)
                           : update == GROUT_UPDATE_MIN ? (is_wide ? 0x7ff00000u : 0x7f800000u)
                                                        : 0;
    return is_wide ? upper << 32 : upper;
}

uint32_t grout_op_find_target(grout_opcode opcode) {
    uint32_t count = 0;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)op_infos[opcode].effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].access == GROUT_ACCESS_WRITE || effects[i].access == GROUT_ACCESS_ATOMIC) {
            return effects[i].operand;
        }
    }
    return UINT32_MAX;
}

const char *grout_update_get_doc(grout_update update) {
    return update_infos[update].doc;
}

grout_commutes grout_update_get_commutes(grout_update update) {
    return update_infos[update].commutes;
}

bool grout_update_is_ordered(grout_update update, grout_dtype dtype) {
    grout_commutes commutes = update_infos[update].commutes;
    return commutes == GROUT_COMMUTES_NEVER ||
           (commutes == GROUT_COMMUTES_INTEGERS && dtype_infos[dtype].class_ == GROUT_CLASS_FLOAT);
}

grout_update grout_update_from_choice(grout_choice choice) {
    static const struct {
        grout_choice choice;
        grout_update update;
    } updates[] = {
#define UPDATE_OF_REDUCE(NAME) {GROUT_CHOICE_REDUCE_##NAME, GROUT_UPDATE_##NAME},
#define UPDATE_OF_LAYOUT(NAME)
#define UPDATE_OF_OOB(NAME)
#define UPDATE_OF_ORDER(NAME)
#define UPDATE_OF_SCOPE(NAME)
#define GROUT_CHOICE(ATTR, NAME, text) UPDATE_OF_##ATTR(NAME)
#include "grout/ops.def"
    };
    for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++) {
        if (updates[i].choice == choice) {
            return updates[i].update;
        }
    }
    return GROUT_UPDATE_NONE;
}

const grout_attr_info *grout_attr_get_info(grout_attr attr) {
    return &attr_infos[attr];
}

const grout_choice_info *grout_choice_get_info(grout_choice choice) {
    return &choice_infos[choice];
}

bool grout_type_rule_takes(grout_type_rule rule, grout_dtype dtype) {
    const grout_dtype_info *info = &dtype_infos[dtype];
    bool is_number = info->is_arithmetic && info->class_ != GROUT_CLASS_BOOL;
    bool is_float = is_number && info->class_ == GROUT_CLASS_FLOAT;
    switch (rule) {
    case GROUT_TYPES_ANY:
    case GROUT_TYPES_MMA: /* lowering/products/wgmma_types.c says which */
        return true;
    case GROUT_TYPES_NUM:
    case GROUT_TYPES_CMP:
        return is_number;
    case GROUT_TYPES_CMP_ANY:
        return info->is_arithmetic;
    case GROUT_TYPES_INT:
        return is_number && !is_float;
    case GROUT_TYPES_FLOAT:
    case GROUT_TYPES_CMP_FLOAT:
        return is_float;
    case GROUT_TYPES_ACC:
        return dtype == GROUT_DTYPE_F16 || dtype == GROUT_DTYPE_F32 || dtype == GROUT_DTYPE_I32;
    case GROUT_TYPES_LOGIC:
        return info->is_arithmetic && !is_float;
    case GROUT_TYPES_BOOL:
        return dtype == GROUT_DTYPE_BOOL;
    case GROUT_TYPES_WORD:
        return dtype == GROUT_DTYPE_I32 || dtype == GROUT_DTYPE_U32;
    case GROUT_TYPES_NONE:
        break;
    }
    return false;
}

uint64_t grout_dtype_get_fill(grout_dtype dtype) {
    return fills[dtype];
}

const grout_dtype_info *grout_dtype_get_info(grout_dtype dtype) {
    return &dtype_infos[dtype];
}

const grout_generator_info *grout_generator_get_info(grout_generator_kind kind) {
    return kind < GROUT_GENERATOR_VALUE ? &generator_infos[kind] : NULL;
}

const grout_space_info *grout_space_get_info(grout_space space) {
    return &space_infos[space];
}

const char *grout_space_get_text(grout_space space) {
    return space_infos[space].text;
}

grout_effect_class grout_effect_row_get_class(grout_effect_row row) {
    return effect_rows[row].class_;
}

const char *grout_effect_row_get_doc(grout_effect_row row) {
    return effect_rows[row].doc;
}

const grout_effect *grout_effect_row_get_effects(grout_effect_row row, uint32_t *count_out) {
    const uint8_t *first = memchr(effect_line_rows, (int)row, sizeof effect_line_rows);
    const uint8_t *end = effect_line_rows + sizeof effect_line_rows;
    uint32_t count = 0;
    while (first != NULL && first + count < end && first[count] == row) {
        count++;
    }
    *count_out = count;
    return count > 0 ? &effect_lines[first - effect_line_rows] : effect_lines;
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

grout_generator_kind grout_generator_find(const char *text, size_t size) {
    for (int i = 0; i < GROUT_GENERATOR_VALUE; i++) {
        if (is_text(generator_infos[i].text, text, size)) {
            return (grout_generator_kind)i;
        }
    }
    return GROUT_GENERATOR_COUNT;
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
        if (is_text(space_infos[i].text, text, size)) {
            return (grout_space)i;
        }
    }
    return GROUT_SPACE_NONE;
}
