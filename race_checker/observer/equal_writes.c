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

/* Marks the reads of races that were found. */
static void mark_raced(const grout_findings *findings, uint8_t *reads) {
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_facts *facts = &findings->records[i].facts;
        for (uint32_t k = 0; facts->side_count == 2 && k < 2; k++) {
            if (!facts->sides[k].is_write && facts->sides[k].origin.op != 0) {
                reads[facts->sides[k].origin.op] = 1;
            }
        }
    }
}

/* Follows what the writes are made of. False without memory; deinit it all the same. */
static bool follow(const grout_checker *checker, grout_makings *makings) {
    if (!grout_makings__init(makings, checker)) {
        return false;
    }
    mark_raced(&checker->memory.findings, makings->races.reads);
    return grout_makings__follow(makings);
}

/* Whether one of the two writes of a race depends on something. */
static bool depends(const grout_makings *makings, const grout_record *record,
                    bool (*has)(const grout_makings *makings, grout_op_id write)) {
    bool does = false;
    for (uint32_t k = 0; k < record->facts.side_count && !does; k++) {
        does = has(makings, record->facts.sides[k].origin.op);
    }
    return does;
}

/* ---- judging ---- */

static void judge(grout_record *record, const grout_makings *makings,
                  const grout_checker *const *compared, uint32_t compared_count) {
    if (depends(makings, record, grout_makings__has_race)) {
        return; /* the race that it comes of is another finding */
    }
    const grout_equal_once once = depends(makings, record, grout_makings__has_schedule)
                                      ? GROUT_EQUAL_ONCE_SCHEDULE
                                      : compare_others(&compared[1], compared_count - 1, record);
    record->facts.equal_once = (uint8_t)once;
    if (once == GROUT_EQUAL_ONCE_NOT) {
        record->facts.raced = record->code;
        record->facts.is_equal_varied = compared_count > 1;
        record->code = GROUT_DIAG_SAME_VALUE_RACE;
        record->severity = grout_diag_get(record->code)->severity;
    }
}

static void judge_equal(grout_checker *checker, const grout_makings *makings,
                        const grout_checker *const *compared, uint32_t compared_count) {
    grout_findings *findings = &checker->memory.findings;
    for (uint32_t i = 0; i < findings->count; i++) {
        grout_record *record = &findings->records[i];
        if (grout_record__is_contested(record) &&
            get_equality(compared[0], record) == EQUALITY_EQUAL) {
            judge(record, makings, compared, compared_count);
        }
    }
}

bool grout_checker_judge_writes(grout_checker *checker, const grout_checker *const *compared,
                                uint32_t compared_count) {
    grout_makings makings = {.races = {.reads = NULL}};
    GROUT_ASSERT(compared_count > 0);
    bool is_done = true;
    if (grout_checker_finds_equal(compared[0], checker)) {
        is_done = follow(checker, &makings);
        if (is_done) {
            judge_equal(checker, &makings, compared, compared_count);
        }
        grout_makings__deinit(&makings);
    }
    checker->memory.findings.total++; /* the report is made again */
    return is_done || grout_checker__fail(checker);
}
