/* reduce.h - what a reducing bulk copy makes of an element in memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'cp.reduce.async.bulk', 'cp.reduce.async.bulk.tensor': each element is one relaxed atomic
 * operation. Types are those of a tensor map; .b32 and .b64 are U32 and U64 here.
 */
#ifndef GROUT_PTX_REDUCE_H
#define GROUT_PTX_REDUCE_H

#include "tensor_map.h"

typedef enum grout_ptx_reduction {
    GROUT_PTX_REDUCE_ADD,
    GROUT_PTX_REDUCE_MIN,
    GROUT_PTX_REDUCE_MAX,
    GROUT_PTX_REDUCE_INC, /* 0 after an element that has reached the operand, else one more */
    GROUT_PTX_REDUCE_DEC, /* the operand after 0 or an element above it, else one less */
    GROUT_PTX_REDUCE_AND,
    GROUT_PTX_REDUCE_OR,
    GROUT_PTX_REDUCE_XOR,
    GROUT_PTX_REDUCE_COUNT
} grout_ptx_reduction;

/* Whether the operation knows the type: sums of 32- and 64-bit integers (no .s64), f16, bf16, f32
 * and f64; min and max of integers and of f16 and bf16; inc and dec of u32; bits of 32 and 64. */
bool grout_ptx__reduce_check(grout_ptx_reduction reduction, grout_ptx_elem elem,
                             grout_ptx_fault *fault);

/* The element afterwards: bits of an element in memory, and of the operand. Sums of floats are
 * rounded to nearest even and keep subnormals, but for .f32.ftz; NaNs are canonical, and min and
 * max prefer a number. */
uint64_t grout_ptx__reduce(grout_ptx_reduction reduction, grout_ptx_elem elem, uint64_t element,
                           uint64_t operand);

#endif
