/* build_region.c - objects, and the operations that have regions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include <string.h>

static grout_build_region *get_innermost(grout_builder *b) {
    return GROUT_TABLE_AT(b->regions, grout_build_region, b->regions.count - 1);
}

static const grout_region_info *get_region(const grout_builder *b, grout_op_id op) {
    return grout_op_get_region((grout_opcode)grout_module_get_op(b->module, op)->opcode);
}

/* ---- objects --------------------------------------------------------------------------------- */

static void copy_exprs(grout_expr_id *to, uint32_t count, const grout_expr_id *from) {
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

static bool has_transforms(const grout_build_object *from) {
    return from->tile_rank > 0 || from->infers_tile || from->swizzle != 0 ||
           from->transpose_rank > 0 || from->layout != NULL;
}

/* Barriers and semaphores: a number of them, and what only they have. */
static bool check_counted(grout_builder *b, const grout_build_object *from) {
    bool is_barrier = from->kind == GROUT_OBJECT_BARRIER;
    const char *what = is_barrier ? "barriers" : "semaphores";
    grout_space space = is_barrier ? GROUT_SPACE_SMEM : GROUT_SPACE_GMEM;
    if (has_transforms(from)) {
        return grout_builder__error(b, "%s have no tile, swizzle or transpose", what);
    }
    if (from->space != GROUT_SPACE_NONE && from->space != space) {
        return grout_builder__error(b, "%s lie in %s", what, grout_space_get_text(space));
    }
    if (from->is_packed || from->is_padded || from->is_scales || from->is_split_scales ||
        from->is_metadata || from->is_collective) {
        return grout_builder__error(b, "%s are not packed or collective, and no scales or metadata",
                                    what);
    }
    if (from->is_leader_tracked && !is_barrier) {
        return grout_builder__error(b, "only barriers are tracked by a leader");
    }
    bool is_plain =
        from->arrivals == 0 && from->cluster_group_count == 0 && !from->orders_tensor_core;
    return is_plain || (is_barrier && !from->is_explicit) ||
           grout_builder__error(
               b, "only a barrier that is not an mbarrier has arrivals, a cluster and "
                  "orders_tensor_core");
}

static grout_space get_array_space(const grout_build_object *from) {
    return from->space == GROUT_SPACE_NONE ? GROUT_SPACE_SMEM : from->space;
}

static bool check_array(grout_builder *b, const grout_build_object *from) {
    grout_space space = get_array_space(from);
    if (has_transforms(from) && space < GROUT_SPACE_COUNT && !grout_space_has_transforms(space)) {
        bool is_fragment = grout_space_is_fragment(space);
        return grout_builder__error(b, "%s%s have no tile, swizzle or transpose",
                                    is_fragment ? "accumulators" : "arrays in ",
                                    is_fragment ? "" : grout_space_get_text(space));
    }
    if (from->alias != 0 && space < GROUT_SPACE_COUNT && !grout_space_has_aliases(space)) {
        return grout_builder__error(b, "only arrays in smem and tmem have an alias");
    }
    if (from->dtype <= GROUT_DTYPE_NONE || from->dtype >= GROUT_DTYPE_COUNT ||
        from->arrivals != 0 || from->cluster_group_count > 0 || from->orders_tensor_core ||
        from->is_leader_tracked) {
        return grout_builder__error(b, "an array has an element type and no arrivals");
    }
    if (from->is_padded && !grout_space_has_transforms(space)) {
        return grout_builder__error(b, "only arrays in smem are padded");
    }
    const int words = from->is_packed + from->is_scales + from->is_split_scales + from->is_metadata;
    if ((words > 0 || from->is_collective) && !grout_space_needs_tensor_order(space)) {
        return grout_builder__error(
            b, "only arrays in tmem are packed, scales, split_scales, metadata or collective");
    }
    if (words > 1) {
        return grout_builder__error(b,
                                    "an array in tmem is packed, scales, split_scales or metadata");
    }
    if (from->infers_tile && from->tile_rank > 0) {
        return grout_builder__error(b, "an array has a tile, or one that is inferred");
    }
    return space < GROUT_SPACE_COUNT ||
           grout_builder__error(b, "there is no memory space %d", (int)from->space);
}

static bool check_object(grout_builder *b, const grout_build_object *from) {
    grout_operand alias = grout_value_operand(from->alias);
    if (!grout_builder__check_exprs(b, from->rank, from->dims) ||
        !grout_builder__check_exprs(b, from->tile_rank, from->tile) ||
        !grout_builder__check_exprs(b, from->transpose_rank, from->transpose) ||
        (from->swizzle != 0 && !grout_builder__check_expr(b, from->swizzle)) ||
        (from->alias != 0 && !grout_builder__check_operand(b, &alias)) ||
        (from->alias_start != 0 && !grout_builder__check_expr(b, from->alias_start)) ||
        (from->arrivals != 0 && !grout_builder__check_expr(b, from->arrivals))) {
        return false;
    }
    bool is_array = from->kind == GROUT_OBJECT_ARRAY;
    if (!(is_array ? check_array(b, from) : check_counted(b, from))) {
        return false;
    }
    return (from->kind == GROUT_OBJECT_BARRIER || !from->is_explicit) &&
                   (from->kind == GROUT_OBJECT_SEMAPHORE || !from->is_global)
               ? true
               : grout_builder__error(b, "only barriers are explicit, and only semaphores global");
}

/* The groups of axes of a cluster barrier: sets of cluster axes that share none. */
static bool add_groups(grout_builder *b, const grout_build_object *from, grout_object *to) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < from->cluster_group_count; i++) {
        uint32_t axes = from->cluster_groups[i];
        if (!grout_builder__check_axes(b, axes)) {
            return false;
        }
        if ((taken & axes) != 0) {
            return grout_builder__error(b, "a cluster axis stands in two groups of one barrier");
        }
        taken |= axes;
        grout_object__add_group(to, axes);
    }
    return true;
}

