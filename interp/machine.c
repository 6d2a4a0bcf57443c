/*
 * machine.c - the life of a launch, of a CTA, of a scope.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include "barrier.h"
#include "bits.h"
#include "convert.h"
#include "operand.h"
#include "strip.h"
#include "tma.h"
#include "undo.h"

#include <inttypes.h>
#include <string.h>

#define PAYLOAD_BYTES   (512u << 10) /* of stores that have read and not written */
#define PAYLOAD_MIN     2
#define PAYLOAD_MAX     1024
#define UNDO_DATA_BYTES (256u << 10)

/* ---- a new machine -------------------------------------------------------------------------- */

static bool check_arguments(const grout_launch *launch, grout_diags *diags) {
    const grout_module *module = launch->module;
    const grout_kernel *kernel = grout_module_get_kernel(module, launch->kernel);
    grout_place place = grout_module_get_place(module, kernel->loc);
    if (launch->argument_count != kernel->param_count) {
        return grout_diags_add(diags, GROUT_DIAG_SHAPE_CONFLICT, place,
                               "kernel '%s' takes %" PRIu32 " arguments, not %zu",
                               grout_module_get_string(module, kernel->name), kernel->param_count,
                               launch->argument_count);
    }
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        const grout_value *value = grout_module_get_value(module, param->value);
        size_t size =
            grout_dtype_get_info(param->direction == GROUT_DIRECTION_SCALAR ? param->dtype
                                                                            : GROUT_DTYPE_BOOL)
                ->bytes;
        if (param->direction != GROUT_DIRECTION_SCALAR) {
            size = (size_t)grout_object_get_layout(module, param->object)->bytes;
        }
        if (launch->arguments[i].size != size || launch->arguments[i].data == NULL) {
            return grout_diags_add(
                diags, GROUT_DIAG_SHAPE_CONFLICT, grout_module_get_place(module, value->loc),
                "the argument for '%%%s' has %zu bytes, not %zu",
                grout_module_get_string(module, value->name), launch->arguments[i].size, size);
        }
    }
    return true;
}

static bool add_arrays(grout_machine *machine) {
    const grout_module *module = machine->launch.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, machine->launch.kernel);
    machine->array_count = kernel->param_count;
    machine->arrays =
        grout_heap__take(&machine->heap, machine->array_count * sizeof *machine->arrays);
    for (uint32_t i = 0; machine->arrays != NULL && i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        grout_array *array = &machine->arrays[i];
        array->direction = param->direction;
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            continue;
        }
        const grout_type *type = grout_object_get_type(module, param->object);
        array->data = machine->launch.arguments[i].data;
        array->size = (int64_t)machine->launch.arguments[i].size;
        array->count = grout_type_get_count(type);
        if (param->direction == GROUT_DIRECTION_OUT) {
            grout_fill_poison(type->dtype, array->data, array->count);
        }
        if (machine->tracks && param->direction != GROUT_DIRECTION_IN) {
            size_t bytes = (size_t)grout_bits__get_word_count(array->count) * sizeof(uint64_t);
            array->is_mapped = true;
            array->tainted = grout_heap__take(&machine->heap, bytes);
            if (param->direction == GROUT_DIRECTION_OUT) {
                array->written = grout_heap__take(&machine->heap, bytes);
            }
            if (array->tainted == NULL ||
                (param->direction == GROUT_DIRECTION_OUT && array->written == NULL)) {
                return false;
            }
        }
    }
    return machine->arrays != NULL;
}

static size_t add_part(size_t *size, size_t bytes) {
    size_t at = *size;
    *size = (at + bytes + 63) / 64 * 64;
    return at;
}

/*
 * A wait that comes late, after an overrun, acquires its own phase, however late: the latest phases
 * are kept for everybody, older ones as long as a thread has not waited for them. Only a wait that
 * is thousands of phases late finds nothing; the kernel has an overrun without it.
 */
