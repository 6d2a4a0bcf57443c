/* multiply.c - products of Blackwell's tensor core, and the arrivals of what it has finished.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One lane issues them: an instruction for each K step, and for each part of the columns, of which
 * one takes up to 256; with 64 rows each half of the columns is a part, in lanes of its own. What
 * changes from step to step is the start of the operands, a constant added to what is worked out
 * once.
 */
#include "tensor.h"

#include "invariant.h"
#include "lanes.h"
#include "places.h"
#include "tmem.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>

enum { ACC, A, B, TABLE };
enum { STEP_COLUMNS = 8 };

/* What instructions are made of. */
typedef struct product {
    const grout_op *op;
    grout_tcgen05 plan;
    grout_view acc, a, b;
    grout_view metadata, scales[2]; /* those of a, and of b */
    uint32_t part_count;            /* parts of the columns */
    uint32_t part_columns;          /* of b, of this CTA */
    uint32_t a_start, b_start;
    grout_tensor_matrix a_matrix, b_matrix;
} product;

static const grout_dtype_info *get_info(uint8_t dtype) {
    return grout_dtype_get_info((grout_dtype)dtype);
}

static bool is_scaled(const product *p) {
    return p->plan.scale_block != 0;
}

static bool is_integer(const product *p) {
    return p->plan.product.accumulator_dtype == GROUT_DTYPE_I32;
}

/* How many elements of K there are for one that a keeps. */
static uint32_t get_kept(const product *p) {
    return p->plan.product.is_sparse ? 2 : 1;
}

/* ---- instruction descriptors ----------------------------------------------------------------- */

/* Codes of element types: each kind has its own numbers, which do not clash. */
static uint32_t get_code(uint8_t dtype, bool is_f4_alone) {
    static const uint8_t codes[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_F16] = 0,    [GROUT_DTYPE_BF16] = 1,   [GROUT_DTYPE_F32] = 2,
        [GROUT_DTYPE_F8E4M3] = 0, [GROUT_DTYPE_F8E5M2] = 1, [GROUT_DTYPE_F6E2M3] = 3,
        [GROUT_DTYPE_F6E3M2] = 4, [GROUT_DTYPE_F4E2M1] = 5, [GROUT_DTYPE_U8] = 0,
        [GROUT_DTYPE_I8] = 1};
    return is_f4_alone ? 1 : codes[dtype];
}

static uint32_t get_sum_code(uint8_t dtype) {
    return dtype == GROUT_DTYPE_F16 ? 0 : dtype == GROUT_DTYPE_F32 ? 1 : 2;
}

static uint32_t get_rows(const product *p) {
    return p->plan.product.m * p->plan.ctas;
}

static uint32_t get_columns(const product *p) {
    return p->part_columns * p->plan.ctas;
}

static uint32_t describe_plain(const product *p) {
    const grout_wgmma *its = &p->plan.product;
    uint64_t word = 0;
    word |= BITS(PLAIN_SELECTOR, 0);
    word |= BITS(PLAIN_SPARSE, its->is_sparse);
    word |= BITS(PLAIN_SATURATE, its->is_saturating);
    word |= BITS(PLAIN_D_TYPE, get_sum_code(its->accumulator_dtype));
    word |= BITS(PLAIN_A_TYPE, get_code(its->a_dtype, false));
    word |= BITS(PLAIN_B_TYPE, get_code(its->b_dtype, false));
    word |= BITS(PLAIN_A_NEGATED, 0);
    word |= BITS(PLAIN_B_NEGATED, 0);
    word |= BITS(PLAIN_A_ALONG_M, !p->plan.has_tmem_a && its->a.is_transposed);
    word |= BITS(PLAIN_B_ALONG_N, its->b.is_transposed);
    word |= BITS(PLAIN_N, get_columns(p) / 8);
    word |= BITS(PLAIN_M, get_rows(p) / 16);
    return (uint32_t)(word | BITS(PLAIN_REUSE, 0));
}

/* f4e2m1 two in a byte has kinds of its own. */
static bool is_f4(const product *p) {
    return grout_wgmma_has_pairs(&p->plan.product);
}

