/* parse_type.c - element types, written types, and the objects of scratch and scoped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "suggest.h"

/* The element type that other languages call so, or NULL. */
static const char *find_alias(const grout_parser *p) {
    static const struct {
        const char *word, *text;
    } aliases[] = {
        {"float32", "f32"}, {"float", "f32"},    {"fp32", "f32"},    {"half", "f16"},
        {"float16", "f16"}, {"fp16", "f16"},     {"bfloat", "bf16"}, {"bfloat16", "bf16"},
        {"double", "f64"},  {"float64", "f64"},  {"fp64", "f64"},    {"int", "i32"},
        {"int32", "i32"},   {"uint", "u32"},     {"uint32", "u32"},  {"int8", "i8"},
        {"uint8", "u8"},    {"int16", "i16"},    {"uint16", "u16"},  {"int64", "i64"},
        {"uint64", "u64"},  {"boolean", "bool"},
    };
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (grout_parser__is_word(p, &p->token, aliases[i].word)) {
            return aliases[i].text;
        }
    }
    return NULL;
}

bool grout_parser__dtype(grout_parser *p, grout_dtype *dtype_out) {
    if (p->token.kind != GROUT_TOKEN_NAME) {
        return grout_parser__expected(p, "an element type");
    }
    const char *text = p->lexer.text + p->token.offset;
    *dtype_out = grout_dtype_find(text, p->token.size);
    if (*dtype_out != GROUT_DTYPE_NONE) {
        grout_parser__advance(p);
        return true;
    }
    const char *alias = find_alias(p);
    grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
    for (int i = 1; i < GROUT_DTYPE_COUNT; i++) {
        grout_suggest__offer(&suggestion, grout_dtype_get_info((grout_dtype)i)->text);
    }
    (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_TYPE,
                              "there is no element type '%.*s'", (int)p->token.size, text);
    grout_parser__suggest(p, "", alias != NULL ? alias : suggestion.best);
    return false;
}

bool grout_parser__type(grout_parser *p, grout_written_type *type_out) {
    grout_dtype dtype = GROUT_DTYPE_NONE;
    *type_out = (grout_written_type){0};
    if (!grout_parser__dtype(p, &dtype)) {
        return false;
    }
    type_out->dtype = (uint8_t)dtype;
    if (!grout_parser__accept(p, GROUT_TOKEN_LEFT_BRACKET)) {
        return true;
    }
    type_out->is_array = true;
    if (grout_parser__accept(p, GROUT_TOKEN_RIGHT_BRACKET)) {
        return true;
    }
    type_out->rank = (uint8_t)grout_parser__constants(p, type_out->dims, GROUT_RANK_MAX,
                                                      GROUT_TOKEN_RIGHT_BRACKET);
    return type_out->rank > 0;
}

static bool report_twice(grout_parser *p) {
    return grout_parser__error(p, &p->token, GROUT_DIAG_SYNTAX, "'%.*s' stands twice",
                               (int)p->token.size, p->lexer.text + p->token.offset);
}