enum {
    SNAPSHOTS_MAX = 16,
    SNAPSHOT_BYTES_MAX = 64 << 10,
    OLD_PHASES_MAX = 4096, /* of one element */
    OLD_BYTES_MAX = 16 << 20
};

static void size_history(grout_state_layout *at, size_t elements, size_t set) {
    size_t all = elements * set;
    at->snapshots_kept = 2;
    while (at->snapshots_kept < SNAPSHOTS_MAX &&
           all * at->snapshots_kept * 2 <= SNAPSHOT_BYTES_MAX) {
        at->snapshots_kept *= 2;
    }
    at->old_max = OLD_PHASES_MAX;
    if (all > OLD_BYTES_MAX / OLD_PHASES_MAX) {
        at->old_max = (uint32_t)(OLD_BYTES_MAX / all);
    }
}

static bool add_state(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    const grout_clock_shape *shape = &plan->shape;
    grout_state_layout *at = &machine->at;
    size_t threads = shape->thread_count, elements = plan->element_count;
    size_t set = grout_order__get_size(shape) * sizeof(uint32_t), size = 0;
    int64_t words = grout_bits__get_word_count(plan->smem_bytes);
    add_part(&size, sizeof(grout_cta));
    at->threads = add_part(&size, threads * sizeof(grout_thread));
    at->loops = add_part(&size, threads * plan->loop_depth_max * sizeof(grout_loop_state));
    at->clocks = add_part(&size, threads * set);
    at->scopes = add_part(&size, (size_t)plan->scopes.count * (1 + grout_clock_size(shape)) *
                                     sizeof(uint32_t));
    at->barriers = add_part(&size, elements * sizeof(grout_barrier));
    size_history(at, elements, set);
    at->snapshots = add_part(&size, elements * at->snapshots_kept * set);
    at->waits = add_part(&size, elements * threads * sizeof(grout_wait_fact));
    at->payload_free = add_part(&size, machine->payload_slots * sizeof(uint32_t));
    at->registers = add_part(&size, threads * plan->register_bytes);
    at->smem = add_part(&size, (size_t)plan->smem_bytes);
    at->defined = add_part(&size, (size_t)words * sizeof(uint64_t));
    at->accumulators = add_part(&size, threads * plan->accumulator_bytes);
    at->size = size;
    machine->state = grout_heap__take(&machine->heap, size);
    machine->phases.item_size = (uint32_t)(sizeof(grout_phase) + (set + 7) / 8 * 8);
    machine->old_phases.item_size = (uint32_t)(sizeof(grout_old_phase) + (set + 7) / 8 * 8);
    machine->contributions.item_size = sizeof(grout_contribution);
    machine->asyncs.item_size = sizeof(grout_async);
    return machine->state != NULL;
}

/* Buffers that only lazy and random timing need. */
static bool add_lazy(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_heap *heap = &machine->heap;
    size_t words = (size_t)grout_bits__get_word_count(plan->smem_bytes) * sizeof(uint64_t);
    machine->undo_data_size = (uint32_t)(2 * plan->store_bytes_max);
    if (machine->undo_data_size < UNDO_DATA_BYTES) {
        machine->undo_data_size = UNDO_DATA_BYTES;
    }
    machine->payload =
        grout_heap__take(heap, (size_t)machine->payload_slots * machine->payload_slot_bytes);
    machine->undo_entries = grout_heap__take(heap, GROUT_UNDO_ENTRIES * sizeof(grout_undo));
    machine->undo_data = grout_heap__take(heap, machine->undo_data_size);
    machine->image = grout_heap__take(heap, (size_t)plan->smem_bytes);
    machine->image_stale = grout_heap__take(heap, words);
    machine->image_settled = grout_heap__take(heap, words);
    return machine->payload != NULL && machine->undo_entries != NULL &&
           machine->undo_data != NULL && machine->image != NULL && machine->image_stale != NULL &&
           machine->image_settled != NULL;
}

