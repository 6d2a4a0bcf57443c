/*
 * emitter.h - writing a kernel as CUDA C++: the emitter's state, the text that grows, identifiers.
 *
 * Everything appends to one text, statement by statement in program order. A failure is reported
 * once and sticks (failed); later calls still append, and the text is thrown away. The files of
 * this folder know nothing of single operations: those are in emit/.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_EMITTER_H
#define GROUT_GPU_EMITTER_H

#include "fields.h"
#include "grout-internal/text.h"
#include "plan.h"

#define GROUT_EMIT_ACCESSES_MAX 24
#define GROUT_EMIT_HELD_MAX     32
#define GROUT_EMIT_LOADS_MAX    16

typedef struct grout_emitter grout_emitter;

/* Writes one op. */
typedef void grout_emit_op(grout_emitter *e, grout_op_id id, const grout_op *op);

/*
 * What lanes may have done since the last barrier among the lanes of this thread, on the path that
 * is being written: what decides whether an automatic barrier is needed.
 */
typedef struct grout_emit_pending {
    bool has_waited;  /* or arrived on a barrier, each warp for itself: some may still be at it */
    bool has_arrived; /* one lane for all: others may look at the barrier before it does */
    bool has_left_tensor; /* a wait has ended accesses to tensor memory: for other lanes a meeting
                             between the fences of tcgen05 has to follow */
    bool has_overflow;    /* more objects than the list holds: all of them */
    uint8_t count;
    struct {
        grout_object_id object; /* 0: the exchange area */
        bool is_write;
    } accesses[GROUT_EMIT_ACCESSES_MAX];
} grout_emit_pending;

/* Identifiers, which stay where they are until the emitter ends. */
typedef struct grout_emit_names {
    struct grout_emit_names *older;
    size_t used;
    char bytes[16384];
} grout_emit_names;

/* What is known of a kernel's warps and partitions before it is written (emit_specialize.c). */
typedef struct grout_emit_forks {
    bool
        has_warp_stores; /* some warp_map stores by TMA: each of a thread's warps has bulk groups */
    uint32_t registers_max; /* that a lane of the kernel can have */
    grout_op_id last_init;  /* the last mbarrier_init of the kernel's own block; 0: none */
    uint32_t part_count;    /* bodies of the largest warp_specialize; 0: there is none */
    uint32_t member_count;  /* threads that come to each meeting at their ends */
} grout_emit_forks;

/* Registers of 32 bits that the tensor core may go on reading: the variable x<number>. */
typedef struct grout_emit_hold {
    uint32_t number, registers;
} grout_emit_hold;

/* Where the turns of a loop have registers of their own (emit_rounds.c). */
typedef struct grout_emit_rounds {
    grout_block_id body; /* whose wgmmas stay in flight from turn to turn; 0: those of no loop */
    bool is_rest;        /* what is written has been written before, in a round */
} grout_emit_rounds;

/* A load of tensor memory that is not awaited: the registers of 32 bits x<number>, or 0: those of
 * the value itself. */
typedef struct grout_emit_load {
    grout_value_id value;
    uint32_t number, registers;
    uint32_t per_register; /* elements that lie in one of x<number> */
} grout_emit_load;

