/*
 * tcgen05.c - MMAs that add to tensor memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Eager: performed at issue. Lazy: when an actor waits for a phase that a commit after it arrives
 * on, at the end of a scope whose object it uses, or of the CTA. Random: at a scheduling point
 * drawn from the seed, never later than lazy. Operands are read when the MMA is performed; of those
 * in SMEM the bytes before plain stores that were not published at the issue. The issue decides
 * what is undefined afterwards, whatever the timing.
 */
#include "tcgen05.h"

#include "access.h"
#include "capture.h"
#include "engine.h"
#include "operand.h"
#include "pair.h"
#include "sparse.h"
#include "wgmma.h"

#include "grout-internal/verify.h"

#include <string.h>

/* A lane's MMAs in flight; past that the oldest is performed, which is legal at any time. */
#define FLIGHT_MAX 64

enum {
    BOX_ACC = GROUT_TCGEN05_BOX_ACC,
    BOX_A = GROUT_TCGEN05_BOX_A,
    BOX_B = GROUT_TCGEN05_BOX_B,
    BOX_TABLE = GROUT_TCGEN05_BOX_TABLE
};

static grout_stamp get_stamp(const grout_cta *cta, uint32_t lane, uint32_t number) {
    return (grout_stamp){.cluster = grout_cta__cluster(cta)->index,
                         .component =
                             grout_clock_tcgen05(&cta->machine->plan->shape, cta->lane_base + lane),
                         .number = number,
                         .agent = GROUT_AGENT_ENGINE};
}

int64_t grout_engine__bytes_tcgen05(const grout_machine *machine, const grout_inst *inst) {
    if (grout_tcgen05__is_copy(inst)) {
        return grout_plan__box(machine->plan, inst, GROUT_TCGEN05_BOX_SOURCE)->bytes;
    }
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    return product->a.bytes + product->b.bytes;
}

void grout_engine__stamps_tcgen05(const grout_cta *cta, const grout_flight *flight,
                                  grout_stamp *read_out, grout_stamp *write_out) {
    *read_out = *write_out =
        get_stamp(cta, grout_machine__lane_of(cta->machine, flight->actor), flight->group);
}

/* ---- performance ----------------------------------------------------------------------------- */

/* The machine's buffer as an accumulator of the product's shape. */
static grout_accumulator make_sums(const grout_machine *machine,
                                   const grout_accumulator_plan *plan) {
    const size_t count = (size_t)plan->rows * plan->cols;
    const size_t words = (size_t)(plan->rows + 63) / 64 * plan->cols;
    uint8_t *masks = (uint8_t *)(machine->sums + count);
    const grout_accumulator sums = {.plan = plan,
                                    .count = plan->cols,
                                    .values = machine->sums,
                                    .masks = (uint64_t *)(void *)masks,
                                    .marks = masks + words * sizeof(uint64_t)};
    memset(sums.marks, 0, plan->cols);
    return sums;
}

/* Rows of a CTA's sums, and columns of a part of them. */
static uint32_t get_rows(const grout_product_plan *product, const grout_gemm *gemm) {
    return product->is_by_rows ? gemm->n : gemm->m;
}
static uint32_t get_columns(const grout_product_plan *product, const grout_gemm *gemm) {
    return product->is_by_rows ? gemm->m : gemm->n;
}

/* Sums of this many times the columns that a CTA has of b. */
static grout_accumulator_plan get_shape(const grout_cta *cta, const grout_inst *inst,
                                        uint32_t parts) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, inst);
    const grout_gemm *gemm = grout_pool__at(&cta->machine->plan->gemms, product->gemm);
    return (grout_accumulator_plan){.dtype =
                                        grout_plan__box(cta->machine->plan, inst, BOX_ACC)->dtype,
                                    .rows = get_rows(product, gemm),
                                    .cols = get_columns(product, gemm) * parts};
}

/* ---- what lies beside the operands ----------------------------------------------------------- */

/* Bytes of the tables of an MMA, each from a multiple of 64 on; of metadata twice as many. */
static size_t get_table_bytes(const grout_machine *machine, const grout_inst *inst, uint32_t box) {
    return box < inst->box_count
               ? (size_t)(grout_plan__box(machine->plan, inst, box)->bytes + 63) / 64 * 64
               : 0;
}

