/*
 * oracle.h - for check_oracle.c: what threads know as sets of accesses, and what is wrong by them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_ORACLE_H
#define GROUT_TESTS_ORACLE_H

#include "race_checker/detect/rules.h"
#include "tests/unit/support/often.h"

#include "grout-internal/tables.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTERS = 2,
    CTAS = 2, /* of a cluster */
    THREADS = 2,
    ELEMENTS = 2, /* barriers of a CTA */
    ACTORS = CLUSTERS * CTAS * THREADS,
    MEMBERS = CTAS * THREADS,   /* actors of a cluster */
    BARRIERS = CTAS * ELEMENTS, /* of a cluster */
    SIZE = 10 * MEMBERS + 2 * BARRIERS,
    BYTES = 12,
    SPACES = CLUSTERS * CTAS + 1, /* the SMEM of each CTA; the last is GMEM */
    ACCESSES_MAX = 256,
    WORDS = ACCESSES_MAX / 64,
    CONFLICTS_MAX = 1 << 13,
    CASES = 40
};

static const grout_clock_shape SHAPE = {.cta_count = CTAS,
                                        .actor_count = MEMBERS,
                                        .lane_count = MEMBERS,
                                        .barrier_count = CTAS * ELEMENTS,
                                        .thread_count = THREADS,
                                        .lanes_per_thread = 1};

typedef struct id_set {
    uint64_t words[WORDS];
} id_set;

typedef enum milestone { BY_ACTOR, BULK_READ, BULK_WRITE, COPY_GROUP, PHASE, WGMMA } milestone;

/* One access, as the oracle sees it. */
typedef struct access {
    grout_entry entry; /* for the shadow; of it the oracle looks at the op only */
    milestone by;
    uint32_t actor, cta, cluster, space, first, end;
    uint32_t element;  /* PHASE: of the launch */
    uint32_t sequence; /* number in its mechanism */
    uint32_t told;     /* bit e: its thread knew of a phase of element e of its cluster */
    bool writes, is_async, is_atomic;
    uint8_t scope, width;
} access;

/* What a thread knows, as sets. */
typedef struct knowledge {
    id_set issued;                /* made, or issued */
    id_set over;                  /* done by an engine; writes of bulk groups apart */
    id_set shown;                 /* of these, what can be seen where it is known */
    id_set written;               /* writes of bulk groups that are done */
    id_set seen;                  /* plain accesses that are visible */
    id_set heard;                 /* would be, were every edge strong */
    id_set published_smem[CTAS];  /* of the CTAs of its cluster */
    id_set published_shown[CTAS]; /* of these, what could be seen when it was published */
    id_set published_gmem;
    id_set fenced_gmem[CTAS]; /* of these, by threads of that CTA of its cluster */
} knowledge;

/* The same as clocks. */
typedef struct clock_set {
    uint32_t known[CLUSTERS][SIZE], gmem[CLUSTERS][SIZE], smem[CTAS][SIZE];
    uint32_t fenced[CTAS][CLUSTERS][SIZE];
} clock_set;

/* What comes with the completion of a phase. */
typedef struct completion {
    uint32_t clock[SIZE];
    id_set issued, over, shown;
} completion;

typedef struct byte_entry {
    uint32_t id;
    bool is_dead, vouches;
    bool is_behind; /* an atomic came after it in order: of interest to other atomics only */
    id_set before;  /* what it comes after, through any number of accesses of the byte */
} byte_entry;

/* All accesses of a byte. */
typedef struct byte_list {
    byte_entry entries[ACCESSES_MAX];
    uint32_t count;
    int32_t last;     /* index of the last write, or -1 */
    uint32_t gravity; /* of the worst that was reported */
} byte_list;

typedef struct conflict_set {
    uint64_t items[CONFLICTS_MAX];
    uint32_t count;
} conflict_set;

