/* parser.c - what the files of the parser share: tokens, reports, names and trivia.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "diag_list.h"
#include "goes_on.h"
#include "invariant.h"

#include <stdio.h>
#include <string.h>

/* ---- tokens ---------------------------------------------------------------------------------- */

void grout_parser__advance(grout_parser *p) {
    p->last = p->token;
    p->token = p->ahead;
    p->ahead = grout_lexer__next(&p->lexer);
    if (p->lexer.has_failed || !grout_diags__goes_on(p->diags, "the text was read")) {
        grout_parser__stop(p);
    }
}

void grout_parser__stop(grout_parser *p) {
    p->is_stopped = true;
    p->has_error = true;
    p->lexer.at = p->lexer.size;
    p->token.kind = GROUT_TOKEN_END;
    p->ahead.kind = GROUT_TOKEN_END;
}

bool grout_parser__is_out_of_memory(grout_parser *p) {
    bool failed = p->module->failed || p->lexer.has_failed || p->values.failed ||
                  p->consts.failed || p->globals.failed;
    if (failed) {
        grout_parser__stop(p);
    }
    return failed;
}

void grout_parser__push(grout_parser *p, grout_table *stack, const void *item) {
    if (grout_table__push(stack, item) == 0) {
        p->module->failed = true;
        grout_parser__stop(p);
    }
}

bool grout_parser__is_word(const grout_parser *p, const grout_token *token, const char *word) {
    size_t size = strlen(word);
    return token->kind == GROUT_TOKEN_NAME && token->size == size &&
           memcmp(p->lexer.text + token->offset, word, size) == 0;
}

bool grout_parser__accept(grout_parser *p, grout_token_kind kind) {
    if (p->token.kind != kind) {
        return false;
    }
    grout_parser__advance(p);
    return true;
}

bool grout_parser__expect(grout_parser *p, grout_token_kind kind, const char *what) {
    return grout_parser__accept(p, kind) || grout_parser__expected(p, what);
}

bool grout_parser__expect_word(grout_parser *p, const char *word) {
    if (grout_parser__is_word(p, &p->token, word)) {
        grout_parser__advance(p);
        return true;
    }
    char what[32];
    (void)snprintf(what, sizeof what, "'%s'", word);
    return grout_parser__expected(p, what);
}

bool grout_parser__at_item(const grout_parser *p) {
    return p->token.has_newline && (grout_parser__is_word(p, &p->token, "kernel") ||
                                    grout_parser__is_word(p, &p->token, "const") ||
                                    grout_parser__is_word(p, &p->token, "require") ||
                                    grout_parser__is_word(p, &p->token, "launch") ||
                                    grout_parser__is_word(p, &p->token, "check"));
}

bool grout_parser__at_statement(const grout_parser *p) {
    if (!p->token.has_newline) {
        return false;
    }
    if (p->token.kind == GROUT_TOKEN_VALUE) {
        return p->ahead.kind == GROUT_TOKEN_ASSIGN;
    }
    return grout_token__is_mnemonic(&p->token) || grout_parser__at_item(p);
}

bool grout_parser__nest(grout_parser *p) {
    if (p->nesting >= GROUT_NESTING_MAX) {
        return grout_parser__error(p, &p->token, GROUT_DIAG_LIMIT,
                                   "parentheses and brackets nest deeper than %d",
                                   GROUT_NESTING_MAX);
    }
    p->nesting++;
    return true;
}

/* ---- reports --------------------------------------------------------------------------------- */

grout_place grout_parser__get_place(const grout_parser *p, const grout_token *token) {
    return (grout_place){p->file, token->line, token->column, token->size};
}

/* Whether reports would only be about what did not fit into memory, or was not read any more. */
static bool is_quiet(const grout_parser *p) {
    return p->is_stopped || p->module->failed || p->lexer.has_failed || p->values.failed ||
           p->consts.failed || p->globals.failed;
}

static bool GROUT_PRINTF(4, 0) add_error(grout_parser *p, grout_place place, grout_diag_code code,
                                         const char *format, va_list arguments) {
    p->has_error = true;
    p->takes_notes = !is_quiet(p);
    if (p->takes_notes) {
        (void)grout_diags_add_list(p->diags, code, place, format, arguments);
    }
    return false;
}

bool grout_parser__error_at(grout_parser *p, grout_loc_id loc, grout_diag_code code,
                            const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)add_error(p, grout_module_get_place(p->module, loc), code, format, arguments);
    va_end(arguments);
    return false;
}