/* The words of metadata row by row, from where they lie in tensor memory. */
static void order_metadata(const grout_gemm *gemm, grout_dtype a, const uint16_t *from,
                           uint16_t *to) {
    const uint32_t words = grout_sparse__count_words(gemm);
    for (uint32_t m = 0; m < gemm->m; m++) {
        for (uint32_t w = 0; w < words; w++) {
            uint32_t place[2];
            grout_sparse_get_metadata_place(a, m, w, place);
            to[m * words + w] = from[place[0] * words + place[1]];
        }
    }
}

/* An MMA: its boxes in each CTA that multiplies, and what was captured of its operands in SMEM. */
typedef struct mma {
    const grout_inst *inst;
    uint32_t actor;
    const grout_origin *origin;
    uint32_t ctas; /* that multiply */
    grout_tcgen05_boxes boxes[GROUT_PAIR];
    const uint8_t *captured[GROUT_PAIR][2]; /* or NULL */
    bool is_fresh;
    uint8_t coded_ctas; /* a bit for each in which its metadata was defined at its issue: what is
                           said of it is no matter of timing */
} mma;

/* Boxes of tables of an MMA: the metadata, if a is sparse, then the scales. */
static uint32_t get_scales_box(const grout_product_plan *product) {
    return BOX_TABLE + (product->is_sparse ? 1u : 0u);
}

/* A product of rows of one CTA of the MMA, whose tables it takes, by columns of one. */
typedef struct mma_part {
    uint32_t rows_of, columns_of;
} mma_part;

/* Both of the metadata: as they lie, and row by row. */
static uint8_t *take_metadata(const grout_cta *cta, const mma *it, mma_part part, uint8_t *memory,
                              grout_factors *factors) {
    grout_machine *machine = cta->machine;
    const size_t bytes = get_table_bytes(machine, it->inst, BOX_TABLE);
    const grout_box *table = &it->boxes[part.rows_of][BOX_TABLE];
    uint16_t *words = (uint16_t *)(void *)(memory + bytes);
    grout_box__gather(machine, table, memory);
    order_metadata(grout_pool__at(&machine->plan->gemms, factors->product->gemm),
                   (grout_dtype)factors->product->a.pack.dtype,
                   (const uint16_t *)(const void *)memory, words);
    if (part.columns_of == 0 && (it->coded_ctas >> part.rows_of & 1) != 0) {
        const grout_gemm *gemm = grout_pool__at(&machine->plan->gemms, factors->product->gemm);
        grout_factors__check_metadata(
            cta, it->actor, it->inst,
            (grout_metadata){.words = words, .first_row = part.rows_of * gemm->m});
    }
    factors->metadata = memory + bytes;
    return memory + 2 * bytes;
}

/* The row of b's scales that is for a column. With 64 rows in each CTA of a pair those of each half
 * of the columns begin at a row of their own. */
static uint32_t get_scale_row(const grout_gemm *gemm, uint32_t column) {
    enum { ROWS = 128 };
    return gemm->m < ROWS ? column / gemm->n * ROWS + column % gemm->n : column;
}

/* Those of b are of all columns that the CTAs have. */
static void take_scales(const grout_cta *cta, const mma *it, mma_part part, uint8_t *memory,
                        grout_factors *factors) {
    grout_machine *machine = cta->machine;
    const grout_gemm *gemm = grout_pool__at(&machine->plan->gemms, factors->product->gemm);
    const uint32_t a = get_scales_box(factors->product);
    const size_t first = get_scale_row(gemm, part.columns_of * gemm->n);
    uint8_t *of_b = memory + get_table_bytes(machine, it->inst, a);
    grout_box__gather(machine, &it->boxes[part.rows_of][a], memory);
    grout_box__gather(machine, &it->boxes[part.rows_of][a + 1], of_b);
    factors->scales[0] = memory;
    factors->scales[1] = of_b + first * (gemm->k / gemm->scale_block);
}

/* Bytes of memory for them. */
static size_t get_tables_bytes(const grout_machine *machine, const grout_inst *inst) {
    const bool is_sparse = grout_plan__product(machine->plan, inst)->is_sparse;
    size_t bytes = is_sparse ? get_table_bytes(machine, inst, BOX_TABLE) : 0;
    for (uint32_t i = BOX_TABLE; i < inst->box_count; i++) {
        bytes += get_table_bytes(machine, inst, i);
    }
    return bytes;
}

