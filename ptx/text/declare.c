/* declare.c - .reg and variables. PTX ISA 9.1, chapter 5.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <string.h>

/* The word of the next token if it is a type, or PTX_WORD_NONE. */
static uint16_t get_type(const ptx_parser *parser) {
    if (parser->token.kind != PTX_TOKEN_WORD) {
        return PTX_WORD_NONE;
    }
    ptx_word word = grout_ptx__find_word(parser->token.text, parser->token.size);
    return grout_ptx__get_word((ptx_word_id)word.id)->class == PTX_CLASS_TYPE ? word.id
                                                                              : PTX_WORD_NONE;
}

static bool fail_again(ptx_parser *parser, const ptx_token *name, bool is_oom) {
    return is_oom
               ? grout_ptx__fail_oom(parser)
               : grout_ptx__refuse(parser, name->place, "'%.*s' is declared already in this block",
                                   ptx_shown(name->size), name->text);
}

/* %r<8>, or a name alone. */
static bool declare_registers(ptx_parser *parser, uint16_t type) {
    grout_ptx_module *module = parser->module;
    ptx_token name = parser->token;
    uint64_t count = 1;
    bool is_oom = false;
    if (name.kind != PTX_TOKEN_NAME) {
        return grout_ptx__refuse(parser, name.place, "the name of a register should stand here");
    }
    grout_ptx__advance(parser);
    bool is_range = grout_ptx__accept(parser, '<');
    if (is_range && (!grout_ptx__read_count(parser, PTX_REGISTERS_MAX, &count,
                                            "how many registers there are") ||
                     !grout_ptx__expect(parser, '>', "end the number of registers"))) {
        return false;
    }
    const uint32_t first = module->functions.items[parser->function].first_register;
    if (module->registers.count + count > PTX_MODULE_REGISTERS_MAX) {
        return grout_ptx__refuse(parser, name.place, "more than %d registers of a module",
                                 PTX_MODULE_REGISTERS_MAX);
    }
    if (module->registers.count + count - first > PTX_REGISTERS_MAX) {
        return grout_ptx__refuse(parser, name.place, "more than %d registers", PTX_REGISTERS_MAX);
    }
    if (!PTX_ROOM_FOR(parser, &module->registers, (size_t)count)) {
        return false;
    }
    ptx_symbol symbol = {.text = name.text,
                         .size = name.size,
                         .scope = parser->scope,
                         .meaning = is_range ? PTX_MEANS_REGISTERS : PTX_MEANS_REGISTER,
                         .id = (uint32_t)module->registers.count,
                         .count = (uint32_t)count};
    if (grout_ptx__declare(&parser->scopes, symbol, &is_oom) == NULL) {
        return fail_again(parser, &name, is_oom);
    }
    for (uint64_t i = 0; i < count; i++) {
        module->registers.items[module->registers.count++].type = type;
    }
    return true;
}

bool grout_ptx__parse_registers(ptx_parser *parser) {
    grout_ptx__advance(parser);
    uint16_t type = get_type(parser);
    if (type == PTX_WORD_NONE) {
        return grout_ptx__refuse_unknown(parser, parser->token.place,
                                         "'%.*s' is not a known type of a register",
                                         ptx_shown(parser->token.size), parser->token.text);
    }
    grout_ptx__advance(parser);
    do {
        if (!declare_registers(parser, type)) {
            return false;
        }
    } while (grout_ptx__accept(parser, ','));
    return grout_ptx__expect(parser, ';', "end the declaration");
}

bool grout_ptx__is_space(const ptx_parser *parser) {
    return grout_ptx__is_word(parser, "param") || grout_ptx__is_word(parser, "global") ||
           grout_ptx__is_word(parser, "shared") || grout_ptx__is_word(parser, "const") ||
           grout_ptx__is_word(parser, "local");
}