bool grout_builder__object(grout_builder *b, const grout_build_object *from, grout_object *to) {
    static const uint8_t spaces[] = {
        [GROUT_OBJECT_BARRIER] = GROUT_SPACE_SMEM, [GROUT_OBJECT_SEMAPHORE] = GROUT_SPACE_GMEM};
    if (!check_object(b, from)) {
        return false;
    }
    bool is_array = from->kind == GROUT_OBJECT_ARRAY;
    const grout_string_id layout =
        from->layout == NULL ? 0 : grout_builder__string(b, from->layout);
    if (from->layout != NULL && layout == 0) {
        return false;
    }
    if (from->alias != 0) {
        GROUT_TABLE_AT(b->module->values, grout_value, from->alias)->use_count++;
    }
    *to = (grout_object){.kind = (uint8_t)from->kind,
                         .space = is_array ? (uint8_t)get_array_space(from) : spaces[from->kind],
                         .loc = b->loc,
                         .infers_tile = from->infers_tile,
                         .tile_rank = (uint8_t)from->tile_rank,
                         .swizzle = from->swizzle,
                         .transpose_rank = (uint8_t)from->transpose_rank,
                         .layout = layout,
                         .alias = from->alias,
                         .alias_start = from->alias_start,
                         .arrivals = from->arrivals,
                         .is_explicit = from->is_explicit,
                         .orders_tensor_core = from->orders_tensor_core,
                         .is_packed = from->is_packed,
                         .is_padded = from->is_padded,
                         .is_scales = from->is_scales || from->is_split_scales,
                         .is_split = from->is_split_scales,
                         .is_metadata = from->is_metadata,
                         .is_collective = from->is_collective,
                         .is_leader_tracked = from->is_leader_tracked};
    to->is_global = from->is_global || (is_array && grout_space_is_of_launch(to->space));
    to->type.dtype = (uint8_t)(is_array ? from->dtype : GROUT_DTYPE_NONE);
    to->type.rank = (uint8_t)from->rank;
    to->type.is_array = true;
    copy_exprs(to->type.dims, from->rank, from->dims);
    copy_exprs(to->tile, from->tile_rank, from->tile);
    copy_exprs(to->transpose, from->transpose_rank, from->transpose);
    return add_groups(b, from, to);
}

