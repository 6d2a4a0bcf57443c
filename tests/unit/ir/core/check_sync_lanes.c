/*
 * check_sync_lanes.c - how lanes and warps take part in an op, what advice asks about it, and which
 * attributes, results and operands go with its line of sync.def: see check_sync.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_rules.h"
#include "tests/tests.h"

/* ---- lanes -------------------------------------------------------------------------------------
 */

/* The lanes that start the work of this kind of groups. */
static uint32_t get_starting_lanes(uint8_t object) {
    uint32_t lanes = 0;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        op_facts it = get_facts(i, NULL);
        if (is_mode(&it, MODE(STARTS)) && it.line.object == object) {
            lanes |= 1u << it.line.lanes;
        }
    }
    return lanes;
}

static void lanes_of_what_posts(const op_facts *it) {
    bool is_later = it->line.arrival == GROUT_SYNC_ARRIVAL_LATER;
    bool is_written = is_object(it, OBJECT(MBARRIER) | OBJECT(SEMAPHORE));
    if (!is_mode(it, MODE(POSTS))) {
        return;
    }
    const bool is_tensor = it->line.tensor == GROUT_SYNC_TENSOR_SEALS;
    expect(it, is_later, is_lanes(it, is_tensor ? LANES(ONE) : LANES(EACH)),
           "it counts for what each lane has started: LANES is EACH; or for what one lane has on "
           "the tensor core: ONE");
    expect(it, !is_later && is_written, is_lanes(it, LANES(ONE)),
           "its object counts as written, not by lanes: LANES is ONE");
    expect(it, !is_later && is_object(it, OBJECT(BARRIER) | OBJECT(ANY_BARRIER)),
           is_lanes(it, LANES(ONE) | LANES(ANY)),
           "a barrier counts threads: LANES is ONE, or ANY if the plan chooses how many arrive");
    expect(it, !is_object(it, OPERANDS | OBJECT(GRIDS)), is_lanes(it, LANES(EACH)),
           "barriers of the hardware count lanes: LANES is EACH");
    expect(it, is_object(it, OBJECT(GRIDS)), is_lanes(it, LANES(ANY)),
           "a grid counts CTAs, and a lane may come often: LANES is ANY");
}

static void lanes_of_what_waits(const op_facts *it) {
    uint32_t of_look = has_acquire(it) ? LANES(VOTE) : LANES(ONE) | LANES(VOTE);
    expect(it, is_mode(it, MODE(TESTS)), is_lanes(it, of_look),
           "the lanes of a thread agree on what a test found: LANES is VOTE, or ONE if it acquires "
           "nothing");
    expect(it, is_mode(it, MODE(WAITS)) && is_object(it, BARRIERS),
           is_lanes(it, LANES(ANY) | LANES(VOTE)),
           "each lane comes out of a wait on a barrier, or all meet after it: LANES is ANY or "
           "VOTE");
    expect(it, is_mode(it, MODE(WAITS)) && is_object(it, OBJECT(SEMAPHORE)),
           is_lanes(it, LANES(VOTE)),
           "units are taken once, and no lane goes on before: LANES is VOTE");
    expect(it, is_mode(it, MODE(MEETS)) && !is_object(it, OBJECT(CLUSTER)),
           is_lanes(it, LANES(MEET)), "the lanes of the threads meet: LANES is MEET");
    expect(it, is_object(it, OBJECT(CLUSTER)), is_lanes(it, LANES(EACH)),
           "the barrier of the cluster counts lanes: LANES is EACH");
    expect(it, is_object(it, OBJECT(REGISTERS)), is_lanes(it, LANES(OWN)),
           "each warp changes its own registers: LANES is OWN");
}

