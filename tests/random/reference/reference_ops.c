/* reference_ops.c - what each operation of the reference does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_state.h"

#include "formats.h"
#include "rounding.h"
#include "updates.h"

#include <stdlib.h>
#include <string.h>

void reference__run_elementwise(reference *ref, const grout_op *op) {
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    num constants[3];
    const num *from[3] = {NULL, NULL, NULL};
    int64_t counts[3] = {1, 1, 1};
    grout_dtype dtype = (grout_dtype)type->dtype;
    for (uint32_t k = 0; k < op->operand_count && k < 3; k++) {
        const grout_operand *operand = grout_module_get_operand(ref->module, op, k);
        from[k] = reference__get_operand(ref, operand, &constants[k], &counts[k]);
        if (k == 0) {
            dtype = grout_module_get_operand_dtype(ref->module, operand);
            if (operand->kind == GROUT_OPERAND_VALUE) {
                dtype = (grout_dtype)grout_module_get_type(ref->module, operand->id)->dtype;
            }
        }
    }
    num *result = reference__define(ref, op->first_result);
    const int64_t count = grout_type_get_count(type);
    for (int64_t i = 0; i < count; i++) {
        num in[3] = {{.bound = 0}, {.bound = 0}, {.bound = 0}};
        for (uint32_t k = 0; k < op->operand_count && k < 3; k++) {
            in[k] = from[k][counts[k] == 1 ? 0 : i];
        }
        if (!rounding_apply((grout_opcode)op->opcode, dtype, (grout_dtype)type->dtype, in,
                            &result[i])) {
            reference__lack(ref, op);
            return;
        }
    }
}

void reference__run_broadcast(reference *ref, const grout_op *op) {
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    const grout_operand *operand = grout_module_get_operand(ref->module, op, 0);
    num constant;
    int64_t from_count;
    const num *from = reference__get_operand(ref, operand, &constant, &from_count);
    const grout_type from_type = grout_module_get_operand_type(ref->module, operand);
    const int64_t first = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM,
                                                    (int64_t)type->rank - from_type.rank);
    num *result = reference__define(ref, op->first_result);
    const int64_t count = grout_type_get_count(type);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, place = 0, stride = 1;
        for (int64_t d = (int64_t)type->rank - 1; d >= 0; d--) {
            const int64_t at = rest % type->dims[d], k = d - first;
            rest /= type->dims[d];
            if (k >= 0 && k < from_type.rank) {
                place += from_type.dims[k] == 1 ? 0 : at * stride;
                stride *= from_type.dims[k];
            }
        }
        result[i] = from[from_count == 1 ? 0 : place];
    }
}

/* The start of a slice along a dimension, and its size. */
static int64_t get_start(const reference *ref, const grout_ref_step *indices, uint32_t dim,
                         int64_t *size) {
    if (dim >= indices->count) {
        return 0;
    }
    const grout_index *index = grout_module_get_index(ref->module, indices, dim);
    if (index->kind == GROUT_INDEX_ALL) {
        return 0;
    }
    *size = index->kind == GROUT_INDEX_SLICE
                ? grout_module_get_expr_value(ref->module, index->size).integer
                : 1;
    return grout_module_get_expr_value(ref->module, index->start.id).integer;
}

/* From each element of the result to its indices, and from them to the source. */
void reference__run_slice(reference *ref, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(ref->module, op, 0);
    const grout_type *from_type = grout_module_get_type(ref->module, operand->id);
    const grout_ref_step *indices = grout_module_get_box(ref->module, op);
    num constant;
    int64_t from_count;
    const num *from = reference__get_operand(ref, operand, &constant, &from_count);
    num *result = reference__define(ref, op->first_result);
    const int64_t count =
        grout_type_get_count(grout_module_get_type(ref->module, op->first_result));
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, place = 0, stride = 1;
        for (uint32_t dim = from_type->rank; dim-- > 0; stride *= from_type->dims[dim]) {
            int64_t size = from_type->dims[dim];
            const int64_t start = get_start(ref, indices, dim, &size);
            place += (start + rest % size) * stride;
            rest /= size;
        }
        result[i] = from[place];
    }
}

