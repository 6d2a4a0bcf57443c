/*
 * emit.h - writing a kernel as CUDA C++: the state that the emit_*.c files share.
 *
 * Everything appends to one text, statement by statement in program order. A failure is reported
 * once and sticks (failed); later calls still append, and the text is thrown away.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_EMIT_H
#define GROUT_GPU_EMIT_H

#include "grout/text.h"
#include "plan.h"

#define GROUT_EMIT_ACCESSES_MAX 24

/*
 * What lanes may have done since the last barrier among the lanes of this thread, on the path that
 * is being written: what decides whether an automatic barrier is needed.
 */
typedef struct grout_emit_pending {
    bool has_waited;   /* or arrived on a barrier, each warp for itself: some may still be at it */
    bool has_overflow; /* more objects than the list holds: all of them */
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
    grout_op_id last_init; /* the last mbarrier_init of the kernel's own block; 0: none */
    uint32_t part_count;   /* bodies of the largest warp_specialize; 0: there is none */
    uint32_t member_count; /* threads that come to each meeting at their ends */
} grout_emit_forks;

typedef struct grout_emitter {
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
    bool is_warp;  /* what is written is run by each warp of the thread for itself (warp_map) */
    grout_emit_pending pending;
    grout_emit_forks forks;
} grout_emitter;

/* ---- text (emit.c) ---- */

/* A whole line, indented. */
void grout_emit__line(grout_emitter *e, const char *format, ...) GROUT_PRINTF(2, 3);
/* A line in parts: begin, add..., end. */
void grout_emit__begin(grout_emitter *e);
void grout_emit__add(grout_emitter *e, const char *format, ...) GROUT_PRINTF(2, 3);
void grout_emit__end(grout_emitter *e, const char *format, ...) GROUT_PRINTF(2, 3);
/* '{' behind what the line holds, and what follows indented; '}' with a tail. */
void grout_emit__open(grout_emitter *e);
void grout_emit__close(grout_emitter *e, const char *tail);
/* Opens the block that one lane of the thread runs, always the same: it issues copies, arrives,
 * stores scalars and prints for all; and its end. Nothing where that lane is alone. */
void grout_emit__open_issuer(grout_emitter *e);
void grout_emit__close_issuer(grout_emitter *e);
/* Reports gpu-unsupported at an op. */
void grout_emit__unsupported(grout_emitter *e, const grout_op *op, const char *format, ...)
    GROUT_PRINTF(3, 4);

/* ---- names (emit.c) ---- */

/* The identifier of a value; given on first use. */
const char *grout_emit__name(grout_emitter *e, grout_value_id value);
/* A value that the module does not have, called x<number>, for a start in a view: the first or the
 * second of them. */
#define GROUT_EMIT_STARTS 2
grout_value_id grout_emit__make_start(grout_emitter *e, uint32_t which, uint32_t number);
/* Makes a value go by the name of another, or by this identifier. */
void grout_emit__alias(grout_emitter *e, grout_value_id value, const char *name);
/* The names of a block's values are out of sight. */
void grout_emit__leave_block(grout_emitter *e, grout_block_id id);

/* ---- blocks (emit.c) ---- */

void grout_emit__block(grout_emitter *e, grout_block_id id);
/* One op of a block: comment and statements. */
void grout_emit__op(grout_emitter *e, grout_op_id id);

/* ---- values (emit_expr.c) ---- */

const grout_register_layout *grout_emit__layout(const grout_emitter *e, grout_value_id value);
/* Whether each lane holds an array of registers of it: neither a scalar nor a splat. */
bool grout_emit__is_spread(const grout_emitter *e, const grout_operand *operand);
bool grout_emit__has_registers(const grout_register_layout *layout);
grout_dtype grout_emit__dtype(const grout_emitter *e, grout_value_id value);
const char *grout_emit__type_name(const grout_emitter *e, grout_value_id value);
/* An operand: a name, a name with [index] behind it if it is spread (index NULL: none), or a
 * constant of its type. */
