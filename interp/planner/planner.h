/*
 * planner.h - the state of lowering, shared by the plan_*.c files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PLANNER_H
#define GROUT_INTERP_PLANNER_H

#include "plan.h"

#include "goes_on.h"
#include "pulse.h"

#include "grout-internal/verify.h"

/* Free bytes of the registers. */
typedef struct grout_span {
    uint32_t offset, size;
} grout_span;

/* A part of a thread's registers; offsets count from its start. */
typedef struct grout_region {
    grout_pool spans; /* grout_span, free, sorted by offset */
    uint32_t size;
} grout_region;

/* An object that an op of the kernel makes. */
typedef struct grout_made {
    grout_object_id object;
    bool is_inner; /* of a scope, not a scratch */
} grout_made;

typedef struct grout_planner {
    grout_plan *plan;
    const grout_module *module;
    const grout_kernel *kernel;
    grout_block_id body; /* the kernel's; 0: nothing is planned of it */
    const grout_launch *launch;
    grout_diags *diags;
    grout_pulse pulse;    /* asks the launch's progress, if it has one; else the list is asked */
    bool has_gmem_commit; /* the kernel has a commit_gmem */
    bool failed;          /* without memory, or refused */
    bool is_refused;      /* a diagnostic says why, or the end has come */
    /* plan.c */
    grout_made *made; /* in the order of the text */
    uint32_t made_count;
    /* plan_live.c: positions count ops in the order of the text, begin and end of each */
    uint32_t position;
    uint32_t *op_begin, *op_end;  /* by op */
    grout_op_id *op_at;           /* by position */
    uint32_t *defined, *last_use; /* by value */
    uint32_t *expire_next;        /* by value: others that end at the same position */
    uint32_t *expire_first;       /* by position */
    uint32_t position_count;
    /* plan_spin.c */
    bool *decides; /* by value: in the loop decides_in */
    grout_op_id decides_in;
    /* plan_wraps.c */
    struct grout_extremes *ranges; /* by value: the least and the greatest that it may be */
    bool *matters, *traced;        /* by value: reaches a use that counts; may have wrapped, too */
    uint8_t *wraps;                /* by op: its number, if its result may wrap and matters */
    /* plan_slots.c */
    grout_slot *value_slots; /* by value */
    grout_region lasting, temporary;
    /* plan_chain.c */
    uint32_t chain_end;      /* position of the last op of the chain that is lowered; 0: none */
    uint32_t *value_buffers; /* by value: the buffer that it has in the chain */
    bool *value_is_widened;  /* by value: of f16 or bf16, and f32 in its buffer */
    grout_pool buffers;      /* one each */
    /* plan_lower.c */
    uint32_t loop_depth;
    bool is_too_large;         /* it has failed, since a thread's values take too many bytes */
    uint32_t *object_params;   /* by object: parameter of a gmem array, plus 1 */
    uint32_t *object_elements; /* by object: first barrier element */
    bool *object_is_shared;    /* by object: other CTAs of the cluster reach it */
    uint8_t *object_uses;      /* by object: GROUT_USED_* */
    bool *object_is_watched;   /* by object: some wait looks at its units without taking them */
    bool *object_is_ordered; /* by array with bytes of its own: some atomic releases or acquires */
    const grout_pick *pick;  /* of the op that is lowered; NULL: it has none */
    int64_t split; /* of the op that is lowered: the dimension of its source that the CTAs of a pair
                      divide; -1: none */
    uint32_t
        rows_of; /* of the op that is lowered: the operand whose rows indices name, or UINT32_MAX */
    uint32_t scale_block; /* of a tcgen05_mma: elements of K that have one scale; 0: none has */
    uint8_t scale_dtype;
    bool is_wgmma;   /* the op that is lowered is a wgmma, with operands as wgmma says */
    bool is_by_rows; /* and its product is, as that of a grout_product_plan */
    grout_wgmma wgmma;
} grout_planner;

/* Whether planning goes on: each loop asks that a long kernel makes long, about an operation. */
static inline bool grout_planner__goes_on(grout_planner *planner) {
    enum { OP_WORK = 16 };
    const bool has_progress = planner->launch->progress != NULL;
    if (!planner->failed &&
        !(has_progress ? grout_pulse__goes_on(&planner->pulse, OP_WORK)
                       : grout_diags__goes_on(planner->diags, "the launch was prepared"))) {
        planner->failed = planner->is_refused = true;
    }
    return !planner->failed;
}

/* Bytes of a thread's registers, of its accumulators, of the buffers of a chain: offsets have 32
 * bits. */
#define GROUT_PLAN_BYTES_MAX (UINT32_MAX / 2)

/* plan_live.c: when values are born and die. */
bool grout_planner__find_lives(grout_planner *planner);

/* plan_slots.c: registers. A slot lives until its value's last use. */
grout_slot grout_planner__add_slot(grout_planner *planner, const grout_type *type);
void grout_planner__define(grout_planner *planner, grout_value_id value);
/* Frees what dies at this position; inside a chain only what is temporary. */
void grout_planner__expire(grout_planner *planner, uint32_t position);
/* When all is lowered: puts the temporary registers after the others. */
void grout_planner__place_registers(grout_planner *planner);
/* The slot of a VALUE or EXPR operand. */
grout_slot grout_planner__get_operand(grout_planner *planner, const grout_operand *operand);
/* A new constant. */
grout_slot grout_planner__add_constant(grout_planner *planner, grout_dtype dtype, uint64_t bits);

/* plan_box.c: a reference operand; its index in the plan's boxes, or 0. */
uint32_t grout_planner__add_box(grout_planner *planner, const grout_operand *operand,
                                uint32_t index);
