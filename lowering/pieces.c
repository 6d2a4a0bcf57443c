/*
 * pieces.c - the pieces of bytes that async_copy, its like and async_store_smem move.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A side of the copy is a box of an object. Its innermost dimension is a run of neighbouring bytes
 * if it is the one that the object stores without gaps; a piece divides the length of the run and
 * every distance at which a run can start. A swizzle exchanges chunks of 16 bytes, the largest
 * piece, and so does not count. Where each element has an index or a bit of a mask of its own, a
 * piece has only elements that contiguous(n) promises to go together.
 */
#include "bound.h"

#include "grout-internal/verify.h"

#define PIECE_MAX 16
#define PIECE_MIN 4

/* The largest power of two, up to PIECE_MAX, that divides bytes. */
static uint32_t get_alignment(int64_t bytes) {
    uint32_t alignment = PIECE_MAX;
    while (alignment > 1 && bytes % (int64_t)alignment != 0) {
        alignment /= 2;
    }
    return alignment;
}

static void narrow(uint32_t *piece, int64_t bytes) {
    uint32_t alignment = get_alignment(bytes);
    *piece = alignment < *piece ? alignment : *piece;
}

/* The digit of the layout that counts neighbouring elements of dimension dim, or -1. */
static int find_row(const grout_layout *layout, uint32_t dim) {
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        if (layout->dim[k] == dim && layout->divisor[k] == 1 &&
            layout->stride[k] == layout->element_bytes) {
            return (int)k;
        }
    }
    return -1;
}

/* Elements of a dimension that lie in one run, at most: a divisor of the box and of the digit. */
static int64_t get_run(const grout_layout *layout, int row, int64_t extent) {
    int64_t a = extent, b = layout->extent[row];
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint32_t get_side(const grout_module *module, const grout_view *view) {
    const grout_layout *layout = grout_object_get_layout(module, view->object);
    uint32_t piece = PIECE_MAX;
    uint32_t inner = view->view_rank == 0 ? 0 : view->view_dim[view->view_rank - 1];
    int row = view->view_rank == 0 ? -1 : find_row(layout, inner);
    int64_t offset = 0; /* of the constant starts */
    narrow(&piece,
           layout->element_bytes * (row < 0 ? 1 : get_run(layout, row, view->extent[inner])));
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        uint32_t dim = layout->dim[k];
        int64_t start = view->start_const[dim];
        bool is_row = (int)k == row;
        bool moves = view->start_term_count[dim] > 0 || view->extent[dim] > layout->divisor[k];
        if (start > 0) {
            offset += start / layout->divisor[k] % layout->extent[k] * layout->stride[k];
        }
        if (is_row && view->start_term_count[dim] > 0) {
            narrow(&piece, layout->element_bytes < PIECE_MIN ? PIECE_MIN : layout->element_bytes);
        } else if (!is_row && moves && layout->extent[k] > 1) {
            narrow(&piece, layout->stride[k]);
        }
    }
    narrow(&piece, offset);
    return layout->chunk < piece ? layout->chunk : piece;
}

bool grout_op_picks_elements(const grout_module *bound, const grout_op *op) {
    grout_pick pick;
    if (!grout_op_get_pick(bound, op, &pick)) {
        return false;
    }
    const bool has_bits =
        pick.mask != 0 && !pick.is_mask_along &&
        grout_module_get_operand_type(bound, grout_module_get_operand(bound, op, pick.mask)).kind ==
            GROUT_TYPE_ARRAY;
    return has_bits || (pick.indices != 0 && pick.lead == pick.type.rank);
}

/* A source: of elements that are picked one by one, what is promised counts. */
static uint32_t get_source(const grout_module *bound, const grout_op *op, const grout_view *view) {
    uint32_t piece = PIECE_MAX;
    if (!grout_op_picks_elements(bound, op)) {
        return get_side(bound, view);
    }
    narrow(&piece, grout_object_get_layout(bound, view->object)->element_bytes *
                       grout_op_get_attr_integer(bound, op, GROUT_ATTR_CONTIGUOUS, 1));
    return piece;
}

uint32_t grout_get_piece_bytes(const grout_module *bound, grout_op_id id) {
    const grout_op *op = grout_module_get_op(bound, id);
    uint32_t piece = PIECE_MAX;
    for (uint32_t k = grout_op_get_letter((grout_opcode)op->opcode, 0) == 'v' ? 1 : 0; k < 2; k++) {
        grout_view view;
        if (!grout_module_get_view(bound, grout_module_get_operand(bound, op, k), &view)) {
            return 0;
        }
        uint32_t side = k == 0 ? get_source(bound, op, &view) : get_side(bound, &view);
        piece = side < piece ? side : piece;
    }
    return piece < PIECE_MIN ? 0 : piece;
}
