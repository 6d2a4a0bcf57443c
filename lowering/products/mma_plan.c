/*
 * mma_plan.c - an mma as instructions of the tensor core: element types and shapes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One mma.sync multiplies 16 rows of a by 8 columns of b over 32 bytes of K, in one warp. The four
 * warps of a thread have 16 of every 64 rows each, and all of b; in a partition of one or two
 * warps, of every 16 or 32 rows.
 */
#include "wgmma.h"

#include "invariant.h"
#include "type.h"

#include <inttypes.h>
#include <string.h>

enum { C, A, B, OPERANDS };

/* Its reports are made as those of a wgmma. */
typedef grout_wgmma_planning planning;

static const grout_operand *get_operand(const planning *p, uint32_t index) {
    return grout_module_get_operand(p->module, p->op, index);
}

/* ---- element types --------------------------------------------------------------------------- */

static bool check_saturation(planning *p, const grout_type *c) {
    if (grout_module_find_attr(p->module, p->op, GROUT_ATTR_SATURATE) == NULL ||
        c->dtype == GROUT_DTYPE_I32) {
        return true;
    }
    grout_wgmma__fail(p, GROUT_DIAG_MMA_TYPES, get_operand(p, C),
                      "saturate is of sums of integers, and c is %s",
                      grout_type__get_text(c).chars);
    grout_wgmma__help(p, "leave it out: a sum of floats that is too large is an infinity");
    return false;
}

static bool check_types(planning *p, const grout_type types[OPERANDS]) {
    const grout_dtype a = (grout_dtype)types[A].dtype, b = (grout_dtype)types[B].dtype;
    const uint32_t sums = grout_wgmma__get_accumulators(a, b);
    if ((sums >> types[C].dtype & 1) != 0) {
        return check_saturation(p, &types[C]);
    }
    grout_wgmma__fail(p, GROUT_DIAG_MMA_TYPES, get_operand(p, sums == 0 ? A : C),
                      "no mma multiplies %s by %s and adds %s", grout_dtype_get_info(a)->text,
                      grout_dtype_get_info(b)->text,
                      grout_dtype_get_info((grout_dtype)types[C].dtype)->text);
    if (sums == 0) {
        grout_wgmma__help(p, "%s", GROUT_WGMMA_PAIRS_TEXT);
    } else {
        grout_wgmma__help(p, "add up in %s, and cast the result",
                          (sums >> GROUT_DTYPE_F32 & 1) != 0 ? "f32" : "i32");
    }
    return false;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool check_ranks(planning *p, const grout_type types[OPERANDS]) {
    static const char *const wanted[OPERANDS] = {"[M, N]", "[M, K]", "[K, N]"};
    bool ok = true;
    for (uint32_t k = 0; k < OPERANDS; k++) {
        if (types[k].rank == 2) {
            continue;
        }
        ok = grout_wgmma__fail(p, GROUT_DIAG_MMA_SHAPE, get_operand(p, k),
                               "'mma' takes %s here, and %s is %s", wanted[k],
                               grout_wgmma__get_name(p, get_operand(p, k), "this").chars,
                               grout_type__get_text(&types[k]).chars);
        grout_wgmma__help(p, "reshape it to two dimensions");
    }
    return ok;
}

/* The three sizes, each of which two operands have. */
static bool check_agreement(planning *p, const grout_type types[OPERANDS]) {
    static const struct {
        char letter;
        uint8_t left, left_dim, right, right_dim;
    } pairs[] = {{'K', A, 1, B, 0}, {'M', A, 0, C, 0}, {'N', B, 1, C, 1}};
    static const char *const names[OPERANDS] = {"c", "a", "b"};
    for (uint32_t k = 0; k < 3; k++) {
        const grout_type *left = &types[pairs[k].left], *right = &types[pairs[k].right];
        const int64_t size = left->dims[pairs[k].left_dim];
        const int64_t other = right->dims[pairs[k].right_dim];
        if (size != other) {
            grout_wgmma__fail(p, GROUT_DIAG_MMA_SHAPE, get_operand(p, pairs[k].left),
                              "%c is %" PRId64 " in %s, %s, and %" PRId64 " in %s, %s",
                              pairs[k].letter, size, names[pairs[k].left],
                              grout_type__get_shape_text(left).chars, other, names[pairs[k].right],
                              grout_type__get_shape_text(right).chars);
            grout_wgmma__help(p, "c is [M, N], a is [M, K], b is [K, N]; a load of a transposed "
                                 "view turns a matrix: load %%b.transpose(1, 0)");
            return false;
        }
    }
    return true;
}

static bool check_size(planning *p, uint32_t index, char letter, uint32_t size, uint32_t step) {
    if (size % step == 0) {
        return true;
    }
    grout_wgmma__fail(p, GROUT_DIAG_MMA_SHAPE, get_operand(p, index),
                      "%c is %" PRIu32 ": an mma of %s takes multiples of %" PRIu32, letter, size,
                      grout_dtype_get_info((grout_dtype)p->mma->a_dtype)->text, step);
    grout_wgmma__help(p, "pad it to %" PRIu32 " with zeros", (size + step - 1) / step * step);
    return false;
}

/* Rows that the warps of the thread multiply at a time. */
static uint32_t get_block_rows(const planning *p) {
    return GROUT_WGMMA_ROWS / GROUT_WARPS * grout_op_get_warps(p->module, p->op);
}

/* Sizes are those of values that exist, so they fit. */
static void fill_sizes(planning *p, const grout_type types[OPERANDS]) {
    grout_mma *mma = p->mma;
    for (uint32_t k = 0; k < OPERANDS; k++) {
        GROUT_ASSERT(types[k].rank == 2 && types[k].dims[0] >= 1 && types[k].dims[1] >= 1);
    }
    mma->m = (uint32_t)types[A].dims[0];
    mma->k = (uint32_t)types[A].dims[1];
    mma->n = (uint32_t)types[B].dims[1];
    mma->k_step =
        (uint32_t)GROUT_WGMMA_STEP_BYTES / grout_dtype_get_info((grout_dtype)types[A].dtype)->bytes;
    mma->block_count = mma->m / get_block_rows(p);
    mma->column_count = mma->n / GROUT_WGMMA_COLUMN_STEP;
    mma->step_count = mma->k / mma->k_step;
    mma->a_dtype = types[A].dtype;
    mma->b_dtype = types[B].dtype;
    mma->accumulator_dtype = types[C].dtype;
    mma->is_saturating = grout_module_find_attr(p->module, p->op, GROUT_ATTR_SATURATE) != NULL;
}

static bool check_sizes(planning *p) {
    const grout_mma *mma = p->mma;
    bool ok = check_size(p, A, 'M', mma->m, get_block_rows(p));
    ok = check_size(p, B, 'N', mma->n, GROUT_WGMMA_COLUMN_STEP) && ok;
    return check_size(p, A, 'K', mma->k, mma->k_step) && ok;
}

bool grout_mma_plan(const grout_module *bound, grout_op_id mma, grout_mma *mma_out,
                    grout_diags *diags) {
    planning p = {.module = bound, .diags = diags, .mma = mma_out};
    grout_type types[OPERANDS];
    p.op = grout_module_get_op(bound, mma);
    memset(mma_out, 0, sizeof *mma_out);
    for (uint32_t k = 0; k < OPERANDS; k++) {
        types[k] = grout_module_get_operand_type(bound, get_operand(&p, k));
    }
    const bool has_types = check_types(&p, types);
    if (!check_ranks(&p, types) || !check_agreement(&p, types) || !has_types) {
        return false;
    }
    fill_sizes(&p, types);
    return check_sizes(&p);
}
