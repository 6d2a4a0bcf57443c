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
 *
 * usage: check_oracle PROGRAMS
 */
#include "oracle.h"
#include "tests/tests.h"
#include "tests/unit/support/often.h"

#include <stdio.h>

/* ---- the checker ------------------------------------------------------------------------------
 */

static bool note_conflict(void *payload, const grout_conflict *conflict, const grout_entry *earlier,
                          const grout_entry *later, const grout_rect *rect) {
    world *it = payload;
    (void)rect;
    put(&it->fast, conflict, earlier->origin.op, later->origin.op);
    return true;
}

/* As the checker counts them: see count_told in conflicts.c. */
static uint16_t count_told(world *it, uint32_t actor) {
    uint16_t *since = &it->told_since[get_cta(actor)][(size_t)(actor % THREADS) * BARRIERS];
    const uint32_t *phases = &get_known(it, actor)[grout_clock_phase(&SHAPE, 0)];
    uint16_t told = it->told[actor];
    for (uint32_t i = 0; i < BARRIERS; i++) {
        told = (uint16_t)(told + (phases[i] > 0 && since[i] == 0));
    }
    for (uint32_t i = 0; i < BARRIERS; i++) {
        since[i] = phases[i] > 0 && since[i] == 0 ? told : since[i];
    }
    it->told[actor] = told;
    return told;
}

static const uint16_t *find_told_since(void *payload, uint32_t cta) {
    const world *it = payload;
    return it->told_since[cta];
}

static void ask_checker(world *it, uint32_t id) {
    access *y = &it->accesses[id];
    const clock_set *set = &it->clocks[y->actor];
    uint32_t other = 1 - y->cluster;
    uint32_t rank = y->cta % CTAS;
    const grout_foreign_clock foreign = {other, set->known[other], set->gmem[other],
                                         set->fenced[rank][other]};
    const grout_clocks clocks = {.cluster = y->cluster,
                                 .known = set->known[y->cluster],
                                 .published_gmem = set->gmem[y->cluster],
                                 .fenced_gmem = set->fenced[rank][y->cluster],
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
    rules.find_told_since = find_told_since;
    if (grout_rules__is_consumption(&rules)) {
        rules.entry.told = count_told(it, y->actor);
    }
    ASSERT_OFTEN(grout_shadow__access(&it->shadows[y->space], 0, 0, &bytes, &visitor));
}

/* ---- accesses ---------------------------------------------------------------------------------
 */

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
    made.entry.epoch = get_known(it, actor)[grout_clock_epoch(&SHAPE, member)];
    made.entry.component = grout_clock_released(&SHAPE, member);
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
    made->entry.atomicity =
        grout_entry__make_atomicity((uint32_t)made->scope - GROUT_CHOICE_SCOPE_CTA, made->width);
}

