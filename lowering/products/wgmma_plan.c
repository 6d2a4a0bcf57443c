/*
 * wgmma_plan.c - a wgmma as instructions of the tensor core: element types and shapes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One wgmma.mma_async multiplies 64 rows of a by all columns of b over 32 bytes of K. So a wgmma of
 * [M, K] by [K, N] is M / 64 blocks times K / step of them. docs/hardware.md 6.
 */
#include "wgmma.h"

#include "invariant.h"
#include "type.h"

#include <inttypes.h>
#include <string.h>

enum { ACC, A, B };

#define INTEGER_STEP_FROM 32 /* columns: above it, those of integers come in steps of 16 */
static const char *get_mnemonic(const grout_wgmma_planning *planning) {
    return grout_op_get_info((grout_opcode)planning->op->opcode)->text;
}

/* ---- spaces and element types ---------------------------------------------------------------- */

static bool check_space(grout_wgmma_planning *planning, uint32_t index, const grout_type *type) {
    static const char *const letters[] = {"the accumulator", "a", "b"};
    const grout_operand *operand = grout_module_get_operand(planning->module, planning->op, index);
    grout_space wanted = index == ACC ? GROUT_SPACE_ACC : GROUT_SPACE_SMEM;
    if (type->kind == GROUT_TYPE_ARRAY || type->space == wanted) {
        return true;
    }
    grout_wgmma__fail(planning, GROUT_DIAG_BAD_SPACE, operand,
                      "%s of '%s' lies in %s, and %s is %s", letters[index], get_mnemonic(planning),
                      grout_space_get_text(wanted),
                      grout_wgmma__get_name(planning, operand, "the reference").chars,
                      grout_type__get_text(type).chars);
    if (index == ACC) {
        grout_wgmma__help(planning, "declare an accumulator: scratch %%acc : acc f32[..]");
    } else if (type->space == GROUT_SPACE_ACC) {
        grout_wgmma__help(planning, index == A
                                        ? "load it and cast it: a may be an array in registers"
                                        : "load it, cast it, and store it to SMEM");
    } else {
        grout_wgmma__help(planning,
                          "the tensor core reads SMEM: copy_gmem_to_smem brings it there");
    }
    return false;
}

static void help_types(grout_wgmma_planning *planning, const grout_type types[3]) {
    const uint32_t accumulators =
        grout_wgmma__get_accumulators((grout_dtype)types[A].dtype, (grout_dtype)types[B].dtype);
    if (accumulators != 0) {
        grout_wgmma__help(planning, "accumulate in %s and cast what is loaded from it",
                          (accumulators >> GROUT_DTYPE_F32 & 1) != 0 ? "f32" : "i32");
    } else {
        grout_wgmma__help(planning, "%s", GROUT_WGMMA_PAIRS_TEXT);
    }
}

/* Only sums of integers can wrap, or stop. */
static bool check_saturation(grout_wgmma_planning *planning, const grout_type *acc) {
    const grout_attr_value *saturate =
        grout_module_find_attr(planning->module, planning->op, GROUT_ATTR_SATURATE);
    planning->wgmma->is_saturating = saturate != NULL;
    if (saturate == NULL || acc->dtype == GROUT_DTYPE_I32) {
        return true;
    }
    grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_TYPES,
                      grout_module_get_operand(planning->module, planning->op, ACC),
                      "saturate is of sums of integers, and the accumulator is %s",
                      grout_type__get_text(acc).chars);
    grout_wgmma__help(planning, "leave it out: a sum of floats that is too large is an infinity");
    return false;
}

