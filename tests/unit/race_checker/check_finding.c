/*
 * check_finding.c - the table of findings: identity, counts, the occurrence shown, order, copies.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "race_checker/findings/finding.h"

#include "grout-internal/text.h"
#include "tests/tests.h"

#include <string.h>

static const char KERNEL[] = "kernel @k(%x: out gmem f32[4]) {\n"
                             "  store %x[0], 1.0\n"
                             "  store %x[1], 1.0\n"
                             "  store %x[2], 1.0\n"
                             "}\n";

typedef struct fixture {
    grout_diags *diags;
    grout_module *symbolic, *module;
    grout_op_id stores[3];
    grout_findings findings;
} fixture;

static void start(fixture *it) {
    uint32_t count = 0;
    memset(it, 0, sizeof *it);
    it->diags = grout_diags_new();
    it->symbolic = grout_parse("k.grout", KERNEL, strlen(KERNEL), it->diags);
    ck_assert_ptr_nonnull(it->symbolic);
    it->module = grout_module_bind(it->symbolic, NULL, 0, it->diags);
    ck_assert_ptr_nonnull(it->module);
    for (grout_op_id i = 1; i < grout_module_get_op_count(it->module); i++) {
        if (grout_module_get_op(it->module, i)->opcode == GROUT_OP_STORE) {
            it->stores[count++] = i;
        }
    }
    ck_assert_uint_eq(count, 3);
    it->findings.module = it->module;
}

static void stop(fixture *it) {
    grout_findings__deinit(&it->findings);
    grout_module_free(it->module);
    grout_module_free(it->symbolic);
    grout_diags_free(it->diags);
}

static bool add(fixture *it, grout_diag_code code, uint32_t primary, uint32_t related,
                uint32_t cta) {
    grout_origin origins[2] = {{.op = it->stores[primary], .cta = cta},
                               {.op = related < 3 ? it->stores[related] : 0, .cta = cta}};
    grout_finding_key key = {code, GROUT_SEVERITY_ERROR,
                             grout_origin__get_loc(it->module, &origins[0]),
                             grout_origin__get_loc(it->module, &origins[1])};
    const grout_occurrence occurrence = {&origins[0], &origins[1], false};
    bool wants = false;
    grout_record *record = grout_findings__add(&it->findings, &key, &occurrence, &wants);
    ck_assert_ptr_nonnull(record);
    if (wants) {
        record->facts.sides[0].origin = origins[0];
        record->facts.sides[1].origin = origins[1];
    }
    return wants;
}

TEST(the_same_identity_is_counted) {
    fixture it;
    start(&it);
    ck_assert(add(&it, GROUT_DIAG_SMEM_RACE, 0, 1, 5));
    ck_assert(!add(&it, GROUT_DIAG_SMEM_RACE, 0, 1, 6));
    ck_assert(add(&it, GROUT_DIAG_SMEM_RACE, 0, 1, 2)); /* earlier: this one is shown */
    ck_assert(!add(&it, GROUT_DIAG_SMEM_RACE, 0, 1, 2));
    ck_assert_uint_eq(it.findings.count, 1);
    ck_assert_uint_eq(it.findings.records[0].count, 4);
    ck_assert_uint_eq(it.findings.records[0].facts.sides[0].origin.cta, 2);
    ck_assert(add(&it, GROUT_DIAG_SMEM_RACE, 0, 2, 0));
    ck_assert(add(&it, GROUT_DIAG_GMEM_RACE, 0, 1, 0));
    ck_assert_uint_eq(it.findings.count, 3);
    stop(&it);
}

TEST(they_are_listed_by_place) {
    fixture it;
    uint32_t count = 0;
    uint32_t *list = NULL;
    start(&it);
    (void)add(&it, GROUT_DIAG_SMEM_RACE, 2, 0, 0);
    (void)add(&it, GROUT_DIAG_SMEM_RACE, 0, 2, 0);
    (void)add(&it, GROUT_DIAG_SMEM_RACE, 0, 1, 0);
    (void)add(&it, GROUT_DIAG_ASYNC_NOT_AWAITED, 0, 2, 0);
    list = grout_findings__list(&it.findings, &count);
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_eq(list[0], 3); /* of one place, by code, then by the related place */
    ck_assert_uint_eq(list[1], 2);
    ck_assert_uint_eq(list[2], 1);
    ck_assert_uint_eq(list[3], 0);
    grout__free(list);
    stop(&it);
}

/* Seen in another order, and more often: the same identities and the same hash. */
TEST(order_of_sight_does_not_count) {
    fixture a, b;
    start(&a);
    start(&b);
    (void)add(&a, GROUT_DIAG_SMEM_RACE, 2, 0, 0);
    (void)add(&a, GROUT_DIAG_SMEM_RACE, 0, 2, 0);
    (void)add(&b, GROUT_DIAG_SMEM_RACE, 0, 2, 4);
    (void)add(&b, GROUT_DIAG_SMEM_RACE, 2, 0, 3);
    (void)add(&b, GROUT_DIAG_SMEM_RACE, 2, 0, 1);
    ck_assert(grout_findings__hash(&a.findings) == grout_findings__hash(&b.findings));
    ck_assert(grout_findings__identify(&a.findings, &a.findings.records[0]) ==
              grout_findings__identify(&b.findings, &b.findings.records[1]));
    ck_assert(grout_findings__identify(&a.findings, &a.findings.records[0]) !=
              grout_findings__identify(&a.findings, &a.findings.records[1]));
    stop(&a);
    stop(&b);
}

TEST(an_overrun_without_wait_folds_into_one_with) {
    fixture it;
    uint32_t count = 0;
    uint32_t *list = NULL;
    start(&it);
    (void)add(&it, GROUT_DIAG_BARRIER_OVERRUN, 1, 9, 0);
    (void)add(&it, GROUT_DIAG_BARRIER_OVERRUN, 1, 2, 0);
    (void)add(&it, GROUT_DIAG_BARRIER_OVERRUN, 0, 9, 0);
    list = grout_findings__list(&it.findings, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(list[0], 2);
    ck_assert_uint_eq(list[1], 1);
    grout__free(list);
    stop(&it);
}

TEST(a_copy_is_equal) {
    fixture it;
    grout_findings copy;
    start(&it);
    for (uint32_t i = 0; i < 200; i++) { /* past the first size of the table */
        (void)add(&it, (grout_diag_code)(GROUT_DIAG_MISSING_COMMIT_SMEM + i % 8), i % 3, i / 3 % 3,
                  i);
    }
    ck_assert(
        grout_findings__add_sentence(&it.findings, &(grout_sentence){.text = "no thread can run"}));
    memset(&copy, 0, sizeof copy);
    ck_assert(grout_findings__copy(&copy, &it.findings));
    ck_assert_uint_eq(copy.count, it.findings.count);
    ck_assert(grout_findings__hash(&copy) == grout_findings__hash(&it.findings));
    ck_assert_str_eq(copy.sentences[0].text, "no thread can run");
    grout_findings__deinit(&copy);
    stop(&it);
}
