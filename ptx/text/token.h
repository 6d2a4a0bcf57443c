/* token.h - PTX cut into tokens. PTX ISA 9.1, chapter 4.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_TEXT_TOKEN_H
#define GROUT_PTX_TEXT_TOKEN_H

#include "module.h"

typedef enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,   /* a letter, or one of $ % _ and more: add, %r1, _, $L__BB0_1 */
    PTX_TOKEN_WORD,   /* a dot and a name, :: and all: .shared::cta, .2d; the text has no dot */
    PTX_TOKEN_NUMBER, /* an integer or a float: bits, is_float */
    PTX_TOKEN_STRING, /* the text is what is between the quotes */
    PTX_TOKEN_MARK,   /* one character: mark */
    PTX_TOKEN_BAD     /* what begins no token: mark */
} ptx_token_kind;

typedef struct ptx_token {
    ptx_token_kind kind;
    char mark;
    bool is_float, is_single; /* of a number: a double's bits; is_single: written as 0f... */
    bool is_tight;            /* nothing stands between it and the token before */
    const char *text;
    size_t size;
    uint64_t bits;
    ptx_place place;
} ptx_token;

/* Where reading has come to. */
typedef struct ptx_reader {
    const char *at, *end, *line_start;
    uint32_t line;
} ptx_reader;

/* The next token; PTX_TOKEN_END at the end, again and again. */
ptx_token grout_ptx__read_token(ptx_reader *reader);

#endif
