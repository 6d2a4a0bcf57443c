/* matrix.c - descriptors of matrices in SMEM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

#include "invariant.h"
#include "places.h"

#include <inttypes.h>

/* The code of a swizzle: those of a wgmma, whose field has one bit less. */
static uint32_t get_swizzle(uint32_t bytes) {
    return bytes == 128 ? 2 : bytes == 64 ? 4 : bytes == 32 ? 6 : 0;
}

grout_tensor_matrix grout_tensor__describe_matrix(const grout_wgmma_operand *operand) {
    uint64_t word = 0;
    GROUT_ASSERT(operand->leading_bytes % 16 == 0 && operand->stride_bytes % 16 == 0);
    word |= BITS(MATRIX_LEADING, operand->leading_bytes / 16);
    word |= BITS(MATRIX_STRIDE, operand->stride_bytes / 16);
    word |= BITS(MATRIX_VERSION, 1);
    word |= BITS(MATRIX_BASE, 0);
    word |= BITS(MATRIX_ABSOLUTE, 0);
    word |= BITS(MATRIX_SWIZZLE, get_swizzle(operand->swizzle));
    return (grout_tensor_matrix){.low = (uint32_t)word, .high = (uint32_t)(word >> 32)};
}

uint32_t grout_tensor__write_start(grout_emitter *e, const grout_view *view, uint32_t low) {
    const uint32_t start = e->temp_count++;
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 x%" PRIu32 " = grout_operand_start(", start);
    grout_emit__smem_start(e, view);
    grout_emit__add(e, ")");
    FIELD_END(e, MATRIX_START);
    grout_emit__end(e, " | %" PRIu32 "u;", low);
    return start;
}

void grout_tensor__matrix(grout_emitter *e, const grout_wgmma_operand *operand, uint32_t start,
                          uint32_t high, uint32_t parts) {
    const bool has_panels = parts > operand->steps_per_panel;
    GROUT_ASSERT(operand->steps_per_panel > 0 && !operand->is_register);
    grout_emit__add(e, "grout_operand(x%" PRIu32, start);
    if (has_panels) {
        grout_emit__add_distance(e, "part", operand->steps_per_panel, 1,
                                 FIELD(TMEM_PANEL, operand->panel_bytes / 16));
    }
    if (parts > 1 && operand->steps_per_panel > 1) {
        grout_emit__add_distance(e, "part", 1, has_panels ? operand->steps_per_panel : 1,
                                 FIELD(TMEM_STEP, operand->step_bytes / 16));
    }
    grout_emit__add(e, ", 0x%08" PRIx32 "u)", high);
}

void grout_tensor__open_parts(grout_emitter *e, uint32_t parts) {
    if (parts > 1) {
        grout_emit__line(e, "#pragma unroll");
        grout_emit__begin(e);
        grout_emit__add(e, "for (int part = 0; part < %" PRIu32 "; part++)", parts);
        grout_emit__open(e);
    }
}

void grout_tensor__close_parts(grout_emitter *e, uint32_t parts) {
    if (parts > 1) {
        grout_emit__close(e, "");
    }
}
