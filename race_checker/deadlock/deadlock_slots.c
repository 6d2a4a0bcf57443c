/*
 * deadlock_slots.c - deadlocks that come of an index, or of bytes that nobody announces.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"
#include "leads.h"

#include <string.h>

/* ---- an index that does not fit ---- */

enum { THREADS_LOOKED = 64, BARRIERS_LOOKED = 8 };

/* The barriers that threads wait on, the root's first. */
static uint32_t find_awaited(const grout_deadlock *text, const grout_need *need,
                             grout_object_id objects_out[BARRIERS_LOOKED]) {
    uint32_t count = 0;
    objects_out[count++] = need->object;
    for (uint32_t t = 0; t < text->thread_count && t < THREADS_LOOKED; t++) {
        const grout_need other = grout_deadlock__get_need(text, &text->threads[t]);
        bool is_new = grout_need__is_on_barrier(&other);
        for (uint32_t i = 0; i < count && is_new; i++) {
            is_new = objects_out[i] != other.object;
        }
        if (is_new && count < BARRIERS_LOOKED) {
            objects_out[count++] = other.object;
        }
    }
    return count;
}

bool grout_deadlock__add_lead_help(const grout_deadlock *text, const grout_need *need,
                                   grout_text *out) {
    grout_lead_question question = {.count = 0};
    grout_object_id objects[BARRIERS_LOOKED];
    grout_rings rings = {.is_made = false};
    bool is_found = false;
    if (!grout_need__is_on_barrier(need) ||
        grout_module_get_surface(text->module) == GROUT_SURFACE_PALLAS) {
        return false;
    }
    if (grout_rings__make(&rings, text->checker)) {
        const uint32_t count = find_awaited(text, need, objects);
        for (uint32_t i = 0; i < count; i++) {
            grout_lead_question__add_barrier(&question, &rings, objects[i]);
        }
        is_found = grout_leads__add_help(
            &(grout_leads){.checker = text->checker, .rings = &rings, .names = text->names},
            &question, out);
    } else {
        text->names->has_failed = true;
    }
    grout_rings__deinit(&rings);
    return is_found;
}

/* ---- bytes that nobody announces ---- */

/* Whether an op of the kernel announces bytes on the mbarriers of an object. */
static bool is_announced(const grout_deadlock *text, grout_object_id object) {
    bool has_any = false;
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module) && !has_any; i++) {
        const grout_op *op = grout_module_get_op(text->module, i);
        has_any = grout_op_get_info((grout_opcode)op->opcode)->effect_row ==
                      (uint8_t)GROUT_EFFECT_ROW_EXPECT &&
                  grout_op__find_object(text->module, op, 0) == object;
    }
    return has_any;
}

/* The operand of an op that names the object, as it is written. */
static const char *spell_operand(const grout_deadlock *text, grout_op_id id,
                                 grout_object_id object) {
    const grout_op *op = grout_module_get_op(text->module, id);
    grout_text words = {.allocator = text->checker->allocator};
    uint32_t i = 0;
    while (i < op->operand_count && grout_op__find_object(text->module, op, i) != object) {
        i++;
    }
    if (i < op->operand_count) {
        grout_operand_print(text->module, id, i, &words);
    }
    return grout_deadlock__keep(text, &words);
}

/* An mbarrier on which some thread waits has bytes, and no operation announces any. */
bool grout_deadlock__add_unannounced_help(const grout_deadlock *text, const grout_need *need,
                                          grout_text *out) {
    (void)need;
    for (uint32_t t = 0; t < text->thread_count && t < THREADS_LOOKED; t++) {
        const grout_need other = grout_deadlock__get_need(text, &text->threads[t]);
        const grout_barrier_fact *barrier = grout_need__is_on_barrier(&other)
                                                ? grout_deadlock__find_barrier(text, other.thread)
                                                : NULL;
        if (barrier == NULL || barrier->bytes_due >= 0 || barrier->arrived >= barrier->arrivals ||
            grout_module_get_surface(text->module) == GROUT_SURFACE_PALLAS ||
            is_announced(text, other.object)) {
            continue;
        }
        const grout_op_id copy = grout_deadlock__find_bringer(text, &other);
        const char *operand = copy != 0 ? spell_operand(text, copy, other.object) : "";
        grout_text op = {.allocator = text->checker->allocator};
        grout_spelling__add(&op, GROUT_SURFACE_TEXT, GROUT_SPELLING_MBARRIER_EXPECT,
                            &(grout_words){.element = operand, .bytes = -barrier->bytes_due});
        grout_sentence__add(
            out, GROUT_SENTENCE_STUCK_ANNOUNCE_HELP,
            &(grout_words){.object = grout_deadlock__name_object(text, other.object),
                           .element = grout_deadlock__name_element(text, other.object, other.index),
                           .bytes = -barrier->bytes_due,
                           .op = grout_deadlock__keep(text, &op),
                           .line = grout_deadlock__get_line(text, copy)});
        return operand[0] != '\0';
    }
    return false;
}

/* ---- the slot of the last turn ---- */

/* The use of the object that the op makes. */
static grout_ring_use get_use(const grout_deadlock *text, grout_op_id id, grout_object_id object) {
    const grout_op *op = grout_module_get_op(text->module, id);
    grout_ring_use use = {.object = object, .op = id};
    while (use.operand < op->operand_count &&
           grout_op__find_object(text->module, op, use.operand) != object) {
        use.operand++;
    }
    return use;
}

/* Whether nothing else brings it, but in the loop of the op. */
static bool is_of_loop_alone(const grout_deadlock *text, const grout_need *need, grout_op_id op) {
    bool is_alone = true;
    for (grout_op_id i = 1; i < grout_module_get_op_count(text->module) && is_alone; i++) {
        is_alone = !grout_deadlock__is_bringer(text, need, i) ||
                   grout_op__get_loop(text->module, i) == grout_op__get_loop(text->module, op);
    }
    return is_alone;
}

bool grout_deadlock__add_last_help(const grout_deadlock *text, const grout_need *given,
                                   const grout_need *seen, grout_op_id op, grout_text *out) {
    const grout_op_id loop = grout_op__get_loop(text->module, op);
    const grout_op_id wait = seen->thread->origin.op;
    const grout_ring_use own = get_use(text, op, given->object);
    const grout_ring_use other = get_use(text, wait, seen->object);
    const grout_operand *slot = grout_ring_use__get_slot(text->module, &own);
    const grout_operand *awaited = grout_ring_use__get_slot(text->module, &other);
    if (loop == 0 || grout_op__get_loop(text->module, loop) == 0 ||
        grout_op__get_loop(text->module, wait) != loop || slot == NULL || awaited == NULL ||
        grout_slot__is_equal(text->module, slot, awaited) || !is_of_loop_alone(text, given, op)) {
        return false;
    }
    const grout_words words = {
        .op = grout_op_get_info((grout_opcode)grout_module_get_op(text->module, op)->opcode)->text,
        .line = grout_deadlock__get_line(text, op),
        .other_op =
            grout_op_get_info((grout_opcode)grout_module_get_op(text->module, loop)->opcode)->text,
        .other_line = grout_deadlock__get_line(text, loop),
        .object = grout_deadlock__name_object(text, given->object)};
    grout_sentence__add(out, GROUT_SENTENCE_STUCK_LAST_HELP, &words);
    return true;
}
