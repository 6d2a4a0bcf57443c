/*
 * tcgen05_plan.c - a tcgen05_mma as instructions of Blackwell's tensor core: element types, shapes,
 * where its operands lie.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instruction multiplies 64 or 128 rows of a by up to 256 columns of b over 32 bytes of K
 * (PTX ISA 9.1, 'tcgen05.mma'). The descriptors of operands in SMEM are those of a wgmma, whose
 * planning finds them.
 */
#include "invariant.h"
#include "tcgen05.h"
#include "tmem.h"
#include "type.h"
#include "view_digits.h"

#include <inttypes.h>
#include <string.h>

enum {
    ACC = GROUT_TCGEN05_ACC,
    A = GROUT_TCGEN05_A,
    B = GROUT_TCGEN05_B,
    OPERANDS,
    ROWS = 128,
    COLUMNS_MAX = 512,
    PAIR_COLUMNS_MAX = 256, /* of both CTAs: another instruction would take the halves in turns */
    COLUMN_STEP = 8,
    INTEGER_STEP_FROM = 32 /* columns of integers: from here on twice the step */
};

typedef grout_tcgen05_planning planning;

static const grout_operand *get_operand(const planning *p, uint32_t index) {
    return grout_module_get_operand(p->wgmma.module, p->wgmma.op, index);
}

static const char *get_dtype_text(const planning *p, uint32_t index) {
    return grout_dtype_get_info((grout_dtype)p->types[index].dtype)->text;
}

static const char *get_mnemonic(const planning *p) {
    return grout_op_get_info((grout_opcode)p->wgmma.op->opcode)->text;
}

/* Whether an operand is an object declared 'packed'. */
static bool is_packed(const planning *p, uint32_t index) {
    grout_view view;
    return grout_module_get_view(p->wgmma.module, get_operand(p, index), &view) &&
           grout_module_get_object(p->wgmma.module, view.object)->is_packed;
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool fail_space(planning *p, uint32_t index, const char *what, const char *places) {
    const grout_operand *operand = get_operand(p, index);
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_BAD_SPACE, operand,
                      "%s of '%s' lies in %s, and %s is %s", what, get_mnemonic(p), places,
                      grout_wgmma__get_name(&p->wgmma, operand, "the reference").chars,
                      grout_type__get_text(&p->types[index]).chars);
    if (index == ACC) {
        grout_wgmma__help(&p->wgmma, "declare an accumulator: scratch %%acc : tmem f32[128, ..]");
    } else if (index == A) {
        grout_wgmma__help(&p->wgmma, "copy_gmem_to_smem brings it to smem, or async_store_tmem and "
                                     "commit_tmem to a 'packed' array in tmem");
    } else {
        grout_wgmma__help(&p->wgmma, "the tensor core reads it in smem alone: copy_gmem_to_smem "
                                     "brings it there");
    }
    return false;
}

static bool check_spaces(planning *p) {
    bool fits = true;
    if (p->types[ACC].space != GROUT_SPACE_TMEM) {
        fits = fail_space(p, ACC, "the accumulator", "tmem");
    }
    if (p->types[A].space != GROUT_SPACE_TMEM && p->types[A].space != GROUT_SPACE_SMEM) {
        fits = fail_space(p, A, "a", "smem or tmem");
    }
    if (p->types[B].space != GROUT_SPACE_SMEM) {
        fits = fail_space(p, B, "b", "smem");
    }
    return fits;
}

/* A cell of 32 bits has one element of an accumulator, and all of an a that it has room for. */
static bool check_packing(planning *p) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)p->types[A].dtype);
    if (is_packed(p, ACC)) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, get_operand(p, ACC),
                          "the accumulator is packed, and the tensor core keeps one sum in a "
                          "column of 32 bits");
        grout_wgmma__help(&p->wgmma, "declare it without 'packed'");
        return false;
    }
    if (p->out->has_tmem_a && info->bits < 32 && !is_packed(p, A)) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_OPERAND, get_operand(p, A),
                          "the tensor core reads an a in tmem with %d elements in a column of 32 "
                          "bits",
                          32 / info->bits);
        grout_wgmma__help(&p->wgmma, "declare it 'packed'");
        return false;
    }
    return true;
}

/* ---- element types --------------------------------------------------------------------------- */

