/*
 * plan.h - a bound kernel lowered for one launch: flat code whose slots, strides, sizes, footprints
 * and functions are resolved. The plan is the only part of interp/ that reads the IR; it is
 * constant during a run and holds the host pointers that the machine's state must not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PLAN_H
#define GROUT_INTERP_PLAN_H

#include "gemm.h"
#include "heap.h"
#include "invariant.h"
#include "loops.h"
#include "order.h"
#include "pack.h"

#include "grout-internal/interp.h"
#include "grout-internal/observe.h"

struct grout_inst;

/* Numbers of instructions whose results may wrap; those past the last share it. */
#define GROUT_WRAP_NUMBER_MAX 127

/* What an instruction did. */
typedef enum grout_outcome {
    GROUT_OUTCOME_NEXT,    /* go on at the thread's pc */
    GROUT_OUTCOME_BLOCKED, /* nothing done; try again when the thread is runnable */
    GROUT_OUTCOME_EXIT,    /* the thread has ended */
    GROUT_OUTCOME_STOPPED, /* an extern said stop */
    GROUT_OUTCOME_FAILED   /* no memory, or an observer gave up */
} grout_outcome;

struct grout_cta; /* machine.h */
typedef grout_outcome grout_exec(const struct grout_cta *cta, uint32_t thread,
                                 const struct grout_inst *inst);

/* Elements that a loop works on at a time where it has to go through a buffer. */
#define GROUT_STRIP 1024

/* Neighbouring elements of an elementwise operation's operands and result. */
typedef struct grout_strip {
    uint8_t *result;
    const uint8_t *operands[3]; /* a scalar beside an array is repeated; a broadcast's is whole */
    int64_t first, count;       /* which elements of the result */
    /* bit i: operand i is f32, though the op's are narrower; bit 3: so is to be the result, of a
     * value that the op's type has */
    uint8_t widened;
} grout_strip;

/* Computes a strip; of at most GROUT_STRIP elements if the instruction is_wide. */
typedef void grout_strip_exec(grout_machine *machine, const struct grout_inst *inst,
                              const grout_strip *strip);

/*
 * Where a value lives: bytes into the registers of its thread, or (constants) into the plan's
 * constants. At flag is one byte: 1 if the value is undefined (scalar), or has a mask with one
 * byte for each element that is undefined (array); twice a number if it, or an element in the mask,
 * has wrapped around at the instruction of that number (exec_traced.c); else 0.
 */
typedef struct grout_slot {
    uint32_t flag, data, mask;
    uint32_t count; /* elements */
    uint8_t dtype, element_bytes;
    bool is_array, is_constant;
    bool is_temporary; /* among the registers that mean something only inside a chain */
} grout_slot;

/* One summand of the start of a box, or of the place of the CTA that it lies in. */
typedef struct grout_term {
    uint32_t dimension; /* or cluster axis */
    uint32_t divisor;   /* of the value: elements in a byte, along a packed dimension */
    grout_slot slot;    /* an i32 */
} grout_term;

/*
 * The box of an object that an operand names. Its shape (runs, pieces) is computed once, for
 * the start 'home'. It moves rigidly when each start moves by whole tiles and, if swizzled, the
 * bytes by multiples of the layout's period; then only the base changes.
 */
