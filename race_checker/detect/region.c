/* region.c - records of rectangles: split by accesses that hit a part, joined when equal again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "region.h"

#include "invariant.h"
#include "reader_index.h"
#include "vouchers.h"

#include <string.h>

enum {
    PIECES_MAX = 24, /* of a leaf; more make it a tree */
    PIECES_FIRST = 7
};

typedef struct piece {
    grout_rect rect;
    grout_region region;
} piece;

static bool is_empty(const grout_rect *rect) {
    return rect->row >= rect->row_end || rect->column >= rect->column_end;
}

static bool is_same_rect(const grout_rect *a, const grout_rect *b) {
    return a->row == b->row && a->row_end == b->row_end && a->column == b->column &&
           a->column_end == b->column_end;
}

static bool is_inside(const grout_rect *part, const grout_rect *bounds) {
    return part->row >= bounds->row && part->row_end <= bounds->row_end &&
           part->column >= bounds->column && part->column_end <= bounds->column_end;
}

/* ---- records ---- */

bool grout_shadow__add_reader(grout_shadow *shadow, grout_region *region,
                              const grout_entry *entry) {
    GROUT_ASSERT(region->reader_count <= region->reader_capacity);
    GROUT_ASSERT(region->open_count <= region->reader_count);
    if (region->reader_count == region->reader_capacity) {
        uint32_t capacity = region->reader_capacity ? region->reader_capacity * 2u : 2u;
        size_t old_size = region->reader_capacity * sizeof *entry;
        grout_slab_handle readers = grout_slab__alloc(&shadow->slab, capacity * sizeof *entry);
        if (!readers) {
            return false;
        }
        if (old_size) {
            memcpy(grout_slab__at(&shadow->slab, readers),
                   grout_shadow__get_readers(shadow, region), old_size);
            grout_slab__free(&shadow->slab, region->readers, old_size);
        }
        region->readers = readers;
        region->reader_capacity = capacity;
    }
    if (region->reader_count == 0 || region->cluster_max < entry->cluster) {
        region->cluster_max = entry->cluster;
        region->op_max = 0;
    }
    if (region->cluster_max == entry->cluster && region->op_max < entry->origin.op) {
        region->op_max = entry->origin.op;
    }
    grout_shadow__get_readers(shadow, region)[region->reader_count++] = *entry;
    region->open_count += entry->flags & GROUT_ENTRY_WRITE ? 1 : 0;
    return true;
}

void grout_shadow__remove_reader(grout_shadow *shadow, grout_region *region, uint32_t index) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    GROUT_ASSERT(index < region->reader_count);
    region->open_count -= readers[index].flags & GROUT_ENTRY_WRITE ? 1 : 0;
    grout_vouchers__drop(shadow, region);
    if (region->reader_count >= GROUT_READER_INDEX_MIN) {
        readers[index] = (grout_entry){0};
        region->gone_count++;
        return;
    }
    region->reader_count--;
    memmove(&readers[index], &readers[index + 1], (region->reader_count - index) * sizeof *readers);
    grout_reader_index__drop(shadow, region);
}

/* Once half of them are gone: so each of them is moved once. */
void grout_shadow__close_gaps(grout_shadow *shadow, grout_region *region) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    uint32_t kept = 0;
    if (2 * region->gone_count <= region->reader_count) {
        return;
    }
    for (uint32_t i = 0; i < region->reader_count; i++) {
        if (grout_entry__is_there(&readers[i])) {
            readers[kept++] = readers[i];
        }
    }
    region->reader_count = kept;
    region->gone_count = 0;
    grout_reader_index__drop(shadow, region);
}

static void free_readers(grout_shadow *shadow, grout_region *region) {
    grout_reader_index__drop(shadow, region);
    grout_vouchers__drop(shadow, region);
    grout_slab__free(&shadow->slab, region->readers, region->reader_capacity * sizeof(grout_entry));
    region->readers = 0;
    region->reader_count = region->reader_capacity = region->open_count = region->gone_count = 0;
}

