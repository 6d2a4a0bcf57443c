/* lexer.c - tokens, comments, and what is wrong with the bytes between them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lexer.h"

#include "grout-internal/op_names.h"

#include "invariant.h"
#include "utf8.h"

#include <string.h>

enum { LETTER = 1, DIGIT = 2, HEX_DIGIT = 4 };

/* Classes of bytes; everything else is 0. */
static uint8_t get_class(char byte) {
    if (byte >= '0' && byte <= '9') {
        return DIGIT | HEX_DIGIT;
    }
    char lower = (char)(byte | 0x20);
    if (lower >= 'a' && lower <= 'z') {
        return lower <= 'f' ? LETTER | HEX_DIGIT : LETTER;
    }
    return 0;
}

bool grout_lexer__is_name_byte(char byte) {
    return byte == '_' || (get_class(byte) & (LETTER | DIGIT)) != 0;
}

bool grout_lexer__is_name(const char *text, size_t size) {
    if (size == 0 || size > GROUT_NAME_MAX || (get_class(text[0]) & LETTER) == 0) {
        return false;
    }
    for (size_t i = 1; i < size; i++) {
        if (!grout_lexer__is_name_byte(text[i])) {
            return false;
        }
    }
    return true;
}

bool grout_lexer__init(grout_lexer *lexer, const char *file, const char *text, uint32_t size,
                       const grout_allocator *allocator, grout_diags *diags) {
    *lexer = (grout_lexer){.text = text,
                           .size = size,
                           .line = 1,
                           .newlines = 1,
                           .file = file,
                           .diags = diags,
                           .first_comment = 1};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        lexer->at = 3; /* a byte order mark */
    }
    return grout_table__init(&lexer->comments, allocator, sizeof(grout_comment));
}

void grout_lexer__deinit(grout_lexer *lexer) {
    grout_table__deinit(&lexer->comments);
}

static grout_place get_place(const grout_lexer *lexer, uint32_t offset, uint32_t size) {
    return (grout_place){lexer->file, lexer->line, offset - lexer->line_start + 1, size};
}

/* The end of the line that at stands in: its newline, or the end of the text. */
static uint32_t find_line_end(const grout_lexer *lexer, uint32_t at) {
    GROUT_ASSERT(at <= lexer->size && lexer->text[lexer->size] == '\0');
    const char *newline = memchr(lexer->text + at, '\n', lexer->size - at);
    return newline != NULL ? (uint32_t)(newline - lexer->text) : lexer->size;
}

/* A byte that no text has, not even in a comment. */
static bool is_control(char byte) {
    unsigned char value = (unsigned char)byte;
    return (value < 0x20 && byte != '\t') || value == 0x7f;
}

/* Reports the first byte of [from, to) that is no text; true if there is none. */
static bool check_bytes(grout_lexer *lexer, uint32_t from, uint32_t to) {
    for (uint32_t at = from; at < to;) {
        char byte = lexer->text[at];
        size_t size = grout_utf8__length(lexer->text + at, to - at);
        if (size > 0 && !is_control(byte)) {
            at += (uint32_t)size;
            continue;
        }
        lexer->has_error = true;
        (void)grout_diags_add(lexer->diags, GROUT_DIAG_BAD_CHARACTER, get_place(lexer, at, 1),
                              size > 0 ? "byte 0x%02x is a control character"
                                       : "byte 0x%02x is not UTF-8 here",
                              (unsigned)(unsigned char)byte);
        grout_diags_help(lexer->diags, "the text is UTF-8 with LF or CRLF at the line ends");
        return false;
    }
    return true;
}

static void read_comment(grout_lexer *lexer) {
    uint32_t start = lexer->at;
    uint32_t end = find_line_end(lexer, start);
    lexer->at = end;
    while (lexer->text[end - 1] == ' ' || lexer->text[end - 1] == '\t' ||
           lexer->text[end - 1] == '\r') {
        end--;
    }
    (void)check_bytes(lexer, start, end);
    grout_comment comment = {start, end - start, lexer->line, lexer->newlines >= 2};
    if (grout_table__push(&lexer->comments, &comment) == 0) {
        lexer->has_failed = true;
    }
    lexer->newlines = 0;
}