typedef struct grout_box_plan {
    grout_object_id object;
    uint32_t operand;
    uint8_t space; /* grout_space */
    uint8_t dtype, element_bytes, rank;
    /* elements in a byte, of a packed type: the box counts bytes in its last dimension, and in all
     * its 'element_bytes' is that of a byte of them; else 1 */
    uint8_t packed;
    bool is_barrier;
    bool has_shape;           /* runs and pieces are there */
    uint8_t object_kind;      /* grout_object_kind */
    bool is_mixed;            /* a gmem array that threads store to and TMA copies */
    bool is_relayed;          /* one that TMA both loads from and stores to */
    bool is_read, is_written; /* by its op */
    /* '.cluster(..)': the CTA it lies in, by its place on each cluster axis; 0: the own one */
    uint8_t place_count;
    uint32_t first_place, place_term_count; /* terms, by axis */
    int32_t place[GROUT_CLUSTER_AXES_MAX];  /* their constant part */
    int32_t place_size[GROUT_CLUSTER_AXES_MAX];
    const grout_layout *layout;
    uint8_t order[GROUT_RANK_MAX]; /* dimensions of the object, the outermost of the box first */
    int64_t dims[GROUT_RANK_MAX], extent[GROUT_RANK_MAX];
    int64_t start[GROUT_RANK_MAX]; /* its constant part */
    int64_t home[GROUT_RANK_MAX];
    int64_t tile[GROUT_RANK_MAX];   /* a start moves rigidly by multiples of it */
    int64_t weight[GROUT_RANK_MAX]; /* bytes by which one tile moves it */
    uint32_t first_term, term_count;
    /* through a made descriptor: where its part starts in each dimension, then how many elements it
     * has there; terms. 0: the box ends where the array does */
    uint32_t first_limit;
    uint32_t param;        /* of a gmem object: its array */
    int64_t memory_offset; /* of an object of the CTA: in the bytes of all its spaces */
    int64_t low, high;     /* bytes of the object: with the start home, the box is in [low, high) */
    int64_t count, bytes;  /* of the box */
    int64_t phase_bytes;   /* that a copy to it brings to a barrier: those of a 'packed' array */
    uint32_t first_run, run_count;
    uint32_t first_piece, piece_count;
    uint32_t first_element; /* of a barrier object; of a semaphore object: the first of its kind */
    bool is_uniform_chunks; /* every piece is 16 bytes */
    /* scales that share their columns with another array: this many more copies of the elements,
     * each this many bytes further; else 0. The runs are of all, the pieces of the first */
    uint8_t more_copies;
    int64_t copy_stride;
} grout_box_plan;

/* A piece of a copy between two boxes, both with their start home. */
typedef struct grout_transfer {
    int64_t source, destination, length;
} grout_transfer;

/* A copy of 16 bytes between two such boxes. */
typedef struct grout_chunk_move {
    int32_t source, destination;
} grout_chunk_move;

/* One line of an effect row, for one box of an instruction. */
typedef struct grout_access_plan {
    uint32_t box; /* index into the plan's boxes */
    uint8_t operand, milestone;
    bool is_write, is_async;
    bool is_atomic; /* a read and write at once: one event */
    uint8_t agent;  /* grout_agent */
} grout_access_plan;

/* Bytes of an actor's registers by which it goes: see sync/spin.c. */
typedef struct grout_decider {
    uint32_t offset, size;
} grout_decider;

/* A register that a use which counts has: see exec_traced.c. */
typedef struct grout_watch {
    grout_slot slot;
    uint8_t operand, use; /* grout_uninitialised_use */
} grout_watch;

/* A value that a yield hands on; moves run in order. */
typedef struct grout_move {
    grout_slot from, to;
} grout_move;

typedef struct grout_scope_plan {
    grout_op_id op; /* 0: the CTA */
    uint32_t first_object, object_count;
    uint32_t first_element, element_count; /* barrier elements, consecutive */
    uint32_t begin, leave; /* instructions: what uses its objects stands between them */
    bool is_collective;
} grout_scope_plan;

/*
 * Elementwise instructions, one after the other, over arrays of one count: they run strip by
 * strip, all of them on one strip before the next, so that what only they need among each other
 * stays in small buffers. The instruction of the chain stands in front of its members; where it
 * cannot run them so it does nothing, and they follow one by one. See plan_chain.c, exec_chain.c.
 */
typedef struct grout_chain_step {
    uint32_t inst;
    /* where in the buffers, plus 1; 0: in the slot */
    uint32_t result, operands[3];
    uint8_t fills; /* bit i: operand i is a scalar, to be repeated in its buffer first of all */
    uint8_t widened;
} grout_chain_step;

typedef struct grout_chain_plan {
    uint32_t first_step, step_count;
    uint64_t work;         /* of its members */
    uint32_t count, strip; /* elements of the arrays, of a strip */
} grout_chain_plan;

/*
 * An accumulator, of which each thread has its own. Values are kept as f32 whatever the element
 * type, M innermost as grout_gemm__run wants them; what follows are bytes into a thread's part of
 * the state.
 */
typedef struct grout_accumulator_plan {
    grout_object_id object;
    uint32_t rows, cols; /* rows % 64 == 0 */
    uint8_t dtype;
    uint32_t values; /* float [cols][rows] */
    uint32_t masks;  /* uint64_t [cols][rows / 64]: a bit for each value that is undefined */
    uint32_t marks;  /* uint8_t [cols]: GROUT_COLUMN_* */
} grout_accumulator_plan;

