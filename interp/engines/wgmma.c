/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.c - issue and performance of wgmmas.
 *
 * Eager: performed at issue. Lazy: at the wait that covers the group, or the exit of the thread, or
 * the end of a scope whose object it uses. Random: at a scheduling point drawn from the seed, never
 * later than lazy. Operands in SMEM are read when the group is performed. Where plain stores were
 * not published at the issue, it reads the bytes before these stores. Operands in registers are
 * read at the issue. The issue decides what is undefined afterwards, whatever the timing.
 */
#include "wgmma.h"
#include "access.h"

#include "accumulator.h"
#include "capture.h"
#include "convert.h"
#include "engine.h"
#include "non_finite.h"
#include "operand.h"
#include "scaled.h"
#include "sparse.h"

#include <string.h>

/* A thread's groups in flight; past that the oldest is performed, which is legal at any time. */
#define FLIGHT_MAX 64

enum {
    METADATA = 2,        /* of a flight's slots: those before it are a's and b's */
    METADATA_OPERAND = 3 /* of the operation */
};

static const grout_operand_plan *get_operand(const grout_product_plan *product, uint32_t which) {
    return which == 0 ? &product->a : &product->b;
}

/* Which of the instruction's boxes an operand is. */
static uint32_t get_box_index(const grout_inst *inst, const grout_operand_plan *operand) {
    return operand->box - inst->first_box;
}

int64_t grout_engine__bytes_wgmma(const grout_machine *machine, const grout_inst *inst) {
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    return (product->a.is_register ? 0 : product->a.bytes) + product->b.bytes;
}

static grout_stamp get_stamp(const grout_cta *cta, uint32_t thread, uint32_t group) {
    uint32_t actor = grout_cta__actor(cta, thread);
    return (grout_stamp){.cluster = grout_cta__cluster(cta)->index,
                         .component = grout_clock_wgmma(&cta->machine->plan->shape, actor),
                         .number = group,
                         .agent = GROUT_AGENT_ENGINE};
}

void grout_engine__stamps_wgmma(const grout_cta *cta, const grout_flight *flight,
                                grout_stamp *read_out, grout_stamp *write_out) {
    *read_out = *write_out = get_stamp(cta, flight->actor, flight->group);
}

/* ---- performance -----------------------------------------------------------------------------
 */

/* The operands of a product, packed; metadata: of a sparse a, else NULL. */
typedef struct packed_operands {
    const grout_product_plan *product;
    const float *tiles[2];
    const uint16_t *metadata;
    const uint8_t *const *scales; /* of blocks, where the product has them */
} packed_operands;

static grout_sparse_tiles get_sparse(const packed_operands *packed) {
    return (grout_sparse_tiles){.a = packed->tiles[0],
                                .b = packed->tiles[1],
                                .metadata = packed->metadata,
                                .has_m_rows = packed->product->a.has_mn_rows};
}

/* The elements of a and b that the k-th product of an element of c is of. */
static void find_factors(const grout_gemm *gemm, const packed_operands *packed, uint32_t at[3],
                         const float *factors_out[2]) {
    const uint32_t m = at[0], n = at[1], k = at[2];
    const bool is_sparse = packed->metadata != NULL;
    const grout_sparse_tiles sparse = get_sparse(packed);
    const size_t row = is_sparse ? grout_sparse__get_row(gemm, &sparse, m, k) : k;
    const size_t depth = (size_t)gemm->k * (is_sparse ? 2 : 1);
    const bool has_m_rows = is_sparse && sparse.has_m_rows;
    factors_out[0] =
        &packed->tiles[0][has_m_rows ? (size_t)m * gemm->k + k : (size_t)k * gemm->m + m];
    factors_out[1] = &packed->tiles[1][gemm->has_k_rows ? row * gemm->n + n : n * depth + row];
}

/* The worst element in the row of a and the column of b that an element of c comes from. */
static grout_finiteness get_worst(const grout_gemm *gemm, const packed_operands *packed, uint32_t m,
                                  uint32_t n) {
    grout_finiteness worst = GROUT_FINITE;
    for (uint32_t k = 0; k < gemm->k; k++) {
        const float *factors[2];
        find_factors(gemm, packed, (uint32_t[]){m, n, k}, factors);
        const grout_finiteness left = grout_finiteness_get(GROUT_DTYPE_F32, factors[0]);
        const grout_finiteness right = grout_finiteness_get(GROUT_DTYPE_F32, factors[1]);
        worst = left > worst ? left : worst;
        worst = right > worst ? right : worst;
    }
    return worst;
}

