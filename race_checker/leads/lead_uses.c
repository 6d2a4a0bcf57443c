/*
 * lead_uses.c - one use of a ring: its slot, its line, its words.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lead_uses.h"

#include "sentences.h"
#include "statement.h"

#include "grout-internal/text.h"

const grout_module *grout_leads__get_module(const grout_leads *it) {
    return it->checker->info.module;
}

const grout_sync_info *grout_leads__get_sync(const grout_leads *it, grout_op_id op) {
    return grout_op_get_sync(
        (grout_opcode)grout_module_get_op(grout_leads__get_module(it), op)->opcode);
}

uint32_t grout_leads__get_line(const grout_leads *it, grout_op_id op) {
    const grout_module *module = grout_leads__get_module(it);
    return grout_module_get_place(module, grout_module_get_op(module, op)->loc).line;
}

bool grout_leads__get_use(const grout_leads *it, grout_op_id op, grout_ring_role role,
                          grout_ring_use *out) {
    const grout_op_id loop = grout_op__get_loop(grout_leads__get_module(it), op);
    const grout_ring_span uses = grout_rings__get_of_loop(it->rings, loop);
    for (size_t i = 0; i < uses.count; i++) {
        if (uses.items[i].op == op && uses.items[i].role == (uint8_t)role &&
            grout_ring_use__get_slot(grout_leads__get_module(it), &uses.items[i]) != NULL) {
            *out = uses.items[i];
            return true;
        }
    }
    return false;
}

int64_t grout_leads__count_slots(const grout_leads *it, const grout_ring_use *use) {
    return grout_object__count_slots(grout_leads__get_module(it), use->object);
}

int grout_leads__compare_slots(const grout_leads *it, const grout_ring_use *a,
                               const grout_ring_use *b) {
    const grout_operand *one = grout_ring_use__get_slot(grout_leads__get_module(it), a);
    const grout_operand *two = grout_ring_use__get_slot(grout_leads__get_module(it), b);
    if (one == NULL || two == NULL ||
        grout_leads__count_slots(it, a) != grout_leads__count_slots(it, b)) {
        return -1;
    }
    return grout_slot__is_equal(grout_leads__get_module(it), one, two) ? 1 : 0;
}

bool grout_leads__is_constant(const grout_leads *it, const grout_ring_use *use) {
    const grout_operand *slot = grout_ring_use__get_slot(grout_leads__get_module(it), use);
    int64_t number = 0;
    return slot != NULL && grout_slot__is_constant(grout_leads__get_module(it), slot, &number);
}

const char *grout_leads__name_use(const grout_leads *it, const grout_ring_use *use) {
    grout_text text = {.allocator = it->checker->allocator};
    grout_ring_use__add(grout_leads__get_module(it), use, &text);
    return grout_strings__keep(it->names, it->checker->allocator, &text);
}

const char *grout_leads__name_value(const grout_leads *it, const grout_operand *index) {
    const grout_value *value = index->kind == GROUT_OPERAND_VALUE
                                   ? grout_module_get_value(grout_leads__get_module(it), index->id)
                                   : NULL;
    grout_text text = {.allocator = it->checker->allocator};
    if (value == NULL || value->name == 0) {
        return NULL;
    }
    grout_name_print(grout_leads__get_module(it), value->name, &text);
    return grout_strings__keep(it->names, it->checker->allocator, &text);
}

const char *grout_leads__name_source(const grout_leads *it, const grout_ring_use *use,
                                     const grout_ring_use *against) {
    const grout_operand *slot = grout_ring_use__get_slot(grout_leads__get_module(it), use);
    const grout_operand *other =
        against == NULL ? NULL : grout_ring_use__get_slot(grout_leads__get_module(it), against);
    const grout_op_id source = grout_slot__find_source(grout_leads__get_module(it), slot, use->op);
    grout_text text = {.allocator = it->checker->allocator};
    if (source == 0 || (other != NULL && other->kind == slot->kind && other->id == slot->id)) {
        return "";
    }
    grout_sentence__add(&text, GROUT_SENTENCE_LEAD_SOURCE,
                        &(grout_words){.what = grout_leads__name_value(it, slot),
                                       .line = grout_leads__get_line(it, source)});
    return grout_strings__keep(it->names, it->checker->allocator, &text);
}

const char *grout_leads__get_mnemonic(const grout_leads *it, grout_op_id op) {
    return grout_op_get_info(
               (grout_opcode)grout_module_get_op(grout_leads__get_module(it), op)->opcode)
        ->text;
}