static void take_tables(const grout_cta *cta, const mma *it, mma_part part, uint8_t *memory,
                        grout_factors *factors) {
    if (factors->product->is_sparse) {
        memory = take_metadata(cta, it, part, memory, factors);
    }
    if (it->inst->box_count > get_scales_box(factors->product)) {
        take_scales(cta, it, part, memory, factors);
    }
}

/* Adds to sums of the rows that one CTA has, by the columns that one has; both are row by row. */
static void multiply_with(const grout_cta *cta, const mma *it, mma_part part, uint8_t *tables) {
    grout_machine *machine = cta->machine;
    const grout_product_plan *product = grout_plan__product(machine->plan, it->inst);
    const grout_accumulator_plan shape = get_shape(cta, it->inst, 1);
    const grout_accumulator sums = make_sums(machine, &shape);
    const grout_box *a = &it->boxes[part.rows_of][BOX_A];
    grout_factors factors = {
        .product = product,
        .sources = {{.plan = &product->a, .box = a},
                    {.plan = &product->b, .box = &it->boxes[part.columns_of][BOX_B]}}};
    factors.sources[0].rows = it->captured[part.rows_of][0];
    factors.sources[1].rows = it->captured[part.columns_of][1];
    if (tables != NULL) {
        take_tables(cta, it, part, tables, &factors);
    }
    grout_accumulator__store(&sums, machine->linear);
    if (product->a.is_register) { /* it lies in tensor memory */
        grout_box__gather(machine, a, machine->linear);
        factors.sources[0].rows = machine->linear;
    }
    grout_factors__multiply(cta, it->origin, &factors, &sums, it->is_fresh);
    grout_accumulator__load(&sums, machine->linear);
}

static void multiply(const grout_cta *cta, const mma *it, mma_part part) {
    grout_machine *machine = cta->machine;
    const size_t bytes = get_tables_bytes(machine, it->inst);
    uint8_t *tables = bytes == 0 ? NULL : grout_heap__take(&machine->heap, bytes);
    if (bytes != 0 && tables == NULL) {
        machine->run.has_failed = true;
        return;
    }
    multiply_with(cta, it, part, tables);
    if (bytes != 0) {
        grout_heap__give(&machine->heap, tables, bytes);
    }
}

/* Between all columns of an accumulator, row by row, and those of one part. */
static void move_columns(const grout_cta *cta, const mma *it, uint32_t index, bool is_out) {
    grout_machine *machine = cta->machine;
    const grout_accumulator_plan shape = get_shape(cta, it->inst, 1);
    const size_t size = shape.cols * (size_t)grout_dtype_get_info((grout_dtype)shape.dtype)->bytes;
    for (uint32_t row = 0; row < shape.rows; row++) {
        uint8_t *one = machine->linear + row * size;
        uint8_t *all = machine->pair_sums + (row * (size_t)it->ctas + index) * size;
        memcpy(is_out ? all : one, is_out ? one : all, size);
    }
}

/* The product where the sums are: b by a, whose columns are the rows of the accumulator. */
static void multiply_by_rows(const grout_cta *cta, const mma *it, mma_part part) {
    const uint32_t rows_of = part.rows_of, columns_of = part.columns_of;
    grout_machine *machine = cta->machine;
    const grout_product_plan *product = grout_plan__product(machine->plan, it->inst);
    const grout_gemm *gemm = grout_pool__at(&machine->plan->gemms, product->gemm);
    const grout_box *acc = &it->boxes[rows_of][BOX_ACC], *a = &it->boxes[rows_of][BOX_A];
    float *sums =
        (float *)(void *)(acc->bytes + grout_layout_get_offset(acc->plan->layout, acc->start));
    const float *packed[2];
    grout_operand_source sources[2] = {{.plan = &product->b, .box = &it->boxes[columns_of][BOX_B]},
                                       {.plan = &product->a, .box = a}};
    sources[0].rows = it->captured[columns_of][1];
    sources[1].rows = it->captured[rows_of][0];
    if (product->a.is_register) { /* it lies in tensor memory */
        grout_box__gather(machine, a, machine->linear);
        sources[1].rows = machine->linear;
    }
    grout_operand__pack(cta, sources, packed);
    sums += (size_t)columns_of * gemm->m;
    for (uint32_t row = 0; it->is_fresh && row < gemm->n; row++) {
        memset(sums + (size_t)row * gemm->pitch, 0, gemm->m * sizeof *sums);
    }
    grout_gemm__run(gemm, sums, packed[0], packed[1]);
    /* Where nothing else writes tensor memory, its loads do it. */
    const bool is_due = machine->plan->stores_tmem && !gemm->is_integer;
    for (uint32_t row = 0; is_due && row < gemm->n; row++) {
        grout_gemm__unify_nans(sums + (size_t)row * gemm->pitch, gemm->m);
    }
}