/* Says which elements of the accumulator the product has made NaN or infinite. What was so before
 * has been counted where it became so. */
static void note_product(const grout_cta *cta, const grout_origin *origin, const grout_gemm *gemm,
                         const grout_accumulator *accumulator, const float *before,
                         const packed_operands *packed) {
    const uint32_t rows = accumulator->plan->rows;
    grout_non_finite noted = {
        .origin = *origin, .extent = (int64_t)rows * accumulator->count, .first = -1};
    for (uint32_t m = 0; m < gemm->m; m++) {
        for (uint32_t n = 0; n < gemm->n; n++) {
            const size_t at = (size_t)n * rows + m;
            const bool is_undefined =
                (accumulator->masks[(size_t)n * (rows / 64) + m / 64] >> m % 64 & 1) != 0;
            if (!is_undefined &&
                grout_finiteness_get(GROUT_DTYPE_F32, &accumulator->values[at]) != GROUT_FINITE &&
                grout_finiteness_get(GROUT_DTYPE_F32, &before[at]) == GROUT_FINITE) {
                grout_non_finite__note(&noted, (int64_t)m * accumulator->count + n,
                                       get_worst(gemm, packed, m, n), GROUT_DTYPE_F32,
                                       &accumulator->values[at]);
            }
        }
    }
    grout_non_finite__publish(cta->machine, &noted);
}

static void run_product(const grout_gemm *gemm, float *c, const packed_operands *packed) {
    const grout_sparse_tiles sparse = get_sparse(packed);
    const bool is_sparse = packed->metadata != NULL;
    if (gemm->scale_block != 0) {
        const grout_scaled_tiles scaled = {packed->tiles[0], packed->tiles[1], packed->scales[0],
                                           packed->scales[1], is_sparse ? &sparse : NULL};
        grout_scaled__run(gemm, c, &scaled);
    } else if (is_sparse) {
        grout_sparse__run(gemm, c, &sparse);
    } else {
        grout_gemm__run(gemm, c, packed->tiles[0], packed->tiles[1]);
    }
}

/* The product, watched. */
static void run_watched(const grout_cta *cta, const grout_origin *origin, const grout_gemm *gemm,
                        const grout_accumulator *accumulator, const packed_operands *packed) {
    grout_machine *machine = cta->machine;
    const size_t size =
        (size_t)accumulator->plan->rows * accumulator->count * sizeof *accumulator->values;
    float *before = grout_heap__take(&machine->heap, size);
    if (before == NULL) {
        machine->run.has_failed = true;
        return;
    }
    memcpy(before, accumulator->values, size);
    run_product(gemm, accumulator->values, packed);
    note_product(cta, origin, gemm, accumulator, before, packed);
    grout_heap__give(&machine->heap, before, size);
}

void grout_factors__multiply(const grout_cta *cta, const grout_origin *origin,
                             const grout_factors *its, const grout_accumulator *to, bool is_fresh) {
    const grout_product_plan *product = its->product;
    const grout_gemm *gemm = grout_pool__at(&cta->machine->plan->gemms, product->gemm);
    const grout_accumulator accumulator = *to;
    packed_operands packed = {.product = product,
                              .metadata = (const uint16_t *)(const void *)its->metadata,
                              .scales = its->scales};
    grout_operand__pack(cta, its->sources, packed.tiles);
    if (is_fresh) {
        grout_accumulator__clear_values(&accumulator);
    }
    if (cta->machine->launch.track_non_finite && !gemm->is_integer) {
        run_watched(cta, origin, gemm, &accumulator, &packed);
    } else {
        run_product(gemm, accumulator.values, &packed);
    }
    grout_accumulator__mark_product(&accumulator);
}

static void multiply(const grout_cta *cta, const grout_origin *origin, uint32_t thread,
                     const grout_factors *its, bool is_fresh) {
    const grout_product_plan *product = its->product;
    const grout_accumulator accumulator =
        grout_accumulator__get(cta, thread, product->accumulator, product->column, product->count);
    grout_factors__multiply(cta, origin, its, &accumulator, is_fresh);
}

/* The slot of the metadata, or of what says whether the accumulator counts. */
static const grout_slot *get_slot(const grout_cta *cta, const grout_inst *inst, bool is_metadata) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, inst);
    const uint32_t first = product->a.is_register ? 1 : 0;
    return grout_plan__slot(cta->machine->plan, inst,
                            first + (product->is_sparse && !is_metadata ? 1 : 0));
}

