/*
 * exec_scan.c - sums and extremes of each element and those before it, along a dimension.
 *
 * The order of the additions is part of the language (docs/language.md, 'Scans'): for d = 1, 2, 4,
 * .. each element that has one at distance d before it is combined with that, all at once. So the
 * GPU's lanes come to the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "convert.h"
#include "exec.h"

#include <string.h>

/* One line of blocks: rows that follow each other. */
typedef struct scan {
    const grout_inst *inst;
    int64_t rows, columns;
    int64_t bytes;        /* of an element, as it is combined */
    int64_t number_bytes; /* of one of the array */
    bool is_reverse, is_exclusive;
} scan;

/* The row that is the i-th on the way. */
static int64_t get_row(const scan *s, int64_t i) {
    return s->is_reverse ? s->rows - 1 - i : i;
}

/* Later rows first: what they take has not been changed in this step. */
static void combine(const scan *s, uint8_t *work) {
    const int64_t pitch = s->columns * s->bytes;
    for (int64_t step = 1; step < s->rows; step *= 2) {
        for (int64_t i = s->rows; i-- > step;) {
            grout_loops__join(s->inst->u.reduce.function, work + get_row(s, i) * pitch,
                              work + get_row(s, i - step) * pitch, s->columns);
        }
    }
}

/* Moves every row one on; the first is what changes nothing. */
static void shift(const scan *s, grout_dtype dtype, uint8_t *work) {
    const int64_t pitch = s->columns * s->bytes;
    const grout_update update =
        grout_op_get_reduction(grout_op_get_scanned((grout_opcode)s->inst->opcode));
    const uint64_t identity = grout_update_get_identity(update, dtype);
    for (int64_t i = s->rows; i-- > 1;) {
        memcpy(work + get_row(s, i) * pitch, work + get_row(s, i - 1) * pitch, (size_t)pitch);
    }
    for (int64_t k = 0; k < s->columns; k++) { /* the low bytes come first */
        memcpy(work + get_row(s, 0) * pitch + k * s->bytes, &identity, (size_t)s->bytes);
    }
}

static void scan_block(const grout_cta *cta, const scan *s, grout_dtype dtype, const uint8_t *from,
                       uint8_t *to) {
    const grout_dtype compute = grout_loops__get_compute_dtype(dtype);
    uint8_t *work = cta->machine->linear;
    const int64_t count = s->rows * s->columns;
    grout_convert(dtype, from, compute, work, count);
    combine(s, work);
    if (s->is_exclusive) {
        shift(s, compute, work);
    }
    grout_convert(compute, work, dtype, to, count);
}

/* A result is undefined if one of the elements that it is made of is. */
static void scan_masks(const grout_cta *cta, uint32_t thread, const scan *s) {
    const grout_slot *from = grout_plan__slot(cta->machine->plan, s->inst, 0);
    const grout_slot *to = &s->inst->result;
    const bool is_undefined = grout_slot__is_undefined(cta, thread, from);
    const int64_t size = s->rows * s->columns;
    grout_slot__set_undefined(cta, thread, to, is_undefined);
    if (!is_undefined) {
        return;
    }
    const uint8_t *source = grout_slot__mask(cta, thread, from);
    uint8_t *mask = grout_slot__mask(cta, thread, to);
    for (int64_t k = 0; k < to->count;
         k += k % size == s->columns - 1 ? size - s->columns + 1 : 1) {
        uint8_t before = 0;
        for (int64_t i = 0; i < s->rows; i++) {
            const int64_t at = k + get_row(s, i) * s->columns;
            const uint8_t own = source[at];
            mask[at] = s->is_exclusive ? before : before | own;
            before |= own;
        }
    }
}

grout_outcome grout_exec_scan(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *from = grout_plan__slot(cta->machine->plan, inst, 0), *to = &inst->result;
    const grout_dtype dtype = (grout_dtype)to->dtype;
    const scan s = {.inst = inst,
                    .rows = inst->u.reduce.rows.rows,
                    .columns = inst->u.reduce.rows.columns,
                    .bytes = grout_dtype_get_info(grout_loops__get_compute_dtype(dtype))->bytes,
                    .number_bytes = to->element_bytes,
                    .is_reverse = (inst->attrs & GROUT_ATTR_BIT(REVERSE)) != 0,
                    .is_exclusive = (inst->attrs & GROUT_ATTR_BIT(EXCLUSIVE)) != 0};
    const int64_t size = s.rows * s.columns * s.number_bytes;
    const int64_t all = (int64_t)to->count * s.number_bytes;
    const uint8_t *data = grout_slot__data(cta, thread, from);
    uint8_t *result = grout_slot__data(cta, thread, to);
    for (int64_t done = 0; done < all; done += size) {
        scan_block(cta, &s, dtype, data + done, result + done);
    }
    scan_masks(cta, thread, &s);
    return GROUT_OUTCOME_NEXT;
}
