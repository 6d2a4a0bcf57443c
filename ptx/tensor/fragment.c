/* fragment.c - quads of lanes: a row each, and a few neighbouring columns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fragment.h"

enum { LANES = 32, QUAD = 4, WARP_ROWS = 16, HALF_ROWS = 8, REGISTER_BITS = 32 };

grout_ptx_place grout_ptx__fragment_d(uint32_t thread, uint32_t number, uint32_t element,
                                      uint32_t bits) {
    const uint32_t lane = thread % LANES;
    const uint32_t row = thread / LANES * WARP_ROWS + lane / QUAD;
    /* Pairs of columns: two registers of 32 bits, or the halves of one. */
    const uint32_t pair = bits == REGISTER_BITS ? number / 2 : number;
    const uint32_t of_pair = bits == REGISTER_BITS ? number % 2 : element;
    return (grout_ptx_place){row + pair % 2 * HALF_ROWS, pair / 2 * 8 + lane % QUAD * 2 + of_pair};
}

grout_ptx_place grout_ptx__fragment_a(uint32_t thread, uint32_t number, uint32_t element,
                                      uint32_t bits) {
    const uint32_t lane = thread % LANES, packed = REGISTER_BITS / bits;
    const uint32_t row = thread / LANES * WARP_ROWS + lane / QUAD;
    return (grout_ptx_place){row + number % 2 * HALF_ROWS,
                             (lane % QUAD + number / 2 * QUAD) * packed + element};
}

grout_ptx_place grout_ptx__fragment_b(uint32_t lane, uint32_t number, uint32_t element,
                                      uint32_t bits) {
    const uint32_t packed = REGISTER_BITS / bits;
    return (grout_ptx_place){(lane % QUAD + number * QUAD) * packed + element, lane / QUAD};
}

uint32_t grout_ptx__matrix_address_lane(uint32_t matrix, uint32_t row) {
    return matrix * 8 + row;
}

grout_ptx_place grout_ptx__matrix_place(uint32_t lane, uint32_t half, bool is_transposed) {
    const uint32_t row = lane / QUAD, column = lane % QUAD * 2 + half;
    return is_transposed ? (grout_ptx_place){column, row} : (grout_ptx_place){row, column};
}