static uint32_t describe_scaled(const product *p) {
    const grout_wgmma *its = &p->plan.product;
    uint64_t word = 0;
    word |= BITS(SCALED_SPARSE, its->is_sparse);
    word |= BITS(SCALED_B_SCALE, 0);
    word |= BITS(SCALED_A_TYPE, get_code(its->a_dtype, is_f4(p)));
    word |= BITS(SCALED_B_TYPE, get_code(its->b_dtype, is_f4(p)));
    word |= BITS(SCALED_A_NEGATED, 0);
    word |= BITS(SCALED_B_NEGATED, 0);
    word |= BITS(SCALED_A_ALONG_M, !p->plan.has_tmem_a && its->a.is_transposed);
    word |= BITS(SCALED_B_ALONG_N, its->b.is_transposed);
    word |= BITS(SCALED_N, get_columns(p) / 8);
    word |= BITS(SCALED_SCALE_TYPE, p->plan.scale_dtype == GROUT_DTYPE_F8E8M0);
    word |= BITS(SCALED_M, get_rows(p) / 128);
    word |= BITS(SCALED_A_SCALE, 0);
    return (uint32_t)(word | BITS(SCALED_LONG_K, 0));
}

/* ---- one instruction ------------------------------------------------------------------------- */

/* "grout_tensor_f16_sp_ta" */
static grout_gpu_name get_function(const product *p) {
    const grout_wgmma *its = &p->plan.product;
    const uint8_t bits = get_info(its->a_dtype)->bits;
    const char *kind = is_scaled(p)    ? (!is_f4(p)                                 ? "mx_f8"
                                          : p->plan.scale_block == 32 * get_kept(p) ? "mx_f4"
                                                                                    : "nv_f4")
                       : is_integer(p) ? "i8"
                       : bits == 32    ? "tf32"
                       : bits == 16    ? "f16"
                                       : "f8";
    grout_gpu_name name;
    (void)snprintf(name.text, sizeof name.text, "grout_tensor_%s%s%s", kind,
                   its->is_sparse ? "_sp" : "", p->plan.has_tmem_a ? "_ta" : "");
    return name;
}

static void add_a(grout_emitter *e, const product *p) {
    if (p->plan.has_tmem_a) {
        grout_tensor__address(e, &p->a, 0);
        FIELD_END(e, TMEM_A);
        if (p->plan.product.step_count > 1) {
            grout_emit__add(e, " + part * %d", (int)FIELD(TMEM_A_STEP, STEP_COLUMNS));
        }
    } else {
        grout_tensor__matrix(e, &p->plan.product.a, p->a_start, p->a_matrix.high,
                             p->plan.product.step_count);
    }
}

/* Steps along K whose scales lie in the same columns: of 4 bytes each takes 1, 2 or 4. */
static uint32_t get_steps_of_column(const product *p) {
    return 4 * p->plan.scale_block / (get_kept(p) * p->plan.product.k_step);
}

/* ", a_scale + part / 4 * 4, b_scale + part / 4 * 8" */
static void add_scales(grout_emitter *e, const product *p) {
    const uint32_t steps = get_steps_of_column(p);
    for (uint32_t k = 0; k < 2; k++) {
        const grout_view *view = &p->scales[k];
        const int64_t blocks = grout_tmem__count_scale_blocks(e->module, view->object);
        grout_emit__add(e, ", ");
        grout_tensor__address(e, view, 0);
        FIELD_END(e, TMEM_A_SCALES + k);
        if (p->plan.product.step_count > steps) {
            grout_emit__add(e, " + part");
            if (steps > 1) {
                grout_emit__add(e, " / %" PRIu32, steps);
            }
            grout_emit__add(e, " * %" PRId64, blocks * GROUT_TMEM_SCALES_STEP);
        }
    }
}

/* ", metadata + part / 2 * 2": an instruction on 16 bits takes one column of a pair. */
static void add_metadata(grout_emitter *e, const product *p) {
    const bool is_byte = get_info(p->plan.product.a_dtype)->bits <= 8;
    grout_emit__add(e, ", ");
    grout_tensor__address(e, &p->metadata, 0);
    FIELD_END(e, TMEM_METADATA);
    if (p->plan.product.step_count > 1) {
        grout_emit__add(e, is_byte ? " + part * 2" : " + part / 2 * 2");
    }
}

