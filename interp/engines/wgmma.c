/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.c - issue and performance of wgmmas.
 *
 * Eager: performed at issue. Lazy: at the wait that covers the group, or the exit of the thread, or
 * the end of a scope whose object it uses. Random: at a scheduling point drawn from the seed, never
 * later than lazy. Operands in SMEM are read when the group is performed, but for plain stores that
 * were not published at the issue: of those it reads the old bytes. Operands in registers are read
 * at the issue. What is undefined afterwards is decided at the issue, whatever the timing.
 */
#include "wgmma.h"
#include "access.h"

#include "accumulator.h"
#include "convert.h"
#include "issue.h"
#include "operand.h"

#include <string.h>

/* A thread's groups in flight; past that the oldest is performed, which is legal at any time. */
#define FLIGHT_MAX 64

static const grout_operand_plan *get_operand(const grout_product_plan *product, uint32_t which) {
    return which == 0 ? &product->a : &product->b;
}

/* Which of the instruction's boxes an operand is. */
static uint32_t get_box_index(const grout_inst *inst, const grout_operand_plan *operand) {
    return operand->box - inst->first_box;
}

int64_t grout_wgmma__get_bytes(const grout_machine *machine, const grout_inst *inst) {
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    return (product->a.is_register ? 0 : product->a.bytes) + product->b.bytes;
}

/* ---- performance -----------------------------------------------------------------------------
 */

static void multiply(grout_machine *machine, uint32_t thread, const grout_product_plan *product,
                     const grout_operand_source sources[2]) {
    const grout_gemm *gemm = grout_pool__at(&machine->plan->gemms, product->gemm);
    grout_accumulator accumulator = grout_accumulator__get(machine, thread, product->accumulator,
                                                           product->column, product->count);
    const float *packed[2];
    grout_operand__pack(machine, sources, packed);
    grout_gemm__run(gemm, accumulator.values, packed[0], packed[1]);
    grout_accumulator__mark_product(&accumulator);
}

/* At its issue, with the boxes it has there. */
static void perform_now(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                        const grout_box *boxes) {
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    grout_operand_source sources[2];
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        sources[i] = (grout_operand_source){.plan = operand};
        if (operand->is_register) {
            sources[i].rows =
                grout_slot__data(machine, thread, grout_plan__slot(machine->plan, inst, 0));
        } else {
            sources[i].box = &boxes[get_box_index(inst, operand)];
        }
    }
    multiply(machine, thread, product, sources);
}

/* Later, from what its record says. */
static void perform_flight(grout_machine *machine, uint32_t index) {
    grout_async *async = grout_machine__async(machine, index);
    const grout_inst *inst = grout_plan__inst(machine->plan, async->pc);
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    grout_operand_source sources[2];
    grout_box boxes[2];
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        uint32_t stale = i == 0 ? GROUT_ASYNC_STALE : GROUT_ASYNC_STALE_B;
        sources[i] = (grout_operand_source){.plan = operand, .box = &boxes[i]};
        if (!operand->is_register) {
            boxes[i] = grout_box__place(
                machine, grout_pool__at(&machine->plan->boxes, operand->box), async->start[i]);
        }
        if ((async->flags & stale) != 0) {
            grout_tma__read_captured(machine, &boxes[i], async->payload[i]);
        }
        if (async->payload[i] != 0) {
            sources[i].rows = grout_tma__get_payload(machine, async->payload[i]);
        }
    }
    multiply(machine, async->actor, product, sources);
}

static void finish_first(grout_machine *machine, grout_thread *owner) {
    uint32_t index = owner->first_wgmma;
    grout_async *async = grout_machine__async(machine, index);
    if ((async->flags & GROUT_ASYNC_VOID) == 0) {
        perform_flight(machine, index);
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (async->payload[i] != 0) {
            grout_tma__give_payload(machine, async->payload[i]);
        }
        async->payload[i] = 0;
    }
    owner->first_wgmma = async->peer;
    owner->last_wgmma = owner->first_wgmma == 0 ? 0 : owner->last_wgmma;
    grout_tma__end_flight(machine, index);
    grout_pool__give(&machine->asyncs, index);
}

