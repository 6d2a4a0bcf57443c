/*
 * check_oracle.c - the checker's rules against an oracle that knows sets of accesses.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Random scripts of two clusters of two CTAs of two threads: plain accesses, atomics, loads into
 * any CTA of the cluster, stores and reductions by TMA, cp.async, st.async, wgmma; commits, waits,
 * edges strong and weak, inside a cluster and between two. One side keeps clocks as
 * docs/memory_model.md has them and asks the shadow. The other has no counters at all: each thread
 * has the set of the accesses that it knows to be over, published, ... and each byte the list of
 * its accesses. Both must report the same pairs with the same codes.
 */
#include "race_checker/rules.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTERS = 2,
    CTAS = 2, /* of a cluster */
    THREADS = 2,
    ELEMENTS = 2, /* barriers of a CTA */
    ACTORS = CLUSTERS * CTAS * THREADS,
    MEMBERS = CTAS * THREADS, /* actors of a cluster */
    SIZE = 7 * MEMBERS + CTAS * ELEMENTS,
    BYTES = 12,
    SPACES = CLUSTERS * CTAS + 1, /* the SMEM of each CTA; the last is GMEM */
    ACCESSES_MAX = 256,
    WORDS = ACCESSES_MAX / 64,
    CONFLICTS_MAX = 1 << 13,
    PROGRAMS = 10000,
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
    uint32_t told;     /* bit e: its thread knew of a phase of element e of its CTA */
    bool writes, is_async, is_atomic;
    uint8_t scope, width;
} access;

/* What a thread knows, as sets. */
typedef struct knowledge {
    id_set issued;               /* made, or issued */
    id_set over;                 /* done by an engine; writes of bulk groups apart */
    id_set written;              /* writes of bulk groups that are done */
    id_set seen;                 /* plain accesses that are visible */
    id_set heard;                /* would be, were every edge strong */
    id_set published_smem[CTAS]; /* of the CTAs of its cluster */
    id_set published_gmem;
} knowledge;

/* The same as clocks. */
typedef struct clock_set {
    uint32_t known[CLUSTERS][SIZE], gmem[CLUSTERS][SIZE], smem[CTAS][SIZE];
} clock_set;

/* What comes with the completion of a phase. */
typedef struct completion {
    uint32_t clock[SIZE];
    id_set issued, over;
} completion;

typedef struct byte_entry {
    uint32_t id;
    bool is_dead, vouches;
} byte_entry;

/* All accesses of a byte. */
typedef struct byte_list {
    byte_entry entries[ACCESSES_MAX];
    uint32_t count;
    int32_t last; /* index of the last write, or -1 */
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
    uint16_t told[ACTORS], told_since[CLUSTERS * CTAS][THREADS * ELEMENTS];
    grout_shadow shadows[SPACES];
    byte_list bytes[SPACES][BYTES];
    conflict_set fast, slow;
} world;

static uint32_t draw(world *it, uint32_t below) {
    it->random = it->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((it->random >> 33) % below);
}

/* ---- sets ------------------------------------------------------------------------------------- */

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
    ck_assert_uint_lt(set->count, CONFLICTS_MAX);
    set->items[set->count++] = item;
}

static int compare_items(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* ---- who is who ------------------------------------------------------------------------------- */

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
    known[grout_clock_x(&SHAPE, member)]++;
    known[grout_clock_g(&SHAPE, member)]++;
    known[grout_clock_s(&SHAPE, member)]++;
}

/* ---- the oracle ------------------------------------------------------------------------------- */

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

static bool is_in_order(const world *it, uint32_t id, const access *y) {
    const access *x = &it->accesses[id];
    const knowledge *knows = &it->knows[y->actor];
    if (!is_over(it, x, id, y)) {
        return false;
    }
    if (!y->is_async) {
        return true;
    }
    if (x->is_async) {
        return is_smem(x) || !x->writes || x->cta == y->cta || has(&knows->published_gmem, id);
    }
    return is_smem(x) ? has(&knows->published_smem[x->space % CTAS], id)
                      : !x->writes || has(&knows->published_gmem, id);
}

static bool holds(const access *x, const access *y) {
    return x->scope == GROUT_CHOICE_SCOPE_GPU ||
           (x->scope == GROUT_CHOICE_SCOPE_CLUSTER ? x->cluster == y->cluster : x->cta == y->cta);
}

