/* code.c - what an entry reaches, planes for its registers and addresses for its variables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include <string.h>

enum {
    LOCAL_MAX = 512 * 1024, /* of a thread: CUDA C++ Programming Guide, 'Compute Capabilities' */
    PARAMETERS_MAX = 32764  /* PTX ISA 9.1, 'Kernel Function Parameters' */
};

void grout_ptx__free_code(ptx_code *code) {
    if (code == NULL) {
        return;
    }
    grout__free(code->reached.items);
    grout__free(code->places);
    grout__free(code->variables.items);
    grout__free(code->steps.items);
    grout__free(code->items.items);
    grout__free(code->constants.items);
    grout__free(code->known);
    grout__free(code->registers);
    grout__free(code);
}

/* ---- what the entry reaches ---- */

/* Functions that are found and not looked at, and marks of variables. */
typedef struct ptx_search {
    const ptx_making *making;
    ptx_code *code;
    GROUT_ARRAY(uint32_t) open;
    bool *is_used;
} ptx_search;

static bool find_function(ptx_search *search, uint32_t function) {
    if (!search->making->module->functions.items[function].has_body ||
        search->code->places[function] != 0) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&search->open, search->making->allocator, 1)) {
        return grout_diags_add_oom(search->making->diags);
    }
    search->code->places[function] = 1;
    search->open.items[search->open.count++] = function;
    return true;
}

/* What an instruction of the function names. A function's own variables lie side by side. */
static bool look_into(ptx_search *search, uint32_t number) {
    const grout_ptx_module *module = search->making->module;
    const ptx_function *function = &module->functions.items[number];
    const uint32_t own = function->parameter_count + function->variable_count;
    if (own > 0) {
        memset(search->is_used + function->first_parameter, true, own);
    }
    for (uint32_t i = 0; i < function->operand_count; i++) {
        const ptx_operand *operand = &module->operands.items[function->first_operand + i];
        if (!grout_pulse__goes_on(search->making->pulse, 1) ||
            (operand->kind == PTX_OPERAND_FUNCTION && !find_function(search, operand->id))) {
            return false;
        }
        if (operand->kind == PTX_OPERAND_VARIABLE) {
            search->is_used[operand->id] = true;
        }
    }
    return true;
}

/* In the order of the module. */
static bool list_reached(const ptx_search *search) {
    const grout_ptx_module *module = search->making->module;
    const grout_allocator *allocator = search->making->allocator;
    ptx_code *code = search->code;
    uint32_t step = 0, plane = 0;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        if (code->places[i] == 0) {
            continue;
        }
        if (!GROUT_ARRAY_RESERVE(&code->reached, allocator, 1)) {
            return grout_diags_add_oom(search->making->diags);
        }
        code->reached.items[code->reached.count++] = (ptx_reached){i, step, plane};
        code->places[i] = (uint32_t)code->reached.count;
        step += module->functions.items[i].inst_count + 1;
        plane += module->functions.items[i].register_count;
    }
    for (uint32_t i = 0; i < module->variables.count; i++) {
        if (!search->is_used[i]) {
            continue;
        }
        if (!GROUT_ARRAY_RESERVE(&code->variables, allocator, 1)) {
            return grout_diags_add_oom(search->making->diags);
        }
        code->variables.items[code->variables.count++] = (ptx_placed){i, UINT64_MAX};
    }
    return true;
}

static bool reach(const ptx_making *making, ptx_code *code) {
    const grout_ptx_module *module = making->module;
    ptx_search search = {.making = making, .code = code};
    code->places = grout__new(making->allocator, module->functions.count, sizeof *code->places);
    search.is_used = grout__new(making->allocator, module->variables.count, sizeof(bool));
    bool is_right =
        (code->places != NULL && search.is_used != NULL) || grout_diags_add_oom(making->diags);
    is_right = is_right && find_function(&search, making->entry);
    while (is_right && search.open.count > 0) {
        is_right = look_into(&search, search.open.items[--search.open.count]);
    }
    is_right = is_right && list_reached(&search);
    grout__free(search.open.items);
    grout__free(search.is_used);
    return is_right;
}

static const ptx_reached *get_reached(const ptx_code *code, uint32_t function) {
    return &code->reached.items[code->places[function] - 1];
}

uint32_t grout_ptx__get_first_step(const ptx_code *code, uint32_t function) {
    return get_reached(code, function)->first_step;
}

/* ---- registers ---- */

/* A new plane in the warp's registers. */
static ptx_plane add_plane(ptx_code *code, uint32_t bits) {
    ptx_plane plane = {
        .offset = code->register_planes, .id = code->plane_count++, .bits = (uint16_t)bits};
    code->register_planes += grout_ptx__get_plane_size(bits);
    return plane;
}

