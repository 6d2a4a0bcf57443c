/*
 * wait_line.c - the wait for a copy as the thread of an access would write it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A ring's stage has another name in each thread: the copy fills %vs[%slot] and announces it on
 * %full[%slot], a consumer reads %vs[%before]. Then its wait is for %full[%before].
 */
#include "wording.h"

#include <string.h>

/* The operand that is the object, or a place in it; NULL: none. */
static const grout_operand *find_operand(const grout_module *module, const grout_op *op,
                                         grout_object_id object, uint32_t *number_out) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (grout_op__find_object(module, op, i) == object) {
            *number_out = i;
            return grout_module_get_operand(module, op, i);
        }
    }
    return NULL;
}

/* What stands first in its brackets, if that is one index and it is of this CTA; NULL: it does not.
 */
static const grout_operand *get_first_index(const grout_module *module,
                                            const grout_operand *operand) {
    const grout_ref *ref = operand != NULL && operand->kind == GROUT_OPERAND_REF
                               ? grout_module_get_ref(module, operand->id)
                               : NULL;
    const grout_ref_step *step =
        ref != NULL && ref->step_count == 1 ? grout_module_get_ref_step(module, ref, 0) : NULL;
    const grout_index *index = step != NULL && step->kind == GROUT_REF_INDEX && step->count > 0
                                   ? grout_module_get_index(module, step, 0)
                                   : NULL;
    return index != NULL && index->kind == GROUT_INDEX_AT ? &index->start : NULL;
}

/* The text of the first index of an operand: "%before" of "%vs[%before, :]". */
static bool add_first_index(const grout_wording *wording, grout_op_id op, uint32_t number,
                            grout_text *out) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_operand_print(wording->module, op, number, &text);
    const char *open = text.failed || text.data == NULL ? NULL : strchr(text.data, '[');
    size_t size = 0;
    for (uint32_t depth = 0; open != NULL && open[1 + size] != '\0'; size++) {
        const char c = open[1 + size];
        if (depth == 0 && (c == ']' || c == ',')) {
            break;
        }
        depth += c == '(' || c == '[' ? 1u : 0u;
        depth -= c == ')' || c == ']' ? 1u : 0u;
    }
    if (open != NULL) {
        grout_text_add_bytes(out, open + 1, size);
    }
    out->failed = out->failed || text.failed;
    grout_text_free(&text);
    return open != NULL;
}

const char *grout_wording__name_stage(const grout_wording *wording, grout_op_id id,
                                      grout_object_id object) {
    const grout_op *op = grout_module_get_op(wording->module, id);
    grout_text text = {.allocator = wording->checker->allocator};
    uint32_t number = 0;
    if (find_operand(wording->module, op, object, &number) != NULL) {
        (void)add_first_index(wording, id, number, &text);
    }
    return grout_wording__keep(wording, &text);
}

/* The stage of the barrier as the access has it, in place of the copy's. */
static bool add_stage(const grout_wording *wording, const grout_operand *stage, grout_text *out) {
    const grout_module *module = wording->module;
    const grout_side *access = &wording->facts->sides[0];
    const grout_op *copy = grout_module_get_op(module, wording->facts->sides[1].origin.op);
    const grout_op *reader = grout_module_get_op(module, access->origin.op);
    uint32_t number = 0;
    const grout_operand *filled =
        get_first_index(module, find_operand(module, copy, access->box.object, &number));
    const grout_operand *read =
        get_first_index(module, find_operand(module, reader, access->box.object, &number));
    return filled != NULL && read != NULL && filled->kind == stage->kind &&
           filled->id == stage->id && add_first_index(wording, access->origin.op, number, out);
}

/* The operand of the wait, as the thread of the access would write it; false: it may have no name
 * for the stage. */
static bool add_operand(const grout_wording *wording, const grout_operand *operand, uint32_t number,
                        grout_text *out) {
    const grout_origin *copy = &wording->facts->sides[1].origin;
    const grout_operand *stage = get_first_index(wording->module, operand);
    if (operand->kind == GROUT_OPERAND_VALUE ||
        (stage != NULL && stage->kind == GROUT_OPERAND_EXPR)) {
        grout_operand_print(wording->module, copy->op, number, out);
        return true;
    }
    grout_wording__add_object(
        wording, wording->checker->info.element_objects[wording->facts->near.element], out);
    grout_text_add(out, "[");
    const bool is_known = stage != NULL && add_stage(wording, stage, out);
    grout_text_add(out, "]");
    return is_known;
}

/* The wait; in Python, where indices have other names, only if no name is in it. */
static bool add_wait(const grout_wording *wording, const grout_operand *operand, uint32_t number,
                     grout_text *out) {
    const grout_operand *stage = get_first_index(wording->module, operand);
    grout_text element = {.allocator = wording->checker->allocator};
    if (grout_wording__is_pallas(wording)) {
        const bool is_constant = stage != NULL && stage->kind == GROUT_OPERAND_EXPR;
        if (is_constant) {
            grout_text_add(out, "%s",
                           grout_wording__spell_wait(wording, wording->facts->near.element));
        }
        return is_constant;
    }
    const bool is_known = add_operand(wording, operand, number, &element);
    grout_spelling__add(out, grout_module_get_surface(wording->module), GROUT_SPELLING_BARRIER_WAIT,
                        &(grout_words){.element = grout_wording__keep(wording, &element)});
    return is_known;
}

bool grout_wording__add_wait_line(const grout_wording *wording, grout_text *out) {
    const grout_module *module = wording->module;
    const grout_origin *copy = &wording->facts->sides[1].origin;
    const grout_object_id barrier =
        wording->checker->info.element_objects[wording->facts->near.element];
    const grout_op *op = grout_module_get_op(module, copy->op);
    uint32_t number = 0;
    const grout_operand *operand = find_operand(module, op, barrier, &number);
    grout_text line = {.allocator = wording->checker->allocator};
    const bool is_known = operand != NULL && copy->cta == wording->facts->sides[0].origin.cta &&
                          !grout_module_get_object(module, barrier)->is_explicit &&
                          grout_object_get_type(module, barrier)->rank == 1 &&
                          add_wait(wording, operand, number, &line);
    if (is_known) {
        grout_sentence__add(out, GROUT_SENTENCE_AWAIT_LINE,
                            &(grout_words){.op = grout_wording__keep(wording, &line)});
    }
    grout_text_free(&line);
    return is_known;
}
