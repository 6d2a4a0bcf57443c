/* infer.h - what the files of type inference share; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_INFER_H
#define GROUT_IR_INFER_H

#include "bound.h"

/* Infers one operation without regions (infer.c). */
void grout_infer__op(grout_binding *binding, const grout_op *op);
/* Operands that have a letter of their own, at most: what a rule gets the types of. */
#define GROUT_LETTERS_MAX 4
/* infer_letters.c: whether every operand is of the kind that its letter says; reported if not. A
 * constant has the type of a scalar without element type, until its rule gives it one. An operand
 * that the op lacks has the type NONE. */
bool grout_infer__check_letters(grout_binding *binding, const grout_op *op,
                                grout_type types[GROUT_LETTERS_MAX]);
/* The result type of one operation, from those of its operands; false after a report.
 * infer_array.c: */
bool grout_infer__broadcast(grout_binding *binding, const grout_op *op, const grout_type *types,
                            grout_type *type);
bool grout_infer__iota(grout_binding *binding, const grout_op *op, grout_type *type);
bool grout_infer__reduce(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type);
bool grout_infer__scan(grout_binding *binding, const grout_op *op, const grout_type *types,
                       grout_type *type);
bool grout_infer__layout(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type);
bool grout_infer__mma(grout_binding *binding, const grout_op *op, const grout_type *types,
                      grout_type *type);
/* Reports an operand that is no array of an element type that the op takes, and returns its type;
 * kind NONE after a report. */
grout_type grout_infer__get_array(grout_binding *binding, const grout_op *op, uint32_t index,
                                  grout_type type);
/* infer_part.c: */
bool grout_infer__slice(grout_binding *binding, const grout_op *op, const grout_type *types,
                        grout_type *type);
bool grout_infer__reshape(grout_binding *binding, const grout_op *op, const grout_type *types,
                          grout_type *type);
bool grout_infer__transpose(grout_binding *binding, const grout_op *op, const grout_type *types,
                            grout_type *type);
bool grout_infer__concatenate(grout_binding *binding, const grout_op *op, grout_type *type);
/* infer_check.c: */
bool grout_infer__check(grout_binding *binding, const grout_op *op, const grout_type *types);
bool grout_infer__promise(grout_binding *binding, const grout_op *op, const grout_type *types,
                          grout_type *type);
/* infer_element.c: */
bool grout_infer__fetch(grout_binding *binding, const grout_op *op, const grout_type *types,
                        grout_type *type);
bool grout_infer__descriptor(grout_binding *binding, const grout_op *op, const grout_type *types,
                             grout_type *type);
/* Checks the condition of a while: its place and its type. */
void grout_infer__condition(grout_binding *binding, const grout_op *op);
/* Whether a reference, of an operation whose rule is INT, has integers: reported if not. */
bool grout_infer__check_integers(grout_binding *binding, const grout_op *op, uint32_t index,
                                 const grout_type *ref);
/* infer_pick.c: operands that are indices or a mask, and rules of those that have them. */
bool grout_infer__check_indices(grout_binding *binding, const grout_op *op, uint32_t index,
                                const grout_type *type);
bool grout_infer__check_mask(grout_binding *binding, const grout_op *op, uint32_t index,
                             const grout_type *type);
bool grout_infer__masked_load(grout_binding *binding, const grout_op *op, const grout_type *types,
                              grout_type *type);
bool grout_infer__masked_store(grout_binding *binding, const grout_op *op, const grout_type *types);
bool grout_infer__im2col(grout_binding *binding, const grout_op *op, const grout_type *types);
bool grout_infer__rows(grout_binding *binding, const grout_op *op, const grout_type *types);
bool grout_infer__gather(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type);
bool grout_infer__scatter(grout_binding *binding, const grout_op *op, const grout_type *types);
bool grout_infer__masked_copy(grout_binding *binding, const grout_op *op, const grout_type *types);
bool grout_infer__gather_copy(grout_binding *binding, const grout_op *op, const grout_type *types);
/* infer_type.c: */
/* A type in registers: a scalar if the rank of the shape is 0. False after a report that it is too
 * large. */
bool grout_infer__make_register(grout_binding *binding, const grout_op *op, const grout_type *shape,
                                grout_dtype dtype, grout_type *type_out);
void grout_infer__set_type(grout_binding *binding, grout_value_id value, grout_block_id scope,
                           const grout_type *type);
/* The ': type' of an operation; kind NONE after a report that it is none, or too large. */
grout_type grout_infer__get_written(grout_binding *binding, const grout_op *op);
/* Whether the operation takes the element type (TYPES column of ops.def); reported at loc if not.
 */
bool grout_infer__check_rule(grout_binding *binding, const grout_op *op, grout_loc_id loc,
                             grout_dtype dtype);

/* infer_operand.c: */
/*
 * The type of an operand that has to be a value: SCALAR or ARRAY, a constant a SCALAR without dtype
 * until grout_infer__set_constant gives it one. Kind NONE: a report has been made, here or earlier.
 */
grout_type grout_infer__get_value(grout_binding *binding, const grout_op *op, uint32_t index);
/* Makes a constant operand an element of dtype; false after a report that it is none. */
bool grout_infer__set_constant(grout_binding *binding, const grout_op *op, uint32_t index,
                               grout_dtype dtype);
/* The type that a constant has where nothing else says: i32, f32 or bool. */
grout_dtype grout_infer__get_default(const grout_binding *binding, const grout_operand *operand);
/* A scalar operand of the element type, or false after a report. what: "the bounds of a loop". */
bool grout_infer__check_scalar(grout_binding *binding, const grout_op *op, uint32_t index,
                               grout_dtype dtype, const char *what);
/* An operand that has to be a reference to an array (kind REF), to one barrier (BARRIER) or to one
 * semaphore (SEMAPHORE): its type, indices applied. Kind NONE after a report. */
grout_type grout_infer__get_reference(grout_binding *binding, const grout_op *op, uint32_t index,
                                      grout_type_kind kind);
/* Whether all values that the operands use are defined before op and around it; reported if not. */
bool grout_infer__check_uses(grout_binding *binding, const grout_op *op);
/* A help line for the diagnostic just made: how the operation is written. */
void grout_infer__help_operands(grout_binding *binding, const grout_op *op);
/* An operand as messages name it: "'%a'", "'0.5'", "operand 2". */
grout_value_text grout_infer__get_operand_text(const grout_binding *binding, const grout_op *op,
                                               uint32_t index);

static inline const char *grout_infer__get_mnemonic(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->text;
}

static inline const char *grout_infer__get_dtype_text(uint32_t dtype) {
    return grout_dtype_get_info((grout_dtype)dtype)->text;
}

static inline const grout_operand *grout_infer__get_operand(const grout_binding *binding,
                                                            const grout_op *op, uint32_t index) {
    return grout_module_get_operand(binding->module, op, index);
}

#endif