struct grout_emitter {
    /* By opcode. A pointer, because the ops of regions call for the blocks in them: so what writes
     * a block stands below the ops (emit.c has the table, emit_block.c uses it). */
    grout_emit_op *const *emitters;
    const grout_module *module;
    const grout_kernel *kernel;
    grout_kernel_id kernel_id;
    const grout_gpu_plan *plan;
    grout_emit_options options;
    grout_text *out;
    grout_diags *diags;
    bool failed;
    uint32_t indent;
    grout_emit_names *names;              /* the newest chunk of them */
    const char **name_of;                 /* by value: its identifier, NULL none yet */
    bool *is_alias;                       /* by value: the identifier is another's */
    uint32_t *name_uses;                  /* by string: values in sight that are called so */
    uint32_t temp_count;                  /* names given to values without one */
    uint32_t coordinates[GROUT_RANK_MAX]; /* x<number> of prepare_address, by dimension */
    uint32_t offset;                      /* the same of a swizzled address */
    uint32_t peer;                        /* the same of where an object is in another CTA */
    const grout_op *commented;            /* the op whose text was written last */
    bool is_alone; /* what is written is run by one lane, the issuer (emit_lone.c) */
    bool is_warp;  /* what is written is run by each warp of the thread for itself (warp_map), or by
                    * a thread that is one warp */
    uint32_t warps;  /* of the thread that is written, 4, or of some partitions 1 or 2 */
    uint32_t thread; /* which it is; with partitions only */
    grout_emit_pending pending;
    uint8_t load_count; /* of tensor memory, whose values nobody may touch yet */
    grout_emit_load loads[GROUT_EMIT_LOADS_MAX];
    grout_emit_forks forks;
    grout_emit_rounds rounds;
    uint8_t held_count;
    struct {
        grout_op_id until; /* the registers are in use until after this op */
        grout_emit_hold hold;
    } held[GROUT_EMIT_HELD_MAX];
};

/* ---- text (text.c) ---- */

/* A whole line, indented. */
void grout_emit__line(grout_emitter *e, const char *format, ...) GROUT_PRINTF(2, 3);
/* A line in parts: begin, add..., end. */
void grout_emit__begin(grout_emitter *e);
void grout_emit__add(grout_emitter *e, const char *format, ...) GROUT_PRINTF(2, 3);
void grout_emit__end(grout_emitter *e, const char *format, ...) GROUT_PRINTF(2, 3);
/* '{' after what the line holds, and what follows indented; '}' with a tail. */
void grout_emit__open(grout_emitter *e);
void grout_emit__close(grout_emitter *e, const char *tail);
/* Opens the block that one lane of the thread runs, always the same: it issues copies, arrives,
 * stores scalars and prints for all; and its end. Nothing where that lane is alone. */
void grout_emit__open_issuer(grout_emitter *e);
void grout_emit__close_issuer(grout_emitter *e);
/* Reports gpu-unsupported at an op. */
void grout_emit__unsupported(grout_emitter *e, const grout_op *op, const char *format, ...)
    GROUT_PRINTF(3, 4);
/* The line of the kernel's text, for reports. */
uint32_t grout_emit__get_line(const grout_emitter *e, grout_loc_id loc);

/* " + part / 4 % 2 * 512": from one part of an operand to the next, in units of 16 bytes. */
void grout_emit__add_distance(grout_emitter *e, const char *index, uint32_t divisor,
                              uint32_t modulus, int64_t distance);

/* ---- identifiers (identifiers.c) ---- */

/* Room for the identifiers of a module's values; false without memory, which is reported. */
bool grout_emit__init_names(grout_emitter *e);
void grout_emit__deinit_names(grout_emitter *e);

/* The identifier of a value; given on first use. */
const char *grout_emit__name(grout_emitter *e, grout_value_id value);
/* A value that the module does not have, called x<number>, for a start in a view: one of this many.
 */
#define GROUT_EMIT_STARTS GROUT_RANK_MAX
grout_value_id grout_emit__make_start(grout_emitter *e, uint32_t which, uint32_t number);
/* Makes a value go by the name of another, or by this identifier. */
void grout_emit__alias(grout_emitter *e, grout_value_id value, const char *name);
/* The names of a block's values are out of sight. */
void grout_emit__leave_block(grout_emitter *e, grout_block_id id);
/* The ops in blocks of a block's ops are written again: their values, which are out of sight, get
 * names anew. */
void grout_emit__forget_names(grout_emitter *e, grout_block_id id);
/* Whether an op is nested in its user's text. */
bool grout_emit__is_nested(const grout_emitter *e, const grout_op *op);

#endif