static void happen(world *it, const access *made) {
    uint32_t id = it->count++;
    access *y = &it->accesses[id];
    knowledge *knows = &it->knows[made->actor];
    *y = *made;
    y->entry.flags = grout_entry__make_flags(y->is_async    ? GROUT_AGENT_ENGINE
                                             : is_engine(y) ? GROUT_AGENT_GENERIC_ENGINE
                                                            : GROUT_AGENT_ACTOR,
                                             y->writes, y->is_atomic);
    for (uint32_t i = 0; i < id; i++) {
        const access *x = &it->accesses[i];
        if (x->by == PHASE && has(&knows->over, i) && x->cluster == y->cluster) {
            y->told |= 1u << x->element % BARRIERS;
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
    set_engine(&made, PHASE, grout_clock_phase(&SHAPE, element % (CTAS * ELEMENTS)),
               ++it->phases[element], draw(it, 3) > 0);
    made.element = element;
    memcpy(done->clock, it->clocks[actor].known[cluster], sizeof done->clock);
    done->issued = filter(it, &it->knows[actor].issued, cluster);
    done->over = filter(it, &it->knows[actor].over, cluster);
    if (get_cta(actor) == space) {
        done->shown = filter(it, &it->knows[actor].shown, cluster);
    } else {
        memset(&done->clock[grout_clock_time_size(&SHAPE)], 0,
               grout_clock_done_size(&SHAPE) * sizeof *done->clock);
    }
    happen(it, &made);
    advance(it, actor); /* its clock travels with the completion */
}

static void store(world *it, uint32_t actor, uint32_t space) {
    uint32_t member = actor % MEMBERS, group = ++it->groups[actor];
    access source = make_access(it, actor, space, false), target;
    set_engine(&source, BULK_READ, grout_clock_bulk_read(&SHAPE, member), group, true);
    happen(it, &source);
    target = make_access(it, actor, SPACES - 1, true);
    set_engine(&target, BULK_WRITE, grout_clock_bulk_written(&SHAPE, member), group, true);
    if (draw(it, 3) == 0) {
        set_atomic(it, &target);
    }
    happen(it, &target);
}

static void copy(world *it, uint32_t actor, uint32_t space) {
    uint32_t member = actor % MEMBERS, group = ++it->copies[actor];
    access source = make_access(it, actor, SPACES - 1, false), target;
    set_engine(&source, COPY_GROUP, grout_clock_async_copy(&SHAPE, member), group, false);
    happen(it, &source);
    target = make_access(it, actor, space, true);
    set_engine(&target, COPY_GROUP, grout_clock_async_copy(&SHAPE, member), group, false);
    happen(it, &target);
}

static void multiply(world *it, uint32_t actor) {
    access made = make_access(it, actor, get_cta(actor), false);
    set_engine(&made, WGMMA, grout_clock_wgmma(&SHAPE, actor % MEMBERS), ++it->wgmmas[actor], true);
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

/* ---- synchronisation --------------------------------------------------------------------------
 */

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
            unite(&knows->published_shown[c], &knows->shown);
        }
    }
    if (kind == 2) {
        unite(&knows->published_gmem, &all);
        unite(&knows->fenced_gmem[own], &all);
        for (uint32_t c = 0; c < CLUSTERS; c++) {
            join(clocks->gmem[c], clocks->known[c], 0, SIZE);
            join(clocks->fenced[own][c], clocks->known[c], 0, SIZE);
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
        unite(&knows->published_shown[c], &it->knows[from].published_shown[c]);
        join(into->smem[c], clocks->smem[c], 0, SIZE);
        unite(&knows->fenced_gmem[c], &it->knows[from].fenced_gmem[c]);
        for (uint32_t of = 0; of < CLUSTERS; of++) {
            join(into->fenced[c][of], clocks->fenced[c][of], 0, SIZE);
        }
    }
}

static void hand_over(world *it, uint32_t from, uint32_t to, bool is_strong) {
    knowledge *knows = &it->knows[to];
    unite(&knows->issued, &it->knows[from].issued);
    unite(&knows->over, &it->knows[from].over);
    unite(&knows->heard, &it->knows[from].heard);
    const bool is_same = get_cta(from) == get_cta(to);
    for (uint32_t c = 0; c < CLUSTERS; c++) {
        join(it->clocks[to].known[c], it->clocks[from].known[c], 0,
             is_same ? grout_clock_engine_size(&SHAPE) : grout_clock_time_size(&SHAPE));
    }
    if (is_strong || is_same) {
        unite(&knows->shown, &it->knows[from].shown);
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
            add(&it->knows[actor].shown, i);
        }
    }
    *known = *known < number ? number : *known;
    if (by != BULK_WRITE) {
        uint32_t *shown = &get_known(it, actor)[grout_clock_seen(&SHAPE, component)];
        *shown = *shown < number ? number : *shown;
    }
}

