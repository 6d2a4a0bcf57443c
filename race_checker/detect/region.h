/*
 * region.h - the tree of rectangles inside one cell of a shadow; private to shadow.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_REGION_H
#define GROUT_RACE_CHECKER_REGION_H

#include "shadow.h"

typedef enum grout_node_kind {
    GROUT_NODE_UNIFORM, /* one record for all bytes: whole */
    GROUT_NODE_LEAF,    /* a list of rectangles that cover it: more */
    GROUT_NODE_SPLIT    /* two halves: more */
} grout_node_kind;

typedef struct grout_node {
    grout_region whole;
    grout_slab_handle more;
    uint16_t piece_count, piece_capacity;
    uint8_t kind; /* grout_node_kind */
} grout_node;

static inline grout_rect grout_rect__clip(const grout_rect *a, const grout_rect *b) {
    grout_rect part = {.row = a->row > b->row ? a->row : b->row,
                       .row_end = a->row_end < b->row_end ? a->row_end : b->row_end,
                       .column = a->column > b->column ? a->column : b->column,
                       .column_end = a->column_end < b->column_end ? a->column_end : b->column_end};
    return part;
}

/* Visits the regions of part, splitting those that stick out. part lies inside bounds. */
bool grout_node__access(grout_shadow *shadow, grout_node *node, const grout_rect *bounds,
                        const grout_rect *part, const grout_visitor *visitor);
/* Visits without splitting: rectangles are clipped to part. */
bool grout_node__walk(grout_shadow *shadow, grout_node *node, const grout_rect *bounds,
                      const grout_rect *part, const grout_visitor *visitor);
/* A hash of a record; 0 if nothing was recorded. */
uint64_t grout_region__hash(const grout_shadow *shadow, const grout_region *region);

#endif