/* Between the space and the name: .align 16 .b8, .u64 .ptr .global .align 1 */
static bool parse_qualities(ptx_parser *parser, ptx_variable *variable) {
    while (parser->token.kind == PTX_TOKEN_WORD) {
        uint16_t type = get_type(parser);
        uint64_t align = 0;
        if (type != PTX_WORD_NONE) {
            variable->type = type;
        } else if (grout_ptx__is_word(parser, "align")) {
            grout_ptx__advance(parser);
            if (!grout_ptx__read_count(parser, 1 << 20, &align, "an alignment")) {
                return false;
            }
            if (align == 0 || (align & (align - 1)) != 0) {
                return grout_ptx__refuse(parser, parser->token.place,
                                         "an alignment is a power of two");
            }
            variable->align = variable->is_pointer ? variable->align : (uint32_t)align;
            continue;
        } else if (grout_ptx__is_word(parser, "ptr")) {
            variable->is_pointer = true;
        } else if (!variable->is_pointer) {
            return grout_ptx__refuse_unknown(parser, parser->token.place,
                                             "'.%.*s' is nothing that is known of a variable",
                                             ptx_shown(parser->token.size), parser->token.text);
        }
        grout_ptx__advance(parser);
    }
    return variable->type != PTX_WORD_NONE ||
           grout_ptx__refuse(parser, parser->token.place, "a variable needs a type");
}

/* [4][8], or [] of a size that the contents or the launch say: then elements is 0. */
static bool parse_sizes(ptx_parser *parser, uint64_t *elements, bool *is_open) {
    *elements = 1;
    while (grout_ptx__accept(parser, '[')) {
        uint64_t count = 0;
        if (grout_ptx__accept(parser, ']')) {
            *is_open = true;
            continue;
        }
        if (!grout_ptx__read_count(parser, PTX_VARIABLE_SIZE_MAX, &count,
                                   "the length of an array") ||
            !grout_ptx__expect(parser, ']', "end the length of an array")) {
            return false;
        }
        if (count != 0 && *elements > PTX_VARIABLE_SIZE_MAX / count) {
            return grout_ptx__refuse(parser, parser->token.place, "an array of more than 4 GiB");
        }
        *elements *= count;
    }
    return true;
}

/* A float as a variable of type keeps it. */
static uint64_t convert_float(const ptx_token *token, uint32_t bits) {
    float single = 0;
    uint32_t single_bits = (uint32_t)token->bits;
    double value = 0;
    if (token->is_single) {
        if (bits == 32) {
            return token->bits;
        }
        memcpy(&single, &single_bits, sizeof single);
        value = (double)single;
        memcpy(&single_bits, &single, sizeof single);
    } else {
        memcpy(&value, &token->bits, sizeof value);
    }
    uint64_t double_bits;
    memcpy(&double_bits, &value, sizeof value);
    single = (float)value;
    memcpy(&single_bits, &single, sizeof single);
    return bits == 32 ? single_bits : double_bits;
}

static bool add_value(ptx_parser *parser, uint32_t bits) {
    grout_ptx_module *module = parser->module;
    bool is_negative = grout_ptx__accept(parser, '-');
    ptx_token token = parser->token;
    if (token.kind == PTX_TOKEN_NAME) {
        return grout_ptx__refuse_unknown(parser, token.place,
                                         "an address in initial contents is not known");
    }
    if (token.kind != PTX_TOKEN_NUMBER) {
        return grout_ptx__refuse(parser, token.place,
                                 "a number of the initial contents should stand here");
    }
    grout_ptx__advance(parser);
    uint64_t value = token.is_float ? convert_float(&token, bits) : token.bits;
    if (is_negative) {
        value = token.is_float ? value ^ UINT64_C(1) << (bits - 1) : ~value + 1;
    }
    uint32_t size = bits < 8 ? 1 : bits / 8;
    if (!PTX_ROOM_FOR(parser, &module->bytes, size)) {
        return false;
    }
    for (uint32_t i = 0; i < size; i++) {
        module->bytes.items[module->bytes.count++] =
            (uint8_t)(i < sizeof value ? value >> 8 * i : 0);
    }
    return true;
}