static void size_payload(grout_machine *machine) {
    uint32_t bytes = (uint32_t)((machine->plan->copy_bytes_max + 63) / 64 * 64);
    bytes = bytes == 0 ? 64 : bytes;
    machine->payload_mask_at = bytes;
    machine->payload_slot_bytes = 2 * bytes;
    machine->payload_slots = PAYLOAD_BYTES / bytes;
    if (machine->payload_slots < PAYLOAD_MIN) {
        machine->payload_slots = PAYLOAD_MIN;
    }
    if (machine->payload_slots > PAYLOAD_MAX) {
        machine->payload_slots = PAYLOAD_MAX;
    }
}

static bool add_scratch(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_heap *heap = &machine->heap;
    uint32_t set = grout_order__get_size(&plan->shape);
    machine->run_scratch.item_size = sizeof(grout_run);
    machine->origin_scratch.item_size = sizeof(grout_origin);
    machine->linear = grout_heap__take(heap, (size_t)plan->linear_bytes_max);
    machine->mask_linear = grout_heap__take(heap, (size_t)plan->mask_count_max);
    machine->clock_scratch = grout_heap__take(heap, set * sizeof(uint32_t));
    machine->strips = grout_heap__take(heap, GROUT_STRIP_BYTES + plan->chain_bytes_max);
    machine->chain_runs =
        grout_heap__take(heap, plan->chain_steps_max * sizeof *machine->chain_runs);
    machine->thread_facts =
        grout_heap__take(heap, plan->shape.thread_count * sizeof(grout_thread_fact));
    machine->barrier_facts =
        grout_heap__take(heap, plan->element_count * sizeof(grout_barrier_fact));
    return grout_pool__reserve(&machine->run_scratch, heap, 64) &&
           grout_pool__reserve(&machine->origin_scratch, heap, 16) && machine->linear != NULL &&
           machine->mask_linear != NULL && machine->clock_scratch != NULL &&
           machine->strips != NULL && machine->chain_runs != NULL &&
           machine->thread_facts != NULL && machine->barrier_facts != NULL;
}

static bool begin_observers(grout_machine *machine) {
    const grout_launch_info info = {.module = machine->launch.module,
                                    .kernel = machine->launch.kernel,
                                    .shape = machine->plan->shape,
                                    .cta_count = machine->plan->cta_count,
                                    .element_objects = machine->plan->element_objects,
                                    .element_indices = machine->plan->element_indices};
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        machine->interest |= observer->interest;
        if (observer->begin != NULL && !observer->begin(observer->self, &info)) {
            return false;
        }
    }
    return true;
}

static bool prepare(grout_machine *machine, grout_diags *diags) {
    machine->plan = grout_plan__new(&machine->launch, &machine->heap, diags);
    if (machine->plan == NULL) {
        return false;
    }
    size_payload(machine);
    if (!add_arrays(machine) || !add_state(machine) || !add_scratch(machine) ||
        (machine->is_lazy && !add_lazy(machine)) || !grout_operand__new(machine) ||
        !begin_observers(machine)) {
        return grout_diags_add_oom(diags);
    }
    uint32_t *slots = (uint32_t *)(void *)(machine->state + machine->at.payload_free);
    for (uint32_t i = 0; i < machine->payload_slots; i++) {
        slots[i] = i + 1;
    }
    return true;
}

