/*
 * plan_wgmma.c - accumulators, and wgmmas and mmas as packed tiles and the product of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "planner.h"
#include "sparse.h"

enum { LINE = 64, LATEST = 64 };

/* ---- accumulators ----------------------------------------------------------------------------
 */

void grout_planner__add_accumulator(grout_planner *planner, grout_object_id id) {
    grout_plan *plan = planner->plan;
    const grout_type *type = grout_object_get_type(planner->module, id);
    uint32_t index = grout_pool__take(&plan->accumulators, plan->heap);
    if (index == 0 || grout_type_get_count(type) > GROUT_ARRAY_MAX) {
        planner->failed = true;
        return;
    }
    grout_accumulator_plan *accumulator = grout_pool__at(&plan->accumulators, index);
    accumulator->object = id;
    accumulator->dtype = type->dtype;
    accumulator->rows = (uint32_t)type->dims[0];
    accumulator->cols = (uint32_t)type->dims[1];
    uint32_t count = accumulator->rows * accumulator->cols;
    accumulator->values = plan->accumulator_bytes;
    accumulator->masks = accumulator->values + count * (uint32_t)sizeof(float);
    accumulator->marks = accumulator->masks + count / 8;
    plan->accumulator_bytes = grout_planner__align_up(accumulator->marks + accumulator->cols, LINE);
    planner->is_too_large |= plan->accumulator_bytes > GROUT_PLAN_BYTES_MAX;
    planner->failed |= planner->is_too_large;
}

/* ---- operands --------------------------------------------------------------------------------
 */

/* The offsets of the chunks of a box at its start 'home', in the order of its bytes. */
static uint32_t add_offsets(grout_planner *planner, const grout_box_plan *box) {
    grout_pool *pool = &planner->plan->offsets;
    const grout_piece *pieces = grout_pool__at(&planner->plan->pieces, box->first_piece);
    uint32_t count = (uint32_t)(box->bytes / GROUT_PACK_CHUNK), first = grout_plan__get_next(pool);
    if (!grout_pool__reserve(pool, planner->plan->heap, 2 * (first + count))) {
        planner->failed = true;
        return 0;
    }
    pool->count = first + count;
    int32_t *offset = grout_pool__at(pool, first);
    for (uint32_t i = 0; offset != NULL && i < box->piece_count; i++) {
        for (int64_t at = 0; at < pieces[i].length; at += GROUT_PACK_CHUNK) {
            *offset++ = (int32_t)(pieces[i].offset + at);
        }
    }
    return first;
}

/* Whether two operands, from one start, are the same elements in the same order. */
static bool is_alike(const grout_plan *plan, const grout_operand_plan *a,
                     const grout_operand_plan *b) {
    if (a->is_register || b->is_register || a->pack.is_turned != b->pack.is_turned ||
        a->pack.has_k_rows != b->pack.has_k_rows) {
        return false;
    }
    const grout_box_plan *box = grout_pool__at(&plan->boxes, a->box);
    const grout_box_plan *other = grout_pool__at(&plan->boxes, b->box);
    bool is_same = other->object == box->object;
    for (uint32_t dim = 0; dim < box->rank && is_same; dim++) {
        is_same = other->extent[dim] == box->extent[dim] && other->order[dim] == box->order[dim];
    }
    return is_same;
}

/* The key of an operand among the latest that packs alike, or a new one. */
static uint32_t find_key(const grout_plan *plan, const grout_operand_plan *operand, bool is_a) {
    uint32_t end = plan->products.count, first = end > LATEST ? end - LATEST : 1;
    for (uint32_t i = first; i < end; i++) {
        const grout_product_plan *product = grout_pool__at(&plan->products, i);
        if (is_alike(plan, operand, &product->a)) {
            return product->a.key;
        }
        if (is_alike(plan, operand, &product->b)) {
            return product->b.key;
        }
    }
    return 2 * end + (is_a ? 2 : 3);
}

static void raise(uint32_t *size, uint32_t value) {
    *size = *size < value ? value : *size;
}

/* An operand of rows x cols elements as they lie. */
static void add_pack(grout_planner *planner, grout_operand_plan *operand, uint32_t rows,
                     uint32_t cols) {
    const grout_dtype dtype = (grout_dtype)operand->pack.dtype;
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const uint32_t row_bytes = operand->pack.is_padded ? cols : cols / info->packed * info->bytes;
    operand->pack.rows = rows;
    operand->pack.chunks = row_bytes / GROUT_PACK_CHUNK;
    operand->bytes = (int64_t)rows * row_bytes;
    grout_pack__init(&operand->pack, true);
    raise(&planner->plan->packed_max, rows * cols);
    raise(&planner->plan->chunks_max, rows * operand->pack.chunks);
}