static void perform_by_rows(const grout_cta *cta, const mma *it) {
    for (uint32_t i = 0; i < it->ctas; i++) {
        for (uint32_t k = 0; k < it->ctas; k++) {
            multiply_by_rows(cta, it, (mma_part){.rows_of = i, .columns_of = k});
        }
        grout_box__touch(&it->boxes[i][BOX_ACC]);
    }
}

static void perform(const grout_cta *cta, const mma *it) {
    grout_machine *machine = cta->machine;
    if (grout_plan__product(machine->plan, it->inst)->is_by_rows) {
        perform_by_rows(cta, it);
        return;
    }
    if (it->ctas == 1) {
        grout_box__gather(machine, &it->boxes[0][BOX_ACC], machine->linear);
        multiply(cta, it, (mma_part){0});
        grout_box__scatter(machine, &it->boxes[0][BOX_ACC], machine->linear);
        return;
    }
    for (uint32_t i = 0; i < it->ctas; i++) {
        grout_box__gather(machine, &it->boxes[i][BOX_ACC], machine->pair_sums);
        for (uint32_t k = 0; k < it->ctas; k++) {
            move_columns(cta, it, k, false);
            multiply(cta, it, (mma_part){.rows_of = i, .columns_of = k});
            move_columns(cta, it, k, true);
        }
        grout_box__scatter(machine, &it->boxes[i][BOX_ACC], machine->pair_sums);
    }
}

/* Whether the operand use_acc says now that the accumulator does not count. */
static bool is_fresh(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    return grout_plan__product(cta->machine->plan, inst)->has_use &&
           grout_slot__get_integer(cta, actor, grout_plan__slot(cta->machine->plan, inst, 0)) == 0;
}

/* Later, from what its record says. */
static void perform_flight(const grout_cta *cta, const grout_flight *flight) {
    const grout_machine *machine = cta->machine;
    const grout_inst *inst = grout_flight__inst(machine, flight);
    mma it = {.inst = inst,
              .actor = flight->actor,
              .origin = &flight->origin,
              .ctas = grout_tcgen05__count_ctas(inst),
              .is_fresh = flight->is_fresh,
              .coded_ctas = flight->coded_ctas};
    for (uint32_t i = 0; i < it.ctas * inst->box_count; i++) {
        const uint32_t member = i / inst->box_count, box = i % inst->box_count;
        it.boxes[member][box] = grout_box__place(
            grout_tcgen05__get_member(cta, member), grout_plan__box(machine->plan, inst, box),
            flight->start[grout_tcgen05__get_place(inst, box)]);
    }
    for (uint32_t i = 0; i < it.ctas * 2; i++) {
        const uint32_t slot = flight->bytes.operands[i];
        if (slot != 0) {
            grout_capture__read(cta, &it.boxes[i / 2][BOX_A + i % 2], slot);
            it.captured[i / 2][i % 2] = grout_slots__get(cta, slot);
        }
    }
    perform(cta, &it);
}

void grout_engine__land_tcgen05(const grout_cta *cta, uint32_t index) {
    grout_flight *flight = grout_flight__get(cta->machine, index);
    if (!flight->is_void && grout_tcgen05__is_copy(grout_flight__inst(cta->machine, flight))) {
        grout_tcgen05__land_copy(cta, flight);
    } else if (!flight->is_void) {
        perform_flight(cta, flight);
    }
    for (uint32_t i = 0; i < GROUT_FLIGHT_SLOTS; i++) {
        if (flight->bytes.operands[i] != 0) {
            grout_slots__give(cta, flight->bytes.operands[i]);
        }
        flight->bytes.operands[i] = 0;
    }
}