grout_machine *grout_machine_new(const grout_launch *launch, grout_diags *diags) {
    grout_heap heap = {.limit = launch->max_memory};
    if (!check_arguments(launch, diags)) {
        return NULL;
    }
    grout_machine *machine = grout_heap__take(&heap, sizeof *machine);
    if (machine == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    machine->heap = heap;
    machine->launch = *launch;
    machine->launch.arguments = NULL; /* the data is borrowed, the list of it is not */
    machine->launch.argument_count = 0;
    machine->max_steps = launch->max_steps == 0 ? GROUT_STEPS_DEFAULT : launch->max_steps;
    machine->tracks = launch->track_undefined;
    machine->is_lazy = launch->timing != GROUT_TIMING_EAGER;
    machine->has_clocks = launch->observer_count > 0 || machine->is_lazy;
    machine->launch.arguments = launch->arguments;
    bool is_ready = prepare(machine, diags);
    machine->launch.arguments = NULL;
    if (!is_ready) {
        grout_machine_free(machine);
        return NULL;
    }
    return machine;
}

void grout_machine_free(grout_machine *machine) {
    if (machine == NULL) {
        return;
    }
    /* Sizes only balance the count of used bytes, which ends here: 0 will do. */
    grout_heap *heap = &machine->heap;
    for (uint32_t i = 0; machine->arrays != NULL && i < machine->array_count; i++) {
        grout_heap__give(heap, machine->arrays[i].written, 0);
        grout_heap__give(heap, machine->arrays[i].tainted, 0);
    }
    void *blocks[] = {machine->arrays,        machine->state,         machine->payload,
                      machine->undo_entries,  machine->undo_data,     machine->linear,
                      machine->mask_linear,   machine->image,         machine->image_stale,
                      machine->image_settled, machine->clock_scratch, machine->strips,
                      machine->thread_facts,  machine->barrier_facts, machine->chain_runs};
    for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        grout_heap__give(heap, blocks[i], 0);
    }
    grout_operand__free(machine);
    grout_pool *pools[] = {&machine->phases, &machine->old_phases,  &machine->contributions,
                           &machine->asyncs, &machine->run_scratch, &machine->origin_scratch};
    for (uint32_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        grout_pool__free(pools[i], heap);
    }
    grout_plan__free(machine->plan);
    grout_heap last = {0};
    grout_heap__give(&last, machine, 0);
}

grout_run_stats grout_machine_get_stats(const grout_machine *machine) {
    grout_run_stats stats = machine->stats;
    stats.peak_bytes = machine->heap.peak;
    return stats;
}

/* ---- scopes -----------------------------------------------------------------------------------
 */

static const grout_object_id *get_objects(const grout_machine *machine,
                                          const grout_scope_plan *scope) {
    return grout_pool__at(&machine->plan->objects, scope->first_object);
}

/* The bytes of a scope's arrays are as if nobody had written them. */
static void clear_objects(grout_machine *machine, const grout_scope_plan *scope) {
    const grout_module *module = machine->launch.module;
    for (uint32_t i = 0; i < scope->object_count; i++) {
        grout_object_id id = get_objects(machine, scope)[i];
        const grout_object *object = grout_module_get_object(module, id);
        if (object->kind != GROUT_OBJECT_ARRAY || object->space != GROUT_SPACE_SMEM) {
            continue;
        }
        const grout_layout *layout = grout_object_get_layout(module, id);
        int64_t offset = grout_object_get_smem_offset(module, id);
        grout_smem__touch(machine, offset, layout->bytes);
        grout_fill_poison(grout_object_get_type(module, id)->dtype,
                          grout_machine__smem(machine) + offset,
                          layout->bytes / layout->element_bytes);
        if (machine->tracks) {
            grout_bits__clear(grout_machine__defined(machine), offset, layout->bytes);
        }
    }
}

/* What all threads know now. */
static const uint32_t *join_clocks(grout_machine *machine) {
    const grout_clock_shape *shape = &machine->plan->shape;
    uint32_t size = grout_clock_size(shape);
    memcpy(machine->clock_scratch, grout_machine__clocks(machine, 0), size * sizeof(uint32_t));
    for (uint32_t i = 1; i < shape->thread_count; i++) {
        grout_order__join(machine->clock_scratch, grout_machine__clocks(machine, i), size);
    }
    return machine->clock_scratch;
}

