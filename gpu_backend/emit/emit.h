/*
 * emit.h - what is written for operations and kernels: what the files of emit/ share beside the
 * writer.
 *
 * From low to high: families of operations (emit_*.c, a function an op), the blocks that hold them
 * (emit_block.c), regions, the kernel around (emit_kernel.c), and emit.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_EMIT_H
#define GROUT_GPU_EMIT_H

#include "emit_ops.h"
#include "emitter.h"
#include "lanes.h"
#include "places.h"
#include "values.h"

/* "extern "C" __device__ grout_f32 clip(grout_f32, grout_i32);": of the function that the op calls
 * (emit_extern.c). */
void grout_emit__declare_extern(const grout_module *module, const grout_op *op, grout_text *out);

/* ---- printf (emit_print.c) ---- */

/* printf's conversion of an element of an operand, the argument for it, and a part of the format:
 * as the interpreter prints it. */
const char *grout_emit__conversion(grout_emitter *e, const grout_operand *operand);
void grout_emit__printed(grout_emitter *e, const grout_operand *operand, const char *index);
void grout_emit__format(grout_emitter *e, const char *text, size_t size);

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

/* The type of partial results of reductions and scans: what grout_widen gives (emit_reduce.c). */
grout_dtype grout_emit__get_partial(grout_dtype dtype);

/* ---- between registers and memory (emit_matrix.c, emit_conflicts.c) ---- */

/* stmatrix or ldmatrix, if they can move a value between registers and a view. */
typedef struct grout_emit_matrix {
    uint32_t count;     /* of matrices an instruction, 2 or 4; 0: they cannot */
    bool is_transposed; /* memory has the rows' index along its runs */
} grout_emit_matrix;
grout_emit_matrix grout_emit__find_matrix(const grout_emitter *e, const grout_view *view,
                                          const grout_register_layout *layout, bool is_load);
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

/* ---- edges between CTAs (emit_wide.c) ---- */

/* Warns (gpu-loss) of each barrier whose operations release or acquire for the cluster in a loop,
 * once a barrier, with what makes them. */
void grout_emit__report_wide(grout_emitter *e);

/* Warns (gpu-loss) of each copy in a loop that takes many boxes of at most 1 KiB (emit_boxes.c). */
void grout_emit__report_boxes(grout_emitter *e);

/* ---- accesses by indices or with a mask (emit_pick.c) ---- */

/* What the statement at one place needs. */
typedef struct grout_emit_pick {
    const grout_op *op;
    grout_pick pick;
    grout_view view;                     /* of the memory */
    const grout_register_layout *layout; /* of the elements; NULL: one element, by one lane */
    uint32_t width;                      /* elements that one access takes */
    bool is_exchanged;                   /* the indices go to all lanes by the exchange area */
    bool fills;                          /* a copy: what is masked is written too, as zeros */
    bool has_groups; /* what lanes hold of a piece goes through the exchange area, too: its index */
    int64_t groups_at;     /* or -1, an i32 for each piece, from this byte on */
    uint32_t index, group; /* numbers of the names of a place's index, and of its piece's entry */
} grout_emit_pick;

/* Writes a call for the elements at a place: its address is that of a view. */
typedef void grout_emit_picked(grout_emitter *e, const grout_emit_pick *p, const grout_view *at);
/* Stores and atomics: the call for each element that is touched, once. one_lane: of no array. */
void grout_emit__write_picks(grout_emitter *e, grout_op_id id, const grout_op *op,
                             uint32_t width_max, grout_emit_picked *act);

/* Whether the mask, which there is, lets the place through: an expression. */
void grout_emit__touched(grout_emitter *e, const grout_emit_pick *p);
/* The strided layout, with pieces that stay as wide as they can be: rather some lanes have none. */
grout_register_layout grout_emit__deal_out(const grout_emitter *e, int64_t count, uint32_t width);
/* The map that a make_tensor_descriptor has made, as a copy takes it (emit_tensor_map.c). */
void grout_emit__made_map(grout_emitter *e, const grout_op *maker);

/* ---- between the lanes of a thread (emit_exchange.c) ---- */

/* Whether the plan gave this op this many bytes of the exchange area; if not, it is unsupported. */
bool grout_emit__check_exchange(grout_emitter *e, grout_op_id id, int64_t bytes);
/* The parts of operands that the result consists of, in registers or through SMEM (emit_part.c). */
void grout_emit__parts(grout_emitter *e, grout_op_id id, const grout_op *op);
/* Every element of an array of registers to the exchange area, row-major. */
void grout_emit__write_exchange(grout_emitter *e, const grout_operand *source);
/* A value, a scalar too, from there. */
void grout_emit__read_exchange(grout_emitter *e, grout_value_id value);

/* ---- the tensor core (emit_wgmma.c, emit_wgmma_form.c, emit_accumulator.c, emit_mma.c) ---- */

/* "grout_wgmma_m64n128k16_f32_bf16": the function that is one form of the instruction. */
grout_gpu_name grout_emit__wgmma_name(const grout_wgmma *wgmma, uint32_t selector);
/* How many pairs of lanes of a quad can have the metadata of an instruction: 2 for a sparse a of
 * 16-bit or 32-bit elements, of which each second step takes the second pair. */
