/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - ids of the parts of a module, and memory spaces. Needs no other header of the IR.
 */
#ifndef GROUT_IDS_H
#define GROUT_IDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum grout_space {
    GROUT_SPACE_NONE,
#define GROUT_SPACE(NAME, ...) GROUT_SPACE_##NAME,
#include "grout/spaces.def"
    GROUT_SPACE_COUNT
} grout_space;

/* Indices into the tables of a module (ir.h); 0 is 'none' in each of them. */
typedef uint32_t grout_string_id;
typedef uint32_t grout_loc_id;
typedef uint32_t grout_expr_id;
typedef uint32_t grout_value_id;
typedef uint32_t grout_op_id;
typedef uint32_t grout_block_id;
typedef uint32_t grout_ref_id;
typedef uint32_t grout_object_id;
typedef uint32_t grout_kernel_id;
typedef uint32_t grout_const_id;
typedef uint32_t grout_trivia_id;
typedef uint32_t grout_init_id;
typedef uint32_t grout_launch_id;

#ifdef __cplusplus
}
#endif
#endif