static bool check_saturation(planning *p) {
    p->out->product.is_saturating =
        grout_module_find_attr(p->wgmma.module, p->wgmma.op, GROUT_ATTR_SATURATE) != NULL;
    if (!p->out->product.is_saturating || p->types[ACC].dtype == GROUT_DTYPE_I32) {
        return true;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_TYPES, get_operand(p, ACC),
                      "saturate is of sums of integers, and the accumulator is %s",
                      grout_type__get_text(&p->types[ACC]).chars);
    grout_wgmma__help(&p->wgmma, "leave it out: a sum of floats that is too large is an infinity");
    return false;
}

static void help_pairs(planning *p) {
    const bool are_f4 =
        p->types[A].dtype == GROUT_DTYPE_F4E2M1 && p->types[B].dtype == GROUT_DTYPE_F4E2M1;
    if (p->is_scaled) {
        grout_wgmma__help(&p->wgmma, "the pairs with scales are floats of 8, 6 and 4 bits by "
                                     "either: f8e4m3, f8e5m2, f6e2m3, f6e3m2 and f4e2m1");
    } else if (are_f4) {
        grout_wgmma__help(&p->wgmma,
                          "f4e2m1, two in a byte, is multiplied with scales: tcgen05_mma_scaled, "
                          "of which those of 1 change nothing. 'padded' arrays go without");
    } else {
        grout_wgmma__help(&p->wgmma, "%s", GROUT_TCGEN05_PAIRS_TEXT);
    }
}

/* Elements of 4 and 6 bits have 16 bytes for 16 of them (PTX ISA 9.1, 'Packing formats of elements
 * in shared memory'), but where both operands are f4e2m1: then two lie in a byte on either side. */
static bool check_padding(planning *p) {
    const bool are_f4 =
        p->types[A].dtype == GROUT_DTYPE_F4E2M1 && p->types[B].dtype == GROUT_DTYPE_F4E2M1;
    const bool are_pairs = are_f4 && !p->types[A].is_expanded && !p->types[B].is_expanded;
    for (uint32_t k = A; k <= B; k++) {
        const grout_type *type = &p->types[k];
        const uint8_t bits = grout_dtype_get_info((grout_dtype)type->dtype)->bits;
        if (bits >= 8 || type->is_expanded || type->space != GROUT_SPACE_SMEM || are_pairs) {
            continue;
        }
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_TYPES, get_operand(p, k),
                          "the tensor core reads 16 elements of %s from 16 bytes, and %s is %s, "
                          "with %s in a byte",
                          get_dtype_text(p, k),
                          grout_wgmma__get_name(&p->wgmma, get_operand(p, k), "the operand").chars,
                          grout_type__get_text(type).chars, bits == 4 ? "two" : "one");
        grout_wgmma__help(&p->wgmma,
                          "declare it 'padded tile(8, 128) swizzle(128)', and what TMA "
                          "copies to it 'packed'%s",
                          are_f4 ? "; or neither of the two" : "");
        return false;
    }
    return true;
}

static bool check_types(planning *p) {
    const uint32_t sums = grout_tcgen05__get_accumulators(&p->types[A], &p->types[B], p->is_scaled);
    if ((sums >> p->types[ACC].dtype & 1) != 0) {
        return check_padding(p) && check_saturation(p) &&
               (!p->is_sparse || p->is_scaled || grout_tcgen05__check_sparse_types(p));
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_TYPES, get_operand(p, A),
                      "no %s multiplies %s by %s into %s", get_mnemonic(p), get_dtype_text(p, A),
                      get_dtype_text(p, B), get_dtype_text(p, ACC));
    if (sums == 0) {
        help_pairs(p);
    } else {
        grout_wgmma__help(&p->wgmma, "accumulate in %s and cast what is loaded from it",
                          (sums >> GROUT_DTYPE_F32 & 1) != 0 ? "f32" : "i32");
    }
    return false;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool check_ranks(planning *p) {
    static const char *const wanted[] = {"[M, N]", "[M, K]", "[K, N]"};
    bool fits = true;
    for (uint32_t k = 0; k < OPERANDS; k++) {
        const grout_operand *operand = get_operand(p, k);
        if (p->types[k].rank == 2) {
            continue;
        }
        fits = grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, operand,
                                 "'%s' takes %s here, and %s is %s", get_mnemonic(p), wanted[k],
                                 grout_wgmma__get_name(&p->wgmma, operand, "this").chars,
                                 grout_type__get_text(&p->types[k]).chars);
        if (p->types[k].rank > 2) {
            grout_wgmma__help(&p->wgmma, "index the dimensions in front: which slot is meant?");
        }
    }
    return fits;
}