void grout_emit__operand(grout_emitter *e, const grout_operand *operand, const char *index);
/* The same as what arithmetic takes: f16 and bf16 as f32. */
void grout_emit__number(grout_emitter *e, const grout_operand *operand, const char *index);
/* A constant of an element type, from its bits. */
void grout_emit__constant(grout_emitter *e, grout_dtype dtype, uint64_t bits);
/* f16 and bf16: computed as f32, each result rounded. */
bool grout_emit__is_half(grout_dtype dtype);
/* "grout_f32 v[16]" or "grout_f32 v": a variable for a value, at the start of a line. */
void grout_emit__declare(grout_emitter *e, grout_value_id value);
/* The same as a statement of its own, with the layout as a comment. */
void grout_emit__declare_registers(grout_emitter *e, grout_value_id value);
/* "const grout_i32 x = ": the start of the one statement that makes a scalar or splat. */
void grout_emit__begin_scalar(grout_emitter *e, grout_value_id value);
/* The loop over a lane's registers of a value, in steps; opens its body. */
void grout_emit__open_registers(grout_emitter *e, uint32_t registers, uint32_t step);

/* How the text that follows knows which element of an array or view it is at. */
typedef enum grout_emit_at {
    GROUT_EMIT_AT_FIRST,  /* the first one */
    GROUT_EMIT_AT_FLAT,   /* 'flat' is its row-major index */
    GROUT_EMIT_AT_MATRIX, /* 'at_row' and 'at_col' are its indices */
    GROUT_EMIT_AT_ROW,    /* 'at_row' is its only index */
    GROUT_EMIT_AT_COL     /* 'at_col' is */
} grout_emit_at;

/* What open_element says of a layout's elements. */
grout_emit_at grout_emit__get_at(const grout_register_layout *layout);
/* "const grout_u32 flat = ..." or at_row, at_col: where the element of register reg is, a multiple
 * of step; and, if the layout is guarded, the opening of 'if (flat < count)'. */
void grout_emit__open_element(grout_emitter *e, const grout_register_layout *layout, uint32_t step);
/* Closes what open_registers and open_element opened. */
void grout_emit__close_registers(grout_emitter *e, const grout_register_layout *layout);
/* "if (lane < 4) {" and the like, where other lanes hold the same elements; and its end. */
void grout_emit__open_owners(grout_emitter *e, const grout_register_layout *layout);
void grout_emit__close_owners(grout_emitter *e, const grout_register_layout *layout);
/* "flat / 64 % 32" or "at_row": the element's index along a dimension of its array. */
void grout_emit__index(grout_emitter *e, grout_emit_at at, const grout_type *type, uint32_t dim);
/* Its row-major index, as one operand: "flat", "(at_row * 64 + at_col)". */
void grout_emit__flat(grout_emitter *e, const grout_register_layout *layout);

/* ---- addresses (emit_address.c) ---- */

/* Writes the statements that an address needs beforehand: coordinates of tiled dimensions, the
 * offset that a swizzle takes twice. */
void grout_emit__prepare_address(grout_emitter *e, const grout_view *view, grout_emit_at at);
/* The address itself, after prepare_address: a 32-bit SMEM address, or a pointer. */
void grout_emit__address(grout_emitter *e, const grout_view *view, grout_emit_at at);
/* The SMEM address of a view's first element before swizzling: what TMA takes. */
void grout_emit__smem_start(grout_emitter *e, const grout_view *view);
/* Where a view starts in a dimension: "row + 4". */
void grout_emit__start(grout_emitter *e, const grout_view *view, uint32_t dim);

/* ---- boxes that TMA reaches through a tensor map (emit_copy.c) ---- */

/*
 * The box of an op with a G operand. An op that has nothing but the box, such as a prefetch of it
 * into L2, is one lane's call:
 *
 *     grout_emit_box box;
 *     if (grout_emit__find_box(e, id, op, &box)) {
 *         grout_emit__open_issuer(e);
 *         grout_emit__box_call(e, &box, "grout_tma_prefetch");
 *         grout_emit__close_issuer(e);
 *     }
 */
typedef struct grout_emit_box {
    grout_op_id id;
    grout_view array; /* the G operand */
    bool has_smem;    /* the op has an H operand, too */
    grout_view smem;
    grout_tma tma;
} grout_emit_box;

/* False, with the failure reported, if the operands are no boxes or TMA cannot move them. */
bool grout_emit__find_box(grout_emitter *e, grout_op_id id, const grout_op *op,
                          grout_emit_box *box_out);
/* The loops over bands and panels: a layout in tiles takes an instruction for each; and their ends.
 */
