/*
 * values.c - bytes that racing writes leave: kept, and compared.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "values.h"

#include "hash.h"
#include "mix.h"

#include <string.h>

grout_values *grout_values__new(const grout_checker *checker) {
    grout_values *values = grout__new(checker->allocator, 1, sizeof *values);
    if (values == NULL) {
        return NULL;
    }
    values->allocator = checker->allocator;
    values->by_shared.allocator = values->newest.allocator = checker->allocator;
    grout_places__init(&values->pieces, checker->allocator);
    grout_places__init(&values->places, checker->allocator);
    if (!grout_questions__init(&values->questions, checker)) {
        grout_values__free(values);
        return NULL;
    }
    return values;
}

void grout_values__free(grout_values *values) {
    if (values) {
        grout_questions__deinit(&values->questions);
        grout__free(values->left.items);
        grout_places__deinit(&values->pieces);
        grout__free(values->groups.items);
        grout_places__deinit(&values->places);
        grout_lookup__deinit(&values->by_shared);
        grout_lookup__deinit(&values->newest);
        grout__free(values->pool.items);
        grout__free(values->pairs.items);
        grout__free(values->scratch.items);
        grout__free(values);
    }
}

static grout_loc_id get_loc(const grout_checker *checker, grout_op_id op) {
    return grout_module_get_op(checker->info.module, op)->loc;
}

bool grout_values__ask(const grout_checker *checker, grout_op_id op) {
    return grout_questions__ask(&checker->values->questions, get_loc(checker, op));
}

/* ---- one write ---- */

/* Whether these are the bytes of the write, or of one that has left the same. */
static bool is_of_write(const grout_left_bytes *left, const grout_entry *write) {
    const grout_entry *it = &left->write;
    if (it->cluster != write->cluster || it->component != write->component ||
        it->origin.op != write->origin.op) {
        return false;
    }
    return left->since < it->number
               ? left->since <= write->number && write->number <= it->number
               : it->number == write->number && it->epoch == write->epoch &&
                     memcmp(&it->origin, &write->origin, sizeof it->origin) == 0;
}

static size_t get_size(const grout_rect *rect) {
    return (size_t)(rect->row_end - rect->row) * (rect->column_end - rect->column);
}

/* ---- memory ---- */

/* The bytes of a rectangle, row after row, then a mark for each undefined one. */
static bool read_rect(const grout_checker *checker, const grout_bytes_place *place,
                      const grout_rect *rect, uint8_t *out) {
    const grout_memory_reader *memory = &checker->info.memory;
    const int64_t width = rect->column_end - rect->column;
    uint8_t *undefined = out + get_size(rect);
    bool is_there = memory->read != NULL;
    for (uint32_t row = rect->row; row < rect->row_end && is_there; row++) {
        const int64_t first = (int64_t)(row * place->pitch + rect->column) - place->offset;
        const grout_memory_range range = {place->object, place->owner, first, width};
        is_there = memory->read(memory->machine, &range, out, undefined);
        out += width;
        undefined += width;
    }
    return is_there;
}

/* Room for more bytes of the pool; where they begin. False without memory. */
static bool take_bytes(grout_values *values, size_t size, size_t *first_out) {
    if (!GROUT_ARRAY_RESERVE(&values->pool, values->allocator, size)) {
        return false;
    }
    *first_out = values->pool.count;
    values->pool.count += size;
    return true;
}

/* Whether a later write of the same operation, by the mechanism that completes in the order of its
 * numbers, has left the same: a write in no order with this one is in none with that one. */
static bool is_repeated(const grout_values *values, const grout_left_bytes *left,
                        const grout_left_bytes *later) {
    const size_t size = 2 * get_size(&left->rect);
    return left->write.component == later->write.component &&
           left->write.cluster == later->write.cluster &&
           left->write.number <= later->write.number && left->is_read == later->is_read &&
           memcmp(values->pool.items + left->first, values->pool.items + later->first, size) == 0;
}

