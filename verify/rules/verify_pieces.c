/* verify_pieces.c - async_copy, its like and async_store_smem: pieces of at least 4 bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include <inttypes.h>

/* The instructions of a store move whole runs of 16 bytes of the value. */
#define STORE_BYTES 16

/* Bytes that cp.async copies at least; elements of the narrowest type in a piece, at most. */
#define PIECE_MIN      4
#define CONTIGUOUS_MAX 16

/* Whether one side of the copy is a register array. */
static bool stores_value(const grout_op *op) {
    return grout_op_get_letter((grout_opcode)op->opcode, 0) == 'v';
}

/* What to do where elements that are picked one by one are narrower than a piece. */
static void help_picked(grout_verifying *verifying, const grout_type *type) {
    const int least = PIECE_MIN / grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    if (type->rank == 0 || type->dims[type->rank - 1] % least != 0) {
        grout_diags_help(verifying->diags, "load what is picked, and store it");
    } else {
        grout_diags_help(verifying->diags,
                         "pick whole rows, or promise with contiguous(%d) that neighbours along "
                         "the innermost dimension go together",
                         least);
    }
}

static void check_pieces(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 1);
    grout_type type = grout_module_get_operand_type(verifying->module, operand);
    if (type.kind != GROUT_TYPE_REF || grout_get_piece_bytes(verifying->module, id) > 0) {
        return;
    }
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type.dtype);
    const int64_t promised =
        info->bytes * grout_op_get_attr_integer(verifying->module, op, GROUT_ATTR_CONTIGUOUS, 1);
    if (grout_op_picks_elements(verifying->module, op) && promised < PIECE_MIN) {
        grout_verifying__report(verifying, GROUT_DIAG_ASYNC_PIECES, op->loc,
                                "'%s' moves pieces of 4, 8 or 16 bytes, and each %d bytes of %s "
                                "may come from another place",
                                grout_verify__get_text(op), (int)promised,
                                grout_type__get_text(&type).chars);
        help_picked(verifying, &type);
        return;
    }
    bool is_copy = !stores_value(op);
    grout_verifying__report(verifying, GROUT_DIAG_ASYNC_PIECES, op->loc,
                            "'%s' moves pieces of 4, 8 or 16 bytes, and not all of this box, %s, "
                            "falls into aligned runs of 4%s",
                            grout_verify__get_text(op), grout_type__get_text(&type).chars,
                            is_copy ? " on both sides" : "");
    grout_diags_help(verifying->diags,
                     "keep the innermost dimension, let rows begin and end at multiples of %d "
                     "elements, or use load and store",
                     PIECE_MIN * info->packed / info->bytes);
}

/* contiguous(n) is about elements that are picked one by one, and whole groups of them. False after
 * a report. */
static bool check_contiguous(grout_verifying *verifying, const grout_op *op) {
    const grout_attr_value *attr =
        grout_module_find_attr(verifying->module, op, GROUT_ATTR_CONTIGUOUS);
    const grout_type type = grout_module_get_operand_type(
        verifying->module, grout_module_get_operand(verifying->module, op, 1));
    if (attr == NULL || type.kind != GROUT_TYPE_REF) {
        return true;
    }
    const int64_t n = verifying->module->bound->expr_values[attr->expr].integer;
    if (n < 2 || n > CONTIGUOUS_MAX || (n & (n - 1)) != 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                "contiguous(%" PRId64 "): the value has to be 2, 4, 8 or %d", n,
                                CONTIGUOUS_MAX);
        grout_diags_help(verifying->diags, "a piece has at most 16 bytes");
    } else if (!grout_op_picks_elements(verifying->module, op)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                "contiguous(%" PRId64 ") says nothing here: no element has an "
                                "index, or a bit of the mask, of its own",
                                n);
        grout_diags_help(verifying->diags, "omit it");
    } else if (type.rank > 0 && type.dims[type.rank - 1] % n == 0) {
        return true;
    } else {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                                "contiguous(%" PRId64 "): the innermost dimension of the "
                                "destination, %s, is not a multiple of it",
                                n, grout_type__get_text(&type).chars);
        grout_diags_help(verifying->diags,
                         "promise less, or widen the destination and mask what is too much");
    }
    return false;
}

static void check_store(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    grout_type type = grout_module_get_operand_type(verifying->module, operand);
    if (type.kind != GROUT_TYPE_ARRAY) {
        if (type.kind != GROUT_TYPE_NONE) {
            grout_verifying__report(verifying, GROUT_DIAG_OPERAND_KIND, operand->loc,
                                    "'%s' stores an array, and this is %s",
                                    grout_verify__get_text(op), grout_type__get_text(&type).chars);
            grout_diags_help(verifying->diags, "store to the other CTA, then mbarrier_arrive at "
                                               "its mbarrier");
        }
        return;
    }
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type.dtype);
    if (info->packed > 1) {
        grout_verifying__report(verifying, GROUT_DIAG_OPERAND_KIND, operand->loc,
                                "'%s' stores elements of whole bytes, and %d of %s fill one",
                                grout_verify__get_text(op), info->packed, info->text);
        grout_diags_help(verifying->diags,
                         "store to the array by store, or cast to 8 bits: (cast .. : i8)");
        return;
    }
    int64_t bytes = grout_type_get_bytes(&type);
    if (bytes % STORE_BYTES != 0) {
        grout_verifying__report(verifying, GROUT_DIAG_ASYNC_PIECES, operand->loc,
                                "'%s' stores multiples of %d bytes, and %s has %" PRId64,
                                grout_verify__get_text(op), STORE_BYTES,
                                grout_type__get_text(&type).chars, bytes);
        grout_diags_help(verifying->diags, "widen the array; its rest may be anything");
    }
}

static bool has_space(const grout_verifying *verifying, const grout_op *op, uint32_t index,
                      grout_space space) {
    grout_type type = grout_module_get_operand_type(
        verifying->module, grout_module_get_operand(verifying->module, op, index));
    return type.kind == GROUT_TYPE_REF && type.space == space;
}

/* Whether an engine writes SMEM through the generic proxy, piece by piece. */
static bool moves_pieces(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, 1);
    return sync != NULL && sync->mode == GROUT_SYNC_MODE_STARTS && effect != NULL &&
           effect->proxy == GROUT_PROXY_GENERIC && effect->access == GROUT_ACCESS_WRITE;
}

void grout_verify__pieces(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    if (!moves_pieces(op)) {
        return;
    }
    if (stores_value(op)) {
        check_store(verifying, op);
    }
    if (has_space(verifying, op, 1, GROUT_SPACE_SMEM) &&
        (stores_value(op) || has_space(verifying, op, 0, GROUT_SPACE_GMEM))) {
        if (check_contiguous(verifying, op)) {
            check_pieces(verifying, id, op);
        }
    }
}
