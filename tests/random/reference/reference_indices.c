/* reference_indices.c - scans, and accesses whose elements masks and indices decide.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_state.h"

#include "formats.h"
#include "rounding.h"
#include "updates.h"

#include <math.h>

/* ---- scans ----------------------------------------------------------------------------------- */

/* What changes nothing: the first element of an exclusive scan. */
static num get_neutral(grout_opcode reduction, grout_dtype dtype) {
    const uint32_t bits = formats_is_float(dtype) ? 0 : formats_get_bits(dtype);
    const uint64_t all = bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
    const uint64_t largest = formats_is_signed(dtype) ? all >> 1 : all;
    switch ((int)reduction) {
    case GROUT_OP_REDUCE_MAX:
        return formats_is_float(dtype) ? formats_make(-(double)INFINITY, 0)
                                       : formats_make_whole(dtype, all ^ largest);
    case GROUT_OP_REDUCE_MIN:
        return formats_is_float(dtype) ? formats_make((double)INFINITY, 0)
                                       : formats_make_whole(dtype, largest);
    case GROUT_OP_REDUCE_PROD:
        return formats_is_float(dtype) ? formats_make(1, 0) : formats_make_whole(dtype, 1);
    default:
        return formats_make(0, 0);
    }
}

/* The reduction that a scan makes of each run that ends at an element. */
static grout_opcode get_reduction(grout_opcode scan) {
    switch ((int)scan) {
    case GROUT_OP_CUMSUM:
        return GROUT_OP_REDUCE_SUM;
    case GROUT_OP_CUMPROD:
        return GROUT_OP_REDUCE_PROD;
    case GROUT_OP_CUMMAX:
        return GROUT_OP_REDUCE_MAX;
    case GROUT_OP_CUMMIN:
        return GROUT_OP_REDUCE_MIN;
    default:
        return GROUT_OP_NONE;
    }
}

void reference__run_scan(reference *ref, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(ref->module, op, 0);
    const grout_opcode reduction = get_reduction((grout_opcode)op->opcode);
    const grout_type type = grout_module_get_operand_type(ref->module, operand);
    const int64_t dim = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM, 0);
    const bool goes_back = grout_module_find_attr(ref->module, op, GROUT_ATTR_REVERSE) != NULL;
    const bool is_exclusive = grout_module_find_attr(ref->module, op, GROUT_ATTR_EXCLUSIVE) != NULL;
    num constant;
    int64_t count, inner = 1;
    const num *from = reference__get_operand(ref, operand, &constant, &count);
    num *result = reference__define(ref, op->first_result);
    for (int64_t d = dim + 1; d < type.rank; d++) {
        inner *= type.dims[d];
    }
    for (int64_t i = 0; i < count && ref->why == NULL; i++) {
        const int64_t at = i / inner % type.dims[dim];
        const int64_t before = (goes_back ? type.dims[dim] - 1 - at : at) + (is_exclusive ? 0 : 1);
        const int64_t step = goes_back ? inner : -inner;
        const rounding_row row = {from + i + (is_exclusive ? step : 0), step, before};
        if (before == 0) {
            result[i] = get_neutral(reduction, (grout_dtype)type.dtype);
        } else if (!rounding_reduce(reduction, (grout_dtype)type.dtype, &row, &result[i])) {
            reference__lack(ref, op);
        }
    }
}

/* ---- masks ----------------------------------------------------------------------------------- */

typedef struct numbers {
    const num *first;
    int64_t count;
    num constant;
} numbers;

/* Fills it; an operand that is omitted has no numbers. */
static void get_numbers(reference *ref, const grout_op *op, uint32_t k, numbers *it) {
    it->count = 0;
    if (k < op->operand_count) {
        it->first = reference__get_operand(ref, grout_module_get_operand(ref->module, op, k),
                                           &it->constant, &it->count);
    }
}

static bool holds(const numbers *mask, int64_t i) {
    return mask->count == 0 || mask->first[mask->count == 1 ? 0 : i].value != 0;
}

void reference__run_masked_load(reference *ref, const grout_op *op) {
    const box from = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    numbers mask;
    get_numbers(ref, op, 1, &mask);
    num *result = reference__define(ref, op->first_result);
    for (int64_t i = 0; i < from.count && ref->why == NULL; i++) {
        result[i] = holds(&mask, i) ? reference__read_box(&from, i)
                                    : formats_decode((grout_dtype)from.type->dtype, 0);
    }
}

void reference__run_masked_store(reference *ref, const grout_op *op) {
    const box to = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    numbers from, mask;
    get_numbers(ref, op, 1, &from);
    get_numbers(ref, op, 2, &mask);
    for (int64_t i = 0; i < to.count && ref->why == NULL; i++) {
        if (holds(&mask, i)) {
            reference__write_box(&to, i, from.first[from.count == 1 ? 0 : i]);
        }
    }
    reference__note_write(ref, op, to.array);
}

