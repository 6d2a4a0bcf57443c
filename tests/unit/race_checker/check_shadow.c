/*
 * check_shadow.c - the adaptive shadow against the simple model: a record for every byte.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Random programs of a few threads: boxes read and written through both proxies, commits,
 * hand-overs between threads, completions learnt, CTAs that end, atomics. The model keeps a record
 * for each byte and never joins two. After every access both must have reported the same set of
 * conflicts; at the end every byte must have the same record, and a shadow fed byte by byte the
 * same hash. Whether the records are right is the question of check_oracle.c.
 */
#include "race_checker/detect/rules.h"
#include "tests/tests.h"
#include "tests/unit/support/often.h"

#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 3,
    LANES = 3,
    BARRIERS = 2,
    COUNTERS = 5 * THREADS + 2 * LANES + BARRIERS,
    OPS = 12,
    CONFLICTS_MAX = 1 << 12
};

static const grout_clock_shape SHAPE = {.cta_count = 1,
                                        .actor_count = THREADS,
                                        .lane_count = LANES,
                                        .barrier_count = BARRIERS,
                                        .thread_count = THREADS,
                                        .lanes_per_thread = 1};

/* A set of (code, primary op, related op, which is primary). */
typedef struct conflict_set {
    uint32_t items[CONFLICTS_MAX];
    uint32_t count;
} conflict_set;

typedef struct thread_clock {
    uint32_t known[COUNTERS], smem[COUNTERS], gmem[COUNTERS];
} thread_clock;

typedef struct world {
    uint64_t random;
    uint32_t cta, groups[LANES], phases[BARRIERS], copies[THREADS];
    thread_clock threads[THREADS];
    uint64_t ended[1];
    uint32_t pitch, rows;
    bool has_bytewise;
    grout_shadow shadow, bytewise;
    grout_region *model; /* by byte */
    grout_shadow model_memory;
    conflict_set fast, slow;
} world;

static uint32_t draw(world *it, uint32_t below) {
    it->random = it->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((it->random >> 33) % below);
}

static void put(conflict_set *set, uint32_t item) {
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->items[i] == item) {
            return;
        }
    }
    ASSERT_OFTEN(set->count < CONFLICTS_MAX);
    set->items[set->count++] = item;
}

