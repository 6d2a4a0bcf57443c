/*
 * register_layouts.h - the inference of register layouts while it runs; private to ir/.
 *
 * Array values that an operation needs in one layout are joined into classes. Operations then
 * demand a layout of a class; the first one decides it, another one is a conflict. Where no demand
 * decides, wishes do, which save a way through SMEM; where there is no wish either, the class is
 * strided.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_REGISTER_LAYOUTS_H
#define GROUT_IR_REGISTER_LAYOUTS_H

#include "grout-internal/register_layout.h"

struct grout_register_layouts {
    uint32_t value_count, op_count;
    grout_register_layout *of_value;
    uint32_t *exchange_bytes; /* by op */
    int64_t scratch_bytes;
    grout_register_tiling *tilings; /* that the kernel spells out, each once */
    uint32_t tiling_count;
};

bool grout_register_tiling__is_equal(const grout_register_tiling *a,
                                     const grout_register_tiling *b);

#define GROUT_LAYOUT_IS_RESULT UINT32_MAX /* operand of a demand: it is made of the op's result */

/* An operation that cannot do with another layout. */
typedef struct grout_layout_demand {
    grout_op_id op;
    grout_value_id value;
    uint32_t operand; /* its index in op, or GROUT_LAYOUT_IS_RESULT */
    /* grout_register_layout_kind, or GROUT_LAYOUT_COUNT and the number of a tiling of the kernel;
     * NONE: nobody demands anything */
    uint8_t kind;
} grout_layout_demand;

/* What memory says about a strided class. */
typedef struct grout_layout_width {
    uint8_t cap;    /* 16 bytes over the widest element moved; 0: nothing is moved */
    uint8_t best;   /* widest access that any of its references permits */
    bool is_packed; /* a byte of one of them has several elements */
} grout_layout_width;

typedef struct grout_layout_inference {
    const grout_module *module;
    grout_block_id body;
    grout_register_layouts *out;
    grout_value_id *parents;            /* by value: towards the root of its class */
    grout_layout_demand *demands;       /* by root: what decided the class's layout */
    bool *is_reported;                  /* by root: one conflict of a class is enough */
    grout_layout_width *widths;         /* by root */
    struct grout_layout_search *search; /* of register_layout_report.c */
    uint8_t warps;                      /* of the thread whose values begin */
    /* Reductions of a kernel of Blackwell follow what else decides their operands' layouts: first
     * the demands of all other operations count, then theirs. */
    bool is_blackwell, skips_reductions, skips_others;
    bool is_changed;
    bool ok;      /* no error yet */
    bool goes_on; /* else walks end (goes_on.h) */
    grout_diags *diags;
} grout_layout_inference;

/* Calls visit for every op of a block, an op before those of its regions. */
typedef void grout_layout_visit(grout_layout_inference *inf, grout_op_id id, const grout_op *op);
void grout_layout__walk(grout_layout_inference *inf, grout_block_id block,
                        grout_layout_visit *visit);

/* ---- register_layout_rules.c: what each form of operation means for layouts ---- */

/* 'to' takes its elements, one for one, from the operand 'from' of op (which has no place if it is
 * a carry that becomes a result). */
typedef void grout_layout_edge(grout_layout_inference *inf, grout_op_id op,
                               const grout_operand *from, grout_value_id to);
void grout_layout__visit_edges(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                               grout_layout_edge *act);

/* Whether the op makes an array whose elements differ, whatever its operands. */
bool grout_layout__is_source(const grout_op *op);

/* Whether the op takes elements of its operands as they are: grout_op_get_part says which. */
bool grout_layout__takes_parts(const grout_op *op);

/* Calls act for each demand of an op. Reports shapes that no layout can do. */
typedef void grout_layout_demander(grout_layout_inference *inf, const grout_layout_demand *demand);
void grout_layout__visit_demands(grout_layout_inference *inf, grout_op_id id, const grout_op *op,
                                 grout_layout_demander *act);

/* Two values that an op leads from one to the other without SMEM if they have these layouts: when
 * one of them has its kind, the other had better have its own. */
typedef struct grout_layout_wish {
    grout_value_id from, to; /* 0: no wish */
    uint8_t from_kind, to_kind;
} grout_layout_wish;
grout_layout_wish grout_layout__get_wish(const grout_layout_inference *inf, const grout_op *op);

/* As grout_register_layouts_get_exchange_bytes, once all values have their layouts. */
int64_t grout_layout__get_exchange_bytes(grout_layout_inference *inf, grout_op_id id,
                                         const grout_op *op);
/* The indices or the mask of a copy, if it has those of each element: their lanes hold what decides
 * about it. 0: neither. */
grout_value_id grout_layout__find_lead(const grout_layout_inference *inf, const grout_op *op,
                                       const grout_pick *pick);

/* ---- register_layout.c ---- */

/* How many dimensions are larger than 1, and which the first two of them are. */
uint32_t grout_layout__get_wide_dims(const grout_type *type, uint32_t dims_out[2]);

/* ---- register_layout_values.c ---- */

/* As grout_register_layout_make, of a kind as demands have it, for a value. */
grout_register_layout grout_layout__make_kind(const grout_layout_inference *inf, uint8_t kind,
                                              grout_value_id value);
const char *grout_layout__get_text(uint8_t kind);
/* The kind, as demands have it, that the text of a 'relayout' says. */
uint8_t grout_layout__find_spelt(const grout_layout_inference *inf, const grout_op *op);

grout_value_id grout_layout__find_root(const grout_layout_inference *inf, grout_value_id value);
/* Whether an edge holds its two values in one layout: both spread, of one shape but for dimensions
 * of size 1. */
bool grout_layout__is_joint(const grout_layout_inference *inf, const grout_operand *from,
                            grout_value_id to);
/* Whether the lanes hold different elements of the value: an array, and no splat. */
bool grout_layout__is_spread(const grout_layout_inference *inf, grout_value_id value);

/* ---- register_layout_parts.c ---- */

/* Whether no element of an op that takes parts changes its lane if its k-th operand, and its
 * result, have the layout of a kind; the other operands count as they need to. */
bool grout_layout__keeps_lanes(grout_layout_inference *inf, const grout_op *op, uint32_t k,
                               uint8_t kind);

/* ---- register_layout_report.c ---- */

/* second came later and demands another layout of the class that first decided. */
void grout_layout__report_conflict(grout_layout_inference *inf, const grout_layout_demand *first,
                                   const grout_layout_demand *second);
/* A layout_cast to a layout that the shape does not have. */
void grout_layout__report_cast(grout_layout_inference *inf, const grout_op *op, uint8_t kind);
/* Says that a box of a matrix in the WGMMA layout changes lanes, where another one would not. */
void grout_layout__advise_part(grout_layout_inference *inf, const grout_op *op, int64_t bytes);
/* An array of too many bytes in one lane. */
void grout_layout__report_size(grout_layout_inference *inf, grout_value_id value, int64_t bytes);

#endif
