/* statement.c - statements and lines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "statement.h"

#include <string.h>

static const grout_spot NOWHERE;

grout_op_id grout_op__get_parent(const grout_module *module, grout_op_id op) {
    return grout_module_get_block(module, grout_module_get_op(module, op)->parent)->parent;
}

grout_object_id grout_op__find_object(const grout_module *module, const grout_op *op,
                                      uint32_t operand) {
    grout_view view;
    memset(&view, 0, sizeof view);
    return operand < op->operand_count &&
                   grout_module_get_view(module, grout_module_get_operand(module, op, operand),
                                         &view)
               ? view.object
               : 0;
}

/* Whether two objects are one, or names of the same bytes. */
static bool is_same_memory(const grout_module *module, grout_object_id a, grout_object_id b) {
    return a == b || (a != 0 && b != 0 &&
                      grout_object_get_root(module, a) == grout_object_get_root(module, b) &&
                      grout_objects_share_bytes(module, a, b));
}

bool grout_op__has_effect_on(const grout_module *module, const grout_op *op, grout_object_id object,
                             uint32_t kinds) {
    uint32_t count = 0;
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        grout_view view;
        memset(&view, 0, sizeof view);
        if ((kinds >> effects[i].access & 1) != 0 && effects[i].operand < op->operand_count &&
            grout_module_get_view(module, grout_module_get_operand(module, op, effects[i].operand),
                                  &view) &&
            is_same_memory(module, view.object, object)) {
            return true;
        }
    }
    return false;
}

bool grout_op__arrives_on(const grout_module *module, const grout_op *op, grout_object_id object) {
    return grout_op__has_effect_on(module, op, object, GROUT_ACCESSES_ARRIVE);
}

grout_op_id grout_object__find_init(const grout_module *module, grout_object_id object) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        if (sync != NULL && sync->mode == GROUT_SYNC_MODE_MAKES &&
            grout_op__find_object(module, op, 0) == object) {
            return i;
        }
    }
    return 0;
}

uint32_t grout_object__get_count_line(const grout_module *module, grout_object_id object) {
    const grout_op_id init = grout_object__find_init(module, object);
    const grout_loc_id loc =
        init != 0
            ? grout_module_get_op(module, init)->loc
            : grout_module_get_value(module, grout_module_get_object(module, object)->value)->loc;
    return grout_module_get_place(module, loc).line;
}

static grout_region_kind get_region_kind(const grout_module *module, grout_op_id op) {
    grout_opcode opcode = (grout_opcode)grout_module_get_op(module, op)->opcode;
    return (grout_region_kind)grout_op_get_region(opcode)->kind;
}

bool grout_op__is_in_kernel(const grout_module *module, grout_op_id op, grout_kernel_id kernel) {
    grout_block_id block = grout_module_get_op(module, op)->parent;
    return block && grout_module_get_block(module, block)->kernel == kernel;
}

grout_op_id grout_op__get_loop(const grout_module *module, grout_op_id op) {
    do {
        op = grout_op__get_parent(module, op);
    } while (op && get_region_kind(module, op) != GROUT_REGION_LOOP);
    return op;
}

bool grout_op__is_counted_loop(const grout_op *op) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    return region->kind == GROUT_REGION_LOOP && region->lead_args > 0;
}

grout_op_id grout_op__find_poll(const grout_module *module, grout_op_id op) {
    grout_op_id loop = grout_op__get_loop(module, op);
    const grout_op *it = loop ? grout_module_get_op(module, loop) : NULL;
    if (!it || grout_op__is_counted_loop(it)) {
        return 0;
    }
    while (grout_op__get_parent(module, op) != loop) {
        op = grout_op__get_parent(module, op);
    }
    return grout_module_get_op(module, op)->parent == it->first_block ? loop : 0;
}