/* The rows of the operands in turn, a row being all that lies after one index in front of the
 * dimension. A reshape is one operand with one such row. */
void reference__run_concatenate(reference *ref, const grout_op *op) {
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    const int64_t dim = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM, 0);
    num *result = reference__define(ref, op->first_result);
    int64_t outer = 1, at = 0;
    for (int64_t d = 0; d < dim; d++) {
        outer *= type->dims[d];
    }
    for (int64_t row = 0; row < outer; row++) {
        for (uint32_t k = 0; k < op->operand_count; k++) {
            num constant;
            int64_t count;
            const num *from = reference__get_operand(
                ref, grout_module_get_operand(ref->module, op, k), &constant, &count);
            for (int64_t i = 0; i < count / outer; i++) {
                result[at++] = from[row * (count / outer) + i];
            }
        }
    }
}

/* Each element of the result, by its indices, which are those of the operand in another order. */
void reference__run_transpose(reference *ref, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(ref->module, op, 0);
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    const grout_type from_type = grout_module_get_operand_type(ref->module, operand);
    const uint32_t perm = grout_op_get_dims(ref->module, op, GROUT_ATTR_PERM);
    num constant;
    int64_t count;
    const num *from = reference__get_operand(ref, operand, &constant, &count);
    num *result = reference__define(ref, op->first_result);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, index[GROUT_RANK_MAX] = {0}, place = 0;
        for (uint32_t k = type->rank; k-- > 0; rest /= type->dims[k]) {
            index[(perm >> (4 * k) & 15) - 1] = rest % type->dims[k];
        }
        for (uint32_t dim = 0; dim < from_type.rank; dim++) {
            place = place * from_type.dims[dim] + index[dim];
        }
        result[i] = from[place];
    }
}

void reference__run_iota(reference *ref, const grout_op *op) {
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    const int64_t dim = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM, 0);
    num *result = reference__define(ref, op->first_result);
    int64_t inner = 1;
    for (int64_t d = dim + 1; d < type->rank; d++) {
        inner *= type->dims[d];
    }
    for (int64_t i = 0; i < grout_type_get_count(type); i++) {
        const num index[3] = {
            formats_make_whole(GROUT_DTYPE_I64, (uint64_t)(i / inner % type->dims[dim])),
            {.bound = 0},
            {.bound = 0}};
        (void)rounding_apply(GROUT_OP_CAST, GROUT_DTYPE_I64, (grout_dtype)type->dtype, index,
                             &result[i]);
    }
}

void reference__run_reduce(reference *ref, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(ref->module, op, 0);
    num constant;
    int64_t count;
    const num *from = reference__get_operand(ref, operand, &constant, &count);
    const grout_type type = grout_module_get_operand_type(ref->module, operand);
    const int64_t dim = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM, -1);
    int64_t inner = 1, extent = count;
    for (int64_t d = dim + 1; dim >= 0 && d < type.rank; d++) {
        inner *= type.dims[d];
    }
    if (dim >= 0) {
        extent = type.dims[dim];
    }
    num *result = reference__define(ref, op->first_result);
    for (int64_t i = 0; i < count / extent; i++) {
        const rounding_row row = {from + i / inner * inner * extent + i % inner, inner, extent};
        if (!rounding_reduce((grout_opcode)op->opcode, (grout_dtype)type.dtype, &row, &result[i])) {
            reference__lack(ref, op);
        }
    }
}

void reference__run_load(reference *ref, const grout_op *op) {
    const box from = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    num *result = reference__define(ref, op->first_result);
    for (int64_t i = 0; i < from.count && ref->why == NULL; i++) {
        result[i] = reference__read_box(&from, i);
    }
}

