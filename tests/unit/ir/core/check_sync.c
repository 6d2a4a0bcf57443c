/*
 * check_sync.c - what an op works on, does, posts, orders and waits for: these columns of sync.def
 * hold to each other, to effects.def, to the letters of the forms and to the attributes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Passes read the columns instead of names, so a wrong or forgotten value of a new op would be a
 * wrong verdict. Each function here is one rule over all ops. A rule that a new kind of op breaks
 * is to be thought about: either the line is wrong, or the rule says too much, and what relied on
 * it has to learn of the new case first. check_sync_lanes.c has the other columns.
 */
#include "op_rules.h"
#include "tests/tests.h"

/* ---- the object --------------------------------------------------------------------------------
 */

/* What goes with an object. A new one needs a line here: see the scopes and reaches of sync.def. */
typedef struct object_rule {
    const char *prefix; /* of the mnemonics of all its ops, and of no others; NULL: any */
    uint8_t kind;       /* grout_letter_kind of the operand that says which one; REST: none does */
    uint8_t space;      /* grout_effect_space of that operand */
    uint8_t scope;      /* grout_sync_scope */
} object_rule;

#define OBJECT_RULE(OBJECT, PREFIX, LETTER, SPACE, SCOPE)                                      \
    [GROUT_SYNC_OBJECT_##OBJECT] = {PREFIX, GROUT_LETTER_##LETTER, GROUT_EFFECT_SPACE_##SPACE, \
                                    GROUT_SYNC_SCOPE_##SCOPE}
static const object_rule object_rules[] = {
    OBJECT_RULE(BARRIER, "barrier_", BARRIER, BARRIER, SHARERS),
    OBJECT_RULE(MBARRIER, "mbarrier_", BARRIER, BARRIER, SHARERS),
    OBJECT_RULE(ANY_BARRIER, NULL, BARRIER, BARRIER, SHARERS),
    OBJECT_RULE(SEMAPHORE, "semaphore_", SEMAPHORE, SEMAPHORE, SYS),
    OBJECT_RULE(NAMED, "named_barrier_", REST, ANY, CTA),
    OBJECT_RULE(CTA, NULL, REST, ANY, CTA),
    OBJECT_RULE(CLUSTER, "cluster_", REST, ANY, CLUSTER),
    OBJECT_RULE(REGISTERS, NULL, REST, ANY, THREAD),
    OBJECT_RULE(PROXY, NULL, REST, ANY, THREAD),
    OBJECT_RULE(BULK, NULL, REST, ANY, THREAD),
    OBJECT_RULE(ASYNC_COPY, NULL, REST, ANY, THREAD),
    OBJECT_RULE(WGMMA, NULL, REST, ANY, THREAD),
    OBJECT_RULE(TCGEN05, NULL, REST, ANY, THREAD),
    OBJECT_RULE(TMEM_LOAD, NULL, REST, ANY, THREAD),
    OBJECT_RULE(TMEM_STORE, NULL, REST, ANY, THREAD),
    OBJECT_RULE(OBJECTS, NULL, REST, ANY, CTA),
    OBJECT_RULE(PARTS, NULL, REST, ANY, CTA),
    OBJECT_RULE(GRIDS, "griddepcontrol_", REST, ANY, SYS),
};
enum { OBJECT_COUNT = sizeof object_rules / sizeof *object_rules };

static const object_rule *get_object_rule(const op_facts *it) {
    return &object_rules[it->line.object < OBJECT_COUNT ? it->line.object : 0];
}

static void an_object_has_a_rule_here(const op_facts *it) {
    hold(it, it->line.object < OBJECT_COUNT,
         "its object is new: give it a line in object_rules of check_sync.c");
}

static void an_object_is_the_one_that_the_operand_names(const op_facts *it) {
    bool has_operand = has_kind(it, KIND(BARRIER) | KIND(SEMAPHORE));
    hold(it, has_operand == is_object(it, OPERANDS),
         "an op with a barrier or semaphore operand works on it, and no other op: see OBJECT");
    expect(it, has_operand, has_kind(it, 1u << get_object_rule(it)->kind),
           "its operand is a barrier and OBJECT a semaphore, or the other way round");
}

static void an_object_is_the_one_that_the_name_says(const op_facts *it) {
    for (uint32_t i = 0; i < OBJECT_COUNT; i++) {
        const char *prefix = object_rules[i].prefix;
        if (prefix != NULL) {
            hold(it,
                 is_object(it, 1u << i) == (strncmp(it->info->text, prefix, strlen(prefix)) == 0),
                 "ops of one kind of barrier, or of semaphores, begin with its name, and no "
                 "others: see OBJECT, or choose another mnemonic");
        }
    }
}

static void an_object_is_the_one_that_the_op_needs(const op_facts *it) {
    bool is_fork =
        it->region->kind == GROUT_REGION_WARPS || it->region->kind == GROUT_REGION_PARTITIONS;
    hold(it, is_object(it, OBJECT(PROXY)) == is_mode(it, MODE(FENCES)),
         "FENCES, and nothing else, works on PROXY");
    hold(it,
         is_object(it, OBJECT(REGISTERS)) ==
             takes(it, GROUT_ATTR_BIT(INCREASE) | GROUT_ATTR_BIT(DECREASE)),
         "what takes increase or decrease, and nothing else, works on REGISTERS");
    hold(it, is_object(it, OBJECT(OBJECTS)) == (it->region->kind == GROUT_REGION_SCOPE),
         "a region of kind SCOPE, and nothing else, works on OBJECTS");
    hold(it, is_object(it, OBJECT(PARTS)) == is_fork,
         "a region of kind WARPS or PARTITIONS, and nothing else, works on PARTS");
    hold(it, is_mode(it, MODE(FORKS)) == is_fork,
         "a region of kind WARPS or PARTITIONS, and nothing else, FORKS");
    expect(it, is_object(it, OBJECT(CTA)), is_mode(it, MODE(MEETS)),
           "the threads of the CTA can only meet: MODE is MEETS");
    expect(it, is_object(it, OBJECT(OBJECTS)), is_mode(it, MODE(MEETS)),
           "a scope that is entered together is a meeting: MODE is MEETS");
}

/* ---- what it does ------------------------------------------------------------------------------
 */

static void a_mode_fits_the_class(const op_facts *it) {
    enum {
        FREE = MODE(POSTS) | MODE(TESTS) | MODE(CLOSES) | MODE(FENCES) | MODE(MAKES) | MODE(ENDS),
        BLOCKING = MODE(WAITS) | MODE(MEETS) | MODE(FORKS)
    };
    bool starts = is_mode(it, MODE(STARTS)), covers = it->line.covers != 0;
    expect(it, it->class_ == GROUT_EFFECT_SYNC, is_mode(it, FREE),
           "its effect row has the class SYNC, which never blocks and starts no engine: change "
           "the class, or MODE");
    expect(it, it->class_ == GROUT_EFFECT_ASYNC, starts && !covers,
           "its effect row has the class ASYNC: MODE is STARTS, and it waits for nothing (COVERS "
           "is NONE)");
    expect(it, it->class_ == GROUT_EFFECT_BLOCKING, is_mode(it, BLOCKING) || (starts && covers),
           "its effect row has the class BLOCKING: MODE says on what it waits (WAITS, MEETS, "
           "FORKS, or STARTS with milestones in COVERS)");
}

static void an_engine_is_started(const op_facts *it) {
    bool has_engine = get_engine_milestones(it) != 0;
    hold(it, has_engine == is_mode(it, MODE(STARTS)),
         "an access that is over later than the op is an engine's, and STARTS has one: change "
         "MODE, or the milestones in effects.def");
    for (uint32_t i = 0; i < it->effect_count; i++) {
        const grout_effect *effect = &it->effects[i];
        bool is_memory = (MEMORY >> effect->access & 1) != 0;
        expect(it, has_engine && is_memory, effect->milestone != GROUT_MILESTONE_ISSUE,
               "one of its engine's accesses is over with the op (ISSUE), and others are not");
        expect(it, effect->proxy == GROUT_PROXY_ASYNC, has_engine && is_memory,
               "only engines use the async proxy, and only for memory");
    }
}

/* An engine's work is over with groups of the thread, or with the phase of a barrier. */
static void an_engine_tells_its_object(const op_facts *it) {
    enum { BULK = COVER(BULK_READ) | COVER(BULK_WRITE) };
    uint32_t milestones = get_engine_milestones(it);
    bool is_bulk = (milestones & BULK) != 0 && (milestones & ~(uint32_t)BULK) == 0;
    if (!is_mode(it, MODE(STARTS))) {
        return;
    }
    hold(it, (milestones == COVER(PHASE)) == is_object(it, BARRIERS),
         "accesses that are over with a PHASE are told to a barrier, and no others: see OBJECT");
    hold(it, is_bulk == is_object(it, OBJECT(BULK)),
         "BULK_READ and BULK_WRITE are milestones of BULK, and no others: see OBJECT");
    hold(it, (milestones == COVER(ASYNC_COPY)) == is_object(it, OBJECT(ASYNC_COPY)),
         "the milestone ASYNC_COPY is that of ASYNC_COPY: see OBJECT");
    hold(it, (milestones == COVER(WGMMA)) == is_object(it, OBJECT(WGMMA)),
         "the milestone WGMMA is that of WGMMA: see OBJECT");
    hold(
        it,
        (milestones == COVER(TCGEN05)) == is_object(it, OBJECT(TCGEN05)) &&
            (milestones == COVER(TMEM_LOAD)) == is_object(it, OBJECT(TMEM_LOAD)) &&
            (milestones == COVER(TMEM_STORE)) == is_object(it, OBJECT(TMEM_STORE)),
        "the milestones TCGEN05, TMEM_LOAD and TMEM_STORE are those of the objects of their names: "
        "see OBJECT");
    hold(it, is_object(it, BARRIERS | GROUPS),
         "nobody can wait for what it starts: OBJECT is a barrier or a group");
}

static void a_life_begins_and_ends_with_a_write(const op_facts *it) {
    bool writes_object = false;
    for (uint32_t i = 0; i < it->effect_count; i++) {
        bool is_write = (WRITING >> it->effects[i].access & 1) != 0;
        writes_object =
            writes_object || (is_write && (it->effects[i].space == GROUT_EFFECT_SPACE_BARRIER ||
                                           it->effects[i].space == GROUT_EFFECT_SPACE_SEMAPHORE));
    }
    hold(it, writes_object == is_mode(it, MODE(MAKES) | MODE(ENDS)),
         "what writes the bytes of a barrier, and nothing else, begins (MAKES) or ends (ENDS) its "
         "life");
    expect(it, is_mode(it, MODE(MAKES)), has_kind(it, KIND(CONSTANT)),
           "MAKES says how many arrivals a phase has: its form has a constant (k)");
    expect(it, is_mode(it, MODE(ENDS)), strlen(it->info->operands) == 1,
           "ENDS takes the object, and nothing else");
}

/* ---- what it posts -----------------------------------------------------------------------------
 */

static void an_arrival_fits_the_mode(const op_facts *it) {
    enum { SILENT = MODE(TESTS) | MODE(CLOSES) | MODE(FENCES) | MODE(MAKES) | MODE(ENDS) };
    bool is_later = it->line.arrival == GROUT_SYNC_ARRIVAL_LATER;
    expect(it, is_mode(it, MODE(POSTS)), has_arrival(it),
           "POSTS makes progress for others: ARRIVAL is NOW or LATER");
    expect(it, is_mode(it, MODE(MEETS) | MODE(FORKS)), has_arrival(it) && !is_later,
           "what waits for others has come itself: ARRIVAL is NOW");
    expect(it, is_mode(it, SILENT), !has_arrival(it), "its MODE posts nothing: ARRIVAL is NONE");
    expect(it, is_mode(it, MODE(WAITS)),
           has_arrival(it) == takes(it, GROUT_ATTR_BIT(DECREASE)) && !is_later,
           "WAITS posts nothing (NONE), unless it can give back (decrease: NOW)");
    expect(it, is_mode(it, MODE(STARTS)),
           has_arrival(it) == is_object(it, BARRIERS) && is_later == has_arrival(it),
           "an engine tells a barrier when it is done (LATER), and a group nothing (NONE)");
}

static const grout_letter_info *get_letter(const op_facts *it, const grout_effect *effect) {
    return grout_letter_get_info(it->info->operands[effect->operand]);
}

static bool is_group_of_all_lanes(grout_milestone milestone) {
    bool is_found = false;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts it = get_facts(i, NULL);
        is_found = is_found || (is_mode(&it, MODE(STARTS)) && is_object(&it, GROUPS) &&
                                is_lanes(&it, LANES(OWN)) &&
                                (get_engine_milestones(&it) >> milestone & 1) != 0);
    }
    return is_found;
}