/* Skips blanks and comments; whether there were any, and whether a line began. */
static void skip_blanks(grout_lexer *lexer, grout_token *token) {
    uint32_t start = lexer->at;
    uint32_t start_line = lexer->line;
    bool is_first = lexer->newlines > 0; /* only at the start of the text */
    for (;;) {
        char byte = lexer->text[lexer->at];
        if (byte == ' ' || byte == '\t' || (byte == '\r' && lexer->text[lexer->at + 1] == '\n')) {
            lexer->at++;
        } else if (byte == '\n') {
            lexer->at++;
            lexer->line++;
            lexer->line_start = lexer->at;
            lexer->newlines++;
        } else if (byte == '/' && lexer->text[lexer->at + 1] == '/') {
            read_comment(lexer);
        } else {
            break;
        }
    }
    token->has_blank = is_first || lexer->at > start;
    token->has_newline = is_first || lexer->line > start_line;
    token->has_blank_line = lexer->newlines >= 2;
    lexer->newlines = 0;
}

static void report(grout_lexer *lexer, const grout_token *token, grout_diag_code code,
                   const char *message) {
    lexer->has_error = true;
    (void)grout_diags_add(lexer->diags, code,
                          get_place(lexer, token->offset, token->size > 0 ? token->size : 1), "%s",
                          message);
}

static uint32_t skip_class(const grout_lexer *lexer, uint32_t at, uint8_t classes) {
    while ((get_class(lexer->text[at]) & classes) != 0) {
        at++;
    }
    return at;
}

static uint32_t skip_name(const grout_lexer *lexer, uint32_t at) {
    while (grout_lexer__is_name_byte(lexer->text[at])) {
        at++;
    }
    return at;
}

/* The end of an exponent that starts at, or at if there is none; 0 if it has no digits. */
static uint32_t skip_exponent(const grout_lexer *lexer, uint32_t at, char letter) {
    if ((lexer->text[at] | 0x20) != letter) {
        return at;
    }
    at++;
    if (lexer->text[at] == '+' || lexer->text[at] == '-') {
        at++;
    }
    uint32_t end = skip_class(lexer, at, DIGIT);
    return end > at ? end : 0;
}

/* Finds the end of a number and what is wrong with it, or NULL. */
static const char *scan_number(const grout_lexer *lexer, grout_token *token, uint32_t *end_out) {
    const char *text = lexer->text;
    uint32_t at = token->offset;
    bool is_hex = text[at] == '0' && (text[at + 1] | 0x20) == 'x';
    uint8_t digits = is_hex ? HEX_DIGIT : DIGIT;
    uint32_t start = is_hex ? at + 2 : at;
    const char *fault = NULL;

    at = skip_class(lexer, start, digits);
    if (at == start) {
        fault = "a hexadecimal number needs digits after '0x'";
    }
    if (text[at] == '.' && text[at + 1] != '.') {
        token->kind = GROUT_TOKEN_FLOAT;
        start = at + 1;
        at = skip_class(lexer, start, digits);
        if (at == start && fault == NULL) {
            fault = "a number needs a digit after its point";
        }
    }
    uint32_t end = skip_exponent(lexer, at, is_hex ? 'p' : 'e');
    if (end == 0 && fault == NULL) {
        fault = "a number needs digits in its exponent";
    }
    if (end > at) {
        token->kind = GROUT_TOKEN_FLOAT;
    } else if (is_hex && token->kind == GROUT_TOKEN_FLOAT && fault == NULL) {
        fault = "a hexadecimal number with a point needs an exponent, as in 0x1.8p0";
    }
    at = end > at ? end : at;
    end = skip_name(lexer, at);
    if (end > at && fault == NULL) {
        fault = "a letter directly follows a number";
    }
    *end_out = end;
    return fault;
}

static void read_number(grout_lexer *lexer, grout_token *token) {
    token->kind = GROUT_TOKEN_INT;
    const char *fault = scan_number(lexer, token, &lexer->at);
    token->size = lexer->at - token->offset;
    if (fault == NULL && token->size > GROUT_NAME_MAX) {
        token->kind = GROUT_TOKEN_BAD;
        report(lexer, token, GROUT_DIAG_LIMIT, "a number has more than 255 bytes");
    } else if (fault != NULL) {
        token->kind = GROUT_TOKEN_BAD;
        report(lexer, token, GROUT_DIAG_BAD_NUMBER, fault);
    }
}

