/*
 * equal_writes.c - races of two writes that leave the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"
#include "observer.h"
#include "taint.h"

bool grout_checker_has_racing_writes(const grout_checker *checker) {
    const grout_findings *findings = &checker->memory.findings;
    for (uint32_t i = 0; i < findings->count; i++) {
        if (grout_record__is_contested(&findings->records[i])) {
            return true;
        }
    }
    return false;
}

/* What another checker of the kernel has found at these places; NULL: nothing. */
static const grout_record *find_record(const grout_checker *compared, const grout_record *record) {
    const grout_finding_key key = {.code = record->code,
                                   .severity = record->severity,
                                   .primary = record->primary,
                                   .related = record->related};
    return grout_findings__find(&compared->memory.findings, &key);
}

/* What a checker says of a race of two writes. */
typedef enum equality {
    EQUALITY_UNKNOWN, /* it has not met it */
    EQUALITY_DIFFERENT,
    EQUALITY_EQUAL
} equality;

static equality get_equality(const grout_checker *compared, const grout_record *record) {
    const grout_record *it = find_record(compared, record);
    if (it == NULL || !it->is_compared) {
        return EQUALITY_UNKNOWN;
    }
    return grout_record__is_contested(it) && !it->is_different ? EQUALITY_EQUAL
                                                               : EQUALITY_DIFFERENT;
}

/* Whether it says so of some race. */
static bool says(const grout_checker *compared, const grout_checker *checker, equality what) {
    const grout_findings *findings = &checker->memory.findings;
    for (uint32_t i = 0; i < findings->count; i++) {
        if (grout_record__is_contested(&findings->records[i]) &&
            get_equality(compared, &findings->records[i]) == what) {
            return true;
        }
    }
    return false;
}

bool grout_checker_finds_equal(const grout_checker *compared, const grout_checker *checker) {
    return says(compared, checker, EQUALITY_EQUAL);
}

bool grout_checker_knows_writes(const grout_checker *compared, const grout_checker *checker) {
    return !says(compared, checker, EQUALITY_UNKNOWN);
}

/* Whether both leave the same bytes with other inputs, too; if there are any. */
static grout_equal_once compare_others(const grout_checker *const *others, uint32_t count,
                                       const grout_record *record) {
    equality found = count > 0 ? EQUALITY_UNKNOWN : EQUALITY_EQUAL;
    for (uint32_t i = 0; i < count && found == EQUALITY_UNKNOWN; i++) {
        found = get_equality(others[i], record);
    }
    return found == EQUALITY_EQUAL     ? GROUT_EQUAL_ONCE_NOT
           : found == EQUALITY_UNKNOWN ? GROUT_EQUAL_ONCE_UNMET
                                       : GROUT_EQUAL_ONCE_INPUTS;
}

/* ---- values of chance ---- */

/* Whether a read of a race that was found feeds the op. */
static bool is_raced(const grout_checker *checker, grout_op_id write, bool *is_raced_out) {
    const grout_findings *findings = &checker->memory.findings;
    for (uint32_t i = 0; i < findings->count && !*is_raced_out; i++) {
        const grout_facts *facts = &findings->records[i].facts;
        for (uint32_t k = 0; facts->side_count == 2 && k < 2 && !*is_raced_out; k++) {
            const grout_op_id read = facts->sides[k].origin.op;
            if (!facts->sides[k].is_write && read != 0 &&
                !grout_checker__is_made_of(checker, read, write, is_raced_out)) {
                return false;
            }
        }
    }
    return true;
}

/* What one of the two writes depends on. False without memory. */
static bool find_chance(const grout_checker *checker, const grout_record *record,
                        bool *is_of_schedule_out, bool *is_raced_out) {
    *is_of_schedule_out = *is_raced_out = false;
    for (uint32_t k = 0; k < record->facts.side_count; k++) {
        const grout_op_id write = record->facts.sides[k].origin.op;
        bool is_of_schedule = false;
        if (!grout_checker__is_made_of(checker, 0, write, &is_of_schedule) ||
            !is_raced(checker, write, is_raced_out)) {
            return false;
        }
        *is_of_schedule_out = *is_of_schedule_out || is_of_schedule;
    }
    return true;
}

/* ---- judging ---- */

static bool judge(grout_checker *checker, grout_record *record,
                  const grout_checker *const *compared, uint32_t compared_count) {
    bool is_of_schedule = false, is_of_race = false;
    if (get_equality(compared[0], record) != EQUALITY_EQUAL) {
        return true;
    }
    if (!find_chance(checker, record, &is_of_schedule, &is_of_race)) {
        return grout_checker__fail(checker);
    }
    if (is_of_race) { /* the race that it comes of is another finding */
        return true;
    }
    const grout_equal_once once = is_of_schedule
                                      ? GROUT_EQUAL_ONCE_SCHEDULE
                                      : compare_others(&compared[1], compared_count - 1, record);
    record->facts.equal_once = (uint8_t)once;
    if (once == GROUT_EQUAL_ONCE_NOT) {
        record->facts.raced = record->code;
        record->facts.is_equal_varied = compared_count > 1;
        record->code = GROUT_DIAG_SAME_VALUE_RACE;
        record->severity = grout_diag_get(record->code)->severity;
    }
    return true;
}

bool grout_checker_judge_writes(grout_checker *checker, const grout_checker *const *compared,
                                uint32_t compared_count) {
    grout_findings *findings = &checker->memory.findings;
    GROUT_ASSERT(compared_count > 0);
    for (uint32_t i = 0; i < findings->count; i++) {
        if (grout_record__is_contested(&findings->records[i]) &&
            !judge(checker, &findings->records[i], compared, compared_count)) {
            return false;
        }
    }
    findings->total++; /* the report is made again */
    return true;
}
