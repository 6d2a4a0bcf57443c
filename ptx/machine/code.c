/* code.c - instructions as steps: planes for registers and numbers, addresses for variables, and
 * the routine that ptx_ops.def names. SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"

#include <string.h>

#define PTX_OP(NAME, TEXT, LEAST, MOST, CLASSES, SECTION, ROUTINE) \
    [PTX_OP_##NAME] = grout_ptx__decode_##ROUTINE,
static ptx_decode_routine *const routines[PTX_OP_COUNT] = {
    [PTX_OP_NONE] = grout_ptx__decode_NONE,
#include "ptx_ops.def"
};

bool grout_ptx__unknown(const ptx_decoder *decoder, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    grout_diags_add_list(decoder->diags, GROUT_DIAG_PTX_UNSUPPORTED,
                         grout_ptx__get_place(decoder->module, decoder->inst->place), format,
                         arguments);
    va_end(arguments);
    return false;
}

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

const ptx_operand *grout_ptx__operand(const ptx_decoder *decoder, uint32_t i) {
    return grout_ptx__get_operand(decoder->module, decoder->inst, i);
}

ptx_word grout_ptx__word(const ptx_decoder *decoder, ptx_class class, uint32_t i) {
    return grout_ptx__get_word_of(decoder->module, decoder->inst, class, i);
}

bool grout_ptx__has(const ptx_decoder *decoder, ptx_word_id id) {
    return grout_ptx__has_word(decoder->module, decoder->inst, id);
}

uint16_t grout_ptx__type(const ptx_decoder *decoder, uint32_t i) {
    return grout_ptx__word(decoder, PTX_CLASS_TYPE, i).id;
}

/* ---- planes ---- */

static uint32_t get_plane_bytes(uint32_t bits) {
    return PTX_LANES * (bits <= 32 ? 4u : bits <= 64 ? 8u : 16u);
}

/* A new plane in the warp's registers. */
static ptx_plane add_plane(ptx_code *code, uint32_t bits) {
    ptx_plane plane = {
        .offset = code->register_bytes, .id = code->plane_count++, .bits = (uint16_t)bits};
    code->register_bytes += get_plane_bytes(bits);
    return plane;
}

/* 32 times one value among the constants; one that is there already is used again. */
static bool add_constant(const ptx_decoder *decoder, uint64_t value, uint32_t bits,
                         ptx_plane *plane_out) {
    ptx_code *code = decoder->code;
    uint32_t longs = get_plane_bytes(bits) / 8;
    uint64_t low = bits < 32 ? value & ((UINT64_C(1) << bits) - 1) : value & UINT32_MAX;
    uint64_t pattern = bits == 1    ? (value != 0 ? UINT64_MAX : 0)
                       : bits <= 32 ? low << 32 | low
                                    : value;
    if (!GROUT_ARRAY_RESERVE(&code->constants, NULL, longs)) {
        return grout_diags_add_oom(decoder->diags);
    }
    *plane_out = (ptx_plane){
        .offset = (uint32_t)code->constants.count * 8, .bits = (uint16_t)bits, .is_constant = true};
    for (size_t i = 0; i + longs <= code->constants.count; i += 16) {
        const uint64_t *at = code->constants.items + i;
        if (at[0] == pattern && at[15] == pattern && (longs == 16 || at[longs - 1] == pattern)) {
            plane_out->offset = (uint32_t)i * 8;
            return true;
        }
    }
    for (uint32_t i = 0; i < longs; i++) {
        code->constants.items[code->constants.count++] = pattern;
    }
    return true;
}

static uint64_t convert_number(const ptx_operand *operand, const ptx_word_info *type) {
    uint32_t bits32 = (uint32_t)operand->bits;
    float single = 0;
    double value = 0;
    uint64_t result = operand->bits;
    if (!operand->is_float || (operand->is_single && type->bits <= 32)) {
        return operand->bits;
    }
    if (operand->is_single) {
        memcpy(&single, &bits32, sizeof single);
        value = (double)single;
        memcpy(&result, &value, sizeof value);
    } else if (type->bits == 32) {
        memcpy(&value, &operand->bits, sizeof value);
        single = (float)value;
        memcpy(&bits32, &single, sizeof single);
        result = bits32;
    }
    return result;
}

static bool decode_variable(const ptx_decoder *decoder, const ptx_operand *operand, uint32_t bits,
                            ptx_plane *plane_out) {
    const ptx_variable *variable = &decoder->module->variables.items[operand->id];
    uint64_t address = decoder->code->addresses[operand->id];
    if (address == UINT64_MAX) {
        return grout_ptx__unknown(decoder, "the address of '%s' is not known",
                                  grout_ptx__get_name(decoder->module, variable->name));
    }
    return add_constant(decoder, address + operand->bits, bits, plane_out);
}