/* Deadlock reports look for those who can post by effects, certificates and plans by columns. */
static void a_post_is_an_effect_on_the_object(const op_facts *it) {
    const grout_effect *post = find_effect(it, POSTING);
    expect(it, has_arrival(it) && is_object(it, OPERANDS), post != NULL,
           "it posts on its operand: effects.def needs a line ARRIVE, BYTES or SIGNAL for it, or "
           "ARRIVAL is NONE");
    if (post == NULL) {
        return;
    }
    hold(it, has_arrival(it) && is_object(it, OPERANDS),
         "its effects post (ARRIVE, BYTES, SIGNAL): OBJECT is a barrier or semaphore, ARRIVAL not "
         "NONE");
    hold(it, is_kind(get_letter(it, post), 1u << get_object_rule(it)->kind),
         "it posts on another operand than its object: see effects.def");
    hold(it, (post->access == GROUT_ACCESS_SIGNAL) == is_object(it, OBJECT(SEMAPHORE)),
         "semaphores are signalled, barriers get arrivals or bytes: see effects.def");
    expect(it, post->access == GROUT_ACCESS_BYTES, is_mode(it, MODE(STARTS)),
           "only an engine brings bytes: MODE is STARTS");
    expect(it, is_mode(it, MODE(POSTS)),
           (it->line.arrival == GROUT_SYNC_ARRIVAL_LATER) ==
               (post->milestone != GROUT_MILESTONE_ISSUE),
           "an arrival whose milestone is ISSUE counts NOW, any other LATER: change ARRIVAL, or "
           "effects.def");
    expect(it, post->milestone != GROUT_MILESTONE_ISSUE,
           is_group_of_all_lanes((grout_milestone)post->milestone) ||
               post->milestone == GROUT_MILESTONE_TCGEN05,
           "it counts for what the lanes have started themselves: its milestone is that of a "
           "group which all of them fill (LANES OWN), or of the tensor core's one lane");
    expect(it, is_mode(it, MODE(STARTS)), post->milestone == GROUT_MILESTONE_ISSUE,
           "what an engine brings is announced when it starts: the milestone is ISSUE");
}

