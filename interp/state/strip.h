/*
 * strip.h - elementwise ops, a strip of their result at a time, and the buffers they share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_STRIP_H
#define GROUT_INTERP_STRIP_H

#include "machine.h"

/* exec_elementwise.c: one for each kind of op. A broadcast's operand is the whole source. */
grout_strip_exec grout_strip__alu; /* ALU and MATH */
grout_strip_exec grout_strip__select;
grout_strip_exec grout_strip__cast;
grout_strip_exec grout_strip__copy;
grout_strip_exec grout_strip__broadcast;
grout_strip_exec grout_strip__iota;

/*
 * The machine's strips: three operands of any type, for scalars beside arrays; three operands and a
 * result in f32, for f16 and bf16; then the buffers of a chain.
 */
#define GROUT_STRIP_BYTES ((size_t)GROUT_STRIP * 40) /* 3 * 8 + 4 * 4 */

static inline uint8_t *grout_strip__scalar(const grout_machine *machine, uint32_t index) {
    return machine->strips + (size_t)index * GROUT_STRIP * 8;
}
static inline float *grout_strip__wide(const grout_machine *machine, uint32_t index) {
    size_t at = (size_t)GROUT_STRIP * (24 + index * (uint32_t)sizeof(float));
    return (float *)(void *)(machine->strips + at);
}
static inline uint8_t *grout_strip__chain(const grout_machine *machine) {
    return machine->strips + GROUT_STRIP_BYTES;
}

/* Repeats a scalar operand of an instruction in a buffer; as f32 if the instruction is_wide. */
void grout_strip__repeat(const grout_inst *inst, const grout_slot *slot, const uint8_t *data,
                         void *buffer, int64_t count);

/* Whether an operand is a scalar that is repeated for every element of the result. */
static inline bool grout_strip__is_repeated(const grout_inst *inst, const grout_slot *slot) {
    return slot->count == 1 && inst->result.count > 1 &&
           inst->u.elementwise.strip != grout_strip__broadcast;
}

#endif
