/* plan.c - the plan of a launch: which tensor maps, parameters and barriers a kernel has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "planning.h"

#include "array.h"
#include "edges.h"
#include "invariant.h"
#include "tmem.h"

#include <stdio.h>
#include <string.h>

#define TENSOR_COLUMNS_MIN 32 /* of an allocation */

static bool has_same_pixels(const grout_tma *a, const grout_tma *b) {
    if (a->spatial_count != b->spatial_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->spatial_count; i++) {
        if (a->lower[i] != b->lower[i] || a->upper[i] != b->upper[i] ||
            a->pixel_steps[i] != b->pixel_steps[i]) {
            return false;
        }
    }
    return true;
}

static bool is_same_tma(const grout_tma *a, const grout_tma *b) {
    if (!has_same_pixels(a, b)) {
        return false;
    }
    if (a->rank != b->rank || a->element_bytes != b->element_bytes || a->swizzle != b->swizzle) {
        return false;
    }
    if ((a->oob == GROUT_CHOICE_OOB_NAN) != (b->oob == GROUT_CHOICE_OOB_NAN)) {
        return false;
    }
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i] || a->strides[i] != b->strides[i] || a->box[i] != b->box[i]) {
            return false;
        }
    }
    return true;
}

/* The index of this map, made if it is new, or UINT32_MAX without memory. */
static uint32_t find_or_add_map(grout_gpu_planning *walk, grout_object_id object,
                                const grout_tma *tma) {
    grout_gpu_plan *plan = walk->plan;
    uint32_t number = 1;
    for (uint32_t i = 0; i < plan->map_count; i++) {
        if (plan->maps[i].object == object) {
            if (is_same_tma(&plan->maps[i].tma, tma)) {
                return i;
            }
            number++;
        }
    }
    plan->maps = grout_array__grow(grout_module_get_allocator(walk->module), plan->maps,
                                   plan->map_count, 1, &walk->map_capacity, sizeof *plan->maps);
    if (plan->map_count == walk->map_capacity) {
        return UINT32_MAX;
    }
    grout_gpu_map *map = &plan->maps[plan->map_count];
    *map = (grout_gpu_map){.object = object,
                           .param_index = grout_gpu__find_param(walk->module, walk->kernel, object),
                           .workspace_index = grout_gpu__plan_find_workspace(plan, object),
                           .number = number,
                           .tma = *tma,
                           .dtype = grout_object_get_type(walk->module, object)->dtype,
                           .element_strides = {1, 1, 1, 1, 1},
                           .interleave = 0,
                           .promotion = 2};
    for (uint32_t k = 0; k < tma->spatial_count; k++) {
        map->element_strides[1 + k] = tma->pixel_steps[k];
    }
    return plan->map_count++;
}

/* An array that TMA reaches takes a tensor map, or its address for a bulk copy. */
static bool plan_map(grout_gpu_planning *walk, grout_op_id id, const grout_op *op) {
    const uint32_t array = grout_op_find_letter((grout_opcode)op->opcode, 'G');
    grout_view view;
    grout_tma tma;
    if (array == UINT32_MAX) {
        return true;
    }
    if (!grout_module_get_view(walk->module, grout_module_get_operand(walk->module, op, array),
                               &view)) {
        return grout_diags_add(walk->diags, GROUT_DIAG_INTERNAL_ERROR,
                               grout_module_get_place(walk->module, op->loc),
                               "a box whose array is not a reference reached the GPU backend");
    }
    if (!grout_tma_plan(walk->module, id, &tma, walk->diags)) {
        return false;
    }
    if (tma.is_bulk) {
        const uint32_t param = grout_gpu__find_param(walk->module, walk->kernel, view.object);
        if (param != UINT32_MAX) {
            walk->is_plain[param] = true;
        }
        return true;
    }
    if (tma.row_groups > 0) {
        tma.box[1] = 1; /* an instruction takes several of them */
    }
    const uint32_t map = find_or_add_map(walk, view.object, &tma);
    if (map == UINT32_MAX) {
        return grout_diags_add_oom(walk->diags);
    }
    walk->plan->map_of_op[id] = map + 1;
    if (grout_view_find_made_descriptor(walk->module, &view) != NULL) { /* the map's model */
        walk->plan->map_of_op[grout_module_get_value(walk->module, view.descriptor)->op] = map + 1;
    }
    return true;
}