static int compare_items(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static bool note_conflict(void *payload, const grout_conflict *conflict, const grout_entry *earlier,
                          const grout_entry *later, const grout_rect *rect) {
    (void)rect;
    put(payload, (uint32_t)conflict->code << 20 | (uint32_t)conflict->primary << 16 |
                     earlier->origin.op << 8 | later->origin.op);
    return true;
}

/* ---- a random program ---------------------------------------------------------------------------
 */

static void advance(world *it, uint32_t thread) {
    it->threads[thread].known[grout_clock_epoch(&SHAPE, thread)]++;
    it->threads[thread].known[grout_clock_released(&SHAPE, thread)]++;
}

static void join(uint32_t *into, const uint32_t *from) {
    for (uint32_t i = 0; i < COUNTERS; i++) {
        into[i] = into[i] < from[i] ? from[i] : into[i];
    }
}

static void begin_cta(world *it) {
    memset(it->threads, 0, sizeof it->threads);
    memset(it->groups, 0, sizeof it->groups);
    memset(it->phases, 0, sizeof it->phases);
    memset(it->copies, 0, sizeof it->copies);
    for (uint32_t t = 0; t < THREADS; t++) {
        advance(it, t);
    }
}

static void synchronise(world *it) {
    uint32_t from = draw(it, THREADS), to = draw(it, THREADS);
    thread_clock *clock = &it->threads[from];
    switch (draw(it, 6)) {
    case 0:
        join(clock->smem, clock->known);
        advance(it, from);
        break;
    case 1:
        join(clock->gmem, clock->known);
        advance(it, from);
        break;
    case 2:
        join(it->threads[to].known, clock->known);
        join(it->threads[to].smem, clock->smem);
        join(it->threads[to].gmem, clock->gmem);
        advance(it, from);
        break;
    case 3: { /* a group wait, read side or both */
        uint32_t done = draw(it, it->groups[from] + 1);
        uint32_t *br = &clock->known[grout_clock_bulk_read(&SHAPE, from)];
        uint32_t *bw = &clock->known[grout_clock_bulk_written(&SHAPE, from)];
        *br = *br < done ? done : *br;
        if (draw(it, 2)) {
            *bw = *bw < done ? done : *bw;
        }
        break;
    }
    case 4: { /* a wait for cp.async groups */
        uint32_t done = draw(it, it->copies[from] + 1);
        uint32_t *ca = &clock->known[grout_clock_async_copy(&SHAPE, from)];
        *ca = *ca < done ? done : *ca;
        break;
    }
    default: { /* a barrier wait */
        uint32_t barrier = draw(it, BARRIERS);
        uint32_t *ph = &clock->known[grout_clock_phase(&SHAPE, barrier)];
        uint32_t done = draw(it, it->phases[barrier] + 1);
        *ph = *ph < done ? done : *ph;
        break;
    }
    }
}

/* Which engine makes the access, and how it will be known to be over. */
static void choose_engine(world *it, uint32_t thread, bool is_write, const grout_rules *rules,
                          grout_entry *entry) {
    bool is_load = is_write == (rules->space == GROUT_SPACE_SMEM);
    uint8_t agent = GROUT_AGENT_ENGINE;
    if (is_load && draw(it, 3) == 0) {
        agent = GROUT_AGENT_GENERIC_ENGINE;
        entry->component = grout_clock_async_copy(&SHAPE, thread);
        entry->number = ++it->copies[thread];
    } else if (is_load) {
        uint32_t barrier = draw(it, BARRIERS);
        entry->component = grout_clock_phase(&SHAPE, barrier);
        entry->number = ++it->phases[barrier];
    } else {
        entry->component = is_write ? grout_clock_bulk_written(&SHAPE, thread)
                                    : grout_clock_bulk_read(&SHAPE, thread);
        entry->number = ++it->groups[thread];
    }
    entry->flags = grout_entry__make_flags(agent, is_write, false);
}

/* Fills in who accesses. */
static void choose_access(world *it, grout_rules *rules, grout_clocks *clocks) {
    uint32_t thread = draw(it, THREADS);
    bool is_async = draw(it, 2), is_write = draw(it, 2);
    grout_entry *entry = &rules->entry;
    memset(entry, 0, sizeof *entry);
    entry->cluster = clocks->cluster = rules->owner = it->cta;
    entry->origin.op = 1 + draw(it, OPS);
    entry->origin.cta = it->cta;
    entry->origin.thread = (uint8_t)thread;
    entry->epoch = it->threads[thread].known[grout_clock_epoch(&SHAPE, thread)];
    entry->flags = grout_entry__make_flags(GROUT_AGENT_ACTOR, is_write, false);
    entry->component = grout_clock_released(&SHAPE, thread);
    entry->number = entry->epoch;
    if (is_async) {
        choose_engine(it, thread, is_write, rules, entry);
    }
    if (is_write && draw(it, 3) == 0) {
        entry->flags |= GROUT_ENTRY_ATOMIC;
        entry->atomicity = grout_entry__make_atomicity(2 * draw(it, 2), 4);
    }
    if (grout_rules__is_consumption(rules)) {
        entry->told = (uint16_t)draw(it, 3);
    }
    clocks->known = it->threads[thread].known;
    clocks->published_smem = it->threads[thread].smem;
    clocks->published_gmem = it->threads[thread].gmem;
}

/* A box; most are tiles of a grid, some are anything, down to one byte. */
static uint32_t choose_runs(world *it, grout_run *runs) {
    uint32_t height = it->rows, width = it->pitch, row = 0, column = 0;
    uint32_t style = draw(it, 8);
    if (style < 4 && it->rows >= 4) {
        height = it->rows / 4;
        width = it->pitch / 2;
        row = draw(it, 4) * height;
        column = draw(it, 2) * width;
    } else if (style < 7) {
        height = 1 + draw(it, it->rows);
        width = 1 + draw(it, it->pitch);
        row = draw(it, it->rows - height + 1);
        column = draw(it, it->pitch - width + 1);
        if (style == 6) {
            height = width = 1;
        }
    }
    if (draw(it, 4) == 0) { /* row by row */
        for (uint32_t i = 0; i < height; i++) {
            runs[i] = (grout_run){(row + i) * it->pitch + column, 0, 1, width};
        }
        return height;
    }
    runs[0] = (grout_run){row * it->pitch + column, height == 1 ? 0 : it->pitch, height, width};
    return 1;
}

static void access_all(world *it, uint8_t space, grout_visitor *visitor, grout_rules *rules) {
    grout_run runs[64];
    grout_access access = {.space = space, .runs = runs};
    access.run_count = choose_runs(it, runs);
    rules->payload = &it->fast;
    ASSERT_OFTEN(grout_shadow__access(&it->shadow, 0, 0, &access, visitor));
    rules->payload = &it->slow;
    for (uint32_t i = 0; i < access.run_count; i++) {
        for (int64_t k = 0; k < runs[i].count * runs[i].length; k++) {
            grout_run byte = {
                runs[i].base + k / runs[i].length * runs[i].stride + k % runs[i].length, 0, 1, 1};
            grout_access one = {.space = space, .runs = &byte, .run_count = 1};
            ASSERT_OFTEN(grout_rules__visit(rules, &it->model_memory, &it->model[byte.base], NULL));
            if (it->has_bytewise) {
                rules->payload = &it->fast;
                ASSERT_OFTEN(grout_shadow__access(&it->bytewise, 0, 0, &one, visitor));
                rules->payload = &it->slow;
            }
        }
    }
}

/* ---- comparison
 * ---------------------------------------------------------------------------------- */

typedef struct comparison {
    const world *it;
    uint32_t bytes;
} comparison;

static bool is_same(const grout_entry *a, const grout_entry *b) {
    return a->flags == b->flags && a->cluster == b->cluster && a->component == b->component &&
           a->number == b->number && a->origin.op == b->origin.op && a->told == b->told &&
           a->vouches == b->vouches;
}

/* Their order is not compared: it depends on what was joined. */
static bool has_same(const grout_entry *readers, uint32_t count, const grout_entry *entry) {
    for (uint32_t i = 0; i < count; i++) {
        if (is_same(&readers[i], entry)) {
            return true;
        }
    }
    return false;
}

static bool compare_region(void *payload, grout_shadow *shadow, grout_region *region,
                           const grout_rect *rect) {
    comparison *compare = payload;
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    for (uint32_t row = rect->row; row < rect->row_end; row++) {
        for (uint32_t column = rect->column; column < rect->column_end; column++) {
            const grout_region *byte = &compare->it->model[row * compare->it->pitch + column];
            const grout_entry *expected =
                grout_shadow__get_readers(&compare->it->model_memory, byte);
            ASSERT_OFTEN(is_same(&byte->write, &region->write));
            ASSERT_OFTEN(byte->reader_count == region->reader_count);
            for (uint32_t i = 0; i < byte->reader_count; i++) {
                ASSERT_OFTEN(has_same(readers, region->reader_count, &expected[i]));
            }
            ASSERT_OFTEN(byte->open_count == region->open_count);
            compare->bytes++;
        }
    }
    return true;
}

static void compare_sets(world *it) {
    qsort(it->fast.items, it->fast.count, sizeof *it->fast.items, compare_items);
    qsort(it->slow.items, it->slow.count, sizeof *it->slow.items, compare_items);
    ASSERT_OFTEN(it->fast.count == it->slow.count);
    ASSERT_OFTEN(memcmp(it->fast.items, it->slow.items, it->fast.count * sizeof *it->fast.items) ==
                 0);
}

static void make_plane(grout_shadow *shadow, uint32_t rows, uint32_t pitch) {
    ck_assert(grout_shadow__init(shadow, NULL, 1));
    grout_shadow__set_plane(shadow, 0, (uint64_t)rows * pitch, pitch);
}

static const uint16_t *find_told_since(void *payload, uint32_t cta) {
    static const uint16_t TOLD_SINCE[THREADS * BARRIERS] = {0, 1, 2, 1, 1, 0};
    (void)payload;
    (void)cta;
    return TOLD_SINCE;
}

static void run_program(uint64_t seed, uint8_t space, uint32_t steps) {
    world *it = calloc(1, sizeof *it);
    grout_clocks clocks = {0};
    grout_rules rules = {.find_told_since = find_told_since,
                         .shape = &SHAPE,
                         .clocks = &clocks,
                         .space = space,
                         .report = note_conflict};
    grout_visitor visitor = {grout_rules__visit, &rules};
    comparison compare = {it, 0};
    grout_visitor comparer = {compare_region, &compare};
    grout_shadow copy;
    it->random = seed * 2654435761u + 1;
    it->rows = 1 + draw(it, 14);
    it->pitch = 2 + draw(it, 30);
    it->has_bytewise = draw(it, 12) == 0;
    it->model = calloc((size_t)it->rows * it->pitch, sizeof *it->model);
    make_plane(&it->shadow, it->rows, it->pitch);
    make_plane(&it->bytewise, it->rows, it->pitch);
    make_plane(&it->model_memory, 1, 1);
    begin_cta(it);
    for (uint32_t step = 0; step < steps; step++) {
        if (draw(it, 3) == 0) {
            synchronise(it);
        } else if (space == GROUT_SPACE_GMEM && draw(it, 16) == 0 && it->cta < 8) {
            it->cta++;
            begin_cta(it);
        } else {
            choose_access(it, &rules, &clocks);
            access_all(it, space, &visitor, &rules);
        }
    }
    compare_sets(it);
    ck_assert(grout_shadow__walk(&it->shadow, 0, 0, (int64_t)it->rows * it->pitch, &comparer));
    ck_assert(it->shadow.planes[0].pages == 0 || compare.bytes > 0);
    ck_assert(!it->has_bytewise ||
              grout_shadow__hash(&it->shadow) == grout_shadow__hash(&it->bytewise));
    make_plane(&copy, it->rows, it->pitch);
    ck_assert(grout_shadow__copy(&copy, &it->shadow));
    ck_assert(grout_shadow__hash(&copy) == grout_shadow__hash(&it->shadow));
    grout_shadow__deinit(&copy);
    grout_shadow__deinit(&it->shadow);
    grout_shadow__deinit(&it->bytewise);
    grout_shadow__deinit(&it->model_memory);
    free(it->model);
    free(it);
}

TEST_EACH(random_programs_on_smem, 40) {
    for (uint64_t i = 0; i < 20; i++) {
        run_program((uint64_t)_i * 20 + i, GROUT_SPACE_SMEM, 30 + (uint32_t)i * 3);
    }
}

TEST_EACH(random_programs_on_gmem, 20) {
    for (uint64_t i = 0; i < 20; i++) {
        run_program((uint64_t)_i * 20 + i + 1000000, GROUT_SPACE_GMEM, 30 + (uint32_t)i * 3);
    }
}

/* ---- cost
 * ------------------------------------------------------------------------------------------ */

static bool touch(void *payload, grout_shadow *shadow, grout_region *region,
                  const grout_rect *rect) {
    uint32_t *count = payload;
    grout_entry entry = {.flags = GROUT_ENTRY_PRESENT | GROUT_ENTRY_WRITE};
    (void)shadow;
    (void)rect;
    region->write = entry;
    region->reader_count = 0;
    (*count)++;
    return true;
}

/* Tiles that are hit whole are one record each, and no memory is taken the second time round. */
TEST(tiles_are_one_record) {
    grout_shadow shadow;
    uint32_t visits = 0;
    uint64_t bytes = 0;
    grout_visitor visitor = {touch, &visits};
    make_plane(&shadow, 256, 1024);
    for (uint32_t round = 0; round < 3; round++) {
        visits = 0;
        for (int64_t tile = 0; tile < 32; tile++) {
            grout_run run = {tile / 4 * (INT64_C(32) * 1024) + tile % 4 * 256, 1024, 32, 256};
            grout_access access = {.runs = &run, .run_count = 1};
            ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &visitor));
        }
        ck_assert_uint_eq(visits, 32);
        ck_assert(round == 0 || shadow.slab.live_bytes == bytes);
        bytes = shadow.slab.live_bytes;
    }
    ck_assert_uint_lt(bytes, 256 * 1024 / 10);
    grout_shadow__deinit(&shadow);
}