/* word '(' constants ')', the word being the next token. */
static uint32_t parse_list(grout_parser *p, grout_expr_id *ids, uint32_t max) {
    grout_parser__advance(p);
    return grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('")
               ? grout_parser__constants(p, ids, max, GROUT_TOKEN_RIGHT_PAREN)
               : 0;
}

/* A transform of an smem array; *done_out if none stands next. */
static bool parse_transform(grout_parser *p, grout_object *object, bool *done_out) {
    if (grout_parser__is_word(p, &p->token, "tile")) {
        if (object->tile_rank > 0) {
            return report_twice(p);
        }
        object->tile_rank = (uint8_t)parse_list(p, object->tile, GROUT_RANK_MAX);
        return object->tile_rank > 0;
    }
    if (grout_parser__is_word(p, &p->token, "swizzle")) {
        return object->swizzle != 0 ? report_twice(p) : parse_list(p, &object->swizzle, 1) > 0;
    }
    if (grout_parser__is_word(p, &p->token, "transpose")) {
        if (object->transpose_rank > 0) {
            return report_twice(p);
        }
        object->transpose_rank = (uint8_t)parse_list(p, object->transpose, GROUT_RANK_MAX);
        return object->transpose_rank > 0;
    }
    *done_out = true;
    return true;
}

static bool parse_smem(grout_parser *p, grout_object *object) {
    object->kind = GROUT_OBJECT_ARRAY;
    object->space = GROUT_SPACE_SMEM;
    grout_parser__advance(p);
    if (!grout_parser__type(p, &object->type)) {
        return false;
    }
    if (!object->type.is_array) {
        return grout_parser__expected(p, "'[' and the dimensions of the array");
    }
    bool is_done = false;
    while (!is_done) {
        if (!parse_transform(p, object, &is_done)) {
            return false;
        }
    }
    return true;
}

static bool parse_barrier(grout_parser *p, grout_object *object) {
    object->kind = GROUT_OBJECT_BARRIER;
    object->space = GROUT_SPACE_SMEM;
    grout_parser__advance(p);
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_BRACKET, "'[' and the number of barriers") ||
        !grout_parser__constant(p, &object->type.dims[0]) ||
        !grout_parser__expect(p, GROUT_TOKEN_RIGHT_BRACKET, "']'")) {
        return false;
    }
    object->type.is_array = true;
    object->type.rank = 1;
    while (grout_parser__is_word(p, &p->token, "arrivals")) {
        if (object->arrivals != 0) {
            return report_twice(p);
        }
        if (parse_list(p, &object->arrivals, 1) == 0) {
            return false;
        }
    }
    if (grout_parser__is_word(p, &p->token, "orders_tensor_core") ||
        grout_parser__is_word(p, &p->token, "cluster")) {
        return grout_parser__not_yet(p, &p->token);
    }
    return true;
}

/* An accumulator: the hardware says how it lies in registers, so it has no transforms. */
static bool parse_acc(grout_parser *p, grout_object *object) {
    object->kind = GROUT_OBJECT_ARRAY;
    object->space = GROUT_SPACE_ACC;
    grout_parser__advance(p);
    if (!grout_parser__type(p, &object->type)) {
        return false;
    }
    if (!object->type.is_array) {
        return grout_parser__expected(p, "'[' and the dimensions of the accumulator");
    }
    if (grout_parser__is_word(p, &p->token, "tile") ||
        grout_parser__is_word(p, &p->token, "swizzle") ||
        grout_parser__is_word(p, &p->token, "transpose")) {
        return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_TRANSFORM,
                                   "an accumulator has no '%.*s': it lies in registers as the "
                                   "tensor core wants it",
                                   (int)p->token.size, p->lexer.text + p->token.offset);
    }
    return true;
}

bool grout_parser__object(grout_parser *p, grout_object *object_out) {
    static const char *const words[] = {"smem", "barrier", "acc"};
    if (grout_parser__is_word(p, &p->token, "smem")) {
        return parse_smem(p, object_out);
    }
    if (grout_parser__is_word(p, &p->token, "barrier")) {
        return parse_barrier(p, object_out);
    }
    if (grout_parser__is_word(p, &p->token, "acc")) {
        return parse_acc(p, object_out);
    }
    if (p->token.kind != GROUT_TOKEN_NAME) {
        return grout_parser__expected(p, "'smem', 'barrier' or 'acc'");
    }
    const char *text = p->lexer.text + p->token.offset;
    if (grout_word__get_kind(text, p->token.size) == GROUT_WORD_NOT_YET) {
        return grout_parser__not_yet(p, &p->token);
    }
    if (grout_parser__is_word(p, &p->token, "gmem")) {
        (void)grout_parser__not_yet(p, &p->token);
        grout_parser__help(p, "arrays in gmem are parameters of the kernel");
        return false;
    }
    grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        grout_suggest__offer(&suggestion, words[i]);
    }
    (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_TYPE,
                              "expected 'smem', 'barrier' or 'acc', found '%.*s'",
                              (int)p->token.size, text);
    grout_parser__suggest(p, "", suggestion.best);
    return false;
}