typedef struct world {
    uint64_t random;
    access accesses[ACCESSES_MAX];
    uint32_t count;
    knowledge knows[ACTORS];
    clock_set clocks[ACTORS];
    uint32_t groups[ACTORS], copies[ACTORS], wgmmas[ACTORS];
    uint32_t phases[CLUSTERS * CTAS * ELEMENTS];
    completion completions[CLUSTERS * CTAS * ELEMENTS][ACCESSES_MAX];
    uint16_t told[ACTORS], told_since[CLUSTERS * CTAS][THREADS * BARRIERS];
    grout_shadow shadows[SPACES];
    byte_list bytes[SPACES][BYTES];
    conflict_set fast, slow;
} world;

static uint32_t draw(world *it, uint32_t below) {
    it->random = it->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((it->random >> 33) % below);
}

/* ---- sets -------------------------------------------------------------------------------------
 */

static void add(id_set *set, uint32_t id) {
    set->words[id / 64] |= UINT64_C(1) << id % 64;
}

static bool has(const id_set *set, uint32_t id) {
    return set->words[id / 64] >> id % 64 & 1;
}

static void unite(id_set *into, const id_set *from) {
    for (uint32_t i = 0; i < WORDS; i++) {
        into->words[i] |= from->words[i];
    }
}

static void join(uint32_t *into, const uint32_t *from, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        into[i] = into[i] < from[i] ? from[i] : into[i];
    }
}

static void put(conflict_set *set, const grout_conflict *conflict, uint32_t earlier,
                uint32_t later) {
    uint64_t item = (uint64_t)conflict->code << 32 | (uint64_t)conflict->primary << 28 |
                    (uint64_t)conflict->is_warning << 27 | earlier << 8 | later;
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->items[i] == item) {
            return;
        }
    }
    ASSERT_OFTEN(set->count < CONFLICTS_MAX);
    set->items[set->count++] = item;
}

