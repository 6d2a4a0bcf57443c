/*
 * check_state_fields.c - a field added to a struct of the machine's state is in snapshots and
 * hashes without another line. This program links an interpreter whose state structs end with one
 * more field (GROUT_STATE_END), which no code of it names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/interp/snapshot_texts.h"
#include "tests/unit/support/run_kernel.h"

#include "interp/state/collective.h"
#include "interp/state/flight.h"

typedef enum kind {
    RUN_FACTS,
    HEAD,
    CLUSTER,
    THREAD,
    LANE,
    BARRIER,
    PHASE,
    OLD_PHASE,
    FLIGHT,
    COLLECTIVE,
    UNDO,
    SEMAPHORE,
    SIGNAL,
    GENERATION,
    RELEASE,
    COPIER,
    KINDS
} kind;

static const char *const names[KINDS] = {"run facts", "head of a CTA", "cluster",    "thread",
                                         "lane",      "barrier",       "phase",      "old phase",
                                         "flight",    "collective",    "undo entry", "semaphore",
                                         "signal",    "generation",    "release",    "copier"};

/* One place for a field of each kind; NULL: the run has none now. */
typedef struct places {
    uint64_t *at[KINDS];
} places;

/* The last field of a record of a pool, trailing bytes after it left out. */
static uint64_t *find_last(const grout_machine *machine, grout_pool_index pool, uint32_t index,
                           size_t trailing) {
    const grout_pool *records = grout_machine__pool(machine, pool);
    uint8_t *record = grout_pool__at(records, index);
    return (uint64_t *)(void *)(record + records->item_size - trailing - sizeof(uint64_t));
}

/* The first record of a table, or NULL. */
static uint64_t *find_keyed(const grout_machine *machine, grout_pool_index pool, size_t trailing) {
    const uint32_t index = grout_keyed__next(grout_machine__table(machine, pool), 0);
    return index == 0 ? NULL : find_last(machine, pool, index, trailing);
}

static void find_barriers(const grout_cta *cta, places *found) {
    for (uint32_t i = 0; i < cta->machine->plan->element_count; i++) {
        grout_barrier *barrier = grout_cta__barrier(cta, i);
        found->at[BARRIER] = &barrier->test_field;
        if (barrier->first_open != 0) {
            found->at[PHASE] = &grout_machine__phase(cta->machine, barrier->first_open)->test_field;
        }
        if (barrier->first_old != 0) {
            found->at[OLD_PHASE] =
                &grout_machine__old_phase(cta->machine, barrier->first_old)->test_field;
        }
    }
}

static void find_in_cta(const grout_cta *cta, places *found) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    const grout_cluster *cluster = grout_cta__cluster(cta);
    found->at[HEAD] = &head->test_field;
    found->at[CLUSTER] = &grout_cta__cluster(cta)->test_field;
    found->at[THREAD] = &grout_cta__thread(cta, 0)->test_field;
    found->at[LANE] = &grout_cta__lane(cta, 0)->test_field;
    find_barriers(cta, found);
    if (head->first_flight != 0) {
        found->at[FLIGHT] = &grout_flight__get(machine, head->first_flight)->test_field;
    }
    if (cluster->first_collective != 0) {
        grout_collective *record =
            grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], cluster->first_collective);
        found->at[COLLECTIVE] = &record->test_field;
    }
    if (head->undo_count != 0) {
        grout_undo *entries = (grout_undo *)(void *)(cta->state + machine->at.undo_entries);
        found->at[UNDO] = &entries[head->undo_first].test_field;
    }
}

/* Records that a list of some table's record holds: any in use will do, as all are hashed. */
static uint64_t *find_listed(const grout_machine *machine, grout_pool_index table,
                             grout_pool_index pool) {
    const uint32_t owner = grout_keyed__next(grout_machine__table(machine, table), 0);
    const uint32_t *links =
        owner == 0 ? NULL : grout_pool__at(grout_machine__pool(machine, table), owner);
    const uint32_t first = links == NULL ? 0 : links[sizeof(grout_keyed) / sizeof *links];
    return first == 0 ? NULL : find_last(machine, pool, first, 0);
}

static places find_places(grout_machine *machine) {
    places found = {{&machine->run.facts.test_field}};
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        find_in_cta(cta, &found);
    }
    const size_t ring = ((size_t)machine->plan->async_copy_waits_max + 1) * sizeof(uint32_t);
    found.at[SEMAPHORE] = find_keyed(machine, GROUT_POOL_SEMAPHORES, 0);
    found.at[SIGNAL] = find_listed(machine, GROUT_POOL_SEMAPHORES, GROUT_POOL_SIGNALS);
    found.at[GENERATION] = find_listed(machine, GROUT_POOL_NAMED, GROUT_POOL_GENERATIONS);
    found.at[RELEASE] = find_listed(machine, GROUT_POOL_LOCATIONS, GROUT_POOL_RELEASES);
    found.at[COPIER] = find_keyed(machine, GROUT_POOL_COPIERS, (ring + 7) / 8 * 8);
    return found;
}

/* The field counts in the hash, and a snapshot brings it back. */
static void check_field(run *r, uint32_t which) {
    const uint64_t before = grout_machine_hash(r->machine);
    places found = find_places(r->machine);
    ck_assert_msg(*found.at[which] == 0, "%s: the field is not the last one", names[which]);
    *found.at[which] = 1;
    const uint64_t with = grout_machine_hash(r->machine);
    ck_assert_msg(with != before, "%s: a new field is not hashed", names[which]);
    grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
    ck_assert_ptr_nonnull(snapshot);
    *found.at[which] = 0;
    ck_assert(grout_machine_hash(r->machine) == before);
    ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
    grout_snapshot_free(snapshot);
    ck_assert_msg(grout_machine_hash(r->machine) == with, "%s: a new field is not in snapshots",
                  names[which]);
    found = find_places(r->machine);
    *found.at[which] = 0;
}

/* Between two steps of a run. */
static void check_fields(run *r, uint32_t *seen) {
    const places found = find_places(r->machine);
    for (uint32_t k = 0; k < KINDS; k++) {
        if (found.at[k] != NULL && seen[k] < 12) {
            check_field(r, k);
            seen[k]++;
        }
    }
}

START_TEST(new_fields_are_state) {
    uint32_t seen[KINDS] = {0}; /* a dozen places of each kind are enough */
    for (int i = 0; i < TEXTS * RUN_VARIANTS; i++) {
        run *r = run_new(texts[i % TEXTS], i / TEXTS);
        run_start(r);
        while (grout_machine_run(r->machine, 3, r->diags) == GROUT_RUN_PAUSED) {
            check_fields(r, seen);
        }
        run_delete(r);
    }
    for (uint32_t k = 0; k < KINDS; k++) {
        ck_assert_msg(seen[k] > 0, "no run has a %s", names[k]);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("state_fields");
    TCase *tests = tcase_create("state_fields");
    tcase_add_test(tests, new_fields_are_state);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