grout_value_id grout_build_scratch(grout_builder *builder, const char *name,
                                   const grout_build_object *object) {
    grout_object made;
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder) ||
        !grout_builder__object(builder, object, &made)) {
        return 0;
    }
    grout_new_op new_op = {.opcode = GROUT_OP_SCRATCH};
    grout_op_id op = grout_builder__add_op(builder, &new_op, 1);
    if (op == 0) {
        return 0;
    }
    made.value = grout_module_get_op(builder->module, op)->first_result;
    (void)grout_module__add_object(builder->module, &made);
    return grout_builder__name_values(builder, made.value, 1, &name) ? made.value : 0;
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool check_depth(grout_builder *b) {
    return b->regions.count <= GROUT_NESTING_MAX - 1 ||
           grout_builder__error(b, "blocks nest deeper than %d", GROUT_NESTING_MAX);
}

/* Appends an operation with regions and goes into its first. */
static grout_op_id begin_region(grout_builder *b, grout_new_op *new_op) {
    grout_op_id id = check_depth(b) ? grout_builder__add_op(b, new_op, 0) : 0;
    if (id == 0) {
        return 0;
    }
    grout_block_id first = grout_module_get_op(b->module, id)->first_block;
    for (uint32_t i = 0; i < new_op->block_count; i++) {
        grout_block *block = GROUT_TABLE_AT(b->module->blocks, grout_block, first + i);
        block->loc = b->loc;
        block->end_loc = b->loc;
    }
    grout_build_region region = {id, first};
    b->module->failed |= grout_table__push(&b->regions, &region) == 0;
    b->block = first;
    return b->module->failed ? 0 : id;
}

/* Operands of a loop: bounds, or the first values of carries. */
static bool add_loop_operands(grout_builder *b, uint32_t count, const grout_operand *from,
                              grout_table *operands) {
    for (uint32_t i = 0; i < count; i++) {
        grout_operand operand = from[i];
        if (!grout_builder__check_operand(b, &operand)) {
            return false;
        }
        if (operand.kind == GROUT_OPERAND_REF) {
            return grout_builder__error(b,
                                        "a bound or carried value is a reference; load it first");
        }
        b->module->failed |= grout_table__push(operands, &operand) == 0;
    }
    return !b->module->failed;
}

/* What a loop is made from; a while has no bounds. */
typedef struct loop_parts {
    grout_opcode opcode;
    uint32_t bound_count, carry_count;
    const grout_operand *bounds, *carry_inits;
} loop_parts;

/* Appends a loop and goes into its first body, which has no arguments yet. */
static bool begin_loop(grout_builder *b, const loop_parts *parts) {
    grout_table operands;
    if (!grout_table__init(&operands, b->module->allocator, sizeof(grout_operand))) {
        b->module->failed = true;
        return false;
    }
    grout_op_id id = 0;
    if (add_loop_operands(b, parts->bound_count, parts->bounds, &operands) &&
        add_loop_operands(b, parts->carry_count, parts->carry_inits, &operands)) {
        grout_new_op new_op = {.opcode = parts->opcode,
                               .operands = GROUT_TABLE_AT(operands, grout_operand, 1),
                               .operand_count = operands.count - 1,
                               .block_count = grout_op_get_region(parts->opcode)->blocks};
        id = begin_region(b, &new_op);
    }
    grout_table__deinit(&operands);
    return id != 0;
}

/* NOLINTNEXTLINE(readability-function-size): eight parameters by contract */
grout_value_id grout_build_for(grout_builder *builder, const char *index_name, grout_operand low,
                               grout_operand high, grout_operand step, uint32_t carry_count,
                               const char *const *carry_names, const grout_operand *carry_inits) {
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder)) {
        return 0;
    }
    if (step.kind == GROUT_OPERAND_NONE) {
        step = grout_expr_operand(grout_build_int(builder, 1));
    }
    if (step.kind != GROUT_OPERAND_EXPR) {
        (void)grout_builder__error(builder, "the step of a loop is a constant expression");
        return 0;
    }
    grout_operand bounds[] = {low, high, step};
    loop_parts parts = {GROUT_OP_FOR, 3, carry_count, bounds, carry_inits};
    if (!begin_loop(builder, &parts)) {
        return 0;
    }
    grout_value_id first = grout_module__add_block_args(builder->module, builder->block,
                                                        GROUT_VALUE_BLOCK_ARG, carry_count + 1);
    if (first == 0 || !grout_builder__name_values(builder, first, 1, &index_name) ||
        !grout_builder__name_values(builder, first + 1, carry_count, carry_names)) {
        return 0;
    }
    return first;
}