/* ---- what becomes undefined ------------------------------------------------------------------ */

/* The rows of M, or columns of N from first on, that have an undefined element become undefined. */
static void spoil(const grout_cta *cta, const grout_accumulator *sums,
                  const grout_operand_plan *operand, const grout_box *box, uint32_t first) {
    grout_machine *machine = cta->machine;
    if (grout_box__is_defined(machine, box)) {
        return;
    }
    const bool is_a = first == UINT32_MAX;
    const uint32_t rows = operand->pack.rows, cols = (uint32_t)(box->plan->count / rows);
    memset(machine->mask_linear, 0, (size_t)box->plan->count);
    grout_box__get_undefined(machine, box, machine->mask_linear);
    for (uint32_t i = 0; i < rows * cols; i++) {
        const uint32_t place = operand->has_mn_rows ? i / cols : i % cols;
        if (machine->mask_linear[i] != 0 && is_a) {
            grout_accumulator__spoil_row(sums, place);
        } else if (machine->mask_linear[i] != 0) {
            grout_accumulator__spoil_column(sums, first + place);
        }
    }
}

/* The row that a scale is of, or the column; rows of those of b from N on do not count. */
static void spoil_by_scales(const grout_cta *cta, const grout_inst *inst,
                            const grout_accumulator *sums, const grout_box *box, bool is_a) {
    grout_machine *machine = cta->machine;
    const grout_gemm *gemm =
        grout_pool__at(&machine->plan->gemms, grout_plan__product(machine->plan, inst)->gemm);
    const uint32_t columns = (uint32_t)box->plan->extent[box->plan->rank - 1u];
    const uint32_t count = is_a ? sums->plan->rows : sums->plan->cols;
    memset(machine->mask_linear, 0, (size_t)box->plan->count);
    grout_box__get_undefined(machine, box, machine->mask_linear);
    for (uint32_t i = 0; i < count * columns; i++) {
        const uint32_t place = i / columns, row = is_a ? place : get_scale_row(gemm, place);
        if (machine->mask_linear[row * columns + i % columns] == 0) {
            continue;
        }
        if (is_a) {
            grout_accumulator__spoil_row(sums, place);
        } else {
            grout_accumulator__spoil_column(sums, place);
        }
    }
}

/* The row that a word of metadata is of. */
static void spoil_by_metadata(const grout_cta *cta, const grout_accumulator *sums,
                              const grout_product_plan *product, const grout_box *box) {
    grout_machine *machine = cta->machine;
    const uint32_t words = (uint32_t)box->plan->extent[box->plan->rank - 1u];
    memset(machine->mask_linear, 0, (size_t)box->plan->count);
    grout_box__get_undefined(machine, box, machine->mask_linear);
    for (uint32_t i = 0; i < sums->plan->rows * words; i++) {
        uint32_t place[2];
        grout_sparse_get_metadata_place((grout_dtype)product->a.pack.dtype, i / words, i % words,
                                        place);
        if (machine->mask_linear[place[0] * words + place[1]] != 0) {
            grout_accumulator__spoil_row(sums, i / words);
        }
    }
}

static void spoil_by_tables(const grout_cta *cta, const grout_inst *inst,
                            const grout_accumulator *sums, const grout_box *boxes) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, inst);
    for (uint32_t i = BOX_TABLE; i < inst->box_count; i++) {
        if (grout_box__is_defined(cta->machine, &boxes[i])) {
            continue;
        }
        if (i < get_scales_box(product)) {
            spoil_by_metadata(cta, sums, product, &boxes[i]);
        } else {
            spoil_by_scales(cta, inst, sums, &boxes[i], i == get_scales_box(product));
        }
    }
}

/* Whether nothing is undefined that the accumulator of one CTA comes from. */
static bool is_all_defined(const grout_cta *cta, const mma *it, uint32_t member) {
    grout_machine *machine = cta->machine;
    const grout_box *boxes = it->boxes[member];
    bool is_defined = it->is_fresh || grout_box__is_defined(machine, &boxes[BOX_ACC]);
    for (uint32_t i = 0; i < it->inst->box_count && is_defined; i++) {
        is_defined = i == BOX_ACC || i == BOX_B || grout_box__is_defined(machine, &boxes[i]);
    }
    for (uint32_t i = 0; i < it->ctas && is_defined; i++) {
        is_defined = grout_box__is_defined(machine, &it->boxes[i][BOX_B]);
    }
    return is_defined;
}

