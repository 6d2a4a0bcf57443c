/* check_lexer.c - tokens, their places, literals, comments, and bytes that are none of these.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/lexer.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static grout_diags *diags;
static grout_lexer lexer;

static void begin(const char *text, size_t size) {
    diags = grout_diags_new();
    ck_assert(grout_lexer__init(&lexer, "t", text, (uint32_t)size, NULL, diags));
}

static void end(void) {
    grout_lexer__deinit(&lexer);
    grout_diags_free(diags);
}

/* A token and where it stands. */
typedef struct token_case {
    const char *text;
    grout_token_kind kind;
    uint32_t size;
} token_case;

static const token_case single_tokens[] = {
    {"", GROUT_TOKEN_END, 0},          {"abc_1", GROUT_TOKEN_NAME, 5},
    {"%abc", GROUT_TOKEN_VALUE, 4},    {"%12", GROUT_TOKEN_VALUE, 3},
    {"@k", GROUT_TOKEN_KERNEL, 2},     {"% a", GROUT_TOKEN_PERCENT, 1},
    {"0", GROUT_TOKEN_INT, 1},         {"0x1F", GROUT_TOKEN_INT, 4},
    {"1.5", GROUT_TOKEN_FLOAT, 3},     {"1e-3", GROUT_TOKEN_FLOAT, 4},
    {"1.5E+10", GROUT_TOKEN_FLOAT, 7}, {"0x1.8p3", GROUT_TOKEN_FLOAT, 7},
    {"0x1p-3", GROUT_TOKEN_FLOAT, 6},  {"0..4", GROUT_TOKEN_INT, 1},
    {"1.5..2", GROUT_TOKEN_FLOAT, 3},  {"\"a\\\"b\"", GROUT_TOKEN_STRING, 6},
    {"..", GROUT_TOKEN_RANGE, 2},      {".", GROUT_TOKEN_DOT, 1},
    {"<<", GROUT_TOKEN_SHIFT_LEFT, 2}, {"<=", GROUT_TOKEN_LE, 2},
    {"<", GROUT_TOKEN_LT, 1},          {"==", GROUT_TOKEN_EQ, 2},
    {"=", GROUT_TOKEN_ASSIGN, 1},      {"!=", GROUT_TOKEN_NE, 2},
    {"/ /", GROUT_TOKEN_SLASH, 1},     {"{", GROUT_TOKEN_LEFT_BRACE, 1},
};

TEST_EACH(each_token_has_its_kind_and_size, COUNT_OF(single_tokens)) {
    const token_case *c = &single_tokens[_i];
    begin(c->text, strlen(c->text));
    grout_token token = grout_lexer__next(&lexer);
    ck_assert_msg(token.kind == c->kind && token.size == c->size, "'%s': kind %d, size %u", c->text,
                  token.kind, (unsigned)token.size);
    ck_assert(!lexer.has_error);
    end();
}

typedef struct bad_case {
    const char *text;
    size_t size;
    grout_diag_code code;
    uint32_t column, length;
} bad_case;