/* A name after '%' or '@', or alone (start is then the token's own). */
static void read_name(grout_lexer *lexer, grout_token *token, uint32_t start) {
    lexer->at = skip_name(lexer, start);
    token->size = lexer->at - token->offset;
    if (lexer->at - start > GROUT_NAME_MAX) {
        token->kind = GROUT_TOKEN_BAD;
        report(lexer, token, GROUT_DIAG_LIMIT, "a name has more than 255 bytes");
    }
}

/* '%' is a value's sign if a name or number follows, else the remainder. */
static void read_percent(grout_lexer *lexer, grout_token *token) {
    uint8_t next = get_class(lexer->text[lexer->at + 1]);
    if ((next & LETTER) != 0) {
        token->kind = GROUT_TOKEN_VALUE;
        read_name(lexer, token, lexer->at + 1);
    } else if ((next & DIGIT) != 0) {
        token->kind = GROUT_TOKEN_VALUE;
        uint32_t digits_end = skip_class(lexer, lexer->at + 1, DIGIT);
        read_name(lexer, token, lexer->at + 1);
        if (token->kind == GROUT_TOKEN_VALUE && lexer->at > digits_end) {
            token->kind = GROUT_TOKEN_BAD;
            report(lexer, token, GROUT_DIAG_SYNTAX,
                   "the name of a value is a number, or starts with a letter");
        }
    } else {
        token->kind = GROUT_TOKEN_PERCENT;
        lexer->at++;
    }
}

/* One byte further than the escape at, or 0 if there is no such escape. */
static uint32_t skip_escape(const grout_lexer *lexer, uint32_t at) {
    char letter = lexer->text[at + 1];
    return letter == 'n' || letter == 't' || letter == '\\' || letter == '"' ? at + 2 : 0;
}

static void read_string(grout_lexer *lexer, grout_token *token) {
    uint32_t line_end = find_line_end(lexer, lexer->at);
    const char *fault = NULL;
    uint32_t at = lexer->at + 1;
    token->kind = GROUT_TOKEN_STRING;
    while (at < line_end && lexer->text[at] != '"') {
        uint32_t next = at + 1;
        if (lexer->text[at] == '\\') {
            next = skip_escape(lexer, at);
            if (next == 0) {
                fault = "a backslash stands before n, t, \\ or \" only";
                next = at + 1 < line_end ? at + 2 : at + 1;
            }
        }
        at = next;
    }
    bool is_closed = at < line_end;
    lexer->at = is_closed ? at + 1 : line_end;
    token->size = lexer->at - token->offset;
    if (!is_closed) {
        fault = "a string has no closing '\"' on its line";
    }
    if (fault != NULL) {
        token->kind = GROUT_TOKEN_BAD;
        report(lexer, token, GROUT_DIAG_BAD_STRING, fault);
    } else if (!check_bytes(lexer, token->offset, lexer->at)) {
        token->kind = GROUT_TOKEN_BAD;
    }
}

/* The remedy for a mark that other languages have. After '#', the rest of the line is skipped;
 * after
 * '_' the rest of the word. */
static void help_foreign_mark(grout_lexer *lexer, uint32_t at) {
    if (lexer->text[at] == '_') {
        while (grout_lexer__is_name_byte(lexer->text[lexer->at])) {
            lexer->at++;
        }
        (void)grout_op_names_help(lexer->diags, lexer->text + at, lexer->at - at);
    } else if (lexer->text[at] == '#') {
        grout_diags_help(lexer->diags, "comments begin with '//'");
        lexer->at = find_line_end(lexer, at);
    } else if (lexer->text[at] == ';') {
        grout_diags_help(lexer->diags, "no mark ends a line: leave it out");
    }
}