static void lanes_of_groups(const op_facts *it) {
    uint32_t starting = get_starting_lanes(it->line.object);
    bool is_wait = is_mode(it, MODE(WAITS));
    bool is_of_warps = is_object(it, OBJECT(WGMMA) | OBJECT(TMEM_LOAD) | OBJECT(TMEM_STORE));
    if (!is_object(it, GROUPS)) {
        return;
    }
    expect(it, is_mode(it, MODE(CLOSES)), is_lanes(it, starting),
           "the lanes that start a group's work close it: LANES is that of what STARTS");
    expect(it, is_wait && starting == LANES(ONE), is_lanes(it, LANES(VOTE)),
           "one lane has started the groups and can wait for them, and the others for it: LANES is "
           "VOTE");
    expect(it, is_wait && starting == LANES(OWN) && !is_of_warps, is_lanes(it, LANES(MEET)),
           "each lane waits for its own groups, and has to know of all: LANES is MEET");
    expect(it, is_wait && is_of_warps, is_lanes(it, LANES(OWN)),
           "each warp waits for its share of what the four started together: LANES is OWN");
    hold(it, starting == LANES(ONE) || starting == LANES(OWN),
         "one op starts its groups with one lane, another with all");
}

/* What launch control does. */
static bool asks_for_clusters(const op_facts *it) {
    return it->info->effect_row == GROUT_EFFECT_ROW_CANCEL;
}

static void lanes_of_all_else(const op_facts *it) {
    bool is_tma = has_letter(it, "G"); /* the tensor map */
    const bool is_mma = is_object(it, OBJECT(TCGEN05));
    const bool is_of_one = is_tma || is_mma || asks_for_clusters(it);
    expect(it, is_mode(it, MODE(STARTS)), is_lanes(it, is_of_one ? LANES(ONE) : LANES(OWN)),
           "one lane issues the copies of TMA, the MMAs of tcgen05 and requests of launch control "
           "(ONE), of all else each has its share (OWN)");
    const bool is_of_memory = has_effect(it, ACCESS(READ));
    expect(it, is_mode(it, MODE(FENCES)) && !is_of_memory, is_lanes(it, LANES(MEET)),
           "each lane fences what it did, and then one lets the engine go: LANES is MEET");
    expect(it, is_mode(it, MODE(FENCES)) && is_of_memory, is_lanes(it, LANES(ONE)),
           "the lane that issues the copies acquires what they read: LANES is ONE");
    expect(it, is_mode(it, MODE(FORKS)), is_lanes(it, LANES(MEET)),
           "the lanes part and meet again: LANES is MEET");
    expect(it, is_mode(it, MODE(MAKES) | MODE(ENDS)), is_lanes(it, LANES(OWN)),
           "each lane does some of the elements, and a rendezvous follows: LANES is OWN");
}

static void a_warp_map_takes_what_a_warp_can_do(const op_facts *it) {
    bool has_reason = it->sync != NULL && it->line.warp[0] != '\0';
    bool is_counted = is_object(it, OBJECT(NAMED)); /* by the lanes that come */
    bool needs_all = is_lanes(it, LANES(EACH)) || has_letter(it, "w") || /* rows, an array */
                     (is_lanes(it, LANES(OWN)) && !is_mode(it, MODE(MAKES) | MODE(ENDS))) ||
                     (is_lanes(it, LANES(MEET)) && !is_mode(it, MODE(FENCES)));
    needs_all = needs_all && !is_counted;
    expect(it, needs_all, has_reason,
           "all lanes of the thread belong to it, and a warp has a quarter of them: WARP says why "
           "it cannot stand in a warp_map");
    expect(it, has_reason && !is_counted, needs_all,
           "one lane can do it for all, so a warp can: WARP is empty");
    for (uint32_t i = 0; i < it->effect_count; i++) {
        expect(it, it->effects[i].space == GROUT_EFFECT_SPACE_ACC && it->sync != NULL, has_reason,
               "it uses accumulators, which belong to all four warps: WARP says so");
    }
    expect(it, has_reason, strlen(it->line.warp) > 10 && strchr(it->line.warp, '.') == NULL,
           "WARP is a reason in words, without a full stop");
}

/* ---- advice and the tensor core ----------------------------------------------------------------
 */

