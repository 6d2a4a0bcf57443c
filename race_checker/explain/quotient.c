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

/* The first division that had no quotient and that the use has its value from; 0: none. False
 * without memory. */
static bool find_division(const grout_checker *checker, grout_op_id use, grout_op_id *found_out) {
    const grout_module *module = checker->info.module;
    *found_out = 0;
    for (grout_op_id i = 1; i < checker->run.undefined_op_count && *found_out == 0; i++) {
        const grout_opcode opcode = (grout_opcode)grout_module_get_op(module, i)->opcode;
        bool is_fed = false;
        if (checker->run.undefined_ops[i] != 0 && grout_op_is_partial(opcode) &&
            !grout_checker__is_fed(checker, i, use, &is_fed)) {
            return false;
        }
        *found_out = is_fed ? i : 0;
    }
    return true;
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

bool grout_checker__name_divisions(grout_checker *checker) {
    for (uint32_t i = 0, count = checker->memory.findings.count; i < count; i++) {
        const grout_record *record = &checker->memory.findings.records[i];
        grout_op_id division = 0;
        if (record->is_replaced || record->code != GROUT_DIAG_UNINITIALISED_READ ||
            record->facts.sides[0].origin.op == 0) {
            continue;
        }
        if (!find_division(checker, record->facts.sides[0].origin.op, &division) ||
            (division != 0 && !replace(checker, i, division))) {
            return grout_checker__fail(checker);
        }
    }
    return true;
}
