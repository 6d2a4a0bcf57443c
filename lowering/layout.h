/* layout.h - how layouts are made, and the walk that runs and pieces share; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_LAYOUT_H
#define GROUT_IR_LAYOUT_H

#include "grout/ir.h"

/* What an object's declaration says about its layout, checked: tiles divide, the permutation is
 * one. */
typedef struct grout_layout_spec {
    uint8_t rank, element_bytes, tile_rank;
    bool has_transpose;
    uint32_t swizzle;
    int64_t dims[GROUT_RANK_MAX];
    int64_t tile[GROUT_RANK_MAX];        /* of the last tile_rank stored dimensions */
    uint8_t permutation[GROUT_RANK_MAX]; /* stored dimension k is permutation[k] of the object */
} grout_layout_spec;

/* Elements times their size must not overflow. */
grout_layout grout_layout__make(const grout_layout_spec *spec);
#endif
