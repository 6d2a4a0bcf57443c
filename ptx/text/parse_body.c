/* parse_body.c - bodies of functions: blocks, labels, and the directives that the machine has no
 * use for. PTX ISA 9.1, chapters 4 and 11.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <string.h>

/* .loc 1 20 3, function_name $L__info, inlined_at 1 4 5: no semicolon ends it. */
static void skip_location(ptx_parser *parser) {
    grout_ptx__advance(parser);
    uint64_t numbers[2] = {0, 0};
    for (uint32_t i = 0; i < 3 && parser->token.kind == PTX_TOKEN_NUMBER; i++) {
        if (i < 2) {
            numbers[i] = parser->token.bits;
        }
        grout_ptx__advance(parser);
    }
    parser->source_file = (uint32_t)numbers[0];
    parser->source_line = (uint32_t)numbers[1];
    while (grout_ptx__accept(parser, ',')) {
        grout_ptx__advance(parser); /* function_name or inlined_at */
        while (parser->token.kind == PTX_TOKEN_NUMBER || grout_ptx__is_mark(parser, '+') ||
               (parser->token.kind == PTX_TOKEN_NAME && parser->token.text[0] == '$' &&
                parser->token.place.line == parser->reader.line)) {
            grout_ptx__advance(parser);
        }
    }
}

bool grout_ptx__skip_directive(ptx_parser *parser) {
    if (grout_ptx__is_word(parser, "loc")) {
        skip_location(parser);
        return true;
    }
    if (grout_ptx__is_word(parser, "file")) {
        do {
            grout_ptx__advance(parser);
        } while (parser->token.kind == PTX_TOKEN_NUMBER || parser->token.kind == PTX_TOKEN_STRING ||
                 grout_ptx__is_mark(parser, ','));
        return true;
    }
    if (grout_ptx__is_word(parser, "pragma")) {
        do {
            grout_ptx__advance(parser);
        } while (parser->token.kind == PTX_TOKEN_STRING || grout_ptx__is_mark(parser, ','));
        grout_ptx__expect(parser, ';', "end the pragma");
        return true;
    }
    return false;
}

/* name:, and after it perhaps .branchtargets a, b; */
static bool parse_label(ptx_parser *parser, const ptx_token *name) {
    const ptx_function *function = &parser->module->functions.items[parser->function];
    ptx_symbol symbol = {.text = name->text,
                         .size = name->size,
                         .scope = parser->scope,
                         .meaning = PTX_MEANS_LABEL,
                         .id = (uint32_t)parser->module->insts.count - function->first_inst};
    bool is_oom = false;
    if (grout_ptx__is_word(parser, "branchtargets")) {
        grout_ptx__advance(parser);
        symbol.meaning = PTX_MEANS_TARGETS;
        if (!grout_ptx__parse_targets(parser, &symbol.id)) {
            return false;
        }
    } else if (grout_ptx__is_word(parser, "calltargets") ||
               grout_ptx__is_word(parser, "callprototype")) {
        return grout_ptx__refuse_unknown(parser, parser->token.place,
                                         "calls through pointers are not known");
    }
    if (grout_ptx__declare(&parser->scopes, symbol, &is_oom) != NULL) {
        return true;
    }
    return is_oom
               ? grout_ptx__fail_oom(parser)
               : grout_ptx__refuse(parser, name->place, "'%.*s' is declared already in this block",
                                   ptx_shown(name->size), name->text);
}

/* A name at the beginning of a statement, with a colon after it. */
static bool is_label(const ptx_parser *parser) {
    ptx_reader ahead = parser->reader;
    if (parser->token.kind != PTX_TOKEN_NAME) {
        return false;
    }
    ptx_token next = grout_ptx__read_token(&ahead);
    return next.kind == PTX_TOKEN_MARK && next.mark == ':';
}

static bool open_block(ptx_parser *parser) {
    if (parser->depth == PTX_DEPTH_MAX) {
        return grout_ptx__refuse(parser, parser->token.place, "blocks in more than %d blocks",
                                 PTX_DEPTH_MAX);
    }
    uint32_t scope = grout_ptx__open_scope(&parser->scopes, parser->scope);
    if (scope == PTX_NO_ID) {
        return grout_ptx__fail_oom(parser);
    }
    parser->scope = scope;
    parser->depth++;
    grout_ptx__advance(parser);
    return true;
}

static void close_block(ptx_parser *parser) {
    parser->scope = parser->scopes.blocks.items[parser->scope].parent;
    parser->depth--;
    grout_ptx__advance(parser);
}