/* Rows of effects.def whose lines are the same, and whose words are not: the manual prints them. */
static void a_row_says_what_the_operands_say(const op_facts *it) {
    uint8_t row = it->info->effect_row;
    bool is_parity = row == GROUT_EFFECT_ROW_PARITY_WAIT || row == GROUT_EFFECT_ROW_PARITY_TEST;
    bool has_bytes = is_mode(it, MODE(POSTS)) && is_object(it, BARRIERS) && has_letter(it, "i");
    hold(it, (row == GROUT_EFFECT_ROW_EXPECT) == has_bytes,
         "the effect row EXPECT announces bytes: it is of what POSTS a number of them (i) on a "
         "barrier, and of nothing else; without bytes the row is ARRIVE");
    hold(it, is_parity == has_letter(it, "p"),
         "PARITY_WAIT and PARITY_TEST are the effect rows of what takes a parity (p), and of "
         "nothing else; without one: WAIT, TEST");
}

/* ANY_BARRIER is both kinds. */
static bool is_like(const op_facts *it, const op_facts *other) {
    return it->sync != NULL && other->sync != NULL &&
           (it->line.object == other->line.object ||
            (is_object(it, OBJECT(ANY_BARRIER)) && is_object(other, BARRIERS)) ||
            (is_object(other, OBJECT(ANY_BARRIER)) && is_object(it, BARRIERS)));
}

