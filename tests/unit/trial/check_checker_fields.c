/*
 * check_checker_fields.c - a field added to a struct of the checker's state is in snapshots and
 * hashes without another line. This program links a checker whose state structs end with one more
 * field (base/state.h), which no code of it names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/support/run_kernel.h"
#include "tests/unit/support/snapshot_texts.h"

#include "race_checker/state/checker.h"

/* Each struct of race_checker/ that ends with GROUT_STATE_END (FACT) or GROUT_NOTE_END (NOTE);
 * tools/lint_state.py compares. */
#define STATE_STRUCTS(FACT, NOTE) \
    FACT(grout_entry)             \
    FACT(grout_region)            \
    FACT(grout_plane)             \
    FACT(grout_shadow)            \
    FACT(grout_wait_mark)         \
    FACT(grout_reported)          \
    FACT(grout_cta_life)          \
    FACT(grout_cta_state)         \
    FACT(grout_run_state)         \
    FACT(grout_memory)            \
    FACT(grout_phase_state)       \
    FACT(grout_dropped_phase)     \
    FACT(grout_contributor)       \
    FACT(grout_element_facts)     \
    FACT(grout_element_state)     \
    FACT(grout_unit_wait)         \
    FACT(grout_unit_signal)       \
    FACT(grout_semaphore_state)   \
    FACT(grout_protocol)          \
    FACT(grout_fence)             \
    FACT(grout_fences)            \
    FACT(grout_record)            \
    FACT(grout_findings)          \
    NOTE(grout_arrival_note)      \
    NOTE(grout_visit)             \
    NOTE(grout_wgmma_wait)        \
    NOTE(grout_handover)          \
    NOTE(grout_bulk_wait)         \
    NOTE(grout_thread_history)    \
    NOTE(grout_box)               \
    NOTE(grout_unwritten)         \
    NOTE(grout_side)              \
    NOTE(grout_near)              \
    NOTE(grout_cover)             \
    NOTE(grout_facts)             \
    NOTE(grout_sentence)          \
    NOTE(grout_blocked)

#define KIND(name)     AT_##name,
#define FACT_ROW(name) {#name, true},
#define NOTE_ROW(name) {#name, false},
typedef enum kind { STATE_STRUCTS(KIND, KIND) KINDS } kind;
static const struct {
    const char *name;
    bool is_hashed;
} structs[KINDS] = {STATE_STRUCTS(FACT_ROW, NOTE_ROW)};

/* What the texts of other tests do not have. */
static const char *const own_texts[] = {
    /* what has no value, read while another thread still runs */
    "kernel @k(%y: out gmem f32[64]) threads(w = 2) {\n"
    " scratch %s : smem f32[64]\n if (eq (axis_index w), 0) { store %y, (load %s) } else {\n"
    " for %i in 0..200 { store %y[0], 1.0 } } }",
    /* more open pairs of phases than an element keeps */
    "kernel @k(%x: in gmem f32[2], %y: out gmem f32[2]) threads(w = 2) {\n"
    " scratch %b : barrier[1]\n if (eq (axis_index w), 0) {\n"
    " for %i in 0..1100 { barrier_arrive %b[0] } } else {\n"
    " for %i in 0..2400 { store %y[0], 1.0 }\n barrier_wait %b[0] } }",
    /* races, and a deadlock to explain */
    "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64]) grid(g = 2) threads(w = 2) {\n"
    " scratch %s : smem f32[64]\n scratch %full : barrier[1]\n"
    " if (eq (axis_index w), 0) { store %s, (broadcast 1.0 : f32[64])\n copy_smem_to_gmem %s, %y "
    "}\n"
    " else { store %y, (load %s)\n barrier_wait %full[0] } }",
    /* a CTA that has waited for its bulk groups ends before its peer */
    "kernel @k(%x: in gmem f32[64], %y: out gmem f32[2, 64]) cluster(c = 2) {\n"
    " scratch %s : smem f32[64]\n %c = axis_index c\n store %s, (load %x)\n commit_smem\n"
    " copy_smem_to_gmem %s, %y[%c]\n wait_smem_to_gmem 0\n"
    " for %i in 0..%c * 200 { store %s[0], 1.0 } }",
};
enum { OWN_TEXTS = sizeof own_texts / sizeof own_texts[0] };

/* One place for a field of each kind; NULL: the checker has none now. */
typedef struct places {
    uint32_t *at[KINDS];
} places;