/*
 * When packed, a has M as its inner dimension: an a whose elements follow each other along K is
 * transposed. b is taken either way, but of integers, where two neighbours along K make a word: a b
 * whose elements follow each other along N is transposed. In a product by rows a and b
 * change places.
 */
static void add_operand(grout_planner *planner, const grout_inst *inst, bool is_a,
                        grout_operand_plan *operand) {
    grout_plan *plan = planner->plan;
    const grout_wgmma *wgmma = &planner->wgmma;
    const bool is_left = is_a != planner->is_by_rows;
    uint32_t mn = is_a ? wgmma->m : wgmma->n;
    uint32_t k = wgmma->is_sparse && !is_a ? 2 * wgmma->k : wgmma->k;
    operand->is_register = is_a && wgmma->a.is_register;
    operand->has_mn_rows = operand->is_register || !(is_a ? wgmma->a : wgmma->b).is_transposed;
    operand->pack.is_turned = is_left && operand->has_mn_rows && !wgmma->is_sparse;
    operand->pack.dtype = is_a ? wgmma->a_dtype : wgmma->b_dtype;
    operand->pack.is_padded = (is_a ? wgmma->a : wgmma->b).is_padded;
    if (!operand->has_mn_rows && wgmma->accumulator_dtype == GROUT_DTYPE_I32) {
        operand->pack.has_k_rows = true;
        operand->pack.is_turned = !is_left;
    }
    add_pack(planner, operand, operand->has_mn_rows ? mn : k, operand->has_mn_rows ? k : mn);
    if (operand->is_register) {
        plan->copy_bytes_max =
            plan->copy_bytes_max < operand->bytes ? operand->bytes : plan->copy_bytes_max;
        return;
    }
    const uint32_t b_box = inst->box_count > 2 ? 2 : 1; /* a in registers has none */
    operand->box = inst->first_box + (is_a ? 1 : b_box);
    const grout_box_plan *box = grout_pool__at(&plan->boxes, operand->box);
    operand->first_offset = box->has_shape ? add_offsets(planner, box) : 0;
    operand->key = find_key(plan, operand, is_a);
}

static uint32_t find_gemm(grout_planner *planner, const grout_gemm *shape) {
    grout_pool *pool = &planner->plan->gemms;
    for (uint32_t i = 1; i < pool->count; i++) {
        const grout_gemm *gemm = grout_pool__at(pool, i);
        if (gemm->m == shape->m && gemm->n == shape->n && gemm->k == shape->k &&
            gemm->pitch == shape->pitch && gemm->has_k_rows == shape->has_k_rows &&
            gemm->round_step == shape->round_step && gemm->is_integer == shape->is_integer &&
            gemm->is_saturating == shape->is_saturating && gemm->group == shape->group &&
            gemm->scale_block == shape->scale_block && gemm->scale_dtype == shape->scale_dtype &&
            grout_tensor_core__is_same(&gemm->core, &shape->core)) {
            return i;
        }
    }
    uint32_t index = grout_pool__take(pool, planner->plan->heap);
    if (index != 0) {
        grout_gemm *gemm = grout_pool__at(pool, index);
        *gemm = *shape;
        grout_gemm__init(gemm, gemm->scale_block != 0 ? GROUT_GEMM_PLAIN : GROUT_GEMM_LIBXSMM);
    }
    return index;
}

static void add_product(grout_planner *planner, uint32_t inst_index, grout_product_plan *product,
                        const grout_gemm *shape) {
    grout_plan *plan = planner->plan;
    product->gemm = find_gemm(planner, shape);
    uint32_t index = grout_pool__take(&plan->products, plan->heap);
    if (index == 0 || product->gemm == 0) {
        planner->failed = true;
        return;
    }
    *(grout_product_plan *)grout_pool__at(&plan->products, index) = *product;
    grout_planner__get_inst(planner, inst_index)->u.product = index;
}

void grout_planner__begin_wgmma(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    const uint8_t rule = grout_op_get_info(op->opcode)->rule;
    planner->is_wgmma = planner->is_by_rows = false;
    if (rule == GROUT_RULE_WGMMA) {
        planner->is_wgmma = grout_wgmma_plan(planner->module, id, &planner->wgmma, planner->diags);
        planner->failed |= !planner->is_wgmma;
    } else if (rule == GROUT_RULE_TCGEN05) {
        grout_tcgen05 mma;
        planner->is_wgmma = grout_tcgen05_plan(planner->module, id, &mma, planner->diags);
        planner->failed |= !planner->is_wgmma;
        planner->wgmma = mma.product;
        planner->scale_block = mma.scale_block;
        planner->scale_dtype = mma.scale_dtype;
        planner->wgmma.a.is_register = mma.has_tmem_a; /* as it lies there: row by row */
    }
}

