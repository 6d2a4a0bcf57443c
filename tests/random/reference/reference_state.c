/* reference_state.c - values, arrays and boxes of the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_state.h"

#include "formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- storage --------------------------------------------------------------------------------- */

int64_t reference__get_value_count(const reference *ref, grout_value_id value) {
    return grout_type_get_count(grout_module_get_type(ref->module, value));
}

num *reference__define(reference *ref, grout_value_id value) {
    free(ref->values[value]);
    ref->values[value] = calloc((size_t)reference__get_value_count(ref, value), sizeof(num));
    return ref->values[value];
}

/* Whether the elements of an object are those of another one, in the same row-major order: of a
 * reshape, which binding has made, or of a drawn alias, which has the type of the array whose bytes
 * it has. One of another type is a part of an array of tensor memory that nothing else uses. */
static bool has_elements_of(const grout_module *module, grout_object_id id, grout_object_id other) {
    const grout_type *type = grout_object_get_type(module, id);
    const grout_type *from = grout_object_get_type(module, other);
    return grout_type_is_equal(from, type) ||
           (!grout_object_is_declared(module, id) && from->dtype == type->dtype &&
            grout_type_get_count(from) == grout_type_get_count(type));
}

static grout_object_id find_storage(const grout_module *module, grout_object_id id) {
    for (;;) {
        const grout_value_id alias = grout_module_get_object(module, id)->alias;
        const grout_object_id other =
            alias == 0 ? 0 : grout_module_get_value(module, alias)->object;
        if (other == 0 || other == id || !has_elements_of(module, id, other)) {
            return id;
        }
        id = other;
    }
}

reference_array *reference__get_array(reference *ref, grout_object_id id) {
    for (uint32_t i = 0; i < ref->kernel->param_count; i++) {
        if (grout_module_get_param(ref->module, ref->kernel, i)->object == id) {
            return &ref->arrays[i];
        }
    }
    reference_array *array = &ref->objects[find_storage(ref->module, id)];
    if (array->numbers == NULL) {
        array->count = grout_type_get_count(grout_object_get_type(ref->module, id));
        array->numbers = calloc((size_t)array->count, sizeof *array->numbers);
        array->is_written = calloc((size_t)array->count, sizeof *array->is_written);
    }
    return array;
}

