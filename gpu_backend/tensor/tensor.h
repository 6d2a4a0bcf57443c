/*
 * tensor.h - the tensor core of Blackwell in the text: tensor memory, its loads and stores,
 * descriptors of matrices. Products, copies and launch control are functions of operations, which
 * ops.def names. SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_TENSOR_H
#define GROUT_GPU_TENSOR_H

#include "grout-internal/verify.h"

#include "emit_ops.h"
#include "emitter.h"

/* ---- tensor memory of the kernel (columns.c) ---- */

/* At the kernel's start: the mbarrier of its end, by one lane; the allocation, by one warp; and the
 * address of the columns, when all have met. */
void grout_tensor__init_drain(grout_emitter *e);
void grout_tensor__allocate(grout_emitter *e);
void grout_tensor__take_columns(grout_emitter *e);
/* CTAs that multiply together: 1 or 2, in all instructions. */
uint32_t grout_tensor__get_group(const grout_emitter *e);
/* At its end: the tensor core has nothing left to do; then the columns go back. */
void grout_tensor__drain(grout_emitter *e);
void grout_tensor__free_columns(grout_emitter *e);

/* "const grout_u32 acc = tmem + 128; // tmem f32[128, 64]" */
void grout_tensor__object(grout_emitter *e, grout_value_id value);
/* The address of a view's first element, skip elements further along its columns, in the first of
 * the lanes that it takes: "acc + (slot) * 128 + 64". */
void grout_tensor__address(grout_emitter *e, const grout_view *view, int64_t skip);
/* Columns of 32 bits of one slot of an array; elements of a row that share one. */
int64_t grout_tensor__count_slot_columns(const grout_module *module, grout_object_id id);
uint32_t grout_tensor__get_packing(const grout_module *module, grout_object_id id);
/* Whether the array's rows are 64, and its halves of columns in lanes beside each other. */
bool grout_tensor__has_halves(const grout_module *module, grout_object_id object);

/* ---- loads and stores (memory.c) ---- */

/* The functions that are the instructions which the kernel needs, unless the text has them. */
void grout_tensor__forms(grout_emitter *e);
/* A load, and a store, of an array in the registers that the instructions move. */
void grout_tensor__load(grout_emitter *e, const grout_op *op);
void grout_tensor__store(grout_emitter *e, const grout_op *op);
/* Whether it has to go through the exchange area instead; and that half of the way: from tensor
 * memory to there, row by row, and back. */
bool grout_tensor__is_exchanged(const grout_emitter *e, const grout_op *op);
void grout_tensor__load_cells(grout_emitter *e, const grout_op *op);
void grout_tensor__store_cells(grout_emitter *e, const grout_op *op);
/* Waits for all loads that nobody has waited for: their values may be used. */
void grout_tensor__await(grout_emitter *e);
/* The same before an op that uses one of them, has blocks or ends one. */
void grout_tensor__await_used(grout_emitter *e, const grout_op *op);

/* ---- matrices in SMEM (matrix.c) ---- */

/* The parts of a matrix descriptor that do not change with the address: "grout_operand_start(..)"
 * takes bits 0 to 13, the lower half this, the upper half the other. */
typedef struct grout_tensor_matrix {
    uint32_t low, high;
} grout_tensor_matrix;
grout_tensor_matrix grout_tensor__describe_matrix(const grout_wgmma_operand *operand);
/* "const grout_u32 x5 = grout_operand_start(as) | 65536u;" and the number of x. */
uint32_t grout_tensor__write_start(grout_emitter *e, const grout_view *view, uint32_t low);
/* "grout_operand(x5 + part / 4 * 512 + part % 4 * 2, 0x40004040u)": of the part 'part' of this
 * many.
 */
void grout_tensor__matrix(grout_emitter *e, const grout_wgmma_operand *operand, uint32_t start,
                          uint32_t high, uint32_t parts);
/* The loop over parts, unrolled, if there are several; and its end. */
void grout_tensor__open_parts(grout_emitter *e, uint32_t parts);
void grout_tensor__close_parts(grout_emitter *e, uint32_t parts);

#endif