static void advice_asks_where_it_can(const op_facts *it) {
    uint8_t redundant = it->line.redundant;
    bool only_waits = is_mode(it, MODE(WAITS)) && !has_effect(it, MEMORY) &&
                      is_object(it, GROUPS | OBJECT(MBARRIER));
    bool is_pair = is_object(it, OBJECT(BARRIER)) && is_mode(it, MODE(POSTS) | MODE(WAITS));
    bool is_meeting = is_object(it, OBJECT(CTA) | OBJECT(CLUSTER)) && is_mode(it, MODE(MEETS));
    hold(it, (redundant == GROUT_SYNC_REDUNDANT_COMMIT) == is_mode(it, MODE(FENCES)),
         "FENCES, and nothing else, is asked about as a COMMIT");
    hold(it, (redundant == GROUT_SYNC_REDUNDANT_WAIT) == only_waits,
         "what only waits for groups, or for a parity, is asked about as a WAIT, and nothing else");
    hold(it, (redundant == GROUT_SYNC_REDUNDANT_PAIR) == is_pair,
         "arrivals and waits whose phases are counted go only together (PAIR), and nothing else");
    hold(it, (redundant == GROUT_SYNC_REDUNDANT_BARRIER) == is_meeting,
         "a meeting of the CTA or the cluster is asked about as a BARRIER, and nothing else: "
         "without one of its threads the count of a named barrier is wrong");
}

/* tcgen05.commit has the fence in it; a fence of its own (tcgen05.fence) is part of the arrives and
 * waits on a barrier that orders the tensor core. */
static void the_tensor_core_is_ordered_by_its_own(const op_facts *it) {
    bool is_commit = is_mode(it, MODE(POSTS)) && is_object(it, BARRIERS) &&
                     it->line.arrival == GROUT_SYNC_ARRIVAL_LATER &&
                     it->line.tensor == GROUT_SYNC_TENSOR_SEALS;
    bool is_copy =
        is_commit && find_effect(it, ACCESS(ARRIVE))->milestone == GROUT_MILESTONE_ASYNC_COPY;
    expect(it, it->line.tensor != GROUT_SYNC_TENSOR_NO, is_commit && !is_copy,
           "TENSOR is NO: only an arrival that counts for the tensor core's operations (LATER) "
           "SEALS them; fences of the tensor core get an object of their own, and a rule here");
}

/* ---- attributes --------------------------------------------------------------------------------
 */

static void an_order_is_said_where_there_is_one(const op_facts *it) {
    bool is_update = it->info->update != GROUT_UPDATE_NONE;
    bool has_side = it->sync != NULL && it->line.side != GROUT_SYNC_SIDE_NONE;
    bool is_wide =
        it->line.scope == GROUT_SYNC_SCOPE_SHARERS || it->line.scope == GROUT_SYNC_SCOPE_SYS;
    bool is_start =
        is_mode(it, MODE(POSTS)) && is_object(it, OBJECT(GRIDS)); /* releases if asked */
    expect(it, takes(it, GROUT_ATTR_BIT(ORDER)), has_side || is_update || is_start,
           "it takes order(..): SIDE says what it is without, it is a GROUT_ATOMIC, or it lets a "
           "grid begin");
    expect(it, takes(it, GROUT_ATTR_BIT(SCOPE)), (has_side && is_wide) || is_update,
           "it takes scope(..): its SIDE is not NONE, and its SCOPE not a fixed one");
    expect(it, takes(it, GROUT_ATTR_BIT(ORDER)) && it->sync != NULL,
           it->line.arrival != GROUT_SYNC_ARRIVAL_LATER || is_mode(it, MODE(POSTS)),
           "what an engine did is released in any case: what STARTS one takes no order(..)");
}

