/* print.c - a module as text again: registers %R0, %R1, .., labels $L and the number of an
 * instruction, one block a function.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

static void print_operand(const grout_ptx_module *module, const ptx_operand *operand,
                          grout_text *out);

static void print_items(const grout_ptx_module *module, const ptx_operand *operand,
                        const char *between, grout_text *out) {
    for (uint32_t i = 0; i < operand->count; i++) {
        grout_text_add(out, "%s", i == 0 ? "" : between);
        print_operand(module, grout_ptx__get_item(module, operand, i), out);
    }
}

/* Registers are numbered in each function. */
static uint32_t get_number(const grout_ptx_module *module, uint32_t id) {
    for (size_t i = 0; i < module->functions.count; i++) {
        const ptx_function *function = &module->functions.items[i];
        if (id >= function->first_register &&
            id - function->first_register < function->register_count) {
            return id - function->first_register;
        }
    }
    return id;
}

/* And so are lists of targets. */
static uint32_t get_table_number(const grout_ptx_module *module, uint32_t id) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < id; i++) {
        number += module->tables.items[i].function == module->tables.items[id].function;
    }
    return number;
}

static void print_number(const ptx_operand *operand, grout_text *out) {
    if (operand->is_float) {
        grout_text_add(out, operand->is_single ? "0f%08llX" : "0d%016llX",
                       (unsigned long long)operand->bits);
    } else {
        grout_text_add(out, "%lld", (long long)operand->bits);
    }
}

static void print_offset(const ptx_operand *operand, grout_text *out) {
    if (operand->bits != 0) {
        grout_text_add(out, "+%lld", (long long)operand->bits);
    }
}

/* Each variable of a body has its number in its name: blocks may declare a name again. */
static void print_variable_name(const grout_ptx_module *module, uint32_t id, grout_text *out) {
    const ptx_variable *variable = &module->variables.items[id];
    const char *name = grout_ptx__get_name(module, variable->name);
    if (variable->function == PTX_NO_ID || variable->is_parameter) {
        grout_text_add(out, "%s", name);
    } else {
        uint32_t number = 0;
        for (uint32_t i = 0; i < id; i++) {
            number += module->variables.items[i].function == variable->function &&
                      !module->variables.items[i].is_parameter;
        }
        grout_text_add(out, "$V%u", number);
    }
}

static void print_address(const grout_ptx_module *module, const ptx_operand *operand,
                          grout_text *out) {
    grout_text_add(out, "[");
    for (uint32_t i = 0; i < operand->count; i++) {
        grout_text_add(out, "%s", i == 0 ? "" : ", ");
        print_operand(module, grout_ptx__get_item(module, operand, i), out);
        if (i == 0) {
            print_offset(operand, out);
        }
    }
    grout_text_add(out, "]");
}

static void print_operand(const grout_ptx_module *module, const ptx_operand *operand,
                          grout_text *out) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        grout_text_add(out, "%s%%R%u",
                       !operand->is_negated                                         ? ""
                       : module->registers.items[operand->id].type == PTX_WORD_PRED ? "!"
                                                                                    : "-",
                       get_number(module, operand->id));
        break;
    case PTX_OPERAND_SPECIAL:
        grout_text_add(out, "%s", grout_ptx__get_special((ptx_special)operand->id)->text);
        break;
    case PTX_OPERAND_SINK:
        grout_text_add(out, "_");
        break;
    case PTX_OPERAND_IMMEDIATE:
        print_number(operand, out);
        break;
    case PTX_OPERAND_VARIABLE:
        print_variable_name(module, operand->id, out);
        print_offset(operand, out);
        break;
    case PTX_OPERAND_ADDRESS:
        print_address(module, operand, out);
        break;
    case PTX_OPERAND_VECTOR:
        grout_text_add(out, "{");
        print_items(module, operand, ", ", out);
        grout_text_add(out, "}");
        break;
    case PTX_OPERAND_LIST:
        grout_text_add(out, "(");
        print_items(module, operand, ", ", out);
        grout_text_add(out, ")");
        break;
    case PTX_OPERAND_PAIR:
        print_items(module, operand, "|", out);
        break;
    case PTX_OPERAND_LABEL:
        grout_text_add(out, "$L%u", operand->id);
        break;
    case PTX_OPERAND_TARGETS:
        grout_text_add(out, "$T%u", get_table_number(module, operand->id));
        break;
    case PTX_OPERAND_FUNCTION:
        grout_text_add(out, "%s",
                       grout_ptx__get_name(module, module->functions.items[operand->id].name));
        break;
    }
}

static void print_word(ptx_word word, grout_text *out) {
    if (word.id == PTX_WORD_SHAPE) {
        grout_text_add(out, ".m%un%uk%u", word.value >> 20, word.value >> 10 & 1023,
                       word.value & 1023);
    } else {
        grout_text_add(out, ".%s", grout_ptx__get_word((ptx_word_id)word.id)->text);
    }
}

static void print_inst(const grout_ptx_module *module, const ptx_inst *inst, grout_text *out) {
    grout_text_add(out, "\t");
    if (inst->guard != PTX_NO_ID) {
        grout_text_add(out, "@%s%%R%u ", inst->is_guard_negated ? "!" : "",
                       get_number(module, inst->guard));
    }
    grout_text_add(out, "%s", grout_ptx__get_op(inst->op)->text);
    for (uint32_t i = 0; i < inst->word_count; i++) {
        print_word(module->words.items[inst->first_word + i], out);
    }
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        grout_text_add(out, "%s", i == 0 ? " " : ", ");
        print_operand(module, grout_ptx__get_operand(module, inst, i), out);
    }
    grout_text_add(out, ";\n");
}

