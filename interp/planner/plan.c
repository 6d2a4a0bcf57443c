/*
 * plan.c - the plan of a launch: parameters, objects, barrier elements, then the code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "pages.h"
#include "planner.h"

#include "grout-internal/verify.h"

#include <inttypes.h>
#include <string.h>

/* Objects made in a block and all inside it. */
static void find_objects(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_value_id first;
        uint32_t count = grout_op_get_made_objects(module, op, &first);
        for (uint32_t k = 0; k < count; k++) {
            planner->made[planner->made_count++] = (grout_made){
                grout_module_get_value(module, first + k)->object, op->block_count > 0};
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            find_objects(planner, op->first_block + i);
        }
    }
}

static void visit_objects(grout_planner *planner,
                          void (*visit)(grout_planner *, grout_object_id, bool is_inner)) {
    for (uint32_t i = 0; i < planner->made_count; i++) {
        visit(planner, planner->made[i].object, planner->made[i].is_inner);
    }
}

static void count_elements(grout_planner *planner, grout_object_id id, bool is_inner) {
    (void)is_inner;
    if (grout_module_get_object(planner->module, id)->kind == GROUT_OBJECT_BARRIER) {
        planner->object_elements[id] = planner->plan->element_count;
        planner->plan->element_count +=
            (uint32_t)grout_type_get_count(grout_object_get_type(planner->module, id));
    }
}

static void fill_elements(grout_planner *planner, grout_object_id id, bool is_inner) {
    (void)is_inner;
    grout_plan *plan = planner->plan;
    if (grout_module_get_object(planner->module, id)->kind != GROUT_OBJECT_BARRIER) {
        return;
    }
    int64_t count = grout_type_get_count(grout_object_get_type(planner->module, id));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t element = planner->object_elements[id] + i;
        const grout_object *object = grout_module_get_object(planner->module, id);
        plan->elements[element] = (grout_element_plan){
            .object = id,
            .index = i,
            .arrivals = object->is_explicit ? 0 : grout_object_get_arrivals(planner->module, id),
            .is_explicit = object->is_explicit,
            .orders_tensor = object->is_explicit || object->orders_tensor_core,
            .is_leader_tracked = object->is_leader_tracked,
            .is_shared = planner->object_is_shared[id],
            .group_count = object->cluster_group_count};
        plan->element_objects[element] = id;
        plan->element_indices[element] = i;
    }
}

/* Scope 1 is the CTA: its scratches, which are numbered first of all. */
static void add_scratch(grout_planner *planner, grout_object_id id, bool is_inner) {
    grout_plan *plan = planner->plan;
    uint32_t entry;
    if (is_inner || grout_object_get_root(planner->module, id) != id) {
        return;
    }
    entry = grout_pool__take(&plan->objects, plan->heap);
    if (entry == 0) {
        planner->failed = true;
        return;
    }
    *(grout_object_id *)grout_pool__at(&plan->objects, entry) = id;
    ((grout_scope_plan *)grout_pool__at(&plan->scopes, 1))->object_count++;
}

/* GMEM scratches are arrays of the launch, after those of its parameters. */
static void add_gmem(grout_planner *planner, grout_object_id id, bool is_inner) {
    const grout_object *object = grout_module_get_object(planner->module, id);
    (void)is_inner;
    if (object->kind == GROUT_OBJECT_ARRAY && grout_space_is_of_launch(object->space)) {
        uint32_t index = grout_pool__take(&planner->plan->gmem_scratches, planner->plan->heap);
        if (index == 0) {
            planner->failed = true;
            return;
        }
        *(grout_object_id *)grout_pool__at(&planner->plan->gmem_scratches, index) = id;
        planner->object_params[id] = planner->kernel->param_count + index;
    }
}

static void add_semaphore(grout_planner *planner, grout_object_id id, bool is_inner) {
    (void)is_inner;
    grout_planner__add_semaphore(planner, id);
}

