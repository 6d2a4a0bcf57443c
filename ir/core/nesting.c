/* nesting.c - a stack of values that wait for their user, as an evaluation would hold them.
 *
 * Operations are taken in order. One that may nest is pushed. Its user comes when exactly its
 * operands' trees lie on top of the stack, the last operand on the very top: so the operands are
 * matched from right to left. What a named value or a statement without value leaves on the stack
 * was not written immediately before its user.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "nesting.h"

#include "alloc.h"

enum { NESTED = 0x80, DEPTH = 0x7f };

static bool init(grout_nesting *nesting, const grout_module *module, grout_op_id first,
                 uint32_t count) {
    *nesting = (grout_nesting){.module = module, .first = first, .count = count};
    nesting->marks = grout__new(module->allocator, count, 1);
    bool ok = grout_table__init(&nesting->stack, module->allocator, sizeof(grout_op_id));
    nesting->failed = !ok || nesting->marks == NULL;
    return !nesting->failed;
}

bool grout_nesting__init(grout_nesting *nesting, const grout_module *module) {
    return init(nesting, module, 0, module->ops.count);
}

void grout_nesting__deinit(grout_nesting *nesting) {
    grout__free(nesting->marks);
    grout_table__deinit(&nesting->stack);
}

bool grout_nesting__is_nested(const grout_nesting *nesting, grout_op_id op) {
    GROUT_ASSERT(op < nesting->module->ops.count);
    return op - nesting->first < nesting->count &&
           (nesting->marks[op - nesting->first] & NESTED) != 0;
}

static bool may_nest(const grout_module *module, const grout_op *op) {
    if (op->result_count != 1 || op->block_count != 0 ||
        grout_op_get_info((grout_opcode)op->opcode)->shape != GROUT_SHAPE_PLAIN) {
        return false;
    }
    const grout_value *value = grout_module_get_value(module, op->first_result);
    return value->name == 0 && value->use_count == 1;
}

/* The operation being matched with its operands. */
typedef struct match {
    grout_nesting *nesting;
    uint32_t depth; /* of the deepest operand nested so far */
    uint32_t depth_max;
} match;

/* Marks the operation of an operand if it waits on top of the stack. */
static void match_operand(match *m, const grout_operand *operand) {
    grout_nesting *nesting = m->nesting;
    if (operand->kind != GROUT_OPERAND_VALUE || nesting->stack.count <= 1) {
        return;
    }
    const grout_value *value = grout_module_get_value(nesting->module, operand->id);
    grout_op_id top = *GROUT_TABLE_AT(nesting->stack, grout_op_id, nesting->stack.count - 1);
    if (value->kind != GROUT_VALUE_RESULT || value->op != top) {
        return;
    }
    uint8_t *own = &nesting->marks[top - nesting->first];
    uint32_t depth = *own & DEPTH;
    if (m->depth_max > 0 && depth >= m->depth_max) {
        return;
    }
    nesting->stack.count--;
    *own |= NESTED;
    m->depth = depth > m->depth ? depth : m->depth;
}

static void match_reference(match *m, const grout_ref *ref) {
    const grout_module *module = m->nesting->module;
    for (uint32_t i = ref->step_count; i-- > 0;) {
        const grout_ref_step *step = grout_module_get_ref_step(module, ref, i);
        for (uint32_t n = step->count; n-- > 0;) {
            match_operand(m, &grout_module_get_index(module, step, n)->start);
        }
    }
}

static void match_op(match *m, const grout_op *op) {
    const grout_module *module = m->nesting->module;
    for (uint32_t i = op->operand_count; i-- > 0;) {
        const grout_operand *operand = grout_module_get_operand(module, op, i);
        if (operand->kind == GROUT_OPERAND_REF) {
            match_reference(m, grout_module_get_ref(module, operand->id));
        } else {
            match_operand(m, operand);
        }
    }
}

/* Marks the operations from one on, to another one or, 0, to the end of the block. */
static void mark(grout_nesting *nesting, grout_op_id first, grout_op_id last, uint32_t depth_max) {
    const grout_module *module = nesting->module;
    nesting->stack.count = 1;
    for (grout_op_id id = first; id != 0;) {
        const grout_op *op = grout_module_get_op(module, id);
        match m = {nesting, 0, depth_max};
        match_op(&m, op);
        GROUT_ASSERT(id - nesting->first < nesting->count);
        nesting->marks[id - nesting->first] = m.depth < DEPTH ? (uint8_t)(m.depth + 1) : DEPTH;
        if (!may_nest(module, op)) {
            nesting->stack.count = 1;
        } else if (grout_table__push(&nesting->stack, &id) == 0) {
            nesting->failed = true;
            return;
        }
        id = id == last ? 0 : op->next;
    }
}

void grout_nesting__mark_block(grout_nesting *nesting, grout_block_id block, uint32_t depth_max) {
    mark(nesting, grout_module_get_block(nesting->module, block)->first, 0, depth_max);
}

/* The operation that may be nested in an operand, or 0. */
static grout_op_id find_nested(const grout_module *module, const grout_operand *operand,
                               grout_block_id block) {
    if (operand->kind != GROUT_OPERAND_VALUE) {
        return 0;
    }
    const grout_value *value = grout_module_get_value(module, operand->id);
    if (value->kind != GROUT_VALUE_RESULT || value->op == 0) {
        return 0;
    }
    const grout_op *op = grout_module_get_op(module, value->op);
    return op->parent == block && may_nest(module, op) ? value->op : 0;
}

static grout_op_id find_nested_in_reference(const grout_module *module, const grout_ref *ref,
                                            grout_block_id block) {
    grout_op_id found = 0;
    for (uint32_t i = 0; found == 0 && i < ref->step_count; i++) {
        const grout_ref_step *step = grout_module_get_ref_step(module, ref, i);
        for (uint32_t n = 0; found == 0 && n < step->count; n++) {
            found = find_nested(module, &grout_module_get_index(module, step, n)->start, block);
        }
    }
    return found;
}

/* The one that is evaluated first of those that may be nested in the operands of an operation. */
static grout_op_id find_first_nested(const grout_module *module, const grout_op *op) {
    grout_op_id found = 0;
    for (uint32_t i = 0; found == 0 && i < op->operand_count; i++) {
        const grout_operand *operand = grout_module_get_operand(module, op, i);
        found = operand->kind == GROUT_OPERAND_REF
                    ? find_nested_in_reference(module, grout_module_get_ref(module, operand->id),
                                               op->parent)
                    : find_nested(module, operand, op->parent);
    }
    return found;
}

bool grout_nesting__init_statement(grout_nesting *nesting, const grout_module *module,
                                   grout_op_id op) {
    grout_op_id first = op, least = op, most = op;
    for (grout_op_id at = op; at != 0;) {
        first = at;
        at = find_first_nested(module, grout_module_get_op(module, at));
    }
    for (grout_op_id at = first; at != op && at != 0; at = grout_module_get_op(module, at)->next) {
        least = at < least ? at : least;
        most = at > most ? at : most;
    }
    if (init(nesting, module, least, most - least + 1)) {
        mark(nesting, first, op, 0);
    }
    return !nesting->failed;
}
