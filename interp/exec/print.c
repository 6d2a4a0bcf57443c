/*
 * print.c - debug_print: a line of text with values in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

#include "grout/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 1024 /* of one array in a line */

/* The shortest decimal that reads back. */
static void print_float(grout_text *out, double value, bool is_f64) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (back == value || (!is_f64 && (float)back == (float)value)) {
            break;
        }
    }
    grout_text_add(out, "%s", value != value ? "nan" : text);
}

static void print_element(grout_text *out, grout_dtype dtype, const uint8_t *element) {
    int64_t integer = 0;
    uint64_t bits = 0;
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    memcpy(&bits, element, info->bytes);
    switch ((grout_dtype_class)info->class_) {
    case GROUT_CLASS_BOOL:
        grout_text_add(out, "%s", bits != 0 ? "true" : "false");
        break;
    case GROUT_CLASS_SINT:
        integer = (int64_t)(bits << (64 - 8 * info->bytes)) >> (64 - 8 * info->bytes);
        grout_text_add(out, "%" PRId64, integer);
        break;
    case GROUT_CLASS_UINT:
        grout_text_add(out, "%" PRIu64, bits);
        break;
    case GROUT_CLASS_FLOAT:
        print_float(out, grout_element_to_double(dtype, element), dtype == GROUT_DTYPE_F64);
        break;
    case GROUT_CLASS_NONE:
        break;
    }
}

/* An array as nested lists: a bracket opens and closes where an index of a dimension begins or
 * ends. */
static void print_array(grout_text *out, const grout_type *type, const uint8_t *data) {
    int64_t count = grout_type_get_count(type);
    uint32_t bytes = grout_dtype_get_info(type->dtype)->bytes;
    for (int64_t i = 0; i < count && i < ELEMENTS_MAX; i++) {
        int64_t inner = 1;
        uint32_t opens = 0, closes = 0;
        for (uint32_t dim = type->rank; dim-- > 0;) {
            inner *= type->dims[dim];
            opens += i % inner == 0;
            closes += (i + 1) % inner == 0;
        }
        grout_text_add(out, "%s%.*s", i > 0 ? ", " : "", (int)opens, "[[[[[[[[");
        print_element(out, type->dtype, data + i * bytes);
        grout_text_add(out, "%.*s", (int)closes, "]]]]]]]]");
    }
    if (count > ELEMENTS_MAX) {
        grout_text_add(out, ", ... (%" PRId64 " elements)", count);
    }
}

static void print_value(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                        uint32_t index, grout_text *out) {
    grout_machine *machine = cta->machine;
    const grout_module *module = machine->launch.module;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, index);
    const grout_op *op = grout_module_get_op(module, inst->op);
    const uint8_t *data = grout_slot__data(cta, thread, slot);
    if (slot->is_array) {
        const grout_operand *operand = grout_module_get_operand(module, op, index + 1);
        grout_type type = grout_module_get_operand_type(module, operand);
        print_array(out, &type, data);
    } else {
        print_element(out, slot->dtype, data);
    }
}

static void check_undefined(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        if (grout_slot__is_undefined(cta, thread, grout_plan__slot(cta->machine->plan, inst, i))) {
            grout_cta__fault_undefined(cta, thread, inst, i + 1, GROUT_USE_PRINT);
            return;
        }
    }
}

/* "CTA (x=1), thread wg=0: text", each {} replaced by a value. */
grout_outcome grout_exec_debug_print(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_text line = {0};
    grout_origin origin = grout_cta__origin(cta, thread, inst);
    uint32_t index = 0;
    check_undefined(cta, thread, inst);
    if (machine->launch.print == NULL) {
        return GROUT_OUTCOME_NEXT;
    }
    origin.loop_depth = 0;
    origin.op = 0;
    grout_describe_origin(machine->launch.module, machine->launch.kernel, &origin, &line);
    grout_text_add(&line, ": ");
    for (const char *at = inst->u.text; *at != '\0';) {
        const char *hole = strstr(at, "{}");
        if (hole == NULL || index >= inst->slot_count) {
            grout_text_add(&line, "%s", at);
            break;
        }
        grout_text_add_bytes(&line, at, (size_t)(hole - at));
        print_value(cta, thread, inst, index++, &line);
        at = hole + 2;
    }
    bool is_whole = !line.failed && line.data != NULL;
    if (is_whole) {
        machine->launch.print(machine->launch.payload, line.data);
    }
    grout_text_free(&line);
    return is_whole ? GROUT_OUTCOME_NEXT : GROUT_OUTCOME_FAILED;
}