/* The three sizes, each of which two operands have. */
static bool check_agreement(planning *p) {
    static const struct {
        char letter;
        uint8_t left, left_dim, right, right_dim;
    } pairs[] = {{'K', A, 1, B, 0}, {'M', A, 0, ACC, 0}, {'N', B, 1, ACC, 1}};
    static const char *const names[] = {"the accumulator", "a", "b"};
    for (uint32_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        const grout_type *left = &p->types[pairs[k].left], *right = &p->types[pairs[k].right];
        const uint32_t ctas = pairs[k].letter == 'N' ? p->out->ctas : 1;
        /* A sparse a keeps half of K. */
        const int64_t kept = p->is_sparse && pairs[k].letter == 'K' ? 2 : 1;
        const int64_t size = left->dims[pairs[k].left_dim] * kept * ctas;
        const int64_t other = right->dims[pairs[k].right_dim];
        if (size == other) {
            continue;
        }
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, pairs[k].left),
                          "%c is %" PRId64 " in %s, %s%s, and %" PRId64 " in %s, %s",
                          pairs[k].letter, size, names[pairs[k].left],
                          grout_type__get_shape_text(left).chars,
                          ctas > 1    ? " in each of two CTAs"
                          : kept == 2 ? ", of which it keeps half"
                                      : "",
                          other, names[pairs[k].right], grout_type__get_shape_text(right).chars);
        grout_wgmma__help(&p->wgmma, ctas > 1
                                         ? "each CTA has half the columns of b, and the "
                                           "accumulator of each has all of them"
                                         : "a is [M, K], b is [K, N], the accumulator [M, N]: "
                                           ".transpose(1, 0) turns one that lies the other way");
        return false;
    }
    return true;
}

static bool check_rows(planning *p) {
    const uint32_t m = p->out->product.m;
    const bool takes_half =
        !p->out->has_tmem_a && !p->is_sparse && (!p->is_scaled || p->out->ctas > 1);
    if (m == ROWS || (m == ROWS / 2 && takes_half)) {
        return true;
    }
    if (m == ROWS / 2 && !p->out->has_tmem_a) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, A),
                          "M is %" PRIu32 ": a %s takes %d rows", m, get_mnemonic(p), ROWS);
        grout_wgmma__help(&p->wgmma, "pad the tile to 128 rows: TMA fills rows with zeros");
        return false;
    }
    if (m == ROWS / 2) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, A),
                          "M is %" PRIu32 ", and an a in tmem has %d rows", m, ROWS);
        grout_wgmma__help(&p->wgmma, "pad it to 128 rows, or keep it in smem");
        return false;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, A),
                      "M is %" PRIu32 ": a %s takes %s%d rows", m, get_mnemonic(p),
                      takes_half ? "64 or " : "", ROWS);
    grout_wgmma__help(&p->wgmma, "take slices of 128 rows, each with an accumulator of its own, or "
                                 "pad the tile: TMA fills rows with zeros");
    return false;
}

/* The number that N is a multiple of, and why. */
static uint32_t get_column_step(const planning *p, const char **why_out) {
    const grout_wgmma *product = &p->out->product;
    const uint32_t part = product->n / p->out->part_count;
    *why_out = "";
    if (p->is_sparse) {
        *why_out = ", where half of a is kept,";
        return 2 * COLUMN_STEP;
    }
    if (p->out->has_tmem_a) {
        *why_out = " with an a in tmem";
        return 2 * COLUMN_STEP;
    }
    if (product->accumulator_dtype == GROUT_DTYPE_I32 && part > INTEGER_STEP_FROM) {
        *why_out = " of integers from 32 on";
        return 2 * COLUMN_STEP * p->out->part_count;
    }
    if (product->m == ROWS / 2) {
        *why_out = " with 64 rows, whose halves are instructions of their own,";
        return 2 * COLUMN_STEP;
    }
    if (grout_dtype_get_info((grout_dtype)product->b_dtype)->bits == 8 &&
        product->b.is_transposed) {
        *why_out = " of a b of 8 bits whose rows lie along N";
        return 2 * COLUMN_STEP;
    }
    return COLUMN_STEP;
}