/* Whether the operand use_acc says now that the accumulator does not count. */
static bool is_fresh(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, inst);
    return product->has_use &&
           grout_slot__get_integer(cta, thread, get_slot(cta, inst, false)) == 0;
}

/* At its issue, with the boxes it has there. */
static void perform_now(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                        const grout_box *boxes) {
    grout_machine *machine = cta->machine;
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    grout_factors its = {.product = product};
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        its.sources[i] = (grout_operand_source){.plan = operand};
        if (operand->is_register) {
            its.sources[i].rows =
                grout_slot__data(cta, thread, grout_plan__slot(machine->plan, inst, 0));
        } else {
            its.sources[i].box = &boxes[get_box_index(inst, operand)];
        }
    }
    const grout_origin origin = grout_cta__origin(cta, thread, inst);
    if (product->is_sparse) {
        its.metadata = grout_slot__data(cta, thread, get_slot(cta, inst, true));
    }
    multiply(cta, &origin, thread, &its, is_fresh(cta, thread, inst));
}

/* Later, from what its record says. */
static void perform_flight(const grout_cta *cta, const grout_flight *flight) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = grout_flight__inst(machine, flight);
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    grout_factors its = {.product = product};
    grout_box boxes[2];
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        uint32_t slot = flight->bytes.operands[i];
        its.sources[i] = (grout_operand_source){.plan = operand, .box = &boxes[i]};
        if (!operand->is_register) {
            boxes[i] = grout_box__place(cta, grout_pool__at(&machine->plan->boxes, operand->box),
                                        flight->start[i]);
        }
        if (!operand->is_register && slot != 0) {
            grout_capture__read(cta, &boxes[i], slot);
        }
        if (slot != 0) {
            its.sources[i].rows = grout_slots__get(cta, slot);
        }
    }
    if (product->is_sparse) {
        its.metadata = grout_slots__get(cta, flight->bytes.operands[METADATA]);
    }
    multiply(cta, &flight->origin, flight->actor, &its, flight->is_fresh);
}

void grout_engine__land_wgmma(const grout_cta *cta, uint32_t index) {
    grout_flight *flight = grout_flight__get(cta->machine, index);
    if (!flight->is_void) {
        perform_flight(cta, flight);
    }
    for (uint32_t i = 0; i < GROUT_FLIGHT_SLOTS; i++) {
        if (flight->bytes.operands[i] != 0) {
            grout_slots__give(cta, flight->bytes.operands[i]);
        }
        flight->bytes.operands[i] = 0;
    }
}

void grout_wgmma__finish(const grout_cta *cta, uint32_t thread, uint32_t last) {
    grout_flight__finish_groups(cta, GROUT_ENGINE_WGMMA, thread, last);
}

/* ---- what becomes undefined ------------------------------------------------------------------
 */

/* The rows of M, or columns of N, that have an undefined element, become undefined. */
static void spoil(const grout_accumulator *accumulator, const grout_operand_plan *operand,
                  const uint8_t *mask, bool is_a) {
    uint32_t rows = operand->pack.rows;
    uint32_t cols =
        (uint32_t)(operand->bytes / rows) / grout_dtype_get_info(operand->pack.dtype)->bytes;
    uint32_t count = operand->has_mn_rows ? rows : cols;
    uint32_t depth = operand->has_mn_rows ? cols : rows;
    for (uint32_t i = 0; i < count; i++) {
        bool is_undefined = false;
        for (uint32_t k = 0; k < depth && !is_undefined; k++) {
            size_t at = operand->has_mn_rows ? (size_t)i * cols + k : (size_t)k * cols + i;
            is_undefined = mask[at] != 0;
        }
        if (is_undefined && is_a) {
            grout_accumulator__spoil_row(accumulator, i);
        } else if (is_undefined) {
            grout_accumulator__spoil_column(accumulator, i);
        }
    }
}

/* Which elements of an operand are undefined now, or NULL: none. */
static const uint8_t *get_mask(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               const grout_operand_plan *operand, const grout_box *boxes) {
    grout_machine *machine = cta->machine;
    if (operand->is_register) {
        const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
        return grout_slot__is_undefined(cta, thread, slot) ? grout_slot__mask(cta, thread, slot)
                                                           : NULL;
    }
    const grout_box *box = &boxes[get_box_index(inst, operand)];
    if (grout_box__is_defined(machine, box)) {
        return NULL;
    }
    memset(machine->mask_linear, 0, (size_t)box->plan->count);
    grout_box__get_undefined(machine, box, machine->mask_linear);
    grout_box__publish_unwritten(cta, thread, inst, box);
    return machine->mask_linear;
}