grout_expr_id grout_op__find_allowed(const grout_module *module, const grout_op *op) {
    const grout_attr_value *attr = grout_module_find_attr(module, op, GROUT_ATTR_WAIT_GROUPS);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const char *letters = grout_op_get_info((grout_opcode)op->opcode)->operands;
    if (sync != NULL && sync->covers != 0 && letters[0] == 'k') {
        return grout_module_get_operand(module, op, 0)->id;
    }
    return attr ? attr->expr : 0;
}

/* Its result has no name: it is printed where it is used, by an op after it in the block. */
static bool is_nested(const grout_module *module, const grout_op *op) {
    return op->result_count == 1 && op->next &&
           !grout_module_get_value(module, op->first_result)->name;
}

grout_op_id grout_statement__find(const grout_module *module, grout_op_id op) {
    while (is_nested(module, grout_module_get_op(module, op))) {
        op = grout_module_get_op(module, op)->next;
    }
    return op;
}

static uint32_t get_line(const grout_module *module, grout_loc_id loc) {
    return grout_module_get_place(module, loc).line;
}

/* Where the statement begins: at its mnemonic, or at the name of its first result. */
static grout_place get_start(const grout_module *module, grout_op_id statement) {
    const grout_op *op = grout_module_get_op(module, statement);
    grout_place start = grout_module_get_place(module, op->loc);
    if (op->result_count > 0) {
        grout_loc_id name = grout_module_get_value(module, op->first_result)->loc;
        grout_place place = grout_module_get_place(module, name);
        start = place.file && place.line < start.line ? place : start;
    }
    return start;
}

/* ---- the lines of a block ---- */

void grout_line_table__deinit(grout_line_table *table) {
    grout_lookup__deinit(&table->by_op);
    grout__free(table->all.items);
}

/* The last line of an op, or of its last brace. */
static uint32_t get_end_line(const grout_module *module, const grout_op *op) {
    const grout_loc_id end =
        op->block_count > 0
            ? grout_module_get_block(module, op->first_block + op->block_count - 1)->end_loc
            : op->loc;
    return get_line(module, end);
}

/* Looks at all ops of a block. False without memory. */
static bool add_block(grout_line_table *table, grout_block_id block) {
    const grout_module *module = table->module;
    const grout_block *it = grout_module_get_block(module, block);
    grout_block_line line = {.last = get_line(module, it->loc)};
    for (grout_op_id i = it->first; i != 0; i = grout_module_get_op(module, i)->next) {
        const grout_op *op = grout_module_get_op(module, i);
        const uint32_t own = get_end_line(module, op);
        uint32_t *number = GROUT_ARRAY_RESERVE(&table->all, table->by_op.allocator, 1)
                               ? grout_lookup__at(&table->by_op, i)
                               : NULL;
        if (number == NULL) {
            return false;
        }
        line.last = line.last < own ? own : line.last;
        table->all.items[table->all.count++] = line;
        *number = (uint32_t)table->all.count;
        line.previous = is_nested(module, op) ? line.previous : i;
    }
    return true;
}

/* The line of an op of a block; NULL without memory. */
static const grout_block_line *find_line(grout_line_table *table, grout_op_id op) {
    uint32_t number = grout_lookup__find(&table->by_op, op);
    if (number == 0 && !table->has_failed) {
        table->has_failed = !add_block(table, grout_module_get_op(table->module, op)->parent);
        number = grout_lookup__find(&table->by_op, op);
    }
    return number == 0 ? NULL : &table->all.items[number - 1];
}

/* The last line on which an op of the block up to this one stands, or a brace of its; without
 * memory the last line that there can be. */
static uint32_t get_last_line(grout_line_table *table, grout_block_id block, grout_op_id last) {
    if (last == 0) {
        return get_line(table->module, grout_module_get_block(table->module, block)->loc);
    }
    const grout_block_line *line = find_line(table, last);
    return line == NULL ? UINT32_MAX : line->last;
}

grout_spot grout_statement__get_before(grout_line_table *table, grout_op_id statement) {
    const grout_module *module = table->module;
    const grout_spot spot = {get_start(module, statement), false};
    const grout_block_line *line = spot.place.file ? find_line(table, statement) : NULL;
    const grout_block_id block = grout_module_get_op(module, statement)->parent;
    const bool is_first =
        line != NULL && get_last_line(table, block, line->previous) < spot.place.line;
    return is_first ? spot : NOWHERE;
}