static bool are_atomic(const access *x, const access *y) {
    return x->is_atomic && y->is_atomic && x->width == y->width && holds(x, y) && holds(y, x);
}

/* Two accesses in no order: the same answer whichever came first. */
static grout_conflict name_race(const access *x, const access *y) {
    grout_conflict conflict = {GROUT_DIAG_GMEM_RACE, GROUT_PRIMARY_LATER, false};
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
           read->cta == load->space && (read->by == BY_ACTOR || read->by == WGMMA);
}

static grout_conflict name_load(const access *load, const access *read, bool read_is_later) {
    bool is_told = read->told >> load->element % ELEMENTS & 1;
    grout_conflict conflict = {GROUT_DIAG_ASYNC_NOT_AWAITED, GROUT_PRIMARY_LATER, false};
    if (is_told) {
        conflict.code = read->by == WGMMA ? GROUT_DIAG_MMA_OPERAND_REUSE : GROUT_DIAG_SMEM_RACE;
        if (load->cta != load->space) {
            conflict.code = GROUT_DIAG_CLUSTER_SMEM_REUSE;
        }
    }
    conflict.primary = is_told == read_is_later ? GROUT_PRIMARY_EARLIER : GROUT_PRIMARY_LATER;
    return conflict;
}

/* Not in order, and no two atomics. */
static grout_conflict name(const world *it, uint32_t id, const access *y) {
    static const grout_diag_code UNFINISHED[] = {
        [BULK_READ] = GROUT_DIAG_SMEM_SOURCE_REUSE,
        [BULK_WRITE] = GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE,
        [COPY_GROUP] = GROUT_DIAG_ASYNC_NOT_AWAITED,
        [PHASE] = GROUT_DIAG_ASYNC_NOT_AWAITED,
        [WGMMA] = GROUT_DIAG_MMA_OPERAND_REUSE};
    const access *x = &it->accesses[id];
    grout_conflict conflict = {GROUT_DIAG_INSUFFICIENT_SCOPE, GROUT_PRIMARY_LATER, false};
    if (is_over(it, x, id, y)) {
        conflict.code = GROUT_DIAG_MISSING_COMMIT_GMEM;
        conflict.is_warning = x->is_async;
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

/* A newer one of the same mechanism is known to have been issued: that is what is reported. */
static bool is_outdone(const world *it, const byte_list *list, const access *x, const access *y) {
    for (uint32_t i = 0; i < list->count; i++) {
        const access *other = &it->accesses[list->entries[i].id];
        if (!list->entries[i].is_dead && is_same_mechanism(other, x) &&
            other->sequence > x->sequence &&
            has(&it->knows[y->actor].issued, list->entries[i].id)) {
            return true;
        }
    }
    return false;
}

static bool has_voucher(const world *it, const byte_list *list, const access *y) {
    for (uint32_t i = 0; i < list->count && is_smem(y); i++) {
        if (list->entries[i].vouches && is_in_order(it, list->entries[i].id, y)) {
            return true;
        }
    }
    return false;
}

/* The newest of one actor and op stands for the older ones. */
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

static void settle(const world *it, byte_list *list, const access *y, bool agrees) {
    for (uint32_t i = 0; i < list->count; i++) {
        byte_entry *entry = &list->entries[i];
        const access *x = &it->accesses[entry->id];
        entry->vouches = false;
        if ((agrees && x->writes) || is_in_order(it, entry->id, y) ||
            (has(&it->knows[y->actor].issued, entry->id) && !are_atomic(x, y))) {
            entry->is_dead = true;
        }
    }
    if (list->last >= 0 && !list->entries[list->last].is_dead) {
        uint32_t last = (uint32_t)list->last;
        list->last = -1;
        replace(it, list, last);
    }
}

static void ask_oracle(world *it, uint32_t id, byte_list *list) {
    const access *y = &it->accesses[id];
    bool is_vouched = has_voucher(it, list, y), agrees = true;
    for (uint32_t i = 0; i < list->count; i++) {
        const access *x = &it->accesses[list->entries[i].id];
        grout_conflict conflict;
        if (list->entries[i].is_dead || (!x->writes && !y->writes) ||
            is_in_order(it, list->entries[i].id, y) || (x->writes && is_vouched)) {
            continue;
        }
        agrees = agrees && !x->writes;
        if (!are_atomic(x, y) && !is_outdone(it, list, x, y)) {
            conflict = name(it, list->entries[i].id, y);
            put(&it->slow, &conflict, x->entry.origin.op, y->entry.origin.op);
        }
    }
    if (y->writes) {
        settle(it, list, y, agrees);
        list->last = (int32_t)list->count;
    }
    list->entries[list->count] = (byte_entry){id, false, !y->writes && agrees};
    if (!y->writes) {
        replace(it, list, list->count);
    }
    list->count++;
}

/* ---- the checker ------------------------------------------------------------------------------ */

static bool note_conflict(void *payload, const grout_conflict *conflict, const grout_entry *earlier,
                          const grout_entry *later, const grout_rect *rect) {
    world *it = payload;
    (void)rect;
    put(&it->fast, conflict, earlier->origin.op, later->origin.op);
    return true;
}

/* As the checker counts them: see count_told in conflicts.c. */
static uint16_t count_told(world *it, uint32_t actor) {
    uint16_t *since = &it->told_since[get_cta(actor)][actor % THREADS * ELEMENTS];
    const uint32_t *phases =
        &get_known(it, actor)[grout_clock_ph(&SHAPE, get_cta(actor) % CTAS * ELEMENTS)];
    uint16_t told = it->told[actor];
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        told = (uint16_t)(told + (phases[i] > 0 && since[i] == 0));
    }
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        since[i] = phases[i] > 0 && since[i] == 0 ? told : since[i];
    }
    it->told[actor] = told;
    return told;
}

