/*
 * follow_on.c - findings that another one explains.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each restates its cause; it shows under some schedules only:
 *
 * - Where a read and a write are in no order, the read may come first and find bytes that nobody
 *   has written yet: no uninitialised read beside the race.
 * - Bytes that a phase does not wait for come when they like: what they then write over, and what
 *   reads before they came, are the overrun.
 * - An arrival that may find its CTA gone leaves a phase partial, or complete and unobserved. Bytes
 *   that may find it gone leave its phase without them.
 *
 * It is not reported beside its cause, so that the findings are the same whichever came first.
 */
#include "explain.h"

#include "statement.h"
#include "taint.h"

#include <string.h>

/* A read and a write in no order; of a copy that is not awaited, too. */
static bool is_race(const grout_record *record) {
    return record->code == GROUT_DIAG_SMEM_RACE || record->code == GROUT_DIAG_GMEM_RACE ||
           record->code == GROUT_DIAG_TMEM_RACE || record->code == GROUT_DIAG_TENSOR_CORE_ORDER ||
           record->code == GROUT_DIAG_TMEM_STORE_NOT_COMMITTED ||
           record->code == GROUT_DIAG_CLUSTER_SMEM_REUSE ||
           record->code == GROUT_DIAG_ASYNC_NOT_AWAITED;
}

/* Bytes for a phase that can complete without them; side 0 brings them. */
static bool is_late(const grout_record *record) {
    return record->facts.subject == GROUT_SUBJECT_LATE &&
           (record->code == GROUT_DIAG_BARRIER_OVERRUN ||
            record->code == GROUT_DIAG_BARRIER_TX_MISMATCH);
}

/* ---- uninitialised reads ---- */

/* Whether two objects are one array, or have the bytes of one. */
static bool is_same_array(const grout_module *module, grout_object_id a, grout_object_id b) {
    return a != 0 && grout_object_get_root(module, a) == grout_object_get_root(module, b);
}

/* Marks the reads of a race that was found. */
static void mark_raced(const grout_record *cause, uint8_t *reads) {
    const grout_facts *facts = &cause->facts;
    for (uint32_t k = 0; is_race(cause) && k < facts->side_count; k++) {
        if (!facts->sides[k].is_write && facts->sides[k].origin.op != 0) {
            reads[facts->sides[k].origin.op] = 1;
        }
    }
}

/* Whether an op reads an array, or what has its bytes: a load, a product, a copy of it. */
static bool reads_array(const grout_checker *checker, const grout_op *op, grout_object_id array) {
    const grout_module *module = checker->info.module;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, i);
        if (effect != NULL &&
            (effect->access == GROUT_ACCESS_READ || effect->access == GROUT_ACCESS_ATOMIC) &&
            is_same_array(module, grout_op__find_object(module, op, i), array)) {
            return true;
        }
    }
    return false;
}

/* Marks what reads late bytes. Operand 1 of those copies and stores names where the bytes go. */
static void mark_too_early(const grout_checker *checker, const grout_record *cause,
                           uint8_t *reads) {
    const grout_module *module = checker->info.module;
    grout_object_id object =
        is_late(cause)
            ? grout_op__find_object(module,
                                    grout_module_get_op(module, cause->facts.sides[0].origin.op), 1)
            : 0;
    for (grout_op_id i = 1; object && i < grout_module_get_op_count(module); i++) {
        if (reads_array(checker, grout_module_get_op(module, i), object)) {
            reads[i] = 1;
        }
    }
}

/* ---- what chance makes of it ---- */

/* Whether the op of a finding has the object among its operands. */
static bool names(const grout_checker *checker, const grout_record *record,
                  grout_object_id object) {
    const grout_module *module = checker->info.module;
    bool is_named = false;
    if (record->facts.sides[0].origin.op == 0) {
        return false;
    }
    const grout_op *op = grout_module_get_op(module, record->facts.sides[0].origin.op);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        is_named |= grout_op__find_object(module, op, i) == object;
    }
    return is_named;
}

/* Whether the barrier of the record lacks bytes that a copy brings which may find its CTA gone.
 * Bytes that nobody has announced are a fault of their own. */
static bool is_bytes_of_gone(const grout_checker *checker, const grout_record *record,
                             const grout_record *cause) {
    return cause->code == GROUT_DIAG_CLUSTER_EXIT && record->facts.subject == GROUT_SUBJECT_BYTES &&
           record->facts.have > 0 && names(checker, cause, record->facts.fault.object);
}

/* Whether the op of a finding is one whose bytes come to a barrier by themselves (st.async). */
static bool brings_bytes(const grout_checker *checker, const grout_record *record) {
    const grout_op_id op = record->facts.sides[0].origin.op;
    return op != 0 &&
           grout_op_has_access((grout_opcode)grout_module_get_op(checker->info.module, op)->opcode,
                               GROUT_ACCESS_BYTES);
}

/* An arrival that may find the CTA of the barrier gone; or bytes on that barrier, in whose place
 * the arrival may stand too, where one line of another language makes both. */
static bool is_arrival_of_gone(const grout_checker *checker, const grout_record *record,
                               const grout_record *cause) {
    if (cause->code != GROUT_DIAG_CLUSTER_EXIT || record->facts.subject != GROUT_SUBJECT_USUAL) {
        return false;
    }
    return cause->facts.subject == GROUT_SUBJECT_ARRIVAL
               ? cause->facts.element == record->facts.element
               : brings_bytes(checker, cause) &&
                     names(checker, cause, checker->info.element_objects[record->facts.element]);
}

/* ---- causes ---- */

/* What is no use of a value follows from these findings alone, while they are not withheld. */
typedef struct causes {
    uint32_t *late;  /* by op: findings about late bytes that it brings; NULL: there are none */
    uint32_t *exits; /* indices of those of cluster-exit */
    uint32_t exit_count;
} causes;

