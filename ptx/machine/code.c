/* code.c - instructions as steps: planes for registers, addresses for variables, and
 * the decoders that ptx_ops.def names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "observe.h"

enum {
    LOCAL_MAX = 512 * 1024, /* of a thread: CUDA C++ Programming Guide, 'Compute Capabilities' */
    PARAMETERS_MAX = 32764  /* PTX ISA 9.1, 'Kernel Function Parameters' */
};

#define PTX_OP(NAME, TEXT, LEAST, MOST, CLASSES, SECTION, ROUTINE) \
    [PTX_OP_##NAME] = grout_ptx__decode_##ROUTINE,
static ptx_decode_routine *const routines[PTX_OP_COUNT] = {
    [PTX_OP_NONE] = grout_ptx__decode_NONE,
#include "ptx_ops.def"
};

bool grout_ptx__decode_NONE(ptx_decoder *decoder) {
    return grout_ptx__unknown(decoder, "the machine does not run '%s' yet",
                              grout_ptx__get_op(decoder->inst->op)->text);
}

void grout_ptx__free_code(ptx_code *code) {
    if (code == NULL) {
        return;
    }
    grout__free(code->steps.items);
    grout__free(code->items.items);
    grout__free(code->constants.items);
    grout__free(code->first_steps);
    grout__free(code->registers);
    grout__free(code->addresses);
    grout__free(code);
}

/* A new plane in the warp's registers. */
static ptx_plane add_plane(ptx_code *code, uint32_t bits) {
    ptx_plane plane = {
        .offset = code->register_bytes, .id = code->plane_count++, .bits = (uint16_t)bits};
    code->register_bytes += grout_ptx__get_plane_bytes(bits);
    return plane;
}

/* ---- a module ---- */

static bool decode_inst(ptx_decoder *decoder, uint32_t inst) {
    ptx_code *code = decoder->code;
    decoder->inst = &decoder->module->insts.items[inst];
    if (!GROUT_ARRAY_RESERVE(&code->steps, NULL, 1)) {
        return grout_diags_add_oom(decoder->diags);
    }
    decoder->step = &code->steps.items[code->steps.count++];
    *decoder->step = (ptx_step){.inst = inst, .guard.is_sink = true};
    if (decoder->inst->guard != PTX_NO_ID) {
        decoder->step->guard = code->registers[decoder->inst->guard];
        decoder->step->guard.is_negated = decoder->inst->is_guard_negated;
    }
    decoder->step->ordering = grout_ptx__decode_ordering(decoder);
    return routines[decoder->inst->op](decoder);
}

static bool decode_function(ptx_decoder *decoder, const ptx_function *function) {
    ptx_code *code = decoder->code;
    for (uint32_t i = 0; i < function->inst_count; i++) {
        if (!decode_inst(decoder, function->first_inst + i)) {
            return false;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&code->steps, NULL, 1)) {
        return grout_diags_add_oom(decoder->diags);
    }
    uint32_t last = function->first_inst + function->inst_count;
    code->steps.items[code->steps.count++] = (ptx_step){
        .run = grout_ptx__run_leave, .guard.is_sink = true, .inst = last > 0 ? last - 1 : 0};
    return true;
}

static bool decode_functions(ptx_decoder *decoder) {
    const grout_ptx_module *module = decoder->module;
    uint32_t first = 0;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        decoder->code->first_steps[i] = first;
        first += module->functions.items[i].inst_count + 1;
    }
    for (uint32_t i = 0; i < module->functions.count; i++) {
        decoder->function = i;
        if (!decode_function(decoder, &module->functions.items[i])) {
            return false;
        }
    }
    return true;
}

static void add_registers(ptx_code *code) {
    const grout_ptx_module *module = code->module;
    code->plane_count = 1; /* 0 is defined in all lanes */
    for (size_t i = 0; i < module->registers.count; i++) {
        uint32_t bits = grout_ptx__get_word((ptx_word_id)module->registers.items[i].type)->bits;
        code->registers[i] = add_plane(code, bits);
    }
    code->registers[module->registers.count] = add_plane(code, 128);
    for (uint32_t i = 0; i < PTX_SPECIAL_COUNT; i++) {
        code->specials[i] = add_plane(code, grout_ptx__get_special((ptx_special)i)->bits);
    }
}