/* After a tile was taken to pieces, a write of all of it makes it one record again. */
TEST(pieces_are_joined) {
    grout_shadow shadow;
    uint32_t visits = 0;
    grout_visitor visitor = {touch, &visits};
    grout_run whole = {0, 64, 64, 64};
    grout_access access = {.runs = &whole, .run_count = 1};
    make_plane(&shadow, 64, 64);
    ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &visitor));
    for (int64_t i = 0; i < INT64_C(64) * 64; i += 3) {
        grout_run byte = {i, 0, 1, 1};
        access.runs = &byte;
        ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &visitor));
    }
    access.runs = &whole;
    ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &visitor));
    visits = 0;
    ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &visitor));
    ck_assert_uint_eq(visits, 1);
    grout_shadow__deinit(&shadow);
}

/* ---- crowds
 * ---------------------------------------------------------------------------------------- */

enum { CROWD = 70000 };

static bool add_reader(void *payload, grout_shadow *shadow, grout_region *region,
                       const grout_rect *rect) {
    (void)rect;
    return grout_shadow__add_reader(shadow, region, payload);
}

static bool count_readers(void *payload, grout_shadow *shadow, grout_region *region,
                          const grout_rect *rect) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    uint32_t *count = payload;
    (void)rect;
    for (*count = 0; *count < region->reader_count && readers[*count].cluster == *count;) {
        ++*count;
    }
    return true;
}