static void deinit_causes(causes *it) {
    grout__free(it->late);
    grout__free(it->exits);
}

static bool is_late_cause(const grout_record *record) {
    return is_late(record) && !record->is_replaced;
}

static bool has_late(const grout_findings *findings) {
    bool has = false;
    for (uint32_t i = 0; i < findings->count && !has; i++) {
        has = is_late_cause(&findings->records[i]);
    }
    return has;
}

/* False without memory; deinit them all the same. */
static bool find_causes(const grout_checker *checker, causes *it) {
    const grout_findings *findings = &checker->memory.findings;
    const uint32_t op_count = grout_module_get_op_count(checker->info.module);
    const bool wants_late = has_late(findings);
    it->late = wants_late ? grout__new(checker->allocator, op_count, sizeof *it->late) : NULL;
    it->exits = grout__new(checker->allocator, findings->count, sizeof *it->exits);
    if (it->exits == NULL || (wants_late && it->late == NULL)) {
        return false;
    }
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *record = &findings->records[i];
        if (it->late != NULL && is_late_cause(record)) {
            it->late[record->facts.sides[0].origin.op]++;
        } else if (record->code == GROUT_DIAG_CLUSTER_EXIT) {
            it->exits[it->exit_count++] = i;
        }
    }
    return true;
}

/* Whether late bytes come by an op of the finding. */
static bool has_late_side(const causes *it, const grout_record *record) {
    bool has = false;
    for (uint32_t i = 0; it->late != NULL && i < record->facts.side_count; i++) {
        has = has || it->late[record->facts.sides[i].origin.op] > 0;
    }
    return has;
}

typedef bool follows(const grout_checker *checker, const grout_record *record,
                     const grout_record *cause);

static bool has_exit(const grout_checker *checker, const causes *it, const grout_record *record,
                     follows *is_effect) {
    bool has = false;
    for (uint32_t i = 0; i < it->exit_count && !has; i++) {
        const grout_record *cause = &checker->memory.findings.records[it->exits[i]];
        has = cause != record && !cause->is_replaced && is_effect(checker, record, cause);
    }
    return has;
}

/* Whether a finding that is no use of a value has a cause among the others. */
static bool has_cause(const grout_checker *checker, const causes *it, const grout_record *record) {
    switch ((unsigned)record->code) {
    case GROUT_DIAG_SMEM_RACE:
    case GROUT_DIAG_MMA_OPERAND_REUSE:
    case GROUT_DIAG_CLUSTER_SMEM_REUSE:
    case GROUT_DIAG_CLUSTER_EXIT:
        return has_late_side(it, record);
    case GROUT_DIAG_BARRIER_PARTIAL:
    case GROUT_DIAG_BARRIER_UNOBSERVED:
        return has_exit(checker, it, record, is_arrival_of_gone);
    case GROUT_DIAG_BARRIER_TX_MISMATCH:
        return has_exit(checker, it, record, is_bytes_of_gone);
    default:
        return false;
    }
}

/* ---- all of them ---- */

/* What explains uninitialised reads, while no cause is withheld itself. */
typedef struct explained_reads {
    grout_feeds feeds;
    bool is_known, is_any; /* is_any: there are causes */
} explained_reads;

static void forget(explained_reads *it) {
    if (it->is_known) {
        grout_feeds__deinit(&it->feeds);
    }
    it->is_known = false;
}

/* False without memory. */
static bool follow(const grout_checker *checker, explained_reads *it) {
    const grout_findings *findings = &checker->memory.findings;
    const uint32_t count = grout_module_get_op_count(checker->info.module);
    if (it->is_known) {
        return true;
    }
    it->is_known = true;
    if (!grout_feeds__init(&it->feeds, checker)) {
        return false;
    }
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *cause = &findings->records[i];
        if (!cause->is_replaced) {
            mark_raced(cause, it->feeds.reads);
            mark_too_early(checker, cause, it->feeds.reads);
        }
    }
    it->is_any = memchr(it->feeds.reads, 1, count) != NULL;
    return !it->is_any || grout_feeds__follow(&it->feeds);
}

/* False without memory. */
static bool is_explained(const grout_checker *checker, const causes *all,
                         const grout_record *record, explained_reads *reads,
                         bool *is_explained_out) {
    if (record->code != GROUT_DIAG_UNINITIALISED_READ) {
        *is_explained_out = has_cause(checker, all, record);
        return true;
    }
    if (!follow(checker, reads)) {
        return false;
    }
    *is_explained_out =
        reads->is_any && grout_feeds__find(&reads->feeds, record->facts.sides[0].origin.op) != 0;
    return true;
}

static bool withhold_all(grout_checker *checker, const causes *all, explained_reads *reads) {
    for (uint32_t i = 0; i < checker->memory.findings.count; i++) {
        grout_record *record = &checker->memory.findings.records[i];
        bool is_withheld = false;
        if (record->is_replaced) {
            continue;
        }
        if (!is_explained(checker, all, record, reads, &is_withheld)) {
            return false;
        }
        GROUT_ASSERT(!is_withheld || !is_late(record)); /* so that causes.late stays right */
        if (is_withheld && is_race(record)) {
            forget(reads);
        }
        record->is_replaced = is_withheld;
        checker->run.suppressed += is_withheld ? 1 : 0;
    }
    return true;
}

bool grout_checker__withhold_follow_ons(grout_checker *checker) {
    explained_reads reads = {.is_known = false};
    causes all = {.exit_count = 0};
    const bool is_done = find_causes(checker, &all) && withhold_all(checker, &all, &reads);
    forget(&reads);
    deinit_causes(&all);
    return is_done || grout_checker__fail(checker);
}