bool grout_parser__error(grout_parser *p, const grout_token *token, grout_diag_code code,
                         const char *format, ...) {
    va_list arguments;
    if (token->kind == GROUT_TOKEN_BAD) { /* the lexer has reported it */
        p->has_error = true;
        p->takes_notes = false;
        return false;
    }
    va_start(arguments, format);
    (void)add_error(p, grout_parser__get_place(p, token), code, format, arguments);
    va_end(arguments);
    return false;
}

void grout_parser__note(grout_parser *p, grout_loc_id loc, const char *format, ...) {
    va_list arguments;
    grout_note note = {.severity = GROUT_SEVERITY_NOTE,
                       .place = grout_module_get_place(p->module, loc)};
    va_start(arguments, format);
    if (p->takes_notes) {
        grout_diags__add_note(p->diags, note, format, arguments);
    }
    va_end(arguments);
}

void grout_parser__help(grout_parser *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (p->takes_notes) {
        grout_diags__add_note(p->diags, (grout_note){.severity = GROUT_SEVERITY_ADVICE}, format,
                              arguments);
    }
    va_end(arguments);
}

bool grout_parser__unexpected(grout_parser *p, const char *what) {
    const grout_token *token = &p->token;
    enum { SHOWN_MAX = 48 };
    if (token->kind == GROUT_TOKEN_END) {
        return grout_parser__error(p, token, GROUT_DIAG_SYNTAX,
                                   "expected %s, found the end of the file", what);
    }
    if (token->kind == GROUT_TOKEN_STRING) {
        return grout_parser__error(p, token, GROUT_DIAG_SYNTAX, "expected %s, found a string",
                                   what);
    }
    int shown = token->size > SHOWN_MAX ? SHOWN_MAX : (int)token->size;
    return grout_parser__error(p, token, GROUT_DIAG_SYNTAX, "expected %s, found '%.*s%s'", what,
                               shown, p->lexer.text + token->offset,
                               token->size > SHOWN_MAX ? "..." : "");
}

bool grout_parser__expected(grout_parser *p, const char *what) {
    bool is_at_line_end = p->token.has_newline && p->token.kind != GROUT_TOKEN_END &&
                          p->token.kind != GROUT_TOKEN_BAD && p->last.line > 0;
    if (!is_at_line_end) {
        return grout_parser__unexpected(p, what);
    }
    grout_token end = p->last;
    end.column += end.size;
    end.size = 1;
    return grout_parser__error(p, &end, GROUT_DIAG_SYNTAX, "expected %s, found the end of the line",
                               what);
}

bool grout_parser__expected_value(grout_parser *p, const char *what) {
    (void)grout_parser__expected(p, what);
    if (p->token.kind == GROUT_TOKEN_NAME && !p->token.has_newline) {
        grout_parser__help(p, "values are written with %%: '%%%.*s'", (int)p->token.size,
                           p->lexer.text + p->token.offset);
    }
    return false;
}

bool grout_parser__not_yet(grout_parser *p, const grout_token *token, grout_diag_code code) {
    static const char *const needs[] = {
        [GROUT_NEEDS_BLACKWELL] = "is of Blackwell (sm_100a), and grout does not have it yet",
        [GROUT_NEEDS_GPUS] = "needs several GPUs, which is not supported yet",
        [GROUT_NEEDS_PIPELINES] = "is not supported yet: a pipeline is not an operation",
        [GROUT_NEEDS_FACTS] =
            ("is not supported: no GPU has shown yet which lanes hold the metadata of "
             "which elements, and how the tensor core rounds their sums"),
        [GROUT_NEEDS_WORK] = "is not supported yet"};
    const char *text = p->lexer.text + token->offset;
    const grout_later *later = grout_word__find_later(text, token->size);
    (void)grout_parser__error(p, token, code, "'%.*s' %s", (int)token->size, text,
                              needs[later == NULL ? GROUT_NEEDS_WORK : later->needs]);
    if (later != NULL && later->instead[0] != '\0') {
        grout_parser__help(p, "%s", later->instead);
    }
    return false;
}

