/* fragment.h - which element of a matrix is in which register of which lane.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Register Fragments and Shared Memory Matrix Layouts' of wgmma.mma_async, 'Matrix
 * Fragments for mma.m16n8k..', 'ldmatrix', 'stmatrix'. mma.sync has the fragments of one warp of
 * wgmma, so both are here: a thread is 0 to 127 of a warpgroup, or 0 to 31. An element of a
 * register counts from the low bits up.
 */
#ifndef GROUT_PTX_FRAGMENT_H
#define GROUT_PTX_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct grout_ptx_place {
    uint32_t row, column;
} grout_ptx_place;

/* C and D: bits of an element 32 (f32, s32) or 16 (two f16 in a register). Registers 0 to N/2 - 1,
 * or to N/4 - 1; N is 8 for mma.sync. */
grout_ptx_place grout_ptx__fragment_d(uint32_t thread, uint32_t number, uint32_t element,
                                      uint32_t bits);

/* A: bits of an element 32 (tf32), 16, 8 or 1; registers 0 to 3; column is k. The smaller shapes of
 * mma.sync (m16n8k8 of 16 bits, k4 of tf32, k16 of 8 bits) have registers 0 and 1. */
grout_ptx_place grout_ptx__fragment_a(uint32_t thread, uint32_t number, uint32_t element,
                                      uint32_t bits);

/* B of mma.sync, registers 0 and 1 (0 alone in the smaller shapes): row is k, column is n. */
grout_ptx_place grout_ptx__fragment_b(uint32_t lane, uint32_t number, uint32_t element,
                                      uint32_t bits);

/* ldmatrix and stmatrix, .m8n8 of .b16: the lane whose address is that of a row of a matrix, and
 * the place in the matrix of one half of the register that has the matrix' number. */
uint32_t grout_ptx__matrix_address_lane(uint32_t matrix, uint32_t row);
grout_ptx_place grout_ptx__matrix_place(uint32_t lane, uint32_t half, bool is_transposed);

#endif
