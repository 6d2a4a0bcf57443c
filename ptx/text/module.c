/* module.c - what a parsed text is asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

static const ptx_special_info special_infos[PTX_SPECIAL_COUNT] = {
#define PTX_SPECIAL(NAME, TEXT, BITS) [PTX_SPECIAL_##NAME] = {TEXT, BITS},
#include "ptx_specials.def"
};

const ptx_special_info *grout_ptx__get_special(ptx_special special) {
    return &special_infos[special];
}

void grout_ptx_module_free(grout_ptx_module *module) {
    if (module == NULL) {
        return;
    }
    grout__free(module->file);
    grout__free(module->text);
    grout__free(module->names.items);
    grout__free(module->functions.items);
    grout__free(module->variables.items);
    grout__free(module->registers.items);
    grout__free(module->insts.items);
    grout__free(module->operands.items);
    grout__free(module->words.items);
    grout__free(module->tables.items);
    grout__free(module->targets.items);
    grout__free(module->bytes.items);
    grout__free(module);
}

uint32_t grout_ptx_module_get_entry_count(const grout_ptx_module *module) {
    uint32_t count = 0;
    for (size_t i = 0; i < module->functions.count; i++) {
        count += module->functions.items[i].is_entry;
    }
    return count;
}

const char *grout_ptx_module_get_entry_name(const grout_ptx_module *module, uint32_t index) {
    for (size_t i = 0; i < module->functions.count; i++) {
        if (module->functions.items[i].is_entry && index-- == 0) {
            return grout_ptx__get_name(module, module->functions.items[i].name);
        }
    }
    return NULL;
}

uint32_t grout_ptx_module_get_instruction_count(const grout_ptx_module *module) {
    return (uint32_t)module->insts.count;
}

const char *grout_ptx__get_name(const grout_ptx_module *module, uint32_t name) {
    return module->names.items + name;
}

grout_place grout_ptx__get_place(const grout_ptx_module *module, ptx_place place) {
    return (grout_place){module->file, place.line, place.column, place.length};
}

const ptx_operand *grout_ptx__get_operand(const grout_ptx_module *module, const ptx_inst *inst,
                                          uint32_t i) {
    return &module->operands.items[inst->first_operand + i];
}

const ptx_operand *grout_ptx__get_item(const grout_ptx_module *module, const ptx_operand *operand,
                                       uint32_t i) {
    return &module->operands.items[operand->first + i];
}

ptx_word grout_ptx__get_word_of(const grout_ptx_module *module, const ptx_inst *inst,
                                ptx_class class, uint32_t i) {
    for (uint32_t j = 0; j < inst->word_count; j++) {
        ptx_word word = module->words.items[inst->first_word + j];
        if (grout_ptx__get_word((ptx_word_id)word.id)->class == class && i-- == 0) {
            return word;
        }
    }
    return (ptx_word){PTX_WORD_NONE, 0};
}

bool grout_ptx__has_word(const grout_ptx_module *module, const ptx_inst *inst, ptx_word_id id) {
    for (uint32_t j = 0; j < inst->word_count; j++) {
        if (module->words.items[inst->first_word + j].id == id) {
            return true;
        }
    }
    return false;
}
