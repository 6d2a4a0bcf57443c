/*
 * row_plan.c - the instructions of a tma_gather or tma_scatter. Each moves four rows of a 2-D array
 * between their places there and one place in SMEM, where they lie as a box of four rows does.
 * Sources: PTX ISA 9.1 'tiled::scatter4 and tiled::gather4 modes', cp.async.bulk.tensor.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "row_plan.h"

#include "bound.h"

#include <inttypes.h>

#define SMEM_ALIGNMENT 128 /* of what an instruction reads or writes: docs/hardware.md 1.2 */
#define COLUMNS_MAX    256

bool grout_row_plan__is_of(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_ROWS;
}

/* ---- the array ------------------------------------------------------------------------------- */

/* Whether the reference is the array itself, with all of its rows. */
static bool has_all_rows(const grout_copy_sides *sides) {
    const grout_view *view = sides->gmem;
    return view->descriptor == 0 && view->view_rank == 2 && view->view_dim[0] == 0 &&
           view->start_term_count[0] == 0 && view->start_const[0] == 0 &&
           view->extent[0] == grout_object_get_extent(sides->module, view->object, 0);
}

bool grout_row_plan__check_array(const grout_copy_sides *sides) {
    const grout_view *view = sides->gmem;
    const grout_loc_id loc = grout_copy_sides__get_operand(sides, 'G')->loc;
    if (view->rank != 2) {
        grout_copy_sides__fail(sides, GROUT_DIAG_TMA_BOX, loc,
                               "rows are moved of an array of 2 dimensions, and %s has %" PRIu32,
                               grout_copy_sides__get_name(sides).chars, view->rank);
        return grout_copy_sides__help(sides, "join the dimensions in front of its columns, and "
                                             "count rows in the one that this makes");
    }
    if (!has_all_rows(sides)) {
        grout_copy_sides__fail(sides, GROUT_DIAG_BAD_INDEX, loc,
                               "indices name rows of the array itself, so all of %s has to be "
                               "there: only its columns may be a slice",
                               grout_copy_sides__get_name(sides).chars);
        return grout_copy_sides__help(
            sides, "write it as in %x[:, ds(%c, 64)], and add where the rows begin to the indices");
    }
    if (view->packed != 1) {
        grout_copy_sides__fail(sides, GROUT_DIAG_TYPE_CLASS, loc,
                               "'%s' takes elements of whole bytes, and several of %s fill one",
                               grout_op_get_info((grout_opcode)sides->op->opcode)->text,
                               grout_copy_sides__get_name(sides).chars);
        return grout_copy_sides__help(sides, "take bytes of an array of u8");
    }
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Bytes from a row in SMEM to the next. */
static int64_t get_pitch(const grout_tma *tma) {
    const int64_t bytes = tma->box[0] * tma->element_bytes;
    return bytes < tma->swizzle ? tma->swizzle : bytes;
}

static bool check_count(const grout_copy_sides *sides, int64_t rows, bool is_tile) {
    if (rows % GROUT_ROWS_OF_INSTRUCTION == 0) {
        return true;
    }
    grout_copy_sides__fail(sides, is_tile ? GROUT_DIAG_TMA_LAYOUT : GROUT_DIAG_TMA_BOX,
                           grout_copy_sides__get_operand(sides, 'H')->loc,
                           "an instruction moves %d rows, and there are %" PRId64 "%s",
                           GROUT_ROWS_OF_INSTRUCTION, rows,
                           is_tile ? " in a tile that others follow" : "");
    return grout_copy_sides__help(
        sides, is_tile
                   ? "take tiles of a multiple of 4 rows, as in tile(8, n)"
                   : "take a multiple of 4 rows: an index beyond the end of the array fills up");
}

bool grout_row_plan__group(const grout_copy_sides *sides, grout_tma *tma) {
    const grout_view *smem = sides->smem;
    const int64_t rows = tma->box[1], pitch = get_pitch(tma);
    const int64_t all = smem->extent[smem->view_dim[0]];
    if (!check_count(sides, all, false) || !check_count(sides, rows, rows != all)) {
        return false;
    }
    if (tma->box[0] > COLUMNS_MAX) {
        grout_copy_sides__fail(sides, GROUT_DIAG_TMA_BOX,
                               grout_copy_sides__get_operand(sides, 'G')->loc,
                               "an instruction takes %" PRId64 " elements of each row: at most %d",
                               tma->box[0], COLUMNS_MAX);
        return grout_copy_sides__help(sides, "copy the columns in parts, or tile the SMEM array");
    }
    tma->box[1] = GROUT_ROWS_OF_INSTRUCTION;
    tma->row_groups = (uint32_t)(rows / GROUT_ROWS_OF_INSTRUCTION);
    tma->row_group_bytes = GROUT_ROWS_OF_INSTRUCTION * pitch;
    if (tma->row_groups > 1 && tma->row_group_bytes % SMEM_ALIGNMENT != 0) {
        grout_copy_sides__fail(sides, GROUT_DIAG_TMA_LAYOUT,
                               grout_copy_sides__get_operand(sides, 'H')->loc,
                               "%d rows take %" PRId64 " bytes of SMEM, and the instruction of the "
                               "next ones has to begin at a multiple of %d",
                               GROUT_ROWS_OF_INSTRUCTION, tma->row_group_bytes, SMEM_ALIGNMENT);
        return grout_copy_sides__help(sides, "take rows of a multiple of 32 bytes");
    }
    return true;
}
