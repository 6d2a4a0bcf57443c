/* cells.h - the op table as cells, an operation and element types each; which of them a kind of
 * drawn kernels has to draw. SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_CELLS_H
#define GROUT_TESTS_RANDOM_CELLS_H

#include "grout-internal/ir.h"

#define CELLS_MAX 4096

typedef struct cell {
    grout_opcode opcode;
    grout_dtype from, to; /* of the operands; of the result, where it differs, else as from */
} cell;

/* Kernels that one kind draws. */
typedef enum drawn_by {
    DRAWN_BY_TABLE,
    DRAWN_BY_VALUES,
    DRAWN_BY_UPDATES,
    DRAWN_BY_WGMMA,
    DRAWN_BY_MMA,
    DRAWN_BY_TCGEN05,
    DRAWN_BY_FORMS,
    DRAWN_BY_ORDERS,
    DRAWN_BY_COUNT
} drawn_by;

/* Who draws an operation: drawn.def. */
drawn_by cells_get_owner(grout_opcode opcode);
/* Whether the op table has the cell, and drawn.def does not leave it out. */
bool cells_has(cell it);
/* All cells of an owner, in the order of the op table. */
typedef struct cells_list {
    bool is_made;
    uint32_t count;
    cell cells[CELLS_MAX];
} cells_list;
const cells_list *cells_get_list(drawn_by owner);

/* ---- which cells kernels have ---- */

typedef struct cells_seen {
    uint32_t to[GROUT_OP_COUNT][GROUT_DTYPE_COUNT]; /* by operand: a bit for each result type */
} cells_seen;

/* Every cell of the operations of a bound module. */
void cells_see(cells_seen *seen, const grout_module *bound);
/* Prints the cells of the owner that are not among those seen and what to do about them; returns
 * how many there are. */
uint32_t cells_print_unseen(const cells_seen *seen, drawn_by owner);

#endif
