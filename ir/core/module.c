/* module.c - a module's life and what it is made of: tables, operations, objects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "alloc.h"

#include <stdatomic.h>
#include <string.h>

/* The tables that binding changes or adds to, with the type of their items. */
#define FOR_EACH_BOUND_TABLE(DO) \
    DO(exprs, grout_expr)        \
    DO(consts, grout_const)      \
    DO(operands, grout_operand)  \
    DO(indices, grout_index)     \
    DO(objects, grout_object)    \
    DO(params, grout_param)      \
    DO(ref_steps, grout_ref_step)

/* The others, which a bound module has in common with the symbolic one. */
#define FOR_EACH_LASTING_TABLE(DO)              \
    DO(strings, uint32_t)                       \
    DO(locs, grout_loc)                         \
    DO(requires_, grout_require)                \
    DO(kernels, grout_kernel)                   \
    DO(launches, grout_launch_line)             \
    DO(launch_arguments, grout_launch_argument) \
    DO(check_lines, grout_check_line)           \
    DO(ops, grout_op)                           \
    DO(attrs, grout_attr_value)                 \
    DO(values, grout_value)                     \
    DO(blocks, grout_block)                     \
    DO(inits, grout_init)                       \
    DO(init_arguments, grout_expr_id)           \
    DO(refs, grout_ref)                         \
    DO(types, grout_written_type)               \
    DO(trivia, grout_trivia)                    \
    DO(sources, grout_source)                   \
    DO(kernel_openings, grout_opening)          \
    DO(shared_openings, grout_opening)          \
    DO(items, grout_item)

#define FOR_EACH_TABLE(DO)   \
    FOR_EACH_BOUND_TABLE(DO) \
    FOR_EACH_LASTING_TABLE(DO)

enum { FIRST_INDEX_SIZE = 256, FIRST_STRING_CAPACITY = 1024 };

grout_module *grout_module__new(const grout_allocator *allocator) {
    grout_module *module = grout__new(allocator, 1, sizeof *module);
    if (module == NULL) {
        return NULL;
    }
    module->allocator = allocator;
    atomic_init(&module->owner_count, 1);
    module->named.allocator = allocator;
    bool ok = true;
#define INIT(table, type) ok = grout_table__init(&module->table, allocator, sizeof(type)) && ok;
    FOR_EACH_TABLE(INIT)
#undef INIT
    ok = GROUT_ARRAY_RESERVE(&module->string_bytes, allocator, FIRST_STRING_CAPACITY) && ok;
    module->string_index = grout__new(allocator, FIRST_INDEX_SIZE, sizeof *module->string_index);
    if (!ok || module->string_index == NULL) {
        grout_module_free(module);
        return NULL;
    }
    module->string_index_size = FIRST_INDEX_SIZE;
    /* String 0 is the empty one, at offset 0. */
    module->string_bytes.items[0] = '\0';
    module->string_bytes.count = 1;
    return module;
}

static void free_bound(grout_bound *bound) {
    if (bound == NULL) {
        return;
    }
    grout__free(bound->expr_values);
    grout__free(bound->value_types);
    grout__free(bound->object_types);
    grout__free(bound->object_layouts);
    grout__free(bound->object_tiles);
    grout__free(bound->object_tilings);
    grout__free(bound->object_offsets);
    grout__free(bound->object_arrivals);
    grout__free(bound->expr_dtypes);
    grout__free(bound->kernel_bytes);
    grout__free(bound->auto_fences);
    grout__free(bound->kernels);
    grout__free(bound);
}

static void free_lasting(grout_module *module) {
    for (uint32_t i = 1; i < module->sources.count; i++) {
        grout_shared_text__drop(GROUT_TABLE_AT(module->sources, grout_source, i)->text);
    }
#define DEINIT(table, type) grout_table__deinit(&module->table);
    FOR_EACH_LASTING_TABLE(DEINIT)
    grout__free(module->string_bytes.items);
    grout__free(module->string_index);
    grout_lookup__deinit(&module->named);
}

