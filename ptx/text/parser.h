/* parser.h - the state of a parse, and its parts: declarations, instructions, operands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_TEXT_PARSER_H
#define GROUT_PTX_TEXT_PARSER_H

#include "pulse.h"
#include "scope.h"
#include "token.h"

/* Limits of a text. */
enum {
    PTX_DEPTH_MAX = 64,          /* nested scopes */
    PTX_REGISTERS_MAX = 1 << 20, /* of a function */
    PTX_MODULE_REGISTERS_MAX = 1 << 28,
    PTX_ITEMS_DEPTH_MAX = 4 /* lists in lists of an operand */
};
#define PTX_VARIABLE_SIZE_MAX (UINT64_C(1) << 32)

/* A label that an operand or a list of targets names before it is known. */
typedef struct ptx_reference {
    const char *text;
    size_t size;
    uint32_t scope;
    ptx_place place;
} ptx_reference;

typedef struct ptx_parser {
    grout_ptx_module *module;
    grout_diags *diags;
    ptx_reader reader;
    ptx_token token; /* the next one */
    ptx_scopes scopes;
    size_t outer_symbols; /* how many there were before the body that is read */
    uint32_t scope, depth;
    uint32_t function; /* whose body is read, or PTX_NO_ID */
    uint32_t source_file, source_line;
    bool has_version, has_target;
    bool is_failed;
    bool is_over; /* nothing more is read: there is no memory, or somebody ended it */
    const grout_ptx_bounds *bounds;
    grout_pulse pulse;
    GROUT_ARRAY(ptx_reference) references;
    GROUT_ARRAY(ptx_operand) stack; /* operands of the lists that are being read */
} ptx_parser;

/* The next token; the last one again and again once nothing more is read. */
void grout_ptx__advance(ptx_parser *parser);
bool grout_ptx__is_mark(const ptx_parser *parser, char mark);
bool grout_ptx__is_word(const ptx_parser *parser, const char *text);
/* Takes the mark if it comes next. */
bool grout_ptx__accept(ptx_parser *parser, char mark);
/* The same, with a diagnostic if something else comes. */
bool grout_ptx__expect(ptx_parser *parser, char mark, const char *where);
/* ptx-syntax at a place; always false. */
bool grout_ptx__refuse(ptx_parser *parser, ptx_place place, const char *format, ...)
    GROUT_PRINTF(3, 4);
bool grout_ptx__refuse_unknown(ptx_parser *parser, ptx_place place, const char *format, ...)
    GROUT_PRINTF(3, 4);
bool grout_ptx__fail_oom(ptx_parser *parser);
/* This many bytes of a word of the text are shown in a message. */
static inline int ptx_shown(size_t size) {
    return (int)(size < 80 ? size : 80);
}
/* Whether a list of the module has room for more; if not, memory ran out. */
#define PTX_ROOM_FOR(parser, array, more)                                            \
    (GROUT_ARRAY_RESERVE((array), ptx_module_allocator((parser)->module), (more)) || \
     grout_ptx__fail_oom(parser))
#define PTX_ROOM(parser, array) PTX_ROOM_FOR(parser, array, 1)

/* Copies a name of the text; PTX_NO_ID without memory. */
uint32_t grout_ptx__add_name(ptx_parser *parser, const char *text, size_t size);
/* An integer that is not negative; false with a diagnostic. */
bool grout_ptx__read_count(ptx_parser *parser, uint64_t most, uint64_t *value_out,
                           const char *what);

/* declare.c: .reg, and variables in a space; the space's word is the next token. is_parameter: in
 * the parentheses of a function, where no semicolon follows. */
bool grout_ptx__parse_registers(ptx_parser *parser);
bool grout_ptx__parse_variable(ptx_parser *parser, bool is_extern, bool is_parameter);
/* Whether the next token is the word of a space in which variables are declared. */
bool grout_ptx__is_space(const ptx_parser *parser);

/* parse_inst.c: an instruction with its guard, to the semicolon. */
bool grout_ptx__parse_inst(ptx_parser *parser);
/* A list of labels, to the semicolon: .branchtargets a, b; */
bool grout_ptx__parse_targets(ptx_parser *parser, uint32_t *id_out);

/* operand.c: one operand, onto the stack. */
bool grout_ptx__parse_operand(ptx_parser *parser);
/* Takes what is on the stack from a height on as items of the module; the first, or false. */
bool grout_ptx__take_items(ptx_parser *parser, size_t height, uint32_t *first_out,
                           uint32_t *count_out);

/* parse_body.c: from '{' to its '}', then the labels of the function. */
bool grout_ptx__parse_body(ptx_parser *parser);
/* .pragma, .loc, .file and others that say nothing to the machine. False: it is none of them. */
bool grout_ptx__skip_directive(ptx_parser *parser);

#endif