/* store and acc_store, or an atomic update. */
void reference__run_store(reference *ref, const grout_op *op) {
    const box to = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    const bool is_plain = op->opcode == GROUT_OP_STORE || op->opcode == GROUT_OP_ACC_STORE ||
                          op->opcode == GROUT_OP_ASYNC_STORE_TMEM;
    num constant;
    int64_t count;
    const num *from = reference__get_operand(ref, grout_module_get_operand(ref->module, op, 1),
                                             &constant, &count);
    for (int64_t i = 0; i < to.count && ref->why == NULL; i++) {
        num number = from[count == 1 ? 0 : i];
        const update it = {.dtype = (grout_dtype)to.type->dtype,
                           .held = reference__read_box(&to, i),
                           .value = number};
        if (!is_plain && !update_by_op((grout_opcode)op->opcode, &it, &number)) {
            reference__lack(ref, op);
        }
        reference__write_box(&to, i, number);
    }
    reference__note_write(ref, op, to.array);
}

/* An atomic that returns what was there. */
void reference__run_fetch(reference *ref, const grout_op *op) {
    const box to = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    const uint32_t last = op->operand_count - 1;
    num constants[2];
    int64_t counts[2];
    const num *from = reference__get_operand(ref, grout_module_get_operand(ref->module, op, last),
                                             &constants[0], &counts[0]);
    const num *expected = reference__get_operand(ref, grout_module_get_operand(ref->module, op, 1),
                                                 &constants[1], &counts[1]);
    num *result = reference__define(ref, op->first_result);
    for (int64_t i = 0; i < to.count && ref->why == NULL; i++) {
        const update it = {.dtype = (grout_dtype)to.type->dtype,
                           .held = reference__read_box(&to, i),
                           .value = from[counts[0] == 1 ? 0 : i],
                           .expected = expected[counts[1] == 1 ? 0 : i]};
        num number = it.held;
        if (!update_by_op((grout_opcode)op->opcode, &it, &number)) {
            reference__lack(ref, op);
        }
        result[i] = it.held;
        reference__write_box(&to, i, number);
    }
    reference__note_write(ref, op, to.array);
}

void reference__run_copy(reference *ref, const grout_op *op) {
    const box from = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    const box to = reference__get_box(ref, grout_module_get_operand(ref->module, op, 1));
    const grout_choice choice = grout_op_get_choice(ref->module, op, GROUT_ATTR_REDUCE);
    for (int64_t i = 0; i < to.count && ref->why == NULL; i++) {
        num number = reference__read_box(&from, i);
        const int64_t place = reference__get_place(&to, i);
        const update it = {.dtype = (grout_dtype)to.type->dtype,
                           .held = place < 0 ? number : to.array->numbers[place],
                           .value = number};
        if (choice != GROUT_CHOICE_NONE && !update_by_choice(choice, &it, &number)) {
            reference__lack(ref, op);
        }
        reference__write_box(&to, i, number);
    }
    reference__note_write(ref, op, to.array);
}

/* The values of a debug_print, one after the other. */
void reference__run_print(reference *ref, const grout_op *op) {
    reference_output *output = ref->output;
    reference_line *lines =
        realloc(output->lines, (output->line_count + 1u) * sizeof *output->lines);
    if (lines == NULL) {
        ref->why = "memory";
        return;
    }
    reference_line *line = &lines[output->line_count];
    output->lines = lines;
    *line = (reference_line){.cta = ref->cta};
    for (uint32_t k = 1; k < op->operand_count; k++) {
        num constant;
        int64_t count;
        const num *from = reference__get_operand(ref, grout_module_get_operand(ref->module, op, k),
                                                 &constant, &count);
        num *numbers = realloc(line->numbers, (size_t)(line->count + count) * sizeof *numbers);
        if (numbers == NULL) {
            ref->why = "memory";
            free(line->numbers);
            return;
        }
        memcpy(numbers + line->count, from, (size_t)count * sizeof *numbers);
        line->numbers = numbers;
        line->count += count;
    }
    line->ops.has[op->opcode] = true;
    output->ops.has[op->opcode] = true;
    reference__add_operand_ops(ref, op, &line->ops);
    output->line_count++;
}