/* ", 0x08200490u", with what changes from step to step. */
static void add_descriptor(grout_emitter *e, const product *p) {
    const grout_wgmma *its = &p->plan.product;
    const bool is_byte = get_info(its->a_dtype)->bits == 8;
    grout_emit__add(e, ", 0x%08" PRIx32 "u", is_scaled(p) ? describe_scaled(p) : describe_plain(p));
    if (is_scaled(p) && get_steps_of_column(p) > 1 && its->step_count > 1) {
        const uint32_t steps = get_steps_of_column(p);
        /* both fields of scales */
        grout_emit__add(e, " | part %% %" PRIu32 " * 0x%08" PRIx32 "u", steps,
                        4 / steps * (UINT32_C(1) << 29 | UINT32_C(1) << 4));
    } else if (its->is_sparse && !is_scaled(p) && !is_byte && its->step_count > 1) {
        grout_emit__add(e, " | part %% 2");
    }
}

/* Whether the accumulator counts: for the first step of K what the operand says. */
static void add_use(grout_emitter *e, const product *p) {
    grout_emit__add(e, ", ");
    FIELD_START(e, TMEM_USE);
    if (!p->plan.product.has_use) {
        grout_emit__add(e, "1");
        FIELD_END(e, TMEM_USE);
        return;
    }
    grout_emit__add(e, p->plan.product.step_count > 1 ? "part > 0 || " : "");
    grout_emit__operand(e, grout_wgmma_get_use(e->module, p->op), NULL);
    FIELD_END(e, TMEM_USE);
}

