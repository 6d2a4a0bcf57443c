/* run_tcgen05_move.c - tcgen05.ld and tcgen05.st.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_tcgen05.h"

enum { LANES = 32, HALF_BITS = 16, HALF = 0xffff };

/* The cells of a register: one, or the low halves of two. */
static uint32_t get_cells(const grout_ptx_tmem_move *move) {
    return move->is_packed ? 2 : 1;
}

static uint32_t get_mask(const grout_ptx_tmem_move *move) {
    return move->is_packed ? HALF : UINT32_MAX;
}

bool grout_ptx__tmem_load(const grout_ptx_tmem_move *move, uint32_t cta,
                          const grout_ptx_access *access, uint32_t *registers,
                          grout_ptx_fault *fault) {
    const uint32_t mask = get_mask(move);
    if (!grout_ptx__tmem_move_check(move, fault)) {
        return false;
    }
    for (uint32_t i = 0; i < LANES * grout_ptx__tmem_move_registers(move); i++) {
        grout_ptx_tmem_cell cell = grout_ptx__tmem_move_cell(move, i % LANES, i / LANES);
        uint32_t word = 0;
        for (uint32_t part = 0; part < get_cells(move); part++) {
            uint32_t bits = 0;
            if (!access->read_tmem(access->machine, cta, cell, mask, &bits, fault)) {
                return false;
            }
            word |= (bits & mask) << part * HALF_BITS;
            cell.column++;
        }
        registers[i] = word;
    }
    return true;
}

bool grout_ptx__tmem_store(const grout_ptx_tmem_move *move, uint32_t cta,
                           const grout_ptx_access *access, const uint32_t *registers,
                           grout_ptx_fault *fault) {
    const uint32_t mask = get_mask(move);
    if (!grout_ptx__tmem_move_check(move, fault)) {
        return false;
    }
    for (uint32_t i = 0; i < LANES * grout_ptx__tmem_move_registers(move); i++) {
        grout_ptx_tmem_cell cell = grout_ptx__tmem_move_cell(move, i % LANES, i / LANES);
        for (uint32_t part = 0; part < get_cells(move); part++) {
            const uint32_t bits = registers[i] >> part * HALF_BITS & mask;
            if (!access->write_tmem(access->machine, cta, cell, mask, bits, fault)) {
                return false;
            }
            cell.column++;
        }
    }
    return true;
}
