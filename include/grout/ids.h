/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - the words that the IR and the events of a run share: ids of the parts of a module, memory
 * spaces, runs of bytes. Needs no other header of the IR.
 */
#ifndef GROUT_IDS_H
#define GROUT_IDS_H

#include "grout/spaces.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* A run of bytes: count pieces of length bytes, stride bytes apart, the first at base. */
typedef struct grout_run {
    int64_t base;
    int64_t stride; /* 0 when count is 1 */
    int64_t count;
    int64_t length;
} grout_run;

#ifdef __cplusplus
}
#endif
#endif