/* N of both CTAs of a pair: up to what one instruction takes. */
static bool check_pair_columns(planning *p, uint32_t n) {
    const bool is_8_bit = grout_dtype_get_info((grout_dtype)p->out->product.b_dtype)->bits == 8;
    const bool is_integer = p->out->product.accumulator_dtype == GROUT_DTYPE_I32;
    const bool is_wide =
        p->out->has_tmem_a || (is_8_bit && p->out->product.b.is_transposed) || is_integer;
    /* JAX takes a sparse a with multiples of 16 columns of each CTA, of integers of 32. */
    const uint32_t step = (p->is_sparse && is_integer ? 8
                           : p->is_sparse || is_wide  ? 4
                                                      : 2) *
                          COLUMN_STEP;
    if (n <= PAIR_COLUMNS_MAX && n % step == 0) {
        return true;
    }
    if (n > PAIR_COLUMNS_MAX) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, ACC),
                          "N is %" PRIu32 " for both CTAs: a %s of a pair takes up to %d "
                          "columns",
                          n, get_mnemonic(p), PAIR_COLUMNS_MAX);
        grout_wgmma__help(&p->wgmma,
                          "multiply by slices of %d columns of each b, each with an "
                          "accumulator of its own",
                          PAIR_COLUMNS_MAX / GROUT_PAIR);
        return false;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, ACC),
                      "N is %" PRIu32 " for both CTAs: a %s of a pair%s takes multiples "
                      "of %" PRIu32 " columns",
                      n, get_mnemonic(p),
                      is_integer                 ? " of integers"
                      : p->is_sparse || !is_wide ? ""
                      : p->out->has_tmem_a       ? " with an a in tmem"
                                                 : " with a b of 8 bits whose rows lie along N",
                      step);
    grout_wgmma__help(&p->wgmma, "pad the tile of each CTA to %" PRIu32 " columns",
                      (n + step - 1) / step * step / GROUT_PAIR);
    return false;
}

/* With 64 rows in each CTA the halves of the columns lie in different lanes: the instruction takes
 * all columns of its accumulator (PTX ISA 9.1, 'Data path layout organization', layout B). */
static bool check_pair_slice(planning *p) {
    const grout_type *type = grout_object_get_type(p->wgmma.module, p->out->object);
    if (p->out->ctas == 1 || p->out->product.m == ROWS || p->out->object == 0 ||
        p->out->columns == (uint32_t)type->dims[type->rank - 1]) {
        return true;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, ACC),
                      "the accumulator is %" PRIu32 " columns of %s: with 64 rows in each CTA of a "
                      "pair it is all of them, whose halves lie in different lanes",
                      p->out->columns, grout_type__get_text(type).chars);
    grout_wgmma__help(&p->wgmma, "declare one array, or one slot, for each accumulator");
    return false;
}

static bool check_columns(planning *p) {
    const uint32_t n = p->out->product.n;
    const char *why;
    if (p->out->ctas > 1) {
        return check_pair_columns(p, n * p->out->ctas);
    }
    const uint32_t step = get_column_step(p, &why);
    if ((p->is_scaled || p->is_sparse) && n > COLUMNS_MAX / 2) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, ACC),
                          "N is %" PRIu32 ": a %s takes up to %d columns", n, get_mnemonic(p),
                          COLUMNS_MAX / 2);
        grout_wgmma__help(&p->wgmma, "take slices of the columns: %%acc[:, ds(0, %d)]",
                          COLUMNS_MAX / 2);
        return false;
    }
    if (n > COLUMNS_MAX || (n > COLUMNS_MAX / 2 && n != COLUMNS_MAX)) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, ACC),
                          "N is %" PRIu32 ": a tcgen05_mma takes up to %d columns, or %d", n,
                          COLUMNS_MAX / 2, COLUMNS_MAX);
        grout_wgmma__help(&p->wgmma, "take slices of the columns: %%acc[:, ds(0, %d)]",
                          COLUMNS_MAX / 2);
        return false;
    }
    if (n % step != 0) {
        grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, ACC),
                          "N is %" PRIu32 ": a %s%s takes multiples of %" PRIu32 " columns", n,
                          get_mnemonic(p), why, step);
        grout_wgmma__help(&p->wgmma, "pad the tile to %" PRIu32 " columns",
                          (n + step - 1) / step * step);
        return false;
    }
    return true;
}