static uint32_t count_all(grout_shadow *shadow) {
    uint32_t count = 0;
    grout_visitor visitor = {count_readers, &count};
    ck_assert(grout_shadow__walk(shadow, 0, 0, 4, &visitor));
    return count;
}

/* Readers of one location, more than a chunk of memory holds and than 16 bits count. */
TEST(no_reader_is_forgotten) {
    grout_shadow shadow, copy;
    grout_entry entry = {.flags = GROUT_ENTRY_PRESENT};
    grout_visitor visitor = {add_reader, &entry};
    grout_run run = {0, 4, 1, 4};
    grout_access access = {.runs = &run, .run_count = 1};
    make_plane(&shadow, 1, 4);
    make_plane(&copy, 1, 4);
    for (uint32_t i = 0; i < CROWD; i++) {
        entry.cluster = i;
        ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &visitor));
        ck_assert(i != CROWD / 2 || grout_shadow__copy(&copy, &shadow));
    }
    ck_assert_uint_eq(count_all(&shadow), CROWD);
    ck_assert_uint_eq(count_all(&copy), CROWD / 2 + 1);
    ck_assert(grout_shadow__copy(&copy, &shadow));
    ck_assert_uint_eq(count_all(&copy), CROWD);
    ck_assert_uint_eq(grout_shadow__hash(&copy), grout_shadow__hash(&shadow));
    grout_shadow__reset(&shadow);
    ck_assert_uint_eq(count_all(&shadow), 0);
    ck_assert_uint_eq(count_all(&copy), CROWD);
    ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &visitor));
    grout_shadow__deinit(&shadow);
    grout_shadow__deinit(&copy);
}

