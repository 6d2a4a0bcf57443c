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
#include "lookup.h"
#include "reuse.h"
#include "rules.h"
#include "statement.h"
#include "wording.h"

#include <stdlib.h>

enum { LINK_BARRIER = 1, LINK_ACCESS = 2, LINK_LOOP = 4 };

typedef enum cause_kind {
    KIND_NONE,
    KIND_MISUSE,
    KIND_REUSE,
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
           record->code != GROUT_DIAG_PAIR_LEADER && record->code != GROUT_DIAG_NAMED_RANGE &&
           record->facts.subject != GROUT_SUBJECT_NAMED &&
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

/* What a finding is about: two findings that have one of these in common are linked by it. */
typedef struct topic {
    uint32_t about;  /* the barrier object, the op, or the loop */
    uint32_t thread; /* of the loop */
    uint32_t entry;  /* of the arrangement */
    uint8_t link;    /* LINK_* */
    uint8_t kind;    /* cause_kind of the finding */
    bool is_empty;   /* of the first of those that are alike: all their entries have a head */
} topic;

enum { TOPICS_OF_RECORD = 16 };

/* All topics of a finding of this kind; how many. */
static uint32_t find_topics(const grout_checker *checker, const grout_record *record, uint8_t kind,
                            topic topics_out[TOPICS_OF_RECORD]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < BARRIERS_OF_RECORD; i++) {
        const grout_object_id object = find_barrier(checker, record, i);
        if (object != 0) {
            topics_out[count++] = (topic){.link = LINK_BARRIER, .kind = kind, .about = object};
        }
    }
    for (uint32_t i = 0; i < record->facts.side_count; i++) {
        const grout_origin *origin = &record->facts.sides[i].origin;
        const grout_op_id loop =
            origin->op == 0 ? 0 : grout_op__get_loop(checker->info.module, origin->op);
        GROUT_ASSERT(count + 2 <= TOPICS_OF_RECORD);
        if (origin->op != 0) {
            topics_out[count++] = (topic){.link = LINK_ACCESS, .kind = kind, .about = origin->op};
        }
        if (loop != 0) {
            topics_out[count++] =
                (topic){.link = LINK_LOOP, .kind = kind, .about = loop, .thread = origin->thread};
        }
    }
    return count;
}

static int compare_numbers(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

/* Those that are alike but for their entries lie beside each other. */
static int compare_topics(const void *a, const void *b) {
    const topic *x = a, *y = b;
    const int orders[] = {compare_numbers(x->link, y->link), compare_numbers(x->kind, y->kind),
                          compare_numbers(x->about, y->about),
                          compare_numbers(x->thread, y->thread),
                          compare_numbers(x->entry, y->entry)};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (orders[i] != 0) {
            return orders[i];
        }
    }
    return 0;
}

static bool is_alike(const topic *a, const topic *b) {
    return a->link == b->link && a->kind == b->kind && a->about == b->about &&
           a->thread == b->thread;
}

/* ---- ranks ---- */

/* The barrier objects of which not every phase is waited for. False without memory. */
static bool note_unobserved(const grout_checker *checker, grout_lookup *unobserved) {
    const grout_findings *findings = &checker->memory.findings;
    for (uint32_t i = 0; i < findings->count; i++) {
        const grout_record *record = &findings->records[i];
        uint32_t *number = record->code == GROUT_DIAG_BARRIER_UNOBSERVED
                               ? grout_lookup__at(unobserved, find_barrier(checker, record, 0))
                               : &(uint32_t){0};
        if (number == NULL) {
            return false;
        }
        *number = i + 1;
    }
    return true;
}

/* An overrun on a barrier of which not every phase is waited for: that wait is what is missing. */
static bool is_unwatched(const grout_checker *checker, const grout_record *record,
                         const grout_lookup *unobserved) {
    return record->related == 0 || record->facts.subject == GROUT_SUBJECT_LATE ||
           grout_lookup__find(unobserved, find_barrier(checker, record, 0)) != 0;
}

/* A finding of the list on its way to its place. */
typedef struct entry {
    const grout_record *record;
    const grout_record *late; /* of a reuse: the overrun by a wait that it needs; or NULL */
    uint32_t index;           /* of the record in the findings */
    unsigned rank;
    uint32_t head; /* index in the list of what it follows from, its own for nothing; or OPEN */
    uint8_t kind;  /* cause_kind */
} entry;

/* What a place in the report rests on, beside the finding itself. */
typedef struct context {
    grout_wording wording; /* of whichever finding is asked about */
    grout_laps laps;
    grout_lookup unobserved;
} context;

