/* places.c - rectangles in squares of their own size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include "hash.h"

#include <stdlib.h>

/* Squares of one size: the logarithms of their sides. */
typedef struct square_size {
    uint32_t height, width;
} square_size;

void grout_places__init(grout_places *places, const grout_allocator *allocator) {
    *places = (grout_places){.newest = {.allocator = allocator},
                             .newest_alike = {.allocator = allocator}};
}

void grout_places__deinit(grout_places *places) {
    grout__free(places->items.items);
    grout__free(places->met.items);
    grout_lookup__deinit(&places->newest);
    grout_lookup__deinit(&places->newest_alike);
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

/* The same of the items there that have a label. */
static uint64_t make_alike_key(uint64_t key, uint32_t label) {
    return grout_hash__word(key, label);
}

bool grout_places__add(grout_places *places, const grout_place_of_rect *place, uint32_t label) {
    const grout_rect *rect = &place->rect;
    const square_size size = {find_log(rect->row_end - rect->row),
                              find_log(rect->column_end - rect->column)};
    const uint64_t key =
        make_key(place, size, shift(rect->row, size.height), shift(rect->column, size.width));
    if (!GROUT_ARRAY_RESERVE(&places->items, places->newest.allocator, 1)) {
        return false;
    }
    uint32_t *newest = grout_lookup__at(&places->newest, key);
    uint32_t *alike =
        newest == NULL ? NULL : grout_lookup__at(&places->newest_alike, make_alike_key(key, label));
    if (alike == NULL) {
        return false;
    }
    places->items.items[places->items.count++] = (grout_placed){*place, label, *newest, *alike};
    *newest = *alike = (uint32_t)places->items.count;
    places->widths[size.height] |= UINT64_C(1) << size.width;
    return true;
}

static bool share_bytes(const grout_place_of_rect *a, const grout_place_of_rect *b) {
    return a->plane == b->plane && a->owner == b->owner && a->rect.row < b->rect.row_end &&
           b->rect.row < a->rect.row_end && a->rect.column < b->rect.column_end &&
           b->rect.column < a->rect.column_end;
}

/* What is looked for: items of any label, up to one more than most of them; or of this one. */
typedef struct question {
    const grout_place_of_rect *place;
    const uint32_t *label; /* NULL: any */
    uint64_t most;
} question;

static bool goes_on(const grout_places *places, const question *it) {
    return places->met.count <= it->most;
}

/* Adds an item to those that are met, if it is. */
static bool look_at(grout_places *places, const question *it, uint32_t item) {
    const grout_placed *placed = &places->items.items[item];
    if (!share_bytes(&placed->place, it->place) ||
        (it->label != NULL && *it->label != placed->label)) {
        return true;
    }
    if (!GROUT_ARRAY_RESERVE(&places->met, places->newest.allocator, 1)) {
        return false;
    }
    places->met.items[places->met.count++] = item;
    return true;
}

static bool look_at_square(grout_places *places, const question *it, uint64_t key) {
    const bool is_any = it->label == NULL;
    bool is_good = true;
    for (uint32_t i =
             is_any ? grout_lookup__find(&places->newest, key)
                    : grout_lookup__find(&places->newest_alike, make_alike_key(key, *it->label));
         i != 0 && is_good && goes_on(places, it);) {
        const grout_placed *placed = &places->items.items[i - 1];
        is_good = look_at(places, it, i - 1);
        i = is_any ? placed->next : placed->next_alike;
    }
    return is_good;
}

static bool look_at_all(grout_places *places, const question *it) {
    bool is_good = true;
    for (uint32_t i = 0; i < places->items.count && is_good && goes_on(places, it); i++) {
        is_good = look_at(places, it, i);
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

static bool look_at_squares(grout_places *places, const question *it, square_size size) {
    const square_range range = find_squares(&it->place->rect, size);
    bool is_good = true;
    for (uint32_t row = range.row; row <= range.row_last && is_good; row++) {
        for (uint32_t column = range.column; column <= range.column_last && is_good; column++) {
            is_good = look_at_square(places, it, make_key(it->place, size, row, column));
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

/* How many squares may hold what the rectangle meets; as many as there are items, if more. */
static uint64_t count_all_squares(const grout_places *places, const grout_rect *rect) {
    uint64_t count = 0;
    for (square_size size = {0}; count < places->items.count && next_size(places, &size);
         size.width++) {
        const square_range range = find_squares(rect, size);
        count += count_squares(&range);
    }
    return count < places->items.count ? count : places->items.count;
}

/* Looks at the squares, or at each item where there are no more of those. */
static bool look(grout_places *places, const question *it, uint64_t square_count) {
    const bool has_few = square_count < places->items.count;
    bool is_good = true;
    for (square_size size = {0}; has_few && is_good && next_size(places, &size); size.width++) {
        is_good = look_at_squares(places, it, size);
    }
    return is_good && (has_few || look_at_all(places, it));
}

static int compare_items(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

static void sort_met(grout_places *places) {
    if (places->met.count > 1) {
        qsort(places->met.items, places->met.count, sizeof places->met.items[0], compare_items);
    }
}

bool grout_places__find(grout_places *places, const grout_place_of_rect *place) {
    const question any = {.place = place, .most = UINT64_MAX};
    places->met.count = 0;
    const bool is_good = look(places, &any, count_all_squares(places, &place->rect));
    sort_met(places);
    return is_good;
}

bool grout_places__find_labelled(grout_places *places, const grout_place_of_rect *place,
                                 const uint32_t *labels, size_t label_count) {
    const uint64_t square_count = count_all_squares(places, &place->rect);
    const question any = {.place = place, .most = square_count * label_count};
    places->met.count = 0;
    bool is_good = look(places, &any, square_count);
    if (!goes_on(places, &any)) {
        places->met.count = 0;
        for (size_t i = 0; i < label_count && is_good; i++) {
            const question one = {.place = place, .label = &labels[i], .most = UINT64_MAX};
            is_good = look(places, &one, square_count);
        }
    }
    sort_met(places);
    return is_good;
}
