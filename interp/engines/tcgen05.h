/*
 * tcgen05.h - the tensor core of Blackwell and tensor memory: MMAs of a lane in the order of their
 * issue, arrivals that wait for them, loads and stores of a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_TCGEN05_H
#define GROUT_INTERP_TCGEN05_H

#include "flight.h"
#include "memory.h"

/* Whether the CTA may issue an op that is for both CTAs of a pair; if not, it is a finding. */
bool grout_tcgen05__check_leader(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* An MMA: faults, events, definedness, its effect if it is due. */
void grout_tcgen05__issue(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* A copy from SMEM to tensor memory, in the same queue. */
void grout_tcgen05__copy(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* One arrival on an element of each CTA of some ranks, when all MMAs of the actor's lane so far are
 * done. */
void grout_tcgen05__commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           uint32_t element, uint32_t ranks);

/* A load of tensor memory into the result; the memory is in use until the wait. */
void grout_tmem__load(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
void grout_tmem__wait_loads(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* A store, done at the wait. */
void grout_tmem__store(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
void grout_tmem__wait_stores(const grout_cta *cta, uint32_t thread, const grout_inst *inst);

/* ---- what MMAs and copies share ----------------------------------------------------------------
 */

/* Their boxes: of an MMA the accumulator, a, b, and then metadata and scales, what it has of them;
 * of a copy source and destination. */
enum {
    GROUT_TCGEN05_BOX_ACC,
    GROUT_TCGEN05_BOX_A,
    GROUT_TCGEN05_BOX_B,
    GROUT_TCGEN05_BOX_TABLE,
    GROUT_TCGEN05_BOXES_MAX = GROUT_TCGEN05_BOX_TABLE + 3,
    GROUT_TCGEN05_BOX_SOURCE = 0,
    GROUT_TCGEN05_BOX_DESTINATION = 1
};

static inline bool grout_tcgen05__is_copy(const grout_inst *inst) {
    return grout_op_get_info((grout_opcode)inst->opcode)->rule == GROUT_RULE_TCGEN05_COPY;
}
/* The box that it writes, and where a flight keeps the start of a box: start[2] of what it writes,
 * the first two of operands in SMEM, then the others. */
static inline uint32_t grout_tcgen05__get_target(const grout_inst *inst) {
    return grout_tcgen05__is_copy(inst) ? (uint32_t)GROUT_TCGEN05_BOX_DESTINATION
                                        : (uint32_t)GROUT_TCGEN05_BOX_ACC;
}
static inline uint32_t grout_tcgen05__get_place(const grout_inst *inst, uint32_t box) {
    const uint32_t target = grout_tcgen05__get_target(inst);
    return box == target ? 2 : box >= GROUT_TCGEN05_BOX_TABLE ? box : box - (target == 0 ? 1 : 0);
}

typedef grout_box grout_tcgen05_boxes[GROUT_TCGEN05_BOXES_MAX];
/* CTAs in which it works: that which issues it, or both of a pair. */
static inline uint32_t grout_tcgen05__count_ctas(const grout_inst *inst) {
    return (inst->attrs & GROUT_ATTR_BIT(COLLECTIVE_AXIS)) != 0 ? GROUT_PAIR : 1;
}
/* The one whose rank is this many more than that of the one which issues. */
static inline const grout_cta *grout_tcgen05__get_member(const grout_cta *cta, uint32_t index) {
    return grout_cta__peer(cta, cta->rank + index);
}
/* Its boxes in each of these, its number in the queue of the lane, ISSUE and ACCESS; false: it
 * leaves an object, and moves nothing. */
bool grout_tcgen05__begin(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                          grout_tcgen05_boxes *boxes_out);
/* The lane knows that the one of this number has been issued. */
void grout_tcgen05__note_issue(const grout_cta *cta, uint32_t actor, uint32_t lane,
                               uint32_t number);
/* What else a flight says: slots of captured operands, whether it moves nothing, whether what the
 * accumulator held does not count, and the CTAs in which there are codes of a sparse a to look at.
 */
typedef struct grout_tcgen05_flight {
    uint32_t slots[GROUT_FLIGHT_SLOTS];
    bool is_void, is_fresh;
    uint8_t coded_ctas;
} grout_tcgen05_flight;
/* At the issue of the lane's latest one: the bytes of an operand in SMEM that are not published to
 * it, in a slot; 0 if all are. */
uint32_t grout_tcgen05__capture(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                uint32_t box_index, const grout_box *box);
/* In flight, with the boxes it has at its issue. */
void grout_tcgen05__put_in_flight(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                  const grout_box *boxes, const grout_tcgen05_flight *as);
/* The lane's latest one is done, at its issue. */
void grout_tcgen05__publish_complete(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
/* A copy that is in flight takes effect. */
void grout_tcgen05__land_copy(const grout_cta *cta, const grout_flight *flight);

#endif