/* An operand of a wgmma: a box of SMEM, or an array in registers. */
typedef struct grout_operand_plan {
    bool is_register;
    bool has_mn_rows;      /* the rows of pack are those of M (or columns of N), not of K */
    uint32_t box;          /* of the plan; a register operand is the instruction's slot 0 */
    uint32_t key;          /* operands of one key pack alike from one start; not 0 */
    uint32_t first_offset; /* of its chunks with the start home, in the plan's offsets; 0: it has no
                              shape */
    int64_t bytes;
    grout_pack pack;
} grout_operand_plan;

/* A wgmma, or an mma, which has no accumulator: its slots are what it adds to, a and b. */
typedef struct grout_product_plan {
    uint32_t accumulator, gemm;
    uint32_t column, count; /* of the accumulator: its part */
    bool has_use;           /* the instruction's last slot says whether the accumulator counts */
    bool is_sparse;         /* the slot in front of it, or the last one, is the metadata of a */
    bool is_by_rows; /* gemm adds b and a the other way round, where tensor memory has the sums */
    grout_operand_plan a, b;
} grout_product_plan;

/* Elements of an array in rows: this many rows of this many columns, one block of them after
 * another.
 */
typedef struct grout_rows_plan {
    int64_t rows, columns;
} grout_rows_plan;

typedef struct grout_inst {
    grout_exec *exec;
    grout_op_id op;
    uint16_t opcode;
    uint8_t loop_depth;
    bool is_point;    /* threads may change after it */
    bool is_silent;   /* no op of its own: not a step */
    bool is_member;   /* of a chain */
    bool is_in_while; /* one element, or none, inside a while: may be what it waits for; and the
                       * way back of a while */
    bool is_look;     /* changes nothing that another actor sees: a load, a test */
    bool tells_more;  /* in a while: its result decides more than whether that goes on */
    bool is_for_all;  /* a meeting that thread 0 comes to for all threads of its CTA */
    bool is_ordered;  /* an atomic or store; some atomics on the array's bytes order something */
    uint32_t target;
    uint32_t first_slot, slot_count;
    grout_slot result;
    uint32_t first_box, box_count;
    uint32_t first_access, access_count;
    uint32_t first_move, move_count;
    uint32_t first_decider, decider_count; /* of a look, and of a while's way back */
    grout_exec *inner; /* what it does besides, where 'exec' looks for integers that have wrapped */
    uint32_t first_watch, watch_count;
    uint8_t wrap; /* the number that its result has if it wraps; 0: it cannot */
    uint32_t scope;
    uint32_t work;             /* in elements, the same on every machine (plan_work.c) */
    uint64_t attrs;            /* GROUT_ATTR_BIT(..) that are written */
    uint8_t order, edge_scope; /* grout_choice, resolved: what is not written has its default */
    uint8_t reduction;         /* grout_update, of a copy or async_store_smem; NONE: overwrites */
    uint8_t update;            /* grout_update, of an atomic */
    /* What only ops of one kind have; zero for the others. */
    union {
        struct { /* elementwise ops, iota */
            grout_loop *loop;
            grout_strip_exec *strip;
            grout_rows_plan rows; /* of an iota: what it counts, and how often each is repeated */
            bool is_wide;         /* computes in f32 what is f16 or bf16 */
        } elementwise;
        struct {
            const grout_reduce *function;
            grout_rows_plan rows; /* rows become one; columns stay */
        } reduce;
        struct { /* the index is linear / divisor % size */
            int64_t size, divisor;
            uint8_t kind; /* grout_axis_kind: what the linear number is of */
        } axis;
        struct { /* ops that post to an mbarrier */
            uint32_t count;
            int32_t from_cta; /* mask of from_cta(..); -1: it is not written */
            uint8_t axes;     /* of multicast or collective_axis: every CTA along them */
        } arrive;
        struct { /* copies between GMEM and SMEM */
            uint32_t first_transfer, transfer_count;
            uint32_t first_chunk, chunk_count; /* the same in chunks, where those are short */
            uint8_t axes; /* of collective_axes or multicast: bit i for axis i of the kernel */
            bool is_collective; /* collective_axes */
            uint8_t collective; /* which of the kernel's sets of axes */
            int8_t part_dim;    /* the dimension of the boxes that it splits; -1: none */
            bool is_led;        /* leader_tracked: bytes count on the barrier of the leader */
            int8_t split_dim;   /* partitioned: the source's dimension that it splits; -1: none */
            uint8_t oob;        /* what comes from outside the array: a choice of oob(..) */
            bool is_bulk;       /* one run of bytes, without a tensor map */
            bool is_unplanned;  /* no TMA moves it ('--arch any'): it may start anywhere */
            uint8_t folded;     /* bit d: dimension d of the array is one of several in the map */
            uint32_t map_slot;  /* box of the slot that its tensor map was made in; 0: it was not */
            grout_op_id map_maker; /* by this op */
            /* im2col mode: by spatial dimension, the outermost first; of none: a box */
            uint8_t spatial_count;
            uint8_t pixel_steps[3];
            int16_t lower[3], upper[3]; /* corners of the box of base pixels */
            int32_t offset_max;
            /* rows that indices name, of an array of GMEM, and 0: a box. Its box
             * is then row 0 of it */
            uint32_t row_count;
        } copy;
        /* ops with indices or a mask: they go through count boxes of inner elements each. The moves
         * are the dimensions of these boxes, the outermost first: extent, dimension of the object
         * plus 1, stride in the indices and in the mask. */
        struct {
            int64_t count, inner;
            int64_t limit;                /* indices are below it */
            uint8_t value, indices, mask; /* operands; 0: none */
            uint8_t dim;                  /* of the object: what the indices count */
            uint8_t contiguous;           /* of contiguous(n); 1: it is not written */
        } pick;
        struct {                 /* a load of an accumulator */
            int64_t groups_left; /* in flight; -1: it does not wait */
        } acc_load;
        uint32_t product;             /* of a wgmma or mma */
        uint32_t partitions;          /* of a warp_specialize: its fork and its join */
        uint32_t chain;               /* the elementwise ops that run strip by strip */
        const char *text;             /* of a debug_print */
        const grout_extern *function; /* of an extern_elementwise */
    } u;
} grout_inst;