/* The same words for all that post, wait or look where the scope is not a fixed one. */
static void an_order_and_its_scope_go_together(const op_facts *it) {
    enum { SPEAKING = MODE(POSTS) | MODE(WAITS) | MODE(TESTS) };
    bool is_update = it->info->update != GROUT_UPDATE_NONE;
    bool is_wide =
        it->line.scope == GROUT_SYNC_SCOPE_SHARERS || it->line.scope == GROUT_SYNC_SCOPE_SYS;
    bool is_of_grids = is_object(it, OBJECT(GRIDS)); /* a whole grid ends, and nobody releases */
    bool is_edge = is_mode(it, SPEAKING) && is_wide && !is_of_grids &&
                   it->line.side != GROUT_SYNC_SIDE_NONE &&
                   it->line.arrival != GROUT_SYNC_ARRIVAL_LATER;
    expect(it, is_edge, takes(it, GROUT_ATTR_BIT(ORDER)),
           "ATTRS lacks ORDER: its SIDE is not NONE, and a kernel may say order(relaxed)");
    expect(it, is_edge || is_update, takes(it, GROUT_ATTR_BIT(SCOPE)),
           "ATTRS lacks SCOPE: several scopes can be meant, and what orders says for whom");
    expect(it, takes(it, GROUT_ATTR_BIT(SCOPE)), takes(it, GROUT_ATTR_BIT(ORDER)) || is_update,
           "it takes scope(..) and no order(..): remove SCOPE from ATTRS");
    expect(it, is_update, takes(it, GROUT_ATTR_BIT(ORDER)) == (it->info->results == 1),
           "an atomic that returns the old value can acquire and release (ORDER), and no other");
}

/* Predicates of attr_rules: what an op has to be to take an attribute, which is read there only. */

static bool has_rule(const op_facts *it, grout_rule rule) {
    return it->info->rule == rule;
}

static bool has_dimensions(const op_facts *it) {
    return has_rule(it, GROUT_RULE_BROADCAST) || has_rule(it, GROUT_RULE_IOTA) ||
           has_rule(it, GROUT_RULE_REDUCE) || has_rule(it, GROUT_RULE_CONCATENATE) ||
           has_rule(it, GROUT_RULE_SCAN) || has_rule(it, GROUT_RULE_GATHER) ||
           has_rule(it, GROUT_RULE_SCATTER) || has_rule(it, GROUT_RULE_GATHER_COPY);
}

static bool copies_picks(const op_facts *it) {
    return has_rule(it, GROUT_RULE_MASKED_COPY) || has_rule(it, GROUT_RULE_GATHER_COPY);
}

static bool is_function(const op_facts *it) {
    return it->info->ulp > 0;
}

static bool is_layout(const op_facts *it) {
    return has_rule(it, GROUT_RULE_LAYOUT);
}

static bool adds_products(const op_facts *it) {
    return it->info->types == GROUT_TYPES_MMA;
}

static bool is_transposition(const op_facts *it) {
    return has_rule(it, GROUT_RULE_TRANSPOSE);
}

static bool is_scan(const op_facts *it) {
    return has_rule(it, GROUT_RULE_SCAN);
}

static bool counts_up(const op_facts *it) {
    return it->region->kind == GROUT_REGION_LOOP && it->region->lead_args == 1;
}

static bool is_scope(const op_facts *it) {
    return it->region->kind == GROUT_REGION_SCOPE;
}

/* One arrival can be made several times; bytes (k) have a number of their own. */
static bool makes_arrivals(const op_facts *it) {
    return is_mode(it, MODE(POSTS)) && is_object(it, BARRIERS) && has_effect(it, ACCESS(ARRIVE)) &&
           it->line.arrival == GROUT_SYNC_ARRIVAL_NOW && !has_letter(it, "k");
}

static bool posts_on_mbarriers(const op_facts *it) {
    return is_mode(it, MODE(POSTS)) && is_object(it, OBJECT(MBARRIER));
}

static bool takes_units(const op_facts *it) {
    return is_mode(it, MODE(WAITS)) && is_object(it, OBJECT(SEMAPHORE));
}

static bool may_wait_for_groups(const op_facts *it) {
    return is_mode(it, MODE(WAITS)) && is_object(it, GROUPS) && !has_letter(it, "k");
}