void grout_build_unroll(grout_builder *builder, grout_expr_id copies) {
    if (!grout_builder__is_ok(builder) || !grout_builder__check_expr(builder, copies)) {
        return;
    }
    grout_module *module = builder->module;
    grout_op *op = GROUT_TABLE_AT(module->ops, grout_op,
                                  builder->regions.count > 1 ? get_innermost(builder)->op : 0);
    if ((grout_op_get_info((grout_opcode)op->opcode)->attrs & GROUT_ATTR_BIT(UNROLL)) == 0 ||
        op->attr_count > 0) {
        (void)grout_builder__error(builder, "'unroll' is for a loop, once");
        return;
    }
    const grout_attr_value attr = {.attr = GROUT_ATTR_UNROLL, .expr = copies, .loc = builder->loc};
    op->first_attr = grout_table__push(&module->attrs, &attr);
    op->attr_count = 1;
    module->failed |= op->first_attr == 0;
}

grout_value_id grout_build_carry(grout_builder *builder, uint32_t index) {
    if (!grout_builder__is_ok(builder)) {
        return 0;
    }
    const grout_op *op = grout_module_get_op(builder->module, 0);
    for (uint32_t i = builder->regions.count;
         i-- > 1 && grout_op_get_region_kind(op) != GROUT_REGION_LOOP;) {
        const grout_build_region *region = GROUT_TABLE_AT(builder->regions, grout_build_region, i);
        op = grout_module_get_op(builder->module, region->op);
    }
    if (grout_op_get_region_kind(op) == GROUT_REGION_LOOP) {
        const grout_block *block = grout_module_get_block(builder->module, op->first_block);
        uint32_t first = grout_op_get_region((grout_opcode)op->opcode)->lead_args;
        if (index < block->arg_count - first) {
            return block->first_arg + first + index;
        }
    }
    (void)grout_builder__error(builder, "the loop has no carried value %u", (unsigned)index);
    return 0;
}

void grout_build_while(grout_builder *builder, uint32_t carry_count, const char *const *carry_names,
                       const grout_operand *carry_inits) {
    loop_parts parts = {GROUT_OP_WHILE, 0, carry_count, NULL, carry_inits};
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder) ||
        !begin_loop(builder, &parts) || carry_count == 0) {
        return;
    }
    grout_value_id first = grout_module__add_block_args(builder->module, builder->block,
                                                        GROUT_VALUE_BLOCK_ARG, carry_count);
    if (first != 0) {
        (void)grout_builder__name_values(builder, first, carry_count, carry_names);
    }
}

static bool check_condition(grout_builder *b, grout_operand *condition) {
    if (!grout_builder__check_operand(b, condition)) {
        return false;
    }
    return condition->kind != GROUT_OPERAND_REF ||
           grout_builder__error(b, "a condition is a reference; load it first");
}

/* The second body lies in the scope of the first: to the stack of regions it is one more. */
void grout_build_do(grout_builder *builder, grout_operand condition) {
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    grout_build_region region = *get_innermost(builder);
    grout_block_id first = grout_module_get_op(builder->module, region.op)->first_block;
    if (get_region(builder, region.op)->blocks != 2 || region.block != first) {
        (void)grout_builder__error(builder, "'do' without a 'while' in front of it");
        return;
    }
    grout_new_op new_op = {.opcode = GROUT_OP_COND, .operands = &condition, .operand_count = 1};
    if (!check_condition(builder, &condition) || !check_depth(builder) ||
        grout_builder__add_op(builder, &new_op, 0) == 0) {
        return;
    }
    region.block = first + 1;
    builder->module->failed |= grout_table__push(&builder->regions, &region) == 0;
    builder->block = region.block;
}