/* In the accumulator of one CTA. */
static void spread_undefined_in(const grout_cta *cta, const mma *it, uint32_t member) {
    grout_machine *machine = cta->machine;
    const grout_product_plan *product = grout_plan__product(machine->plan, it->inst);
    const grout_accumulator_plan shape = get_shape(cta, it->inst, it->ctas);
    const grout_box *acc = &it->boxes[member][BOX_ACC];
    if (is_all_defined(cta, it, member)) {
        grout_box__set_written(machine, acc, NULL);
        return;
    }
    for (uint32_t i = it->is_fresh ? BOX_ACC + 1 : BOX_ACC; i < it->inst->box_count; i++) {
        grout_box__publish_unwritten(cta, it->actor, it->inst, &it->boxes[member][i]);
    }
    const grout_accumulator sums = make_sums(machine, &shape);
    grout_accumulator__set_undefined(&sums, NULL);
    memset(sums.masks, 0, (size_t)(shape.rows + 63) / 64 * shape.cols * sizeof *sums.masks);
    if (!it->is_fresh && !grout_box__is_defined(machine, acc)) {
        memset(machine->mask_linear, 0, (size_t)acc->plan->count);
        grout_box__get_undefined(machine, acc, machine->mask_linear);
        grout_accumulator__set_undefined(&sums, machine->mask_linear);
    }
    spoil(cta, &sums, &product->a, &it->boxes[member][BOX_A], UINT32_MAX);
    for (uint32_t i = 0; i < it->ctas; i++) {
        spoil(cta, &sums, &product->b, &it->boxes[i][BOX_B], i * (shape.cols / it->ctas));
    }
    spoil_by_tables(cta, it->inst, &sums, it->boxes[member]);
    const bool is_undefined = grout_accumulator__get_undefined(&sums, machine->mask_linear);
    grout_box__set_written(machine, acc, is_undefined ? machine->mask_linear : NULL);
}

/* ---- issue ----------------------------------------------------------------------------------- */

void grout_tcgen05__put_in_flight(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                  const grout_box *boxes, const grout_tcgen05_flight *as) {
    grout_machine *machine = cta->machine;
    const uint32_t lane = grout_machine__lane_of(machine, actor);
    const uint32_t index = grout_flight__add(cta, actor, inst, GROUT_ENGINE_TCGEN05, cta->rank);
    if (index == 0) {
        return;
    }
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_void = as->is_void;
    memcpy(flight->bytes.operands, as->slots, sizeof flight->bytes.operands);
    for (uint32_t i = 0; i < inst->box_count; i++) {
        memcpy(flight->start[grout_tcgen05__get_place(inst, i)], boxes[i].start,
               sizeof flight->start[0]);
    }
    flight->is_fresh = as->is_fresh;
    flight->coded_ctas = as->coded_ctas & 3u;
    const uint32_t issued = grout_cta__lane(cta, lane)->mmas;
    grout_flight__enqueue(cta, lane, issued, index);
    if (issued > FLIGHT_MAX) {
        grout_flight__finish_groups(cta, GROUT_ENGINE_TCGEN05, lane, issued - FLIGHT_MAX);
    }
}

uint32_t grout_tcgen05__capture(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                uint32_t box_index, const grout_box *box) {
    const uint32_t lane = grout_machine__lane_of(cta->machine, actor);
    const grout_stamp read = get_stamp(cta, lane, grout_cta__lane(cta, lane)->mmas);
    return grout_capture__take_operand(cta, actor, inst, box_index, box, &read);
}

static void put_in_flight(const grout_cta *cta, uint32_t actor, const mma *it, bool is_void) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, it->inst);
    grout_tcgen05_flight as = {
        .is_void = is_void, .is_fresh = it->is_fresh, .coded_ctas = it->coded_ctas};
    for (uint32_t i = 0; i < it->ctas * 2 && !is_void; i++) {
        if (i % 2 == 1 || !product->a.is_register) {
            as.slots[i] = grout_tcgen05__capture(cta, actor, it->inst, BOX_A + i % 2,
                                                 &it->boxes[i / 2][BOX_A + i % 2]);
        }
    }
    grout_tcgen05__put_in_flight(cta, actor, it->inst, it->boxes[0], &as);
}

