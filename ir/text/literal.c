/* literal.c - what the literals of a text mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lexer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t get_digit(char byte) {
    if (byte >= '0' && byte <= '9') {
        return (uint64_t)(unsigned char)byte - '0';
    }
    return (uint64_t)((unsigned char)byte | 0x20u) - 'a' + 10;
}

bool grout_lexer__get_integer(const grout_lexer *lexer, const grout_token *token,
                              uint64_t *value_out) {
    const char *text = lexer->text + token->offset;
    bool is_hex = token->size > 2 && (text[1] | 0x20) == 'x';
    uint64_t base = is_hex ? 16 : 10;
    uint64_t value = 0;
    for (uint32_t i = is_hex ? 2 : 0; i < token->size; i++) {
        uint64_t digit = get_digit(text[i]);
        if (value > (UINT64_MAX - digit) / base) {
            return false;
        }
        value = value * base + digit;
    }
    *value_out = value;
    return true;
}

bool grout_lexer__get_number(const grout_lexer *lexer, const grout_token *token,
                             double *value_out) {
    /* strtod reads the decimal point of the host program's locale, so it is given that one. */
    char point[8] = "";
    (void)snprintf(point, sizeof point, "%.1f", 0.5);
    size_t point_size = strlen(point) > 2 ? strlen(point) - 2 : 0;

    char digits[GROUT_NAME_MAX + sizeof point];
    size_t size = 0;
    for (uint32_t i = 0; i < token->size; i++) {
        char byte = lexer->text[token->offset + i];
        if (byte == '.') {
            memcpy(digits + size, point + 1, point_size);
            size += point_size;
        } else {
            digits[size++] = byte;
        }
    }
    digits[size] = '\0';
    *value_out = strtod(digits, NULL);
    return isfinite(*value_out);
}

void grout_lexer__get_string(const grout_lexer *lexer, const grout_token *token, grout_text *out) {
    const char *text = lexer->text + token->offset;
    grout_text_add_bytes(out, "", 0);
    for (uint32_t i = 1; i + 1 < token->size; i++) {
        char byte = text[i];
        if (byte == '\\') {
            i++;
            byte = text[i];
            if (byte == 'n') {
                byte = '\n';
            } else if (byte == 't') {
                byte = '\t';
            }
        }
        grout_text_add_bytes(out, &byte, 1);
    }
}
