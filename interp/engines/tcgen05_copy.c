/*
 * tcgen05_copy.c - copies from SMEM to tensor memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * They are in the queue of the lane's MMAs and take effect as these do (tcgen05.c). A copy for a
 * pair is one in each CTA, of its own SMEM to its own tensor memory. The source is
 * read then; of it the bytes before plain stores that were not published at the issue. The issue
 * decides what is undefined afterwards.
 */
#include "access.h"
#include "capture.h"
#include "engine.h"
#include "tcgen05.h"

#include "grout-internal/verify.h"

#include <string.h>

enum { SOURCE = GROUT_TCGEN05_BOX_SOURCE, DESTINATION = GROUT_TCGEN05_BOX_DESTINATION };

/* Elements of size bytes from the order of SMEM to that of tensor memory. */
static void order_elements(const grout_machine *machine, const grout_inst *inst,
                           const grout_box_plan *to, size_t size, const uint8_t *from,
                           uint8_t *out) {
    const grout_tcgen05_copy kind =
        grout_tcgen05_copy_get_kind(machine->launch.module, (grout_opcode)inst->opcode, to->object);
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
    order_elements(machine, inst, to->plan, to->plan->element_bytes, from, ordered);
    grout_box__scatter(machine, to, ordered);
    grout_heap__give(&machine->heap, ordered, bytes);
}

/* In the CTA whose rank is this many more than that of the one which issued it. */
static void land_in(const grout_cta *cta, const grout_flight *flight, uint32_t member) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = grout_flight__inst(machine, flight);
    const grout_cta *in = grout_tcgen05__get_member(cta, member);
    const uint32_t slot = flight->bytes.operands[member];
    const grout_box from = grout_box__place(in, grout_plan__box(machine->plan, inst, SOURCE),
                                            flight->start[grout_tcgen05__get_place(inst, SOURCE)]);
    const grout_box to =
        grout_box__place(in, grout_plan__box(machine->plan, inst, DESTINATION),
                         flight->start[grout_tcgen05__get_place(inst, DESTINATION)]);
    if (slot != 0) {
        grout_capture__read(cta, &from, slot);
        write(cta, inst, &to, grout_slots__get(cta, slot));
        return;
    }
    grout_box__gather(machine, &from, machine->linear);
    write(cta, inst, &to, machine->linear);
}

void grout_tcgen05__land_copy(const grout_cta *cta, const grout_flight *flight) {
    const uint32_t ctas = grout_tcgen05__count_ctas(grout_flight__inst(cta->machine, flight));
    for (uint32_t i = 0; i < ctas; i++) {
        land_in(cta, flight, i);
    }
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
    order_elements(machine, inst, to->plan, 1, machine->mask_linear, mask);
    grout_box__set_written(machine, to, mask);
    grout_heap__give(&machine->heap, mask, count);
}

void grout_tcgen05__copy(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const uint32_t ctas = grout_tcgen05__count_ctas(inst);
    grout_tcgen05_boxes boxes[GROUT_PAIR];
    grout_tcgen05_flight as = {.is_void = !grout_tcgen05__begin(cta, actor, inst, boxes)};
    for (uint32_t i = 0; i < ctas && machine->tracks && !as.is_void; i++) {
        spread_undefined(cta, inst, boxes[i]);
    }
    if (machine->is_lazy) {
        for (uint32_t i = 0; i < ctas && !as.is_void; i++) {
            as.slots[i] = grout_tcgen05__capture(cta, actor, inst, SOURCE, &boxes[i][SOURCE]);
        }
        grout_tcgen05__put_in_flight(cta, actor, inst, boxes[0], &as);
        return;
    }
    for (uint32_t i = 0; i < ctas && !as.is_void; i++) {
        grout_box__gather(machine, &boxes[i][SOURCE], machine->linear);
        write(cta, inst, &boxes[i][DESTINATION], machine->linear);
    }
    grout_tcgen05__publish_complete(cta, actor, inst);
}