void grout_emit__open_box(grout_emitter *e, const grout_emit_box *box);
void grout_emit__close_box(grout_emitter *e, const grout_emit_box *box);
/* What an instruction is given, inside the loops. The map's name: "a_map". */
void grout_emit__box_map(grout_emitter *e, const grout_emit_box *box);
/* The address in SMEM: "as + panel * 4096u". */
void grout_emit__box_smem(grout_emitter *e, const grout_emit_box *box);
/* Where it starts in the array, fastest dimension first: ", col + panel * 32, row". */
void grout_emit__box_coordinates(grout_emitter *e, const grout_emit_box *box);
/* All of it: "name(a_map, as, col, row);", without "as" if there is no SMEM operand. */
void grout_emit__box_call(grout_emitter *e, const grout_emit_box *box, const char *name);

/* ---- between registers and memory (emit_memory.c, emit_matrix.c, emit_conflicts.c) ---- */

/* What memory holds: a bool is a byte there. */
const char *grout_emit__memory_type(grout_dtype dtype);
/* The element that goes there. */
void grout_emit__element(grout_emitter *e, const grout_operand *from, grout_dtype dtype,
                         const char *index);
/* "const grout_vector<T, 4> chunk = {v[reg], v[reg + 1], ...};" and the way back, with " != 0" as
 * the tail of bools. */
void grout_emit__write_chunk(grout_emitter *e, const grout_operand *from, grout_dtype dtype,
                             uint32_t width);
void grout_emit__read_chunk(grout_emitter *e, grout_value_id value, uint32_t width,
                            const char *tail);
/* How many neighbouring elements a lane has in neighbouring registers. */
uint32_t grout_emit__get_run(const grout_register_layout *layout);

/* stmatrix or ldmatrix, if they can move a value between registers and a view. */
typedef struct grout_emit_matrix {
    uint32_t count;     /* of matrices an instruction, 2 or 4; 0: they cannot */
    bool is_transposed; /* memory has the rows' index along its runs */
} grout_emit_matrix;
grout_emit_matrix grout_emit__find_matrix(const grout_emitter *e, const grout_view *view,
                                          const grout_register_layout *layout);
void grout_emit__store_matrices(grout_emitter *e, grout_value_id from, const grout_view *view,
                                const grout_emit_matrix *matrix);
void grout_emit__load_matrices(grout_emitter *e, grout_value_id to, const grout_view *view,
                               const grout_emit_matrix *matrix);

/* In half of a warp's lanes, those with a bit of their number set, an access of the wgmma layout
 * may take the columns beside: where the two halves would meet in the banks of SMEM. */
typedef struct grout_emit_turn {
    uint32_t lane_bit;
    uint32_t cols; /* column c becomes c ^ cols; 0: nothing is turned */
} grout_emit_turn;
grout_emit_turn grout_emit__find_turn(const grout_emitter *e, const grout_view *view,
                                      const grout_register_layout *layout, uint32_t width);

/* Says in a comment, and in the options' notes, where accesses of width elements meet in the banks
 * of SMEM. Nothing of GMEM. */
void grout_emit__report_passes(grout_emitter *e, const grout_op *op, const grout_view *view,
                               const grout_register_layout *layout, uint32_t width);
void grout_emit__report_matrix_passes(grout_emitter *e, const grout_op *op, const grout_view *view,
                                      const grout_register_layout *layout,
                                      const grout_emit_matrix *matrix);

/* ---- between the lanes of a thread (emit_exchange.c) ---- */

bool grout_emit__is_same_layout(const grout_register_layout *a, const grout_register_layout *b);
/* Whether the plan gave this op so many bytes of the exchange area; if not, it is unsupported. */
bool grout_emit__check_exchange(grout_emitter *e, grout_op_id id, int64_t bytes);
/* Every element of an array of registers to the exchange area, row-major. */
void grout_emit__write_exchange(grout_emitter *e, const grout_operand *source);

/* ---- loops (emit_control.c) ---- */

/* The carries of a loop: variables by the names of its results. */
typedef struct grout_emit_carries {
    const grout_op *op;         /* the loop */
    uint32_t first_operand;     /* what they begin with */
    grout_value_id first_carry; /* block arguments */
    grout_block_id yielding;    /* what they become */
} grout_emit_carries;

