/* token.c - see token.h. Comments, white space and lines of a preprocessor separate tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "token.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64 };

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_of_name(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static char peek(const ptx_reader *reader, size_t offset) {
    if ((size_t)(reader->end - reader->at) <= offset) {
        return '\0';
    }
    return reader->at[offset];
}

static void skip_line(ptx_reader *reader) {
    while (reader->at < reader->end && *reader->at != '\n') {
        reader->at++;
    }
}

static void skip_newline(ptx_reader *reader) {
    reader->at++;
    reader->line++;
    reader->line_start = reader->at;
}

static void skip_comment(ptx_reader *reader) {
    reader->at += 2;
    while (reader->at < reader->end && !(peek(reader, 0) == '*' && peek(reader, 1) == '/')) {
        if (*reader->at == '\n') {
            skip_newline(reader);
        } else {
            reader->at++;
        }
    }
    reader->at += reader->end - reader->at < 2 ? reader->end - reader->at : 2;
}

/* False at the first byte of a token, or the end. */
static bool skip_one_blank(ptx_reader *reader) {
    char c = peek(reader, 0);
    if (reader->at == reader->end) {
        return false;
    }
    if (c == '\n') {
        skip_newline(reader);
    } else if (c == ' ' || c == '\t' || c == '\r') {
        reader->at++;
    } else if ((c == '/' && peek(reader, 1) == '/') ||
               (c == '#' && reader->at == reader->line_start)) {
        skip_line(reader);
    } else if (c == '/' && peek(reader, 1) == '*') {
        skip_comment(reader);
    } else {
        return false;
    }
    return true;
}

/* Names joined by '::', as shared::cta. */
static void read_word(ptx_reader *reader) {
    while (is_of_name(peek(reader, 0)) ||
           (peek(reader, 0) == ':' && peek(reader, 1) == ':' && is_of_name(peek(reader, 2)))) {
        reader->at += peek(reader, 0) == ':' ? 2 : 1;
    }
}

static int get_digit(char c) {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* Digits of a base; what does not fit into 64 bits wraps, and is_right is false. */
static uint64_t read_digits(ptx_reader *reader, unsigned base, bool *is_right) {
    uint64_t value = 0;
    for (int digit; (digit = get_digit(peek(reader, 0))) < (int)base; reader->at++) {
        *is_right &= value <= (UINT64_MAX - (uint64_t)digit) / base;
        value = value * base + (uint64_t)digit;
    }
    return value;
}

/* The letter or digit after a zero, or none. */
static char get_base(const ptx_reader *reader) {
    if (peek(reader, 0) != '0') {
        return '\0';
    }
    return peek(reader, 1);
}

/* 0f3F800000 and 0d3FF0000000000000: the bits of a float. */
static bool read_hex_float(ptx_reader *reader, ptx_token *token) {
    char letter = peek(reader, 1);
    bool is_right = true;
    const char *start = reader->at + 2;
    token->is_float = true;
    token->is_single = letter == 'f' || letter == 'F';
    reader->at = start;
    token->bits = read_digits(reader, 16, &is_right);
    if (reader->at - start != (token->is_single ? 8 : 16)) {
        return false;
    }
    if (token->is_single) {
        uint32_t bits = (uint32_t)token->bits;
        float value;
        memcpy(&value, &bits, sizeof value);
        /* A signalling NaN would not stay one: the bits are kept as they are, is_single says so. */
        token->bits = bits;
    }
    return is_right;
}

/* 1.5, 2e10: decimal digits with a point or an exponent. */
static bool read_decimal_float(ptx_reader *reader, ptx_token *token) {
    char buffer[NUMBER_MAX + 1];
    size_t size = 0;
    while (is_digit(peek(reader, size)) || peek(reader, size) == '.') {
        size++;
    }
    if (peek(reader, size) == 'e' || peek(reader, size) == 'E') {
        size++;
        size += peek(reader, size) == '+' || peek(reader, size) == '-';
        while (is_digit(peek(reader, size))) {
            size++;
        }
    }
    bool fits = size <= NUMBER_MAX;
    memcpy(buffer, reader->at, fits ? size : 0);
    buffer[fits ? size : 0] = '\0';
    char *end = buffer;
    double value = strtod(buffer, &end);
    memcpy(&token->bits, &value, sizeof value);
    token->is_float = true;
    reader->at += size;
    return fits && *end == '\0';
}

static bool is_decimal_float(const ptx_reader *reader) {
    size_t size = 0;
    while (is_digit(peek(reader, size))) {
        size++;
    }
    char next = peek(reader, size);
    return (next == '.' && is_digit(peek(reader, size + 1))) ||
           ((next == 'e' || next == 'E') && size > 0);
}

static bool read_integer(ptx_reader *reader, ptx_token *token) {
    bool is_right = true;
    char second = get_base(reader);
    unsigned base = second == 'x' || second == 'X'   ? 16
                    : second == 'b' || second == 'B' ? 2
                    : is_digit(second)               ? 8
                                                     : 10;
    reader->at += base == 16 || base == 2 ? 2 : 0;
    const char *start = reader->at;
    token->bits = read_digits(reader, base, &is_right);
    is_right &= reader->at > start;
    reader->at += peek(reader, 0) == 'U';
    return is_right && !is_of_name(peek(reader, 0));
}

static void read_number(ptx_reader *reader, ptx_token *token) {
    char second = get_base(reader);
    bool is_right = false;
    token->kind = PTX_TOKEN_NUMBER;
    if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
        is_right = read_hex_float(reader, token);
    } else if (is_decimal_float(reader)) {
        is_right = read_decimal_float(reader, token);
    } else {
        is_right = read_integer(reader, token);
    }
    if (!is_right) {
        token->kind = PTX_TOKEN_BAD;
        read_word(reader);
    }
}