static void ask_checker(world *it, uint32_t id) {
    access *y = &it->accesses[id];
    const clock_set *set = &it->clocks[y->actor];
    uint32_t other = 1 - y->cluster;
    const grout_foreign_clock foreign = {other, set->known[other], set->gmem[other]};
    const grout_clocks clocks = {.cluster = y->cluster,
                                 .known = set->known[y->cluster],
                                 .published_gmem = set->gmem[y->cluster],
                                 .published_smem = set->smem[0],
                                 .smem_stride = SIZE,
                                 .foreign_count = 1,
                                 .foreign = &foreign};
    grout_rules rules = {.shape = &SHAPE,
                         .clocks = &clocks,
                         .space = is_smem(y) ? GROUT_SPACE_SMEM : GROUT_SPACE_GMEM,
                         .owner = is_smem(y) ? y->space : y->cta,
                         .report = note_conflict,
                         .payload = it};
    grout_visitor visitor = {grout_rules__visit, &rules};
    const grout_run run = {y->first, 0, 1, y->end - y->first};
    const grout_access bytes = {.runs = &run, .run_count = 1};
    rules.entry = y->entry;
    rules.told_since = it->told_since[rules.owner];
    if (grout_rules__is_consumption(&rules)) {
        rules.entry.told = count_told(it, y->actor);
    }
    ck_assert(grout_shadow__access(&it->shadows[y->space], 0, 0, &bytes, &visitor));
}

/* ---- accesses --------------------------------------------------------------------------------- */

static access make_access(world *it, uint32_t actor, uint32_t space, bool writes) {
    access made = {.actor = actor,
                   .cta = get_cta(actor),
                   .cluster = get_cluster(actor),
                   .space = space,
                   .writes = writes};
    uint32_t member = actor % MEMBERS;
    made.first = draw(it, BYTES);
    made.end = made.first + 1 + draw(it, BYTES - made.first);
    if (draw(it, 2)) { /* many meet */
        made.first = 0;
        made.end = BYTES;
    }
    made.entry.origin = (grout_origin){
        .op = 1 + draw(it, 12), .cta = made.cta, .thread = (uint8_t)(actor % THREADS)};
    made.entry.cluster = made.cluster;
    made.entry.epoch = get_known(it, actor)[grout_clock_x(&SHAPE, member)];
    made.entry.component = grout_clock_g(&SHAPE, member);
    made.entry.number = made.entry.epoch;
    return made;
}

static void set_engine(access *made, milestone by, uint32_t component, uint32_t number,
                       bool is_async) {
    made->by = by;
    made->is_async = is_async;
    made->entry.component = component;
    made->entry.number = made->sequence = number;
}