static bool clone_region(grout_shadow *shadow, grout_region *copy, const grout_region *region) {
    *copy = *region;
    copy->readers = copy->index = copy->vouchers = 0;
    copy->reader_capacity = 0;
    if (region->reader_count) {
        size_t size = region->reader_capacity * sizeof(grout_entry);
        copy->readers = grout_slab__alloc(&shadow->slab, size);
        if (!copy->readers) {
            return false;
        }
        copy->reader_capacity = region->reader_capacity;
        memcpy(grout_slab__at(&shadow->slab, copy->readers),
               grout_shadow__get_readers(shadow, region),
               region->reader_count * sizeof(grout_entry));
    }
    return true;
}

enum {
    ORIGIN_SIZE = offsetof(grout_origin, loops), /* of what counts of an origin */
    FACTS_AT = offsetof(grout_entry, cluster),
    REST_AT = GROUT_END_OF(grout_region, write)
};

_Static_assert(ORIGIN_SIZE == 2 * sizeof(uint32_t) + 4, "no padding in what counts of an origin");

static bool is_same_entry(const grout_entry *a, const grout_entry *b) {
    return memcmp((const uint8_t *)a + FACTS_AT, (const uint8_t *)b + FACTS_AT,
                  sizeof *a - FACTS_AT) == 0 &&
           memcmp(&a->origin, &b->origin, ORIGIN_SIZE) == 0;
}

/* Whether the entry is one of them: most likely the one with this number. */
static bool has_reader(const grout_entry *readers, uint32_t count, const grout_entry *entry,
                       uint32_t likely) {
    if (likely < count && is_same_entry(&readers[likely], entry)) {
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (is_same_entry(&readers[i], entry)) {
            return true;
        }
    }
    return false;
}

static bool is_same_region(const grout_shadow *shadow, const grout_region *a,
                           const grout_region *b) {
    const grout_entry *a_readers = grout_shadow__get_readers(shadow, a);
    const grout_entry *b_readers = grout_shadow__get_readers(shadow, b);
    if (a->reader_count - a->gone_count != b->reader_count - b->gone_count ||
        !is_same_entry(&a->write, &b->write) ||
        memcmp((const uint8_t *)a + REST_AT, (const uint8_t *)b + REST_AT, sizeof *a - REST_AT) !=
            0) {
        return false;
    }
    for (uint32_t i = 0; i < a->reader_count; i++) {
        if (grout_entry__is_there(&a_readers[i]) &&
            !has_reader(b_readers, b->reader_count, &a_readers[i], i)) {
            return false;
        }
    }
    return true;
}

static uint64_t hash_entry(const grout_entry *entry) {
    if (!(entry->flags & GROUT_ENTRY_PRESENT)) {
        return 0;
    }
    uint64_t hash = grout_hash__bytes(UINT64_C(0x2545f4914f6cdd1d), &entry->origin, ORIGIN_SIZE);
    return GROUT_HASH_FACTS(hash, entry, grout_entry, cluster);
}

/* What is all zero counts for nothing, as a region that was never made. */
static uint64_t hash_rest(const grout_region *region) {
    static const uint8_t NOTHING[sizeof *region];
    return memcmp((const uint8_t *)region + REST_AT, NOTHING, sizeof *region - REST_AT) == 0
               ? 0
               : GROUT_HASH_REST(0, region, grout_region, write);
}

uint64_t grout_region__hash(const grout_shadow *shadow, const grout_region *region) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    uint64_t hash = hash_entry(&region->write) + hash_rest(region);
    for (uint32_t i = 0; i < region->reader_count; i++) {
        hash += hash_entry(&readers[i]);
    }
    return hash;
}

/* ---- leaves ---- */

static piece *get_pieces(const grout_shadow *shadow, const grout_node *node) {
    return grout_slab__at(&shadow->slab, node->more);
}

