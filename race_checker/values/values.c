/*
 * values.c - bytes that racing writes leave: kept, and compared.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "values.h"

#include "mix.h"

#include <string.h>

/* The largest place among the operations. */
static grout_loc_id find_last_loc(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    grout_loc_id last = 0;
    for (grout_op_id op = 1; op < checker->run.op_count; op++) {
        const grout_loc_id loc = grout_module_get_op(module, op)->loc;
        last = loc > last ? loc : last;
    }
    return last;
}

/* The operations of the races that are judged: those at their places. False without memory. */
static bool mark_judged(const grout_checker *checker, uint8_t *are_judged) {
    const grout_module *module = checker->info.module;
    const grout_findings *findings = &checker->judged->memory.findings;
    const grout_loc_id last = find_last_loc(checker);
    uint8_t *is_place = grout__new(checker->allocator, (size_t)last + 1, sizeof *is_place);
    for (uint32_t i = 0; is_place != NULL && i < findings->count; i++) {
        const grout_record *record = &findings->records[i];
        for (int k = 0; k < 2 && grout_record__is_contested(record); k++) {
            const grout_loc_id place = k == 0 ? record->primary : record->related;
            if (place <= last) {
                is_place[place] = 1;
            }
        }
    }
    for (grout_op_id op = 1; is_place != NULL && op < checker->run.op_count; op++) {
        are_judged[op] = is_place[grout_module_get_op(module, op)->loc];
    }
    grout__free(is_place);
    return is_place != NULL;
}

grout_values *grout_values__new(const grout_checker *checker) {
    grout_values *values = grout__new(checker->allocator, 1, sizeof *values);
    if (values) {
        values->allocator = checker->allocator;
        values->compared_by_key.allocator = values->newest.allocator = checker->allocator;
        values->places.newest.allocator = values->met_by_writer.allocator = checker->allocator;
        values->are_judged =
            grout__new(checker->allocator, (size_t)checker->run.op_count + 1, sizeof(uint8_t));
    }
    if (values && (!values->are_judged || !mark_judged(checker, values->are_judged))) {
        grout_values__free(values);
        return NULL;
    }
    return values;
}

