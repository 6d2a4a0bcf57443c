/* run.c - a launch: looked at, decoded, run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "asyncs.h"
#include "decoders.h"
#include "float_env.h"
#include "goes_on.h"
#include "observe.h"
#include "schedule.h"
#include "state.h"

#include <string.h>

enum { THREADS_MAX = 1024, CLUSTER_MAX = 16, CTAS_MAX = 1 << 24 };
enum { GRID_YZ_MAX = 65535, BLOCK_Z_MAX = 64 }; /* PTX ISA 9.1, 10.1 and 10.6: %tid, %ctaid */

static bool refuse(grout_diags *diags, const char *what, uint64_t value) {
    grout_place nowhere = {.file = NULL};
    return grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, nowhere, "%s (%llu)", what,
                           (unsigned long long)value);
}

static void take_sizes(ptx_machine *machine, const ptx_function *function) {
    const grout_ptx_launch *launch = machine->launch;
    for (uint32_t i = 0; i < 3; i++) {
        machine->grid[i] = launch->grid[i] > 0 ? launch->grid[i] : 1;
        machine->block[i] = launch->block[i] > 0 ? launch->block[i] : 1;
        uint32_t said = function->cluster[0] > 0 ? function->cluster[i] : 1;
        machine->cluster[i] = launch->cluster[i] > 0 ? launch->cluster[i] : said;
    }
}

/* .maxntid of an entry as a number of threads. */
static uint64_t get_most_threads(const ptx_function *function) {
    uint64_t most = 1;
    for (uint32_t i = 0; i < 3; i++) {
        most =
            function->max_threads[i] > THREADS_MAX ? THREADS_MAX : most * function->max_threads[i];
    }
    return most;
}