static bool reserve_pieces(grout_shadow *shadow, grout_node *node, uint32_t count) {
    uint32_t capacity = node->piece_capacity ? node->piece_capacity : PIECES_FIRST;
    size_t old_size = node->piece_capacity * sizeof(piece);
    grout_slab_handle more = 0;
    if (count <= node->piece_capacity) {
        return true;
    }
    while (capacity < count) {
        capacity *= 2;
    }
    more = grout_slab__alloc(&shadow->slab, capacity * sizeof(piece));
    if (!more) {
        return false;
    }
    if (old_size) {
        memcpy(grout_slab__at(&shadow->slab, more), get_pieces(shadow, node), old_size);
        grout_slab__free(&shadow->slab, node->more, old_size);
    }
    node->more = more;
    node->piece_capacity = (uint16_t)capacity;
    return true;
}

static bool add_piece(grout_shadow *shadow, grout_node *node, const grout_rect *rect,
                      const grout_region *region) {
    piece *added = NULL;
    if (!reserve_pieces(shadow, node, node->piece_count + 1u)) {
        return false;
    }
    added = &get_pieces(shadow, node)[node->piece_count];
    added->rect = *rect;
    if (!clone_region(shadow, &added->region, region)) {
        return false;
    }
    node->piece_count++;
    return true;
}

/* Cuts piece index down to inner; what sticks out becomes pieces of its own, at the end. */
static bool cut_piece(grout_shadow *shadow, grout_node *node, uint32_t index,
                      const grout_rect *inner) {
    const piece old = get_pieces(shadow, node)[index];
    GROUT_ASSERT(index < node->piece_count && is_inside(inner, &old.rect));
    const grout_rect outside[4] = {
        {old.rect.row, inner->row, old.rect.column, old.rect.column_end},
        {inner->row_end, old.rect.row_end, old.rect.column, old.rect.column_end},
        {inner->row, inner->row_end, old.rect.column, inner->column},
        {inner->row, inner->row_end, inner->column_end, old.rect.column_end}};
    for (uint32_t i = 0; i < 4; i++) {
        if (!is_empty(&outside[i]) && !add_piece(shadow, node, &outside[i], &old.region)) {
            return false;
        }
    }
    get_pieces(shadow, node)[index].rect = *inner;
    return true;
}

/* If the two share a whole edge, *joined_out is both. */
static bool can_join(const grout_rect *a, const grout_rect *b, grout_rect *joined_out) {
    bool stacked = a->column == b->column && a->column_end == b->column_end &&
                   (a->row_end == b->row || b->row_end == a->row);
    bool beside = a->row == b->row && a->row_end == b->row_end &&
                  (a->column_end == b->column || b->column_end == a->column);
    if (!stacked && !beside) {
        return false;
    }
    joined_out->row = a->row < b->row ? a->row : b->row;
    joined_out->row_end = a->row_end > b->row_end ? a->row_end : b->row_end;
    joined_out->column = a->column < b->column ? a->column : b->column;
    joined_out->column_end = a->column_end > b->column_end ? a->column_end : b->column_end;
    return true;
}

/* Joins one pair of equal neighbours, if there is one. */
static bool join_pair(grout_shadow *shadow, grout_node *node) {
    piece *pieces = get_pieces(shadow, node);
    for (uint32_t i = 0; i + 1 < node->piece_count; i++) {
        for (uint32_t j = i + 1; j < node->piece_count; j++) {
            grout_rect joined;
            if (can_join(&pieces[i].rect, &pieces[j].rect, &joined) &&
                is_same_region(shadow, &pieces[i].region, &pieces[j].region)) {
                pieces[i].rect = joined;
                free_readers(shadow, &pieces[j].region);
                pieces[j] = pieces[--node->piece_count];
                return true;
            }
        }
    }
    return false;
}

static void free_pieces(grout_shadow *shadow, grout_node *node) {
    grout_slab__free(&shadow->slab, node->more, node->piece_capacity * sizeof(piece));
    node->more = 0;
    node->piece_count = node->piece_capacity = 0;
}