void grout_values__free(grout_values *values) {
    if (values) {
        grout__free(values->are_judged);
        grout__free(values->compared.items);
        grout_lookup__deinit(&values->compared_by_key);
        grout_lookup__deinit(&values->newest);
        grout_places__deinit(&values->places);
        grout__free(values->left.items);
        grout__free(values->pool.items);
        grout__free(values->pairs.items);
        grout__free(values->scratch.items);
        grout_lookup__deinit(&values->met_by_writer);
        grout__free(values->met_next.items);
        grout__free(values);
    }
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

/* Appends what is left to the list. False without memory. */
static bool add_left(grout_values *values, const grout_left_bytes *left, uint32_t *newest) {
    const grout_place_of_rect place = {left->owner, left->plane, left->rect};
    if (!GROUT_ARRAY_RESERVE(&values->left, values->allocator, 1) ||
        !grout_places__add(&values->places, &place)) {
        return false;
    }
    values->left.items[values->left.count++] = *left;
    *newest = (uint32_t)values->left.count;
    GROUT_ASSERT(values->left.count == values->places.items.count);
    return true;
}

bool grout_values__keep(grout_checker *checker, const grout_entry *write, bool is_read,
                        const grout_bytes_place *place, const grout_rect *rect) {
    grout_values *values = checker->values;
    if (!values->are_judged[write->origin.op]) {
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
    return add_left(values, &left, newest) || grout_checker__fail(checker);
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

/* The key of all that an operation of an actor, or of its engine, has left. */
static uint64_t make_writer_key(const grout_entry *write) {
    return grout_check__mix((uint64_t)write->cluster << 32 | write->component, write->origin.op);
}

/* What was left in a place, by its writer. False without memory. */
static bool sort_by_writer(grout_values *values) {
    const size_t count = values->places.met.count;
    const grout_allocator *allocator = values->allocator;
    grout_lookup__deinit(&values->met_by_writer);
    values->met_by_writer = (grout_lookup){.allocator = allocator};
    values->met_next.count = 0;
    if (!GROUT_ARRAY_RESERVE(&values->met_next, allocator, count)) {
        return false;
    }
    values->met_next.count = count;
    for (size_t i = count; i > 0; i--) {
        const grout_left_bytes *left = &values->left.items[values->places.met.items[i - 1]];
        uint32_t *newest = grout_lookup__at(&values->met_by_writer, make_writer_key(&left->write));
        if (newest == NULL) {
            return false;
        }
        values->met_next.items[i - 1] = *newest;
        *newest = (uint32_t)i;
    }
    return true;
}

/* Finds what was left in a place. False without memory. */
static bool meet(grout_values *values, const grout_place_of_rect *place) {
    const bool is_known = values->met_of != 0 && values->met_of == values->left.count &&
                          memcmp(&values->met_at, place, sizeof *place) == 0;
    if (is_known) {
        return true;
    }
    values->met_of = 0;
    if (!grout_places__find(&values->places, place) || !sort_by_writer(values)) {
        return false;
    }
    values->met_at = *place;
    values->met_of = values->left.count;
    return true;
}

/* Whether the earlier write left what is in memory now, every byte of it known and defined. What
 * was left in the place is met. */
static bool is_equal(const grout_checker *checker, const grout_write_pair *pair, uint8_t *room) {
    const grout_values *values = checker->values;
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
    uint32_t number = grout_lookup__find(&values->met_by_writer, make_writer_key(&pair->earlier));
    for (; number != 0 && it.unseen > 0; number = values->met_next.items[number - 1]) {
        const grout_left_bytes *left = &values->left.items[values->places.met.items[number - 1]];
        if (is_of_write(left, &pair->earlier) && !compare_piece(&it, left, values->pool.items)) {
            return false;
        }
    }
    return it.unseen == 0;
}

static bool is_same_key(const grout_finding_key *a, const grout_finding_key *b) {
    return a->code == b->code && a->severity == b->severity && a->primary == b->primary &&
           a->related == b->related;
}

static uint64_t hash_key(const grout_finding_key *key) {
    return grout_check__mix(grout_check__mix(key->code, key->severity),
                            (uint64_t)key->primary << 32 | key->related);
}

/* What is known of a finding; NULL without memory. */
static grout_compared_pair *find_compared(grout_values *values, const grout_finding_key *key) {
    uint32_t *newest = GROUT_ARRAY_RESERVE(&values->compared, values->allocator, 1)
                           ? grout_lookup__at(&values->compared_by_key, hash_key(key))
                           : NULL;
    if (!newest) {
        return NULL;
    }
    for (uint32_t i = *newest; i != 0; i = values->compared.items[i - 1].next) {
        if (is_same_key(&values->compared.items[i - 1].key, key)) {
            return &values->compared.items[i - 1];
        }
    }
    grout_compared_pair *made = &values->compared.items[values->compared.count++];
    *made = (grout_compared_pair){.key = *key, .next = *newest};
    *newest = (uint32_t)values->compared.count;
    return made;
}

/* Compares the two writes of a pair. False without memory. */
static bool compare_pair(grout_checker *checker, const grout_write_pair *pair) {
    grout_values *values = checker->values;
    const grout_place_of_rect place = {pair->place.owner, pair->place.plane, pair->rect};
    grout_compared_pair *compared = find_compared(values, &pair->key);
    if (compared != NULL && compared->is_different) {
        return true;
    }
    values->scratch.count = 0;
    if (!compared ||
        !GROUT_ARRAY_RESERVE(&values->scratch, values->allocator, 3 * get_size(&pair->rect)) ||
        !meet(values, &place)) {
        return grout_checker__fail(checker);
    }
    compared->is_different = !is_equal(checker, pair, values->scratch.items);
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
    for (size_t i = 0; i < values->compared.count; i++) {
        const grout_compared_pair *compared = &values->compared.items[i];
        grout_record *record = grout_findings__find(&checker->memory.findings, &compared->key);
        if (record) { /* else the run has not met the two, and another schedule may */
            record->is_compared = true;
            record->is_different = compared->is_different;
        }
    }
    return true;
}