/* An operand of a wgmma as numbers, row-major; NULL without memory. */
static num *get_matrix(reference *ref, const grout_operand *operand, int64_t count) {
    num *result = calloc((size_t)count, sizeof *result);
    grout_view view;
    if (result != NULL && grout_module_get_view(ref->module, operand, &view)) {
        const box from = reference__get_box(ref, operand);
        for (int64_t i = 0; i < count; i++) {
            result[i] = reference__read_box(&from, i);
        }
    } else if (result != NULL) {
        memcpy(result, ref->values[operand->id], (size_t)count * sizeof *result);
    }
    return result;
}

/* Whether a wgmma adds to what its accumulator held before. */
static bool uses_accumulator(reference *ref, const grout_op *op) {
    const uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, 'u');
    if (op->operand_count <= index) {
        return true;
    }
    const grout_operand *use = grout_module_get_operand(ref->module, op, index);
    return use->kind == GROUT_OPERAND_EXPR
               ? grout_module_get_expr_value(ref->module, use->id).integer != 0
               : ref->values[use->id][0].value != 0;
}

static bool saturates(const reference *ref, const grout_op *op) {
    return grout_module_find_attr(ref->module, op, GROUT_ATTR_SATURATE) != NULL;
}

/* The rows of b that a row of a sparse a is multiplied by: a word has the codes of 4 groups.
 * With f32 a group of 2 keeps one, and 0xe means the second; else one of 4 keeps two, and the code
 * has the places of both. */
static void choose_rows(const num *words, const num *b, const rounding_dot *shape, num *chosen) {
    const bool is_word = shape->operand_dtype == GROUT_DTYPE_F32;
    const int64_t kept = is_word ? 1 : 2, size = 2 * kept, n = shape->b_stride;
    for (int64_t k = 0; k < shape->depth; k++) {
        const int64_t group = k / kept;
        const uint32_t code = (uint32_t)words[group / 4].value >> group % 4 * 4 & 15;
        const uint32_t place = is_word ? (code == 0xe ? 1 : 0) : k % 2 == 0 ? code % 4 : code / 4;
        memcpy(chosen + k * n, b + (group * size + place) * n, (size_t)n * sizeof *chosen);
    }
}

/* What a wgmma multiplies; chosen: for a sparse a the rows of b of one of its rows. */
typedef struct factors {
    num *a, *b, *chosen;
    const num *metadata; /* or NULL */
    int64_t words;       /* of it in a row */
    int64_t step;        /* from a column of b to the next, and of chosen */
    int64_t b_stride;    /* from one element of a column to the next */
} factors;

/* Columns as rows, which a sum reads faster. */
static num *turn(const num *b, int64_t depth, int64_t n) {
    num *turned = b == NULL ? NULL : calloc((size_t)(depth * n), sizeof *turned);
    for (int64_t k = 0; turned != NULL && k < depth; k++) {
        for (int64_t j = 0; j < n; j++) {
            turned[j * depth + k] = b[k * n + j];
        }
    }
    return turned;
}

static factors get_factors(reference *ref, const grout_op *op, const grout_type types[3]) {
    const uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, 'v');
    const int64_t depth = types[1].dims[1], n = types[0].dims[1];
    factors its = {0};
    its.a = get_matrix(ref, grout_module_get_operand(ref->module, op, 1), types[1].dims[0] * depth);
    its.b = get_matrix(ref, grout_module_get_operand(ref->module, op, 2), types[2].dims[0] * n);
    if (index != UINT32_MAX) {
        const grout_operand *metadata = grout_module_get_operand(ref->module, op, index);
        its.metadata = ref->values[metadata->id];
        its.words = grout_module_get_operand_type(ref->module, metadata).dims[1];
        its.chosen = calloc((size_t)(depth * n), sizeof *its.chosen);
        its.step = 1;
        its.b_stride = n;
        return its;
    }
    num *turned = turn(its.b, depth, n);
    free(its.b);
    its.b = turned;
    its.step = depth;
    its.b_stride = 1;
    return its;
}

