/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * flow.h - where values that depend on the schedule come from, and where they go; private to
 * race_checker/.
 *
 * Such values come from semaphore_read, from atomics that return what was there, and from memory
 * that is combined in the order of arrival: float sums, exchanges, different atomics on one object.
 * Whether a value is defined may depend on the schedule as well: a select by such a value may take
 * the side that is undefined, and an exchange may come before or after the atomic that reads. Both
 * spread over values and, an object at a time, through memory, until nothing changes; control need
 * not be followed, since a branch that they reach decides the run (taint.c). Ops that publish
 * events count only if they ran.
 */
#ifndef GROUT_RACE_CHECKER_FLOW_H
#define GROUT_RACE_CHECKER_FLOW_H

#include "checker.h"

/* What is followed. */
typedef enum grout_trait {
    GROUT_TRAIT_VALUE,     /* which value it is depends on the schedule */
    GROUT_TRAIT_DEFINED,   /* whether it is defined does */
    GROUT_TRAIT_UNDEFINED, /* it may be undefined under every schedule; without a checker only */
    GROUT_TRAIT_COUNT
} grout_trait;

/* The first members are set by the caller, the others by run. */
typedef struct grout_flow {
    const grout_allocator *allocator;
    const grout_module *module;
    grout_kernel_id kernel;
    const grout_checker *checker; /* knows which ops have run, and what they met; NULL: all may */
    grout_object_id only;         /* sources are those of this object alone; 0: of all */
    grout_op_id read;             /* what is followed instead: this op's value; 0: no */
    /* or these, by op, all at once: what has it from several has it from the first of them. NULL */
    const uint8_t *reads;
    /* read is a loop: of what it hands on the value with this number, from its second turn on */
    uint32_t carried;
    /* by trait; what each has it from: an op that is a source; 0: it has it not */
    grout_op_id *values[GROUT_TRAIT_COUNT], *objects[GROUT_TRAIT_COUNT];
    uint32_t *kinds; /* of an object: what it meets, as bits (get_kind) */
    bool has_changed;
    bool has_marks; /* something has a trait; else there is nothing to look for */
} grout_flow;

/* A source that is no operation of this launch: what an earlier one left. NULL: it is one. */
const grout_chance *grout_flow__get_chance(const grout_checker *checker, grout_op_id source);

/* Which of two sources counts, of which any may be 0: the first one, or, of reads, the one that
 * comes first in the module. */
grout_op_id grout_flow__choose(const grout_flow *it, grout_op_id a, grout_op_id b);

/* Follows everything. False without memory; deinit it all the same. */
bool grout_flow__run(grout_flow *it);
void grout_flow__deinit(grout_flow *it);

bool grout_flow__is_in_kernel(const grout_flow *it, grout_op_id id);
/* The source of an operand, a value or all of an object; of any operand of the op. 0: none. */
grout_op_id grout_flow__find_operand(const grout_flow *it, const grout_op *op, uint32_t index,
                                     grout_trait trait);
grout_op_id grout_flow__find_input(const grout_flow *it, const grout_op *op, grout_trait trait);
/* What an operand is: a grout_letter_kind. */
uint8_t grout_flow__get_letter_kind(const grout_op *op, uint32_t operand);
/* Operands of an op of blocks in front of those that it carries or yields: they decide what runs.
 */
uint32_t grout_flow__get_lead_count(const grout_op *op);

#endif
