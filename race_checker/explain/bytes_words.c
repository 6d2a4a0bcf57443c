/*
 * bytes_words.c - the bytes of an mbarrier's phases: who announces them and who brings them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include <stdlib.h>
#include <string.h>

/* Operand 1: the number that an expect announces, the box that a copy or store writes. */
enum { WHAT = 1, NOTES_MAX = 8 };

static bool has_run(const grout_wording *wording, grout_op_id op) {
    return wording->checker->run.op_threads[op] != 0;
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

/* ---- those of one mbarrier ---- */

void grout_byte_ops__deinit(grout_byte_ops *byte_ops) {
    grout__free(byte_ops->all.items);
}

static int compare(const void *one, const void *other) {
    const grout_byte_op *a = one, *b = other;
    if (a->object != b->object) {
        return a->object < b->object ? -1 : 1;
    }
    return a->index != b->index ? (a->index > b->index) - (a->index < b->index)
                                : (a->op > b->op) - (a->op < b->op);
}

/* The element that a view is of, where constants say it; -1: they do not. */
static int64_t get_index(const grout_module *module, const grout_view *view) {
    int64_t index = 0;
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        if (view->start_term_count[dim] > 0 || view->extent[dim] != 1) {
            return -1;
        }
        index = index * grout_object_get_extent(module, view->object, dim) + view->start_const[dim];
    }
    return index;
}

/* The barriers that an op names. False without memory. */
static bool add(const grout_wording *wording, grout_byte_ops *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(wording->module, id);
    grout_view view;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!grout_module_get_view(wording->module,
                                   grout_module_get_operand(wording->module, op, i), &view) ||
            grout_module_get_object(wording->module, view.object)->kind != GROUT_OBJECT_BARRIER) {
            continue;
        }
        if (!GROUT_ARRAY_RESERVE(&it->all, wording->checker->allocator, 1)) {
            return false;
        }
        it->all.items[it->all.count++] =
            (grout_byte_op){view.object, get_index(wording->module, &view), id};
    }
    return true;
}

/* NULL without memory. */
static const grout_byte_ops *get(const grout_wording *wording) {
    grout_byte_ops *it = &wording->shared->byte_ops;
    bool is_done = true;
    for (grout_op_id i = 1;
         !it->is_made && is_done && i < grout_module_get_op_count(wording->module); i++) {
        const grout_op *op = grout_module_get_op(wording->module, i);
        if (has_run(wording, i) &&
            (get_announced(wording, op) >= 0 || get_brought(wording, op) >= 0)) {
            is_done = add(wording, it, i);
        }
    }
    if (!it->is_made && it->all.count > 1) {
        qsort(it->all.items, it->all.count, sizeof it->all.items[0], compare);
    }
    it->is_made = is_done;
    wording->strings->has_failed |= !is_done;
    return is_done ? it : NULL;
}

/* The number of the first that is not before it. */
static size_t find_first(const grout_byte_ops *it, const grout_byte_op *wanted) {
    size_t first = 0, last = it->all.count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (compare(&it->all.items[middle], wanted) < 0) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

/* The next op from a number on that is on the object and the element; 0: there is none. */
static grout_op_id get_op(const grout_byte_ops *it, size_t at, grout_object_id object,
                          int64_t index) {
    return at < it->all.count && it->all.items[at].object == object &&
                   it->all.items[at].index == index
               ? it->all.items[at].op
               : 0;
}

static void note(grout_wording *wording, grout_op_id id) {
    grout_text text = {.allocator = wording->checker->allocator};
    (void)grout_wording__add_bytes(wording, id, &text);
    wording->strings->has_failed |= text.failed;
    if (!text.failed) {
        const grout_op *op = grout_module_get_op(wording->module, id);
        grout_wording__note(wording, GROUT_SEVERITY_NOTE,
                            grout_module_get_place(wording->module, op->loc), text.data);
    }
    grout_text_free(&text);
}

/* The ops that are on the finding's mbarrier, or may be, in the order of the program. How many of
 * most notes are left. */
static uint32_t note_own(grout_wording *wording, const grout_byte_ops *it, grout_object_id object,
                         int64_t index, uint32_t most) {
    size_t one = find_first(it, &(grout_byte_op){object, index, 0});
    size_t any = find_first(it, &(grout_byte_op){object, -1, 0});
    while (most > 0) {
        const grout_op_id of_one = get_op(it, one, object, index);
        const grout_op_id of_any = get_op(it, any, object, -1);
        const bool is_one = of_one != 0 && (of_any == 0 || of_one < of_any);
        const grout_op_id id = is_one ? of_one : of_any;
        if (id == 0) {
            break;
        }
        one += is_one ? 1 : 0;
        any += is_one ? 0 : 1;
        if (id != wording->facts->sides[0].origin.op) {
            note(wording, id);
            most--;
        }
    }
    return most;
}

/* The ops that are on others of its array: missing bytes may have gone there. */
static void note_others(grout_wording *wording, const grout_byte_ops *it, grout_object_id object,
                        int64_t index, uint32_t most) {
    for (size_t at = find_first(it, &(grout_byte_op){object, 0, 0});
         most > 0 && at < it->all.count && it->all.items[at].object == object; at++) {
        if (it->all.items[at].index != index) {
            note(wording, it->all.items[at].op);
            most--;
        }
    }
}

void grout_wording__note_bytes(grout_wording *wording) {
    const grout_launch_info *info = &wording->checker->info;
    const uint32_t element = wording->facts->element;
    const grout_object_id object = info->element_objects[element];
    const int64_t index = info->element_indices[element];
    const grout_byte_ops *it = get(wording);
    if (it != NULL) {
        const uint32_t left = note_own(wording, it, object, index, NOTES_MAX);
        if (wording->facts->have >= 0) { /* fewer than were announced */
            note_others(wording, it, object, index, left);
        }
    }
}

bool grout_wording__add_bytes_repair(const grout_wording *wording, grout_text *out) {
    /* bytes of one phase come to another, whatever was announced */
    const grout_record *overrun = grout_wording__find_overrun(
        wording, wording->checker->info.element_objects[wording->facts->element]);
    if (overrun) {
        grout_place place = grout_module_get_place(wording->module, overrun->primary);
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_OVERRUN_HELP,
                            &(grout_words){.line = place.line});
    } else {
        grout_sentence__add(out, GROUT_SENTENCE_BYTES_HELP, NULL);
    }
    return true;
}