static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

/* Where a variable of shared, local or parameter space goes next, or NULL. All functions have their
 * parameters and local variables side by side: none calls itself. */
static uint64_t *choose_space(const ptx_variable *variable, uint32_t entry, uint64_t *shared,
                              uint64_t *local, uint64_t *parameters) {
    if (variable->space == PTX_WORD_SHARED) {
        return shared;
    }
    if (variable->space == PTX_WORD_PARAM && variable->is_parameter &&
        variable->function == entry) {
        return parameters;
    }
    return variable->space == PTX_WORD_PARAM || variable->space == PTX_WORD_LOCAL ? local : NULL;
}

/* Static shared memory first, then what is dynamic. False with a diagnostic if a lane could not
 * have its variables. */
static bool place_variables(ptx_code *code, uint32_t entry, grout_diags *diags) {
    const grout_ptx_module *module = code->module;
    uint64_t shared = PTX_SHARED_FIRST, local = 0, parameters = 0, dynamic_align = 1;
    for (size_t i = 0; i < module->variables.count; i++) {
        const ptx_variable *variable = &module->variables.items[i];
        uint64_t *at = choose_space(variable, entry, &shared, &local, &parameters);
        code->addresses[i] = UINT64_MAX;
        if (variable->is_extern) {
            dynamic_align = variable->align > dynamic_align ? variable->align : dynamic_align;
        } else if (at != NULL) {
            *at = align_up(*at, variable->align);
            code->addresses[i] = *at;
            *at += variable->size;
        }
    }
    shared = align_up(shared, dynamic_align);
    for (size_t i = 0; i < module->variables.count; i++) {
        const ptx_variable *variable = &module->variables.items[i];
        if (variable->space == PTX_WORD_SHARED && variable->is_extern) {
            code->addresses[i] = shared;
        }
    }
    grout_place place = grout_ptx__get_place(module, module->functions.items[entry].place);
    if (local > LOCAL_MAX || parameters > PARAMETERS_MAX) {
        return grout_diags_add(diags, GROUT_DIAG_PTX_FAULT, place,
                               "a thread has at most 512 KiB of local memory and a kernel at most "
                               "32764 bytes of parameters, not %llu and %llu",
                               (unsigned long long)local, (unsigned long long)parameters);
    }
    code->static_shared_bytes = shared - PTX_SHARED_FIRST;
    code->local_bytes = (uint32_t)align_up(local, 16);
    code->parameter_bytes = (uint32_t)parameters;
    return true;
}

static bool prepare(ptx_code *code, uint32_t function, const uint64_t *globals,
                    grout_diags *diags) {
    const grout_ptx_module *module = code->module;
    code->first_steps = grout__new(NULL, module->functions.count, sizeof *code->first_steps);
    code->registers = grout__new(NULL, module->registers.count + 1, sizeof *code->registers);
    code->addresses = grout__new(NULL, module->variables.count, sizeof *code->addresses);
    if (code->first_steps == NULL || code->registers == NULL || code->addresses == NULL) {
        return grout_diags_add_oom(diags);
    }
    add_registers(code);
    if (!place_variables(code, function, diags)) {
        return false;
    }
    for (size_t i = 0; i < module->variables.count; i++) {
        code->addresses[i] = globals[i] != 0 ? globals[i] : code->addresses[i];
    }
    return true;
}

ptx_code *grout_ptx__decode(const grout_ptx_module *module, uint32_t function,
                            const uint64_t *globals, grout_diags *diags) {
    ptx_code *code = grout__new(NULL, 1, sizeof *code);
    ptx_decoder decoder = {.code = code, .module = module, .diags = diags};
    if (code == NULL) {
        grout_diags_add_oom(diags);
        return NULL;
    }
    code->module = module;
    if (!prepare(code, function, globals, diags) || !decode_functions(&decoder)) {
        grout_ptx__free_code(code);
        return NULL;
    }
    return code;
}