/* Elements from one row of an accumulator to the next; 0: its rows are not as far from each other,
 * or have halves. */
static uint32_t get_row_pitch(const grout_box_plan *accumulator) {
    const grout_layout *layout = accumulator->layout;
    const uint32_t row = accumulator->rank - 2u, column = row + 1;
    uint32_t rows = 0, columns = 0;
    int64_t pitch = 0;
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        rows += layout->dim[k] == row;
        columns += layout->dim[k] == column;
        pitch = layout->dim[k] == row ? layout->stride[k] : pitch;
    }
    return rows == 1 && columns == 1 ? (uint32_t)(pitch / layout->element_bytes) : 0;
}

/*
 * Whether the sums of an MMA can be added up where they are, row by row: as the product of b and a
 * the other way round, in columns as far from each other as the rows of the array. Sums that are
 * rounded to f16, and those of loops that want columns of their own, are worked on elsewhere.
 */
static bool is_by_rows(const grout_planner *planner, const grout_box_plan *accumulator) {
    const grout_wgmma *wgmma = &planner->wgmma;
    const bool is_exact = planner->launch->numerics == GROUT_NUMERICS_EXACT &&
                          wgmma->accumulator_dtype != GROUT_DTYPE_I32;
    return get_row_pitch(accumulator) != 0 && wgmma->accumulator_dtype != GROUT_DTYPE_F16 &&
           !wgmma->is_sparse && !is_exact && planner->scale_block == 0 &&
           !planner->launch->track_non_finite && wgmma->n % GROUT_GEMM_ROWS == 0;
}

/* The shape of an MMA's product as it is worked on. */
static grout_gemm get_tcgen05_shape(const grout_planner *planner, const grout_product_plan *product,
                                    const grout_box_plan *accumulator) {
    const grout_wgmma *wgmma = &planner->wgmma;
    const grout_operand_plan *right = product->is_by_rows ? &product->a : &product->b;
    return (grout_gemm){.m = product->is_by_rows ? wgmma->n : wgmma->m,
                        .n = product->is_by_rows ? wgmma->m : wgmma->n,
                        .k = wgmma->k,
                        .pitch = product->is_by_rows ? get_row_pitch(accumulator) : 0,
                        .has_k_rows = !right->has_mn_rows && !right->pack.has_k_rows,
                        .is_integer = wgmma->accumulator_dtype == GROUT_DTYPE_I32,
                        .is_saturating = wgmma->is_saturating,
                        .scale_block = (uint8_t)(planner->scale_block / (wgmma->is_sparse ? 2 : 1)),
                        .scale_dtype = planner->scale_dtype};
}

/* An MMA that adds to tensor memory: its sums are worked on there, or as those of an mma. */
void grout_planner__lower_tcgen05(grout_planner *planner, uint32_t inst_index) {
    const grout_wgmma *wgmma = &planner->wgmma;
    const grout_inst *inst = grout_planner__get_inst(planner, inst_index);
    planner->is_by_rows = is_by_rows(planner, grout_plan__box(planner->plan, inst, 0));
    grout_product_plan product = {.count = wgmma->n,
                                  .has_use = wgmma->has_use,
                                  .is_sparse = wgmma->is_sparse,
                                  .is_by_rows = planner->is_by_rows};
    add_operand(planner, inst, true, &product.a);
    add_operand(planner, inst, false, &product.b);
    grout_gemm shape =
        get_tcgen05_shape(planner, &product, grout_plan__box(planner->plan, inst, 0));
    if (wgmma->is_sparse) {
        shape.group = (uint8_t)grout_wgmma_get_group(wgmma);
    }
    /* Both CTAs of a pair have the columns of both. */
    const bool is_of_pair = (inst->attrs & GROUT_ATTR_BIT(COLLECTIVE_AXIS)) != 0;
    raise(&planner->plan->sums_max, (is_of_pair ? 2 : 1) * wgmma->m * wgmma->n);
    if (wgmma->accumulator_dtype == GROUT_DTYPE_F16) {
        shape.round_step = (uint8_t)wgmma->k_step;
    }
    if (planner->launch->numerics == GROUT_NUMERICS_EXACT && !shape.is_integer) {
        shape.core = grout_tensor_core__get_tcgen05(
            (grout_dtype)wgmma->a_dtype, (grout_dtype)wgmma->b_dtype,
            (grout_dtype)wgmma->accumulator_dtype, grout_wgmma_has_pairs(wgmma));
    }
    add_product(planner, inst_index, &product, &shape);
}