static bool check_depth(planning *p) {
    const grout_wgmma *product = &p->out->product;
    if (product->k % product->k_step == 0) {
        return true;
    }
    grout_wgmma__fail(&p->wgmma, GROUT_DIAG_TCGEN05_SHAPE, get_operand(p, A),
                      "K is %" PRIu32 ": a %s of %s takes multiples of %" PRIu32, product->k,
                      get_mnemonic(p), get_dtype_text(p, A), product->k_step);
    grout_wgmma__help(&p->wgmma, "pad K with zeros: TMA does where the box leaves the array");
    return false;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool has_use(const planning *p) {
    const grout_operand *use = grout_wgmma_get_use(p->wgmma.module, p->wgmma.op);
    return use != NULL && (use->kind != GROUT_OPERAND_EXPR ||
                           grout_module_get_expr_value(p->wgmma.module, use->id).integer == 0);
}

/* Sizes are those of objects that exist, so they fit. */
static void fill_sizes(planning *p) {
    grout_wgmma *product = &p->out->product;
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)p->types[A].dtype);
    product->m = (uint32_t)p->types[A].dims[0];
    product->k = (uint32_t)p->types[A].dims[1];
    product->n = (uint32_t)p->types[B].dims[1];
    product->k_step =
        (uint32_t)GROUT_WGMMA_STEP_BYTES / info->bytes * grout_type_get_packed(&p->types[A]);
    product->a.is_padded = p->types[A].is_expanded;
    product->b.is_padded = p->types[B].is_expanded;
    product->is_sparse = p->is_sparse;
    product->block_count = 1;
    product->step_count = product->k / product->k_step;
    product->has_use = has_use(p);
    product->a_dtype = p->types[A].dtype;
    product->b_dtype = p->types[B].dtype;
    product->accumulator_dtype = p->types[ACC].dtype;
    p->out->part_count = p->out->ctas == 1 && product->n > COLUMNS_MAX / 2 ? 2 : 1;
}

static bool plan_operands(planning *p) {
    grout_wgmma *product = &p->out->product;
    const bool has_a = p->out->has_tmem_a || p->wgmma.alone == B ||
                       grout_wgmma__plan_operand(&p->wgmma, true, &product->a);
    const bool has_b =
        p->wgmma.alone == A || grout_wgmma__plan_operand(&p->wgmma, false, &product->b);
    return has_a && has_b;
}

/* The columns of the accumulator. */
static void find_slice(const planning *p) {
    grout_view view;
    if (grout_module_get_view(p->wgmma.module, get_operand(p, ACC), &view)) {
        p->out->object = view.object;
        p->out->columns = (uint32_t)view.extent[view.rank - 1u];
    }
}

static bool plan_tcgen05(planning *p) {
    for (uint32_t k = 0; k < OPERANDS; k++) {
        p->types[k] = grout_module_get_operand_type(p->wgmma.module, get_operand(p, k));
    }
    p->out->has_tmem_a = p->types[A].space == GROUT_SPACE_TMEM;
    p->out->ctas =
        grout_module_find_attr(p->wgmma.module, p->wgmma.op, GROUT_ATTR_COLLECTIVE_AXIS) != NULL
            ? GROUT_PAIR
            : 1;
    grout_tcgen05__find_tables(p);
    if (!check_spaces(p)) {
        return false;
    }
    const bool has_types = check_types(p);
    if (!check_ranks(p) || !check_agreement(p) || !has_types || !check_packing(p) ||
        !grout_tmem__check_slice(p->wgmma.module, get_operand(p, ACC), p->wgmma.diags) ||
        (p->out->has_tmem_a &&
         !grout_tmem__check_slice(p->wgmma.module, get_operand(p, A), p->wgmma.diags))) {
        return false;
    }
    fill_sizes(p);
    find_slice(p);
    const bool has_sizes = check_rows(p) && check_depth(p) && check_columns(p) &&
                           check_pair_slice(p) &&
                           (p->wgmma.alone != 0 || grout_tcgen05__plan_tables(p));
    return has_sizes && plan_operands(p) && check_columns(p); /* once more: which way b lies */
}

bool grout_tcgen05_plan(const grout_module *bound, grout_op_id mma, grout_tcgen05 *tcgen05_out,
                        grout_diags *diags) {
    memset(tcgen05_out, 0, sizeof *tcgen05_out);
    planning p = {.wgmma = {.module = bound,
                            .diags = diags,
                            .op = grout_module_get_op(bound, mma),
                            .wgmma = &tcgen05_out->product,
                            .is_tcgen05 = true},
                  .out = tcgen05_out};
    return plan_tcgen05(&p);
}

bool grout_tcgen05__fits(const grout_module *bound, grout_op_id mma, uint32_t operand,
                         grout_diags *diags) {
    grout_tcgen05 plan = {0};
    planning p = {.wgmma = {.module = bound,
                            .diags = diags,
                            .op = grout_module_get_op(bound, mma),
                            .wgmma = &plan.product,
                            .alone = operand,
                            .is_tcgen05 = true},
                  .out = &plan};
    return plan_tcgen05(&p);
}
