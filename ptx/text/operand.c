/* operand.c - operands: registers, numbers, addresses, vectors, lists. PTX ISA 9.1, chapter 6.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <string.h>

static bool push(ptx_parser *parser, const ptx_operand *operand) {
    if (!PTX_ROOM(parser, &parser->stack)) {
        return false;
    }
    parser->stack.items[parser->stack.count++] = *operand;
    return true;
}

bool grout_ptx__take_items(ptx_parser *parser, size_t height, uint32_t *first_out,
                           uint32_t *count_out) {
    grout_ptx_module *module = parser->module;
    size_t count = parser->stack.count - height;
    if (!PTX_ROOM_FOR(parser, &module->operands, count + 1)) {
        return false;
    }
    *first_out = (uint32_t)module->operands.count;
    *count_out = (uint32_t)count;
    if (count > 0) {
        memcpy(module->operands.items + module->operands.count, parser->stack.items + height,
               count * sizeof *module->operands.items);
    }
    module->operands.count += count;
    parser->stack.count = height;
    return true;
}

/* %tid.x: the name and the word after it are one. */
static bool read_special(ptx_parser *parser, const ptx_token *name, ptx_operand *operand) {
    size_t size = name->size;
    if (name->text[0] != '%') {
        return false;
    }
    if (parser->token.kind == PTX_TOKEN_WORD && parser->token.is_tight) {
        size += 1 + parser->token.size;
    }
    for (uint32_t i = 0; i < PTX_SPECIAL_COUNT; i++) {
        const ptx_special_info *known = grout_ptx__get_special((ptx_special)i);
        if (known->text_size == size && memcmp(known->text, name->text, size) == 0) {
            operand->kind = PTX_OPERAND_SPECIAL;
            operand->id = i;
            if (size > name->size) {
                grout_ptx__advance(parser);
            }
            return true;
        }
    }
    return false;
}

/* A name that is not declared yet: a label, if it can be one. */
static bool refer(ptx_parser *parser, const ptx_token *name, ptx_operand *operand) {
    if (name->text[0] == '%') {
        return grout_ptx__refuse(parser, name->place, "no register '%.*s' is declared here",
                                 ptx_shown(name->size), name->text);
    }
    if (!PTX_ROOM(parser, &parser->references)) {
        return false;
    }
    operand->kind = PTX_OPERAND_LABEL;
    operand->id = (uint32_t)parser->references.count;
    parser->references.items[parser->references.count++] =
        (ptx_reference){name->text, name->size, parser->scope, name->place};
    return true;
}

static bool read_meaning(ptx_parser *parser, const ptx_token *name, ptx_operand *operand) {
    ptx_symbol symbol =
        grout_ptx__find_symbol(&parser->scopes, parser->scope, name->text, name->size);
    operand->id = symbol.id;
    switch (symbol.meaning) {
    case PTX_MEANS_REGISTER:
        operand->kind = PTX_OPERAND_REGISTER;
        return true;
    case PTX_MEANS_VARIABLE:
        operand->kind = PTX_OPERAND_VARIABLE;
        return true;
    case PTX_MEANS_FUNCTION:
        operand->kind = PTX_OPERAND_FUNCTION;
        return true;
    case PTX_MEANS_TARGETS:
        operand->kind = PTX_OPERAND_TARGETS;
        return true;
    case PTX_MEANS_LABEL:
    case PTX_MEANS_REGISTERS:
    case PTX_MEANS_NOTHING:
        break;
    }
    return refer(parser, name, operand);
}

/* + 8, +-8, - 8 after a name */
static bool read_offset(ptx_parser *parser, ptx_operand *operand) {
    bool is_negative = grout_ptx__is_mark(parser, '-');
    if (!is_negative && !grout_ptx__is_mark(parser, '+')) {
        return true;
    }
    grout_ptx__advance(parser);
    if (grout_ptx__accept(parser, '-')) {
        is_negative = !is_negative;
    }
    ptx_token token = parser->token;
    if (token.kind != PTX_TOKEN_NUMBER || token.is_float) {
        return grout_ptx__refuse(parser, token.place, "an offset in bytes should stand here");
    }
    grout_ptx__advance(parser);
    operand->bits += is_negative ? ~token.bits + 1 : token.bits;
    return true;
}

static bool read_name(ptx_parser *parser, ptx_operand *operand) {
    ptx_token name = parser->token;
    grout_ptx__advance(parser);
    if (name.size == 1 && name.text[0] == '_') {
        operand->kind = PTX_OPERAND_SINK;
        return true;
    }
    if (name.size == 7 && memcmp(name.text, "WARP_SZ", 7) == 0) {
        operand->kind = PTX_OPERAND_IMMEDIATE;
        operand->bits = 32;
        return true;
    }
    if (read_special(parser, &name, operand)) {
        return true;
    }
    return read_meaning(parser, &name, operand) &&
           (operand->kind != PTX_OPERAND_VARIABLE || read_offset(parser, operand));
}

