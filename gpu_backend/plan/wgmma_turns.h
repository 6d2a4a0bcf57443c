/*
 * wgmma_turns.h - for how many turns of its loop a wgmma goes on reading registers.
 *
 * The tensor core reads an a in registers, and the metadata of a sparse one, after the wgmma has
 * been issued. Until a wait covers the wgmma, its next turn must not write to them: then turns that
 * follow each other need registers of their own.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_WGMMA_TURNS_H
#define GROUT_GPU_WGMMA_TURNS_H

#include "grout-internal/ir.h"

#define GROUT_WGMMA_SETS_MAX 4 /* of registers, that the turns of a loop take one after another */

typedef enum grout_wgmma_turns_fault {
    GROUT_WGMMA_TURNS_NONE,
    GROUT_WGMMA_TURNS_NESTED,    /* it stands in a block of its own within the loop's */
    GROUT_WGMMA_TURNS_WHILE,     /* the loop does not say how many turns are left */
    GROUT_WGMMA_TURNS_UNCOVERED, /* no turn waits for it */
    GROUT_WGMMA_TURNS_MANY,      /* more sets than GROUT_WGMMA_SETS_MAX */
    GROUT_WGMMA_TURNS_AGAIN,     /* the loop comes again before a wait covers its last turns */
    GROUT_WGMMA_TURNS_REGISTERS  /* this many sets do not fit into a lane's registers */
} grout_wgmma_turns_fault;

typedef struct grout_wgmma_turns {
    grout_wgmma_turns_fault fault;
    uint32_t sets;         /* turns in a row that need registers of their own; 1: all read the same,
                            * that none writes; 0: none reads any */
    uint32_t registers;    /* of a lane, of one set: of all the wgmmas of the loop */
    uint32_t accumulators; /* registers of those in scope */
} grout_wgmma_turns;

/* The op after a wgmma, in its block, that waits for it, or 0. */
grout_op_id grout_gpu__find_wgmma_cover(const grout_module *module, grout_op_id wgmma);

/* Whether an operand of a wgmma in a loop's body is the same in all its turns, so that its
 * registers are written before the loop. */
bool grout_gpu__is_from_around(const grout_module *module, const grout_op *wgmma,
                               const grout_operand *operand);

/* What the turns of a loop need for the wgmmas that stand in its body and that no wait there covers
 * in their own turn. registers_max: those of a lane. */
grout_wgmma_turns grout_gpu__plan_turns(const grout_module *module, const grout_op *loop,
                                        uint32_t registers_max);

/* The same of the loop around a wgmma that no wait of its block covers: what keeps its turns from
 * having registers of their own. */
grout_wgmma_turns grout_gpu__plan_wgmma_turns(const grout_module *module, const grout_op *wgmma,
                                              uint32_t registers_max);

#endif
