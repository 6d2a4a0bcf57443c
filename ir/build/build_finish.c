/* build_finish.c - what a built module still needs to be a text: names that mean what was meant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include "nesting.h"
#include "scope.h"

#include <stdio.h>
#include <string.h>

typedef struct resolving {
    grout_builder *b;
    grout_module *module;
    grout_nesting nesting;
    grout_scope scope;
    grout_table used;     /* by string: the kernel that has a value of this name (uint32_t) */
    uint32_t next_number; /* of the kernel */
    grout_string_id placeholder;
} resolving;

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_used(const resolving *r, grout_string_id name, grout_kernel_id kernel) {
    return name < r->used.count && *GROUT_TABLE_AT(r->used, uint32_t, name) == kernel;
}

static void set_used(resolving *r, grout_string_id name, grout_kernel_id kernel) {
    if (name >= r->used.count && grout_table__add(&r->used, name + 1 - r->used.count) == 0) {
        r->module->failed = true;
        return;
    }
    *GROUT_TABLE_AT(r->used, uint32_t, name) = kernel;
}

/* Gives a value without a name the next number that names nothing in the kernel. */
static void number_value(resolving *r, grout_value_id id, grout_kernel_id kernel) {
    grout_string_id name = GROUT_TABLE_AT(r->module->values, grout_value, id)->name;
    if (name != 0 && name != r->placeholder) {
        return;
    }
    do {
        char digits[16];
        int size = snprintf(digits, sizeof digits, "%u", (unsigned)r->next_number++);
        name = grout_module__intern(r->module, digits, (size_t)size);
    } while (is_used(r, name, kernel) && !r->module->failed);
    GROUT_TABLE_AT(r->module->values, grout_value, id)->name = name;
}

/* Whether a value was built while inline was on. */
static bool is_nestable(const resolving *r, grout_value_id id) {
    return id < r->b->nestable.count && *GROUT_TABLE_AT(r->b->nestable, uint8_t, id) != 0;
}

static void number_block_args(resolving *r, const grout_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        number_value(r, block->first_arg + i, block->kernel);
    }
}

/* What was built while inline was off never nests: until it has its number, a name that is none
 * says so. */
static void hold_names(resolving *r, const grout_block *block) {
    for (grout_op_id at = block->first; at != 0;) {
        const grout_op *op = grout_module_get_op(r->module, at);
        for (uint32_t i = 0; i < op->result_count; i++) {
            grout_value *value =
                GROUT_TABLE_AT(r->module->values, grout_value, op->first_result + i);
            bool is_held = value->name == 0 && !is_nestable(r, op->first_result + i);
            value->name = is_held ? r->placeholder : value->name;
        }
        at = op->next;
    }
}

/* In the order of the text: results, arguments of the body, the body. Depth is bounded by the
 * builder. A number takes nothing away from what nests. */
static void number_block(resolving *r, grout_block_id id) {
    const grout_block block = *grout_module_get_block(r->module, id);
    number_block_args(r, &block);
    hold_names(r, &block);
    grout_nesting__mark_block(&r->nesting, id, GROUT_BUILD_NESTED_MAX);
    for (grout_op_id at = block.first; at != 0;) {
        const grout_op op = *grout_module_get_op(r->module, at);
        for (uint32_t i = 0; !grout_nesting__is_nested(&r->nesting, at) && i < op.result_count;
             i++) {
            number_value(r, op.first_result + i, block.kernel);
        }
        for (uint32_t i = 0; i < op.block_count; i++) {
            number_block(r, op.first_block + i);
        }
        at = op.next;
    }
}

/* Notes the names that the kernel's values have been given. */
static void note_names(resolving *r, const grout_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        set_used(r, grout_module_get_value(r->module, block->first_arg + i)->name, block->kernel);
    }
    for (grout_op_id at = block->first; at != 0;) {
        const grout_op *op = grout_module_get_op(r->module, at);
        for (uint32_t i = 0; i < op->result_count; i++) {
            set_used(r, grout_module_get_value(r->module, op->first_result + i)->name,
                     block->kernel);
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            note_names(r, grout_module_get_block(r->module, op->first_block + i));
        }
        at = op->next;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool bind_values(resolving *r, grout_value_id first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        grout_string_id name = grout_module_get_value(r->module, first + i)->name;
        if (name == 0) {
            continue;
        }
        if (grout_scope__is_in_block(&r->scope, name)) {
            return grout_builder__error(r->b, "two values of one block have the name '%%%s'",
                                        grout_module_get_string(r->module, name));
        }
        grout_scope__bind(&r->scope, name, first + i);
    }
    return true;
}