/* The key of what one operation of an actor, or of its engine, leaves in one place. */
static uint64_t make_key(const grout_left_bytes *left) {
    const grout_entry *write = &left->write;
    const grout_rect *rect = &left->rect;
    uint64_t hash = grout_check__mix((uint64_t)write->cluster << 32 | write->component,
                                     (uint64_t)write->origin.op << 32 | write->origin.cta);
    hash = grout_check__mix(hash, (uint64_t)left->owner << 32 | left->plane);
    hash = grout_check__mix(hash, (uint64_t)rect->row << 32 | rect->row_end);
    return grout_check__mix(hash, (uint64_t)rect->column << 32 | rect->column_end);
}

static bool has_same_place(const grout_left_bytes *a, const grout_left_bytes *b) {
    return a->write.origin.op == b->write.origin.op && a->owner == b->owner &&
           a->plane == b->plane && memcmp(&a->rect, &b->rect, sizeof a->rect) == 0;
}

/* A label for what an operation of an actor, or of its engine, leaves: others may have it too. */
static uint32_t make_writer_label(const grout_entry *write) {
    return (uint32_t)(grout_check__mix((uint64_t)write->cluster << 32 | write->component,
                                       write->origin.op) >>
                      32);
}

/* The bytes and the marks of what was left. */
static size_t get_pool_size(const grout_left_bytes *left) {
    return 2 * get_size(&left->rect);
}

static uint64_t hash_shared(const grout_values *values, const grout_left_bytes *left,
                            grout_loc_id loc) {
    const grout_rect *rect = &left->rect;
    uint64_t hash = grout_hash__word(left->is_read, (uint64_t)loc << 32 | left->owner);
    hash = grout_hash__word(hash, (uint64_t)left->plane << 32 | rect->row);
    hash = grout_hash__word(hash, (uint64_t)rect->row_end << 32 | rect->column);
    hash = grout_hash__word(hash, rect->column_end);
    return grout_hash__bytes(hash, values->pool.items + left->first, get_pool_size(left));
}

/* Whether what was left belongs to the group. */
static bool is_of_group(const grout_checker *checker, const grout_left_group *group,
                        const grout_left_bytes *left, grout_loc_id loc) {
    const grout_values *values = checker->values;
    const grout_left_bytes *member = &values->left.items[group->newest - 1];
    return get_loc(checker, member->write.origin.op) == loc && member->owner == left->owner &&
           member->plane == left->plane && member->is_read == left->is_read &&
           memcmp(&member->rect, &left->rect, sizeof left->rect) == 0 &&
           memcmp(values->pool.items + member->first, values->pool.items + left->first,
                  get_pool_size(left)) == 0;
}

/* The group of what was left, a new and empty one if there is none yet; NULL without memory. */
static grout_left_group *find_group(const grout_checker *checker, const grout_left_bytes *left) {
    grout_values *values = checker->values;
    const grout_loc_id loc = get_loc(checker, left->write.origin.op);
    const grout_place_of_rect place = {left->owner, left->plane, left->rect};
    uint32_t *newest = GROUT_ARRAY_RESERVE(&values->groups, values->allocator, 1)
                           ? grout_lookup__at(&values->by_shared, hash_shared(values, left, loc))
                           : NULL;
    for (uint32_t i = newest == NULL ? 0 : *newest; i != 0; i = values->groups.items[i - 1].next) {
        if (is_of_group(checker, &values->groups.items[i - 1], left, loc)) {
            return &values->groups.items[i - 1];
        }
    }
    if (newest == NULL || !grout_places__add(&values->places, &place, loc)) {
        return NULL;
    }
    values->groups.items[values->groups.count++] = (grout_left_group){.next = *newest};
    *newest = (uint32_t)values->groups.count;
    GROUT_ASSERT(values->groups.count == values->places.items.count);
    return &values->groups.items[*newest - 1];
}