static bool check_types(grout_wgmma_planning *planning, const grout_type types[3]) {
    const grout_operand *a = grout_module_get_operand(planning->module, planning->op, A);
    const char *texts[3];
    for (uint32_t k = 0; k < 3; k++) {
        texts[k] = grout_dtype_get_info((grout_dtype)types[k].dtype)->text;
    }
    const uint32_t accumulators =
        grout_wgmma__get_accumulators((grout_dtype)types[A].dtype, (grout_dtype)types[B].dtype);
    if ((accumulators >> types[ACC].dtype & 1) == 0) {
        grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_TYPES, a,
                          "no wgmma multiplies %s by %s into %s", texts[A], texts[B], texts[ACC]);
        help_types(planning, types);
        return false;
    }
    if (types[A].kind == GROUT_TYPE_ARRAY && types[A].dtype == GROUT_DTYPE_F32) {
        grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_TYPES, a,
                          "an a in registers has elements of 16 or 8 bits, and %s is f32",
                          grout_wgmma__get_name(planning, a, "this").chars);
        grout_wgmma__help(planning, "store it to SMEM, or cast it: (cast .. : bf16)");
        return false;
    }
    return check_saturation(planning, &types[ACC]);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* How many elements of K there are for each that a has. */
static int64_t get_depth(const grout_wgmma_planning *planning) {
    return planning->wgmma->is_sparse ? 2 : 1;
}

static bool check_ranks(grout_wgmma_planning *planning, const grout_type types[3]) {
    const char *const wanted[] = {"[M, N]", get_depth(planning) == 1 ? "[M, K]" : "[M, K / 2]",
                                  "[K, N]"};
    bool ok = true;
    for (uint32_t k = 0; k < 3; k++) {
        const grout_operand *operand = grout_module_get_operand(planning->module, planning->op, k);
        if (types[k].rank == 2) {
            continue;
        }
        ok = grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_SHAPE, operand,
                               "'%s' takes %s here, and %s is %s", get_mnemonic(planning),
                               wanted[k], grout_wgmma__get_name(planning, operand, "this").chars,
                               grout_type__get_text(&types[k]).chars);
        if (types[k].rank > 2 && types[k].kind == GROUT_TYPE_REF) {
            grout_wgmma__help(planning, "index the dimensions in front: which slot is meant?");
        }
    }
    return ok;
}

static void help_agreement(grout_wgmma_planning *planning, const grout_type types[3]) {
    const grout_type *a = &types[A], *b = &types[B], *acc = &types[ACC];
    const int64_t depth = get_depth(planning);
    if (b->dims[1] == depth * a->dims[1] && b->dims[0] == acc->dims[1] &&
        a->dims[0] == acc->dims[0]) {
        grout_wgmma__help(planning, "b is [K, N]: write .transpose(1, 0) after it");
    } else if (depth * a->dims[0] == b->dims[0] && a->dims[1] == acc->dims[0]) {
        grout_wgmma__help(planning, depth == 1
                                        ? "a is [M, K]: write .transpose(1, 0) after it"
                                        : "a is [M, K / 2]: write .transpose(1, 0) after it");
    } else if (depth != 1) {
        grout_wgmma__help(planning, "a is [M, K / 2]: of 4 neighbours along K it keeps two, of 2 "
                                    "of f32 one; b is [K, N], the accumulator [M, N]");
    } else {
        grout_wgmma__help(planning, "a is [M, K], b is [K, N], the accumulator [M, N]");
    }
}

/* The three sizes, each of which two operands have. */
static bool check_agreement(grout_wgmma_planning *planning, const grout_type types[3]) {
    static const struct {
        char letter;
        uint8_t left, left_dim, right, right_dim;
    } pairs[] = {{'K', A, 1, B, 0}, {'M', A, 0, ACC, 0}, {'N', B, 1, ACC, 1}};
    static const char *const names[] = {"the accumulator", "a", "b"};
    for (uint32_t k = 0; k < 3; k++) {
        const grout_type *left = &types[pairs[k].left], *right = &types[pairs[k].right];
        const bool is_half = planning->wgmma->is_sparse && pairs[k].letter == 'K';
        int64_t size = left->dims[pairs[k].left_dim] * (is_half ? get_depth(planning) : 1);
        int64_t other = right->dims[pairs[k].right_dim];
        if (size == other) {
            continue;
        }
        const grout_operand *operand =
            grout_module_get_operand(planning->module, planning->op, pairs[k].left);
        grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_SHAPE, operand,
                          "%c is %" PRId64 " in %s, %s%s, and %" PRId64 " in %s, %s",
                          pairs[k].letter, size, names[pairs[k].left],
                          grout_type__get_shape_text(left).chars,
                          is_half ? ", which keeps half of it" : "", other, names[pairs[k].right],
                          grout_type__get_shape_text(right).chars);
        help_agreement(planning, types);
        return false;
    }
    return true;
}

