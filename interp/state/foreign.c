/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * foreign.c - what a cluster knows of others, and clock sets that travel between clusters.
 *
 * A clock set's foreign word names a map: clusters, sorted, each with a clock set of that cluster.
 * Maps and the sets in them never change once made, and many words can share one. Marking finds
 * those that no word names any more. Kernels whose clusters do not wait for each other have no
 * maps: their words stay 0.
 */
#include "completion.h"
#include "generation.h"
#include "machine.h"

#include <string.h>

#define COLLECT_MIN 256 /* clock sets in maps before the first collection */

/*
 * Records of foreign_maps: one for each cluster of a map, linked in the order of clusters. A map's
 * word is the index of its first record.
 */
typedef struct entry {
    uint32_t link;
    uint32_t next;
    uint32_t cluster;
    uint32_t clocks; /* of foreign_clocks */
    uint32_t mark;
} entry;

/* A record of foreign_clocks. Its clock set follows, with 0 as foreign word. */
typedef struct clock_record {
    uint32_t link;
    uint32_t mark;
} clock_record;

static entry *get_entry(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(&machine->pools[GROUT_POOL_FOREIGN_MAPS], index);
}

static uint32_t *get_clocks(const grout_machine *machine, uint32_t index) {
    return (uint32_t *)(void *)((clock_record *)grout_pool__at(
                                    &machine->pools[GROUT_POOL_FOREIGN_CLOCKS], index) +
                                1);
}

