/*
 * plan.h - a bound kernel lowered for one launch: flat code whose slots, strides, sizes, footprints
 * and functions are resolved. The plan is the only part of interp/ that reads the IR; it is
 * constant during a run and holds the host pointers that the machine's state must not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PLAN_H
#define GROUT_INTERP_PLAN_H

#include "heap.h"

#include "grout/interp.h"
#include "grout/observe.h"

struct grout_inst;

/* What an instruction did. */
typedef enum grout_outcome {
    GROUT_OUTCOME_NEXT,    /* go on at the thread's pc */
    GROUT_OUTCOME_BLOCKED, /* nothing done; try again when the thread is runnable */
    GROUT_OUTCOME_EXIT,    /* the thread has ended */
    GROUT_OUTCOME_FAILED   /* no memory, or an observer gave up */
} grout_outcome;

typedef grout_outcome grout_exec(grout_machine *machine, uint32_t thread,
                                 const struct grout_inst *inst);

/* An elementwise loop over count elements; unused operands are NULL. */
typedef void grout_loop(void *result, const void *a, const void *b, const void *c, int64_t count);

/*
 * Where a value lives: bytes into the registers of its thread, or (constants) into the plan's
 * constants. At flag is one byte: not 0 if the value is undefined (scalar), or has a mask with one
 * byte for each element that is undefined (array).
 */
typedef struct grout_slot {
    uint32_t flag, data, mask;
    uint32_t count; /* elements */
    uint8_t dtype, element_bytes;
    bool is_array, is_constant;
} grout_slot;

/* One summand of the start of a box. */
typedef struct grout_term {
    uint32_t dimension;
    grout_slot slot; /* an i32 */
} grout_term;

/*
 * The box of an object that an operand stands for. Its shape (runs, pieces) is computed once, for
 * the start 'home'. It moves rigidly when each start moves by whole tiles and, if swizzled, the
 * bytes by multiples of GROUT_SWIZZLE_PERIOD; then only the base changes.
 */
typedef struct grout_box_plan {
    grout_object_id object;
    uint32_t operand;
    uint8_t space; /* grout_space */
    uint8_t dtype, element_bytes, rank;
    bool is_barrier;
    bool has_shape; /* runs and pieces are there */
    const grout_layout *layout;
    uint8_t order[GROUT_RANK_MAX]; /* dimensions of the object, the outermost of the box first */
    int64_t dims[GROUT_RANK_MAX], extent[GROUT_RANK_MAX];
    int64_t start[GROUT_RANK_MAX]; /* its constant part */
    int64_t home[GROUT_RANK_MAX];
    int64_t tile[GROUT_RANK_MAX];   /* a start moves rigidly by multiples of it */
    int64_t weight[GROUT_RANK_MAX]; /* bytes by which one tile moves it */
    uint32_t first_term, term_count;
    uint32_t param;       /* of a gmem object */
    int64_t smem_offset;  /* of an smem object */
    int64_t count, bytes; /* of the box */
    uint32_t first_run, run_count;
    uint32_t first_piece, piece_count;
    uint32_t first_element; /* of a barrier object */
    bool is_uniform_chunks; /* every piece is 16 bytes */
} grout_box_plan;

#define GROUT_SWIZZLE_PERIOD 1024

/* A piece of a copy between two boxes at home. */
typedef struct grout_transfer {
    int64_t source, destination, length;
} grout_transfer;

/* One line of an effect row, for one box of an instruction. */
typedef struct grout_access_plan {
    uint32_t box; /* index into the plan's boxes */
    uint8_t operand, milestone;
    bool is_write, is_async;
} grout_access_plan;

/* A value that a yield hands on; moves run in order. */
typedef struct grout_move {
    grout_slot from, to;
} grout_move;

typedef struct grout_scope_plan {
    grout_op_id op; /* 0: the CTA */
    uint32_t first_object, object_count;
    uint32_t first_element, element_count; /* barrier elements, consecutive */
    bool is_collective;
} grout_scope_plan;

typedef struct grout_inst {
    grout_exec *exec;
    grout_loop *loop;
    const char *text;
    grout_op_id op;
    uint16_t opcode;
    uint8_t loop_depth;
    bool is_point;  /* threads may change after it */
    bool is_silent; /* no op of its own: not a step */
    uint32_t target;
    uint32_t first_slot, slot_count;
    grout_slot result;
    uint32_t first_box, box_count;
    uint32_t first_access, access_count;
    uint32_t first_move, move_count;
    uint32_t first_transfer, transfer_count;
    uint32_t scope;
    int64_t number;  /* n of a wait, count of an arrive, axis size, extent of an iota */
    int64_t divisor; /* of axis and iota: inner elements */
    bool flag;       /* read_only, no_commit_group */
} grout_inst;

typedef struct grout_element_plan {
    grout_object_id object;
    uint32_t index, arrivals;
} grout_element_plan;

typedef struct grout_plan {
    const grout_module *module;
    grout_kernel_id kernel;
    grout_heap *heap;
    bool has_masks; /* registers carry masks of undefined elements */
    grout_clock_shape shape;
    int64_t cta_count;
    int64_t smem_bytes;
    uint32_t register_bytes; /* of a thread */
    uint32_t loop_depth_max;
    uint32_t element_count;
    int64_t copy_bytes_max;   /* largest box of an async copy */
    int64_t store_bytes_max;  /* largest smem box of a plain store */
    int64_t linear_bytes_max; /* scratch for a box in logical order */
    int64_t mask_count_max;   /* the same for a mask */
    grout_pool insts, slots, boxes, terms, accesses, moves, transfers, runs, pieces, scopes;
    grout_pool objects;   /* grout_object_id: lists of scopes */
    grout_pool constants; /* bytes in items of 8 */
    grout_element_plan *elements;
    grout_object_id *element_objects; /* for grout_launch_info */
    uint32_t *element_indices;
} grout_plan;

/* Lowers the kernel of a launch. NULL: reasons in diags. */
grout_plan *grout_plan__new(const grout_launch *launch, grout_heap *heap, grout_diags *diags);
void grout_plan__free(grout_plan *plan);

static inline const grout_inst *grout_plan__inst(const grout_plan *plan, uint32_t pc) {
    return (const grout_inst *)(const void *)plan->insts.data + pc;
}
static inline const grout_slot *grout_plan__slot(const grout_plan *plan, const grout_inst *inst,
                                                 uint32_t index) {
    return (const grout_slot *)(const void *)plan->slots.data + inst->first_slot + index;
}
static inline const grout_box_plan *grout_plan__box(const grout_plan *plan, const grout_inst *inst,
                                                    uint32_t index) {
    return (const grout_box_plan *)(const void *)plan->boxes.data + inst->first_box + index;
}
static inline const grout_scope_plan *grout_plan__scope(const grout_plan *plan, uint32_t index) {
    return (const grout_scope_plan *)(const void *)plan->scopes.data + index;
}

#endif
