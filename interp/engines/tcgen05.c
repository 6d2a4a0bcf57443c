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
#include "barrier.h"
#include "capture.h"
#include "engine.h"
#include "wgmma.h"

#include <string.h>

/* A lane's MMAs in flight; past that the oldest is performed, which is legal at any time. */
#define FLIGHT_MAX 64

enum { BOX_ACC, BOX_A, BOX_B, BOXES };

static grout_stamp get_stamp(const grout_cta *cta, uint32_t lane, uint32_t number) {
    return (grout_stamp){.cluster = grout_cta__cluster(cta)->index,
                         .component =
                             grout_clock_tc(&cta->machine->plan->shape, cta->lane_base + lane),
                         .number = number,
                         .agent = GROUT_AGENT_ENGINE};
}

int64_t grout_engine__bytes_tcgen05(const grout_machine *machine, const grout_inst *inst) {
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

static grout_accumulator_plan get_shape(const grout_cta *cta, const grout_inst *inst) {
    const grout_product_plan *product = grout_plan__product(cta->machine->plan, inst);
    const grout_gemm *gemm = grout_pool__at(&cta->machine->plan->gemms, product->gemm);
    return (grout_accumulator_plan){.dtype =
                                        grout_plan__box(cta->machine->plan, inst, BOX_ACC)->dtype,
                                    .rows = gemm->m,
                                    .cols = gemm->n};
}

/* An MMA that is performed: its boxes, and what was captured of its operands in SMEM. */
typedef struct mma {
    const grout_inst *inst;
    const grout_origin *origin;
    const grout_box *boxes;
    const uint8_t *captured[2]; /* or NULL */
    bool is_fresh;
} mma;

static void perform(const grout_cta *cta, const mma *it) {
    grout_machine *machine = cta->machine;
    const grout_product_plan *product = grout_plan__product(machine->plan, it->inst);
    const grout_accumulator_plan shape = get_shape(cta, it->inst);
    const grout_accumulator sums = make_sums(machine, &shape);
    grout_factors factors = {.product = product,
                             .sources = {{.plan = &product->a, .box = &it->boxes[BOX_A]},
                                         {.plan = &product->b, .box = &it->boxes[BOX_B]}}};
    factors.sources[0].rows = it->captured[0];
    factors.sources[1].rows = it->captured[1];
    grout_box__gather(machine, &it->boxes[BOX_ACC], machine->linear);
    grout_accumulator__store(&sums, machine->linear);
    if (product->a.is_register) { /* it lies in tensor memory */
        grout_box__gather(machine, &it->boxes[BOX_A], machine->linear);
        factors.sources[0].rows = machine->linear;
    }
    grout_factors__multiply(cta, it->origin, &factors, &sums, it->is_fresh);
    grout_accumulator__load(&sums, machine->linear);
    grout_box__scatter(machine, &it->boxes[BOX_ACC], machine->linear);
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
    const int64_t *const starts[BOXES] = {flight->start[2], flight->start[0], flight->start[1]};
    grout_box boxes[BOXES];
    mma it = {
        .inst = inst, .origin = &flight->origin, .boxes = boxes, .is_fresh = flight->is_fresh};
    for (uint32_t i = 0; i < BOXES; i++) {
        boxes[i] = grout_box__place(cta, grout_plan__box(machine->plan, inst, i), starts[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t slot = flight->bytes.operands[i];
        if (slot != 0) {
            grout_capture__read(cta, &boxes[BOX_A + i], slot);
            it.captured[i] = grout_slots__get(cta, slot);
        }
    }
    perform(cta, &it);
}

/* Whether two MMAs in flight add to the same columns. */
static bool share_columns(const grout_machine *machine, const grout_flight *a,
                          const grout_flight *b) {
    const grout_box_plan *first = grout_plan__box(machine->plan, grout_flight__inst(machine, a), 0);
    const grout_box_plan *then = grout_plan__box(machine->plan, grout_flight__inst(machine, b), 0);
    const uint32_t column = first->rank - 1u;
    return first->object == then->object &&
           memcmp(a->start[2], b->start[2], column * sizeof a->start[2][0]) == 0 &&
           a->start[2][column] < b->start[2][column] + then->extent[column] &&
           b->start[2][column] < a->start[2][column] + first->extent[column];
}

/* The tensor core is one: what other lanes have issued before on the same columns it does first.
 * (Each lane's own MMAs are in order as they are.) */
static void perform_earlier(const grout_cta *cta, uint32_t index) {
    const grout_machine *machine = cta->machine;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0 && i != index;) {
        const grout_flight *other = grout_flight__get(machine, i);
        const grout_flight *own = grout_flight__get(machine, index);
        if (other->engine == GROUT_ENGINE_TCGEN05 && other->owner != own->owner &&
            !other->is_void && share_columns(machine, other, own)) {
            grout_flight__finish_groups(cta, GROUT_ENGINE_TCGEN05, other->owner, other->group);
            i = grout_cta__head(cta)->first_flight;
        } else {
            i = other->next;
        }
    }
}

void grout_engine__land_tcgen05(const grout_cta *cta, uint32_t index) {
    grout_flight *flight = grout_flight__get(cta->machine, index);
    if (!flight->is_void) {
        perform_earlier(cta, index);
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

/* The rows of M, or columns of N, that have an undefined element, become undefined. */
static void spoil(const grout_cta *cta, const grout_accumulator *sums,
                  const grout_operand_plan *operand, const grout_box *box, bool is_a) {
    grout_machine *machine = cta->machine;
    if (grout_box__is_defined(machine, box)) {
        return;
    }
    const uint32_t rows = operand->pack.rows, cols = (uint32_t)(box->plan->count / rows);
    memset(machine->mask_linear, 0, (size_t)box->plan->count);
    grout_box__get_undefined(machine, box, machine->mask_linear);
    for (uint32_t i = 0; i < rows * cols; i++) {
        const uint32_t place = operand->has_mn_rows ? i / cols : i % cols;
        if (machine->mask_linear[i] != 0 && is_a) {
            grout_accumulator__spoil_row(sums, place);
        } else if (machine->mask_linear[i] != 0) {
            grout_accumulator__spoil_column(sums, place);
        }
    }
}

static void spread_undefined(const grout_cta *cta, const grout_inst *inst, const grout_box *boxes,
                             bool is_new) {
    grout_machine *machine = cta->machine;
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    const grout_accumulator_plan shape = get_shape(cta, inst);
    const grout_accumulator sums = make_sums(machine, &shape);
    const grout_box *acc = &boxes[BOX_ACC];
    grout_accumulator__set_undefined(&sums, NULL);
    memset(sums.masks, 0, (size_t)(shape.rows + 63) / 64 * shape.cols * sizeof *sums.masks);
    if (!is_new && !grout_box__is_defined(machine, acc)) {
        memset(machine->mask_linear, 0, (size_t)acc->plan->count);
        grout_box__get_undefined(machine, acc, machine->mask_linear);
        grout_accumulator__set_undefined(&sums, machine->mask_linear);
    }
    spoil(cta, &sums, &product->a, &boxes[BOX_A], true);
    spoil(cta, &sums, &product->b, &boxes[BOX_B], false);
    const bool is_undefined = grout_accumulator__get_undefined(&sums, machine->mask_linear);
    grout_box__set_written(machine, acc, is_undefined ? machine->mask_linear : NULL);
}

/* ---- issue ----------------------------------------------------------------------------------- */

static void put_in_flight(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                          const grout_box *boxes, bool is_void) {
    grout_machine *machine = cta->machine;
    const uint32_t lane = grout_machine__lane_of(machine, actor);
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    uint32_t slots[GROUT_FLIGHT_SLOTS] = {0};
    for (uint32_t i = 0; i < 2 && !is_void; i++) {
        const bool is_in_smem = i == 1 || !product->a.is_register;
        slots[i] = is_in_smem ? grout_capture__take(cta, actor, &boxes[BOX_A + i], cta->rank) : 0;
    }
    const uint32_t index = grout_flight__add(cta, actor, inst, GROUT_ENGINE_TCGEN05, cta->rank);
    if (index == 0) {
        return;
    }
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_void = is_void;
    flight->is_fresh = is_fresh(cta, actor, inst);
    memcpy(flight->bytes.operands, slots, sizeof slots);
    memcpy(flight->start[0], boxes[BOX_A].start, sizeof flight->start[0]);
    memcpy(flight->start[1], boxes[BOX_B].start, sizeof flight->start[1]);
    memcpy(flight->start[2], boxes[BOX_ACC].start, sizeof flight->start[2]);
    const uint32_t issued = grout_cta__lane(cta, lane)->mmas;
    grout_flight__enqueue(cta, lane, issued, index);
    if (issued > FLIGHT_MAX) {
        grout_flight__finish_groups(cta, GROUT_ENGINE_TCGEN05, lane, issued - FLIGHT_MAX);
    }
}

static void publish_complete(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                             uint32_t number) {
    grout_flight flight = grout_flight__describe(cta, actor, inst, GROUT_ENGINE_TCGEN05);
    flight.group = number;
    grout_flight__publish_complete(cta, &flight);
}

/* Its lane knows that it has been issued. */
static void note_issue(const grout_cta *cta, uint32_t actor, uint32_t lane, uint32_t number) {
    const grout_order *order = &cta->machine->plan->order;
    uint32_t *admitted = grout_order__get_admitted(order, grout_cta__clocks(cta, actor));
    grout_order__raise(&admitted[grout_clock_admitted_is(&order->shape, cta->lane_base + lane)],
                       number);
}

void grout_tcgen05__issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const uint32_t lane = grout_machine__lane_of(machine, actor);
    grout_box boxes[BOXES];
    bool is_void = false;
    for (uint32_t i = 0; i < BOXES; i++) {
        boxes[i] = grout_box__resolve(cta, actor, inst, i);
        /* An operand that leaves its object is refused, and with it the product. */
        is_void |= !grout_box__check_inside(cta, actor, inst, &boxes[i]);
    }
    const uint32_t number = ++grout_cta__lane(cta, lane)->mmas;
    const grout_stamp stamps[2] = {get_stamp(cta, lane, number), get_stamp(cta, lane, number)};
    const grout_issue issue = {
        .bytes = grout_engine__bytes_tcgen05(machine, inst), .read = stamps[0], .write = stamps[1]};
    grout_flight__publish_issue(cta, actor, inst, &issue);
    if (!is_void) {
        grout_access__publish(cta, actor, inst, boxes, stamps);
    }
    note_issue(cta, actor, lane, number);
    if (machine->tracks && !is_void) {
        spread_undefined(cta, inst, boxes, is_fresh(cta, actor, inst));
    }
    if (machine->is_lazy) {
        put_in_flight(cta, actor, inst, boxes, is_void);
        return;
    }
    if (!is_void) {
        const grout_origin origin = grout_cta__origin(cta, actor, inst);
        const mma it = {.inst = inst,
                        .origin = &origin,
                        .boxes = boxes,
                        .is_fresh = is_fresh(cta, actor, inst)};
        perform(cta, &it);
    }
    publish_complete(cta, actor, inst, number);
}

/* ---- commits --------------------------------------------------------------------------------- */

/* An arrival that waits for MMAs, in flight. */
static void start_commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                         const grout_arrival *arrival, uint32_t record) {
    const uint32_t index =
        grout_flight__add(cta, actor, inst, GROUT_ENGINE_TCGEN05_COMMIT, cta->rank);
    if (index != 0) {
        grout_flight *flight = grout_flight__get(cta->machine, index);
        flight->is_part = true;
        flight->group = arrival->mmas;
        flight->phase.bytes = arrival->bytes;
        grout_flight__attach(cta, arrival->element, record, index);
    }
}

/* All MMAs of the lane up to the commit. */
void grout_engine__land_tcgen05_commit(const grout_cta *cta, uint32_t index) {
    const grout_flight *flight = grout_flight__get(cta->machine, index);
    grout_flight__finish_groups(cta, GROUT_ENGINE_TCGEN05,
                                grout_machine__lane_of(cta->machine, flight->actor), flight->group);
}

int64_t grout_engine__bytes_tcgen05_commit(const grout_machine *machine, const grout_inst *inst) {
    (void)machine;
    (void)inst;
    return 0;
}

void grout_engine__stamps_tcgen05_commit(const grout_cta *cta, const grout_flight *flight,
                                         grout_stamp *read_out, grout_stamp *write_out) {
    grout_engine__stamps_tcgen05(cta, flight, read_out, write_out);
}

/* The arrival counts for the phase that is open now. The phase stays open until the MMAs are done:
 * it waits for one byte, which the last of them brings. */
void grout_tcgen05__commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           uint32_t element) {
    const grout_machine *machine = cta->machine;
    const uint32_t lane = grout_machine__lane_of(machine, actor);
    const grout_arrival arrival = {.rank = cta->rank,
                                   .element = element,
                                   .count = 1,
                                   .is_deferred = true,
                                   .bytes = 1,
                                   .order = inst->order,
                                   .scope = inst->edge_scope,
                                   .is_tensor = true,
                                   .lane = cta->lane_base + lane,
                                   .mmas = grout_cta__lane(cta, lane)->mmas};
    const uint32_t record = grout_barrier__arrive(cta, actor, inst, &arrival);
    if (record == 0) {
        return;
    }
    if (machine->is_lazy) {
        start_commit(cta, actor, inst, &arrival, record);
    } else {
        grout_barrier__land(cta, element, record, arrival.bytes);
    }
}
