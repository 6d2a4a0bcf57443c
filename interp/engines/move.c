/*
 * move.c - elements from box to box, or combined with what is there; and whether they are defined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "move.h"
#include "atomic_math.h"
#include "convert.h"
#include "non_finite.h"

#include <string.h>

#define CHUNK        16 /* bytes that a swizzle keeps together */
#define LINE         64 /* bytes of a cache line */
#define ROWS_AHEAD   8
#define CHUNKS_AHEAD 64
#define PREFETCH_MAX 1024 /* bytes of a row */

/*
 * Rows of a box are far apart in GMEM, often a page each, where no hardware prefetcher follows:
 * asking for a row a few rows ahead makes add_tma a fifth faster (4096 x 4096, blocks of 32 x 64).
 */
static void copy_rows(const grout_transfer *transfers, uint32_t count, const uint8_t *source,
                      uint8_t *destination) {
    for (uint32_t i = 0; i < count; i++) {
        const grout_transfer *row = &transfers[i];
        if (i + ROWS_AHEAD < count && row->length >= LINE) {
            for (int64_t k = 0; k < row[ROWS_AHEAD].length && k < PREFETCH_MAX; k += LINE) {
                __builtin_prefetch(source + row[ROWS_AHEAD].source + k, 0, 2);
                __builtin_prefetch(destination + row[ROWS_AHEAD].destination + k, 1, 2);
            }
        }
        memcpy(destination + row->destination, source + row->source, (size_t)row->length);
    }
}

/* The same where a swizzle scatters the rows. */
static void copy_chunks(const grout_chunk_move *moves, uint32_t count, const uint8_t *source,
                        uint8_t *destination) {
    for (uint32_t i = 0; i < count; i++) {
        if (i % (LINE / CHUNK) == 0 && i + CHUNKS_AHEAD < count) {
            __builtin_prefetch(source + moves[i + CHUNKS_AHEAD].source, 0, 2);
        }
        memcpy(destination + moves[i].destination, source + moves[i].source, CHUNK);
    }
}

void grout_move__fill_outside(grout_machine *machine, const grout_inst *inst,
                              const grout_box *from) {
    const grout_dtype dtype = (grout_dtype)from->plan->dtype;
    if (from->is_inside) {
        return;
    }
    if (inst->u.copy.oob == GROUT_CHOICE_OOB_NAN) {
        grout_fill_nan(dtype, machine->linear, from->plan->count);
    } else if (inst->u.copy.oob == GROUT_CHOICE_OOB_UNDEFINED) {
        grout_fill_poison(dtype, machine->linear, from->plan->count);
    } else { /* with a promise nothing is outside */
        memset(machine->linear, 0, (size_t)from->plan->bytes);
    }
}

void grout_move__copy(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                      const grout_box *to) {
    const grout_plan *plan = machine->plan;
    if (from->is_shaped && to->is_shaped &&
        inst->u.copy.chunk_count + inst->u.copy.transfer_count > 0) {
        grout_box__touch(to);
        if (inst->u.copy.chunk_count > 0) {
            copy_chunks(grout_pool__at(&plan->chunk_moves, inst->u.copy.first_chunk),
                        inst->u.copy.chunk_count, from->bytes + from->offset,
                        to->bytes + to->offset);
        } else {
            copy_rows(grout_pool__at(&plan->transfers, inst->u.copy.first_transfer),
                      inst->u.copy.transfer_count, from->bytes + from->offset,
                      to->bytes + to->offset);
        }
        return;
    }
    grout_move__fill_outside(machine, inst, from);
    grout_box__gather(machine, from, machine->linear);
    grout_box__scatter(machine, to, machine->linear);
}

void grout_move__reduce(grout_machine *machine, const grout_inst *inst, const grout_box *to,
                        const uint8_t *elements, const grout_origin *origin) {
    uint8_t *held = machine->linear + to->plan->bytes;
    grout_box__gather(machine, to, held);
    grout_non_finite__update(machine, origin,
                             &(grout_update_plan){.update = (grout_update)inst->reduction,
                                                  .dtype = (grout_dtype)to->plan->dtype,
                                                  .is_gmem = true},
                             held, elements, to->plan->count);
    grout_box__scatter(machine, to, held);
}

void grout_move__store(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                       const grout_box *to, const grout_origin *origin) {
    if (inst->reduction == GROUT_UPDATE_NONE) {
        grout_move__copy(machine, inst, from, to);
        return;
    }
    grout_box__gather(machine, from, machine->linear);
    grout_move__reduce(machine, inst, to, machine->linear, origin);
}

void grout_move__combine(grout_machine *machine, const grout_inst *inst, const grout_box *to,
                         const uint8_t *elements) {
    if (inst->reduction == GROUT_UPDATE_NONE) {
        grout_box__scatter(machine, to, elements);
        return;
    }
    grout_box__gather(machine, to, machine->linear);
    grout_update__apply((grout_update)inst->reduction, (grout_dtype)to->plan->dtype, false,
                        machine->linear, elements, to->plan->count);
    grout_box__scatter(machine, to, machine->linear);
}

void grout_move__definedness(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_box *boxes) {
    grout_machine *machine = cta->machine;
    const grout_box *from = &boxes[0], *to = &boxes[1];
    bool combines = inst->reduction != GROUT_UPDATE_NONE;
    bool has_outside = !from->is_inside && inst->u.copy.oob == GROUT_CHOICE_OOB_UNDEFINED;
    if (!has_outside && grout_box__is_defined(machine, from) &&
        (!combines || grout_box__is_defined(machine, to))) {
        grout_box__set_written(machine, to, NULL);
        return;
    }
    uint8_t *mask = machine->mask_linear;
    memset(mask, has_outside ? 1 : 0, (size_t)from->plan->count);
    grout_box__get_undefined(machine, from, mask);
    grout_box__publish_unwritten(cta, thread, inst, from);
    if (combines) { /* undefined if either is */
        grout_box__publish_unwritten(cta, thread, inst, to);
        grout_box__add_undefined(machine, to, mask);
        grout_cta__publish_plain(cta, GROUT_EVENT_UNDEFINED, thread, inst);
    }
    grout_box__set_written(machine, to, mask);
    if (grout_space_is_of_launch(to->plan->space) && grout_box__has_undefined(machine, to, mask)) {
        grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ,
                             .use = GROUT_USE_OUTPUT,
                             .object = to->plan->object};
        grout_cta__fault(cta, thread, inst, 0, &fault);
    }
}
