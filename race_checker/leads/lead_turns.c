/*
 * lead_turns.c - indices of the two accesses of a finding, and of all uses of a buffer.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lead_uses.h"

#include "sentences.h"
#include "statement.h"

#include "grout-internal/text.h"

#include <string.h>

/* ---- two accesses of one turn ---- */

static bool is_of_one_turn(const grout_side *a, const grout_side *b) {
    const uint32_t depth =
        a->origin.loop_depth < GROUT_ORIGIN_LOOPS ? a->origin.loop_depth : GROUT_ORIGIN_LOOPS;
    return grout_origin__is_same_actor(&a->origin, &b->origin) && depth > 0 &&
           a->origin.loop_depth == b->origin.loop_depth &&
           memcmp(a->origin.loops, b->origin.loops, depth * sizeof a->origin.loops[0]) == 0;
}

/* What fills some of the object's slots ahead of the loop by the same operation, and not all of
 * them, as far as numbers tell; 0: nothing does. */
static grout_op_id find_ahead(const grout_leads *it, const grout_ring_use *fill) {
    const grout_module *module = grout_leads__get_module(it);
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, fill->object);
    int64_t filled = 0;
    grout_op_id first = 0;
    for (size_t i = 0; i < uses.count; i++) {
        const grout_ring_use *other = &uses.items[i];
        if (other->role != GROUT_RING_FILLS || other->loop == fill->loop ||
            grout_module_get_op(module, other->op)->opcode !=
                grout_module_get_op(module, fill->op)->opcode ||
            grout_op__find_reach(module, other->op, fill->op).kind != GROUT_REACH_AHEAD) {
            continue;
        }
        const int64_t turns = other->loop == 0 ? 1 : grout_loop__count_turns(module, other->loop);
        if (turns <= 0) {
            return 0;
        }
        filled += turns;
        first = first == 0 ? other->op : first;
    }
    return filled < grout_leads__count_slots(it, fill) ? first : 0;
}

/* The read of the slot that the loop fills; false: there is none. */
static bool find_read(const grout_leads *it, const grout_ring_use *fill, grout_ring_use *out) {
    const grout_ring_span beside = grout_rings__get_of_loop(it->rings, fill->loop);
    for (size_t i = 0; i < beside.count; i++) {
        if (beside.items[i].object == fill->object && beside.items[i].role == GROUT_RING_READS &&
            grout_leads__compare_slots(it, fill, &beside.items[i]) == 1) {
            *out = beside.items[i];
            return true;
        }
    }
    return false;
}

/* Whether the finding is that a turn reads what it fills, or fills what was filled ahead. */
static bool is_about_turn(const grout_side *write, const grout_side *other,
                          const grout_ring_use *read) {
    return write->is_write && write->stamp.agent != GROUT_AGENT_ACTOR &&
           (other->is_write ? other->origin.op != write->origin.op
                            : other->origin.op == read->op && is_of_one_turn(write, other));
}

bool grout_leads__add_same_turn(const grout_leads *it, const grout_side *sides, grout_text *out) {
    for (uint32_t i = 0; i < 2; i++) {
        grout_ring_use fill, read;
        if (!grout_leads__get_use(it, sides[i].origin.op, GROUT_RING_FILLS, &fill) ||
            fill.loop == 0 || !find_read(it, &fill, &read) ||
            !is_about_turn(&sides[i], &sides[1 - i], &read)) {
            continue;
        }
        const grout_op_id ahead = find_ahead(it, &fill);
        if (ahead != 0) {
            grout_sentence__add(out, GROUT_SENTENCE_LEAD_SAME_TURN_HELP,
                                &(grout_words){.line = grout_leads__get_line(it, fill.op),
                                               .other_line = grout_leads__get_line(it, read.op),
                                               .op = grout_leads__get_mnemonic(it, fill.op),
                                               .object = grout_leads__name_use(it, &fill),
                                               .where = grout_leads__name_source(it, &fill, &read),
                                               .other_op = grout_leads__get_mnemonic(it, read.op),
                                               .other = grout_leads__name_use(it, &read),
                                               .limit = grout_leads__get_line(it, ahead)});
            return true;
        }
    }
    return false;
}