/* A run of bytes that start no token, reported as one. */
static void read_bad(grout_lexer *lexer, grout_token *token) {
    uint32_t at = lexer->at;
    token->kind = GROUT_TOKEN_BAD;
    size_t size = grout_utf8__length(lexer->text + at, lexer->size - at);
    bool is_text = size > 0 && !is_control(lexer->text[at]);
    if (!is_text) {
        (void)check_bytes(lexer, at, at + 1);
        size = 1;
    }
    token->size = (uint32_t)size;
    lexer->at += (uint32_t)size;
    if (is_text) {
        lexer->has_error = true;
        (void)grout_diags_add(lexer->diags, GROUT_DIAG_BAD_CHARACTER,
                              get_place(lexer, at, token->size), "no token starts with '%.*s'",
                              (int)size, lexer->text + at);
        help_foreign_mark(lexer, at);
    }
    while (lexer->at < lexer->size && ((unsigned char)lexer->text[lexer->at] >= 0x7f ||
                                       (unsigned char)lexer->text[lexer->at] < '\t')) {
        lexer->at++;
    }
}

/* The kind of a token of punctuation and its size, 0 if there is none. */
static grout_token_kind scan_punctuation(const char *text, uint32_t *size_out) {
    static const struct {
        char text[3];
        uint8_t kind;
    } marks[] = {
        {"..", GROUT_TOKEN_RANGE},
        {"==", GROUT_TOKEN_EQ},
        {"!=", GROUT_TOKEN_NE},
        {"<=", GROUT_TOKEN_LE},
        {">=", GROUT_TOKEN_GE},
        {"<<", GROUT_TOKEN_SHIFT_LEFT},
        {">>", GROUT_TOKEN_SHIFT_RIGHT},
        {"<", GROUT_TOKEN_LT},
        {">", GROUT_TOKEN_GT},
        {"(", GROUT_TOKEN_LEFT_PAREN},
        {")", GROUT_TOKEN_RIGHT_PAREN},
        {"{", GROUT_TOKEN_LEFT_BRACE},
        {"}", GROUT_TOKEN_RIGHT_BRACE},
        {"[", GROUT_TOKEN_LEFT_BRACKET},
        {"]", GROUT_TOKEN_RIGHT_BRACKET},
        {",", GROUT_TOKEN_COMMA},
        {":", GROUT_TOKEN_COLON},
        {".", GROUT_TOKEN_DOT},
        {"=", GROUT_TOKEN_ASSIGN},
        {"+", GROUT_TOKEN_PLUS},
        {"-", GROUT_TOKEN_MINUS},
        {"*", GROUT_TOKEN_STAR},
        {"/", GROUT_TOKEN_SLASH},
    };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (marks[i].text[0] == text[0] &&
            (marks[i].text[1] == '\0' || marks[i].text[1] == text[1])) {
            *size_out = marks[i].text[1] == '\0' ? 1 : 2;
            return (grout_token_kind)marks[i].kind;
        }
    }
    *size_out = 0;
    return GROUT_TOKEN_BAD;
}

grout_token grout_lexer__next(grout_lexer *lexer) {
    grout_token token = {0};
    skip_blanks(lexer, &token);
    token.offset = lexer->at;
    token.line = lexer->line;
    token.column = lexer->at - lexer->line_start + 1;
    if (lexer->at >= lexer->size) {
        return token;
    }
    char byte = lexer->text[lexer->at];
    uint8_t class_ = get_class(byte);
    uint32_t size = 0;
    if ((class_ & LETTER) != 0) {
        token.kind = GROUT_TOKEN_NAME;
        read_name(lexer, &token, lexer->at);
        token.opcode = (uint16_t)grout_op_find(lexer->text + token.offset, token.size);
    } else if (byte == '%') {
        read_percent(lexer, &token);
    } else if ((class_ & DIGIT) != 0) {
        read_number(lexer, &token);
    } else if (byte == '"') {
        read_string(lexer, &token);
    } else if (byte == '@' && (get_class(lexer->text[lexer->at + 1]) & LETTER) != 0) {
        token.kind = GROUT_TOKEN_KERNEL;
        read_name(lexer, &token, lexer->at + 1);
    } else {
        token.kind = (uint8_t)scan_punctuation(lexer->text + lexer->at, &size);
        lexer->at += size;
        if (size == 0) {
            read_bad(lexer, &token);
        }
    }
    token.size = token.size > 0 ? token.size : lexer->at - token.offset;
    return token;
}