/* A row with a code that is undefined becomes undefined. */
static void spoil_by_metadata(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                              const grout_accumulator *accumulator) {
    const grout_slot *slot = get_slot(cta, inst, true);
    if (!grout_slot__is_undefined(cta, thread, slot)) {
        return;
    }
    const uint8_t *mask = grout_slot__mask(cta, thread, slot);
    const uint32_t rows = accumulator->plan->rows, words = slot->count / rows;
    for (uint32_t i = 0; i < rows * words; i++) {
        if (mask[i] != 0) {
            grout_accumulator__spoil_row(accumulator, i / words);
        }
    }
}

static void spread_undefined(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_box *boxes) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, inst);
    grout_accumulator accumulator =
        grout_accumulator__get(cta, thread, product->accumulator, product->column, product->count);
    if (is_fresh(cta, thread, inst)) {
        grout_accumulator__set_undefined(&accumulator, NULL);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        const uint8_t *mask = get_mask(cta, thread, inst, operand, boxes);
        if (mask != NULL) {
            spoil(&accumulator, operand, mask, i == 0);
        }
    }
    if (product->is_sparse) {
        spoil_by_metadata(cta, thread, inst, &accumulator);
    }
}

/* ---- metadata --------------------------------------------------------------------------------
 */

void grout_factors__check_metadata(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                   grout_metadata metadata) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, inst);
    const grout_gemm *gemm = grout_pool__at(&cta->machine->plan->gemms, product->gemm);
    const grout_sparse_problem problem = grout_sparse__find_problem(
        metadata.words, gemm->m, grout_sparse__count_words(gemm), gemm->group);
    if (problem.row_number != 0) {
        const grout_fault fault = {.code = GROUT_DIAG_SPARSE_METADATA,
                                   .start = (int64_t)metadata.first_row + problem.row_number - 1,
                                   .extent = (int64_t)problem.group * gemm->group,
                                   .have = problem.code,
                                   .need = gemm->group};
        grout_cta__fault(cta, actor, inst, METADATA_OPERAND, &fault);
    }
}

static void check_metadata(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slot = get_slot(cta, inst, true);
    if (!grout_slot__is_undefined(cta, thread, slot)) {
        const void *words = grout_slot__data(cta, thread, slot);
        grout_factors__check_metadata(cta, thread, inst, (grout_metadata){.words = words});
    }
}

/* ---- issue -----------------------------------------------------------------------------------
 */

/* Copies an operand in registers, or captures what must not be seen of one in SMEM. */
static uint32_t take_operand(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_operand_plan *operand, const grout_box *boxes) {
    if (!operand->is_register) {
        const uint32_t index = get_box_index(inst, operand);
        const grout_stamp read =
            get_stamp(cta, thread, grout_cta__thread(cta, thread)->wgmma_groups);
        return grout_capture__take_operand(cta, thread, inst, index, &boxes[index], &read);
    }
    uint32_t slot = grout_slots__take(cta);
    memcpy(grout_slots__get(cta, slot),
           grout_slot__data(cta, thread, grout_plan__slot(cta->machine->plan, inst, 0)),
           (size_t)operand->bytes);
    return slot;
}

static uint32_t take_metadata(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *from = get_slot(cta, inst, true);
    const uint32_t slot = grout_slots__take(cta);
    memcpy(grout_slots__get(cta, slot), grout_slot__data(cta, thread, from),
           (size_t)from->count * from->element_bytes);
    return slot;
}

static void put_in_flight(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const grout_box *boxes, bool is_void) {
    grout_machine *machine = cta->machine;
    grout_thread *owner = grout_cta__thread(cta, thread);
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    uint32_t slots[GROUT_FLIGHT_SLOTS] = {0};
    for (uint32_t i = 0; i < 2 && !is_void; i++) {
        slots[i] = take_operand(cta, thread, inst, get_operand(product, i), boxes);
    }
    if (product->is_sparse && !is_void) {
        slots[METADATA] = take_metadata(cta, thread, inst);
    }
    uint32_t index = grout_flight__add(cta, thread, inst, GROUT_ENGINE_WGMMA, cta->rank);
    if (index == 0) {
        return;
    }
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_void = is_void;
    flight->is_fresh = is_fresh(cta, thread, inst);
    memcpy(flight->bytes.operands, slots, sizeof slots);
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        if (!operand->is_register) {
            memcpy(flight->start[i], boxes[get_box_index(inst, operand)].start,
                   sizeof flight->start[i]);
        }
    }
    grout_flight__enqueue(cta, thread, owner->wgmma_groups, index);
    if (owner->wgmma_groups > FLIGHT_MAX) {
        grout_wgmma__finish(cta, thread, owner->wgmma_groups - FLIGHT_MAX);
    }
}