void grout_build_if(grout_builder *builder, grout_operand condition) {
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder) ||
        !check_condition(builder, &condition)) {
        return;
    }
    grout_new_op new_op = {
        .opcode = GROUT_OP_IF, .operands = &condition, .operand_count = 1, .block_count = 2};
    grout_op_id id = begin_region(builder, &new_op);
    GROUT_TABLE_AT(builder->module->ops, grout_op, id)->block_count = id != 0 ? 1 : 0;
}

/* Closes the body that is open with a yield, unless it yields nothing. */
static void add_yield(grout_builder *b, uint32_t count, const grout_operand *yields) {
    if (count > 0) {
        grout_build_op_args args = {.operands = yields, .operand_count = count};
        (void)grout_build_op(b, GROUT_OP_YIELD, &args);
    }
}

void grout_build_else(grout_builder *builder, uint32_t yield_count, const grout_operand *yields) {
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    grout_op_id id = get_innermost(builder)->op;
    if (get_region(builder, id)->kind != GROUT_REGION_BRANCH ||
        grout_module_get_op(builder->module, id)->block_count != 1) {
        (void)grout_builder__error(builder, "'else' without an 'if' in front of it");
        return;
    }
    add_yield(builder, yield_count, yields);
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    grout_build_region *region = get_innermost(builder);
    grout_op *op = GROUT_TABLE_AT(builder->module->ops, grout_op, id);
    op->block_count = 2;
    region->block = op->first_block + 1;
    builder->block = region->block;
}

void grout_build_scoped(grout_builder *builder, bool collective, uint32_t object_count,
                        const char *const *names, const grout_build_object *objects,
                        grout_value_id *values_out) {
    for (uint32_t i = 0; i < object_count; i++) {
        values_out[i] = 0;
    }
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder)) {
        return;
    }
    if (object_count == 0) {
        (void)grout_builder__error(builder, "a scope without objects");
        return;
    }
    grout_attr_value attr = {.attr = GROUT_ATTR_COLLECTIVE, .loc = builder->loc};
    grout_new_op new_op = {.opcode = GROUT_OP_SCOPED,
                           .attrs = &attr,
                           .attr_count = collective ? 1 : 0,
                           .block_count = 1};
    grout_value_id first = 0;
    if (begin_region(builder, &new_op) != 0) {
        first = grout_module__add_block_args(builder->module, builder->block, GROUT_VALUE_OBJECT,
                                             object_count);
    }
    for (uint32_t i = 0; first != 0 && i < object_count; i++) {
        grout_object object;
        if (!grout_builder__object(builder, &objects[i], &object)) {
            return;
        }
        object.value = first + i;
        (void)grout_module__add_object(builder->module, &object);
        values_out[i] = first + i;
    }
    if (first != 0) {
        (void)grout_builder__name_values(builder, first, object_count, names);
    }
}

grout_value_id grout_build_warp_map(grout_builder *builder, const char *index_name) {
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder)) {
        return 0;
    }
    grout_new_op new_op = {.opcode = GROUT_OP_WARP_MAP, .block_count = 1};
    if (begin_region(builder, &new_op) == 0) {
        return 0;
    }
    grout_value_id index =
        grout_module__add_block_args(builder->module, builder->block, GROUT_VALUE_BLOCK_ARG, 1);
    return index != 0 && grout_builder__name_values(builder, index, 1, &index_name) ? index : 0;
}

/* All blocks that there may be are made at once: those of an operation are consecutive. */
void grout_build_warp_specialize(grout_builder *builder) {
    if (!grout_builder__is_ok(builder) || !grout_builder__is_in_kernel(builder)) {
        return;
    }
    grout_new_op new_op = {.opcode = GROUT_OP_WARP_SPECIALIZE, .block_count = GROUT_THREADS_MAX};
    grout_op_id id = begin_region(builder, &new_op);
    GROUT_TABLE_AT(builder->module->ops, grout_op, id)->block_count = id != 0 ? 1 : 0;
}

