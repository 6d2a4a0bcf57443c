/*
 * smem_plan.c - where the objects of a kernel lie in the spaces of its CTAs, SMEM first of all: the
 * one plan of interpreter and backend.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arrays first, each aligned as its space wants it: scratch, then the objects of scopes like frames
 * on a stack, so that scopes inside each other add up and scopes after each other share. In SMEM
 * barriers follow, 8 bytes each. They are initialised once, at the kernel's start, so a scope does
 * not take fresh ones: it takes from a pool an array of barriers of the same number, kind and
 * arrivals that no scope around it uses, and hands it back at its end with its parity as it is.
 */
#include "bound.h"

#include "alloc.h"
#include "invariant.h"
#include "tmem.h"
#include <string.h>

#define BARRIER_BYTES   8
#define POOL_SEARCH_MAX 8192 /* entries: 64 KiB of barriers */

/* Barrier arrays of the pool, in the order of their offsets. */
typedef struct pool_entry {
    int64_t offset; /* from the first barrier */
    int64_t bytes;
    grout_object_id object; /* the first that took it */
    bool is_used;
} pool_entry;

typedef struct smem_plan {
    grout_binding *binding;
    pool_entry *pool;
    uint32_t pool_count;
    uint32_t first_free;       /* no entry of the pool before it is free */
    uint32_t *taken;           /* by object: its entry of the pool, plus 1 */
    grout_object_id *barriers; /* placed so far */
    uint32_t barrier_count;
    int64_t top[GROUT_SPACE_COUNT], peak[GROUT_SPACE_COUNT]; /* of the arrays, now and at most */
    int64_t barrier_bytes;
} smem_plan;