static void add_accumulator(grout_planner *planner, grout_object_id id, bool is_inner) {
    (void)is_inner;
    if (grout_module_get_object(planner->module, id)->space == GROUT_SPACE_ACC) {
        grout_planner__add_accumulator(planner, id);
    }
}

static void count_scratch(grout_planner *planner, grout_object_id id, bool is_inner) {
    if (!is_inner) {
        count_elements(planner, id, false);
    }
}
static void count_inner(grout_planner *planner, grout_object_id id, bool is_inner) {
    if (is_inner) {
        count_elements(planner, id, true);
    }
}

static void add_objects(grout_planner *planner) {
    grout_plan *plan = planner->plan;
    uint32_t index = grout_pool__take(&plan->scopes, plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    find_objects(planner, planner->body);
    visit_objects(planner, count_scratch);
    grout_scope_plan *scope = grout_pool__at(&plan->scopes, index);
    scope->first_object = 1;
    scope->element_count = plan->element_count;
    visit_objects(planner, count_inner);
    plan->elements = grout_heap__take(plan->heap, plan->element_count * sizeof *plan->elements);
    plan->element_objects =
        grout_heap__take(plan->heap, plan->element_count * sizeof *plan->element_objects);
    plan->element_indices =
        grout_heap__take(plan->heap, plan->element_count * sizeof *plan->element_indices);
    if (plan->elements == NULL || plan->element_objects == NULL || plan->element_indices == NULL) {
        planner->failed = true;
        return;
    }
    visit_objects(planner, fill_elements);
    visit_objects(planner, add_scratch);
    visit_objects(planner, add_gmem);
    grout_planner__find_watched(planner);
    visit_objects(planner, add_semaphore);
    visit_objects(planner, add_accumulator);
}

/* Scalar parameters are constants of the launch. */
static void add_params(grout_planner *planner) {
    for (uint32_t i = 0; i < planner->kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(planner->module, planner->kernel, i);
        if (param->direction != GROUT_DIRECTION_SCALAR) {
            planner->object_params[param->object] = i + 1;
            continue;
        }
        const uint8_t *data = planner->launch->arguments[i].data;
        uint64_t bits = 0;
        for (uint32_t k = 0; k < grout_dtype_get_info(param->dtype)->bytes; k++) {
            bits |= (uint64_t)data[k] << (8 * k);
        }
        bits &= UINT64_MAX >> (64 - grout_dtype_get_info(param->dtype)->bits);
        bits = param->dtype == GROUT_DTYPE_BOOL && bits != 0 ? 1 : bits;
        planner->value_slots[param->value] =
            grout_planner__add_constant(planner, param->dtype, bits);
    }
}

static bool begin_planner(grout_planner *planner) {
    grout_heap *heap = planner->plan->heap;
    size_t ops = grout_module_get_op_count(planner->module) + 1;
    size_t values = grout_module_get_value_count(planner->module) + 1;
    size_t objects = grout_module_get_object_count(planner->module) + 1;
    planner->made = grout_heap__take(heap, objects * sizeof(grout_made));
    planner->op_begin = grout_heap__take(heap, ops * sizeof(uint32_t));
    planner->op_end = grout_heap__take(heap, ops * sizeof(uint32_t));
    planner->op_at = grout_heap__take(heap, 2 * ops * sizeof(grout_op_id));
    planner->defined = grout_heap__take(heap, values * sizeof(uint32_t));
    planner->last_use = grout_heap__take(heap, values * sizeof(uint32_t));
    planner->decides = grout_heap__take(heap, values * sizeof(bool));
    planner->expire_next = grout_heap__take(heap, values * sizeof(uint32_t));
    planner->value_slots = grout_heap__take(heap, values * sizeof(grout_slot));
    planner->object_params = grout_heap__take(heap, objects * sizeof(uint32_t));
    planner->object_elements = grout_heap__take(heap, objects * sizeof(uint32_t));
    planner->object_is_shared = grout_heap__take(heap, objects * sizeof(bool));
    planner->object_uses = grout_heap__take(heap, objects);
    planner->object_is_watched = grout_heap__take(heap, objects * sizeof(bool));
    planner->object_is_ordered = grout_heap__take(heap, objects * sizeof(bool));
    planner->value_buffers = grout_heap__take(heap, values * sizeof(uint32_t));
    planner->value_is_widened = grout_heap__take(heap, values * sizeof(bool));
    planner->ranges = grout_heap__take(heap, values * grout_planner__get_range_size());
    planner->matters = grout_heap__take(heap, values * sizeof(bool));
    planner->traced = grout_heap__take(heap, values * sizeof(bool));
    planner->wraps = grout_heap__take(heap, ops);
    planner->lasting.spans.item_size = sizeof(grout_span);
    planner->temporary.spans.item_size = sizeof(grout_span);
    planner->buffers.item_size = sizeof(uint32_t);
    return planner->made != NULL && planner->op_begin != NULL && planner->op_end != NULL &&
           planner->op_at != NULL && planner->defined != NULL && planner->last_use != NULL &&
           planner->expire_next != NULL && planner->decides != NULL &&
           planner->value_slots != NULL && planner->object_params != NULL &&
           planner->object_elements != NULL && planner->object_is_shared != NULL &&
           planner->object_uses != NULL && planner->object_is_watched != NULL &&
           planner->object_is_ordered != NULL && planner->value_buffers != NULL &&
           planner->value_is_widened != NULL && planner->ranges != NULL &&
           planner->matters != NULL && planner->traced != NULL && planner->wraps != NULL;
}

static void end_planner(grout_planner *planner) {
    grout_heap *heap = planner->plan->heap;
    size_t ops = grout_module_get_op_count(planner->module) + 1;
    size_t values = grout_module_get_value_count(planner->module) + 1;
    size_t objects = grout_module_get_object_count(planner->module) + 1;
    grout_heap__give(heap, planner->made, objects * sizeof(grout_made));
    grout_heap__give(heap, planner->op_begin, ops * sizeof(uint32_t));
    grout_heap__give(heap, planner->op_end, ops * sizeof(uint32_t));
    grout_heap__give(heap, planner->op_at, 2 * ops * sizeof(grout_op_id));
    grout_heap__give(heap, planner->defined, values * sizeof(uint32_t));
    grout_heap__give(heap, planner->last_use, values * sizeof(uint32_t));
    grout_heap__give(heap, planner->decides, values * sizeof(bool));
    grout_heap__give(heap, planner->expire_next, values * sizeof(uint32_t));
    grout_heap__give(heap, planner->value_slots, values * sizeof(grout_slot));
    grout_heap__give(heap, planner->object_params, objects * sizeof(uint32_t));
    grout_heap__give(heap, planner->object_elements, objects * sizeof(uint32_t));
    grout_heap__give(heap, planner->object_is_shared, objects * sizeof(bool));
    grout_heap__give(heap, planner->object_uses, objects);
    grout_heap__give(heap, planner->object_is_watched, objects * sizeof(bool));
    grout_heap__give(heap, planner->object_is_ordered, objects * sizeof(bool));
    grout_heap__give(heap, planner->expire_first, planner->position_count * sizeof(uint32_t));
    grout_heap__give(heap, planner->value_buffers, values * sizeof(uint32_t));
    grout_heap__give(heap, planner->value_is_widened, values * sizeof(bool));
    grout_heap__give(heap, planner->ranges, values * grout_planner__get_range_size());
    grout_heap__give(heap, planner->matters, values * sizeof(bool));
    grout_heap__give(heap, planner->traced, values * sizeof(bool));
    grout_heap__give(heap, planner->wraps, ops);
    grout_pool__free(&planner->lasting.spans, heap);
    grout_pool__free(&planner->temporary.spans, heap);
    grout_pool__free(&planner->buffers, heap);
}

static void lower_kernel(grout_planner *planner) {
    grout_plan *plan = planner->plan;
    grout_planner__scan(planner);
    grout_planner__scan_atomics(planner);
    add_objects(planner);
    if (planner->failed) {
        return;
    }
    add_params(planner);
    if (planner->failed || !grout_planner__find_lives(planner)) {
        planner->failed = true;
        return;
    }
    grout_planner__find_wraps(planner);
    if (planner->failed) {
        return;
    }
    grout_planner__lower_block(planner, planner->body);
    uint32_t index = planner->failed ? 0 : grout_pool__take(&plan->insts, plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    grout_inst *last = grout_pool__at(&plan->insts, index);
    last->exec = grout_exec_exit;
    last->is_silent = true;
    last->is_point = true;
    grout_planner__place_registers(planner);
}

static void set_sizes(grout_plan *plan) {
    plan->insts.item_size = sizeof(grout_inst);
    plan->slots.item_size = sizeof(grout_slot);
    plan->boxes.item_size = sizeof(grout_box_plan);
    plan->terms.item_size = sizeof(grout_term);
    plan->accesses.item_size = sizeof(grout_access_plan);
    plan->moves.item_size = sizeof(grout_move);
    plan->deciders.item_size = sizeof(grout_decider);
    plan->watches.item_size = sizeof(grout_watch);
    plan->transfers.item_size = sizeof(grout_transfer);
    plan->runs.item_size = sizeof(grout_run);
    plan->pieces.item_size = sizeof(grout_piece);
    plan->scopes.item_size = sizeof(grout_scope_plan);
    plan->objects.item_size = sizeof(grout_object_id);
    plan->chains.item_size = sizeof(grout_chain_plan);
    plan->steps.item_size = sizeof(grout_chain_step);
    plan->accumulators.item_size = sizeof(grout_accumulator_plan);
    plan->products.item_size = sizeof(grout_product_plan);
    plan->gemms.item_size = sizeof(grout_gemm);
    plan->offsets.item_size = sizeof(int32_t);
    plan->chunk_moves.item_size = sizeof(grout_chunk_move);
    plan->gmem_scratches.item_size = sizeof(grout_object_id);
    plan->semaphores.item_size = sizeof(grout_semaphore_plan);
    plan->constants.item_size = 8;
}

/* Each space begins at a page of its own, so that a swizzle and a version are about one space. */
static void place_spaces(grout_plan *plan) {
    plan->smem_bytes = grout_kernel_get_space_bytes(plan->module, plan->kernel, GROUT_SPACE_SMEM);
    for (int space = 1; space < GROUT_SPACE_COUNT; space++) {
        int64_t bytes =
            grout_kernel_get_space_bytes(plan->module, plan->kernel, (grout_space)space);
        int64_t pages = (plan->memory_bytes + GROUT_SMEM_PAGE - 1) / GROUT_SMEM_PAGE;
        plan->space_first[space] = pages * GROUT_SMEM_PAGE;
        plan->memory_bytes = bytes > 0 ? plan->space_first[space] + bytes : plan->memory_bytes;
    }
}

static void report_failure(const grout_planner *planner, grout_diags *diags) {
    const grout_module *module = planner->plan->module;
    const grout_kernel *kernel = grout_module_get_kernel(module, planner->plan->kernel);
    if (planner->is_too_large) {
        grout_diags_add(diags, GROUT_DIAG_LIMIT_REACHED,
                        grout_module_get_place(module, kernel->loc),
                        "limit thread-bytes: the values of a thread take more than %u bytes",
                        GROUT_PLAN_BYTES_MAX);
    } else if (!planner->is_refused) {
        grout_diags_add_oom(diags);
    }
}

static bool goes_on(void *payload) {
    const grout_planner *planner = payload;
    const grout_launch *launch = planner->launch;
    const grout_progress progress = {.ctas_total = planner->plan->cta_count};
    return launch->progress(launch->payload, &progress);
}

/* A plan of the body alone; NULL: it failed, or (*is_cut_out) the launch's progress has said so. */
static grout_plan *plan_body(const grout_launch *launch, grout_block_id body, grout_heap *heap,
                             grout_diags *diags, bool *is_cut_out) {
    grout_plan *plan = grout_heap__take(heap, sizeof *plan);
    if (plan == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    plan->heap = heap;
    plan->module = launch->module;
    plan->kernel = launch->kernel;
    plan->has_masks = launch->track_undefined;
    plan->cta_count = grout_kernel_get_grid_size(launch->module, launch->kernel);
    place_spaces(plan);
    set_sizes(plan);
    grout_planner planner = {.plan = plan,
                             .module = launch->module,
                             .kernel = grout_module_get_kernel(launch->module, launch->kernel),
                             .body = body,
                             .launch = launch,
                             .diags = diags,
                             .pulse = {.goes_on = goes_on},
                             .split = -1,
                             .rows_of = UINT32_MAX};
    planner.pulse.payload = &planner;
    if (begin_planner(&planner)) {
        lower_kernel(&planner);
    } else {
        planner.failed = true;
    }
    end_planner(&planner);
    if (!planner.failed) {
        plan->shape.actor_count = plan->actor_count * plan->shape.cta_count;
        plan->shape.lane_count = plan->lane_count * plan->shape.cta_count;
        plan->shape.barrier_count = plan->element_count * plan->shape.cta_count;
        plan->shape.has_tensor_facts =
            grout_kernel_get_space_bytes(plan->module, plan->kernel, GROUT_SPACE_TMEM) > 0;
        bool can_differ = plan->shape.cta_count > 1 || plan->has_foreign_order;
        grout_order__init(&plan->order, &plan->shape, plan->order.owners,
                          can_differ && planner.has_gmem_commit ? plan->shape.cta_count : 0);
    }
    plan->entry_registers = grout_kernel_get_entry_registers(plan->module, plan->kernel);
    *is_cut_out = planner.pulse.is_over;
    if (planner.failed) {
        report_failure(&planner, diags);
        grout_plan__free(plan);
        return NULL;
    }
    return plan;
}

/* What progress interrupts is a launch all the same, of which nothing runs: the caller learns
 * that from its run, as of one that is interrupted there. */
grout_plan *grout_plan__new(const grout_launch *launch, grout_heap *heap, grout_diags *diags) {
    const grout_block_id body = grout_module_get_kernel(launch->module, launch->kernel)->body;
    bool is_cut = false;
    grout_plan *plan = plan_body(launch, body, heap, diags, &is_cut);
    if (is_cut) {
        bool is_again = false; /* there is nothing to ask about */
        grout_plan__free(plan);
        plan = plan_body(launch, 0, heap, diags, &is_again);
    }
    if (plan != NULL) {
        plan->is_cut = is_cut;
    }
    return plan;
}

void grout_plan__free(grout_plan *plan) {
    if (plan == NULL) {
        return;
    }
    grout_heap *heap = plan->heap;
    grout_heap__give(heap, plan->elements, plan->element_count * sizeof *plan->elements);
    grout_heap__give(heap, plan->element_objects,
                     plan->element_count * sizeof *plan->element_objects);
    grout_heap__give(heap, plan->element_indices,
                     plan->element_count * sizeof *plan->element_indices);
    grout_pool *pools[] = {
        &plan->insts,      &plan->slots,    &plan->boxes,        &plan->terms,
        &plan->accesses,   &plan->moves,    &plan->transfers,    &plan->runs,
        &plan->pieces,     &plan->scopes,   &plan->objects,      &plan->constants,
        &plan->chains,     &plan->steps,    &plan->accumulators, &plan->products,
        &plan->gemms,      &plan->offsets,  &plan->chunk_moves,  &plan->gmem_scratches,
        &plan->semaphores, &plan->deciders, &plan->watches};
    for (uint32_t i = 1; i < plan->gemms.count; i++) {
        grout_gemm__deinit(grout_pool__at(&plan->gemms, i));
    }
    for (uint32_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        grout_pool__free(pools[i], heap);
    }
    grout_heap__give(heap, plan, sizeof *plan);
}