static bool check_sizes(ptx_machine *machine, const ptx_function *function) {
    uint64_t threads = 1, ctas = 1, cluster = 1;
    if (machine->block[2] > BLOCK_Z_MAX) {
        return refuse(machine->diags, "a CTA has at most 64 threads along z", machine->block[2]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        threads *= machine->block[i];
        ctas *= machine->grid[i];
        cluster *= machine->cluster[i];
        if (threads > THREADS_MAX) {
            return refuse(machine->diags, "a CTA has at most 1024 threads", threads);
        }
        if (ctas > CTAS_MAX) {
            return refuse(machine->diags, "a grid has at most 2^24 CTAs here", ctas);
        }
        if (i > 0 && machine->grid[i] > GRID_YZ_MAX) {
            return refuse(machine->diags, "a grid has at most 65535 CTAs along y and z",
                          machine->grid[i]);
        }
        if (cluster > CLUSTER_MAX || machine->grid[i] % machine->cluster[i] != 0) {
            return refuse(machine->diags, "a grid is made of whole clusters, of at most 16 CTAs",
                          machine->cluster[i]);
        }
        if (function->needed_threads[0] > 0 && function->needed_threads[i] != machine->block[i]) {
            return refuse(machine->diags, ".reqntid says another number of threads",
                          machine->block[i]);
        }
    }
    if (function->max_threads[0] > 0 && threads > get_most_threads(function)) {
        return refuse(machine->diags, "more threads than .maxntid says", threads);
    }
    machine->threads = (uint32_t)threads;
    machine->warp_count = ((uint32_t)threads + PTX_LANES - 1) / PTX_LANES;
    machine->register_count = grout_ptx__count_registers(function, (uint32_t)threads);
    machine->cta_count = (uint32_t)ctas;
    machine->cluster_size = (uint32_t)cluster;
    return true;
}

/* Variables of global and constant space that the entry reaches are arrays in the launch's memory.
 */
static bool place_globals(ptx_machine *machine) {
    const grout_ptx_module *module = machine->launch->module;
    for (size_t i = 0; i < machine->code->variables.count; i++) {
        ptx_placed *placed = &machine->code->variables.items[i];
        const ptx_variable *variable = &module->variables.items[placed->variable];
        if ((variable->space != PTX_WORD_GLOBAL && variable->space != PTX_WORD_CONST) ||
            variable->size == 0) {
            continue;
        }
        const uint64_t cost = grout_ptx_memory_get_cost(variable->size);
        const uint8_t *bytes =
            variable->byte_count > 0 ? module->bytes.items + variable->first_byte : NULL;
        if (grout_limited__take(machine->heap, cost)) {
            placed->address = grout_ptx__add_variable(machine->memory, bytes, variable->byte_count,
                                                      variable->size, machine->pulse);
        }
        if (placed->address == 0 || placed->address == UINT64_MAX) {
            return !machine->pulse->is_over && grout_diags_add_oom(machine->diags);
        }
    }
    return true;
}

static bool decode(ptx_machine *machine, uint32_t function) {
    const ptx_making making = {.module = machine->launch->module,
                               .entry = function,
                               .allocator = &machine->heap->allocator,
                               .pulse = machine->pulse,
                               .diags = machine->diags};
    machine->code = grout_ptx__begin_code(&making);
    return machine->code != NULL && place_globals(machine) &&
           grout_ptx__decode(&making, machine->code);
}

static bool prepare(ptx_machine *machine, uint32_t function) {
    const grout_ptx_launch *launch = machine->launch;
    uint32_t parameters = machine->code->parameter_bytes;
    if (launch->parameter_bytes != parameters || (launch->parameters == NULL && parameters > 0)) {
        return refuse(machine->diags, "the entry has another number of bytes of parameters",
                      parameters);
    }
    uint64_t shared = machine->code->static_shared_bytes + launch->dynamic_shared_bytes;
    if (shared > PTX_SHARED_MAX) {
        return refuse(machine->diags, "a CTA has at most 227 KiB of shared memory", shared);
    }
    machine->shared_bytes = (uint32_t)shared;
    machine->first_step = grout_ptx__get_first_step(machine->code, function);
    machine->parameters = ptx_new(machine, (size_t)parameters * 2, 1);
    if (machine->parameters == NULL) {
        return grout_diags_add_oom(machine->diags);
    }
    if (parameters > 0) {
        memcpy(machine->parameters, launch->parameters, parameters);
        memset(machine->parameters + parameters, 0xff, parameters);
    }
    return true;
}

/* The entry of a launch; false with a diagnostic. */
static bool find_entry(const grout_ptx_launch *launch, uint32_t *function_out, grout_diags *diags) {
    const uint32_t count =
        launch->entry != NULL ? 0 : grout_ptx_module_get_entry_count(launch->module);
    return grout_ptx__find_entry(launch->module, launch->entry, function_out) ||
           refuse(diags, "how many entries of that name the module has", count);
}

static bool run_machine(ptx_machine *machine) {
    uint32_t function = 0;
    if (!find_entry(machine->launch, &function, machine->diags)) {
        return false;
    }
    const ptx_function *entry = &machine->launch->module->functions.items[function];
    take_sizes(machine, entry);
    return check_sizes(machine, entry) && decode(machine, function) && prepare(machine, function) &&
           grout_ptx__begin_observing(machine) && grout_ptx__run_all(machine);
}

static void end_machine(ptx_machine *machine) {
    for (size_t i = 0; i < machine->asyncs.count; i++) {
        grout__free(machine->asyncs.items[i].bytes);
        grout_ptx__end_flight(&machine->asyncs.items[i].flight);
    }
    grout_ptx__asyncs_free(&machine->asyncs);
    grout__free(machine->scratch);
    grout_ptx__deinit_ctas(machine);
    grout_ptx__end_observing(machine);
    grout__free(machine->twins.items);
    grout__free(machine->parameters);
    grout_ptx__free_code(machine->code);
}

/* ---- with other inputs ---- */

enum { STEPS_TIMES = 4, STEPS_MORE = 1000000 }; /* of the first run's instructions */

static bool is_out_of_memory(const grout_diags *diags) {
    bool is_it = false;
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        is_it |= grout_diags_get(diags, i)->code == GROUT_DIAG_OUT_OF_MEMORY;
    }
    return is_it;
}

bool grout_ptx__run_again(const ptx_machine *machine, grout_ptx_memory *memory,
                          ptx_again *again_out) {
    grout_ptx_launch launch = *machine->launch;
    grout_diags *diags = grout_diags_new();
    if (diags == NULL) {
        return grout_diags_add_oom(machine->diags);
    }
    launch.memory = memory;
    launch.max_steps = machine->steps * STEPS_TIMES + STEPS_MORE;
    ptx_machine other = {.launch = &launch,
                         .diags = diags,
                         .asked = machine->asked,
                         .heap = machine->heap,
                         .pulse = machine->pulse,
                         .steps_before = machine->steps,
                         .memory = memory,
                         .random = launch.seed,
                         .raced = PTX_NO_INSTRUCTIONS};
    void *first = machine->pulse->payload;
    machine->pulse->payload = &other; /* it is what progress tells of */
    again_out->is_done = run_machine(&other);
    machine->pulse->payload = first;
    again_out->raced = other.raced;
    again_out->twins.items = other.twins.items;
    again_out->twins.count = other.twins.count;
    other.twins.items = NULL;
    end_machine(&other);
    const bool is_right = !is_out_of_memory(diags) || grout_diags_add_oom(machine->diags);
    grout_diags_free(diags);
    return is_right && !machine->pulse->is_over;
}