static void set_atomic(world *it, access *made) {
    made->is_atomic = true;
    made->scope = (uint8_t)(GROUT_CHOICE_SCOPE_CTA + draw(it, 3));
    made->width = draw(it, 4) ? 4 : 8;
    made->entry.atomicity = grout_entry__make_atomicity(made->scope, made->width);
}

static void happen(world *it, const access *made) {
    uint32_t id = it->count++;
    access *y = &it->accesses[id];
    knowledge *knows = &it->knows[made->actor];
    *y = *made;
    y->entry.flags = grout_entry__make_flags(y->is_async     ? GROUT_AGENT_ENGINE
                                             : is_engine(y) ? GROUT_AGENT_GENERIC_ENGINE
                                                            : GROUT_AGENT_ACTOR,
                                             y->writes, y->is_atomic);
    for (uint32_t i = 0; i < id; i++) {
        const access *x = &it->accesses[i];
        if (x->by == PHASE && has(&knows->over, i) && x->element / ELEMENTS == y->cta) {
            y->told |= 1u << x->element % ELEMENTS;
        }
    }
    for (uint32_t i = y->first; i < y->end; i++) {
        ask_oracle(it, id, &it->bytes[y->space][i]);
    }
    ask_checker(it, id);
    add(&knows->issued, id);
    if (!is_engine(y)) {
        add(&knows->seen, id);
        add(&knows->heard, id);
    }
}

static void touch(world *it, uint32_t actor, uint32_t space) {
    access made = make_access(it, actor, space, draw(it, 2));
    if (made.writes && draw(it, 3) == 0) {
        set_atomic(it, &made);
    }
    happen(it, &made);
}

/* A completion says nothing of other clusters. */
static id_set filter(const world *it, const id_set *set, uint32_t cluster) {
    id_set kept = {{0}};
    for (uint32_t i = 0; i < it->count; i++) {
        if (has(set, i) && it->accesses[i].cluster == cluster) {
            add(&kept, i);
        }
    }
    return kept;
}

/* Into the SMEM of any CTA of the cluster: by TMA, or st.async. */
static void load(world *it, uint32_t actor, uint32_t space) {
    uint32_t cluster = get_cluster(actor);
    uint32_t element = space * ELEMENTS + draw(it, ELEMENTS);
    access made = make_access(it, actor, space, true);
    completion *done = &it->completions[element][it->phases[element] + 1];
    set_engine(&made, PHASE, grout_clock_ph(&SHAPE, element % (CTAS * ELEMENTS)),
               ++it->phases[element], draw(it, 3) > 0);
    made.element = element;
    memcpy(done->clock, it->clocks[actor].known[cluster], sizeof done->clock);
    done->issued = filter(it, &it->knows[actor].issued, cluster);
    done->over = filter(it, &it->knows[actor].over, cluster);
    happen(it, &made);
    advance(it, actor); /* its clock travels with the completion */
}

static void store(world *it, uint32_t actor, uint32_t space) {
    uint32_t member = actor % MEMBERS, group = ++it->groups[actor];
    access source = make_access(it, actor, space, false), target;
    set_engine(&source, BULK_READ, grout_clock_br(&SHAPE, member), group, true);
    happen(it, &source);
    target = make_access(it, actor, SPACES - 1, true);
    set_engine(&target, BULK_WRITE, grout_clock_bw(&SHAPE, member), group, true);
    if (draw(it, 3) == 0) {
        set_atomic(it, &target);
    }
    happen(it, &target);
}

static void copy(world *it, uint32_t actor, uint32_t space) {
    uint32_t member = actor % MEMBERS, group = ++it->copies[actor];
    access source = make_access(it, actor, SPACES - 1, false), target;
    set_engine(&source, COPY_GROUP, grout_clock_ca(&SHAPE, member), group, false);
    happen(it, &source);
    target = make_access(it, actor, space, true);
    set_engine(&target, COPY_GROUP, grout_clock_ca(&SHAPE, member), group, false);
    happen(it, &target);
}

static void multiply(world *it, uint32_t actor) {
    access made = make_access(it, actor, get_cta(actor), false);
    set_engine(&made, WGMMA, grout_clock_wg(&SHAPE, actor % MEMBERS), ++it->wgmmas[actor], true);
    happen(it, &made);
}