static void read_string(ptx_reader *reader, ptx_token *token) {
    reader->at++;
    token->text = reader->at;
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\n') {
        reader->at +=
            *reader->at == '\\' && reader->end - reader->at > 1 && reader->at[1] != '\n' ? 2 : 1;
    }
    token->size = (size_t)(reader->at - token->text);
    token->kind = peek(reader, 0) == '"' ? PTX_TOKEN_STRING : PTX_TOKEN_BAD;
    reader->at += peek(reader, 0) == '"';
}

static void read_name(ptx_reader *reader, ptx_token *token) {
    token->kind = PTX_TOKEN_NAME;
    do {
        reader->at++;
    } while (is_of_name(peek(reader, 0)));
}

ptx_token grout_ptx__read_token(ptx_reader *reader) {
    const char *before = reader->at;
    while (skip_one_blank(reader)) {
    }
    const char *start = reader->at;
    ptx_token token = {.kind = PTX_TOKEN_END, .is_tight = start == before, .text = start};
    token.place.line = reader->line;
    token.place.column = (uint32_t)(start - reader->line_start) + 1;
    token.mark = peek(reader, 0);
    if (start == reader->end) {
        return token;
    }
    if (is_letter(token.mark) || token.mark == '_' || token.mark == '$' || token.mark == '%') {
        read_name(reader, &token);
    } else if (is_digit(token.mark)) {
        read_number(reader, &token);
    } else if (token.mark == '.' && is_of_name(peek(reader, 1))) {
        reader->at++;
        read_word(reader);
        token.kind = PTX_TOKEN_WORD;
        token.text = start + 1;
    } else if (token.mark == '"') {
        read_string(reader, &token);
    } else {
        token.kind = strchr("{}[]()<>,;:@!|+-=~*&^/", token.mark) != NULL && token.mark != '\0'
                         ? PTX_TOKEN_MARK
                         : PTX_TOKEN_BAD;
        reader->at++;
    }
    if (token.kind != PTX_TOKEN_STRING) {
        token.size = (size_t)(reader->at - token.text);
    }
    token.place.length = (uint32_t)(reader->at - start);
    return token;
}