static void print_variable(const grout_ptx_module *module, uint32_t id, grout_text *out) {
    const ptx_variable *variable = &module->variables.items[id];
    uint32_t bits = grout_ptx__get_word((ptx_word_id)variable->type)->bits;
    uint64_t size = bits < 8 ? 1 : bits / 8;
    grout_text_add(out, "%s.%s .align %u .%s ", variable->is_extern ? ".extern " : "",
                   grout_ptx__get_word((ptx_word_id)variable->space)->text, variable->align,
                   grout_ptx__get_word((ptx_word_id)variable->type)->text);
    print_variable_name(module, id, out);
    if (variable->size == 0) {
        grout_text_add(out, "[]");
    } else if (variable->size != size) {
        grout_text_add(out, "[%llu]", (unsigned long long)(variable->size / size));
    }
    for (uint64_t i = 0; i < variable->byte_count; i += size) {
        uint64_t value = 0;
        for (uint64_t j = 0; j < size && j < sizeof value; j++) {
            value |= (uint64_t)module->bytes.items[variable->first_byte + i + j] << 8 * j;
        }
        grout_text_add(out, "%s0x%llX", i == 0 ? " = {" : ", ", (unsigned long long)value);
    }
    grout_text_add(out, "%s", variable->byte_count > 0 ? "}" : "");
}

static void print_limits(const ptx_function *function, grout_text *out) {
    const struct {
        const char *text;
        const uint32_t *numbers;
    } limits[] = {{"maxntid", function->max_threads},
                  {"reqntid", function->needed_threads},
                  {"reqnctapercluster", function->cluster}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const uint32_t *numbers = limits[i].numbers;
        if (numbers[0] != 0) {
            grout_text_add(out, ".%s %u, %u, %u\n", limits[i].text, numbers[0], numbers[1],
                           numbers[2]);
        }
    }
    if (function->is_cluster_explicit) {
        grout_text_add(out, ".explicitcluster\n");
    }
    if (function->min_ctas != 0) {
        grout_text_add(out, ".minnctapersm %u\n", function->min_ctas);
    }
    if (function->max_registers != 0) {
        grout_text_add(out, ".maxnreg %u\n", function->max_registers);
    }
}

static void print_body(const grout_ptx_module *module, uint32_t id, grout_text *out) {
    const ptx_function *function = &module->functions.items[id];
    grout_text_add(out, "{\n");
    for (uint32_t i = 0; i < function->register_count; i++) {
        uint32_t number = function->first_register + i;
        grout_text_add(out, "\t.reg .%s %%R%u;\n",
                       grout_ptx__get_word((ptx_word_id)module->registers.items[number].type)->text,
                       i);
    }
    for (uint32_t i = 0; i < module->variables.count; i++) {
        if (module->variables.items[i].function == id && !module->variables.items[i].is_parameter) {
            grout_text_add(out, "\t");
            print_variable(module, i, out);
            grout_text_add(out, ";\n");
        }
    }
    for (uint32_t i = 0; i < module->tables.count; i++) {
        ptx_targets targets = module->tables.items[i];
        if (targets.function != id) {
            continue;
        }
        grout_text_add(out, "$T%u: .branchtargets ", get_table_number(module, i));
        for (uint32_t j = 0; j < targets.count; j++) {
            grout_text_add(out, "%s$L%u", j == 0 ? "" : ", ",
                           module->targets.items[targets.first + j]);
        }
        grout_text_add(out, ";\n");
    }
    for (uint32_t i = 0; i < function->inst_count; i++) {
        grout_text_add(out, "$L%u:\n", i);
        print_inst(module, &module->insts.items[function->first_inst + i], out);
    }
    grout_text_add(out, "$L%u:\n}\n", function->inst_count);
}

/* The parameters of a function: those that it returns come first among its variables. */
static void print_function(const grout_ptx_module *module, uint32_t id, grout_text *out) {
    const ptx_function *function = &module->functions.items[id];
    uint32_t first = function->first_parameter, count = function->parameter_count;
    grout_text_add(out, "%s ", function->is_entry ? ".visible .entry" : ".func");
    for (uint32_t i = 0; i < function->result_count; i++) {
        grout_text_add(out, i == 0 ? "(" : ", ");
        print_variable(module, first + i, out);
    }
    grout_text_add(out, "%s%s", function->result_count > 0 ? ") " : "",
                   grout_ptx__get_name(module, function->name));
    grout_text_add(out, "(");
    for (uint32_t i = function->result_count; i < count; i++) {
        grout_text_add(out, i == function->result_count ? "" : ", ");
        print_variable(module, first + i, out);
    }
    grout_text_add(out, ")\n");
    print_limits(function, out);
    if (function->has_body) {
        print_body(module, id, out);
    } else {
        grout_text_add(out, ";\n");
    }
}

void grout_ptx_module_print(const grout_ptx_module *module, grout_text *out) {
    grout_text_add(out, ".version %u.%u\n.target %s\n.address_size 64\n", module->version_major,
                   module->version_minor, grout_ptx__get_name(module, module->target));
    for (uint32_t i = 0; i < module->variables.count; i++) {
        if (module->variables.items[i].function == PTX_NO_ID) {
            print_variable(module, i, out);
            grout_text_add(out, ";\n");
        }
    }
    for (uint32_t i = 0; i < module->functions.count; i++) {
        print_function(module, i, out);
    }
}