static void act(world *it) {
    uint32_t actor = draw(it, ACTORS), own = get_cta(actor);
    uint32_t any = get_cluster(actor) * CTAS + draw(it, CTAS);
    switch (draw(it, 8)) {
    case 0:
        load(it, actor, any);
        break;
    case 1:
        store(it, actor, own);
        break;
    case 2:
        copy(it, actor, own);
        break;
    case 3:
        multiply(it, actor);
        break;
    case 4:
    case 5:
        touch(it, actor, draw(it, 3) ? own : any);
        break;
    default:
        touch(it, actor, SPACES - 1);
        break;
    }
}

/* ---- synchronisation -------------------------------------------------------------------------- */

static void publish(world *it, uint32_t actor) {
    knowledge *knows = &it->knows[actor];
    clock_set *clocks = &it->clocks[actor];
    uint32_t kind = draw(it, 3), own = get_cta(actor) % CTAS;
    id_set all = knows->seen;
    unite(&all, &knows->over);
    unite(&all, &knows->written);
    for (uint32_t c = 0; c < CTAS; c++) { /* 1: of the whole cluster */
        if (kind == 1 || (kind == 0 && c == own)) {
            join(clocks->smem[c], clocks->known[get_cluster(actor)], 0, SIZE);
            unite(&knows->published_smem[c], &all);
        }
    }
    if (kind == 2) {
        unite(&knows->published_gmem, &all);
        for (uint32_t c = 0; c < CLUSTERS; c++) {
            join(clocks->gmem[c], clocks->known[c], 0, SIZE);
        }
    }
    advance(it, actor);
}

static void hand_over_memory(world *it, uint32_t from, uint32_t to) {
    clock_set *into = &it->clocks[to];
    const clock_set *clocks = &it->clocks[from];
    knowledge *knows = &it->knows[to];
    unite(&knows->written, &it->knows[from].written);
    unite(&knows->seen, &it->knows[from].seen);
    unite(&knows->published_gmem, &it->knows[from].published_gmem);
    for (uint32_t c = 0; c < CLUSTERS; c++) {
        join(into->known[c], clocks->known[c], 0, SIZE);
        join(into->gmem[c], clocks->gmem[c], 0, SIZE);
    }
    for (uint32_t c = 0; c < CTAS && get_cluster(from) == get_cluster(to); c++) {
        unite(&knows->published_smem[c], &it->knows[from].published_smem[c]);
        join(into->smem[c], clocks->smem[c], 0, SIZE);
    }
}

static void hand_over(world *it, uint32_t from, uint32_t to, bool is_strong) {
    knowledge *knows = &it->knows[to];
    unite(&knows->issued, &it->knows[from].issued);
    unite(&knows->over, &it->knows[from].over);
    unite(&knows->heard, &it->knows[from].heard);
    for (uint32_t c = 0; c < CLUSTERS; c++) {
        join(it->clocks[to].known[c], it->clocks[from].known[c], 0, grout_clock_engine_size(&SHAPE));
    }
    if (is_strong) {
        hand_over_memory(it, from, to);
    }
    advance(it, from);
}

/* What an actor has waited for, all up to a number of one mechanism of its own. */
static void learn(world *it, uint32_t actor, milestone by, uint32_t component, uint32_t number) {
    uint32_t *known = &get_known(it, actor)[component];
    for (uint32_t i = 0; i < it->count; i++) {
        const access *x = &it->accesses[i];
        if (x->by == by && x->actor == actor && x->sequence <= number) {
            add(by == BULK_WRITE ? &it->knows[actor].written : &it->knows[actor].over, i);
        }
    }
    *known = *known < number ? number : *known;
}

static void wait_for_phase(world *it, uint32_t actor) {
    uint32_t element = get_cta(actor) * ELEMENTS + draw(it, ELEMENTS);
    uint32_t number = draw(it, it->phases[element] + 1);
    uint32_t *known = get_known(it, actor);
    uint32_t *phase = &known[grout_clock_ph(&SHAPE, element % (CTAS * ELEMENTS))];
    const completion *done = &it->completions[element][number];
    if (number == 0) {
        return;
    }
    for (uint32_t i = 0; i < it->count; i++) {
        const access *x = &it->accesses[i];
        if (x->by == PHASE && x->element == element && x->sequence <= number) {
            add(&it->knows[actor].over, i);
            add(&it->knows[actor].issued, i);
        }
    }
    unite(&it->knows[actor].issued, &done->issued);
    unite(&it->knows[actor].over, &done->over);
    join(known, done->clock, grout_clock_x(&SHAPE, 0), grout_clock_engine_size(&SHAPE));
    *phase = *phase < number ? number : *phase;
}