/* An array of 8 GiB in one row: what lies 4 GiB further on is other bytes. */
TEST(large_planes) {
    const int64_t far = (INT64_C(1) << 32) + 100;
    for (uint64_t pitch = UINT64_C(1) << 33; pitch > 0; pitch >>= 33) {
        grout_shadow shadow;
        uint32_t count = 0;
        grout_entry entry = {.flags = GROUT_ENTRY_PRESENT};
        grout_visitor add = {add_reader, &entry}, look = {count_readers, &count};
        grout_run run = {far, 4, 1, 4};
        grout_access access = {.runs = &run, .run_count = 1};
        ck_assert(grout_shadow__init(&shadow, NULL, 1));
        grout_shadow__set_plane(&shadow, 0, UINT64_C(1) << 33, pitch);
        ck_assert(grout_shadow__access(&shadow, 0, 0, &access, &add));
        ck_assert(grout_shadow__walk(&shadow, 0, 100, 4, &look));
        ck_assert_uint_eq(count, 0);
        ck_assert(grout_shadow__walk(&shadow, 0, far, 4, &look));
        ck_assert_uint_eq(count, 1);
        grout_shadow__deinit(&shadow);
    }
}

/* Handles have 31 bits, of 64 bytes each; what is larger than a chunk has memory of its own. */
TEST(handles_end) {
    grout_slab slab = {.used_units = GROUT_SLAB_LARGE - GROUT_SLAB_CHUNK_SIZE / GROUT_SLAB_UNIT};
    ck_assert_uint_eq(grout_slab__alloc(&slab, GROUT_SLAB_UNIT), 0);
    grout_slab_handle large = grout_slab__alloc(&slab, GROUT_SLAB_CHUNK_SIZE + 1u);
    ck_assert_uint_eq(large, GROUT_SLAB_LARGE);
    grout_slab__free(&slab, large, GROUT_SLAB_CHUNK_SIZE + 1u);
    ck_assert_uint_eq(grout_slab__alloc(&slab, GROUT_SLAB_CHUNK_SIZE + 2u), GROUT_SLAB_LARGE);
    grout_slab__deinit(&slab);
}
