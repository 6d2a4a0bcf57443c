/*
 * values.h - values in the text: operands, the registers that hold them, elements in memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_VALUES_H
#define GROUT_GPU_VALUES_H

#include "emitter.h"

/* ---- values (values.c) ---- */

const grout_register_layout *grout_emit__layout(const grout_emitter *e, grout_value_id value);
/* Whether each lane holds an array of registers of it: neither a scalar nor a splat. */
bool grout_emit__is_spread(const grout_emitter *e, const grout_operand *operand);
bool grout_emit__has_registers(const grout_register_layout *layout);
grout_dtype grout_emit__dtype(const grout_emitter *e, grout_value_id value);
const char *grout_emit__type_name(const grout_emitter *e, grout_value_id value);
/* An operand: a name, a name with [index] after it if it is spread (index NULL: none), or a
 * constant of its type. */
void grout_emit__operand(grout_emitter *e, const grout_operand *operand, const char *index);
/* The same as what arithmetic takes: f16 and bf16 as f32. */
void grout_emit__number(grout_emitter *e, const grout_operand *operand, const char *index);
/* The value of an operand that is a compile-time integer. */
int64_t grout_emit__get_integer(const grout_emitter *e, const grout_op *op, uint32_t operand);
/* A constant of an element type, from its bits. */
void grout_emit__constant(grout_emitter *e, grout_dtype dtype, uint64_t bits);
/* f16 and bf16: computed as f32, each result rounded. */
bool grout_emit__is_half(grout_dtype dtype);
/* Elements that the hardware adds and multiplies two at once: f32 on Blackwell. */
bool grout_emit__has_float_pairs(const grout_emitter *e, grout_value_id value);
/* "grout_f32 v[16]" or "grout_f32 v": a variable for a value, at the start of a line. */
void grout_emit__declare(grout_emitter *e, grout_value_id value);
/* The same as a statement of its own, with the layout as a comment. */
void grout_emit__declare_registers(grout_emitter *e, grout_value_id value);
/* The same for a value that is then given its elements alone. A register that holds none is 0: what
 * is computed of it has to be defined, for CUDA's cos finds an address in a table with it. */
void grout_emit__declare_elements(grout_emitter *e, grout_value_id value);
/* "const grout_i32 x = ": the start of the one statement that makes a scalar or splat. */
void grout_emit__begin_scalar(grout_emitter *e, grout_value_id value);
/* Whether a view is of an accumulator. */
bool grout_emit__is_accumulator(const grout_emitter *e, const grout_view *view);

/* ---- registers (registers.c) ---- */

bool grout_emit__is_same_layout(const grout_register_layout *a, const grout_register_layout *b);
/* How many neighbouring elements a lane has in neighbouring registers. */
uint32_t grout_emit__get_run(const grout_register_layout *layout);
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
/* ", 16", ", 32", "": the last argument of the device functions that say rows of the wgmma layouts,
 * where a block is not 64 of them. */
const char *grout_emit__get_block(const grout_register_layout *layout);
/* "if (lane < 4) {" and the like, where other lanes hold the same elements; and its end. */
/* The bits of a lane's number in which lanes of the same elements differ, of a tiled layout. */
uint32_t grout_emit__get_copies(const grout_register_layout *layout);
void grout_emit__open_owners(grout_emitter *e, const grout_register_layout *layout);
void grout_emit__close_owners(grout_emitter *e, const grout_register_layout *layout);
/* "flat / 64 % 32" or "at_row": the element's index along a dimension of its array. */
void grout_emit__index(grout_emitter *e, grout_emit_at at, const grout_type *type, uint32_t dim);
/* Its row-major index, as one operand: "flat", "(at_row * 64 + at_col)". */
void grout_emit__flat(grout_emitter *e, const grout_register_layout *layout);

/* ---- elements in memory (elements.c) ---- */

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

#endif
