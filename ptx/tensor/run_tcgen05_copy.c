/* run_tcgen05_copy.c - tcgen05.cp and tcgen05.shift.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_tcgen05.h"

#include <stddef.h>

enum { SLOT = 16, CELL_BYTES = 4, WORDS = 4 };

static uint32_t get_word(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* What the bits that a wider element has on top say is known: they are zero. */
static void expand_known(grout_ptx_copy_format format, const uint8_t slot[SLOT],
                         uint8_t known[SLOT]) {
    static const uint8_t ones[SLOT] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t taken[SLOT];
    grout_ptx__copy_expand(format, slot, known);
    grout_ptx__copy_expand(format, ones, taken);
    for (uint32_t i = 0; i < SLOT; i++) {
        known[i] |= (uint8_t)~taken[i];
    }
}

/* 16 bytes of a row, from shared memory to each lane that gets them; those without a value have
 * none there either. */
static bool copy_slot(const grout_ptx_copy *copy, const grout_ptx_operand *from,
                      const uint32_t at[2], const grout_ptx_access *access,
                      grout_ptx_fault *fault) {
    const uint32_t row = at[0], first = at[1];
    uint32_t address = 0, bit = 0, lanes[4];
    uint8_t slot[SLOT], slot_known[SLOT], bytes[SLOT], known[SLOT];
    const grout_ptx_known_bytes to = {slot, slot_known};
    if (!grout_ptx__desc_locate(&from->desc, &from->form, row, first, &address, &bit)) {
        return grout_ptx__fail(fault, "tcgen05.cp of rows that are wider than the swizzle of their "
                                      "matrix descriptor");
    }
    if (!access->move_shared(access->machine, from->cta, address, SLOT, to, fault)) {
        return false;
    }
    grout_ptx__copy_expand(copy->format, slot, bytes);
    expand_known(copy->format, slot_known, known);
    const uint32_t count = grout_ptx__copy_lanes(copy->shape, row, lanes);
    for (uint32_t i = 0; i < WORDS * count; i++) {
        const size_t word = (size_t)(i % WORDS) * CELL_BYTES;
        const grout_ptx_tmem_cell cell = {(copy->address >> 16) + lanes[i / WORDS],
                                          (copy->address & 0xffff) + first / CELL_BYTES +
                                              i % WORDS};
        if (!access->move_to_tmem(access->machine, from->cta, cell, get_word(bytes + word),
                                  get_word(known + word), fault)) {
            return false;
        }
    }
    return true;
}

/* 4x256b goes to any lane of the quarters, the others to lane 0 on. */
static bool check_address(const grout_ptx_copy *copy, grout_ptx_fault *fault) {
    const uint32_t columns = grout_ptx__copy_row_bytes(copy->shape) / CELL_BYTES;
    const uint32_t lanes = copy->shape == GROUT_PTX_COPY_4X256B ? GROUT_PTX_TMEM_QUARTER : 1;
    grout_ptx_tmem_cell cell;
    if (!grout_ptx__tmem_decode(copy->address, &cell, fault)) {
        return false;
    }
    if (cell.lane >= lanes || cell.column + columns > GROUT_PTX_TMEM_COLUMNS) {
        return grout_ptx__fail(fault, "tcgen05.cp of %u columns to lane %u, column %u", columns,
                               cell.lane, cell.column);
    }
    return true;
}

static bool copy_rows(const grout_ptx_copy *copy, const grout_ptx_operand *from,
                      const grout_ptx_access *access, grout_ptx_fault *fault) {
    const uint32_t slots = grout_ptx__copy_row_bytes(copy->shape) / SLOT;
    for (uint32_t i = 0; i < grout_ptx__copy_rows(copy->shape) * slots; i++) {
        const uint32_t place[2] = {i / slots, i % slots * SLOT};
        if (!copy_slot(copy, from, place, access, fault)) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__copy_run(const grout_ptx_copy *copy, const grout_ptx_access *access,
                         grout_ptx_fault *fault) {
    grout_ptx_operand from = {.form = {.kind = GROUT_PTX_DESC_TCGEN05, .format = GROUT_PTX_U8}};
    if (!check_address(copy, fault) ||
        !grout_ptx__desc_decode(copy->desc, GROUT_PTX_DESC_TCGEN05, copy->arch, &from.desc,
                                fault) ||
        !grout_ptx__desc_check(&from.desc, &from.form, fault)) {
        return false;
    }
    for (; from.cta < copy->ctas; from.cta++) {
        if (!copy_rows(copy, &from, access, fault)) {
            return false;
        }
    }
    return true;
}

bool grout_ptx__shift_run(uint32_t address, uint32_t ctas, const grout_ptx_access *access,
                          grout_ptx_fault *fault) {
    grout_ptx_tmem_cell first;
    if (!grout_ptx__shift_check(address, &first, fault)) {
        return false;
    }
    for (uint32_t i = 0; i < ctas * GROUT_PTX_SHIFT_LANES * GROUT_PTX_SHIFT_COLUMNS; i++) {
        const uint32_t cta = i / (GROUT_PTX_SHIFT_LANES * GROUT_PTX_SHIFT_COLUMNS);
        const grout_ptx_tmem_cell to = {first.lane +
                                            i / GROUT_PTX_SHIFT_COLUMNS % GROUT_PTX_SHIFT_LANES,
                                        first.column + i % GROUT_PTX_SHIFT_COLUMNS};
        const grout_ptx_tmem_cell from = {to.lane + 1, to.column};
        uint32_t bits = 0, known = 0;
        if (!access->move_from_tmem(access->machine, cta, from, &bits, &known, fault) ||
            !access->move_to_tmem(access->machine, cta, to, bits, known, fault)) {
            return false;
        }
    }
    return true;
}