/* Products of integers have fewer widths. */
static bool check_integer_columns(grout_wgmma_planning *planning, const grout_operand *acc) {
    const uint32_t n = planning->wgmma->n;
    if (planning->wgmma->accumulator_dtype != GROUT_DTYPE_I32 || n <= INTEGER_STEP_FROM ||
        n > GROUT_WGMMA_COLUMNS_MAX || n % (2 * GROUT_WGMMA_COLUMN_STEP) == 0) {
        return true;
    }
    grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_SHAPE, acc,
                      "N is %" PRIu32
                      ": a wgmma of integers takes 8, 16, 24, 32, and from there on "
                      "multiples of %d columns",
                      n, 2 * GROUT_WGMMA_COLUMN_STEP);
    grout_wgmma__help(planning,
                      "pad the tile, or take two slices of it: %%acc[:, ds(0, %" PRIu32
                      ")] and the 8 columns after them",
                      n - GROUT_WGMMA_COLUMN_STEP);
    return false;
}

static bool check_sizes(grout_wgmma_planning *planning) {
    const grout_wgmma *wgmma = planning->wgmma;
    const grout_operand *acc = grout_module_get_operand(planning->module, planning->op, ACC);
    const grout_operand *a = grout_module_get_operand(planning->module, planning->op, A);
    bool ok = true;
    if (wgmma->m % GROUT_WGMMA_ROWS != 0) {
        ok = grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_SHAPE, a,
                               "M is %" PRIu32 ": a wgmma takes multiples of %d rows", wgmma->m,
                               GROUT_WGMMA_ROWS);
        grout_wgmma__help(planning, "pad the tile to %" PRIu32 " rows: TMA fills them with zeros",
                          (wgmma->m + GROUT_WGMMA_ROWS - 1) / GROUT_WGMMA_ROWS * GROUT_WGMMA_ROWS);
    }
    if (wgmma->n % GROUT_WGMMA_COLUMN_STEP != 0 || wgmma->n > GROUT_WGMMA_COLUMNS_MAX) {
        ok =
            grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_SHAPE, acc,
                              "N is %" PRIu32 ": a wgmma takes multiples of %d columns, %d at most",
                              wgmma->n, GROUT_WGMMA_COLUMN_STEP, GROUT_WGMMA_COLUMNS_MAX);
        if (wgmma->n > GROUT_WGMMA_COLUMNS_MAX) {
            grout_wgmma__help(planning, "take slices of the columns: %%acc[:, ds(0, %d)]",
                              GROUT_WGMMA_COLUMNS_MAX);
        }
    }
    ok = check_integer_columns(planning, acc) && ok;
    const uint32_t step = wgmma->is_sparse ? grout_wgmma__get_sparse_step(wgmma) : wgmma->k_step;
    const uint32_t k = wgmma->k * (uint32_t)get_depth(planning);
    if (k % step != 0) {
        const char *dtype = grout_dtype_get_info((grout_dtype)wgmma->a_dtype)->text;
        const grout_opcode product = wgmma->is_sparse ? GROUT_OP_WGMMA_SP : GROUT_OP_WGMMA;
        ok = grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_SHAPE, a,
                               "K is %" PRIu32 ": a %s of %s takes multiples of %" PRIu32, k,
                               grout_op_get_info(product)->text, dtype, step);
        grout_wgmma__help(planning, wgmma->is_sparse
                                        ? "pad a and b with zeros, the metadata with any code"
                                        : "pad K with zeros: TMA does where the box leaves the "
                                          "array");
    }
    return ok;
}

/* Whether the accumulator may not count. */
static bool has_use(const grout_module *module, const grout_op *op) {
    const grout_operand *use = grout_wgmma_get_use(module, op);
    return use != NULL && (use->kind != GROUT_OPERAND_EXPR ||
                           grout_module_get_expr_value(module, use->id).integer == 0);
}

