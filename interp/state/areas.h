/*
 * areas.h - members that each have an area, a box of an object: those whose areas meet another one
 * are found without a look at each member.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The caller numbers the members from 1 on, as densely as it can. They come in their order, and
 * leave in any. Members of equal areas are one group: however many it has, it is one step of a
 * search.
 */
#ifndef GROUT_INTERP_AREAS_H
#define GROUT_INTERP_AREAS_H

#include "grout/module.h"
#include "heap.h"

/* The dimensions of an area: the space that the object lies in; the object's bytes there; those of
 * the box. */
enum { GROUT_AREA_SPACE, GROUT_AREA_BYTES, GROUT_AREA_BOX };
enum { GROUT_AREA_DIMS = GROUT_AREA_BOX + GROUT_RANK_MAX };

/* From low to high - 1; a dimension that the box does not have is 0 to 1. */
typedef struct grout_area_side {
    int64_t low, high;
} grout_area_side;

/* Areas of one object meet where all their dimensions do; those of two objects, where their bytes
 * do. */
typedef struct grout_area {
    uint64_t object; /* 0: none */
    uint64_t apart;  /* areas that are equal but for this are of two groups */
    grout_area_side dims[GROUT_AREA_DIMS];
} grout_area;

/* A tree of groups in the order of their areas, balanced by chance. Each node knows the hull of the
 * areas below it. */
typedef struct grout_areas {
    grout_pool groups;
    grout_pool members; /* by number */
    uint32_t root;
    uint32_t chance;
} grout_areas;

void grout_areas__init(grout_areas *areas);
/* Forgets all members, keeps the memory. */
void grout_areas__clear(grout_areas *areas);
void grout_areas__free(grout_areas *areas, grout_heap *heap);

/* A member that is not in joins. order: above 0, and not below that of a member that is in. False
 * without memory: then it is not in. */
bool grout_areas__add(grout_areas *areas, grout_heap *heap, uint32_t member, const grout_area *area,
                      uint64_t order);
bool grout_areas__has(const grout_areas *areas, uint32_t member);
/* A member that is in leaves. */
void grout_areas__remove(grout_areas *areas, uint32_t member);

/* The next group whose area meets this one and that has a member of a higher order; the first one
 * after 0; 0 at the end. The order of the groups means nothing. */
uint32_t grout_areas__next(const grout_areas *areas, const grout_area *area, uint64_t order,
                           uint32_t group);
/* The member of a group that came last; that which came before another one, 0: none. */
uint32_t grout_areas__get_newest(const grout_areas *areas, uint32_t group);
uint32_t grout_areas__get_older(const grout_areas *areas, uint32_t member);
/* The order that a member has joined with. */
uint64_t grout_areas__get_order(const grout_areas *areas, uint32_t member);

#endif