/* What the memory holds before a run, if there may be another one with something else in it. False
 * without memory, and where the run is to end. */
static bool keep_initial(const ptx_machine *machine, grout_ptx_memory **initial_out) {
    const grout_ptx_memory *memory = machine->memory;
    bool is_any = false;
    for (size_t i = 0; machine->launch->finds_races && i < memory->arrays.count; i++) {
        is_any |= memory->arrays.items[i].elements != GROUT_PTX_ELEMENTS_FIXED;
    }
    *initial_out = is_any ? grout_ptx__copy_memory(memory, machine->heap, machine->pulse) : NULL;
    return !is_any || *initial_out != NULL ||
           (!machine->pulse->is_over && grout_diags_add_oom(machine->diags));
}

/* ---- bounds ---- */

/* The machine that runs now: a second run goes on where the first one has ended. */
static bool ask_launch(void *payload) {
    const ptx_machine *machine = payload;
    if (!grout_diags__ask(machine->asked, "the PTX was run")) {
        return false;
    }
    if (machine->launch->progress == NULL) {
        return true;
    }
    const bool is_second = machine->steps_before > 0;
    const grout_progress progress = {.ctas_done =
                                         is_second ? machine->cta_count : machine->ctas_done,
                                     .ctas_total = machine->cta_count,
                                     .steps = machine->steps_before + machine->steps};
    return machine->launch->progress(machine->launch->payload, &progress);
}

/* What a bound has ended says so, beside what is said already. */
static void explain_end(const ptx_machine *machine, bool is_right) {
    const grout_place nowhere = {.file = NULL};
    if (!is_right && machine->heap->is_reached && is_out_of_memory(machine->diags)) {
        grout_diags_help(machine->diags,
                         "the emulator may take %llu bytes beside the arrays (max_memory)",
                         (unsigned long long)machine->heap->limit);
    }
    if (grout_diags__has_ended(machine->diags)) {
        grout_diags_note(machine->diags, nowhere, "after %llu instructions",
                         (unsigned long long)machine->steps);
    } else if (machine->pulse->is_over) {
        grout_diags_add(machine->diags, GROUT_DIAG_INTERRUPTED, nowhere,
                        "the launch's progress callback has ended the run, after %llu instructions",
                        (unsigned long long)machine->steps);
    }
}

/* ---- a launch ---- */

static bool run(const grout_ptx_launch *launch, grout_ptx_result *result_out, grout_diags *diags) {
    const grout_ptx_module *module = launch->module;
    grout_limited heap;
    grout_pulse pulse = {.goes_on = ask_launch};
    ptx_machine machine = {.launch = launch,
                           .diags = diags,
                           .asked = diags,
                           .heap = &heap,
                           .pulse = &pulse,
                           .memory = launch->memory,
                           .random = launch->seed,
                           .raced = PTX_NO_INSTRUCTIONS};
    grout_ptx_memory *initial = NULL;
    grout_limited__init(&heap, launch->allocator, launch->max_memory);
    pulse.payload = &machine;
    if (!grout_diags_add_source(diags, module->file, module->text, module->text_size)) {
        return false;
    }
    bool is_right = keep_initial(&machine, &initial) && run_machine(&machine) &&
                    grout_ptx__judge_twins(&machine, initial);
    explain_end(&machine, is_right);
    if (result_out != NULL) {
        *result_out = (grout_ptx_result){.warp_instructions = machine.steps,
                                         .lane_instructions = machine.lane_steps,
                                         .async_operations = machine.async_count,
                                         .peak_bytes = heap.peak};
    }
    grout_ptx_memory_free(initial);
    end_machine(&machine);
    return is_right && !pulse.is_over;
}

/* What no run can be made of. */
static bool check_launch(const grout_ptx_launch *launch, grout_diags *diags) {
    const grout_place nowhere = {.file = NULL};
    if (launch == NULL || launch->module == NULL || launch->memory == NULL) {
        return grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, nowhere,
                               "a launch needs a module and a memory");
    }
    return (uint32_t)launch->timing <= GROUT_PTX_TIMING_EARLY ||
           refuse(diags, "there is no such timing", (uint64_t)launch->timing);
}

bool grout_ptx_launch_run(const grout_ptx_launch *launch, grout_ptx_result *result_out,
                          grout_diags *diags) {
    if (!check_launch(launch, diags)) {
        return false;
    }
    grout_float_env caller = grout_float_env__enter();
    bool is_right = run(launch, result_out, diags);
    grout_float_env__leave(&caller);
    return is_right;
}
