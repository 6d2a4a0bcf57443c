/* operand.c - a matrix in shared memory, element by element.
 * SPDX-License-Identifier: Apache-2.0 */
#include "access.h"

enum { BYTE = 8, WORD_BITS = 32 };

/* Bits of what is read at once: an element, or a word of b1. */
static uint32_t get_bits(const grout_ptx_operand *operand) {
    return operand->form.format == GROUT_PTX_B1 ? WORD_BITS
                                                : grout_ptx__format_bits(operand->form.format);
}

static bool read_element(const grout_ptx_operand *operand, const grout_ptx_access *access,
                         const uint32_t at[2], uint32_t *element, grout_ptx_fault *fault) {
    const uint32_t bits = get_bits(operand),
                   k = at[1] * (operand->form.format == GROUT_PTX_B1 ? WORD_BITS : 1);
    uint32_t address = 0, bit = 0;
    uint8_t bytes[4] = {0};
    if (!grout_ptx__desc_locate(&operand->desc, &operand->form, at[0], k, &address, &bit)) {
        return grout_ptx__fail(fault,
                               "element %u of a row reaches beyond the swizzle of its matrix "
                               "descriptor",
                               at[1]);
    }
    const uint32_t size = (bit + bits + BYTE - 1) / BYTE;
    if (!access->read_shared(access->machine, operand->cta, address, size, bytes, fault)) {
        return false;
    }
    const uint32_t word =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    *element = word >> bit & (UINT32_MAX >> (WORD_BITS - bits));
    return true;
}

bool grout_ptx__operand_read(const grout_ptx_operand *operand, const grout_ptx_access *access,
                             uint32_t *to, grout_ptx_fault *fault) {
    if (!grout_ptx__desc_check(&operand->desc, &operand->form, fault)) {
        return false;
    }
    for (uint32_t row = 0; row < operand->rows; row++) {
        for (uint32_t k = 0; k < operand->k; k++) {
            const uint32_t at[2] = {row, k};
            if (!read_element(operand, access, at, to++, fault)) {
                return false;
            }
        }
    }
    return true;
}
