/* reference_state.h - what the files of the reference share: values, arrays, references to boxes of
 * them, and the operations that made each.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_REFERENCE_STATE_H
#define GROUT_TESTS_RANDOM_REFERENCE_STATE_H

#include "reference.h"

#include "grout-internal/verify.h"

typedef reference_number num;

typedef struct reference {
    const grout_module *module;
    grout_kernel_id kernel_id;
    const grout_kernel *kernel;
    reference_array *arrays;  /* of the parameters */
    reference_array *objects; /* SMEM and accumulators, by object id */
    num **values;             /* by value id */
    reference_ops *made_by;   /* by value id: the operations that made it */
    reference_ops deciding;   /* the operations that decide what runs */
    reference_output *output;
    int64_t cta, thread;
    bool is_specialized; /* the kernel has a warp_specialize */
    const char *why;     /* set: cannot go on */
} reference;

typedef struct box {
    reference_array *array;
    const grout_type *type; /* of the object */
    grout_view view;
    int64_t start[GROUT_RANK_MAX], count;
} box;

int64_t reference__get_value_count(const reference *ref, grout_value_id value);
num *reference__define(reference *ref, grout_value_id value);
reference_array *reference__get_array(reference *ref, grout_object_id id);
void reference__clear_objects(reference *ref, bool accumulators_only);
const num *reference__get_operand(reference *ref, const grout_operand *operand, num *constant,
                                  int64_t *count_out);
int64_t reference__get_integer(reference *ref, const grout_operand *operand);
box reference__get_box(reference *ref, const grout_operand *operand);
int64_t reference__get_place(const box *b, int64_t i);
num reference__read_box(const box *b, int64_t i);
void reference__write_box(const box *b, int64_t i, num number);
void reference__note_ops(reference *ref, const grout_op *op);
void reference__note_write(reference *ref, const grout_op *op, reference_array *array);
void reference__add_operand_ops(reference *ref, const grout_op *op, reference_ops *ops);
void reference__lack(reference *ref, const grout_op *op);

/* ---- operations ---- */

void reference__run_elementwise(reference *ref, const grout_op *op);
void reference__run_broadcast(reference *ref, const grout_op *op);
void reference__run_iota(reference *ref, const grout_op *op);
void reference__run_slice(reference *ref, const grout_op *op);
void reference__run_concatenate(reference *ref, const grout_op *op);
void reference__run_transpose(reference *ref, const grout_op *op);
void reference__run_reduce(reference *ref, const grout_op *op);
void reference__run_scan(reference *ref, const grout_op *op);
void reference__run_masked_load(reference *ref, const grout_op *op);
void reference__run_masked_store(reference *ref, const grout_op *op);
void reference__run_gather(reference *ref, const grout_op *op);
void reference__run_masked_copy(reference *ref, const grout_op *op);
void reference__run_gather_copy(reference *ref, const grout_op *op);
void reference__run_scatter(reference *ref, const grout_op *op);
void reference__run_load(reference *ref, const grout_op *op);
void reference__run_store(reference *ref, const grout_op *op);
void reference__run_fetch(reference *ref, const grout_op *op);
void reference__run_copy(reference *ref, const grout_op *op);
void reference__run_print(reference *ref, const grout_op *op);
void reference__run_wgmma(reference *ref, const grout_op *op);
void reference__run_mma(reference *ref, const grout_op *op);
void reference__run_axis(reference *ref, const grout_op *op);

#endif