static void publish_complete(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_flight flight = grout_flight__describe(cta, thread, inst, GROUT_ENGINE_WGMMA);
    flight.group = grout_cta__thread(cta, thread)->wgmma_groups;
    grout_flight__publish_complete(cta, &flight);
}

void grout_wgmma__issue(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_thread *owner = grout_cta__thread(cta, thread);
    grout_box boxes[3];
    bool is_void = false;
    for (uint32_t i = 0; i < inst->box_count; i++) {
        boxes[i] = grout_box__resolve(cta, thread, inst, i);
        /* An operand that leaves its object is refused, and with it the product. */
        is_void |= !grout_box__check_inside(cta, thread, inst, &boxes[i]);
    }
    grout_stamp stamp = {
        .cluster = grout_cta__cluster(cta)->index,
        .component = grout_clock_wgmma(&machine->plan->shape, grout_cta__actor(cta, thread)),
        .number = ++owner->wgmma_groups,
        .agent = GROUT_AGENT_ENGINE};
    const grout_stamp stamps[2] = {stamp, stamp};
    const grout_issue issue = {
        .bytes = grout_engine__bytes_wgmma(machine, inst), .read = stamp, .write = stamp};
    grout_flight__publish_issue(cta, thread, inst, &issue);
    if (!is_void) {
        grout_access__publish(cta, thread, inst, boxes, stamps);
    }
    if (machine->tracks && !is_void) {
        spread_undefined(cta, thread, inst, boxes);
    }
    if (grout_plan__product(machine->plan, inst)->is_sparse && !is_void) {
        check_metadata(cta, thread, inst);
    }
    if (machine->is_lazy) {
        put_in_flight(cta, thread, inst, boxes, is_void);
        return;
    }
    if (!is_void) {
        perform_now(cta, thread, inst, boxes);
    }
    publish_complete(cta, thread, inst);
}

/* ---- waits -----------------------------------------------------------------------------------
 */

void grout_wgmma__wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                       uint32_t allowed) {
    grout_machine *machine = cta->machine;
    uint32_t issued = grout_cta__thread(cta, thread)->wgmma_groups;
    uint32_t done = issued > allowed ? issued - allowed : 0;
    if (grout_machine__wants(machine, GROUT_EVENT_WGMMA_WAIT)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_WGMMA_WAIT, thread, inst, &clocks);
        event.u.group.lane = grout_cta__actor(cta, thread);
        event.u.group.number = done;
        event.u.group.allowed = allowed;
        grout_machine__publish(machine, &event);
    }
    grout_wgmma__finish(cta, thread, done);
    uint32_t *known = grout_cta__clocks(cta, thread);
    grout_order__complete(&machine->plan->order, known,
                          grout_clock_wgmma(&machine->plan->shape, grout_cta__actor(cta, thread)),
                          done);
}

void grout_wgmma__poison_in_flight(const grout_cta *cta, uint32_t thread, const grout_box *box,
                                   void *array) {
    const grout_machine *machine = cta->machine;
    const grout_box_plan *plan = box->plan;
    uint32_t index = grout_flight__queue(cta, GROUT_ENGINE_WGMMA, thread)->first;
    for (; index != 0; index = grout_flight__get(machine, index)->queue_next) {
        const grout_inst *inst = grout_flight__inst(machine, grout_flight__get(machine, index));
        const grout_product_plan *product = grout_plan__product(machine->plan, inst);
        int64_t low = (int64_t)product->column - plan->start[1], high = low + product->count;
        low = low < 0 ? 0 : low;
        high = high > plan->extent[1] ? plan->extent[1] : high;
        if (grout_plan__accumulator(machine->plan, product->accumulator)->object != plan->object ||
            low >= high) {
            continue;
        }
        for (int64_t row = 0; row < plan->extent[0]; row++) {
            grout_fill_poison(
                plan->dtype, (uint8_t *)array + (row * plan->extent[1] + low) * plan->element_bytes,
                high - low);
        }
    }
}
