/*
 * machine.c - the life of a launch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"
#include "component.h"
#include "engine.h"
#include "memory.h"
#include "non_finite.h"
#include "run.h"
#include "workers.h"

#include "bits.h"
#include "convert.h"
#include "float_env.h"
#include "goes_on.h"
#include "pulse.h"

#include "grout-internal/generate.h"

#include <inttypes.h>
#include <string.h>

/* ---- a launch ------------------------------------------------------------------------------- */

static bool is_written(const grout_launch *launch, size_t index) {
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    uint8_t direction = grout_module_get_param(launch->module, kernel, (uint32_t)index)->direction;
    return grout_direction_is_written(direction);
}

bool grout_launch_find_overlap(const grout_launch *launch, size_t *written_out, size_t *other_out) {
    for (size_t i = 0; i < launch->argument_count; i++) {
        const grout_argument *a = &launch->arguments[i];
        const uint8_t *a_data = a->data;
        for (size_t k = 0; is_written(launch, i) && k < launch->argument_count; k++) {
            const uint8_t *b_data = launch->arguments[k].data;
            if (i != k && a_data < b_data + launch->arguments[k].size &&
                b_data < a_data + a->size) {
                *written_out = i;
                *other_out = k;
                return true;
            }
        }
    }
    return false;
}

bool grout_launch_shares_bytes(const grout_launch *launch) {
    size_t written = 0, other = 0;
    return grout_launch_find_overlap(launch, &written, &other);
}

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
            size = (size_t)grout_type_get_bytes(grout_object_get_type(module, param->object));
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

/* What is known of an array's elements, if the kernel may write it, or a launch before has left
 * some without a value. undefined: those; NULL: none. */
static bool add_maps(grout_machine *machine, grout_gmem_array *array, const uint64_t *undefined) {
    size_t bytes = (size_t)grout_bits__get_word_count(array->count) * sizeof(uint64_t);
    if (!machine->tracks || (array->direction == GROUT_DIRECTION_IN && undefined == NULL)) {
        return true;
    }
    array->is_mapped = true;
    array->tainted = grout_machine__keep(machine, bytes);
    if (array->tainted != NULL && undefined != NULL) {
        memcpy(array->tainted, undefined, bytes);
        array->has_tainted = true;
    }
    if (array->direction == GROUT_DIRECTION_OUT) {
        array->written = grout_machine__keep(machine, bytes);
    }
    return array->tainted != NULL &&
           (array->direction != GROUT_DIRECTION_OUT || array->written != NULL);
}

/* The machine has a byte for each element of a 'packed' array, which no kernel writes: what it
 * shows to a kernel is the same, and so is where the engines find it. */
static bool expand(grout_machine *machine, grout_gmem_array *array, const grout_type *type) {
    const uint8_t *packed = array->data;
    array->count = array->size = grout_type_get_count(type);
    array->data = grout_machine__keep(machine, (size_t)array->count);
    for (int64_t i = 0; array->data != NULL && i < array->count; i++) {
        grout_type_get_element(type, packed, i, array->data + i);
    }
    return array->data != NULL;
}

static bool add_params(grout_machine *machine) {
    const grout_module *module = machine->launch.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, machine->launch.kernel);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        grout_gmem_array *array = &machine->arrays[i];
        array->direction = param->direction;
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            continue;
        }
        const grout_type *type = grout_object_get_type(module, param->object);
        array->data = machine->launch.arguments[i].data;
        array->size = (int64_t)machine->launch.arguments[i].size;
        array->count =
            grout_type_get_bytes(type) / grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
        if (param->direction == GROUT_DIRECTION_OUT) {
            grout_fill_poison(type->dtype, array->data, array->count);
        }
        const grout_array_past *pasts = machine->launch.pasts;
        const bool has_past = pasts != NULL && param->direction != GROUT_DIRECTION_OUT;
        if ((type->is_expanded && !expand(machine, array, type)) ||
            !add_maps(machine, array, has_past ? pasts[i].undefined : NULL)) {
            return false;
        }
    }
    return true;
}

/* What is asked while a launch is prepared: its progress, if it has one; else the list. */
typedef struct asked {
    const grout_machine *machine;
    grout_diags *diags;
} asked;

static bool goes_on(void *payload) {
    const asked *it = payload;
    const grout_launch *launch = &it->machine->launch;
    const grout_progress progress = {.ctas_total = it->machine->plan->cta_count};
    return launch->progress != NULL ? launch->progress(launch->payload, &progress)
                                    : grout_diags__ask(it->diags, "the launch was prepared");
}

/* What a scratch holds at first. If progress ends that, nothing of the launch runs; false: the list
 * has, and says so. */
static bool fill_scratch(grout_machine *machine, grout_object_id scratch, void *data,
                         grout_diags *diags) {
    asked it = {machine, diags};
    grout_pulse pulse = {.goes_on = goes_on, .payload = &it};
    if (!machine->plan->is_cut &&
        !grout_scratch_fill_default(machine->launch.module, scratch, data, &pulse)) {
        machine->plan->is_cut = true;
    }
    return machine->launch.progress != NULL || !grout_diags__has_ended(diags);
}