void reference__clear_objects(reference *ref, bool accumulators_only) {
    const uint32_t count = grout_module_get_object_count(ref->module);
    for (grout_object_id id = 1; id < count; id++) {
        reference_array *array = &ref->objects[id];
        if (array->numbers != NULL &&
            (!accumulators_only ||
             grout_module_get_object(ref->module, id)->space == GROUT_SPACE_ACC)) {
            memset(array->numbers, 0, (size_t)array->count * sizeof *array->numbers);
        }
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* A value or constant as an array of numbers; *count_out says how many. */
const num *reference__get_operand(reference *ref, const grout_operand *operand, num *constant,
                                  int64_t *count_out) {
    if (operand->kind == GROUT_OPERAND_VALUE) {
        *count_out = reference__get_value_count(ref, operand->id);
        return ref->values[operand->id];
    }
    grout_dtype dtype = grout_module_get_operand_dtype(ref->module, operand);
    uint64_t bits =
        grout_expr_value_to_bits(grout_module_get_expr_value(ref->module, operand->id), dtype);
    *constant = formats_decode(dtype, bits);
    *count_out = 1;
    return constant;
}

int64_t reference__get_integer(reference *ref, const grout_operand *operand) {
    num constant;
    int64_t count;
    const num *number = reference__get_operand(ref, operand, &constant, &count);
    if (number->bound != 0) {
        ref->why = "rounding decides an index or a branch";
    }
    return (int64_t)number->value;
}

box reference__get_box(reference *ref, const grout_operand *operand) {
    box result = {.count = 1};
    if (!grout_module_get_view(ref->module, operand, &result.view)) {
        ref->why = "an operand that is not a reference";
        return result;
    }
    result.array = reference__get_array(ref, result.view.object);
    result.type = grout_object_get_type(ref->module, result.view.object);
    if (result.view.packed > 1) { /* which counts bytes there */
        const uint32_t last = result.view.rank - 1u;
        result.view.extent[last] *= result.view.packed;
        result.view.start_const[last] *= result.view.packed;
    }
    for (uint32_t d = 0; d < result.view.rank; d++) {
        result.start[d] = result.view.start_const[d];
        for (uint32_t t = 0; t < result.view.start_term_count[d]; t++) {
            const grout_operand term = {.kind = GROUT_OPERAND_VALUE,
                                        .id = result.view.start_terms[d][t]};
            result.start[d] += reference__get_integer(ref, &term);
        }
        result.count *= result.view.extent[d];
    }
    return result;
}

/* The place in the object of element i of the box, in the view's order; -1: outside. */
int64_t reference__get_place(const box *b, int64_t i) {
    int64_t index[GROUT_RANK_MAX], place = 0;
    uint32_t rest = (uint32_t)i; /* the references are small, and divisions of 32 bits are fast */
    for (uint32_t k = b->view.rank; k-- > 0;) {
        const uint32_t d = b->view.order[k], extent = (uint32_t)b->view.extent[d];
        index[d] = b->start[d] + rest % extent;
        rest /= extent;
    }
    for (uint32_t d = 0; d < b->view.rank; d++) {
        if (index[d] < 0 || index[d] >= b->type->dims[d]) {
            return -1;
        }
        place = place * b->type->dims[d] + index[d];
    }
    return place;
}

num reference__read_box(const box *b, int64_t i) {
    const int64_t place = reference__get_place(b, i);
    /* outside, all bits are 0, which is a number of every type but not always 0 */
    return place < 0 ? formats_decode((grout_dtype)b->type->dtype, 0) : b->array->numbers[place];
}

void reference__write_box(const box *b, int64_t i, num number) {
    const int64_t place = reference__get_place(b, i);
    if (place >= 0) {
        b->array->numbers[place] = number;
        b->array->is_written[place] = true;
    }
}

/* ---- whose results they are ------------------------------------------------------------------ */

void reference_ops_add(reference_ops *to, const reference_ops *from) {
    for (int i = 0; i < GROUT_OP_COUNT; i++) {
        to->has[i] = to->has[i] || from->has[i];
    }
}

/* The operations that made the array, and those that made the indices. */
static void add_view_ops(reference *ref, const grout_view *view, reference_ops *ops) {
    reference_ops_add(ops, &reference__get_array(ref, view->object)->ops);
    for (uint32_t d = 0; d < view->rank; d++) {
        for (uint32_t t = 0; t < view->start_term_count[d]; t++) {
            reference_ops_add(ops, &ref->made_by[view->start_terms[d][t]]);
        }
    }
}

void reference__add_operand_ops(reference *ref, const grout_op *op, reference_ops *ops) {
    reference_ops_add(ops, &ref->deciding);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(ref->module, op, k);
        grout_view view;
        if (grout_module_get_view(ref->module, operand, &view)) {
            add_view_ops(ref, &view, ops);
        } else if (operand->kind == GROUT_OPERAND_VALUE) {
            reference_ops_add(ops, &ref->made_by[operand->id]);
        }
    }
}

/* A result for which any value is allowed says nothing about its operation. */
static bool has_bound(const reference *ref, grout_value_id value) {
    const int64_t count = reference__get_value_count(ref, value);
    for (int64_t i = 0; i < count; i++) {
        if (!isinf(ref->values[value][i].bound)) {
            return true;
        }
    }
    return false;
}

/* A result is made by its operation and by those that made the operands. */
void reference__note_ops(reference *ref, const grout_op *op) {
    reference_ops ops = {.has = {false}};
    reference__add_operand_ops(ref, op, &ops);
    for (uint32_t k = 0; k < op->result_count; k++) {
        const grout_value_id result = op->first_result + k;
        ops.has[op->opcode] = ops.has[op->opcode] || has_bound(ref, result);
        reference_ops_add(&ref->made_by[result], &ops);
    }
    ref->output->ops.has[op->opcode] = true;
}

/* So is an array that the operation writes to. */
void reference__note_write(reference *ref, const grout_op *op, reference_array *array) {
    array->ops.has[op->opcode] = true;
    ref->output->ops.has[op->opcode] = true;
    reference__add_operand_ops(ref, op, &array->ops);
}

void reference__lack(reference *ref, const grout_op *op) {
    ref->why = grout_op_get_info((grout_opcode)op->opcode)->text;
}