void grout_parser__suggest(grout_parser *p, const char *sign, const char *word) {
    if (word != NULL) {
        grout_parser__help(p, "did you mean '%s%s'?", sign, word);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

grout_loc_id grout_parser__add_loc(grout_parser *p, const grout_token *token) {
    grout_loc loc = {.file = p->file_id,
                     .line = token->line,
                     .column = token->column,
                     .length = token->size,
                     .kind = GROUT_LOC_TEXT};
    return grout_module__add_loc(p->module, &loc);
}

grout_string_id grout_parser__intern(grout_parser *p, const grout_token *token) {
    uint32_t sign = token->kind == GROUT_TOKEN_NAME ? 0 : 1;
    GROUT_ASSERT(token->size > sign && token->offset + token->size <= p->lexer.size);
    return grout_module__intern(p->module, p->lexer.text + token->offset + sign,
                                token->size - sign);
}

bool grout_parser__string(grout_parser *p, grout_string_id *id_out) {
    if (p->token.kind != GROUT_TOKEN_STRING) {
        return grout_parser__expected(p, "a string");
    }
    grout_text contents = {.allocator = p->module->allocator};
    grout_lexer__get_string(&p->lexer, &p->token, &contents);
    if (contents.failed) {
        p->module->failed = true;
    } else {
        *id_out = grout_module__intern(p->module, contents.data, contents.size);
    }
    grout_text_free(&contents);
    grout_parser__advance(p);
    return true;
}

/* ---- comments and blank lines ---------------------------------------------------------------- */

/* The next comment that was met before an offset and not taken, or NULL. */
static const grout_comment *peek_comment(const grout_parser *p, uint32_t before) {
    const grout_lexer *lexer = &p->lexer;
    if (lexer->first_comment >= lexer->comments.count) {
        return NULL;
    }
    const grout_comment *comment =
        GROUT_TABLE_AT(lexer->comments, grout_comment, lexer->first_comment);
    return comment->offset < before ? comment : NULL;
}

static void drop_comment(grout_parser *p) {
    grout_lexer *lexer = &p->lexer;
    GROUT_ASSERT(lexer->first_comment < lexer->comments.count);
    lexer->first_comment++;
    if (lexer->first_comment == lexer->comments.count) {
        lexer->first_comment = 1;
        lexer->comments.count = 1;
    }
}

/* Takes the comments before an offset, each as a line, blank lines between them kept. */
static void take_comments(grout_parser *p, uint32_t before, bool is_first, grout_text *lead) {
    const grout_comment *comment;
    while ((comment = peek_comment(p, before)) != NULL) {
        bool is_at_top = is_first && lead->size == 0;
        if (comment->has_blank_line && !is_at_top) {
            grout_text_add_bytes(lead, "\n", 1);
        }
        grout_text_add_bytes(lead, p->lexer.text + comment->offset, comment->size);
        grout_text_add_bytes(lead, "\n", 1);
        drop_comment(p);
    }
}

/* Interns and frees a text. */
static grout_string_id intern_text(grout_parser *p, grout_text *text) {
    grout_string_id id = 0;
    if (text->failed) {
        p->module->failed = true;
    } else if (text->size > 0) {
        id = grout_module__intern(p->module, text->data, text->size);
    }
    grout_text_free(text);
    return id;
}

grout_string_id grout_parser__take_lead(grout_parser *p, bool is_first) {
    bool is_end = p->token.kind == GROUT_TOKEN_END || p->token.kind == GROUT_TOKEN_RIGHT_BRACE;
    bool has_blank_line = p->token.has_blank_line && !is_end;
    if (peek_comment(p, p->token.offset) == NULL) {
        return has_blank_line && !is_first ? grout_module__intern(p->module, "\n", 1) : 0;
    }
    grout_text lead = {.allocator = p->module->allocator};
    take_comments(p, p->token.offset, is_first, &lead);
    if (has_blank_line) {
        grout_text_add_bytes(&lead, "\n", 1);
    }
    return intern_text(p, &lead);
}

grout_string_id grout_parser__take_tail(grout_parser *p) {
    const grout_comment *comment = peek_comment(p, p->token.offset);
    if (comment == NULL || comment->line != p->last.line) {
        return 0;
    }
    grout_string_id id =
        grout_module__intern(p->module, p->lexer.text + comment->offset, comment->size);
    drop_comment(p);
    return id;
}

grout_trivia_id grout_parser__end_item(grout_parser *p, grout_string_id lead) {
    grout_trivia trivia = {lead, 0};
    if (peek_comment(p, p->last.offset) != NULL) {
        grout_text text = {.allocator = p->module->allocator};
        grout_text_add(&text, "%s", grout_module_get_string(p->module, lead));
        take_comments(p, p->last.offset, true, &text);
        trivia.lead = intern_text(p, &text);
    }
    trivia.tail = grout_parser__take_tail(p);
    if (trivia.lead == 0 && trivia.tail == 0) {
        return 0;
    }
    grout_trivia_id id = grout_table__push(&p->module->trivia, &trivia);
    p->module->failed |= id == 0;
    return id;
}