static unsigned get_overrun_rank(const context *it, const grout_record *record) {
    enum { UNWATCHED = 35, TOLD = 36 };
    const grout_lap *lap = grout_laps__find(&it->laps, record);
    if (lap != NULL && lap->reuse != NULL) {
        return get_row(record->code).rank;
    }
    if (is_unwatched(it->wording.checker, record, &it->unobserved)) {
        return UNWATCHED;
    }
    return lap == NULL && record->facts.subject == GROUT_SUBJECT_USUAL ? TOLD
                                                                       : get_row(record->code).rank;
}

/* A read, or a wgmma, of what a load brings, by a thread that has not waited on the load's barrier,
 * or has waited on another element of it: that wait is the mistake. */
static bool is_unawaited_read(const grout_record *record) {
    const grout_facts *facts = &record->facts;
    return record->code == GROUT_DIAG_ASYNC_NOT_AWAITED && !facts->sides[0].is_write &&
           (facts->near.kind == GROUT_NEAR_NEVER_WAITED ||
            facts->near.kind == GROUT_NEAR_WAIT_ELSEWHERE);
}

/* Lower: nearer to the mistake. Every error is before every warning. */
static unsigned get_rank(const context *it, const entry *own) {
    enum { NEVER_AWAITED = 30, REUSE = 38, POLLED = 71, WARNING = UINT8_MAX + 1 };
    const grout_record *record = own->record;
    unsigned first = record->severity == GROUT_SEVERITY_ERROR ? 0 : WARNING;
    if (is_unawaited_read(record)) {
        return first + NEVER_AWAITED;
    }
    if (record->code == GROUT_DIAG_BARRIER_OVERRUN) {
        return first + get_overrun_rank(it, record);
    }
    if (own->kind == KIND_REUSE) {
        return first + REUSE;
    }
    if (grout_record__find_poll(it->wording.module, record) != NULL) {
        return first + POLLED;
    }
    return first + get_row(record->code).rank;
}

/* ---- the order ---- */

#define OPEN UINT32_MAX /* it is not known yet what the finding follows from */

typedef struct arrangement {
    const grout_checker *checker;
    entry *entries;
    uint32_t *order;   /* entries by rank, those of one rank in the order of the list */
    uint32_t *members; /* of the head that is looked at: that one, then those found to follow */
    uint32_t count, member_count;
    topic *topics; /* of all entries, sorted */
    uint32_t topic_count;
    const grout_laps *laps;
} arrangement;

/* The first topic that is like another one, or NULL. */
static topic *find_first(const arrangement *it, const topic *like) {
    topic wanted = *like;
    uint32_t low = 0, high = it->topic_count;
    wanted.entry = 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare_topics(&it->topics[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < it->topic_count && is_alike(&it->topics[low], like) ? &it->topics[low] : NULL;
}

static void take(arrangement *it, uint32_t head, uint32_t index) {
    if (it->entries[index].head == OPEN) {
        it->entries[index].head = head;
        it->members[it->member_count++] = index;
    }
}

/* Gives the open entries of a topic to the head. */
static void take_topic(arrangement *it, uint32_t head, const topic *like) {
    topic *first = find_first(it, like);
    if (first == NULL || first->is_empty) {
        return;
    }
    first->is_empty = true;
    for (topic *at = first; at < it->topics + it->topic_count && is_alike(at, like); at++) {
        take(it, head, at->entry);
    }
}

/* The overruns that follow from a reuse. */
static void take_laps(arrangement *it, uint32_t head, uint32_t member) {
    for (uint32_t i = 0; it->entries[member].kind == KIND_REUSE && i < it->laps->count; i++) {
        if (it->laps->items[i].reuse == it->entries[member].record) {
            take(it, head, it->laps->items[i].place);
        }
    }
}

/* What follows from the head by what a member of it is about; by a loop, from the head alone. */
static void take_linked(arrangement *it, uint32_t head, uint32_t member) {
    const cause_kind cause = (cause_kind)it->entries[head].kind;
    const entry *of = &it->entries[member];
    topic topics[TOPICS_OF_RECORD];
    const uint32_t count = find_topics(it->checker, of->record, of->kind, topics);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t kind = 0; kind < KIND_COUNT; kind++) {
            topic like = topics[i];
            like.kind = (uint8_t)kind;
            if ((get_links(cause, (cause_kind)kind) & like.link) != 0 &&
                (like.link != LINK_LOOP || member == head)) {
                take_topic(it, head, &like);
            }
        }
    }
}