void grout_wgmma__finish(grout_machine *machine, uint32_t thread, uint32_t last) {
    grout_thread *owner = grout_machine__thread(machine, thread);
    while (owner->first_wgmma != 0 &&
           grout_machine__async(machine, owner->first_wgmma)->group <= last) {
        finish_first(machine, owner);
    }
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
static const uint8_t *get_mask(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                               const grout_operand_plan *operand, const grout_box *boxes) {
    if (operand->is_register) {
        const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
        return grout_slot__is_undefined(machine, thread, slot)
                   ? grout_slot__mask(machine, thread, slot)
                   : NULL;
    }
    const grout_box *box = &boxes[get_box_index(inst, operand)];
    if (grout_box__is_defined(machine, box)) {
        return NULL;
    }
    memset(machine->mask_linear, 0, (size_t)box->plan->count);
    grout_box__get_undefined(machine, box, machine->mask_linear);
    return machine->mask_linear;
}

static void spread_undefined(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                             const grout_box *boxes) {
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    grout_accumulator accumulator = grout_accumulator__get(machine, thread, product->accumulator,
                                                           product->column, product->count);
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        const uint8_t *mask = get_mask(machine, thread, inst, operand, boxes);
        if (mask != NULL) {
            spoil(&accumulator, operand, mask, i == 0);
        }
    }
}

/* ---- issue -----------------------------------------------------------------------------------
 */

/* An operand that leaves its object is refused, and with it the product. */
static bool check_box(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                      const grout_box *box) {
    if (box->is_inside) {
        return true;
    }
    uint32_t dim = box->outside;
    grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                         .object = box->plan->object,
                         .dimension = dim,
                         .start = box->start[dim],
                         .extent = box->plan->extent[dim],
                         .limit = box->plan->dims[dim]};
    grout_machine__fault(machine, thread, inst, box->plan->operand, &fault);
    return false;
}

/* Copies an operand in registers, or captures what must not be seen of one in SMEM. */
static uint32_t take_operand(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                             const grout_operand_plan *operand, const grout_box *boxes) {
    if (!operand->is_register) {
        return grout_tma__capture(machine, thread, &boxes[get_box_index(inst, operand)]);
    }
    uint32_t slot = grout_tma__take_payload(machine);
    memcpy(grout_tma__get_payload(machine, slot),
           grout_slot__data(machine, thread, grout_plan__slot(machine->plan, inst, 0)),
           (size_t)operand->bytes);
    return slot;
}

static void put_in_flight(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                          const grout_box *boxes, bool is_void) {
    grout_thread *owner = grout_machine__thread(machine, thread);
    const grout_product_plan *product = grout_plan__product(machine->plan, inst);
    uint32_t payload[2] = {0, 0};
    for (uint32_t i = 0; i < 2 && !is_void; i++) {
        payload[i] = take_operand(machine, thread, inst, get_operand(product, i), boxes);
    }
    uint32_t index = grout_tma__add_flight(machine, thread, inst);
    if (index == 0) {
        return;
    }
    grout_async *async = grout_machine__async(machine, index);
    async->flags = GROUT_ASYNC_WGMMA | (is_void ? (uint32_t)GROUT_ASYNC_VOID : 0);
    async->group = owner->wgmma_groups;
    for (uint32_t i = 0; i < 2; i++) {
        const grout_operand_plan *operand = get_operand(product, i);
        async->payload[i] = payload[i];
        if (!operand->is_register) {
            uint32_t stale = i == 0 ? GROUT_ASYNC_STALE : GROUT_ASYNC_STALE_B;
            async->flags |= payload[i] != 0 ? stale : 0;
            memcpy(async->start[i], boxes[get_box_index(inst, operand)].start,
                   sizeof async->start[i]);
        }
    }
    if (owner->last_wgmma != 0) {
        grout_machine__async(machine, owner->last_wgmma)->peer = index;
    } else {
        owner->first_wgmma = index;
    }
    owner->last_wgmma = index;
    if (owner->wgmma_groups > FLIGHT_MAX) {
        grout_wgmma__finish(machine, thread, owner->wgmma_groups - FLIGHT_MAX);
    }
}