static bool make_leaf(grout_shadow *shadow, grout_node *node, const grout_rect *bounds) {
    piece *first = NULL;
    GROUT_ASSERT(node->kind == GROUT_NODE_UNIFORM && node->more == 0);
    node->piece_count = node->piece_capacity = 0;
    if (!reserve_pieces(shadow, node, 1)) {
        return false;
    }
    first = get_pieces(shadow, node);
    first->rect = *bounds;
    first->region = node->whole;
    memset(&node->whole, 0, sizeof node->whole);
    node->piece_count = 1;
    node->kind = GROUT_NODE_LEAF;
    return true;
}

/* Whether the pieces lie in bounds and have as many bytes. They are cut from each other, so this
 * says that none is lost or there twice. */
static bool fills(const grout_shadow *shadow, const grout_node *node, const grout_rect *bounds) {
    const piece *pieces = get_pieces(shadow, node);
    uint64_t bytes =
        (uint64_t)(bounds->row_end - bounds->row) * (bounds->column_end - bounds->column);
    for (uint32_t i = 0; i < node->piece_count; i++) {
        const grout_rect *rect = &pieces[i].rect;
        bytes -= (uint64_t)(rect->row_end - rect->row) * (rect->column_end - rect->column);
        if (is_empty(rect) || !is_inside(rect, bounds)) {
            return false;
        }
    }
    return bytes == 0;
}

/* A leaf of one piece is a uniform node. */
static void simplify_leaf(grout_shadow *shadow, grout_node *node) {
    while (join_pair(shadow, node)) {
    }
    if (node->piece_count == 1) {
        node->whole = get_pieces(shadow, node)->region;
        free_pieces(shadow, node);
        node->kind = GROUT_NODE_UNIFORM;
    }
}

/* ---- trees ---- */

/* Halves bounds across the dimension that has more of it: rows, or 16 bytes of columns. */
static void halve(const grout_rect *bounds, grout_rect halves[2]) {
    uint32_t height = bounds->row_end - bounds->row;
    uint32_t width = bounds->column_end - bounds->column;
    halves[0] = halves[1] = *bounds;
    if (height > 1 && (height >= width / 16 || width == 1)) {
        halves[0].row_end = halves[1].row = bounds->row + height / 2;
    } else {
        uint32_t half = width >= 32 ? width / 2 / 16 * 16 : width / 2;
        halves[0].column_end = halves[1].column = bounds->column + half;
    }
}

/* A leaf with too many pieces becomes two leaves. */
static bool split_leaf(grout_shadow *shadow, grout_node *node, const grout_rect *bounds) {
    grout_slab_handle handle = grout_slab__alloc(&shadow->slab, 2 * sizeof(grout_node));
    grout_node *children = NULL;
    piece *pieces = get_pieces(shadow, node);
    grout_rect halves[2];
    if (!handle) {
        return false;
    }
    GROUT_ASSERT(node->kind == GROUT_NODE_LEAF);
    children = grout_slab__at(&shadow->slab, handle);
    halve(bounds, halves);
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < node->piece_count; i++) {
            grout_rect part = grout_rect__clip(&pieces[i].rect, &halves[side]);
            if (!is_empty(&part) && !add_piece(shadow, &children[side], &part, &pieces[i].region)) {
                return false;
            }
        }
        children[side].kind = GROUT_NODE_LEAF;
        simplify_leaf(shadow, &children[side]);
    }
    for (uint32_t i = 0; i < node->piece_count; i++) {
        free_readers(shadow, &pieces[i].region);
    }
    free_pieces(shadow, node);
    node->more = handle;
    node->kind = GROUT_NODE_SPLIT;
    return true;
}

/* Two halves that are uniform and equal are one again. */
static void collapse(grout_shadow *shadow, grout_node *node) {
    grout_node *children = grout_slab__at(&shadow->slab, node->more);
    if (children[0].kind != GROUT_NODE_UNIFORM || children[1].kind != GROUT_NODE_UNIFORM ||
        !is_same_region(shadow, &children[0].whole, &children[1].whole)) {
        return;
    }
    node->whole = children[0].whole;
    free_readers(shadow, &children[1].whole);
    grout_slab__free(&shadow->slab, node->more, 2 * sizeof *children);
    node->more = 0;
    node->kind = GROUT_NODE_UNIFORM;
}