grout_emit_carries grout_emit__find_carries(const grout_emitter *e, const grout_op *loop);
void grout_emit__begin_carries(grout_emitter *e, const grout_emit_carries *c);
void grout_emit__assign_carries(grout_emitter *e, const grout_emit_carries *c);
/* The variables of an op's results, before the block that assigns them; what a block yields. */
void grout_emit__declare_results(grout_emitter *e, const grout_op *op);
void grout_emit__assign_results(grout_emitter *e, const grout_op *op, grout_block_id block);

/* ---- automatic barriers (emit_sync.c) ---- */

/* "grout_thread_barrier(thread);": everything pending is settled. */
void grout_emit__thread_barrier(grout_emitter *e, const char *reason);
/* Before a lane accesses an object: a barrier if others may have accessed the same bytes. */
void grout_emit__before_access(grout_emitter *e, grout_object_id object, bool is_write);
void grout_emit__after_access(grout_emitter *e, grout_object_id object, bool is_write);
/* Before the issuer acts for all lanes. */
void grout_emit__before_issue(grout_emitter *e, const char *reason);
/* After an op: what the column LANES of sync.def says that its lanes may still be at. An op in
 * which all lanes should meet, and whose CUDA does not make them, is reported. */
void grout_emit__note_lanes(grout_emitter *e, const grout_op *op);
/* Publishes the thread's (or warp's) accesses of its CTA's SMEM to the async proxy: what
 * commit_smem and the fences of 'attr auto_fence' do. */
void grout_emit__publish_smem(grout_emitter *e);
/* What both of two paths may leave pending. */
void grout_emit__join_pending(grout_emit_pending *into, const grout_emit_pending *other);
/* What the end of a block may leave pending for its next run. */
void grout_emit__collect_pending(const grout_emitter *e, grout_block_id id,
                                 grout_emit_pending *into);

/* After a wait for wgmmas, which each warp makes for itself: what they read is still being read by
 * the other warps' ones. */
void grout_emit__after_wgmma_wait(grout_emitter *e);

/* All lanes are known to have met: nothing is pending. */
void grout_emit__settle(grout_emitter *e);

/* The plan's entry of the barrier that an op is given, and that operand; NULL with a diagnostic if
 * there is none. */
const grout_gpu_barrier *grout_emit__find_barrier(grout_emitter *e, const grout_op *op,
                                                  grout_view *view_out);
/* The device header's word for what an op's order(..) or scope(..) says, or fallback. */
const char *grout_emit__choice(const grout_emitter *e, const grout_op *op, grout_attr attr,
                               const char *fallback);
/* Whether the op says order(relaxed). */
bool grout_emit__is_relaxed(const grout_emitter *e, const grout_op *op);
/* "<GROUT_RELAXED, GROUT_CLUSTER>": order and scope of a barrier's operation, strong being the
 * default's name; nothing where they are the default. */
void grout_emit__barrier_order(grout_emitter *e, const grout_op *op, const grout_gpu_barrier *entry,
                               const char *strong);
/* ", 12});": the end of a wait's site and of its call. */
void grout_emit__end_site(grout_emitter *e, const grout_op *op);
/* The index of a barrier or semaphore reference: a constant, or terms. */
void grout_emit__slot(grout_emitter *e, const grout_view *barrier);
/* The SMEM address of one barrier, in the cluster's window if it is another CTA's. */
void grout_emit__barrier_address(grout_emitter *e, const grout_view *barrier);
/* The variable that holds a pool's phases: one bit an element. */
grout_gpu_name grout_emit__phases_name(const grout_emitter *e, uint32_t barrier);
/* The same for the arrivals that are watched. */
grout_gpu_name grout_emit__arrived_name(const grout_emitter *e, uint32_t barrier);

/* ---- other CTAs of the cluster (emit_cluster.c) ---- */

/* Whether a reference has a '.cluster(..)': it lies in the CTA named there, in the window of all
 * CTAs' SMEM (shared::cluster). */
bool grout_emit__is_peer(const grout_view *view);
/* The rank of that CTA: "peer * 2 + 1", as an operand of a call. */
void grout_emit__rank(grout_emitter *e, const grout_view *view);
/* "rank / 2 % 4": this CTA's index among those that differ from it only along a set of axes,
 * row-major; and the set of their ranks as bits: "0x11u << rank % 4". */
