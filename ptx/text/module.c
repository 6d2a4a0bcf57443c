/* module.c - what a parsed text is asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "hash.h"

#include <string.h>

static const ptx_special_info special_infos[PTX_SPECIAL_COUNT] = {
#define PTX_SPECIAL(NAME, TEXT, BITS) [PTX_SPECIAL_##NAME] = {TEXT, sizeof TEXT - 1, BITS},
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
    grout__free(module->entries.functions.items);
    grout__free(module->entries.buckets);
    grout__free(module);
}

/* ---- entries ---- */

static uint32_t get_bucket(const ptx_entries *entries, const char *name) {
    const uint64_t hash = grout_hash__bytes(0, name, strlen(name));
    return grout_hash__index(hash) & (entries->bucket_count - 1);
}

static const char *get_entry_name(const grout_ptx_module *module, uint32_t index) {
    const uint32_t function = module->entries.functions.items[index];
    return grout_ptx__get_name(module, module->functions.items[function].name);
}

/* Those with a body, in order; false without memory. */
static bool list_entries(grout_ptx_module *module) {
    ptx_entries *entries = &module->entries;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const ptx_function *function = &module->functions.items[i];
        if (!function->is_entry || !function->has_body) {
            continue;
        }
        if (!GROUT_ARRAY_RESERVE(&entries->functions, ptx_module_allocator(module), 1)) {
            return false;
        }
        entries->functions.items[entries->functions.count++] = i;
    }
    return true;
}

bool grout_ptx__index_entries(grout_ptx_module *module) {
    ptx_entries *entries = &module->entries;
    if (!list_entries(module)) {
        return false;
    }
    entries->bucket_count = 2;
    while (entries->bucket_count <= entries->functions.count) {
        entries->bucket_count *= 2;
    }
    entries->buckets =
        grout__new(ptx_module_allocator(module), entries->bucket_count, sizeof *entries->buckets);
    for (uint32_t i = 0; entries->buckets != NULL && i < entries->functions.count; i++) {
        uint32_t bucket = get_bucket(entries, get_entry_name(module, i));
        while (entries->buckets[bucket] != 0) {
            bucket = (bucket + 1) & (entries->bucket_count - 1);
        }
        entries->buckets[bucket] = i + 1;
    }
    return entries->buckets != NULL;
}

bool grout_ptx__find_entry(const grout_ptx_module *module, const char *name,
                           uint32_t *function_out) {
    const ptx_entries *entries = &module->entries;
    if (name == NULL) {
        *function_out = entries->functions.count > 0 ? entries->functions.items[0] : 0;
        return entries->functions.count == 1;
    }
    for (uint32_t bucket = get_bucket(entries, name); entries->buckets[bucket] != 0;
         bucket = (bucket + 1) & (entries->bucket_count - 1)) {
        const uint32_t index = entries->buckets[bucket] - 1;
        if (strcmp(get_entry_name(module, index), name) == 0) {
            *function_out = entries->functions.items[index];
            return true;
        }
    }
    return false;
}

uint32_t grout_ptx_module_get_entry_count(const grout_ptx_module *module) {
    return (uint32_t)module->entries.functions.count;
}

const char *grout_ptx_module_get_entry_name(const grout_ptx_module *module, uint32_t index) {
    return index < module->entries.functions.count ? get_entry_name(module, index) : NULL;
}

bool grout_ptx_module_get_parameter(const grout_ptx_module *module, const char *entry,
                                    uint32_t index, size_t *offset_out, size_t *size_out) {
    uint32_t function = 0;
    if (!grout_ptx__find_entry(module, entry, &function) ||
        index >= module->functions.items[function].parameter_count) {
        return false;
    }
    const ptx_variable *parameter =
        &module->variables.items[module->functions.items[function].first_parameter + index];
    *offset_out = (size_t)parameter->offset;
    *size_out = (size_t)parameter->size;
    return true;
}

/* ---- tables ---- */

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