static bool read_number(ptx_parser *parser, ptx_operand *operand, bool is_negative) {
    ptx_token token = parser->token;
    if (token.kind != PTX_TOKEN_NUMBER) {
        return grout_ptx__refuse(parser, token.place, "a number should stand here");
    }
    grout_ptx__advance(parser);
    operand->kind = PTX_OPERAND_IMMEDIATE;
    operand->is_float = token.is_float;
    operand->is_single = token.is_single;
    operand->bits = token.bits;
    if (is_negative && token.is_float) {
        operand->bits ^= UINT64_C(1) << (token.is_single ? 31 : 63);
    } else if (is_negative) {
        operand->bits = ~token.bits + 1;
    }
    return true;
}

static bool parse_nested(ptx_parser *parser, uint32_t depth);

/* Items to the closing mark, which is taken; what opened them was taken before. */
static bool parse_items(ptx_parser *parser, ptx_operand *operand, char close, uint32_t depth) {
    size_t height = parser->stack.count;
    if (depth == PTX_ITEMS_DEPTH_MAX) {
        return grout_ptx__refuse(parser, parser->token.place, "lists in more than %d lists",
                                 PTX_ITEMS_DEPTH_MAX);
    }
    while (!grout_ptx__is_mark(parser, close)) {
        if (!parse_nested(parser, depth + 1)) {
            return false;
        }
        if (!grout_ptx__accept(parser, ',')) {
            break;
        }
    }
    return grout_ptx__expect(parser, close, "end the list") &&
           grout_ptx__take_items(parser, height, &operand->first, &operand->count);
}

/* [%rd1+16], [map, {%r1, %r2}]: the offset is the address's, also of a variable. */
static bool parse_address(ptx_parser *parser, ptx_operand *operand, uint32_t depth) {
    size_t height = parser->stack.count;
    operand->kind = PTX_OPERAND_ADDRESS;
    if (!parse_nested(parser, depth + 1) || !read_offset(parser, operand)) {
        return false;
    }
    while (grout_ptx__accept(parser, ',')) {
        if (!parse_nested(parser, depth + 1)) {
            return false;
        }
    }
    return grout_ptx__expect(parser, ']', "end the address") &&
           grout_ptx__take_items(parser, height, &operand->first, &operand->count);
}

static bool parse_primary(ptx_parser *parser, ptx_operand *operand, uint32_t depth) {
    operand->place = parser->token.place;
    if (parser->token.kind == PTX_TOKEN_NAME) {
        return read_name(parser, operand);
    }
    if (parser->token.kind == PTX_TOKEN_NUMBER) {
        return read_number(parser, operand, false);
    }
    if (grout_ptx__accept(parser, '!')) {
        operand->is_negated = true;
        return parser->token.kind == PTX_TOKEN_NAME
                   ? read_name(parser, operand)
                   : grout_ptx__refuse(parser, parser->token.place,
                                       "'!' stands before a predicate");
    }
    if (grout_ptx__accept(parser, '-')) {
        operand->is_negated = parser->token.kind == PTX_TOKEN_NAME;
        return operand->is_negated ? read_name(parser, operand)
                                   : read_number(parser, operand, true);
    }
    if (depth < PTX_ITEMS_DEPTH_MAX && grout_ptx__accept(parser, '[')) {
        return parse_address(parser, operand, depth);
    }
    if (grout_ptx__accept(parser, '{')) {
        operand->kind = PTX_OPERAND_VECTOR;
        return parse_items(parser, operand, '}', depth);
    }
    if (grout_ptx__accept(parser, '(')) {
        operand->kind = PTX_OPERAND_LIST;
        return parse_items(parser, operand, ')', depth);
    }
    return grout_ptx__refuse(parser, operand->place, "an operand should stand here");
}

/* A primary, or a pair a|b of which both are items. */
static bool parse_nested(ptx_parser *parser, uint32_t depth) {
    ptx_operand operand = {.kind = PTX_OPERAND_SINK};
    if (!parse_primary(parser, &operand, depth)) {
        return false;
    }
    if (!grout_ptx__is_mark(parser, '|')) {
        return push(parser, &operand);
    }
    size_t height = parser->stack.count;
    ptx_operand pair = {.kind = PTX_OPERAND_PAIR, .place = operand.place};
    ptx_operand second = {.kind = PTX_OPERAND_SINK};
    grout_ptx__advance(parser);
    return push(parser, &operand) && parse_primary(parser, &second, depth) &&
           push(parser, &second) &&
           grout_ptx__take_items(parser, height, &pair.first, &pair.count) && push(parser, &pair);
}

bool grout_ptx__parse_operand(ptx_parser *parser) {
    return parse_nested(parser, 0);
}
