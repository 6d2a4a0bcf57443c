/*
 * planner.h - the state of lowering, shared by the plan_*.c files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PLANNER_H
#define GROUT_INTERP_PLANNER_H

#include "plan.h"

/* Free bytes of the registers, and who is freed when. */
typedef struct grout_span {
    uint32_t offset, size;
} grout_span;

typedef struct grout_planner {
    grout_plan *plan;
    const grout_module *module;
    const grout_kernel *kernel;
    const grout_launch *launch;
    grout_diags *diags;
    bool failed; /* without memory, or refused */
    /* plan_live.c: positions count ops in the order of the text, begin and end of each */
    uint32_t position;
    uint32_t *op_begin, *op_end;  /* by op */
    uint32_t *defined, *last_use; /* by value */
    uint32_t *expire_next;        /* by value: others that end at the same position */
    uint32_t *expire_first;       /* by position */
    uint32_t position_count;
    /* plan_slots.c */
    grout_slot *value_slots; /* by value */
    grout_pool spans;        /* grout_span, sorted by offset */
    /* plan_lower.c */
    uint32_t loop_depth;
    uint32_t *object_params;   /* by object: parameter of a gmem array, plus 1 */
    uint32_t *object_elements; /* by object: first barrier element */
} grout_planner;

/* plan_live.c: when values are born and die. */
bool grout_planner__find_lives(grout_planner *planner);

/* plan_slots.c: registers. A slot lives until its value's last use. */
grout_slot grout_planner__add_slot(grout_planner *planner, const grout_type *type);
void grout_planner__define(grout_planner *planner, grout_value_id value);
/* Frees what dies at this position. */
void grout_planner__expire(grout_planner *planner, uint32_t position);
/* The slot of a VALUE or EXPR operand. */
grout_slot grout_planner__get_operand(grout_planner *planner, const grout_operand *operand);
/* A new constant. */
grout_slot grout_planner__add_constant(grout_planner *planner, grout_dtype dtype, uint64_t bits);

/* plan_box.c: a reference operand; its index in the plan's boxes, or 0. */
uint32_t grout_planner__add_box(grout_planner *planner, const grout_operand *operand,
                                uint32_t index);
/* The pieces of a copy between two boxes at home; fills the instruction's transfers. */
void grout_planner__add_transfers(grout_planner *planner, uint32_t inst);

/* plan_lower.c: the instructions of a block and all inside it. */
void grout_planner__lower_block(grout_planner *planner, grout_block_id block);

/* exec_elementwise.c: the loop of an ALU op for an element type of its operands; NULL if none. */
grout_loop *grout_elementwise__find(grout_opcode opcode, grout_dtype dtype);

#endif
