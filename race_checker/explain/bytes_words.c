/*
 * bytes_words.c - the bytes of an mbarrier's phases: who announces them and who brings them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include <string.h>

/* Operand 1: the number that an expect announces, the box that a copy or store writes. */
enum { WHAT = 1, NOTES_MAX = 8 };

static bool has_run(const grout_wording *wording, grout_op_id op) {
    return wording->checker->run.op_threads[op] != 0;
}

static bool names(const grout_wording *wording, const grout_op *op, grout_object_id object) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (grout_op__find_object(wording->module, op, i) == object) {
            return true;
        }
    }
    return false;
}

/* The bytes that it announces each time; -1: it announces none. */
static int64_t get_announced(const grout_wording *wording, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_operand *count = NULL;
    if (sync == NULL || sync->mode != GROUT_SYNC_MODE_POSTS || op->operand_count <= WHAT) {
        return -1;
    }
    count = grout_module_get_operand(wording->module, op, WHAT);
    return count->kind == GROUT_OPERAND_EXPR
               ? grout_module_get_expr_value(wording->module, count->id).integer
               : -1;
}

/* The bytes of the box that it writes; -1: it starts no engine that writes one. */
static int64_t get_brought(const grout_wording *wording, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    grout_view view;
    memset(&view, 0, sizeof view);
    if (sync == NULL || sync->mode != GROUT_SYNC_MODE_STARTS || op->operand_count <= WHAT ||
        !grout_module_get_view(wording->module, grout_module_get_operand(wording->module, op, WHAT),
                               &view)) {
        return -1;
    }
    const grout_type *type = grout_object_get_type(wording->module, view.object);
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const int64_t count = grout_view_get_count(&view);
    return type->is_expanded ? count * info->bits / 8 : count / info->packed * info->bytes;
}

static const char *get_share(const grout_wording *wording, const grout_op *op) {
    if (grout_module_find_attr(wording->module, op, GROUT_ATTR_MULTICAST)) {
        return grout_phrase__get(GROUT_PHRASE_BYTES_OF_MULTICAST);
    }
    return grout_phrase__get(grout_module_find_attr(wording->module, op, GROUT_ATTR_COLLECTIVE_AXES)
                                 ? GROUT_PHRASE_BYTES_OF_COLLECTIVE
                                 : GROUT_PHRASE_NOTHING);
}

bool grout_wording__add_bytes(const grout_wording *wording, grout_op_id id, grout_text *out) {
    const grout_op *op = grout_module_get_op(wording->module, id);
    int64_t announced = get_announced(wording, op), brought = get_brought(wording, op);
    const grout_words words = {.op = grout_op_get_info((grout_opcode)op->opcode)->text,
                               .bytes = announced >= 0 ? announced : brought,
                               .more = get_share(wording, op)};
    if (announced >= 0) {
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_ANNOUNCED, &words);
    } else if (brought >= 0) {
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_BROUGHT, &words);
    }
    return announced >= 0 || brought >= 0;
}

bool grout_wording__is_about_bytes(const grout_wording *wording) {
    return wording->record->code == GROUT_DIAG_BARRIER_TX_MISMATCH &&
           wording->facts->subject != GROUT_SUBJECT_USUAL;
}

void grout_wording__note_bytes(grout_wording *wording) {
    grout_object_id object = wording->checker->info.element_objects[wording->facts->element];
    grout_text text = {.allocator = wording->checker->allocator};
    uint32_t notes = 0;
    for (grout_op_id i = 1; i < grout_module_get_op_count(wording->module) && notes < NOTES_MAX;
         i++) {
        const grout_op *op = grout_module_get_op(wording->module, i);
        if (i == wording->facts->sides[0].origin.op || !has_run(wording, i) ||
            !names(wording, op, object) || !grout_wording__add_bytes(wording, i, &text)) {
            continue;
        }
        wording->strings->has_failed |= text.failed;
        if (!text.failed) {
            notes++;
            grout_wording__note(wording, GROUT_SEVERITY_NOTE,
                                grout_module_get_place(wording->module, op->loc), text.data);
        }
        grout_text_free(&text);
    }
}

/* An overrun on the same mbarrier: bytes of one phase come to another, whatever was announced. */
static const grout_record *find_overrun(const grout_wording *wording) {
    const grout_checker *checker = wording->checker;
    const grout_findings *findings = &checker->memory.findings;
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *it = &findings->records[i];
        if (it->code == GROUT_DIAG_BARRIER_OVERRUN && !it->is_replaced &&
            it->facts.subject == GROUT_SUBJECT_USUAL &&
            checker->info.element_objects[it->facts.element] ==
                checker->info.element_objects[wording->facts->element]) {
            return it;
        }
    }
    return NULL;
}

bool grout_wording__add_bytes_repair(const grout_wording *wording, grout_text *out) {
    const grout_record *overrun = find_overrun(wording);
    if (overrun) {
        grout_place place = grout_module_get_place(wording->module, overrun->primary);
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_OVERRUN_HELP,
                            &(grout_words){.line = place.line});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_HELP, NULL);
    }
    return true;
}
