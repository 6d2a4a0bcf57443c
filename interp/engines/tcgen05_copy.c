/*
 * tcgen05_copy.c - copies from SMEM to tensor memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * They are in the queue of the lane's MMAs and take effect as these do (tcgen05.c). The source is
 * read then; of it the bytes before plain stores that were not published at the issue. The issue
 * decides what is undefined afterwards.
 */
#include "access.h"
#include "capture.h"
#include "engine.h"
#include "tcgen05.h"

#include "grout/verify.h"

#include <string.h>

enum { SOURCE = GROUT_TCGEN05_BOX_SOURCE, DESTINATION = GROUT_TCGEN05_BOX_DESTINATION };

/* Elements of size bytes from the order of SMEM to that of tensor memory. */
static void order_elements(const grout_inst *inst, const grout_box_plan *to, size_t size,
                           const uint8_t *from, uint8_t *out) {
    const grout_tcgen05_copy kind = grout_tcgen05_copy_get_kind((grout_opcode)inst->opcode);
    const uint32_t rows = (uint32_t)to->extent[to->rank - 2u];
    const uint32_t columns = (uint32_t)to->extent[to->rank - 1u];
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < columns; c++) {
            const uint32_t source = grout_tcgen05_copy_get_source(kind, columns, r, c);
            memcpy(out + ((size_t)r * columns + c) * size, from + source * size, size);
        }
    }
}

/* The elements that lie at from, one after another as the source has them, to the destination. */
static void write(const grout_cta *cta, const grout_inst *inst, const grout_box *to,
                  const uint8_t *from) {
    grout_machine *machine = cta->machine;
    const size_t bytes = (size_t)to->plan->bytes;
    uint8_t *ordered = grout_heap__take(&machine->heap, bytes);
    if (ordered == NULL) {
        machine->run.has_failed = true;
        return;
    }
    order_elements(inst, to->plan, to->plan->element_bytes, from, ordered);
    grout_box__scatter(machine, to, ordered);
    grout_heap__give(&machine->heap, ordered, bytes);
}

void grout_tcgen05__land_copy(const grout_cta *cta, const grout_flight *flight) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = grout_flight__inst(machine, flight);
    const uint32_t slot = flight->bytes.operands[0];
    const grout_box from = grout_box__place(cta, grout_plan__box(machine->plan, inst, SOURCE),
                                            flight->start[grout_tcgen05__get_place(inst, SOURCE)]);
    const grout_box to =
        grout_box__place(cta, grout_plan__box(machine->plan, inst, DESTINATION),
                         flight->start[grout_tcgen05__get_place(inst, DESTINATION)]);
    if (slot != 0) {
        grout_capture__read(cta, &from, slot);
        write(cta, inst, &to, grout_slots__get(cta, slot));
        return;
    }
    grout_box__gather(machine, &from, machine->linear);
    write(cta, inst, &to, machine->linear);
}

/* What is undefined in the source is so in the destination. */
static void spread_undefined(const grout_cta *cta, const grout_inst *inst, const grout_box *boxes) {
    grout_machine *machine = cta->machine;
    const grout_box *to = &boxes[DESTINATION];
    if (grout_box__is_defined(machine, &boxes[SOURCE])) {
        grout_box__set_written(machine, to, NULL);
        return;
    }
    const size_t count = (size_t)to->plan->count;
    uint8_t *mask = grout_heap__take(&machine->heap, count);
    if (mask == NULL) {
        machine->run.has_failed = true;
        return;
    }
    memset(machine->mask_linear, 0, count);
    grout_box__get_undefined(machine, &boxes[SOURCE], machine->mask_linear);
    order_elements(inst, to->plan, 1, machine->mask_linear, mask);
    grout_box__set_written(machine, to, mask);
    grout_heap__give(&machine->heap, mask, count);
}

void grout_tcgen05__copy(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_box boxes[GROUT_TCGEN05_BOXES_MAX];
    grout_tcgen05_flight as = {.is_void = !grout_tcgen05__begin(cta, actor, inst, boxes)};
    if (machine->tracks && !as.is_void) {
        spread_undefined(cta, inst, boxes);
    }
    if (machine->is_lazy) {
        as.slots[0] = as.is_void ? 0 : grout_capture__take(cta, actor, &boxes[SOURCE], cta->rank);
        grout_tcgen05__put_in_flight(cta, actor, inst, boxes, &as);
        return;
    }
    if (!as.is_void) {
        grout_box__gather(machine, &boxes[SOURCE], machine->linear);
        write(cta, inst, &boxes[DESTINATION], machine->linear);
    }
    grout_tcgen05__publish_complete(cta, actor, inst);
}