/* Appends what is left to the list; its bytes are the last ones of the pool. False without memory.
 */
static bool add_left(const grout_checker *checker, grout_left_bytes *left, uint32_t *newest) {
    grout_values *values = checker->values;
    const grout_place_of_rect place = {left->owner, left->plane, left->rect};
    grout_left_group *group =
        GROUT_ARRAY_RESERVE(&values->left, values->allocator, 1) ? find_group(checker, left) : NULL;
    if (group == NULL ||
        !grout_places__add(&values->pieces, &place, make_writer_label(&left->write))) {
        return false;
    }
    left->next = group->newest;
    if (group->newest != 0) { /* the bytes are there */
        values->pool.count = left->first;
        left->first = values->left.items[group->newest - 1].first;
    }
    values->left.items[values->left.count++] = *left;
    *newest = group->newest = (uint32_t)values->left.count;
    GROUT_ASSERT(values->left.count == values->pieces.items.count);
    return true;
}

bool grout_values__keep(grout_checker *checker, const grout_entry *write, bool is_read,
                        const grout_bytes_place *place, const grout_rect *rect) {
    grout_values *values = checker->values;
    if (!grout_values__ask(checker, write->origin.op)) {
        return true;
    }
    grout_left_bytes left = {.write = *write,
                             .since = write->number,
                             .owner = place->owner,
                             .plane = place->plane,
                             .is_read = is_read,
                             .rect = *rect};
    if (!take_bytes(values, 2 * get_size(rect), &left.first)) {
        return grout_checker__fail(checker);
    }
    if (!read_rect(checker, place, rect, values->pool.items + left.first)) {
        values->pool.count = left.first;
        return true; /* a pair that wants it is not known to be equal */
    }
    uint32_t *newest = grout_lookup__at(&values->newest, make_key(&left));
    if (!newest) {
        return grout_checker__fail(checker);
    }
    grout_left_bytes *last = *newest == 0 ? NULL : &values->left.items[*newest - 1];
    if (last && has_same_place(last, &left) && is_repeated(values, last, &left)) {
        last->write = *write;
        values->pool.count = left.first;
        return true;
    }
    return add_left(checker, &left, newest) || grout_checker__fail(checker);
}

bool grout_values__find_groups(grout_checker *checker, grout_op_id op,
                               const grout_place_of_rect *place) {
    grout_values *values = checker->values;
    uint32_t count = 0;
    const grout_loc_id *others =
        grout_questions__get_others(&values->questions, get_loc(checker, op), &count);
    return grout_places__find_labelled(&values->places, place, others, count) ||
           grout_checker__fail(checker);
}

/* ---- pairs ---- */

bool grout_values__add_pair(grout_checker *checker, uint64_t step, const grout_write_pair *pair) {
    grout_values *values = checker->values;
    if (!GROUT_ARRAY_RESERVE(&values->pairs, values->allocator, 1)) {
        return grout_checker__fail(checker);
    }
    values->pairs.items[values->pairs.count++] = *pair;
    values->step = step;
    return true;
}

/* Two pieces of the same plane: now, and what was left. */
typedef struct comparison {
    const grout_rect *rect;
    const uint8_t *now, *now_undefined;
    uint8_t *seen; /* bytes that have been compared */
    size_t unseen;
} comparison;

