/* parse_make.c - from what stands on the parser's stacks: operations, and values with names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "invariant.h"

grout_op_id grout_parser__add_op(grout_parser *p, const grout_new_op *new_op,
                                 uint32_t result_count) {
    if (p->module->ops.count > GROUT_OPS_MAX) {
        (void)grout_parser__error(p, &p->last, GROUT_DIAG_LIMIT, "more than %u operations",
                                  GROUT_OPS_MAX);
        grout_parser__stop(p);
        return 0;
    }
    grout_op_id id = grout_module__add_op(p->module, new_op);
    if (id != 0 && result_count > 0) {
        (void)grout_module__add_results(p->module, id, result_count);
    }
    return id;
}

/* Few attributes: insertion brings them into the order of the table. */
static void sort_attrs(grout_attr_value *attrs, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        grout_attr_value attr = attrs[i];
        uint32_t at = i;
        while (at > 0 && attrs[at - 1].attr > attr.attr) {
            attrs[at] = attrs[at - 1];
            at--;
        }
        attrs[at] = attr;
    }
}

grout_op_id grout_parser__emit(grout_parser *p, const grout_parsed_op *op, uint32_t block_count) {
    GROUT_ASSERT(op->first_operand > 0 && op->first_operand <= p->operands.count);
    GROUT_ASSERT(op->first_attr > 0 && op->first_attr <= p->attrs.count);
    grout_attr_value *attrs = GROUT_TABLE_AT(p->attrs, grout_attr_value, op->first_attr);
    uint32_t attr_count = p->attrs.count - op->first_attr;
    sort_attrs(attrs, attr_count);
    grout_new_op new_op = {
        .opcode = op->opcode,
        .attr_count = (uint8_t)attr_count,
        .loc = op->loc,
        .parent = p->block,
        .operands = GROUT_TABLE_AT(p->operands, grout_operand, op->first_operand),
        .operand_count = p->operands.count - op->first_operand,
        .attrs = attrs,
        .written_type = op->written_type,
        .box = op->box,
        .block_count = block_count,
    };
    grout_op_id id = grout_parser__add_op(p, &new_op, 0);
    p->operands.count = op->first_operand;
    p->attrs.count = op->first_attr;
    return id;
}

void grout_parser__bind_names(grout_parser *p, uint32_t first_name, grout_value_id first_value) {
    GROUT_ASSERT(first_name > 0 && first_name <= p->names.count);
    for (uint32_t i = first_name; i < p->names.count; i++) {
        const grout_parsed_name *name = GROUT_TABLE_AT(p->names, grout_parsed_name, i);
        grout_value_id id = first_value + (i - first_name);
        grout_value *value = GROUT_TABLE_AT(p->module->values, grout_value, id);
        value->name = name->name;
        value->loc = name->loc;
        if (grout_scope__is_in_block(&p->values, name->name)) {
            const char *text = grout_module_get_string(p->module, name->name);
            grout_value_id other = grout_scope__find(&p->values, name->name);
            (void)grout_parser__error_at(p, name->loc, GROUT_DIAG_DUPLICATE_NAME,
                                         "'%%%s' is defined a second time in its block", text);
            grout_parser__note(p, grout_module_get_value(p->module, other)->loc,
                               "first defined here");
        }
        grout_scope__bind(&p->values, name->name, id);
    }
    p->names.count = first_name;
}