static void publish_complete(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_async async = {.pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0)),
                         .actor = thread,
                         .group = grout_machine__thread(machine, thread)->wgmma_groups,
                         .flags = GROUT_ASYNC_WGMMA,
                         .serial = grout_machine__cta(machine)->async_serial - 1,
                         .origin = grout_machine__origin(machine, thread, inst)};
    if (grout_machine__wants(machine, GROUT_EVENT_COMPLETE)) {
        grout_tma__publish_complete(machine, &async);
    }
}

void grout_wgmma__issue(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_thread *owner = grout_machine__thread(machine, thread);
    grout_box boxes[3];
    bool is_void = false;
    for (uint32_t i = 0; i < inst->box_count; i++) {
        boxes[i] = grout_box__resolve(machine, thread, inst, i);
        is_void |= !check_box(machine, thread, inst, &boxes[i]);
    }
    grout_stamp stamp = {
        .cluster = grout_machine__cluster(machine)->index,
        .component = grout_clock_wg(&machine->plan->shape, grout_machine__actor(machine, thread)),
        .number = ++owner->wgmma_groups,
        .agent = GROUT_AGENT_ENGINE};
    const grout_stamp stamps[2] = {stamp, stamp};
    const grout_issue issue = {
        .bytes = grout_wgmma__get_bytes(machine, inst), .read = stamp, .write = stamp};
    grout_tma__publish_issue(machine, thread, inst, &issue);
    if (!is_void) {
        grout_access__publish(machine, thread, inst, boxes, stamps);
    }
    if (machine->tracks && !is_void) {
        spread_undefined(machine, thread, inst, boxes);
    }
    if (machine->is_lazy) {
        put_in_flight(machine, thread, inst, boxes, is_void);
        return;
    }
    if (!is_void) {
        perform_now(machine, thread, inst, boxes);
    }
    publish_complete(machine, thread, inst);
}

/* ---- waits -----------------------------------------------------------------------------------
 */

void grout_wgmma__wait(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                       uint32_t allowed) {
    uint32_t issued = grout_machine__thread(machine, thread)->wgmma_groups;
    uint32_t done = issued > allowed ? issued - allowed : 0;
    if (grout_machine__wants(machine, GROUT_EVENT_WGMMA_WAIT)) {
        grout_clocks clocks;
        grout_event event =
            grout_machine__event(machine, GROUT_EVENT_WGMMA_WAIT, thread, inst, &clocks);
        event.u.group.lane = grout_machine__actor(machine, thread);
        event.u.group.number = done;
        event.u.group.allowed = allowed;
        grout_machine__publish(machine, &event);
    }
    grout_wgmma__finish(machine, thread, done);
    uint32_t *known = grout_machine__clocks(machine, thread);
    grout_order__raise(
        &known[grout_clock_wg(&machine->plan->shape, grout_machine__actor(machine, thread))], done);
}

void grout_wgmma__poison_in_flight(const grout_machine *machine, uint32_t thread,
                                   const grout_box *box, void *array) {
    const grout_box_plan *plan = box->plan;
    uint32_t index = grout_machine__thread(machine, thread)->first_wgmma;
    for (; index != 0; index = grout_machine__async(machine, index)->peer) {
        const grout_inst *inst =
            grout_plan__inst(machine->plan, grout_machine__async(machine, index)->pc);
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