static bool waits_for_both_sides(const op_facts *it) {
    return is_mode(it, MODE(WAITS)) && is_object(it, OBJECT(BULK)) &&
           it->line.covers == (COVER(BULK_READ) | COVER(BULK_WRITE));
}

static bool fills_a_group(const op_facts *it) {
    return is_mode(it, MODE(STARTS)) && is_object(it, GROUPS);
}

static bool fences_smem(const op_facts *it) {
    return is_mode(it, MODE(FENCES)) && it->info->effect_row == GROUT_EFFECT_ROW_COMMIT_SMEM;
}

/* The tensor map of 'G' and the barrier of each CTA are what the axes are about. */
static bool loads_by_tma(const op_facts *it) {
    return is_mode(it, MODE(STARTS)) && is_object(it, BARRIERS) && has_letter(it, "G") &&
           has_effect(it, ACCESS(ARRIVE));
}

static bool is_shared_by_ctas(const op_facts *it) {
    return loads_by_tma(it) || asks_for_clusters(it);
}

/* The tensor core itself arrives. */
static bool is_commit(const op_facts *it) {
    return it->sync != NULL && it->line.tensor == GROUT_SYNC_TENSOR_SEALS &&
           has_effect(it, ACCESS(ARRIVE));
}

static bool sends_to_several(const op_facts *it) {
    return is_shared_by_ctas(it) || is_commit(it);
}

static bool works_for_pairs(const op_facts *it) {
    return it->info->rule == GROUT_RULE_TCGEN05 || it->info->rule == GROUT_RULE_TCGEN05_COPY ||
           is_commit(it);
}

static bool loads_pixels(const op_facts *it) {
    return it->info->rule == GROUT_RULE_IM2COL;
}

static bool moves_boxes(const op_facts *it) {
    return (is_mode(it, MODE(STARTS)) && has_letter(it, "G")) ||
           has_rule(it, GROUT_RULE_DESCRIPTOR);
}

static bool counts_lanes(const op_facts *it) {
    return is_object(it, OBJECT(NAMED));
}

static bool changes_registers(const op_facts *it) {
    return is_mode(it, MODE(WAITS)) && is_object(it, OBJECT(REGISTERS));
}

/* Into a box by TMA, or with values of the thread. */
static bool writes_by_an_engine(const op_facts *it) {
    const grout_effect *write = find_effect(it, ACCESS(WRITE));
    return is_mode(it, MODE(STARTS)) && write != NULL &&
           (it->info->operands[write->operand] == 'G' || has_rule(it, GROUT_RULE_STORE));
}

/* Rules above. */
static bool is_ordered(const op_facts *it) {
    return it->sync != NULL || it->info->update != GROUT_UPDATE_NONE;
}

/* Attributes, and what an op has to be to take them. An op that takes another is accepted, and
 * nobody reads what is written there. */
typedef struct attr_rule {
    uint64_t attrs; /* GROUT_ATTR_BIT(..) */
    bool (*fits)(const op_facts *it);
    const char *advice;
} attr_rule;

enum {
    LAYOUTS = GROUT_ATTR_BIT(LAYOUT_WGMMA) | GROUT_ATTR_BIT(LAYOUT_WGMMA_8BIT) |
              GROUT_ATTR_BIT(LAYOUT_ROW) | GROUT_ATTR_BIT(LAYOUT_COL) |
              GROUT_ATTR_BIT(LAYOUT_STRIDED) | GROUT_ATTR_BIT(LAYOUT)
};

