/*
 * lexer.h - a text as tokens, with the comments and blank lines between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_LEXER_H
#define GROUT_IR_LEXER_H

#include "module.h"

typedef enum grout_token_kind {
    GROUT_TOKEN_END,
    GROUT_TOKEN_BAD, /* already reported */
    GROUT_TOKEN_NAME,
    GROUT_TOKEN_VALUE,  /* %name */
    GROUT_TOKEN_KERNEL, /* @name */
    GROUT_TOKEN_INT,
    GROUT_TOKEN_FLOAT,
    GROUT_TOKEN_STRING,
    GROUT_TOKEN_LEFT_PAREN,
    GROUT_TOKEN_RIGHT_PAREN,
    GROUT_TOKEN_LEFT_BRACE,
    GROUT_TOKEN_RIGHT_BRACE,
    GROUT_TOKEN_LEFT_BRACKET,
    GROUT_TOKEN_RIGHT_BRACKET,
    GROUT_TOKEN_COMMA,
    GROUT_TOKEN_COLON,
    GROUT_TOKEN_DOT,
    GROUT_TOKEN_RANGE, /* .. */
    GROUT_TOKEN_ASSIGN,
    GROUT_TOKEN_PLUS,
    GROUT_TOKEN_MINUS,
    GROUT_TOKEN_STAR,
    GROUT_TOKEN_SLASH,
    GROUT_TOKEN_PERCENT,
    GROUT_TOKEN_SHIFT_LEFT,
    GROUT_TOKEN_SHIFT_RIGHT,
    GROUT_TOKEN_EQ,
    GROUT_TOKEN_NE,
    GROUT_TOKEN_LT,
    GROUT_TOKEN_LE,
    GROUT_TOKEN_GT,
    GROUT_TOKEN_GE
} grout_token_kind;

typedef struct grout_token {
    uint8_t kind;        /* grout_token_kind */
    bool has_blank;      /* anything stands between it and the token before */
    bool has_newline;    /* it is the first of its line */
    bool has_blank_line; /* an empty line stands right above it */
    uint16_t opcode;     /* of a NAME that is a mnemonic, else GROUT_OP_NONE */
    uint32_t offset, size;
    uint32_t line, column;
} grout_token;

/* A comment, from its slashes to the last byte of its line that is no blank. */
typedef struct grout_comment {
    uint32_t offset, size;
    uint32_t line;
    bool has_blank_line; /* as in a token */
} grout_comment;

typedef struct grout_lexer {
    const char *text; /* NUL-terminated, at most GROUT_FILE_MAX bytes */
    uint32_t size;
    uint32_t at;
    uint32_t line, line_start; /* of at; offset of the line's first byte */
    uint32_t newlines;         /* since the last token or comment */
    const char *file;
    grout_diags *diags;
    grout_table comments; /* grout_comment: those met and not taken yet are first_comment.. */
    uint32_t first_comment;
    bool has_error;  /* something was reported */
    bool has_failed; /* no memory for a comment */
} grout_lexer;

static inline bool grout_token__is_mnemonic(const grout_token *token) {
    return token->opcode != GROUT_OP_NONE;
}

/* False without memory. The text is borrowed until deinit. */
bool grout_lexer__init(grout_lexer *lexer, const char *file, const char *text, uint32_t size,
                       const grout_allocator *allocator, grout_diags *diags);
void grout_lexer__deinit(grout_lexer *lexer);
/* The next token; at the end GROUT_TOKEN_END again and again. */
grout_token grout_lexer__next(grout_lexer *lexer);

/* A letter, digit or '_'. */
bool grout_lexer__is_name_byte(char byte);
/* Whether a whole text is a NAME of the language. */
bool grout_lexer__is_name(const char *text, size_t size);

/* The magnitude of an INT token; false if it does not fit 64 bits. */
bool grout_lexer__get_integer(const grout_lexer *lexer, const grout_token *token,
                              uint64_t *value_out);
/* The value of a FLOAT token, to the nearest double; false if it is too large for one. */
bool grout_lexer__get_number(const grout_lexer *lexer, const grout_token *token, double *value_out);
/* Appends the contents of a STRING token. */
void grout_lexer__get_string(const grout_lexer *lexer, const grout_token *token, grout_text *out);

#endif
