/* accessors.c - reading a module.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "diag_list.h"

#include <string.h>

uint32_t grout_module_get_kernel_count(const grout_module *module) {
    return module->kernels.count;
}

uint32_t grout_module_get_const_count(const grout_module *module) {
    return module->consts.count;
}

uint32_t grout_module_get_require_count(const grout_module *module) {
    return module->requires_.count;
}

uint32_t grout_module_get_op_count(const grout_module *module) {
    return module->ops.count;
}

uint32_t grout_module_get_value_count(const grout_module *module) {
    return module->values.count;
}

uint32_t grout_module_get_object_count(const grout_module *module) {
    return module->objects.count;
}

uint32_t grout_module_get_block_count(const grout_module *module) {
    return module->blocks.count;
}

uint32_t grout_module_get_expr_count(const grout_module *module) {
    return module->exprs.count;
}

const grout_kernel *grout_module_get_kernel(const grout_module *module, grout_kernel_id id) {
    GROUT_ASSERT(id < module->kernels.count);
    return GROUT_TABLE_AT(module->kernels, grout_kernel, id);
}

const grout_param *grout_module_get_param(const grout_module *module, const grout_kernel *kernel,
                                          uint32_t index) {
    GROUT_ASSERT(index < kernel->param_count);
    return GROUT_TABLE_AT(module->params, grout_param, kernel->first_param + index);
}

grout_init_id grout_param_get_written_init(const grout_module *module, const grout_kernel *kernel,
                                           uint32_t index) {
    const grout_module *written = module->base != NULL ? module->base : module;
    return grout_module_get_param(written, kernel, index)->init;
}

const grout_const *grout_module_get_const(const grout_module *module, grout_const_id id) {
    GROUT_ASSERT(id < module->consts.count);
    return GROUT_TABLE_AT(module->consts, grout_const, id);
}

const grout_require *grout_module_get_require(const grout_module *module, uint32_t id) {
    GROUT_ASSERT(id < module->requires_.count);
    return GROUT_TABLE_AT(module->requires_, grout_require, id);
}

const grout_op *grout_module_get_op(const grout_module *module, grout_op_id id) {
    GROUT_ASSERT(id < module->ops.count);
    return GROUT_TABLE_AT(module->ops, grout_op, id);
}

const grout_operand *grout_module_get_operand(const grout_module *module, const grout_op *op,
                                              uint32_t index) {
    GROUT_ASSERT(index < op->operand_count);
    return GROUT_TABLE_AT(module->operands, grout_operand, op->first_operand + index);
}

grout_region_kind grout_op_get_region_kind(const grout_op *op) {
    return (grout_region_kind)grout_op_get_region((grout_opcode)op->opcode)->kind;
}

const grout_op *grout_op_find_around(const grout_module *module, const grout_op *op,
                                     grout_region_kind kind, grout_block_id *block_out) {
    grout_block_id block = op->parent;
    for (;;) {
        grout_op_id id = grout_module_get_block(module, block)->parent;
        GROUT_ASSERT(id != 0 || grout_module_get_block(module, block)->kernel != 0);
        if (id == 0) {
            return NULL;
        }
        const grout_op *around = grout_module_get_op(module, id);
        if (grout_op_get_region_kind(around) == kind) {
            if (block_out != NULL) {
                *block_out = block;
            }
            return around;
        }
        block = around->parent;
    }
}

const grout_op *grout_block_find_yield(const grout_module *module, grout_block_id block) {
    grout_op_id last = grout_module_get_block(module, block)->last;
    const grout_op *op = last == 0 ? NULL : grout_module_get_op(module, last);
    bool is_yield =
        op != NULL && grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_YIELD;
    return is_yield ? op : NULL;
}

uint32_t grout_op_get_made_objects(const grout_module *module, const grout_op *op,
                                   grout_value_id *first_out) {
    grout_opcode opcode = (grout_opcode)op->opcode;
    grout_shape shape = (grout_shape)grout_op_get_info(opcode)->shape;
    if (shape == GROUT_SHAPE_SCRATCH) {
        *first_out = op->first_result;
        return op->result_count;
    }
    if (shape == GROUT_SHAPE_REGION && grout_op_get_region(opcode)->kind == GROUT_REGION_SCOPE) {
        const grout_block *body = grout_module_get_block(module, op->first_block);
        *first_out = body->first_arg;
        return body->arg_count;
    }
    *first_out = 0;
    return 0;
}

const grout_attr_value *grout_module_find_attr(const grout_module *module, const grout_op *op,
                                               grout_attr attr) {
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const grout_attr_value *value =
            GROUT_TABLE_AT(module->attrs, grout_attr_value, op->first_attr + i);
        if (value->attr == attr) {
            return value;
        }
    }
    return NULL;
}

uint64_t grout_op_get_attr_bits(const grout_module *module, const grout_op *op) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < op->attr_count; i++) {
        bits |= UINT64_C(1)
                << GROUT_TABLE_AT(module->attrs, grout_attr_value, op->first_attr + i)->attr;
    }
    return bits;
}

const grout_value *grout_module_get_value(const grout_module *module, grout_value_id id) {
    GROUT_ASSERT(id < module->values.count);
    return GROUT_TABLE_AT(module->values, grout_value, id);
}

const grout_block *grout_module_get_block(const grout_module *module, grout_block_id id) {
    GROUT_ASSERT(id < module->blocks.count);
    return GROUT_TABLE_AT(module->blocks, grout_block, id);
}

const grout_object *grout_module_get_object(const grout_module *module, grout_object_id id) {
    GROUT_ASSERT(id < module->objects.count);
    return GROUT_TABLE_AT(module->objects, grout_object, id);
}

const grout_init *grout_module_get_init(const grout_module *module, grout_init_id id) {
    GROUT_ASSERT(id < module->inits.count);
    return GROUT_TABLE_AT(module->inits, grout_init, id);
}

grout_expr_id grout_module_get_init_argument(const grout_module *module, const grout_init *init,
                                             uint32_t index) {
    GROUT_ASSERT(index < init->count);
    return *GROUT_TABLE_AT(module->init_arguments, grout_expr_id, init->first + index);
}

const grout_ref *grout_module_get_ref(const grout_module *module, grout_ref_id id) {
    GROUT_ASSERT(id < module->refs.count);
    return GROUT_TABLE_AT(module->refs, grout_ref, id);
}

const grout_ref_step *grout_module_get_ref_step(const grout_module *module, const grout_ref *ref,
                                                uint32_t index) {
    GROUT_ASSERT(index < ref->step_count);
    return GROUT_TABLE_AT(module->ref_steps, grout_ref_step, ref->first_step + index);
}

const grout_index *grout_module_get_index(const grout_module *module, const grout_ref_step *step,
                                          uint32_t index) {
    GROUT_ASSERT(index < step->count);
    return GROUT_TABLE_AT(module->indices, grout_index, step->first + index);
}

const grout_ref_step *grout_module_get_box(const grout_module *module, const grout_op *op) {
    return op->box == 0 ? NULL : GROUT_TABLE_AT(module->ref_steps, grout_ref_step, op->box);
}

const grout_expr *grout_module_get_expr(const grout_module *module, grout_expr_id id) {
    GROUT_ASSERT(id < module->exprs.count);
    return GROUT_TABLE_AT(module->exprs, grout_expr, id);
}

const grout_written_type *grout_module_get_written_type(const grout_module *module,
                                                        const grout_op *op) {
    return op->written_type == 0
               ? NULL
               : GROUT_TABLE_AT(module->types, grout_written_type, op->written_type);
}

const grout_trivia *grout_module_get_trivia(const grout_module *module, grout_trivia_id id) {
    GROUT_ASSERT(id < module->trivia.count);
    return GROUT_TABLE_AT(module->trivia, grout_trivia, id);
}

const grout_loc *grout_module_get_loc(const grout_module *module, grout_loc_id id) {
    GROUT_ASSERT(id < module->locs.count);
    return GROUT_TABLE_AT(module->locs, grout_loc, id);
}

grout_place grout_module_get_place(const grout_module *module, grout_loc_id id) {
    if (id == 0) {
        return (grout_place){0};
    }
    const grout_loc *loc = grout_module_get_loc(module, id);
    return (grout_place){grout_module_get_string(module, loc->file), loc->line, loc->column,
                         loc->length};
}

grout_const_id grout_param_get_dim_const(const grout_module *module, const grout_param *param,
                                         uint32_t dim) {
    const grout_object *object = grout_module_get_object(module, param->object);
    if (param->object == 0 || dim >= object->type.rank) {
        return 0;
    }
    const grout_expr *expr = grout_module_get_expr(module, object->type.dims[dim]);
    return expr->kind == GROUT_EXPR_NAME ? expr->constant : 0;
}

grout_shared_text *grout_module_get_text(const grout_module *module) {
    return module->sources.count == 2 ? GROUT_TABLE_AT(module->sources, grout_source, 1)->text
                                      : NULL;
}

bool grout_module_add_sources(const grout_module *module, grout_diags *diags) {
    bool ok = true;
    for (uint32_t i = 1; i < module->sources.count; i++) {
        const grout_source *source = GROUT_TABLE_AT(module->sources, grout_source, i);
        ok = grout_diags__add_shared_source(diags, grout_module_get_string(module, source->file),
                                            source->text) &&
             ok;
    }
    return ok;
}