/* GMEM scratches are like out arrays whose contents are not read after the launch; with an
 * init(..), like inout arrays. */
static bool add_gmem_scratches(grout_machine *machine, uint32_t first, grout_diags *diags) {
    const grout_module *module = machine->launch.module;
    for (uint32_t i = first; i < machine->array_count; i++) {
        grout_object_id id =
            *(const grout_object_id *)grout_pool__at(&machine->plan->gmem_scratches, i - first + 1);
        grout_gmem_array *array = &machine->arrays[i];
        const grout_type *type = grout_object_get_type(module, id);
        const bool has_init = grout_module_get_object(module, id)->init != 0;
        array->direction = has_init ? GROUT_DIRECTION_INOUT : GROUT_DIRECTION_OUT;
        array->is_scratch = true;
        array->size = grout_object_get_layout(module, id)->bytes;
        array->count =
            grout_type_get_bytes(type) / grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
        array->data = grout_machine__keep(machine, (size_t)array->size);
        if (array->data == NULL || !add_maps(machine, array, NULL)) {
            return false;
        }
        if (!has_init) {
            grout_fill_poison(type->dtype, array->data, array->count);
        } else if (!fill_scratch(machine, id, array->data, diags)) {
            return false;
        }
    }
    return true;
}

static bool add_arrays(grout_machine *machine, grout_diags *diags) {
    const grout_kernel *kernel =
        grout_module_get_kernel(machine->launch.module, machine->launch.kernel);
    const grout_pool *scratches = &machine->plan->gmem_scratches;
    machine->array_count = kernel->param_count + (scratches->count == 0 ? 0 : scratches->count - 1);
    machine->arrays = grout_machine__keep(machine, machine->array_count * sizeof *machine->arrays);
    return machine->arrays != NULL && add_params(machine) &&
           add_gmem_scratches(machine, kernel->param_count, diags) && grout_stale__add(machine);
}

/* Workers make launches of their own from them. */
static bool keep_arguments(grout_machine *machine) {
    const grout_launch *launch = &machine->launch;
    if (launch->workers > 1) {
        size_t size = launch->argument_count * sizeof *machine->arguments;
        machine->arguments = grout_machine__keep(machine, size + 1);
        if (machine->arguments == NULL) {
            return false;
        }
        if (size > 0) {
            memcpy(machine->arguments, launch->arguments, size);
        }
        machine->shares_bytes = grout_launch_shares_bytes(launch);
    }
    return true;
}

static bool prepare(grout_machine *machine, grout_diags *diags) {
    machine->plan = grout_plan__new(&machine->launch, &machine->heap, diags);
    if (machine->plan == NULL) {
        return false;
    }
    grout_components__begin(machine);
    machine->has_clocks |= machine->plan->needs_clocks;
    if (!keep_arguments(machine) || !add_arrays(machine, diags) ||
        !grout_machine__add_state(machine) || !grout_observers__begin(machine)) {
        return !grout_diags__has_ended(diags) && grout_diags_add_oom(diags);
    }
    grout_machine__seed(machine, 0);
    return true;
}

