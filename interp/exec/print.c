/*
 * print.c - debug_print: a line of text with values in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

#include "visible.h"

#include <stdio.h>
#include <string.h>

/* An array of more elements is shown by those at its edges. INDENT: columns before its rows. */
enum { WHOLE_MAX = 1000, EDGE = 3, INDENT = 2 };

static void print_element(grout_text *out, grout_dtype dtype, const uint8_t *element) {
    uint64_t bits = 0;
    memcpy(&bits, element, grout_dtype_get_info(dtype)->bytes);
    grout_element_print(dtype, bits, out);
}

/* ---- arrays ---- */

/* An array as nested lists, each innermost one a line, their columns aligned. A long array
 * lacks the middle of each dimension. */
typedef struct array_printer {
    const grout_type *type;
    const uint8_t *data;
    grout_text *out;
    grout_text element; /* of one element, used again and again */
    size_t width;       /* of a column */
    bool is_short;      /* the middle is left out */
} array_printer;

/* The index that follows in a dimension; what is left out is stepped over. */
static int64_t get_next(const array_printer *it, uint32_t dim, int64_t index) {
    int64_t size = it->type->dims[dim];
    bool is_left_out = it->is_short && size > 2 * (int64_t)EDGE && index + 1 == EDGE;
    return is_left_out ? size - EDGE : index + 1;
}

static void format_element(array_printer *it, int64_t index) {
    uint32_t bytes = grout_dtype_get_info(it->type->dtype)->bytes;
    it->element.size = 0;
    print_element(&it->element, it->type->dtype, it->data + index * bytes);
    it->out->failed |= it->element.failed;
}

/* Columns of the widest element that is shown; first: the index of the row's first element. */
static void measure(array_printer *it, uint32_t dim, int64_t first) {
    int64_t size = it->type->dims[dim];
    for (int64_t i = 0; i < size; i = get_next(it, dim, i)) {
        if (dim + 1 < it->type->rank) {
            measure(it, dim + 1, (first + i) * it->type->dims[dim + 1]);
        } else {
            format_element(it, first + i);
            it->width = it->element.size > it->width ? it->element.size : it->width;
        }
    }
}

/* What stands between two elements, or between two rows. */
static void print_gap(const array_printer *it, uint32_t dim, bool is_left_out) {
    bool is_row = dim + 1 == it->type->rank;
    for (int part = 0; part < (is_left_out ? 2 : 1); part++) {
        grout_text_add(it->out, is_row ? ", " : ",\n%*s", INDENT + 1 + (int)dim, "");
        grout_text_add(it->out, "%s", part == 0 && is_left_out ? "..." : "");
    }
}

static void print_dim(array_printer *it, uint32_t dim, int64_t first) {
    int64_t size = it->type->dims[dim], next = 0;
    grout_text_add(it->out, "[");
    for (int64_t i = 0; i < size; i = next) {
        next = get_next(it, dim, i);
        if (dim + 1 < it->type->rank) {
            print_dim(it, dim + 1, (first + i) * it->type->dims[dim + 1]);
        } else {
            format_element(it, first + i);
            size_t columns = it->element.size;
            grout_text_add(it->out, "%*s%s", it->width > columns ? (int)(it->width - columns) : 0,
                           "", it->element.data == NULL ? "" : it->element.data);
        }
        if (next < size) {
            print_gap(it, dim, next > i + 1);
        }
    }
    grout_text_add(it->out, "]");
}

static void print_array(grout_text *out, const grout_type *type, const uint8_t *data,
                        bool is_whole) {
    int64_t count = grout_type_get_count(type);
    array_printer it = {.type = type, .data = data, .out = out};
    it.is_short = !is_whole && count > WHOLE_MAX;
    if (count > type->dims[type->rank - 1]) { /* several rows: on lines of their own */
        while (out->size > 0 && out->data[out->size - 1] == ' ') {
            out->data[--out->size] = '\0';
        }
        grout_text_add(out, "\n%*s", INDENT, "");
        measure(&it, 0, 0);
    }
    print_dim(&it, 0, 0);
    grout_text_free(&it.element);
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
        print_array(out, &type, data, machine->launch.print_whole_arrays);
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

/* "CTA (x=1), thread wg=0: text", each {} replaced by a value; the rows of an array stand on lines
 * of their own. What the text itself holds cannot be taken for the next line of a report. */
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
            grout_visible__add_print(&line, at, strlen(at));
            break;
        }
        grout_visible__add_print(&line, at, (size_t)(hole - at));
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

/* The CPU has no register layouts: 'grout emit' says them. */
grout_outcome grout_exec_print_layout(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    (void)cta;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_NEXT;
}