/* Gives an object what it needs of the launch. */
static bool plan_object(grout_gpu_planning *walk, grout_object_id id) {
    grout_gpu_plan *plan = walk->plan;
    const grout_object *object = grout_module_get_object(walk->module, id);
    if (object->is_collective) {
        plan->tensor_group = GROUT_PAIR;
    }
    if (object->kind != GROUT_OBJECT_BARRIER) {
        return grout_gpu__plan_workspace(walk, id);
    }
    plan->barriers =
        grout_array__grow(grout_module_get_allocator(walk->module), plan->barriers,
                          plan->barrier_count, 1, &walk->barrier_capacity, sizeof *plan->barriers);
    const int64_t offset = grout_object_get_offset(walk->module, id);
    uint32_t *first = grout_lookup__at(&walk->barrier_at, (uint64_t)offset);
    if (plan->barrier_count == walk->barrier_capacity || first == NULL) {
        return grout_diags_add_oom(walk->diags);
    }
    *first = *first == 0 ? plan->barrier_count + 1 : *first;
    grout_gpu_barrier barrier = {
        .object = id,
        .count = (uint32_t)grout_type_get_count(grout_object_get_type(walk->module, id)),
        .arrivals = grout_object_get_arrivals(walk->module, id),
        .is_explicit = object->is_explicit,
        .is_clustered = object->cluster_group_count > 0,
        .is_cluster_scope = (object->cluster_group_count > 0 || object->is_leader_tracked) &&
                            walk->plan->cluster_size > 1,
        .smem_offset = offset,
        .owner = *first - 1,
    };
    plan->barriers[plan->barrier_count++] = barrier;
    plan->place_of_object[id] = plan->barrier_count;
    return true;
}

/* Whether an op may serve barriers of other CTAs although its barrier has no '.cluster(..)':
 * several CTAs get the copy, an engine reports to the barrier of the CTA that gets the data, or one
 * CTA serves the barriers of others. */
static bool is_for_peers(const grout_gpu_planning *walk, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return (sync != NULL && sync->arrival == GROUT_SYNC_ARRIVAL_LATER &&
            sync->reach != GROUT_SYNC_REACH_OWN) ||
           grout_op_get_axes(walk->module, op, GROUT_ATTR_COLLECTIVE_AXES) != 0 ||
           grout_op_get_axes(walk->module, op, GROUT_ATTR_MULTICAST) != 0 ||
           grout_module_find_attr(walk->module, op, GROUT_ATTR_COLLECTIVE_AXIS) != NULL ||
           grout_module_find_attr(walk->module, op, GROUT_ATTR_FROM_CTA) != NULL;
}

/* Whether an op needs the address of the array that an operand names. With a tensor map it does
 * not.
 */
static bool needs_address(const grout_op *op, uint32_t operand) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const bool is_of_launch =
        info->rule == GROUT_RULE_DESCRIPTOR && info->effect_row == GROUT_EFFECT_ROW_PURE;
    return !is_of_launch && grout_op_get_letter((grout_opcode)op->opcode, operand) != 'G';
}

