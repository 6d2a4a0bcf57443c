/*
 * places.h - which rectangles of a list meet another one, however many there are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The simple model: each is looked at. Here a rectangle is in the square whose sides are the powers
 * of two at or above its own and which has its first byte; others meet it only if theirs lie no
 * more than one square away. tests/unit/race_checker/check_places.c compares the two.
 */
#ifndef GROUT_RACE_CHECKER_PLACES_H
#define GROUT_RACE_CHECKER_PLACES_H

#include "array.h"
#include "lookup.h"
#include "shadow.h"

/* Where a rectangle lies. */
typedef struct grout_place_of_rect {
    uint32_t owner, plane;
    grout_rect rect;
} grout_place_of_rect;

/* An item: its place, and the ones before it in its square: whichever, and of its label. */
typedef struct grout_placed {
    grout_place_of_rect place;
    uint32_t label;
    uint32_t next, next_alike; /* from 1; 0: none */
} grout_placed;

enum { GROUT_SQUARE_SIDES = 33 }; /* 2^0 to 2^32 */

typedef struct grout_places {
    GROUT_ARRAY(grout_placed) items; /* in the order added, as the list that they are of has it */
    grout_lookup newest;             /* by square: the item, from 1 */
    grout_lookup newest_alike;       /* by square and label */
    uint64_t widths[GROUT_SQUARE_SIDES]; /* by the height of squares: a bit for each width */
    GROUT_ARRAY(uint32_t) met;           /* what grout_places__find has found */
} grout_places;

/* allocator: of all that it holds. */
void grout_places__init(grout_places *places, const grout_allocator *allocator);
void grout_places__deinit(grout_places *places);
/* Adds the next item. The label is any number. False without memory. */
bool grout_places__add(grout_places *places, const grout_place_of_rect *place, uint32_t label);
/* The items that share bytes with a place are in places->met, from 0, the newest first. False
 * without memory. */
bool grout_places__find(grout_places *places, const grout_place_of_rect *place);
/* The same for those that have one of these labels; others may be among them, where looking at all
 * takes less time than asking for each label. */
bool grout_places__find_labelled(grout_places *places, const grout_place_of_rect *place,
                                 const uint32_t *labels, size_t label_count);

#endif