/* In the text, the name of a value must mean that value where it is used. */
static bool check_use(resolving *r, grout_value_id id) {
    const grout_value *value = grout_module_get_value(r->module, id);
    bool is_nested = value->name == 0 && value->kind == GROUT_VALUE_RESULT &&
                     grout_nesting__is_nested(&r->nesting, value->op);
    if (is_nested || (value->name != 0 && grout_scope__find(&r->scope, value->name) == id)) {
        return true;
    }
    return grout_builder__error(r->b,
                                "value '%%%s' is used where it is not visible: outside its "
                                "block or kernel, before it is built, or hidden by another "
                                "value of its name",
                                grout_module_get_string(r->module, value->name));
}

static bool check_ref(resolving *r, const grout_ref *ref) {
    bool ok = check_use(r, ref->base);
    for (uint32_t i = 0; ok && i < ref->step_count; i++) {
        const grout_ref_step *step = grout_module_get_ref_step(r->module, ref, i);
        for (uint32_t n = 0; ok && n < step->count; n++) {
            const grout_operand *start = &grout_module_get_index(r->module, step, n)->start;
            ok = start->kind != GROUT_OPERAND_VALUE || check_use(r, start->id);
        }
    }
    return ok;
}

static bool check_operands(resolving *r, const grout_op *op) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < op->operand_count; i++) {
        const grout_operand *operand = grout_module_get_operand(r->module, op, i);
        if (operand->kind == GROUT_OPERAND_VALUE) {
            ok = check_use(r, operand->id);
        } else if (operand->kind == GROUT_OPERAND_REF) {
            ok = check_ref(r, grout_module_get_ref(r->module, operand->id));
        }
    }
    return ok;
}

static bool check_block(resolving *r, grout_block_id id);

static bool check_scoped_block(resolving *r, grout_block_id id) {
    uint32_t mark = grout_scope__enter(&r->scope);
    bool ok = check_block(r, id);
    grout_scope__leave(&r->scope, mark);
    return ok;
}

/* Each body has a scope of its own; that of a while's second lies inside that of its first. */
static bool check_bodies(resolving *r, const grout_op *op) {
    bool ok = true;
    if (grout_op_get_region((grout_opcode)op->opcode)->blocks == 2) {
        uint32_t mark = grout_scope__enter(&r->scope);
        ok = check_block(r, op->first_block) && check_scoped_block(r, op->first_block + 1);
        grout_scope__leave(&r->scope, mark);
        return ok;
    }
    for (uint32_t i = 0; ok && i < op->block_count; i++) {
        ok = check_scoped_block(r, op->first_block + i);
    }
    return ok;
}

static bool check_block(resolving *r, grout_block_id id) {
    const grout_block *block = grout_module_get_block(r->module, id);
    bool ok = bind_values(r, block->first_arg, block->arg_count);
    for (grout_op_id at = block->first; ok && at != 0;) {
        const grout_op *op = grout_module_get_op(r->module, at);
        r->b->loc = op->loc;
        ok = check_operands(r, op);
        ok = ok && check_bodies(r, op);
        ok = ok && bind_values(r, op->first_result, op->result_count);
        at = op->next;
    }
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool resolve_kernel(resolving *r, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(r->module, id);
    r->next_number = 0;
    bool ok = true;
    note_names(r, grout_module_get_block(r->module, kernel->body));
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        set_used(
            r,
            grout_module_get_value(r->module, grout_module_get_param(r->module, kernel, i)->value)
                ->name,
            id);
    }
    uint32_t mark = grout_scope__enter(&r->scope);
    for (uint32_t i = 0; ok && i < kernel->param_count; i++) {
        grout_value_id value = grout_module_get_param(r->module, kernel, i)->value;
        number_value(r, value, id);
        ok = bind_values(r, value, 1);
    }
    number_block(r, kernel->body);
    ok = ok && check_block(r, kernel->body);
    grout_scope__leave(&r->scope, mark);
    return ok;
}

bool grout_builder__resolve(grout_builder *b) {
    resolving r = {.b = b, .module = b->module};
    bool ok = grout_nesting__init(&r.nesting, b->module);
    ok = grout_scope__init(&r.scope, b->module->allocator) && ok;
    ok = grout_table__init(&r.used, b->module->allocator, sizeof(uint32_t)) && ok;
    b->module->failed |= !ok;
    r.placeholder = grout_module__intern(b->module, "?", 1);
    for (grout_kernel_id i = 1; ok && i < b->module->kernels.count; i++) {
        ok = resolve_kernel(&r, i);
    }
    b->module->failed |= r.nesting.failed || r.scope.failed;
    grout_nesting__deinit(&r.nesting);
    grout_scope__deinit(&r.scope);
    grout_table__deinit(&r.used);
    return ok && !b->module->failed;
}