static int compare_items(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* ---- who is who -------------------------------------------------------------------------------
 */

static uint32_t get_cta(uint32_t actor) {
    return actor / THREADS;
}

static uint32_t get_cluster(uint32_t actor) {
    return actor / MEMBERS;
}

static uint32_t *get_known(world *it, uint32_t actor) {
    return it->clocks[actor].known[get_cluster(actor)];
}

static void advance(world *it, uint32_t actor) {
    uint32_t *known = get_known(it, actor), member = actor % MEMBERS;
    known[grout_clock_epoch(&SHAPE, member)]++;
    known[grout_clock_released(&SHAPE, member)]++;
    known[grout_clock_handed(&SHAPE, member)]++;
}

/* ---- the oracle -------------------------------------------------------------------------------
 */

static bool is_engine(const access *it) {
    return it->by != BY_ACTOR;
}

static bool is_smem(const access *it) {
    return it->space < SPACES - 1;
}

static bool is_over(const world *it, const access *x, uint32_t id, const access *y) {
    const knowledge *knows = &it->knows[y->actor];
    if (!is_engine(x)) {
        return has(&knows->seen, id);
    }
    return has(x->by == BULK_WRITE ? &knows->written : &knows->over, id);
}

static bool looks(const access *y) {
    return !y->writes || y->is_atomic;
}

/* What an engine wrote has to be seen by who looks at it. */
static bool is_shown(const world *it, const access *x, uint32_t id, const access *y) {
    return !is_engine(x) || !x->writes || !is_smem(x) || !looks(y) ||
           has(&it->knows[y->actor].shown, id);
}

static bool is_in_order(const world *it, uint32_t id, const access *y) {
    const access *x = &it->accesses[id];
    const knowledge *knows = &it->knows[y->actor];
    bool is_fenced = has(&knows->fenced_gmem[y->cta % CTAS], id);
    if (!is_over(it, x, id, y) || !is_shown(it, x, id, y)) {
        return false;
    }
    if (!y->is_async) {
        return true;
    }
    if (x->is_async) {
        return is_smem(x) || !x->writes || x->cta == y->cta || is_fenced;
    }
    const id_set *published =
        is_engine(x) && looks(y) ? knows->published_shown : knows->published_smem;
    return is_smem(x) ? has(&published[x->space % CTAS], id) : !x->writes || is_fenced;
}

static bool holds(const access *x, const access *y) {
    return x->scope == GROUT_CHOICE_SCOPE_GPU ||
           (x->scope == GROUT_CHOICE_SCOPE_CLUSTER ? x->cluster == y->cluster : x->cta == y->cta);
}

static bool are_alike(const access *x, const access *y) {
    return x->is_atomic && y->is_atomic && x->width == y->width && holds(x, y) && holds(y, x);
}

static bool are_atomic(const access *x, const access *y) {
    return are_alike(x, y) && x->is_async == y->is_async;
}

/* Two accesses in no order: the same answer whichever came first. */
static grout_conflict name_race(const access *x, const access *y) {
    grout_conflict conflict = {GROUT_DIAG_GMEM_RACE, GROUT_PRIMARY_LATER, false, false, false};
    bool x_intrudes = x->writes && x->cta != x->space && y->cta == x->space;
    bool y_intrudes = y->writes && y->cta != x->space && x->cta == x->space;
    if (x->writes) {
        conflict.primary = y->writes ? GROUT_PRIMARY_SOURCE : GROUT_PRIMARY_EARLIER;
    }
    if (is_smem(x)) {
        conflict.code = GROUT_DIAG_SMEM_RACE;
        if (x_intrudes || y_intrudes) {
            conflict.code = GROUT_DIAG_CLUSTER_SMEM_REUSE;
            conflict.primary = y_intrudes ? GROUT_PRIMARY_LATER : GROUT_PRIMARY_EARLIER;
        }
    }
    return conflict;
}

static bool is_load_of(const access *load, const access *read) {
    return is_smem(load) && load->writes && load->by == PHASE && !read->writes &&
           (read->by == BY_ACTOR || read->by == WGMMA);
}

static grout_conflict name_load(const access *load, const access *read, bool read_is_later) {
    bool is_told = read->told >> load->element % BARRIERS & 1;
    grout_conflict conflict = {GROUT_DIAG_ASYNC_NOT_AWAITED, GROUT_PRIMARY_LATER, false, false,
                               false};
    if (is_told) {
        conflict.code = read->by == WGMMA ? GROUT_DIAG_MMA_OPERAND_REUSE : GROUT_DIAG_SMEM_RACE;
        if (load->cta != load->space) {
            conflict.code = GROUT_DIAG_CLUSTER_SMEM_REUSE;
        }
    }
    conflict.primary = is_told == read_is_later ? GROUT_PRIMARY_EARLIER : GROUT_PRIMARY_LATER;
    return conflict;
}

/* Not in order, and no two atomics of one proxy. */
static grout_conflict name(const world *it, uint32_t id, const access *y) {
    static const grout_diag_code UNFINISHED[] = {[BULK_READ] = GROUT_DIAG_SMEM_SOURCE_REUSE,
                                                 [BULK_WRITE] = GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE,
                                                 [COPY_GROUP] = GROUT_DIAG_ASYNC_NOT_AWAITED,
                                                 [PHASE] = GROUT_DIAG_ASYNC_NOT_AWAITED,
                                                 [WGMMA] = GROUT_DIAG_MMA_OPERAND_REUSE};
    const access *x = &it->accesses[id];
    grout_conflict conflict = {GROUT_DIAG_INSUFFICIENT_SCOPE, GROUT_PRIMARY_LATER, false, false,
                               false};
    if (are_alike(x, y) && !is_over(it, x, id, y)) { /* atomics of two proxies */
        conflict = name_race(x, y);
        conflict.is_warning = true;
        return conflict;
    }
    if (is_over(it, x, id, y) && !is_shown(it, x, id, y)) {
        return conflict;
    }
    if (is_over(it, x, id, y)) {
        conflict.code = GROUT_DIAG_MISSING_COMMIT_GMEM;
        conflict.is_warning = x->is_async || are_alike(x, y) ||
                              (!is_smem(x) && has(&it->knows[y->actor].published_gmem, id));
        if (is_smem(x)) {
            conflict.code =
                x->writes ? GROUT_DIAG_MISSING_COMMIT_SMEM : GROUT_DIAG_MISSING_COMMIT_SMEM_WAR;
        }
        return conflict;
    }
    if (!is_engine(x) && has(&it->knows[y->actor].heard, id)) {
        return conflict;
    }
    if (is_engine(x) && has(&it->knows[y->actor].issued, id)) {
        ck_assert_msg(UNFINISHED[x->by] != GROUT_DIAG_NONE,
                      "milestone %d has no code in UNFINISHED", (int)x->by);
        conflict.code = UNFINISHED[x->by];
        return !x->writes && !is_smem(x) ? name_race(x, y) : conflict;
    }
    if (is_load_of(x, y)) {
        return name_load(x, y, true);
    }
    return is_load_of(y, x) ? name_load(y, x, false) : name_race(x, y);
}

static bool is_same_mechanism(const access *x, const access *y) {
    if (x->by != y->by || x->writes != y->writes) {
        return false;
    }
    return x->by == PHASE ? x->element == y->element : x->actor == y->actor;
}

/* 0: they are no conflict by themselves; 1: a warning; 2: an error. */
static uint32_t get_gravity(const world *it, uint32_t id, const access *y) {
    const access *x = &it->accesses[id];
    if ((!x->writes && !y->writes) || is_in_order(it, id, y) || are_atomic(x, y)) {
        return 0;
    }
    return name(it, id, y).is_warning ? 1 : 2;
}

/* Whether y is compared with it. */
static bool is_met(const byte_entry *entry, const access *y) {
    return !entry->is_dead && (!entry->is_behind || y->is_atomic);
}

/* A newer one of the same mechanism is known to have been issued, and no better: that is what is
 * reported. */
static bool is_outdone(const world *it, const byte_list *list, uint32_t id, const access *y) {
    const access *x = &it->accesses[id];
    for (uint32_t i = 0; i < list->count; i++) {
        const access *other = &it->accesses[list->entries[i].id];
        if (is_met(&list->entries[i], y) && is_same_mechanism(other, x) &&
            other->sequence > x->sequence &&
            has(&it->knows[y->actor].issued, list->entries[i].id) &&
            get_gravity(it, list->entries[i].id, y) >= get_gravity(it, id, y)) {
            return true;
        }
    }
    return false;
}

static bool has_voucher(const world *it, const byte_list *list, const access *y) {
    for (uint32_t i = 0; i < list->count && is_smem(y); i++) {
        const uint32_t id = list->entries[i].id;
        if (list->entries[i].vouches && is_in_order(it, id, y) &&
            (!looks(y) || !is_engine(&it->accesses[id]) || has(&it->knows[y->actor].shown, id))) {
            return true;
        }
    }
    return false;
}

/* The newest of one actor and op replaces the older ones. */
static void replace(const world *it, byte_list *list, uint32_t index) {
    const access *newer = &it->accesses[list->entries[index].id];
    for (uint32_t i = 0; i < list->count; i++) {
        const access *x = &it->accesses[list->entries[i].id];
        if (i != index && (int32_t)i != list->last && is_same_mechanism(x, newer) &&
            x->actor == newer->actor && x->entry.origin.op == newer->entry.origin.op) {
            list->entries[i].is_dead = true;
        }
    }
}

/* Whether x is kept for other atomics. They need not be in order with y, so y replaces only its
 * like for them. */
static bool hides(const access *y, const access *x) {
    return y->is_atomic && !(x->is_atomic && x->scope == y->scope && x->width == y->width &&
                             x->cta == y->cta && x->is_async == y->is_async);
}

static void settle(const world *it, byte_list *list, const access *y, bool agrees) {
    for (uint32_t i = 0; i < list->count; i++) {
        byte_entry *entry = &list->entries[i];
        const access *x = &it->accesses[entry->id];
        entry->vouches = false;
        if ((agrees && x->writes) || is_in_order(it, entry->id, y) || entry->is_behind ||
            (has(&it->knows[y->actor].issued, entry->id) && !are_alike(x, y))) {
            entry->is_behind = hides(y, x);
            entry->is_dead = entry->is_dead || !entry->is_behind;
        }
    }
    if (list->last >= 0 && !list->entries[list->last].is_dead) {
        uint32_t last = (uint32_t)list->last;
        list->last = -1;
        replace(it, list, last);
    }
}

/* What comes before an access: what it is in order with, and what that comes after. A read says
 * nothing of other reads, and of the writes only where memory has one copy. */
static id_set find_before(const world *it, const byte_list *list, const access *y) {
    id_set before = {{0}};
    for (uint32_t i = 0; i < list->count; i++) {
        const byte_entry *entry = &list->entries[i];
        const access *x = &it->accesses[entry->id];
        if (!is_in_order(it, entry->id, y)) {
            continue;
        }
        add(&before, entry->id);
        for (uint32_t k = 0; k < i && (x->writes || is_smem(x)); k++) {
            uint32_t id = list->entries[k].id;
            if (has(&entry->before, id) && (x->writes || it->accesses[id].writes)) {
                add(&before, id);
            }
        }
    }
    return before;
}

/*
 * What no record has a part in: if an access conflicts with one that it does not come after, by
 * whatever way, something no less grave has been reported of the byte by now. If that one's record
 * is still met, it has been reported of the same mechanism, at this access. reported: by entry.
 */
static void check_gravity(const world *it, const byte_list *list, const access *y,
                          const id_set *before, const uint8_t *reported) {
    for (uint32_t i = 0; i < list->count; i++) {
        const byte_entry *entry = &list->entries[i];
        bool is_named =
            is_met(entry, y) && !(it->accesses[entry->id].writes && has_voucher(it, list, y));
        uint32_t most = is_named ? 0 : list->gravity;
        for (uint32_t k = 0; is_named && k < list->count; k++) {
            const access *other = &it->accesses[list->entries[k].id];
            bool is_alike = is_same_mechanism(other, &it->accesses[entry->id]);
            most = is_alike && reported[k] > most ? reported[k] : most;
        }
        ASSERT_OFTEN(has(before, entry->id) || get_gravity(it, entry->id, y) <= most);
    }
}

static void ask_oracle(world *it, uint32_t id, byte_list *list) {
    const access *y = &it->accesses[id];
    bool is_vouched = has_voucher(it, list, y), agrees = true;
    uint8_t reported[ACCESSES_MAX] = {0}; /* by entry: its gravity */
    const id_set before = find_before(it, list, y);
    for (uint32_t i = 0; i < list->count; i++) {
        const access *x = &it->accesses[list->entries[i].id];
        grout_conflict conflict;
        if (!is_met(&list->entries[i], y) || (!x->writes && !y->writes) ||
            is_in_order(it, list->entries[i].id, y) || (x->writes && is_vouched)) {
            continue;
        }
        agrees = agrees && !x->writes;
        if (!are_atomic(x, y) && !is_outdone(it, list, list->entries[i].id, y)) {
            conflict = name(it, list->entries[i].id, y);
            put(&it->slow, &conflict, x->entry.origin.op, y->entry.origin.op);
            reported[i] = conflict.is_warning ? 1 : 2;
            list->gravity = list->gravity > reported[i] ? list->gravity : reported[i];
        }
    }
    check_gravity(it, list, y, &before, reported);
    if (y->writes) {
        settle(it, list, y, agrees);
        list->last = (int32_t)list->count;
    }
    list->entries[list->count] = (byte_entry){id, false, !y->writes && agrees, false, before};
    if (!y->writes) {
        replace(it, list, list->count);
    }
    list->count++;
}

#endif