/* Whether the region that is open is a partition, which yields nothing; reported if it does. */
static bool check_partition_yields(grout_builder *b, uint32_t yield_count) {
    const grout_build_region *region = get_innermost(b);
    const grout_op *op = grout_module_get_op(b->module, region->op);
    return grout_op_get_region_kind(op) != GROUT_REGION_PARTITIONS ||
           region->block == op->first_block || yield_count == 0 ||
           grout_builder__error(b, "the results of a warp_specialize are those of its first body");
}

void grout_build_partition(grout_builder *builder, uint32_t yield_count,
                           const grout_operand *yields) {
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    grout_op_id id = get_innermost(builder)->op;
    if (get_region(builder, id)->kind != GROUT_REGION_PARTITIONS) {
        (void)grout_builder__error(builder, "a partition outside of 'warp_specialize'");
        return;
    }
    if (grout_module_get_op(builder->module, id)->block_count == GROUT_THREADS_MAX) {
        (void)grout_builder__error(builder, "more than %d bodies of a warp_specialize",
                                   GROUT_THREADS_MAX);
        return;
    }
    if (!check_partition_yields(builder, yield_count)) {
        return;
    }
    add_yield(builder, yield_count, yields);
    if (!grout_builder__is_ok(builder)) {
        return;
    }
    grout_build_region *region = get_innermost(builder);
    grout_op *op = GROUT_TABLE_AT(builder->module->ops, grout_op, id);
    region->block = op->first_block + op->block_count++;
    builder->block = region->block;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* How many values the region's body yields, all its blocks alike; false after a report. */
static bool count_yields(grout_builder *b, grout_op_id id, uint32_t *count_out) {
    const grout_op *op = grout_module_get_op(b->module, id);
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    uint32_t first = region->yields == GROUT_YIELDS_LAST ? op->block_count - 1 : 0;
    uint32_t end = region->yields == GROUT_YIELDS_FIRST ? 1 : op->block_count;
    for (uint32_t i = first; i < end; i++) {
        const grout_op *yield = grout_block_find_yield(b->module, op->first_block + i);
        uint32_t count = yield == NULL ? 0 : yield->operand_count;
        if (i > first && count != *count_out) {
            return grout_builder__error(b, "the two bodies of an 'if' yield %u and %u values",
                                        (unsigned)*count_out, (unsigned)count);
        }
        *count_out = count;
    }
    if (region->yields == GROUT_YIELDS_NONE && *count_out > 0) {
        return grout_builder__error(b, "a warp_map has no results");
    }
    uint32_t carries =
        region->kind == GROUT_REGION_LOOP ? op->operand_count - region->lead_operands : *count_out;
    return *count_out == carries ||
           grout_builder__error(b, "a loop with %u carried values yields %u", (unsigned)carries,
                                (unsigned)*count_out);
}

grout_value_id grout_build_end(grout_builder *builder, uint32_t yield_count,
                               const grout_operand *yields) {
    if (!grout_builder__is_ok(builder)) {
        return 0;
    }
    if (builder->regions.count <= 1) {
        (void)grout_builder__error(builder, "there is no region to end");
        return 0;
    }
    grout_build_region region = *get_innermost(builder);
    grout_op_id id = region.op;
    bool is_while = get_region(builder, id)->blocks == 2;
    if (is_while && region.block == grout_module_get_op(builder->module, id)->first_block) {
        (void)grout_builder__error(builder, "a 'while' ends without 'do'");
        return 0;
    }
    if (!check_partition_yields(builder, yield_count)) {
        return 0;
    }
    add_yield(builder, yield_count, yields);
    uint32_t result_count = 0;
    if (!grout_builder__is_ok(builder) || !count_yields(builder, id, &result_count)) {
        return 0;
    }
    builder->regions.count -= is_while ? 2 : 1;
    builder->block = grout_module_get_op(builder->module, id)->parent;
    return result_count == 0 ? 0 : grout_module__add_results(builder->module, id, result_count);
}