void grout_module_free(grout_module *module) {
    if (module == NULL || atomic_fetch_sub(&module->owner_count, 1) > 1) {
        return; /* bound modules still have its tables */
    }
    free_bound(module->bound);
    FOR_EACH_BOUND_TABLE(DEINIT)
#undef DEINIT
    if (module->base == NULL) {
        free_lasting(module);
    } else {
        grout_module_free(module->base);
    }
    grout__free(module);
}

const grout_allocator *grout_module_get_allocator(const grout_module *module) {
    return module->allocator;
}

/* Replaces to, whatever it holds, by a copy of from; false (and an empty table) without memory. */
static bool clone_table(const grout_allocator *allocator, grout_table *to,
                        const grout_table *from) {
    size_t size = (size_t)from->count * from->item_size;
    *to = (grout_table){.item_size = from->item_size};
    to->items = grout__resize(allocator, NULL, size);
    if (to->items == NULL) {
        return false;
    }
    memcpy(to->items, from->items, size);
    to->count = from->count;
    to->capacity = from->count;
    return true;
}

static bool clone_strings(grout_module *to, const grout_module *from) {
    size_t index_size = from->string_index_size * sizeof *from->string_index;
    to->string_index = grout__resize(to->allocator, NULL, index_size);
    if (!GROUT_ARRAY_RESERVE(&to->string_bytes, to->allocator, from->string_bytes.count) ||
        to->string_index == NULL) {
        return false;
    }
    memcpy(to->string_bytes.items, from->string_bytes.items, from->string_bytes.count);
    memcpy(to->string_index, from->string_index, index_size);
    to->string_bytes.count = from->string_bytes.count;
    to->string_index_size = from->string_index_size;
    return true;
}

/* The table of sources has been copied and points to the texts of the other module. */
static bool share_source_texts(grout_module *to) {
    bool ok = true;
    for (uint32_t i = 1; i < to->sources.count; i++) {
        grout_source *source = GROUT_TABLE_AT(to->sources, grout_source, i);
        source->text = grout_shared_text__share(to->allocator, source->text);
        ok = ok && source->text != NULL;
    }
    return ok;
}

#define CLONE(table, type) ok = clone_table(copy->allocator, &copy->table, &module->table) && ok;

static void copy_header(grout_module *to, const grout_module *from) {
    to->end_trivia = from->end_trivia;
    to->header_trivia = from->header_trivia;
    to->has_header = from->has_header;
    to->surface = from->surface;
}