/* ---- indices --------------------------------------------------------------------------------- */

/* The elements of a value of an access by indices, and where each is in the box. */
typedef struct places {
    box memory;
    numbers indices, mask;
    int64_t dim, inner; /* elements after one of the dimension, of the value */
    int64_t extent, value_extent;
    int64_t count;
    bool is_by_rows; /* one index for all that lies at it */
} places;

static void get_places(reference *ref, const grout_op *op, uint32_t mask, places *p) {
    const uint32_t first = grout_op_find_letter((grout_opcode)op->opcode, 'j');
    const grout_operand *indices = grout_module_get_operand(ref->module, op, first);
    p->memory = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    get_numbers(ref, op, first, &p->indices);
    get_numbers(ref, op, mask, &p->mask);
    const grout_view *view = &p->memory.view;
    const uint32_t rank = grout_module_get_operand_type(ref->module, indices).rank;
    p->dim = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM, 0);
    p->is_by_rows = rank == 1 && view->rank > 1;
    p->inner = 1;
    for (uint32_t k = (uint32_t)p->dim + 1; k < view->rank; k++) {
        p->inner *= view->extent[view->order[k]];
    }
    p->extent = view->extent[view->order[p->dim]];
    p->value_extent = p->is_by_rows ? p->indices.count : 0;
    p->count = p->indices.count;
    if (p->is_by_rows) {
        p->count = p->memory.count / p->extent * p->value_extent;
    } else if (view->rank > 1) {
        p->value_extent = p->indices.count / (p->memory.count / p->extent);
    }
}

/* The place in the box of element i of the value; -1: the mask leaves it out. */
static int64_t find_place(const places *p, int64_t i) {
    const int64_t row = p->value_extent == 0 ? 0 : i / p->inner % p->value_extent;
    const bool masks_rows = p->is_by_rows && p->mask.count == p->indices.count;
    if (!holds(&p->mask, masks_rows ? row : i)) {
        return -1;
    }
    const int64_t index = (int64_t)p->indices.first[p->is_by_rows ? row : i].value;
    if (p->value_extent == 0) { /* memory of one dimension */
        return index;
    }
    const int64_t outer = i / p->inner / p->value_extent;
    return (outer * p->extent + index) * p->inner + i % p->inner;
}

void reference__run_gather(reference *ref, const grout_op *op) {
    places p;
    get_places(ref, op, 2, &p);
    num *result = reference__define(ref, op->first_result);
    for (int64_t i = 0; i < p.count && ref->why == NULL; i++) {
        const int64_t place = find_place(&p, i);
        result[i] = place < 0 ? formats_decode((grout_dtype)p.memory.type->dtype, 0)
                              : reference__read_box(&p.memory, place);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

void reference__run_masked_copy(reference *ref, const grout_op *op) {
    const box from = reference__get_box(ref, grout_module_get_operand(ref->module, op, 0));
    const box to = reference__get_box(ref, grout_module_get_operand(ref->module, op, 1));
    numbers mask;
    get_numbers(ref, op, 2, &mask);
    for (int64_t i = 0; i < to.count && ref->why == NULL; i++) {
        reference__write_box(&to, i,
                             holds(&mask, i) ? reference__read_box(&from, i)
                                             : formats_decode((grout_dtype)to.type->dtype, 0));
    }
    reference__note_write(ref, op, to.array);
}

void reference__run_gather_copy(reference *ref, const grout_op *op) {
    const box to = reference__get_box(ref, grout_module_get_operand(ref->module, op, 1));
    places p;
    get_places(ref, op, 3, &p);
    for (int64_t i = 0; i < p.count && ref->why == NULL; i++) {
        const int64_t place = find_place(&p, i);
        reference__write_box(&to, i,
                             place < 0 ? formats_decode((grout_dtype)to.type->dtype, 0)
                                       : reference__read_box(&p.memory, place));
    }
    reference__note_write(ref, op, to.array);
}

/* Plain, or one update after the other. */
void reference__run_scatter(reference *ref, const grout_op *op) {
    places p;
    numbers from;
    get_places(ref, op, 3, &p);
    get_numbers(ref, op, 2, &from);
    for (int64_t i = 0; i < p.count && ref->why == NULL; i++) {
        const int64_t place = find_place(&p, i);
        num number = from.first[from.count == 1 ? 0 : i];
        if (place < 0) {
            continue;
        }
        const update it = {.dtype = (grout_dtype)p.memory.type->dtype,
                           .held = reference__read_box(&p.memory, place),
                           .value = number};
        if (op->opcode != GROUT_OP_SCATTER &&
            !update_by_op((grout_opcode)op->opcode, &it, &number)) {
            reference__lack(ref, op);
        }
        reference__write_box(&p.memory, place, number);
    }
    reference__note_write(ref, op, p.memory.array);
}