static int64_t align_up(int64_t value, int64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/* An array in tensor memory has those of the columns that it takes, which its elements need not
 * fill. One of no good shape takes none: it is reported. */
static int64_t get_bytes(const smem_plan *plan, grout_object_id id) {
    const grout_module *module = plan->binding->module;
    if (grout_space_needs_tensor_order(grout_module_get_object(module, id)->space)) {
        return grout_tmem__check_object(module, id, NULL)
                   ? grout_tmem__count_columns(module, id) * GROUT_TMEM_COLUMN_BYTES
                   : 0;
    }
    return plan->binding->bound->object_layouts[id].bytes;
}

/* An alias lies in an array that has its place already, since that is declared before. In tensor
 * memory it starts at a column, of which the first lane's bytes are 4. */
static void place_alias(const smem_plan *plan, grout_object_id id) {
    const grout_object *object = grout_module_get_object(plan->binding->module, id);
    const grout_value *value = grout_module_get_value(plan->binding->module, object->alias);
    const grout_bound *bound = plan->binding->bound;
    const int64_t start =
        object->alias_start == 0 ? 0 : bound->expr_values[object->alias_start].integer;
    const int64_t unit = grout_space_needs_tensor_order(object->space) ? GROUT_TMEM_CELL_BYTES : 1;
    bound->object_offsets[id] = bound->object_offsets[value->object] + start * unit;
}

/* So do the views that binding has made, each after that which it is a view of. */
static void place_views(const smem_plan *plan) {
    for (uint32_t id = 1; id < plan->binding->module->objects.count; id++) {
        if (!grout_object_is_declared(plan->binding->module, id)) {
            place_alias(plan, id);
        }
    }
}

static void place_array(smem_plan *plan, grout_object_id id, grout_space space) {
    int64_t *top = &plan->top[space], *peak = &plan->peak[space];
    GROUT_ASSERT(*top >= 0 && get_bytes(plan, id) >= 0); /* 0 after a report */
    int64_t offset = align_up(*top, grout_space_get_info(space)->alignment_bytes);
    plan->binding->bound->object_offsets[id] = offset;
    *top = offset + get_bytes(plan, id);
    *peak = *top > *peak ? *top : *peak;
}

/* Whether two arrays of barriers may be one after the other: alike to the hardware, and used alike.
 */
static bool is_alike(const smem_plan *plan, grout_object_id a, grout_object_id b) {
    const grout_object *first = grout_module_get_object(plan->binding->module, a);
    const grout_object *second = grout_module_get_object(plan->binding->module, b);
    const grout_bound *bound = plan->binding->bound;
    if (first->is_explicit != second->is_explicit ||
        first->cluster_group_count != second->cluster_group_count ||
        first->orders_tensor_core != second->orders_tensor_core ||
        bound->object_arrivals[a] != bound->object_arrivals[b]) {
        return false;
    }
    return memcmp(first->cluster_groups, second->cluster_groups, first->cluster_group_count) == 0;
}

/* Offsets of barriers count from the first barrier until finish_plan moves them. */
static void place_barriers(smem_plan *plan, grout_object_id id) {
    int64_t bytes = get_bytes(plan, id);
    uint32_t k = plan->first_free;
    if (plan->pool_count > POOL_SEARCH_MAX) {
        k = plan->pool_count; /* beyond every budget: only stay fast */
    }
    while (k < plan->pool_count && (plan->pool[k].is_used || plan->pool[k].bytes != bytes ||
                                    !is_alike(plan, plan->pool[k].object, id))) {
        k++;
    }
    GROUT_ASSERT(k < plan->binding->module->objects.count && plan->taken[id] == 0);
    if (k == plan->pool_count) {
        plan->pool[k] = (pool_entry){.offset = plan->barrier_bytes, .bytes = bytes, .object = id};
        plan->pool_count++;
        plan->barrier_bytes += bytes;
    }
    plan->pool[k].is_used = true;
    while (plan->first_free < plan->pool_count && plan->pool[plan->first_free].is_used) {
        plan->first_free++;
    }
    plan->taken[id] = k + 1;
    plan->barriers[plan->barrier_count++] = id;
    plan->binding->bound->object_offsets[id] = plan->pool[k].offset;
}

static void place_object(smem_plan *plan, grout_object_id id) {
    const grout_object *object = grout_module_get_object(plan->binding->module, id);
    if (object->kind == GROUT_OBJECT_BARRIER) {
        place_barriers(plan, id);
    } else if (object->alias != 0) {
        place_alias(plan, id);
    } else if (grout_space_is_of_cta(object->space)) {
        place_array(plan, id, (grout_space)object->space);
    }
}

static void give_back(smem_plan *plan, uint32_t entry) {
    GROUT_ASSERT(plan->pool[entry].is_used);
    plan->pool[entry].is_used = false;
    plan->first_free = entry < plan->first_free ? entry : plan->first_free;
}

static void place_block(smem_plan *plan, grout_block_id id);

static void place_scope(smem_plan *plan, const grout_op *op) {
    const grout_module *module = plan->binding->module;
    const grout_block *body = grout_module_get_block(module, op->first_block);
    int64_t top[GROUT_SPACE_COUNT];
    memcpy(top, plan->top, sizeof top);
    for (uint32_t k = 0; k < body->arg_count; k++) {
        place_object(plan, grout_module_get_value(module, body->first_arg + k)->object);
    }
    place_block(plan, op->first_block);
    for (uint32_t k = 0; k < body->arg_count; k++) {
        grout_object_id object = grout_module_get_value(module, body->first_arg + k)->object;
        if (plan->taken[object] != 0) {
            give_back(plan, plan->taken[object] - 1);
        }
    }
    memcpy(plan->top, top, sizeof top);
}

/* Scopes of a block and of the blocks inside it; they nest at most GROUT_NESTING_MAX deep. */
static void place_block(smem_plan *plan, grout_block_id id) {
    const grout_module *module = plan->binding->module;
    grout_op_id next = grout_module_get_block(module, id)->first;
    while (next != 0 && grout_binding__goes_on(plan->binding)) {
        const grout_op *op = grout_module_get_op(module, next);
        next = op->next;
        if (op->block_count > 0 && grout_op_get_region_kind(op) == GROUT_REGION_SCOPE) {
            place_scope(plan, op);
            continue;
        }
        for (uint32_t k = 0; k < op->block_count; k++) {
            place_block(plan, op->first_block + k);
        }
    }
}

/* Scratch lives as long as the CTA, wherever it stands (the verifier wants it at the top). */
static void place_scratch(smem_plan *plan, grout_kernel_id kernel) {
    const grout_module *module = plan->binding->module;
    grout_op_id id = grout_kernel__get_first_op(module, kernel);
    for (; id != 0 && grout_binding__goes_on(plan->binding);
         id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        if (grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_SCRATCH) {
            place_object(plan, grout_module_get_value(module, op->first_result)->object);
        }
    }
}

/* Moves the barriers to the bytes after the arrays of SMEM. */
static void finish_plan(smem_plan *plan, grout_kernel_id kernel) {
    int64_t *bytes = plan->binding->bound->kernel_bytes[kernel];
    int64_t first = align_up(plan->peak[GROUT_SPACE_SMEM], BARRIER_BYTES);
    for (uint32_t k = 0; k < plan->barrier_count; k++) {
        plan->binding->bound->object_offsets[plan->barriers[k]] += first;
    }
    memcpy(bytes, plan->peak, sizeof plan->peak);
    bytes[GROUT_SPACE_SMEM] = first + plan->barrier_bytes;
}

static void place_kernel(smem_plan *plan, grout_kernel_id kernel) {
    plan->pool_count = plan->first_free = plan->barrier_count = 0;
    plan->barrier_bytes = 0;
    memset(plan->top, 0, sizeof plan->top);
    memset(plan->peak, 0, sizeof plan->peak);
    place_scratch(plan, kernel);
    place_block(plan, grout_module_get_kernel(plan->binding->module, kernel)->body);
    finish_plan(plan, kernel);
}

void grout_smem_plan__module(grout_binding *binding) {
    smem_plan plan = {.binding = binding};
    size_t count = binding->module->objects.count;
    plan.pool = grout_binding__new(binding, count, sizeof *plan.pool);
    plan.taken = grout_binding__new(binding, count, sizeof *plan.taken);
    plan.barriers = grout_binding__new(binding, count, sizeof *plan.barriers);
    if (plan.pool != NULL && plan.taken != NULL && plan.barriers != NULL) {
        for (uint32_t id = 1;
             grout_binding__goes_on(binding) && id < binding->module->kernels.count; id++) {
            place_kernel(&plan, id);
        }
        place_views(&plan);
    }
    grout__free(plan.pool);
    grout__free(plan.taken);
    grout__free(plan.barriers);
}