grout_module *grout_module__clone(const grout_module *module) {
    grout_module *copy = grout__new(module->allocator, 1, sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    copy->allocator = module->allocator;
    atomic_init(&copy->owner_count, 1);
    bool ok = clone_strings(copy, module) && grout_lookup__clone(&copy->named, &module->named);
    FOR_EACH_TABLE(CLONE)
    ok = share_source_texts(copy) && ok;
    copy_header(copy, module);
    if (!ok) {
        grout_module_free(copy);
        return NULL;
    }
    return copy;
}

/* The tables, the strings and their index as the other module has them. */
static void borrow_lasting(grout_module *to, const grout_module *from) {
#define BORROW(table, type) to->table = from->table;
    FOR_EACH_LASTING_TABLE(BORROW)
#undef BORROW
    to->string_bytes.items = from->string_bytes.items;
    to->string_bytes.count = to->string_bytes.capacity = from->string_bytes.count;
    to->string_index = from->string_index;
    to->string_index_size = from->string_index_size;
    to->named = from->named;
}

grout_module *grout_module__begin_bound(grout_module *module, const grout_allocator *allocator) {
    grout_module *copy = grout__new(allocator, 1, sizeof *copy);
    bool ok = true;
    if (copy == NULL) {
        return NULL;
    }
    copy->allocator = allocator;
    atomic_init(&copy->owner_count, 1);
    (void)atomic_fetch_add(&module->owner_count, 1);
    copy->base = module;
    borrow_lasting(copy, module);
    FOR_EACH_BOUND_TABLE(CLONE)
#undef CLONE
    copy_header(copy, module);
    if (!ok) {
        grout_module_free(copy);
        return NULL;
    }
    return copy;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Notes a failure to grow. */
static uint32_t check(grout_module *module, uint32_t id) {
    GROUT_ASSERT(module->bound == NULL); /* what binding added is parallel to the tables */
    module->failed |= id == 0;
    return id;
}

grout_loc_id grout_module__add_loc(grout_module *module, const grout_loc *loc) {
    return check(module, grout_table__push(&module->locs, loc));
}

grout_expr_id grout_module__add_expr(grout_module *module, const grout_expr *expr) {
    return check(module, grout_table__push(&module->exprs, expr));
}

bool grout_module__add_init_argument(grout_module *module, grout_expr_id argument) {
    return check(module, grout_table__push(&module->init_arguments, &argument)) != 0;
}

grout_init_id grout_module__add_init(grout_module *module, const grout_init *init) {
    GROUT_ASSERT(init->first + init->count <= module->init_arguments.count || module->failed);
    return check(module, grout_table__push(&module->inits, init));
}

void grout_module__add_item(grout_module *module, grout_item_kind kind, uint32_t id) {
    grout_item item = {kind, id};
    (void)check(module, grout_table__push(&module->items, &item));
}

grout_object_id grout_module__add_object(grout_module *module, const grout_object *object) {
    GROUT_ASSERT(object->value < module->values.count);
    grout_object_id id = check(module, grout_table__push(&module->objects, object));
    GROUT_TABLE_AT(module->values, grout_value, object->value)->object = id;
    return id;
}

/* Groups share no axis, so their lowest axes tell them apart. */
void grout_object__add_group(grout_object *object, uint32_t axes) {
    GROUT_ASSERT(axes != 0 && object->cluster_group_count < GROUT_AXES_MAX);
    uint32_t at = object->cluster_group_count++;
    while (at > 0 && __builtin_ctz(object->cluster_groups[at - 1]) > __builtin_ctz(axes)) {
        object->cluster_groups[at] = object->cluster_groups[at - 1];
        at--;
    }
    object->cluster_groups[at] = (uint8_t)axes;
}

static void count_use(grout_module *module, const grout_operand *operand) {
    if (operand->kind == GROUT_OPERAND_VALUE) {
        GROUT_TABLE_AT(module->values, grout_value, operand->id)->use_count++;
    }
}

void grout_module__count_uses(grout_module *module, const grout_operand *operand) {
    count_use(module, operand);
    if (operand->kind != GROUT_OPERAND_REF) {
        return;
    }
    const grout_ref *ref = GROUT_TABLE_AT(module->refs, grout_ref, operand->id);
    GROUT_TABLE_AT(module->values, grout_value, ref->base)->use_count++;
    for (uint32_t i = 0; i < ref->step_count; i++) {
        const grout_ref_step *step = grout_module_get_ref_step(module, ref, i);
        for (uint32_t n = 0; n < step->count; n++) {
            count_use(module, &grout_module_get_index(module, step, n)->start);
        }
    }
}

/* Makes the empty blocks of an operation. */
static void add_blocks(grout_module *module, grout_op_id id, uint32_t count) {
    if (count == 0) {
        return;
    }
    grout_op *op = GROUT_TABLE_AT(module->ops, grout_op, id);
    grout_block_id first = check(module, grout_table__add(&module->blocks, count));
    if (first == 0) {
        return;
    }
    op->first_block = first;
    op->block_count = count;
    for (uint32_t i = 0; i < count; i++) {
        grout_block *block = GROUT_TABLE_AT(module->blocks, grout_block, first + i);
        block->parent = id;
        block->kernel = GROUT_TABLE_AT(module->blocks, grout_block, op->parent)->kernel;
    }
}

static void link_op(grout_module *module, grout_op_id id, grout_block_id parent) {
    GROUT_ASSERT(parent > 0 && parent < module->blocks.count && id + 1 == module->ops.count);
    grout_block *block = GROUT_TABLE_AT(module->blocks, grout_block, parent);
    GROUT_ASSERT((block->first == 0) == (block->last == 0));
    if (block->last != 0) {
        GROUT_TABLE_AT(module->ops, grout_op, block->last)->next = id;
    } else {
        block->first = id;
    }
    block->last = id;
}

grout_op_id grout_module__add_op(grout_module *module, const grout_new_op *new_op) {
    grout_op op = {.opcode = (uint16_t)new_op->opcode,
                   .flags = new_op->flags,
                   .attr_count = new_op->attr_count,
                   .loc = new_op->loc,
                   .parent = new_op->parent,
                   .operand_count = new_op->operand_count,
                   .written_type = new_op->written_type,
                   .box = new_op->box};
    if (op.operand_count > 0) {
        op.first_operand = check(module, grout_table__add(&module->operands, op.operand_count));
    }
    if (op.attr_count > 0) {
        op.first_attr = check(module, grout_table__add(&module->attrs, op.attr_count));
    }
    grout_op_id id = module->failed ? 0 : check(module, grout_table__push(&module->ops, &op));
    if (id == 0) {
        return 0;
    }
    if (op.operand_count > 0) {
        memcpy(GROUT_TABLE_AT(module->operands, grout_operand, op.first_operand), new_op->operands,
               op.operand_count * sizeof *new_op->operands);
    }
    if (op.attr_count > 0) {
        memcpy(GROUT_TABLE_AT(module->attrs, grout_attr_value, op.first_attr), new_op->attrs,
               op.attr_count * sizeof *new_op->attrs);
    }
    for (uint32_t i = 0; i < op.operand_count; i++) {
        grout_module__count_uses(module, &new_op->operands[i]);
    }
    link_op(module, id, new_op->parent);
    add_blocks(module, id, new_op->block_count);
    return id;
}

grout_value_id grout_module__add_results(grout_module *module, grout_op_id op, uint32_t count) {
    grout_value_id first = check(module, grout_table__add(&module->values, count));
    if (first == 0) {
        return 0;
    }
    grout_op *owner = GROUT_TABLE_AT(module->ops, grout_op, op);
    GROUT_ASSERT(module->failed || (op > 0 && owner->result_count == 0));
    owner->first_result = first;
    owner->result_count = count;
    for (uint32_t i = 0; i < count; i++) {
        grout_value *value = GROUT_TABLE_AT(module->values, grout_value, first + i);
        value->kind = grout_op_get_info((grout_opcode)owner->opcode)->shape == GROUT_SHAPE_SCRATCH
                          ? GROUT_VALUE_OBJECT
                          : GROUT_VALUE_RESULT;
        value->op = op;
        value->index = i;
        value->loc = owner->loc;
    }
    return first;
}

grout_value_id grout_module__add_block_args(grout_module *module, grout_block_id block,
                                            grout_value_kind kind, uint32_t count) {
    grout_value_id first = check(module, grout_table__add(&module->values, count));
    if (first == 0) {
        return 0;
    }
    grout_block *owner = GROUT_TABLE_AT(module->blocks, grout_block, block);
    GROUT_ASSERT(module->failed || (block > 0 && owner->arg_count == 0));
    owner->first_arg = first;
    owner->arg_count = count;
    for (uint32_t i = 0; i < count; i++) {
        grout_value *value = GROUT_TABLE_AT(module->values, grout_value, first + i);
        value->kind = (uint8_t)kind;
        value->op = owner->parent;
        value->block = block;
        value->index = i;
        value->loc = owner->loc;
    }
    return first;
}
