/* run.c - a launch: looked at, decoded, run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "float_env.h"
#include "observe.h"
#include "registers.h"
#include "schedule.h"
#include "state.h"

#include <string.h>

enum { THREADS_MAX = 1024, CLUSTER_MAX = 16, CTAS_MAX = 1 << 24 };

static bool refuse(grout_diags *diags, const char *what, uint64_t value) {
    grout_place nowhere = {.file = NULL};
    return grout_diags_add(diags, GROUT_DIAG_BAD_ARGUMENT, nowhere, "%s (%llu)", what,
                           (unsigned long long)value);
}

/* How many entries of a name the module has, of all with NULL, and the last of them. */
static uint32_t count_entries(const grout_ptx_module *module, const char *name,
                              uint32_t *found_out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const ptx_function *function = &module->functions.items[i];
        if (function->is_entry && function->has_body &&
            (name == NULL || strcmp(name, grout_ptx__get_name(module, function->name)) == 0)) {
            *found_out = i;
            count++;
        }
    }
    return count;
}

bool grout_ptx_module_get_parameter(const grout_ptx_module *module, const char *entry,
                                    uint32_t index, size_t *offset_out, size_t *size_out) {
    uint32_t function = 0;
    if (count_entries(module, entry, &function) != 1 ||
        index >= module->functions.items[function].parameter_count) {
        return false;
    }
    uint64_t offset = 0;
    const ptx_variable *variables =
        module->variables.items + module->functions.items[function].first_parameter;
    for (uint32_t i = 0; i <= index; i++) {
        offset = (offset + variables[i].align - 1) / variables[i].align * variables[i].align;
        *offset_out = (size_t)offset;
        *size_out = (size_t)variables[i].size;
        offset += variables[i].size;
    }
    return true;
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

static bool check_sizes(ptx_machine *machine, const ptx_function *function) {
    uint64_t threads = 1, ctas = 1, cluster = 1, most = 1;
    for (uint32_t i = 0; i < 3; i++) {
        threads *= machine->block[i];
        ctas *= machine->grid[i];
        cluster *= machine->cluster[i];
        most *= function->max_threads[i];
        if (threads > THREADS_MAX) {
            return refuse(machine->diags, "a CTA has at most 1024 threads", threads);
        }
        if (ctas > CTAS_MAX) {
            return refuse(machine->diags, "a grid has at most 2^24 CTAs here", ctas);
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
    if (function->max_threads[0] > 0 && threads > most) {
        return refuse(machine->diags, "more threads than .maxntid says", threads);
    }
    machine->threads = (uint32_t)threads;
    machine->warp_count = ((uint32_t)threads + PTX_LANES - 1) / PTX_LANES;
    machine->register_count = grout_ptx__count_registers(function, (uint32_t)threads);
    machine->cta_count = (uint32_t)ctas;
    machine->cluster_size = (uint32_t)cluster;
    return true;
}

/* Variables of global and constant space are arrays in the launch's memory. */
static bool place_globals(ptx_machine *machine, const grout_ptx_module *module, uint64_t *globals) {
    for (size_t i = 0; i < module->variables.count; i++) {
        const ptx_variable *variable = &module->variables.items[i];
        if ((variable->space != PTX_WORD_GLOBAL && variable->space != PTX_WORD_CONST) ||
            variable->size == 0) {
            continue;
        }
        uint8_t *contents = grout__new(NULL, (size_t)variable->size, 1);
        if (contents != NULL && variable->byte_count > 0) {
            memcpy(contents, module->bytes.items + variable->first_byte,
                   (size_t)variable->byte_count);
        }
        globals[i] = contents == NULL
                         ? 0
                         : grout_ptx_memory_add(machine->memory, contents, (size_t)variable->size);
        grout__free(contents);
        if (globals[i] == 0) {
            return grout_diags_add_oom(machine->diags);
        }
    }
    return true;
}

static bool decode(ptx_machine *machine, uint32_t function) {
    const grout_ptx_module *module = machine->launch->module;
    uint64_t *globals = grout__new(NULL, module->variables.count, sizeof *globals);
    if (globals == NULL) {
        return grout_diags_add_oom(machine->diags);
    }
    if (place_globals(machine, module, globals)) {
        machine->code = grout_ptx__decode(module, function, globals, machine->diags);
    }
    grout__free(globals);
    return machine->code != NULL;
}

static bool prepare(ptx_machine *machine, uint32_t function) {
    const grout_ptx_launch *launch = machine->launch;
    uint32_t parameters = machine->code->parameter_bytes;
    if (launch->parameter_bytes != parameters) {
        return refuse(machine->diags, "the entry has another number of bytes of parameters",
                      parameters);
    }
    uint64_t shared = machine->code->static_shared_bytes + launch->dynamic_shared_bytes;
    if (shared > PTX_SHARED_MAX) {
        return refuse(machine->diags, "a CTA has at most 227 KiB of shared memory", shared);
    }
    machine->shared_bytes = (uint32_t)shared;
    machine->first_step = machine->code->first_steps[function];
    machine->parameters = grout__new(NULL, (size_t)parameters * 2, 1);
    if (machine->parameters == NULL || !grout_ptx__init_ctas(machine)) {
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
    const uint32_t count = count_entries(launch->module, launch->entry, function_out);
    return count == 1 || refuse(diags, "how many entries of that name the module has", count);
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
    grout__free(machine->asyncs.items);
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
    launch.steps_max = machine->steps * STEPS_TIMES + STEPS_MORE;
    ptx_machine other = {.launch = &launch,
                         .diags = diags,
                         .memory = memory,
                         .random = launch.seed,
                         .raced = PTX_NO_INSTRUCTIONS};
    again_out->is_done = run_machine(&other);
    again_out->raced = other.raced;
    again_out->twins.items = other.twins.items;
    again_out->twins.count = other.twins.count;
    other.twins.items = NULL;
    end_machine(&other);
    const bool is_right = !is_out_of_memory(diags) || grout_diags_add_oom(machine->diags);
    grout_diags_free(diags);
    return is_right;
}

/* What the memory holds before a run, if there may be another one with something else in it. False
 * without memory. */
static bool keep_initial(const grout_ptx_launch *launch, grout_ptx_memory **initial_out) {
    bool is_any = false;
    for (size_t i = 0; launch->finds_races && i < launch->memory->arrays.count; i++) {
        is_any |= launch->memory->arrays.items[i].elements != GROUT_PTX_ELEMENTS_FIXED;
    }
    *initial_out = is_any ? grout_ptx__copy_memory(launch->memory) : NULL;
    return !is_any || *initial_out != NULL;
}

static bool run(const grout_ptx_launch *launch, grout_ptx_result *result_out, grout_diags *diags) {
    const grout_ptx_module *module = launch->module;
    ptx_machine machine = {.launch = launch,
                           .diags = diags,
                           .memory = launch->memory,
                           .random = launch->seed,
                           .raced = PTX_NO_INSTRUCTIONS};
    grout_ptx_memory *initial = NULL;
    if (!grout_diags_add_source(diags, module->file, module->text, module->text_size)) {
        return false;
    }
    bool is_right = (keep_initial(launch, &initial) || grout_diags_add_oom(diags)) &&
                    run_machine(&machine) && grout_ptx__judge_twins(&machine, initial);
    if (result_out != NULL) {
        *result_out = (grout_ptx_result){machine.steps, machine.lane_steps, machine.async_count};
    }
    grout_ptx_memory_free(initial);
    end_machine(&machine);
    return is_right;
}

bool grout_ptx_launch_run(const grout_ptx_launch *launch, grout_ptx_result *result_out,
                          grout_diags *diags) {
    fenv_t caller = grout_float_env__enter();
    bool is_right = run(launch, result_out, diags);
    grout_float_env__leave(&caller);
    return is_right;
}
