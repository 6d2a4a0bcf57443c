/*
 * quotient.c - undefined values that come of an integer division.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A division by zero has an unspecified value and does nothing else (PTX ISA 9.1, 'div'), so it is
 * no finding: its result is undefined, like what nobody has written. What such a value decides is
 * the finding. The machine does not say where an undefined value comes from. So at the end of the
 * run each use of one is asked which division without a quotient it has its value from, through
 * values and memory; it is an uninitialised-read if there is none.
 */
#include "explain.h"

#include "taint.h"

/* Marks the divisions that had no quotient; false: there is none. */
static bool mark_divisions(const grout_checker *checker, uint8_t *reads) {
    const grout_module *module = checker->info.module;
    bool is_any = false;
    for (grout_op_id i = 1; i < checker->run.undefined_op_count; i++) {
        const grout_opcode opcode = (grout_opcode)grout_module_get_op(module, i)->opcode;
        reads[i] = checker->run.undefined_ops[i] != 0 && grout_op_is_partial(opcode);
        is_any |= reads[i] != 0;
    }
    return is_any;
}

/* The finding as one about the division. False without memory. */
static bool replace(grout_checker *checker, uint32_t index, grout_op_id division) {
    grout_findings *findings = &checker->memory.findings;
    const grout_record old = findings->records[index];
    grout_facts facts = old.facts;
    facts.fault.code = GROUT_DIAG_DIVISION_BY_ZERO;
    facts.sides[1].origin = (grout_origin){.op = division};
    const grout_finding_key key = {
        .code = GROUT_DIAG_DIVISION_BY_ZERO,
        .severity = old.severity,
        .primary = old.primary,
        .related = grout_origin__get_loc(checker->info.module, &facts.sides[1].origin)};
    const grout_occurrence occurrence = {&facts.sides[0].origin, &facts.sides[1].origin, false};
    bool wants_facts = false;
    grout_record *record = grout_findings__add(findings, &key, &occurrence, &wants_facts);
    if (record == NULL) {
        return false;
    }
    record->facts = wants_facts ? facts : record->facts;
    record->count += old.count - 1;
    findings->records[index].is_replaced = true;
    return true;
}

/* Whether a finding is about the use of an undefined value. */
static bool is_of_use(const grout_record *record) {
    return !record->is_replaced && record->code == GROUT_DIAG_UNINITIALISED_READ &&
           record->facts.sides[0].origin.op != 0;
}

/* Each use has the first division that it has its value from. False without memory. */
static bool name_all(grout_checker *checker, const grout_feeds *feeds) {
    for (uint32_t i = 0, count = checker->memory.findings.count; i < count; i++) {
        const grout_record *record = &checker->memory.findings.records[i];
        const grout_op_id division =
            is_of_use(record) ? grout_feeds__find(feeds, record->facts.sides[0].origin.op) : 0;
        if (division != 0 && !replace(checker, i, division)) {
            return false;
        }
    }
    return true;
}

static bool has_uses(const grout_findings *findings) {
    bool has = false;
    for (uint32_t i = 0; i < findings->count && !has; i++) {
        has = is_of_use(&findings->records[i]);
    }
    return has;
}

bool grout_checker__name_divisions(grout_checker *checker) {
    if (!has_uses(&checker->memory.findings)) {
        return true;
    }
    grout_feeds feeds;
    bool is_done = grout_feeds__init(&feeds, checker);
    if (is_done && mark_divisions(checker, feeds.reads)) {
        is_done = grout_feeds__follow(&feeds) && name_all(checker, &feeds);
    }
    grout_feeds__deinit(&feeds);
    return is_done || grout_checker__fail(checker);
}
