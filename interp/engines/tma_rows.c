/*
 * tma_rows.c - copies by TMA of rows that indices name (PTX ISA 9.1 'tiled::scatter4 and
 * tiled::gather4 modes'): each row is a box of its own, which may lie outside the array. Rows of
 * one copy come in no order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tma_rows.h"

#include "access.h"
#include "claims.h"
#include "convert.h"
#include "gmem.h"
#include "run_list.h"

#include <stdlib.h>
#include <string.h>

grout_tma_rows grout_tma_rows__begin(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                     const grout_box *array) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, 0);
    return grout_tma_rows__resume(cta, inst, array, grout_slot__data(cta, actor, slot));
}

grout_tma_rows grout_tma_rows__resume(const grout_cta *cta, const grout_inst *inst,
                                      const grout_box *array, const uint8_t *noted) {
    return (grout_tma_rows){.cta = cta, .inst = inst, .array = array, .indices = noted};
}

void grout_tma_rows__note(const grout_tma_rows *rows, uint8_t *noted) {
    memcpy(noted, rows->indices, rows->inst->u.copy.row_count * sizeof(int32_t));
}

static int64_t get_index(const grout_tma_rows *rows, uint32_t number) {
    int32_t index;
    memcpy(&index, rows->indices + number * sizeof index, sizeof index);
    return index;
}

static grout_box get_row(const grout_tma_rows *rows, uint32_t number) {
    const grout_box *array = rows->array;
    int64_t start[GROUT_RANK_MAX];
    memcpy(start, array->start, sizeof start);
    start[0] = get_index(rows, number);
    grout_box row = grout_box__place(rows->cta, array->plan, start);
    if (array->is_stale) {
        row.is_stale = true;
        grout_stale__show(rows->cta->machine, &row);
    }
    return row;
}

/* ---- the issue ------------------------------------------------------------------------------- */

static void report_undefined(const grout_tma_rows *rows, uint32_t actor) {
    const grout_cta *cta = rows->cta;
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, rows->inst, 0);
    const uint32_t operand = grout_op_find_letter((grout_opcode)rows->inst->opcode, 'w');
    if (grout_slot__is_undefined(cta, actor, slot) &&
        memchr(grout_slot__mask(cta, actor, slot), 1, rows->inst->u.copy.row_count) != NULL) {
        grout_cta__fault_undefined(cta, actor, rows->inst, operand, GROUT_USE_ADDRESS);
    }
}

bool grout_tma_rows__refuses(const grout_tma_rows *rows, uint32_t actor, bool is_store) {
    const grout_box_plan *plan = rows->array->plan;
    const bool is_promised = rows->inst->u.copy.oob == GROUT_CHOICE_OOB_IN_BOUNDS;
    report_undefined(rows, actor);
    for (uint32_t i = 0; i < rows->inst->u.copy.row_count; i++) {
        const int64_t index = get_index(rows, i);
        const bool is_outside = is_promised && (index < 0 || index >= plan->dims[0]);
        if (is_outside || (is_store && index < 0)) {
            const grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                                       .object = plan->object,
                                       .dimension = 0,
                                       .start = index,
                                       .extent = 1,
                                       .limit = plan->dims[0],
                                       .use = is_outside ? GROUT_OUTSIDE_PROMISED
                                                         : GROUT_OUTSIDE_NEGATIVE};
            grout_cta__fault(rows->cta, actor, rows->inst, plan->operand, &fault);
            return true;
        }
    }
    return false;
}

