/* tmem.h - tensor memory: addresses, allocation, and the shapes of tcgen05.ld and tcgen05.st.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Tensor Memory', 'Tensor Memory Addressing', 'Tensor Memory Allocation', 'Data Movement
 * Shape', 'tcgen05.alloc, dealloc, relinquish_alloc_permit', 'tcgen05.ld', 'tcgen05.st', 'Access
 * restrictions'. A CTA has 128 lanes by 512 columns of 32 bits; an address is lane << 16 | column.
 */
#ifndef GROUT_PTX_TMEM_H
#define GROUT_PTX_TMEM_H

#include "fault.h"

#include <stdint.h>

enum {
    GROUT_PTX_TMEM_LANES = 128,
    GROUT_PTX_TMEM_COLUMNS = 512,
    GROUT_PTX_TMEM_UNIT = 32, /* columns that are allocated together */
    GROUT_PTX_TMEM_UNITS = GROUT_PTX_TMEM_COLUMNS / GROUT_PTX_TMEM_UNIT,
    GROUT_PTX_TMEM_QUARTER = 32 /* lanes that a warp of a warpgroup reaches */
};

typedef struct grout_ptx_tmem_cell {
    uint32_t lane, column;
} grout_ptx_tmem_cell;

/* False if the address is out of tensor memory. */
bool grout_ptx__tmem_decode(uint32_t address, grout_ptx_tmem_cell *cell, grout_ptx_fault *fault);

/* ---- allocation ---- */

/* What a CTA has allocated. All zero at its start. */
typedef struct grout_ptx_tmem {
    /* For each unit of 32 columns: 0 free, else the units of the allocation that begins here, or
     * GROUT_PTX_TMEM_UNITS + 1 inside one. */
    uint8_t units[GROUT_PTX_TMEM_UNITS];
    uint32_t last;        /* columns of the last allocation; 0 before the first */
    bool is_relinquished; /* no more allocations */
} grout_ptx_tmem;

typedef enum grout_ptx_tmem_answer {
    GROUT_PTX_TMEM_DONE,
    GROUT_PTX_TMEM_WAITS, /* until columns are free: the warp is blocked */
    GROUT_PTX_TMEM_FAULT
} grout_ptx_tmem_answer;

/* tcgen05.alloc: 32, 64, 128, 256 or 512 columns, never more than the allocation before. */
grout_ptx_tmem_answer grout_ptx__tmem_alloc(grout_ptx_tmem *tmem, uint32_t columns,
                                            uint32_t *address, grout_ptx_fault *fault);

/* tcgen05.dealloc: the address and size of an allocation. */
bool grout_ptx__tmem_dealloc(grout_ptx_tmem *tmem, uint32_t address, uint32_t columns,
                             grout_ptx_fault *fault);

/* tcgen05.relinquish_alloc_permit. */
bool grout_ptx__tmem_relinquish(grout_ptx_tmem *tmem, grout_ptx_fault *fault);

/* Whether the columns from a cell on are allocated. */
bool grout_ptx__tmem_is_allocated(const grout_ptx_tmem *tmem, uint32_t column, uint32_t columns);

/* At the exit of the CTA: everything is deallocated. */
bool grout_ptx__tmem_end(const grout_ptx_tmem *tmem, grout_ptx_fault *fault);

/* ---- tcgen05.ld and tcgen05.st ---- */

typedef enum grout_ptx_tmem_shape {
    GROUT_PTX_TMEM_32X32B,
    GROUT_PTX_TMEM_16X64B,
    GROUT_PTX_TMEM_16X128B,
    GROUT_PTX_TMEM_16X256B,
    GROUT_PTX_TMEM_16X32BX2,
    GROUT_PTX_TMEM_SHAPE_COUNT
} grout_ptx_tmem_shape;

typedef struct grout_ptx_tmem_move {
    grout_ptx_tmem_shape shape;
    uint32_t count;   /* of .x1 to .x128 */
    bool is_packed;   /* .pack::16b, .unpack::16b: two columns in a register */
    uint32_t split;   /* .16x32bx2: columns from the first half of the lanes to the second */
    uint32_t address; /* the same in all lanes */
    uint32_t warp;    /* of the warp in its CTA */
} grout_ptx_tmem_move;

/* Whether there is such a move, and whether the warp reaches its lanes: warp w of a CTA those of
 * quarter w % 4. The address is the quarter's first lane, or the 17th for shapes of 16 lanes. */
bool grout_ptx__tmem_move_check(const grout_ptx_tmem_move *move, grout_ptx_fault *fault);

/* Registers of each lane. */
uint32_t grout_ptx__tmem_move_registers(const grout_ptx_tmem_move *move);

/* Columns that it reaches from its address on. */
uint32_t grout_ptx__tmem_move_columns(const grout_ptx_tmem_move *move);

/* The cell of one register of a lane. With is_packed the register's high half is the low half of
 * the next column's cell, and its low half that of this one. */
grout_ptx_tmem_cell grout_ptx__tmem_move_cell(const grout_ptx_tmem_move *move, uint32_t lane,
                                              uint32_t number);

#endif
