/*
 * causes.c - which finding follows from which (causes.def).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Findings are taken in the order of their ranks. The first that is left is a cause; those that
 * causes.def links to it, or to one that follows from it, follow. What is said of a pair rests on
 * codes, places and threads alone, which are the same under every schedule.
 */
#include "causes.h"

#include "alloc.h"
#include "invariant.h"
#include "rules.h"
#include "statement.h"
#include "wording.h"

enum { LINK_BARRIER = 1, LINK_ACCESS = 2, LINK_LOOP = 4 };

typedef enum cause_kind {
    KIND_NONE,
    KIND_MISUSE,
    KIND_PHASE,
    KIND_AWAIT,
    KIND_ORDER,
    KIND_END,
    KIND_COUNT
} cause_kind;

typedef struct cause_row {
    uint8_t rank, kind;
} cause_row;

static cause_row get_row(grout_diag_code code) {
    switch ((unsigned)code) {
#define GROUT_CAUSE(CODE, RANK, KIND) \
    case GROUT_DIAG_##CODE:           \
        return (cause_row){RANK, KIND_##KIND};
#define GROUT_FOLLOWS(CAUSE, FOLLOWER, LINKS)
#include "causes.def"
    default:
        return (cause_row){UINT8_MAX, KIND_NONE};
    }
}

static unsigned get_links(cause_kind cause, cause_kind follower) {
    enum { BARRIER = LINK_BARRIER, ACCESS = LINK_ACCESS, LOOP = LINK_LOOP };
    static const uint8_t links[KIND_COUNT][KIND_COUNT] = {
#define GROUT_CAUSE(CODE, RANK, KIND)
#define GROUT_FOLLOWS(CAUSE, FOLLOWER, LINKS) [KIND_##CAUSE][KIND_##FOLLOWER] = (LINKS),
#include "causes.def"
    };
    return links[cause][follower];
}

/* ---- what a finding is about ---- */

/* Whether its element is one of a barrier object; those of named barriers are not. */
static bool is_about_element(const grout_record *record) {
    cause_kind kind = (cause_kind)get_row(record->code).kind;
    return (kind == KIND_MISUSE || kind == KIND_PHASE) &&
           record->code != GROUT_DIAG_COLLECTIVE_DIVERGENCE &&
           record->code != GROUT_DIAG_PAIR_LEADER && record->facts.subject != GROUT_SUBJECT_NAMED &&
           record->facts.subject != GROUT_SUBJECT_NAMED_TWICE &&
           record->facts.subject != GROUT_SUBJECT_NAMED_COUNTS &&
           record->facts.subject != GROUT_SUBJECT_NAMED_FULL &&
           record->facts.subject != GROUT_SUBJECT_RENDEZVOUS;
}

/* The barrier object that the bytes of a side arrive on; 0: none. */
static grout_object_id find_barrier_of_side(const grout_checker *checker, const grout_side *side) {
    uint32_t element = 0;
    if (side->origin.op == 0 || side->stamp.agent == GROUT_AGENT_ACTOR ||
        checker->local_elements == 0 ||
        grout_clock__get_mechanism(&checker->shape, side->stamp.component, &element) !=
            GROUT_MECHANISM_PHASE) {
        return 0;
    }
    return checker->info.element_objects[element % checker->local_elements];
}

/* The barrier object that the finding is about: i = 0 its own, then those of its sides, then what
 * the first side's op names (a wait that blocks). */
enum { BARRIERS_OF_RECORD = 5 };
static grout_object_id find_barrier(const grout_checker *checker, const grout_record *record,
                                    uint32_t i) {
    const grout_module *module = checker->info.module;
    grout_op_id op = record->facts.sides[0].origin.op;
    if (i == 0) {
        return is_about_element(record) && record->facts.element < checker->local_elements
                   ? checker->info.element_objects[record->facts.element]
                   : 0;
    }
    if (i <= 2) {
        return i <= record->facts.side_count
                   ? find_barrier_of_side(checker, &record->facts.sides[i - 1])
                   : 0;
    }
    return record->code == GROUT_DIAG_DEADLOCK && op != 0
               ? grout_op__find_object(module, grout_module_get_op(module, op), i - 3)
               : 0;
}

/* ---- links ---- */

static bool shares_barrier(const grout_checker *checker, const grout_record *a,
                           const grout_record *b) {
    for (uint32_t i = 0; i < BARRIERS_OF_RECORD; i++) {
        grout_object_id object = find_barrier(checker, a, i);
        for (uint32_t k = 0; object != 0 && k < BARRIERS_OF_RECORD; k++) {
            if (find_barrier(checker, b, k) == object) {
                return true;
            }
        }
    }
    return false;
}

static bool shares_side(const grout_checker *checker, const grout_record *a, const grout_record *b,
                        bool (*is_shared)(const grout_checker *checker, const grout_side *a,
                                          const grout_side *b)) {
    for (uint32_t i = 0; i < a->facts.side_count; i++) {
        for (uint32_t k = 0; k < b->facts.side_count; k++) {
            const grout_side *x = &a->facts.sides[i], *y = &b->facts.sides[k];
            if (x->origin.op != 0 && y->origin.op != 0 && is_shared(checker, x, y)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_same_op(const grout_checker *checker, const grout_side *a, const grout_side *b) {
    (void)checker;
    return a->origin.op == b->origin.op;
}

static bool is_same_loop(const grout_checker *checker, const grout_side *a, const grout_side *b) {
    grout_op_id loop = grout_op__get_loop(checker->info.module, a->origin.op);
    return loop != 0 && a->origin.thread == b->origin.thread &&
           grout_op__get_loop(checker->info.module, b->origin.op) == loop;
}

/* The links among 'wanted' that hold. */
static unsigned find_links(const grout_checker *checker, const grout_record *a,
                           const grout_record *b, unsigned wanted) {
    return (wanted & LINK_BARRIER && shares_barrier(checker, a, b) ? LINK_BARRIER : 0U) |
           (wanted & LINK_ACCESS && shares_side(checker, a, b, is_same_op) ? LINK_ACCESS : 0U) |
           (wanted & LINK_LOOP && shares_side(checker, a, b, is_same_loop) ? LINK_LOOP : 0U);
}

/* ---- ranks ---- */

/* An overrun on a barrier of which not every phase is waited for: that wait is what is missing. */
static bool is_unwatched(const grout_checker *checker, const grout_record *record) {
    const grout_findings *findings = &checker->memory.findings;
    if (record->related == 0 || record->facts.subject == GROUT_SUBJECT_LATE) {
        return true;
    }
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *other = &findings->records[i];
        if (other->code == GROUT_DIAG_BARRIER_UNOBSERVED &&
            find_barrier(checker, other, 0) == find_barrier(checker, record, 0)) {
            return true;
        }
    }
    return false;
}

/* Lower: nearer to the mistake. Every error is before every warning. */
static unsigned get_rank(const grout_checker *checker, const grout_record *record) {
    enum { NEVER_AWAITED = 30, UNWATCHED = 35, POLLED = 71, WARNING = UINT8_MAX + 1 };
    unsigned first = record->severity == GROUT_SEVERITY_ERROR ? 0 : WARNING;
    if (record->code == GROUT_DIAG_ASYNC_NOT_AWAITED &&
        record->facts.near.kind == GROUT_NEAR_NEVER_WAITED && !record->facts.sides[0].is_write) {
        return first + NEVER_AWAITED; /* a read, or a wgmma, of what a load brings */
    }
    if (record->code == GROUT_DIAG_BARRIER_OVERRUN && is_unwatched(checker, record)) {
        return first + UNWATCHED;
    }
    if (grout_record__find_poll(checker->info.module, record) != NULL) {
        return first + POLLED;
    }
    return first + get_row(record->code).rank;
}

/* ---- the order ---- */

#define OPEN UINT32_MAX /* it is not known yet what the finding follows from */

/* A finding of the list on its way to its place. */
typedef struct entry {
    const grout_record *record;
    uint32_t index; /* of the record in the findings */
    unsigned rank;
    uint32_t head; /* index in the list of what it follows from, its own for nothing; or OPEN */
} entry;

typedef struct arrangement {
    const grout_checker *checker;
    entry *entries;
    uint32_t *members; /* of the head that is looked at: that one, then those found to follow */
    uint32_t count;
} arrangement;

/* The open finding of the least rank, the first in the list of these; OPEN: none. */
static uint32_t find_head(const arrangement *it) {
    uint32_t best = OPEN;
    for (uint32_t i = 0; i < it->count; i++) {
        const entry *at = &it->entries[i];
        if (at->head == OPEN && (best == OPEN || at->rank < it->entries[best].rank)) {
            best = i;
        }
    }
    return best;
}

/* The links by which a finding would follow from the head, through a member of it. */
static unsigned get_wanted(const entry *head, const entry *member, const entry *at) {
    unsigned links = get_links((cause_kind)get_row(head->record->code).kind,
                               (cause_kind)get_row(at->record->code).kind);
    return member == head ? links : links & (LINK_BARRIER | LINK_ACCESS);
}

/* What follows from the head, by itself or through what does. */
static void add_followers(const arrangement *it, uint32_t head) {
    uint32_t count = 0;
    it->entries[head].head = head;
    it->members[count++] = head;
    for (uint32_t k = 0; k < count; k++) {
        const entry *member = &it->entries[it->members[k]];
        for (uint32_t i = 0; i < it->count; i++) {
            entry *at = &it->entries[i];
            if (at->head == OPEN && find_links(it->checker, member->record, at->record,
                                               get_wanted(&it->entries[head], member, at)) != 0) {
                at->head = head;
                it->members[count++] = i;
            }
        }
    }
}

static void arrange(const arrangement *it, grout_listed *listed) {
    uint32_t at = 0;
    for (uint32_t head = find_head(it); head != OPEN; head = find_head(it)) {
        uint32_t first = at;
        add_followers(it, head);
        listed[at++] = (grout_listed){it->entries[head].index, first};
        for (uint32_t i = 0; i < it->count; i++) {
            if (i != head && it->entries[i].head == head) {
                listed[at++] = (grout_listed){it->entries[i].index, first};
            }
        }
    }
    GROUT_ASSERT(at == it->count);
}

grout_listed *grout_causes__arrange(const grout_checker *checker, const uint32_t *list,
                                    uint32_t count) {
    grout_listed *listed = grout__new(checker->allocator, count, sizeof *listed);
    const arrangement it = {checker, grout__new(checker->allocator, count, sizeof *it.entries),
                            grout__new(checker->allocator, count, sizeof *it.members), count};
    bool is_good = listed && it.entries && it.members;
    for (uint32_t i = 0; is_good && i < count; i++) {
        const grout_record *record = &checker->memory.findings.records[list[i]];
        it.entries[i] = (entry){record, list[i], get_rank(checker, record), OPEN};
    }
    if (is_good) {
        arrange(&it, listed);
    } else {
        grout__free(listed);
        listed = NULL;
    }
    grout__free(it.entries);
    grout__free(it.members);
    return listed;
}