void grout_tma_rows__publish(const grout_tma_rows *rows, uint32_t actor,
                             const grout_stamp *stamps) {
    grout_machine *machine = rows->cta->machine;
    const bool is_wanted = grout_machine__wants(machine, GROUT_EVENT_ACCESS);
    uint32_t total = 0;
    for (uint32_t i = 0; i < rows->inst->u.copy.row_count; i++) {
        const grout_box row = get_row(rows, i);
        uint32_t count = 0;
        const grout_run *runs = row.is_empty ? NULL : grout_box__get_runs(machine, &row, &count);
        if (!row.is_empty &&
            (runs == NULL || (is_wanted && !grout_run_list__add(machine, runs, count, &total)))) {
            machine->run.has_failed = true;
            return;
        }
        grout_claims__note(machine, &row);
    }
    if (total > 0) {
        const grout_runs joined = grout_run_list__join(machine, total);
        grout_access__publish_runs(rows->cta, actor, rows->inst, rows->array, &joined, stamps);
    }
}

void grout_tma_rows__define_smem(const grout_tma_rows *rows, const grout_box *smem) {
    grout_machine *machine = rows->cta->machine;
    const int64_t width = rows->array->plan->count;
    uint8_t *mask = machine->mask_linear;
    bool is_undefined = false;
    memset(mask, 0, (size_t)smem->plan->count);
    for (uint32_t i = 0; i < rows->inst->u.copy.row_count; i++) {
        const grout_box row = get_row(rows, i);
        if (!row.is_empty && !grout_box__is_defined(machine, &row)) {
            grout_box__get_undefined(machine, &row, mask + i * width);
            is_undefined = true;
        }
    }
    grout_box__set_written(machine, smem, is_undefined ? mask : NULL);
}

void grout_tma_rows__define_rows(const grout_tma_rows *rows, uint32_t actor,
                                 const grout_box *smem) {
    grout_machine *machine = rows->cta->machine;
    const int64_t width = rows->array->plan->count;
    uint8_t *mask = grout_box__is_defined(machine, smem) ? NULL : machine->mask_linear;
    bool has_undefined = false;
    if (mask != NULL) {
        memset(mask, 0, (size_t)smem->plan->count);
        grout_box__get_undefined(machine, smem, mask);
    }
    for (uint32_t i = 0; i < rows->inst->u.copy.row_count; i++) {
        const grout_box row = get_row(rows, i);
        if (row.is_empty) {
            continue;
        }
        const uint8_t *own = mask == NULL ? NULL : mask + i * width;
        grout_box__set_written(machine, &row, own);
        has_undefined |= own != NULL && grout_box__has_undefined(machine, &row, own);
    }
    if (has_undefined) {
        const grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ,
                                   .use = GROUT_USE_OUTPUT,
                                   .object = rows->array->plan->object};
        grout_cta__fault(rows->cta, actor, rows->inst, 0, &fault);
    }
}

static int compare_places(const void *a, const void *b) {
    const grout_picked *left = a, *right = b;
    return left->offset != right->offset  ? (left->offset < right->offset ? -1 : 1)
           : left->number < right->number ? -1
                                          : left->number > right->number;
}

/* Whether two rows of SMEM hold different values, or some that nobody knows. */
static bool differs(const grout_machine *machine, const uint8_t *mask, int64_t width, int64_t bytes,
                    const grout_picked *pair) {
    const int64_t a = pair[0].number, b = pair[1].number;
    return memcmp(machine->linear + a * bytes, machine->linear + b * bytes, (size_t)bytes) != 0 ||
           (mask != NULL && (memchr(mask + a * width, 1, (size_t)width) != NULL ||
                             memchr(mask + b * width, 1, (size_t)width) != NULL));
}

/* The rows that are written, by index; how many. */
static uint32_t sort_places(const grout_tma_rows *rows, grout_picked *places) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->inst->u.copy.row_count; i++) {
        const int64_t index = get_index(rows, i);
        if (index >= 0 && index < rows->array->plan->dims[0]) {
            places[count++] = (grout_picked){.offset = index, .number = i};
        }
    }
    if (count > 1) {
        qsort(places, count, sizeof *places, compare_places);
    }
    return count;
}