uint32_t grout_emit__count_selectors(const grout_wgmma *wgmma);
/* An element type as PTX calls it; f32 operands are tf32. */
const char *grout_emit__get_ptx_type(uint8_t dtype, bool is_operand);
/* Whether the text, which may hold other kernels, has the function that is a form. */
bool grout_emit__has_function(const grout_emitter *e, const char *name);
/* Those that the kernel uses, unless the text has them. */
void grout_emit__wgmma_forms(grout_emitter *e);
/* Those of mma.sync. */
void grout_emit__mma_forms(grout_emitter *e);

/* ---- an a in registers, and metadata (emit_wgmma_hold.c) ---- */

/* Declares registers for a wgmma: x<number>. */
uint32_t grout_emit__begin_hold(grout_emitter *e, uint32_t registers);
/* The wgmma has been written: its registers stay in use until a wait of its block covers it. If it
 * comes again before, and the turns of its loop have no registers of their own, it is waited for
 * here. */
void grout_emit__end_hold(grout_emitter *e, grout_op_id id, const grout_emit_hold *holds,
                          uint32_t count);
/* After an op: what it has waited for is no longer in use. */
void grout_emit__release_held(grout_emitter *e, grout_op_id id);

/* Registers of a lane for this many elements of an accumulator. */
uint32_t grout_emit__count_accumulators(grout_dtype dtype, int64_t elements);
/* The type of those registers: f16 come in pairs. */
const char *grout_emit__get_accumulator_type(grout_dtype dtype);
/* "grout_f32 acc[64] = {};" */
void grout_emit__declare_accumulator(grout_emitter *e, grout_value_id value);
/* The elements of an accumulator as a value, after what waiting there is. */
void grout_emit__read_accumulator(grout_emitter *e, const grout_op *op, const grout_view *view);
void grout_emit__write_accumulator(grout_emitter *e, const grout_op *op, const grout_view *view);
/* "grout_wgmma_wait<1>();" */
void grout_emit__wait_wgmmas(grout_emitter *e, int64_t pending);

/* ---- objects (emit_object.c) ---- */

/* "const grout_u32 as = smem + 1024; // smem f32[2, 32, 64]" */
void grout_emit__object(grout_emitter *e, grout_value_id value);
/* The C++ type of a workspace's elements: a bool is a byte there. */
const char *grout_emit__workspace_type(const grout_emitter *e,
                                       const grout_gpu_workspace *workspace);

/* ---- blocks (emit_block.c) ---- */

void grout_emit__block(grout_emitter *e, grout_block_id id);
/* One op of a block: comment and statements. */
void grout_emit__op(grout_emitter *e, grout_op_id id);

/* ---- loops and results (emit_control.c) ---- */

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

/* ---- loops in rounds (emit_rounds.c) ---- */

/* Turns of a round, each with registers of its own for the tensor core; 0: the loop is written as
 * it is. */
typedef struct grout_emit_turns {
    int64_t in_round;
    bool is_one_round;  /* which is all of the loop, or each turn is one */
    bool is_rest_empty; /* the rounds are */
} grout_emit_turns;

grout_emit_turns grout_emit__find_turns(const grout_emitter *e, const grout_op *op);
/* A 'for' of rounds, after its carries' first values. */
void grout_emit__write_rounds(grout_emitter *e, const grout_op *op, const grout_emit_turns *turns,
                              const grout_emit_carries *carries);
/* Registers that a lane of the kernel can have: e->forks.registers_max. */
uint32_t grout_emit__find_registers_max(const grout_emitter *e);

/* ---- what one lane does alone (emit_lone.c) ---- */

/* The first op of a block from which on to the kernel's end one lane is enough; 0 if there is none.
 * Such a lane loops, waits and copies without ever meeting the others. */
grout_op_id grout_emit__find_lone_part(const grout_emitter *e, grout_block_id id);

/* ---- warps and partitions (emit_warp.c, emit_specialize.c) ---- */

grout_emit_forks grout_emit__find_forks(const grout_emitter *e);
bool grout_emit__has_warp_stores(const grout_emitter *e);
/* What follows the last mbarrier_init: every thread of the cluster learns that they are made. */
void grout_emit__init_rendezvous(grout_emitter *e);
/* The arrival of an op on one CTA's barrier, by one lane for all. */
void grout_emit__arrive_for_all(grout_emitter *e, const grout_op *op, const grout_view *barrier,
                                const grout_gpu_barrier *entry);
/* Refuses what takes all threads of the CTA where the parts of a warp_specialize cannot have it. */
void grout_emit__check_common(grout_emitter *e, const grout_op *op);
/* The first threads of the CTA meet at the hardware's barrier 0. */
void grout_emit__partition_barrier(grout_emitter *e, uint32_t members, const char *reason);
/* The body of a kernel with a warp_specialize: a part for each thread. */
void grout_emit__specialized_body(grout_emitter *e);

/* ---- kernels (emit_kernel.c, emit.c) ---- */

/* The whole function: signature, barriers, body. */
void grout_emit__kernel(grout_emitter *e);
/* Appends the kernel's text alone, without the device header. What grout_emit_cuda calls. */
bool grout_emit__kernel_text(const grout_module *module, grout_kernel_id kernel,
                             const grout_emit_options *options, grout_text *out,
                             grout_diags *diags);

#endif
