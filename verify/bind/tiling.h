/* tiling.h - what the files share that choose the tile of an array in 'tile(infer)'.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_TILING_H
#define GROUT_IR_TILING_H

#include "array.h"
#include "bound.h"
#include "layout.h"

/* Candidates are the bits of a set. */
#define GROUT_TILINGS_MAX 64

/* Why a candidate is none for an array, whatever uses it. */
typedef enum grout_tiling_fault {
    GROUT_TILING_FINE,
    GROUT_TILING_NO_ROWS, /* the array has fewer dimensions, or no whole tiles in one of them */
    GROUT_TILING_NO_RANK,
    GROUT_TILING_UNALIGNED /* an alias starts where a swizzle cannot */
} grout_tiling_fault;

/* A tile and swizzle to try. */
typedef struct grout_tiling_candidate {
    grout_tiling tiling;
    uint8_t fault;  /* grout_tiling_fault */
    bool is_height; /* like another one but for the rows of a tile */
    /* once it fits all uses, summed over them: */
    uint32_t passes;   /* over the banks of SMEM, of an access by registers */
    uint32_t boxes;    /* TMA instructions of a copy */
    uint32_t box_dims; /* dimensions of their boxes */
} grout_tiling_candidate;

/* An operand that is the array, or a view of it. */
typedef struct grout_tiling_use {
    grout_op_id op;
    uint32_t operand;
    uint64_t fits;   /* the candidates that it takes */
    bool is_foreign; /* it refuses all of them in the same words: no tile is to blame */
} grout_tiling_use;

typedef struct grout_tiling_search {
    grout_binding *binding;
    grout_object_id object;
    grout_layout_spec rows; /* the array without tile and swizzle */
    uint32_t count;
    grout_tiling_candidate candidates[GROUT_TILINGS_MAX];
    uint64_t possible; /* the candidates without a fault */
    GROUT_ARRAY(grout_tiling_use) uses;
    const struct grout_tiling_uses *all_uses; /* of all arrays */
    const bool *is_fragment;                  /* by value (tiling_fragments.c) */
} grout_tiling_search;

/* tiling.c: gives the array, and the views of it, the layout of a candidate. */
void grout_tiling__apply(grout_tiling_search *search, uint32_t candidate);

/* tiling_candidates.c: what there is to try, best first where nothing else decides. */
void grout_tiling__add_candidates(grout_tiling_search *search);

/* The uses of all arrays whose tile is to be found: of each array a list in the order of the text.
 */
typedef struct grout_tiling_listed_use {
    grout_op_id op;
    uint32_t operand;
    uint32_t next; /* in the list of its array; 0: the last one */
} grout_tiling_listed_use;

typedef struct grout_tiling_uses {
    GROUT_ARRAY(grout_tiling_listed_use) list; /* entry 0 is none */
    uint32_t *first, *last;                    /* by object; 0: none */
} grout_tiling_uses;

/* tiling_uses.c: those of the module, in one walk; false without memory, which is reported. Deinit
 * even then. */
bool grout_tiling__list_uses(grout_binding *binding, grout_tiling_uses *uses);
void grout_tiling__drop_uses(grout_tiling_uses *uses);
/* All uses of the array; false without memory, which is reported. */
bool grout_tiling__add_uses(grout_tiling_search *search);
/* Whether a use takes the layout that the array has now; if not, and diags is not NULL, it says
 * why. */
bool grout_tiling__is_fine(const grout_tiling_search *search, const grout_tiling_use *use,
                           grout_diags *diags);
/* Adds what a use costs with the layout that the array has now. */
void grout_tiling__add_cost(const grout_tiling_search *search, const grout_tiling_use *use,
                            grout_tiling_candidate *cost);

/* tiling_banks.c: passes that one access of a view by registers takes, as lanes that follow its
 * elements make it, or as the fragments of the tensor core lie; 1: without a conflict. */
uint32_t grout_tiling__count_passes(const grout_module *module, const grout_view *view,
                                    bool is_fragment);

/* tiling_fragments.c: which array values come from the tensor core, or go there: their lanes hold
 * blocks of 8 rows by 16 bytes. By value; NULL without memory, which is reported. */
bool *grout_tiling__find_fragments(grout_binding *binding);

/* tiling_report.c: whether a use refuses every possible candidate in the same words. */
bool grout_tiling__is_foreign(grout_tiling_search *search, const grout_tiling_use *use);
/* No candidate suits all uses: says which use refuses which, and why. */
void grout_tiling__report(grout_tiling_search *search);

#endif