/* What a row's words say of an object, they say of all its ops. */
static void a_row_has_one_object(const op_facts *it) {
    enum { LIFE = MODE(MAKES) | MODE(ENDS) };
    for (int i = 1; i < GROUT_OP_COUNT && it->sync != NULL; i++) {
        op_facts other = get_facts(i, it->faults);
        bool is_same = it->info->effect_row == other.info->effect_row && other.sync != NULL;
        bool has_object =
            is_like(it, &other) || (is_object(it, BARRIERS) && is_object(&other, BARRIERS));
        expect(it, is_same,
               has_object && (it->line.mode == other.line.mode ||
                              (is_mode(it, LIFE) && is_mode(&other, LIFE))),
               "an op with another OBJECT or MODE has the same effect row: one of them needs "
               "another row of effects.def");
    }
}

static void only_barriers_are_told_later(const op_facts *it) {
    expect(it, it->line.arrival == GROUT_SYNC_ARRIVAL_LATER, is_object(it, BARRIERS),
           "only a barrier can be told later: ARRIVAL is NOW or NONE");
}

static void a_wait_is_an_effect_on_the_object(const op_facts *it) {
    const grout_effect *wait = find_effect(it, ACCESS(WAIT));
    bool waits = has_acquire(it) || is_mode(it, MODE(WAITS));
    expect(it, waits && is_object(it, OPERANDS), wait != NULL,
           "it waits on its operand, or acquires from it: effects.def needs a line WAIT for it");
    expect(it, is_mode(it, MODE(TESTS)), wait != NULL || has_effect(it, ACCESS(READ)),
           "it looks at its object: effects.def needs a line WAIT, or READ if it acquires nothing");
    if (wait == NULL) {
        return;
    }
    hold(it, has_acquire(it) && is_mode(it, MODE(WAITS) | MODE(TESTS) | MODE(MEETS)),
         "its effects wait: SIDE is ACQUIRE or BOTH, and MODE is WAITS, TESTS or MEETS");
    hold(it, is_kind(get_letter(it, wait), 1u << get_object_rule(it)->kind),
         "it waits on another operand than its object: see effects.def");
}

