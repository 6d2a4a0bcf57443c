/* wgmma.h - what the files that plan a wgmma share with its rules; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_WGMMA_H
#define GROUT_IR_WGMMA_H

#include "bound.h"
#include "grout-internal/verify.h"

#define GROUT_WGMMA_ROWS        64 /* of the accumulator, of one instruction */
#define GROUT_WGMMA_COLUMN_STEP 8
#define GROUT_WGMMA_COLUMNS_MAX 256
#define GROUT_WGMMA_STEP_BYTES  32 /* of a row of K that one instruction takes */
#define GROUT_WGMMA_GROUPS_MAX  7  /* what wgmma.wait_group can leave in flight */

/* What set_max_registers can ask for. */
#define GROUT_REGISTERS_MIN  24
#define GROUT_REGISTERS_MAX  256
#define GROUT_REGISTERS_STEP 8

/* A wgmma being planned, or an mma. */
typedef struct grout_wgmma_planning {
    const grout_module *module;
    grout_diags *diags; /* or NULL */
    const grout_op *op;
    grout_wgmma *wgmma; /* or: */
    grout_mma *mma;
    bool is_tcgen05; /* of a tcgen05_mma: the descriptors are the same, some rules are not */
    bool is_copy;    /* of a copy to tensor memory, whose source is operand 0 and read as an a */
    uint32_t alone;  /* the operand that alone is looked at in SMEM, 1 or 2; 0: both are */
} grout_wgmma_planning;

/* wgmma_types.c: the types in which products of two element types are added up, as bits 1 <<
 * grout_dtype; 0: the tensor core does not multiply them. */
uint32_t grout_wgmma__get_accumulators(grout_dtype a, grout_dtype b);
#define GROUT_WGMMA_PAIRS_TEXT                                                             \
    "the pairs are f16 by f16, bf16 by bf16, f32 by f32, read as tf32 (8 exponent and 10 " \
    "fraction bits), f8e4m3 or f8e5m2 by either, and i8 or u8 by either"

/* The same of a tcgen05_mma, and of one whose operands have scales. */
uint32_t grout_tcgen05__get_accumulators(const grout_type *a, const grout_type *b, bool is_scaled);

/* wgmma_sparse.c: of what K of b is a multiple: whole registers of metadata. */
uint32_t grout_wgmma__get_sparse_step(const grout_wgmma *wgmma);
/* Whether the metadata, if there is any, is that of an a of this shape and type. */
bool grout_wgmma__check_metadata(grout_wgmma_planning *planning);

/* Reports at an operand, if anybody listens; returns false. */
bool grout_wgmma__fail(grout_wgmma_planning *planning, grout_diag_code code,
                       const grout_operand *operand, const char *format, ...) GROUT_PRINTF(4, 5);
void grout_wgmma__help(grout_wgmma_planning *planning, const char *format, ...) GROUT_PRINTF(2, 3);
/* The name of what an operand refers to, in quotes, or the fallback. */
grout_value_text grout_wgmma__get_name(const grout_wgmma_planning *planning,
                                       const grout_operand *operand, const char *fallback);

/* wgmma_operand.c: how the tensor core addresses a or b, of agreed shape, in SMEM. k_step: elements
 * of K of one instruction. */
bool grout_wgmma__plan_operand(grout_wgmma_planning *planning, bool is_a,
                               grout_wgmma_operand *operand_out);

/* wgmma_plan.c: grout_wgmma_plan as far as it is about the layout of one operand, 1 (a) or 2 (b).
 */
bool grout_wgmma__fits(const grout_module *bound, grout_op_id wgmma, uint32_t operand,
                       grout_diags *diags);

/* tcgen05_plan.c: the same of a tcgen05_mma. */
bool grout_tcgen05__fits(const grout_module *bound, grout_op_id mma, uint32_t operand,
                         grout_diags *diags);

/*
 * wgmma_accumulator.c: whether a reference to an accumulator is the whole of it or a slice of its
 * columns, and at which column it starts. On failure says why, if diags is not NULL.
 */
bool grout_wgmma__find_columns(const grout_module *module, const grout_operand *operand,
                               grout_diags *diags, int64_t *column_out);
/* Whether an object in space ACC is an accumulator that wgmma has. */
bool grout_wgmma__check_accumulator(const grout_module *module, grout_object_id id,
                                    grout_diags *diags);
/* Registers of each lane that an accumulator takes. */
int64_t grout_wgmma__count_registers(const grout_module *module, grout_object_id id);

#endif