void grout_tcgen05__publish_complete(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_flight flight = grout_flight__describe(cta, actor, inst, GROUT_ENGINE_TCGEN05);
    flight.group = grout_cta__lane(cta, grout_machine__lane_of(cta->machine, actor))->mmas;
    grout_flight__publish_complete(cta, &flight);
}

void grout_tcgen05__note_issue(const grout_cta *cta, uint32_t actor, uint32_t lane,
                               uint32_t number) {
    const grout_order *order = &cta->machine->plan->order;
    uint32_t *admitted = grout_order__get_admitted(order, grout_cta__clocks(cta, actor));
    grout_order__raise(&admitted[grout_clock_admitted_issue(&order->shape, cta->lane_base + lane)],
                       number);
}

bool grout_tcgen05__check_leader(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    if ((inst->attrs & GROUT_ATTR_BIT(COLLECTIVE_AXIS)) == 0 || grout_cta__leads_pair(cta)) {
        return true;
    }
    const grout_fault fault = {.code = GROUT_DIAG_PAIR_LEADER, .cta = grout_cta__head(cta)->index};
    grout_cta__fault(cta, actor, inst, 0, &fault);
    return false;
}

bool grout_tcgen05__begin(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                          grout_tcgen05_boxes *boxes) {
    grout_machine *machine = cta->machine;
    const uint32_t ctas = grout_tcgen05__count_ctas(inst);
    const uint32_t lane = grout_machine__lane_of(machine, actor);
    bool is_void = false;
    for (uint32_t i = 0; i < inst->box_count; i++) {
        boxes[0][i] = grout_box__resolve(cta, actor, inst, i);
        /* An operand that leaves its object is refused, and with it the product. */
        is_void |= !grout_box__check_inside(cta, actor, inst, &boxes[0][i]);
        if (ctas > 1) {
            boxes[1][i] = boxes[0][i];
            grout_box__set_rank(cta, &boxes[1][i], cta->rank + 1);
        }
    }
    const uint32_t number = ++grout_cta__lane(cta, lane)->mmas;
    const grout_stamp stamps[2] = {get_stamp(cta, lane, number), get_stamp(cta, lane, number)};
    const grout_issue issue = {
        .bytes = grout_engine__bytes_tcgen05(machine, inst), .read = stamps[0], .write = stamps[1]};
    grout_flight__publish_issue(cta, actor, inst, &issue);
    for (uint32_t i = 0; i < ctas && !is_void; i++) {
        grout_access__publish(cta, actor, inst, boxes[i], stamps);
    }
    grout_tcgen05__note_issue(cta, actor, lane, number);
    return !is_void;
}

/* Those of its CTAs in which a sparse a has metadata that somebody has brought, in so far as that
 * is followed. */
static uint8_t find_coded_ctas(grout_machine *machine, const mma *it) {
    uint8_t coded = 0;
    const bool has_codes =
        machine->tracks && grout_plan__product(machine->plan, it->inst)->is_sparse;
    for (uint32_t i = 0; has_codes && i < it->ctas; i++) {
        const bool is_defined = grout_box__is_defined(machine, &it->boxes[i][BOX_TABLE]);
        coded = (uint8_t)(coded | (is_defined ? 1u << i : 0));
    }
    return coded;
}

void grout_tcgen05__issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_origin origin = grout_cta__origin(cta, actor, inst);
    mma it = {.inst = inst,
              .actor = actor,
              .origin = &origin,
              .ctas = grout_tcgen05__count_ctas(inst),
              .is_fresh = is_fresh(cta, actor, inst)};
    const bool is_void = !grout_tcgen05__begin(cta, actor, inst, it.boxes);
    it.coded_ctas = is_void ? 0 : find_coded_ctas(machine, &it);
    for (uint32_t i = 0; i < it.ctas && machine->tracks && !is_void; i++) {
        spread_undefined_in(cta, &it, i);
    }
    if (machine->is_lazy) {
        put_in_flight(cta, actor, &it, is_void);
        return;
    }
    if (!is_void) {
        perform(cta, &it);
    }
    grout_tcgen05__publish_complete(cta, actor, inst);
}
