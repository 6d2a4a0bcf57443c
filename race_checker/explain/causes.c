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
           record->facts.subject != GROUT_SUBJECT_NAMED &&
           record->facts.subject != GROUT_SUBJECT_NAMED_TWICE &&
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

/* A read by a thread, or by its wgmma, of what a load brings. */
static bool is_consumption(const grout_side *side) {
    return !side->is_write;
}

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

/* Lower: nearer to the mistake. */
static unsigned get_rank(const grout_checker *checker, const grout_record *record) {
    enum { NEVER_AWAITED = 30, UNWATCHED = 35 };
    if (record->code == GROUT_DIAG_ASYNC_NOT_AWAITED &&
        record->facts.near.kind == GROUT_NEAR_NEVER_WAITED &&
        is_consumption(&record->facts.sides[0])) {
        return NEVER_AWAITED;
    }
    if (record->code == GROUT_DIAG_BARRIER_OVERRUN && is_unwatched(checker, record)) {
        return UNWATCHED;
    }
    return get_row(record->code).rank;
}

/* ---- the order ---- */

typedef struct arrangement {
    const grout_checker *checker;
    const uint32_t *list;
    uint32_t count;
    uint32_t
        *head; /* of each of the list: the index in it that it follows from; UINT32_MAX: open */
} arrangement;

static const grout_record *get_record(const arrangement *it, uint32_t i) {
    return &it->checker->memory.findings.records[it->list[i]];
}

/* The open finding of the least rank; errors before warnings, then as listed. UINT32_MAX: none. */
static uint32_t find_head(const arrangement *it) {
    uint32_t best = UINT32_MAX;
    unsigned best_rank = 0;
    for (uint32_t i = 0; i < it->count; i++) {
        const grout_record *record = get_record(it, i);
        unsigned rank = get_rank(it->checker, record) +
                        (record->severity == GROUT_SEVERITY_ERROR ? 0 : 2U * UINT8_MAX);
        if (it->head[i] == UINT32_MAX && (best == UINT32_MAX || rank < best_rank)) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* Whether finding i follows from the head, by itself or through one that does. */
static bool follows(const arrangement *it, uint32_t head, uint32_t i) {
    const grout_record *cause = get_record(it, head), *record = get_record(it, i);
    unsigned wanted =
        get_links((cause_kind)get_row(cause->code).kind, (cause_kind)get_row(record->code).kind);
    if (wanted == 0 || find_links(it->checker, cause, record, wanted) != 0) {
        return wanted != 0;
    }
    for (uint32_t k = 0; k < it->count; k++) {
        if (k != head && it->head[k] == head &&
            find_links(it->checker, get_record(it, k), record,
                       wanted & (LINK_BARRIER | LINK_ACCESS)) != 0) {
            return true;
        }
    }
    return false;
}

static void add_followers(const arrangement *it, uint32_t head) {
    bool has_more = true;
    it->head[head] = head;
    while (has_more) {
        has_more = false;
        for (uint32_t i = 0; i < it->count; i++) {
            if (it->head[i] == UINT32_MAX && follows(it, head, i)) {
                it->head[i] = head;
                has_more = true;
            }
        }
    }
}

grout_listed *grout_causes__arrange(const grout_checker *checker, const uint32_t *list,
                                    uint32_t count) {
    grout_listed *listed = grout__new(checker->allocator, count, sizeof *listed);
    uint32_t *head = grout__new(checker->allocator, count, sizeof *head);
    const arrangement it = {checker, list, count, head};
    uint32_t at = 0;
    if (!listed || !head) {
        grout__free(listed);
        grout__free(head);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        head[i] = UINT32_MAX;
    }
    for (uint32_t cause = find_head(&it); cause != UINT32_MAX; cause = find_head(&it)) {
        uint32_t first = at;
        add_followers(&it, cause);
        listed[at++] = (grout_listed){list[cause], first};
        for (uint32_t i = 0; i < count; i++) {
            if (i != cause && head[i] == cause) {
                listed[at++] = (grout_listed){list[i], first};
            }
        }
    }
    GROUT_ASSERT(at == count);
    grout__free(head);
    return listed;
}