void grout_tma_rows__check_places(const grout_tma_rows *rows, uint32_t actor,
                                  const grout_box *smem) {
    grout_machine *machine = rows->cta->machine;
    grout_pool *pool = &machine->scratch[GROUT_SCRATCH_PICKED];
    const int64_t width = rows->array->plan->count, bytes = rows->array->plan->bytes;
    const bool tracks = machine->tracks && !grout_box__is_defined(machine, smem);
    bool is_read = false;
    if (!grout_run_list__reserve(machine, pool, 0, rows->inst->u.copy.row_count)) {
        return;
    }
    grout_picked *places = grout_pool__at(pool, 0);
    const uint32_t count = sort_places(rows, places);
    for (uint32_t i = 1; i < count; i++) {
        if (places[i].offset != places[i - 1].offset) {
            continue;
        }
        if (!is_read) {
            grout_box__gather(machine, smem, machine->linear);
            if (tracks) {
                memset(machine->mask_linear, 0, (size_t)smem->plan->count);
                grout_box__get_undefined(machine, smem, machine->mask_linear);
            }
            is_read = true;
        }
        if (differs(machine, tracks ? machine->mask_linear : NULL, width, bytes, &places[i - 1])) {
            const grout_fault fault = {.code = GROUT_DIAG_SCATTER_CONFLICT,
                                       .object = rows->array->plan->object,
                                       .start = places[i].offset,
                                       .have = places[i - 1].number,
                                       .need = places[i].number};
            grout_cta__fault(rows->cta, actor, rows->inst, rows->array->plan->operand, &fault);
            return;
        }
    }
}

bool grout_tma_rows__capture(const grout_tma_rows *rows, uint32_t actor, uint8_t *linear,
                             uint8_t *stale) {
    const int64_t bytes = rows->array->plan->bytes;
    bool found = false;
    memset(stale, 0, (size_t)(rows->inst->u.copy.row_count * bytes));
    for (uint32_t i = 0; i < rows->inst->u.copy.row_count; i++) {
        const grout_box row = get_row(rows, i);
        found |= grout_gmem__capture(rows->cta, actor, &row, linear + i * bytes, stale + i * bytes);
    }
    return found;
}

/* ---- the engine ------------------------------------------------------------------------------ */

void grout_tma_rows__read(const grout_tma_rows *rows) {
    grout_machine *machine = rows->cta->machine;
    const grout_box_plan *plan = rows->array->plan;
    const uint32_t count = rows->inst->u.copy.row_count;
    if (rows->inst->u.copy.oob == GROUT_CHOICE_OOB_NAN) {
        grout_fill_nan((grout_dtype)plan->dtype, machine->linear, count * plan->count);
    } else {
        memset(machine->linear, 0, (size_t)(count * plan->bytes));
    }
    for (uint32_t i = 0; i < count; i++) {
        const grout_box row = get_row(rows, i);
        if (!row.is_empty) {
            grout_box__gather(machine, &row, machine->linear + i * plan->bytes);
        }
    }
}

void grout_tma_rows__write(const grout_tma_rows *rows, const uint8_t *linear) {
    for (uint32_t i = 0; i < rows->inst->u.copy.row_count; i++) {
        const grout_box row = get_row(rows, i);
        if (!row.is_empty) {
            grout_box__scatter(rows->cta->machine, &row, linear + i * rows->array->plan->bytes);
        }
    }
}

void grout_tma_rows__spoil(const grout_tma_rows *rows, const uint8_t *mask) {
    grout_machine *machine = rows->cta->machine;
    const grout_box_plan *plan = rows->array->plan;
    uint8_t *poison = machine->image;
    grout_tma_rows__read(rows);
    grout_fill_poison((grout_dtype)plan->dtype, poison, 1);
    for (int64_t i = 0; i < rows->inst->u.copy.row_count * plan->bytes; i++) {
        if (mask[i] != 0) {
            machine->linear[i] = poison[i % plan->element_bytes];
        }
    }
    grout_tma_rows__write(rows, machine->linear);
}