static bool take_region(void *payload, grout_shadow *shadow, grout_region *region,
                        const grout_rect *rect) {
    places *found = payload;
    (void)shadow;
    (void)rect;
    if (region->write.flags & GROUT_ENTRY_PRESENT) {
        found->at[AT_grout_region] = region->test_field;
        found->at[AT_grout_entry] = region->write.test_field;
    }
    return true;
}

static void find_in_shadow(grout_shadow *shadow, places *found) {
    const grout_visitor visitor = {take_region, found};
    found->at[AT_grout_shadow] = shadow->test_field;
    for (uint32_t i = 0; i < shadow->plane_count; i++) {
        found->at[AT_grout_plane] = shadow->planes[i].test_field;
        ck_assert(grout_shadow__walk(shadow, i, 0, (int64_t)shadow->planes[i].size, &visitor));
    }
}

static void find_in_element(grout_element_state *element, places *found) {
    found->at[AT_grout_element_state] = element->test_field;
    found->at[AT_grout_element_facts] = element->facts.test_field;
    found->at[AT_grout_arrival_note] = element->notes[0].test_field;
    if (grout_element__count(element) > 0) {
        found->at[AT_grout_phase_state] = grout_element__at(element, 0)->test_field;
    }
    if (element->dropped_count > 0) {
        found->at[AT_grout_dropped_phase] = element->dropped[0].test_field;
    }
    if (element->contributor_count > 0) {
        found->at[AT_grout_contributor] = element->contributors[0].test_field;
    }
}

static void find_in_cta(const grout_checker *checker, grout_cta_state *state, places *found) {
    grout_thread_history *thread = &state->notes.threads[0];
    found->at[AT_grout_cta_state] = state->test_field;
    found->at[AT_grout_cta_life] = state->life.test_field;
    found->at[AT_grout_reported] = state->facts.reported[0].test_field;
    found->at[AT_grout_thread_history] = thread->test_field;
    found->at[AT_grout_wgmma_wait] = thread->wgmma_wait.test_field;
    found->at[AT_grout_handover] = thread->handovers[0].test_field;
    if (checker->sync_op_count > 0) {
        found->at[AT_grout_visit] = state->notes.visits[0].test_field;
    }
    for (uint32_t i = 0; i < state->element_count; i++) {
        found->at[AT_grout_wait_mark] = state->facts.waits[0].test_field;
        find_in_element(&state->elements[i], found);
    }
    find_in_shadow(&state->local, found);
}

static void find_in_protocol(grout_protocol *protocol, places *found) {
    found->at[AT_grout_protocol] = protocol->test_field;
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        grout_semaphore_state *semaphore = &protocol->semaphores[i];
        found->at[AT_grout_semaphore_state] = semaphore->test_field;
        if (semaphore->wait_count > 0) {
            found->at[AT_grout_unit_wait] = semaphore->waits[0].test_field;
        }
        if (semaphore->signal_count > 0) {
            found->at[AT_grout_unit_signal] = semaphore->signals[0].test_field;
        }
    }
}

static void find_in_findings(grout_findings *findings, places *found) {
    found->at[AT_grout_findings] = findings->test_field;
    if (findings->count > 0) {
        grout_record *record = &findings->records[0];
        found->at[AT_grout_record] = record->test_field;
        found->at[AT_grout_cover] = record->cover.test_field;
        found->at[AT_grout_facts] = record->facts.test_field;
        found->at[AT_grout_near] = record->facts.near.test_field;
        found->at[AT_grout_side] = record->facts.sides[0].test_field;
        found->at[AT_grout_box] = record->facts.sides[0].box.test_field;
    }
    if (findings->sentence_count > 0) {
        found->at[AT_grout_sentence] = findings->sentences[0].test_field;
        found->at[AT_grout_blocked] = findings->blocked[0].test_field;
    }
}

static void find_in_fences(grout_fences *fences, places *found) {
    for (uint32_t i = 0; i < fences->head_count; i++) {
        found->at[AT_grout_fences] = fences->test_field;
        if (fences->heads[i] != 0) {
            found->at[AT_grout_fence] = fences->items[fences->heads[i] - 1].test_field;
        }
    }
}

static places find_places(grout_checker *checker) {
    places found = {{NULL}};
    found.at[AT_grout_run_state] = checker->run.test_field;
    found.at[AT_grout_memory] = checker->memory.test_field;
    if (checker->run.bulk_wait_count > 0) {
        found.at[AT_grout_bulk_wait] = checker->run.bulk_waits[0].test_field;
    }
    if (checker->run.unwritten_count > 0) {
        found.at[AT_grout_unwritten] = checker->run.unwritten[0].test_field;
    }
    find_in_shadow(&checker->memory.gmem, &found);
    for (uint32_t i = 0; i < checker->memory.cta_count; i++) {
        if (checker->memory.ctas[i].life.is_live) {
            find_in_cta(checker, &checker->memory.ctas[i], &found);
        }
    }
    find_in_protocol(&checker->memory.protocol, &found);
    find_in_fences(&checker->memory.fences, &found);
    find_in_findings(&checker->memory.findings, &found);
    return found;
}