/* Finds the pieces of a copy between two boxes at their starts 'home'; fills the instruction's
 * transfers. */
void grout_planner__add_transfers(grout_planner *planner, uint32_t inst);

enum { GROUT_USED_STORED = 1, GROUT_USED_TMA_READ = 2, GROUT_USED_TMA_WRITTEN = 4 };

/* plan_cluster.c: what all ops of the kernel say about clusters, before anything is lowered; and
 * what one op says, after its operands are lowered. */
void grout_planner__scan(grout_planner *planner);
/* Whether the op is inside a while. */
bool grout_planner__is_in_while(const grout_planner *planner, const grout_op *op);
/* Whether thread 0 runs the op for all threads of its CTA: outside the bodies of a kernel with a
 * warp_specialize. */
bool grout_planner__is_for_all(const grout_planner *planner, const grout_op *op);
/* What the instruction adds to the work of a run, once its operands are there. */
void grout_planner__measure_work(const grout_planner *planner, grout_inst *inst);
void grout_planner__lower_cluster(grout_planner *planner, uint32_t index, const grout_op *op);

/* plan_atomic.c: which objects have ordered atomics, before anything is lowered; what an op is. */
void grout_planner__scan_atomics(grout_planner *planner);
void grout_planner__lower_atomic(grout_planner *planner, uint32_t index, const grout_op *op);
/* plan_pick.c: of the view of what is picked the box that is picked at a time; what the op needs
 * beside its operands.
 */
void grout_planner__cut_view(const grout_planner *planner, uint32_t operand, grout_view *view);
void grout_planner__lower_pick(grout_planner *planner, uint32_t index, const grout_op *op);
/* plan_mbarrier.c: comes last for an op; what it adds follows the op's instruction. */
void grout_planner__lower_mbarrier(grout_planner *planner, uint32_t index, const grout_op *op);
/* plan_semaphore.c: numbers the elements of an object, if it is one of semaphores. */
void grout_planner__find_watched(grout_planner *planner);
void grout_planner__add_semaphore(grout_planner *planner, grout_object_id id);

/* plan_spin.c: the instruction of an op inside a while, or of the while, looks at the registers
 * that live past this position and decide what the loop does. */
void grout_planner__keep_deciding(grout_planner *planner, uint32_t inst, grout_op_id op,
                                  uint32_t position);

/* Whether what an op inside a while finds decides more there than whether the while goes on. */
bool grout_planner__tells_more(grout_planner *planner, grout_op_id op);

/* plan_wraps.c: which values are traced, before anything is lowered; whether an op makes such a
 * one; lets the instruction of an op look for them, when all it reads is there. */
size_t grout_planner__get_range_size(void);
void grout_planner__find_wraps(grout_planner *planner);
bool grout_planner__is_traced(const grout_planner *planner, const grout_op *op);
void grout_planner__trace(grout_planner *planner, uint32_t index, grout_op_id id);

/* plan_lower.c: the instructions of a block and all inside it. */
void grout_planner__lower_block(grout_planner *planner, grout_block_id block);
/* A new instruction; 0 without memory (then entry 0 takes what is written to it). */
uint32_t grout_planner__add_inst(grout_planner *planner, grout_exec *exec, grout_op_id op);
void grout_planner__add_slot_to(grout_planner *planner, uint32_t inst, grout_slot slot);
void grout_planner__add_move(grout_planner *planner, uint32_t inst, grout_slot from, grout_slot to);
/* Operands: values and constants as slots, references as boxes; both in operand order. */
void grout_planner__add_operands(grout_planner *planner, uint32_t inst, const grout_op *op);

/* An op, with all inside it. */
void grout_planner__lower_op(grout_planner *planner, grout_op_id id);

/* plan_wgmma.c: adds an accumulator of the kernel; begins an op, if it is a wgmma, before its
 * operands are lowered; adds what it needs beside them; lowers a load, if of an accumulator. */
void grout_planner__add_accumulator(grout_planner *planner, grout_object_id id);
void grout_planner__begin_wgmma(grout_planner *planner, grout_op_id id);
void grout_planner__lower_wgmma(grout_planner *planner, uint32_t inst);
void grout_planner__lower_tcgen05(grout_planner *planner, uint32_t inst);
void grout_planner__lower_mma(grout_planner *planner, uint32_t inst);
void grout_planner__lower_load(grout_planner *planner, uint32_t inst, const grout_op *op);

/* plan_chain.c: lowers a chain that begins with an op. Its last op, or 0 if there is no chain. */
grout_op_id grout_planner__lower_chain(grout_planner *planner, grout_op_id first);

/* plan_control.c: an op with blocks. */
void grout_planner__lower_for(grout_planner *planner, grout_op_id id);
void grout_planner__lower_while(grout_planner *planner, grout_op_id id);
void grout_planner__lower_if(grout_planner *planner, grout_op_id id);
void grout_planner__lower_scoped(grout_planner *planner, grout_op_id id);
/* The yield at a block's end: its values move to the targets. */
uint32_t grout_planner__lower_yield(grout_planner *planner, grout_block_id block,
                                    const grout_slot *targets, uint32_t count);
/* plan_warp.c */
void grout_planner__lower_warp_map(grout_planner *planner, grout_op_id id);
void grout_planner__lower_warp_specialize(grout_planner *planner, grout_op_id id);

static inline grout_inst *grout_planner__get_inst(grout_planner *planner, uint32_t index) {
    return grout_pool__at(&planner->plan->insts, index);
}
/* The index that the pool's next record will have. */
static inline uint32_t grout_plan__get_next(const grout_pool *pool) {
    return pool->count == 0 ? 1 : pool->count;
}

static inline uint32_t grout_planner__align_up(uint32_t value, uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

#endif
