/*
 * check_space.c - what a new memory space costs: a line (test_spaces.def). The IR, the interpreter
 * and the checker that this program links have been compiled with that line, and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "interp/state/machine.h"
#include "tests/unit/support/run_kernel.h"

#include "grout-internal/race.h"

#include <math.h>

/* The scratch of SMEM takes bytes at the same offsets; each thread stores half of the tray. */
#define HEAD                                                                           \
    "kernel @k(%y: out gmem f32[64]) threads(wg = 2) {\n  scratch %s : smem f32[64]\n" \
    "  scratch %a : tray f32[5]\n  scratch %t : tray f32[64]\n"
#define HALVES                                                                             \
    "  if (eq (axis_index wg), 0) {\n    store %t[ds(0, 32)], (broadcast 1.5 : f32[32])\n" \
    "  } else {\n    store %t[ds(32, 32)], (broadcast 2.5 : f32[32])\n  }\n"
#define TAIL                                                                \
    "  if (eq (axis_index wg), 0) {\n    store %y, (load %t)\n  } else {\n" \
    "    store %s, (broadcast 7.0 : f32[64])\n  }\n}\n"

static const char good[] = HEAD HALVES "  block_barrier\n" TAIL;

static void check_result(run *r) {
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < 64; i++) {
        ck_assert_double_eq(run_get(r, 0, i), i < 32 ? 1.5 : 2.5);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
}

/* What the parser, the binding or the verifier says of a kernel with this body. */
static void check_refused(const char *body, grout_diag_code code, const char *message) {
    char text[256];
    snprintf(text, sizeof text, "kernel @k(%%x: in gmem f32[8]) cluster(c = 2) {\n%s\n}\n", body);
    grout_diags *diags = grout_diags_new();
    grout_module *symbolic = grout_parse("k.grout", text, strlen(text), diags);
    grout_module *bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    ck_assert(bound == NULL || !grout_verify(bound, GROUT_ARCH_SM_90A, diags));
    ck_assert_str_eq(grout_diags_get(diags, 0)->message, message);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, code);
    grout_module_free(bound);
    grout_module_free(symbolic);
    grout_diags_free(diags);
}

/* The words of the text format are those of the table. */
START_TEST(it_is_parsed_and_printed) {
    grout_text text = {0};
    run *r = run_new(good, 0);
    run_start(r);
    grout_module_print(r->symbolic, &text);
    ck_assert_ptr_nonnull(strstr(text.data, "scratch %t : tray f32[64]"));
    grout_text_free(&text);
    run_delete(r);
    check_refused("scratch %t : tray f32[8, 8] tile(4, 8)", GROUT_DIAG_BAD_TRANSFORM,
                  "an array in tray has no 'tile': it lies in rows");
    check_refused(
        "scratch %t : cray f32[8]", GROUT_DIAG_UNKNOWN_TYPE,
        "expected 'smem', 'acc', 'tmem', 'gmem', 'tray', 'vault', 'barrier', 'mbarrier' or "
        "'semaphore', found 'cray'");
}
END_TEST

/* It has offsets and a budget of its own, and SMEM is as without it. */
START_TEST(it_is_placed) {
    run *r = run_new(good, 0);
    run_start(r);
    int64_t last = -1;
    for (grout_object_id id = 1; id < grout_module_get_object_count(r->module); id++) {
        if (grout_module_get_object(r->module, id)->space == GROUT_SPACE_TRAY) {
            last = grout_object_get_offset(r->module, id);
        }
    }
    ck_assert_int_eq(last, 128);
    ck_assert_int_eq(grout_kernel_get_space_bytes(r->module, 1, GROUT_SPACE_TRAY), 128 + 256);
    ck_assert_int_eq(grout_kernel_get_space_bytes(r->module, 1, GROUT_SPACE_SMEM), 256);
    run_delete(r);
    check_refused("scratch %t : tray f32[1025]", GROUT_DIAG_SMEM_BUDGET,
                  "kernel '@k' needs 4100 bytes of tray, and a CTA has 4096");
}
END_TEST