static void write_part(grout_emitter *e, const product *p, uint32_t index) {
    const uint32_t steps = p->plan.product.step_count;
    grout_tensor__open_parts(e, steps);
    grout_emit__begin(e);
    grout_emit__add(e, "%s<%" PRIu32 ">(", get_function(p).text, grout_tensor__get_group(e));
    grout_tensor__address(e, &p->acc, (int64_t)index * get_columns(p));
    FIELD_END(e, TMEM_D);
    grout_emit__add(e, ", ");
    add_a(e, p);
    grout_emit__add(e, ", ");
    grout_tensor__matrix(e, &p->plan.product.b, p->b_start, p->b_matrix.high, steps);
    if (p->plan.product.is_sparse) {
        add_metadata(e, p);
    }
    if (is_scaled(p)) {
        add_scales(e, p);
    }
    add_descriptor(e, p);
    add_use(e, p);
    grout_emit__end(e, ");");
    grout_tensor__close_parts(e, steps);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Where b runs along N, a part is whole rows of the swizzle, or lies inside one. */
static bool check_parts(grout_emitter *e, const product *p) {
    const grout_wgmma *its = &p->plan.product;
    const uint32_t bytes = its->b.swizzle == 0 ? 16 : its->b.swizzle;
    const uint32_t row = bytes / get_info(its->b_dtype)->bytes; /* never of 4 or 6 bits */
    if (p->part_count == 1 || !its->b.is_transposed || p->part_columns % row == 0 ||
        row % p->part_columns == 0) {
        return true;
    }
    grout_emit__unsupported(e, p->op,
                            "half of the columns, %" PRIu32 ", is an instruction, and a row of b "
                            "of %" PRIu32 " elements is part of both",
                            p->part_columns, row);
    grout_diags_help(e->diags, "keep b as [N, K] in SMEM, or take a narrower swizzle");
    return false;
}

static bool find_view(grout_emitter *e, const product *p, uint32_t operand, grout_view *view_out) {
    return grout_module_get_view(e->module, grout_module_get_operand(e->module, p->op, operand),
                                 view_out);
}

/* The metadata come before the scales. */
static bool find_views(grout_emitter *e, product *p) {
    const uint32_t first = p->plan.product.is_sparse ? TABLE + 1 : TABLE;
    bool has =
        find_view(e, p, ACC, &p->acc) && find_view(e, p, A, &p->a) && find_view(e, p, B, &p->b);
    if (p->plan.product.is_sparse) {
        has = has && find_view(e, p, TABLE, &p->metadata);
    }
    for (uint32_t k = 0; is_scaled(p) && k < 2; k++) {
        has = has && find_view(e, p, first + k, &p->scales[k]);
    }
    return has;
}

static bool describe(grout_emitter *e, grout_op_id id, product *p) {
    if (!grout_tcgen05_plan(e->module, id, &p->plan, e->diags) || !find_views(e, p)) {
        e->failed = true;
        return false;
    }
    const grout_type *type = grout_object_get_type(e->module, p->acc.object);
    const bool is_whole = p->acc.extent[p->acc.rank - 1] == type->dims[type->rank - 1];
    const bool has_halves =
        p->plan.ctas == 1 && is_whole && grout_tensor__has_halves(e->module, p->acc.object);
    p->part_count = has_halves ? 2 : p->plan.part_count;
    p->part_columns = p->plan.product.n / p->part_count;
    p->a_matrix = grout_tensor__describe_matrix(&p->plan.product.a);
    p->b_matrix = grout_tensor__describe_matrix(&p->plan.product.b);
    return check_parts(e, p);
}

static void multiply(grout_emitter *e, grout_op_id id, const grout_op *op) {
    product p = {.op = op};
    if (!describe(e, id, &p)) {
        return;
    }
    grout_emit__before_issue(e, "one lane multiplies for all");
    grout_emit__open_issuer(e);
    grout_emit__line(e, "{");
    e->indent++;
    if (!p.plan.has_tmem_a) {
        p.a_start = grout_tensor__write_start(e, &p.a, p.a_matrix.low);
    }
    for (uint32_t k = 0; k < p.part_count; k++) {
        p.b_start = grout_tensor__write_start(e, &p.b, p.b_matrix.low);
        write_part(e, &p, k);
        p.b.start_const[p.b.view_dim[1]] += p.part_columns;
    }
    grout_emit__close(e, "");
    grout_emit__close_issuer(e);
}

void grout_emit__tcgen05_mma(grout_emitter *e, grout_op_id id, const grout_op *op) {
    multiply(e, id, op);
}

void grout_emit__tcgen05_mma_scaled(grout_emitter *e, grout_op_id id, const grout_op *op) {
    multiply(e, id, op);
}

void grout_emit__tcgen05_mma_sp(grout_emitter *e, grout_op_id id, const grout_op *op) {
    multiply(e, id, op);
}

void grout_emit__tcgen05_mma_sp_scaled(grout_emitter *e, grout_op_id id, const grout_op *op) {
    multiply(e, id, op);
}

/* ---- what is finished ------------------------------------------------------------------------ */

void grout_emit__tcgen05_commit_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const uint32_t axes = grout_op_get_axes(e->module, op, GROUT_ATTR_COLLECTIVE_AXIS) |
                          grout_op_get_axes(e->module, op, GROUT_ATTR_MULTICAST);
    const bool is_multicast = grout_kernel_get_cluster_mask(e->module, e->kernel_id, axes, 0) != 1u;
    grout_view barrier;
    (void)id;
    const grout_gpu_barrier *entry = grout_emit__find_barrier(e, op, &barrier);
    if (entry == NULL) {
        return;
    }
    if (grout_gpu__plan_get_arrival_size(entry) != 1) {
        grout_emit__unsupported(e, op,
                                "cp.async arrives on this barrier once for each lane, and "
                                "the tensor core once for all");
        grout_diags_help(e->diags, "let them arrive on barriers of their own");
        return;
    }
    grout_emit__before_issue(e, "one lane commits for all");
    grout_emit__open_issuer(e);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_tensor_commit%s<%" PRIu32 ">(", is_multicast ? "_multicast" : "",
                    grout_tensor__get_group(e));
    grout_emit__barrier_address(e, &barrier);
    if (is_multicast) {
        grout_emit__add(e, ", ");
        grout_emit__group_mask(e, axes);
    }
    grout_emit__end(e, ");");
    grout_emit__close_issuer(e);
}
