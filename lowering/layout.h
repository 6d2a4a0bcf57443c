/* layout.h - how layouts are made, and the walk that runs and pieces share; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_LAYOUT_H
#define GROUT_IR_LAYOUT_H

#include "grout-internal/ir.h"

#define GROUT_PADS_MAX 4 /* paddings of one layout */

/* What an object's declaration says about its layout, checked: tiles divide, the permutation is
 * one. */
typedef struct grout_layout_spec {
    uint8_t rank, element_bytes, tile_rank;
    bool has_transpose;
    uint32_t swizzle;
    int64_t dims[GROUT_RANK_MAX];
    int64_t tile[GROUT_RANK_MAX];        /* of the last tile_rank stored dimensions */
    uint8_t permutation[GROUT_RANK_MAX]; /* stored dimension k is permutation[k] of the object */
    /* a layout of the user's own: bytes left free after every so many, both powers of two; what
     * each bit of the address becomes, where address_bits are not 0 (layout.h) */
    bool is_custom;
    uint8_t pad_count, address_bits;
    int64_t pad_interval[GROUT_PADS_MAX], pad_bytes[GROUT_PADS_MAX];
    uint32_t images[GROUT_ADDRESS_BITS_MAX];
} grout_layout_spec;

/* Elements times their size must not overflow. */
grout_layout grout_layout__make(const grout_layout_spec *spec);

/* Gives an array that has other dimensions than before the tile under which every element keeps its
 * place. False: there is none. Not for arrays that are transposed, or have a layout of their own.
 */
bool grout_layout__retile(const grout_layout_spec *before, grout_layout_spec *after);

/* The inverse of a linear map of bits, by the images of each bit; false: it has none, and
 * *problem_out is a combination of images (bit k: image k) that cancels out. */
bool grout_layout__invert(const uint32_t *images, uint32_t bits, uint32_t *origins_out,
                          uint32_t *problem_out);

/* Reads layout("..") of an array whose dims and element_bytes the spec has, and fills the rest.
 * False: *problem_out says why. */
typedef struct grout_layout_problem {
    char text[200];
} grout_layout_problem;
bool grout_layout__read(const char *text, grout_layout_spec *spec,
                        grout_layout_problem *problem_out);

/* Helps with a layout of the user's own that an engine does not take: with the tile and swizzle
 * that put every element where it does, if there are such; else with the text. */
void grout_layout__help_equal(const grout_module *module, grout_object_id object,
                              grout_diags *diags, const char *text);
#endif