/* Which arrays the kernel reaches by their addresses, and which barriers by other CTAs. */
static void plan_operands(grout_gpu_planning *walk, const grout_op *op) {
    const bool has_peers = is_for_peers(walk, op);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(walk->module, op, k);
        grout_view view;
        if ((operand->kind != GROUT_OPERAND_VALUE && operand->kind != GROUT_OPERAND_REF) ||
            !grout_module_get_view(walk->module, operand, &view)) {
            continue;
        }
        const uint32_t param = grout_gpu__find_param(walk->module, walk->kernel, view.object);
        const uint32_t barrier = grout_gpu__plan_find_barrier(walk->plan, view.object);
        if (param != UINT32_MAX && needs_address(op, k)) {
            walk->is_plain[param] = true;
        }
        if (barrier != UINT32_MAX && (view.cluster_index_count > 0 || has_peers)) {
            walk->plan->barriers[barrier].is_cluster_scope = walk->plan->cluster_size > 1;
        }
    }
}

/* Columns that one CTA of a pair has used may become an array of both there, without a meeting. */
static bool plan_scope(grout_gpu_planning *walk, const grout_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const grout_value *value = grout_module_get_value(walk->module, block->first_arg + i);
        const grout_object *object = grout_module_get_object(walk->module, value->object);
        walk->plan->has_pair_scopes = walk->plan->has_pair_scopes ||
                                      (object->space == GROUT_SPACE_TMEM && object->is_collective);
        if (!plan_object(walk, value->object)) {
            return false;
        }
    }
    return true;
}

static bool has_mma_object(const grout_gpu_plan *plan, grout_object_id object) {
    for (uint32_t i = 0; i < plan->mma_object_count; i++) {
        if (plan->mma_objects[i] == object) {
            return true;
        }
    }
    return false;
}

static bool add_mma_object(grout_gpu_planning *walk, grout_object_id object) {
    grout_gpu_plan *plan = walk->plan;
    if (has_mma_object(plan, object)) {
        return true;
    }
    plan->mma_objects = grout_array__grow(grout_module_get_allocator(walk->module),
                                          plan->mma_objects, plan->mma_object_count, 1,
                                          &walk->mma_object_capacity, sizeof *plan->mma_objects);
    if (plan->mma_object_count == walk->mma_object_capacity) {
        return grout_diags_add_oom(walk->diags);
    }
    plan->mma_objects[plan->mma_object_count++] = object;
    return true;
}

/* The operands that the tensor core reads; a wgmma's a may be in registers. */
static bool plan_mma(grout_gpu_planning *walk, const grout_op *op) {
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    bool is_done = true;
    for (uint32_t k = 0; k < count && is_done; k++) {
        grout_view view;
        if (effects[k].milestone == GROUT_MILESTONE_WGMMA &&
            effects[k].access == GROUT_ACCESS_READ &&
            grout_module_get_view(walk->module,
                                  grout_module_get_operand(walk->module, op, effects[k].operand),
                                  &view)) {
            is_done = add_mma_object(walk, view.object);
        }
    }
    return is_done;
}

/* Whether some thread has to know that something is over, in time alone: an operation that goes
 * on after its issue, a grid before this one, or the uses of an mbarrier, before it ends. */
static bool tells_of_an_end(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    bool is_later = info->effect_row == GROUT_EFFECT_ROW_GRID_WAIT ||
                    (sync != NULL && sync->mode == GROUT_SYNC_MODE_ENDS);
    for (uint32_t k = 0; k < count; k++) {
        is_later = is_later || effects[k].milestone != GROUT_MILESTONE_ISSUE;
    }
    return is_later;
}

/* The objects that an op makes. */
static bool plan_objects(grout_gpu_planning *walk, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    if (grout_op_get_info(opcode)->shape == GROUT_SHAPE_SCRATCH) {
        return plan_object(walk, grout_module_get_value(walk->module, op->first_result)->object);
    }
    return grout_op_get_region(opcode)->kind != GROUT_REGION_SCOPE ||
           plan_scope(walk, grout_module_get_block(walk->module, op->first_block));
}

