/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - the rules that a bound module must keep before anything runs.
 */
#ifndef GROUT_VERIFY_H
#define GROUT_VERIFY_H

#include "grout/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum grout_arch {
    GROUT_ARCH_SM_90A, /* Hopper: the default */
    GROUT_ARCH_ANY     /* rules of no particular GPU: limits that only hardware has are not asked */
} grout_arch;

/* "sm_90a" or "any"; false if the name is neither. */
GROUT_API bool grout_arch_find(const char *text, grout_arch *arch_out);

/*
 * Checks every rule of every kernel of a bound module: spaces, directions, transforms, TMA boxes,
 * barriers, launch, SMEM budget. Goes on after a fault. True if there is no error; warnings may
 * have been added.
 */
GROUT_API bool grout_verify(const grout_module *bound, grout_arch arch, grout_diags *diags);

/* How a copy between GMEM and SMEM maps to one TMA instruction. Filled by grout_tma_plan. */
typedef struct grout_tma {
    uint8_t rank; /* 1 to 5, dimension 0 is the fastest */
    uint8_t element_bytes;
    uint32_t swizzle;      /* 0, 32, 64, 128 */
    int64_t dims[5];       /* of the GMEM array, elements */
    int64_t strides[5];    /* bytes; strides[0] is the element size */
    int64_t box[5];        /* elements */
    uint8_t object_dim[5]; /* dimension of the GMEM object behind each */
    uint32_t box_bytes;    /* bytes of one instruction's box = its transaction count */
    /*
     * A tiled SMEM layout takes several instructions, in two nested loops: instruction (band,
     * panel) starts panel_elements * panel further in dimension 0 of the box and band_elements *
     * band in dimension band_dim, and panel_bytes * panel + band_bytes * band further in SMEM. Both
     * counts 1: one instruction. A [R, C] array in tile(8, S), where S elements fill the swizzle,
     * is the atom grid [R/8][C/S][8][S]: boxes {S, 8}, C/S panels and R/8 bands; with C = S its
     * rows follow each other and one box {S, R} takes it.
     */
    uint32_t panel_count, band_count;
    uint8_t band_dim;
    int64_t panel_elements, panel_bytes;
    int64_t band_elements, band_bytes;
} grout_tma;

/*
 * Works out the TMA form of a copy_gmem_to_smem or copy_smem_to_gmem of a bound module. On failure
 * returns false and, if diags is not NULL, says why (rule, numbers, remedy).
 */
GROUT_API bool grout_tma_plan(const grout_module *bound, grout_op_id copy, grout_tma *tma_out,
                              grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