/* Whether what both have is equal and defined. Bytes that a newer piece had are passed over. */
static bool compare_piece(comparison *it, const grout_left_bytes *left, const uint8_t *pool) {
    const uint8_t *bytes = pool + left->first, *undefined = bytes + get_size(&left->rect);
    const uint32_t left_width = left->rect.column_end - left->rect.column;
    const uint32_t width = it->rect->column_end - it->rect->column;
    const uint32_t row = it->rect->row > left->rect.row ? it->rect->row : left->rect.row;
    for (uint32_t y = row; y < it->rect->row_end && y < left->rect.row_end; y++) {
        uint32_t x = it->rect->column > left->rect.column ? it->rect->column : left->rect.column;
        for (; x < it->rect->column_end && x < left->rect.column_end; x++) {
            const size_t now = (size_t)(y - it->rect->row) * width + (x - it->rect->column);
            const size_t then = (size_t)(y - left->rect.row) * left_width + (x - left->rect.column);
            if (it->seen[now]) {
                continue;
            }
            if (undefined[then] || it->now_undefined[now] || bytes[then] != it->now[now]) {
                return false;
            }
            it->seen[now] = 1;
            it->unseen--;
        }
    }
    return true;
}

/* Compares with the pieces of the earlier write. False: one differs. */
static bool compare_pieces(const grout_values *values, const grout_write_pair *pair,
                           comparison *it) {
    if (pair->kept != 0) {
        return compare_piece(it, &values->left.items[pair->kept - 1], values->pool.items);
    }
    for (size_t i = 0; i < values->pieces.met.count && it->unseen > 0; i++) {
        const grout_left_bytes *left = &values->left.items[values->pieces.met.items[i]];
        if (is_of_write(left, &pair->earlier) && !compare_piece(it, left, values->pool.items)) {
            return false;
        }
    }
    return true;
}

/* Whether the earlier write left what is in memory now, every byte of it known and defined. Its
 * pieces are met. */
static bool is_equal(const grout_checker *checker, const grout_write_pair *pair, uint8_t *room) {
    const size_t size = get_size(&pair->rect);
    comparison it = {.rect = &pair->rect,
                     .now = room,
                     .now_undefined = room + size,
                     .seen = room + 2 * size,
                     .unseen = size};
    if (!read_rect(checker, &pair->place, &pair->rect, room)) {
        return false;
    }
    memset(it.seen, 0, size);
    return compare_pieces(checker->values, pair, &it) && it.unseen == 0;
}

/* Finds what the earlier write may have left in the place. False without memory. */
static bool meet(grout_values *values, const grout_write_pair *pair) {
    const grout_place_of_rect place = {pair->place.owner, pair->place.plane, pair->rect};
    const uint32_t label = make_writer_label(&pair->earlier);
    return pair->kept != 0 || grout_places__find_labelled(&values->pieces, &place, &label, 1);
}

/* Compares the two writes of a pair. False without memory. */
static bool compare_pair(grout_checker *checker, const grout_write_pair *pair) {
    grout_values *values = checker->values;
    grout_question *question = grout_questions__find(&values->questions, &pair->key);
    if (question == NULL) {
        return true;
    }
    values->scratch.count = 0;
    if (!GROUT_ARRAY_RESERVE(&values->scratch, values->allocator, 3 * get_size(&pair->rect)) ||
        !meet(values, pair)) {
        return grout_checker__fail(checker);
    }
    grout_questions__answer(&values->questions, question,
                            !is_equal(checker, pair, values->scratch.items));
    return true;
}

bool grout_values__compare(grout_checker *checker) {
    grout_values *values = checker->values;
    for (size_t i = 0; i < values->pairs.count; i++) {
        if (!compare_pair(checker, &values->pairs.items[i])) {
            return false;
        }
    }
    values->pairs.count = 0;
    return true;
}

bool grout_values__end(grout_checker *checker) {
    grout_values *values = checker->values;
    if (!grout_values__compare(checker)) {
        return false;
    }
    for (size_t i = 0; i < values->questions.all.count; i++) {
        const grout_question *question = &values->questions.all.items[i];
        grout_record *record = question->is_compared
                                   ? grout_findings__find(&checker->memory.findings, &question->key)
                                   : NULL;
        if (record) { /* else the run has not met the two, and another schedule may */
            record->is_compared = true;
            record->is_different = question->is_different;
        }
    }
    return true;
}