static bool plan_op(void *payload, grout_op_id id, const grout_op *op) {
    grout_gpu_planning *walk = payload;
    grout_gpu_plan *plan = walk->plan;
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (grout_module_find_attr(walk->module, op, GROUT_ATTR_COLLECTIVE_AXIS) != NULL) {
        plan->tensor_group = GROUT_PAIR;
    }
    plan_operands(walk, op);
    grout_gpu__plan_cross_wait(walk, id, op);
    /* One lane finds out, all have to know (writer/uniform.c). */
    if (grout_op_returns_old_value((grout_opcode)op->opcode) && plan->exchange_bytes < 16) {
        plan->exchange_bytes = 16;
    }
    if (sync != NULL && sync->object == GROUT_SYNC_OBJECT_REGISTERS) {
        plan->changes_registers = true;
    }
    plan->tells_of_ends = plan->tells_of_ends || tells_of_an_end(op);
    return plan_map(walk, id, op) && plan_mma(walk, op) && plan_objects(walk, op);
}

/* Parameters in the kernel's order, then maps, workspaces and the watchdog. Arrays that only TMA
 * touches are no parameters of their own: their address is in the map. */
static bool plan_args(grout_gpu_planning *walk) {
    grout_gpu_plan *plan = walk->plan;
    const uint32_t param_count = walk->kernel->param_count;
    plan->args = grout__new(grout_module_get_allocator(walk->module),
                            (size_t)param_count + plan->map_count + plan->workspace_count + 1,
                            sizeof *plan->args);
    if (plan->args == NULL) {
        return grout_diags_add_oom(walk->diags);
    }
    for (uint32_t i = 0; i < param_count; i++) {
        const grout_param *param = grout_module_get_param(walk->module, walk->kernel, i);
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            plan->args[plan->arg_count++] = (grout_gpu_arg){GROUT_GPU_ARG_SCALAR, i};
        } else if (walk->is_plain[i]) {
            plan->args[plan->arg_count++] = (grout_gpu_arg){GROUT_GPU_ARG_ARRAY, i};
        }
    }
    for (uint32_t i = 0; i < plan->map_count; i++) {
        plan->args[plan->arg_count++] = (grout_gpu_arg){GROUT_GPU_ARG_MAP, i};
    }
    for (uint32_t i = 0; i < plan->workspace_count; i++) {
        plan->args[plan->arg_count++] = (grout_gpu_arg){GROUT_GPU_ARG_WORKSPACE, i};
    }
    plan->args[plan->arg_count++] = (grout_gpu_arg){GROUT_GPU_ARG_WATCHDOG, 0};
    GROUT_ASSERT(plan->arg_count <= param_count + plan->map_count + plan->workspace_count + 1);
    return true;
}

/* Names the first op that needs all of the exchange area. */
static void note_exchange(grout_gpu_planning *walk) {
    for (grout_op_id id = 1; id < grout_module_get_op_count(walk->module); id++) {
        if (walk->plan->exchange_bytes > 0 &&
            grout_register_layouts_get_exchange_bytes(walk->plan->layouts, id) ==
                walk->plan->exchange_bytes) {
            const grout_op *op = grout_module_get_op(walk->module, id);
            grout_diags_note(walk->diags, grout_module_get_place(walk->module, op->loc),
                             "'%s' is what needs this much",
                             grout_op_get_info((grout_opcode)op->opcode)->text);
            grout_diags_help(walk->diags, "load the array from memory again where it is needed in "
                                          "other lanes, or work in smaller blocks");
            return;
        }
    }
}

static void plan_warps(grout_gpu_plan *plan, const grout_module *module, grout_kernel_id id) {
    for (uint32_t k = 0; k < GROUT_THREADS_MAX; k++) {
        plan->thread_warps[k] = grout_kernel_get_thread_warps(module, id, k);
        plan->first_warps[k] = grout_kernel_get_first_warp(module, id, k);
    }
    plan->lane_count = grout_kernel_get_warp_count(module, id) * GROUT_WARP_LANES;
    plan->has_small_threads = plan->lane_count < plan->thread_count * GROUT_LANES;
}

