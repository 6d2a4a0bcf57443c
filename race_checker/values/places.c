/* places.c - rectangles in squares of their own size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include "hash.h"

#include <stdlib.h>

/* Squares of one size: the logarithms of their sides. */
typedef struct square_size {
    uint32_t height, width;
} square_size;

void grout_places__deinit(grout_places *places) {
    grout__free(places->items.items);
    grout__free(places->met.items);
    grout_lookup__deinit(&places->newest);
}

/* The least power of two that is no smaller. */
static uint32_t find_log(uint32_t size) {
    return size <= 1 ? 0 : 32u - (uint32_t)__builtin_clz(size - 1);
}

static uint32_t shift(uint32_t at, uint32_t log) {
    return log < 32 ? at >> log : 0;
}

/* The key of a square; that two have the same one costs time only. */
static uint64_t make_key(const grout_place_of_rect *place, square_size size, uint32_t row,
                         uint32_t column) {
    uint64_t hash = grout_hash__word(0, (uint64_t)place->owner << 32 | place->plane);
    hash = grout_hash__word(hash, (uint64_t)size.height << 32 | size.width);
    return grout_hash__word(hash, (uint64_t)row << 32 | column);
}

bool grout_places__add(grout_places *places, const grout_place_of_rect *place) {
    const grout_rect *rect = &place->rect;
    const square_size size = {find_log(rect->row_end - rect->row),
                              find_log(rect->column_end - rect->column)};
    const uint64_t key =
        make_key(place, size, shift(rect->row, size.height), shift(rect->column, size.width));
    if (!GROUT_ARRAY_RESERVE(&places->items, places->newest.allocator, 1)) {
        return false;
    }
    uint32_t *newest = grout_lookup__at(&places->newest, key);
    if (newest == NULL) {
        return false;
    }
    places->items.items[places->items.count++] = (grout_placed){*place, *newest};
    *newest = (uint32_t)places->items.count;
    places->widths[size.height] |= UINT64_C(1) << size.width;
    return true;
}

static bool share_bytes(const grout_place_of_rect *a, const grout_place_of_rect *b) {
    return a->plane == b->plane && a->owner == b->owner && a->rect.row < b->rect.row_end &&
           b->rect.row < a->rect.row_end && a->rect.column < b->rect.column_end &&
           b->rect.column < a->rect.column_end;
}

/* Adds an item to those that are met, if it is. */
static bool look_at(grout_places *places, const grout_place_of_rect *place, uint32_t item) {
    if (!share_bytes(&places->items.items[item].place, place)) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&places->met, places->newest.allocator, 1)) {
        return false;
    }
    places->met.items[places->met.count++] = item;
    return true;
}

static bool look_at_square(grout_places *places, const grout_place_of_rect *place, uint64_t key) {
    bool is_good = true;
    for (uint32_t i = grout_lookup__find(&places->newest, key); i != 0 && is_good;
         i = places->items.items[i - 1].next) {
        is_good = look_at(places, place, i - 1);
    }
    return is_good;
}

static bool look_at_all(grout_places *places, const grout_place_of_rect *place) {
    bool is_good = true;
    for (uint32_t i = 0; i < places->items.count && is_good; i++) {
        is_good = look_at(places, place, i);
    }
    return is_good;
}

/* Squares of one size that may hold what the rectangle meets: rows and columns of them. */
typedef struct square_range {
    uint32_t row, row_last, column, column_last;
} square_range;

static square_range find_squares(const grout_rect *rect, square_size size) {
    const uint32_t row = shift(rect->row, size.height), column = shift(rect->column, size.width);
    return (square_range){row > 0 ? row - 1 : 0, shift(rect->row_end - 1, size.height),
                          column > 0 ? column - 1 : 0, shift(rect->column_end - 1, size.width)};
}

static uint64_t count_squares(const square_range *range) {
    return (uint64_t)(range->row_last - range->row + 1) * (range->column_last - range->column + 1);
}

static bool look_at_squares(grout_places *places, const grout_place_of_rect *place,
                            square_size size) {
    const square_range range = find_squares(&place->rect, size);
    bool is_good = true;
    for (uint32_t row = range.row; row <= range.row_last && is_good; row++) {
        for (uint32_t column = range.column; column <= range.column_last && is_good; column++) {
            is_good = look_at_square(places, place, make_key(place, size, row, column));
        }
    }
    return is_good;
}

/* Goes on to the next size of which there are squares; false: there is none. */
static bool next_size(const grout_places *places, square_size *size) {
    uint64_t widths = places->widths[size->height] >> size->width;
    while (widths == 0 && size->height + 1 < GROUT_SQUARE_SIDES) {
        *size = (square_size){size->height + 1, 0};
        widths = places->widths[size->height];
    }
    size->width += widths == 0 ? 0 : (uint32_t)__builtin_ctzll(widths);
    return widths != 0;
}

/* Whether there are fewer squares that may hold what the rectangle meets than items. */
static bool has_few_squares(const grout_places *places, const grout_rect *rect) {
    uint64_t count = 0;
    for (square_size size = {0}; count < places->items.count && next_size(places, &size);
         size.width++) {
        const square_range range = find_squares(rect, size);
        count += count_squares(&range);
    }
    return count < places->items.count;
}

static int compare_items(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

bool grout_places__find(grout_places *places, const grout_place_of_rect *place) {
    const bool has_few = has_few_squares(places, &place->rect);
    bool is_good = true;
    places->met.count = 0;
    for (square_size size = {0}; has_few && is_good && next_size(places, &size); size.width++) {
        is_good = look_at_squares(places, place, size);
    }
    is_good = is_good && (has_few || look_at_all(places, place));
    if (places->met.count > 1) {
        qsort(places->met.items, places->met.count, sizeof places->met.items[0], compare_items);
    }
    return is_good;
}