static void publish_scope(grout_machine *machine, grout_event *event, const grout_scope_plan *scope,
                          const uint32_t *last) {
    event->u.scope.objects = get_objects(machine, scope);
    event->u.scope.object_count = scope->object_count;
    event->u.scope.last = last;
    event->u.scope.is_inner = scope->op != 0;
    grout_machine__publish_cta(machine, event);
}

void grout_machine__begin_scope(grout_machine *machine, const grout_scope_plan *scope,
                                const grout_inst *inst) {
    for (uint32_t i = 0; scope->op != 0 && i < scope->element_count; i++) {
        grout_barrier__reset(machine, scope->first_element + i);
    }
    clear_objects(machine, scope);
    if (inst != NULL && grout_machine__wants(machine, GROUT_EVENT_SCOPE_BEGIN)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_SCOPE_BEGIN;
        event.origin.op = inst->op;
        publish_scope(machine, &event, scope, join_clocks(machine));
    }
}

static void end_barriers(grout_machine *machine, const grout_scope_plan *scope,
                         const grout_origin *origin) {
    if (!grout_machine__wants(machine, GROUT_EVENT_BARRIER_END)) {
        return;
    }
    for (uint32_t i = 0; i < scope->element_count; i++) {
        grout_barrier_fact fact = grout_barrier__get_fact(machine, scope->first_element + i);
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_BARRIER_END;
        event.origin = *origin;
        event.u.barrier_end.barrier = &fact;
        event.u.barrier_end.is_inner = scope->op != 0;
        grout_machine__publish_cta(machine, &event);
    }
}

void grout_machine__end_scope(grout_machine *machine, const grout_scope_plan *scope,
                              const uint32_t *last, uint32_t thread, const grout_inst *inst) {
    grout_origin origin = grout_machine__origin(machine, thread, inst);
    grout_tma__finish_scope(machine, scope, thread);
    end_barriers(machine, scope, &origin);
    if (grout_machine__wants(machine, GROUT_EVENT_SCOPE_END)) {
        grout_clocks clocks;
        grout_event event =
            grout_machine__event(machine, GROUT_EVENT_SCOPE_END, thread, inst, &clocks);
        publish_scope(machine, &event, scope, last);
    }
    clear_objects(machine, scope);
}

/* ---- CTAs --------------------------------------------------------------------------------------
 */

void grout_machine__begin_cta(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_cta *cta = grout_machine__cta(machine);
    memset(machine->state, 0, machine->at.payload_free);
    memset(machine->state + machine->at.accumulators, 0,
           machine->at.size - machine->at.accumulators);
    grout_pool__clear(&machine->phases);
    grout_pool__clear(&machine->old_phases);
    grout_pool__clear(&machine->contributions);
    grout_pool__clear(&machine->asyncs);
    cta->index = (uint32_t)machine->next_cta++;
    cta->is_begun = 1;
    cta->random[GROUT_DRAW_SCHEDULE] =
        machine->launch.seed * UINT64_C(0x9e3779b97f4a7c15) + cta->index;
    cta->random[GROUT_DRAW_ENGINE] = ~cta->random[GROUT_DRAW_SCHEDULE];
    for (uint32_t i = 0; i < plan->shape.thread_count; i++) {
        grout_machine__thread(machine, i)->pc = 1;
        grout_machine__thread(machine, i)->last_pc = 1;
        grout_machine__thread(machine, i)->registers = plan->entry_registers;
        grout_order__begin(&plan->shape, grout_machine__clocks(machine, i), i);
    }
    if (grout_machine__wants(machine, GROUT_EVENT_CTA_BEGIN)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_CTA_BEGIN;
        grout_machine__publish_cta(machine, &event);
    }
    grout_machine__begin_scope(machine, grout_plan__scope(plan, 1), NULL);
}