grout_spot grout_block__get_end(grout_line_table *table, grout_block_id block) {
    const grout_block *it = grout_module_get_block(table->module, block);
    const grout_spot spot = {grout_module_get_place(table->module, it->end_loc), false};
    const bool is_first =
        spot.place.file && get_last_line(table, block, it->last) < spot.place.line;
    return is_first ? spot : NOWHERE;
}

grout_spot grout_statement__get_after(grout_line_table *table, grout_op_id statement) {
    const grout_module *module = table->module;
    const grout_op *op = grout_module_get_op(module, statement);
    grout_spot spot = NOWHERE;
    if (op->block_count > 0 ||
        grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_END) {
        return spot;
    }
    spot = op->next ? grout_statement__get_before(table, grout_statement__find(module, op->next))
                    : grout_block__get_end(table, op->parent);
    if (spot.place.file && spot.place.line == get_line(module, op->loc) + 1) {
        spot.place = grout_module_get_place(module, op->loc);
        spot.is_after = true;
    }
    return spot;
}

/* ---- where one op stands, seen from another ---- */

static uint32_t get_depth(const grout_module *module, grout_op_id op) {
    uint32_t depth = 0;
    for (; op; op = grout_op__get_parent(module, op)) {
        depth++;
    }
    return depth;
}

/* One of the two, climbing: the op it has come to, and the block of it that it came from. */
typedef struct climber {
    grout_op_id op;
    grout_block_id from; /* 0: it has not climbed */
} climber;

static void climb(const grout_module *module, climber *it) {
    it->from = grout_module_get_op(module, it->op)->parent;
    it->op = grout_op__get_parent(module, it->op);
}

/* Both have come to one op, from two of its blocks; or one of them is the op itself. */
static grout_reach judge_blocks(const grout_module *module, const climber *stand,
                                const climber *goal) {
    grout_region_kind kind = get_region_kind(module, goal->op);
    if (!stand->from) {
        return GROUT_REACH_AHEAD; /* at the entry */
    }
    if (goal->from && (kind == GROUT_REGION_BRANCH || kind == GROUT_REGION_PARTITIONS)) {
        return GROUT_REACH_OTHER_BRANCH;
    }
    if (goal->from && kind == GROUT_REGION_LOOP) { /* a condition's block, then the body's */
        return stand->from < goal->from ? GROUT_REACH_AHEAD : GROUT_REACH_NEXT_ROUND;
    }
    return grout_op__get_loop(module, goal->op) ? GROUT_REACH_NEXT_ROUND : GROUT_REACH_PASSED;
}

/* Both climb until they are ops of one block, or one op. */
grout_reach_fact grout_op__find_reach(const grout_module *module, grout_op_id stand,
                                      grout_op_id goal) {
    uint32_t stand_depth = get_depth(module, stand);
    uint32_t goal_depth = get_depth(module, goal);
    climber here = {stand, 0}, there = {goal, 0};
    grout_reach_fact fact = {GROUT_REACH_AHEAD, 0};
    for (; stand_depth > goal_depth; stand_depth--) {
        climb(module, &here);
    }
    for (; goal_depth > stand_depth; goal_depth--) {
        climb(module, &there);
        fact.through = there.op;
    }
    while (here.op != there.op && grout_module_get_op(module, here.op)->parent !=
                                      grout_module_get_op(module, there.op)->parent) {
        climb(module, &here);
        climb(module, &there);
        fact.through = there.op;
    }
    if (here.op == there.op) {
        fact.kind = judge_blocks(module, &here, &there);
    } else if (here.op > there.op) { /* ops come into a block one after the other */
        fact.kind =
            grout_op__get_loop(module, there.op) ? GROUT_REACH_NEXT_ROUND : GROUT_REACH_PASSED;
    }
    return fact;
}