static const attr_rule attr_rules[] = {
    {GROUT_ATTR_BIT(DIM), has_dimensions,
     "DIM is of the RULEs BROADCAST, IOTA, REDUCE, CONCATENATE, SCAN, GATHER, SCATTER and "
     "GATHER_COPY"},
    {GROUT_ATTR_BIT(CONTIGUOUS), copies_picks,
     "CONTIGUOUS is of the RULEs MASKED_COPY and GATHER_COPY"},
    {GROUT_ATTR_BIT(PERM), is_transposition, "PERM is of the RULE TRANSPOSE"},
    {GROUT_ATTR_BIT(REVERSE) | GROUT_ATTR_BIT(EXCLUSIVE), is_scan,
     "REVERSE and EXCLUSIVE are of GROUT_SCAN lines"},
    {GROUT_ATTR_BIT(APPROX), is_function, "APPROX is of GROUT_MATH lines"},
    {LAYOUTS, is_layout, "LAYOUT_.. is of the RULE LAYOUT"},
    {GROUT_ATTR_BIT(UNROLL), counts_up, "UNROLL is of loops that count (a LOOP with an index)"},
    {GROUT_ATTR_BIT(COLLECTIVE), is_scope, "COLLECTIVE is of scopes"},
    {GROUT_ATTR_BIT(ARRIVE_COUNT), makes_arrivals,
     "ARRIVE_COUNT is of what POSTS arrivals on a barrier NOW, and no bytes"},
    {GROUT_ATTR_BIT(FROM_CTA), posts_on_mbarriers,
     "FROM_CTA is of what POSTS on an MBARRIER, that of another CTA too"},
    {GROUT_ATTR_BIT(NO_DECREMENT), takes_units, "NO_DECREMENT is of WAITS for units (SEMAPHORE)"},
    {GROUT_ATTR_BIT(SATURATE), adds_products,
     "SATURATE is of what adds up products of the tensor core (TYPES MMA)"},
    {GROUT_ATTR_BIT(WAIT_GROUPS), may_wait_for_groups,
     "WAIT_GROUPS is of WAITS for groups that have no constant (k) for it"},
    {GROUT_ATTR_BIT(READ_ONLY), waits_for_both_sides,
     "READ_ONLY chooses between BULK_READ and BULK_WRITE: it is of WAITS that COVER both"},
    {GROUT_ATTR_BIT(NO_COMMIT_GROUP), fills_a_group,
     "NO_COMMIT_GROUP is of what STARTS something in a group"},
    {GROUT_ATTR_BIT(CLUSTER), fences_smem, "CLUSTER is of FENCES with the effect row COMMIT_SMEM"},
    {GROUT_ATTR_BIT(COLLECTIVE_AXES), is_shared_by_ctas,
     "COLLECTIVE_AXES is of loads by TMA, and of launch control"},
    {GROUT_ATTR_BIT(LEADER_TRACKED) | GROUT_ATTR_BIT(PARTITIONED), loads_by_tma,
     "LEADER_TRACKED and PARTITIONED are of what STARTS a load by TMA (letters G and b)"},
    {GROUT_ATTR_BIT(MULTICAST), sends_to_several,
     "MULTICAST is of loads by TMA, of launch control, and of arrivals that the tensor core makes "
     "(TENSOR SEALS)"},
    {GROUT_ATTR_BIT(COLLECTIVE_AXIS), works_for_pairs,
     "COLLECTIVE_AXIS is of the RULEs TCGEN05 and TCGEN05_COPY, and of arrivals that the tensor "
     "core "
     "makes"},
    {GROUT_ATTR_BIT(PIXELS), loads_pixels,
     "PIXELS is of copies in im2col mode (RULE IM2COL), and says where their base pixels lie"},
    {GROUT_ATTR_BIT(OOB), moves_boxes,
     "OOB is of what moves a box of GMEM by TMA (G), and of descriptors of such boxes"},
    {GROUT_ATTR_BIT(LANES), counts_lanes, "LANES is of NAMED barriers, which count warps"},
    {GROUT_ATTR_BIT(INCREASE) | GROUT_ATTR_BIT(DECREASE), changes_registers,
     "INCREASE and DECREASE are of the pool of REGISTERS: it WAITS for them"},
    {GROUT_ATTR_BIT(REDUCE), writes_by_an_engine,
     "REDUCE is of what STARTS a write by TMA (G) or of values (RULE STORE)"},
    {GROUT_ATTR_BIT(ORDER) | GROUT_ATTR_BIT(SCOPE), is_ordered,
     "ORDER and SCOPE are of what has a line in sync.def, and of GROUT_ATOMIC lines"},
};