static uint32_t take(grout_machine *machine, grout_pool *pool) {
    uint32_t index = grout_pool__take(pool, &machine->heap);
    machine->run.has_failed |= index == 0;
    return index;
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* Whether a set already has all that an edge carries of another. */
static bool has_all(const grout_order *order, const uint32_t *set, const uint32_t *from,
                    grout_edge edge) {
    uint32_t end = grout_order__get_end(order, edge);
    for (uint32_t i = grout_order__get_first(order, edge); i < end; i++) {
        if (set[i] < from[i]) {
            return false;
        }
    }
    return true;
}

/* A set in a map: what is there (0: nothing) joined with what an edge carries of another. */
static uint32_t join_clocks(grout_machine *machine, uint32_t into, const uint32_t *from,
                            grout_edge edge) {
    const grout_order *order = &machine->plan->order;
    if (into != 0 && has_all(order, get_clocks(machine, into), from, edge)) {
        return into;
    }
    uint32_t index = take(machine, &machine->pools[GROUT_POOL_FOREIGN_CLOCKS]);
    if (index == 0) {
        return into;
    }
    uint32_t *clocks = get_clocks(machine, index);
    if (into != 0) {
        memcpy(clocks, get_clocks(machine, into), (order->words - 1) * sizeof *clocks);
    }
    grout_order__carry(order, clocks, from, edge);
    return index;
}

typedef struct map_writer {
    grout_machine *machine;
    uint32_t first, last;
} map_writer;

static void append(map_writer *writer, uint32_t cluster, uint32_t clocks) {
    uint32_t index = take(writer->machine, &writer->machine->pools[GROUT_POOL_FOREIGN_MAPS]);
    if (index == 0 || clocks == 0) {
        return;
    }
    *get_entry(writer->machine, index) = (entry){.cluster = cluster, .clocks = clocks};
    if (writer->last != 0) {
        get_entry(writer->machine, writer->last)->next = index;
    } else {
        writer->first = index;
    }
    writer->last = index;
}

/* A set of from's pool entry moves when the pool grows: read it from its place each time. */
static uint32_t join_entry(grout_machine *machine, uint32_t into, uint32_t from, grout_edge edge) {
    if (into == from || (into == 0 && edge == GROUT_EDGE_STRONG)) {
        return from;
    }
    grout_pool *pool = &machine->pools[GROUT_POOL_FOREIGN_CLOCKS];
    if (pool->first_free == 0 && pool->count + 2 > pool->capacity &&
        !grout_pool__reserve(pool, &machine->heap, 2 * pool->capacity + 16)) {
        machine->run.has_failed = true;
        return into;
    }
    return join_clocks(machine, into, get_clocks(machine, from), edge);
}

/* Whether a map already has all that an edge carries of another: then no new one is made. */
static bool covers(const grout_machine *machine, uint32_t into, uint32_t from, uint32_t without,
                   grout_edge edge) {
    uint32_t a = into;
    for (uint32_t b = from; b != 0; b = get_entry(machine, b)->next) {
        const entry *right = get_entry(machine, b);
        if (right->cluster == without) {
            continue;
        }
        while (a != 0 && get_entry(machine, a)->cluster < right->cluster) {
            a = get_entry(machine, a)->next;
        }
        const entry *left = a == 0 ? NULL : get_entry(machine, a);
        if (left == NULL || left->cluster != right->cluster ||
            (left->clocks != right->clocks &&
             !has_all(&machine->plan->order, get_clocks(machine, left->clocks),
                      get_clocks(machine, right->clocks), edge))) {
            return false;
        }
    }
    return true;
}

/* The map of two, without the entry of one cluster (UINT32_MAX: with all). */
static uint32_t join_maps(grout_machine *machine, uint32_t into, uint32_t from, uint32_t without,
                          grout_edge edge) {
    map_writer writer = {.machine = machine};
    bool is_same = true;
    uint32_t a = into, b = from;
    if (from == 0 || into == from || covers(machine, into, from, without, edge)) {
        return into;
    }
    while (a != 0 || b != 0) {
        entry left = a == 0 ? (entry){.cluster = UINT32_MAX} : *get_entry(machine, a);
        entry right = b == 0 ? (entry){.cluster = UINT32_MAX} : *get_entry(machine, b);
        uint32_t cluster = left.cluster < right.cluster ? left.cluster : right.cluster;
        uint32_t clocks = left.cluster == cluster ? left.clocks : 0;
        if (right.cluster == cluster && cluster != without) {
            uint32_t joined = join_entry(machine, clocks, right.clocks, edge);
            is_same &= joined == clocks;
            clocks = joined;
        }
        if (clocks != 0) {
            append(&writer, cluster, clocks);
        }
        a = a != 0 && left.cluster == cluster ? left.next : a;
        b = b != 0 && right.cluster == cluster ? right.next : b;
    }
    return is_same ? into : writer.first;
}

/* A map with what an edge carries of a cluster's set. */
static uint32_t join_set(grout_machine *machine, uint32_t into, const uint32_t *from,
                         uint32_t cluster, grout_edge edge) {
    map_writer writer = {.machine = machine};
    const uint32_t *had_clocks = grout_foreign__find(machine, into, cluster);
    bool is_done = false;
    if (had_clocks != NULL && has_all(&machine->plan->order, had_clocks, from, edge)) {
        return into;
    }
    for (uint32_t i = into; i != 0; i = get_entry(machine, i)->next) {
        entry old = *get_entry(machine, i);
        if (!is_done && old.cluster >= cluster) {
            uint32_t had = old.cluster == cluster ? old.clocks : 0;
            uint32_t clocks = join_clocks(machine, had, from, edge);
            if (clocks == had) {
                return into;
            }
            append(&writer, cluster, clocks);
            is_done = true;
            if (had != 0) {
                continue;
            }
        }
        append(&writer, old.cluster, old.clocks);
    }
    if (!is_done) {
        append(&writer, cluster, join_clocks(machine, 0, from, edge));
    }
    return writer.first;
}

uint32_t grout_foreign__publish(grout_machine *machine, uint32_t word, uint32_t rank) {
    const grout_order *order = &machine->plan->order;
    map_writer writer = {.machine = machine};
    for (uint32_t i = word; i != 0; i = get_entry(machine, i)->next) {
        entry old = *get_entry(machine, i);
        uint32_t index = take(machine, &machine->pools[GROUT_POOL_FOREIGN_CLOCKS]);
        if (index == 0) {
            return word;
        }
        uint32_t *clocks = get_clocks(machine, index);
        memcpy(clocks, get_clocks(machine, old.clocks), (order->words - 1) * sizeof *clocks);
        grout_order__join(grout_order__get_gmem(order, clocks), clocks, order->size);
        grout_order__join(grout_order__get_fenced(order, clocks, rank), clocks, order->size);
        append(&writer, old.cluster, index);
    }
    return writer.first;
}

const uint32_t *grout_foreign__find(const grout_machine *machine, uint32_t word, uint32_t cluster) {
    for (uint32_t i = word; i != 0; i = get_entry(machine, i)->next) {
        if (get_entry(machine, i)->cluster == cluster) {
            return get_clocks(machine, get_entry(machine, i)->clocks);
        }
    }
    return NULL;
}

const grout_foreign_clock *grout_foreign__show(grout_machine *machine, uint32_t word, uint32_t rank,
                                               uint32_t *count_out) {
    const grout_order *order = &machine->plan->order;
    uint32_t count = 0;
    for (uint32_t i = word; i != 0; i = get_entry(machine, i)->next) {
        count++;
    }
    *count_out = 0;
    if (!grout_pool__reserve(&machine->scratch[GROUT_SCRATCH_FOREIGN], &machine->heap, count)) {
        machine->run.has_failed = true;
        return NULL;
    }
    grout_foreign_clock *clocks = grout_pool__at(&machine->scratch[GROUT_SCRATCH_FOREIGN], 0);
    for (uint32_t i = word; i != 0; i = get_entry(machine, i)->next) {
        uint32_t *set = get_clocks(machine, get_entry(machine, i)->clocks);
        clocks[(*count_out)++] =
            (grout_foreign_clock){.cluster = get_entry(machine, i)->cluster,
                                  .known = set,
                                  .published_gmem = grout_order__get_gmem(order, set),
                                  .fenced_gmem = grout_order__get_fenced(order, set, rank)};
    }
    return clocks;
}

uint64_t grout_foreign__hash(const grout_machine *machine, uint32_t word) {
    uint64_t hash = 0;
    for (uint32_t i = word; i != 0; i = get_entry(machine, i)->next) {
        const uint32_t *clocks = get_clocks(machine, get_entry(machine, i)->clocks);
        hash = (hash ^ get_entry(machine, i)->cluster) * UINT64_C(0x9e3779b97f4a7c15);
        for (uint32_t k = 0; k + 1 < machine->plan->order.words; k++) {
            hash = (hash ^ clocks[k]) * UINT64_C(0xbf58476d1ce4e5b9);
            hash ^= hash >> 31;
        }
    }
    return hash;
}

/* ---- sets ------------------------------------------------------------------------------------ */

uint32_t grout_machine__take_set(grout_machine *machine) {
    uint32_t index = take(machine, &machine->pools[GROUT_POOL_SETS]);
    if (index != 0) {
        ((uint32_t *)grout_pool__at(&machine->pools[GROUT_POOL_SETS], index))[1] = 1; /* in use */
    }
    return index;
}

void grout_machine__give_set(grout_machine *machine, uint32_t index) {
    if (index != 0) {
        grout_pool__give(&machine->pools[GROUT_POOL_SETS], index);
    }
}

static void carry_words(grout_machine *machine, uint32_t *into, const uint32_t *from,
                        uint32_t without, grout_edge edge) {
    const grout_order *order = &machine->plan->order;
    uint32_t *word = grout_order__get_foreign(order, into);
    uint32_t other = from[order->words - 1];
    if (other != 0 && other != *word) {
        *word = join_maps(machine, *word, other, without, edge);
    }
}

void grout_machine__carry(grout_machine *machine, uint32_t *into, const uint32_t *from,
                          grout_edge edge) {
    grout_order__carry(&machine->plan->order, into, from, edge);
    carry_words(machine, into, from, UINT32_MAX, edge);
}

void grout_cta__carry_from(const grout_cta *cta, uint32_t *into, const uint32_t *from,
                           uint32_t cluster, grout_edge edge) {
    grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    uint32_t own = grout_cta__cluster(cta)->index;
    if (cluster == own) {
        grout_machine__carry(machine, into, from, edge);
        return;
    }
    edge = edge == GROUT_EDGE_STRONG && order->fencers > 0 ? GROUT_EDGE_ABROAD : edge;
    const uint32_t *mine = grout_foreign__find(machine, from[order->words - 1], own);
    if (mine != NULL) {
        grout_order__carry(order, into, mine, edge);
    }
    uint32_t *word = grout_order__get_foreign(order, into);
    *word = join_set(machine, *word, from, cluster, edge);
    carry_words(machine, into, from, own, edge);
}

void grout_cta__meet(const grout_cta *cta, uint32_t first, uint32_t count) {
    grout_machine *machine = cta->machine;
    const grout_order *order = &machine->plan->order;
    uint32_t *sets = grout_cta__clocks(cta, first);
    grout_order__meet(order, sets, grout_cta__actor(cta, first), count, machine->clock_scratch);
    for (uint32_t i = 1; machine->pools[GROUT_POOL_FOREIGN_MAPS].count > 0 && i < count; i++) {
        carry_words(machine, sets, sets + (size_t)i * order->words, UINT32_MAX, GROUT_EDGE_STRONG);
    }
    for (uint32_t i = 1; i < count; i++) {
        *grout_order__get_foreign(order, sets + (size_t)i * order->words) =
            *grout_order__get_foreign(order, sets);
    }
}

/* ---- collection ------------------------------------------------------------------------------ */

/* If an entry is marked, all entries after it are marked too. */
static void mark_word(const grout_machine *machine, uint32_t word) {
    for (uint32_t i = word; i != 0 && get_entry(machine, i)->mark == 0;
         i = get_entry(machine, i)->next) {
        get_entry(machine, i)->mark = 1;
        ((clock_record *)grout_pool__at(&machine->pools[GROUT_POOL_FOREIGN_CLOCKS],
                                        get_entry(machine, i)->clocks))
            ->mark = 1;
    }
}

static void mark_sets(const grout_machine *machine, const uint32_t *sets, size_t count) {
    for (size_t i = 0; i < count; i++) {
        mark_word(machine, sets[(i + 1) * machine->plan->order.words - 1]);
    }
}

static void mark_cta(const grout_cta *cta) {
    const grout_machine *machine = cta->machine;
    uint32_t per_phase = machine->plan->has_narrow_waits ? 2 : 1;
    mark_sets(machine, grout_cta__clocks(cta, 0), machine->plan->actor_count);
    for (uint32_t i = 0; i < machine->plan->element_count; i++) {
        const grout_barrier *barrier = grout_cta__barrier(cta, i);
        for (uint32_t k = 0; k < grout_completion__count_sets(machine); k++) {
            mark_word(machine, grout_completion__get_foreign(cta, i, k));
        }
        for (uint32_t k = barrier->first_open; k != 0;) {
            grout_phase *phase = grout_machine__phase(machine, k);
            for (uint32_t set = 0; set < per_phase; set++) {
                mark_word(machine, grout_phase__get_foreign(machine, phase, set));
            }
            k = phase->next;
        }
        for (uint32_t k = barrier->first_old; k != 0;) {
            grout_old_phase *phase = grout_machine__old_phase(machine, k);
            mark_sets(machine, grout_old_phase__clocks(phase), per_phase);
            k = phase->next;
        }
    }
}

/* Frees the records of a pool that are in use without a mark (mark_at words in); clears marks. */
static uint32_t sweep(grout_pool *pool, uint32_t mark_at, uint8_t *is_free) {
    uint32_t left = 0;
    memset(is_free, 0, pool->count);
    for (uint32_t i = pool->first_free; i != 0; i = *(uint32_t *)grout_pool__at(pool, i)) {
        is_free[i] = 1;
    }
    for (uint32_t i = 1; i < pool->count; i++) {
        uint32_t *record = grout_pool__at(pool, i);
        if (record[mark_at] != 0) {
            record[mark_at] = 0;
            left++;
        } else if (is_free[i] == 0) {
            grout_pool__give(pool, i);
        }
    }
    return left;
}

void grout_foreign__collect(grout_machine *machine) {
    uint32_t limit =
        machine->run.foreign_limit < COLLECT_MIN ? COLLECT_MIN : machine->run.foreign_limit;
    if (machine->pools[GROUT_POOL_FOREIGN_MAPS].count < limit ||
        machine->pools[GROUT_POOL_FOREIGN_MAPS].first_free != 0) {
        return;
    }
    uint32_t most = machine->pools[GROUT_POOL_FOREIGN_MAPS].count >
                            machine->pools[GROUT_POOL_FOREIGN_CLOCKS].count
                        ? machine->pools[GROUT_POOL_FOREIGN_MAPS].count
                        : machine->pools[GROUT_POOL_FOREIGN_CLOCKS].count;
    uint8_t *is_free = grout_heap__take(&machine->heap, most);
    if (is_free == NULL) {
        return; /* no harm: the next call tries again */
    }
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        for (uint32_t k = 0; machine->slots[i] != NULL && k < machine->plan->shape.cta_count; k++) {
            const grout_cta *cta = grout_machine__get_cta(machine, i, k);
            mark_cta(cta);
            mark_sets(machine, grout_cta__generation(cta, 0),
                      grout_machine__generation_sets(machine));
        }
    }
    for (uint32_t i = 1; i < machine->pools[GROUT_POOL_SETS].count; i++) {
        const uint32_t *record = grout_pool__at(&machine->pools[GROUT_POOL_SETS], i);
        if (record[1] != 0) {
            mark_sets(machine, record + 2, 1);
        }
    }
    machine->run.foreign_limit = 2 * sweep(&machine->pools[GROUT_POOL_FOREIGN_MAPS], 4, is_free);
    sweep(&machine->pools[GROUT_POOL_FOREIGN_CLOCKS], 1, is_free);
    grout_heap__give(&machine->heap, is_free, most);
}

uint64_t grout_foreign__hash_sets(const grout_machine *machine, uint64_t hash, const uint32_t *sets,
                                  size_t count) {
    uint32_t words = machine->plan->order.words;
    for (size_t i = 0; i < count; i++, sets += words) {
        hash = grout_hash__bytes(hash, sets, (words - 1) * sizeof *sets);
        hash = sets[words - 1] == 0
                   ? hash
                   : grout_hash__word(hash, grout_foreign__hash(machine, sets[words - 1]));
    }
    return hash;
}