/* Sizes are those of objects that exist, so they fit. */
static void fill_sizes(grout_wgmma_planning *planning, const grout_type types[3]) {
    grout_wgmma *wgmma = planning->wgmma;
    for (uint32_t k = 0; k < 3; k++) {
        GROUT_ASSERT(types[k].rank == 2 && types[k].dims[0] >= 1 && types[k].dims[1] >= 1);
    }
    wgmma->m = (uint32_t)types[A].dims[0];
    wgmma->k = (uint32_t)types[A].dims[1];
    wgmma->n = (uint32_t)types[B].dims[1];
    wgmma->k_step =
        (uint32_t)GROUT_WGMMA_STEP_BYTES / grout_dtype_get_info((grout_dtype)types[A].dtype)->bytes;
    wgmma->block_count = wgmma->m / GROUT_WGMMA_ROWS;
    wgmma->step_count = wgmma->k / wgmma->k_step;
    wgmma->has_use = has_use(planning->module, planning->op);
    wgmma->a_dtype = types[A].dtype;
    wgmma->b_dtype = types[B].dtype;
    wgmma->accumulator_dtype = types[ACC].dtype;
}

static bool plan_operands(grout_wgmma_planning *planning, const grout_type types[3]) {
    grout_wgmma *wgmma = planning->wgmma;
    wgmma->a.is_register = types[A].kind == GROUT_TYPE_ARRAY;
    bool has_a = wgmma->a.is_register || planning->alone == B ||
                 grout_wgmma__plan_operand(planning, true, &wgmma->a);
    bool has_b = planning->alone == A || grout_wgmma__plan_operand(planning, false, &wgmma->b);
    return has_a && has_b;
}

static bool plan_wgmma(grout_wgmma_planning *planning) {
    const grout_module *bound = planning->module;
    memset(planning->wgmma, 0, sizeof *planning->wgmma);
    planning->wgmma->is_sparse = grout_wgmma_get_metadata(bound, planning->op) != NULL;
    grout_type types[3];
    bool fits = true;
    for (uint32_t k = 0; k < 3; k++) {
        const grout_operand *operand = grout_module_get_operand(bound, planning->op, k);
        types[k] = grout_module_get_operand_type(bound, operand);
        fits = check_space(planning, k, &types[k]) && fits;
    }
    if (!fits ||
        !grout_wgmma__find_columns(bound, grout_module_get_operand(bound, planning->op, ACC),
                                   planning->diags, &planning->wgmma->column)) {
        return false;
    }
    bool has_types = check_types(planning, types);
    if (!check_ranks(planning, types) || !check_agreement(planning, types) || !has_types) {
        return false;
    }
    fill_sizes(planning, types);
    const bool has_sizes = check_sizes(planning);
    return grout_wgmma__check_metadata(planning) && has_sizes && plan_operands(planning, types);
}

bool grout_wgmma_plan(const grout_module *bound, grout_op_id wgmma, grout_wgmma *wgmma_out,
                      grout_diags *diags) {
    grout_wgmma_planning planning = {.module = bound,
                                     .diags = diags,
                                     .op = grout_module_get_op(bound, wgmma),
                                     .wgmma = wgmma_out};
    return plan_wgmma(&planning);
}

bool grout_wgmma__fits(const grout_module *bound, grout_op_id wgmma, uint32_t operand,
                       grout_diags *diags) {
    grout_wgmma plan;
    grout_view acc;
    grout_wgmma_planning planning = {.module = bound,
                                     .diags = diags,
                                     .op = grout_module_get_op(bound, wgmma),
                                     .wgmma = &plan,
                                     .alone = operand};
    const grout_operand *to = grout_module_get_operand(bound, planning.op, ACC);
    const bool has_accumulator = grout_module_get_view(bound, to, &acc) &&
                                 grout_wgmma__check_accumulator(bound, acc.object, NULL);
    return !has_accumulator || plan_wgmma(&planning); /* a bad one is reported as what it is */
}