typedef struct grout_element_plan {
    grout_object_id object;
    uint32_t index, arrivals; /* arrivals 0: an mbarrier */
    bool is_explicit;         /* an mbarrier */
    bool is_shared;           /* other CTAs of the cluster reach it */
    bool orders_tensor;       /* its arrives and waits are edges of tensor memory too */
    bool is_leader_tracked;   /* that of the CTA which leads counts for all */
    uint32_t group_count;     /* of a cluster barrier: its groups of axes; 0: it is none */
} grout_element_plan;

/* A semaphore; each CTA has its own, but for global ones. */
typedef struct grout_semaphore_plan {
    grout_object_id object;
    uint32_t index; /* inside it */
    bool is_global;
    bool keeps_all; /* some wait looks at units without taking them */
} grout_semaphore_plan;

typedef struct grout_plan {
    const grout_module *module;
    grout_kernel_id kernel;
    grout_heap *heap;
    bool is_cut;    /* progress has interrupted the planning: there is nothing to run */
    bool has_masks; /* registers carry masks of undefined elements */
    grout_clock_shape shape;
    grout_order order;
    uint32_t actor_count; /* of a CTA: its threads, then (with a warp_map) their warps */
    uint32_t lane_count;  /* of a CTA */
    uint32_t warp_count;  /* of a CTA on the GPU */
    uint32_t thread_warps[GROUT_THREADS_MAX];
    uint32_t
        runner_count; /* threads of a CTA that run the body: all, or (with a warp_specialize) 1 */
    bool has_narrow_waits;     /* some wait in clusters of several CTAs is scope(cta), or relaxed */
    bool has_relaxed_meetings; /* some operation on the hardware barrier of such clusters is */
    bool has_exit_sync;
    bool has_multicast; /* copies of one CTA to several */
    bool has_pairs;     /* MMAs of both CTAs of a pair */
    bool hands_out;     /* try_cluster_cancel takes clusters off the launch */
    bool
        needs_clocks; /* some phase follows from what an actor knows: mbarriers, async_store_smem */
    bool has_foreign_order; /* order between clusters: global semaphores, atomics, loops that look
                               at GMEM */
    bool has_foreign_loop;  /* such a loop, or one that looks at a semaphore or an atomic */
    bool has_gmem_updates;  /* atomics on GMEM, TMA reductions into it */
    uint32_t collective_count; /* different sets of axes of collective copies */
    uint8_t collective_axes[16];
    uint32_t cluster_axis_count;
    uint32_t cluster_axes[GROUT_CLUSTER_AXES_MAX]; /* of the kernel's axes */
    int64_t cta_count;
    int64_t smem_bytes;
    int64_t memory_bytes;                   /* of all spaces of the CTA */
    int64_t space_first[GROUT_SPACE_COUNT]; /* where each begins in them */
    uint32_t register_bytes;                /* of a thread */
    uint32_t temporary_at;                  /* of these, the ones from here on are temporary */
    uint32_t entry_registers;               /* of a lane on the GPU: see set_max_registers */
    uint32_t loop_depth_max;
    uint32_t element_count;
    int64_t copy_bytes_max;   /* largest box of an async copy */
    int64_t store_bytes_max;  /* largest smem box of a plain store */
    int64_t mixed_bytes_max;  /* the same of arrays that TMA copies too */
    int64_t linear_bytes_max; /* scratch for a box in logical order */
    int64_t mask_count_max;   /* the same for a mask */
    uint32_t chain_bytes_max; /* buffers of a chain */
    uint32_t chain_steps_max;
    grout_pool insts, slots, boxes, terms, accesses, moves, transfers, runs, pieces, scopes;
    grout_pool chains, steps;
    grout_pool accumulators, products, gemms, offsets; /* offsets: int32_t, of chunks */
    grout_pool chunk_moves;
    grout_pool deciders;
    grout_pool watches;
    uint32_t wrap_count; /* numbers of instructions whose results may wrap and matter */
    grout_op_id wrap_ops[GROUT_WRAP_NUMBER_MAX + 1]; /* by number; 0: one of several */
    grout_pool gmem_scratches;       /* grout_object_id, in the order of their arrays */
    uint32_t accumulator_bytes;      /* of a thread */
    uint32_t packed_max, chunks_max; /* floats, chunks of the largest operand */
    bool stores_tmem; /* something else than MMAs writes tensor memory, or calls it otherwise */
    uint32_t sums_max, turned_max; /* elements of the largest result of an mma, bytes of b */
    grout_pool objects;            /* grout_object_id: lists of scopes */
    grout_pool semaphores;         /* number i at i + 1 */
    uint32_t async_copy_waits_max; /* largest n of an async_copy_wait */
    grout_pool constants;          /* bytes in items of 8 */
    grout_element_plan *elements;
    grout_object_id *element_objects; /* for grout_launch_info */
    uint32_t *element_indices;
} grout_plan;