static void a_space_fits_the_object(const op_facts *it) {
    bool has_own = false;
    for (uint32_t i = 0; i < it->effect_count; i++) {
        uint8_t space = it->effects[i].space;
        bool is_own = space == GROUT_EFFECT_SPACE_BARRIER || space == GROUT_EFFECT_SPACE_SEMAPHORE;
        has_own = has_own || is_own;
        expect(it, is_own, is_object(it, OPERANDS) && get_object_rule(it)->space == space,
               "an effect's SPACE is BARRIER or SEMAPHORE: so is OBJECT");
        expect(it, space == GROUT_EFFECT_SPACE_ACC && it->sync != NULL,
               is_object(it, OBJECT(WGMMA)), "it touches accumulators: OBJECT is WGMMA");
    }
    hold(it, has_own == is_object(it, OPERANDS),
         "its object is an operand: effects.def needs a line for it");
}

/* ---- what it orders ----------------------------------------------------------------------------
 */

static void a_side_fits_the_mode(const op_facts *it) {
    enum {
        OWN = GROUPS | OBJECT(PROXY) | OBJECT(REGISTERS),
        SILENT = MODE(CLOSES) | MODE(FENCES) | MODE(MAKES) | MODE(ENDS)
    };
    uint8_t side = it->line.side;
    expect(it, is_mode(it, MODE(POSTS)),
           side == (is_object(it, OBJECT(GRIDS)) ? GROUT_SYNC_SIDE_NONE : GROUT_SYNC_SIDE_RELEASE),
           "what is posted is released: SIDE is RELEASE; but a grid that lets the next one begin "
           "releases nothing: of GRIDS it is NONE");
    expect(it, is_mode(it, MODE(STARTS)),
           side == (has_arrival(it) ? GROUT_SYNC_SIDE_RELEASE : GROUT_SYNC_SIDE_NONE),
           "an engine that posts releases what it did: SIDE is RELEASE, of others NONE");
    expect(it, is_mode(it, MODE(WAITS)),
           side == (is_object(it, OWN) ? GROUT_SYNC_SIDE_NONE : GROUT_SYNC_SIDE_ACQUIRE),
           "a wait acquires from those who posted: SIDE is ACQUIRE, of a wait for its own NONE");
    expect(it, is_mode(it, MODE(MEETS) | MODE(FORKS)), side == GROUT_SYNC_SIDE_BOTH,
           "what meets, or forks and joins, releases and acquires: SIDE is BOTH");
    expect(it, is_mode(it, MODE(TESTS)), (side & GROUT_SYNC_SIDE_RELEASE) == 0,
           "a test posts nothing: SIDE is ACQUIRE or NONE");
    expect(it, is_mode(it, SILENT), side == GROUT_SYNC_SIDE_NONE,
           "its MODE orders nothing between threads: SIDE is NONE");
}

