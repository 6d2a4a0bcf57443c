/* parse_type.c - element types and written types.
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