grout_machine *grout_machine_new(const grout_launch *launch, grout_diags *diags) {
    grout_heap heap = {.allocator = launch->allocator, .limit = launch->max_memory};
    if (!check_arguments(launch, diags)) {
        return NULL;
    }
    grout_machine *machine = grout_heap__take(&heap, sizeof *machine);
    if (machine == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    machine->heap = heap;
    machine->engines = grout_engines;
    machine->launch = *launch;
    machine->max_steps = launch->max_steps == 0                ? GROUT_STEPS_DEFAULT
                         : launch->max_steps > GROUT_STEPS_MAX ? GROUT_STEPS_MAX
                                                               : launch->max_steps;
    machine->tracks = launch->track_undefined;
    machine->is_lazy = launch->timing != GROUT_TIMING_EAGER;
    machine->has_clocks = launch->observer_count > 0 || machine->is_lazy;
    grout_float_env caller = grout_float_env__enter();
    bool is_ready = prepare(machine, diags);
    grout_float_env__leave(&caller);
    machine->launch.arguments = NULL; /* only the data is borrowed, not the list */
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
    grout_machine__free_state(machine);
    grout_plan__free(machine->plan);
    grout_heap heap = machine->heap;
    grout_heap__give(&heap, machine, sizeof *machine);
}

grout_run_stats grout_machine_get_stats(const grout_machine *machine) {
    grout_run_stats stats = machine->run.stats;
    stats.peak_bytes = machine->heap.peak;
    return stats;
}

int64_t grout_machine_get_undefined(const grout_machine *machine, size_t param,
                                    uint64_t *bits_out) {
    const grout_gmem_array *array = &machine->arrays[param];
    const int64_t words = grout_bits__get_word_count(array->count);
    for (int64_t i = 0; i < words; i++) {
        const uint64_t unwritten = array->written == NULL ? 0 : ~array->written[i];
        const uint64_t tainted = array->has_tainted ? array->tainted[i] : 0;
        bits_out[i] = unwritten | tainted;
    }
    if (array->count % 64 != 0) {
        bits_out[words - 1] &= (UINT64_C(1) << array->count % 64) - 1;
    }
    return grout_bits__count(bits_out, array->count);
}

/* ---- the run ------------------------------------------------------------------------------------
 */

/* Elements of out arrays that nobody wrote. */
static void check_outputs(grout_machine *machine) {
    const grout_kernel *kernel =
        grout_module_get_kernel(machine->launch.module, machine->launch.kernel);
    for (uint32_t i = 0; i < machine->array_count; i++) {
        const grout_gmem_array *array = &machine->arrays[i];
        if (array->written == NULL || array->is_scratch ||
            !grout_machine__wants(machine, GROUT_EVENT_FAULT)) {
            continue;
        }
        int64_t written = grout_bits__count(array->written, array->count);
        if (written < array->count) {
            const grout_param *param = grout_module_get_param(machine->launch.module, kernel, i);
            const grout_type *type = grout_object_get_type(machine->launch.module, param->object);
            const uint8_t packed = grout_type_get_packed(type);
            grout_fault fault = {.code = GROUT_DIAG_OUTPUT_NOT_WRITTEN,
                                 .object = param->object,
                                 .start =
                                     packed * grout_bits__find_clear(array->written, array->count),
                                 .have = packed * (array->count - written),
                                 .need = packed * array->count,
                                 .is_static = true};
            grout_event event;
            memset(&event, 0, sizeof event);
            event.kind = GROUT_EVENT_FAULT;
            event.step = machine->run.stats.steps;
            event.u.fault = &fault;
            grout_machine__publish(machine, &event);
        }
    }
}

static grout_run_status end_run(grout_machine *machine, grout_run_status status,
                                grout_diags *diags) {
    machine->run.is_over = true;
    machine->run.status = status;
    if (status == GROUT_RUN_DONE) {
        check_outputs(machine);
    }
    bool is_kept = grout_observers__end(machine);
    if (machine->run.has_failed || !is_kept || status == GROUT_RUN_FAILED) {
        machine->run.status = GROUT_RUN_FAILED;
        grout_diags_add_oom(diags);
    }
    return machine->run.status;
}

static grout_run_status run(grout_machine *machine, uint64_t max_steps, grout_diags *diags) {
    uint64_t limit = UINT64_MAX;
    if (max_steps != 0 && max_steps < UINT64_MAX - machine->run.stats.steps) {
        limit = machine->run.stats.steps + max_steps;
    }
    if (machine->run.is_over) {
        return machine->run.status;
    }
    if (machine->plan->is_cut) {
        return end_run(machine, GROUT_RUN_INTERRUPTED, diags);
    }
    grout_run_status status;
    if (machine->launch.track_non_finite && !machine->has_looked) {
        machine->has_looked = true;
        grout_non_finite__inputs(machine);
    }
    if (max_steps == 0 && machine->run.facts.next_cluster == 0 &&
        grout_workers__run(machine, &status)) {
        return end_run(machine, status, diags);
    }
    while (machine->run.facts.begun > 0 ||
           machine->run.facts.next_cluster * machine->plan->shape.cta_count <
               machine->plan->cta_count) {
        if (!grout_cluster__begin_all(machine)) {
            return end_run(machine, machine->run.status, diags);
        }
        if (!grout_machine__run(machine, limit)) {
            return machine->run.status == GROUT_RUN_PAUSED
                       ? GROUT_RUN_PAUSED
                       : end_run(machine, machine->run.status, diags);
        }
        grout_cluster__end_all(machine);
        if (machine->run.has_failed) {
            return end_run(machine, GROUT_RUN_FAILED, diags);
        }
    }
    grout_components__end_launch(machine);
    return end_run(machine, GROUT_RUN_DONE, diags);
}

grout_run_status grout_machine_run(grout_machine *machine, uint64_t max_steps, grout_diags *diags) {
    grout_float_env caller = grout_float_env__enter();
    grout_run_status status = run(machine, max_steps, diags);
    grout_float_env__leave(&caller);
    return status;
}

bool grout_schedule_find(const char *text, grout_schedule *schedule_out) {
    static const char *const names[] = {"fair", "random", "pct", "replay"};
    static const grout_schedule schedules[] = {GROUT_SCHEDULE_FAIR, GROUT_SCHEDULE_RANDOM,
                                               GROUT_SCHEDULE_PCT, GROUT_SCHEDULE_REPLAY};
    *schedule_out = GROUT_SCHEDULE_FAIR;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *schedule_out = schedules[i];
            return true;
        }
    }
    return false;
}

bool grout_numerics_find(const char *text, grout_numerics *numerics_out) {
    *numerics_out = strcmp(text, "exact") == 0 ? GROUT_NUMERICS_EXACT : GROUT_NUMERICS_FAST;
    return *numerics_out == GROUT_NUMERICS_EXACT || strcmp(text, "fast") == 0;
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