void grout_emit__group_index(grout_emitter *e, uint32_t axes);
void grout_emit__group_mask(grout_emitter *e, uint32_t axes);
/* An arrival on a cluster barrier: one on the barrier of every peer. */
void grout_emit__arrive_peers(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                              int64_t count);

/* ---- what one lane finds out for all (emit_uniform.c) ---- */

/* The statements around the expression of a scalar that lanes must not find out each for itself:
 * another moment would give another value. */
void grout_emit__begin_uniform(grout_emitter *e, grout_value_id value);
void grout_emit__end_uniform(grout_emitter *e, grout_value_id value);

/* ---- warps and partitions (emit_warp.c, emit_specialize.c) ---- */

grout_emit_forks grout_emit__find_forks(const grout_emitter *e);
bool grout_emit__has_warp_stores(const grout_emitter *e);
/* What follows the last mbarrier_init: every thread of the cluster learns that they are made. */
void grout_emit__init_rendezvous(grout_emitter *e);
/* The body of a kernel with a warp_specialize: a part for each thread. */
void grout_emit__specialized_body(grout_emitter *e);

/* ---- what one lane does alone (emit_lone.c) ---- */

/* Whether an op is nested in its user's text (emit.c). */
bool grout_emit__is_nested(const grout_emitter *e, const grout_op *op);
/* The first op of a block from which on to the kernel's end one lane is enough; 0 if there is none.
 * Such a lane loops, waits and copies without ever meeting the others. */
grout_op_id grout_emit__find_lone_part(const grout_emitter *e, grout_block_id id);

/* ---- the tensor core (emit_wgmma.c, emit_wgmma_form.c, emit_accumulator.c) ---- */

/* "grout_wgmma_m64n128k16_f32_bf16": the function that is one form of the instruction. */
grout_gpu_name grout_emit__wgmma_name(const grout_wgmma *wgmma);
/* Those that the kernel uses, unless the text has them. */
void grout_emit__wgmma_forms(grout_emitter *e);

/* Registers of a lane for so many elements of an accumulator; its C++ type. */
uint32_t grout_emit__count_accumulators(grout_dtype dtype, int64_t elements);
const char *grout_emit__accumulator_type(grout_dtype dtype);
bool grout_emit__is_accumulator(const grout_emitter *e, const grout_view *view);
/* "grout_f32 acc[64] = {};" */
void grout_emit__declare_accumulator(grout_emitter *e, grout_value_id value);
/* The elements of an accumulator as a value, after what waiting there is. */
void grout_emit__read_accumulator(grout_emitter *e, const grout_op *op, const grout_view *view);
void grout_emit__write_accumulator(grout_emitter *e, const grout_op *op, const grout_view *view);
/* "grout_wgmma_wait<1>();" */
void grout_emit__wait_wgmmas(grout_emitter *e, int64_t pending);

/* ---- kernels (emit_kernel.c) ---- */

void grout_emit__kernel(grout_emitter *e);
/* "const grout_u32 as = smem + 1024; // smem f32[2, 32, 64]" */
void grout_emit__object(grout_emitter *e, grout_value_id value);
/* The line of the kernel's text, for reports. */
uint32_t grout_emit__get_line(const grout_emitter *e, grout_loc_id loc);

/* Appends the kernel's text alone, without the device header. What grout_emit_cuda calls. */
bool grout_emit__kernel_text(const grout_module *module, grout_kernel_id kernel,
                             const grout_emit_options *options, grout_text *out,
                             grout_diags *diags);

/* ---- one function an op (emit_elementwise.c, emit_memory.c, emit_sync.c, emit_control.c) ---- */

typedef void grout_emit_op(grout_emitter *e, grout_op_id id, const grout_op *op);

grout_emit_op grout_emit__alu;
grout_emit_op grout_emit__math;
grout_emit_op grout_emit__reduce;
grout_emit_op grout_emit__atomic;
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION, DOC)
#define GROUT_MATH(NAME, text, EXPRESSION, ULP, DOC)
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION, DOC)
#define GROUT_ATOMIC(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, UPDATE, DOC)
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, DOC) \
    grout_emit_op grout_emit__##text;
#include "grout/ops.def"

#endif