void reference__run_wgmma(reference *ref, const grout_op *op) {
    const grout_operand *operands[3];
    grout_type types[3];
    for (uint32_t k = 0; k < 3; k++) {
        operands[k] = grout_module_get_operand(ref->module, op, k);
        types[k] = grout_module_get_operand_type(ref->module, operands[k]);
    }
    const int64_t m = types[0].dims[0], n = types[0].dims[1], depth = types[1].dims[1];
    const box acc = reference__get_box(ref, operands[0]);
    const factors its = get_factors(ref, op, types);
    const bool is_there =
        its.a != NULL && its.b != NULL && (its.metadata == NULL || its.chosen != NULL);
    const bool has_before = uses_accumulator(ref, op), is_saturating = saturates(ref, op);
    for (int64_t i = 0; i < m * n && is_there; i++) {
        rounding_dot dot = {.a = its.a + i / n * depth,
                            .b_stride = its.b_stride,
                            .depth = depth,
                            .operand_dtype = (grout_dtype)types[1].dtype,
                            .accumulator_dtype = (grout_dtype)types[0].dtype,
                            .is_saturating = is_saturating};
        if (its.metadata != NULL && i % n == 0) {
            choose_rows(its.metadata + i / n * its.words, its.b, &dot, its.chosen);
        }
        dot.b = (its.metadata == NULL ? its.b : its.chosen) + i % n * its.step;
        const num before = has_before ? reference__read_box(&acc, i) : formats_make(0, 0);
        reference__write_box(&acc, i, rounding_dot_add(&dot, before));
    }
    reference__note_write(ref, op, acc.array);
    free(its.a);
    free(its.b);
    free(its.chosen);
}

/* c + a b, all of them values. */
void reference__run_mma(reference *ref, const grout_op *op) {
    const num *from[3];
    num constants[3];
    grout_type types[3];
    int64_t count;
    for (uint32_t k = 0; k < 3; k++) {
        const grout_operand *operand = grout_module_get_operand(ref->module, op, k);
        types[k] = grout_module_get_operand_type(ref->module, operand);
        from[k] = reference__get_operand(ref, operand, &constants[k], &count);
    }
    const int64_t m = types[0].dims[0], n = types[0].dims[1], depth = types[1].dims[1];
    num *sums = calloc((size_t)(m * n), sizeof *sums);
    for (int64_t i = 0; sums != NULL && i < m * n; i++) {
        const rounding_dot dot = {.a = from[1] + i / n * depth,
                                  .b = from[2] + i % n,
                                  .b_stride = n,
                                  .depth = depth,
                                  .operand_dtype = (grout_dtype)types[1].dtype,
                                  .accumulator_dtype = (grout_dtype)types[0].dtype,
                                  .is_saturating = saturates(ref, op)};
        sums[i] = rounding_dot_add(&dot, from[0][i]);
    }
    num *to = sums == NULL ? NULL : reference__define(ref, op->first_result);
    if (to == NULL) {
        ref->why = "memory";
    } else {
        memcpy(to, sums, (size_t)(m * n) * sizeof *sums);
    }
    free(sums);
}

void reference__run_axis(reference *ref, const grout_op *op) {
    const uint32_t axis = grout_module_get_operand(ref->module, op, 0)->id - 1;
    int64_t rest = ref->kernel->axes[axis].kind == GROUT_AXIS_THREADS ? ref->thread : ref->cta;
    for (uint32_t k = ref->kernel->axis_count; k-- > axis + 1;) {
        if (ref->kernel->axes[k].kind == ref->kernel->axes[axis].kind) {
            rest /= grout_kernel_get_axis_size(ref->module, ref->kernel_id, k);
        }
    }
    reference__define(ref, op->first_result)[0].value =
        (double)(rest % grout_kernel_get_axis_size(ref->module, ref->kernel_id, axis));
}