/* No other CTA of the cluster reaches it, and no copy takes it; of the vault not even a load. */
START_TEST(others_do_not_reach_it) {
    check_refused("scratch %t : tray f32[8]\n store %t.cluster(0)[0], 1.0", GROUT_DIAG_BAD_SPACE,
                  "'.cluster' of '%t': other CTAs of the cluster are reached in SMEM only");
    check_refused("scratch %t : vault f32[8]\n debug_print \"{}\", (load %t[0])",
                  GROUT_DIAG_BAD_SPACE,
                  "the source of 'load' lies in tray, gmem or smem, and '%t' is vault f32[]");
    check_refused("scratch %t : tray f32[8]\n scratch %b : barrier[1]\n"
                  "copy_gmem_to_smem %x, %t, %b[0]",
                  GROUT_DIAG_BAD_SPACE,
                  "the destination of 'copy_gmem_to_smem' lies in smem, and '%t' is tray f32[8]");
}
END_TEST

START_TEST(stores_are_loaded) {
    run *r = run_new(good, _i);
    run_start(r);
    check_result(r);
    run_delete(r);
}
END_TEST

/* A snapshot in front of the barrier has the bytes, and the hash counts them. */
START_TEST(a_snapshot_has_it) {
    run *r = run_new(good, 1);
    run_start(r);
    uint8_t *byte = grout_cta__memory(grout_machine__get_cta(r->machine, 0, 0)) +
                    r->machine->plan->space_first[GROUT_SPACE_TRAY] + 128 + 4;
    while (r->counts[GROUT_EVENT_ACCESS] < 2) {
        ck_assert_int_eq(grout_machine_run(r->machine, 1, r->diags), GROUT_RUN_PAUSED);
    }
    const uint64_t hash = grout_machine_hash(r->machine);
    grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
    ck_assert_ptr_nonnull(snapshot);
    for (uint32_t round = 0; round < 2; round++) {
        *byte ^= 1;
        ck_assert(grout_machine_hash(r->machine) != hash);
        ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
        ck_assert(grout_machine_hash(r->machine) == hash);
        check_result(r);
        ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
    }
    grout_snapshot_free(snapshot);
    run_delete(r);
}
END_TEST

/* Nobody has written it at the start, and it ends where it ends. */
START_TEST(faults_are_reported) {
    run *r = run_new(HEAD "  store %y, (load %t)\n  %i = add (axis_index wg), 63\n"
                          "  store %t[%i], 1.0\n}\n",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_gt(r->faults[GROUT_DIAG_UNINITIALISED_READ], 0);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUT_OF_BOUNDS], 1);
    ck_assert(isnan(run_get(r, 0, 0))); /* poison */
    run_delete(r);
}
END_TEST

/* The race checker follows it, and takes its bytes for no others. */
static void check_findings(const char *text, int variant, uint32_t count, uint32_t line) {
    run *r = run_new(text, variant);
    run_start(r);
    grout_machine_free(r->machine);
    grout_checker *checker = grout_checker_new(NULL, r->diags);
    grout_launch launch = {.module = r->module,
                           .kernel = 1,
                           .arguments = r->arguments,
                           .argument_count = r->argument_count,
                           .timing = r->timing,
                           .schedule = r->schedule,
                           .seed = r->seed,
                           .observers = {grout_checker_get_observer(checker)},
                           .observer_count = 1};
    r->machine = grout_machine_new(&launch, r->diags);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_uint_eq(grout_checker_get_count(checker), count);
    if (count > 0) {
        const grout_finding *finding = grout_checker_get_finding(checker, 0);
        ck_assert_int_eq(finding->code, GROUT_DIAG_SMEM_RACE);
        ck_assert_uint_eq(finding->primary.line, line);
    }
    grout_checker_free(checker);
    run_delete(r);
}

START_TEST(a_race_is_found) {
    check_findings(good, _i, 0, 0);
    check_findings(HEAD HALVES TAIL, _i, 1, 8);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("space");
    TCase *tests = tcase_create("space");
    tcase_add_test(tests, it_is_parsed_and_printed);
    tcase_add_test(tests, it_is_placed);
    tcase_add_test(tests, others_do_not_reach_it);
    tcase_add_loop_test(tests, stores_are_loaded, 0, RUN_VARIANTS);
    tcase_add_test(tests, a_snapshot_has_it);
    tcase_add_loop_test(tests, faults_are_reported, 0, RUN_VARIANTS);
    tcase_add_loop_test(tests, a_race_is_found, 0, RUN_VARIANTS);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