void grout_machine__end_cta(grout_machine *machine) {
    const grout_scope_plan *scope = grout_plan__scope(machine->plan, 1);
    grout_cta *cta = grout_machine__cta(machine);
    grout_origin origin = {.cta = cta->index};
    grout_tma__finish_all(machine);
    end_barriers(machine, scope, &origin);
    if (grout_machine__wants(machine, GROUT_EVENT_CTA_END)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_CTA_END;
        publish_scope(machine, &event, scope, join_clocks(machine));
    }
    cta->is_begun = 0;
    machine->stats.ctas_done++;
}

/* ---- the run ------------------------------------------------------------------------------------
 */

/* Elements of out arrays that nobody wrote. */
static void check_outputs(grout_machine *machine) {
    const grout_kernel *kernel =
        grout_module_get_kernel(machine->launch.module, machine->launch.kernel);
    for (uint32_t i = 0; i < machine->array_count; i++) {
        const grout_array *array = &machine->arrays[i];
        if (array->written == NULL || !grout_machine__wants(machine, GROUT_EVENT_FAULT)) {
            continue;
        }
        int64_t written = grout_bits__count(array->written, array->count);
        if (written < array->count) {
            const grout_param *param = grout_module_get_param(machine->launch.module, kernel, i);
            grout_fault fault = {.code = GROUT_DIAG_OUTPUT_NOT_WRITTEN,
                                 .object = param->object,
                                 .start = grout_bits__find_clear(array->written, array->count),
                                 .have = array->count - written,
                                 .need = array->count,
                                 .is_static = true};
            grout_event event;
            memset(&event, 0, sizeof event);
            event.kind = GROUT_EVENT_FAULT;
            event.step = machine->stats.steps;
            event.u.fault = &fault;
            grout_machine__publish(machine, &event);
        }
    }
}

static grout_run_status end_run(grout_machine *machine, grout_run_status status,
                                grout_diags *diags) {
    bool is_kept = true;
    machine->is_over = true;
    machine->status = status;
    if (status == GROUT_RUN_DONE) {
        check_outputs(machine);
    }
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        is_kept &= observer->end == NULL || observer->end(observer->self);
    }
    if (machine->has_failed || !is_kept || status == GROUT_RUN_FAILED) {
        machine->status = GROUT_RUN_FAILED;
        grout_diags_add_oom(diags);
    }
    return machine->status;
}

grout_run_status grout_machine_run(grout_machine *machine, uint64_t max_steps, grout_diags *diags) {
    uint64_t limit = UINT64_MAX;
    if (max_steps != 0 && max_steps < UINT64_MAX - machine->stats.steps) {
        limit = machine->stats.steps + max_steps;
    }
    if (machine->is_over) {
        return machine->status;
    }
    while (grout_machine__cta(machine)->is_begun != 0 ||
           machine->next_cta < machine->plan->cta_count) {
        if (grout_machine__cta(machine)->is_begun == 0) {
            grout_machine__begin_cta(machine);
        }
        if (!grout_machine__run_cta(machine, limit)) {
            return machine->status == GROUT_RUN_PAUSED ? GROUT_RUN_PAUSED
                                                       : end_run(machine, machine->status, diags);
        }
        grout_machine__end_cta(machine);
        if (machine->has_failed) {
            return end_run(machine, GROUT_RUN_FAILED, diags);
        }
    }
    return end_run(machine, GROUT_RUN_DONE, diags);
}

bool grout_schedule_find(const char *text, grout_schedule *schedule_out) {
    bool is_random = strcmp(text, "random") == 0;
    *schedule_out = is_random ? GROUT_SCHEDULE_RANDOM : GROUT_SCHEDULE_FAIR;
    return is_random || strcmp(text, "fair") == 0;
}

bool grout_timing_find(const char *text, grout_timing *timing_out) {
    static const char *const names[] = {"lazy", "eager", "random"};
    static const grout_timing timings[] = {GROUT_TIMING_LAZY, GROUT_TIMING_EAGER,
                                           GROUT_TIMING_RANDOM};
    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *timing_out = timings[i];
            return true;
        }
    }
    return false;
}