/* = {1, 2, {3, 4}}, flat. */
static bool parse_contents(ptx_parser *parser, ptx_variable *variable) {
    uint32_t bits = grout_ptx__get_word((ptx_word_id)variable->type)->bits;
    uint32_t depth = 0;
    variable->first_byte = parser->module->bytes.count;
    do {
        while (grout_ptx__accept(parser, '{')) {
            depth++;
        }
        if (!grout_ptx__is_mark(parser, '}') && !add_value(parser, bits)) {
            return false;
        }
        while (depth > 0 && grout_ptx__accept(parser, '}')) {
            depth--;
        }
    } while (depth > 0 && grout_ptx__accept(parser, ','));
    variable->byte_count = parser->module->bytes.count - variable->first_byte;
    return depth == 0 || grout_ptx__expect(parser, '}', "end the initial contents");
}

static bool add_variable(ptx_parser *parser, const ptx_variable *variable, const ptx_token *name) {
    grout_ptx_module *module = parser->module;
    bool is_oom = false;
    ptx_symbol symbol = {.text = name->text,
                         .size = name->size,
                         .scope = parser->scope,
                         .meaning = PTX_MEANS_VARIABLE,
                         .id = (uint32_t)module->variables.count};
    if (!PTX_ROOM(parser, &module->variables)) {
        return false;
    }
    module->variables.items[module->variables.count] = *variable;
    if (grout_ptx__declare(&parser->scopes, symbol, &is_oom) == NULL) {
        return fail_again(parser, name, is_oom);
    }
    module->variables.count++;
    return true;
}

/* A name, its size and its contents; quality is what all names of the declaration share. */
static bool parse_variable_from_name(ptx_parser *parser, ptx_variable variable) {
    ptx_token name = parser->token;
    uint64_t elements = 1;
    bool is_open = false;
    if (name.kind != PTX_TOKEN_NAME) {
        return grout_ptx__refuse(parser, name.place, "the name of a variable should stand here");
    }
    grout_ptx__advance(parser);
    variable.place = name.place;
    variable.name = grout_ptx__add_name(parser, name.text, name.size);
    if (variable.name == PTX_NO_ID || !parse_sizes(parser, &elements, &is_open)) {
        return false;
    }
    uint32_t bits = grout_ptx__get_word((ptx_word_id)variable.type)->bits;
    uint64_t size = bits < 8 ? 1 : bits / 8;
    variable.size = is_open ? 0 : elements * size;
    variable.align = variable.align == 0 ? (uint32_t)size : variable.align;
    if (variable.size > PTX_VARIABLE_SIZE_MAX) {
        return grout_ptx__refuse(parser, name.place, "a variable of more than 4 GiB");
    }
    if (grout_ptx__accept(parser, '=') && !parse_contents(parser, &variable)) {
        return false;
    }
    if (!is_open && variable.byte_count > variable.size) {
        return grout_ptx__refuse(
            parser, name.place, "more initial contents than the %llu bytes of '%.*s'",
            (unsigned long long)variable.size, ptx_shown(name.size), name.text);
    }
    variable.size = is_open ? variable.byte_count : variable.size;
    return add_variable(parser, &variable, &name);
}

bool grout_ptx__parse_variable(ptx_parser *parser, bool is_extern, bool is_parameter) {
    ptx_variable variable = {
        .is_extern = is_extern, .is_parameter = is_parameter, .function = parser->function};
    variable.space = grout_ptx__find_word(parser->token.text, parser->token.size).id;
    grout_ptx__advance(parser);
    if (!parse_qualities(parser, &variable)) {
        return false;
    }
    do {
        if (!parse_variable_from_name(parser, variable)) {
            return false;
        }
    } while (!is_parameter && grout_ptx__accept(parser, ','));
    return is_parameter || grout_ptx__expect(parser, ';', "end the declaration");
}