static bool parse_statement(ptx_parser *parser) {
    if (grout_ptx__accept(parser, ';')) {
        return true;
    }
    if (is_label(parser)) {
        ptx_token name = parser->token;
        grout_ptx__advance(parser);
        grout_ptx__advance(parser);
        return parse_label(parser, &name);
    }
    if (parser->token.kind != PTX_TOKEN_WORD) {
        return grout_ptx__parse_inst(parser);
    }
    if (grout_ptx__is_word(parser, "reg")) {
        return grout_ptx__parse_registers(parser);
    }
    if (grout_ptx__is_space(parser)) {
        return grout_ptx__parse_variable(parser, false, false);
    }
    ptx_token word = parser->token;
    if (grout_ptx__skip_directive(parser)) {
        return true;
    }
    return grout_ptx__refuse_unknown(parser, word.place, "no directive '.%.*s' is known here",
                                     ptx_shown(word.size), word.text);
}

/* After a failure in a body: the statement after the next semicolon. */
static void recover(ptx_parser *parser) {
    while (parser->token.kind != PTX_TOKEN_END && !grout_ptx__is_mark(parser, '}') &&
           !grout_ptx__accept(parser, ';')) {
        grout_ptx__advance(parser);
    }
}

/* The instruction that a reference means, counted from the function's first. */
static bool resolve(ptx_parser *parser, uint32_t reference, ptx_symbol *symbol_out) {
    ptx_reference wanted = parser->references.items[reference];
    *symbol_out = grout_ptx__find_symbol(&parser->scopes, wanted.scope, wanted.text, wanted.size);
    if (symbol_out->meaning == PTX_MEANS_LABEL || symbol_out->meaning == PTX_MEANS_TARGETS) {
        return true;
    }
    return grout_ptx__refuse(parser, wanted.place, "'%.*s' is neither declared nor a label here",
                             ptx_shown(wanted.size), wanted.text);
}

static void resolve_labels(ptx_parser *parser, size_t first_operand, size_t first_target) {
    grout_ptx_module *module = parser->module;
    ptx_symbol symbol = {.id = 0};
    for (size_t i = first_operand;
         i < module->operands.count && grout_pulse__goes_on(&parser->pulse, 1); i++) {
        ptx_operand *operand = &module->operands.items[i];
        if (operand->kind == PTX_OPERAND_LABEL && resolve(parser, operand->id, &symbol)) {
            operand->id = symbol.id;
            operand->kind =
                symbol.meaning == PTX_MEANS_LABEL ? PTX_OPERAND_LABEL : PTX_OPERAND_TARGETS;
        }
    }
    for (size_t i = first_target;
         i < module->targets.count && grout_pulse__goes_on(&parser->pulse, 1); i++) {
        if (resolve(parser, module->targets.items[i], &symbol)) {
            module->targets.items[i] = symbol.id;
        }
    }
}

bool grout_ptx__parse_body(ptx_parser *parser) {
    grout_ptx_module *module = parser->module;
    size_t first_operand = module->operands.count, first_target = module->targets.count;
    const size_t first_variable = module->variables.count, first_table = module->tables.count;
    uint32_t outside = parser->depth;
    parser->references.count = 0;
    if (!open_block(parser)) {
        return false;
    }
    while (parser->depth > outside && parser->token.kind != PTX_TOKEN_END && !parser->is_over) {
        bool is_right = true;
        if (grout_ptx__is_mark(parser, '{')) {
            is_right = open_block(parser);
        } else if (grout_ptx__is_mark(parser, '}')) {
            close_block(parser);
        } else {
            is_right = parse_statement(parser);
        }
        if (!is_right) {
            recover(parser);
        }
    }
    if (parser->depth > outside) {
        return parser->is_over || grout_ptx__refuse(parser, parser->token.place,
                                                    "the text ends in a body: '}' is missing");
    }
    ptx_function *function = &module->functions.items[parser->function];
    function->inst_count = (uint32_t)module->insts.count - function->first_inst;
    function->register_count = (uint32_t)module->registers.count - function->first_register;
    function->variable_count = (uint32_t)(module->variables.count - first_variable);
    function->first_operand = (uint32_t)first_operand;
    function->operand_count = (uint32_t)(module->operands.count - first_operand);
    function->first_table = (uint32_t)first_table;
    function->table_count = (uint32_t)(module->tables.count - first_table);
    resolve_labels(parser, first_operand, first_target);
    return true;
}
