/* print.c - a module as text again: registers %R0, %R1, .., labels $L and the number of an
 * instruction, one block a function.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

/* What is printed, and where; function: whose body it is, NULL outside of bodies. */
typedef struct ptx_printer {
    const grout_ptx_module *module;
    const ptx_function *function;
    grout_text *out;
} ptx_printer;

static void print_operand(const ptx_printer *printer, const ptx_operand *operand);

static void print_items(const ptx_printer *printer, const ptx_operand *operand,
                        const char *between) {
    for (uint32_t i = 0; i < operand->count; i++) {
        grout_text_add(printer->out, "%s", i == 0 ? "" : between);
        print_operand(printer, grout_ptx__get_item(printer->module, operand, i));
    }
}

/* Registers, lists of targets and variables of a body are numbered in their function, which has
 * them side by side. */
static uint32_t get_register_number(const ptx_printer *printer, uint32_t id) {
    return printer->function == NULL ? id : id - printer->function->first_register;
}

static uint32_t get_table_number(const ptx_printer *printer, uint32_t id) {
    return printer->function == NULL ? id : id - printer->function->first_table;
}

static uint32_t get_first_variable(const ptx_function *function) {
    return function->first_parameter + function->parameter_count;
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
static void print_variable_name(const ptx_printer *printer, uint32_t id) {
    const ptx_variable *variable = &printer->module->variables.items[id];
    if (variable->function == PTX_NO_ID || variable->is_parameter || printer->function == NULL) {
        grout_text_add(printer->out, "%s", grout_ptx__get_name(printer->module, variable->name));
    } else {
        grout_text_add(printer->out, "$V%u", id - get_first_variable(printer->function));
    }
}

static void print_address(const ptx_printer *printer, const ptx_operand *operand) {
    grout_text_add(printer->out, "[");
    for (uint32_t i = 0; i < operand->count; i++) {
        grout_text_add(printer->out, "%s", i == 0 ? "" : ", ");
        print_operand(printer, grout_ptx__get_item(printer->module, operand, i));
        if (i == 0) {
            print_offset(operand, printer->out);
        }
    }
    grout_text_add(printer->out, "]");
}

static void print_register(const ptx_printer *printer, uint32_t id, bool is_negated) {
    const bool is_predicate = printer->module->registers.items[id].type == PTX_WORD_PRED;
    grout_text_add(printer->out, "%s%%R%u",
                   !is_negated    ? ""
                   : is_predicate ? "!"
                                  : "-",
                   get_register_number(printer, id));
}

static void print_operand(const ptx_printer *printer, const ptx_operand *operand) {
    const grout_ptx_module *module = printer->module;
    grout_text *out = printer->out;
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        print_register(printer, operand->id, operand->is_negated);
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
        print_variable_name(printer, operand->id);
        print_offset(operand, out);
        break;
    case PTX_OPERAND_ADDRESS:
        print_address(printer, operand);
        break;
    case PTX_OPERAND_VECTOR:
        grout_text_add(out, "{");
        print_items(printer, operand, ", ");
        grout_text_add(out, "}");
        break;
    case PTX_OPERAND_LIST:
        grout_text_add(out, "(");
        print_items(printer, operand, ", ");
        grout_text_add(out, ")");
        break;
    case PTX_OPERAND_PAIR:
        print_items(printer, operand, "|");
        break;
    case PTX_OPERAND_LABEL:
        grout_text_add(out, "$L%u", operand->id);
        break;
    case PTX_OPERAND_TARGETS:
        grout_text_add(out, "$T%u", get_table_number(printer, operand->id));
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

static void print_inst(const ptx_printer *printer, const ptx_inst *inst) {
    const grout_ptx_module *module = printer->module;
    grout_text *out = printer->out;
    grout_text_add(out, "\t");
    if (inst->guard != PTX_NO_ID) {
        grout_text_add(out, "@%s%%R%u ", inst->is_guard_negated ? "!" : "",
                       get_register_number(printer, inst->guard));
    }
    grout_text_add(out, "%s", grout_ptx__get_op(inst->op)->text);
    for (uint32_t i = 0; i < inst->word_count; i++) {
        print_word(module->words.items[inst->first_word + i], out);
    }
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        grout_text_add(out, "%s", i == 0 ? " " : ", ");
        print_operand(printer, grout_ptx__get_operand(module, inst, i));
    }
    grout_text_add(out, ";\n");
}

static void print_variable(const ptx_printer *printer, uint32_t id) {
    const grout_ptx_module *module = printer->module;
    const ptx_variable *variable = &module->variables.items[id];
    grout_text *out = printer->out;
    uint32_t bits = grout_ptx__get_word((ptx_word_id)variable->type)->bits;
    uint64_t size = bits < 8 ? 1 : bits / 8;
    grout_text_add(out, "%s.%s .align %u .%s ", variable->is_extern ? ".extern " : "",
                   grout_ptx__get_word((ptx_word_id)variable->space)->text, variable->align,
                   grout_ptx__get_word((ptx_word_id)variable->type)->text);
    print_variable_name(printer, id);
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

static void print_targets(const ptx_printer *printer, uint32_t id) {
    const ptx_targets targets = printer->module->tables.items[id];
    grout_text_add(printer->out, "$T%u: .branchtargets ", get_table_number(printer, id));
    for (uint32_t i = 0; i < targets.count; i++) {
        grout_text_add(printer->out, "%s$L%u", i == 0 ? "" : ", ",
                       printer->module->targets.items[targets.first + i]);
    }
    grout_text_add(printer->out, ";\n");
}

static void print_body(const ptx_printer *printer) {
    const grout_ptx_module *module = printer->module;
    const ptx_function *function = printer->function;
    grout_text *out = printer->out;
    grout_text_add(out, "{\n");
    for (uint32_t i = 0; i < function->register_count; i++) {
        const uint16_t type = module->registers.items[function->first_register + i].type;
        grout_text_add(out, "\t.reg .%s %%R%u;\n", grout_ptx__get_word((ptx_word_id)type)->text, i);
    }
    for (uint32_t i = 0; i < function->variable_count; i++) {
        grout_text_add(out, "\t");
        print_variable(printer, get_first_variable(function) + i);
        grout_text_add(out, ";\n");
    }
    for (uint32_t i = 0; i < function->table_count; i++) {
        print_targets(printer, function->first_table + i);
    }
    for (uint32_t i = 0; i < function->inst_count; i++) {
        grout_text_add(out, "$L%u:\n", i);
        print_inst(printer, &module->insts.items[function->first_inst + i]);
    }
    grout_text_add(out, "$L%u:\n}\n", function->inst_count);
}

/* The parameters of a function: those that it returns come first among its variables. */
static void print_function(const grout_ptx_module *module, uint32_t id, grout_text *out) {
    const ptx_function *function = &module->functions.items[id];
    const ptx_printer printer = {module, function, out};
    uint32_t first = function->first_parameter, count = function->parameter_count;
    grout_text_add(out, "%s ", function->is_entry ? ".visible .entry" : ".func");
    for (uint32_t i = 0; i < function->result_count; i++) {
        grout_text_add(out, i == 0 ? "(" : ", ");
        print_variable(&printer, first + i);
    }
    grout_text_add(out, "%s%s", function->result_count > 0 ? ") " : "",
                   grout_ptx__get_name(module, function->name));
    grout_text_add(out, "(");
    for (uint32_t i = function->result_count; i < count; i++) {
        grout_text_add(out, i == function->result_count ? "" : ", ");
        print_variable(&printer, first + i);
    }
    grout_text_add(out, ")\n");
    print_limits(function, out);
    if (function->has_body) {
        print_body(&printer);
    } else {
        grout_text_add(out, ";\n");
    }
}

void grout_ptx_module_print(const grout_ptx_module *module, grout_text *out) {
    const ptx_printer outside = {module, NULL, out};
    grout_text_add(out, ".version %u.%u\n.target %s\n.address_size 64\n", module->version_major,
                   module->version_minor, grout_ptx__get_name(module, module->target));
    for (uint32_t i = 0; i < module->variables.count; i++) {
        if (module->variables.items[i].function == PTX_NO_ID) {
            print_variable(&outside, i);
            grout_text_add(out, ";\n");
        }
    }
    for (uint32_t i = 0; i < module->functions.count; i++) {
        print_function(module, i, out);
    }
}