static bool access_leaf(grout_shadow *shadow, grout_node *node, const grout_rect *bounds,
                        const grout_rect *part, const grout_visitor *visitor) {
    uint32_t count = node->piece_count; /* what cutting appends lies outside part */
    for (uint32_t i = 0; i < count; i++) {
        grout_rect inner = grout_rect__clip(&get_pieces(shadow, node)[i].rect, part);
        if (is_empty(&inner)) {
            continue;
        }
        if (!is_same_rect(&inner, &get_pieces(shadow, node)[i].rect) &&
            !cut_piece(shadow, node, i, &inner)) {
            return false;
        }
        if (!visitor->visit(visitor->payload, shadow, &get_pieces(shadow, node)[i].region,
                            &inner)) {
            return false;
        }
    }
    GROUT_ASSERT_SLOW(fills(shadow, node, bounds));
    simplify_leaf(shadow, node);
    if (node->kind == GROUT_NODE_LEAF && node->piece_count > PIECES_MAX) {
        return split_leaf(shadow, node, bounds);
    }
    return true;
}

static bool access_halves(grout_shadow *shadow, grout_node *node, const grout_rect *bounds,
                          const grout_rect *part, const grout_visitor *visitor) {
    grout_node *children = grout_slab__at(&shadow->slab, node->more);
    grout_rect halves[2];
    halve(bounds, halves);
    for (uint32_t side = 0; side < 2; side++) {
        grout_rect inner = grout_rect__clip(part, &halves[side]);
        if (!is_empty(&inner) &&
            !grout_node__access(shadow, &children[side], &halves[side], &inner, visitor)) {
            return false;
        }
    }
    collapse(shadow, node);
    return true;
}

bool grout_node__access(grout_shadow *shadow, grout_node *node, const grout_rect *bounds,
                        const grout_rect *part, const grout_visitor *visitor) {
    GROUT_ASSERT(!is_empty(part) && is_inside(part, bounds));
    if (node->kind == GROUT_NODE_UNIFORM && is_same_rect(bounds, part)) {
        return visitor->visit(visitor->payload, shadow, &node->whole, part);
    }
    if (node->kind == GROUT_NODE_SPLIT) {
        return access_halves(shadow, node, bounds, part, visitor);
    }
    if (node->kind == GROUT_NODE_UNIFORM && !make_leaf(shadow, node, bounds)) {
        return false;
    }
    return access_leaf(shadow, node, bounds, part, visitor);
}

static bool walk_leaf(grout_shadow *shadow, grout_node *node, const grout_rect *part,
                      const grout_visitor *visitor) {
    for (uint32_t i = 0; i < node->piece_count; i++) {
        piece *it = &get_pieces(shadow, node)[i];
        grout_rect inner = grout_rect__clip(&it->rect, part);
        if (!is_empty(&inner) && !visitor->visit(visitor->payload, shadow, &it->region, &inner)) {
            return false;
        }
    }
    return true;
}

bool grout_node__walk(grout_shadow *shadow, grout_node *node, const grout_rect *bounds,
                      const grout_rect *part, const grout_visitor *visitor) {
    grout_node *children = NULL;
    grout_rect halves[2];
    if (node->kind == GROUT_NODE_UNIFORM) {
        return visitor->visit(visitor->payload, shadow, &node->whole, part);
    }
    if (node->kind == GROUT_NODE_LEAF) {
        return walk_leaf(shadow, node, part, visitor);
    }
    children = grout_slab__at(&shadow->slab, node->more);
    halve(bounds, halves);
    for (uint32_t side = 0; side < 2; side++) {
        grout_rect inner = grout_rect__clip(part, &halves[side]);
        if (!is_empty(&inner) &&
            !grout_node__walk(shadow, &children[side], &halves[side], &inner, visitor)) {
            return false;
        }
    }
    return true;
}
