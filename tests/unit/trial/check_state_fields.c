/*
 * check_state_fields.c - a field added to a struct of the machine's state is in snapshots and
 * hashes without another line. This program links an interpreter whose state structs end with one
 * more field (GROUT_STATE_END), which no code of it names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/support/run_kernel.h"
#include "tests/unit/support/snapshot_texts.h"

#include "interp/engines/gmem.h"
#include "interp/state/collective.h"
#include "interp/state/flight.h"

/* Each struct of interp/ that ends with GROUT_STATE_END; tools/lint_state.py compares. */
#define STATE_STRUCTS(FACT)           \
    FACT(grout_run_facts)             \
    FACT(grout_engine_facts)          \
    FACT(grout_cta_state)             \
    FACT(grout_cluster)               \
    FACT(grout_thread)                \
    FACT(grout_lane)                  \
    FACT(grout_barrier)               \
    FACT(grout_phase)                 \
    FACT(grout_old_phase)             \
    FACT(grout_flight)                \
    FACT(grout_collective)            \
    FACT(grout_undo)                  \
    FACT(grout_gmem_entry)            \
    FACT(record) /* of a semaphore */ \
    FACT(signal_record)               \
    FACT(generation)                  \
    FACT(release)                     \
    FACT(copier)

#define FACT_KIND(name) AT_##name,
#define FACT_NAME(name) #name,
typedef enum kind { STATE_STRUCTS(FACT_KIND) KINDS } kind;
static const char *const names[KINDS] = {STATE_STRUCTS(FACT_NAME)};

/* Stores to GMEM that the engines do not see yet. */
static const char unpublished[] =
    "kernel @k(%x: inout gmem f32[64], %y: out gmem f32[64]) {\n scratch %s : smem f32[64]\n"
    " scratch %b : barrier[1]\n for %i in 0..4 {\n store %x, (add (load %x), 1.0)\n"
    " copy_gmem_to_smem %x, %s, %b[0]\n barrier_wait %b[0]\n store %y, (load %s) }\n}\n";

/* One place for a field of each kind; NULL: the run has none now. */
typedef struct places {
    uint32_t *at[KINDS];
} places;

/* The last field of a record of a pool, trailing bytes after it left out. */
static uint32_t *find_last(const grout_machine *machine, grout_pool_index pool, uint32_t index,
                           size_t trailing) {
    const grout_pool *records = grout_machine__pool(machine, pool);
    uint8_t *record = grout_pool__at(records, index);
    return (uint32_t *)(void *)(record + records->item_size - trailing - 2 * sizeof(uint32_t));
}

/* The first record of a table, or NULL. */
static uint32_t *find_keyed(const grout_machine *machine, grout_pool_index pool, size_t trailing) {
    const uint32_t index = grout_keyed__next(grout_machine__table(machine, pool), 0);
    return index == 0 ? NULL : find_last(machine, pool, index, trailing);
}

static void find_barriers(const grout_cta *cta, places *found) {
    for (uint32_t i = 0; i < cta->machine->plan->element_count; i++) {
        grout_barrier *barrier = grout_cta__barrier(cta, i);
        found->at[AT_grout_barrier] = barrier->test_field;
        if (barrier->first_open != 0) {
            found->at[AT_grout_phase] =
                grout_machine__phase(cta->machine, barrier->first_open)->test_field;
        }
        if (barrier->first_old != 0) {
            found->at[AT_grout_old_phase] =
                grout_machine__old_phase(cta->machine, barrier->first_old)->test_field;
        }
    }
}

static void find_in_cta(const grout_cta *cta, places *found) {
    grout_machine *machine = cta->machine;
    grout_cta_state *head = grout_cta__head(cta);
    const grout_cluster *cluster = grout_cta__cluster(cta);
    found->at[AT_grout_cta_state] = head->test_field;
    found->at[AT_grout_cluster] = grout_cta__cluster(cta)->test_field;
    found->at[AT_grout_thread] = grout_cta__thread(cta, 0)->test_field;
    found->at[AT_grout_lane] = grout_cta__lane(cta, 0)->test_field;
    find_barriers(cta, found);
    if (head->first_flight != 0) {
        found->at[AT_grout_flight] = grout_flight__get(machine, head->first_flight)->test_field;
    }
    if (cluster->first_collective != 0) {
        grout_collective *record =
            grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], cluster->first_collective);
        found->at[AT_grout_collective] = record->test_field;
    }
    if (head->undo_count != 0) {
        grout_undo *entries = (grout_undo *)(void *)(cta->state + machine->at.undo_entries);
        found->at[AT_grout_undo] = entries[head->undo_first].test_field;
    }
}

/* Records that a list of some table's record holds: any in use will do, as all are hashed. */
static uint32_t *find_listed(const grout_machine *machine, grout_pool_index table,
                             grout_pool_index pool) {
    const uint32_t owner = grout_keyed__next(grout_machine__table(machine, table), 0);
    const uint32_t *links =
        owner == 0 ? NULL : grout_pool__at(grout_machine__pool(machine, table), owner);
    const uint32_t first = links == NULL ? 0 : links[sizeof(grout_keyed) / sizeof *links];
    return first == 0 ? NULL : find_last(machine, pool, first, 0);
}

static grout_gmem_entry *find_gmem_entry(grout_gmem_log *log) {
    return (grout_gmem_entry *)(void *)((uint8_t *)(log + 1) +
                                        (size_t)log->first * log->entry_bytes);
}

static places find_places(grout_machine *machine) {
    places found = {{machine->run.facts.test_field}};
    if (machine->launch.timing == GROUT_TIMING_RANDOM) {
        found.at[AT_grout_engine_facts] = machine->run.engine.test_field;
    }
    if (machine->gmem_log != NULL && machine->gmem_log->count > 0) {
        found.at[AT_grout_gmem_entry] = find_gmem_entry(machine->gmem_log)->test_field;
    }
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        find_in_cta(cta, &found);
    }
    const size_t ring = ((size_t)machine->plan->async_copy_waits_max + 1) * sizeof(uint32_t);
    found.at[AT_record] = find_keyed(machine, GROUT_POOL_SEMAPHORES, 0);
    found.at[AT_signal_record] = find_listed(machine, GROUT_POOL_SEMAPHORES, GROUT_POOL_SIGNALS);
    found.at[AT_generation] = find_listed(machine, GROUT_POOL_NAMED, GROUT_POOL_GENERATIONS);
    found.at[AT_release] = find_listed(machine, GROUT_POOL_LOCATIONS, GROUT_POOL_RELEASES);
    found.at[AT_copier] = find_keyed(machine, GROUT_POOL_COPIERS, (ring + 7) / 8 * 8);
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
    for (int i = 0; i < (TEXTS + 1) * RUN_VARIANTS; i++) {
        const char *text = i % (TEXTS + 1) < TEXTS ? texts[i % (TEXTS + 1)] : unpublished;
        run *r = run_new(text, i / (TEXTS + 1));
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