static void wait_for_phase(world *it, uint32_t actor) {
    uint32_t element = get_cta(actor) * ELEMENTS + draw(it, ELEMENTS);
    uint32_t number = draw(it, it->phases[element] + 1);
    uint32_t *known = get_known(it, actor);
    const uint32_t component = grout_clock_phase(&SHAPE, element % BARRIERS);
    uint32_t *phase = &known[component], *shown = &known[grout_clock_seen(&SHAPE, component)];
    const completion *done = &it->completions[element][number];
    if (number == 0) {
        return;
    }
    for (uint32_t i = 0; i < it->count; i++) {
        const access *x = &it->accesses[i];
        if (x->by == PHASE && x->element == element && x->sequence <= number) {
            add(&it->knows[actor].over, i);
            add(&it->knows[actor].shown, i);
            add(&it->knows[actor].issued, i);
        }
    }
    unite(&it->knows[actor].issued, &done->issued);
    unite(&it->knows[actor].over, &done->over);
    unite(&it->knows[actor].shown, &done->shown);
    join(known, done->clock, grout_clock_epoch(&SHAPE, 0), grout_clock_engine_size(&SHAPE));
    *phase = *phase < number ? number : *phase;
    *shown = *shown < number ? number : *shown;
}

static void wait_for_groups(world *it, uint32_t actor) {
    uint32_t member = actor % MEMBERS, number = draw(it, it->groups[actor] + 1);
    learn(it, actor, BULK_READ, grout_clock_bulk_read(&SHAPE, member), number);
    if (draw(it, 2)) {
        learn(it, actor, BULK_WRITE, grout_clock_bulk_written(&SHAPE, member), number);
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
        learn(it, actor, COPY_GROUP, grout_clock_async_copy(&SHAPE, member),
              draw(it, it->copies[actor] + 1));
        break;
    case 5:
        learn(it, actor, WGMMA, grout_clock_wgmma(&SHAPE, member), draw(it, it->wgmmas[actor] + 1));
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

/* ---- programs ---------------------------------------------------------------------------------
 */

static void compare(world *it, uint64_t seed) {
    qsort(it->fast.items, it->fast.count, sizeof *it->fast.items, compare_items);
    qsort(it->slow.items, it->slow.count, sizeof *it->slow.items, compare_items);
    for (uint32_t i = 0; i < it->fast.count || i < it->slow.count; i++) {
        uint64_t fast = i < it->fast.count ? it->fast.items[i] : UINT64_MAX;
        uint64_t slow = i < it->slow.count ? it->slow.items[i] : UINT64_MAX;
        uint64_t least = fast < slow ? fast : slow;
        if (fast != slow) {
            ck_abort_msg("program %u: %s %u/%u of the %s alone", (unsigned)seed,
                         grout_diag_get((grout_diag_code)(least >> 32))->text,
                         (unsigned)(least >> 8 & 255), (unsigned)(least & 255),
                         fast < slow ? "checker" : "oracle");
        }
    }
}

static void begin(world *it, uint64_t seed) {
    memset(it, 0, sizeof *it);
    it->random = seed * 2654435761u + 1;
    for (uint32_t actor = 0; actor < ACTORS; actor++) {
        advance(it, actor);
    }
    for (uint32_t space = 0; space < SPACES; space++) {
        ASSERT_OFTEN(grout_shadow__init(&it->shadows[space], NULL, 1));
        grout_shadow__set_plane(&it->shadows[space], 0, BYTES, seed % 2 ? BYTES : 4);
        for (uint32_t i = 0; i < BYTES; i++) {
            it->bytes[space][i].last = -1;
        }
    }
}

static uint64_t programs_of_case; /* set once, before the tests begin */

TEST_EACH(programs_agree, CASES) {
    world *it = malloc(sizeof *it);
    ck_assert_ptr_nonnull(it);
    for (uint64_t i = 0; i < programs_of_case; i++) {
        uint64_t seed = (uint64_t)_i * programs_of_case + i;
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

int main(int argc, char **argv) {
    programs_of_case = argc > 1 ? strtoull(argv[1], NULL, 10) / CASES : 0;
    if (programs_of_case == 0) {
        fprintf(stderr, "usage: check_oracle PROGRAMS, at least %d\n", CASES);
        return 2;
    }
    return run_tests();
}