/* The field counts in the hash if its struct does, and a snapshot brings it back. */
static void check_field(const grout_observer *observer, uint32_t which) {
    grout_checker *checker = observer->self;
    const char *name = structs[which].name;
    const uint64_t before = observer->hash(checker);
    places found = find_places(checker);
    ck_assert_msg(found.at[which][1] == 0, "%s: the field is not zero", name);
    found.at[which][1] = 1;
    const uint64_t with = observer->hash(checker);
    ck_assert_msg((with != before) == structs[which].is_hashed,
                  structs[which].is_hashed ? "%s: a new field is not hashed"
                                           : "%s: what is only said is hashed",
                  name);
    void *snapshot = observer->snapshot(checker);
    ck_assert_ptr_nonnull(snapshot);
    found.at[which][1] = 0;
    ck_assert(observer->hash(checker) == before);
    ck_assert(observer->restore(checker, snapshot));
    observer->snapshot_free(checker, snapshot);
    found = find_places(checker);
    ck_assert_msg(found.at[which][1] == 1, "%s: a new field is not in snapshots", name);
    ck_assert(observer->hash(checker) == with);
    found.at[which][1] = 0;
}

static void check_fields(const grout_observer *observer, uint32_t *seen) {
    const places found = find_places(observer->self);
    for (uint32_t k = 0; k < KINDS; k++) {
        if (found.at[k] != NULL && seen[k] < 40) {
            check_field(observer, k);
            seen[k]++;
        }
    }
}

/* Between the steps of a run, and after the last. */
static void check_run(const char *text, int variant, uint32_t *seen) {
    run *r = run_new(text, variant);
    const grout_checker_options options = {.strict_fences = true};
    grout_checker *checker = grout_checker_new(&options, NULL);
    r->other_observer = grout_checker_get_observer(checker);
    run_start(r);
    ck_assert_ptr_nonnull(r->machine);
    while (grout_machine_run(r->machine, 7, r->diags) == GROUT_RUN_PAUSED) {
        check_fields(r->other_observer, seen);
    }
    check_fields(r->other_observer, seen);
    run_delete(r);
    grout_checker_free(checker);
}

START_TEST(new_fields_are_state) {
    uint32_t seen[KINDS] = {0};
    for (int i = 0; i < TEXTS + OWN_TEXTS; i++) {
        for (int variant = 0; variant < RUN_VARIANTS; variant++) {
            check_run(i < TEXTS ? texts[i] : own_texts[i - TEXTS], variant, seen);
        }
    }
    for (uint32_t k = 0; k < KINDS; k++) {
        ck_assert_msg(seen[k] > 0, "no run has a %s", structs[k].name);
    }
}
END_TEST

/* A CTA that begins in the slot of another one has nothing of it. */
START_TEST(new_fields_do_not_outlive_a_cta) {
    run *r = run_new(texts[0], 0);
    grout_checker *checker = grout_checker_new(NULL, NULL);
    r->other_observer = grout_checker_get_observer(checker);
    run_start(r);
    ck_assert_int_eq(grout_machine_run(r->machine, 40, r->diags), GROUT_RUN_PAUSED);
    grout_cta_state *state = &checker->memory.ctas[0];
    ck_assert(state->life.is_live && state->element_count > 0);
    state->test_field[0] = state->life.test_field[0] = state->local.test_field[0] = 1;
    state->local.planes[0].test_field[0] = state->elements[0].test_field[0] = 1;
    state->elements[0].facts.test_field[0] = state->facts.reported[0].test_field[0] = 1;
    state->notes.threads[0].test_field[0] = 1;
    state->life.is_live = false;
    grout_cta_state__begin(state, 0);
    ck_assert_uint_eq(
        state->test_field[0] | state->life.test_field[0] | state->local.test_field[0] |
            state->local.planes[0].test_field[0] | state->elements[0].test_field[0] |
            state->elements[0].facts.test_field[0] | state->facts.reported[0].test_field[0] |
            state->notes.threads[0].test_field[0],
        0);
    run_delete(r);
    grout_checker_free(checker);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("checker_fields");
    TCase *tests = tcase_create("checker_fields");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, new_fields_are_state);
    tcase_add_test(tests, new_fields_do_not_outlive_a_cta);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