#define BAD(text, code, column, length) \
    { text, sizeof text - 1, GROUT_DIAG_##code, column, length }
static const bad_case bad_tokens[] = {
    BAD("$", BAD_CHARACTER, 1, 1),
    BAD("a $", BAD_CHARACTER, 3, 1),
    BAD("_a", BAD_CHARACTER, 1, 1),
    BAD("!", BAD_CHARACTER, 1, 1),
    BAD("\xc3\xa9", BAD_CHARACTER, 1, 2),
    BAD("\xff\xfe\xfd", BAD_CHARACTER, 1, 1),
    BAD("a\0b", BAD_CHARACTER, 2, 1),
    BAD("a\rb", BAD_CHARACTER, 2, 1),
    BAD("// \xff", BAD_CHARACTER, 4, 1),
    BAD("\"\x01\"", BAD_CHARACTER, 2, 1),
    BAD("\"\xc0\x80\"", BAD_CHARACTER, 2, 1),
    BAD("12abc", BAD_NUMBER, 1, 5),
    BAD("0x", BAD_NUMBER, 1, 2),
    BAD("0xg", BAD_NUMBER, 1, 3),
    BAD("1.", BAD_NUMBER, 1, 2),
    BAD("1.x", BAD_NUMBER, 1, 3),
    BAD("1e", BAD_NUMBER, 1, 2),
    BAD("1e+", BAD_NUMBER, 1, 2),
    BAD("0x1.8", BAD_NUMBER, 1, 5),
    BAD("\"abc", BAD_STRING, 1, 4),
    BAD("\"abc\n\"", BAD_STRING, 1, 4),
    BAD("\"a\\qb\"", BAD_STRING, 1, 6),
    BAD("\"a\\", BAD_STRING, 1, 3),
    BAD("%1a", SYNTAX, 1, 3),
};

TEST_EACH(each_fault_has_its_code_and_place, COUNT_OF(bad_tokens)) {
    const bad_case *c = &bad_tokens[_i];
    begin(c->text, c->size);
    while (grout_lexer__next(&lexer).kind != GROUT_TOKEN_END) {
    }
    ck_assert(lexer.has_error);
    ck_assert_uint_ge(grout_diags_count(diags), 1);
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_msg(diag->code == c->code && diag->place.column == c->column &&
                      diag->place.length == c->length,
                  "'%s': %s at %u, %u long", c->text, grout_diag_get(diag->code)->text,
                  (unsigned)diag->place.column, (unsigned)diag->place.length);
    end();
}

TEST(places_count_lines_and_bytes) {
    begin("a\r\n\tb // c\n\n  d", 15);
    grout_token a = grout_lexer__next(&lexer);
    grout_token b = grout_lexer__next(&lexer);
    grout_token d = grout_lexer__next(&lexer);
    ck_assert(a.line == 1 && a.column == 1 && a.has_newline && !a.has_blank_line);
    ck_assert(b.line == 2 && b.column == 2 && b.has_newline && b.has_blank && !b.has_blank_line);
    ck_assert(d.line == 4 && d.column == 3 && d.has_blank_line);
    ck_assert_uint_eq(lexer.comments.count, 2);
    ck_assert(!lexer.has_error);
    end();
}

TEST(a_byte_order_mark_is_skipped) {
    begin("\xef\xbb\xbf"
          "a",
          4);
    ck_assert_int_eq(grout_lexer__next(&lexer).kind, GROUT_TOKEN_NAME);
    ck_assert(!lexer.has_error);
    end();
}

static void check_name_size(size_t size, bool is_good) {
    char *text = malloc(size + 1);
    memset(text, 'a', size);
    text[size] = '\0';
    begin(text, size);
    ck_assert_int_eq(grout_lexer__next(&lexer).kind, is_good ? GROUT_TOKEN_NAME : GROUT_TOKEN_BAD);
    ck_assert_uint_eq(grout_diags_count(diags), is_good ? 0 : 1);
    ck_assert(is_good || grout_diags_get(diags, 0)->code == GROUT_DIAG_LIMIT);
    ck_assert_int_eq(grout_lexer__is_name(text, size), is_good);
    end();
    free(text);
}

TEST(names_have_at_most_255_bytes) {
    check_name_size(GROUT_NAME_MAX, true);
    check_name_size(GROUT_NAME_MAX + 1, false);
}

TEST(integers_have_64_bits) {
    uint64_t value = 0;
    begin("18446744073709551615 18446744073709551616 0xffffffffffffffff 0x10000000000000000", 81);
    grout_token token = grout_lexer__next(&lexer);
    ck_assert(grout_lexer__get_integer(&lexer, &token, &value) && value == UINT64_MAX);
    token = grout_lexer__next(&lexer);
    ck_assert(!grout_lexer__get_integer(&lexer, &token, &value));
    token = grout_lexer__next(&lexer);
    ck_assert(grout_lexer__get_integer(&lexer, &token, &value) && value == UINT64_MAX);
    token = grout_lexer__next(&lexer);
    ck_assert(!grout_lexer__get_integer(&lexer, &token, &value));
    end();
}

TEST(numbers_are_rounded_to_the_nearest_double) {
    double value = 0;
    begin("0.1 0x1.8p3 1e999 1e-999", 24);
    grout_token token = grout_lexer__next(&lexer);
    ck_assert(grout_lexer__get_number(&lexer, &token, &value) && value == 0.1);
    token = grout_lexer__next(&lexer);
    ck_assert(grout_lexer__get_number(&lexer, &token, &value) && value == 12.0);
    token = grout_lexer__next(&lexer);
    ck_assert(!grout_lexer__get_number(&lexer, &token, &value));
    token = grout_lexer__next(&lexer);
    ck_assert(grout_lexer__get_number(&lexer, &token, &value) && value == 0.0);
    end();
}

TEST(strings_are_unescaped) {
    grout_text text = {0};
    begin("\"a\\n\\t\\\\\\\"b\"", 12);
    grout_token token = grout_lexer__next(&lexer);
    grout_lexer__get_string(&lexer, &token, &text);
    ck_assert_str_eq(text.data, "a\n\t\\\"b");
    grout_text_free(&text);
    end();
}