bool grout_ptx__decode_value(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type,
                             ptx_plane *plane_out) {
    const ptx_word_info *info = grout_ptx__get_word((ptx_word_id)type);
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        *plane_out = decoder->code->registers[operand->id];
        plane_out->is_negated = operand->is_negated;
        return !operand->is_negated || plane_out->bits == 1 ||
               grout_ptx__unknown(decoder, "'-' before a register is not known");
    case PTX_OPERAND_SPECIAL:
        *plane_out = decoder->code->specials[operand->id];
        return true;
    case PTX_OPERAND_IMMEDIATE:
        return add_constant(decoder, convert_number(operand, info),
                            info->bits == 0 ? 32 : info->bits, plane_out);
    case PTX_OPERAND_VARIABLE:
        return decode_variable(decoder, operand, info->bits == 0 ? 64 : info->bits, plane_out);
    case PTX_OPERAND_SINK:
        *plane_out = decoder->code->registers[decoder->module->registers.count];
        plane_out->is_sink = true;
        return true;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_LIST:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_LABEL:
    case PTX_OPERAND_TARGETS:
    case PTX_OPERAND_FUNCTION:
        break;
    }
    return grout_ptx__unknown(decoder, "an operand of '%s' is neither a register nor a number",
                              grout_ptx__get_op(decoder->inst->op)->text);
}

bool grout_ptx__decode_result(const ptx_decoder *decoder, uint32_t i, ptx_plane *plane_out) {
    const ptx_operand *operand = grout_ptx__operand(decoder, i);
    if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_SINK) {
        return grout_ptx__unknown(decoder, "the result of '%s' is not a register",
                                  grout_ptx__get_op(decoder->inst->op)->text);
    }
    return grout_ptx__decode_value(decoder, operand, PTX_WORD_NONE, plane_out);
}

bool grout_ptx__decode_source(const ptx_decoder *decoder, uint32_t i, uint16_t type,
                              uint32_t source) {
    return grout_ptx__decode_value(decoder, grout_ptx__operand(decoder, i), type,
                                   &decoder->step->sources[source]);
}

bool grout_ptx__decode_address(const ptx_decoder *decoder, uint32_t i, uint32_t source) {
    const ptx_operand *operand = grout_ptx__operand(decoder, i);
    if (operand->kind != PTX_OPERAND_ADDRESS) {
        return grout_ptx__unknown(decoder, "operand %u should be an address in [ ]", i + 1);
    }
    decoder->step->offset = operand->bits;
    return grout_ptx__decode_value(decoder, grout_ptx__get_item(decoder->module, operand, 0),
                                   PTX_WORD_B64, &decoder->step->sources[source]);
}

bool grout_ptx__decode_items(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type,
                             uint32_t *first_out, uint32_t *count_out) {
    ptx_code *code = decoder->code;
    bool is_vector = operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR;
    *count_out = is_vector ? operand->count : 1;
    *first_out = (uint32_t)code->items.count;
    if (!GROUT_ARRAY_RESERVE(&code->items, NULL, *count_out)) {
        return grout_diags_add_oom(decoder->diags);
    }
    for (uint32_t i = 0; i < *count_out; i++) {
        const ptx_operand *item =
            is_vector ? grout_ptx__get_item(decoder->module, operand, i) : operand;
        if (!grout_ptx__decode_value(decoder, item, type, &code->items.items[code->items.count])) {
            return false;
        }
        code->items.count++;
    }
    return true;
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

/* Static shared memory first, then what is dynamic. */
static void place_variables(ptx_code *code, uint32_t entry) {
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
    code->static_shared_bytes = (uint32_t)(shared - PTX_SHARED_FIRST);
    code->local_bytes = (uint32_t)align_up(local, 16);
    code->parameter_bytes = (uint32_t)parameters;
}

static bool prepare(ptx_code *code, uint32_t function, const uint64_t *globals) {
    const grout_ptx_module *module = code->module;
    code->first_steps = grout__new(NULL, module->functions.count, sizeof *code->first_steps);
    code->registers = grout__new(NULL, module->registers.count + 1, sizeof *code->registers);
    code->addresses = grout__new(NULL, module->variables.count, sizeof *code->addresses);
    if (code->first_steps == NULL || code->registers == NULL || code->addresses == NULL) {
        return false;
    }
    add_registers(code);
    place_variables(code, function);
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
    bool is_prepared = prepare(code, function, globals);
    if (!is_prepared) {
        grout_diags_add_oom(diags);
    }
    if (!is_prepared || !decode_functions(&decoder)) {
        grout_ptx__free_code(code);
        return NULL;
    }
    return code;
}