void grout_planner__lower_wgmma(grout_planner *planner, uint32_t inst_index) {
    grout_plan *plan = planner->plan;
    const grout_wgmma *wgmma = &planner->wgmma;
    const grout_inst *inst = grout_planner__get_inst(planner, inst_index);
    const grout_box_plan *box = grout_plan__box(plan, inst, 0);
    grout_product_plan product = {.accumulator = grout_plan__find_accumulator(plan, box->object),
                                  .column = (uint32_t)wgmma->column,
                                  .count = wgmma->n,
                                  .has_use = wgmma->has_use,
                                  .is_sparse = wgmma->is_sparse};
    add_operand(planner, inst, true, &product.a);
    add_operand(planner, inst, false, &product.b);
    grout_gemm shape = {.m = wgmma->m,
                        .n = wgmma->n,
                        .k = wgmma->k,
                        .has_k_rows = !product.b.has_mn_rows,
                        .is_integer = wgmma->accumulator_dtype == GROUT_DTYPE_I32,
                        .is_saturating = wgmma->is_saturating};
    if (wgmma->is_sparse) {
        shape.group = (uint8_t)grout_wgmma_get_group(wgmma);
        const int64_t bytes =
            (int64_t)wgmma->m * grout_sparse__count_words(&shape) * (int64_t)sizeof(uint16_t);
        plan->copy_bytes_max = plan->copy_bytes_max < bytes ? bytes : plan->copy_bytes_max;
    }
    if (wgmma->accumulator_dtype == GROUT_DTYPE_F16) {
        shape.round_step = (uint8_t)wgmma->k_step;
    }
    if (planner->launch->numerics == GROUT_NUMERICS_EXACT && !shape.is_integer) {
        shape.core =
            grout_tensor_core__get((grout_dtype)wgmma->a_dtype, (grout_dtype)wgmma->b_dtype,
                                   (grout_dtype)wgmma->accumulator_dtype);
    }
    add_product(planner, inst_index, &product, &shape);
}

/* An operand in registers, whose bytes are packed as this many rows. */
static void add_register_operand(grout_planner *planner, grout_operand_plan *operand, uint32_t rows,
                                 uint32_t cols) {
    operand->is_register = true;
    add_pack(planner, operand, rows, cols);
}

/* a is turned as that of a wgmma is. b comes as it lies, [K, N], as one row: the rows of 8 columns
 * of bytes are half a chunk. That of integers is turned before it is packed (exec_mma.c). */
void grout_planner__lower_mma(grout_planner *planner, uint32_t inst_index) {
    grout_plan *plan = planner->plan;
    grout_mma mma;
    const grout_op_id id = grout_planner__get_inst(planner, inst_index)->op;
    if (!grout_mma_plan(planner->module, id, &mma, planner->diags)) {
        planner->failed = true;
        return;
    }
    grout_gemm shape = {.m = mma.m,
                        .n = mma.n,
                        .k = mma.k,
                        .has_k_rows = mma.accumulator_dtype != GROUT_DTYPE_I32,
                        .is_integer = mma.accumulator_dtype == GROUT_DTYPE_I32,
                        .is_saturating = mma.is_saturating};
    grout_product_plan product = {.count = mma.n};
    product.a.pack = (grout_pack){.dtype = mma.a_dtype, .is_turned = true};
    product.b.pack = (grout_pack){.dtype = mma.b_dtype};
    add_register_operand(planner, &product.a, mma.m, mma.k);
    add_register_operand(planner, &product.b, shape.is_integer ? mma.n : 1,
                         shape.is_integer ? mma.k : mma.k * mma.n);
    raise(&plan->sums_max, (mma.m + LINE - 1) / LINE * LINE * mma.n); /* masks are of 64 rows */
    raise(&plan->turned_max, shape.is_integer ? mma.k * mma.n : 0);
    if (mma.accumulator_dtype == GROUT_DTYPE_F16) {
        shape.round_step = (uint8_t)mma.k_step;
    }
    if (planner->launch->numerics == GROUT_NUMERICS_EXACT && !shape.is_integer) {
        shape.core = grout_tensor_core__get_mma((grout_dtype)mma.a_dtype, (grout_dtype)mma.b_dtype,
                                                (grout_dtype)mma.accumulator_dtype);
    }
    add_product(planner, inst_index, &product, &shape);
}

void grout_planner__lower_load(grout_planner *planner, uint32_t inst_index, const grout_op *op) {
    grout_inst *inst = grout_planner__get_inst(planner, inst_index);
    if (inst->box_count == 0 || grout_plan__box(planner->plan, inst, 0)->space != GROUT_SPACE_ACC) {
        return;
    }
    /* A load waits for all groups; an op that takes wait(n) waits for what this says. */
    bool takes_wait = (grout_op_get_info(op->opcode)->attrs & GROUT_ATTR_BIT(WAIT_GROUPS)) != 0;
    inst->exec = grout_exec_acc_load;
    inst->u.acc_load.groups_left =
        !takes_wait ? 0
                    : grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_WAIT_GROUPS, -1);
}