static void a_scope_fits_the_object(const op_facts *it) {
    expect(it, it->sync != NULL, it->line.scope == get_object_rule(it)->scope,
           "SCOPE is that of all who can use the object: THREAD for what is the thread's own, "
           "CTA, CLUSTER, SHARERS for barriers, SYS for semaphores");
}

static void a_reach_fits_the_object(const op_facts *it) {
    uint8_t reach = it->line.reach;
    uint8_t of_mbarrier =
        takes(it, GROUT_ATTR_BIT(FROM_CTA)) ? GROUT_SYNC_REACH_PEER : GROUT_SYNC_REACH_OWN;
    uint8_t of_any = has_effect(it, ACCESS(BYTES))                ? GROUT_SYNC_REACH_CLUSTER
                     : it->line.tensor == GROUT_SYNC_TENSOR_SEALS ? GROUT_SYNC_REACH_PEER
                                                                  : GROUT_SYNC_REACH_OWN;
    uint8_t of_barrier =
        is_mode(it, MODE(POSTS)) ? GROUT_SYNC_REACH_PEER : GROUT_SYNC_REACH_CLUSTER;
    expect(it, is_object(it, OBJECT(BARRIER)), reach == of_barrier,
           "an arrival can be on the barrier of any CTA (PEER), and all else is where the barrier "
           "lies, or the cluster shares it (CLUSTER)");
    expect(it, is_object(it, OBJECT(CLUSTER)), reach == GROUT_SYNC_REACH_CLUSTER,
           "a cluster has a barrier of its own: REACH is CLUSTER");
    expect(it, is_object(it, OBJECT(SEMAPHORE)), reach == GROUT_SYNC_REACH_GRID,
           "a semaphore is the grid's: REACH is GRID");
    expect(it, is_object(it, OBJECT(MBARRIER)), reach == of_mbarrier,
           "what takes from_cta is done by any CTA (PEER), and all else where the mbarrier lies "
           "(OWN)");
    expect(
        it, is_object(it, OBJECT(ANY_BARRIER)), reach == of_any,
        "a cluster barrier counts the arrives of CTAs: OWN, CLUSTER for what only brings bytes, or "
        "PEER for what the tensor core sends");
    expect(it, is_object(it, OBJECT(GRIDS)), reach == GROUT_SYNC_REACH_GRID,
           "a grid waits for another one, and lets a third begin: REACH is GRID");
    expect(it, it->sync != NULL && !is_object(it, OPERANDS | OBJECT(CLUSTER) | OBJECT(GRIDS)),
           reach == GROUT_SYNC_REACH_OWN, "no other CTA has to do with its object: REACH is OWN");
}

/* ---- what is over when it comes back -----------------------------------------------------------
 */

/* The milestones of all engines that tell their end to this kind of group. */
static uint32_t get_group_milestones(uint8_t object) {
    uint32_t milestones = 0;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts it = get_facts(i, NULL);
        if (is_mode(&it, MODE(STARTS)) && it.line.object == object) {
            milestones |= get_engine_milestones(&it);
        }
    }
    return milestones;
}

static void covers_are_the_milestones_of_the_object(const op_facts *it) {
    uint32_t covers = it->line.covers, own = get_group_milestones(it->line.object);
    expect(it, is_mode(it, MODE(WAITS)) && is_object(it, GROUPS), covers == own,
           "a wait for groups covers the milestones of the engines that fill them: compare COVERS "
           "with their lines in effects.def");
    expect(it, is_mode(it, MODE(STARTS)) && covers != 0, covers == own && is_object(it, GROUPS),
           "what starts an engine can wait only for that engine's groups: see COVERS");
    hold(it, (covers == COVER(PHASE)) == (is_object(it, BARRIERS) && has_acquire(it)),
         "what waits on a barrier or tests it, and nothing else, covers PHASE");
    expect(it, covers != 0,
           is_object(it, BARRIERS | GROUPS) &&
               is_mode(it, MODE(WAITS) | MODE(TESTS) | MODE(STARTS)),
           "it waits for nothing that an engine does: COVERS is NONE");
}

TEST_FROM(each_milestone_is_covered_by_some_op, GROUT_MILESTONE_ISSUE + 1,
          GROUT_MILESTONE_TMEM_STORE + 1) {
    bool is_covered = _i == GROUT_MILESTONE_TCGEN05; /* a commit makes it a phase */
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts it = get_facts(i, NULL);
        is_covered = is_covered || (is_mode(&it, MODE(WAITS)) && (it.line.covers >> _i & 1) != 0);
    }
    ck_assert_msg(is_covered, "milestone %d of effects.def: no wait of sync.def covers it", _i);
}