static void wait_for_groups(world *it, uint32_t actor) {
    uint32_t member = actor % MEMBERS, number = draw(it, it->groups[actor] + 1);
    learn(it, actor, BULK_READ, grout_clock_br(&SHAPE, member), number);
    if (draw(it, 2)) {
        learn(it, actor, BULK_WRITE, grout_clock_bw(&SHAPE, member), number);
    }
}

static void synchronise(world *it) {
    uint32_t actor = draw(it, ACTORS), member = actor % MEMBERS;
    uint32_t near = get_cluster(actor) * MEMBERS + draw(it, MEMBERS);
    switch (draw(it, 12)) {
    case 0:
    case 1:
        publish(it, actor);
        break;
    case 2:
        hand_over(it, actor, draw(it, ACTORS), draw(it, 3) > 0);
        break;
    case 3:
        wait_for_groups(it, actor);
        break;
    case 4:
        learn(it, actor, COPY_GROUP, grout_clock_ca(&SHAPE, member),
              draw(it, it->copies[actor] + 1));
        break;
    case 5:
        learn(it, actor, WGMMA, grout_clock_wg(&SHAPE, member), draw(it, it->wgmmas[actor] + 1));
        break;
    case 6:
    case 7:
        wait_for_phase(it, actor);
        break;
    default:
        hand_over(it, actor, near, draw(it, 4) > 0);
        break;
    }
}

/* ---- programs --------------------------------------------------------------------------------- */

static void compare(world *it, uint64_t seed) {
    qsort(it->fast.items, it->fast.count, sizeof *it->fast.items, compare_items);
    qsort(it->slow.items, it->slow.count, sizeof *it->slow.items, compare_items);
    for (uint32_t i = 0; i < it->fast.count || i < it->slow.count; i++) {
        uint64_t fast = i < it->fast.count ? it->fast.items[i] : UINT64_MAX;
        uint64_t slow = i < it->slow.count ? it->slow.items[i] : UINT64_MAX;
        uint64_t least = fast < slow ? fast : slow;
        ck_assert_msg(fast == slow, "program %u: %s %u/%u of the %s alone", (unsigned)seed,
                      grout_diag_get((grout_diag_code)(least >> 32))->text,
                      (unsigned)(least >> 8 & 255), (unsigned)(least & 255),
                      fast < slow ? "checker" : "oracle");
    }
}

static void begin(world *it, uint64_t seed) {
    memset(it, 0, sizeof *it);
    it->random = seed * 2654435761u + 1;
    for (uint32_t actor = 0; actor < ACTORS; actor++) {
        advance(it, actor);
    }
    for (uint32_t space = 0; space < SPACES; space++) {
        ck_assert(grout_shadow__init(&it->shadows[space], 1));
        grout_shadow__set_plane(&it->shadows[space], 0, BYTES, seed % 2 ? BYTES : 4);
        for (uint32_t i = 0; i < BYTES; i++) {
            it->bytes[space][i].last = -1;
        }
    }
}

START_TEST(programs_agree) {
    world *it = malloc(sizeof *it);
    ck_assert_ptr_nonnull(it);
    for (uint64_t i = 0; i < PROGRAMS / CASES; i++) {
        uint64_t seed = (uint64_t)_i * (PROGRAMS / CASES) + i;
        uint32_t steps = 20 + (uint32_t)(seed % 5) * 40;
        begin(it, seed);
        while (steps-- > 0 && it->count + 2 < ACCESSES_MAX) {
            if (draw(it, 2)) {
                act(it);
            } else {
                synchronise(it);
            }
        }
        compare(it, seed);
        for (uint32_t space = 0; space < SPACES; space++) {
            grout_shadow__deinit(&it->shadows[space]);
        }
    }
    free(it);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("oracle");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 240);
    tcase_add_loop_test(random, programs_agree, 0, CASES);
    suite_add_tcase(suite, random);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