/* False without memory. */
static bool add_registers(ptx_code *code) {
    const grout_ptx_module *module = code->module;
    size_t count = 0;
    for (size_t i = 0; i < code->reached.count; i++) {
        count += module->functions.items[code->reached.items[i].function].register_count;
    }
    code->registers = grout__new(code->allocator, count, sizeof *code->registers);
    code->plane_count = 1; /* 0 is defined in all lanes */
    for (size_t i = 0; code->registers != NULL && i < code->reached.count; i++) {
        const ptx_reached *reached = &code->reached.items[i];
        const ptx_function *function = &module->functions.items[reached->function];
        for (uint32_t j = 0; j < function->register_count; j++) {
            const uint16_t type = module->registers.items[function->first_register + j].type;
            code->registers[reached->first_plane + j] =
                add_plane(code, grout_ptx__get_word((ptx_word_id)type)->bits);
        }
    }
    code->sink = add_plane(code, 128);
    for (uint32_t i = 0; i < PTX_SPECIAL_COUNT; i++) {
        code->specials[i] = add_plane(code, grout_ptx__get_special((ptx_special)i)->bits);
    }
    return code->registers != NULL;
}

ptx_plane grout_ptx__get_register(const ptx_decoder *decoder, uint32_t id) {
    const ptx_function *function = &decoder->module->functions.items[decoder->reached->function];
    return decoder->code->registers[decoder->reached->first_plane + id - function->first_register];
}

/* ---- variables ---- */

static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

static bool is_entry_parameter(const ptx_code *code, const ptx_variable *variable) {
    return variable->space == PTX_WORD_PARAM && variable->is_parameter &&
           variable->function == code->entry;
}

bool grout_ptx__is_local(const ptx_code *code, uint32_t variable) {
    const ptx_variable *it = &code->module->variables.items[variable];
    return !it->is_extern && !is_entry_parameter(code, it) &&
           (it->space == PTX_WORD_PARAM || it->space == PTX_WORD_LOCAL);
}

/* Where a variable of shared, local or parameter space goes next, or NULL. All functions have their
 * parameters and local variables side by side: none calls itself. */
static uint64_t *choose_space(const ptx_code *code, uint32_t variable, uint64_t *shared,
                              uint64_t *local, uint64_t *parameters) {
    const ptx_variable *it = &code->module->variables.items[variable];
    return it->space == PTX_WORD_SHARED          ? shared
           : is_entry_parameter(code, it)        ? parameters
           : grout_ptx__is_local(code, variable) ? local
                                                 : NULL;
}

/* Static shared memory first, then what is dynamic. False with a diagnostic if a lane could not
 * have its variables. */
static bool place_variables(const ptx_making *making, ptx_code *code) {
    const grout_ptx_module *module = code->module;
    uint64_t shared = PTX_SHARED_FIRST, local = 0, parameters = 0, dynamic_align = 1;
    for (size_t i = 0; i < code->variables.count; i++) {
        ptx_placed *placed = &code->variables.items[i];
        const ptx_variable *variable = &module->variables.items[placed->variable];
        uint64_t *at = choose_space(code, placed->variable, &shared, &local, &parameters);
        if (variable->is_extern) {
            dynamic_align = variable->align > dynamic_align ? variable->align : dynamic_align;
        } else if (at != NULL) {
            *at = align_up(*at, variable->align);
            placed->address = *at;
            *at += variable->size;
        }
    }
    shared = align_up(shared, dynamic_align);
    for (size_t i = 0; i < code->variables.count; i++) {
        ptx_placed *placed = &code->variables.items[i];
        const ptx_variable *variable = &module->variables.items[placed->variable];
        if (variable->space == PTX_WORD_SHARED && variable->is_extern) {
            placed->address = shared;
        }
    }
    grout_place place = grout_ptx__get_place(module, module->functions.items[code->entry].place);
    if (local > LOCAL_MAX || parameters > PARAMETERS_MAX) {
        return grout_diags_add(making->diags, GROUT_DIAG_PTX_FAULT, place,
                               "a thread has at most 512 KiB of local memory and a kernel at most "
                               "32764 bytes of parameters, not %llu and %llu",
                               (unsigned long long)local, (unsigned long long)parameters);
    }
    code->static_shared_bytes = shared - PTX_SHARED_FIRST;
    code->local_bytes = (uint32_t)align_up(local, 16);
    code->parameter_bytes = (uint32_t)parameters;
    return true;
}

uint64_t grout_ptx__get_address(const ptx_code *code, uint32_t variable) {
    size_t low = 0, high = code->variables.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->variables.items[middle].variable < variable) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < code->variables.count && code->variables.items[low].variable == variable
               ? code->variables.items[low].address
               : UINT64_MAX;
}

ptx_code *grout_ptx__begin_code(const ptx_making *making) {
    ptx_code *code = grout__new(making->allocator, 1, sizeof *code);
    if (code == NULL) {
        grout_diags_add_oom(making->diags);
        return NULL;
    }
    code->module = making->module;
    code->allocator = making->allocator;
    code->entry = making->entry;
    if (!reach(making, code) || !(add_registers(code) || grout_diags_add_oom(making->diags)) ||
        !place_variables(making, code)) {
        grout_ptx__free_code(code);
        return NULL;
    }
    return code;
}