/* Lowers the kernel of a launch. NULL: reasons in diags. */
grout_plan *grout_plan__new(const grout_launch *launch, grout_heap *heap, grout_diags *diags);
void grout_plan__free(grout_plan *plan);

static inline const grout_inst *grout_plan__inst(const grout_plan *plan, uint32_t pc) {
    GROUT_ASSERT(pc < plan->insts.count);
    return (const grout_inst *)(const void *)plan->insts.data + pc;
}
static inline const grout_slot *grout_plan__slot(const grout_plan *plan, const grout_inst *inst,
                                                 uint32_t index) {
    GROUT_ASSERT(index < inst->slot_count);
    return (const grout_slot *)(const void *)plan->slots.data + inst->first_slot + index;
}
/* Where an object that a CTA has bytes of lies in them: its space, and its place there. */
static inline int64_t grout_plan__get_memory_offset(const grout_plan *plan, grout_object_id id) {
    return plan->space_first[grout_module_get_object(plan->module, id)->space] +
           grout_object_get_offset(plan->module, id);
}
static inline const grout_box_plan *grout_plan__box(const grout_plan *plan, const grout_inst *inst,
                                                    uint32_t index) {
    GROUT_ASSERT(index < inst->box_count);
    return (const grout_box_plan *)(const void *)plan->boxes.data + inst->first_box + index;
}
static inline const grout_chain_step *grout_plan__steps(const grout_plan *plan,
                                                        const grout_chain_plan *chain) {
    return (const grout_chain_step *)(const void *)plan->steps.data + chain->first_step;
}
static inline const grout_product_plan *grout_plan__product(const grout_plan *plan,
                                                            const grout_inst *inst) {
    return grout_pool__at(&plan->products, inst->u.product);
}
static inline const grout_accumulator_plan *grout_plan__accumulator(const grout_plan *plan,
                                                                    uint32_t index) {
    return grout_pool__at(&plan->accumulators, index);
}
static inline uint32_t grout_plan__get_semaphore_count(const grout_plan *plan) {
    return plan->semaphores.count == 0 ? 0 : plan->semaphores.count - 1;
}
static inline const grout_semaphore_plan *grout_plan__semaphore(const grout_plan *plan,
                                                                uint32_t index) {
    return grout_pool__at(&plan->semaphores, index + 1);
}
/* The accumulator that an object is, or 0. */
uint32_t grout_plan__find_accumulator(const grout_plan *plan, grout_object_id object);
static inline const grout_scope_plan *grout_plan__scope(const grout_plan *plan, uint32_t index) {
    return (const grout_scope_plan *)(const void *)plan->scopes.data + index;
}

#endif
