/* check_readers.c - what a region keeps of accesses, against a list that is walked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "race_checker/detect/readers.h"
#include "race_checker/detect/vouchers.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 6000, KEPT_MAX = 6000, SEEDS = 12, CLUSTERS = 12, COMPONENTS = 4 };

typedef struct world {
    uint64_t random;
    grout_shadow shadow;
    grout_region region;
    grout_entry model[KEPT_MAX];
    uint32_t count;
    bool is_gmem;
    uint32_t cluster; /* the one that runs; those before it have ended, but for a few */
    uint64_t ended;
} world;

static uint32_t draw(world *it, uint32_t below) {
    it->random = it->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((it->random >> 33) % below);
}

static grout_entry draw_entry(world *it, uint32_t ops, uint32_t number) {
    grout_entry entry;
    memset(&entry, 0, sizeof entry);
    entry.origin.op = 1 + draw(it, ops);
    entry.origin.cta = it->cluster;
    entry.origin.thread = (uint8_t)draw(it, 2);
    entry.origin.warp = (uint8_t)draw(it, 2);
    entry.cluster = entry.origin.cta;
    entry.component = 1 + entry.origin.thread * 2u + draw(it, 2);
    entry.flags = (uint8_t)(GROUT_ENTRY_PRESENT | (draw(it, 8) == 0 ? GROUT_ENTRY_WRITE : 0));
    entry.number = number + draw(it, 3);
    entry.vouches = draw(it, 2) * entry.number;
    return entry;
}

static grout_entry *find_in_model(world *it, const grout_entry *entry) {
    for (uint32_t i = 0; i < it->count; i++) {
        const grout_entry *other = &it->model[i];
        if (memcmp(&other->origin, &entry->origin, sizeof other->origin) == 0 &&
            other->cluster == entry->cluster && other->component == entry->component &&
            other->flags == entry->flags) {
            return &it->model[i];
        }
    }
    return NULL;
}

static void remove_from_model(world *it, uint32_t i) {
    it->count--;
    memmove(&it->model[i], &it->model[i + 1], (it->count - i) * sizeof *it->model);
}

/* The newest two accesses by an op stay, of clusters that have ended. */
static void drop_old(world *it, const grout_entry *entry) {
    uint32_t alike = 0;
    for (uint32_t i = it->count; i-- > 0;) {
        const grout_entry *other = &it->model[i];
        if (other->origin.op == entry->origin.op && other->flags == entry->flags &&
            (it->ended >> other->cluster & 1) != 0 && ++alike > 2) {
            remove_from_model(it, i);
        }
    }
}

static void keep(world *it, const grout_entry *entry) {
    const grout_clock_shape shape = {.cta_count = 1};
    const grout_rules rules = {.space = it->is_gmem ? GROUT_SPACE_GMEM : GROUT_SPACE_SMEM,
                               .shape = &shape,
                               .ended_ctas = &it->ended,
                               .ended_words = 1};
    grout_entry *kept = find_in_model(it, entry);
    ck_assert(grout_readers__keep(&rules, &it->shadow, &it->region, entry));
    if (kept == NULL) {
        if (it->is_gmem && it->count > 2) {
            drop_old(it, entry);
        }
        ck_assert_uint_lt(it->count, KEPT_MAX);
        it->model[it->count++] = *entry;
    } else {
        const uint32_t vouches = kept->vouches != 0 ? kept->vouches : entry->vouches;
        *kept = kept->number <= entry->number ? *entry : *kept;
        kept->vouches = vouches;
    }
}

/* The least number that one of them vouches with, of a component and kind; 0: none vouches. */
static uint32_t find_least(const grout_entry *entries, uint32_t count, uint32_t component,
                           uint32_t cluster, uint8_t flags) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < count; i++) {
        const grout_entry *it = &entries[i];
        if (it->component == component && it->cluster == cluster && it->flags == flags &&
            it->vouches != 0 && (least == 0 || it->vouches < least)) {
            least = it->vouches;
        }
    }
    return least;
}

static void compare_vouchers(world *it) {
    uint32_t count = 0;
    const grout_entry *vouchers = grout_vouchers__get(&it->shadow, &it->region, &count);
    for (uint32_t i = 0; i < CLUSTERS * COMPONENTS * 2; i++) {
        const uint32_t component = 1 + i / 2 % COMPONENTS, cluster = i / 2 / COMPONENTS;
        const uint8_t flags = GROUT_ENTRY_PRESENT | (i % 2 == 1 ? GROUT_ENTRY_WRITE : 0);
        ck_assert_uint_eq(find_least(vouchers, count, component, cluster, flags),
                          find_least(it->model, it->count, component, cluster, flags));
    }
}

/* How many readers are there; each has to be the next one of the model. */
static uint32_t count_equal(const world *it, const grout_entry *readers) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < it->region.reader_count; i++) {
        const bool is_there = grout_entry__is_there(&readers[i]);
        ck_assert(!is_there || (count < it->count &&
                                memcmp(&readers[i], &it->model[count], sizeof *readers) == 0));
        count += is_there ? 1u : 0u;
    }
    return count;
}

static void compare(world *it) {
    const grout_entry *readers = grout_shadow__get_readers(&it->shadow, &it->region);
    const uint32_t count = count_equal(it, readers);
    ck_assert_uint_eq(count, it->count);
    ck_assert_uint_eq(it->region.reader_count - it->region.gone_count, count);
    compare_vouchers(it);
}

/* Some leave, at times all but a few. */
static void remove_some(world *it) {
    const uint32_t left = draw(it, 4) == 0 ? draw(it, 20) : it->count - draw(it, 3);
    while (it->count > 0 && it->count > left) {
        remove_from_model(it, draw(it, it->count));
    }
    const grout_entry *readers = grout_shadow__get_readers(&it->shadow, &it->region);
    for (uint32_t i = it->region.reader_count; i-- > 0;) {
        if (grout_entry__is_there(&readers[i]) && find_in_model(it, &readers[i]) == NULL) {
            grout_shadow__remove_reader(&it->shadow, &it->region, i);
        }
    }
    grout_shadow__close_gaps(&it->shadow, &it->region);
}

TEST_EACH(what_is_kept_is_what_a_walk_finds, SEEDS) {
    static const uint32_t ops[] = {3, 40, 400};
    world *it = calloc(1, sizeof *it);
    it->random = (uint64_t)_i;
    it->is_gmem = _i >= SEEDS / 2;
    ck_assert(grout_shadow__init(&it->shadow, NULL, 1));
    for (uint32_t step = 1; step <= STEPS; step++) {
        const grout_entry entry = draw_entry(it, ops[_i % 3], step);
        keep(it, &entry);
        if (draw(it, 50) == 0 && !it->is_gmem) {
            remove_some(it);
        }
        if (step % (STEPS / CLUSTERS) == 0) {
            it->ended |= (uint64_t)(draw(it, 4) != 0) << it->cluster;
            it->cluster = it->is_gmem ? it->cluster + 1 : draw(it, CLUSTERS);
        }
        if (step % 40 == 0) {
            compare(it);
        }
    }
    compare(it);
    grout_shadow__deinit(&it->shadow);
    free(it);
}