static int compare_members(const void *a, const void *b) {
    return compare_numbers(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* What follows from the head, by itself or through what does, in the order of the list. */
static void find_members(arrangement *it, uint32_t head) {
    it->entries[head].head = head;
    it->members[0] = head;
    it->member_count = 1;
    for (uint32_t k = 0; k < it->member_count; k++) {
        take_laps(it, head, it->members[k]);
        take_linked(it, head, it->members[k]);
    }
    qsort(it->members + 1, it->member_count - 1, sizeof *it->members, compare_members);
}

static void arrange(arrangement *it, grout_listed *listed) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < it->count; i++) {
        const uint32_t head = it->order[i], first = at;
        if (it->entries[head].head != OPEN) {
            continue;
        }
        find_members(it, head);
        for (uint32_t k = 0; k < it->member_count; k++) {
            const entry *member = &it->entries[it->members[k]];
            listed[at++] = (grout_listed){member->index, first, member->late};
        }
    }
    GROUT_ASSERT(at == it->count);
}

/* Entries by rank: as many passes as there are ranks. */
static void sort_entries(arrangement *it) {
    uint32_t at = 0;
    for (unsigned rank = 0, next = 0; at < it->count; rank = next) {
        next = UINT32_MAX;
        for (uint32_t i = 0; i < it->count; i++) {
            const unsigned own = it->entries[i].rank;
            if (own == rank) {
                it->order[at++] = i;
            } else if (own > rank && own < next) {
                next = own;
            }
        }
    }
}

/* The overruns that may follow from something else, in the order of the list. */
static void find_overruns(context *it, const entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const grout_record *record = entries[i].record;
        it->wording.record = record;
        it->wording.facts = &record->facts;
        if (record->code == GROUT_DIAG_BARRIER_OVERRUN &&
            record->severity == GROUT_SEVERITY_ERROR &&
            !grout_wording__tells_overrun(&it->wording)) {
            grout_laps__add(&it->laps, record, i);
        }
    }
}

static void add_entries(arrangement *it, const uint32_t *list, context *of) {
    for (uint32_t i = 0; i < it->count; i++) {
        const grout_record *record = &it->checker->memory.findings.records[list[i]];
        it->entries[i] = (entry){
            .record = record, .index = list[i], .head = OPEN, .kind = get_row(record->code).kind};
    }
    find_overruns(of, it->entries, it->count);
    for (uint32_t i = 0; i < it->count; i++) {
        entry *own = &it->entries[i];
        if (grout_laps__mark(&of->laps, of->wording.checker, own->record, &own->late)) {
            own->kind = KIND_REUSE;
        }
    }
    for (uint32_t i = 0; i < it->count; i++) {
        it->entries[i].rank = get_rank(of, &it->entries[i]);
    }
}

static void add_topics(arrangement *it) {
    for (uint32_t i = 0; i < it->count; i++) {
        topic *own = it->topics + it->topic_count;
        const entry *of = &it->entries[i];
        const uint32_t count = find_topics(it->checker, of->record, of->kind, own);
        for (uint32_t k = 0; k < count; k++) {
            own[k].entry = i;
        }
        it->topic_count += count;
    }
    if (it->topic_count > 0) {
        qsort(it->topics, it->topic_count, sizeof *it->topics, compare_topics);
    }
}

grout_listed *grout_causes__arrange(const grout_wording *base, const uint32_t *list,
                                    uint32_t count) {
    const grout_checker *checker = base->checker;
    const grout_allocator *allocator = checker->allocator;
    grout_listed *listed = grout__new(allocator, count, sizeof *listed);
    context of = {.wording = *base, .unobserved = {.allocator = allocator}};
    arrangement it = {.checker = checker, .count = count, .laps = &of.laps};
    it.entries = grout__new(allocator, count, sizeof *it.entries);
    it.order = grout__new(allocator, count, sizeof *it.order);
    it.members = grout__new(allocator, count, sizeof *it.members);
    it.topics = grout__new(allocator, ((size_t)count + 1) * TOPICS_OF_RECORD, sizeof *it.topics);
    if (listed && it.entries && it.order && it.members && it.topics &&
        note_unobserved(checker, &of.unobserved)) {
        add_entries(&it, list, &of);
        sort_entries(&it);
        add_topics(&it);
        arrange(&it, listed);
    } else {
        grout__free(listed);
        listed = NULL;
    }
    grout__free(it.entries);
    grout__free(it.order);
    grout__free(it.members);
    grout__free(it.topics);
    grout_lookup__deinit(&of.unobserved);
    return listed;
}