static void what_is_started_can_be_waited_for(const op_facts *it) {
    uint32_t waiting = 0, closing = 0;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts other = get_facts(i, it->faults);
        if (other.sync != NULL && other.line.object == it->line.object) {
            waiting += is_mode(&other, MODE(WAITS)) ? 1 : 0;
            closing += is_mode(&other, MODE(CLOSES)) ? 1 : 0;
        }
    }
    if (!is_mode(it, MODE(STARTS)) || !is_object(it, GROUPS)) {
        return;
    }
    hold(it, waiting > 0 || is_object(it, OBJECT(TCGEN05)),
         "no op WAITS for its groups, and no commit tells a barrier");
    hold(it, closing <= 1, "several ops close its groups: one of them has the wrong OBJECT");
    expect(it, takes(it, GROUT_ATTR_BIT(NO_COMMIT_GROUP)), closing == 1,
           "it can leave its group open, and no op CLOSES it");
}

static void what_is_closed_was_started(const op_facts *it) {
    expect(it, is_mode(it, MODE(CLOSES)),
           is_object(it, GROUPS) && get_group_milestones(it->line.object) != 0,
           "CLOSES works on groups that something STARTS: see OBJECT");
    expect(it, is_mode(it, MODE(CLOSES)), !is_object(it, OBJECT(WGMMA)),
           "each wgmma is a group of its own, and nothing closes it: see OBJECT");
}

static void a_wait_has_a_post_and_a_post_a_wait(const op_facts *it) {
    enum { LOOKING = MODE(WAITS) | MODE(MEETS) | MODE(TESTS) };
    bool is_served = is_object(it, GROUPS), is_awaited = false;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts other = get_facts(i, it->faults);
        is_served = is_served || (is_like(it, &other) && has_arrival(&other));
        is_awaited = is_awaited || (is_like(it, &other) &&
                                    is_mode(&other, MODE(WAITS) | MODE(MEETS) | MODE(FORKS)));
    }
    expect(it, is_mode(it, LOOKING), is_served,
           "no op posts what it waits for: see OBJECT and ARRIVAL");
    expect(it, has_arrival(it), is_awaited, "no op waits for what it posts: see OBJECT and MODE");
}

static void what_is_made_is_ended(const op_facts *it) {
    uint32_t makes = 0, ends = 0;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts other = get_facts(i, it->faults);
        if (it->sync != NULL && other.sync != NULL && other.line.object == it->line.object) {
            makes += is_mode(&other, MODE(MAKES)) ? 1 : 0;
            ends += is_mode(&other, MODE(ENDS)) ? 1 : 0;
        }
    }
    hold(it, makes == ends && makes <= 1, "one op MAKES its object and one ENDS it, or none does");
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static const op_rule rules[] = {
    RULE(an_object_has_a_rule_here),
    RULE(an_object_is_the_one_that_the_operand_names),
    RULE(an_object_is_the_one_that_the_name_says),
    RULE(an_object_is_the_one_that_the_op_needs),
    RULE(a_mode_fits_the_class),
    RULE(an_engine_is_started),
    RULE(an_engine_tells_its_object),
    RULE(a_life_begins_and_ends_with_a_write),
    RULE(an_arrival_fits_the_mode),
    RULE(a_post_is_an_effect_on_the_object),
    RULE(a_row_says_what_the_operands_say),
    RULE(a_row_has_one_object),
    RULE(only_barriers_are_told_later),
    RULE(a_wait_is_an_effect_on_the_object),
    RULE(a_space_fits_the_object),
    RULE(a_side_fits_the_mode),
    RULE(a_scope_fits_the_object),
    RULE(a_reach_fits_the_object),
    RULE(covers_are_the_milestones_of_the_object),
    RULE(what_is_started_can_be_waited_for),
    RULE(what_is_closed_was_started),
    RULE(a_wait_has_a_post_and_a_post_a_wait),
    RULE(what_is_made_is_ended),
};

TEST_EACH(each_op_keeps_the_rule, COUNT_OF(rules)) {
    check_rule(&rules[_i]);
}
