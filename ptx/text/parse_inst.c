/* parse_inst.c - instructions: guard, mnemonic, operands. PTX ISA 9.1, 4.3.2 and 9.1.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <string.h>

/* @%p or @!%p */
static bool parse_guard(ptx_parser *parser, ptx_inst *inst) {
    inst->guard = PTX_NO_ID;
    if (!grout_ptx__accept(parser, '@')) {
        return true;
    }
    inst->is_guard_negated = grout_ptx__accept(parser, '!');
    ptx_token name = parser->token;
    ptx_symbol symbol =
        grout_ptx__find_symbol(&parser->scopes, parser->scope, name.text, name.size);
    if (name.kind != PTX_TOKEN_NAME || symbol.meaning != PTX_MEANS_REGISTER ||
        parser->module->registers.items[symbol.id].type != PTX_WORD_PRED) {
        return grout_ptx__refuse(parser, name.place, "a predicate should guard the instruction");
    }
    inst->guard = symbol.id;
    grout_ptx__advance(parser);
    return true;
}

/* One word after the opcode, at an offset in the mnemonic; from is its text without the dot. */
static bool add_word(ptx_parser *parser, const ptx_inst *inst, uint32_t offset, const char *from,
                     size_t size) {
    grout_ptx_module *module = parser->module;
    const ptx_op_info *op = grout_ptx__get_op(inst->op);
    ptx_word word = grout_ptx__find_word(from, size);
    const ptx_word_info *info = grout_ptx__get_word((ptx_word_id)word.id);
    if (word.id == PTX_WORD_NONE || (op->classes >> info->class & 1) == 0) {
        ptx_place place = inst->place;
        place.column += offset;
        place.length = (uint32_t)size;
        const char *near = grout_ptx__suggest_word(from, size, op->classes);
        grout_ptx__refuse_unknown(parser, place, "'.%.*s' is not a known word of '%s'",
                                  ptx_shown(size), from, op->text);
        if (near != NULL) {
            grout_diags_help(parser->diags, "did you mean '.%s'?", near);
        }
        return false;
    }
    if (!PTX_ROOM(parser, &module->words)) {
        return false;
    }
    module->words.items[module->words.count++] = word;
    return true;
}

/* add.s32: the family, then its words. */
static bool parse_mnemonic(ptx_parser *parser, ptx_inst *inst) {
    ptx_token name = parser->token;
    const char *start = name.text, *end = start + name.size;
    if (name.kind != PTX_TOKEN_NAME) {
        return grout_ptx__refuse(parser, name.place, "an instruction should stand here");
    }
    inst->place = name.place;
    grout_ptx__advance(parser);
    while (parser->token.kind == PTX_TOKEN_WORD && parser->token.is_tight) {
        end = parser->token.text + parser->token.size;
        grout_ptx__advance(parser);
    }
    size_t size = (size_t)(end - start), op_size = 0;
    inst->place.length = (uint32_t)size;
    inst->op = grout_ptx__find_op(start, size, &op_size);
    if (inst->op == PTX_OP_NONE) {
        const char *near = grout_ptx__suggest_op(start, name.size);
        grout_ptx__refuse_unknown(parser, inst->place, "no instruction '%.*s' is known",
                                  ptx_shown(size), start);
        if (near != NULL) {
            grout_diags_help(parser->diags, "did you mean '%s'?", near);
        }
        return false;
    }
    inst->first_word = (uint32_t)parser->module->words.count;
    for (const char *at = start + op_size; at < end;) {
        const char *word = at + 1;
        for (at = word; at < end && *at != '.'; at++) {
        }
        if (!add_word(parser, inst, (uint32_t)(word - start), word, (size_t)(at - word))) {
            return false;
        }
    }
    inst->word_count = (uint32_t)parser->module->words.count - inst->first_word;
    return true;
}

static bool parse_operands(ptx_parser *parser, ptx_inst *inst) {
    const ptx_op_info *op = grout_ptx__get_op(inst->op);
    parser->stack.count = 0;
    if (!grout_ptx__is_mark(parser, ';')) {
        do {
            if (!grout_ptx__parse_operand(parser)) {
                return false;
            }
        } while (grout_ptx__accept(parser, ','));
    }
    if (!grout_ptx__take_items(parser, 0, &inst->first_operand, &inst->operand_count) ||
        !grout_ptx__expect(parser, ';', "end the instruction")) {
        return false;
    }
    if (inst->operand_count < op->least || inst->operand_count > op->most) {
        grout_ptx__refuse(parser, inst->place, "'%s' takes from %d to %d operands, not %u",
                          op->text, op->least, op->most, inst->operand_count);
        return true; /* the semicolon is read already */
    }
    return true;
}

bool grout_ptx__parse_inst(ptx_parser *parser) {
    grout_ptx_module *module = parser->module;
    ptx_inst inst = {.source_file = parser->source_file, .source_line = parser->source_line};
    if (!parse_guard(parser, &inst) || !parse_mnemonic(parser, &inst) ||
        !parse_operands(parser, &inst) || !PTX_ROOM(parser, &module->insts)) {
        return false;
    }
    module->insts.items[module->insts.count++] = inst;
    return true;
}

bool grout_ptx__parse_targets(ptx_parser *parser, uint32_t *id_out) {
    grout_ptx_module *module = parser->module;
    ptx_targets targets = {.first = (uint32_t)module->targets.count, .function = parser->function};
    do {
        ptx_token name = parser->token;
        if (name.kind != PTX_TOKEN_NAME) {
            return grout_ptx__refuse(parser, name.place, "a label should stand here");
        }
        grout_ptx__advance(parser);
        if (!PTX_ROOM(parser, &parser->references) || !PTX_ROOM(parser, &module->targets)) {
            return false;
        }
        module->targets.items[module->targets.count++] = (uint32_t)parser->references.count;
        parser->references.items[parser->references.count++] =
            (ptx_reference){name.text, name.size, parser->scope, name.place};
    } while (grout_ptx__accept(parser, ','));
    targets.count = (uint32_t)module->targets.count - targets.first;
    if (!PTX_ROOM(parser, &module->tables)) {
        return false;
    }
    *id_out = (uint32_t)module->tables.count;
    module->tables.items[module->tables.count++] = targets;
    return grout_ptx__expect(parser, ';', "end the targets");
}