/* The columns of all arrays in tensor memory, as one allocation takes them. */
static uint32_t count_tensor_columns(const grout_module *module, grout_kernel_id id) {
    const int64_t bytes = grout_kernel_get_space_bytes(module, id, GROUT_SPACE_TMEM);
    const int64_t columns = (bytes + GROUT_TMEM_COLUMN_BYTES - 1) / GROUT_TMEM_COLUMN_BYTES;
    uint32_t allocated = TENSOR_COLUMNS_MIN;
    while (allocated < columns) {
        allocated *= 2;
    }
    return columns > 0 ? allocated : 0;
}

static bool plan_sizes(grout_gpu_planning *walk, grout_kernel_id id) {
    grout_gpu_plan *plan = walk->plan;
    const grout_place place = grout_module_get_place(walk->module, walk->kernel->loc);
    plan->has_exit_sync =
        grout_kernel_has_exit_sync(walk->module, id) || plan->tensor_group == GROUT_PAIR;
    plan->thread_count = grout_kernel_get_thread_count(walk->module, id);
    plan_warps(plan, walk->module, id);
    plan->object_bytes = grout_kernel_get_space_bytes(walk->module, id, GROUT_SPACE_SMEM);
    plan->exchange_offset = (plan->object_bytes + 15) / 16 * 16;
    GROUT_ASSERT(plan->object_bytes >= 0 && plan->exchange_bytes % 16 == 0);
    GROUT_ASSERT(plan->thread_count > 0 && plan->cluster_size > 0);
    int64_t used = plan->object_bytes;
    if (plan->exchange_bytes > 0) {
        used = plan->exchange_offset + plan->exchange_bytes * (int64_t)plan->thread_count;
    }
    if (plan->capture_count > 0) {
        plan->capture_offset = (used + 7) / 8 * 8;
        used = plan->capture_offset + 8 * (int64_t)plan->capture_count;
    }
    if (plan->tensor_columns > 0) {
        plan->tensor_offset = (used + 7) / 8 * 8;
        used = plan->tensor_offset + GROUT_GPU_TENSOR_BYTES;
    }
    plan->dynamic_smem_bytes = used;
    if (plan->grid_size > GROUT_GPU_GRID_MAX) {
        return grout_diags_add(walk->diags, GROUT_DIAG_GPU_UNSUPPORTED, place,
                               "a grid of %" PRId64 " CTAs: a launch has at most %d",
                               plan->grid_size, GROUT_GPU_GRID_MAX);
    }
    if (plan->dynamic_smem_bytes > GROUT_GPU_SMEM_MAX) {
        grout_diags_add(walk->diags, GROUT_DIAG_GPU_UNSUPPORTED, place,
                        "the kernel needs %" PRId64 " bytes of SMEM on the GPU, a CTA has %d",
                        plan->dynamic_smem_bytes, GROUT_GPU_SMEM_MAX);
        grout_diags_note(walk->diags, place,
                         "objects %" PRId64 " bytes, moves between lanes %" PRId64 " a thread",
                         plan->object_bytes, plan->exchange_bytes);
        note_exchange(walk);
        return false;
    }
    return true;
}

/* Which barriers of a cluster need no order of the cluster, and which tell of mbarriers. What
 * tensor memory needs between two CTAs is no such order: the fences of tcgen05 beside a relaxed
 * arrival give it (PTX ISA 9.1, 'tcgen05', 'Canonical Synchronization Patterns'). */
static bool plan_edges(grout_gpu_planning *walk, grout_kernel_id kernel) {
    grout_gpu_plan *plan = walk->plan;
    const grout_allocator *allocator = grout_module_get_allocator(walk->module);
    const uint32_t count = grout_module_get_object_count(walk->module);
    uint8_t *is_narrow = grout__new(allocator, count, 1), *tells = grout__new(allocator, count, 1);
    const bool is_done = is_narrow != NULL && tells != NULL &&
                         (plan->cluster_size == 1 ||
                          grout_edges__find_narrow(walk->module, kernel, is_narrow, walk->diags)) &&
                         grout_edges__find_telling(walk->module, kernel, tells, walk->diags);
    for (uint32_t k = 0; is_done && k < plan->barrier_count; k++) {
        plan->barriers[k].is_narrow = is_narrow[plan->barriers[k].object];
        plan->barriers[k].tells_of_mbarriers = tells[plan->barriers[k].object];
    }
    plan->tells_of_mbarriers = is_done && tells[0];
    grout__free(is_narrow);
    grout__free(tells);
    return is_done || grout_diags_add_oom(walk->diags);
}