/* ---- a place that is filled, and another one that is read ---- */

/* Whether one leading index of two places differs, and is a number in one of them. */
static bool differ_in_number(const grout_leads *it, const grout_ring_use *a,
                             const grout_ring_use *b) {
    const grout_module *module = grout_leads__get_module(it);
    const grout_operand *one[GROUT_RANK_MAX], *two[GROUT_RANK_MAX];
    const uint32_t count = grout_ring_use__get_places(module, a, one);
    uint32_t differing = 0, numbers = 0;
    if (grout_ring_use__get_places(module, b, two) != count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t number = 0;
        const bool differs = !grout_slot__is_equal(module, one[i], two[i]);
        differing += differs ? 1 : 0;
        numbers += differs && grout_slot__is_constant(module, one[i], &number) !=
                                  grout_slot__is_constant(module, two[i], &number)
                       ? 1
                       : 0;
    }
    return differing == 1 && numbers == 1;
}

/* One operation fills the object, and one reads it in the same block. */
bool grout_leads__add_other_place(const grout_leads *it, grout_op_id op, grout_text *out) {
    const grout_module *module = grout_leads__get_module(it);
    grout_ring_use fill;
    if (!grout_leads__get_use(it, op, GROUT_RING_FILLS, &fill)) {
        return false;
    }
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, fill.object);
    const grout_ring_use *read =
        uses.count == 2 ? &uses.items[uses.items[0].op == op ? 1 : 0] : &fill;
    if (read->role != GROUT_RING_READS ||
        grout_module_get_op(module, read->op)->parent != grout_module_get_op(module, op)->parent ||
        !differ_in_number(it, &fill, read)) {
        return false;
    }
    grout_sentence__add(out, GROUT_SENTENCE_LEAD_OTHER_PLACE_HELP,
                        &(grout_words){.line = grout_leads__get_line(it, op),
                                       .object = grout_leads__name_use(it, &fill),
                                       .other_line = grout_leads__get_line(it, read->op),
                                       .other = grout_leads__name_use(it, read)});
    return true;
}

/* ---- slots that nothing uses ---- */

/* Whether all uses of the object are of the one slot that is written there, in a loop. */
static bool has_unused_slots(const grout_leads *it, grout_object_id object) {
    const grout_module *module = grout_leads__get_module(it);
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, object);
    bool is_filled = false, is_one = uses.count > 0;
    for (size_t i = 0; i < uses.count && is_one; i++) {
        is_one = grout_leads__compare_slots(it, &uses.items[i], &uses.items[0]) == 1 &&
                 grout_leads__is_constant(it, &uses.items[i]);
        is_filled |= uses.items[i].role == GROUT_RING_FILLS && uses.items[i].loop != 0;
    }
    for (grout_object_id i = 1; is_one && i < grout_module_get_object_count(module); i++) {
        is_one = i == object ||
                 grout_object_get_root(module, i) != grout_object_get_root(module, object);
    }
    return is_one && is_filled;
}

bool grout_leads__add_unused(const grout_leads *it, const grout_side *sides, grout_text *out) {
    const grout_object_id object = sides[0].box.object;
    if (object == 0 || object != sides[1].box.object || !has_unused_slots(it, object)) {
        return false;
    }
    const grout_ring_span uses = grout_rings__get_of_object(it->rings, object);
    grout_text name = {.allocator = it->checker->allocator};
    const grout_object *ring = grout_module_get_object(grout_leads__get_module(it), object);
    grout_name_print(grout_leads__get_module(it),
                     grout_module_get_value(grout_leads__get_module(it), ring->value)->name, &name);
    grout_sentence__add(
        out, GROUT_SENTENCE_LEAD_UNUSED_HELP,
        &(grout_words){.object = grout_strings__keep(it->names, it->checker->allocator, &name),
                       .number = grout_leads__count_slots(it, &uses.items[0]),
                       .line = grout_leads__get_line(it, uses.items[0].op),
                       .other_line = grout_leads__get_line(it, uses.items[uses.count - 1].op),
                       .element = grout_leads__name_use(it, &uses.items[0])});
    return true;
}