static void an_attribute_is_read(const op_facts *it) {
    uint64_t known = 0;
    for (size_t i = 0; i < sizeof attr_rules / sizeof *attr_rules; i++) {
        known |= attr_rules[i].attrs;
        if (takes(it, attr_rules[i].attrs) && !attr_rules[i].fits(it)) {
            grout_text_add(it->faults, "\n  %s: remove it from ATTRS: %s", it->info->text,
                           attr_rules[i].advice);
        }
    }
    hold(it, !takes(it, ~known),
         "it takes a new attribute: say in attr_rules of check_sync_lanes.c which ops do");
}

/* ---- results and operands ----------------------------------------------------------------------
 */

static void a_result_is_what_was_found(const op_facts *it) {
    bool has_blocks = it->region->kind != GROUT_REGION_NONE;
    bool finds = is_mode(it, MODE(TESTS)) || has_effect(it, ACCESS(READ));
    expect(it, is_mode(it, MODE(TESTS)), it->info->results == 1,
           "a test tells what it found: its form has a result, or MODE is not TESTS");
    expect(it, it->sync != NULL && it->info->results > 0, finds || has_blocks,
           "its result can only be what it found: MODE is TESTS");
    expect(it, is_mode(it, MODE(TESTS)) && it->info->rule == GROUT_RULE_TRUTH, has_acquire(it),
           "what says yes or no has waited if it says yes: SIDE is ACQUIRE");
    expect(it, is_mode(it, MODE(TESTS)) && !has_acquire(it), grout_op_returns_old_value(it->opcode),
           "what only looks returns an old value, which is chance: see grout_op_returns_old_value");
}

/* Scalars of what synchronises are followed by their letters (race_checker/explain/taint.c). */
static void operands_of_synchronisation_are_followed(const op_facts *it) {
    bool is_plain = it->info->shape == GROUT_SHAPE_PLAIN && !is_mode(it, MODE(STARTS));
    const grout_letter_info *first = grout_letter_get_info(it->info->operands[0]);
    bool is_count = is_kind(first, KIND(CONSTANT));
    expect(it, it->sync != NULL && is_plain,
           !has_kind(it, KIND(VALUE) | KIND(REST) | KIND(TEXT) | KIND(AXIS)),
           "an operand that says how it synchronises is a scalar (i, s) or a constant (k), not v");
    expect(it, is_object(it, OBJECT(NAMED)), is_kind(first, KIND(INTEGER)),
           "the first operand is the number of the named barrier, an integer (i)");
    expect(it, is_mode(it, MODE(WAITS)) && is_object(it, GROUPS),
           is_count || takes(it, GROUT_ATTR_BIT(WAIT_GROUPS)) ||
               is_object(it, OBJECT(TMEM_LOAD) | OBJECT(TMEM_STORE)),
           "a wait for groups says how many may stay in flight: a k, or the attribute wait; of "
           "tensor memory alone it waits for all");
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static const op_rule rules[] = {
    RULE(lanes_of_what_posts),
    RULE(lanes_of_what_waits),
    RULE(lanes_of_groups),
    RULE(lanes_of_all_else),
    RULE(a_warp_map_takes_what_a_warp_can_do),
    RULE(advice_asks_where_it_can),
    RULE(the_tensor_core_is_ordered_by_its_own),
    RULE(an_order_is_said_where_there_is_one),
    RULE(an_order_and_its_scope_go_together),
    RULE(an_attribute_is_read),
    RULE(a_result_is_what_was_found),
    RULE(operands_of_synchronisation_are_followed),
};

TEST_EACH(each_op_keeps_the_rule, COUNT_OF(rules)) {
    check_rule(&rules[_i]);
}