/* Whether the barriers at the same bytes name the first of them, and are alike. */
static bool has_alike_pools(const grout_gpu_plan *plan) {
    for (uint32_t k = 0; k < plan->barrier_count; k++) {
        const grout_gpu_barrier *barrier = &plan->barriers[k];
        const grout_gpu_barrier *owner = &plan->barriers[barrier->owner];
        if (barrier->owner > k || owner->owner != barrier->owner ||
            owner->smem_offset != barrier->smem_offset ||
            owner->counts_warps != barrier->counts_warps ||
            owner->counts_lanes != barrier->counts_lanes ||
            owner->is_watched != barrier->is_watched) {
            return false;
        }
    }
    return true;
}

bool grout_gpu__plan_init(grout_gpu_plan *plan, const grout_module *module, grout_kernel_id kernel,
                          grout_diags *diags) {
    grout_gpu_planning walk = {.plan = plan,
                               .module = module,
                               .kernel = grout_module_get_kernel(module, kernel),
                               .diags = diags,
                               .barrier_at = {.allocator = grout_module_get_allocator(module)}};
    *plan = (grout_gpu_plan){.arch = (uint8_t)grout_gpu__get_arch(module, kernel),
                             .tensor_columns = count_tensor_columns(module, kernel),
                             .tensor_group = 1,
                             .grid_size = grout_kernel_get_grid_size(module, kernel),
                             .cluster_size = grout_kernel_get_cluster_size(module, kernel)};
    walk.grid_size = plan->grid_size;
    plan->map_of_op = grout__new(grout_module_get_allocator(module),
                                 grout_module_get_op_count(module), sizeof *plan->map_of_op);
    plan->place_of_object =
        grout__new(grout_module_get_allocator(module), grout_module_get_object_count(module),
                   sizeof *plan->place_of_object);
    walk.is_plain = grout__new(grout_module_get_allocator(module),
                               (size_t)walk.kernel->param_count + 1, sizeof *walk.is_plain);
    bool is_done =
        plan->map_of_op != NULL && plan->place_of_object != NULL && walk.is_plain != NULL;
    if (!is_done) {
        grout_diags_add_oom(diags);
    }
    plan->layouts = grout_register_layouts_infer(module, kernel, diags);
    if (plan->layouts != NULL) {
        plan->exchange_bytes = grout_register_layouts_get_scratch_bytes(plan->layouts);
    }
    is_done = is_done && plan->layouts != NULL &&
              grout_gpu__walk(module, walk.kernel->body, plan_op, &walk) && plan_args(&walk) &&
              grout_gpu__plan_captures(&walk) && plan_sizes(&walk, kernel);
    is_done = is_done && plan_edges(&walk, kernel);
    is_done = is_done && (grout_gpu__plan_arrivals(plan, module, walk.kernel->body) ||
                          grout_diags_add_oom(diags));
    GROUT_ASSERT_SLOW(!is_done || has_alike_pools(plan));
    grout__free(walk.is_plain);
    grout_lookup__deinit(&walk.barrier_at);
    return is_done;
}

void grout_gpu__plan_deinit(grout_gpu_plan *plan) {
    grout_register_layouts_free(plan->layouts);
    grout__free(plan->maps);
    grout__free(plan->map_of_op);
    grout__free(plan->place_of_object);
    grout__free(plan->args);
    grout__free(plan->barriers);
    grout__free(plan->workspaces);
    grout__free(plan->captures);
    grout__free(plan->mma_objects);
    *plan = (grout_gpu_plan){0};
}
